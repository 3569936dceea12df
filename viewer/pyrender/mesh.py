"""Meshes: primitives under one name, and how they come from trimesh and from points."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.pyrender.checked import Checked, label
from raystream.pyrender.constants import GLTF
from raystream.pyrender.material import Material, MetallicRoughnessMaterial
from raystream.pyrender.primitive import EMPTY, Bounded, Primitive

# pyrender's materials of meshes without one, and of meshes with colours.
GREY: dict[str, Any] = {
    "alphaMode": "BLEND",
    "baseColorFactor": [0.3, 0.3, 0.3, 1.0],
    "metallicFactor": 0.2,
    "roughnessFactor": 0.8,
}
WHITE: dict[str, Any] = {**GREY, "baseColorFactor": [1.0, 1.0, 1.0, 1.0]}

# What materials of trimesh have under the same names.
FIELDS = (
    *("normalTexture", "occlusionTexture", "emissiveTexture", "emissiveFactor", "doubleSided", "alphaCutoff"),
    *("baseColorFactor", "baseColorTexture", "metallicFactor", "roughnessFactor", "metallicRoughnessTexture"),
)


class Mesh(Bounded):
    """Primitives that are placed together. weights are kept and without effect."""

    name = Checked(label)

    def __init__(
        self, primitives: list[Primitive], name: str | None = None, weights: Any = None, is_visible: bool = True
    ) -> None:
        self.primitives, self.name, self.weights, self.is_visible = primitives, name, weights, is_visible

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3): lowest and highest corner."""
        boxes = np.array([EMPTY, *(primitive.bounds for primitive in self.primitives)])
        return np.array([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])

    @property
    def is_transparent(self) -> bool:
        """Whether a primitive lets light pass."""
        return any(primitive.is_transparent for primitive in self.primitives)

    @staticmethod
    def from_points(
        points: Any, colors: Any = None, normals: Any = None, is_visible: bool = True, poses: Any = None
    ) -> Mesh:
        """Points (N, 3), squares of the renderer's ``point_size``. colors : (N, 3 or 4) linear. normals : (N, 3), by
        which they are lit. poses : (M, 4, 4) copies."""
        primitive = Primitive(points, normals=normals, color_0=colors, mode=GLTF.POINTS, poses=poses)
        return Mesh([primitive], is_visible=is_visible)

    @staticmethod
    def from_trimesh(
        mesh: Any,
        material: Material | None = None,
        is_visible: bool = True,
        poses: Any = None,
        wireframe: bool = False,
        smooth: bool = True,
    ) -> Mesh:
        """A primitive for each of trimesh's ``Trimesh``, of one or of several.

        material : in place of the meshes' own. poses : (N, 4, 4) copies. smooth : normals are interpolated; colours of
        faces need ``smooth=False``.

        Raises TypeError for another object, ValueError for colours of faces that are smooth.
        """
        several = isinstance(mesh, Iterable) and not hasattr(mesh, "vertices")
        primitives = []
        for part in list(mesh) if several else [mesh]:
            if not hasattr(part, "vertices") or not hasattr(part, "faces"):
                kind = type(part).__name__
                hint = "for a trimesh.Scene take Scene.from_trimesh_scene" if hasattr(part, "geometry") else "or a list"
                raise TypeError(f"expected a Trimesh, not {kind} ({hint})")
            # A copy of its own: meshes may differ later.
            part_material = deepcopy(material) if material is not None else _material_of(part)
            part_material.wireframe = wireframe
            primitives.append(_primitive(part, part_material, material is None, poses, smooth))
        return Mesh(primitives, is_visible=is_visible)


def _primitive(mesh: Any, material: Material, colored: bool, poses: Any, smooth: bool) -> Primitive:
    """The triangles of a ``Trimesh``; of flat ones each corner is a vertex of its own. colored : by its own colours."""
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    visual: Any = getattr(mesh, "visual", None)
    kind = getattr(visual, "kind", None)
    colors = uvs = None
    if colored and kind == "face":
        if smooth:
            raise ValueError("colours of faces need smooth=False")
        colors = np.repeat(np.asarray(visual.face_colors), 3, axis=0)
    elif colored and kind == "vertex":
        colors = np.asarray(visual.vertex_colors)
        colors = colors if smooth else colors[faces].reshape(-1, colors.shape[1])
    elif kind == "texture" and getattr(visual, "uv", None) is not None and len(visual.uv):
        uvs = np.asarray(visual.uv)
        uvs = uvs if smooth else uvs[faces].reshape(-1, uvs.shape[1])
    if smooth:
        vertex_normals = np.asarray(mesh.vertex_normals)
        return Primitive(
            vertices, vertex_normals, None, uvs, None, colors, indices=faces, material=material, poses=poses
        )
    normals = np.repeat(np.asarray(mesh.face_normals), 3, axis=0)
    corners = vertices[faces].reshape(-1, 3)
    return Primitive(corners, normals, texcoord_0=uvs, color_0=colors, material=material, poses=poses)


def _material_of(mesh: Any) -> Material:
    """The material of a ``Trimesh``: glTF's of a ``PBRMaterial``; the diffuse part of a ``SimpleMaterial``, whose
    exponent of Phong's lobe becomes a roughness."""
    visual = getattr(mesh, "visual", None)
    kind = getattr(visual, "kind", None)
    material = getattr(visual, "material", None) if kind == "texture" else None
    if isinstance(material, Material):
        return material
    if hasattr(material, "metallicFactor"):
        fields: dict[str, Any] = {name: getattr(material, name, None) for name in FIELDS}
        return MetallicRoughnessMaterial(alphaMode="BLEND", **fields)
    if material is not None:
        exponent = np.ravel(getattr(material, "kwargs", {}).get("Ns", 1.0))
        rough = (2.0 / (float(exponent[0]) + 2.0)) ** 0.25
        color, image = getattr(material, "diffuse", None), getattr(material, "image", None)
        return MetallicRoughnessMaterial(
            alphaMode="BLEND", roughnessFactor=rough, baseColorFactor=color, baseColorTexture=image
        )
    return MetallicRoughnessMaterial(**(WHITE if kind in ("vertex", "face") else GREY))
