"""Bits are promised for one build of a driver; drivers that fail self-tests, and that compile without optimisation."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.base.errors import DriverWarning, ViewerWarning
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
