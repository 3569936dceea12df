"""The texture cache of D 5.2.3 and P2 4.1 to 4.3, and figure 5.6: bytes with it over bytes without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import measured, plots
from ..cache_traces import (
    COARSER,
    EDGE,
    FINER,
    HEIGHT,
    HEIGHTS,
    MACHINES,
    OFF,
    REASON_ROWS,
    SHAPES,
    TOP,
    WAYS,
    by_light,
    eye_traces,
    reflect,
    secondary,
    shadow,
    tiles,
    try_reasons,
    try_reflect,
)
from ..context import Context
from ..published.chapter5 import CACHE, TRIANGLE_HITS
from ..report import (
    CLAIM,
    LITTLE,
    MUCH,
    OURS,
    POINTS,
    Check,
    Conclusion,
    Figure,
    Parts,
    Table,
    at_points,
    captioned,
    concluded,
    section,
    tabled,
)

QUICK_ROWS, TILED_ROWS = 8, 128  # rows of a picture that are traced: quick, and of tiles; else all
BY_LIGHT = "a light after the other"  # the order of shadow rays
RULES = ("kept", "a miss")  # hits beyond the voxel: ours, and the published rule
PARTS = ("state", "stream", "structures")
PART_NAMES = {"state": "state", "stream": "stream data", "structures": "data structures"}
HALF = 0.005  # of a printed percent
# Claims, and words of the statements of their checks.
CLAIMS = {
    "cache_little": "SIMD gains little",
    "triangle_hits": "hits of triangle data",
    "shadow_gain": "Shadow: MIMD",
    "reflect_nothing": "Reflect: MIMD",
    "simd_nothing": "SIMD has no gain",
}


@section("cache", paper="D 5.2.3, P2 4.1, P2 4.2, P2 4.3, P2 5.3", title="Texture cache (figure 5.6; P2 9)")
def make(context: Context) -> Parts:
    """References of both machines in raster order, played through caches."""
    rows = QUICK_ROWS if context.quick else EDGE
    found = yield from measured.of_views(
        context, "eye rays", (EDGE, rows), lambda context, name: eye_traces(context, name, rows)
    )
    for kind, each in (("Shadow", shadow), ("Reflect", reflect)):
        found[kind] = context.keep((kind, EDGE, rows), lambda each=each: secondary(context, each, rows))
    found["Shadow"][BY_LIGHT] = context.keep(("Shadow", BY_LIGHT, EDGE, rows), lambda: by_light(context, rows))
    some = min(rows, REASON_ROWS)
    reasons = context.keep(("reasons", EDGE, some), lambda: try_reasons(context, some))
    turns = context.keep(("Reflect tried", EDGE, some), lambda: try_reflect(context, some))
    yield _table(found, rows, reasons)
    yield from _conclusions(found, reasons)
    yield _tried(reasons, turns, some)
    yield _figure(found)
    yield _shapes(found)
    wished = _wishes(context)
    yield wished
    (said,) = wished.checks
    yield concluded("tiles_in_cache", [said], f"bytes, written back: {said.ours}")


# -- what decides --------------------------------------------------------------------------------------------------


def why_secondary(kind: str, row: Mapping[str, Any], reasons: Mapping[str, float]) -> str:
    """What was tried, in a sentence."""
    if not reasons:
        return "tried with both views of the forest alone; the published one, its lights and normals are not available"
    changed = {key: f"{100 * value:+.0f} %" for key, value in reasons.items()}
    if kind == "Shadow":
        others = [reasons[f"Shadow, {height:g}, {WAYS[0]}"] for height in HEIGHTS if height != HEIGHT]
        one, more = (f"{100 * (row['MIMD']['shapes'][shape] - 1):+.0f} %" for shape in ("1365 lines", "4 ways"))
        why = f"lines of voxels that one ray needs push each other out: the same rays gain {more} "
        why += f"by 4 ways in place of {one}; with the lights at other heights, "
        why += f"{HEIGHTS[0]:g} to {HEIGHTS[-1]:g} of the forest's, a cache of one way gains "
        why += f"{100 * max(others):+.0f} to {100 * min(others):+.0f} %"
    else:
        why = "it goes by how closely reflected rays run: with normals turned at random by "
        why += " and ".join(f"{off:g}" for off in OFF) + " the first bounce has "
        why += " and ".join(changed[f"first bounce, {off:g}"] for off in OFF)
        why += f", not {changed['first bounce, 0']}"
    return f"{why}; the published forest and lights are not available"


def _tried(reasons: Mapping[str, float], turns: Mapping[str, float], traced: int) -> Table:
    rows: list[list[Any]] = []
    for height in HEIGHTS:
        for ways in WAYS:
            name = f"Shadow, lights at {height:g} heights of the forest, {ways} way{'s' if ways > 1 else ''}"
            rows.append([name, f"{100 * reasons[f'Shadow, {height:g}, {ways}']:+.0f} %"])
    rows += [[f"Reflect, {name}", f"{100 * gain:+.0f} %"] for name, gain in turns.items()]
    rows += [[f"Reflect, {edge} pixels a side", f"{100 * reasons[f'Reflect, {edge}']:+.0f} %"] for edge in COARSER]
    for off in (0.0, *OFF):
        turned = f"normals turned by {off:g}" if off else "normals as they are"
        rows.append([f"Reflect, first bounce, {turned}", f"{100 * reasons[f'first bounce, {off:g}']:+.0f} %"])
    for edge in FINER:
        pixels = f"{reasons[f'pixels, {edge}']:.1f} neighbouring pixels to a triangle"
        rows.append(
            [f"{TOP}, {edge} pixels a side, {pixels}", f"{100 * reasons[f'above, {edge}']:.1f} % hits of triangles"]
        )
    return tabled("what_decides_what_the_cache", rows, which=_which(traced).rstrip(","))


# -- what is shown -------------------------------------------------------------------------------------------------


def gain(row: dict[str, Any], machine: str, rule: str = RULES[0]) -> float:
    """Change of the bytes by the cache, states among them: -0.35 is a third less. rule : of `RULES`."""
    without, with_ = (sum(bytes_of(row, machine, rule)[kind][k] for kind in PARTS) for k in (0, 1))
    return with_ / max(1, without) - 1


def bytes_of(row: dict[str, Any], machine: str, rule: str = RULES[0]) -> dict[str, list[int]]:
    """Without and with the cache, by `PARTS`; states pass by it."""
    kept = row[machine] if rule == RULES[0] else row[machine]["missed"]
    return {**{kind: kept[kind] for kind in PARTS[1:]}, "state": [kept["state"]] * 2}


def checks(found: dict[str, dict[str, Any]], reasons: Mapping[str, float] = MappingProxyType({})) -> list[Check]:
    """What the text claims. reasons : of `try_reasons`, for what differs."""
    least = TRIANGLE_HITS[0]
    out = []
    for name, row in found.items():
        if name in measured.SOURCES:
            hits = [row[machine]["triangle hits"][1] for machine in MACHINES]
            few = f"{row['pixels to a triangle']:.1f} neighbouring pixels of a row see one triangle on average"
            if name == TOP and reasons:
                edge = FINER[-1]
                few += f"; with {edge} pixels a side {reasons[f'pixels, {edge}']:.1f}, and hits of "
                few += f"{100 * reasons[f'above, {edge}']:.1f} %"
            if hits[1] >= least - HALF:
                few += "; a pass of SIMD takes one test of every ray in turn, so that lines must outlast all others'"
            what, passed = f"{name}: hits of triangle data alone, SIMD / MIMD", min(hits) >= least - HALF
            printed, ours = f"at least {100 * least:.0f} %", " / ".join(f"{100 * each:.1f} %" for each in hits)
            out.append(Check(CLAIM, what, printed, ours, passed, few, f"to {100 * HALF:g} %, as printed"))
            simd = [gain(row, "SIMD", rule) for rule in RULES]
            mimd = [gain(row, "MIMD", rule) for rule in RULES]
            as_said = simd[0] >= -LITTLE and mimd[0] <= -MUCH  # more bytes than without are no benefit either
            both = f"{100 * simd[0]:+.0f} % / {100 * mimd[0]:+.0f} %"
            bound = f"SIMD at most {100 * LITTLE:.0f} % less, MIMD at least {100 * MUCH:.0f} % less"
            bound += f"; with hits beyond the voxel as misses {100 * simd[1]:+.0f} % / {100 * mimd[1]:+.0f} %"
            what = f"{name}: SIMD gains little, MIMD much: bytes"
            out.append(Check(CLAIM, what, "no numbers", both, as_said, few, bound))
    for kind, key in (("Shadow", "MIMD shadow"), ("Reflect", "MIMD reflect")):
        if kind in found:
            passes, one_pass, theirs = gain(found[kind], "SIMD"), gain(found[kind], "MIMD"), CACHE[key]
            why, near = why_secondary(kind, found[kind], reasons), f"to {100 * POINTS:.0f} points"
            rule = f"; with hits beyond the voxel as misses {100 * gain(found[kind], 'MIMD', RULES[1]):+.0f} %"
            order = ", a pixel's three rays in turn" if kind == "Shadow" else ""
            out.append(_gained(f"{kind}: MIMD bytes{order}", one_pass, theirs, why, near + rule))
            if kind == "Shadow":
                out.append(_gained(f"Shadow: MIMD bytes, {BY_LIGHT}", found[kind][BY_LIGHT], theirs, why, near))
            parts = (
                f"{part} {100 * both[1] / max(1, both[0]):.0f} %"
                for part, both in bytes_of(found[kind], "SIMD").items()
            )
            why = f"with the cache, of the bytes without it: {', '.join(parts)}"
            out.append(_gained(f"{kind}: SIMD has no gain", passes, 0.0, why, f"{near} either way"))
    return out


def _gained(what: str, ours: float, theirs: float, why: str, bound: str) -> Check:
    """Changes of the bytes."""
    published, shown = (f"{100 * each:+.0f} %" if each else "0 %" for each in (theirs, ours))
    return Check(CLAIM, what, published, shown, at_points(theirs, ours), why, bound)


def _table(found: dict[str, dict[str, Any]], rows: int, reasons: Mapping[str, float]) -> Table:
    lines = []
    for name, row in found.items():
        for machine in MACHINES:
            kept = row[machine]
            parts = [f"{100 * kept[kind][1] / max(1, kept[kind][0]):.0f} %" for kind in ("stream", "structures")]
            hits = [f"{100 * each:.1f} %" for each in kept["triangle hits"]]
            total, missed = (f"{100 * (1 + gain(row, machine, rule)):.0f} %" for rule in RULES)
            moved = bytes_of(row, machine)
            state = f"{100 * moved['state'][0] / max(1, sum(moved[kind][0] for kind in PARTS)):.0f} %"
            references = f"{kept['references'] / 1e6:.1f}"
            lines.append([name, machine, references, total, missed, state, *parts, *hits])
    return tabled("64_kb_direct_mapped_1", lines, checks(found, reasons), which=_which(rows))


def _conclusions(found: dict[str, dict[str, Any]], reasons: Mapping[str, float]) -> Iterator[Conclusion]:
    made = checks(found, reasons)
    for claim, words in CLAIMS.items():
        of = [check for check in made if words in check.what]
        if of:
            figure = "; ".join(str(check.ours) + check.what.partition("MIMD bytes")[2] for check in of)
            yield concluded(claim, of, f"published {of[0].published}, here {figure}")


def _which(rows: int) -> str:
    """Of a picture's rows."""
    return "all rows" if rows == EDGE else f"{rows} rows over the picture, {rows / EDGE:.1%} of it,"


