"""Acceleration structures: Embree's hits from all of them, the same bits from every walk and machine; ties, edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import exact
import instances
import meshes
import numpy as np
import pytest
from embree import embree_scene, nearest
from soups import KINDS, soup
from walker import rays, through, walker

import raystream
from raystream import Renderer, Scene
from raystream.accel import bvh_build, primitives, structures
from raystream.accel import bvh_tree as bvh
from raystream.accel.grid import build as grid_build
from raystream.accel.grid import grid
from raystream.accel.structures import Primitives, Structure, StructureOptions
from raystream.base.errors import ViewerError, WiringError
from raystream.kernels.records import RAY
from raystream.programs import LEVELS, trace
from raystream.renderer.sampling.ray_queries import pack_rays
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance
from raystream.stream.compile.link import LinkedProgram
from raystream.stream.declare.kernel import Module
from raystream.stream.machines import MACHINES

SCENES = ("bunny", "dragon", "forest_flat", "cornell", "stadium")
STRUCTURES = {
    "bvh": (StructureOptions("bvh"), bvh.TRAVERSALS),
    "midpoint": (StructureOptions("bvh", build="midpoint"), bvh.TRAVERSALS),
    "grid": (StructureOptions("grid"), tuple(grid.TRAVERSALS)),
    "octree": (StructureOptions("octree"), ("octants",)),
}
SINGLE: dict[str, Any] = {"machine": "singlepass"}
RAY_PASSES = {"machine": "multipass", "fuse": "ray", "unroll": "auto"}
STEPS = {"machine": "multipass", "fuse": "none", "unroll": "auto"}
LARGE = 500_000  # triangles, from which on a walk of each structure is asked: of smaller scenes they agree to the bit
LARGEST_EXCLUDED = 1e-4  # share of rays that may pass an edge too near to tell
COLUMNS = 256


class Made(NamedTuple):
    """A scene, its corners (T, 3, 3), its structures, and rays (R, 3): primary ones, and some from within."""

    name: str
    corners: np.ndarray
    structures: dict[str, Structure]
    origins: np.ndarray
    directions: np.ndarray


@pytest.fixture(scope="module", params=SCENES)
def made(request: pytest.FixtureRequest) -> Made:
    name = request.param
    if name == "forest_flat":
        scene = raystream.load(request.getfixturevalue("flat_forest"))
    elif name in ("bunny", "dragon"):
        scene = raystream.load(request.getfixturevalue("shared_scenes") / f"{name}.ply")
    else:
        scene = raystream.load(name)
    corners = scene.flatten().corners()
    built = {
        which: structures.FLAT[recipe.accel](Primitives(corners), recipe) for which, (recipe, _) in STRUCTURES.items()
    }
    rng = np.random.default_rng(SCENES.index(name))
    low, high = scene.bounds()
    inside = rng.uniform(low, high, (12_000, 3))
    towards = rng.uniform(low, high, inside.shape) - inside
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    first_hits = [part.reshape(-1, 3) for part in scene.camera().rays(128, 128)]
    origins, directions = (
        np.concatenate(part).astype(np.float32) for part in zip(first_hits, (inside, towards), strict=True)
    )
    return Made(name, corners, built, origins, directions)


def run(device: Any, structure: Structure, traversal: str, origins: Any, directions: Any, **machine: Any) -> np.ndarray:
    """(R,) `HIT` of rays by a walk on a machine, the program that `Renderer.trace` runs."""
    options = dict(machine)
    program = trace(LEVELS[structure.levels])
    records, _ = pack_rays(origins, directions, np.inf, False)
    made = MACHINES[options.pop("machine")](
        device,
        LinkedProgram(program, structure.make(traversal)),
        (COLUMNS, -(-len(records) // COLUMNS)),
        fallback=lambda: LinkedProgram(program, structure.modules(stepwise=True)),
        **options,
    )
    stream = np.zeros(made.rays, RAY.dtype)
    stream[: len(records)] = records
    made.write("ray", stream.reshape(-1, COLUMNS))
    made.finish(len(records))
    found = made.read("hit").reshape(-1)[: len(records)]
    made.release()
    made.resources.release()
    return found


# -- the same hits -------------------------------------------------------------------------------------------------


def test_every_structure_and_walk_finds_what_embree_finds(device: Any, made: Made) -> None:
    # Embree's scene is as large as all structures together, and does not outlive its answer.
    expected = nearest(embree_scene(made.corners), made.origins, made.directions)
    first = run(device, made.structures["bvh"], "stack", made.origins, made.directions, **SINGLE)
    hit = first["triangle"] >= 0
    t = np.where(hit, first["t"], np.inf)
    rays = made.origins, made.directions
    exact.assert_right(made.corners, *rays, first["triangle"], t, expected, LARGEST_EXCLUDED)
    for which, (_, traversals) in STRUCTURES.items():
        for traversal in traversals[:1] if len(made.corners) > LARGE else traversals:
            if (which, traversal) == ("bvh", "stack"):
                continue
            other = run(device, made.structures[which], traversal, made.origins, made.directions, **SINGLE)
            assert other.tobytes() == first.tobytes(), (which, traversal)


def machines() -> Iterator[dict[str, Any]]:
    """Every machine, every mask, and calls of a kernel in a pass."""
    yield SINGLE
    for mask in ("depth", "kill", "none"):
        yield {**RAY_PASSES, "mask": mask}
        yield {**STEPS, "mask": mask}
    yield {**STEPS, "unroll": (16, 4)}


@pytest.mark.parametrize("made", ["bunny", "stadium"], indirect=True)
def test_every_machine_gives_the_same_bits_whatever_the_walk(device: Any, made: Made) -> None:
    """In the stadium's grid llvmpipe cuts long loops short, which the machines have to mend (`Machine._retry`)."""
    some = slice(None, None, 4)
    rays = made.origins[some], made.directions[some]
    first = run(device, made.structures["bvh"], "stack", *rays, **SINGLE).tobytes()
    for which, (_, traversals) in STRUCTURES.items():
        for traversal in traversals:
            for choices in machines():
                if traversal == "stack" and choices.get("fuse") == "none":
                    continue
                if which == "grid" and made.name == "stadium" and choices.get("unroll") == (16, 4):
                    continue  # 57,000 triangles in one voxel, 4 in a pass
                assert run(device, made.structures[which], traversal, *rays, **choices).tobytes() == first, (
                    which,
                    traversal,
                    choices,
                )


