"""Curved faces: biquadratic Bezier patches over nets of control points, tessellated into triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STEPS = 8  # segments of a patch along each side


def tessellated(nets: NDArray[np.float64], steps: int = STEPS) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points (..., (rows) (columns), C) of nets (..., H, W, C) of control points with any attributes, H and W odd and
    at least 3, and the triangles (T, 3) of each; neighbouring patches share points."""
    points = _refined(_refined(nets, -3, steps), -2, steps)
    rows, columns = points.shape[-3:-1]
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    b, c, d = a + columns, a + columns + 1, a + 1
    triangles = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=1).reshape(-1, 3)
    return points.reshape(*points.shape[:-3], rows * columns, points.shape[-1]), triangles


def counts(sides: NDArray[np.int64], steps: int = STEPS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of points and of triangles (N,) of nets of those sides (N, 2)."""
    cells = (sides - 1) // 2 * steps
    return (cells + 1).prod(axis=1), 2 * cells.prod(axis=1)


def _refined(nets: NDArray[np.float64], axis: int, steps: int) -> NDArray[np.float64]:
    """Values between control points along one axis."""
    nets = np.moveaxis(nets, axis, 0)
    patches = (len(nets) - 1) // 2
    at = np.arange(patches * steps + 1)
    patch = np.minimum(at // steps, patches - 1)
    t = (at / steps - patch).reshape(-1, *[1] * (nets.ndim - 1))
    first = 2 * patch
    found = (1 - t) ** 2 * nets[first] + 2 * t * (1 - t) * nets[first + 1] + t**2 * nets[first + 2]
    return np.moveaxis(found, 0, axis)
