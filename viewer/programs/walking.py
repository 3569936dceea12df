"""How rays find their hits: the states that every program calls, and returns from.

Walking exists once, for camera, shadow and bounce rays alike; a program `Call`s the state "enter" with the stream
``ray``, and finds the stream ``hit`` where the call returns. Machines that take a ray to its hit in one pass give each
call a copy of these states (`viewer.stream.compile.inline`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from viewer import kernels
from viewer.kernels import HIT, RAY, SHEAR, TOP, WALK
from viewer.stream.declare.kernel import Kept
from viewer.stream.declare.program import RETURN, State
from viewer.stream.declare.record import Record


@dataclass(frozen=True)
class Walking:
    """States to be called at "enter", and the streams that they work on."""

    states: tuple[State, ...]
    streams: Mapping[str, Record | Kept]

    @property
    def group(self) -> tuple[str, ...]:
        """The states that make one pass of a ray's whole way to its hit."""
        return tuple(state.name for state in self.states)


# One structure over all triangles. Purcell 2004, figure 3.1.
FLAT = Walking(
    (
        State("enter", kernels.ENTER, {"walk": "traverse", "miss": RETURN}),
        State("traverse", kernels.TRAVERSE, {"again": "traverse", "test": "intersect", "end": RETURN}),
        State("intersect", kernels.INTERSECT, {"again": "intersect", "walk": "traverse", "end": RETURN}),
    ),
    {"ray": RAY, "hit": HIT, "walk": WALK, "shear": SHEAR},
)

# A top structure over instances, each of which is walked in its object's own space. The stream ``local`` is the ray
# there; its direction is not of unit length, so that distances are the same as in the world.
# A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006): two levels of grids.
OBJECTS = Walking(
    (
        State("enter", kernels.ENTER_TOP, {"visit": "visit", "miss": RETURN}),
        State("visit", kernels.VISIT, {"again": "visit", "object": "descend", "end": RETURN}),
        State("descend", kernels.DESCEND, {"walk": "traverse", "miss": "visit"}),
        State(
            "traverse", kernels.TRAVERSE, {"again": "traverse", "test": "intersect", "end": "visit"}, {"ray": "local"}
        ),
        State(
            "intersect",
            kernels.INTERSECT_OBJECT,
            {"again": "intersect", "walk": "traverse", "end": "visit"},
            {"ray": "local"},
        ),
    ),
    {"ray": RAY, "hit": HIT, "top": TOP, "local": RAY, "walk": WALK, "shear": SHEAR},
)
LEVELS = {1: FLAT, 2: OBJECTS}
