"""Environments as data: what is refused, and the default sky."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene.environment import (
    MOST_TEXELS,
    ConstantEnvironment,
    ImageEnvironment,
    cached_by_pixels,
    sky,
)
from raystream.scene.light import luminance


@pytest.mark.parametrize(
    ("value", "words"),
    [(math.nan, "is not a number"), (-1e-9, "is negative"), (math.inf, "is too bright"), (1e31, "too bright")],
)
def test_a_wrong_pixel_is_named(value, words) -> None:
    pixels = np.ones((5, 8, 3), np.float32)
    pixels[3, 6, 1] = value
    pixels[4, 0, 0] = value
    with pytest.raises(ViewerError, match=rf"environment e: pixel \(6, 3\) {words}|pixel \(6, 3\) is {words}"):
        ImageEnvironment(pixels, "e")


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
