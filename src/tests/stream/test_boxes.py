"""A ray's way through a box is never shorter than the exact one, so that no hit in it is missed by rounding."""

from __future__ import annotations

import numpy as np
import pytest
from glsl_call import Function
from numpy.typing import NDArray

COUNT = 4000
ONE = "vec2 box_interval(vec3 low, vec3 high, vec3 origin, vec3 inverse, float farthest)"
TWO = "vec4 box_intervals(vec4 x, vec4 y, vec4 z, vec3 origin, vec3 inverse, float farthest)"
FAR = np.float32(3.4e38)


def given() -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray, NDArray]:
    """low, high, origin, inverse (N, 3) float32; and the exact distances (N,) float64 of entry and exit."""
    rng = np.random.default_rng(4)
    corners = rng.uniform(-3, 3, (2, COUNT, 3)).astype(np.float32)
    low, high = corners.min(axis=0), corners.max(axis=0)
    origin = rng.uniform(-5, 5, (COUNT, 3)).astype(np.float32)
    direction = rng.uniform(low, high) - origin  # through a point in the box
    inverse = (1 / direction).astype(np.float32)
    wide = [array.astype(np.float64) for array in (low, high, origin, inverse)]
    ends = np.stack([(wide[0] - wide[2]) * wide[3], (wide[1] - wide[2]) * wide[3]])
    return low, high, origin, inverse, np.maximum(ends.min(axis=0).max(axis=1), 0), ends.max(axis=0).min(axis=1)


@pytest.mark.parametrize("boxes", [1, 2])
def test_an_interval_holds_the_exact_one(device, boxes: int) -> None:
    """The exit has a factor of 1 + 2 gamma(3), about 1 + 6e-7 (T. Ize, "Robust BVH Ray Traversal", JCGT 2, 2, 2013).

    The difference and the product round by 2^-24 each; the entry's rounding is taken care of by the exit's factor.
    """
    low, high, origin, inverse, enters, leaves = given()
    far = np.full(COUNT, FAR)
    if boxes == 1:
        (found,) = Function(device, ONE, ["lib/box.glsl"])(low, high, origin, inverse, far)
        found = found[:, None, :]
    else:
        other = np.roll(low, 1, axis=0), np.roll(high, 1, axis=0)
        sides = [np.stack([low[:, k], other[0][:, k], high[:, k], other[1][:, k]], axis=1) for k in range(3)]
        (both,) = Function(device, TWO, ["lib/box.glsl"])(*sides, origin, inverse, far)
        found = both[:, [[0, 2], [1, 3]]]
    entry, exit_ = found[:, 0, 0].astype(np.float64), found[:, 0, 1].astype(np.float64)
    assert (exit_ >= leaves).all() and (entry <= exit_).all()
    # The factor, and three roundings of 2^-24; no more, or boxes would be entered for nothing.
    np.testing.assert_allclose(exit_, leaves * 1.0000006, rtol=3 * 2.0**-24)
    np.testing.assert_allclose(entry, enters, rtol=2 * 2.0**-24)
