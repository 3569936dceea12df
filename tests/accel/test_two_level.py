"""Two levels against the flattened scene: hits by Embree and in float64, normals, materials, front sides, and units."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import exact
import instances
import meshes
import numpy as np
import pytest
from embree import embree_scene, nearest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from instances import KINDS
from numpy.typing import NDArray

import raystream
from raystream import Renderer, Scene
from raystream.accel.grid import build as grid_boxes
from raystream.accel.grid.grid import lists_with_marked_ends
from raystream.accel.structures import StructureOptions
from raystream.accel.two_level.structure import objects_of, two_level_structure, world_boxes
from raystream.accel.two_level.top import TopGrid
from raystream.base.errors import ViewerError
from raystream.renderer.inputs.prepared import prepare
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance

# Of the ray's distance: a flat scene's 1e-6, and as much for each of the ray's two maps and the corners' one.
NEAR_EDGE = 4e-6
LARGEST_EXCLUDED = 1e-3  # share of rays that may pass an edge too near to tell
NAMES = [" over ".join((top if top != "auto" else accel[10:], accel[10:])) for accel, top in KINDS]


class Flattened(NamedTuple):
    """The first triangle of every instance, the corners (T, 3, 3), which of them are finite, and Embree over them."""

    starts: NDArray
    corners: NDArray
    sound: NDArray
    embree: Any


def flattened(scene: Scene) -> Flattened:
    flat = scene.flatten()
    corners = flat.corners()
    sound = np.isfinite(corners).all(axis=(1, 2))
    corners[~sound] = 1e9  # out of the way, for oracles that know no broken triangle
    return Flattened(flat.instances, corners, sound, embree_scene(corners))


def assert_as_flat(
    scene: Scene, found: raystream.Renderer, count: int = 20_000, seed: int = 0, flat: Flattened | None = None
) -> None:
    """Hits and the instances they name, against Embree on the flattened scene; ties by distance."""
    starts, corners, sound, embree = flat or flattened(scene)
    origins, directions = instances.rays(scene.bounds(), count, seed)
    hits = found.trace(origins, directions)
    other = nearest(embree, origins, directions)
    verdict = exact.judge(corners, origins, directions, hits.triangle, hits.distance, other, NEAR_EDGE)
    share = len(verdict.near_edge) / count
    print(f"{scene.name}: {(hits.triangle >= 0).mean():.1%} hit, {share:.1e} of rays too near an edge")
    assert not len(verdict.wrong), f"rays {verdict.wrong[:10]}"
    assert share < LARGEST_EXCLUDED
    assert (hits.triangle >= 0).mean() > 0.1
    hit = hits.triangle >= 0
    owner = np.searchsorted(starts, hits.triangle, side="right") - 1
    assert (hits.instance[hit] == owner[hit]).all() and (hits.instance[~hit] == -1).all()
    # Where a hit is, from its weights of the corners as flattened, and from its distance.
    hit[verdict.near_edge] = False
    weights = np.column_stack([1 - hits.barycentrics.sum(axis=1), hits.barycentrics])[hit].astype(np.float64)
    from_corners = (corners[hits.triangle[hit]] * weights[..., None]).sum(axis=1)
    along = origins[hit] + hits.distance[hit, None].astype(np.float64) * directions[hit]
    apart = np.abs(from_corners - along).max(axis=1)
    reach = np.abs(np.concatenate([corners[sound].reshape(-1, 3), origins])).max()
    assert np.percentile(apart, 99) < 4e-6 * reach  # grazing hits are ill-conditioned in distance
    assert np.median(apart) < 1e-6 * reach


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_nested_instances_are_hit_as_if_flattened(device: object, kind: tuple[str, str]) -> None:
    scene = instances.nested()
    assert (np.linalg.det([each.transform for each in scene.instances]) < 0).mean() > 0.3
    found = instances.renderer(scene, kind)
    assert_as_flat(scene, found)
    assert "triangles" not in vars(found.prepared)  # nothing has flattened the scene


@pytest.fixture(scope="module")
def forest(shared_scenes: Path) -> tuple[Scene, Flattened]:
    """tests/formats/test_models.py equates it to the one by instances of glTF's extension."""
    scene = raystream.load(shared_scenes / "forest.glb")
    return scene, flattened(scene)


