"""Prints the GLSL that a machine generates, with the file and line (or the generator's part) of each line at its left.

``python tools/glsl.py [--program NAME] [--machine multipass|singlepass] [--fuse none|ray|surface] [--step NAME]
[--counting] [--mask NAME] [--layers] [--accel NAME] [--traversal NAME] [--intersection NAME]``; needs no OpenGL. The
scene is the Cornell box: others differ in their materials and the addressing of their memories alone.
Without ``--step`` every pass of the machine is printed, those of its masks and census at the end.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

if __name__ == "__main__":  # the checkout goes before an installed package
    sys.path.insert(0, str(Path(__file__).resolve().parent / "editable"))

import raystream
from raystream.base.errors import ViewerError
from raystream.options import table as options
from raystream.programs import LEVELS, PICTURES, trace
from raystream.renderer.inputs.prepared import prepare
from raystream.stream.compile.generate import Form, fragment
from raystream.stream.compile.link import LinkedProgram, origin
from raystream.stream.compile.memories import MAX_ROW_TEXELS, PlannedAddresses
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module
from raystream.stream.declare.program import Program
from raystream.stream.machines import MACHINES
from raystream.stream.machines.common import TILE_EDGE
from raystream.stream.machines.mask import MASKS, census_sources, stream_sources


def sources(
    program: Program, machine: str, fuse: str, mask: str, counting: bool, parts: Sequence[Module]
) -> Iterator[tuple[str, tuple[str, ...], Source]]:
    """The passes of a machine, in its order: name, states, fragment program; masks and census have no states."""
    linked = LinkedProgram(program, parts)
    single = machine == "singlepass"
    if single or fuse != "none":
        linked = linked.inlined()  # as the renderer does where a pass takes a ray to its hit
    form = Form(scheduled=not single, discards=not single and MASKS[mask].discards)
    addresses = PlannedAddresses(MAX_ROW_TEXELS)
    steps = [linked.single()] if single else linked.steps(fuse)
    for step in steps:
        yield step.name, step.states, fragment(linked, step, form, addresses)
        for part in linked.count_parts(step) if counting else ():
            source = fragment(linked, step, replace(form, counts=part), addresses)
            yield f"{step.name}, counts {part[0]} to {part[-1]}", step.states, source
    if not single:
        for name, source in stream_sources(linked, steps):
            yield name, (), source
        for number, source in enumerate(census_sources(linked, steps, TILE_EDGE)):
            yield f"census {number}", (), source


def listing(source: Source) -> Iterator[str]:
    """The lines with their origins at the left."""
    width = max(len(str(place)) for _, place in source.lines)
    for text, place in source.lines:
        yield f"{place!s:{width}} | {text}".rstrip()


def main(argv: Sequence[str] | None = None) -> int:
    """Print; 0, or 2 with one line on standard error."""
    parser = argparse.ArgumentParser(prog="glsl.py", description=__doc__.splitlines()[0])
    choices = {"--program": [*PICTURES, "trace"], "--machine": list(MACHINES), "--mask": list(MASKS)}
    for flag, default in {"--program": "cast", "--machine": "multipass", "--mask": "depth"}.items():
        parser.add_argument(flag, default=default, choices=choices[flag])
    parser.add_argument("--fuse", default="none", help="none (the default), or a group of the program: ray, surface")
    for name in ("accel", "traversal", "intersection"):
        option = options.option(name)
        parser.add_argument(option.flag, default=option.value.default, choices=option.value.choices or None)
    parser.add_argument("--step", help="one pass, by its name; a fused one by any of its states")
    parser.add_argument("--counting", action="store_true", help="with the counters")
    parser.add_argument("--layers", action="store_true", help="with the states that fill normal and albedo")
    arguments = parser.parse_args(argv)
    try:
        recipe = {name: getattr(arguments, name) for name in ("accel", "traversal", "intersection")}
        prepared = prepare(raystream.load("cornell"), **recipe)
        traversal = LEVELS[prepared.structure.levels]
        if arguments.layers and arguments.program != "cast":
            raise ViewerError("--layers", f"are not those of program {arguments.program}", "take --program cast")
        form = {"layers": True} if arguments.layers else {}
        program = trace(traversal) if arguments.program == "trace" else PICTURES[arguments.program](traversal, **form)
        if arguments.fuse != "none" and arguments.fuse not in program.groups:
            raise ViewerError("--fuse", f"unknown group '{arguments.fuse}'", f"none or {', '.join(program.groups)}")
        stepwise = arguments.machine == "multipass" and arguments.fuse == "none"
        parts = prepared.modules(stepwise, "film" in program.inputs)
        passes = list(sources(program, arguments.machine, arguments.fuse, arguments.mask, arguments.counting, parts))
        step = arguments.step
        selected = [
            (name, text) for name, states, text in passes if step in (None, name, *states, *map(origin, states))
        ]
        if not selected:
            names = ", ".join(name for name, _, _ in passes)
            raise ViewerError("--step", f"no step '{arguments.step}'", f"there are {names}")
    except ViewerError as error:
        print(f"glsl.py: error: {error}", file=sys.stderr)
        return 2
    try:
        for name, source in selected:
            print(f"==== {arguments.program}, {arguments.machine}: {name} ====", *listing(source), sep="\n")
        sys.stdout.flush()
    except BrokenPipeError:  # a pager that was left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
