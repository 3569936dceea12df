"""Rows as of table 5.1 of Purcell 2004 for this project's own programs: what the cost model takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from reproduction.simulators.counts.programs import PUBLISHED_KERNELS
from reproduction.simulators.counts.words import Words, words
from viewer.stream.analysis.instructions import Instructions, instructions
from viewer.stream.compile.link import LinkedProgram


class Kernel(NamedTuple):
    """A call of a kernel: 4-wide instructions; 32-bit words read and written between passes and fetched at random;
    8-bit states read and written."""

    instructions: float
    read: float
    written: float
    random: float
    state_read: float = 0
    state_written: float = 0


def kernel_rows(
    program: LinkedProgram, machine: str = "SIMD", counts: Mapping[str, Instructions] | None = None
) -> dict[str, Kernel]:
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
            found[kernel] = Kernel(number, *row)
    return found
