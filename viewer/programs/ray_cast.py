"""The ray caster of Purcell 2004, figure 3.1: eye rays, traversal, intersection, shading; and `trace`."""

from __future__ import annotations

from viewer import kernels
from viewer.kernels import PIXEL, RADIANCE, SURFACE
from viewer.programs.walking import FLAT, Walking
from viewer.stream.kernel import Kernel
from viewer.stream.program import DONE, Call, Program, State


def ray_cast(walking: Walking = FLAT, layers: bool = False, shade: Kernel = kernels.SHADE) -> Program:
    """Pixels to radiance and hits; with ``layers`` the surfaces that they see too."""
    states = [State("eye", kernels.EYE_RAY, {"ray": Call("enter", then="shade")}), *walking.states]
    states.append(State("shade", shade, {"done": "describe" if layers else DONE}))
    if layers:
        states.append(State("describe", kernels.DESCRIBE, {"done": DONE}))
    return Program(
        "cast",
        streams={"pixel": PIXEL, **walking.streams, "radiance": RADIANCE, **({"surface": SURFACE} if layers else {})},
        inputs=("pixel",),
        results=("radiance", "hit", *(("surface",) if layers else ())),
        states=tuple(states),
        start="eye",
        groups={"ray": (walking.group,)},
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
