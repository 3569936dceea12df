"""The texture cache of D 5.2.3 and P2 4.1, and figure 5.6: bytes with it over bytes without."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.simulate.cache import Cache, play_all
from viewer.simulate.rays import eye_rays, places, reflected_rays, shadow_rays
from viewer.simulate.references import (
    STREAM,
    STRUCTURES,
    TRIANGLES,
    Layout,
    Traffic,
    mimd_references,
    simd_references,
    tiles_of,
)
from viewer.simulate.walk import Space, walk

from .. import measured, plots
from ..context import Context
from ..model import Check, Figure, Part, Table
from ..published.chapter5 import CACHE, TABLE_5_1, TRIANGLE_HITS
from ..registry import section

EDGE = 1024  # of the papers' pictures
QUICK_ROWS, TILED_ROWS = 8, 128  # rows of it that are traced, the middle ones: quick, and of tiles; else all
LIGHTS = 3
BOUNCES = 2
MACHINES = {"SIMD": simd_references, "MIMD": mimd_references}
# Sets of a direct-mapped cache of 48-byte lines, and other shapes of 64 kB.
SHAPES: dict[str, dict[str, Any]] = {
    "1365 lines": {},
    "1024 lines": {"sets": 1024},
    "2048 lines": {"sets": 2048},
    "4 ways": {"ways": 4},
    "64-byte lines": {"line": 64},
}
Group = Sequence[NDArray]  # rays of one type each, as the SIMD machine runs them: each to its end before the next


@section("cache", paper="D 5.2.3, P2 4.1, P2 5.3", title="Texture cache (figure 5.6)")
def make(context: Context) -> Iterator[Part]:
    """References of both machines in raster order, played through caches."""
    found: dict[str, dict[str, Any]] = {}
    rows = QUICK_ROWS if context.quick else EDGE
    for name in measured.there(context):
        if not isinstance(name, str):
            yield name
            continue
        found[name] = context.keep(("eye rays", name, EDGE, rows), lambda name=name: _eye(context, name, rows))
    if measured.FOREST_INSIDE in found:
        for kind, rays in (("Shadow", _shadow), ("Reflect", _reflect)):
            found[kind] = context.keep((kind, EDGE, rows), lambda rays=rays: _secondary(context, rays, rows))
    if not found:
        return
    yield _table(found, rows)
    yield _figure(found)
    yield _shapes(found)
    if measured.FOREST_INSIDE in found:
        yield _wishes(context)


# -- traces --------------------------------------------------------------------------------------------------------


def middle(context: Context, name: str, rows: int) -> tuple[Space, NDArray]:
    """The grid of a view and the eye rays of the middle rows of its picture of 1024 x 1024."""
    rays = eye_rays(measured.camera(context, name), (EDGE, EDGE))
    first = (EDGE - rows) // 2 * EDGE
    return measured.space(context, name), rays[first : first + rows * EDGE]


def play(space: Space, groups: dict[str, Group], traffic: Callable[[str], Traffic]) -> dict[str, Any]:
    """By machine: bytes and hits of traces of groups of rays, one after the other; by shape of the cache the ratio.

    The layout is that of the largest group. Triangles alone: a cache that nothing else passes through.
    """
    made: dict[str, Any] = {}
    for machine, references in MACHINES.items():
        shapes = {name: Cache(**shape) for name, shape in SHAPES.items()}
        alone, split = Cache(kinds=[TRIANGLES]), Cache(kinds=STRUCTURES)
        layout = Layout.of(space, max(len(rays) for rays in groups[machine]))
        for rays in groups[machine]:
            play_all([*shapes.values(), alone, split], references(space, rays, traffic(machine), layout=layout))
        main = shapes["1365 lines"]
        made[machine] = {
            "references": main.references(),
            "stream": [main.bytes_without(STREAM), main.bytes_with(STREAM)],
            "structures": [main.bytes_without(STRUCTURES), main.bytes_with(STRUCTURES)],
            "triangle hits": [main.hit_rate([TRIANGLES]), alone.hit_rate()],
            "structures apart": split.bytes_with(),
            "shapes": {name: cache.ratio() for name, cache in shapes.items()},
        }
    return made


def _eye(context: Context, name: str, rows: int) -> dict[str, Any]:
    context.progress(f"cache: {name}")
    space, rays = middle(context, name, rows)
    return play(space, {machine: [rays] for machine in MACHINES}, lambda machine: Traffic(TABLE_5_1[machine]))


def _secondary(context: Context, rays: Callable[[Space, NDArray], dict[str, Group]], rows: int) -> dict[str, Any]:
    space, eye = middle(context, measured.FOREST_INSIDE, rows)
    return play(space, rays(space, eye), lambda machine: Traffic(TABLE_5_1[machine], eye=False, shade=False))


def _hits(space: Space, rays: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """The rays that hit, where, and the face normals there."""
    _, state = walk(space, rays)
    hit = state.triangle >= 0
    return (rays[hit], *places(rays[hit], state.distance[hit], state.triangle[hit], space.corners))


def _shadow(space: Space, eye: NDArray) -> dict[str, Group]:
    """Three shadow rays for each hit: a light after the other (SIMD), a pixel after the other (MIMD)."""
    _, at, _ = _hits(space, eye)
    rays = shadow_rays(at, lights(space))
    return {"SIMD": list(rays), "MIMD": [np.ascontiguousarray(rays.T).ravel()]}


def lights(space: Space) -> NDArray:
    """(3, 3): as many point lights above the scene's box, around its middle."""
    low, high = space.box[0].astype(float), space.box[1].astype(float)
    angles = np.arange(LIGHTS) * 2 * np.pi / LIGHTS
    middle, size = (low + high) / 2, high - low
    around = np.stack([np.cos(angles), np.zeros(LIGHTS), np.sin(angles)], 1)
    return middle + 0.3 * size * around + [0.0, 1.5 * size[1], 0.0]


