"""Vertices given as an array: poses of any mesh, as simulations have them."""

from __future__ import annotations

import math
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import run
from raystream.scene.deform.deformation import Deformation, MeshPose
from raystream.scene.deform.mesh import DeformedMesh
from raystream.scene.geometry.normals import split_with_normals
from raystream.scene.mesh import Float, Mesh
from raystream.scene.quadric import Quadric

SMALL = 500  # triangles up to which the loop is not worth compiling
_groups: WeakKeyDictionary[Deformation, tuple[NDArray[np.int64], int]] = WeakKeyDictionary()


def with_vertices(mesh: Mesh, positions: ArrayLike, normals: ArrayLike | None = None) -> DeformedMesh:
    """A mesh with other vertices in its own space, which may not be finite: a pose of it that follows no joints.

    positions, normals : (V, 3), the mesh's own vertices, or those that it was given before some were split for their
    normals. Without normals, which are made unit vectors, these are means over the faces around a vertex, smooth where
    the mesh was.

    Raises ViewerError for shapes that do not fit, and for a quadric.
    """
    if isinstance(mesh, Quadric):
        raise ViewerError(mesh.name, "is a quadric, which has no vertices", "tessellate it first")
    rest, deformation = mesh, None
    if isinstance(mesh, DeformedMesh):
        rest, deformation = mesh.rest, mesh.deformation
    if deformation is None or deformation.skinned or deformation.targets:
        faceted = deformation is not None and deformation.faceted
        rest, source = split_with_normals(rest)
        deformation = replace(Deformation.none(len(rest.positions)), faceted=faceted, source=source)
    places = _split(mesh.name, "positions", positions, deformation, len(rest.positions))
    directions = None if normals is None else _split(mesh.name, "normals", normals, deformation, len(rest.positions))
    if directions is not None:
        directions = _unit(directions, rest.normals)  # type: ignore[arg-type]
    elif not deformation.faceted:
        directions = _smooth(places, rest, deformation)
    return DeformedMesh(rest, deformation, MeshPose(positions=places, normals=directions))


def _split(name: str, what: str, values: ArrayLike, deformation: Deformation, count: int) -> Float:
    """(V, 3) float32 of the vertices at rest, a copy."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.array(values, np.float32, order="C")  # the caller's may change
    except (TypeError, ValueError, OverflowError) as error:
        raise ViewerError(name, f"{what} are not numbers ({error})", "give (V, 3)") from None
    expected = count if deformation.source is None else int(deformation.source.max(initial=-1)) + 1
    if array.shape == (expected, 3) and deformation.source is not None:
        return array[deformation.source]
    if array.shape != (count, 3):
        raise ViewerError(name, f"{what} have shape {array.shape}", f"expected ({expected}, 3)")
    return array


def _unit(vectors: Float, otherwise: Float) -> Float:
    """(V, 3) unit vectors; those without a finite direction as in ``otherwise``."""
    x, y, z = vectors.T.astype(np.float64)  # reductions along so short an axis are slow
    with np.errstate(all="ignore"):
        length = np.sqrt(x * x + y * y + z * z)
        unit = np.stack([x / length, y / length, z / length], axis=1, dtype=np.float32, casting="same_kind")
        lost = np.flatnonzero(~(np.isfinite(length) & (length > 0.0)))
    unit[lost] = otherwise[lost]
    return unit


def _smooth(positions: Float, rest: Mesh, deformation: Deformation) -> Float:
    """(V, 3) unit normals: of vertices that lie at one point at rest with one normal, together."""
    if deformation not in _groups:
        keys = np.concatenate([rest.positions, rest.normals], axis=1) + np.float32(0.0)  # -0 is 0
        _, group = np.unique(np.ascontiguousarray(keys).view("V24").ravel(), return_inverse=True)
        _groups[deformation] = group.astype(np.int64), int(group.max(initial=-1)) + 1
    group, count = _groups[deformation]
    sums, normals = np.zeros((count, 3)), rest.normals.copy()  # type: ignore[union-attr]
    triangles = np.ascontiguousarray(rest.triangles)
    run(mean_normals, positions, triangles, group, sums, normals, small=len(triangles) <= SMALL)
    return normals


def mean_normals(positions, triangles, group, sums, normals):
    """Sums of the faces' unit normals times their angles at each group of vertices (G, 3) float64, and the vertices'
    normals (V, 3) float32 by them, which stay where there is none."""
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax = np.float64(positions[j, 0]) - np.float64(positions[i, 0])
        ay = np.float64(positions[j, 1]) - np.float64(positions[i, 1])
        az = np.float64(positions[j, 2]) - np.float64(positions[i, 2])
        bx = np.float64(positions[k, 0]) - np.float64(positions[i, 0])
        by = np.float64(positions[k, 1]) - np.float64(positions[i, 1])
        bz = np.float64(positions[k, 2]) - np.float64(positions[i, 2])
        cx = np.float64(positions[k, 0]) - np.float64(positions[j, 0])
        cy = np.float64(positions[k, 1]) - np.float64(positions[j, 1])
        cz = np.float64(positions[k, 2]) - np.float64(positions[j, 2])
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        double_area = math.sqrt(x * x + y * y + z * z)
        if not (double_area > 0.0 and double_area < 1e300):
            continue
        x, y, z = x / double_area, y / double_area, z / double_area
        a, b = math.sqrt(ax * ax + ay * ay + az * az), math.sqrt(bx * bx + by * by + bz * bz)
        c = math.sqrt(cx * cx + cy * cy + cz * cz)
        one = math.acos(min(1.0, max(-1.0, (ax * bx + ay * by + az * bz) / (a * b))))
        two = math.acos(min(1.0, max(-1.0, -(ax * cx + ay * cy + az * cz) / (a * c))))
        for corner in range(3):  # an arc cosine takes as long as all the rest of a corner
            angle = one if corner == 0 else two if corner == 1 else math.pi - one - two
            g = group[triangles[t, corner]]
            sums[g, 0] += angle * x
            sums[g, 1] += angle * y
            sums[g, 2] += angle * z
    for v in range(len(normals)):
        x, y, z = sums[group[v], 0], sums[group[v], 1], sums[group[v], 2]
        length = math.sqrt(x * x + y * y + z * z)
        if length > 0.0 and length < 1e300:
            normals[v, 0], normals[v, 1], normals[v, 2] = x / length, y / length, z / length
