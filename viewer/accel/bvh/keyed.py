"""Boxes of hierarchies by time: over triangles that move, nodes have a box at every key.

Corners are linear between two keys, and so within the boxes that are linear between those of the keys. Source:
L. Grünschloß et al., "MSBVH: An Efficient Acceleration Data Structure for Ray Traced Motion Blur" (2011); S. Woop,
A. T. Áfra and C. Benthin, "STBVH: A Spatial-Temporal BVH for Efficient Multi-Segment Motion Blur" (2017), linear bounds
over several segments.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from viewer.accel.bvh.build import Bvh
from viewer.accel.motion import Moving, ends_of

Boxes = NDArray[np.float32]  # (..., 2, 3): lowest and highest corners
MOVING_BOXES = "MOVING_BOXES"  # feature of the scene
# Of coordinates at any key: more than the errors of a corner and of a box between two keys, 5 half units in the last
# place each (viewer.accel.motion.ROUNDING is of corners alone).
ROUNDING = 2.0**-20


def keyed(bvh: Bvh, bounds: NDArray[np.float32], moving: Moving | None) -> Bvh:
    """The tree over corners ``bounds`` (T, 3, 3) with the boxes of its nodes at every key; ``low`` and ``high`` are
    those over all keys. The tree itself where nothing moves."""
    if moving is None or not len(bvh.order):
        return bvh
    low, high = ends_of(bounds)
    levels = _levels(bvh)
    keys = np.empty((len(moving.corners), len(bvh.low), 2, 3), np.float32)
    for key, corners in zip(keys, moving.corners, strict=True):
        low[moving.numbers], high[moving.numbers] = ends_of(corners)
        key[:, 0], key[:, 1] = _refitted(bvh, levels, low, np.minimum), _refitted(bvh, levels, high, np.maximum)
    wide = with_margin(keys)
    return replace(bvh, low=wide[:, :, 0].min(axis=0), high=wide[:, :, 1].max(axis=0), keys=keys)


def with_margin(keys: Boxes) -> Boxes:
    """Boxes (K, N, 2, 3) at keys enlarged by the rounding of what is between them."""
    margin = np.float32(ROUNDING) * np.abs(keys).max(axis=(0, 2))
    return keys + np.stack([-margin, margin], axis=1)


def merged(keys: Boxes, segments: int) -> Boxes:
    """Boxes (segments + 1, N, 2, 3), segments a divisor of K - 1, for boxes (K, N, 2, 3): linear over several keys, and
    at each of these around its box (Woop et al. 2017)."""
    step = (len(keys) - 1) // segments
    if step == 1:
        return keys
    ends = keys[::step].astype(np.float64)
    found = ends.copy()
    for segment in range(segments):
        out = np.zeros(ends.shape[1:])
        for k in range(1, step):
            line = ends[segment] + k / step * (ends[segment + 1] - ends[segment])
            out = np.maximum(out, (line - keys[segment * step + k]) * [[1.0], [-1.0]])
        for end in (segment, segment + 1):
            found[end, :, 0] = np.minimum(found[end, :, 0], ends[end, :, 0] - out[:, 0])
            found[end, :, 1] = np.maximum(found[end, :, 1], ends[end, :, 1] + out[:, 1])
    return found.astype(np.float32)


def most_segments(segments: int, still: int, moving: int, room: int) -> int:
    """The most segments, a divisor of ``segments``, with which so many rows, of those that move one for each key, have
    room; 0: none has."""
    fitting = (n for n in range(segments, 0, -1) if segments % n == 0 and still + moving * (n + 1) <= room)
    return next(fitting, 0)


def _levels(bvh: Bvh) -> list[NDArray[np.intp]]:
    """The inner nodes of each level of the tree, from the root on."""
    found, here = [], np.zeros(1, np.intp)
    while len(here := here[bvh.second[here] >= 0]):
        found.append(here)
        here = np.concatenate([here + 1, bvh.second[here].astype(np.intp)])
    return found


def _refitted(bvh: Bvh, levels: list[NDArray[np.intp]], ends: NDArray[np.float32], union: np.ufunc) -> NDArray:
    """(N, 3): one end of the boxes of nodes, by those of triangles (T, 3)."""
    out = np.empty((len(bvh.low), 3), np.float32)
    leaves = np.flatnonzero(bvh.second < 0)  # whose triangles lie one leaf after the other
    out[leaves] = union.reduceat(ends[bvh.order], bvh.first[leaves], axis=0)
    for inner in reversed(levels):
        out[inner] = union(out[inner + 1], out[bvh.second[inner]])
    return out
