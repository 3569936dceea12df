"""Tables 2 and 3 of T by its protocol (T 7, 8), over the back ends that are here, on its own structure."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from raystream.scene.camera import Camera
from raystream.scene.edits.classic_plane import on_plane
from raystream.scene.scene import Scene
from reproduction.simulators.whitted.model import SETTINGS

from .. import report, thesis_back_ends, timed
from ..context import Context
from ..published.thesis import BACK_ENDS, INTERSECTIONS, MINUTE, RATES, SCENES, SECONDS, TRIANGLES
from ..report import ABOUT, CLAIM, OWN, Absent, AbsentError, Cell, Check, Part, Parts, about, beside, concluded, tabled
from ..shown import Shot, sheet
from ..thesis_back_ends import DEPTH, FRAME, OURS, SAME, SHARE, compared, drawn, fragments, frames, prepared
from ..timed import RUNS, Case, Spread

DIGIT = 0.05  # half of the last printed digit of a rate
SHOWN: dict[str, Any] = {"program": "whitted", "depth": 4, "environment": "sky", **SETTINGS}
# Of table 2's columns, what stands for them here; CUDA has no device here, and one pass is our fastest.
FOR = dict(zip(BACK_ENDS, OURS[:4], strict=True))
WHY = f"{report.OTHER_DEVICE}, other cameras and materials"
SECONDS_OF_A_STRUCTURE, EDGE = 5.0, 192
STRUCTURES = {
    "two levels by escape indices, halved boxes, 1 in a leaf (T)": SETTINGS,
    "the same by surface area, up to 8 in a leaf": {**SETTINGS, "build": "sah"},
    "the same front to back": {**SETTINGS, "build": "sah", "traversal": "octants"},
    "one level by surface area, with a stack": {**SETTINGS, "accel": "bvh", "build": "sah", "traversal": "stack"},
}


@report.section("thesis", paper="T 7", title="Frame times by back end (tables 2 and 3)", timed=True)
def make(context: Context) -> Parts:
    """About 100,000 intersections a frame, the camera moving, a minute a scene."""
    found: dict[str, dict[str, Any]] = {}
    checks: list[Check] = []
    most = INTERSECTIONS // 20 if context.quick else INTERSECTIONS
    long = 0.5 if context.quick else MINUTE
    for name, file in SCENES.items():
        if context.quick and name == "Dragon":
            yield AbsentError("Dragon", "takes long: without --quick").part
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
        yield report.captioned("thesis_scene", png=picture, name=name, triangles=count, lower=name.lower())
        checks += _checks(name, count, found[name], most)
    without = next((each["absent"] for each in found.values() if each["absent"]), "")
    if without:
        yield Absent("the OpenCL column", without)
    yield Absent("a CUDA back end", "CUDA runs on no device here; fragment programs in one pass stand in its column")
    yield Absent(
        "a machine with a queue for each state (wavefront)",
        "it wants compute shaders, which OpenGL 3.3 has not; the stream buffer is simulated (section The cost model)",
    )
    yield from _tables(context, found, checks, long)
    yield from _claims(found)
    yield from _structures(context)


def _tables(context: Context, found: Mapping[str, dict[str, Any]], checks: list[Check], long: float) -> Parts:
    devices = [each["opencl"] for each in found.values() if each["opencl"]]
    rows, rates = [], []
    for name, each in found.items():
        seconds = each["seconds"]
        cells = (_cell(theirs, seconds.get(FOR[end])) for end, theirs in zip(BACK_ENDS, SECONDS[name], strict=True))
        rows.append((name, *cells, seconds["multipass"].text()))
        printed = map(_printed, RATES[name], SECONDS[name])
        rates.append((name, *printed, *(_rate(seconds.get(end)) for end in OURS)))
    texts: dict[str, Any] = {"device": context.device_name, "long": long, "depth": DEPTH}
    yield tabled("table_2_seconds_a_frame", rows, checks, opencl=[*devices, "no device here"][0], **texts)
    columns = ("scene", *BACK_ENDS, *(f"ours, {each}" for each in OURS))
    heads = dict.fromkeys(BACK_ENDS, ("printed", "1 / table 2"))
    yield tabled("table_3_frames_a_second", rates, columns=columns, heads=heads, own=columns[5:])


def _cell(theirs: float, ours: Spread | None) -> Cell:
    if ours is None:
        return beside(f"{theirs:g}", "-", "no OpenCL here")
    return beside(f"{theirs:g}", ours.text(), WHY)


def _rate(seconds: Spread | None) -> str:
    return "-" if seconds is None else seconds.of(lambda each: 1 / each).text()


def _claims(found: Mapping[str, dict[str, Any]]) -> Parts:
    median = {name: {end: each["seconds"][end].median for end in each["seconds"]} for name, each in found.items()}
    serial = [each["emulation"] for each in median.values()]
    parallel = [min(each[end] for end in OURS[2:] if end in each) for each in median.values()]
    gains = [one / other for one, other in zip(serial, parallel, strict=True)]
    yield concluded(
        "parallel",
        [None],  # the printed parallel device is a graphics board
        f"published emulation over CUDA {_listed(each[1] / each[3] for each in SECONDS.values())}; here emulation over "
        f"the fastest of OpenCL and fragment programs {_listed(gains)}, on the same processor",
    )
    recursion = [each["CPU"] / each["emulation"] for each in median.values()]
    yield concluded(
        "recursion_longer",
        [None],  # the text has it of the scene graph's pointers, which are not there in these arrays
        f"published CPU over emulation {_listed(each[0] / each[1] for each in SECONDS.values())}, over a scene graph; "
        f"here {_listed(recursion)}: both read the same arrays, the recursion is compiled, and kernels in NumPy pass "
        "over whole levels of rays in memory",
    )
    ratio = [each[2] / each[3] for each in SECONDS.values()]
    what, why = "CUDA is more than three times faster than OpenCL", "by table 2 not for the bunny"
    yield Check(report.ARITHMETIC, what, "> 3", _listed(ratio), min(ratio) > 3, why)
    yield concluded(
        "cuda_thrice", [each > 3 for each in ratio], f"by table 2 {_listed(ratio)}; CUDA runs on no device here"
    )


def _structures(context: Context) -> Parts:
    """What the thesis's structure costs, and the leaves of several primitives that it wishes for (T 8.1)."""
    rows, gains = [], []
    edge = EDGE // 4 if context.quick else EDGE
    for name, file in SCENES.items():
        if name == "Dragon":
            continue  # takes long, and says the same
        try:
            if context.stored is None:
                model(context, file)
            key = ("structures", name, edge)
            made = timed.keep(context, key, lambda file=file: _by_structure(context, file, edge), warm_up=False)
        except AbsentError as error:
            yield error.part
            continue
        seconds = {each: made[each].parts[FRAME] for each in STRUCTURES}
        own, *others = (each.median for each in seconds.values())
        gains.append(own / others[0])
        rows += [(f"{name}, {each}", seconds[each].text(), f"{seconds[each].median / own:.2f}") for each in STRUCTURES]
    yield tabled("the_thesis_s_structure_beside", rows, edge=edge)
    what = "leaves of several primitives, by surface area, are faster (wished in T 8.1)"
    faster = min(gains) > 1
    yield Check(CLAIM, what, "faster", f"{_listed(gains)} times", faster, "" if faster else report.NOT_EXAMINED)


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


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{each:.3g}" for each in values)


