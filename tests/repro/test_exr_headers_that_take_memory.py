"""Headers of EXR environments took gigabytes for files of two kilobytes: tiles, channels and parts without a bound."""

from __future__ import annotations

import struct

import numpy as np
import OpenEXR
import pytest

from raystream.base.errors import ViewerError
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
