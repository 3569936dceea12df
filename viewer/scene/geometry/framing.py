"""The default view of a scene without a camera: a three-quarter view from a little above, which the model fills."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.ordered import distinct
from raystream.scene.camera import MIN_ASPECT, Camera
from raystream.scene.geometry.batches import equal_groups
from raystream.scene.geometry.bounds import SQUARE, finite_rows, used_points
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.vertices import transform_points
from raystream.scene.mesh import Instance, Mesh, meshes_of, transforms_of
from raystream.scene.quadric import Quadric

# -- the outermost vertices of a scene: those that its silhouette can go through, from any side ------------------------

Float = NDArray[np.float64]

DIRECTIONS = 128  # in which vertices are sought: they lie 0.18 apart, so that a sphere's radius comes out 1.6 % short
BLOCK_VERTICES = 1 << 11  # vertices looked at together: their heights in all directions fit in a cache
MAX_INSTANCES = 4096  # a scene of more is a place as wide as its box
MAX_QUADRICS = 1 << 16  # of a mesh of more quadrics, some
SPHERE_SEGMENTS = 32  # of the mesh that stands for a sphere


def silhouette(meshes: Sequence[Mesh], instances: Sequence[Instance]) -> Float | None:
    """(K, 3), world space: the vertices of instances that lie outermost in one of `DIRECTIONS`, without the ground
    plane; (0, 3) without a finite vertex. None where there are too many instances to look at each."""
    if len(instances) > MAX_INSTANCES:
        return None
    indices, transforms = meshes_of(instances), transforms_of(instances)
    drawn, mesh_indices = np.unique(indices, return_inverse=True)
    points = [
        np.zeros((0, 3))
        if mesh is SQUARE
        else _quadric_points(mesh)
        if isinstance(mesh, Quadric)
        else _sphere_points(outermost(vertices[:: max(1, len(vertices) // MAX_QUADRICS)]), mesh)
        if isinstance(mesh, Quadrics)
        else outermost(vertices)
        for mesh, vertices in zip([meshes[k] for k in drawn], used_points([meshes[k] for k in drawn]), strict=True)
    ]
    world_points: list[Float] = [np.zeros((0, 3))] * len(indices)
    sizes = np.array([len(vertices) for vertices in points], np.int64)
    for slots in equal_groups(sizes[:, None], mesh_indices):  # a call for each mesh would take long
        placed = transform_points(np.stack([points[mesh_indices[slot]] for slot in slots]), transforms[slots])
        for slot, vertices in zip(slots, placed, strict=True):
            world_points[slot] = vertices
    order = np.argsort(indices, kind="stable")
    return outermost(finite_rows(np.concatenate([np.zeros((0, 3)), *(world_points[slot] for slot in order)])))


def outermost(points: NDArray) -> NDArray:
    """(K, 3): of points (V, 3) those that are farthest in one of `DIRECTIONS` once their box is made a cube,
    in their order; all of a few."""
    if len(points) <= DIRECTIONS:
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    centre, half_size = low / 2 + high / 2, high / 2 - low / 2
    half_size[half_size == 0] = 1.0
    max_height, farthest = np.full(DIRECTIONS, -np.inf, np.float32), np.zeros(DIRECTIONS, np.intp)
    for first in range(0, len(points), BLOCK_VERTICES):
        in_cube = (points[first : first + BLOCK_VERTICES] - centre) / half_size
        heights = _directions() @ np.ascontiguousarray(in_cube.T, np.float32)
        best_row = heights.argmax(axis=1)
        height = heights[np.arange(DIRECTIONS), best_row]
        is_higher = height > max_height
        max_height[is_higher], farthest[is_higher] = height[is_higher], first + best_row[is_higher]
    return points[distinct(farthest)]


def _sphere_points(points: NDArray, mesh: Quadrics) -> NDArray:
    """(6 K, 3): the points farthest along each axis of spheres of the mesh's radius around points (K, 3)."""
    axes = mesh.radius * np.concatenate([np.eye(3), -np.eye(3)])
    return (points[:, None] + axes).reshape(-1, 3)


def _quadric_points(quadric: Quadric) -> NDArray:
    """(K, 3): points that bound a quadric: vertices of a sphere; of any other the corners of its box."""
    shape = quadric.shape
    if shape.whole_sphere:
        return quadric.tessellated(SPHERE_SEGMENTS).positions
    ends = np.array(shape.bounds())
    corners = np.array([[ends[k >> axis & 1, axis] for axis in range(3)] for k in range(8)])
    return transform_points(corners, shape.transform[None])[0]


@lru_cache(maxsize=1)
def _directions() -> NDArray[np.float32]:
    """(DIRECTIONS, 3) unit vectors, evenly spread: on a spiral of equal areas by the golden angle (R. Swinbank, J.
    Purser, "Fibonacci grids", 2006)."""
    index = np.arange(DIRECTIONS) + 0.5
    height = 1.0 - 2.0 * index / DIRECTIONS
    angle, radius = math.pi * (3.0 - math.sqrt(5.0)) * index, np.sqrt(1.0 - height * height)
    return np.stack([radius * np.cos(angle), height, radius * np.sin(angle)], axis=1).astype(np.float32)


