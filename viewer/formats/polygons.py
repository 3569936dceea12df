"""Triangulation of polygons: n corners give n - 2 triangles in the polygon's winding, so that counts are known
before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import helper, run

# -- the compiled loops ------------------------------------------------------------------------------------------------

# Tests of corners against ears, over a file's polygons, after which the rest is cut into fans: about 2 s.
MAX_EAR_TESTS = 400_000_000


def cut_polygons(positions, corners, starts, lengths, triangles, hard, plane):
    """Triangles (T, 3) int64 as numbers into corners, except polygons for ear clipping; see `triangulate`.

    Written: the triangles; hard (H, 2) int64, polygons for ear clipping: number, and first of its n - 2 unfilled
    triangles. plane (N, 2) float64 for polygons of up to N corners: scratch. Returns the number of hard polygons; all
    have 5 corners or more.
    """
    t, hard_count = 0, 0
    for polygon in range(len(lengths)):
        start, n = starts[polygon], lengths[polygon]
        if n < 3:
            continue
        if n == 3 or not _project(positions, corners, start, n, plane) or _convex(plane, n):
            _cut_fan(triangles, t, start, n)
        elif n == 4:
            # Not convex: the inner diagonal is the one through the reflex corner.
            if _signed_area(plane, 0, 1, 2) <= 0.0 or _signed_area(plane, 2, 3, 0) <= 0.0:
                triangles[t, 0], triangles[t, 1], triangles[t, 2] = (start, start + 1, start + 3)
                triangles[t + 1, 0], triangles[t + 1, 1], triangles[t + 1, 2] = (start + 1, start + 2, start + 3)
            else:
                _cut_fan(triangles, t, start, n)
        else:
            hard[hard_count, 0], hard[hard_count, 1] = polygon, t
            hard_count += 1
        t += n - 2
    return hard_count


def scratch(longest):
    """Scratch arrays of `clip_polygons` for polygons of up to ``longest`` corners: numbers, cell_start, bounds."""
    return np.empty((7, longest), np.int64), np.empty(longest + 1, np.int64), np.empty((3, 2))


def clip_polygons(positions, corners, starts, lengths, triangles, hard, plane, indices, cell_start, bounds):
    """Fill in the triangles of hard polygons; returns the number of polygons beyond the budget.

    plane: as in `cut_polygons`. The rest: `scratch`.
    """
    budget, tangled = MAX_EAR_TESTS, 0
    for k in range(len(hard)):
        start, n = starts[hard[k, 0]], lengths[hard[k, 0]]
        _project(positions, corners, start, n, plane)
        budget = _clip_ears(plane, n, triangles, hard[k, 1], start, budget, indices, cell_start, bounds)
        if budget <= 0:
            tangled += 1
    return tangled


@helper
def _cut_fan(triangles, at, start, n):
    """Write the n - 2 triangles around a polygon's first corner ``start``, from triangle ``at`` on."""
    for k in range(n - 2):
        triangles[at + k, 0], triangles[at + k, 1], triangles[at + k, 2] = start, start + k + 1, start + k + 2


@helper
def _project(positions, corners, start, n, plane):
    """The polygon projected to its largest side, counter-clockwise; False if it has no area or is not finite."""
    nx, ny, nz = 0.0, 0.0, 0.0
    o = corners[start]
    ox, oy, oz = np.float64(positions[o, 0]), np.float64(positions[o, 1]), np.float64(positions[o, 2])
    ax, ay, az = 0.0, 0.0, 0.0
    for k in range(1, n + 1):
        v = corners[start + k % n]
        bx, by, bz = positions[v, 0] - ox, positions[v, 1] - oy, positions[v, 2] - oz
        nx += ay * bz - az * by
        ny += az * bx - ax * bz
        nz += ax * by - ay * bx
        ax, ay, az = bx, by, bz
    size = abs(nx) + abs(ny) + abs(nz)
    if not (size > 0.0 and size < np.inf):
        return False
    if abs(nx) >= abs(ny) and abs(nx) >= abs(nz):
        i, j, positive = 1, 2, nx > 0
    elif abs(ny) >= abs(nz):
        i, j, positive = 2, 0, ny > 0
    else:
        i, j, positive = 0, 1, nz > 0
    if not positive:
        i, j = j, i
    for k in range(n):
        v = corners[start + k]
        plane[k, 0] = np.float64(positions[v, i]) - np.float64(positions[o, i])
        plane[k, 1] = np.float64(positions[v, j]) - np.float64(positions[o, j])
    return True


