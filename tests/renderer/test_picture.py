"""A picture in Python: an array for NumPy, 8-bit codes, a picture in a notebook."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.film.tonemap import srgb8
from raystream.renderer.sampling.picture import Picture
from raystream.stream.machines.counters import Stats


@pytest.fixture
def picture() -> Picture:
    linear = np.random.default_rng(7).uniform(0, 2, (5, 8, 3)).astype(np.float32)
    return Picture(linear, {}, Stats(), {"scene": "one", "samples": "3"})


def test_numpy_takes_it_for_an_array(picture) -> None:
    assert np.asarray(picture) is picture.linear
    assert np.shares_memory(np.array(picture, copy=None), picture.linear)
    copied = np.array(picture)
    assert np.array_equal(copied, picture.linear) and not np.shares_memory(copied, picture.linear)
    assert np.array_equal(np.asarray(picture, np.float64), picture.linear) and np.mean(picture) == picture.linear.mean()
    assert np.array(picture, np.float16).dtype == np.float16


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy asks for no copy from 2.0 on")
def test_no_copy_is_kept_to(picture) -> None:
    assert np.array(picture, copy=False) is picture.linear
    with pytest.raises(ValueError, match="float32 cannot become float64 without a copy"):
        np.array(picture, np.float64, copy=False)


def test_eight_bits(picture) -> None:
    assert picture.srgb8().dtype == np.uint8
    np.testing.assert_array_equal(picture.srgb8(), srgb8(picture.linear, "auto", "agx"))
    np.testing.assert_array_equal(picture.srgb8(0, "none"), srgb8(picture.linear))
    np.testing.assert_array_equal(picture.srgb8(exposure=-1, tonemap="agx"), srgb8(picture.linear, -1, "agx"))
    for wrong, line in (
        ({"exposure": 40}, "^exposure=40: expected auto or a number of stops"),
        ({"tonemap": "agc"}, "'agx'"),
    ):
        with pytest.raises(ViewerError, match=line):
            picture.srgb8(**wrong)


def test_a_notebook_shows_it(picture, tmp_path) -> None:
    shown = Image.open(io.BytesIO(picture._repr_png_()))
    np.testing.assert_array_equal(np.asarray(shown), picture.srgb8())
    assert shown.info["scene"] == "one" and shown.info["exposure"].endswith("(auto)")
    picture.save(tmp_path / "a.png", exposure=1, tonemap="aces")
    assert (tmp_path / "a.png").read_bytes() == picture.png(exposure=1, tonemap="aces")


def test_pictures_compare_by_identity(picture) -> None:
    other = Picture(picture.linear, {}, Stats())
    assert picture in [other, picture] and picture != other
