"""Rays traced in packets, simulated: what they fetch together and what they test for nothing.

All rays of a packet go through the hierarchy by escape indices together: a node is entered if one of them meets its
box, and each of its fetches serves all (I. Wald et al., "Interactive Rendering with Coherent Ray Tracing", 2001). Four
rays at once are a wish of A. Adinetz and B. Berezin (2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base import jit
from reproduction.simulators.whitted.loops import ZERO, distance, enters, inverted

ROW = 8  # of a ray: origin, direction, t_max (below zero: it takes no part), the face that it hits
_STATE = 18  # of a ray in a packet: inverse; in the object: origin, direction, inverse; then spare
BOXES, TRIANGLES = 0, 1


@dataclass(frozen=True)
class Traffic:
    """boxes, triangles : fetched. rays : that took part. face : (N,) int32, what each hits, -1: nothing. distance :
    (N,) float32."""

    boxes: int
    triangles: int
    rays: int
    face: NDArray[np.int32]
    distance: NDArray[np.float32]


def traffic(structure: tuple[NDArray, ...], rays: NDArray[np.float32], size: int) -> Traffic:
    """Of rays (N, 7) in packets of ``size`` in a row, N a multiple of it; structure: as of `whitted.model.Model`."""
    held = np.zeros((len(rays), ROW), np.float32)
    held[:, :7] = rays
    face, counts = np.full(len(rays), -1, np.int32), np.zeros(2, np.int64)
    jit.run(_trace, *structure, held, face, size, np.zeros((size, _STATE), np.float32), counts)
    return Traffic(int(counts[BOXES]), int(counts[TRIANGLES]), int((rays[:, 6] > 0).sum()), face, held[:, 6].copy())


def blocks(rays: NDArray, width: int, height: int) -> NDArray:
    """Rays (width * height,) of a picture, row by row, in blocks of two by two pixels; both sides even."""
    return rays.reshape(height // 2, 2, width // 2, 2).swapaxes(1, 2).reshape(-1)


@jit.helper
def _any_enters(boxes, node, rays, first, size, state, local):
    """Whether one of a packet's rays meets a box; local: in the object's space."""
    for k in range(size):
        nearest = rays[first + k, 6]
        if nearest < ZERO:
            continue
        if local:
            met = enters(
                boxes, node, state[k, 3], state[k, 4], state[k, 5], state[k, 9], state[k, 10], state[k, 11], nearest
            )
        else:
            x, y, z = rays[first + k, 0], rays[first + k, 1], rays[first + k, 2]
            met = enters(boxes, node, x, y, z, state[k, 0], state[k, 1], state[k, 2], nearest)
        if met:
            return True
    return False


@jit.helper
def _to_object(instances, instance, rays, first, size, state):
    for k in range(size):
        for row in range(3):
            total, along = ZERO, ZERO
            for column in range(3):
                entry = instances[instance, 4 * row + column]
                total += entry * (rays[first + k, column] - instances[instance, 4 * column + 3])
                along += entry * rays[first + k, 3 + column]
            state[k, 3 + row], state[k, 6 + row], state[k, 9 + row] = total, along, inverted(along)


def _trace(top_boxes, top_links, boxes, links, instances, roots, corners, numbers, rays, face, size, state, counts):
    """The nearest hits of all packets: t_max of rays becomes their distance."""
    following = 0
    while following < len(rays):
        first, following, active = following, following + size, False
        for k in range(size):
            active = active or rays[first + k, 6] > ZERO
            for axis in range(3):
                state[k, axis] = inverted(rays[first + k, 3 + axis])
        above = 0 if active else len(top_links)
        while above < len(top_links):
            counts[BOXES] += 1
            instance = top_links[above, 1]
            if not _any_enters(top_boxes, above, rays, first, size, state, False):
                above = top_links[above, 0]
                continue
            above += 1
            if instance < 0:
                continue
            _to_object(instances, instance, rays, first, size, state)
            node = roots[instance, 0]
            while node < len(links):
                counts[BOXES] += 1
                if not _any_enters(boxes, node, rays, first, size, state, True):
                    node = links[node, 0]
                    continue
                start, count = links[node, 1], links[node, 2]
                node = links[node, 0] if count > 0 else node + 1
                for at in range(start, start + count):
                    counts[TRIANGLES] += 1
                    own = roots[instance, 1] + numbers[at]
                    for k in range(size):
                        nearest = rays[first + k, 6]
                        if nearest < ZERO:
                            continue
                        x, y, z = state[k, 3], state[k, 4], state[k, 5]
                        t = distance(corners, at, x, y, z, state[k, 6], state[k, 7], state[k, 8])
                        if t > ZERO and (t < nearest or (t == nearest and own < face[first + k])):
                            rays[first + k, 6], face[first + k] = t, own
