"""A blurred picture of all directions: its mean stays, and a spot becomes a Gaussian as wide as asked for, anywhere."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.lighting.backdrop import blurred, diffused
from raystream.scene.environment import ImageEnvironment


def angles(rows: int) -> np.ndarray:
    """(H,) solid angle of a pixel."""
    edges = np.cos(np.linspace(0, np.pi, rows + 1))
    return (edges[:-1] - edges[1:]) * np.pi / rows


def directions(rows: int) -> np.ndarray:
    """(H, 2 H, 3) of the pixels' middles."""
    down = (np.arange(rows) + 0.5) * np.pi / rows
    around = ((np.arange(2 * rows) + 0.5) / (2 * rows) - 0.5) * 2 * np.pi
    level = np.sin(down)[:, None]
    up = np.broadcast_to(np.cos(down)[:, None], (rows, 2 * rows))
    return np.stack([level * np.cos(around), up, level * np.sin(around)], axis=-1)


@pytest.mark.parametrize("row", [0, 20, 45])
def test_a_spot_spreads_by_the_deviation_along_great_circles(row: int) -> None:
    rows, degrees = 90, 12.0
    spot = np.zeros((rows, 2 * rows, 3))
    spot[row, 7] = 1.0
    made, towards = diffused(spot, np.radians(degrees)), directions(rows)
    weight = made[..., 0] * angles(rows)[:, None]
    cosine = np.clip(towards @ towards[row, 7], -1, 1)
    assert np.isclose(weight.sum(), angles(rows)[row], rtol=1e-9) and made.min() >= 0
    # The mean cosine of the heat kernel decays as its first harmonic: exp(-2 t) for a variance of 2 t along a line.
    expected = (1 + np.radians(degrees) ** 2 / 16) ** -16
    assert np.isclose((weight * cosine).sum() / weight.sum(), expected, rtol=2e-3)


def test_the_mean_and_what_is_constant_stay() -> None:
    made = np.random.default_rng(3).random((37, 74, 3)).astype(np.float32)
    wanted = (made * angles(37)[:, None, None]).sum(axis=(0, 1)) / (4 * np.pi)
    found = blurred(ImageEnvironment(made), 20.0)
    assert np.allclose((found * angles(len(found))[:, None, None]).sum(axis=(0, 1)) / (4 * np.pi), wanted, rtol=1e-4)
    assert np.ptp(found) < 0.3 * np.ptp(made)
    assert np.allclose(blurred(ImageEnvironment(np.full((20, 40, 3), 0.7, np.float32)), 5.0), 0.7, rtol=1e-5)
