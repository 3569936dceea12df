"""The reconstruction of a film's light in NumPy, float64, of records of `LIT` and `RESIDUAL`: the twin of the passes of
``shaders/film/denoise`` from ``block_moments.glsl`` to ``bounded.glsl``, but for the regression."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import regression_twin
from alike_twin import (
    MIXED,
    apart_from,
    falling,
    guides_in,
    moved_by,
    pick,
    reflectance,
    same_surface,
    surface_in,
    through,
    unlike,
    with_surface,
)
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from raystream.denoise.reconstruction import BLOCK, DETAIL_REACHES
from raystream.denoise.records import BLOCK_MOMENTS, RESIDUAL
from raystream.scene.camera import Camera
from raystream.scene.light import LUMINANCE

DEVIATIONS = 6.0  # of outliers.glsl
TAPS, LOOSE = 2, 1e-3  # of noise.glsl
KERNEL = 1, 2, 1  # of shrink.glsl
CONFIRMED, LEAST, ALIKE = 16.0, 3, 4.0  # of bounded.glsl


def around(lit: NDArray, camera: Camera, reach: int, taps: int, near: bool) -> Iterator[tuple]:
    """Offset, places, which are not in the picture, how far they are apart, and what their surfaces count.

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
            yield (x, y), at, outside, exponent, same_surface(surface[at], surface)


