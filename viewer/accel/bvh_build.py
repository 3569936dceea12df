"""The bounding volume hierarchy: binary, built on the host by the surface area heuristic or by midpoints."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import helper, run

# -- splits of a list of boxes -----------------------------------------------------------------------------------------

MAX_DEPTH = 60  # levels below the root, for any input of up to 2^24 boxes
BINS = 32  # per axis
BINS_OF_FEW, MAX_BOXES_OF_FEW_BINS = 16, 64  # per axis in parts of so few boxes, where bins cost more than boxes
MAX_EXACT_SPLIT = 8  # boxes of a part that is split by trying every position along every axis, without bins
TRAVERSAL_COST = 1.0  # cost of an inner node: its two children's boxes
# Cost of a triangle's test, or of a leaf box's content: in trees of up to CACHED boxes, whose nodes fit the processor's
# cache, and in larger ones. On llvmpipe 1 saves 10 % of the time of paths in the Cornell box, and adds 3 % to that of
# primary rays that hit the dragon.
TEST_COST, UNCACHED_TEST_COST = 1.0, 0.5
MAX_CACHED_BOXES = 1 << 16


@helper
def summarize(refs, first, last, out):
    """The summary of the boxes first .. last - 1; out (12,) float64, written."""
    lx = ly = lz = hx = hy = hz = np.inf  # low corner, and high corner negated, of all boxes
    cx = cy = cz = dx = dy = dz = np.inf  # the same of their centres
    for i in range(first, last):
        x, y, z = np.float64(refs[i, 0]), np.float64(refs[i, 1]), np.float64(refs[i, 2])
        u, v, w = np.float64(refs[i, 3]), np.float64(refs[i, 4]), np.float64(refs[i, 5])
        lx, ly, lz = min(lx, x), min(ly, y), min(lz, z)
        hx, hy, hz = min(hx, u), min(hy, v), min(hz, w)
        x, y, z = x - u, y - v, z - w
        cx, cy, cz = min(cx, x), min(cy, y), min(cz, z)
        dx, dy, dz = min(dx, -x), min(dy, -y), min(dz, -z)
    out[0], out[1], out[2], out[3], out[4], out[5] = lx, ly, lz, hx, hy, hz
    out[6], out[7], out[8], out[9], out[10], out[11] = cx, cy, cz, dx, dy, dz


@helper
def half_area(x, y, z, u, v, w):
    """Half the surface area of a box: low corner x, y, z; high corner negated u, v, w."""
    dx, dy, dz = -u - x, -v - y, -w - z
    return dx * dy + dy * dz + dz * dx


@helper
def _union_with_bin(x, y, z, u, v, w, bin):
    """The union of a box, as in `half_area`, and a bin's box, its first six numbers."""
    x, y, z = min(x, np.float64(bin[0])), min(y, np.float64(bin[1])), min(z, np.float64(bin[2]))
    u, v, w = min(u, np.float64(bin[3])), min(v, np.float64(bin[4])), min(w, np.float64(bin[5]))
    return x, y, z, u, v, w


@helper
def _levels(count):
    """Levels of halving from ``count`` boxes to one."""
    levels = 0
    while (1 << levels) < count:
        levels += 1
    return levels


