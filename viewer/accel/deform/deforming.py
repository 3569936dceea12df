"""The deforming objects of a two-level structure, updated to a pose without a rebuild."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from raystream.accel.bvh.build import Bvh
from raystream.accel.deform.covers import Box, DeformedBounds, boxes_of
from raystream.accel.deform.rebuild import Trees
from raystream.accel.deform.refit import RefitTables
from raystream.accel.deform.tables import PoseTables, Rows, joined
from raystream.scene.deform.mesh import DeformedMesh
from raystream.scene.mesh import Mesh


@dataclass
class Deforming:
    """Deforming objects, the first ones of their structure.

    numbers : (D,) of their meshes in the scene. poses, trees : tables. bvhs : the trees, with their costs. version : of
    the pose; grows with each.
    """

    numbers: list[int]
    poses: PoseTables
    trees: RefitTables
    covers: list[DeformedBounds]
    bvhs: Trees
    version: int = field(default=0)

    @classmethod
    def of(
        cls,
        numbers: Sequence[int],
        meshes: Sequence[DeformedMesh],
        scales: NDArray[np.float64],
        trees: RefitTables,
        bvhs: Sequence[Bvh],
    ) -> Deforming | None:
        """None where weights below zero leave no bounds."""
        covers = [DeformedBounds(mesh, scale) for mesh, scale in zip(meshes, scales.tolist(), strict=True)]
        if not all(cover.convex for cover in covers):
            return None
        return cls(list(numbers), PoseTables(meshes, scales), trees, covers, Trees.of(bvhs))

    def fits(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> bool:
        """Whether these meshes of a scene, in other poses, are deforming objects with room for them, or no objects; one
        that moves while the shutter is open has tables of keys, which are not here."""
        for number in posed:
            mesh = meshes[number]
            if not isinstance(mesh, DeformedMesh) or mesh.motion:
                return False
            if number in self.numbers and not self.poses.fits(self.numbers.index(number), mesh):
                return False
        return True

    def boxes(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> dict[int, Box]:
        """Conservative boxes (2, 3) of objects, by number, in the poses of the scene's meshes."""
        deforming = self._deforming_meshes(meshes, posed)
        if not deforming:
            return {}
        boxes = boxes_of([self.covers[place] for place, _ in deforming], [mesh.pose for _, mesh in deforming])
        return {place: box for (place, _), box in zip(deforming, boxes, strict=True)}

    def pose(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> Rows:
        """Have the poses of the scene's meshes, which `fits`; the changed rows."""
        changed: Rows = []
        for place, mesh in self._deforming_meshes(meshes, posed):
            changed += self.poses.pose(place, mesh)
        self.version += bool(changed)
        return joined(changed)

    def _deforming_meshes(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> list[tuple[int, DeformedMesh]]:
        """Those of the meshes that are deforming objects, with their places."""
        places = {number: place for place, number in enumerate(self.numbers)}
        candidates = ((places.get(number), meshes[number]) for number in posed)
        return [(place, mesh) for place, mesh in candidates if place is not None and isinstance(mesh, DeformedMesh)]
