"""The papers' scenes and pictures (figures 3.3, 5.2, 5.7 to 5.10 of D), how stand-ins were found, other viewpoints and
grids (D 5.2.1); and what the report has of all papers: scene files, errors and wishes; figure 7.1."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel.grid.build import build
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from reproduction.simulators.machines import INTERSECT, OTHER_PASSES, SETUP, STEP, TWENTY, Workload, cost
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.schedule import Simulation
from reproduction.simulators.walk import Space, walk

from .. import measured, plots, report, scene_files, stand_ins, views
from ..context import Context
from ..published.chapter5 import TABLE_5_1, VIEWS
from ..published.chapter7 import LAST, MEMORY, PROCESSOR
from ..report import FITTED, LONGEST, Cell, Parts, beside, between, captioned, section, sides, tabled, told, worded
from ..shown import Shot, sheet

LEVEL = "chapel.bsp"
WORDS = 27  # of a triangle in texture memory
TEXTURES = 200, 300  # MB (P2 5.1)
FOREST = 173 + 108  # MB of 43.2 M voxels and 1.0 M triangles
SMALL = 100  # MB: the bunny, of which the text does not speak


def edge(context: Context, published: int) -> int:
    """Pixels along a side."""
    return published // 4 if context.quick else published


def fitted(name: str, found: Mapping[str, Any]) -> list[Cell]:
    """v, t and s of a view beside the published ones, for which its camera was sought."""
    return [beside(f"{getattr(VIEWS[name], each):g}", f"{found[each]:.2f}", FITTED) for each in ("v", "t", "s")]


@section("fig_5_2", paper="D 5.2.1, P2 4.1", title="The scenes (figure 5.2; P2 6)", order=-1)
def scenes(context: Context) -> Parts:
    """The five viewpoints, cast as there, and what a ray does in them."""
    size, rows, largest = edge(context, views.SIZE), list[tuple[Any, ...]](), 0.0

    def memory(name: str) -> dict[str, Any]:
        """Triangles, grid, and megabytes of textures: a word a voxel and a list entry; of a triangle nine words of
        corners, as many of normals and of colours."""
        space = measured.space(context, name)
        words = len(space.pointers) + len(space.lists) + WORDS * len(space.corners)
        return {"triangles": len(space.corners), "grid": sides(space.resolution.tolist()), "megabytes": 4e-6 * words}

    for name in (yield from measured.there(context)):
        view, published = measured.SOURCES[name], VIEWS[name]
        found = context.keep(("scene", name), lambda name=name: memory(name))
        shot = Shot(lambda view=view: _look(context, view), (size, size), 1, {"program": "cast"})
        texts = {"view": name, "stand_in": view.stand_in, "triangles": found["triangles"], "scene": view.scene}
        yield captioned("viewpoint", png=sheet(context, ("view", name), shot), **texts)
        work = measured.workload(context, name)
        triangles, because = found["triangles"], "it is printed to two digits"
        count = report.near(published.triangles, triangles, report.ROUND_NUMBER, because)
        resolution = sides(sorted(map(int, found["grid"].split(" x "))))
        grid = report.exact(sides(sorted(published.grid)), resolution)
        passes = beside(published.passes, work["passes"], LONGEST)
        rows.append((name, count, grid, *fitted(name, work), passes, round(found["megabytes"])))
        largest = max(largest, found["megabytes"])
    within, large = between(*TEXTURES, largest), [row[-1] for row in rows if row[-1] > SMALL]
    why = worded("texture_words") if within else worded("texture_counts", forest=FOREST)
    check = report.checked("texture_memory", within, printed=TEXTURES, largest=largest, why=why)
    yield tabled("scenes_and_what_a_ray", rows, [check], pixels=sides(measured.size(context)))
    text = report.listed(dict.fromkeys(f"{each} MB" for each in large))
    yield report.concluded("textures_mb", [between(*TEXTURES, each) for each in large], text)


def _look(context: Context, view: views.View) -> tuple[Scene, Camera]:
    scene = view.load(context)
    return scene, view.look(scene)


@section("fig_3_3", paper="D 3.3.4, P2 3.1.4", title="Pictures of the four ray tracers (figure 3.3)", order=2)
def tracers(context: Context) -> Parts:
    """The bunny by each of them."""
    size, view = edge(context, 384), measured.SOURCES[measured.BUNNY]
    # Scattered rays alone find light: no sun, which they would hardly ever meet.
    scattered = {"strategy": "bsdf", "eye_rays": "shared", "environment": "0.9,0.95,1"}
    programs: dict[str, tuple[str, int, dict[str, Any]]] = {
        "shadow": ("Shadow caster", 1, {"first_hits": "raster"}),
        "cast": ("Ray caster", 1, {}),
        "whitted": ("Whitted ray tracer", 4, {"classic": True}),
        "path": ("Path tracer", 4 if context.quick else 64, scattered),
    }
    for program, (title, spp, settings) in programs.items():
        chosen = {"program": program, "environment": "sky", **settings}
        picture = sheet(context, program, Shot(lambda: _look(context, view), (size, size), spp, chosen))
        yield report.Figure(title, png=picture, alt=f"a bunny on a ground, by {title.lower()}")


@section("fig_5_8", paper="D 5.3", title="The Cornell box with soft shadows (figure 5.8)", order=3)
def cornell(context: Context) -> Parts:
    """Several views, first hits by feed-forward."""
    size, spp = edge(context, 320), 4 if context.quick else 64
    scene, settings = context.scene("cornell"), {"program": "shadow", "first_hits": "raster"}
    shots = [Shot(lambda each=each: (scene, each), (size, size), spp, settings) for each in scene.cameras[:3]]
    yield captioned("soft_shadows", png=sheet(context, "cornell", *shots), spp=spp)


@section("fig_5_9", paper="D 5.3", title="The teapotahedron (figure 5.9)", order=4)
def teapotahedron(context: Context) -> Parts:
    """Left with shadows and reflections, right with reflections alone."""
    size, spp = edge(context, 512), 1 if context.quick else 4
    settings = [{"program": "whitted", "refractions": "off", "shadows": each} for each in ("on", "off")]
    shots = [Shot(lambda: (context.scene("teapotahedron"), None), (size, size), spp, each) for each in settings]
    yield captioned("teapotahedron", png=sheet(context, "teapotahedron", *shots))


@section("fig_5_10", paper="D 5.3", title="A Quake3 level (figure 5.10)", order=5)
def quake(context: Context) -> Parts:
    """Feed-forward shading, and shadows by rays."""
    size, scene = edge(context, 384), context.scene(LEVEL)
    baked, settings = scene.with_variant("lightmaps"), {"program": "shadow", "first_hits": "raster", "accel": "grid"}
    for camera in scene.cameras:
        ours = Shot(lambda camera=camera: (scene, camera), (size, size), 1, settings)
        theirs = Shot(lambda camera=camera: (baked, camera), (size, size), 1, {"program": "whitted"})
        yield captioned("level", png=sheet(context, camera.name, ours, theirs), scene=scene.name, camera=camera.name)


# -- stand-ins and other viewpoints ------------------------------------------------------------------------------------

EDGE, QUICK_EDGE = 256, 48  # pixels along a picture
VIEWPOINTS, QUICK_VIEWPOINTS = 12, 3
# The eye goes around the middle of the scene; stands and turns; or looks the same way from a ring, without which the
# view from above would only turn in its plane.
AROUND, TURNED, SHIFTED = "around", "turned", "on a ring"
MOVES = {
    "Soda Hall Outside": AROUND,
    "Soda Hall Inside": TURNED,
    "Forest Top Down": SHIFTED,
    "Forest Inside": TURNED,
    "Bunny Ray Cast": AROUND,
}
RING = 0.2  # radius of the ring, of the scene's shorter horizontal edge
KEYS = {"v": ".1f", "t": ".1f", "s": ".2f", "P": ".0f"}


@section("stand_ins", paper="D 5.2.1, P2 4.1", title="Stand-ins: how their cameras were found", quick=False, order=-1)
def search_again(context: Context) -> Parts:
    """Each search once more, beside the camera that the views state."""
    rows, checks, sought = list[tuple[Any, ...]](), [], []
    for name in (yield from measured.there(context)):
        view = measured.SOURCES[name]
        rows.append((name, *fitted(name, measured.workload(context, name)), view.stand_in))
        found = context.keep(("search", name, view.seed), lambda name=name: again(context, name))
        near = stand_ins.error(found["work"], VIEWS[name]) <= stand_ins.AGREES
        apart = "the same" if found["same"] else "another"
        texts = {"tried": found["tried"], "work": report.listed(found["work"], ".2f"), "agrees": stand_ins.AGREES}
        checks.append(report.checked("search_again", near, name=name, apart=apart, **texts))
        numbers = zip(view.numbers, view.ranges, view.values, strict=True)
        sought += [(name, number, f"{low:g} to {high:g}", value) for number, (low, high), value in numbers]
    wide, tall = measured.size(context)
    yield tabled("eye_rays_of_the_stand", rows, checks, wide=wide, tall=tall)
    fixed: dict[str, Any] = {
        "first": stand_ins.FIRST,
        "rounds": stand_ins.ROUNDS,
        "edge": stand_ins.EDGE,
        "close": stand_ins.CLOSE,
    }
    yield tabled("cameras", sought, **fixed)


def again(context: Context, name: str) -> dict[str, Any]:
    """What the search of a view finds here."""
    view, scene = measured.SOURCES[name], measured.SOURCES[name].load(context)
    context.progress(f"search: {name}")
    look, space = (lambda values: view.look(scene, values)), measured.space(context, name)
    found = stand_ins.search(space, VIEWS[name], look, view.ranges, view.seed)
    same = [f"{value:.3f}" for value in found.values] == [f"{value:.3f}" for value in view.values]
    return {"work": found.work.tolist(), "tried": found.tried, "same": same}


@section("viewpoints", paper="D 5.2.1, P2 4.1", title="Ranges over viewpoints", order=3)
def viewpoints(context: Context) -> Parts:
    """v, t, s and P of twelve viewpoints of each scene: least, median, greatest."""
    edge, number = (QUICK_EDGE, QUICK_VIEWPOINTS) if context.quick else (EDGE, VIEWPOINTS)
    rows: list[tuple[Any, ...]] = []
    for name in (yield from measured.there(context)):
        each = context.keep(
            ("viewpoints", name, edge, number),
            lambda name=name: [seen_from(context, name, edge, k / number) for k in range(number)],
        )
        rows += [(name, MOVES[name], key, *over_viewpoints(name, key, each)) for key in KEYS]
    yield told("viewpoints", number=number)
    yield tabled("least_median_and_greatest_of", rows, edge=edge, number=number)


def viewpoint(camera: Camera, low: NDArray, high: NDArray, share: float, move: str) -> Camera:
    """A camera a share of a turn further. low, high : (3,) of the scene, y upwards; move : a value of `MOVES`."""
    cosine, sine = math.cos(math.tau * share), math.sin(math.tau * share)
    eye, target, up = (np.array(each, float) for each in (camera.origin, camera.target, camera.up))
    if move == SHIFTED:
        aside = RING * min(high[0] - low[0], high[2] - low[2]) * np.array([cosine, 0, sine])
        eye, target = eye + aside, target + aside
    else:
        turn = np.array([[cosine, 0, sine], [0, 1, 0], [-sine, 0, cosine]])
        about = eye if move == TURNED else (low + high) / 2
        eye, target, up = turn @ (eye - about) + about, turn @ (target - about) + about, turn @ up
    parts: dict[str, Any] = {"origin": eye, "target": target, "up": up}
    moved: dict[str, Any] = {name: tuple(map(float, each)) for name, each in parts.items()}
    return replace(camera, **moved)


def seen_from(context: Context, name: str, edge: int, share: float) -> list[float]:
    """v, t, s and P of a viewpoint."""
    space = measured.space(context, name)
    low, high = space.box[:2].astype(float)
    camera = viewpoint(measured.camera(context, name), low, high, share, MOVES[name])
    v, t, s, passes = work_of(space, camera, edge)
    return [v, t, s, float(passes)]


def work_of(space: Space, camera: Camera, edge: int) -> tuple[float, float, float, int]:
    """v, t, s and P of a picture's eye rays."""
    runs, state = walk(space, eye_rays(camera, (edge, edge)))
    passes = Simulation(runs).play(TWENTY).passes + OTHER_PASSES
    return float(runs.steps.mean()), float(runs.tests.mean()), float((state.triangle >= 0).mean()), passes


