"""``--limits``: what fits runs as on the hardware of the papers' day, what does not is refused in one line."""

from __future__ import annotations

import shutil

import numpy as np
import places
import pytest

from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.cli.main import main
from raystream.stream.analysis import spirv
from raystream.stream.declare.limits import rounded

STEPS = {"program": "cast", "accel": "grid", "grid": 6, "fuse": "none", "unroll": 1, "intersection": "moller-trumbore"}
SIZE = (12, 10)


@pytest.fixture(scope="module")
def full(device) -> np.ndarray:
    """The picture without limits."""
    return places.picture("cornell", SIZE, **STEPS).linear


@pytest.mark.parametrize("mask", ["depth", "kill", "none"])
def test_passes_of_two_outputs_give_the_same_bits(full: np.ndarray, mask: str) -> None:
    """Each part of a kernel reads what was there before the first part wrote."""
    renderer = Renderer("cornell", limits="2002", mask=mask, **STEPS)
    picture = renderer.render(SIZE, stats=True)
    assert np.array_equal(picture.linear, full)
    linked = renderer.gpu_scene.bind(renderer.program(), renderer.settings)
    (setup,) = (step for step in linked.steps("none") if step.name == "setup")
    assert linked.attachment_count(setup) == 3 and renderer.device.outputs == 2
    machine = next(iter(renderer.gpu_scene.machines.values()))
    parts = {step.name: len(entry.parts) for step, entry in machine.passes.items()}
    assert parts == {"eye": 3, "setup": 2, "traverse": 2, "intersect": 3, "shade": 1}
    assert all(len(target.color_attachments) <= 2 for e in machine.passes.values() for _, target in e.parts)
    assert picture.stats.kernel_passes > len(picture.stats.passes)  # parts are passes
    renderer.release()


def test_24_bits_change_the_picture_a_little(full: np.ndarray) -> None:
    renderer = Renderer("cornell", limits="2004", **STEPS)
    linear = renderer.render(SIZE).linear
    assert (linear != full).any(axis=-1).mean() > 0.5
    # Coordinates have 17 bits: distances are off by some 1e-5 of the box, and so are interpolated colours; at an edge
    # a pixel may see another wall.
    assert np.median(np.abs(linear - full)) < 1e-4 and np.abs(linear - full).mean() < 1e-2
    assert np.array_equal(rounded(linear), linear), "what is written is of 24 bits"
    machine = next(iter(renderer.gpu_scene.machines.values()))
    with renderer.device.current():
        for name in ("hit", "traversal"):
            texels = machine.streams[name].read_texels()
            assert np.array_equal(rounded(texels), texels) and texels.any()
    renderer.release()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"machine": "singlepass"}, ["neither loops nor bits", "machine='multipass'"]),
        ({"fuse": "surface"}, ["fuse='none'"]),
        ({"unroll": "auto"}, ["unroll=1"]),
        ({"program": "path"}, ["sampler='table'"]),
        ({"program": "photon"}, ["floats of 32 bits (2003)", "program=: cast"]),
        ({"grid": 64}, ["270,400 voxels", "131,072", "grid=50"]),
    ],
)
def test_what_does_not_fit_is_refused(options: dict, words: list[str]) -> None:
    with pytest.raises(ViewerError) as found:
        Renderer("cornell", **{**STEPS, "limits": "2004", **options})
    text = str(found.value)
    assert "\n" not in text and all(word in text for word in words), text


@pytest.mark.skipif(shutil.which(spirv.VALIDATOR) is None, reason=f"{spirv.VALIDATOR} is not installed")
def test_the_command_line_tells_what_is_too_long(tmp_path, capsys) -> None:
    """The year's kernels but for shading fit, as the published ones did, and the picture is made."""
    words = ["render", "cornell", "--program", "cast", "--accel", "grid", "--fuse", "none", "--unroll", "1", "--grid"]
    words += ["6", "--intersection", "moller-trumbore", "--size", "8x8", "-o", str(tmp_path / "a.png"), "--limits"]
    assert main([*words, "2004"]) == 0
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "too long" in each]
    assert "--limits 2004" in line and "shade (" in line and " instructions of 64" in line and "intersect" not in line
    assert main([*words, "2002"]) == 0
    assert "too long" not in capsys.readouterr().err
