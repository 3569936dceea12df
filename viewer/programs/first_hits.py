"""Camera rays in programs: the source of their first hits, and the states of those that leave the scene.

T. J. Purcell, *Ray Tracing on a Stream Processor* (2004): where the eye rays of a picture have one origin, drawing the
triangles into a depth buffer finds the same hits. The pass itself is `raystream.renderer.device.first_hits`; it fills
the stream ``first_hit``, one sample at a time. Where all samples of a pixel share one eye ray, as those of its path
tracer do (figure 3.3), `eye_hits` fills it once for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from raystream.base.errors import WiringError
from raystream.kernels import paths
from raystream.kernels.records import FILM, HIT, MEDIA, PATH, PIXEL, RADIANCE, SCENE_INTERACTION
from raystream.kernels.whitted import TAKE_FIRST_HIT
from raystream.programs.traversal import FLAT, TraversalStates
from raystream.stream.declare.kernel import ModuleState
from raystream.stream.declare.program import DONE, Call, Groups, Program, State, Target
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


# -- camera rays that leave the scene ----------------------------------------------------------------------------------
# Before a backdrop, which lights nothing, or on a floor before it: states between a camera ray's traversal and its
# arrival; a program without them is unchanged.

BACKDROPS = ("", "plain", "floor")  # none: the environment is seen; a backdrop; a floor before one


@dataclass(frozen=True)
class BackdropStates:
    """first : where camera rays arrive. groups : of states that become one pass, for a GPU those of `gpu_groups`."""

    states: tuple[State, ...]
    first: str
    groups: Groups = ()
    gpu_groups: Groups = ()

    @property
    def order(self) -> tuple[str, ...]:
        """All states in their turn."""
        return tuple(name for group in self.groups for name in group)


def backdrop_states(
    kind: str, surface: str, end: str, mirrored: str = "", radiance: str = "radiance"
) -> BackdropStates:
    """The states of a kind of `BACKDROPS`. surface : where camera rays that have met one go on, mirrored : after the
    floor, if not there; end : where those do that have not. radiance : the stream of their light. Raises WiringError
    for an unknown kind."""
    if kind not in BACKDROPS:
        raise WiringError("backdrop", f"no kind '{kind}'", f"one of {', '.join(BACKDROPS[1:])}")
    if not kind:
        return BackdropStates((), surface)
    to = {"radiance": radiance}
    if kind == "plain":
        state = State("backdrop", paths.SEE_BACKDROP, {"surface": surface, "end": end}, to)
        return BackdropStates((state,), "backdrop", (("->backdrop", "backdrop"),), (("->backdrop",), ("backdrop",)))
    light, image = Call("setup", then="floor_light"), Call("setup", then="mirrored")
    exits: dict[str, Target] = {"surface": surface, "shadow": light, "mirror": "mirror", "end": end}
    lit_states, mirrored_states = ("->floor_light", "floor_light", "mirror"), ("->mirrored", "mirrored")
    return BackdropStates(
        (
            State("backdrop", paths.SEE_FLOOR, exits, to),
            State("floor_light", paths.RESOLVE_SHADOW, {"done": "mirror"}, to),
            State("mirror", paths.MIRROR_FLOOR, {"ray": image}),
            State("mirrored", paths.MEET_MIRRORED, {"surface": mirrored or surface, "end": end}, to),
        ),
        "backdrop",
        (("->backdrop", "backdrop"), lit_states, mirrored_states),
        (("->backdrop",), ("backdrop",), lit_states, mirrored_states),
    )


def backdrop_weight(traversal: TraversalStates = FLAT, kind: str = "plain") -> Program:
    """Pixels and a film of the backdrop's remaining weight in samples of a picture: over a white background their mean
    is 1 - alpha."""
    states = backdrop_states(kind, surface="finish", end="finish")
    finish = ("finish", "begin")
    return Program(
        "backdrop",
        streams={
            "pixel": PIXEL,
            "film": FILM,
            **traversal.streams,
            "path": PATH,
            "radiance": RADIANCE,
            "media": MEDIA,
            **({"pending": RADIANCE} if kind == "floor" else {}),
        },
        inputs=("pixel", "film"),
        results=("film",),
        states=(
            State("begin", paths.BEGIN, {"ray": Call("setup", then=states.first), "done": DONE}),
            *traversal.states,
            *states.states,
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=(*states.order, *finish),
        groups={"ray": states.groups, "surface": (*states.groups, finish)},
        gpu_groups={"ray": (*states.gpu_groups, finish)},
        resumes=True,
    )