@helper
def _best_binned_split(refs, first, last, summary, bins, counts, after):
    """The best split by bins: (cost, axis, base, scale, limit); axis -1 where centres coincide.

    A box is on the first side where (centre - base) scale < limit. Cost: sum of half surface areas times boxes. bins
    (3, BINS, 8) float32, counts (3, BINS) int64, after (BINS,) float64: scratch.
    """
    bin_count = BINS if last - first > MAX_BOXES_OF_FEW_BINS else BINS_OF_FEW
    for axis_ in range(3):
        for k in range(bin_count):
            counts[axis_, k] = 0
            for c in range(8):
                bins[axis_, k, c] = np.inf
    # slightly below K bins over the extent, so that the last centre is in the last bin
    reach = bin_count * (1.0 - 2.0**-40)
    base_x, base_y, base_z = summary[6], summary[7], summary[8]
    extent_x, extent_y, extent_z = -summary[9] - base_x, -summary[10] - base_y, -summary[11] - base_z
    scale_x = reach / extent_x if extent_x > 0.0 else 0.0
    scale_y = reach / extent_y if extent_y > 0.0 else 0.0
    scale_z = reach / extent_z if extent_z > 0.0 else 0.0
    for i in range(first, last):
        x, y, z, u, v, w = refs[i, 0], refs[i, 1], refs[i, 2], refs[i, 3], refs[i, 4], refs[i, 5]
        bin_x = np.uint32((np.float64(x) - np.float64(u) - base_x) * scale_x)
        bin_y = np.uint32((np.float64(y) - np.float64(v) - base_y) * scale_y)
        bin_z = np.uint32((np.float64(z) - np.float64(w) - base_z) * scale_z)
        counts[0, bin_x] += 1
        counts[1, bin_y] += 1
        counts[2, bin_z] += 1
        for row, cell in ((np.uint32(0), bin_x), (np.uint32(1), bin_y), (np.uint32(2), bin_z)):
            bins[row, cell, 0] = min(bins[row, cell, 0], x)
            bins[row, cell, 1] = min(bins[row, cell, 1], y)
            bins[row, cell, 2] = min(bins[row, cell, 2], z)
            bins[row, cell, 3] = min(bins[row, cell, 3], u)
            bins[row, cell, 4] = min(bins[row, cell, 4], v)
            bins[row, cell, 5] = min(bins[row, cell, 5], w)
    best, axis, split_bin = np.inf, -1, 0
    for axis_ in range(3):
        if counts[axis_, 0] == last - first:
            continue
        x = y = z = u = v = w = np.inf
        boxes = 0
        for k in range(bin_count - 1, 0, -1):
            if counts[axis_, k] > 0:
                boxes += counts[axis_, k]
                x, y, z, u, v, w = _union_with_bin(x, y, z, u, v, w, bins[axis_, k])
            after[k] = half_area(x, y, z, u, v, w) * boxes if boxes > 0 else np.inf
        x = y = z = u = v = w = np.inf
        boxes = 0
        for k in range(bin_count - 1):
            if counts[axis_, k] > 0:  # else the same split as one bin before
                boxes += counts[axis_, k]
                x, y, z, u, v, w = _union_with_bin(x, y, z, u, v, w, bins[axis_, k])
                cost = half_area(x, y, z, u, v, w) * boxes + after[k + 1]
                if cost < best:
                    best, axis, split_bin = cost, axis_, k + 1
    if axis == 0:
        return best, axis, base_x, scale_x, np.float64(split_bin)
    if axis == 1:
        return best, axis, base_y, scale_y, np.float64(split_bin)
    return best, axis, base_z, scale_z, np.float64(split_bin)


@helper
def _sort_by_center(refs, first, last, axis, order):
    """Sort the rows first .. last - 1 by their centres along the axis, stable; order (MAX_EXACT_SPLIT,) int64, written:
    the sorted rows, counted from ``first``."""
    for i in range(last - first):
        centre = np.float64(refs[first + i, axis]) - np.float64(refs[first + i, 3 + axis])
        k = i
        while k > 0:
            j = first + order[k - 1]
            if np.float64(refs[j, axis]) - np.float64(refs[j, 3 + axis]) <= centre:
                break
            order[k] = order[k - 1]
            k -= 1
        order[k] = i


@helper
def _best_exact_split(refs, first, last, summary, order, rows, after):
    """The best of all splits, for few boxes: (cost, axis, start of the second part); the rows are sorted for it.

    order (SWEPT,) int64, rows (SWEPT, 8) float32, after (SWEPT or more,) float64: scratch.
    """
    n = last - first
    best, axis, middle = np.inf, -1, 0
    for axis_ in range(3):
        if not summary[6 + axis_] < -summary[9 + axis_]:
            continue
        _sort_by_center(refs, first, last, axis_, order)
        x = y = z = u = v = w = np.inf
        for k in range(n - 1, 0, -1):
            i = first + order[k]
            x, y, z = min(x, np.float64(refs[i, 0])), min(y, np.float64(refs[i, 1])), min(z, np.float64(refs[i, 2]))
            u, v, w = min(u, np.float64(refs[i, 3])), min(v, np.float64(refs[i, 4])), min(w, np.float64(refs[i, 5]))
            after[k] = half_area(x, y, z, u, v, w) * (n - k)
        x = y = z = u = v = w = np.inf
        for k in range(n - 1):
            i = first + order[k]
            x, y, z = min(x, np.float64(refs[i, 0])), min(y, np.float64(refs[i, 1])), min(z, np.float64(refs[i, 2]))
            u, v, w = min(u, np.float64(refs[i, 3])), min(v, np.float64(refs[i, 4])), min(w, np.float64(refs[i, 5]))
            cost = half_area(x, y, z, u, v, w) * (k + 1) + after[k + 1]
            if cost < best:
                best, axis, middle = cost, axis_, k + 1
    if axis >= 0:
        if axis < 2:
            _sort_by_center(refs, first, last, axis, order)
        for k in range(n):
            for c in range(8):
                rows[k, c] = refs[first + k, c]
        for k in range(n):
            for c in range(8):
                refs[first + k, c] = rows[order[k], c]
    return best, axis, first + middle


