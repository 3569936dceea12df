"""What follows the mouse, against projections of float64 cameras."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.scene.camera import Camera
from raystream.viewport.debug_views.wires import project_points
from raystream.viewport.editing import Grab

SIZE = (640, 480)
CAMERA = Camera((3.0, 2.0, 6.0), (0.0, 0.5, 0.0), fov=50)
START = np.array([0.3, 0.4, -0.2])


def ray(pixel: tuple[float, float]) -> np.ndarray:
    right, up, forward = CAMERA.basis()
    slope = np.tan(np.radians(CAMERA.fov) / 2) * 2 / SIZE[1]
    way = forward + (pixel[0] - SIZE[0] / 2) * slope * right + (SIZE[1] / 2 - pixel[1]) * slope * up
    return way / np.linalg.norm(way)


def place(point: np.ndarray) -> tuple[float, float]:
    (at,), (before,) = project_points(CAMERA, SIZE, point)
    assert before
    return float(at[0]), float(at[1])


def drag(grab: Grab, *to: tuple[float, float]) -> np.ndarray:
    for pixel in to:
        grab.follow(CAMERA.origin, ray(pixel), CAMERA.basis()[2])
    return START + grab.shift


def test_a_point_stays_under_the_cursor() -> None:
    x, y = place(START)
    found = drag(Grab(START), (x, y), (x + 70, y - 33))
    np.testing.assert_allclose(place(found), (x + 70, y - 33), atol=1e-9)
    # In the plane of the view: as far along it as it was.
    assert np.dot(found - START, CAMERA.basis()[2]) == pytest.approx(0, abs=1e-12)


def test_what_is_grabbed_beside_it_keeps_the_distance() -> None:
    x, y = place(START)
    grab = Grab(START)
    drag(grab, (x + 9, y + 4))
    assert np.abs(grab.shift).max() < 1e-12  # the ray and back again: a few roundings in float64
    found = drag(grab, (x + 29, y + 4))
    np.testing.assert_allclose(place(found), (x + 20, y), atol=1e-9)


def test_rays_that_tell_no_place_move_nothing() -> None:
    grab = Grab((0.0, 0.0, 0.0))
    eye, forward = (0.0, 0.0, 5.0), np.array([0.0, 0.0, -1.0])
    assert not grab.follow(eye, forward, forward)
    grab.constrain("Z")
    assert not grab.follow(eye, forward, forward)  # along the axis itself
    grab.constrain("Y", plane=True)
    assert not grab.follow(eye, forward, forward)  # in the plane
    sky = np.array([0.0, 0.6, -0.8])
    assert not grab.follow((0.0, 1.0, 5.0), sky, forward)  # away from it
    assert grab.follow((0.0, 1.0, 5.0), sky * (1, -1, 1), forward)
    grab.constrain("X")
    assert not grab.follow((0.0, 1.0, 5.0), unit(0.1, 0.6, 0.8), forward)  # away from the axis, which is behind the eye
    assert grab.follow((0.0, 1.0, 5.0), unit(0.1, -0.2, -1.0), forward)


def unit(*way: float) -> np.ndarray:
    return np.array(way) / np.linalg.norm(way)


def test_the_same_key_again_frees() -> None:
    """With Shift as without; the one after the other changes what the axis means."""
    for plane in (False, True):
        grab = Grab(START)
        grab.constrain("X", plane)
        assert (grab.axis, grab.plane) == (0, plane)
        grab.constrain("X", plane)
        assert (grab.axis, grab.plane) == (None, False)
        grab.constrain("X", plane)
        grab.constrain("X", not plane)
        assert (grab.axis, grab.plane) == (0, not plane)


def test_a_hand_that_rests_moves_nothing() -> None:
    grab, (x, y) = Grab(START), place(START)
    forward = CAMERA.basis()[2]
    moved = [grab.follow(CAMERA.origin, ray((x + k, y)), forward) for k in (0, 0, 9, 9, 5)]
    assert moved[1:] == [False, True, False, True]


# -- values: seen from (0, 0, 5) along -z ------------------------------------------------------------------------------

EYE, VIEW = (0.0, 0.0, 5.0), (0.0, 0.0, -1.0)


def held(*moves: tuple[float, float, float], axis: str = "", plane: bool = False, start=(0.0, 0.0, 0.0)) -> list:
    """The shifts after rays in such directions, unit length or not; the first one grabs."""
    grab, found = Grab(start), []
    for number, way in enumerate(moves):
        grab.follow(EYE, unit(*way), VIEW)
        if number == 0 and axis:
            grab.constrain(axis, plane)
        found.append(np.round(grab.shift, 9).tolist())
    return found[1:]


def test_in_the_plane_of_the_view() -> None:
    """Five units before the eye: a slope of 0.2 is a unit."""
    assert held((0, 0, -1), (0.2, 0, -1), (0.2, -0.4, -1), (0, 0, -1)) == [[1, 0, 0], [1, -2, 0], [0, 0, 0]]
    assert held((0.2, 0, -1), (0.6, 0, -1), start=(0, 0, 3)) == [[0.8, 0, 0]], "two units before it"


def test_along_each_axis() -> None:
    # The ray (0.2, 0.4, -1) t from the eye is nearest to the line (x, 0, 0) where 0.16 t t + (5 - t) (5 - t) is least.
    assert held((0, 0, -1), (0.2, 0.4, -1), axis="X") == [[pytest.approx(1 / 1.16), 0, 0]]
    assert held((0, 0, -1), (0.2, 0.4, -1), axis="Y") == [[0, pytest.approx(2 / 1.04), 0]]
    # The ray (0.2, 0, -1) t from the eye and the line (1, 0, z) come nearest where they meet: t = 5, z = 0.
    assert held((0.2, 0, -1), (0.2, 0, -1), axis="Z", start=(1, 0, 0)) == [[0, 0, 0]]
    assert held((0.2, 0, -1), (0.25, 0, -1), axis="Z", start=(1, 0, 0)) == [[0, 0, 1.0]]
    assert held((0.2, 0, -1), (0.1, 0, -1), axis="Z", start=(1, 0, 0)) == [[0, 0, -5.0]]


def test_across_each_axis() -> None:
    assert held((0, 0, -1), (0.2, 0.4, -1), axis="Z", plane=True) == [[1, 2, 0]]
    # In the plane x = 1: the ray (0.25, 0.1, -1) meets it at t = 4.
    assert held((0.2, 0, -1), (0.25, 0.1, -1), axis="X", plane=True, start=(1, 0, 0)) == [[0, 0.4, 1.0]]
    assert held((0, -0.2, -1), (0.1, -0.25, -1), axis="Y", plane=True, start=(0, -1, 0)) == [[0.4, 0, 1.0]]
