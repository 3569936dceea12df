"""Quadrics: surfaces of second degree, each an exact primitive beside a mesh's triangles.

T. J. Purcell et al., "Photon Mapping on Programmable Graphics Hardware" (2003), section 2.4: a ray tracer of
ray-quadric and ray-polygon tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError
from raystream.scene.mesh import Float, Int, Mesh

Vector = NDArray[np.float64]

# Largest condition number of a quadric's transform: beyond it, float32 rays in its own space keep a single digit.
MAX_DISTORTION = 1e5
UNCLIPPED = (math.inf, math.inf, math.inf)
_UNIT_BOX = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)])
_BOUND_ITERATIONS = 4  # iterations after which every box below has converged


@declared
@dataclass(frozen=True)
class QuadricShape:
    """The points (x, y, z) of the quadric's own space with

        squares . (x^2, y^2, z^2) + linear y + constant = 0

    within a box and between two radii around the y axis. Every quadric is one of these under an affine map.

    squares   : (3,). linear : 0 unless squares[1] is 0. constant : any number.
    low, high : corners of the box (3,), infinite where it does not clip.
    ring      : least and greatest distance from the y axis.
    transform : (4, 4) float64, to the space of the mesh.
    flipped   : whether the front is the side of decreasing function values, as inside a sphere.

    Raises ViewerError for equations without a surface, and for unbounded ones.
    """

    squares: tuple[float, float, float]
    linear: float = 0.0
    constant: float = 0.0
    low: tuple[float, float, float] = (-math.inf, -math.inf, -math.inf)
    high: tuple[float, float, float] = UNCLIPPED
    ring: tuple[float, float] = (0.0, math.inf)
    transform: NDArray[np.float64] = field(default_factory=lambda: np.eye(4))
    flipped: bool = False

    def __post_init__(self) -> None:
        equation = f"coefficients ({', '.join(f'{c:g}' for c in (*self.squares, self.linear, self.constant))})"
        if not np.isfinite([*self.squares, self.linear, self.constant]).all():
            raise ViewerError("quadric", f"{equation} are not finite", "give finite numbers")
        if not any(self.squares) and self.linear == 0.0:
            raise ViewerError("quadric", f"{equation} describe no surface", "give a coefficient besides the constant")
        if self.linear and self.squares[1]:
            hint = "move it along y, so that one of the two is 0"
            raise ViewerError("quadric", f"both y^2 ({self.squares[1]:g}) and y ({self.linear:g})", hint)
        low, high = self.bounds()
        if (low > high).any():
            raise ViewerError("quadric", "no part of it is within its box and radii", "change low, high or ring")
        if not np.isfinite([low, high]).all():
            raise ViewerError("quadric", f"{equation} and the box leave it unbounded", "clip it")

    @property
    def whole_sphere(self) -> bool:
        """Whether it is the whole unit sphere of its own space."""
        a, b, c = self.squares
        unclipped = np.isinf([self.low, self.high]).all() and self.ring == (0.0, math.inf)
        return bool(unclipped) and a == b == c == -self.constant and a > 0.0 and self.linear == 0.0

    @property
    def round(self) -> bool:
        """Whether it is rotationally symmetric around y: its box does not cut it along x or z."""
        return self.squares[0] == self.squares[2] and bool(np.isinf([*self.low[::2], *self.high[::2]]).all())

    def bounds(self) -> tuple[Vector, Vector]:
        """Lowest and highest corner (3,) of its clipped part, own space; low above high if empty."""
        low, high = np.array(self.low, np.float64), np.array(self.high, np.float64)
        if not (low <= high).all() or not 0.0 <= self.ring[0] <= self.ring[1]:
            return np.ones(3), np.zeros(3)
        outer = self.ring[1]
        low, high = np.maximum(low, (-outer, -math.inf, -outer)), np.minimum(high, (outer, math.inf, outer))
        for _ in range(_BOUND_ITERATIONS):
            for axis, square in enumerate(self.squares):
                if not (low <= high).all():
                    return low, high
                least_rest, greatest_rest = self._other_terms(axis, low, high)
                if square:
                    # square x^2 = -rest, with rest in [least, most]
                    max_square = -least_rest / square if square > 0 else greatest_rest / -square
                    extent = math.sqrt(max_square) if max_square >= 0.0 else -math.inf
                    low[axis], high[axis] = max(low[axis], -extent), min(high[axis], extent)
                elif axis == 1 and self.linear:
                    limits = sorted((-least_rest / self.linear, -greatest_rest / self.linear))
                    low[1], high[1] = max(low[1], limits[0]), min(high[1], limits[1])
        return low, high

    def _other_terms(self, axis: int, low: Vector, high: Vector) -> tuple[float, float]:
        """(least, most): the range over a box of the function without the terms of one axis."""
        least = most = self.constant
        for other, square in enumerate(self.squares):
            if other == axis:
                continue
            squares_at_ends = low[other] ** 2, high[other] ** 2
            min_square = 0.0 if low[other] <= 0.0 <= high[other] else min(squares_at_ends)
            if square:
                term_range = sorted((square * min_square, square * max(squares_at_ends)))
                least, most = least + term_range[0], most + term_range[1]
            if other == 1 and self.linear:
                term_range = sorted((self.linear * low[1], self.linear * high[1]))
                least, most = least + term_range[0], most + term_range[1]
        return least, most


@declared
@dataclass
class Quadric(Mesh):
    """A quadric in place of a mesh: placed by instances, one primitive that counts as one triangle.

    Made by `sphere`, `cylinder`, `cone`, `disk` and `surface`. As a mesh it is its box: corners ``positions`` (8, 3)
    float32, and one triangle without area. Normals and texture coordinates are exact: u turns around its axis, v runs
    along it (outwards on a disk), both from 0 to 1.
    """

    positions: Float = None  # type: ignore[assignment]  # its box, filled below
    triangles: Int = None  # type: ignore[assignment]
    name: str = "quadric"
    shape: QuadricShape = field(default_factory=lambda: QuadricShape((1.0, 1.0, 1.0), constant=-1.0))

    def __post_init__(self) -> None:
        low, high = self.shape.bounds()
        linear, translation = self.shape.transform[:3, :3], self.shape.transform[:3, 3]
        if not np.isfinite(self.shape.transform).all():
            raise ViewerError(self.name, "its position, size or transformation is not finite", "give finite numbers")
        check_map(self.name, self.shape.transform)
        self.positions = ((low + _UNIT_BOX * (high - low)) @ linear.T + translation).astype(np.float32)
        self.triangles = np.zeros((1, 3), np.int32)
        self.normals, self.uvs, self.colors = np.array([(0, 1, 0)] * 8, np.float32), None, None
        super().__post_init__()

    @classmethod
    def surface(cls, shape: QuadricShape, material: int = 0, name: str = "quadric") -> Quadric:
        """Any shape, with a material's index in the scene."""
        return cls(shape=shape, materials=np.array([material], np.int32), name=name)

    @classmethod
    def sphere(
        cls,
        center: ArrayLike = (0.0, 0.0, 0.0),
        radius: float = 1.0,
        material: int = 0,
        name: str = "sphere",
        flipped: bool = False,
    ) -> Quadric:
        """A sphere, with its front outside, or if ``flipped`` inside."""
        size = _checked_length(name, "radius", radius)
        transform = _frame(_checked_point(name, "center", center), (0.0, size, 0.0), size)
        return cls.surface(QuadricShape((1, 1, 1), 0, -1, transform=transform, flipped=flipped), material, name)

    @classmethod
    def cylinder(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        radius: float = 1.0,
        material: int = 0,
        name: str = "cylinder",
        flipped: bool = False,
    ) -> Quadric:
        """An open cylinder around the line from ``start`` to ``end``; if ``flipped`` its front is the inside."""
        first, axis, size = *_checked_axis(name, start, end), _checked_length(name, "radius", radius)
        return cls.surface(_open_shape((1, 0, 1), -1, 0.0, _frame(first, axis, size), flipped), material, name)

    @classmethod
    def cone(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        radius: float = 1.0,
        end_radius: float = 0.0,
        material: int = 0,
        name: str = "cone",
        flipped: bool = False,
    ) -> Quadric:
        """An open cone from a circle around ``start`` to the tip at ``end``, or a smaller circle there."""
        first, axis, size = *_checked_axis(name, start, end), _checked_length(name, "radius", radius)
        if not 0.0 <= end_radius < size:
            raise ViewerError(
                name, f"end_radius {end_radius} of a cone of radius {size:g}", "from 0 to below the radius"
            )
        tip = first + axis * (size / (size - end_radius))
        shape = _open_shape((1, -1, 1), 0, end_radius / size, _frame(tip, first - tip, size), flipped)
        return cls.surface(shape, material, name)

    @classmethod
    def disk(
        cls,
        center: ArrayLike,
        normal: ArrayLike,
        radius: float = 1.0,
        inner: float = 0.0,
        material: int = 0,
        name: str = "disk",
    ) -> Quadric:
        """A disk, or with an ``inner`` radius an annulus, with its front towards the ``normal``."""
        size, axis = _checked_length(name, "radius", radius), _checked_point(name, "normal", normal)
        length = float(np.linalg.norm(axis))
        if not length > 0.0:
            raise ViewerError(name, "a normal of length 0", "give a direction")
        if not 0.0 <= inner < size:
            raise ViewerError(name, f"an inner radius of {inner} within {size:g}", "from 0 to below the radius")
        transform = _frame(_checked_point(name, "center", center), axis * (size / length), size)
        return cls.surface(QuadricShape((0, 0, 0), 1, 0, ring=(inner / size, 1.0), transform=transform), material, name)

    @property
    def maps(self) -> NDArray[np.float64]:
        """(1, 4, 4): the map of its shape to the mesh's space."""
        return self.shape.transform[None]

    def tessellated(self, segments: int = 64, rows: int = 0) -> Mesh:
        """Triangles on it, with its normals: ``segments`` around its axis, ``rows`` along it (by default half as many).

        Raises ViewerError for one that is not closed around its axis.
        """
        a, b, c = self.shape.squares
        low, high = self.shape.bounds()
        rows = rows or max(1, segments // 2)
        fraction = np.linspace(0.0, 1.0, rows + 1)
        angle = 2.0 * np.pi * np.arange(segments) / segments
        unclipped_sides = np.isinf([*self.shape.low[::2], *self.shape.high[::2]]).all()
        if a > 0.0 and c > 0.0 and unclipped_sides and self.shape.ring == (0.0, math.inf):
            # Heights by the cosine: uniform on spheres, and sharp at all tips.
            height = low[1] + (high[1] - low[1]) * (0.5 - 0.5 * np.cos(np.pi * fraction))
            radius2 = np.maximum(-(b * height**2 + self.shape.linear * height + self.shape.constant), 0.0)
            radii = np.sqrt(radius2)[:, None] / np.sqrt([a, c])
        elif not any(self.shape.squares) and unclipped_sides and np.isfinite(self.shape.ring).all():
            height = np.full(rows + 1, -self.shape.constant / self.shape.linear)
            radius = self.shape.ring[1] + (self.shape.ring[0] - self.shape.ring[1]) * fraction
            radii = np.repeat(radius[:, None], 2, axis=1)
        else:
            raise ViewerError(self.name, "does not close around its axis, and is not tessellated", "use it as it is")
        x, z = radii[:, :1] * np.sin(angle), radii[:, 1:] * np.cos(angle)
        points = np.stack([x, np.broadcast_to(height[:, None], x.shape), z], axis=-1).reshape(-1, 3)
        gradients = 2.0 * points * (a, b, c) + (0.0, self.shape.linear, 0.0)
        linear, translation = self.shape.transform[:3, :3], self.shape.transform[:3, 3]
        normals = gradients @ np.linalg.inv(linear)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        tip = -linear[:, 1] / np.linalg.norm(linear[:, 1])  # of a cone, which opens along its axis
        normals = np.where(length > 1e-12, normals / np.where(length > 1e-12, length, 1.0), tip)
        k = np.arange(segments)
        next_k = np.roll(k, -1)
        first = segments * np.arange(rows)[:, None]
        quads = np.stack([first + k, first + next_k, first + segments + next_k, first + segments + k], axis=-1)
        triangles = quads.reshape(-1, 4)[:, [[0, 1, 2], [0, 2, 3]]]
        is_open = np.repeat(radii.any(axis=1), segments)  # collapsed ends have one triangle instead of two
        triangles = triangles[np.stack([is_open[:-segments], is_open[segments:]], axis=1)]
        if (np.linalg.det(linear) < 0.0) != self.shape.flipped:
            triangles = triangles[:, ::-1]
        if self.shape.flipped:
            normals = -normals
        return Mesh(
            (points @ linear.T + translation).astype(np.float32),
            triangles,
            np.full(len(triangles), self.materials[0], np.int32),
            normals=normals.astype(np.float32),
            name=self.name,
        )


@dataclass(frozen=True)
class PlacedQuadrics:
    """Quadrics among primitives. indices (Q,) int64: of the primitives. transforms (Q, 4, 4) float64, from
    the space of each one's shape. kinds (Q,): which of the ``shapes`` each has."""

    indices: NDArray[np.int64]
    transforms: NDArray[np.float64]
    kinds: NDArray[np.int64]
    shapes: tuple[QuadricShape, ...]

    def __len__(self) -> int:
        return len(self.indices)

    @classmethod
    def of(cls, shape: QuadricShape, transforms: NDArray[np.float64], first: int = 0) -> PlacedQuadrics:
        """The quadrics of one shape under maps (Q, 4, 4), numbered from ``first``."""
        count = len(transforms)
        return cls(first + np.arange(count), transforms, np.zeros(count, np.int64), (shape,))

    @classmethod
    def joined(cls, parts: Sequence[PlacedQuadrics]) -> PlacedQuadrics:
        """The quadrics of all parts, one after the other."""
        if not parts:
            return cls(np.zeros(0, np.int64), np.zeros((0, 4, 4)), np.zeros(0, np.int64), ())
        if len(parts) == 1:  # as of points, without copies of a million maps
            return parts[0]
        shapes = {id(shape): shape for part in parts for shape in part.shapes}
        row = {key: index for index, key in enumerate(shapes)}
        kinds = [np.array([row[id(shape)] for shape in part.shapes], np.int64)[part.kinds] for part in parts]
        indices, transforms = [part.indices for part in parts], [part.transforms for part in parts]
        return cls(np.concatenate(indices), np.concatenate(transforms), np.concatenate(kinds), tuple(shapes.values()))

    def by_shape(self) -> Iterator[tuple[QuadricShape, NDArray[np.intp] | slice]]:
        """Each shape with the rows that have it."""
        for index, shape in enumerate(self.shapes):
            yield shape, slice(None) if len(self.shapes) == 1 else np.flatnonzero(self.kinds == index)


def bounds_of_quadric(shape: QuadricShape, transform: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 2, 3): lowest and highest corner of a shape under maps (..., 4, 4); tight for spheres, and for rotationally
    symmetric ones aligned with an axis of the map's space."""
    low, high = shape.bounds()
    half_size, linear = (high - low) / 2.0, transform[..., :3, :3]
    if linear.ndim == 3 and len(linear) > 1 and (linear == linear[:1]).all():
        linear = linear[:1]  # of points, a million of them
    with np.errstate(all="ignore"):
        extent = np.abs(linear) @ half_size
        a, _, c = shape.squares
        if a == c and a >= 0.0 and shape.round:
            radial_extent = np.hypot(linear[..., 0], linear[..., 2]) * half_size[0]
            extent = np.minimum(extent, radial_extent + np.abs(linear[..., 1]) * half_size[1])
        if shape.whole_sphere:
            extent = np.minimum(extent, np.linalg.norm(linear, axis=-1) * half_size[0])
        centre = linear @ ((low + high) / 2.0) + transform[..., :3, 3]
        return np.stack([centre - extent, centre + extent], axis=-2)


def check_map(where: str, transform: NDArray[np.float64]) -> None:
    """Raises ViewerError for a transform (..., 4, 4) that flattens a quadric so far that rays would miss it."""
    linear = transform[..., :3, :3].reshape(-1, 3, 3)
    if len(linear) > 1 and (linear == linear[:1]).all():
        linear = linear[:1]
    with np.errstate(all="ignore"):
        largest = np.abs(linear).max(axis=(1, 2))
        is_valid = np.isfinite(largest) & (largest > 0.0)
        distortion = np.linalg.cond(linear[is_valid] / largest[is_valid, None, None])
    if not (is_valid.all() and (distortion <= MAX_DISTORTION).all()):
        hint = "scale all axes about alike, or use a disk"
        raise ViewerError(where, "a quadric flattened by its transformation", hint)


def _open_shape(
    squares: tuple[float, float, float], constant: float, lowest: float, transform: NDArray[np.float64], flipped: bool
) -> QuadricShape:
    """The shape of these coefficients, from the height ``lowest`` to 1, without end caps."""
    low, high = (-math.inf, lowest, -math.inf), (math.inf, 1.0, math.inf)
    return QuadricShape(squares, 0, constant, low, high, transform=transform, flipped=flipped)


def _checked_point(name: str, what: str, values: ArrayLike) -> Vector:
    try:
        point = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        point = np.zeros(0)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ViewerError(name, f"{what} {values!r} is not a point or direction", "give three finite numbers")
    return point


def _checked_length(name: str, what: str, value: Any) -> float:
    try:
        size = float(value)
    except (TypeError, ValueError):
        size = math.nan
    if not (math.isfinite(size) and size > 0.0):
        raise ViewerError(name, f"{what} {value}", "give a finite number above 0")
    return size


def _checked_axis(name: str, start: ArrayLike, end: ArrayLike) -> tuple[Vector, Vector]:
    first, last = _checked_point(name, "start", start), _checked_point(name, "end", end)
    if not np.linalg.norm(last - first) > 0.0:
        raise ViewerError(name, "start and end are the same point", "give two")
    return first, last - first


def _frame(translation: ArrayLike, axis: ArrayLike, radius: float) -> NDArray[np.float64]:
    """(4, 4): maps the y axis to ``axis``, the two others to vectors of length ``radius`` across it, and translates."""
    y = np.asarray(axis, np.float64)
    unit = y / np.linalg.norm(y)
    z = np.eye(3)[2 if abs(unit[2]) < 0.9 else 0]
    x = np.cross(unit, z)
    x /= np.linalg.norm(x)
    matrix = np.eye(4)
    matrix[:3, 0], matrix[:3, 1], matrix[:3, 2] = x * radius, y, np.cross(x, unit) * radius
    matrix[:3, 3] = translation
    return matrix
