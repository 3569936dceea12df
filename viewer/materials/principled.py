"""The numbers of glTF's materials as modules: a table of the scene's lobe parameters, ``principled_at``, and the
directional albedos of lobes, for layers and energy compensation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from raystream.base import paths
from raystream.base.errors import ViewerError
from raystream.kernels.records import GEOMETRY, HIT, RAY
from raystream.materials.media import absorption, media
from raystream.materials.surface_features import MAP, SurfaceFeatures
from raystream.scene.material import LARGEST_DISPERSION, Material
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Field, Record

# Field of a texture -> GLSL of its texel's effect on the material; ``mapped``: the texel as a normal.
_TEXTURE_EFFECTS: Mapping[str, Sequence[str]] = {
    "metallic_roughness_texture": ("material.roughness *= texel.g;", "material.metallic *= texel.b;"),
    "specular_factor_texture": ("material.specular_factor *= texel.a;",),
    "specular_color_texture": ("material.specular_color *= texel.rgb;",),
    "transmission_texture": ("material.transmission *= texel.r;",),
    "anisotropy_texture": (
        "vec2 axis = material.anisotropy_axis;",
        "vec2 turned = vec2(mapped.x * axis.x - mapped.y * axis.y, mapped.x * axis.y + mapped.y * axis.x);",
        "material.anisotropy_axis = turned;",
        "material.anisotropy *= texel.b;",
    ),
    "clearcoat_texture": ("material.clearcoat *= texel.r;",),
    "clearcoat_roughness_texture": ("material.clearcoat_roughness *= texel.g;",),
    "iridescence_texture": ("material.iridescence *= texel.r;",),
    "iridescence_thickness_texture": ("layer = texel.g;",),
    "sheen_color_texture": ("material.sheen_color *= texel.rgb;",),
    "sheen_roughness_texture": ("material.sheen_roughness *= texel.a;",),
    "diffuse_transmission_texture": ("material.diffuse_transmission *= texel.a;",),
    "diffuse_transmission_color_texture": ("material.diffuse_transmission_color *= texel.rgb;",),
    "normal_texture": ("material.normal = vec3(mapped.xy * material.normal_scale, max(mapped.z, 1e-3));",),
    "clearcoat_normal_texture": (
        "material.clearcoat_normal = vec3(mapped.xy * material.clearcoat_normal_scale, max(mapped.z, 1e-3));",
    ),
}


# A material's textures in a loop, so that looking one up is in the source once: compilers inline all of it.
_TEXTURE_LOOP = """    for (int k = 0; k < material.map_count; k++) {
        PrincipledMap map = fetch_principled_maps(number * MAPS_OF_MATERIAL + k);
        vec4 texel = texture_texel(map.texture, interaction_place(at), interaction_uv_1(at), map.color == 1);
        principled_textured(material, map.slots, texel, layer);
    }"""
_CHANNEL_INDEX = """    int channel = interaction_channel(at) & 3;
    if (channel > 0 && material.half_spread > 0.0) {
        material.ior = max(material.ior + float(channel - 2) * material.half_spread, 1.0);
    }"""


def principled_materials(
    materials: Sequence[Material], surfaces: SurfaceFeatures, texture_count: int = 0
) -> list[Module]:
    """The modules of ``principled_at``, with tables by the materials' addresses, of volumes and of media; none without
    glTF's materials. Raises ViewerError for a material that names a texture which is not there, or an index of
    refraction below 1."""
    if not surfaces.principled:
        return []
    record = surfaces.parameters
    max_materials = 1 << surfaces.packed["material"][1]
    if len(materials) > max_materials:
        hint = f"take at most {max_materials:,}, or no dispersion and no volumes within each other"
        raise ViewerError("materials", f"{len(materials):,} of them, which paths cannot tell apart here", hint)
    table = np.zeros(max(1, len(materials)), record.dtype)
    maps = np.zeros((len(table), max(1, len(surfaces.maps))), MAP.dtype)
    for row, map_rows, material in zip(table, maps, materials, strict=False):
        if material.kind == "principled":
            rows = _map_rows(material, surfaces, texture_count)
            map_rows[: len(rows)] = rows
            for field in record.fields:
                row[field.name] = len(rows) if field.name == "map_count" else _field_value(material, field.name)
    return [
        Module(
            "principled materials",
            provides=("principled_at",),
            source="interface/interaction.glsl",
            memories=(
                Table("principled", record, table),
                *((Table("principled_maps", MAP, maps.reshape(-1)),) if surfaces.textures else ()),
            ),
            constants={} if not surfaces.textures else {"MAPS_OF_MATERIAL": maps.shape[1], **map_constants(surfaces)},
            needs=(
                "interaction_kind",
                *(("texture_texel",) if surfaces.textures else ()),
                *(("media_top",) if surfaces.nested else ()),
            ),
            uses=(surfaces.interaction,),
            text=_parameters_glsl(surfaces),
            features=surfaces.features,
        ),
        *(
            [
                Module(
                    "volumes",
                    provides=("volume_transmittance",),
                    source="shading/volume.glsl",
                    needs=("geometry_at", "principled_at"),
                    uses=(RAY, HIT, GEOMETRY),
                )
            ]
            if "volume" in surfaces.lobes
            else []
        ),
        *([media(materials)] if surfaces.nested else []),
    ]


def bsdf_needs(surfaces: SurfaceFeatures) -> tuple[str, ...]:
    """The functions of other modules that the BSDF of glTF's materials needs."""
    return ("principled_at", "path_settings", *(module.provides[0] for module in albedos(surfaces)))


