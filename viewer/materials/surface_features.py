"""The features of a scene's surfaces, by which GLSL is generated: kinds of materials, lobes and textures in use.

A feature of no material is not in the source, nor in the records of paths and tables: on processors whose
conditions compute both sides, nothing else keeps a scene of matte surfaces as fast as it can be.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from raystream.kernels.records import INTERACTION
from raystream.materials import media
from raystream.scene.deform import DeformedMesh
from raystream.scene.geometry.batches import batches, offsets
from raystream.scene.geometry.normals import all_with_normals
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.material import TEXTURE_FIELDS, Material
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene
from raystream.scene.texture import Texture
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

# Parts of a principled surface, each with whether a material has it.
PARTS: Mapping[str, Callable[[Material], bool]] = {
    "metal": lambda material: material.metallic > 0.0,
    "dielectric": lambda material: material.metallic < 1.0 or material.metallic_roughness_texture is not None,
    "specular": lambda material: material.specular_factor != 1.0 or tuple(material.specular_color) != (1.0, 1.0, 1.0),
    "transmission": lambda material: material.transmission > 0.0,
    "volume": lambda material: (
        material.thickness > 0.0 and (material.transmission > 0.0 or material.diffuse_transmission > 0.0)
    ),
    "dispersion": lambda material: material.half_spread > 0.0,
    "anisotropy": lambda material: material.anisotropy != 0.0,
    "clearcoat": lambda material: material.clearcoat > 0.0,
    "iridescence": lambda material: material.iridescence > 0.0,
    "sheen": lambda material: max(material.sheen_color) > 0.0,
    "diffuse_transmission": lambda material: material.diffuse_transmission > 0.0,
    "normal": lambda material: material.normal_texture is not None,
    "clearcoat_normal": lambda material: material.clearcoat > 0.0 and material.clearcoat_normal_texture is not None,
    "unlit": lambda material: material.unlit,
}

# The textures that the lobes take from a material, each with whether it holds colours: their places in a row of
# `SurfaceFeatures.maps` are the bits of `MAP.slots`.
MAPS: Mapping[str, Mapping[str, bool]] = {
    "": {"metallic_roughness_texture": False},
    "specular": {"specular_factor_texture": False, "specular_color_texture": True},
    "transmission": {"transmission_texture": False},
    "anisotropy": {"anisotropy_texture": False},
    "clearcoat": {"clearcoat_texture": False, "clearcoat_roughness_texture": False},
    "iridescence": {"iridescence_texture": False, "iridescence_thickness_texture": False},
    "sheen": {"sheen_color_texture": True, "sheen_roughness_texture": False},
    "diffuse_transmission": {"diffuse_transmission_texture": False, "diffuse_transmission_color_texture": True},
    "normal": {"normal_texture": False},
    "clearcoat_normal": {"clearcoat_normal_texture": False},
}
MAP = Record(
    "PrincipledMap",
    Field("texture", "int", within=ROWS),
    Field("slots", "int", about="the parameters that it multiplies: bits, MAP_METALLIC_ROUGHNESS and so on"),
    Field("color", "int", about="1 where it holds colours", within=SMALL),
)

# The numbers that the lobes take from a material, by their names there.
FIELDS: Mapping[str, tuple[Field, ...]] = {
    "": (
        Field("metallic", "float"),
        Field("roughness", "float"),
        Field("ior", "float", about="index of refraction inside, relative to the outside"),
    ),
    "specular": (Field("specular_factor", "float"), Field("specular_color", "vec3", "linear sRGB")),
    "transmission": (Field("transmission", "float"),),
    "volume": (
        Field("thickness", "float", "scene units", about="0: a thin wall"),
        Field("attenuation", "vec3", "1 / scene units", about="coefficient of absorption"),
    ),
    "dispersion": (Field("half_spread", "float", about="of the indices of red and blue about green's"),),
    "anisotropy": (
        Field("anisotropy", "float"),
        Field("anisotropy_axis", "vec2", about="cosine and sine of its angle to the tangent"),
    ),
    "clearcoat": (Field("clearcoat", "float"), Field("clearcoat_roughness", "float")),
    "iridescence": (
        Field("iridescence", "float"),
        Field("iridescence_ior", "float"),
        Field("iridescence_thickness", "vec2", "nm"),
    ),
    "sheen": (Field("sheen_color", "vec3", "linear sRGB"), Field("sheen_roughness", "float")),
    "diffuse_transmission": (
        Field("diffuse_transmission", "float"),
        Field("diffuse_transmission_color", "vec3", "linear sRGB"),
    ),
    "normal": (Field("normal", "vec3", about="of the map, in its space"), Field("normal_scale", "float")),
    "clearcoat_normal": (
        Field("clearcoat_normal", "vec3", about="of its map"),
        Field("clearcoat_normal_scale", "float"),
    ),
    "unlit": (Field("unlit", "int", within=SMALL),),
}

_PARAMETER_FIELDS = frozenset({"parameter", "specular", "reflectivity"})  # of `INTERACTION`; only some kinds use them


@dataclass(frozen=True)
class SurfaceFeatures:
    """The parts of a scene's surfaces.

    kinds : of materials. lobes : of `PARTS`, of principled ones, and "nested". textures : fields of principled
    materials that name a texture somewhere. second_uv : whether some of these textures are looked up by a mesh's second
    coordinates. classic_textures : of the classic material that has most. sheets : whether one is a sheet of glass.
    dispersion : whether channels part somewhere. alpha : whether some surfaces have holes or let light pass; blend :
    whether at random. both_sides : whether some surfaces emit from both. textured_emitters : whether textures
    shine on surfaces that are lights. smooth : whether some meshes have normals that change along their triangles.
    """

    kinds: frozenset[str] = frozenset({"lambert"})
    lobes: frozenset[str] = frozenset()
    textures: frozenset[str] = frozenset()
    second_uv: bool = False
    dispersion: bool = False
    alpha: bool = False
    classic_textures: int = 0
    sheets: bool = False
    blend: bool = False
    both_sides: bool = False
    smooth: bool = False
    textured_emitters: bool = False

    @property
    def principled(self) -> bool:
        """Whether some surfaces have glTF's materials."""
        return "principled" in self.kinds

    @property
    def classic(self) -> bool:
        """Whether some surfaces have classic materials."""
        return "classic" in self.kinds

    @property
    def addressed(self) -> bool:
        """Whether an interaction has the material's address."""
        return self.principled or self.classic

    @property
    def nested(self) -> bool:
        """Whether volumes overlap, or have objects in them."""
        return "nested" in self.lobes

    @property
    def below(self) -> bool:
        """Whether some lobes transmit light."""
        return not self.lobes.isdisjoint({"transmission", "diffuse_transmission"})

    @property
    def mapped(self) -> bool:
        """Whether some lobes have normal maps."""
        return not self.lobes.isdisjoint({"normal", "clearcoat_normal"})

    @property
    def tangents(self) -> bool:
        """Whether shading needs tangents, for normal maps or anisotropy."""
        return not self.lobes.isdisjoint({"normal", "clearcoat_normal", "anisotropy"})

    @property
    def has_vertex_tangents(self) -> bool:
        """Whether hits need ``tangents_at`` of `raystream.materials.geometry`."""
        return self.tangents or self.second_uv or self.alpha or self.textured_emitters

    @property
    def features(self) -> frozenset[str]:
        """The names that shaders test by ``#ifdef HAVE_``."""
        present = {
            "BELOW": self.below,
            "BLEND": self.blend,
            "CLASSIC": self.classic,
            "TANGENTS": self.tangents or self.second_uv,
            "DISPERSION": "dispersion" in self.lobes,
            "SECOND_UV": self.second_uv,
            "SHEETS": self.sheets,
            "SMOOTH": self.smooth,
        }
        return frozenset(name for name, has in present.items() if has)

    @property
    def interaction(self) -> Record:
        """The record of a surface interaction, with the fields that the scene's materials need."""
        if not self.addressed:
            return INTERACTION
        plain = self.kinds <= {"lambert", "mirror", "principled"}
        fields = [field for field in INTERACTION.fields if not (plain and field.name in _PARAMETER_FIELDS)]
        kind = Field("kind", "int", about="BSDF_LAMBERT and so on, what `packed` has, and the address of the material")
        fields = [kind if field.name == "kind" else field for field in fields]
        if self.textures or self.tangents:
            fields.append(Field("place", "vec3", about="texture coordinates, level and tangent: interaction_place"))
        # In scenes with parameters of other kinds, the second coordinates use their fields.
        if self.second_uv and plain:
            fields.append(Field("uv_1", "vec3", about="texture coordinates of the second set, and level"))

        return Record(INTERACTION.name, *fields)

    @property
    def media(self) -> Record:
        """The record of the volumes that a ray is in."""
        return media.MEDIA[self.nested]

    @property
    def packed(self) -> dict[str, tuple[int, int]]:
        """Further bit fields of an interaction's ``kind``: name -> lowest bit, and number of bits."""
        fields, first = {}, 3
        layouts = ("channel", 4, "dispersion" in self.lobes), ("outside", media.BITS, self.nested)
        for name, bits, present in layouts:
            if present:
                fields[name] = first, bits
                first += bits
        return {**fields, "material": (first, 24 - first)}

    @property
    def parameters(self) -> Record:
        """The record of a principled material's parameters."""
        numbers = [field for lobe, fields in FIELDS.items() if not lobe or lobe in self.lobes for field in fields]
        numbers += (
            [Field("map_count", "int", about="of its rows in the table of maps", within=SMALL)] if self.textures else []
        )
        return Record("Principled", *numbers)

    @property
    def maps(self) -> dict[str, bool]:
        """Field of a texture of principled materials -> whether it has colours; in the order of their bits."""
        return {name: color for fields in MAPS.values() for name, color in fields.items() if name in self.textures}


