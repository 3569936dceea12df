"""Building blocks of built-in scenes: positions, normals and triangles in float64."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.mesh import Mesh

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Part(NamedTuple):
    """positions (V, 3), unit normals (V, 3), triangles (T, 3) counter-clockwise seen from outside."""

    positions: Array
    normals: Array
    triangles: Index

    def moved(self, offset: ArrayLike, scale: float = 1.0) -> Part:
        """The part scaled about its origin, then moved."""
        return Part(self.positions * scale + np.asarray(offset, np.float64), self.normals, self.triangles)

    def turned(self, degrees: float) -> Part:
        """The part turned about +Y, from +Z towards +X."""
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        matrix = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        return Part(self.positions @ matrix.T, self.normals @ matrix.T, self.triangles)

    def mesh(self, name: str, material: int = 0) -> Mesh:
        """The part as a mesh of one material, without colours."""
        return Mesh(
            self.positions.astype(np.float32),
            self.triangles.astype(np.int32),
            np.full(len(self.triangles), material, np.int32),
            normals=self.normals.astype(np.float32),
            name=name,
        )


class Builder:
    """Collects parts with a colour and a material each, and makes one mesh of them."""

    def __init__(self) -> None:
        self._parts: list[tuple[Part, Array, NDArray[np.int32]]] = []

    def add(self, part: Part, color: ArrayLike = (1.0, 1.0, 1.0), material: int = 0) -> None:
        """Add a part; color is linear RGB, one or one per vertex."""
        colors = np.broadcast_to(np.asarray(color, np.float64), part.positions.shape)
        self._parts.append((part, colors, np.full(len(part.triangles), material, np.int32)))

    def mesh(self, name: str) -> Mesh:
        """All parts as one mesh, in the order added."""
        counts = [len(part.positions) for part, _, _ in self._parts]
        offsets = np.concatenate([[0], np.cumsum(counts)[:-1]])
        triangles = [part.triangles + start for (part, _, _), start in zip(self._parts, offsets, strict=True)]
        colors = np.ones((sum(counts), 4), np.float32)
        colors[:, :3] = np.concatenate([colors for _, colors, _ in self._parts])
        return Mesh(
            np.concatenate([part.positions for part, _, _ in self._parts]).astype(np.float32),
            np.concatenate(triangles).astype(np.int32),
            np.concatenate([materials for _, _, materials in self._parts]),
            normals=np.concatenate([part.normals for part, _, _ in self._parts]).astype(np.float32),
            colors=colors,
            name=name,
        )


def unit(vectors: ArrayLike) -> Array:
    """Vectors (..., 3) scaled to length 1."""
    v = np.asarray(vectors, np.float64)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def quads(corners: ArrayLike) -> Part:
    """Flat quadrilaterals (N, 4, 3), counter-clockwise seen from outside; normals by their first three corners."""
    points = np.asarray(corners, np.float64).reshape(-1, 4, 3)
    normals = unit(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]))
    first = 4 * np.arange(len(points))[:, None]
    triangles = (first[:, :, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    return Part(points.reshape(-1, 3), np.repeat(normals, 4, axis=0), triangles)


def polygons(vertices: ArrayLike, faces: Sequence[Sequence[int]]) -> Part:
    """Flat convex polygons over shared vertices, which are split so that every face has its own normal."""
    points = np.asarray(vertices, np.float64)
    positions, normals, triangles, count = [], [], [], 0
    for face in faces:
        corners = points[list(face)]
        normal = unit(np.cross(corners[1] - corners[0], corners[2] - corners[0]))
        positions.append(corners)
        normals.append(np.broadcast_to(normal, corners.shape))
        triangles += [(count, count + k, count + k + 1) for k in range(1, len(face) - 1)]
        count += len(face)
    return Part(np.concatenate(positions), np.concatenate(normals), np.array(triangles))


def boxes(low: ArrayLike, high: ArrayLike) -> Part:
    """Boxes along the axes, lowest and highest corners (N, 3) or (3,)."""
    a, b = np.broadcast_arrays(*(np.asarray(corner, np.float64).reshape(-1, 3) for corner in (low, high)))
    pick = np.stack([a, b])  # corner number = bit per axis
    bits = [(k & 1, k >> 1 & 1, k >> 2) for k in range(8)]
    corners = np.stack([np.stack([pick[bit[axis], :, axis] for axis in range(3)], axis=-1) for bit in bits], axis=1)
    sides = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    return quads(corners[:, sides].reshape(-1, 4, 3))


def tube(points: ArrayLike, radii: ArrayLike, sides: int) -> Part:
    """A smooth open tube along points (K, 3) with a radius at each; normals point outwards."""
    path, radius = np.asarray(points, np.float64), np.asarray(radii, np.float64)
    tangents = unit(np.gradient(path, axis=0))
    # One axis for the whole tube keeps it from twisting.
    axis = np.eye(3)[np.argmin(np.abs(tangents).max(axis=0))]
    u = unit(np.cross(axis, tangents))
    v = np.cross(tangents, u)
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.cos(angle)[None, :, None] * u[:, None] + np.sin(angle)[None, :, None] * v[:, None]
    positions = path[:, None] + radius[:, None, None] * ring
    a = sides * np.arange(len(path) - 1)[:, None] + np.arange(sides)
    b = sides * np.arange(len(path) - 1)[:, None] + np.roll(np.arange(sides), -1)
    triangles = np.stack([np.stack([a, b, b + sides], -1), np.stack([a, b + sides, a + sides], -1)], axis=2)
    return Part(positions.reshape(-1, 3), ring.reshape(-1, 3), triangles.reshape(-1, 3))


def revolve(profile: ArrayLike, segments: int) -> Part:
    """A profile (K, 2) of (radius, height) revolved about +Y: smooth around, with an edge at every profile point.

    With the solid on the profile's left (upwards on the outside), faces point outwards. Radius 0 closes it.
    """
    outline = np.asarray(profile, np.float64)
    angle = 2 * np.pi * np.arange(segments) / segments
    around = np.stack([np.sin(angle), np.zeros(segments), np.cos(angle)], axis=-1)
    positions, normals, triangles, count = [], [], [], 0
    k = np.arange(segments)
    following = np.roll(k, -1)
    for (r0, y0), (r1, y1) in pairwise(outline):
        length = np.hypot(r1 - r0, y1 - y0)
        normal = around * ((y1 - y0) / length) + np.array([0.0, (r0 - r1) / length, 0.0])
        for r, y in ((r0, y0), (r1, y1)):
            positions.append(around * r + np.array([0.0, y, 0.0]))
            normals.append(normal)
        if r0 > 0:
            triangles.append(np.stack([count + k, count + following, count + segments + following], -1))
        if r1 > 0:
            triangles.append(np.stack([count + k, count + segments + following, count + segments + k], -1))
        count += 2 * segments
    part = Part(np.concatenate(positions), np.concatenate(normals), np.concatenate(triangles))
    used = np.unique(part.triangles)
    number = np.full(len(part.positions), -1)
    number[used] = np.arange(len(used))
    return Part(part.positions[used], part.normals[used], number[part.triangles])


def sphere(segments: int, rings: int) -> Part:
    """A smooth unit sphere of meridians and parallels: 2 segments (rings - 1) triangles, one vertex at each pole."""
    down = np.pi * np.arange(1, rings) / rings
    around = 2 * np.pi * np.arange(segments) / segments
    # (rings - 1, segments, 3), from the top
    inner = np.stack(
        [
            np.sin(down)[:, None] * np.sin(around),
            np.broadcast_to(np.cos(down)[:, None], (rings - 1, segments)),
            np.sin(down)[:, None] * np.cos(around),
        ],
        axis=-1,
    )
    points = np.concatenate([[[0.0, 1.0, 0.0]], inner.reshape(-1, 3), [[0.0, -1.0, 0.0]]])
    number = 1 + np.arange((rings - 1) * segments).reshape(rings - 1, segments)
    a, b = number, np.roll(number, -1, axis=1)
    top = np.stack([np.zeros(segments, np.int64), a[0], b[0]], axis=-1)
    bottom = np.stack([b[-1], a[-1], np.full(segments, len(points) - 1)], axis=-1)
    upper = np.stack([a[:-1], a[1:], b[1:]], axis=-1).reshape(-1, 3)
    lower = np.stack([a[:-1], b[1:], b[:-1]], axis=-1).reshape(-1, 3)
    return Part(points, points, np.concatenate([top, upper, lower, bottom]))
