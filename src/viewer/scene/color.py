"""Texels as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def linear_texels(texels: NDArray, color: bool) -> NDArray[np.float64]:
    """(H, W, 4) of uint8, uint16 or float16 as linear numbers; ``color``: red, green and blue of integers are
    sRGB-encoded (IEC 61966-2-1)."""
    if texels.dtype == np.float16:
        return texels.astype(np.float64)
    most = np.iinfo(texels.dtype).max
    linear = np.arange(most + 1) / most
    values = linear[texels]
    if color:
        values[..., :3] = np.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)[
            texels[..., :3]
        ]
    return values
