"""The ray caster of Purcell 2004, figure 3.1: eye rays, traversal, intersection, shading; and `trace`."""

from __future__ import annotations

from viewer import kernels
from viewer.kernels import HIT, PIXEL, RADIANCE, RAY, SURFACE
from viewer.programs.primary import primary_states, primary_streams
from viewer.programs.walking import FLAT, Walking
from viewer.stream.declare.kernel import Kernel
from viewer.stream.declare.program import DONE, Call, Program, State


def ray_cast(
    walking: Walking = FLAT, layers: bool = False, shade: Kernel = kernels.SHADE, primary: str = "rays"
) -> Program:
    """Pixels to radiance and hits; with ``layers`` the surfaces that they see too. primary: see
    `viewer.programs.primary`; the states that walk are not there where nothing is to be walked."""
    eye = State("eye", kernels.EYE_RAY, {"ray": Call("enter", then="shade")})
    walks = primary == "rays"
    states = [*primary_states(primary, eye), *(walking.states if walks else ())]
    states.append(State("shade", shade, {"done": "describe" if layers else DONE}))
    if layers:
        states.append(State("describe", kernels.DESCRIBE, {"done": DONE}))
    return Program(
        "cast",
        streams={
            "pixel": PIXEL,
            **primary_streams(primary),
            **(walking.streams if walks else {"ray": RAY, "hit": HIT}),
            "radiance": RADIANCE,
            **({"surface": SURFACE} if layers else {}),
        },
        inputs=("pixel", *primary_streams(primary)),
        results=("radiance", "hit", *(("surface",) if layers else ())),
        states=tuple(states),
        start="eye",
        groups={"ray": (("->shade", "shade"),)} if walks else {},
    )


def trace(walking: Walking = FLAT) -> Program:
    """Given rays to their hits."""
    return Program(
        "trace",
        streams=walking.streams,
        inputs=("ray",),
        results=("hit",),
        states=walking.states,
        start=Call("enter", then=DONE),
        groups={"ray": (walking.group,)},
    )
