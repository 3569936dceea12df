"""D 6.3 and 6.4: what photon mapping takes, its pictures, tiles and convergence; tables and figures of chapter 6."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.photon import MAPS, STAGES, TILED_PART, TILES, renderer_of, stage_times, tile_gains
from numpy.typing import NDArray

import viewer
from reproduction.simulators.photons import converge
from viewer.base.jit import run
from viewer.film.tonemap import srgb8
from viewer.photons.grid import PhotonGrid
from viewer.renderer.photon_map.photon_map import NEAREST_SHARE
from viewer.scene.builtin.caustics import PUBLISHED

from .. import plots
from ..context import Context
from ..model import Cell, Check, Figure, Part, Table
from ..photon_pictures import pictures
from ..published.chapter6 import TABLE_6_1, TILES_GAIN, TOTALS, VISUAL_CONVERGENCE
from ..registry import section

CLOSE = 0.01  # mean error of displayed values at which a picture looks converged
ROUTED = 16  # photons of a cell that stencil routing keeps, m^2 with m = 4
GPU_2003 = "a GeForce FX 5900 Ultra in 2003; another device, and the geometry of the scenes is not published"


def _names(context: Context) -> tuple[str, ...]:
    return tuple(TABLE_6_1)[:1] if context.quick else tuple(TABLE_6_1)


@section("table_6_1", paper="D 6.3.2, P3 table 1", title="Seconds by stage (table 6.1)", order=1)
def table_6_1(context: Context) -> Iterator[Part]:
    """Both maps, the scenes with the published settings."""
    rows, checks = [], []
    runs = 1 if context.quick else 3
    for name in _names(context):
        found = context.keep(("stages", name), lambda name=name: stage_times(name, context.device, context.quick, runs))
        for number, kind in enumerate(MAPS):
            ours, published = found[kind], getattr(TABLE_6_1[name], kind)
            cells = [Cell(old, ours[stage]) for stage, old in zip(STAGES, published, strict=True)]
            rows.append((f"{name} by {kind}", *cells, Cell(TOTALS[name][number], sum(ours.values()))))
            total, theirs = sum(published), TOTALS[name][number]
            what = f"{name} by {kind}: the published stages add up to the total"
            checks.append(Check(what, theirs, round(total, 1), abs(total - theirs) < 0.05))
        size = "{} x {}".format(*found["size"])
        build = [found[kind]["build grid"] for kind in MAPS]
        checks.append(
            Check(
                f"{name}: stencil routing builds slower than the sort",
                f"{TABLE_6_1[name].stencil[1]} to {TABLE_6_1[name].sort[1]} s",
                f"{build[1]:.3g} to {build[0]:.3g} s",
                None,
                f"{size} pixels, {found['stored']:,} photons stored; {GPU_2003}",
            )
        )
    note = "Seconds of a picture of one sample, map included, machine multipass, estimate published"
    note += ", an eighth of the width and height with few photons." if context.quick else "."
    yield Table("Table 6.1", ("scene", *STAGES, "total"), rows, note, checks)


@section("tiles", paper="D 6.3.3", title="What the SIMD machine wastes, and what tiles and masks save", order=2)
def tiles(context: Context) -> Iterator[Part]:
    """The estimate as one quad, in tiles, and by masks of single pixels."""
    rows, checks = [], []
    for name in _names(context):
        published = TABLE_6_1[name]
        if published.quad is None:
            continue
        found = context.keep(("tiles", name), lambda name=name: tile_gains(name, context.device, context.quick))
        old = {"one quad": published.quad, "16 x 16 tiles": published.sort[-1]}
        for way in TILES:
            gain = found["one quad"]["seconds"] / max(found[way]["seconds"], 1e-9)
            both = old.get(way)
            theirs = published.quad / both if both else None
            seconds = found[way]["seconds"] if both is None else Cell(both, found[way]["seconds"])
            gains = gain if theirs is None else Cell(theirs, gain)
            rows.append((f"{name}, {way}", seconds, gains, found[way]["passes"], found[way]["tiles"]))
        gain = found["one quad"]["seconds"] / found["16 x 16 tiles"]["seconds"]
        what = f"{name}: gain of 16 x 16 tiles"
        checks.append(Check(what, f"{published.quad / published.sort[-1]:.2g}", f"{gain:.2g}", None, GPU_2003))
    yield Table(
        "Section 6.3.3",
        ("radiance estimate", "seconds", "gain", "passes", "tiles drawn"),
        rows,
        f"1 / {TILED_PART} of the published width and height; nothing fused, one call of the estimate's kernel a pass. "
        "The masks of single pixels are the computation mask that section 6.4.3 wishes for.",
        checks,
    )
    same = context.keep("bits", lambda: _same_bits(context))
    yield Check("One quad, tiles and masks give the same picture, bit for bit", True, same, same)
    low, high = (round(104 / 52.4, 1), round(102 / 14.9, 1))
    yield Check(
        "Tiles gain a factor of two to ten (6.4.3)",
        "{} to {}".format(*TILES_GAIN),
        f"{low} to {high} by the published seconds",
        None,
        "the two published scenes do not show the ten",
    )


def _same_bits(context: Context) -> bool:
    found = []
    for mask in TILES.values():
        renderer, _ = renderer_of("GLASS BALL", context.device, True, mask=mask)
        found.append(renderer.render((24, 18), spp=1).linear.tobytes())
        renderer.release()
    return len(set(found)) == 1


@section("fig_6_7", paper="D 6.3.2, P3 3.1", title="Pictures of the three scenes (figure 6.7)", order=3)
def fig_6_7(context: Context) -> Iterator[Part]:
    """By either map, and by a reference in NumPy."""
    names = tuple(PUBLISHED)[:2] if context.quick else tuple(PUBLISHED)
    scale = 8 if context.quick else 2
    rows, checks = [], []
    for name in names:
        found = context.keep(("pictures", name, scale), lambda name=name: pictures(name, scale))
        rows.append(np.concatenate(found["pictures"], axis=1))
        for kind, apart, mean in zip(MAPS, found["apart"], found["means"], strict=True):
            what = f"{name} by {kind}: the picture's mean, as a share of the reference's"
            why = "photons beyond m^2 of a cell are not stored, their powers shared out" if kind == "stencil" else ""
            why = why or "the published radius grows by photons as they come, the reference's is that of the k nearest."
            checks.append(
                Check(what, 1, round(mean, 3), None, f"mean difference of a pixel {apart:.1%}. {why}".strip())
            )
    width = max(each.shape[1] for each in rows)
    sheet = np.concatenate([np.pad(each, ((0, 2), (0, width - each.shape[1]), (0, 0))) for each in rows])
    sheet = np.repeat(np.repeat(sheet, larger, 0), larger, 1) if (larger := 600 // width) > 1 else sheet
    yield Figure(
        "Figure 6.7: map by sort, by stencil routing, and the reference",
        png=plots.jpeg(sheet, 92),
        note=f"Rows: {', '.join(names)}; settings of the preset 2003, {scale} times smaller than published. The scenes "
        "are stand-ins: geometry, lights and cameras are not in the papers.",
        alt="caustics of a glass ball, a metal ring, and the Cornell box, three times each",
    )
    yield from checks


# -- figure 6.8 ----------------------------------------------------------------------------------------------------


@section("fig_6_8", paper="D 6.3.2, P3 3.2", title="Visual convergence of GLASS BALL (figure 6.8)", order=4)
def fig_6_8(context: Context) -> Iterator[Part]:
    """The estimate after more and more visits of photons and cells, one a pass."""
    scale = 4 if context.quick else 2
    found = context.keep(("converge", scale), lambda: _converge(context, scale))
    visits, error = np.asarray(found["visits"]), np.asarray(found["error"])
    total = int(found["most"])
    figure, axes = plots.figure(6.4, 3.0)
    axes.semilogx(visits, 100 * error, label="mean error of the caustic's pixels, displayed")
    axes.semilogx(visits, 100 * np.asarray(found["running"]), label="pixels that still run")
    axes.set_xlabel("passes, one photon or empty cell each")
    axes.set_ylabel("%")
    axes.legend()
    yield Figure(
        "Convergence of the running estimate",
        svg=plots.svg(figure),
        note="Simulated at the points that the eye sees, by the published search over this project's photons.",
        alt="two falling curves; the error falls before the share of pixels that run",
    )
    yield Figure(
        "Figure 6.8: the estimate at stages of convergence",
        png=plots.png(np.repeat(np.repeat(np.concatenate(found["stages"], axis=1), 2, 0), 2, 1)),
        note="After " + ", ".join(f"{each:,}" for each in found["at"]) + " passes, and converged.",
        alt="the caustic of a glass ball growing bright",
    )
    close = int(visits[np.argmax(error < CLOSE)])
    yield Check(
        "Share of the time to converge after which the picture looks converged",
        f"{VISUAL_CONVERGENCE[0] / VISUAL_CONVERGENCE[1]:.0%} (4 s of 14.9 s)",
        f"{close / total:.0%} ({close:,} of {total:,} passes, to a mean error of 1 %)",
        None,
        "judged by eye there; here by the mean error of displayed values",
    )
    by_stencil = found["stencil"]
    yield Check(
        "The same by stencil routing",
        "all of it: visual is total convergence",
        f"{by_stencil['close'] / by_stencil['most']:.0%} ({by_stencil['close']:,} of {by_stencil['most']:,} passes)",
        None,
        f"{ROUTED} photons of a cell at most, so that no pixel searches many; judged by eye there",
    )
    yield Check(
        "Stencil routing ends before the sort: passes",
        f"{TABLE_6_1['GLASS BALL'].stencil[-1]} s of {TABLE_6_1['GLASS BALL'].sort[-1]} s",
        f"{by_stencil['most']:,} of {total:,}",
        by_stencil["most"] < total,
    )
    earlier = close < total
    yield Check("The picture looks converged before it is: dark pixels search longest", True, earlier, earlier)


def _converge(context: Context, scale: int) -> dict[str, Any]:
    """Of the published GLASS BALL, ``scale`` times smaller."""
    settings = dict(PUBLISHED["glass_ball"])
    width, height = settings.pop("size")
    size = width // scale, height // scale
    chosen = {"program": "photon", "estimate": "published", "machine": "singlepass", **settings}
    renderer = viewer.Renderer(context.scene("glass_ball"), device=context.device, **chosen)
    picture = renderer.render(size, spp=1, layers=("albedo", "normal", "depth"))
    with renderer.device.current():
        photons = renderer.photon_map.streams["photons"].read().ravel()
    photons = photons[photons["stored"] > 0]
    low, high = np.asarray(renderer.scene.bounds(ground=False), float)
    radius = renderer.settings.photon_radius or NEAREST_SHARE * float(np.linalg.norm(high - low))
    grid = PhotonGrid.over(low, high, settings["photon_grid"])
    cells = grid.numbers(photons["position"])
    order = np.argsort(cells, kind="stable")
    first = np.searchsorted(cells[order], np.arange(grid.cells + 1)).astype(np.int64)
    origins, directions = (part.reshape(-1, 3) for part in renderer.camera.rays(*size))
    depth = picture.layers["depth"].ravel()
    up = picture.layers["normal"].reshape(-1, 3)[:, 1] > 0.99  # the floor, on which the caustic is
    seen = np.flatnonzero(np.isfinite(depth) & up & (depth < 1e30))
    points = np.ascontiguousarray(origins[seen] + directions[seen] * depth[seen, None])
    albedo = picture.layers["albedo"].reshape(-1, 3)[seen].astype(float)
    box = [np.array(each) for each in (grid.low, grid.cell)]
    fixed = (*box, np.array(grid.resolution, np.int64), int(settings["nearest"]), float(radius))
    position, power = (np.ascontiguousarray(photons[name][order], np.float64) for name in ("position", "power"))
    visits, shown, took = _estimates(points, albedo, (position, power, first), fixed)
    error = _error(shown)
    kept, counts = _routed(first)
    scaled = np.ascontiguousarray(power[kept] * counts[:, None])
    after = np.concatenate([[0], np.cumsum(np.minimum(np.diff(first), ROUTED))]).astype(np.int64)
    _, other, longest = _estimates(points, albedo, (np.ascontiguousarray(position[kept]), scaled, after), fixed)
    renderer.release()
    stages = [int(np.searchsorted(visits, share * took.max())) for share in (0.02, 0.08, 0.25)]
    return {
        "visits": visits.tolist(),
        "error": error.tolist(),
        "running": [(took > each).mean() for each in visits],
        "most": int(took.max()),
        "at": [int(visits[each]) for each in stages],
        "stages": [_placed(shown[each], seen, size) for each in (*stages, -1)],
        "stencil": {"close": int(visits[np.argmax(_error(other) < CLOSE)]), "most": int(longest.max())},
    }


def _estimates(
    points: NDArray, albedo: NDArray, photons: tuple[NDArray, NDArray, NDArray], fixed: tuple[Any, ...]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Numbers of visits, the displayed light of points after each and at last, and the visits that each point takes.

    photons : positions and powers by cell, and each cell's first. fixed : low, size and shape of the grid, k, radius.
    """
    visits = np.unique(np.geomspace(1, 1e5, 80).astype(np.int64))
    out = np.zeros((len(visits) + 1, len(points), 4))
    took = np.zeros(len(points), np.int64)
    run(converge, points, *photons, *fixed, visits, took, out)
    area = np.where(out[..., 3] > 0, np.pi * np.maximum(out[..., 3], 1e-12), np.inf)
    area = np.minimum(area, np.pi * fixed[-1] ** 2)
    light = out[..., :3] / area[..., None] * albedo / np.pi
    light /= max(float(np.percentile(light[-1], 99.5)), 1e-9)  # the caustic is white
    return visits, srgb8(light.astype(np.float32)).astype(float), took


