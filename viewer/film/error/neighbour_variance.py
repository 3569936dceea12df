"""The variance of a film's means, measured between neighbouring pixels.

For halves A and B of n samples, nets of n / 2 points each, the mean is X = (A + B) / 2. With d = A - B its variance is
V(n) = E[d^2] / 4 + Cov(A, B). The covariance is the gain of n points over two nets of n / 2. In one pixel it cannot be
separated from the square of the expected value, but between two pixels of equal expected value it can: (X_i - X_j)^2
and (d_i - d_j)^2 are then pure errors, however correlated, and their ratio is that of V(n) to E[d^2]. The sums run over
horizontal and over vertical pairs of pixels in a block. A picture may be smooth in only one direction, as along a
lamp's edge, so the smaller ratio counts. A texture raises the ratio above its upper limit of 1 / 4, that of independent
samples, plus some noise.

Where the picture is not smooth in either direction, as at a slanted edge, the estimate comes from the samples' own
variance s^2 = V(1): V(n) = s^2 / n^a gives E[d^2] = 4 (2^a - 1) V(n), and hence a: 1 for independent samples, 1.5 for
an edge through a two-dimensional net. Convergence that slows down, as with distant lights, has a smaller a in the end.
The result is therefore the geometric mean of this ratio and that of the differences' rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from raystream.film.error.convergence import variance_of_mean

EDGE = 8  # pixels along a block's edge: larger blocks are less often smooth, smaller minima are biased low by noise
INDEPENDENT = 0.25  # V by the squared difference of the halves for independent samples: the upper limit of all nets
SMOOTH = 0.35  # the largest ratio that counts as smooth
POWERS = np.linspace(1.0, 3.0, 65)  # exponents a, from independent samples to Owen's rate of smooth integrands


def blocks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(rows, columns) sums of values (H, W) over blocks of `EDGE` x `EDGE` pixels."""
    height, width = values.shape
    padded = np.pad(values.astype(np.float64), ((0, -height % EDGE), (0, -width % EDGE)))
    sums: NDArray[np.float64] = padded.reshape(padded.shape[0] // EDGE, EDGE, -1, EDGE).sum(axis=(1, 3))
    return sums


def block_sums(
    mean: NDArray[np.floating], apart: NDArray[np.floating], of: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """(rows, columns, 5) sums over blocks of `EDGE` x `EDGE` pixels: apart^2; squared differences of ``mean`` and of
    ``apart`` between horizontal neighbours; the same between vertical neighbours. Pairs lie within a block.

    mean, apart : (H, W), X and d. of : (H, W) mask of pixels, by default all. The twin of ``shaders/film/error.glsl``.
    """
    height, width = mean.shape
    room = (0, -height % EDGE), (0, -width % EDGE)
    x, d = (np.pad(values.astype(np.float64), room) for values in (mean, apart))
    mask = np.pad(np.ones(mean.shape, bool) if of is None else of, room)
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
    least = np.minimum(horizontal, vertical)
    return np.where(least <= SMOOTH, least, np.nan)


def ratios_by_spread(squares: NDArray[np.float64], spreads: NDArray[np.float64], samples: int) -> NDArray[np.float64]:
    """(...) V(n) by the squared difference of the halves, from the exponent a fitted as above.

    squares : (...) sums of the squared differences. spreads : (...) of s^2 / n, the same pixels'. samples : n, above 4.
    """
    fallen = 2.0**POWERS - 1.0
    logs = np.log(fallen) - (POWERS - 1.0) * math.log(samples)  # of E[d^2] / (4 s^2 / n), which falls with a
    valid = (squares > 0) & (spreads > 0)
    log_ratios = np.log(np.where(valid, squares, 1.0)) - np.log(np.where(valid, 4.0 * spreads, 1.0))
    powers = np.interp(-log_ratios, -logs, POWERS)
    factors: NDArray[np.float64] = np.where(valid, INDEPENDENT / (2.0**powers - 1.0), INDEPENDENT)
    return factors


def neighbour_variances(
    sums: NDArray[np.float64], spreads: NDArray[np.float64], level: int, pixels: int, differences: Mapping[int, float]
) -> NDArray[np.float64]:
    """(rows, columns) the sum of V(n), the variance of the mean of n = 2^level samples, over each block's pixels.

    sums : `block_sums`. spreads : (rows, columns) sums of the variances of means of independent samples. pixels : of
    the picture. differences : as for `raystream.film.error.convergence.variance_of_mean`; their rate is used where the
    picture is not smooth.
    """
    total = differences[level]
    if total <= 0:
        return np.zeros(sums.shape[:-1])
    far = min(variance_of_mean(float(np.sum(spreads)) / pixels, 1 << level, differences) / total, INDEPENDENT)
    measured = ratios(sums)
    rough = np.sqrt(far * ratios_by_spread(sums[..., 0], spreads, 1 << level))
    variances: NDArray[np.float64] = np.where(np.isnan(measured), rough, measured) * sums[..., 0]
    return variances


def relative_std_error(parts: NDArray[np.float64]) -> float:
    """The relative standard error of an error whose square is the sum of ``parts`` (...), the estimates of blocks.

    Each estimate counts as one squared normal deviate, whose standard deviation is sqrt(2) of its mean: an error of few
    blocks, as at the edges of a lamp, is uncertain. 0 for a zero error.
    """
    total = float(np.sum(parts))
    return math.sqrt(float(np.sum((parts / total) ** 2)) / 2) if total > 0 else 0.0