@helper
def _signed_area(plane, a, b, c):
    """Twice the signed area of the triangle a, b, c: positive where the path turns left at b."""
    return (plane[b, 0] - plane[a, 0]) * (plane[c, 1] - plane[b, 1]) - (plane[b, 1] - plane[a, 1]) * (
        plane[c, 0] - plane[b, 0]
    )


@helper
def _convex(plane, n):
    """Whether every corner turns left or goes straight on, once around (x changes its direction twice)."""
    changes = 0
    last = 0
    first = 0
    for k in range(n):
        b, c = (k + 1) % n, (k + 2) % n
        if _signed_area(plane, k, b, c) < 0.0:
            return False
        step = plane[b, 0] - plane[k, 0]
        sign = 1 if step > 0 else (-1 if step < 0 else 0)
        if sign != 0:
            if last != 0 and sign != last:
                changes += 1
            if first == 0:
                first = sign
            last = sign
    if first != last:
        changes += 1
    return changes <= 2


@helper
def _is_inside_ear(plane, p, a, b, c):
    """Whether corner p lies in the triangle a, b, c or on its border, other than at a corner."""
    x, y = plane[p, 0], plane[p, 1]
    for k in range(3):
        q = a if k == 0 else (b if k == 1 else c)
        if plane[q, 0] == x and plane[q, 1] == y:
            return False
    return (
        _signed_area(plane, a, b, p) >= 0.0
        and _signed_area(plane, b, c, p) >= 0.0
        and _signed_area(plane, c, a, p) >= 0.0
    )


@helper
def _clip_ears(plane, n, triangles, t, start, budget, indices, cell_start, bounds):
    """Ear clipping of a simple polygon of n corners, at least 5. Returns the rest of the budget (0: exhausted).

    Where a full turn finds no ear (touching or crossing edges), the cut is at, in this order: a collinear corner, a
    convex corner, any corner.
    """
    previous, following = indices[0], indices[1]
    reflex = indices[2]  # candidates inside ears: reflex or collinear corners
    reflex_position = indices[3]  # of each corner in that list, or -1
    cell_corner, cell_of, cursor = indices[4], indices[5], indices[6]
    blockers = 0
    low, high, scale = bounds[0], bounds[1], bounds[2]
    low[0] = low[1] = np.inf
    high[0] = high[1] = -np.inf
    for k in range(n):
        reflex_position[k] = -1
        previous[k] = (k + n - 1) % n
        following[k] = (k + 1) % n
        for axis in range(2):
            low[axis] = min(low[axis], plane[k, axis])
            high[axis] = max(high[axis], plane[k, axis])
    for k in range(n):
        if _signed_area(plane, previous[k], k, following[k]) <= 0.0:
            reflex_position[k] = blockers
            reflex[blockers] = k
            blockers += 1

    # A grid over the candidates: corners of a cell are cell_corner[cell_start[cell]:cell_start[cell + 1]].
    side = max(1, min(1024, int(np.sqrt(blockers))))
    for axis in range(2):
        scale[axis] = side / (high[axis] - low[axis]) if high[axis] > low[axis] else 0.0
    for cell in range(side * side + 1):
        cell_start[cell] = 0
    for k in range(blockers):
        i = min(side - 1, int((plane[reflex[k], 0] - low[0]) * scale[0]))
        j = min(side - 1, int((plane[reflex[k], 1] - low[1]) * scale[1]))
        cell_of[k] = j * side + i
        cell_start[cell_of[k] + 1] += 1
    for cell in range(side * side):
        cell_start[cell + 1] += cell_start[cell]
    for cell in range(side * side):
        cursor[cell] = cell_start[cell]
    for k in range(blockers):
        cell_corner[cursor[cell_of[k]]] = reflex[k]
        cursor[cell_of[k]] += 1

    remaining, rejected, relaxation = n, 0, 0
    b = 0
    while remaining > 3:
        a, c = previous[b], following[b]
        area = _signed_area(plane, a, b, c)
        ear = relaxation == 3 or (relaxation == 2 and area > 0.0) or (relaxation == 1 and area == 0.0)
        budget -= 1
        if relaxation == 0 and area > 0.0:
            ear = True
            x_low, x_high = min(plane[a, 0], plane[b, 0], plane[c, 0]), max(plane[a, 0], plane[b, 0], plane[c, 0])
            y_low, y_high = min(plane[a, 1], plane[b, 1], plane[c, 1]), max(plane[a, 1], plane[b, 1], plane[c, 1])
            i_low = min(side - 1, int((x_low - low[0]) * scale[0]))
            i_high = min(side - 1, int((x_high - low[0]) * scale[0]))
            j_low = min(side - 1, int((y_low - low[1]) * scale[1]))
            j_high = min(side - 1, int((y_high - low[1]) * scale[1]))
            if (i_high - i_low + 1) * (j_high - j_low + 1) < blockers:
                for j in range(j_low, j_high + 1):
                    for i in range(i_low, i_high + 1):
                        cell = j * side + i
                        budget -= 1 + cell_start[cell + 1] - cell_start[cell]
                        for k in range(cell_start[cell], cell_start[cell + 1]):
                            p = cell_corner[k]
                            if reflex_position[p] >= 0 and _is_inside_ear(plane, p, a, b, c):
                                ear = False
                                break
                        if not ear:
                            break
                    if not ear:
                        break
            else:
                budget -= blockers
                for k in range(blockers):
                    if _is_inside_ear(plane, reflex[k], a, b, c):
                        ear = False
                        break
        if budget <= 0:
            break
        if not ear:
            b = c
            rejected += 1
            if rejected >= remaining:
                rejected = 0
                relaxation += 1
            continue
        triangles[t, 0], triangles[t, 1], triangles[t, 2] = (start + a, start + b, start + c)
        t += 1
        remaining -= 1
        rejected, relaxation = 0, 0
        following[a] = c
        previous[c] = a
        for k in range(3):
            q = a if k == 0 else (b if k == 1 else c)
            blocking = q != b and _signed_area(plane, previous[q], q, following[q]) <= 0.0
            if reflex_position[q] >= 0 and not blocking:
                blockers -= 1
                last_reflex = reflex[blockers]
                reflex[reflex_position[q]] = last_reflex
                reflex_position[last_reflex] = reflex_position[q]
                reflex_position[q] = -1
        b = following[c]  # skipping one makes fewer slivers
    a = b
    while remaining >= 3:
        triangles[t, 0], triangles[t, 1], triangles[t, 2] = (
            start + a,
            start + following[b],
            start + following[following[b]],
        )
        t += 1
        remaining -= 1
        b = following[b]
    return max(budget, 0)


