"""Seconds and rates that the papers' texts name: copies of memory (T fig. 8-1), rays and tests a second (D 5.3, P2
5.2), frames of all papers, structures, ways to leave rays out of a pass, and a grid built on the chip."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from benchmarks.rays.grid_build import STAGES, builds
from benchmarks.scenes import facing

import raystream
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin.caustics import PUBLISHED
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from raystream.stream.machines.multipass import Multipass
from reproduction.simulators.counts import RECIPE
from reproduction.simulators.machines import WORD

from .. import measured, report, timed
from ..context import Context
from ..kept import digest
from ..photon_cases import FEW
from ..published.chapter5 import HARDWARE, RATES, TABLE_5_1, TABLE_5_4
from ..published.chapter6 import GPU, TABLE_6_1, TOTALS
from ..published.frame_rates import RATES as FRAME_RATES
from ..published.frame_rates import Rate
from ..published.thesis import BANDWIDTH, COPIED
from ..report import NOT_RUN, TWICE, AbsentError, Cell, Parts, beside, checked, concluded, listed, section, tabled, told
from .thesis import model

MACHINES = ("multipass", "singlepass")
STACKED = 256  # triangles that every ray tests
# A grid, as the papers cast; passes by the machine's own choice.
SETTINGS: dict[str, Any] = {"program": "cast", "accel": "grid"}


@section("copies", paper="T 8", title="Copies of memory (figure 8-1)", order=1, timed=True)
def copies(context: Context) -> Parts:
    """Of 32 MiB, into a buffer of the device, out of it, and to another."""
    found = timed.keep(context, ("copies", COPIED), lambda: copying(context))
    rows, slower = [], []
    ratio_of = "the claim is that CUDA is better in every type of copy; the ratio is that of the printed numbers"
    for kind, theirs in BANDWIDTH.items():
        printed = (beside(theirs[by], None, NOT_RUN) for by in ("CUDA", "OpenCL"))
        speed = found[kind].wall.of(lambda seconds: COPIED / 1e6 / seconds).text(4)
        ratio = theirs["CUDA"] / theirs["OpenCL"]
        rows.append((kind, *printed, speed, Cell("> 1", f"{ratio:.2f}", ratio > 1, ratio_of)))
        slower += [kind] if ratio < 1 else []
    many = f"{len(BANDWIDTH) - len(slower)} of 3"
    check = checked("cuda_copies", not slower, many=many, slower=" and ".join(slower))
    heads = {"CUDA / OpenCL": ("claimed", "derived")}
    yield tabled("mb_a_second", rows, [check], heads=heads, device=context.device_name)
    holds = [kind not in slower for kind in BANDWIDTH]
    yield concluded("cuda_copies", holds, f"in {many} by the figure; neither runs here")


@contextmanager
def copying(context: Context, size: int = COPIED) -> Iterator[dict[str, timed.Case]]:
    """Each kind of copy, the device waited for."""
    gl = context.device.context
    data, back = np.arange(size // 4, dtype=np.uint32), np.empty(size // 4, np.uint32)
    with context.device.current():
        one, two = gl.buffer(reserve=size), gl.buffer(reserve=size)
    ways: dict[str, Callable[[], Any]] = {
        "host to device": lambda: one.write(data),
        "device to device": lambda: gl.copy_buffer(two, one, size),
        "device to host": lambda: two.read_into(back),
    }

    def case(copy: Callable[[], Any]) -> None:
        with context.device.current():
            copy()
            gl.finish()

    try:
        yield {kind: partial(case, copy) for kind, copy in ways.items()}
    finally:
        with context.device.current():
            one.release()
            two.release()
    assert (back == data).all()


# Of the texts' rates, by words of their names: who says it, and of what.
DEVICES = {
    "peak (D)": ("D", "Radeon 9700 Pro"),
    "tests (P2)": ("P2", "simulated, 2 G instructions a second"),
    "8 G (P2)": ("P2", "simulated, 8 G instructions a second"),
    "rays (D)": ("D", "Radeon 9700 Pro"),
    "Ray Engine": ("Ray Engine", "Radeon 8500, fixed point"),
    "Pentium III": ("compared in D", "Pentium III 800 MHz"),
    "Pentium 4 3.0": ("compared in D", "Pentium 4 3.0 GHz"),
    "unshaded": ("compared in D, without shading", "Pentium 4 2.5 GHz"),
    "rays shaded": ("compared in D, with shading", "Pentium 4 2.5 GHz"),
}


@section("rates", paper="D 5.3, P2 5.2", title="Rays and ray-triangle tests a second", order=6, timed=True)
def rates(context: Context) -> Parts:
    """What the texts name, and the bunny's eye rays here."""
    edge, rows = measured.size(context)[0], list[tuple[Any, ...]]()
    for name, value in RATES.items():
        text = " to ".join(map(_short, value)) if isinstance(value, tuple) else _short(value)
        there = beside(text, None, NOT_RUN)
        of = next(text for part, text in DEVICES.items() if part in name)
        rows.append((*of, there, None) if "tests" in name else (*of, None, there))

    def ours(name: str, tests: float, rays: float) -> None:
        rows.append(
            (f"ours{name}", context.device_name, report.unprinted(_short(tests)), report.unprinted(_short(rays)))
        )

    try:
        work = measured.workload(context, measured.BUNNY)
        found = timed.keep(context, ("rays a second", edge), lambda: cast(context, edge))
        for machine in MACHINES:
            speed = edge * edge / found[machine].median
            ours(f", {machine}", speed * work["t"], speed)
    except AbsentError as error:
        yield error.part
    best = timed.keep(context, ("at best", edge), lambda: at_best(context, edge))
    for machine in MACHINES:
        few, many = (edge * edge / best[f"{machine} {n}"].median for n in (1, STACKED))
        ours(f" at best, {machine}", many * STACKED, few)
    tests, most = RATES["ray-triangle tests at 8 G (P2)"], HARDWARE["GeForce3 (P2)"]["bytes"]
    assert isinstance(tests, float)
    moved = tests * WORD * TABLE_5_1["MIMD"]["Intersect"].random
    check = checked("bandwidth_of_tests", moved < most, most=most / 1e9, moved=moved / 1e9)
    yield tabled("a_second", rows, [check], edge=edge, stacked=STACKED)


