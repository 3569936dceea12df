"""D 6.2: how the photon map is built and searched, step by step; figures 6.2, 6.5 and 6.6."""

from __future__ import annotations

from typing import Any

import numpy as np

from raystream.photons.grid import list_size
from reproduction.simulators.photons import STENCIL_LARGEST, bitonic_passes, bitonic_sort, route, search, stencil_count

from .. import photon_cases, plots, timed
from ..context import Context
from ..drawings import draw_photon_memory
from ..published.chapter6 import (
    CAPTION_NEAREST,
    CAPTION_REJECTED,
    LARGEST_GRID,
    READ_BACK_SHARE,
    SORT_PASSES,
    STENCIL_EDGES,
)
from ..report import (
    ARITHMETIC,
    CLAIM,
    OWN,
    Check,
    Parts,
    beside,
    captioned,
    concluded,
    exact,
    section,
    tabled,
    told,
    unprinted,
)
from .diagrams import listing

BUS = "another bus, or none where the device is the processor itself; and no numbers are printed of "
BUS += "what few and many photons are"
SCENE_PHOTONS = {5_000: 91, 16_000: 105, 65_000: 136}  # k (k + 1) / 2 passes of their lists
# By cell: two in the point's own, one beyond the maximum radius, one that widens the radius, one beyond it, one within.
DRAWN = np.array([[1.8, 1.5], [1.5, 1.1], [0.2, 0.4], [0.9, 0.9], [1.5, 0.4], [2.05, 1.5]])
MIXED_UP = "m and its square were mixed up: 65,536 cells need m = 4"
CROWD = 300  # photons of a cell, more than eight bits count
POINT, WANTED, RADIUS = (1.5, 1.5), 3, 1.2


@section(
    "bitonic",
    paper="D 6.2.2, P3 2.2.1",
    title="The map by bitonic merge sort (figures 6.2 to 6.4)",
    order=1,
    timed=True,
)
def bitonic(context: Context) -> Parts:
    """The network of eight elements, its kernel and result, passes, and the sort on the device."""
    yield captioned("sort_network", svg=_network(8))
    note = "partner is half of the published 'stage', run its 'stepno'; what is mod and floor there are bits here, and "
    note += "equal cells are ordered by photon."
    title = "Figure 6.3: the fragment program of a step of the bitonic merge sort"
    yield listing(title, "photons/sort_step.glsl", note)
    yield captioned("photon_memory", svg=draw_photon_memory(DRAWN))
    keys = np.random.default_rng(6).integers(0, 40, 256)
    order = bitonic_sort(keys)
    whole = bool((np.diff(keys[order]) >= 0).all()) and len(set(order.tolist())) == len(keys)
    what = "The published listing sorts 256 keys, many of them equal, and loses none"
    yield Check(CLAIM, what, True, whole, whole, "the listing leaves them out of order")
    for elements, passes in SORT_PASSES.items():
        few = (8, 64, 1024)
        agrees = [len(bitonic_passes(n)) for n in few] == [_passes(n) for n in few] and _passes(elements) == passes
        also = "and of 8, 64 and 1,024 elements 6, 21 and 55, by the listing"
        what = f"Passes of the sort of {elements:,} elements, k (k + 1) / 2"
        yield Check(ARITHMETIC, what, passes, _passes(elements), agrees, bound=also)
    counts = tuple(SCENE_PHOTONS)[:1] if context.quick else (*SCENE_PHOTONS, 1 << 20)
    found = timed.keep(context, ("sorts", counts), lambda: photon_cases.sorts(context.device, counts))
    rows, checks = [], []
    for photons in counts:
        parts, size, printed = found[str(photons)].parts, list_size(photons), SORT_PASSES.get(photons)
        made, expected = int(parts["passes"].median), printed or SCENE_PHOTONS[photons]
        agrees = made == expected and all(parts["sorted"].values)
        what = f"{photons:,} photons in a list of {size[0] * size[1]:,}: sorted on the device, passes"
        kind, theirs = (CLAIM, expected) if printed else (OWN, f"{expected} = k (k + 1) / 2")
        checks.append(Check(kind, what, theirs, made, agrees, "another number of passes, or no order"))
        cell = exact(printed, made) if printed else unprinted(made)
        rows.append((f"{photons:,}", cell, _ms(parts["sort"]), _ms(parts["search"])))
    one, again = (found[each].parts["sort"] for each in (str(counts[0]), photon_cases.AGAIN))
    checks.append(timed.alike(f"the sort of {counts[0]:,} photons, timed twice in turns", one, again))
    yield tabled("the_sort_on_this_device", rows, checks)
    sorted_ = [check for check in checks if check.kind == CLAIM]
    if sorted_:
        yield concluded("sort_passes", sorted_, f"{sorted_[0].ours} on this device, sorted")


def _ms(seconds: timed.Spread) -> str:
    return seconds.of(lambda each: 1e3 * each).text()


