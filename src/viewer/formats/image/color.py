"""Colour encodings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def linear_from_srgb(encoded: NDArray) -> NDArray[np.float64]:
    """Linear values of sRGB-encoded ones, both 0 .. 1 (IEC 61966-2-1)."""
    encoded = np.asarray(encoded, np.float64)
    return np.where(encoded <= 0.04045, encoded / 12.92, ((np.maximum(encoded, 0.0) + 0.055) / 1.055) ** 2.4)
