"""Smooth meshes: those whose normals differ from their flat triangles'."""

from __future__ import annotations

import weakref

import numpy as np

from viewer.scene.geometry.normals import with_normals
from viewer.scene.mesh import Mesh
from viewer.scene.quadric import Quadric
from viewer.scene.scene import Scene

FLAT = 1e-4  # 1 - cosine: vertex normals within this of the face normal count as flat
FEW = 2000  # triangles of a mesh without normals yet; larger ones count as smooth
_known: dict[int, tuple[weakref.ref[Mesh], bool]] = {}  # by the mesh's id


def has_smooth_meshes(scene: Scene) -> bool:
    """Whether some mesh of a scene has normals that vary within triangles."""
    return any(is_smooth(scene.meshes[number]) for number in {instance.mesh for instance in scene.instances})


def is_smooth(mesh: Mesh) -> bool:
    """Whether a mesh's normals, possibly not computed yet, vary within a triangle."""
    key = id(mesh)
    held = _known.get(key)
    if held is None or held[0]() is not mesh:

        def forget(reference: weakref.ref[Mesh]) -> None:
            if key in _known and _known[key][0] is reference:
                del _known[key]

        held = weakref.ref(mesh, forget), _smooth(mesh)
        _known[key] = held
    return held[1]


def _smooth(mesh: Mesh) -> bool:
    if isinstance(mesh, Quadric) or not len(mesh.triangles):
        return False
    if mesh.normals is None and len(mesh.triangles) > FEW:
        return True
    made = with_normals(mesh)
    assert made.normals is not None
    corners = made.positions[made.triangles].astype(np.float64)
    with np.errstate(all="ignore"):  # non-finite triangles have no normal
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(flat, axis=1, keepdims=True)
        own = made.normals[made.triangles].astype(np.float64)
        lengths = np.linalg.norm(own, axis=2)
        cosine = np.einsum("tkc,tc->tk", own, flat / size) / lengths
    return bool((np.isfinite(cosine) & (cosine < 1.0 - FLAT)).any())
