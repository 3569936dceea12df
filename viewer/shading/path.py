"""The settings of programs that follow light, as a module: uniforms, so that none of them compiles anything anew."""

from __future__ import annotations

from dataclasses import dataclass

from viewer.stream.kernel import Module

# How light is looked for at surfaces: numbers in shaders/interface/path.glsl.
STRATEGIES = {"both": 0, "lights": 1, "bsdf": 2}
NEVER = 1 << 20  # surfaces: no path is that long


@dataclass(frozen=True)
class PathSettings:
    """What a path tracer follows.

    depth    : most surfaces of a path; 1 is light seen and direct light.
    strategy : how light is looked for, a key of `STRATEGIES`.
    roulette : surfaces from which on Russian roulette may end a path; None: never.
    clamp    : largest component of a sample, linear sRGB; 0: as it is.
    bounce   : light that left its source over so many surfaces alone counts; None: all.
    """

    depth: int = 5
    strategy: str = "both"
    roulette: int | None = None
    clamp: float = 0.0
    bounce: int | None = None

    def uniforms(self, samples: int = 1) -> dict[str, int | float]:
        """The uniforms of a run that brings every pixel to so many samples."""
        return {
            "path_depth": self.depth,
            "path_samples": samples,
            "path_strategy": STRATEGIES[self.strategy],
            "path_roulette": NEVER if self.roulette is None else self.roulette,
            "path_bounce": -1 if self.bounce is None else self.bounce,
            "path_clamp": float(self.clamp),
        }


def path_settings() -> Module:
    """The module; its uniforms are set again for every run."""
    values = PathSettings().uniforms()
    return Module(
        "path settings",
        provides=("path_settings",),
        source="shading/path.glsl",
        uniforms={name: ("float" if isinstance(value, float) else "int", value) for name, value in values.items()},
    )
