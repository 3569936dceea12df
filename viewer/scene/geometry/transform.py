"""Points and normals under affine maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.scene.mesh import Float


def transform_points(points: Float, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, V, 3): points (V, 3), or (N, V, 3), under the maps (N, 4, 4); under identities the points themselves."""
    same = (matrices == np.eye(4)).all(axis=(1, 2))
    if same.all():  # most scenes: no work for millions of vertices
        return np.broadcast_to(points.astype(np.float64, copy=False), (len(matrices), *points.shape[-2:]))
    with np.errstate(all="ignore"):  # non-finite vertices pass through, and are reported by the caller
        moved = points.astype(np.float64) @ matrices[:, :3, :3].transpose(0, 2, 1) + matrices[:, None, :3, 3]
        moved[same] = np.broadcast_to(points, moved.shape)[same]
    return moved


def transform_normals(normals: Float, matrices: NDArray[np.float64]) -> Float:
    """(N, V, 3): unit normals (V, 3), or (N, V, 3), under the maps (N, 4, 4), by the cofactor matrix: the inverse
    transpose times the determinant, defined for singular maps too."""
    linear = matrices[:, :3, :3]
    same = (linear == np.eye(3)).all(axis=(1, 2))
    if same.all():
        return np.broadcast_to(normals, (len(matrices), *normals.shape[-2:]))
    x, y, z = linear[:, 0], linear[:, 1], linear[:, 2]
    cofactor = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=1)
    cofactor[np.linalg.det(linear) < 0] *= -1.0
    with np.errstate(all="ignore"):
        turned = normals.astype(np.float64) @ cofactor.transpose(0, 2, 1)
        length = np.linalg.norm(turned, axis=2, keepdims=True)
        unit = np.where(length > 0, turned / np.where(length > 0, length, 1), normals)
    unit[same] = np.broadcast_to(normals, unit.shape)[same]
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


def shifted(transforms: NDArray[np.float64], shift: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Maps (..., 4, 4) with their places moved by a vector (3,)."""
    moved = np.array(transforms, np.float64)
    moved[..., :3, 3] += np.asarray(shift, np.float64)
    return moved
