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
PRECOMPUTED = frozenset({"raster", "shared"})  # these are read from a stream


def first_hit_streams(first_hits: str) -> Mapping[str, Record]:
    """The input streams of precomputed first hits. Raises WiringError unless ``first_hits`` is one of `FIRST_HITS`."""
    if first_hits not in FIRST_HITS:
        raise WiringError("first_hits", f"no way '{first_hits}' to find first hits", f"one of {', '.join(FIRST_HITS)}")
    return {"first_hit": HIT} if first_hits in PRECOMPUTED else {}


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
    """The names of the states that `first_hit_states` adds to a program."""
    return ("take",) if first_hits in PRECOMPUTED else ()


def first_hit_states(first_hits: str, ready: State) -> tuple[State, ...]:
    """The states from the start of a camera ray to its hit. ready : the state that starts rays by its exit ``ray``, a
    call of the traversal; where first hits are precomputed, that exit leads to a state that reads them."""
    call = ready.exits["ray"]
    if first_hits == "rays" or not isinstance(call, Call):
        return (ready,)
    assert isinstance(call.then, str)
    return (replace(ready, exits={**ready.exits, "ray": "take"}), State("take", TAKE_FIRST_HIT, {"done": call.then}))


def eye_hits(traversal: TraversalStates = FLAT) -> Program:
    """The program from pixels to the hits of the rays through their centres, which all samples share."""
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
# A backdrop is seen by camera rays, and lights nothing; there may be a floor before it. Their states are between a
# camera ray's traversal and its arrival.

BACKDROPS = ("", "plain", "floor")  # none, so that the environment is seen; a backdrop; a floor before a backdrop


@dataclass(frozen=True)
class BackdropStates:
    """The states of a backdrop. first : the one that camera rays come to. groups, gpu_groups : states of each pass."""

    states: tuple[State, ...]
    first: str
    groups: Groups = ()
    gpu_groups: Groups = ()

    @property
    def order(self) -> tuple[str, ...]:
        """The names of all states in the order of the groups."""
        return tuple(name for group in self.groups for name in group)


def backdrop_states(
    kind: str, surface: str, end: str, mirrored: str = "", radiance: str = "radiance"
) -> BackdropStates:
    """The states of a kind of `BACKDROPS`, and the states that follow them.

    surface : after a hit. end : after a miss. mirrored : after a hit by way of the floor's mirror; by default
    ``surface``. radiance : the stream of the rays' light. Raises WiringError for an unknown kind.
    """
    if kind not in BACKDROPS:
        raise WiringError("backdrop", f"no kind '{kind}'", f"one of {', '.join(BACKDROPS[1:])}")
    if not kind:
        return BackdropStates((), surface)
    streams = {"radiance": radiance}
    if kind == "plain":
        state = State("backdrop", paths.SEE_BACKDROP, {"surface": surface, "end": end}, streams)
        return BackdropStates((state,), "backdrop", (("->backdrop", "backdrop"),), (("->backdrop",), ("backdrop",)))
    shadow_ray, mirrored_ray = Call("setup", then="floor_light"), Call("setup", then="mirrored")
    exits: dict[str, Target] = {"surface": surface, "shadow": shadow_ray, "mirror": "mirror", "end": end}
    lit_states, mirrored_states = ("->floor_light", "floor_light", "mirror"), ("->mirrored", "mirrored")
    return BackdropStates(
        (
            State("backdrop", paths.SEE_FLOOR, exits, streams),
            State("floor_light", paths.RESOLVE_SHADOW, {"done": "mirror"}, streams),
            State("mirror", paths.MIRROR_FLOOR, {"ray": mirrored_ray}),
            State("mirrored", paths.MEET_MIRRORED, {"surface": mirrored or surface, "end": end}, streams),
        ),
        "backdrop",
        (("->backdrop", "backdrop"), lit_states, mirrored_states),
        (("->backdrop",), ("backdrop",), lit_states, mirrored_states),
    )


def backdrop_weight(traversal: TraversalStates = FLAT, kind: str = "plain") -> Program:
    """The program that adds to a film, for samples of a picture, the weight of the backdrop in each: its mean is
    1 - alpha."""
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
