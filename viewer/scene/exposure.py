"""A scene in motion while a shutter is open: the parts that move have their poses at even times, the keys, and are
linear in between, as in Embree (I. Wald et al., "Embree: A Kernel Framework for Efficient CPU Ray Tracing", 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.options.picture import MOST_KEYS
from raystream.scene.animation import Pose
from raystream.scene.camera import Camera
from raystream.scene.deform import DeformedMesh, Matrices, MeshPose
from raystream.scene.light import Light
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

# -- how many keys an exposure needs, so that straight lines between them are close enough to the motion ---------------

Key = TypeVar("Key")

# Largest distance of a chord from the motion, in sizes of what moves, and of cameras in focus distances: a turn of 5
# degrees between two keys shortens a radius by 1 - cos(2.5 degrees), about this much.
MAX_DEVIATION = 1e-3


def enough_keys(scene: Scene, poses: Callable[[int], list[Pose]]) -> list[Pose]:
    """The poses at the fewest of 2, 3, 5, 9, 17 and `MOST_KEYS` keys whose chords are within `MAX_DEVIATION` of the
    motion in their middles. poses : a function of the number of keys."""
    return _fewest_keys(poses, lambda key_poses: _pose_deviation(scene, key_poses))


def enough_cameras(cameras: Callable[[int], list[Camera]]) -> list[Camera]:
    """As `enough_keys`, for one camera."""
    return _fewest_keys(cameras, camera_deviation)


def _fewest_keys(keys_at: Callable[[int], list[Key]], deviation: Callable[[list[Key]], float]) -> list[Key]:
    """The fewest of ``keys_at``(2, 3, 5 ...) whose chords are close enough: the keys between them tell."""
    count, keys = 2, keys_at(3)
    while count < MOST_KEYS and deviation(keys) > MAX_DEVIATION:
        count = 2 * count - 1
        keys = keys_at(2 * count - 1)
    return keys[::2]


def _pose_deviation(scene: Scene, poses: Sequence[Pose]) -> float:
    """The largest distance of odd ones of the poses (2 K + 1) from their neighbours' means, as `MAX_DEVIATION`."""
    transforms = np.stack([pose.transforms for pose in poses])
    deviations = _chord_deviation(transforms)
    largest = 0.0
    for index in np.flatnonzero(np.abs(deviations).max(axis=(0, 2, 3), initial=0.0)).tolist():
        box = _box_corners(scene.meshes[scene.instances[index].mesh])
        largest = max(largest, _relative_deviation(transforms[:, index, None], deviations[:, index, None], box))
    for index in poses[0].meshes:
        mesh, key_poses = scene.meshes[index], [pose.meshes[index] for pose in poses]
        if isinstance(mesh, DeformedMesh):
            largest = max(largest, _mesh_deviation(mesh, key_poses))
    for cameras in zip(*(pose.cameras for pose in poses), strict=True):
        largest = max(largest, camera_deviation(cameras))
    return largest


def _mesh_deviation(mesh: DeformedMesh, poses: Sequence[MeshPose]) -> float:
    weights = float(np.abs(_chord_deviation(np.stack([pose.weights for pose in poses]))).max(initial=0.0))
    if not len(poses[0].joints):
        return weights
    joints = np.stack([pose.joints for pose in poses])
    return max(weights, _relative_deviation(joints, _chord_deviation(joints), _box_corners(mesh.rest)))


def camera_deviation(cameras: Sequence[Camera]) -> float:
    """As `_pose_deviation` of one camera's keys: of its origins, in focus distances, and of its axes."""
    if all(camera == cameras[0] for camera in cameras):
        return 0.0
    axes = np.array([camera.basis() for camera in cameras])
    origins = np.array([camera.origin for camera in cameras])
    scale = min(camera.focus_distance for camera in cameras)
    return max(float(np.abs(_chord_deviation(axes)).max()), float(np.abs(_chord_deviation(origins)).max()) / scale)