def over_viewpoints(name: str, key: str, each: Sequence[Sequence[float]]) -> tuple[str, Cell, str]:
    """Least, median beside the published value, greatest."""
    values = [one[list(KEYS).index(key)] for one in each]
    printed = getattr(VIEWS[name], "passes" if key == "P" else key)
    least, median, greatest = (format(f(values), KEYS[key]) for f in (min, np.median, max))
    within = "within" if min(values) <= printed <= max(values) else "outside"
    why = f"{LONGEST if key == 'P' else FITTED}; the published value lies {within} the range"
    return least, beside(printed, median, why), greatest


# -- the grid's resolution ---------------------------------------------------------------------------------------------

GRID_EDGE, QUICK_GRID_EDGE = 256, 64  # pixels along a picture
SHARES = (1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1)  # of the published voxels along the shortest side
# Finer ones that fit: a grid has 134 M voxels and 16.8 M list entries at most.
FINER = {"building": (3 / 2,), "forest": (5 / 4,), "bunny.ply": (3 / 2, 2)}
PANELS = ("a ray: v (whole), t (dashed)", "traversal over intersection", "instructions a ray: SIMD, MIMD (dashed)")
Grids = Mapping[str, Mapping[int, Mapping[str, Any]]]  # by view and voxels along the shortest side


