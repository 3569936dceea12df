"""The path tracer's settings as a module: uniforms, so that none of them compiles anything anew."""

from __future__ import annotations

from viewer.stream.kernel import Module

STRATEGIES = {"both": 0, "lights": 1, "bsdf": 2}
NEVER = 1 << 20  # surfaces: no path is that long


def path_uniforms(
    depth: int = 5,
    samples: int = 1,
    strategy: str = "both",
    roulette: int = NEVER,
    bounce: int = -1,
    clamp: float = 0.0,
) -> dict[str, int | float]:
    """The uniforms; what they say is in ``shaders/interface/path.glsl``. strategy: a key of `STRATEGIES`."""
    return {
        "path_depth": depth,
        "path_samples": samples,
        "path_strategy": STRATEGIES[strategy],
        "path_roulette": roulette,
        "path_bounce": bounce,
        "path_clamp": float(clamp),
    }


def path_settings() -> Module:
    """The module; its uniforms are set again for every run."""
    values = path_uniforms()
    return Module(
        "path settings",
        provides=("path_settings",),
        source="shading/path.glsl",
        uniforms={name: ("float" if isinstance(value, float) else "int", value) for name, value in values.items()},
    )