def material_features(
    materials: Iterable[Material],
    textures: Sequence[Texture] = (),
    has_textured_emitters: bool = False,
    nested: bool = False,
) -> SurfaceFeatures:
    """The features of surfaces with these materials. has_textured_emitters : some are of `textured_emitters`. nested :
    volumes overlap, or have objects in them."""
    scene_materials = list(materials) or [Material()]
    principled = [material for material in scene_materials if material.kind == "principled"]
    classics = [
        material.classic for material in scene_materials if material.kind == "classic" and material.classic is not None
    ]
    lobes = {lobe for lobe, has in PARTS.items() if any(has(material) for material in principled)}
    lobes |= {"nested"} if nested else set()
    textured = {
        name: getattr(material, name)
        for material in principled
        for name in TEXTURE_FIELDS
        if getattr(material, name) is not None
    }
    used = {name for lobe, fields in MAPS.items() if not lobe or lobe in lobes for name in fields}
    indices = {index for material in scene_materials for index in material.texture_numbers}
    second = any(0 <= n < len(textures) and textures[n].uv_set == 1 for n in indices)
    return SurfaceFeatures(
        kinds=frozenset(material.kind for material in scene_materials),
        lobes=frozenset(lobes),
        textures=frozenset(textured) & used,
        second_uv=second,
        dispersion=any(material.parts_channels for material in scene_materials),
        textured_emitters=has_textured_emitters,
        alpha=any(material.alpha_mode != "opaque" for material in scene_materials),
        classic_textures=max((len(material.layers) for material in scene_materials), default=0),
        sheets=any(classic.is_sheet for classic in classics),
        blend=any(material.alpha_mode == "blend" for material in scene_materials),
        both_sides=any(material.double_sided and max(material.emission) > 0.0 for material in scene_materials),
    )


