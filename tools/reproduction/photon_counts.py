"""The radiance estimate's calls by pixel, and what is drawn for them as one quad, in tiles and under a mask (Purcell
2004, section 6.3.3): counts, which do not depend on the machine's load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.renderer.renderer import Renderer

VISITS = ("cell", "photon")  # states: an iteration of the published kernel is a call of either


class Drawn(NamedTuple):
    """Of an estimate of one iteration a pass. passes : until the last pixel is done; draws : of tiles; fragments : of
    these, the pixels beyond the picture's edge left out."""

    passes: int
    draws: int
    fragments: int


def calls(renderer: Renderer, size: tuple[int, int]) -> dict[str, NDArray[np.int64]]:
    """(H, W) calls of each of `VISITS` in a picture of one sample, of all surfaces that a pixel's rays come to."""
    found = renderer.render(size, spp=1, stats=True).stats.calls
    return {state: found[state].astype(np.int64) for state in VISITS}


def in_tiles(visits: NDArray[np.int64], edge: int) -> Drawn:
    """Tiles of ``edge`` x ``edge`` pixels, each drawn until its last pixel of (H, W) visits is done."""
    height, width = visits.shape
    rows, columns = -(-height // edge), -(-width // edge)
    padded = np.zeros((rows * edge, columns * edge), np.int64)
    padded[:height, :width] = visits
    longest = padded.reshape(rows, edge, columns, edge).max(axis=(1, 3))
    inside = np.minimum(edge, height - edge * np.arange(rows))[:, None] * np.minimum(
        edge, width - edge * np.arange(columns)
    )
    return Drawn(int(visits.max()), int(longest.sum()), int((longest * inside).sum()))


def gains(visits: NDArray[np.int64], edges: Sequence[int]) -> dict[str, Any]:
    """Of one quad over tiles of each edge, in fragments, and over a mask of single pixels; with what is drawn."""
    height, width = visits.shape
    quad = int(visits.max()) * height * width
    tiles = {str(edge): in_tiles(visits, edge) for edge in edges}
    return {
        "tiles": {edge: list(each) for edge, each in tiles.items()},
        "gains": {edge: quad / max(each.fragments, 1) for edge, each in tiles.items()},
        "quad": quad,
        "pixels": height * width,
        "longest": int(visits.max()),
        "mean": float(visits.mean()),
    }
