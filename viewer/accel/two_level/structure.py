"""Two levels: objects with structures of their own, built once, and a structure over their instances.

A ray goes to an object's space without normalising its direction, so that distances are those of the world. Movement
changes rows of instances and rebuilds the top structure; objects stay as they are.

A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006): two levels of grids; I. Wald, C. Benthin
and P. Slusallek, "Distributed interactive ray tracing of dynamic scenes" (2003): two levels and rigid motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from raystream.accel.motion import KEYS, MOTION, Moving
from raystream.accel.quadrics import corners_of
from raystream.accel.two_level.objects import (
    Objects,
    bent,
    growth,
    inverses,
    objects_of,
    world_boxes,
)
from raystream.accel.two_level.top import BY_AREA, Changes, Top, TopBvhOptions, top_over
from raystream.base.errors import ViewerError
from raystream.kernels.records import RAY
from raystream.scene.mesh import transforms_of
from raystream.scene.scene import Scene
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, Field, Record, rows_of

INSTANCE = Record(
    "Instance",
    *rows_of("inverse", "vec4", "the linear map to object space; the object's origin"),
    *rows_of("linear", "vec3", "the linear map to the world"),
    Field("object", "int", about="number of the object", within=ROWS),
    Field("face", "int", about="address of the object's first face", within=ROWS),
    Field("material", "int", about="address of the material of all its triangles, -1: the faces' own", within=ROWS),
)

INSTANCE_MOVING = Record(INSTANCE.name, *INSTANCE.fields, KEYS)
INSTANCE_KEY = Record(
    "InstanceKey",
    *rows_of("linear", "vec3", "the linear map to the world"),
    Field("place", "vec3", "scene units", "world", "the object's origin"),
)
MOVING = "MOVING_INSTANCES"  # feature of the scene
# Of a position and its box between two keys, relative to coordinates at any of them and the growth of errors by maps:
# those of both keys, what is between them and its inverse are rounded.
ROUNDING = 2.0**-19


@dataclass
class TwoLevel:
    """Instances of objects, and the structure over them.

    An instance that moves while the shutter is open has its maps at the keys in a table of their own. Its object, at
    all of its own keys, lies within a box at each of these, and in between within boxes that are linear, as maps are.

    transforms : (I, 4, 4) float64, the instances' own. low, high : (I, 3) float32, their boxes in the world, over all
                 of their keys.
    mirrored   : (I,) bool, whether the flattened scene swaps corners of the instance's triangles.
    users      : those that show it. stands : the scene as which it has been moved or posed last; None: as it was built.
    """

    objects: Objects
    top: Top
    table: Table
    transforms: NDArray[np.float64]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    mirrored: NDArray[np.bool_]
    modules: list[Module] = field(default_factory=list)
    users: WeakSet[Any] = field(default_factory=WeakSet)
    stands: Scene | None = None

    @classmethod
    def of(cls, scene: Scene, kind: str, rule: TopBvhOptions = BY_AREA) -> TwoLevel:
        """The instances of a scene under a top structure of that kind (`raystream.accel.two_level.top.TOPS`), a
        hierarchy by that rule.

        Raises ViewerError for a coordinate beyond the range of float32 ray tracing.
        """
        objects, count = objects_of(scene), len(scene.instances)
        moving = [
            k for k, instance in enumerate(scene.instances) if instance.motion is not None and not objects.baked[k]
        ]
        record = INSTANCE_MOVING if moving else INSTANCE
        table = Table("instances", record, np.zeros(count, record.dtype))
        table.data["object"] = objects.of
        shown = objects.of >= 0
        table.data["face"][shown] = objects.first_faces[objects.of[shown]]
        material = [-1 if instance.material is None else instance.material for instance in scene.instances]
        table.data["material"] = np.where(objects.baked, -1, material) if count else material
        low, high = np.zeros((count, 3), np.float32), np.zeros((count, 3), np.float32)
        keys = len(scene.instances[moving[0]].motion) if moving else 1  # type: ignore[arg-type]
        top = top_over(kind, count, len(moving), keys, rule)
        structure = cls(objects, top, table, np.zeros((count, 4, 4)), low, high, np.zeros(count, bool))
        ray = Module("instances", ("object_ray",), "accel/object_ray.glsl", memories=(table,), uses=(RAY,))
        if moving:
            motion = np.stack([scene.instances[k].motion for k in moving])  # type: ignore[misc]  # (M, K, 4, 4)
            ray = structure._moving(ray, np.array(moving, np.intp), motion)
        structure.modules = [*structure.top.modules, ray]
        transforms = transforms_of(scene.instances)
        standing = np.where(objects.baked[:, None, None], np.eye(4), transforms)
        structure._place(np.arange(count), standing, inverses(standing[:, :3, :3]))
        structure.transforms = transforms
        structure.top.build(
            structure.low, structure.high, structure._sweep(np.array(moving, np.intp), motion) if moving else None
        )
        return structure

    @property
    def swept(self) -> bool:
        """Whether something moves while the shutter is open."""
        moves = "keys" in (self.table.data.dtype.names or ())
        return moves or any(moving is not None for moving in self.objects.moving)

    def _moving(self, ray: Module, numbers: NDArray[np.intp], motion: NDArray[np.float64]) -> Module:
        """The module ``ray`` with the maps (M, K, 4, 4) of instances of these numbers (M,) at their keys."""
        count = motion.shape[1]
        self.table.data["keys"] = -1
        self.table.data["keys"][numbers] = np.arange(len(numbers)) * count
        keys = np.zeros(motion.shape[:2], INSTANCE_KEY.dtype)
        of = self.objects.of[numbers]
        scale = np.where(of >= 0, self.objects.scales[np.maximum(of, 0)] if len(self.objects.scales) else 1.0, 1.0)
        for row, axis in enumerate("xyz"):
            keys[f"linear_{axis}"] = motion[:, :, row, :3] / scale[:, None, None]
        keys["place"] = motion[:, :, :3, 3]
        return replace(
            ray,
            memories=(*ray.memories, Table("instance_keys", INSTANCE_KEY, keys.ravel())),
            uniforms={"instance_segments": ("int", count - 1)},
            features=frozenset({MOTION, MOVING}),
        )

    def _sweep(self, numbers: NDArray[np.intp], motion: NDArray[np.float64]) -> Moving:
        """Have the boxes of these instances (M,) cover all of their keys (M, K, 4, 4); returns those at each of them,
        as triangles."""
        shown = self.objects.of[numbers] >= 0
        numbers, motion = numbers[shown], motion[shown]
        of = self.objects.of[numbers]
        linear = motion[..., :3, :3] / self.objects.scales[of][:, None, None, None]
        boxes = np.empty((motion.shape[1], len(numbers), 2, 3), np.float32)
        for key, key_boxes in enumerate(boxes):
            ends = world_boxes(self.objects.parts, self.objects.corners, of, linear[:, key], motion[:, key, :3, 3])
            key_boxes[:, 0], key_boxes[:, 1] = ends
        size = np.abs(boxes).max(axis=2) + 2 * np.abs(motion[..., :3, 3].swapaxes(0, 1))  # of the object, turned, too
        turns = motion[..., :3, :3].reshape(-1, 3, 3)
        grown = growth(turns, inverses(turns)).reshape(motion.shape[:2]).max(axis=1)
        margin = (ROUNDING * grown[:, None] * size.max(axis=0)).astype(np.float32)
        boxes[:, :, 0] -= margin
        boxes[:, :, 1] += margin
        self.low[numbers], self.high[numbers] = boxes[:, :, 0].min(axis=0), boxes[:, :, 1].max(axis=0)
        return Moving(numbers, corners_of(boxes.reshape(-1, 2, 3)).reshape(*boxes.shape[:2], 3, 3))

    def move(self, numbers: NDArray[np.intp], transforms: NDArray[np.float64]) -> Changes | None:
        """Move the instances of these numbers (N,) to (N, 4, 4) float64, and rebuild the top structure.

        Returns the changed rows, or None where objects must change too: for a transformation that is, or was, flat or
        too distorted for an object space. Raises ViewerError, without any change, for a non-finite one, and beyond the
        range of float32 ray tracing.
        """
        if not np.isfinite(transforms).all():
            raise ViewerError("move", "a transformation is not finite", "give (4, 4) finite numbers for each instance")
        moved = (self.transforms[numbers] != transforms).any(axis=(1, 2))
        numbers, transforms = numbers[moved], transforms[moved]
        if not len(numbers):
            return []
        inverse = inverses(transforms[:, :3, :3])
        if self.objects.baked[numbers].any() or bent(transforms[:, :3, :3], inverse).any():
            return None
        if self.swept:
            return None  # through their keys
        self._place(numbers, transforms, inverse)
        self.transforms[numbers] = transforms
        edges = np.flatnonzero(np.diff(numbers) != 1) + 1  # of runs of neighbours
        firsts, lasts = np.r_[0, edges], np.r_[edges, len(numbers)] - 1
        changes = [(self.table, int(numbers[a]), int(numbers[b]) + 1) for a, b in zip(firsts, lasts, strict=True)]
        return changes + self.top.build(self.low, self.high)

    def cover(self, boxes: Mapping[int, NDArray[np.float64]]) -> Changes:
        """Have objects of these numbers within boxes (2, 3) of their spaces, and rebuild the top structure; returns the
        changed rows."""
        for number, (low, high) in boxes.items():
            half = (high - low) / 2
            self.objects.parts[number] = *(low + half), *half, np.sqrt((half * half).sum())
        covered = np.flatnonzero(np.isin(self.objects.of, list(boxes)) & ~self.objects.baked)
        if not len(covered):
            return []
        transforms = self.transforms[covered]
        self._place(covered, transforms, inverses(transforms[:, :3, :3]))
        return self.top.build(self.low, self.high)

    def _place(self, numbers: NDArray[np.intp], standing: NDArray[np.float64], inverse: NDArray[np.float64]) -> None:
        """Write the rows of these instances, and their boxes; object transforms (N, 4, 4), with inverses (N, 3, 3) of
        the linear parts."""
        of = self.objects.of[numbers]
        scale = np.ones((len(of), 1, 1))
        scale[of >= 0, 0, 0] = self.objects.scales[of[of >= 0]]
        linear, inverse, place = standing[:, :3, :3] / scale, inverse * scale, standing[:, :3, 3]
        low, high = world_boxes(self.objects.parts, self.objects.corners, of, linear, place)
        rows = self.table.data
        for row, axis in enumerate("xyz"):
            rows[f"inverse_{axis}"][numbers, :3] = inverse[:, row]
            rows[f"inverse_{axis}"][numbers, 3] = place[:, row]
            rows[f"linear_{axis}"][numbers] = linear[:, row]
        self.low[numbers], self.high[numbers] = low, high
        self.mirrored[numbers] = np.linalg.det(linear) < 0
