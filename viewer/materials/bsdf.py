"""BSDFs as modules: one for each kind of scattering, and a generated switch over those that the scene has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from raystream.base.errors import ViewerError
from raystream.kernels.records import INTERACTION
from raystream.materials.principled import bsdf_needs
from raystream.materials.surface_features import SurfaceFeatures
from raystream.scene.material import FOREIGN, KINDS
from raystream.stream.declare.kernel import Module, PreparedValue

# Kinds with delta lobes alone: they have neither value nor density, and light cannot be sampled for them.
DELTA = frozenset({"mirror", "dielectric"})
# Other kinds with a delta lobe, in which a path has no density.
BRANCHING = frozenset({"phong", "principled", "classic"})
# Kinds of which it depends on the point whether they have delta lobes alone.
SOMETIMES_DELTA = frozenset({"principled", "classic"})
JOINT_EVALUATION = frozenset({"principled"})  # one function returns value and density
REFRACTING = frozenset({"dielectric", "principled"})  # these scale radiance by the squared ratio of indices

DISPERSIVE = frozenset({"dielectric", "principled", "classic"})  # these may refract channels of light differently

_FUNCTIONS = (
    # result, name, further arguments, arguments of the call, default result
    ("vec3", "value", "vec3 wo, vec3 wi", "at, wo, wi", "vec3(0.0)"),
    ("float", "pdf", "vec3 wo, vec3 wi", "at, wo, wi", "0.0"),
    ("vec3", "evaluate", "vec3 wo, vec3 wi, out float pdf", "at, wo, wi, pdf", "vec3(0.0)"),
    ("vec3", "reflectance", "", "at", "vec3(0.0)"),
    (
        "bool",
        "sample",
        "vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf",
        "at, wo, u, wi, weight, pdf",
        "false",
    ),
    (
        "void",
        "branches",
        "vec3 wo, out vec3 reflected, out vec3 reflection, out vec3 refracted, out vec3 refraction",
        "at, wo, reflected, reflection, refracted, refraction",
        "",
    ),
    ("float", "index", "", "at", "1.0"),
)


_SHIFT = """
vec3 bsdf_shift(Interaction at, vec3 wi) {
    return interaction_kind(at) == BSDF_CLASSIC ? classic_shift(at, wi) : vec3(0.0);
}"""


def kind_constant(kind: str) -> str:
    """The GLSL constant of a kind of BSDF."""
    return f"BSDF_{kind.upper()}"


def bsdfs(surfaces: SurfaceFeatures) -> list[Module]:
    """The modules of ``interface/bsdf.glsl`` over the surfaces' kinds, of each kind, and for dispersion of
    ``interface/dispersion.glsl``. With glTF's materials they need ``principled_at``. Raises ViewerError for an unknown
    kind."""
    present = [kind for kind in KINDS if kind in surfaces.kinds]
    unknown = sorted(surfaces.kinds - set(KINDS))
    if unknown:
        raise ViewerError("BSDF", f"unknown kind '{unknown[0]}'", f"one of {', '.join(KINDS)}")
    shaders = {kind: "dispersive" if surfaces.dispersion and kind == "dielectric" else kind for kind in present}
    record = surfaces.interaction
    modules = [
        Module(
            f"BSDF {kind}",
            provides=(
                *(f"{shader}_{name}" for name in _functions_of(kind) if name != "evaluate" or kind in JOINT_EVALUATION),
                *(("classic_emission",) if kind == "classic" else ()),
            ),
            source=_source(kind, shader, surfaces),
            constants={"LOBES_BELOW": int(surfaces.below), "LOBES_MAPPED": int(surfaces.mapped)}
            if kind == "principled"
            else {},
            needs=_needs_of(kind, surfaces),
            uses=(record,),
            features=surfaces.features,
            text=layers_glsl(lobes_of(surfaces)) if kind == "principled" else "",
            prepared=_PREPARED_MATERIAL if kind == "principled" else None,
        )
        for kind, shader in shaders.items()
    ]
    switch = Module(
        "BSDF",
        provides=("bsdf_delta", *(f"bsdf_{name}" for _, name, *_ in _FUNCTIONS)),
        source="interface/bsdf.glsl",
        constants={
            kind_constant(kind): value
            for kind, value in KINDS.items()
            if kind in surfaces.kinds or (kind != "classic" and kind not in FOREIGN)
        },
        needs=("surface_dimension", "interaction_nowhere", *(f"{shader}_sample" for shader in shaders.values())),
        uses=(record,),
        text=switch_glsl(present, shaders) + (_SHIFT if surfaces.sheets else ""),
        features=frozenset({"SHEETS"} if surfaces.sheets else ()),
    )
    lobes = lobe_modules(surfaces) if surfaces.principled else []
    parting = _dispersion(surfaces) if surfaces.dispersion else []
    more = {"CHANNEL": 1} if "dispersion" in surfaces.lobes else None
    return [surface_dimensions(more), interaction_module(surfaces), *lobes, *modules, switch, *parting]


# A glTF material and its layers at a point, computed once for all functions that use them.
_PREPARED_MATERIAL = PreparedValue(
    INTERACTION.name,
    "Seen",
    "principled_prepared",
    "principled_kept",
    "PREPARED",
    serves=frozenset({"bsdf_delta", "light_share", *(f"bsdf_{name}" for _, name, *_ in _FUNCTIONS)}),
    preserved_by=frozenset({"at_channel"}),
)


# result, name, further arguments, function of a kind or of all smooth ones, its arguments, result without dispersion
_CHANNELS = (
    ("bool", "channels_part", "", "SMOOTH_parts", "at", "false"),
    ("Interaction", "at_channel", ", int channel", "KIND_at_channel", "at, channel", "at"),
    ("bool", "channels_branch", "", "SMOOTH_branches_alone", "at", "true"),
    ("Interaction", "at_branch", ", bool refracts", "SMOOTH_at_branch", "at, refracts", "at"),
)


def _dispersion(surfaces: SurfaceFeatures) -> list[Module]:
    """The module of ``interface/dispersion.glsl``, whose functions are switches over dispersive kinds, and those of the
    kinds."""
    kinds = surfaces.kinds if "dispersion" in surfaces.lobes else surfaces.kinds - {"principled"}
    dispersive = [kind for kind in KINDS if kind in kinds & DISPERSIVE]
    modules = [
        Module(
            f"channels {kind}",
            provides=(f"{kind}_at_channel",),
            source=f"shading/channels_{kind}.glsl",
            needs=("bsdf_delta", *(("classic_material",) if kind == "classic" else ())),
            uses=(surfaces.interaction,),
            features=surfaces.features,
        )
        for kind in dispersive
    ]
    lines: list[str] = []
    for result, name, arguments, function, call_arguments, default in _CHANNELS:
        lines += [f"{result} {name}(Interaction at{arguments}) {{", "    switch (interaction_kind(at)) {"]
        for kind in dispersive:
            callee = function.replace("KIND", kind).replace("SMOOTH", kind if kind == "principled" else "smooth")
            lines += [f"        case {kind_constant(kind)}: return {callee}({call_arguments});"]
        lines += ["    }", f"    return {default};", "}"]
    switch = Module(
        "dispersion",
        provides=tuple(name for _, name, *_ in _CHANNELS),
        source="interface/dispersion.glsl",
        needs=tuple(module.provides[0] for module in modules),
        uses=(surfaces.interaction,),
        text="\n".join(lines),
    )
    return [*modules, switch]


def interaction_module(surfaces: SurfaceFeatures) -> Module:
    """The module of ``interface/interaction.glsl``: accessors of the scene's record of interactions."""
    record = surfaces.interaction
    values = ", ".join("wo" if field.name == "wo" else f"{field.type}(0)" for field in record.fields)
    names = {field.name for field in record.fields}
    second = "vec3(at.parameter, at.specular, at.reflectivity)" if "parameter" in names else "vec3(0.0)"
    second = "at.uv_1" if "uv_1" in names else second
    uv_assignment = ""
    if surfaces.principled and surfaces.second_uv:
        # In scenes with parameters of other kinds, glTF's materials use these fields for the coordinates.
        shared = f"if (interaction_kind(at) != {KINDS['principled']}) return;\n    at.parameter = uv_1.x;\n    "
        uv_assignment = (
            "at.uv_1 = uv_1;" if "uv_1" in names else f"{shared}at.specular = uv_1.y;\n    at.reflectivity = uv_1.z;"
        )
    packed = surfaces.packed
    kind, material = ("at.kind & 7", f"at.kind >> {packed['material'][0]}") if surfaces.addressed else ("at.kind", "0")
    numbers = ("parameter", "specular", "reflectivity")
    parameter_assignments = " ".join(f"at.{name} = {name};" for name in numbers if "parameter" in names)
    more = (
        [_bit_field_glsl(name, *packed[name]) for name in packed if name != "material"] if surfaces.principled else []
    )
    return Module(
        "interaction",
        provides=(
            *("interaction_nowhere", "interaction_kind", "interaction_material", "interaction_uv_1"),
            *("set_interaction_material", "set_interaction_uv_1", "set_interaction_place"),
            "set_interaction_parameters",
        ),
        source=f"shading/place_{'packed' if surfaces.tangents else 'plain' if surfaces.textures else 'none'}.glsl",
        module_state=record,
        uses=(record,),
        features=surfaces.features,
        text=f"""Interaction interaction_nowhere(vec3 wo) {{
    return Interaction({values});
}}
int interaction_kind(Interaction at) {{
    return {kind};
}}
int interaction_material(Interaction at) {{
    return {material};
}}
vec3 interaction_uv_1(Interaction at) {{
    return {second};
}}
void set_interaction_material(inout Interaction at, int material) {{
    {f"at.kind += {1 << packed['material'][0]} * material;" if surfaces.addressed else ""}
}}
void set_interaction_uv_1(inout Interaction at, vec3 uv_1) {{
    {uv_assignment}
}}
void set_interaction_parameters(inout Interaction at, float parameter, float specular, float reflectivity) {{
    {parameter_assignments}
}}
"""
        + "".join(more),
    )


