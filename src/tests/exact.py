"""The ray caster's judge: rays against every triangle in float64, and how near they pass to triangles' edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Exact(NamedTuple):
    """Per ray: triangle (R,) int64 the nearest, lowest number among equals, -1 for a miss; t (R,) float64, inf for a
    miss."""

    triangle: NDArray[np.int64]
    t: NDArray[np.float64]


def nearest(
    corners: NDArray, origins: NDArray, directions: NDArray, t_max: NDArray | float = np.inf, beyond: float = 0.0
) -> Exact:
    """The nearest of all triangles (T, 3, 3) with beyond < t < t_max for rays (R, 3); t in units of the direction."""
    count = len(origins)
    triangle, t = np.full(count, -1, np.int64), np.full(count, np.inf)
    limit = np.ascontiguousarray(np.broadcast_to(np.asarray(t_max, np.float64), (count,)))
    _nearest(_wide(corners), _wide(origins), _wide(directions), limit, beyond, triangle, t)
    return Exact(triangle, t)


def edge_distance(triangles: NDArray, origins: NDArray, directions: NDArray) -> NDArray[np.float64]:
    """The least distance (R,) between each ray and the edges of its own triangle (R, 3, 3), as a share of the distance
    from the origin to that place; 0 is on an edge, and the rounding of any float32 test is about 1e-7."""
    out = np.empty(len(origins))
    _edge_distance(_wide(triangles), _wide(origins), _wide(directions), out)
    return out


def plane_distance(triangles: NDArray, origins: NDArray, directions: NDArray) -> NDArray[np.float64]:
    """t (R,) at which each ray meets its own triangle's plane (R, 3, 3), wherever in the plane that is."""
    a, b, c = (_wide(triangles)[:, k] for k in range(3))
    normal = np.cross(b - a, c - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ((a - origins) * normal).sum(axis=1) / (directions * normal).sum(axis=1)


def _wide(array: NDArray) -> NDArray[np.float64]:
    return np.ascontiguousarray(array, np.float64)


@njit(cache=True)
def _nearest(corners, origins, directions, t_max, beyond, triangle, t):
    """Volumes of tetrahedra (Pluecker's test), which need no division to tell inside from outside."""
    for ray in range(len(origins)):
        ox, oy, oz = origins[ray]
        dx, dy, dz = directions[ray]
        best, number = t_max[ray], -1
        for k in range(len(corners)):
            ax, ay, az = corners[k, 0, 0] - ox, corners[k, 0, 1] - oy, corners[k, 0, 2] - oz
            bx, by, bz = corners[k, 1, 0] - ox, corners[k, 1, 1] - oy, corners[k, 1, 2] - oz
            cx, cy, cz = corners[k, 2, 0] - ox, corners[k, 2, 1] - oy, corners[k, 2, 2] - oz
            u = dx * (cy * bz - cz * by) + dy * (cz * bx - cx * bz) + dz * (cx * by - cy * bx)
            v = dx * (ay * cz - az * cy) + dy * (az * cx - ax * cz) + dz * (ax * cy - ay * cx)
            w = dx * (by * az - bz * ay) + dy * (bz * ax - bx * az) + dz * (bx * ay - by * ax)
            if not (u >= 0.0 and v >= 0.0 and w >= 0.0) and not (u <= 0.0 and v <= 0.0 and w <= 0.0):
                continue
            det = u + v + w
            if det == 0.0 or not np.isfinite(det):
                continue
            fx, fy, fz = bx - ax, by - ay, bz - az
            gx, gy, gz = cx - ax, cy - ay, cz - az
            nx, ny, nz = fy * gz - fz * gy, fz * gx - fx * gz, fx * gy - fy * gx
            slope = nx * dx + ny * dy + nz * dz
            if slope == 0.0:
                continue
            at = (nx * ax + ny * ay + nz * az) / slope
            if at > beyond and at < best:
                best, number = at, k
        if number >= 0:
            triangle[ray], t[ray] = number, best


@njit(cache=True)
def _edge_distance(triangles, origins, directions, out):
    """Nearest points of a half-line and a segment (Ericson, Real-Time Collision Detection, 2005, 5.1.9)."""
    for ray in range(len(origins)):
        o, d = origins[ray], directions[ray]
        dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        least = np.inf
        for k in range(3):
            p, q = triangles[ray, k] - o, triangles[ray, (k + 1) % 3] - o
            e = q - p
            ee = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
            de = d[0] * e[0] + d[1] * e[1] + d[2] * e[2]
            dp = d[0] * p[0] + d[1] * p[1] + d[2] * p[2]
            ep = e[0] * p[0] + e[1] * p[1] + e[2] * p[2]
            across = dd * ee - de * de
            s = (de * dp - dd * ep) / across if across > 0.0 else 0.0
            # the ends too: across is rounded where ray and edge are nearly parallel
            for place in (min(max(s, 0.0), 1.0), 0.0, 1.0):
                point = p + place * e
                t = max((point[0] * d[0] + point[1] * d[1] + point[2] * d[2]) / dd, 0.0)
                off = point - t * d
                far = t * np.sqrt(dd)
                gap = np.sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2])
                if far > 0.0:
                    least = min(least, gap / far)
        out[ray] = least


