"""D 6.3.1 and 6.3.4: pictures of photon mapping and how they converge; figures 6.7 and 6.8."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.base.jit import run
from raystream.film.tonemap import srgb8
from raystream.photons.grid import PhotonGrid
from raystream.scene.builtin.caustics import PUBLISHED
from reproduction.simulators.photons import converge

from .. import plots
from ..context import Context
from ..photon_cases import MAPS
from ..photon_pictures import greatest_radius, pictures
from ..published.chapter6 import ROUTED, TABLE_6_1, VISUAL_CONVERGENCE
from ..report import (
    BY_EYE,
    CLAIM,
    COUNT,
    OWN,
    POINTS,
    Check,
    Parts,
    about,
    at_points,
    captioned,
    concluded,
    section,
    told,
)
from ..shown import webp

SHOWN = {each.scene: each.shows for each in TABLE_6_1.values()}
MEAN = 0.06  # of a picture: at its radius an estimate by k photons has a standard error of 1 / sqrt(k), less on average
CLOSE = 0.01  # mean error of displayed values at which a picture looks converged
LIT, BRIGHT = 25, 128  # of 255, as displayed: the caustic, and what is bright of it
LIGHTS = ("dark", "bright")
DONE = 0.999  # of the points: all but those in the most crowded cells


@section("fig_6_7", paper="D 6.3.1, P3 3.1", title="Pictures of the three scenes (figure 6.7)", order=3)
def fig_6_7(context: Context) -> Parts:
    """By either map, and by a reference in NumPy."""
    names = tuple(PUBLISHED)[:2] if context.quick else tuple(PUBLISHED)
    scale = 8 if context.quick else 2
    checks: list[Check] = []
    differences: dict[str, float] = {}
    yield told("fig_6_7", scale=scale)
    for name in names:
        found = context.keep(("pictures", name, scale), lambda name=name: pictures(name, scale))
        yield captioned("photon_pictures", png=found["pictures"], name=name, shown=SHOWN[name])
        differences[name] = found["apart"][0]
        for kind, apart, mean in zip(MAPS, found["apart"], found["means"], strict=True):
            what = f"{name} by {kind}: the picture's mean, as a share of the reference's"
            near = abs(mean - 1) <= MEAN
            why = "photons beyond m^2 of a cell are not stored, their powers shared out" if kind == "stencil" else ""
            why = why or "the published radius grows by photons as they come, the reference's is that of the k nearest."
            bound = f"to {MEAN:.0%}, of direct light and photons together; mean difference of a pixel {apart:.1%}"
            checks.append(Check(OWN, what, 1, round(mean, 3), near, why, bound))
    yield from checks
    text = ", ".join(f"{name} {each:.1%}" for name, each in differences.items())
    text = f"mean difference of a pixel, map by sort, from the picture of the k nearest: {text}"
    yield concluded("larger_radius", [each <= POINTS for each in differences.values()], text)


# -- figure 6.8 ----------------------------------------------------------------------------------------------------


@section(
    "fig_6_8", paper="D 6.3.4, P3 3.4, D 6.3.1, P3 3.1", title="Visual convergence of GLASS BALL (figure 6.8)", order=4
)
def fig_6_8(context: Context) -> Parts:
    """The estimate after more and more visits of photons and cells, one a pass."""
    scale = 4 if context.quick else 2
    found = context.keep(("convergence", scale), lambda: _converge(context, scale))
    visits, error = np.asarray(found["visits"]), np.asarray(found["error"])
    total = int(found["most"])
    figure, axes = plots.figure(6.4, 3.0)
    axes.semilogx(visits, 100 * error, label="mean error of the caustic, % of its light")
    axes.semilogx(visits, 100 * np.asarray(found["running"]), label="pixels that still run, % of all")
    axes.set(xlabel="passes, one photon or empty cell each", ylabel="% of the light; % of the pixels")
    axes.legend()
    yield captioned("convergence", svg=plots.svg(figure))
    passes = ", ".join(f"{each:,}" for each in found["at"])
    yield captioned("stages_of_convergence", png=found["stages"], passes=passes)
    close = int(visits[np.argmax(error < CLOSE)])
    printed = VISUAL_CONVERGENCE[0] / VISUAL_CONVERGENCE[1]
    by_stencil = found["stencil"]
    shorter = TABLE_6_1["GLASS BALL"].stencil[-1] / TABLE_6_1["GLASS BALL"].sort[-1]
    share, routed = close / total, by_stencil["close"] / by_stencil["most"]
    eye = "judged by eye there; here by the mean error of displayed values"
    what = "Share of the time to converge after which the picture looks converged"
    both = f"{printed:.0%} (4 s of 14.9 s)", f"{share:.0%} ({close:,} of {total:,} passes, to a mean error of 1 %)"
    near, bound = at_points(printed, share, BY_EYE), f"to {100 * BY_EYE:.0f} points"
    checks = [Check(CLAIM, what, *both, near, eye, bound)]
    what, of = "The same by stencil routing: visual is total convergence", by_stencil["most"]
    ours, near = f"{routed:.0%} ({by_stencil['close']:,} of {of:,} passes)", at_points(1, routed, BY_EYE)
    why = (
        f"{DONE:.1%} of the points are done after {by_stencil['done']:,} passes, and the picture looks converged at "
        f"{by_stencil['close'] / by_stencil['done']:.0%} of these; the rest is of a few points whose cells are "
        f"crowded. By sort it is {close / found['done']:.0%} of {found['done']:,}; {eye}"
    )
    checks.append(Check(CLAIM, what, "100 %", ours, near, why))
    what = "Stencil routing makes the estimate shorter: passes of the published machine, over those by sort"
    both = f"{shorter:.2f} (derived, GLASS BALL)", f"{of / total:.2f} ({of:,} of {total:,} passes)"
    near, why = about(shorter, of / total, COUNT), "either ends with its longest search"
    checks.append(Check(CLAIM, what, *both, near, why, f"to {COUNT:.0%}"))
    yield from checks
    dark, bright = (context.keep(("by light", scale), lambda: _by_light(context, scale))[each] for each in LIGHTS)
    what = (
        "Dark pixels search all cells to the greatest radius, bright ones have k photons sooner: passes, at the median"
    )
    ours, bound = f"{dark:,.0f} and {bright:,.0f}", f"bright: displayed by more than {BRIGHT} of 255"
    yield Check(CLAIM, what, "more of dark ones", ours, dark > bright, bound=bound)
    for name, check in zip(("converged_quarter", "stencil_converged", "estimate_shorter"), checks, strict=True):
        yield concluded(name, [check], f"published {check.published}, here {check.ours}")


class _Caustic(NamedTuple):
    """GLASS BALL's floor, as the eye sees it: ``seen``, numbers of pixels of a picture of ``size``; points and albedo
    (P, 3); photons by cell, positions and powers (N, 3), and each cell's first (cells + 1,); what `_estimates` has of
    the grid, k and the radius."""

    seen: NDArray[np.intp]
    size: tuple[int, int]
    points: NDArray[np.float64]
    albedo: NDArray[np.float64]
    photons: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
    fixed: tuple[Any, ...]


def _caustic(context: Context, scale: int) -> _Caustic:
    """Of the published GLASS BALL, ``scale`` times smaller."""
    settings = dict(PUBLISHED["glass_ball"])
    width, height = settings.pop("size")
    size = width // scale, height // scale
    chosen = {"program": "photon", "estimate": "published", "machine": "singlepass", **settings}
    renderer = raystream.Renderer(context.scene("glass_ball"), device=context.device, **chosen)
    picture = renderer.render(size, spp=1, layers=("albedo", "normal", "depth"))
    with renderer.device.current():
        photons = renderer.photon_map.streams["photons"].read().ravel()
    photons = photons[photons["stored"] > 0]
    low, high = np.asarray(renderer.scene.bounds(ground=False), float)
    radius = renderer.settings.photon_radius or greatest_radius(renderer.scene)
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
    renderer.release()
    box = [np.array(each) for each in (grid.low, grid.cell)]
    fixed = (*box, np.array(grid.resolution, np.int64), int(settings["nearest"]), float(radius))
    position, power = (np.ascontiguousarray(photons[name][order], np.float64) for name in ("position", "power"))
    return _Caustic(seen, size, points, albedo, (position, power, first), fixed)


def _by_light(context: Context, scale: int) -> dict[str, float]:
    """Passes at the median of the caustic's ``bright`` pixels, and of all others, ``dark``."""
    there = _caustic(context, scale)
    _, shown, took = _estimates(there.points, there.albedo, there.photons, there.fixed)
    bright = _displayed(shown, BRIGHT)
    return {"bright": float(np.median(took[bright])), "dark": float(np.median(took[~bright]))}


