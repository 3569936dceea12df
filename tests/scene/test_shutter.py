"""Scenes in motion while a shutter is open: their keys, and what stays as it is without any."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import raystream
from raystream.film.files.checkpoint import fingerprint
from raystream.options.picture import MAX_SHUTTER_KEYS
from raystream.scene.animation import Animation, Track, turntable
from raystream.scene.builtin import balls
from raystream.scene.camera import Camera
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.edits.movable import with_light_at
from raystream.scene.exposure import (
    DEVIATION,
    _deviation,
    at_keys,
    bounds_in_motion,
    enough_cameras,
    exposed,
    key_count,
    moving_camera,
)
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.light import Light
from raystream.scene.mesh import Instance, Mesh, transforms_of
from raystream.scene.scene import Scene


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
        assert off <= DEVIATION
        coarser = (1 - np.cos(np.pi * turns / max((keys - 1) / 2, 0.5))) / np.sqrt(2)
        assert keys == 2 or coarser > DEVIATION


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
    assert _deviation(scene, poses) == pytest.approx(1 - np.cos(0.1), rel=1e-9)


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
    assert [each.fov for each in moving.with_fov(20).motion] == [20, 20]
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
    mesh = DeformedMesh(triangle(), deformation, poses[0]).moving(poses)
    scene = Scene([mesh], [Instance(0)])
    first, last = at_keys(scene)
    assert np.array_equal(last.meshes[0].positions, mesh.rest.positions + np.float32([0, 0, 1]))
    assert not first.meshes[0].motion
    assert mesh.posed(poses[0]) is not mesh  # it stands still
    again = pickle.loads(pickle.dumps(scene))
    assert key_count(again) == 2


def test_parts_with_different_keys_are_no_exposure():
    scene = Scene([triangle()], [Instance(0, motion=np.stack([np.eye(4)] * n)) for n in (2, 3)])
    with pytest.raises(ValueError, match="2, 3"):
        key_count(scene)


def test_fingerprints_tell_of_motion_alone():
    """Files of pictures from before there was any are gone on from."""
    still, light = Instance(0), Light("point")
    assert fingerprint(still) != fingerprint(replace(still, motion=np.stack([np.eye(4)] * 2)))
    assert fingerprint(light) != fingerprint(replace(light, motion=(light, light)))
    scene = raystream.load("balls")
    assert fingerprint(scene.instances, scene.lights) == "a11ef67de492fc05"  # as before they had a field of motion
