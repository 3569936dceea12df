"""The papers' programs over a uniform grid, linked as their machines run them, without OpenGL; and rows as of table 5.1
of Purcell 2004 for this project's own, which the cost model takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import raystream
from raystream.programs import PICTURES, traversal_states
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.inputs.settings import Settings
from raystream.stream.analysis.instructions import Instructions, instructions
from raystream.stream.compile.link import LinkedProgram
from reproduction.published.chapter5 import KernelRow
from reproduction.simulators.counts.words import Words, words

# The kernels of table 5.1, and the states of each program that do their work: what is one kernel there may be several
# here, of which a surface's shading runs each once. The tracers' shadow caster goes through lights one by one, where
# the published one makes a single shadow ray; the ray that finds its light blocked is resolved by a state of its own.
ALL = ("cast", "shadow", "whitted", "path")
SHADING = ("shadow", "whitted", "path")
PUBLISHED_KERNELS: dict[str, dict[str, tuple[str, ...]]] = {
    "Generate Eye Ray": {"cast": ("eye",), **dict.fromkeys(SHADING, ("begin",))},
    "Traverse: Setup": dict.fromkeys(ALL, ("setup",)),
    "Traverse: Step": dict.fromkeys(ALL, ("traverse",)),
    "Intersect": dict.fromkeys(ALL, ("intersect",)),
    "Shade: Color": {"cast": ("shade",), **dict.fromkeys(SHADING, ("arrive",))},
    "Shade: Shadow": dict.fromkeys(SHADING, ("light", "resolve")),
    "Shade: Reflected": {"whitted": ("reflect",)},
    "Shade: Path": {"path": ("scatter",)},
}
# As the papers have them: a grid, the published intersection test, random numbers from a texture.
RECIPE: dict[str, Any] = {"accel": "grid", "intersection": "moller-trumbore", "sampler": "table"}


def published_program(name: str = "cast", **options: Any) -> LinkedProgram:
    """A program of pictures of the Cornell box (``cast``, ``shadow``, ``whitted``, ``path``), a pass for every kernel.

    options : of `raystream.renderer.inputs.settings.Settings`, over a grid, the published test and random numbers of a
    table. Raises ViewerError.
    """
    settings = Settings().replace(**{**RECIPE, "program": name, **options})
    prepared = prepare(raystream.load("cornell"), settings)
    program = PICTURES[name](traversal_states(prepared.structure.levels, prepared.structure.tests_box))
    parts = prepared.modules(True, "film" in program.inputs, settings.sampler)
    return LinkedProgram(program, parts)


def kernel_rows(
    program: LinkedProgram, machine: str = "SIMD", counts: Mapping[str, Instructions] | None = None
) -> dict[str, KernelRow]:
    """By the names of table 5.1, those that a program of pictures has; of several states that do a kernel's work the
    sum.

    counts : of its states, if they have been counted. Raises `NoCompiler` without them and without glslangValidator.
    """
    counted = instructions(program) if counts is None else counts
    held = words(program, machine)
    found = {}
    for kernel, programs in PUBLISHED_KERNELS.items():
        states = programs.get(program.program.name, ())
        if states:
            parts = [counted[state] for state in states]
            number = sum(each.several if machine == "SIMD" else each.branching for each in parts)
            row = Words(*(sum(column) for column in zip(*(held[state] for state in states), strict=True)))
            found[kernel] = KernelRow(number, *row)
    return found
