"""Tables 2 and 3 of T by its protocol (T 7, 8), over the back ends that are here, on its own structure; the pixels in
which these differ; and figures of T 6 to 6.4: structure, vectors, arrays, kernels and their layers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.scene.builtin import build as builtin
from raystream.scene.camera import Camera
from raystream.scene.edits.classic_plane import on_plane
from raystream.scene.scene import Scene
from reproduction.simulators.rays import eye_rays
from reproduction.simulators.whitted.back_ends import Emulation, Processor, wide
from reproduction.simulators.whitted.model import SETTINGS, Model, Traced, build
from reproduction.simulators.whitted.probes import ANGLE, INDEX, directions

from .. import report, thesis_back_ends, timed
from ..context import Context
from ..drawings import by_hand, draw_vectors, figures
from ..published.thesis import BACK_ENDS, INTERSECTIONS, MINUTE, RATES, SCENES, SECONDS, TRIANGLES
from ..report import Absent, AbsentError, Cell, Parts, captioned, checked, concluded, listed, section, tabled, worded
from ..shown import Shot, sheet, webp
from ..thesis_back_ends import DEPTH, FRAME, OURS, SAME, SHARE, SKY, Draw, back_ends, drawn, fragments, pixels, prepared
from ..timed import RUNS, Case, Spread

DIGIT = 0.05  # half of the last printed digit of a rate
SHOWN: dict[str, Any] = {"program": "whitted", "depth": 4, "environment": "sky", **SETTINGS}
# Of table 2's columns, what stands for them here; CUDA has no device here, and one pass is our fastest.
FOR = dict(zip(BACK_ENDS, OURS[:4], strict=True))
SECONDS_OF_A_STRUCTURE, STRUCTURE_EDGE = 5.0, 192
STRUCTURES = {
    "two levels by escape indices, halved boxes, 1 in a leaf (T)": SETTINGS,
    "the same by surface area, up to 8 in a leaf": {**SETTINGS, "build": "sah"},
    "the same front to back": {**SETTINGS, "build": "sah", "traversal": "octants"},
    "one level by surface area, with a stack": {**SETTINGS, "accel": "bvh", "build": "sah", "traversal": "stack"},
}


def model(context: Context, file: str) -> tuple[Scene, Camera]:
    """A scene of the thesis and its first camera; a model alone is seen from in front and above, filling most of the
    picture."""
    scene = context.scene(file)
    if scene.cameras:
        return scene, scene.camera()
    low, high = scene.bounds()
    middle, size = (low + high) / 2, float((high - low).max())
    eye, aim = middle + size * np.array([0.35, 0.6, 1.45]), middle - [0.0, 0.06 * size, 0.0]
    origin, target = ((float(x), float(y), float(z)) for x, y, z in (eye, aim))
    return on_plane(scene), Camera(origin, target, fov=42.0, name="above")


def of_scenes(
    context: Context, what: str, measure: Callable[[str], Any], *inputs: Any
) -> Generator[report.Part, None, dict[str, Any]]:
    """What is measured of the file of each of the thesis's scenes that are there, by name; those that are not, as
    parts. inputs : of the measurement, under which it is kept."""
    found: dict[str, Any] = {}
    for name, file in SCENES.items():
        if not context.quick or name != "Dragon":
            try:
                found[name] = context.keep((what, name, *inputs), lambda file=file: measure(file))
            except AbsentError as error:
                yield error.part
    return found


@section("thesis", paper="T 7", title="Frame times by back end (tables 2 and 3)", timed=True)
def frame_times(context: Context) -> Parts:
    """About 100,000 intersections a frame, the camera moving, a minute a scene."""
    found: dict[str, dict[str, Any]] = {}
    checks: list[report.Check] = []
    most, long = (INTERSECTIONS // 20, 0.5) if context.quick else (INTERSECTIONS, MINUTE)
    for name, file in SCENES.items():
        if context.quick and name == "Dragon":
            yield Absent("Dragon", "takes long: without --quick")
            continue
        edge = 96 if context.quick else 384
        try:
            shot = Shot(lambda file=file: model(context, file), (edge, edge), 1, SHOWN)
            picture = sheet(context, name, shot)
        except AbsentError as error:
            yield error.part
            continue
        count = context.keep(("triangles", name), lambda file=file: model(context, file)[0].triangle_count)
        found[name] = context.keep(("compared", name, most), lambda file=file: _compared(context, file, most))
        edge = found[name]["size"]
        frame = partial(_frames, context, file, edge, long / RUNS / len(OURS))
        made = timed.keep(context, ("frames", name, edge, long), frame, warm_up=False)
        found[name]["seconds"] = {end: each.parts[FRAME] for end, each in made.items()}
        yield captioned("thesis_scene", png=picture, name=name, triangles=count, lower=name.lower())
        checks += scene_checks(name, count, found[name], most)
    without = next((each["absent"] for each in found.values() if each["absent"]), "")
    if without:
        yield Absent("the OpenCL column", without)
    yield Absent("a CUDA back end", worded("no_cuda"))
    yield Absent("a machine with a queue for each state (wavefront)", worded("no_wavefront"))
    devices = [each["opencl"] for each in found.values() if each["opencl"]]
    rows: list[tuple[Any, ...]] = []
    rates: list[tuple[Any, ...]] = []
    for name, each in found.items():
        seconds: dict[str, Spread] = each["seconds"]
        cells = (_cell(theirs, seconds.get(FOR[end])) for end, theirs in zip(BACK_ENDS, SECONDS[name], strict=True))
        rows.append((name, *cells, seconds["multipass"].text()))
        ours = (seconds[end].of(lambda time: 1 / time).text() if end in seconds else "-" for end in OURS)
        rates.append((name, *map(_printed, RATES[name], SECONDS[name]), *ours))
    texts: dict[str, Any] = {"device": context.device_name, "long": long, "depth": DEPTH}
    yield tabled("table_2_seconds_a_frame", rows, checks, opencl=[*devices, "no device here"][0], **texts)
    columns = ("scene", *BACK_ENDS, *(f"ours, {each}" for each in OURS))
    heads = dict.fromkeys(BACK_ENDS, ("printed", "1 / table 2"))
    yield tabled("table_3_frames_a_second", rates, columns=columns, heads=heads, own=columns[5:])
    median = [{end: time.median for end, time in each["seconds"].items()} for each in found.values()]
    parallel = [each["emulation"] / min(each[end] for end in OURS[2:] if end in each) for each in median]
    recursion = [each["CPU"] / each["emulation"] for each in median]
    # The printed parallel device is a graphics board; the text has the recursion's time of the scene graph's pointers,
    # which are not there in these arrays.
    for claim, gains, (one, two) in (("parallel", parallel, (1, 3)), ("recursion_longer", recursion, (0, 1))):
        quotients = (each[one] / each[two] for each in SECONDS.values())
        text = worded(f"thesis_{claim}", printed=listed(quotients, ".3g"), ours=listed(gains, ".3g"))
        yield concluded(claim, [None], text)
    ratio = [each[2] / each[3] for each in SECONDS.values()]
    yield checked("cuda_thrice", min(ratio) > 3, ratio=listed(ratio, ".3g"))
    text = f"by table 2 {listed(ratio, '.3g')}; CUDA runs on no device here"
    yield concluded("cuda_thrice", [each > 3 for each in ratio], text)
    yield from _structures(context)


def _cell(theirs: float, ours: Spread | None) -> Cell:
    if ours is None:
        return report.beside(f"{theirs:g}", "-", "no OpenCL here")
    return report.beside(f"{theirs:g}", ours.text(), f"{report.OTHER_DEVICE}, other cameras and materials")


def _printed(rate: float, time: float) -> Cell:
    """A printed rate beside what table 2 gives."""
    agrees = abs(1 / time - rate) <= DIGIT
    return Cell(rate, f"{1 / time:.3g}", agrees, worded("decimal_agrees" if agrees else "decimal_differs"))


def _structures(context: Context) -> Parts:
    """What the thesis's structure costs, and the leaves of several primitives that it wishes for (T 8.1)."""
    rows, gains = [], []
    edge = STRUCTURE_EDGE // 4 if context.quick else STRUCTURE_EDGE
    for name in ("Sphere", "Bunny"):  # the Dragon takes long, and says the same
        file = SCENES[name]
        try:
            if context.stored is None:
                model(context, file)
            key = ("structures", name, edge)
            made = timed.keep(context, key, lambda file=file: _by_structure(context, file, edge), warm_up=False)
        except AbsentError as error:
            yield error.part
            continue
        seconds = {each: made[each].parts[FRAME] for each in STRUCTURES}
        own, other, *_ = (each.median for each in seconds.values())
        gains.append(own / other)
        rows += [(f"{name}, {each}", time.text(), f"{time.median / own:.2f}") for each, time in seconds.items()]
    yield tabled("the_thesis_s_structure_beside", rows, edge=edge)
    faster = min(gains) > 1
    why = "" if faster else report.NOT_EXAMINED
    yield checked("several_in_a_leaf", faster, gains=listed(gains, ".3g"), why=why)


