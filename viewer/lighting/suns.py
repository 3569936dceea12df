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

PEAK = 8.0  # of a sun's texels, over the mean of the image
LEAST_SHARE = 1 / 50  # of the image's flux
WIDEST = math.radians(20.0)  # across
MOST_CELLS = 1 << 14  # of one of them; one that has more is smooth enough for texels
MOST_SUNS = 8
MOST_REGIONS = 64  # the brightest, of which neighbours may belong together
FEW_TEXELS = 1 << 10  # up to which the loop is not worth compiling

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
    """first (column, row) of the texels whose middles bound its cells, size of these cells, across and down; columns go
    on from the first behind the last. excess (H + 1, W + 1) float64: luminance at their corners, 0 at the edges.
    """

    first: tuple[int, int]
    size: tuple[int, int]
    excess: NDArray[np.float64]


class Region(NamedTuple):
    """Texels that touch: the first row and the first column, rows and columns, the latter going on behind the last."""

    top: int
    left: int
    down: int
    across: int

    def meets(self, other: Region, width: int) -> bool:
        """Whether cells of both are the same."""
        apart = (other.left - self.left) % width
        beside = apart <= self.across or width - apart <= other.across
        return beside and self.top <= other.top + other.down and other.top <= self.top + self.down

    def joined(self, other: Region, width: int) -> Region:
        """The smallest region around both."""
        top, bottom = min(self.top, other.top), max(self.top + self.down, other.top + other.down)
        one, two = (self, other) if (other.left - self.left) % width <= width // 2 else (other, self)
        across = max(one.across, (two.left - one.left) % width + two.across)
        return Region(top, one.left, bottom - top, across)


def suns_of(image: ImageEnvironment) -> list[Sun]:
    """The suns of an image, the brightest first, at most `MOST_SUNS`: compact regions of texels that are `PEAK` times
    as bright as the mean, each at most `WIDEST` across, with `LEAST_SHARE` of the flux; not at a pole."""
    light = luminance(image.pixels)
    height, width = light.shape
    angles = image.solid_angles()[:, None]
    total = float((light * angles).sum())
    level = PEAK * total / (4 * math.pi)
    candidates = []
    for region in _regions(light, level, angles[:, 0]):
        middle = math.sin(math.pi * (region.top + region.down / 2) / height)
        extent = max(region.down * math.pi / height, region.across * 2 * math.pi / width * middle)
        if region.top < 1 or region.top + region.down > height - 1 or region.across > width - 2 or extent > WIDEST:
            continue
        if (region.across + 1) * (region.down + 1) > MOST_CELLS:
            continue
        columns = (np.arange(region.across + 2) + region.left - 1) % width
        rows = slice(region.top - 1, region.top + region.down + 1)
        excess = np.zeros((region.down + 2, region.across + 2))
        excess[1:-1, 1:-1] = np.maximum(light[rows][:, columns] - level, 0.0)[1:-1, 1:-1]
        flux = float((excess * angles[rows]).sum())
        if flux >= LEAST_SHARE * total:
            sun = Sun((int(columns[0]), region.top - 1), (region.across + 1, region.down + 1), excess)
            candidates.append((flux, sun))
    candidates.sort(key=lambda candidate: -candidate[0])
    return [sun for _, sun in candidates[:MOST_SUNS]]


def _regions(light: NDArray[np.float64], level: float, angles: NDArray[np.float64]) -> list[Region]:
    """The brightest regions above the level, those that share cells joined."""
    width = light.shape[1]
    indices = np.flatnonzero(light > level)
    if not len(indices):
        return []
    label = np.full(light.shape, -1, np.int32)
    label.ravel()[indices] = -2
    bounds, flux = np.empty((len(indices), 4), np.int64), np.empty(len(indices))
    waiting = np.empty((len(indices), 2), np.int64)
    count = run(_touching, light, level, angles, label, waiting, bounds, flux, small=light.size <= FEW_TEXELS)
    order = np.argsort(-flux[:count], kind="stable")[:MOST_REGIONS]
    regions: list[Region] = []
    for top, bottom, left, right in bounds[order].tolist():
        new = Region(top, left % width, bottom - top + 1, right - left + 1)
        while True:
            near = [region for region in regions if region.meets(new, width)]
            if not near:
                break
            for region in near:
                regions.remove(region)
                new = region.joined(new, width)
        regions.append(new)
    return regions


