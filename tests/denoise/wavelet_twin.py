"""The wavelet denoiser in NumPy, float64: the twin of ``shaders/film/denoise``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.denoise.filter import STEPS, deviations
from viewer.denoise.view import view_uniforms
from viewer.film.error.convergence import Halves
from viewer.scene.camera import Camera
from viewer.scene.light import LUMINANCE

NORMAL_FALL, PLANE_FALL, SLOPE_SLACK, LEAST, SHORT = 60.0, 100.0, 0.1, 0.05, 3.0
WHOLE, RANGE = 2.8, 9.0
EDGE, NOISE = 0.04, 0.14
STEADY, SQUARE, ALONE, OWN, GAIN = range(-4, 5, 2), 1.57, 1.25, 0.5, 2.0
FIREFLY, CALM, QUIET, LEVEL = 9.0, 2.0, 1e-6, 0.5
AXES = [(-1, 0), (1, 0), (0, -1), (0, 1)]
BESIDE = [*AXES, (-1, -1), (1, 1)]

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


def pick(guide: Guide, at: tuple[NDArray, NDArray]) -> Guide:
    return guide[0][at], guide[1][at]


def moved_by(at: tuple[NDArray, NDArray], offset: tuple[NDArray, NDArray], last: tuple[int, int]) -> tuple:
    """Places (rows, columns) at an offset (right, down), no further than the last ones, and which are not there."""
    wanted = at[0] + offset[1], at[1] + offset[0]
    place = np.clip(wanted[0], 0, last[0]), np.clip(wanted[1], 0, last[1])
    return place, (place[0] != wanted[0]) | (place[1] != wanted[1])


def rivals(guide: Guide, view: tuple[NDArray, ...], low: tuple, high: tuple, at: tuple, odd: tuple) -> list[NDArray]:
    """How much of their light pixels share with the points of the lattice before and behind them, both pixels too;
    high : with which of them are not there. odd : from the one to the pixel, and from there to the other."""
    mine = pick(guide, at), (view[0][at], *view[1:])
    weights = [falling(unlike(mine[0], pick(guide, low), mine[1], 1, (-odd[0], -odd[1])))]
    weights.append(np.where(high[1], 0, falling(unlike(mine[0], pick(guide, high[0]), mine[1], 1, odd))))
    return [weight / np.maximum(weights[0] + weights[1], 1) for weight in weights]


def same_light(luminance: NDArray, value: NDArray, variance: NDArray) -> NDArray:
    off = luminance - value
    return falling(np.maximum(off**2 / (RANGE * variance + 1e-12 * (1 + value**2)) - 1, 0))


def noise_around(guide: Guide, view: tuple[NDArray, ...], luminance: NDArray, points: tuple) -> NDArray:
    """How much of the spread of light around the lattice's points is noise, as of ``pool_single.glsl``."""
    last = luminance.shape[0] - 1, luminance.shape[1] - 1
    mine = pick(guide, points), (view[0][points], *view[1:])
    lights, alike = {}, {}
    for dx in range(-2, 3):
        for dy in range(-2, 3):
            at, outside = moved_by(points, (dx, dy), last)
            lights[dx, dy] = luminance[at]
            alike[dx, dy] = np.where(outside, 0, falling(unlike(mine[0], pick(guide, at), mine[1], 1, (dx, dy))))
    third, mean = np.zeros(points[0].shape), np.zeros(points[0].shape)
    around = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    for x, y in around:
        others = [(x + dx, y + dy) for dx, dy in around if dx or dy]
        apart = np.array([(lights[other] - lights[x, y]) ** 2 for other in others])
        weight = np.array([alike[other] for other in others])
        here = (weight * apart).sum(0) / (weight.sum(0) + 1e-20)
        third += alike[x, y] * np.minimum(np.sort(np.where(weight > 0.5, apart, 1e30), axis=0)[2], here)
        mean += alike[x, y] * here
    share = np.clip((third / np.where(mean > 0, mean, 1) - EDGE) / (NOISE - EDGE), 0, 1)
    return np.where(mean > 0, share, 1)


