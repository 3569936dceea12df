"""Unique values and quantiles, but not through NumPy's ``unique``: that loads masked arrays first, which takes a
process as long as to read its first scene."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def distinct(values: NDArray) -> NDArray:
    """(D,) different values of an array in ascending order, as of ``np.unique``."""
    ordered = np.sort(values, axis=None)
    differs = np.ones(len(ordered), np.bool_)
    differs[1:] = ordered[1:] != ordered[:-1]
    return ordered[differs]


def quantile(ordered: NDArray[np.float64], fraction: float) -> float:
    """The quantile of ascending values (N,), interpolated as by ``np.quantile``, to the bit."""
    position = (len(ordered) - 1) * fraction
    index = int(position)
    low, high = float(ordered[index]), float(ordered[min(index + 1, len(ordered) - 1)])
    weight = position - index
    return low + (high - low) * weight if weight < 0.5 else high - (high - low) * (1 - weight)
