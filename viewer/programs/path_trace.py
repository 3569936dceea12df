"""Path tracing with next-event estimation, multiple importance sampling and path regeneration.

A path's states: it begins at the camera, walks, arrives; at a surface a light is sampled, its shadow ray walks, what
it brings is gathered; the path scatters, and walks again. A finished path is added to the film, and the pixel's next
one begins within the same run, so that passes stay full.
"""

from __future__ import annotations

from viewer.kernels import paths
from viewer.kernels.records import FILM, INTERACTION, PATH, PIXEL, RADIANCE
from viewer.programs.primary import primary_states, primary_streams, taken
from viewer.programs.walking import FLAT, Walking
from viewer.stream.declare.program import DONE, Call, Program, State


def path_trace(walking: Walking = FLAT, primary: str = "rays") -> Program:
    """Pixels and their film, to which samples are added. primary: see `viewer.programs.primary`."""
    return Program(
        "path",
        streams={
            "pixel": PIXEL,
            "film": FILM,
            **primary_streams(primary),
            **walking.streams,
            "path": PATH,
            "radiance": RADIANCE,
            "interaction": INTERACTION,
            "pending": RADIANCE,
        },
        inputs=("pixel", "film", *primary_streams(primary)),
        results=("film",),
        states=(
            *primary_states(primary, State("begin", paths.BEGIN, {"ray": Call("enter", then="arrive"), "done": DONE})),
            *walking.states,
            State("arrive", paths.ARRIVE, {"surface": "light", "end": "finish"}),
            State("light", paths.SAMPLE_LIGHT, {"shadow": Call("enter", then="gather"), "none": "scatter"}),
            State("gather", paths.GATHER, {"done": "scatter"}),
            State("scatter", paths.SCATTER, {"ray": Call("enter", then="arrive"), "end": "finish"}),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        # A turn takes a path from one surface to the next, and a finished one to its successor.
        order=("->arrive", "arrive", "light", "->gather", "gather", "scatter", "finish", "begin", *taken(primary)),
        groups={"ray": (("->arrive", "arrive"), ("light", "->gather", "gather", "scatter"))},
        resumes=True,
    )
