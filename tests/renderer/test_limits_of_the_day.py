"""``--limits``: what fits runs as on the hardware of the papers' day, what does not is refused in one line."""

from __future__ import annotations

import shutil

import meshes
import numpy as np
import places
import pytest
from reproduction.simulators.counts import published_program

from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.cli.main import main
from raystream.stream.analysis import spirv
from raystream.stream.analysis.instructions import _count_cached as instructions_of
from raystream.stream.analysis.instructions import remarks
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


def test_rasterised_first_hits_are_of_24_bits() -> None:
    """The shadow caster's own, the hybrid of Purcell 2004, section 5.3; pixels without a hit are at the largest."""
    renderer = Renderer("cornell", limits="2004", **{**STEPS, "program": "shadow", "sampler": "table"}, camera="front")
    assert renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode == "raster"
    renderer.render(SIZE, spp=1)
    _, raster = renderer.gpu_scene.raster._current
    with renderer.device.current():
        texels = raster.draw.records.read_texels()
    assert np.array_equal(rounded(texels), texels) and len(np.unique(texels)) > 50
    renderer.release()


def test_tables_are_rounded_when_they_are_brought_to_the_device() -> None:
    renderer = Renderer("cornell", limits="2004", **STEPS)
    with renderer.device.current():
        table = next(
            m for module in renderer.prepared.structure.modules(True) for m in module.memories if m.name == "triangles"
        )
        texture = renderer.gpu_scene.resources.get(table).texture
        held = np.frombuffer(texture.read(), np.float32)
    assert np.array_equal(rounded(held), held) and len(np.unique(held)) > 10
    assert not np.array_equal(rounded(table.data["a"]), table.data["a"])
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


def test_the_grid_that_is_named_fits() -> None:
    renderer = Renderer("cornell", **{**STEPS, "limits": "2004", "grid": 50})
    with pytest.raises(ViewerError, match="270,400 voxels"):
        renderer.update(grid=64)
    assert renderer.settings.grid == 50
    with pytest.raises(ViewerError, match="fuse='none'"):
        renderer.update(fuse="ray")
    with pytest.raises(ViewerError, match="fixed when the renderer is made"):
        renderer.update(limits="2002")
    renderer.release()


def test_too_many_triangles_are_refused() -> None:
    count = (1 << 17) + 1
    rng = np.random.default_rng(2)
    corners = rng.random((count, 1, 3)) + 1e-3 * rng.random((count, 3, 3))
    with pytest.raises(ViewerError, match="131,073 triangles"):
        Renderer(meshes.scene(corners.astype(np.float32)), **{**STEPS, "limits": "2004", "grid": 2})


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


def test_without_the_compiler_lengths_are_said_not_to_be_looked_at(monkeypatch) -> None:
    monkeypatch.setattr(spirv, "VALIDATOR", "no-such-compiler")
    instructions_of.cache_clear()
    (line,) = remarks(published_program("cast", grid=4), "2004")
    assert "program lengths are not checked: no-such-compiler is not installed" in line
    assert remarks(published_program("cast", grid=4), "none") == []
