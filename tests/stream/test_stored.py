"""Floats of 24 bits, s16e7, in NumPy and in GLSL: the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from glsl_call import Function

from raystream.stream.declare.limits import rounded

BITS = 7  # of the mantissa, that are dropped


def test_what_24_bits_hold_stays_and_the_rest_is_the_nearest() -> None:
    """17 bits, the leading one with them: whole numbers to 2^17; of two as near the even one."""
    whole = np.arange(-(1 << 17), (1 << 17) + 1, dtype=np.float32)
    assert np.array_equal(rounded(whole), whole)
    assert rounded(np.float32([131073, 131075, 131074])).tolist() == [131072, 131076, 131074]
    values = np.random.default_rng(3).normal(0, 100, 4000).astype(np.float32)
    near = rounded(values)
    step = np.spacing(np.abs(near)) * (1 << BITS)
    assert (np.abs(near.astype(np.float64) - values) <= step / 2).all()
    assert np.array_equal(rounded(near), near) and (near != values).mean() > 0.9


def test_what_is_too_small_or_too_large() -> None:
    small, large = np.float32(2.0**-62), np.float32((2 - 2.0**-16) * 2.0**63)
    given = np.float32([small, small * 0.9, -small * 0.5, 0.0, -0.0, large, 3.4e38, -np.inf, np.nan])
    made = rounded(given)
    assert made[:8].tolist() == [small, 0, 0, 0, 0, large, large, -large] and np.isnan(made[8])
    assert np.signbit(made[[2, 4, 7]]).all()


@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_the_device_rounds_as_numpy_does(device, spread: float) -> None:
    rng = np.random.default_rng(7)
    sizes = np.exp2(rng.uniform(-4 * spread, 4 * spread, (500, 4)))
    values = (rng.choice([-1, 1], (500, 4)) * sizes).astype(np.float32)
    values[0] = [0.0, 3.4e38, 131073.0, 2.0**-62]
    (made,) = Function(device, "vec4 stored(vec4 values)", includes=["lib/stored.glsl"])(values)
    assert np.array_equal(np.asarray(made, np.float32).view(np.uint32), rounded(values).view(np.uint32))