def _converge(context: Context, scale: int) -> dict[str, Any]:
    """Of the published GLASS BALL, ``scale`` times smaller."""
    seen, size, points, albedo, (position, power, first), fixed = _caustic(context, scale)
    visits, shown, took = _estimates(points, albedo, (position, power, first), fixed)
    error = _error(shown)
    kept, counts = _routed(first)
    scaled = np.ascontiguousarray(power[kept] * counts[:, None])
    after = np.concatenate([[0], np.cumsum(np.minimum(np.diff(first), ROUTED))]).astype(np.int64)
    _, other, longest = _estimates(points, albedo, (np.ascontiguousarray(position[kept]), scaled, after), fixed)
    stages = [int(np.searchsorted(visits, share * took.max())) for share in (0.02, 0.08, 0.25)]
    return {
        "visits": visits.tolist(),
        "error": error.tolist(),
        "running": [(took > each).mean() for each in visits],
        "most": int(took.max()),
        "done": int(np.quantile(took, DONE)),
        "at": [int(visits[each]) for each in stages],
        "stages": webp(*(_placed(shown[each], seen, size) for each in (*stages, -1))),
        "stencil": {
            "close": int(visits[np.argmax(_error(other) < CLOSE)]),
            "most": int(longest.max()),
            "done": int(np.quantile(longest, DONE)),
        },
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


def _displayed(shown: NDArray[np.float64], least: int) -> NDArray[np.bool_]:
    """The points that are displayed by more than ``least`` at last."""
    return np.asarray(shown[-1].max(axis=-1) > least)


def _error(shown: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean error of the caustic's displayed pixels after each number of visits, as a share of its mean."""
    lit = _displayed(shown, LIT)
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
