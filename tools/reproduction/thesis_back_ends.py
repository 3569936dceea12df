"""The back ends of the thesis by its protocol (T 7): a scene's frames, zoomed to about as many intersections, while the
camera goes around it.

CPU is the recursion, compiled, on one thread; emulation the OpenCL algorithm serially, kernels in NumPy with compiled
intersection; OpenCL the four kernels on the first device of OpenCL; multipass and singlepass are fragment programs in
many passes and in one. All read one structure, the thesis's own.
"""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import viewer
from reproduction.simulators.emulation import Emulation, Frame
from reproduction.simulators.whitted.model import SETTINGS, build
from reproduction.simulators.whitted.opencl import NoOpenClError, OpenCl
from reproduction.simulators.whitted.processor import Processor
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene

from .context import Context

SKY = (0.55, 0.70, 0.95)
DEPTH = 4
RUNS = 5
TURN = math.radians(2.0)  # of the camera about the scene, a frame
SAME = 0.02  # of a channel: pictures of back ends are the same where they differ by less
OURS = ("CPU", "emulation", "OpenCL", "singlepass", "multipass")
Draw = Callable[[Camera], NDArray[np.float32]]


def prepared(scene: Scene) -> Scene:
    """Without mip levels, which only the machines have."""
    return replace(scene, textures=[replace(each, minification="linear") for each in scene.textures])


def protocol(context: Context, scene: Scene, camera: Camera, most: int, long: float) -> dict[str, Any]:
    """A scene of about ``most`` intersections a frame, ``long`` seconds a back end, in turns.

    seconds: of a frame, the mean of each turn, by back end; rays, by level, and size of the first frame; differs: the
    share of pixels in which a back end's first picture is another than that of the CPU; load average before and after;
    device of OpenCL; absent: why there is none.
    """
    model = build(scene)
    emulation = Emulation(scene, SKY, DEPTH, model)
    edge = 32
    for _ in range(3):  # zoomed until a frame has about as many rays
        edge = max(8, round(edge * math.sqrt(most / emulation.render(camera, (edge, edge)).intersections)))
    size = (edge, edge)
    recursion = Processor(scene, SKY, DEPTH, model)
    cases: dict[str, Draw] = {"CPU": lambda each: recursion.render(each, size).pixels}
    cases["emulation"] = lambda each: emulation.render(each, size).pixels
    found: dict[str, Any] = {"opencl": "", "absent": ""}
    try:
        opencl = OpenCl(scene, SKY, DEPTH, model)
        found["opencl"] = opencl.name
        cases["OpenCL"] = lambda each: opencl.render(each, size).pixels
    except NoOpenClError as error:
        found["absent"] = str(error)
    renderers = []
    for machine in OURS[3:]:
        renderers.append(fragments(context, scene, machine=machine, **SETTINGS))
        cases[machine] = lambda each, renderer=renderers[-1]: drawn(renderer, each, size)
    pictures = {name: draw(camera) for name, draw in cases.items()}
    frame: Frame = emulation.render(camera, size)
    load = _load()
    seconds = in_turns(cases, camera, scene, long)
    for renderer in renderers:
        renderer.release()
    differs = {
        name: float((np.abs(picture - pictures["CPU"]).max(axis=2) > SAME).mean()) for name, picture in pictures.items()
    }
    return {**found, "seconds": seconds, "rays": frame.rays, "size": edge, "differs": differs, "load": [load, _load()]}


def fragments(context: Context, scene: Scene, **settings: Any) -> viewer.Renderer:
    """The tracer as fragment programs, one ray through the middle of a pixel."""
    own = {"program": "whitted", "depth": DEPTH, "environment": ",".join(map(str, SKY)), "pixel_filter": "point"}
    return viewer.Renderer(scene, device=context.device, **own, **settings)


def drawn(renderer: viewer.Renderer, camera: Camera, size: tuple[int, int]) -> NDArray[np.float32]:
    """A frame seen by a camera."""
    renderer.update(camera=camera)
    return np.array(renderer.render(size, spp=1).linear)


def in_turns(cases: Mapping[str, Draw], camera: Camera, scene: Scene, long: float) -> dict[str, list[float]]:
    """Mean seconds of a frame in each of `RUNS` turns, together ``long`` seconds a case, the camera going on."""
    frames, seconds = dict.fromkeys(cases, 0), {name: [] for name in cases}
    for _ in range(RUNS):
        for name, draw in cases.items():
            times: list[float] = []
            while sum(times) < long / RUNS:
                moved = around(camera, scene, TURN * frames[name])
                began = perf_counter()
                draw(moved)
                times.append(perf_counter() - began)
                frames[name] += 1
            seconds[name].append(statistics.mean(times))
    return seconds


def around(camera: Camera, scene: Scene, angle: float) -> Camera:
    """The camera turned about the scene's middle, radians."""
    middle = scene.bounds().mean(axis=0)
    offset = np.asarray(camera.origin) - middle
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = middle + [c * offset[0] + s * offset[2], offset[1], c * offset[2] - s * offset[0]]
    return Camera((float(x), float(y), float(z)), camera.target, camera.up, camera.fov, name="moving")


def spread(seconds: list[float], of: Callable[[float], float] = lambda each: each) -> str:
    """Median, least and greatest of runs: ``0.12 (0.11 to 0.13)``."""
    values = sorted(of(each) for each in seconds)
    return f"{statistics.median(values):.3g} ({values[0]:.3g} to {values[-1]:.3g})"


def _load() -> float:
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0