def _short(value: float) -> str:
    return f"{value / 1e6:.3g} M" if value >= 1e6 else f"{value / 1e3:.3g} K"


def cast(context: Context, edge: int) -> timed.Cases:
    """The bunny's eye rays on each machine."""
    view = measured.SOURCES[measured.BUNNY]
    scene = view.load(context)
    own: dict[str, Any] = {"device": context.device, "grid": view.grid, "camera": view.look(scene), **SETTINGS}
    return timed.pictures({each: Renderer(scene, machine=each, **own) for each in MACHINES}, (edge, edge))


def at_best(context: Context, edge: int) -> timed.Cases:
    """Rays that each test one triangle or all of many behind one another, in a grid of one voxel."""
    pairs = [(machine, count) for machine in MACHINES for count in (1, STACKED)]
    renderers = {f"{machine} {count}": stacked(context, machine, count) for machine, count in pairs}
    return timed.pictures(renderers, (edge, edge))


def stacked(context: Context, machine: str, triangles: int) -> Renderer:
    """Triangles behind one another, all in one voxel and in the way of every ray."""
    corners = np.tile(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32), (triangles, 1))
    corners[:, 2] = -np.repeat(np.arange(triangles) / triangles, 3)
    scene = raystream.Scene.from_triangles(corners, np.arange(3 * triangles).reshape(-1, 3))
    camera = Camera((0.3, 0.3, 4.0), (0.3, 0.3, 0.0), fov=4.0)
    return Renderer(scene, device=context.device, machine=machine, grid=1, camera=camera, **SETTINGS)


# -- frames ------------------------------------------------------------------------------------------------------------

