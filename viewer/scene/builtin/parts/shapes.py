"""Building blocks of built-in scenes: positions, normals and triangles in float64."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    indices = np.full(len(part.positions), -1)
    indices[used] = np.arange(len(used))
    return Part(part.positions[used], part.normals[used], indices[part.triangles])


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
    indices = 1 + np.arange((rings - 1) * segments).reshape(rings - 1, segments)
    a, b = indices, np.roll(indices, -1, axis=1)
    top = np.stack([np.zeros(segments, np.int64), a[0], b[0]], axis=-1)
    bottom = np.stack([b[-1], a[-1], np.full(segments, len(points) - 1)], axis=-1)
    upper = np.stack([a[:-1], a[1:], b[1:]], axis=-1).reshape(-1, 3)
    lower = np.stack([a[:-1], b[1:], b[:-1]], axis=-1).reshape(-1, 3)
    return Part(points, points, np.concatenate([top, upper, lower, bottom]))


# -- further building blocks of built-in scenes: smooth surfaces, extruded outlines, cushions --------------------------


class Piece(NamedTuple):
    """A part with its colour, linear RGB, one or one per vertex, and the number of its material."""

    part: Part
    color: ArrayLike
    material: int


def box(low: ArrayLike, high: ArrayLike, without: str = "") -> Part:
    """A box along the axes without some of its sides, each named by its axis and end as in "-y +z"."""
    (ax, ay, az), (bx, by, bz) = np.asarray(low, np.float64), np.asarray(high, np.float64)
    sides = {
        "-x": [(ax, ay, az), (ax, ay, bz), (ax, by, bz), (ax, by, az)],
        "+x": [(bx, ay, az), (bx, by, az), (bx, by, bz), (bx, ay, bz)],
        "-y": [(ax, ay, az), (bx, ay, az), (bx, ay, bz), (ax, ay, bz)],
        "+y": [(ax, by, az), (ax, by, bz), (bx, by, bz), (bx, by, az)],
        "-z": [(ax, ay, az), (ax, by, az), (bx, by, az), (bx, ay, az)],
        "+z": [(ax, ay, bz), (bx, ay, bz), (bx, by, bz), (ax, by, bz)],
    }
    return quads([side for name, side in sides.items() if name not in without.split()])


def joined(parts: Iterable[Part]) -> Part:
    """Several parts as one."""
    listed = list(parts)
    starts = np.cumsum([0, *(len(part.positions) for part in listed[:-1])])
    return Part(
        np.concatenate([part.positions for part in listed]),
        np.concatenate([part.normals for part in listed]),
        np.concatenate([part.triangles + start for part, start in zip(listed, starts, strict=True)]),
    )


def transformed(part: Part, matrix: ArrayLike) -> Part:
    """The part under an affine map (4, 4), of any scales; a mirroring one reverses the triangles."""
    matrix = np.asarray(matrix, np.float64)
    linear = matrix[:3, :3]
    mirrors = np.linalg.det(linear) < 0
    normals = unit(part.normals @ np.linalg.inv(linear))
    triangles = part.triangles[:, [0, 2, 1]] if mirrors else part.triangles
    return Part(part.positions @ linear.T + matrix[:3, 3], normals, triangles)


def mirrored(part: Part) -> Part:
    """The part with x turned to -x."""
    return Part(part.positions * [-1.0, 1.0, 1.0], part.normals * [-1.0, 1.0, 1.0], part.triangles[:, [0, 2, 1]])


def placed(
    pieces: Iterable[Piece], at: ArrayLike = (0.0, 0.0, 0.0), angle: float = 0.0, mirror: bool = False
) -> list[Piece]:
    """The pieces mirrored in x, turned about +Y by degrees, then moved."""
    return [
        Piece((mirrored(part) if mirror else part).turned(angle).moved(at), color, material)
        for part, color, material in pieces
    ]


def surface(points: ArrayLike, closed: tuple[bool, bool] = (False, False)) -> Part:
    """A smooth surface through a net of points (N, M, 3); from outside its columns follow its rows counter-clockwise,
    so that d/dn x d/dm points outwards.

    closed : whether rows and columns wrap around. Triangles without area, as at poles, are dropped; coincident points
    are merged.
    """
    net = np.asarray(points, np.float64)
    rows, columns = net.shape[:2]
    flat = net.reshape(-1, 3)
    _, first, indices = np.unique(np.round(flat, 9) + 0.0, axis=0, return_index=True, return_inverse=True)
    indices = first[indices.reshape(-1)].reshape(rows, columns)
    i, j = np.arange(rows - (not closed[0])), np.arange(columns - (not closed[1]))
    a = indices[np.ix_(i, j)]
    b = indices[np.ix_((i + 1) % rows, j)]
    c = indices[np.ix_((i + 1) % rows, (j + 1) % columns)]
    d = indices[np.ix_(i, (j + 1) % columns)]
    faces = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=2).reshape(-1, 3)
    return smooth(flat, faces)


def smooth(positions: ArrayLike, triangles: NDArray[np.int64]) -> Part:
    """Triangles over shared points with normals, averaged by the faces' areas; triangles without area and unused points
    are dropped."""
    points = np.asarray(positions, np.float64)
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normals, axis=1)
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    proper = size > 1e-9 * np.maximum(longest**2, 1e-30)
    triangles, normals = triangles[proper], normals[proper]
    sums = np.zeros_like(points)
    for corner in range(3):
        np.add.at(sums, triangles[:, corner], normals)
    used = np.unique(triangles)
    indices = np.full(len(points), -1, np.int64)
    indices[used] = np.arange(len(used))
    return Part(points[used], unit(sums[used]), indices[triangles])


def lathe(profile: ArrayLike, segments: int) -> Part:
    """A profile (K, 2) of (radius, height) turned about +Y, smooth; upwards on the outside. Radius 0 closes it."""
    outline = np.asarray(profile, np.float64)
    angle = 2 * np.pi * np.arange(segments) / segments
    around = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=-1)
    net = around[:, None] * outline[None, :, :1] + outline[None, :, 1:] * np.array([0.0, 1.0, 0.0])
    return surface(net, closed=(True, False))


def cushion(size: ArrayLike, segments: int = 12, rings: int = 6, power: float = 0.35) -> Part:
    """A superellipsoid (Barr 1981) around the origin, of edges (3,): a box with soft edges where the power is low."""
    half = np.asarray(size, np.float64) / 2
    u = 2 * np.pi * np.arange(segments) / segments
    v = np.pi * (np.arange(rings + 1) / rings - 0.5)

    def signed(values: Array) -> Array:
        return np.asarray(np.sign(values) * np.abs(values) ** power)

    sine, cosine, level = signed(np.sin(u)), signed(np.cos(u)), signed(np.cos(v))
    level[[0, -1]] = 0.0
    net = np.empty((segments, rings + 1, 3))
    net[..., 0] = sine[:, None] * level
    net[..., 1] = signed(np.sin(v))
    net[..., 2] = cosine[:, None] * level
    return surface(net * half, closed=(True, False))


def extruded(outline: ArrayLike, depth: float) -> Part:
    """A convex outline (K, 2) in x and y, counter-clockwise seen from +Z, between z = 0 and -depth; flat sides."""
    points = np.asarray(outline, np.float64)
    count = len(points)
    front = np.column_stack([points, np.zeros(count)])
    back = front - [0.0, 0.0, depth]
    fan = np.stack([np.zeros(count - 2, np.int64), np.arange(1, count - 1), np.arange(2, count)], -1)
    toward, away = np.tile([0.0, 0.0, 1.0], (count, 1)), np.tile([0.0, 0.0, -1.0], (count, 1))
    ahead, behind = np.roll(front, -1, axis=0), np.roll(back, -1, axis=0)
    sides = quads(np.stack([front, back, behind, ahead], axis=1))
    return joined([Part(front, toward, fan), Part(back, away, fan[:, [0, 2, 1]]), sides])


def sweep(path: ArrayLike, section: ArrayLike, scale: ArrayLike = 1.0, up: ArrayLike = (0.0, 1.0, 0.0)) -> Part:
    """A section (M, 2), counter-clockwise, swept along a path (K, 3), smooth and open at both ends.

    The section's first axis is perpendicular to the path and ``up``, its second one nearest to ``up``. scale : one
    number, or one or two per point.
    """
    points, outline = np.asarray(path, np.float64), np.asarray(section, np.float64)
    tangent = unit(np.gradient(points, axis=0))
    sideways = unit(np.cross(tangent, np.asarray(up, np.float64)))
    upward = np.cross(sideways, tangent)
    sizes = np.asarray(scale, np.float64)
    sizes = np.broadcast_to(sizes[:, None] if sizes.ndim == 1 else sizes, (len(points), 2))
    net = (
        points[:, None]
        + (outline[None, :, :1] * sizes[:, None, :1]) * sideways[:, None]
        + (outline[None, :, 1:] * sizes[:, None, 1:]) * upward[:, None]
    )
    return surface(net, closed=(False, True))


def ring(count: int, power: float = 1.0) -> Array:
    """(count, 2): a superellipse of half axes 1, counter-clockwise; a circle by default."""
    angle = 2 * np.pi * np.arange(count) / count
    points = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return np.asarray(np.sign(points) * np.abs(points) ** power)


def curve(knots: ArrayLike, count: int) -> Array:
    """(count, D) points of the Catmull-Rom curve through knots (K, D), uniform in its parameter."""
    points = np.asarray(knots, np.float64)
    ends = np.concatenate([[2 * points[0] - points[1]], points, [2 * points[-1] - points[-2]]])
    at = np.linspace(0.0, len(points) - 1.0, count)
    first = np.minimum(at.astype(np.int64), len(points) - 2)
    t = (at - first)[:, None]
    a, b, c, d = (ends[first + k] for k in range(4))
    return np.asarray(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3))


def boards(count: int, edges: tuple[float, float], rows: int, rng: np.random.Generator) -> tuple[Part, Array]:
    """``count`` boards in rows along X over a rectangle around the origin, facing up: 2 count triangles; and a
    brightness per vertex, about 1."""
    counts = np.full(rows, count // rows)
    counts[: count % rows] += 1
    corners = []
    z = np.linspace(-edges[1] / 2, edges[1] / 2, rows + 1)
    for row, per_row in enumerate(counts):
        inner = (np.arange(1, per_row) + rng.uniform(-0.3, 0.3, per_row - 1)) / per_row
        x = (np.concatenate([[0.0], inner, [1.0]]) - 0.5) * edges[0]
        near, far = np.full(per_row, z[row + 1]), np.full(per_row, z[row])
        flat = np.zeros(per_row)
        left, right = x[:-1], x[1:]
        line = [(left, flat, far), (left, flat, near), (right, flat, near), (right, flat, far)]
        corners.append(np.stack([np.stack(corner, axis=-1) for corner in line], axis=1))
    return quads(np.concatenate(corners)), np.repeat(rng.uniform(0.75, 1.2, count), 4)[:, None]


def cap(tube: Part, sides: int, first: bool) -> Part:
    """The end of a sweep as a fan, flat."""
    points = tube.positions[:sides] if first else tube.positions[-sides:]
    points = points[::-1] if first else points
    middle = points.mean(axis=0)
    normal = np.cross(points[0] - middle, points[1] - middle)
    normal /= np.linalg.norm(normal)
    k = np.arange(sides)
    fan = np.stack([np.full(sides, sides), k, (k + 1) % sides], axis=-1)
    return Part(np.concatenate([points, middle[None]]), np.tile(normal, (sides + 1, 1)), fan)