def _bit_field_glsl(name: str, first: int, bits: int) -> str:
    """GLSL that reads and writes a bit field of an interaction's ``kind``: its lowest bit, and number of bits."""
    mask = (1 << bits) - 1
    return f"""int interaction_{name}(Interaction at) {{
    return (at.kind >> {first}) & {mask};
}}
void set_interaction_{name}(inout Interaction at, int value) {{
    at.kind = (at.kind & {(1 << 24) - 1 - (mask << first)}) | (value << {first});
}}
"""


def _source(kind: str, shader: str, surfaces: SurfaceFeatures) -> str:
    """The GLSL file of a kind of material, under the folder of shaders. shader : of kinds that have their own."""
    if kind in FOREIGN:
        return FOREIGN[kind].source
    if kind == "principled":
        return f"shading/principled_{'parted' if 'dispersion' in surfaces.lobes else 'whole'}.glsl"
    return "shading/classic_sheets.glsl" if kind == "classic" and surfaces.sheets else f"shading/bsdf_{shader}.glsl"


def _needs_of(kind: str, surfaces: SurfaceFeatures) -> tuple[str, ...]:
    if kind == "principled":
        return tuple(module.provides[0] for module in lobe_modules(surfaces))
    return ("classic_material",) if kind == "classic" else ()


