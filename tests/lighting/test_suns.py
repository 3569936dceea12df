"""Suns of an environment's image as lights of their own: densities, what they carry, and which images have one."""

from __future__ import annotations

import math

import numpy as np
import places
import pytest
from test_environment_sampling import densities, directions, flux, sampled

import viewer.lighting.environment as lighting
from viewer import Camera
from viewer.film.film import LUMINANCE
from viewer.lighting.environment import LEVELS, environment, image_tables
from viewer.lighting.suns import sun_of
from viewer.scene.environment import ImageEnvironment
from viewer.scene.light import luminance
from viewer.scene.sky import sky


def with_sun(column: int = 40, row: int = 10, size: int = 2, around: float = 0.3) -> ImageEnvironment:
    pixels = np.full((32, 64, 3), around, np.float32)
    for k in range(size):
        pixels[row : row + size, (column + k) % 64] = (4000.0, 3600.0, 3000.0)
    return ImageEnvironment(pixels, rotation=25.0)


@pytest.mark.parametrize("column", [40, 63], ids=["inside", "across the edge"])
@pytest.mark.parametrize("compensated", [False, True])
def test_what_comes_from_a_sun_is_even(device, column: int, compensated: bool) -> None:
    """In an image whose texels' middles alone would tell, a direction's light over its density varied by 40 % and
    more; by the interpolation itself it varies as the sine of the polar angle does across a texel."""
    given = with_sun(column, size=1, around=0.0)
    module = environment(given)
    ways, density = sampled(device, module, 20_000, compensated)
    carried = luminance(given.radiance(ways)) / density
    kept = carried > 0.02 * carried.mean()  # at the edges both vanish, and roundings do not
    assert kept.mean() > 0.99
    assert carried[kept].std() < 0.05 * carried.mean()
    assert abs(carried.mean() / flux(given) - 1) < 0.02  # the grid of the flux is as coarse
    again = densities(device, module, ways, compensated)
    assert (np.abs(again / density - 1) < 1e-3).mean() > 0.99


@pytest.mark.parametrize("compensated", [False, True])
def test_densities_are_those_of_the_samples(device, compensated: bool) -> None:
    """Counts of samples in bands of density against its integral, by uniform directions, and in the sun's cells."""
    given = with_sun()
    tables, module, count = image_tables(given), environment(given), 200_000
    ways, density = sampled(device, module, count, compensated)
    share = tables.sun_levels[compensated] / LEVELS
    assert 0.5 < share <= 1.0
    of_sun = density > 1.0
    # Of its cells' edges some are less dense than that.
    assert of_sun.mean() == pytest.approx(share, abs=0.03)
    # Total: 1, as far as the sun is met by 400,000 uniform directions.
    others = directions(400_000)
    total = densities(device, module, others, compensated).astype(float) * 4 * math.pi
    assert abs(total.mean() - 1) < 4.5 * total.std() / math.sqrt(len(others))
    uniform = 1 / (4 * math.pi)
    carried = luminance(given.radiance(ways)) / (density.astype(float) + uniform)
    again = densities(device, module, others[:count], compensated)
    carried += luminance(given.radiance(others[:count])) / (again.astype(float) + uniform)
    assert abs(carried.mean() - flux(given)) < 4.5 * carried.std() / math.sqrt(count) + 2e-3 * flux(given)


def test_which_images_have_a_sun() -> None:
    """Not a wide glow, not many lamps, not a pole, not too faint: their tables, and so their bits, are as ever."""
    assert sun_of(with_sun()) is not None and sun_of(with_sun(63)) is not None and sun_of(sky(128)) is not None
    lamps = with_sun().pixels.copy()
    lamps[20, 5] = 5000.0
    faint = np.full((32, 64, 3), 1.0, np.float32)
    faint[10, 10] = 9.0
    for other in (lamps, faint, with_sun(row=0).pixels, np.ones((1, 1, 3)), np.zeros((4, 8, 3))):
        image = ImageEnvironment(np.asarray(other, np.float32))
        assert sun_of(image) is None
        module = environment(image)
        assert not module.features and len(module.memories) == 2
    assert environment(with_sun()).features == {"SUN"}


def test_the_picture_is_that_of_the_map(device, monkeypatch) -> None:
    """In the mean, with a tenth of the noise and less."""
    ground = places.quads(np.array([[[-2, 0, 2], [2, 0, 2], [2, 0, -2], [-2, 0, -2]]], float))
    ball = places.flat(places.sphere(1) * 0.4 + np.float32([0.2, 0.4, 0.3]), 1)
    kinds, camera = [places.material(0.7), places.material(0.5)], Camera((0, 1.6, 2.2), (0, 0, 0.1), fov=60)
    scene = places.scene([places.flat(ground, 0), ball], kinds, camera)
    chosen = {"machine": "singlepass", "sampler": "independent", "depth": 2}
    one = places.film(scene, (16, 12), 256, environment=with_sun(size=1), **chosen)
    monkeypatch.setattr(lighting, "sun_of", lambda _: None)
    other = places.film(scene, (16, 12), 256, environment=with_sun(size=1), seed=1, **chosen)
    apart = (one.mean() - other.mean()).astype(np.float64) @ LUMINANCE
    spread = one.variance() + other.variance()
    assert abs(apart.sum()) < 4.0 * np.sqrt(spread.sum())  # 6 in 100,000
    assert np.median(one.variance()[6:]) < 0.1 * np.median(other.variance()[6:])
