"""Environments as data: what is refused; the published sky, its sun, and the studio."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene.environment import (
    ALBEDO,
    FILL_ANGLES,
    IRRADIANCE,
    KEY_ANGLES,
    MOST_TEXELS,
    SCALE,
    ConstantEnvironment,
    ImageEnvironment,
    _sky_radiance,
    _texel_grid,
    cached_by_pixels,
    sky,
    studio,
    sunlight,
)
from raystream.scene.geometry.framing import AROUND
from raystream.scene.light import luminance


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 4), (4, 4, 4)])
def test_what_is_no_picture(shape) -> None:
    with pytest.raises(ViewerError, match="expected"):
        ImageEnvironment(np.zeros(shape, np.float32))


def test_more_texels_than_addresses() -> None:
    wide = np.broadcast_to(np.float32(1), (2, MOST_TEXELS // 2 + 1, 3))
    with pytest.raises(ViewerError, match="can be addressed"):
        ImageEnvironment(wide)


@pytest.mark.parametrize("radiance", [(math.nan, 0, 0), (-1, 0, 0), (0, math.inf, 0)])
def test_what_is_no_radiance(radiance) -> None:
    with pytest.raises(ViewerError, match="numbers from 0"):
        ConstantEnvironment(radiance)
    with pytest.raises(ViewerError, match="rotation of nan"):
        ImageEnvironment(np.ones((1, 2, 3), np.float32), rotation=math.nan)


def test_the_sky_lights_a_level_plane_like_paper_in_the_sun() -> None:
    given = sky()
    height = len(given.pixels)
    polar = (np.arange(height) + 0.5) * np.pi / height
    level = luminance(given.pixels) * (np.maximum(np.cos(polar), 0) * given.solid_angles())[:, None]
    assert level.sum() == pytest.approx(math.pi, rel=0.01)  # of white paper: a radiance of about 1
    # Smooth: no step larger than a quarter of the sun's middle between neighbours.
    steps = max(np.abs(np.diff(luminance(given.pixels), axis=axis)).max() for axis in (0, 1))
    assert steps < 0.25 * luminance(given.pixels).max()
    assert given.pixels.min() > 0.05  # nothing is quite dark


def test_what_is_made_of_the_sky_is_made_once() -> None:
    """Whatever its rotation; of a picture that its owner may write to every time."""
    asked: list[ImageEnvironment] = []
    light = cached_by_pixels(lambda image: asked.append(image) or float(image.pixels.sum()))
    assert sky() is sky() and not sky().pixels.flags.writeable
    whole = light(sky())
    assert [light(sky().rotated(degrees)) for degrees in (0, 90, -20)] == [whole] * 3 and asked == [sky()]
    own = ImageEnvironment(np.ones((2, 4, 3), np.float32))
    assert light(own.rotated(30)) == 24
    own.pixels[:] = 2
    assert light(own.rotated(30)) == 48
    assert light(sky(64)) < whole and light(sky(64)) == light(sky(64).rotated(5)) and len(asked) == 4


def test_a_rotation_is_checked_and_keeps_the_flux() -> None:
    assert sky().rotated(30).rotated(5).flux == sky().flux and sky().rotated(30).rotated(5).rotation == 5
    with pytest.raises(ViewerError, match="rotation of nan"):
        sky().rotated(float("nan"))


# By Hosek and Wilkie's own C code (version 1.4a, linear sRGB), turbidity 2.5, ground albedo 0.5: the sun's elevation,
# the direction's angle to the zenith and to the sun, degrees.
PUBLISHED = {
    (40, 10, 2): (8.11456, 10.5192, 14.6699),
    (40, 60, 50): (5.59841, 9.56823, 16.5793),
    (40, 89, 120): (18.2026, 23.7542, 25.4567),
    (5, 10, 120): (0.82903, 1.44411, 2.12698),
    (5, 60, 2): (10.7238, 8.94921, 6.39324),
}


@pytest.mark.parametrize("case", PUBLISHED)
def test_the_sky_is_the_published_one(case) -> None:
    elevation, zenith, gamma = map(math.radians, case)
    found = _sky_radiance(elevation, np.cos([zenith]), np.array([[gamma]]))[0, 0]
    np.testing.assert_allclose(found, PUBLISHED[case], rtol=1e-5)  # six digits are written


@pytest.mark.parametrize("sun", [(40, 60), (10, -120), (90, 0)])
def test_the_sun_is_where_it_is_asked_for(sun) -> None:
    given = sky(128, sun)
    elevation, azimuth = np.radians(sun)
    towards = [math.cos(elevation) * math.sin(azimuth), math.sin(elevation), math.cos(elevation) * math.cos(azimuth)]
    away = [-towards[0] - 0.5, 0.3, -towards[2] + 0.6]
    around = np.array([towards, away])
    near, far = luminance(given.radiance(around / np.linalg.norm(around, axis=1)[:, None]))
    assert near > 20 * far > 0 and near > 0.9 * luminance(given.pixels).max()


def test_the_sun_at_the_horizon_is_no_fault() -> None:
    low = sky(64, (0, 0))
    assert np.isfinite(low.pixels).all() and 0 < low.flux < 0.2 * sky(64).flux


@pytest.mark.parametrize("width", [8, 16, 64, 256])
@pytest.mark.parametrize("place", [(40, 60), (37, 11), (12, -75)])
def test_maps_of_every_size_hold_the_whole_sun(width, place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the horizon a sun adds its light to a sky without one, and no more; below it lights up the ground."""
    make = sky.__wrapped__
    found = make(width, place).pixels.astype(float)
    monkeypatch.setattr("raystream.scene.environment.sunlight", lambda _: np.zeros(3))
    dark = make(width, place)
    angles, above = dark.solid_angles(), slice(0, width // 4)
    added = np.einsum("hwc,h->c", (found - dark.pixels)[above], angles[above])
    np.testing.assert_allclose(added, sunlight(math.radians(place[0])) * SCALE, rtol=1e-6)
    # Straight down there is no haze: the albedo's share of the light that comes to level ground.
    polar = (np.arange(width // 2) + 0.5) * 2 * np.pi / width
    light = np.einsum("hwc,h->c", found[above], (np.cos(polar) * angles)[above])
    np.testing.assert_allclose(found[-1], ALBEDO / math.pi * luminance(light), rtol=1e-6)


def irradiance(given, *normals) -> np.ndarray:
    """(N,) of surfaces with these normals, from a map."""
    _, directions, angles = _texel_grid(given.pixels.shape[1])
    light = given.pixels[..., 0].astype(float) * angles[:, None]
    return np.array([(np.maximum(directions @ np.array(each), 0.0) * light).sum() for each in normals])


def towards(elevation: float, azimuth: float) -> tuple[float, float, float]:
    e, a = math.radians(elevation), math.radians(azimuth)
    return math.cos(e) * math.sin(a), math.sin(e), math.cos(e) * math.cos(a)


def test_light_of_the_studio() -> None:
    """Neutral; four times as much light from the key as from the fill, on opposite sides of the default view; rims from
    behind; and from below much less than from above."""
    given = studio()
    assert np.ptp(given.pixels, axis=2).max() == 0 and given.pixels.min() > 0.02 and given.pixels.max() < 20
    key, fill, level, down, up = irradiance(
        given, towards(*KEY_ANGLES), towards(*FILL_ANGLES), (0, 1, 0), (0, -1, 0), (0, 1, 0)
    )
    assert 3.7 < key / fill < 4.4 and level == pytest.approx(IRRADIANCE, rel=1e-4) and down < up / 20
    camera = math.radians(AROUND)
    sides = [math.sin(math.radians(azimuth) - camera) for azimuth in (KEY_ANGLES[1], FILL_ANGLES[1])]
    assert sides[0] < -0.7 and sides[1] > 0.7
    behind = [given.radiance(np.array([towards(30.0, AROUND + angle)]))[0, 0] for angle in (130, 180, -147)]
    assert min(behind[0], behind[2]) > 20 * behind[1]


def test_a_level_of_the_studio() -> None:
    for cove in (False, True):
        one, four = studio(64, cove), studio(64, cove, 4.0)
        np.testing.assert_allclose(four.pixels, 4 * one.pixels, rtol=1e-6)


def test_a_sky_beside_a_sun() -> None:
    """Without the sun's disc, and brighter: the ground stays lit by both."""
    whole, rest = sky(128), sky(128, disc=False, level=2.0)
    np.testing.assert_allclose(rest.pixels[70:], 2 * whole.pixels[70:], rtol=1e-5)
    assert rest.pixels.max() < whole.pixels.max() / 5 and rest.pixels.min() >= 0
    dark = np.argwhere(whole.pixels[..., 0] > rest.pixels[..., 0])  # within a disc about the sun
    assert 0 < len(dark) < 0.01 * whole.pixels[..., 0].size


@pytest.mark.parametrize("elevation", [90, 40, 10, 1, 0])
def test_sunlight_by_wavelength(elevation: float) -> None:
    """Preetham's appendix A.2 and Wyman's lobes, once more, number by number: Planck's law at 5778 K through Rayleigh's
    scattering, aerosol and ozone, over the sun's solid angle."""

    def lobe(x: float, height: float, middle: float, below: float, above: float) -> float:
        return height * math.exp(-0.5 * ((x - middle) / (below if x < middle else above)) ** 2)

    xyz = [0.0, 0.0, 0.0]
    mass = 1 / (math.sin(math.radians(elevation)) + 0.15 * (elevation + 3.885) ** -1.253)
    for nanometres in range(380, 781, 5):
        metres, micro = nanometres * 1e-9, nanometres / 1000
        planck, light, boltzmann = 6.62607e-34, 2.99792e8, 1.38065e-23
        body = 2 * planck * light**2 / metres**5 / (math.exp(planck * light / (metres * boltzmann * 5778)) - 1)
        depth = 0.008735 * micro**-4.08 + (0.04608 * 2.5 - 0.04586) * micro**-1.3
        depth += 0.35 * 0.13 * math.exp(-0.5 * ((nanometres - 600) / 45) ** 2)
        power = body * 1e-9 * 5 * math.pi * 0.004652**2 * math.exp(-mass * depth)
        x = lobe(nanometres, 1.056, 599.8, 37.9, 31.0) + lobe(nanometres, 0.362, 442.0, 16.0, 26.7)
        xyz[0] += power * (x + lobe(nanometres, -0.065, 501.1, 20.4, 26.2))
        xyz[1] += power * (lobe(nanometres, 0.821, 568.8, 46.9, 40.5) + lobe(nanometres, 0.286, 530.9, 16.3, 31.1))
        xyz[2] += power * (lobe(nanometres, 1.217, 437.0, 11.8, 36.0) + lobe(nanometres, 0.681, 459.0, 26.0, 13.8))
    matrix = [(3.2406, -1.5372, -0.4986), (-0.9689, 1.8758, 0.0415), (0.0557, -0.2040, 1.0570)]
    rgb = [max(sum(a * b for a, b in zip(row, xyz, strict=True)), 0) for row in matrix]
    np.testing.assert_allclose(sunlight(math.radians(elevation)), rgb, rtol=1e-9)


def test_a_cove_hides_the_edge_of_its_plane() -> None:
    """Below the horizon the radiance is that of level ground of the albedo; the light on it stays the studio's."""
    plain, cove = studio(256), studio(256, cove=True)
    polar = (np.arange(128) + 0.5) * math.pi / 128
    cosine = np.maximum(np.cos(polar), 0) * cove.solid_angles()
    for given in (plain, cove):
        assert (given.pixels[..., 0] * cosine[:, None]).sum() == pytest.approx(IRRADIANCE, rel=1e-5)
    np.testing.assert_allclose(cove.pixels[100:], ALBEDO * IRRADIANCE / math.pi, rtol=1e-4)
    above = cove.pixels[: int(128 * math.acos(0.3) / math.pi), ..., 0]
    # The room and its lights, all by one factor, where the cove has ended.
    ratio = above / plain.pixels[: len(above), ..., 0]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-4)
