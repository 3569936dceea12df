"""The ray caster of Purcell 2004, figure 3.1: eye rays, traversal, intersection, shading; and `trace`."""

from __future__ import annotations

from viewer import kernels
from viewer.kernels import HIT, PIXEL, RADIANCE, RAY, SHEAR, SURFACE, WALK
from viewer.stream.kernel import Kept, Kernel
from viewer.stream.program import DONE, RETURN, Call, Program, State
from viewer.stream.record import Record

# Walking exists once, and returns to whoever called: camera rays today, shadow and bounce rays later.
WALKING = (
    State("enter", kernels.ENTER, {"walk": "traverse", "miss": RETURN}),
    State("traverse", kernels.TRAVERSE, {"again": "traverse", "test": "intersect", "end": RETURN}),
    State("intersect", kernels.INTERSECT, {"again": "intersect", "walk": "traverse", "end": RETURN}),
)
WALKING_STREAMS: dict[str, Record | Kept] = {"ray": RAY, "hit": HIT, "walk": WALK, "shear": SHEAR}
GROUPS = {"ray": (("enter", "traverse", "intersect"),)}


def ray_cast(shade: Kernel = kernels.SHADE, layers: bool = False) -> Program:
    """Pixels to radiance and hits; with ``layers`` the surfaces that they see too."""
    states = [State("eye", kernels.EYE_RAY, {"ray": Call("enter", then="shade"), "miss": "shade"}), *WALKING]
    states.append(State("shade", shade, {"done": "describe" if layers else DONE}))
    if layers:
        states.append(State("describe", kernels.DESCRIBE, {"done": DONE}))
    return Program(
        "cast",
        streams={"pixel": PIXEL, **WALKING_STREAMS, "radiance": RADIANCE, **({"surface": SURFACE} if layers else {})},
        inputs=("pixel",),
        results=("radiance", "hit", *(("surface",) if layers else ())),
        states=tuple(states),
        start="eye",
        groups=GROUPS,
    )


def trace() -> Program:
    """Given rays to their hits."""
    return Program(
        "trace",
        streams=WALKING_STREAMS,
        inputs=("ray",),
        results=("hit",),
        states=WALKING,
        start=Call("enter", then=DONE),
        groups=GROUPS,
    )
