"""Suns of an environment's image as lights of their own, and blurred backdrops: densities, and what they carry."""

from __future__ import annotations

import math

import numpy as np
import places
import pytest
from test_environment_sampling import densities, directions, flux, sampled

import raystream.lighting.environment as lighting
from raystream import Camera
from raystream.film.film import LUMINANCE
from raystream.lighting.backdrop import blurred, diffused
from raystream.lighting.environment import LEVELS, environment, image_tables
from raystream.lighting.suns import MAX_SUNS, Region, remaining_fraction, sun_flux, suns_of
from raystream.scene.environment import ImageEnvironment, sky
from raystream.scene.light import luminance


def with_sun(column: int = 40, row: int = 10, size: int = 2, around: float = 0.3) -> ImageEnvironment:
    pixels = np.full((32, 64, 3), around, np.float32)
    for k in range(size):
        pixels[row : row + size, (column + k) % 64] = (4000.0, 3600.0, 3000.0)
    return ImageEnvironment(pixels, rotation=25.0)


def with_suns() -> ImageEnvironment:
    """Four: over the edge; around a corner, in whose cells is a texel apart; of a colour; and small."""
    pixels = with_sun(63).pixels.copy()
    for row, column in ((20, 5), (21, 5), (22, 5), (22, 6), (22, 7), (20, 7), (14, 30)):
        pixels[row, column] = 3000.0
    pixels[5, 50:52] = (9000.0, 200.0, 0.0)
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


@pytest.mark.parametrize("given", [with_sun(), with_suns()], ids=["one", "several"])
@pytest.mark.parametrize("compensated", [False, True])
def test_densities_are_those_of_the_samples(device, compensated: bool, given: ImageEnvironment) -> None:
    """Counts of samples in bands of density against its integral, by uniform directions, and in the suns' cells."""
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


@pytest.mark.parametrize("given", [with_sun(), with_suns(), sky(128)], ids=["one", "several", "sky"])
def test_suns_and_the_rest_are_the_map(given: ImageEnvironment) -> None:
    """In float64: texel by texel, and as power, which suns and quanta are dealt out by."""
    suns, light = suns_of(given), luminance(given.pixels)
    height, width = light.shape
    total, flux, cells = light * remaining_fraction(given, suns), [], np.zeros(light.shape, int)
    for sun in suns:
        columns, rows = (np.arange(n + 1) + first for n, first in zip(sun.size, sun.first, strict=True))
        block = np.ix_(rows, columns % width)
        total[block] += sun.excess
        cells[np.ix_(rows[:-1], columns[:-1] % width)] += 1
        edges = np.concatenate([sun.excess[0], sun.excess[-1], sun.excess[:, 0], sun.excess[:, -1]])
        assert not edges.any() and sun.excess.max() > 0
        flux.append(sun_flux(given, sun).sum())
    np.testing.assert_allclose(total, light, rtol=1e-12)
    assert cells.max() == 1  # none belongs to two
    tables = image_tables(given)
    np.testing.assert_array_equal(tables.texels["sun"].reshape(light.shape) > 0, cells > 0)
    rest = (
        ImageEnvironment((given.pixels * remaining_fraction(given, suns)[..., None]).astype(np.float32))
        .cell_flux()
        .sum()
    )
    shares = np.array([*flux, rest]) / (sum(flux) + rest)
    starts = tables.sun_places["start"][: len(suns)]
    dealt = np.diff([*starts, tables.sun_levels[0], LEVELS])
    np.testing.assert_allclose(dealt / LEVELS, shares, atol=1 / LEVELS)
    # The suns' power is integrated by the interpolation, the map's by texels: both are off by the sine of the polar
    # angle within a texel.
    assert sum(flux) + rest == pytest.approx(given.flux, rel=(math.pi / height) ** 2)


