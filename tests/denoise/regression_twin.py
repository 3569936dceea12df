"""The regression over normals in NumPy, float64: the twin of ``gather.glsl``, ``spread.glsl``, ``solve.glsl`` and
``fitted_light.glsl`` of ``shaders/film/denoise``."""

from __future__ import annotations

import numpy as np
from alike_twin import (
    Guide,
    apart_from,
    falling,
    guides_in,
    moved_by,
    pick,
    same_surface,
    surface_in,
    through,
    unlike,
    with_surface,
)
from numpy.typing import NDArray

from raystream.denoise.reconstruction import FIT_REACHES
from raystream.scene.camera import Camera
from raystream.scene.light import LUMINANCE

LEAST_RIDGE, DEVIATIONS = 1e-3, 4.0
DARKEST, BRIGHTEST = 0.25, 3.0
LEAST_WEIGHT = 1e-3  # of a point of another surface
NEAREST = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]

Sums = dict[str, NDArray]  # fields of `MOMENTS`; "normals" is the whole matrix of their products


def kernel(x: int, y: int) -> int:
    """(1, 2, 1) squared."""
    return max(2 - abs(x), 0) * max(2 - abs(y), 0)


def points_of(size: tuple[int, int], stride: int) -> tuple[NDArray, NDArray]:
    """(rows, columns) of a lattice's points in a picture of ``size`` (width, height)."""
    rows, columns = np.indices((-(-size[1] // stride), -(-size[0] // stride)))
    return np.minimum(stride * rows, size[1] - 1), np.minimum(stride * columns, size[0] - 1)


def moments_of(lit: NDArray, light: NDArray) -> Sums:
    """Of records of `LIT`: of every pixel alone."""
    rgb, normal = light["rgb"].astype(float), lit["normal"].astype(float)
    variance = with_surface(np.abs(light["variance"]), surface_in(lit["variance"]))
    return {
        "rgb": rgb,
        "normal": normal,
        "nearness": lit["nearness"].astype(float),
        "normals": normal[..., :, None] * normal[..., None, :],
        "lit_normal": (rgb @ LUMINANCE)[..., None] * normal,
        "variance": variance,
    }


def weighted(values: NDArray, taps: list, scale: NDArray) -> NDArray:
    """Sum of values by taps (places, weights), times a scale of each point."""
    more = (1,) * (values.ndim - 2)
    return sum((weight * scale).reshape(*weight.shape, *more) * values[at] for at, weight in taps)


def spread(made: Sums, view: tuple, reach: int, strict: float, points: tuple | None = None) -> Sums:
    """A step of the transform; reach : points. view : of the lattice. points : (rows, columns) of those that are asked
    for; None: all."""
    points = tuple(np.indices(made["nearness"].shape)) if points is None else points
    shape, surfaces = made["nearness"].shape, surface_in(made["variance"])
    guides, values, noises = (made["normal"], made["nearness"]), made["rgb"] @ LUMINANCE, made["variance"]
    guide, value, noise, surface = pick(guides, points), values[points], noises[points], surfaces[points]
    view, taps = (view[0][points], *view[1:]), []
    for x, y in NEAREST:
        offset = reach * x, reach * y
        at, outside = moved_by(points, offset, (shape[0] - 1, shape[1] - 1))
        range_ = np.sqrt(DEVIATIONS**2 * (noise + noises[at]) / 2 + 1e-12 * (1 + value**2))
        exponent = apart_from(guide, pick(guides, at), view, reach, offset) + strict * abs(values[at] - value) / range_
        weight = kernel(x, y) * falling(exponent) * same_surface(surfaces[at], surface)
        taps.append((at, np.where(outside, 0, weight)))
    total, there = sum(weight for _, weight in taps), guide[1] > 0
    scale = np.where(there, 1 / np.where(there, total, 1), 0)
    found = {name: weighted(each, taps, scale) for name, each in made.items() if name != "variance"}
    variance = sum(weight**2 * noises[at] for at, weight in taps) * scale**2
    found["variance"] = np.where(there, with_surface(variance, surface), 0)
    return found


def solved(made: Sums) -> tuple[NDArray, NDArray, NDArray]:
    """Light (H, W, 3), gradient (H, W, 3) and base (H, W)."""
    value, mean = made["rgb"] @ LUMINANCE, made["normal"]
    lit = (made["nearness"] > 0) & (value > 0)
    safe = np.where(lit, value, 1)
    products = made["normals"].copy()
    products[..., 2, 2] = 1 - products[..., 0, 0] - products[..., 1, 1]
    covariance = products - mean[..., :, None] * mean[..., None, :]
    covariance[..., 2, 2] = np.maximum(covariance[..., 2, 2], 0)
    ridge = np.where(lit, LEAST_RIDGE + made["variance"] / safe**2, 1)
    told = made["lit_normal"] / safe[..., None] - mean
    gradient = np.linalg.solve(covariance + ridge[..., None, None] * np.eye(3), told[..., None])[..., 0]
    gradient = np.where(lit[..., None], gradient, 0)
    return made["rgb"], gradient, 1 - (gradient * mean).sum(-1)


def fitted(
    lit: NDArray, light: NDArray, camera: Camera, stride: int
) -> tuple[tuple[NDArray, NDArray, NDArray], NDArray]:
    """What `solved` gives, and the variance."""
    view, points = through(camera, lit.shape[::-1]), points_of(lit.shape[::-1], stride)
    made = spread(moments_of(lit, light), view, 1, 0.0, points)
    for step, reach in enumerate(FIT_REACHES):
        made = spread(made, (view[0][points], stride * view[1], stride * view[2]), reach // stride, float(step > 0))
    return solved(made), made["variance"]


def relit(lit: NDArray, relief: tuple, stride: int, guide: Guide, camera: Camera, surface: NDArray) -> NDArray:
    """(H, W, 3): the light of guides of another size, same view. lit : `LIT`. relief : light, gradient, base.
    surface : hashes (H, W) of the guides'."""
    height, width = guide[1].shape
    view, size = through(camera, (width, height)), lit.shape[::-1]
    scale = np.array((size[1] / height, size[0] / width))
    apart = stride / scale
    rows, columns = np.indices((height, width))
    place = [((at + 0.5) * scale[k] - 0.5) / stride for k, at in enumerate((rows, columns))]
    low = [np.floor(each).astype(int) for each in place]
    part = [each - whole for each, whole in zip(place, low, strict=True)]
    last = relief[0].shape[0] - 1, relief[0].shape[1] - 1
    guides, surfaces = guides_in(lit), surface_in(lit["variance"])

    def points(x: NDArray, y: NDArray) -> tuple:
        """Their places in the lattice, their guides, their light of the pixels' own normals, and which are of the
        pixels' surfaces."""
        at = np.clip(y, 0, last[0]), np.clip(x, 0, last[1])
        pixel = np.minimum(stride * at[0], size[1] - 1), np.minimum(stride * at[1], size[0] - 1)
        share = np.clip(relief[2][at] + (relief[1][at] * guide[0]).sum(-1), DARKEST, BRIGHTEST)
        return at, pick(guides, pixel), relief[0][at] * share[..., None], surfaces[pixel] >> 1 == surface >> 1

    total, sums = np.zeros((height, width)), np.zeros((height, width, 3))
    for x, y in ((0, 0), (1, 0), (0, 1), (1, 1)):
        at, other, light, same = points(low[1] + x, low[0] + y)
        near = (part[1] if x else 1 - part[1]) * (part[0] if y else 1 - part[0])
        offset = (at[1] - place[1]) * apart[1], (at[0] - place[0]) * apart[0]
        weight = near * (falling(unlike(guide, other, view, apart.max(), offset)) + LEAST_WEIGHT)
        weight = np.where((guide[1] > 0) & (other[1] <= 0), 0, weight) * np.where(same, 1, LEAST_WEIGHT)
        total, sums = total + weight, sums + weight[..., None] * light
    for step in (1, 2):
        lone = total <= 0
        for x in range(-1, 3):
            for y in range(-1, 3):
                at, other, light, _ = points(low[1] + step * x, low[0] + step * y)
                off = (at[1] - place[1]) ** 2 + (at[0] - place[0]) ** 2
                weight = np.where(lone & ~((guide[1] > 0) & (other[1] <= 0)), 1 / (1 + off**2), 0)
                total, sums = total + weight, sums + weight[..., None] * light
    return sums / np.maximum(total, 1e-6)[..., None]
