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
from ..published.chapter5 import ACTIVE, NAIVE_OF_OPTIMUM, ORACLE_OF_OPTIMUM, PASSES, TABLE_5_2, VIEWS
from ..report import (
    ARITHMETIC,
    CLAIM,
    FEWEST,
    LONGEST,
    OWN,
    Check,
    Conclusion,
    Figure,
    Parts,
    Table,
    beside,
    between,
    captioned,
    concluded,
    listed,
    section,
    tabled,
)

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
STEPS = f"to {FEWEST:.0%}, as thresholds are tried in steps"
FLAT = 0.10  # of passes: thresholds that are nearly as good
COLUMNS = ("total", "traversal", "intersection", "max_steps", "max_tests", "efficiency")


@section("table_5_2", paper="D 5.2.2, P2 4.2, D 4.1.2, P2 3.2", title="Passes of the SIMD machine (tables 5.2 and 2)")
def make(context: Context) -> Parts:
    """Passes by oracle over the views, each simulated exactly from what its rays do."""
    found = yield from measured.of_views(context, "passes", measured.size(context), passes)
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
        for derived, own in ((theirs.over_bound, ours["over bound"]), (theirs.over_larger, ours["over larger"])):
            cells.append(beside(f"{derived:.2f}", f"{own:.2f}", LONGEST))
        rows.append((name, *cells))
    checks = [*agreed, *(_cross_check(name) for name in TABLE_5_2), *active()]
    heads = dict.fromkeys(("over sum", "over larger"), ("derived", "ours"))
    return tabled("passes_with_the_oracle_of", rows, checks, heads=heads, rays=note)


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
    theirs, why = f"{100 * least:.0f} to {100 * most:.0f} %", "the longest rays set the passes, and so the share"
    checks = []
    for name in (each for each in shares if each != EXCEPTED):
        what, ours = (
            f"{name}: share of rays that are active in a pass, but for {EXCEPTED}",
            f"{100 * shares[name]:.1f} %",
        )
        within = between(least, most, shares[name])
        checks.append(Check(kind, what, theirs, ours, within, why, "to two digits"))
    return checks


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
    what, five = f"{name}: naive needs at least {NAIVE_OF_OPTIMUM:g} times the bound", naive >= NAIVE_OF_OPTIMUM
    checks = [Check(CLAIM, what, f">= {NAIVE_OF_OPTIMUM:g}", f"{naive:.2f}", five, few)]
    what, why = f"{name}: 20 % needs at most {most:g} times the bound", "the paper's own table has 1.1 to 2.0"
    both = f"{least:g} to {most:g}", f"{twenty:.2f}"
    better = "better than the text, as the paper's own table is" if twenty < least else ""
    checks.append(Check(CLAIM, what, *both, twenty <= most, why, better))
    active_share = loop["20 % of active"]
    what = f"{name}: no threshold and no other oracle needs fewer passes than 20 %"
    both = "20 % of the active", f"{active_share} passes; {fewest} needs {best}"
    why = f"{100 * (active_share / best - 1):.1f} % more; thresholds of {flat(kept['shares'], best)} % are within "
    why += f"{FLAT:.0%} of it"
    checks.append(Check(CLAIM, what, *both, active_share <= best * (1 + FEWEST), why, STEPS))
    ordered, order = bound <= active_share <= loop["naive"], "bound <= 20 % <= naive"
    ours = f"{bound} <= {active_share} <= {loop['naive']}"
    what, why = f"{name}: order of the oracles: {order}", f"the best found: {best}"
    return [*checks, Check(OWN, what, order, ours, ordered, why)]


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
    what = f"one oracle for all of the {len(found)} views: none needs fewer passes than 20 %"
    both = "20 % of the active", f"{twenty:,} passes together; {fewest} {passes[fewest]:,}"
    bound = f"{STEPS}; the best oracle without a threshold is {second}: {others[second]:,}"
    return Check(CLAIM, what, *both, twenty <= (1 + FEWEST) * passes[fewest], bound=bound)


def _conclusions(found: dict[str, dict[str, Any]]) -> Iterator[Conclusion]:
    """The sentences of the text on oracles."""
    checks = [check for name, kept in found.items() for check in oracle_checks(name, kept)]

    def of(words: str) -> list[bool | None]:
        return [check.passed for check in checks if words in check.what]

    loop = {name: kept["rows"]["20 % of active"]["total"] - OTHER_PASSES for name, kept in found.items()}
    over = ", ".join(f"{100 * (loop[name] / kept['best'] - 1):.0f} %" for name, kept in found.items())
    one = together(found)
    text = f"passes over the best found, by view: {over}; as one rule for all views {one.ours}"
    yield concluded("twenty_fewest", [*of("no other oracle"), one], text)
    twenty, naive = ([kept["rows"][oracle] for kept in found.values()] for oracle in ("20 % of active", "naive"))
    least, most = (end(row["over bound"] for row in twenty) for end in (min, max))
    text = f"1.1 to 2.0 by the published table, here {least:.2f} to {most:.2f} times the bound"
    yield concluded("twice_to_thrice", of("at most"), text)
    text = f"here {listed((row['over bound'] for row in naive), '.1f')} times the bound"
    yield concluded("naive_five", of("naive needs"), text)
    totals = [row["total"] for row in twenty]
    text = f"here {listed(totals)}; printed {listed(each.total for each in TABLE_5_2.values())}"
    yield concluded("passes_of_picture", [between(*PASSES, each) for each in totals], text)
    shares, printed = (listed(check.ours for check in checks) for checks in (active(found), active()))
    yield concluded("active_share", active(found), f"here {shares}; scenes are stand-ins; printed {printed}")


def _oracles(found: dict[str, dict[str, Any]]) -> Table:
    rows, checks = [], []
    for name, kept in found.items():
        bound = max(1, kept["rows"]["naive"]["max_steps"] + kept["rows"]["naive"]["max_tests"])
        over = (f"{(row['total'] - OTHER_PASSES) / bound:.2f}" for row in (kept["rows"][oracle] for oracle in ORACLES))
        rows.append((name, bound, *over, f"{kept['best'] / bound:.2f}"))
        checks += oracle_checks(name, kept)
    checks += [together(found), *active(found)]
    return tabled("passes_of_the_loop_over", rows, checks, columns=("view", "bound", *ORACLES, "best found"))


def _curves(found: dict[str, dict[str, Any]]) -> Figure:
    figure, axes = plots.figure(6.6, 3.2)
    for name, kept in found.items():
        bound = max(1, kept["rows"]["naive"]["max_steps"] + kept["rows"]["naive"]["max_tests"])
        axes.plot(SHARES, [kept["shares"][str(share)] / bound for share in SHARES], marker=".", label=name)
    axes.axvline(20, color="0.6", linestyle="--", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_yticks([1, 2, 5, 10, 20], labels=["1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set(xlabel="threshold: share of the active rays that wait for intersection, %", ylabel="passes over the bound")
    axes.legend()
    return captioned("passes_by_threshold", svg=plots.svg(figure))
