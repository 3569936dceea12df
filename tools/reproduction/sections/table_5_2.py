"""Table 5.2 of D and table 2 of P2: passes of the SIMD machine, and what other oracles need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from raystream.stream.machines.policy import MostWork, Naive, Policy, Sweep, Threshold
from reproduction.simulators.machines import OTHER_PASSES, TWENTY, count
from reproduction.simulators.schedule import Runs, Simulation

from .. import measured, plots
from ..context import Context
from ..grades import FEWEST, LONGEST, beside, between
from ..model import ARITHMETIC, CLAIM, OURS, OWN, Check, Conclusion, Figure, Part, Table
from ..published.chapter5 import ACTIVE, NAIVE_OF_OPTIMUM, ORACLE_OF_OPTIMUM, PASSES, TABLE_5_2, VIEWS
from ..registry import section

# Which decide what the next pass serves. H. C. Delany (1988): the kernel that most rays wait for.
ORACLES: dict[str, Policy] = {
    "naive": Naive(),
    "Delany": MostWork(),
    "20 % of active": TWENTY,
    "20 % of all": Threshold(0.2, "all"),
    "each in turn": Sweep(),
}
SHARES = (1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
FEW = 0.01  # of the rays, those that do most: whether they alone decide
PRINTED = 0.0005  # half of the last printed digit of an efficiency
EXCEPTED = "Soda Hall Outside"  # by the text
FLAT = 0.10  # of passes: thresholds that are nearly as good
COLUMNS = ("total", "traversal", "intersection", "max_steps", "max_tests", "efficiency")


@section("table_5_2", paper="D 5.2.2, P2 4.2, D 4.1.2, P2 3.2", title="Passes of the SIMD machine (tables 5.2 and 2)")
def make(context: Context) -> Iterator[Part]:
    """Passes by oracle over the views, each simulated exactly from what its rays do."""
    found: dict[str, dict[str, Any]] = {}
    for name in (yield from measured.there(context)):
        found[name] = context.keep(("passes", name, *measured.size(context)), lambda name=name: passes(context, name))
    if not found:
        return
    width, height = measured.size(context)
    agreed = [measured.agreement(context, name) for name in found]
    yield _beside(found, agreed, f"{width} x {height} eye rays, intersection once 20 % of the active rays wait for it.")
    yield _oracles(found)
    yield from _conclusions(found)
    yield _curves(found)


def passes(context: Context, name: str) -> dict[str, Any]:
    """Of a view: a row of the table by oracle, and passes of the loop by threshold, in percent."""
    view = measured.eye(context, name)
    simulation = Simulation(view.runs)
    rows = {}
    for oracle, policy in ORACLES.items():
        row = count(view.runs, view.shaded, simulation.play(policy))
        rows[oracle] = {**row._asdict(), "over bound": row.over_bound, "over larger": row.over_larger}
    shares = {str(share): simulation.play(Threshold(share / 100, "active")).passes for share in SHARES}
    best = min(*shares.values(), *(row["total"] - OTHER_PASSES for row in rows.values()))
    naive = rows["naive"]["total"] - OTHER_PASSES
    few = naive_of_most(view.runs) if naive < NAIVE_OF_OPTIMUM * max(1, view.runs.bound) else None
    return {"rows": rows, "shares": shares, "best": best, "naive of most": few}


def naive_of_most(runs: Runs) -> float:
    """Passes of the loop by the naive oracle over the bound, without the rays that do most."""
    work = runs.steps + runs.tests
    least = np.sort(work)[-max(1, round(FEW * len(work)))]
    counts = np.diff(runs.start)
    length = runs.length[np.repeat(work < least, counts)]
    start = np.concatenate([[0], np.cumsum(np.where(work < least, counts, 0))]).astype(np.int64)
    most = Runs.from_lengths(start, length)
    return Simulation(most).play(Naive()).passes / max(1, most.bound)


def _beside(found: dict[str, dict[str, Any]], agreed: list[Check], note: str) -> Table:
    rows = []
    for name, kept in found.items():
        ours, theirs = kept["rows"]["20 % of active"], TABLE_5_2[name]
        cells = [beside(getattr(theirs, column), ours[column], LONGEST) for column in COLUMNS[:-1]]
        share = f"{100 * theirs.efficiency:.1f} %"
        cells.append(beside(share, f"{100 * ours['efficiency']:.1f} %", LONGEST))
        larger = (theirs.traversal + theirs.intersection) / max(theirs.max_steps, theirs.max_tests)
        both = (theirs.traversal + theirs.intersection) / (theirs.max_steps + theirs.max_tests)
        for derived, own in ((both, ours["over bound"]), (larger, ours["over larger"])):
            cells.append(beside(f"{derived:.2f}", f"{own:.2f}", LONGEST))
        rows.append((name, *cells))
    checks = [*agreed, *(_cross_check(name) for name in TABLE_5_2), *active()]
    source = ("derived", "ours")
    return Table(
        "Passes with the oracle of 20 %",
        ("view", "total", "traversal", "intersection", "most steps", "most tests", "active", "over sum", "over larger"),
        rows,
        note=f"{note} Four passes more: eye rays, set-up in two, shading. Over sum, over larger: passes of the loop "
        "over the most steps and the most tests of a ray, added, and over the larger of the two; published passes "
        "alone "
        "are printed, the ratios are worked out here from them.",
        checks=checks,
        heads={"over sum": source, "over larger": source},
    )


def _cross_check(name: str) -> Check:
    view, row = VIEWS[name], TABLE_5_2[name]
    share = (OTHER_PASSES - 1 + view.v + view.t + view.s) / view.passes
    why = "the printed efficiency is 2 to 8 % above what v, t, s and P of fig. 5.2 give, set-up counted in its two "
    why += "passes; the paper does not say why"
    what = f"{name}: printed efficiency, and (3 + v + t + s) / P of the printed figures"
    same = abs(share - row.efficiency) <= PRINTED
    return Check(ARITHMETIC, what, f"{100 * row.efficiency:.1f} %", f"{100 * share:.2f} %", same, why)


def active(found: Mapping[str, Mapping[str, Any]] | None = None) -> list[Check]:
    """The text's share of active rays, for each view but `EXCEPTED`. found : ours; else of the printed table."""
    least, most = ACTIVE
    shares = {name: row.efficiency for name, row in TABLE_5_2.items()}
    kind = ARITHMETIC if found is None else CLAIM
    if found is not None:
        shares = {name: kept["rows"]["20 % of active"]["efficiency"] for name, kept in found.items()}
    bound = f"{100 * least:.0f} to {100 * most:.0f} %"
    return [
        Check(
            kind,
            f"{name}: share of rays that are active in a pass, but for {EXCEPTED}",
            bound,
            f"{100 * share:.1f} %",
            between(least, most, share),
            "the longest rays set the passes, and so the share",
            "to two digits",
        )
        for name, share in shares.items()
        if name != EXCEPTED
    ]


