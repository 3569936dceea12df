"""The compiled loops of `raystream.lighting.light_tree`: lights, a row of each, and the tree that their partings make.

A row is (`COLUMNS`,) float64: the middle and radius of the sphere that holds a light; the axis of the cone of its
normals, cosine and sine of that cone's half angle; the cosine of the angle from a normal within which light leaves; its
power over that of all; 1 where both sides shine; its index. A parting permutes the rows of its cluster, so that each
part reads memory in order. The tree of N lights has N - 1 nodes, wherever it is parted, so that both parts of a cluster
know the places of theirs, and it does not matter who makes them.
"""

from __future__ import annotations

import numpy as np

from raystream.base.jit import helper

COLUMNS = 13
KNOWN = 11  # of a cluster: middle and radius, axis, cosines of spread and emission, power, both
BINS, FEW_BINS = 12, 8  # along an axis; in clusters of up to FEW lights, where bins cost more than these
FEW = 32
SUMS = 9  # of a bin: count, power, squared distances, middles, normals
TRAIL_BITS = 23  # of a bit trail, that one number holds: whole numbers are exact in floats up to 2^24
DEEPEST = 2 * TRAIL_BITS  # levels
HALVED = 24  # levels from which on clusters are halved: a tree of 2^22 lights then stays within the deepest


def scratch():
    """Working memory of `grow`: bins, the sums behind each, the stack of waiting parts, and the box of centres."""
    return np.empty((3, BINS, SUMS)), np.empty((BINS, SUMS)), np.empty((DEEPEST + 2, 6), np.int64), np.empty(6)


def grow(rows, first, last, node, depth, low, high, far, complete, bounds, links, trails, bins, after, waiting, box):
    """Part the cluster of the rows first .. last - 1, at least two; its node, its level, and the bit trail to it.

    complete : part its parts, too, until lights are alone. far : by power alone.
    bounds (2 N, `KNOWN`), links (2 N, 1), written : of both children of each node. trails (L, 2), written : of the
    lights that are alone. The rest: `scratch`. Returns the levels below the root and the first row of the right part of
    the last cluster that was parted.
    """
    deepest, place, top = depth + 1, first, 0
    while True:
        deepest = max(deepest, depth + 1)
        place = _part(rows, first, last, depth, far, bins, after, box)
        for side in range(2):
            start, end = (first, place) if side == 0 else (place, last)
            child = 2 * node + side
            _bound(rows, start, end, bounds[child])
            other, another = low, high
            if side == 1:
                if depth < TRAIL_BITS:
                    other += 1 << depth
                else:
                    another += 1 << (depth - TRAIL_BITS)
            if end - start == 1:
                index = np.int64(rows[start, 12])
                links[child, 0] = -1 - index
                trails[index, 0], trails[index, 1] = other, another
                continue
            links[child, 0] = node + 1 if side == 0 else node + place - first
            if complete:
                waiting[top, 0], waiting[top, 1], waiting[top, 2] = start, end, links[child, 0]
                waiting[top, 3], waiting[top, 4], waiting[top, 5] = depth + 1, other, another
                top += 1
        if top == 0:
            return deepest, place
        top -= 1
        first, last, node = waiting[top, 0], waiting[top, 1], waiting[top, 2]
        depth, low, high = waiting[top, 3], waiting[top, 4], waiting[top, 5]


@helper
def _bound(rows, first, last, out):
    """The bounds of a cluster, see `KNOWN`."""
    lx = ly = lz = np.inf
    hx = hy = hz = -np.inf
    ax = ay = az = power = both = 0.0
    emission = 1.0
    for i in range(first, last):
        x, y, z, r = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3]
        lx, ly, lz = min(lx, x - r), min(ly, y - r), min(lz, z - r)
        hx, hy, hz = max(hx, x + r), max(hy, y + r), max(hz, z + r)
        ax += rows[i, 4]
        ay += rows[i, 5]
        az += rows[i, 6]
        emission = min(emission, rows[i, 9])
        power += rows[i, 10]
        both = max(both, rows[i, 11])
    mx, my, mz = (lx + hx) / 2, (ly + hy) / 2, (lz + hz) / 2
    length = np.sqrt(ax * ax + ay * ay + az * az)
    if length > 1e-9:
        ax, ay, az = ax / length, ay / length, az / length
    else:
        ax, ay, az = rows[first, 4], rows[first, 5], rows[first, 6]
    radius, spread = 0.0, 1.0
    for i in range(first, last):
        x, y, z = rows[i, 0] - mx, rows[i, 1] - my, rows[i, 2] - mz
        radius = max(radius, np.sqrt(x * x + y * y + z * z) + rows[i, 3])
        cosine = min(max(rows[i, 4] * ax + rows[i, 5] * ay + rows[i, 6] * az, -1.0), 1.0)
        if cosine <= -rows[i, 7]:
            spread = -1.0  # half a turn and more
        else:
            spread = min(spread, cosine * rows[i, 7] - np.sqrt(1.0 - cosine * cosine) * rows[i, 8])
    out[0], out[1], out[2], out[3] = mx, my, mz, radius
    out[4], out[5], out[6] = ax, ay, az
    out[7], out[8], out[9], out[10] = min(max(spread, -1.0), 1.0), emission, power, both


