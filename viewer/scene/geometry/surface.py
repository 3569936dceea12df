"""Points on the surface of a scene, spread evenly by area, for measurements that need no ray."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.quadric import Quadric

Float = NDArray[np.float64]

POINTS = 2048
TRIANGLES = 1 << 16  # looked at, about: of larger scenes every so many
SEGMENTS = 16  # of the mesh that stands for a quadric
# Steps of the points over a triangle: the plastic number's (M. Roberts, "The Unreasonable Effectiveness of
# Quasirandom Sequences", 2018).
STEPS = (0.7548776662466927, 0.5698402909980532)


class SurfacePoints(NamedTuple):
    """points (N, 3), world space, each standing for an equal area; normals (N, 3), unit vectors, of the sides from
    which corners run counter-clockwise; materials (N,): their numbers; area: of the whole surface, square scene
    units."""

    points: Float
    normals: Float
    materials: NDArray[np.int64]
    area: float


def surface_points(meshes: Sequence[Mesh], instances: Sequence[Instance], count: int = POINTS) -> SurfacePoints:
    """``count`` points of all instances, none without any area; always the same ones."""
    step = max(1, -(-len(instances) // TRIANGLES))
    chosen = instances[::step]
    triangle_budget = max(8, TRIANGLES // max(len(chosen), 1))
    corners, weights, materials = [np.zeros((0, 3, 3))], [np.zeros(0)], [np.zeros(0, np.int64)]
    plain: dict[int, tuple[Float, NDArray[np.int32], int]] = {}
    for instance in chosen:
        if instance.mesh not in plain:
            plain[instance.mesh] = _some(meshes[instance.mesh], triangle_budget)
        triangles, numbers, every = plain[instance.mesh]
        with np.errstate(all="ignore"):  # what is not finite is left out below
            placed = triangles @ instance.transform[:3, :3].T + instance.transform[:3, 3]
        mirrored = np.linalg.det(instance.transform[:3, :3]) < 0
        corners.append(placed[:, [0, 2, 1]] if mirrored else placed)
        weights.append(np.full(len(triangles), float(every * step)))
        alike = np.full(len(triangles), -1 if instance.material is None else instance.material, np.int64)
        materials.append(np.where(alike < 0, numbers, alike))
    return spread(np.concatenate(corners), np.concatenate(weights), np.concatenate(materials), count)


def _some(mesh: Mesh, most: int) -> tuple[Float, NDArray[np.int32], int]:
    """(T, 3, 3), (T,), step: about ``most`` of the mesh's triangles at an even step, their materials, and that step. A
    quadric that does not close has none."""
    if isinstance(mesh, Quadric):
        try:
            mesh = mesh.tessellated(SEGMENTS)
        except ViewerError:
            return np.zeros((0, 3, 3)), np.zeros(0, np.int32), 1
    if isinstance(mesh, Quadrics):
        mesh = mesh.tessellated()
    every = max(1, len(mesh.triangles) // most)
    return mesh.positions[mesh.triangles[::every]].astype(np.float64), mesh.materials[::every], every


def spread(corners: Float, weights: Float, materials: NDArray[np.int64], count: int = POINTS) -> SurfacePoints:
    """``count`` points on triangles (T, 3, 3) of materials (T,), each for an equal part of area times weight (T,)."""
    with np.errstate(all="ignore"):
        cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        double = np.linalg.norm(cross, axis=1)
    area = np.where(np.isfinite(double), double, 0.0) / 2 * weights
    ends = np.cumsum(area)
    total = float(ends[-1]) if len(ends) else 0.0
    if not (total > 0 and math.isfinite(total)):
        return SurfacePoints(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, np.int64), 0.0)
    at = np.searchsorted(ends, (np.arange(count) + 0.5) / count * total, side="right")
    at = np.minimum(at, len(ends) - 1)
    u, v = (np.arange(count) * step % 1.0 for step in STEPS)
    root = np.sqrt(u)
    weight = np.stack([1 - root, root * (1 - v), root * v], axis=1)
    points = (corners[at] * weight[:, :, None]).sum(axis=1)
    return SurfacePoints(points, cross[at] / double[at, None], materials[at].astype(np.int64), total)