def oracle_checks(name: str, kept: dict[str, Any]) -> list[Check]:
    """What the text claims of the oracles, for one of our measured."""
    best, rows = kept["best"], kept["rows"]
    loop = {oracle: row["total"] - OTHER_PASSES for oracle, row in rows.items()}
    bound = max(1, rows["naive"]["max_steps"] + rows["naive"]["max_tests"])
    naive, twenty = loop["naive"] / bound, loop["20 % of active"] / bound
    least, most = ORACLE_OF_OPTIMUM
    few, without = "of the bound, as the text has it", kept["naive of most"]
    if without is not None:
        few = f"without the {100 * FEW:g} % of the rays that do most it is {without:.2f}"
        few += ": few set the bound" if without >= NAIVE_OF_OPTIMUM else "; it is not few rays"
    passes = {**{f"{share} %": number for share, number in kept["shares"].items()}, **loop}
    fewest = min(passes, key=lambda each: passes[each])
    return [
        Check(
            CLAIM,
            f"{name}: naive needs at least {NAIVE_OF_OPTIMUM:g} times the bound",
            f">= {NAIVE_OF_OPTIMUM:g}",
            f"{naive:.2f}",
            naive >= NAIVE_OF_OPTIMUM,
            few,
        ),
        Check(
            CLAIM,
            f"{name}: 20 % needs at most {most:g} times the bound",
            f"{least:g} to {most:g}",
            f"{twenty:.2f}",
            twenty <= most,
            "the paper's own table has 1.1 to 2.0",
            "better than the text, as the paper's own table is" if twenty < least else "",
        ),
        Check(
            CLAIM,
            f"{name}: no threshold and no other oracle needs fewer passes than 20 %",
            "20 % of the active",
            f"{loop['20 % of active']} passes; {fewest} needs {best}",
            loop["20 % of active"] <= best * (1 + FEWEST),
            f"{100 * (loop['20 % of active'] / best - 1):.1f} % more; thresholds of {flat(kept['shares'], best)} % are "
            f"within {FLAT:.0%} of it",
            f"to {FEWEST:.0%}, as thresholds are tried in steps",
        ),
        Check(
            OWN,
            f"{name}: order of the oracles: bound <= 20 % <= naive",
            "bound <= 20 % <= naive",
            f"{bound} <= {loop['20 % of active']} <= {loop['naive']}",
            bound <= loop["20 % of active"] <= loop["naive"],
            f"the best found: {best}",
        ),
    ]


def flat(shares: dict[str, int], best: int) -> str:
    """The least and the greatest threshold that is nearly as good as the best found."""
    close = [int(share) for share, passes in shares.items() if passes <= (1 + FLAT) * best]
    return f"{min(close)} to {max(close)}" if close else "none"


