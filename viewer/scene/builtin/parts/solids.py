"""The five Platonic solids, inscribed in the unit sphere and standing on a face."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from raystream.scene.builtin.parts.shapes import Array, Part, polygons, unit

GOLDEN = (1 + 5**0.5) / 2
SOLIDS = ("tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron")

Faces = list[tuple[int, ...]]


def solid(name: str) -> Part:
    """One of `SOLIDS`, circumradius 1, centre at the origin, a face horizontal at the bottom, flat normals."""
    match name:
        case "tetrahedron":
            vertices, faces = _triangular([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
        case "octahedron":
            vertices, faces = _octahedron()
        case "icosahedron":
            vertices, faces = _icosahedron()
        case "cube":
            vertices, faces = _dual(*_octahedron())
        case "dodecahedron":
            vertices, faces = _dual(*_icosahedron())
        case _:
            raise ValueError(f"no Platonic solid {name}")
    return polygons(vertices @ _standing(vertices, faces[0]).T, faces)


def _octahedron() -> tuple[Array, Faces]:
    return _triangular(np.concatenate([np.eye(3), -np.eye(3)]))


def _icosahedron() -> tuple[Array, Faces]:
    rectangle = np.array([(0, a, b * GOLDEN) for a in (-1, 1) for b in (-1, 1)])
    return _triangular(np.concatenate([np.roll(rectangle, k, axis=1) for k in range(3)]))


def _triangular(points: ArrayLike) -> tuple[Array, Faces]:
    """A solid of equilateral triangles: every three corners that are mutual neighbours are a face."""
    vertices = unit(points)
    distance = np.linalg.norm(vertices[:, None] - vertices[None], axis=-1)
    edge = distance[distance > 1e-9].min() * (1 + 1e-9)
    faces: Faces = []
    for a, b, c in combinations(range(len(vertices)), 3):
        if max(distance[a, b], distance[b, c], distance[c, a]) <= edge:
            outward = np.linalg.det(vertices[[a, b, c]]) > 0
            faces.append((a, b, c) if outward else (a, c, b))
    return vertices, faces


def _dual(vertices: Array, faces: Faces) -> tuple[Array, Faces]:
    """The dual solid: its corners are the centres of the faces, its faces surround the corners."""
    middles = unit([vertices[list(face)].mean(axis=0) for face in faces])
    around = []
    for number, axis in enumerate(vertices):
        ring = [k for k, face in enumerate(faces) if number in face]
        u = unit(middles[ring[0]] - axis * (middles[ring[0]] @ axis))
        v = np.cross(axis, u)
        around.append(tuple(sorted(ring, key=lambda k: np.arctan2(middles[k] @ v, middles[k] @ u))))
    return middles, around


def _standing(vertices: Array, face: tuple[int, ...]) -> Array:
    """The rotation (3, 3) that turns a face's normal to -Y and one of its edges along X."""
    a, b, c = vertices[list(face[:3])]
    down = unit(np.cross(b - a, c - a))
    side = unit(b - a)
    return np.stack([side, -down, np.cross(side, -down)])
