"""Where a camera is and how it is turned, as a hand moves it; and the eased way from one pose to another.

Attitude is yaw, pitch and roll about the world's +Y, which neither drifts nor flips: pitch ends at straight up and
straight down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.camera import Camera, Vector

Array = NDArray[np.float64]

MOVE_SECONDS = 0.3  # that an eased way takes
ENDS = 1e30  # coordinates beyond are held here, so that squares stay finite
FINEST = 1e-9  # distance to the target as a share of the coordinates: float64 must tell the two apart
LONGEST_DRAG = 1e5  # pixels in one event; more is a fault of the driver
LEVEL = 1e-9  # radians of roll that are none
ZENITH = 1e-5  # sine of the angle to +-Y below which up, not forward, tells the heading


@dataclass
class CameraPose:
    """Where the camera is and how it is turned; angles in radians.

    yaw : of the view about +Y, 0 towards -Z and growing towards +X. pitch : up from the horizon, in [-pi/2, pi/2].
    roll : of the camera about its view, growing clockwise, so that the picture turns anticlockwise.
    target is eye + distance * forward to a rounding; gestures keep the one of the two that stays where it is exactly.
    """

    eye: Array
    target: Array
    distance: float
    yaw: float
    pitch: float
    roll: float

    def basis(self) -> tuple[Array, Array, Array]:
        """(right, up, forward), orthonormal."""
        sin_yaw, cos_yaw = math.sin(self.yaw), math.cos(self.yaw)
        sin_pitch, cos_pitch = math.sin(self.pitch), math.cos(self.pitch)
        sin_roll, cos_roll = math.sin(self.roll), math.cos(self.roll)
        level = np.array([cos_yaw, 0.0, sin_yaw])
        above = np.array([-sin_pitch * sin_yaw, cos_pitch, sin_pitch * cos_yaw])
        forward = np.array([cos_pitch * sin_yaw, sin_pitch, -cos_pitch * cos_yaw])
        return cos_roll * level - sin_roll * above, cos_roll * above + sin_roll * level, forward

    def forward(self) -> Array:
        """The view's unit vector."""
        return self.basis()[2]

    def camera(self, fov: float, name: str) -> Camera:
        """The camera here; up is +Y where the camera is level."""
        _, up, forward = self.basis()
        if self.roll == 0 and math.cos(self.pitch) > ZENITH:
            up = np.array([0.0, 1.0, 0.0])
        least = FINEST * max(np.abs(self.eye).max(), np.abs(self.target).max())
        apart = self.distance > least and bool((self.target != self.eye).any())
        target = self.target if apart else self.eye + 2 * least * forward
        return Camera(plain(self.eye), plain(target), plain(up), fov=fov, name=name)


@dataclass
class Move:
    """An eased way from one pose to another."""

    start: CameraPose
    goal: CameraPose
    elapsed: float = 0.0

    def at(self, elapsed: float) -> CameraPose:
        """The pose after some seconds; from the end on the goal itself."""
        if elapsed >= MOVE_SECONDS:
            return replace(self.goal)
        x = elapsed / MOVE_SECONDS
        s = x * x * (3 - 2 * x)
        a, b = self.start, self.goal
        pose = CameraPose(
            a.eye + s * (b.eye - a.eye),
            a.target,
            a.distance * (b.distance / a.distance) ** s,
            a.yaw + s * turn(b.yaw - a.yaw),
            a.pitch + s * (b.pitch - a.pitch),
            a.roll + s * turn(b.roll - a.roll),
        )
        pose.target = pose.eye + pose.distance * pose.forward()
        return pose


def pose_of(camera: Camera) -> CameraPose:
    """The pose of a camera; it may differ by roundings, so the camera itself is kept until it moves."""
    eye, target = (np.clip(np.array(point), -ENDS, ENDS) for point in (camera.origin, camera.target))
    _, up, forward = camera.basis()
    above = math.copysign(1.0, -forward[1]) * up  # where the view is straight down, up tells the heading
    yaw, pitch = heading(forward, math.atan2(above[0], -above[2]))
    distance = max(float(np.linalg.norm(target - eye)), FINEST * float(np.abs(eye).max()), 1e-30)
    pose = CameraPose(eye, target, distance, yaw, pitch, 0.0)
    right, level_up, _ = pose.basis()
    roll = math.atan2(float(up @ right), float(up @ level_up))
    pose.roll = roll if abs(roll) > LEVEL else 0.0
    return pose


def heading(forward: Array, yaw: float) -> tuple[float, float]:
    """Yaw and pitch of a unit direction; straight up and down it keeps the yaw that is given."""
    level = math.hypot(forward[0], forward[2])
    return (math.atan2(forward[0], -forward[2]) if level > ZENITH else yaw), math.atan2(forward[1], level)


def turn(angle: float) -> float:
    """The same angle in [-pi, pi]."""
    return math.remainder(angle, 2 * math.pi)


def plain(vector: Array) -> Vector:
    """Three Python floats."""
    x, y, z = (float(component) for component in vector)
    return x, y, z


def diagonal(bounds: ArrayLike) -> float:
    """The length of a box's diagonal, (2, 3) scene units; 1 where it has none that float64 can tell."""
    box = np.asarray(bounds, np.float64).reshape(2, 3)
    size = float(np.linalg.norm(box[1] - box[0])) if np.isfinite(box).all() and (box[1] >= box[0]).all() else 0.0
    return size if size > FINEST * np.abs(box).max(initial=0.0, where=np.isfinite(box)) and size > 0 else 1.0


def finite(*numbers: float) -> bool:
    """Whether all of them are."""
    return all(math.isfinite(number) for number in numbers)


def pixels(length: float) -> float:
    """A drag's length, held to `LONGEST_DRAG`."""
    return min(max(length, -LONGEST_DRAG), LONGEST_DRAG)
