"""D 6.3.1 and 6.3.4: settings of the three scenes, and what the papers leave open; their pictures (figure 6.7) and how
these converge (figure 6.8); how the search ends; moving lights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.base.jit import run
from raystream.cli.presets import preset
from raystream.film.tonemap import srgb8
from raystream.options.table import OPTIONS
from raystream.photons.grid import PhotonGrid
from raystream.renderer.device.tile_job import PICTURE
from raystream.renderer.photon_map import MAX_RADIUS_SHARE
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin.caustics import PUBLISHED
from reproduction.simulators.photons import converge

from .. import photon_pictures, plots, report, timed
from ..context import Context
from ..photon_cases import MAPS, STAGES, renderer_of, stored_photons
from ..photon_pictures import POINTS as SEARCHED
from ..photon_pictures import greatest_radius
from ..published.chapter6 import INTERACTIVE, ROUTED, SETTINGS, STENCIL_EDGES, TABLE_6_1, VISUAL_CONVERGENCE, WINDOWS
from ..report import ALL, BY_EYE, COUNT, Parts, captioned, checked, concluded, listed, section, sides, tabled, worded
from ..shown import webp

FOOTPRINT = 4  # m of stencil routing here
SAMPLERS = {name: preset("2003", each.scene)["sampler"] for name, each in TABLE_6_1.items()}


@section("photon_settings", paper="D 6.3.1, P3 3.1", title="The three scenes and their settings (section 6.3.1)")
def photon_settings(context: Context) -> Parts:
    """The published settings beside those of the preset 2003."""
    rows, checks = [], list[report.Check]()
    for name, theirs in SETTINGS.items():
        ours, scene, stored = PUBLISHED[TABLE_6_1[name].scene], context.scene(TABLE_6_1[name].scene), None
        if not context.quick:
            stored = context.keep(("stored", name), lambda name=name: _stored(context, name))
        light = "point" if any(each.kind == "point" for each in scene.lights) else "area"
        both = (
            (sides(theirs.size), sides(ours["size"])),
            (sides(theirs.grid), sides(ours["photon_grid"])),
            (theirs.nearest, ours["nearest"]),
            (theirs.light, light),
            (theirs.samples, ours["light_samples"]),
        )
        # Photons depend on chance and on geometry that is not published; "stored" is printed in thousands.
        photons = report.beside(theirs.stored, None, "not counted with --quick")
        if stored is not None:
            photons = report.near(theirs.stored, stored, report.ROUND_NUMBER, worded("photons_sent"))
        rows.append((name, *(report.exact(*pair) for pair in both), photons))
        same = all(a == b for a, b in both)
        checks.append(checked("same_settings", same, name=name, word="yes" if same else "no"))
        cells, most = int(np.prod(theirs.grid)), STENCIL_EDGES[1]
        checks.append(checked("cells_fit", cells <= most, name=name, edge=FOOTPRINT, most=most, cells=cells))
        if stored is not None:
            close, bound = (
                report.about(theirs.stored, stored, report.ROUND_NUMBER),
                f"to {report.ROUND_NUMBER:.0%}: {worded('photons_sent')}",
            )
            checks.append(checked("photons_stored", close, name=name, theirs=theirs.stored, ours=stored, bound=bound))
    note = "" if not context.quick else "Photons are counted without --quick."
    yield tabled("settings_of_the_preset_2003", rows, checks, note=note)
    own = {name: OPTIONS[name].value.default for name in ("sampler", "photon_bounces")}
    samplers = " or ".join(dict.fromkeys(SAMPLERS.values()))
    yield tabled("what_the_papers_say_of", report.described("photons_told", samplers=samplers, **own))
    yield tabled("what_the_papers_leave_open", report.described("photons_open", **own, **chosen(context)))
    yield from report.faults("D 6.3.1")


def chosen(context: Context) -> dict[str, str]:
    """What each scene has its own value of, of what the papers leave open."""
    sent, reach = [], []
    for name, each in TABLE_6_1.items():
        settings, scene = PUBLISHED[each.scene], context.scene(each.scene)
        sent.append(f"{name} {settings['photons']:,} + {settings['caustic_photons']:,}")
        low, high = np.asarray(scene.bounds(ground=False), float)
        reach.append(f"{name} {greatest_radius(scene):.3g} (longest side {float(np.max(high - low)):.3g})")
    share = str(Fraction(MAX_RADIUS_SHARE).limit_denominator(1000))
    return {"sent": listed(sent), "share": share, "reach": listed(reach)}


def _stored(context: Context, name: str) -> int:
    renderer, (width, height) = renderer_of(name, context.device, False)
    renderer.render((width // 8, height // 8), spp=1)
    stored = int(renderer.photon_map.stored)
    renderer.release()
    return stored


@section("search_end", paper="D 6.2.3, P3 2.3", title="How the search for photons ends", order=4)
def search_end(context: Context) -> Parts:
    """The published end of the search, beside one that goes on until no nearer photon can come."""
    scale = 8 if context.quick else 2
    names = tuple(TABLE_6_1)[:1] if context.quick else tuple(TABLE_6_1)

    def ends(name: str) -> dict[str, float]:
        renderer, (width, height), _ = photon_pictures.published(TABLE_6_1[name].scene)
        with timed.Releasing() as held:
            return photon_pictures.ends(held.own(renderer), (width // scale, height // scale))

    found = {name: context.keep(("ends", name, scale), lambda name=name: ends(name)) for name in names}
    yield report.told("search_end")
    rows = [
        (name, f"{each['enough']:.1%}", f"{each['same']:.1%}", f"{each['lit']:.3f}") for name, each in found.items()
    ]
    same = {name: each["same"] for name, each in found.items()}
    checks = [checked("finds_nearest", share > 1 - ALL, name=name, share=share) for name, share in same.items()]
    few = [each["few"] for each in found.values()]
    alike = checked("few_alike", min(few) > 1 - ALL, few=listed(few, ".1%"), share=1 - ALL)
    yield tabled("light_of_the_photons_by", rows, [*checks, alike], points=SEARCHED, scale=scale, light=2 / np.pi)
    texts = {"shares": listed(same.values(), ".1%"), "lights": listed((each["lit"] for each in found.values()), ".2f")}
    yield concluded("all_in_sphere", checks, worded("all_in_sphere", **texts))
    yield from report.faults("D 6.2.3")


# -- moves -------------------------------------------------------------------------------------------------------------

MAP = STAGES[:2]  # tracing photons, building their map
MOVED = 0.02  # of what moves, scene units
MOVES = {"light": "the lamp", "geometry": "the ball", "camera": "the eye: photons and map are kept"}
NAMES = {"light": "lamp", "geometry": "ball"}  # of instances


@section("interactive", paper="D 6.3.4, P3 3.4", title="Moving lights, geometry and camera", order=5, timed=True)
def interactive(context: Context) -> Parts:
    """Photons, map and picture anew, in windows of both sizes."""
    rows: list[tuple[Any, ...]] = []
    made, checks, part = [], [], 4 if context.quick else 1
    for paper, whole in WINDOWS.items():
        edge = whole // part
        found = timed.keep(context, ("interactive", edge), lambda edge=edge: _anew(context, edge))["anew"]
        made.append(found.median)
        rows.append((f"{paper}, {edge} x {edge}", report.beside(INTERACTIVE, found.wall.text(), report.OTHER_DEVICE)))
    small = " A quarter of that, with few photons." if context.quick else ""
    yield tabled("glass_ball_from_a_moved", rows, device=context.device_name, small=small)
    edge, rows = WINDOWS["D"] // part, []
    moved = timed.keep(context, ("moved", edge), lambda: after(context, edge))
    for what, named in MOVES.items():
        stages = moved[what].parts
        seconds = (stages[stage].text() if stage in stages else "0" for stage in (*MAP, PICTURE))
        rows.append((f"{what}: {named}", *seconds, moved[what].wall.text()))
        traced, expected = MAP[0] in stages, what != "camera"
        words = {True: "traced again", False: "kept"}
        texts = {"expected": words[expected], "traced": words[traced]}
        checks.append(checked("photons_moved", traced == expected, what=what, **texts))
    yield tabled("glass_ball_edge_x_edge", rows, checks, edge=edge)
    text = f"here {listed(f'{each:.3g} s' for each in made)} on {context.device_name}, of today"
    yield concluded("moved_live", [None], text)


@contextmanager
def after(context: Context, edge: int) -> Iterator[dict[str, timed.Case]]:
    """Pictures after a move to and fro, by what moves, with the seconds of their stages."""
    renderer, _ = renderer_of("GLASS BALL", context.device, context.quick)
    executor, ways = renderer.sampler.scene.executor, cycle((MOVED, -MOVED))

    def case(what: str) -> dict[str, float]:
        if what == "camera":
            x, y, z = renderer.camera.origin
            renderer.update(camera=replace(renderer.camera, origin=(x + next(ways), y, z)))
        else:
            _move(renderer, next(ways), NAMES[what])
        executor.times = {}
        renderer.render((edge, edge), spp=1)
        stages, executor.times = dict(executor.times), None
        return stages

    with timed.Releasing() as held:
        held.own(renderer)
        yield {what: partial(case, what) for what in MOVES}


@contextmanager
def _anew(context: Context, edge: int) -> Iterator[dict[str, timed.Case]]:
    """From a lamp that moves to and fro to the picture."""
    renderer, _ = renderer_of("GLASS BALL", context.device, context.quick)
    ways = cycle((MOVED, -MOVED))

    def case() -> None:
        _move(renderer, next(ways))
        renderer.render((edge, edge), spp=1)

    with timed.Releasing() as held:
        held.own(renderer)
        yield {"anew": case}


def _move(renderer: Renderer, way: float, name: str = "lamp") -> None:
    """An instance a little to the side."""
    scene = renderer.scene
    place = next(k for k, each in enumerate(scene.instances) if each.name == name)
    turned = np.array(scene.instances[place].transform, float)
    turned[0, 3] += way
    instances = [replace(each, transform=turned) if k == place else each for k, each in enumerate(scene.instances)]
    renderer.update(scene=replace(scene, instances=instances))


# -- figures 6.7 and 6.8 -----------------------------------------------------------------------------------------------

SHOWN = {each.scene: each.shows for each in TABLE_6_1.values()}
MEAN = 0.06  # of a picture: at its radius an estimate by k photons has a standard error of 1 / sqrt(k), less on average
CLOSE = 0.01  # mean error of displayed values at which a picture looks converged
LIT, BRIGHT = 25, 128  # of 255, as displayed: the caustic, and what is bright of it
DONE = 0.999  # of the points: all but those in the most crowded cells
PUBLISHED_SHARE = VISUAL_CONVERGENCE[0] / VISUAL_CONVERGENCE[1]


@section("fig_6_7", paper="D 6.3.1, P3 3.1", title="Pictures of the three scenes (figure 6.7)", order=3)
def fig_6_7(context: Context) -> Parts:
    """By either map, and by a reference in NumPy."""
    names, scale = tuple(PUBLISHED)[: 2 if context.quick else None], 8 if context.quick else 2
    checks, differences = list[report.Check](), dict[str, float]()
    yield report.told("fig_6_7", scale=scale)
    for name in names:
        found = context.keep(("pictures", name, scale), lambda name=name: photon_pictures.pictures(name, scale))
        yield captioned("photon_pictures", png=found["pictures"], name=name, shown=SHOWN[name])
        differences[name] = found["apart"][0]
        for kind, apart, mean in zip(MAPS, found["apart"], found["means"], strict=True):
            texts = {"name": name, "map": kind, "mean": round(mean, 3), "apart": apart, "bound": MEAN}
            checks.append(checked("picture_mean", abs(mean - 1) <= MEAN, why=worded(f"mean_by_{kind}"), **texts))
    yield from checks
    text = listed(f"{name} {each:.1%}" for name, each in differences.items())
    text = f"mean difference of a pixel, map by sort, from the picture of the k nearest: {text}"
    yield concluded("larger_radius", [each <= report.POINTS for each in differences.values()], text)


@section(
    "fig_6_8", paper="D 6.3.4, P3 3.4, D 6.3.1, P3 3.1", title="Visual convergence of GLASS BALL (figure 6.8)", order=4
)
def fig_6_8(context: Context) -> Parts:
    """The estimate after more and more visits of photons and cells, one a pass."""
    scale = 4 if context.quick else 2
    found = context.keep(("convergence", scale), lambda: _converge(context, scale))
    visits, error = np.asarray(found["visits"]), np.asarray(found["error"])
    total, routed = int(found["most"]), found["stencil"]
    figure, axes = plots.figure(6.4, 3.0)
    axes.semilogx(visits, 100 * error, label="mean error of the caustic, % of its light")
    axes.semilogx(visits, 100 * np.asarray(found["running"]), label="pixels that still run, % of all")
    axes.set(xlabel="passes, one photon or empty cell each", ylabel="% of the light; % of the pixels")
    axes.legend()
    yield captioned("convergence", svg=plots.svg(figure))
    yield captioned("stages_of_convergence", png=found["stages"], passes=listed(found["at"], ","))
    close = int(visits[np.argmax(error < CLOSE)])
    shorter = TABLE_6_1["GLASS BALL"].stencil[-1] / TABLE_6_1["GLASS BALL"].sort[-1]
    share, of, eye = close / total, routed["most"], worded("by_eye")
    texts: dict[str, Any] = {"total": total, "routed": routed, "eye": eye, "close": close}
    same = report.at_points(PUBLISHED_SHARE, share, BY_EYE)
    whole = report.at_points(1, routed["close"] / of, BY_EYE)
    of_done = {"routed_done": routed["close"] / routed["done"], "sort_done": close / found["done"]}
    counts = {"done": found["done"], "all": DONE, "count": COUNT, "points": BY_EYE}
    checks = [
        checked("looks_converged", same, printed=PUBLISHED_SHARE, share=share, **counts, **texts),
        checked("visual_is_total", whole, share=routed["close"] / of, **of_done, **counts, **texts),
        checked(
            "estimate_shorter",
            report.about(shorter, of / total, COUNT),
            shorter=shorter,
            ours=of / total,
            **counts,
            **texts,
        ),
    ]
    yield from checks
    dark, bright = (context.keep(("by light", scale), lambda: by_light(context, scale))[k] for k in ("dark", "bright"))
    yield checked("dark_pixels", dark > bright, dark=dark, bright=bright, least=BRIGHT)
    for name, check in zip(("converged_quarter", "stencil_converged", "estimate_shorter"), checks, strict=True):
        yield concluded(name, [check], f"published {check.published}, here {check.ours}")


class Caustic(NamedTuple):
    """GLASS BALL's floor, as the eye sees it: ``seen``, numbers of pixels of a picture of ``size``; points and albedo
    (P, 3); photons by cell, positions and powers (N, 3), and each cell's first (cells + 1,); what `_estimates` has of
    the grid, k and the radius."""

    seen: NDArray[np.intp]
    size: tuple[int, int]
    points: NDArray[np.float64]
    albedo: NDArray[np.float64]
    photons: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]
    fixed: tuple[Any, ...]


def _caustic(context: Context, scale: int) -> Caustic:
    """Of the published GLASS BALL, ``scale`` times smaller."""
    settings = dict(PUBLISHED["glass_ball"])
    width, height = settings.pop("size")
    size = width // scale, height // scale
    chosen = {"program": "photon", "estimate": "published", "machine": "singlepass", **settings}
    renderer = raystream.Renderer(context.scene("glass_ball"), device=context.device, **chosen)
    layers = renderer.render(size, spp=1, layers=("albedo", "normal", "depth")).layers
    photons = stored_photons(renderer)
    low, high = np.asarray(renderer.scene.bounds(ground=False), float)
    radius = renderer.settings.photon_radius or greatest_radius(renderer.scene)
    grid = PhotonGrid.over(low, high, settings["photon_grid"])
    cells = grid.numbers(photons["position"])
    order = np.argsort(cells, kind="stable")
    first = np.searchsorted(cells[order], np.arange(grid.cells + 1)).astype(np.int64)
    origins, directions = (part.reshape(-1, 3) for part in renderer.camera.rays(*size))
    depth, up = layers["depth"].ravel(), layers["normal"].reshape(-1, 3)[:, 1] > 0.99  # the floor has the caustic
    seen = np.flatnonzero(np.isfinite(depth) & up & (depth < 1e30))
    points = np.ascontiguousarray(origins[seen] + directions[seen] * depth[seen, None])
    albedo = layers["albedo"].reshape(-1, 3)[seen].astype(float)
    renderer.release()
    box = [np.array(each) for each in (grid.low, grid.cell)]
    fixed = (*box, np.array(grid.resolution, np.int64), int(settings["nearest"]), float(radius))
    position, power = (np.ascontiguousarray(photons[name][order], np.float64) for name in ("position", "power"))
    return Caustic(seen, size, points, albedo, (position, power, first), fixed)


def by_light(context: Context, scale: int) -> dict[str, float]:
    """Passes at the median of the caustic's ``bright`` pixels, and of all others, ``dark``."""
    there = _caustic(context, scale)
    _, shown, took = _estimates(there.points, there.albedo, there.photons, there.fixed)
    bright = _displayed(shown, BRIGHT)
    return {"bright": float(np.median(took[bright])), "dark": float(np.median(took[~bright]))}


