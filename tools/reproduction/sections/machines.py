"""The simulated machines of D 5.2 and P2 3.2, and the one wished for in D 5.4.2: what they cost by the papers' model,
their passes by oracle, several calls in a pass, early depth tests, and each run call by call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.renderer import Renderer
from raystream.stream.machines.policy import MostWork, Naive, Policy, Sweep, Threshold
from reproduction.simulators import machines, references
from reproduction.simulators.machines import INTERSECT, OTHER_PASSES, SETUP, STEP, TWENTY, Cost, Workload, cost, count
from reproduction.simulators.rays import places
from reproduction.simulators.references import STREAM, STRUCTURES, Cache, Layout, Traffic, mimd_references, play_all
from reproduction.simulators.schedule import Runs, Simulation
from reproduction.simulators.walk import State

from .. import measured, plots, report
from ..context import Context
from ..published import chapter5
from ..published.chapter5 import ACTIVE, HARDWARE, NAIVE_OF_OPTIMUM, PASSES, PIXELS, TABLE_5_1, TABLE_5_2, UNROLL, VIEWS
from ..report import CLAIM, Check, Parts, Table, beside, captioned, checked, concluded, listed, percent, section, tabled
from ..shown import webp

GIGA = 1e9
# Claims, what the statements of their checks have, and the unit of these.
CLAIMS = (
    ("dominate", "dominate", "their share"),
    ("equal_times", "equal amounts", "traversal to intersection"),
    ("radeon", "match the Radeon", "instructions per byte over the Radeon's"),
    ("limited", "limited by", ""),
    ("intermediate", "intermediate values", "of the bytes"),
    ("voxels_alone", "all bytes of MIMD", "of the bytes"),
)
RADEON = HARDWARE["Radeon 9700 Pro (D)"]["instructions"] / HARDWARE["Radeon 9700 Pro (D)"]["bytes"]
SHOWN = 12  # of the figures of `derived`, in a table
GROUPS = {
    "eye, set-up": (machines.EYE, SETUP),
    "traversal": (STEP,),
    "intersection": (INTERSECT,),
    "shading": (machines.COLOR,),
}
TYPES = {"state": ("state",), "stream data": ("stream",), "data structures": ("structures",)}
Views = Mapping[str, Mapping[str, Cost]]  # by view and machine
Sides = Sequence[tuple[Views, Mapping[str, int]]]  # derived and ours, with the rays of each view


def costs(work: Workload, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Cost]:
    """Of a view on both machines, by the rows of table 5.1."""
    alone = Workload(work.rays, work.v, work.t, work.s, eye=work.eye)
    return {"SIMD": cost(work, rows["SIMD"]), "MIMD": cost(alone, rows["MIMD"], state=0.0)}


def derived(found: Mapping[str, Cost]) -> dict[str, float]:
    """The figures of `COST_DERIVED`: G instructions and GB."""
    simd, mimd = found["SIMD"], found["MIMD"]
    made = {
        "instructions": simd.total_instructions,
        "traverse": simd.instructions[SETUP] + simd.instructions[STEP],
        "intersect": simd.instructions[INTERSECT],
        "color": simd.instructions[machines.COLOR],
        "bytes": simd.total_bytes,
        **{kind: simd.bytes_by_type[kind] for kind in ("stream", "structures", "state")},
        "instructions per byte": GIGA * simd.instructions_per_byte,
        "MIMD instructions": mimd.total_instructions,
        "MIMD bytes": mimd.total_bytes,
        "MIMD instructions per byte": GIGA * mimd.instructions_per_byte,
        "step bytes": simd.bytes_by_kernel[STEP],
        "intersect bytes": simd.bytes_by_kernel[INTERSECT],
        "state reads": simd.bytes_by_kernel["state reads"],
    }
    return {name: value / GIGA for name, value in made.items()}


def published() -> dict[str, dict[str, Cost]]:
    """The model over the printed tables alone: table 5.1 and fig. 5.2."""
    return {name: costs(Workload(PIXELS, *view[2:]), TABLE_5_1) for name, view in VIEWS.items()}


def sums() -> Iterator[Check]:
    """Every digit of what follows from the printed tables."""
    for name, found in published().items():
        ours, wrong = derived(found), {}
        for key, value in chapter5.COST_DERIVED[name].items():
            digits = f".{max(2, len(repr(value).partition('.')[2]))}f"
            if format(ours[key], digits) != format(value, digits):
                wrong[key] = ours[key]
        text = report.by_name(wrong, ".4f") or "all equal"
        yield checked("model_figures", not wrong, name=name, many=len(chapter5.COST_DERIVED[name]), ours=text)


def claims(kind: str, name: str, found: Mapping[str, Cost]) -> Iterator[Check]:
    """What the text says of every view, for one. kind : of the checks: `ARITHMETIC` of the published views."""
    simd, mimd = found["SIMD"], found["MIMD"]
    moved, both = simd.bytes_by_kernel, {"kind": kind, "name": name}
    loop = (moved[STEP] + moved[INTERSECT]) / sum(moved[kernel] for kernel in machines.KERNELS)
    equal = (simd.instructions[SETUP] + simd.instructions[STEP]) / simd.instructions[INTERSECT]
    ratio = simd.instructions_per_byte / RADEON
    states, between_ = (simd.bytes_by_type[each] / simd.total_bytes for each in ("state", "stream"))
    stream = mimd.bytes_by_type["stream"] / mimd.total_bytes
    yield checked("dominate", loop > report.MOST, loop=loop, **both)
    yield checked("equal_times", report.about(1, equal, report.COUNT), equal=equal, count=report.COUNT, **both)
    near = report.about(1, ratio, report.COUNT)
    yield checked("radeon", near, ratio=ratio, states=states, count=report.COUNT, radeon=RADEON, **both)
    held = between_ > report.MOST and states > report.POINTS
    bounds = {"most": report.MOST, "points": report.POINTS}
    yield checked("intermediate", held, between=between_, states=states, **bounds, **both)
    yield checked("voxels_alone", stream < report.ALL, stream=stream, all=report.ALL, **both)


def limited(name: str, found: Mapping[str, Cost]) -> Check:
    """Of a published view. Each kernel of table 5.1 alone is above the processor's ratio, so that by these kernels no
    view could say otherwise: of ours it is not asked."""
    ours = found["MIMD"].instructions_per_byte
    return checked("limited", ours > RADEON, name=name, radeon=RADEON, ours=ours)


def with_common_ending(values: list[str]) -> str:
    """Values in a row; the words that all of them end with stand once, behind the last."""
    heads = [re.sub(r"(?: [A-Za-z'-]+)+$", "", value) for value in values]
    ends = [value.removeprefix(head) for value, head in zip(values, heads, strict=True)]
    if len(set(ends)) > 1 or any(", " in head for head in heads):
        return "; ".join(values) if any(", " in value for value in values) else ", ".join(values)
    return ", ".join(heads) + ends[0]


@section(
    "cost_model",
    paper="D 5.2.1, D 5.2.2, P2 3.2, P2 4.1, P2 4.2",
    title="The cost model (figures 5.3 to 5.5; P2 7 and 8)",
)
def cost_model(context: Context) -> Parts:
    """C = R (C_r + v C_v + t C_t + s C_s) + R P C_state, over the published figures and ours."""
    yield report.told("cost_model", pixels=PIXELS)
    theirs, ours, works = published(), {}, {}
    for name in (yield from measured.there(context)):
        works[name] = Workload(**measured.workload(context, name))
        ours[name] = costs(works[name], TABLE_5_1)
    printed = [check for name, found in theirs.items() for check in claims(report.ARITHMETIC, name, found)]
    printed += [limited(name, found) for name, found in theirs.items()]
    yield _table("costs_derived", theirs, [*sums(), *printed])
    yield _bytes("bytes_derived", theirs, dict.fromkeys(theirs, GIGA), ".2f")
    rows: list[tuple[Any, ...]] = []
    for name, work in works.items():
        cells = [
            beside(getattr(VIEWS[name], key), f"{getattr(work, key):.2f}", report.FITTED) for key in ("v", "t", "s")
        ]
        rows.append((name, *cells, beside(VIEWS[name].passes, work.passes, report.LONGEST)))
    yield tabled("what_a_ray_does", rows)
    own = [check for name, found in ours.items() for check in claims(CLAIM, name, found)]
    yield _table("costs_by_published_kernels", ours, own)
    rays = {name: work.rays for name, work in works.items()}
    yield _bytes("bytes_of_a_ray", ours, rays, ".0f")
    for claim, words, unit in CLAIMS:
        each, other = ([check for check in checks if words in check.what] for checks in (own, printed))
        if not each:
            yield concluded(claim, other, f"by table 5.1 {listed(str(check.ours) for check in other)}")
            continue
        figures = with_common_ending([str(check.ours) for check in each])
        holds = f"by the paper's own tables it holds in {sum(c.passed is True for c in other)} of {len(other)} views"
        yield concluded(claim, each, f"here, {unit}: {figures}; {holds}")
    saved = [1 - found["MIMD"].total_bytes / found["SIMD"].total_bytes for found in ours.values()]
    text = f"here, by the kernels of table 5.1, bytes of MIMD's one pass less than SIMD's: {listed(saved, '.0%')}"
    yield concluded("single_pass", [each >= report.MUCH for each in saved], text)
    kernels = measured.our_rows(context)
    if kernels is not None:
        yield _table("costs_by_our_kernels", {name: costs(work, kernels) for name, work in works.items()})
    sides = (theirs, dict.fromkeys(theirs, PIXELS)), (ours, rays)
    yield _by_kernel("5.3", "SIMD", sides)
    yield _by_kernel("5.4", "MIMD", sides)
    figure, axes = plots.figure(9.0, 3.8, ncols=2)
    for axis, machine in zip(axes, ("SIMD", "MIMD"), strict=True):
        _bars(axis, machine, sides, "bytes_by_type", TYPES)
        axis.set_ylabel(f"{machine}: bytes a ray")
    axes[0].legend(*axes[0].get_legend_handles_labels(), fontsize=7)
    yield captioned("by_type", svg=plots.svg(figure))
    yield _buffers(context, works)


def _table(key: str, found: Views, checks: Sequence[Check] = ()) -> Table:
    each = {name: list(derived(both).values())[:SHOWN] for name, both in found.items()}
    shown = [(name, *(f"{v:.3g}" if v < 0.01 else f"{v:.3f}" for v in values)) for name, values in each.items()]
    return tabled(key, shown, checks)


def _bytes(key: str, found: Views, over: Mapping[str, float], shown: str) -> Table:
    """Bytes of SIMD by kernel, over a number of each view, in a format."""
    moved = {name: each["SIMD"].bytes_by_kernel for name, each in found.items()}
    kernels = (*machines.KERNELS, "state reads")
    return tabled(
        key, [(name, *(format(each[k] / over[name], shown) for k in kernels)) for name, each in moved.items()]
    )


def _by_kernel(number: str, machine: str, sides: Sides) -> report.Figure:
    figure, axes = plots.figure(9.0, 3.8, ncols=2)
    for axis, what, unit in zip(axes, ("instructions", "bytes_by_kernel"), ("instructions", "bytes"), strict=True):
        reads = {"state reads": ("state reads",)} if machine == "SIMD" and unit == "bytes" else {}
        _bars(axis, machine, sides, what, {**GROUPS, **reads})
        for hardware, style in zip(HARDWARE, ("--", ":"), strict=True):
            line = HARDWARE[hardware][unit] / PIXELS
            axis.axhline(line, color="0.4", linestyle=style, linewidth=0.8, label=f"{hardware}, a second")
        axis.set_ylabel(f"{unit} a ray")
    axes[1].legend(*axes[1].get_legend_handles_labels(), fontsize=7)
    return captioned("by_kernel", svg=plots.svg(figure), number=number, machine=machine)


def _bars(axis: Any, machine: str, sides: Sides, what: str, groups: Mapping[str, Sequence[str]]) -> None:
    """Of each view a bar of each side: a ray's share of what `Cost` has, by groups of its keys."""
    names = list(sides[0][0])
    bars = [
        (names.index(name) + shift, getattr(costs[name][machine], what), rays[name])
        for name in names
        for shift, (costs, rays) in zip((-0.2, 0.2), sides, strict=True)
        if name in costs
    ]
    stacks = {label: [sum(each[k] for k in keys) / rays for _, each, rays in bars] for label, keys in groups.items()}
    plots.stacked(axis, [place for place, *_ in bars], 0.36, stacks)
    axis.set_xticks(range(len(names)), [name.replace(" ", "\n", 2) for name in names], fontsize=7)


