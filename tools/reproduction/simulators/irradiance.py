"""Irradiance records with gradients: G. J. Ward, P. S. Heckbert, "Irradiance Gradients", Eurographics Workshop on
Rendering 1992. A record's rays give its irradiance and how that changes with the place; between records it is
interpolated with or without.

Arrays: N places, M x K directions of a hemisphere, M in height and K around.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Hemisphere:
    """Stratified directions about +z of equal shares of irradiance. directions : (M, K, 3)."""

    heights: int
    around: int
    directions: Array

    @classmethod
    def of(cls, heights: int, around: int, random: np.random.Generator, places: int) -> Hemisphere:
        """One direction in each stratum, (N, M, K, 3), anew for each place."""
        j, k = np.mgrid[:heights, :around]
        x, y = random.random((2, places, heights, around))
        sine2, azimuth = (j + x) / heights, 2 * np.pi * (k + y) / around
        sine = np.sqrt(sine2)
        directions = np.stack([sine * np.cos(azimuth), sine * np.sin(azimuth), np.sqrt(1 - sine2)], axis=-1)
        return cls(heights, around, directions)

    def irradiance(self, radiance: Array) -> Array:
        """(N,) of radiance (N, M, K)."""
        mean: Array = np.pi * radiance.mean(axis=(1, 2))
        return mean

    def gradient(self, radiance: Array, distance: Array) -> Array:
        """(N, 2) of the irradiance over x and y, of radiance from points at a distance, each (N, M, K).

        What is seen at the border of two strata moves as the nearer of the two does (section 3.2 of the paper).
        """
        m, k = self.heights, self.around
        border = np.sqrt(np.arange(m + 1) / m)  # sines of the angles between rows of strata
        middle = 2 * np.pi * (np.arange(k) + 0.5) / k
        edge = 2 * np.pi * np.arange(k) / k  # between stratum k - 1 and k
        rows = (radiance[:, 1:] - radiance[:, :-1]) / np.minimum(distance[:, 1:], distance[:, :-1])
        outward = 2 * np.pi / k * np.einsum("j,njk->nk", border[1:m] * (1 - border[1:m] ** 2), rows)
        before = np.roll(radiance, 1, axis=2), np.roll(distance, 1, axis=2)
        columns = (radiance - before[0]) / np.minimum(distance, before[1])
        sideways = np.einsum("j,njk->nk", border[1:] - border[:-1], columns)
        found: Array = np.stack(
            [
                outward @ np.cos(middle) - sideways @ np.sin(edge),
                outward @ np.sin(middle) + sideways @ np.cos(edge),
            ],
            axis=1,
        )
        return found


@dataclass(frozen=True)
class Records:
    """places (N, 2); irradiance (N,), its gradient (N, 2), and the harmonic mean of what is seen's distance (N,)."""

    places: Array
    irradiance: Array
    gradient: Array
    reach: Array

    def limited(self, least: float) -> Records:
        """With a reach within which the gradient changes the irradiance by no more than itself, but for ``least``,
        below which no reach falls; there the gradient is made smaller. Where a surface is near, a few rays decide."""
        slope = np.maximum(np.linalg.norm(self.gradient, axis=1), 1e-30)
        reach = np.maximum(least, np.minimum(self.reach, self.irradiance / slope))
        most = np.minimum(1, self.irradiance / (slope * reach))
        return Records(self.places, self.irradiance, self.gradient * most[:, None], reach)

    def sparse(self, error: float) -> Records:
        """Of these records, in their order, those that are nowhere within ``error`` of the reach of one before (G. J.
        Ward, F. M. Rubinstein, R. D. Clear, "A Ray Tracing Solution for Diffuse Interreflection", 1988)."""
        chosen: list[int] = []
        for number, place in enumerate(self.places):
            apart = np.linalg.norm(self.places[chosen] - place, axis=1)
            if (apart > error * self.reach[chosen]).all():
                chosen.append(number)
        return Records(*(each[chosen] for each in (self.places, self.irradiance, self.gradient, self.reach)))

    def interpolated(self, places: Array, error: float, gradients: bool) -> Array:
        """(P,) at places (P, 2), from all records within ``error`` of their reach, else from the nearest, each by the
        inverse of its distance in its reach."""
        apart = places[:, None] - self.places[None]
        off = np.maximum(np.linalg.norm(apart, axis=2) / self.reach, 1e-9)
        weights = np.where(off <= np.maximum(error, off.min(axis=1, keepdims=True)), 1 / off, 0)
        values = np.broadcast_to(self.irradiance, off.shape)
        if gradients:
            values = values + np.einsum("nc,pnc->pn", self.gradient, apart)
        found: Array = np.maximum(0, (weights * values).sum(axis=1) / weights.sum(axis=1))
        return found


@dataclass(frozen=True)
class Radiosity:
    """Radiance of matte triangles at the corners of (n + 1) x (n + 1) lattices over their barycentrics, and nothing of
    what is not: (T, n + 1, n + 1)."""

    values: Array

    def at(self, triangle: NDArray[Any], barycentrics: Array) -> Array:
        """(R,) linear between the lattice's corners; 0 where no triangle, -1, is."""
        n = self.values.shape[1] - 1
        u, v = (np.clip(each, 0, 1) * n for each in barycentrics.astype(np.float64).T)
        i, j = (np.minimum(each.astype(np.int64), n - 1) for each in (u, v))
        f, g = u - i, v - j
        table = self.values[triangle]
        row = np.arange(len(triangle))
        corner, right, up = table[row, i, j], table[row, i + 1, j], table[row, i, j + 1]
        below = corner + f * (right - corner) + g * (up - corner)
        beyond = table[row, np.minimum(i + 1, n), np.minimum(j + 1, n)]
        above = beyond + (1 - f) * (up - beyond) + (1 - g) * (right - beyond)
        value: Array = np.where(triangle < 0, 0.0, np.where(f + g <= 1, below, above))
        return value


def lattice(n: int) -> tuple[NDArray[Any], Array]:
    """Of a triangle's lattice the indices (P, 2) and barycentrics (P, 3) of its points, a little within it."""
    i, j = (each.ravel() for each in np.mgrid[: n + 1, : n + 1])
    within = i + j <= n
    i, j = i[within], j[within]
    weights = np.stack([n - i - j, i, j], axis=1) / n
    return np.stack([i, j], axis=1), weights + 1e-3 * (1 / 3 - weights)