@pytest.mark.parametrize("kind", KINDS[:2], ids=NAMES[:2])
def test_the_forest_is_hit_as_if_flattened(
    device: object, forest: tuple[Scene, Flattened], kind: tuple[str, str]
) -> None:
    scene, flat = forest
    found = instances.renderer(scene, kind)
    info = found.info()
    # 1,000,192 triangles, in the memory of the distinct meshes and 2,000 trees
    assert scene.triangle_count > 1_000_000 > 50 * info[kind[0]]["triangles"]
    assert info["gpu memory"]["total"] < 8 << 20
    assert_as_flat(scene, found, flat=flat)


def test_every_machine_finds_the_same_bits(device: object) -> None:
    """Of the same walk: the stackless ones run fused, stepwise and in a single pass."""
    scene = instances.nested(60)
    for kind, traversal in ((KINDS[0], "octants"), (KINDS[1], "auto"), (KINDS[2], "escape")):
        found = [
            instances.renderer(scene, kind, traversal=traversal, machine=machine, fuse=fuse)
            for machine, fuse in (("multipass", "ray"), ("multipass", "none"), ("singlepass", "ray"))
        ]
        pictures = [each.render((96, 96), layers=("depth", "normal", "triangle", "instance")) for each in found]
        for other in pictures[1:]:
            assert other.linear.tobytes() == pictures[0].linear.tobytes()
            for name, layer in pictures[0].layers.items():
                assert other.layers[name].tobytes() == layer.tobytes(), name
    stack = instances.renderer(scene, KINDS[0]).render((96, 96), layers=("depth", "triangle"))
    assert (stack.layers["triangle"] == pictures[0].layers["triangle"]).mean() > 0.999  # ties within rounding


@pytest.mark.parametrize("test", ["moller-trumbore", "planes"])
def test_the_other_triangle_tests(device: object, test: str) -> None:
    scene = instances.nested(40)
    origins, directions = instances.rays(scene.bounds(), 5000)
    own = instances.renderer(scene, KINDS[0], intersection=test).trace(origins, directions)
    other = instances.renderer(scene, KINDS[0]).trace(origins, directions)
    assert (own.triangle == other.triangle).mean() > 0.999  # these tests leave cracks


def test_normals_and_colors_are_those_of_the_flattened_scene(device: object) -> None:
    """Uneven and mirrored transformations, and materials of an instance's own."""
    scene = instances.nested()
    layers = ("normal", "albedo", "triangle", "instance")
    flat = Renderer(scene, program="cast").render((256, 256), layers=layers).layers
    for kind in KINDS[:2]:
        two = instances.renderer(scene, kind).render((256, 256), layers=layers).layers
        same = (flat["triangle"] == two["triangle"]) & (flat["triangle"] >= 0)
        assert same.mean() > 0.05 and (flat["triangle"] == two["triangle"]).mean() > 0.999
        assert (flat["instance"] == two["instance"])[flat["triangle"] == two["triangle"]].all()
        apart = np.abs(flat["normal"] - two["normal"]).max(axis=-1)[same]
        # Weights of slender triangles are off by 1e-5 in float32, and sides of a surface seen edge-on are told apart
        # by the sign of a rounded product.
        assert np.percentile(apart, 99.5) < 2e-4
        assert np.abs(flat["albedo"] - two["albedo"])[same].max() < 1e-6


def test_geometric_normals_keep_the_front_in_front(device: object) -> None:
    """A mirrored, unevenly scaled box, looked at from within and from without, by the very module of geometry."""
    rng = np.random.default_rng(8)
    scene = instances.scene(instances.random_transforms(rng, 36))
    flat = scene.flatten()
    made = prepare(scene, accel="two-level-bvh")
    hits, numbers = instances.a_hit_of_each(flat)
    hits["barycentric"] = 0.25, 0.25
    at = instances.geometry_at(device, made, hits)
    mirrored = made.structure.built.mirrored[hits["instance"]]
    assert mirrored.any() and not mirrored.all()
    corners = flat.corners()[numbers].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    assert np.abs(at["normal"] - normal).max() < 1e-5  # float32 corners of the flattened scene
    middle = (corners * np.array([0.5, 0.25, 0.25])[:, None]).sum(axis=1)
    # the same weights whatever the order of the second and the third corner
    assert (np.abs(at["position"] - middle).max(axis=1) <= at["error"]).all()
    assert (at["error"] < 1e-4).all()
    vertex = flat.normals[flat.triangles[numbers]].astype(np.float64)
    shading = (vertex * np.array([0.5, 0.25, 0.25])[:, None]).sum(axis=1)
    shading /= np.linalg.norm(shading, axis=1, keepdims=True)
    assert np.abs(at["shading"] - shading).max() < 1e-5
    assert (at["material"] == flat.materials[numbers]).all()


