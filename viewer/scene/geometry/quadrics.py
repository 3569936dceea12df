"""Many quadrics as one mesh: points as spheres, lines as cylinders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError
from raystream.scene.mesh import Float, Int, Mesh
from raystream.scene.quadric import Quadric, QuadricShape

_SPHERE = QuadricShape((1.0, 1.0, 1.0), constant=-1.0)
_CYLINDER = QuadricShape(
    (1.0, 0.0, 1.0), constant=-1.0, low=(-np.inf, 0.0, -np.inf), high=(np.inf, 1.0, np.inf)
)  # along y, from 0 to 1
NEIGHBOUR_COUNT = 6  # of a point, whose mean distance is the diameter of points
SAMPLED_POINTS = 2048  # points whose neighbours are looked for
_MAX_IN_CELL = 64  # points of a cell that are looked at
_CELL_OFFSETS = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
_MAX_TESSELLATED = 1 << 15  # quadrics that are tessellated at most: others are left out at even steps
LINE_FRACTION = 0.5  # radius of a line, in radii of points


@declared
@dataclass
class Quadrics(Mesh):
    """Quadrics of one shape, made by `spheres` and `cylinders`: each a primitive that counts as one triangle.

    As a mesh, ``positions`` (V, 3) are their centres or ends, and ``triangles`` (N, 3) name the first end, the first
    and the second: ``colors`` run from one to the other. radius : of all, scene units.
    """

    normals: Float | None = None
    shape: QuadricShape = field(default_factory=lambda: _SPHERE)
    radius: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.radius) and self.radius > 0.0):
            raise ViewerError(self.name, f"radius {self.radius} of points or lines", "give a finite number above 0")
        if self.normals is None:
            self.normals = np.tile(np.array((0.0, 1.0, 0.0), np.float32), (len(self.positions), 1))
        super().__post_init__()

    @classmethod
    def spheres(cls, centers: Float, radius: float, colors: Float | None = None, name: str = "points") -> Quadrics:
        """A sphere around each of the finite centres (V, 3). colors : (V, 4) linear."""
        finite = np.flatnonzero(np.isfinite(centers).all(axis=1))
        return cls(centers, np.stack([finite, finite, finite], axis=1), colors=colors, name=name, radius=radius)

    @classmethod
    def cylinders(
        cls, ends: Float, lines: NDArray[np.integer], radius: float, colors: Float | None = None, name: str = "lines"
    ) -> Quadrics:
        """An open cylinder along each of the lines (N, 2), numbers of ``ends`` (V, 3); lines without length, or with an
        end that is not finite, are left out."""
        first, second = np.asarray(ends, np.float64)[lines[:, 0]], np.asarray(ends, np.float64)[lines[:, 1]]
        with np.errstate(invalid="ignore"):
            length = np.linalg.norm(second - first, axis=1)
        lines = lines[np.isfinite(length) & (length > 0.0)]
        return cls(ends, lines[:, [0, 0, 1]].astype(np.int32), colors=colors, name=name, shape=_CYLINDER, radius=radius)

    @property
    def is_cylinders(self) -> bool:
        """Whether they are cylinders rather than spheres."""
        return not self.shape.whole_sphere

    @property
    def maps(self) -> NDArray[np.float64]:
        """(N, 4, 4): the transforms of the shape to the mesh's space."""
        return self._maps(self.triangles)

    def _maps(self, triangles: Int) -> NDArray[np.float64]:
        maps = np.zeros((len(triangles), 4, 4))
        start = self.positions[triangles[:, 0]].astype(np.float64)
        maps[:, :3, 3], maps[:, 3, 3] = start, 1.0
        if not self.is_cylinders:
            for k in range(3):
                maps[:, k, k] = self.radius
            return maps
        axis = self.positions[triangles[:, 2]].astype(np.float64) - start
        unit = axis / np.linalg.norm(axis, axis=1, keepdims=True)
        z = np.where(np.abs(unit[:, 2:]) < 0.9, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
        x = np.cross(unit, z)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        maps[:, :3, 0], maps[:, :3, 1], maps[:, :3, 2] = x * self.radius, axis, np.cross(x, unit) * self.radius
        return maps

    def tessellated(self, segments: int = 6) -> Mesh:
        """Triangles in place of the quadrics, with their normals, ``segments`` around each axis; of very many some."""
        step = max(1, -(-len(self.triangles) // _MAX_TESSELLATED))
        ends = self.triangles[::step]
        maps = self._maps(ends)
        unit = Quadric.surface(self.shape).tessellated(segments, 1 if self.is_cylinders else max(2, segments // 2))
        assert unit.normals is not None
        points = np.einsum("nij,vj->nvi", maps[:, :3, :3], unit.positions.astype(np.float64)) + maps[:, None, :3, 3]
        normals = np.einsum("nij,vj->nvi", np.linalg.inv(maps[:, :3, :3]).transpose(0, 2, 1), unit.normals)
        normals /= np.linalg.norm(normals, axis=2, keepdims=True)
        count = len(unit.positions)
        faces = unit.triangles + count * np.arange(len(maps))[:, None, None]
        colors = None
        if self.colors is not None:
            at_second_end = (unit.positions[:, 1] > 0.5) & self.is_cylinders
            colors = self.colors[np.where(at_second_end, ends[:, 2:], ends[:, :1])].reshape(-1, 4)
        return Mesh(
            points.reshape(-1, 3),
            faces.reshape(-1, 3),
            np.repeat(self.materials[::step], len(unit.triangles)),
            normals=normals.reshape(-1, 3),
            colors=colors,
            name=self.name,
        )

    def transformed(self, transform: NDArray[np.float64], material: int | None, name: str) -> Quadrics | None:
        """The mesh under a transform (4, 4) that scales evenly; None under another one."""
        linear = transform[:3, :3]
        gram = linear.T @ linear
        scale_squared = float(np.trace(gram)) / 3.0
        if not np.abs(gram - scale_squared * np.eye(3)).max() <= 1e-9 * scale_squared:
            return None
        positions = (self.positions.astype(np.float64) @ linear.T + transform[:3, 3]).astype(np.float32)
        materials = self.materials if material is None else np.full_like(self.materials, material)
        radius = self.radius * float(np.sqrt(scale_squared))
        return replace(self, positions=positions, materials=materials, radius=radius, name=name)


def without_quadrics(meshes: Sequence[Mesh], segments: int) -> list[Mesh]:
    """The meshes with triangles in place of quadrics: `Quadric.tessellated` and `Quadrics.tessellated`."""
    triangulated = [mesh.tessellated(segments) if isinstance(mesh, Quadric) else mesh for mesh in meshes]
    return [mesh.tessellated() if isinstance(mesh, Quadrics) else mesh for mesh in triangulated]


def with_point_size(meshes: Sequence[Mesh], size: float) -> list[Mesh]:
    """The meshes with points of this diameter, and lines of their share of it."""
    radius = size / 2.0
    return [
        replace(mesh, positions=mesh.positions.copy(), radius=radius * (LINE_FRACTION if mesh.is_cylinders else 1.0))
        if isinstance(mesh, Quadrics)
        else mesh
        for mesh in meshes
    ]


def line_radius(points: Float) -> float:
    """A fivehundredth of the largest edge of the box of points (V, 3), or of 1 where they lie in one place."""
    points = points[np.isfinite(points).all(axis=1)].astype(np.float64)
    edge = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    return (edge or 1.0) / 500.0


def point_radius(points: Float) -> float:
    """Half the mean distance of points (V, 3) to their `NEIGHBOUR_COUNT` nearest ones at other places; half a unit
    where all lie in one.

    The mean is over `SAMPLED_POINTS` points, with neighbours from a grid of about one point a cell.
    """
    finite = points[np.isfinite(points).all(axis=1)].astype(np.float64)
    edge = float(np.ptp(finite, axis=0).max()) if len(finite) else 0.0
    if not edge > 0.0:
        return 0.5
    cell = edge / max(2.0, np.sqrt(len(finite)))  # of a surface, of which most points are
    while cell < 2.0 * edge:
        distances, fraction = _neighbour_distances(finite, cell)
        if fraction >= 0.5:
            return float(distances.mean()) / 2.0
        cell *= 2.0
    distances, _ = _neighbour_distances(finite, cell)
    return float(distances.mean()) / 2.0 if len(distances) else edge / 2.0


def _neighbour_distances(points: NDArray[np.float64], cell: float) -> tuple[NDArray[np.float64], float]:
    """(distances, fraction): of a sample of the points (N, 3) to each of their `NEIGHBOUR_COUNT` nearest neighbours
    that lie in the 27 cells around them, and the fraction of the sample that has so many there."""
    cells = np.floor((points - points.min(axis=0)) / cell).astype(np.int64) + 1
    grid_size = cells.max(axis=0) + 2
    strides = np.array([grid_size[1] * grid_size[2], grid_size[2], 1])
    keys = cells @ strides
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    samples = np.arange(0, len(points), max(1, len(points) // SAMPLED_POINTS))
    neighbour_keys = ((cells[samples, None] + _CELL_OFFSETS) @ strides).ravel()
    first, last = np.searchsorted(keys, neighbour_keys), np.searchsorted(keys, neighbour_keys, side="right")
    counts = np.minimum(last - first, _MAX_IN_CELL)
    sample = np.repeat(np.repeat(np.arange(len(samples)), len(_CELL_OFFSETS)), counts)
    rank = np.arange(len(sample)) - np.repeat(np.cumsum(counts) - counts, counts)
    distance = np.linalg.norm(points[order[np.repeat(first, counts) + rank]] - points[samples[sample]], axis=1)
    sample, distance = sample[distance > 0.0], distance[distance > 0.0]
    by_distance = np.lexsort((distance, sample))
    sample, distance = sample[by_distance], distance[by_distance]
    starts = np.searchsorted(sample, np.arange(len(samples)))
    is_near = np.arange(len(sample)) - starts[sample] < NEIGHBOUR_COUNT
    has_enough = np.bincount(sample, minlength=len(samples)) >= min(NEIGHBOUR_COUNT, len(points) - 1)
    return distance[is_near], float(has_enough.mean())
