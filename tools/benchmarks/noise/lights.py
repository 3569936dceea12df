"""Direct light sampling strategies: variance times CPU seconds, scene by scene.

Each case renders pictures of a few seeds. The variance is that between them, of the luminance, over the squared mean of
the picture. It is averaged over the pixels of non-emissive surfaces, without the most variable hundredth: near lamps
single pixels would dominate. Seconds are of all threads of the process, the least of the seeds. Work is their product:
the relative time for equal noise, at any number of samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import raystream
import raystream.lighting.environment as lighting
from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.errors import LUMINANCE
from raystream import Camera, Scene
from raystream.formats.image.environment_maps import resolve_environment
from raystream.scene.builtin.parts.shapes import Builder, boxes, quads
from raystream.scene.environment import ImageEnvironment
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance

ABOUT = "variance of direct light times CPU seconds, by power, by resampling, by a light tree, with suns and without"
SIZE, SAMPLES, SEEDS = (96, 72), 16, 4
DEPTHS = (1, 5)  # surface interactions: direct light alone, and with all indirect light
KEPT = 0.99  # of the pixels

POWER: dict[str, Any] = {"light_sampler": "power", "light_candidates": 1}
CASES: dict[str, dict[str, Any]] = {
    "by power": POWER,
    "power, 4 candidates": {**POWER, "light_candidates": 4},
    "power, 8": {**POWER, "light_candidates": 8},
    "tree": {"light_sampler": "tree", "light_candidates": 1},
    "tree, 2 candidates": {"light_sampler": "tree", "light_candidates": 2},
    "tree, 4": {"light_sampler": "tree", "light_candidates": 4},
    "no suns": POWER,
    "lights alone": {**POWER, "strategy": "lights"},
    "BSDF alone": {**POWER, "strategy": "bsdf"},
    "default": {},
}
QUICK = ("by power", "tree, 4", "default")


def room(corners: NDArray | None = None, radiance: float = 0.0) -> Scene:
    """A floor with blocks, perhaps under emissive triangles (T, 3, 3)."""
    rng = np.random.default_rng(4)
    feet = np.insert(rng.uniform(-1.6, 1.6, (7, 2)), 1, 0.0, axis=1)
    heights = np.stack([np.full(7, 0.15), rng.uniform(0.1, 0.4, 7), np.full(7, 0.15)], axis=1)
    builder = Builder()
    builder.add(quads([[(-2, 0, 2), (2, 0, 2), (2, 0, -2), (-2, 0, -2)]]), (1.0, 1.0, 1.0), 0)
    builder.add(boxes(feet - [0.15, 0, 0.15], feet + heights), (1.0, 1.0, 1.0), 0)
    meshes = [builder.mesh("room")]
    if corners is not None:
        points, count = np.asarray(corners, np.float32).reshape(-1, 3), len(corners)
        lamp = np.full(count, 1, np.int32)
        meshes.append(Mesh(points, np.arange(3 * count, dtype=np.int32).reshape(-1, 3), lamp))
    kinds = [Material(base_color=(0.7, 0.7, 0.7, 1.0)), Material(base_color=(0, 0, 0, 1.0), emission=(radiance,) * 3)]
    camera = Camera((0, 1.9, 2.3), (0, 0, 0.1), fov=55)
    return Scene(meshes, [Instance(number) for number in range(len(meshes))], kinds, [camera], name="room")


def lamps(number: int) -> NDArray:
    """``number`` triangles of one total area."""
    at = np.random.default_rng(3).uniform((-1.8, 0.6, -1.8), (1.8, 1.0, 1.2), (number, 1, 3))
    return at + 0.2 * np.sqrt(10 / number) * np.array([[-1, 0, -1], [1, 0, -1], [0, 0.5, 1]])


def cut(corners: NDArray, halvings: int) -> NDArray:
    """The same triangles, each cut into four, so many times."""
    for _ in range(halvings):
        a, b, c = np.moveaxis(corners, 1, 0)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        corners = np.concatenate([np.stack(part, axis=1) for part in parts])
    return corners


def suns(number: int, width: int = 512) -> ImageEnvironment:
    """A dim map with ``number`` suns of two texels at different heights."""
    rng = np.random.default_rng(number)
    pixels = np.full((width // 2, width, 3), (0.2, 0.25, 0.3), np.float32)
    for column, row in zip(np.linspace(0.1, 0.9, number), rng.uniform(0.12, 0.4, number), strict=True):
        x, y = int(column * width), int(row * width // 2)
        pixels[y : y + 2, x : x + 2] = rng.uniform(0.5, 1.0, 3) * 0.5 * width**2 / number
    return ImageEnvironment(pixels, name=f"{number} suns")


def _scenes(quick: bool) -> Iterator[tuple[str, Callable[[], Scene], dict[str, Any]]]:
    none = {"environment": "none"}
    yield "10 lamps", lambda: room(lamps(10), 9.0), none
    if quick:
        return
    yield "the same in 10,240 triangles", lambda: room(cut(lamps(10), 5), 9.0), none
    yield "10,000 lamps", lambda: room(lamps(10_000), 9.0), none
    yield "40 lamps, sky", lambda: room(lamps(40), 40.0), {"environment": "sky"}
    yield "3 lamps", lambda: room(lamps(10)[:3], 9.0), none
    yield "cornell", lambda: raystream.load("cornell"), {}
    yield "hall", lambda: raystream.load("hall"), {}
    yield "room, sky", room, {"environment": "sky"}
    yield "room, studio", room, {"environment": "studio"}
    yield "room, 1 sun", room, {"environment": suns(1)}
    yield "room, 6 suns", room, {"environment": suns(6)}


def run(options: Options) -> Result:
    """Measure all of it."""
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "missing": []}
    data |= {"size": (32, 24) if options.quick else SIZE, "samples": SAMPLES, "seeds": SEEDS, "scenes": {}}
    for name, load, environment in _scenes(options.quick):
        say(name)
        scene, of_scene = load(), data["scenes"].setdefault(name, {})
        chosen = QUICK if options.quick else tuple(CASES)
        if not any(word in name for word in ("sun", "sky")):
            chosen = tuple(case for case in chosen if case != "no suns")
        # Under an environment alone, light sampling does not matter for longer paths.
        for depth in DEPTHS[: 1 if options.quick or "room" in name or name == "hall" else None]:
            cases = of_scene[str(depth)] = {}
            for case in chosen:
                without: Any = mock.patch.object(lighting, "suns_of", lambda image: [])  # in environments
                with without if case == "no suns" else nullcontext():
                    values = _measured(scene, device, data["size"], depth, {**environment, **CASES[case]}, case)
                if values is not None:
                    cases[case] = values
                    say(f"  {case}, depth {depth}: {values['variance']:.3g} x {values['seconds']:.3g} s")
    return Result(data, [_table(data, depth) for depth in DEPTHS[: 1 if options.quick else None]])


def _measured(
    scene: Scene, device: Any, size: tuple[int, int], depth: int, settings: dict[str, Any], case: str
) -> dict[str, float] | None:
    """Variance, seconds and mean; None where a tree would have no light."""
    if case == "no suns":
        environment = settings["environment"]
        image = resolve_environment(environment)[0] if isinstance(environment, str) else environment
        assert isinstance(image, ImageEnvironment)
        # Read-only pixels would keep their cached tables with suns.
        settings = {**settings, "environment": ImageEnvironment(image.pixels.copy())}
    renderer = raystream.Renderer(scene, device=device, machine="singlepass", depth=0, **settings)
    if case.startswith("tree") and not renderer.prepared.light_tree(renderer.settings):
        renderer.release()
        return None
    dark = renderer.render(size, spp=4).linear @ LUMINANCE <= 0
    renderer.update(depth=depth)
    renderer.render(size, spp=1)  # compiles
    pictures, seconds = [], []
    for seed in range(SEEDS):
        renderer.update(seed=seed)
        began = time.process_time()
        picture = renderer.render(size, spp=SAMPLES)
        seconds.append(time.process_time() - began)
        pictures.append((picture.linear.astype(np.float64) @ LUMINANCE)[dark])
    renderer.release()
    mean, varied = float(np.mean(pictures)), np.sort(np.var(pictures, axis=0, ddof=1))
    variance = float(varied[: max(1, int(KEPT * len(varied)))].mean()) / mean**2
    return {"variance": variance, "seconds": min(seconds), "mean": mean, "work": variance * min(seconds)}


def _table(data: dict[str, Any], depth: int) -> Table:
    """Work of each case over that of sampling by power."""
    measured = {scene: cases[str(depth)] for scene, cases in data["scenes"].items() if str(depth) in cases}
    names = [case for case in CASES if any(case in cases for cases in measured.values())]
    rows = []
    for scene, cases in measured.items():
        whole = cases["by power"]["work"]
        rows.append((scene, *(cases[name]["work"] / whole if name in cases else None for name in names)))
    of_paths = "direct light alone" if depth == 1 else f"paths of {depth} surface interactions"
    note = (
        "Variance times CPU seconds over those of one light by power: less is better. "
        f"{data['samples']} Sobol samples, {data['size'][0]} x {data['size'][1]} pixels, {data['seeds']} seeds. -: "
        "nothing to choose so. Between runs on a busy machine seconds vary by a quarter."
    )
    return Table(f"Work for the same noise: {of_paths}", ("scene", *names), rows, note)