@helper
def _partition(refs, first, last, axis, base, scale, limit):
    """Move rows with (centre - base) scale < limit to the front; returns the start of the others."""
    i, j = first, last
    while True:
        while i < j and (np.float64(refs[i, axis]) - np.float64(refs[i, 3 + axis]) - base) * scale < limit:
            i += 1
        while i < j and not (np.float64(refs[j - 1, axis]) - np.float64(refs[j - 1, 3 + axis]) - base) * scale < limit:
            j -= 1
        if i >= j:
            return i
        j -= 1
        for c in range(8):
            value = refs[i, c]
            refs[i, c] = refs[j, c]
            refs[j, c] = value
        i += 1


@helper
def _split_at_median(refs, first, last, summary):
    """Split in two halves at the median centre along the axis of the largest extent: (axis, start of the second half).

    Bisects the median's value, so that no order of the rows is slow; rows of equal centres are cut in their order.
    Where all centres coincide, the rows stay as they are.
    """
    axis = 0
    for a in range(1, 3):
        if -summary[9 + a] - summary[6 + a] > -summary[9 + axis] - summary[6 + axis]:
            axis = a
    half = (last - first) // 2
    low, high = summary[6 + axis], -summary[9 + axis]  # at most `half` centres are below low, more are up to high
    while low < high:
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            # neighbours: test whether low itself is the median
            below = 0
            for i in range(first, last):
                below += np.float64(refs[i, axis]) - np.float64(refs[i, 3 + axis]) <= low
            if below > half:
                high = low
            else:
                low = high
            break
        below = 0
        for i in range(first, last):
            below += np.float64(refs[i, axis]) - np.float64(refs[i, 3 + axis]) <= middle
        if below > half:
            high = middle
        else:
            low = middle
    # Rows below the median first, then those at it, then the others.
    border = _partition(refs, first, last, axis, high, 1.0, 0.0)
    if border < first + half:
        j = last
        while border < j:
            if np.float64(refs[border, axis]) - np.float64(refs[border, 3 + axis]) <= high:
                border += 1
            else:
                j -= 1
                for c in range(8):
                    value = refs[border, c]
                    refs[border, c] = refs[j, c]
                    refs[j, c] = value
    return axis, first + half


@helper
def choose_split(refs, first, last, depth, midpoint, leaf, test, summary, bins, counts, after, order, rows):
    """Split a part of the list in two: (axis, start of the second); axis -1 for a leaf.

    depth: levels from the root.  midpoint: the middle of the box along the axis of that depth, not SAH.  leaf: most
    boxes in a leaf.  test: cost of testing a box's content.
    """
    n = last - first
    if n == 1 or (midpoint and n <= leaf):
        return -1, first
    axis, border, base, scale, limit = -1, first, 0.0, 1.0, 0.0
    if midpoint:
        for offset in range(3):
            a = (depth + offset) % 3
            middle = summary[a] - summary[3 + a]
            if axis < 0 and summary[6 + a] < middle and not -summary[9 + a] < middle:
                axis, base = a, middle
    else:
        if n <= MAX_EXACT_SPLIT:
            cost, axis, border = _best_exact_split(refs, first, last, summary, order, rows, after)
        else:
            cost, axis, base, scale, limit = _best_binned_split(refs, first, last, summary, bins, counts, after)
        area = half_area(summary[0], summary[1], summary[2], summary[3], summary[4], summary[5])
        if n <= leaf and not TRAVERSAL_COST * area + test * cost < test * area * n:
            return -1, first
        if not area > 0.0:  # boxes along a line: all splits cost nothing, and halves are less deep
            axis = -1
    if axis >= 0:
        if midpoint or n > MAX_EXACT_SPLIT:
            border = _partition(refs, first, last, axis, base, scale, limit)
        if depth + 1 + _levels(max(border - first, last - border)) <= MAX_DEPTH:
            return axis, border
    return _split_at_median(refs, first, last, summary)


