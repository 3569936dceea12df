"""Eight scenes for judging noise, their converged pictures, and distances from them.

A converged picture has many samples under a seed of its own; it is cached with the user's other caches, and rendered
again when its file is deleted. The distance is FLIP (P. Andersson et al., "FLIP: A Difference Evaluator for Alternating
Images", 2020) of both displayed pictures, with one tone map and the converged one's automatic exposure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import say
from benchmarks.scenes import Absent, _cache, required, shared
from raystream import load
from raystream.film.files.compare import Blemishes, blemishes, flip, relative_error
from raystream.film.tonemap import srgb8, stops
from raystream.options.table import OPTIONS
from raystream.renderer.renderer import Renderer
from raystream.scene.builtin.parts.shapes import Builder, boxes, quads
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene

SEED = 1000  # of converged pictures; judged ones have small seeds
LONGEST = 300.0  # seconds of one
LAMPS = 1024  # of the many-light scene


def many_lights() -> Scene:
    """A room of pillars under `LAMPS` small lamps of all colours, two triangles each; each lights a spot."""
    rng = np.random.default_rng(10)
    builder = Builder()
    room = [[(-8, 0, -8), (-8, 0, 8), (8, 0, 8), (8, 0, -8)], [(-8, 0, -8), (8, 0, -8), (8, 5, -8), (-8, 5, -8)]]
    room += [[(-8, 0, 8), (-8, 0, -8), (-8, 5, -8), (-8, 5, 8)], [(8, 0, -8), (8, 0, 8), (8, 5, 8), (8, 5, -8)]]
    builder.add(quads(room), (0.7, 0.7, 0.7), 0)
    feet = np.stack([rng.uniform(-6.5, 6.5, 24), np.zeros(24), rng.uniform(-7, 3, 24)], axis=-1)
    tops = feet + [0.25, 1, 0.25] * rng.uniform(0.6, 3.0, (24, 1))
    builder.add(boxes(feet - [0.25, 0, 0.25], tops), (0.6, 0.55, 0.5), 0)
    at = np.stack([rng.uniform(-7.5, 7.5, LAMPS), rng.uniform(0.3, 4.5, LAMPS), rng.uniform(-7.8, 4, LAMPS)], axis=-1)
    square = 0.02 * np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]])  # facing down
    kind = rng.integers(0, 6, LAMPS)
    for number in range(6):
        builder.add(quads(at[kind == number][:, None] + square), (1.0, 1.0, 1.0), 1 + number)
    hues = ((1, 0.25, 0.1), (1, 0.6, 0.2), (0.9, 0.9, 0.4), (0.2, 0.9, 0.4), (0.2, 0.5, 1), (0.8, 0.3, 1))
    emissions = [(60.0 * r, 60.0 * g, 60.0 * b) for r, g, b in hues]
    lamps = [Material(f"lamp {n}", (0, 0, 0, 1), emission=emission) for n, emission in enumerate(emissions)]
    camera = Camera((0.0, 2.2, 7.6), (0.0, 1.6, -2.0), fov=60, name="front")
    return Scene([builder.mesh("room")], [Instance(0)], [Material("walls"), *lamps], [camera], name="many_lights")


@dataclass(frozen=True)
class Subject:
    """A scene with its view. source : a file, a built-in scene's name, or a scene. camera : of the scene's own, by
    name; None: the first."""

    name: str
    source: Callable[[], str | Scene]
    camera: str | None = None

    @cached_property
    def scene(self) -> Scene:
        """Raises Absent for a scene missing on this machine."""
        source = self.source()
        return load(source) if isinstance(source, str) else source

    def renderer(self, device: Any = None, **options: Any) -> Renderer:
        """By the default settings, path traced."""
        given = {"program": "path", "machine": "singlepass", "denoise": "none", **options}
        return Renderer(self.scene, device=device, camera=self.camera, **given)


def shared_file(*parts: str) -> Callable[[], str]:
    return lambda: str(required(shared().joinpath("scenes", *parts)))


def built_in(name: str) -> Callable[[], str]:
    return lambda: name


SUBJECTS = (
    Subject("cornell", built_in("cornell")),
    Subject("hall", built_in("hall")),
    Subject("DamagedHelmet", shared_file("models", "DamagedHelmet.glb")),
    Subject("dragon_glass", shared_file("models", "dragon_glass.glb")),
    Subject("forest", built_in("forest"), "inside"),
    Subject("many_lights", many_lights),
    Subject("ring", built_in("ring")),
    Subject("bunny", shared_file("bunny.ply")),
)


def present(names: tuple[str, ...] = (), subjects: tuple[Subject, ...] = SUBJECTS) -> tuple[list[Subject], list[str]]:
    """Of some subjects those of the names (none: all) on this machine, and a remark on each missing one."""
    there, missing = [], []
    for subject in subjects:
        if names and subject.name not in names:
            continue
        try:
            assert subject.scene
            there.append(subject)
        except Absent as error:
            missing.append(f"{subject.name}: {error}")
    return there, missing


@dataclass(frozen=True)
class Converged:
    """A converged picture. linear : (H, W, 3) linear sRGB. samples : of each pixel. error : estimated, relative."""

    linear: NDArray[np.float32]
    samples: int
    error: float

    @cached_property
    def exposure(self) -> float:
        """In stops."""
        return stops("auto", self.linear)

    def shown(self, linear: NDArray) -> NDArray[np.float32]:
        """(H, W, 3) of 0 to 1: a picture displayed with this one's exposure."""
        return srgb8(linear, self.exposure, OPTIONS["tonemap"].value.default).astype(np.float32) / np.float32(255)

    def flip(self, linear: NDArray) -> float:
        """The mean FLIP of a picture of the same size."""
        return flip(self.shown(self.linear), self.shown(linear))

    def blemishes(self, linear: NDArray) -> Blemishes:
        """Specks and holes of a picture of the same size."""
        return blemishes(self.shown(linear), self.shown(self.linear))

    def figures(self, linear: NDArray) -> tuple[float, float, float]:
        """FLIP, specks and holes."""
        spots = self.blemishes(linear)
        return self.flip(linear), spots.specks, spots.holes

    def relative(self, linear: NDArray) -> float:
        """The root of the mean square of (picture - this) / max(this, a tenth of this one's mean), in luminance."""
        return relative_error(self.linear, linear)


def converged(
    subject: Subject, size: tuple[int, int], samples: int, device: Any = None, denoise: str = "none"
) -> Converged:
    """A subject's converged picture at default settings, cached."""
    cleaned = "" if denoise == "none" else f"_{denoise}"
    path = _cache() / "converged" / f"{subject.name}_{size[0]}x{size[1]}_{samples}{cleaned}.npz"
    if not path.is_file():
        say(f"{subject.name}: the converged picture, {size[0]} x {size[1]}, {samples} samples")
        renderer = subject.renderer(device, seed=SEED, denoise=denoise)
        picture = renderer.render(size, samples, time=LONGEST)
        renderer.release()
        assert picture.film is not None
        count, error = int(picture.film.count.min()), picture.film.error()
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(f"{path}.part.npz")
        np.savez_compressed(beside, linear=picture.linear, samples=count, error=error)
        beside.replace(path)
    with np.load(path) as held:
        return Converged(held["linear"], int(held["samples"]), float(held["error"]))
