"""Vertex normals: computed by crease angle for meshes without, repaired where a file's are not unit vectors;
and tangents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import helper, run
from raystream.scene.geometry.batches import batches, join_meshes, offsets
from raystream.scene.geometry.vertices import weld
from raystream.scene.mesh import Float, Int, Mesh

# -- tangents for meshes without, by MikkTSpace, as glTF 2.0 demands (section 3.7.2.1) ---------------------------------
# M. S. Mikkelsen, *Simulation of Wrinkled Surfaces Revisited* (2008).

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
        u_directions, area = _u_directions(mesh.positions, mesh.triangles, uvs)
    words = np.concatenate([mesh.positions, mesh.normals, uvs], axis=1).view(np.uint32)
    inverse, _ = weld(words, len(mesh.positions) + len(mesh.triangles) < SMALL)
    # Two groups at each position: faces with the image as it is, and mirrored.
    group = 2 * inverse[mesh.triangles].astype(np.int64) + (area < 0)[:, None]
    total = np.zeros((2 * len(words), 3))
    for corner in range(3):
        with np.errstate(all="ignore"):
            contribution = _corner_tangents(mesh.positions, mesh.normals, mesh.triangles, corner, u_directions)
        contribution[~(np.isfinite(contribution).all(axis=1) & (area != 0))] = 0.0
        for axis in range(3):
            total[:, axis] += np.bincount(group[:, corner], contribution[:, axis], len(total))
    length = np.linalg.norm(total, axis=1)
    # cross(normal, tangent) points along +v for an unmirrored image, and shall point along -v.
    sign = np.where(np.arange(len(total)) % 2 == 0, -1.0, 1.0)
    tangents = np.concatenate([total, sign[:, None]], axis=1)
    tangents[:, :3] /= np.where(length > 0, length, 1.0)[:, None]
    tangents[length == 0] = 0.0
    _assign_degenerate_corners(group, area, length)
    return _split_mirrored(mesh, group, tangents.astype(np.float32))


def _u_directions(positions: Float, triangles: Int, uvs: Float) -> tuple[NDArray, NDArray]:
    """(unit vectors (T, 3) along +u, twice the signed areas (T,) in texture coordinates)."""
    corners, coordinates = positions.astype(np.float64)[triangles], uvs.astype(np.float64)[triangles]
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    p, q = coordinates[:, 1] - coordinates[:, 0], coordinates[:, 2] - coordinates[:, 0]
    area = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    directions = (q[:, 1:] * ab - p[:, 1:] * ac) * np.sign(area)[:, None]
    return directions / np.linalg.norm(directions, axis=1, keepdims=True), np.nan_to_num(area)


def _corner_tangents(positions: Float, normals: Float, triangles: Int, corner: int, directions: NDArray) -> NDArray:
    """(T, 3): each face's contribution to the tangent at its corner 0, 1 or 2: its direction (T, 3) along +u in the
    plane of the vertex normal, times its angle there."""
    normal = normals.astype(np.float64)[triangles[:, corner]]
    points = positions.astype(np.float64)

    def in_plane(vectors: NDArray) -> NDArray:
        projected = vectors - normal * (normal * vectors).sum(axis=1, keepdims=True)
        return projected / np.linalg.norm(projected, axis=1, keepdims=True)

    corner_points = points[triangles[:, corner]]
    sides = [in_plane(points[triangles[:, (corner + k) % 3]] - corner_points) for k in (1, 2)]
    angle = np.arccos(np.clip((sides[0] * sides[1]).sum(axis=1), -1.0, 1.0))
    return in_plane(directions) * angle[:, None]


def _assign_degenerate_corners(group: NDArray[np.int64], area: NDArray, length: NDArray) -> None:
    """Move corners of faces without area in texture coordinates to whichever group at their vertex has a tangent:
    ``group`` (T, 3), in place. area : (T,) of the faces; length : (G,) of the groups' tangents."""
    degenerate = group[area == 0]
    group[area == 0] = np.where(length[degenerate] > 0, degenerate, degenerate ^ 1)


