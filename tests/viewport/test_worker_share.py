"""What the worker does so that the window's own thread need not: grouped meshes of a scene that will be drawn."""

from __future__ import annotations

from typing import Any

import pytest

from raystream.formats.named import load
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview import gbuffer
from raystream.renderer.preview.gbuffer import GBufferRaster, raster_scene
from raystream.renderer.renderer import Renderer
from raystream.viewport.scene_loader import prepare_in_worker


@pytest.fixture
def grouped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of meshes that were grouped, each time."""
    found: list[int] = []
    groups = gbuffer.raster.MeshGroups
    monkeypatch.setattr(gbuffer.raster, "MeshGroups", lambda meshes: found.append(len(meshes)) or groups(meshes))
    return found


def test_meshes_are_grouped_by_the_worker_once(grouped: list[int], device: Any) -> None:
    made, bounds = prepare_in_worker(
        load("cornell"), lambda share, text: None, Settings(program="path"), pixels=1 << 16
    )
    assert bounds is not None and len(grouped) == 1
    renderer = Renderer(made, made.settings, device=device)
    with device.current():
        drawn = GBufferRaster(device, made, renderer.gpu_scene.resources)
        assert drawn.draws(raster_scene(made).meshes)
        drawn.release()
    renderer.release()
    assert len(grouped) == 1


def test_not_where_features_are_traced(grouped: list[int]) -> None:
    """A scene of more triangles than the window has pixels is not drawn."""
    scene = load("cornell")
    prepare_in_worker(scene, lambda share, text: None, Settings(program="path"), pixels=scene.triangle_count - 1)
    assert grouped == []
    prepare_in_worker(scene, lambda share, text: None, Settings(program="path"), pixels=scene.triangle_count)
    assert len(grouped) == 1
