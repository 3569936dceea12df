"""The mouse in the window, by real events of an X server: each gesture is that of the camera in the hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from raystream.renderer.preview.scheduler import HELD
from raystream.viewport import host
from raystream.viewport.camera_controller import WHEEL_DOLLY, WHEEL_SPEED, CameraController
from tests.window.conftest import Hands, xdotool

HEIGHT = 180
WAY = (36, 24)  # pixels

# Button, modifier, mode -> the gesture that it stands for.
GESTURES: dict[str, tuple[int, str, str, Callable[[CameraController], object]]] = {
    "orbit": (1, "", "orbit", lambda controller: controller.orbit(*WAY)),
    "pan": (2, "", "orbit", lambda controller: controller.pan(*WAY, HEIGHT)),
    "pan by Shift": (1, "shift", "orbit", lambda controller: controller.pan(*WAY, HEIGHT)),
    "dolly": (3, "", "orbit", lambda controller: controller.dolly(1.01 ** WAY[1])),
    "roll": (1, "ctrl", "orbit", lambda controller: controller.roll(0.01 * WAY[0])),
    "look": (1, "", "fly", lambda controller: controller.look(*WAY)),
}


@pytest.mark.parametrize("name", GESTURES)
def test_drags(hands: Hands, name: str) -> None:
    button, modifier, mode, gesture = GESTURES[name]
    app = hands.app
    controller = app.view.controller
    controller.mode = mode
    expected = CameraController(controller.camera, app.view.scene.bounds())
    gesture(expected)
    assert np.abs(np.subtract(expected.camera.basis(), controller.camera.basis())).max() > 0.01 or (
        np.abs(np.subtract(expected.camera.origin, controller.camera.origin)).max() > 0.1
    )
    hands.drag(button, (100, 80), (100 + WAY[0], 80 + WAY[1]), modifier)
    # In four steps: roundings of float64, in scene units of some tens.
    np.testing.assert_allclose(controller.camera.origin, expected.camera.origin, atol=1e-9)
    np.testing.assert_allclose(controller.camera.target, expected.camera.target, atol=1e-9)
    np.testing.assert_allclose(controller.camera.basis(), expected.camera.basis(), atol=1e-12)
    assert app.view.input.drag is None
    hands.rest()
    assert app.view.renderer.camera == controller.camera


def test_a_drag_that_rests_is_traced(hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole picture comes while the button is down, and goes with the next move."""
    app, now = hands.app, [time.monotonic()]
    monkeypatch.setattr(host, "time", SimpleNamespace(monotonic=lambda: now[0]))
    hands.move(100, 80)
    xdotool("mousedown", 1)
    hands.until(lambda: app.view.input.drag is not None, "drag")
    hands.move(116, 90)
    try:
        assert app.frame_loop.moving
        now[0] += 2 * HELD
        hands.turn(2)
        assert not app.frame_loop.moving and app.view.input.drag is not None
        hands.until(lambda: app.session.complete, "picture")
    finally:
        xdotool("mouseup", 1)
    hands.until(lambda: app.view.input.drag is None, "end")


def test_wheel(hands: Hands) -> None:
    """To the cursor by `WHEEL_DOLLY` a step; in flight the speed by `WHEEL_SPEED`."""
    app = hands.app
    hands.move(200, 60)
    camera, direction = app.view.controller.camera, app.view.ray_under_cursor()[1]
    hands.click(4)
    hands.rest()
    after = app.view.controller.camera
    # To the cursor: the eye goes along the ray through it, to the plane of the target.
    way = np.subtract(after.origin, camera.origin)
    far = np.linalg.norm(np.subtract(camera.target, camera.origin)) / (direction @ camera.basis()[2])
    np.testing.assert_allclose(way, (1 - WHEEL_DOLLY) * far * direction, atol=1e-9)
    hands.key("Tab")
    speed = app.view.controller.speed
    hands.click(5)
    assert app.view.controller.speed == pytest.approx(speed / WHEEL_SPEED) and app.view.controller.camera == after


def test_focus_lost_with_keys_held(hands: Hands) -> None:
    app = hands.app
    xdotool("keydown", "w")
    hands.until(lambda: app.view.controller.moving)
    xdotool("mousemove", "--window", hands.number, 160, 120, "mousedown", 1)
    hands.until(lambda: app.view.input.drag is not None)
    app.events.on_focus(False)
    hands.rest()  # it comes to rest
    assert app.view.input.drag is None and not app.view.controller.moving
    xdotool("mouseup", 1, "keyup", "w")
    app.events.on_focus(True)
    hands.turn(3)
    assert not app.view.controller.moving
