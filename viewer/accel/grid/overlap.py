"""Voxels overlapped by a triangle: the loops of the grid builder, compiled by numba where that pays.

The overlap test is the separating axis test of Akenine-Moeller ("Fast 3D triangle-box overlap testing", 2001): 3 box
axes, the triangle's normal, and 9 cross products of edges and axes, the latter as edges of the triangle's three
projections (Schwarz and Seidel, "Fast parallel surface and solid voxelization on GPUs", 2010, section 4.1). Each axis
bounds the voxel's index linearly, so for a row of voxels along x every axis is one interval, and the row's overlapped
voxels are their intersection: the cost depends on the voxels found, not on the triangle's bounding box.

All arithmetic is in voxel units and float64: voxel i spans [i - margin, i + 1 + margin]. The triangle's interval on an
axis always covers its three corners, so an axis bent by rounding (thin triangles) separates less, but never wrongly.

The functions also run uncompiled: for a few hundred triangles that takes milliseconds, no more than loading compiled
ones. Compiled, they release the interpreter lock for threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import helper, run

Floats = NDArray[np.floating]
Bounds = tuple[float, float]  # of an interval; empty if the first is larger

# An axis whose component along the row is below this share of the other counts as perpendicular to the row: over 2048
# voxels an error below 1e-8 voxels, and quotients stay far from overflow.
PARALLEL = 1e-12
BOX = 2  # value of `keep`: voxels overlap the triangle's bounds, not the triangle alone


def survey(corners: Floats, first: int, last: int, keep: NDArray[np.uint8], bounds: Floats, sums: Floats) -> None:
    """Bounds of the triangles first .. last - 1, and their sums for the choice of resolution.

    corners (T, 3, 3) float32.  keep (T,) uint8, written: 0 for unhittable triangles (a non-finite corner; a cross
    product of edges that vanishes in float64).  bounds (2, 3) float64, updated.  sums (6,) float64, incremented:
    extents along x, y, z; areas of the projections along x, y, z.
    """
    lx, ly, lz = bounds[0, 0], bounds[0, 1], bounds[0, 2]
    hx, hy, hz = bounds[1, 0], bounds[1, 1], bounds[1, 2]
    ex = ey = ez = px = py = pz = 0.0
    for t in range(first, last):
        ax, ay, az = float(corners[t, 0, 0]), float(corners[t, 0, 1]), float(corners[t, 0, 2])
        bx, by, bz = float(corners[t, 1, 0]), float(corners[t, 1, 1]), float(corners[t, 1, 2])
        cx, cy, cz = float(corners[t, 2, 0]), float(corners[t, 2, 1]), float(corners[t, 2, 2])
        keep[t] = 0
        if not math.isfinite(ax + ay + az + bx + by + bz + cx + cy + cz):
            continue
        ux, uy, uz = bx - ax, by - ay, bz - az
        vx, vy, vz = cx - ax, cy - ay, cz - az
        nx, ny, nz = abs(uy * vz - uz * vy), abs(uz * vx - ux * vz), abs(ux * vy - uy * vx)
        if nx == 0.0 and ny == 0.0 and nz == 0.0:
            continue
        keep[t] = 1
        x0, x1 = min(ax, bx, cx), max(ax, bx, cx)
        y0, y1 = min(ay, by, cy), max(ay, by, cy)
        z0, z1 = min(az, bz, cz), max(az, bz, cz)
        lx, ly, lz = min(lx, x0), min(ly, y0), min(lz, z0)
        hx, hy, hz = max(hx, x1), max(hy, y1), max(hz, z1)
        ex += x1 - x0
        ey += y1 - y0
        ez += z1 - z0
        px += 0.5 * nx
        py += 0.5 * ny
        pz += 0.5 * nz
    bounds[0, 0], bounds[0, 1], bounds[0, 2] = lx, ly, lz
    bounds[1, 0], bounds[1, 1], bounds[1, 2] = hx, hy, hz
    sums[0] += ex
    sums[1] += ey
    sums[2] += ez
    sums[3] += px
    sums[4] += py
    sums[5] += pz


@helper
def _edge(
    p0: float,
    q0: float,
    p1: float,
    q1: float,
    p2: float,
    q2: float,
    side: float,
    p_margin: float,
    q_margin: float,
) -> tuple[int, float, float]:
    """Edge 0-1 of a projected triangle as a bound on p: (sign, a, b) with p >= a q + b (sign 1), <= (-1), or, free of
    p, a q + b >= 0 (sign 0), unless the voxel (p, q) is wholly outside of the edge.

    side: 1 if corners 0, 1, 2 are counter-clockwise in (p, q), else -1; it gives the inward normal.
    """
    n_p, n_q = side * (q0 - q1), side * (p1 - p0)
    if abs(n_p) <= PARALLEL * abs(n_q):
        n_p = 0.0
    inner = min(n_p * p0 + n_q * q0, n_p * p1 + n_q * q1, n_p * p2 + n_q * q2)
    reach = n_p * (1.0 + p_margin) if n_p > 0.0 else -n_p * p_margin
    reach += n_q * (1.0 + q_margin) if n_q > 0.0 else -n_q * q_margin
    offset = reach - inner
    if n_p == 0.0:
        return 0, n_q, offset
    return (1 if n_p > 0.0 else -1), -n_q / n_p, -offset / n_p


@helper
def _narrow(sign: int, a: float, b: float, q: int, low: float, high: float) -> Bounds:
    """The interval of p, cut by an edge's bound at q; an empty one is (1, 0)."""
    bound = a * q + b
    if sign > 0:
        return max(low, bound), high
    if sign < 0:
        return low, min(high, bound)
    return (low, high) if bound >= 0.0 else (1.0, 0.0)


