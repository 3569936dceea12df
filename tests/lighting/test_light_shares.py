"""With what probability each light is chosen: its power over all power, where that of far lights is through a disc."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.lighting.emitters import Emitters
from raystream.lighting.environment import excess_flux
from raystream.lighting.lights import QUANTA, light_list
from raystream.scene.environment import ConstantEnvironment
from raystream.scene.light import Light

NOTHING = Emitters(np.zeros((0, 3, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.int32))
BOX = ((-1.0, -2.0, -2.0), (1.0, 2.0, 2.0))  # the half of its diagonal is 3
DISC = 9 * math.pi
ROUNDING = 4 / QUANTA  # probabilities are whole quanta


def grey(value: float) -> tuple[float, float, float]:
    return (value, value, value)


def test_a_directional_light_shines_through_the_disc_around_the_scene() -> None:
    """Irradiance 1 through 9 pi square units, beside a point of 4 pi times its intensity."""
    sun = Light("directional", "sun", intensity=grey(1.0))
    for intensity, share in ((4.5, 1 / 3), (2.25, 1 / 2), (9.0, 1 / 5)):
        found = light_list(NOTHING, [Light("point", "lamp", intensity=grey(intensity)), sun], bounds=BOX)
        assert DISC / (DISC + 4 * math.pi * intensity) == pytest.approx(share)
        np.testing.assert_allclose(found.probability, [1 - share, share], atol=ROUNDING)


def test_an_environment_shines_through_the_same_disc() -> None:
    sky = ConstantEnvironment(grey(0.25))  # its flux is pi
    lamp = Light("point", "lamp", intensity=grey(9 * math.pi / 2))
    found = light_list(NOTHING, [lamp], sky, BOX)
    assert DISC * math.pi / (DISC * math.pi + 4 * math.pi * lamp.intensity[0]) == pytest.approx(1 / 3)
    # Shared out in steps of 2^16 quanta.
    np.testing.assert_allclose(found.environment_levels / QUANTA, 1 / 3, atol=0.5 / 256)
    np.testing.assert_allclose(found.probability, [2 / 3], atol=0.5 / 256)


def test_triangles_by_their_area_times_radiance() -> None:
    """Pi times area times luminance: of a triangle of area 2 and radiance 3, beside a point of intensity 1.5."""
    corners = np.float32([[[0, 0, 0], [2, 0, 0], [0, 2, 0]]])
    lit = Emitters(corners, np.float32([[3, 3, 3]]), np.zeros(1, np.int32))
    found = light_list(lit, [Light("point", "lamp", intensity=grey(1.5))], materials=1)
    np.testing.assert_allclose(found.probability, [0.5, 0.5], atol=ROUNDING)
    np.testing.assert_allclose(found.density, [0.25], rtol=1e-6)  # a half over the area, in float32


def test_what_exceeds_the_mean_of_texels_of_unequal_size() -> None:
    """Texels near the poles are small: of radiances 6, 1 and 1 over 0.5, 1 and 2.5 sr the mean is 6.5 / 4."""
    angles = np.array([0.5, 1.0, 2.5])
    flux = np.array([6.0, 1.0, 1.0]) * angles
    np.testing.assert_allclose(excess_flux(flux, angles), [3.0 - 6.5 / 4.0 * 0.5, 0.0, 0.0], rtol=1e-15)
    small = np.array([1.0, 6.0, 1.0]) * angles
    np.testing.assert_allclose(excess_flux(small, angles), [0.0, 6.0 - 9.0 / 4.0, 0.0], rtol=1e-15)
