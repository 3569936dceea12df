"""The light of paths in layers: seen itself, or scattered at the first surface by its matte part, as gloss, or through.

The same paths as `viewer.programs.path_trace` has, with the same kernels and random numbers; the light that these leave
is sorted between them. What each sample of a film is made of is added up, so that the layers' sum is the film.
"""

from __future__ import annotations

from viewer.kernels import light_layers as steps
from viewer.kernels import paths
from viewer.kernels.records import LIGHT_CONTEXT, RADIANCE
from viewer.programs.dispersion import channel_states
from viewer.programs.first_hits import sample_streams
from viewer.programs.traversal import FLAT, TraversalStates
from viewer.programs.volumes import arrival, arrivals
from viewer.stream.declare.program import DONE, Call, Program, State

TO_PORTION = {"radiance": "portion"}


def light_layers(
    traversal: TraversalStates = FLAT,
    dispersion: bool = False,
    volumes: bool = False,
    nested: bool = False,
    resampled: bool = False,
) -> Program:
    """Pixels, their film and the sums of its layers, to which the film's samples are added; arguments are those of
    `path_trace`."""
    channel, light = channel_states(dispersion, "light")
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    sample = paths.RESAMPLE_LIGHT if resampled else paths.SAMPLE_LIGHT
    follow = Call("setup", then=arrive)
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
        results=("sums",),
        states=(
            State("begin", steps.BEGIN_LIGHT_LAYERS, {"ray": follow, "done": DONE}),
            *traversal.states,
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
            State("finish", steps.FINISH_LIGHT_LAYERS, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=(
            *(*arriving, "sort", "sort_last", *channel, "light", "->resolve", "resolve", "share_light", "sort_light"),
            *("scatter", "share_scatter", "finish", "begin"),
        ),
        groups=dict.fromkeys(("ray", "surface"), (*arrivals(arriving, nested), ("->resolve", "resolve"))),
        resumes=True,
        stacked=("context", "share", "split"),  # of what was before, which the first surface has not
    )