@section("grid_resolution", paper="D 5.2.1, P2 4.1", title="The grid's resolution: steps against tests", order=2)
def grid_resolution(context: Context) -> Parts:
    """v, t and the predicted cost over the resolution, for the five views."""
    edge = QUICK_GRID_EDGE if context.quick else GRID_EDGE
    found: dict[str, dict[int, Any]] = {}
    for name in (yield from measured.there(context)):
        if not context.quick or name == measured.BUNNY:
            for voxels in resolutions(name, context.quick):
                key = ("resolution", name, voxels, edge)
                kept = context.keep(key, lambda name=name, n=voxels: in_grid(context, name, n, edge))
                found.setdefault(name, {})[voxels] = {**kept, **predicted(kept)}
    if not found:
        return
    yield told("grid_resolution", balance=balance(found))
    rows: list[tuple[Any, ...]] = []
    for name, each in found.items():
        least = {key: min(each, key=lambda n, key=key: each[n][key]) for key in ("SIMD", "bytes", "MIMD")}  # type: ignore[misc]
        for voxels, one in each.items():
            marks = ", ".join(key for key, n in least.items() if n == voxels)
            published = "the published one" if voxels == measured.SOURCES[name].grid else ""
            size = format(one["megabytes"], ".0f" if one["megabytes"] >= 10 else ".1f")
            shown = (f"{one[key]:,.0f}" for key in least)
            numbers = f"{one['v']:.1f}", f"{one['t']:.1f}", one["P"], *shown, f"{one['ratio']:.2f} : 1", size
            about = "; ".join(filter(None, (published, marks and f"least {marks}")))
            rows.append((name, one["grid"], *numbers, about))
    yield tabled("what_a_ray_does_and", rows, edge=edge)
    figure, axes = plots.figure(9.0, 3.4, ncols=3)
    for color, (name, each) in zip(plots.COLORS, found.items(), strict=False):
        for panel, quantity, style in (
            (0, "v", "-"),
            (0, "t", "--"),
            (1, "ratio", "-"),
            (2, "SIMD", "-"),
            (2, "MIMD", "--"),
        ):
            label = name if quantity == "v" else None
            values = [one[quantity] for one in each.values()]
            axes[panel].plot(list(each), values, marker=".", color=color, linestyle=style, label=label)
    axes[1].axhspan(1 - report.COUNT, 1 + report.COUNT, color="0.9", zorder=0)
    for axis, title in zip(axes, PANELS, strict=True):
        ticks = sorted({n for each in found.values() for n in each if n & (n - 1) == 0})
        plots.powers_of_two(axis, ticks, yscale="log", xlabel="voxels along the shortest side")
        axis.set_title(title, fontsize=9)
    axes[0].legend(fontsize=7)
    yield captioned("grid_resolution", svg=plots.svg(figure))


