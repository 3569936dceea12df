"""Poses and flight by values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import (
    CameraPose,
    Move,
    Thrust,
    diagonal,
    heading,
    pose_of,
    wrapped,
)
from tests.viewport.cube_camera import ACROSS, FORWARD, HALF


@pytest.mark.parametrize(
    "yaw, pitch, roll, right, up, forward",
    [
        (0, 0, 0, (1, 0, 0), (0, 1, 0), (0, 0, -1)),
        (90, 0, 0, (0, 0, 1), (0, 1, 0), (1, 0, 0)),
        (0, 90, 0, (1, 0, 0), (0, 0, 1), (0, 1, 0)),
        (90, -90, 0, (0, 0, 1), (1, 0, 0), (0, -1, 0)),
        (0, 0, 90, (0, -1, 0), (1, 0, 0), (0, 0, -1)),
        (90, 0, -90, (0, 1, 0), (0, 0, -1), (1, 0, 0)),
    ],
)
def test_the_axes_of_a_pose(yaw: float, pitch: float, roll: float, right, up, forward) -> None:
    pose = CameraPose(np.zeros(3), FORWARD, 1.0, *map(math.radians, (yaw, pitch, roll)))
    np.testing.assert_allclose(pose.basis(), (right, up, forward), atol=1e-15)
    np.testing.assert_allclose(pose.forward(), forward, atol=1e-15)
    made = pose_of(Camera((1, 2, 3), np.add((1, 2, 3), 4 * np.array(forward)), up))
    np.testing.assert_allclose(made.basis(), (right, up, forward), atol=1e-12)
    assert made.distance == pytest.approx(4.0)


def test_between_two_poses() -> None:
    """Places and pitch by shares, distances by ratios, yaw and roll the short way round."""
    a = CameraPose(np.zeros(3), np.array([0.0, 0.0, -1.0]), 1.0, math.radians(170), 0.0, math.radians(-170))
    b = CameraPose(
        np.array([4.0, 8.0, 0.0]), np.zeros(3), 16.0, math.radians(-170), math.radians(60), math.radians(150)
    )
    move = Move(a, b)
    for elapsed, share in ((0.0, 0.0), (0.075, 0.15625), (0.15, 0.5), (0.225, 0.84375)):
        found = move.pose_at(elapsed)
        np.testing.assert_allclose(found.eye, (4 * share, 8 * share, 0))
        assert found.distance == pytest.approx(16.0**share)
        angles = [math.degrees(wrapped(angle)) for angle in (found.yaw - math.pi, found.pitch, found.roll - math.pi)]
        assert angles == pytest.approx([20 * share - 10, 60 * share, 10 - 40 * share], abs=1e-9)
        np.testing.assert_allclose(found.target, found.eye + found.distance * found.forward())
    for elapsed in (0.3, 5.0):
        end = move.pose_at(elapsed)
        assert end is not b and end.target is b.target and (end.yaw, end.distance) == (b.yaw, 16.0)


@pytest.mark.parametrize(
    "way, yaw, pitch",
    [
        ((0, 0, -1), 0, 0),
        ((1, 0, 0), 90, 0),
        ((-1, 0, 0), -90, 0),
        ((0, HALF, -HALF), 0, 45),
        ((HALF, -HALF, 0), 90, -45),
        ((0, 1, 0), 33, 90),  # straight up it keeps what is given
        ((0.9e-5, -1, 0), 33, -90),
        ((1.1e-5, 1, 0), 90, 90),
    ],
)
def test_headings(way, yaw: float, pitch: float) -> None:
    found = heading(np.array(way), math.radians(33))
    assert [math.degrees(angle) for angle in found] == pytest.approx([yaw, pitch], abs=1e-3)


@pytest.mark.parametrize(
    "low, high, length",
    [
        ((0, 0, 0), (3, 4, 12), 13.0),
        ((-1, -1, -1), (1, 1, 1), ACROSS),
        ((0, 0, 0), (0, 0, 2), 2.0),
        ((0, 0, 0), (0, 0, 0), 1.0),
        ((1, 0, 0), (0, 4, 12), 1.0),  # no box
        ((0, 0, -math.inf), (1, 1, 1), 1.0),
        ((0, 0, 0), (1, math.nan, 1), 1.0),
        ((1e9, 0, 0), (1e9, 0, 0.9), 1.0),  # less than 1e-9 of the coordinates
        ((1e9, 0, 0), (1e9, 0, 1.1), 1.1),
        ((0, 0, 0), (1e-30, 0, 0), 1e-30),
    ],
)
def test_diagonals(low, high, length: float) -> None:
    assert diagonal([low, high]) == pytest.approx(length)


RIGHT, TILTED = np.array([1.0, 0, 0]), np.array([0.0, -HALF, -HALF])


@pytest.mark.parametrize(
    "keys, way",
    [
        ("forward", TILTED),
        ("back", -TILTED),
        ("left", -RIGHT),
        ("right", RIGHT),
        ("up", (0, 1, 0)),  # the world's
        ("down", (0, -1, 0)),
        ("forward right", (HALF, -0.5, -0.5)),
        ("left up", (-HALF, HALF, 0)),
        ("down right", (HALF, -HALF, 0)),
        ("back left", (-HALF, 0.5, 0.5)),
        ("left right", (0, 0, 0)),
        ("left right up", (0, 1, 0)),
        ("forward fast", 4 * TILTED),
        ("right slow", 0.25 * RIGHT),
        ("right fast slow", RIGHT),
        ("fast", (0, 0, 0)),
        ("", (0, 0, 0)),
    ],
)
def test_velocities_that_keys_ask_for(keys: str, way) -> None:
    thrust = Thrust()
    for key in keys.split():
        thrust.press(key)
    np.testing.assert_allclose(thrust.target_velocity(RIGHT, TILTED, 3.0), 3 * np.array(way), atol=1e-15)
    assert thrust.keys == set(keys.split()) and not thrust.velocity.any()


def test_velocity_follows_what_the_keys_want() -> None:
    """x(dt) = w dt + (v - w) T (1 - exp(-dt / T)), T = 0.06 s."""
    thrust, wanted = Thrust(), np.array([2.0, 0.0, 0.0])
    thrust.velocity = np.array([0.0, 1.0, 0.0])
    decay = math.exp(-0.5)
    np.testing.assert_allclose(
        thrust.advance(0.03, wanted, 2.0), (0.06 - 2 * 0.06 * (1 - decay), 0.06 * (1 - decay), 0)
    )
    np.testing.assert_allclose(thrust.velocity, (2 - 2 * decay, decay, 0))
    thrust.stop()
    assert not thrust.velocity.any()
