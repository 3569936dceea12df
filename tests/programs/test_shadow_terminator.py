"""Coarse smooth meshes at the terminator: shaded as what they stand for, by every program; flat ones as before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest
from numpy.typing import NDArray

from raystream import Camera, Renderer, Scene
from raystream.scene.light import Light
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance

TOWARDS = np.array([1.0, 0.4, 0.25]) / np.linalg.norm([1.0, 0.4, 0.25])
SIZE = (32, 32)


def ball(levels: int = 1, smooth: bool = True, **more: Any) -> Scene:
    """A unit sphere of 32 triangles, or more, under the light of a far lamp from the side."""
    corners = places.sphere(levels)
    mesh = places.flat(corners)
    if smooth:
        mesh = Mesh(mesh.positions, mesh.triangles, normals=corners.reshape(-1, 3))
    x, y, z = -TOWARDS
    lamp = Light("directional", direction=(x, y, z), intensity=(np.pi, np.pi, np.pi))
    return places.scene([mesh], [places.material(1.0, **more)], places.FRONT, lights=[lamp])


def shown(device: Any, scene: Scene, program: str = "path", **more: Any) -> tuple[NDArray, NDArray]:
    """Of pixels off the silhouette, where facets are seen whose normals face away: the picture, and what it should be,
    the cosine at the shading normal."""
    options = {"machine": "singlepass", "environment": "none", "depth": 1, "pixel_filter": "point", **more}
    picture = Renderer(scene, device=device, program=program, **options).render(SIZE, 1, layers=("normal", "depth"))
    hit = np.isfinite(picture.layers["depth"]) & (picture.layers["normal"][..., 2] > 0.4)
    cosine = np.clip(picture.layers["normal"].astype(np.float64) @ TOWARDS, 0.0, None)
    return picture.linear[..., 0].astype(np.float64)[hit], cosine[hit]


@pytest.mark.parametrize(("program", "accel"), [("path", "bvh"), ("path", "two-level-bvh"), ("whitted", "bvh")])
def test_a_coarse_ball_is_shaded_as_a_round_one(device, program: str, accel: str):
    """To the rounding of products of float32, at every pixel: no staircase."""
    picture, cosine = shown(device, ball(), program, accel=accel)
    np.testing.assert_allclose(picture, cosine, atol=2e-6)
    assert (cosine == 0.0).any()


def test_what_is_turned_and_stretched_is_so_too(device):
    """An ellipsoid by an instance's transformation, over flat triangles and over instances."""
    scene = ball()
    stretched = np.diag([1.5, 0.8, 1.0, 1.0])
    placed = Scene(scene.meshes, [Instance(0, stretched)], scene.materials, scene.cameras, lights=scene.lights)
    for accel in ("bvh", "two-level-bvh"):
        picture, cosine = shown(device, placed, accel=accel)
        np.testing.assert_allclose(picture, cosine, atol=2e-6)


def test_nothing_is_lit_through_what_it_stands_on(device):
    """A coarse ball on the floor of a closed room, the lamp below the floor: no light comes in."""
    scene = ball()
    floor = places.quads([[(-9, -1.0, -9), (-9, -1.0, 9), (9, -1.0, 9), (9, -1.0, -9)]])
    lamp = Light("directional", direction=(0.2, 1.0, 0.1), intensity=(3.0, 3.0, 3.0))
    camera = Camera((0, -0.2, 4), (0, -0.6, 0), fov=35.0)
    standing = places.scene([*scene.meshes, places.flat(floor)], scene.materials, camera, lights=[lamp])
    options: dict[str, Any] = {"machine": "singlepass", "environment": "none", "depth": 1, "pixel_filter": "point"}
    assert not Renderer(standing, device=device, **options).render((64, 64), 1).linear.any()


def test_white_furnace(device):
    """Rays that leave above the facets meet none of them: the coarse ball is white, where it lost light before."""
    options: dict[str, Any] = {"environment": (1.0, 1.0, 1.0), "machine": "singlepass", "sampler": "independent"}
    scene = replace(ball(), lights=[])
    for strategy in ("both", "bsdf"):
        film = Renderer(scene, device=device, depth=30, strategy=strategy, **options).render((32, 32), 8).film
        found = film.mean()[..., 0].astype(np.float64)
        if strategy == "bsdf":  # every path brings all
            np.testing.assert_allclose(found, 1.0, atol=2e-5)
        assert abs(found.mean() - 1.0) < 4.5 * np.sqrt(film.variance().sum()) / found.size + 2e-5


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_a_quadric_has_no_lift_left_from_a_facet(device, accel: str):
    """Paths go from the coarse ball to a round one: in one invocation what they do where each hit has a pass."""
    coarse = ball()
    round_one = Quadric.sphere((1.2, 0.0, 1.2), 0.6)
    scene = Scene([*coarse.meshes, round_one], [Instance(0), Instance(1)], coarse.materials, coarse.cameras)
    runs = ({"machine": "singlepass"}, {"machine": "multipass", "fuse": "none"})
    options = {"environment": (0.3, 0.4, 0.5), "depth": 3, "accel": accel}
    one, other = (Renderer(scene, device=device, **run, **options).render((24, 18), 2).linear for run in runs)
    assert one.std() > 0 and np.array_equal(one, other)