def variance_of(film: NDArray, halves: Halves | None, efficiency: float) -> NDArray:
    """Of the mean's luminance; -1 where it is not known."""
    count = film["count"].astype(float)
    variance = np.where(count > 1, efficiency * film["square"] / np.maximum(count * (count - 1), 1), -1.0)
    if halves is None:
        return variance
    kept, total = halves.count.astype(float), film["sum"] @ LUMINANCE
    apart = (2 * halves.sum - total) / np.maximum(kept, 1)
    return np.where((kept > 0) & (count == 2 * kept), apart**2 / 4, variance)


def steady(guide: Guide, view: tuple[NDArray, ...], luminance: NDArray, variance: NDArray) -> NDArray:
    """The variance of every pixel by those around, as of ``steady.glsl``."""
    pixels = np.indices(luminance.shape)
    last = luminance.shape[0] - 1, luminance.shape[1] - 1
    weights, places, spreads, lights = [], [], np.zeros(luminance.shape), []
    for dy in STEADY:
        for dx in STEADY:
            at, outside = moved_by((pixels[0], pixels[1]), (dx, dy), last)
            weight = falling(unlike(guide, pick(guide, at), view, 2, (np.array(dx), np.array(dy)))) * ~outside
            spreads += weight * np.sqrt(np.maximum(variance[at], 0))
            if dx or dy:
                weights.append(weight)
                places.append((1.0, dx, dy))
                lights.append(luminance[at])
    weight, place, light = np.moveaxis(weights, 0, -1), np.array(places), np.moveaxis(lights, 0, -1)
    others = weight.sum(-1)
    share = weight / np.maximum(others, 1e-20)[..., None]
    mean = SQUARE * (spreads / (1 + others)) ** 2
    # The plane of least squares, its slope held back by LEVEL, and what the light around is off it.
    centre, level = share @ place[:, 1:], (share * light).sum(-1)
    off = place[:, 1:] - centre[..., None, :]
    normal = np.einsum("...k,...ki,...kj->...ij", share, off, off) + LEVEL * 4 * np.eye(2)
    along = np.einsum("...k,...ki,...k->...i", share, off, light - level[..., None])
    slope = np.linalg.solve(normal, along[..., None])[..., 0]
    middle = level - (slope * centre).sum(-1)
    square = np.maximum((share * (light - level[..., None]) ** 2).sum(-1) - (slope * along).sum(-1), 0)
    off_plane = np.where(others > 0, luminance - middle, 0)
    around = (others * square + off_plane**2) / (1 + others)
    noise_share = np.minimum(ALONE * mean / np.maximum(around, 1e-30), 1) ** 2
    made = (1 - noise_share) * variance + noise_share * GAIN * np.maximum(mean, OWN * variance)
    noise = np.maximum(mean - QUIET * middle**2, 0)
    calm = np.minimum(CALM * noise / np.maximum(square, 1e-30), 1) ** 2
    apart = np.where(others > 1, np.maximum(off_plane, 0), 0)
    made = np.maximum(made, calm * np.maximum(apart**2 - FIREFLY * mean, 0))
    return with_reflected(made, reflected_in(variance))