def test_regions_that_share_cells_are_one_sun() -> None:
    suns = suns_of(with_suns())
    found = sorted((*sun.first, *sun.size) for sun in suns)
    assert found == [(4, 19, 4, 4), (29, 13, 2, 2), (49, 4, 3, 2), (62, 9, 3, 3)]
    many = np.full((64, 128, 3), 0.01, np.float32)
    many[20:40:5, 10:110:20] = np.arange(2000.0, 2020.0).reshape(4, 5, 1)
    lamps = ImageEnvironment(many)
    found = [float(sun_flux(lamps, sun).sum()) for sun in suns_of(lamps)]
    assert len(found) == MAX_SUNS and found == sorted(found, reverse=True)


def test_regions_meet_and_join_in_both_orders() -> None:
    """Against their cells, one by one, in an image as wide as a circle of 24 columns."""
    width, random = 24, np.random.default_rng(1)

    def cells(region: Region) -> set[tuple[int, int]]:
        rows = range(region.top - 1, region.top + region.down)
        return {(y, (region.left - 1 + k) % width) for y in rows for k in range(region.across + 1)}

    met = 0
    for _ in range(400):
        one, other = (Region(*map(int, random.integers((1, 0, 1, 1), (6, width, 4, 6)))) for _ in range(2))
        shares = not cells(one).isdisjoint(cells(other))
        assert one.overlaps(other, width) == other.overlaps(one, width) == shares
        if shares:
            joined = one.union(other, width), other.union(one, width)
            assert cells(joined[0]) == cells(joined[1]) >= cells(one) | cells(other)
            columns = {x for _, x in cells(one) | cells(other)}
            assert joined[0].across + 1 == len(columns)
            met += 1
    assert met > 40


def test_which_images_have_a_sun() -> None:
    """Not a wide glow, not a pole, not too faint: their tables, and so their bits, are as ever."""
    assert len(suns_of(with_sun())) == len(suns_of(with_sun(63))) == len(suns_of(sky(128))) == 1
    wide = with_sun(size=5).pixels
    faint = np.full((32, 64, 3), 1.0, np.float32)
    faint[10, 10] = 9.0
    for other in (wide, faint, with_sun(row=0).pixels, np.ones((1, 1, 3)), np.zeros((4, 8, 3))):
        image = ImageEnvironment(np.asarray(other, np.float32))
        assert not suns_of(image)
        module = environment(image)
        assert not module.features and len(module.memories) == 2 and not image_tables(image).texels["sun"].any()
    assert environment(with_sun()).features == {"SUN"}


@pytest.mark.parametrize(("given", "left"), [(with_sun(size=1), 0.1), (with_suns(), 0.7)], ids=["one", "several"])
def test_the_picture_is_that_of_the_map(device, monkeypatch, given: ImageEnvironment, left: float) -> None:
    """In the mean, with a tenth of the noise and less; of several, which one was chosen is noise that remains."""
    ground = places.quads(np.array([[[-2, 0, 2], [2, 0, 2], [2, 0, -2], [-2, 0, -2]]], float))
    ball = places.flat(places.sphere(1) * 0.4 + np.float32([0.2, 0.4, 0.3]), 1)
    kinds, camera = [places.material(0.7), places.material(0.5)], Camera((0, 1.6, 2.2), (0, 0, 0.1), fov=60)
    scene = places.scene([places.flat(ground, 0), ball], kinds, camera)
    chosen = {"machine": "singlepass", "sampler": "independent", "depth": 2}
    one = places.film(scene, (16, 12), 256, environment=given, **chosen)
    monkeypatch.setattr(lighting, "suns_of", lambda _: [])
    other = places.film(scene, (16, 12), 256, environment=given, seed=1, **chosen)
    apart = (one.mean() - other.mean()).astype(np.float64) @ LUMINANCE
    spread = one.variance() + other.variance()
    assert abs(apart.sum()) < 4.0 * np.sqrt(spread.sum())  # 6 in 100,000
    assert np.median(one.variance()[6:]) < left * np.median(other.variance()[6:])


def angles(rows: int) -> np.ndarray:
    """(H,) solid angle of a pixel."""
    edges = np.cos(np.linspace(0, np.pi, rows + 1))
    return (edges[:-1] - edges[1:]) * np.pi / rows


def grid_directions(rows: int) -> np.ndarray:
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
    made, towards = diffused(spot, np.radians(degrees)), grid_directions(rows)
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
