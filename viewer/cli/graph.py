"""``raystream graph``: a program's states, kernels, exits and streams as a diagram, an SVG file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from raystream.base import part_file
from raystream.base.errors import ViewerError
from raystream.base.part_file import STANDARD_OUTPUT
from raystream.options.declare import suggestion
from raystream.programs import LEVELS, PICTURES, photon_emission, photon_frame, ray_cast, trace
from raystream.programs.diagram import draw_program
from raystream.programs.photon_map import photon_map
from raystream.renderer.inputs.program_file import EXTENSION, read_program
from raystream.stream.declare.program import Program

TREE_DEPTH = 2  # surfaces of a path: as many levels as a stack needs to be seen as one


def drawings() -> dict[str, tuple[Callable[[], Program], str]]:
    """Programs and their captions, by name: the picture programs, other forms of them, and the rest."""
    programs: dict[str, tuple[Callable[[], Program], str]] = {}
    for name, program in PICTURES.items():
        form = program.arguments(depth=TREE_DEPTH)
        caption = program.caption + (f", here of depth {TREE_DEPTH}" if form else "")
        programs[name] = partial(program.make, **form), caption
    photon = partial(photon_map, depth=TREE_DEPTH)
    return {
        **programs,
        "cast_instances": (partial(ray_cast, LEVELS[2]), "a structure over instances, and one in each object"),
        "photon_gather": (partial(photon, gather=True), f"final gather, tree of depth {TREE_DEPTH}"),
        "photon_nearest": (partial(photon, search="nearest"), f"the nearest photons, tree of depth {TREE_DEPTH}"),
        "photon_emission": (photon_emission, "photons leave the lights"),
        "photon_trace": (photon_frame, "the photons of one bounce, from those of the bounce before"),
        "trace": (trace, "given rays to their hits"),
    }


def graph(name: str) -> str:
    """The SVG document of a program, by its name or file. Raises ViewerError for an unknown name, with the known
    ones."""
    if name.endswith(EXTENSION):
        name = read_program(name)
    programs = drawings()
    if name not in programs:
        names = f"there are {', '.join(programs)}"
        close = suggestion(name, programs)
        raise ViewerError(f"program '{name}'", "unknown", f"{close} {names}" if close else names)
    make, caption = programs[name]
    return draw_program(make(), caption).svg(f"{name}: {caption}")


def write_graph(name: str, output: str | None) -> None:
    """Write it to a file, ``NAME.svg`` without one, or with ``-`` to standard output. Raises ViewerError."""
    text = graph(name)
    if output == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    target = Path(output or f"{Path(name).stem}.svg")
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
