"""The default view of a scene without a camera: a three-quarter view from a little above, which the model fills."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.ordered import distinct
from raystream.scene.camera import MIN_ASPECT, Camera
from raystream.scene.geometry.batches import alike
from raystream.scene.geometry.bounds import SQUARE, finite_rows, used_points
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.vertices import transform_points
from raystream.scene.mesh import Instance, Mesh, meshes_of, transforms_of
from raystream.scene.quadric import Quadric

# -- the outermost vertices of a scene: those that its silhouette can go through, from any side ------------------------

Float = NDArray[np.float64]

DIRECTIONS = 128  # in which vertices are sought: they lie 0.18 apart, so that a sphere's radius comes out 1.6 % short
BLOCK = 1 << 11  # vertices looked at together: their heights in all directions fit in a cache
MOST_INSTANCES = 4096  # a scene of more is a place as wide as its box
MOST_CENTERS = 1 << 16  # of a mesh of more quadrics, some
SEGMENTS = 32  # of the mesh that stands for a sphere


def silhouette(meshes: Sequence[Mesh], instances: Sequence[Instance]) -> Float | None:
    """(K, 3), world space: the vertices of instances that lie outermost in one of `DIRECTIONS`, without the ground
    plane; (0, 3) without a finite vertex. None where there are too many instances to look at each."""
    if len(instances) > MOST_INSTANCES:
        return None
    indices, transforms = meshes_of(instances), transforms_of(instances)
    drawn, which = np.unique(indices, return_inverse=True)
    points = [
        np.zeros((0, 3))
        if mesh is SQUARE
        else _of_quadric(mesh)
        if isinstance(mesh, Quadric)
        else _around(outermost(vertices[:: max(1, len(vertices) // MOST_CENTERS)]), mesh)
        if isinstance(mesh, Quadrics)
        else outermost(vertices)
        for mesh, vertices in zip([meshes[k] for k in drawn], used_points([meshes[k] for k in drawn]), strict=True)
    ]
    placed: list[Float] = [np.zeros((0, 3))] * len(indices)
    sizes = np.array([len(vertices) for vertices in points], np.int64)
    for slots in alike(sizes[:, None], which):  # of as many points together: a call for each mesh takes long
        moved = transform_points(np.stack([points[which[slot]] for slot in slots]), transforms[slots])
        for slot, vertices in zip(slots, moved, strict=True):
            placed[slot] = vertices
    order = np.argsort(indices, kind="stable")
    return outermost(finite_rows(np.concatenate([np.zeros((0, 3)), *(placed[slot] for slot in order)])))


def outermost(points: NDArray) -> NDArray:
    """(K, 3): of points (V, 3) those that are farthest in one of `DIRECTIONS` once their box is made a cube,
    in their order; all of a few."""
    if len(points) <= DIRECTIONS:
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    half[half == 0] = 1.0
    best, which = np.full(DIRECTIONS, -np.inf, np.float32), np.zeros(DIRECTIONS, np.intp)
    for first in range(0, len(points), BLOCK):
        unit = (points[first : first + BLOCK] - middle) / half
        heights = _directions() @ np.ascontiguousarray(unit.T, np.float32)
        highest = heights.argmax(axis=1)
        height = heights[np.arange(DIRECTIONS), highest]
        higher = height > best
        best[higher], which[higher] = height[higher], first + highest[higher]
    return points[distinct(which)]


def _around(points: NDArray, mesh: Quadrics) -> NDArray:
    """(6 K, 3): points of spheres around centres (K, 3), or around ends of cylinders."""
    around = mesh.radius * np.concatenate([np.eye(3), -np.eye(3)])
    return (points[:, None] + around).reshape(-1, 3)


def _of_quadric(quadric: Quadric) -> NDArray:
    """(K, 3): points of a sphere; of any other quadric the corners of its box."""
    shape = quadric.shape
    if shape.whole_sphere:
        return quadric.tessellated(SEGMENTS).positions
    ends = np.array(shape.bounds())
    corners = np.array([[ends[k >> axis & 1, axis] for axis in range(3)] for k in range(8)])
    return transform_points(corners, shape.transform[None])[0]


@lru_cache(maxsize=1)
def _directions() -> NDArray[np.float32]:
    """(DIRECTIONS, 3) unit vectors, evenly spread: on a spiral of equal areas by the golden angle (R. Swinbank, J.
    Purser, "Fibonacci grids", 2006)."""
    turns = np.arange(DIRECTIONS) + 0.5
    height = 1.0 - 2.0 * turns / DIRECTIONS
    around, ring = math.pi * (3.0 - math.sqrt(5.0)) * turns, np.sqrt(1.0 - height * height)
    return np.stack([ring * np.cos(around), height, ring * np.sin(around)], axis=1).astype(np.float32)


# -- the default view of a scene without a camera ----------------------------------------------------------------------

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
    wide = tall * max(aspect, MIN_ASPECT)
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
