"""Motion: interpolation against the definitions, hierarchies node by node, turntables, and open shutters."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import raystream
from raystream.base.errors import ViewerError
from raystream.film.files.checkpoint import fingerprint
from raystream.options.picture import MAX_SHUTTER_KEYS
from raystream.scene import builtin
from raystream.scene.animation import INTERPOLATIONS, PATHS, Animation, Poser, Track, turntable
from raystream.scene.builtin import balls
from raystream.scene.camera import Camera
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.edits.movable import with_light_at
from raystream.scene.exposure import (
    MAX_DEVIATION,
    _pose_deviation,
    at_keys,
    bounds_in_motion,
    enough_cameras,
    exposed,
    key_count,
    moving_camera,
)
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.light import Light
from raystream.scene.mesh import Mesh, transforms_of
from raystream.scene.scene import Instance, Scene

IDENTITY = (0.0, 0.0, 0.0, 1.0)


# The oracle: one number, one node at a time.


def product(a, b):
    """Hamilton's product of quaternions x y z w."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def power(q, exponent):
    """A unit quaternion's turn taken ``exponent`` times, by its axis and angle."""
    sine = math.hypot(*q[:3])
    half = math.atan2(sine, q[3]) * exponent
    axis = np.asarray(q[:3]) / sine if sine > 0 else np.zeros(3)
    return np.array([*(axis * math.sin(half)), math.cos(half)])


def rotate(q, point):
    """The point turned by a unit quaternion: q p q*."""
    conjugate = np.array([-q[0], -q[1], -q[2], q[3]])
    return product(product(q, [*point, 0.0]), conjugate)[:3]


def value_at(track: Track, seconds: float):
    """The definition, for one track: interval by linear search, slerp by powers, splines by de Casteljau."""
    times = [float(t) for t in track.times]
    keys = np.asarray(track.values, np.float64)
    spline = track.interpolation == "CUBICSPLINE"
    turns = track.path == "rotation"

    def key(k):
        value = keys[k, 1] if spline else keys[k]
        return value / np.linalg.norm(value) if turns else value

    if seconds <= times[0]:
        return key(0)
    if seconds >= times[-1]:
        return key(-1)
    k = max(k for k, t in enumerate(times) if t <= seconds)
    span = times[k + 1] - times[k]
    u = (seconds - times[k]) / span
    if track.interpolation == "STEP":
        return key(k)
    if spline:
        # A Hermite span's Bezier points.
        points = [keys[k, 1], keys[k, 1] + keys[k, 2] * span / 3, keys[k + 1, 1] - keys[k + 1, 0] * span / 3]
        points.append(keys[k + 1, 1])
        while len(points) > 1:
            points = [(1 - u) * a + u * b for a, b in pairwise(points)]
        return points[0] / np.linalg.norm(points[0]) if turns else points[0]
    a, b = key(k), key(k + 1)
    if not turns:
        return (1 - u) * a + u * b
    if a @ b < 0:
        b = -b
    return product(power(product(b, [-a[0], -a[1], -a[2], a[3]]), u), a)


def matrix_of(translation, rotation, scale):
    """(4, 4) by turning the axes one by one."""
    unit = np.asarray(rotation) / np.linalg.norm(rotation)
    matrix = np.eye(4)
    for axis in range(3):
        matrix[:3, axis] = rotate(unit, np.eye(3)[axis]) * scale[axis]
    matrix[:3, 3] = translation
    return matrix


def world_of(nodes: Hierarchy, animation: Animation, node: int, seconds: float):
    """One node's transform by the chain of its parents."""
    if node < 0:
        return np.eye(4)
    parts = {"translation": nodes.translation[node], "rotation": nodes.rotation[node], "scale": nodes.scale[node]}
    moved = False
    for track in animation.tracks:
        if track.node == node:
            parts[track.path], moved = value_at(track, seconds), True
    local = matrix_of(**parts) if moved else nodes.local[node]
    return world_of(nodes, animation, int(nodes.parents[node]), seconds) @ local


def track(rng, node, path, interpolation, keys):
    """A track of random keys."""
    times = np.cumsum(rng.uniform(0.05, 1.0, keys)).astype(np.float32)
    shape = (keys, 3, PATHS[path]) if interpolation == "CUBICSPLINE" else (keys, PATHS[path])
    return Track(node, path, times, rng.normal(size=shape).astype(np.float32), interpolation)