def _passes(elements: int) -> int:
    steps = elements.bit_length() - 1
    return steps * (steps + 1) // 2


def _network(n: int) -> str:
    figure, axes = plots.figure(6.4, 2.9)
    axes.grid(False)
    axes.axis("off")
    x = 0.0
    run = 0
    for each in bitonic_passes(n):
        x += 1.2 if each.run != run else 0.5
        run = each.run
        left = x
        for low, high in zip(each.low, each.high, strict=True):
            ends, color = ((x, -float(high)), (x, -float(low))), plots.COLORS[run.bit_length() - 2]
            axes.annotate("", *ends, arrowprops={"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0})
            x += 0.28
        axes.text((left + x - 0.28) / 2, 0.75, f"{each.offset}", ha="center", fontsize=8, color="#5d6875")
    for element in range(n):
        axes.plot([0.4, x + 0.6], [-element, -element], color="#9aa4b0", linewidth=0.7, zorder=0)
        axes.text(0.2, -element, str(element), ha="right", va="center", fontsize=8)
    axes.text(0.2, 0.75, "distance", ha="right", fontsize=8, color="#5d6875")
    axes.set(xlim=(-1.0, x + 0.8), ylim=(-n + 0.4, 1.4))
    return plots.svg(figure)


@section(
    "stencil_routing", paper="D 6.2.2, P3 2.2.2", title="The map by stencil routing (figure 6.5)", order=2, timed=True
)
def stencil_routing(context: Context) -> Parts:
    """Photons drawn over a cell's texels, of which the stencil lets one pass."""
    yield captioned("stencil_routing", svg=_routing())
    rows, checks = [], []
    for edge, wraps in ((2, False), (4, False), (15, False), (16, False), (16, True)):
        texels = edge * edge
        kept = len(set(route(texels, edge, wraps).tolist()) - {-1})
        name = "increment and wrap" if wraps else "increment"
        cells = (1024 // edge) ** 2
        printed = exact(STENCIL_EDGES[1], cells, MIXED_UP) if edge == STENCIL_EDGES[0] else unprinted(cells)
        held = f"{name}: a texel that has come to {STENCIL_LARGEST} stays there and takes every later photon"
        left = exact(texels, kept, held) if edge in (2, STENCIL_EDGES[0]) else unprinted(kept)
        told = stencil_count(CROWD, wraps)
        rows.append((f"m = {edge}, {name}", texels, left, printed, told, f"{told / CROWD:.0%}"))
        if edge < 16:
            what = f"m = {edge}: of m^2 = {texels} photons of a cell as many texels are filled"
            checks.append(Check(CLAIM, what, texels, kept, kept == texels, "fewer are filled"))
        elif not wraps:
            why = (
                "255 is where 8 bits saturate: texels that came there take every later photon. GL_INCR_WRAP keeps all."
            )
            what = "m = 16, increment: of m^2 = 256 photons of a cell as many texels are filled"
            checks.append(Check(CLAIM, what, texels, kept, kept == texels, why))
    stencil: dict[str, Any] = {"stencil_largest": STENCIL_LARGEST, "remainder": STENCIL_LARGEST + 1}
    yield tabled("photons_that_are_left_of", rows, checks, crowd=CROWD, **stencil)
    text = "to m = 15; with the published m = 16 one of 256 photons is left, as eight bits saturate"
    yield concluded("stencil_keeps", checks, text)
    cells = (1024 // STENCIL_EDGES[0]) ** 2
    what = f"cells of a buffer of 1024 x 1024 with m = {STENCIL_EDGES[0]}"
    same, why = cells == STENCIL_EDGES[1], MIXED_UP
    yield Check(ARITHMETIC, what, f"{STENCIL_EDGES[1]:,}", f"{cells:,}", same, why)
    largest = LARGEST_GRID**3
    what = f"{STENCIL_EDGES[1]:,} cells are enough for a grid of {LARGEST_GRID}^3 (D), are approximately that many (P3)"
    fits = 0.9 * STENCIL_EDGES[1] <= largest <= STENCIL_EDGES[1]
    why = "the grid has more cells, or much less"
    yield Check(ARITHMETIC, what, f"<= {STENCIL_EDGES[1]:,}", f"{largest:,}", fits, why, "to a tenth, and not more")
    counts = (1_000,) if context.quick else (5_000, 65_000, 1_000_000)
    found = timed.keep(context, ("read back", counts), lambda: photon_cases.read_backs(context.device, counts))
    published = f"published: {READ_BACK_SHARE[0]} of few, {READ_BACK_SHARE[1]} of many"
    times, checks, shares = [], [], []
    for photons, share in zip(counts, _shares(len(counts)), strict=True):
        fetch, back = (found[f"{photons} {way}"].parts for way in ("fetch", "read-back"))
        shares.append(f"{back['reading'].median / back['build'].median:.0%}")
        seconds = _ms(fetch["build"]), _ms(back["build"])
        times.append((f"{photons:,}", int(back["stored"].median), *seconds, beside(share, shares[-1], BUS)))
        what = f"The read-back's share of building, {photons:,} photons emitted"
        checks.append(Check(OWN, what, published, shares[-1], None, BUS))
    least, most = min(SCENE_PHOTONS), max(SCENE_PHOTONS)
    yield tabled("reading_photons_back_to_draw", times, checks, least=least, most=most)
    if len(shares) > 1:
        yield concluded("read_back", [None], f"here {', '.join(shares)} on {context.device_name}")


def _shares(runs: int) -> list[str | None]:
    """The read-back's published share of few photons, and of many; none of numbers between."""
    return [READ_BACK_SHARE[0], *[None] * (runs - 2), READ_BACK_SHARE[1]][:runs]


def _routing() -> str:
    figure, axes = plots.figure(7.0, 1.9, ncols=6)
    shades = ("#ffffff", "#cfe0f2", "#f5d9c2", "#d3ead8")
    values = np.arange(4)
    frames: list[tuple[str, Any, Any]] = [("no stencil", None, route(3, 2, stencil=False))]
    for photon in range(3):
        frames.append((f"before photon {photon + 1}", values + photon, route(photon, 2)))
    frames.append(("after the last", values + 3, route(3, 2)))
    frames.insert(1, ("", None, None))
    for axis, (title, stencil, held) in zip(axes, frames, strict=True):
        axis.axis("off")
        axis.set(xlim=(-0.05, 2.05), ylim=(-0.1, 2.05), aspect="equal")
        axis.set_title(title, fontsize=8)
        if held is None:
            continue
        for texel in range(4):
            x, y = texel % 2, 1 - texel // 2
            square = plots.square(x, y, facecolor=shades[held[texel] + 1], edgecolor="#5d6875", linewidth=0.8)
            axis.add_patch(square)
            if held[texel] >= 0:
                axis.text(x + 0.5, y + 0.58, f"photon {held[texel] + 1}", ha="center", va="center", fontsize=6.5)
            if stencil is not None:
                bold = "bold" if stencil[texel] == 3 else "normal"
                axis.text(x + 0.5, y + 0.25, str(stencil[texel]), ha="center", va="center", fontsize=8, weight=bold)
    return plots.svg(figure)


@section("knn_grid", paper="D 6.2.3, P3 2.3", title="The search for photons (figure 6.6)", order=3)
def knn_grid(context: Context) -> Parts:
    """The published search over the drawn photons."""
    steps, _ = search(POINT, DRAWN, WANTED, RADIUS, 3)
    yield told("knn_grid")
    yield captioned("search", svg=_search(steps), wanted=WANTED)
    counted, rejected = steps[-1].counted, sum(not step.taken for step in steps)
    yield Check(OWN, "Photons of our run that are counted", 4, counted, counted == 4, "another run than drawn")
    yield Check(OWN, "Photons of our run that k or the radius rejects", 2, rejected, rejected == 2, "another run")
    as_said = search(POINT, DRAWN, CAPTION_NEAREST, RADIUS, 3)[0]
    by_k = sum(not step.taken and not step.beyond for step in as_said)
    what = f"With the caption's k = {CAPTION_NEAREST}: photons that are rejected because k have been counted"
    why = "the caption says four; what is drawn is the search of three"
    yield Check(ARITHMETIC, what, CAPTION_REJECTED, by_k, by_k == CAPTION_REJECTED, why)


def _search(steps: list[Any]) -> str:
    from matplotlib.patches import Circle

    figure, axes = plots.figure(8.4, 1.75, ncols=len(steps))
    for number, (axis, step) in enumerate(zip(axes, steps, strict=True)):
        axis.set(xlim=(0, 3), ylim=(0, 3), aspect="equal")
        axis.set_xticks(range(4), [""] * 4)
        axis.set_yticks(range(4), [""] * 4)
        axis.tick_params(length=0)
        axis.spines[["top", "right"]].set_visible(True)
        axis.add_patch(plots.square(*step.cell, facecolor="#eef2f6", edgecolor="none", zorder=0))
        axis.add_patch(Circle(POINT, step.radius, fill=False, color=plots.COLORS[0], linewidth=0.9))
        axis.add_patch(Circle(POINT, RADIUS, fill=False, color="#5d6875", linewidth=0.8, linestyle="--"))
        axis.plot(*POINT, marker="+", color="#1d232b", markersize=6)
        for each in steps[: number + 1]:
            color = plots.COLORS[1] if each is step else plots.COLORS[0]
            axis.plot(*DRAWN[each.photon], "o", markersize=4.5, color=color, mfc=color if each.taken else "white")
        for later in steps[number + 1 :]:
            axis.plot(*DRAWN[later.photon], "o", markersize=3, color="#b8c0c9")
        word = "added" if step.taken else "too far" if step.beyond else "rejected"
        axis.set_title(f"{word}, {step.counted} counted", fontsize=7.5)
    return plots.svg(figure)
