"""A scene's triangles in world space, flattened from the instances of its meshes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.scene.geometry.attributes import opacities, second_coordinates, tangents
from viewer.scene.geometry.normals import with_normals
from viewer.scene.geometry.transform import transform_normals, transform_points
from viewer.scene.instance import Instance
from viewer.scene.mesh import Float, Int, Mesh
from viewer.scene.quadric import PlacedQuadric, Quadric, check_map
from viewer.stream.declare.record import LARGEST_INTEGER

# Beyond this the watertight test's products of two coordinates overflow float32.
LARGEST_COORDINATE = 1e18
TOGETHER = 1 << 18  # vertices or triangles of instances of one mesh that are placed at once


@dataclass
class Triangles:
    """The scene's triangles in world space, in scene order (instance by instance): the input of acceleration
    structures.

    positions (V, 3), normals (V, 3), colors (V, 3) linear, uvs (V, 2): float32.
    triangles (T, 3), materials (T,): int32.
    ``instances`` (I + 1,) int32: the first triangle of each instance, and the count at the end.
    Triangles with a non-finite corner keep their numbers; acceleration structures skip them.
    uvs_1 (V, 2), tangents (V, 4), opacities (V,) float32, as in `Mesh`, zeros (opacities: ones) for meshes without;
    None if no mesh has any.
    ``quadrics``, ascending, take one triangle number each; the triangle in that place has no area.
    """

    positions: Float
    triangles: Int
    materials: Int
    normals: Float
    colors: Float
    uvs: Float
    instances: Int
    quadrics: tuple[PlacedQuadric, ...] = ()
    uvs_1: Float | None = None
    tangents: Float | None = None
    opacities: Float | None = None

    def __len__(self) -> int:
        return len(self.triangles)

    def corners(self) -> Float:
        """(T, 3, 3) float32: the corners of every triangle."""
        return self.positions[self.triangles]


def flattened(name: str, meshes: Sequence[Mesh], instances: Sequence[Instance]) -> Triangles:
    """`Scene.flatten` of the scene of that name."""
    triangle_count = sum(len(meshes[each.mesh].triangles) for each in instances)
    if triangle_count > LARGEST_INTEGER:
        raise ViewerError(
            name,
            f"{triangle_count:,} triangles with all instances; an address is exact up to {LARGEST_INTEGER:,}",
            "use --accel two-level-bvh, which keeps instances separate, or a smaller scene",
        )
    complete = {number: with_normals(meshes[number]) for number in dict.fromkeys(each.mesh for each in instances)}
    used = [complete[each.mesh] for each in instances]
    vertices = _offsets([len(mesh.positions) for mesh in used])
    starts = _offsets([len(mesh.triangles) for mesh in used])
    numbers = np.array([each.mesh for each in instances], np.intp)
    transforms = np.array([each.transform for each in instances], np.float64).reshape(-1, 4, 4)
    given = np.array([-1 if each.material is None else each.material for each in instances], np.int32)
    count = int(vertices[-1])
    positions, normals = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
    colors, uvs = np.ones((count, 3), np.float32), np.zeros((count, 2), np.float32)
    triangles, materials = np.empty((triangle_count, 3), np.int32), np.empty(triangle_count, np.int32)
    too_far = np.zeros(len(instances), bool)
    by_mesh = np.argsort(numbers, kind="stable")
    for every in np.split(by_mesh, np.flatnonzero(np.diff(numbers[by_mesh])) + 1) if len(numbers) else ():
        mesh = used[every[0]]
        size, faces = len(mesh.positions), len(mesh.triangles)
        step = max(1, TOGETHER // max(size, faces, 1))
        for part in (every[at : at + step] for at in range(0, len(every) if size or faces else 0, step)):
            maps = transforms[part]
            rows = (vertices[part][:, None] + np.arange(size)).ravel()
            moved = transform_points(mesh.positions, maps)
            with np.errstate(invalid="ignore"):
                too_far[part] = (np.isfinite(moved) & (np.abs(moved) > LARGEST_COORDINATE)).any(axis=(1, 2))
                positions[rows] = moved.reshape(-1, 3).astype(np.float32)
            assert mesh.normals is not None
            normals[rows] = transform_normals(mesh.normals, maps).reshape(-1, 3)
            if mesh.colors is not None:
                colors[rows] = np.tile(mesh.colors[:, :3], (len(part), 1))
            if mesh.uvs is not None:
                uvs[rows] = np.tile(mesh.uvs, (len(part), 1))
            mirrored = np.linalg.det(maps[:, :3, :3]) < 0  # keep front faces in front
            corners = np.where(mirrored[:, None, None], mesh.triangles[:, [0, 2, 1]], mesh.triangles)
            places = (starts[part][:, None] + np.arange(faces)).ravel()
            triangles[places] = (corners + vertices[part][:, None, None]).reshape(-1, 3)
            own = np.where(given[part][:, None] >= 0, given[part][:, None], mesh.materials)
            materials[places] = own.ravel()
    if too_far.any():
        instance = instances[int(too_far.argmax())]
        raise ViewerError(
            f"{name}: {instance.name or complete[instance.mesh].name}",
            f"a coordinate is beyond {LARGEST_COORDINATE:g}, whose square overflows float32",
            "scale the model down",
        )
    quadrics: list[PlacedQuadric] = []
    curved = {number for number, mesh in complete.items() if isinstance(mesh, Quadric)}
    for place, instance in enumerate(instances) if curved else ():
        mesh = complete[instance.mesh]
        if isinstance(mesh, Quadric):
            check_map(f"{name}: {instance.name or mesh.name}", instance.transform @ mesh.shape.transform)
            quadrics.append(PlacedQuadric(int(starts[place]), mesh.shape, instance.transform @ mesh.shape.transform))
    first = starts.astype(np.int32)
    flat = Triangles(positions, triangles, materials, normals, colors, uvs, first, tuple(quadrics))
    flat.uvs_1 = second_coordinates(used)
    flat.tangents = tangents([(mesh, each.transform) for mesh, each in zip(used, instances, strict=True)])
    flat.opacities = opacities(used)
    return flat


def _offsets(counts: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts], dtype=np.int64)
