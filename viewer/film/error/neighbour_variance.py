"""The variance of a film's means, measured by neighbours.

Of halves A and B of n samples, nets of n / 2 points each, the mean is X = (A + B) / 2, and with d = A - B its variance
is V(n) = E[d^2] / 4 + Cov(A, B). The covariance tells how much better n points are than two nets of half as many; in
one pixel it cannot be told from the square of what the pixel is to become, but between two that are to become the same
it can: (X_i - X_j)^2 and (d_i - d_j)^2 are then errors alone, however these go with each other, and V(n) is to E[d^2]
as the former is to the latter. So it is summed over the pairs side by side of a block of pixels, and over those above
each other; where the picture is not smooth one way it may be the other way, and so the smaller ratio is taken, along
the edge of a lamp. A texture makes it larger than it can be: 1 / 4 for independent samples, and some more by chance.

Where it is not smooth, as where an edge runs aslant, the samples themselves tell: one has the variance s^2 = V(1), and
V(n) = s^2 / n^a then gives E[d^2] = 4 (2^a - 1) V(n), of which a is known by both: 1 of independent samples, 1.5 of an
edge through a net of two dimensions. What converges fast at first and slowly then, as lights far off, is of a smaller a
than that in the end; so this ratio is taken with that of the rate at which differences fall, their geometric mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from viewer.film.error.convergence import variance_of_mean

EDGE = 8  # pixels along the edge of a block: of more few are smooth, of fewer the smaller ratio is too small by chance
INDEPENDENT = 0.25  # V by the squared difference of the halves, of independent samples: no net's is larger
SMOOTH = 0.35  # the largest ratio that is believed
POWERS = np.linspace(1.0, 3.0, 65)  # a, from that of independent samples to Owen's of what is smooth


def blocks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(rows, columns) sums of values (H, W) over blocks of `EDGE` x `EDGE` pixels."""
    height, width = values.shape
    padded = np.pad(values.astype(np.float64), ((0, -height % EDGE), (0, -width % EDGE)))
    found: NDArray[np.float64] = padded.reshape(padded.shape[0] // EDGE, EDGE, -1, EDGE).sum(axis=(1, 3))
    return found


def block_sums(
    mean: NDArray[np.floating], apart: NDArray[np.floating], of: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """(rows, columns, 5) sums over blocks of `EDGE` x `EDGE` pixels: of apart^2; of the squared differences of ``mean``
    and of ``apart`` between pixels side by side; of both between pixels above each other. Pairs lie within a block.

    mean, apart : (H, W), X and d. of : (H, W) the pixels that count, all without. The twin of
    ``shaders/film/error.glsl``.
    """
    height, width = mean.shape
    room = (0, -height % EDGE), (0, -width % EDGE)
    x, d = (np.pad(each.astype(np.float64), room) for each in (mean, apart))
    there = np.pad(np.ones(mean.shape, bool) if of is None else of, room)
    shape = x.shape[0] // EDGE, EDGE, x.shape[1] // EDGE, EDGE
    x, d, there = (each.reshape(shape) for each in (x, d, there))
    found = [np.where(there, d * d, 0.0).sum(axis=(1, 3))]
    for axis in (3, 1):
        first, second = (np.moveaxis(there, axis, 0)[cut] for cut in (slice(None, -1), slice(1, None)))
        pairs = np.moveaxis(first & second, 0, axis)
        found += [(np.where(pairs, np.diff(each, axis=axis), 0.0) ** 2).sum(axis=(1, 3)) for each in (x, d)]
    return np.stack(found, axis=-1)


def ratios(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rows, columns) V by the squared difference of the halves, of blocks with these sums; NaN where the picture is
    not smooth, or nothing errs."""
    across, down = (
        np.divide(sums[..., k], sums[..., k + 1], out=np.full(sums.shape[:-1], np.inf), where=sums[..., k + 1] > 0)
        for k in (1, 3)
    )
    least = np.minimum(across, down)
    return np.where(least <= SMOOTH, least, np.nan)


def ratios_by_spread(squares: NDArray[np.float64], spreads: NDArray[np.float64], samples: int) -> NDArray[np.float64]:
    """(...) V(n) by the squared difference of the halves, as one power of n tells it, see above.

    squares : (...) sums of the squared differences. spreads : (...) of s^2 / n, the same pixels'. samples : n, above 4.
    """
    fallen = 2.0**POWERS - 1.0
    logs = np.log(fallen) - (POWERS - 1.0) * math.log(samples)  # of E[d^2] / (4 s^2 / n): the larger a, the less
    known = (squares > 0) & (spreads > 0)
    seen = np.log(np.where(known, squares, 1.0)) - np.log(np.where(known, 4.0 * spreads, 1.0))
    powers = np.interp(-seen, -logs, POWERS)
    found: NDArray[np.float64] = np.where(known, INDEPENDENT / (2.0**powers - 1.0), INDEPENDENT)
    return found


def variances_beside(
    sums: NDArray[np.float64], spreads: NDArray[np.float64], level: int, pixels: int, differences: Mapping[int, float]
) -> NDArray[np.float64]:
    """(rows, columns) of each block the sum over its pixels of V(n), the variance of the mean of n = 2^level samples.

    sums : `block_sums`. spreads : (rows, columns) sums of the variances that independent samples' means would have.
    pixels : of the picture. differences : as for `viewer.film.error.convergence.variance_of_mean`, whose rate has a say
    in what is not smooth.
    """
    total = differences[level]
    if total <= 0:
        return np.zeros(sums.shape[:-1])
    far = min(variance_of_mean(float(np.sum(spreads)) / pixels, 1 << level, differences) / total, INDEPENDENT)
    each = ratios(sums)
    rough = np.sqrt(far * ratios_by_spread(sums[..., 0], spreads, 1 << level))
    found: NDArray[np.float64] = np.where(np.isnan(each), rough, each) * sums[..., 0]
    return found


def doubt(parts: NDArray[np.float64]) -> float:
    """The relative standard error of an error whose square is the sum of ``parts`` (...), the estimates of blocks.

    Each is taken for one squared normal deviate, whose standard deviation is sqrt(2) of its mean: little is known of an
    error that few blocks make, as at the edges of a lamp. 0 where nothing errs.
    """
    total = float(np.sum(parts))
    return math.sqrt(float(np.sum((parts / total) ** 2)) / 2) if total > 0 else 0.0
