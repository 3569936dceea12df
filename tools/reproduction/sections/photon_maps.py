"""D 6.2: how the photon map is built and searched, step by step; figures 6.2, 6.5 and 6.6; and a hash table of cells in
place of the dense grid (D 6.4.4)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from raystream.photons.grid import PhotonGrid, list_size
from reproduction.simulators import photons
from reproduction.simulators.photons import STENCIL_LARGEST, bitonic_passes, bitonic_sort, route, search

from .. import photon_cases, plots, report, timed
from ..context import Context
from ..drawings import draw_photon_memory
from ..published import chapter6
from ..published.chapter6 import CAPTION_NEAREST, CAPTION_REJECTED, READ_BACK_SHARE, ROUTED, SETTINGS, SORT_PASSES
from ..report import CLAIM, OWN, Parts, captioned, checked, concluded, exact, section, tabled, told, unprinted, worded
from .diagrams import listing

SCENE_PHOTONS = {5_000: 91, 16_000: 105, 65_000: 136}  # k (k + 1) / 2 passes of their lists
# By cell: two in the point's own, one beyond the maximum radius, one that widens the radius, one beyond it, one within.
DRAWN = np.array([[1.8, 1.5], [1.5, 1.1], [0.2, 0.4], [0.9, 0.9], [1.5, 0.4], [2.05, 1.5]])
MIXED_UP = "m and its square were mixed up: 65,536 cells need m = 4"
CROWD = 300  # photons of a cell, more than eight bits count
POINT, WANTED, RADIUS = (1.5, 1.5), 3, 1.2
FEW = (8, 64, 1024)


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
    title = "Figure 6.3: the fragment program of a step of the bitonic merge sort"
    yield listing(title, "photons/sort_step.glsl", worded("sort_step"))
    yield captioned("photon_memory", svg=draw_photon_memory(DRAWN))
    keys = np.random.default_rng(6).integers(0, 40, 256)
    order = bitonic_sort(keys)
    whole = bool((np.diff(keys[order]) >= 0).all()) and len(set(order.tolist())) == len(keys)
    yield checked("listing_sorts", whole, whole=whole)

    def counted(elements: int) -> int:
        steps = elements.bit_length() - 1
        return steps * (steps + 1) // 2

    few = [len(bitonic_passes(n)) for n in FEW] == [counted(n) for n in FEW]
    for elements, passes in SORT_PASSES.items():
        own = counted(elements)
        yield checked("sort_passes", few and own == passes, elements=elements, passes=passes, own=own)
    counts = tuple(SCENE_PHOTONS)[:1] if context.quick else (*SCENE_PHOTONS, 1 << 20)
    found = timed.keep(context, ("sorts", counts), lambda: photon_cases.sorts(context.device, counts))
    rows, checks = [], []
    for many in counts:
        parts, size, printed = found[str(many)].parts, list_size(many), SORT_PASSES.get(many)
        made, expected = int(parts["passes"].median), printed or SCENE_PHOTONS[many]
        texts = {"kind": CLAIM if printed else OWN, "theirs": printed or f"{expected} = k (k + 1) / 2"}
        agrees = made == expected and all(parts["sorted"].values)
        checks.append(checked("sorted_on_device", agrees, photons=many, size=size[0] * size[1], made=made, **texts))
        cell = exact(printed, made) if printed else unprinted(made)
        rows.append((f"{many:,}", cell, parts["sort"].milliseconds(), parts["search"].milliseconds()))
    one, again = (found[each].parts["sort"] for each in (str(counts[0]), photon_cases.AGAIN))
    checks.append(timed.alike(f"the sort of {counts[0]:,} photons, timed twice in turns", one, again))
    yield tabled("the_sort_on_this_device", rows, checks)
    if claims := [check for check in checks if check.kind == CLAIM]:
        yield concluded("sort_passes", claims, f"{claims[0].ours} on this device, sorted")


def _network(n: int) -> str:
    figure, axes = plots.figure(6.4, 2.9)
    axes.grid(False)
    axes.axis("off")
    x, run = 0.0, 0
    for each in bitonic_passes(n):
        x += 1.2 if each.run != run else 0.5
        left, run = x, each.run
        for low, high in zip(each.low, each.high, strict=True):
            arrow = {"arrowstyle": "-|>", "color": plots.COLORS[run.bit_length() - 2], "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (x, -float(high)), (x, -float(low)), arrowprops=arrow)
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
    rows: list[tuple[Any, ...]] = []
    checks, (edge_printed, cells_printed) = [], chapter6.STENCIL_EDGES
    for edge, wraps in ((2, False), (4, False), (15, False), (16, False), (16, True)):
        texels, cells = edge * edge, (1024 // edge) ** 2
        kept, told_ = len(set(route(texels, edge, wraps).tolist()) - {-1}), photons.stencil_count(CROWD, wraps)
        name = "increment and wrap" if wraps else "increment"
        printed = exact(cells_printed, cells, MIXED_UP) if edge == edge_printed else unprinted(cells)
        stays = worded("texel_stays", name=name, largest=STENCIL_LARGEST)
        left = exact(texels, kept, stays) if edge in (2, edge_printed) else unprinted(kept)
        rows.append((f"m = {edge}, {name}", texels, left, printed, told_, f"{told_ / CROWD:.0%}"))
        if not wraps:
            key = "texels_filled" if edge < edge_printed else "texels_of_sixteen"
            checks.append(checked(key, kept == texels, edge=edge, texels=texels, kept=kept))
    stencil: dict[str, Any] = {"stencil_largest": STENCIL_LARGEST, "remainder": STENCIL_LARGEST + 1}
    yield tabled("photons_that_are_left_of", rows, checks, crowd=CROWD, **stencil)
    text = "to m = 15; with the published m = 16 one of 256 photons is left, as eight bits saturate"
    yield concluded("stencil_keeps", checks, text)
    cells, largest = (1024 // edge_printed) ** 2, chapter6.LARGEST_GRID**3
    same = cells == cells_printed
    yield checked("stencil_cells", same, edge=edge_printed, printed=cells_printed, cells=cells, why=MIXED_UP)
    fits = 0.9 * cells_printed <= largest <= cells_printed
    yield checked("cells_enough", fits, cells=cells_printed, edge=chapter6.LARGEST_GRID, largest=largest)
    counts = (1_000,) if context.quick else (5_000, 65_000, 1_000_000)
    found = timed.keep(context, ("read back", counts), lambda: photon_cases.read_backs(context.device, counts))
    rows, checks, shares = [], [], []
    theirs = [READ_BACK_SHARE[0], *[None] * (len(counts) - 2), READ_BACK_SHARE[1]][: len(counts)]
    for many, share in zip(counts, theirs, strict=True):
        fetch, back = (found[f"{many} {way}"].parts for way in ("fetch", "read-back"))
        shares.append(f"{back['reading'].median / back['build'].median:.0%}")
        seconds = fetch["build"].milliseconds(), back["build"].milliseconds()
        cell = report.beside(share, shares[-1], worded("another_bus"))
        rows.append((f"{many:,}", int(back["stored"].median), *seconds, cell))
        texts = {"printed": READ_BACK_SHARE, "share": shares[-1], "why": worded("another_bus")}
        checks.append(checked("read_back", None, photons=many, **texts))
    ends: dict[str, Any] = {"least": min(SCENE_PHOTONS), "most": max(SCENE_PHOTONS)}
    yield tabled("reading_photons_back_to_draw", rows, checks, **ends)
    if len(shares) > 1:
        yield concluded("read_back", [None], f"here {report.listed(shares)} on {context.device_name}")


def _routing() -> str:
    figure, axes = plots.figure(7.0, 1.9, ncols=6)
    shades, values = ("#ffffff", "#cfe0f2", "#f5d9c2", "#d3ead8"), np.arange(4)
    frames: list[tuple[str, Any, Any]] = [("no stencil", None, route(3, 2, stencil=False)), ("", None, None)]
    frames += [(f"before photon {k + 1}", values + k, route(k, 2)) for k in range(3)]
    frames.append(("after the last", values + 3, route(3, 2)))
    for axis, (title, stencil, texels) in zip(axes, frames, strict=True):
        axis.axis("off")
        axis.set(xlim=(-0.05, 2.05), ylim=(-0.1, 2.05), aspect="equal")
        axis.set_title(title, fontsize=8)
        for texel, photon in enumerate(() if texels is None else texels):
            x, y = texel % 2, 1 - texel // 2
            axis.add_patch(plots.square(x, y, facecolor=shades[photon + 1], edgecolor="#5d6875", linewidth=0.8))
            if photon >= 0:
                axis.text(x + 0.5, y + 0.58, f"photon {photon + 1}", ha="center", va="center", fontsize=6.5)
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
    yield checked("photons_counted", counted == 4, counted=counted)
    yield checked("photons_rejected", rejected == 2, rejected=rejected)
    as_said = search(POINT, DRAWN, CAPTION_NEAREST, RADIUS, 3)[0]
    by_k = sum(not step.taken and not step.beyond for step in as_said)
    texts = {"nearest": CAPTION_NEAREST, "printed": CAPTION_REJECTED}
    yield checked("caption_rejected", by_k == CAPTION_REJECTED, by_k=by_k, **texts)


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


# -- hashing -----------------------------------------------------------------------------------------------------------

PLACES = (65_536, 16_384, 4_096)  # of the hash table
EXACT = 1e-9  # of all power: rounding of sums
CONSERVED = 0.02  # of the total power: photons are not all alike


@section("photon_hashing", paper="D 6.4.4", title="A hash table of cells, and the redistribution of power", order=6)
def photon_hashing(context: Context) -> Parts:
    """Photons of the three scenes routed into the dense grid and into hash tables."""
    names = tuple(SETTINGS)[:1] if context.quick else tuple(SETTINGS)
    found = {name: context.keep(("hashing", name), lambda name=name: tables(context, name)) for name in names}
    yield told("photon_hashing", routed=ROUTED)
    rows, off, power = [], [], []
    for name, each in found.items():
        for table, numbers in each["tables"]:
            shares = (f"{100 * numbers[key]:.1f} %" for key in ("shared", "lost", "empty", "total", "apart", "own"))
            rows.append((name, table, f"{numbers['cells']:,}", *shares))
        dense, *hashed = (numbers for _, numbers in each["tables"])
        more = hashed[-1]["apart"] >= report.TWICE * max(dense["apart"], EXACT)
        ends = {"first": hashed[0]["apart"], "last": hashed[-1]["apart"], "places": (PLACES[0], PLACES[-1])}
        off.append(checked("power_of_cells", more, name=name, dense=dense["apart"], twice=report.TWICE, **ends))
        apart = abs(dense["total"] - 1)
        texts = {"spread": each["spread"], "bound": CONSERVED}
        power.append(checked("power_stays", apart <= CONSERVED, name=name, off=apart, **texts))
    checks = [check for both in zip(off, power, strict=True) for check in both]
    yield tabled("photons_routed_into_the_dense", rows, checks)
    for claim, what, of in (
        ("hash_redistribution", "power of cells off, as a share of all power", off),
        ("scaled_power", "total power, dense grid", power),
    ):
        figures = "; ".join(f"{name} {check.ours}" for name, check in zip(found, of, strict=True))
        yield concluded(claim, of, f"{what}: {figures}")


def tables(context: Context, name: str) -> dict[str, Any]:
    """Of a scene: ``tables``, what became of its photons, by table, the dense grid first; ``spread``, the standard
    deviation of their powers over the mean."""
    renderer, size = photon_cases.renderer_of(name, context.device, False)
    renderer.render((size[0] // 8, size[1] // 8), spp=1)
    stored = photon_cases.stored_photons(renderer)
    low, high = np.asarray(renderer.scene.bounds(ground=False), float)
    renderer.release()
    at, power = stored["position"], stored["power"].astype(float).sum(axis=1)
    dense = PhotonGrid.over(low, high, SETTINGS[name].grid)
    numbers = dense.numbers(at)
    found = [
        [
            f"dense grid, {report.sides(SETTINGS[name].grid)}",
            asdict(photons.redistributed(numbers, numbers, power, ROUTED)),
        ]
    ]
    for places in PLACES:
        cells = PhotonGrid.hashed(low, min(dense.cell[0], dense.cell[2]), places).cells_of(at)
        _, own = np.unique(cells, axis=0, return_inverse=True)
        kept = photons.redistributed(own.ravel(), photons.buckets(cells, places), power, ROUTED)
        found.append([f"hash, {places:,} places", asdict(kept)])
    return {"tables": found, "spread": float(power.std() / power.mean())}