def _figure(found: dict[str, dict[str, Any]]) -> Figure:
    figure, axes = plots.figure(9.0, 3.4, ncols=2, sharey=True)
    names, width = list(found), 0.36
    for axis, machine in zip(axes, MACHINES, strict=True):
        for rule, shift in zip(RULES, (-width / 2, width / 2), strict=True):
            moved = [bytes_of(found[name], machine, rule) for name in names]
            whole = np.array([max(1, sum(each[kind][0] for kind in PARTS)) for each in moved])
            stacks = {PART_NAMES[kind]: np.array([each[kind][1] for each in moved]) / whole for kind in PARTS}
            plots.stacked(axis, np.arange(len(names)) + shift, width, stacks, rule == RULES[0])
        axis.axhline(1.0, color="0.4", linestyle="--", linewidth=0.8, label="without cache")
        axis.set_xticks(range(len(names)), [name.replace(" ", "\n", 2) for name in names], fontsize=7)
        axis.set_title(machine, fontsize=9)
    axes[0].set_ylabel("bytes with the cache over bytes without")
    axes[1].legend(fontsize=7)
    return captioned("cache", svg=plots.svg(figure))


def _shapes(found: dict[str, dict[str, Any]]) -> Table:
    rows = []
    for name, row in found.items():
        for machine in MACHINES:
            kept = row[machine]
            apart = (kept["stream"][0] + kept["structures apart"]) / (kept["stream"][0] + kept["structures"][0])
            ratios = (f"{100 * kept['shapes'][shape]:.0f} %" for shape in SHAPES)
            rows.append([name, machine, *ratios, f"{100 * apart:.0f} %"])
    return tabled("other_caches", rows, columns=("view", "machine", *SHAPES, "structures alone"))


