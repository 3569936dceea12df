"""Vertex normals: computed by crease angle for meshes without, repaired where a file's are not unit vectors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import run
from raystream.scene.geometry.batches import batches, joined, offsets
from raystream.scene.geometry.normals_loops import crease_normals, scratch
from raystream.scene.geometry.weld import weld
from raystream.scene.mesh import Float, Int, Mesh

# Coplanar faces with rounded unit normals still count as one surface at a crease angle of 0.
ROUNDING = 1e-12
# Number of vertices and triangles below which loops are not worth compiling.
SMALL = 1000
# Vertices and triangles of small meshes whose normals are computed at once.
BATCH = 1 << 16
CREASE = 40.0  # degrees


def with_normals(mesh: Mesh, crease_degrees: float = CREASE) -> Mesh:
    """The mesh itself if it has normals, else one with normals: smooth except at edges sharper than the crease angle.

    A corner's normal is the angle-weighted sum of the unit normals of faces around its point within ``crease_degrees``
    of its own face's normal (Thürmer and Wüthrich, "Computing vertex normals from polygonal facets", Journal of
    Graphics Tools 3(1), 1998). Faces meet at equal vertex positions, so that seams in texture coordinates stay smooth.
    A vertex whose corners get different normals is split: the copies follow the file's own vertices, with equal
    positions, and triangles keep their order and number. 0 degrees is flat shading, 180 smooths everything. Faces
    without area or with a non-finite corner are ignored; vertices of no other face get +Z.
    """
    return split_with_normals(mesh, crease_degrees)[0]


def split_with_normals(mesh: Mesh, crease_degrees: float = CREASE) -> tuple[Mesh, NDArray[np.int64] | None]:
    """`with_normals`, and (V,) the given vertex that each one is a copy of; None where none is split."""
    if mesh.normals is not None:
        return mesh, None
    normals = np.zeros((len(mesh.positions), 3), np.float32)
    normals[:, 2] = 1.0
    if not len(mesh.triangles):
        return replace(mesh, normals=normals), None
    if crease_degrees <= 0.0:
        triangles, source, normals = _flat(mesh.positions, mesh.triangles)
    else:
        threshold = _threshold(crease_degrees)
        positions, corners = np.ascontiguousarray(mesh.positions), np.ascontiguousarray(mesh.triangles)
        small = len(corners) + len(positions) < SMALL
        group, _ = weld(positions.view(np.uint32), small)
        triangles, source, normals = _creased(positions, corners, group, threshold, small)
    if len(source) == len(mesh.positions):
        return replace(mesh, triangles=triangles, normals=normals), None
    split = replace(
        mesh,
        positions=mesh.positions[source],
        triangles=triangles,
        normals=normals,
        uvs=None if mesh.uvs is None else mesh.uvs[source],
        colors=None if mesh.colors is None else mesh.colors[source],
        uvs_1=None if mesh.uvs_1 is None else mesh.uvs_1[source],
        tangents=None if mesh.tangents is None else mesh.tangents[source],
    )
    return split, source


def all_with_normals(meshes: Iterable[Mesh]) -> list[Mesh]:
    """`with_normals` of each, to the bit: small meshes without normals are one mesh meanwhile, whose parts share no
    positions."""
    result = list(meshes)
    lacking = [k for k, mesh in enumerate(result) if mesh.normals is None and len(mesh.triangles)]
    counts = np.array([len(result[k].positions) + len(result[k].triangles) for k in lacking], np.int64)
    few = np.array(lacking, np.intp)[counts < SMALL]
    for run_of in batches(counts[counts < SMALL], BATCH):
        part = few[run_of].tolist()
        if len(part) > 1:
            for k, mesh in zip(part, _merged_with_normals([result[k] for k in part]), strict=True):
                result[k] = mesh
    return [with_normals(mesh) for mesh in result]


def _merged_with_normals(meshes: list[Mesh]) -> list[Mesh]:
    """Meshes without normals, with triangles, given normals."""
    positions, corners, vertices, faces = joined(meshes)
    owner = np.repeat(np.arange(len(meshes)), np.diff(vertices))
    small = len(corners) + len(positions) < SMALL
    group, _ = weld(np.column_stack([positions.view(np.uint32), owner.astype(np.uint32)]), small)
    corners, source, normals = _creased(positions, corners, group, _threshold(CREASE), small)
    # Copies of vertices lie behind all vertices: each goes behind those of its own mesh.
    order = np.argsort(owner[source], kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    source, normals = source[order], normals[order]
    begin = offsets(np.bincount(owner[source], minlength=len(meshes)))
    corners = (place[corners] - np.repeat(begin[:-1], np.diff(faces))[:, None]).astype(np.int32)
    source_vertices = source - np.repeat(vertices[:-1], np.diff(begin))
    bounds = np.column_stack([begin[:-1], begin[1:], faces[:-1], faces[1:]]).tolist()
    result = []
    for mesh, (first, last, face, end) in zip(meshes, bounds, strict=True):
        finished = copy(mesh)
        finished.triangles, finished.normals = corners[face:end], normals[first:last]
        if last - first > len(mesh.positions):
            for name in ("positions", "uvs", "colors", "uvs_1", "tangents"):
                values = getattr(mesh, name)
                setattr(finished, name, None if values is None else values[source_vertices[first:last]])
        result.append(finished)
    return result


def _threshold(crease_degrees: float) -> float:
    return math.cos(math.radians(min(crease_degrees, 180.0))) - ROUNDING


def face_normals(positions: Float, triangles: Int) -> NDArray[np.float64]:
    """(T, 3) float64 unit normals, by the right-hand rule; zero for triangles without area or not finite."""
    corners = positions.astype(np.float64)[triangles]
    with np.errstate(all="ignore"):
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        unit = normal / length
    return np.where(np.isfinite(unit) & np.isfinite(length) & (length > 0), unit, 0.0)


def unit_normals(positions: Float, triangles: Int, normals: NDArray) -> tuple[Float, int]:
    """A file's normals, (V, 3) float, normalised; and the number of used ones without direction.

    Those (zero or not finite) get the mean of the adjacent faces, +Z without any.
    """
    with np.errstate(all="ignore"):
        wide = normals.astype(np.float64)
        length = np.linalg.norm(wide, axis=1)
        good = np.isfinite(length) & (length > 0)
        unit = (wide / length[:, None]).astype(np.float32)
    if good.all():
        return unit, 0
    unit[~good] = 0.0
    bad = ~good
    touched = triangles[bad[triangles].any(axis=1)]
    total = np.zeros((len(positions), 3))
    faces = face_normals(positions, touched)
    for corner in range(3):
        np.add.at(total, touched[:, corner], faces)
    length = np.linalg.norm(total, axis=1)
    defined = bad & (length > 1e-6)
    unit[defined] = total[defined] / length[defined, None]
    unit[bad & ~defined] = (0.0, 0.0, 1.0)
    return unit, len(np.unique(touched[bad[touched]]))


def _creased(
    positions: Float, corners: Int, group: NDArray[np.int32], threshold: float, small: bool
) -> tuple[Int, NDArray[np.int64], Float]:
    """Triangles, the source vertex of each new one, and the normals; see `crease_normals`."""
    most = len(positions) + 3 * len(corners)
    triangles, source, normals = np.empty_like(corners), np.empty(most, np.int64), np.empty((most, 3), np.float32)
    room = scratch(len(positions), len(corners))
    count = run(crease_normals, positions, corners, group, threshold, triangles, source, normals, *room, small=small)
    return triangles, source[:count], normals[:count].copy()


def _flat(positions: Float, triangles: Int) -> tuple[Int, NDArray[np.int64], Float]:
    """Every vertex goes to the first triangle that uses it; later corners get copies."""
    faces = face_normals(positions, triangles).astype(np.float32)
    faces[~faces.any(axis=1)] = (0.0, 0.0, 1.0)
    vertices = triangles.ravel().astype(np.int64)
    number = np.arange(len(vertices))
    first = np.empty(len(positions), np.int64)
    first[vertices[::-1]] = number[::-1]  # of equal indices, the last assignment wins
    module_state = first[vertices] == number
    corner = vertices.copy()
    corner[~module_state] = len(positions) + np.arange(np.count_nonzero(~module_state))
    source = np.concatenate([np.arange(len(positions)), vertices[~module_state]])
    normals = np.zeros((len(source), 3), np.float32)
    normals[:, 2] = 1.0
    normals[corner] = np.repeat(faces, 3, axis=0)
    return corner.astype(np.int32).reshape(-1, 3), source, normals