def _functions_of(kind: str) -> tuple[str, ...]:
    if kind in DELTA:
        return ("sample", "branches", *(("index",) if kind in REFRACTING else ()))
    more = (("branches",) if kind in BRANCHING else ()) + (("delta",) if kind in SOMETIMES_DELTA else ())
    return ("value", "pdf", "evaluate", "reflectance", "sample", *more, *(("index",) if kind in REFRACTING else ()))


def switch_glsl(present: Collection[str], shaders: Mapping[str, str] | None = None) -> str:
    """GLSL of the functions of ``interface/bsdf.glsl``, each a switch over the kinds that are ``present``. shaders :
    kind -> prefix of its functions, where that is not the kind."""
    lines: list[str] = []
    for result, name, arguments, call_arguments, default in _FUNCTIONS:
        lines += [f"{result} bsdf_{name}({', '.join(filter(None, ('Interaction at', arguments)))}) {{"]
        if name == "evaluate":
            lines += ["    pdf = 0.0;"]
        if name == "sample":
            lines += ["    wi = weight = vec3(0.0);", "    pdf = 0.0;"]
        if name == "branches":
            lines += ["    reflected = refracted = -wo;", "    reflection = refraction = vec3(0.0);"]
        kinds_with_function = [kind for kind in present if name in _functions_of(kind)]
        if kinds_with_function:
            lines += ["    switch (interaction_kind(at)) {"]
            for kind in kinds_with_function:
                call = f"{(shaders or {}).get(kind, kind)}_{name}({call_arguments});"
                call = f"return {call}" if default else f"{call} break;"
                if name == "evaluate" and kind not in JOINT_EVALUATION:
                    shader = (shaders or {}).get(kind, kind)
                    call = f"pdf = {shader}_pdf(at, wo, wi); return {shader}_value(at, wo, wi);"
                lines += [f"        case {kind_constant(kind)}: {call}"]
            lines += ["    }"]
        lines += [f"    return {default};", "}"] if default else ["}"]
    tests = [f"interaction_kind(at) == {kind_constant(kind)}" for kind in present if kind in DELTA]
    sometimes = [kind for kind in present if kind in SOMETIMES_DELTA]
    tests += [f"(interaction_kind(at) == {kind_constant(kind)} && {kind}_delta(at))" for kind in sometimes]
    lines += ["bool bsdf_delta(Interaction at) {", f"    return {' || '.join(tests) or 'false'};", "}"]
    tests = [test for test in tests if kind_constant("principled") not in test]
    lines += ["bool bsdf_single(Interaction at) {", f"    return {' || '.join(tests) or 'false'};", "}"]
    return "\n".join(lines)


