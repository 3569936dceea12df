"""Smooth meshes: those whose normals differ from their flat triangles'."""

from __future__ import annotations

import weakref
from collections.abc import Iterable

import numpy as np

from viewer.scene.deform.mesh import DeformedMesh
from viewer.scene.geometry.batches import batches, offsets
from viewer.scene.geometry.normals import all_with_normals
from viewer.scene.geometry.quadrics import Quadrics
from viewer.scene.mesh import Mesh
from viewer.scene.quadric import Quadric
from viewer.scene.scene import Scene

FLAT = 1e-4  # 1 - cosine: vertex normals within this of the face normal count as flat
FEW = 2000  # triangles of a mesh without normals yet; larger ones count as smooth
TOGETHER = 1 << 16  # triangles of meshes that are examined at once
_known: dict[int, tuple[weakref.ref[Mesh], bool]] = {}  # by the mesh's id


def has_smooth_meshes(scene: Scene) -> bool:
    """Whether some mesh of a scene has normals that vary within triangles."""
    return _any_smooth(scene.meshes[number] for number in {instance.mesh for instance in scene.instances})


def is_smooth(mesh: Mesh) -> bool:
    """Whether a mesh's normals, possibly not computed yet, vary within a triangle; of a deforming one at rest."""
    return _any_smooth([mesh])


def _any_smooth(meshes: Iterable[Mesh]) -> bool:
    unknown = []
    for mesh in (each.rest if isinstance(each, DeformedMesh) else each for each in meshes):
        held = _known.get(id(mesh))
        if held is None or held[0]() is not mesh:
            unknown.append(mesh)
        elif held[1]:
            return True
    for part in batches(np.array([len(mesh.triangles) for mesh in unknown], np.int64), TOGETHER):
        found = _smooth(unknown[part])
        for mesh, smooth in zip(unknown[part], found, strict=True):
            _remember(mesh, smooth)
        if any(found):
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
    found = [mesh.normals is None and len(mesh.triangles) > FEW for mesh in meshes]
    undecided = [
        k
        for k, mesh in enumerate(meshes)
        if not (found[k] or isinstance(mesh, (Quadric, Quadrics))) and len(mesh.triangles)
    ]
    if not undecided:
        return found
    made = all_with_normals(meshes[k] for k in undecided)
    corners = np.concatenate([mesh.positions[mesh.triangles] for mesh in made]).astype(np.float64)
    own = np.concatenate([mesh.normals[mesh.triangles] for mesh in made if mesh.normals is not None]).astype(np.float64)
    with np.errstate(all="ignore"):  # non-finite triangles have no normal
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(flat, axis=1, keepdims=True)
        lengths = np.linalg.norm(own, axis=2)
        cosine = np.einsum("tkc,tc->tk", own, flat / size) / lengths
    bent = (np.isfinite(cosine) & (cosine < 1.0 - FLAT)).any(axis=1)
    each = np.logical_or.reduceat(bent, offsets([len(mesh.triangles) for mesh in made])[:-1])
    for k, smooth in zip(undecided, each.tolist(), strict=True):
        found[k] = smooth
    return found