# -- awkward triangles ---------------------------------------------------------------------------------------------


def modules(corners: np.ndarray, traversal: str, build: str = "sah", leaf: int = bvh.MAX_IN_LEAF) -> list[Module]:
    built = bvh_build.build(corners, build, leaf=leaf)
    extent = float((built.high[0] - built.low[0]).max())
    return [bvh.module([built], traversal), primitives.triangle_module("watertight", corners, extent, built.order)]


def every_triangle(device: Any, corners: np.ndarray) -> Any:
    """A walk that tests all of them: a grid of one voxel."""
    built = bvh_build.build(corners)  # for the same extent, which the test scales by
    extent = float((built.high[0] - built.low[0]).max())
    test = primitives.triangle_module("watertight", corners, extent)
    return walker(device, grid.module(grid_build.build(corners, (1, 1, 1)), "dda"), test)


def aimed(corners: np.ndarray, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rays at points of the numbered triangles (R,), from about as far away as they are from zero."""
    targets = np.einsum("rk,rkx->rx", rng.dirichlet([1, 1, 1], len(own)), corners[own].astype(np.float64))
    away = np.linalg.norm(targets, axis=1, keepdims=True) * rng.normal(size=targets.shape)
    origins = (targets + away).astype(np.float32)
    return rays(origins, targets - origins)


@pytest.mark.parametrize("kind", KINDS)
def test_hits_are_those_of_all_triangles(device: Any, kind: str) -> None:
    """Rays along axes, in the faces of boxes, and at points of triangles among them."""
    rng = np.random.default_rng(KINDS.index(kind))
    corners = soup(kind, rng, 60)
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    given = through(low, np.where(high > low, high, high + 1), rng, 4000)
    given = np.concatenate([given, aimed(corners, rng.integers(0, len(corners), 1000), rng)])
    expected = every_triangle(device, corners)(given)
    assert (expected["triangle"] >= 0).mean() > 0.1
    for build in bvh_build.METHODS:
        for traversal in bvh.TRAVERSALS:
            assert walker(device, *modules(corners, traversal, build))(given).tobytes() == expected.tobytes(), (
                build,
                traversal,
            )


@pytest.mark.parametrize("count", [2, 8, 9, 300])
def test_of_equal_triangles_the_lowest_number_is_hit(device: Any, count: int) -> None:
    corners = np.tile(np.float32([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]]), (count, 1, 1))
    given = through([0, 0, -0.5], [1, 1, 0.5], np.random.default_rng(1), 400)
    for build in bvh_build.METHODS:
        for traversal in bvh.TRAVERSALS:
            found = walker(device, *modules(corners, traversal, build))(given)
            assert set(found["triangle"].tolist()) == {-1, 0}, (build, traversal)


def test_a_tree_as_deep_as_any(device: Any) -> None:
    """Triangles whose sizes double: midpoints take one off at a time, and the stack must hold them all."""
    corners = np.float32([[[0.6, 0, 0], [1, 0, 0], [0.8, 0.2, 0.1]]])
    corners = np.ldexp(corners, np.arange(-25, 25)[:, None, None]).astype(np.float32)
    assert bvh_build.build(corners, "midpoint", leaf=1).depth > 40
    given = aimed(corners, np.random.default_rng(0).integers(0, len(corners), 2000), np.random.default_rng(1))
    first, *others = (walker(device, *modules(corners, traversal, "midpoint"))(given) for traversal in bvh.TRAVERSALS)
    assert all(other.tobytes() == first.tobytes() for other in others)
    assert (first["triangle"] >= 0).mean() > 0.9


@pytest.mark.parametrize("accel", ["bvh", "grid", "octree"])
def test_an_empty_scene_hits_nothing(accel: str) -> None:
    empty = Scene.from_triangles(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int64))
    flat = Scene.from_triangles(np.full((3, 3), np.nan, np.float32), np.array([[0, 1, 2]]))
    for scene in (empty, flat):
        renderer = Renderer(scene, program="cast", accel=accel)
        for machine in ({"machine": "singlepass"}, {"fuse": "ray"}, {"fuse": "none"}):
            renderer.update(**{"machine": "multipass", **machine})
            assert (renderer.trace([[0, 0, 5]] * 7, [0, 0, -1]).triangle == -1).all()


# -- walks ---------------------------------------------------------------------------------------------------------


def test_a_stack_does_not_go_from_pass_to_pass(device: Any) -> None:
    structure = structures.bvh_structure(Primitives(meshes.box().corners()), StructureOptions())
    with pytest.raises(WiringError, match="bvh, stack has locals, which end with the pass"):
        run(device, structure, "stack", [[0, 0, 5]], [[0, 0, -1]], **STEPS)
    assert (run(device, structure, "stack", [[0, 0, 5]], [[0, 0, -1]], **RAY_PASSES)["triangle"] >= 0).all()


def test_a_tree_that_a_stack_cannot_hold_is_refused() -> None:
    built = replace(bvh_build.build(meshes.box().corners()), depth=bvh_build.MAX_DEPTH + 1)
    with pytest.raises(ViewerError, match=r"beyond a ray.s stack of"):
        bvh.module([built], "stack")


def test_a_walk_with_a_stack_goes_without_one_in_passes_of_one_kernel() -> None:
    renderer = Renderer(meshes.scene(meshes.box().corners()), program="cast", traversal="stack")
    assert (renderer.prepared.structure.whole, renderer.prepared.structure.stepwise) == ("stack", "octants")
    renderer.update(machine="multipass", fuse="none")
    assert renderer.trace([0, 0, 5], [0, 0, -1]).triangle[0] >= 0


@pytest.mark.parametrize(
    ("accel", "traversal"), [("grid", "stack"), ("grid", "octants"), ("bvh", "dda"), ("octree", "stack")]
)
def test_a_walk_of_another_structure_is_named(accel: str, traversal: str) -> None:
    with pytest.raises(ViewerError) as raised:
        Renderer(meshes.scene(meshes.box().corners()), accel=accel, traversal=traversal)
    assert f"--traversal {traversal}" in raised.value.typed and f"--accel {accel}" in raised.value.typed
    assert "\n" not in str(raised.value)


def test_each_side_moves_by_a_unit_in_the_last_place_and_a_billionth_of_the_scene() -> None:
    low = np.float32([[-8, 0, 2], [0, -1e-12, 5]])
    high = np.float32([[-8, 0, 4], [0, 1e-12, 5]])
    wide = bvh.enlarged(low, high)
    least = 8e-9  # of the largest coordinate, 8
    step = np.float64(2.0**-23)
    expected = np.maximum(np.abs(np.float64([low, high])) * step, least)
    for found, given, way, by in zip(wide, (low, high), (-1, 1), expected, strict=True):
        assert (way * (np.float64(found) - given) > 0).all()  # every one of them, in float32
        # Rounding to float32 may take half of such a step, or add it.
        np.testing.assert_allclose(np.abs(np.float64(found) - given), by, rtol=0.5)


@pytest.mark.parametrize("traversal", bvh.TRAVERSALS)
def test_rays_in_the_plane_of_one_box_s_face_hit_what_lies_across(device: Any, traversal: str) -> None:
    """Triangles stand on the plane z = 0, and rays run in it: with the face of every box, and from before it."""
    k = np.arange(12, dtype=np.float32)
    corners = np.zeros((12, 3, 3), np.float32)
    corners[:, :, 0] = k[:, None]
    corners[:, 1, 1] = corners[:, 2, 2] = 1
    built = bvh_build.build(corners, leaf=1)
    walk = walker(
        device, bvh.module([built], traversal), primitives.triangle_module("watertight", corners, 12.0, built.order)
    )
    given = rays(np.float32([[-1, y, 0] for y in (0.25, 0.5, 0.75)] + [[12, 0.5, 0]]), [[1, 0, 0]] * 3 + [[-1, 0, 0]])
    found = walk(given)
    assert found["triangle"].tolist() == [0, 0, 0, 11] and found["t"].tolist() == [1, 1, 1, 1]


SQUARE = np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])


@pytest.mark.parametrize("traversal", grid.TRAVERSALS)
def test_a_hit_at_a_border_waits_for_the_next_voxel(device: Any, traversal: str) -> None:
    """Two equal triangles in the plane between two voxels, the higher number listed in the first, the lower in the
    second: what a builder may make of shapes that end there. The lower number is hit."""
    plane = SQUARE[[[0, 1, 2], [0, 2, 3]]][:1]
    corners = np.concatenate([plane, plane])
    built = grid_build.build(corners, (1, 1, 2))
    for lists in ([1, -1, 0, -1], [0, -1, 1, -1]):
        made = replace(
            built,
            low=np.float32([-2, -2, -2]),
            voxel=np.float32([4, 4, 2]),
            pointers=np.float32([[[0]], [[2]]]),
            lists=np.float32(lists),
        )
        walk = walker(device, grid.module(made, traversal), primitives.triangle_module("watertight", corners, 4.0))
        found = walk(rays(np.float32([[0.5, -0.25, -1.5], [0.5, -0.25, 1.5]]), [[0, 0, 1], [0, 0, -1]]))
        assert found["triangle"].tolist() == [0, 0] and found["t"].tolist() == [1.5, 1.5]


def stacked(heights: list[float], **more: Any) -> Scene:
    """Squares across z, an instance each."""
    mesh = Mesh(SQUARE, [[0, 1, 2], [0, 2, 3]])
    placed = []
    for height in heights:
        matrix = np.eye(4)
        matrix[2, 3] = height
        placed.append(Instance(0, matrix, **more))
    return Scene([mesh], placed, [Material(base_color=(0.25, 0.5, 0.75, 1.0)), Material()])


@pytest.mark.parametrize("kind", instances.KINDS)
def test_of_instances_in_one_place_the_first_is_hit(kind: tuple[str, str]) -> None:
    """From both sides, so that no order of the walk is the numbers' own."""
    renderer = instances.renderer(stacked([0.0] * 6 + [-3.0, 3.0, 0.0]), kind, machine="singlepass")
    hits = renderer.trace([[0.5, 0.25, -1], [0.5, 0.25, 1], [0.25, 0.5, 1]], [[0, 0, 1], [0, 0, -1], [0, 0, -1]])
    assert hits.instance.tolist() == [0, 0, 0] and hits.distance.tolist() == [1, 1, 1]
    assert hits.triangle.tolist() == [0, 0, 1]
    renderer.release()


@pytest.mark.parametrize("kind", instances.KINDS)
def test_of_instances_in_one_voxel_the_nearest_is_hit(kind: tuple[str, str]) -> None:
    """The list of a voxel goes on behind a hit in it."""
    heights = [0.04, 0.03, 0.0, 0.02, 0.01]  # so near that they lie in the same voxels
    renderer = instances.renderer(stacked(heights), kind, machine="singlepass")
    hits = renderer.trace([[0.5, 0.25, -1], [0.5, 0.25, 1]], [[0, 0, 1], [0, 0, -1]])
    assert hits.instance.tolist() == [2, 0]
    renderer.release()


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_an_instance_may_have_the_first_material(accel: str) -> None:
    """Number 0, in place of the mesh's own number 1."""
    scene = stacked([0.0], material=0)
    scene.meshes[0].materials = np.ones(2, np.int32)
    for instance, albedo in ((0, (0.25, 0.5, 0.75)), (None, Material().base_color[:3])):
        scene.instances[0].material = instance
        renderer = instances.renderer(scene, (accel, "auto"), machine="singlepass", camera="0.5,0.25,3 0.5,0.25,0")
        picture = renderer.render((1, 1), layers=("albedo",))
        np.testing.assert_array_equal(picture.layers["albedo"][0, 0], np.float32(albedo))
        renderer.release()
