"""Walks any acceleration structure's GLSL by itself: the loops of a machine, in one function, on arrays of rays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import glsl_call
import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.kernels.records import HIT, RAY
from raystream.stream.declare.kernel import Module

FAR = np.float32(3.4e38)

_WALK = """
Hit walk_ray(Ray ray, int object) {
    Hit hit = Hit(ray.t_max, vec2(0.0), -1, 0);
    TriangleSetup setup = triangle_setup(ray);
    Traversal traversal;
    if (!accel_start(ray, object, traversal)) return hit;
    int what = ACCEL_AGAIN;
    while (what != ACCEL_END) {
        what = accel_step(ray, hit.t, traversal);
        if (what != ACCEL_TEST) continue;
        do triangle_test(ray, setup, accel_candidate(traversal), 0, hit); while (accel_more(traversal));
        if (accel_ends(traversal, hit.t)) what = ACCEL_END;
    }
    return hit;
}
"""


def walker(device: Any, *modules: Module) -> Callable[..., NDArray]:
    """``traversal(rays, objects=0)``: the hits (N,) of rays (N,) through the numbered objects of a structure."""
    function = glsl_call.Function(
        device, "Hit walk_ray(Ray ray, int object)", modules=modules, records=[RAY, HIT], text=_WALK
    )

    def traversal(rays: NDArray, objects: ArrayLike = 0) -> NDArray:
        (hits,) = function(rays, np.broadcast_to(np.asarray(objects), len(rays)))
        return hits

    return traversal


def rays(origins: ArrayLike, directions: ArrayLike, unit: bool = True) -> NDArray:
    """(N,) `RAY` without an end; directions are normalised in float64 if ``unit``."""
    origins, directions = np.asarray(origins), np.asarray(directions, np.float64)
    out = np.zeros(len(origins), RAY.dtype)
    out["origin"], out["t_max"] = origins, FAR
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    out["direction"] = directions / lengths if unit else directions
    return out


def through(low: ArrayLike, high: ArrayLike, rng: np.random.Generator, count: int, around: float = 1.0) -> NDArray:
    """Rays from within a box widened by ``around`` of its size at points in it; some along axes, some from faces."""
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    size = high - low
    origins = rng.uniform(low - around * size, high + around * size, (count, 3))
    directions = rng.uniform(low, high, (count, 3)) - origins
    axis = np.eye(3)[rng.integers(0, 3, count)] * rng.choice([-1, 1], (count, 1))
    along = np.arange(count) % 8 == 0
    directions[along] = axis[along]
    slanted = np.arange(count) % 8 == 1
    directions[slanted] *= 1 - np.abs(axis[slanted])
    flush = np.arange(count) % 8 == 2
    origins[flush] = np.where(np.abs(axis[flush]) > 0, low, origins[flush])
    directions[~directions.any(axis=1)] = [0, 0, 1]
    return rays(origins.astype(np.float32), directions)
