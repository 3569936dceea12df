"""Files of pictures by tables: endings, layers and channels, exposures; movies and NPZ."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from even_pixels import pixels
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.film.files import image
from raystream.film.layers import LAYERS, NOISY, SERIES, find, parse, series
from raystream.film.tonemap import automatic_exposure, block_edge, block_means, exposure_text

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def test_endings_of_streams_and_files(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    assert image._ending(fifo) == ".png" and image._ending(tmp_path / "a.JPEG") == ".jpeg"
    other = tmp_path / "pipe.exr"
    os.mkfifo(other)
    assert image._ending(other) == ".exr" and image.checked_path(fifo) == fifo


@pytest.mark.parametrize(
    ("layer", "kind"),
    [
        (np.array([[1 << 24]]), np.float32),
        (np.array([[(1 << 24) + 1]]), np.uint32),
        (np.array([[(1 << 24) + 1, -1]]), np.uint32),
        (np.array([[(1 << 24) + 1]], np.uint32), np.uint32),
        (np.array([[float(1 << 25)]]), np.float32),
        (np.array([[True]]), np.float32),
    ],
)
def test_whole_numbers_in_exr(layer: np.ndarray, kind: type, tmp_path: Path) -> None:
    image.save(tmp_path / "a.exr", pixels(1, layer.shape[1], 1), {"steps": layer})
    values = image.read_exr(tmp_path / "a.exr", ["steps"])[1]["steps"]
    assert values.dtype == kind
    np.testing.assert_array_equal(values.astype(np.int64) & 0xFFFFFFFF, layer.astype(np.int64) & 0xFFFFFFFF)


def test_names_of_channels() -> None:
    three = np.zeros((1, 1, 3), np.float32)
    assert list(image._exr_channels("normal", three)) == ["normal.X", "normal.Y", "normal.Z"]
    assert list(image._exr_channels("other", three)) == ["other.R", "other.G", "other.B"]
    assert list(image._exr_channels("bounce.3", three)) == ["bounce.3.R", "bounce.3.G", "bounce.3.B"]
    assert list(image._exr_channels("other", three[..., :2])) == ["other.R", "other.G"]
    assert list(image._exr_channels("depth", three[..., 0])) == ["depth"]


def test_layers_of_other_sizes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="layer depth has shape"):
        image.save(tmp_path / "a.exr", pixels(1), {"depth": np.zeros((5, 3))})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_displayed_files_tell_their_display(ending: str, tmp_path: Path) -> None:
    """Beside their metadata; lines of 8-bit codes; a comment of JPEG ends where its segment does."""
    image.save(tmp_path / f"a.{ending}", pixels(0.25), None, {"a": "x" * 70_000}, exposure=1, tonemap="none")
    with Pillow.open(tmp_path / f"a.{ending}") as file:
        assert np.abs(np.asarray(file).astype(int) - 188).max() <= 1
        if ending == "jpg":
            assert len(file.info["comment"]) == 65533
        else:
            assert len(file.info["a"]) == 70_000 and (file.info["exposure"], file.info["tonemap"]) == ("1", "none")


def test_declared_layers() -> None:
    assert find("depth") is LAYERS["depth"] and find("noisy") is NOISY and find("bounce.0") is SERIES["bounce"]
    assert [find(name) for name in ("bounce", "bounce.", "bounce.x", "depth.0", "x", "")] == [None] * 6
    assert series("bounce", 3) == ("bounce.0", "bounce.1", "bounce.2") and series("bounce", 0) == ()
    assert parse(" depth, normal,,depth ") == ("depth", "normal") and parse("") == () == parse(" , ")
    with pytest.raises(ViewerError, match="no layer 'deep'"):
        parse("depth,deep")
    for name, shape, kind, value in (
        ("depth", (2, 3), np.float32, np.inf),
        ("normal", (2, 3, 3), np.float32, 0),
        ("triangle", (2, 3), np.int32, -1),
        ("samples", (2, 3), np.int32, 1),
        ("steps", (2, 3), np.int32, 0),
    ):
        made = LAYERS[name].empty(2, 3)
        assert made.shape == shape and made.dtype == kind and (made == value).all()


@pytest.mark.parametrize(
    ("size", "edge"), [((1, 1), 1), ((32, 9), 1), ((33, 9), 2), ((9, 64), 2), ((65, 9), 3), ((640, 480), 20)]
)
def test_blocks_of_exposure(size: tuple[int, int], edge: int) -> None:
    assert block_edge(size) == edge
    picture = np.random.default_rng(1).random((size[1], size[0], 3)).astype(np.float32)
    found = block_means(picture)
    assert found.shape == (-(-size[1] // edge), -(-size[0] // edge))
    for (row, column), value in np.ndenumerate(found):
        part = picture[row * edge : (row + 1) * edge, column * edge : (column + 1) * edge]
        assert value == pytest.approx((part @ LUMINANCE).mean(), rel=1e-3)


def test_odd_pixels_of_exposure() -> None:
    picture = np.float32([[[np.nan, 1, 1], [np.inf, 0, 0], [-1, -1, -1], [1, 1, 1]]])
    np.testing.assert_allclose(block_means(picture), [[0, 0, 0, 1]], rtol=1e-3)


@pytest.mark.parametrize(
    ("luminance", "stops"),
    [
        ([0.25] * 8, 0),
        ([0.5] * 8, math.tanh(1) - 1),
        ([0.125] * 8, math.tanh(-1) + 1),
        ([0.25 * 2**8] * 8, math.tanh(8) - 8),
        ([0.25 / 2**8] * 8, math.tanh(-8) + 8),
        ([0.5] * 8 + [0.0] * 100, math.tanh(1) - 1),  # black blocks do not count
        ([0.0] * 4, 0),
        ([], 0),
    ],
)
def test_automatic_exposures(luminance: list[float], stops: float) -> None:
    assert automatic_exposure(np.array(luminance)) == pytest.approx(stops, abs=1e-12)


def test_exposure_of_bright_and_dark_parts() -> None:
    """Quantiles of 5 and 95 % hold the logarithms; a tenth of the upper one is the least mean."""
    ramp = np.array([0.01, *np.geomspace(0.1, 0.4, 99), 4.0])
    low, high = np.quantile(ramp, 0.05), np.quantile(ramp, 0.95)
    mean = math.exp(np.log(np.clip(ramp, low, high)).mean())
    away = math.log2(mean / 0.25)
    assert automatic_exposure(ramp) == pytest.approx(math.tanh(away) - away, rel=1e-12)
    lamps = np.array([0.001] * 90 + [1.0] * 10)
    away = math.log2(0.1 / 0.25)
    assert automatic_exposure(lamps) == pytest.approx(math.tanh(away) - away, rel=1e-12)


def test_texts_of_exposures() -> None:
    assert [exposure_text("auto", 1.23456), exposure_text(1.5, 1.5), exposure_text(0, 0)] == [
        "1.235 (auto)",
        "1.5",
        "0",
    ]
