"""A float64 walk through a grid on the host: what the GLSL walk must find, and at what cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from raystream.accel.grid.build import Grid


@dataclass(frozen=True)
class Hits:
    """Per ray: triangle (R,) int32, -1 for a miss; t (R,) float64, inf for a miss; steps, tests (R,) int32.

    ``steps`` counts the voxels visited, ``tests`` the ray-triangle tests, repeated ones too (no mailbox).
    """

    triangle: NDArray[np.int32]
    t: NDArray[np.float64]
    steps: NDArray[np.int32]
    tests: NDArray[np.int32]


def walk_oracle(
    grid: Grid, corners: NDArray[np.float32], origins: NDArray[np.floating], directions: NDArray[np.floating]
) -> Hits:
    """The nearest triangle in front of each ray, by a 3D-DDA (Amanatides and Woo 1987) through `grid`.

    corners (T, 3, 3); origins, directions (R, 3), world space; t in units of the direction's length. A hit counts
    when the walk reaches the voxel that it is in; of triangles at the same t, the lower number. Rays that miss the
    box have 0 steps.
    """
    low, voxel = grid.low.astype(np.float64), grid.voxel.astype(np.float64)
    structure = (low, voxel, np.array(grid.resolution, np.int64), grid.pointers.ravel(), grid.lists)
    return hits_by(_walk, structure, corners, origins, directions)


def hits_by(
    walk: Callable[..., None], structure: Sequence[NDArray], corners: NDArray, origins: NDArray, directions: NDArray
) -> Hits:
    """What a compiled walk finds: it takes the structure's arrays, corners (T, 3, 3), origins and directions (R, 3) in
    float64, and writes the arrays of `Hits`."""
    count = len(origins)
    hits = Hits(
        np.full(count, -1, np.int32), np.full(count, np.inf), np.zeros(count, np.int32), np.zeros(count, np.int32)
    )
    given = (np.ascontiguousarray(each, np.float64) for each in (corners, origins, directions))
    walk(*structure, *given, hits.triangle, hits.t, hits.steps, hits.tests)
    return hits


@njit(cache=True)
def moller_trumbore(corners, origin, direction):
    """t of a ray and a triangle (Moeller and Trumbore 1997), inf for a miss; float64."""
    u, v = corners[1] - corners[0], corners[2] - corners[0]
    px, py, pz = _cross(direction, v)
    determinant = u[0] * px + u[1] * py + u[2] * pz
    if determinant == 0.0:
        return np.inf
    s = origin - corners[0]
    a = (s[0] * px + s[1] * py + s[2] * pz) / determinant
    qx, qy, qz = _cross(s, u)
    b = (direction[0] * qx + direction[1] * qy + direction[2] * qz) / determinant
    t = (v[0] * qx + v[1] * qy + v[2] * qz) / determinant
    return t if a >= 0.0 and b >= 0.0 and a + b <= 1.0 and t >= 0.0 else np.inf


@njit(cache=True)
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def _walk(low, voxel, resolution, pointers, lists, corners, origins, directions, triangle, t, steps, tests):
    index, exits, step = np.empty(3, np.int64), np.empty(3), np.empty(3, np.int64)
    for ray in range(len(origins)):
        origin, direction = origins[ray], directions[ray]
        enter, leave = 0.0, np.inf
        for axis in range(3):
            high = low[axis] + resolution[axis] * voxel[axis]
            if direction[axis] == 0.0:
                if origin[axis] < low[axis] or origin[axis] > high:
                    leave = -1.0
                continue
            t0 = (low[axis] - origin[axis]) / direction[axis]
            t1 = (high - origin[axis]) / direction[axis]
            enter, leave = max(enter, min(t0, t1)), min(leave, max(t0, t1))
        if enter > leave:
            continue
        for axis in range(3):
            place = (origin[axis] + enter * direction[axis] - low[axis]) / voxel[axis]
            index[axis] = min(max(int(np.floor(place)), 0), resolution[axis] - 1)
            step[axis] = 1 if direction[axis] > 0.0 else -1
        best, nearest = np.inf, -1
        while True:
            for axis in range(3):
                exits[axis] = np.inf
                if direction[axis] != 0.0:
                    plane = low[axis] + (index[axis] + (1 if step[axis] > 0 else 0)) * voxel[axis]
                    exits[axis] = (plane - origin[axis]) / direction[axis]
            axis = np.argmin(exits)
            steps[ray] += 1
            place = int(pointers[(index[2] * resolution[1] + index[1]) * resolution[0] + index[0]])
            while place >= 0 and lists[place] >= 0.0:
                candidate = int(lists[place])
                tests[ray] += 1
                hit = moller_trumbore(corners[candidate], origin, direction)
                if hit < best or (hit == best and hit < np.inf and candidate < nearest):
                    best, nearest = hit, candidate
                place += 1
            if best <= exits[axis]:
                break
            index[axis] += step[axis]
            if index[axis] < 0 or index[axis] >= resolution[axis]:
                break
        triangle[ray], t[ray] = nearest, best
