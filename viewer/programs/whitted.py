"""Whitted's ray tracer (T. Whitted, "An Improved Illumination Model for Shaded Display", 1980) without recursion; and
the shadow caster, its first level.

At each hit a shadow ray goes to every light, and a reflected and a refracted ray go on. Every ray carries the weight
with which it adds to the pixel, so that nothing returns to its parent: the shade tree is traversed depth first,
the reflected child at once, while the refracted one waits on a stack. Each level of the stack is a stream; there are as
many as surface interactions on a path, times the children of a surface but one. A dispersive surface has a refracted
child for each channel of light, which then has no other. Children of no more than ``whitted_min_intensity`` in weight
are not followed: a depth or a least intensity ends the tree (A. V. Adinetz, S. B. Berezin, "Implementing Classical Ray
Tracing on GPU", 2006, section 2).

An environment is a few suns, which cast shadows, and ambient light, which nothing hides (`raystream.lighting.ambient`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from raystream.base.errors import ViewerError
from raystream.kernels import paths, photons, whitted
from raystream.programs.first_hits import (
    backdrop_states,
    extra_states,
    first_hit_states,
    first_hit_streams,
    sample_streams,
)
from raystream.programs.registry import PictureProgram, register
from raystream.programs.traversal import FLAT, TraversalStates, arrival, arrivals, gpu_arrivals
from raystream.stream.declare.kernel import Kernel, ModuleState
from raystream.stream.declare.program import DONE, Call, Program, State, Target
from raystream.stream.declare.record import Record

DEPTH = 4  # default maximum path length, in surface interactions
CHILDREN, DISPERSED_CHILDREN = 2, 4  # rays from a surface; with one refracted ray for each channel
MAX_DEPTH = 32


@dataclass(frozen=True)
class IndirectLight:
    """States that add indirect light, between a surface's shadow rays and its reflection.

    They are entered at the first, and lead back by exits to "refract". streams : of the states; the host fills those
    named in ``inputs``. groups : states of each pass; one of all where empty. rays : passes of the arrival of their
    rays. instead, added_states : states that replace some of the tracer's, by name, and further ones. written :
    streams that are always written before they are read, which the wiring cannot show.

    With such states direct light is from lights sampled by power, instead of each in turn; infinitely distant ones are
    then sampled, too, and not taken as ambient light.
    """

    states: tuple[State, ...] = ()
    streams: Mapping[str, Record | ModuleState] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    rays: tuple[tuple[str, ...], ...] = ()
    instead: Mapping[str, State] = field(default_factory=dict)
    added_states: tuple[State, ...] = ()
    written: tuple[str, ...] = ()

    @property
    def passes(self) -> tuple[tuple[str, ...], ...]:
        """The states of each pass, in groups since a pass of all would read from more than 16 textures."""
        return self.groups or (self.names,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the states, in their order."""
        return tuple(state.name for state in self.states)


def _branch_groups(push: list[str], pop: list[str]) -> Iterator[tuple[str, ...]]:
    """The passes of the states after a surface's direct light, each with few enough streams. push, pop : states of the
    stack's levels."""
    yield "refract", *push[:1]
    yield from (tuple(push[k : k + 2]) for k in range(1, len(push), 2))
    yield "reflect", "next"
    yield from (tuple(pop[k : k + 3]) for k in range(0, len(pop), 3))


def direct_light(kernel: Kernel, then: str) -> tuple[State, ...]:
    """The states that trace shadow rays to one light after the other. kernel : makes the next ray, or ends. then : the
    state that follows."""
    exits: dict[str, Target] = {"again": "light", "shadow": Call("setup", then="resolve"), "end": then}
    return State("light", kernel, exits), State("resolve", paths.RESOLVE_SHADOW, {"done": "light"})


