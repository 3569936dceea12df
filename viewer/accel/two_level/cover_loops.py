"""The compiled loops of covers (`viewer.accel.two_level.objects.cover`): over triangles at several keys in time."""

from __future__ import annotations

import numpy as np


def ends(corners, low, high):
    """Lowest and highest corners (T, 3) float32, written, of triangles (K, T, 3, 3) float32 over all keys."""
    for t in range(len(low)):
        for a in range(3):
            least, most = corners[0, t, 0, a], corners[0, t, 0, a]
            for k in range(len(corners)):
                for c in range(3):
                    least, most = min(least, corners[k, t, c, a]), max(most, corners[k, t, c, a])
            low[t, a], high[t, a] = least, most


def reach(corners, group, x, y, z):
    """The square of the largest distance from a point to a corner of the triangles in a group (N,) of (K, T, 3, 3)."""
    most = 0.0
    for k in range(len(corners)):
        for t in group:
            for c in range(3):
                dx = np.float64(corners[k, t, c, 0]) - x
                dy = np.float64(corners[k, t, c, 1]) - y
                dz = np.float64(corners[k, t, c, 2]) - z
                most = max(most, dx * dx + dy * dy + dz * dz)
    return most
