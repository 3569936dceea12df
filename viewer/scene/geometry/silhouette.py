"""The outermost vertices of a scene: those that its silhouette can go through, from any side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from raystream.base.ordered import distinct
from raystream.scene.geometry.batches import alike
from raystream.scene.geometry.bounds import SQUARE, finite_rows, used_points
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.transform import transform_points
from raystream.scene.mesh import Instance, Mesh, meshes_of, transforms_of
from raystream.scene.quadric import Quadric

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
    numbers, transforms = meshes_of(instances), transforms_of(instances)
    drawn, which = np.unique(numbers, return_inverse=True)
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
    placed: list[Float] = [np.zeros((0, 3))] * len(numbers)
    sizes = np.array([len(vertices) for vertices in points], np.int64)
    for places in alike(sizes[:, None], which):  # of as many points together: a call for each mesh takes long
        moved = transform_points(np.stack([points[which[place]] for place in places]), transforms[places])
        for place, vertices in zip(places, moved, strict=True):
            placed[place] = vertices
    order = np.argsort(numbers, kind="stable")
    return outermost(finite_rows(np.concatenate([np.zeros((0, 3)), *(placed[place] for place in order)])))


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