def _split_mirrored(mesh: Mesh, group: NDArray[np.int64], tangents: Float) -> Mesh:
    """The mesh with these tangents (G, 4), and with a copy of every vertex whose corners are in both groups of
    ``group`` (T, 3): odd ones are those of mirrored images."""
    vertices = mesh.triangles.ravel().astype(np.int64)
    is_mirrored = group.ravel() & 1
    uses = np.zeros((len(mesh.positions), 2), bool)
    uses[vertices, is_mirrored] = True
    is_split = uses[:, 0] & uses[:, 1]
    split_vertices = np.flatnonzero(is_split)
    copy = np.zeros(len(mesh.positions), np.int64)
    copy[split_vertices] = len(mesh.positions) + np.arange(len(split_vertices))
    corners = np.where(is_split[vertices] & (is_mirrored == 1), copy[vertices], vertices)
    vertex_tangents = np.zeros((len(mesh.positions) + len(split_vertices), 4), np.float32)
    vertex_tangents[corners] = tangents[group.ravel()]
    if not len(split_vertices):
        return replace(mesh, tangents=vertex_tangents)

    def copied(values: Float | None) -> Float | None:
        return None if values is None else np.concatenate([values, values[split_vertices]])

    return replace(
        mesh,
        positions=np.concatenate([mesh.positions, mesh.positions[split_vertices]]),
        triangles=corners.astype(np.int32).reshape(-1, 3),
        normals=copied(mesh.normals),
        uvs=copied(mesh.uvs),
        colors=copied(mesh.colors),
        uvs_1=copied(mesh.uvs_1),
        tangents=vertex_tangents,
    )


# -- the compiled loop of vertex normals -------------------------------------------------------------------------------

# Up to this many corners around a point are compared pairwise; beyond it, normals are binned by direction.
MAX_PAIRWISE = 64
# Cells along an edge of the cube of directions: 6 * 24^2 cells of about 3.75 degrees.
DIRECTION_CELLS = 24


@helper
def _faces_and_angles(positions, triangles, normals, angles, edge, size):
    """Unit face normals (T, 3) and the angle at each corner (T, 3), radians; left zero for faces without a direction.

    edge (3, 3), size (3,) float64: scratch.
    """
    count = len(triangles)
    for t in range(count):
        for c in range(3):
            a, b = triangles[t, c], triangles[t, (c + 1) % 3]
            for k in range(3):
                edge[c, k] = np.float64(positions[b, k]) - np.float64(positions[a, k])
        x = edge[0, 1] * edge[1, 2] - edge[0, 2] * edge[1, 1]
        y = edge[0, 2] * edge[1, 0] - edge[0, 0] * edge[1, 2]
        z = edge[0, 0] * edge[1, 1] - edge[0, 1] * edge[1, 0]
        length = math.sqrt(x * x + y * y + z * z)
        if not (length > 0.0 and length < np.inf):
            continue
        normals[t, 0], normals[t, 1], normals[t, 2] = x / length, y / length, z / length
        for c in range(3):
            size[c] = math.sqrt(edge[c, 0] ** 2 + edge[c, 1] ** 2 + edge[c, 2] ** 2)
        for c in range(2):
            before = (c + 2) % 3
            dot = -(edge[c, 0] * edge[before, 0] + edge[c, 1] * edge[before, 1] + edge[c, 2] * edge[before, 2])
            angles[t, c] = math.acos(min(1.0, max(-1.0, dot / (size[c] * size[before]))))
        angles[t, 2] = max(0.0, math.pi - angles[t, 0] - angles[t, 1])


@helper
def _direction_cell(x, y, z):
    """The cell of a direction on the cube of directions, 0 .. 6 * CELLS^2 - 1."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if ax >= ay and ax >= az:
        side, u, v = (0 if x > 0 else 1), y / ax, z / ax
    elif ay >= az:
        side, u, v = (2 if y > 0 else 3), x / ay, z / ay
    else:
        side, u, v = (4 if z > 0 else 5), x / az, y / az
    i = min(DIRECTION_CELLS - 1, int((u + 1.0) * 0.5 * DIRECTION_CELLS))
    j = min(DIRECTION_CELLS - 1, int((v + 1.0) * 0.5 * DIRECTION_CELLS))
    return (side * DIRECTION_CELLS + i) * DIRECTION_CELLS + j


@helper
def _smooth(near, used, threshold, normal):
    """Whether each face around a point is within the crease of all others, and they do not cancel out; ``normal`` (3,)
    is then their common one."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(used):
        nx, ny, nz = near[k, 0], near[k, 1], near[k, 2]
        if nx == 0.0 and ny == 0.0 and nz == 0.0:
            return False
        for other in range(k):
            if not nx * near[other, 0] + ny * near[other, 1] + nz * near[other, 2] >= threshold:
                return False
        x += near[k, 3] * nx
        y += near[k, 3] * ny
        z += near[k, 3] * nz
    length = math.sqrt(x * x + y * y + z * z)
    if not length > 1e-9:
        return False
    normal[0], normal[1], normal[2] = x / length, y / length, z / length
    return True


