"""Direct light sampling strategies: variance times CPU seconds, scene by scene.

Each case renders pictures of a few seeds. The variance is that between them, of the luminance, over the squared mean of
the picture. It is averaged over the pixels of non-emissive surfaces, without the most variable hundredth: near lamps
single pixels would dominate. Seconds are of all threads of the process, the least of the seeds. Work is their product:
the relative time for equal noise, at any number of samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raystream
import raystream.lighting.environment as lighting
from benchmarks.common import Options, Result, Table, facts, say
from benchmarks.errors import LUMINANCE
from raystream import Camera, Scene
from raystream.formats.image.environment_maps import resolve_environment
from raystream.scene.environment import ImageEnvironment
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance

ABOUT = "variance of direct light times CPU seconds, by power, by resampling, by a light tree, with suns and without"
SIZE, SAMPLES, SEEDS = (96, 72), 16, 4
DEPTHS = (1, 5)  # surface interactions: direct light alone, and with all indirect light
KEPT = 0.99  # of the pixels
FINE = "room, 4k map"
OF_FINE = ("by power", "no suns", "lights alone", "default")  # its tables take seconds; BSDF sampling misses its sun

CASES: dict[str, dict[str, Any]] = {
    "by power": {"light_sampler": "power", "light_candidates": 1},
    "power, 4 candidates": {"light_sampler": "power", "light_candidates": 4},
    "power, 8": {"light_sampler": "power", "light_candidates": 8},
    "tree": {"light_sampler": "tree", "light_candidates": 1},
    "tree, 2 candidates": {"light_sampler": "tree", "light_candidates": 2},
    "tree, 4": {"light_sampler": "tree", "light_candidates": 4},
    "no suns": {"light_sampler": "power", "light_candidates": 1},
    "lights alone": {"light_sampler": "power", "light_candidates": 1, "strategy": "lights"},
    "BSDF alone": {"light_sampler": "power", "light_candidates": 1, "strategy": "bsdf"},
    "default": {},
}


def room(corners: NDArray, shines: float) -> Scene:
    """A floor with blocks under emissive triangles (T, 3, 3)."""

    def mesh(triangles: NDArray, material: int) -> Mesh:
        points = np.asarray(triangles, np.float32).reshape(-1, 3)
        count = len(points) // 3
        return Mesh(points, np.arange(3 * count, dtype=np.int32).reshape(-1, 3), np.full(count, material, np.int32))

    box = np.array([[[0, 1, 3], [0, 3, 2]], [[4, 6, 7], [4, 7, 5]], [[0, 4, 5], [0, 5, 1]], [[2, 3, 7], [2, 7, 6]]])
    box = np.concatenate([box, [[[0, 2, 6], [0, 6, 4]], [[1, 5, 7], [1, 7, 3]]]]).reshape(-1, 3)
    unit = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    rng = np.random.default_rng(4)
    parts = [np.array([[[-2, 0, 2], [2, 0, 2], [2, 0, -2]], [[-2, 0, 2], [2, 0, -2], [-2, 0, -2]]], float)]
    for x, z in rng.uniform(-1.6, 1.6, (7, 2)):
        half = np.array([0.15, rng.uniform(0.05, 0.2), 0.15])
        parts.append((unit * half + [x, half[1], z])[box])
    meshes = [mesh(np.concatenate(parts), 0), *([mesh(corners, 1)] if len(corners) else [])]
    kinds = [Material(base_color=(0.7, 0.7, 0.7, 1.0)), Material(base_color=(0, 0, 0, 1.0), emission=(shines,) * 3)]
    camera = Camera((0, 1.9, 2.3), (0, 0, 0.1), fov=55)
    return Scene(meshes, [Instance(number) for number in range(len(meshes))], kinds, [camera], name="room")


def lamps(number: int) -> NDArray:
    """``number`` triangles of one total area."""
    at = np.random.default_rng(3).uniform((-1.8, 0.6, -1.8), (1.8, 1.0, 1.2), (number, 1, 3))
    return at + 0.2 * np.sqrt(10 / number) * np.array([[-1, 0, -1], [1, 0, -1], [0, 0.5, 1]])


def cut(corners: NDArray, parts: int) -> NDArray:
    """The same triangles, each cut into ``parts`` squared."""
    a, b, c = np.moveaxis(corners, 1, 0)

    def at(i: int, j: int) -> NDArray:
        return np.asarray(a + (b - a) * (i / parts) + (c - a) * (j / parts))

    found = [(at(i, j), at(i + 1, j), at(i, j + 1)) for i in range(parts) for j in range(parts - i)]
    found += [(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)) for i in range(parts) for j in range(parts - i - 1)]
    return np.concatenate([np.stack(each, axis=1) for each in found])


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
    yield "the same in 10,240 triangles", lambda: room(cut(lamps(10), 32), 9.0), none
    yield "10,000 lamps", lambda: room(lamps(10_000), 9.0), none
    yield "40 lamps, sky", lambda: room(lamps(40), 40.0), {"environment": "sky"}
    yield "3 lamps", lambda: room(lamps(10)[:3], 9.0), none
    yield "cornell", lambda: raystream.load("cornell"), {}
    yield "hall", lambda: raystream.load("hall"), {}
    bare = np.zeros((0, 3, 3))
    yield "room, sky", lambda: room(bare, 0.0), {"environment": "sky"}
    yield "room, studio", lambda: room(bare, 0.0), {"environment": "studio"}
    yield "room, 1 sun", lambda: room(bare, 0.0), {"environment": suns(1)}
    yield "room, 6 suns", lambda: room(bare, 0.0), {"environment": suns(6)}
    yield FINE, lambda: room(bare, 0.0), {"environment": suns(1, 4096)}


def run(options: Options) -> Result:
    """Measure all of it."""
    device = options.open()
    data: dict[str, Any] = {"facts": facts(device), "missing": []}
    data |= {"size": SIZE, "samples": SAMPLES, "seeds": SEEDS, "scenes": {}}
    size = (32, 24) if options.quick else SIZE
    for name, load, chosen in _scenes(options.quick):
        say(name)
        scene, found = load(), {}
        # Under an environment alone, light sampling does not matter for longer paths.
        for depth in DEPTHS[: 1 if options.quick or "room" in name or name == "hall" else None]:
            cases = {}
            for case in ("by power", "tree, 4", "default") if options.quick else CASES:
                if name == FINE and case not in OF_FINE:
                    continue
                with _without_suns(case == "no suns"):
                    if case == "no suns" and not any(word in name for word in ("sun", "sky", "map")):
                        continue
                    made = _measured(scene, device, size, depth, {**chosen, **CASES[case]}, case)
                if made is not None:
                    cases[case] = made
                    say(f"  {case}, depth {depth}: {made['variance']:.3g} x {made['seconds']:.3g} s")
            found[str(depth)] = cases
        data["scenes"][name] = found
    return Result(data, [_table(data, depth) for depth in DEPTHS if _has(data, depth)])


@contextmanager
def _without_suns(wanted: bool) -> Iterator[None]:
    """Environments are without suns in this block."""
    found = lighting.suns_of
    if wanted:
        lighting.suns_of = lambda image: []
    try:
        yield
    finally:
        lighting.suns_of = found


def _measured(
    scene: Scene, device: Any, size: tuple[int, int], depth: int, chosen: dict[str, Any], case: str
) -> dict[str, float] | None:
    """Variance, seconds and mean; None where a tree would have no light."""
    if case == "no suns":
        given = chosen["environment"]
        image = resolve_environment(given)[0] if isinstance(given, str) else given
        assert isinstance(image, ImageEnvironment)
        # Read-only pixels would keep their cached tables with suns.
        chosen = {**chosen, "environment": ImageEnvironment(image.pixels.copy())}
    renderer = raystream.Renderer(scene, device=device, machine="singlepass", depth=0, **chosen)
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
        pictures.append(picture.linear.astype(np.float64) @ LUMINANCE)
    renderer.release()
    several = np.array(pictures)[:, dark]
    mean = float(several.mean())
    varied = np.sort(several.var(axis=0, ddof=1))
    variance = float(varied[: max(1, int(KEPT * len(varied)))].mean()) / mean**2
    return {"variance": variance, "seconds": min(seconds), "mean": mean, "work": variance * min(seconds)}


def _has(data: dict[str, Any], depth: int) -> bool:
    return any(str(depth) in found for found in data["scenes"].values())


def _table(data: dict[str, Any], depth: int) -> Table:
    """Work of each case over that of sampling by power."""
    measured = {scene: found[str(depth)] for scene, found in data["scenes"].items() if str(depth) in found}
    names = [case for case in CASES if any(case in cases for cases in measured.values())]
    rows = []
    for scene, cases in measured.items():
        whole = cases["by power"]["work"]
        rows.append((scene, *(cases[name]["work"] / whole if name in cases else None for name in names)))
    what = "direct light alone" if depth == 1 else f"paths of {depth} surface interactions"
    note = (
        "Variance times CPU seconds over those of one light by power: less is better. "
        f"{data['samples']} Sobol samples, {data['size'][0]} x {data['size'][1]} pixels, {data['seeds']} seeds. -: "
        "nothing to choose so. Between runs on a busy machine seconds vary by a quarter."
    )
    return Table(f"Work for the same noise: {what}", ("scene", *names), rows, note)