def textured_emitters(scene: Scene) -> set[int]:
    """The indices of materials with an emissive texture whose surfaces are lights; not of those that instances override
    their meshes' materials with, since a face's brightness is stored once for all instances."""
    indices = {
        index
        for index, material in enumerate(scene.materials)
        if material.emission_texture is not None
        and 0 <= material.emission_texture < len(scene.textures)
        and max(material.emission) > 0.0
        and min(material.emission) >= 0.0
    }
    return indices - {instance.material for instance in scene.instances if instance.material is not None}


def surface_features(scene: Scene) -> SurfaceFeatures:
    """The features of a scene's surfaces."""
    surfaces = material_features(
        scene.materials, scene.textures, bool(textured_emitters(scene)), media.has_nested_volumes(scene)
    )
    return replace(surfaces, smooth=has_smooth_meshes(scene))


# -- smooth meshes: those whose normals differ from their flat triangles' ----------------------------------------------

FLAT_TOLERANCE = 1e-4  # 1 - cosine: vertex normals within this of the face normal count as flat
MAX_EXAMINED = 2000  # triangles of a mesh without normals; larger ones count as smooth unexamined
BATCH_TRIANGLES = 1 << 16  # that are examined at once
_smooth_cache: dict[int, tuple[weakref.ref[Mesh], bool]] = {}  # id of a mesh -> whether it is smooth


