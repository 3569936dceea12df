"""A scene in motion while a shutter is open: the parts that move have their poses at even times, the keys, and are
linear in between, as in Embree (I. Wald et al., "Embree: A Kernel Framework for Efficient CPU Ray Tracing", 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.scene.animation import Pose
from raystream.scene.camera import Camera
from raystream.scene.deform.deformation import MeshPose
from raystream.scene.deform.mesh import DeformedMesh
from raystream.scene.exposure.keys import enough_keys
from raystream.scene.light import Light
from raystream.scene.scene import Scene

Placed = TypeVar("Placed", Camera, Light)


def exposed(scene: Scene, opens: float, closes: float, keys: int | str = "auto") -> Scene:
    """The scene while a shutter is open, from ``opens`` to ``closes``, seconds of its chosen animation.

    keys : number at even times, both ends among them; ``auto``: as many as straight lines between them need
    (`raystream.scene.exposure.keys`). Parts that do not move have none; where nothing moves, and where both times are
    one, this is the posed scene.
    Raises ViewerError for a shutter that closes before it opens, and as `Scene.pose`.
    """
    if closes < opens:
        raise ViewerError(scene.name, f"a shutter that opens at {opens:g} s and closes at {closes:g} s")
    first = scene.posed(opens)
    if closes == opens or scene.hierarchy is None or not scene.animations:
        return first

    at = cache(scene.pose)  # of twice as many times half are known

    def poses(count: int) -> list[Pose]:
        return [at(seconds) for seconds in np.linspace(opens, closes, count).tolist()]

    return moving(first, enough_keys(first, poses) if keys == "auto" else poses(int(keys)))


def moving(scene: Scene, poses: Sequence[Pose]) -> Scene:
    """The scene in the first of these poses, moving through the others at even times."""
    placed = np.stack([pose.transforms for pose in poses], axis=1)  # (I, K, 4, 4)
    moves = (placed != placed[:, :1]).any(axis=(1, 2, 3))
    instances = [
        replace(instance, motion=placed[k]) if moves[k] else instance for k, instance in enumerate(scene.instances)
    ]
    meshes = list(scene.meshes)
    for number in poses[0].meshes:
        mesh, key_poses = meshes[number], tuple(pose.meshes[number] for pose in poses)
        if isinstance(mesh, DeformedMesh) and not all(pose.same(key_poses[0]) for pose in key_poses):
            meshes[number] = mesh.moving(key_poses)
    cameras = [_through(keys) for keys in zip(*(pose.cameras for pose in poses), strict=True)]
    lights = [_through(keys) for keys in zip(*(pose.lights for pose in poses), strict=True)]
    return scene.with_parts(instances=instances, meshes=meshes, cameras=cameras, lights=lights)


def _through(keys: tuple[Placed, ...]) -> Placed:
    """The first of the keys, moving through all of them, where they differ."""
    return keys[0] if all(key == keys[0] for key in keys) else replace(keys[0], motion=keys)


def moving_camera(keys: Sequence[Camera]) -> Camera:
    """The first of the cameras, moving through all of them."""
    return _through(tuple(keys))


def key_count(scene: Scene) -> int:
    """Keys of the instances, meshes and lights that move; 1: none does. Raises ValueError for parts with different
    numbers of keys."""
    counts = {len(instance.motion) for instance in scene.instances if instance.motion is not None}
    counts |= {len(light.motion) for light in scene.lights if light.motion}
    counts |= {len(mesh.motion) for mesh in scene.meshes if isinstance(mesh, DeformedMesh) and mesh.motion}
    if len(counts) > 1 or min(counts, default=2) < 2:
        raise ValueError(f"parts of {scene.name} move through {sorted(counts)} keys")
    return counts.pop() if counts else 1


def shapes_move(scene: Scene) -> bool:
    """Whether an instance moves, or a mesh."""
    return any(instance.motion is not None for instance in scene.instances) or bool(motion_of(scene))


def at_keys(scene: Scene) -> list[Scene]:
    """The scene at each of its keys, without its cameras' motion; one scene where nothing else moves."""
    count = key_count(scene)
    return [scene] if count == 1 else [_at_key(scene, key) for key in range(count)]


def _at_key(scene: Scene, key: int) -> Scene:
    instances = [
        instance if instance.motion is None else replace(instance, transform=instance.motion[key], motion=None)
        for instance in scene.instances
    ]
    meshes = [
        mesh.posed(mesh.motion[key]) if isinstance(mesh, DeformedMesh) and mesh.motion else mesh
        for mesh in scene.meshes
    ]
    lights = [light.motion[key] if light.motion else light for light in scene.lights]
    return scene.with_parts(instances=instances, meshes=meshes, lights=lights)


def motion_of(scene: Scene) -> list[tuple[MeshPose, ...]]:
    """The poses through which its deforming meshes move."""
    return [mesh.motion for mesh in scene.meshes if isinstance(mesh, DeformedMesh) and mesh.motion]


def bounds_in_motion(scene: Scene) -> NDArray[np.float64]:
    """(2, 3): the scene's bounds over all of its keys."""
    if key_count(scene) == 1:
        return scene.bounds()
    boxes = np.array([scene_at_key.bounds() for scene_at_key in at_keys(scene)])
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
