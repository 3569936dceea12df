"""Programs by name: wiring only, no OpenGL. A program becomes known by registering here."""

from __future__ import annotations

from collections.abc import Callable

from viewer.programs.features import feature_buffers
from viewer.programs.first_hits import eye_hits
from viewer.programs.path_trace import path_trace
from viewer.programs.photon_map import photon_map
from viewer.programs.photon_trace import photon_emission, photon_frame
from viewer.programs.ray_cast import ray_cast, trace
from viewer.programs.shadow_cast import shadow_cast
from viewer.programs.traversal import LEVELS, TraversalStates
from viewer.programs.whitted import DEPTH, whitted_trace
from viewer.stream.declare.program import Program

# A picture program takes how its rays walk, and how its first hits are found (``primary``); the ray caster takes
# ``layers=True`` to leave the surfaces it sees beside radiance and hits.
PICTURES: dict[str, Callable[..., Program]] = {
    "cast": ray_cast,
    "shadow": shadow_cast,
    "whitted": whitted_trace,
    "path": path_trace,
    "photon": photon_map,
}
# Those that take a ``depth``, because the number of their streams follows from it, and which one without being told.
DEPTHS = {"whitted": DEPTH, "photon": DEPTH}
# Those that take ``dispersion`` and ``volumes``: whether the scene has surfaces at which channels part, or that bound
# what absorbs light.
DISPERSIVE = frozenset({"whitted", "path", "photon"})

__all__ = [
    "DEPTHS",
    "DISPERSIVE",
    "LEVELS",
    "PICTURES",
    "TraversalStates",
    "eye_hits",
    "feature_buffers",
    "photon_emission",
    "photon_frame",
    "ray_cast",
    "trace",
]
