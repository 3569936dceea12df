"""Vertices far from the origin: relative to their centre, so that float32 holds their shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.scene.mesh import Float

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
        own = places if finite.all() else places[finite]
        if not len(own):
            return near, transform
        low, high = own.min(axis=0), own.max(axis=0)
        edge = float((high - low).max())
        if not 0.0 < edge < max(float(np.abs(low).max()), float(np.abs(high).max())) / FAR:
            return near, transform
        if (near[finite] == own).all():
            return near, transform
        transform[:3, 3] = np.round((low + high) / 2.0)
        return (places - transform[:3, 3]).astype(np.float32), transform
