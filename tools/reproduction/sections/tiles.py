"""D 6.3.3: the radiance estimate as one quad, in tiles and under a mask: counts at the published size, times, and tiles
of other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import photon_cases, plots, timed
from ..context import Context
from ..photon_cases import PASSES, TILES, calls, gains, renderer_of
from ..photon_pictures import greatest_radius
from ..published.chapter6 import TABLE_6_1, TILES_GAIN
from ..report import (
    ARITHMETIC,
    CLAIM,
    COUNT,
    OWN,
    Cell,
    Check,
    Conclusion,
    Parts,
    Table,
    about,
    beside,
    captioned,
    concluded,
    section,
    tabled,
    unprinted,
)
from ..timed import Timed
from .table_6_1 import GPU_2003

TILE = 16  # published
EDGES = (1, 2, 4, 8, 16, 32, 64, 128)  # of tiles that are counted; of these are timed:
TIMED_EDGES = (8, 16, 32, 64)
SWEPT_PART = 4  # of the published width and height, where many tile sizes are timed
RUNS, SWEPT = 2, 3  # of pictures of up to half a minute each, and of the swept ones
RADII = (0.5, 1.0, 2.0)  # times the maximum radius of this project
SCENES = tuple(name for name, each in TABLE_6_1.items() if each.quad is not None)
MEASURE = "the measure of the others"
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
        rows += _rows(name, found)
        checks.append(_check(name, found))
    small = ", an eighth of the width and height with few photons" if context.quick else ""
    yield tabled("tiles_by_counts", rows, checks, small=small)
    swept = timed.keep(context, ("sweep", TIMED_EDGES), lambda: _sweep(context), SWEPT, warm_up=False)
    yield captioned("tiles", svg=_plot(counted, swept), part=SWEPT_PART)
    yield _best(swept)
    by_clock = timed.keep(context, ("masks", TIMED), lambda: _masks(context), RUNS, warm_up=False)
    yield _seconds(by_clock, counted)
    same = context.keep("bits", lambda: _same_bits(context))
    what = "One quad, tiles and masks give the same picture, bit for bit"
    yield Check(OWN, what, True, same, same, "pictures differ")
    low, high = sorted(round(_printed(TABLE_6_1[name]), 1) for name in SCENES)
    what, why = "Tiles gain a factor of two to ten (6.4.3)", "the two published scenes do not show the ten"
    within = low >= TILES_GAIN[0] and high >= TILES_GAIN[1]
    yield Check(
        ARITHMETIC, what, "{} to {}".format(*TILES_GAIN), f"{low} to {high} by the printed seconds", within, why
    )
    yield from _conclusions(counted, by_clock, f"{high} and {low}")


def _conclusions(counted: Mapping[str, Any], by_clock: Mapping[str, Timed], printed: str) -> Iterator[Conclusion]:
    """By counts and by the clock."""
    ours = [found["gains"][str(TILE)] for found in counted.values()]
    drawn, masked = (_gain(by_clock, each) for each in (IN_TILES, PIXELS))
    yield concluded(
        "tiles_gain",
        [TILES_GAIN[0] <= each <= TILES_GAIN[1] for each in (*ours, drawn)],
        f"{printed} by the printed seconds; here {', '.join(f'{each:.2g}' for each in ours)} by counts, with as "
        f"many tiles; {drawn:.2g} by the clock, {TIMED}, as in a quad, too, what is done ends at once here",
    )
    singles = [found["gains"]["1"] for found in counted.values()]
    yield concluded(
        "single_pixels",
        [*(one > each for one, each in zip(singles, ours, strict=True)), masked > drawn],
        f"here {', '.join(f'{each:.2g}' for each in singles)} over one quad by counts, where smaller tiles never draw "
        f"more; {masked:.2g} by the clock, {TIMED}, with tiles {drawn:.2g}",
    )


# -- counts --------------------------------------------------------------------------------------------------------


def _counted(context: Context, name: str) -> dict[str, Any]:
    """Gains, and the same of tiles of 16 x 16 with other maximum radii."""
    renderer, size = renderer_of(name, context.device, context.quick)
    found = gains(sum(calls(renderer, size).values()), EDGES)  # type: ignore[arg-type]
    found["radii"] = {}
    radius = greatest_radius(renderer.scene)
    for times in RADII:
        renderer.update(photon_radius=times * radius)
        visits = sum(calls(renderer, (size[0] // 2, size[1] // 2)).values())
        found["radii"][str(times)] = gains(visits, (TILE // 2,))["gains"][str(TILE // 2)]  # type: ignore[arg-type]
    renderer.release()
    return found


def _rows(name: str, found: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    published, whole = TABLE_6_1[name], found["longest"]
    yield f"{name}, {QUAD}", beside(1, 1, MEASURE), 1, whole, whole, f"{found['quad'] / 1e6:,.0f}"
    for way, edge in ((IN_TILES, str(TILE)), ("mask of single pixels", "1")):
        passes, draws, fragments = found["tiles"][edge]
        ours = f"{found['gains'][edge]:.3g}"
        gain = _graded(published, found) if edge == str(TILE) else unprinted(ours)
        number = -(-found["pixels"] // int(edge) ** 2) if edge != "1" else None
        drawn = draws if edge != "1" else None
        yield f"{name}, {way}", gain, number, passes, drawn, f"{fragments / 1e6:,.0f}"


def _printed(published: Any) -> float:
    return published.quad / published.sort[-1]


def _graded(published: Any, found: Mapping[str, Any]) -> Cell:
    theirs, ours = _printed(published), found["gains"][str(TILE)]
    agrees = about(theirs, ours, COUNT)
    reason = f"agrees to {COUNT:.0%}" if agrees else f"differs: {_why(found)}"
    return Cell(f"{theirs:.2g}", f"{ours:.3g}", agrees, reason)


def _why(found: Mapping[str, Any]) -> str:
    radii = ", ".join(f"{float(times):g} times ours {gain:.2g}" for times, gain in sorted(found["radii"].items()))
    return (
        f"the gain is that of the longest pixel, {found['longest']:,} passes here, over the mean, "
        f"{found['mean']:,.0f}, and so follows what is not published: the maximum radius (at {radii}; in a picture of "
        "half the edge, tiles of 8 x 8), photons, geometry and camera"
    )


def _check(name: str, found: Mapping[str, Any]) -> Check:
    theirs, ours = _printed(TABLE_6_1[name]), found["gains"][str(TILE)]
    close = about(theirs, ours, COUNT)
    what = f"{name}: gain of 16 x 16 tiles, by counts"
    return Check(CLAIM, what, f"{theirs:.2g} (derived)", f"{ours:.3g}", close, _why(found), f"to {COUNT:.0%}")


# -- times ---------------------------------------------------------------------------------------------------------


def _masks(context: Context) -> timed.Cases:
    return photon_cases.masks(
        TIMED, context.device, context.quick, 1, {way: {"mask": mask} for way, mask in TILES.items()}
    )


def _gain(found: Mapping[str, Timed], way: str) -> float:
    """Seconds of one quad over those of another way."""
    return found[QUAD].parts["seconds"].median / max(found[way].parts["seconds"].median, 1e-9)


def _seconds(found: Mapping[str, Timed], counted: Mapping[str, Any]) -> Table:
    old = {QUAD: TABLE_6_1[TIMED].quad, IN_TILES: TABLE_6_1[TIMED].sort[-1]}
    rows: list[tuple[Any, ...]] = []
    for way in TILES:
        seconds = found[way].parts["seconds"]
        shown = unprinted(seconds.text()) if way not in old else beside(old[way], seconds.text(), GPU_2003)
        passes, drawn = (int(found[way].parts[part].median) for part in ("passes", "tiles"))
        rows.append((f"{TIMED}, {way}", shown, f"{_gain(found, way):.3g}", passes, drawn or None))
    rows += [row for name in counted if name != TIMED for row in _untimed(name, found, counted)]
    return tabled("tiles_by_clock", rows)


def _untimed(name: str, found: Mapping[str, Timed], counted: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Rows of a scene that is counted alone: the printed seconds, and about what ours would be. found : of `TIMED`."""
    more = counted[name]["quad"] / counted[TIMED]["quad"] * found[QUAD].parts["seconds"].median
    why = (
        f"not timed, but counted, above. By the seconds of {TIMED} and the fragments of both, a run of "
        f"one quad would take about {more:.0f} s, and its rays; tiles and rays take what table 6.1, {PASSES}, has"
    )
    for way, seconds in ((QUAD, TABLE_6_1[name].quad), (IN_TILES, TABLE_6_1[name].sort[-1])):
        yield f"{name}, {way}", beside(seconds, None, why), None, None, None


