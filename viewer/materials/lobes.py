"""The lobes of glTF's material as modules, one each over the base, and their sum, generated.

A lobe is a struct, ``Coat`` of the lobe ``coat``, with the ``chance`` that it is chosen, and these functions in its
file, ``shaders/materials/lobes/``; directions are of the base's frame, ``far`` and ``wo`` of the world:

    Coat coat_over(Base base, Interaction at, Principled own, bool front, vec3 wo, inout float under)   of a layer above
        the base: ``under`` is the share left to those below; or of a part of the base:
    Coat coat_within(inout Base base, Interaction at, Principled own, bool front)
    vec3 coat_value(Base base, Coat coat, Microfacets facets, vec3 wi, vec3 far, out float pdf)
        times the cosine; zeros where it is single. facets: the base's
    vec3 coat_albedo(Base base, Coat coat)                                    of non-delta lobes
    void coat_branch(Base base, Coat coat, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction)
    void coat_facets(Coat coat, inout vec3 wo, inout vec2 alpha)   those that it samples, if other than the base's
    Way coat_sample(Base base, Coat coat, vec3 wo, vec3 u, Way way)   way.local: sampled by the facets
    bool coat_single(Principled own, inout float matte)   whether it never has a density; matte: share of the base below
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viewer.materials.look import Look
from viewer.materials.principled import needs_of
from viewer.stream.declare.kernel import Module


@dataclass(frozen=True)
class Lobe:
    """name : in GLSL. part : of `viewer.materials.look.PARTS`. over : it lies above the base."""

    name: str
    part: str
    over: bool


LOBES = (Lobe("passing", "transmission", False), Lobe("coat", "clearcoat", True), Lobe("fibres", "sheen", True))


def lobes_of(look: Look) -> list[Lobe]:
    """Those beside the base that some material has, in the order in which they are added up."""
    return [lobe for lobe in LOBES if lobe.part in look.lobes]


def lobe_modules(look: Look) -> list[Module]:
    """The base, and a module for each lobe of the look."""
    modules = [
        Module("base", ("base_frame",), "materials/lobes/base.glsl", needs=needs_of(look), features=look.features)
    ]
    for lobe in lobes_of(look):
        file = ("volume" if "volume" in look.lobes else "wall") if lobe.name == "passing" else lobe.name
        source, provides = f"materials/lobes/{file}.glsl", (f"{lobe.name}_value",)
        modules.append(Module(f"lobe {lobe.name}", provides, source, needs=("base_frame",), features=look.features))
    return modules


def layers_glsl(present: Sequence[Lobe]) -> str:
    """``struct Layers`` of these lobes, and the functions that sum over them."""
    members = [f"    {lobe.name.capitalize()} {lobe.name};" for lobe in present]
    over = [
        f"    found.{lobe.name} = {lobe.name}_over(found.base, at, own, front, wo, under);"
        for lobe in present
        if lobe.over
    ]
    within = [
        f"    found.{lobe.name} = {lobe.name}_within(found.base, at, own, front);" for lobe in present if not lobe.over
    ]
    chances = [f"found.{lobe.name}.chance" for lobe in present]

    def each(line: str) -> list[str]:
        return [f"    {line.replace('LOBE', lobe.name)}" for lobe in present]

    return "\n".join(
        [
            *("struct Layers {", "    Base base;", *members, "};"),
            "Layers principled_layers(Interaction at, Principled own, vec3 normal, bool front, vec3 wo) {",
            *("    Layers found;", "    float under = 1.0;", "    found.base = base_frame(at, own, normal, wo);"),
            *over,
            "    base_reflection(found.base, at, own, under);",
            *within,
            "    base_matte(found.base, at, own);",
            "    float whole = found.base.glossy + found.base.matte;",
            *(f"    whole += {chance};" for chance in chances),
            "    whole = whole > 0.0 ? 1.0 / whole : 0.0;",
            *(f"    {chance} *= whole;" for chance in ("found.base.glossy", "found.base.matte", *chances)),
            *("    return found;", "}"),
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
            "    vec3 found = layers.base.diffuse + (layers.base.single ? vec3(0.0) : layers.base.gloss);",
            *each("found += LOBE_albedo(layers.base, layers.LOBE);"),
            *("    return found;", "}"),
            "void principled_singles(",
            "    Layers layers, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction",
            ") {",
            *each("LOBE_branch(layers.base, layers.LOBE, wo, reflection, refracted, refraction);"),
            "}",
            "bool principled_way(Interaction at, Layers layers, vec3 wo, vec3 u, out Way way) {",
            *("    bool left = true;", "    Base base = layers.base;"),
            "    bool glossy = principled_choose(base.glossy, left, u.z);",
            "    bool matte = principled_choose(base.matte, left, u.z);",
            *each("bool LOBE = principled_choose(layers.LOBE.chance, left, u.z);"),
            *("    vec3 facing = base.wo;", "    vec2 alpha = base.alpha;"),
            *each("if (LOBE) LOBE_facets(layers.LOBE, facing, alpha);"),
            "    vec3 local = ggx_reflection_sample(facing, u.xy, alpha);",
            "    way = Way(local, base.right, base.up, base.normal, false, false, -wo, vec3(0.0));",
            "    if (glossy) way = glossy_sample(base, way);",
            "    if (matte) way.local = diffuse_sample(u, base.diffuse, base.through);",
            *each("if (LOBE) way = LOBE_sample(base, layers.LOBE, wo, u, way);"),
            "    if (way.delta && way.mirrors) way.wi = principled_mirrored(at, way.normal, wo);",
            *("    return !left;", "}"),
            "bool principled_single(Principled own, vec3 albedo) {",
            *("    float matte = 1.0 - own.metallic;", "    bool single = own.roughness < path_smooth;"),
            *each("single = LOBE_single(own, matte) && single;"),
            *("    return single && matte * principled_most(albedo) <= 0.0;", "}"),
        ]
    )
