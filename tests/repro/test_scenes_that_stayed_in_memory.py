"""A scene that had been replaced stayed in memory, with its tables and machines, until Python looked for garbage, once
in ten scenes: programs, machines and renderers were parts of reference cycles. Free pages of the C library's heap
stayed, too. 60 scenes in turn took from 205 to 437 MiB."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any
from weakref import ref

import pytest

import raystream
from raystream.renderer.renderer import Renderer
from raystream.viewport.canvas import CanvasView
from tests.viewport.test_canvas_view import opened, rest

SIZE = (24, 16)
CHOICES: tuple[dict[str, Any], ...] = (
    {"program": "cast", "machine": "singlepass"},
    {"program": "path", "machine": "multipass", "fuse": "none"},
    {"program": "whitted", "machine": "multipass", "mask": "stencil"},
    {"program": "photon", "machine": "multipass", "photons": 64},
)


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Without Python's look for garbage."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def parts(renderer: Renderer) -> list[ref[Any]]:
    """What a renderer has of its scene."""
    scene, machines = renderer.gpu_scene, renderer.gpu_scene.machines.values()
    return [ref(part) for part in (renderer.prepared, scene.structure, *machines, *(m.linked for m in machines))]


def alive(references: list[ref[Any]]) -> list[str]:
    return [type(found).__name__ for each in references if (found := each()) is not None]


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("options", CHOICES, ids=lambda options: options["program"])
def test_what_is_replaced_or_released_is_freed(device: Any, options: dict[str, Any]) -> None:
    renderer = Renderer(raystream.load("cornell"), device=device, **options)
    renderer.render(SIZE, spp=1)
    before = parts(renderer)
    assert len(before) > 3
    renderer.update(raystream.load("teapotahedron"))
    renderer.render(SIZE, spp=1)
    assert alive(before) == []
    last = [*parts(renderer), ref(renderer.gpu_scene), ref(renderer)]
    renderer.release()
    del renderer
    assert alive(last) == []


def switch(view: CanvasView, scene: str) -> None:
    """Open another scene, as by a dialog, and wait for its picture."""
    with view.device.current():
        view.scene_loader.open(scene)
    rest(view)
    assert view.scene_loader.shown_path == scene


@pytest.mark.usefixtures("uncollected")
def test_scenes_in_turn(device: Any) -> None:
    view = opened("cornell", SIZE, program="path", spp=2)
    rest(view)
    for scene in ("teapotahedron", "balls", "cornell"):
        assert view.view.renderer is not None
        before = parts(view.view.renderer)
        switch(view, scene)
        assert alive(before) == []
    view.release()
