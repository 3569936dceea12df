"""Scenes that reach 1e18, as far as coordinates may, were refused with two levels: boxes, which are wider than what
they hold, were held to that limit."""

from __future__ import annotations

import numpy as np
import places
import pytest

from raystream import Renderer, Scene
from raystream.base.errors import ViewerError
from raystream.scene.scene import Instance

FARTHEST = 1e18


def turned(scale: float) -> np.ndarray:
    """(4, 4): about the diagonal by 60 degrees, and by that scale."""
    matrix = np.eye(4)
    matrix[:3, :3] = scale * np.array([[2, -1, 2], [2, 2, -1], [-1, 2, 2]]) / 3
    return matrix


def reaching() -> dict[str, Scene]:
    """By name, scenes whose largest coordinate is 1e18, or so much less that no rounding leads beyond."""
    corner = np.float32([[[-1, -1, -1], [1, -1, 1], [-1, 1, 1]]])
    ball = places.sphere(2) * 0.999  # the corners of its box are far outside of it
    return {
        "mesh": Scene([places.flat(corner * np.float32(FARTHEST))], [Instance(0)]),
        "scale": Scene([places.flat(corner)], [Instance(0, np.diag([FARTHEST, FARTHEST, FARTHEST, 1]))]),
        "turned": Scene([places.flat(ball)], [Instance(0, turned(FARTHEST))]),
    }


@pytest.mark.parametrize("name", reaching())
def test_what_one_level_takes_two_levels_take(name: str) -> None:
    scene, rng = reaching()[name], np.random.default_rng(0)
    origins = rng.uniform(-1.5, 1.5, (300, 3)) * FARTHEST
    directions = rng.uniform(-0.5, 0.5, (300, 3)) * FARTHEST - origins
    flat = Renderer(scene, program="cast", machine="singlepass", accel="bvh").trace(origins, directions)
    hit = flat.triangle >= 0
    assert hit.sum() > 20
    for accel in ("two-level-bvh", "two-level-grid"):
        hits = Renderer(scene, program="cast", machine="singlepass", accel=accel).trace(origins, directions)
        # Rays past an edge, nearer than the rounding of the map to the object's space, 1e-6 of its size, go either way.
        assert (hits.triangle == flat.triangle).mean() > 0.99
        same = hit & (hits.triangle == flat.triangle)
        # Off by the rounding of a coordinate of size 1 to 2 in the object's space, seen as flat as 1 to 100.
        np.testing.assert_allclose(hits.distance[same], flat.distance[same], rtol=1e-4)


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh", "two-level-grid"])
def test_what_is_farther_out_is_refused(accel: str) -> None:
    for scene in reaching().values():
        farther = [Instance(each.mesh, np.diag([1.3, 1.3, 1.3, 1]) @ each.transform) for each in scene.instances]
        with pytest.raises(ViewerError, match="beyond 1e\\+18"):
            Renderer(Scene(scene.meshes, farther), program="cast", accel=accel)
    huge = Instance(0, np.diag([1e25, 1e25, 1e25, 1]))
    with pytest.raises(ViewerError, match="beyond 1e\\+18"):
        Renderer(Scene(scene.meshes, [huge]), program="cast", accel=accel)


@pytest.mark.parametrize("scale", [1e20, 1e39, 1e300])
def test_what_float32_cannot_hold_is_refused_without_a_warning(scale: float) -> None:
    """numpy told of an overflow, on standard error and beside the refusal."""
    corner = np.float32([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    scene = Scene([places.flat(corner)], [Instance(0), Instance(0, np.diag([scale, scale, scale, 1]))])
    with pytest.raises(ViewerError, match=r"beyond 1e\+18, whose square overflows float32"):
        scene.flatten()
