"""The wavelet denoiser in NumPy, float64: the twin of ``shaders/film/denoise``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from viewer.film.denoise.view import view_uniforms
from viewer.film.denoise.wavelets import DEVIATIONS, STEPS
from viewer.scene.camera import Camera
from viewer.scene.light import LUMINANCE

NORMAL_FALL, PLANE_FALL, SLOPE_SLACK, LEAST, SHORT = 60.0, 100.0, 0.1, 0.05, 3.0
WHOLE = 3.25
RING = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y]
STAR = [(0, 0), *((s, -1) for s in (-1, 1)), *((s, 1) for s in (-1, 1)), *((2 * s, 0) for s in (-1, 1))]
STAR += [(0, 2 * s) for s in (-1, 1)] + [(2 * s, t) for s in (-1, 1) for t in (-2, 2)]

Guide = tuple[NDArray, NDArray]  # normal (H, W, 3), nearness (H, W)


def falling(x: NDArray) -> NDArray:
    return np.maximum(1 - 0.0866 * x, 0) ** 8


def with_reflected(variance: NDArray, reflected: NDArray) -> NDArray:
    """Both in a float32, as of ``shaders/film/denoise/reflected.glsl``."""
    high = np.where(variance < 0, variance, np.maximum(variance, 1e-30)).astype(np.float32).view(np.uint32)
    low = np.round(np.clip(reflected, 0, 1) * 65535).astype(np.uint32)
    return (high & np.uint32(0xFFFF0000) | low).view(np.float32).astype(float)


def reflected_in(variance: NDArray) -> NDArray:
    return (variance.astype(np.float32).view(np.uint32) & 0xFFFF) / 65535


def through(camera: Camera, size: tuple[int, int]) -> tuple[NDArray, NDArray, NDArray]:
    """The view of every pixel (H, W, 3), and how it changes to the right and down."""
    corner, across, down = (np.array(value) for value in view_uniforms(camera, size).values())
    y, x = np.indices(size[::-1])
    return corner + x[..., None] * across + y[..., None] * down, across, down


def guide_of(features: NDArray, camera: Camera) -> Guide:
    wide = features["normal"].astype(float), features["depth"].astype(float)
    view, _, _ = through(camera, features.shape[::-1])
    count, hits = np.maximum(features["count"], 1).astype(float), features["hits"].astype(float)
    depth = np.where(hits > 0, wide[1], 1)
    return wide[0] / count[..., None], np.where(hits > 0, hits * np.linalg.norm(view, axis=-1) / depth, 0)


def taps(guide: Guide, camera: Camera, reach: int, offsets: Iterable[tuple[int, int]], apart: int = 1) -> list:
    """For each offset the pixels' neighbours (rows, columns) and how unlike they are."""
    normal, near = guide
    height, width = near.shape
    view, across, down = through(camera, (width, height))
    facing = (normal * view).sum(-1)
    least = 0.02 * np.linalg.norm(normal, axis=-1) * np.linalg.norm(view, axis=-1) + 1e-20
    facing = np.where(facing < 0, np.minimum(facing, -least), np.maximum(facing, least))
    slope = np.stack([normal @ across, normal @ down], axis=-1) / facing[..., None]
    fall = PLANE_FALL / (np.maximum(near, 1e-30) * (1 + PLANE_FALL * SLOPE_SLACK * reach * np.abs(slope).sum(-1)))
    y, x = np.indices((height, width))
    fall *= np.minimum(1, SHORT * (normal**2).sum(-1))
    out = []
    for dx, dy in offsets:
        at = np.clip(y + apart * dy, 0, height - 1), np.clip(x + apart * dx, 0, width - 1)
        turn = ((normal[at] - normal) ** 2).sum(-1)
        expected = near * (1 + slope[..., 0] * apart * dx + slope[..., 1] * apart * dy)
        out.append((at, (dx, dy), NORMAL_FALL * turn + fall * np.abs(near[at] - expected)))
    return out


def denoised(film: NDArray, features: NDArray, camera: Camera) -> NDArray:
    """(H, W, 3) of records of `FILM` and `FEATURES`."""
    count, hits = film["count"].astype(float), features["hits"].astype(float)
    seen = np.maximum(features["count"], 1).astype(float)[..., None]
    emission = features["emission"] / seen
    reflected = np.maximum(features["albedo"].astype(float), LEAST * hits[..., None]) / seen
    safe = np.maximum(reflected, 1e-6)
    light = np.where(hits[..., None] > 0, (film["sum"] / np.maximum(count, 1)[..., None] - emission) / safe, 0)
    own = film["square"] / np.maximum(count * (count - 1) * (safe @ LUMINANCE) ** 2, 1e-30)
    variance = np.where(hits > 0, np.where(count > 1, own, -1.0), 0.0)
    guide, bright = guide_of(features, camera), np.round(np.clip(safe @ LUMINANCE, 0, 1) * 65535) / 65535

    luminance = light @ LUMINANCE
    total, first, second, known = (np.zeros_like(luminance) for _ in range(4))
    for at, _, unlike in taps(guide, camera, 2, STAR):
        weight = falling(unlike)
        total += weight
        first += weight * luminance[at]
        second += weight * luminance[at] ** 2
        known += weight * variance[at]
    around = np.maximum(second / total - (first / total) ** 2, 0)
    variance = with_reflected(np.where(variance < 0, around, known / total), bright)

    y, x = np.indices(variance.shape)
    for step in range(STEPS):
        luminance = light @ LUMINANCE
        total, sums, squares = (np.zeros_like(value) for value in (variance, light, variance))
        for at, (dx, dy), unlike in taps(guide, camera, 1 << step, RING, 1 << step):
            least = 1e-12 * (1 + luminance**2)
            range_ = np.sqrt(DEVIATIONS**2 * (variance + variance[at]) / 2 + least)
            weight = falling(dx * dx + dy * dy + unlike + np.abs(luminance[at] - luminance) / range_)
            weight *= (np.abs(at[0] - y) == abs(dy) << step) & (np.abs(at[1] - x) == abs(dx) << step)
            weight *= np.minimum(1, bright[at] / np.maximum(bright, 1e-6))
            total += weight
            sums += weight[..., None] * light[at]
            squares += weight**2 * variance[at]
        rest = WHOLE - total
        light = (sums + rest[..., None] * light) / WHOLE
        variance = with_reflected((squares + rest**2 * variance) / WHOLE**2, bright)
    return light * reflected + emission