def _error(shown: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean error of the caustic's displayed pixels after each number of visits, as a share of its mean."""
    lit = shown[-1].max(axis=-1) > 25
    return np.asarray(np.abs(shown[:-1, lit] - shown[-1, lit]).mean(axis=(1, 2)) / shown[-1, lit].mean())


def _routed(first: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Photons that stencil routing keeps, the newest of each cell, and what their powers are multiplied by."""
    counts = np.diff(first)
    cell = np.repeat(np.arange(len(counts)), counts)
    behind = first[cell + 1] - np.arange(first[-1])  # 1 for a cell's newest photon
    kept = np.flatnonzero(behind <= ROUTED)
    return kept, counts[cell[kept]] / np.minimum(counts[cell[kept]], ROUTED)


def _placed(shown: NDArray, seen: NDArray, size: tuple[int, int]) -> NDArray[np.uint8]:
    """(H, W, 3) of the pixels seen, the middle of the picture."""
    whole = np.zeros((size[0] * size[1], 3), np.uint8)
    whole[seen] = np.clip(shown, 0, 255)
    picture = whole.reshape(size[1], size[0], 3)
    return np.pad(picture[size[1] // 5 :, size[0] // 5 : -size[0] // 5], ((0, 0), (0, 2), (0, 0)), constant_values=255)
