"""The weight of multiple importance sampling against its formula in float64."""

from __future__ import annotations

import numpy as np
from glsl_call import Function

from raystream.lighting.path import path_settings


def test_is_the_power_heuristic(device) -> None:
    """Veach 1997, section 9.2.2, of squares: p^2 / (p^2 + q^2), though squares leave the range of floats."""
    weight = Function(device, "float mis_weight(float mine, float other)", modules=[path_settings()])
    rng = np.random.default_rng(7)
    mine, other = (10.0 ** rng.uniform(-12, 12, 3000).astype(np.float32) for _ in range(2))
    mine[:500] = other[:500] * rng.uniform(0.25, 4, 500).astype(np.float32)  # where both matter
    expected = mine.astype(float) ** 2 / (mine.astype(float) ** 2 + other.astype(float) ** 2)
    # A quotient, a square, a sum and a quotient: half a unit in the last place each.
    np.testing.assert_allclose(weight(mine, other)[0], expected, rtol=5e-7, atol=1e-30)
    (both,) = np.add(weight(mine, other), weight(other, mine))
    np.testing.assert_allclose(both, 1, rtol=5e-7)
    values = [
        (1, 1, 0.5),
        (2, 1, 0.8),
        (1, 3, 0.1),
        (1, 0, 1),
        (0, 1, 0),
        (0, 0, 0),
        (1e30, 1e30, 0.5),
        (1e-30, 1e30, 0),
    ]
    mine, other, expected = np.float32(values).T
    np.testing.assert_allclose(weight(mine, other)[0], expected, rtol=3e-7)
