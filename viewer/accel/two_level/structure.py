"""Two levels: objects with structures of their own, built once, and a structure over their instances.

A ray goes to an object's space without normalising its direction, so that distances are those of the world. Movement
changes rows of instances and rebuilds the top structure; objects stay as they are.

A. Adinetz and B. Berezin, "Implementing classical ray tracing on GPU" (2006): two levels of grids; I. Wald, C. Benthin
and P. Slusallek, "Distributed interactive ray tracing of dynamic scenes" (2003): two levels and rigid motion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from raystream.accel import bvh_build, primitives
from raystream.accel import bvh_tree as bvh
from raystream.accel.bvh_build import Bvh
from raystream.accel.bvh_tree import with_boxes_at_keys
from raystream.accel.deform import Deforming, RefitTables, Trees, posed_bounds
from raystream.accel.motion import KEYS, MOTION, Moving, builder_corners, with_keys
from raystream.accel.primitives import box_triangles
from raystream.accel.structures import (
    GRID_CHOICES,
    TWO_LEVEL,
    Progress,
    Structure,
    StructureOptions,
    resolved_traversals,
)
from raystream.accel.two_level.top import BY_AREA, Changes, Top, TopBvhOptions, top_structure
from raystream.base.errors import ViewerError
from raystream.base.jit import run
from raystream.kernels.records import RAY
from raystream.scene.deform import DeformedMesh
from raystream.scene.edits.materials import culled_of_objects
from raystream.scene.exposure import at_keys
from raystream.scene.geometry.normals import with_normals
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.triangles import LARGEST_COORDINATE
from raystream.scene.mesh import Mesh, transforms_of
from raystream.scene.quadric import PlacedQuadrics, Quadric
from raystream.scene.scene import Instance, Scene
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, Field, Record, matrix_rows

# -- objects and instances of a two-level scene, and the instances' world-space boxes ----------------------------------

COVER_PARTS = 16  # boxes that cover an object, so that it stays tightly bounded under rotation
# Largest growth of a relative error on the way to an object's space and back. Flat or more distorted instances become
# objects of their own, in world space.
MAX_GROWTH = 1000.0
# The same within the object's space: a ray passes through anything squeezed more than this between two float32
# distances.
MAX_SQUEEZE = 1e5
# Rounding of float32 rays on their way to an object's space, relative to the coordinates.
TRANSFORM_ROUNDING = 2.0**-21
BOX_BATCH = 1 << 14  # instances per batch of boxes
SMALL_COORDINATES = 200  # coordinates below which loops are not worth compiling
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Objects:
    """Distinct meshes, each in a space of its own.

    A mesh is scaled there by a power of two, without rounding, to about unit size: one set of numerical tolerances then
    serves all objects. Unused meshes, and those without a triangle of finite corners, are no objects.

    meshes  : O meshes with normals, in their files' own units. scales : (O,) float64, from these to the object's space.
    corners : for each (T, 3, 3) float32, object space.
    parts   : (O, 1 + `COVER_PARTS`, 7) float64, the cover of each object (`cover`), object space.
    object_of : (I,) int32, the object of each of the scene's instances, -1 for an empty one.
    baked   : (I,) bool, whether that object is the instance itself, in the world: see `is_too_distorted`.
    quadrics : O, an object's quadrics in place of triangles, else None; its corners then bound their boxes.
    deforming : the scene's numbers of the meshes that deform in their objects' spaces: the first objects.
    unfollowable : the scene's numbers of deforming meshes with an instance that is an object of its own.
    keys    : O, the meshes of an object that deforms while the shutter is open at its keys, the first as in ``meshes``;
              of others none. moving : O, its triangles that move, object space.
    """

    meshes: list[Mesh]
    scales: NDArray[np.float64]
    corners: list[NDArray[np.float32]]
    parts: NDArray[np.float64]
    object_of: NDArray[np.int32]
    baked: NDArray[np.bool_]
    quadrics: list[PlacedQuadrics | None]
    keys: list[list[Mesh]]
    moving: list[Moving | None]
    deforming: list[int] = field(default_factory=list)
    unfollowable: frozenset[int] = frozenset()

    def moving_triangles(self, order: Sequence[NDArray[np.int32]]) -> Moving | None:
        """The moving triangles in a table of one object after the other; ``order``: the triangles of each."""
        moving_parts, first = [], 0
        for triangles, moving in zip(order, self.moving, strict=True):
            if moving is not None:
                row = np.full(1 + max(int(triangles.max(initial=0)), int(moving.indices.max())), -1, np.int64)
                row[moving.indices] = np.arange(len(moving.indices))
                positions = np.flatnonzero(row[triangles] >= 0)
                moving_parts.append((positions + first, moving.corners, row[triangles[positions]]))
            first += len(triangles)
        if not moving_parts:
            return None
        indices, first = np.concatenate([positions for positions, _, _ in moving_parts]), 0
        corners = np.empty((len(moving_parts[0][1]), len(indices), 3, 3), np.float32)
        for positions, object_corners, rows in moving_parts:
            for key, source in zip(corners, object_corners, strict=True):
                np.take(source, rows, axis=0, out=key[first : first + len(positions)], mode="clip")
            first += len(positions)
        return Moving(indices, corners)

    @property
    def triangles(self) -> int:
        """Triangles of all objects."""
        return sum(len(corners) for corners in self.corners)

    @property
    def first_faces(self) -> NDArray[np.int64]:
        """(O,): the number of each object's first triangle in a table of one object after the other."""
        return np.cumsum([0, *(len(corners) for corners in self.corners)], dtype=np.int64)[:-1]


