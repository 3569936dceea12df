"""Smooth meshes: those whose normals differ from their flat triangles'."""

from __future__ import annotations

import weakref
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from raystream.scene.deform import DeformedMesh
from raystream.scene.geometry.batches import batches, offsets
from raystream.scene.geometry.normals import all_with_normals
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

FLAT = 1e-4  # 1 - cosine: vertex normals within this of the face normal count as flat
FEW = 2000  # triangles of a mesh without normals yet; larger ones count as smooth
BATCH = 1 << 16  # triangles of meshes that are examined at once
_known: dict[int, tuple[weakref.ref[Mesh], bool]] = {}  # by the mesh's id


def has_smooth_meshes(scene: Scene) -> bool:
    """Whether some mesh of a scene has normals that vary within triangles."""
    return _any_smooth(scene.meshes[index] for index in {instance.mesh for instance in scene.instances})


def is_smooth(mesh: Mesh) -> bool:
    """Whether a mesh's normals, possibly not computed yet, vary within a triangle; of a deforming one at rest."""
    return _any_smooth([mesh])


def _any_smooth(meshes: Iterable[Mesh]) -> bool:
    unknown = []
    for mesh in (mesh.rest if isinstance(mesh, DeformedMesh) else mesh for mesh in meshes):
        cached = _known.get(id(mesh))
        if cached is None or cached[0]() is not mesh:
            unknown.append(mesh)
        elif cached[1]:
            return True
    for part in batches(np.array([len(mesh.triangles) for mesh in unknown], np.int64), BATCH):
        smooth_flags = _smooth(unknown[part])
        for mesh, smooth in zip(unknown[part], smooth_flags, strict=True):
            _remember(mesh, smooth)
        if any(smooth_flags):
            return True
    return False


def _remember(mesh: Mesh, smooth: bool) -> None:
    key = id(mesh)

    def forget(reference: weakref.ref[Mesh]) -> None:
        if key in _known and _known[key][0] is reference:
            del _known[key]

    _known[key] = weakref.ref(mesh, forget), smooth


def _smooth(meshes: list[Mesh]) -> list[bool]:
    """Of each."""
    flags = [mesh.normals is None and len(mesh.triangles) > FEW for mesh in meshes]
    undecided = [
        k
        for k, mesh in enumerate(meshes)
        if not (flags[k] or isinstance(mesh, (Quadric, Quadrics))) and len(mesh.triangles)
    ]
    if not undecided:
        return flags
    finished = all_with_normals(meshes[k] for k in undecided)
    arrays = [(mesh.positions, mesh.triangles, mesh.normals) for mesh in finished if mesh.normals is not None]
    if len(finished) == 1:  # perhaps a large one, by parts: most tell within the first
        positions, triangles, normals = arrays[0]
        parts = (triangles[at : at + BATCH] for at in range(0, len(triangles) * bool(normals.any()), BATCH))
        flags[undecided[0]] = any(_bent(positions[part], normals[part]).any() for part in parts)
        return flags
    bent = _bent(*(np.concatenate([arrays_of[k][arrays_of[1]] for arrays_of in arrays]) for k in (0, 2)))
    any_bent = np.logical_or.reduceat(bent, offsets([len(mesh.triangles) for mesh in finished])[:-1])
    for k, smooth in zip(undecided, any_bent.tolist(), strict=True):
        flags[k] = smooth
    return flags


def _bent(corners: NDArray, normals: NDArray) -> NDArray[np.bool_]:
    """(T,): of triangles, by the positions and normals (T, 3, 3) of their corners, whether the normals vary; normals of
    0 are the triangle's own."""
    corners, normals = corners.astype(np.float64), normals.astype(np.float64)
    with np.errstate(all="ignore"):  # non-finite triangles have no normal
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(flat, axis=1, keepdims=True)
        lengths = np.linalg.norm(normals, axis=2)
        cosine = np.einsum("tkc,tc->tk", normals, flat / size) / lengths
    return np.asarray((np.isfinite(cosine) & (cosine < 1.0 - FLAT)).any(axis=1))
