"""Pictures of the doctor: bits of small ones among machines, fusions, masks and memories; compile times; speed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.formats.named import load
from raystream.renderer.renderer import Renderer
from raystream.stream.gl.device import Device, shared_device
from raystream.stream.selftest.check import DIFFERS, FAIL, PASS, Finding

SCENE, SIZE, SAMPLES = "cornell", (24, 20), 2
MASKS = ("depth", "stencil", "kill", "tiles", "none")
# By program: the ways whose bits are held to those of the single pass.
WAYS: dict[str, dict[str, dict[str, Any]]] = {
    "cast": {
        "fuse ray": {"fuse": "ray"},
        "fuse surface": {"fuse": "surface"},
        **{f"mask {mask}": {"fuse": "none", "mask": mask} for mask in MASKS},
        "census": {"fuse": "none", "count": "census"},
        "no barrier": {"fuse": "none", "barrier": "off"},
        "memory texture": {"machine": "singlepass", "memory": "texture"},
    },
    "path": {
        "fuse none": {"fuse": "none"},
        "fuse ray": {"fuse": "ray"},
        "fuse surface": {"fuse": "surface"},
        "memory texture": {"fuse": "surface", "memory": "texture"},
    },
    "photon": {"fuse surface": {"fuse": "surface"}},
}
OPTIONS: dict[str, dict[str, Any]] = {"photon": {"photons": 4000}}
LAYERS = ("triangle", "depth")
NEAR = 1e-4  # relative difference of a pixel, within which its bits alone differ
FEW = 0.02  # share of pixels whose paths may have gone another way, by rounding
MEAN, MEAN_SAMPLES, MEAN_WITHIN = 0.1009, 16, 0.1  # of the path traced picture, and how near it must be

# What is compiled: a name, and the settings.
COMPILED: dict[str, dict[str, Any]] = {
    "cast, singlepass": {"program": "cast", "machine": "singlepass"},
    "cast, fuse none": {"program": "cast", "fuse": "none"},
    "path, singlepass": {"program": "path", "machine": "singlepass"},
    "path, fuse surface": {"program": "path", "fuse": "surface"},
    "path, fuse none": {"program": "path", "fuse": "none"},
    "whitted, fuse surface": {"program": "whitted"},
    "photon, fuse surface": {"program": "photon"},
}
# Boxes, patches, a hall of columns, glass, a textured level.
SCENES = ("cornell", "teapotahedron", "stadium", "glass_ball", "palace")
EDGES = (32, 64, 128, 256, 512)  # of square pictures: the first that takes `LONG` seconds, measured for `MEASURED`
LONG, MEASURED = 0.1, 0.4


class UnderTest:
    """The device that is examined, by its number, and the pictures that others are held to."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self._reference: dict[str, dict[str, NDArray]] = {}

    @cached_property
    def device(self) -> Device:
        """Opened when it is first needed. Raises DeviceError."""
        return shared_device(self.index)

    def picture(self, program: str, **settings: Any) -> dict[str, NDArray]:
        """A program's picture of the small scene."""
        options = {**OPTIONS.get(program, {}), **settings}
        renderer = Renderer(load(SCENE), program=program, device=self.index, **options)
        rendered = renderer.render(SIZE, spp=SAMPLES, layers=LAYERS if program == "cast" else ())
        renderer.release()
        return {"linear": rendered.linear, **rendered.layers}

    def reference(self, program: str) -> dict[str, NDArray]:
        """That of the single pass."""
        if program not in self._reference:
            self._reference[program] = self.picture(program, machine="singlepass")
        return self._reference[program]


def same_bits(subject: UnderTest, program: str, way: str) -> Finding:
    """The picture in some way beside that of the single pass."""
    reference, picture = subject.reference(program), subject.picture(program, **WAYS[program][way])
    return compared(reference, picture)


def compared(reference: dict[str, NDArray], picture: dict[str, NDArray]) -> Finding:
    """Two pictures with their layers, (H, W) or (H, W, channels) each."""
    if all(reference[name].tobytes() == picture[name].tobytes() for name in reference):
        return Finding(PASS)
    one, other = (layers["linear"].astype(np.float64) for layers in (reference, picture))
    if not np.isfinite(other).all():
        return Finding(FAIL, f"{int((~np.isfinite(other)).any(axis=-1).sum())} pixels are not finite")
    apart = np.abs(one - other).max(axis=-1)
    bits = (reference["linear"] != picture["linear"]).any(axis=-1)
    fraction = float((apart > NEAR * (1.0 + np.abs(one).max(axis=-1))).mean())
    figures = {"pixels": int(bits.sum()), "largest": float(apart.max()), "share_apart": fraction}
    text = f"{int(bits.sum())} of {bits.size} pixels, by up to {apart.max():.2g}"
    return Finding(DIFFERS if fraction <= FEW else FAIL, text, figures)


def mean_picture(subject: UnderTest) -> Finding:
    """The mean of a path traced picture, as every driver should have it."""
    renderer = Renderer(load(SCENE), program="path", machine="singlepass", device=subject.index)
    mean = float(renderer.render(SIZE, spp=MEAN_SAMPLES).linear.mean(dtype=np.float64))
    renderer.release()
    off = abs(mean / MEAN - 1.0)
    good = np.isfinite(mean) and off <= MEAN_WITHIN
    text = f"{mean:.4g}, not {MEAN:.4g}" if not good else ""
    return Finding(PASS if good else FAIL, text, {"mean": mean})


def compile_seconds(subject: UnderTest, name: str) -> dict[str, float]:
    """Seconds to compile the programs of a picture of the small scene, the driver's part of every pass included."""
    renderer = Renderer(load(SCENE), device=subject.index, **COMPILED[name])
    with renderer.device.current():
        renderer.device.wait()
    start_time, before = perf_counter(), renderer.device.compiled
    for _ in renderer.sampler.warm(renderer.settings, renderer.camera, (64, 64)):
        pass
    with renderer.device.current():
        renderer.device.wait()
    data = {"compile_seconds": perf_counter() - start_time, "programs": renderer.device.compiled - before}
    renderer.release()
    return data


def speed(subject: UnderTest, name: str) -> dict[str, Any]:
    """Primary rays and path samples a second of a scene, in millions."""
    scene = load(name)
    renderer = Renderer(scene, program="cast", device=subject.index)
    cast, edge = _rate(lambda edge: renderer.render((edge, edge)))
    renderer.update(program="path")
    path, path_edge = _rate(lambda edge: renderer.render((edge, edge), spp=1))
    renderer.release()
    return {
        "triangles": scene.triangle_count,
        "cast_mrays": cast / 1e6,
        "cast_size": edge,
        "path_msamples": path / 1e6,
        "path_size": path_edge,
    }


def _rate(render: Callable[[int], object]) -> tuple[float, int]:
    """Pixels a second, and the edge of the picture that it was measured by."""
    for edge in EDGES:
        render(edge)  # other sizes have other streams
        start_time = perf_counter()
        render(edge)
        if perf_counter() - start_time > LONG:
            break
    times: list[float] = []
    start_time = perf_counter()
    while not times or perf_counter() - start_time < MEASURED:
        before = perf_counter()
        render(edge)
        times.append(perf_counter() - before)
    return edge * edge / float(np.median(times)), edge
