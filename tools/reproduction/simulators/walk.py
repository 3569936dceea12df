"""The kernels of traversal and intersection without a device: the grid's walk in float32, operation by operation.

The functions are those of ``shaders/accel/grid.glsl``, ``triangle_moller_trumbore.glsl`` and ``shaders/kernels``, so
that rays visit the same voxels and test the same triangles as on the machine (tests hold them to its counters). What
the simulators need beyond is which voxel and which list entry, for addresses, and the published rule for hits beyond
the voxel.

Sources: J. Amanatides and A. Woo, "A fast voxel traversal algorithm" (1987); T. Moeller and B. Trumbore (1997);
T. J. Purcell et al., "Ray Tracing on Programmable Graphics Hardware" (2002), section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid.build import Grid
from raystream.accel.grid.grid import lists_with_marked_ends
from raystream.base import jit
from reproduction.simulators.schedule import Runs

ZERO, ONE = np.float32(0.0), np.float32(1.0)


@jit.helper
def distance(corners, at, ox, oy, oz, dx, dy, dz):
    """Of a triangle of corners (N, 3, 3) along a ray, 0 where it is missed: barycentric coordinates by Cramer's
    rule."""
    ax, ay, az = corners[at, 0, 0], corners[at, 0, 1], corners[at, 0, 2]
    ux, uy, uz = corners[at, 1, 0] - ax, corners[at, 1, 1] - ay, corners[at, 1, 2] - az
    wx, wy, wz = corners[at, 2, 0] - ax, corners[at, 2, 1] - ay, corners[at, 2, 2] - az
    px, py, pz = dy * wz - dz * wy, dz * wx - dx * wz, dx * wy - dy * wx
    determinant = ux * px + uy * py + uz * pz
    if determinant == ZERO:
        return ZERO
    inverse = ONE / determinant
    sx, sy, sz = ox - ax, oy - ay, oz - az
    v = (sx * px + sy * py + sz * pz) * inverse
    qx, qy, qz = (sy * uz - sz * uy) * inverse, (sz * ux - sx * uz) * inverse, (sx * uy - sy * ux) * inverse
    w = dx * qx + dy * qy + dz * qz
    if v >= ZERO and w >= ZERO and v + w <= ONE:
        return wx * qx + wy * qy + wz * qz
    return ZERO


# What a ray does next.
TRAVERSE, INTERSECT, DONE = range(3)
# Hits beyond the voxel. Kept: and the walk goes on until it passes them. Missed: as if there were none, the published
# rule; the triangle is met again in the voxel of the hit.
BEYOND = ("kept", "missed")
# Columns of a ray's numbers.
ORIGIN, DIRECTION, INVERSE, T_EXIT, T_HIT, FLOATS = 0, 3, 6, 9, 10, 12
VOXEL, LIST, TRIANGLE, ANY_HIT, INTS = 0, 3, 4, 5, 8
TINY = np.float32(1e-30)  # shaders/lib/direction.glsl
ROOM = 24  # runs of a ray on average, for which there is room at first


@dataclass(frozen=True)
class Space:
    """A grid and its triangles as the walk reads them.

    box        : (3, 3) float32: lowest and highest corner, edges of a voxel; world space.
    resolution : (3,) int64.
    pointers   : (V,) float32, x fastest; lists : (L,) float32, the last entry n of a list as -n - 1.
    corners    : (T, 3, 3) float32.
    """

    box: NDArray[np.float32]
    resolution: NDArray[np.int64]
    pointers: NDArray[np.float32]
    lists: NDArray[np.float32]
    corners: NDArray[np.float32]

    @classmethod
    def of(cls, grid: Grid, corners: NDArray[np.float32]) -> Space:
        """From a grid and the triangles that it was built over."""
        low = grid.low.astype(np.float32)
        high = low + grid.voxel * np.asarray(grid.resolution, np.float32)
        pointers, lists = lists_with_marked_ends(grid.pointers, grid.lists)
        box = np.ascontiguousarray([low, high, grid.voxel], np.float32)
        resolution = np.array(grid.resolution, np.int64)
        return cls(box, resolution, pointers.ravel(), lists, np.ascontiguousarray(corners, np.float32))

    @property
    def arrays(self) -> tuple[NDArray, ...]:
        """What loops take."""
        return self.box, self.resolution, self.pointers, self.lists, self.corners


@dataclass
class State:
    """Where N rays are. next : (N,) uint8, of `TRAVERSE`, `INTERSECT`, `DONE`; floats, ints : see the columns."""

    next: NDArray[np.uint8]
    floats: NDArray[np.float32]
    ints: NDArray[np.int32]

    @classmethod
    def setup(cls, space: Space, rays: NDArray) -> State:
        """Rays (N,) of record RAY at the beginning of their traversal; those that miss the grid's box are done."""
        count = len(rays)
        state = cls(np.empty(count, np.uint8), np.zeros((count, FLOATS), np.float32), np.zeros((count, INTS), np.int32))
        state.floats[:, ORIGIN : ORIGIN + 3], state.floats[:, DIRECTION : DIRECTION + 3] = (
            rays["origin"],
            rays["direction"],
        )
        state.floats[:, T_HIT], state.ints[:, ANY_HIT] = rays["t_max"], rays["any_hit"] & 1
        jit.run(_setup, space.box, space.resolution, *state.arrays)
        return state

    @property
    def arrays(self) -> tuple[NDArray, NDArray, NDArray]:
        """What loops take."""
        return self.next, self.floats, self.ints

    @property
    def triangle(self) -> NDArray[np.int32]:
        """(N,) triangle hit so far, -1 for none."""
        return self.ints[:, TRIANGLE]

    @property
    def distance(self) -> NDArray[np.float32]:
        """(N,) distance of the hit so far along the ray; its t_max where there is none."""
        return self.floats[:, T_HIT]


