"""Splits of a list of boxes for the loops of `raystream.accel.bvh.loops`, which describes the list's layout."""

from __future__ import annotations

import numpy as np

from raystream.base.jit import helper

MOST_DEPTH = 60  # levels below the root, for any input of up to 2^24 boxes
BINS, FEW_BINS, FEW = 32, 16, 64  # per axis; the latter for parts of up to FEW boxes, where bins cost more than boxes
SWEPT = 8  # largest part split by trying every position along every axis, without bins
TRAVERSAL = 1.0  # cost of an inner node: its two children's boxes
# Cost of a triangle's test, or of a leaf box's content: in trees of up to CACHED boxes, whose nodes fit the processor's
# cache, and in larger ones. On llvmpipe 1 saves 10 % of the time of paths in the Cornell box, and adds 3 % to that of
# primary rays that hit the dragon.
TEST, FAR_TEST = 1.0, 0.5
CACHED = 1 << 16


@helper
def measure(refs, first, last, out):
    """The summary of the boxes first .. last - 1; out (12,) float64, written."""
    lx = ly = lz = hx = hy = hz = np.inf
    cx = cy = cz = dx = dy = dz = np.inf
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
    """Half the surface area of the box of these six minima."""
    dx, dy, dz = -u - x, -v - y, -w - z
    return dx * dy + dy * dz + dz * dx


@helper
def _widened(x, y, z, u, v, w, bin):
    """The six minima, also of a bin's."""
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
def _binned(refs, first, last, summary, bins, counts, after):
    """The best split by bins: (cost, axis, base, scale, limit); axis -1 where centres coincide.

    A box is on the first side where (centre - base) scale < limit. Cost: sum of half surface areas times boxes. bins
    (3, BINS, 8) float32, counts (3, BINS) int64, after (BINS,) float64: scratch.
    """
    size = BINS if last - first > FEW else FEW_BINS
    for a in range(3):
        for k in range(size):
            counts[a, k] = 0
            for c in range(8):
                bins[a, k, c] = np.inf
    # slightly below K bins over the extent, so that the last centre is in the last bin
    reach = size * (1.0 - 2.0**-40)
    x0, y0, z0 = summary[6], summary[7], summary[8]
    ex, ey, ez = -summary[9] - x0, -summary[10] - y0, -summary[11] - z0
    sx = reach / ex if ex > 0.0 else 0.0
    sy = reach / ey if ey > 0.0 else 0.0
    sz = reach / ez if ez > 0.0 else 0.0
    for i in range(first, last):
        x, y, z, u, v, w = refs[i, 0], refs[i, 1], refs[i, 2], refs[i, 3], refs[i, 4], refs[i, 5]
        p = np.uint32((np.float64(x) - np.float64(u) - x0) * sx)
        q = np.uint32((np.float64(y) - np.float64(v) - y0) * sy)
        r = np.uint32((np.float64(z) - np.float64(w) - z0) * sz)
        counts[0, p] += 1
        counts[1, q] += 1
        counts[2, r] += 1
        for row, cell in ((np.uint32(0), p), (np.uint32(1), q), (np.uint32(2), r)):
            bins[row, cell, 0] = min(bins[row, cell, 0], x)
            bins[row, cell, 1] = min(bins[row, cell, 1], y)
            bins[row, cell, 2] = min(bins[row, cell, 2], z)
            bins[row, cell, 3] = min(bins[row, cell, 3], u)
            bins[row, cell, 4] = min(bins[row, cell, 4], v)
            bins[row, cell, 5] = min(bins[row, cell, 5], w)
    best, axis, place = np.inf, -1, 0
    for a in range(3):
        if counts[a, 0] == last - first:
            continue
        x = y = z = u = v = w = np.inf
        n = 0
        for k in range(size - 1, 0, -1):
            if counts[a, k] > 0:
                n += counts[a, k]
                x, y, z, u, v, w = _widened(x, y, z, u, v, w, bins[a, k])
            after[k] = half_area(x, y, z, u, v, w) * n if n > 0 else np.inf
        x = y = z = u = v = w = np.inf
        n = 0
        for k in range(size - 1):
            if counts[a, k] > 0:  # else the same split as one bin before
                n += counts[a, k]
                x, y, z, u, v, w = _widened(x, y, z, u, v, w, bins[a, k])
                cost = half_area(x, y, z, u, v, w) * n + after[k + 1]
                if cost < best:
                    best, axis, place = cost, a, k + 1
    if axis == 0:
        return best, axis, x0, sx, np.float64(place)
    if axis == 1:
        return best, axis, y0, sy, np.float64(place)
    return best, axis, z0, sz, np.float64(place)


