"""Curved faces: biquadratic Bezier patches over nets of control points, tessellated into triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STEPS = 8  # segments of a patch along each side


def weights(patches: int, steps: int = STEPS) -> NDArray[np.float64]:
    """(patches steps + 1, 2 patches + 1): weight of each control point at each point along one direction."""
    at = np.arange(patches * steps + 1)
    patch = np.minimum(at // steps, patches - 1)
    t = at / steps - patch
    found = np.zeros((len(at), 2 * patches + 1))
    for k, weight in enumerate(((1 - t) ** 2, 2 * t * (1 - t), t**2)):
        found[np.arange(len(at)), 2 * patch + k] = weight
    return found


def tessellated(net: NDArray[np.float64], steps: int = STEPS) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points ((rows) (columns), C) of a net (H, W, C) of control points with any attributes, H and W odd and at least
    3, and triangles (T, 3); neighbouring patches share points."""
    tall, wide = net.shape[:2]
    down, across = weights((tall - 1) // 2, steps), weights((wide - 1) // 2, steps)
    points = np.einsum("ia,jb,abc->ijc", down, across, net, optimize=True)
    rows, columns = points.shape[:2]
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    b, c, d = a + columns, a + columns + 1, a + 1
    triangles = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=1).reshape(-1, 3)
    return points.reshape(-1, net.shape[2]), triangles
