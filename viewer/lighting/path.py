"""The settings of light transport, as a module: uniforms, so that no change of them recompiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from raystream.stream.declare.kernel import Module

# Direct light sampling: numbers in shaders/interface/path.glsl.
STRATEGIES = {"both": 0, "lights": 1, "bsdf": 2}
DEPTH = 16  # default maximum path length in surface interactions: enough for a figure of glass
ROULETTE = 5  # surface interactions from which Russian roulette ends paths at the default depth
# glTF's roughness below which a glossy lobe counts as a mirror: so narrow a lobe blurs by less than half a degree, and
# float32 directions cannot resolve it. Whitted's trees, which trace mirror directions alone, show more with the larger
# limit.
SMOOTH, SMOOTH_OF_TREES = 0.02, 0.25
# Candidates of resampled direct light (RIS): chosen by power, or by a light tree, where more would cost more time than
# they save (tools/benchmarks/noise/lights.py).
CANDIDATES, CANDIDATES_OF_TREE = 8, 2
UNLIMITED_DEPTH = 1 << 20  # longer than any path


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
            "path_roulette": UNLIMITED_DEPTH if self.roulette is None else self.roulette,
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
    """The module of the settings of paths; its uniforms are set again for every run."""
    return Module(
        "path settings", provides=("path_settings",), source="shading/path.glsl", uniforms=_typed_uniforms("path_")
    )


def candidate_settings() -> Module:
    """The module of the number of candidates of resampled direct light; its uniform is set again for every run."""
    return Module(
        "candidate settings",
        provides=("light_candidates",),
        source="shading/candidates.glsl",
        uniforms={"light_candidates": ("int", CANDIDATES)},
    )


def occlusion_settings() -> Module:
    """The module of the length of ambient occlusion rays; its uniform is set again for every run."""
    return Module(
        "occlusion settings",
        provides=("occlusion_settings",),
        source="shading/occlusion.glsl",
        uniforms={"occlusion_distance": ("float", 1.0)},
    )


def whitted_settings() -> Module:
    """The module of the further settings of Whitted's tracer and the shadow caster; its uniforms are set every run."""
    return Module(
        "Whitted settings",
        provides=("whitted_settings",),
        source="shading/whitted.glsl",
        uniforms=_typed_uniforms("whitted_"),
    )


def _typed_uniforms(prefix: str) -> dict[str, tuple[str, Any]]:
    """The uniforms of `PathSettings` with this prefix, as (type, value) by name."""
    values = {key: value for key, value in PathSettings().uniforms.items() if key.startswith(prefix)}
    return {key: ("float" if isinstance(value, float) else "int", value) for key, value in values.items()}