def walk(space: Space, rays: NDArray, beyond: str = "kept") -> tuple[Runs, State]:
    """What rays (N,) of record RAY do, and their hits. beyond : one of `BEYOND`."""
    missed = BEYOND.index(beyond) == 1
    state = State.setup(space, rays)
    start = np.zeros(len(rays) + 1, np.int64)
    lengths = np.empty(2 + ROOM * len(rays), np.int32)
    used = first = 0
    while True:
        first, used = jit.run(_walk, *space.arrays, *state.arrays, missed, first, start, lengths, used)
        if first == len(rays):
            break
        lengths = np.concatenate([lengths, np.empty_like(lengths)])
    return Runs.from_lengths(start, lengths[:used].copy()), state


def _setup(box, resolution, following, floats, ints):
    for ray in range(len(following)):
        following[ray] = begin(box, resolution, floats, ints, ray)


def _walk(box, resolution, pointers, lists, corners, following, floats, ints, missed, first, start, lengths, used):
    """Whole rays, their runs noted; a ray begins anew where the lengths have no room for it."""
    capacity = len(lengths)
    for ray in range(first, len(following)):
        begun = used
        now = following[ray]
        if now != DONE:
            now = begin(box, resolution, floats, ints, ray)
        while now != DONE:
            if used + 2 > capacity:
                floats[ray, T_HIT] = floats[ray, T_HIT + 1]
                return ray, begun
            count = 0
            while now == TRAVERSE:
                now = step(box, resolution, pointers, floats, ints, ray, missed)
                count += 1
            lengths[used] = count
            used += 1
            count = 0
            while now == INTERSECT:
                now = test(resolution, lists, corners, floats, ints, ray, missed)
                count += 1
            if count > 0:
                lengths[used] = count
                used += 1
        following[ray] = DONE
        start[ray + 1] = used
    return len(following), used