def _reflect(space: Space, eye: NDArray) -> dict[str, Group]:
    """Two bounces of mirrors, each to its end before the next."""
    groups, rays = [], eye
    for _ in range(BOUNCES):
        before, at, normal = _hits(space, rays)
        rays = reflected_rays(before, at, normal)
        groups.append(rays)
    return {"SIMD": groups, "MIMD": groups}


# -- what is shown -------------------------------------------------------------------------------------------------


def gain(row: dict[str, Any], machine: str) -> float:
    """Change of the bytes by the cache: -0.35 is a third less."""
    kept = row[machine]
    return (kept["stream"][1] + kept["structures"][1]) / (kept["stream"][0] + kept["structures"][0]) - 1


def checks(found: dict[str, dict[str, Any]]) -> list[Check]:
    """What the text claims."""
    least, most = TRIANGLE_HITS
    out = []
    for name, row in found.items():
        if name in measured.SOURCES:
            hits = [row[machine]["triangle hits"][1] for machine in MACHINES]
            few = "neighbouring pixels of this view see triangles that share no lines: few pixels to a triangle"
            passed = min(hits) >= least - 0.005
            text = " / ".join(f"{100 * each:.1f} %" for each in hits)
            out.append(
                Check(
                    f"{name}: hits of triangle data alone, SIMD / MIMD",
                    f"{100 * least:.0f} to {100 * most:.0f} %",
                    text,
                    passed,
                    "" if passed else few,
                )
            )
            little = gain(row, "MIMD") < gain(row, "SIMD")
            both = f"{100 * gain(row, 'SIMD'):+.0f} % / {100 * gain(row, 'MIMD'):+.0f} %"
            out.append(Check(f"{name}: SIMD gains little, MIMD much: bytes", "", both, little))
    for kind, key in (("Shadow", "MIMD shadow"), ("Reflect", "MIMD reflect")):
        if kind in found:
            simd, mimd, theirs = gain(found[kind], "SIMD"), gain(found[kind], "MIMD"), CACHE[key]
            # The forest, its lights and normals are others: the sign of the effect is what can agree, to ten percent.
            why = "bytes of secondary rays alone; lights and normals of the published forest are unknown"
            what = f"{kind}: MIMD bytes"
            out.append(Check(what, f"{100 * theirs:+.0f} %", f"{100 * mimd:+.0f} %", abs(mimd - theirs) <= 0.1, why))
            out.append(Check(f"{kind}: SIMD has no gain", ">= 0 %", f"{100 * simd:+.0f} %", simd >= -0.05, why))
    return out


def _table(found: dict[str, dict[str, Any]], rows: int) -> Table:
    lines = []
    for name, row in found.items():
        for machine in MACHINES:
            kept = row[machine]
            parts = [f"{100 * kept[kind][1] / max(1, kept[kind][0]):.0f} %" for kind in ("stream", "structures")]
            hits = [f"{100 * each:.1f} %" for each in kept["triangle hits"]]
            total = f"{100 * (1 + gain(row, machine)):.0f} %"
            lines.append([name, machine, f"{kept['references'] / 1e6:.1f}", total, *parts, *hits])
    return Table(
        "64 kB, direct mapped, 1,365 lines of 48 bytes",
        ("view", "machine", "M references", "bytes", "stream", "structures", "triangle hits", "triangles alone"),
        lines,
        note=f"Bytes with the cache over bytes without; the middle {rows} rows of 1024 x 1024 pixels, in raster "
        "order, one pixel wide. 65,536 / 48 is no whole number: 1,365 lines. A reference is a texel. Writes go "
        "through. Shadow: three lights; Reflect: two bounces off face normals; both forest inside, "
        "secondary rays alone.",
        checks=checks(found),
    )


