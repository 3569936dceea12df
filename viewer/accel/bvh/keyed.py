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

from raystream.accel.bvh.build import Bvh
from raystream.accel.motion import Moving
from raystream.base.jit import run

Boxes = NDArray[np.float32]  # (..., 2, 3): lowest and highest corners
MOVING_BOXES = "MOVING_BOXES"  # feature of the scene
# Of coordinates at any key: more than the errors of a corner and of a box between two keys, 5 half units in the last
# place each (raystream.accel.motion.ROUNDING is of corners alone).
ROUNDING = 2.0**-20
SMALL = 500  # triangles times keys up to which the loop is not worth compiling


def keyed(bvh: Bvh, bounds: NDArray[np.float32], moving: Moving | None) -> Bvh:
    """The tree over corners ``bounds`` (T, 3, 3) with the boxes of its nodes at every key; ``low`` and ``high`` are
    those over all keys. The tree itself where nothing moves."""
    if moving is None or not len(bvh.order):
        return bvh
    row = np.full(len(bounds), -1, np.int64)
    row[moving.numbers] = np.arange(len(moving.numbers))
    keys = np.empty((len(moving.corners), len(bvh.low), 2, 3), np.float32)
    arrays = np.ascontiguousarray(bounds), np.ascontiguousarray(moving.corners), row
    tree = bvh.order, bvh.second, bvh.first, bvh.count
    run(boxes_at_keys, *arrays, *tree, keys, small=len(keys) * len(bvh.order) <= SMALL)
    wide = with_margin(keys)
    return replace(bvh, low=wide[:, :, 0].min(axis=0), high=wide[:, :, 1].max(axis=0), keys=keys)


def with_margin(keys: Boxes) -> Boxes:
    """Boxes (K, N, 2, 3) at keys, enlarged by the rounding of interpolation between them."""
    margin = np.float32(ROUNDING) * np.abs(keys).max(axis=0).max(axis=1)
    wide = np.empty_like(keys)
    np.subtract(keys[:, :, 0], margin, out=wide[:, :, 0])
    np.add(keys[:, :, 1], margin, out=wide[:, :, 1])
    return wide


def merged(keys: Boxes, segments: int) -> Boxes:
    """Boxes (segments + 1, N, 2, 3), segments a divisor of K - 1, for boxes (K, N, 2, 3): linear over several keys, and
    at each of these around its box (Woop et al. 2017)."""
    step = (len(keys) - 1) // segments
    if step == 1:
        return keys
    ends = keys[::step].astype(np.float64)
    boxes = ends.copy()
    for segment in range(segments):
        out = np.zeros(ends.shape[1:])
        for k in range(1, step):
            line = ends[segment] + k / step * (ends[segment + 1] - ends[segment])
            out = np.maximum(out, (line - keys[segment * step + k]) * [[1.0], [-1.0]])
        for end in (segment, segment + 1):
            boxes[end, :, 0] = np.minimum(boxes[end, :, 0], ends[end, :, 0] - out[:, 0])
            boxes[end, :, 1] = np.maximum(boxes[end, :, 1], ends[end, :, 1] + out[:, 1])
    return boxes.astype(np.float32)


def most_segments(segments: int, still: int, moving: int, room: int) -> int:
    """The most segments, a divisor of ``segments``, at which ``still`` rows and ``moving`` ones for each key fit in
    ``room``; 0: none do."""
    fitting = (n for n in range(segments, 0, -1) if segments % n == 0 and still + moving * (n + 1) <= room)
    return next(fitting, 0)


def boxes_at_keys(bounds, corners, row, order, second, first, count, keys):
    """Boxes (K, N, 2, 3) float32, written, of a tree's nodes over triangles ``bounds`` (T, 3, 3) float32. Those with a
    ``row`` (T,) from 0 on are at each key as in ``corners`` (K, M, 3, 3)."""
    for key in range(len(keys)):
        for node in range(len(second) - 1, -1, -1):
            for a in range(3):
                if second[node] >= 0:
                    keys[key, node, 0, a] = min(keys[key, node + 1, 0, a], keys[key, second[node], 0, a])
                    keys[key, node, 1, a] = max(keys[key, node + 1, 1, a], keys[key, second[node], 1, a])
                    continue
                keys[key, node, 0, a], keys[key, node, 1, a] = np.inf, -np.inf
                for k in range(first[node], first[node] + count[node]):
                    t = order[k]
                    for c in range(3):
                        value = bounds[t, c, a] if row[t] < 0 else corners[key, row[t], c, a]
                        keys[key, node, 0, a] = min(keys[key, node, 0, a], value)
                        keys[key, node, 1, a] = max(keys[key, node, 1, a], value)
