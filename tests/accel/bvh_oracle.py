"""Float64 walks through a bounding volume hierarchy on the host: what the GLSL walks must find, and at what cost."""

from __future__ import annotations

import numpy as np
from numba import njit
from oracle import Hits, hits_by, moller_trumbore

from raystream.accel.bvh_build import Bvh, octant_links

# Boxes are widened by so much of the distance at which a ray meets them: above what float64 rounds in the slab test
# (some 2^-51), so that a triangle in a face of its box is not lost.
SLACK = 1e-12


def walk_oracle(bvh: Bvh, corners: np.ndarray, origins: np.ndarray, directions: np.ndarray, ordered: bool) -> Hits:
    """The nearest triangle in front of each ray; see `oracle.Hits`, whose steps are boxes tested here.

    ordered: by the links of the ray's octant, front to back; else by the escape links, in depth-first order.
    Of triangles at the same t, the lower number.
    """
    if ordered:
        links = octant_links(bvh)
    else:
        nodes = len(bvh.second)
        first = np.where(bvh.second < 0, bvh.escape, np.arange(1, nodes + 1)).astype(np.int32)
        links = np.broadcast_to(np.stack([first, bvh.escape], -1), (8, nodes, 2)).copy()
    boxes, counts = np.stack([bvh.low, bvh.high], 1).astype(np.float64), np.where(bvh.second < 0, bvh.count, 0)
    return hits_by(_walk, (boxes, counts, bvh.first, links, bvh.order), corners, origins, directions)


@njit(cache=True, error_model="numpy")
def _walk(boxes, counts, firsts, links, order, corners, origins, directions, triangle, t, steps, tests):
    for ray in range(len(origins)):
        origin, direction = origins[ray], directions[ray]
        octant = 0
        for axis in range(3):
            if direction[axis] < 0.0:
                octant |= 1 << axis
        best, nearest, node = np.inf, -1, 0
        while node < len(counts):
            steps[ray] += 1
            enter, leave = 0.0, best
            for axis in range(3):
                low, high = boxes[node, 0, axis] - origin[axis], boxes[node, 1, axis] - origin[axis]
                if direction[axis] == 0.0:
                    if low > 0.0 or high < 0.0:
                        leave = -1.0
                    continue
                t0, t1 = low / direction[axis], high / direction[axis]
                t0, t1 = min(t0, t1), max(t0, t1)
                enter, leave = max(enter, t0 - SLACK * abs(t0)), min(leave, t1 + SLACK * abs(t1))
            if enter > leave:
                node = links[octant, node, 1]
                continue
            for place in range(firsts[node], firsts[node] + counts[node]):
                candidate = order[place]
                tests[ray] += 1
                hit = moller_trumbore(corners[candidate], origin, direction)
                if hit < best or (hit == best and hit < np.inf and candidate < nearest):
                    best, nearest = hit, candidate
            node = links[octant, node, 0]
        triangle[ray], t[ray] = nearest, best
