"""The shadow caster against the programs that it is a part of, walked and drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from shade_tree import SIZE, Oracle, Tree, mixed, placed, square

import raystream
from raystream import Camera, Renderer, Scene
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Instance

# The sums are those of other programs in another order of multiplication: some units in the last place.
ROUNDING = {"rtol": 3e-6, "atol": 1e-7}


def render(scene: Scene, device: Any, size: tuple[int, int] = SIZE, spp: int = 1, **options: Any) -> NDArray:
    given: dict[str, Any] = {"program": "shadow", "machine": "singlepass", "environment": "none", **options}
    return Renderer(scene, device=device, **given).render(size=size, spp=spp).linear


@pytest.fixture(scope="module")
def matte() -> Scene:
    """Lambert alone, under a point light."""
    parts = [square(0, "floor"), square(1, "pane"), square(0, "step")]
    places = [placed(4.0), placed(0.8, (0.3, 1.0, 0.2), tilt=30), placed(0.5, (-1.5, 0.5, 0.5))]
    return Scene(
        parts,
        [Instance(number, place) for number, place in enumerate(places)],
        [Material("gray", (0.6, 0.6, 0.6, 1.0)), Material("red", (0.8, 0.2, 0.1, 1.0))],
        [Camera((1, 3, 6), (0, 0.3, 0), fov=40)],
        lights=[Light("point", "lamp", (1, 4, 1), intensity=(20, 20, 15))],
        name="matte",
    )


def test_is_whitted_without_reflections_and_path_tracing_at_depth_1(matte, device):
    """With a point light, Lambert and pixel centres nothing is random."""
    common = {"pixel_filter": "point"}
    shadow = render(matte, device, **common)
    assert 0.05 < (shadow == 0).all(axis=2).mean() < 0.9  # there is something to see, and something dark
    whitted = render(matte, device, program="whitted", reflections="off", refractions="off", **common)
    path = render(matte, device, program="path", depth=1, **common)
    assert np.array_equal(shadow, whitted)
    np.testing.assert_allclose(shadow, path, **ROUNDING)


def test_soft_shadows_are_those_of_path_tracing(device):
    """One area light: the same random numbers choose the same points of it."""
    scene = raystream.load("cornell")
    shadow = render(scene, device, (32, 32), 4, offsets="pixel")
    path = render(scene, device, (32, 32), 4, program="path", depth=1, strategy="lights")
    np.testing.assert_allclose(shadow, path, **ROUNDING)


@pytest.mark.parametrize("shadows", ["on", "off"])
def test_many_lights_and_materials(shadows, device):
    """Point, spot and directional lights on matte and Phong surfaces; mirrors and glass stay black."""
    scene = mixed()
    picture = render(scene, device, pixel_filter="point", shadows=shadows).astype(np.float64)
    tree = Tree(1, shadows == "on", False, False)
    oracle, camera = Oracle(scene), scene.camera()
    expected, *near = (oracle.picture(camera, SIZE, tree, off) for off in (0.0, 0.01, -0.01))
    edge = np.max([np.abs(other - expected).max(axis=2) for other in near], axis=0) > 5e-3  # as in test_whitted.py
    assert edge.mean() < 0.02
    assert np.abs(picture - expected)[~edge].max() < 1e-5


RUNS = [
    {"machine": "multipass", "fuse": "ray"},
    {"machine": "multipass", "fuse": "none"},
    {"machine": "multipass", "fuse": "none", "policy": "threshold=0.2", "mask": "none", "unroll": 4},
]


@pytest.mark.parametrize("first_hits", ["rays", "raster"])
def test_the_same_bits_from_every_machine(first_hits, device):
    scene = raystream.load("cornell")
    first = render(scene, device, (21, 17), 2, first_hits=first_hits, offsets="sample")
    for run in RUNS:
        assert np.array_equal(
            first, render(scene, device, (21, 17), 2, first_hits=first_hits, offsets="sample", **run)
        ), run


def test_no_light_and_no_triangle(device):
    scene = Scene.from_triangles(np.zeros((0, 3)), np.zeros((0, 3), int))
    assert not render(scene, device, (8, 8)).any()
    sky = render(scene, device, (8, 8), environment=(0.25, 0.5, 1.0))
    assert np.array_equal(sky, np.broadcast_to(np.float32([0.25, 0.5, 1.0]), (8, 8, 3)))
