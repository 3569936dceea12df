"""The occupied cells of a photon map's grid, as wires coloured by their counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.photons.grid import PhotonGrid
from viewer.viewport.studies import false_color
from viewer.viewport.studies.false_color import FalseColorPicture
from viewer.viewport.studies.wires import box_edges

OPACITY = 0.55  # of a cell's edges


def occupied(positions: NDArray, grid: PhotonGrid) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells (N, 3) with photons at these positions (P, 3), and the count (N,) of each, fullest first.

    For a hashed grid these are cells of space, not the buckets that several may share.
    """
    cells = grid.cells_of(positions)
    found, counts = np.unique(cells, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return found[order], counts[order]


def cell_wires(cells: NDArray, counts: NDArray, grid: PhotonGrid) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Edges (12 N, 2, 3) of cells (N, 3) in world space, and the colour (12 N, 4), premultiplied, of their counts."""
    low = np.asarray(grid.low) + cells * np.asarray(grid.cell)
    lines = box_edges(low, low + np.asarray(grid.cell)).reshape(-1, 2, 3)
    rgb = count_colors(counts).picture.reshape(-1, 3).astype(np.float32) / 255
    ink = np.concatenate([rgb * OPACITY, np.full((len(rgb), 1), OPACITY, np.float32)], axis=1)
    return lines, np.repeat(ink, 12, axis=0)


def count_colors(counts: NDArray) -> FalseColorPicture:
    """Colours (1, N, 3) and legend of photons in cells (N,)."""
    return false_color.count("photons in a cell", counts[None], np.ones((1, len(counts)), bool), "photons")