@contextmanager
def _by_structure(context: Context, file: str, edge: int) -> Iterator[dict[str, Case]]:
    scene, camera = model(context, file)
    scene, long = prepared(scene), 0.1 if context.quick else SECONDS_OF_A_STRUCTURE
    with timed.Releasing() as held:
        draws = {
            name: partial(drawn, held.own(fragments(context, scene, machine="singlepass", **own)))
            for name, own in STRUCTURES.items()
        }
        yield thesis_back_ends.going_around(draws, scene, camera, (edge, edge), long / RUNS)


def scene_checks(name: str, count: int, kept: dict[str, Any], most: int) -> Iterator[report.Check]:
    """Of a scene: its triangles, whether the back ends draw one picture, and the intersections of a frame."""
    differs, rays = kept["differs"], sum(kept["rays"])
    yield checked("thesis_triangles", count == TRIANGLES[name], name=name, theirs=TRIANGLES[name], ours=count)
    worst = max(differs, key=lambda each: differs[each])
    texts: dict[str, Any] = {"ends": listed(differs), "worst": worst, "same": SAME, "all": 1 - SHARE}
    yield checked("same_picture", differs[worst] <= SHARE, name=name, share=1 - differs[worst], **texts)
    near = report.about(most, rays, report.ABOUT)
    yield checked("intersections", near, name=name, most=most, rays=rays, about=report.ABOUT)