EDGE = 512  # pixels, where a paper gives no size
_SHADOW = {"program": "shadow", "accel": "grid", "first_hits": "raster"}
_GRID = {"program": "whitted", "accel": "grid", "refractions": "off"}
# Of table 5.4, by its columns: the scene and settings.
CHAPTER_5: dict[str, tuple[str, dict[str, Any]]] = {
    "Cornell Box": ("cornell", _SHADOW),
    "Teapotahedron, E S R": ("teapotahedron", _GRID),
    "Teapotahedron, E R": ("teapotahedron", {**_GRID, "shadows": "off"}),
    "Quake3": ("chapel.bsp", _SHADOW),
}
SECONDS = "D table 6.1"  # which prints seconds: its rates are derived
QUICK = 8  # times smaller
LONG = ("dragon.ply", "forest")


def frame_rates() -> list[Rate]:
    """Every published frame rate."""
    photons: dict[str, Any] = {"program": "photon", "estimate": "published"}
    return [
        *(
            Rate("D table 5.4", name, scene, (256, 256), TABLE_5_4[name].fps, "Radeon 9700 Pro", settings)
            for name, (scene, settings) in CHAPTER_5.items()
        ),
        *(
            Rate(SECONDS, name, TABLE_6_1[name].scene, PUBLISHED[TABLE_6_1[name].scene]["size"], 1 / by, GPU, photons)
            for name, (by, _) in TOTALS.items()
        ),
        *FRAME_RATES,
    ]


