"""Pictures as people have them: OpenEXR, Radiance and PNG files of the field, by value, and others of each kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenEXR
import pytest
from exr_bytes import Box, exr_bytes

from raystream.base.errors import ViewerError
from raystream.cli.main import main
from raystream.formats.image import hdr
from raystream.formats.image.environment_maps import load, read_picture
from raystream.formats.image.primaries import SRGB
from raystream.scene.light import BRIGHTEST

RANDOM = np.random.default_rng(3)
REC2020 = (0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290)
ACES = (0.7347, 0.2653, 0.0, 1.0, 0.0001, -0.0770, 0.32168, 0.33767)
XYZ = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1 / 3, 1 / 3)


def rgb(pixels: np.ndarray) -> dict[str, np.ndarray]:
    """The channels of pixels (H, W, 3)."""
    return {name: pixels[..., k] for k, name in enumerate("RGB")}


def noted(path: Path) -> tuple[np.ndarray, list[str]]:
    """An environment's pixels, and the notes."""
    notes: list[str] = []
    return load(path, notes=notes).pixels, notes


# Windows


@pytest.mark.parametrize(
    ("display", "corner"),
    [
        ((0, 0, 7, 4), (0, 0)),
        ((0, 0, 9, 9), (1, 3)),
        ((-3, -2, 8, 7), (-1, 1)),
        ((2, 1, 5, 4), (0, 0)),  # more data than are displayed
        ((-4, 2, 3, 9), (0, 0)),
        ((5, -9, 20, 0), (0, 0)),
    ],
)
def test_a_picture_is_its_display_window(display: Box, corner: tuple[int, int], tmp_path: Path) -> None:
    pixels = RANDOM.random((5, 8, 3)).astype(np.float32)
    path = tmp_path / "a.exr"
    path.write_bytes(exr_bytes(rgb(pixels), display, corner))
    left, top, right, bottom = display
    want = np.zeros((bottom - top + 1, right - left + 1, 3), np.float32)
    for y in range(len(want)):
        for x in range(want.shape[1]):
            row, column = top + y - corner[1], left + x - corner[0]
            if 0 <= row < 5 and 0 <= column < 8:
                want[y, x] = pixels[row, column]
    np.testing.assert_array_equal(read_picture(path), want)
    np.testing.assert_array_equal(load(path).pixels, want)
    assert main(["diff", str(path), str(path), "--figure", "error", "--limit", "0"]) == 0


@pytest.mark.parametrize("display", [(9, 0, 12, 3), (0, 6, 7, 9), (-4, -4, -1, -1)])
def test_a_window_without_pixels_is_refused(display: Box, tmp_path: Path) -> None:
    (tmp_path / "a.exr").write_bytes(exr_bytes(rgb(np.ones((6, 8, 3), np.float32)), display))
    with pytest.raises(ViewerError, match=r"a.exr: has no pixels within its display window"):
        load(tmp_path / "a.exr")


def test_a_huge_display_window_takes_no_memory(tmp_path: Path) -> None:
    (tmp_path / "a.exr").write_bytes(exr_bytes(rgb(np.ones((2, 2, 3), np.float32)), (0, 0, 1 << 29, 1 << 29)))
    with pytest.raises(ViewerError, match="a display window of 536,870,913 x 536,870,913 pixels"):
        read_picture(tmp_path / "a.exr")


# Colours


@pytest.mark.parametrize("corner", [(0, 0), (4, -2)])
def test_luminance_and_chroma(corner: tuple[int, int], tmp_path: Path) -> None:
    """Y = .2126 R + .7152 G + .0722 B, RY = (R - Y) / Y, BY = (B - Y) / Y of every second pixel and line."""
    color = np.array([0.8, 0.4, 0.2])
    y = color @ (0.2126, 0.7152, 0.0722)
    shade = np.linspace(1, 3, 48).reshape(6, 8)
    chroma = {"RY": (color[0] - y) / y, "BY": (color[2] - y) / y}
    channels = {name: (np.full((3, 4), value), 2) for name, value in chroma.items()} | {"Y": y * shade}
    (tmp_path / "a.exr").write_bytes(exr_bytes(channels, corner=corner))
    np.testing.assert_allclose(read_picture(tmp_path / "a.exr"), shade[..., None] * color, rtol=1e-3)


def test_chroma_is_linear_between_its_samples(tmp_path: Path) -> None:
    chroma = RANDOM.random((3, 4))
    channels = {"Y": np.ones((6, 8)), "RY": (chroma, 2), "BY": (np.zeros((3, 4)), 2)}
    (tmp_path / "a.exr").write_bytes(exr_bytes(channels))
    red = read_picture(tmp_path / "a.exr")[..., 0] - 1
    np.testing.assert_allclose(red[::2, ::2], chroma, rtol=1e-6)
    np.testing.assert_allclose(red[::2, 1:7:2], (chroma[:, :-1] + chroma[:, 1:]) / 2, rtol=1e-6)
    np.testing.assert_allclose(red[1:5:2, ::2], (chroma[:-1] + chroma[1:]) / 2, rtol=1e-6)
    np.testing.assert_allclose(red[5], red[4], rtol=1e-6)


