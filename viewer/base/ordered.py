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
    """Where that fraction of ascending values lies below, between two of them as ``np.quantile`` has it, to the bit."""
    position = (len(ordered) - 1) * fraction
    below = int(position)
    low, high = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)])
    part = position - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)