@section("frame_rates", paper="all", title="Frame rates of all papers beside this device's", order=1, timed=True)
def frames(context: Context) -> Parts:
    """A picture of one sample each, the median of several."""
    rows, absent = [], []
    for rate in frame_rates():
        width, height = (each // (QUICK if context.quick else 1) for each in rate.size or (EDGE, EDGE))
        key = ("rate", rate.paper, rate.name, rate.scene, width, height, rate.settings)
        try:
            if context.quick and rate.scene in LONG:
                raise AbsentError("", "takes long: without --quick")
            if "." in rate.scene and context.stored is None:
                context.file(rate.scene)
            found = timed.keep(context, key, lambda rate=rate, size=(width, height): _picture(context, rate, size))
        except AbsentError as error:
            absent.append(report.Absent(f"{rate.paper} {rate.name}", error.part.why))
            continue
        fps = found["picture"].wall.of(lambda seconds: 1 / seconds).text()
        derived = "; derived: one over the printed total, by sort" if rate.paper == SECONDS else ""
        both = beside(rate.fps, fps, f"{report.OTHER_DEVICE} than the {rate.device}{derived}")
        name = f"{rate.paper}, {rate.name}"
        rows.append((name, rate.device, rate.settings["program"], f"{width} x {height}", both))
    small = f" Width and height are {QUICK} times smaller than published." if context.quick else ""
    heads = {"frames a second": ("published or derived", "ours")}
    yield tabled("all_frames", rows, heads=heads, device=context.device_name, edge=EDGE, small=small)
    yield from absent


def _picture(context: Context, rate: Rate, size: tuple[int, int]) -> timed.Cases:
    settings: dict[str, Any] = dict(rate.settings)
    if settings["program"] == "photon":
        settings |= {name: value for name, value in PUBLISHED[rate.scene].items() if name not in ("size", "exposure")}
        settings |= FEW if context.quick else {}
    scene, camera = model(context, rate.scene) if rate.paper == "T" else (context.scene(rate.scene), None)
    renderer = Renderer(scene, device=context.device, **settings)
    if camera is not None or not scene.cameras:
        renderer.update(camera=camera or facing(scene))
    return timed.pictures({"picture": renderer}, size)


# -- structures, which the papers hold to be within a factor of two ----------------------------------------------------

ACCEL = Path(__file__).parents[2] / "results" / "llvmpipe-amd-epyc-2-cpus" / "accel.json"  # of tools/bench.py
PROCESSOR = "Embree, 2 threads"
GRID, IN_PASSES, TREE = "grid, dda, singlepass", "grid, dda, multipass none", "bvh, stack, singlepass"
LEVELS = {"one level": "grid, adinetz, singlepass", "two levels": "two-level-grid, adinetz, singlepass"}
NAMES = {
    GRID: "grid, one pass",
    IN_PASSES: "grid, a pass for each kernel",
    TREE: "hierarchy, one pass",
    LEVELS["two levels"]: "grids of two levels, one pass",
}
TWO_LEVELS = "teapot in a stadium"  # the scene that is traced by grids of one level and of two
Measured = Mapping[str, Mapping[str, Mapping[str, float]]]  # M rays a second by scene, type of ray, and tracer


@section("benchmarks", paper="D 3.3, P2 3", title="Speed of structures, and of a tracer for processors", order=3)
def benchmarks(context: Context) -> Parts:
    """Rays a second by structure and scene, over those of Embree on the same processor."""
    scenes = json.loads(ACCEL.read_text(encoding="utf-8"))["scenes"]
    made = {
        scene.replace(",", ""): {
            ray: {tracer: each["mrays"] for tracer, each in by.items()} for ray, by in kept["rates"].items()
        }
        for scene, kept in scenes.items()
    }
    rows = [
        (f"{scene}, {ray}", f"{by[PROCESSOR]:.2f}", *(f"{by[each]:.2f}" if each in by else "-" for each in NAMES))
        for scene, kept in made.items()
        for ray, by in kept.items()
    ]
    yield tabled("rays_a_second_by_structure", rows, columns=("scene, rays", PROCESSOR, *NAMES.values()))
    yield from tracers(made)


def tracers(made: Measured) -> Iterator[report.Conclusion]:
    """What the rates say of speed."""
    flat = {scene: kept["primary"] for scene, kept in made.items() if {GRID, TREE} <= set(kept["primary"])}
    shares = {each: [by[each] / by[PROCESSOR] for by in flat.values()] for each in (GRID, IN_PASSES, TREE)}
    figures = "; ".join(f"{NAMES[tracer]} {listed(by, '.2f')}" for tracer, by in shares.items())
    text = f"here, eye rays a second over Embree's on the same processor, of {listed(flat)}: {figures}; "
    fast = [each * TWICE >= 1 for tracer in (GRID, IN_PASSES) for each in shares[tracer]]
    yield concluded("as_fast", fast, text + "comparable is half of it and more")
    one, two = LEVELS.values()
    gains = [by[two] / by[one] for by in made[TWO_LEVELS].values()]
    text = f"{TWO_LEVELS}, rays a second of two levels over one, by type of ray: {listed(gains, '.1f')}"
    yield concluded("two_levels", [each >= 1 for each in gains], text)


SIZE, QUICK_SIZE = 512, 64
STRUCTURES = ("grid", "bvh", "octree")
# Programs by their rays: the camera's; and those that surfaces scatter, which part, with their shadow rays.
RAYS: dict[str, dict[str, Any]] = {"eye rays": {"program": "cast"}, "paths": {"program": "path", "depth": 3}}
SCENES = {"Teapotahedron": "teapotahedron", "bunny": "bunny.ply", "dragon": "dragon.ply", "forest": "forest"}


@section("structures", paper="D 3.3, P2 3", title="Grid, hierarchy and octree", order=2, timed=True)
def structures(context: Context) -> Parts:
    """Seconds of the same picture by each."""
    edge, rows = QUICK_SIZE if context.quick else SIZE, list[tuple[str, ...]]()
    ratios: dict[str, dict[str, float]] = {}
    for name, source in list(SCENES.items())[: 1 if context.quick else None]:
        try:
            if context.stored is None:
                context.scene(source)
            key = ("structures", name, edge)
            timings = timed.keep(context, key, lambda source=source: by_structure(context, source, edge))
        except AbsentError as error:
            yield error.part
            continue
        for rays in RAYS:
            times = [timings[f"{each}, {rays}"].cpu for each in STRUCTURES]
            seconds = [each.median for each in times]
            ratios.setdefault(rays, {})[name] = ratio = max(seconds) / min(seconds)
            rows.append((f"{name}, {rays}", *(each.text() for each in times), f"{ratio:.1f}"))
    columns = ("scene, rays", *STRUCTURES, "slowest / fastest")
    device = context.device_name
    yield tabled("seconds_by_structure", rows, columns=columns, edge=edge, half=edge // 2, device=device)
    if ratios:
        figures = (f"{rays} {listed(f'{name} {each:.1f}' for name, each in by.items())}" for rays, by in ratios.items())
        text = f"the slowest of grid, hierarchy and octree over the fastest, to a tenth: {'; '.join(figures)}"
        holds = [round(each, 1) <= TWICE for by in ratios.values() for each in by.values()]
        yield concluded("within_twice", holds, text)


@contextmanager
def by_structure(context: Context, source: str, edge: int) -> Iterator[dict[str, timed.Case]]:
    """Each structure under each kind of rays, ready to be rendered again."""
    with timed.Releasing() as held:
        made: dict[str, timed.Case] = {}
        for rays, settings in RAYS.items():
            size = (edge, edge) if rays == "eye rays" else (edge // 2, edge // 2)
            for accel in STRUCTURES:
                own: dict[str, Any] = {"device": context.device, "machine": "singlepass", "accel": accel, **settings}
                renderer = held.own(Renderer(context.scene(source), **own))
                made[f"{accel}, {rays}"] = partial(timed.drawn, renderer, size)
        yield made


# -- a grid built on the chip ------------------------------------------------------------------------------------------

SENT = 20_000  # rays
COUNTS = ("triangles", "list_entries", "sort_passes")


@section("grid_on_chip", paper="P2 5.1", title="A grid built on the chip", order=5, timed=True)
def grid_on_chip(context: Context) -> Parts:
    """Stages of the build by fragment programs from the triangles on the device, and the hits over both grids."""
    rows, checks = [], []
    names = ("cornell",) if context.quick else ("cornell", "bunny.ply")
    for name in names:
        share = context.keep(("hits", name), lambda name=name: _same_hits(context, context.scene(name)))
        checks.append(checked("same_hits", share == 1.0, name=name, share=share))
    yield from checks
    yield concluded("grid_on_chip", checks, "the same hits to the bit as the host's grid")
    for name in names:
        parts = timed.keep(context, ("build", name), lambda name=name: _builds(context, name))["device"].parts
        stages = [parts[stage].milliseconds() for stage in STAGES]
        rows.append((name, *(int(parts[each].median) for each in COUNTS), *stages))
    columns = ("scene", "triangles", "entries", "passes of the sort", *STAGES)
    yield tabled("the_grid_of_a_frame", rows, columns=columns)


@contextmanager
def _builds(context: Context, name: str) -> Iterator[dict[str, timed.Case]]:
    """Of a scene's triangles: seconds by stage, and counts."""
    with builds(context.device, context.scene(name).flatten().corners()) as found:

        def case() -> dict[str, float]:
            times: dict[str, float] = {}
            found.on_device(times)
            return {**times, **{each: found.grid.statistics[each] for each in COUNTS}}

        yield {"device": case}


def _same_hits(context: Context, scene: Scene) -> float:
    """The share of rays from around a scene whose hits are the same over both grids."""
    (low, high), rng, hits = scene.bounds(), np.random.default_rng(2002), list[Any]()
    origins = rng.uniform(2 * low - high, 2 * high - low, (SENT, 3))
    directions = rng.uniform(low, high, (SENT, 3)) - origins
    for rebuild in ("auto", "device-grid"):
        renderer = Renderer(scene, device=context.device, accel="grid", rebuild=rebuild)
        hits.append(renderer.trace(origins, directions))
        renderer.release()
    one, other = hits
    return float(np.mean((one.triangle == other.triangle) & (one.distance == other.distance)))


# -- flow control ------------------------------------------------------------------------------------------------------

FLOW_SIZE, QUICK_FLOW_SIZE = 256, 32
AGAIN = "depth, query, again"  # the same work timed twice
FLOW_GRID = 8
MACHINE: dict[str, Any] = {**RECIPE, "program": "cast", "machine": "multipass", "fuse": "none", "unroll": 1}
MACHINE["policy"] = "threshold=0.2"
# What each is in the papers.
MASKS = {
    "kill": "a mask pass for each kernel, which discards the others",
    "depth": "depth of the state, GL_EQUAL (D 4.1.2)",
    "stencil": "stencil of the state (P2 2.2)",
    "tiles": "tiles of 16 x 16 whose rays wait (D 6.3.3)",
    "none": "none: every kernel looks at the state itself",
}
COUNTING = {"query": "occlusion queries (D 4.1.2)", "census": "counters of every tile, near P2's eight counters"}


def published_loop(context: Context, scene: str = "cornell", **settings: Any) -> Renderer:
    """A renderer of the published loop, by depth and queries."""
    return Renderer(scene, device=context.device, **{**MACHINE, "mask": "depth", "count": "query", **settings})


@section(
    "flow_variants",
    paper="D 4.1.2, P2 2.2, P2 3.2",
    title="Flow control: masks and counts compared (section 4.1.2)",
    timed=True,
)
def flow_variants(context: Context) -> Parts:
    """The Cornell box cast by each."""
    edge = QUICK_FLOW_SIZE if context.quick else FLOW_SIZE
    wanted = {f"{mask}, query": (mask, "query") for mask in MASKS} | {"depth, census": ("depth", "census")}

    def renderer(mask: str, count: str) -> Renderer:
        return published_loop(context, mask=mask, count=count, grid=FLOW_GRID)

    def run(mask: str, count: str) -> dict[str, Any]:
        """A picture and its counters, of all passes of the published loop."""
        made = renderer(mask, count)
        picture = made.render((edge, edge), spp=1, stats=True)
        made.release()
        bits, stats = digest(np.asarray(picture.linear, np.float32).tobytes().hex()), picture.stats
        counted = {"passes": stats.kernel_passes, "masks": stats.mask_passes, "counts": stats.count_passes}
        return {"picture": bits, **counted, "waits": stats.waits}

    found = {name: context.keep(("passes", *each, edge), lambda each=each: run(*each)) for name, each in wanted.items()}
    pictures = {**wanted, AGAIN: ("depth", "query")}
    times = timed.keep(
        context,
        ("flow", edge),
        lambda: timed.pictures({name: renderer(*each) for name, each in pictures.items()}, (edge, edge)),
    )
    rows = []
    for name, (mask, count) in wanted.items():
        numbers = (found[name][each] for each in ("passes", "masks", "counts", "waits"))
        rows.append((name, MASKS[mask], COUNTING[count], *numbers, times[name].wall.milliseconds()))
    same = len({each["picture"] for each in found.values()}) == 1
    passes = sorted({each["passes"] for each in found.values()})
    checks = [
        checked("same_bits", same, what="all give the same picture, bit for bit", word="yes" if same else "no"),
        checked("same_passes", len(passes) == 1, passes=passes),
        timed.alike("depth, query, timed twice in turns", times["depth, query"].wall, times[AGAIN].wall),
    ]
    yield tabled("the_cornell_box_by_each", rows, checks, edge=edge, grid=FLOW_GRID, device=context.device_name)
    by_mask = {mask: times[name].median for name, (mask, count) in wanted.items() if count == "query"}
    masked = [by_mask[mask] < by_mask["none"] for mask in ("depth", "stencil") if {mask, "none"} <= set(by_mask)]
    if masked:
        text = listed(f"{mask} {1e3 * seconds:.3g} ms" for mask, seconds in by_mask.items())
        yield concluded("masked_early", masked, text)


# Occlusion queries around the kernels' own passes, and around count passes before them.
BOTH = {"Cornell box": "cornell", "Teapotahedron": "teapotahedron"}
LOOP = ("traverse", "intersect")  # its kernels
BEFORE, WITHOUT, OWN_PASS = "count passes", "the same passes, no count", "own passes, in turn"
# Whether what the count passes said is replayed, and settings.
CASES: dict[str, tuple[bool, dict[str, Any]]] = {
    BEFORE: (False, {}),
    WITHOUT: (True, {}),
    OWN_PASS: (False, {"policy": "sweep"}),
}
Waiting = tuple[list[int], bool]  # rays that wait for each kernel, and whether the mask has them


@section(
    "own_pass_query",
    paper="D 4.1.2",
    title="Occlusion queries around kernels' own passes, and before them (section 4.1.2)",
    order=1,
    timed=True,
)
def own_pass_query(context: Context) -> Parts:
    """What each counts, and what the count passes take."""
    edge = QUICK_FLOW_SIZE if context.quick else FLOW_SIZE
    yield told("own_pass_query")
    rows, shares, wrong, passes = [], [], 0, 0
    for name, scene in BOTH.items():
        found = context.keep(("counts", scene, edge), lambda scene=scene: counts(context, scene, edge))
        times = timed.keep(context, ("seconds", scene, edge), lambda scene=scene: cases(context, scene, edge))
        wrong += found["other"]
        passes += found["passes"]
        drawn = found["drawn"].items()
        rows += [(f"{name}, {each}", *numbers, times[each].cpu.text()) for each, numbers in drawn]
        shares.append(f"{name} {times[BEFORE].cpu.median / times[WITHOUT].cpu.median - 1:+.0%}")
    check = checked("own_pass", wrong == 0, passes=passes, right=passes - wrong)
    values: dict[str, Any] = {"edge": edge, "device": context.device_name, "without": WITHOUT, "shares": listed(shares)}
    yield tabled("passes_by_where_rays_are_counted", rows, [check], **values)


@contextmanager
def recording(answers: list[Waiting]) -> Iterator[None]:
    """What count passes say meanwhile goes into the list."""
    original = Multipass._count_waiting

    def waiting(self: Multipass, stage: Any, before: list[int], served: Sequence[int]) -> Waiting:
        answers.append(original(self, stage, before, served))
        return answers[-1]

    with patch.object(Multipass, "_count_waiting", waiting):
        yield


@contextmanager
def replaying(answers: Sequence[Waiting]) -> Iterator[None]:
    """No count passes meanwhile: what they said is taken from the list, and the mask is made for each pass."""
    replies = iter(answers)
    with patch.object(Multipass, "_count_waiting", lambda *_: (list(next(replies)[0]), False)):
        yield


def counts(context: Context, scene: str, edge: int) -> dict[str, Any]:
    """Passes of kernels of the loop, and those whose own query says another number than the count pass before; and by
    case the passes of kernels and count passes."""
    answers: list[Waiting] = []
    with timed.Releasing() as held:
        renderer = held.own(published_loop(context, scene))
        with recording(answers):
            picture = renderer.render((edge, edge), spp=1, stats=True)
        served = [(each.step, each.fragments) for each in picture.stats.passes if each.step in LOOP]
        told = [[rays for rays in counted if rays] for counted, _ in answers if any(counted)]
        other = sum(own not in counted for (_, own), counted in zip(served, told, strict=False))
        other += abs(len(served) - len(told))
        drawn = {}
        for name, (_, settings) in CASES.items():
            stats = held.own(published_loop(context, scene, **settings)).render((edge, edge), spp=1).stats
            drawn[name] = [stats.kernel_passes, 0 if name == WITHOUT else stats.count_passes]
    return {"passes": len(served), "other": other, "drawn": drawn}


@contextmanager
def cases(context: Context, scene: str, edge: int) -> Iterator[dict[str, timed.Case]]:
    """Each case, ready to be rendered again."""

    def replayed(renderer: Renderer, answers: list[Waiting]) -> None:
        with replaying(answers):
            renderer.render((edge, edge), spp=1)

    with timed.Releasing() as held:
        made: dict[str, timed.Case] = {}
        for name, (replays, settings) in CASES.items():
            renderer, said = held.own(published_loop(context, scene, **settings)), list[Waiting]()
            made[name] = partial(replayed, renderer, said) if replays else partial(timed.drawn, renderer, (edge, edge))
            if replays:
                with recording(said):
                    renderer.render((edge, edge), spp=1)
        yield made
