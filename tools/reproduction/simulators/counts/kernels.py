"""Rows as of table 5.1 of Purcell 2004 for this project's own programs: what the cost model takes."""

from __future__ import annotations

from collections.abc import Mapping

from raystream.stream.analysis.instructions import Instructions, instructions
from raystream.stream.compile.link import LinkedProgram
from reproduction.published.chapter5 import KernelRow
from reproduction.simulators.counts.programs import PUBLISHED_KERNELS
from reproduction.simulators.counts.words import Words, words


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