# -- the compiled loops: a list of boxes, and the tree grown by splitting it -------------------------------------------
# A list of boxes is (T, 8) float32, a row per box: its low corner x, y, z; its high corner negated; its number
# (exact up to 2^24); unused. With the high corner negated every union is a minimum of six components. A split
# permutes the rows of its part of the list, so that each part of the tree reads memory in order.
# The summary of a part of the list (`summarize`) is (12,) float64: the six minima of its boxes, i.e. its box; and the
# six of its centres, as x, y, z and -x, -y, -z. A centre is low + high, twice the centre of the box, summed in
# float64 without overflow; every test of a centre uses this expression and rounds alike.
# All arithmetic is float64 (`np.float64` before it: in numba `float` of a float32 stays one), so that compiled and
# interpreted loops give the same bits.


def gather(corners, refs, summary):
    """Write the list of the boxes of triangles with finite corners, and its summary; returns the number of boxes.

    corners (T, 3, 3) float32.  refs (T, 8) float32, summary (12,) float64: written.
    """
    used = 0
    for t in range(len(corners)):
        total = 0.0
        for a in range(3):
            p, q, r = corners[t, 0, a], corners[t, 1, a], corners[t, 2, a]
            total += np.float64(p) + np.float64(q) + np.float64(r)
            refs[used, a] = min(p, q, r)
            refs[used, 3 + a] = -max(p, q, r)
        refs[used, 6] = t
        refs[used, 7] = 0.0
        if np.isfinite(total):
            used += 1
    summarize(refs, 0, used, summary)
    return used


def gather_boxes(low, high, refs, summary):
    """Write the list of the boxes low, high (T, 3) float32 that are finite and not empty, as `gather` does."""
    used = 0
    for t in range(len(low)):
        total, holds = 0.0, True
        for a in range(3):
            total += np.float64(low[t, a]) + np.float64(high[t, a])
            holds = holds and low[t, a] <= high[t, a]
            refs[used, a] = low[t, a]
            refs[used, 3 + a] = -high[t, a]
        refs[used, 6] = t
        refs[used, 7] = 0.0
        if holds and np.isfinite(total):
            used += 1
    summarize(refs, 0, used, summary)
    return used


def split_scratch():
    """Scratch arrays of `split` and `grow`: bins, counts, after, numbers, rows."""
    bins, counts, after = (
        np.empty((3, BINS, 8), np.float32),
        np.empty((3, BINS), np.int64),
        np.empty(BINS + MAX_EXACT_SPLIT),
    )
    return bins, counts, after, np.empty(MAX_EXACT_SPLIT, np.int64), np.empty((MAX_EXACT_SPLIT, 8), np.float32)


def grow_scratch():
    """Further scratch arrays of `grow`: the stack of second children, one per level, as first, last, depth, parent;
    their summaries; and that of the current part."""
    return np.empty((MAX_DEPTH + 2, 4), np.int64), np.empty((MAX_DEPTH + 2, 12)), np.empty(12)


def split(refs, first, last, depth, midpoint, leaf, test, summary, left, right, bins, counts, after, order, rows):
    """One split, see `choose_split`; left, right (12,) float64, written: the summaries of both parts; then scratch."""
    axis, border = choose_split(
        refs, first, last, depth, midpoint, leaf, test, summary, bins, counts, after, order, rows
    )
    if axis >= 0:
        summarize(refs, first, border, left)
        summarize(refs, border, last, right)
    return axis, border


