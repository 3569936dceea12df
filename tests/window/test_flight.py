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
from raystream.viewport.camera_controller import LOOK, MOTIONS, MOVE_SECONDS, ORBIT, WHEEL_DOLLY, CameraController


@pytest.fixture
def controller() -> CameraController:
    return CameraController(START, BOX)


# Setting and reading


def test_a_camera_that_is_set_stays_the_same_object(controller: CameraController) -> None:
    assert controller.camera is START
    assert controller.update(0.1)  # reported once
    assert controller.camera is START and not controller.update(0.1) and not controller.moving
    other = Camera((1e-3, 7.1, 1 / 3), (0.1, 0.2, 0.3), (0.3, -1, 0.2), fov=175.5)
    controller.set_camera(other)
    controller.toggle_mode()
    controller.set_bounds(2 * BOX)
    assert controller.update(0.1) and controller.camera is other


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


@pytest.mark.parametrize("y", [5.0, -5.0])
@pytest.mark.parametrize("up", [(0, 1, 0), (0, 0, 1), (1, 0, -1)])
def test_straight_down_and_up_keep_their_heading(y: float, up) -> None:
    camera = Camera((0, y, 0), (0, 0, 0), up)
    controller = CameraController(camera, BOX)
    controller.orbit(0, 0)
    np.testing.assert_allclose(controller.camera.basis(), camera.basis(), atol=1e-12)


@pytest.mark.parametrize("y", [5.0, -5.0])
def test_a_camera_that_is_straight_down_or_up_is_level(y: float) -> None:
    controller = CameraController(Camera((0, y, 0), (0, 0, 0), (0, 0, 1)), BOX)
    controller.orbit(0, -math.copysign(50, y))  # away from the pole
    right, up, _ = controller.camera.basis()
    assert right[1] == 0 and up[1] > 0.1


def test_a_level_camera_says_so(controller: CameraController) -> None:
    controller.orbit(31, -12)
    assert controller.camera.up == (0.0, 1.0, 0.0)
    assert Camera.parse(controller.camera.text(), fov=controller.camera.fov, name="start") == controller.camera


# Drags


def test_orbit_keeps_target_and_distance_and_follows_the_hand(controller: CameraController) -> None:
    forward = START.basis()[2]
    near = np.array(START.target) - 0.5 * forward
    before = seen_at(START, near, 900, 600)
    controller.orbit(20, 0)
    assert controller.camera.target == START.target
    assert (
        seen_at(controller.camera, near, 900, 600)[0] > before[0] + 5
    )  # the near side goes with the hand to the right
    angle = math.atan2(*(np.delete(eye(controller) - target(controller), 1))) - math.atan2(
        *(np.delete(np.subtract(START.origin, START.target), 1))
    )
    assert abs(angle) == pytest.approx(20 * ORBIT, abs=1e-12)
    controller.set_camera(START)
    controller.orbit(0, 20)
    assert seen_at(controller.camera, near, 900, 600)[1] > before[1] + 5  # and down


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


def test_once_round_in_900_pixels(controller: CameraController) -> None:
    for _ in range(900):
        controller.orbit(1, 0)
    np.testing.assert_allclose(eye(controller), START.origin, atol=1e-12)


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


def test_orbit_goes_along_the_picture_s_axes_when_rolled(controller: CameraController) -> None:
    controller.set_camera(Camera((0, 0, 5), (0, 0, 0)))
    controller.roll(math.pi / 2)  # the picture turns clockwise: the world's up is at its right
    np.testing.assert_allclose(controller.camera.basis()[0], [0, 1, 0], atol=1e-12)
    controller.orbit(0, 30)  # down in the picture is a turn about the world's up
    assert eye(controller)[1] == pytest.approx(0, abs=1e-12) and abs(eye(controller)[0]) > 0.5
    near = seen_at(controller.camera, np.array([0, 0, 1.0]), 100, 100)
    assert near[1] > 52 and near[0] == pytest.approx(50, abs=1e-9)