@jit.helper
def begin(box, resolution, floats, ints, ray):
    """``traversal_setup``; T_HIT holds the ray's t_max, which is kept beside it."""
    enters, leaves = ZERO, floats[ray, T_HIT]
    floats[ray, T_HIT + 1] = floats[ray, T_HIT]
    for axis in range(3):
        direction = floats[ray, DIRECTION + axis]
        if abs(direction) < TINY:
            direction = TINY
        inverse = ONE / direction
        floats[ray, INVERSE + axis] = inverse
        at_low = (box[0, axis] - floats[ray, ORIGIN + axis]) * inverse
        at_high = (box[1, axis] - floats[ray, ORIGIN + axis]) * inverse
        enters = max(enters, min(at_low, at_high))
        leaves = min(leaves, max(at_low, at_high))
    for axis in range(3):
        at = floats[ray, ORIGIN + axis] + enters * floats[ray, DIRECTION + axis]
        inside = math.floor(np.float64((at - box[0, axis]) / box[2, axis]))  # the C library's floor, not floorf
        ints[ray, VOXEL + axis] = int(min(max(inside, 0.0), resolution[axis] - 1.0))
    ints[ray, LIST], ints[ray, TRIANGLE] = -1, -1
    floats[ray, T_EXIT] = ZERO
    return TRAVERSE if enters <= leaves else DONE


@jit.helper
def ends(resolution, floats, ints, ray, missed):
    """``accel_ends``."""
    if missed:
        if ints[ray, TRIANGLE] >= 0:
            return True
    elif floats[ray, T_HIT] < floats[ray, T_EXIT]:
        return True
    outside = False
    for axis in range(3):
        voxel = ints[ray, VOXEL + axis]
        outside = outside or voxel < 0 or voxel >= resolution[axis]
    return outside


@jit.helper
def address(resolution, ints, ray):
    """Of the voxel to visit next, x fastest."""
    return (ints[ray, VOXEL + 2] * resolution[1] + ints[ray, VOXEL + 1]) * resolution[0] + ints[ray, VOXEL]


@jit.helper
def step(box, resolution, pointers, floats, ints, ray, missed):
    """``traversal_step``."""
    ints[ray, LIST] = int(pointers[address(resolution, ints, ray)])
    axis, nearest = 0, ZERO
    for each in range(3):
        voxel = ints[ray, VOXEL + each]
        if floats[ray, INVERSE + each] > ZERO:
            voxel += 1
        plane = box[0, each] + np.float32(voxel) * box[2, each]
        t = (plane - floats[ray, ORIGIN + each]) * floats[ray, INVERSE + each]
        if each == 0 or not nearest <= t:
            axis, nearest = each, t
    floats[ray, T_EXIT] = nearest
    if floats[ray, INVERSE + axis] > ZERO:
        ints[ray, VOXEL + axis] += 1
    else:
        ints[ray, VOXEL + axis] -= 1
    if ints[ray, LIST] >= 0:
        return INTERSECT
    return DONE if ends(resolution, floats, ints, ray, missed) else TRAVERSE


@jit.helper
def entry(lists, ints, ray):
    """Triangle of the next list entry."""
    number = int(lists[ints[ray, LIST]])
    return -number - 1 if number < 0 else number


@jit.helper
def test(resolution, lists, corners, floats, ints, ray, missed):
    """``intersect`` with the test of Moeller and Trumbore."""
    triangle = entry(lists, ints, ray)
    ints[ray, LIST] = -1 if lists[ints[ray, LIST]] < ZERO else ints[ray, LIST] + 1
    ox, oy, oz = floats[ray, ORIGIN], floats[ray, ORIGIN + 1], floats[ray, ORIGIN + 2]
    dx, dy, dz = floats[ray, DIRECTION], floats[ray, DIRECTION + 1], floats[ray, DIRECTION + 2]
    t = distance(corners, triangle, ox, oy, oz, dx, dy, dz)
    if t > ZERO and not (missed and t > floats[ray, T_EXIT]):
        lower = t == floats[ray, T_HIT] and triangle < ints[ray, TRIANGLE]
        if t < floats[ray, T_HIT] or lower:
            floats[ray, T_HIT], ints[ray, TRIANGLE] = t, triangle
    if ints[ray, ANY_HIT] == 1 and ints[ray, TRIANGLE] >= 0:
        return DONE
    if ints[ray, LIST] >= 0:
        return INTERSECT
    return DONE if ends(resolution, floats, ints, ray, missed) else TRAVERSE