def block_moments(lit: NDArray) -> NDArray:
    """`BLOCK_MOMENTS` of blocks of `BLOCK` pixels a side."""
    rows, columns = (-(-side // BLOCK) for side in lit.shape)
    moments, light = np.zeros((rows, columns), BLOCK_MOMENTS.dtype), lit["rgb"].astype(float) @ LUMINANCE
    for row, column in np.ndindex(rows, columns):
        block = np.s_[row * BLOCK : (row + 1) * BLOCK, column * BLOCK : (column + 1) * BLOCK]
        values = np.sort(light[block][lit["nearness"][block] > 0])[:-1]
        moments[row, column] = len(values), values.sum(), (values**2).sum()
    return moments


def without_outliers(lit: NDArray, blocks: NDArray) -> NDArray:
    """`LIT`, as of ``outliers.glsl``."""
    bounded_lit, light = lit.copy(), (lit["rgb"].astype(float) @ LUMINANCE) * (lit["nearness"] > 0)
    neighbours = sliding_window_view(np.pad(light, 1), (3, 3)).reshape(*lit.shape, 9)
    second = np.sort(np.delete(neighbours, 4, axis=-1), axis=-1)[..., -2]
    for row, column in np.argwhere(light > 0):
        y, x = row // BLOCK, column // BLOCK
        around = blocks[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2]
        count, total, squares = (float(around[name].sum(dtype=float)) for name in ("count", "sum", "squares"))
        mean = total / (count + 1e-20)
        deviation = np.sqrt(max(squares / (count + 1e-20) - mean**2, 0))
        excess = light[row, column] - max(second[row, column], mean + DEVIATIONS * deviation)
        if excess <= 0:
            continue
        variance = float(lit["variance"][row, column])
        unconfirmed = 1.0 if variance < 0 else min(1.0, CONFIRMED * variance / excess**2)
        share = 1 - unconfirmed * excess / light[row, column]
        bounded_lit["rgb"][row, column] *= share
        variance *= 1.0 if variance < 0 else share**2
        bounded_lit["variance"][row, column] = with_surface(variance, surface_in(lit["variance"][row, column]))
    return bounded_lit


def steadied(lit: NDArray, camera: Camera, samples: int) -> NDArray:
    """`LIT` of the variance of ``noise.glsl``."""
    made, own, light = lit.copy(), lit["variance"].astype(float), lit["rgb"].astype(float) @ LUMINANCE
    total, sums, first, second = np.full(lit.shape, 1e-20), *(np.zeros(lit.shape) for _ in range(3))
    for offset, at, outside, exponent, same in around(lit, camera, 2 if samples > 1 else 1, TAPS, True):
        if offset != (0, 0):
            weight = np.where(outside | (lit["nearness"][at] <= 0), 0, falling(exponent) * same + LOOSE)
            total, sums = total + weight, sums + weight * own[at]
            first, second = first + weight * light[at], second + weight * light[at] ** 2
    prior, square = sums / total, light**2
    spread = (second + square) / (total + 1) - ((first + light) / (total + 1)) ** 2
    second = second / total
    carried = np.maximum(samples * square / (square + samples * own + 1e-30) - 1, 0)
    freedom = np.where(own < prior, np.where(own < 0, 0, carried), samples - 1.0)
    prior = prior * (second + freedom * square) / ((1 + freedom) * second + 1e-30)
    variance = (prior + freedom * own) / (1 + freedom) * (1 + 1 / samples**2)
    variance = np.where(own < 0, -np.maximum(spread, 1e-20), variance)
    made["variance"] = np.where(lit["nearness"] > 0, with_surface(variance, surface_in(lit["variance"])), own)
    return made


def mixed_light(
    lit: NDArray, relief: tuple, error: NDArray, stride: int, features: NDArray, fitted: NDArray
) -> NDArray:
    """(H, W, 3): of pixels of several surfaces the light of these, of others the ``fitted`` one."""
    (rgb, gradient, base), surface, found = relief, surface_in(lit["variance"]), fitted.copy()
    points, reflected = regression_twin.points_of(lit.shape[::-1], stride), reflectance(features)
    for row, column in np.argwhere((surface & 1 > 0) & (lit["nearness"] > 0)):
        light, total = np.zeros((2, 3)), np.zeros(2)
        for y in (-1, 0, 1):
            for x in (-1, 0, 1):
                middle = (row + stride // 2) // stride + y, (column + stride // 2) // stride + x
                at = tuple(np.clip(middle, 0, np.array(base.shape) - 1))
                pixel = points[0][at], points[1][at]
                if not lit["nearness"][pixel] > 0:
                    continue
                share = np.clip(
                    base[at] + gradient[at] @ lit["normal"][pixel], regression_twin.DARKEST, regression_twin.BRIGHTEST
                )
                whole = features["count"][pixel] / features["hits"][pixel]
                side, weight = int(surface[pixel] >> 1 != surface[row, column] >> 1), MIXED if surface[pixel] & 1 else 1
                total[side] += weight
                light[side] += weight * reflected[pixel] * whole * rgb[at] * share
        if total.min() > 0:
            own = features[row, column]
            hits = np.array((own["alike"], own["hits"] - own["alike"]))
            found[row, column] = (hits / total) @ light / (own["count"] * reflected[row, column])
    return found


def missed(lit: NDArray, relief: tuple, error: NDArray, stride: int, camera: Camera, features: NDArray) -> NDArray:
    """`RESIDUAL`, as of ``residual.glsl``. relief : light, gradient, base. error : their variance."""
    made = np.zeros(lit.shape, RESIDUAL.dtype)
    fitted = regression_twin.relit(lit, relief, stride, guides_in(lit), camera, surface_in(lit["variance"]))
    fitted = mixed_light(lit, relief, error, stride, features, fitted)
    made["rgb"], made["variance"], made["light"] = lit["rgb"] - fitted, lit["variance"], fitted
    rows, columns = ((each + stride // 2) // stride for each in np.indices(lit.shape))
    made["error"] = error[np.minimum(rows, error.shape[0] - 1), np.minimum(columns, error.shape[1] - 1)]
    return made


def beyond(square: NDArray, noise: NDArray) -> NDArray:
    return np.where(square > noise, 1 - noise / np.where(square > 0, square, 1), 0)


def shrunk(lit: NDArray, residual: NDArray, camera: Camera, reach: int, last_level: bool) -> NDArray:
    """`RESIDUAL`, as of ``shrink.glsl``."""
    made = residual.copy()
    rgb, own, light = (residual[name].astype(float) for name in ("rgb", "variance", "light"))
    total, squares, variance, second = (np.zeros(lit.shape) for _ in range(4))
    first = np.zeros_like(rgb)
    for (x, y), at, outside, exponent, same in around(lit, camera, reach, 1, False):
        outside = outside | (lit["nearness"][at] <= 0)
        weight = np.where(outside, 0, same * KERNEL[x + 1] * KERNEL[y + 1] * falling(exponent))
        total, squares, variance = total + weight, squares + weight**2 * own[at], variance + weight * own[at]
        first += weight[..., None] * rgb[at]
        second += weight * (rgb[at] @ LUMINANCE) ** 2
    total = np.where(total > 0, total, 1)
    first, squares = first / total[..., None], squares / total**2
    mean = first @ LUMINANCE
    noise = np.maximum(np.maximum(variance / total, own) - squares, 0)
    kept = beyond(np.maximum(second / total - mean**2, 0), noise)
    kept_mean = last_level * beyond(mean**2, squares)
    light = light + kept[..., None] * (rgb - first) + kept_mean[..., None] * first
    known = (own >= 0) & (lit["nearness"] > 0)
    made["rgb"], made["variance"] = np.where(known[..., None], first, 0), np.where(known, squares, -1)
    made["light"] = np.where(known[..., None], light, residual["light"])
    made["error"] += np.where(known, kept**2 * noise + kept_mean**2 * squares, 0)
    return made


def bounded(lit: NDArray, residual: NDArray, camera: Camera, features: NDArray) -> NDArray:
    """(H, W, 3) light, as of ``bounded.glsl``."""
    light, variance, error = (each.astype(float) for each in (residual["light"], lit["variance"], residual["error"]))
    taps, reflected = [tap for tap in around(lit, camera, 1, 1, True) if tap[0] != (0, 0)], reflectance(features)
    there = np.array([~outside & (lit["nearness"][at] > 0) for _, at, outside, _, _ in taps])
    alike = there & np.array([(exponent <= ALIKE) & (same == 1) for *_, exponent, same in taps])
    alike &= surface_in(lit["variance"]) & 1 == 0
    near = np.maximum([light[at] for _, at, *_ in taps], 0)
    albedo = np.array([reflected[at] for _, at, *_ in taps])
    counted = np.where(alike.sum(0) >= LEAST, alike, there)
    count = np.maximum(counted.sum(0), 1)
    mean = (counted[..., None] * near).sum(0) / count[..., None]
    squares = (counted * ((near @ LUMINANCE) ** 2 - np.array([error[at] for _, at, *_ in taps]))).sum(0) / count
    spread = np.maximum(squares - (mean @ LUMINANCE) ** 2, 0)
    spread += np.maximum(((light - mean) @ LUMINANCE) ** 2 - CONFIRMED * error, 0) / (count + 1)
    drawn = light + (error / (error + spread + 1e-30))[..., None] * (mean - light)

    def ranked(values: NDArray, fill: float, rank: int) -> NDArray:
        return np.sort(np.where(there[..., None], values, fill), axis=0)[rank]

    dark, bright = ranked(albedo * near, 1e30, 1), ranked(albedo * near, -1e30, -2)
    dull, shiny = ranked(albedo, 1e30, 1), ranked(albedo, -1e30, -2)
    low, high = (
        dark / np.maximum(np.maximum(reflected, dull), 1e-30),
        bright / np.maximum(np.minimum(reflected, shiny), 1e-30),
    )
    off = drawn - np.minimum(np.maximum(drawn, low), high)
    apart, noise = (np.abs(off) @ LUMINANCE) ** 2, CONFIRMED * variance
    share = np.where((variance < 0) | (apart <= noise), 1, noise / np.where(apart > 0, apart, 1))
    held = np.where((counted.sum(0) >= LEAST)[..., None], drawn - share[..., None] * off, light)
    every = (there[..., None] * near).sum(0) / np.maximum(there.sum(0), 1)[..., None]
    return np.where((lit["nearness"] > 0)[..., None], np.maximum(held, 0), every)


def reconstructed(lit: NDArray, camera: Camera, samples: int, features: NDArray, stride: int = 1) -> NDArray:
    """(H, W, 3): the light of least error of records of `LIT`."""
    steady = steadied(lit, camera, samples)
    residual = missed(steady, *regression_twin.fitted(steady, steady, camera, stride), stride, camera, features)
    for reach in DETAIL_REACHES if samples > 1 else ():
        residual = shrunk(steady, residual, camera, reach, reach == DETAIL_REACHES[-1])
    return bounded(steady, residual, camera, features)