def scratch(vertices, triangles):
    """Scratch arrays of `crease_normals` for these numbers of vertices and triangles."""
    return (
        np.zeros((triangles, 3)),  # faces
        np.zeros((triangles, 3)),  # angles
        np.empty((3, 3)),  # edge
        np.empty(3),  # size
        np.empty((3 * triangles, 3), np.float32),  # corner_normals
        np.zeros(vertices + 1, np.int32),  # start
        np.empty(vertices, np.int32),  # fill
        np.empty(3 * triangles, np.int32),  # order
        np.zeros(vertices, np.bool_),  # taken
        np.empty((MAX_PAIRWISE, 4)),  # near
        np.zeros((6 * DIRECTION_CELLS * DIRECTION_CELLS, 3)),  # cells
        np.empty(6 * DIRECTION_CELLS * DIRECTION_CELLS, np.int64),  # in_use
        np.empty(MAX_PAIRWISE, np.int64),  # recent
    )


def crease_normals(
    positions,
    triangles,
    group,
    threshold,
    result,
    source,
    normals,
    faces,
    angles,
    edge,
    size,
    corner_normals,
    start,
    fill,
    order,
    claimed,
    near,
    cells,
    in_use,
    recent,
):
    """Corner normals by crease angle, with vertices split where they differ; returns the new number of vertices V'.

    positions (V, 3) float32, triangles (T, 3) int32, group (V,) int32: the position's number of each vertex; threshold:
    cosine of the crease angle. Written: result (T, 3) int32, the triangles; source (V + 3 T,) int64, the source vertex
    of each, the first V themselves; normals (V + 3 T, 3) float32; V' rows of both are used. The rest: `scratch`.
    """
    vertices, count = len(positions), len(triangles)
    _faces_and_angles(positions, triangles, faces, angles, edge, size)

    # Corners by position: a counting sort.
    for t in range(count):
        for c in range(3):
            start[group[triangles[t, c]] + 1] += 1
    for g in range(vertices):
        start[g + 1] += start[g]
    for g in range(vertices):
        fill[g] = start[g]
    for t in range(count):
        for c in range(3):
            g = group[triangles[t, c]]
            order[fill[g]] = 3 * t + c
            fill[g] += 1

    for v in range(vertices):
        source[v] = v
        normals[v, 0], normals[v, 1], normals[v, 2] = 0.0, 0.0, 1.0
    total = vertices

    for g in range(vertices):
        first, end = start[g], start[g + 1]
        many = end - first > MAX_PAIRWISE
        used = 0
        for at in range(first, end):
            corner = order[at]
            t, c = corner // 3, corner % 3
            x, y, z, weight = faces[t, 0], faces[t, 1], faces[t, 2], angles[t, c]
            if many:
                if x == 0.0 and y == 0.0 and z == 0.0:
                    continue
                cell = _direction_cell(x, y, z)
                if cells[cell, 0] == 0.0 and cells[cell, 1] == 0.0 and cells[cell, 2] == 0.0:
                    in_use[used] = cell
                    used += 1
                # A needle's angle may vanish: its own direction must still count for its corner.
                weight = max(weight, 1e-12)
                cells[cell, 0] += weight * x
                cells[cell, 1] += weight * y
                cells[cell, 2] += weight * z
            else:
                near[used, 0], near[used, 1], near[used, 2], near[used, 3] = x, y, z, weight
                used += 1

        # Mostly no edge at the point is sharp: then its vertices have one normal, and none is split.
        if not many and _smooth(near, used, threshold, size):
            for at in range(first, end):
                t, c = order[at] // 3, order[at] % 3
                v = triangles[t, c]
                if not claimed[v]:
                    claimed[v] = True
                    normals[v, 0], normals[v, 1], normals[v, 2] = size[0], size[1], size[2]
                result[t, c] = v
            continue

        recent_count = 0
        for at in range(first, end):
            corner = order[at]
            t = corner // 3
            x, y, z = faces[t, 0], faces[t, 1], faces[t, 2]
            sx, sy, sz = 0.0, 0.0, 0.0
            if x != 0.0 or y != 0.0 or z != 0.0:
                if many:
                    face_cell = _direction_cell(x, y, z)
                    for k in range(used):
                        cx, cy, cz = cells[in_use[k], 0], cells[in_use[k], 1], cells[in_use[k], 2]
                        length = math.sqrt(cx * cx + cy * cy + cz * cz)
                        if in_use[k] == face_cell or x * cx + y * cy + z * cz >= threshold * length:
                            sx += cx
                            sy += cy
                            sz += cz
                else:
                    for k in range(used):
                        nx, ny, nz = near[k, 0], near[k, 1], near[k, 2]
                        if (nx != 0.0 or ny != 0.0 or nz != 0.0) and x * nx + y * ny + z * nz >= threshold:
                            sx += near[k, 3] * nx
                            sy += near[k, 3] * ny
                            sz += near[k, 3] * nz
                length = math.sqrt(sx * sx + sy * sy + sz * sz)
                if length > 1e-9:
                    sx, sy, sz = sx / length, sy / length, sz / length
                else:  # needles, or faces that cancel out
                    sx, sy, sz = x, y, z
            corner_normals[corner, 0] = sx
            corner_normals[corner, 1] = sy
            corner_normals[corner, 2] = sz

        for k in range(used if many else 0):
            cells[in_use[k], 0] = cells[in_use[k], 1] = cells[in_use[k], 2] = 0.0

        # Faces with a direction first: the others then share a vertex with a normal.
        for flat_pass in range(2):
            for at in range(first, end):
                corner = order[at]
                t, c = corner // 3, corner % 3
                v = triangles[t, c]
                x, y, z = corner_normals[corner, 0], corner_normals[corner, 1], corner_normals[corner, 2]
                flat = x == 0.0 and y == 0.0 and z == 0.0
                if flat != (flat_pass == 1):
                    continue
                if flat:
                    result[t, c] = v
                    continue
                match = -1
                if not claimed[v]:
                    claimed[v] = True
                    match = v
                    normals[v, 0], normals[v, 1], normals[v, 2] = x, y, z
                    recent[recent_count % MAX_PAIRWISE] = v
                    recent_count += 1
                else:
                    for k in range(min(recent_count, MAX_PAIRWISE)):
                        other = recent[k]
                        if source[other] == v and (
                            normals[other, 0] == x and normals[other, 1] == y and normals[other, 2] == z
                        ):
                            match = other
                            break
                if match < 0:
                    source[total] = v
                    normals[total, 0], normals[total, 1], normals[total, 2] = x, y, z
                    match = total
                    recent[recent_count % MAX_PAIRWISE] = total
                    recent_count += 1
                    total += 1
                result[t, c] = match
    return total