def _figure(found: dict[str, dict[str, Any]]) -> Figure:
    figure, axes = plots.figure(9.0, 3.4, ncols=2, sharey=True)
    names = list(found)
    for axis, machine in zip(axes, MACHINES, strict=True):
        below = np.zeros(len(names))
        for kind, color in (("stream", plots.COLORS[1]), ("structures", plots.COLORS[2])):
            whole = [found[name][machine]["stream"][0] + found[name][machine]["structures"][0] for name in names]
            heights = np.array([found[name][machine][kind][1] for name in names]) / np.maximum(whole, 1)
            axis.bar(
                range(len(names)),
                heights,
                0.6,
                bottom=below,
                label=f"{kind} data" if kind == "stream" else "data structures",
                color=color,
            )
            below += heights
        axis.axhline(1.0, color="0.4", linestyle="--", linewidth=0.8, label="without cache")
        axis.set_xticks(range(len(names)), [name.replace(" ", "\n", 2) for name in names], fontsize=7)
        axis.set_title(machine, fontsize=9)
    axes[0].set_ylabel("bytes with the cache over bytes without")
    axes[1].legend(fontsize=7)
    return Figure("Figure 5.6", svg=plots.svg(figure), alt="stacked bars for five views, Shadow and Reflect")


def _shapes(found: dict[str, dict[str, Any]]) -> Table:
    rows = []
    for name, row in found.items():
        for machine in MACHINES:
            kept = row[machine]
            apart = (kept["stream"][0] + kept["structures apart"]) / (kept["stream"][0] + kept["structures"][0])
            ratios = (f"{100 * kept['shapes'][shape]:.0f} %" for shape in SHAPES)
            rows.append([name, machine, *ratios, f"{100 * apart:.0f} %"])
    note = "Bytes with the cache over bytes without. Structures alone: streams pass by the cache, a word a word."
    return Table("Other caches", ("view", "machine", *SHAPES, "structures alone"), rows, note=note)


def _wishes(context: Context) -> Table:
    """Tiles to completion, and reflected rays in an order of their own."""
    rows = QUICK_ROWS if context.quick else TILED_ROWS
    lines = context.keep(("tiles", EDGE, rows), lambda: _tiles(context, rows))
    by_name = {line[0]: line for line in lines}
    whole, tile = lines[0], by_name["tiles of 8 x 8"]
    said = Check(
        "P2 5.3: tiles rendered to completion keep temporaries in the cache: bytes, written back",
        "encouraging",
        f"{100 * tile[3]:.0f} % instead of {100 * whole[3]:.0f} %",
        tile[3] < whole[3],
    )
    lines = [[name, passes, *(f"{100 * each:.0f} %" for each in shares)] for name, passes, *shares in lines]
    return Table(
        "Tiles rendered to completion (SIMD), reflected rays sorted (MIMD): forest inside",
        ("order", "passes of a tile", "written through", "written back", "a cache of its own for streams"),
        lines,
        note=f"Bytes with the cache over bytes without; {rows} rows. Written back: lines stay in the cache until they "
        "are evicted, so that what a tile's passes hand on need not leave it; all tiles share their streams. "
        "Two caches: 32 kB each, written back.",
        checks=[said],
    )


def _tiles(context: Context, rows: int) -> list[list[Any]]:
    space, eye = middle(context, measured.FOREST_INSIDE, rows)
    traffic = Traffic(TABLE_5_1["SIMD"])
    lines: list[list[Any]] = []
    for edge in (0, 64, 32, 16, 8):
        if edge > rows:
            continue
        tiles = tiles_of((EDGE, rows), edge) if edge else None
        passes: list[int] = []
        caches = _three()
        play_all(caches, simd_references(space, eye, traffic, tiles=tiles, passes=passes))
        name = f"tiles of {edge} x {edge}" if edge else f"all {rows} rows"
        lines.append([name, round(sum(passes) / (1 if tiles is None else len(tiles))), *_ratios(caches)])
    for label, rays in _orders(_reflect(space, eye)["MIMD"][0]).items():
        caches = _three()
        play_all(caches, mimd_references(space, rays, Traffic(TABLE_5_1["MIMD"], eye=False, shade=False)))
        lines.append([label, 1, *_ratios(caches)])
    return lines


def _three() -> list[Cache]:
    half = 32 * 1024
    apart = Cache(half, kinds=STRUCTURES), Cache(half, kinds=STREAM, write_back=True)
    return [Cache(), Cache(write_back=True), *apart]


def _ratios(caches: Sequence[Cache]) -> list[float]:
    through, back, *apart = caches
    return [through.ratio(), back.ratio(), sum(c.bytes_with() for c in apart) / through.bytes_without()]


def _orders(rays: NDArray) -> dict[str, NDArray]:
    """Reflected rays as they come, and by the octant of their direction and where they start."""
    octant = ((rays["direction"] > 0) * [1, 2, 4]).sum(axis=1)
    low = rays["origin"].min(axis=0)
    cell = ((rays["origin"] - low) / np.maximum(np.ptp(rays["origin"], axis=0), 1e-30) * 63).astype(np.int64)
    code = sum(((cell[:, axis] >> bit) & 1) << (3 * bit + axis) for bit in range(6) for axis in range(3))
    order = np.lexsort((code, octant))
    return {"reflected rays as they come": rays, "reflected rays by direction and origin": rays[order]}
