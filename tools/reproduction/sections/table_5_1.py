"""Table 5.1 of the dissertation, table 1 of the paper of 2002: instructions and words of every kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproduction.simulators.counts import PUBLISHED_KERNELS, Instructions

from ..context import Context
from ..counted import MACHINES, PROGRAMS, all_words, counted, faults, of_kernel, program_of, words_of
from ..model import Cell, Check, Part, Table, Text
from ..published.chapter5 import TABLE_5_1
from ..registry import section

# Of the same test and the same walk, written down independently: registers are packed, and addresses made, otherwise.
NEAR = 0.25
WALK = ("Traverse: Setup", "Traverse: Step", "Intersect")
NOTE = {
    "SIMD": "Published / ours. A pass for every call: words of all streams that the kernel's declaration reads and "
    "writes, without padding to texels; states of 8 bits, ours the ray's own and the one that it returns to. "
    "Instructions: ours are arithmetic ones and those that set the state; addresses within a texture and fetches are "
    "apart, as a vertex program's set has neither; the rules stand in viewer/stream/analysis/instructions.py.",
    "MIMD": "Published / ours. One pass: streams of the program's own inputs and results alone, no state; instructions "
    "of the kernel alone, and a jump for loops and branches that fetch.",
}

DIFFERS = (
    "What differs: rays here carry the end of their interval and what they may pass through, hits two barycentric "
    "weights, a triangle and an instance; the walk keeps the reciprocal of the direction and finds the ends of voxels "
    "anew in each step, so that no error builds up: Step reads more and writes less. Colours come from vertices, "
    "materials and textures of any scene: Shade reads 51 words, not 21. A camera's corner and edges make eye rays, in "
    "a quarter of the instructions; those of the shadow caster and the tracers sample pixel and lens. The shadow "
    "caster takes light by light, each of any of the kinds that a scene may have."
)


@section("table_5_1", paper="D table 5.1, P2 table 1", title="Kernels: instructions and words (table 5.1)", order=1)
def table_5_1(context: Context) -> Iterator[Part]:
    """Both machines' columns beside ours, and all states of four programs."""
    counts, absent = counted(context)
    if absent is not None:
        yield absent
    for machine in MACHINES:
        yield _published(machine, counts)
    yield Text(DIFFERS)
    for name in PROGRAMS:
        yield _states(name, counts.get(name, {}))
    yield from faults("table 5.1", "P2 table 1")


def _published(machine: str, counts: dict[str, dict[str, Instructions]]) -> Table:
    rows: list[tuple[Any, ...]] = []
    checks: list[Check] = []
    for kernel, theirs in TABLE_5_1[machine].items():
        ours, mine = words_of(kernel, machine), of_kernel(kernel, counts)
        name = program_of(kernel)
        number: Any = "-"
        if mine is not None:
            number = mine.several if machine == "SIMD" else mine.branching
        states = f"{name}: {', '.join(PUBLISHED_KERNELS[kernel][name])}"
        cells = [Cell(a, b) for a, b in zip(theirs[1:], ours, strict=True)]
        rows.append((kernel, states, Cell(theirs.instructions, number), *(cells if machine == "SIMD" else cells[:3])))
    if machine == "SIMD":
        checks += _simd_checks(counts)
    else:
        stream = sum(sum(words_of(kernel, "MIMD")[:2]) for kernel in WALK)
        checks.append(
            Check("MIMD: stream words of setup, step and intersection, for each call", 0, stream, stream == 0)
        )
        if counts:
            each = [of_kernel(kernel, counts) for kernel in TABLE_5_1["MIMD"]]
            fewer = sum(one is not None and one.branching <= one.several for one in each)
            what = "kernels with no more instructions on MIMD than on SIMD"
            checks.append(Check(what, len(each), fewer, fewer == len(each)))
    columns = ("kernel", "states here", "instr", "R", "W", "M", *(("RS", "WS") if machine == "SIMD" else ()))
    return Table(f"{machine}: of a call", columns, rows, NOTE[machine], checks)


def _simd_checks(counts: dict[str, dict[str, Instructions]]) -> Iterator[Check]:
    step, test = words_of("Traverse: Step", "SIMD"), words_of("Intersect", "SIMD")
    yield Check("words that a step fetches at random: a voxel's", 1, step.random, step.random == 1)
    why = "and the triangle's number, which the published list holds"
    yield Check("words that a test fetches: a list entry, nine of a triangle", 10, test.random, test.random == 11, why)
    table = TABLE_5_1["SIMD"]
    for kernel in WALK if counts else ():
        mine, theirs = of_kernel(kernel, counts), table[kernel].instructions
        assert mine is not None
        near = abs(mine.several - theirs) <= NEAR * theirs
        yield Check(f"{kernel}: instructions within a quarter", theirs, mine.several, near, "the same algorithm")
    over = [kernel for kernel, row in table.items() if row.written > 8]
    yield Check(
        "words written, of two outputs of four words each",
        f"{len(over)} kernels write more",
        f"setup {words_of('Traverse: Setup', 'SIMD').written}, the step {step.written}",
        None,
        "P2's own machine needs two passes for them, as for setup (12), which only table 5.2 counts twice",
    )


def _states(name: str, counts: dict[str, Instructions]) -> Table:
    """Every state of a program."""
    used, padded, single = all_words(name, "SIMD"), all_words(name, "SIMD", True), all_words(name, "MIMD")
    rows = []
    for state in used:
        found = counts.get(state)
        parts = ("all", "arithmetic", "textures", "addresses", "flow", "branching")
        each = [getattr(found, part) if found is not None else "-" for part in parts]
        now, texels = used[state], padded[state]
        read, written, random = (f"{a:g} ({b:g})" for a, b in zip(now[:3], texels[:3], strict=True))
        rows.append((state, *each, read, written, random, single[state].read, single[state].written))
    heads = ("state", "instr", "arithmetic", "fetches", "addresses", "flow", "MIMD", "R", "W", "M", "R MIMD", "W MIMD")
    note = "Words in brackets: texels of four words, as they lie in textures. Both arms of branches, loops once."
    return Table(f"Program {name}: all states", heads, rows, note)
