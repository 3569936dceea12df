"""Pictures against pictures: luminance means of 16 x 16 blocks, what they spread by, and how likely they differ so.

The samples of every pixel are independent of each other and of all other pixels' (``--sampler independent``), so that
each is a batch of its own: a pixel's variance comes from all its samples (16 or more), and that of a block's mean is
the sum of its pixels'. `test_references.py` checks that against batches of other seeds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.film.film import LUMINANCE, Film

EDGE = 16  # pixels of a block's side
RIGHT = 1e-5  # relative: what the rounding of float32 leaves between blocks that do not spread at all
WEIGHTS = LUMINANCE.astype(np.float64)


@dataclass(frozen=True)
class Blocks:
    """Means of blocks and of the whole picture, with their standard errors; luminance, linear sRGB.

    mean, error : (h, w) float64. total : the picture's mean and its standard error.
    """

    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    total: tuple[float, float]


def means(values: NDArray, edge: int = EDGE) -> NDArray[np.float64]:
    """(h, w): the means over blocks of (H, W), whose sides the edge divides."""
    height, width = values.shape
    return values.astype(np.float64).reshape(height // edge, edge, width // edge, edge).mean(axis=(1, 3))


def of_variance(mean: NDArray, variance: NDArray) -> Blocks:
    """From (H, W) pixels' luminances and the variances of those."""
    error = np.sqrt(means(variance) / EDGE**2)
    return Blocks(means(mean), error, (float(mean.mean()), math.sqrt(float(variance.mean()) / variance.size)))


def of_film(film: Film) -> Blocks:
    """From a film of independent samples."""
    return of_variance(film.mean().astype(np.float64) @ WEIGHTS, film.variance())


def of_reference(mean: NDArray, error: NDArray) -> Blocks:
    """From (H, W, 3) means and standard errors. Channels of one path rise and fall together, so that their errors add
    up; were they independent, the luminance's would be up to a third smaller."""
    return of_variance(mean.astype(np.float64) @ WEIGHTS, (error.astype(np.float64) @ WEIGHTS) ** 2)


def scores(one: Blocks, other: Blocks, share: float = 0.0) -> NDArray[np.float64]:
    """(N,): standard scores of the blocks that spread. Raises AssertionError where blocks that do not are not equal.

    share : of samples of one by those of the other, a reference of many more: one's errors are then not taken for less
    than the other's at that count. Rare bright paths that have not come yet, as of a caustic, would hide both from the
    mean and from the error.
    """
    least = other.error / math.sqrt(share) if share else 0.0
    spread = np.hypot(np.maximum(one.error, least), other.error)
    apart = one.mean - other.mean
    still = spread <= RIGHT * np.maximum(np.abs(other.mean), 1e-6)
    assert (np.abs(apart[still]) <= RIGHT * np.maximum(1.0, np.abs(other.mean[still]))).all()
    return apart[~still] / spread[~still]


def score_of_means(one: Blocks, other: Blocks) -> float:
    """The standard score of the pictures' means."""
    return (one.total[0] - other.total[0]) / max(math.hypot(one.total[1], other.total[1]), 1e-30)


def chi_square_tail(value: float, degrees: int) -> float:
    """The probability of a chi-square sum of so many degrees of freedom beyond a value, to 2 % of itself where
    they are more than 30 (E. B. Wilson and M. M. Hilferty, The Distribution of Chi-Square, 1931)."""
    share = 2.0 / (9.0 * degrees)
    return 0.5 * math.erfc(((value / degrees) ** (1.0 / 3.0) - (1.0 - share)) / math.sqrt(2.0 * share))


def normal_tail(score: float) -> float:
    """The probability of a normal variable so far from its mean, to either side."""
    return math.erfc(abs(score) / math.sqrt(2.0))
