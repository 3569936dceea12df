"""The film: compensated sums of a picture's samples, and their variances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.film.error import (
    ConvergenceHistory,
    Halves,
    SampleBudget,
    block_sums,
    blocks,
    is_half,
    latest,
    neighbour_variances,
    relative_std_error,
    variance_of_mean,
)
from raystream.kernels.records import FILM
from raystream.scene import light

LUMINANCE = light.LUMINANCE.astype(np.float32)
MAX_LUMINANCE = np.float32(2.0**54)  # 2^16 squares of it have a finite sum
IS_COLOR = {"sum": True, "compensation": True, "square": False, "count": False}  # field -> whether it has 3 components
MAX_SAMPLE = np.float32(2.0**100)  # larger samples count as infinite


class Film:
    """FILM records as float32 arrays, row 0 on top. The twin of ``shaders/film/accumulate.glsl``.

    sum          : (H, W, 3) linear sRGB, the sum of the samples.
    compensation : (H, W, 3) rounding error of the sum; sum + compensation is correct to a few 2^-48.
    square       : (H, W) sum of the squared deviations of the samples' luminance from their mean.
    count        : (H, W) samples.
    halves       : first halves of the samples, for the error's convergence; None where none have been stored.
    sample_budget : of adaptive sampling; None while all pixels have equal counts.
    drivers      : of a film read from a file, the drivers of its samples, joined by "; ".
    """

    drivers = ""

    def __init__(self, width: int, height: int, arrays: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        """arrays : all four, by name, used without a copy; by default zeros."""
        contents = arrays or {
            name: np.zeros((height, width, 3)[: 2 + is_color], np.float32) for name, is_color in IS_COLOR.items()
        }
        self.sum, self.compensation = contents["sum"], contents["compensation"]
        self.square, self.count = contents["square"], contents["count"]
        self.halves: Halves | None = None
        self.sample_budget: SampleBudget | None = None

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), pixels."""
        return self.sum.shape[1], self.sum.shape[0]

    @property
    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The film's arrays by the names of FILM's fields; no copies."""
        return {name: getattr(self, name) for name in IS_COLOR}

    def add(self, samples: ArrayLike, x: int = 0, y: int = 0) -> None:
        """Add one sample to each pixel of a rectangle: (h, w, 3) linear radiance, its upper left pixel at (x, y). A
        sample that is NaN, infinite or beyond 2^100 counts as black. Raises ValueError when the rectangle leaves the
        film."""
        radiance = np.asarray(samples, np.float32)
        window = self._window(radiance.shape, x, y, (3,))
        with np.errstate(invalid="ignore"):
            invalid = ~(np.abs(radiance) < MAX_SAMPLE).all(axis=-1, keepdims=True)
        radiance = np.where(invalid, np.float32(0), radiance)
        count, total = self.count[window], self.sum[window]  # views
        if not count.any() and not total.any():  # the first sample: no compensation, no variance
            total += radiance
            count += 1
            return
        light = luminance(radiance)
        deviation = light - luminance(total) / np.maximum(count, np.float32(1))
        self._add_compensated(window, radiance, self.compensation[window])
        count += 1
        new_deviation = light - luminance(self.sum[window]) / count
        self.square[window] += np.where(count > 1, np.maximum(deviation * new_deviation, 0), np.float32(0))

    def _add_compensated(self, window: Any, addend: NDArray[np.float32], compensation: NDArray[np.float32]) -> None:
        """Add to the sum of a window, exactly but for ``compensation`` and the error that remains as the film's."""
        total = self.sum[window]
        rounded = total + addend
        taken = rounded - total
        error = (total - (rounded - taken)) + (addend - taken) + compensation
        self.sum[window] = rounded + error
        self.compensation[window] = error - (self.sum[window] - rounded)

    def join(self, other: Film) -> None:
        """Add the samples of another film of the same size: the compensated sums, and the squared deviations by Chan,
        Golub and LeVeque ("Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979). Halves
        and sample budget are dropped, as they depend on the order of samples.

        Raises ValueError for a film of another size.
        """
        if other.size != self.size:
            raise ValueError(f"a film of {other.size} does not join one of {self.size}")
        m, n = self.count, other.count
        difference = luminance(other.mean()) - luminance(self.mean())
        weight = np.where((m > 0) & (n > 0), m * n / np.maximum(m + n, np.float32(1)), np.float32(0))
        self.square += other.square + difference * difference * weight
        self._add_compensated(..., other.sum, self.compensation + other.compensation)
        self.count += n
        self.halves = self.sample_budget = None

    def part(self, x: int, y: int, width: int, height: int) -> Film:
        """A copy of a rectangle with upper left pixel (x, y), without halves and sample budget."""
        film = Film(width, height)
        film.store(self.records(x, y, width, height))
        return film

    def store(self, records: NDArray, x: int = 0, y: int = 0) -> None:
        """Replace a rectangle by a machine's records: (h, w) of ``FILM.dtype``, upper left pixel at (x, y). Raises
        ValueError when the rectangle leaves the film."""
        window = self._window(records.shape, x, y)
        for name, array in self.arrays.items():
            array[window] = records[name]

    def records(self, x: int = 0, y: int = 0, width: int | None = None, height: int | None = None) -> NDArray:
        """A rectangle (by default the whole film) as (h, w) of ``FILM.dtype``: a machine's initial records. Raises
        ValueError when the rectangle leaves the film."""
        shape = height or self.size[1] - y, width or self.size[0] - x
        window = self._window(shape, x, y)
        out = np.zeros(shape, FILM.dtype)
        for name, array in self.arrays.items():
            out[name] = array[window]
        return out

    def clear(self) -> None:
        """Discard all samples."""
        for array in self.arrays.values():
            array.fill(0)
        self.halves = self.sample_budget = None

    def store_half(self) -> None:
        """Store the sums as first halves where every pixel has a power of two of samples, and extend the convergence
        history. The twin of `raystream.film.device_film.FilmBuffer.store_half`."""
        samples = int(self.count.min()) if self.count.size else 0
        if is_half(samples):
            self.halves = Halves(luminance(self.sum), self.count.copy(), *self.convergence_history())

    def convergence_history(self) -> ConvergenceHistory:
        """The history of `Halves` with the present samples added."""
        if self.halves is None or not self.count.size:
            return {}, {}, {}
        first, (differences, variances, relative_std_errors) = self.halves.count, self.halves.history()
        if (first > 0).all() and (self.count == 2 * first).all():
            half, total, level = self.halves.sum, luminance(self.sum), int(self.count.flat[0]).bit_length() - 1
            half_difference = half / first - (total - half) / first
            differences[level] = float(np.mean(half_difference**2, dtype=np.float64))
            sums, spreads = block_sums(total / self.count, half_difference), blocks(self.variance())
            block_variances = neighbour_variances(sums, spreads, level, first.size, differences)
            variances[level] = float(np.sum(block_variances)) / first.size
            relative_std_errors[level] = relative_std_error(block_variances)
        return differences, variances, relative_std_errors

    def mean(self) -> NDArray[np.float32]:
        """(H, W, 3) mean of the samples, linear sRGB; black without samples. The exact sum is rounded to float32, and
        the quotient again: shaders get the same bits."""
        count, out = np.maximum(self.count, np.float32(1)), np.empty(self.sum.shape, np.float32)
        for k in range(3):  # loops along rows are fast, loops over colours are not
            np.divide(self.sum[..., k], count, out=out[..., k])
        return out

    @property
    def linear(self) -> NDArray[np.float32]:
        """The picture: `mean`."""
        return self.mean()

    def variance(self) -> NDArray[np.float64]:
        """(H, W): estimated variance of the luminance of each pixel's mean; inf below two samples. Assumes independent
        samples: an upper estimate for Sobol points, see `efficiency`."""
        count = self.count.astype(np.float64)
        enough = count > 1
        return np.where(enough, self.square / np.where(enough, count * (count - 1), 1), np.inf)

    def efficiency(self) -> float:
        """Ratio of the mean's variance to that of as many independent samples, over all pixels; below 1 for evenly
        distributed points. Times `variance` it estimates each pixel."""
        if self.sample_budget is not None:
            return self.sample_budget.efficiency
        if not self.count.size or self.count.min() < 2:
            return 1.0
        spread = float(np.mean(self.variance()))
        variance = variance_of_mean(spread, int(self.count.min()), *self.convergence_history()[:2])
        return variance / spread if spread > 0 else 1.0

    def error(self) -> float:
        """Estimated relative error of the picture: root mean square of the pixels' standard errors over the mean. Both
        are of the luminance; see `raystream.film.error` for the estimate. 0 for a black picture without variance, inf
        before every pixel has two samples. For an adaptive picture, the error of the last decision."""
        if self.sample_budget is not None:
            return self.sample_budget.error
        if self.count.size and self.count.min() < 2:
            return float("inf")
        samples = int(self.count.min()) if self.count.size else 0
        independent = float(np.mean(self.variance()))
        spread = float(np.sqrt(variance_of_mean(independent, samples, *self.convergence_history()[:2])))
        mean = abs(float(np.mean(luminance(self.mean()), dtype=np.float64)))
        if spread == 0:
            return 0.0
        return spread / mean if mean > 0 else float("inf")

    def relative_std_error(self) -> float:
        """The relative standard error of `error` itself: see `raystream.film.error`."""
        if self.sample_budget is not None:
            return self.sample_budget.relative_std_error
        return latest(self.convergence_history()[2])

    def _window(self, shape: tuple[int, ...], x: int, y: int, trailing: tuple[int, ...] = ()) -> tuple[slice, slice]:
        """The (rows, columns) of an array of this shape, (h, w, *trailing), at (x, y). Raises ValueError."""
        height, width = shape[:2]
        if shape[2:] != trailing or x < 0 or y < 0 or x + width > self.size[0] or y + height > self.size[1]:
            raise ValueError(f"samples of shape {shape} at ({x}, {y}) do not fit a film of {self.size}")
        return slice(y, y + height), slice(x, x + width)


