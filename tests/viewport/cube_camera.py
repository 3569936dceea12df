"""A camera before a cube, by which gestures and motion are tested."""

from __future__ import annotations

import math

import numpy as np

from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import CameraController

CUBE = [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]
ACROSS = 2 * math.sqrt(3)  # the cube's diagonal
START = Camera((0, 0, 5), (0, 0, 0), fov=90.0, name="start")
WITHIN = Camera((0, 0, 0.5), (0, 0, -7.5), fov=90.0)
FORWARD = np.array([0.0, 0.0, -1.0])
HALF = math.sqrt(0.5)


def at(controller: CameraController, eye: object, target: object) -> None:
    """The camera is there and looks there, to a rounding."""
    np.testing.assert_allclose(controller.camera.origin, eye, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(controller.camera.target, target, rtol=1e-12, atol=1e-12)


def distance(controller: CameraController) -> float:
    return math.dist(controller.camera.origin, controller.camera.target)
