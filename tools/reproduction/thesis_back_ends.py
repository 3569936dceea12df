"""The back ends of the thesis by its protocol (T 7): a scene's frames, zoomed to about as many intersections, while the
camera goes around it.

CPU is the recursion, compiled, on one thread; emulation the OpenCL algorithm serially, kernels in NumPy with compiled
intersection; OpenCL the four kernels on the first device of OpenCL; multipass and singlepass are fragment programs in
many passes and in one. All read one structure, the thesis's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raystream
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from reproduction.simulators.whitted.back_ends import Emulation, NoOpenClError, OpenCl, Processor, device, named
from reproduction.simulators.whitted.model import SETTINGS, Traced

from .context import Context
from .timed import Case, Releasing

SKY = (0.55, 0.70, 0.95)
DEPTH = 4
FRAME = "a frame"
TURN = math.radians(2.0)  # of the camera about the scene, a frame
SAME = 0.02  # of a channel: pictures of back ends are the same where they differ by less
# A share of the pixels may differ after `DEPTH` levels, as roundings grow from level to level: measured (section
# thesis_rounding) none without further levels, and at most 0.36 %, 66 of 18,496; 92 are three standard deviations more.
SHARE = 0.005
OURS = ("CPU", "emulation", "OpenCL", "singlepass", "multipass")
HOSTED: dict[str, type[Processor | Emulation | OpenCl]] = dict(zip(OURS, (Processor, Emulation, OpenCl), strict=False))
Draw = Callable[[Camera, tuple[int, int]], NDArray[np.float32]]


def prepared(scene: Scene) -> Scene:
    """Without mip levels, which only the machines have."""
    return replace(scene, textures=[replace(each, minification="linear") for each in scene.textures])


@contextmanager
def back_ends(context: Context, scene: Scene, depth: int = DEPTH) -> Iterator[dict[str, Draw]]:
    """What draws the scene by each back end, seen by a camera in a size; without OpenCL those that are left."""
    traced = Traced.of(scene, SKY, depth)
    draws: dict[str, Draw] = {}
    for name, make in HOSTED.items():
        with suppress(NoOpenClError):
            draws[name] = partial(pixels, make(traced))
    with Releasing() as held:
        for machine in OURS[3:]:
            draws[machine] = partial(
                drawn, held.own(fragments(context, scene, machine=machine, depth=depth, **SETTINGS))
            )
        yield draws


def pixels(end: Processor | Emulation | OpenCl, camera: Camera, size: tuple[int, int]) -> NDArray[np.float32]:
    """A frame seen by a camera."""
    return end.render(camera, size).pixels


def compared(context: Context, scene: Scene, camera: Camera, most: int) -> dict[str, Any]:
    """A scene zoomed until a frame has about ``most`` intersections.

    rays, by level, and size of the frame; differs: the share of pixels in which a back end's picture is another than
    that of the CPU; opencl: its device; absent: why there is none.
    """
    emulation, edge = Emulation(Traced.of(scene, SKY, DEPTH)), 32
    for _ in range(3):
        edge = max(8, round(edge * math.sqrt(most / emulation.render(camera, (edge, edge)).intersections)))
    size = (edge, edge)
    found: dict[str, Any] = {"opencl": "", "absent": ""}
    try:
        found["opencl"] = named(device())
    except NoOpenClError as error:
        found["absent"] = str(error)
    with back_ends(context, scene) as draws:
        pictures = {name: draw(camera, size) for name, draw in draws.items()}
    differs = {
        name: float((np.abs(picture - pictures["CPU"]).max(axis=2) > SAME).mean()) for name, picture in pictures.items()
    }
    return {**found, "rays": emulation.render(camera, size).rays, "size": edge, "differs": differs}


def fragments(context: Context, scene: Scene, **settings: Any) -> raystream.Renderer:
    """The tracer as fragment programs, one ray through the middle of a pixel."""
    own = {"program": "whitted", "depth": DEPTH, "environment": ",".join(map(str, SKY)), "pixel_filter": "point"}
    return raystream.Renderer(scene, device=context.device, **{**own, **settings})


def drawn(renderer: raystream.Renderer, camera: Camera, size: tuple[int, int]) -> NDArray[np.float32]:
    """A frame seen by a camera."""
    renderer.update(camera=camera)
    return np.array(renderer.render(size, spp=1).linear)


def going_around(
    draws: Mapping[str, Draw], scene: Scene, camera: Camera, size: tuple[int, int], long: float
) -> dict[str, Case]:
    """Cases that draw for ``long`` seconds, the camera going on from frame to frame: `FRAME` is the mean of a frame.
    Each has drawn one before, which does not count."""
    numbers = {name: count() for name in draws}

    def case(name: str) -> dict[str, float]:
        began, drawn_frames = perf_counter(), 0
        while not drawn_frames or perf_counter() - began < long:
            draws[name](around(camera, scene, TURN * next(numbers[name])), size)
            drawn_frames += 1
        return {FRAME: (perf_counter() - began) / drawn_frames}

    for draw in draws.values():
        draw(camera, size)
    return {name: partial(case, name) for name in draws}


def around(camera: Camera, scene: Scene, angle: float) -> Camera:
    """The camera turned about the scene's middle, radians."""
    middle = scene.bounds().mean(axis=0)
    offset = np.asarray(camera.origin) - middle
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = middle + [c * offset[0] + s * offset[2], offset[1], c * offset[2] - s * offset[0]]
    return Camera((float(x), float(y), float(z)), camera.target, camera.up, camera.fov, name="moving")
