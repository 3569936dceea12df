"""The compiled loop of vertex normals."""

from __future__ import annotations

import math

import numpy as np

from raystream.base.jit import helper

# Up to this many corners around a point are compared pairwise; beyond it, normals are binned by direction.
FEW = 64
# Cells along an edge of the cube of directions: 6 * 24^2 cells of about 3.75 degrees.
CELLS = 24


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
    i = min(CELLS - 1, int((u + 1.0) * 0.5 * CELLS))
    j = min(CELLS - 1, int((v + 1.0) * 0.5 * CELLS))
    return (side * CELLS + i) * CELLS + j


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
        np.empty((FEW, 4)),  # near
        np.zeros((6 * CELLS * CELLS, 3)),  # cells
        np.empty(6 * CELLS * CELLS, np.int64),  # in_use
        np.empty(FEW, np.int64),  # recent
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
        begin, end = start[g], start[g + 1]
        many = end - begin > FEW
        used = 0
        for at in range(begin, end):
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
            for at in range(begin, end):
                t, c = order[at] // 3, order[at] % 3
                v = triangles[t, c]
                if not claimed[v]:
                    claimed[v] = True
                    normals[v, 0], normals[v, 1], normals[v, 2] = size[0], size[1], size[2]
                result[t, c] = v
            continue

        recent_count = 0
        for at in range(begin, end):
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
            for at in range(begin, end):
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
                    recent[recent_count % FEW] = v
                    recent_count += 1
                else:
                    for k in range(min(recent_count, FEW)):
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
                    recent[recent_count % FEW] = total
                    recent_count += 1
                    total += 1
                result[t, c] = match
    return total
