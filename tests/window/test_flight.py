"""The camera in the hand: speeds and paths against closed forms, and no motion that flips, drifts or ends in NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hand import BOX, START, attitude, eye, seen_at, settle, target, turned
from hypothesis import given, settings
from hypothesis import strategies as st

from viewer.scene.camera import Camera
from viewer.viewport.controls.camera_controller import LOOK, ORBIT, WHEEL_DOLLY, Flight
from viewer.viewport.controls.pose import MOVE_SECONDS
from viewer.viewport.controls.thrust import MOTIONS


@pytest.fixture
def flight() -> Flight:
    return Flight(START, BOX)


# Setting and reading


def test_a_camera_that_is_set_stays_the_same_object(flight: Flight) -> None:
    assert flight.camera is START
    assert flight.update(0.1)  # reported once
    assert flight.camera is START and not flight.update(0.1) and not flight.moving
    other = Camera((1e-3, 7.1, 1 / 3), (0.1, 0.2, 0.3), (0.3, -1, 0.2), fov=175.5)
    flight.set_camera(other)
    flight.toggle_mode()
    flight.set_bounds(2 * BOX)
    assert flight.update(0.1) and flight.camera is other


@settings(max_examples=200, deadline=None)
@given(attitude)
def test_the_first_gesture_does_not_jump(angles) -> None:
    """A drag of no pixels makes a new camera from yaw, pitch and roll: it must be the one that was set."""
    camera = turned(*angles)
    for gesture in ("orbit", "look"):
        flight = Flight(camera, BOX)
        getattr(flight, gesture)(0.0, 0.0)
        assert flight.camera is not camera
        # 1e-9 is the roll that counts as none; within 0.1 degrees of the poles roundings grow by 600.
        np.testing.assert_allclose(flight.camera.basis(), camera.basis(), atol=3e-9)
        np.testing.assert_allclose(eye(flight), camera.origin, atol=1e-12)
        np.testing.assert_allclose(target(flight), camera.target, atol=1e-12)


@pytest.mark.parametrize("y", [5.0, -5.0])
@pytest.mark.parametrize("up", [(0, 1, 0), (0, 0, 1), (1, 0, -1)])
def test_straight_down_and_up_keep_their_heading(y: float, up) -> None:
    camera = Camera((0, y, 0), (0, 0, 0), up)
    flight = Flight(camera, BOX)
    flight.orbit(0, 0)
    np.testing.assert_allclose(flight.camera.basis(), camera.basis(), atol=1e-12)


@pytest.mark.parametrize("y", [5.0, -5.0])
def test_a_camera_that_is_straight_down_or_up_is_level(y: float) -> None:
    flight = Flight(Camera((0, y, 0), (0, 0, 0), (0, 0, 1)), BOX)
    flight.orbit(0, -math.copysign(50, y))  # away from the pole
    right, up, _ = flight.camera.basis()
    assert right[1] == 0 and up[1] > 0.1


def test_a_level_camera_says_so(flight: Flight) -> None:
    flight.orbit(31, -12)
    assert flight.camera.up == (0.0, 1.0, 0.0)
    assert Camera.parse(flight.camera.text(), fov=flight.camera.fov, name="start") == flight.camera


# Drags


def test_orbit_keeps_target_and_distance_and_follows_the_hand(flight: Flight) -> None:
    forward = START.basis()[2]
    near = np.array(START.target) - 0.5 * forward
    before = seen_at(START, near, 900, 600)
    flight.orbit(20, 0)
    assert flight.camera.target == START.target
    assert seen_at(flight.camera, near, 900, 600)[0] > before[0] + 5  # the near side goes with the hand to the right
    angle = math.atan2(*(np.delete(eye(flight) - target(flight), 1))) - math.atan2(
        *(np.delete(np.subtract(START.origin, START.target), 1))
    )
    assert abs(angle) == pytest.approx(20 * ORBIT, abs=1e-12)
    flight.set_camera(START)
    flight.orbit(0, 20)
    assert seen_at(flight.camera, near, 900, 600)[1] > before[1] + 5  # and down


def test_orbit_does_not_drift(flight: Flight) -> None:
    flight.orbit(0.1, 0.1)
    flight.orbit(-0.1, -0.1)
    for k in range(5000):
        flight.orbit(17.3 * math.sin(k), 5 * math.cos(k))
        flight.look(0.0, 0.0)
        flight.orbit(-17.3 * math.sin(k), -5 * math.cos(k))
    # 10,000 sums of angles up to pi: a random walk of roundings stays within 1e4 * 4e-16.
    np.testing.assert_allclose(eye(flight), START.origin, atol=1e-11)
    np.testing.assert_allclose(target(flight), START.target, atol=1e-11)


def test_once_round_in_900_pixels(flight: Flight) -> None:
    for _ in range(900):
        flight.orbit(1, 0)
    np.testing.assert_allclose(eye(flight), START.origin, atol=1e-12)


@pytest.mark.parametrize("gesture", ["orbit", "look"])
@pytest.mark.parametrize("way", [1, -1])
def test_never_past_the_poles(flight: Flight, gesture: str, way: int) -> None:
    heading = START.basis()[0]
    for _ in range(200):
        getattr(flight, gesture)(0, 40 * way)
        right, up, _ = flight.camera.basis()
        np.testing.assert_allclose(right, heading, atol=1e-9)  # the heading never turns round
        assert up[1] > -1e-12  # and the picture is never upside down
    assert flight.camera.basis()[2][1] == pytest.approx(-way, abs=1e-12)
    getattr(flight, gesture)(0, -100 * way)  # it comes back at once
    assert abs(flight.camera.basis()[2][1]) < math.cos(90 * LOOK)


def test_orbit_goes_along_the_picture_s_axes_when_rolled(flight: Flight) -> None:
    flight.set_camera(Camera((0, 0, 5), (0, 0, 0)))
    flight.roll(math.pi / 2)  # the picture turns clockwise: the world's up is at its right
    np.testing.assert_allclose(flight.camera.basis()[0], [0, 1, 0], atol=1e-12)
    flight.orbit(0, 30)  # down in the picture is a turn about the world's up
    assert eye(flight)[1] == pytest.approx(0, abs=1e-12) and abs(eye(flight)[0]) > 0.5
    near = seen_at(flight.camera, np.array([0, 0, 1.0]), 100, 100)
    assert near[1] > 52 and near[0] == pytest.approx(50, abs=1e-9)


def test_roll_turns_about_the_view_and_back(flight: Flight) -> None:
    flight.roll(0.3)
    assert flight.camera.origin == START.origin and flight.camera.target == START.target
    right, up, _ = START.basis()
    np.testing.assert_allclose(flight.camera.basis()[1], math.cos(0.3) * up - math.sin(0.3) * right, atol=1e-12)
    flight.roll(-0.3)
    np.testing.assert_allclose(flight.camera.basis(), START.basis(), atol=1e-12)


def test_look_turns_to_the_hand_and_keeps_the_eye(flight: Flight) -> None:
    right, up, _ = START.basis()
    flight.look(50, 0)
    assert flight.camera.origin == START.origin
    assert flight.camera.basis()[2] @ right > 0
    flight.set_camera(START)
    flight.look(0, 50)
    assert flight.camera.basis()[2] @ up == pytest.approx(-math.sin(50 * LOOK), abs=1e-12)
    flight.set_camera(START.with_fov(4.0))
    flight.look(0, 50)  # a narrow view turns less
    assert 0 > flight.camera.basis()[2] @ up > -math.sin(0.11 * 50 * LOOK)


@pytest.mark.parametrize("depth", [None, 2.5])
def test_pan_carries_the_grabbed_point_with_the_hand(flight: Flight, depth: float | None) -> None:
    width, height = 960, 540
    grabbed = flight.direction(700, 100, width, height)
    forward = START.basis()[2]
    point = np.array(START.origin) + grabbed * (depth or math.dist(START.origin, START.target)) / (grabbed @ forward)
    np.testing.assert_allclose(seen_at(START, point, width, height), [700, 100], atol=1e-8)
    flight.pan(-130, 77, height, depth)
    np.testing.assert_allclose(seen_at(flight.camera, point, width, height), [570, 177], atol=1e-8)
    np.testing.assert_allclose(flight.camera.basis(), START.basis(), atol=1e-12)


@pytest.mark.parametrize("wheel", [False, True])
def test_dolly_keeps_the_point_under_the_cursor(flight: Flight, wheel: bool) -> None:
    width, height = 960, 540
    toward = flight.direction(812.5, 33.0, width, height)
    forward = START.basis()[2]
    far = math.dist(START.origin, START.target)
    point = np.array(START.origin) + toward * far / (toward @ forward)
    if wheel:
        flight.wheel(3, 7.0 * toward)  # of any length
        settle(flight, 1.0)
        factor = WHEEL_DOLLY**3
    else:
        flight.dolly(factor := 0.37, toward)
    np.testing.assert_allclose(seen_at(flight.camera, point, width, height), [812.5, 33.0], atol=1e-8)
    assert math.dist(flight.camera.origin, flight.camera.target) == pytest.approx(factor * far, rel=1e-12)
    assert math.dist(flight.camera.origin, point) == pytest.approx(factor * math.dist(START.origin, point), rel=1e-12)


def test_dolly_without_a_cursor_goes_to_the_target_and_stops_before_it(flight: Flight) -> None:
    flight.dolly(0.5)
    assert flight.camera.target == START.target
    for toward in (None, np.zeros(3), -START.basis()[2], [math.nan, 0, 0]):
        flight.dolly(1e-300, toward)
        assert 0 < math.dist(flight.camera.origin, START.target) < 1e-4
        flight.dolly(1e300, toward)
        assert 1e4 < math.dist(flight.camera.origin, START.target) < 1e5
    np.testing.assert_allclose(target(flight), START.target, atol=1e-9)


# Home, views, focus, field of view


@settings(max_examples=60, deadline=None)
@given(attitude, st.floats(0.2, 4), st.floats(2, 120))
def test_home_frames_all_from_the_same_direction(angles, aspect: float, fov: float) -> None:
    camera = turned(*angles).with_fov(fov)
    flight = Flight(camera, BOX)
    flight.frame_all(aspect)
    settle(flight, 0.5)
    made = flight.camera
    assert made.fov == fov
    np.testing.assert_allclose(made.basis()[2], camera.basis()[2], atol=1e-9)
    assert made.basis()[0][1] == pytest.approx(0, abs=1e-9)  # level
    width, height = 1000 * aspect, 1000
    corners = np.array([[x, y, z] for x in BOX[:, 0] for y in BOX[:, 1] for z in BOX[:, 2]])
    at = np.array([seen_at(made, corner, width, height) for corner in corners])
    assert (at >= 0).all() and (at[:, 0] <= width).all() and (at[:, 1] <= height).all()
    # and it fills: at 2 % more than the margin of Camera.framing some corner would be outside the framed square
    side = min(width, height)
    assert (np.abs(at - [width / 2, height / 2]).max() > 0.3 * side) or fov > 60


@pytest.mark.parametrize("name, away", [("front", [0, 0, 1]), ("right", [1, 0, 0]), ("top", [0, 1, 0])])
def test_views(flight: Flight, name: str, away) -> None:
    flight.roll(1.0)
    flight.view(name, 1.5)
    settle(flight, 0.5)
    np.testing.assert_allclose(flight.camera.basis()[2], -np.array(away), atol=1e-9)
    right = {"front": [1, 0, 0], "right": [0, 0, -1], "top": [1, 0, 0]}[name]
    np.testing.assert_allclose(flight.camera.basis()[0], right, atol=1e-9)
    np.testing.assert_allclose(target(flight), BOX.mean(axis=0), atol=1e-12)


def test_home_of_an_empty_or_infinite_scene() -> None:
    for bounds in (np.full((2, 3), np.inf) * [[1], [-1]], np.zeros((2, 3)), [[5e8] * 3] * 2):
        flight = Flight(START, bounds)
        assert 0 < flight.speed < np.inf
        flight.frame_all(1.0)
        settle(flight, 0.5)
        assert np.isfinite(flight.camera.origin).all()


def test_focus_turns_smoothly_to_the_point(flight: Flight) -> None:
    point = np.array([-0.7, 0.2, 0.9])
    flight.orbit(100, 50)
    start = flight.camera
    before = start.basis()[2]
    flight.focus(point)
    way = (point - start.origin) / np.linalg.norm(point - start.origin)
    angles = []
    flight.update(MOVE_SECONDS / 1000)
    assert np.linalg.norm(flight.camera.basis()[2] - before) < 1e-4  # sets out gently
    flight.focus(point)
    for _ in range(18):
        assert flight.moving
        flight.update(MOVE_SECONDS / 18)
        np.testing.assert_allclose(eye(flight), start.origin, atol=1e-12)  # nothing comes between eye and point
        angles.append(math.acos(min(1.0, flight.camera.basis()[2] @ way)))
    assert angles == sorted(angles, reverse=True)
    assert max(-np.diff([math.acos(before @ way), *angles])) < 0.12 * math.acos(before @ way)  # no jump: 1.5 / 18
    assert flight.camera.target == tuple(point)
    np.testing.assert_allclose(flight.camera.basis()[2], way, atol=1e-12)
    flight.update(0.0)
    assert not flight.moving
    flight.orbit(10, 10)  # orbits about the point from now on
    assert flight.camera.target == tuple(point)


def test_focus_turns_the_short_way_round(flight: Flight) -> None:
    flight.set_camera(Camera((0, 0, 0), (0.1, 0, 1)))  # just this side of yaw 180 degrees
    flight.focus([-0.1, 0, 1])
    for _ in range(10):
        flight.update(MOVE_SECONDS / 10)
        assert flight.camera.basis()[2][2] > 0.99


def test_keys_go_on_when_a_move_ends_within_an_update(flight: Flight) -> None:
    ends = []
    for dt in (0.01, 0.7):
        flight.set_camera(START)
        flight.focus([0, 0, 0])
        flight.press("forward")
        for _ in range(round(0.7 / dt)):
            flight.update(dt)
        ends.append(eye(flight))
    assert np.linalg.norm(ends[0] - START.origin) > 0.3 * flight.speed
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-12)


def test_the_hand_ends_a_move(flight: Flight) -> None:
    for gesture in (
        lambda: flight.orbit(1, 0),
        lambda: flight.look(1, 0),
        lambda: flight.pan(1, 0, 100),
        lambda: flight.dolly(0.9),
        lambda: flight.roll(0.1),
    ):
        flight.set_camera(START)
        flight.frame_all(1.0)
        flight.update(0.1)
        gesture()
        flight.update(0.0)
        assert not flight.moving


def test_focus_on_what_is_no_place_changes_nothing(flight: Flight) -> None:
    flight.update(0)
    for point in ([np.inf, 0, 0], [np.nan] * 3, START.origin, [1e300, 0, 0]):
        flight.focus(point)
        assert not flight.moving and flight.camera is START


def test_focus_straight_above_keeps_the_heading(flight: Flight) -> None:
    flight.focus(np.add(START.origin, [0, 3, 0]))
    settle(flight, 0.5)
    np.testing.assert_allclose(flight.camera.basis()[0], START.basis()[0], atol=1e-9)
    np.testing.assert_allclose(flight.camera.basis()[2], [0, 1, 0], atol=1e-9)


def test_field_of_view_keeps_its_limits(flight: Flight) -> None:
    flight.set_fov(55)
    assert flight.camera.fov == 55 and flight.camera.origin == START.origin and flight.update(0)
    flight.step_fov(1)
    assert flight.camera.fov == pytest.approx(57.75)
    flight.step_fov(-1)
    assert flight.camera.fov == pytest.approx(55)
    for degrees, held in ((0, 1), (-5, 1), (1e9, 170), (math.nan, 170), (math.inf, 170)):
        flight.set_fov(degrees)
        assert flight.camera.fov == held
    for _ in range(300):
        flight.step_fov(-1)
    assert flight.camera.fov == 1
    flight.step_fov(1e9)
    assert flight.camera.fov == 170


# Anything at all

pixels = st.one_of(st.floats(-3000, 3000), st.sampled_from([0.0, 1e300, -1e300, math.inf, -math.inf, math.nan]))
seconds = st.one_of(st.floats(0, 0.2), st.sampled_from([0.0, 10.0, 1e-9, -1.0, 1e300, math.inf, math.nan]))
wish = st.one_of(
    st.tuples(st.just("orbit"), pixels, pixels),
    st.tuples(st.just("look"), pixels, pixels),
    st.tuples(st.just("pan"), pixels, pixels, st.sampled_from([1.0, 540.0, 0.0])),
    st.tuples(st.just("dolly"), st.one_of(st.floats(0.1, 10), pixels)),
    st.tuples(st.just("roll"), pixels),
    st.tuples(st.just("wheel"), pixels),
    st.tuples(st.just("set_fov"), pixels),
    st.tuples(st.just("step_fov"), pixels),
    st.tuples(st.just("frame_all"), st.sampled_from([1.5, 0.1, 0.0, math.nan])),
    st.tuples(st.just("focus"), st.tuples(pixels, pixels, pixels)),
    st.tuples(st.just("view"), st.sampled_from(["front", "right", "top"])),
    st.tuples(st.just("press"), st.sampled_from([*MOTIONS, "fast", "slow"])),
    st.tuples(st.just("release"), st.sampled_from([*MOTIONS, "fast", "slow"])),
    st.tuples(st.sampled_from(["release_all", "toggle_mode"])),
    st.tuples(st.just("update"), seconds),
)


@settings(max_examples=250, deadline=None)
@given(attitude, st.lists(wish, max_size=25), st.sampled_from([1e-6, 1.0, 1e6]))
def test_whatever_happens_the_camera_is_one(angles, wishes, size: float) -> None:
    flight = Flight(turned(*angles), BOX * size)
    for name, *arguments in wishes:
        getattr(flight, name)(*arguments)
        camera = flight.camera
        assert np.isfinite([camera.origin, camera.target, camera.up]).all() and 1 <= camera.fov <= 170
        basis = np.array(camera.basis())
        # Where float64 barely tells target from eye, their difference has few digits, but the axes are still at
        # right angles: a few roundings, magnified by a up close to the view.
        np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-6)
        assert Camera.parse(camera.text(), fov=camera.fov, name=camera.name) == camera
    flight.release_all()
    settle(flight, 1.5, 1 / 10)


def test_at_the_ends_of_space_there_is_still_a_camera(flight: Flight) -> None:
    flight.speed = 1e30
    for motion in ("right", "up", "fast"):
        flight.press(motion)
    for _ in range(3):
        flight.update(3600)
        flight.look(100, 0)
    assert max(flight.camera.origin) == 1e30 and np.isfinite(flight.camera.basis()).all()
    flight.release_all()
    flight.frame_all(1.0)  # and a way home
    settle(flight, 0.5)
    np.testing.assert_allclose(target(flight), BOX.mean(axis=0))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["orbit", "look"]), st.floats(-200, 200), st.floats(-200, 200)), max_size=30))
def test_a_level_camera_stays_level_and_upright(drags) -> None:
    flight = Flight(START, BOX)
    for gesture, dx, dy in drags:
        getattr(flight, gesture)(dx, dy)
        right, up, _ = flight.camera.basis()
        assert abs(right[1]) < 1e-9 and up[1] > -1e-9


def test_a_file_s_camera_turns_about_what_it_looks_at() -> None:
    """Its target is one unit ahead, but its focus at the scene's middle (see `viewer.formats.gltf.reader`)."""
    camera = Camera((0.0, 0.0, 8.0), (0.0, 0.0, 7.0), focus=8.0)
    flight = Flight(camera, [[-1, -1, -1], [1, 1, 1]])
    assert flight.camera is camera
    flight.orbit(100.0, 0.0)
    np.testing.assert_allclose(flight.camera.target, (0, 0, 0), atol=1e-12)
    assert np.linalg.norm(flight.camera.origin) == pytest.approx(8.0)
