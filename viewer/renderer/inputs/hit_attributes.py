"""Attributes of hits in a scene's data: objects and materials by index, texture coordinates, and where a point has
been."""

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
    """The attributes of hits (N,) with the indices of their instances, -1 for none, as `PreparedScene.instance_indices`
    has them."""

    def __init__(self, prepared: PreparedScene) -> None:
        self.prepared, self.scene = prepared, prepared.scene
        self.meshes = meshes_of(self.scene.instances)

    objects: cached_property[Labels] = cached_property(lambda self: objects(self.scene))
    parts: cached_property[Labels] = cached_property(lambda self: parts(self.scene))
    assets: cached_property[Labels] = cached_property(lambda self: assets(self.scene))
    classes: cached_property[Labels] = cached_property(lambda self: classes(self.scene))
    material_names: cached_property[tuple[str, ...]] = cached_property(lambda self: material_names(self.scene))

    def labels(self, labels: Labels, instances: NDArray[np.int32]) -> NDArray[np.int32]:
        """(N,) the indices of the objects of the hits' instances, -1 for none."""
        return np.append(labels.indices, np.int32(-1))[instances]

    def materials(self, instances: NDArray[np.int32], triangles: NDArray[np.int64]) -> NDArray[np.int32]:
        """(N,) the materials' numbers in the scene, -1 for none. triangles : (N,) within their instances."""
        materials = np.append(self._materials, np.int32(-1))[instances]
        for mesh, rows in self._by_mesh(np.flatnonzero((instances >= 0) & (materials < 0)), instances):
            materials[rows] = mesh.materials[triangles[rows]]
        return materials

    def uvs(self, hits: NDArray, instances: NDArray[np.int32], triangles: NDArray[np.int64]) -> NDArray[np.float32]:
        """(N, 2) of the meshes' first set; zeros without."""
        uvs = np.zeros((len(hits), 2), np.float32)
        weights = self.weights(hits, instances)
        for mesh, rows in self._by_mesh(np.flatnonzero(instances >= 0), instances):
            if mesh.uvs is not None:
                corners = mesh.uvs[mesh.triangles[triangles[rows]]].astype(np.float64)
                uvs[rows] = (corners * weights[rows, :, None]).sum(axis=1)
        return uvs

    def weights(self, hits: NDArray, instances: NDArray[np.int32]) -> NDArray[np.float64]:
        """(N, 3) of the corners in the mesh's order: flattening swaps two of a mirrored instance."""
        second = hits["barycentric"].astype(np.float64)
        if self.prepared.structure.levels == 1:
            turned = np.append(self._mirrored, False)[instances]
            second[turned] = second[turned, ::-1]
        return np.column_stack([1.0 - second.sum(axis=1), second])

    def triangles(self, hits: NDArray | Mapping[str, NDArray], instances: NDArray[np.int32]) -> NDArray[np.int64]:
        """(N,) indices within their instances, in the mesh's order; -1 for none."""
        indices: NDArray[np.int64] = hits["triangle"].astype(np.int64)
        if self.prepared.structure.levels == 1:
            first = np.append(self.prepared.starts[:-1], 0)[instances]
            indices = np.where(instances >= 0, indices - first, -1)
        return indices

    @cached_property
    def _materials(self) -> NDArray[np.int32]:
        """(I,) of instances of one material, -1 of others."""
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

    def _by_mesh(self, rows: NDArray[np.intp], instances: NDArray[np.int32]) -> Iterator[tuple[Mesh, NDArray[np.intp]]]:
        """The rows on each mesh."""
        meshes = self.meshes[instances[rows]]
        order = np.argsort(meshes, kind="stable")
        indices, begins = np.unique(meshes[order], return_index=True)
        for index, first, last in zip(indices.tolist(), begins, [*begins[1:], len(rows)], strict=False):
            yield self.scene.meshes[index], rows[order[first:last]]


# -- motion vectors, pixels: the way of each pixel's surface since the last frame, by the poses and cameras of both ----


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
