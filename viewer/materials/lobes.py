"""The lobes of glTF's material as modules, one each over the base, and their sum, generated.

A lobe is a struct, ``Coat`` of the lobe ``coat``, with the ``chance`` that it is chosen, and these functions in its
file, ``shaders/materials/lobes/``; directions are of the base's frame, ``far`` and ``wo`` of the world:

    Coat coat_over(Base base, Interaction at, Principled material, bool front, vec3 wo, inout float under)
        of a layer above the base: ``under`` is the fraction left to those below; or of a part of the base:
    Coat coat_within(inout Base base, Interaction at, Principled material, bool front)
    vec3 coat_value(Base base, Coat coat, Microfacets facets, vec3 wi, vec3 far, out float pdf)
        times the cosine; zeros where it is single. facets: the base's
    vec3 coat_albedo(Base base, Coat coat)                                    of non-delta lobes
    void coat_branch(Base base, Coat coat, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction)
    void coat_facets(Coat coat, inout vec3 wo, inout vec2 alpha)   those that it samples, if other than the base's
    LobeSample coat_sample(Base base, Coat coat, vec3 wo, vec3 u, LobeSample lobe)   lobe.local: sampled by the facets
    bool coat_single(Principled material, inout float matte)
        whether it never has a density; matte: fraction of the base below
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from raystream.materials.look import Look
from raystream.materials.principled import needs_of
from raystream.stream.declare.kernel import Module


@dataclass(frozen=True)
class Lobe:
    """name : in GLSL. part : of `raystream.materials.look.PARTS`. over : it lies above the base."""

    name: str
    part: str
    over: bool


LOBES = (Lobe("passing", "transmission", False), Lobe("coat", "clearcoat", True), Lobe("fibres", "sheen", True))


# Parts of the base, and of lobes, each a file, ``shaders/materials/lobes/<name>.glsl``, or without that part of
# `raystream.materials.look.PARTS` one that does nothing, ``<name>_none.glsl``; with a function of both.
BASE_PARTS = {
    "film": ("iridescence", "film_of"),
    "metal": ("metal", "metal_part"),
    "dielectric": ("dielectric", "dielectric_part"),
    "specular": ("specular", "specular_factors"),
    "anisotropy": ("anisotropy", "anisotropic_frame"),
    "leaf": ("diffuse_transmission", "leaf_through"),
    "unlit": ("unlit", "principled_unlit"),
    "normal": ("normal", "principled_normal"),
}
COAT_PARTS = {"coat_normal": ("clearcoat_normal", "coat_normal")}


def lobes_of(look: Look) -> list[Lobe]:
    """Those beside the base that some material has, in the order in which they are added up."""
    return [lobe for lobe in LOBES if lobe.part in look.lobes]


def lobe_modules(look: Look) -> list[Module]:
    """The base, a module for each lobe of the look, and those of their parts."""
    parts = {**BASE_PARTS, **(COAT_PARTS if "clearcoat" in look.lobes else {})}
    needs = needs_of(look)
    modules = []
    for name, (part, function) in parts.items():
        source = f"materials/lobes/{name}{'' if part in look.lobes else '_none'}.glsl"
        modules.append(Module(f"part {name}", (function,), source, needs=needs, uses=(look.interaction,)))
    needs = (*needs, *(function for _, function in parts.values()))
    modules.append(Module("base", ("base_frame",), "materials/lobes/base.glsl", needs=needs, features=look.features))
    for lobe in lobes_of(look):
        file = ("volume" if "volume" in look.lobes else "wall") if lobe.name == "passing" else lobe.name
        source, provides = f"materials/lobes/{file}.glsl", (f"{lobe.name}_value",)
        modules.append(Module(f"lobe {lobe.name}", provides, source, needs=("base_frame",), features=look.features))
    return modules


def lobe_constants(look: Look) -> dict[str, int]:
    """Whether there are lobes below the surface, and lobes with normals of their own."""
    return {"LOBES_BELOW": int(look.below), "LOBES_MAPPED": int(look.mapped)}


def layers_glsl(present: Sequence[Lobe]) -> str:
    """``struct Layers`` of these lobes, and the functions that sum over them."""
    members = [f"    {lobe.name.capitalize()} {lobe.name};" for lobe in present]
    over = [
        f"    layers.{lobe.name} = {lobe.name}_over(layers.base, at, material, front, wo, under);"
        for lobe in present
        if lobe.over
    ]
    within = [
        f"    layers.{lobe.name} = {lobe.name}_within(layers.base, at, material, front);"
        for lobe in present
        if not lobe.over
    ]
    chances = [f"layers.{lobe.name}.chance" for lobe in present]

    def each(line: str) -> list[str]:
        return [f"    {line.replace('LOBE', lobe.name)}" for lobe in present]

    return "\n".join(
        [
            *("struct Layers {", "    Base base;", *members, "};"),
            "Layers principled_layers(Interaction at, Principled material, vec3 normal, bool front, vec3 wo) {",
            *(
                "    Layers layers;",
                "    float under = 1.0;",
                "    layers.base = base_frame(at, material, normal, wo);",
            ),
            *over,
            "    base_reflection(layers.base, at, material, under);",
            *within,
            "    base_matte(layers.base, at, material);",
            "    float whole = layers.base.glossy + layers.base.matte;",
            *(f"    whole += {chance};" for chance in chances),
            "    whole = whole > 0.0 ? 1.0 / whole : 0.0;",
            *(f"    {chance} *= whole;" for chance in ("layers.base.glossy", "layers.base.matte", *chances)),
            *("    return layers;", "}"),
            "vec3 principled_lobes(Layers layers, vec3 wi, vec3 far, out float pdf) {",
            *("    float density;", "    Microfacets facets = base_facets(layers.base, wi);"),
            "    vec3 value = base_value(layers.base, facets, wi, pdf);",
            *(
                line
                for lobe in present
                for line in (
                    f"    value += {lobe.name}_value(layers.base, layers.{lobe.name}, facets, wi, far, density);",
                    f"    pdf += layers.{lobe.name}.chance * density;",
                )
            ),
            *("    return value;", "}"),
            "vec3 principled_albedo(Layers layers) {",
            "    vec3 albedo = layers.base.diffuse + (layers.base.single ? vec3(0.0) : layers.base.gloss);",
            *each("albedo += LOBE_albedo(layers.base, layers.LOBE);"),
            *("    return albedo;", "}"),
            "void principled_singles(",
            "    Layers layers, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction",
            ") {",
            *each("LOBE_branch(layers.base, layers.LOBE, wo, reflection, refracted, refraction);"),
            "}",
            "bool principled_sample_lobe(Interaction at, Layers layers, vec3 wo, vec3 u, out LobeSample lobe) {",
            *("    bool left = true;", "    Base base = layers.base;"),
            "    bool glossy = principled_choose(base.glossy, left, u.z);",
            "    bool matte = principled_choose(base.matte, left, u.z);",
            *each("bool LOBE = principled_choose(layers.LOBE.chance, left, u.z);"),
            *("    vec3 facing = base.wo;", "    vec2 alpha = base.alpha;"),
            *each("if (LOBE) LOBE_facets(layers.LOBE, facing, alpha);"),
            "    vec3 local = ggx_reflection_sample(facing, u.xy, alpha);",
            "    lobe = LobeSample(local, base.right, base.up, base.normal, false, false, -wo, vec3(0.0));",
            "    if (glossy) lobe = glossy_sample(base, lobe);",
            "    if (matte) lobe.local = diffuse_sample(u, base.diffuse, base.through);",
            *each("if (LOBE) lobe = LOBE_sample(base, layers.LOBE, wo, u, lobe);"),
            "    if (lobe.delta && lobe.mirrors) lobe.wi = principled_mirrored(at, lobe.normal, wo);",
            *("    return !left;", "}"),
            "bool principled_single(Principled material, vec3 albedo) {",
            *("    float matte = 1.0 - material.metallic;", "    bool single = material.roughness < path_smooth;"),
            *each("single = LOBE_single(material, matte) && single;"),
            *("    return single && matte * principled_most(albedo) <= 0.0;", "}"),
        ]
    )