def test_infinite_light_with_chroma_is_mended(tmp_path: Path) -> None:
    y = np.ones((4, 8), np.float32)
    y[0, 0], y[2, 4] = np.inf, 3e38
    chroma = {"RY": (np.float32([[np.inf, 0, 0, 0], [0, 9, 0, 0]]), 2), "BY": (np.zeros((2, 4), np.float32), 2)}
    (tmp_path / "a.exr").write_bytes(exr_bytes({"Y": y, **chroma}, chromaticities=REC2020))
    pixels, notes = noted(tmp_path / "a.exr")
    assert np.isfinite(pixels).all() and len(notes) >= 2


@pytest.mark.parametrize(
    ("primaries", "stored", "want"),
    [
        (SRGB, (0.2, 0.5, 0.7), (0.2, 0.5, 0.7)),
        ((0.64, 0.33, 0.30, 0.60, 0.15, 0.06, 0.31271, 0.32902), (0.2, 0.5, 0.7), (0.2, 0.5, 0.7)),
        # ITU-R BT.2087: BT.2020 of BT.709's red, green and white
        (REC2020, (0.6274, 0.0691, 0.0164), (1, 0, 0)),
        (REC2020, (0.3293, 0.9195, 0.0880), (0, 1, 0)),
        (REC2020, (1, 1, 1), (1, 1, 1)),
        (ACES, (1, 1, 1), (1, 1, 1)),  # white stays white
        (ACES, (0.439586, 0.089789, 0.017544), (1, 0, 0)),  # S. Hill's fit of ACES: sRGB to AP0 by Bradford
        (XYZ, (0.4124, 0.2126, 0.0193), (1, 0, 0)),
        (XYZ, (0.9505, 1.0, 1.0891), (1, 1, 1)),
    ],
)
def test_other_primaries_become_srgb(primaries, stored, want, tmp_path: Path) -> None:
    pixels = np.broadcast_to(np.float32(stored), (4, 8, 3))
    (tmp_path / "a.exr").write_bytes(exr_bytes(rgb(pixels), chromaticities=primaries))
    np.testing.assert_allclose(read_picture(tmp_path / "a.exr")[2, 3], want, atol=3e-3)


def test_primaries_that_are_no_colors_are_refused(tmp_path: Path) -> None:
    for primaries in ((0.3,) * 8, (*SRGB[:6], 0.3, 0.0), (np.nan,) * 8, (0.0,) * 8):
        (tmp_path / "a.exr").write_bytes(exr_bytes(rgb(np.ones((2, 4, 3), np.float32)), chromaticities=primaries))
        with pytest.raises(ViewerError, match=r"a.exr: has primaries that are no colours"):
            read_picture(tmp_path / "a.exr")


# Layers and parts


@pytest.mark.parametrize(
    ("names", "layer"),
    [
        (("View.Combined.R", "View.Combined.G", "View.Combined.B", "View.Depth.Z"), "View.Combined"),
        (("left.r", "left.g", "left.b", "left.a"), "left"),
        (("a.R", "a.G", "a.B", "V.Combined.R", "V.Combined.G", "V.Combined.B"), "V.Combined"),
    ],
)
def test_the_only_layer_with_colors(names: tuple[str, ...], layer: str, tmp_path: Path) -> None:
    planes = {name: RANDOM.random((4, 8)).astype(np.float32) for name in names}
    (tmp_path / "a.exr").write_bytes(exr_bytes(planes))
    pixels, notes = noted(tmp_path / "a.exr")
    own = [name for name in names if name.startswith(layer)][:3]
    np.testing.assert_array_equal(pixels, np.stack([planes[name] for name in own], axis=-1))
    assert notes == [f"a.exr: its colours are those of {layer}"]
    assert main(["diff", str(tmp_path / "a.exr"), str(tmp_path / "a.exr")]) == 0


def test_several_layers_are_named(tmp_path: Path) -> None:
    names = [f"{layer}.{channel}" for layer in ("one", "two") for channel in "RGB"]
    (tmp_path / "a.exr").write_bytes(exr_bytes(dict.fromkeys(names, np.ones((2, 4), np.float32))))
    with pytest.raises(ViewerError, match=r"several layers: one, two \(save one of them\)"):
        load(tmp_path / "a.exr")


