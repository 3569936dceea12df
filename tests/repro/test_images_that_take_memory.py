"""Images of a few bytes took gigabytes: the budget counted the texels that are kept, not decoders and copies."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image as Library

import raystream.options.table  # noqa: F401  # messages write options as it does
from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.image import images
from raystream.formats.image.images import ImageHeader, ImageMemory, decode, header, read_image


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


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "deep", "palette"])
def test_reduced_images_are_means(kind) -> None:
    ramp = np.linspace(0, 255, 64).astype(np.uint8)
    rows = np.dstack(
        [np.broadcast_to(ramp, (48, 64)), np.broadcast_to(ramp[:48, None], (48, 64)), np.full((48, 64), 9)]
    )
    picture = Library.fromarray(rows.astype(np.uint8))
    if kind == "deep":
        data = encoded(Library.fromarray(rows[..., 0].astype(np.uint16) * 257), "PNG")
    elif kind == "palette":
        data = encoded(picture.quantize(256), "PNG")
    else:
        data = encoded(picture, kind)
    whole, small = decode(data, "x").texels.astype(float), decode(data, "x", factor=4).texels.astype(float)
    assert whole.shape == (48, 64, 4) and small.shape == (12, 16, 4)
    mean = whole.reshape(12, 4, 16, 4, 4).mean(axis=(1, 3))
    assert np.abs(small - mean).max() < (2 if kind != "deep" else 2 * 257)


def test_images_that_fit_are_read_whole() -> None:
    """The option reduces them later, in linear light."""
    assert read_image(ImageMemory(8), encoded(Library.new("L", (64, 32)), "PNG"), "x").size == (64, 32)


def test_small_files_of_many_large_images_are_refused() -> None:
    budget, image = ImageMemory(), ImageHeader(8192, 8192, decoder=1)
    for _ in range(4):
        assert budget.plan(image, 100, "x") == 1
    with pytest.raises(ViewerError, match=r"and the images before take more than 1\.0 GiB"):
        budget.plan(image, 100, "x")
    assert ImageMemory(1024).plan(image, 100, "x") == 1


def test_rows_beyond_the_decoder_are_refused() -> None:
    """One row of 173,867,008 texels in 132 bytes was a MemoryError, raised before any memory was asked for."""
    for kind, colors in ((0, 1), (2, 3)):
        size = struct.pack(">IIBBBBB", 173_867_008, 1, 8, kind, 0, 0, 0)
        parts = ((b"IHDR", size), (b"IDAT", zlib.compress(bytes(60 * colors))), (b"IEND", b""))
        data = b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
            for name, body in parts
        )
        for side in (None, 64):
            with pytest.raises(ViewerError, match="173,867,008 x 1 texels, more than 16,777,216 a side"):
                read_image(ImageMemory(side), data, "wide.png")


def test_decoders_take_turns(monkeypatch) -> None:
    """What is decoded at once stays within the memory of one image."""
    from concurrent.futures import ThreadPoolExecutor
    from time import sleep

    monkeypatch.setattr(images, "FREE_BYTES", 100)
    budget, at_once, most = ImageMemory(), [0], []

    def work(size: int) -> None:
        with budget.decoding(size):
            at_once[0] += size
            most.append(at_once[0])
            sleep(0.01)
            at_once[0] -= size

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [60, 30, 60, 300, 10, 90]))
    assert max(most) == 300 and sorted(each for each in most if each < 300)[-1] <= 100


def test_headers_tell_the_decoders_memory() -> None:
    for picture, kind, options, expected in (
        (Library.new("RGB", (4, 4)), "PNG", {}, 4),
        (Library.new("1", (4, 4)), "PNG", {}, 1),
        (Library.new("RGB", (4, 4)), "JPEG", {}, 4),
        (Library.new("RGB", (4, 4)), "JPEG", {"progressive": True}, 11),
        (Library.new("RGB", (4, 4)), "WEBP", {}, 20),
        (Library.fromarray(np.zeros((4, 4), np.uint16)), "PNG", {}, 8),
    ):
        assert header(encoded(picture, kind, **options), "x").decoder == expected
