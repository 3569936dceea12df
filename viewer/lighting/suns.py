"""Suns of an environment's image as lights of their own: sampled as they are drawn, by bilinear interpolation.

A sun of a few texels is far brighter than its surroundings, and its edges are as wide as itself: directions spread
evenly over texels bring as much light as they should in the mean alone. Its excess over its surroundings is
therefore sampled apart, between the texels' middles and in proportion to the interpolation; the rest as before. All
densities add up, and the visible image is unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.jit import run
from raystream.lighting import alias
from raystream.scene.environment import ImageEnvironment
from raystream.scene.light import luminance
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

MIN_PEAK_RATIO = 8.0  # of a sun's texels to the image's mean
MIN_FLUX_SHARE = 1 / 50  # of the image's flux
MAX_EXTENT = math.radians(20.0)  # diameter of a sun
MAX_CELLS = 1 << 14  # of a sun; one that has more is smooth enough to be sampled by texels
MAX_SUNS = 8
MAX_REGIONS = 64  # the brightest that are examined; neighbours are merged
MAX_INTERPRETED = 1 << 10  # texels up to which the loop runs uncompiled

CELL = Record(
    "EnvironmentSun",
    Field("corners", "vec4", about="of a cell between the middles of four texels, what exceeds the surroundings"),
    Field("scale", "float", about="of density by that: 1 / sr over the sine of the polar angle"),
    *alias.slot_fields("cell of the sun"),
)
PLACE = Record(
    "EnvironmentSunPlace",
    Field("start", "int", "quanta", about="first of those that choose it"),
    Field("first", "int", about="of its slots", within=ROWS),
    Field("slots", "ivec2", about="across and down", within=SMALL),
    Field("corner", "ivec2", about="column and row of its first texel", within=SMALL),
    Field("columns", "int", about="cells in a row", within=SMALL),
)


class Sun(NamedTuple):
    """A sun as a grid of cells between the middles of texels; columns wrap around.

    first : (column, row) of the first texel. size : (W, H) of the grid. excess (H + 1, W + 1) float64: luminance over
    the surroundings at the corners of the cells, 0 at the edges.
    """

    first: tuple[int, int]
    size: tuple[int, int]
    excess: NDArray[np.float64]


class Region(NamedTuple):
    """A rectangle of touching texels: first row and column, numbers of rows and columns; columns wrap around."""

    top: int
    left: int
    down: int
    across: int

    def overlaps(self, other: Region, width: int) -> bool:
        """Whether both share cells."""
        offset = (other.left - self.left) % width
        columns_overlap = offset <= self.across or width - offset <= other.across
        return columns_overlap and self.top <= other.top + other.down and other.top <= self.top + self.down

    def union(self, other: Region, width: int) -> Region:
        """The smallest region that holds both."""
        top, bottom = min(self.top, other.top), max(self.top + self.down, other.top + other.down)
        first, second = (self, other) if (other.left - self.left) % width <= width // 2 else (other, self)
        across = max(first.across, (second.left - first.left) % width + second.across)
        return Region(top, first.left, bottom - top, across)


def suns_of(image: ImageEnvironment) -> list[Sun]:
    """The suns of an image, the brightest first, at most `MAX_SUNS`: compact regions of texels that are
    `MIN_PEAK_RATIO` times as bright as the mean, each at most `MAX_EXTENT` across, with `MIN_FLUX_SHARE` of the flux;
    not at a pole."""
    light = luminance(image.pixels)
    height, width = light.shape
    angles = image.solid_angles()[:, None]
    total = float((light * angles).sum())
    level = MIN_PEAK_RATIO * total / (4 * math.pi)
    candidates = []
    for region in _regions(light, level, angles[:, 0]):
        middle = math.sin(math.pi * (region.top + region.down / 2) / height)
        extent = max(region.down * math.pi / height, region.across * 2 * math.pi / width * middle)
        if region.top < 1 or region.top + region.down > height - 1 or region.across > width - 2 or extent > MAX_EXTENT:
            continue
        if (region.across + 1) * (region.down + 1) > MAX_CELLS:
            continue
        columns = (np.arange(region.across + 2) + region.left - 1) % width
        rows = slice(region.top - 1, region.top + region.down + 1)
        excess = np.zeros((region.down + 2, region.across + 2))
        excess[1:-1, 1:-1] = np.maximum(light[rows][:, columns] - level, 0.0)[1:-1, 1:-1]
        flux = float((excess * angles[rows]).sum())
        if flux >= MIN_FLUX_SHARE * total:
            sun = Sun((int(columns[0]), region.top - 1), (region.across + 1, region.down + 1), excess)
            candidates.append((flux, sun))
    candidates.sort(key=lambda candidate: -candidate[0])
    return [sun for _, sun in candidates[:MAX_SUNS]]


def _regions(light: NDArray[np.float64], level: float, angles: NDArray[np.float64]) -> list[Region]:
    """The brightest regions of texels above the level; regions that share cells are merged."""
    width = light.shape[1]
    indices = np.flatnonzero(light > level)
    if not len(indices):
        return []
    label = np.full(light.shape, -1, np.int32)
    label.ravel()[indices] = -2
    bounds, flux = np.empty((len(indices), 4), np.int64), np.empty(len(indices))
    waiting = np.empty((len(indices), 2), np.int64)
    count = run(_label_regions, light, level, angles, label, waiting, bounds, flux, small=light.size <= MAX_INTERPRETED)
    order = np.argsort(-flux[:count], kind="stable")[:MAX_REGIONS]
    regions: list[Region] = []
    for top, bottom, left, right in bounds[order].tolist():
        new = Region(top, left % width, bottom - top + 1, right - left + 1)
        while True:
            overlapping = [region for region in regions if region.overlaps(new, width)]
            if not overlapping:
                break
            for region in overlapping:
                regions.remove(region)
                new = region.union(new, width)
        regions.append(new)
    return regions


def _label_regions(light, level, angles, label, waiting, bounds, flux):
    """Number the regions of texels with label (H, W) int32 -2 that touch at sides or corners; returns their number.
    waiting (N, 2): working memory. Written: bounds (N, 4) int64, first and last row and column, where columns may lie
    beyond the edges; flux (N,), above the level."""
    height, width = light.shape
    count = 0
    for y in range(height):
        for x in range(width):
            if label[y, x] != -2:
                continue
            label[y, x] = count
            waiting[0, 0], waiting[0, 1] = y, x
            top = bottom = y
            left = right = x
            size, total = 1, 0.0  # of the stack of texels to visit, and the flux
            while size > 0:
                size -= 1
                row, column = waiting[size, 0], waiting[size, 1]
                total += (light[row, column % width] - level) * angles[row]
                top, bottom = min(top, row), max(bottom, row)
                left, right = min(left, column), max(right, column)
                for r in range(max(row - 1, 0), min(row + 2, height)):
                    for c in range(column - 1, column + 2):
                        if label[r, c % width] == -2:
                            label[r, c % width] = count
                            waiting[size, 0], waiting[size, 1] = r, c
                            size += 1
            bounds[count, 0], bounds[count, 1], bounds[count, 2], bounds[count, 3] = top, bottom, left, right
            flux[count] = total
            count += 1
    return count


def remaining_fraction(image: ImageEnvironment, suns: Iterable[Sun]) -> NDArray[np.float64]:
    """(H, W): the fraction of each texel's luminance that remains without the suns."""
    light = luminance(image.pixels)
    fraction = np.ones_like(light)
    for sun in suns:
        columns = (np.arange(sun.size[0] + 1) + sun.first[0]) % light.shape[1]
        rows = np.arange(sun.size[1] + 1) + sun.first[1]
        block = np.ix_(rows, columns)
        fraction[block] -= sun.excess / np.maximum(light[block], 1e-300)
    return fraction


