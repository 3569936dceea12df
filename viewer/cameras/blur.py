"""A picture of all directions out of focus."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from raystream.scene.environment import ImageEnvironment

LEAST_ROWS, MOST_ROWS = 16, 512
ROWS_ACROSS = 2.0  # across the standard deviation, of a picture as large as it has to be
STEPS = 16


def blurred(image: ImageEnvironment, degrees: float) -> NDArray[np.float32]:
    """(H, 2 H, 3): an image's pixels at rotation 0, blurred by a Gaussian of this standard deviation in degrees along
    every great circle; its mean over the sphere stays."""
    image = image.original or image
    return _spread(image, degrees) if image.pixels.flags.writeable else _kept(image, degrees)


def _spread(image: ImageEnvironment, degrees: float) -> NDArray[np.float32]:
    rows = math.ceil(180.0 * ROWS_ACROSS / degrees)
    rows = min(max(rows, LEAST_ROWS), MOST_ROWS, max(image.pixels.shape[0], LEAST_ROWS))
    return diffused(_reduced(image.pixels, rows), math.radians(degrees)).astype(np.float32)


_kept = lru_cache(maxsize=1)(_spread)


def _reduced(pixels: NDArray[np.float32], rows: int) -> NDArray[np.float64]:
    """(rows, 2 rows, 3): means of the pixels over its cells, by solid angle."""
    height = pixels.shape[0]
    edges = np.cos(np.linspace(0.0, math.pi, height + 1))
    weights = (edges[:-1] - edges[1:])[:, None]
    wide = _means(pixels.astype(np.float64).swapaxes(0, 1), np.ones((pixels.shape[1], 1)), 2 * rows).swapaxes(0, 1)
    return _means(wide, weights, rows)


def _means(values: NDArray[np.float64], weights: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """(count, W, 3): weighted means of (N, W, 3) over equal parts of the first axis, between whose edges sums are
    linear."""
    size = len(values)
    sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values * weights[..., None], axis=0)])
    weight_sums = np.concatenate([[0.0], np.cumsum(weights[:, 0])])
    at = np.linspace(0.0, size, count + 1)
    low = np.minimum(at.astype(int), size - 1)
    fraction = (at - low)[:, None, None]
    interpolated = sums[low] * (1 - fraction) + sums[low + 1] * fraction
    mass = weight_sums[low] * (1 - fraction[:, 0, 0]) + weight_sums[low + 1] * fraction[:, 0, 0]
    return np.diff(interpolated, axis=0) / np.diff(mass)[:, None, None]


def diffused(pixels: NDArray[np.float64], deviation: float) -> NDArray[np.float64]:
    """An equirectangular picture (H, W, 3) as the heat equation on the sphere leaves it when its kernel has that
    standard deviation along a great circle, in radians.

    Finite volumes in latitude, Fourier modes in longitude, and implicit Euler steps, so that nothing becomes negative
    and no heat is lost; the poles are places like any other.
    """
    height, width = pixels.shape[:2]
    modes = np.fft.rfft(pixels, axis=1)  # (H, M, 3)
    step = math.pi / height
    edges = np.linspace(0.0, math.pi, height + 1)
    area = np.cos(edges[:-1]) - np.cos(edges[1:])  # of a row per radian of longitude
    edge_conductance = np.sin(edges) / step  # what flows through an edge; nothing through the poles
    edge_conductance[0] = edge_conductance[-1] = 0.0
    wave_numbers = 2 * np.sin(math.pi * np.arange(modes.shape[1]) / width) / (2 * math.pi / width)
    row_conductance = step / np.sin((edges[:-1] + edges[1:]) / 2)
    time = deviation**2 / 2 / STEPS
    lower, upper = -time * edge_conductance[:-1], -time * edge_conductance[1:]
    diagonal = (area - lower - upper)[:, None] + time * row_conductance[:, None] * wave_numbers**2
    for _ in range(STEPS):
        modes = _solved(lower, diagonal, upper, modes * area[:, None, None])
    return np.maximum(np.fft.irfft(modes, width, axis=1), 0.0)


def _solved(
    lower: NDArray[np.float64], diagonal: NDArray[np.float64], upper: NDArray[np.float64], right: NDArray
) -> NDArray:
    """Solutions (H, M, 3) of tridiagonal systems along the first axis (L. H. Thomas, 1949); diagonal : (H, M)."""
    count, solution = len(diagonal), np.empty_like(right)
    factors = np.empty_like(diagonal)
    pivot = diagonal[0]
    solution[0] = right[0] / pivot[:, None]
    for row in range(1, count):
        factors[row] = upper[row - 1] / pivot
        pivot = diagonal[row] - lower[row] * factors[row]
        solution[row] = (right[row] - lower[row] * solution[row - 1]) / pivot[:, None]
    for row in range(count - 2, -1, -1):
        solution[row] -= factors[row + 1][:, None] * solution[row + 1]
    return solution
