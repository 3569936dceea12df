"""Attributes of hits by the scene's data: objects and materials by index, texture coordinates, and motion vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.film.mattes import Labels, assets, classes, material_names, objects, parts
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.scene.camera import Camera
from raystream.scene.deform import DeformedMesh
from raystream.scene.mesh import Mesh, meshes_of, transforms_of
from raystream.scene.scene import Scene


class HitAttributes:
    """Looks up attributes of hits (N,) of `HIT`; their instances are indices (N,) of `PreparedScene.instance_indices`,
    -1 for no hit."""

    def __init__(self, prepared: PreparedScene) -> None:
        self.prepared, self.scene = prepared, prepared.scene
        self.meshes = meshes_of(self.scene.instances)

    objects: cached_property[Labels] = cached_property(lambda self: objects(self.scene))
    parts: cached_property[Labels] = cached_property(lambda self: parts(self.scene))
    assets: cached_property[Labels] = cached_property(lambda self: assets(self.scene))
    classes: cached_property[Labels] = cached_property(lambda self: classes(self.scene))
    material_names: cached_property[tuple[str, ...]] = cached_property(lambda self: material_names(self.scene))

    def labels(self, labels: Labels, instances: NDArray[np.int32]) -> NDArray[np.int32]:
        """(N,) indices of the hits' labels among ``labels.names``, -1 for no hit."""
        return np.append(labels.indices, np.int32(-1))[instances]

    def materials(self, instances: NDArray[np.int32], triangles: NDArray[np.int64]) -> NDArray[np.int32]:
        """(N,) indices of the hits' materials in the scene, -1 for no hit. triangles : (N,) within their instances."""
        materials = np.append(self._materials, np.int32(-1))[instances]
        for mesh, rows in self._rows_by_mesh(np.flatnonzero((instances >= 0) & (materials < 0)), instances):
            materials[rows] = mesh.materials[triangles[rows]]
        return materials

    def uvs(self, hits: NDArray, instances: NDArray[np.int32], triangles: NDArray[np.int64]) -> NDArray[np.float32]:
        """(N, 2) texture coordinates of the meshes' first set; zeros where there is none. triangles : (N,) of
        `triangles`."""
        uvs = np.zeros((len(hits), 2), np.float32)
        weights = self.weights(hits, instances)
        for mesh, rows in self._rows_by_mesh(np.flatnonzero(instances >= 0), instances):
            if mesh.uvs is not None:
                corners = mesh.uvs[mesh.triangles[triangles[rows]]].astype(np.float64)
                uvs[rows] = (corners * weights[rows, :, None]).sum(axis=1)
        return uvs

    def weights(self, hits: NDArray, instances: NDArray[np.int32]) -> NDArray[np.float64]:
        """(N, 3) barycentric weights of the corners, in the mesh's order."""
        second = hits["barycentric"].astype(np.float64)
        if self.prepared.structure.levels == 1:  # flattening has swapped two corners of mirrored instances
            mirrored = np.append(self._mirrored, False)[instances]
            second[mirrored] = second[mirrored, ::-1]
        return np.column_stack([1.0 - second.sum(axis=1), second])

    def triangles(self, hits: NDArray | Mapping[str, NDArray], instances: NDArray[np.int32]) -> NDArray[np.int64]:
        """(N,) indices of the hits' triangles in their instances' meshes, -1 for no hit."""
        indices: NDArray[np.int64] = hits["triangle"].astype(np.int64)
        if self.prepared.structure.levels == 1:
            first = np.append(self.prepared.starts[:-1], 0)[instances]
            indices = np.where(instances >= 0, indices - first, -1)
        return indices

    @cached_property
    def _materials(self) -> NDArray[np.int32]:
        """(I,) index of each instance's material, -1 where it has several."""
        uniform = [-1] * len(self.scene.meshes)
        for index in np.unique(self.meshes).tolist():
            materials = self.scene.meshes[index].materials
            if len(materials) and (materials == materials[0]).all():
                uniform[index] = int(materials[0])
        indices = (
            uniform[instance.mesh] if instance.material is None else instance.material
            for instance in self.scene.instances
        )
        return np.fromiter(indices, np.int32, len(self.scene.instances))

    @cached_property
    def _mirrored(self) -> NDArray[np.bool_]:
        mirrored: NDArray[np.bool_] = np.linalg.det(transforms_of(self.scene.instances)[:, :3, :3]) < 0
        return mirrored

    def _rows_by_mesh(
        self, rows: NDArray[np.intp], instances: NDArray[np.int32]
    ) -> Iterator[tuple[Mesh, NDArray[np.intp]]]:
        """Each mesh that hits are on, with their indices among ``rows``."""
        meshes = self.meshes[instances[rows]]
        order = np.argsort(meshes, kind="stable")
        indices, firsts = np.unique(meshes[order], return_index=True)
        for index, first, last in zip(indices.tolist(), firsts, [*firsts[1:], len(rows)], strict=False):
            yield self.scene.meshes[index], rows[order[first:last]]