def set_single_samples(samples: NDArray[np.float32]) -> None:
    """Replace samples (h, w, 3) in place by the `Film.mean` of one such sample in each pixel."""
    np.add(samples, np.float32(0), out=samples)  # negative zero becomes positive
    with np.errstate(invalid="ignore"):
        if samples.size and not (samples.max() < MAX_SAMPLE and samples.min() > -MAX_SAMPLE):
            samples[~(np.abs(samples) < MAX_SAMPLE).all(axis=-1)] = 0


def clamp(samples: ArrayLike, limit: float) -> NDArray[np.float32]:
    """Samples (..., 3) scaled down to a largest component of ``limit``; 0: unchanged. The twin of ``film_clamp``."""
    values = np.asarray(samples, np.float32)
    if limit <= 0:
        return values
    maximum = values.max(axis=-1, keepdims=True)
    exceeds = maximum > limit
    return np.where(exceeds, values * (np.float32(limit) / np.where(exceeds, maximum, 1)), values).astype(np.float32)


def luminance(radiance: NDArray[np.float32]) -> NDArray[np.float32]:
    """(...) float32 of (..., 3) linear sRGB, summed in the shader's order."""
    red, green, blue = (radiance[..., k] * LUMINANCE[k] for k in range(3))
    return np.clip(red + green + blue, -MAX_LUMINANCE, MAX_LUMINANCE)