def objects_of(scene: Scene) -> Objects:
    """The objects of a scene. Raises ViewerError for a transformation that is not finite."""
    transforms = transforms_of(scene.instances)
    finite = np.isfinite(transforms).all(axis=(1, 2))
    if not finite.all():
        index = int(np.argmin(finite))
        name = scene.instances[index].name or f"instance {index}"
        raise ViewerError(f"{scene.name}: {name}", "its transformation is not finite", "give finite numbers")
    linear = transforms[:, :3, :3]
    baked = is_too_distorted(linear, inverses(linear)) | _is_distorted_in_motion(scene)
    scenes_at_keys = at_keys(scene)
    indices: dict[tuple[int, int], int] = {}  # (mesh, instance in the world or -1) -> object
    meshes: list[Mesh] = []
    corners: list[NDArray[np.float32]] = []
    scales: list[float] = []
    parts: list[NDArray[np.float64]] = []
    quadrics: list[PlacedQuadrics | None] = []
    keys: list[list[Mesh]] = []
    moving: list[Moving | None] = []
    objects = np.full(len(scene.instances), -1, np.int32)
    deforms = np.array([isinstance(scene.meshes[instance.mesh], DeformedMesh) for instance in scene.instances], bool)
    deforming: list[int] = []
    for index in np.argsort(~(deforms & ~baked), kind="stable").tolist():
        instance = scene.instances[index]
        key = (instance.mesh, index if baked[index] else -1)
        if key not in indices:
            mesh = scene.meshes[instance.mesh]
            changes_shape = isinstance(mesh, DeformedMesh) and bool(mesh.motion)
            changes_shape |= bool(baked[index]) and instance.motion is not None
            scenes = scenes_at_keys if changes_shape else scenes_at_keys[:1]
            poses = [
                in_world(scene_at_key, scene_at_key.instances[index])
                if baked[index]
                else with_normals(scene_at_key.meshes[instance.mesh])
                for scene_at_key in scenes
            ]
            indices[key] = _add_object(poses, meshes, scales, corners, parts, quadrics, moving)
            if indices[key] >= 0:
                keys.append(poses if changes_shape else [])
                if deforms[index] and not baked[index]:
                    deforming.append(instance.mesh)
        objects[index] = indices[key]
    covers = np.array(parts).reshape(-1, 1 + COVER_PARTS, 7)
    bound = frozenset(scene.instances[index].mesh for index in np.flatnonzero(deforms & baked).tolist())
    scaled = np.array(scales, np.float64)
    return Objects(meshes, scaled, corners, covers, objects, baked, quadrics, keys, moving, deforming, bound)


def _is_distorted_in_motion(scene: Scene) -> NDArray[np.bool_]:
    """(I,): whether a moving instance is too distorted for an object space, at keys or halfway between two."""
    is_bent = np.zeros(len(scene.instances), bool)
    for index, instance in enumerate(scene.instances):
        if instance.motion is not None:
            linear = np.concatenate([instance.motion, (instance.motion[1:] + instance.motion[:-1]) / 2])[:, :3, :3]
            is_bent[index] = is_too_distorted(linear, inverses(linear)).any()
    return is_bent


