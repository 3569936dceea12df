"""The settings of light transport, as a module: uniforms, so that no change of them recompiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raystream.stream.declare.kernel import Module

# Direct light sampling: numbers in shaders/interface/path.glsl.
STRATEGIES = {"both": 0, "lights": 1, "bsdf": 2}
DEPTH = 16  # surface interactions: what a ray meets in a figure of glass
ROULETTE = 5  # surface interactions from which Russian roulette ends paths of no depth that was asked for
# Roughness (glTF's) below which a glossy lobe counts as a mirror. A lobe so narrow blurs by less than half a degree,
# and float32 directions do not do it justice. Programs that follow mirrors, and light up what is rough by lamps alone,
# show more with the larger limit.
SMOOTH, SMOOTH_OF_TREES = 0.02, 0.25
# Points of lights that direct light is resampled from, where there are several: chosen by power, or down a light tree,
# where more would cost more time than they spare (tools/benchmarks/light/lights.py).
CANDIDATES, CANDIDATES_OF_TREE = 8, 2
NEVER = 1 << 20  # surface interactions: no path is that long


@dataclass(frozen=True)
class PathSettings:
    """Settings of a run that brings every pixel to a count of ``samples``.

    depth    : maximum path length in surface interactions.
    strategy : direct light sampling, a key of `STRATEGIES`.
    roulette : path length from which Russian roulette may end a path; None: never.
    clamp    : largest component of a sample, linear sRGB; 0: as it is.
    shared   : all pixels of a sample have one offset from their centres; else each has its own.
    bounce   : only light of paths of this length counts; None: all.
    light_samples : shadow rays of a surface to area lights, of programs that are no path tracers.
    smooth   : roughness below which glossy surfaces are mirrors.
    shadows, reflections, refractions : whether Whitted's tracer and the shadow caster have them.
    min_intensity : weight that a reflected or refracted ray of Whitted's tracer has to exceed in a channel.
    """

    depth: int = DEPTH
    strategy: str = "both"
    roulette: int | None = None
    clamp: float = 0.0
    shared: bool = False
    shadows: bool = True
    reflections: bool = True
    refractions: bool = True
    min_intensity: float = 0.0
    samples: int = 1
    bounce: int | None = None
    light_samples: int = 1
    smooth: float = SMOOTH

    @property
    def uniforms(self) -> dict[str, int | float]:
        """The uniforms of these settings, by their names in GLSL."""
        return {
            "path_depth": self.depth,
            "path_samples": self.samples,
            "path_light_samples": self.light_samples,
            "path_strategy": STRATEGIES[self.strategy],
            "path_roulette": NEVER if self.roulette is None else self.roulette,
            "path_bounce": -1 if self.bounce is None else self.bounce,
            "path_clamp": float(self.clamp),
            "path_shared": int(self.shared),
            "path_smooth": float(self.smooth),
            "whitted_shadows": int(self.shadows),
            "whitted_reflections": int(self.reflections),
            "whitted_refractions": int(self.refractions),
            "whitted_min_intensity": float(self.min_intensity),
        }


def path_settings() -> Module:
    """The module; its uniforms are set again for every run."""
    return Module("path settings", provides=("path_settings",), source="shading/path.glsl", uniforms=_declared("path_"))


def candidate_settings() -> Module:
    """The module of the number of points of lights that direct light is resampled from; a uniform, set again too."""
    return Module(
        "candidate settings",
        provides=("light_candidates",),
        source="shading/candidates.glsl",
        uniforms={"light_candidates": ("int", CANDIDATES)},
    )


def occlusion_settings() -> Module:
    """The module of the distance within which things occlude a surface; a uniform, set again for every run."""
    return Module(
        "occlusion settings",
        provides=("occlusion_settings",),
        source="shading/occlusion.glsl",
        uniforms={"occlusion_distance": ("float", 1.0)},
    )


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
    chosen = {key: value for key, value in PathSettings().uniforms.items() if key.startswith(prefix)}
    return {key: ("float" if isinstance(value, float) else "int", value) for key, value in chosen.items()}
