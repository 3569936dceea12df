"""Tables 2 and 3 of T by its protocol (T 7, 8), over the back ends that are here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count as numbers
from time import perf_counter
from typing import Any

import numpy as np

import viewer
from reproduction.simulators.emulation import Emulation
from viewer.scene.camera import Camera
from viewer.scene.edits.classic_plane import on_plane
from viewer.scene.scene import Scene

from .. import timed
from ..context import Context
from ..model import ARITHMETIC, OWN, AbsentError, Cell, Check, Conclusion, Figure, Part, Table
from ..published.thesis import BACK_ENDS, INTERSECTIONS, MINUTE, RATES, SCENES, SECONDS, TRIANGLES
from ..registry import section
from ..shown import Shot, sheet

SKY = (0.55, 0.70, 0.95)
DEPTH = 4
OURS = ("emulation", "multipass", "singlepass")
TURN = math.radians(2.0)  # of the camera about the scene, a frame
# Pictures of back ends are the same where they differ by less. Of the emulation a share of the pixels may differ: where
# rounding decides which side of an edge, of a texel or of the critical angle a ray meets, level after level.
SAME, SHARE = 0.02, 0.05
ABOUT = 0.02  # of "about 100,000 intersections": pictures of whole pixels come that close
DIGIT = 0.05  # half of the last printed digit of a rate
MANY = 3.0  # "many times"
ON = ("unnamed processor", "unnamed processor", "GTX 280", "GTX 280")
SHOWN: dict[str, Any] = {"program": "whitted", "depth": 4, "environment": "sky"}


@section("thesis", paper="T 7", title="Frame times by back end (tables 2 and 3)", timed=True)
def make(context: Context) -> Iterator[Part]:
    """About 100,000 intersections a frame, the camera moving, a minute a scene, back ends in turns."""
    seconds, rates, checks, gains = [], [], [], {}
    most = INTERSECTIONS // 20 if context.quick else INTERSECTIONS
    long = 0.2 if context.quick else MINUTE / len(OURS) / timed.RUNS
    for name, file in SCENES.items():
        if context.quick and name == "Dragon":
            yield AbsentError("Dragon", "takes long: without --quick").part
            continue
        edge = 96 if context.quick else 384
        try:
            shot = Shot(lambda file=file: _model(context, file), (edge, edge), 1, SHOWN)
            picture = sheet(context, name, shot)
        except AbsentError as error:
            yield error.part
            continue
        count = context.keep(("triangles", name), lambda file=file: _model(context, file)[0].triangle_count)
        kept = context.keep(("pictures", name, most), lambda file=file: _compared(context, file, most))
        side = int(kept["size"])
        found = timed.keep(
            context, ("protocol", name, most, long), lambda file=file, edge=side: _frames(context, file, edge, long)
        )
        yield Figure(
            f"{name}: {count:,} triangles",
            png=picture,
            note="Refracting and reflecting materials and a texture, as published; which ones is our own choice.",
            alt=f"{name.lower()} of glass on tiles",
        )
        spread = {each: found[each].parts["a frame"] for each in OURS}
        row = {each: spread[each].median for each in OURS}
        gains[name] = row["emulation"] / min(row[each] for each in OURS[1:])
        seconds.append((name, *(f"{each:g}" for each in SECONDS[name]), *(spread[each].text() for each in OURS)))
        rates.append((name, *map(_printed, RATES[name], SECONDS[name]), *(round(1 / row[each], 2) for each in OURS)))
        checks += _checks(name, count, kept, most)
    if not seconds:
        return
    columns = ("scene", *(f"{each}, {on}" for each, on in zip(BACK_ENDS, ON, strict=True)))
    ours = tuple(f"ours, {each}" for each in OURS)
    note = (
        f"Printed seconds; the thesis's processor is not named. Ours on {context.device_name}, averages over {long:g} "
        f"s of each run, a minute a scene; the camera turning by 2 degrees a frame, {DEPTH} levels; emulation: "
        "the kernels in NumPy with compiled traversal, one after the other on the processor. Not comparable with ours "
        "in seconds: another device, other cameras and materials, and a SAH tree where the thesis "
        "splits boxes in the middle."
    )
    yield Table("Table 2: seconds a frame", (*columns, *ours), seconds, note=note, checks=checks)
    note = "Printed, and beside it 1 / seconds of table 2 (derived). Ours is in the last columns."
    heads = dict.fromkeys(columns[1:], ("printed", "1 / table 2"))
    yield Table("Table 3: frames a second", (*columns, *ours), rates, note=note, heads=heads)
    faster = {name: each[0] / min(each[1:]) for name, each in SECONDS.items()}
    yield Conclusion(
        "T table 2",
        "The kernels run many times faster in parallel than one after the other.",
        [each > MANY for each in gains.values()],
        f"published emulation over CUDA {_listed(SECONDS[name][1] / SECONDS[name][3] for name in faster)}; here "
        f"emulation over fragment programs {_listed(gains.values())}, on one processor",
    )
    ratio = [each[2] / each[3] for each in SECONDS.values()]
    yield Check(
        ARITHMETIC,
        "CUDA is more than three times faster than OpenCL",
        "> 3",
        _listed(ratio),
        min(ratio) > 3,
        "by table 2 not for the bunny",
    )
    yield Conclusion(
        "T 8",
        "CUDA is more than three times faster than OpenCL.",
        [each > 3 for each in ratio],
        f"by table 2 {_listed(ratio)}; neither runs here",
        ARITHMETIC,
    )


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{each:.3g}" for each in values)


def _printed(rate: float, time: float) -> Cell:
    """A printed rate beside what table 2 gives."""
    derived = 1 / time
    agrees = abs(derived - rate) <= DIGIT
    reason = "agrees to the printed decimal" if agrees else "differs: no rounding of the seconds gives it"
    return Cell(rate, f"{derived:.3g}", agrees, reason)


def _checks(name: str, count: int, kept: dict[str, Any], most: int) -> Iterator[Check]:
    same = count == TRIANGLES[name]
    yield Check(OWN, f"{name}: triangles", f"{TRIANGLES[name]:,}", f"{count:,}", same, "our scene has other counts")
    what, apart = "the same picture", f"{kept['apart']:.2g} apart"
    why = f"to {SAME:g} of a channel"
    yield Check(OWN, f"{name}: multipass and singlepass", what, apart, kept["apart"] <= SAME, why)
    yield Check(
        OWN,
        f"{name}: emulation and machines",
        what,
        f"{100 * (1 - kept['differs']):.1f} % of the pixels",
        kept["differs"] <= SHARE,
        f"to {SAME:g} of a channel in {100 * (1 - SHARE):.0f} % of the pixels: rounding decides which side of an edge "
        "or of the critical angle a ray meets",
    )
    near = abs(kept["rays"] / most - 1) < ABOUT
    why = f"to {ABOUT:.0%}: the picture's edge is a whole number of pixels, and the text says about"
    yield Check(OWN, f"{name}: intersections a frame", f"about {most:,}", f"{kept['rays']:,}", near, why)


def _model(context: Context, file: str) -> tuple[Scene, Camera]:
    """A scene of the thesis and its first camera."""
    model = context.scene(file)
    return (model, model.camera()) if model.cameras else (on_plane(model), _above(model))


def _plain(context: Context, file: str) -> tuple[Scene, Camera]:
    """The same without mip levels, which the emulation does not have."""
    whole, camera = _model(context, file)
    return replace(whole, textures=[replace(each, minification="linear") for each in whole.textures]), camera


def _compared(context: Context, file: str, most: int) -> dict[str, Any]:
    return protocol(context, *_plain(context, file), most)


@contextmanager
def _frames(context: Context, file: str, edge: int, long: float) -> Iterator[dict[str, timed.Case]]:
    """Every back end while the camera goes around the scene: seconds of a frame, a mean over ``long`` seconds."""
    scene, camera = _plain(context, file)
    emulation, size = Emulation(scene, SKY, DEPTH), (edge, edge)
    renderers = {machine: _renderer(context, scene, machine) for machine in OURS[1:]}

    def frame(renderer: viewer.Renderer, each: Camera) -> None:
        renderer.update(camera=each)
        renderer.render(size, spp=1)

    draw = {machine: partial(frame, renderer) for machine, renderer in renderers.items()}
    draw[OURS[0]] = lambda each: emulation.render(each, size)
    turns = {each: numbers() for each in OURS}

    def case(name: str) -> dict[str, float]:
        began, frames = perf_counter(), 0
        while not frames or perf_counter() - began < long:
            draw[name](_moved(camera, scene, next(turns[name])))
            frames += 1
        return {"a frame": (perf_counter() - began) / frames, "frames": frames}

    yield {each: partial(case, each) for each in OURS}
    for renderer in renderers.values():
        renderer.release()


def _above(model: Scene) -> Camera:
    """A camera that sees a model from in front and above, filling most of the picture."""
    low, high = model.bounds()
    middle, size = (low + high) / 2, float((high - low).max())
    x, y, z = middle + size * np.array([0.35, 0.6, 1.45])
    aim = middle - [0.0, 0.06 * size, 0.0]
    return Camera((float(x), float(y), float(z)), tuple(map(float, aim)), fov=42.0, name="above")  # type: ignore[arg-type]


def _renderer(context: Context, scene: Scene, machine: str) -> viewer.Renderer:
    settings: dict[str, Any] = {
        "program": "whitted",
        "depth": DEPTH,
        "environment": ",".join(map(str, SKY)),
        "pixel_filter": "point",
    }
    return viewer.Renderer(scene, device=context.device, machine=machine, **settings)


def protocol(context: Context, scene: Scene, camera: Camera, most: int) -> dict[str, Any]:
    """Rays of the first frame; how far the back ends' pictures are apart, and the share that differs."""
    emulation = Emulation(scene, SKY, DEPTH)
    edge = 32
    for _ in range(3):  # zoomed until a frame has about as many rays
        edge = max(8, round(edge * math.sqrt(most / emulation.render(camera, (edge, edge)).intersections)))
    size = (edge, edge)
    first = emulation.render(camera, size)
    pictures: dict[str, Any] = {"emulation": first.pixels}
    for machine in OURS[1:]:
        renderer = _renderer(context, scene, machine)
        renderer.update(camera=camera)
        pictures[machine] = renderer.render(size, spp=1).linear.copy()
        renderer.release()
    apart = float(np.abs(pictures["multipass"] - pictures["singlepass"]).max())
    differs = float((np.abs(pictures["emulation"] - pictures["singlepass"]).max(axis=2) > SAME).mean())
    return {"rays": first.intersections, "size": edge, "apart": apart, "differs": differs}


def _moved(camera: Camera, scene: Scene, number: int) -> Camera:
    """A camera that has gone around the scene by ``number`` frames."""
    middle = scene.bounds().mean(axis=0)
    offset = np.asarray(camera.origin) - middle
    c, s = math.cos(TURN * number), math.sin(TURN * number)
    x, y, z = middle + [c * offset[0] + s * offset[2], offset[1], c * offset[2] - s * offset[0]]
    return Camera((float(x), float(y), float(z)), camera.target, camera.up, camera.fov, name="moving")
