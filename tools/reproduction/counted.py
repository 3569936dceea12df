"""What the sections on counts share: counts of the papers' programs, kept; and of the kernels of table 5.1 as the
papers describe them, in floats alone (``plain_kernels.glsl``), so that our rules can count them.

Programs of the day have no integers: an address of a voxel, a list or a triangle is a float, which a product, a floor
and a remainder turn into a place in a texture. A grid's walk keeps the distances to the next voxels and adds to them
(Amanatides and Woo 1987), where this project's finds them anew. Eye rays are tested against the scene's box, and
hand on their direction and where they enter it: four words, which set-up reads with the origin, and writes the
twelve of voxel, distances, their steps and the voxel's. Shading is of one point light, of interpolated normals
and colours. Streams are read and written as whole texels of four floats.

Sources: Purcell et al. (2002), section 3 and figure 5; Purcell (2004), sections 3.3, 5.1 and 5.3.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from raystream.stream.analysis.instructions import Instructions, count, instructions
from raystream.stream.analysis.spirv import NoCompiler
from raystream.stream.compile.link import LinkedProgram
from reproduction.simulators.counts import PUBLISHED_KERNELS, Words, published_program, words

from .context import Context
from .report import Absent

PROGRAMS = ("cast", "shadow", "whitted", "path")
GRID = 8  # of the Cornell box: counts do not depend on it
# The step again, an axis after the other, with the seven textures that table 5.3 reads and the four that it writes.
STEP_BY_AXIS = "Traverse: Step, axis by axis"
Counts = dict[str, dict[str, Instructions]]  # by program and state


@cache
def plain_counts() -> dict[str, Instructions]:
    """By the names of table 5.1, and `STEP_BY_AXIS`. Raises `NoCompiler` without glslangValidator."""
    text = (Path(__file__).parent / "plain_kernels.glsl").read_text(encoding="utf-8")
    head, *parts = re.split(r"^// -- (.*)\n", text, flags=re.MULTILINE)
    return {name: count(head + kernel) for name, kernel in zip(parts[::2], parts[1::2], strict=True)}


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


def counted(context: Context) -> tuple[Counts, Absent | None]:
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


def of_kernel(kernel: str, counts: Counts) -> Instructions | None:
    """Of a kernel of table 5.1: of the states together that do its work, each once."""
    name = program_of(kernel)
    if name not in counts:
        return None
    return sum((counts[name][state] for state in PUBLISHED_KERNELS[kernel][name]), Instructions())


def words_of(kernel: str, machine: str) -> Words:
    """The same of its words."""
    name = program_of(kernel)
    each = [all_words(name, machine)[state] for state in PUBLISHED_KERNELS[kernel][name]]
    return Words(*(sum(column) for column in zip(*each, strict=True)))