def _compared(context: Context, file: str, most: int) -> dict[str, Any]:
    scene, camera = model(context, file)
    return thesis_back_ends.compared(context, prepared(scene), camera, most)


@contextmanager
def _frames(context: Context, file: str, edge: int, long: float) -> Iterator[dict[str, Case]]:
    scene, camera = model(context, file)
    with back_ends(context, prepared(scene)) as draws:
        yield thesis_back_ends.going_around(draws, prepared(scene), camera, (edge, edge), long)


# -- rounding: how much of the pictures differs, and why ---------------------------------------------------------------

ROUNDING_EDGE, QUICK_ROUNDING_EDGE = 136, 40  # about 100,000 intersections, as in the protocol
ROUNDINGS = (1, 16, 256)  # of a float32, by which eye rays are turned at most
TURNS = 8
AMONG = 0.9  # of the pixels that differ
FRAGMENTS, MANY = "singlepass", "multipass"
ROUNDING = np.float32(2.0**-23)


@section("thesis_rounding", paper="T 7", title="Pixels in which the back ends differ", quick=False, order=1)
def rounding(context: Context) -> Parts:
    """Roundings, magnified from level to level."""
    edge = QUICK_ROUNDING_EDGE if context.quick else ROUNDING_EDGE
    levels: list[tuple[Any, ...]] = []
    rows: list[tuple[Any, ...]] = []
    eye, worst, among = [], [], []
    scenes = yield from of_scenes(context, "rounding", lambda file: rounded(context, file, edge), edge)
    for name, found in scenes.items():
        for end, shares in found["levels"].items():
            if end != MANY or shares != found["levels"][FRAGMENTS]:
                levels.append((f"{name}, {end}", *(f"{each:.3%}" for each in shares)))
                eye.append(shares[0])
                worst.append(shares[-1])
        among += [share for *_, share in found["turned"][-1:] if share is not None]
        for roundings, row in zip(ROUNDINGS, found["turned"], strict=True):
            rows.append((f"{name}, {roundings}", *("none differ" if each is None else f"{each:.2%}" for each in row)))
    columns = ("scene, back end", *(f"to level {k}" for k in range(DEPTH + 1)))
    texts: dict[str, Any] = {"same": SAME, "many": MANY, "fragments": FRAGMENTS}
    yield tabled("share_of_the_pixels_that", levels, columns=columns, edge=edge, **texts)
    yield tabled("eye_rays_turned_by_roundings", rows, runs=TURNS)
    yield checked("no_levels", max(eye) == 0, share=max(eye))
    if among:
        yield checked("turned_change", min(among) >= AMONG, roundings=ROUNDINGS[-1], among=AMONG, least=min(among))
    yield checked("levels_differ", max(worst) <= SHARE, depth=DEPTH, share=SHARE, most=max(worst))


