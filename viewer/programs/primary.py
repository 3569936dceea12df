"""How a program finds what its camera rays hit: by walking, or in a stream that a feed-forward pass has filled.

T. J. Purcell, *Ray Tracing on a Stream Processor* (2004): where the eye rays of a picture have one origin, drawing the
triangles into a depth buffer finds the same hits. The pass itself is `viewer.renderer.rasterized`; it fills the stream
``seen``, one sample at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from viewer.base.errors import WiringError
from viewer.kernels.records import HIT
from viewer.kernels.whitted import SEEN
from viewer.stream.declare.program import Call, State
from viewer.stream.declare.record import Record

PRIMARY = ("rays", "raster")


def primary_streams(primary: str) -> Mapping[str, Record]:
    """The input streams that camera rays need beside those of the program. Raises WiringError for an unknown way."""
    if primary not in PRIMARY:
        raise WiringError("primary", f"no way '{primary}' to find first hits", f"one of {', '.join(PRIMARY)}")
    return {"seen": HIT} if primary == "raster" else {}


def taken(primary: str) -> tuple[str, ...]:
    """The names of the states that `primary_states` adds."""
    return ("see",) if primary == "raster" else ()


def primary_states(primary: str, ready: State) -> tuple[State, ...]:
    """The state that sends camera rays off by its exit ``ray``, wired to a call of a walk; and what is between it and
    the hit if nothing is to be walked."""
    call = ready.exits["ray"]
    if primary == "rays" or not isinstance(call, Call):
        return (ready,)
    assert isinstance(call.then, str)
    return (
        replace(ready, exits={**ready.exits, "ray": "see"}),
        State("see", SEEN, {"done": call.then}),
    )
