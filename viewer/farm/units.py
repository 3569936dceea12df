"""Units of a farm's work: tiles of a picture, ranges of its samples, frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from viewer.film.film import Film
from viewer.renderer.device.tile_job import rectangles
from viewer.renderer.sampling.partial_film import sample_ranges

FOR_EACH = 6  # tiles per worker, so that all end at about the same time
LEAST_SIDE = 32  # pixels, below which a tile's passes cost more than its rays
MOST_SIDE = 256  # bounds the loss when a worker dies, and the duration of the last tile
RANGE = 16  # default number of samples


@dataclass(frozen=True)
class Unit:
    """Samples of a rectangle of the picture: ``samples`` from number ``first`` on.

    left, top, width, height : pixels. film : of the rectangle, to continue.
    """

    left: int
    top: int
    width: int
    height: int
    samples: int
    first: int = 0
    film: Film | None = None

    @property
    def region(self) -> tuple[slice, slice]:
        """Its rows and columns."""
        return slice(self.top, self.top + self.height), slice(self.left, self.left + self.width)

    @property
    def cost(self) -> float:
        """Number of missing samples."""
        if self.film is None:
            return float(self.width * self.height * self.samples)
        return float(np.maximum(self.samples - self.film.count, 0).sum(dtype=np.float64))  # some pixels may have more

    def __str__(self) -> str:
        return (
            f"{self.width} x {self.height} pixels at {self.left}, {self.top}, {self.samples} samples from {self.first}"
        )


def tile_side(size: tuple[int, int], workers: int) -> int:
    """The side of square tiles, pixels: a few tiles per worker, within limits."""
    side = int((size[0] * size[1] / (FOR_EACH * workers)) ** 0.5)
    return max(LEAST_SIDE, min(MOST_SIDE, side))


def tile_units(size: tuple[int, int], samples: int, side: int, film: Film | None = None) -> Iterator[Unit]:
    """The tiles of a picture of ``size`` (width, height) with samples missing, top to bottom. film : of the picture, to
    continue."""
    for rows, columns in rectangles(size, side, side * side):
        shape = columns.stop - columns.start, rows.stop - rows.start
        part = None if film is None else film.part(columns.start, rows.start, *shape)
        if part is not None and part.count.min() >= samples:
            continue
        there = part if part is not None and part.count.any() else None
        yield Unit(columns.start, rows.start, *shape, samples, film=there)


def sample_units(size: tuple[int, int], before: int, samples: int, length: int) -> Iterator[Unit]:
    """The missing ranges of ``length`` samples of a picture with ``before`` samples, in their order."""
    for first, number in sample_ranges(before, samples, length):
        yield Unit(0, 0, *size, number, first=first)
