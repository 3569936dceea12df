"""The camera in the hand: its state, and orbit, look, pan, dolly, pinch and roll, by values worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from raystream.scene.camera import Camera
from raystream.scene.projections import Fisheye, Orthographic
from raystream.viewport.camera_controller import CameraController
from tests.viewport.cube_camera import ACROSS, START, WITHIN, at, distance


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


def test_a_lens_and_its_name_go_with_the_camera(controller: CameraController) -> None:
    controller.set_lens(0.25, 3.0)
    assert controller.update(0) and controller.camera == replace(START, aperture=0.25, focus=3.0)
    controller.orbit(225, 0)
    made = controller.camera
    assert (made.aperture, made.focus, made.name, made.fov) == (0.25, 3.0, "start", 90.0)
    controller.set_lens(0.0, None)
    assert (controller.camera.aperture, controller.camera.focus) == (0.0, None)
    assert controller.camera is controller.camera, "made once"


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


def test_an_orthographic_camera_and_back() -> None:
    """As much as before at the target; the nearer, the less it shows; a field of view scales it."""
    controller = CameraController(Camera((0, 0, 5), (0, 0, 0), fov=40, aperture=0.1), [[-1, -1, -1], [1, 1, 1]])
    height = 10 * np.tan(np.radians(20))
    controller.toggle_orthographic()
    assert controller.camera.projection == Orthographic(height) and controller.camera.aperture == 0.1
    controller.dolly(0.5)
    assert controller.camera.projection.height == pytest.approx(height / 2)
    controller.step_fov(1)
    assert controller.camera.projection.height == pytest.approx(height / 2 * 1.05)
    controller.toggle_orthographic()
    assert controller.camera.kind == "" and controller.camera.fov == 40


def test_a_fisheye_of_another_kind_keeps_its_angle() -> None:
    controller = CameraController(Camera((0, 0, 5), (0, 0, 0), projection=Fisheye(220.0)), [[-1, -1, -1], [1, 1, 1]])
    for name in ("equisolid", "fisheye"):
        controller.choose_projection(name)
        assert controller.camera.projection == Fisheye(220.0, name == "equisolid")
    for name in ("equirectangular", "equisolid"):  # a new one has half a sphere
        controller.choose_projection(name)
    assert controller.camera.projection == Fisheye(180.0, True)


def test_rays_of_an_orthographic_camera() -> None:
    """Parallel, from where the picture is; a drag moves what it shows by as much as the hand goes; the wheel keeps the
    place under the cursor."""
    controller = CameraController(Camera((0, 0, 5), (0, 0, 0), projection=Orthographic(4.0)), [[-1, -1, -1], [1, 1, 1]])
    origin, way = controller.ray(150, 25, 200, 100)
    np.testing.assert_allclose(origin, (2, 1, 5))
    np.testing.assert_allclose(way, (0, 0, -1), atol=1e-15)
    controller.dolly(0.5, controller.direction(150, 25, 200, 100))
    np.testing.assert_allclose(controller.ray(150, 25, 200, 100)[0], (2, 1, 2.5), atol=1e-12)
    eye = np.asarray(controller.camera.origin)
    controller.pan(10, 0, 100)
    np.testing.assert_allclose(np.asarray(controller.camera.origin) - eye, (-0.2, 0, 0), atol=1e-12)
