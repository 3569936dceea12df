"""How many keys an exposure needs, so that straight lines between them are close enough to the motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.options.picture import MOST_KEYS
from raystream.scene.animation import Pose
from raystream.scene.camera import Camera
from raystream.scene.deform.deformation import MeshPose
from raystream.scene.deform.mesh import DeformedMesh
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

Key = TypeVar("Key")

# Largest distance of a chord from the motion, in sizes of what moves, and of cameras in focus distances: a turn of 5
# degrees between two keys shortens a radius by 1 - cos(2.5 degrees), about this much.
DEVIATION = 1e-3


def enough_keys(scene: Scene, poses: Callable[[int], list[Pose]]) -> list[Pose]:
    """The poses at the fewest of 2, 3, 5, 9, 17 and `MOST_KEYS` keys whose chords are within `DEVIATION` of the motion
    in their middles. poses : at a number of even times."""
    return _enough(poses, lambda key_poses: _deviation(scene, key_poses))


def enough_cameras(cameras: Callable[[int], list[Camera]]) -> list[Camera]:
    """The same of a camera alone."""
    return _enough(cameras, camera_deviation)


def _enough(at: Callable[[int], list[Key]], deviation: Callable[[list[Key]], float]) -> list[Key]:
    count, keys = 2, at(3)
    while count < MOST_KEYS and deviation(keys) > DEVIATION:
        count = 2 * count - 1
        keys = at(2 * count - 1)
    return keys[::2]


def _deviation(scene: Scene, poses: Sequence[Pose]) -> float:
    """The largest distance of the poses with odd numbers from the means of their neighbours, see `DEVIATION`."""
    placed = np.stack([pose.transforms for pose in poses])
    off = _bent(placed)
    largest = 0.0
    for number in np.flatnonzero(np.abs(off).max(axis=(0, 2, 3), initial=0.0)).tolist():
        box = _corners(scene.meshes[scene.instances[number].mesh])
        largest = max(largest, _relative(placed[:, number, None], off[:, number, None], box))
    for number in poses[0].meshes:
        mesh, key_poses = scene.meshes[number], [pose.meshes[number] for pose in poses]
        if isinstance(mesh, DeformedMesh):
            largest = max(largest, _deforming(mesh, key_poses))
    for cameras in zip(*(pose.cameras for pose in poses), strict=True):
        largest = max(largest, camera_deviation(cameras))
    return largest


def _deforming(mesh: DeformedMesh, poses: Sequence[MeshPose]) -> float:
    weights = float(np.abs(_bent(np.stack([pose.weights for pose in poses]))).max(initial=0.0))
    if not len(poses[0].joints):
        return weights
    joints = np.stack([pose.joints for pose in poses])
    return max(weights, _relative(joints, _bent(joints), _corners(mesh.rest)))


def camera_deviation(cameras: Sequence[Camera]) -> float:
    """The same of cameras: of their origins in focus distances, and of the axes."""
    if all(camera == cameras[0] for camera in cameras):
        return 0.0
    axes = np.array([camera.basis() for camera in cameras])
    places = np.array([camera.origin for camera in cameras])
    scale = min(camera.focus_distance for camera in cameras)
    return max(float(np.abs(_bent(axes)).max()), float(np.abs(_bent(places)).max()) / scale)


def _bent(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(K, ...): of values (2 K + 1, ...), those with odd numbers less the means of their neighbours."""
    with np.errstate(all="ignore"):
        deviation: NDArray[np.float64] = values[1::2] - (values[:-1:2] + values[2::2]) / 2
        return np.nan_to_num(deviation, nan=0.0, posinf=0.0, neginf=0.0)


def _relative(placed: NDArray[np.float64], off: NDArray[np.float64], box: NDArray[np.float64]) -> float:
    """Of maps (2 K + 1, J, 4, 4), ``off`` by (K, J, 4, 4): the largest way of a corner of the box (8, 4), in the sizes
    that the same of the J maps gives it."""
    with np.errstate(all="ignore"):
        moved = np.linalg.norm((box @ off.swapaxes(2, 3))[..., :3], axis=-1).max(axis=(0, 2))
        edges = np.linalg.norm(((box[0] - box[7]) @ placed.swapaxes(2, 3))[..., :3], axis=-1).max(axis=0)
        relative = moved / edges
    return float(relative[(edges > 0) & np.isfinite(moved)].max(initial=0.0))


def _corners(mesh: Mesh) -> NDArray[np.float64]:
    """(8, 4): the corners of the box of a mesh in its own space; the first and the last are opposite."""
    if isinstance(mesh, Quadric):
        low, high = mesh.shape.bounds()
        placed = mesh.shape.transform
    else:
        points = (mesh.rest if isinstance(mesh, DeformedMesh) else mesh).positions
        points = points[np.isfinite(points).all(axis=1)].astype(np.float64)
        low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(3), np.zeros(3))
        placed = np.eye(4)
    ends = np.array([low, high])
    corners = [(ends[x, 0], ends[y, 1], ends[z, 2], 1.0) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    return np.array(corners) @ placed.T
