"""The scenes of the report and their files."""

from __future__ import annotations

from collections.abc import Iterator

from ..context import Context
from ..model import OURS, Part, Table
from ..registry import section
from ..scene_files import FILES, SCENES


@section("scene_files", paper="all", title="Scenes and their files", order=-1)
def make(context: Context) -> Iterator[Part]:
    """What shows each scene of the papers, and where files come from."""
    yield Table(
        "Scenes of the papers, and what shows them",
        ("paper: scene", "here", "why"),
        [(each.published, each.here, each.why) for each in SCENES],
        note="Names without an ending are scenes that Raystream builds itself.",
        own=OURS,
    )
    yield Table(
        "Files",
        ("file", "from", "triangles", "SHA-256 of positions and triangles", "without it"),
        [(each.name, each.source, f"{each.triangles:,}", each.digest, each.otherwise) for each in FILES],
        note="They go into the folder scenes of the one that RAYSTREAM_SHARED names. The checksum is of float32 "
        "positions and int32 triangles as loaded, so that the format does not matter; python tools/reproduce.py "
        "--scenes FOLDER looks it up. The PLY of an archive may be put there under the file's name.",
        own=OURS,
    )
