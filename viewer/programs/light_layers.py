"""The light of paths in layers: of visible emitters, and of the diffuse, glossy and transmitted light of first
surfaces.

The same paths as `raystream.programs.path_trace` has, with the same kernels and random numbers; the light that these
leave is sorted between them. The parts of each sample are added up, so that the layers' sum is the film. Layers of
shadow and occlusion are the visibility of lights and environment from the first hits of these samples.
"""

from __future__ import annotations

from dataclasses import replace

from raystream.kernels import light_layers as kernels
from raystream.kernels import paths
from raystream.kernels.records import LIGHT_CONTEXT, RADIANCE
from raystream.programs.first_hits import backdrop_states, sample_streams
from raystream.programs.traversal import FLAT, TraversalStates, arrival, arrivals, channel_states
from raystream.stream.declare.program import DONE, Call, Program, State

PORTION_STREAM = {"radiance": "portion"}


def light_layers(
    traversal: TraversalStates = FLAT,
    dispersion: bool = False,
    volumes: bool = False,
    nested: bool = False,
    resampled: bool = False,
    backdrop: str = "",
    traced: bool = False,
) -> Program:
    """The program that adds the light of a film's samples to the sums of its layers; arguments are those of
    `path_trace`. traced : the samples are new, and added to the film as well, as by `path_trace`."""
    channel, light = channel_states(dispersion, "light")
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    sample = paths.RESAMPLE_LIGHT if resampled else paths.SAMPLE_LIGHT
    traverse = Call("setup", then=arrive)
    background = backdrop_states(backdrop, arrive, "sort_last", "sort_floor", "portion")
    camera_ray = Call("setup", then=background.first)
    begin = State("begin", kernels.BEGIN_LIGHT_LAYERS, {"ray": camera_ray, "done": DONE})
    finish = State("finish", kernels.FINISH_LIGHT_LAYERS, {"again": "begin", "done": DONE})
    if traced:
        begin = replace(begin, kernel=paths.BEGIN, streams=PORTION_STREAM)
        finish = replace(finish, kernel=kernels.FINISH_SORTED_PATH)
    floor: tuple[State, ...] = ()
    if backdrop == "floor":
        sort_floor = State("sort_floor", kernels.SORT_FLOOR, {"done": "share_floor"})
        floor = sort_floor, State("share_floor", kernels.SHARE_FLOOR, {"done": arrive})
    streams = sample_streams("rays", traversal)
    del streams["radiance"]
    return Program(
        "light layers",
        streams={
            **streams,
            "context": LIGHT_CONTEXT,
            "portion": RADIANCE,
            "share": kernels.LIGHT_SHARE,
            "split": kernels.LIGHT_SPLIT,
            "sums": kernels.LIGHT_SUMS,
        },
        inputs=("pixel", "film", "sums"),
        results=("film", "sums") if traced else ("sums",),
        states=(
            begin,
            *traversal.states,
            *background.states,
            *floor,
            *absorb,
            State("arrive", paths.ARRIVE, {"surface": "sort", "end": "sort_last"}, PORTION_STREAM),
            State("sort", kernels.SORT_ARRIVAL, {"done": light}),
            State("sort_last", kernels.SORT_ARRIVAL, {"done": "finish"}),
            *channel.values(),
            State("light", sample, {"shadow": Call("setup", then="resolve"), "none": "scatter"}),
            State("resolve", paths.RESOLVE_SHADOW, {"done": "share_light"}, PORTION_STREAM),
            State("share_light", kernels.SHARE_LIGHT, {"done": "sort_light"}),
            State("sort_light", kernels.SORT_LIGHT, {"done": "scatter"}),
            State("scatter", paths.SCATTER, {"ray": "share_scatter", "end": "finish"}),
            State("share_scatter", kernels.SHARE_SCATTER, {"done": traverse}),
            finish,
        ),
        start="begin",
        order=(
            *(*background.order, *(state.name for state in floor)),
            *(*arriving, "sort", "sort_last", *channel, "light", "->resolve", "resolve"),
            *("share_light", "sort_light", "scatter", "share_scatter", "finish", "begin"),
        ),
        groups=dict.fromkeys(
            ("ray", "surface"), (*background.groups, *arrivals(arriving, nested), ("->resolve", "resolve"))
        ),
        resumes=True,
        limit="path_samples" if traced else "",
        stacked=("context", "share", "split"),  # of the surface before, which the first one lacks
    )


def visibility(traversal: TraversalStates = FLAT, shadow: bool = True, occlusion: bool = True) -> Program:
    """The program that adds a film's samples to sums of `VISIBILITY`: of lights, ``shadow``, and of the hemisphere,
    ``occlusion``."""
    streams = sample_streams("rays", traversal)
    after_light = "occlusion" if occlusion else "finish"
    lights: tuple[State, ...] = ()
    if shadow:
        lights = (
            State("light", paths.SAMPLE_LIGHT, {"shadow": Call("setup", then="weigh"), "none": after_light}),
            State("weigh", kernels.WEIGH_SHADOW, {"done": after_light}),
        )
    else:
        del streams["pending"]
    rays: tuple[State, ...] = ()
    if occlusion:
        rays = (
            State("occlusion", kernels.OCCLUSION_RAY, {"ray": Call("setup", then="weigh_near")}),
            State("weigh_near", kernels.WEIGH_OCCLUSION, {"done": "finish"}),
        )
    ray_groups: tuple[tuple[str, ...], ...] = (("light", "->weigh", "weigh"),) if shadow else ()
    ray_groups += (("occlusion", "->weigh_near", "weigh_near"),) if occlusion else ()
    return Program(
        "visibility",
        streams={**streams, "context": LIGHT_CONTEXT, "visibility": kernels.VISIBILITY},
        inputs=("pixel", "film", "visibility"),
        results=("visibility",),
        states=(
            State("begin", kernels.BEGIN_VISIBILITY, {"ray": Call("setup", then="arrive"), "done": DONE}),
            *traversal.states,
            State("arrive", paths.ARRIVE, {"surface": "light" if shadow else after_light, "end": "finish"}),
            *lights,
            *rays,
            State("finish", kernels.FINISH_VISIBILITY, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=("->arrive", "arrive", *(name for group in ray_groups for name in group), "finish", "begin"),
        groups=dict.fromkeys(("ray", "surface"), (("->arrive", "arrive"), *(group[1:] for group in ray_groups))),
        resumes=True,
        stacked=("context",),
    )
