"""The compiled layout loops of `bvh_build`: a grown tree's nodes in depth-first order, their links and sums."""

from __future__ import annotations

import numpy as np

from raystream.accel.bvh.splits import half_area


def place_nodes(boxes, links, source, count, target, low, high, second, first, size, axis):
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


def finish(low, high, second, size, escape):
    """Escape links, and sums for the statistics: half surface areas of inner nodes, of leaves times their boxes; most
    boxes in a leaf; leaves."""
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


def surface(low, high):
    """Half the surface area of a box; low, high (3,) float32."""
    return half_area(
        np.float64(low[0]),
        np.float64(low[1]),
        np.float64(low[2]),
        -np.float64(high[0]),
        -np.float64(high[1]),
        -np.float64(high[2]),
    )


def octants(second, axis, links):
    """See `bvh_build.octant_links`; links (8, N, 2) int32, written."""
    total = len(second)
    for octant in range(8):
        if total > 0:
            links[octant, 0, 1] = total
        for i in range(total):
            after = links[octant, i, 1]
            if second[i] < 0:
                links[octant, i, 0] = after
                continue
            near, far = i + 1, second[i]
            if (octant >> axis[i]) & 1:
                near, far = far, near
            links[octant, i, 0] = near
            links[octant, near, 1] = far
            links[octant, far, 1] = after
