"""The light of paths in layers: seen itself, or scattered at the first surface by its matte part, as gloss, or through.

The same paths as `raystream.programs.path_trace` has, with the same kernels and random numbers; the light that these
leave is sorted between them. The parts of each sample are added up, so that the layers' sum is the film. Layers of
shadow and occlusion are the visibility of lights and environment from the first hits of these samples.
"""

from __future__ import annotations

from dataclasses import replace

from raystream.kernels import light_layers as steps
from raystream.kernels import light_layers as visible
from raystream.kernels import paths
from raystream.kernels.records import LIGHT_CONTEXT, RADIANCE
from raystream.programs.first_hits import backdrop_states, sample_streams
from raystream.programs.traversal import FLAT, TraversalStates, arrival, arrivals, channel_states
from raystream.stream.declare.program import DONE, Call, Program, State

TO_PORTION = {"radiance": "portion"}


def light_layers(
    traversal: TraversalStates = FLAT,
    dispersion: bool = False,
    volumes: bool = False,
    nested: bool = False,
    resampled: bool = False,
    backdrop: str = "",
    traced: bool = False,
) -> Program:
    """Pixels, their film and the sums of its layers, to which the film's samples are added; arguments are those of
    `path_trace`. traced : samples are added to the film, too, as `path_trace` adds them."""
    channel, light = channel_states(dispersion, "light")
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    sample = paths.RESAMPLE_LIGHT if resampled else paths.SAMPLE_LIGHT
    follow = Call("setup", then=arrive)
    background = backdrop_states(backdrop, arrive, "sort_last", "sort_floor", "portion")
    eye = Call("setup", then=background.first)
    begin = State("begin", steps.BEGIN_LIGHT_LAYERS, {"ray": eye, "done": DONE})
    finish = State("finish", steps.FINISH_LIGHT_LAYERS, {"again": "begin", "done": DONE})
    if traced:
        begin = replace(begin, kernel=paths.BEGIN, streams=TO_PORTION)
        finish = replace(finish, kernel=steps.FINISH_SORTED_PATH)
    floor: tuple[State, ...] = ()
    if backdrop == "floor":
        sort_floor = State("sort_floor", steps.SORT_FLOOR, {"done": "share_floor"})
        floor = sort_floor, State("share_floor", steps.SHARE_FLOOR, {"done": arrive})
    streams = sample_streams("rays", traversal)
    del streams["radiance"]
    return Program(
        "light layers",
        streams={
            **streams,
            "context": LIGHT_CONTEXT,
            "portion": RADIANCE,
            "share": steps.LIGHT_SHARE,
            "split": steps.LIGHT_SPLIT,
            "sums": steps.LIGHT_SUMS,
        },
        inputs=("pixel", "film", "sums"),
        results=("film", "sums") if traced else ("sums",),
        states=(
            begin,
            *traversal.states,
            *background.states,
            *floor,
            *absorb,
            State("arrive", paths.ARRIVE, {"surface": "sort", "end": "sort_last"}, TO_PORTION),
            State("sort", steps.SORT_ARRIVAL, {"done": light}),
            State("sort_last", steps.SORT_ARRIVAL, {"done": "finish"}),
            *channel.values(),
            State("light", sample, {"shadow": Call("setup", then="resolve"), "none": "scatter"}),
            State("resolve", paths.RESOLVE_SHADOW, {"done": "share_light"}, TO_PORTION),
            State("share_light", steps.SHARE_LIGHT, {"done": "sort_light"}),
            State("sort_light", steps.SORT_LIGHT, {"done": "scatter"}),
            State("scatter", paths.SCATTER, {"ray": "share_scatter", "end": "finish"}),
            State("share_scatter", steps.SHARE_SCATTER, {"done": follow}),
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
        stacked=("context", "share", "split"),  # of what was before, which the first surface has not
    )


def visibility(traversal: TraversalStates = FLAT, shadow: bool = True, occlusion: bool = True) -> Program:
    """Pixels, their film and `VISIBILITY`, to which the film's samples are added."""
    streams = sample_streams("rays", traversal)
    further = "occlusion" if occlusion else "finish"
    lights: tuple[State, ...] = ()
    if shadow:
        lights = (
            State("light", paths.SAMPLE_LIGHT, {"shadow": Call("setup", then="weigh"), "none": further}),
            State("weigh", visible.WEIGH_SHADOW, {"done": further}),
        )
    else:
        del streams["pending"]
    rays: tuple[State, ...] = ()
    if occlusion:
        rays = (
            State("occlusion", visible.OCCLUSION_RAY, {"ray": Call("setup", then="weigh_near")}),
            State("weigh_near", visible.WEIGH_OCCLUSION, {"done": "finish"}),
        )
    weighed: tuple[tuple[str, ...], ...] = (("light", "->weigh", "weigh"),) if shadow else ()
    weighed += (("occlusion", "->weigh_near", "weigh_near"),) if occlusion else ()
    return Program(
        "visibility",
        streams={**streams, "context": LIGHT_CONTEXT, "visibility": visible.VISIBILITY},
        inputs=("pixel", "film", "visibility"),
        results=("visibility",),
        states=(
            State("begin", visible.BEGIN_VISIBILITY, {"ray": Call("setup", then="arrive"), "done": DONE}),
            *traversal.states,
            State("arrive", paths.ARRIVE, {"surface": "light" if shadow else further, "end": "finish"}),
            *lights,
            *rays,
            State("finish", visible.FINISH_VISIBILITY, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=("->arrive", "arrive", *(name for group in weighed for name in group), "finish", "begin"),
        groups=dict.fromkeys(("ray", "surface"), (("->arrive", "arrive"), *(group[1:] for group in weighed))),
        resumes=True,
        stacked=("context",),
    )
