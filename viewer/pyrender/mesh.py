"""Primitives, which are triangles, lines or points with a material, and meshes of them, also from trimesh."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.pyrender.checked import Checked, VertexArray, color_array, label
from raystream.pyrender.constants import GLTF
from raystream.pyrender.material import Material, MetallicRoughnessMaterial

EMPTY = np.array([np.full(3, np.inf), np.full(3, -np.inf)])  # bounds of nothing


def _floats(value: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(value, np.float32)


def _vertex_rows(what: str, width: int) -> VertexArray:
    """Arrays (V, width), of rows at least as wide."""

    def read(value: Any, count: int) -> NDArray[np.float32]:
        rows = _floats(value)
        if rows.ndim != 2 or len(rows) != count or rows.shape[1] < width:
            raise ValueError(f"{what} have shape {rows.shape}, expected ({count}, {width})")
        return np.ascontiguousarray(rows[:, :width])

    return VertexArray(read)


def _indices(value: Any) -> NDArray[np.int64] | None:
    array = None if value is None else np.asarray(value)
    if array is not None and (array.dtype.kind not in "iufb" or not np.isfinite(array).all()):
        raise ViewerError("indices", f"are of type {array.dtype} or not finite", "give whole numbers of vertices")
    return None if array is None else array.astype(np.int64)


def _material(value: Any) -> Material:
    if value is not None and not isinstance(value, Material):
        raise TypeError(f"material is {type(value).__name__}, expected a Material")
    return MetallicRoughnessMaterial() if value is None else value


def _mode(value: Any) -> int:
    mode = GLTF.TRIANGLES if value is None else int(value)
    if not GLTF.POINTS <= mode <= GLTF.TRIANGLE_FAN:
        raise ValueError(f"mode is {mode}, expected a number of GLTF from POINTS to TRIANGLE_FAN")
    return mode


def poses_of(value: Any) -> NDArray[np.float64] | None:
    """(N, 4, 4) of poses (N, 4, 4) or (4, 4); raises ValueError for other shapes."""
    if value is None:
        return None
    poses = np.asarray(value, np.float64)
    poses = poses[None] if poses.ndim == 2 else poses
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise ValueError(f"poses have shape {np.shape(value)}, expected (N, 4, 4)")
    return poses


class Bounded:
    """Bounds, and their centre, extents and scale."""

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3): lowest and highest corner."""
        raise NotImplementedError

    @property
    def centroid(self) -> NDArray[np.float64]:
        """(3,): the middle of the bounds."""
        return self.bounds.mean(axis=0)

    @property
    def extents(self) -> NDArray[np.float64]:
        """(3,): the sides of the bounds."""
        return np.diff(self.bounds, axis=0)[0]

    @property
    def scale(self) -> float:
        """The diagonal of the bounds."""
        return float(np.linalg.norm(self.extents))