def _add_object(
    poses: list[Mesh],
    meshes: list[Mesh],
    scales: list[float],
    corners: list,
    parts: list,
    quadrics: list,
    moving: list[Moving | None],
) -> int:
    """Append an object to the lists; returns its number, or -1 if no ray can hit it. poses : its mesh at each key, only
    one unless it changes its shape."""
    mesh = poses[0]
    quadric = PlacedQuadrics.of(mesh.shape, mesh.maps) if isinstance(mesh, (Quadric, Quadrics)) else None
    if quadric is not None and len(poses) > 1:
        raise ViewerError(mesh.name, "a quadric that is flat, or distorted, while it moves", "use triangles")
    if quadric is None:
        shapes = np.stack([pose.positions[mesh.triangles] for pose in poses])
    elif isinstance(mesh, Quadric):
        shapes = mesh.positions[None, None]
    else:
        shapes = primitives.box_triangles(primitives.boxes(quadric))[None]
    magnitude = np.abs(shapes)
    finite = np.asarray(
        (magnitude <= (LARGEST_COORDINATE if isinstance(mesh, DeformedMesh) else LARGEST_FLOAT32)).all(axis=(0, 2, 3))
    )
    if isinstance(mesh, DeformedMesh) and len(poses) == 1 and not finite.all():  # another pose may be finite
        rest_corners = np.nan_to_num(mesh.rest.positions[mesh.triangles[~finite]], posinf=0.0, neginf=0.0)
        shapes[0, ~finite], finite[:] = rest_corners, True
        magnitude = np.abs(shapes)
    if not finite.any():
        return -1
    largest = float((magnitude if finite.all() else magnitude[:, finite]).max())
    _, exponent = np.frexp(largest)
    scale = float(np.ldexp(1.0, -max(-100, min(100, int(exponent)))))
    quadrics.append(None)
    if quadric is None:
        with np.errstate(over="ignore"):  # of what is not sound
            shapes *= np.float32(scale)  # a power of two
    else:
        quadrics[-1] = replace(quadric, transforms=np.diag([scale, scale, scale, 1.0]) @ quadric.transforms)
        shapes = primitives.box_triangles(primitives.boxes(quadrics[-1]))[None]
    meshes.append(mesh)
    scales.append(scale)
    corners.append(shapes[0] if len(shapes) == 1 else shapes[0].copy())
    moving.append(Moving.of(shapes) if len(shapes) > 1 else None)
    covered_shapes = shapes if moving[-1] is not None else shapes[:1]
    parts.append(covering_boxes(covered_shapes if finite.all() else covered_shapes[:, finite]))
    if quadrics[-1] is not None:
        parts[-1][:, 6] = np.minimum(parts[-1][:, 6], primitives.radius(quadrics[-1]))
    return len(meshes) - 1


def in_world(scene: Scene, instance: Instance) -> Mesh:
    """An instance's mesh in world space, as in the flattened scene."""
    mesh = scene.meshes[instance.mesh]
    if isinstance(mesh, Quadric):
        shape = replace(mesh.shape, transform=instance.transform @ mesh.shape.transform)
        material = int(mesh.materials[0]) if instance.material is None else instance.material
        return Quadric.surface(shape, material, instance.name or mesh.name)
    if isinstance(mesh, Quadrics):
        moved = mesh.transformed(instance.transform, instance.material, instance.name or mesh.name)
        if moved is None:
            raise ViewerError(mesh.name, "points or lines are scaled unevenly", "scale all axes alike")
        return moved
    flat = Scene(scene.meshes, [instance], name=scene.name).flatten()
    opacities = np.ones(len(flat.colors), np.float32) if flat.opacities is None else flat.opacities
    colors = np.concatenate([flat.colors, opacities[:, None]], axis=1)
    name = instance.name or "own"
    baked = Mesh(flat.positions, flat.triangles, flat.materials, flat.normals, flat.uvs, colors, name)
    baked.uvs_1, baked.tangents = flat.uvs_1, flat.tangents
    return baked


