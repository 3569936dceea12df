"""The four-plane triangle: its coefficients against barycentric weights, its hits against Embree and float64."""

from __future__ import annotations

from pathlib import Path

import exact
import numpy as np
from embree import embree_scene
from soups import read_ply
from walker import rays, through, walker

from raystream.accel import primitives
from raystream.accel.grid import grid
from raystream.accel.grid.build import build


def planes_walker(device, corners: np.ndarray, slack: float = 1.0):
    return walker(device, grid.module(build(corners)), primitives.triangle_module("planes", corners, slack=slack))


def test_planes_at_a_point_are_the_weights() -> None:
    rng = np.random.default_rng(1)
    corners = (rng.uniform(-3, 3, (500, 1, 3)) + rng.normal(size=(500, 3, 3))).astype(np.float32)
    center = np.array([0.5, -1.0, 2.0], np.float32)
    weights = rng.normal(size=(500, 3)) + [1, 0, 0]
    weights /= weights.sum(axis=1, keepdims=True)
    keep = np.abs(weights).max(axis=1) < 10
    points = np.einsum("ti,tix->tx", weights, corners.astype(np.float64))
    off = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).astype(np.float64)
    off /= np.linalg.norm(off, axis=1, keepdims=True)
    made = primitives.planes(corners, center)
    # Coefficients of size 1 / height are rounded once, on points and offsets of up to 20 units.
    height = 1 / np.linalg.norm(made["side_b"][:, :3].astype(np.float64), axis=1)
    height = np.minimum(height, 1 / np.linalg.norm(made["side_c"][:, :3].astype(np.float64), axis=1))
    bound = 4 * 20 * 2.0**-24 * (1 + 1 / height)
    for distance in (0.0, 0.7):  # the sides' planes stand upright on the triangle
        at = np.concatenate([points + distance * off - center, np.ones((500, 1))], 1)
        for field, expected in (("plane", distance), ("side_b", weights[:, 1]), ("side_c", weights[:, 2])):
            value = (made[field].astype(np.float64) * at).sum(axis=1)
            assert (np.abs(value - expected) <= bound)[keep].all(), field


def test_triangles_that_no_float_can_hold_are_never_hit(device) -> None:
    good = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    corners = np.stack([good, good * np.float32(1e-39), good[[0, 1, 1]], good * np.float32(np.nan), good])
    made = primitives.planes(corners, np.zeros(3, np.float32))
    assert not made["plane"][1:4].any() and not made["side_b"][1:4].any() and made["plane"][[0, 4]].any(axis=1).all()
    sound = corners[[0, 1, 2, 4]]
    function = walker(device, grid.module(build(corners[[0, 0, 0, 0]])), primitives.triangle_module("planes", sound))
    hits = function(rays([[0.2, 0.2, 1.0], [0.0, 0.0, 1.0], [0.2, 0.2, 1.0]], [[0, 0, -1], [0, 0, -1], [1, 0, 0]]))
    assert hits["triangle"].tolist() == [0, 0, -1]  # of equal distances the lower number; parallel: none


def test_hits_of_the_bunny_are_those_of_embree(device, shared_scenes: Path) -> None:
    corners = read_ply(shared_scenes / "bunny.ply")
    given = through(corners.min(axis=(0, 1)), corners.max(axis=(0, 1)), np.random.default_rng(5), 60_000)
    embree = embree_scene(corners).run(given["origin"], given["direction"], output=1)
    hits = planes_walker(device, corners)(given)
    differ = hits["triangle"] != embree["primID"]
    # Weights are good to 2^-23 of the distance from the middle (0.08) over the height of a triangle (0.0015): 6e-6, and
    # a ray meets about three edges: one ray in ten thousand may fall on the other side of one, or between.
    assert differ.mean() < 3e-4
    both = ~differ & (hits["triangle"] >= 0)
    assert both.mean() > 0.3
    # Distances err by the plane's 1e-8 over the cosine between ray and normal.
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).astype(np.float64)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    own, direction = normals[hits["triangle"][both]], given["direction"][both].astype(np.float64)
    cosine = np.abs((own * direction).sum(axis=1))
    assert (np.abs(hits["t"][both] - embree["tfar"][both]) * cosine).max() < 4 * 2.0**-24


def test_far_from_the_origin_planes_are_taken_from_the_middle(device) -> None:
    rng = np.random.default_rng(8)
    corners = (np.array([1000.0, -2000.0, 500.0]) + rng.uniform(-1, 1, (200, 3, 3))).astype(np.float32)
    given = through(corners.min(axis=(0, 1)), corners.max(axis=(0, 1)), rng, 20_000)
    hits = planes_walker(device, corners)(given)
    verdict = exact.judge(corners, given["origin"], given["direction"], hits["triangle"], hits["t"], near_edge=1e-5)
    # Slivers' weights err by more than 1e-5 of the distance.
    assert len(verdict.wrong) < 2e-4 * len(given)
    assert (hits["triangle"] >= 0).mean() > 0.5


def test_the_published_slack_takes_a_rim_beyond_the_third_side(device) -> None:
    corners = np.float32([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    rng = np.random.default_rng(4)
    total, share = rng.uniform(0.99, 1.01, 5000), rng.uniform(0, 1, 5000)
    points = np.stack([total * share, total * (1 - share), np.zeros(5000)], 1).astype(np.float32)
    given = rays(points + np.float32([0, 0, 2]), np.broadcast_to([0.0, 0.0, -1.0], (5000, 3)))
    for slack in (1.0, primitives.PUBLISHED_SLACK):
        module = primitives.triangle_module("planes", corners, slack=slack)
        built = build(np.concatenate([corners, corners + np.float32(0.5)]))  # room for the rim
        hits = walker(device, grid.module(_listing_all(built)), module)(given)
        expected = points[:, :2].astype(np.float64).sum(axis=1) <= slack
        sure = np.abs(points[:, :2].astype(np.float64).sum(axis=1) - slack) > 1e-6
        np.testing.assert_array_equal((hits["triangle"] == 0)[sure], expected[sure])


def _listing_all(built):
    """The grid with triangle 0 in every voxel."""
    pointers = np.zeros_like(built.pointers)
    return type(built)(built.low, built.voxel, built.resolution, pointers, np.float32([0, -1]), built.statistics)


def test_a_table_in_another_order_gives_the_numbers_of_the_scene(device) -> None:
    rng = np.random.default_rng(6)
    corners = rng.uniform(-1, 1, (50, 3, 3)).astype(np.float32)
    order = rng.permutation(50).astype(np.int32)
    given = through([-1, -1, -1], [1, 1, 1], rng, 2000)
    own = walker(device, grid.module(build(corners)), primitives.triangle_module("planes", corners))(given)
    moved = primitives.triangle_module("planes", corners, order=order)
    assert (own["triangle"] >= 0).mean() > 0.3
    assert walker(device, grid.module(build(corners[order])), moved)(given).tobytes() == own.tobytes()
