"""The shadow caster against the programs that it is a part of, walked and drawn; how much a ray does."""

from __future__ import annotations

from typing import Any

import numpy as np
import places
import pytest
from numpy.typing import NDArray
from shade_tree import SIZE, placed, square

import raystream
from raystream import Camera, Renderer, Scene
from raystream.accel import bvh_build, primitives
from raystream.accel import bvh_tree as bvh
from raystream.accel.grid import build as grid_build
from raystream.accel.grid import grid
from raystream.programs import trace
from raystream.programs.traversal import FLAT
from raystream.renderer.sampling.ray_queries import pack_rays, run_rays
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Instance
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.singlepass import Singlepass

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


DARK: dict[str, Any] = {"machine": "singlepass", "environment": "none", "depth": 1}


def test_the_first_triangle_throws_a_shadow(device) -> None:
    """A lamp right above the middle of a floor, and a triangle between, that is the scene's first or its last. All
    programs ask for shadows by one kernel."""
    floor = places.flat(places.quads(np.array([[[-9, 0, 9], [9, 0, 9], [9, 0, -9], [-9, 0, -9]]])))
    plate = places.flat(np.float32([[[-1, 1, 1], [1, 1, 1], [0, 1, -1]]]))
    lamp = Light("point", "lamp", (0.0, 2.0, 0.0), intensity=(4.0, 4.0, 4.0))
    seen: list[float] = []
    renderer: Renderer | None = None
    for meshes in ([floor], [plate, floor], [floor, plate]):
        side = Camera((3.0, 0.5, 0.0), (0.0, 0.0, 0.0), fov=1.0)
        scene = places.scene(meshes, [places.material(0.5)], side, lights=[lamp])
        if renderer is None:
            renderer = Renderer(scene, pixel_filter="point", **DARK)
        else:
            renderer.update(scene)
        seen.append(float(renderer.render((1, 1), spp=1).linear[0, 0, 0]))
    # Lambert's law at distance 2: 0.5 / pi 4 / 4, to the rounding of a few float32 products.
    assert seen == [pytest.approx(0.5 / np.pi, rel=1e-5), 0.0, 0.0]
    assert renderer is not None
    renderer.release()


SQUARE = np.float32([[-1, -1, 0], [3, -1, 0], [-1, 3, 0]])


def calls(device: Any, voxels: tuple[int, int, int], any_hit: bool, up: bool, machine: type) -> tuple[int, int, int]:
    """Steps and tests of one ray along z over four triangles at z = 0, 1, 2, 3, and the number that it hits."""
    corners = np.stack([SQUARE + np.float32([0, 0, z]) for z in range(4)])
    modules = [grid.module(grid_build.build(corners, voxels)), primitives.triangle_module("watertight", corners, 4.0)]
    made = machine(device, LinkedProgram(trace(FLAT), modules), (1, 1), counting=True)
    records, _ = pack_rays([[0, 0, -1 if up else 4]], [[0, 0, 1 if up else -1]], np.inf, any_hit)
    hit = int(run_rays(made, records)["triangle"][0])
    found = made.calls()
    made.release()
    return int(found["traverse"].sum()), int(found["intersect"].sum()), hit


@pytest.mark.parametrize("machine", [Singlepass, Multipass])
@pytest.mark.parametrize(("any_hit", "up", "tests"), [(True, True, 1), (True, False, 1), (False, True, 4)])
def test_any_hit_ends_with_the_first_that_is_met(
    device: Any, machine: type, any_hit: bool, up: bool, tests: int
) -> None:
    """In one voxel, whose list is in the order of numbers: the first triangle of the scene counts as any other."""
    assert calls(device, (1, 1, 1), any_hit, up, machine) == (1, tests, 0)


@pytest.mark.parametrize("machine", [Singlepass, Multipass])
@pytest.mark.parametrize(("up", "hit"), [(True, 0), (False, 3)])
def test_no_ray_walks_on_behind_its_hit(device: Any, machine: type, up: bool, hit: int) -> None:
    """A layer of voxels for each triangle: one step, one test."""
    assert calls(device, (1, 1, 4), False, up, machine) == (1, 1, hit)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_nearer_half_of_a_tree_comes_first(device: Any, axis: int) -> None:
    """Eight layers, one in a leaf: a ray meets one triangle, whichever way it comes, by the walk of octants."""
    corners = np.roll(np.stack([SQUARE + np.float32([0, 0, z]) for z in range(8)]), axis - 2, axis=2)
    built = bvh_build.build(corners, "midpoint", leaf=1)
    modules = [bvh.module([built], "octants"), primitives.triangle_module("watertight", corners, 8.0, built.order)]
    machine = Singlepass(device, LinkedProgram(trace(FLAT), modules), (2, 1), counting=True)
    towards = np.eye(3)[axis]
    away, back = np.full(3, 0.25), np.full(3, 0.25)
    away[axis], back[axis] = -1, 8
    records, _ = pack_rays([away, back], [towards, -towards], np.inf, False)
    assert run_rays(machine, records)["triangle"].tolist() == [0, 7]
    found = machine.calls()
    assert found["intersect"].tolist() == [[1, 1]]
    # The root, two nodes below it and the leaf; and on the way out the box beside each of the three, which is missed.
    assert found["traverse"].tolist() == [[7, 7]]
    machine.release()
