"""glTF meshes: every primitive becomes one mesh of the scene, read when a node first draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewer.formats.gltf.accessors import Accessors
from viewer.formats.gltf.json import Object
from viewer.scene.mesh import Mesh
from viewer.scene.normals import unit_normals, with_normals

_MODES = ("points", "lines", "line loops", "line strips", "triangles", "triangle strips", "triangle fans")


class Meshes:
    """The scene's meshes. ``left_out`` counts what could not be drawn, by a text for the user.

    uv_sets : for each material, which set of texture coordinates it uses.
    Normals that are missing are flat, as glTF demands (3.7.2.1); those of no length are made from the faces around.
    """

    def __init__(self, document: Object, accessors: Accessors, uv_sets: Sequence[int]) -> None:
        self.document = document.objects("meshes")
        self.accessors = accessors
        self.material_count = len(uv_sets)
        self.uv_sets = [*uv_sets, 0]  # of the default material, too
        self.meshes: list[Mesh] = []
        self.uses_default_material = False
        self.left_out: Counter[str] = Counter()
        self._numbers: dict[int, list[int]] = {}
        self._geometry: dict[tuple, Mesh | None] = {}
        self._made: dict[tuple, int] = {}

    def of(self, number: int) -> list[int]:
        """The scene's meshes for a mesh of the document: one for each of its primitives that has triangles."""
        if number not in self._numbers:
            mesh = self.document[number]
            name = mesh.text("name", "") or f"mesh {number}"
            primitives = mesh.objects("primitives")
            found = []
            for k, primitive in enumerate(primitives):
                made = self._mesh(primitive, name if len(primitives) == 1 else f"{name}/{k}")
                if made is not None:
                    found.append(made)
            self._numbers[number] = found
        return self._numbers[number]

    def _mesh(self, primitive: Object, name: str) -> int | None:
        material = primitive.index("material", self.material_count, "material", None)
        if material is None:
            material = self.material_count  # the default one, appended behind
            self.uses_default_material = True
        attributes = primitive.child("attributes")
        mode = primitive.integer("mode", 4)
        if mode >= len(_MODES):
            raise primitive.fail("mode", f"unknown mode {mode}")
        coordinates = f"TEXCOORD_{self.uv_sets[material]}"
        numbers = (attributes.integer(key, -1, -(1 << 53)) for key in ("POSITION", "NORMAL", coordinates, "COLOR_0"))
        key = (*numbers, primitive.integer("indices", -1, -(1 << 53)), mode)
        if (*key, material) in self._made:
            return self._made[*key, material]
        if key not in self._geometry:
            self._geometry[key] = self._read(primitive, attributes, mode, name, coordinates)
        shared = self._geometry[key]
        if shared is None:
            return None
        self.accessors.budget.charge(4 * len(shared.triangles))
        materials = np.full(len(shared.triangles), material, np.int32)
        mesh = Mesh(shared.positions, shared.triangles, materials, shared.normals, shared.uvs, shared.colors, name)
        self._made[*key, material] = len(self.meshes)
        self.meshes.append(mesh)
        return len(self.meshes) - 1

    def _read(self, primitive: Object, attributes: Object, mode: int, name: str, coordinates: str) -> Mesh | None:
        if mode < 4:
            self.left_out[f"primitives of {_MODES[mode]} are not traced"] += 1
            return None
        if "POSITION" not in attributes:
            self.left_out["primitives without positions cannot be drawn"] += 1
            return None
        if primitive.array("targets"):
            self.left_out["primitives have morph targets, which are not applied"] += 1
        positions = self.accessors.floats("POSITION", attributes, (3,))
        count = len(positions)
        if "indices" in primitive:
            corners = self.accessors.indices("indices", primitive)
            if len(corners) and int(corners.max()) >= count:
                at = int(np.argmax(corners >= count))
                raise primitive.fail("indices", f"index {at:,} names vertex {corners[at]:,} of {count:,}")
        else:
            corners = np.arange(count)
        self.accessors.budget.charge(3 * 12 * len(corners))
        triangles = self._triangles(corners, mode)

        def attribute(key: str, widths: tuple[int, ...], normalize: bool = False) -> NDArray[np.float32] | None:
            if key not in attributes:
                return None
            values = self.accessors.floats(key, attributes, widths, normalize)
            if len(values) != count:
                raise attributes.fail(key, f"has {len(values):,} elements, and POSITION {count:,}")
            return values

        uvs = attribute(coordinates, (2,))
        if uvs is None and coordinates != "TEXCOORD_0":
            self.left_out["primitives lack the texture coordinates that their material's texture names"] += 1
        colors = attribute("COLOR_0", (3, 4), normalize=True)
        normals = attribute("NORMAL", (3,))
        if colors is not None:
            rgba = np.ones((count, 4), np.float32)
            rgba[:, : colors.shape[1]] = np.maximum(np.nan_to_num(colors, nan=0.0), 0.0)
            colors = rgba
        if normals is not None:
            normals, mended = unit_normals(positions, triangles, normals)
            if mended:
                self.left_out["vertices have a normal without direction; made from their faces"] += mended
        mesh = Mesh(positions, triangles, normals=normals, uvs=uvs, colors=colors, name=name)
        return with_normals(mesh, 0.0)

    def _triangles(self, numbers: NDArray[np.int64], mode: int) -> NDArray[np.int32]:
        """(T, 3) vertex numbers (3.7.2.1)."""
        corners = numbers.astype(np.int32)
        if mode == 4:
            spare = len(corners) % 3
            if spare:
                self.left_out["triangle lists end with one or two spare indices"] += 1
            return corners[: len(corners) - spare].reshape(-1, 3)
        k = np.arange(max(len(corners) - 2, 0))
        if mode == 5:
            odd = k % 2
            return np.stack([corners[k], corners[k + 1 + odd], corners[k + 2 - odd]], axis=1)
        return np.stack([corners[k + 1], corners[k + 2], corners[np.zeros_like(k)]], axis=1)