# -- vertex normals ----------------------------------------------------------------------------------------------------

# Coplanar faces with rounded unit normals still count as one surface at a crease angle of 0.
ROUNDING = 1e-12
# Number of vertices and triangles below which loops are not worth compiling.
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
        triangles, source, normals = _flat_normals(mesh.positions, mesh.triangles)
    else:
        threshold = _cosine_threshold(crease_degrees)
        positions, corners = np.ascontiguousarray(mesh.positions), np.ascontiguousarray(mesh.triangles)
        small = len(corners) + len(positions) < SMALL
        group, _ = weld(positions.view(np.uint32), small)
        triangles, source, normals = _split_by_creases(positions, corners, group, threshold, small)
    if len(source) == len(mesh.positions):
        return replace(mesh, triangles=triangles, normals=normals), None
    split_mesh = replace(
        mesh,
        positions=mesh.positions[source],
        triangles=triangles,
        normals=normals,
        uvs=None if mesh.uvs is None else mesh.uvs[source],
        colors=None if mesh.colors is None else mesh.colors[source],
        uvs_1=None if mesh.uvs_1 is None else mesh.uvs_1[source],
        tangents=None if mesh.tangents is None else mesh.tangents[source],
    )
    return split_mesh, source


def all_with_normals(meshes: Iterable[Mesh]) -> list[Mesh]:
    """`with_normals` of each, to the bit: small meshes without normals are one mesh meanwhile, whose parts share no
    positions."""
    result = list(meshes)
    lacking = [k for k, mesh in enumerate(result) if mesh.normals is None and len(mesh.triangles)]
    counts = np.array([len(result[k].positions) + len(result[k].triangles) for k in lacking], np.int64)
    small_meshes = np.array(lacking, np.intp)[counts < SMALL]
    for slice_ in batches(counts[counts < SMALL], BATCH):
        group = small_meshes[slice_].tolist()
        if len(group) > 1:
            for k, mesh in zip(group, _merged_with_normals([result[k] for k in group]), strict=True):
                result[k] = mesh
    return [with_normals(mesh) for mesh in result]


