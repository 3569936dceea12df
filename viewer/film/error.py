"""The error of a film's mean, measured at the sampler's own rate; and when a render is done.

Sobol points fill the unit square evenly, and the error of their mean is below that of independent samples with the same
spread. A net of n = 2^k points is one random scrambling of many, and V(n), the variance of its mean, cannot be measured
in one net. Differences can: the halves of the first n samples are equally distributed nets of n / 2 points, and their
mean squared difference is 4 (V(n / 2) - V(n)) (the Haar coefficients of Owen, *Monte Carlo Variance of Scrambled Net
Quadrature*, 1997). From these V(n) is fitted as a / n + b / n^2, unstratified and stratified part, by least squares;
independent samples have b = 0. The fit is too high where V begins to fall faster after many samples; the rate of the
last differences alone is noisy where V falls unevenly. The estimate is their geometric mean.

Neighbouring pixels add information (`neighbour_variances`): at n = 2^k, V(n) is measured where the picture is smooth.
The rate of the differences serves the rest of the picture and sample counts in between. A single measurement is noisy
where few pixels make the error, so measurements at smaller n, extrapolated by the fitted rate, are averaged in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.options.picture import QUALITIES
from raystream.options.table import check, sample_limit

# -- when a render is done: a number of samples, a time, or an error ---------------------------------------------------

MIN_ERROR_SAMPLES = 16  # before an estimated error can end a render
ERROR_CHECK_GROWTH = 1.125  # of samples between two estimates, each of which takes a pass over the film
CAUTION = 1.0  # standard errors that are added to an estimated error


def bound(error: float, relative_std_error: float) -> float:
    """Upper bound of an estimated error, by which a render may end: it includes `CAUTION` standard errors, since
    frequent looks would else end the render at an estimate that is low by chance. relative_std_error : of the estimate,
    see the function of that name."""
    return error * (1 + CAUTION * relative_std_error)


@dataclass
class Stop:
    """The rules of a render; it ends with the first that is met.

    spp     : samples per pixel, at most.
    seconds : of rendering, or None.
    error   : estimated relative error as in `Film.error`, with some of its standard error (`bound`), or None.
    step    : samples between estimates of the error, so that the picture does not depend on the machine's speed; 0:
    any.
    """

    spp: int
    seconds: float | None = None
    error: float | None = None
    step: int = 0
    _last_check: int = 0  # samples at the last estimate of the error

    def needs_error(self, samples: int) -> bool:
        """Whether `reason` needs the error at that many samples."""
        between_steps = self.step > 0 and samples % self.step > 0
        return (
            self.error is not None
            and not between_steps
            and samples >= max(MIN_ERROR_SAMPLES, self._last_check * ERROR_CHECK_GROWTH)
        )

    def most(self, samples: int) -> int:
        """The number of samples to render up to before the next estimate of the error, after ``samples``."""
        return self.spp if not self.step else min(self.spp, (samples // self.step + 1) * self.step)

    def share(self, samples: float, seconds: float, error: float = math.inf) -> float:
        """Progress, 0 to 1, by samples, time or error, whichever is nearest its end; the samples for an error grow with
        its inverse square. error : as of `reason`."""
        by_time = seconds / self.seconds if self.seconds else 0.0
        by_error = (self.error / error) ** 2 if self.error is not None and error > 0 else 0.0
        return min(1.0, max(samples / self.spp, by_time, by_error))

    def reason(self, samples: int, seconds: float, error: float | None = None) -> str:
        """Why to stop after ``samples`` per pixel and ``seconds``: ``spp``, ``time`` or ``error``; empty: go on.
        error : the `bound` of the relative error with these samples; None where `needs_error` is false."""
        if samples >= self.spp:
            return "spp"
        if self.seconds is not None and seconds >= self.seconds:
            return "time"
        if self.error is not None and error is not None and samples >= MIN_ERROR_SAMPLES:
            self._last_check = samples
            if error <= self.error:
                return "error"
        return ""


def stop_of(spp: Any, time: Any, error: Any, quality: Any = None, tolerance: float = 1.0) -> Stop:
    """The rules by the values of these options; without an ``error``, that of a ``quality`` times ``tolerance``. Raises
    ViewerError for a value out of range."""
    spp, time, error, quality = check("spp", spp), check("time", time), check("error", error), check("quality", quality)
    step = 0
    if quality is not None and error is None:
        error, step = QUALITIES[quality][0] * tolerance, MIN_ERROR_SAMPLES
    return Stop(sample_limit(spp, time, error, quality), time, error, step)


# -- the convergence of a film's mean, measured ------------------------------------------------------------------------

FIRST_HALF = 4  # samples of the first stored half: earlier ones say little
RECENT_WEIGHT = 0.6  # weight of a difference relative to the next: later ones predict better
EARLIER_SHARE = 0.35  # share of the earlier measurements in a measured variance
RATES = (0.5, 0.25)  # ratio V(n) / V(n / 2): independent samples, stratified ones
MIN_RATE = 0.125  # the same by Owen, for smooth integrands
# The fields differences, variances and relative_std_errors of `Halves`.
ConvergenceHistory = tuple[dict[int, float], dict[int, float], dict[int, float]]
RATE_LEVELS = 2  # between the two differences that a rate is estimated from: that of neighbours is noisy


@dataclass
class Halves:
    """Halves of a film's samples.

    sum, count  : (H, W) float32, luminance of each pixel's sum at the last power of two of samples, and that count.
    differences : by k, the mean over the picture of the squared luminance difference between the means of both halves
                  of the first 2^k samples.
    variances   : by k, the variance of the mean of the first 2^k samples, averaged over the picture, as measured then.
    relative_std_errors : by k, the relative standard error of its root, see `relative_std_error`.
    """

    sum: NDArray[np.float32]
    count: NDArray[np.float32]
    differences: dict[int, float] = field(default_factory=dict)
    variances: dict[int, float] = field(default_factory=dict)
    relative_std_errors: dict[int, float] = field(default_factory=dict)

    def history(self) -> ConvergenceHistory:
        """Copies of the three dictionaries."""
        return dict(self.differences), dict(self.variances), dict(self.relative_std_errors)


def latest(relative_std_errors: Mapping[int, float]) -> float:
    """The value of the highest level; 0 for none."""
    return relative_std_errors[max(relative_std_errors)] if relative_std_errors else 0.0


def is_half(samples: int) -> bool:
    """Whether the sums at ``samples`` are stored, as the first half of twice as many."""
    return samples >= FIRST_HALF and samples & (samples - 1) == 0


def round_ends(before: int, samples: int) -> list[int]:
    """The sample counts at which rounds from ``before`` to ``samples`` end: powers of two, whose sums are stored, and
    ``samples``."""
    powers = [1 << k for k in range(FIRST_HALF.bit_length() - 1, samples.bit_length())]
    return [*(power for power in powers if before < power < samples), samples]


def variance_of_mean(
    spread: float, samples: int, differences: Mapping[int, float], variances: Mapping[int, float] | None = None
) -> float:
    """V(n), the variance of the mean of n = ``samples``, averaged over a picture's pixels. spread : variance of the
    mean of n independent samples, s^2 / n. differences, variances : as in `Halves`; entries beyond n samples are
    ignored. Without differences the result is the spread."""
    levels = np.array(sorted(level for level in differences if 1 << level <= samples), int)
    if not len(levels) or spread <= 0:
        return spread
    measured = np.array([differences[level] / 4.0 for level in levels.tolist()])
    rates = np.array(RATES)
    decreases = rates ** (levels[:, None] - 1) * (1.0 - rates)  # fractions of V(1): its decrease down to this level
    sigma = spread * samples
    sample_share = (
        (1.0 - rates ** math.log2(samples)) * samples / (samples - 1)
    )  # of each part of V(1) in the spread of the samples
    weights = RECENT_WEIGHT ** (levels[-1] - levels) / np.maximum(measured, 1e-6 * sigma * 0.25**levels)
    matrix = np.vstack([decreases * weights[:, None], sample_share / sigma])
    target = np.append(measured * weights, 1.0)
    a, b = _non_negative_least_squares(matrix, target)

    def fitted(k: float) -> float:
        return float(a * rates[0] ** k + b * rates[1] ** k)

    last, correction = int(levels[-1]), 1.0
    if fitted(last) > 0 and (variances or {}).get(last, 0.0) > 0:
        correction = _measured_ratio(variances or {}, fitted, last)
    elif fitted(last) > 0 and last - RATE_LEVELS in levels:
        correction = math.sqrt(_variance_by_rate(differences, last) / fitted(last))

    def variance_of_power(k: float) -> float:
        return correction * fitted(k)

    return min(_variance_at(variance_of_power, samples), spread) if a + b > 0 else spread


def _measured_ratio(variances: Mapping[int, float], fitted: Callable[[float], float], last: int) -> float:
    """Ratio of the measured to the fitted variances up to 2^last samples: a geometric mean in which each measurement
    leaves the earlier ones the share `EARLIER_SHARE`."""
    mean_log = 0.0
    for index, level in enumerate(sorted(level for level in variances if level <= last and variances[level] > 0)):
        log_ratio = math.log(variances[level] / fitted(level))
        mean_log = log_ratio if index == 0 else (1 - EARLIER_SHARE) * log_ratio + EARLIER_SHARE * mean_log
    return math.exp(mean_log)


def _variance_by_rate(differences: Mapping[int, float], level: int) -> float:
    """V at 2^level samples, from the last difference and the rate at which the last ones have decreased."""
    earlier = differences[level - RATE_LEVELS]
    rate = (differences[level] / earlier) ** (1 / RATE_LEVELS) if earlier > 0 else RATES[0]
    rate = min(max(rate, MIN_RATE), RATES[0])
    return differences[level] / 4 * rate / (1 - rate)


def _variance_at(variance_of_power: Callable[[float], float], samples: int) -> float:
    """V at any sample count, of a net of the largest power of two p and m more points. variance_of_power : V at 2^k.
    All parts of the next p points are alike, so the covariance of both means is that of the halves of 2 p points,
    2 V(2 p) - V(p)."""
    k = samples.bit_length() - 1
    p, m = 1 << k, samples - (1 << k)
    if m == 0:
        return variance_of_power(k)
    v_p, v_2p, v_m = variance_of_power(k), variance_of_power(k + 1), _variance_at(variance_of_power, m)
    return max((p * p * v_p + m * m * v_m + 2 * p * m * (2.0 * v_2p - v_p)) / samples**2, v_2p)


def _non_negative_least_squares(matrix: NDArray[np.float64], target: NDArray[np.float64]) -> tuple[float, float]:
    """The non-negative least squares solution of two unknowns."""
    solution = np.linalg.lstsq(matrix, target, rcond=None)[0]
    if (solution >= 0).all():
        return float(solution[0]), float(solution[1])
    single = np.maximum(matrix.T @ target, 0.0) / np.einsum("ij,ij->j", matrix, matrix)
    residuals = [float(np.sum((matrix[:, k] * single[k] - target) ** 2)) for k in (0, 1)]
    return (float(single[0]), 0.0) if residuals[0] <= residuals[1] else (0.0, float(single[1]))


@dataclass(frozen=True)
class SampleBudget:
    """The sample counts granted to pixels; see `raystream.film.adaptive`.

    granted : (H, W) float32, samples per pixel in the end.
    half_difference : (H, W) float32, luminance difference of the means of the two halves of the first half.
    error   : the estimated relative error at the last decision.
    efficiency, relative_std_error : as of `raystream.film.film.Film`, at the last decision.
    """

    granted: NDArray[np.float32]
    half_difference: NDArray[np.float32]
    error: float = math.inf
    efficiency: float = 1.0
    relative_std_error: float = 0.0


# -- the variance of a film's means, measured between neighbouring pixels ----------------------------------------------
# For halves A and B of n samples, nets of n / 2 points each, the mean is X = (A + B) / 2. With d = A - B its
# variance is V(n) = E[d^2] / 4 + Cov(A, B). The covariance is the gain of n points over two nets of n / 2. In one
# pixel it cannot be separated from the square of the expected value, but between two pixels of equal expected value
# it can: (X_i - X_j)^2 and (d_i - d_j)^2 are then pure errors, however correlated, and their ratio is that of V(n)
# to E[d^2]. The sums run over horizontal and over vertical pairs of pixels in a block. A picture may be smooth in
# only one direction, as along a lamp's edge, so the smaller ratio counts. A texture raises the ratio above its
# upper limit of 1 / 4, that of independent samples, plus some noise.
# Where the picture is not smooth in either direction, as at a slanted edge, the estimate comes from the samples'
# own variance s^2 = V(1): V(n) = s^2 / n^a gives E[d^2] = 4 (2^a - 1) V(n), and hence a: 1 for independent samples,
# 1.5 for an edge through a two-dimensional net. Convergence that slows down, as with distant lights, has a smaller
# a in the end. The result is therefore the geometric mean of this ratio and that of the differences' rate.

EDGE = 8  # pixels along a block's edge: larger blocks are less often smooth, smaller minima are biased low by noise
INDEPENDENT = 0.25  # V by the squared difference of the halves for independent samples: the upper limit of all nets
MAX_SMOOTH_RATIO = 0.35  # the largest ratio that counts as smooth
EXPONENTS = np.linspace(1.0, 3.0, 65)  # exponents a, from independent samples to Owen's rate of smooth integrands


def blocks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(rows, columns) sums of values (H, W) over blocks of `EDGE` x `EDGE` pixels."""
    height, width = values.shape
    padded = np.pad(values.astype(np.float64), ((0, -height % EDGE), (0, -width % EDGE)))
    sums: NDArray[np.float64] = padded.reshape(padded.shape[0] // EDGE, EDGE, -1, EDGE).sum(axis=(1, 3))
    return sums


def block_sums(
    mean: NDArray[np.floating], half_difference: NDArray[np.floating], mask: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """(rows, columns, 5) sums over blocks of `EDGE` x `EDGE` pixels: half_difference^2; squared differences of
    ``mean`` and of ``half_difference`` between horizontal neighbours; the same between vertical neighbours. Pairs lie
    within a block.

    mean, half_difference : (H, W), X and d. mask : (H, W) of pixels, by default all. The twin of
    ``shaders/film/error.glsl``.
    """
    height, width = mean.shape
    padding = (0, -height % EDGE), (0, -width % EDGE)
    x, d = (np.pad(values.astype(np.float64), padding) for values in (mean, half_difference))
    mask = np.pad(np.ones(mean.shape, bool) if mask is None else mask, padding)
    shape = x.shape[0] // EDGE, EDGE, x.shape[1] // EDGE, EDGE
    x, d, mask = (values.reshape(shape) for values in (x, d, mask))
    sums = [np.where(mask, d * d, 0.0).sum(axis=(1, 3))]
    for axis in (3, 1):
        first, second = (np.moveaxis(mask, axis, 0)[cut] for cut in (slice(None, -1), slice(1, None)))
        pairs = np.moveaxis(first & second, 0, axis)
        sums += [(np.where(pairs, np.diff(values, axis=axis), 0.0) ** 2).sum(axis=(1, 3)) for values in (x, d)]
    return np.stack(sums, axis=-1)


def ratios(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows, columns) V by the squared difference of the halves, of blocks with these sums; NaN where the picture is
    not smooth or the error is zero."""
    horizontal, vertical = (
        np.divide(sums[..., k], sums[..., k + 1], out=np.full(sums.shape[:-1], np.inf), where=sums[..., k + 1] > 0)
        for k in (1, 3)
    )
    ratio = np.minimum(horizontal, vertical)
    return np.where(ratio <= MAX_SMOOTH_RATIO, ratio, np.nan)


def ratios_by_spread(squares: NDArray[np.float64], spreads: NDArray[np.float64], samples: int) -> NDArray[np.float64]:
    """(...) V(n) by the squared difference of the halves, from the exponent a fitted as above. squares : (...) sums of
    the squared differences. spreads : (...) of s^2 / n, the same pixels'. samples : n, above 4."""
    logs = np.log(2.0**EXPONENTS - 1.0) - (EXPONENTS - 1.0) * math.log(
        samples
    )  # of E[d^2] / (4 s^2 / n), which falls with a
    valid = (squares > 0) & (spreads > 0)
    log_ratios = np.log(np.where(valid, squares, 1.0)) - np.log(np.where(valid, 4.0 * spreads, 1.0))
    exponents = np.interp(-log_ratios, -logs, EXPONENTS)
    factors: NDArray[np.float64] = np.where(valid, INDEPENDENT / (2.0**exponents - 1.0), INDEPENDENT)
    return factors


def neighbour_variances(
    sums: NDArray[np.float64], spreads: NDArray[np.float64], level: int, pixels: int, differences: Mapping[int, float]
) -> NDArray[np.float64]:
    """(rows, columns) the sum of V(n), the variance of the mean of n = 2^level samples, over each block's pixels.
    sums : `block_sums`. spreads : (rows, columns) sums of the variances of means of independent samples. pixels : of
    the picture. differences : as for `variance_of_mean`; their rate is used where the picture is not smooth."""
    total = differences[level]
    if total <= 0:
        return np.zeros(sums.shape[:-1])
    rate_ratio = min(variance_of_mean(float(np.sum(spreads)) / pixels, 1 << level, differences) / total, INDEPENDENT)
    measured = ratios(sums)
    rough = np.sqrt(rate_ratio * ratios_by_spread(sums[..., 0], spreads, 1 << level))
    variances: NDArray[np.float64] = np.where(np.isnan(measured), rough, measured) * sums[..., 0]
    return variances


def relative_std_error(parts: NDArray[np.float64]) -> float:
    """The relative standard error of an error whose square is the sum of ``parts`` (...), the estimates of blocks. Each
    estimate counts as one squared normal deviate, whose standard deviation is sqrt(2) of its mean: an error of few
    blocks, as at the edges of a lamp, is uncertain. 0 for a zero error."""
    total = float(np.sum(parts))
    return math.sqrt(float(np.sum((parts / total) ** 2)) / 2) if total > 0 else 0.0