def albedos(surfaces: SurfaceFeatures) -> list[Module]:
    """The modules of the albedo tables that the surfaces' lobes need."""
    if not surfaces.principled:
        return []
    modules = [ggx_albedo(), rise_albedo()]
    modules += [crossing_albedo(), crossing_rise_albedo()] if "volume" in surfaces.lobes else []
    return [*modules, *([sheen_albedo()] if "sheen" in surfaces.lobes else [])]


def map_constants(surfaces: SurfaceFeatures) -> dict[str, int]:
    """The bits of `MAP.slots`, by their names in GLSL."""
    return {f"MAP_{name.removesuffix('_texture').upper()}": 1 << bit for bit, name in enumerate(surfaces.maps)}


def _parameters_glsl(surfaces: SurfaceFeatures) -> str:
    """GLSL of ``principled_at``, a material's factors times textures, of one channel where that is chosen;
    ``principled_refracts``; ``principled_passes``, whether light comes through a material, by its address; and
    ``outside_parts``, whether the medium outside is dispersive."""
    lines = ["bool outside_parts(Interaction at) { return false; }"]
    if surfaces.nested:
        lines = ["bool outside_parts(Interaction at) {", "    return medium_parts(interaction_outside(at));", "}"]
    lines += ["bool principled_refracts(Principled material) {"]
    refracts = "material.thickness > 0.0 && material.transmission > 0.0"
    lines += [f"    return {refracts if surfaces.lobes >= {'transmission', 'volume'} else 'false'};", "}"]
    if surfaces.textures:
        lines += ["void principled_textured(inout Principled material, int slots, vec4 texel, inout float layer) {"]
        lines += ["    vec3 mapped = texel.xyz * 2.0 - 1.0;"]
        for name, bit in zip(surfaces.maps, map_constants(surfaces), strict=True):
            statements, condition = _TEXTURE_EFFECTS[name], f"    if ((slots & {bit}) != 0)"
            lines += (
                [f"{condition} {statements[0]}"]
                if len(statements) == 1
                else [f"{condition} {{", *(f"        {d}" for d in statements), "    }"]
            )
        lines += ["}"]
    lines += ["Principled principled_at(Interaction at) {", "    int number = interaction_material(at);"]
    lines += ["    Principled material = fetch_principled(number);"]
    if surfaces.textures or "iridescence" in surfaces.lobes:
        lines += ["    float layer = 1.0;"]
    if surfaces.textures:
        lines += [_TEXTURE_LOOP]
    if "iridescence" in surfaces.lobes:
        thickness = "material.iridescence_thickness"
        lines += [f"    {thickness}.x = mix({thickness}.x, {thickness}.y, layer);"]
    if "dispersion" in surfaces.lobes:
        lines += [_CHANNEL_INDEX]
    if surfaces.nested:
        channel = "channel" if "dispersion" in surfaces.lobes else "0"
        lines += [f"    material.ior /= medium_index(interaction_outside(at), {channel});"]
    lines += ["    return material;", "}"]
    passing = [name for name in ("transmission", "diffuse_transmission") if name in surfaces.lobes]
    if passing:
        lines += ["bool principled_passes(int number) {", "    Principled material = fetch_principled(number);"]
        lines += [f"    return {' || '.join(f'material.{name} > 0.0' for name in passing)};", "}"]
    return "\n".join(lines)


def _map_rows(material: Material, surfaces: SurfaceFeatures, texture_count: int) -> list[tuple[int, int, int]]:
    """A material's rows of `MAP`: one for each texture, with all parameters that it multiplies, so that it is looked up
    once."""
    rows: dict[tuple[int, bool], int] = {}
    for bit, (name, color) in enumerate(surfaces.maps.items()):
        index = getattr(material, name)
        if index is None:
            continue
        if not 0 <= index < texture_count:
            raise ViewerError(f"material '{material.name}'", f"{name} names texture {index} of {texture_count}")
        rows[index, color] = rows.get((index, color), 0) | 1 << bit
    return [(index, slots, int(color)) for (index, color), slots in rows.items()]