# --- random instances


@pytest.fixture(scope="module")
def movable() -> Iterator[list[Renderer]]:
    """A scene of every shape twice, under two structures; examples move it about, which compiles nothing."""
    scene = instances.scene(instances.random_transforms(np.random.default_rng(3), 12))
    found = [instances.renderer(scene, kind) for kind in KINDS[:2]]
    yield found
    for each in found:
        each.release()


placed = st.builds(
    lambda move, turn, scale: instances.compose([move], [turn], [scale])[0],
    st.tuples(*[st.sampled_from([0.0, 0.5, -1.0, 3.0, 100.0])] * 3),
    st.tuples(*[st.sampled_from([0.0, 1.0, -0.5, 0.3])] * 4),
    st.tuples(*[st.sampled_from([1.0, 1.0, -1.0, 0.25, 2.0, -3.0, 1e-3, 0.0])] * 3),
)


# A failing example is not made smaller: that would take minutes.
@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(st.tuples(st.integers(-1, 10), placed), min_size=12, max_size=12))
def test_random_trees_of_instances(movable: list[Renderer], nodes: list[tuple[int, NDArray]]) -> None:
    """Trees of nodes, flat ones among them, against all triangles of the flattened scene in float64."""
    world: list[NDArray] = []
    for number, (parent, local) in enumerate(nodes):
        world.append(world[parent] @ local if 0 <= parent < number else local)
    transforms = np.array(world)
    for found in movable:
        found.move(transforms)
        scene = found.scene
        corners = scene.flatten().corners()
        corners[~np.isfinite(corners).all(axis=(1, 2))] = 1e9
        bounds = scene.bounds()
        origins, directions = instances.rays(np.stack([bounds[0] - 0.1, bounds[1] + 0.1]), 300)
        hits = found.trace(origins, directions)
        # What is within a fraction of the scene's own rounding is a tie: triangles of instances that are squeezed flat.
        tie = 1e-5 + 4e-6 * float(np.ptp(bounds, axis=0).max())
        verdict = exact.judge(corners, origins, directions, hits.triangle, hits.distance, None, 2e-5, tie)
        assert not len(verdict.wrong), f"rays {verdict.wrong[:5]} of {found.prepared.structure.name}"
        assert len(verdict.near_edge) <= 15


def test_flat_and_nearly_flat_instances_become_objects_of_their_own(device: object) -> None:
    transforms = instances.random_transforms(np.random.default_rng(11), 6, 2.0)
    transforms[0, :3, :3] = instances.compose([[0, 0, 0]], [[1, 2, 3, 4]], [[1, 0, 1]])[0][:3, :3]
    shear = np.eye(3)
    shear[0, 1] = 1e6
    transforms[1, :3, :3] = shear / 1e6
    scene = instances.scene(transforms)
    objects = objects_of(scene)
    assert objects.baked.tolist() == [True, True, False, False, False, False]
    assert objects.object_of[4] == -1  # the mesh without triangles
    assert_as_flat(scene, instances.renderer(scene, KINDS[0]), 5000)


def test_scenes_with_nothing_to_show(device: object) -> None:
    for kind in KINDS:
        for scene in (Scene(), instances.scene(np.tile(np.eye(4), (5, 1, 1)))):
            scene.instances = [each for each in scene.instances if each.mesh == 4]
            found = instances.renderer(scene, kind)
            assert found.trace([0, 0, 0], [0, 0, 1]).triangle.tolist() == [-1]
            assert not (found.render((8, 8), layers="triangle").layers["triangle"] >= 0).any()


