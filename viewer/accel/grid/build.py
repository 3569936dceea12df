"""The uniform grid: built on the host, laid out as in Purcell's dissertation (2004), figure 5.1."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid.cost import (
    MAX_ADDRESS,
    MAX_AXIS_VOXELS,
    MAX_VOXELS,
    Resolution,
    Survey,
    by_minimal_dimension,
    cheapest,
    parse,
    scaled,
    within_limits,
)
from raystream.base.errors import ViewerError
from raystream.base.jit import helper, run

# -- voxels overlapped by a triangle: compiled loops -------------------------------------------------------------------
# The overlap test is the separating axis test of Akenine-Moeller ("Fast 3D triangle-box overlap testing", 2001): 3
# box axes, the triangle's normal, and 9 cross products of edges and axes, the latter as edges of the triangle's
# three projections (Schwarz and Seidel, "Fast parallel surface and solid voxelization on GPUs", 2010, section 4.1).
# Each axis bounds the voxel's index linearly, so for a row of voxels along x every axis is one interval, and the
# row's overlapped voxels are their intersection: the cost depends on the voxels found, not on the triangle's
# bounding box.
# All arithmetic is in voxel units and float64: voxel i spans [i - margin, i + 1 + margin]. The triangle's interval
# on an axis always covers its three corners, so an axis bent by rounding (thin triangles) separates less, but never
# wrongly.
# The functions also run uncompiled: for a few hundred triangles that takes milliseconds, no more than loading
# compiled ones. Compiled, they release the interpreter lock for threads.

Floats = NDArray[np.floating]
Bounds = tuple[float, float]  # of an interval; empty if the first is larger

# An axis whose component along the row is below this share of the other counts as perpendicular to the row: over 2048
# voxels an error below 1e-8 voxels, and quotients stay far from overflow.
PARALLEL_RATIO = 1e-12
BOX = 2  # value of `keep`: voxels overlap the triangle's bounds, not the triangle alone


def survey(corners: Floats, first: int, last: int, keep: NDArray[np.uint8], bounds: Floats, sums: Floats) -> None:
    """Bounds of the triangles first .. last - 1, and their sums for the choice of resolution.

    corners (T, 3, 3) float32.  keep (T,) uint8, written: 0 for unhittable triangles (a non-finite corner; a cross
    product of edges that vanishes in float64).  bounds (2, 3) float64, updated.  sums (6,) float64, incremented:
    extents along x, y, z; areas of the projections along x, y, z.
    """
    lx, ly, lz = bounds[0, 0], bounds[0, 1], bounds[0, 2]
    hx, hy, hz = bounds[1, 0], bounds[1, 1], bounds[1, 2]
    extent_x = extent_y = extent_z = area_x = area_y = area_z = 0.0
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
        extent_x += x1 - x0
        extent_y += y1 - y0
        extent_z += z1 - z0
        area_x += 0.5 * nx
        area_y += 0.5 * ny
        area_z += 0.5 * nz
    bounds[0, 0], bounds[0, 1], bounds[0, 2] = lx, ly, lz
    bounds[1, 0], bounds[1, 1], bounds[1, 2] = hx, hy, hz
    sums[0] += extent_x
    sums[1] += extent_y
    sums[2] += extent_z
    sums[3] += area_x
    sums[4] += area_y
    sums[5] += area_z


@helper
def _edge_bound(
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
    if abs(n_p) <= PARALLEL_RATIO * abs(n_q):
        n_p = 0.0
    inner = min(n_p * p0 + n_q * q0, n_p * p1 + n_q * q1, n_p * p2 + n_q * q2)
    reach = n_p * (1.0 + p_margin) if n_p > 0.0 else -n_p * p_margin
    reach += n_q * (1.0 + q_margin) if n_q > 0.0 else -n_q * q_margin
    offset = reach - inner
    if n_p == 0.0:
        return 0, n_q, offset
    return (1 if n_p > 0.0 else -1), -n_q / n_p, -offset / n_p


@helper
def _clip_interval(sign: int, a: float, b: float, q: int, low: float, high: float) -> Bounds:
    """The interval low .. high of p clipped by an edge's bound (`_edge_bound`) at q; an empty one is (1, 0)."""
    bound = a * q + b
    if sign > 0:
        return max(low, bound), high
    if sign < 0:
        return low, min(high, bound)
    return (low, high) if bound >= 0.0 else (1.0, 0.0)