@dataclass(eq=False, repr=False)
class Primitive(Bounded):
    """Vertices, how they are joined, and their material; arrays as in glTF 2.0.

    positions : (V, 3). normals : (V, 3) unit vectors; None: surfaces are flat, and points face the camera. tangents :
    (V, 4), the last the sign of the bitangent. texcoord_0, texcoord_1 : (V, 2), from the image's lower left corner.
    color_0 : (V, 4) linear RGBA, which multiply the material's. indices : of vertices, of any shape, in the order of
    ``mode``; None: the vertices as they come. mode : a number of `GLTF`. poses : (N, 4, 4), copies in the space of the
    node. joints_0, weights_0 and targets are kept and without effect. Assign other arrays for a change: writes into
    one are not seen.

    Raises ValueError for shapes that disagree, and ViewerError for indices of vertices that there are not.
    """

    positions: Checked[NDArray[np.float32]] = Checked(_floats)
    normals: VertexArray = _vertex_rows("normals", 3)
    tangents: VertexArray = _vertex_rows("tangents", 4)
    texcoord_0: VertexArray = _vertex_rows("texture coordinates", 2)
    texcoord_1: VertexArray = _vertex_rows("texture coordinates", 2)
    color_0: VertexArray = VertexArray(color_array)
    joints_0: Any = None
    weights_0: Any = None
    indices: Checked[NDArray[np.int64] | None] = Checked(_indices, None)
    material: Checked[Material] = Checked(_material, None)
    mode: Checked[int] = Checked(_mode, None)
    targets: Any = None
    poses: Checked[NDArray[np.float64] | None] = Checked(poses_of, None)

    def _order(self) -> NDArray[np.int64]:
        """Vertex numbers in the order of ``mode``. Raises ViewerError for one that there is not."""
        count = len(self.positions)
        if self.indices is None:
            return np.arange(count)
        order = self.indices.reshape(-1)
        if len(order) and not 0 <= order.min() <= order.max() < count:
            least, most = int(order.min()), int(order.max())
            raise ViewerError("indices", f"go from {least} to {most}, and there are {count} vertices, from 0 on")
        return order

    def triangles(self) -> NDArray[np.int64]:
        """(T, 3) vertex indices; none of points and lines."""
        order = self._order()
        if self.mode == GLTF.TRIANGLES:
            return order[: len(order) // 3 * 3].reshape(-1, 3)
        count = max(len(order) - 2, 0)
        indices = np.arange(count)
        if self.mode == GLTF.TRIANGLE_STRIP:  # every second one the other way around
            odd = indices % 2
            return order[np.stack([indices, indices + 1 + odd, indices + 2 - odd], axis=1)]
        if self.mode == GLTF.TRIANGLE_FAN:
            return order[np.stack([np.zeros(count, np.int64), indices + 1, indices + 2], axis=1)]
        return np.zeros((0, 3), np.int64)

    def segments(self) -> NDArray[np.int64]:
        """(S, 2) vertex numbers: lines, or the edges of triangles, each once; none of points."""
        if self.mode >= GLTF.TRIANGLES:
            return edges_of(self.triangles())
        order = self._order()
        if self.mode == GLTF.LINES:
            return order[: len(order) // 2 * 2].reshape(-1, 2)
        if self.mode == GLTF.POINTS or len(order) < 2:
            return np.zeros((0, 2), np.int64)
        following = np.roll(order, -1)
        pairs = np.stack([order, following], axis=1)
        return pairs if self.mode == GLTF.LINE_LOOP else pairs[:-1]

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3): lowest and highest corner, of all copies."""
        if not len(self.positions):
            return EMPTY
        box = np.array([self.positions.min(axis=0), self.positions.max(axis=0)], np.float64)
        return box if self.poses is None else bounds_at(box, self.poses)

    @property
    def is_transparent(self) -> bool:
        """Whether the material or a vertex lets light pass."""
        vertices = self.color_0 is not None and bool((self.color_0[:, 3] < 1.0).any())
        return self.material.is_transparent or (vertices and self.material.alphaMode != "OPAQUE")


def edges_of(triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """(S, 2) vertex numbers of the edges of triangles (T, 3), each once."""
    pairs = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return np.unique(pairs, axis=0)


def bounds_at(box: NDArray[np.float64], poses: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2, 3): of a box (2, 3) at all of the poses (N, 4, 4)."""
    corners = np.array([[x, y, z, 1.0] for x in box[:, 0] for y in box[:, 1] for z in box[:, 2]])
    placed = np.einsum("nij,kj->nki", poses, corners)[..., :3].reshape(-1, 3)
    return np.array([placed.min(axis=0), placed.max(axis=0)])


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


@dataclass(eq=False, repr=False)
class Mesh(Bounded):
    """Primitives that are placed together. weights are kept and without effect."""

    primitives: list[Primitive]
    name: Checked[str | None] = Checked(label, None)
    weights: Any = None
    is_visible: bool = True

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
        for trimesh_mesh in list(mesh) if several else [mesh]:
            if not hasattr(trimesh_mesh, "vertices") or not hasattr(trimesh_mesh, "faces"):
                kind = type(trimesh_mesh).__name__
                hint = (
                    "for a trimesh.Scene take Scene.from_trimesh_scene"
                    if hasattr(trimesh_mesh, "geometry")
                    else "or a list"
                )
                raise TypeError(f"expected a Trimesh, not {kind} ({hint})")
            # A copy of its own: meshes may differ later.
            part_material = deepcopy(material) if material is not None else _material_of(trimesh_mesh)
            part_material.wireframe = wireframe
            primitives.append(_primitive(trimesh_mesh, part_material, material is None, poses, smooth))
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