def test_transformations_that_are_none_and_coordinates_too_large() -> None:
    scene = instances.scene(np.tile(np.eye(4), (2, 1, 1)))
    scene.instances[1].transform = np.full((4, 4), np.nan)
    with pytest.raises(ViewerError, match=r"instance 1.*not finite"):
        prepare(scene, accel="two-level-bvh")
    scene.instances[1].transform = np.diag([1e19, 1e19, 1e19, 1])
    with pytest.raises(ViewerError, match=r"beyond 1e\+18"):
        prepare(scene, accel="two-level-bvh")


# --- boxes and maps


@pytest.mark.parametrize(("source", "number", "least", "most"), [("balls", 0, 1.0, 1.01), ("forest", 5, 1.0, 2.0)])
def test_boxes_hold_their_instances_and_are_tight(source: str, number: int, least: float, most: float) -> None:
    """A ball's, whose box alone would have 3.4 times the volume, and a spruce's."""
    scene = raystream.load(source)
    mesh = scene.meshes[number]
    objects = objects_of(Scene([mesh], [Instance(0)]))
    transforms = instances.random_transforms(np.random.default_rng(4), 200, 50.0)
    linear, place = transforms[:, :3, :3] / objects.scales[0], transforms[:, :3, 3]
    low, high = world_boxes(objects.parts, objects.corners, np.zeros(200, np.int32), linear, place)
    points = mesh.positions.astype(np.float64)
    moved = points @ transforms[:, :3, :3].transpose(0, 2, 1) + place[:, None]
    exact_low, exact_high = moved.min(axis=1), moved.max(axis=1)
    assert (low <= exact_low).all() and (high >= exact_high).all()
    ratio = (high.astype(float) - low).prod(axis=1) / (exact_high - exact_low).prod(axis=1)
    print(f"{source}: {np.median(ratio):.3f} times the volume, at most {ratio.max():.3f}")
    assert least < np.median(ratio) < most


@pytest.mark.parametrize("accel", ["two-level-bvh", "two-level-grid"])
def test_progress_rises_from_object_to_object(accel: str) -> None:
    shares: list[float] = []
    two_level_structure(instances.nested(6), StructureOptions(accel), lambda share, text: shares.append(share))
    assert len(shares) >= 3 and shares == sorted(shares) and shares[0] > 0 and shares[-1] == 1


UNTOUCHED = -(1 << 24)  # no address, and no number of an instance, whatever its sign


