"""Several calls of a kernel in a pass: D 5.2.2, P2 4.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from reproduction.simulators.cost import cost
from reproduction.simulators.machines import unrolled, workload

from .. import measured, plots
from ..context import Context
from ..published.chapter5 import TABLE_5_1, UNROLL
from ..report import (
    CLAIM,
    POINTS,
    Check,
    Conclusion,
    Figure,
    Parts,
    Table,
    captioned,
    concluded,
    saves,
    section,
    tabled,
)

TIMES = (1, 2, 4, 8, 16)
PUBLISHED = int(UNROLL["steps"]), int(UNROLL["tests"])
# Claims, and how the statements of their checks end.
CLAIMS = {
    "unrolled_half": "in a pass: bytes",
    "suppressed_sixty": "suppressed: bytes",
    "instructions_little": "in a pass: instructions",
}
CURVES = {"both kernels": lambda n: (n, n), "traversal": lambda n: (n, 1), "intersection": lambda n: (1, n)}


@section("unrolling", paper="D 5.2.2, P2 4.2", title="Unrolled kernels: bandwidth and instructions")
def make(context: Context) -> Parts:
    """Bytes and instructions of a frame by calls in a pass, references of rays that have finished suppressed or not."""
    found = yield from measured.of_views(context, "unrolled", measured.size(context), curves)
    yield _table(found)
    further = list(_aggressive(found))
    yield from further
    yield from _conclusions(found, further)
    yield _figure(found)
    yield _alone(found)


def curves(context: Context, name: str) -> dict[str, list[float]]:
    """Of a view, by "steps tests" in a pass: passes, instructions, bytes, bytes with suppressed references, and
    instructions where every call loads and stores its streams; by "runs" the steps and tests that a ray makes one after
    the other, on average."""
    view = measured.eye(context, name)
    wanted = dict.fromkeys([(1, 1), PUBLISHED, *(pair(n) for pair in CURVES.values() for n in TIMES)])
    count = np.diff(view.runs.start)
    pairs = (view.runs.steps, (count + 1) // 2), (view.runs.tests, count // 2)
    found = {"runs": [float(calls.sum() / max(1, runs.sum())) for calls, runs in pairs]}
    alone = cost(workload(view.runs, view.shaded), TABLE_5_1["MIMD"], state=0.0)
    found["MIMD"] = [alone.total_instructions, alone.total_bytes]
    for steps, tests in wanted:
        each = unrolled(view.runs, view.shaded, TABLE_5_1["SIMD"], TABLE_5_1["MIMD"], steps, tests)
        found[f"{steps} {tests}"] = [
            *(each.passes, each.instructions, each.bytes, each.suppressed_bytes, each.full_instructions)
        ]
    return found


def changes(found: dict[str, list[float]], steps: int, tests: int) -> tuple[float, float, float, float]:
    """Of instructions, bytes, suppressed bytes, and instructions with all loads, against one call in a pass."""
    _, *plain = found["1 1"]
    _, *each = found[f"{steps} {tests}"]
    first, second, third, fourth = (now / before - 1 for now, before in zip(each, plain, strict=True))
    return first, second, third, fourth


def checks(name: str, found: dict[str, list[float]]) -> list[Check]:
    """The claims for 4 steps and 2 tests, for a view."""
    instructions, moved, suppressed, full = changes(found, *PUBLISHED)
    what = f"{name}: {PUBLISHED[0]} steps or {PUBLISHED[1]} tests in a pass"
    more = UNROLL["instructions, less than"]
    steps, tests = found["runs"]
    _, *both, _ = changes(found, PUBLISHED[0], PUBLISHED[0])
    short = (
        f"runs are of {steps:.1f} steps and {tests:.1f} tests on average; with {PUBLISHED[0]} tests in a pass, too, "
    )
    counted = f"{100 * full:+.1f} % where every call of a pass loads and stores its streams, as a call alone does"
    return [
        _check(f"{what}: bytes", moved, UNROLL["bandwidth"], f"{short}it is {100 * both[0]:+.0f} %"),
        _check(
            f"{what}, references suppressed: bytes",
            suppressed,
            UNROLL["bandwidth, suppressed"],
            f"{short}it is {100 * both[1]:+.0f} %",
        ),
        Check(
            CLAIM,
            f"{what}: instructions",
            f"< {100 * more:+.0f} %",
            f"{100 * instructions:+.1f} %",
            instructions < more,
            counted,
            f"loads and stores once in a pass; {counted}: the papers do not say which",
        ),
    ]


def _check(what: str, ours: float, theirs: float, why: str) -> Check:
    bound = f"or more, to {100 * POINTS:.0f} points: the text's figure is round, and one for all scenes"
    return Check(CLAIM, what, f"{100 * theirs:+.0f} %", f"{100 * ours:+.1f} %", saves(theirs, ours), why, bound)


def _conclusions(found: dict[str, dict[str, list[float]]], further: list[Check]) -> Iterator[Conclusion]:
    all_ = [check for name, each in found.items() for check in checks(name, each)]
    for claim, ending in CLAIMS.items():
        of = [check for check in all_ if check.what.endswith(ending)]
        yield concluded(claim, of, f"here {', '.join(str(check.ours) for check in of)}")
    twice, *never = further
    yield concluded("apart_twice", [twice], f"here {twice.ours} between the scenes at {TIMES[-1]} calls in a pass")
    text = f"executed instructions: here {'; '.join(str(check.ours) for check in never)}"
    yield concluded("never_mimd", never, text)


def _table(found: dict[str, dict[str, list[float]]]) -> Table:
    rows: list[list[Any]] = []
    for name, each in found.items():
        for steps, tests in dict.fromkeys([PUBLISHED, *((n, n) for n in TIMES[1:])]):
            numbers = (f"{100 * change:+.1f} %" for change in changes(each, steps, tests))
            rows.append([name, steps, tests, each[f"{steps} {tests}"][0], *numbers])
    claims = [check for name, each in found.items() for check in checks(name, each)]
    return tabled("against_one_call_in_a", rows, claims)


def _aggressive(found: dict[str, dict[str, list[float]]]) -> Iterator[Check]:
    """What the text says of unrolling further, and of MIMD's ratio of instructions to bytes, which is never reached."""
    most = f"{TIMES[-1]} {TIMES[-1]}"
    more = {name: each[most][1] / each["1 1"][1] for name, each in found.items()}
    apart = max(more.values()) / min(more.values())
    what = f"{TIMES[-1]} calls in a pass: instructions of the scene that takes most more, over the one that takes least"
    ends = (max(more, key=more.__getitem__), min(more, key=more.__getitem__))
    runs = {name: "{:.1f} steps and {:.1f} tests".format(*found[name]["runs"]) for name in ends}
    why = "; ".join(f"{name} {more[name]:.2f} times, by runs of {runs[name]} on average" for name in ends)
    yield Check(CLAIM, what, "a factor of two or more", f"{apart:.2f}", apart >= 2, f"{why}: short runs end in vain")
    for name, each in found.items():
        instructions, least = each["MIMD"]
        rates = {n: each[f"{n} {n}"][1] / each[f"{n} {n}"][3] for n in TIMES}
        highest = max(rates, key=lambda n: rates[n])
        needed = max(instructions / each[f"{n} {n}"][3] for n in TIMES)
        what = f"{name}: executed instructions for each byte, however far unrolled, stay below the MIMD machine's"
        one_pass, ours = instructions / least, rates[highest]
        both = f"< {one_pass:.2f} (ours, MIMD)", f"{ours:.2f} at {highest} calls, MIMD {one_pass:.2f}"
        why = f"executed, calls in vain included; of instructions that are needed alone it is at most {needed:.2f}"
        yield Check(CLAIM, what, *both, ours < one_pass, why)