def rounded(context: Context, file: str, edge: int) -> dict[str, Any]:
    """levels: by back end the shares with 0 to `DEPTH` levels; turned: by `ROUNDINGS` the shares that change in a run
    and in any, and of the pixels in which fragment programs differ."""
    scene, camera = model(context, file)
    scene, size = prepared(scene), (edge, edge)
    levels: dict[str, list[float]] = {}
    differs: Mapping[str, NDArray[np.bool_]] = {}
    for depth in range(DEPTH + 1):
        with back_ends(context, scene, depth) as draws:
            pictures = {name: draw(camera, size) for name, draw in draws.items()}
        differs = {name: changed(picture, pictures["CPU"]) for name, picture in pictures.items() if name != "CPU"}
        for name, each in differs.items():
            levels.setdefault(name, []).append(float(each.mean()))
    processor = Processor(Traced.of(scene, SKY, DEPTH))
    return {"levels": levels, "turned": [turned(processor, camera, edge, k, differs[FRAGMENTS]) for k in ROUNDINGS]}


def changed(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which pixels (..., 3) differ by more than `SAME` of a channel."""
    return np.abs(one - other).max(axis=-1) > SAME


def turned(
    processor: Processor, camera: Camera, edge: int, roundings: int, differs: NDArray[np.bool_]
) -> tuple[float, float, float | None]:
    """Shares of pixels that change with eye rays turned: in a run, in any, and of those that differ, if any does."""
    eyes, rng = wide(eye_rays(camera, (edge, edge))), np.random.default_rng(roundings)
    straight, _ = processor.trace(eyes)
    runs = []
    for _ in range(TURNS):
        own = eyes.copy()
        own[:, 3:6] *= 1 + roundings * ROUNDING * rng.uniform(-1, 1, (len(eyes), 3)).astype(np.float32)
        runs.append(changed(processor.trace(own)[0], straight))
    any_run = np.any(runs, axis=0)
    among = any_run[differs.ravel()]
    return float(np.mean(runs)), float(any_run.mean()), float(among.mean()) if len(among) else None


# -- figures -----------------------------------------------------------------------------------------------------------

EDGE, QUICK = 192, 48
LONG = 4.0  # seconds a case of the vertices' colours
ANGLE_BOUND = 1e-5  # radians; float32
# The thesis's arrays, and which of ours hold the same.
ARRAYS = {
    "S, the trees": ("top_boxes", "top_links", "boxes", "links", "instances", "roots"),
    "T, triangles": ("corners", "numbers", "faces"),
    "T, positions, normals, colours, coordinates": ("vertices",),
    "M, materials": ("materials", "applied"),
    "TexInfo, TexCoord": ("layers", "kinds"),
    "Tex": ("texels",),
}


@section(
    "thesis_figures",
    paper="T 6, T 6.2, T 6.4",
    title="Structure, vectors and kernels (figures 6-1 to 6-16)",
    order=1,
    timed=True,
)
def thesis_figures(context: Context) -> Parts:
    """Drawn from what the back ends run."""
    edge = QUICK if context.quick else EDGE
    yield from figures("6-")
    yield captioned("vectors", svg=draw_vectors(), index=INDEX)
    turn, sine = np.radians(ANGLE), np.sin(np.radians(ANGLE)) / INDEX
    (_, reflected), (_, refracted) = directions(ANGLE)
    for what, found, expected in (
        ("reflected, (6.8) with its sign mended", reflected, np.array([np.sin(turn), np.cos(turn), 0.0])),
        ("refracted, Snell's law (6.30)", refracted, np.array([sine, -np.sqrt(1 - sine**2), 0.0])),
    ):
        within = float(np.abs(found - expected).max()) < ANGLE_BOUND
        theirs, ours = (listed(each[:2], ".4f") for each in (expected, found))
        yield checked("direction", within, what=what, angle=ANGLE, theirs=theirs, ours=ours, bound=ANGLE_BOUND)
    rays = len(directions(ANGLE, inside=True))
    yield checked("critical", rays == 1, rays=rays)

    def sizes(file: str) -> list[int]:
        made: Model = build(model(context, file)[0])
        return [sum(getattr(made, each).nbytes for each in names) for names in ARRAYS.values()]

    columns = yield from of_scenes(context, "arrays", sizes)
    rows = [
        (own, listed(ARRAYS[own]), *(f"{sizes[k] / 1024:,.1f}" for sizes in columns.values()))
        for k, own in enumerate(ARRAYS)
    ]
    yield tabled("figure_6_15_the_arrays", rows, columns=("of the thesis", "here", *columns), own=("here", *columns))
    yield captioned("opencl_kernels", svg=by_hand("opencl_kernels"))
    layers = context.keep(("layers", edge), lambda: _layered(edge))
    yield captioned("layers", png=layers["picture"], depth=DEPTH, rays=listed(layers["rays"], ","))
    made = timed.keep(context, ("vertex colours", edge), lambda: colored(context, edge), warm_up=False)
    rows, costs = [], {}
    for end in ("CPU", "emulation", "singlepass"):
        without, with_ = (made[f"{end}, {each}"].parts[FRAME] for each in ("without", "with"))
        costs[end] = with_.median / without.median - 1
        rows.append((end, without.text(), with_.text(), f"{costs[end]:+.1%}"))
    yield tabled("cost_of_colours_of_vertices", rows, edge=edge)
    text = f"seconds with them, against a material's colour: {report.by_name(costs, '+.1%')}"
    yield concluded("vertex_colours", [each <= report.POINTS for each in costs.values()], text)


def _layered(edge: int) -> dict[str, Any]:
    """What each level of rays adds."""
    scene, size = prepared(builtin("sphere")), (edge, edge)
    traced = Traced.of(scene, SKY, DEPTH)
    sums = [pixels(Processor(replace(traced, depth=k)), scene.camera(), size) for k in range(DEPTH + 1)]
    layers = [sums[0], *(after - before for before, after in pairwise(sums))]
    shown = [np.rint(255 * np.clip(each, 0, 1) ** (1 / 2.2)).astype(np.uint8) for each in layers]
    return {"picture": webp(*shown), "rays": Emulation(traced).render(scene.camera(), size).rays}


@contextmanager
def colored(context: Context, edge: int) -> Iterator[dict[str, Case]]:
    """Back ends with and without colours of vertices."""
    scene, draws = prepared(builtin("sphere")), dict[str, Draw]()
    plain = replace(scene, meshes=[replace(each, colors=None) for each in scene.meshes])
    with timed.Releasing() as held:
        for name, each in {"with": scene, "without": plain}.items():
            traced = Traced.of(each, SKY, DEPTH)
            renderer = held.own(fragments(context, each, machine="singlepass", **SETTINGS))
            draws[f"CPU, {name}"] = partial(pixels, Processor(traced))
            draws[f"emulation, {name}"] = partial(pixels, Emulation(traced))
            draws[f"singlepass, {name}"] = partial(drawn, renderer)
        yield thesis_back_ends.going_around(
            draws, scene, scene.camera(), (edge, edge), (0.1 if context.quick else LONG) / RUNS
        )