def spread(count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Boxes of unequal sides, whose grid has another number of voxels along each axis."""
    random = np.random.default_rng(seed)
    low = random.uniform((0, 0, 0), (9, 5, 2), (count, 3)).astype(np.float32)
    return low, low + random.uniform(0.05, 0.4, (count, 3)).astype(np.float32)


@pytest.mark.parametrize("count", [1, 40])
def test_a_build_tells_of_the_rows_that_it_writes(count: int) -> None:
    low, high = spread(count)
    top = TopGrid(count)
    held = top.entries.data["entry"]
    held[:] = UNTOUCHED
    told = np.zeros(len(held), bool)
    for table, first, last in top.build(low, high):
        assert table is top.entries and first < last
        told[first:last] = True
    assert (told == (held != UNTOUCHED)).all()
    built = grid_boxes.build_boxes(low, high)
    pointers, entries = lists_with_marked_ends(built.pointers, built.lists)
    assert (held[: pointers.size] == pointers.ravel()).all()
    assert (held[top.capacity : top.capacity + len(entries)] == entries).all() and len(entries) >= count
    assert told.sum() == pointers.size + len(entries)
    assert top.uniforms["top_low"] == tuple(built.low.astype(np.float32).tolist())
    assert top.uniforms["top_voxel"] == tuple(built.voxel.tolist())
    assert top.uniforms["top_resolution"] == tuple(built.resolution) and top.uniforms["top_lists"] == top.capacity


@pytest.mark.parametrize("room", [400, 120, 70])
def test_a_grid_without_room_gets_coarser_step_by_step(room: int) -> None:
    """By a fifth along each axis, down to the first that fits; a voxel stays a voxel."""
    low, high = spread(60)
    top = TopGrid(60)
    top.capacity = room
    tried = [grid_boxes.build_boxes(low, high)]
    while max(tried[-1].pointers.size, len(tried[-1].lists)) > room:
        finer = np.array(tried[-1].resolution)
        coarser = np.maximum(1, np.floor(0.8 * finer)).astype(int)
        assert (coarser < finer).any()
        x, y, z = coarser.tolist()
        tried.append(grid_boxes.build_boxes(low, high, (x, y, z)))
    found = top._build_within_capacity(low, high)
    assert len(tried) > 2 and found.resolution == tried[-1].resolution
    assert (found.pointers == tried[-1].pointers).all() and (found.lists == tried[-1].lists).all()


def test_a_grid_that_just_fits_stays() -> None:
    low, high = spread(60)
    built = grid_boxes.build_boxes(low, high)
    top = TopGrid(60)
    top.capacity = max(built.pointers.size, len(built.lists))
    assert top._build_within_capacity(low, high).resolution == built.resolution


UNIT = 2.0**-19  # of the bound, see `position_error` in shaders/lib/triangle_point.glsl


@pytest.mark.parametrize("away", [0.0, 1e4])
def test_the_bound_is_that_of_the_maps_there_and_back(device: Any, away: float) -> None:
    """Against float64, for instances turned, mirrored and unevenly scaled; at 1e4 the place has most of it, 0.02."""
    rng = np.random.default_rng(5)
    transforms = instances.random_transforms(rng, 24)
    transforms[:, :3, 3] += away * (-1.0) ** np.arange(24)[:, None]  # on both sides: the scene's middle is its origin
    scene = instances.scene(transforms)
    hits, _ = instances.a_hit_of_each(scene.flatten())
    hits["barycentric"] = weights = rng.dirichlet([1, 1, 1], len(hits))[:, 1:].astype(np.float32)
    at = instances.geometry_at(device, prepare(scene, accel="two-level-bvh"), hits)

    owner = hits["instance"]
    of_mesh = [scene.meshes[instance.mesh] for instance in scene.instances]
    corners = np.stack(
        [of_mesh[o].positions[of_mesh[o].triangles[t]] for o, t in zip(owner, hits["triangle"], strict=True)]
    )
    corners = corners.astype(np.float64)
    weights = weights.astype(np.float64)
    local = (
        corners[:, 0] * (1 - weights.sum(axis=1))[:, None]
        + corners[:, 1] * weights[:, :1]
        + corners[:, 2] * weights[:, 1:]
    )
    linear, place = transforms[owner, :3, :3], transforms[owner, :3, 3]
    turned = np.einsum("nij,nj->ni", linear, local)
    assert (np.abs(at["position"] - turned - place).max(axis=1) <= at["error"]).all()
    there = np.einsum("nij,nj->ni", np.abs(linear), np.abs(corners).max(axis=1))
    back = np.einsum("nij,njk,nk->ni", np.abs(linear), np.abs(np.linalg.inv(linear)), np.abs(turned))
    size = np.maximum(there, back) + np.abs(place)
    sides = corners[:, 1:] - corners[:, :1]
    side = np.abs(sides).max(axis=(1, 2))
    across = np.abs(np.cross(sides[:, 0], sides[:, 1])).max(axis=1) / side**2
    stretch = np.abs(linear).sum(axis=2).max(axis=1) * side / np.clip(across, 1e-3, 1.0)
    expected = UNIT * (size.max(axis=1) + 0.1 * stretch)
    # The position less its place again, of which the bound takes the size, has 2^-24 of the place's 1e4 as its error.
    np.testing.assert_allclose(at["error"], expected, rtol=1e-3)
    assert not away or (at["error"] > 0.9 * UNIT * away).all()


@pytest.mark.parametrize("exponent", [-80, -20, 50])
def test_units_of_a_file_change_no_hit(exponent: int) -> None:
    """Powers of two, so that the object's space is the same to the bit, and so are distances and weights."""
    ball, found = meshes.icosphere(2), []
    for power in (0, exponent):
        mesh = Mesh(np.ldexp(ball.points, power).astype(np.float32), ball.faces)
        matrix = np.diag([*np.ldexp([0.5, 1.0, 2.0], -power), 1.0])
        matrix[:3, 3] = 1, 2, 3
        scene = Scene([mesh], [Instance(0, matrix)], [Material()])
        renderer = instances.renderer(scene, ("two-level-bvh", "auto"), machine="singlepass")
        origins, directions = instances.rays(scene.bounds(), 500)
        found.append(renderer.trace(origins, directions))
        renderer.release()
    assert (found[0].triangle >= 0).mean() > 0.2
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
