"""Checks that every lobe of glTF's materials is put to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from bsdf_twin import Array, sphere_grid


def seen_at(cosine: float, angle: float = 0.7) -> Array:
    """(3,) wo above, as float32 has it."""
    sine = np.sqrt(1 - cosine * cosine)
    return np.array([sine * np.cos(angle), sine * np.sin(angle), cosine], np.float32).astype(float)


def hemisphere(count: int, seed: int, lowest: float = 0.0) -> Array:
    """(N, 3) directions above, even in height, as float32 has them."""
    random = np.random.default_rng(seed)
    z, turn = random.uniform(lowest, 1, count), random.uniform(0, 2 * np.pi, count)
    radius = np.sqrt(1 - z * z)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn), z], axis=-1).astype(np.float32).astype(float)


def follows(
    wi: Array,
    density: Callable[[Array], Array],
    rings: int = 10,
    columns: int = 12,
    finer: int = 24,
    quadrature: float = 0.0,
) -> None:
    """Asserts by chi-square, over cells of equal solid angle, that directions wi (N, 3) have a density. Directions of
    zeros are absorbed: they count in N, and the density does not integrate to 1. quadrature : relative error of the
    midpoint rule over a cell, which then spreads with the counts."""
    count = len(wi)
    kept = wi[np.abs(wi).sum(axis=1) > 0].astype(float)
    ring = np.minimum((1 - kept[:, 2]) / 2 * rings, rings - 1).astype(int)
    column = ((np.arctan2(kept[:, 1], kept[:, 0]) / (2 * np.pi)) % 1 * columns).astype(int) % columns
    found = np.bincount(ring * columns + column, minlength=rings * columns)
    grid, cell = sphere_grid(rings * finer, columns * finer)
    share = (density(grid) * cell).reshape(rings, finer, columns, finer).sum(axis=(1, 3)).ravel()
    expected = count * share
    used = expected > 25
    variance = expected + (quadrature * expected) ** 2
    statistic, freedom = (((found - expected) ** 2)[used] / variance[used]).sum(), int(used.sum())
    # A chi-square of n degrees is normal with mean n and variance 2 n to good measure: within five deviations.
    off = statistic - freedom if quadrature else abs(statistic - freedom)
    assert freedom > 10 and off < 5 * np.sqrt(2 * freedom), (statistic, freedom)
    assert abs(found.sum() - expected.sum()) < 5 * np.sqrt(count) + 0.01 * count
    assert found[expected < 0.01].sum() <= 5
