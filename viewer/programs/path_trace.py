"""Path tracing with next-event estimation, multiple importance sampling and path regeneration.

A path's states: it begins at the camera, is traversed to its hit, arrives; at a surface a light is sampled, its
shadow ray is traversed and resolved; the path scatters, and is traversed again. A finished path is added to the film,
and the pixel's next one begins within the same run, so that passes stay full.
"""

from __future__ import annotations

from raystream.kernels import paths
from raystream.kernels.records import LIGHT_CONTEXT
from raystream.lighting.path import SMOOTH
from raystream.programs.first_hits import (
    backdrop_states,
    extra_states,
    first_hit_states,
    first_hit_streams,
    sample_streams,
)
from raystream.programs.registry import PictureProgram, register
from raystream.programs.traversal import FLAT, TraversalStates, arrival, arrivals, channel_states, gpu_arrivals
from raystream.stream.declare.program import DONE, Call, Program, State


def path_trace(
    traversal: TraversalStates = FLAT,
    first_hits: str = "rays",
    dispersion: bool = False,
    volumes: bool = False,
    nested: bool = False,
    resampled: bool = False,
    layered: bool = False,
    backdrop: str = "",
) -> Program:
    """Pixels and their film, to which samples are added. first_hits: see `raystream.programs.first_hits`.

    dispersion : there are surfaces at which channels part, and a path goes on in one. volumes : some absorb light.
    nested : of these some overlap, or hold something. resampled : direct light is resampled from several points of
    lights. layered : there are materials of layers, with which a GPU's pass from surface to surface would be too large.
    backdrop : a kind of `raystream.programs.first_hits.BACKDROPS`.
    """
    channel, light = channel_states(dispersion, "light")
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    follow, background = Call("setup", then=arrive), backdrop_states(backdrop, surface=arrive, end="finish")
    eye = Call("setup", then=background.first)
    sample = paths.RESAMPLE_LIGHT if resampled else paths.SAMPLE_LIGHT
    # A bounce takes a path from one surface to the next, and a finished one to its successor.
    bounce = (*arriving, *channel, "light", "->resolve", "resolve", "scatter", "finish", "begin")
    single_pass = (*extra_states(first_hits), *bounce)
    order = (*background.order, *single_pass)
    surface = (*channel, "light", "->resolve", "resolve", "scatter")
    ends = ("finish", "begin", *extra_states(first_hits))
    return Program(
        "path",
        streams={**sample_streams(first_hits, traversal), "context": LIGHT_CONTEXT},
        inputs=("pixel", "film", *first_hit_streams(first_hits)),
        results=("film",),
        states=(
            *first_hit_states(first_hits, State("begin", paths.BEGIN, {"ray": eye, "done": DONE})),
            *traversal.states,
            *background.states,
            *absorb,
            State("arrive", paths.ARRIVE, {"surface": light, "end": "finish"}),
            *channel.values(),
            State("light", sample, {"shadow": Call("setup", then="resolve"), "none": "scatter"}),
            State("resolve", paths.RESOLVE_SHADOW, {"done": "scatter"}),
            State("scatter", paths.SCATTER, {"ray": follow, "end": "finish"}),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=order,
        groups={
            "ray": (*background.groups, *arrivals(arriving, nested), surface),
            # All of it would write too much where volumes are nested.
            "surface": (*background.groups, *((single_pass[:-1], single_pass[-1:]) if nested else (single_pass,))),
        },
        gpu_groups={
            "ray": (
                *background.gpu_groups,
                *gpu_arrivals(arriving, nested),
                (*channel, "light"),
                ("->resolve", "resolve"),
                ends,
            ),
            **({"surface": (*background.groups, *arrivals(arriving, nested), surface, ends)} if layered else {}),
        },
        resumes=True,
        limit="path_samples",
        stacked=("context",),  # of the surface before, which the first one has not
    )


register(
    PictureProgram(
        "path",
        path_trace,
        "trace paths: global illumination",
        "paths of surfaces, with light chosen at each",
        key="4",
        roulette=True,
        smooth=SMOOTH,
        noisy=True,
        demodulates=True,
        sorts_light=True,
    )
)
