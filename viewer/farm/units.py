"""Units of a farm's work: tiles of a picture, ranges of its samples, frames; and the builds of the workers that do
them, which must be alike for the same bits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from raystream.base.errors import ViewerError
from raystream.base.paths import shaders
from raystream.film.film import Film
from raystream.renderer.device.tile_job import rectangles
from raystream.renderer.sampling.partial_film import sample_ranges

TILES_PER_WORKER = 6  # tiles per worker, so that all end at about the same time
MIN_TILE_SIDE = 32  # pixels, below which a tile's passes cost more than its rays
MAX_TILE_SIDE = 256  # pixels; bounds the loss when a worker dies, and the duration of the last tile
RANGE_SAMPLES = 16  # default number of samples


@dataclass(frozen=True)
class Unit:
    """Samples of a rectangle of the picture: ``samples`` from index ``first`` on.

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
    side = int((size[0] * size[1] / (TILES_PER_WORKER * workers)) ** 0.5)
    return max(MIN_TILE_SIDE, min(MAX_TILE_SIDE, side))


def tile_units(size: tuple[int, int], samples: int, side: int, film: Film | None = None) -> Iterator[Unit]:
    """The tiles of a picture of ``size`` (width, height) with samples missing, top to bottom. film : of the picture, to
    continue."""
    for rows, columns in rectangles(size, side, side * side):
        shape = columns.stop - columns.start, rows.stop - rows.start
        tile_film = None if film is None else film.part(columns.start, rows.start, *shape)
        if tile_film is not None and tile_film.count.min() >= samples:
            continue
        if tile_film is not None and not tile_film.count.any():
            tile_film = None  # nothing to continue
        yield Unit(columns.start, rows.start, *shape, samples, film=tile_film)


def sample_units(size: tuple[int, int], done: int, samples: int, length: int) -> Iterator[Unit]:
    """The missing ranges of ``length`` samples, in their order, of a picture of ``size`` (width, height) that has
    ``done`` of its ``samples``."""
    for first, count in sample_ranges(done, samples, length):
        yield Unit(0, 0, *size, count, first=first)


class Build(NamedTuple):
    """A worker's build: all that the bits of its samples depend on, besides the scene.

    raystream : its version. sources : digest of its code and shaders. driver : OpenGL renderer and version.
    """

    raystream: str
    sources: str
    driver: str

    def __str__(self) -> str:
        return f"raystream {self.raystream} ({self.sources}), {self.driver}"


@cache
def source_digest() -> str:
    """Eight hexadecimal digits, a digest of code and shaders."""
    from pathlib import Path

    import raystream

    digest = hashlib.blake2b(digest_size=4)
    for folder, ending in ((Path(raystream.__file__).parent, "*.py"), (shaders(), "*.glsl")):
        for path in sorted(folder.rglob(ending)):
            if "farm" not in path.parts:  # the farm moves work, and computes nothing
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def check_builds(builds: Mapping[str, Build], mixed: bool) -> None:
    """Raise ViewerError for workers (by address) of different builds, unless ``mixed`` is allowed."""
    workers_by_build: dict[Build, list[str]] = {}
    for worker, build in builds.items():
        workers_by_build.setdefault(build, []).append(worker)
    if len(workers_by_build) < 2 or mixed:
        return
    listing = "; ".join(f"{build} on {_worker_list(workers)}" for build, workers in workers_by_build.items())
    raise ViewerError("--cluster", f"its workers would give different bits: {listing}", "--mix-builds takes them all")


def _worker_list(workers: list[str]) -> str:
    more = f" and {len(workers) - 1} more" if len(workers) > 1 else ""
    return f"{workers[0]}{more}"