def _merged_with_normals(meshes: list[Mesh]) -> list[Mesh]:
    """`with_normals` of meshes that have triangles and no normals, in one run of the loop."""
    positions, corners, vertices, faces = join_meshes(meshes)
    owner = np.repeat(np.arange(len(meshes)), np.diff(vertices))
    small = len(corners) + len(positions) < SMALL
    group, _ = weld(np.column_stack([positions.view(np.uint32), owner.astype(np.uint32)]), small)
    corners, source, normals = _split_by_creases(positions, corners, group, _cosine_threshold(CREASE), small)
    # Copies of vertices lie behind all vertices: each goes behind those of its own mesh.
    order = np.argsort(owner[source], kind="stable")
    new_index = np.empty(len(order), np.int64)
    new_index[order] = np.arange(len(order))
    source, normals = source[order], normals[order]
    starts = offsets(np.bincount(owner[source], minlength=len(meshes)))
    corners = (new_index[corners] - np.repeat(starts[:-1], np.diff(faces))[:, None]).astype(np.int32)
    source_vertices = source - np.repeat(vertices[:-1], np.diff(starts))
    bounds = np.column_stack([starts[:-1], starts[1:], faces[:-1], faces[1:]]).tolist()
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


def _cosine_threshold(crease_degrees: float) -> float:
    """The cosine of the crease angle, lowered by `ROUNDING`."""
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
        float64_normals = normals.astype(np.float64)
        length = np.linalg.norm(float64_normals, axis=1)
        is_valid = np.isfinite(length) & (length > 0)
        unit = (float64_normals / length[:, None]).astype(np.float32)
    if is_valid.all():
        return unit, 0
    unit[~is_valid] = 0.0
    is_invalid = ~is_valid
    neighbours = triangles[is_invalid[triangles].any(axis=1)]
    sums = np.zeros((len(positions), 3))
    faces = face_normals(positions, neighbours)
    for corner in range(3):
        np.add.at(sums, neighbours[:, corner], faces)
    length = np.linalg.norm(sums, axis=1)
    has_direction = is_invalid & (length > 1e-6)
    unit[has_direction] = sums[has_direction] / length[has_direction, None]
    unit[is_invalid & ~has_direction] = (0.0, 0.0, 1.0)
    return unit, len(np.unique(neighbours[is_invalid[neighbours]]))


def _split_by_creases(
    positions: Float, corners: Int, group: NDArray[np.int32], threshold: float, small: bool
) -> tuple[Int, NDArray[np.int64], Float]:
    """(triangles (T, 3), source vertex (V',) of each new vertex, normals (V', 3)); see `crease_normals`."""
    most = len(positions) + 3 * len(corners)
    triangles, source, normals = np.empty_like(corners), np.empty(most, np.int64), np.empty((most, 3), np.float32)
    arrays = scratch(len(positions), len(corners))
    count = run(crease_normals, positions, corners, group, threshold, triangles, source, normals, *arrays, small=small)
    return triangles, source[:count], normals[:count].copy()


def _flat_normals(positions: Float, triangles: Int) -> tuple[Int, NDArray[np.int64], Float]:
    """As `_split_by_creases`, by face normals: a vertex stays with the first corner that uses it."""
    faces = face_normals(positions, triangles).astype(np.float32)
    faces[~faces.any(axis=1)] = (0.0, 0.0, 1.0)
    vertices = triangles.ravel().astype(np.int64)
    indices = np.arange(len(vertices))
    first = np.empty(len(positions), np.int64)
    first[vertices[::-1]] = indices[::-1]  # of equal indices, the last assignment wins
    is_first_use = first[vertices] == indices
    corner = vertices.copy()
    corner[~is_first_use] = len(positions) + np.arange(np.count_nonzero(~is_first_use))
    source = np.concatenate([np.arange(len(positions)), vertices[~is_first_use]])
    normals = np.zeros((len(source), 3), np.float32)
    normals[:, 2] = 1.0
    normals[corner] = np.repeat(faces, 3, axis=0)
    return corner.astype(np.int32).reshape(-1, 3), source, normals
