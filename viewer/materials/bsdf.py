"""BSDFs as modules: one for each kind of scattering, and a generated switch over those that the scene has."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from raystream.base.errors import ViewerError
from raystream.kernels.records import INTERACTION
from raystream.materials.lobes import layers_glsl, lobe_modules, lobes_of
from raystream.materials.look import Look
from raystream.scene.material import FOREIGN, KINDS
from raystream.stream.declare.kernel import Module, PreparedValue

# Kinds that scatter into single directions: they have no value and no density, and light cannot be sampled for them.
DELTA = frozenset({"mirror", "dielectric"})
# Others that reflect a share into a single direction: a path that takes it has no density there.
BRANCHING = frozenset({"phong", "principled", "classic"})
# Of these it depends on the place whether they scatter into single directions alone.
SOMETIMES_DELTA = frozenset({"principled", "classic"})
TOGETHER = frozenset({"principled"})  # value and density come from one function
REFRACTING = frozenset({"dielectric", "principled"})  # and scale radiance as they do

PARTING = frozenset({"dielectric", "principled", "classic"})  # the channels of light may part there

_FUNCTIONS = (
    # result, name, further arguments, how a kind is called, result for a kind that has no such function
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


def constant(kind: str) -> str:
    """The GLSL constant of a kind."""
    return f"BSDF_{kind.upper()}"


def bsdfs(look: Look) -> list[Module]:
    """``bsdf_value`` and the rest of ``interface/bsdf.glsl`` over the look's kinds, and the modules of the kinds
    themselves; ``interface/dispersion.glsl``, too, where channels may part. They need `principled_at` of glTF's
    materials where there are some.

    Raises ViewerError for an unknown kind.
    """
    present = [kind for kind in KINDS if kind in look.kinds]
    unknown = sorted(look.kinds - set(KINDS))
    if unknown:
        raise ViewerError("BSDF", f"unknown kind '{unknown[0]}'", f"one of {', '.join(KINDS)}")
    shaders = {kind: "dispersive" if look.dispersion and kind == "dielectric" else kind for kind in present}
    record = look.interaction
    modules = [
        Module(
            f"BSDF {kind}",
            provides=(
                *(f"{shader}_{name}" for name in _functions_of(kind) if name != "evaluate" or kind in TOGETHER),
                *(("classic_shining",) if kind == "classic" else ()),
            ),
            source=_source(kind, shader, look),
            constants={"LOBES_BELOW": int(look.below), "LOBES_MAPPED": int(look.mapped)}
            if kind == "principled"
            else {},
            needs=_needs_of(kind, look),
            uses=(record,),
            features=look.features,
            text=layers_glsl(lobes_of(look)) if kind == "principled" else "",
            prepared=_SEEN if kind == "principled" else None,
        )
        for kind, shader in shaders.items()
    ]
    switch = Module(
        "BSDF",
        provides=("bsdf_delta", *(f"bsdf_{name}" for _, name, *_ in _FUNCTIONS)),
        source="interface/bsdf.glsl",
        constants={
            constant(kind): value
            for kind, value in KINDS.items()
            if kind in look.kinds or (kind != "classic" and kind not in FOREIGN)
        },
        needs=("surface_dimension", "interaction_nowhere", *(f"{shader}_sample" for shader in shaders.values())),
        uses=(record,),
        text=switch_glsl(present, shaders) + (_SHIFT if look.sheets else ""),
        features=frozenset({"SHEETS"} if look.sheets else ()),
    )
    lobes = lobe_modules(look) if look.principled else []
    parting = _dispersion(look) if look.dispersion else []
    more = {"CHANNEL": 1} if "dispersion" in look.lobes else None
    return [surface_dimensions(more), interaction_module(look), *lobes, *modules, switch, *parting]


# A glTF's material and its layers at a place, of each channel that has some of its own.
_SEEN = PreparedValue(
    INTERACTION.name,
    "Seen",
    "principled_prepared",
    "principled_kept",
    "PREPARED",
    serves=frozenset({"bsdf_delta", "light_share", *(f"bsdf_{name}" for _, name, *_ in _FUNCTIONS)}),
    kept=frozenset({"at_channel"}),
)


# result, name, further arguments, function of a kind or of all smooth ones, its arguments; result for one that never
# parts
_CHANNELS = (
    ("bool", "channels_part", "", "SMOOTH_parts", "at", "false"),
    ("Interaction", "at_channel", ", int channel", "KIND_at_channel", "at, channel", "at"),
    ("bool", "channels_branch", "", "SMOOTH_branches_alone", "at", "true"),
    ("Interaction", "at_branch", ", bool refracts", "SMOOTH_at_branch", "at, refracts", "at"),
)


def _dispersion(look: Look) -> list[Module]:
    """``interface/dispersion.glsl``, each function a switch over kinds at which channels part, and modules of these."""
    kinds = look.kinds if "dispersion" in look.lobes else look.kinds - {"principled"}
    parting = [kind for kind in KINDS if kind in kinds & PARTING]
    modules = [
        Module(
            f"channels {kind}",
            provides=(f"{kind}_at_channel",),
            source=f"shading/channels_{kind}.glsl",
            needs=("bsdf_delta", *(("classic_material",) if kind == "classic" else ())),
            uses=(look.interaction,),
            features=look.features,
        )
        for kind in parting
    ]
    lines: list[str] = []
    for result, name, arguments, function, call_arguments, nothing in _CHANNELS:
        lines += [f"{result} {name}(Interaction at{arguments}) {{", "    switch (interaction_kind(at)) {"]
        for kind in parting:
            callee = function.replace("KIND", kind).replace("SMOOTH", kind if kind == "principled" else "smooth")
            lines += [f"        case {constant(kind)}: return {callee}({call_arguments});"]
        lines += ["    }", f"    return {nothing};", "}"]
    switch = Module(
        "dispersion",
        provides=tuple(name for _, name, *_ in _CHANNELS),
        source="interface/dispersion.glsl",
        needs=tuple(module.provides[0] for module in modules),
        uses=(look.interaction,),
        text="\n".join(lines),
    )
    return [*modules, switch]


def interaction_module(look: Look) -> Module:
    """The functions of ``interface/interaction.glsl``; it keeps the record."""
    record = look.interaction
    values = ", ".join("wo" if field.name == "wo" else f"{field.type}(0)" for field in record.fields)
    names = {field.name for field in record.fields}
    second = "vec3(at.parameter, at.specular, at.reflectivity)" if "parameter" in names else "vec3(0.0)"
    second = "at.uv_1" if "uv_1" in names else second
    put = ""
    if look.principled and look.second_uv:
        # Where there are the parameters of other kinds, glTF's materials keep this in their places.
        shared = f"if (interaction_kind(at) != {KINDS['principled']}) return;\n    at.parameter = uv_1.x;\n    "
        put = "at.uv_1 = uv_1;" if "uv_1" in names else f"{shared}at.specular = uv_1.y;\n    at.reflectivity = uv_1.z;"
    packed = look.packed
    kind, material = ("at.kind & 7", f"at.kind >> {packed['material'][0]}") if look.addressed else ("at.kind", "0")
    numbers = ("parameter", "specular", "reflectivity")
    put_numbers = " ".join(f"at.{name} = {name};" for name in numbers if "parameter" in names)
    more = [_packed(name, *packed[name]) for name in packed if name != "material"] if look.principled else []
    return Module(
        "interaction",
        provides=(
            *("interaction_nowhere", "interaction_kind", "interaction_material", "interaction_uv_1"),
            *("set_interaction_material", "set_interaction_uv_1", "set_interaction_place"),
            "set_interaction_parameters",
        ),
        source=f"shading/place_{'packed' if look.tangents else 'plain' if look.textures else 'none'}.glsl",
        module_state=record,
        uses=(record,),
        features=look.features,
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
    {f"at.kind += {1 << packed['material'][0]} * material;" if look.addressed else ""}
}}
void set_interaction_uv_1(inout Interaction at, vec3 uv_1) {{
    {put}
}}
void set_interaction_parameters(inout Interaction at, float parameter, float specular, float reflectivity) {{
    {put_numbers}
}}
"""
        + "".join(more),
    )


