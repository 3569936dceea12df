"""Directions and boundaries at the ends of their ranges."""

from __future__ import annotations

import numpy as np
import pytest
from glsl_call import Function


@pytest.mark.parametrize("power", [-110, -70, 0, 60, 120])
def test_a_direction_has_unit_length_whatever_its_size(device, power: int) -> None:
    """Squares of such components leave the range of a float."""
    unit_or = Function(device, "vec3 unit_or(vec3 v, vec3 other)", ["lib/triangle_point.glsl"])
    given = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
    (found,) = unit_or(np.ldexp(given, power), np.tile([0, 1, 0], (200, 1)))
    wide = given.astype(np.float64)
    np.testing.assert_allclose(found, wide / np.linalg.norm(wide, axis=1, keepdims=True), atol=3e-7)


def test_what_has_no_direction_takes_the_other(device) -> None:
    unit_or = Function(device, "vec3 unit_or(vec3 v, vec3 other)", ["lib/triangle_point.glsl"])
    given = np.float32([[0, 0, 0], [1e-38, 0, 0], [np.nan, np.nan, np.nan], [0, 0, 1e-36]])
    (found,) = unit_or(given, np.tile([0, 1, 0], (4, 1)))
    np.testing.assert_array_equal(found, [[0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])


def test_a_boundary_between_equals_is_none(device) -> None:
    """Nothing is reflected, and nothing is bent, at any angle; exactly, since all of the formulas' terms cancel."""
    fresnel = Function(
        device, "float fresnel(float cosine, float ratio, out float cosine_behind)", ["lib/fresnel.glsl"]
    )
    cosine = np.float32([0, 1e-7, 0.1, 0.5, 0.99, 1])
    share, behind = fresnel(cosine, np.ones(6))
    np.testing.assert_array_equal(share, np.zeros(6))
    np.testing.assert_array_equal(behind, cosine)