def sun_flux(image: ImageEnvironment, sun: Sun) -> NDArray[np.float64]:
    """(cells,): the flux of each cell of a sun, W/m^2 of luminance, row by row."""
    height, width = image.pixels.shape[:2]
    e = sun.excess
    mean = (e[:-1, :-1] + e[:-1, 1:] + e[1:, :-1] + e[1:, 1:]) / 4
    polar = (np.arange(sun.size[1]) + sun.first[1] + 1.0) * math.pi / height
    return (mean * np.sin(polar)[:, None] * (math.pi / height) * (2 * math.pi / width)).ravel()


def slots_of(sun: Sun) -> tuple[int, int]:
    """The (columns, rows) of slots of a sun's alias tables."""
    count = alias.power_of_two(sun.size[0] * sun.size[1])
    across = min(alias.power_of_two(sun.size[0]), count)
    return across, count // across


def sun_places(suns: list[Sun], levels: list[list[int]]) -> NDArray:
    """(tables * suns,) of `PLACE`: for each table the suns in order, as their slots are. levels : quanta of each sun,
    by table."""
    rows = np.zeros(len(suns) * len(levels), PLACE.dtype)
    slots = np.array([slots_of(sun) for sun in suns])
    size = slots.prod(axis=1)
    for table, quanta in enumerate(levels):
        table_rows = rows[table * len(suns) : (table + 1) * len(suns)]
        table_rows["start"] = np.cumsum(quanta) - quanta
        table_rows["first"] = np.cumsum(size) - size + table * size.sum()
        table_rows["slots"], table_rows["corner"] = slots, [sun.first for sun in suns]
        table_rows["columns"] = [sun.size[0] for sun in suns]
    return rows


def cells_of_texels(image: ImageEnvironment, suns: list[Sun]) -> NDArray[np.int64]:
    """(H * W,): 1 + the slot of the sun's cell whose first corner a texel is; 0 for all others."""
    height, width = image.pixels.shape[:2]
    cells = np.zeros((height, width), np.int64)
    first = 1
    for sun in suns:
        columns = (np.arange(sun.size[0]) + sun.first[0]) % width
        rows = np.arange(sun.size[1]) + sun.first[1]
        cells[np.ix_(rows, columns)] = first + np.arange(sun.size[0] * sun.size[1]).reshape(sun.size[::-1])
        first += math.prod(slots_of(sun))
    return cells.ravel()


def sun_cells(image: ImageEnvironment, sun: Sun, levels: int, total: int) -> NDArray:
    """(slots,) of `CELL`: the alias table of its cells, which are chosen by ``levels`` of ``total`` quanta."""
    columns, down = slots_of(sun)
    flux = sun_flux(image, sun)
    rows = np.zeros(columns * down, CELL.dtype)
    if not levels:
        return rows
    table = alias.build(flux, columns * down, levels)
    e = sun.excess
    corners = np.stack([e[:-1, :-1], e[:-1, 1:], e[1:, :-1], e[1:, 1:]], axis=-1).reshape(-1, 4)
    mean = corners.mean(axis=1)
    height, width = image.pixels.shape[:2]
    area = (math.pi / height) * (2 * math.pi / width)
    probability = table.probability * (levels / total)
    max_corner = max(float(corners.max()), 1e-300)
    rows["corners"][: len(corners)] = corners / max_corner
    rows["scale"][: len(corners)] = np.where(
        mean > 0, probability * max_corner / np.where(mean > 0, mean, 1.0) / area, 0.0
    )
    rows["threshold"], rows["alias"] = table.threshold, table.alias
    return rows