def grow(
    refs,
    first,
    last,
    depth,
    midpoint,
    leaf,
    test,
    summary,
    boxes,
    links,
    bins,
    counts,
    after,
    order,
    rows,
    pending,
    summaries,
    current,
):
    """The tree of the boxes first .. last - 1 in depth-first order; returns the number of nodes and the deepest level.

    boxes (2 T, 8) float32, links (2 T, 4) int32, written from row 2 first on: a node's six minima; and the second child
    (in nodes from the first one written, -1 in a leaf), the first box, the number of boxes (0: inner node), the axis.
    The rest: `split_scratch` and `grow_scratch`.
    """
    for c in range(12):
        current[c] = summary[c]
    top, nodes, deepest, parent, first_node = 0, 0, depth, -1, 2 * first
    while True:
        node = first_node + nodes
        if parent >= 0:
            links[parent, 0] = nodes
        for c in range(6):
            boxes[node, c] = current[c]
        axis, border = choose_split(
            refs, first, last, depth, midpoint, leaf, test, current, bins, counts, after, order, rows
        )
        nodes += 1
        links[node, 0] = -1
        links[node, 1] = first
        if axis >= 0:
            links[node, 2] = 0
            links[node, 3] = axis
            pending[top, 0], pending[top, 1], pending[top, 2], pending[top, 3] = border, last, depth + 1, node
            summarize(refs, border, last, summaries[top])
            summarize(refs, first, border, current)
            top += 1
            last, depth, parent = border, depth + 1, -1
        else:
            links[node, 2] = last - first
            links[node, 3] = 0
            deepest = max(deepest, depth)
            if top == 0:
                return nodes, deepest
            top -= 1
            first, last, depth, parent = pending[top, 0], pending[top, 1], pending[top, 2], pending[top, 3]
            for c in range(12):
                current[c] = summaries[top, c]


# -- the compiled layout loops: a grown tree's nodes in depth-first order, their links and sums ------------------------


def copy_nodes(boxes, links, source, count, target, low, high, second, first, size, axis):
    """Copy `count` nodes written by `grow` from row `source` on to their place from row `target` on."""
    for i in range(count):
        s, t = source + i, target + i
        for a in range(3):
            low[t, a] = boxes[s, a]
            high[t, a] = -boxes[s, 3 + a]
        second[t] = links[s, 0] + target if links[s, 0] >= 0 else -1
        first[t] = links[s, 1] if links[s, 2] > 0 else 0
        size[t] = links[s, 2]
        axis[t] = links[s, 3]


def add_escape_links(low, high, second, size, escape):
    """Write the escape links; returns sums for the statistics: half surface areas of inner nodes; those of leaves, each
    times its boxes; most boxes in a leaf; number of leaves."""
    inner = outer = 0.0
    most = leaves = 0
    for i in range(len(second) - 1, -1, -1):
        area = half_area(
            np.float64(low[i, 0]),
            np.float64(low[i, 1]),
            np.float64(low[i, 2]),
            -np.float64(high[i, 0]),
            -np.float64(high[i, 1]),
            -np.float64(high[i, 2]),
        )
        if second[i] < 0:
            escape[i] = i + 1
            outer += area * size[i]
            most = max(most, size[i])
            leaves += 1
        else:
            escape[i] = escape[second[i]]
            inner += area
    return inner, outer, most, leaves


def half_area_of_box(low, high):
    """Half the surface area of a box; low, high (3,) float32."""
    return half_area(
        np.float64(low[0]),
        np.float64(low[1]),
        np.float64(low[2]),
        -np.float64(high[0]),
        -np.float64(high[1]),
        -np.float64(high[2]),
    )


def fill_octant_links(second, axis, links):
    """The loop of `octant_links`; links (8, N, 2) int32, written."""
    total = len(second)
    for octant in range(8):
        if total > 0:
            links[octant, 0, 1] = total
        for i in range(total):
            next_after = links[octant, i, 1]
            if second[i] < 0:
                links[octant, i, 0] = next_after
                continue
            near, far = i + 1, second[i]
            if (octant >> axis[i]) & 1:
                near, far = far, near
            links[octant, i, 0] = near
            links[octant, near, 1] = far
            links[octant, far, 1] = next_after


# -- the bounding volume hierarchy -------------------------------------------------------------------------------------

