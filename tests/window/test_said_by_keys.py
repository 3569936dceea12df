"""What keys have done is said for a moment, with the panels closed, too; and the first keys to who has pressed none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from raystream.options.table import OPTIONS
from raystream.viewport import viewport
from raystream.viewport.canvas import CanvasView
from raystream.viewport.preferences import Preferences
from tests.viewport.test_canvas_view import event, rest
from tests.window.conftest import Hands

# key -> what it says, and says when it is pressed again.
SAID = {
    "Tab": ("fly: ", "orbit: "),
    "v": ("boxes on", "boxes off"),
    "z": ("statistics on", "statistics off"),
    "ctrl+b": ("panels on", "panels off"),
    "h": ("help on", "help off"),
    "F11": ("full screen on", "full screen off"),
    "shift+l": ("markers of lights on", "markers of lights off"),
    "p": ("paused; ", "rendering goes on"),
    "o": ("turntable on", "turntable off"),
    "shift+t": ("denoiser off", "denoiser on"),
}


def test_every_toggle_says_what_it_has_done(hands: Hands) -> None:
    view = hands.app.view
    for key, texts in SAID.items():
        for text in texts:
            hands.key(key)
            assert view.message.text.startswith(text) and not view.message.is_error, (key, view.message.text)
    for key, name in (("3", "whitted"), ("1", "cast")):
        hands.key(key)
        assert view.message.text.startswith(f"program {name}: ")


def test_a_scene_that_is_built_anew_leaves_what_the_key_has_said(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    view, scene_loader = hands.app.view, hands.app.scene_loader
    monkeypatch.setattr(viewport, "ACTION_SECONDS", 60.0)
    for on in ("on", "off"):
        hands.key("shift+j")
        hands.until(
            lambda: scene_loader.loading is None and view.renderer.settings.ground == scene_loader.requested.ground,
            "ground",
        )
        assert view.message.text == f"ground {on}" and (view.scene.ground is not None) == (on == "on")


def test_what_is_refused_is_not_said_to_be_done(hands: Hands) -> None:
    view, scene_loader = hands.app.view, hands.app.scene_loader
    longest = OPTIONS["depth"].value.high
    scene_loader.set(depth=longest)
    hands.key("period")
    assert view.message.is_error and "depth" in view.message.text and scene_loader.requested.depth == longest
    hands.key("comma")
    assert not view.message.is_error and scene_loader.requested.depth == longest - 1


def test_it_is_gone_after_a_moment(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    view, now = hands.app.view, [100.0]
    monkeypatch.setattr(viewport, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert viewport.ACTION_SECONDS == 1.0
    quiet = hands.pixels()
    view.say_switched("boxes", True)
    assert (hands.pixels() != quiet).any()
    now[0] += 0.99
    hands.turn(3)
    assert view.message.text
    now[0] += 0.02
    hands.until(lambda: not view.message.text, "silence")
    np.testing.assert_array_equal(hands.pixels(), quiet)


@pytest.mark.usefixtures("device")
def test_a_page_and_a_notebook_tell_them_below_the_picture() -> None:
    view = CanvasView("cornell", (24, 16), preferences=Preferences(path=Path("none")), program="cast", exposure=0.0)
    rest(view)
    assert view.status == "1 sample a pixel · drag orbits, Tab flies"
    view.handle(event("key_down", key="4"))
    assert view.status.startswith("program path: ")
    view.handle(event("key_down", key="1"))
    rest(view)
    view.view.say("")
    assert view.status == "1 sample a pixel"
    view.release()
