"""Table 5.3: the kernels on the Radeon 9700 Pro, textures read and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from raystream.stream.declare.limits import LIMITS
from reproduction.simulators.counts import PUBLISHED_KERNELS, Instructions

from ..context import Context
from ..counted import STEP_BY_AXIS, as_described, counted, program, program_of
from ..published.chapter5 import HARDWARE, RATES, TABLE_5_1, TABLE_5_3
from ..report import (
    ARITHMETIC,
    CLAIM,
    COUNT,
    NOT_HERE,
    OWN,
    Cell,
    Check,
    Parts,
    about,
    beside,
    concluded,
    faults,
    near,
    section,
    tabled,
)

SAME = ("Generate Eye Ray", "Traverse: Setup", "Traverse: Step", "Intersect")
ALIKE = "the same algorithm, written down independently"
OTHER = "ours shades any material and light"
TEXTURES = (
    "ours read each memory of the scene and each four words of a stream as a texture of its own, "
    "where the published ones are laid out by hand"
)


@section("table_5_3", paper="D table 5.3", title="Kernels on the Radeon 9700 Pro (table 5.3)", order=3)
def table_5_3(context: Context) -> Parts:
    """Instructions with fetches and addresses; RGBA float textures of streams, state and scene."""
    counts, absent = counted(context)
    if absent is not None:
        yield absent
    plain = as_described(context) if counts else {}
    rows: list[tuple[Any, ...]] = []
    checks, most, grades = [], LIMITS["2004"].outputs, []
    for kernel, theirs in TABLE_5_3.items():
        name = program_of(kernel)
        linked, states = program(name), PUBLISHED_KERNELS[kernel][name]
        steps = [step for step in linked.steps("none") if step.name in states]
        read = [linked.sampler_count(step) for step in steps]
        written = [linked.attachment_count(step) for step in steps]
        number = sum(counts[name][state].all for state in states) if counts else "-"
        instructions = _instructions(kernel, theirs.instructions, number, plain)
        textures = (beside(a, _sum(b), TEXTURES) for a, b in ((theirs.read, read), (theirs.written, written)))
        passes = sum(-(-count // most) for count in written)
        rows.append((kernel, ", ".join(states), instructions, *textures, passes))
        if counts and kernel in SAME:
            close = about(theirs.instructions, float(number), COUNT)
            what = f"{kernel}: instructions within a quarter"
            checks.append(Check(CLAIM, what, theirs.instructions, number, close, _tried(kernel, plain), ALIKE))
            grades.append(close)
    theirs_most = max(row.written for row in TABLE_5_3.values())
    what = "outputs of a pass: what --limits 2004 grants is what the published kernels use at most"
    checks.append(Check(OWN, what, theirs_most, most, theirs_most == most, "the hardware of 2004 has four"))
    checks += _rates()
    yield tabled("of_a_pass", rows, checks)
    if grades:
        of = f"{sum(grades)} of the {len(grades)} kernels compared"
        yield concluded("kernels_fit", grades, f"{of} are within a quarter of the printed number")
    yield from faults("D 5.3")


def _instructions(kernel: str, theirs: int, number: Any, plain: dict[str, Instructions]) -> Cell:
    if number == "-":
        return beside(theirs, number, NOT_HERE)
    if kernel in SAME:
        return near(theirs, number, COUNT, ALIKE, _tried(kernel, plain))
    tried = f"; as the papers describe it, it takes {plain[kernel].all} by our rules" if kernel in plain else ""
    return beside(theirs, number, OTHER + tried)


def _tried(kernel: str, plain: dict[str, Instructions]) -> str:
    """What was tried of a kernel of eye rays or of the walk, where it differs."""
    if not plain:
        return NOT_HERE.partition(": ")[2]
    if kernel != "Traverse: Step":
        return f"as the papers describe it, it takes {plain[kernel].all} by our rules"
    by_axis = plain[STEP_BY_AXIS]
    return (
        f"as described it takes {plain['Traverse: Step'].all} by our rules; written axis by axis, with the seven "
        f"textures read and the four written that are printed, {by_axis.all}"
    )


def _sum(counts: list[int]) -> Any:
    return counts[0] if len(counts) == 1 else " + ".join(map(str, counts))


def _rates() -> Iterator[Check]:
    """What the hardware's rate and the kernel's length say of tests a second."""
    instructions = TABLE_5_1["MIMD"]["Intersect"].instructions
    for name, rate in (("ray-triangle tests (P2)", 2e9), ("ray-triangle tests at 8 G (P2)", 8e9)):
        said = RATES[name]
        assert isinstance(said, float)
        found = rate / instructions
        what, same = f"{name}: {rate / 1e9:g} G / {instructions}", abs(found / said - 1) < 0.01
        yield Check(ARITHMETIC, what, said, float(f"{found:.3g}"), same, bound="to the printed digits")
    peak, found = RATES["ray-triangle tests, peak (D)"], HARDWARE["Radeon 9700 Pro (D)"]["instructions"] / 59
    assert isinstance(peak, float)
    why = "by its own table the hardware's instructions are enough for less than half of that"
    what = "peak of ray-triangle tests (D): 2.5 G / 59 instructions of table 5.3"
    yield Check(ARITHMETIC, what, peak, float(f"{found:.3g}"), about(peak, found, COUNT), why)
