"""The compiled loops of `viewer.denoise.irradiance_cache`: a hash table of cells, with open addressing.

A cell has a key, 0 where its place is empty, and sums: weighted light (red, green, blue), its luminance squared, and
weight. The keys of a cell hold its level, the way that its surfaces face, and its place modulo 2^17 along each axis.
"""

from __future__ import annotations

import numpy as np

from viewer.base.jit import helper

LEVELS = 4  # of cells, each twice as wide as the one before, that light is kept in and sought in
PROBES = 16  # places looked at for a key
LEAST_FACING = 0.1  # cosine between a surface and an axis: below, the surface does not face that way
LEAST_SHARE = 0.03  # of the eight cells around a point: nearer ones matter more
RED, GREEN, BLUE = 0.2126, 0.7152, 0.0722  # of luminance
FEW = 4.0  # samples that do not tell their variance: it is taken for that of light that is there at one in five
RARE = 4.0  # variance of that by its squared mean


def scratch():
    """What both loops need room for: a point, a direction, and sums."""
    return np.empty(3), np.empty(3), np.empty(5), np.empty(5)


def add(normals, light, stride, first, view, levels, widths, samples, keys, sums, used, room, point, facing):
    """Add the light of pixels to their cells.

    normals, light (H, W, 4) float32 : normal and 1 / depth; light, and something. Every ``stride``-th row and column
    counts from ``first`` (2,) on. view (4, 3) : through the centre of the first pixel, its changes to the right and
    down, and the eye. levels (H, W) int64, widths (H, W) float64 : of the finest cells of a pixel. samples : that a
    pixel is the mean of. keys (N,) int64, sums (N, 5) float32, written; N is a power of two. used (1,) counts the
    keys, of which there is ``room`` for so many. The rest: of `scratch`.
    """
    for row in range((normals.shape[0] - first[1] + stride - 1) // stride):
        for column in range((normals.shape[1] - first[0] + stride - 1) // stride):
            x, y = first[0] + column * stride, first[1] + row * stride
            if not _surface(normals, view, x, y, point, facing):
                continue
            if not (np.isfinite(light[y, x, 0]) and np.isfinite(light[y, x, 1]) and np.isfinite(light[y, x, 2])):
                continue
            width = widths[y, x]
            for step in range(LEVELS):
                a, b, c = np.floor(point[0] / width), np.floor(point[1] / width), np.floor(point[2] / width)
                for axis in range(3):
                    share = facing[axis] * facing[axis]
                    if share < LEAST_FACING * LEAST_FACING:
                        continue
                    key = _key(np.int64(a), np.int64(b), np.int64(c), levels[y, x] + step, _way(axis, facing[axis]))
                    place = _place(key, keys)
                    if place < 0:
                        continue
                    if keys[place] == 0:
                        if used[0] >= room:
                            continue
                        keys[place] = key
                        used[0] += 1
                    share *= samples
                    for k in range(3):
                        sums[place, k] += share * light[y, x, k]
                    value = RED * light[y, x, 0] + GREEN * light[y, x, 1] + BLUE * light[y, x, 2]
                    sums[place, 3] += share * samples * value * value
                    sums[place, 4] += share
                width *= 2.0


def find(normals, view, levels, widths, error, keys, sums, found, point, facing, sum_here, total):
    """The light that is known at pixels: of the finest cells around, and of wider ones as far as these do not tell it
    within a relative ``error``.

    found (H, W, 5) float32, written : light, how many samples it is of, and the variance of one's luminance. The others
    as of `add`.
    """
    for y in range(normals.shape[0]):
        for x in range(normals.shape[1]):
            for k in range(5):
                total[k] = 0.0
            if _surface(normals, view, x, y, point, facing):
                width = widths[y, x]
                for step in range(LEVELS):
                    _around(point, facing, width, levels[y, x] + step, keys, sums, sum_here)
                    share = 1.0
                    if step > 0:  # as much of the wider cells as is lacking
                        share = min(1.0, max(_wanted(sum_here, error) - total[4], 0.0) / max(sum_here[4], 1e-30))
                    for k in range(5):
                        total[k] += share * sum_here[k]
                    if total[4] >= _wanted(total, error):
                        break
                    width *= 2.0
            scale = 1.0 / total[4] if total[4] > 0.0 else 0.0
            for k in range(3):
                found[y, x, k] = total[k] * scale
            value = RED * found[y, x, 0] + GREEN * found[y, x, 1] + BLUE * found[y, x, 2]
            found[y, x, 3] = total[4]
            found[y, x, 4] = max(total[3] * scale - value * value, 0.0)


@helper
def _wanted(total, error):
    """How many samples tell the mean of such light within a relative error."""
    if total[4] <= 0.0:
        return np.inf
    value = (RED * total[0] + GREEN * total[1] + BLUE * total[2]) / total[4]
    squared = value * value + 1e-30
    relative = max(total[3] / total[4] / squared - 1.0, 0.0)
    relative = (total[4] * relative + FEW * RARE) / (total[4] + FEW)
    return relative / (error * error)


@helper
def _around(point, facing, width, level, keys, sums, made):
    """What the eight cells around a point hold for surfaces that face so, the nearer the more."""
    a, b, c = point[0] / width - 0.5, point[1] / width - 0.5, point[2] / width - 0.5
    low_a, low_b, low_c = np.floor(a), np.floor(b), np.floor(c)
    for part in range(5):
        made[part] = 0.0
    for corner in range(8):
        i, j, k = corner & 1, (corner >> 1) & 1, corner >> 2
        near = (a - low_a if i else 1.0 - a + low_a) * (b - low_b if j else 1.0 - b + low_b)
        near *= c - low_c if k else 1.0 - c + low_c
        if near < LEAST_SHARE:
            continue
        for axis in range(3):
            share = facing[axis] * facing[axis]
            if share < LEAST_FACING * LEAST_FACING:
                continue
            key = _key(np.int64(low_a) + i, np.int64(low_b) + j, np.int64(low_c) + k, level, _way(axis, facing[axis]))
            place = _place(key, keys)
            if place >= 0 and keys[place] != 0:
                for part in range(5):
                    made[part] += near * share * sums[place, part]


@helper
def _surface(normals, view, x, y, point, facing):
    """Where the surface of a pixel is, and how it faces; whether there is one."""
    nearness = normals[y, x, 3]
    squared = 0.0
    for k in range(3):
        squared += np.float64(normals[y, x, k]) * np.float64(normals[y, x, k])
    if not (nearness > 0.0 and squared > 0.25 and np.isfinite(nearness) and np.isfinite(squared)):
        return False
    for k in range(3):
        point[k] = view[3, k] + (view[0, k] + x * view[1, k] + y * view[2, k]) / nearness
        facing[k] = normals[y, x, k] / np.sqrt(squared)
    return True


@helper
def _way(axis, facing):
    """1 to 6: down or up an axis."""
    return 2 * axis + (1 if facing < 0.0 else 2)


@helper
def _key(a, b, c, level, way):
    mask = (1 << 17) - 1
    place = (((a & mask) << 17 | (b & mask)) << 17) | (c & mask)
    return (place << 10) | ((level & 127) << 3) | way


@helper
def _place(key, keys):
    """Where a key is, or where there is room for it; -1: neither is near."""
    mixed = key ^ (key >> 31)
    mixed *= 0x7FB5D329728EA185
    mixed ^= (mixed >> 27) & 0x1FFFFFFFFF
    mixed *= 0x01DADEF4BC2DD44D
    mixed ^= (mixed >> 33) & 0x7FFFFFFF
    last = keys.shape[0] - 1
    for probe in range(PROBES):
        place = (mixed + probe) & last
        if keys[place] == key or keys[place] == 0:
            return place
    return -1
