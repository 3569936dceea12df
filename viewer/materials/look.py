"""The features of a scene's surfaces, by which source is generated: kinds of materials, lobes and textures in use.

A feature of no material is not in the source, nor in the records of paths and tables: on processors whose
conditions compute both sides, nothing else keeps a scene of matte surfaces as fast as it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from raystream.kernels.records import INTERACTION
from raystream.materials import media
from raystream.scene.edits.smooth import has_smooth_meshes
from raystream.scene.material import TEXTURE_FIELDS, Material
from raystream.scene.scene import Scene
from raystream.scene.texture import Texture
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

# Parts of a principled surface, each with whether a material has it.
PARTS: Mapping[str, Callable[[Material], bool]] = {
    "metal": lambda each: each.metallic > 0.0,
    "dielectric": lambda each: each.metallic < 1.0 or each.metallic_roughness_texture is not None,
    "specular": lambda each: each.specular_factor != 1.0 or tuple(each.specular_color) != (1.0, 1.0, 1.0),
    "transmission": lambda each: each.transmission > 0.0,
    "volume": lambda each: each.thickness > 0.0 and (each.transmission > 0.0 or each.diffuse_transmission > 0.0),
    "dispersion": lambda each: each.half_spread > 0.0,
    "anisotropy": lambda each: each.anisotropy != 0.0,
    "clearcoat": lambda each: each.clearcoat > 0.0,
    "iridescence": lambda each: each.iridescence > 0.0,
    "sheen": lambda each: max(each.sheen_color) > 0.0,
    "diffuse_transmission": lambda each: each.diffuse_transmission > 0.0,
    "normal": lambda each: each.normal_texture is not None,
    "clearcoat_normal": lambda each: each.clearcoat > 0.0 and each.clearcoat_normal_texture is not None,
    "unlit": lambda each: each.unlit,
}

# The textures that the lobes take from a material, each with whether it holds colours: their places in a row of
# `Look.maps` are the bits of `MAP.slots`.
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
    "specular": (
        Field("specular_factor", "float"),
        Field("specular_color", "vec3", "linear sRGB"),
    ),
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
    "clearcoat": (
        Field("clearcoat", "float"),
        Field("clearcoat_roughness", "float"),
    ),
    "iridescence": (
        Field("iridescence", "float"),
        Field("iridescence_ior", "float"),
        Field("iridescence_thickness", "vec2", "nm"),
    ),
    "sheen": (
        Field("sheen_color", "vec3", "linear sRGB"),
        Field("sheen_roughness", "float"),
    ),
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

_OF_OLD = frozenset({"parameter", "specular", "reflectivity"})  # of `INTERACTION`, and of some kinds alone


@dataclass(frozen=True)
class Look:
    """The parts of a scene's surfaces.

    kinds : of materials. lobes : of `PARTS`, of principled ones, and "nested". textures : fields of principled
    materials that name a texture somewhere. second_uv : whether some of these textures are looked up by a mesh's second
    coordinates. classic_textures : of the classic material that has most. sheets : whether one is a sheet of glass.
    dispersion : whether channels part somewhere. alpha : whether some surfaces have holes or let light pass; blend :
    whether at random. both_sides : whether some surfaces emit from both. shining : whether textures shine on surfaces
    that are lights. smooth : whether some meshes have normals that change along their triangles.
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
    shining: bool = False

    @property
    def principled(self) -> bool:
        """Whether there are surfaces of glTF's materials."""
        return "principled" in self.kinds

    @property
    def classic(self) -> bool:
        """Whether there are surfaces of the classic material."""
        return "classic" in self.kinds

    @property
    def addressed(self) -> bool:
        """Whether a path keeps the material's address."""
        return self.principled or self.classic

    @property
    def nested(self) -> bool:
        """Whether volumes overlap or hold something."""
        return "nested" in self.lobes

    @property
    def below(self) -> bool:
        """Whether there are lobes below the surface."""
        return not self.lobes.isdisjoint({"transmission", "diffuse_transmission"})

    @property
    def mapped(self) -> bool:
        """Whether some lobe has a normal of its own."""
        return not self.lobes.isdisjoint({"normal", "clearcoat_normal"})

    @property
    def tangents(self) -> bool:
        """Whether some surface has directions of its own."""
        return not self.lobes.isdisjoint({"normal", "clearcoat_normal", "anisotropy"})

    @property
    def detailed(self) -> bool:
        """Whether hits need `raystream.materials.details`."""
        return self.tangents or self.second_uv or self.alpha or self.shining

    @property
    def features(self) -> frozenset[str]:
        """The names that shaders ask for by ``#ifdef HAVE_``."""
        there = {
            "BELOW": self.below,
            "BLEND": self.blend,
            "CLASSIC": self.classic,
            "DETAIL": self.tangents or self.second_uv,
            "DISPERSION": "dispersion" in self.lobes,
            "SECOND_UV": self.second_uv,
            "SHEETS": self.sheets,
            "SMOOTH": self.smooth,
        }
        return frozenset(name for name, has in there.items() if has)

    @property
    def interaction(self) -> Record:
        """A path's record of a surface: of glTF's materials the address, and where their textures are looked up."""
        if not self.addressed:
            return INTERACTION
        plain = self.kinds <= {"lambert", "mirror", "principled"}
        fields = [field for field in INTERACTION.fields if not (plain and field.name in _OF_OLD)]
        kind = Field("kind", "int", about="BSDF_LAMBERT and so on, what `packed` has, and the address of the material")
        fields = [kind if field.name == "kind" else field for field in fields]
        if self.textures or self.tangents:
            fields.append(Field("place", "vec3", about="texture coordinates, level and tangent: interaction_place"))
        # Where there are the parameters of other kinds, these lie in their places.
        if self.second_uv and plain:
            fields.append(Field("uv_1", "vec3", about="texture coordinates of the second set, and level"))

        return Record(INTERACTION.name, *fields)

    @property
    def media(self) -> Record:
        """A ray's record of the volumes that it is within."""
        return media.MEDIA[self.nested]

    @property
    def packed(self) -> dict[str, tuple[int, int]]:
        """The bit fields of an interaction's ``kind`` beside the kind, by name: the lowest bit, and how many."""
        fields, first = {}, 3
        layouts = ("channel", 4, "dispersion" in self.lobes), ("outside", media.BITS, self.nested)
        for name, bits, present in layouts:
            if present:
                fields[name] = first, bits
                first += bits
        return {**fields, "material": (first, 24 - first)}

    @property
    def parameters(self) -> Record:
        """A principled material's numbers."""
        numbers = [field for lobe, fields in FIELDS.items() if not lobe or lobe in self.lobes for field in fields]
        numbers += (
            [Field("map_count", "int", about="of its rows in the table of maps", within=SMALL)] if self.textures else []
        )
        return Record("Principled", *numbers)

    @property
    def maps(self) -> dict[str, bool]:
        """The textures of principled materials, each with whether it holds colours; in the order of their bits."""
        return {name: color for fields in MAPS.values() for name, color in fields.items() if name in self.textures}


