"""The camera in the hand by numbers worked out by hand: a camera at (0, 0, 5) that looks at the middle of a cube, with
a field of view of 90 degrees, whose half has the tangent 1."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from viewer.scene.camera import Camera
from viewer.viewport.controls.camera_controller import CameraController
from viewer.viewport.controls.pose import Move, Pose, diagonal, finite, heading, pixels, pose_of, turn
from viewer.viewport.controls.thrust import Thrust

CUBE = [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]]
ACROSS = 2 * math.sqrt(3)  # the cube's diagonal
START = Camera((0, 0, 5), (0, 0, 0), fov=90.0, name="start")
WITHIN = Camera((0, 0, 0.5), (0, 0, -7.5), fov=90.0)
HALF = math.sqrt(0.5)
FORWARD = np.array([0.0, 0.0, -1.0])


@pytest.fixture
def controller() -> CameraController:
    made = CameraController(START, CUBE)
    assert made.update(0.0)  # which has told of the camera that was set
    return made


def at(controller: CameraController, eye: object, target: object) -> None:
    """The camera is there and looks there, to a rounding."""
    np.testing.assert_allclose(controller.camera.origin, eye, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(controller.camera.target, target, rtol=1e-12, atol=1e-12)


def distance(controller: CameraController) -> float:
    return math.dist(controller.camera.origin, controller.camera.target)


# -- state -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place, way",
    [
        ((100, 50), (0, 0, -1)),
        ((200, 50), (2, 0, -1)),
        ((0, 50), (-2, 0, -1)),
        ((100, 0), (0, 1, -1)),
        ((0, 100), (-2, -1, -1)),
        ((150, 25), (1, 0.5, -1)),
    ],
)
def test_directions_through_a_picture_of_200_by_100(controller: CameraController, place, way) -> None:
    np.testing.assert_allclose(controller.direction(*place, 200, 100), np.array(way) / np.linalg.norm(way), atol=1e-15)


def test_directions_of_a_narrower_view(controller: CameraController) -> None:
    controller.set_fov(2 * math.degrees(math.atan(0.5)))
    way = np.array([1.0, 0.25, -1.0])
    np.testing.assert_allclose(controller.direction(200, 25, 200, 100), way / np.linalg.norm(way), atol=1e-15)


def test_directions_of_a_picture_without_height(controller: CameraController) -> None:
    assert np.isfinite(controller.direction(0, 0, 0, 0)).all()


def test_within_is_without_the_border(controller: CameraController) -> None:
    for axis in range(3):
        for value, inside in ((1.0, False), (-1.0, False), (0.999, True), (-0.999, True), (1.001, False)):
            point = [0.5, -0.5, 0.25]
            point[axis] = value
            assert controller.within(point) is inside, point


def test_entered_since_a_camera_was_set(controller: CameraController) -> None:
    assert not controller.entered and not controller.indoors
    controller.pan(0, 0, 100)
    assert not controller.entered
    controller.dolly(0.1)
    assert controller.entered and controller.indoors
    controller.dolly(10)
    assert controller.entered and not controller.indoors, "it has been there"
    controller.frame_all()
    assert not controller.entered
    controller.set_camera(WITHIN)
    assert controller.entered
    controller.set_camera(START)
    assert not controller.entered


def test_an_eased_way_through_the_scene_does_not_enter_it() -> None:
    controller = CameraController(Camera((0, 0, -5), (0, 0, 0), fov=90.0), CUBE)
    controller._go(pose_of(START))
    for _ in range(4):
        controller.update(0.07)
        assert not controller.entered
    assert controller.indoors is False and controller.moving
    controller._go(pose_of(WITHIN))
    controller.update(0.3)
    assert controller.entered, "its end does"


def test_a_lens_and_its_name_go_with_the_camera(controller: CameraController) -> None:
    controller.set_lens(0.25, 3.0)
    assert controller.update(0) and controller.camera == replace(START, aperture=0.25, focus=3.0)
    controller.orbit(225, 0)
    made = controller.camera
    assert (made.aperture, made.focus, made.name, made.fov) == (0.25, 3.0, "start", 90.0)
    controller.set_lens(0.0, None)
    assert (controller.camera.aperture, controller.camera.focus) == (0.0, None)
    assert controller.camera is controller.camera, "made once"


@pytest.mark.parametrize(
    "aperture, focus, target, kept",
    [
        (0.0, None, (0, 0, 0), (0.0, None)),
        (0.0, 2.0, (0, 0, 3), (0.0, None)),  # a pinhole's focus is where it looks
        (0.5, 2.0, (0, 0, 0), (0.5, 2.0)),
        (0.5, None, (0, 0, 0), (0.5, None)),
    ],
)
def test_what_a_camera_s_focus_means(aperture: float, focus: float | None, target, kept) -> None:
    camera = replace(START, aperture=aperture, focus=focus)
    controller = CameraController(camera, CUBE)
    assert controller.camera is camera
    controller.orbit(0, 0)
    at(controller, (0, 0, 5), target)
    assert (controller.camera.aperture, controller.camera.focus) == kept
    controller.dolly(0.5)
    at(controller, (np.add(target, (0, 0, 5)) / 2) if target == (0, 0, 0) else (0, 0, 4), target)


def test_a_camera_that_is_set_ends_all_motion(controller: CameraController) -> None:
    controller.wheel(3)
    controller.press("forward")
    controller.update(0.05)
    controller.release_all()
    controller.set_camera(START)
    assert controller.moving and controller.update(0.1) and controller.camera is START
    assert not controller.moving and not controller.update(1.0)
    controller.frame_all()
    controller.set_camera(START)
    assert controller.update(0.1) and controller.camera is START and not controller.update(1.0)


@pytest.mark.parametrize(
    "before, after, other",
    [(2.0, 1.0, False), (1.0, 3.0, False), (2.0, 0.9, True), (0.9, 2.0, True), (0.5, 0.5, False), (0.5, 0.6, True)],
)
def test_what_frames_the_scene_frames_it_again(before: float, after: float, other: bool) -> None:
    controller = CameraController(replace(Camera.framing(CUBE, aspect=before), fov=30.0), CUBE)
    controller.update(0)
    assert controller.fit(before, after) is other
    assert controller.camera == replace(Camera.framing(CUBE, aspect=after), fov=30.0)
    assert controller.update(0) is other


def test_a_camera_of_the_user_s_is_not_fitted(controller: CameraController) -> None:
    assert not controller.fit(2.0, 0.5) and controller.camera is START and not controller.update(0)


def test_modes_take_turns(controller: CameraController) -> None:
    assert controller.mode == "orbit"
    for mode in ("fly", "orbit", "fly"):
        controller.toggle_mode()
        assert controller.mode == mode and controller.camera is START


@pytest.mark.parametrize(
    "degrees, held", [(1.0, 1.0), (0.999, 1.0), (1.001, 1.001), (170.0, 170.0), (170.1, 170.0), (169.9, 169.9)]
)
def test_ends_of_the_field_of_view(controller: CameraController, degrees: float, held: float) -> None:
    controller.set_fov(degrees)
    assert controller.camera.fov == held and controller.update(0)


def test_steps_of_the_field_of_view(controller: CameraController) -> None:
    for steps, fov in ((0, 60.0), (1, 63.0), (-2, 60 / 1.05), (0.5, 60 / 1.05 * math.sqrt(1.05))):
        if steps == 0:
            controller.set_fov(60.0)
        controller.step_fov(steps)
        assert controller.camera.fov == pytest.approx(fov)
    before = controller.camera
    for steps in (math.nan, math.inf, -math.inf):
        controller.step_fov(steps)
    assert controller.camera is before
    for steps, fov in ((-201, 1.0), (1e300, 170.0), (-1e300, 1.0)):
        controller.step_fov(steps)
        assert controller.camera.fov == fov


# -- gestures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "drag, eye",
    [
        ((225, 0), (-5, 0, 0)),  # a quarter of 900 pixels: the near side goes to the right
        ((-225, 0), (5, 0, 0)),
        ((0, 75), (0, 2.5, 2.5 * math.sqrt(3))),  # 30 degrees: it goes down
        ((0, -75), (0, -2.5, 2.5 * math.sqrt(3))),
        ((225, 75), (-2.5 * math.sqrt(3), 2.5, 0)),
        ((900, 0), (0, 0, 5)),
    ],
)
@pytest.mark.parametrize("about", [(0, 0, 0), (1, 2, 3)])
def test_orbit(controller: CameraController, drag, eye, about) -> None:
    controller.set_camera(Camera(np.add(about, (0, 0, 5)), about, fov=90.0))
    controller.orbit(*drag)
    at(controller, np.add(about, eye), about)
    assert controller.camera.target == about and controller.update(0)
    assert controller.camera.fov == 90.0


@pytest.mark.parametrize(
    "fov, drag, way",
    [
        (40.0, (300, 0), (0.5, 0, -math.sqrt(0.75))),  # 30 degrees at a tenth of one a pixel
        (40.0, (-300, 0), (-0.5, 0, -math.sqrt(0.75))),
        (40.0, (0, 300), (0, -0.5, -math.sqrt(0.75))),
        (40.0, (0, -900), (0, 1, 0)),
        (2 * math.degrees(math.atan(0.5 * math.tan(math.radians(20)))), (600, 0), (0.5, 0, -math.sqrt(0.75))),
    ],
)
def test_look(controller: CameraController, fov: float, drag, way) -> None:
    controller.set_camera(START.with_fov(fov))
    controller.look(*drag)
    at(controller, (0, 0, 5), np.add((0, 0, 5), 5 * np.array(way)))


@pytest.mark.parametrize("gesture", ["orbit", "look"])
def test_drags_go_by_the_picture_s_axes_in_a_rolled_one(controller: CameraController, gesture: str) -> None:
    """Rolled by 90 degrees the picture's right is the world's up, or down."""
    for angle in (math.pi / 2, -math.pi / 2):
        ways = []
        for roll, drag in ((angle, (60, 0)), (0.0, (0, -math.copysign(60, angle)))):
            controller.set_camera(START)
            controller.roll(roll)
            getattr(controller, gesture)(*drag)
            ways.append(controller.camera.basis()[2])
        np.testing.assert_allclose(*ways, atol=1e-12)


def test_drags_in_a_picture_that_is_rolled_a_little(controller: CameraController) -> None:
    """By 30 degrees: (dx, dy) is (dx cos - dy sin, dx sin + dy cos) along the horizon and down."""
    for drag in ((100, 0), (0, 100), (-60, 35)):
        controller.set_camera(START)
        controller.roll(math.radians(-30))
        controller.orbit(*drag)
        yaw = math.radians(0.4) * (drag[0] * math.sqrt(0.75) - drag[1] * 0.5)
        pitch = -math.radians(0.4) * (drag[0] * 0.5 + drag[1] * math.sqrt(0.75))
        way = (math.cos(pitch) * math.sin(yaw), math.sin(pitch), -math.cos(pitch) * math.cos(yaw))
        np.testing.assert_allclose(controller.camera.basis()[2], way, atol=1e-12)


@pytest.mark.parametrize(
    "height, depth, by",
    [
        (100, None, (-1, 2, 0)),  # 2 * 5 * tan(45 degrees) / 100 units a pixel
        (100, 2.5, (-0.5, 1, 0)),
        (100, 0.0, (-1, 2, 0)),  # depths of no plane before the camera: the target's
        (100, -1.0, (-1, 2, 0)),
        (100, math.inf, (-1, 2, 0)),
        (100, math.nan, (-1, 2, 0)),
        (100, 1e30, (-1, 2, 0)),
        (200, None, (-0.5, 1, 0)),
        (1, None, (-100, 200, 0)),
        (0, None, (-100, 200, 0)),
    ],
)
def test_pan(controller: CameraController, height: float, depth: float | None, by) -> None:
    controller.pan(10, 20, height, depth)
    at(controller, np.add((0, 0, 5), by), by)
    assert controller.update(0)


def test_pan_in_a_narrower_view(controller: CameraController) -> None:
    controller.set_fov(2 * math.degrees(math.atan(0.25)))
    controller.pan(10, 20, 100)
    at(controller, (-0.25, 0.5, 5), (-0.25, 0.5, 0))


def test_a_drag_is_held_to_what_a_hand_can_do(controller: CameraController) -> None:
    for asked, held in ((1e9, 1e5), (-1e9, -1e5), (1e5, 1e5), (99_999, 99_999)):
        controller.set_camera(START)
        controller.pan(asked, 0, 100)
        assert controller.camera.target[0] == pytest.approx(-0.1 * held)
    assert [pixels(each) for each in (1e5, 1.5e5, -1.5e5, -7.0)] == [1e5, 1e5, -1e5, -7.0]


@pytest.mark.parametrize(
    "gesture, arguments",
    [
        ("orbit", (math.nan, 0)),
        ("orbit", (0, math.inf)),
        ("look", (0, math.nan)),
        ("pan", (math.nan, 0, 100)),
        ("pan", (0, math.nan, 100)),
        ("pan", (0, 0, math.nan)),
        ("dolly", (0.0,)),
        ("dolly", (-1.0,)),
        ("dolly", (math.inf,)),
        ("dolly", (math.nan,)),
        ("pinch", (0.0, FORWARD)),
        ("pinch", (math.nan, FORWARD)),
        ("pinch", (math.inf, FORWARD)),
        ("pinch", (-1.0, FORWARD)),
        ("roll", (math.nan,)),
        ("wheel", (math.nan,)),
        ("wheel", (math.inf,)),
        ("set_fov", (math.nan,)),
        ("step_fov", (math.nan,)),
        ("aim", (1.0,)),  # outdoors
    ],
)
@pytest.mark.parametrize("mode", ["orbit", "fly"])
def test_what_is_no_number_changes_nothing(controller: CameraController, gesture: str, arguments, mode: str) -> None:
    controller.mode, speed = mode, controller.speed
    getattr(controller, gesture)(*arguments)
    assert controller.camera is START and controller.speed == speed and not controller.moving


@pytest.mark.parametrize(
    "toward, eye, target",
    [
        (None, (0, 0, 2.5), (0, 0, 0)),
        ((0, 0, -1), (0, 0, 2.5), (0, 0, 0)),
        ((1, 0, -1), (2.5, 0, 2.5), (2.5, 0, 0)),  # the point (5, 0, 0) stays where it is
        ((0, -2, -2), (0, -2.5, 2.5), (0, -2.5, 0)),
        ((1, 0, 0), (0, 0, 2.5), (0, 0, 0)),  # meets no point of the target's plane
        ((1, 0, 1), (0, 0, 2.5), (0, 0, 0)),
        ((1, 0, -0.0011), (2.5 / 0.0011, 0, 2.5), (2.5 / 0.0011, 0, 0)),
        ((1, 0, -0.0009), (0, 0, 2.5), (0, 0, 0)),
        ((math.inf, 0, -1), (0, 0, 2.5), (0, 0, 0)),
    ],
)
def test_dolly_to_half_the_distance(controller: CameraController, toward, eye, target) -> None:
    controller.dolly(0.5, toward)
    at(controller, eye, target)
    assert controller.update(0)


def test_the_ends_of_a_dolly(controller: CameraController) -> None:
    """In diagonals of the scene; who is beyond an end already goes no further, but comes back."""
    controller.dolly(1e-300)
    assert distance(controller) == pytest.approx(1e-5 * ACROSS)
    controller.dolly(1e300)
    assert distance(controller) == pytest.approx(1e4 * ACROSS)
    for far, factor, after in (
        (1e6, 2.0, 1e6),
        (1e6, 0.5, 5e5),
        (1e-6, 0.5, 1e-6),
        (1e-6, 2.0, 2e-6),
        (1.0, 2.0, 2.0),
    ):
        controller.set_camera(Camera((0, 0, far), (0, 0, 0)))
        controller.dolly(factor)
        assert distance(controller) == pytest.approx(after, rel=1e-9)
    controller.set_camera(Camera((1e6, 0, 5), (1e6, 0, 0)))
    controller.dolly(1e-300)
    assert distance(controller) == pytest.approx(0.01, rel=1e-6), "float64 must tell the two apart"


def test_a_pinch(controller: CameraController) -> None:
    """Orbit: a dolly to what is between the fingers. Flight: the way of half a second for each doubling, to eight."""
    controller.pinch(2.0, (1, 0, -1))
    at(controller, (2.5, 0, 2.5), (2.5, 0, 0))
    controller.mode, controller.speed = "fly", 3.0
    for ratio, way in ((1.0, 0.0), (2.0, 1.5), (4.0, 3.0), (0.5, -1.5), (2.0**20, 12.0), (2.0**-20, -12.0)):
        controller.set_camera(START)
        controller.update(0)
        controller.pinch(ratio, (0, 1, 0))
        at(controller, (0, way, 5), (0, way, 0))
        assert controller.update(0) and controller.speed == 3.0


def test_roll_grows_clockwise_and_ends_at_half_a_turn(controller: CameraController) -> None:
    controller.roll(math.radians(30))
    np.testing.assert_allclose(controller.camera.up, (-0.5, math.sqrt(0.75), 0), atol=1e-15)
    controller.roll(math.radians(-60))
    np.testing.assert_allclose(controller.camera.up, (0.5, math.sqrt(0.75), 0), atol=1e-15)
    for _ in range(4):
        controller.roll(math.radians(100))
        assert abs(controller._pose.roll) <= math.pi


# -- eased motion ------------------------------------------------------------------------------------------------------


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


def test_the_wheel_both_ways(controller: CameraController) -> None:
    for steps, factor in ((2, 0.85**2), (-1, 1 / 0.85), (0.25, 0.85**0.25), (-101, 0.85**-100), (-100, 0.85**-100)):
        controller.set_camera(Camera((0, 0, 0.001), (0, 0, 0), fov=90.0))
        controller.wheel(steps)
        controller.update(2.0)
        assert distance(controller) == pytest.approx(0.001 * factor), steps


def test_the_wheel_goes_to_the_point_under_the_cursor_as_that_moves(controller: CameraController) -> None:
    """Panned while it is eased, the anchor goes along; aimed elsewhere, it is the target."""
    controller.wheel(1, (1, 0, -1))
    controller._shift(np.array([0.0, 2.0, 0.0]))
    controller.update(2.0)
    at(controller, (5 * 0.15, 2, 5 * 0.85), (5 * 0.15, 2, 0))


def test_a_hand_ends_what_the_wheel_began(controller: CameraController) -> None:
    gestures: dict[str, tuple] = {"orbit": (0, 0), "look": (0, 0), "pan": (0, 0, 100), "dolly": (1.0,)}
    gestures |= {"roll": (0.0,), "pinch": (1.0, FORWARD)}
    for gesture, arguments in gestures.items():
        for mode in ("orbit", "fly"):
            controller.mode = "orbit"
            controller.set_camera(START)
            controller.wheel(4)
            controller.mode = mode
            getattr(controller, gesture)(*arguments)
            assert controller.update(0) and not controller.moving, (gesture, mode)
            at(controller, (0, 0, 5), (0, 0, 0))


def test_the_wheel_ends_an_eased_way(controller: CameraController) -> None:
    controller.focus((3.0, 0.0, 0.0))
    controller.wheel(0.0)
    controller.update(1.0)
    assert controller.camera.target != (3.0, 0.0, 0.0) and not controller.moving


@pytest.mark.parametrize("steps, factor", [(1, 1.2), (-1, 1 / 1.2), (0.5, math.sqrt(1.2)), (100, 1e4), (-100, 1e-4)])
def test_the_wheel_in_flight(controller: CameraController, steps: float, factor: float) -> None:
    controller.mode = "fly"
    assert controller.speed == controller.natural_speed == pytest.approx(ACROSS / 4)
    controller.wheel(steps)
    assert controller.speed == pytest.approx(factor * ACROSS / 4) and not controller.moving


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


def test_the_rest_of_an_update_goes_to_the_keys(controller: CameraController) -> None:
    """A way that ends 0.1 s before the update does leaves those to flight, which takes up its speed."""
    controller.focus((0.0, 0.0, 0.0))
    controller.press("up")
    controller.update(0.4)
    way = ACROSS / 4 * (0.1 - 0.06 * (1 - math.exp(-0.1 / 0.06)))
    at(controller, (0, way, 5), (0, way, 0))


@pytest.mark.parametrize("away, goes", [(1e-9, False), (1.5e-9, True), (1e29, True), (1e30, False), (math.inf, False)])
def test_how_near_and_far_a_focus_may_be(away: float, goes: bool) -> None:
    controller = CameraController(Camera((0, 1, 0), (0, 0, 0), (0, 0, 1)), CUBE)
    controller.update(0)
    controller.focus((away, 1, 0))
    assert controller.moving is goes


@pytest.mark.parametrize(
    "aspect, narrow", [(1.0, 1), (2.0, 1), (0.5, 0.5), (1e-4, 1e-3), (0.0, 1), (-1, 1), (1e400, 1)]
)
def test_the_whole_scene_in_a_narrow_picture(controller: CameraController, aspect: float, narrow: float) -> None:
    """As in a square one with a field of view that the sides of the picture set."""
    controller.frame_all(aspect)
    controller.update(1.0)
    framing = Camera.framing(CUBE, math.degrees(2 * math.atan(narrow)), (0, 0, 1))
    at(controller, framing.origin, framing.target)
    assert controller.camera.fov == 90.0 and not controller.moving


def test_the_whole_scene_along_another_way(controller: CameraController) -> None:
    controller.roll(0.5)
    controller.frame_all(1.0, (HALF, -HALF, 0))
    controller.update(1.0)
    np.testing.assert_allclose(controller.camera.basis()[2], (HALF, -HALF, 0), atol=1e-12)
    assert controller.camera.up == (0, 1, 0), "level"
    controller.frame_all(1.0, (0, -1, 0))  # straight down it keeps its heading
    controller.update(1.0)
    np.testing.assert_allclose(controller.camera.basis()[0], (0, 0, 1), atol=1e-9)


def test_what_is_asked_for_takes_the_place_of_what_moved(controller: CameraController) -> None:
    """Flight and the wheel end where an eased way begins."""
    controller.press("right")
    controller.update(0.5)
    controller.release_all()
    controller.wheel(5)
    controller.frame_all()
    controller.update(0.3)
    framing = Camera.framing(CUBE, 90.0, (0, 0, 1))
    at(controller, framing.origin, framing.target)
    assert controller.update(0.0) is False and not controller.moving


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


def test_aim_at_infinity_keeps_a_target_between_the_walls() -> None:
    controller = CameraController(Camera((0, 0, 0.5), (0, 0, -0.25)), CUBE)
    controller.aim(math.inf)
    at(controller, (0, 0, 0.5), (0, 0, -0.25))


@pytest.mark.parametrize("way, out", [((1, 0, 0), 0.5), ((-1, 0, 0), 1.5), ((1, 1, 0), 0.5), ((1, 0, 2), 0.5)])
def test_the_walls_on_each_side(way, out: float) -> None:
    """From (0.5, 0, 0): the way to the first wall that is met, in units of the larger component."""
    controller = CameraController(Camera((0.5, 0, 0), np.add((0.5, 0, 0), way)), CUBE)
    controller.aim(100.0)
    scaled = np.array(way) / np.abs(way)[np.argmax(np.array(way) != 0)]
    at(controller, (0.5, 0, 0), np.add((0.5, 0, 0), out * scaled))


def test_aim_ends_eased_motion_and_takes_the_anchor() -> None:
    controller = CameraController(WITHIN, CUBE)
    controller.aim(math.nan)
    assert controller.camera is WITHIN
    controller.wheel(2, (1, 0, -1))
    controller.aim(1.0)
    controller.update(1.0)
    at(controller, (0, 0, 0.5), (0, 0, -0.5))


@pytest.mark.parametrize("dt, seconds", [(-1.0, 0.0), (0.0, 0.0), (math.nan, 0.0), (1e9, 3600.0), (3600.0, 3600.0)])
def test_how_long_an_update_may_be(controller: CameraController, dt: float, seconds: float) -> None:
    controller.press("up")
    controller._thrust.velocity = np.array([0.0, controller.speed, 0.0])  # it is up to its speed
    assert controller.update(dt) is (seconds > 0)
    at(controller, (0, controller.speed * seconds, 5), (0, controller.speed * seconds, 0))


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


# -- poses -------------------------------------------------------------------------------------------------------------


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
    pose = Pose(np.zeros(3), FORWARD, 1.0, *map(math.radians, (yaw, pitch, roll)))
    np.testing.assert_allclose(pose.basis(), (right, up, forward), atol=1e-15)
    np.testing.assert_allclose(pose.forward(), forward, atol=1e-15)
    made = pose_of(Camera((1, 2, 3), np.add((1, 2, 3), 4 * np.array(forward)), up))
    np.testing.assert_allclose(made.basis(), (right, up, forward), atol=1e-12)
    assert made.distance == pytest.approx(4.0)


def test_up_of_a_pose_s_camera() -> None:
    """The world's, where it is level; its own, where it is rolled or looks along the world's."""
    pose = Pose(np.zeros(3), FORWARD, 1.0, 0.0, 0.0, 0.0)
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
        pose = Pose(eye, eye + apart * FORWARD, apart, 0.0, 0.0, 0.0)
        assert pose.camera(40.0, "").target[2] == pytest.approx(-found)
    pose = Pose(eye, eye, 1.0, 0.0, 0.0, 0.0)
    assert pose.camera(40.0, "").target == pytest.approx((1e6, 0, -2e-3))


def test_between_two_poses() -> None:
    """Places and pitch by shares, distances by ratios, yaw and roll the short way round."""
    a = Pose(np.zeros(3), np.array([0.0, 0.0, -1.0]), 1.0, math.radians(170), 0.0, math.radians(-170))
    b = Pose(np.array([4.0, 8.0, 0.0]), np.zeros(3), 16.0, math.radians(-170), math.radians(60), math.radians(150))
    move = Move(a, b)
    for elapsed, share in ((0.0, 0.0), (0.075, 0.15625), (0.15, 0.5), (0.225, 0.84375)):
        found = move.at(elapsed)
        np.testing.assert_allclose(found.eye, (4 * share, 8 * share, 0))
        assert found.distance == pytest.approx(16.0**share)
        angles = [math.degrees(turn(angle)) for angle in (found.yaw - math.pi, found.pitch, found.roll - math.pi)]
        assert angles == pytest.approx([20 * share - 10, 60 * share, 10 - 40 * share], abs=1e-9)
        np.testing.assert_allclose(found.target, found.eye + found.distance * found.forward())
    for elapsed in (0.3, 5.0):
        end = move.at(elapsed)
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
        assert turn(angle) == pytest.approx(same)
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


# -- flight ------------------------------------------------------------------------------------------------------------

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
    np.testing.assert_allclose(thrust.wanted(RIGHT, TILTED, 3.0), 3 * np.array(way), atol=1e-15)
    assert thrust.held == set(keys.split()) and not thrust.velocity.any()


@pytest.mark.parametrize(
    "speed, found", [(2.0, 2.0), (0.0, 0.0), (-1.0, 0.0), (math.nan, 0.0), (math.inf, 0.0), (1e31, 1e30)]
)
def test_speeds_of_flight(speed: float, found: float) -> None:
    thrust = Thrust()
    thrust.press("right")
    np.testing.assert_array_equal(thrust.wanted(RIGHT, TILTED, speed), (found, 0, 0))


def test_keys_that_are_none() -> None:
    thrust = Thrust()
    with pytest.raises(ValueError, match="no motion 'turn'"):
        thrust.press("turn")
    assert thrust.held == set()


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
