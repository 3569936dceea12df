"""``raystream graph``: a program's states, kernels, exits and streams as a diagram, an SVG file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from viewer.base import part_file
from viewer.base.errors import ViewerError
from viewer.cli.outputs import STANDARD_OUTPUT
from viewer.options.declare import suggestion
from viewer.programs import LEVELS, photon_emission, photon_frame, ray_cast, trace
from viewer.programs.diagram import draw_program
from viewer.programs.path_trace import path_trace
from viewer.programs.photon_map import photon_map
from viewer.programs.shadow_cast import shadow_cast
from viewer.programs.whitted import whitted_trace
from viewer.stream.declare.program import Program

TREE = 2  # surfaces of a path: as many levels as a stack needs to be seen as one

# Each with what it is, for the diagram's head.
PROGRAMS: dict[str, tuple[Callable[[], Program], str]] = {
    "ray_cast": (ray_cast, "eye rays, traversal, intersection, shading"),
    "ray_cast_instances": (lambda: ray_cast(LEVELS[2]), "a structure over instances, and one in each object"),
    "shadow_cast": (shadow_cast, "first hits, and a shadow ray to every light"),
    "whitted": (lambda: whitted_trace(depth=TREE), f"a shade tree without recursion, here of depth {TREE}"),
    "path_trace": (path_trace, "paths of surfaces, with light chosen at each"),
    "photon": (lambda: photon_map(depth=TREE), f"Whitted's tree of depth {TREE} with the radiance estimate"),
    "photon_gather": (lambda: photon_map(depth=TREE, gather=True), f"final gather, tree of depth {TREE}"),
    "photon_nearest": (lambda: photon_map(depth=TREE, search="nearest"), f"the nearest photons, tree of depth {TREE}"),
    "photon_emission": (photon_emission, "photons leave the lights"),
    "photon_trace": (photon_frame, "the photons of one bounce, from those of the bounce before"),
    "trace": (trace, "given rays to their hits"),
}
# As --program has them.
OTHER_NAMES = {"cast": "ray_cast", "shadow": "shadow_cast", "path": "path_trace"}


def graph(name: str) -> str:
    """The SVG document of a program. Raises ViewerError for an unknown name, with the known ones."""
    known = OTHER_NAMES.get(name, name)
    if known not in PROGRAMS:
        names = f"there are {', '.join(PROGRAMS)}"
        close = suggestion(name, (*PROGRAMS, *OTHER_NAMES))
        raise ViewerError(f"program '{name}'", "unknown", f"{close} {names}" if close else names)
    make, caption = PROGRAMS[known]
    return draw_program(make(), caption).svg(f"{known}: {caption}")


def write_graph(name: str, output: str | None) -> None:
    """Write it to a file, ``NAME.svg`` without one, or with ``-`` to standard output. Raises ViewerError."""
    text = graph(name)
    if output == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    target = Path(output or f"{OTHER_NAMES.get(name, name)}.svg")
    if target.suffix.lower() != ".svg":
        raise ViewerError(str(target), "a diagram is an SVG", "name a file that ends in .svg, or - for standard output")
    try:
        part = part_file.begin(target)
        try:
            part.path.write_text(text, encoding="utf-8")
            part.path.replace(target)
        finally:
            part.end()
    except OSError as error:
        raise ViewerError(str(target), f"cannot be written: {error.strerror or error}", "choose another -o") from None