def list_voxels(
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
        tests_triangle = keep[t] != BOX
        wide_x, wide_y, wide_z = tests_triangle and x1 > x0, tests_triangle and y1 > y0, tests_triangle and z1 > z0
        use_xy, use_yz, use_xz = wide_x and wide_y, wide_y and wide_z, wide_x and wide_z
        use_plane = use_xy and wide_z
        if use_xy or use_plane:
            side = 1.0 if (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) >= 0.0 else -1.0
            xy0, xya0, xyb0 = _edge_bound(ax, ay, bx, by, cx, cy, side, mx, my)
            xy1, xya1, xyb1 = _edge_bound(bx, by, cx, cy, ax, ay, side, mx, my)
            xy2, xya2, xyb2 = _edge_bound(cx, cy, ax, ay, bx, by, side, mx, my)
        if use_yz:
            side = 1.0 if (by - ay) * (cz - az) - (bz - az) * (cy - ay) >= 0.0 else -1.0
            yz0, yza0, yzb0 = _edge_bound(ay, az, by, bz, cy, cz, side, my, mz)
            yz1, yza1, yzb1 = _edge_bound(by, bz, cy, cz, ay, az, side, my, mz)
            yz2, yza2, yzb2 = _edge_bound(cy, cz, ay, az, by, bz, side, my, mz)
        if use_xz:
            side = 1.0 if (bx - ax) * (cz - az) - (bz - az) * (cx - ax) >= 0.0 else -1.0
            xz0, xza0, xzb0 = _edge_bound(ax, az, bx, bz, cx, cz, side, mx, mz)
            xz1, xza1, xzb1 = _edge_bound(bx, bz, cx, cz, ax, az, side, mx, mz)
            xz2, xza2, xzb2 = _edge_bound(cx, cz, ax, az, bx, bz, side, mx, mz)
        normal_x = normal_y = normal_z = plane_low = plane_high = 0.0
        if use_plane:
            normal_x = (by - ay) * (cz - az) - (bz - az) * (cy - ay)
            normal_y = (bz - az) * (cx - ax) - (bx - ax) * (cz - az)
            normal_z = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            if normal_x < 0.0:
                normal_x, normal_y, normal_z = -normal_x, -normal_y, -normal_z
            if normal_x <= PARALLEL_RATIO * max(abs(normal_y), abs(normal_z)):
                normal_x = 0.0
            da, db, dc = (
                normal_x * ax + normal_y * ay + normal_z * az,
                normal_x * bx + normal_y * by + normal_z * bz,
                normal_x * cx + normal_y * cy + normal_z * cz,
            )
            # px x + py y + pz z is in [plane_low, plane_high] for overlapped voxels (x, y, z)
            widening = normal_x * mx + abs(normal_y) * my + abs(normal_z) * mz
            plane_low = min(da, db, dc) - (normal_x + max(normal_y, 0.0) + max(normal_z, 0.0)) - widening
            plane_high = max(da, db, dc) - (min(normal_y, 0.0) + min(normal_z, 0.0)) + widening
        for z in range(z0, z1 + 1):
            y_low, y_high = float(y0), float(y1)
            if use_yz:
                y_low, y_high = _clip_interval(yz0, yza0, yzb0, z, y_low, y_high)
                y_low, y_high = _clip_interval(yz1, yza1, yzb1, z, y_low, y_high)
                y_low, y_high = _clip_interval(yz2, yza2, yzb2, z, y_low, y_high)
            row_low, row_high = float(x0), float(x1)
            if use_xz:
                row_low, row_high = _clip_interval(xz0, xza0, xzb0, z, row_low, row_high)
                row_low, row_high = _clip_interval(xz1, xza1, xzb1, z, row_low, row_high)
                row_low, row_high = _clip_interval(xz2, xza2, xzb2, z, row_low, row_high)
            if y_low > y_high or row_low > row_high:
                continue
            for y in range(math.ceil(y_low), math.floor(y_high) + 1):
                x_low, x_high = row_low, row_high
                if use_xy:
                    x_low, x_high = _clip_interval(xy0, xya0, xyb0, y, x_low, x_high)
                    x_low, x_high = _clip_interval(xy1, xya1, xyb1, y, x_low, x_high)
                    x_low, x_high = _clip_interval(xy2, xya2, xyb2, y, x_low, x_high)
                if use_plane:
                    offset = normal_y * y + normal_z * z
                    if normal_x > 0.0:
                        x_low = max(x_low, (plane_low - offset) / normal_x)
                        x_high = min(x_high, (plane_high - offset) / normal_x)
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


def lay_out_lists(counts: NDArray[np.int32], pointers: Floats) -> tuple[int, int, int]:
    """Lay the lists out voxel by voxel, each with room for its terminator.

    counts (W, V) int32: triangles per worker and voxel; replaced by the start of each worker's part of the voxel's
    list. pointers (V,) float32, written: the address of the voxel's list, -1 if it is empty. Returns entries, full
    voxels, longest list.
    """
    workers, voxels = counts.shape
    offset = full = longest = 0
    for v in range(voxels):
        start = offset
        for w in range(workers):
            count = counts[w, v]
            counts[w, v] = offset
            offset += count
        length = offset - start
        if length == 0:
            pointers[v] = -1.0
        else:
            pointers[v] = start
            full += 1
            longest = max(longest, length)
            offset += 1
    return offset, full, longest


def fill_lists(block: NDArray[np.int32], cursors: NDArray[np.int32], lists: Floats) -> None:
    """Write one block of `list_voxels` into the lists; cursors (V,) int32: the next free address of each voxel."""
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
    list_voxels: Callable[..., tuple[int, int]]
    lay_out_lists: Callable[..., tuple[int, int, int]]
    fill_lists: Callable[..., None]


PLAIN = Loops(survey, list_voxels, lay_out_lists, fill_lists)
COMPILED = Loops(*(partial(run, loop) for loop in PLAIN))


# -- the uniform grid --------------------------------------------------------------------------------------------------

ROUNDING = 2.0**-24  # largest relative error of one float32 operation
MAX_ORIGIN_DIAGONALS = 16.0  # traversal is exact for rays from within this many diagonals of the box
# Least margin of triangle overlap, as a share of a voxel: far above the overlap test's own rounding in float64 (1e-12),
# with room for the rounding of hit distances; about 0.2 % more references.
MIN_MARGIN = 1e-3
# Least thickness of a box, so that edges and their inverses stay normal float32 numbers.
MIN_EXTENT = 1e-30
# Beyond these numbers of triangles, or of list entries and voxels, compiled loops are worth their tens of milliseconds
# of loading.
PLAIN_TRIANGLES, PLAIN_ENTRIES, PLAIN_VOXELS = 512, 1 << 13, 1 << 15
TRIANGLES_PER_WORKER = 1 << 15  # fewer are not worth a thread
MAX_WORKERS = 4  # each has its own counts of triangles per voxel, up to 64 MiB
FIRST_BLOCK, NEXT_BLOCK = 1 << 12, 1 << 18  # entries

Result = TypeVar("Result")


@dataclass(frozen=True)
class Grid:
    """A uniform grid over world-space triangles; addresses and triangle numbers are float32, exact up to 2^24.

    low        : (3,) float32, lowest corner of the grid's box, world space.
    voxel      : (3,) float32, edge lengths of a voxel, world units; voxel (i, j, k) begins at low + (i, j, k) voxel.
    resolution : voxels along x, y, z.
    pointers   : (nz, ny, nx) float32, address in `lists` of the voxel's triangle list, -1 if it is empty.
    lists      : (L,) float32, triangle numbers, ascending within each voxel and terminated by -1.
    statistics : counts, expected costs, seconds and bytes of the build, by name.
    """

    low: NDArray[np.float32]
    voxel: NDArray[np.float32]
    resolution: Resolution
    pointers: NDArray[np.float32]
    lists: NDArray[np.float32]
    statistics: dict[str, float | int]


@dataclass(frozen=True)
class _Triangles:
    """The input triangles: corners (T, 3, 3); keep (T,) uint8; bounds (2, 3) float64; and their survey."""

    corners: NDArray[np.float32]
    keep: NDArray[np.uint8]
    bounds: NDArray[np.float64]
    survey: Survey


@dataclass(frozen=True)
class _Entries:
    """Triangles listed in voxels, and the addresses of the lists.

    low, voxel : (3,) float32, world.
    blocks     : per worker, the output of `list_voxels`.
    cursors    : (workers, voxels) int32, the start of each worker's part of a voxel's list.
    pointers   : (voxels,) float32.
    """

    low: NDArray[np.float32]
    voxel: NDArray[np.float32]
    resolution: Resolution
    blocks: list[list[NDArray[np.int32]]]
    cursors: NDArray[np.int32]
    pointers: NDArray[np.float32]
    length: int
    full: int
    longest: int


@dataclass(frozen=True)
class _Workers:
    """The workers: a `map` over threads or the built-in one, and the range of triangles of each worker."""

    map: Callable[[Callable, Iterable], Iterator]
    ranges: list[tuple[int, int]]


def build(
    corners: NDArray[np.float32],
    resolution: int | str | Resolution = "auto",
    progress: Callable[[float], None] | None = None,
    boxed: NDArray[np.bool_] | None = None,
) -> Grid:
    """Build a uniform grid: every triangle is listed in the voxels that it overlaps, widened by traversal's rounding.

    corners    : (T, 3, 3) float32, world space. Triangles with a non-finite corner, and exactly degenerate ones, are
                 left out; indices refer to `corners`.
    resolution : voxels along the minimal dimension (near-cubical voxels), or (nx, ny, nz), or "auto": of the least
                 expected cost (`grid_cost`).
    progress   : called with the fraction done, 0 to 1.
    boxed      : (T,), whether the corners stand for their whole box, listed in all voxels that it overlaps.

    Raises ViewerError for an invalid resolution, one beyond 2^27 voxels, 2^24 list entries or 2048 voxels along an axis
    (with the largest that fits), for 2^24 triangles and more, and for extents beyond float32.
    Source: Purcell, "Ray tracing on a stream processor" (2004), 5.2.1 and figure 5.1.
    """
    start_time = time.perf_counter()
    report = progress or (lambda fraction: None)
    requested = parse(resolution)
    if np.ndim(corners) != 3 or np.shape(corners)[1:] != (3, 3):
        raise ViewerError("grid", f"corners have shape {np.shape(corners)}, expected (T, 3, 3)")
    corners = np.require(corners, np.float32, ["C", "W"])  # one layout, so that one compiled variant serves all
    with _workers(len(corners)) as workers:
        soup = _survey(workers, corners)
        if soup.survey.count == 0:
            return empty(len(corners), start_time)
        if soup.survey.count >= MAX_ADDRESS:
            raise ViewerError("grid", f"{soup.survey.count:,} triangles, and list addresses end at {MAX_ADDRESS:,}")
        if boxed is not None:
            soup.keep[boxed & (soup.keep == 1)] = BOX
        report(0.1)
        entries = with_resolution(soup.survey, requested, partial(_list_triangles, workers, soup))
        report(0.7)
        lists = _fill_lists(workers, entries)
    report(1.0)
    nx, ny, nz = entries.resolution
    pointers = entries.pointers.reshape(nz, ny, nx)
    statistics = _statistics(soup, entries, lists) | {"seconds": time.perf_counter() - start_time}
    return Grid(entries.low, entries.voxel, entries.resolution, pointers, lists, statistics)


def bounds_and_survey(corners: NDArray[np.float32]) -> tuple[NDArray[np.float64], Survey]:
    """Bounds (2, 3) of the triangles (T, 3, 3) that `build` would list, and their survey. Raises ViewerError for
    extents beyond float32."""
    corners = np.require(corners, np.float32, ["C", "W"])
    with _workers(len(corners)) as workers:
        soup = _survey(workers, corners)
    return soup.bounds, soup.survey


def rounding_margin(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest distance, per axis (3,), of a ray from the voxel assigned to it by float32 traversal. World units.

    bounds : (2, 3) float64, of the triangles.

    E is the box's extent along the axis, M the largest coordinate on it, and R the largest distance of a plane from the
    origin, so that M + R bounds the origin's coordinate; u = 2^-24 is the relative error of an operation. Nothing
    accumulates along the ray.

    The traversal `dda` leaves voxel i at t = (low + (i + 0 or 1) voxel - origin) / direction, each operation rounded
    once (the quotient twice, if it is a product with the inverse). At that t the ray is off the plane by at most
        u E (product) + u M (sum) + u R (difference) + 2 u R (quotient).
    The voxel of the starting point, origin + t direction, is off by u R (product) + u M (sum) + u E (difference) + u E
    (quotient).

    The traversal `adinetz` uses origin a + b as the origin in voxels; a = 1 / voxel and b = -low / voxel are rounded,
    too: 2 u (M + R) (a, product) + u M (b) + u R (sum). It leaves at t = (i + 0 or 1 - that) / (direction a), off by
    another u R (difference) + 4 u R (a, product, inverse, product). The error of its starting point is no larger.

    All are within u (2 E + 3 M + 8 R). R is REACH diagonals and one more, as origins are within REACH diagonals of the
    box.
    """
    extent = bounds[1] - bounds[0]
    diagonal = float(np.sqrt((extent**2).sum()))
    largest = np.abs(bounds).max(axis=0)
    bound = ROUNDING * (2.0 * extent + 3.0 * largest + 8.0 * (MAX_ORIGIN_DIAGONALS + 1.0) * diagonal)
    return np.maximum(bound, MIN_EXTENT)


@contextmanager
def _workers(triangles: int) -> Iterator[_Workers]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = max(1, min(cores, MAX_WORKERS, triangles // TRIANGLES_PER_WORKER))
    ranges = _ranges(triangles, -(-triangles // workers))
    if workers == 1:
        yield _Workers(map, ranges)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield _Workers(pool.map, ranges)


def _ranges(count: int, step: int) -> list[tuple[int, int]]:
    return [(first, min(first + step, count)) for first in range(0, count, max(step, 1))]


def _survey(workers: _Workers, corners: NDArray[np.float32]) -> _Triangles:
    """Find the hittable triangles, their bounds, and the data for the choice of resolution."""
    loops = PLAIN if len(corners) <= PLAIN_TRIANGLES else COMPILED
    keep = np.zeros(len(corners), np.uint8)

    def survey_part(span: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        bounds, sums = np.array([[np.inf] * 3, [-np.inf] * 3]), np.zeros(6)
        loops.survey(corners, *span, keep, bounds, sums)
        return bounds, sums

    # Fixed parts on any number of cores: the sums' rounding, and so the resolution, is the same on every machine.
    parts = list(workers.map(survey_part, _ranges(len(corners), 2 * TRIANGLES_PER_WORKER)))
    count = int(np.count_nonzero(keep))
    if count == 0:
        no_survey = Survey(0, np.zeros(3), np.zeros(3), np.ones(3), np.ones(3, np.int64))
        return _Triangles(corners, keep, np.zeros((2, 3)), no_survey)
    low = np.min([bounds[0] for bounds, _ in parts], axis=0)
    high = np.max([bounds[1] for bounds, _ in parts], axis=0)
    sums = np.sum([sums for _, sums in parts], axis=0)
    bounds = np.stack([low, high])
    return _Triangles(corners, keep, bounds, Survey(count, sums[:3], sums[3:], *edges_and_finest(bounds, "triangles")))


def with_resolution(
    survey: Survey, requested: str | int | Resolution, list_voxels: Callable[[Resolution], Result | None]
) -> Result:
    """The result of ``list_voxels`` at the requested resolution (`grid_cost.parse`); None from it: beyond limits.

    Raises ViewerError there, with the largest resolution that fits.
    """
    if isinstance(requested, str):
        # The lists may be longer than expected; a single voxel always fits.
        attempts = (list_voxels(resolution) for resolution in cheapest(survey))
        return next(result for result in attempts if result is not None)
    if isinstance(requested, int):
        size, family = requested, partial(by_minimal_dimension, survey)
    else:
        size, family = max(requested), partial(scaled, requested)
    if (result := list_voxels(family(size))) is not None:
        return result
    fitting, too_large = 0, size
    while too_large - fitting > 1:  # resolutions with too many voxels are rejected without building
        candidate = (fitting + too_large) // 2
        fitting, too_large = (candidate, too_large) if within_limits(family(candidate)) else (fitting, candidate)
    if fitting and list_voxels(family(fitting)) is None:
        fitting, too_large = 0, fitting
    while too_large - fitting > 1:
        candidate = (fitting + too_large) // 2
        if list_voxels(family(candidate)) is not None:
            fitting = candidate
        else:
            too_large = candidate
    largest = "'auto'" if fitting == 0 else str(fitting if isinstance(requested, int) else family(fitting))
    raise ViewerError(
        f"--grid {requested}",
        f"needs over {MAX_VOXELS:,} voxels, {MAX_ADDRESS:,} list entries, or {MAX_AXIS_VOXELS} voxels along an axis",
        f"the largest that fits is {largest}",
    )


def box_with_margin(
    bounds: NDArray[np.float64], box: NDArray[np.float64], resolution: Resolution
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    """Lowest corner, edges of a voxel (world), and the margin in voxels, of a grid over ``bounds`` (2, 3); each (3,).

    The box exceeds the bounds by twice traversal's rounding, so that rays in its faces are inside.
    """
    margin = rounding_margin(bounds)
    low = (bounds[0] - 2.0 * margin).astype(np.float32)
    voxel = (box / resolution).astype(np.float32)
    return low, voxel, np.maximum(margin / voxel, MIN_MARGIN)


def edges_and_finest(bounds: NDArray[np.float64], what: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges (3,) of a grid's box over ``bounds`` (2, 3), and its finest sensible resolution (3,).

    Raises ViewerError where the box is beyond float32.
    """
    margin = rounding_margin(bounds)
    box = bounds[1] - bounds[0] + 4.0 * margin
    if box.max() > np.finfo(np.float32).max:
        raise ViewerError("grid", f"the {what} extend over {box.max():g}, beyond float32", "scale the model down")
    return box, np.maximum(box / (8.0 * margin), 1.0).astype(np.int64)


def _list_triangles(workers: _Workers, soup: _Triangles, resolution: Resolution) -> _Entries | None:
    """The triangles listed in the voxels of a grid of this resolution; None beyond the limits."""
    if not within_limits(resolution):
        return None
    low, voxel, margin = box_with_margin(soup.bounds, soup.survey.box, resolution)
    grid_space = low.astype(np.float64), voxel.astype(np.float64), margin, np.array(resolution, np.int64)
    voxels = int(np.prod(resolution))
    counts = np.zeros((len(workers.ranges), voxels), np.int32)
    loops = _loops(soup.survey, resolution)

    def list_for_worker(worker: int) -> list[NDArray[np.int32]] | None:
        first, last = workers.ranges[worker]
        blocks, references, size = [], 0, min(NEXT_BLOCK, 4 * (last - first) + FIRST_BLOCK)
        while first < last:
            block = np.empty(size, np.int32)
            stopped, used = loops.list_voxels(soup.corners, soup.keep, first, last, *grid_space, counts[worker], block)
            references += int(used) - (stopped - first)  # an upper limit, since some triangles are left out
            if references > MAX_ADDRESS or size > 4 * MAX_ADDRESS:
                return None
            if stopped == first:
                size *= 4  # one triangle overlaps more voxels than the block holds
                continue
            first, size = stopped, NEXT_BLOCK
            blocks.append(block[:used])
        return blocks

    blocks = [blocks for blocks in workers.map(list_for_worker, range(len(workers.ranges))) if blocks is not None]
    if len(blocks) < len(workers.ranges):
        return None
    pointers = np.empty(voxels, np.float32)
    length, full, longest = map(int, loops.lay_out_lists(counts, pointers))
    if length > MAX_ADDRESS:
        return None
    return _Entries(low, voxel, resolution, blocks, counts, pointers, length, full, longest)


def _loops(survey: Survey, resolution: Resolution) -> Loops:
    """Interpreted loops for a small grid, else compiled ones."""
    entries = float(survey.references(np.array([resolution]))[0])
    few = survey.count <= PLAIN_TRIANGLES and entries <= PLAIN_ENTRIES and np.prod(resolution) <= PLAIN_VOXELS
    return PLAIN if few else COMPILED


def _fill_lists(workers: _Workers, entries: _Entries) -> NDArray[np.float32]:
    """Fill the lists; entries without a triangle terminate a list."""
    lists = np.full(entries.length, -1.0, np.float32)
    few = entries.length <= PLAIN_ENTRIES
    loops = PLAIN if few else COMPILED

    def part(worker: int) -> None:
        for block in entries.blocks[worker]:
            loops.fill_lists(block, entries.cursors[worker], lists)

    for _ in workers.map(part, range(len(entries.blocks))):
        pass
    return lists


def _statistics(soup: _Triangles, entries: _Entries, lists: NDArray[np.float32]) -> dict[str, float | int]:
    voxels, references = entries.pointers.size, entries.length - entries.full
    crossing = float(soup.survey.crossing(np.array([entries.resolution]))[0])
    arrays = [soup.keep, entries.cursors, entries.pointers, lists, *(b.base for part in entries.blocks for b in part)]
    return {
        "triangles": len(soup.corners),
        "left_out": len(soup.corners) - soup.survey.count,
        "voxels": voxels,
        "full_voxels": entries.full,
        "references": references,
        "references_per_full_voxel": references / entries.full,
        "duplication": references / soup.survey.count,
        "longest_list": entries.longest,
        "list_entries": entries.length,
        "expected_steps": crossing * voxels,  # of an unobstructed random line through the box
        "expected_tests": crossing * references,
        "texture_bytes": entries.pointers.nbytes + lists.nbytes,
        "peak_bytes": sum(array.nbytes for array in arrays if array is not None),  # without `corners`
    }


def empty(triangles: int, start_time: float) -> Grid:
    """A grid of one empty voxel; ``start_time`` is the `time.perf_counter` of its start."""
    pointers, lists = np.full((1, 1, 1), -1.0, np.float32), np.full(1, -1.0, np.float32)
    counts = {"triangles": triangles, "left_out": triangles, "voxels": 1, "full_voxels": 0, "references": 0}
    rates = {"references_per_full_voxel": 0.0, "duplication": 0.0, "expected_steps": 1.0, "expected_tests": 0.0}
    sizes = {"longest_list": 0, "list_entries": 1, "texture_bytes": 8, "peak_bytes": triangles + 8}
    statistics: dict[str, float | int] = counts | rates | sizes | {"seconds": time.perf_counter() - start_time}
    return Grid(np.zeros(3, np.float32), np.ones(3, np.float32), (1, 1, 1), pointers, lists, statistics)


# -- a uniform grid over boxes instead of triangles --------------------------------------------------------------------
# The top structure of a two-level grid, with instances in its lists.
# It is rebuilt on every movement, in NumPy: a thousand boxes take about a millisecond, less than loading compiled
# loops.

# Cost of taking a ray into a box, relative to a step: a transformation, and a traversal of its own structure.
BOX_COST = 8.0


def build_boxes(
    low: NDArray[np.floating], high: NDArray[np.floating], resolution: int | str | Resolution = "auto"
) -> Grid:
    """A uniform grid over boxes: each index is listed in all voxels that the box overlaps, widened as in `build`.

    low, high  : (B, 3) lowest and highest corners, world space. Boxes that are not finite, or with low above high, are
    left out; indices refer to the arrays. A box may be flat, or a point.
    resolution : as for `build`; "auto" uses `BOX_COST`.

    Raises ViewerError as `build` does.
    """
    start_time = time.perf_counter()
    requested = parse(resolution)
    low, high = (np.asarray(corner, np.float64) for corner in (low, high))  # exact: margins are for traversal alone
    if low.ndim != 2 or low.shape[1:] != (3,) or low.shape != high.shape:
        raise ViewerError("grid", f"corners of boxes have shapes {low.shape} and {high.shape}, expected (B, 3) twice")
    with np.errstate(invalid="ignore"):
        indices = np.flatnonzero((np.isfinite(low) & np.isfinite(high) & (low <= high)).all(axis=1))
    if not len(indices):
        return empty(len(low), start_time)
    if len(indices) >= MAX_ADDRESS:
        raise ViewerError("grid", f"{len(indices):,} boxes, and list addresses end at {MAX_ADDRESS:,}")
    total = len(low)
    low, high = low[indices], high[indices]
    bounds = np.stack([low.min(axis=0), high.max(axis=0)])
    box, finest = edges_and_finest(bounds, "boxes")
    sizes = high - low
    areas = sizes[:, [1, 2, 0]] * sizes[:, [2, 0, 1]]
    volume = float(sizes.prod(axis=1).sum())
    survey = Survey(len(indices), sizes.sum(axis=0), areas.sum(axis=0), box, finest, volume, BOX_COST)
    grid = with_resolution(survey, requested, partial(_list_boxes, low, high, indices, bounds, box))
    crossing = float(survey.crossing(np.array([grid.resolution]))[0])
    references = int(grid.statistics["references"])
    grid.statistics.update(
        {
            "triangles": total,
            "left_out": total - len(indices),
            "duplication": references / len(indices),
            "expected_steps": crossing * grid.pointers.size,
            "expected_tests": crossing * references,
            "seconds": time.perf_counter() - start_time,
        }
    )
    return grid


def _list_boxes(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    indices: NDArray[np.intp],
    bounds: NDArray[np.float64],
    box: NDArray[np.float64],
    resolution: Resolution,
) -> Grid | None:
    """The grid of this resolution over ``bounds`` (2, 3) with boxes low, high (B, 3) listed by their ``indices`` (B,);
    None beyond the limits. box : (3,) edges of the grid."""
    if not within_limits(resolution):
        return None
    box_low, voxel, margin = box_with_margin(bounds, box, resolution)
    first = np.floor((low - box_low) / voxel - margin).astype(np.int64)
    last = np.floor((high - box_low) / voxel + margin).astype(np.int64)
    first, last = np.maximum(first, 0), np.minimum(last, np.array(resolution) - 1)
    spans = last - first + 1
    counts = spans.prod(axis=1)
    references = int(counts.sum())
    if references > MAX_ADDRESS:
        return None
    # All boxes' voxels concatenated, x fastest, by decomposing the index within the box.
    owner = np.repeat(np.arange(len(low)), counts)
    index_in_box = np.arange(references) - np.repeat(np.cumsum(counts) - counts, counts)
    width, height = spans[owner, 0], spans[owner, 1]
    remainder, x = np.divmod(index_in_box, width)
    z, y = np.divmod(remainder, height)
    x, y, z = x + first[owner, 0], y + first[owner, 1], z + first[owner, 2]
    voxel_numbers = (z * resolution[1] + y) * resolution[0] + x
    order = np.argsort(voxel_numbers, kind="stable")  # within a voxel, ascending indices
    voxel_numbers, owner = voxel_numbers[order], owner[order]
    voxels = int(np.prod(resolution))
    lengths = np.bincount(voxel_numbers, minlength=voxels)
    has_list = lengths > 0
    ends = np.cumsum(has_list)
    length = references + int(ends[-1])
    if length > MAX_ADDRESS:
        return None
    starts = np.cumsum(lengths + has_list) - lengths - has_list
    lists = np.full(length, -1.0, np.float32)
    lists[np.arange(references) + ends[voxel_numbers] - 1] = indices[owner]
    pointers = np.where(has_list, starts, -1).astype(np.float32)
    statistics: dict[str, float | int] = {
        "triangles": 0,
        "left_out": 0,
        "voxels": voxels,
        "full_voxels": int(ends[-1]),
        "references": references,
        "references_per_full_voxel": references / int(ends[-1]),
        "duplication": 0.0,
        "longest_list": int(lengths.max()),
        "list_entries": length,
        "expected_steps": 0.0,
        "expected_tests": 0.0,
        "texture_bytes": pointers.nbytes + lists.nbytes,
        "peak_bytes": 12 * 8 * references + lists.nbytes + 4 * 8 * voxels,
    }
    nx, ny, nz = resolution
    return Grid(box_low, voxel, resolution, pointers.reshape(nz, ny, nx), lists, statistics)
