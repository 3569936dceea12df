"""Attributes of hits in a scene's data: objects and materials by index, texture coordinates, and where a point has
been."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from raystream.film.mattes import Labels, assets, classes, material_names, objects, parts
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.scene.mesh import Mesh, meshes_of, transforms_of


class HitAttributes:
    """Of hits (N,) with the indices of their instances, -1 for none, as `PreparedScene.instance_indices` has them."""

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
