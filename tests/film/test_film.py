"""Film, tone curve and layers."""

from __future__ import annotations

import numpy as np
import pytest

from viewer.errors import ViewerError
from viewer.film import tonemap
from viewer.film.film import Film
from viewer.film.layers import LAYERS, parse
from viewer.film.tonemap import srgb8


def published(linear: np.ndarray) -> np.ndarray:
    """IEC 61966-2-1:1999 in float64: the code to nearest, before rounding."""
    value = np.clip(np.asarray(linear, np.float64), 0, 1)
    return 255 * np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)


def test_srgb_rounds_to_the_nearest_code() -> None:
    linear = np.random.default_rng(1).uniform(0, 1, 300_000).astype(np.float32)
    linear = np.concatenate([linear, linear * np.float32(0.01), np.float32(2.0) ** np.arange(-30, 3)])
    exact = published(linear)
    # The published constants of the two directions meet only to 1e-6 of a code near the toe.
    assert np.abs(srgb8(linear) - exact).max() <= 0.5 + 1e-4
    assert np.unique(srgb8(linear)).tolist() == list(range(256))


def test_srgb_changes_exactly_half_way() -> None:
    """At the float32 numbers on either side of every exact half-way point."""
    half = tonemap.decode((np.arange(255) + 0.5) / 255)
    for way in (np.float32(0), np.float32(2)):
        near = half.astype(np.float32)
        near = np.where((near < half) == (way > 1), np.nextafter(near, way), near)
        assert ((near >= half) == (way > 1)).all()
        np.testing.assert_array_equal(srgb8(near), np.arange(255) + (way > 1))


def test_srgb_of_every_code_comes_back() -> None:
    codes = np.arange(256)
    np.testing.assert_array_equal(srgb8(tonemap.decode(codes / 255)), codes)


def test_srgb_of_what_is_no_colour() -> None:
    values = np.array([np.nan, np.inf, -np.inf, -1, -0.0, 1, 1e38, 3e38, 1e-45], np.float32)
    assert srgb8(values).tolist() == [0, 255, 0, 0, 0, 255, 255, 255, 0]
    assert srgb8(values, exposure=10).tolist() == [0, 255, 0, 0, 0, 255, 255, 255, 0]


def test_exposure_is_in_stops() -> None:
    linear = np.linspace(0, 0.25, 1000, dtype=np.float32)
    np.testing.assert_array_equal(srgb8(linear, exposure=2), srgb8(linear * 4))
    np.testing.assert_array_equal(srgb8(linear, exposure=-1), srgb8(linear / 2))


def test_tone_maps_by_name(monkeypatch) -> None:
    monkeypatch.setattr(tonemap, "TONE_MAPS", dict(tonemap.TONE_MAPS))
    tonemap.register("half")(lambda linear: linear / 2)
    assert srgb8(np.float32(1), tone_map="half") == srgb8(np.float32(0.5))
    with pytest.raises(ViewerError, match=r"no tone map 'foggy' \(tone maps: none, half\)"):
        srgb8(np.zeros(3), tone_map="foggy")


def test_film_is_the_mean_of_its_samples() -> None:
    film = Film(7, 5)
    assert film.size == (7, 5) and not film.linear.any()
    samples = np.random.default_rng(2).uniform(0, 4, (8, 5, 7, 3)).astype(np.float32)
    film.add(samples[0])
    np.testing.assert_array_equal(film.linear, samples[0])  # one sample stays what it is, to the bit
    for sample in samples[1:]:
        film.add(sample)
    # eight float32 additions
    np.testing.assert_allclose(film.linear, samples.astype(np.float64).mean(axis=0), rtol=8 * 2**-24)
    assert film.linear.dtype == np.float32
    film.clear()
    assert not film.linear.any() and not film.count.any()


def test_film_takes_pieces() -> None:
    film, whole = Film(6, 4), np.random.default_rng(3).uniform(size=(4, 6, 3)).astype(np.float32)
    for x in (0, 4):
        for y in (0, 1):
            film.add(whole[y : y * 4 + 1, x : x + 4][: 3 if y else 1], x, y)
    np.testing.assert_array_equal(film.linear, whole)
    np.testing.assert_array_equal(film.count, 1)
    with pytest.raises(ValueError, match="do not fit"):
        film.add(np.zeros((2, 2, 3)), 5, 0)


def test_layers_are_named_once() -> None:
    assert list(LAYERS) == ["depth", "normal", "albedo", "triangle", "steps", "tests"]
    assert parse(" normal,depth ,normal,") == ("normal", "depth")
    assert parse("") == ()
    with pytest.raises(ViewerError, match=r"no layer 'z' \(layers: depth, normal,"):
        parse("depth,z")
    assert LAYERS["triangle"].empty(2, 3).tolist() == [[-1] * 3] * 2
    assert LAYERS["triangle"].empty(2, 3).dtype == np.int32
    assert np.isposinf(LAYERS["depth"].empty(2, 3)).all()
    assert LAYERS["normal"].empty(2, 3).shape == (2, 3, 3)
