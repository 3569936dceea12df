"""Scenes in motion over the grid that the device builds: hits and pictures of the host's, programs that stay."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.accel.grid import grid
from raystream.accel.grid.build import Grid
from raystream.accel.grid.grid import DeviceGrid
from raystream.base.errors import ViewerError
from raystream.renderer.device import grid_build
from raystream.renderer.renderer import Renderer
from raystream.scene.mesh import Instance
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

BUILT = {"accel": "grid", "rebuild": "device-grid"}


def waving(moment: float) -> Scene:
    """A sheet of 800 triangles whose vertices are elsewhere at each moment."""
    x, y = np.meshgrid(np.linspace(-1, 1, 21), np.linspace(-1, 1, 21))
    points = np.stack([x, y, 0.3 * np.sin(4 * x + moment) * np.cos(3 * y - moment)], -1).reshape(-1, 3)
    corner = (np.arange(20)[:, None] * 21 + np.arange(20)).reshape(-1, 1)
    faces = np.concatenate([corner + [0, 1, 22], corner + [0, 22, 21]])
    return Scene.from_triangles(points.astype(np.float32), faces)


def hits(renderer: Renderer) -> bytes:
    """What some rays find."""
    rng = np.random.default_rng(5)
    origins = rng.uniform(-3, 3, (4000, 3))
    found = renderer.trace(origins, rng.uniform(-0.8, 0.8, (4000, 3)) - origins)
    assert 0.2 < (found.triangle >= 0).mean() < 0.999
    return found.triangle.tobytes() + found.distance.tobytes() + found.barycentrics.tobytes()


@pytest.mark.parametrize("memory", ["auto", "texture"])
def test_a_deforming_sheet_is_hit_as_over_the_host_s_grid(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists grow on the way, in either form of memory."""
    monkeypatch.setattr(grid, "LIST_HEADROOM", 0.05)
    renderer = Renderer(waving(0.0), environment="sky", memory=memory, **BUILT)
    for moment in (0.0, 0.7, 3.0):
        renderer.update(waving(moment))
        host = Renderer(waving(moment), accel="grid", environment="sky", memory=memory)
        assert isinstance(renderer.prepared.structure.built, DeviceGrid) and isinstance(
            host.prepared.structure.built, Grid
        )
        assert hits(renderer) == hits(host)
        host.release()
    renderer.release()


def test_what_does_not_fit_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    renderer = Renderer(waving(0.0), environment="sky", **BUILT)
    before, structure = hits(renderer), renderer.prepared.structure
    with monkeypatch.context() as short:
        short.setattr(grid_build, "MAX_ADDRESS", int(structure.built.statistics["list_entries"]) + 100)
        with pytest.raises(ViewerError, match="addresses end there"):
            renderer.update(waving(0.0), grid=30)
    assert renderer.prepared.structure is structure
    assert hits(renderer) == before
    renderer.release()


def test_quadrics_are_left_to_the_host() -> None:
    scene = Scene([Quadric.sphere()], [Instance(0)])
    renderer = Renderer(scene, environment="sky", **BUILT)
    assert isinstance(renderer.prepared.structure.built, Grid)
    renderer.release()


def test_a_table_without_corners_is_refused() -> None:
    with pytest.raises(ViewerError, match="keeps no corners"):
        Renderer(waving(0.0), intersection="planes", **BUILT)
