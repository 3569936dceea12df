"""Points and normals under affine maps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.scene.mesh import Float


def transform_points(points: Float, matrix: NDArray[np.float64]) -> NDArray:
    """Points (V, 3) under a map (4, 4): float64, or the points themselves under the identity."""
    if np.array_equal(matrix, np.eye(4)):
        return points
    with np.errstate(all="ignore"):  # non-finite vertices pass through, and are reported by the caller
        return points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def transform_normals(normals: Float, matrix: NDArray[np.float64]) -> Float:
    """Unit normals (V, 3) under a map (4, 4), by the cofactor matrix: the inverse transpose times the determinant,
    defined for singular maps too."""
    linear = matrix[:3, :3]
    if np.array_equal(linear, np.eye(3)):
        return normals
    cofactor = np.stack(
        [np.cross(linear[1], linear[2]), np.cross(linear[2], linear[0]), np.cross(linear[0], linear[1])]
    )
    if np.linalg.det(linear) < 0:
        cofactor = -cofactor
    with np.errstate(all="ignore"):
        turned = normals.astype(np.float64) @ cofactor.T
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        unit = np.where(length > 0, turned / np.where(length > 0, length, 1), normals)
    return unit.astype(np.float32)


def transform_tangents(tangents: Float, matrix: NDArray[np.float64]) -> Float:
    """glTF tangents (V, 4) under a map (4, 4): unit vectors, with the sign flipped by mirroring."""
    linear = matrix[:3, :3]
    if np.array_equal(linear, np.eye(3)):
        return tangents
    out = tangents.copy()
    with np.errstate(all="ignore"):
        turned = tangents[:, :3].astype(np.float64) @ linear.T
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        out[:, :3] = np.where(length > 0, turned / np.where(length > 0, length, 1), tangents[:, :3])
    if np.linalg.det(linear) < 0:
        out[:, 3] *= -1.0
    return out