def _alone(found: dict[str, dict[str, list[float]]]) -> Figure:
    """One kernel unrolled, the other not."""
    figure, axes = plots.figure(9.0, 3.2, ncols=2, sharey=True)
    for axis, kernel in zip(axes, ("traversal", "intersection"), strict=True):
        for name, each in found.items():
            keys = [" ".join(map(str, CURVES[kernel](n))) for n in TIMES]
            axis.plot(TIMES, [each[key][3] / each["1 1"][3] for key in keys], marker=".", label=name)
        plots.powers_of_two(axis, TIMES, xlabel="calls in a pass")
        axis.set_title(f"{kernel} alone: bytes, suppressed", fontsize=9)
        axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=7)
    return captioned("either_kernel", svg=plots.svg(figure))


def _figure(found: dict[str, dict[str, list[float]]]) -> Figure:
    figure, axes = plots.figure(9.0, 3.4, ncols=3, sharex=True)
    for axis, what, column in zip(axes, ("instructions", "bytes", "bytes, suppressed"), (1, 2, 3), strict=True):
        for name, each in found.items():
            axis.plot(TIMES, [each[f"{n} {n}"][column] / each["1 1"][column] for n in TIMES], marker=".", label=name)
        plots.powers_of_two(axis, TIMES, xlabel="calls of either kernel in a pass")
        axis.set_title(f"{what}, times one call in a pass", fontsize=8)
        axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=7)
    return captioned("unrolling", svg=plots.svg(figure))
