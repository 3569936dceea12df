"""Keys pressed while the first scene is loading: kept, and performed when it is there; given up with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raystream.formats import named
from raystream.scene.scene import Scene
from tests.window.conftest import PATIENCE, SMALL, Hands, note_events, xdotool


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Files are read once this is set."""
    made, load = threading.Event(), named.load

    def late(*given: Any) -> Scene:
        assert made.wait(PATIENCE)
        return load(*given)

    monkeypatch.setattr(named, "load", late)
    return made


@pytest.fixture
def loading(place: Path, gate: threading.Event) -> Iterator[Hands]:
    """The application while the animated balls are loading."""
    from raystream.window.app import App

    app = App("balls", SMALL, program="cast", accel="two-level-bvh")
    note_events(app)
    _ = app.gui
    yield Hands(app)
    gate.set()
    app.release()


def test_they_are_performed_in_order(loading: Hands, gate: threading.Event) -> None:
    view, editing = loading.app.view, loading.app.editing
    loading.key("space")
    assert "play or pause the animation" in view.message.text and not view.message.is_error
    loading.key("ctrl+3", "shift+z", "plus")
    assert view.actions.waiting == ["animation.play", "camera.right"] and not view.message.is_error
    assert loading.app.debug_views.heat is not None, "what needs no scene is done at once"
    gate.set()
    loading.until(lambda: view.renderer is not None and editing.animation.player.playing, "the animation")
    assert view.actions.waiting == []
    loading.until(lambda: not view.controller.moving, "the view from the right")
    np.testing.assert_allclose(view.controller.camera.basis()[2], (-1, 0, 0), atol=1e-6)
    assert editing.animation.player.seconds > 0 and not view.message.is_error


def test_keys_that_are_held_move_the_first_camera(loading: Hands, gate: threading.Event) -> None:
    view = loading.app.view
    xdotool("keydown", "d")
    loading.until(lambda: view.input.motions == {"right"}, "the key")
    gate.set()
    loading.until(lambda: view.renderer is not None and view.controller is not None, "the scene")
    assert view.controller.moving
    before = np.asarray(view.controller.camera.origin)
    loading.turn(5)
    assert not np.allclose(view.controller.camera.origin, before)
    xdotool("keyup", "d")
    loading.until(lambda: not view.input.motions and not view.controller.moving, "its rest")


def test_they_are_given_up_with_the_scene(loading: Hands, gate: threading.Event) -> None:
    app = loading.app
    loading.key("space", "Escape")
    assert app.view.actions.waiting == [] and app.scene_loader.loading is None
    loading.key("space")
    assert app.view.message.is_error and "none is loaded yet" in app.view.message.text
    gate.set()
    app.scene_loader.open("balls")
    loading.rest()
    assert not app.editing.animation.player.playing


def test_the_file_on_its_way_has_neighbours_and_is_read_again(
    loading: Hands, gate: threading.Event, tmp_path: Path
) -> None:
    """Not an empty name, as where nothing is on show."""
    app = loading.app
    for name in "ab":
        (tmp_path / f"{name}.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    app.scene_loader.open(str(tmp_path / "a.obj"))
    loading.key("Right")
    assert app.scene_loader.path == str(tmp_path / "b.obj")
    loading.key("F5")
    assert app.scene_loader.path == str(tmp_path / "b.obj") and not app.view.message.is_error
    gate.set()
    loading.rest()
    assert app.scene_loader.shown_path == str(tmp_path / "b.obj")