def resolutions(name: str, quick: bool = False) -> list[int]:
    """Voxels along the shortest side, coarsest first."""
    view = measured.SOURCES[name]
    return [round(share * view.grid) for share in (SHARES[3:] if quick else (*SHARES, *FINER[view.scene]))]


def in_grid(context: Context, name: str, voxels: int, edge: int) -> dict[str, Any]:
    """What eye rays do in a grid: v, t, s, P, its resolution and the megabytes of voxels and lists."""
    corners = measured.SOURCES[name].load(context).flatten().corners()
    space = Space.of(build(corners, voxels), corners)
    work = dict(zip(KEYS, work_of(space, measured.camera(context, name), edge), strict=True))
    megabytes = 4e-6 * (len(space.pointers) + len(space.lists))
    return {"grid": sides(space.resolution.tolist()), **work, "megabytes": megabytes}


def predicted(found: Mapping[str, Any]) -> dict[str, float]:
    """Of a ray by the model: instructions of both machines, bytes of SIMD, and instructions of SIMD's traversal over
    those of its intersection."""
    work = found["v"], found["t"], found["s"]
    simd = cost(Workload(1, *work, found["P"]), TABLE_5_1["SIMD"])
    mimd = cost(Workload(1, *work), TABLE_5_1["MIMD"], state=0.0)
    ratio = (simd.instructions[SETUP] + simd.instructions[STEP]) / simd.instructions[INTERSECT]
    totals = {"SIMD": simd.total_instructions, "bytes": simd.total_bytes, "MIMD": mimd.total_instructions}
    return {**totals, "ratio": ratio}


