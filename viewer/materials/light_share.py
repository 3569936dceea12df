"""How surfaces scatter light, as a module: diffuse, glossy or through, for layers of a picture's light."""

from __future__ import annotations

from viewer.kernels.light_layers import LIGHT_SHARE
from viewer.materials.look import Look
from viewer.scene.material import KINDS
from viewer.stream.declare.kernel import Module

# What Lambert's part of each kind reflects, times the cosine; kinds that have none scatter into single directions.
MATTE = {
    "lambert": "lambert_value(at, wo, wi)",
    "phong": "reflects(at, wo, wi) ? at.albedo * (0.31830989 * abs(dot(at.shading, wi))) : vec3(0.0)",
    "principled": "principled_matte(at, wo, wi)",
    "classic": "classic_value(at, wo, wi)",
}


def light_share(look: Look) -> Module:
    """``light_share`` of ``interface/light_share.glsl`` over the look's kinds."""
    matte = [kind for kind in KINDS if kind in look.kinds and kind in MATTE]
    lines = ["vec3 principled_matte(Interaction at, vec3 wo, vec3 wi);"] if "principled" in matte else []
    lines += ["vec3 matte_value(Interaction at, vec3 wo, vec3 wi) {"]
    if matte:
        cases = (f"        case BSDF_{kind.upper()}: return {MATTE[kind]};" for kind in matte)
        lines += ["    switch (interaction_kind(at)) {", *cases, "    }"]
    return Module(
        "light share",
        provides=("light_share",),
        source="shading/light_share.glsl",
        needs=("bsdf_value", *(f"{kind}_sample" for kind in matte)),
        uses=(look.interaction, LIGHT_SHARE),
        features=look.features,
        text="\n".join([*lines, "    return vec3(0.0);", "}"]),
    )