def _packed(name: str, first: int, bits: int) -> str:
    """A number within an interaction's kind, read and written."""
    mask = (1 << bits) - 1
    return f"""int interaction_{name}(Interaction at) {{
    return (at.kind >> {first}) & {mask};
}}
void set_interaction_{name}(inout Interaction at, int value) {{
    at.kind = (at.kind & {(1 << 24) - 1 - (mask << first)}) | (value << {first});
}}
"""


def _source(kind: str, shader: str, look: Look) -> str:
    if kind in FOREIGN:
        return FOREIGN[kind].source
    if kind == "principled":
        return f"shading/principled_{'parted' if 'dispersion' in look.lobes else 'whole'}.glsl"
    return "shading/classic_sheets.glsl" if kind == "classic" and look.sheets else f"shading/bsdf_{shader}.glsl"


def _needs_of(kind: str, look: Look) -> tuple[str, ...]:
    if kind == "principled":
        return tuple(module.provides[0] for module in lobe_modules(look))
    return ("classic_material",) if kind == "classic" else ()


def _functions_of(kind: str) -> tuple[str, ...]:
    if kind in DELTA:
        return ("sample", "branches", *(("index",) if kind in REFRACTING else ()))
    more = (("branches",) if kind in BRANCHING else ()) + (("delta",) if kind in SOMETIMES_DELTA else ())
    return ("value", "pdf", "evaluate", "reflectance", "sample", *more, *(("index",) if kind in REFRACTING else ()))


