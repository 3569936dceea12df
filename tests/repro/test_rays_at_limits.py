"""Rays in a triangle's plane, and over huge, tiny, far, thin and equal triangles and many voxels."""

from __future__ import annotations

import exact
import meshes
import numpy as np
import places
import pytest

from raystream import Renderer, Scene
from raystream.scene.builtin import forest
from raystream.scene.scene import Instance


def test_rays_in_the_plane_of_a_triangle_hit_nothing_beside_it() -> None:
    """Rays in a triangle's plane that start beside it hit it, up to its own size away from where it is."""
    rng = np.random.default_rng(0)
    corners = np.float32([[[-1, -0.3, -1], [1, 0.7, -1], [0.1, 0.55, 1]]])
    a, ab, ac = (corners[0, k].astype(np.float64) - (corners[0, 0] if k else 0) for k in range(3))
    count = 400_000
    start, end = (a + rng.uniform(-3, 3, (count, 1)) * ab + rng.uniform(-3, 3, (count, 1)) * ac for _ in range(2))
    origins = start.astype(np.float32)
    directions = (end - origins).astype(np.float32)
    renderer = Renderer(meshes.scene(corners), machine="singlepass", program="cast")
    hits = renderer.trace(origins, directions)
    verdict = exact.judge(corners, origins, directions, hits.triangle, hits.distance)
    hit = hits.triangle >= 0
    assert hit.sum() > 1000
    # The ray just behind whose origin an edge lies cannot be told from one that starts on it: some in a million.
    assert len(verdict.wrong) <= 4
    point = origins[hit].astype(np.float64) + hits.distance[hit, None] * directions[hit].astype(np.float64) - a
    weights = np.linalg.lstsq(np.stack([ab, ac], axis=1), point.T, rcond=None)[0]
    beside = np.maximum(-weights.min(axis=0), weights.sum(axis=0) - 1)
    assert (beside < 0.1).all()  # up to 1.4 before


@pytest.mark.parametrize("accel", ["bvh", "grid"])
@pytest.mark.parametrize("intersection", ["watertight", "moller-trumbore"])
def test_a_power_of_two_changes_no_hit(intersection: str, accel: str) -> None:
    """Scenes in units that make lengths huge or tiny lost their hits, since products of three lengths left float32."""
    rng = np.random.default_rng(0)
    corners = rng.uniform(-1, 1, (50, 3, 3)).astype(np.float32)
    origins, directions = rng.uniform(-2, 2, (2, 4000, 3)).astype(np.float32)
    choices = {"intersection": intersection, "accel": accel, "grid": 6, "program": "cast"}
    plain = Renderer(meshes.scene(corners), **choices).trace(origins, directions)
    assert (plain.triangle >= 0).mean() > 0.1
    for power in (-50, -20, 20, 50):  # 1e-15 to 1e15
        renderer = Renderer(meshes.scene(np.ldexp(corners, power)), **choices)
        scaled = renderer.trace(np.ldexp(origins, power), directions)
        assert np.array_equal(scaled.triangle, plain.triangle)
        assert np.array_equal(scaled.distance, np.ldexp(plain.distance, power))
        assert np.array_equal(scaled.barycentrics, plain.barycentrics)


FARTHEST = 1e18


def turned(scale: float) -> np.ndarray:
    """(4, 4): about the diagonal by 60 degrees, and by that scale."""
    matrix = np.eye(4)
    matrix[:3, :3] = scale * np.array([[2, -1, 2], [2, 2, -1], [-1, 2, 2]]) / 3
    return matrix


def reaching() -> dict[str, Scene]:
    """By name, scenes whose largest coordinate is 1e18, or so much less that no rounding leads beyond."""
    corner = np.float32([[[-1, -1, -1], [1, -1, 1], [-1, 1, 1]]])
    ball = places.sphere(2) * 0.999  # the corners of its box are far outside of it
    return {
        "mesh": Scene([places.flat(corner * np.float32(FARTHEST))], [Instance(0)]),
        "scale": Scene([places.flat(corner)], [Instance(0, np.diag([FARTHEST, FARTHEST, FARTHEST, 1]))]),
        "turned": Scene([places.flat(ball)], [Instance(0, turned(FARTHEST))]),
    }


@pytest.mark.parametrize("name", reaching())
def test_what_one_level_takes_two_levels_take(name: str) -> None:
    """Scenes that reach 1e18, as far as coordinates may, were refused with two levels: boxes, which are wider than
    what they hold, were held to that limit."""
    scene, rng = reaching()[name], np.random.default_rng(0)
    origins = rng.uniform(-1.5, 1.5, (300, 3)) * FARTHEST
    directions = rng.uniform(-0.5, 0.5, (300, 3)) * FARTHEST - origins
    flat = Renderer(scene, program="cast", machine="singlepass", accel="bvh").trace(origins, directions)
    hit = flat.triangle >= 0
    assert hit.sum() > 20
    for accel in ("two-level-bvh", "two-level-grid"):
        hits = Renderer(scene, program="cast", machine="singlepass", accel=accel).trace(origins, directions)
        # Rays past an edge, nearer than the rounding of the map to the object's space, 1e-6 of its size, go either way.
        assert (hits.triangle == flat.triangle).mean() > 0.99
        same = hit & (hits.triangle == flat.triangle)
        # Off by the rounding of a coordinate of size 1 to 2 in the object's space, seen as flat as 1 to 100.
        np.testing.assert_allclose(hits.distance[same], flat.distance[same], rtol=1e-4)


