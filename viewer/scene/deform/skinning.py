"""The compiled loop of skinning: vertices and normals by the weighted sums of their joints' matrices."""

from __future__ import annotations

import numpy as np


def skin(rows, joints, weights, positions, normals, to):
    """Move positions (V, 3) float64 by the weighted sums of the rows (J, 3, 4) float64 of their joints (V, K), and turn
    normals (V, 3) float64 by the cofactors of these; both are written, and ``to`` (3, 4) float64. A weight of 0 is no
    influence: the joint may not be finite."""
    for v in range(len(positions)):
        to[:] = 0.0
        for k in range(joints.shape[1]):
            weight = np.float64(weights[v, k])
            if weight != 0.0:
                for r in range(3):
                    for c in range(4):
                        to[r, c] += weight * rows[joints[v, k], r, c]
        px, py, pz = positions[v, 0], positions[v, 1], positions[v, 2]
        for r in range(3):
            positions[v, r] = to[r, 0] * px + to[r, 1] * py + to[r, 2] * pz + to[r, 3]
        # Rows of cofactors: the cross products of the two other rows.
        nx, ny, nz = normals[v, 0], normals[v, 1], normals[v, 2]
        volume = 0.0
        for r in range(3):
            p, q = (r + 1) % 3, (r + 2) % 3
            x = to[p, 1] * to[q, 2] - to[p, 2] * to[q, 1]
            y = to[p, 2] * to[q, 0] - to[p, 0] * to[q, 2]
            z = to[p, 0] * to[q, 1] - to[p, 1] * to[q, 0]
            if r == 0:
                volume = to[0, 0] * x + to[0, 1] * y + to[0, 2] * z
            normals[v, r] = x * nx + y * ny + z * nz
        if volume < 0.0:
            for r in range(3):
                normals[v, r] = -normals[v, r]
