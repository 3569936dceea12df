"""Table 5.3: the kernels on the Radeon 9700 Pro, textures read and written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproduction.simulators.counts import PUBLISHED_KERNELS
from viewer.stream.declare.limits import LIMITS

from ..context import Context
from ..counted import counted, faults, program, program_of
from ..model import Cell, Check, Part, Table
from ..published.chapter5 import HARDWARE, RATES, TABLE_5_1, TABLE_5_3
from ..registry import section

NEAR = 0.25  # as in table 5.1


@section("table_5_3", paper="D table 5.3", title="Kernels on the Radeon 9700 Pro (table 5.3)", order=3)
def table_5_3(context: Context) -> Iterator[Part]:
    """Instructions with fetches and addresses; RGBA float textures of streams, state and scene."""
    counts, absent = counted(context)
    if absent is not None:
        yield absent
    rows: list[tuple[Any, ...]] = []
    checks, most = [], LIMITS["2004"].outputs
    for kernel, theirs in TABLE_5_3.items():
        name = program_of(kernel)
        linked, states = program(name), PUBLISHED_KERNELS[kernel][name]
        steps = [step for step in linked.steps("none") if step.name in states]
        read = [linked.samplers(step) for step in steps]
        written = [linked.attachments(step) for step in steps]
        number: Any = "-"
        if counts:
            number = sum(counts[name][state].all for state in states)
        passes = sum(-(-count // most) for count in written)
        rows.append(
            (kernel, ", ".join(states), Cell(theirs.instructions, number), Cell(theirs.read, _sum(read)))
            + (Cell(theirs.written, _sum(written)), passes)
        )
        if counts and kernel in ("Traverse: Setup", "Intersect"):
            near = abs(number - theirs.instructions) <= NEAR * theirs.instructions
            checks.append(Check(f"{kernel}: instructions within a quarter", theirs.instructions, number, near))
    theirs_most = max(row.written for row in TABLE_5_3.values())
    checks.append(Check("outputs of a pass", theirs_most, most, theirs_most <= most, "what the hardware has"))
    checks += _rates()
    note = (
        "Published / ours; ours read each memory of the scene and each four words of a stream as a texture of its own, "
        "and the state; kernels of two states: both. Passes: that four outputs allow, as --limits 2004 draws them. The "
        "published walk holds its state in more textures of which it uses fewer words."
    )
    heads = ("kernel", "states here", "instr", "read", "written", "passes of ours")
    yield Table("Of a pass", heads, rows, note, checks)
    yield from faults("D 5.3", "table 5.3")


def _sum(counts: list[int]) -> Any:
    return counts[0] if len(counts) == 1 else " + ".join(map(str, counts))


def _rates() -> Iterator[Check]:
    """What the hardware's rate and the kernel's length say of tests a second."""
    instructions = TABLE_5_1["MIMD"]["Intersect"].instructions
    for name, rate in (("ray-triangle tests (P2)", 2e9), ("ray-triangle tests at 8 G (P2)", 8e9)):
        said = RATES[name]
        assert isinstance(said, float)
        found = rate / instructions
        yield Check(
            f"{name}: {rate / 1e9:g} G / {instructions}", f"{said:.3g}", f"{found:.3g}", abs(found / said - 1) < 0.01
        )
    peak, found = RATES["ray-triangle tests, peak (D)"], HARDWARE["Radeon 9700 Pro (D)"]["instructions"] / 59
    why = "by its own table the hardware's instructions are enough for less than half of that"
    yield Check("peak of ray-triangle tests (D): 2.5 G / 59", f"{peak:.3g}", f"{found:.3g}", None, why)
