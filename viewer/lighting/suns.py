"""The sun of an environment's image as a light of its own: sampled as it is drawn, by bilinear interpolation.

A sun of a few texels is far brighter than what is around it, and its edges are as wide as itself: directions spread
evenly over texels bring as much light as they should in the mean alone. What of it exceeds its surroundings is
therefore sampled apart, between the texels' middles and in proportion to the interpolation; the rest as before. Both
densities add up, and the image is what it was for whoever looks at it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.lighting import alias
from viewer.scene.environment import ImageEnvironment
from viewer.scene.light import luminance
from viewer.stream.declare.record import Field, Record

PEAK = 8.0  # of a sun's texels, over the mean of the image
LEAST_SHARE = 1 / 50  # of the image's flux
WIDEST = math.radians(20.0)  # across
MOST_CELLS = 1 << 14

SUN = Record(
    "EnvironmentSun",
    Field("corners", "vec4", about="of a cell between the middles of four texels, what exceeds the surroundings"),
    Field("scale", "float", about="of density by that: 1 / sr over the sine of the polar angle"),
    Field("threshold", "int", "quanta", about="below it the slot stands for the cell of its own number"),
    Field("alias", "int", about="the cell that it stands for else"),
)


class Sun(NamedTuple):
    """first (column, row) of the texels whose middles bound its cells, size of these cells, across and down; columns go
    on from the first behind the last. excess (H + 1, W + 1) float64: luminance at their corners, 0 at the edges.
    """

    first: tuple[int, int]
    size: tuple[int, int]
    excess: NDArray[np.float64]


def sun_of(image: ImageEnvironment) -> Sun | None:
    """The brightest compact region of an image, if it has a sun: texels that are `PEAK` times as bright as the mean, at
    most `WIDEST` across, with `LEAST_SHARE` of the flux; not at a pole."""
    light = luminance(image.pixels)
    height, width = light.shape
    angles = image.solid_angles()[:, None]
    level = PEAK * float((light * angles).sum()) / (4 * math.pi)
    bright = light > level
    rows = np.flatnonzero(bright.any(axis=1))
    columns = np.flatnonzero(bright.any(axis=0))
    if not len(rows):
        return None
    # The largest gap between columns is outside.
    gaps = np.diff(np.append(columns, columns[0] + width))
    last = int(np.argmax(gaps))
    start, across = int(columns[(last + 1) % len(columns)]), width - int(gaps[last]) + 1
    top, down = int(rows[0]), int(rows[-1] - rows[0]) + 1
    middle = math.sin(math.pi * (top + down / 2) / height)
    extent = max(down * math.pi / height, across * 2 * math.pi / width * middle)
    if top < 1 or top + down > height - 1 or across > width - 2 or extent > WIDEST:
        return None
    if (across + 1) * (down + 1) > MOST_CELLS:
        return None
    taken = (np.arange(across + 2) + start - 1) % width
    excess = np.maximum(light[top - 1 : top + down + 1][:, taken] - level, 0.0)
    if (excess * angles[top - 1 : top + down + 1]).sum() < LEAST_SHARE * (light * angles).sum():
        return None
    return Sun((int(taken[0]), top - 1), (across + 1, down + 1), excess)


def without(image: ImageEnvironment, sun: Sun) -> NDArray[np.float64]:
    """(H, W): each texel's share of its luminance that is not the sun's."""
    light = luminance(image.pixels)
    share = np.ones_like(light)
    columns = (np.arange(sun.size[0] + 1) + sun.first[0]) % light.shape[1]
    rows = np.arange(sun.size[1] + 1) + sun.first[1]
    block = np.ix_(rows, columns)
    share[block] = 1.0 - sun.excess / np.maximum(light[block], 1e-300)
    return share


def sun_flux(image: ImageEnvironment, sun: Sun) -> NDArray[np.float64]:
    """(cells,): of each cell, W/m^2 of luminance, row by row."""
    height, width = image.pixels.shape[:2]
    e = sun.excess
    mean = (e[:-1, :-1] + e[:-1, 1:] + e[1:, :-1] + e[1:, 1:]) / 4
    polar = (np.arange(sun.size[1]) + sun.first[1] + 1.0) * math.pi / height
    return (mean * np.sin(polar)[:, None] * (math.pi / height) * (2 * math.pi / width)).ravel()


def slots_of(sun: Sun) -> tuple[int, int]:
    """Of its alias tables, across and down."""
    count = alias.power_of_two(sun.size[0] * sun.size[1])
    across = min(alias.power_of_two(sun.size[0]), count)
    return across, count // across


def sun_cells(image: ImageEnvironment, sun: Sun, levels: int, whole: int) -> NDArray:
    """(slots,) of `SUN`: the alias table of its cells, which are chosen by ``levels`` of ``whole`` quanta."""
    across, down = slots_of(sun)
    flux = sun_flux(image, sun)
    rows = np.zeros(across * down, SUN.dtype)
    if not levels:
        return rows
    table = alias.build(flux, across * down, levels)
    e = sun.excess
    corners = np.stack([e[:-1, :-1], e[:-1, 1:], e[1:, :-1], e[1:, 1:]], axis=-1).reshape(-1, 4)
    mean = corners.mean(axis=1)
    height, width = image.pixels.shape[:2]
    area = (math.pi / height) * (2 * math.pi / width)
    chance = table.probability * (levels / whole)
    largest = max(float(corners.max()), 1e-300)
    rows["corners"][: len(corners)] = corners / largest
    rows["scale"][: len(corners)] = np.where(mean > 0, chance * largest / np.where(mean > 0, mean, 1.0) / area, 0.0)
    rows["threshold"], rows["alias"] = table.threshold, table.alias
    return rows