def test_roll_turns_about_the_view_and_back(controller: CameraController) -> None:
    controller.roll(0.3)
    assert controller.camera.origin == START.origin and controller.camera.target == START.target
    right, up, _ = START.basis()
    np.testing.assert_allclose(controller.camera.basis()[1], math.cos(0.3) * up - math.sin(0.3) * right, atol=1e-12)
    controller.roll(-0.3)
    np.testing.assert_allclose(controller.camera.basis(), START.basis(), atol=1e-12)


def test_look_turns_to_the_hand_and_keeps_the_eye(controller: CameraController) -> None:
    right, up, _ = START.basis()
    controller.look(50, 0)
    assert controller.camera.origin == START.origin
    assert controller.camera.basis()[2] @ right > 0
    controller.set_camera(START)
    controller.look(0, 50)
    assert controller.camera.basis()[2] @ up == pytest.approx(-math.sin(50 * LOOK), abs=1e-12)
    controller.set_camera(START.with_fov(4.0))
    controller.look(0, 50)  # a narrow view turns less
    assert 0 > controller.camera.basis()[2] @ up > -math.sin(0.11 * 50 * LOOK)


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


def test_dolly_without_a_cursor_goes_to_the_target_and_stops_before_it(controller: CameraController) -> None:
    controller.dolly(0.5)
    assert controller.camera.target == START.target
    for toward in (None, np.zeros(3), -START.basis()[2], [math.nan, 0, 0]):
        controller.dolly(1e-300, toward)
        assert 0 < math.dist(controller.camera.origin, START.target) < 1e-4
        controller.dolly(1e300, toward)
        assert 1e4 < math.dist(controller.camera.origin, START.target) < 1e5
    np.testing.assert_allclose(target(controller), START.target, atol=1e-9)


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


@pytest.mark.parametrize("name, away", [("front", [0, 0, 1]), ("right", [1, 0, 0]), ("top", [0, 1, 0])])
def test_views(controller: CameraController, name: str, away) -> None:
    controller.roll(1.0)
    controller.view(name, 1.5)
    settle(controller, 0.5)
    np.testing.assert_allclose(controller.camera.basis()[2], -np.array(away), atol=1e-9)
    right = {"front": [1, 0, 0], "right": [0, 0, -1], "top": [1, 0, 0]}[name]
    np.testing.assert_allclose(controller.camera.basis()[0], right, atol=1e-9)
    np.testing.assert_allclose(target(controller), BOX.mean(axis=0), atol=1e-12)


def test_home_of_an_empty_or_infinite_scene() -> None:
    for bounds in (np.full((2, 3), np.inf) * [[1], [-1]], np.zeros((2, 3)), [[5e8] * 3] * 2):
        controller = CameraController(START, bounds)
        assert 0 < controller.speed < np.inf
        controller.frame_all(1.0)
        settle(controller, 0.5)
        assert np.isfinite(controller.camera.origin).all()


def test_focus_turns_smoothly_to_the_point(controller: CameraController) -> None:
    point = np.array([-0.7, 0.2, 0.9])
    controller.orbit(100, 50)
    start = controller.camera
    before = start.basis()[2]
    controller.focus(point)
    way = (point - start.origin) / np.linalg.norm(point - start.origin)
    angles = []
    controller.update(MOVE_SECONDS / 1000)
    assert np.linalg.norm(controller.camera.basis()[2] - before) < 1e-4  # sets out gently
    controller.focus(point)
    for _ in range(18):
        assert controller.moving
        controller.update(MOVE_SECONDS / 18)
        np.testing.assert_allclose(eye(controller), start.origin, atol=1e-12)  # nothing comes between eye and point
        angles.append(math.acos(min(1.0, controller.camera.basis()[2] @ way)))
    assert angles == sorted(angles, reverse=True)
    assert max(-np.diff([math.acos(before @ way), *angles])) < 0.12 * math.acos(before @ way)  # no jump: 1.5 / 18
    assert controller.camera.target == tuple(point)
    np.testing.assert_allclose(controller.camera.basis()[2], way, atol=1e-12)
    controller.update(0.0)
    assert not controller.moving
    controller.orbit(10, 10)  # orbits about the point from now on
    assert controller.camera.target == tuple(point)


def test_focus_turns_the_short_way_round(controller: CameraController) -> None:
    controller.set_camera(Camera((0, 0, 0), (0.1, 0, 1)))  # just this side of yaw 180 degrees
    controller.focus([-0.1, 0, 1])
    for _ in range(10):
        controller.update(MOVE_SECONDS / 10)
        assert controller.camera.basis()[2][2] > 0.99


