"""The test of Moeller and Trumbore (1997) in float32, for compiled loops."""

from __future__ import annotations

import numpy as np

from raystream.base import jit

ZERO, ONE = np.float32(0.0), np.float32(1.0)


@jit.helper
def distance(corners, at, ox, oy, oz, dx, dy, dz):
    """Of a triangle of corners (N, 3, 3) along a ray, 0 where it is missed: barycentric coordinates by Cramer's
    rule."""
    ax, ay, az = corners[at, 0, 0], corners[at, 0, 1], corners[at, 0, 2]
    ux, uy, uz = corners[at, 1, 0] - ax, corners[at, 1, 1] - ay, corners[at, 1, 2] - az
    wx, wy, wz = corners[at, 2, 0] - ax, corners[at, 2, 1] - ay, corners[at, 2, 2] - az
    px, py, pz = dy * wz - dz * wy, dz * wx - dx * wz, dx * wy - dy * wx
    determinant = ux * px + uy * py + uz * pz
    if determinant == ZERO:
        return ZERO
    inverse = ONE / determinant
    sx, sy, sz = ox - ax, oy - ay, oz - az
    v = (sx * px + sy * py + sz * pz) * inverse
    qx, qy, qz = (sy * uz - sz * uy) * inverse, (sz * ux - sx * uz) * inverse, (sx * uy - sy * ux) * inverse
    w = dx * qx + dy * qy + dz * qz
    if v >= ZERO and w >= ZERO and v + w <= ONE:
        return wx * qx + wy * qy + wz * qz
    return ZERO
