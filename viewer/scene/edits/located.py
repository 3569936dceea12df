"""Scenes far from the origin of their coordinates, such as UTM's: places relative to a point nearby, so that float32
holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.scene.deform import DeformedMesh
from raystream.scene.geometry.vertices import FAR_EDGES, shifted
from raystream.scene.mesh import Instance
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Scene

TESTED_VERTICES = 64  # by which most scenes are known not to be far


def located(scene: Scene) -> Scene:
    """The scene relative to a point near its middle, if it lies far from its origin and has none yet; animated ones as
    they are, whose nodes place their instances. Deforming meshes count as they are at rest: the device has the pose."""
    if any(scene.origin) or scene.hierarchy is not None or not _may_be_far(scene):
        return scene
    low, high = _with_rest_meshes(scene).bounds(ground=False)
    edge, centre = float((high - low).max()), (low + high) / 2.0
    if not (0.0 < edge < float(np.abs(centre).max()) / FAR_EDGES):
        return scene
    rounding = 2.0 ** np.ceil(np.log2(edge))  # the same for scenes alike
    return about(scene, (np.round(centre / rounding) * rounding).tolist())


def _may_be_far(scene: Scene) -> bool:
    """Whether a sample of each instance's vertices does not rule out that the scene is far. The bounds of all, which
    take long where there are many, have an edge of at least theirs, and a middle no farther from any of them than that
    edge."""
    samples = []
    per_instance = max(1, TESTED_VERTICES // max(1, len(scene.instances)))
    for instance in scene.instances:
        mesh = scene.meshes[instance.mesh]
        mesh = mesh.rest if isinstance(mesh, DeformedMesh) else mesh
        if isinstance(mesh, Quadric) or not len(mesh.triangles):
            return True
        corners = mesh.positions[mesh.triangles[:: -(-len(mesh.triangles) // per_instance), 0]]
        with np.errstate(all="ignore"):
            samples.append(corners @ instance.transform[:3, :3].T + instance.transform[:3, 3])
    if not samples:
        return False
    points = np.concatenate(samples)
    with np.errstate(all="ignore"):
        return not np.ptp(points, axis=0).max() >= np.abs(points).max(axis=1).min() / (FAR_EDGES - 1.0)


def _with_rest_meshes(scene: Scene) -> Scene:
    """The scene with its deforming meshes at rest."""
    if not scene.deforms:
        return scene
    return scene.with_parts(meshes=[mesh.rest if isinstance(mesh, DeformedMesh) else mesh for mesh in scene.meshes])


def about(scene: Scene, origin: Sequence[float]) -> Scene:
    """The same scene with its positions relative to ``origin`` (3,), a point of the file's coordinates."""
    shift = np.subtract(scene.origin, origin)
    if not shift.any():
        return scene
    lights = [
        replace(
            light,
            position=tuple(np.add(light.position, shift).tolist()),
            motion=tuple(replace(key, position=tuple(np.add(key.position, shift).tolist())) for key in light.motion),
        )
        for light in scene.lights
    ]
    return scene.with_parts(
        instances=[_shifted_instance(instance, shift) for instance in scene.instances],
        cameras=[replace(camera, base=scene.origin).about(origin) for camera in scene.cameras],
        lights=lights,
        origin=tuple(map(float, origin)),
    )


def _shifted_instance(instance: Instance, shift: NDArray[np.float64]) -> Instance:
    transform = shifted(instance.transform, shift)
    motion = None if instance.motion is None else shifted(instance.motion, shift)
    return replace(instance, transform=transform, motion=motion)
