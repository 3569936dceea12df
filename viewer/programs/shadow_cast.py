"""The shadow caster: first hits, lit by every light that no triangle hides (Purcell 2004, chapter 3).

With ``first_hits`` "raster" it is a hybrid: triangles drawn with a depth buffer find the first hits, the machine casts
shadow rays.
"""

from __future__ import annotations

from raystream.kernels import paths, whitted
from raystream.programs.backdrop import backdrop_states
from raystream.programs.first_hits import extra_states, first_hit_states, first_hit_streams, sample_streams
from raystream.programs.registry import PictureProgram, register
from raystream.programs.traversal import FLAT, TraversalStates
from raystream.programs.whitted import direct_light
from raystream.stream.declare.program import DONE, Call, Program, State


def shadow_cast(traversal: TraversalStates = FLAT, first_hits: str = "rays", backdrop: str = "") -> Program:
    """Pixels and their film, to which samples are added. first_hits : see `raystream.programs.first_hits`. backdrop : a
    kind of `raystream.programs.backdrop.BACKDROPS`."""
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
