"""Whitted's ray tracer (T. Whitted, "An Improved Illumination Model for Shaded Display", 1980) without recursion; and
the shadow caster, its first level.

At each hit a shadow ray goes to every light, and a reflected and a refracted ray go on. Every ray carries the weight
with which it adds to the pixel, so that nothing returns to its parent: the shade tree is traversed depth first,
the reflected child at once, while the refracted one waits on a stack. The stack has a level for each surface that a
path may come over, times one child less than a surface has, and each level is a stream. Where channels part a
surface has a refracted child for each, which carries that channel alone, and stays one from there on. Children of no
more than ``whitted_min_intensity`` in weight are not followed: a depth or a least intensity ends the tree (A. V.
Adinetz, S. B. Berezin, "Implementing Classical Ray Tracing on GPU", 2006, section 2).

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

DEPTH = 4  # surfaces that light comes over
CHILDREN, DISPERSED = 2, 4  # of a surface; with one refracted ray for each channel
MOST_DEPTH = 32


@dataclass(frozen=True)
class IndirectLight:
    """States that add the light which shadow rays do not bring, between a surface's lights and its reflections.

    They are entered at the first; exits to "refract" lead back. streams : that they work on; ``inputs`` of them the
    host fills. groups : of those states that become one pass where rays and surfaces do; all of them where empty.
    rays : those of the arrival of each ray that they send.
    instead, added_states : states in place of some of the tracer's, and more, by which all is one pass. written :
    streams that these read only where they are written, though the wires alone cannot tell.

    With them direct light is that of lights chosen by power, instead of each in turn: infinitely distant ones are then
    sampled like the others, and not taken as ambient light.
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
        """The states of each pass: with all of them a step would read from more than 16 samplers."""
        return self.groups or (self.names,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the states, in their order."""
        return tuple(state.name for state in self.states)


def _behind_light(push: list[str], pop: list[str]) -> Iterator[tuple[str, ...]]:
    """The states behind a surface's light in groups, each within the streams that a pass may have."""
    yield "refract", *push[:1]
    yield from (tuple(push[k : k + 2]) for k in range(1, len(push), 2))
    yield "reflect", "next"
    yield from (tuple(pop[k : k + 3]) for k in range(0, len(pop), 3))


def direct_light(kernel: Kernel, then: str) -> tuple[State, ...]:
    """The states that send shadow rays to one light after the other; kernel : prepares the next ray, or ends."""
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
    """Pixels and their film, to which samples are added.

    depth : maximum path length in surface interactions, the bound of ``path_depth``; 0 is light seen alone.
    first_hits : how they are found, see `raystream.programs.first_hits`. indirect : light beside that of shadow rays.
    dispersion : there are surfaces at which channels part, and of which each channel has a refracted ray. volumes :
    some absorb light. nested : of these some overlap, or hold something. moving : rays have the times of their paths,
    see `raystream.kernels.whitted.of_moment`. backdrop : a kind of `raystream.programs.first_hits.BACKDROPS`.
    Raises ViewerError for a depth that needs more streams than is sensible.
    """
    if not 0 <= depth <= MOST_DEPTH:
        hint = "the shade tree grows with two to that power"
        raise ViewerError("--depth", f"{depth} surfaces; Whitted's tracer goes to {MOST_DEPTH}", hint)
    levels = max(1, depth * ((DISPERSED if dispersion else CHILDREN) - 1))
    refract = whitted.branch_channels(levels) if dispersion else whitted.branch_refraction(levels)
    rays = {"again": "refract", "none": "reflect"} if dispersion else {"none": "reflect"}
    stack = [f"pending_{level}" for level in range(levels)]
    exits = whitted.level_exits(levels)
    push = {exit_: f"push_{level}" for level, exit_ in enumerate(exits)}
    pop = {exit_: f"pop_{level}" for level, exit_ in enumerate(exits)}
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    follow, background = Call("setup", then=arrive), backdrop_states(backdrop, surface=arrive, end="next")
    eye = Call("setup", then=background.first)
    light = photons.NEXT_SHADOW_RAY if indirect.states else whitted.NEXT_LIGHT
    to = ("root", *extra_states(first_hits), *arriving, "light", "->resolve", "resolve")
    surface_passes: tuple[tuple[str, ...], ...] = (to,)
    if nested:
        first, *later = arrivals(arriving, nested)
        surface_passes = ("root", *extra_states(first_hits)), first, *later, ("light", "->resolve", "resolve")
    gather_states = tuple(name for group in indirect.passes for name in group)
    behind = tuple(_behind_light(list(push.values()), list(pop.values())))
    on = ("refract", *push.values(), "reflect", "next", *pop.values())
    states = (
        State("begin", paths.BEGIN, {"ray": "root", "done": DONE}),
        *first_hit_states(first_hits, State("root", whitted.BEGIN_TREE, {"ray": eye})),
        *traversal.states,
        *background.states,
        *absorb,
        State("arrive", whitted.ARRIVE_BRANCH, {"surface": "light", "end": "next"}),
        *direct_light(light, then=indirect.names[0] if indirect.states else "refract"),
        *indirect.states,
        State("refract", refract, {**push, **rays}),
        *(
            State(name, whitted.PUSH_BRANCH, {"done": rays.get("again", "reflect")}, {"level": stream})
            for name, stream in zip(push.values(), stack, strict=True)
        ),
        State("reflect", whitted.of_moment(whitted.BRANCH_REFLECTION, moving), {"ray": follow, "end": "next"}),
        State("next", whitted.next_branch(levels), {**pop, "end": "finish"}),
        *(
            State(name, whitted.of_moment(whitted.POP_BRANCH, moving), {"ray": follow}, {"level": stream})
            for name, stream in zip(pop.values(), stack, strict=True)
        ),
        State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
    )
    return Program(
        name,
        streams={
            **sample_streams(first_hits, traversal),
            "tree": whitted.TREE,
            **dict.fromkeys(("waiting", *stack), whitted.BRANCH),
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
            "ray": (
                *background.groups,
                *arrivals(arriving, nested),
                ("->resolve", "resolve"),
                *indirect.rays,
            ),
            "surface": (
                *background.groups,
                # Rays of the tree then wait from pass to pass: with all their streams a step would write too much.
                *((*surface_passes, *indirect.passes, *behind) if indirect.states else ((*to, *on),)),
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
                *behind,
            )
        },
        resumes=True,
        limit="path_samples",
        stacked=(*stack, *indirect.written),
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
# First hits, lit by every light that no triangle hides (Purcell 2004, chapter 3). With ``first_hits`` "raster" it is a
# hybrid: triangles drawn with a depth buffer find the first hits, the machine casts shadow rays.


def shadow_cast(traversal: TraversalStates = FLAT, first_hits: str = "rays", backdrop: str = "") -> Program:
    """Pixels and their film, to which samples are added. first_hits : see `raystream.programs.first_hits`. backdrop : a
    kind of `raystream.programs.first_hits.BACKDROPS`."""
    background = backdrop_states(backdrop, surface="arrive", end="finish")
    eye = Call("setup", then=background.first)
    return Program(
        "shadow",
        streams={**sample_streams(first_hits, traversal), "tree": whitted.TREE},
        inputs=("pixel", "film", *first_hit_streams(first_hits)),
        results=("film",),
        states=(
            State("begin", paths.BEGIN, {"ray": "root", "done": DONE}),
            *first_hit_states(first_hits, State("root", whitted.BEGIN_TREE, {"ray": eye})),
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
