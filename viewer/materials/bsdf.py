"""BSDFs as modules: one for each kind of scattering, and a generated switch over those that the scene has."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from viewer.base.errors import ViewerError
from viewer.kernels.records import INTERACTION
from viewer.scene.material import KINDS
from viewer.stream.declare.kernel import Module

# Kinds that scatter into single directions: they have no value and no density, and light cannot be sampled for them.
DELTA = frozenset({"mirror", "dielectric"})
# Others that reflect a share into a single direction: a path that takes it has no density there.
BRANCHING = frozenset({"phong"})

_FUNCTIONS = (
    # result, name, further arguments, how a kind is called, result for a kind that has no such function
    ("vec3", "value", "vec3 wo, vec3 wi", "at, wo, wi", "vec3(0.0)"),
    ("float", "pdf", "vec3 wo, vec3 wi", "at, wo, wi", "0.0"),
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
)


def constant(kind: str) -> str:
    """The GLSL constant of a kind."""
    return f"BSDF_{kind.upper()}"


def bsdfs(kinds: Collection[str], dispersion: bool = False) -> list[Module]:
    """``bsdf_value`` and the rest of ``interface/bsdf.glsl`` over these kinds, and the modules of the kinds themselves.

    dispersion : indices of dielectrics may differ from channel to channel; ``interface/dispersion.glsl`` is there, too.
    Raises ViewerError for an unknown kind.
    """
    present = [kind for kind in KINDS if kind in kinds]
    unknown = sorted(set(kinds) - set(KINDS))
    if unknown:
        raise ViewerError("BSDF", f"unknown kind '{unknown[0]}'", f"one of {', '.join(KINDS)}")
    shaders = {kind: "dispersive" if dispersion and kind == "dielectric" else kind for kind in present}
    made = [
        Module(
            f"BSDF {kind}",
            provides=tuple(f"{shader}_{name}" for name in _functions_of(kind)),
            source=f"shading/bsdf_{shader}.glsl",
            uses=(INTERACTION,),
        )
        for kind, shader in shaders.items()
    ]
    switch = Module(
        "BSDF",
        provides=("bsdf_delta", *(f"bsdf_{name}" for _, name, *_ in _FUNCTIONS)),
        source="interface/bsdf.glsl",
        constants={constant(kind): number for kind, number in KINDS.items()},
        needs=tuple(f"{shader}_sample" for shader in shaders.values()),
        uses=(INTERACTION,),
        text=switch_glsl(present, shaders),
    )
    return [*made, switch, *([_dispersion()] if "dispersive" in shaders.values() else [])]


def _dispersion() -> Module:
    """``interface/dispersion.glsl``."""
    return Module(
        "dispersion",
        provides=("channels_part", "at_channel"),
        source="shading/dispersion.glsl",
        needs=("bsdf_delta",),
        uses=(INTERACTION,),
    )


def _functions_of(kind: str) -> tuple[str, ...]:
    if kind in DELTA:
        return ("sample", "branches")
    return ("value", "pdf", "reflectance", "sample", *(("branches",) if kind in BRANCHING else ()))


def switch_glsl(present: Collection[str], shaders: Mapping[str, str] | None = None) -> str:
    """The functions of ``interface/bsdf.glsl``, each a switch over the kinds; by the ``shaders`` of each, where they do
    not bear its name."""
    lines: list[str] = []
    for result, name, arguments, given, nothing in _FUNCTIONS:
        lines += [f"{result} bsdf_{name}({', '.join(filter(None, ('Interaction at', arguments)))}) {{"]
        if name == "sample":
            lines += ["    wi = weight = vec3(0.0);", "    pdf = 0.0;"]
        if name == "branches":
            lines += ["    reflected = refracted = -wo;", "    reflection = refraction = vec3(0.0);"]
        having = [kind for kind in present if name in _functions_of(kind)]
        if having:
            lines += ["    switch (at.kind) {"]
            for kind in having:
                call = f"{(shaders or {}).get(kind, kind)}_{name}({given});"
                call = f"return {call}" if nothing else f"{call} break;"
                lines += [f"        case {constant(kind)}: {call}"]
            lines += ["    }"]
        lines += [f"    return {nothing};", "}"] if nothing else ["}"]
    single = [f"at.kind == {constant(kind)}" for kind in present if kind in DELTA]
    lines += ["bool bsdf_delta(Interaction at) {", f"    return {' || '.join(single) or 'false'};", "}"]
    return "\n".join(lines)
