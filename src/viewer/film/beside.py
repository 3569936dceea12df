"""The variance of a film's means, measured by neighbours.

Of halves A and B of n samples, nets of n / 2 points each, the mean is X = (A + B) / 2, and with d = A - B its variance
is V(n) = E[d^2] / 4 + Cov(A, B). The covariance tells how much better n points are than two nets of half as many; in
one pixel it cannot be told from the square of what the pixel is to become, but between two that are to become the same
it can: (X_i - X_j)^2 and (d_i - d_j)^2 are then errors alone, however these go with each other, and V(n) is to E[d^2]
as the former is to the latter. So it is summed over the pairs side by side of a block of pixels, and over those above
each other; where the picture is not smooth one way it may be the other way, and so the smaller ratio is taken, along
the edge of a lamp. A texture makes it larger than it can be: 1 / 4 for independent samples, and some more by chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from viewer.film.rate import variance_of_mean

EDGE = 8  # pixels along the edge of a block: of more few are smooth, of fewer the smaller ratio is too small by chance
INDEPENDENT = 0.25  # V by the squared difference of the halves, of independent samples: no net's is larger
SMOOTH = 0.35  # the largest ratio that is believed


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
        np.divide(sums[..., k], sums[..., k + 1], out=np.full(sums.shape[:2], np.inf), where=sums[..., k + 1] > 0)
        for k in (1, 3)
    )
    least = np.minimum(across, down)
    return np.where(least <= SMOOTH, least, np.nan)


def variance_beside(
    sums: NDArray[np.float64], pixels: int, level: int, spread: float, differences: Mapping[int, float]
) -> float:
    """V(n), the variance of the mean of n = 2^level samples, the mean over so many pixels; 0 where nothing errs.

    sums : `block_sums`. spread, differences : as for `viewer.film.rate.variance_of_mean`, whose rate serves what is not
    smooth, as the geometric mean with that of independent samples: there few differences are all that is known.
    """
    total = differences[level]
    if total <= 0:
        return 0.0
    far = min(variance_of_mean(spread, 1 << level, differences) / total, INDEPENDENT)
    each = ratios(sums)
    each = np.where(np.isnan(each), math.sqrt(far * INDEPENDENT), each)
    return float(np.sum(each * sums[..., 0])) / pixels
