"""The default view of a scene without a camera: a three-quarter view from a little above, which the model fills."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from viewer.scene.camera import Camera

# Degrees: the camera's way round about +Y from +Z towards +X, and its height above the horizon.
AROUND, ABOVE = 35.0, 15.0
AROUND_PANEL, AROUND_PROFILE = 12.0, 58.0  # of what has no depth, as a chart, and of what has no width
ABOVE_PLATE = 35.0  # of what has no height
THIN = 0.35  # an extent that is less of the larger one of the other two changes the view, the more the less it is
LENS = 30.0  # vertical field of view, degrees: of a lens for products rather than for rooms


def overview(points: NDArray[np.float64], aspect: float = 1.0, name: str = "camera") -> Camera:
    """The default view of a model with these outermost points (K, 3), in pictures of that aspect (width / height)."""
    return Camera.filling(points, LENS, view_direction(points), aspect, name)


def view_direction(points: NDArray[np.float64]) -> tuple[float, float, float]:
    """From the model towards the camera, unit length; by its extents alone, so that it does not depend on its size."""
    width, height, depth = np.ptp(points, axis=0).tolist() if len(points) else (1.0, 1.0, 1.0)
    around = AROUND + (AROUND_PANEL - AROUND) * _thinness(depth, width, height)
    around += (AROUND_PROFILE - AROUND) * _thinness(width, depth, height)
    above = ABOVE + (ABOVE_PLATE - ABOVE) * _thinness(height, width, depth)
    a, e = math.radians(around), math.radians(above)
    return math.cos(e) * math.sin(a), math.sin(e), math.cos(e) * math.cos(a)


def _thinness(extent: float, *others: float) -> float:
    """0 for an extent of at least `THIN` of the larger other one, 1 for none."""
    least = THIN * max(others)
    return 1.0 - min(extent / least, 1.0) if least > 0 else 0.0