# -- triangulation of polygons -----------------------------------------------------------------------------------------

Long = NDArray[np.int64]

# Number of corners below which the loops are not worth compiling.
SMALL = 1000


def triangulate(positions: NDArray, corners: Long, lengths: Long) -> tuple[Long, Long, int]:
    """Triangles of polygons, as numbers of corners.

    positions (V, 3) float; corners (C,) vertex numbers in range, polygon by polygon; lengths (P,) corners of each
    (fewer than 3 give no triangle). Returns (triangles (T, 3) numbers into ``corners``, polygon (T,) of each, number of
    polygons too tangled for ear clipping, partly cut as fans).

    Convex polygons become fans around their first corner; quadrilaterals are cut along the inner diagonal; others by
    ear clipping (Meisters 1975), tested against nearby reflex corners from a grid. Non-planar polygons are projected
    along their largest normal component (Newell's normal).
    """
    lengths = np.require(lengths, np.int64, ["C"])
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    if len(lengths) and (lengths == 3).all():
        return np.arange(3 * len(lengths)).reshape(-1, 3), np.arange(len(lengths)), 0
    counts = np.maximum(lengths - 2, 0)
    polygon = np.repeat(np.arange(len(lengths)), counts)
    if not len(polygon):
        return np.zeros((0, 3), np.int64), polygon, 0
    polygons = (np.require(positions, np.float32, ["C"]), np.require(corners, np.int64, ["C"]), starts, lengths)
    triangles, plane = np.empty((len(polygon), 3), np.int64), np.empty((max(4, int(lengths.max())), 2))
    hard = np.empty((int(np.count_nonzero(lengths > 4)), 2), np.int64)
    hard_count = run(cut_polygons, *polygons, triangles, hard, plane, small=len(corners) < SMALL)
    hard = hard[:hard_count]
    if not hard_count:
        return triangles, polygon, 0
    # Separate loops: few files need them, and they take seconds to compile.
    scratch_arrays = scratch(int(lengths[hard[:, 0]].max()))
    small = int(lengths[hard[:, 0]].sum()) < SMALL
    return triangles, polygon, run(clip_polygons, *polygons, triangles, hard, plane, *scratch_arrays, small=small)