def whitted_trace(
    traversal: TraversalStates = FLAT,
    depth: int = DEPTH,
    first_hits: str = "rays",
    indirect: IndirectLight = IndirectLight(),
    name: str = "whitted",
    dispersion: bool = False,
    volumes: bool = False,
    nested: bool = False,
    moving: bool = False,
    backdrop: str = "",
) -> Program:
    """The program that adds samples of Whitted's trees to a film.

    depth : maximum path length in surface interactions, the bound of ``path_depth``; 0: visible emitters alone.
    indirect : states of other light than by shadow rays. dispersion : some surfaces have a refracted ray for each
    channel. moving : rays have the times of their paths, see `raystream.kernels.whitted.of_moment`. Other arguments
    are those of `raystream.programs.path_trace.path_trace`. Raises ViewerError for a depth beyond `MAX_DEPTH`.
    """
    if not 0 <= depth <= MAX_DEPTH:
        hint = "the shade tree grows with two to that power"
        raise ViewerError("--depth", f"{depth} surfaces; Whitted's tracer goes to {MAX_DEPTH}", hint)
    levels = max(1, depth * ((DISPERSED_CHILDREN if dispersion else CHILDREN) - 1))
    refract = whitted.branch_channels(levels) if dispersion else whitted.branch_refraction(levels)
    rays = {"again": "refract", "none": "reflect"} if dispersion else {"none": "reflect"}
    stack_streams = [f"pending_{level}" for level in range(levels)]
    exits = whitted.level_exits(levels)
    push = {exit_: f"push_{level}" for level, exit_ in enumerate(exits)}
    pop = {exit_: f"pop_{level}" for level, exit_ in enumerate(exits)}
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    traverse, background = Call("setup", then=arrive), backdrop_states(backdrop, surface=arrive, end="next")
    camera_ray = Call("setup", then=background.first)
    light = photons.NEXT_SHADOW_RAY if indirect.states else whitted.NEXT_LIGHT
    to_surface = ("root", *extra_states(first_hits), *arriving, "light", "->resolve", "resolve")
    surface_passes: tuple[tuple[str, ...], ...] = (to_surface,)
    if nested:
        first, *later = arrivals(arriving, nested)
        surface_passes = ("root", *extra_states(first_hits)), first, *later, ("light", "->resolve", "resolve")
    gather_states = tuple(name for group in indirect.passes for name in group)
    branch_groups = tuple(_branch_groups(list(push.values()), list(pop.values())))
    from_surface = ("refract", *push.values(), "reflect", "next", *pop.values())
    states = (
        State("begin", paths.BEGIN, {"ray": "root", "done": DONE}),
        *first_hit_states(first_hits, State("root", whitted.BEGIN_TREE, {"ray": camera_ray})),
        *traversal.states,
        *background.states,
        *absorb,
        State("arrive", whitted.ARRIVE_BRANCH, {"surface": "light", "end": "next"}),
        *direct_light(light, then=indirect.names[0] if indirect.states else "refract"),
        *indirect.states,
        State("refract", refract, {**push, **rays}),
        *(
            State(name, whitted.PUSH_BRANCH, {"done": rays.get("again", "reflect")}, {"level": stream})
            for name, stream in zip(push.values(), stack_streams, strict=True)
        ),
        State("reflect", whitted.of_moment(whitted.BRANCH_REFLECTION, moving), {"ray": traverse, "end": "next"}),
        State("next", whitted.next_branch(levels), {**pop, "end": "finish"}),
        *(
            State(name, whitted.of_moment(whitted.POP_BRANCH, moving), {"ray": traverse}, {"level": stream})
            for name, stream in zip(pop.values(), stack_streams, strict=True)
        ),
        State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
    )
    return Program(
        name,
        streams={
            **sample_streams(first_hits, traversal),
            "tree": whitted.TREE,
            **dict.fromkeys(("waiting", *stack_streams), whitted.BRANCH),
            **indirect.streams,
        },
        inputs=("pixel", "film", *first_hit_streams(first_hits), *indirect.inputs),
        results=("film",),
        states=(*(indirect.instead.get(state.name, state) for state in states), *indirect.added_states),
        start="begin",
        # A bounce takes a ray of the tree from one surface to the next.
        order=(
            *(*arriving, "light", "->resolve", "resolve", *gather_states, "refract", *push.values()),
            *("reflect", "next"),
            *(*pop.values(), "finish", "begin", "root", *extra_states(first_hits), *background.order),
        ),
        groups={
            "ray": (*background.groups, *arrivals(arriving, nested), ("->resolve", "resolve"), *indirect.rays),
            "surface": (
                *background.groups,
                # With indirect light one pass of a whole bounce would write too many streams.
                *(
                    (*surface_passes, *indirect.passes, *branch_groups)
                    if indirect.states
                    else ((*to_surface, *from_surface),)
                ),
                *((("finish",), ("begin",)) if nested else (("finish", "begin"),)),
            ),
        },
        gpu_groups={
            "ray": (
                ("root", *extra_states(first_hits)),
                *background.gpu_groups,
                *gpu_arrivals(arriving, nested),
                ("->resolve", "resolve"),
                *indirect.passes,
                *branch_groups,
            )
        },
        resumes=True,
        limit="path_samples",
        stacked=(*stack_streams, *indirect.written),
    )


register(
    PictureProgram(
        "whitted",
        whitted_trace,
        "Whitted: shadows, mirrors and glass",
        "a shade tree without recursion",
        key="3",
        depth=DEPTH,
        demodulates=True,
    )
)


# -- the shadow caster -------------------------------------------------------------------------------------------------
# First hits with a shadow ray to every light (Purcell 2004, chapter 3). With ``first_hits`` "raster" it is a hybrid of
# rasterised first hits and traced shadow rays.


def shadow_cast(traversal: TraversalStates = FLAT, first_hits: str = "rays", backdrop: str = "") -> Program:
    """The program that adds samples of first hits with shadow rays to a film; arguments are those of
    `raystream.programs.path_trace.path_trace`."""
    background = backdrop_states(backdrop, surface="arrive", end="finish")
    camera_ray = Call("setup", then=background.first)
    return Program(
        "shadow",
        streams={**sample_streams(first_hits, traversal), "tree": whitted.TREE},
        inputs=("pixel", "film", *first_hit_streams(first_hits)),
        results=("film",),
        states=(
            State("begin", paths.BEGIN, {"ray": "root", "done": DONE}),
            *first_hit_states(first_hits, State("root", whitted.BEGIN_TREE, {"ray": camera_ray})),
            *traversal.states,
            *background.states,
            State("arrive", whitted.ARRIVE_BRANCH, {"surface": "light", "end": "finish"}),
            *direct_light(whitted.NEXT_LIGHT, then="finish"),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=(
            "->arrive",
            "arrive",
            "light",
            "->resolve",
            "resolve",
            "finish",
            "begin",
            "root",
            *extra_states(first_hits),
            *background.order,
        ),
        groups={
            "ray": (*background.groups, ("->arrive", "arrive"), ("->resolve", "resolve")),
            "surface": (
                *background.groups,
                ("root", *extra_states(first_hits), "->arrive", "arrive", "light", "->resolve", "resolve"),
                ("finish", "begin"),
            ),
        },
        gpu_groups={
            "ray": (
                *background.gpu_groups,
                *(("->arrive",), ("arrive", "light"), ("->resolve", "resolve"), ("finish", "begin")),
            )
        },
        resumes=True,
        limit="path_samples",
    )


register(
    PictureProgram(
        "shadow",
        shadow_cast,
        "cast rays and shadow rays",
        "first hits, and a shadow ray to every light",
        key="2",
        rasterises=True,
        demodulates=True,
    )
)
