"""The camera in the hand: speeds and paths against closed forms, and no motion that flips, drifts or ends in NaN."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hand import BOX, START, attitude, eye, seen_at, settle, target, turned
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.scene.camera import Camera
from raystream.viewport.camera_controller import LOOK, MOTIONS, WHEEL_DOLLY, CameraController


@pytest.fixture
def controller() -> CameraController:
    return CameraController(START, BOX)


# Setting and reading


def test_the_speed_keeps_its_ratio_to_the_scene(controller: CameraController) -> None:
    controller.toggle_mode()
    controller.wheel(5)
    before = controller.speed
    assert before > 1.5 * controller.natural_speed
    controller.set_bounds(3 * BOX)
    assert controller.speed == pytest.approx(3 * before)


def test_another_aspect_keeps_the_lens() -> None:
    """A camera that frames the scene frames it again, as sharp and as far."""
    lens = {"aperture": 0.1, "focus": 3.0}

    def default(aspect: float) -> Camera:
        return Camera.framing(BOX, aspect=aspect)

    made = CameraController(replace(default(2.0), **lens), BOX, default)
    assert made.fit(2.0, 0.5)
    assert made.camera == replace(default(0.5), **lens) != default(0.5)
    assert not made.fit(2.0, 0.5) and not made.fit(0.5, 0.5)


@settings(max_examples=200, deadline=None)
@given(attitude)
def test_the_first_gesture_does_not_jump(angles) -> None:
    """A drag of no pixels makes a new camera from yaw, pitch and roll: it must be the one that was set."""
    camera = turned(*angles)
    for gesture in ("orbit", "look"):
        controller = CameraController(camera, BOX)
        getattr(controller, gesture)(0.0, 0.0)
        assert controller.camera is not camera
        # 1e-9 is the roll that counts as none; within 0.1 degrees of the poles roundings grow by 600.
        np.testing.assert_allclose(controller.camera.basis(), camera.basis(), atol=3e-9)
        np.testing.assert_allclose(eye(controller), camera.origin, atol=1e-12)
        np.testing.assert_allclose(target(controller), camera.target, atol=1e-12)


def test_orbit_does_not_drift(controller: CameraController) -> None:
    controller.orbit(0.1, 0.1)
    controller.orbit(-0.1, -0.1)
    for k in range(5000):
        controller.orbit(17.3 * math.sin(k), 5 * math.cos(k))
        controller.look(0.0, 0.0)
        controller.orbit(-17.3 * math.sin(k), -5 * math.cos(k))
    # 10,000 sums of angles up to pi: a random walk of roundings stays within 1e4 * 4e-16.
    np.testing.assert_allclose(eye(controller), START.origin, atol=1e-11)
    np.testing.assert_allclose(target(controller), START.target, atol=1e-11)


# Drags


@pytest.mark.parametrize("gesture", ["orbit", "look"])
@pytest.mark.parametrize("way", [1, -1])
def test_never_past_the_poles(controller: CameraController, gesture: str, way: int) -> None:
    heading = START.basis()[0]
    for _ in range(200):
        getattr(controller, gesture)(0, 40 * way)
        right, up, _ = controller.camera.basis()
        np.testing.assert_allclose(right, heading, atol=1e-9)  # the heading never turns round
        assert up[1] > -1e-12  # and the picture is never upside down
    assert controller.camera.basis()[2][1] == pytest.approx(-way, abs=1e-12)
    getattr(controller, gesture)(0, -100 * way)  # it comes back at once
    assert abs(controller.camera.basis()[2][1]) < math.cos(90 * LOOK)


@pytest.mark.parametrize("depth", [None, 2.5])
def test_pan_carries_the_grabbed_point_with_the_hand(controller: CameraController, depth: float | None) -> None:
    width, height = 960, 540
    grabbed = controller.direction(700, 100, width, height)
    forward = START.basis()[2]
    point = np.array(START.origin) + grabbed * (depth or math.dist(START.origin, START.target)) / (grabbed @ forward)
    np.testing.assert_allclose(seen_at(START, point, width, height), [700, 100], atol=1e-8)
    controller.pan(-130, 77, height, depth)
    np.testing.assert_allclose(seen_at(controller.camera, point, width, height), [570, 177], atol=1e-8)
    np.testing.assert_allclose(controller.camera.basis(), START.basis(), atol=1e-12)


@pytest.mark.parametrize("wheel", [False, True])
def test_dolly_keeps_the_point_under_the_cursor(controller: CameraController, wheel: bool) -> None:
    width, height = 960, 540
    toward = controller.direction(812.5, 33.0, width, height)
    forward = START.basis()[2]
    far = math.dist(START.origin, START.target)
    point = np.array(START.origin) + toward * far / (toward @ forward)
    if wheel:
        controller.wheel(3, 7.0 * toward)  # of any length
        settle(controller, 1.0)
        factor = WHEEL_DOLLY**3
    else:
        controller.dolly(factor := 0.37, toward)
    np.testing.assert_allclose(seen_at(controller.camera, point, width, height), [812.5, 33.0], atol=1e-8)
    assert math.dist(controller.camera.origin, controller.camera.target) == pytest.approx(factor * far, rel=1e-12)
    assert math.dist(controller.camera.origin, point) == pytest.approx(
        factor * math.dist(START.origin, point), rel=1e-12
    )


def test_notches_of_the_wheel_add_up(controller: CameraController) -> None:
    """Two at once, and a third while the first two are still eased."""
    far = math.dist(START.origin, START.target)
    controller.wheel(1)
    controller.wheel(1)
    controller.update(0.02)
    assert WHEEL_DOLLY**2 < math.dist(controller.camera.origin, START.target) / far < 1
    controller.wheel(1)
    settle(controller, 1.0)
    assert math.dist(controller.camera.origin, START.target) == pytest.approx(WHEEL_DOLLY**3 * far, rel=1e-9)


# Home, views, focus, field of view


@settings(max_examples=60, deadline=None)
@given(attitude, st.floats(0.2, 4), st.floats(2, 120))
def test_home_frames_all_from_the_same_direction(angles, aspect: float, fov: float) -> None:
    camera = turned(*angles).with_fov(fov)
    controller = CameraController(camera, BOX)
    controller.frame_all(aspect)
    settle(controller, 0.5)
    made = controller.camera
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


def test_home_of_an_empty_or_infinite_scene() -> None:
    for bounds in (np.full((2, 3), np.inf) * [[1], [-1]], np.zeros((2, 3)), [[5e8] * 3] * 2):
        controller = CameraController(START, bounds)
        assert 0 < controller.speed < np.inf
        controller.frame_all(1.0)
        settle(controller, 0.5)
        assert np.isfinite(controller.camera.origin).all()


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
    controller = CameraController(turned(*angles), BOX * size)
    for name, *arguments in wishes:
        getattr(controller, name)(*arguments)
        camera = controller.camera
        assert np.isfinite([camera.origin, camera.target, camera.up]).all() and 1 <= camera.fov <= 170
        basis = np.array(camera.basis())
        # Where float64 barely tells target from eye, their difference has few digits, but the axes are still at
        # right angles: a few roundings, magnified by a up close to the view.
        np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-6)
        assert Camera.parse(camera.text(), fov=camera.fov, name=camera.name) == camera
    controller.release_all()
    settle(controller, 1.5, 1 / 10)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["orbit", "look"]), st.floats(-200, 200), st.floats(-200, 200)), max_size=30))
def test_a_level_camera_stays_level_and_upright(drags) -> None:
    controller = CameraController(START, BOX)
    for gesture, dx, dy in drags:
        getattr(controller, gesture)(dx, dy)
        right, up, _ = controller.camera.basis()
        assert abs(right[1]) < 1e-9 and up[1] > -1e-9
