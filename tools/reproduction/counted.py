"""What the sections on counts share: counts of the papers' programs, kept."""

from __future__ import annotations

from functools import cache

from raystream.stream.compile.link import LinkedProgram
from reproduction.simulators.counts import (
    PUBLISHED_KERNELS,
    Instructions,
    NoCompiler,
    Words,
    instructions,
    published_program,
    words,
)

from .context import Context
from .plain_kernels import plain_counts
from .report import Absent

PROGRAMS = ("cast", "shadow", "whitted", "path")
GRID = 8  # of the Cornell box: counts do not depend on it


@cache
def program(name: str) -> LinkedProgram:
    """A program of the papers over a grid."""
    return published_program(name, grid=GRID)


@cache
def all_words(name: str, machine: str, padded: bool = False) -> dict[str, Words]:
    """Of all states of a program."""
    return words(program(name), machine, padded)


def program_of(kernel: str) -> str:
    """The program that a kernel of table 5.1 is counted in: the first that has it; reflections are Whitted's."""
    return next(name for name in PROGRAMS if name in PUBLISHED_KERNELS[kernel])


def counted(context: Context) -> tuple[dict[str, dict[str, Instructions]], Absent | None]:
    """Instructions by program and state; none, and why, without a compiler."""
    found = {}
    for name in PROGRAMS:
        try:
            kept = context.keep(
                ("instructions", name), lambda name=name: {s: vars(i) for s, i in instructions(program(name)).items()}
            )
        except NoCompiler as error:
            return {}, Absent("instructions", str(error))
        found[name] = {state: Instructions(**values) for state, values in kept.items()}
    return found, None


def as_described(context: Context) -> dict[str, Instructions]:
    """Of the kernels written as the papers describe them, by `plain_counts`; none without a compiler."""
    try:
        kept = context.keep(("as described",), lambda: {name: vars(each) for name, each in plain_counts().items()})
    except NoCompiler:
        return {}
    return {name: Instructions(**values) for name, values in kept.items()}


def of_kernel(kernel: str, counts: dict[str, dict[str, Instructions]]) -> Instructions | None:
    """Of a kernel of table 5.1: of the states together that do its work, each once."""
    name = program_of(kernel)
    if name not in counts:
        return None
    return sum((counts[name][state] for state in PUBLISHED_KERNELS[kernel][name]), Instructions())


def words_of(kernel: str, machine: str) -> Words:
    """The same of its words."""
    name = program_of(kernel)
    found = all_words(name, machine)
    each = [found[state] for state in PUBLISHED_KERNELS[kernel][name]]
    return Words(*(sum(column) for column in zip(*each, strict=True)))
