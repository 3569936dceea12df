"""The exposure that suits a picture, on the host and on the device."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.film.tonemap import MIDDLE_GREY, block_means, srgb8, stops
from raystream.renderer.preview.scheduler import METERED
from raystream.renderer.sampling.picture import Picture
from raystream.renderer.sequence import Frame, save_frames
from raystream.stream.gl.stream import float_texture
from raystream.stream.machines.counters import Stats
from raystream.viewport.picture_texture import ADAPTING, AutoExposure

RNG = np.random.default_rng(13)
PICTURE = (MIDDLE_GREY * np.exp(RNG.normal(0, 1, (60, 90, 1))) * [1.2, 1.0, 0.8]).astype(np.float32)


def auto(picture) -> float:
    return stops("auto", picture)


@pytest.mark.parametrize("size", [(1, 1), (7, 100), (33, 20), (90, 60)])
def test_the_device_measures_the_same(device, size) -> None:
    width, height = size
    picture = np.resize(PICTURE, (height, width, 3))
    picture[0, 0] = np.nan if size[0] > 1 else 0.5
    texture = float_texture(device, size)
    texture.write(np.concatenate([picture, np.ones((height, width, 1), np.float32)], axis=2).tobytes())
    with device.current():
        # Sums of up to nine numbers in float32 against float64.
        assert AutoExposure(device).measure(texture) == pytest.approx(auto(picture), abs=1e-5)
    tall, wide = block_means(picture).shape
    assert max(tall, wide) <= 32


def test_the_meter_follows(device) -> None:
    bright, dim = (float_texture(device, (2, 2)) for _ in range(2))
    bright.write(np.full((2, 2, 4), 64.0, np.float32).tobytes())
    dim.write(np.full((2, 2, 4), 1 / 64, np.float32).tobytes())
    meter = AutoExposure(device)
    with device.current():
        meter.follow(dim, 0.0, 0.03, last=False)
        first = meter.stops
        assert meter.reached and first == meter.measure(dim) > 2  # at once
        meter.follow(bright, METERED / 2, ADAPTING, last=False)
        assert meter.reached and meter.stops == first  # not looked at yet
        meter.follow(bright, METERED, ADAPTING, last=False)
        assert not meter.reached and meter.stops < first
        for _ in range(30):
            meter.follow(bright, METERED, ADAPTING, last=True)
        assert meter.reached and meter.stops == meter.measure(bright) < -2
        assert not meter.follow(dim, 10 * METERED, ADAPTING, last=True, same=True) and meter.reached  # nothing is new
        meter.begin()  # another scene, in the same moment
        assert meter.follow(dim, 10 * METERED, 0.03, last=False, same=True) and meter.stops == first


def test_pictures_take_it_where_no_number_is_given(tmp_path) -> None:
    picture = Picture(PICTURE / 64, {}, Stats())
    shown = picture.stops()
    assert shown > 3
    np.testing.assert_array_equal(picture.srgb8(), srgb8(picture.linear, shown, "agx"))
    np.testing.assert_array_equal(picture.srgb8(0, "none"), srgb8(picture.linear))
    with Image.open(io.BytesIO(picture.png())) as file:
        assert file.info["exposure"] == f"{shown:.4g} (auto)" and file.info["tonemap"] == "agx"
        np.testing.assert_array_equal(np.asarray(file), picture.srgb8())
    picture.save(tmp_path / "a.exr", "auto")
    with pytest.raises(ViewerError, match="expected auto or a number of stops from -32 to 32"):
        picture.srgb8("automatic")


def test_frames_are_exposed_as_the_first_one(tmp_path) -> None:
    frames = [Picture(PICTURE * np.float32(2.0**-k), {}, Stats()) for k in range(3)]
    save_frames(str(tmp_path / "%d.png"), (Frame(k, 0.0, each) for k, each in enumerate(frames)), 30)
    for number, each in enumerate(frames):
        with Image.open(tmp_path / f"{number}.png") as file:
            np.testing.assert_array_equal(np.asarray(file), each.srgb8(frames[0].stops()))
