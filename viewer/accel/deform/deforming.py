"""The deforming objects of a two-level structure: what follows a pose without another build."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from viewer.accel.bvh.build import Bvh
from viewer.accel.deform.covers import Box, Cover
from viewer.accel.deform.rebuild import Trees
from viewer.accel.deform.refit import RefitTables
from viewer.accel.deform.tables import PoseTables, Rows
from viewer.scene.deform.mesh import DeformedMesh
from viewer.scene.mesh import Mesh


@dataclass
class Deforming:
    """Deforming objects, the first ones of their structure.

    numbers : (D,) of their meshes in the scene. poses, trees : tables. bvhs : the trees, with their costs. version : of
    the pose; grows with each.
    """

    numbers: list[int]
    poses: PoseTables
    trees: RefitTables
    covers: list[Cover]
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
        covers = [Cover(mesh, scale) for mesh, scale in zip(meshes, scales.tolist(), strict=True)]
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
        found = {}
        for number in posed:
            mesh = meshes[number]
            if number in self.numbers and isinstance(mesh, DeformedMesh):
                place = self.numbers.index(number)
                found[place] = self.covers[place].of(mesh.pose)
        return found

    def pose(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> Rows:
        """Have the poses of the scene's meshes, which `fits`; the changed rows."""
        changed: Rows = []
        for number in posed:
            mesh = meshes[number]
            if number in self.numbers and isinstance(mesh, DeformedMesh):
                changed += self.poses.pose(self.numbers.index(number), mesh)
        self.version += bool(changed)
        return changed
