"""Headers of EXR environments took gigabytes for files of two kilobytes: tiles, channels and parts without a bound."""

from __future__ import annotations

import struct

import numpy as np
import OpenEXR
import pytest

from raystream.base.errors import ViewerError
from raystream.formats.image import exr
from raystream.formats.image.environment_maps import read_picture

PIXELS = np.random.default_rng(0).random((4, 5, 3)).astype(np.float32)


def saved(path, channels=None, **header) -> bytes:
    with OpenEXR.File({"type": OpenEXR.scanlineimage, **header}, channels or {"RGB": PIXELS}) as file:
        file.write(str(path))
    return path.read_bytes()


def attribute(name: bytes, kind: bytes, data: bytes) -> bytes:
    return name + b"\0" + kind + b"\0" + struct.pack("<i", len(data)) + data


def refused(path, data: bytes, words: str, capfd) -> None:
    path.write_bytes(data)
    with pytest.raises(ViewerError, match=words) as caught:
        read_picture(path)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")  # nothing of the library's own


def test_pixels_that_the_file_cannot_hold(tmp_path, capfd) -> None:
    data = saved(tmp_path / "a.exr", compression=OpenEXR.ZIP_COMPRESSION)
    small = struct.pack("<4i", 0, 0, 4, 3)
    assert data.count(small) == 2  # data and display window
    for window, words in (
        (struct.pack("<4i", 0, 0, 8191, 8191), "more chunks than it has bytes for"),
        (struct.pack("<4i", 0, 0, 1 << 20, 15), "decodes 16 x 1048577 pixels at once|pixels in"),
        (struct.pack("<4i", 0, 0, 8191, 15), "8,192 x 16 pixels in"),
        (struct.pack("<4i", 0, 0, 1 << 30, 0), "not 1 to"),
        (struct.pack("<4i", 9, 0, 4, 3), "-4 x 4 pixels"),
    ):
        refused(tmp_path / "b.exr", data.replace(small, window), words, capfd)


def test_huge_tiles(tmp_path, capfd) -> None:
    tiles = OpenEXR.TileDescription()
    data = saved(tmp_path / "a.exr", type=OpenEXR.tiledimage, tiles=tiles, compression=OpenEXR.PIZ_COMPRESSION)
    np.testing.assert_array_equal(read_picture(tmp_path / "a.exr"), PIXELS)
    for wide, tall, words in (
        (1 << 14, 1 << 14, "decodes 16384 x 16384 pixels at once"),
        (0, 64, "tiles without pixels"),
    ):
        old = attribute(b"tiles", b"tiledesc", struct.pack("<IIB", tiles.xSize, tiles.ySize, 0))
        new = attribute(b"tiles", b"tiledesc", struct.pack("<IIB", wide, tall, 0))
        assert data.count(old) == 1
        refused(tmp_path / "b.exr", data.replace(old, new), words, capfd)


def test_many_parts(tmp_path, capfd) -> None:
    parts = [OpenEXR.Part({"name": name, "type": OpenEXR.scanlineimage}, {"RGB": PIXELS}) for name in "ab"]
    with OpenEXR.File(parts) as file:
        file.write(str(tmp_path / "a.exr"))
    np.testing.assert_array_equal(read_picture(tmp_path / "a.exr"), PIXELS)
    data = (tmp_path / "a.exr").read_bytes()
    old = attribute(b"chunkCount", b"int", struct.pack("<i", 1))
    assert data.count(old) == 2
    new = attribute(b"chunkCount", b"int", struct.pack("<i", (1 << 31) - 1))
    refused(tmp_path / "b.exr", data.replace(old, new), "more chunks than it has bytes for", capfd)


def test_only_three_channels_are_read(tmp_path, monkeypatch) -> None:
    channels = {"RGB": PIXELS} | {f"layer.{k}": np.zeros((4, 5), np.float32) for k in range(50)}
    saved(tmp_path / "a.exr", channels)
    asked: list[str] = []
    lines = exr.ExrPixels.lines
    monkeypatch.setattr(exr.ExrPixels, "lines", lambda self, names, *at: asked.extend(names) or lines(self, names, *at))
    np.testing.assert_array_equal(read_picture(tmp_path / "a.exr"), PIXELS)
    assert asked == ["R", "G", "B"]


def test_where_the_library_reads_whole_files_alone_they_are_bounded(tmp_path, monkeypatch) -> None:
    channels = {"RGB": PIXELS} | {f"layer.{k}": np.zeros((4, 5), np.float32) for k in range(50)}
    saved(tmp_path / "a.exr", channels)
    monkeypatch.delattr(OpenEXR, "InputFile")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.exr"), PIXELS)
    monkeypatch.setattr(exr, "MAX_DECODED_BYTES", 4 * 5 * 53 * 4 - 1)
    with pytest.raises(ViewerError, match="holds 53 channels"):
        read_picture(tmp_path / "a.exr")


def test_headers_without_end(tmp_path, capfd, monkeypatch) -> None:
    monkeypatch.setattr(exr, "MAX_HEADER_BYTES", 1 << 20)  # longer ones would take long to write
    data = saved(tmp_path / "a.exr")
    refused(
        tmp_path / "b.exr", data[:8] + attribute(b"note", b"string", bytes(1 << 20)) + data[8:], "leaves the", capfd
    )
    refused(tmp_path / "b.exr", data[:8] + b"x" * (1 << 20), "a name of more than 255 bytes", capfd)
