"""Pictures as bytes of files."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image as Pillow

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 3, 4), np.uint8)
RANDOM = np.random.default_rng(7).integers(0, 256, (13, 22, 4), np.uint8)


def encoded(texels: np.ndarray = PIXELS, kind: str = "PNG", mode: str | None = None, **more: Any) -> bytes:
    stream = io.BytesIO()
    image = Pillow.fromarray(texels)
    (image.convert(mode) if mode else image).save(stream, kind, **more)
    return stream.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    """Of a PNG, with its length and checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*parts: tuple[bytes, bytes]) -> bytes:
    """A file of these chunks and the last one."""
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in (*parts, (b"IEND", b"")))


def deep_png(values: np.ndarray, color: int = 6) -> bytes:
    """16 bits per channel, without filters, its data in three parts."""
    packed = zlib.compress(b"".join(b"\0" + row.astype(">u2").tobytes() for row in values))
    third = len(packed) // 3
    head = struct.pack(">IIBBBBB", values.shape[1], values.shape[0], 16, color, 0, 0, 0)
    ends = ((0, third), (third, third), (third, 2 * third), (2 * third, None))
    return png((b"IHDR", head), (b"tEXt", b"a\0b"), *((b"IDAT", packed[a:b]) for a, b in ends))
