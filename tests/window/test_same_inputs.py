"""The window, pyrender's viewer (which is one) and a canvas (a widget's, a browser page's) answer alike to the same
inputs, in the words of each: GLFW's and rendercanvas's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

glfw = pytest.importorskip("glfw", reason="glfw is not installed")

from raystream.viewport.canvas import CanvasView  # noqa: E402
from raystream.viewport.host import BUTTONS, NOTCH  # noqa: E402
from raystream.viewport.preferences import Preferences  # noqa: E402

SIZE = 120, 90
OPTIONS = {"program": "cast", "machine": "singlepass", "denoise": "none"}
HELD = {"Shift": glfw.MOD_SHIFT, "Control": glfw.MOD_CONTROL}
LEFT, RIGHT, MIDDLE = 1, 2, 3  # rendercanvas's buttons
# A drag: button, modifiers, places. A turn of the wheel: place, notches. A key: its name by GLFW and by browsers.
INPUTS: list[tuple[Any, ...]] = [
    ("drag", LEFT, (), (60, 45), (75, 40)),
    ("wheel", (50, 30), 1.0),
    ("drag", MIDDLE, (), (60, 45), (55, 50)),
    ("key", "3", "3"),
    ("drag", LEFT, ("Shift",), (30, 45), (35, 35)),
    ("drag", LEFT, ("Control",), (60, 45), (70, 45)),
    ("drag", RIGHT, (), (60, 45), (60, 49)),
    ("key", "TAB", "Tab"),
    ("drag", LEFT, (), (60, 45), (45, 47)),
    ("wheel", (5, 5), -2.0),
    ("drag", LEFT, ("Control",), (25, 25), (30, 25)),
    ("key", "TAB", "Tab"),
    ("key", "4", "4"),
    ("key", "T", "t"),
    ("key", "L", "l"),
    ("drag", LEFT, (), (60, 45), (50, 30)),
    ("wheel", (100, 50), 2.0),
    ("key", "K", "k"),
    ("drag", RIGHT, ("Shift",), (60, 45), (80, 45)),
    ("key", "J", "j"),
    ("drag", LEFT, (), (0, 0), (0, 0)),
    ("key", "R", "r"),
    ("drag", MIDDLE, (), (60, 45), (50, 65)),
    ("key", "LEFT_SHIFT", "Shift"),
    ("key", "G", "g"),
    ("key", "F", "f"),
    ("drag", LEFT, (), (45, 45), (50, 38)),
    ("wheel", (60, 45), -1.0),
    ("key", "1", "1"),
    ("drag", RIGHT, (), (60, 45), (60, 42)),
]


def to_window(app: Any, kind: str, *more: Any) -> None:
    """An input as GLFW tells it."""
    events = app.events
    if kind == "key":
        key = getattr(glfw, f"KEY_{more[0]}")
        events.on_key(key, 0, glfw.PRESS, 0)
        events.on_key(key, 0, glfw.RELEASE, 0)
    elif kind == "wheel":
        events.on_move(*more[0])
        events.on_wheel(0.0, more[1])
    else:
        button, names, start, end = more
        mods = sum(HELD[name] for name in names)
        events.on_move(*start)
        events.on_button(BUTTONS[button], glfw.PRESS, mods)
        events.on_move(*end)
        events.on_button(BUTTONS[button], glfw.RELEASE, mods)


def to_canvas(view: CanvasView, kind: str, *more: Any) -> None:
    """An input as a browser tells it."""
    if kind == "key":
        for event_type in ("key_down", "key_up"):
            view.handle({"event_type": event_type, "key": more[1], "modifiers": ()})
    elif kind == "wheel":
        (x, y), steps = more
        view.handle({"event_type": "wheel", "x": x, "y": y, "dx": 0.0, "dy": -NOTCH * steps, "modifiers": ()})
    else:
        button, names, start, end = more
        common = {"modifiers": names, "button": button}
        view.handle({"event_type": "pointer_down", "x": start[0], "y": start[1], **common})
        view.handle({"event_type": "pointer_move", "x": end[0], "y": end[1], **common, "button": 0})
        view.handle({"event_type": "pointer_up", "x": end[0], "y": end[1], **common})


def test_thirty_inputs(opened: Callable[..., Any], place: Path) -> None:
    (place / "settings.toml").write_text("panels = false\nhint = false\nsamples = 1\nnoise = 0.0\n")
    window = opened("balls", SIZE, **OPTIONS)
    preferences = Preferences(path=Path("none"), hint=False, samples=1, noise=0.0)
    canvas = CanvasView("balls", SIZE, preferences=preferences, **OPTIONS)
    canvas.wait()
    assert len(INPUTS) == 30
    for number, item in enumerate(INPUTS):
        to_window(window.app, *item)
        to_canvas(canvas, *item)
        window.until(lambda: not window.app.view.controller.moving)
        window.rest()
        while not canvas.idle or canvas.view.controller.moving:
            canvas.advance()
            time.sleep(min(canvas.wait_timeout, 0.01))
        ours, theirs = window.app.view.controller, canvas.view.controller
        assert (window.app.view.tone.tonemap, ours.mode) == (canvas.view.tone.tonemap, theirs.mode), item
        assert window.app.scene_loader.requested == canvas.scene_loader.requested, item
        for field in ("origin", "target", "up"):
            one, other = (np.array(getattr(each.camera, field)) for each in (ours, theirs))
            np.testing.assert_allclose(one, other, atol=1e-4, err_msg=f"{number} {item}")
    # Motion that is eased goes by the clock, to the same end but for its last steps.
    camera = replace(canvas.camera)
    window.app.view.take(camera)
    window.rest()
    with canvas.device.current():
        other = canvas.session.linear()
    np.testing.assert_array_equal(window.app.session.linear(), other)
    canvas.release()