MAX_BOXES = 1 << 24  # triangles; as in the grid, addresses are floats
METHODS = ("sah", "midpoint")
MAX_LEAF = 255
MIN_COMPILED = 96  # number of boxes below which the loops are not worth compiling
MIN_COMPILED_OFTEN = 4  # the same of a tree that is built for every picture
# Parts of the list above this size are split one at a time, smaller ones grown in one go: the jobs of the threads. It
# affects speed alone: a part's tree is the same in either case.
MAX_JOB_BOXES = 1 << 14
MAX_WORKERS = 8
BUILDING = "building the tree"  # word of the progress report

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Bvh:
    """A binary bounding volume hierarchy in depth-first order: an inner node's first child follows it.

    At least one node: an empty tree is a leaf without triangles, at the origin.

    low, high  : (N, 3) float32, boxes: the exact bounds of their contents.
    second     : (N,) int32, the second child's number; -1 in a leaf.
    first      : (N,) int32, leaf: address of its first triangle in `order`; 0 in an inner node.
    count      : (N,) int32, leaf: triangles in it; 0 in an inner node.
    axis       : (N,) int8, inner node: axis 0, 1, 2 of the split, the first child on the lower side (no centre of a box
                 in it is above one in the second); 0 in a leaf.
    escape     : (N,) int32, the node after the subtree in depth-first order; N at the end.
    order      : (T',) int32, numbers of triangles in leaf order, without those with a non-finite corner.
    keys       : (K, N, 2, 3) float32, boxes at keys in time (`raystream.accel.bvh_tree`); None: it stands still.
    depth      : levels below the root, at most `MAX_DEPTH`.
    statistics : counts, SAH cost, seconds and bytes of the build, by name. `sah_cost` is the expected cost of a random
                 line through the root's box: TRAVERSAL per inner node, TEST or FAR_TEST per triangle (`loops`).
    """

    low: NDArray[np.float32]
    high: NDArray[np.float32]
    second: NDArray[np.int32]
    first: NDArray[np.int32]
    count: NDArray[np.int32]
    axis: NDArray[np.int8]
    escape: NDArray[np.int32]
    order: NDArray[np.int32]
    depth: int
    statistics: dict[str, float | int]
    keys: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class _SplitRule:
    """Rule of splits: midpoint or SAH; most boxes in a leaf; cost of testing a box's content."""

    midpoint: bool
    leaf: int
    test: float


@dataclass
class _Part:
    """A part of the list: first .. last - 1, at ``depth`` levels below the root; summary (12,), see `bvh_kernels`.

    When done it is a subtree, with its number of nodes, or split along the axis into two parts.
    """

    first: int
    last: int
    depth: int
    summary: NDArray[np.float64]
    nodes: int = 0
    deepest: int = 0
    axis: int = 0
    halves: tuple[_Part, _Part] | None = None


def build(corners: NDArray[np.float32], method: str = "sah", leaf: int = 4, progress: Progress | None = None) -> Bvh:
    """Build a hierarchy over triangles.

    corners  : (T, 3, 3) float32. Triangles with a non-finite corner are left out; numbers refer to `corners`.
    method   : "sah": binned surface area heuristic (Wald, "On fast construction of SAH-based bounding volume
               hierarchies", 2007), for few triangles every position along every axis; leaves where they cost less.
               "midpoint": the middle of the node's box along x, y, z in turn, one triangle per leaf regardless of
               `leaf`.
    leaf     : most triangles in a leaf, 1 to 255.
    progress : called with the share done, 0 to 1, and a word.

    Parts are halved where a tree would grow deeper than `MAX_DEPTH`, or centres coincide. The result does not depend
    on the number of threads. Raises ViewerError for an unknown method, a leaf size out of range, corners of another
    shape, and over 2^24 triangles.
    """
    start_time = time.perf_counter()
    if np.ndim(corners) != 3 or np.shape(corners)[1:] != (3, 3):
        raise ViewerError("bvh", f"corners have shape {np.shape(corners)}, expected (T, 3, 3)")
    if method not in METHODS:
        raise ViewerError("bvh", f"unknown build {method!r}", f"one of {', '.join(METHODS)}")
    corners = np.require(corners, np.float32, ["C"])
    return _build(gather, (corners,), method == "midpoint", 1 if method == "midpoint" else leaf, progress, start_time)