@pytest.mark.parametrize("first", ["Z", "Y", "matte.A"])
def test_the_second_part_has_the_colors(first: str, tmp_path: Path) -> None:
    pixels = RANDOM.random((4, 8, 3)).astype(np.float32)
    kind = OpenEXR.scanlineimage
    parts = [
        OpenEXR.Part({"name": "data", "type": kind}, {first: np.zeros((4, 8), np.float32)}),
        OpenEXR.Part({"name": "beauty pass", "type": kind}, {"RGB": pixels}),
    ]
    OpenEXR.File(parts).write(str(tmp_path / "a.exr"))
    found, notes = noted(tmp_path / "a.exr")
    np.testing.assert_array_equal(found, pixels)
    assert notes == ["a.exr: its colours are those of beauty pass"]


# Pixels that are no radiance


def test_every_pixel_that_is_no_radiance_is_mended_and_counted(tmp_path: Path, monkeypatch) -> None:
    """The largest finite value may come in a later band, and reduced pictures are means of mended pixels."""
    monkeypatch.setattr("raystream.formats.image.environment_maps.BAND_PIXELS", 8)
    pixels = RANDOM.random((4, 8, 3)).astype(np.float32)
    want = pixels.copy()
    for row, column, channel, value, instead in (
        (0, 0, 0, np.inf, 50),
        (1, 7, 2, 2 * BRIGHTEST, 50),
        (0, 1, 1, -np.inf, 0),
        (2, 2, 0, -1e-30, 0),
        (2, 2, 1, -5, 0),
        (3, 4, 2, np.nan, 0),
    ):
        pixels[row, column, channel], want[row, column, channel] = value, instead
    pixels[3, 7, 1] = want[3, 7, 1] = 50
    (tmp_path / "a.exr").write_bytes(exr_bytes(rgb(pixels)))
    found, notes = noted(tmp_path / "a.exr")
    np.testing.assert_array_equal(found, want)
    assert notes == [
        "a.exr: 2 pixels are negative; 0 is in place of that",
        "a.exr: 2 pixels are infinite; the largest finite value, 50, is in place of that",
        "a.exr: 1 pixel is not a number; 0 is in place of that",
    ]
    monkeypatch.setattr("raystream.formats.image.environment_maps.MOST_TEXELS", 8)
    np.testing.assert_allclose(noted(tmp_path / "a.exr")[0], want.reshape(2, 2, 4, 2, 3).mean(axis=(1, 3)), rtol=1e-6)


def test_a_picture_without_finite_light_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.exr").write_bytes(exr_bytes(rgb(np.full((2, 4, 3), np.inf, np.float32))))
    with pytest.raises(ViewerError, match=r"a.exr: has no finite light, but infinite pixels"):
        load(tmp_path / "a.exr")


# Radiance


def rgbe(values: np.ndarray) -> bytes:
    """Pixels of four bytes: three mantissas and a common exponent (Radiance File Formats)."""
    most = values.max(axis=-1, keepdims=True)
    exponent = np.floor(np.log2(most)).astype(int) + 1
    return np.concatenate([np.floor(values / 2.0**exponent * 256), exponent + 128], axis=-1).astype(np.uint8).tobytes()


@pytest.mark.parametrize(
    ("header", "stored", "want"),
    [
        ("FORMAT=32-bit_rle_xyze\n", (0.9505, 1.0, 1.0891), (1, 1, 1)),
        ("FORMAT=32-bit_rle_xyze\nEXPOSURE=2\n", (0.9505, 1.0, 1.0891), (0.5, 0.5, 0.5)),
        ("FORMAT=32-bit_rle_rgbe\nPRIMARIES= .708 .292 .170 .797 .131 .046 .3127 .3290\n", (0.6, 0.6, 0.6), (0.6,) * 3),
        (f"PRIMARIES= {' '.join(map(str, SRGB))}\n", (0.3, 0.6, 0.9), (0.3, 0.6, 0.9)),
        ("PRIMARIES=\t.708 .292 .170 .797 .131 .046 .3127 .3290\n", (0.6274, 0.0691, 0.0164), (1, 0, 0)),
        ("", (0.3, 0.6, 0.9), (0.3, 0.6, 0.9)),
    ],
)
def test_radiance_in_other_colors(header: str, stored, want) -> None:
    body = rgbe(np.broadcast_to(np.asarray(stored), (2, 4, 3)))
    found = hdr.read(f"#?RADIANCE\n{header}\n-Y 2 +X 4\n".encode() + body, "a.hdr")
    np.testing.assert_allclose(found, np.broadcast_to(want, (2, 4, 3)), atol=0.02)


@pytest.mark.parametrize("line", ["PRIMARIES=1 2 3", "PRIMARIES=a b c d e f g h", "PRIMARIES= 0 0 0 0 0 0 0 0"])
def test_primaries_of_radiance_that_are_none(line: str) -> None:
    with pytest.raises(ViewerError, match=r"a.hdr: (PRIMARIES is|has primaries that are no colours)"):
        hdr.read(f"#?RADIANCE\n{line}\n\n-Y 1 +X 1\n".encode() + b"\x80\x80\x80\x81", "a.hdr")
