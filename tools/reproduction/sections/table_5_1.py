"""Table 5.1 of the dissertation, table 1 of the paper of 2002: instructions and words of every kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproduction.simulators.counts import MACHINES, PUBLISHED_KERNELS, Instructions

from ..context import Context
from ..counted import PROGRAMS, all_words, as_described, counted, of_kernel, program_of, words_of
from ..published.chapter5 import TABLE_5_1
from ..report import (
    CLAIM,
    COUNT,
    NOT_HERE,
    OWN,
    Cell,
    Check,
    Parts,
    Table,
    about,
    beside,
    concluded,
    faults,
    near,
    section,
    table,
    tabled,
    told,
)

RECORDS = (
    "our records hold the end of a ray's interval, barycentric weights, instances and colours of any "
    "material, as the text below tells"
)
WALK = ("Traverse: Setup", "Traverse: Step", "Intersect")
GRADED = ("Generate Eye Ray", *WALK)  # which do the same work in both
# By kernel, why ours differs, and what remains of it as it is described.
DIFFERS = {kernel: differs for kernel, differs, _ in table("sections/kernels")}
REMAINS = {kernel: remains for kernel, _, remains in table("sections/kernels")}
OTHERS = "our records are read otherwise"
QUARTER = "the same algorithm, written down independently: registers and addresses are made otherwise"


@section("table_5_1", paper="D table 5.1, P2 table 1", title="Kernels: instructions and words (table 5.1)", order=1)
def table_5_1(context: Context) -> Parts:
    """Both machines' columns beside ours, and all states of four programs."""
    counts, absent = counted(context)
    if absent is not None:
        yield absent
    plain = as_described(context) if counts else {}
    for machine in MACHINES:
        yield _published(machine, counts, plain)
    if plain:
        yield _described(plain)
    yield told("table_5_1")
    if counts:
        short = {kernel: kernel.split(": ")[-1].lower() for kernel in GRADED}
        printed = {kernel: TABLE_5_1["SIMD"][kernel].instructions for kernel in GRADED}
        figures = (f"{short[kernel]} {_own(counts, kernel)} for {printed[kernel]}" for kernel in GRADED)
        yield concluded("kernels_short", [_close(counts, kernel) for kernel in GRADED], ", ".join(figures))
    for name in PROGRAMS:
        yield _states(name, counts.get(name, {}))
    yield from faults("table 5.1", "P2 table 1")


def _instructions(kernel: str, theirs: float, number: Any, plain: dict[str, Instructions]) -> Cell:
    """Graded for the kernels of eye rays and of the walk, which do the same work in both."""
    if number == "-":
        return beside(theirs, number, NOT_HERE)
    tried = ""
    if kernel in plain:
        alone, all_ = plain[kernel].arithmetic, plain[kernel].all
        tried = f"; as described it takes {alone} by our rules, {all_} with fetches and addresses"
    if kernel in GRADED:
        return near(theirs, number, COUNT, QUARTER, DIFFERS[kernel] + tried)
    return beside(theirs, number, DIFFERS[kernel] + tried)


def _described(plain: dict[str, Instructions]) -> Table:
    """The kernels written as the papers describe them, beside the printed numbers."""
    rows: list[tuple[Any, ...]] = []
    grades = []
    for kernel, theirs in TABLE_5_1["SIMD"].items():
        alone, all_ = plain[kernel].arithmetic, plain[kernel].all
        inside = TABLE_5_1["MIMD"][kernel].instructions
        cells = [
            near(float(printed), own, COUNT, "the same work, by our rules", REMAINS[kernel])
            for printed, own in ((inside, alone), (theirs.instructions, all_))
        ]
        grades.append(all(cell.agrees for cell in cells))
        rows.append((kernel, *cells))
    return tabled("the_kernels_as_the_papers", rows)


def _published(machine: str, counts: dict[str, dict[str, Instructions]], plain: dict[str, Instructions]) -> Table:
    rows: list[tuple[Any, ...]] = []
    checks: list[Check] = []
    for kernel, theirs in TABLE_5_1[machine].items():
        ours, mine = words_of(kernel, machine), of_kernel(kernel, counts)
        name = program_of(kernel)
        number: Any = "-"
        if mine is not None:
            number = mine.several if machine == "SIMD" else mine.branching
        states = f"{name}: {', '.join(PUBLISHED_KERNELS[kernel][name])}"
        cells = [beside(a, b, RECORDS) for a, b in zip(theirs[1:], ours, strict=True)]
        instructions = _instructions(kernel, theirs.instructions, number, plain)
        rows.append((kernel, states, instructions, *(cells if machine == "SIMD" else cells[:3])))
    if machine == "SIMD":
        checks += _simd_checks(counts)
    else:
        stream = sum(sum(words_of(kernel, "MIMD")[:2]) for kernel in WALK)
        what = "MIMD: stream words of setup, step and intersection, for each call"
        checks.append(Check(OWN, what, 0, stream, stream == 0, "a single pass hands words through memory"))
        if counts:
            each = [of_kernel(kernel, counts) for kernel in TABLE_5_1["MIMD"]]
            fewer = sum(one is not None and one.branching <= one.several for one in each)
            what = "kernels with no more instructions on MIMD than on SIMD"
            why = "a branching machine loads and stores nothing"
            checks.append(Check(CLAIM, what, len(each), fewer, fewer == len(each), why))
    return tabled(f"{machine.lower()}_of_a_call", rows, checks)


def _simd_checks(counts: dict[str, dict[str, Instructions]]) -> Iterator[Check]:
    step, test = words_of("Traverse: Step", "SIMD"), words_of("Intersect", "SIMD")
    yield Check(CLAIM, "words that a step fetches at random: a voxel's", 1, step.random, step.random == 1, OTHERS)
    also = "and the triangle's number, which the published list holds"
    one = abs(test.random - 10) <= 1
    what = "words that a test fetches: a list entry, nine of a triangle; to a word"
    yield Check(CLAIM, what, 10, test.random, one, bound=also)
    table = TABLE_5_1["SIMD"]
    for kernel in GRADED if counts else ():
        mine, printed = _own(counts, kernel), table[kernel].instructions
        what, close = f"{kernel}: instructions within a quarter", _close(counts, kernel)
        yield Check(CLAIM, what, printed, mine, close, DIFFERS[kernel], bound=QUARTER)
    over = [kernel for kernel, row in table.items() if row.written > 8]
    what, theirs = "words written, of two outputs of four words each", f"{len(over)} published kernels write more"
    ours = f"ours: setup {words_of('Traverse: Setup', 'SIMD').written}, the step {step.written}"
    why = "P2's own machine needs two passes for them, as for setup (12), which only table 5.2 counts twice"
    yield Check(OWN, what, theirs, ours, None, why)


def _own(counts: dict[str, dict[str, Instructions]], kernel: str) -> int:
    """Instructions of ours on the SIMD machine."""
    mine = of_kernel(kernel, counts)
    assert mine is not None
    return mine.several


def _close(counts: dict[str, dict[str, Instructions]], kernel: str) -> bool:
    theirs = TABLE_5_1["SIMD"][kernel].instructions
    return about(theirs, _own(counts, kernel), COUNT)


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
    return tabled("program_name_all_states", rows, name=name)
