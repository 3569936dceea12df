"""The scenes of the report and their files."""

from __future__ import annotations

from ..context import Context
from ..report import Parts, section, tabled
from ..scene_files import FILES, SCENES


@section("scene_files", paper="all", title="Scenes and their files", order=-1)
def make(context: Context) -> Parts:
    """What shows each scene of the papers, and where files come from."""
    yield tabled("scenes_of_the_papers", [(each.published, each.here, each.why) for each in SCENES])
    rows = [(each.name, each.source, f"{each.triangles:,}", each.digest, each.otherwise) for each in FILES]
    yield tabled("files_of_scenes", rows)