CAMERA = 4  # dimensions of film and lens, of every sample
# Dimensions of a surface interaction, in order, with their numbers; pairs begin at an even one.
SURFACE = {"LIGHT": 1, "POINT": 2, "BSDF": 2, "LOBE": 1, "ROULETTE": 1}


def dimensions(more: dict[str, int] | None = None) -> dict[str, int]:
    """The constants of GLSL: ``DIMENSION_<name>`` within a surface interaction's, and the number of these, an even one.
    more : further dimensions of the scene's surfaces, as `SURFACE`."""
    offsets, count = {}, 0
    for name, width in {**SURFACE, **(more or {})}.items():
        count += count % 2 if width > 1 else 0
        offsets[f"DIMENSION_{name}"] = count
        count += width
    return {**offsets, "DIMENSIONS_OF_CAMERA": CAMERA, "DIMENSIONS_OF_SURFACE": count + count % 2}


def surface_dimensions(more: dict[str, int] | None = None) -> Module:
    """The module of ``surface_dimension``, with the constants of `dimensions`."""
    return Module(
        "surface dimensions",
        provides=("surface_dimension",),
        source="shading/dimensions.glsl",
        constants=dict(dimensions(more)),
    )


# -- the lobes of glTF's material, a module each over the base, and their generated sum --------------------------------
# A lobe is a struct, ``Coat`` of the lobe ``coat``, with the ``chance`` that it is chosen, and these functions in its
# file, ``shaders/materials/lobes/``; directions are of the base's frame, ``far`` and ``wo`` of the world:
#
#     Coat coat_over(Base base, Interaction at, Principled material, bool front, vec3 wo, inout float under)
#         of a layer above the base: ``under`` is the fraction left to those below; or of a part of the base:
#     Coat coat_within(inout Base base, Interaction at, Principled material, bool front)
#     vec3 coat_value(Base base, Coat coat, Microfacets facets, vec3 wi, vec3 far, out float pdf)
#         times the cosine; zeros where it is single. facets: the base's
#     vec3 coat_albedo(Base base, Coat coat)                                    of non-delta lobes
#     void coat_branch(Base base, Coat coat, vec3 wo, inout vec3 reflection, inout vec3 refracted,
#                      inout vec3 refraction)
#     void coat_facets(Coat coat, inout vec3 wo, inout vec2 alpha)   those that it samples, if other than the base's
#     LobeSample coat_sample(Base base, Coat coat, vec3 wo, vec3 u, LobeSample lobe)   lobe.local: sampled by the facets
#     bool coat_single(Principled material, inout float matte)
#         whether it never has a density; matte: fraction of the base below