def build_boxes(
    low: NDArray[np.float32], high: NDArray[np.float32], leaf: int = 1, often: bool = False, method: str = "sah"
) -> Bvh:
    """Build a hierarchy over boxes: the top structure of a scene of instances. `order` holds numbers of boxes.

    low, high : (T, 3) float32. Boxes that are not finite, or empty (low above high), are left out.
    leaf      : most boxes in a leaf, 1 to 255. often : loops are compiled for few boxes, too; the tree is the same.
    method    : as of `build`.

    Raises ViewerError as `build` does.
    """
    start_time = time.perf_counter()
    if np.ndim(low) != 2 or np.shape(low)[1:] != (3,) or np.shape(high) != np.shape(low):
        raise ViewerError("bvh", f"boxes have shapes {np.shape(low)} and {np.shape(high)}, expected (T, 3) twice")
    pair = np.require(low, np.float32, ["C"]), np.require(high, np.float32, ["C"])
    return _build(
        gather_boxes, pair, method == "midpoint", leaf, None, start_time, MIN_COMPILED_OFTEN if often else MIN_COMPILED
    )


def octant_links(bvh: Bvh, often: bool = False) -> NDArray[np.int32]:
    """Links of a stackless front-to-back traversal, per octant of the ray's direction: (8, N, 2) int32.

    Bit k of the octant is set where direction[k] < 0. [..., 0] is the next node after a hit of the box: at an inner
    node the nearer child along the node's axis. [..., 1] is the next node after a miss, or after a leaf. In a leaf both
    are equal. Traversal starts at node 0 and ends at N. often : as of `build_boxes`.
    """
    links = np.empty((8, len(bvh.second), 2), np.int32)
    run(
        fill_octant_links,
        bvh.second,
        bvh.axis,
        links,
        small=len(bvh.second) <= 2 * (MIN_COMPILED_OFTEN if often else MIN_COMPILED),
    )
    return links


def escape_links(bvh: Bvh) -> NDArray[np.int32]:
    """Links (8, N, 2) as of `octant_links`, of the traversal in depth-first order, the same for every octant."""
    links = np.empty((8, len(bvh.second), 2), np.int32)
    links[..., 0] = np.where(bvh.second < 0, bvh.escape, np.arange(1, len(bvh.second) + 1))
    links[..., 1] = bvh.escape
    return links


def _build(
    gather: Callable,
    arrays: tuple[NDArray, ...],
    midpoint: bool,
    leaf: int,
    progress: Progress | None,
    start_time: float,
    min_compiled: int = MIN_COMPILED,
) -> Bvh:
    """Build the tree over the boxes that the loop ``gather`` derives from ``arrays``."""
    total = len(arrays[0])
    if total > MAX_BOXES:
        raise ViewerError("bvh", f"{total:,} triangles, and addresses end at {MAX_BOXES:,}")
    if not isinstance(leaf, (int, np.integer)) or isinstance(leaf, bool) or not 1 <= leaf <= MAX_LEAF:
        raise ViewerError("bvh", f"leaf size {leaf!r}", f"give a number from 1 to {MAX_LEAF}")
    report = progress or (lambda fraction, text: None)
    small = total <= min_compiled
    refs, summary = np.empty((total + 1, 8), np.float32), np.empty(12)
    used = run(gather, *arrays, refs, summary, small=small)
    if used == 0:
        report(1.0, BUILDING)
        return _empty(total, start_time)
    boxes, links = np.empty((2 * used, 8), np.float32), np.empty((2 * used, 4), np.int32)
    root = _Part(0, used, 0, summary)
    rule = _SplitRule(midpoint, int(leaf), TEST_COST if used <= MAX_CACHED_BOXES else UNCACHED_TEST_COST)
    _grow(root, refs, rule, boxes, links, report, small)
    bvh = _assemble(root, refs, rule, boxes, links, small)
    buffers = (refs, boxes, links)
    nbytes = sum(array.nbytes for array in vars(bvh).values() if isinstance(array, np.ndarray))
    bvh.statistics.update(
        triangles=total,
        left_out=total - used,
        bytes=nbytes,
        peak_bytes=nbytes + sum(array.nbytes for array in buffers),  # without the input
        seconds=time.perf_counter() - start_time,
    )
    report(1.0, BUILDING)
    return bvh


