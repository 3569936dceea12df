"""The default view: silhouettes, cameras that they fill, and boxes around instances, against every vertex."""

from __future__ import annotations

import gc
import math
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.renderer.inputs.settings import Settings
from raystream.scene.camera import Camera
from raystream.scene.geometry import bounds
from raystream.scene.geometry.bounds import bounds_of
from raystream.scene.geometry.framing import (
    DIRECTIONS,
    FILL_FRACTION,
    MAX_INSTANCES,
    filling,
    outermost,
    overview,
    view_direction,
)
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.triangles import surface_points
from raystream.scene.hierarchy import compose
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene
from raystream.viewport.scene_loader import Glance, prepare_in_worker


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


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_as_of_every_vertex(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=(int(rng.integers(0, 30)), 3)) for _ in range(3)]
    transforms = compose(
        rng.normal(scale=3, size=(count, 3)), rng.normal(size=(count, 4)), rng.choice([-2.0, 0.0, 0.1, 1.0], (count, 3))
    )
    meshes = rng.integers(0, 3, count)
    moved = [points[m] @ t[:3, :3].T + t[:3, 3] for m, t in zip(meshes, transforms, strict=True)]
    everything = np.concatenate(moved)
    found = bounds_of(points, meshes, transforms)
    if not len(everything):
        assert found is None
    else:
        assert found is not None
        assert np.array_equal(found, [everything.min(axis=0), everything.max(axis=0)])


def test_vertices_that_are_not_finite_or_in_no_triangle_do_not_count() -> None:
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9], [np.nan, 0, 0]], [[0, 1, 2], [0, 1, 4]])
    assert Scene([mesh], [Instance(0)]).bounds().tolist() == [[0, 0, 0], [1, 1, 0]]
    beyond = np.diag([1e308, 1e308, 1e308, 1.0])
    beyond[0, 3] = 1.7e308
    assert Scene([mesh], [Instance(0), Instance(0, beyond)]).bounds()[1].max() == 1.7e308
    assert Scene().bounds().tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0, 1.0), (0.2, 0.5, -0.1, 0.83)])
def test_points_and_lines_have_the_box_of_their_surfaces(turn: tuple[float, ...]) -> None:
    """Of uneven sides, placed askew: that of many triangles on them, which lie within it."""
    ends = np.float32([[0, 0, 0], [3, 1, 0.5], [-1, 2, 4], [0.5, -2, 1]])
    placed = compose([[1.0, -2.0, 3.0]], [turn], [[2.0, 2.0, 2.0]])[0]
    for mesh in (Quadrics.spheres(ends, 0.25), Quadrics.cylinders(ends, np.int32([[0, 1], [1, 2], [2, 3]]), 0.25)):
        near = Scene([mesh.tessellated(96)], [Instance(0, placed)]).bounds()
        low, high = Scene([mesh], [Instance(0, placed)]).bounds()
        assert (low <= near[0] + 1e-5).all() and (high >= near[1] - 1e-5).all()
        np.testing.assert_allclose([low, high], near, atol=2e-3)


TRIANGLE = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many meshes each look at vertices was at."""
    found: list[int] = []
    used = bounds.used_points
    monkeypatch.setattr(bounds, "used_points", lambda meshes: (found.append(len(meshes)), used(meshes))[1])
    return found


def test_vertices_are_looked_at_once_while_a_scene_is_opened(looks: list[int]) -> None:
    """By the camera that frames it, the picture under the headlight, its lights, the pivot."""
    scene, settings = Scene([TRIANGLE], [Instance(0)]), Settings()
    Glance(scene, settings)
    prepare_in_worker(scene, lambda *_: None, settings, pixels=1 << 16)
    assert looks == [1]


def test_what_has_changed_has_other_bounds(looks: list[int]) -> None:
    scene = Scene([TRIANGLE], [Instance(0)])
    box = scene.bounds()
    box += 1.0  # a copy
    assert scene.bounds().tolist() == scene.bounds(ground=False).tolist() == [[0, 0, 0], [1, 1, 0]]
    assert scene.with_parts(lights=[]).bounds().tolist() == [[0, 0, 0], [1, 1, 0]] and looks == [1]
    grounded = scene.on_ground((4.0, 4.0))
    assert grounded.bounds(ground=False).tolist() == [[0, 0, 0], [1, 1, 0]] != grounded.bounds().tolist()
    there = np.eye(4)
    there[0, 3] = 5.0
    moved = scene.moved(np.array([0]), there[None])
    assert moved.bounds()[0].tolist() == [5, 0, 0] and scene.bounds()[0].tolist() == [0, 0, 0]
    scene.instances.append(Instance(0, np.diag([2.0, 2.0, 2.0, 1.0])))
    assert scene.bounds()[1].tolist() == [2, 2, 0]
    scene.instances[1].transform = there
    assert scene.bounds()[1].tolist() == [6, 1, 0]
    scene.meshes[0] = Mesh(TRIANGLE.positions, TRIANGLE.triangles)
    scene.meshes[0].positions = 2 * TRIANGLE.positions
    assert scene.bounds()[1].tolist() == [7, 2, 0] and scene.silhouette().max() == 7


def test_what_is_replaced_is_not_held() -> None:
    scene = Scene([Mesh(TRIANGLE.positions, TRIANGLE.triangles)], [Instance(0)])
    scene.bounds(ground=False), scene.silhouette()
    gone = ref(scene.meshes[0])
    scene = scene.with_parts(meshes=[TRIANGLE])
    gc.collect()
    assert gone() is None