@helper
def _part(rows, first, last, depth, far, bins, after, box):
    """Part a cluster: the first row of its right part, behind its first one and before its end."""
    half = first + (last - first + 1) // 2
    if depth >= HALVED or last - first == 2:
        return half
    if far:
        total = 0.0
        for i in range(first, last):
            total += rows[i, 10]
        before, place = 0.0, first
        while place < last and before + rows[place, 10] / 2 < total / 2:
            before += rows[place, 10]
            place += 1
        return place if first < place < last else half
    axis, base, scale, edge = _cheapest(rows, first, last, bins, after, box)
    if axis < 0:
        return half
    i, j = first, last - 1
    while i <= j:
        if np.int64((rows[i, axis] - base) * scale) < edge:
            i += 1
        else:
            for c in range(COLUMNS):
                rows[i, c], rows[j, c] = rows[j, c], rows[i, c]
            j -= 1
    return i if first < i < last else half


@helper
def _cheapest(rows, first, last, bins, after, box):
    """The edge between bins where parting costs least: (axis, base, scale, edge); lights are left of it where
    (middle - base) scale, rounded down, is below the edge. Axis -1: there is none."""
    for a in range(3):
        box[a], box[3 + a] = np.inf, -np.inf
    for i in range(first, last):
        for a in range(3):
            box[a], box[3 + a] = min(box[a], rows[i, a]), max(box[3 + a], rows[i, a])
    longest = max(box[3] - box[0], box[4] - box[1], box[5] - box[2])
    if not longest > 0.0:
        return -1, 0.0, 0.0, 0
    unit = 1.0 / longest
    count = BINS if last - first > FEW else FEW_BINS
    reach = count * (1.0 - 2.0**-40)  # the last middle is in the last bin
    sx = reach / (box[3] - box[0]) if box[3] > box[0] else 0.0
    sy = reach / (box[4] - box[1]) if box[4] > box[1] else 0.0
    sz = reach / (box[5] - box[2]) if box[5] > box[2] else 0.0
    for a in range(3):
        for k in range(count):
            for c in range(SUMS):
                bins[a, k, c] = 0.0
    for i in range(first, last):
        # Within a half of zero, in lengths of the longest axis.
        x = (rows[i, 0] - 0.5 * (box[0] + box[3])) * unit
        y = (rows[i, 1] - 0.5 * (box[1] + box[4])) * unit
        z = (rows[i, 2] - 0.5 * (box[2] + box[5])) * unit
        r = rows[i, 3] * unit
        # Of a cone's normals, evenly spread, the length of the resultant.
        length, power = 0.5 * (1.0 + rows[i, 7]), rows[i, 10]
        squared = x * x + y * y + z * z + r * r
        nx, ny, nz = rows[i, 4] * length, rows[i, 5] * length, rows[i, 6] * length
        p = np.int64((rows[i, 0] - box[0]) * sx)
        q = np.int64((rows[i, 1] - box[1]) * sy)
        s = np.int64((rows[i, 2] - box[2]) * sz)
        for row, cell in ((0, p), (1, q), (2, s)):
            bins[row, cell, 0] += 1.0
            bins[row, cell, 1] += power
            bins[row, cell, 2] += squared
            bins[row, cell, 3] += x
            bins[row, cell, 4] += y
            bins[row, cell, 5] += z
            bins[row, cell, 6] += nx
            bins[row, cell, 7] += ny
            bins[row, cell, 8] += nz
    least, axis, edge = np.inf, -1, 0
    for a in range(3):
        if not box[3 + a] > box[a]:
            continue
        for c in range(SUMS):
            after[count - 1, c] = bins[a, count - 1, c]
        for k in range(count - 2, -1, -1):
            for c in range(SUMS):
                after[k, c] = after[k + 1, c] + bins[a, k, c]
        for k in range(1, count):
            for c in range(SUMS):  # from here on what is before the edge
                bins[a, k, c] += bins[a, k - 1, c]
            # Along a short axis parts are thin: the regularisation of the paper.
            cost = (_cost(bins[a, k - 1]) + _cost(after[k])) / ((box[3 + a] - box[a]) * unit)
            if cost < least:
                least, axis, edge = cost, a, k
    scale = sx if axis == 0 else sy if axis == 1 else sz
    return axis, box[max(axis, 0)], scale, edge


@helper
def _cost(sums):
    """Of a cluster by its sums; infinite for an empty one.

    The solid angle that light leaves into, weighed by its cosine beyond the cone of the normals, is pi for one normal
    and 4 pi for all; in between it follows 4 - 3 r^3 within a fifth, r the length of the mean of evenly spread normals.
    """
    if not sums[0] > 0.5:
        return np.inf
    over = 1.0 / sums[0]
    mean = (sums[3] * sums[3] + sums[4] * sums[4] + sums[5] * sums[5]) * over * over
    extent = max(sums[2] * over - mean, 1e-12)
    resultant = (sums[6] * sums[6] + sums[7] * sums[7] + sums[8] * sums[8]) * over * over
    return sums[1] * extent * (4.0 - 3.0 * resultant * np.sqrt(resultant))