def _grow(
    root: _Part, refs: NDArray, rule: _SplitRule, boxes: NDArray, links: NDArray, report: Progress, small: bool
) -> None:
    """Split the large parts, one job each, and grow the trees of the others, until all boxes are in trees."""

    def job(part: _Part) -> None:
        span = part.first, part.last, part.depth, rule.midpoint, rule.leaf, rule.test, part.summary
        if part.last - part.first <= MAX_JOB_BOXES:
            scratch_arrays = *split_scratch(), *grow_scratch()
            part.nodes, part.deepest = run(grow, refs, *span, boxes, links, *scratch_arrays, small=small)
            return
        left, right = np.empty(12), np.empty(12)
        part.axis, middle = run(split, refs, *span, left, right, *split_scratch())
        depth = part.depth + 1
        part.halves = _Part(part.first, middle, depth, left), _Part(middle, part.last, depth, right)

    job(root)
    if root.halves is None:
        return
    boxes_done = 0
    # Parts that are done: `concurrent.futures.wait` looks at all of a thousand at every call.
    ready: SimpleQueue[tuple[_Part, Future]] = SimpleQueue()
    with _workers() as pool:

        def submit(part: _Part) -> None:
            pool.submit(job, part).add_done_callback(lambda future: ready.put((part, future)))

        for half in root.halves:
            submit(half)
        while boxes_done < root.last:
            part, future = ready.get()
            future.result()
            if part.halves is None:
                boxes_done += part.last - part.first
                report(boxes_done / root.last, BUILDING)
            else:
                for half in part.halves:
                    submit(half)


@contextmanager
def _workers() -> Iterator[Executor]:
    """A pool of threads, as many as the process has cores, within limits."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    pool = ThreadPoolExecutor(min(cores, MAX_WORKERS))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C no other part is begun


def _assemble(root: _Part, refs: NDArray, rule: _SplitRule, boxes: NDArray, links: NDArray, small: bool) -> Bvh:
    """The nodes of all parts in depth-first order."""
    parts: list[_Part] = []  # depth-first
    pending = [root]
    while pending:
        parts.append(part := pending.pop())
        if part.halves is not None:
            pending += reversed(part.halves)
    for part in reversed(parts):
        if part.halves is not None:
            part.nodes = 1 + sum(half.nodes for half in part.halves)
            part.deepest = max(half.deepest for half in part.halves)
    total = root.nodes
    low, high = np.empty((total, 3), np.float32), np.empty((total, 3), np.float32)
    second, first, count, escape = (np.empty(total, np.int32) for _ in range(4))
    axis = np.empty(total, np.int8)
    node = 0
    for part in parts:
        if part.halves is None:
            arrays = low, high, second, first, count, axis
            run(copy_nodes, boxes, links, 2 * part.first, part.nodes, node, *arrays, small=small)
            node += part.nodes
            continue
        low[node], high[node] = part.summary[:3], -part.summary[3:6]
        second[node], first[node], count[node], axis[node] = node + 1 + part.halves[0].nodes, 0, 0, part.axis
        node += 1
    inner, outer, largest_leaf, leaves = run(add_escape_links, low, high, second, count, escape, small=small)
    order = refs[: root.last, 6].astype(np.int32)
    area = float(run(half_area_of_box, low[0], high[0], small=True))
    statistics: dict[str, float | int] = {
        "nodes": total,
        "leaves": int(leaves),
        "depth": root.deepest,
        "triangles_per_leaf": len(order) / int(leaves),
        "largest_leaf": int(largest_leaf),
        "sah_cost": (TRAVERSAL_COST * float(inner) + rule.test * float(outer)) / area if area > 0.0 else 0.0,
    }
    return Bvh(low, high, second, first, count, axis, escape, order, root.deepest, statistics)


def _empty(total: int, start_time: float) -> Bvh:
    """The tree of one empty leaf."""
    box, one, zero = np.zeros((1, 3), np.float32), np.ones(1, np.int32), np.zeros(1, np.int32)
    counts: dict[str, float | int] = {"nodes": 1, "leaves": 1, "depth": 0, "triangles_per_leaf": 0.0, "largest_leaf": 0}
    others = {"sah_cost": 0.0, "triangles": total, "left_out": total, "bytes": 41, "peak_bytes": 41}
    statistics = counts | others | {"seconds": time.perf_counter() - start_time}
    no_boxes = np.zeros(0, np.int32)
    return Bvh(box, box.copy(), -one, zero, zero.copy(), zero.astype(np.int8), one, no_boxes, 0, statistics)