def look_of(
    materials: Iterable[Material], textures: Sequence[Texture] = (), shines: bool = False, nested: bool = False
) -> Look:
    """The look of a scene of these materials. shines : some of them are of `shining`. nested : volumes overlap, or hold
    something."""
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
    sampled = {name for lobe, fields in MAPS.items() if not lobe or lobe in lobes for name in fields}
    indices = {index for material in scene_materials for index in material.texture_numbers}
    second = any(0 <= n < len(textures) and textures[n].uv_set == 1 for n in indices)
    return Look(
        kinds=frozenset(material.kind for material in scene_materials),
        lobes=frozenset(lobes),
        textures=frozenset(textured) & sampled,
        second_uv=second,
        dispersion=any(material.parts_channels for material in scene_materials),
        shining=shines,
        alpha=any(material.alpha_mode != "opaque" for material in scene_materials),
        classic_textures=max((len(material.layers) for material in scene_materials), default=0),
        sheets=any(classic.is_sheet for classic in classics),
        blend=any(material.alpha_mode == "blend" for material in scene_materials),
        both_sides=any(material.double_sided and max(material.emission) > 0.0 for material in scene_materials),
    )


def shining(scene: Scene) -> set[int]:
    """The indices of materials whose emission has a texture, and whose surfaces are lights: not where an instance takes
    such a material in place of its mesh's own, since a face's brightness is kept once for all instances."""
    indices = {
        index
        for index, material in enumerate(scene.materials)
        if material.emission_texture is not None
        and 0 <= material.emission_texture < len(scene.textures)
        and max(material.emission) > 0.0
        and min(material.emission) >= 0.0
    }
    return indices - {instance.material for instance in scene.instances if instance.material is not None}


def scene_look(scene: Scene) -> Look:
    """The look of a scene."""
    look = look_of(scene.materials, scene.textures, bool(shining(scene)), media.nested(scene))
    return replace(look, smooth=has_smooth_meshes(scene))
