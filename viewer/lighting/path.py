"""The settings of programs that follow light, as a module: uniforms, so that none of them compiles anything anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from viewer.stream.declare.kernel import Module

# How light is looked for at surfaces: numbers in shaders/interface/path.glsl.
STRATEGIES = {"both": 0, "lights": 1, "bsdf": 2}
DEPTH = 5  # surfaces
NEVER = 1 << 20  # surfaces: no path is that long


@dataclass(frozen=True)
class PathSettings:
    """What a path tracer follows.

    depth    : most surfaces of a path; 1 is light seen and direct light; None: `DEPTH`.
    strategy : how light is looked for, a key of `STRATEGIES`.
    roulette : surfaces from which on Russian roulette may end a path; None: never.
    clamp    : largest component of a sample, linear sRGB; 0: as it is.
    bounce   : light that left its source over so many surfaces alone counts; None: all.
    offsets  : from the pixels' centres: ``sample``: all pixels of a sample have one, else each has its own.
    shadows, reflections, refractions : whether Whitted's tracer and the shadow caster have them.
    """

    depth: int | None = None
    strategy: str = "both"
    roulette: int | None = None
    clamp: float = 0.0
    bounce: int | None = None
    offsets: str = "auto"
    shadows: bool = True
    reflections: bool = True
    refractions: bool = True

    def uniforms(self, samples: int = 1) -> dict[str, int | float]:
        """The uniforms of a run that brings every pixel to so many samples."""
        return {
            "path_depth": DEPTH if self.depth is None else self.depth,
            "path_samples": samples,
            "path_strategy": STRATEGIES[self.strategy],
            "path_roulette": NEVER if self.roulette is None else self.roulette,
            "path_bounce": -1 if self.bounce is None else self.bounce,
            "path_clamp": float(self.clamp),
            "path_shared": int(self.offsets == "sample"),
            "whitted_shadows": int(self.shadows),
            "whitted_reflections": int(self.reflections),
            "whitted_refractions": int(self.refractions),
        }


def path_settings() -> Module:
    """The module; its uniforms are set again for every run."""
    return Module("path settings", provides=("path_settings",), source="shading/path.glsl", uniforms=_declared("path_"))


def whitted_settings() -> Module:
    """The module of the settings that Whitted's tracer and the shadow caster have beside those; uniforms, too."""
    return Module(
        "Whitted settings",
        provides=("whitted_settings",),
        source="shading/whitted.glsl",
        uniforms=_declared("whitted_"),
    )


def _declared(prefix: str) -> dict[str, tuple[str, Any]]:
    """The uniforms whose names begin so, with their types."""
    chosen = {key: value for key, value in PathSettings().uniforms().items() if key.startswith(prefix)}
    return {key: ("float" if isinstance(value, float) else "int", value) for key, value in chosen.items()}