def alone(one: Track) -> Poser:
    """A poser of one node that only this track moves."""
    nodes = Hierarchy.of([-1], [[0, 0, 0]], [0])
    return Poser(nodes, Animation("one", (one,)))


def value(one: Track, seconds: float):
    """What the poser makes of a track: its one batch."""
    (batch,) = alone(one)._batches[one.path]
    return batch.at(seconds)[0]


# Interpolation


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("keys", [1, 2, 3, 8, 33])
def test_interpolation_is_the_definition_s(path, interpolation, keys):
    rng = np.random.default_rng(keys)
    one = track(rng, 0, path, interpolation, keys)
    first, last = float(one.times[0]), float(one.times[-1])
    for seconds in [0.0, first, last, last + 1, *map(float, one.times), *rng.uniform(0, last + 0.2, 40).tolist()]:
        found, expected = value(one, seconds), value_at(one, seconds)
        # float64 throughout; splines of random tangents reach some tens
        np.testing.assert_allclose(found, expected, atol=1e-12, rtol=1e-12, err_msg=f"at {seconds}")


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-7, 1e-4, math.pi - 1e-7, math.pi])
def test_turns_by_next_to_nothing_and_by_half(angle):
    one = Track(
        0, "rotation", np.array([0.0, 1.0]), np.array([IDENTITY, (math.sin(angle / 2), 0, 0, math.cos(angle / 2))])
    )
    for share in (0.0, 0.25, 0.5, 1.0):
        expected = [math.sin(share * angle / 2), 0, 0, math.cos(share * angle / 2)]
        np.testing.assert_allclose(value(one, share), expected, atol=1e-15)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_quaternions_without_length_turn_nothing(interpolation):
    shape = (2, 3, 4) if interpolation == "CUBICSPLINE" else (2, 4)
    one = Track(0, "rotation", np.array([0.0, 1.0]), np.zeros(shape), interpolation)
    assert np.array_equal(alone(one).world(0.5)[0], np.eye(4))


@pytest.mark.parametrize("fps", [24, 25, 30, 60])
def test_steps_are_met_by_the_frames_that_they_were_made_for(fps):
    """Times are float32 in files: float32(0.1) lies behind 3 / 30."""
    numbers = np.arange(600)
    one = Track(0, "scale", (numbers / fps).astype(np.float32), np.repeat(numbers[:, None], 3, axis=1), "STEP")
    assert [int(value(one, number / fps)[0]) for number in numbers.tolist()] == numbers.tolist()


@pytest.mark.parametrize(
    ("times", "values", "path", "interpolation"),
    [
        ([0.0, 1.0], np.zeros((3, 3)), "translation", "LINEAR"),
        ([0.0, 1.0], np.zeros((6, 3)), "scale", "CUBICSPLINE"),
        ([], np.zeros((0, 3)), "scale", "LINEAR"),
        ([0.0], np.zeros((1, 3)), "weight", "LINEAR"),
        ([0.0], np.zeros((2, 3)), "weights", "LINEAR"),
        ([0.0], np.zeros((1, 3)), "scale", "CUBIC"),
    ],
)
def test_tracks_that_do_not_fit(times, values, path, interpolation):
    with pytest.raises(ViewerError, match="track of node 0"):
        Track(0, path, np.array(times), values, interpolation)


# Hierarchies


