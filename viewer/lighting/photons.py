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
from raystream.lighting.specular_bounds import MOST_SPHERES
from raystream.options.values import PhotonFilter
from raystream.stream.declare.kernel import Module

CONSTANT = PhotonFilter()
UNENDING = 1 << 24  # photons: more than there can be


@dataclass(frozen=True)
class PhotonPass:
    """A pass that sends ``photons``.

    middle, radius : the scene's bounding sphere, world. index : of the pass; each sends others. bounces : most
    surfaces that a photon leaves. least : surfaces that it must have left to be stored; 1 leaves out direct light.
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
        aims = [(*map(float, sphere),) for sphere in self.spheres]
        return {
            "emit_middle": tuple(map(float, self.middle)),
            "emit_radius": float(self.radius),
            "emit_spheres": (*aims, *[(0.0, 0.0, 0.0, 0.0)] * (MOST_SPHERES - len(aims))),
            "emit_sphere_count": len(aims),
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
            "estimate_photons": UNENDING if self.photons is None else self.photons,
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
    routed = _declared(footprint_uniforms())
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
            uniforms={**_declared(emitting), "light_slots": ("int", len(listed.records))},
            constants={"EMIT_LARGEST": FAR},
            needs=("light_sample", "environment_radiance", "environment_sample"),
        ),
        Module(
            "photon settings",
            ("photon_settings",),
            "shading/photon.glsl",
            uniforms=_declared(photons),
            constants=_stored(),
        ),
        *estimate_settings(),
        *map_modules(),
    ]


def estimate_settings() -> list[Module]:
    """The modules of settings of radiance estimates, one for each of `raystream.kernels.photons.SEARCHES`, and of final
    gathers. Settings fixed by a search are constants of its programs."""
    fixed: dict[str, dict[str, int | float]] = {
        "nearest": {"photon_grid_buckets": 0, "estimate_footprint": 0.0},
        "radius": {"estimate_photons": UNENDING, "estimate_exact": 1},
    }
    settings = RadianceEstimate().uniforms
    rays = {"gather_rays": settings.pop("gather_rays")}
    modules = [Module("gather settings", ("gather_settings",), "interface/gather.glsl", uniforms=_declared(rays))]
    for search in SEARCHES:
        uniforms = _declared({name: value for name, value in settings.items() if name not in fixed[search]})
        constants = {**_stored(), **fixed[search]}
        name = f"estimate settings, {search}"
        modules.append(Module(name, (f"{search}_estimate",), "shading/estimate.glsl", (), uniforms, constants))
    return modules


def _stored() -> dict[str, int | float]:
    """The constants of ``Photon.stored``."""
    return {f"PHOTON_{name.upper()}": value for name, value in STORED.items()}


def _declared(values: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Uniforms by name, with their types."""
    return {name: (_type(value), value) for name, value in values.items()}


def _type(value: Any) -> str:
    if isinstance(value, tuple):
        if isinstance(value[0], tuple):
            return f"{_type(value[0])}[{len(value)}]"
        return f"{'i' if isinstance(value[0], int) else ''}vec{len(value)}"
    return "float" if isinstance(value, float) else "int"