# -- motion vectors: from each pixel's surface point in the last frame to where it is now, in pixels -------------------


class PosedFrame(NamedTuple):
    """A frame: the scene with its poses and transformations then, and the camera."""

    scene: Scene
    camera: Camera


def motion(
    attributes: HitAttributes, camera: Camera, before: PosedFrame, hits: NDArray, positions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(H, W, 2) motion vectors of the hits (H, W) through the pixels' centres since the frame ``before``, in pixels,
    right and down. 0 without a hit, and where the point was not in front of the camera or did not exist.

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
    earlier = _earlier_positions(attributes, before.scene, flat[rows], instances[rows], points)
    if camera == before.camera:
        moving = (earlier != points).any(axis=1)
        rows, points, earlier = rows[moving], points[moving], earlier[moving]
    # Both are projected, so that what stands still has no motion at all.
    left_half = rows % size[0] < size[0] / 2  # of a stereo pair each half is seen by an eye of its own
    for eye, half in ((-1, left_half), (1, ~left_half)):
        vector = camera.project(points[half], size, eye) - before.camera.project(earlier[half], size, eye)
        motion_vectors.reshape(-1, 2)[rows[half]] = np.where(np.isfinite(vector), vector, 0.0)
    return motion_vectors


def _earlier_positions(
    attributes: HitAttributes, scene: Scene, hits: NDArray, instances: NDArray[np.int32], positions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(N, 3): where the hits' ``positions`` (N, 3) were in an earlier ``scene`` with the same instances, world space;
    NaN where meshes do not correspond."""
    now, then = transforms_of(attributes.scene.instances), transforms_of(scene.instances)
    earlier = positions.copy()
    order = np.argsort(instances, kind="stable")
    indices, firsts = np.unique(instances[order], return_index=True)
    for index, first, last in zip(indices.tolist(), firsts, [*firsts[1:], len(order)], strict=False):
        rows = order[first:last]
        mesh = attributes.scene.meshes[attributes.scene.instances[index].mesh]
        earlier_mesh = scene.meshes[scene.instances[index].mesh]
        if mesh is earlier_mesh:
            if not np.array_equal(now[index], then[index]):
                earlier[rows] = _transformed(now[index], then[index], earlier[rows])
        elif _is_pose_of(mesh, earlier_mesh):
            triangles = earlier_mesh.triangles[attributes.triangles(hits[rows], instances[rows])]
            corners = earlier_mesh.positions[triangles].astype(np.float64)
            local = (corners * attributes.weights(hits[rows], instances[rows])[..., None]).sum(axis=1)
            earlier[rows] = local @ then[index, :3, :3].T + then[index, :3, 3]
        else:
            earlier[rows] = np.nan
    return earlier


def _is_pose_of(mesh: Mesh, other: Mesh) -> bool:
    """Whether two meshes are poses of one deforming mesh."""
    return isinstance(mesh, DeformedMesh) and mesh.follows(other)


def _transformed(now: NDArray, then: NDArray, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (N, 3) of an object with the matrix ``now``, moved to where they are with ``then``; NaN where ``now`` is
    singular."""
    try:
        matrix = then @ np.linalg.inv(now)
    except np.linalg.LinAlgError:
        return np.full_like(points, np.nan)
    return points @ matrix[:3, :3].T + matrix[:3, 3]
