"""Texels as numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def linear_texels(texels: NDArray, color: bool) -> NDArray[np.float64]:
    """(H, W, 4) of uint8, uint16 or float16 as linear numbers; ``color``: red, green and blue of integers are
    sRGB-encoded (IEC 61966-2-1)."""
    values = texels.astype(np.float64)
    if texels.dtype == np.float16:
        return values
    values /= np.iinfo(texels.dtype).max
    if color:
        rgb = values[..., :3]
        values[..., :3] = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return values
