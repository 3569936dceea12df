"""Rendering with a photon map: direct light by a shadow ray, reflection and refraction as Whitted's, and at every
surface that is not a mirror or glass alone the radiance estimate of the photons about it (Purcell et al. 2003, section
2.4).

The estimate is a search in states (the kNN-grid, section 2.3), which the machine runs like a walk: the next cell, the
next photon.
"""

from __future__ import annotations

from viewer.kernels import photons
from viewer.programs.traversal import FLAT, TraversalStates
from viewer.programs.whitted import DEPTH, IndirectLight, whitted_trace
from viewer.stream.declare.program import Program, State


def radiance_estimate(kind: str) -> IndirectLight:
    """The states of the estimate over a map of a kind of `viewer.kernels.photons.MAPS`."""
    form = photons.MAPS[kind]
    return IndirectLight(
        states=(
            State("estimate", photons.BEGIN_ESTIMATE, {"cell": "cell", "none": "refract"}),
            State("cell", form.estimate_cell, {"again": "cell", "photon": "photon", "end": "total"}),
            State("photon", form.estimate_photon, {"again": "photon", "cell": "cell"}),
            State("total", photons.FINISH_ESTIMATE, {"done": "refract"}),
        ),
        streams={"estimate": photons.ESTIMATE, **form.streams},
        inputs=tuple(form.streams),
    )


def photon_map(
    traversal: TraversalStates = FLAT, depth: int = DEPTH, first_hits: str = "rays", kind: str = "sort"
) -> Program:
    """Pixels and their film, to which samples are added; photons and their map are other streams, of any size.

    kind : of the map, a key of `viewer.kernels.photons.MAPS`.
    """
    return whitted_trace(traversal, depth, first_hits, radiance_estimate(kind), "photon")