def denoised(
    film: NDArray, features: NDArray, camera: Camera, halves: Halves | None = None, efficiency: float = 1.0
) -> NDArray:
    """(H, W, 3) of records of `FILM`, `FEATURES`."""
    count, hits = film["count"].astype(float), features["hits"].astype(float)
    seen = np.maximum(features["count"], 1).astype(float)[..., None]
    emission = features["emission"] / seen
    reflected = np.maximum(features["albedo"].astype(float), LEAST * hits[..., None]) / seen
    safe = np.maximum(reflected, 1e-6)
    light = np.where(hits[..., None] > 0, (film["sum"] / np.maximum(count, 1)[..., None] - emission) / safe, 0)
    variance = variance_of(film, halves, efficiency)
    variance = np.where(variance > 0, variance / (safe @ LUMINANCE) ** 2, variance)
    variance = with_reflected(np.where(hits > 0, variance, 0.0), safe @ LUMINANCE)
    bright, luminance = reflected_in(variance), light @ LUMINANCE
    guide, view = guide_of(features, camera), through(camera, features.shape[::-1])
    if halves is not None:
        variance = steady(guide, view, luminance, variance)
    height, width = count.shape
    last = height - 1, width - 1

    # The lattice's points take the light of the pixels beside them.
    points = tuple(2 * each for each in np.indices((-(-height // 2), -(-width // 2))))
    given = [(points, np.ones(points[0].shape))]
    total, first, second, known = (
        np.array(each[points]) for each in (np.ones_like(bright), luminance, luminance**2, variance)
    )
    known = np.maximum(known, 0)
    for dx, dy in BESIDE:
        at, outside = moved_by(points, (dx, dy), last)
        beyond = moved_by(points, (2 * dx, 2 * dy), (last[0] & ~1, last[1] & ~1))
        odd = dx, dy
        mine = pick(guide, at), (view[0][at], *view[1:])
        weight = np.where(outside, 0, falling(unlike(mine[0], pick(guide, points), mine[1], 1, (-odd[0], -odd[1]))))
        total, first, second = total + weight, first + weight * luminance[at], second + weight * luminance[at] ** 2
        known = known + weight * np.maximum(variance[at], 0)
        given.append((at, np.where(outside, 0, rivals(guide, view, points, beyond, at, odd)[0])))
    first, known = first / total, known / total
    around = np.maximum(second / total - first**2, 0)
    trust = np.where(variance[points] < 0, 1, np.minimum(known / np.maximum(around, 1e-30), 1) ** 2)
    noise = noise_around(guide, view, luminance, points) if count.max() == 1 else 1.0
    known = np.where(variance[points] < 0, around * noise, known * trust)
    weights, sums, squares = np.zeros_like(total), np.zeros((*total.shape, 3)), np.zeros_like(total)
    for at, share in given:
        weight = share * same_light(luminance[at], first, known) * bright[at]
        weights += weight
        sums += weight[..., None] * light[at]
        squares += weight**2 * np.where(variance[at] < 0, known, variance[at] * trust)
    scale = 1 / np.maximum(weights, 1e-6)
    wide, spread = sums * scale[..., None], with_reflected(squares * scale**2, 0.25 * weights)

    # The transform.
    there, share = pick(guide, points), reflected_in(spread)
    looks = view[0][points], 2 * view[1], 2 * view[2]
    indices, end = np.indices(total.shape), (total.shape[0] - 1, total.shape[1] - 1)
    for step in range(STEPS):
        reach, turn, value = 1 << step, 1 - 2 * (step % 2), wide @ LUMINANCE
        all_, sums, squares = np.zeros_like(spread), np.zeros_like(wide), np.zeros_like(spread)
        for dx, dy in [*AXES, (-1, -turn), (1, turn)]:
            at, outside = moved_by((indices[0], indices[1]), (reach * dx, reach * dy), end)
            exponent = (
                dx * dx
                + dy * dy
                + unlike(there, pick(there, at), looks, reach, (np.array(reach * dx), np.array(reach * dy)))
            )
            range_ = np.sqrt(deviations(int(count.max())) ** 2 * (spread + spread[at]) / 2 + 1e-12 * (1 + value**2))
            weight = falling(exponent + np.abs(value[at] - value) / range_) * ~outside
            weight *= np.minimum(1, share[at] / np.maximum(share, 1e-6))
            all_ += weight
            sums += weight[..., None] * wide[at]
            squares += weight**2 * spread[at]
        rest = WHOLE - all_
        wide = (sums + rest[..., None] * wide) / WHOLE
        spread = with_reflected((squares + rest**2 * spread) / WHOLE**2, share)

    # Pixels take it back.
    y, x = np.indices(count.shape)
    odd, low = (x & 1, y & 1), (y >> 1, x >> 1)
    high = moved_by(low, odd, end)
    pixels = tuple(2 * each for each in low), (tuple(2 * each for each in high[0]), high[1])
    parts = rivals(guide, view, *pixels, (y, x), odd)
    alone = (odd[0] | odd[1]) == 0
    parts = [np.where(alone, 1, parts[0]), np.where(alone, 0, parts[1])]
    parts = [part * same_light(luminance, first[at], known[at]) for part, at in zip(parts, (low, high[0]), strict=True)]
    one, other = (part[..., None] for part in parts)
    mixed = one * wide[low] + other * wide[high[0]] + (1 - one - other) * light
    return mixed * reflected + emission
