"""Options by which a renderer shows its scene on a plane, or in classic glass, whatever else changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from raystream import Renderer
from raystream.options.declare import Affects
from raystream.scene.builtin.parts.shapes import boxes
from raystream.scene.scene import Scene

OPTIONS: dict[str, Any] = {"program": "cast", "machine": "singlepass"}
DOWN = [[0.0, -1.0, 0.0]]


def model() -> Scene:
    """A box of height 2 around the origin."""
    cube = boxes((-1, -1, -1), (1, 1, 1))
    return Scene.from_triangles(cube.positions, cube.triangles)


def seen(renderer: Renderer, x: float) -> float:
    """The height of the surface below (x, 10, 0)."""
    return 10.0 - float(renderer.trace([[x, 10.0, 0.0]], DOWN).distance[0])


@pytest.mark.parametrize("accel", ["bvh", "grid", "two-level-bvh", "two-level-grid"])
def test_rays_find_it(device, accel: str) -> None:
    scene = model()
    low, high = scene.bounds()[:, 1]
    renderer = Renderer(scene, ground=(4, 4), accel=accel, **OPTIONS)
    edge = 2 * (high - low)
    assert seen(renderer, 0.95 * edge) == pytest.approx(low, rel=1e-6)  # float32
    assert seen(renderer, 1.05 * edge) == -np.inf
    assert renderer.camera == scene.camera()


def test_it_comes_and_goes_and_stays_where_it_is(device) -> None:
    scene = model()
    low = float(scene.bounds()[0, 1])
    renderer = Renderer(scene, accel="two-level-bvh", **OPTIONS)
    assert seen(renderer, 3.0) == -np.inf
    assert renderer.update(ground="8x8") == Affects.SCENE
    assert seen(renderer, 3.0) == pytest.approx(low, rel=1e-6)
    renderer.move({0: np.diag([1.0, 3.0, 1.0, 1.0])})  # the model moves, its ground does not
    assert renderer.settings.ground == (8.0, 8.0) and len(renderer.scene.instances) == 2
    assert seen(renderer, 3.0) == pytest.approx(low, rel=1e-6)
    renderer.update(ground=None)
    assert seen(renderer, 3.0) == -np.inf and len(renderer.scene.instances) == 1
    renderer.update(ground=(8, 8))
    assert seen(renderer, 3.0) == pytest.approx(3 * low, rel=1e-6)


def box() -> Scene:
    cube = boxes((-1, -1, -1), (1, 1, 1))
    return Scene.from_triangles(cube.positions, cube.triangles, base_color=(0.2, 0.4, 0.6))


@pytest.fixture(scope="module")
def renderer(device) -> Iterator[Renderer]:
    made = Renderer(box(), classic=True, program="whitted", machine="singlepass", accel="two-level-bvh", device=device)
    yield made
    made.release()


def kinds(renderer: Renderer) -> set[str]:
    return {material.kind for material in renderer.scene.materials}


def test_it_comes_and_goes(renderer: Renderer) -> None:
    before, given = renderer.scene, renderer.prepared.given
    assert renderer.update(classic=False) == Affects.SCENE
    assert renderer.prepared.scene is given and kinds(renderer) == {"lambert"}
    renderer.update(ground="2x2")
    assert kinds(renderer) == {"lambert"} and renderer.scene.ground == 1
    renderer.update(classic=True, ground=None)
    assert renderer.scene.materials == before.materials and renderer.scene.ground == 1
    renderer.update(ground="2x2")
    assert kinds(renderer) == {"classic"} and np.ptp(renderer.scene.bounds(), axis=0).tolist() == [4.0, 2.0, 4.0]
    renderer.update(ground=None)
