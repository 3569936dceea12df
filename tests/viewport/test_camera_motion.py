"""The camera's eased motion, and how it aims, by values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import CameraController
from tests.viewport.cube_camera import ACROSS, CUBE, START, WITHIN, at, distance


def test_the_wheel_is_eased_by_its_closed_form(controller: CameraController) -> None:
    """Logarithm of the distance: -0.1625 (1 - exp(-t / 0.05)); within 0.002 of its end it is there, after 0.21989 s."""
    controller.wheel(1)
    assert controller.moving and controller.camera is START, "the wheel alone moves nothing"
    for dt, seconds in ((0.01, 0.01), (0.04, 0.05), (0.05, 0.10)):
        assert controller.update(dt) and controller.moving
        way = math.log(0.85) * (1 - math.exp(-seconds / 0.05))
        assert distance(controller) == pytest.approx(5 * math.exp(way))
    controller.update(0.1195)
    assert controller.moving and distance(controller) != pytest.approx(5 * 0.85, rel=1e-9)
    controller.update(0.0005)
    assert not controller.moving and distance(controller) == pytest.approx(5 * 0.85, rel=1e-12)
    at(controller, (0, 0, 5 * 0.85), (0, 0, 0))


def test_an_eased_way_by_its_closed_form(controller: CameraController) -> None:
    """Shares of the way at quarters of its time: x x (3 - 2 x)."""
    controller.focus((5.0, 0.0, 5.0))  # a quarter turn to the right
    for share in (0.15625, 0.5, 0.84375, 1.0):
        assert controller.moving
        controller.update(0.075)
        angle = share * math.pi / 2
        np.testing.assert_allclose(controller.camera.basis()[2], (math.sin(angle), 0, -math.cos(angle)), atol=1e-12)
        np.testing.assert_allclose(controller.camera.origin, (0, 0, 5), atol=1e-12)
    assert not controller.moving and controller.camera.target == (5.0, 0.0, 5.0)


@pytest.mark.parametrize(
    "asked, found",
    [
        (1.0, 1.0),
        (1.5, 1.5),
        (1.6, 1.5),  # the wall
        (0.01 * ACROSS, 0.01 * ACROSS),
        (0.001, 0.01 * ACROSS),
        (-1.0, 0.01 * ACROSS),
        (math.inf, 1.5),  # the target's own distance, 8, within the walls
    ],
)
def test_aim_indoors(asked: float, found: float) -> None:
    controller = CameraController(WITHIN, CUBE)
    controller.update(0)
    controller.aim(asked)
    at(controller, (0, 0, 0.5), (0, 0, 0.5 - found))
    assert controller.update(0) and controller.camera.fov == 90.0
    controller.dolly(0.5)
    at(controller, (0, 0, 0.5 - found / 2), (0, 0, 0.5 - found))


@pytest.mark.parametrize("way, out", [((1, 0, 0), 0.5), ((-1, 0, 0), 1.5), ((1, 1, 0), 0.5), ((1, 0, 2), 0.5)])
def test_the_walls_on_each_side(way, out: float) -> None:
    """From (0.5, 0, 0): the way to the first wall that is met, in units of the larger component."""
    controller = CameraController(Camera((0.5, 0, 0), np.add((0.5, 0, 0), way)), CUBE)
    controller.aim(100.0)
    scaled = np.array(way) / np.abs(way)[np.argmax(np.array(way) != 0)]
    at(controller, (0.5, 0, 0), np.add((0.5, 0, 0), out * scaled))


def test_moving_as_long_as_there_is_something_to_do(controller: CameraController) -> None:
    assert not controller.moving
    controller.set_fov(50)
    assert controller.moving and controller.update(0) and not controller.moving, "a change to report"
    controller.press("left")
    assert controller.moving, "a key"
    controller.update(0.1)
    controller.release("left")
    assert controller.moving and controller.update(1.0) and not controller.moving, "it glides"
    controller.release("left")
    controller.focus((0, 0, 4))
    assert controller.moving and controller.update(0.3) and not controller.moving, "an eased way"
