"""The numbers of glTF's materials as a module: a table of what the scene's lobes take, and ``principled_at``."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from viewer.base.errors import ViewerError
from viewer.kernels.records import GEOMETRY, HIT, RAY
from viewer.materials.albedo import crossing_albedo, crossing_rise_albedo, ggx_albedo, rise_albedo, sheen_albedo
from viewer.materials.look import MAP, Look
from viewer.scene.material import Material
from viewer.stream.declare.kernel import Module, Table

LARGEST_ABSORPTION = 1e6  # per scene unit: black after less than anything is thick


def principled_materials(found: Sequence[Material], look: Look, texture_count: int = 0) -> list[Module]:
    """``principled_at`` and the table behind it, by the materials' addresses; nothing where no material is of glTF's.

    Raises ViewerError for a material that names a texture which is not there, or an index of refraction below 1.
    """
    if not look.principled:
        return []
    record = look.parameters
    table = np.zeros(max(1, len(found)), record.dtype)
    maps = np.zeros((len(table), max(1, len(look.maps))), MAP.dtype)
    for row, own, material in zip(table, maps, found, strict=False):
        if material.kind == "principled":
            rows = _maps(material, look, texture_count)
            own[: len(rows)] = rows
            for field in record.fields:
                row[field.name] = len(rows) if field.name == "map_count" else _value(material, field.name)
    return [
        Module(
            "principled materials",
            provides=("principled_at",),
            source="materials/parameters.glsl",
            memories=(
                Table("principled", record, table),
                *((Table("principled_maps", MAP, maps.reshape(-1)),) if look.textures else ()),
            ),
            constants={} if not look.textures else {"MAPS_OF_MATERIAL": maps.shape[1], **map_constants(look)},
            needs=("interaction_kind", *(("texture_data",) if look.textures else ())),
            uses=(look.interaction,),
            features=look.features,
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
            if "volume" in look.lobes
            else []
        ),
    ]


def needs_of(look: Look) -> tuple[str, ...]:
    """What the BSDF of these materials needs of other modules."""
    return ("principled_at", "path_settings", *(module.provides[0] for module in albedos(look)))


def albedos(look: Look) -> list[Module]:
    """The tables of albedos that its lobes ask for."""
    if not look.principled:
        return []
    found = [ggx_albedo(), rise_albedo()]
    found += [crossing_albedo(), crossing_rise_albedo()] if "volume" in look.lobes else []
    return [*found, *([sheen_albedo()] if "sheen" in look.lobes else [])]


def map_constants(look: Look) -> dict[str, int]:
    """The bits of `MAP.slots`, by their names in GLSL."""
    return {f"MAP_{name.removesuffix('_texture').upper()}": 1 << bit for bit, name in enumerate(look.maps)}


def _maps(material: Material, look: Look, texture_count: int) -> list[tuple[int, int, int]]:
    """A material's rows of `MAP`: one for all that a texture multiplies, which so is looked up once."""
    rows: dict[tuple[int, bool], int] = {}
    for bit, (name, color) in enumerate(look.maps.items()):
        number = getattr(material, name)
        if number is None:
            continue
        if not 0 <= number < texture_count:
            raise ViewerError(f"material '{material.name}'", f"{name} names texture {number} of {texture_count}")
        rows[number, color] = rows.get((number, color), 0) | 1 << bit
    return [(number, slots, int(color)) for (number, color), slots in rows.items()]


def _value(material: Material, name: str) -> object:
    """Of a field of the table."""
    if name in ("normal", "clearcoat_normal"):  # without a map
        return (0.0, 0.0, 1.0)
    if name == "anisotropy_axis":
        return math.cos(material.anisotropy_rotation), math.sin(material.anisotropy_rotation)
    if name == "attenuation":
        return absorption(material.attenuation_color, material.attenuation_distance)
    if name == "ior" and material.ior == 0.0:  # KHR_materials_ior: it reflects everything, at every angle
        return 1e4
    return getattr(material, name)


def absorption(color: Sequence[float], distance: float) -> tuple[float, ...]:
    """Coefficients per scene unit by which white light takes this color after the distance (KHR_materials_volume)."""
    if not 0.0 < distance < math.inf:
        return (0.0, 0.0, 0.0)
    return tuple(min(-math.log(max(each, 1e-30)) / distance, LARGEST_ABSORPTION) for each in color)