@helper
def _sort(refs, first, last, axis, numbers):
    """The rows first .. last - 1 by their centres along the axis, stable: numbers (SWEPT,) int64, written."""
    for i in range(last - first):
        centre = np.float64(refs[first + i, axis]) - np.float64(refs[first + i, 3 + axis])
        k = i
        while k > 0:
            j = first + numbers[k - 1]
            if np.float64(refs[j, axis]) - np.float64(refs[j, 3 + axis]) <= centre:
                break
            numbers[k] = numbers[k - 1]
            k -= 1
        numbers[k] = i


@helper
def _swept(refs, first, last, summary, numbers, rows, after):
    """The best of all splits, for few boxes: (cost, axis, middle); the rows are left in that order.

    numbers (SWEPT,) int64, rows (SWEPT, 8) float32, after (SWEPT or more,) float64: scratch.
    """
    n = last - first
    best, axis, middle = np.inf, -1, 0
    for a in range(3):
        if not summary[6 + a] < -summary[9 + a]:
            continue
        _sort(refs, first, last, a, numbers)
        x = y = z = u = v = w = np.inf
        for k in range(n - 1, 0, -1):
            i = first + numbers[k]
            x, y, z = min(x, np.float64(refs[i, 0])), min(y, np.float64(refs[i, 1])), min(z, np.float64(refs[i, 2]))
            u, v, w = min(u, np.float64(refs[i, 3])), min(v, np.float64(refs[i, 4])), min(w, np.float64(refs[i, 5]))
            after[k] = half_area(x, y, z, u, v, w) * (n - k)
        x = y = z = u = v = w = np.inf
        for k in range(n - 1):
            i = first + numbers[k]
            x, y, z = min(x, np.float64(refs[i, 0])), min(y, np.float64(refs[i, 1])), min(z, np.float64(refs[i, 2]))
            u, v, w = min(u, np.float64(refs[i, 3])), min(v, np.float64(refs[i, 4])), min(w, np.float64(refs[i, 5]))
            cost = half_area(x, y, z, u, v, w) * (k + 1) + after[k + 1]
            if cost < best:
                best, axis, middle = cost, a, k + 1
    if axis >= 0:
        if axis < 2:
            _sort(refs, first, last, axis, numbers)
        for k in range(n):
            for c in range(8):
                rows[k, c] = refs[first + k, c]
        for k in range(n):
            for c in range(8):
                refs[first + k, c] = rows[numbers[k], c]
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
def _halve(refs, first, last, summary):
    """Two halves by the median centre along the axis of the largest extent: (axis, middle).

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
    place = _partition(refs, first, last, axis, high, 1.0, 0.0)
    if place < first + half:
        j = last
        while place < j:
            if np.float64(refs[place, axis]) - np.float64(refs[place, 3 + axis]) <= high:
                place += 1
            else:
                j -= 1
                for c in range(8):
                    value = refs[place, c]
                    refs[place, c] = refs[j, c]
                    refs[j, c] = value
    return axis, first + half


@helper
def divide(refs, first, last, depth, midpoint, leaf, test, summary, bins, counts, after, numbers, rows):
    """Split a part of the list in two: (axis, start of the second); axis -1 for a leaf.

    depth: levels from the root.  midpoint: the middle of the box along the axis of that depth, not SAH.  leaf: most
    boxes in a leaf.  test: cost of testing a box's content.
    """
    n = last - first
    if n == 1 or (midpoint and n <= leaf):
        return -1, first
    axis, place, base, scale, limit = -1, first, 0.0, 1.0, 0.0
    if midpoint:
        for offset in range(3):
            a = (depth + offset) % 3
            middle = summary[a] - summary[3 + a]
            if axis < 0 and summary[6 + a] < middle and not -summary[9 + a] < middle:
                axis, base = a, middle
    else:
        if n <= SWEPT:
            cost, axis, place = _swept(refs, first, last, summary, numbers, rows, after)
        else:
            cost, axis, base, scale, limit = _binned(refs, first, last, summary, bins, counts, after)
        area = half_area(summary[0], summary[1], summary[2], summary[3], summary[4], summary[5])
        if n <= leaf and not TRAVERSAL * area + test * cost < test * area * n:
            return -1, first
        if not area > 0.0:  # boxes along a line: all splits cost nothing, and halves are less deep
            axis = -1
    if axis >= 0:
        if midpoint or n > SWEPT:
            place = _partition(refs, first, last, axis, base, scale, limit)
        if depth + 1 + _levels(max(place - first, last - place)) <= MOST_DEPTH:
            return axis, place
    return _halve(refs, first, last, summary)
