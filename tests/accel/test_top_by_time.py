"""The hierarchy over instances that move while a shutter is open: hits at any time against those of every instance in
turn, to the bit, and against Embree over the scene that stands still at that time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import exact
import glsl_call
import instances
import numpy as np
import pytest
from embree import embree_scene, nearest
from numpy.typing import NDArray
from walker import rays

from raystream.accel.structures import Structure, StructureOptions
from raystream.accel.two_level import top
from raystream.accel.two_level.structure import two_level_structure
from raystream.kernels.records import HIT, RAY
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.geometry.normals import with_normals
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene

SHIFTS = {"near": 0.3, "far": 3.0, "from afar": 1e4}  # of instances between two keys
RAYS, STILL, MOVING = 3000, 20, 40
MOMENTS = 1 << 16
_TEXT = """
void walk_object(Ray ray, int instance, inout Hit hit) {
    int object;
    Ray local = object_ray(ray, instance, object);
    TriangleSetup setup = triangle_setup(local);
    Traversal traversal;
    if (!accel_start(local, object, traversal)) return;
    int what = ACCEL_AGAIN;
    while (what != ACCEL_END) {
        what = accel_step(local, hit.t, traversal);
        if (what != ACCEL_TEST) continue;
        do triangle_test(local, setup, accel_candidate(traversal), instance, hit); while (accel_more(traversal));
        if (accel_ends(traversal, hit.t)) what = ACCEL_END;
    }
}

Hit walk(Ray ray, out int entered) {
    Hit hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    TopTraversal top;
    entered = 0;
    int what = top_start(ray, top) ? ACCEL_AGAIN : ACCEL_END;
    while (what != ACCEL_END) {
        what = top_step(ray, hit.t, top);
        if (what != ACCEL_TEST) continue;
        walk_object(ray, top_instance(top), hit);
        entered++;
    }
    return hit;
}
"""


def in_motion(seed: int, keys: int, shift: float, deforms: bool = False) -> Scene:
    """Instances of all shapes, mirrored ones and empty ones among them, of which the first `STILL` do not move; with
    ``deforms`` the box changes its form at every key, under instances of either kind."""
    rng = np.random.default_rng(seed)
    placed = instances.random_transforms(rng, STILL + MOVING)
    scene = instances.scene(placed, rng)
    scene.meshes = [with_normals(each) for each in scene.meshes]  # or each of many moments would compute them
    for number in range(STILL, STILL + MOVING):
        motion = np.repeat(placed[number][None], keys, axis=0)
        motion[1:, :3, 3] += rng.normal(size=(keys - 1, 3)) * shift
        motion[1:, :3, :3] *= rng.uniform(0.8, 1.2, (keys - 1, 3, 3))
        scene.instances[number] = replace(scene.instances[number], motion=motion)
    if deforms:
        scene.meshes[1] = morphing(scene.meshes[1], rng, keys)
    return scene


def morphing(mesh: Mesh, rng: np.random.Generator, keys: int) -> DeformedMesh:
    """A mesh whose corners go their own ways, far beyond its form at rest."""
    mesh = with_normals(mesh)
    shape, none = mesh.positions.shape, np.zeros((len(mesh.positions), 0))
    targets = tuple(MorphTarget(positions=rng.normal(size=shape).astype(np.float32)) for _ in range(2))
    deformation = Deformation(none.astype(np.int32), none.astype(np.float32), targets)
    poses = [MeshPose(weights=np.zeros(2)), *(MeshPose(weights=rng.normal(size=2)) for _ in range(keys - 1))]
    return DeformedMesh(mesh, deformation, poses[0]).with_motion(tuple(poses))


def at_moment(scene: Scene, moment: int) -> Scene:
    """What stands there at that share of 2^16 of the exposure: all is linear between two keys."""

    def between(keys: Any) -> Any:
        at = moment / MOMENTS * (len(keys) - 1)
        key = min(int(at), len(keys) - 2)
        return (1 - (at - key)) * keys[key] + (at - key) * keys[key + 1]

    placed = [
        each if each.motion is None else replace(each, transform=between(each.motion), motion=None)
        for each in scene.instances
    ]
    meshes = [
        each.posed(MeshPose(weights=between([pose.weights for pose in each.motion])))
        if isinstance(each, DeformedMesh)
        else each
        for each in scene.meshes
    ]
    return scene.with_parts(instances=placed, meshes=meshes)


def made(scene: Scene, kind: str = "bvh") -> Structure:
    return two_level_structure(scene, StructureOptions(accel="two-level-bvh", top=kind, back_faces="visible"))


def everywhere(scene: Scene) -> Structure:
    """The same structure with boxes that every ray is within."""
    structure = made(scene)
    held = structure.built.top
    boxes = held.boxes.data if follows(structure) else held.nodes.data
    boxes["low"], boxes["high"] = -1e18, 1e18
    for name in ("low_change", "high_change") if follows(structure) else ():
        boxes[name] = 0.0
    return structure


def follows(structure: Structure) -> bool:
    """Whether boxes are those of the ray's time."""
    return isinstance(structure.built.top, top.TopBvhByTime)


