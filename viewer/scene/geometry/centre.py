"""Vertices of files as float32 holds them: far from the origin relative to their centre, and texture coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.mesh import Float

# Distance from the origin, in edges of the box, from which float32 rounds by more than a millionth of the edge.
FAR = 16.0


def centred(positions: ArrayLike) -> tuple[Float, NDArray[np.float64]]:
    """Positions (V, 3) as float32 relative to a centre, and the map (4, 4) that puts them back; the identity where they
    lie near the origin, or float32 holds them as they are."""
    places = np.asarray(positions)
    transform = np.eye(4)
    with np.errstate(over="ignore", invalid="ignore"):  # overflows become infinite, and are counted later
        near = places.astype(np.float32)
        if places.dtype != np.float64 or not len(places):
            return near, transform
        finite = np.isfinite(near).all(axis=1)
        finite_places = places if finite.all() else places[finite]
        if not len(finite_places):
            return near, transform
        low, high = finite_places.min(axis=0), finite_places.max(axis=0)
        edge = float((high - low).max())
        if not 0.0 < edge < max(float(np.abs(low).max()), float(np.abs(high).max())) / FAR:
            return near, transform
        if (near[finite] == finite_places).all():
            return near, transform
        transform[:3, 3] = np.round((low + high) / 2.0)
        return (places - transform[:3, 3]).astype(np.float32), transform


def finite_uvs(uvs: NDArray, warnings: list[str]) -> NDArray:
    """Texture coordinates (V, 2), with 0 for those that float32 does not hold, and a warning with their number."""
    finite = np.abs(uvs) <= np.finfo(np.float32).max
    if finite.all():
        return uvs
    astray = int(np.count_nonzero(~finite.all(axis=1)))
    warnings.append(f"{astray:,} texture coordinates are not finite; 0 instead")
    return np.where(finite, uvs, uvs.dtype.type(0.0))
