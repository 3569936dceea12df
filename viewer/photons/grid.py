"""The uniform grid of the photon map: cells over a box, numbered x first.

Purcell et al. 2003, section 2.2; cells need not be cubes (the scenes of table 6.1 have 250 x 1 x 250 and 25 x 25 x 50).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError

MOST_CELLS = 1 << 24  # cell numbers are integers in floats


@dataclass(frozen=True)
class PhotonGrid:
    """low : corner of the lowest cell, world. cell : edges of a cell, scene units. resolution : cells; each (3,).
    buckets : of a hash of unbounded cells; 0: cells of a box. kinds : 2 if caustic photons have separate cells,
    numbered after the others'.
    """

    low: tuple[float, float, float]
    cell: tuple[float, float, float]
    resolution: tuple[int, int, int]
    buckets: int = 0
    kinds: int = 1

    @classmethod
    def hashed(cls, low: ArrayLike, edge: float, buckets: int, kinds: int = 1) -> PhotonGrid:
        """Unbounded cubes of an edge, counted from a corner (3,); their numbers are hashes below ``buckets``, a power
        of two (Purcell 2004, section 6.4.4)."""
        assert 0 < buckets <= MOST_CELLS // 4 and buckets & (buckets - 1) == 0
        return cls(_three(low), _three((edge, edge, edge)), (1, 1, 1), buckets, kinds)

    @classmethod
    def over(cls, low: ArrayLike, high: ArrayLike, resolution: ArrayLike, kinds: int = 1) -> PhotonGrid:
        """Cells over a box (3,), (3,). Raises ViewerError for a resolution below 1 or of more than 2^24 cells."""
        low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        cells = np.asarray(resolution, np.int64)
        if cells.shape != (3,) or (cells < 1).any() or kinds * np.prod(cells.astype(float)) >= MOST_CELLS:
            text = " x ".join(map(str, np.ravel(resolution)))
            hint = f"one to {MOST_CELLS // kinds - 1:,} cells in all"
            raise ViewerError("photon grid", f"{text} cells", hint)
        size = np.maximum(high - low, 1e-6 * max(float(np.abs([low, high]).max()), 1e-30))
        edges = size / cells
        return cls(_three(low), _three(edges), (int(cells[0]), int(cells[1]), int(cells[2])), kinds=kinds)

    @property
    def cells(self) -> int:
        """Number of cell numbers."""
        return self.kinds * (self.buckets or int(np.prod(self.resolution)))

    @property
    def uniforms(self) -> dict[str, Any]:
        """Of ``shaders/interface/photon_grid.glsl``."""
        return {
            "photon_grid_low": self.low,
            "photon_grid_cell": self.cell,
            "photon_grid_resolution": self.resolution,
            "photon_grid_buckets": self.buckets,
            "photon_grid_kinds": self.kinds,
        }

    def cells_of(self, positions: NDArray) -> NDArray[np.int64]:
        """The cell (N, 3) of each position (N, 3), clamped to the box unless hashed; in float32, as on the device."""
        low, edge = np.array(self.low, np.float32), np.array(self.cell, np.float32)
        at = np.floor((np.asarray(positions, np.float32) - low) / edge)
        return (at if self.buckets else np.clip(at, 0, np.array(self.resolution) - 1)).astype(np.int64)

    def numbers(self, positions: NDArray) -> NDArray[np.int64]:
        """The cell number of each position (N, 3), of a box."""
        x, y, z = self.cells_of(positions).T
        return (z * self.resolution[1] + y) * self.resolution[0] + x


def _three(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(np.float32(value)) for value in values)
    return x, y, z
