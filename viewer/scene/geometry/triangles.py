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
    parts: list[tuple[NDArray, ...]] = []
    further: list[tuple[Mesh, NDArray]] = []
    quadrics: list[PlacedQuadric] = []
    starts, offset, total = [0], 0, 0
    complete: dict[int, Mesh] = {}
    for instance in instances:
        if instance.mesh not in complete:
            complete[instance.mesh] = with_normals(meshes[instance.mesh])
        mesh = complete[instance.mesh]
        count, assert_normals = len(mesh.positions), mesh.normals
        assert assert_normals is not None
        positions = transform_points(mesh.positions, instance.transform)
        with np.errstate(invalid="ignore"):
            too_far = np.abs(positions[np.isfinite(positions)]) > LARGEST_COORDINATE
        if too_far.any():
            raise ViewerError(
                f"{name}: {instance.name or mesh.name}",
                f"a coordinate is beyond {LARGEST_COORDINATE:g}, whose square overflows float32",
                "scale the model down",
            )
        if isinstance(mesh, Quadric):
            check_map(f"{name}: {instance.name or mesh.name}", instance.transform @ mesh.shape.transform)
            quadrics.append(PlacedQuadric(total, mesh.shape, instance.transform @ mesh.shape.transform))
        triangles = mesh.triangles
        if np.linalg.det(instance.transform[:3, :3]) < 0:  # mirrored: keep front faces in front
            triangles = triangles[:, [0, 2, 1]]
        materials = mesh.materials
        if instance.material is not None:
            materials = np.full(len(triangles), instance.material, np.int32)
        colors = np.ones((count, 3), np.float32) if mesh.colors is None else mesh.colors[:, :3]
        uvs = np.zeros((count, 2), np.float32) if mesh.uvs is None else mesh.uvs
        further.append((mesh, instance.transform))
        parts.append(
            (
                positions.astype(np.float32),
                triangles + np.int32(offset),
                materials,
                transform_normals(assert_normals, instance.transform),
                colors,
                uvs,
            )
        )
        offset, total = offset + count, total + len(triangles)
        starts.append(total)
    if not parts:
        none = np.zeros((0, 3), np.float32)
        index = np.zeros((0, 3), np.int32)
        parts.append((none, index, np.zeros(0, np.int32), none, none, np.zeros((0, 2), np.float32)))
    columns = [column[0] if len(column) == 1 else np.concatenate(column) for column in zip(*parts, strict=True)]
    positions, triangles, materials, normals, colors, uvs = columns
    first = np.asarray(starts, np.int32)
    flat = Triangles(positions, triangles, materials, normals, colors, uvs, first, tuple(quadrics))
    flat.uvs_1 = second_coordinates([mesh for mesh, _ in further])
    flat.tangents = tangents(further)
    flat.opacities = opacities([mesh for mesh, _ in further])
    return flat
