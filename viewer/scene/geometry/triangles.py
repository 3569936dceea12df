"""A scene's triangles in world space, flattened from the instances of its meshes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.scene.geometry.batches import alike, offsets, ranges
from raystream.scene.geometry.normals import all_with_normals
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.vertices import transform_normals, transform_points, transform_tangents
from raystream.scene.mesh import Float, Instance, Int, Mesh, meshes_of, transforms_of
from raystream.scene.quadric import PlacedQuadrics, Quadric, check_map
from raystream.stream.declare.record import LARGEST_INTEGER

# -- points on the surface of a scene, spread evenly by area, for measurements that need no ray ------------------------

Double = NDArray[np.float64]

POINTS = 2048
TRIANGLES = 1 << 16  # looked at, about: of larger scenes every so many
SEGMENTS = 16  # of the mesh that stands for a quadric
# Steps of the points over a triangle: the plastic number's (M. Roberts, "The Unreasonable Effectiveness of
# Quasirandom Sequences", 2018).
STEPS = (0.7548776662466927, 0.5698402909980532)


class SurfacePoints(NamedTuple):
    """points (N, 3), world space, each standing for an equal area; normals (N, 3), unit vectors, of the sides from
    which corners run counter-clockwise; materials (N,): their indices; area: of the whole surface, square scene
    units."""

    points: Double
    normals: Double
    materials: NDArray[np.int64]
    area: float


def surface_points(meshes: Sequence[Mesh], instances: Sequence[Instance], count: int = POINTS) -> SurfacePoints:
    """``count`` points of all instances, none without any area; always the same ones."""
    step = max(1, -(-len(instances) // TRIANGLES))
    chosen = instances[::step]
    triangle_budget = max(8, TRIANGLES // max(len(chosen), 1))
    corners, weights, materials = [np.zeros((0, 3, 3))], [np.zeros(0)], [np.zeros(0, np.int64)]
    plain: dict[int, tuple[Double, NDArray[np.int32], int]] = {}
    for instance in chosen:
        if instance.mesh not in plain:
            plain[instance.mesh] = _some(meshes[instance.mesh], triangle_budget)
        triangles, indices, every = plain[instance.mesh]
        with np.errstate(all="ignore"):  # what is not finite is left out below
            placed = triangles @ instance.transform[:3, :3].T + instance.transform[:3, 3]
        mirrored = np.linalg.det(instance.transform[:3, :3]) < 0
        corners.append(placed[:, [0, 2, 1]] if mirrored else placed)
        weights.append(np.full(len(triangles), float(every * step)))
        alike = np.full(len(triangles), -1 if instance.material is None else instance.material, np.int64)
        materials.append(np.where(alike < 0, indices, alike))
    return spread(np.concatenate(corners), np.concatenate(weights), np.concatenate(materials), count)


def _some(mesh: Mesh, most: int) -> tuple[Double, NDArray[np.int32], int]:
    """(T, 3, 3), (T,), step: about ``most`` of the mesh's triangles at an even step, their materials, and that step. A
    quadric that does not close has none."""
    if isinstance(mesh, Quadric):
        try:
            mesh = mesh.tessellated(SEGMENTS)
        except ViewerError:
            return np.zeros((0, 3, 3)), np.zeros(0, np.int32), 1
    if isinstance(mesh, Quadrics):
        mesh = mesh.tessellated()
    every = max(1, len(mesh.triangles) // most)
    return mesh.positions[mesh.triangles[::every]].astype(np.float64), mesh.materials[::every], every


def spread(corners: Double, weights: Double, materials: NDArray[np.int64], count: int = POINTS) -> SurfacePoints:
    """``count`` points on triangles (T, 3, 3) of materials (T,), each for an equal part of area times weight (T,)."""
    with np.errstate(all="ignore"):
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        double = np.linalg.norm(cross, axis=1)
    area = np.where(np.isfinite(double), double, 0.0) / 2 * weights
    ends = np.cumsum(area)
    total = float(ends[-1]) if len(ends) else 0.0
    if not (total > 0 and math.isfinite(total)):
        return SurfacePoints(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, np.int64), 0.0)
    at = np.searchsorted(ends, (np.arange(count) + 0.5) / count * total, side="right")
    at = np.minimum(at, len(ends) - 1)
    u, v = (np.arange(count) * step % 1.0 for step in STEPS)
    root = np.sqrt(u)
    weight = np.stack([1 - root, root * (1 - v), root * v], axis=1)
    points = (corners[at] * weight[:, :, None]).sum(axis=1)
    return SurfacePoints(points, cross[at] / double[at, None], materials[at].astype(np.int64), total)


# -- triangles ---------------------------------------------------------------------------------------------------------

# Beyond this the watertight test's products of two coordinates overflow float32.
LARGEST_COORDINATE = 1e18
BATCH = 1 << 18  # vertices or triangles of instances of equal meshes that are placed at once


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
    indices, which = np.unique(meshes_of(instances), return_inverse=True)
    used_meshes = [meshes[index] for index in indices.tolist()]
    triangle_count = int(np.array([len(mesh.triangles) for mesh in used_meshes], np.int64)[which].sum())
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
    vertices, starts = offsets(kinds[which, 0]), offsets(kinds[which, 1])
    transforms = transforms_of(instances)
    chosen = np.array([-1 if instance.material is None else instance.material for instance in instances], np.int32)
    count = int(vertices[-1])
    positions, normals = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
    colors, uvs = np.ones((count, 3), np.float32), np.zeros((count, 2), np.float32)
    triangles, materials = np.empty((triangle_count, 3), np.int32), np.empty(triangle_count, np.int32)
    too_far = np.zeros(len(instances), bool)
    for every in alike(kinds, which):
        size, faces, plain, bare = kinds[which[every[0]]].tolist()
        step = max(1, BATCH // max(size, faces, 1))
        for part in (every[at : at + step] for at in range(0, len(every) if size or faces else 0, step)):
            stack, maps = _Stack.of(complete, which[part]), transforms[part]
            rows = _rows(vertices[part], size)
            moved = transform_points(stack.positions, maps)
            with np.errstate(invalid="ignore"):
                too_far[part] = (np.isfinite(moved) & (np.abs(moved) > LARGEST_COORDINATE)).any(axis=(1, 2))
                if too_far[part].any():
                    continue  # float32 may not hold it either
                positions[rows] = moved.reshape(-1, 3).astype(np.float32)
            normals[rows] = transform_normals(stack.normals, maps).reshape(-1, 3)
            if not plain:
                colors[rows] = np.broadcast_to(stack.colors[..., :3], (len(part), size, 3)).reshape(-1, 3)
            if not bare:
                uvs[rows] = np.broadcast_to(stack.uvs, (len(part), size, 2)).reshape(-1, 2)
            mirrored = np.linalg.det(maps[:, :3, :3]) < 0  # keep front faces in front
            corners = stack.triangles
            if mirrored.any():
                corners = np.where(mirrored[:, None, None], corners[..., [0, 2, 1]], corners)
            places = _rows(starts[part], faces)
            # As int32, since that is what they become: int64 would take as long again for millions.
            triangles[places] = (corners + vertices[part].astype(np.int32)[:, None, None]).reshape(-1, 3)
            materials[places] = np.where(chosen[part][:, None] >= 0, chosen[part][:, None], stack.materials).ravel()
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
        places = np.flatnonzero(which == index)
        still = len(places) == 1 and np.array_equal(transforms[places[0]], np.eye(4))
        maps = mesh.maps if still else transforms[places, None] @ mesh.maps
        check_map(f"{name}: {instances[places[0]].name or mesh.name}", maps)
        placed = PlacedQuadrics.of(mesh.shape, maps.reshape(-1, 4, 4))
        rows = ranges(starts[places], np.full(len(places), len(mesh.triangles)))
        quadrics.append(replace(placed, indices=rows))
        # In the mesh's own order, mirrored or not: a cylinder's colours run from its first end to its second.
        triangles[rows] = (mesh.triangles + vertices[places, None, None]).reshape(-1, 3)
    listed = PlacedQuadrics.joined(quadrics)
    first = starts.astype(np.int32)
    flat = Triangles(positions, triangles, materials, normals, colors, uvs, first, listed)
    flat.uvs_1 = second_coordinates(complete, which)
    flat.tangents = tangents(complete, which, transforms)
    flat.opacities = opacities(complete, which)
    return flat


def _rows(starts: NDArray[np.intp], size: int) -> NDArray[np.intp] | slice:
    """The rows of runs of equal size: of one run a slice, which NumPy copies without looking up each."""
    if len(starts) == 1:
        return slice(int(starts[0]), int(starts[0]) + size)
    return ranges(starts, np.full(len(starts), size))


class _Stack(NamedTuple):
    """Attributes of N meshes of equal size, (N, V, ...) and (N, T, ...), or (V, ...) and (T, ...) of one that is all of
    them; None where they have none."""

    positions: Any
    triangles: Any
    materials: Any
    normals: Any
    colors: Any
    uvs: Any

    @classmethod
    def of(cls, meshes: Sequence[Mesh], indices: NDArray[np.intp]) -> _Stack:
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


def second_coordinates(meshes: Sequence[Mesh], which: NDArray[np.intp]) -> Float | None:
    """The second texture coordinates of all instances; None if no mesh has any."""
    if all(mesh.uvs_1 is None for mesh in meshes):
        return None
    coordinates = [
        np.zeros((len(mesh.positions), 2), np.float32) if mesh.uvs_1 is None else mesh.uvs_1 for mesh in meshes
    ]
    return np.concatenate([coordinates[index] for index in which.tolist()])


def opacities(meshes: Sequence[Mesh], which: NDArray[np.intp]) -> Float | None:
    """The opacities of the vertex colours of all instances; None if all are 1."""
    if all(mesh.colors is None or bool((mesh.colors[:, 3] == 1.0).all()) for mesh in meshes):
        return None
    alphas = [np.ones(len(mesh.positions), np.float32) if mesh.colors is None else mesh.colors[:, 3] for mesh in meshes]
    return np.concatenate([alphas[index] for index in which.tolist()])


def tangents(meshes: Sequence[Mesh], which: NDArray[np.intp], transforms: NDArray[np.float64]) -> Float | None:
    """The tangents of all instances under their maps (I, 4, 4), in world space; None if no mesh has any."""
    if all(mesh.tangents is None for mesh in meshes):
        return None
    placed = zip(which.tolist(), transforms, strict=True)
    return np.concatenate(
        [
            np.zeros((len(mesh.positions), 4), np.float32)
            if mesh.tangents is None
            else transform_tangents(mesh.tangents, transform)
            for mesh, transform in ((meshes[index], transform) for index, transform in placed)
        ]
    )
