"""How fast the mean of a film's samples converges, measured: its error is estimated at the sampler's own rate.

Sobol points fill the unit square evenly, so that their mean errs less than the spread of the samples tells of
independent ones. The spread of a net of n = 2^k points is that of one random scrambling of many; V(n), the variance of
its mean, cannot be seen in one net, but differences can: the halves of the first n samples are nets of n / 2 points,
equally distributed, and the mean of their squared difference is 4 (V(n / 2) - V(n)) (the Haar coefficients of Owen,
*Monte Carlo Variance of Scrambled Net Quadrature*, 1997). By these alone V(n) is taken for a / n + b / n^2, what such
points do not reach and what they stratify, with a and b by least squares; independent samples have b = 0. Where V
begins to fall faster after many samples that says too much, where it falls unevenly the rate of the last differences
alone is of chance: the estimate is the geometric mean of both.

What is beside a pixel tells more (`viewer.film.error.neighbour_variance`): at n = 2^k V(n) is measured where the
picture is smooth, and what the differences say of the rate serves the rest of the picture, and numbers in between.
Where few pixels make the error one such measurement is off by much, of its own chance; those of fewer samples, brought
to n by the fitted rate, have a say as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FIRST = 4  # samples of the first half that is kept: earlier ones would tell little more
RECENT = 0.6  # weight of a difference by that of the next: the later ones tell of what is coming
EARLIER = 0.35  # share that the measurements before have in a measured variance
RATES = (0.5, 0.25)  # of V by that of half as many samples: independent samples, stratified ones
FASTEST = 0.125  # Owen's rate of what is smooth
ConvergenceHistory = tuple[
    dict[int, float], dict[int, float], dict[int, float]
]  # differences, variances and doubts of `Halves`
STEPS = 2  # between the differences whose rate is taken: one alone may be of chance


@dataclass
class Halves:
    """Halves of a film's samples.

    sum, count  : (H, W) float32, of each pixel the luminance of its sum after so many samples, the last power of two.
    differences : by k, the mean over the picture of the squared difference of the means of the first and the second
                  half of the first 2^k samples, luminance.
    variances   : by k, the variance of the mean of the first 2^k samples, the mean over the picture, as measured then.
    doubts      : by k, the relative standard error of the root of that, see
    `viewer.film.error.neighbour_variance.doubt`.
    """

    sum: NDArray[np.float32]
    count: NDArray[np.float32]
    differences: dict[int, float] = field(default_factory=dict)
    variances: dict[int, float] = field(default_factory=dict)
    doubts: dict[int, float] = field(default_factory=dict)

    def told(self) -> ConvergenceHistory:
        """Copies of what the halves have told."""
        return dict(self.differences), dict(self.variances), dict(self.doubts)


def last_of(doubts: Mapping[int, float]) -> float:
    """What is known by most samples; 0 where nothing is."""
    return doubts[max(doubts)] if doubts else 0.0


def kept(samples: int) -> bool:
    """Whether the sums of so many samples are kept, as the first half of twice as many."""
    return samples >= FIRST and samples & (samples - 1) == 0


def ends(before: int, samples: int) -> list[int]:
    """Numbers of samples at which to stop on the way from ``before`` to ``samples``, which is the last."""
    powers = [1 << k for k in range(FIRST.bit_length() - 1, samples.bit_length())]
    return [*(power for power in powers if before < power < samples), samples]


def variance_of_mean(
    spread: float, samples: int, differences: Mapping[int, float], variances: Mapping[int, float] | None = None
) -> float:
    """V(n), the variance of the mean of n = ``samples``, of a picture's pixels on average.

    spread : the variance of n independent samples' mean, s^2 / n. differences, variances : see `Halves`; those of more
    than n samples are left out; without differences it is the spread.
    """
    levels = np.array(sorted(level for level in differences if 1 << level <= samples), int)
    if not len(levels) or spread <= 0:
        return spread
    seen = np.array([differences[level] / 4.0 for level in levels.tolist()])
    rates = np.array(RATES)
    shares = rates ** (levels[:, None] - 1) * (1.0 - rates)  # of V(1): by how much it falls to this level
    sigma = spread * samples
    inside = (1.0 - rates ** math.log2(samples)) * samples / (samples - 1)  # what the samples' own spread has of it
    weights = RECENT ** (levels[-1] - levels) / np.maximum(seen, 1e-6 * sigma * 0.25**levels)
    matrix = np.vstack([shares * weights[:, None], inside / sigma])
    target = np.append(seen * weights, 1.0)
    a, b = _not_negative(matrix, target)

    def fitted(k: float) -> float:
        return float(a * rates[0] ** k + b * rates[1] ** k)

    last, turned = int(levels[-1]), 1.0
    if fitted(last) > 0 and (variances or {}).get(last, 0.0) > 0:
        turned = _turned(variances or {}, fitted, last)
    elif fitted(last) > 0 and last - STEPS in levels:
        turned = math.sqrt(_by_last(differences, last) / fitted(last))

    def of_power(k: float) -> float:
        return turned * fitted(k)

    return min(_between(of_power, samples), spread) if a + b > 0 else spread


def _turned(variances: Mapping[int, float], fitted: Callable[[float], float], last: int) -> float:
    """The measured variances up to 2^last samples by the fitted ones: a geometric mean, in which each of them has the
    `EARLIER` share of those before it."""
    found = 0.0
    for number, level in enumerate(sorted(level for level in variances if level <= last and variances[level] > 0)):
        here = math.log(variances[level] / fitted(level))
        found = here if number == 0 else (1 - EARLIER) * here + EARLIER * found
    return math.exp(found)


def _by_last(differences: Mapping[int, float], level: int) -> float:
    """V of 2^level samples, by that difference and the rate at which the last ones have fallen."""
    before = differences[level - STEPS]
    rate = (differences[level] / before) ** (1 / STEPS) if before > 0 else RATES[0]
    rate = min(max(rate, FASTEST), RATES[0])
    return differences[level] / 4 * rate / (1 - rate)


def _between(of_power: Callable[[float], float], samples: int) -> float:
    """V of any number of samples: a net of the largest power of two p, and m more, of which all parts of the next p are
    alike, so that the covariance of the two means is that of the halves of 2 p, 2 V(2 p) - V(p)."""
    k = samples.bit_length() - 1
    p, m = 1 << k, samples - (1 << k)
    if m == 0:
        return of_power(k)
    first, whole = of_power(k), of_power(k + 1)
    rest = _between(of_power, m)
    return max((p * p * first + m * m * rest + 2 * p * m * (2.0 * whole - first)) / samples**2, whole)


def _not_negative(matrix: NDArray[np.float64], target: NDArray[np.float64]) -> tuple[float, float]:
    """The least squares of two unknowns that are not negative."""
    both = np.linalg.lstsq(matrix, target, rcond=None)[0]
    if (both >= 0).all():
        return float(both[0]), float(both[1])
    alone = np.maximum(matrix.T @ target, 0.0) / np.einsum("ij,ij->j", matrix, matrix)
    first, second = (float(np.sum((matrix[:, k] * alone[k] - target) ** 2)) for k in (0, 1))
    return (float(alone[0]), 0.0) if first <= second else (0.0, float(alone[1]))