def _field_value(material: Material, name: str) -> object:
    """The value of a material for a field of the table."""
    if name in ("normal", "clearcoat_normal"):  # without a map
        return (0.0, 0.0, 1.0)
    if name == "anisotropy_axis":
        return math.cos(material.anisotropy_rotation), math.sin(material.anisotropy_rotation)
    if name == "attenuation":
        return absorption(material.attenuation_color, material.attenuation_distance)
    if name == "half_spread":
        return half_spread(material)
    if name == "ior" and material.ior == 0.0:  # KHR_materials_ior: it reflects everything, at every angle
        return 1e4
    return getattr(material, name)


def half_spread(material: Material) -> float:
    """Half the difference of the refractive indices of blue and red. Raises ViewerError for an impossible
    dispersion."""
    where, value = f"material '{material.name}'", material.dispersion
    if not 0.0 <= value <= LARGEST_DISPERSION:
        raise ViewerError(where, f"dispersion {value}", f"0 to {LARGEST_DISPERSION:g}: 20 / Abbe number")
    if value > 0.0 and material.ior < 1.0:
        hint = "1 or more: turn the surface over, so that its front is outside of the glass"
        raise ViewerError(where, f"dispersion with an index of refraction of {material.ior}", hint)
    return material.half_spread


# -- directional albedos -----------------------------------------------------------------------------------------------
# The arrays are those of ``assets/albedo.npz``, which ``tools/albedo.py`` makes and describes. On the device a record
# holds the four corners of a cell, so that a lookup in two dimensions is one fetch.

ALBEDO = Record("Albedo", Field("corners", "vec4", about="of a cell: (row, column), next column, next row, both next"))

MAX_SHEEN_ALBEDO = 8.0  # tools/albedo.py divides by it


@cache
def arrays() -> dict[str, NDArray[np.float64]]:
    """The arrays of ``assets/albedo.npz``, 0 .. 1. Raises ViewerError where the file cannot be read."""
    path = paths.assets() / "albedo.npz"
    try:
        with np.load(path) as file:
            return {name: file[name] / 65535.0 for name in file}
    except (OSError, ValueError) as error:
        raise ViewerError(
            str(path), f"cannot be read: {error}", "the installation is incomplete; install again"
        ) from None


def cells(values: NDArray) -> NDArray:
    """(N,) `ALBEDO`: the cells of an array (..., rows, columns), slice by slice, row by row."""
    corners = [values[..., :-1, :-1], values[..., :-1, 1:], values[..., 1:, :-1], values[..., 1:, 1:]]
    rows = np.zeros(corners[0].size, ALBEDO.dtype)
    rows["corners"] = np.stack(corners, axis=-1).reshape(-1, 4)
    return rows


@cache
def _albedo_module(name: str, function: str) -> Module:
    """The module of a GLSL ``function`` that looks up the array ``name`` of `arrays`."""
    values = arrays()[name]
    upper = function.upper()
    constants: dict[str, int | float] = {
        f"{upper}_COLUMNS": values.shape[-1] - 1,
        f"{upper}_ROWS": values.shape[-2] - 1,
    }
    if values.ndim == 3:
        slices = values.shape[0] - 1
        below_one = name != "crossing_rise"  # ratios below 1 as well
        step = (values.shape[-1] - 1) * (values.shape[-2] - 1)
        constants |= {
            f"{upper}_SLICES": slices,
            f"{upper}_FIRST": slices // 2 if below_one else 0,
            f"{upper}_STEP": step,
        }
    if name == "sheen":
        constants[f"{upper}_BRIGHTEST"] = MAX_SHEEN_ALBEDO
    return Module(
        f"{name} albedo",
        provides=(function,),
        source=f"materials/{function}.glsl",
        memories=(Table(f"{function}s", ALBEDO, cells(values)),),
        constants=constants,
    )


def ggx_albedo() -> Module:
    """The module of ``ggx_albedo``: of GGX with a reflectance of 1, for all GGX lobes."""
    return _albedo_module("reflection", "ggx_albedo")


def rise_albedo() -> Module:
    """The module of ``rise_albedo``: of GGX times the rise of Fresnel reflectance, for layers and transmission."""
    return _albedo_module("rise", "rise_albedo")


def crossing_albedo() -> Module:
    """The module of ``crossing_albedo``: of refraction by GGX, for transmission into a volume."""
    return _albedo_module("crossing", "crossing_albedo")


def crossing_rise_albedo() -> Module:
    """The module of ``crossing_rise_albedo``: how much transmission rises by a grazing reflectance below 1."""
    return _albedo_module("crossing_rise", "crossing_rise_albedo")


def sheen_albedo() -> Module:
    """The module of ``sheen_albedo``: of Charlie's sheen."""
    return _albedo_module("sheen", "sheen_albedo")
