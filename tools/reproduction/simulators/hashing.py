"""Stencil routing into a table of cells: what is kept, and what becomes of power, where each cell has its own place and
where a hash lets several cells share one.

Sources: T. J. Purcell, "Ray Tracing on a Stream Processor" (2004), sections 6.2.2 and 6.4.4; the hash is the device's
(M. Jarzynski and M. Olano, "Hash Functions for GPU Rendering", 2020, pcg4d).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Routed:
    """Photons routed into a table.

    cells, places : that hold photons. shared : share of those cells that share their place with another. lost : share
    of the photons that are not kept. empty : share of the cells none of whose photons is kept. total : power after
    the redistribution over the power before. apart : by how much the power of a cell is off, as a share of all power,
    where photons are scaled by what came to their place; own : where by what came of their own cell.
    """

    cells: int
    places: int
    shared: float
    lost: float
    empty: float
    total: float
    apart: float
    own: float


def buckets(cells: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """(N,) place of each cell (N, 3) in a hash table of ``number`` places, a power of two; as ``photon_grid.glsl``."""
    x, y, z = (cells[:, k].astype(np.uint32) for k in range(3))
    x, y, z, w = (each * np.uint32(1664525) + np.uint32(1013904223) for each in (x, y, z, np.zeros_like(x)))
    x = x + y * w
    y = y + z * x
    z = z + x * y
    w = w + y * z
    x, y, w = (each ^ (each >> np.uint32(16)) for each in (x, y, w))
    return ((x + y * w) >> np.uint32(8)).astype(np.int64) & (number - 1)


def route(cells: NDArray[np.int64], places: NDArray[np.int64], power: NDArray[np.float64], room: int) -> Routed:
    """Photons (N,) of cells, numbered, and places in a table; a place keeps the newest ``room`` photons."""
    order = np.argsort(places, kind="stable")
    _, first, came = np.unique(places[order], return_index=True, return_counts=True)
    behind = np.repeat(first + came, came) - np.arange(len(places))  # 1 for the newest of a place
    kept = np.zeros(len(places), bool)
    kept[order] = behind <= room
    named, cell = np.unique(cells, return_inverse=True)
    _, place = np.unique(places, return_inverse=True)
    before = np.bincount(cell, power, len(named))
    after = []
    for group in (place, cell):
        scale = np.bincount(group) / np.maximum(np.bincount(group, kept), 1)
        after.append(np.bincount(cell[kept], power[kept] * scale[group[kept]], len(named)))
    of = np.unique(np.stack([cell, place]), axis=1)  # each cell has one place
    shared = np.bincount(of[1])[of[1]] > 1
    apart, own = (float(np.abs(each - before).sum() / before.sum()) for each in after)
    empty = float((np.bincount(cell, kept, len(named)) == 0).mean())
    total = float(after[0].sum() / before.sum())
    return Routed(len(named), len(came), float(shared.mean()), float(1 - kept.mean()), empty, total, apart, own)
