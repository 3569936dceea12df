"""Light that leaves the lights, and the settings of photons and of radiance estimates, as modules.

All of it is uniforms over the tables that `raystream.lighting.lights` brings, set again for every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from raystream.kernels.photons import SEARCHES, STORED
from raystream.kernels.records import FAR
from raystream.lighting.lights import LightList
from raystream.lighting.specular_bounds import MAX_SPHERES
from raystream.options.values import PhotonFilter
from raystream.stream.declare.kernel import Module

CONSTANT = PhotonFilter()
UNLIMITED_PHOTONS = 1 << 24  # more than a map can have


@dataclass(frozen=True)
class PhotonPass:
    """Settings of a pass that emits ``photons``.

    middle, radius : the scene's bounding sphere, world. index : of the pass; each emits other photons. bounces :
    maximum surfaces that a photon leaves. least : minimum of these before it is stored; 1 leaves out direct light.
    width : of their stream. kinds : of `STORED`, that are to be stored; caustic ones alone are aimed at ``spheres``
    (S, 4), see `raystream.lighting.specular_bounds`.
    """

    middle: Sequence[float] = (0.0, 0.0, 0.0)
    radius: float = 1.0
    index: int = 0
    photons: int = 1
    bounces: int = 1
    least: int = 1
    width: int = 1
    kinds: Sequence[str] = tuple(STORED)
    spheres: Sequence[Sequence[float]] = ()

    @property
    def uniforms(self) -> dict[str, Any]:
        """The uniforms of these settings, by their names in GLSL."""
        spheres = [(*map(float, sphere),) for sphere in self.spheres]
        return {
            "emit_middle": tuple(map(float, self.middle)),
            "emit_radius": float(self.radius),
            "emit_spheres": (*spheres, *[(0.0, 0.0, 0.0, 0.0)] * (MAX_SPHERES - len(spheres))),
            "emit_sphere_count": len(spheres),
            "photon_pass": self.index,
            "photon_kinds": sum(STORED[kind] for kind in self.kinds),
            "photon_width": self.width,
            "photon_share": 1.0 / self.photons,
            "photon_bounces": self.bounces,
            "photon_from": self.least,
        }


@dataclass(frozen=True)
class RadianceEstimate:
    """Settings of radiance estimates.

    photons : k, that an estimate asks for; None: all within the radius. radius : beyond which none counts, scene
    units; to it ``footprint`` times the distance from the ``eye`` (world) is added. exact : all photons of the sphere
    count, see ``shaders/interface/estimate.glsl``. weights : of photons by their distance. rays : of
    a final gather. caustic : the radius for caustic photons alone, as a share of that for others.
    """

    photons: int | None = None
    radius: float = 0.0
    exact: bool = True
    eye: Sequence[float] = (0.0, 0.0, 0.0)
    footprint: float = 0.0
    weights: PhotonFilter = CONSTANT
    rays: int = 0
    caustic: float = 1.0

    @property
    def uniforms(self) -> dict[str, Any]:
        """The uniforms of these settings, by their names in GLSL."""
        return {
            "estimate_photons": UNLIMITED_PHOTONS if self.photons is None else self.photons,
            "estimate_reach": float(self.radius),
            "estimate_footprint": float(self.footprint),
            "estimate_eye": tuple(map(float, self.eye)),
            "estimate_exact": int(self.exact),
            "gather_rays": self.rays,
            "estimate_caustic": float(self.caustic),
            "estimate_exponent": self.weights.exponent,
            "estimate_slope": self.weights.slope,
            "estimate_integral": self.weights.integral,
            "photon_grid_low": (0.0, 0.0, 0.0),
            "photon_grid_cell": (1.0, 1.0, 1.0),
            "photon_grid_resolution": (1, 1, 1),
            "photon_grid_buckets": 0,
            "photon_grid_kinds": 1,
        }


def footprint_uniforms(edge: int = 1, wide: int = 1) -> dict[str, int]:
    """The uniforms of a map by stencil routing. edge : texels along the edge of a footprint. wide : footprints in a row
    of the map."""
    return {"footprint_edge": edge, "footprints_wide": wide}


def map_modules() -> list[Module]:
    """The modules by which estimates find photons in a map, of each kind."""
    routed = _typed_uniforms(footprint_uniforms())
    return [
        Module("sorted cells", ("sorted_cell",), "photons/sorted_cell.glsl"),
        Module("sorted photons", ("sorted_photon",), "photons/sorted_photon.glsl"),
        Module("footprint settings", ("footprints",), "photons/footprint.glsl", uniforms=routed),
        Module("routed cells", ("routed_cell",), "photons/routed_cell.glsl", needs=("footprints",)),
        Module("routed photons", ("routed_photon",), "photons/routed_photon.glsl", needs=("footprints",)),
    ]


def photon_modules(listed: LightList) -> list[Module]:
    """The modules ``light_emit`` by a list of lights, ``photon_settings`` and ``estimate_settings``, and those of
    maps."""
    settings = PhotonPass().uniforms
    emitting = {name: value for name, value in settings.items() if name.startswith("emit_")}
    photons = {name: value for name, value in settings.items() if name.startswith("photon_")}
    return [
        Module(
            "emission",
            provides=("light_emit",),
            source="shading/emit.glsl",
            memories=(listed.shares(),),
            uniforms={**_typed_uniforms(emitting), "light_slots": ("int", len(listed.records))},
            constants={"EMIT_LARGEST": FAR},
            needs=("light_sample", "environment_radiance", "environment_sample"),
        ),
        Module(
            "photon settings",
            ("photon_settings",),
            "shading/photon.glsl",
            uniforms=_typed_uniforms(photons),
            constants=_stored_constants(),
        ),
        *estimate_settings(),
        *map_modules(),
    ]


def estimate_settings() -> list[Module]:
    """The modules of the settings of final gathers, and of radiance estimates by each of
    `raystream.kernels.photons.SEARCHES`. Settings that a search fixes are constants of its programs."""
    fixed: dict[str, dict[str, int | float]] = {
        "nearest": {"photon_grid_buckets": 0, "estimate_footprint": 0.0},
        "radius": {"estimate_photons": UNLIMITED_PHOTONS, "estimate_exact": 1},
    }
    settings = RadianceEstimate().uniforms
    rays = {"gather_rays": settings.pop("gather_rays")}
    modules = [Module("gather settings", ("gather_settings",), "interface/gather.glsl", uniforms=_typed_uniforms(rays))]
    for search in SEARCHES:
        uniforms = _typed_uniforms({name: value for name, value in settings.items() if name not in fixed[search]})
        constants = {**_stored_constants(), **fixed[search]}
        name = f"estimate settings, {search}"
        modules.append(Module(name, (f"{search}_estimate",), "shading/estimate.glsl", (), uniforms, constants))
    return modules


def _stored_constants() -> dict[str, int | float]:
    """The constants of ``Photon.stored``."""
    return {f"PHOTON_{name.upper()}": value for name, value in STORED.items()}


def _typed_uniforms(values: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Uniforms as (type, value) by name."""
    return {name: (_glsl_type(value), value) for name, value in values.items()}


def _glsl_type(value: Any) -> str:
    """The GLSL type of a value: a number, a vector, or an array of vectors."""
    if isinstance(value, tuple):
        if isinstance(value[0], tuple):
            return f"{_glsl_type(value[0])}[{len(value)}]"
        return f"{'i' if isinstance(value[0], int) else ''}vec{len(value)}"
    return "float" if isinstance(value, float) else "int"
