"""A picture of how far surfaces face the camera, by a kernel of its own. An entry point of ``raystream.programs``."""

from __future__ import annotations

from pathlib import Path

from raystream.kernels import paths
from raystream.kernels.records import FILM, HIT, MEDIA, PATH, PIXEL, RADIANCE, RAY
from raystream.programs.first_hits import first_hit_states, first_hit_streams
from raystream.programs.registry import PictureProgram
from raystream.programs.traversal import FLAT, TraversalStates
from raystream.stream.declare.kernel import IN, INOUT, Kernel
from raystream.stream.declare.program import DONE, Call, Program, State

FACE = Kernel(
    "face_camera",
    (IN("ray", RAY), IN("hit", HIT), INOUT("radiance", RADIANCE)),
    exits=("done",),
    needs=("geometry_at",),
    source=str(Path(__file__).with_name("face_camera.glsl")),
)


def facing(traversal: TraversalStates = FLAT, first_hits: str = "rays") -> Program:
    """Pixels and their film, to which the cosine at each sample's first surface is added."""
    begin = State("begin", paths.BEGIN, {"ray": Call("setup", then="face"), "done": DONE})
    own = {"pixel": PIXEL, "film": FILM, "path": PATH, "media": MEDIA, "radiance": RADIANCE}
    return Program(
        "facing",
        streams={**own, **first_hit_streams(first_hits), **traversal.streams},
        inputs=("pixel", "film", *first_hit_streams(first_hits)),
        results=("film",),
        states=(
            *first_hit_states(first_hits, begin),
            *traversal.states,
            State("face", FACE, {"done": "finish"}),
            State("finish", paths.FINISH, {"again": "begin", "done": DONE}),
        ),
        start="begin",
        groups={"ray": (("->face", "face"),), "surface": (("->face", "face", "finish", "begin"),)},
        resumes=True,
    )


PROGRAM = PictureProgram("facing", facing, "how far surfaces face the camera", "eye rays and a cosine")
