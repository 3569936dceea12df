"""The cost model of D 5.2.1 and P2 3.2, and figures 5.3 to 5.5 of D 5.2.2: instructions and bytes of SIMD and MIMD."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reproduction.simulators.cost import COLOR, EYE, INTERSECT, KERNELS, SETUP, STEP, Cost, Workload, cost
from reproduction.simulators.machines import stream_buffer

from .. import measured, plots
from ..context import Context
from ..published.chapter5 import COST_DERIVED, HARDWARE, PIXELS, TABLE_5_1, VIEWS
from ..report import (
    ALL,
    ARITHMETIC,
    CLAIM,
    COUNT,
    FITTED,
    LONGEST,
    MOST,
    MUCH,
    OWN,
    POINTS,
    Check,
    Conclusion,
    Figure,
    Parts,
    Table,
    about,
    beside,
    captioned,
    concluded,
    listed,
    section,
    tabled,
    told,
)

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
RADEON = "Radeon 9700 Pro (D)"
SHOWN = 12  # of the figures of `derived`, in a table
Views = Mapping[str, Mapping[str, Cost]]  # by view and machine
TYPE_NAMES = {"state": "state", "stream": "stream data", "structures": "data structures"}


def costs(work: Workload, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Cost]:
    """Of a view on both machines, by the rows of table 5.1."""
    alone = Workload(work.rays, work.v, work.t, work.s, eye=work.eye)
    return {"SIMD": cost(work, rows["SIMD"]), "MIMD": cost(alone, rows["MIMD"], state=0.0)}


def derived(found: Mapping[str, Cost]) -> dict[str, float]:
    """The figures of `COST_DERIVED`: G instructions and GB."""
    simd, mimd = found["SIMD"], found["MIMD"]
    return {
        "instructions": simd.total_instructions / GIGA,
        "traverse": (simd.instructions[SETUP] + simd.instructions[STEP]) / GIGA,
        "intersect": simd.instructions[INTERSECT] / GIGA,
        "color": simd.instructions[COLOR] / GIGA,
        "bytes": simd.total_bytes / GIGA,
        "stream": simd.bytes_by_type["stream"] / GIGA,
        "structures": simd.bytes_by_type["structures"] / GIGA,
        "state": simd.bytes_by_type["state"] / GIGA,
        "instructions per byte": simd.instructions_per_byte,
        "MIMD instructions": mimd.total_instructions / GIGA,
        "MIMD bytes": mimd.total_bytes / GIGA,
        "MIMD instructions per byte": mimd.instructions_per_byte,
        "step bytes": simd.bytes_by_kernel[STEP] / GIGA,
        "intersect bytes": simd.bytes_by_kernel[INTERSECT] / GIGA,
        "state reads": simd.bytes_by_kernel["state reads"] / GIGA,
    }


def published() -> dict[str, dict[str, Cost]]:
    """The model over the printed tables alone: table 5.1 and fig. 5.2."""
    return {
        name: costs(Workload(PIXELS, view.v, view.t, view.s, view.passes), TABLE_5_1) for name, view in VIEWS.items()
    }


def digits(value: float, like: float) -> str:
    """A figure with as many decimals as ``like`` is known with."""
    return f"{value:.{max(2, len(repr(like).partition('.')[2]))}f}"


def sums() -> list[Check]:
    """Every digit of what follows from the printed tables."""
    checks = []
    for name, found in published().items():
        ours = derived(found)
        wrong = {
            key: ours[key]
            for key, value in COST_DERIVED[name].items()
            if digits(ours[key], value) != digits(value, value)
        }
        what = f"{name}: {len(COST_DERIVED[name])} figures of the model, worked out twice, to every digit"
        text = ", ".join(f"{key} {value:.4f}" for key, value in wrong.items()) or "all equal"
        checks.append(Check(OWN, what, "all equal", text, not wrong, "the program and a sheet by hand differ"))
    return checks


def claims(kind: str, name: str, found: Mapping[str, Cost]) -> list[Check]:
    """What the text says of every view, for one. kind : of the checks: `ARITHMETIC` of the published views."""
    simd, mimd = found["SIMD"], found["MIMD"]
    moved = simd.bytes_by_kernel
    loop = (moved[STEP] + moved[INTERSECT]) / sum(moved[kernel] for kernel in KERNELS)
    radeon = HARDWARE[RADEON]["instructions"] / HARDWARE[RADEON]["bytes"]
    ratio = simd.instructions_per_byte / radeon
    share = simd.bytes_by_type["state"] / simd.total_bytes
    stream = mimd.bytes_by_type["stream"] / mimd.total_bytes
    between = simd.bytes_by_type["stream"] / simd.total_bytes
    traverse = simd.instructions[SETUP] + simd.instructions[STEP]
    equal = traverse / simd.instructions[INTERSECT]
    what, ours = f"{name}: traversal and intersection dominate", f"{100 * loop:.0f} % of the kernels' bytes"
    checks = [Check(kind, what, "most of the bytes", ours, loop > MOST, bound="the bound is half of the bytes")]
    what, ours = f"{name}: traversal and intersection take equal amounts of time", f"{equal:.2f} : 1"
    why, near = "the grid's resolution is the published one, not tuned here", about(1, equal, COUNT)
    checks.append(Check(kind, what, "equal", f"{ours} of SIMD instructions", near, why, f"to {COUNT:.0%}"))
    what, why = (
        f"{name}: SIMD's instructions per byte match the Radeon's",
        f"{100 * share:.0f} % of the bytes are states",
    )
    near, bound = about(1, ratio, COUNT), f"to {COUNT:.0%}: instructions per byte over the Radeon's {radeon:.3f}"
    checks.append(Check(kind, what, "1", f"{ratio:.2f}", near, f"{why}, read for all rays in every pass", bound))
    what = f"{name}: bytes of SIMD are mostly intermediate values, and a significant part are states"
    why = "a ray that does little has few intermediate values, and is asked for its state in every pass"
    ours = f"{100 * between:.0f} %, and {100 * share:.0f} % states"
    theirs, both = f"> {MOST:.0%}, and states > {POINTS:.0%}", between > MOST and share > POINTS
    checks.append(Check(kind, what, theirs, ours, both, why))
    what, ours = f"{name}: all bytes of MIMD are voxels and triangles", f"{100 * stream:.1f} % stream"
    why = "by table 5.1 an eye ray moves 11 words of streams and its shading 3: the more, the less a ray does"
    checks.append(Check(kind, what, "0 % stream", ours, stream < ALL, why, f"to {ALL:.0%}"))
    return checks


def limited(name: str, found: Mapping[str, Cost]) -> Check:
    """Of a published view. Each kernel of table 5.1 alone is above the processor's ratio, so that by these kernels no
    view could say otherwise: of ours it is not asked."""
    radeon, ours = HARDWARE[RADEON]["instructions"] / HARDWARE[RADEON]["bytes"], found["MIMD"].instructions_per_byte
    what, published = f"{name}: MIMD is limited by instructions", f"> {radeon:.3f} (2.5 G / 12 GB)"
    why = "the ratio of the two must be above the processor's own"
    return Check(ARITHMETIC, what, published, f"{ours:.2f}", ours > radeon, why)


def with_common_ending(values: list[str]) -> str:
    """Values in a row; the words that all of them end with stand once, behind the last."""
    heads = [re.sub(r"(?: [A-Za-z'-]+)+$", "", value) for value in values]
    ends = [value.removeprefix(head) for value, head in zip(values, heads, strict=True)]
    if len(set(ends)) > 1 or any(", " in head for head in heads):
        return "; ".join(values) if any(", " in value for value in values) else ", ".join(values)
    return ", ".join(heads) + ends[0]


def _conclusions(own: list[Check], printed: list[Check]) -> Iterator[Conclusion]:
    """A sentence of the text for each statement, tested on our views."""
    for claim, words, unit in CLAIMS:
        ours, theirs = ([check for check in checks if words in check.what] for checks in (own, printed))
        if not ours:
            yield concluded(claim, theirs, f"by table 5.1 {', '.join(str(check.ours) for check in theirs)}")
            continue
        holds = sum(check.passed is True for check in theirs)
        figures = with_common_ending([str(check.ours) for check in ours])
        own_tables = f"by the paper's own tables it holds in {holds} of {len(theirs)} views"
        yield concluded(claim, ours, f"here, {unit}: {figures}; {own_tables}")


@section(
    "cost_model",
    paper="D 5.2.1, D 5.2.2, P2 3.2, P2 4.1, P2 4.2",
    title="The cost model (figures 5.3 to 5.5; P2 7 and 8)",
)
def make(context: Context) -> Parts:
    """C = R (C_r + v C_v + t C_t + s C_s) + R P C_state, over the published figures and ours."""
    yield told("cost_model", pixels=PIXELS)
    theirs, ours, works = published(), {}, {}
    for name in (yield from measured.there(context)):
        works[name] = Workload(**measured.workload(context, name))
        ours[name] = costs(works[name], TABLE_5_1)
    printed = [check for name, found in theirs.items() for check in claims(ARITHMETIC, name, found)]
    printed += [limited(name, found) for name, found in theirs.items()]
    yield _table("costs_derived", theirs, sums() + printed)
    yield _bytes("bytes_derived", theirs, dict.fromkeys(theirs, GIGA), ".2f")
    yield _workloads(works)
    own = [check for name, found in ours.items() for check in claims(CLAIM, name, found)]
    yield _table("costs_by_published_kernels", ours, own)
    rays = {name: work.rays for name, work in works.items()}
    yield _bytes("bytes_of_a_ray", ours, rays, ".0f")
    yield from _conclusions(own, printed)
    saved = [1 - found["MIMD"].total_bytes / found["SIMD"].total_bytes for found in ours.values()]
    text = f"here, by the kernels of table 5.1, bytes of MIMD's one pass less than SIMD's: {listed(saved, '.0%')}"
    yield concluded("single_pass", [each >= MUCH for each in saved], text)
    kernels = measured.our_rows(context)
    if kernels is not None:
        yield _table("costs_by_our_kernels", {name: costs(work, kernels) for name, work in works.items()})
    sides = (theirs, dict.fromkeys(theirs, PIXELS)), (ours, rays)
    yield _by_kernel("5.3", "SIMD", sides)
    yield _by_kernel("5.4", "MIMD", sides)
    yield _by_type(sides)
    yield _buffers(context, works)


def _workloads(works: Mapping[str, Workload]) -> Table:
    rows = []
    for name, work in works.items():
        view = VIEWS[name]
        cells = [beside(getattr(view, key), f"{getattr(work, key):.2f}", FITTED) for key in ("v", "t", "s")]
        rows.append((name, *cells, beside(view.passes, work.passes, LONGEST)))
    return tabled("what_a_ray_does", rows)


def _table(key: str, found: Views, checks: Sequence[Check] = ()) -> Table:
    rows = []
    for name, each in found.items():
        values = list(derived(each).values())[:SHOWN]
        rows.append((name, *(f"{value:.3g}" if value < 0.01 else f"{value:.3f}" for value in values)))
    return tabled(key, rows, checks)


def _bytes(key: str, found: Views, over: Mapping[str, float], shown: str) -> Table:
    """Bytes of SIMD by kernel, over a number of each view, in a format."""
    rows = []
    for name, each in found.items():
        moved = each["SIMD"].bytes_by_kernel
        rows.append((name, *(format(moved[kernel] / over[name], shown) for kernel in (*KERNELS, "state reads"))))
    return tabled(key, rows)


def _by_kernel(number: str, machine: str, sides: Sequence[tuple[Views, Mapping[str, int]]]) -> Figure:
    figure, axes = plots.figure(9.0, 3.8, ncols=2)
    groups = {"eye, set-up": (EYE, SETUP), "traversal": (STEP,), "intersection": (INTERSECT,), "shading": (COLOR,)}
    for axis, what, unit in zip(axes, ("instructions", "bytes_by_kernel"), ("instructions", "bytes"), strict=True):
        reads = {"state reads": ("state reads",)} if machine == "SIMD" and unit == "bytes" else {}
        _bars(axis, machine, sides, what, {**groups, **reads})
        for hardware, style in zip(HARDWARE, ("--", ":"), strict=True):
            line = HARDWARE[hardware][unit] / PIXELS
            axis.axhline(line, color="0.4", linestyle=style, linewidth=0.8, label=f"{hardware}, a second")
        axis.set_ylabel(f"{unit} a ray")
    axes[1].legend(*axes[1].get_legend_handles_labels(), fontsize=7)
    return captioned("by_kernel", svg=plots.svg(figure), number=number, machine=machine)


def _by_type(sides: Sequence[tuple[Views, Mapping[str, int]]]) -> Figure:
    figure, axes = plots.figure(9.0, 3.8, ncols=2)
    for axis, machine in zip(axes, ("SIMD", "MIMD"), strict=True):
        _bars(axis, machine, sides, "bytes_by_type", {label: (kind,) for kind, label in TYPE_NAMES.items()})
        axis.set_ylabel(f"{machine}: bytes a ray")
    axes[0].legend(*axes[0].get_legend_handles_labels(), fontsize=7)
    return captioned("by_type", svg=plots.svg(figure))


def _bars(
    axis: Any,
    machine: str,
    sides: Sequence[tuple[Views, Mapping[str, int]]],
    what: str,
    groups: Mapping[str, Sequence[str]],
) -> None:
    """Of each view a bar of each side, derived and ours: a ray's share of what `Cost` has, by groups of its keys."""
    names = list(sides[0][0])
    bars = [
        (names.index(name) + shift, getattr(costs[name][machine], what), rays[name])
        for name in names
        for shift, (costs, rays) in zip((-0.2, 0.2), sides, strict=True)
        if name in costs
    ]
    stacks = {
        label: [sum(each[key] for key in keys) / rays for _, each, rays in bars] for label, keys in groups.items()
    }
    plots.stacked(axis, [place for place, *_ in bars], 0.36, stacks)
    axis.set_xticks(range(len(names)), [name.replace(" ", "\n", 2) for name in names], fontsize=7)


def _buffers(context: Context, works: Mapping[str, Workload]) -> Table:
    """The wished-for stream machine."""
    rows = []
    for name in works:

        def make(name: str = name) -> list[float]:
            view = measured.eye(context, name)
            found = stream_buffer(view.runs, view.shaded, TABLE_5_1["SIMD"])
            return [found.rays, *found.launches, found.occupancy, found.cost.total_bytes, found.on_chip]

        held, steps, tests, share, off, on = context.keep(("stream buffer", name, *measured.size(context)), make)
        simd, mimd = costs(works[name], TABLE_5_1)["SIMD"], costs(works[name], TABLE_5_1)["MIMD"]
        rays = works[name].rays
        moved = (f"{each / rays:.0f}" for each in (off, on, simd.total_bytes, mimd.total_bytes))
        rows.append((name, held, steps, tests, f"{100 * share:.1f} %", *moved))
    return tabled("a_stream_buffer_on_the", rows)