def together(found: dict[str, dict[str, Any]]) -> Check:
    """The same as one rule for all views: passes of the loop, added up over them."""
    passes = {f"{share} %": sum(kept["shares"][str(share)] for kept in found.values()) for share in SHARES}
    for oracle in ORACLES:
        if oracle != "20 % of active":
            passes[oracle] = sum(kept["rows"][oracle]["total"] - OTHER_PASSES for kept in found.values())
    fewest = min(passes, key=lambda each: passes[each])
    others = {oracle: passes[oracle] for oracle in passes if oracle in ORACLES and not oracle.startswith("20")}
    second = min(others, key=lambda each: others[each])
    twenty = passes["20 %"]
    return Check(
        CLAIM,
        f"one oracle for all of the {len(found)} views: none needs fewer passes than 20 %",
        "20 % of the active",
        f"{twenty:,} passes together; {fewest} {passes[fewest]:,}",
        twenty <= (1 + FEWEST) * passes[fewest],
        bound=f"to {FEWEST:.0%}, as thresholds are tried in steps; the best oracle without a threshold is {second}: "
        f"{others[second]:,}",
    )


def _conclusions(found: dict[str, dict[str, Any]]) -> Iterator[Conclusion]:
    """The sentences of the text on oracles."""
    checks = [check for name, kept in found.items() for check in oracle_checks(name, kept)]

    def of(words: str) -> list[bool | None]:
        return [check.passed for check in checks if words in check.what]

    loop = {name: kept["rows"]["20 % of active"]["total"] - OTHER_PASSES for name, kept in found.items()}
    over = ", ".join(f"{100 * (loop[name] / kept['best'] - 1):.0f} %" for name, kept in found.items())
    one = together(found)
    yield Conclusion(
        "D 4.1.2, P2 3.2",
        "To intersect once 20 % of the rays wait needs the fewest passes.",
        [*of("no other oracle"), one.passed],
        f"passes over the best found, by view: {over}; as one rule for all views {one.ours}",
    )
    rows = [kept["rows"] for kept in found.values()]
    yield Conclusion(
        "D 4.1.2, D 5.2.2, P2 3.2, P2 4.2",
        "With it passes are within two to three times the optimum.",
        of("at most"),
        "1.1 to 2.0 by the published table, here "
        f"{min(row['20 % of active']['over bound'] for row in rows):.2f} to "
        f"{max(row['20 % of active']['over bound'] for row in rows):.2f} times the bound",
    )
    naive = [row["naive"]["over bound"] for row in rows]
    yield Conclusion(
        "D 5.2.2, P2 4.2",
        "A naive oracle needs at least five times the optimum.",
        of("naive needs"),
        f"here {', '.join(f'{each:.1f}' for each in naive)} times the bound",
    )
    totals = [row["20 % of active"]["total"] for row in rows]
    yield Conclusion(
        "P2 4.2",
        f"A picture takes {PASSES[0]} to {PASSES[1]} passes.",
        [between(*PASSES, each) for each in totals],
        f"here {', '.join(map(str, totals))}; printed {', '.join(str(each.total) for each in TABLE_5_2.values())}",
    )
    shares, printed = active(found), active()
    yield Conclusion(
        "D 5.2.2, P2 4.2",
        f"Between {100 * ACTIVE[0]:.0f} and {100 * ACTIVE[1]:.0f} % of the rays are active in a pass, but for "
        f"{EXCEPTED}.",
        [check.passed for check in shares],
        f"here {', '.join(str(check.ours) for check in shares)}; scenes are stand-ins; printed "
        f"{', '.join(str(check.ours) for check in printed)}",
    )


def _oracles(found: dict[str, dict[str, Any]]) -> Table:
    rows, checks = [], []
    for name, kept in found.items():
        bound = max(1, kept["rows"]["naive"]["max_steps"] + kept["rows"]["naive"]["max_tests"])
        over = (f"{(row['total'] - OTHER_PASSES) / bound:.2f}" for row in (kept["rows"][oracle] for oracle in ORACLES))
        rows.append((name, bound, *over, f"{kept['best'] / bound:.2f}"))
        checks += oracle_checks(name, kept)
    checks += [together(found), *active(found)]
    return Table(
        "Passes of the loop over the bound, by oracle",
        ("view", "bound", *ORACLES, "best found"),
        rows,
        note="An oracle decides which kernel the next pass serves. Bound: the most steps of any ray plus the most "
        "tests of any ray; a pass serves one kernel, each ray "
        "once, so that nothing needs less. Naive: the latest kernel that any ray waits for. Delany: the kernel that "
        "most wait for. The papers do not say which rays the 20 % are of.",
        checks=checks,
        own=OURS,
    )


def _curves(found: dict[str, dict[str, Any]]) -> Figure:
    figure, axes = plots.figure(6.6, 3.2)
    for name, kept in found.items():
        bound = max(1, kept["rows"]["naive"]["max_steps"] + kept["rows"]["naive"]["max_tests"])
        axes.plot(SHARES, [kept["shares"][str(share)] / bound for share in SHARES], marker=".", label=name)
    axes.axvline(20, color="0.6", linestyle="--", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_yticks([1, 2, 5, 10, 20], labels=["1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_xlabel("threshold: share of the active rays that wait for intersection, %")
    axes.set_ylabel("passes over the bound")
    axes.legend()
    note = "Dashed: 20 %, the best found in P2."
    return Figure("Passes by threshold", svg=plots.svg(figure), note=note, alt="curves with flat minima")
