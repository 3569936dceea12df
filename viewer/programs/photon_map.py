"""Rendering with a photon map: direct light by a shadow ray, reflection and refraction as Whitted's, and at every
surface that is not a mirror or glass alone the radiance estimate of the photons about it (Purcell et al. 2003, section
2.4).

The estimate is a search in states (the kNN-grid, section 2.3), which the machine runs like a walk: the next cell, the
next photon.
"""

from __future__ import annotations

from viewer.kernels import photons
from viewer.kernels.records import PATH, SCENE_INTERACTION
from viewer.programs.traversal import FLAT, TraversalStates
from viewer.programs.volumes import arrival
from viewer.programs.whitted import DEPTH, IndirectLight, whitted_trace
from viewer.stream.declare.program import Call, Program, State

_SPOT = {"interaction": "spot"}


def radiance_estimate(kind: str) -> IndirectLight:
    """The states of the estimate over a map of a kind of `viewer.kernels.photons.MAPS`."""
    form = photons.MAPS[kind]
    return IndirectLight(
        states=(
            State("estimate", photons.BEGIN_ESTIMATE, {"cell": "cell", "none": "refract"}),
            State("cell", form.estimate_cell, {"again": "cell", "photon": "photon", "end": "total"}),
            State("photon", form.estimate_photon, {"again": "photon", "cell": "cell"}),
            State("total", photons.FINISH_ESTIMATE, {"caustic": "cell", "done": "refract"}),
        ),
        streams={"estimate": photons.ESTIMATE, **form.streams},
        inputs=tuple(form.streams),
    )


def final_gather(kind: str, volumes: bool = False) -> IndirectLight:
    """The states of a final gather over a map of a kind: the caustic photons at the surface itself, and the radiance,
    by all photons, of the surfaces that rays from there come to. The estimate's states serve both."""
    form = photons.MAPS[kind]
    absorb, arrive, arriving = arrival(volumes, "arrive_gathering", {"path": "gathering"})
    there = Call("setup", then=arrive)
    return IndirectLight(
        states=(
            State("begin_gather", photons.BEGIN_GATHER, {"surface": "caustics", "none": "refract"}),
            State("caustics", photons.BEGIN_CAUSTICS, {"cell": "cell"}, _SPOT),
            State(
                "estimate",
                photons.BEGIN_ESTIMATE,
                {"cell": "cell", "none": "continue_gathering"},
                {**_SPOT, "path": "gathering"},
            ),
            State("cell", form.estimate_cell, {"again": "cell", "photon": "photon", "end": "total"}, _SPOT),
            State("photon", form.estimate_photon, {"again": "photon", "cell": "cell"}, _SPOT),
            State(
                "total",
                photons.FINISH_ESTIMATE,
                {"caustic": "cell", "done": "continue_gathering"},
                {**_SPOT, "path": "gathering"},
            ),
            State("continue_gathering", photons.CONTINUE_GATHERING, {"ray": there, "end": "gather_ray"}),
            State("gather_ray", photons.GATHER_RAY, {"ray": there, "again": "gather_ray", "end": "refract"}),
            *absorb,
            State("arrive_gathering", photons.ARRIVE_GATHERING, {"surface": "estimate", "miss": "gather_ray"}),
        ),
        streams={"estimate": photons.ESTIMATE, **form.streams, "spot": SCENE_INTERACTION, "gathering": PATH},
        inputs=tuple(form.streams),
        groups=(
            ("begin_gather",),
            arriving,
            ("caustics", "estimate", "cell", "photon", "total"),
            ("continue_gathering",),
            ("gather_ray",),
        ),
        rays=(arriving,),
    )


def photon_map(
    traversal: TraversalStates = FLAT,
    depth: int = DEPTH,
    first_hits: str = "rays",
    kind: str = "sort",
    gather: bool = False,
    dispersion: bool = False,
    volumes: bool = False,
) -> Program:
    """Pixels and their film, to which samples are added; photons and their map are other streams, of any size.

    kind : of the map, a key of `viewer.kernels.photons.MAPS`. gather : a final gather is between the surface and the
    photons' estimate (Purcell 2004, section 6.4.5).
    """
    indirect = final_gather(kind, volumes) if gather else radiance_estimate(kind)
    return whitted_trace(traversal, depth, first_hits, indirect, "photon", dispersion, volumes)