@dataclass(frozen=True)
class Lobe:
    """A lobe of glTF's material. name : in GLSL. part : of `raystream.materials.surface_features.PARTS`. over : whether
    it is a layer above the base."""

    name: str
    part: str
    over: bool


LOBES = (Lobe("passing", "transmission", False), Lobe("coat", "clearcoat", True), Lobe("fibres", "sheen", True))


# Parts of the base, and of lobes, each a file, ``shaders/materials/lobes/<name>.glsl``, or without that part of
# `raystream.materials.surface_features.PARTS` one that does nothing, ``<name>_none.glsl``; with a function of both.
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


def lobes_of(surfaces: SurfaceFeatures) -> list[Lobe]:
    """The lobes, besides the base, that some material has, in the order of their sum."""
    return [lobe for lobe in LOBES if lobe.part in surfaces.lobes]


def lobe_modules(surfaces: SurfaceFeatures) -> list[Module]:
    """The modules of the base, of each lobe of the surfaces, and of their parts."""
    parts = {**BASE_PARTS, **(COAT_PARTS if "clearcoat" in surfaces.lobes else {})}
    needs = bsdf_needs(surfaces)
    modules = []
    for name, (part, function) in parts.items():
        source = f"materials/lobes/{name}{'' if part in surfaces.lobes else '_none'}.glsl"
        modules.append(Module(f"part {name}", (function,), source, needs=needs, uses=(surfaces.interaction,)))
    needs = (*needs, *(function for _, function in parts.values()))
    modules.append(
        Module("base", ("base_frame",), "materials/lobes/base.glsl", needs=needs, features=surfaces.features)
    )
    for lobe in lobes_of(surfaces):
        file = ("volume" if "volume" in surfaces.lobes else "wall") if lobe.name == "passing" else lobe.name
        source, provides = f"materials/lobes/{file}.glsl", (f"{lobe.name}_value",)
        modules.append(Module(f"lobe {lobe.name}", provides, source, needs=("base_frame",), features=surfaces.features))
    return modules


def layers_glsl(present: Sequence[Lobe]) -> str:
    """GLSL of ``struct Layers`` with these lobes, and of the functions that sum over them."""
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

    def for_each_lobe(line: str) -> list[str]:
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
            *for_each_lobe("albedo += LOBE_albedo(layers.base, layers.LOBE);"),
            *("    return albedo;", "}"),
            "void principled_singles(",
            "    Layers layers, vec3 wo, inout vec3 reflection, inout vec3 refracted, inout vec3 refraction",
            ") {",
            *for_each_lobe("LOBE_branch(layers.base, layers.LOBE, wo, reflection, refracted, refraction);"),
            "}",
            "bool principled_sample_lobe(Interaction at, Layers layers, vec3 wo, vec3 u, out LobeSample lobe) {",
            *("    bool left = true;", "    Base base = layers.base;"),
            "    bool glossy = principled_choose(base.glossy, left, u.z);",
            "    bool matte = principled_choose(base.matte, left, u.z);",
            *for_each_lobe("bool LOBE = principled_choose(layers.LOBE.chance, left, u.z);"),
            *("    vec3 facing = base.wo;", "    vec2 alpha = base.alpha;"),
            *for_each_lobe("if (LOBE) LOBE_facets(layers.LOBE, facing, alpha);"),
            "    vec3 local = ggx_reflection_sample(facing, u.xy, alpha);",
            "    lobe = LobeSample(local, base.right, base.up, base.normal, false, false, -wo, vec3(0.0));",
            "    if (glossy) lobe = glossy_sample(base, lobe);",
            "    if (matte) lobe.local = diffuse_sample(u, base.diffuse, base.through);",
            *for_each_lobe("if (LOBE) lobe = LOBE_sample(base, layers.LOBE, wo, u, lobe);"),
            "    if (lobe.delta && lobe.mirrors) lobe.wi = principled_mirrored(at, lobe.normal, wo);",
            *("    return !left;", "}"),
            "bool principled_single(Principled material, vec3 albedo) {",
            *("    float matte = 1.0 - material.metallic;", "    bool single = material.roughness < path_smooth;"),
            *for_each_lobe("single = LOBE_single(material, matte) && single;"),
            *("    return single && matte * principled_most(albedo) <= 0.0;", "}"),
        ]
    )
