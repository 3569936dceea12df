"""Motion vectors, pixels: the way of each pixel's surface since the last frame, by the poses and cameras of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.inputs.hit_attributes import HitAttributes
from raystream.scene.camera import Camera
from raystream.scene.deform import DeformedMesh
from raystream.scene.mesh import Mesh, transforms_of
from raystream.scene.scene import Scene


class PosedFrame(NamedTuple):
    """A frame: the scene as it was posed and placed, and the camera."""

    scene: Scene
    camera: Camera


def motion(
    attributes: HitAttributes, camera: Camera, before: PosedFrame, hits: NDArray, positions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(H, W, 2): from where the hits (H, W) of the pixels' centres were in the last frame to these centres, right and
    down. 0 without a hit, and where the point was not in front of the camera or not there.

    positions : (H, W, 3) of the hits, world space.
    """
    motion_vectors = np.zeros((*hits.shape, 2))
    if len(before.scene.instances) != len(attributes.scene.instances):
        return motion_vectors
    size = hits.shape[::-1]
    flat = hits.reshape(-1)
    instances = attributes.prepared.instance_indices(flat)
    rows = np.flatnonzero(instances >= 0)
    points = positions.reshape(-1, 3)[rows]
    earlier = _earlier(attributes, before.scene, flat[rows], instances[rows], points)
    if camera == before.camera:
        moving = (earlier != points).any(axis=1)
        rows, points, earlier = rows[moving], points[moving], earlier[moving]
    # Both are projected, so that what stands still has no motion at all.
    left_half = rows % size[0] < size[0] / 2  # of a stereo pair each half is seen by an eye of its own
    for eye, half in ((-1, left_half), (1, ~left_half)):
        vector = camera.project(points[half], size, eye) - before.camera.project(earlier[half], size, eye)
        motion_vectors.reshape(-1, 2)[rows[half]] = np.where(np.isfinite(vector), vector, 0.0)
    return motion_vectors


def _earlier(
    attributes: HitAttributes, scene: Scene, hits: NDArray, instances: NDArray[np.int32], positions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(N, 3): where points (N, 3) on instances (N,) were in an earlier scene of the same instances; NaN where that is
    not known."""
    now, then = transforms_of(attributes.scene.instances), transforms_of(scene.instances)
    earlier = positions.copy()
    order = np.argsort(instances, kind="stable")
    indices, begins = np.unique(instances[order], return_index=True)
    for index, first, last in zip(indices.tolist(), begins, [*begins[1:], len(order)], strict=False):
        rows = order[first:last]
        mesh, other = (
            frame_scene.meshes[frame_scene.instances[index].mesh] for frame_scene in (attributes.scene, scene)
        )
        if mesh is other:
            if not np.array_equal(now[index], then[index]):
                earlier[rows] = _carried(now[index], then[index], earlier[rows])
        elif _follows(mesh, other):
            triangles = other.triangles[attributes.triangles(hits[rows], instances[rows])]
            corners = other.positions[triangles].astype(np.float64)
            local = (corners * attributes.weights(hits[rows], instances[rows])[..., None]).sum(axis=1)
            earlier[rows] = local @ then[index, :3, :3].T + then[index, :3, 3]
        else:
            earlier[rows] = np.nan
    return earlier


def _follows(mesh: Mesh, other: Mesh) -> bool:
    """Whether one mesh is another pose of the other."""
    return isinstance(mesh, DeformedMesh) and mesh.follows(other)


def _carried(now: NDArray, then: NDArray, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (N, 3) of an object placed by one matrix, where another places them; NaN of flattened ones."""
    try:
        matrix = then @ np.linalg.inv(now)
    except np.linalg.LinAlgError:
        return np.full_like(points, np.nan)
    return points @ matrix[:3, :3].T + matrix[:3, 3]
