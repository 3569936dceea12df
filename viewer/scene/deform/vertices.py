"""Posed vertices in float64: the reference of the fragment programs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import run
from raystream.scene.deform.deformation import Deformation, MeshPose
from raystream.scene.geometry.triangles import LARGEST_COORDINATE
from raystream.scene.mesh import Float, Mesh

Array = NDArray[np.float64]

SMALL = 16  # vertices up to which the loop is not worth compiling


class Posed(NamedTuple):
    """A posed mesh's arrays, as in `Mesh`."""

    positions: Float
    normals: Float
    tangents: Float | None
    colors: Float | None
    uvs: Float | None
    uvs_1: Float | None


def posed(mesh: Mesh, deformation: Deformation, pose: MeshPose) -> Posed:
    """A mesh's arrays in a pose: morph targets first, then joints (glTF 2.0, 3.7.2.2 and 3.7.3.3).

    A normal is turned by the cofactors of its vertex's blended matrix, a tangent by the matrix itself; one without
    direction stays as it was before. Colours are held within 0 .. 1. Positions beyond `LARGEST_COORDINATE` are NaN, as
    are overflows: nothing hits their triangles.
    """
    with np.errstate(all="ignore"):
        base = mesh.positions if pose.positions is None else pose.positions
        positions = _morphed(base, "positions", deformation, pose)
        normals = _morphed(mesh.normals if pose.normals is None else pose.normals, "normals", deformation, pose)
        tangents = None
        if mesh.tangents is not None:
            tangents = _morphed(mesh.tangents, "tangents", deformation, pose)
        if deformation.skinned:
            rows, small = np.ascontiguousarray(pose.joints[:, :3]), len(positions) <= SMALL
            skinning = rows, np.ascontiguousarray(deformation.joints), np.ascontiguousarray(deformation.weights)
            run(skin, *skinning, positions, normals, np.empty((3, 4)), small=small)
            if tangents is not None:
                linear = blended(deformation, pose)[:, :, :3]
                mirrored = np.linalg.det(np.nan_to_num(linear, posinf=0.0, neginf=0.0)) < 0
                tangents[:, :3] = np.einsum("vij,vj->vi", linear, tangents[:, :3])
                tangents[mirrored, 3] *= -1.0
        positions[~(np.abs(positions) <= LARGEST_COORDINATE).all(axis=1)] = np.nan
        if deformation.faceted and pose.normals is None:
            normals = _of_faces(positions, mesh)
        colors = None
        if mesh.colors is not None:
            colors = np.clip(_morphed(mesh.colors, "colors", deformation, pose), 0.0, 1.0)
        if tangents is not None:
            tangents[:, :3] = _unit(tangents[:, :3], mesh.tangents[:, :3])  # type: ignore[index]
        return Posed(
            _float32(positions),
            _float32(_unit(normals, mesh.normals)),  # type: ignore[arg-type]
            None if tangents is None else _float32(tangents),
            mesh.colors if colors is None or not deformation.morphs("colors") else _float32(colors),
            _coordinates(mesh.uvs, "uvs", deformation, pose),
            _coordinates(mesh.uvs_1, "uvs_1", deformation, pose),
        )


def blended(deformation: Deformation, pose: MeshPose) -> Array:
    """(V, 3, 4) float64: the weighted sum of each vertex's joint matrices."""
    maps = np.zeros((len(deformation.joints), 3, 4))
    rows = pose.joints[:, :3]
    for k in range(deformation.joints.shape[1]):
        weight = deformation.weights[:, k].astype(np.float64)
        influenced = np.flatnonzero(weight)  # a joint that is not finite moves those alone that follow it
        maps[influenced] += weight[influenced, None, None] * rows[deformation.joints[influenced, k]]
    return maps


def _morphed(values: Float | None, name: str, deformation: Deformation, pose: MeshPose) -> Array:
    """(V, width) float64: an attribute with the targets' displacements."""
    assert values is not None
    out = values.astype(np.float64, order="C")
    for target, weight in zip(deformation.targets, pose.weights.tolist(), strict=True):
        change = getattr(target, name)
        if change is not None and weight != 0.0:
            out[:, : change.shape[1]] += weight * change
    return out


def _coordinates(values: Float | None, name: str, deformation: Deformation, pose: MeshPose) -> Float | None:
    if values is None or not deformation.morphs(name):
        return values
    return _float32(_morphed(values, name, deformation, pose))


def _of_faces(positions: Array, mesh: Mesh) -> Array:
    """(V, 3): the normal of the face of each vertex, without length where the face has no area."""
    a, b, c = (positions[mesh.triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    normals = np.zeros_like(positions)
    for k in range(3):
        normals[mesh.triangles[:, k]] = cross
    return normals


def _unit(vectors: Array, otherwise: Float) -> Array:
    """(V, 3) unit vectors; those without a finite direction as in ``otherwise``."""
    x, y, z = np.abs(vectors.T)  # reductions along so short an axis are slow
    largest = np.maximum(np.maximum(x, y), z)[:, None]  # squares overflow
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    x, y, z = (scaled * scaled).T
    length = np.sqrt(x + y + z)[:, None]
    sound = np.isfinite(length) & (length > 0)
    return np.where(sound, scaled / np.where(sound, length, 1.0), otherwise)


def _float32(values: Array) -> Float:
    return values.astype(np.float32)


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
