"""Repeated tests of a triangle by a grid's ray, which a mailbox would save; a float64 traversal on the host."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from raystream.accel.grid.build import Grid


class Repeats(NamedTuple):
    """Totals over all rays: voxels visited, triangle tests, and repeated ones."""

    steps: int
    tests: int
    repeated: int


def repeated_tests(grid: Grid, origins: NDArray, directions: NDArray, t: NDArray) -> Repeats:
    """Traverse the grid with rays (R, 3) to their hits at distances t (R,), inf for none: a 3-D digital differential
    analyser (Amanatides and Woo 1987) over a ray's voxels until its hit lies before the voxel's end."""
    counts = np.zeros(3, np.int64)
    _traverse(
        grid.low.astype(np.float64),
        grid.voxel.astype(np.float64),
        np.array(grid.resolution, np.int64),
        grid.pointers,
        grid.lists,
        np.ascontiguousarray(origins, np.float64),
        np.ascontiguousarray(directions, np.float64),
        np.ascontiguousarray(t, np.float64),
        # One mailbox per triangle, as if every ray had its own: the last ray that tested it.
        np.full(int(max(grid.lists.max(initial=-1), -1)) + 2, -1, np.int64),
        counts,
    )
    return Repeats(*map(int, counts))


@njit(cache=True)
def _traverse(low, voxel, resolution, pointers, lists, origins, directions, t, mailbox, counts):
    at, step = np.empty(3, np.int64), np.empty(3, np.int64)
    inverse = np.empty(3)
    for ray in range(len(origins)):
        enters, leaves = 0.0, np.inf
        for a in range(3):
            d = directions[ray, a]
            inverse[a] = 1.0 / d if abs(d) > 1e-30 else 1e30
            near = (low[a] - origins[ray, a]) * inverse[a]
            far = (low[a] + resolution[a] * voxel[a] - origins[ray, a]) * inverse[a]
            enters, leaves = max(enters, min(near, far)), min(leaves, max(near, far))
        if enters > leaves:
            continue
        for a in range(3):
            place = np.floor((origins[ray, a] + enters * directions[ray, a] - low[a]) / voxel[a])
            at[a] = int(min(max(place, 0.0), resolution[a] - 1.0))
            step[a] = 1 if inverse[a] > 0 else -1
        while True:
            counts[0] += 1
            place = int(pointers[at[2], at[1], at[0]])
            while place >= 0 and lists[place] >= 0:
                triangle = int(lists[place])
                counts[1] += 1
                counts[2] += mailbox[triangle] == ray
                mailbox[triangle] = ray
                place += 1
            axis, ends = 0, np.inf
            for a in range(3):
                side = low[a] + (at[a] + (step[a] > 0)) * voxel[a]
                meets = (side - origins[ray, a]) * inverse[a]
                if meets < ends:
                    axis, ends = a, meets
            at[axis] += step[axis]
            if t[ray] < ends or at[axis] < 0 or at[axis] >= resolution[axis]:
                break
