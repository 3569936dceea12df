"""The photon map's stages as the papers have them, step by step, and stencil routing into a table of cells, where each
cell has its own place or a hash lets several share one: T. J. Purcell, *Ray Tracing on a Stream Processor* (2004),
sections 6.2.2, 6.2.3 and 6.4.4; the hash is the device's (M. Jarzynski and M. Olano, "Hash Functions for GPU
Rendering", 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STENCIL_LARGEST = 255  # of 8 bits


@dataclass(frozen=True)
class SortPass:
    """A pass of the bitonic merge sort. run: length of what is merged; offset: between the elements that are compared;
    low, high: (n/2,) elements that get the smaller and the larger of each pair."""

    run: int
    offset: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]


def bitonic_passes(n: int) -> list[SortPass]:
    """The passes over n = 2^k elements, by the published listing (P3 figure 3): every element finds the one that it is
    compared with, and whether it keeps the smaller or the larger."""
    if n & (n - 1) or n < 2:
        raise ValueError(f"{n} is no power of two")
    element, passes, run = np.arange(n), [], 2
    while run <= n:
        offset = run // 2
        while offset >= 1:
            sign = np.where(element % (2 * offset) < offset, 1, -1)
            direction = np.where(element // run % 2 == 0, 1, -1)
            low = element[sign == direction]
            passes.append(SortPass(run, offset, low, (element + sign * offset)[low]))
            offset //= 2
        run *= 2
    return passes


def bitonic_sort(keys: NDArray) -> NDArray[np.int64]:
    """(n,) keys, n = 2^k: the order that the network sorts them into; equal keys may change places."""
    order = np.arange(len(keys))
    for each in bitonic_passes(len(keys)):
        low, high = order[each.low], order[each.high]
        swap = keys[low] > keys[high]
        order[each.low], order[each.high] = np.where(swap, high, low), np.where(swap, low, high)
    return order


def route(photons: int, edge: int, wraps: bool = False, stencil: bool = True) -> NDArray[np.int64]:
    """One cell's photons routed by the stencil: the photon in each of the cell's edge^2 texels, -1 where there is none.

    Each photon covers all texels. One passes where the stencil, which began as 0, 1 .. edge^2 - 1, is edge^2 - 1, and
    increments all. 8 bits saturate, or wrap with ``wraps``. Without ``stencil`` every photon passes everywhere.
    """
    texels = np.full(edge * edge, -1)
    values = np.arange(edge * edge)
    for photon in range(photons):
        passes = (values == edge * edge - 1) | (not stencil)
        texels[passes] = photon
        values = (values + 1) % (STENCIL_LARGEST + 1) if wraps else np.minimum(values + 1, STENCIL_LARGEST)
    return texels


def stencil_count(photons: int, wraps: bool = False) -> int:
    """The photons of a cell as the stencil tells them: what it holds where it began as 0, after every photon has
    incremented it. 8 bits saturate, or wrap with ``wraps``."""
    return photons % (STENCIL_LARGEST + 1) if wraps else min(photons, STENCIL_LARGEST)


@dataclass(frozen=True)
class SearchStep:
    """A photon that the search comes to. shell, cell: where it lies; counted: with it; radius: behind it; taken:
    whether its power is added; beyond: whether it lies farther than the maximum radius."""

    shell: int
    cell: tuple[int, int]
    photon: int
    taken: bool
    counted: int
    radius: float
    beyond: bool


def search(
    point: tuple[float, float], photons: NDArray, wanted: int, largest: float, cells: int
) -> tuple[list[SearchStep], int]:
    """The published search (section 6.2.3) in a plane of ``cells`` x ``cells`` cells of edge 1, and the last shell.

    photons : (N, 2). It stops behind the shell in which ``wanted`` are counted, or that reaches ``largest``.
    """
    at = np.floor(point).astype(int)
    of = np.floor(photons).astype(int)
    steps: list[SearchStep] = []
    counted, radius, shell = 0, 0.0, 0
    while True:
        ring = [
            (x, y)
            for y in range(at[1] - shell, at[1] + shell + 1)
            for x in range(at[0] - shell, at[0] + shell + 1)
            if max(abs(x - at[0]), abs(y - at[1])) == shell and 0 <= x < cells and 0 <= y < cells
        ]
        for cell in ring:
            for photon in np.flatnonzero((of == cell).all(axis=1)):
                distance = float(np.hypot(*(photons[photon] - np.asarray(point))))
                taken = distance <= (largest if counted < wanted else radius)
                if taken:
                    radius = max(radius, distance) if counted < wanted else radius
                    counted += 1
                steps.append(SearchStep(shell, cell, int(photon), taken, counted, radius, distance > largest))
        if counted >= wanted or shell >= largest or shell > 2 * cells:
            return steps, shell
        shell += 1


def converge(points, positions, powers, first, low, size, shape, wanted, largest, visits, took, out):
    """The sums of a picture's estimates after each of some numbers of visits.

    A visit is a photon looked at or a cell found empty, one a pass. points: (P, 3); positions, powers: (N, 3) by cell;
    first: (cells + 1,) of each cell its first photon; low, size: (3,) of the grid and a cell; shape: (3,) cells;
    visits: (V,) ascending; out: (V + 1, P, 4) sum of powers and the square of the radius, at last the converged one.
    took: (P,) gets the visits of each point. As published: shells of cells, a search that ends behind the shell in
    which ``wanted`` are counted, or at the radius ``largest``.
    """
    edge = min(size[0], size[1], size[2])
    reach = int(np.ceil(largest / edge))
    for p in range(len(points)):
        cx = int(np.floor((points[p, 0] - low[0]) / size[0]))
        cy = int(np.floor((points[p, 1] - low[1]) / size[1]))
        cz = int(np.floor((points[p, 2] - low[2]) / size[2]))
        red = green = blue = 0.0
        square, counted, visit, written = 0.0, 0, 0, 0
        for shell in range(reach + 1):
            if counted >= wanted:
                break
            for z in range(max(cz - shell, 0), min(cz + shell + 1, shape[2])):
                for y in range(max(cy - shell, 0), min(cy + shell + 1, shape[1])):
                    for x in range(max(cx - shell, 0), min(cx + shell + 1, shape[0])):
                        if max(abs(x - cx), abs(y - cy), abs(z - cz)) != shell:
                            continue
                        cell = (z * shape[1] + y) * shape[0] + x
                        begin, end = first[cell], first[cell + 1]
                        for photon in range(begin, max(end, begin + 1)):
                            if photon < end:
                                apart = 0.0
                                for axis in range(3):
                                    apart += (points[p, axis] - positions[photon, axis]) ** 2
                                if apart <= (largest * largest if counted < wanted else square):
                                    if counted < wanted:
                                        square = max(square, apart)
                                    counted += 1
                                    red += powers[photon, 0]
                                    green += powers[photon, 1]
                                    blue += powers[photon, 2]
                            visit += 1
                            while written < len(visits) and visits[written] <= visit:
                                out[written, p, 0], out[written, p, 1], out[written, p, 2] = red, green, blue
                                out[written, p, 3] = square
                                written += 1
        took[p] = visit
        for number in range(written, len(visits) + 1):
            out[number, p, 0], out[number, p, 1], out[number, p, 2] = red, green, blue
            out[number, p, 3] = square
    return 0


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


def redistributed(cells: NDArray[np.int64], places: NDArray[np.int64], power: NDArray[np.float64], room: int) -> Routed:
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
