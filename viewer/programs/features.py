"""Feature buffers: normal, albedo and depth of the first hits of a picture's samples, with its lens and filter."""

from __future__ import annotations

from viewer.kernels import features
from viewer.kernels.records import FEATURES, PIXEL
from viewer.programs.traversal import FLAT, TraversalStates
from viewer.stream.declare.program import DONE, Call, Program, State


def feature_buffers(traversal: TraversalStates = FLAT, backdrop: str = "") -> Program:
    """Pixels and their features, to which the camera rays of more samples are added. backdrop : a kind of
    `viewer.programs.backdrop.BACKDROPS`."""
    turn = ("->add", "add", "begin")
    return Program(
        "features",
        streams={"pixel": PIXEL, "features": FEATURES, **traversal.streams},
        inputs=("pixel", "features"),
        results=("features",),
        states=(
            State("begin", features.BEGIN_FEATURES, {"ray": Call("setup", then="add"), "done": DONE}),
            *traversal.states,
            State("add", features.ADD_FEATURES_BEFORE[backdrop], {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=turn,
        groups={"ray": (("->add", "add"),), "surface": (turn,)},
        resumes=True,
        limit="path_samples",
    )