def _touching(light, level, angles, label, waiting, bounds, flux):
    """Numbers the regions of texels, label (H, W) int32 -2, that touch at sides or corners; how many they are.

    waiting (N, 2): room. Written: bounds (N, 4) int64: first and last row and column, where columns go on over the
    edges; flux (N,): above the level."""
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
            ahead, total = 1, 0.0
            while ahead > 0:
                ahead -= 1
                row, column = waiting[ahead, 0], waiting[ahead, 1]
                total += (light[row, column % width] - level) * angles[row]
                top, bottom = min(top, row), max(bottom, row)
                left, right = min(left, column), max(right, column)
                for r in range(max(row - 1, 0), min(row + 2, height)):
                    for c in range(column - 1, column + 2):
                        if label[r, c % width] == -2:
                            label[r, c % width] = count
                            waiting[ahead, 0], waiting[ahead, 1] = r, c
                            ahead += 1
            bounds[count, 0], bounds[count, 1], bounds[count, 2], bounds[count, 3] = top, bottom, left, right
            flux[count] = total
            count += 1
    return count


def without(image: ImageEnvironment, suns: Iterable[Sun]) -> NDArray[np.float64]:
    """(H, W): each texel's fraction of its luminance that is not the suns'."""
    light = luminance(image.pixels)
    fraction = np.ones_like(light)
    for sun in suns:
        columns = (np.arange(sun.size[0] + 1) + sun.first[0]) % light.shape[1]
        rows = np.arange(sun.size[1] + 1) + sun.first[1]
        block = np.ix_(rows, columns)
        fraction[block] -= sun.excess / np.maximum(light[block], 1e-300)
    return fraction


def sun_flux(image: ImageEnvironment, sun: Sun) -> NDArray[np.float64]:
    """(cells,): of each cell, W/m^2 of luminance, row by row."""
    height, width = image.pixels.shape[:2]
    e = sun.excess
    mean = (e[:-1, :-1] + e[:-1, 1:] + e[1:, :-1] + e[1:, 1:]) / 4
    polar = (np.arange(sun.size[1]) + sun.first[1] + 1.0) * math.pi / height
    return (mean * np.sin(polar)[:, None] * (math.pi / height) * (2 * math.pi / width)).ravel()


def slots_of(sun: Sun) -> tuple[int, int]:
    """The slots of its alias tables, across and down."""
    count = alias.power_of_two(sun.size[0] * sun.size[1])
    across = min(alias.power_of_two(sun.size[0]), count)
    return across, count // across


def sun_places(suns: list[Sun], levels: list[list[int]]) -> NDArray:
    """(suns * tables,) of `PLACE`: of each table those of the suns one after the other, as are their slots."""
    rows = np.zeros(len(suns) * len(levels), PLACE.dtype)
    slots = np.array([slots_of(sun) for sun in suns])
    size = slots.prod(axis=1)
    for table, quanta in enumerate(levels):
        part = rows[table * len(suns) : (table + 1) * len(suns)]
        part["start"] = np.cumsum(quanta) - quanta
        part["first"] = np.cumsum(size) - size + table * size.sum()
        part["slots"], part["corner"] = slots, [sun.first for sun in suns]
        part["columns"] = [sun.size[0] for sun in suns]
    return rows


def cells_of_texels(image: ImageEnvironment, suns: list[Sun]) -> NDArray[np.int64]:
    """(H * W,): of each texel that is the first corner of a sun's cell 1 + that cell's slot; else 0."""
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
    chance = table.probability * (levels / total)
    largest = max(float(corners.max()), 1e-300)
    rows["corners"][: len(corners)] = corners / largest
    rows["scale"][: len(corners)] = np.where(mean > 0, chance * largest / np.where(mean > 0, mean, 1.0) / area, 0.0)
    rows["threshold"], rows["alias"] = table.threshold, table.alias
    return rows