class Verdict(NamedTuple):
    """Rays (numbers) that a judgement left out, because they pass an edge too near to tell, and that are wrong."""

    near_edge: NDArray[np.intp]
    wrong: NDArray[np.intp]


NEAR_EDGE = 1e-6  # of the ray's distance: some ten roundings of a float32 coordinate difference
TIE = 1e-5  # relative


def judge(
    corners: NDArray,
    origins: NDArray,
    directions: NDArray,
    triangle: NDArray,
    t: NDArray,
    other: Exact | None = None,
    near_edge: float = NEAR_EDGE,
    tie: float = TIE,
) -> Verdict:
    """Hits of rays (R, 3) against another's, and where they disagree, or without another, against all triangles.

    A hit is right when the triangle is the exact one, or when it is hit as near, within ``tie``. It is left out of the
    judgement when the ray passes an edge of either triangle within ``near_edge``.
    """
    asked = np.arange(len(origins))
    if other is not None:
        asked = asked[~_agree(triangle, t, other.triangle, other.t, tie)]
    o, d = origins[asked], directions[asked]
    found = nearest(corners, o, d)
    left = ~_agree(triangle[asked], t[asked], found.triangle, found.t, tie)
    asked, o, d, found = asked[left], o[left], d[left], Exact(found.triangle[left], found.t[left])
    near = np.zeros(len(asked), bool)
    for numbers in (triangle[asked], found.triangle):
        some = numbers >= 0
        near[some] |= edge_distance(corners[numbers[some]], o[some], d[some]) <= near_edge
    return Verdict(asked[near], asked[~near])


def _agree(triangle: NDArray, t: NDArray, other: NDArray, other_t: NDArray, tie: float) -> NDArray[np.bool_]:
    both = (triangle >= 0) & (other >= 0)
    apart = np.abs(np.where(both, t, 0.0) - np.where(both, other_t, 0.0))
    return (triangle == other) | (both & (apart <= tie * np.where(both, other_t, 0.0)))


def assert_right(
    corners: NDArray,
    origins: NDArray,
    directions: NDArray,
    triangle: NDArray,
    t: NDArray,
    other: Exact,
    excluded: float,
) -> None:
    """No wrong hit, at most a share ``excluded`` too near an edge to tell, and distances that only rounding moves."""
    verdict = judge(corners, origins, directions, triangle, t, other)
    share = len(verdict.near_edge) / len(triangle)
    print(f"{(triangle >= 0).mean():.1%} hit, {share:.1e} of rays too near an edge")
    assert not len(verdict.wrong), f"rays {verdict.wrong[:10]}"
    assert share < excluded
    assert 0.1 < (triangle >= 0).mean() < 0.99
    hit = np.setdiff1d(np.flatnonzero(triangle >= 0), verdict.near_edge)
    own = _wide(corners[triangle[hit]])
    o, d = _wide(origins[hit]), _wide(directions[hit])
    normal = np.cross(own[:, 1] - own[:, 0], own[:, 2] - own[:, 0])
    length = np.linalg.norm(normal, axis=1)
    slope = np.abs((normal * d).sum(axis=1))
    reach = np.linalg.norm(own - o[:, None], axis=-1).max(axis=1)
    apart = np.abs(t[hit] - plane_distance(own, o, d))
    # Corners relative to the origin are rounded, 2^-24 of the farthest one, and sheared, with as much again a few
    # times; in distance that counts by the inverse of the cosine. Beyond 1e-3 the first-order bound says nothing.
    plain = slope > 1e-3 * length
    assert (apart[plain] * slope[plain] <= 1e-6 * reach[plain] * length[plain]).all()
    assert plain.mean() > 0.99
