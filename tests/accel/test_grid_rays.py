"""Rays through the grid: the walk's rounding, its expected steps, both walks, and the float64 walk against Embree."""

from __future__ import annotations

import exact
import numpy as np
import pytest
from soups import KINDS, soup
from walker import rays, through, walker

from raystream.accel import primitives
from raystream.accel.grid import grid
from raystream.accel.grid.build import Grid, build


def test_expected_steps_are_those_of_random_lines() -> None:
    rng = np.random.default_rng(4)
    corners = soup("random", rng, 3)
    grid = build(corners, (9, 12, 7))
    # random lines of uniform density: a direction, and a point of the disk across it that holds the box
    box = grid.voxel.astype(np.float64) * grid.resolution
    radius = 0.5 * np.linalg.norm(box)
    direction = rng.normal(size=(40_000, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    side = np.cross(direction, [0.3, 0.5, 0.8])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(direction, side)
    r, angle = radius * np.sqrt(rng.uniform(size=len(direction))), rng.uniform(0, 2 * np.pi, len(direction))
    foot = side * (r * np.cos(angle))[:, None] + up * (r * np.sin(angle))[:, None]
    origin = grid.low + 0.5 * box + foot - 2 * radius * direction
    # a line visits a voxel more than it crosses planes between voxels
    planes = np.sort([(grid.low - origin) / direction, (grid.low + box - origin) / direction], axis=0)
    enter, leave = planes[0].max(axis=1), planes[1].min(axis=1)
    ends = [np.floor((origin + t[:, None] * direction - grid.low) / grid.voxel) for t in (enter, leave)]
    first, last = (np.clip(end, 0, np.array(grid.resolution) - 1) for end in ends)
    steps = (1 + np.abs(last - first).sum(axis=1))[enter < leave]
    # the standard error of the mean of 15,000 lines with 5 to 25 steps is under 0.5 %
    assert steps.mean() == pytest.approx(grid.statistics["expected_steps"], rel=0.02)


def both(device, corners: np.ndarray, built: Grid) -> list:
    test = primitives.triangle_module("watertight", corners, float(max(built.voxel * built.resolution)))
    return [walker(device, grid.module(built, traversal), test) for traversal in ("dda", "adinetz")]


@pytest.mark.parametrize("kind", KINDS)
def test_hits_are_those_of_all_triangles(device, kind: str) -> None:
    """Rays along axes, in the box's faces, on planes of voxels and through their corners among them."""
    rng = np.random.default_rng(KINDS.index(kind))
    corners = soup(kind, rng, 60)
    built = build(corners, (9, 7, 12) if kind != "flat" else (9, 1, 12))
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    given = through(low, np.where(high > low, high, high + 1), rng, 4000)
    lattice = built.low + rng.integers(0, 8, (1000, 3)) * built.voxel
    diagonal = rng.choice([-1.0, 1.0], (1000, 3)) * built.voxel  # from corner to corner of voxels
    points = np.einsum("rk,rkx->rx", rng.dirichlet([1, 1, 1], 1000), corners[rng.integers(0, len(corners), 1000)])
    aimed = rays(given["origin"][:1000], points - given["origin"][:1000])
    given = np.concatenate([given, rays(lattice.astype(np.float32), diagonal), aimed])
    every, _ = both(device, corners, build(corners, (1, 1, 1)))  # one voxel: every triangle is tested
    expected = every(given)
    for traversal in both(device, corners, built):
        assert traversal(given).tobytes() == expected.tobytes()
    # Coplanar triangles near the origin are hit at distances that differ by the rounding of coordinates, of about 1.
    verdict = exact.judge(corners, given["origin"], given["direction"], expected["triangle"], expected["t"], tie=1e-4)
    assert not len(verdict.wrong), verdict.wrong[:10]
    assert (expected["triangle"] >= 0).mean() > 0.1


def test_coefficients_take_points_to_texels(device) -> None:
    corners = soup("far away", np.random.default_rng(1))
    built = build(corners, (5, 6, 7))
    scale, shift = grid.texel_coordinates(built)
    points = np.random.default_rng(2).uniform(corners.min(axis=(0, 1)), corners.max(axis=(0, 1)), (1000, 3))
    expected = (points - built.low.astype(np.float64)) / built.voxel.astype(np.float64)
    # a and b are rounded once, on a coordinate that is 500 times the box's size, of 7 voxels: 2 x 2^-24 x 500 x 7
    np.testing.assert_allclose(points * scale + shift, expected, rtol=0, atol=2 * 2.0**-24 * 500 * 7 * 1.1)
