"""PNG of 16 bits against files of an encoder written here: every filter, colour type and kind of damage."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from picture_bytes import chunk, png

from raystream.base.errors import ViewerError
from raystream.formats.image import images
from raystream.formats.image.images import ImageMemory, decode, read_image

RANDOM = np.random.default_rng(0)


def filtered(rows: np.ndarray, step: int, kinds: list[int]) -> bytes:
    """Rows (H, bytes) uint8 with a filter each, as the specification states them (section 9.2)."""
    out = b""
    above = np.zeros(rows.shape[1], int)
    for row, kind in zip(rows.astype(int), kinds, strict=True):
        left, corner = (np.concatenate([np.zeros(step, int), each[:-step]]) for each in (row, above))
        guess = left + above - corner
        near = np.stack([np.abs(guess - each) for each in (left, above, corner)])
        paeth = np.choose(near.argmin(axis=0), [left, above, corner])
        guessed = [0 * row, left, above, (left + above) // 2, paeth][kind]
        out += bytes([kind]) + ((row - guessed) & 255).astype(np.uint8).tobytes()
        above = row
    return out


def filtered_png(values: np.ndarray, interlace: int = 0, kinds: list[int] | None = None, parts: int = 1) -> bytes:
    """values : (H, W, C) uint16."""
    height, width, channels = values.shape
    rows = np.ascontiguousarray(values.astype(">u2")).view(np.uint8).reshape(height, -1)
    data = zlib.compress(filtered(rows, 2 * channels, kinds or [k % 5 for k in range(height)]))
    color = {1: 0, 3: 2, 2: 4, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, 16, color, 0, 0, interlace)
    pieces = [data[k::1][: -(-len(data) // parts)] for k in range(0, len(data), -(-len(data) // parts))]
    return png((b"IHDR", header), *((b"IDAT", piece) for piece in pieces))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_every_bit_is_kept(channels):
    values = RANDOM.integers(0, 65536, (11, 7, channels), np.uint16)
    image = decode(filtered_png(values, parts=3), "a.png", "a")
    want = np.full((11, 7, 4), 65535)
    want[..., :3] = values[..., :3] if channels > 2 else values[..., :1]
    if channels % 2 == 0:
        want[..., 3] = values[..., -1]
    assert image.texels.dtype == np.uint16 and image.size == (7, 11)
    np.testing.assert_array_equal(image.texels, want)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:-30], "cut off"),
        (lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:], "checksum"),
        (lambda data: data[:33] + data[-12:], "0 of 441 bytes"),
        (lambda data: data[:33] + chunk(b"IDAT", b"no deflate") + data[-12:], "unreadable PNG"),
        (
            lambda data: data[:33] + chunk(b"IDAT", zlib.compress(b"\x07" * 450)) + data[-12:],
            "line 0 has an unknown filter",
        ),
    ],
)
def test_damage_is_told(change, reason):
    data = change(filtered_png(RANDOM.integers(0, 65536, (9, 8, 3), np.uint16)))
    with pytest.raises(ViewerError, match=f"a.png: .*{reason}"):
        decode(data, "a.png")


def test_sizes_are_checked_before_memory_is_taken(monkeypatch):
    data = filtered_png(np.zeros((4, 4, 3), np.uint16))
    huge = data[:16] + struct.pack(">II", 1 << 20, 1 << 20) + data[24:]
    with pytest.raises(ViewerError, match="1,048,576 x 1,048,576 texels, more than"):
        read_image(ImageMemory(), huge, "a.png")
    with pytest.raises(ViewerError, match="4 x 4 texels, more than 15"):
        monkeypatch.setattr(images, "MAX_IMAGE_TEXELS", 15)
        read_image(ImageMemory(), data, "a.png")


def interlaced(values: np.ndarray, key: bytes = b"") -> bytes:
    """The seven passes of Adam7 (section 8.2), each with filters of its own; ``key``: a colour key."""
    height, width, channels = values.shape
    passes = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    data = b""
    for row, column, down, across in passes:
        part = values[row::down, column::across]
        if part.size:
            rows = np.ascontiguousarray(part.astype(">u2")).view(np.uint8).reshape(len(part), -1)
            data += filtered(rows, 2 * channels, [k % 5 for k in range(len(rows))])
    header = struct.pack(">IIBBBBB", width, height, 16, {1: 0, 3: 2, 2: 4, 4: 6}[channels], 0, 0, 1)
    parts = ((b"IHDR", header), (b"tRNS", key), (b"IDAT", zlib.compress(data)))
    return png(*(part for part in parts if part[1]))


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (5, 5), (11, 7), (8, 8), (1, 9)])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_interlaced_files_keep_every_bit(size, channels):
    values = RANDOM.integers(0, 65536, (*size, channels), np.uint16)
    data = interlaced(values)
    np.testing.assert_array_equal(images.read(data, ""), images.read(filtered_png(values), ""))
    with pytest.raises(ViewerError, match="bytes of the picture are there"):
        images.read(interlaced(values)[:16] + struct.pack(">II", size[1] + 9, size[0] + 9) + data[24:], "")


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("kind", ["plain", "interlaced"])
def test_a_color_key_is_transparent_where_all_16_bits_are_its(channels, kind):
    values = RANDOM.integers(0, 65536, (4, 6, channels), np.uint16)
    values[1, 2] = values[3, 5] = 0x1234
    values[0, 0] = 0x1235
    values[2, 2] = np.arange(channels) * 256 + 0x1234 if channels > 1 else 0x9934
    key = struct.pack(">H", 0x1234) * channels
    data = filtered_png(values)
    data = data[:33] + chunk(b"tRNS", key) + data[33:] if kind == "plain" else interlaced(values, key)
    alpha = decode(data, "a.png").texels[..., 3]
    want = np.full((4, 6), 65535)
    want[1, 2] = want[3, 5] = 0
    np.testing.assert_array_equal(alpha, want)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_a_grey_key_of_fewer_bits_is_transparent(depth):
    """Pillow scales grey to 8 bits, and not the key."""
    grey = np.arange(1 << depth, dtype=np.uint8)
    bits = np.unpackbits(grey[:, None], axis=1)[:, 8 - depth :].ravel()
    header = struct.pack(">IIBBBBB", len(grey), 1, depth, 0, 0, 0, 0)
    for key in {0, 1, len(grey) - 1}:
        row = (b"IDAT", zlib.compress(b"\0" + np.packbits(bits).tobytes()))
        texels = decode(png((b"IHDR", header), (b"tRNS", struct.pack(">H", key)), row), "a.png").texels[0]
        assert texels[:, 0].tolist() == [k * 255 // (len(grey) - 1) for k in range(len(grey))]
        assert texels[:, 3].tolist() == [0 if k == key else 255 for k in range(len(grey))]
