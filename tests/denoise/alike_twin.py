"""What the denoiser's passes share, in NumPy, float64: the twin of ``alike.glsl``, ``surface_features.glsl``,
``view.glsl`` and ``lit.glsl`` of ``shaders/film/denoise``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.denoise.records import LIT, view_uniforms
from raystream.scene.camera import Camera
from raystream.scene.light import LUMINANCE

NORMAL_FALL, PLANE_FALL, SLOPE_SLACK, SHORT = 60.0, 100.0, 0.1, 3.0
NEAR_FALLS = 2.0, 25.0  # of a regression: with the turn of the normals, with the distance from the plane
LEAST_REFLECTANCE, MIXED = 0.05, 0.02

Guide = tuple[NDArray, NDArray]  # normal (H, W, 3), nearness (H, W)


def falling(x: NDArray) -> NDArray:
    return np.maximum(1 - 0.0866 * x, 0) ** 8


def with_surface(variance: NDArray | float, surface: NDArray | int) -> NDArray:
    """Both in a float32."""
    variance = np.asarray(variance)
    high = np.where(variance < 0, variance, np.maximum(variance, 1e-30)).astype(np.float32).view(np.uint32)
    return (high & np.uint32(0xFFFF0000) | np.asarray(surface, np.uint32)).view(np.float32).astype(float)


def surface_in(variance: NDArray) -> NDArray:
    return np.asarray(variance, np.float32).view(np.uint32) & np.uint32(0xFFFF)


def surface_of(surface: NDArray | int, mixed: NDArray | int = 0) -> NDArray:
    """Of a hash as of `FEATURES`, and whether a pixel sees others, too."""
    return 2 * np.asarray(surface, np.int64) + mixed


def same_surface(there: NDArray, own: NDArray) -> NDArray:
    """The weight of surfaces (as of `surface_in`) for others."""
    return np.where(there >> 1 == own >> 1, np.where(there & 1, MIXED, 1.0), 0.0)


def reflectance(features: NDArray) -> NDArray:
    """(H, W, 3), of records of `FEATURES`."""
    albedo, hits = features["albedo"].astype(float), features["hits"].astype(float)[..., None]
    return np.maximum(albedo, LEAST_REFLECTANCE * hits) / np.maximum(features["count"], 1).astype(float)[..., None]


def through(camera: Camera, size: tuple[int, int]) -> tuple[NDArray, NDArray, NDArray]:
    """The view of every pixel (H, W, 3), and how it changes to the right and down."""
    corner, across, down = (np.array(value) for value in view_uniforms(camera, size).values())
    y, x = np.indices(size[::-1])
    return corner + x[..., None] * across + y[..., None] * down, across, down


def unlike(
    guide: Guide,
    other: Guide,
    view: tuple[NDArray, ...],
    reach: float,
    offset: tuple[NDArray, NDArray],
    falls: tuple[float, float] = (NORMAL_FALL, PLANE_FALL),
) -> NDArray:
    """Of guides others at an offset (right, down), in pixels or points. view : through the guides, across, down.
    falls : with the turn of the normals, with the distance from the plane."""
    normal_fall, plane_fall = falls
    normal, near = guide
    through_, across, down = view
    facing = (normal * through_).sum(-1)
    least = 0.02 * np.linalg.norm(normal, axis=-1) * np.linalg.norm(through_, axis=-1) + 1e-20
    facing = np.where(facing < 0, np.minimum(facing, -least), np.maximum(facing, least))
    slope = np.stack([normal @ across, normal @ down], axis=-1) / facing[..., None]
    fall = plane_fall / (np.maximum(near, 1e-30) * (1 + plane_fall * SLOPE_SLACK * reach * np.abs(slope).sum(-1)))
    fall *= np.minimum(1, SHORT * (normal**2).sum(-1))
    expected = near * (1 + slope[..., 0] * offset[0] + slope[..., 1] * offset[1])
    return normal_fall * ((other[0] - normal) ** 2).sum(-1) + fall * np.abs(other[1] - expected)


def apart_from(guide: Guide, other: Guide, view: tuple, reach: float, offset: tuple) -> NDArray:
    return np.where(other[1] > 0, unlike(guide, other, view, reach, offset, NEAR_FALLS), 1e30)


def guides_in(lit: NDArray) -> Guide:
    """Of records of `LIT`."""
    return lit["normal"].astype(float), lit["nearness"].astype(float)


def pick(guide: Guide, at: tuple[NDArray, NDArray]) -> Guide:
    return guide[0][at], guide[1][at]


def moved_by(at: tuple[NDArray, NDArray], offset: tuple[NDArray, NDArray], last: tuple[int, int]) -> tuple:
    """Places (rows, columns) at an offset (right, down), no further than the last ones, and which are not there."""
    wanted = at[0] + offset[1], at[1] + offset[0]
    place = np.clip(wanted[0], 0, last[0]), np.clip(wanted[1], 0, last[1])
    return place, (place[0] != wanted[0]) | (place[1] != wanted[1])


def demodulated(film: NDArray, features: NDArray, surfaces: NDArray, camera: Camera) -> NDArray:
    """`LIT`, of records of `FILM` and `FEATURES`: of the film's samples, and of as many or more."""
    made, view = np.zeros(film.shape, LIT.dtype), through(camera, film.shape[::-1])[0]
    count, hits = film["count"].astype(float), features["hits"].astype(float)
    blended = surfaces["alike"] % 1 > 0
    all_surfaces = np.where(blended, surfaces, features)
    some = np.where(blended & (features["count"] < count), surfaces, features)
    rays, reflected = np.maximum(some["count"], 1).astype(float), np.maximum(reflectance(all_surfaces), 1e-6)
    light = (film["sum"] / np.maximum(count, 1)[..., None] - some["emission"] / rays[..., None]) / reflected
    hits = np.where(blended, surfaces["hits"], hits)
    square = film["square"] / (reflected @ LUMINANCE) ** 2
    variance = np.where(count > 1, square / np.maximum(count * (count - 1), 1), -1.0)
    succession = (count + 1) / ((count + 2) ** 2 * np.maximum(count, 1))
    floor = (surfaces["instance"] < 0) & (variance >= 0)
    variance = np.where(floor, np.maximum(variance, succession), variance)
    counts, wide = np.maximum(surfaces["count"], 1).astype(float), np.linalg.norm(view, axis=-1)
    nearness = surfaces["hits"] * wide / np.where(surfaces["hits"] > 0, surfaces["depth"], 1)
    made["normal"] = np.where(hits[..., None] > 0, surfaces["normal"] / counts[..., None], 0)
    made["nearness"] = np.where(hits > 0, nearness, 0)
    made["rgb"] = np.where(hits[..., None] > 0, light, 0)
    surface = surface_of(surfaces["surface"], surfaces["alike"] < surfaces["hits"])
    made["variance"] = with_surface(np.where(hits > 0, variance, 0), surface)
    return made
