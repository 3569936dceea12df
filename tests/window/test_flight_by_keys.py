"""Flight by keys: its speed and its way against closed forms, whatever the frame rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hand import BOX, START, eye, settle, target

from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import FAST, GLIDE, MOTIONS, SLOW, CameraController


@pytest.fixture
def controller() -> CameraController:
    return CameraController(START, BOX)


def test_flight_covers_exactly_its_speed(controller: CameraController) -> None:
    assert controller.natural_speed == controller.speed == math.dist(*BOX) / 4
    controller.speed = 1.75
    right, _, forward = START.basis()
    world_up = np.array([0.0, 1.0, 0.0])
    ways = {
        ("forward",): forward,
        ("back",): -forward,
        ("left",): -right,
        ("right",): right,
        ("up",): world_up,
        ("down",): -world_up,
        ("forward", "right"): (forward + right) / math.sqrt(2),
        ("forward", "up"): (forward + world_up) / np.linalg.norm(forward + world_up),
    }
    for keys, way in ways.items():
        for pace, factor in ((None, 1.0), ("fast", FAST), ("slow", SLOW)):
            controller.set_camera(START)
            for key in (*keys, *([pace] if pace else [])):
                controller.press(key)
                controller.press(key)  # the keyboard repeats
            controller.update(40 * GLIDE)  # e^-40 is below a rounding
            before = eye(controller)
            assert controller.update(0.5) and controller.moving
            np.testing.assert_allclose(eye(controller) - before, 1.75 * factor * 0.5 * way, atol=1e-12)
            np.testing.assert_allclose(
                target(controller) - eye(controller), np.subtract(START.target, START.origin), atol=1e-9
            )
            controller.release_all()


def play(dt: float) -> tuple[list[Camera], CameraController]:
    """A session with keys, looks, wheel, focus and Home on a time table of thirtieths; a camera each tenth."""
    controller = CameraController(START, BOX)
    script = {
        0: lambda: controller.press("forward"),
        6: lambda: (controller.press("left"), controller.look(40, -10)),
        12: lambda: (controller.press("fast"), controller.wheel(2, controller.direction(1, 1, 9, 9))),
        15: lambda: controller.look(-20, 30),
        18: lambda: (controller.release("forward"), controller.wheel(-1)),
        21: lambda: controller.release_all(),
        24: lambda: controller.wheel(1),
        30: lambda: controller.focus((1.0, 0.5, 0.25)),
        36: lambda: controller.press("up"),
        48: lambda: controller.frame_all(1.5),
        60: lambda: controller.release("up"),
    }
    cameras = []
    for k in range(0, 90):
        if k in script:
            script[k]()
        for _ in range(round(1 / 30 / dt)):
            controller.update(dt)
        if k % 3 == 2:
            cameras.append(controller.camera)
    return cameras, controller


def test_the_path_does_not_depend_on_the_frame_rate() -> None:
    slow, last = play(1 / 30)
    for dt in (1 / 240, 1 / 120):
        fast, _ = play(dt)
        for a, b in zip(slow, fast, strict=True):
            # When easing ends the rest of the way is taken at once: at most AT_REST * 4 speed * GLIDE = 1.6e-3 units
            # of flight (speed 1.35) or ZOOM_REST = 0.2 % of 8 units before the target, and earlier at a high rate.
            np.testing.assert_allclose(a.origin, b.origin, atol=0.02)
            np.testing.assert_allclose(a.basis(), b.basis(), atol=1e-9)
        # The place of rest is the same; what is left are roundings of about 500 updates.
        np.testing.assert_allclose(slow[-1].origin, fast[-1].origin, atol=1e-9)
        np.testing.assert_allclose(slow[-1].target, fast[-1].target, atol=1e-9)
    assert not last.moving
    assert max(math.dist(c.origin, START.origin) for c in slow) > 2  # it went somewhere


def test_keys_are_let_go_when_the_focus_is_lost(controller: CameraController) -> None:
    for editing in (*MOTIONS, "fast", "slow"):
        controller.press(editing)
    controller.release("back")
    controller.update(0.5)
    controller.release_all()
    settle(controller)
    assert not controller.moving
    before = eye(controller)
    controller.update(10.0)
    np.testing.assert_array_equal(eye(controller), before)
    with pytest.raises(ValueError, match="sideways"):
        controller.press("sideways")
