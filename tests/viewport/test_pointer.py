"""Drags, clicks, the wheel and keys over the picture, each as what it does to the camera in the hand; no window."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.host import CONTROL, LEFT, MIDDLE, RIGHT, SHIFT, PointerInput
from raystream.viewport.keymap import Keymap
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import Viewport

START = Camera((4, 3, 6), (1, 1, -0.5), fov=50)
BOX = [[-1.0, 0.0, -2.0], [3.0, 2.0, 1.0]]
SIZE = (300, 200)
ALT = 0x4


class Editing:
    """Notes what it is asked for. takes : whether keys and clicks are for it."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.takes = False

    def __getattr__(self, name: str) -> Any:
        def noted(*given: Any) -> bool:
            self.asked.append((name, *given))
            return self.takes

        return noted


class Desk:
    """A view with a camera in the hand, and the pointer on it."""

    def __init__(self) -> None:
        session: Any = SimpleNamespace(renderer=None)
        self.view = Viewport(session, Preferences(), Keymap())
        self.view.area.size, self.view.input.cursor = SIZE, (100.0, 80.0)
        self.controller = self.view.controller = CameraController(START, BOX)
        self.editing, self.done = Editing(), []
        for name in ("help", "fov.wider", "pause"):
            self.view.actions.handlers[name] = lambda name=name: self.done.append(name)
        context: Any = SimpleNamespace(view=self.view, editing=self.editing)
        self.pointer = PointerInput(context)
        self.controller.update(0.0)

    def drag(self, button: int, mods: int, *ways: tuple[float, float]) -> None:
        self.pointer.press(button, mods)
        for dx, dy in ways:
            x, y = self.view.input.cursor
            self.pointer.move(x + dx, y + dy)
        self.pointer.release(button)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_buttons_are_those_of_glfw() -> None:
    glfw = pytest.importorskip("glfw", reason="glfw is not installed")
    assert (LEFT, RIGHT, MIDDLE) == (0, 1, 2)
    assert (LEFT, RIGHT, MIDDLE) == (glfw.MOUSE_BUTTON_LEFT, glfw.MOUSE_BUTTON_RIGHT, glfw.MOUSE_BUTTON_MIDDLE)
    assert (SHIFT, CONTROL) == (glfw.MOD_SHIFT, glfw.MOD_CONTROL)


GESTURES = [
    (LEFT, 0, "orbit", "orbit"),
    (LEFT, ALT, "orbit", "orbit"),
    (LEFT, 0, "fly", "look"),
    (RIGHT, 0, "fly", "look"),
    (LEFT, SHIFT, "orbit", "pan"),
    (LEFT, SHIFT, "fly", "pan"),
    (LEFT, SHIFT | CONTROL, "orbit", "pan"),
    (MIDDLE, 0, "orbit", "pan"),
    (MIDDLE, 0, "fly", "pan"),
    (MIDDLE, CONTROL, "orbit", "pan"),
    (RIGHT, 0, "orbit", "dolly"),
    (RIGHT, ALT, "orbit", "dolly"),
    (LEFT, CONTROL, "orbit", "roll"),
    (LEFT, CONTROL, "fly", "roll"),
    (RIGHT, SHIFT, "orbit", None),
    (RIGHT, SHIFT, "fly", None),
    (RIGHT, CONTROL, "orbit", None),
    (RIGHT, CONTROL | SHIFT, "orbit", None),
    (RIGHT, CONTROL, "fly", None),
]


@pytest.mark.parametrize("way", [(30, 20), (-30, -20), (12, 0), (0, -12)])
@pytest.mark.parametrize(("button", "mods", "mode", "gesture"), GESTURES)
def test_drags(desk: Desk, button: int, mods: int, mode: str, gesture: str | None, way) -> None:
    """Twice so far: each move from where the last one ended."""
    desk.controller.mode = mode
    expected = CameraController(START, BOX)
    for _ in range(2):
        if gesture == "pan":
            expected.pan(*way, SIZE[1])
        elif gesture == "dolly":
            expected.dolly(1.01 ** way[1])
        elif gesture == "roll":
            expected.roll(0.01 * way[0])
        elif gesture is not None:
            getattr(expected, gesture)(*way)
    desk.drag(button, mods, way, way)
    np.testing.assert_allclose(desk.controller.camera.origin, expected.camera.origin, atol=1e-12)
    np.testing.assert_allclose(desk.controller.camera.target, expected.camera.target, atol=1e-12)
    np.testing.assert_allclose(desk.controller.camera.basis(), expected.camera.basis(), atol=1e-12)
    assert (desk.controller.camera is START) is (gesture is None)
    assert desk.view.input.drag is None and desk.view.input.cursor == (100 + 2 * way[0], 80 + 2 * way[1])


