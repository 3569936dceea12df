"""The tracer in one file, beside the whole one: the same hits, by its own grid, kernels and masks."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raystream import Renderer, Scene, load

FILE = Path(__file__).resolve().parents[1] / "tools" / "examples" / "one_file.py"
SIDE = 64
CAMERA = {  # before and above what is at the origin, an object of the size 1
    "eye": np.array([0.5, 0.5, 1.2]),
    "right": np.array([0.46, 0.0, -0.19]),
    "up": np.array([-0.07, 0.47, -0.17]),
    "forward": np.array([-0.36, -0.36, -0.86]),
}


@pytest.fixture(scope="module")
def one_file() -> dict[str, Any]:
    return runpy.run_path(str(FILE))


@pytest.fixture(scope="module")
def bunny(shared_scenes: Path) -> NDArray[np.float32]:
    """(N, 3, 3) its triangles, around the origin, of the size 1."""
    mesh = load(shared_scenes / "bunny.ply").meshes[0]
    corners = np.asarray(mesh.positions, np.float64)[mesh.triangles]
    low, high = corners.min((0, 1)), corners.max((0, 1))
    return np.float32((corners - (low + high) / 2) / (high - low).max())


def test_it_is_short_and_stands_alone() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    imports = {line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imports == {"sys", "pathlib", "struct", "zlib", "moderngl", "numpy"}


def test_its_hits_are_those_of_the_renderer(one_file: dict[str, Any], bunny: NDArray[np.float32], device: Any) -> None:
    picture = one_file["trace"](bunny, CAMERA, np.ones(3), (SIDE, SIDE), shadows=False)
    at = (np.arange(SIDE) + 0.5) / SIDE * 2 - 1
    x, y = np.meshgrid(at, at)
    directions = CAMERA["forward"] + x[..., None] * CAMERA["right"] + y[..., None] * CAMERA["up"]
    directions = (directions / np.linalg.norm(directions, axis=-1, keepdims=True)).reshape(-1, 3)
    scene = Scene.from_triangles(bunny.reshape(-1, 3), np.arange(3 * len(bunny)).reshape(-1, 3))
    renderer = Renderer(scene, device=device)
    hits = renderer.trace(np.broadcast_to(CAMERA["eye"], directions.shape), directions)
    triangles, distances = picture["triangle"].ravel(), picture["distance"].ravel()
    # Of two triangles that share the edge that a ray goes through either is right.
    same = triangles == hits.triangle
    assert (hits.triangle >= 0).mean() > 0.2 and same.mean() > 0.998
    hit = (hits.triangle >= 0) & (triangles >= 0)
    assert ((hits.triangle >= 0) == (triangles >= 0)).all()
    # float32, at a distance of about 1 from the origin
    assert np.abs(distances[hit] - hits.distance[hit]).max() < 2e-6


def test_what_hides_the_light_leaves_a_quarter_of_the_colour(one_file: dict[str, Any]) -> None:
    floor = [[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [0.0, 5.0, 0.0]]
    above = [[-0.41, -0.41, 0.5], [0.41, -0.41, 0.5], [-0.41, 0.41, 0.5]]
    camera = {"eye": [0.0, 0.0, 2.0], "right": [1.0, 0.0, 0.0], "up": [0.0, 1.0, 0.0], "forward": [0.0, 0.0, -1.0]}
    light = np.array([1.5, 0.7, 2.0])
    lit, dark = (
        one_file["trace"](np.float32([floor, above]), camera, light, (SIDE, SIDE), shadows=shadows)
        for shadows in (False, True)
    )
    x, y = np.meshgrid(*2 * [(np.arange(SIDE) + 0.5) / SIDE * 4 - 2])
    at = [0.75 * place + 0.25 * from_light for place, from_light in zip((x, y), light, strict=False)]
    hidden = (lit["triangle"] == 0) & (at[0] > -0.41) & (at[1] > -0.41) & (at[0] + at[1] < 0.0)
    assert hidden.sum() > 100 and (lit["triangle"] == 1).sum() > 100
    assert np.array_equal(dark["colour"], lit["colour"] * np.where(hidden, 0.25, 1.0)[..., None].astype(np.float32))