def switch_glsl(present: Collection[str], shaders: Mapping[str, str] | None = None) -> str:
    """The functions of ``interface/bsdf.glsl``, each a switch over the kinds; by the ``shaders`` of each, where they do
    not bear its name."""
    lines: list[str] = []
    for result, name, arguments, call_arguments, nothing in _FUNCTIONS:
        lines += [f"{result} bsdf_{name}({', '.join(filter(None, ('Interaction at', arguments)))}) {{"]
        if name == "evaluate":
            lines += ["    pdf = 0.0;"]
        if name == "sample":
            lines += ["    wi = weight = vec3(0.0);", "    pdf = 0.0;"]
        if name == "branches":
            lines += ["    reflected = refracted = -wo;", "    reflection = refraction = vec3(0.0);"]
        having = [kind for kind in present if name in _functions_of(kind)]
        if having:
            lines += ["    switch (interaction_kind(at)) {"]
            for kind in having:
                call = f"{(shaders or {}).get(kind, kind)}_{name}({call_arguments});"
                call = f"return {call}" if nothing else f"{call} break;"
                if name == "evaluate" and kind not in TOGETHER:
                    shader = (shaders or {}).get(kind, kind)
                    call = f"pdf = {shader}_pdf(at, wo, wi); return {shader}_value(at, wo, wi);"
                lines += [f"        case {constant(kind)}: {call}"]
            lines += ["    }"]
        lines += [f"    return {nothing};", "}"] if nothing else ["}"]
    single = [f"interaction_kind(at) == {constant(kind)}" for kind in present if kind in DELTA]
    sometimes = [kind for kind in present if kind in SOMETIMES_DELTA]
    single += [f"(interaction_kind(at) == {constant(kind)} && {kind}_delta(at))" for kind in sometimes]
    lines += ["bool bsdf_delta(Interaction at) {", f"    return {' || '.join(single) or 'false'};", "}"]
    single = [test for test in single if constant("principled") not in test]
    lines += ["bool bsdf_single(Interaction at) {", f"    return {' || '.join(single) or 'false'};", "}"]
    return "\n".join(lines)


CAMERA = 4  # film and lens, of every sample
# What a surface takes, in order, and how many numbers; two that belong together begin at an even one.
SURFACE = {"LIGHT": 1, "POINT": 2, "BSDF": 2, "LOBE": 1, "ROULETTE": 1}


def dimensions(more: dict[str, int] | None = None) -> dict[str, int]:
    """The constants of GLSL: ``DIMENSION_<name>`` within a surface's own, and how many these are, an even number.

    more : dimensions of this scene's surfaces beside `SURFACE`.
    """
    offsets, count = {}, 0
    for name, width in {**SURFACE, **(more or {})}.items():
        count += count % 2 if width > 1 else 0
        offsets[f"DIMENSION_{name}"] = count
        count += width
    return {**offsets, "DIMENSIONS_OF_CAMERA": CAMERA, "DIMENSIONS_OF_SURFACE": count + count % 2}


def surface_dimensions(more: dict[str, int] | None = None) -> Module:
    """``surface_dimension``, and the constants of `dimensions`."""
    return Module(
        "surface dimensions",
        provides=("surface_dimension",),
        source="shading/dimensions.glsl",
        constants=dict(dimensions(more)),
    )
