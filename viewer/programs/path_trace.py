"""Path tracing with next-event estimation, multiple importance sampling and path regeneration.

A path's states: it begins at the camera, walks, arrives; at a surface a light is sampled, its shadow ray walks, what
it brings is gathered; the path scatters, and walks again. A finished path is added to the film, and the pixel's next
one begins within the same run, so that passes stay full.
"""

from __future__ import annotations

from viewer.kernels import paths
from viewer.kernels.records import FILM, PATH, PIXEL, RADIANCE, SCENE_INTERACTION
from viewer.lighting.path import SMOOTH
from viewer.programs.dispersion import channel_states
from viewer.programs.first_hits import extra_states, first_hit_states, first_hit_streams
from viewer.programs.registry import PictureProgram, register
from viewer.programs.traversal import FLAT, TraversalStates
from viewer.programs.volumes import arrival, arrivals, media_streams, surroundings
from viewer.stream.declare.program import DONE, Call, Program, State


def path_trace(
    traversal: TraversalStates = FLAT,
    first_hits: str = "rays",
    dispersion: bool = False,
    volumes: bool = False,
    nested: bool = False,
    resampled: bool = False,
    light_tree: bool = False,
) -> Program:
    """Pixels and their film, to which samples are added. first_hits: see `viewer.programs.first_hits`.

    dispersion : there are surfaces at which channels part, and a path goes on in one. volumes : some absorb light.
    nested : of these some overlap, or hold something. resampled : direct light is resampled from several points of
    lights; not where volumes are nested. light_tree : lights are chosen by a light tree.
    """
    assert not (nested and resampled)
    channel, light = channel_states(dispersion, "light")
    absorb, arrive, arriving = arrival(volumes, nested=nested)
    around, surface = surroundings(nested, light)
    begin, scatter = paths.BEGIN, paths.SCATTER
    sample = paths.RESAMPLE_LIGHT if resampled else paths.SAMPLE_LIGHT
    if nested:
        begin, sample, scatter = paths.BEGIN_NESTED, paths.SAMPLE_LIGHT_NESTED, paths.SCATTER_NESTED
    # A turn takes a path from one surface to the next, and a finished one to its successor.
    turn = (*arriving, *around, *channel, "light", "->resolve", "resolve", "scatter", "finish", "begin")
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
            **media_streams(nested),
        },
        inputs=("pixel", "film", *first_hit_streams(first_hits)),
        results=("film",),
        states=(
            *first_hit_states(first_hits, State("begin", begin, {"ray": Call("setup", then=arrive), "done": DONE})),
            *traversal.states,
            *absorb,
            State("arrive", paths.ARRIVE_TREE if light_tree else paths.ARRIVE, {"surface": surface, "end": "finish"}),
            *around.values(),
            *channel.values(),
            State("light", sample, {"shadow": Call("setup", then="resolve"), "none": "scatter"}),
            State("resolve", paths.RESOLVE_SHADOW, {"done": "scatter"}),
            State("scatter", scatter, {"ray": Call("setup", then=arrive), "end": "finish"}),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=order,
        groups={
            "ray": (*arrivals(arriving, around), (*channel, "light", "->resolve", "resolve", "scatter")),
            "surface": (order[:-1], order[-1:]) if nested else (order,),  # all of it would write too much
        },
        resumes=True,
        stacked=("interaction",) if light_tree else (),  # of the surface before, which the first one has not
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
    )
)
