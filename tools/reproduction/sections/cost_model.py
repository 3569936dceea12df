"""The cost model of D 5.2.1 and P2 3.2, and figures 5.3 to 5.5 of D 5.2.2: instructions and bytes of SIMD and MIMD."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from reproduction.simulators.cost import COLOR, EYE, INTERSECT, SETUP, STEP, Cost, Workload, cost
from reproduction.simulators.machines import stream_buffer

from .. import measured, plots
from ..context import Context
from ..grades import ALL, COUNT, FITTED, LONGEST, MOST, MUCH, POINTS, about, beside
from ..model import ARITHMETIC, CLAIM, OURS, OWN, Check, Conclusion, Figure, Part, Table, Text
from ..published.chapter5 import COST_DERIVED, HARDWARE, PIXELS, TABLE_5_1, VIEWS
from ..registry import section

GIGA = 1e9
FORMULA = (
    f"The cost of a picture is C = R (C_r + v C_v + t C_t + s C_s) + R P C_state, of instructions and of bytes "
    f"alike. R "
    f"are the eye rays, {PIXELS:,}; C_r the cost of making and setting up a ray, C_v of a step of traversal, C_t of a "
    "test, C_s of a shading (Color), all by table 5.1; v, t, s how many of these a ray has. C_state is the look at the "
    "state, one byte of every ray in each of P passes; the MIMD machine has none. A word is four bytes."
)
SENTENCES = (
    ("D 5.2.2, P2 4.1", "Traversal and intersection dominate the cost.", "dominate"),
    ("D 5.2.1, P2 4.1", "The grids' resolutions make traversal and intersection take equal time.", "equal amounts"),
    ("D 5.2.2, D 5.2.4", "SIMD's instructions per byte match the Radeon 9700 Pro's.", "match the Radeon"),
    ("D 5.2.2, P2 4.2", "MIMD is limited by instructions, not by bandwidth.", "limited by"),
    (
        "D 5.2.2, P2 4.2",
        "Most of SIMD's bandwidth is for intermediate values, and a significant part for states.",
        "intermediate values",
    ),
    ("D 5.2.2, P2 4.2", "All of MIMD's bandwidth is for voxels and triangles.", "all bytes of MIMD"),
)
UNITS = {
    "dominate": "their share",
    "equal amounts": "traversal to intersection",
    "match the Radeon": "instructions per byte over the Radeon's",
    "limited by": "instructions per byte, where the Radeon has 0.208",
    "all bytes of MIMD": "of the bytes",
    "intermediate values": "of the bytes",
}
RADEON = "Radeon 9700 Pro (D)"
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
    loop = (simd.bytes_by_kernel[STEP] + simd.bytes_by_kernel[INTERSECT]) / sum(
        simd.bytes_by_kernel[kernel] for kernel in (EYE, SETUP, STEP, INTERSECT, COLOR)
    )
    radeon = HARDWARE[RADEON]["instructions"] / HARDWARE[RADEON]["bytes"]
    ratio = simd.instructions_per_byte / radeon
    match = about(1, ratio, COUNT)
    share = simd.bytes_by_type["state"] / simd.total_bytes
    why = f"{100 * share:.0f} % of the bytes are states, read for all rays in every pass"
    inside = f"to {COUNT:.0%}: instructions per byte over the Radeon's {radeon:.3f}"
    stream = mimd.bytes_by_type["stream"] / mimd.total_bytes
    between = simd.bytes_by_type["stream"] / simd.total_bytes
    traverse = simd.instructions[SETUP] + simd.instructions[STEP]
    equal = traverse / simd.instructions[INTERSECT]
    return [
        Check(
            kind,
            f"{name}: traversal and intersection dominate",
            "most of the bytes",
            f"{100 * loop:.0f} % of the kernels' bytes",
            loop > MOST,
            bound="the bound is half of the bytes",
        ),
        Check(
            kind,
            f"{name}: traversal and intersection take equal amounts of time",
            "equal",
            f"{equal:.2f} : 1 of SIMD instructions",
            about(1, equal, COUNT),
            "the grid's resolution is the published one, not tuned here",
            f"to {COUNT:.0%}",
        ),
        Check(
            kind, f"{name}: SIMD's instructions per byte match the Radeon's", "1", f"{ratio:.2f}", match, why, inside
        ),
        Check(
            kind,
            f"{name}: bytes of SIMD are mostly intermediate values, and a significant part are states",
            f"> {MOST:.0%}, and states > {POINTS:.0%}",
            f"{100 * between:.0f} %, and {100 * share:.0f} % states",
            between > MOST and share > POINTS,
            "a ray that does little has few intermediate values, and is asked for its state in every pass",
        ),
        Check(
            kind,
            f"{name}: all bytes of MIMD are voxels and triangles",
            "0 % stream",
            f"{100 * stream:.1f} % stream",
            stream < ALL,
            "by table 5.1 an eye ray moves 11 words of streams and its shading 3: the more, the less a ray does",
            f"to {ALL:.0%}",
        ),
    ]


def limited(name: str, found: Mapping[str, Cost]) -> Check:
    """Of a published view. Each kernel of table 5.1 alone is above the processor's ratio, so that by these kernels no
    view could say otherwise: of ours it is not asked."""
    radeon, ours = HARDWARE[RADEON]["instructions"] / HARDWARE[RADEON]["bytes"], found["MIMD"].instructions_per_byte
    what, published = f"{name}: MIMD is limited by instructions", f"> {radeon:.3f} (2.5 G / 12 GB)"
    why = "the ratio of the two must be above the processor's own"
    return Check(ARITHMETIC, what, published, f"{ours:.2f}", ours > radeon, why)


def listed(values: list[str]) -> str:
    """Values in a row; the words that all of them end with stand once, behind the last."""
    heads = [re.sub(r"(?: [A-Za-z'-]+)+$", "", value) for value in values]
    ends = [value.removeprefix(head) for value, head in zip(values, heads, strict=True)]
    if len(set(ends)) > 1 or any(", " in head for head in heads):
        return "; ".join(values) if any(", " in value for value in values) else ", ".join(values)
    return ", ".join(heads) + ends[0]


def _conclusions(own: list[Check], printed: list[Check]) -> Iterator[Conclusion]:
    """A sentence of the text for each statement, tested on our views."""
    for paper, claim, words in SENTENCES:
        ours, theirs = ([check for check in checks if words in check.what] for checks in (own, printed))
        kept = sum(check.passed is True for check in theirs)
        if not ours:
            figures = ", ".join(str(check.ours) for check in theirs)
            yield Conclusion(paper, claim, [check.passed for check in theirs], f"by table 5.1 {figures}", ARITHMETIC)
            continue
        figure = listed([str(check.ours) for check in ours])
        yield Conclusion(
            paper,
            claim,
            [check.passed for check in ours],
            f"here, {UNITS.get(words, words)}: {figure}; by the paper's own tables it holds in {kept} of "
            f"{len(theirs)} views",
        )


@section(
    "cost_model",
    paper="D 5.2.1, D 5.2.2, P2 3.2, P2 4.1, P2 4.2",
    title="The cost model (figures 5.3 to 5.5; P2 7 and 8)",
)
def make(context: Context) -> Iterator[Part]:
    """C = R (C_r + v C_v + t C_t + s C_s) + R P C_state, over the published figures and ours."""
    yield Text(FORMULA)
    theirs, ours, works = published(), {}, {}
    for name in (yield from measured.there(context)):
        works[name] = Workload(**measured.workload(context, name))
        ours[name] = costs(works[name], TABLE_5_1)
    printed = [check for name, found in theirs.items() for check in claims(ARITHMETIC, name, found)]
    printed += [limited(name, found) for name, found in theirs.items()]
    note = "No paper prints these numbers: they are derived, the model over table 5.1 and figure 5.2 as printed."
    yield _table("Derived: published views, by the published kernels", theirs, sums() + printed, note)
    yield _bytes("Derived: published views, gigabytes by kernel of SIMD", theirs)
    if not ours:
        return
    yield _workloads(works)
    note = "The kernels are table 5.1's, so that they compare with the table above; per ray, as sizes differ."
    own = [check for name, found in ours.items() for check in claims(CLAIM, name, found)]
    yield _table("Our views, by the published kernels", ours, own, note)
    yield _bytes("Our views, bytes a ray by kernel of SIMD", ours, {name: work.rays for name, work in works.items()})
    yield from _conclusions(own, printed)
    saved = [1 - found["MIMD"].total_bytes / found["SIMD"].total_bytes for found in ours.values()]
    yield Conclusion(
        "A 6",
        "A single pass saves memory bandwidth.",
        [each >= MUCH for each in saved],
        f"here, by the kernels of table 5.1, bytes of MIMD's one pass less than SIMD's: "
        f"{', '.join(f'{each:.0%}' for each in saved)}",
    )
    rows = measured.our_rows(context)
    if rows is not None:
        by_ours = {name: costs(work, rows) for name, work in works.items()}
        note = "Instructions by what glslangValidator makes of our kernels, as in table 5.1; words of our records."
        yield _table("Our views, by our kernels", by_ours, [], note)
    for number, machine in (("5.3", "SIMD"), ("5.4", "MIMD")):
        yield _by_kernel(f"Figure {number}: {machine}, by kernel", machine, theirs, ours, works)
    yield _by_type(theirs, ours, works)
    yield _buffers(context, works)


def _workloads(works: Mapping[str, Workload]) -> Table:
    rows = []
    for name, work in works.items():
        view = VIEWS[name]
        cells = [beside(getattr(view, key), f"{getattr(work, key):.2f}", FITTED) for key in ("v", "t", "s")]
        rows.append((name, *cells, beside(view.passes, work.passes, LONGEST)))
    return Table(
        "What a ray does", ("view", "v", "t", "s", "P"), rows, note="v voxels, t tests, s shadings a ray; P passes."
    )


def _table(title: str, found: Mapping[str, Mapping[str, Cost]], checks: list[Check], note: str = "") -> Table:
    names = {
        "instructions": "SIMD instr, G",
        "traverse": "traversal",
        "intersect": "intersection",
        "color": "shading",
        "bytes": "SIMD GB",
        "stream": "stream",
        "structures": "structures",
        "state": "state",
        "instructions per byte": "instr / byte",
        "MIMD instructions": "MIMD instr, G",
        "MIMD bytes": "MIMD GB",
        "MIMD instructions per byte": "instr / byte ",
    }
    rows = []
    for name, each in found.items():
        values = derived(each)
        rows.append((name, *(f"{values[key]:.3g}" if values[key] < 0.01 else f"{values[key]:.3f}" for key in names)))
    return Table(title, ("view", *names.values()), rows, note=note, checks=checks, own=OURS)


def _bytes(title: str, found: Mapping[str, Mapping[str, Cost]], rays: Mapping[str, int] | None = None) -> Table:
    """Bytes of a picture by kernel, GB, or of a ray. rays : of each view, for those of a ray."""
    kernels = {**{name.rpartition(": ")[2]: name for name in (EYE, SETUP, STEP, INTERSECT, COLOR)}}
    kernels["state reads"] = "state reads"
    rows = []
    for name, each in found.items():
        over, shown = (GIGA, ".2f") if rays is None else (rays[name], ".0f")
        moved = each["SIMD"].bytes_by_kernel
        rows.append((name, *(format(moved[kernel] / over, shown) for kernel in kernels.values())))
    return Table(title, ("view", *kernels), rows, own=OURS)


def _by_kernel(
    title: str, machine: str, theirs: Mapping[str, Any], ours: Mapping[str, Any], works: Mapping[str, Workload]
) -> Figure:
    figure, axes = plots.figure(9.0, 3.8, ncols=2)
    groups = {"eye, set-up": (EYE, SETUP), "traversal": (STEP,), "intersection": (INTERSECT,), "shading": (COLOR,)}
    columns = _columns(theirs, ours, machine)
    for axis, what in zip(axes, ("instructions", "bytes_by_kernel"), strict=True):
        parts = dict(groups)
        if machine == "SIMD" and what == "bytes_by_kernel":
            parts["state reads"] = ("state reads",)
        stacks = {
            label: [
                sum(getattr(each, what)[kernel] for kernel in kernels) / rays for each, rays in _scaled(columns, works)
            ]
            for label, kernels in parts.items()
        }
        _bars(axis, list(columns), stacks)
        for hardware, style in zip(HARDWARE, ("--", ":"), strict=True):
            line = HARDWARE[hardware]["instructions" if what == "instructions" else "bytes"]
            axis.axhline(line / PIXELS, color="0.4", linestyle=style, linewidth=0.8, label=f"{hardware}, a second")
        axis.set_ylabel("instructions a ray" if what == "instructions" else "bytes a ray")
    axes[1].legend(*axes[1].get_legend_handles_labels(), fontsize=7)
    note = (
        "Of each pair the left bar is derived: the model over the printed tables, as the papers' bars have no "
        "numbers; the "
        "right one is our stand-in by the same kernels. Dashed: what a Radeon "
        "9700 Pro does in a second (2.5 G instructions, 12 GB), dotted a GeForce3 by P2 (2 G, 8 GB), over 1024 x 1024 "
        "rays."
    )
    return Figure(title, svg=plots.svg(figure), note=note, alt="stacked bars by kernel for five views")


def _by_type(theirs: Mapping[str, Any], ours: Mapping[str, Any], works: Mapping[str, Workload]) -> Figure:
    figure, axes = plots.figure(9.0, 3.8, ncols=2)
    for axis, machine in zip(axes, ("SIMD", "MIMD"), strict=True):
        columns = _columns(theirs, ours, machine)
        stacks = {
            label: [each.bytes_by_type[kind] / rays for each, rays in _scaled(columns, works)]
            for kind, label in TYPE_NAMES.items()
        }
        _bars(axis, list(columns), stacks)
        axis.set_ylabel(f"{machine}: bytes a ray")
    axes[0].legend(*axes[0].get_legend_handles_labels(), fontsize=7)
    note = (
        "Of each pair the left bar is derived from the printed tables, the right one our stand-in by the same kernels."
    )
    return Figure(
        "Figure 5.5: bytes by type", svg=plots.svg(figure), note=note, alt="stacked bars by type for five views"
    )


def _columns(theirs: Mapping[str, Any], ours: Mapping[str, Any], machine: str) -> dict[tuple[str, str], Cost]:
    """By view and whose: a bar each."""
    found = {}
    for name in theirs:
        found[name, "derived"] = theirs[name][machine]
        if name in ours:
            found[name, "ours"] = ours[name][machine]
    return found


def _scaled(columns: Mapping[tuple[str, str], Cost], works: Mapping[str, Workload]) -> Iterator[tuple[Cost, int]]:
    for (name, whose), each in columns.items():
        yield each, PIXELS if whose == "derived" else works[name].rays


def _bars(axis: Any, columns: list[tuple[str, str]], stacks: Mapping[str, list[float]]) -> None:
    names = list(dict.fromkeys(name for name, _ in columns))
    places = [names.index(name) + (-0.2 if whose == "derived" else 0.2) for name, whose in columns]
    below = [0.0] * len(columns)
    for color, (label, heights) in zip(plots.COLORS, stacks.items(), strict=False):
        axis.bar(places, heights, 0.36, bottom=below, label=label, color=color)
        below = [low + height for low, height in zip(below, heights, strict=True)]
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
        rows.append(
            (
                name,
                held,
                steps,
                tests,
                f"{100 * share:.1f} %",
                f"{off / rays:.0f}",
                f"{on / rays:.0f}",
                f"{simd.total_bytes / rays:.0f}",
                f"{mimd.total_bytes / rays:.0f}",
            )
        )
    return Table(
        "A stream buffer on the chip, with conditional output (D 5.2.3, 5.4.2)",
        (
            *("view", "rays held", "launches of traversal", "of intersection", "lanes used"),
            *("bytes a ray off chip", "on chip", "SIMD", "MIMD"),
        ),
        rows,
        note="Not simulated by the authors: 128 kB hold rays with their records; the longer queue is served, all of "
        "it; each ray is appended to the queue it waits in next. No mask, no state, and off the chip no more than "
        "MIMD.",
        own=OURS,
    )
