"""The Utah teapot from its 32 bicubic patches (Martin Newell, 1975), tessellated with analytic normals.

Neighbouring patches share the vertices along their common edge, so that no ray slips through; a vertex on a crease (the
handle's lower end touches the body) is split, with a normal for each side.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from raystream.base import paths
from raystream.base.errors import ViewerError
from raystream.scene.builtin.parts.shapes import Array, Index, Part, unit

# Normals closer than this belong to one smooth surface.
CREASE = np.cos(np.radians(30.0))
# A derivative shorter than this (on a body 3 units wide) belongs to a patch edge collapsed to a point.
POLE = 1e-6


@cache
def patches() -> Array:
    """(32, 4, 4, 3) float64 control points, +Y up, the spout towards +X; the body stands on y = 0.

    Raises ViewerError when the data file is damaged.
    """
    path = paths.assets() / "teapot_patches.txt"
    try:
        lines = path.read_text(encoding="ascii").split("\n")
        count = int(lines[0])
        indices = np.array([[int(n) for n in line.split(",")] for line in lines[1 : count + 1]])
        points = np.array(
            [[float(n) for n in line.split(",")] for line in lines[count + 2 : count + 2 + int(lines[count + 1])]]
        )
        control = points[indices - 1].reshape(count, 4, 4, 3)
    except (OSError, ValueError, IndexError) as error:
        raise ViewerError(
            str(path), f"cannot be read: {error}", "the installation is incomplete; install again"
        ) from None
    return np.stack([control[..., 0], control[..., 2], -control[..., 1]], axis=-1)


def teapot(divisions: int) -> Part:
    """The teapot as triangles, ``divisions`` squared quadrilaterals of two triangles per patch; smooth normals."""
    control = patches()
    parameter = np.arange(divisions + 1) / divisions
    positions, normals = _surface(control, parameter)
    inside_out = _volume(positions) < 0
    if inside_out:
        normals = -normals
    indices, first = _shared_vertices(control, divisions)
    # One position for all patches at a shared vertex.
    positions = positions.reshape(-1, 3)[first[indices]]
    side = divisions + 1
    corner = (side * np.arange(divisions)[:, None] + np.arange(divisions)).ravel()
    a, b, c, d = corner, corner + side, corner + side + 1, corner + 1
    quad = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=1).reshape(-1, 3)
    if inside_out:
        quad = quad[:, ::-1]
    triangles = (side * side * np.arange(len(control))[:, None, None] + quad).reshape(-1, 3)
    shared = indices[triangles]
    proper = (shared[:, 0] != shared[:, 1]) & (shared[:, 1] != shared[:, 2]) & (shared[:, 2] != shared[:, 0])
    cluster, smooth = _smooth(indices, normals.reshape(-1, 3))
    place = np.zeros((len(smooth), 3))
    place[cluster] = positions
    return Part(place, smooth, cluster[triangles[proper]])


def _bernstein(t: Array) -> tuple[Array, Array]:
    """The four cubic Bernstein polynomials and their derivatives, (4, N) each."""
    s = 1 - t
    value = np.stack([s**3, 3 * s * s * t, 3 * s * t * t, t**3])
    slope = np.stack([-3 * s * s, 3 * s * s - 6 * s * t, 6 * s * t - 3 * t * t, 3 * t * t])
    return value, slope


def _surface(control: Array, parameter: Array) -> tuple[Array, Array]:
    """Points and unit normals (P, N, N, 3) of all patches; u, the second index, follows the rows of control points.

    Where the first row collapses to a point, the derivative along v vanishes. Nearby it is the mixed derivative times
    the distance from that row, which gives the limit of the normal.
    """
    value, slope = _bernstein(parameter)

    def evaluate(u: Array, v: Array) -> Array:
        return np.einsum("pijk,ia,jb->pabk", control, u, v)

    points, along_u, along_v = evaluate(value, value), evaluate(slope, value), evaluate(value, slope)
    pole = np.linalg.norm(along_v, axis=-1, keepdims=True) < POLE
    along_v = np.where(pole, evaluate(slope, slope), along_v)
    return points, unit(np.cross(along_u, along_v))


def _volume(points: Array) -> float:
    """Signed volume under the quadrilaterals; its sign is their orientation."""
    a, b, c = points[:, :-1, :-1], points[:, 1:, :-1], points[:, 1:, 1:]
    d = points[:, :-1, 1:]
    return float((np.cross(a, b) * c).sum() + (np.cross(a, c) * d).sum())


def _shared_vertices(control: Array, divisions: int) -> tuple[Index, Index]:
    """(vertex index of every patch point, patch point with the position of every vertex).

    Points on a patch's edge are identified by the edge's four control points and their place on it, corners by their
    control point: rounding in the two patches does not matter.
    """
    side = divisions + 1
    count = len(control)
    _, name = np.unique(control.reshape(-1, 3), axis=0, return_inverse=True)
    name = name.reshape(count, 4, 4)
    keys = np.full((count, side, side, 5), -1, np.int64)
    keys[..., 0] = np.arange(count * side * side).reshape(count, side, side)
    step = np.arange(side)
    edges: list[tuple[Index, tuple[slice | int, ...]]] = [
        (name[:, :, 0], np.s_[:, :, 0]),
        (name[:, :, 3], np.s_[:, :, -1]),
        (name[:, 0, :], np.s_[:, 0, :]),
        (name[:, 3, :], np.s_[:, -1, :]),
    ]
    for edge, where in edges:
        backwards = (edge[:, 0] > edge[:, 3]) | ((edge[:, 0] == edge[:, 3]) & (edge[:, 1] > edge[:, 2]))
        keys[where][..., :4] = np.where(backwards[:, None], edge[:, ::-1], edge)[:, None]
        keys[where][..., 4] = np.where(backwards[:, None], divisions - step, step)
        point = (edge == edge[:, :1]).all(axis=1)  # an edge collapsed to a point
        keys[where][point] = np.array([-2, 0, 0, 0, 0])
        keys[where][point, :, 1] = edge[point, :1]
    for row in (0, -1):
        for column in (0, -1):
            keys[:, row, column] = np.array([-2, 0, 0, 0, 0])
            keys[:, row, column, 1] = name[:, row, column]
    _, first, indices = np.unique(keys.reshape(-1, 5), axis=0, return_index=True, return_inverse=True)
    return indices.reshape(-1), first


def _smooth(indices: Index, normals: Array) -> tuple[Index, Array]:
    """Split vertices at creases: (new vertex index of every patch point, unit normal of every new vertex)."""
    cluster = np.full(len(indices), -1)
    means: list[Array] = []
    remaining: NDArray[np.bool_] = np.ones(len(indices), bool)
    total = 0
    while remaining.any():
        points = np.flatnonzero(remaining)
        vertices, lead, member = np.unique(indices[points], return_index=True, return_inverse=True)
        leader = normals[points][lead][member]
        near = (normals[points] * leader).sum(axis=-1) >= CREASE
        chosen = points[near]
        cluster[chosen] = total + member[near]
        mean = np.zeros((len(vertices), 3))
        np.add.at(mean, member[near], normals[chosen])
        means.append(unit(mean))
        total += len(vertices)
        remaining[chosen] = False
    return cluster, np.concatenate(means)
