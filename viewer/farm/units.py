"""What a farm's work is cut into: tiles of a picture, ranges of its samples, frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from viewer.film.film import Film
from viewer.renderer.device.tiles import rectangles
from viewer.renderer.sampling.partial_film import sample_ranges

FOR_EACH = 6  # tiles for each worker: the last ones end at about the same time
LEAST_SIDE = 32  # pixels: below, the passes of a tile cost more than its rays
MOST_SIDE = 256  # what is lost when a worker dies, and how long the last one takes
RANGE = 16  # samples, where nobody has asked for another number


@dataclass(frozen=True)
class Unit:
    """Samples of a rectangle of the picture: from number ``first`` on so many ``samples``.

    left, top, width, height : pixels. film : of the rectangle, to go on from.
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
        """Samples that it takes."""
        there = 0.0 if self.film is None else float(self.film.count.sum(dtype=np.float64))
        return self.width * self.height * self.samples - there

    def __str__(self) -> str:
        return (
            f"{self.width} x {self.height} pixels at {self.left}, {self.top}, {self.samples} samples from {self.first}"
        )


def tile_side(size: tuple[int, int], workers: int) -> int:
    """The side of square tiles, pixels: a few for each worker, neither tiny nor huge."""
    side = int((size[0] * size[1] / (FOR_EACH * workers)) ** 0.5)
    return max(LEAST_SIDE, min(MOST_SIDE, side))


def tile_units(size: tuple[int, int], samples: int, side: int, film: Film | None = None) -> Iterator[Unit]:
    """The tiles of a picture of ``size`` (width, height) whose pixels lack samples, top to bottom. film : of the
    picture, to go on from."""
    for rows, columns in rectangles(size, side, side * side):
        shape = columns.stop - columns.start, rows.stop - rows.start
        part = None if film is None else film.part(columns.start, rows.start, *shape)
        if part is not None and part.count.min() >= samples:
            continue
        there = part if part is not None and part.count.any() else None
        yield Unit(columns.start, rows.start, *shape, samples, film=there)


def sample_units(size: tuple[int, int], before: int, samples: int, length: int) -> Iterator[Unit]:
    """The ranges of ``length`` samples that a picture with ``before`` samples lacks, in their order."""
    for first, number in sample_ranges(before, samples, length):
        yield Unit(0, 0, *size, number, first=first)
