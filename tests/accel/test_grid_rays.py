"""Rays through the grid: the walk's rounding, its expected steps, both walks, and the float64 walk against Embree."""

from __future__ import annotations

import exact
import numpy as np
import pytest
from numba import njit
from oracle import walk_oracle
from soups import KINDS, soup
from walker import rays, through, walker

from raystream.accel import primitives
from raystream.accel.grid import grid
from raystream.accel.grid.build import Grid, build, rounding_margin
from raystream.accel.grid.grid import texel_coordinates


@njit(cache=True)
def _float32_walk(low, voxel, resolution, origin, direction, out):
    """A 3D-DDA in float32, as the GLSL one computes; out (K, 5): voxel, t in, t out. Returns voxels visited."""
    zero, one = np.float32(0), np.float32(1)
    enter, leave = zero, np.float32(np.inf)
    inverse = one / direction
    for axis in range(3):
        high = low[axis] + np.float32(resolution[axis]) * voxel[axis]
        t0, t1 = (low[axis] - origin[axis]) * inverse[axis], (high - origin[axis]) * inverse[axis]
        enter, leave = max(enter, min(t0, t1)), min(leave, max(t0, t1))
    if enter > leave:
        return 0
    index = np.empty(3, np.int64)
    for axis in range(3):
        place = (origin[axis] + enter * direction[axis] - low[axis]) / voxel[axis]
        index[axis] = min(max(int(np.floor(place)), 0), resolution[axis] - 1)
    visited = 0
    t = enter
    while visited < len(out):
        exit_axis, exit_t = 0, np.float32(np.inf)
        for axis in range(3):
            plane = low[axis] + np.float32(index[axis] + (1 if direction[axis] > zero else 0)) * voxel[axis]
            bound = (plane - origin[axis]) * inverse[axis]
            if bound < exit_t:
                exit_axis, exit_t = axis, bound
        out[visited, 0], out[visited, 1], out[visited, 2] = index[0], index[1], index[2]
        out[visited, 3], out[visited, 4] = t, exit_t
        visited += 1
        t = max(t, exit_t)
        index[exit_axis] += 1 if direction[exit_axis] > zero else -1
        if index[exit_axis] < 0 or index[exit_axis] >= resolution[exit_axis]:
            break
    return visited


@njit(cache=True)
def _float32_adinetz(scale, shift, resolution, origin, direction, out):
    """Adinetz and Berezin's walk in float32, as the GLSL one computes; as `_float32_walk`."""
    zero, one = np.float32(0), np.float32(1)
    enter, leave = zero, np.float32(np.inf)
    at = origin * scale + shift
    slope = direction * scale
    inverse = one / slope
    for axis in range(3):
        t0, t1 = -at[axis] * inverse[axis], (np.float32(resolution[axis]) - at[axis]) * inverse[axis]
        enter, leave = max(enter, min(t0, t1)), min(leave, max(t0, t1))
    if enter > leave:
        return 0
    index = np.empty(3, np.int64)
    for axis in range(3):
        index[axis] = min(max(int(np.floor(at[axis] + enter * slope[axis])), 0), resolution[axis] - 1)
    visited = 0
    t = enter
    bounds = np.empty(3, np.float32)
    while visited < len(out) and ((index >= 0) & (index < resolution)).all():
        for axis in range(3):
            bounds[axis] = (np.float32(index[axis] + (1 if slope[axis] > zero else 0)) - at[axis]) * inverse[axis]
        exit_t = bounds.min()
        out[visited, 0], out[visited, 1], out[visited, 2] = index[0], index[1], index[2]
        out[visited, 3], out[visited, 4] = t, exit_t
        visited += 1
        t = max(t, exit_t)
        for axis in range(3):
            if bounds[axis] <= exit_t:
                index[axis] += 1 if slope[axis] > zero else -1
    return visited


@pytest.mark.parametrize("traversal", ["dda", "adinetz"])
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("distance", [0.3, 2.0, 16.0])
def test_margin_bounds_the_rounding_of_a_float32_walk(distance: float, offset: float, traversal: str) -> None:
    rng = np.random.default_rng(int(10 * distance))
    corners = (rng.uniform(-1, 1, (200, 3, 3)) * [3, 1, 2] + offset).astype(np.float32)
    grid = build(corners, (90, 30, 60))
    bounds = np.stack([corners.min(axis=(0, 1)), corners.max(axis=(0, 1))]).astype(np.float64)
    margin = rounding_margin(bounds)
    diagonal = np.linalg.norm(bounds[1] - bounds[0])
    low, voxel = grid.low.astype(np.float64), grid.voxel.astype(np.float64)
    out, worst, rays = np.empty((1000, 5)), 0.0, 0
    for _ in range(3000):
        target = rng.uniform(bounds[0], bounds[1])
        away = rng.normal(size=3)
        away *= distance * diagonal / np.linalg.norm(away)
        origin = (target + away).astype(np.float32)
        direction = (-away / np.linalg.norm(away)).astype(np.float32)
        if traversal == "dda":
            visited = _float32_walk(grid.low, grid.voxel, np.array(grid.resolution), origin, direction, out)
        else:
            visited = _float32_adinetz(*texel_coordinates(grid), np.array(grid.resolution), origin, direction, out)
        rays += visited > 0
        index, t = out[:visited, :3], out[:visited, 3:]
        for when in (t[:, :1], t[:, 1:]):
            point = origin.astype(np.float64) + when * direction.astype(np.float64)
            outside = np.maximum(low + index * voxel - point, point - (low + (index + 1) * voxel))
            if visited:
                worst = max(worst, (outside / margin).max())
    assert rays > 2900
    assert 0 < worst <= 1  # in margins: the bound holds, and is not vacuous
    print(f"{traversal}: at most {worst:.2f} of the margin")
    if distance == 16:
        assert worst > 0.02


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
    empty = Grid(grid.low, grid.voxel, grid.resolution, np.full_like(grid.pointers, -1), grid.lists, {})
    steps = walk_oracle(empty, corners, origin, direction).steps
    # the standard error of the mean of 15,000 lines with 5 to 25 steps is under 0.5 %
    assert steps[steps > 0].mean() == pytest.approx(grid.statistics["expected_steps"], rel=0.02)


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
