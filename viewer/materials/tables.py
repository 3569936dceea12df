"""Materials as modules: their table, surfaces as the ray caster sees them, and interactions as paths do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from raystream.base.errors import ViewerError
from raystream.kernels.light_layers import LIGHT_SHARE
from raystream.kernels.records import GEOMETRY, HIT, MATERIAL, RAY, SURFACE
from raystream.materials.bsdf import bsdfs
from raystream.materials.classic import classic_materials
from raystream.materials.media import ray_media
from raystream.materials.opacity import opacity
from raystream.materials.principled import albedos, half_spread, principled_materials
from raystream.materials.surface_features import SurfaceFeatures, material_features
from raystream.materials.textures import cones
from raystream.materials.textures import textures as texture_module
from raystream.scene.material import FOREIGN, KINDS, Material
from raystream.scene.texture import Texture
from raystream.stream.declare.kernel import Module, Table

# Phong's lobe at its narrowest: beyond, the direction's own rounding decides the value.
MAX_EXPONENT = 1e5


def materials(
    scene_materials: Sequence[Material],
    texture_count: int = 0,
    light_density: ArrayLike | None = None,
    surfaces: SurfaceFeatures = SurfaceFeatures(),  # noqa: B008 - it never changes
) -> Module:
    """The module of ``material_color`` and ``material_emission``, with the table ``materials``, which is never empty,
    so that an invalid address reads a row.

    light_density : (M,), per unit of world area, with which light sampling picks a point of each material's surfaces.
    Raises ViewerError for a material that names a texture which is not there.
    """
    table = np.zeros(max(1, len(scene_materials)), MATERIAL.dtype)
    table["texture"] = table["emission_texture"] = -1
    if light_density is not None and len(scene_materials):
        table["light_density"] = light_density
    for row, material in zip(table, scene_materials, strict=False):
        color = np.asarray(material.base_color[:3], np.float64)
        row["kind"] = KINDS[material.kind]
        row["emission"] = material.emission
        row["sides"] = 2 if material.double_sided else 1
        row["unlit"] = material.kind == "principled" and material.unlit
        if material.kind == "dielectric":
            if not material.ior > 0.0:
                raise ViewerError(f"material '{material.name}'", f"index of refraction {material.ior}", "above 0")
            row["parameter"], row["specular"] = material.ior, half_spread(material)
        elif material.kind == "phong":
            # No more comes back than came.
            reflected = max(1.0, float(color.max()) + material.specular + material.reflectivity)
            color, row["specular"] = color / reflected, material.specular / reflected
            row["reflectivity"] = material.reflectivity / reflected
            row["parameter"] = min(max(material.exponent, 0.0), MAX_EXPONENT)
        elif material.kind == "classic" and material.classic is not None:
            row["parameter"], row["specular"] = material.classic.indices[1], float(material.parts_channels)
        elif material.kind in FOREIGN:
            for name, value in FOREIGN[material.kind].numbers(material).items():
                row[name] = value
        row["base_color"] = color
        for name in ("texture", "emission_texture"):
            index = getattr(material, name)
            if index is None:
                continue
            if not 0 <= index < texture_count:
                raise ViewerError(f"material '{material.name}'", f"names texture {index} of {texture_count}")
            row[name] = index
    return Module(
        "materials",
        provides=("material_color", "material_emission"),
        source="shading/material.glsl",
        memories=(Table("materials", MATERIAL, table),),
        needs=(
            "texture_texel",
            *(("tangents_at",) if surfaces.second_uv else ()),
            *(("classic_color",) if surfaces.classic else ()),
        ),
        uses=(GEOMETRY, HIT),
        text=_emission_glsl(surfaces),
        features=surfaces.features,
    )


def _emission_glsl(surfaces: SurfaceFeatures) -> str:
    """GLSL of ``material_shines``, whether the visible side emits; of ``emission_level``, the mip level of emissive
    textures, sharp where they are sampled as lights; and of ``material_unlit``."""
    sides, level = (
        " || material.sides == 2" if surfaces.both_sides else "",
        "TEXTURE_SHARP" if surfaces.textured_emitters else "level",
    )
    unlit = "material.unlit == 1" if "unlit" in surfaces.lobes else "false"
    return f"""bool material_shines(Material material, bool front) {{ return front{sides}; }}
float emission_level(float level) {{ return {level}; }}
bool material_unlit(Material material) {{ return {unlit}; }}"""


def surface_modules(textured: bool = False, metal_map: bool = False) -> list[Module]:
    """The modules of ``surface_at`` over any geometry: shading normal on the ray's side, and base colour.
    textured : there are textures, whose mip levels fit the camera's pixels. metal_map : some are of metalness."""
    level, metal = ("" if present else "_none" for present in (textured, metal_map))
    return [
        Module(
            "levels of surfaces",
            provides=("surface_level",),
            source=f"shading/surface_level{level}.glsl",
            needs=("camera_spread",) if textured else (),
            uses=(RAY,),
        ),
        Module(
            "metal of surfaces",
            provides=("surface_metal",),
            source=f"shading/surface_metal{metal}.glsl",
            needs=("texture_texel", "principled_at") if metal_map else (),
            uses=(GEOMETRY,),
        ),
        Module(
            "surfaces",
            provides=("surface_at",),
            source="shading/surface.glsl",
            needs=("geometry_at", "material_color", "surface_level", "surface_metal"),
            uses=(RAY, HIT, GEOMETRY, SURFACE),
        ),
    ]


