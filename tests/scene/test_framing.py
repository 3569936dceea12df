"""The default view: silhouettes, and cameras that they fill; points on surfaces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.scene.camera import Camera
from raystream.scene.geometry.framing import (
    DIRECTIONS,
    FILL_FRACTION,
    MAX_INSTANCES,
    filling,
    outermost,
    overview,
    view_direction,
)
from raystream.scene.geometry.triangles import surface_points
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene


def extents(camera: Camera, points: np.ndarray, aspect: float) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest place (2,) of points in a picture from -1 to 1 across and upwards."""
    right, up, forward = camera.basis()
    away = np.asarray(points, float) - camera.origin
    depth = away @ forward
    assert (depth > 0).all()
    slope = math.tan(math.radians(camera.fov) / 2)
    placed = np.stack([away @ right / aspect, away @ up], axis=1) / depth[:, None] / slope
    return placed.min(axis=0), placed.max(axis=0)


number = st.floats(-100, 100, width=32)
direction = st.tuples(number, number, number).filter(lambda each: max(map(abs, each)) > 1e-3)


@settings(max_examples=100)
@given(st.lists(st.tuples(number, number, number), min_size=2, max_size=30), direction, st.sampled_from([0.3, 1, 2.5]))
def test_points_fill_the_picture(points: Any, away: Any, aspect: float) -> None:
    placed = np.array(points)
    size = np.ptp(placed, axis=0).max()
    if size < 1e-3:
        return
    camera = filling(placed, 30.0, away, aspect)
    low, high = extents(camera, placed, aspect)
    np.testing.assert_allclose(low + high, 0.0, atol=1e-5)  # in the middle along both
    filled = ((high - low) / 2).max()
    assert filled <= FILL_FRACTION * (1 + 1e-6)
    nearest = ((placed - camera.origin) @ camera.basis()[2]).min()
    assert filled == pytest.approx(FILL_FRACTION, rel=1e-6) or nearest == pytest.approx(0.1 * size, rel=1e-6)


@pytest.mark.parametrize("points", [np.zeros((0, 3)), np.full((1, 3), 7.0), np.full((9, 3), 1e18)])
def test_points_that_fill_nothing(points: np.ndarray) -> None:
    camera = filling(points)
    assert np.isfinite(np.array(camera.basis())).all() and camera.origin != camera.target


def test_outermost_points_of_a_sphere_and_of_a_box() -> None:
    rng = np.random.default_rng(29)
    ball = rng.normal(size=(30_000, 3)) * (5, 1, 1)
    ball *= rng.uniform(0, 1, (len(ball), 1)) / np.linalg.norm(ball / (5, 1, 1), axis=1)[:, None]
    corners = np.array([[x, y, z] for x in (-6, 6) for y in (-2, 2) for z in (-2, 2)], float)
    found = outermost(np.concatenate([ball, corners]))
    assert len(found) == 8 and (np.abs(found) == (6, 2, 2)).all()
    found = outermost(ball + 1e6)
    assert 50 < len(found) <= DIRECTIONS
    for way in rng.normal(size=(50, 3)):
        way /= np.linalg.norm(way * (5, 1, 1))
        assert ((found - 1e6) @ way).max() > 0.96 * (ball @ way).max()


def test_silhouettes_of_instances() -> None:
    """Of all instances, without vertices that nothing uses or that are not finite, and without the ground."""
    corners = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9], [np.inf, 0, 0]])
    mesh = Mesh(corners, [[0, 1, 2], [0, 1, 4]])
    moved = np.eye(4)
    moved[:3, 3] = 2, 0, 0
    scene = Scene([mesh], [Instance(0), Instance(0, moved)])
    expected = {(0, 0, 0), (1, 0, 0), (0, 1, 0), (2, 0, 0), (3, 0, 0), (2, 1, 0)}
    assert set(map(tuple, scene.silhouette().tolist())) == expected
    assert set(map(tuple, scene.on_ground().silhouette().tolist())) == expected
    many = Scene([mesh], [Instance(0)] * MAX_INSTANCES + [Instance(0, moved)])
    assert set(map(tuple, many.silhouette().tolist())) == {(x, y, 0) for x in (0, 3) for y in (0, 1)}
    assert Scene().silhouette().shape == (0, 3) and Scene().camera().origin != Scene().camera().target
    scene.instances.append(Instance(0, np.diag([5.0, 5, 5, 1])))
    assert (5, 0, 0) in set(map(tuple, scene.silhouette().tolist())), "an edited list is looked at anew"


def test_a_sphere_fills_as_what_it_is() -> None:
    scene = Scene([Quadric.sphere((0, 0, 0), 2.0)], [Instance(0)])
    low, high = extents(scene.camera(), scene.meshes[0].tessellated(64).positions, 1.0)
    assert high.max() == pytest.approx(FILL_FRACTION, rel=0.02) and low.min() == pytest.approx(-FILL_FRACTION, rel=0.02)


@pytest.mark.parametrize(
    ("size", "around", "above"),
    [((1, 1, 1), 35, 15), ((2, 2, 0), 12, 15), ((0, 2, 2), 58, 15), ((2, 0, 2), 35, 35), ((1, 1, 0.175), 23.5, 15)],
)
def test_views_of_what_is_thin(size: Any, around: float, above: float) -> None:
    """Three-quarter views from a little above; charts rather from the front, profiles the side, plates from above."""
    box = np.array([[x, y, z] for x in (0, size[0]) for y in (0, size[1]) for z in (0, size[2])], float)
    for scale in (1.0, 1e-3):
        x, y, z = view_direction(scale * box)
        assert math.degrees(math.asin(y)) == pytest.approx(above)
        assert math.degrees(math.atan2(x, z)) == pytest.approx(around)
    assert overview(box).fov == 30.0


def test_points_of_a_surface_lie_evenly_by_area() -> None:
    """Of an area of 1 and one of 8, the second of a mirrored instance of another material, whose normal is turned."""
    square = Mesh(np.float32([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), [[0, 1, 2], [0, 2, 3]])
    mirrored = np.diag([-4.0, 2.0, 1.0, 1.0])
    found = surface_points([square], [Instance(0), Instance(0, mirrored, 5)], 900)
    second = found.points[:, 0] < 0
    assert found.area == pytest.approx(9.0) and len(found.points) == 900 and second.sum() == pytest.approx(800, abs=1)
    assert (found.normals[..., :2] == 0).all() and (found.normals[:, 2] == 1).all()
    assert (found.materials == np.where(second, 5, 0)).all()
    for axis, side in ((0, -4.0), (1, 2.0)):
        np.testing.assert_allclose(
            np.quantile(found.points[second, axis] / side, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.03
        )
    again = surface_points([square], [Instance(0), Instance(0, mirrored, 5)], 900)
    assert (again.points == found.points).all()
    assert len(surface_points([], []).points) == 0
    assert len(surface_points([Mesh(np.zeros((3, 3)), [[0, 1, 2]])], [Instance(0)]).points) == 0
