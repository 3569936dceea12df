"""A uniform grid over boxes instead of triangles: the top structure of a two-level grid, with instances in its lists.

It is rebuilt on every movement, in NumPy: a thousand boxes take about a millisecond, less than loading compiled loops.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid.build import Grid, at_resolution, empty, extent, space
from raystream.accel.grid.cost import LIMIT, Resolution, Survey, parse, within_limits
from raystream.base.errors import ViewerError

# Cost of taking a ray into a box, relative to a step: a transformation, and a traversal of its own structure.
BOX_COST = 8.0


def build_boxes(
    low: NDArray[np.floating], high: NDArray[np.floating], resolution: int | str | Resolution = "auto"
) -> Grid:
    """A uniform grid over boxes: each number is listed in all voxels that the box overlaps, widened as in `build`.

    low, high  : (B, 3) lowest and highest corners, world space. Boxes that are not finite, or with low above high, are
    left out; numbers refer to the arrays. A box may be flat, or a point.
    resolution : as for `raystream.accel.grid.build.build`; "auto" uses `BOX_COST`.

    Raises ViewerError as `build` does.
    """
    begin = time.perf_counter()
    requested = parse(resolution)
    low, high = (np.asarray(corner, np.float64) for corner in (low, high))  # exact: margins are for traversal alone
    if low.ndim != 2 or low.shape[1:] != (3,) or low.shape != high.shape:
        raise ViewerError("grid", f"corners of boxes have shapes {low.shape} and {high.shape}, expected (B, 3) twice")
    with np.errstate(invalid="ignore"):
        numbers = np.flatnonzero((np.isfinite(low) & np.isfinite(high) & (low <= high)).all(axis=1))
    if not len(numbers):
        return empty(len(low), begin)
    if len(numbers) >= LIMIT:
        raise ViewerError("grid", f"{len(numbers):,} boxes, and list addresses end at {LIMIT:,}")
    total = len(low)
    low, high = low[numbers], high[numbers]
    bounds = np.stack([low.min(axis=0), high.max(axis=0)])
    box, finest = extent(bounds, "boxes")
    sizes = high - low
    areas = sizes[:, [1, 2, 0]] * sizes[:, [2, 0, 1]]
    volume = float(sizes.prod(axis=1).sum())
    survey = Survey(len(numbers), sizes.sum(axis=0), areas.sum(axis=0), box, finest, volume, BOX_COST)
    grid = at_resolution(survey, requested, partial(_enter, low, high, numbers, bounds, box))
    crossing = float(survey.crossing(np.array([grid.resolution]))[0])
    references = int(grid.statistics["references"])
    grid.statistics.update(
        {
            "triangles": total,
            "left_out": total - len(numbers),
            "duplication": references / len(numbers),
            "expected_steps": crossing * grid.pointers.size,
            "expected_tests": crossing * references,
            "seconds": time.perf_counter() - begin,
        }
    )
    return grid


def _enter(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    numbers: NDArray[np.intp],
    bounds: NDArray[np.float64],
    box: NDArray[np.float64],
    resolution: Resolution,
) -> Grid | None:
    """Boxes (B, 3) of these numbers (B,), listed in voxels; None beyond the limits."""
    if not within_limits(resolution):
        return None
    corner, voxel, margin = space(bounds, box, resolution)
    first = np.floor((low - corner) / voxel - margin).astype(np.int64)
    last = np.floor((high - corner) / voxel + margin).astype(np.int64)
    first, last = np.maximum(first, 0), np.minimum(last, np.array(resolution) - 1)
    spans = last - first + 1
    counts = spans.prod(axis=1)
    references = int(counts.sum())
    if references > LIMIT:
        return None
    # All boxes' voxels concatenated, x fastest, by decomposing the number within the box.
    owner = np.repeat(np.arange(len(low)), counts)
    within = np.arange(references) - np.repeat(np.cumsum(counts) - counts, counts)
    wide, tall = spans[owner, 0], spans[owner, 1]
    remainder, x = np.divmod(within, wide)
    z, y = np.divmod(remainder, tall)
    x, y, z = x + first[owner, 0], y + first[owner, 1], z + first[owner, 2]
    at = (z * resolution[1] + y) * resolution[0] + x
    order = np.argsort(at, kind="stable")  # within a voxel, ascending numbers
    at, owner = at[order], owner[order]
    voxels = int(np.prod(resolution))
    lengths = np.bincount(at, minlength=voxels)
    full = lengths > 0
    ends = np.cumsum(full)
    length = references + int(ends[-1])
    if length > LIMIT:
        return None
    starts = np.cumsum(lengths + full) - lengths - full
    lists = np.full(length, -1.0, np.float32)
    lists[np.arange(references) + ends[at] - 1] = numbers[owner]
    pointers = np.where(full, starts, -1).astype(np.float32)
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
    return Grid(corner, voxel, resolution, pointers.reshape(nz, ny, nx), lists, statistics)