def test_a_drag_turns_the_environment_by_its_width(desk: Desk) -> None:
    desk.drag(RIGHT, SHIFT, (50, 7), (-25, 0))
    assert desk.editing.asked == [("follow",), ("turn_environment", 20.0), ("follow",), ("turn_environment", -10.0)]


def test_a_drag_moves_a_light(desk: Desk) -> None:
    """From the press on, until that button is released."""
    desk.pointer.press(RIGHT, CONTROL)
    assert desk.editing.asked == [("drag_light",)]
    desk.pointer.move(120, 90)
    desk.pointer.release(LEFT)
    assert desk.editing.asked == [("drag_light",), ("follow",)] and desk.view.input.drag == (RIGHT, CONTROL)
    desk.pointer.release(RIGHT)
    assert desk.editing.asked == [("drag_light",), ("follow",), ("end_drag",)] and desk.view.input.drag is None
    desk.editing.asked.clear()
    for button, mods in ((LEFT, CONTROL), (RIGHT, SHIFT), (RIGHT, 0), (MIDDLE, CONTROL)):
        desk.drag(button, mods)
    assert desk.editing.asked == []


def test_where_orbit_turns_about_is_chosen_once_a_drag(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """And before the camera moves; not by a click, nor where nothing is orbited."""
    chosen: list[Camera] = []
    monkeypatch.setattr("raystream.viewport.host.choose_pivot", lambda view: chosen.append(view.controller.camera))
    desk.drag(LEFT, 0)
    assert chosen == []
    desk.drag(LEFT, 0, (1, 0), (1, 0), (1, 0))
    assert chosen == [START]
    desk.drag(LEFT, 0, (1, 0))
    assert len(chosen) == 2
    for button, mods, mode, gesture in GESTURES:
        desk.controller.mode = mode
        if gesture != "orbit":
            desk.drag(button, mods, (1, 0))
    assert len(chosen) == 2


def test_leaving_lets_everything_go(desk: Desk) -> None:
    desk.pointer.key("W", True)
    desk.pointer.press(RIGHT, CONTROL)
    desk.pointer.leave()
    assert desk.view.input.drag is None and desk.controller._thrust.keys == set()
    assert desk.editing.asked == [("key", "W"), ("drag_light",), ("end_drag",)]
    desk.view.controller = None
    desk.pointer.leave()


# -- keys --------------------------------------------------------------------------------------------------------------


def test_held_keys(desk: Desk) -> None:
    """They end whatever modifiers have come meanwhile; repetitions of the keyboard are none."""
    desk.pointer.key("W", True)
    desk.pointer.key("Shift", True)
    desk.pointer.key("Shift+D", True)
    assert desk.controller._thrust.keys == {"forward", "fast", "right"}
    desk.pointer.key("Shift+W", False)
    assert desk.controller._thrust.keys == {"fast", "right"}
    desk.pointer.key("W", True, repeated=True)
    assert desk.controller._thrust.keys == {"fast", "right"}
    desk.pointer.key("Shift", False)
    desk.pointer.key("D", False)
    assert desk.controller._thrust.keys == set() and desk.done == []
    desk.view.controller = None
    desk.pointer.key("W", True)


def test_keys_for_what_follows_the_mouse_do_nothing_else(desk: Desk) -> None:
    desk.editing.takes = True
    desk.pointer.key("P", True)
    assert desk.done == [] and desk.editing.asked == [("key", "P")]
    desk.pointer.key("P", True, repeated=True)
    desk.pointer.key("P", False)
    assert desk.done == [] and desk.editing.asked == [("key", "P")]
    desk.pointer.key("]", True, repeated=True)
    assert desk.done == ["fov.wider"], "what the keyboard repeats is not for it"
