"""The states of camera rays that leave the scene: before a backdrop, which lights nothing, or on a floor before it.

They stand between a camera ray's traversal and its arrival; a program without them is unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

from raystream.base.errors import WiringError
from raystream.kernels import backdrop, paths
from raystream.kernels.records import FILM, MEDIA, PATH, PIXEL, RADIANCE
from raystream.programs.traversal import FLAT, TraversalStates
from raystream.stream.declare.program import DONE, Call, Groups, Program, State, Target

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
        state = State("backdrop", backdrop.SEE_BACKDROP, {"surface": surface, "end": end}, to)
        return BackdropStates((state,), "backdrop", (("->backdrop", "backdrop"),), (("->backdrop",), ("backdrop",)))
    light, image = Call("setup", then="floor_light"), Call("setup", then="mirrored")
    exits: dict[str, Target] = {"surface": surface, "shadow": light, "mirror": "mirror", "end": end}
    lit_states, mirrored_states = ("->floor_light", "floor_light", "mirror"), ("->mirrored", "mirrored")
    return BackdropStates(
        (
            State("backdrop", backdrop.SEE_FLOOR, exits, to),
            State("floor_light", paths.RESOLVE_SHADOW, {"done": "mirror"}, to),
            State("mirror", backdrop.MIRROR_FLOOR, {"ray": image}),
            State("mirrored", backdrop.MEET_MIRRORED, {"surface": mirrored or surface, "end": end}, to),
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
