"""Instances that move, and scenes far beyond what can be flattened."""

from __future__ import annotations

from typing import Any

import instances
import numpy as np
import pytest
from instances import KINDS
from test_two_level import NAMES, assert_as_flat

import raystream
from raystream.accel.structures import StructureOptions
from raystream.accel.two_level.structure import TwoLevel, two_level_structure
from raystream.base.errors import ViewerError
from raystream.renderer.inputs.prepared import prepare
from raystream.scene.builtin import forest
from raystream.scene.hierarchy import compose
from raystream.scene.mesh import transforms_of
from raystream.stream.declare.record import LARGEST_INTEGER
from raystream.stream.gl.device import Device

LAYERS = ("depth", "normal", "triangle", "instance")


def assert_same(one: raystream.Picture, other: raystream.Picture) -> None:
    """To the bit."""
    assert one.linear.tobytes() == other.linear.tobytes()
    for name in one.layers:
        assert one.layers[name].tobytes() == other.layers[name].tobytes(), name


@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_two_balls_orbit_among_ten(device: object, kind: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Adinetz and Berezin's Balls-1: each frame is equal to that of a fresh build, and none compiles anything."""
    scene = raystream.load("balls")
    assert scene.triangle_count == 31_200 and len(scene.instances) == 10
    moved = instances.renderer(scene, kind)
    before = moved.render((96, 96), layers=LAYERS)
    compiled: list[Any] = []
    program = Device.program
    for seconds in (0.4, 1.3, 2.0, 3.7):
        posed = scene.posed(seconds)
        with monkeypatch.context() as patch:
            patch.setattr(Device, "program", lambda *a, **k: compiled.append(a) or program(*a, **k))
            moved.move({number: posed.instances[number].transform for number in (0, 1)})
            picture = moved.render((96, 96), layers=LAYERS)
        assert not compiled
        fresh = instances.renderer(posed, kind)
        assert_same(picture, fresh.render((96, 96), layers=LAYERS))
        assert picture.linear.tobytes() != before.linear.tobytes()
        fresh.release()
    moved.move(transforms_of(scene.instances))
    assert_same(moved.render((96, 96), layers=LAYERS), before)


def test_textures_are_updated_in_place_too(device: object) -> None:
    """Where memories lie in 2-D textures, whole rows of which are written."""
    scene = instances.nested(80)
    found = instances.renderer(scene, KINDS[0], memory="texture")
    found.render((48, 48))
    transforms = transforms_of(scene.instances)
    transforms[7:40] = instances.random_transforms(np.random.default_rng(2), 33)
    found.move(transforms)
    fresh = instances.renderer(found.scene, KINDS[0], camera=found.camera)
    assert_same(found.render((48, 48), layers=LAYERS), fresh.render((48, 48), layers=LAYERS))


@pytest.mark.parametrize("kind", KINDS[:2], ids=NAMES[:2])
def test_paths_follow_what_moves(device: object, kind: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Light, too; in passes that read so many tables that the small ones, instances among them, share a texture."""
    scene = raystream.load("cornell")
    options = {"program": "path", "environment": "sky", "camera": scene.camera()}
    for name in ("short_block", "light"):
        number = [each.name for each in scene.instances].index(name)
        found = instances.renderer(scene, kind, **options)
        before = found.render((24, 24), spp=1).linear
        matrix = compose([[0.3, -0.2, 0.1]], [[0.1, 0.3, 0.0, 1.0]], [[1.1, 0.9, 1.0]])[0]
        found.move({number: matrix @ scene.instances[number].transform})
        after = found.render((24, 24), spp=1)
        assert after.linear.tobytes() != before.tobytes()
        assert_same(after, instances.renderer(found.scene, kind, **options).render((24, 24), spp=1))
        single = instances.renderer(found.scene, kind, machine="singlepass", **options)
        assert_same(after, single.render((24, 24), spp=1))
        assert "arena" in found.gpu_scene.resources.bytes()


def test_only_what_changed_is_told() -> None:
    scene = instances.nested(50)
    two = TwoLevel.of(scene, "bvh")
    objects, table = two.objects, two.table
    before = table.data.copy()
    transforms = transforms_of(scene.instances)
    assert two.move(np.arange(50), transforms) == []
    transforms[[3, 4, 9], 0, 3] += 1.0
    changes = two.move(np.arange(50), transforms)
    assert changes is not None
    assert [(first, last) for source, first, last in changes if source is table] == [(3, 5), (9, 10)]
    assert two.objects is objects and np.flatnonzero(before != table.data).tolist() == [3, 4, 9]


@pytest.mark.parametrize("accel", ["octree", "grid", "bvh"])
@pytest.mark.parametrize("machine", [{"machine": "singlepass"}, {"fuse": "none", "policy": "threshold=0.2"}], ids=str)
def test_triangles_that_move_are_those_of_a_fresh_build(device: object, accel: str, machine: dict[str, Any]) -> None:
    """Of flat structures: objects that are moved, then vertices; and the picture of the scene as it was, again."""
    scene = raystream.load("balls")
    options: dict[str, Any] = {"program": "cast", "accel": accel, **machine}
    moved = raystream.Renderer(scene, **options)
    before = moved.render((48, 48), layers=LAYERS)
    posed = scene.posed(1.3)
    moved.move({number: posed.instances[number].transform for number in (0, 1)})
    fresh = raystream.Renderer(posed, **options)
    picture = moved.render((48, 48), layers=LAYERS)
    assert (picture.layers["triangle"] != before.layers["triangle"]).mean() > 0.01
    assert_same(picture, fresh.render((48, 48), layers=LAYERS))
    bent = scene.meshes[0].positions * np.float32([1.0, 1.4, 1.0])
    for renderer in (moved, fresh):
        renderer.deform(0, bent)
    deformed = moved.render((48, 48), layers=LAYERS)
    assert (deformed.layers["triangle"] != picture.layers["triangle"]).mean() > 0.01
    anew = raystream.Renderer(moved.scene, **options)
    for other in (fresh, anew):
        assert_same(deformed, other.render((48, 48), layers=LAYERS))
    moved.deform(0, scene.meshes[0].positions, scene.meshes[0].normals)
    moved.move(transforms_of(scene.instances))
    assert_same(moved.render((48, 48), layers=LAYERS), before)
    assert moved.prepared.structure.levels == 1
    for renderer in (moved, fresh, anew):
        renderer.release()


def test_moving_under_a_flat_structure_and_what_must_be_rebuilt(device: object) -> None:
    scene = instances.nested(30)
    transforms = instances.random_transforms(np.random.default_rng(5), 30)
    moved = raystream.Renderer(scene, program="cast")
    moved.render((32, 32))
    moved.move(transforms)
    two = instances.renderer(scene, KINDS[0])
    two.render((32, 32))
    transforms[4, :3, :3] *= np.array([1, 0, 1])  # flat: an object of its own from now on
    two.move(transforms)
    assert two.prepared.structure.built.objects.baked[4]
    assert_as_flat(two.scene, two, 4000)
    fresh = instances.renderer(two.scene, KINDS[0], camera=two.camera)
    assert_same(two.render((32, 32), layers=LAYERS), fresh.render((32, 32), layers=LAYERS))
    moved.move({4: transforms[4]})
    ours, theirs = (each.render((64, 64), layers=LAYERS).layers for each in (moved, two))
    assert (ours["triangle"] == theirs["triangle"]).mean() > 0.999
    assert (scene.instances[4].transform != transforms[4]).any()  # the scene that was given stays as it is


@pytest.mark.parametrize(
    ("transforms", "words"),
    [
        ({12: np.eye(4)}, "no instance 12"),
        ({-1: np.eye(4)}, "no instance -1"),
        (np.eye(4), "shape"),
        ({0: np.eye(3)}, r"shape \(3, 3\)"),
        ({0: np.full((4, 4), np.nan)}, "last row|not finite"),
        ({0: np.diag([1.0, 1, 1, 2])}, "last row"),
        ({0: compose([[1e19, 0, 0]], [[0, 0, 0, 1]], [[1, 1, 1]])[0]}, "beyond"),
        ("elsewhere", "no transformation"),
    ],
)
def test_bad_moves_move_nothing(device: object, transforms: Any, words: str) -> None:
    scene = instances.nested(12)
    found = instances.renderer(scene, KINDS[0])
    rows = found.prepared.structure.built.table.data.copy()
    with pytest.raises(ViewerError, match=words):
        found.move(transforms)
    assert found.scene is scene and (found.prepared.structure.built.table.data == rows).all()


# --- more than can be flattened


@pytest.mark.parametrize("trees", [60_000, pytest.param(200_000, marks=pytest.mark.slow)])  # these: a hundred million
def test_more_triangles_than_a_float_can_number(device: object, trees: int) -> None:
    scene = forest.build(trees)
    assert scene.triangle_count > 500 * trees > LARGEST_INTEGER
    with pytest.raises(ViewerError, match="exact up to"):
        scene.flatten()
    found = instances.renderer(scene, KINDS[0])
    picture = found.render((128, 128), layers=(*LAYERS, "albedo"))
    total = found.info()["gpu memory"]["total"]
    print(f"{total / 2**20:.0f} MiB of texture memory")
    assert total < 1 << 30
    triangle, instance = picture.layers["triangle"], picture.layers["instance"]
    assert (triangle >= 0).mean() > 0.9 and triangle.max() > 1 << 24
    starts, hit = found.prepared.starts, triangle >= 0
    triangle, instance = triangle[hit], instance[hit]
    assert (starts[instance] <= triangle).all() and (triangle < starts[instance + 1]).all()
    assert len(np.unique(instance)) > 500
    assert "triangles" not in vars(found.prepared)


def test_triangles_beyond_32_bits_are_numbered() -> None:
    from raystream.kernels import HIT

    made = prepare(instances.nested(6), accel="two-level-bvh")
    made.__dict__["starts"] = np.array([0, 10, 2**31, 2**33, 2**33 + 1, 2**34, 2**35])
    hits = np.zeros(3, HIT.dtype)
    hits["triangle"], hits["instance"] = (5, 7, -1), (3, 2, 0)
    triangle, instance = made.triangle_indices(hits), made.instance_indices(hits)
    assert triangle.dtype == np.int64 and triangle.tolist() == [2**33 + 5, 2**31 + 7, -1]
    assert instance.tolist() == [3, 2, -1]


ESCAPE = ("two-level-bvh", "auto")


@pytest.mark.parametrize("build", ["sah", "midpoint"])
def test_the_same_hits_as_front_to_back(device: object, build: str) -> None:
    scene = instances.nested(60)
    ways = [
        instances.renderer(scene, ESCAPE, build=build, traversal=traversal, fuse="none")
        for traversal in ("octants", "escape")
    ]
    assert_same(*(each.render((64, 64), layers=LAYERS) for each in ways))
    moved = instances.random_transforms(np.random.default_rng(4), len(scene.instances))
    for each in ways:
        each.move(moved)
    assert_same(*(each.render((64, 64), layers=LAYERS) for each in ways))


@pytest.mark.parametrize("moves", [False, True])
def test_no_direction_has_an_order_of_its_own(moves: bool) -> None:
    scene = instances.nested(60)
    recipe = StructureOptions("two-level-bvh", build="midpoint", traversal="escape")
    two = two_level_structure(scene, recipe).built
    if moves:
        two.move(np.arange(60), instances.random_transforms(np.random.default_rng(4), 60))
    nodes = two.top.nodes.data
    used = 2 * int((two.objects.object_of >= 0).sum()) - 1
    links = np.concatenate([nodes["missed_up"], nodes["missed_down"]], axis=1)[:used]
    leaf = nodes["count"][:used] > 0
    assert (links == links[:, :1]).all() and not nodes["count"][:used][~leaf].any()
    # Depth first: a leaf leads to its neighbour, an inner node beyond its second child's subtree.
    after = np.append(np.arange(1, used), two.top.capacity)
    assert (links[leaf, 0] == after[leaf]).all()
    second = nodes["first"][:used][~leaf]
    assert (links[~leaf, 0] == links[second, 0]).all()
    by_area = two_level_structure(scene, StructureOptions("two-level-bvh", traversal="escape")).built.top.nodes.data
    assert moves or (by_area["low"][:used] != nodes["low"][:used]).any()  # split by the middle, as the objects are
    by_octants = two_level_structure(scene, StructureOptions("two-level-bvh")).built.top.nodes.data
    assert (by_octants["missed_up"][:used] != by_octants["missed_up"][:used, :1]).any()