def _printed(rate: float, time: float) -> Cell:
    """A printed rate beside what table 2 gives."""
    derived = 1 / time
    agrees = abs(derived - rate) <= DIGIT
    reason = "agrees to the printed decimal"
    if not agrees:
        reason = "differs by more than the printed decimal: a mean of rates is not the reciprocal of a mean of seconds"
    return Cell(rate, f"{derived:.3g}", agrees, reason)


def _checks(name: str, count: int, kept: dict[str, Any], most: int) -> Iterator[Check]:
    same = count == TRIANGLES[name]
    yield Check(OWN, f"{name}: triangles", f"{TRIANGLES[name]:,}", f"{count:,}", same, "our scene has other counts")
    worst = max(kept["differs"], key=lambda each: kept["differs"][each])
    most_apart = kept["differs"][worst]
    ours = f"{100 * (1 - most_apart):.2f} % of the pixels, least by {worst}"
    bound = f"to {SAME:g} of a channel in {100 * (1 - SHARE):.1f} % of the pixels: roundings grow from level to level "
    bound += "(section Pixels in which the back ends differ)"
    what = f"{name}: {', '.join(kept['differs'])}"
    yield Check(OWN, what, "the same picture", ours, most_apart <= SHARE, bound=bound)
    rays = sum(kept["rays"])
    near = about(most, rays, ABOUT)
    bound = f"to {ABOUT:.0%}: the picture's edge is a whole number of pixels, and the text says about"
    yield Check(OWN, f"{name}: intersections a frame", f"about {most:,}", f"{rays:,}", near, bound=bound)


def of_scenes(
    context: Context, what: str, measure: Callable[[str], Any], *inputs: Any
) -> Generator[Part, None, dict[str, Any]]:
    """What is measured of the file of each of the thesis's scenes that are there, by name; those that are not, as
    parts. inputs : of the measurement, under which it is kept."""
    found: dict[str, Any] = {}
    for name, file in SCENES.items():
        if context.quick and name == "Dragon":
            continue
        try:
            found[name] = context.keep((what, name, *inputs), lambda file=file: measure(file))
        except AbsentError as error:
            yield error.part
    return found


def model(context: Context, file: str) -> tuple[Scene, Camera]:
    """A scene of the thesis and its first camera."""
    scene = context.scene(file)
    return (scene, scene.camera()) if scene.cameras else (on_plane(scene), above(scene))


def _compared(context: Context, file: str, most: int) -> dict[str, Any]:
    scene, camera = model(context, file)
    return compared(context, prepared(scene), camera, most)


@contextmanager
def _frames(context: Context, file: str, edge: int, long: float) -> Iterator[dict[str, Case]]:
    scene, camera = model(context, file)
    with frames(context, prepared(scene), camera, edge, long) as cases:
        yield cases


def above(scene: Scene) -> Camera:
    """A camera that sees a model from in front and above, filling most of the picture."""
    low, high = scene.bounds()
    middle, size = (low + high) / 2, float((high - low).max())
    x, y, z = middle + size * np.array([0.35, 0.6, 1.45])
    aim = middle - [0.0, 0.06 * size, 0.0]
    return Camera((float(x), float(y), float(z)), tuple(map(float, aim)), fov=42.0, name="above")  # type: ignore[arg-type]
