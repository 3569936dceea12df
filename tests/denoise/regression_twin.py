"""The regression over normals in NumPy, float64: the twin of ``shaders/film/regression``."""

from __future__ import annotations

import numpy as np
from alike_twin import (
    Guide,
    apart_from,
    falling,
    guides_in,
    moved_by,
    pick,
    surface_in,
    through,
    unlike,
    with_surface,
)
from numpy.typing import NDArray

from viewer.denoise.regression import DEVIATIONS, REACHES
from viewer.scene.camera import Camera
from viewer.scene.light import LUMINANCE

LEAST_RIDGE = 1e-3
DARKEST, BRIGHTEST = 0.25, 3.0
LEAST_WEIGHT = 1e-3  # of a point of another surface
NEAREST = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]
AROUND = [(x, y) for y in range(-2, 3) for x in range(-2, 3)]

Sums = dict[str, NDArray]  # fields of `MOMENTS`; "normals" is the whole matrix of their products


def kernel(x: int, y: int) -> int:
    """(1, 2, 1) squared."""
    return max(2 - abs(x), 0) * max(2 - abs(y), 0)


def points_of(size: tuple[int, int], stride: int) -> tuple[NDArray, NDArray]:
    """(rows, columns) of a lattice's points in a picture of ``size`` (width, height)."""
    rows, columns = np.indices((-(-size[1] // stride), -(-size[0] // stride)))
    return np.minimum(stride * rows, size[1] - 1), np.minimum(stride * columns, size[0] - 1)


def gathered(lit: NDArray, light: NDArray, camera: Camera, stride: int) -> Sums:
    """Of records of `LIT`."""
    size = lit.shape[::-1]
    guide, surface = guides_in(lit), surface_in(lit["variance"])
    view, points, last = through(camera, size), points_of(size, stride), (size[1] - 1, size[0] - 1)
    own, looks = pick(guide, points), (view[0][points], *view[1:])
    taps = []
    for offset in AROUND:
        at, outside = moved_by(points, offset, last)
        other = outside | (surface[at] != surface[points])
        taps.append((at, np.where(other, 0, falling(apart_from(own, pick(guide, at), looks, 2.0, offset)))))
    near = [(at, kernel(*offset) * weight) for offset, (at, weight) in zip(AROUND, taps, strict=True)]
    rgb, variance = light["rgb"].astype(float), light["variance"].astype(float)
    luminance = rgb @ LUMINANCE
    fields = {
        "rgb": rgb,
        "normal": guide[0],
        "nearness": guide[1],
        "normals": guide[0][..., :, None] * guide[0][..., None, :],
        "lit_normal": luminance[..., None] * guide[0],
    }
    total = sum(weight for _, weight in near)
    there = (own[1] > 0) & (total > 0)
    scale = np.where(there, 1 / np.where(there, total, 1), 0)
    made = {name: weighted(values, near, scale) for name, values in fields.items()}
    around = np.where(there, sum(weight for _, weight in taps), 1)
    first, second, known = (
        weighted(values, taps, 1 / around) for values in (luminance, luminance**2, np.maximum(variance, 0))
    )
    unknown = sum(weight * (variance[at] < 0) for at, weight in taps) > 0
    single = np.where(unknown, np.maximum(second - first**2, 0), known)
    variance = single * sum(weight**2 for _, weight in near) * scale**2
    made["variance"] = np.where(there, with_surface(variance, surface[points]), 0)
    return made


def weighted(values: NDArray, taps: list, scale: NDArray) -> NDArray:
    """Sum of values by taps (places, weights), times a scale of each point."""
    more = (1,) * (values.ndim - 2)
    return sum((weight * scale).reshape(*weight.shape, *more) * values[at] for at, weight in taps)


def spread(made: Sums, view: tuple, reach: int, strict: float) -> Sums:
    """A step of the transform; reach : points. view : of the lattice."""
    guide, value, noise = (made["normal"], made["nearness"]), made["rgb"] @ LUMINANCE, made["variance"]
    rows, columns = np.indices(value.shape)
    last, taps, surface = (value.shape[0] - 1, value.shape[1] - 1), [], surface_in(noise)
    for x, y in NEAREST:
        offset = reach * x, reach * y
        at, outside = moved_by((rows, columns), offset, last)
        range_ = np.sqrt(DEVIATIONS**2 * (noise + noise[at]) / 2 + 1e-12 * (1 + value**2))
        exponent = apart_from(guide, pick(guide, at), view, reach, offset) + strict * abs(value[at] - value) / range_
        taps.append((at, np.where(outside | (surface[at] != surface), 0, kernel(x, y) * falling(exponent))))
    total, there = sum(weight for _, weight in taps), guide[1] > 0
    scale = np.where(there, 1 / np.where(there, total, 1), 0)
    found = {name: weighted(values, taps, scale) for name, values in made.items() if name != "variance"}
    variance = sum(weight**2 * noise[at] for at, weight in taps) * scale**2
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
    view = through(camera, lit.shape[::-1])
    looks = view[0][points_of(lit.shape[::-1], stride)], stride * view[1], stride * view[2]
    made = gathered(lit, light, camera, stride)
    for step, reach in enumerate(REACHES):
        made = spread(made, looks, reach // stride, float(step > 0))
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
        return at, pick(guides, pixel), relief[0][at] * share[..., None], surfaces[pixel] == surface

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
