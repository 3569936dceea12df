"""Scenes that come and go in the window: dropped, chosen, read again, built anew, given up."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream.accel.structures import StructureOptions
from tests.window.conftest import PATIENCE, Hands

SMALL_TRIANGLE = b"""ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
"""


def test_a_broken_file(hands: Hands, place: Path) -> None:
    app = hands.app
    scene, pixels = app.view.scene, app.session.linear()
    broken = place / "broken.ply"
    broken.write_bytes(SMALL_TRIANGLE[:-8])
    app.events.on_drop([str(broken)])
    hands.until(lambda: app.view.message.is_error)
    assert "broken.ply" in app.view.message.text and "\n" not in app.view.message.text
    assert app.view.scene is scene and app.scene_loader.loading is None
    hands.rest()
    np.testing.assert_array_equal(app.session.linear(), pixels)
    app.scene_loader.open(str(place / "nowhere.glb"))
    hands.until(lambda: "nowhere.glb" in app.view.message.text)
    good = place / "good.ply"
    good.write_bytes(SMALL_TRIANGLE)
    app.events.on_drop([str(good)])
    hands.until(lambda: app.view.scene is not scene)
    hands.rest()
    assert app.view.scene.triangle_count == 1 and not app.view.message.is_error
    assert str(good.resolve()) == app.preferences.recent[0]
    hands.key("Left")
    hands.until(lambda: "broken.ply" in app.view.message.text)
    good.write_bytes(SMALL_TRIANGLE.replace(b"0 1 0\n", b"0 2 0\n"))
    camera = app.view.controller.camera
    hands.key("F5")
    hands.until(lambda: app.view.scene.bounds()[1, 1] == 2)
    assert app.view.controller.camera == camera


def test_the_files_of_a_folder(hands: Hands, place: Path) -> None:
    """Left and Right, in the order of their names, and round; other files are passed over."""
    app = hands.app
    for name in ("a.ply", "b.ply", "c.ply", "b.txt"):
        (place / name).write_bytes(SMALL_TRIANGLE)
    app.scene_loader.open(str(place / "b.ply"))
    hands.until(lambda: app.scene_loader.shown_path.endswith("b.ply"))
    loader = app.scene_loader
    for key, name in (("Right", "c.ply"), ("Right", "a.ply"), ("Left", "c.ply"), ("Left", "b.ply")):
        hands.key(key)
        path = str(place / name)
        hands.until(lambda path=path: loader.shown_path == path and loader.loading is None, name)


def test_structures_are_built_anew(hands: Hands) -> None:
    """In the worker, from the scene that is there; the camera stays, and so do all bits of the picture."""
    app = hands.app
    hands.key("ctrl+1")
    hands.rest()
    camera, scene, pixels = app.view.controller.camera, app.view.scene, app.session.linear()
    first = app.view.renderer.prepared.structure.name
    hands.key("shift+v")
    hands.until(lambda: app.view.renderer.prepared.structure.name != first)
    hands.rest()
    assert app.scene_loader.requested.accel == app.view.renderer.prepared.structure.name
    assert app.view.scene is scene and app.view.controller.camera == camera == app.view.renderer.camera
    np.testing.assert_array_equal(app.session.linear(), pixels)
    app.scene_loader.set(accel="grid", grid="5")
    hands.until(lambda: app.scene_loader.loading is None)
    hands.rest()
    assert min(app.view.renderer.prepared.structure.built.resolution) == 5 and app.scene_loader.requested.grid == 5
    np.testing.assert_array_equal(app.session.linear(), pixels)

    def asked() -> StructureOptions:
        return app.scene_loader.requested.structure_options()

    before = asked()
    app.scene_loader.set(grid="many")
    assert app.view.message.is_error and "grid" in app.view.message.text and asked() == before
    app.scene_loader.set(traversal="stack")  # which a grid has not: found out by the worker
    hands.until(lambda: app.scene_loader.loading is None)
    assert app.view.message.is_error and "stack" in app.view.message.text and asked() == before
    app.scene_loader.set(accel="bvh", machine="singlepass")
    assert app.scene_loader.loading is not None
    hands.key("Escape")
    assert asked() == before and app.scene_loader.requested.machine == "singlepass"
    hands.rest()
    assert app.view.renderer.prepared.structure.name == "grid"


def test_loading_is_cancelled_by_escape(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    app = hands.app
    scene, load, go_on = app.view.scene, app.scene_loader.loader._load, threading.Event()

    def slowly(path: str) -> Any:
        go_on.wait(PATIENCE)
        return load(path)

    monkeypatch.setattr(app.scene_loader.loader, "_load", slowly)
    app.scene_loader.open("cornell")
    hands.turn(3)
    assert app.scene_loader.loading is not None and "cornell" in app.scene_loader.loading[0]
    hands.key("Escape")
    assert app.scene_loader.loading is None and "cancelled" in app.view.message.text
    worker = app.scene_loader.loader._thread
    go_on.set()
    worker.join(PATIENCE)
    hands.turn(3)
    assert app.view.scene is scene and app.scene_loader.loading is None


def test_upload_is_cancelled_by_escape(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    from raystream.renderer.device.gpu_scene import GpuScene

    app, scene = hands.app, hands.app.view.scene
    upload = GpuScene.upload

    def slowly(gpu_scene: GpuScene, *what: Any) -> Any:
        for k in range(400):
            time.sleep(0.02)
            yield k / 400
        yield from upload(gpu_scene, *what)

    monkeypatch.setattr(GpuScene, "upload", slowly)
    app.scene_loader.open("cornell")
    hands.until(lambda: app.scene_loader.loading is not None and "uploading" in app.scene_loader.loading[0])
    hands.key("Escape")
    hands.turn(3)
    assert app.scene_loader.loading is None and app.view.scene is scene
