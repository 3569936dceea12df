"""Bits are promised for one build of a driver; drivers that fail self-tests, and that compile without optimisation."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.base.errors import DriverWarning, ViewerWarning
from raystream.film.files.image import read_exr
from raystream.stream.gl.device import Device
from raystream.stream.machines.mask import KillMask, Mask
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.singlepass import Singlepass

SIZE = (8, 8)


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(raystream.load("cornell"), machine="singlepass")


@pytest.fixture(scope="module")
def saved(renderer: Renderer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "a.exr"
    renderer.render(SIZE, spp=2).save(path)
    return path


def by_another(renderer: Renderer, path: Path) -> Path:
    """The same picture as if other drivers had made it."""
    picture = renderer.render(SIZE, spp=2)
    picture.metadata["driver"] = "Old GPU, OpenGL 3.3; Older GPU, OpenGL 3.3"
    picture.save(path)
    return path


def test_a_picture_names_renderer_and_version(renderer: Renderer, saved: Path) -> None:
    header, _ = read_exr(saved)
    info = renderer.device.info
    assert header["renderer"] == info["GL_RENDERER"]
    assert header["driver"] == f"{info['GL_RENDERER']}, OpenGL {info['GL_VERSION']}"


def test_going_on_with_the_same_driver_is_silent(renderer: Renderer, saved: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture = renderer.render(SIZE, spp=4, resume=str(saved))
    assert picture.metadata["driver"] == renderer.device.driver
    assert np.array_equal(picture.linear, renderer.render(SIZE, spp=4).linear)


def test_another_driver_s_samples_are_gone_on_from_with_a_warning(renderer: Renderer, tmp_path: Path) -> None:
    other, state = by_another(renderer, tmp_path / "other.exr"), renderer.checkpoint(tmp_path / "b.exr")
    with pytest.warns(DriverWarning) as told:
        picture = renderer.render(SIZE, spp=4, resume=str(other), state=state)
    (line,) = {str(each.message) for each in told}
    assert str(other) in line and "Older GPU" in line and renderer.device.driver in line
    assert told[0].filename == __file__  # blames the caller
    drivers = f"Old GPU, OpenGL 3.3; Older GPU, OpenGL 3.3; {renderer.device.driver}"
    assert picture.metadata["driver"] == drivers and state is not None and state.metadata["driver"] == drivers
    assert (picture.film.count == 4).all()
    picture.save(tmp_path / "c.exr")
    with warnings.catch_warnings():  # said once
        warnings.simplefilter("error")
        renderer.render(SIZE, spp=5, resume=str(tmp_path / "c.exr"))


def test_the_command_says_it_in_one_line(saved: Path, tmp_path: Path, renderer: Renderer) -> None:
    """On another driver indeed: Mesa's softpipe."""
    chosen = {"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "softpipe"}
    environment = {**os.environ, **chosen}
    options = ["--machine", "singlepass", "--size", "8x8", "--spp", "3", "--resume", str(saved)]
    command = [sys.executable, "-m", "raystream", "render", "cornell", "-o", str(tmp_path / "b.exr"), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    header, _ = read_exr(tmp_path / "b.exr")
    if not header["renderer"].startswith("softpipe"):
        pytest.skip(f"no softpipe here, but {header['renderer']}")
    (line,) = done.stderr.splitlines()
    assert line.startswith("raystream: note: ") and renderer.device.driver in line and "softpipe" in line
    assert header["samples"] == "3" and header["driver"].startswith(renderer.device.driver + "; softpipe")


FALLBACK_SIZE = (24, 20)
ASKED = {"fuse": "none", "mask": "depth", "count": "query"}


def distrusting(device: Device, *names: str) -> Device:
    return Device(device.context, distrusted=frozenset(names))


@pytest.fixture(scope="module")
def wanted(device: Device) -> np.ndarray:
    with device.current():
        return Renderer(raystream.load("cornell"), program="cast", **ASKED, device=device).render(FALLBACK_SIZE).linear


@pytest.mark.parametrize(
    ("distrusted", "word"),
    [
        (("depth mask",), "--mask kill in place of depth"),
        (("depth mask", "kill mask"), "--mask none in place of depth"),
        (("occlusion queries",), "--count census in place of query"),
        (("multipass",), "--machine singlepass in place of multipass"),
        (("texture barrier",), "passes copy their output back"),
        (("buffer textures",), "scene data lies in 2-D and 3-D textures"),
    ],
)
def test_a_failed_self_test_is_worked_around(device: Device, wanted: np.ndarray, distrusted, word: str) -> None:
    other = distrusting(device, *distrusted)
    renderer = Renderer(raystream.load("cornell"), program="cast", **ASKED, device=other)
    (note,) = renderer.notes
    assert word in note and f"'{distrusted[0]}'" in note
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ViewerWarning)
        picture = renderer.render(FALLBACK_SIZE)
    assert picture.linear.tobytes() == wanted.tobytes()
    (machine,) = renderer.gpu_scene.machines.values()
    if "multipass" in distrusted:
        assert isinstance(machine, Singlepass)
        return
    assert isinstance(machine, Multipass)
    if "mask" in word:
        assert type(machine.mask) is (KillMask if "kill mask" not in distrusted else Mask)
    assert machine.count == ("census" if "count" in word else "query")
    assert machine.copies == (distrusted == ("texture barrier",)) or device.texture_barrier is None
    if distrusted == ("buffer textures",):
        assert renderer.gpu_scene.resources.arena_row > 0
    renderer.release()


def test_python_is_warned(device: Device) -> None:
    renderer = Renderer(raystream.load("cornell"), program="cast", **ASKED, device=distrusting(device, "depth mask"))
    with pytest.warns(ViewerWarning, match="fails the self-test of 'depth mask'.*mask='kill' in place of depth"):
        renderer.render((8, 8))
    renderer.release()


def test_another_mask_is_chosen_as_asked(device: Device) -> None:
    """What is not asked for is neither tested nor told."""
    other = distrusting(device, "depth mask")
    renderer = Renderer(raystream.load("cornell"), program="cast", **ASKED | {"mask": "stencil"}, device=other)
    assert renderer.notes == [] and "depth mask" not in other.selftests
    renderer.update(mask="depth")
    assert len(renderer.notes) == 1
    renderer.update(machine="singlepass")
    assert renderer.notes == []
    renderer.release()
