"""A scene of classic materials as arrays that every back end of the thesis reads (T 6.2, 6.4, figure 6-15).

The structure is the thesis's own: a hierarchy over instances above one over the triangles of each object. Both are
halved in the middle along x, y and z in turn, with one primitive in a leaf, and lie in depth-first order with escape
indices (N. Thrane and L. O. Simonsen 2005). Fragment programs read the same arrays under ``--accel two-level-bvh
--build midpoint --traversal escape``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel.structures import Structure, StructureOptions
from raystream.accel.two_level.structure import two_level_structure
from raystream.base.errors import ViewerError
from raystream.scene.edits.materials import decided_materials
from raystream.scene.geometry.triangles import Triangles
from raystream.scene.material import CLASSIC_MODES, ClassicMaterial
from raystream.scene.scene import Scene
from raystream.scene.texture import Texture

# Of the renderer, for the same structure and the thesis's test: barycentric coordinates by Cramer's rule (6.2).
SETTINGS: dict[str, Any] = {
    "accel": "two-level-bvh",
    "build": "midpoint",
    "traversal": "escape",
    "intersection": "moller-trumbore",
}
Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Model:
    """Arrays of a scene.

    top_boxes : (N, 6) float32, low and high corners, world. top_links : (N, 2) int32: the node after a miss, N at the
                end; the instance of a leaf, -1 of an inner node, whose first child follows it.
    boxes     : (M, 6), object space. links : (M, 3): the node after a miss, M at the end of each object; a leaf's first
                triangle and their number, 0 of an inner node.
    instances : (I, 12): rows of the map to object space, each with a coordinate of the object's place. roots : (I, 2):
                the object's first node, and the instance's first face.
    corners   : (T, 3, 3), object space, in leaves' order. numbers : (T,) within their objects.
    faces     : (F, 4): vertices and material. vertices : (V, 11): position, normal, colour, texture coordinates; world.
    materials : (K, 20): bias, scale, power, reflectivity, transmittance, thickness, whether a slab, whether vertex
                colours, diffuse, specular, ambient colour, indices of refraction.
    applied   : (K, 2) : a material's first layer, and their number. layers : (L, 10): environment colour, transform.
    kinds     : (L, 6): mode, first texel, width, height, whether clamped across and down. texels : (X, 4), linear.
    """

    top_boxes: Floats
    top_links: Ints
    boxes: Floats
    links: Ints
    instances: Floats
    roots: Ints
    corners: Floats
    numbers: Ints
    faces: Ints
    vertices: Floats
    materials: Floats
    applied: Ints
    layers: Floats
    kinds: Ints
    texels: Floats

    @property
    def structure(self) -> tuple[NDArray, ...]:
        """What intersection reads."""
        above = self.top_boxes, self.top_links, self.boxes, self.links
        return (*above, self.instances, self.roots, self.corners, self.numbers)

    @property
    def surface(self) -> tuple[NDArray, ...]:
        """What shading reads."""
        return self.faces, self.vertices, self.materials, self.applied, self.layers, self.kinds, self.texels


@dataclass(frozen=True)
class Traced:
    """What a back end draws.

    environment : radiance from all sides. depth : surfaces of a path after the first at most.
    """

    scene: Scene
    model: Model
    environment: tuple[float, float, float] = (1.0, 1.0, 1.0)
    depth: int = 4

    @classmethod
    def of(cls, scene: Scene, *rest: Any) -> Traced:
        """A scene with its arrays; the rest as of the class. Raises ViewerError, see `build`."""
        return cls(scene, build(scene), *rest)


def build(scene: Scene, settings: dict[str, Any] | None = None) -> Model:
    """The arrays of a scene. settings : of the structure, if other than `SETTINGS`.

    Raises ViewerError for materials that are not classic, or are lit, and for quadrics.
    """
    flat = scene.flatten()
    return Model(*hierarchy(scene, flat, settings), *_surface(scene, flat))


def hierarchy(scene: Scene, flat: Triangles, settings: dict[str, Any] | None = None) -> tuple[NDArray, ...]:
    """`Model.structure` of a scene of any materials. Raises ViewerError for quadrics."""
    if flat.quadrics:
        raise ViewerError(scene.name, "holds quadrics", "give it to the machines")
    made = two_level_structure(scene, StructureOptions(**(SETTINGS if settings is None else settings)))
    return _structure(made, flat.instances[:-1])


def _structure(made: Structure, first_faces: NDArray[np.int32]) -> tuple[NDArray, ...]:
    two = made.built
    modules = made.modules()
    tables: dict[str, Any] = {table.name: table.data for module in modules for table in module.memories}
    top, count = tables["top_nodes"], two.top.statistics["top_nodes"]
    top, leaf = top[:count], top[:count]["count"] > 0
    links = np.stack([np.minimum(top["missed_up"][:, 0], count), np.where(leaf, top["first"], -1)], axis=1)
    nodes, triangles, rows = tables["bvh_nodes"], tables["triangles"], tables["instances"]
    held = nodes["count"] > 0
    below = np.stack([tables["bvh_links"]["missed"], nodes["first"], np.where(held, nodes["count"], 0)], axis=1)
    first = tables["bvh_roots"]["root"] if "bvh_roots" in tables else np.array([modules[0].uniforms["bvh_only"][1][0]])
    object_of = rows["object"]
    inverse = np.concatenate([rows[f"inverse_{axis}"] for axis in "xyz"], axis=1)
    roots = np.stack([first[np.maximum(object_of, 0)], first_faces], axis=1)
    corners = np.stack([triangles[name] for name in "abc"], axis=1)
    return (
        *(_floats(_boxes(top)), _ints(links), _floats(_boxes(nodes)), _ints(below)),
        *(_floats(inverse), _ints(roots), _floats(corners), _ints(triangles["number"])),
    )


def _boxes(nodes: NDArray) -> NDArray:
    return np.concatenate([nodes["low"], nodes["high"]], axis=1)


def _surface(scene: Scene, flat: Triangles) -> tuple[NDArray, ...]:
    faces = np.concatenate([flat.triangles, flat.materials[:, None]], axis=1)
    vertices = np.concatenate([flat.positions, flat.normals, flat.colors, flat.uvs], axis=1)
    own = decided_materials(scene)
    materials = np.array([_material(scene, each.name, each.classic, each.base_color) for each in own])
    starts: dict[int, int] = {}  # a texture's first texel
    texels: list[NDArray[np.float32]] = [np.zeros((1, 4), np.float32)]
    applied: list[tuple[int, int]] = []
    layers: list[tuple[float, ...]] = []
    kinds: list[tuple[int, ...]] = []
    for material in own:
        applied.append((len(layers), len(material.layers)))
        for layer in material.layers:
            texture = scene.textures[layer.texture]
            if layer.texture not in starts:
                starts[layer.texture] = sum(map(len, texels))
                texels.append(linear(texture).reshape(-1, 4))
            height, width = texture.image.texels.shape[:2]
            clamps = (each == "clamp" for each in texture.wrap)
            kinds.append((CLASSIC_MODES[layer.mode], starts[layer.texture], width, height, *clamps))
            layers.append((*layer.environment, 0.0, *texture.transform.ravel()))
    return (
        *(_ints(faces), _floats(vertices), _floats(materials), _ints(np.array(applied))),
        *(_floats(np.array(layers or [(0.0,) * 10])), _ints(np.array(kinds or [(0,) * 6])), np.concatenate(texels)),
    )


def _material(scene: Scene, name: str, own: ClassicMaterial | None, base: Any) -> tuple[float, ...]:
    if own is None or own.lit:
        what = f"material '{name}' is not a classic one that is not lit"
        raise ViewerError(scene.name, what, "give it to the machines")
    return (
        *(own.bias, own.scale, own.power, own.reflectivity, own.transmittance),
        *(own.thickness, float(own.thickness_model == "slab"), float(bool(own.vertex_colors))),
        *(*base[:3], *own.specular, *own.ambient, *own.indices),
    )


def linear(texture: Texture) -> NDArray[np.float32]:
    """(H, W, 4): the texels of an image of colours, linear."""
    from raystream.scene.texture import linear_from_srgb

    texels = texture.image.texels.astype(np.float64)
    if texture.image.texels.dtype.kind == "u":
        texels /= (1 << 8 * texture.image.texels.itemsize) - 1
        texels[..., :3] = linear_from_srgb(texels[..., :3])
    return np.asarray(texels, np.float32)


def _floats(values: NDArray) -> Floats:
    return np.ascontiguousarray(values, np.float32)


def _ints(values: NDArray) -> Ints:
    return np.ascontiguousarray(values, np.int32)
