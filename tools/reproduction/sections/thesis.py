"""Tables 2 and 3 of T by its protocol (T 7, 8), over the back ends that are here."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

import viewer
from reproduction.simulators.emulation import Emulation
from viewer.scene.camera import Camera
from viewer.scene.edits.classic_plane import on_plane
from viewer.scene.scene import Scene

from .. import shown
from ..context import Context
from ..model import AbsentError, Cell, Check, Figure, Part, Table
from ..published.thesis import BACK_ENDS, INTERSECTIONS, MINUTE, RATES, SCENES, SECONDS, TRIANGLES
from ..registry import section

SKY = (0.55, 0.70, 0.95)
DEPTH = 4
OURS = ("emulation", "multipass", "singlepass")
TURN = math.radians(2.0)  # of the camera about the scene, a frame
# Pictures of back ends are the same where they differ by less. Of the emulation a share of the pixels may differ: where
# rounding decides which side of an edge, of a texel or of the critical angle a ray meets, level after level.
SAME, SHARE = 0.02, 0.05


@section("thesis", paper="T 8", title="Frame times by back end (tables 2 and 3)")
def make(context: Context) -> Iterator[Part]:
    """About 100,000 intersections a frame, the camera moving, a minute a scene and back end."""
    seconds, rates, checks = [], [], []
    most = INTERSECTIONS // 20 if context.quick else INTERSECTIONS
    long = 0.5 if context.quick else MINUTE
    for name, file in SCENES.items():
        if context.quick and name == "Dragon":
            yield AbsentError("Dragon", "takes long: without --quick").part
            continue
        try:
            model = context.scene(file)
        except AbsentError as error:
            yield error.part
            continue
        whole = model if model.cameras else on_plane(model)
        camera = model.camera() if model.cameras else _above(model)
        # Without mip levels, which the emulation does not have.
        scene = replace(whole, textures=[replace(each, minification="linear") for each in whole.textures])
        kept = context.keep(
            ("protocol", name, most, long), lambda s=scene, c=camera: protocol(context, s, c, most, long)
        )
        edge = 96 if context.quick else 384
        picture = shown.rendered(
            context, name, whole, (edge, edge), 1, camera, program="whitted", depth=DEPTH, environment="sky"
        )
        yield Figure(
            f"{name}: {scene.triangle_count:,} triangles",
            png=shown.jpeg(picture),
            note="Refracting and reflecting materials and a texture, as published; which ones is our own choice.",
            alt=f"{name.lower()} of glass on tiles",
        )
        row = {each: kept["seconds"][each] for each in OURS}
        seconds.append((name, *(f"{each:g}" for each in SECONDS[name]), *(round(row[each], 4) for each in OURS)))
        printed = [Cell(value, round(1 / time, 3)) for value, time in zip(RATES[name], SECONDS[name], strict=True)]
        rates.append((name, *printed, *(round(1 / row[each], 2) for each in OURS)))
        checks += [
            Check(
                f"{name}: triangles",
                f"{TRIANGLES[name]:,}",
                f"{scene.triangle_count:,}",
                scene.triangle_count == TRIANGLES[name],
            ),
            Check(
                f"{name}: multipass and singlepass",
                "the same picture",
                f"{kept['apart']:.2g} apart",
                kept["apart"] <= SAME,
            ),
            Check(
                f"{name}: emulation and machines",
                "the same picture",
                f"{100 * (1 - kept['differs']):.1f} % of the pixels",
                kept["differs"] <= SHARE,
                why="rounding decides which side of an edge or of the critical angle a ray meets",
            ),
            Check(
                f"{name}: intersections a frame",
                f"about {most:,}",
                f"{kept['rays']:,}",
                abs(kept["rays"] / most - 1) < 0.2,
            ),
        ]
    columns = ("scene", *(f"{each}, GTX 280" for each in BACK_ENDS), *OURS)
    note = (
        f"Ours on {context.device.name}, averages over {long:g} s, the camera turning by 2 degrees a frame, {DEPTH} "
        "levels; emulation: the kernels in NumPy with compiled traversal, one after the other on the processor. "
        "Published beside: another device, other cameras and materials."
    )
    if seconds:
        yield Table("Table 2: seconds a frame", columns, seconds, note=note, checks=checks)
        note = "Published: what is printed, and 1 / seconds of table 2; 1 / 17.9 is 0.06 and 1 / 13.25 is 0.08."
        yield Table("Table 3: frames a second", columns, rates, note=note)


def _above(model: Scene) -> Camera:
    """A camera that sees a model from in front and above, filling most of the picture."""
    low, high = model.bounds()
    middle, size = (low + high) / 2, float((high - low).max())
    x, y, z = middle + size * np.array([0.35, 0.6, 1.45])
    aim = middle - [0.0, 0.06 * size, 0.0]
    return Camera((float(x), float(y), float(z)), tuple(map(float, aim)), fov=42.0, name="above")  # type: ignore[arg-type]


def protocol(context: Context, scene: Scene, camera: Camera, most: int, long: float) -> dict[str, Any]:
    """Seconds a frame by back end; rays of the first frame; how far pictures are apart, and the share that differs."""
    emulation = Emulation(scene, SKY, DEPTH)
    edge = 32
    for _ in range(3):  # zoomed until a frame has about as many rays
        edge = max(8, round(edge * math.sqrt(most / emulation.render(camera, (edge, edge)).intersections)))
    size = (edge, edge)
    settings: dict[str, Any] = {
        "program": "whitted",
        "depth": DEPTH,
        "environment": ",".join(map(str, SKY)),
        "pixel_filter": "point",
    }
    first = emulation.render(camera, size)
    pictures: dict[str, Any] = {"emulation": first.pixels}
    seconds = {"emulation": _average(lambda each: emulation.render(each, size), camera, scene, long)}
    for machine in OURS[1:]:
        renderer = viewer.Renderer(scene, device=context.device, machine=machine, **settings)
        renderer.update(camera=camera)
        pictures[machine] = renderer.render(size, spp=1).linear.copy()

        def frame(each: Camera, renderer: viewer.Renderer = renderer) -> None:
            renderer.update(camera=each)
            renderer.render(size, spp=1)

        seconds[machine] = _average(frame, camera, scene, long)
        renderer.release()
    apart = float(np.abs(pictures["multipass"] - pictures["singlepass"]).max())
    differs = float((np.abs(pictures["emulation"] - pictures["singlepass"]).max(axis=2) > SAME).mean())
    return {"seconds": seconds, "rays": first.intersections, "size": edge, "apart": apart, "differs": differs}


def _average(frame: Callable[[Camera], Any], camera: Camera, scene: Scene, long: float) -> float:
    """Mean seconds of a frame while the camera goes around the scene."""
    middle = scene.bounds().mean(axis=0)
    offset = np.asarray(camera.origin) - middle
    times: list[float] = []
    while sum(times) < long:
        angle = TURN * len(times)
        c, s = math.cos(angle), math.sin(angle)
        x, y, z = middle + [c * offset[0] + s * offset[2], offset[1], c * offset[2] - s * offset[0]]
        moved = Camera((float(x), float(y), float(z)), camera.target, camera.up, camera.fov, name="moving")
        began = perf_counter()
        frame(moved)
        times.append(perf_counter() - began)
    return statistics.mean(times)
