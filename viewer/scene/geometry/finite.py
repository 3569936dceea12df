"""Values that are not numbers in arrays of a file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def finite_uvs(uvs: NDArray, warnings: list[str]) -> NDArray:
    """Texture coordinates (V, 2), with 0 for those that float32 does not hold, and a warning with their number."""
    finite = np.abs(uvs) <= np.finfo(np.float32).max
    if finite.all():
        return uvs
    astray = int(np.count_nonzero(~finite.all(axis=1)))
    warnings.append(f"{astray:,} texture coordinates are not finite; 0 instead")
    return np.where(finite, uvs, uvs.dtype.type(0.0))