def has_smooth_meshes(scene: Scene) -> bool:
    """Whether some mesh of a scene has normals that vary within triangles."""
    return _any_smooth(scene.meshes[index] for index in {instance.mesh for instance in scene.instances})


def is_smooth(mesh: Mesh) -> bool:
    """Whether a mesh's normals, possibly not computed yet, vary within a triangle; of a deforming one at rest."""
    return _any_smooth([mesh])


def _any_smooth(meshes: Iterable[Mesh]) -> bool:
    """Whether some of the meshes are smooth, by the cache where it has them."""
    unknown = []
    for mesh in (mesh.rest if isinstance(mesh, DeformedMesh) else mesh for mesh in meshes):
        cached = _smooth_cache.get(id(mesh))
        if cached is None or cached[0]() is not mesh:
            unknown.append(mesh)
        elif cached[1]:
            return True
    for part in batches(np.array([len(mesh.triangles) for mesh in unknown], np.int64), BATCH_TRIANGLES):
        smooth_flags = _smooth_flags(unknown[part])
        for mesh, smooth in zip(unknown[part], smooth_flags, strict=True):
            _remember(mesh, smooth)
        if any(smooth_flags):
            return True
    return False


def _remember(mesh: Mesh, smooth: bool) -> None:
    """Cache whether a mesh is smooth, for as long as it exists."""
    key = id(mesh)

    def forget(reference: weakref.ref[Mesh]) -> None:
        if key in _smooth_cache and _smooth_cache[key][0] is reference:
            del _smooth_cache[key]

    _smooth_cache[key] = weakref.ref(mesh, forget), smooth


def _smooth_flags(meshes: list[Mesh]) -> list[bool]:
    """Whether each mesh is smooth."""
    flags = [mesh.normals is None and len(mesh.triangles) > MAX_EXAMINED for mesh in meshes]
    undecided = [
        k
        for k, mesh in enumerate(meshes)
        if not (flags[k] or isinstance(mesh, (Quadric, Quadrics))) and len(mesh.triangles)
    ]
    if not undecided:
        return flags
    finished = all_with_normals(meshes[k] for k in undecided)
    arrays = [(mesh.positions, mesh.triangles, mesh.normals) for mesh in finished if mesh.normals is not None]
    if len(finished) == 1:  # it may be large: in batches, since the first ones mostly decide
        positions, triangles, normals = arrays[0]
        parts = (
            triangles[first : first + BATCH_TRIANGLES]
            for first in range(0, len(triangles) * bool(normals.any()), BATCH_TRIANGLES)
        )
        flags[undecided[0]] = any(_varying_normals(positions[part], normals[part]).any() for part in parts)
        return flags
    varying = _varying_normals(*(np.concatenate([arrays_of[k][arrays_of[1]] for arrays_of in arrays]) for k in (0, 2)))
    mesh_varies = np.logical_or.reduceat(varying, offsets([len(mesh.triangles) for mesh in finished])[:-1])
    for k, smooth in zip(undecided, mesh_varies.tolist(), strict=True):
        flags[k] = smooth
    return flags


def _varying_normals(corners: NDArray, normals: NDArray) -> NDArray[np.bool_]:
    """(T,): whether the vertex normals of triangles differ from the face normal. corners, normals : (T, 3, 3);
    normals of 0 count as the face normal."""
    corners, normals = corners.astype(np.float64), normals.astype(np.float64)
    with np.errstate(all="ignore"):  # non-finite triangles have no normal
        flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(flat, axis=1, keepdims=True)
        lengths = np.linalg.norm(normals, axis=2)
        cosine = np.einsum("tkc,tc->tk", normals, flat / size) / lengths
    return np.asarray((np.isfinite(cosine) & (cosine < 1.0 - FLAT_TOLERANCE)).any(axis=1))
