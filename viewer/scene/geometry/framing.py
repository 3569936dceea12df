"""The default view of a scene without a camera: a three-quarter view from a little above, which the model fills."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.camera import LEAST_ASPECT, Camera

# Degrees: the camera's way round about +Y from +Z towards +X, and its height above the horizon.
AROUND, ABOVE = 35.0, 15.0
AROUND_PANEL, AROUND_PROFILE = 12.0, 58.0  # of what has no depth, as a chart, and of what has no width
ABOVE_PLATE = 35.0  # of what has no height
THIN = 0.35  # an extent that is less of the larger one of the other two changes the view, the more the less it is
FILL = 0.75  # of a picture's width or height, which a silhouette fills
CENTRINGS = 16  # steps by which a silhouette is centred; few suffice
LENS = 30.0  # vertical field of view, degrees: of a lens for products rather than for rooms


def overview(
    points: NDArray[np.float64],
    aspect: float = 1.0,
    direction: Sequence[float] | None = None,
    name: str = "camera",
) -> Camera:
    """The default view of a model with these outermost points (K, 3), in pictures of that aspect (width / height).
    direction : from the model towards the camera; None: that of `view_direction`."""
    return filling(points, LENS, view_direction(points) if direction is None else direction, aspect, name)


def filling(
    points: ArrayLike,
    fov: float = 40.0,
    direction: Sequence[float] = (0.35, 0.25, 1.0),
    aspect: float = 1.0,
    name: str = "camera",
) -> Camera:
    """A camera in whose pictures of that aspect, width / height, points fill `FILL` of the width or of the height,
    whichever comes first, and lie in the middle along both.

    points : (N, 3), scene units; of none, or where they are all one, a unit cube takes their place. direction :
    from them towards the camera.
    """
    placed = np.asarray(points, np.float64).reshape(-1, 3)
    low, high = (placed.min(axis=0), placed.max(axis=0)) if len(placed) else (np.zeros(3), np.zeros(3))
    middle = low + (high - low) / 2
    smallest = 1e-9 * np.abs(middle).max()  # float64 must still separate origin and target
    if (high - low).max() <= 2 * smallest:
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        placed = middle + max(0.5, smallest) * corners
    towards = -direction[0], -direction[1], -direction[2]
    right, up, forward = Camera((0.0, 0.0, 0.0), towards, fov=fov, name=name).basis()
    x, y, z = ((placed - middle) @ np.stack([right, up, forward], axis=1)).T
    tall = FILL * math.tan(math.radians(fov) / 2)
    closest = 0.1 * float(np.ptp(placed, axis=0).max())  # keeps a line along the view in front of the camera
    wide = tall * max(aspect, LEAST_ASPECT)
    distance = max(_least_distance(x, z, wide), _least_distance(y, z, tall), closest - float(z.min()))
    target = middle + _centre(x, z, distance) * right + _centre(y, z, distance) * up
    return Camera(tuple(target - distance * forward), tuple(target), fov=fov, name=name)


def view_direction(points: NDArray[np.float64]) -> tuple[float, float, float]:
    """From the model towards the camera, unit length; by its extents alone, so that it does not depend on its size."""
    width, height, depth = np.ptp(points, axis=0).tolist() if len(points) else (1.0, 1.0, 1.0)
    around = AROUND + (AROUND_PANEL - AROUND) * _thinness(depth, width, height)
    around += (AROUND_PROFILE - AROUND) * _thinness(width, depth, height)
    above = ABOVE + (ABOVE_PLATE - ABOVE) * _thinness(height, width, depth)
    a, e = math.radians(around), math.radians(above)
    return math.cos(e) * math.sin(a), math.sin(e), math.cos(e) * math.cos(a)


def _thinness(extent: float, *other_extents: float) -> float:
    """0 for an extent of at least `THIN` of the larger other one, 1 for none."""
    least = THIN * max(other_extents)
    return 1.0 - min(extent / least, 1.0) if least > 0 else 0.0


def _least_distance(x: NDArray[np.float64], z: NDArray[np.float64], slope: float) -> float:
    """From which points at ``x`` (N,), ``z`` (N,) beyond the origin, lie between two rays of these slopes."""
    return float((x - slope * z).max() + (-x - slope * z).max()) / (2 * slope)


def _centre(x: NDArray[np.float64], z: NDArray[np.float64], distance: float) -> float:
    """The place across the view from which, at that distance, points at ``x`` (N,), ``z`` (N,) beyond the origin, reach
    equally far to both sides: Newton's method on the slope of the rays around them, from below, of which the points
    that decide are a convex function."""
    slope = 0.0
    for _ in range(CENTRINGS):
        first, last = (x - slope * z).argmax(), (-x - slope * z).argmax()
        next_slope = float((x[first] - x[last]) / (2 * distance + z[first] + z[last]))
        if next_slope <= slope:
            break
        slope = next_slope
    return float((x - slope * z).max() - (-x - slope * z).max()) / 2
