"""Two levels: objects with structures of their own, built once, and a structure over their instances.

A ray goes to an object's space without its direction being normalised, so that distances stay those of the world. What
moves changes rows of instances and the top structure, which is made anew; objects stay as they are.

A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006): two levels of grids; I. Wald, C. Benthin
and P. Slusallek, "Distributed interactive ray tracing of dynamic scenes" (2003): two levels and rigid motion.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from viewer.accel.objects import Objects, growth, inverses, objects_of, transforms_of, world_boxes, MOST_GROWTH
from viewer.accel.top import TOPS, Top
from viewer.errors import ViewerError
from viewer.kernels.records import RAY
from viewer.scene.scene import Scene
from viewer.stream.kernel import Module, Table
from viewer.stream.record import Field, Record

INSTANCE = Record(
    "Instance",
    Field("inverse_x", "vec4", about="row of the linear map to object space; x of where the object's origin stands"),
    Field("inverse_y", "vec4", about="the same of y"),
    Field("inverse_z", "vec4", about="the same of z"),
    Field("linear_x", "vec3", about="row of the linear map to the world"),
    Field("linear_y", "vec3"),
    Field("linear_z", "vec3"),
    Field("object", "int", about="number of the object"),
    Field("face", "int", about="address of the object's first face"),
    Field("material", "int", about="address of the material of all its triangles, -1: the faces' own"),
)

Changes = list[tuple[Table, int, int]]  # rows first .. last - 1 of a table


@dataclass
class TwoLevel:
    """Instances of objects, and the structure over them.

    transforms : (I, 4, 4) float64 as the instances stand. low, high : (I, 3) float32, their boxes in the world.
    """

    objects: Objects
    top: Top
    table: Table
    transforms: NDArray[np.float64]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    modules: list[Module] = field(default_factory=list)

    @classmethod
    def of(cls, scene: Scene, kind: str) -> TwoLevel:
        """The instances of a scene under a top structure of that kind (`viewer.accel.top.TOPS`).

        Raises ViewerError where a coordinate is beyond what float32 ray tracing can hold.
        """
        objects, count = objects_of(scene), len(scene.instances)
        table = Table("instances", INSTANCE, np.zeros(count, INSTANCE.dtype))
        table.data["object"] = objects.of
        shown = objects.of >= 0
        table.data["face"][shown] = objects.first_faces[objects.of[shown]]
        material = [-1 if instance.material is None else instance.material for instance in scene.instances]
        table.data["material"] = np.where(objects.own, -1, material) if count else material
        empty = np.zeros((count, 3), np.float32)
        made = cls(objects, TOPS[kind](count), table, np.zeros((count, 4, 4)), empty, empty.copy())
        ray = Module("instances", ("object_ray",), "accel/object_ray.glsl", memories=(table,), uses=(RAY,))
        made.modules = [*made.top.modules, ray]
        made._place(np.arange(count), transforms_of(scene.instances))
        made.top.build(made.low, made.high)
        return made

    def move(self, numbers: NDArray[np.intp], transforms: NDArray[np.float64]) -> Changes | None:
        """Put the instances of these numbers (N,) elsewhere, (N, 4, 4) float64, and build the top structure anew.

        Returns the rows that changed, or None where objects must change too: where a transformation is, or was, flat
        or worse bent than rays in an object's space can follow. Raises ViewerError for one that is not finite, and
        beyond what float32 ray tracing can hold; then nothing has moved.
        """
        if not np.isfinite(transforms).all():
            raise ViewerError("move", "a transformation is not finite", "give (4, 4) finite numbers for each instance")
        moved = (self.transforms[numbers] != transforms).any(axis=(1, 2))
        numbers, transforms = numbers[moved], transforms[moved]
        if not len(numbers):
            return []
        if self.objects.own[numbers].any() or (growth(transforms) > MOST_GROWTH).any():
            return None
        self._place(numbers, transforms)
        edges = np.flatnonzero(np.diff(numbers) != 1) + 1  # of runs of neighbours
        firsts, lasts = np.r_[0, edges], np.r_[edges, len(numbers)] - 1
        changes = [(self.table, int(numbers[a]), int(numbers[b]) + 1) for a, b in zip(firsts, lasts, strict=True)]
        return changes + [(table, 0, count) for table, count in self.top.build(self.low, self.high)]

    def _place(self, numbers: NDArray[np.intp], transforms: NDArray[np.float64]) -> None:
        """Write the rows of these instances, and their boxes."""
        of, own = self.objects.of[numbers], self.objects.own[numbers]
        standing = np.where(own[:, None, None], np.eye(4), transforms)
        scale = np.where(of >= 0, self.objects.scales[of] if len(self.objects.scales) else 1.0, 1.0)
        linear, place = standing[:, :3, :3] / scale[:, None, None], standing[:, :3, 3]
        low, high = world_boxes(self.objects.parts, of, linear, place)
        rows = self.table.data
        inverse = inverses(linear)
        for row, axis in enumerate("xyz"):
            rows[f"inverse_{axis}"][numbers, :3] = inverse[:, row]
            rows[f"inverse_{axis}"][numbers, 3] = place[:, row]
            rows[f"linear_{axis}"][numbers] = linear[:, row]
        self.low[numbers], self.high[numbers] = low, high
        self.transforms[numbers] = transforms

    @property
    def mirrored(self) -> NDArray[np.bool_]:
        """(I,): whether the scene, flattened, has the corners of the instance's triangles in the other order."""
        return (np.linalg.det(self.transforms[:, :3, :3]) < 0) & ~self.objects.own
