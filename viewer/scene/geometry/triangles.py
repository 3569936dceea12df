"""A scene's triangles in world space, flattened from the instances of its meshes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.scene.geometry.batches import equal_groups, expand_ranges, offsets
from raystream.scene.geometry.normals import all_with_normals
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.vertices import transform_normals, transform_points, transform_tangents
from raystream.scene.mesh import Float, Instance, Int, Mesh, meshes_of, transforms_of
from raystream.scene.quadric import PlacedQuadrics, Quadric, check_map
from raystream.stream.declare.record import LARGEST_INTEGER

# -- points on the surface of a scene, spread evenly by area, for measurements that need no ray ------------------------

Double = NDArray[np.float64]

POINT_COUNT = 2048
MAX_SAMPLED_TRIANGLES = 1 << 16  # looked at, about: of larger scenes every so many
QUADRIC_SEGMENTS = 16  # of the mesh that stands for a quadric
# Steps of the points over a triangle: the plastic number's (M. Roberts, "The Unreasonable Effectiveness of
# Quasirandom Sequences", 2018).
PLASTIC_STEPS = (0.7548776662466927, 0.5698402909980532)


class SurfacePoints(NamedTuple):
    """points (N, 3), world space, each standing for an equal area; normals (N, 3), unit vectors, of the sides from
    which corners run counter-clockwise; materials (N,): their indices; area: of the whole surface, square scene
    units."""

    points: Double
    normals: Double
    materials: NDArray[np.int64]
    area: float


def surface_points(meshes: Sequence[Mesh], instances: Sequence[Instance], count: int = POINT_COUNT) -> SurfacePoints:
    """``count`` points of all instances, none without any area; always the same ones."""
    step = max(1, -(-len(instances) // MAX_SAMPLED_TRIANGLES))
    chosen = instances[::step]
    triangle_budget = max(8, MAX_SAMPLED_TRIANGLES // max(len(chosen), 1))
    corners, weights, materials = [np.zeros((0, 3, 3))], [np.zeros(0)], [np.zeros(0, np.int64)]
    sampled: dict[int, tuple[Double, NDArray[np.int32], int]] = {}
    for instance in chosen:
        if instance.mesh not in sampled:
            sampled[instance.mesh] = _sampled_triangles(meshes[instance.mesh], triangle_budget)
        triangles, mesh_materials, mesh_step = sampled[instance.mesh]
        with np.errstate(all="ignore"):  # what is not finite is left out below
            world_corners = triangles @ instance.transform[:3, :3].T + instance.transform[:3, 3]
        mirrored = np.linalg.det(instance.transform[:3, :3]) < 0
        corners.append(world_corners[:, [0, 2, 1]] if mirrored else world_corners)
        weights.append(np.full(len(triangles), float(mesh_step * step)))
        override = np.full(len(triangles), -1 if instance.material is None else instance.material, np.int64)
        materials.append(np.where(override < 0, mesh_materials, override))
    return spread(np.concatenate(corners), np.concatenate(weights), np.concatenate(materials), count)


def _sampled_triangles(mesh: Mesh, max_triangles: int) -> tuple[Double, NDArray[np.int32], int]:
    """(corners (T, 3, 3), materials (T,), step): every ``step``-th triangle; none if a quadric does not close."""
    if isinstance(mesh, Quadric):
        try:
            mesh = mesh.tessellated(QUADRIC_SEGMENTS)
        except ViewerError:
            return np.zeros((0, 3, 3)), np.zeros(0, np.int32), 1
    if isinstance(mesh, Quadrics):
        mesh = mesh.tessellated()
    step = max(1, len(mesh.triangles) // max_triangles)
    return mesh.positions[mesh.triangles[::step]].astype(np.float64), mesh.materials[::step], step


def spread(corners: Double, weights: Double, materials: NDArray[np.int64], count: int = POINT_COUNT) -> SurfacePoints:
    """``count`` points on triangles (T, 3, 3) of materials (T,), each for an equal part of area times weight (T,)."""
    with np.errstate(all="ignore"):
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        double_area = np.linalg.norm(normals, axis=1)
    area = np.where(np.isfinite(double_area), double_area, 0.0) / 2 * weights
    ends = np.cumsum(area)
    total = float(ends[-1]) if len(ends) else 0.0
    if not (total > 0 and math.isfinite(total)):
        return SurfacePoints(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, np.int64), 0.0)
    triangle = np.searchsorted(ends, (np.arange(count) + 0.5) / count * total, side="right")
    triangle = np.minimum(triangle, len(ends) - 1)
    u, v = (np.arange(count) * step % 1.0 for step in PLASTIC_STEPS)
    root = np.sqrt(u)
    weight = np.stack([1 - root, root * (1 - v), root * v], axis=1)
    points = (corners[triangle] * weight[:, :, None]).sum(axis=1)
    unit_normals = normals[triangle] / double_area[triangle, None]
    return SurfacePoints(points, unit_normals, materials[triangle].astype(np.int64), total)


# -- triangles ---------------------------------------------------------------------------------------------------------

# Beyond this the watertight test's products of two coordinates overflow float32.
LARGEST_COORDINATE = 1e18
BATCH_ITEMS = 1 << 18  # vertices or triangles of instances of equal meshes that are placed at once


@dataclass
class Triangles:
    """The scene's triangles in world space, in scene order (instance by instance): the input of acceleration
    structures.

    positions (V, 3), normals (V, 3), colors (V, 3) linear, uvs (V, 2): float32.
    triangles (T, 3), materials (T,): int32.
    ``instances`` (I + 1,) int32: the first triangle of each instance, and the count at the end.
    Triangles with a non-finite corner keep their indices; acceleration structures skip them.
    uvs_1 (V, 2), tangents (V, 4), opacities (V,) float32, as in `Mesh`, zeros (opacities: ones) for meshes without;
    None if no mesh has any.
    ``quadrics`` take one triangle number each; the triangle in that place has no area, and names vertices of its
    colours.
    """

    positions: Float
    triangles: Int
    materials: Int
    normals: Float
    colors: Float
    uvs: Float
    instances: Int
    quadrics: PlacedQuadrics = field(default_factory=lambda: PlacedQuadrics.joined(()))
    uvs_1: Float | None = None
    tangents: Float | None = None
    opacities: Float | None = None

    def __len__(self) -> int:
        return len(self.triangles)

    def corners(self) -> Float:
        """(T, 3, 3) float32: the corners of every triangle."""
        return self.positions.take(self.triangles, axis=0)  # in half the time that indexing takes


def flattened(name: str, meshes: Sequence[Mesh], instances: Sequence[Instance]) -> Triangles:
    """`Scene.flatten` of the scene of that name."""
    indices, mesh_indices = np.unique(meshes_of(instances), return_inverse=True)
    used_meshes = [meshes[index] for index in indices.tolist()]
    triangle_count = int(np.array([len(mesh.triangles) for mesh in used_meshes], np.int64)[mesh_indices].sum())
    if triangle_count > LARGEST_INTEGER:
        raise ViewerError(
            name,
            f"{triangle_count:,} triangles with all instances; an address is exact up to {LARGEST_INTEGER:,}",
            "use --accel two-level-bvh, which keeps instances separate, or a smaller scene",
        )
    complete = all_with_normals(used_meshes)
    kinds = np.array(
        [(len(mesh.positions), len(mesh.triangles), mesh.colors is None, mesh.uvs is None) for mesh in complete],
        np.int64,
    ).reshape(-1, 4)
    vertices, starts = offsets(kinds[mesh_indices, 0]), offsets(kinds[mesh_indices, 1])
    transforms = transforms_of(instances)
    overrides = np.array([-1 if instance.material is None else instance.material for instance in instances], np.int32)
    count = int(vertices[-1])
    positions, normals = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
    colors, uvs = np.ones((count, 3), np.float32), np.zeros((count, 2), np.float32)
    triangles, materials = np.empty((triangle_count, 3), np.int32), np.empty(triangle_count, np.int32)
    too_far = np.zeros(len(instances), bool)
    for group in equal_groups(kinds, mesh_indices):
        size, faces, colorless, without_uvs = kinds[mesh_indices[group[0]]].tolist()
        step = max(1, BATCH_ITEMS // max(size, faces, 1))
        for batch in (group[first : first + step] for first in range(0, len(group) if size or faces else 0, step)):
            stacked, matrices = _StackedMeshes.of(complete, mesh_indices[batch]), transforms[batch]
            vertex_rows = _rows(vertices[batch], size)
            placed = transform_points(stacked.positions, matrices)
            with np.errstate(invalid="ignore"):
                is_far = np.isfinite(placed) & (np.abs(placed) > LARGEST_COORDINATE)
                too_far[batch] = is_far.any(axis=(1, 2))
                if too_far[batch].any():
                    continue  # float32 may not hold it either
                positions[vertex_rows] = placed.reshape(-1, 3).astype(np.float32)
            normals[vertex_rows] = transform_normals(stacked.normals, matrices).reshape(-1, 3)
            if not colorless:
                colors[vertex_rows] = np.broadcast_to(stacked.colors[..., :3], (len(batch), size, 3)).reshape(-1, 3)
            if not without_uvs:
                uvs[vertex_rows] = np.broadcast_to(stacked.uvs, (len(batch), size, 2)).reshape(-1, 2)
            is_mirrored = np.linalg.det(matrices[:, :3, :3]) < 0  # keep front faces in front
            corners = stacked.triangles
            if is_mirrored.any():
                corners = np.where(is_mirrored[:, None, None], corners[..., [0, 2, 1]], corners)
            triangle_rows = _rows(starts[batch], faces)
            # As int32, since that is what they become: int64 would take as long again for millions.
            triangles[triangle_rows] = (corners + vertices[batch].astype(np.int32)[:, None, None]).reshape(-1, 3)
            override = overrides[batch][:, None]
            materials[triangle_rows] = np.where(override >= 0, override, stacked.materials).ravel()
    if too_far.any():
        instance = instances[int(too_far.argmax())]
        raise ViewerError(
            f"{name}: {instance.name or meshes[instance.mesh].name}",
            f"a coordinate is beyond {LARGEST_COORDINATE:g}, whose square overflows float32",
            "scale the model down",
        )
    quadrics: list[PlacedQuadrics] = []
    for index, mesh in enumerate(complete):
        if not isinstance(mesh, (Quadric, Quadrics)):
            continue
        instance_indices = np.flatnonzero(mesh_indices == index)
        is_untransformed = len(instance_indices) == 1 and np.array_equal(transforms[instance_indices[0]], np.eye(4))
        matrices = mesh.maps if is_untransformed else transforms[instance_indices, None] @ mesh.maps
        check_map(f"{name}: {instances[instance_indices[0]].name or mesh.name}", matrices)
        placed_quadrics = PlacedQuadrics.of(mesh.shape, matrices.reshape(-1, 4, 4))
        rows = expand_ranges(starts[instance_indices], np.full(len(instance_indices), len(mesh.triangles)))
        quadrics.append(replace(placed_quadrics, indices=rows))
        # In the mesh's own order, mirrored or not: a cylinder's colours run from its first end to its second.
        triangles[rows] = (mesh.triangles + vertices[instance_indices, None, None]).reshape(-1, 3)
    all_quadrics = PlacedQuadrics.joined(quadrics)
    flat = Triangles(positions, triangles, materials, normals, colors, uvs, starts.astype(np.int32), all_quadrics)
    flat.uvs_1 = second_coordinates(complete, mesh_indices)
    flat.tangents = tangents(complete, mesh_indices, transforms)
    flat.opacities = opacities(complete, mesh_indices)
    return flat


def _rows(starts: NDArray[np.intp], size: int) -> NDArray[np.intp] | slice:
    """The rows of runs of ``size`` rows from ``starts`` (N,) on; of one run a slice, which NumPy copies faster."""
    if len(starts) == 1:
        return slice(int(starts[0]), int(starts[0]) + size)
    return expand_ranges(starts, np.full(len(starts), size))


class _StackedMeshes(NamedTuple):
    """Attributes of N meshes of equal size, (N, V, ...) and (N, T, ...), or (V, ...) and (T, ...) of one that is all of
    them; None where they have none."""

    positions: Any
    triangles: Any
    materials: Any
    normals: Any
    colors: Any
    uvs: Any

    @classmethod
    def of(cls, meshes: Sequence[Mesh], indices: NDArray[np.intp]) -> _StackedMeshes:
        """The triangles of the meshes of these indices (N,), in order."""
        if indices[0] == indices[-1]:
            mesh = meshes[indices[0]]
            return cls(*(getattr(mesh, name) for name in cls._fields))
        chosen = [meshes[index] for index in indices.tolist()]
        columns = ([getattr(mesh, name) for mesh in chosen] for name in cls._fields)
        return cls(
            *(
                None if column[0] is None else np.concatenate(column).reshape(len(chosen), *column[0].shape)
                for column in columns
            )
        )


def second_coordinates(meshes: Sequence[Mesh], mesh_indices: NDArray[np.intp]) -> Float | None:
    """(V, 2): the second texture coordinates of all instances, of these meshes; None if no mesh has any."""
    if all(mesh.uvs_1 is None for mesh in meshes):
        return None
    coordinates = [
        np.zeros((len(mesh.positions), 2), np.float32) if mesh.uvs_1 is None else mesh.uvs_1 for mesh in meshes
    ]
    return np.concatenate([coordinates[index] for index in mesh_indices.tolist()])


def opacities(meshes: Sequence[Mesh], mesh_indices: NDArray[np.intp]) -> Float | None:
    """(V,): the opacities of the vertex colours of all instances, of these meshes; None if all are 1."""
    if all(mesh.colors is None or bool((mesh.colors[:, 3] == 1.0).all()) for mesh in meshes):
        return None
    alphas = [np.ones(len(mesh.positions), np.float32) if mesh.colors is None else mesh.colors[:, 3] for mesh in meshes]
    return np.concatenate([alphas[index] for index in mesh_indices.tolist()])


def tangents(meshes: Sequence[Mesh], mesh_indices: NDArray[np.intp], transforms: NDArray[np.float64]) -> Float | None:
    """(V, 4): the tangents of all instances under their transforms (I, 4, 4), world space; None if no mesh has any."""
    if all(mesh.tangents is None for mesh in meshes):
        return None
    pairs = zip(mesh_indices.tolist(), transforms, strict=True)
    return np.concatenate(
        [
            np.zeros((len(mesh.positions), 4), np.float32)
            if mesh.tangents is None
            else transform_tangents(mesh.tangents, transform)
            for mesh, transform in ((meshes[index], transform) for index, transform in pairs)
        ]
    )