def balance(found: Grids) -> str:
    """Where the least cost lies, as a sentence."""
    each = [[(one["SIMD"], one["ratio"]) for one in by.values()] for by in found.values()]
    inside = [min(ratios)[1] for ratios in each if min(ratios) != ratios[-1]]
    finest = len(each) - len(inside)  # a finer grid, which was not tried, may be cheaper still
    more = worded("balance_inside", least=min(inside), most=max(inside)) if inside else ""
    return worded("balance", finest=finest, views=len(found), more=more)


# -- of all papers -----------------------------------------------------------------------------------------------------

ADAPTIVE = Path(__file__).parents[2] / "results" / "llvmpipe-amd-epyc-2-cpus" / "adaptive.json"  # of tools/bench.py


@section("scene_files", paper="all", title="Scenes and their files", order=-1)
def files(context: Context) -> Parts:
    """What shows each scene of the papers, and where files come from."""
    yield tabled("scenes_of_the_papers", scene_files.SCENES)
    rows = [(*each[:2], f"{each.triangles:,}", *each[3:]) for each in scene_files.FILES]
    yield tabled("files_of_scenes", rows)


@section("faults", paper="all", title="Errors and inconsistencies of the papers", order=9)
def all_faults(context: Context) -> Parts:
    """All that were found, by paper and place."""
    yield told("faults")
    yield from report.faults()


@section("wishes", paper="all", title="The authors' wishes, and what became of them", order=5)
def wishes(context: Context) -> Parts:
    """Each wish of each paper."""
    yield told("wishes")
    gains = adaptive_gains()
    for where, wish, field, here, _ in report.WISHES:
        yield report.Wish(where, wish, field, here.replace("{gains}", f"{min(gains):.1f} to {max(gains):.1f}"))


def adaptive_gains() -> list[float]:
    """CPU time times the square of the error, without adaptive sampling over with it, of each scene and error."""
    found = []
    for scene in json.loads(ADAPTIVE.read_text(encoding="utf-8"))["stops"].values():
        for goal in scene["goals"]:
            off, on = (
                np.mean([one["seconds"] * one["error"] ** 2 for one in scene[how] if one["goal"] == goal])
                for how in ("off", "on")
            )
            found.append(float(off / on))
    return found


def growth(rates: Sequence[tuple[int, float]], years: NDArray[np.int64]) -> NDArray[np.float64]:
    """Speed in each of the years, 1 in the first of them."""
    factors = np.ones(len(years))
    for first, rate in rates:
        factors[years > first] = rate
    return np.cumprod(factors, dtype=np.float64)


def _powers(rates: Sequence[tuple[int, float]]) -> str:
    """Factors to the power of the years for which they hold: ``1.35^6 x 1.55^14``."""
    ends = [first for first, _ in rates[1:]] + [LAST]
    return " x ".join(f"{rate:g}^{end - first}" for (first, rate), end in zip(rates, ends, strict=True))


@section("fig_7_1", paper="D 7.1", title="The gap between processor and memory (figure 7.1)")
def memory_gap(context: Context) -> Parts:
    """Speed relative to 1980, by the yearly rates of the text."""
    years = np.arange(1980, LAST + 1)
    processor, memory = growth(PROCESSOR, years), growth(MEMORY, years)
    figure, axes = plots.figure(6.4, 3.2)
    axes.semilogy(years, processor, label="processor, x 1.35 a year, from 1986 x 1.55")
    axes.semilogy(years, memory, label="latency of memory, x 1.07 a year")
    axes.set(xticks=range(1980, LAST + 1, 5), ylabel="speed, 1980 = 1")
    axes.legend()
    texts: dict[str, Any] = {"last": LAST, "faster": processor[-1], "latency": memory[-1]}
    texts |= {"processor": _powers(PROCESSOR), "memory": _powers(MEMORY)}
    yield captioned("memory_gap", svg=plots.svg(figure), **texts)
