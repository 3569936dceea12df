"""A camera in the hand, and what it sees."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import CameraController

BOX = np.array([[-1.0, 0.0, -2.0], [3.0, 2.0, 1.0]])
START = Camera((4.0, 3.0, 6.0), (1.0, 1.0, -0.5), fov=40.0, name="start")


def settle(controller: CameraController, seconds: float = 2.0, dt: float = 1 / 60) -> None:
    """Updates until eased motion must be over."""
    for _ in range(round(seconds / dt)):
        controller.update(dt)
    assert not controller.moving or controller._thrust.keys


def eye(controller: CameraController) -> np.ndarray:
    return np.array(controller.camera.origin)


def target(controller: CameraController) -> np.ndarray:
    return np.array(controller.camera.target)


def seen_at(camera: Camera, point, width: int, height: int) -> np.ndarray:
    """The pixel at which a camera sees a point: projected by its matrices, independently of Flight."""
    clip = camera.projection_matrix(width / height, 0.01, 1000) @ camera.view_matrix() @ np.append(point, 1.0)
    x, y = clip[:2] / clip[3]
    return np.array([(x + 1) / 2 * width, (1 - y) / 2 * height])


# up within this sine of the view is taken as along it, and says little about the roll
attitude = st.tuples(st.floats(-180, 180), st.floats(-89.9, 89.9), st.floats(-180, 180))


def turned(yaw: float, pitch: float, roll: float, distance: float = 2.0) -> Camera:
    """A camera at the angles (degrees), by rotation matrices."""
    a, b, c = np.radians([-yaw, pitch, -roll])
    about_y = np.array([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])
    about_x = np.array([[1, 0, 0], [0, math.cos(b), -math.sin(b)], [0, math.sin(b), math.cos(b)]])
    about_z = np.array([[math.cos(c), -math.sin(c), 0], [math.sin(c), math.cos(c), 0], [0, 0, 1]])
    whole = about_y @ about_x @ about_z
    origin = np.array([0.5, -0.25, 3.0])
    return Camera(tuple(origin), tuple(origin - distance * whole[:, 2]), tuple(whole[:, 1]))
