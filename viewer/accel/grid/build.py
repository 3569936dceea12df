"""The uniform grid: built on the host, laid out as in Purcell's dissertation (2004), figure 5.1."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid import overlap
from raystream.accel.grid.cost import (
    LARGEST_AXIS,
    LIMIT,
    MOST_VOXELS,
    Resolution,
    Survey,
    by_minimal_dimension,
    cheapest,
    parse,
    scaled,
    within_limits,
)
from raystream.base.errors import ViewerError

ROUNDING = 2.0**-24  # largest relative error of one float32 operation
REACH = 16.0  # traversal is exact for rays from within this many diagonals of the box
# Least margin of triangle overlap, as a share of a voxel: far above the overlap test's own rounding in float64 (1e-12),
# with room for the rounding of hit distances; about 0.2 % more references.
LEAST_MARGIN = 1e-3
# Least thickness of a box, so that edges and their inverses stay normal float32 numbers.
LEAST_EXTENT = 1e-30
# Beyond these numbers of triangles, or of list entries and voxels, compiled loops are worth their tens of milliseconds
# of loading.
PLAIN_TRIANGLES, PLAIN_ENTRIES, PLAIN_VOXELS = 512, 1 << 13, 1 << 15
TRIANGLES_PER_WORKER = 1 << 15  # fewer are not worth a thread
MOST_WORKERS = 4  # each has its own counts of triangles per voxel, up to 64 MiB
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
class _Soup:
    """The input triangles: corners (T, 3, 3); keep (T,) uint8; bounds (2, 3) float64; and their survey."""

    corners: NDArray[np.float32]
    keep: NDArray[np.uint8]
    bounds: NDArray[np.float64]
    survey: Survey


@dataclass(frozen=True)
class _Entries:
    """Triangles listed in voxels, and the addresses of the lists.

    low, voxel : (3,) float32, world.
    blocks     : per worker, the output of `overlap.enter`.
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
                 left out; numbers refer to `corners`.
    resolution : voxels along the minimal dimension (near-cubical voxels), or (nx, ny, nz), or "auto": of the least
                 expected cost (`grid_cost`).
    progress   : called with the fraction done, 0 to 1.
    boxed      : (T,), whether the corners stand for their whole box, listed in all voxels that it overlaps.

    Raises ViewerError for an invalid resolution, one beyond 2^27 voxels, 2^24 list entries or 2048 voxels along an axis
    (with the largest that fits), for 2^24 triangles and more, and for extents beyond float32.
    Source: Purcell, "Ray tracing on a stream processor" (2004), 5.2.1 and figure 5.1.
    """
    begin = time.perf_counter()
    report = progress or (lambda fraction: None)
    requested = parse(resolution)
    if np.ndim(corners) != 3 or np.shape(corners)[1:] != (3, 3):
        raise ViewerError("grid", f"corners have shape {np.shape(corners)}, expected (T, 3, 3)")
    corners = np.require(corners, np.float32, ["C", "W"])  # one layout, so that one compiled variant serves all
    with _workers(len(corners)) as workers:
        soup = _survey(workers, corners)
        if soup.survey.count == 0:
            return empty(len(corners), begin)
        if soup.survey.count >= LIMIT:
            raise ViewerError("grid", f"{soup.survey.count:,} triangles, and list addresses end at {LIMIT:,}")
        if boxed is not None:
            soup.keep[boxed & (soup.keep == 1)] = overlap.BOX
        report(0.1)
        entries = at_resolution(soup.survey, requested, partial(_enter_at, workers, soup))
        report(0.7)
        lists = _fill(workers, entries)
    report(1.0)
    nx, ny, nz = entries.resolution
    pointers = entries.pointers.reshape(nz, ny, nx)
    statistics = _statistics(soup, entries, lists) | {"seconds": time.perf_counter() - begin}
    return Grid(entries.low, entries.voxel, entries.resolution, pointers, lists, statistics)


def surveyed(corners: NDArray[np.float32]) -> tuple[NDArray[np.float64], Survey]:
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
    bound = ROUNDING * (2.0 * extent + 3.0 * largest + 8.0 * (REACH + 1.0) * diagonal)
    return np.maximum(bound, LEAST_EXTENT)


@contextmanager
def _workers(triangles: int) -> Iterator[_Workers]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = max(1, min(cores, MOST_WORKERS, triangles // TRIANGLES_PER_WORKER))
    ranges = _ranges(triangles, -(-triangles // workers))
    if workers == 1:
        yield _Workers(map, ranges)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield _Workers(pool.map, ranges)


def _ranges(count: int, step: int) -> list[tuple[int, int]]:
    return [(first, min(first + step, count)) for first in range(0, count, max(step, 1))]


def _survey(workers: _Workers, corners: NDArray[np.float32]) -> _Soup:
    """The hittable triangles, their bounds, and the survey for the resolution."""
    loops = overlap.PLAIN if len(corners) <= PLAIN_TRIANGLES else overlap.COMPILED
    keep = np.zeros(len(corners), np.uint8)

    def part(span: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        bounds, sums = np.array([[np.inf] * 3, [-np.inf] * 3]), np.zeros(6)
        loops.survey(corners, *span, keep, bounds, sums)
        return bounds, sums

    # Fixed parts on any number of cores: the sums' rounding, and so the resolution, is the same on every machine.
    parts = list(workers.map(part, _ranges(len(corners), 2 * TRIANGLES_PER_WORKER)))
    count = int(np.count_nonzero(keep))
    if count == 0:
        nothing = Survey(0, np.zeros(3), np.zeros(3), np.ones(3), np.ones(3, np.int64))
        return _Soup(corners, keep, np.zeros((2, 3)), nothing)
    low = np.min([bounds[0] for bounds, _ in parts], axis=0)
    high = np.max([bounds[1] for bounds, _ in parts], axis=0)
    sums = np.sum([sums for _, sums in parts], axis=0)
    bounds = np.stack([low, high])
    return _Soup(corners, keep, bounds, Survey(count, sums[:3], sums[3:], *extent(bounds, "triangles")))


def at_resolution(
    survey: Survey, requested: str | int | Resolution, enter: Callable[[Resolution], Result | None]
) -> Result:
    """The result of ``enter`` at the requested resolution (`grid_cost.parse`); None from it: beyond limits.

    Raises ViewerError there, with the largest resolution that fits.
    """
    if isinstance(requested, str):
        # The lists may be longer than expected; a single voxel always fits.
        attempts = (enter(resolution) for resolution in cheapest(survey))
        return next(result for result in attempts if result is not None)
    if isinstance(requested, int):
        size, family = requested, partial(by_minimal_dimension, survey)
    else:
        size, family = max(requested), partial(scaled, requested)
    if (result := enter(family(size))) is not None:
        return result
    fits, fails = 0, size
    while fails - fits > 1:  # resolutions with too many voxels are rejected without building
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if within_limits(family(middle)) else (fits, middle)
    if fits and enter(family(fits)) is None:
        fits, fails = 0, fits
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if enter(family(middle)) is not None:
            fits = middle
        else:
            fails = middle
    largest = "'auto'" if fits == 0 else str(fits if isinstance(requested, int) else family(fits))
    raise ViewerError(
        f"--grid {requested}",
        f"needs over {MOST_VOXELS:,} voxels, {LIMIT:,} list entries, or {LARGEST_AXIS} voxels along an axis",
        f"the largest that fits is {largest}",
    )


def space(
    bounds: NDArray[np.float64], box: NDArray[np.float64], resolution: Resolution
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    """Lowest corner, edges of a voxel (world), and the margin in voxels, of a grid over ``bounds`` (2, 3); each (3,).

    The box exceeds the bounds by twice traversal's rounding, so that rays in its faces are inside.
    """
    margin = rounding_margin(bounds)
    low = (bounds[0] - 2.0 * margin).astype(np.float32)
    voxel = (box / resolution).astype(np.float32)
    return low, voxel, np.maximum(margin / voxel, LEAST_MARGIN)


def extent(bounds: NDArray[np.float64], what: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges (3,) of a grid's box over ``bounds`` (2, 3), and its finest sensible resolution (3,).

    Raises ViewerError where the box is beyond float32.
    """
    margin = rounding_margin(bounds)
    box = bounds[1] - bounds[0] + 4.0 * margin
    if box.max() > np.finfo(np.float32).max:
        raise ViewerError("grid", f"the {what} extend over {box.max():g}, beyond float32", "scale the model down")
    return box, np.maximum(box / (8.0 * margin), 1.0).astype(np.int64)


