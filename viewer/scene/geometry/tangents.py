"""Tangents for meshes without, by MikkTSpace, as glTF 2.0 demands (section 3.7.2.1).

M. S. Mikkelsen, *Simulation of Wrinkled Surfaces Revisited* (2008).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.scene.geometry.vertices import weld
from raystream.scene.mesh import Float, Int, Mesh

# Number of vertices and triangles below which loops are not worth compiling.
SMALL = 1000


def with_tangents(mesh: Mesh, uv_set: int = 0) -> Mesh:
    """The mesh itself if it has tangents, lacks normals or lacks that set of texture coordinates; else one with
    tangents along +u.

    A corner's tangent is the angle-weighted sum of faces' unit tangents in the plane of the normal. It runs over faces
    with a corner of equal position, normal and texture coordinates, and equal orientation of the image. Unlike in
    MikkTSpace such faces need not share an edge. A vertex between mirrored images is split: the copies follow the
    file's own vertices. Where texture coordinates have no extent the tangent is zero, with sign 0.
    """
    uvs = mesh.uvs_1 if uv_set else mesh.uvs
    if mesh.tangents is not None or mesh.normals is None or uvs is None:
        return mesh
    if not len(mesh.triangles):
        return replace(mesh, tangents=np.zeros((len(mesh.positions), 4), np.float32))
    with np.errstate(all="ignore"):  # non-finite corners are ignored
        u_directions, area = _along_u(mesh.positions, mesh.triangles, uvs)
    words = np.concatenate([mesh.positions, mesh.normals, uvs], axis=1).view(np.uint32)
    place, _ = weld(words, len(mesh.positions) + len(mesh.triangles) < SMALL)
    # Two groups at each position: faces with the image as it is, and mirrored.
    group = 2 * place[mesh.triangles].astype(np.int64) + (area < 0)[:, None]
    total = np.zeros((2 * len(words), 3))
    for corner in range(3):
        with np.errstate(all="ignore"):
            contribution = _contribution(mesh.positions, mesh.normals, mesh.triangles, corner, u_directions)
        contribution[~(np.isfinite(contribution).all(axis=1) & (area != 0))] = 0.0
        for axis in range(3):
            total[:, axis] += np.bincount(group[:, corner], contribution[:, axis], len(total))
    length = np.linalg.norm(total, axis=1)
    # cross(normal, tangent) points along +v for an unmirrored image, and shall point along -v.
    sign = np.where(np.arange(len(total)) % 2 == 0, -1.0, 1.0)
    tangents = np.concatenate([total, sign[:, None]], axis=1)
    tangents[:, :3] /= np.where(length > 0, length, 1.0)[:, None]
    tangents[length == 0] = 0.0
    _adopt(group, area, length)
    return _split(mesh, group, tangents.astype(np.float32))


def _along_u(positions: Float, triangles: Int, uvs: Float) -> tuple[NDArray, NDArray]:
    """(T, 3) unit vectors along +u, and (T,) twice the signed areas in texture coordinates."""
    corners, places = positions.astype(np.float64)[triangles], uvs.astype(np.float64)[triangles]
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    p, q = places[:, 1] - places[:, 0], places[:, 2] - places[:, 0]
    area = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    directions = (q[:, 1:] * ab - p[:, 1:] * ac) * np.sign(area)[:, None]
    return directions / np.linalg.norm(directions, axis=1, keepdims=True), np.nan_to_num(area)


def _contribution(positions: Float, normals: Float, triangles: Int, corner: int, directions: NDArray) -> NDArray:
    """(T, 3): contribution of each face to the tangent at one of its corners."""
    normal = normals.astype(np.float64)[triangles[:, corner]]
    points = positions.astype(np.float64)

    def in_plane(vectors: NDArray) -> NDArray:
        flat = vectors - normal * (normal * vectors).sum(axis=1, keepdims=True)
        return flat / np.linalg.norm(flat, axis=1, keepdims=True)

    corner_points = points[triangles[:, corner]]
    sides = [in_plane(points[triangles[:, (corner + k) % 3]] - corner_points) for k in (1, 2)]
    angle = np.arccos(np.clip((sides[0] * sides[1]).sum(axis=1), -1.0, 1.0))
    return in_plane(directions) * angle[:, None]


def _adopt(group: NDArray[np.int64], area: NDArray, length: NDArray) -> None:
    """Give corners of faces without area in texture coordinates the tangent of either group there, in place."""
    flat = group[area == 0]
    group[area == 0] = np.where(length[flat] > 0, flat, flat ^ 1)


def _split(mesh: Mesh, group: NDArray[np.int64], tangents: Float) -> Mesh:
    """The mesh with a vertex for each group of its corners."""
    vertices = mesh.triangles.ravel().astype(np.int64)
    side = group.ravel() & 1
    uses = np.zeros((len(mesh.positions), 2), bool)
    uses[vertices, side] = True
    torn = uses[:, 0] & uses[:, 1]
    both = np.flatnonzero(torn)
    copy = np.zeros(len(mesh.positions), np.int64)
    copy[both] = len(mesh.positions) + np.arange(len(both))
    corners = np.where(torn[vertices] & (side == 1), copy[vertices], vertices)
    vertex_tangents = np.zeros((len(mesh.positions) + len(both), 4), np.float32)
    vertex_tangents[corners] = tangents[group.ravel()]
    if not len(both):
        return replace(mesh, tangents=vertex_tangents)

    def copied(values: Float | None) -> Float | None:
        return None if values is None else np.concatenate([values, values[both]])

    return replace(
        mesh,
        positions=np.concatenate([mesh.positions, mesh.positions[both]]),
        triangles=corners.astype(np.int32).reshape(-1, 3),
        normals=copied(mesh.normals),
        uvs=copied(mesh.uvs),
        colors=copied(mesh.colors),
        uvs_1=copied(mesh.uvs_1),
        tangents=vertex_tangents,
    )
