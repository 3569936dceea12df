"""The source of a program's first hits: traversal, or a stream that a rasterised pass has filled.

T. J. Purcell, *Ray Tracing on a Stream Processor* (2004): where the eye rays of a picture have one origin, drawing the
triangles into a depth buffer finds the same hits. The pass itself is `raystream.renderer.device.first_hits`; it fills
the stream ``first_hit``, one sample at a time. Where all samples of a pixel share one eye ray, as those of its path
tracer do (figure 3.3), `eye_hits` fills it once for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from raystream.base.errors import WiringError
from raystream.kernels.records import FILM, HIT, MEDIA, PATH, PIXEL, RADIANCE, SCENE_INTERACTION
from raystream.kernels.whitted import TAKE_FIRST_HIT
from raystream.programs.traversal import FLAT, TraversalStates
from raystream.stream.declare.kernel import ModuleState
from raystream.stream.declare.program import DONE, Call, Program, State
from raystream.stream.declare.record import Record

FIRST_HITS = ("rays", "raster", "shared")
GIVEN = frozenset({"raster", "shared"})  # they come in a stream


def first_hit_streams(first_hits: str) -> Mapping[str, Record]:
    """The input streams that camera rays need beside those of the program. Raises WiringError for an unknown way."""
    if first_hits not in FIRST_HITS:
        raise WiringError("first_hits", f"no way '{first_hits}' to find first hits", f"one of {', '.join(FIRST_HITS)}")
    return {"first_hit": HIT} if first_hits in GIVEN else {}


def sample_streams(first_hits: str, traversal: TraversalStates) -> dict[str, Record | ModuleState]:
    """The streams of programs that add samples of paths to a film."""
    return {
        "pixel": PIXEL,
        "film": FILM,
        **first_hit_streams(first_hits),
        **traversal.streams,
        "path": PATH,
        "radiance": RADIANCE,
        "interaction": SCENE_INTERACTION,
        "pending": RADIANCE,
        "media": MEDIA,
    }


def extra_states(first_hits: str) -> tuple[str, ...]:
    """The names of the states that `first_hit_states` adds."""
    return ("take",) if first_hits in GIVEN else ()


def first_hit_states(first_hits: str, ready: State) -> tuple[State, ...]:
    """The state that starts camera rays by its exit ``ray``, wired to a call of the traversal; and the states between
    it and the hit where first hits are given."""
    call = ready.exits["ray"]
    if first_hits == "rays" or not isinstance(call, Call):
        return (ready,)
    assert isinstance(call.then, str)
    return (
        replace(ready, exits={**ready.exits, "ray": "take"}),
        State("take", TAKE_FIRST_HIT, {"done": call.then}),
    )


def eye_hits(traversal: TraversalStates = FLAT) -> Program:
    """Pixels to the hits of the rays through their centres, which all samples share."""
    traversal = traversal.of_eye_rays
    return Program(
        "first hits",
        streams={"pixel": PIXEL, **traversal.streams},
        inputs=("pixel",),
        results=("hit",),
        states=(traversal.eye(Call("setup", then=DONE)), *traversal.states),
        start="eye",
        groups=dict.fromkeys(("ray", "surface"), (traversal.group,)),
    )
