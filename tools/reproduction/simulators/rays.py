"""Rays of the simulated machines, as RAY records: eye rays, and those that start at hits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.kernels.records import FAR, RAY
from raystream.scene.camera import Camera

# Secondary rays start off their surface by so much of the coordinates' size, as float32 holds a hit's place.
OFFSET = 2.0**-16


def eye_rays(camera: Camera, size: tuple[int, int], rows: NDArray[np.integer] | None = None) -> NDArray:
    """(width * height,) RAY through the middles of pixels, row 0 at the top, a row after the other. rows : numbers of
    those that are wanted, (width * rows,); else all."""
    width, height = size
    rows = np.arange(height) if rows is None else rows
    right, up, forward = camera.basis()
    tangent = math.tan(math.radians(camera.fov) / 2)
    across = (2 * (np.arange(width) + 0.5) / width - 1) * tangent * width / height
    down = (1 - 2 * (rows + 0.5) / height) * tangent
    directions = forward + across[None, :, None] * right + down[:, None, None] * up
    return _rays(np.broadcast_to(camera.origin, (width * len(rows), 3)), directions.reshape(-1, 3))


def places(rays: NDArray, distance: NDArray, triangle: NDArray, corners: NDArray) -> tuple[NDArray, NDArray]:
    """Where rays (N,) that hit triangles (N,) do, off the surface on the ray's side, and the unit face normals there:
    both (N, 3) float64."""
    a, b, c = (corners[triangle, k].astype(np.float64) for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    direction = rays["direction"].astype(np.float64)
    normal[(normal * direction).sum(axis=1) > 0] *= -1
    at = rays["origin"] + distance[:, None].astype(np.float64) * direction
    return at + normal * OFFSET * np.maximum(np.abs(at).max(axis=1, keepdims=True), 1.0), normal


def shadow_rays(at: NDArray, lights: ArrayLike) -> NDArray:
    """(L, N) RAY from places (N, 3) to point lights (L, 3); any hit before the light will do."""
    lights = np.atleast_2d(np.asarray(lights, np.float64))
    return np.stack([rays_between(at, np.broadcast_to(light, at.shape)) for light in lights])


def rays_between(at: NDArray, targets: NDArray) -> NDArray:
    """(N,) RAY from places (N, 3) to a target each, (N, 3); any hit before it will do."""
    rays = _rays(at, targets - at)
    rays["t_max"] = np.linalg.norm(targets - at, axis=1)
    rays["any_hit"] = 1
    return rays


def reflected_rays(rays: NDArray, at: NDArray, normal: NDArray) -> NDArray:
    """(N,) RAY mirrored at places with face normals (N, 3)."""
    direction = rays["direction"].astype(np.float64)
    return _rays(at, direction - 2 * (direction * normal).sum(axis=1, keepdims=True) * normal)


def scattered_rays(at: NDArray, normal: NDArray, samples: int, rng: np.random.Generator, even: bool = False) -> NDArray:
    """(N, samples) RAY in directions distributed by the cosine to the normals (N, 3), or evenly over the hemisphere."""
    count = len(at)
    direction = rng.normal(size=(count, samples, 3))
    direction /= np.linalg.norm(direction, axis=2, keepdims=True)
    # A point on the unit sphere around the normal's tip (Lambert's law as a projection).
    if even:
        direction = np.where((direction * normal[:, None]).sum(axis=2, keepdims=True) < 0, -direction, direction)
    else:
        direction = direction + (1 + 1e-6) * normal[:, None]
    origin = np.broadcast_to(at[:, None], direction.shape)
    return _rays(origin.reshape(-1, 3), direction.reshape(-1, 3)).reshape(count, samples)


def _rays(origins: NDArray, directions: NDArray) -> NDArray:
    rays = np.zeros(len(origins), RAY.dtype)
    rays["origin"], rays["t_max"] = origins, FAR
    rays["direction"] = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return rays
