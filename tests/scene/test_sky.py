"""The default environments: the published sky, its sun, the studio; and what is a single object."""

from __future__ import annotations

import math

import numpy as np
import pytest

import viewer
from viewer.scene.edits.alone import is_single_object
from viewer.scene.light import luminance
from viewer.scene.sky import ALBEDO, SCALE, _dome, sky, studio, sunlight

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
    found = _dome(elevation, np.cos([zenith]), np.array([[gamma]]))[0, 0]
    np.testing.assert_allclose(found, PUBLISHED[case], rtol=1e-5)  # six digits are written


def test_the_sun_is_as_bright_as_on_a_clear_day_and_redder_when_low() -> None:
    high, low = sunlight(math.radians(60)), sunlight(math.radians(5))
    # Direct sunlight on a surface that faces it: 80,000 to 110,000 lux.
    assert 80e3 < 683 * luminance(high) < 110e3
    assert low[2] / low[0] < 0.5 * high[2] / high[0] and luminance(low) < 0.4 * luminance(high)


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
    monkeypatch.setattr("viewer.scene.sky.sunlight", lambda _: np.zeros(3))
    dark = make(width, place)
    angles, above = dark.solid_angles(), slice(0, width // 4)
    added = np.einsum("hwc,h->c", (found - dark.pixels)[above], angles[above])
    np.testing.assert_allclose(added, sunlight(math.radians(place[0])) * SCALE, rtol=1e-6)
    # Straight down there is no haze: the albedo's share of the light that comes to level ground.
    polar = (np.arange(width // 2) + 0.5) * 2 * np.pi / width
    light = np.einsum("hwc,h->c", found[above], (np.cos(polar) * angles)[above])
    np.testing.assert_allclose(found[-1], ALBEDO / math.pi * luminance(light), rtol=1e-6)


def test_the_studio_is_neutral_and_lights_a_level_plane_like_the_sky() -> None:
    given = studio()
    polar = (np.arange(len(given.pixels)) + 0.5) * np.pi / len(given.pixels)
    level = given.pixels[..., 0] * (np.maximum(np.cos(polar), 0) * given.solid_angles())[:, None]
    assert level.sum() == pytest.approx(math.pi, rel=0.01) and np.ptp(given.pixels, axis=2).max() == 0
    assert given.pixels.min() > 0.1 and given.pixels.max() < 10  # nothing is quite dark, and nothing sparkles


def box(low, high) -> viewer.Scene:
    """A closed box whose sides face outwards."""
    corner = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * np.subtract(high, low) + low
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return viewer.Scene.from_triangles(corner, [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])


def test_what_stands_alone() -> None:
    object_ = box((-1, 0, -1), (1, 2, 1))
    assert is_single_object(object_)
    assert not is_single_object(object_.on_ground())
    slab = box((-4, -0.1, -4), (4, 0, 4))
    placed = viewer.Scene([*object_.meshes, *slab.meshes], [*object_.instances, viewer.scene.scene.Instance(1)])
    assert not is_single_object(placed)
    inside_out = viewer.Scene.from_triangles(object_.meshes[0].positions, object_.meshes[0].triangles[:, ::-1])
    assert not is_single_object(inside_out)  # a room: its floor faces up
    mirrored = object_.instances[0].transform * np.array([-1, 1, 1, 1])[:, None]
    assert is_single_object(viewer.Scene(object_.meshes, [viewer.scene.scene.Instance(0, mirrored)]))
    assert not is_single_object(viewer.Scene())