def _sweep(context: Context) -> timed.Cases:
    ways: dict[str, dict[str, Any]] = {QUAD: {"mask": "none"}}
    ways |= {str(edge): {"mask": "tiles", "tile": edge} for edge in TIMED_EDGES}
    return photon_cases.masks(SCENES[0], context.device, context.quick, SWEPT_PART, ways)


def _measured(swept: Mapping[str, Timed]) -> list[float]:
    quad = swept[QUAD].parts["seconds"].median
    return [quad / max(swept[str(edge)].parts["seconds"].median, 1e-9) for edge in TIMED_EDGES]


def _best(swept: Mapping[str, Timed]) -> Check:
    each = _measured(swept)
    best = TIMED_EDGES[each.index(max(each))]
    text = ", ".join(f"{edge}: {gain:.2g}" for edge, gain in zip(TIMED_EDGES, each, strict=True))
    why = "by the clock, each tile a draw and a query. Smaller tiles draw fewer fragments, but more tiles; a processor "
    why += "pays more for a draw than a graphics card does"
    return Check(CLAIM, "GLASS BALL: the best edge of a tile", TILE, f"{best} (gains {text})", best == TILE, why)


def _plot(counted: Mapping[str, Any], swept: Mapping[str, Timed]) -> str:
    figure, axes = plots.figure(7.6, 3.0)
    for color, (name, found) in zip(plots.COLORS, counted.items(), strict=False):
        axes.plot(EDGES, [found["gains"][str(edge)] for edge in EDGES], "-", color=color, label=f"{name}, fragments")
        theirs = _printed(TABLE_6_1[name])
        axes.plot([TILE], [theirs], "x", color=color, label=f"{name}, published seconds")
    axes.plot(TIMED_EDGES, _measured(swept), "o", color=plots.COLORS[2], label="GLASS BALL, our seconds")
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
