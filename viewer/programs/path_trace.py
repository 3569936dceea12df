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
    """The program that adds samples of paths to a film.

    first_hits : one of `raystream.programs.first_hits.FIRST_HITS`. dispersion : some surfaces refract the channels of
    light differently, and a path goes on with one channel. volumes : some absorb light. nested : volumes overlap, or
    have objects in them. resampled : direct light by RIS of several light samples. layered : some materials have
    layers, whose pass from surface to surface is too large for GPUs. backdrop : one of
    `raystream.programs.first_hits.BACKDROPS`.
    """
    channel, light = channel_states(dispersion, "light")
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    traverse, background = Call("setup", then=arrive), backdrop_states(backdrop, surface=arrive, end="finish")
    camera_ray = Call("setup", then=background.first)
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
            *first_hit_states(first_hits, State("begin", paths.BEGIN, {"ray": camera_ray, "done": DONE})),
            *traversal.states,
            *background.states,
            *absorb,
            State("arrive", paths.ARRIVE, {"surface": light, "end": "finish"}),
            *channel.values(),
            State("light", sample, {"shadow": Call("setup", then="resolve"), "none": "scatter"}),
            State("resolve", paths.RESOLVE_SHADOW, {"done": "scatter"}),
            State("scatter", paths.SCATTER, {"ray": traverse, "end": "finish"}),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=order,
        groups={
            "ray": (*background.groups, *arrivals(arriving, nested), surface),
            # With nested volumes a single pass would write to too many textures.
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
        stacked=("context",),  # of the surface before, which the first one lacks
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
