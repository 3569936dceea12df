"""glTF meshes: every primitive becomes one mesh of the scene, read when a node first draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.formats.files import short
from raystream.formats.gltf import decoders
from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.decoders import DRACO, installed
from raystream.formats.gltf.deformers import (
    Deformers,
    Geometry,
    Rig,
    normalized_influences,
    read_targets,
    rest_weights,
    target_count,
)
from raystream.formats.gltf.images import DEFAULT, GltfTextures, UvSets
from raystream.formats.gltf.json import JsonObject, Omissions
from raystream.scene.deform import WIDTHS
from raystream.scene.geometry.normals import unit_normals, with_normals, with_tangents
from raystream.scene.geometry.quadrics import Quadrics, line_radius, point_radius
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh

_MODES = ("points", "lines", "line loops", "line strips", "triangles", "triangle strips", "triangle fans")
# Triangles of a flat mesh from which on they share vertices that have no normals: each would have three of its own, and
# from 5.6 million on more than can be addressed.
_MIN_SHARED = 1 << 19
_TANGENT_BYTES = 64  # per vertex or corner, while tangents are computed
_ATTRIBUTES = ("POSITION", "NORMAL", "COLOR_0", "TANGENT")


class Meshes:
    """The scene's meshes. ``omitted`` counts omissions, by a text for the user.

    A mesh on nodes that pose it differently is one of the scene's for each pose, by ``deformers``.

    sets : of each material, those of texture coordinates for a mesh's ``uvs`` and ``uvs_1``. variant_count : of
    KHR_materials_variants. Missing normals are flat, as glTF demands (3.7.2.1), without tangents; normals of zero
    length are computed from adjacent faces. Missing tangents are computed where a material needs them.
    """

    def __init__(
        self,
        document: JsonObject,
        accessors: Accessors,
        materials: Sequence[Material],
        textures: GltfTextures,
        sets: Sequence[UvSets],
        variant_count: int,
        deformers: Deformers,
        omissions: Omissions,
    ) -> None:
        self.omissions = omissions
        self.deformers = deformers
        self.document = document.objects("meshes")
        self.accessors = accessors
        self.material_count, self.variant_count = len(materials), variant_count
        self.uv_sets = [*map(textures.uv_sets, materials), frozenset()]
        self.tangent_sets = [*map(textures.tangent_set, materials), None]
        self.sets = [tuple(f"TEXCOORD_{uv_set}" for uv_set in material_sets) for material_sets in (*sets, DEFAULT)]
        self.meshes: list[Mesh] = []
        self.uses_default_material = False
        self.omitted: Counter[str] = Counter()
        self._numbers: dict[tuple, list[int]] = {}
        self._targets: dict[int, int] = {}
        self._geometry: dict[tuple, Geometry | None] = {}
        self._mesh_indices: dict[tuple, int] = {}
        self._variants: list[dict[int, int]] = []

    def materials_of(self, variant: int) -> dict[int, int]:
        """A variant's materials by mesh number, for meshes where they differ."""
        return {mesh: variants[variant] for mesh, variants in enumerate(self._variants) if variant in variants}

    def scene_meshes(self, index: int, node: JsonObject, place: int, animated: bool = False) -> list[int]:
        """The scene's meshes of a document's mesh on a node: one for each primitive with triangles.

        place : the node's in `Nodes`. animated : whether the weights of its morph targets are.
        """
        mesh = self.document[index]
        if index not in self._targets:
            self._targets[index] = target_count(mesh)
        rig = Rig()
        if self._targets[index] or "skin" in node:
            skin = node.index("skin", len(self.deformers.skins.skin_objects), "skin", None)
            weights = rest_weights(node, mesh, self._targets[index])
            rig = Rig(skin, weights, place if animated and weights else -1)
        key = (index, rig)
        if key not in self._numbers:
            name = mesh.text("name", "") or f"mesh {index}"
            primitives = mesh.objects("primitives")
            meshes = []
            for k, primitive in enumerate(primitives):
                mesh_index = None
                with self.omissions:
                    mesh_index = self._mesh(primitive, name if len(primitives) == 1 else f"{name}/{k}", rig)
                if mesh_index is not None:
                    meshes.append(mesh_index)
            self._numbers[key] = meshes
        return self._numbers[key]

    def _mesh(self, primitive: JsonObject, name: str, rig: Rig) -> int | None:
        material = primitive.index("material", self.material_count, "material", None)
        if material is None:
            material = self.material_count  # the default one, appended last
            self.uses_default_material = True
        variants = read_mappings(primitive, self.material_count, self.variant_count)
        attributes = primitive.child("attributes")
        mode = primitive.integer("mode", 4)
        if mode >= len(_MODES):
            raise primitive.fail("mode", f"unknown mode {mode}")
        sets = self.sets[material]
        indices = [attributes.integer(key, -1, -(1 << 53)) for key in (*_ATTRIBUTES, *sets)]
        packed = primitive.extension(decoders.DRACO_EXTENSION)
        view = -1 if packed is None else packed.index("bufferView", len(self.accessors.views), "buffer view")
        key = (*indices, primitive.integer("indices", -1, -(1 << 53)), mode, view, _deformer_key(primitive, attributes))
        tangent_set = next(
            (
                self.tangent_sets[index]
                for index in (material, *variants.values())
                if self.tangent_sets[index] is not None
            ),
            None,
        )
        key = (*key, tangent_set)
        if key not in self._geometry:
            self._geometry[key] = self._read_geometry(primitive, attributes, mode, name, tangent_set, sets)
        geometry = self._geometry[key]
        if geometry is None:
            return None
        rig = geometry.rig(rig)
        mesh_key = (*key, material, *sorted(variants.items()), rig)
        if mesh_key in self._mesh_indices:
            return self._mesh_indices[mesh_key]
        shared = geometry.mesh
        self.accessors.budget.charge(4 * len(shared.triangles))
        materials = np.full(len(shared.triangles), material, np.int32)
        index = len(self.meshes)
        mesh = replace(shared, materials=materials, name=name)
        self.meshes.append(mesh if rig == Rig() else self.deformers.pose(index, mesh, geometry, rig, attributes))
        self._mesh_indices[mesh_key] = index
        self._variants.append(variants)
        used = self.uv_sets[material].union(*(self.uv_sets[other] for other in variants.values()))
        if (0 in used and shared.uvs is None) or (1 in used and shared.uvs_1 is None):
            self.omitted["primitives lack the texture coordinates of their material's texture"] += 1
        return len(self.meshes) - 1

    def _read_geometry(
        self,
        primitive: JsonObject,
        attributes: JsonObject,
        mode: int,
        name: str,
        tangent_set: int | None,
        sets: Sequence[str],
    ) -> Geometry | None:
        if "POSITION" not in attributes:
            self.omitted["primitives without positions cannot be drawn"] += 1
            return None
        packed = self._compressed(primitive, attributes, mode)
        stored = {} if packed is None else packed.attributes
        count: int | None = None

        def attribute(key: str, widths: tuple[int, ...], normalize: bool = False) -> NDArray[np.float32] | None:
            if key not in attributes:
                return None
            if key in stored:
                values = self.accessors.packed(stored[key], key, attributes, widths, normalize)
            else:
                values = self.accessors.floats(key, attributes, widths, normalize)
            if count is not None and len(values) != count:
                raise attributes.fail(key, f"has {len(values):,} elements, and POSITION {count:,}")
            return values

        positions = attribute("POSITION", (3,))
        assert positions is not None
        count = len(positions)
        if packed is not None:
            corners = packed.indices
        elif "indices" in primitive:
            corners = self.accessors.indices("indices", primitive)
            self._note_restarts(corners, count, primitive)
        else:
            corners = np.arange(count)
        if len(corners) and int(corners.max()) >= count:
            at = int(np.argmax(corners >= count))
            raise primitive.fail("indices", f"index {at:,} names vertex {corners[at]:,} of {count:,}")
        self.accessors.budget.charge(3 * 12 * len(corners))
        if mode < 4:
            colors = attribute("COLOR_0", (3, 4), normalize=True)
            return _points_or_lines(positions, corners, mode, _rgba(colors, count), name)
        triangles = self._triangles(corners, 4 if packed is not None else mode)
        uvs, uvs_1 = (attribute(key, (2,)) for key in (*sets, "")[:2])
        colors = attribute("COLOR_0", (3, 4), normalize=True)
        normals, tangents = attribute("NORMAL", (3,)), None
        colors = _rgba(colors, count)
        if normals is not None:
            normals, mended = unit_normals(positions, triangles, normals)
            if mended:
                self.omitted["vertices have a normal without direction; recomputed from their faces"] += mended
            tangents = self._tangents(attribute("TANGENT", (4,), normalize=True))
        mesh = Mesh(
            positions, triangles, normals=normals, uvs=uvs, colors=colors, name=name, uvs_1=uvs_1, tangents=tangents
        )
        joints, weights = self._influences(attributes, count, stored)
        has_targets = bool(primitive.array("targets"))
        original = mesh
        if (
            normals is None
            and len(triangles) > _MIN_SHARED
            and tangent_set is None
            and joints is None
            and not has_targets
        ):
            mesh = replace(mesh, normals=np.zeros((count, 3), np.float32))  # those of the faces, see `Mesh`
        else:
            mesh = with_normals(mesh, 0.0)
        if tangent_set is not None and mesh.tangents is None:
            self.accessors.budget.charge(_TANGENT_BYTES * (len(mesh.positions) + 3 * len(mesh.triangles)))
            mesh = with_tangents(mesh, tangent_set)
        fields = [field for field in WIDTHS if getattr(original, field) is not None]
        targets = read_targets(primitive, self.accessors, count, sets, fields)
        if joints is None and not targets:
            return Geometry(mesh)
        source = _source_vertices(mesh, original)
        if joints is not None and weights is not None:
            self.accessors.budget.charge((joints.itemsize + weights.itemsize) * joints.shape[1] * len(source))
            joints, weights = joints[source], weights[source]
        if len(source) > count:
            self.accessors.budget.charge(sum(4 * WIDTHS[field] for field in fields) * len(source) * len(targets))
            targets = tuple(target.selected(source) for target in targets)
        return Geometry(mesh, joints, weights, targets, faceted=normals is None)

    def _note_restarts(self, corners: NDArray[np.int64], count: int, primitive: JsonObject) -> None:
        """Indices that restart a primitive in OpenGL are forbidden (3.7.2.1): told where they name a vertex, else
        refused."""
        largest = self.accessors.largest_index("indices", primitive)
        restarts = corners == largest
        if not restarts.any():
            return
        if largest >= count:
            at = int(np.argmax(restarts))
            what = f"index {at:,} is {largest:,}, a primitive restart, and there are {count:,} vertices"
            raise primitive.fail("indices", what, "glTF forbids restarts; export separate triangles")
        text = f"indices are {largest:,}, a primitive restart, which glTF forbids; they are read as that vertex"
        self.omitted[text] += int(np.count_nonzero(restarts))

    def _influences(
        self, attributes: JsonObject, count: int, stored: Mapping[str, NDArray]
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]] | tuple[None, None]:
        """Joints (V, K) and weights (V, K) of all of a primitive's sets; None, None without any."""
        joints, weights = [], []
        for index in range(len(attributes.data)):
            keys = f"JOINTS_{index}", f"WEIGHTS_{index}"
            if not all(key in attributes for key in keys):
                break
            if keys[0] in stored:
                joints.append(stored[keys[0]].astype(np.int64))
            else:
                joints.append(self.accessors.integers(keys[0], attributes, 4))
            if keys[1] in stored:
                weights.append(self.accessors.packed(stored[keys[1]], keys[1], attributes, (4,), normalize=True))
            else:
                weights.append(self.accessors.floats(keys[1], attributes, (4,), normalize=True))
            for key, values in zip(keys, (joints[-1], weights[-1]), strict=True):
                if values.shape != (count, 4):
                    raise attributes.fail(key, f"has {len(values):,} elements, and POSITION {count:,}")
        if not joints:
            return None, None
        return normalized_influences(np.concatenate(joints, axis=1), np.concatenate(weights, axis=1), self.omitted)

    def _compressed(self, primitive: JsonObject, attributes: JsonObject, mode: int) -> decoders.DecodedGeometry | None:
        """The geometry in KHR_draco_mesh_compression; None for an uncompressed primitive, and for one with an
        uncompressed fallback if the decoder is not installed."""
        extension = primitive.extension(decoders.DRACO_EXTENSION)
        if extension is None:
            return None
        if mode not in (4, 5):
            raise primitive.fail("mode", f"{_MODES[mode]}, which Draco does not compress")
        if not installed(DRACO) and self._uncompressed(attributes):
            return None
        data = self.accessors.view_bytes(extension.index("bufferView", len(self.accessors.views), "buffer view"))
        self.accessors.budget.charge(decoders.draco_size(extension, data))
        return decoders.decode_draco(extension, data, [key for key in attributes.data if key in attributes])

    def _uncompressed(self, attributes: JsonObject) -> bool:
        described = self.accessors.accessors
        index = attributes.index("POSITION", len(described), "accessor")
        return "bufferView" in described[index]

    def _tangents(self, tangents: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        """Unit vectors with a sign; None without tangents, or if one has no direction."""
        if tangents is None:
            return None
        with np.errstate(all="ignore"):
            length = np.linalg.norm(tangents[:, :3].astype(np.float64), axis=1, keepdims=True)
            unit = tangents[:, :3] / length
        if not (np.isfinite(unit).all() and (length > 0).all()):
            self.omitted["primitives have tangents without direction; all of theirs are ignored"] += 1
            return None
        sign = np.where(tangents[:, 3:] < 0, -1.0, 1.0)
        return np.concatenate([unit, sign], axis=1).astype(np.float32)

    def _triangles(self, indices: NDArray[np.int64], mode: int) -> NDArray[np.int32]:
        """(T, 3) vertex indices (3.7.2.1)."""
        corners = indices.astype(np.int32)
        if mode == 4:
            spare = len(corners) % 3
            if spare:
                self.omitted["triangle lists end with one or two spare indices"] += 1
            return corners[: len(corners) - spare].reshape(-1, 3)
        k = np.arange(max(len(corners) - 2, 0))
        if mode == 5:
            odd = k % 2
            return np.stack([corners[k], corners[k + 1 + odd], corners[k + 2 - odd]], axis=1)
        return np.stack([corners[k + 1], corners[k + 2], corners[np.zeros_like(k)]], axis=1)


def _rgba(colors: NDArray[np.float32] | None, count: int) -> NDArray[np.float32] | None:
    """(V, 4) of colours (V, 3 or 4)."""
    if colors is None:
        return None
    rgba = np.ones((count, 4), np.float32)
    rgba[:, : colors.shape[1]] = np.maximum(np.nan_to_num(colors, nan=0.0), 0.0)
    return rgba


def _points_or_lines(
    positions: NDArray[np.float32],
    indices: NDArray[np.int64],
    mode: int,
    colors: NDArray[np.float32] | None,
    name: str,
) -> Geometry | None:
    """Points as spheres, lines, loops and strips as cylinders (3.7.2.1); None without any."""
    if mode == 0:
        points = positions[indices]
        mesh = Quadrics.spheres(points, point_radius(points), None if colors is None else colors[indices], name)
    else:
        spare = len(indices) - len(indices) % 2
        second = np.roll(indices, -1)
        lines = indices[:spare].reshape(-1, 2) if mode == 1 else np.stack([indices, second], axis=1)
        lines = lines[:-1] if mode == 3 or (mode == 2 and len(indices) < 3) else lines
        mesh = Quadrics.cylinders(positions, lines.astype(np.int32), line_radius(positions[indices]), colors, name)
    return Geometry(mesh) if len(mesh.triangles) else None


def _deformer_key(primitive: JsonObject, attributes: JsonObject) -> tuple:
    """The key of a primitive's joints and morph targets: the indices of their accessors."""
    joints = [(key, repr(value)) for key, value in attributes.data.items() if key.startswith(("JOINTS_", "WEIGHTS_"))]
    targets = [
        sorted((key, repr(value)) for key, value in target.data.items()) for target in primitive.objects("targets")
    ]
    return tuple(sorted(joints)), tuple(map(tuple, targets))


def _source_vertices(mesh: Mesh, original: Mesh) -> NDArray[np.int64]:
    """(V,): of which vertex of the ``original`` each of the mesh is a copy; both have the same triangles in order."""
    source = np.arange(len(mesh.positions))
    source[mesh.triangles] = original.triangles
    return source


NAME = "KHR_materials_variants"


def read_variants(document: JsonObject) -> list[str]:
    """Unique names of the variants: missing and duplicate ones are numbered."""
    extension = document.extension(NAME)
    names: list[str] = []
    for index, item in enumerate([] if extension is None else extension.objects("variants")):
        name = unique = item.text("name", "") or f"variant {index}"
        k = 2
        while unique in names:
            unique, k = f"{name} {k}", k + 1
        names.append(unique)
    return names


def read_mappings(primitive: JsonObject, material_count: int, variant_count: int) -> dict[int, int]:
    """The materials of a primitive by variant number.

    Raises ViewerError for numbers out of range, and for a variant named twice.
    """
    extension = primitive.extension(NAME)
    materials: dict[int, int] = {}
    for mapping in [] if extension is None else extension.objects("mappings"):
        material = mapping.index("material", material_count, "material")
        for variant in mapping.indices("variants", variant_count, "variant"):
            if variant in materials:
                raise mapping.fail("variants", f"names variant {short(variant)}, as does another mapping")
            materials[variant] = material
    return materials