def tree(rng, count: int, instances: int, animated: int) -> Scene:
    """A random tree of nodes, some of which move by tracks of all kinds."""
    parents = [-1] + [int(rng.integers(-1, k)) for k in range(1, count)]
    nodes = Hierarchy.of(
        parents,
        rng.normal(size=(count, 3)),
        rng.integers(-1, count, instances),
        [count - 1, 0],
        rng.normal(size=(count, 4)),
        rng.uniform(0.5, 1.5, (count, 3)) * rng.choice([-1, 1], (count, 3)),
    )
    tracks = tuple(
        track(rng, int(node), path, str(rng.choice(INTERPOLATIONS)), int(rng.integers(2, 9)))
        for node in rng.permutation(count)[:animated]
        for path in PATHS
        if rng.random() < 0.7
    )
    rest = nodes.world()
    placed = [Instance(0, np.eye(4) if node < 0 else rest[node]) for node in nodes.instance_nodes]
    cameras = [Camera((0, 0, 5), (0, 0, 0), fov=35, name=name) for name in ("last", "first")]
    scene = Scene.from_triangles(np.eye(3), [[0, 1, 2]])
    scene.instances, scene.cameras, scene.hierarchy = placed, cameras, nodes
    scene.animations = [Animation("tree", tracks)]
    return scene


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_poses_are_products_down_the_tree(seed, count, animated):
    rng = np.random.default_rng(seed)
    scene = tree(rng, count, 9, animated)
    for seconds in rng.uniform(0, 6, 3).tolist():
        pose = scene.pose(seconds)
        worlds = {n: world_of(scene.hierarchy, scene.animations[0], n, seconds) for n in range(-1, count)}
        expected = np.array([worlds[n] for n in scene.hierarchy.instance_nodes.tolist()])
        # products of up to 12 matrices whose entries splines take to some tens
        np.testing.assert_allclose(pose.transforms, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_cameras_hang_on_nodes():
    rng = np.random.default_rng(3)
    scene = tree(rng, 6, 4, 6)
    for node, name in ((5, "last"), (0, "first")):
        world = world_of(scene.hierarchy, scene.animations[0], node, 1.3)
        camera = next(camera for camera in scene.pose(1.3).cameras if camera.name == name)
        np.testing.assert_allclose(camera.origin, world[:3, 3])
        back = world[:3, 2] / np.linalg.norm(world[:3, 2])
        np.testing.assert_allclose(np.subtract(camera.target, camera.origin), -back, atol=1e-12)
        np.testing.assert_allclose(camera.up, world[:3, 1])
        assert camera.fov == 35
    assert scene.cameras[0].origin == (0, 0, 5)  # the scene itself stays at rest


def test_what_hangs_on_no_moving_node_stays_where_it_was_put():
    nodes = Hierarchy.of([-1, 0, -1], np.zeros((3, 3)), [1, 2, -1])
    lift = Track(0, "translation", np.array([0.0, 1.0]), np.array([[0, 0, 0], [0, 2, 0]]))
    scene = Scene.from_triangles(np.eye(3), [[0, 1, 2]])
    scene.instances = [Instance(0, name=name) for name in "abc"]
    scene.hierarchy, scene.animations = nodes, [Animation("lift", (lift,))]
    for instance in scene.instances:
        instance.transform[0, 3] = 7.0  # moved by hand
    posed = scene.posed(0.5)
    assert [tuple(each.transform[:3, 3]) for each in posed.instances] == [(0, 1, 0), (7, 0, 0), (7, 0, 0)]
    assert [each.name for each in posed.instances] == ["a", "b", "c"]
    assert posed.meshes[0] is scene.meshes[0] and scene.instances[0].transform[1, 3] == 0
    assert [tuple(each.transform[:3, 3]) for each in posed.posed(1.0).instances] == [(0, 2, 0), (7, 0, 0), (7, 0, 0)]


def test_faults_are_told():
    scene = builtin.build("balls")
    for seconds in (math.nan, math.inf):
        with pytest.raises(ViewerError, match="a time of"):
            scene.pose(seconds)
    huge = Track(1, "scale", np.array([0.0, 1.0]), np.array([[1.0] * 3, [1e300] * 3]))
    scene.animations = [Animation("grow", (huge,))]
    scene.hierarchy.translation[2:4] *= 1e10
    scene.hierarchy.local[2:4, :3, 3] *= 1e10
    assert np.abs(np.linalg.det(scene.pose(0.0).transforms[:, :3, :3])).min() > 1e-9
    gone = scene.pose(1.0).transforms
    assert np.isfinite(gone).all() and np.abs(gone).max() < 1e18
    assert (np.abs(np.linalg.det(gone[:, :3, :3])) < 1e-30).any(), "what flies off is hidden"
    scene.instances.append(Instance(0, np.diag([2.0, 2.0, 2.0, 1.0])))  # stands in the world
    scene.cameras.append(scene.cameras[0])
    assert np.array_equal(scene.pose(0.0).transforms[10], np.diag([2.0, 2.0, 2.0, 1.0]))
    del scene.instances[3:]
    with pytest.raises(
        ViewerError, match="nodes for 10 instances, 4 cameras and 0 lights, but the scene has 3, 5 and 2"
    ):
        scene.pose(0.0)


def test_all_animations_at_once():
    """Of two that move the same property the first does; the longest gives the duration."""
    scene = builtin.build("balls")
    lift = Track(1, "translation", np.array([0.0, 2.0]), np.array([[0.0] * 3, [2.0] * 3]))
    other = Track(1, "translation", np.array([0.0]), np.array([[9.0] * 3]))
    grow = Track(1, "scale", np.array([0.0, 4.0]), np.array([[1.0] * 3, [5.0] * 3]))
    scene.animations = [Animation("lift", (lift,)), Animation("grow", (other, grow))]
    scene.play("all")
    assert scene.duration == 4 and scene.playing.name == "all" and scene.playing is scene.playing
    both = Poser(Hierarchy.of([-1, -1], np.zeros((2, 3)), []), scene.playing).world(1.0)
    assert np.array_equal(both[1], [[2, 0, 0, 1], [0, 2, 0, 1], [0, 0, 2, 1], [0, 0, 0, 1]])
    assert scene.posed(1.0).playing is scene.playing
    scene.animations = [*scene.animations, Animation("all")]
    scene.play("all")
    assert scene.animation == 2, "one of that name goes before"


# Turntable and the built-in scene


def triangle() -> Mesh:
    corners = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    return Mesh(corners, np.int32([[0, 1, 2]]), np.zeros(1, np.int32), np.float32([[0, 0, 1]] * 3))


def moved(path: str, values: list[list[float]], seconds: float = 1.0) -> Scene:
    scene = Scene([triangle()], [Instance(0)])
    scene.hierarchy = Hierarchy.of([-1], np.zeros((1, 3)), [0])
    times = np.linspace(0.0, seconds, len(values))
    scene.animations = [Animation("motion", (Track(0, path, times, np.array(values, np.float64)),))]
    return scene


def turn(turns: float) -> list[float]:
    return [0.0, 0.0, float(np.sin(np.pi * turns)), float(np.cos(np.pi * turns))]


def test_what_moves_has_the_poses_of_its_keys():
    scene = balls.build()
    found = exposed(scene, 1.0, 1.5, 4)
    keys = at_keys(found)
    assert len(keys) == key_count(found) == 4
    for key, seconds in zip(keys, np.linspace(1.0, 1.5, 4), strict=True):
        assert np.array_equal(transforms_of(key.instances), scene.pose(seconds).transforms)
        assert all(each.motion is None for each in key.instances)
    moves = [each.motion is not None for each in found.instances]
    assert moves == [True, True] + [False] * 8
    assert np.array_equal(found.instances[0].transform, found.instances[0].motion[0])
    box = np.array([each.bounds() for each in keys])
    assert np.array_equal(bounds_in_motion(found), [box[:, 0].min(axis=0), box[:, 1].max(axis=0)])


@pytest.mark.parametrize("turns, keys", [(0.0, 1), (0.01, 2), (0.02, 3), (0.1, 9), (0.5, MAX_SHUTTER_KEYS)])
def test_turns_have_as_many_keys_as_arcs_need(turns: float, keys: int):
    """A chord of a turn by a is 1 - cos(a / 2) off a radius, here the way from a corner to the far end, of 1.41."""
    scene = moved("rotation", [turn(turns * k / 8) for k in range(9)])
    found = exposed(scene, 0.0, 1.0)
    assert key_count(found) == keys
    if 1 < keys < MAX_SHUTTER_KEYS:
        off = (1 - np.cos(np.pi * turns / (keys - 1))) / np.sqrt(2)  # of a corner at 1, in sizes of the triangle
        assert off <= MAX_DEVIATION
        coarser = (1 - np.cos(np.pi * turns / max((keys - 1) / 2, 0.5))) / np.sqrt(2)
        assert keys == 2 or coarser > MAX_DEVIATION


def test_each_key_is_posed_once(monkeypatch: pytest.MonkeyPatch):
    """Of twice as many keys half are known."""
    scene, asked, pose = moved("rotation", [turn(0.0), turn(0.25), turn(0.5)]), [], Scene.pose
    monkeypatch.setattr(Scene, "pose", lambda self, seconds: (asked.append(seconds), pose(self, seconds))[1])
    found = exposed(scene, 0.1, 0.9)
    assert key_count(found) > 9 and len(asked) == 1 + len(set(asked))  # and the still at its beginning


def test_the_joint_that_bends_most_counts():
    """In the sizes that it gives its mesh, not in those of others: an arc of a joint beside large ones that stand."""
    own = Deformation(np.zeros((3, 1), np.int32), np.ones((3, 1), np.float32))
    joints = [np.stack([np.diag([50.0, 50.0, 50.0, 1.0]), np.eye(4)]) for _ in range(3)]
    for number, each in enumerate(joints):
        angle = 0.1 * number
        each[1, :2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    mesh = DeformedMesh(triangle(), own, MeshPose(joints[0]))
    scene = Scene([mesh], [Instance(0)])
    poses = [scene.pose(0.0)._replace(meshes={0: MeshPose(each)}) for each in joints]
    # Of the corner (1, 1) of the triangle's box, in the box's diagonal: what a chord of 0.2 is off its arc.
    assert _pose_deviation(scene, poses) == pytest.approx(1 - np.cos(0.1), rel=1e-9)


def test_straight_ways_need_their_ends_alone():
    assert key_count(exposed(moved("translation", [[0, 0, 0], [9, 5, 1]]), 0.0, 1.0)) == 2
    assert key_count(exposed(moved("scale", [[1, 1, 1], [3, 1, 1]]), 0.2, 0.9)) == 2
    corner = moved("translation", [[0, 0, 0], [1, 0, 0], [1, 1, 0]])
    assert key_count(exposed(corner, 0.2, 0.9)) > 2  # it turns at a key of its own


def test_nothing_is_left_of_an_exposure_in_another_pose():
    scene = balls.build()
    scene.lights[0] = replace(scene.lights[0], name="first")
    found = exposed(scene, 1.0, 1.5)
    later = found.posed(2.0)
    assert key_count(later) == 1
    assert np.array_equal(transforms_of(later.instances), transforms_of(scene.posed(2.0).instances))
    camera = Camera((0, 0, 5), (0, 0, 0))
    moving = moving_camera([camera, replace(camera, origin=(1.0, 0.0, 5.0))])
    assert moving.motion and not turntable(moving, scene.bounds(), 0.1).motion
    assert [each.aperture for each in moving.with_lens(0.5).motion] == [0.5, 0.5]
    halfway = moving.at(3)[1]
    assert halfway.origin == (0.5, 0.0, 5.0) and not halfway.motion


def test_a_light_that_is_put_somewhere_stays_there():
    scene = moved("translation", [[0, 0, 0], [1, 0, 0]])
    scene.lights = [Light("point", "lamp")]
    scene.hierarchy = replace(scene.hierarchy, light_nodes=np.zeros(1, np.int64))
    found = exposed(scene, 0.0, 1.0)
    assert [each.position for each in found.lights[0].motion] == [(0, 0, 0), (1, 0, 0)]
    assert not with_light_at(found, "lamp", (0.0, 2.0, 0.0)).lights[0].motion


def test_a_camera_that_turns_has_keys_by_its_axes():
    camera = Camera((0, 0, 5), (0, 0, 0))

    def cameras(count: int) -> list[Camera]:
        return [turntable(camera, [[-1, -1, -1], [1, 1, 1]], share) for share in np.linspace(0, 0.2, count)]

    found = enough_cameras(cameras)
    assert len(found) == 17  # 4.5 degrees between two of them: an axis, of 1, is 1 - cos(2.25 degrees) = 0.0008 off
    assert len(enough_cameras(lambda count: [camera] * count)) == 2


def test_deforming_meshes_move_through_their_poses():
    target = MorphTarget(positions=np.float32([[0, 0, 1]] * 3))
    deformation = Deformation(np.zeros((3, 0), np.int32), np.zeros((3, 0), np.float32), (target,))
    poses = tuple(MeshPose(weights=np.array([weight])) for weight in (0.0, 1.0))
    mesh = DeformedMesh(triangle(), deformation, poses[0]).with_motion(poses)
    scene = Scene([mesh], [Instance(0)])
    first, last = at_keys(scene)
    assert np.array_equal(last.meshes[0].positions, mesh.rest.positions + np.float32([0, 0, 1]))
    assert not first.meshes[0].motion
    assert mesh.posed(poses[0]) is not mesh  # it stands still
    again = pickle.loads(pickle.dumps(scene))
    assert key_count(again) == 2


def test_fingerprints_tell_of_motion_alone():
    """Files of pictures from before there was any are gone on from."""
    still, light = Instance(0), Light("point")
    assert fingerprint(still) != fingerprint(replace(still, motion=np.stack([np.eye(4)] * 2)))
    assert fingerprint(light) != fingerprint(replace(light, motion=(light, light)))
    scene = raystream.load("balls")
    assert fingerprint(scene.instances, scene.lights) == "a11ef67de492fc05"  # as before they had a field of motion
