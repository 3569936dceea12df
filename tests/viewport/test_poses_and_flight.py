"""Poses and flight by values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import (
    CameraController,
    CameraPose,
    Move,
    Thrust,
    diagonal,
    finite,
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


def test_up_of_a_pose_s_camera() -> None:
    """The world's, where it is level; its own, where it is rolled or looks along the world's."""
    pose = CameraPose(np.zeros(3), FORWARD, 1.0, 0.0, 0.0, 0.0)
    assert pose.camera(50.0, "a") == Camera((0, 0, 0), (0, 0, -1), (0, 1, 0), 50.0, "a")
    pose.roll = 0.5
    assert pose.camera(50.0, "a").up == pytest.approx((math.sin(0.5), math.cos(0.5), 0))
    pose.roll, pose.pitch = 0.0, math.pi / 2 - 2e-5
    assert pose.camera(50.0, "a").up == (0, 1, 0)
    pose.pitch = math.pi / 2 - 0.9e-5
    assert pose.camera(50.0, "a").up == pytest.approx((0, 0.9e-5, 1), abs=1e-9)


def test_a_target_that_float64_cannot_tell_from_the_eye_is_put_before_it() -> None:
    eye = np.array([1e6, 0.0, 0.0])
    for apart, found in ((1e-3, 2e-3), (1.1e-3, 1.1e-3)):  # 1e-9 of the coordinates
        pose = CameraPose(eye, eye + apart * FORWARD, apart, 0.0, 0.0, 0.0)
        assert pose.camera(40.0, "").target[2] == pytest.approx(-found)
    pose = CameraPose(eye, eye, 1.0, 0.0, 0.0, 0.0)
    assert pose.camera(40.0, "").target == pytest.approx((1e6, 0, -2e-3))


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


def test_angles_and_numbers() -> None:
    for angle, same in (
        (0.0, 0.0),
        (math.pi, math.pi),
        (3.5, 3.5 - 2 * math.pi),
        (-3.5, 2 * math.pi - 3.5),
        (7, 7 - 2 * math.pi),
    ):
        assert wrapped(angle) == pytest.approx(same)
    assert finite() and finite(1.0, -2.0)
    assert not finite(math.nan) and not finite(1.0, math.inf) and not finite(-math.inf, 1.0)


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


def test_a_roll_of_a_rounding_is_none() -> None:
    for roll, found in ((0.9e-9, 0.0), (1.1e-9, -1.1e-9), (-0.9e-9, 0.0), (-1.1e-9, 1.1e-9)):
        up = (-math.sin(roll), math.cos(roll), 0)
        assert pose_of(Camera((0, 0, 5), (0, 0, 0), up)).roll == pytest.approx(found, rel=1e-3)


def test_a_pose_at_the_ends_of_space() -> None:
    pose = pose_of(Camera((1e31, 0, 0), (0, -1e31, 0)))
    np.testing.assert_array_equal([pose.eye, pose.target], [(1e30, 0, 0), (0, -1e30, 0)])


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


@pytest.mark.parametrize(
    "speed, found", [(2.0, 2.0), (0.0, 0.0), (-1.0, 0.0), (math.nan, 0.0), (math.inf, 0.0), (1e31, 1e30)]
)
def test_speeds_of_flight(speed: float, found: float) -> None:
    thrust = Thrust()
    thrust.press("right")
    np.testing.assert_array_equal(thrust.target_velocity(RIGHT, TILTED, speed), (found, 0, 0))


def test_keys_that_are_none() -> None:
    thrust = Thrust()
    with pytest.raises(ValueError, match="no motion 'turn'"):
        thrust.press("turn")
    assert thrust.keys == set()


def test_velocity_follows_what_the_keys_want() -> None:
    """x(dt) = w dt + (v - w) T (1 - exp(-dt / T)), T = 0.06 s."""
    thrust, wanted = Thrust(), np.array([2.0, 0.0, 0.0])
    thrust.velocity = np.array([0.0, 1.0, 0.0])
    decay = math.exp(-0.5)
    np.testing.assert_allclose(
        thrust.advance(0.03, wanted, 2.0), (0.06 - 2 * 0.06 * (1 - decay), 0.06 * (1 - decay), 0)
    )
    np.testing.assert_allclose(thrust.velocity, (2 - 2 * decay, decay, 0))
    thrust.velocity = np.zeros(3)
    assert not thrust.velocity.any()


def test_flight_ends_at_a_share_of_its_speed() -> None:
    """Below 0.005 of it, once no key is down: what is left of the way is taken at once."""
    for left, ends in ((0.0051, False), (0.0049, True)):
        thrust = Thrust()
        thrust.velocity = np.array([2 * left * math.e, 0.0, 0.0])
        way = thrust.advance(0.06, np.zeros(3), 2.0)
        whole = 0.06 * 2 * left * math.e
        assert way[0] == pytest.approx(whole if ends else whole * (1 - 1 / math.e))
        assert thrust.velocity.any() is np.bool_(not ends)
    thrust.velocity = np.array([2.0, 0.0, 0.0])
    thrust.advance(0.06, np.array([2.0, 1e-9, 0.0]), 2.0)
    assert thrust.velocity[1] == pytest.approx(1e-9 * (1 - 1 / math.e)), "keys are down"


def test_what_glides_ends_by_the_scene_s_own_speed(controller: CameraController) -> None:
    """Where the speed of flight is next to none, by a thousandth of the scene's."""
    controller.speed = 0.0
    for left, ends in ((5.1e-6, False), (4.9e-6, True)):
        controller._thrust.velocity = np.array([left * controller.natural_speed * math.e, 0.0, 0.0])
        controller.update(0.06)
        assert controller._thrust.velocity.any() is np.bool_(not ends)