def _converge(context: Context, scale: int) -> dict[str, Any]:
    """Of the published GLASS BALL, ``scale`` times smaller."""
    seen, size, points, albedo, (position, power, first), fixed = _caustic(context, scale)
    visits, shown, took = _estimates(points, albedo, (position, power, first), fixed)
    kept, counts = routed(first)
    scaled = np.ascontiguousarray(power[kept] * counts[:, None])
    behind = np.concatenate([[0], np.cumsum(np.minimum(np.diff(first), ROUTED))]).astype(np.int64)
    _, other, longest = _estimates(points, albedo, (np.ascontiguousarray(position[kept]), scaled, behind), fixed)
    stages = [int(np.searchsorted(visits, share * took.max())) for share in (0.02, 0.08, 0.25)]
    return {
        "visits": visits.tolist(),
        "error": _error(shown).tolist(),
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
    out, took = np.zeros((len(visits) + 1, len(points), 4)), np.zeros(len(points), np.int64)
    run(converge, points, *photons, *fixed, visits, took, out)
    area = np.where(out[..., 3] > 0, np.pi * np.maximum(out[..., 3], 1e-12), np.inf)
    light = out[..., :3] / np.minimum(area, np.pi * fixed[-1] ** 2)[..., None] * albedo / np.pi
    light /= max(float(np.percentile(light[-1], 99.5)), 1e-9)  # the caustic is white
    return visits, srgb8(light.astype(np.float32)).astype(float), took


def _displayed(shown: NDArray[np.float64], least: int) -> NDArray[np.bool_]:
    """The points that are displayed by more than ``least`` at last."""
    return np.asarray(shown[-1].max(axis=-1) > least)


def _error(shown: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean error of the caustic's displayed pixels after each number of visits, as a share of its mean."""
    lit = _displayed(shown, LIT)
    return np.asarray(np.abs(shown[:-1, lit] - shown[-1, lit]).mean(axis=(1, 2)) / shown[-1, lit].mean())


def routed(first: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
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
