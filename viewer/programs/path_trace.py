"""Path tracing with next-event estimation, multiple importance sampling and path regeneration.

A path's states: it begins at the camera, walks, arrives; at a surface a light is sampled, its shadow ray walks, what
it brings is gathered; the path scatters, and walks again. A finished path is added to the film, and the pixel's next
one begins within the same run, so that passes stay full.
"""

from __future__ import annotations

from viewer.kernels import paths
from viewer.kernels.records import FILM, PATH, PIXEL, RADIANCE, SCENE_INTERACTION
from viewer.programs.dispersion import channel_states
from viewer.programs.first_hits import extra_states, first_hit_states, first_hit_streams
from viewer.programs.traversal import FLAT, TraversalStates
from viewer.programs.volumes import arrival
from viewer.stream.declare.program import DONE, Call, Program, State


def path_trace(
    traversal: TraversalStates = FLAT,
    first_hits: str = "rays",
    dispersion: bool = False,
    volumes: bool = False,
    resampled: bool = False,
) -> Program:
    """Pixels and their film, to which samples are added. first_hits: see `viewer.programs.first_hits`.

    dispersion : there are surfaces at which channels part, and a path goes on in one. volumes : some absorb light.
    resampled : direct light is resampled from several points of lights.
    """
    channel, scatter = channel_states(dispersion)
    absorb, arrive, arriving = arrival(volumes)
    light = paths.RESAMPLE_LIGHT if resampled else paths.SAMPLE_LIGHT
    # A turn takes a path from one surface to the next, and a finished one to its successor.
    turn = (*arriving, "light", "->resolve", "resolve", *channel, "scatter", "finish", "begin")
    order = (*extra_states(first_hits), *turn)
    return Program(
        "path",
        streams={
            "pixel": PIXEL,
            "film": FILM,
            **first_hit_streams(first_hits),
            **traversal.streams,
            "path": PATH,
            "radiance": RADIANCE,
            "interaction": SCENE_INTERACTION,
            "pending": RADIANCE,
        },
        inputs=("pixel", "film", *first_hit_streams(first_hits)),
        results=("film",),
        states=(
            *first_hit_states(
                first_hits, State("begin", paths.BEGIN, {"ray": Call("setup", then=arrive), "done": DONE})
            ),
            *traversal.states,
            *absorb,
            State("arrive", paths.ARRIVE, {"surface": "light", "end": "finish"}),
            State("light", light, {"shadow": Call("setup", then="resolve"), "none": scatter}),
            State("resolve", paths.RESOLVE_SHADOW, {"done": scatter}),
            *channel.values(),
            State("scatter", paths.SCATTER, {"ray": Call("setup", then=arrive), "end": "finish"}),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=order,
        groups={
            "ray": (arriving, ("light", "->resolve", "resolve", *channel, "scatter")),
            "surface": (order,),
        },
        resumes=True,
    )