def enter(
    corners: Floats,
    keep: NDArray[np.uint8],
    first: int,
    last: int,
    low: Floats,
    voxel: Floats,
    margin: Floats,
    resolution: NDArray[np.int64],
    counts: NDArray[np.int32],
    block: NDArray[np.int32],
) -> tuple[int, int]:
    """Voxels overlapped by the triangles first .. last - 1, until `block` is full.

    corners (T, 3, 3) float32; keep (T,) uint8, 0: skipped; low, voxel (3,) float64, world; margin (3,) float64, in
    voxels; resolution (3,) int64.  counts (nx ny nz,) int32: incremented per triangle in a voxel.  block (B,) int32,
    written: ~t starts the list of triangle t's voxel numbers (x fastest). Returns the next triangle (`last` when done)
    and the number of entries used.
    """
    nx, ny, nz = resolution[0], resolution[1], resolution[2]
    lx, ly, lz = low[0], low[1], low[2]
    sx, sy, sz = 1.0 / voxel[0], 1.0 / voxel[1], 1.0 / voxel[2]
    mx, my, mz = margin[0], margin[1], margin[2]
    capacity = len(block)
    used = 0
    for t in range(first, last):
        if keep[t] == 0:
            continue
        ax, ay, az = (corners[t, 0, 0] - lx) * sx, (corners[t, 0, 1] - ly) * sy, (corners[t, 0, 2] - lz) * sz
        bx, by, bz = (corners[t, 1, 0] - lx) * sx, (corners[t, 1, 1] - ly) * sy, (corners[t, 1, 2] - lz) * sz
        cx, cy, cz = (corners[t, 2, 0] - lx) * sx, (corners[t, 2, 1] - ly) * sy, (corners[t, 2, 2] - lz) * sz
        x0, x1 = max(0, math.floor(min(ax, bx, cx) - mx)), min(nx - 1, math.floor(max(ax, bx, cx) + mx))
        y0, y1 = max(0, math.floor(min(ay, by, cy) - my)), min(ny - 1, math.floor(max(ay, by, cy) + my))
        z0, z1 = max(0, math.floor(min(az, bz, cz) - mz)), min(nz - 1, math.floor(max(az, bz, cz) + mz))
        start = used
        if used == capacity:
            return t, start
        block[used] = ~t
        used += 1
        # For a triangle within one slab of voxels, only the projection onto that slab can separate; within one row of
        # voxels nothing can.
        cut = keep[t] != BOX
        wide_x, wide_y, wide_z = cut and x1 > x0, cut and y1 > y0, cut and z1 > z0
        use_xy, use_yz, use_xz = wide_x and wide_y, wide_y and wide_z, wide_x and wide_z
        use_plane = use_xy and wide_z
        if use_xy or use_plane:
            side = 1.0 if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) >= 0.0 else -1.0
            xy0, xya0, xyb0 = _edge(ax, ay, bx, by, cx, cy, side, mx, my)
            xy1, xya1, xyb1 = _edge(bx, by, cx, cy, ax, ay, side, mx, my)
            xy2, xya2, xyb2 = _edge(cx, cy, ax, ay, bx, by, side, mx, my)
        if use_yz:
            side = 1.0 if (by - ay) * (cz - az) - (bz - az) * (cy - ay) >= 0.0 else -1.0
            yz0, yza0, yzb0 = _edge(ay, az, by, bz, cy, cz, side, my, mz)
            yz1, yza1, yzb1 = _edge(by, bz, cy, cz, ay, az, side, my, mz)
            yz2, yza2, yzb2 = _edge(cy, cz, ay, az, by, bz, side, my, mz)
        if use_xz:
            side = 1.0 if (bx - ax) * (cz - az) - (bz - az) * (cx - ax) >= 0.0 else -1.0
            xz0, xza0, xzb0 = _edge(ax, az, bx, bz, cx, cz, side, mx, mz)
            xz1, xza1, xzb1 = _edge(bx, bz, cx, cz, ax, az, side, mx, mz)
            xz2, xza2, xzb2 = _edge(cx, cz, ax, az, bx, bz, side, mx, mz)
        px = py = pz = plane_low = plane_high = 0.0
        if use_plane:
            px = (by - ay) * (cz - az) - (bz - az) * (cy - ay)
            py = (bz - az) * (cx - ax) - (bx - ax) * (cz - az)
            pz = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            if px < 0.0:
                px, py, pz = -px, -py, -pz
            if px <= PARALLEL * max(abs(py), abs(pz)):
                px = 0.0
            da, db, dc = (
                px * ax + py * ay + pz * az,
                px * bx + py * by + pz * bz,
                px * cx + py * cy + pz * cz,
            )
            # px x + py y + pz z is in [plane_low, plane_high] for overlapped voxels (x, y, z)
            grow = px * mx + abs(py) * my + abs(pz) * mz
            plane_low = min(da, db, dc) - (px + max(py, 0.0) + max(pz, 0.0)) - grow
            plane_high = max(da, db, dc) - (min(py, 0.0) + min(pz, 0.0)) + grow
        for z in range(z0, z1 + 1):
            y_low, y_high = float(y0), float(y1)
            if use_yz:
                y_low, y_high = _narrow(yz0, yza0, yzb0, z, y_low, y_high)
                y_low, y_high = _narrow(yz1, yza1, yzb1, z, y_low, y_high)
                y_low, y_high = _narrow(yz2, yza2, yzb2, z, y_low, y_high)
            row_low, row_high = float(x0), float(x1)
            if use_xz:
                row_low, row_high = _narrow(xz0, xza0, xzb0, z, row_low, row_high)
                row_low, row_high = _narrow(xz1, xza1, xzb1, z, row_low, row_high)
                row_low, row_high = _narrow(xz2, xza2, xzb2, z, row_low, row_high)
            if y_low > y_high or row_low > row_high:
                continue
            for y in range(math.ceil(y_low), math.floor(y_high) + 1):
                x_low, x_high = row_low, row_high
                if use_xy:
                    x_low, x_high = _narrow(xy0, xya0, xyb0, y, x_low, x_high)
                    x_low, x_high = _narrow(xy1, xya1, xyb1, y, x_low, x_high)
                    x_low, x_high = _narrow(xy2, xya2, xyb2, y, x_low, x_high)
                if use_plane:
                    offset = py * y + pz * z
                    if px > 0.0:
                        x_low = max(x_low, (plane_low - offset) / px)
                        x_high = min(x_high, (plane_high - offset) / px)
                    elif offset < plane_low or offset > plane_high:
                        continue
                if x_low > x_high:
                    continue
                begin, end = math.ceil(x_low), math.floor(x_high) + 1
                if used + end - begin > capacity:
                    for k in range(start + 1, used):
                        counts[block[k]] -= 1
                    return t, start
                row = (z * ny + y) * nx
                for x in range(row + begin, row + end):
                    block[used] = x
                    used += 1
                    counts[x] += 1
    return last, used