def _wishes(context: Context) -> Table:
    """Tiles to completion, and reflected rays in an order of their own."""
    rows = QUICK_ROWS if context.quick else TILED_ROWS
    lines = context.keep(("tiles", EDGE, rows), lambda: tiles(context, rows))
    by_name = {line[0]: line for line in lines}
    whole, tile = lines[0], by_name["tiles of 8 x 8"]
    what = "P2 5.3: tiles rendered to completion keep temporaries in the cache: bytes, written back"
    ours, less = f"{100 * tile[3]:.0f} % instead of {100 * whole[3]:.0f} %", tile[3] < whole[3]
    said = Check(CLAIM, what, "encouraging", ours, less, "less than without tiles")
    lines = [[name, passes, *(f"{100 * each:.0f} %" for each in shares)] for name, passes, *shares in lines]
    title = "Tiles rendered to completion (SIMD), reflected rays sorted (MIMD): forest inside"
    columns = ("order", "passes of a tile", "written through", "written back", "a cache of its own for streams")
    note = (
        f"Bytes with the cache over bytes without; the middle {rows} rows, {rows / EDGE:.1%} of the picture. Written "
        "back: lines stay in the cache until they are evicted, so that what a tile's passes hand on need not leave it; "
        "all tiles share their streams. Two caches: 32 kB each, written back."
    )
    return Table(title, columns, lines, note, [said], own=OURS)