def _enter_at(workers: _Workers, soup: _Soup, resolution: Resolution) -> _Entries | None:
    """Triangles listed in voxels; None beyond the limits."""
    if not within_limits(resolution):
        return None
    low, voxel, margin = space(soup.bounds, soup.survey.box, resolution)
    place = low.astype(np.float64), voxel.astype(np.float64), margin, np.array(resolution, np.int64)
    voxels = int(np.prod(resolution))
    counts = np.zeros((len(workers.ranges), voxels), np.int32)
    loops = _loops(soup.survey, resolution)

    def part(worker: int) -> list[NDArray[np.int32]] | None:
        first, last = workers.ranges[worker]
        blocks, references, size = [], 0, min(NEXT_BLOCK, 4 * (last - first) + FIRST_BLOCK)
        while first < last:
            block = np.empty(size, np.int32)
            stopped, used = loops.enter(soup.corners, soup.keep, first, last, *place, counts[worker], block)
            references += int(used) - (stopped - first)  # an upper limit, since some triangles are left out
            if references > LIMIT or size > 4 * LIMIT:
                return None
            if stopped == first:
                size *= 4  # one triangle overlaps more voxels than the block holds
                continue
            first, size = stopped, NEXT_BLOCK
            blocks.append(block[:used])
        return blocks

    blocks = [blocks for blocks in workers.map(part, range(len(workers.ranges))) if blocks is not None]
    if len(blocks) < len(workers.ranges):
        return None
    pointers = np.empty(voxels, np.float32)
    length, full, longest = map(int, loops.address(counts, pointers))
    if length > LIMIT:
        return None
    return _Entries(low, voxel, resolution, blocks, counts, pointers, length, full, longest)


