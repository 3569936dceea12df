"""Seconds of photon mapping by stage (D table 6.1, P3 table 1), and why routing does here what it does; the radiance
estimate as one quad, in tiles and under a mask (D 6.3.3): counts at the published size, times, tiles of other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from .. import photon_cases, plots, report, timed
from ..context import Context
from ..photon_cases import FAST, MAPS, PASSES, STAGES, TILES, WAYS, calls, gains, renderer_of
from ..photon_pictures import greatest_radius
from ..published.chapter6 import GPU, MACHINE, ROUTED, TABLE_6_1, TILES_GAIN, TOTALS
from ..report import COUNT, MOST, Check, Parts, beside, checked, concluded, listed, section, tabled, unprinted, worded
from ..timed import Spread, Timed

# A picture by passes takes up to minutes; one run of the longest.
UNFUSED_RUNS = {"GLASS BALL": 2, "RING": 2, "CORNELL BOX": 1}
GPU_2003 = f"{report.OTHER_DEVICE} than the {GPU} of 2003, and the geometry of the scenes is not published"
BUILDS = ("sort", "stencil", "read-back")
ESTIMATE = "radiance estimate"


def names(context: Context) -> tuple[str, ...]:
    """The scenes: with ``--quick`` the first."""
    return tuple(TABLE_6_1)[:1] if context.quick else tuple(TABLE_6_1)


@section("table_6_1", paper="D 6.3.1, P3 3.1", title="Seconds by stage (table 6.1)", order=1, timed=True)
def table_6_1(context: Context) -> Parts:
    """Both maps, the scenes with the published settings, by the fast machine and by the published passes."""
    checks, slower = list[Check](), list[Check]()
    built = {
        name: timed.keep(context, ("build", name), partial(photon_cases.builds, name, context.device, context.quick))
        for name in names(context)
    }
    small = " An eighth of the width and height with few photons." if context.quick else ""
    for way in WAYS:
        rows: list[tuple[Any, ...]] = []
        for name in names(context):
            found = _stages(context, name, way)
            for number, kind in enumerate(MAPS):
                printed, parts = (*getattr(TABLE_6_1[name], kind), TOTALS[name][number]), found[kind].parts
                seconds = (*(parts[stage] for stage in STAGES), total(found[kind]))
                cells = (beside(old, own.text(), GPU_2003) for old, own in zip(printed, seconds, strict=True))
                rows.append((f"{name} by {kind}", *cells))
                if way == FAST:
                    whole, theirs = sum(printed[:-1]), printed[-1]
                    texts = {"name": f"{name} by {kind}", "theirs": theirs, "whole": round(whole, 1)}
                    checks.append(checked("stages_total", abs(whole - theirs) < 0.05, **texts))
            if way == FAST:
                rays = [found[kind].parts["trace rays"] for kind in MAPS]
                calm = timed.alike(f"{name}: rays, the same work, take the same time by either map", *rays)
                claims = list(_claims(context, name, found, built[name]))
                if calm.passed is False:
                    claims = [replace(check, passed=None, why=worded("disturbed")) for check in claims]
                checks += [*claims, calm]
                slower.append(claims[0])
        texts = {"machine": worded(f"machine {way}", gpu=GPU, machine=MACHINE), "way": way, "small": small}
        columns = ("scene", *STAGES, "total")
        yield tabled("table_6_1_way", rows, checks if way == FAST else (), columns=columns, **texts)
    grids = {name: [found[way].parts["build grid"].text() for way in BUILDS] for name, found in built.items()}
    yield tabled("building_the_map", [(name, *seconds) for name, seconds in grids.items()])
    yield from shares(context)
    undecided: dict[bool | None, str] = {None: " (runs overlap: not decided)"}
    figures = (
        f"{each.what.split(':')[0]} {each.ours} for {each.published}{undecided.get(each.passed, '')}" for each in slower
    )
    yield concluded("routing_slower", slower, "; ".join(figures))


def shares(context: Context) -> Iterator[report.Conclusion]:
    """What rays and the estimate take of all stages, by the map that is sorted."""
    printed = [[each / sum(row.sort) for each in row.sort] for row in TABLE_6_1.values()]
    ours: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for way, by_scene in ours.items():
        for name in names(context):
            medians = [_stages(context, name, way)["sort"].parts[stage].median for stage in STAGES]
            by_scene.append([each / sum(medians) for each in medians])
    for stage, claim in ((ESTIMATE, "mostly_estimate"), ("trace rays", "little_rays")):
        place = STAGES.index(stage)
        here = "; ".join(f"{way} {listed((each[place] for each in by), '.0%')}" for way, by in ours.items())
        theirs = listed((each[place] for each in printed), ".0%")
        text = f"of the stages' seconds of {listed(names(context))}: here {here}; by table 6.1 {theirs}"
        every = [each[place] for by in ours.values() for each in by]
        yield concluded(claim, [each > MOST if stage == ESTIMATE else each <= report.LITTLE for each in every], text)


def _stages(context: Context, name: str, way: str) -> dict[str, Timed]:
    """Of a scene by either map, seconds of its stages; the cases have compiled."""
    runs = timed.RUNS if way == FAST else UNFUSED_RUNS[name]
    cases = partial(photon_cases.stages, name, context.device, context.quick, way)
    return timed.keep(context, (way, name), cases, runs, warm_up=False)


def total(found: Timed) -> Spread:
    """Of all stages, in every run."""
    return Spread(tuple(map(sum, zip(*(found.parts[stage].values for stage in STAGES), strict=True))))


def _claims(context: Context, name: str, found: Mapping[str, Timed], built: Mapping[str, Timed]) -> Iterator[Check]:
    theirs = TABLE_6_1[name]
    sort, fetch, back = (built[way].parts["build grid"] for way in BUILDS)
    slower = back.slower(sort)
    overlap = "the runs of both overlap; " if slower is None else ""
    texts = {"sort": sort.text(), "fetch": fetch.text(), "back": back.text()}
    yield checked("routing_builds", slower, name=name, theirs=theirs, overlap=overlap, **texts)
    medians = [found[kind].parts[ESTIMATE].median for kind in MAPS]
    visits = context.keep(("visits", name), lambda: _visits(context, name))
    whole = [sum(visits[kind].values()) for kind in MAPS]
    calls_of: dict[str, Any] = {
        "of_calls": whole[1] / whole[0],
        "of_cells": visits["sort"]["cell"] / whole[0],
        "routed": ROUTED,
    }
    printed, ours = theirs.stencil[3] / theirs.sort[3], medians[1] / max(medians[0], 1e-9)
    yield checked("estimate_shorter_time", None, name=name, printed=printed, ours=ours, visits=visits, **calls_of)


def _visits(context: Context, name: str) -> dict[str, dict[str, int]]:
    """Calls of the estimate's kernels in a picture, by map."""
    found = {}
    for kind in MAPS:
        renderer, size = renderer_of(name, context.device, context.quick, photon_map=kind)
        found[kind] = {state: int(each.sum()) for state, each in calls(renderer, size).items()}
        renderer.release()
    return found


