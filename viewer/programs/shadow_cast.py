"""The shadow caster: what the camera sees, lit by every light that no triangle hides (Purcell 2004, chapter 3).

With ``primary`` "raster" it is a hybrid: the feed-forward pipeline finds what is seen, the machine casts shadow rays.
"""

from __future__ import annotations

from viewer.kernels import paths, whitted
from viewer.kernels.records import FILM, INTERACTION, PATH, PIXEL, RADIANCE
from viewer.programs.primary import primary_states, primary_streams, taken
from viewer.programs.walking import FLAT, Walking
from viewer.stream.declare.program import DONE, Call, Program, State


def shadow_cast(walking: Walking = FLAT, depth: int = 1, primary: str = "rays") -> Program:
    """Pixels and their film, to which samples are added.

    depth : of no meaning beyond 1, since light comes over one surface. primary : see `viewer.programs.primary`.
    """
    return Program(
        "shadow",
        streams={
            "pixel": PIXEL,
            "film": FILM,
            **primary_streams(primary),
            **walking.streams,
            "path": PATH,
            "radiance": RADIANCE,
            "tree": whitted.TREE,
            "interaction": INTERACTION,
            "pending": RADIANCE,
        },
        inputs=("pixel", "film", *primary_streams(primary)),
        results=("film",),
        states=(
            State("begin", paths.BEGIN, {"ray": "root", "done": DONE}),
            *primary_states(primary, State("root", whitted.BEGIN_TREE, {"ray": Call("enter", then="arrive")})),
            *walking.states,
            State("arrive", paths.ARRIVE, {"surface": "light", "end": "finish"}),
            State(
                "light",
                whitted.NEXT_LIGHT,
                {"again": "light", "shadow": Call("enter", then="gather"), "end": "finish"},
            ),
            State("gather", paths.GATHER, {"done": "light"}),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        order=("->arrive", "arrive", "light", "->gather", "gather", "finish", "begin", "root", *taken(primary)),
        groups={"ray": (("->arrive", "arrive"), ("->gather", "gather"))},
        resumes=True,
    )
