"""What keys have done is said for a moment, with the panels closed, too; and the first keys to who has pressed none."""

from __future__ import annotations

from pathlib import Path

import pytest

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