def emissions(surfaces: SurfaceFeatures) -> Module:
    """The module of ``emission_seen`` over any geometry: emission towards the camera."""
    needs = ("geometry_at", "material_color", "material_emission", *(["principled_at"] if surfaces.principled else []))
    return Module(
        "emissions",
        provides=("emission_seen",),
        source="shading/emission_seen.glsl",
        needs=needs,
        uses=(RAY, HIT, GEOMETRY),
        features=surfaces.features,
    )


def interactions(surfaces: SurfaceFeatures) -> Module:
    """The module of ``interaction_at`` over any geometry: the surface interaction at a hit."""
    needs = [
        "geometry_at",
        *(["tangents_at"] if surfaces.has_vertex_tangents else []),
        *(["principled_at"] if surfaces.principled else []),
    ]
    needs += ["emission_share"] if surfaces.textured_emitters else []
    return Module(
        "interactions",
        provides=("interaction_at",),
        source="shading/material_interaction.glsl",
        needs=(
            *(*needs, "material_color", "material_emission", "bsdf_delta"),
            *(("classic_emission",) if surfaces.classic else ()),
        ),
        uses=(RAY, HIT, GEOMETRY, surfaces.interaction),
        text=_interaction_glsl(surfaces),
        features=surfaces.features,
    )


def _interaction_glsl(surfaces: SurfaceFeatures) -> str:
    """GLSL of ``material_passes``, whether light comes through, which smooth surfaces need; ``add_own_emission``, of
    classic materials; and ``emission_share`` without emissive textures."""
    passes = (
        "{\n    return principled_passes(number);\n}" if surfaces.smooth and surfaces.below else "{ return false; }"
    )
    own_emission = (
        "    if (interaction_kind(at) == BSDF_CLASSIC) emission += classic_emission(at);\n" if surfaces.classic else ""
    )
    shares = "" if surfaces.textured_emitters else "\nfloat emission_share(Hit hit) { return 1.0; }"
    return f"""bool material_passes(int number) {passes}
void add_own_emission(Interaction at, inout vec3 emission) {{
{own_emission}}}{shares}"""


def with_tables(
    modules: Sequence[Module],
    scene_materials: Sequence[Material],
    surfaces: SurfaceFeatures,
    texture_count: int,
    light_density: ArrayLike,
) -> list[Module]:
    """The modules of `appearance` for other materials with the same features, or other lights: only the materials'
    tables are replaced."""
    new_modules = [
        materials(scene_materials, texture_count, light_density, surfaces),
        *principled_materials(scene_materials, surfaces, texture_count),
    ]
    new_modules += [
        *classic_materials(scene_materials, surfaces, texture_count),
        *opacity(scene_materials, surfaces, texture_count),
    ]
    by_name = {module.name: module for module in new_modules}
    return [by_name.get(module.name, module) for module in modules]


def appearance(
    scene_materials: Sequence[Material],
    textures: Sequence[Texture] = (),
    light_density: ArrayLike | None = None,
    texels: Module | None = None,
    surfaces: SurfaceFeatures | None = None,
) -> list[Module]:
    """All modules of a scene's materials, over any geometry: textures, materials, surfaces, interactions and BSDFs.
    texels : the module of these textures, if it exists. surfaces : the scene's."""
    surfaces = surfaces or material_features(scene_materials, textures)
    return [
        texels or texture_module(textures),
        materials(scene_materials, len(textures), light_density, surfaces),
        *principled_materials(scene_materials, surfaces, len(textures)),
        *classic_materials(scene_materials, surfaces, len(textures)),
        *opacity(scene_materials, surfaces, len(textures)),
        *surface_modules(bool(textures), "metallic_roughness_texture" in surfaces.maps),
        emissions(surfaces),
        *albedos(surfaces),
        *bsdfs(surfaces),
        light_share(surfaces),
        ray_media(surfaces.interaction, surfaces.nested),
        interactions(surfaces),
        cones(bool(textures)),
    ]


# Kind -> GLSL of the diffuse part of its BSDF times the cosine.
DIFFUSE_GLSL = {
    "lambert": "lambert_value(at, wo, wi)",
    "phong": "reflects(at, wo, wi) ? at.albedo * (0.31830989 * abs(dot(at.shading, wi))) : vec3(0.0)",
    "principled": "principled_matte(at, wo, wi)",
    "classic": "classic_value(at, wo, wi)",
}


def light_share(surfaces: SurfaceFeatures) -> Module:
    """The module of ``light_share``, see ``interface/light_share.glsl``, over the surfaces' kinds."""
    matte = [kind for kind in KINDS if kind in surfaces.kinds and kind in DIFFUSE_GLSL]
    lines = ["vec3 principled_matte(Interaction at, vec3 wo, vec3 wi);"] if "principled" in matte else []
    lines += ["vec3 matte_value(Interaction at, vec3 wo, vec3 wi) {"]
    if matte:
        cases = (f"        case BSDF_{kind.upper()}: return {DIFFUSE_GLSL[kind]};" for kind in matte)
        lines += ["    switch (interaction_kind(at)) {", *cases, "    }"]
    return Module(
        "light share",
        provides=("light_share",),
        source=f"shading/{'matte_principled' if 'principled' in matte else 'light_share'}.glsl",
        needs=("bsdf_value", *(f"{kind}_sample" for kind in matte)),
        uses=(surfaces.interaction, LIGHT_SHARE),
        features=surfaces.features,
        text="\n".join([*lines, "    return vec3(0.0);", "}"]),
    )
