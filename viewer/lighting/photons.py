"""Light that leaves the lights, and the settings of photons and of radiance estimates, as modules.

All of it is uniforms over the tables that `viewer.lighting.lights` brings, set again for every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from viewer.stream.declare.kernel import Module

UNENDING = 1 << 24  # photons: more than there can be


def photon_uniforms(
    middle: Sequence[float] = (0.0, 0.0, 0.0),
    radius: float = 1.0,
    number: int = 0,
    photons: int = 1,
    bounces: int = 1,
    least: int = 1,
) -> dict[str, Any]:
    """The uniforms of a pass that sends ``photons``.

    middle, radius : the scene's bounding sphere, world. number : of the pass; each sends others. bounces : most
    surfaces that a photon leaves. least : surfaces that it must have left to be stored; 1 leaves out direct light.
    """
    return {
        "emit_middle": tuple(map(float, middle)),
        "emit_radius": float(radius),
        "photon_pass": number,
        "photon_share": 1.0 / photons,
        "photon_bounces": bounces,
        "photon_from": least,
    }


def estimate_uniforms(
    photons: int | None = None,
    radius: float = 0.0,
    exact: bool = True,
    eye: Sequence[float] = (0.0, 0.0, 0.0),
    footprint: float = 0.0,
) -> dict[str, Any]:
    """The uniforms of radiance estimates.

    photons : k, that an estimate asks for; None: all within the radius. radius : beyond which none counts, scene
    units; to it ``footprint`` times the distance from the ``eye`` (world) is added. exact : all photons of the sphere
    count, see ``shaders/interface/estimate.glsl``.
    """
    return {
        "estimate_photons": UNENDING if photons is None else photons,
        "estimate_all": int(photons is None),
        "estimate_reach": float(radius),
        "estimate_footprint": float(footprint),
        "estimate_eye": tuple(map(float, eye)),
        "estimate_exact": int(exact),
        "photon_grid_low": (0.0, 0.0, 0.0),
        "photon_grid_cell": (1.0, 1.0, 1.0),
        "photon_grid_resolution": (1, 1, 1),
        "photon_grid_buckets": 0,
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


def photon_modules() -> list[Module]:
    """The modules ``light_emit``, ``photon_settings`` and ``estimate_settings``, and those of photon maps."""
    settings, estimates = photon_uniforms(), estimate_uniforms()
    emitting = {name: value for name, value in settings.items() if name.startswith("emit_")}
    photons = {name: value for name, value in settings.items() if name.startswith("photon_")}
    return [
        Module(
            "emission",
            provides=("light_emit",),
            source="shading/emit.glsl",
            uniforms=_declared(emitting),
            needs=("light_sample", "environment_radiance", "environment_sample"),
        ),
        Module("photon settings", ("photon_settings",), "shading/photon.glsl", uniforms=_declared(photons)),
        Module("estimate settings", ("estimate_settings",), "shading/estimate.glsl", uniforms=_declared(estimates)),
        *map_modules(),
    ]


def _declared(values: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Uniforms by name, with their types."""
    return {name: (_type(value), value) for name, value in values.items()}


def _type(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{'i' if isinstance(value[0], int) else ''}vec{len(value)}"
    return "float" if isinstance(value, float) else "int"