def address(counts: NDArray[np.int32], pointers: Floats) -> tuple[int, int, int]:
    """Lay the lists out voxel by voxel, each with room for its terminator.

    counts (W, V) int32: triangles per worker and voxel; replaced by the start of each worker's part of the voxel's
    list. pointers (V,) float32, written: the address of the voxel's list, -1 if it is empty. Returns entries, full
    voxels, longest list.
    """
    workers, voxels = counts.shape
    place = full = longest = 0
    for v in range(voxels):
        begin = place
        for w in range(workers):
            count = counts[w, v]
            counts[w, v] = place
            place += count
        length = place - begin
        if length == 0:
            pointers[v] = -1.0
        else:
            pointers[v] = begin
            full += 1
            longest = max(longest, length)
            place += 1
    return place, full, longest


def fill(block: NDArray[np.int32], cursors: NDArray[np.int32], lists: Floats) -> None:
    """Write one block of `enter` into the lists; cursors (V,) int32: the next free address of each voxel."""
    triangle = np.float32(0.0)
    for entry in block:
        if entry < 0:
            triangle = np.float32(~entry)
        else:
            lists[cursors[entry]] = triangle
            cursors[entry] += 1


class Loops(NamedTuple):
    """The four loops of the builder, compiled or interpreted."""

    survey: Callable[..., None]
    enter: Callable[..., tuple[int, int]]
    address: Callable[..., tuple[int, int, int]]
    fill: Callable[..., None]


PLAIN = Loops(survey, enter, address, fill)
COMPILED = Loops(*(partial(run, loop) for loop in PLAIN))