# -- the default view of a scene without a camera ----------------------------------------------------------------------

# Degrees: the camera's way round about +Y from +Z towards +X, and its height above the horizon.
AROUND, ABOVE = 35.0, 15.0
AROUND_PANEL, AROUND_PROFILE = 12.0, 58.0  # of what has no depth, as a chart, and of what has no width
ABOVE_PLATE = 35.0  # of what has no height
THIN_EXTENT = 0.35  # an extent below this fraction of the larger other one changes the view, the more the less it is
FILL_FRACTION = 0.75  # of a picture's width or height, which a silhouette fills
MAX_CENTRING_STEPS = 16  # steps by which a silhouette is centred; few suffice
LENS_FOV = 30.0  # vertical field of view, degrees: of a lens for products rather than for rooms


def overview(
    points: NDArray[np.float64],
    aspect: float = 1.0,
    direction: Sequence[float] | None = None,
    name: str = "camera",
) -> Camera:
    """The default view of a model with these outermost points (K, 3), in pictures of that aspect (width / height).
    direction : from the model towards the camera; None: that of `view_direction`."""
    return filling(points, LENS_FOV, view_direction(points) if direction is None else direction, aspect, name)


def filling(
    points: ArrayLike,
    fov: float = 40.0,
    direction: Sequence[float] = (0.35, 0.25, 1.0),
    aspect: float = 1.0,
    name: str = "camera",
) -> Camera:
    """A camera in whose pictures of that aspect, width / height, points fill `FILL_FRACTION` of the width or of the
    height, whichever comes first, and lie in the middle along both.

    points : (N, 3), scene units; of none, or where they are all one, a unit cube takes their place. direction :
    from them towards the camera.
    """
    positions = np.asarray(points, np.float64).reshape(-1, 3)
    low, high = (positions.min(axis=0), positions.max(axis=0)) if len(positions) else (np.zeros(3), np.zeros(3))
    centre = low + (high - low) / 2
    min_size = 1e-9 * np.abs(centre).max()  # float64 must still separate origin and target
    if (high - low).max() <= 2 * min_size:
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        positions = centre + max(0.5, min_size) * corners
    towards = -direction[0], -direction[1], -direction[2]
    right, up, forward = Camera((0.0, 0.0, 0.0), towards, fov=fov, name=name).basis()
    x, y, z = ((positions - centre) @ np.stack([right, up, forward], axis=1)).T
    half_height = FILL_FRACTION * math.tan(math.radians(fov) / 2)
    min_distance = 0.1 * float(np.ptp(positions, axis=0).max())  # keeps a line along the view in front of the camera
    half_width = half_height * max(aspect, MIN_ASPECT)
    distance = max(_min_distance(x, z, half_width), _min_distance(y, z, half_height), min_distance - float(z.min()))
    target = centre + _centred_offset(x, z, distance) * right + _centred_offset(y, z, distance) * up
    return Camera(tuple(target - distance * forward), tuple(target), fov=fov, name=name)


def view_direction(points: NDArray[np.float64]) -> tuple[float, float, float]:
    """The unit vector from the model towards the camera, by the extents of its points (K, 3), whatever their size."""
    width, height, depth = np.ptp(points, axis=0).tolist() if len(points) else (1.0, 1.0, 1.0)
    azimuth = AROUND + (AROUND_PANEL - AROUND) * _thinness(depth, width, height)
    azimuth += (AROUND_PROFILE - AROUND) * _thinness(width, depth, height)
    elevation = ABOVE + (ABOVE_PLATE - ABOVE) * _thinness(height, width, depth)
    a, e = math.radians(azimuth), math.radians(elevation)
    return math.cos(e) * math.sin(a), math.sin(e), math.cos(e) * math.cos(a)


def _thinness(extent: float, *other_extents: float) -> float:
    """0 for an extent of at least `THIN_EXTENT` of the larger other one, 1 for none."""
    thin = THIN_EXTENT * max(other_extents)
    return 1.0 - min(extent / thin, 1.0) if thin > 0 else 0.0


def _min_distance(x: NDArray[np.float64], z: NDArray[np.float64], slope: float) -> float:
    """The distance from which points at ``x`` (N,) across the view and ``z`` (N,) beyond the origin lie between two
    rays of slopes ``slope`` and -``slope``."""
    return float((x - slope * z).max() + (-x - slope * z).max()) / (2 * slope)


def _centred_offset(x: NDArray[np.float64], z: NDArray[np.float64], distance: float) -> float:
    """The position across the view from which, at that distance, points at ``x`` (N,) across it and ``z`` (N,) beyond
    the origin reach equally far to both sides: Newton's method, from below, on the slope of the rays that enclose them,
    of which the width that the points need is a convex function."""
    slope = 0.0
    for _ in range(MAX_CENTRING_STEPS):
        right, left = (x - slope * z).argmax(), (-x - slope * z).argmax()
        next_slope = float((x[right] - x[left]) / (2 * distance + z[right] + z[left]))
        if next_slope <= slope:
            break
        slope = next_slope
    return float((x - slope * z).max() - (-x - slope * z).max()) / 2
