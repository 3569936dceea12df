"""The option ``ground``: a renderer puts its scene on a plane, whatever else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream import Renderer
from raystream.options.declare import Affects
from raystream.renderer.sequence import render_frames
from raystream.scene import builtin
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


def test_frames_share_one_ground(device) -> None:
    scene = builtin.build("balls")
    keywords = {"ground": "2x2", "accel": "two-level-bvh", **OPTIONS}
    frames = render_frames(scene, range(2), 0.5, render={"size": (24, 16), "layers": "instance"}, **keywords)
    number, found = len(scene.instances), []
    for frame in frames:
        found.append(frame.picture.layers["instance"] == number)
        assert found[-1].any()
    assert len(scene.instances) == number  # the one that was given has none
