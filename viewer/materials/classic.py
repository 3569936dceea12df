"""The classic materials as modules: their parameters, ``classic_material``, and ``classic_color`` by vertex colours and
textures, which the BSDF does not need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raystream.base.errors import ViewerError
from raystream.kernels.records import GEOMETRY, HIT
from raystream.materials.surface_features import SurfaceFeatures
from raystream.scene.material import CLASSIC_MODES, KINDS, ClassicMaterial, ClassicTexture, Material
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

CLASSIC = Record(
    "Classic",
    Field("fresnel", "vec3", about="bias, scale and power"),
    Field("reflectivity", "float"),
    Field("specular", "vec3", "linear sRGB", about="filter of what is reflected"),
    Field("transmittance", "float"),
    Field("ambient", "vec3", "linear sRGB", about="filter of what is refracted"),
    Field("thickness", "float", "scene units", about="0: the boundary of a volume, else a sheet"),
    Field("indices", "vec3", about="of refraction, inside relative to the front, of red, green, blue"),
    Field("slab", "int", about="1: the thickness is the sheet's, 0: that of the ray's way inside", within=SMALL),
    Field("layers", "ivec2", about="address of its first texture, and their number", within=ROWS),
    Field("flags", "int", about="1: vertex colours take the diffuse colour's place; 2: it is lit", within=SMALL),
)

LAYER = Record(
    "ClassicLayer",
    Field("environment", "vec3", "linear sRGB", about="colour that blends"),
    Field("texture", "int", about="address", within=ROWS),
    Field("mode", "int", about="CLASSIC_REPLACE and so on", within=SMALL),
)


def classic_materials(materials: Sequence[Material], surfaces: SurfaceFeatures, texture_count: int = 0) -> list[Module]:
    """The modules of classic materials, whose tables are indexed by the materials' addresses; empty without any. Raises
    ViewerError for a material that names a texture which is not there, and for one that is a light as well."""
    if not surfaces.classic:
        return []
    table = np.zeros(max(1, len(materials)), CLASSIC.dtype)
    layers: list[ClassicTexture] = []
    for row, material in zip(table, materials, strict=False):
        if material.kind != "classic":
            continue
        classic = material.classic or ClassicMaterial()
        if any(material.emission):
            # What shines unlit is found by rays alone, and must not be weighed as what lights are sampled for.
            what, hint = "is classic and has an emission", "leave it out: a classic colour shines by itself"
            raise ViewerError(f"material '{material.name}'", what, hint)
        row["fresnel"] = classic.bias, classic.scale, classic.power
        row["reflectivity"], row["transmittance"] = classic.reflectivity, classic.transmittance
        row["specular"], row["ambient"], row["indices"] = classic.specular, classic.ambient, classic.indices
        row["thickness"], row["slab"] = classic.thickness, classic.thickness_model == "slab"
        row["layers"] = len(layers), len(material.layers)
        row["flags"] = int(bool(classic.vertex_colors)) + 2 * int(classic.lit)
        layers += material.layers
        for layer in material.layers:
            if not 0 <= layer.texture < texture_count:
                raise ViewerError(f"material '{material.name}'", f"names texture {layer.texture} of {texture_count}")
    rows = np.zeros(max(1, len(layers)), LAYER.dtype)
    for row, layer in zip(rows, layers, strict=False):
        row["environment"], row["texture"], row["mode"] = layer.environment, layer.texture, CLASSIC_MODES[layer.mode]
    return [
        Module(
            "classic materials",
            provides=("classic_material",),
            source="shading/classic_material.glsl",
            memories=(Table("classics", CLASSIC, table),),
        ),
        Module(
            "classic colours",
            provides=("classic_color",),
            source="shading/classic_color.glsl",
            memories=(Table("classic_layers", LAYER, rows),),
            constants={
                "KIND_CLASSIC": KINDS["classic"],
                "CLASSIC_LAYERS": surfaces.classic_textures,
                **{f"CLASSIC_{mode.upper()}": value for mode, value in CLASSIC_MODES.items()},
            },
            needs=("classic_material", "texture_texel", *(("tangents_at",) if surfaces.second_uv else ())),
            uses=(GEOMETRY, HIT),
            features=surfaces.features,
        ),
    ]