# -- tiles -------------------------------------------------------------------------------------------------------------

TILE = 16  # published
EDGES = (1, 2, 4, 8, 16, 32, 64, 128)  # of tiles that are counted; of these are timed:
TIMED_EDGES = (8, 16, 32, 64)
SWEPT_PART = 4  # of the published width and height, where many tile sizes are timed
RUNS, SWEPT = 2, 3  # of pictures of up to half a minute each, and of the swept ones
RADII = (0.5, 1.0, 2.0)  # times the maximum radius of this project
SCENES = tuple(name for name, each in TABLE_6_1.items() if each.quad is not None)
GAINS = {name: TABLE_6_1[name].quad / TABLE_6_1[name].sort[-1] for name in SCENES}  # type: ignore[operator]
MASK = {mask: way for way, mask in TILES.items()}
QUAD, IN_TILES, PIXELS = (MASK[mask] for mask in ("none", "tiles", "depth"))
TIMED = SCENES[0]  # by the clock


@section(
    "tiles", paper="D 6.3.3", title="What the SIMD machine wastes, and what tiles and masks save", order=2, timed=True
)
def tiles(context: Context) -> Parts:
    """The estimate of pictures of the published size, a call a pass by counts; the sweep; and seconds."""
    names = SCENES[:1] if context.quick else SCENES
    counted = {name: context.keep(("counts", name, EDGES), lambda name=name: _counted(context, name)) for name in names}
    rows: list[tuple[Any, ...]] = []
    checks = []
    for name, found in counted.items():
        longest, quad = found["longest"], f"{found['quad'] / 1e6:,.0f}"
        rows.append((f"{name}, {QUAD}", beside(1, 1, "the measure of the others"), 1, longest, longest, quad))
        close, texts = (
            report.about(GAINS[name], found["gains"][str(TILE)], COUNT),
            {"theirs": GAINS[name], "count": COUNT},
        )
        why = worded("gain_follows", found=found, radii=_radii(found))
        ours = f"{found['gains'][str(TILE)]:.3g}"
        reason = f"agrees to {COUNT:.0%}" if close else f"differs: {why}"
        for way, edge in ((IN_TILES, TILE), ("mask of single pixels", 1)):
            passes, draws, fragments = found["tiles"][str(edge)]
            gain = report.Cell(f"{GAINS[name]:.2g}", ours, close, reason)
            gain = gain if edge == TILE else unprinted(f"{found['gains'][str(edge)]:.3g}")
            number = (-(-found["pixels"] // edge**2), passes, draws) if edge != 1 else (None, passes, None)
            rows.append((f"{name}, {way}", gain, *number, f"{fragments / 1e6:,.0f}"))
        checks.append(checked("tiles_gain", close, name=name, ours=ours, why=why, **texts))
    small = ", an eighth of the width and height with few photons" if context.quick else ""
    yield tabled("tiles_by_counts", rows, checks, small=small)
    masks: dict[str, dict[str, Any]] = {
        QUAD: {"mask": "none"},
        **{str(edge): {"mask": "tiles", "tile": edge} for edge in TIMED_EDGES},
    }
    of_edges = partial(photon_cases.masks, TIMED, context.device, context.quick, SWEPT_PART, masks)
    swept = timed.keep(context, ("sweep", TIMED_EDGES), of_edges, SWEPT, warm_up=False)
    gained = [_gain(swept, str(edge)) for edge in TIMED_EDGES]
    yield report.captioned("tiles", svg=_plot(counted, gained), part=SWEPT_PART)
    best = TIMED_EDGES[gained.index(max(gained))]
    text = listed(f"{edge}: {gain:.2g}" for edge, gain in zip(TIMED_EDGES, gained, strict=True))
    yield checked("best_tile", best == TILE, tile=TILE, best=best, gains=text)
    ways = {way: {"mask": mask} for way, mask in TILES.items()}
    by_mask = partial(photon_cases.masks, TIMED, context.device, context.quick, 1, ways)
    by_clock = timed.keep(context, ("masks", TIMED), by_mask, RUNS, warm_up=False)
    yield tabled("tiles_by_clock", list(by_clock_rows(by_clock, counted)))
    same = context.keep("bits", lambda: _same_bits(context))
    yield checked("tiles_same_bits", same, same=same)
    low, high = sorted(round(GAINS[name], 1) for name in SCENES)
    within = low >= TILES_GAIN[0] and high >= TILES_GAIN[1]
    yield checked("two_to_ten", within, printed=TILES_GAIN, low=low, high=high)
    yield from tiles_conclusions(counted, by_clock, f"{high} and {low}")


def tiles_conclusions(
    counted: Mapping[str, Any], by_clock: Mapping[str, Timed], printed: str
) -> Iterator[report.Conclusion]:
    """By counts and by the clock."""
    ours, singles = ([found["gains"][str(edge)] for found in counted.values()] for edge in (TILE, 1))
    drawn, masked = (_gain(by_clock, each) for each in (IN_TILES, PIXELS))
    texts: dict[str, Any] = {"drawn": drawn, "masked": masked, "timed": TIMED, "printed": printed}
    within = [TILES_GAIN[0] <= each <= TILES_GAIN[1] for each in (*ours, drawn)]
    yield concluded("tiles_gain", within, worded("tiles_gain", ours=listed(ours, ".2g"), **texts))
    more = [*(one > each for one, each in zip(singles, ours, strict=True)), masked > drawn]
    yield concluded("single_pixels", more, worded("single_pixels", singles=listed(singles, ".2g"), **texts))


def _counted(context: Context, name: str) -> dict[str, Any]:
    """Gains, and the same of tiles of 16 x 16 with other maximum radii."""
    renderer, size = renderer_of(name, context.device, context.quick)
    found = gains(sum(calls(renderer, size).values()), EDGES)  # type: ignore[arg-type]
    found["radii"], half = {}, TILE // 2
    radius = greatest_radius(renderer.scene)
    for times in RADII:
        renderer.update(photon_radius=times * radius)
        visits = sum(calls(renderer, (size[0] // 2, size[1] // 2)).values())
        found["radii"][str(times)] = gains(visits, (half,))["gains"][str(half)]  # type: ignore[arg-type]
    renderer.release()
    return found


def _radii(found: Mapping[str, Any]) -> str:
    return listed(f"{float(times):g} times ours {gain:.2g}" for times, gain in sorted(found["radii"].items()))


def _gain(found: Mapping[str, Timed], way: str) -> float:
    """Seconds of one quad over those of another way."""
    return found[QUAD].parts["seconds"].median / max(found[way].parts["seconds"].median, 1e-9)


def by_clock_rows(found: Mapping[str, Timed], counted: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Of the scene that is timed, by mask; and of the others."""
    old = {QUAD: TABLE_6_1[TIMED].quad, IN_TILES: TABLE_6_1[TIMED].sort[-1]}
    for way in TILES:
        seconds = found[way].parts["seconds"]
        shown = unprinted(seconds.text()) if way not in old else beside(old[way], seconds.text(), GPU_2003)
        passes, drawn = (int(found[way].parts[part].median) for part in ("passes", "tiles"))
        yield f"{TIMED}, {way}", shown, f"{_gain(found, way):.3g}", passes, drawn or None
    for name in counted:
        if name != TIMED:
            yield from untimed_rows(name, found, counted)


def untimed_rows(name: str, found: Mapping[str, Timed], counted: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Of a scene that is counted alone the printed seconds, and about what ours would be."""
    more = counted[name]["quad"] / counted[TIMED]["quad"] * found[QUAD].parts["seconds"].median
    why = worded("not_timed", timed=TIMED, more=more, passes=PASSES)
    for way, printed in ((QUAD, TABLE_6_1[name].quad), (IN_TILES, TABLE_6_1[name].sort[-1])):
        yield f"{name}, {way}", beside(printed, None, why), None, None, None


def _plot(counted: Mapping[str, Any], gained: list[float]) -> str:
    figure, axes = plots.figure(7.6, 3.0)
    for color, (name, found) in zip(plots.COLORS, counted.items(), strict=False):
        axes.plot(EDGES, [found["gains"][str(edge)] for edge in EDGES], "-", color=color, label=f"{name}, fragments")
        axes.plot([TILE], [GAINS[name]], "x", color=color, label=f"{name}, published seconds")
    axes.plot(TIMED_EDGES, gained, "o", color=plots.COLORS[2], label="GLASS BALL, our seconds")
    plots.powers_of_two(axes, EDGES, xlabel="edge of a tile, pixels", ylabel="gain over one quad")
    axes.set_ylim(bottom=0)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return plots.svg(figure)


def _same_bits(context: Context) -> bool:
    found = []
    for mask in (*TILES.values(), "stencil"):
        renderer, _ = renderer_of(SCENES[0], context.device, True, mask=mask)
        found.append(renderer.render((24, 18), spp=1).linear.tobytes())
        renderer.release()
    return len(set(found)) == 1