def _buffers(context: Context, works: Mapping[str, Workload]) -> Table:
    """The wished-for stream machine."""

    def make(name: str) -> list[float]:
        view = measured.eye(context, name)
        found = machines.stream_buffer(view.runs, view.shaded, TABLE_5_1["SIMD"])
        return [found.rays, *found.launches, found.occupancy, found.cost.total_bytes, found.on_chip]

    rows = []
    for name, work in works.items():
        key = ("stream buffer", name, *measured.size(context))
        held, steps, tests, share, off, on = context.keep(key, lambda name=name: make(name))
        both = (costs(work, TABLE_5_1)[machine].total_bytes for machine in ("SIMD", "MIMD"))
        rows.append(
            (name, held, steps, tests, percent(share), *(f"{each / work.rays:.0f}" for each in (off, on, *both)))
        )
    return tabled("a_stream_buffer_on_the", rows)


# -- passes by oracle --------------------------------------------------------------------------------------------------

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
STEPS = f"to {report.FEWEST:.0%}, as thresholds are tried in steps"
FLAT = 0.10  # of passes: thresholds that are nearly as good
COLUMNS = ("total", "traversal", "intersection", "max_steps", "max_tests")


@section("table_5_2", paper="D 5.2.2, P2 4.2, D 4.1.2, P2 3.2", title="Passes of the SIMD machine (tables 5.2 and 2)")
def table_5_2(context: Context) -> Parts:
    """Passes by oracle over the views, each simulated exactly from what its rays do."""
    found = yield from measured.of_views(context, "passes", measured.size(context), passes)
    rows: list[tuple[Any, ...]] = []
    for name, kept in found.items():
        ours, theirs = kept["rows"]["20 % of active"], TABLE_5_2[name]
        pairs = [(getattr(theirs, column), ours[column]) for column in COLUMNS]
        pairs.append((percent(theirs.efficiency), percent(ours["efficiency"])))
        pairs += [(f"{theirs.over_bound:.2f}", f"{ours['over bound']:.2f}")]
        pairs += [(f"{theirs.over_larger:.2f}", f"{ours['over larger']:.2f}")]
        rows.append((name, *(beside(*pair, report.LONGEST) for pair in pairs)))
    checks = [*(measured.agreement(context, name) for name in found), *map(_cross_check, TABLE_5_2), *active()]
    heads = dict.fromkeys(("over sum", "over larger"), ("derived", "ours"))
    rays = f"{report.sides(measured.size(context))} eye rays, intersection once 20 % of the active rays wait for it."
    yield tabled("passes_with_the_oracle_of", rows, checks, heads=heads, rays=rays)
    checks = [check for name, kept in found.items() for check in oracle_checks(name, kept)]
    columns = ("view", "bound", *ORACLES, "best found")
    yield tabled(
        "passes_of_the_loop_over", list(oracle_rows(found)), [*checks, together(found), *active(found)], columns=columns
    )

    def of(words: str) -> list[bool | None]:
        return [check.passed for check in checks if words in check.what]

    twenty, naive = ([kept["rows"][oracle] for kept in found.values()] for oracle in ("20 % of active", "naive"))
    totals, best = [row["total"] for row in twenty], [kept["best"] for kept in found.values()]
    over = listed(percent((total - OTHER_PASSES) / least - 1, ".0f") for total, least in zip(totals, best, strict=True))
    text = f"passes over the best found, by view: {over}; as one rule for all views {together(found).ours}"
    yield concluded("twenty_fewest", [*of("no other oracle"), together(found)], text)
    ends = " to ".join(f"{end(row['over bound'] for row in twenty):.2f}" for end in (min, max))
    text = f"1.1 to 2.0 by the published table, here {ends} times the bound"
    yield concluded("twice_to_thrice", of("at most"), text)
    text = f"here {listed((row['over bound'] for row in naive), '.1f')} times the bound"
    yield concluded("naive_five", of("naive needs"), text)
    text = f"here {listed(totals)}; printed {listed(each.total for each in TABLE_5_2.values())}"
    yield concluded("passes_of_picture", [report.between(*PASSES, each) for each in totals], text)
    shares, printed = (listed(check.ours for check in each) for each in (active(found), active()))
    yield concluded("active_share", active(found), f"here {shares}; scenes are stand-ins; printed {printed}")
    figure, axes = plots.figure(6.6, 3.2)
    for name, kept in found.items():
        axes.plot(SHARES, [kept["shares"][str(share)] / bound(kept) for share in SHARES], marker=".", label=name)
    axes.axvline(20, color="0.6", linestyle="--", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_yticks([1, 2, 5, 10, 20], labels=["1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set(xlabel="threshold: share of the active rays that wait for intersection, %", ylabel="passes over the bound")
    axes.legend()
    yield captioned("passes_by_threshold", svg=plots.svg(figure))


def passes(context: Context, name: str) -> dict[str, Any]:
    """Of a view: a row of the table by oracle, and passes of the loop by threshold, in percent."""
    view = measured.eye(context, name)
    simulation, rows = Simulation(view.runs), {}
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
    work, counts = runs.steps + runs.tests, np.diff(runs.start)
    least = np.sort(work)[-max(1, round(FEW * len(work)))]
    start = np.concatenate([[0], np.cumsum(np.where(work < least, counts, 0))]).astype(np.int64)
    most = Runs.from_lengths(start, runs.length[np.repeat(work < least, counts)])
    return Simulation(most).play(Naive()).passes / max(1, most.bound)


def oracle_rows(found: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """Of each view the bound, and passes over it by oracle, at last by the best found."""
    for name, kept in found.items():
        loop = [kept["rows"][oracle]["total"] - OTHER_PASSES for oracle in ORACLES]
        yield name, bound(kept), *(f"{each / bound(kept):.2f}" for each in (*loop, kept["best"]))


def bound(kept: Mapping[str, Any]) -> int:
    """Passes of a view's loop that no oracle can do with less."""
    return max(1, kept["rows"]["naive"]["max_steps"] + kept["rows"]["naive"]["max_tests"])


def _cross_check(name: str) -> Check:
    view, printed = VIEWS[name], TABLE_5_2[name].efficiency
    share = (OTHER_PASSES - 1 + view.v + view.t + view.s) / view.passes
    return checked("efficiency", abs(share - printed) <= PRINTED, name=name, printed=printed, share=share)


def active(found: Mapping[str, Mapping[str, Any]] | None = None) -> list[Check]:
    """The text's share of active rays, for each view but `EXCEPTED`. found : ours; else of the printed table."""
    shares = {name: row.efficiency for name, row in TABLE_5_2.items()}
    if found is not None:
        shares = {name: kept["rows"]["20 % of active"]["efficiency"] for name, kept in found.items()}
    same: dict[str, Any] = {"kind": report.ARITHMETIC if found is None else CLAIM, "excepted": EXCEPTED, "ends": ACTIVE}
    return [
        checked("active_share", report.between(*ACTIVE, share), name=name, share=share, **same)
        for name, share in shares.items()
        if name != EXCEPTED
    ]


def oracle_checks(name: str, kept: dict[str, Any]) -> Iterator[Check]:
    """What the text claims of the oracles, for one of our measured."""
    best, without = kept["best"], kept["naive of most"]
    loop = {oracle: row["total"] - OTHER_PASSES for oracle, row in kept["rows"].items()}
    naive, twenty, (least, most) = (
        loop["naive"] / bound(kept),
        loop["20 % of active"] / bound(kept),
        chapter5.ORACLE_OF_OPTIMUM,
    )
    few = "of the bound, as the text has it"
    if without is not None:
        few = f"without the {100 * FEW:g} % of the rays that do most it is {without:.2f}"
        few += ": few set the bound" if without >= NAIVE_OF_OPTIMUM else "; it is not few rays"
    counts = {**{f"{share} %": number for share, number in kept["shares"].items()}, **loop}
    same: dict[str, Any] = {"name": name, "active": loop["20 % of active"], "best": best, "bound": bound(kept)}
    yield checked("naive_five", naive >= NAIVE_OF_OPTIMUM, least=NAIVE_OF_OPTIMUM, ours=naive, few=few, **same)
    better = "better than the text, as the paper's own table is" if twenty < least else ""
    yield checked("twenty_most", twenty <= most, least=least, most=most, ours=twenty, better=better, **same)
    texts = {"fewest": min(counts, key=lambda each: counts[each]), "more": same["active"] / best - 1, "steps": STEPS}
    close = same["active"] <= best * (1 + report.FEWEST)
    yield checked("no_other_oracle", close, flat=flat(kept["shares"], best), share=FLAT, **texts, **same)
    yield checked("oracles_order", bound(kept) <= same["active"] <= loop["naive"], naive=loop["naive"], **same)


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
    second, twenty = min(others, key=lambda each: others[each]), passes["20 %"]
    texts: dict[str, Any] = {"twenty": twenty, "fewest": fewest, "least": passes[fewest], "steps": STEPS}
    close = twenty <= (1 + report.FEWEST) * passes[fewest]
    return checked("one_oracle", close, many=len(found), second=second, other=others[second], **texts)


# -- several calls in a pass -------------------------------------------------------------------------------------------

TIMES = (1, 2, 4, 8, 16)
PUBLISHED = int(UNROLL["steps"]), int(UNROLL["tests"])
# Claims, and how the statements of their checks end.
ENDINGS = {
    "unrolled_half": "in a pass: bytes",
    "suppressed_sixty": "suppressed: bytes",
    "instructions_little": "in a pass: instructions",
}
CURVES = {"both kernels": lambda n: (n, n), "traversal": lambda n: (n, 1), "intersection": lambda n: (1, n)}
Curves = Mapping[str, list[float]]


@section("unrolling", paper="D 5.2.2, P2 4.2", title="Unrolled kernels: bandwidth and instructions")
def unrolling(context: Context) -> Parts:
    """Bytes and instructions of a frame by calls in a pass, references of rays that have finished suppressed or not."""
    found = yield from measured.of_views(context, "unrolled", measured.size(context), curves)
    pairs = dict.fromkeys([PUBLISHED, *((n, n) for n in TIMES[1:])])
    rows = [
        [name, *pair, each["{} {}".format(*pair)][0], *(percent(change, "+.1f") for change in changes(each, *pair))]
        for name, each in found.items()
        for pair in pairs
    ]
    said = [check for name, each in found.items() for check in unrolling_checks(name, each)]
    yield tabled("against_one_call_in_a", rows, said)
    twice, *never = further = list(aggressive(found))
    yield from further
    for claim, ending in ENDINGS.items():
        of = [check for check in said if check.what.endswith(ending)]
        yield concluded(claim, of, f"here {listed(str(check.ours) for check in of)}")
    yield concluded("apart_twice", [twice], f"here {twice.ours} between the scenes at {TIMES[-1]} calls in a pass")
    text = f"executed instructions: here {'; '.join(str(check.ours) for check in never)}"
    yield concluded("never_mimd", never, text)
    titles = ("instructions", "bytes", "bytes, suppressed")
    panels = [(f"{title}, times one call in a pass", "both kernels", column + 1) for column, title in enumerate(titles)]
    yield captioned("unrolling", svg=_unrolled(found, panels, 8, "calls of either kernel in a pass"))
    panels = [(f"{kernel} alone: bytes, suppressed", kernel, 3) for kernel in ("traversal", "intersection")]
    yield captioned("either_kernel", svg=_unrolled(found, panels, 9, "calls in a pass"))


def curves(context: Context, name: str) -> dict[str, list[float]]:
    """Of a view, by "steps tests" in a pass: passes, instructions, bytes, bytes with suppressed references, and
    instructions where every call loads and stores its streams; by "runs" the steps and tests that a ray makes one after
    the other, on average."""
    view = measured.eye(context, name)
    wanted = dict.fromkeys([(1, 1), PUBLISHED, *(pair(n) for pair in CURVES.values() for n in TIMES)])
    runs = np.diff(view.runs.start)
    pairs = (view.runs.steps, (runs + 1) // 2), (view.runs.tests, runs // 2)
    found = {"runs": [float(calls.sum() / max(1, each.sum())) for calls, each in pairs]}
    alone = cost(machines.workload(view.runs, view.shaded), TABLE_5_1["MIMD"], state=0.0)
    found["MIMD"] = [alone.total_instructions, alone.total_bytes]
    for pair in wanted:
        each = machines.unrolled(view.runs, view.shaded, TABLE_5_1["SIMD"], TABLE_5_1["MIMD"], *pair)
        numbers = (each.passes, each.instructions, each.bytes, each.suppressed_bytes, each.full_instructions)
        found["{} {}".format(*pair)] = list(numbers)
    return found


def changes(found: Curves, steps: int, tests: int) -> list[float]:
    """Of instructions, bytes, suppressed bytes, and instructions with all loads, against one call in a pass."""
    return [now / before - 1 for now, before in zip(found[f"{steps} {tests}"][1:], found["1 1"][1:], strict=True)]


def unrolling_checks(name: str, found: Curves) -> Iterator[Check]:
    """The claims for 4 steps and 2 tests, for a view."""
    instructions, *moved, full = changes(found, *PUBLISHED)
    _, *both, _ = changes(found, PUBLISHED[0], PUBLISHED[0])
    same: dict[str, Any] = {"name": name, "calls": PUBLISHED, "runs": found["runs"], "points": report.POINTS}
    for key, ours, other in zip(("bandwidth", "bandwidth, suppressed"), moved, both, strict=True):
        words = ", references suppressed" * key.endswith("suppressed")
        theirs = UNROLL[key]
        saved = report.saves(theirs, ours)
        yield checked("unrolled_bytes", saved, suppressed=words, theirs=theirs, ours=ours, both=other, **same)
    more = UNROLL["instructions, less than"]
    yield checked("unrolled_instructions", instructions < more, more=more, ours=instructions, full=full, **same)


def aggressive(found: Mapping[str, Curves]) -> Iterator[Check]:
    """What the text says of unrolling further, and of MIMD's ratio of instructions to bytes, which is never reached."""
    more = {name: each["{0} {0}".format(TIMES[-1])][1] / each["1 1"][1] for name, each in found.items()}
    ends = [end(more, key=more.__getitem__) for end in (max, min)]
    apart = more[ends[0]] / more[ends[1]]
    text = "{} {:.2f} times, by runs of {:.1f} steps and {:.1f} tests on average"
    why = "; ".join(text.format(name, more[name], *found[name]["runs"]) for name in ends)
    yield checked("apart_twice", apart >= 2, times=TIMES[-1], apart=apart, why=why)
    for name, each in found.items():
        instructions, least = each["MIMD"]
        rates = {n: each[f"{n} {n}"][1] / each[f"{n} {n}"][3] for n in TIMES}
        highest = max(rates, key=lambda n: rates[n])
        needed = max(instructions / each[f"{n} {n}"][3] for n in TIMES)
        texts: dict[str, Any] = {
            "ours": rates[highest],
            "calls": highest,
            "mimd": instructions / least,
            "needed": needed,
        }
        yield checked("never_mimd", rates[highest] < instructions / least, name=name, **texts)


def _unrolled(found: Mapping[str, Curves], panels: Sequence[tuple[str, str, int]], size: int, label: str) -> str:
    """Of each panel its title, the kernels that are unrolled, and a column of `curves`, over that of one call."""
    figure, axes = plots.figure(9.0, 3.4 if len(panels) > 2 else 3.2, ncols=len(panels), sharey=len(panels) == 2)
    for axis, (title, kernel, column) in zip(axes, panels, strict=True):
        for name, each in found.items():
            keys = [" ".join(map(str, CURVES[kernel](n))) for n in TIMES]
            axis.plot(TIMES, [each[key][column] / each["1 1"][column] for key in keys], marker=".", label=name)
        plots.powers_of_two(axis, TIMES, xlabel=label)
        axis.set_title(title, fontsize=size)
        axis.set_ylim(bottom=0)
    axes[0].legend(fontsize=7)
    return plots.svg(figure)


# -- early depth tests by blocks of pixels: how much of a pass runs in vain --------------------------------------------

BLOCKS_EDGE, QUICK_BLOCKS_EDGE = 512, 96  # pixels along a picture
SMALLEST = 4  # pixels along the smallest block of the boards of the day


@section("early_z", paper="D 5.4.2, D 4.1.2", title="Early depth tests by blocks of 4 x 4 pixels", order=7)
def early_z(context: Context) -> Parts:
    """The share of the fragments that a pass runs, by the size of the blocks that the test leaves out."""
    edge = QUICK_BLOCKS_EDGE if context.quick else BLOCKS_EDGE

    def counted(context: Context, name: str) -> dict[str, Any]:
        runs = measured.eye(context, name, edge).runs
        each, other = machines.blocks(runs, edge), Simulation(runs).play(TWENTY)
        run = {str(size): share for size, share in each.run.items()}
        return {"passes": each.passes, "run": run, "expected": [other.passes, other.active_share(runs.rays)]}

    found = yield from measured.of_views(context, "early z", (edge,), counted)
    yield report.told("early_z", published=SMALLEST)
    figure, axes = plots.figure(6.6, 3.2)
    rows, checks = [], []
    for name, each in found.items():
        run = {int(size): share for size, share in each["run"].items()}
        rows.append((name, *(percent(run[size]) for size in machines.EDGES), f"{run[SMALLEST] / run[1]:.1f}"))
        passes, active = each["expected"]
        same = passes == each["passes"] and abs(active - run[1]) < 1e-9
        checks.append(checked("two_simulations", same, name=name, expected=each["expected"], each=each, run=run[1]))
        axes.plot(machines.EDGES, [100 * run[size] for size in machines.EDGES], marker=".", label=name)
    yield tabled("fragments_that_a_pass_of", rows, checks, edge=edge)
    axes.axvline(SMALLEST, color="0.6", linestyle="--", linewidth=0.8)
    plots.powers_of_two(
        axes, machines.EDGES, "{0} x {0}", xlabel="pixels of a block", ylabel="fragments that run, % of all"
    )
    axes.set_ylim(bottom=0)
    axes.legend()
    yield captioned("early_z", svg=plots.svg(figure))


# -- call by call ------------------------------------------------------------------------------------------------------

MACHINES = ("SIMD", "MIMD", "stream buffer")
EDGE, QUICK_EDGE = 256, 128  # calls are simulated one by one
SKY = 0.93  # of a pixel that nothing hits


@section("machines", paper="D 5.2, P2 3.2, D 5.4.2", title="The simulated machines: their pictures and words", order=1)
def call_by_call(context: Context) -> Parts:
    """Every view by every machine: picture, passes, words by type."""
    edge = QUICK_EDGE if context.quick else EDGE
    rows: list[tuple[Any, ...]] = []
    checks, figures = list[Check](), list[report.Figure]()
    for name in (yield from measured.there(context)):
        found = context.keep(("machines", name, edge), lambda name=name: summary(simulated(context, name, edge)))
        for machine in MACHINES:
            each = found[machine]
            own = machine != "SIMD"
            count = (
                report.unprinted(each["passes"]) if own else beside(VIEWS[name].passes, each["passes"], report.LONGEST)
            )
            moved = (f"{each[kind]:.0f}" for kind in ("stream", "structures", "state"))
            work = (f"{part:.2f}" for part in each["work"])
            rows.append((name, machine, *work, count, *moved, percent(each["cached"], ".0f")))
        checks += machine_checks(name, found)
        note = f"By each of {', '.join(MACHINES)}: {'one picture' if found['same'] else 'pictures differ'}."
        figures.append(report.Figure(name, png=found["picture"], note=note, alt=name))
    yield tabled("what_each_machine_runs_and", rows, checks, edge=edge)
    yield from figures


def simulated(context: Context, name: str, edge: int) -> dict[str, Any]:
    """Of each machine: its picture, passes, and bytes by type."""
    view = measured.eye(context, name, edge)
    space, rays = view.space, view.rays
    buffered = machines.stream_buffer(view.runs, view.shaded, TABLE_5_1["SIMD"])
    layout, passes, launches = Layout.of(space, len(rays)), [0, 0], [0, 0]
    found: dict[str, Any] = {}
    for machine in MACHINES:
        state = State.setup(space, rays)
        traffic = Traffic(TABLE_5_1["MIMD" if machine == "MIMD" else "SIMD"])
        own: dict[str, Any] = {"layout": layout, "state": state}
        if machine == "SIMD":
            trace = references.simd_references(space, rays, traffic, passes=passes, **own)
        elif machine == "MIMD":
            trace = mimd_references(space, rays, traffic, **own)
        else:
            trace = references.buffer_references(space, rays, traffic, buffered.rays, launches=launches, **own)
        cache = Cache()
        play_all([cache], trace)
        found[machine] = {
            "picture": headlight(rays, state, space.corners, edge),
            "hits": state.triangle.copy(),
            "stream": cache.bytes_without(STREAM) / len(rays),
            "structures": cache.bytes_without(STRUCTURES) / len(rays),
            "cached": cache.ratio(),
            "state": 0.0,
            "work": [float(view.runs.steps.mean()), float(view.runs.tests.mean()), view.shaded],
        }
    total = sum(passes) + OTHER_PASSES
    model = cost(machines.workload(view.runs, view.shaded, total), TABLE_5_1["SIMD"])
    alone = cost(machines.workload(view.runs, view.shaded), TABLE_5_1["MIMD"], 0.0)
    found["SIMD"] |= {"passes": total, "state": model.bytes_by_type["state"] / len(rays)}
    found["MIMD"]["passes"], found["stream buffer"]["passes"] = 1, sum(launches)
    kinds = ("stream", "structures")
    found["expected"] = {
        "passes": [Simulation(view.runs).play(TWENTY).passes + OTHER_PASSES, sum(buffered.launches)],
        "bytes": [[each.bytes_by_type[kind] / len(rays) for kind in kinds] for each in (model, alone, buffered.cost)],
    }
    found["device"] = _on_device(context, name, rays) if name == measured.BUNNY else None
    return found


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """What the report keeps: no hits but whether all machines have the same; one picture of the three."""
    first, *others = (found[machine]["hits"] for machine in MACHINES)
    device = found["device"]
    kept = {machine: {k: v for k, v in found[machine].items() if k not in ("hits", "picture")} for machine in MACHINES}
    return {
        **kept,
        "expected": found["expected"],
        "same": all(np.array_equal(first, each) for each in others),
        "device": None if device is None else float((np.asarray(device) == first).mean()),
        "picture": webp(found[MACHINES[0]]["picture"]),
    }


def headlight(rays: NDArray, state: State, corners: NDArray, edge: int) -> NDArray[np.uint8]:
    """(edge, edge, 3) of a walk's hits, lit from the eye."""
    light, hit = np.full(len(rays), SKY), state.triangle >= 0
    _, normal = places(rays[hit], state.distance[hit], state.triangle[hit], corners)
    light[hit] = 0.08 + 0.8 * np.abs((rays["direction"][hit] * normal).sum(axis=1))
    grey = np.rint(255 * light).astype(np.uint8).reshape(edge, edge)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _on_device(context: Context, name: str, rays: NDArray) -> NDArray[np.int32]:
    """Triangles that the multipass machine of this device finds."""
    view = measured.SOURCES[name]
    settings: dict[str, Any] = {"accel": "grid", "grid": view.grid, "intersection": "moller-trumbore"}
    renderer = Renderer(view.load(context), device=context.device, program="cast", machine="multipass", **settings)
    found = renderer.trace(rays["origin"], rays["direction"]).triangle
    renderer.release()
    return np.asarray(found, np.int32)


def machine_checks(name: str, found: dict[str, Any]) -> Iterator[Check]:
    """That the machines see the same, and that what their calls come to is what the models give."""
    yield checked("machines_see", found["same"], name=name, ours="all" if found["same"] else "not all")
    if found["device"] is not None:
        # The simulated walk is in float32, operation by operation: a compiler that fuses products may part from it.
        yield checked("device_sees", found["device"] > 0.999, name=name, share=found["device"])
    ours, expected = [found["SIMD"]["passes"], found["stream buffer"]["passes"]], found["expected"]
    bytes_ = [[found[machine][kind] for kind in ("stream", "structures")] for machine in MACHINES]
    # Sums of whole words, divided by the rays.
    agrees = ours == expected["passes"] and np.allclose(bytes_, expected["bytes"], rtol=1e-9)
    yield checked("calls_and_model", agrees, name=name, theirs=expected["passes"], ours=ours)
