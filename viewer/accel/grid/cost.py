"""The resolution of a uniform grid: a ray's expected cost, and limits of textures."""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError

# Addresses of lists and triangles are floats, exact up to 2^24 (the dissertation's memory model). A voxel is addressed
# by three integers, as a texel of a 3-D texture, so there may be more: half a gibibyte, the largest buffer texture of
# most drivers. The default resolution keeps to `MAX_ADDRESS`, 64 MiB.
MAX_ADDRESS = 1 << 24
MAX_VOXELS = 1 << 27
# GL_MAX_3D_TEXTURE_SIZE of all OpenGL 3.x hardware (the standard guarantees 256).
MAX_AXIS_VOXELS = 2048
# Relative cost of a traversal step and of a ray-triangle test, by the words fetched and the arithmetic between: a step
# reads one pointer, a test a list entry and three corners.
STEP_COST = 1.0
TEST_COST = 2.0
# Share of LIMIT for the expected lists: the expectation assumes triangles placed randomly in a voxel, and models
# aligned with the voxels exceed it by up to a few per cent.
HEADROOM = 0.9
# The coarsest resolution within this share of the least expected cost is taken: the curve is flat there, rays that stop
# at their first hit prefer coarser grids, and memory falls with the cube.
COST_TOLERANCE = 0.02

Resolution = tuple[int, int, int]


@dataclass(frozen=True)
class Survey:
    """The data behind the choice of resolution. World units.

    count   : triangles to list.
    extents : (3,) sums of the triangles' extents along x, y, z.
    areas   : (3,) sums of the areas of their projections along x, y, z.
    box     : (3,) edge lengths of the grid's box.
    finest  : (3,) int64, voxels along each axis beyond which they approach traversal's rounding.
    volume  : sum of volumes: 0 for triangles, not for boxes.
    test    : cost of a test, relative to a step.
    """

    count: int
    extents: NDArray[np.float64]
    areas: NDArray[np.float64]
    box: NDArray[np.float64]
    finest: NDArray[np.int64]
    volume: float = 0.0
    test: float = TEST_COST

    def references(self, resolutions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expected entries of triangles in voxels, for resolutions (K, 3).

        A triangle, placed at random on the grid, overlaps V(triangle + voxel) / V(voxel) voxels, where + is the
        Minkowski sum. Its volume is exact for a flat body and a box a b c: a b c, plus the body's extent along each
        axis times the two other edges, plus the area of its projection along each axis times that axis's edge. A box
        adds its own volume.
        """
        voxel = self.box / resolutions
        volume = voxel.prod(axis=1)
        flat = self.count + (self.extents / voxel).sum(axis=1) + (self.areas * voxel).sum(axis=1) / volume
        return flat + self.volume / volume

    def crossing(self, resolutions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probability that a line through the box crosses a given voxel: the ratio of their surfaces (Crofton)."""
        return _surface(self.box / resolutions) / _surface(self.box)

    def cost(self, resolutions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expected cost of a random line through the box, for resolutions (K, 3)."""
        steps = resolutions.prod(axis=1) * STEP_COST
        return self.crossing(resolutions) * (steps + self.references(resolutions) * self.test)

    def entries(self, resolutions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Expected length of the lists, terminators included; an upper estimate."""
        references = self.references(resolutions)
        return references + np.minimum(references, resolutions.prod(axis=1))


def _surface(box: NDArray[np.float64]) -> NDArray[np.float64]:
    """The surface areas (...) of boxes with edges (..., 3)."""
    x, y, z = box[..., 0], box[..., 1], box[..., 2]
    return 2.0 * (x * y + y * z + z * x)


def cheapest(survey: Survey) -> list[Resolution]:
    """Resolutions to try: the coarsest within `COST_TOLERANCE` of the least expected cost, then coarser ones."""
    candidates = _near_cubical(survey, survey.box.max() / np.geomspace(1, MAX_AXIS_VOXELS, 256))
    candidates = np.unique(np.minimum(candidates, survey.finest), axis=0)
    candidates = candidates[np.argsort(candidates.prod(axis=1), kind="stable")]
    fits = (candidates.prod(axis=1) <= MAX_ADDRESS) & (survey.entries(candidates) <= HEADROOM * MAX_ADDRESS)
    fits[0] = True  # one voxel: the list is all triangles
    candidates = candidates[fits]
    cost = survey.cost(candidates)
    coarsest = int(np.argmax(cost <= (1.0 + COST_TOLERANCE) * cost.min()))
    return [_triple(row) for row in candidates[coarsest::-1]]


def by_minimal_dimension(survey: Survey, count: int) -> Resolution:
    """`count` voxels along the box's minimal dimension, and near-cubical ones (dissertation, 5.2.1).

    An axis in which the box is flatter than 1 / LARGEST_AXIS of its largest has one voxel and is not the minimal
    dimension: near-cubical voxels in it would exceed every texture.
    """
    thick = (survey.finest > 1) & (survey.box > survey.box.max() / MAX_AXIS_VOXELS)
    if not thick.any():
        return 1, 1, 1
    counts = _near_cubical(survey, np.array([survey.box[thick].min() / count]))[0]
    return _triple(np.where(thick, counts, 1))


def scaled(resolution: Resolution, largest: int) -> Resolution:
    """A coarser resolution of the same shape, `largest` voxels along its longest axis."""
    nx, ny, nz = (max(1, count * largest // max(resolution)) for count in resolution)
    return nx, ny, nz


def _near_cubical(survey: Survey, edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """Resolutions (K, 3) for voxels of about these edge lengths (K,), possibly beyond the limits."""
    return np.clip(np.rint(survey.box / edges[:, None]), 1, MAX_VOXELS).astype(np.int64)


def _triple(row: NDArray[np.int64]) -> Resolution:
    return int(row[0]), int(row[1]), int(row[2])


def within_limits(resolution: Resolution) -> bool:
    """Whether a grid's texture may have this resolution."""
    nx, ny, nz = resolution
    return max(resolution) <= MAX_AXIS_VOXELS and nx * ny * nz <= MAX_VOXELS


def parse(resolution: object) -> str | int | Resolution:
    """A requested resolution: "auto", a positive int, or three of them.

    Raises ViewerError for anything else.
    """
    if resolution == "auto":
        return "auto"
    try:
        if isinstance(resolution, (tuple, list, np.ndarray)) and len(resolution) == 3:
            nx, ny, nz = (operator.index(count) for count in resolution)
            if min(nx, ny, nz) > 0:
                return nx, ny, nz
        else:
            count = operator.index(resolution)  # type: ignore[arg-type]
            if count > 0 and not isinstance(resolution, bool):
                return count
    except TypeError:
        pass
    raise ViewerError("grid", f"resolution {resolution!r}", "give a positive number, three of them, or 'auto'")