def traced(device: Any, structure: Structure, given: NDArray) -> NDArray:
    """The hits (N,)."""
    function = glsl_call.Function(
        device, "Hit walk(Ray ray, out int entered)", modules=structure.make("stack"), records=[RAY, HIT], text=_TEXT
    )
    hits, entered = function(given)
    traced.entered = float(entered.mean())  # type: ignore[attr-defined]
    return hits


def at_any_time(scene: Scene, seed: int) -> NDArray:
    """Rays at what moves, at sixty moments, among them the ends of the exposure and those of keys."""
    rng = np.random.default_rng(seed)
    segments = len(scene.instances[STILL].motion) - 1  # type: ignore[arg-type]
    moments = rng.integers(0, MOMENTS, 60)
    moments[:6] = 0, 1, MOMENTS - 1, MOMENTS // segments - 1, min(MOMENTS // segments, MOMENTS - 1), MOMENTS // 2
    return np.concatenate([towards(scene, int(moment), rng, RAYS // len(moments)) for moment in moments])


def towards(scene: Scene, moment: int, rng: np.random.Generator, count: int) -> NDArray:
    """Rays of one moment, two thirds at points of triangles as they then are, some at their corners."""
    corners = at_moment(scene, moment).flatten().corners()
    sound = corners[np.isfinite(corners).all(axis=(1, 2))].astype(np.float64)
    aim = sound[rng.integers(0, len(sound), count)]
    weights = np.where((np.arange(count) % 4 > 0)[:, None], rng.dirichlet([1, 1, 1], count), [[1.0, 0.0, 0.0]])
    targets = np.einsum("rk,rkx->rx", weights, aim)
    away = rng.normal(size=(count, 3))
    along = np.arange(count) % 5 == 0
    away[along] = np.eye(3)[rng.integers(0, 3, along.sum())] * rng.choice([-1, 1], (along.sum(), 1))
    given = rays((targets - 6 * away).astype(np.float32), away)
    given["direction"] = targets - given["origin"]
    wide = np.arange(count) % 3 == 0
    given["direction"][wide] += rng.normal(size=(int(wide.sum()), 3))
    given["direction"] /= np.linalg.norm(given["direction"].astype(np.float64), axis=1, keepdims=True)
    given["any_hit"] = 2 * moment
    return given


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("keys", [2, 7])
def test_hits_at_any_time_are_those_of_all_instances(device: Any, keys: int, shift: str) -> None:
    """Of instances that move, of meshes that deform, and of both."""
    scene = in_motion(keys, keys, SHIFTS[shift], deforms=True)
    given, structure = at_any_time(scene, keys), made(scene)
    assert structure.built.top.segments == keys - 1
    expected = traced(device, everywhere(scene), given)
    assert 0.3 < (expected["triangle"] >= 0).mean() < 1
    assert traced(device, structure, given).tobytes() == expected.tobytes()
    entered = traced.entered  # type: ignore[attr-defined]
    swept = made(scene, "grid")  # an instance in all voxels of its way
    assert traced(device, swept, given).tobytes() == expected.tobytes()
    if shift == "far":
        assert entered < 0.6 * traced.entered  # type: ignore[attr-defined]


@pytest.mark.parametrize("deforms", [False, True], ids=["instances", "meshes too"])
@pytest.mark.parametrize("moment", [0, 9000, MOMENTS // 2, 50001, MOMENTS - 1])
def test_hits_are_those_of_the_scene_of_that_moment(device: Any, moment: int, deforms: bool) -> None:
    scene = in_motion(11, 4, 1.0, deforms)
    given = towards(scene, moment, np.random.default_rng(moment), RAYS)
    hits = traced(device, made(scene), given)
    flat = at_moment(scene, moment).flatten()
    corners = flat.corners()
    corners[~np.isfinite(corners).all(axis=(1, 2))] = 1e9
    found = np.where(hits["triangle"] >= 0, flat.instances[hits["instance"]] + hits["triangle"], -1)
    assert 0.3 < (found >= 0).mean() < 1
    origins, directions = given["origin"], given["direction"]
    other = nearest(embree_scene(corners), origins, directions)
    verdict = exact.judge(corners, origins, directions, found, hits["t"], other, 1e-5)
    assert not len(verdict.wrong), verdict.wrong[:10]
    interior = np.arange(RAYS) % 4 > 0  # the others are aimed at corners
    assert interior[verdict.near_edge].sum() < 0.005 * RAYS


@pytest.mark.parametrize("room, segments", [(1 << 24, 6), (1800, 3), (1080, 1), (1000, 0)])
def test_where_there_is_no_room_boxes_span_several_keys(
    device: Any, monkeypatch: pytest.MonkeyPatch, room: int, segments: int
) -> None:
    """Down to none: boxes over the whole exposure."""
    monkeypatch.setattr(top, "MAX_KEY_TEXELS", room)
    scene = in_motion(1, 7, SHIFTS["near"])
    structure, given = made(scene), at_any_time(scene, 1)
    assert (structure.built.top.segments if follows(structure) else 0) == segments
    expected = traced(device, everywhere(scene), given)
    assert traced(device, structure, given).tobytes() == expected.tobytes()


def test_a_single_instance_moves(device: Any) -> None:
    """A leaf is then the root; and nothing at all is hit where it is empty."""
    scene = in_motion(4, 3, 1.0)
    given = at_any_time(scene, 3)
    for number, some in ((STILL + 1, True), (STILL + 3, True), (STILL + 2, False)):
        alone = replace(scene, instances=[scene.instances[number]])
        assert (alone.meshes[alone.instances[0].mesh].name != "nothing") == some
        structure = made(alone)
        expected = traced(device, everywhere(alone), given)
        assert traced(device, structure, given).tobytes() == expected.tobytes()
        assert (expected["triangle"] >= 0).any() == some


def test_rounding_of_objects_far_from_their_origins(device: Any) -> None:
    """Rays along axes past the corners of squares that are distorted by 64: errors are those of the way to the origin
    and back, though the squares' coordinates in the world are small."""
    rng = np.random.default_rng(6)
    far = np.float32([8000, 3000, 0])
    square = Mesh(far + np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]), [[0, 1, 2], [0, 2, 3]])
    placed = []
    for k in range(48):
        turns = np.linalg.qr(rng.normal(size=(2, 3, 3)))[0]
        if k % 2:
            turns[0] = np.eye(3)  # its corners lie on sides of its box
        motion = np.repeat(np.eye(4)[None], 2, axis=0)
        motion[0, :3, :3] = turns[0] @ np.diag([1.0, 1 / 64, 1.0]) @ turns[1]
        motion[1, :3, :3] = motion[0, :3, :3] * rng.uniform(0.9, 1.1, 3)[:, None]
        motion[:, :3, 3] = rng.uniform(-3, 3, 3) - motion[:, :3, :3] @ far
        placed.append(Instance(0, motion[0], motion=motion))
    scene = Scene([square], placed)
    moments = rng.integers(0, MOMENTS, 40).tolist()
    given = np.concatenate([towards(scene, moment, rng, 200) for moment in moments])
    standing = [at_moment(scene, moment) for moment in moments]
    for ray, own in enumerate(given):
        matrix = standing[ray // 200].instances[rng.integers(0, len(placed))].transform
        corner = matrix[:3, :3] @ square.positions[rng.integers(0, 4)].astype(np.float64) + matrix[:3, 3]
        own["direction"] = np.eye(3)[rng.integers(0, 3)]
        own["origin"] = corner - 5 * own["direction"] + rng.normal(size=3) * 2e-3
    expected = traced(device, everywhere(scene), given)
    assert 0.3 < (expected["triangle"] >= 0).mean() < 1
    assert traced(device, made(scene), given).tobytes() == expected.tobytes()