def _chord_deviation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(K, ...): of values (2 K + 1, ...), those with odd indices less the means of their neighbours."""
    with np.errstate(all="ignore"):
        deviation: NDArray[np.float64] = values[1::2] - (values[:-1:2] + values[2::2]) / 2
        return np.nan_to_num(deviation, nan=0.0, posinf=0.0, neginf=0.0)


def _relative_deviation(transforms: Matrices, deviations: Matrices, box: NDArray[np.float64]) -> float:
    """The largest distance by which ``deviations`` (K, J, 4, 4) of J transforms displace a corner of the box (8, 4),
    relative to the box's largest diagonal under that one's keys ``transforms`` (2 K + 1, J, 4, 4)."""
    with np.errstate(all="ignore"):
        distances = np.linalg.norm((box @ deviations.swapaxes(2, 3))[..., :3], axis=-1).max(axis=(0, 2))
        edges = np.linalg.norm(((box[0] - box[7]) @ transforms.swapaxes(2, 3))[..., :3], axis=-1).max(axis=0)
        relative = distances / edges
    return float(relative[(edges > 0) & np.isfinite(distances)].max(initial=0.0))


def _box_corners(mesh: Mesh) -> NDArray[np.float64]:
    """(8, 4): the corners, with w = 1, of the box of a mesh in its own space; the first and last are opposite."""
    if isinstance(mesh, Quadric):
        low, high = mesh.shape.bounds()
        transform = mesh.shape.transform
    else:
        points = (mesh.rest if isinstance(mesh, DeformedMesh) else mesh).positions
        points = points[np.isfinite(points).all(axis=1)].astype(np.float64)
        low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
        transform = np.eye(4)
    limits = np.array([low, high])
    corners = [(limits[x, 0], limits[y, 1], limits[z, 2], 1.0) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    return np.array(corners) @ transform.T


# -- a scene in motion while a shutter is open -------------------------------------------------------------------------

Movable = TypeVar("Movable", Camera, Light)


def exposed(scene: Scene, opens: float, closes: float, keys: int | str = "auto") -> Scene:
    """The scene while a shutter is open, from ``opens`` to ``closes``, seconds of its chosen animation.

    keys : number at even times, both ends among them; ``auto``: as many as straight lines between them need
    (`enough_keys`). Parts that do not move have none; where nothing moves, and where both times are
    one, this is the posed scene.
    Raises ViewerError for a shutter that closes before it opens, and as `Scene.pose`.
    """
    if closes < opens:
        raise ViewerError(scene.name, f"a shutter that opens at {opens:g} s and closes at {closes:g} s")
    first = scene.posed(opens)
    if closes == opens or scene.hierarchy is None or not scene.animations:
        return first

    pose_at = cache(scene.pose)  # of twice as many times half are known

    def poses(count: int) -> list[Pose]:
        return [pose_at(seconds) for seconds in np.linspace(opens, closes, count).tolist()]

    return moving(first, enough_keys(first, poses) if keys == "auto" else poses(int(keys)))


def moving(scene: Scene, poses: Sequence[Pose]) -> Scene:
    """The scene in the first of these poses, moving through the others at even times."""
    transforms = np.stack([pose.transforms for pose in poses], axis=1)  # (I, K, 4, 4)
    is_moving = (transforms != transforms[:, :1]).any(axis=(1, 2, 3))
    instances = [
        replace(instance, motion=transforms[k]) if is_moving[k] else instance
        for k, instance in enumerate(scene.instances)
    ]
    meshes = list(scene.meshes)
    for index in poses[0].meshes:
        mesh, key_poses = meshes[index], tuple(pose.meshes[index] for pose in poses)
        if isinstance(mesh, DeformedMesh) and not all(pose.equals(key_poses[0]) for pose in key_poses):
            meshes[index] = mesh.with_motion(key_poses)
    cameras = [_with_motion(keys) for keys in zip(*(pose.cameras for pose in poses), strict=True)]
    lights = [_with_motion(keys) for keys in zip(*(pose.lights for pose in poses), strict=True)]
    return scene.with_parts(instances=instances, meshes=meshes, cameras=cameras, lights=lights)


def _with_motion(keys: tuple[Movable, ...]) -> Movable:
    """The first of the keys with all of them as its motion; without, where all are equal."""
    return keys[0] if all(key == keys[0] for key in keys) else replace(keys[0], motion=keys)


def moving_camera(keys: Sequence[Camera]) -> Camera:
    """The first of the cameras, moving through all of them."""
    return _with_motion(tuple(keys))


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