def is_too_distorted(linear: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(N,): whether maps (N, 3, 3) with these `inverses` distort too much for an object space."""
    return (growth(linear, inverse) > MAX_GROWTH) | (growth(inverse, linear) > MAX_SQUEEZE)


def growth(linear: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N,): growth of a relative error from world to object space and back, for maps (N, 3, 3) and their `inverses`;
    inf for a singular one."""
    with np.errstate(over="ignore", invalid="ignore"):
        error_growth = (np.abs(linear) @ np.abs(inverse)).sum(axis=2).max(axis=1, initial=0.0)
        # Cofactors and determinant of a matrix of rank one are both mere rounding.
        invertible = np.abs(linear @ inverse - np.eye(3)).max(axis=(1, 2), initial=0.0) < 1e-6
    return np.where(invertible & np.isfinite(error_growth), error_growth, np.inf)


def inverses(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverses (N, 3, 3), by cofactors of prescaled rows; not finite for singular ones."""
    size = np.abs(linear).max(axis=2, initial=0.0, keepdims=True)
    with np.errstate(all="ignore"):
        rows = linear / size
        cofactors = np.stack([np.cross(rows[:, (k + 1) % 3], rows[:, (k + 2) % 3]) for k in range(3)], axis=1)
        determinant = (rows[:, 0] * cofactors[:, 0]).sum(axis=1)
        return cofactors.transpose(0, 2, 1) / determinant[:, None, None] / size.transpose(0, 2, 1)


def covering_boxes(corners: NDArray[np.float32]) -> NDArray[np.float64]:
    """(1 + `COVER_PARTS`, 7): the cover of triangles (K, T, 3, 3) at K keys, first one box, then halves of halves along
    the longest axis: the centre of a box, half its edges, and the radius of a sphere around that centre."""
    corners, small = np.ascontiguousarray(corners), corners.size <= SMALL_COORDINATES
    corners_bounds = np.empty((2, corners.shape[1], 3), np.float32)
    run(find_bounds, corners, corners_bounds[0], corners_bounds[1], small=small)
    low, high = corners_bounds.astype(np.float64)
    doubled_centers = low + high
    groups = all_triangles = [np.arange(len(low))]
    while len(groups) < COVER_PARTS:
        halves = []
        for group in groups:
            axis = int(np.argmax(np.ptp(doubled_centers[group], axis=0)))
            order = np.argsort(doubled_centers[group, axis], kind="stable")
            half = (len(group) + 1) // 2
            first = group[order[:half]]
            halves += [first, group[order[half:]] if len(group) > half else first]
        groups = halves
    covers = np.empty((1 + COVER_PARTS, 7))
    for row, group in zip(covers, [*all_triangles, *groups], strict=True):
        low_corner, high_corner = low[group].min(axis=0), high[group].max(axis=0)
        row[:3], row[3:6] = (low_corner + high_corner) / 2, (high_corner - low_corner) / 2
        row[6] = np.sqrt(run(max_squared_distance, corners, group, *row[:3].tolist(), small=small))
    return covers


def _is_beyond(corners: NDArray[np.float32], linear: NDArray[np.float64], translation: NDArray[np.float64]) -> bool:
    """Whether a corner of these triangles (T, 3, 3) is beyond the limit of `Scene.flatten`."""
    finite = corners[np.isfinite(corners).all(axis=(1, 2))].astype(np.float64)
    with np.errstate(over="ignore"):
        return bool((np.abs((finite @ linear.T + translation).astype(np.float32)) > LARGEST_COORDINATE).any())


def world_boxes(
    parts: NDArray[np.float64],
    corners: Sequence[NDArray[np.float32]],
    objects: NDArray[np.int32],
    linear: NDArray[np.float64],
    translation: NDArray[np.float64],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Conservative boxes (I, 3) twice, float32, of instances of ``objects`` (I,), of these corners, covered by
    ``parts`` of `cover`, under maps ``linear`` (I, 3, 3) and then ``translation`` (I, 3). Empty (inf, -inf) for empty
    instances.

    Raises ViewerError beyond the range of float32 ray tracing.
    """
    low, high = np.full((len(objects), 3), np.inf, np.float32), np.full((len(objects), 3), -np.inf, np.float32)
    visible = np.flatnonzero(objects >= 0)
    # (7, 1 + PARTS, O): arithmetic on contiguous arrays takes a fifth of the time of small matrix products.
    columns = np.ascontiguousarray(parts.transpose(2, 1, 0))
    for first in range(0, len(visible), BOX_BATCH):
        batch = visible[first : first + BOX_BATCH]
        batch_parts, rows = columns[..., objects[batch]], np.ascontiguousarray(linear[batch].transpose(1, 2, 0))
        local_low, local_high = np.empty((len(batch), 3)), np.empty((len(batch), 3))
        for axis in range(3):
            row, size = rows[axis], np.abs(rows[axis])
            center = row[0] * batch_parts[0] + row[1] * batch_parts[1] + row[2] * batch_parts[2]
            # A box reaches as far as its half edges times the absolute values (Arvo, "Transforming axis-aligned
            # bounding boxes", Graphics Gems, 1990), a sphere as far as its radius times the row's length.
            half = size[0] * batch_parts[3] + size[1] * batch_parts[4] + size[2] * batch_parts[5]
            half = np.minimum(half, np.sqrt(row[0] ** 2 + row[1] ** 2 + row[2] ** 2) * batch_parts[6])
            low_end, high_end = center - half, center + half
            local_low[:, axis] = np.maximum(low_end[0], low_end[1:].min(axis=0))
            local_high[:, axis] = np.minimum(high_end[0], high_end[1:].max(axis=0))
        margin = TRANSFORM_ROUNDING * (np.maximum(np.abs(local_low), np.abs(local_high)) + np.abs(translation[batch]))
        box_low, box_high = local_low + translation[batch] - margin, local_high + translation[batch] + margin
        is_far = (np.maximum(-box_low, box_high) > LARGEST_COORDINATE).any(axis=1)
        # Boxes are wider than their contents.
        if any(_is_beyond(corners[objects[k]], linear[k], translation[k]) for k in batch[is_far]):
            raise ViewerError(
                "instances",
                f"a coordinate is beyond {LARGEST_COORDINATE:g}, whose square overflows float32",
                "scale the model down",
            )
        low[batch] = np.nextafter(box_low.astype(np.float32), np.float32(-np.inf))
        high[batch] = np.nextafter(box_high.astype(np.float32), np.float32(np.inf))
    return low, high


def find_bounds(corners, low, high):
    """Lowest and highest corners (T, 3) float32, written, of triangles (K, T, 3, 3) float32 over all keys."""
    for t in range(len(low)):
        for a in range(3):
            least, most = corners[0, t, 0, a], corners[0, t, 0, a]
            for k in range(len(corners)):
                for c in range(3):
                    least, most = min(least, corners[k, t, c, a]), max(most, corners[k, t, c, a])
            low[t, a], high[t, a] = least, most


def max_squared_distance(corners, group, x, y, z):
    """The square of the largest distance from a point to a corner of the triangles in a group (N,) of (K, T, 3, 3)."""
    largest = 0.0
    for k in range(len(corners)):
        for t in group:
            for c in range(3):
                dx = np.float64(corners[k, t, c, 0]) - x
                dy = np.float64(corners[k, t, c, 1]) - y
                dz = np.float64(corners[k, t, c, 2]) - z
                largest = max(largest, dx * dx + dy * dy + dz * dz)
    return largest


# -- two levels --------------------------------------------------------------------------------------------------------

INSTANCE = Record(
    "Instance",
    *matrix_rows("inverse", "vec4", "the linear map to object space; the object's origin"),
    *matrix_rows("linear", "vec3", "the linear map to the world"),
    Field("object", "int", about="number of the object", within=ROWS),
    Field("face", "int", about="address of the object's first face", within=ROWS),
    Field("material", "int", about="address of the material of all its triangles, -1: the faces' own", within=ROWS),
)

INSTANCE_MOVING = Record(INSTANCE.name, *INSTANCE.fields, KEYS)
INSTANCE_KEY = Record(
    "InstanceKey",
    *matrix_rows("linear", "vec3", "the linear map to the world"),
    Field("place", "vec3", "scene units", "world", "the object's origin"),
)
MOVING = "MOVING_INSTANCES"  # feature of the scene
# Of a position and its box between two keys, relative to coordinates at any of them and the growth of errors by maps:
# those of both keys, what is between them and its inverse are rounded.
GROWTH_ROUNDING = 2.0**-19


@dataclass
class TwoLevel:
    """Instances of objects, and the structure over them.

    An instance that moves while the shutter is open has its maps at the keys in a table of their own. Its object, at
    all of its own keys, lies within a box at each of these, and in between within boxes that are linear, as maps are.

    transforms : (I, 4, 4) float64, the instances' own. low, high : (I, 3) float32, their boxes in the world, over all
                 of their keys.
    mirrored   : (I,) bool, whether the flattened scene swaps corners of the instance's triangles.
    users      : the GPU scenes that share it. current_scene : the scene to which it was last moved or posed; None: that
                 of its construction.
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
    current_scene: Scene | None = None

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
        table.data["object"] = objects.object_of
        visible = objects.object_of >= 0
        table.data["face"][visible] = objects.first_faces[objects.object_of[visible]]
        material = [-1 if instance.material is None else instance.material for instance in scene.instances]
        table.data["material"] = np.where(objects.baked, -1, material) if count else material
        low, high = np.zeros((count, 3), np.float32), np.zeros((count, 3), np.float32)
        keys = len(scene.instances[moving[0]].motion) if moving else 1  # type: ignore[arg-type]
        top = top_structure(kind, count, len(moving), keys, rule)
        structure = cls(objects, top, table, np.zeros((count, 4, 4)), low, high, np.zeros(count, bool))
        ray = Module("instances", ("object_ray",), "accel/object_ray.glsl", memories=(table,), uses=(RAY,))
        if moving:
            motion = np.stack([scene.instances[k].motion for k in moving])  # type: ignore[misc]  # (M, K, 4, 4)
            ray = structure._with_motion_keys(ray, np.array(moving, np.intp), motion)
        structure.modules = [*structure.top.modules, ray]
        transforms = transforms_of(scene.instances)
        object_transforms = np.where(objects.baked[:, None, None], np.eye(4), transforms)
        structure._write_instances(np.arange(count), object_transforms, inverses(object_transforms[:, :3, :3]))
        structure.transforms = transforms
        structure.top.build(
            structure.low,
            structure.high,
            structure._boxes_in_motion(np.array(moving, np.intp), motion) if moving else None,
        )
        return structure

    @property
    def has_motion(self) -> bool:
        """Whether something moves while the shutter is open."""
        moves = "keys" in (self.table.data.dtype.names or ())
        return moves or any(moving is not None for moving in self.objects.moving)

    def _with_motion_keys(self, ray: Module, indices: NDArray[np.intp], motion: NDArray[np.float64]) -> Module:
        """The module ``ray``, and a table of the keys ``motion`` (M, K, 4, 4) of the instances ``indices`` (M,)."""
        count = motion.shape[1]
        self.table.data["keys"] = -1
        self.table.data["keys"][indices] = np.arange(len(indices)) * count
        keys = np.zeros(motion.shape[:2], INSTANCE_KEY.dtype)
        objects = self.objects.object_of[indices]
        scale = np.where(
            objects >= 0, self.objects.scales[np.maximum(objects, 0)] if len(self.objects.scales) else 1.0, 1.0
        )
        for row, axis in enumerate("xyz"):
            keys[f"linear_{axis}"] = motion[:, :, row, :3] / scale[:, None, None]
        keys["place"] = motion[:, :, :3, 3]
        return replace(
            ray,
            memories=(*ray.memories, Table("instance_keys", INSTANCE_KEY, keys.ravel())),
            uniforms={"instance_segments": ("int", count - 1)},
            features=frozenset({MOTION, MOVING}),
        )

    def _boxes_in_motion(self, indices: NDArray[np.intp], motion: NDArray[np.float64]) -> Moving:
        """Set the boxes of the instances ``indices`` (M,) to cover all of their keys ``motion`` (M, K, 4, 4); returns
        their boxes at each key, as triangles that span them."""
        visible = self.objects.object_of[indices] >= 0
        indices, motion = indices[visible], motion[visible]
        objects = self.objects.object_of[indices]
        linear = motion[..., :3, :3] / self.objects.scales[objects][:, None, None, None]
        boxes = np.empty((motion.shape[1], len(indices), 2, 3), np.float32)
        for key, key_boxes in enumerate(boxes):
            key_bounds = world_boxes(
                self.objects.parts, self.objects.corners, objects, linear[:, key], motion[:, key, :3, 3]
            )
            key_boxes[:, 0], key_boxes[:, 1] = key_bounds
        size = np.abs(boxes).max(axis=2) + 2 * np.abs(motion[..., :3, 3].swapaxes(0, 1))  # of the object, turned, too
        maps = motion[..., :3, :3].reshape(-1, 3, 3)
        grown = growth(maps, inverses(maps)).reshape(motion.shape[:2]).max(axis=1)
        margin = (GROWTH_ROUNDING * grown[:, None] * size.max(axis=0)).astype(np.float32)
        boxes[:, :, 0] -= margin
        boxes[:, :, 1] += margin
        self.low[indices], self.high[indices] = boxes[:, :, 0].min(axis=0), boxes[:, :, 1].max(axis=0)
        return Moving(indices, box_triangles(boxes.reshape(-1, 2, 3)).reshape(*boxes.shape[:2], 3, 3))

    def move(self, indices: NDArray[np.intp], transforms: NDArray[np.float64]) -> Changes | None:
        """Move the instances of these indices (N,) to (N, 4, 4) float64, and rebuild the top structure.

        Returns the changed rows, or None where objects must change too: for a transformation that is, or was, flat or
        too distorted for an object space. Raises ViewerError, without any change, for a non-finite one, and beyond the
        range of float32 ray tracing.
        """
        if not np.isfinite(transforms).all():
            raise ViewerError("move", "a transformation is not finite", "give (4, 4) finite numbers for each instance")
        moved = (self.transforms[indices] != transforms).any(axis=(1, 2))
        indices, transforms = indices[moved], transforms[moved]
        if not len(indices):
            return []
        inverse = inverses(transforms[:, :3, :3])
        if self.objects.baked[indices].any() or is_too_distorted(transforms[:, :3, :3], inverse).any():
            return None
        if self.has_motion:
            return None  # moving objects must be rebuilt through their keys
        self._write_instances(indices, transforms, inverse)
        self.transforms[indices] = transforms
        run_starts = np.flatnonzero(np.diff(indices) != 1) + 1  # of runs of neighbours
        firsts, lasts = np.r_[0, run_starts], np.r_[run_starts, len(indices)] - 1
        changes = [(self.table, int(indices[a]), int(indices[b]) + 1) for a, b in zip(firsts, lasts, strict=True)]
        return changes + self.top.build(self.low, self.high)

    def set_bounds(self, boxes: Mapping[int, NDArray[np.float64]]) -> Changes:
        """Set the bounds of objects to ``boxes``, (2, 3) in object space by the object's index, and rebuild the top
        structure; returns the changed rows."""
        for index, (low, high) in boxes.items():
            half = (high - low) / 2
            self.objects.parts[index] = *(low + half), *half, np.sqrt((half * half).sum())
        covered = np.flatnonzero(np.isin(self.objects.object_of, list(boxes)) & ~self.objects.baked)
        if not len(covered):
            return []
        transforms = self.transforms[covered]
        self._write_instances(covered, transforms, inverses(transforms[:, :3, :3]))
        return self.top.build(self.low, self.high)

    def _write_instances(
        self, indices: NDArray[np.intp], placement: NDArray[np.float64], inverse: NDArray[np.float64]
    ) -> None:
        """Write the rows of these instances, and their boxes; object transforms (N, 4, 4), with inverses (N, 3, 3) of
        the linear parts."""
        objects = self.objects.object_of[indices]
        scale = np.ones((len(objects), 1, 1))
        scale[objects >= 0, 0, 0] = self.objects.scales[objects[objects >= 0]]
        linear, inverse, translation = (placement[:, :3, :3] / scale, inverse * scale, placement[:, :3, 3])
        low, high = world_boxes(self.objects.parts, self.objects.corners, objects, linear, translation)
        rows = self.table.data
        for row, axis in enumerate("xyz"):
            rows[f"inverse_{axis}"][indices, :3] = inverse[:, row]
            rows[f"inverse_{axis}"][indices, 3] = translation[:, row]
            rows[f"linear_{axis}"][indices] = linear[:, row]
        self.low[indices], self.high[indices] = low, high
        self.mirrored[indices] = np.linalg.det(linear) < 0


# -- building: one structure over each object, and one over the instances of all ---------------------------------------

Sides = list[NDArray[np.bool_] | None]  # of each object its triangles' ``culled``
# The maker of a module, what it is over, and the order of each one's triangles.
LowerLevel = tuple[Callable[[str], Module], list[Any], list[NDArray[np.int32]]]


def two_level_structure(scene: Scene, options: StructureOptions, progress: Progress | None = None) -> Structure:
    """Two levels: a structure over each distinct mesh, and one over the instances of all."""
    object_structure = options.accel.removeprefix(TWO_LEVEL)
    top_structure = object_structure if options.top == "auto" else options.top
    choices = ("stack", "octants", bvh.TRAVERSALS) if object_structure == "bvh" else GRID_CHOICES
    whole, stepwise = resolved_traversals(options, *choices)
    two = TwoLevel.of(scene, top_structure, TopBvhOptions(options.build, options.traversal == "escape"))
    sides: Sides = [None] * len(two.objects.meshes)
    if options.back_faces == "culled":
        sides = culled_of_objects(scene, two.objects.meshes, two.objects.object_of, two.objects.baked)
    lower_level = (_lower_bvhs if object_structure == "bvh" else _lower_grids)(two, options, sides, progress)
    return _assemble_structure(options, two, sides, lower_level, {"top": top_structure}, (whole, stepwise))


def _assemble_structure(
    options: StructureOptions,
    two: TwoLevel,
    sides: Sides,
    lower_level: LowerLevel,
    facts: dict[str, str],
    traversal_names: tuple[str, str],
    previous: Deforming | None = None,
) -> Structure:
    """The structure of two levels with the objects' structures of ``lower_level``. traversal_names : of passes that
    take a ray to its hit, and of single-kernel passes. previous : the deforming objects, if only their trees are
    new."""
    (make, built, order), (whole, stepwise), bvhs = lower_level, traversal_names, options.accel == f"{TWO_LEVEL}bvh"
    corners = [shape[indices] for shape, indices in zip(two.objects.corners, order, strict=True)]
    placed = PlacedQuadrics.joined([quadric for quadric in two.objects.quadrics if quadric is not None])
    marks = None
    if placed:
        firsts = np.cumsum([0, *(0 if quadric is None else len(quadric) for quadric in two.objects.quadrics)]).tolist()
        quadric_indices = [
            np.full(len(indices), -1, np.int32) if quadric is None else (first + indices).astype(np.int32)
            for quadric, first, indices in zip(two.objects.quadrics, firsts, order, strict=False)
        ]
        marks = np.concatenate(quadric_indices)
    test = primitives.triangle_module(
        options.intersection,
        np.concatenate(corners) if corners else np.zeros((0, 3, 3), np.float32),
        slack=options.plane_slack,
        indices=np.concatenate(order) if order else np.zeros(0, np.int32),
        marks=marks,
        culled=_culled_by_table_order(sides, order),
    )
    moving = two.objects.moving_triangles(order)
    if moving is not None:
        test = with_keys(test, moving)
    tests = primitives.with_quadrics(test, primitives.record(placed)) if placed else [test]
    deforming = None
    if bvhs and not two.has_motion and options.intersection != "planes" and options.rebuild != "build":
        deforming = _deforming_objects(two, built, sides, previous)
    first = 0 if deforming is None else len(deforming.indices)  # of the others

    def again(trees: Trees) -> Structure:
        assert deforming is not None
        rebuilt = _bvh_level([*trees.bvhs, *built[first:]])
        return _assemble_structure(options, two, sides, rebuilt, facts, traversal_names, replace(deforming, bvhs=trees))

    return Structure(
        options.accel,
        two,
        whole,
        stepwise,
        lambda traversal: [make(traversal), *tests, *two.modules],
        levels=2,
        facts={**facts, **({"build": options.build} if bvhs else {}), "traversal": whole},
        statistics={
            "objects": len(built),
            "instances": int(np.count_nonzero(two.objects.object_of >= 0)),
            "triangles": two.objects.triangles,
            "seconds": float(sum(inner.statistics["seconds"] for inner in built)),
            **two.top.statistics,
        },
        deforming=deforming,
        again=None if deforming is None else again,
    )


def _deforming_objects(
    two: TwoLevel, built: Sequence[Bvh], sides: Sides, previous: Deforming | None
) -> Deforming | None:
    """The deforming objects, whose poses are followed in place; sets their bounds, without vertices, for the first
    pose. With ``previous`` only the trees' tables are new. None where nothing deforms, or cannot be followed."""
    objects = two.objects
    meshes = [mesh for mesh in objects.meshes[: len(objects.deforming)] if isinstance(mesh, DeformedMesh)]
    if not meshes or objects.unfollowable:
        return None
    count = len(meshes)
    firsts = np.cumsum([0, *(len(mesh.rest.positions) for mesh in meshes)])[:-1]
    faces = [mesh.triangles for mesh in meshes]
    trees = RefitTables(built[:count], faces, firsts, sides[:count], any(flags is not None for flags in sides))
    if previous is not None:
        return replace(previous, trees=trees)
    deforming = Deforming.of(objects.deforming, meshes, objects.scales[:count], trees, built[:count])
    if deforming is not None:
        two.top.often = True
        two.set_bounds(dict(enumerate(posed_bounds(deforming.bounds, [mesh.pose for mesh in meshes]))))
    return deforming


def _culled_by_table_order(sides: Sides, order: list[NDArray[np.int32]]) -> NDArray[np.bool_] | None:
    """(T,) the flags ``culled`` of all objects in the order of the triangles' table; None where all are None."""
    if all(flags is None for flags in sides):
        return None
    return np.concatenate(
        [
            np.zeros(len(indices), bool) if flags is None else flags[indices]
            for flags, indices in zip(sides, order, strict=True)
        ]
    )


def _lower_bvhs(two: TwoLevel, options: StructureOptions, sides: Sides, progress: Progress | None) -> LowerLevel:
    """Build a hierarchy over each object: the lower level of the structure."""
    deforming_count = 0 if two.has_motion else len(two.objects.deforming)
    deforms = [index < deforming_count for index in range(len(two.objects.corners))]
    built = [
        # Triangles that lie in one place now may not in another pose.
        _build_tree(
            corners if deforms_ else builder_corners(corners, moving, culled, mean=True), moving, options, report
        )
        for (corners, report), moving, culled, deforms_ in zip(
            _with_partial_progress(two.objects.corners, progress), two.objects.moving, sides, deforms, strict=True
        )
    ]
    return _bvh_level(built)


def _build_tree(
    bounds: NDArray[np.float32], moving: Moving | None, options: StructureOptions, progress: Progress | None
) -> Bvh:
    built = bvh_build.build(bounds, options.build, leaf=bvh.MAX_IN_LEAF, progress=progress)
    return with_boxes_at_keys(built, bounds, moving)


def _bvh_level(built: list[Bvh]) -> LowerLevel:
    """The lower level of existing hierarchies."""
    # An empty scene still has an object, which no instance uses.
    trees = built or [bvh_build.build(np.zeros((0, 3, 3), np.float32))]
    return lambda traversal: bvh.module(trees, traversal), built, [tree.order for tree in built]


def _lower_grids(two: TwoLevel, options: StructureOptions, sides: Sides, progress: Progress | None) -> LowerLevel:
    """Build a grid over each object: the lower level of the structure."""
    from raystream.accel.grid import blocks as grid_blocks
    from raystream.accel.grid import build as grid_build

    built = []
    parts = zip(
        _with_partial_progress(two.objects.corners, progress),
        two.objects.quadrics,
        two.objects.moving,
        sides,
        strict=True,
    )
    for (corners, report), quadric, moving, culled in parts:
        boxed = None if quadric is None else np.ones(len(quadric), bool)
        if moving is not None:
            boxed = np.zeros(len(corners), bool)
            boxed[moving.indices] = True
        built.append(grid_build.build(builder_corners(corners, moving, culled), options.grid, boxed=boxed))
        if report is not None:
            report(1.0, "building the grids")
    grids = built or [grid_build.build(np.zeros((0, 3, 3), np.float32))]
    order = [np.arange(len(corners), dtype=np.int32) for corners in two.objects.corners]
    return lambda traversal: grid_blocks.module(grids), built, order


def _with_partial_progress(
    arrays: Sequence[NDArray[np.float32]], progress: Progress | None
) -> Iterator[tuple[NDArray[np.float32], Progress | None]]:
    """Each array with a progress function that reports its share of the whole."""
    total, done = max(1, sum(map(len, arrays))), 0
    for array in arrays:
        yield (array, None if progress is None else partial(_report_scaled, progress, done / total, len(array) / total))
        done += len(array)


def _report_scaled(progress: Progress, before: float, scale: float, fraction: float, text: str) -> None:
    progress(before + scale * fraction, text)
