"""The compiled loops of `bvh_build`: a list of boxes, and the tree grown by splitting it.

A list of boxes is (T, 8) float32, a row per box: its low corner x, y, z; its high corner negated; its number (exact up
to 2^24); unused. With the high corner negated every union is a minimum of six components. A split permutes the rows of
its part of the list, so that each part of the tree reads memory in order.

The summary of a part of the list (`measure`) is (12,) float64: the six minima of its boxes, i.e. its box; and the six
of its centres, as x, y, z and -x, -y, -z. A centre is low + high, twice the centre of the box, summed in float64
without overflow; every test of a centre uses this expression and rounds alike.

All arithmetic is float64 (`np.float64` before it: in numba `float` of a float32 stays one), so that compiled and
interpreted loops give the same bits.
"""

from __future__ import annotations

import numpy as np

from raystream.accel.bvh.splits import BINS, MOST_DEPTH, SWEPT, divide, measure


def gather(corners, refs, summary):
    """Boxes of the triangles with finite corners; returns their number.

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
    measure(refs, 0, used, summary)
    return used


def gather_boxes(low, high, refs, summary):
    """The same for boxes low, high (T, 3) float32, finite and not empty."""
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
    measure(refs, 0, used, summary)
    return used


def scratch():
    """Scratch arrays of `split` and `grow`: bins, counts, after, numbers, rows."""
    bins, counts, after = np.empty((3, BINS, 8), np.float32), np.empty((3, BINS), np.int64), np.empty(BINS + SWEPT)
    return bins, counts, after, np.empty(SWEPT, np.int64), np.empty((SWEPT, 8), np.float32)


def stack():
    """Further scratch arrays of `grow`: waiting second children, one per level, as first, last, depth, parent; their
    summaries; and that of the current part."""
    return np.empty((MOST_DEPTH + 2, 4), np.int64), np.empty((MOST_DEPTH + 2, 12)), np.empty(12)


def split(refs, first, last, depth, midpoint, leaf, test, summary, left, right, bins, counts, after, numbers, rows):
    """One split, see `divide`; left, right (12,) float64, written: the summaries of the two parts; then `scratch`."""
    axis, place = divide(refs, first, last, depth, midpoint, leaf, test, summary, bins, counts, after, numbers, rows)
    if axis >= 0:
        measure(refs, first, place, left)
        measure(refs, place, last, right)
    return axis, place


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
    numbers,
    rows,
    waiting,
    summaries,
    current,
):
    """The tree of the boxes first .. last - 1 in depth-first order; returns the number of nodes and the deepest level.

    boxes (2 T, 8) float32, links (2 T, 4) int32, written from row 2 first on: a node's six minima; and the second child
    (in nodes from the first one written, -1 in a leaf), the first box, the number of boxes (0: inner node), the axis.
    The rest: `scratch` and `stack`.
    """
    for c in range(12):
        current[c] = summary[c]
    top, nodes, deepest, parent, begin = 0, 0, depth, -1, 2 * first
    while True:
        node = begin + nodes
        if parent >= 0:
            links[parent, 0] = nodes
        for c in range(6):
            boxes[node, c] = current[c]
        axis, place = divide(
            refs, first, last, depth, midpoint, leaf, test, current, bins, counts, after, numbers, rows
        )
        nodes += 1
        links[node, 0] = -1
        links[node, 1] = first
        if axis >= 0:
            links[node, 2] = 0
            links[node, 3] = axis
            waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3] = place, last, depth + 1, node
            measure(refs, place, last, summaries[top])
            measure(refs, first, place, current)
            top += 1
            last, depth, parent = place, depth + 1, -1
        else:
            links[node, 2] = last - first
            links[node, 3] = 0
            deepest = max(deepest, depth)
            if top == 0:
                return nodes, deepest
            top -= 1
            first, last, depth, parent = waiting[top, 0], waiting[top, 1], waiting[top, 2], waiting[top, 3]
            for c in range(12):
                current[c] = summaries[top, c]