def test_keys_go_on_when_a_move_ends_within_an_update(controller: CameraController) -> None:
    ends = []
    for dt in (0.01, 0.7):
        controller.set_camera(START)
        controller.focus([0, 0, 0])
        controller.press("forward")
        for _ in range(round(0.7 / dt)):
            controller.update(dt)
        ends.append(eye(controller))
    assert np.linalg.norm(ends[0] - START.origin) > 0.3 * controller.speed
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-12)


def test_the_hand_ends_a_move(controller: CameraController) -> None:
    for gesture in (
        lambda: controller.orbit(1, 0),
        lambda: controller.look(1, 0),
        lambda: controller.pan(1, 0, 100),
        lambda: controller.dolly(0.9),
        lambda: controller.roll(0.1),
    ):
        controller.set_camera(START)
        controller.frame_all(1.0)
        controller.update(0.1)
        gesture()
        controller.update(0.0)
        assert not controller.moving


def test_focus_on_what_is_no_place_changes_nothing(controller: CameraController) -> None:
    controller.update(0)
    for point in ([np.inf, 0, 0], [np.nan] * 3, START.origin, [1e300, 0, 0]):
        controller.focus(point)
        assert not controller.moving and controller.camera is START


def test_focus_straight_above_keeps_the_heading(controller: CameraController) -> None:
    controller.focus(np.add(START.origin, [0, 3, 0]))
    settle(controller, 0.5)
    np.testing.assert_allclose(controller.camera.basis()[0], START.basis()[0], atol=1e-9)
    np.testing.assert_allclose(controller.camera.basis()[2], [0, 1, 0], atol=1e-9)


def test_field_of_view_keeps_its_limits(controller: CameraController) -> None:
    controller.set_fov(55)
    assert controller.camera.fov == 55 and controller.camera.origin == START.origin and controller.update(0)
    controller.step_fov(1)
    assert controller.camera.fov == pytest.approx(57.75)
    controller.step_fov(-1)
    assert controller.camera.fov == pytest.approx(55)
    for degrees, held in ((0, 1), (-5, 1), (1e9, 170), (math.nan, 170), (math.inf, 170)):
        controller.set_fov(degrees)
        assert controller.camera.fov == held
    for _ in range(300):
        controller.step_fov(-1)
    assert controller.camera.fov == 1
    controller.step_fov(1e9)
    assert controller.camera.fov == 170


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


def test_at_the_ends_of_space_there_is_still_a_camera(controller: CameraController) -> None:
    controller.speed = 1e30
    for editing in ("right", "up", "fast"):
        controller.press(editing)
    for _ in range(3):
        controller.update(3600)
        controller.look(100, 0)
    assert max(controller.camera.origin) == 1e30 and np.isfinite(controller.camera.basis()).all()
    controller.release_all()
    controller.frame_all(1.0)  # and a way home
    settle(controller, 0.5)
    np.testing.assert_allclose(target(controller), BOX.mean(axis=0))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["orbit", "look"]), st.floats(-200, 200), st.floats(-200, 200)), max_size=30))
def test_a_level_camera_stays_level_and_upright(drags) -> None:
    controller = CameraController(START, BOX)
    for gesture, dx, dy in drags:
        getattr(controller, gesture)(dx, dy)
        right, up, _ = controller.camera.basis()
        assert abs(right[1]) < 1e-9 and up[1] > -1e-9


def test_a_file_s_camera_turns_about_what_it_looks_at() -> None:
    """Its target is one unit ahead, but its focus at the scene's middle (see `raystream.formats.gltf.reader`)."""
    camera = Camera((0.0, 0.0, 8.0), (0.0, 0.0, 7.0), focus=8.0)
    controller = CameraController(camera, [[-1, -1, -1], [1, 1, 1]])
    assert controller.camera is camera
    controller.orbit(100.0, 0.0)
    np.testing.assert_allclose(controller.camera.target, (0, 0, 0), atol=1e-12)
    assert np.linalg.norm(controller.camera.origin) == pytest.approx(8.0)
