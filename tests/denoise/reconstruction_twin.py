"""The reconstruction of a film's light in NumPy, float64, of records of `LIT` and `RESIDUAL`: the twin of
``shaders/film/reconstruct``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import regression_twin
from alike_twin import apart_from, falling, guides_in, moved_by, pick, surface_in, through, unlike, with_surface
from numpy.typing import NDArray

from viewer.denoise.reconstruction import REACHES
from viewer.denoise.records import RESIDUAL
from viewer.scene.camera import Camera
from viewer.scene.light import LUMINANCE

PRIOR, STRIDE, TAPS = 8.0, 2, 2  # of noise.glsl
DOUBT, KERNEL = 2.0, (1, 4, 6, 4, 1)  # of shrink.glsl
CONFIRMED, LEAST, ALIKE = 16.0, 3, 4.0  # of bounded.glsl


def around(lit: NDArray, camera: Camera, reach: int, taps: int, near: bool) -> Iterator[tuple]:
    """Offset, places, which are not in the picture, how far they are apart, and which are of another surface.

    reach : pixels between two taps. near : as a regression takes pixels together.
    """
    guide, view = guides_in(lit), through(camera, lit.shape[::-1])
    last, places = (lit.shape[0] - 1, lit.shape[1] - 1), tuple(np.indices(lit.shape))
    surface = surface_in(lit["variance"])
    for y in range(-taps, taps + 1):
        for x in range(-taps, taps + 1):
            offset = reach * x, reach * y
            at, outside = moved_by(places, offset, last)  # type: ignore[arg-type]
            exponent = (apart_from if near else unlike)(guide, pick(guide, at), view, reach, offset)  # type: ignore[arg-type]
            yield (x, y), at, outside, exponent, surface[at] != surface


def steadied(lit: NDArray, camera: Camera, samples: int) -> NDArray:
    """`LIT` of the variance of ``noise.glsl``."""
    made, own = lit.copy(), lit["variance"].astype(float)
    total, sums = np.ones(lit.shape), own.copy()
    for offset, at, outside, exponent, other in around(lit, camera, STRIDE, TAPS, True):
        if offset != (0, 0):
            weight = np.where(outside | other, 0, falling(exponent))
            total, sums = total + weight, sums + weight * np.maximum(own[at], 0)
    variance = (PRIOR * sums / total + (samples - 1) * own) / (PRIOR + samples - 1)
    moderated = (lit["nearness"] > 0) & (own >= 0)
    made["variance"] = np.where(moderated, with_surface(variance, surface_in(lit["variance"])), own)
    return made


def missed(lit: NDArray, relief: tuple, stride: int, camera: Camera) -> NDArray:
    """`RESIDUAL`, as of ``residual.glsl``. relief : light, gradient, base."""
    made = np.zeros(lit.shape, RESIDUAL.dtype)
    fitted = regression_twin.relit(lit, relief, stride, guides_in(lit), camera, surface_in(lit["variance"]))
    made["rgb"], made["variance"], made["light"] = lit["rgb"] - fitted, lit["variance"], fitted
    return made


def beyond(square: NDArray, noise: NDArray) -> NDArray:
    return np.where(square > DOUBT * noise, 1 - DOUBT * noise / np.where(square > 0, square, 1), 0)


def shrunk(lit: NDArray, residual: NDArray, camera: Camera, reach: int, last_level: bool) -> NDArray:
    """`RESIDUAL`, as of ``shrink.glsl``."""
    made = residual.copy()
    rgb, own, light = (residual[name].astype(float) for name in ("rgb", "variance", "light"))
    total, squares, variance, second = (np.zeros(lit.shape) for _ in range(4))
    first = np.zeros_like(rgb)
    for (x, y), at, outside, exponent, other in around(lit, camera, reach, 2, False):
        outside = outside | (lit["nearness"][at] <= 0)
        weight = np.where(outside | other, 0, KERNEL[x + 2] * KERNEL[y + 2] * falling(exponent))
        total, squares, variance = total + weight, squares + weight**2 * own[at], variance + weight * own[at]
        first += weight[..., None] * rgb[at]
        second += weight * (rgb[at] @ LUMINANCE) ** 2
    total = np.where(total > 0, total, 1)
    first, squares = first / total[..., None], squares / total**2
    mean = first @ LUMINANCE
    noise = np.maximum(np.maximum(variance / total, own) - squares, 0)
    share = beyond(np.maximum(second / total - mean**2, 0), noise)
    light = light + share[..., None] * (rgb - first)
    if last_level:
        light = light + beyond(mean**2, squares)[..., None] * first
    known = (own >= 0) & (lit["nearness"] > 0)
    made["rgb"], made["variance"] = np.where(known[..., None], first, 0), np.where(known, squares, -1)
    made["light"] = np.where(known[..., None], light, residual["light"])
    return made


def bounded(lit: NDArray, residual: NDArray, camera: Camera) -> NDArray:
    """(H, W, 3) light, as of ``bounded.glsl``."""
    light, variance = residual["light"].astype(float), lit["variance"].astype(float)
    taps = [tap for tap in around(lit, camera, 1, 1, True) if tap[0] != (0, 0)]
    there = np.array([~outside & (lit["nearness"][at] > 0) for _, at, outside, _, _ in taps])
    alike = there & np.array([(exponent <= ALIKE) & ~other for *_, exponent, other in taps])
    near = np.maximum([light[at] for _, at, *_ in taps], 0)
    counted = np.where(alike.sum(0) >= LEAST, alike, there)
    dark, bright = (
        np.sort(np.where(counted[..., None], near, fill), axis=0)[rank] for fill, rank in ((1e30, 1), (-1e30, -2))
    )
    off = light - np.clip(light, dark, np.maximum(bright, dark))
    apart = (np.abs(off) @ LUMINANCE) ** 2
    noise = CONFIRMED * variance
    share = np.where((variance < 0) | (apart <= noise), 1, noise / np.where(apart > 0, apart, 1))
    held = np.maximum(np.where((counted.sum(0) >= LEAST)[..., None], light - share[..., None] * off, light), 0)
    mean = (there[..., None] * near).sum(0) / np.maximum(there.sum(0), 1)[..., None]
    return np.where((lit["nearness"] > 0)[..., None], held, mean)


def reconstructed(lit: NDArray, camera: Camera, samples: int, stride: int = 1) -> NDArray:
    """(H, W, 3): the light of least error of records of `LIT`."""
    steady = steadied(lit, camera, samples) if samples > 1 else lit
    residual = missed(steady, regression_twin.fitted(steady, steady, camera, stride)[0], stride, camera)
    for reach in REACHES if samples > 1 else ():
        residual = shrunk(steady, residual, camera, reach, reach == REACHES[-1])
    return bounded(steady, residual, camera)
