"""Images of a few bytes took gigabytes: the budget counted the texels that are kept, not decoders and copies."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zlib

import pytest
from PIL import Image as Library

import raystream.options.table  # noqa: F401  # messages write options as it does
from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.image.images import ImageMemory, read_image
from tests.formats.picture_bytes import png


def encoded(picture: Library.Image, kind: str, **options) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, format=kind, **options)
    return stream.getvalue()


def test_a_webp_of_one_colour_is_refused(tmp_path) -> None:
    """A canvas of 16,383 x 16,383 texels in 928 bytes with its glTF took 6.8 GiB."""
    data = bytearray(encoded(Library.new("RGB", (64, 64)), "WEBP", lossless=True))
    assert data[12:16] == b"VP8L" and data[20] == 0x2F
    bits = int.from_bytes(data[21:25], "little") & ~((1 << 28) - 1)
    data[21:25] = (bits | 16382 | 16382 << 14).to_bytes(4, "little")
    (tmp_path / "bomb.webp").write_bytes(data)
    document = {
        "asset": {"version": "2.0"},
        "images": [{"uri": "bomb.webp"}],
        "textures": [{"source": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
    }
    path = tmp_path / "bomb.gltf"
    path.write_text(json.dumps(document))
    with pytest.raises(ViewerError, match=r"16,383 x 16,383 texels take 6.0 GiB to decode .*WebP is decoded whole"):
        load(path)
    with pytest.raises(ViewerError, match="take 5"):
        load(path, max_texture=64)


def test_a_png_of_one_bit_is_read_at_the_size_of_the_option() -> None:
    """33 KB took 4 GiB; bands of it are converted."""
    picture = Library.new("1", (16384, 16380))
    picture.paste(1, (0, 0, 8192, 16380))
    data = encoded(picture, "PNG")
    del picture  # a byte for each bit
    with pytest.raises(ViewerError, match=r"16,384 x 16,380 texels take 1.2 GiB .*max_texture=1024"):
        read_image(ImageMemory(), data, "big.png")
    tracemalloc.start()
    texels = read_image(ImageMemory(1024), data, "big.png").texels
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert texels.shape == (1023, 1024, 4) and peak < 32 << 20
    assert (texels[:, :512, 0] == 255).all() and (texels[:, 512:, 0] == 0).all()


def test_rows_beyond_the_decoder_are_refused() -> None:
    """One row of 173,867,008 texels in 132 bytes was a MemoryError, raised before any memory was asked for."""
    for kind, colors in ((0, 1), (2, 3)):
        size = struct.pack(">IIBBBBB", 173_867_008, 1, 8, kind, 0, 0, 0)
        data = png((b"IHDR", size), (b"IDAT", zlib.compress(bytes(60 * colors))))
        for side in (None, 64):
            with pytest.raises(ViewerError, match="173,867,008 x 1 texels, more than 16,777,216 a side"):
                read_image(ImageMemory(side), data, "wide.png")