def _loops(survey: Survey, resolution: Resolution) -> overlap.Loops:
    entries = float(survey.references(np.array([resolution]))[0])
    few = survey.count <= PLAIN_TRIANGLES and entries <= PLAIN_ENTRIES and np.prod(resolution) <= PLAIN_VOXELS
    return overlap.PLAIN if few else overlap.COMPILED


def _fill(workers: _Workers, entries: _Entries) -> NDArray[np.float32]:
    """Fill the lists; entries without a triangle terminate a list."""
    lists = np.full(entries.length, -1.0, np.float32)
    few = entries.length <= PLAIN_ENTRIES
    loops = overlap.PLAIN if few else overlap.COMPILED

    def part(worker: int) -> None:
        for block in entries.blocks[worker]:
            loops.fill(block, entries.cursors[worker], lists)

    for _ in workers.map(part, range(len(entries.blocks))):
        pass
    return lists


def _statistics(soup: _Soup, entries: _Entries, lists: NDArray[np.float32]) -> dict[str, float | int]:
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


def empty(triangles: int, begin: float) -> Grid:
    """A grid of one empty voxel; ``begin`` is the `time.perf_counter` of its start."""
    pointers, lists = np.full((1, 1, 1), -1.0, np.float32), np.full(1, -1.0, np.float32)
    counts = {"triangles": triangles, "left_out": triangles, "voxels": 1, "full_voxels": 0, "references": 0}
    rates = {"references_per_full_voxel": 0.0, "duplication": 0.0, "expected_steps": 1.0, "expected_tests": 0.0}
    sizes = {"longest_list": 0, "list_entries": 1, "texture_bytes": 8, "peak_bytes": triangles + 8}
    statistics: dict[str, float | int] = counts | rates | sizes | {"seconds": time.perf_counter() - begin}
    return Grid(np.zeros(3, np.float32), np.ones(3, np.float32), (1, 1, 1), pointers, lists, statistics)
