"""``raystream.show``: the window on an object; it returns when it is closed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream.scene.material import Material
from raystream.window.app import App
from tests.window.conftest import PATIENCE, Hands


def test_an_object_in_a_window(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scene is there, and stays what it is when it is read again."""
    seen = []
    turn, end = App.turn, time.monotonic() + PATIENCE

    def turned(app: App) -> None:
        turn(app)
        app.view.wake()
        assert time.monotonic() < end, app.view.message.text
        scene = app.view.scene
        if scene is not None and not app.scene_loader.loading:
            if not seen:
                app.scene_loader.open(app.scene_loader.shown_path)
            seen.append((scene.name, scene.triangle_count, app.view.message.is_error))
            if len(seen) > 1:
                app.window.close()

    monkeypatch.setattr(App, "turn", turned)
    arrays = np.array([[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
    raystream.show(arrays, size=(64, 48), program="cast", machine="singlepass")
    assert seen[-1] == ("arrays", 1, False)


def test_a_scene_in_one_of_its_variants(opened: Callable[..., Hands]) -> None:
    scene = raystream.Scene.from_triangles([(-1, -1, 0), (1, -1, 0), (0, 1, 0)], [(0, 1, 2)])
    materials = [*scene.materials, Material("red", (1.0, 0.0, 0.0, 1.0))]
    warm = replace(scene, materials=materials, variants={"warm": {0: 1}}).with_variant("warm")
    shown = opened(warm).app.view.scene
    assert shown.variant == "warm" and shown.instances[0].material == 1


def test_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(raystream.ViewerError, match="display"):
        raystream.show("cornell")
