"""Closed meshes for tests, their shared edges, and rays that are aimed at those."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.scene.scene import Scene

MOST_AT_A_VERTEX = 12  # triangles around a vertex that rays are aimed at


class Mesh(NamedTuple):
    """points (V, 3) float32, faces (T, 3) int; no two points are equal."""

    points: NDArray[np.float32]
    faces: NDArray[np.int64]

    def corners(self) -> NDArray[np.float32]:
        """(T, 3, 3)."""
        return self.points[self.faces]


class Aimed(NamedTuple):
    """Rays (R, 3) whose origin + 1 direction is on an edge, or a vertex, that two or more triangles share."""

    origins: NDArray[np.float32]
    directions: NDArray[np.float32]


def scene(corners: NDArray, name: str = "soup") -> Scene:
    """A scene of unconnected triangles (T, 3, 3)."""
    flat = np.asarray(corners, np.float32).reshape(-1, 3)
    return Scene.from_triangles(flat, np.arange(len(flat)).reshape(-1, 3), name=name)


def rotation(seed: int) -> NDArray[np.float64]:
    """A random turn, (3, 3)."""
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return turn * np.sign(np.linalg.det(turn))


def weld(corners: NDArray) -> Mesh:
    """The mesh of triangles (T, 3, 3); equal corners become one point, degenerate triangles go."""
    flat = np.asarray(corners, np.float32).reshape(-1, 3) + np.float32(0)  # no negative zeros
    points, number = np.unique(flat, axis=0, return_inverse=True)
    faces = number.reshape(-1, 3)
    proper = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    return Mesh(points, faces[proper])


def box(seed: int = 1) -> Mesh:
    """A turned box of 12 triangles."""
    points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * [1.0, 0.6, 0.8]
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    faces = np.array([[q[i] for i in t] for q in quads for t in ((0, 1, 2), (0, 2, 3))])
    return Mesh((points @ rotation(seed).T).astype(np.float32), faces)


def icosphere(splits: int) -> Mesh:
    """A unit sphere of 20 * 4^splits triangles."""
    g = (1 + 5**0.5) / 2
    points = np.array([[s * a, t * b, 0] for a, b in ((1, g),) for s in (-1, 1) for t in (-1, 1)])
    points = np.concatenate([points, points[:, [2, 0, 1]], points[:, [1, 2, 0]]])
    near = np.isclose(np.linalg.norm(points[:, None] - points[None], axis=-1), 2)
    triples = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]
    ]
    corners = points[np.array(triples)]
    for _ in range(splits):
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        corners = np.stack([np.stack(t, 1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))], 0)
        corners = corners.reshape(-1, 3, 3)
    return weld((corners / np.linalg.norm(corners, axis=-1, keepdims=True)).astype(np.float32))


def needle(sides: int = 500, radius: float = 0.02, length: float = 2.0, seed: int = 2) -> Mesh:
    """A turned cylinder whose side is slivers, eight thousand times as long as wide."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    ends = [np.concatenate([ring, np.full((sides, 1), z)], 1) for z in (-length / 2, length / 2)]
    points = np.concatenate([*ends, [[0, 0, -length / 2], [0, 0, length / 2]]]) @ rotation(seed).T
    i = np.arange(sides)
    j = (i + 1) % sides
    bottom, top = np.full(sides, 2 * sides), np.full(sides, 2 * sides + 1)
    parts = [(i, j, j + sides), (i, j + sides, i + sides), (j, i, bottom), (i + sides, j + sides, top)]
    return Mesh(points.astype(np.float32), np.concatenate([np.stack(p, 1) for p in parts]))


def from_inside(mesh: Mesh, rng: np.random.Generator, count: int, spread: float = 0.3) -> Aimed:
    """Rays from around the middle of a convex mesh at points of its edges; every fourth at a vertex."""
    edges = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    ends = mesh.points[edges[rng.integers(0, len(edges), count)]].astype(np.float64)
    share = rng.uniform(0, 1, (count, 1)) * (np.arange(count) % 4 > 0)[:, None]
    target = ends[:, 0] + share * (ends[:, 1] - ends[:, 0])
    other = mesh.points[rng.integers(0, len(mesh.points), (2, count))].astype(np.float64)
    origin = (spread * (other[0] + other[1]) / 2).astype(np.float32)  # convex meshes around 0: inside
    return Aimed(origin, (target - origin).astype(np.float32))


def from_outside(mesh: Mesh, rng: np.random.Generator, count: int, far: float = 16.0) -> Aimed:
    """Rays at edges and vertices all of whose triangles face them, from up to ``far`` diagonals; about ``count``.

    A silhouette, past which a rounded ray may go, is thus left out.
    """
    corners = mesh.corners().astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    edges = np.sort(np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]]), axis=1)
    owner = np.tile(np.arange(len(mesh.faces)), 3)
    order = np.lexsort(edges.T)
    edges, owner = edges[order], owner[order]
    twice = np.flatnonzero((edges[1:] == edges[:-1]).all(axis=1))
    picked = twice[rng.integers(0, len(twice), 3 * count)]
    ends = mesh.points[edges[picked]].astype(np.float64)
    at_vertex = np.arange(len(picked)) % 4 == 0
    target = ends[:, 0] + rng.uniform(0, 1, (len(picked), 1)) * (~at_vertex)[:, None] * (ends[:, 1] - ends[:, 0])
    diagonal = np.linalg.norm(np.ptp(mesh.points, axis=0))
    # across the two triangles, tilted by less than a right angle
    middle = normal[owner[picked]] + normal[owner[picked + 1]]
    away = middle / np.linalg.norm(middle, axis=1, keepdims=True) + 0.7 * rng.normal(size=target.shape)
    away *= rng.uniform(0.01, far, (len(target), 1)) * diagonal / np.linalg.norm(away, axis=1, keepdims=True)
    origin = (target + away).astype(np.float32)
    direction = (target - origin).astype(np.float32)
    unit = direction / np.linalg.norm(direction, axis=1, keepdims=True)
    facing = [(unit * normal[owner[picked + k]]).sum(axis=1) for k in (0, 1)]
    seen = (np.abs(facing[0]) > 0.05) & (np.abs(facing[1]) > 0.05) & (np.sign(facing[0]) == np.sign(facing[1]))
    seen &= ~at_vertex | _fan_faces(mesh, normal, edges[picked, 0], unit)
    return Aimed(origin[seen][:count], direction[seen][:count])


def _fan_faces(mesh: Mesh, normal: NDArray, vertices: NDArray, unit: NDArray) -> NDArray[np.bool_]:
    """Whether all triangles at the vertices (R,) face the rays the same way; the vertex is inside of the mesh."""
    owners: list[list[int]] = [[] for _ in mesh.points]
    for t, face in enumerate(mesh.faces):
        for vertex in face:
            owners[vertex].append(t)
    owners = [o if len(o) <= MOST_AT_A_VERTEX else [] for o in owners]
    table = np.array([(o * MOST_AT_A_VERTEX)[:MOST_AT_A_VERTEX] if o else [0] * MOST_AT_A_VERTEX for o in owners])
    facing = (normal[table[vertices]] * unit[:, None]).sum(axis=-1)
    inside = np.array([_closed_fan(mesh.faces[o], v) for v, o in enumerate(owners)])
    return ((facing > 0.05).all(axis=1) | (facing < -0.05).all(axis=1)) & inside[vertices]


def _closed_fan(faces: NDArray, vertex: int) -> bool:
    others = faces[faces != vertex]
    return len(others) > 0 and bool((np.unique(others, return_counts=True)[1] == 2).all())
