"""Vertices: near a centre as float32 holds them, welded, and with normals under affine maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.jit import run
from raystream.scene.mesh import Float

# -- vertices of files as float32 holds them ---------------------------------------------------------------------------
# Far from the origin relative to their centre, and texture coordinates.

# Distance from the origin, in edges of the box, from which float32 rounds by more than a millionth of the edge.
FAR_EDGES = 16.0


def centred(positions: ArrayLike) -> tuple[Float, NDArray[np.float64]]:
    """(positions (V, 3) float32 relative to a centre, the transform (4, 4) that puts them back): the identity where
    they lie near the origin, or float32 holds them as they are."""
    points = np.asarray(positions)
    transform = np.eye(4)
    with np.errstate(over="ignore", invalid="ignore"):  # overflows become infinite, and are counted later
        float32_points = points.astype(np.float32)
        if points.dtype != np.float64 or not len(points):
            return float32_points, transform
        finite = np.isfinite(float32_points).all(axis=1)
        finite_points = points if finite.all() else points[finite]
        if not len(finite_points):
            return float32_points, transform
        low, high = finite_points.min(axis=0), finite_points.max(axis=0)
        longest_edge = float((high - low).max())
        if not 0.0 < longest_edge < max(float(np.abs(low).max()), float(np.abs(high).max())) / FAR_EDGES:
            return float32_points, transform
        if (float32_points[finite] == finite_points).all():
            return float32_points, transform
        transform[:3, 3] = np.round((low + high) / 2.0)
        return (points - transform[:3, 3]).astype(np.float32), transform


def finite_uvs(uvs: NDArray, warnings: list[str]) -> NDArray:
    """Texture coordinates (V, 2), with 0 for those that float32 does not hold, and a warning with their number."""
    finite = np.abs(uvs) <= np.finfo(np.float32).max
    if finite.all():
        return uvs
    invalid_count = int(np.count_nonzero(~finite.all(axis=1)))
    warnings.append(f"{invalid_count:,} texture coordinates are not finite; 0 instead")
    return np.where(finite, uvs, uvs.dtype.type(0.0))


# -- welding: vertices of equal bits are merged ------------------------------------------------------------------------


def weld(words: NDArray[np.uint32], small: bool = False) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows of equal bits, numbered by first appearance: (index of each row (N,), first row of each index).

    words (N, K); -0.0 counts as 0.0 (the same position). small : too few for a compiled loop.
    """
    count = len(words)
    table = np.full(max(16, 1 << (2 * count - 1).bit_length()), -1, np.int32)
    indices, first = np.empty(count, np.int32), np.empty(count, np.int32)
    distinct = run(_weld, words, table, indices, first, small=small)
    return indices, first[:distinct]


def _weld(words, table, indices, first):
    """See `weld`; returns the count of indices. indices, first (N,) int32, written.

    Open addressing with linear probing; table (S,) int32: -1, S a power of two and at least 2 N.
    """
    count, width = words.shape
    size = len(table)
    index_count = 0
    mask = np.uint64(size - 1)
    for row in range(count):
        key = np.uint64(0x9E3779B97F4A7C15)
        for k in range(width):
            word = words[row, k]
            if word == np.uint32(0x80000000):
                word = np.uint32(0)
            key ^= np.uint64(word)
            key *= np.uint64(0xBF58476D1CE4E5B9)
            key ^= key >> np.uint64(29)
        slot = np.int64(key & mask)
        while True:
            candidate = table[slot]
            if candidate < 0:
                table[slot] = index_count
                first[index_count] = row
                indices[row] = index_count
                index_count += 1
                break
            is_equal = True
            for k in range(width):
                a, b = words[row, k], words[first[candidate], k]
                if a != b and not ((a | b) == np.uint32(0x80000000) and (a & b) == np.uint32(0)):
                    is_equal = False
                    break
            if is_equal:
                indices[row] = candidate
                break
            slot += 1
            if slot == size:
                slot = np.int64(0)
    return index_count


# -- points and normals under affine maps ------------------------------------------------------------------------------


def transform_points(points: Float, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, V, 3): points (V, 3), or (N, V, 3), under the maps (N, 4, 4); under identities the points themselves."""
    is_identity = (matrices == np.eye(4)).all(axis=(1, 2))
    if is_identity.all():  # most scenes: no work for millions of vertices
        return np.broadcast_to(points.astype(np.float64, copy=False), (len(matrices), *points.shape[-2:]))
    with np.errstate(all="ignore"):  # non-finite vertices pass through, and are reported by the caller
        transformed = points.astype(np.float64) @ matrices[:, :3, :3].transpose(0, 2, 1) + matrices[:, None, :3, 3]
        transformed[is_identity] = np.broadcast_to(points, transformed.shape)[is_identity]
    return transformed


def transform_normals(normals: Float, matrices: NDArray[np.float64]) -> Float:
    """(N, V, 3): unit normals (V, 3), or (N, V, 3), under the maps (N, 4, 4), by the cofactor matrix: the inverse
    transpose times the determinant, defined for singular maps too."""
    linear = matrices[:, :3, :3]
    is_identity = (linear == np.eye(3)).all(axis=(1, 2))
    if is_identity.all():
        return np.broadcast_to(normals, (len(matrices), *normals.shape[-2:]))
    x, y, z = linear[:, 0], linear[:, 1], linear[:, 2]
    cofactor = np.stack([np.cross(y, z), np.cross(z, x), np.cross(x, y)], axis=1)
    cofactor[np.linalg.det(linear) < 0] *= -1.0
    with np.errstate(all="ignore"):
        transformed = normals.astype(np.float64) @ cofactor.transpose(0, 2, 1)
        length = np.linalg.norm(transformed, axis=2, keepdims=True)
        unit = np.where(length > 0, transformed / np.where(length > 0, length, 1), normals)
    unit[is_identity] = np.broadcast_to(normals, unit.shape)[is_identity]
    return unit.astype(np.float32)


def transform_tangents(tangents: Float, matrix: NDArray[np.float64]) -> Float:
    """glTF tangents (V, 4) under a map (4, 4): unit vectors, with the sign flipped by mirroring."""
    linear = matrix[:3, :3]
    if np.array_equal(linear, np.eye(3)):
        return tangents
    result = tangents.copy()
    with np.errstate(all="ignore"):
        transformed = tangents[:, :3].astype(np.float64) @ linear.T
        length = np.linalg.norm(transformed, axis=1, keepdims=True)
        result[:, :3] = np.where(length > 0, transformed / np.where(length > 0, length, 1), tangents[:, :3])
    if np.linalg.det(linear) < 0:
        result[:, 3] *= -1.0
    return result


def shifted(transforms: NDArray[np.float64], shift: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Transforms (..., 4, 4) with their translations moved by a vector (3,)."""
    shifted_transforms = np.array(transforms, np.float64)
    shifted_transforms[..., :3, 3] += np.asarray(shift, np.float64)
    return shifted_transforms
