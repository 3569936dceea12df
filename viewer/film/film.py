"""The film: where the samples of a picture are summed, without drift, and where their spread is known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.film.error.convergence import ConvergenceHistory, Halves, kept, last_of, variance_of_mean
from viewer.film.error.neighbour_variance import block_sums, blocks, doubt, variances_beside
from viewer.film.error.sample_budget import SampleBudget
from viewer.kernels.records import FILM
from viewer.scene import light

LUMINANCE = light.LUMINANCE.astype(np.float32)
BRIGHTEST = np.float32(2.0**54)  # of a luminance: the squares of 2^16 of them still add up
SHAPES = {"sum": True, "compensation": True, "square": False, "count": False}  # which hold a colour
LARGEST_SAMPLE = np.float32(2.0**100)  # from here on a sample is as good as infinite


class Film:
    """What FILM records hold, as float32 arrays; row 0 is the top row. The twin of ``shaders/film/accumulate.glsl``.

    sum          : (H, W, 3) linear sRGB, the sum of the samples.
    compensation : (H, W, 3) what the sum has lost to rounding; sum + compensation is right to a few 2^-48.
    square       : (H, W) sum of the squared deviations of the samples' luminance from their mean.
    count        : (H, W) samples.
    halves       : of these samples, which tell how fast the mean converges; None where none have been kept.
    account      : of adaptive sampling; None where all pixels have as many samples.
    drivers      : of a film that was read from a file, who made its samples: one or more, with "; " between them.
    """

    drivers = ""

    def __init__(self, width: int, height: int, arrays: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        """arrays : all four, by name, which it takes as they are; without them it is empty."""
        given = arrays or {name: np.zeros((height, width, 3)[: 2 + wide], np.float32) for name, wide in SHAPES.items()}
        self.sum, self.compensation = given["sum"], given["compensation"]
        self.square, self.count = given["square"], given["count"]
        self.halves: Halves | None = None
        self.account: SampleBudget | None = None

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), pixels."""
        return self.sum.shape[1], self.sum.shape[0]

    @property
    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The film's arrays by the names of FILM's fields; no copies."""
        return {name: getattr(self, name) for name in SHAPES}

    def add(self, samples: ArrayLike, x: int = 0, y: int = 0) -> None:
        """Add one sample to each pixel of a rectangle: (h, w, 3) linear radiance, its upper left pixel at (x, y).

        A sample that is NaN, infinite or beyond 2^100 counts as black. Raises ValueError when the rectangle leaves the
        film.
        """
        piece = np.asarray(samples, np.float32)
        at = self._place(piece.shape, x, y, (3,))
        with np.errstate(invalid="ignore"):
            broken = ~(np.abs(piece) < LARGEST_SAMPLE).all(axis=-1, keepdims=True)
        piece = np.where(broken, np.float32(0), piece)
        count, total = self.count[at], self.sum[at]
        if not count.any() and not total.any():  # the first sample: nothing to compensate, no spread
            total += piece
            count += 1
            return
        light = luminance(piece)
        before = light - luminance(total) / np.maximum(count, np.float32(1))
        added = total + piece
        taken = added - total
        lost = (total - (added - taken)) + (piece - taken) + self.compensation[at]
        self.sum[at] = added + lost
        self.compensation[at] = lost - (self.sum[at] - added)
        count += 1  # a view
        after = light - luminance(self.sum[at]) / count
        self.square[at] += np.where(count > 1, np.maximum(before * after, 0), np.float32(0))

    def join(self, other: Film) -> None:
        """Add the samples of another film of the same size, as one addition: the two floats of both sums, and by Chan,
        Golub and LeVeque ("Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979) the
        squared deviations. Halves and account, which tell of samples one after the other, are forgotten.

        Raises ValueError for a film of another size.
        """
        if other.size != self.size:
            raise ValueError(f"a film of {other.size} does not join one of {self.size}")
        many, more = self.count, other.count
        apart = luminance(other.mean()) - luminance(self.mean())
        both = np.where((many > 0) & (more > 0), many * more / np.maximum(many + more, np.float32(1)), np.float32(0))
        self.square += other.square + apart * apart * both
        added = self.sum + other.sum
        taken = added - self.sum
        lost = (self.sum - (added - taken)) + (other.sum - taken) + (self.compensation + other.compensation)
        self.sum[...] = added + lost
        self.compensation[...] = lost - (self.sum - added)
        self.count += more
        self.halves = self.account = None

    def part(self, x: int, y: int, width: int, height: int) -> Film:
        """A copy of a rectangle whose upper left pixel is (x, y), without halves and account."""
        found = Film(width, height)
        found.store(self.records(x, y, width, height))
        return found

    def store(self, records: NDArray, x: int = 0, y: int = 0) -> None:
        """Put what a machine has summed in place of a rectangle: (h, w) of ``FILM.dtype``, upper left pixel at (x, y).

        Raises ValueError when the rectangle leaves the film.
        """
        at = self._place(records.shape, x, y)
        for name, array in self.arrays.items():
            array[at] = records[name]

    def records(self, x: int = 0, y: int = 0, width: int | None = None, height: int | None = None) -> NDArray:
        """A rectangle (the whole film without) as (h, w) of ``FILM.dtype``: what a machine goes on from.

        Raises ValueError when the rectangle leaves the film.
        """
        wide, tall = width or self.size[0] - x, height or self.size[1] - y
        at = self._place((tall, wide), x, y)
        out = np.zeros((tall, wide), FILM.dtype)
        for name, array in self.arrays.items():
            out[name] = array[at]
        return out

    def clear(self) -> None:
        """Forget all samples."""
        for array in self.arrays.values():
            array.fill(0)
        self.halves = self.account = None

    def keep(self) -> None:
        """Keep the sum of so many samples as a first half, where every pixel has a power of two of them, and what it
        says of the halves before. The twin of `viewer.film.device_film.FilmBuffer.keep`."""
        samples = int(self.count.min()) if self.count.size else 0
        if kept(samples):
            self.halves = Halves(luminance(self.sum), self.count.copy(), *self.told())

    def told(self) -> ConvergenceHistory:
        """The differences, variances and doubts of `Halves`, with those of the samples so far."""
        if self.halves is None or not self.count.size:
            return {}, {}, {}
        first, (differences, variances, doubts) = self.halves.count, self.halves.told()
        if (first > 0).all() and (self.count == 2 * first).all():
            half, total, level = self.halves.sum, luminance(self.sum), int(self.count.flat[0]).bit_length() - 1
            apart = half / first - (total - half) / first
            differences[level] = float(np.mean(apart**2, dtype=np.float64))
            sums, spreads = block_sums(total / self.count, apart), blocks(self.variance())
            parts = variances_beside(sums, spreads, level, first.size, differences)
            variances[level], doubts[level] = float(np.sum(parts)) / first.size, doubt(parts)
        return differences, variances, doubts

    def mean(self) -> NDArray[np.float32]:
        """(H, W, 3) mean of the samples, linear sRGB; black where there is none.

        The sum is the exact one rounded to float32, and the quotient rounds again: shaders get the same bits.
        """
        count, out = np.maximum(self.count, np.float32(1)), np.empty(self.sum.shape, np.float32)
        for k in range(3):  # loops along the picture are long, those over colours are not
            np.divide(self.sum[..., k], count, out=out[..., k])
        return out

    @property
    def linear(self) -> NDArray[np.float32]:
        """The picture: `mean`."""
        return self.mean()

    def variance(self) -> NDArray[np.float64]:
        """(H, W) estimated variance of the mean's luminance, by pixel; inf where there are fewer than two samples.

        It takes the samples for independent: of Sobol points it is an upper estimate, see `efficiency`.
        """
        count = self.count.astype(np.float64)
        enough = count > 1
        return np.where(enough, self.square / np.where(enough, count * (count - 1), 1), np.inf)

    def efficiency(self) -> float:
        """What the variance of the mean, all pixels together, is of that of as many independent samples: below 1 where
        points are even. `variance` times this is each pixel's estimate."""
        if self.account is not None:
            return self.account.efficiency
        if not self.count.size or self.count.min() < 2:
            return 1.0
        spread = float(np.mean(self.variance()))
        found = variance_of_mean(spread, int(self.count.min()), *self.told()[:2])
        return found / spread if spread > 0 else 1.0

    def error(self) -> float:
        """Estimated relative error of the picture: root mean square of the pixels' standard errors over the mean.

        Both are of the luminance; see `viewer.film.error.convergence` and `viewer.film.error.neighbour_variance` for
        how the errors are known. 0 for a black picture without spread, inf before every pixel has two samples. Of an
        adaptive picture that of the last decision.
        """
        if self.account is not None:
            return self.account.error
        if self.count.size and self.count.min() < 2:
            return float("inf")
        samples = int(self.count.min()) if self.count.size else 0
        spread = float(np.sqrt(variance_of_mean(float(np.mean(self.variance())), samples, *self.told()[:2])))
        mean = abs(float(np.mean(luminance(self.mean()), dtype=np.float64)))
        if spread == 0:
            return 0.0
        return spread / mean if mean > 0 else float("inf")

    def doubt(self) -> float:
        """The relative standard error of `error` itself, as far as the samples tell it: see
        `viewer.film.error.stop`.
        """
        return self.account.doubt if self.account is not None else last_of(self.told()[2])

    def _place(self, shape: tuple[int, ...], x: int, y: int, rest: tuple[int, ...] = ()) -> tuple[slice, slice]:
        height, width = shape[:2]
        if shape[2:] != rest or x < 0 or y < 0 or x + width > self.size[0] or y + height > self.size[1]:
            raise ValueError(f"samples of shape {shape} at ({x}, {y}) do not fit a film of {self.size}")
        return slice(y, y + height), slice(x, x + width)


def single(samples: NDArray[np.float32]) -> None:
    """Make of samples (h, w, 3), each its pixel's only one, what a `Film` of these alone has as its mean, in place."""
    np.add(samples, np.float32(0), out=samples)  # of two zeros the positive one
    with np.errstate(invalid="ignore"):
        if samples.size and not (samples.max() < LARGEST_SAMPLE and samples.min() > -LARGEST_SAMPLE):
            samples[~(np.abs(samples) < LARGEST_SAMPLE).all(axis=-1)] = 0


def clamp(samples: ArrayLike, most: float) -> NDArray[np.float32]:
    """Samples (..., 3) scaled down to a largest component of ``most``; 0: as they are. The twin of ``film_clamp``."""
    given = np.asarray(samples, np.float32)
    if most <= 0:
        return given
    largest = given.max(axis=-1, keepdims=True)
    over = largest > most
    return np.where(over, given * (np.float32(most) / np.where(over, largest, 1)), given).astype(np.float32)


def luminance(radiance: NDArray[np.float32]) -> NDArray[np.float32]:
    """(...) float32 of (..., 3) linear sRGB, added in the shader's order."""
    red, green, blue = (radiance[..., k] * LUMINANCE[k] for k in range(3))
    return np.clip(red + green + blue, -BRIGHTEST, BRIGHTEST)
