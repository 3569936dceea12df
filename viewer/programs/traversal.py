"""The states of traversal, which every program calls, and states between a hit and its shading that only some scenes
need.

Traversal exists once, for camera, shadow and bounce rays alike; a program `Call`s the state "setup" with the stream
``ray``, and finds the stream ``hit`` where the call returns. Machines that take a ray to its hit in one pass give each
call a copy of these states (`raystream.stream.compile.link`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from raystream import kernels
from raystream.kernels import BOX_ENTRY, HIT, RAY, TOP_TRAVERSAL, TRAVERSAL, TRIANGLE_SETUP, paths
from raystream.stream.declare.kernel import Kernel, ModuleState
from raystream.stream.declare.program import RETURN, Call, Groups, State
from raystream.stream.declare.record import Record


@dataclass(frozen=True, eq=False)  # compared by identity: keys of programs
class TraversalStates:
    """States to be called at "setup", and the streams that they work on.

    eye_ray : the kernel that makes pixels' camera rays. in_box : the states to use after an ``eye_ray`` kernel that
    tests the scene's box, in programs without other rays.
    """

    states: tuple[State, ...]
    streams: Mapping[str, Record | ModuleState]
    eye_ray: Kernel = kernels.EYE_RAY
    in_box: TraversalStates | None = None

    @property
    def of_eye_rays(self) -> TraversalStates:
        """The states for programs whose only rays are camera rays."""
        return self.in_box or self

    def eye(self, call: Call) -> State:
        """The state "eye", which makes camera rays and traverses them by ``call``."""
        miss_exit = {"miss": call.then} if "miss" in self.eye_ray.exits else {}
        return State("eye", self.eye_ray, {"ray": call, **miss_exit})

    @property
    def group(self) -> tuple[str, ...]:
        """The names of the states, which form one pass from a ray to its hit."""
        return tuple(state.name for state in self.states)


# One structure over all triangles. Purcell 2004, figure 3.1.
FLAT = TraversalStates(
    (
        State("setup", kernels.TRAVERSAL_SETUP, {"traverse": "traverse", "miss": RETURN}),
        State("traverse", kernels.TRAVERSAL_STEP, {"again": "traverse", "test": "intersect", "end": RETURN}),
        State("intersect", kernels.INTERSECT, {"again": "intersect", "traverse": "traverse", "end": RETURN}),
    ),
    {"ray": RAY, "hit": HIT, "traversal": TRAVERSAL, "setup": TRIANGLE_SETUP},
)

# A top structure over instances, each of which is traversed in its object's own space. The stream ``local`` is the ray
# there; its direction is not of unit length, so that distances are the same as in the world.
# A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006): two levels of grids.
OBJECTS = TraversalStates(
    (
        State("setup", kernels.TOP_TRAVERSAL_SETUP, {"traverse": "top_traverse", "miss": RETURN}),
        State(
            "top_traverse",
            kernels.TOP_TRAVERSAL_STEP,
            {"again": "top_traverse", "object": "object_setup", "end": RETURN},
        ),
        State("object_setup", kernels.OBJECT_TRAVERSAL_SETUP, {"traverse": "traverse", "miss": "top_traverse"}),
        State(
            "traverse",
            kernels.TRAVERSAL_STEP,
            {"again": "traverse", "test": "intersect", "end": "top_traverse"},
            {"ray": "local"},
        ),
        State(
            "intersect",
            kernels.INTERSECT_OBJECT,
            {"again": "intersect", "traverse": "traverse", "end": "top_traverse"},
            {"ray": "local"},
        ),
    ),
    {"ray": RAY, "hit": HIT, "top": TOP_TRAVERSAL, "local": RAY, "traversal": TRAVERSAL, "setup": TRIANGLE_SETUP},
)
LEVELS = {1: FLAT, 2: OBJECTS}

# One structure with one box, which the kernel of eye rays tests: rays that miss it are done, and set-up begins where
# the others enter. Purcell 2004, section 3.3.1.
IN_BOX = replace(
    FLAT,
    in_box=TraversalStates(
        (State("setup", kernels.TRAVERSAL_SETUP_IN_BOX, {"traverse": "traverse"}), *FLAT.states[1:]),
        {**FLAT.streams, "entry": BOX_ENTRY},
        kernels.EYE_RAY_TO_BOX,
    ),
)


def traversal_states(levels: int, tests_box: bool) -> TraversalStates:
    """The states over a structure of 1 or 2 ``levels``. tests_box : the kernel of camera rays tests the structure's
    box."""
    return IN_BOX if tests_box else LEVELS[levels]


def channel_states(dispersion: bool, then: str = "scatter") -> tuple[dict[str, State], str]:
    """The states, by name, that choose a channel at dispersive surfaces before the state ``then``, and the name of the
    first state; without dispersion none, and ``then``."""
    if not dispersion:
        return {}, then
    return {"channel": State("channel", paths.CHOOSE_CHANNEL, {"done": then})}, "channel"


def arrival(
    volumes: bool, arrive: str = "arrive", streams: Mapping[str, str] | None = None, nested: bool = False
) -> tuple[tuple[State, ...], str, tuple[str, ...]]:
    """The states between traversal and the state ``arrive``, which attenuate light in volumes; the name of the first
    one, ``arrive`` where there are none; and the names of all in order, from the traversal on.

    streams : stream by the name of the kernel's argument. nested : volumes overlap, or have objects in them.
    """
    if not volumes:
        return (), arrive, (f"->{arrive}", arrive)
    name = arrive.replace("arrive", "absorb")
    order = f"->{name}", name, arrive
    kernel = paths.CROSS_BOUNDARY if nested else paths.ABSORB
    argument_names = {argument.name for argument in kernel.arguments}
    used = {argument: stream for argument, stream in (streams or {}).items() if argument in argument_names}
    passes = {"pass": Call("setup", then=name)} if nested else {}
    return (State(name, kernel, {"done": arrive, **passes}, used),), name, order


def arrivals(arriving: tuple[str, ...], nested: bool) -> Groups:
    """The states of `arrival`'s order as one pass; as two with nested volumes, where one would write too many
    textures."""
    return (arriving[:-1], arriving[-1:]) if nested else (arriving,)


def gpu_arrivals(arriving: tuple[str, ...], nested: bool) -> Groups:
    """The passes of `arrivals` for GPUs: the traversal is a pass by itself, so that it needs few registers."""
    return (arriving[:1], *arrivals(arriving[1:], nested))