COUNT = 20_000


def piles() -> np.ndarray:
    """(COUNT, 3, 3) float32: two piles, one of triangles turned into themselves, whose corners begin elsewhere; and two
    triangles alone."""
    corners = np.tile(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), (COUNT, 1, 1))
    corners[1::2, :, 0] += 2
    corners[5::8] = np.roll(corners[5::8], 1, axis=1)
    corners[100] += 5
    corners[101] -= 5
    return corners


@pytest.mark.parametrize("accel", ["bvh", "grid", "two-level-bvh", "two-level-grid"])
def test_rays_test_a_pile_once(accel: str) -> None:
    """A hundred thousand triangles in one place took half a minute, since every ray tested them all."""
    corners = piles()
    scene = Scene.from_triangles(corners.reshape(-1, 3), np.arange(3 * COUNT).reshape(-1, 3))
    renderer = Renderer(scene, program="cast", machine="singlepass", accel=accel)
    goals = np.array([0, 1, 100, 101])
    places = corners[goals].mean(axis=1)
    hits = renderer.trace(places + [0, 0, 1], np.broadcast_to([0, 0, -1], (4, 3)))
    assert hits.triangle.tolist() == goals.tolist()  # of equal ones the lowest number
    assert (hits.distance == 1).all()
    layers = renderer.render((16, 16), layers=("tests", "steps")).layers
    assert 0 < layers["tests"].max() <= 8  # each pile in both orders of its corners, and the others, in a voxel or two
    assert layers["steps"].max() < 400


BOX = np.array([2040.0, 132.0, 64.0])  # at 64 voxels along the shortest side 17,233,920, over 2^24 = 16,777,216


@pytest.fixture(scope="module")
def corners() -> np.ndarray:
    rng = np.random.default_rng(4)
    middles = rng.uniform(0.02, 0.98, (300, 1, 3)) * BOX
    middles[150:, :, 2] = rng.uniform(62, 63.5, (150, 1))  # in the last layers of voxels, beyond the 2^24th
    corners = middles + rng.uniform(-12, 12, (300, 3, 3)) * [1, 1, 0.1]
    low, high = [[0, 0, 0], [1, 0, 0], [0, 0, 1]], [BOX, BOX - [1, 0, 0], BOX - [0, 0, 1]]  # so that it is that box
    return np.concatenate([np.clip(corners, 0, BOX), [low, high]])


@pytest.mark.parametrize("memory", ["auto", "texture"])  # a buffer texture; a 3-D one
def test_hits_are_those_of_a_tree(device, corners: np.ndarray, memory: str) -> None:
    """Grids of more than 2^24 voxels were refused, the published forest's 581 x 128 x 581 among them, though a voxel
    is addressed by three whole numbers and not by one float."""
    scene = meshes.scene(corners.astype(np.float32))
    rng = np.random.default_rng(5)
    origins = rng.uniform(-0.1, 1.1, (2000, 3)) * BOX
    aims = corners[rng.integers(0, 300, 2000)].mean(axis=1)
    options = {"program": "cast", "machine": "singlepass", "memory": memory}
    grid = Renderer(scene, accel="grid", grid=64, **options)
    nx, ny, nz = grid.prepared.structure.built.resolution
    assert nx * ny * nz > 1 << 24 and nz == 64
    found = grid.trace(origins, aims - origins)
    assert (found.triangle >= 0).mean() > 0.9 and (found.triangle >= 150).any()
    for mine, other in zip(found, Renderer(scene, accel="bvh", **options).trace(origins, aims - origins), strict=True):
        assert np.array_equal(mine, other)
    grid.release()


@pytest.mark.slow
def test_the_forest_at_its_published_grid() -> None:
    """Its 43 million voxels."""
    scene = forest.build()
    grid = Renderer(scene, program="cast", machine="singlepass", accel="grid", grid=128)
    assert grid.prepared.structure.facts["grid"] == "581x128x581"
    views = [[part.reshape(-1, 3) for part in camera.rays(96, 96)] for camera in scene.cameras]
    traced = [grid.trace(*rays) for rays in views]
    grid.release()
    tree = Renderer(scene, program="cast", machine="singlepass", accel="bvh")
    for rays, found in zip(views, traced, strict=True):
        expected = tree.trace(*rays)
        assert (found.triangle >= 0).mean() > 0.5
        for mine, other in zip(found, expected, strict=True):
            assert np.array_equal(mine, other)
    tree.release()
