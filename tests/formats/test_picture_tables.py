"""Pictures by tables: reduced sizes, memory that images may take, and Radiance files."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from picture_bytes import RANDOM, deep_png, encoded

from raystream.base.errors import ViewerError
from raystream.formats.image import hdr, images
from raystream.formats.image.images import ImageHeader, ImageMemory
from tests.refusals import refusal


def means(texels: np.ndarray, across: int, down: int) -> np.ndarray:
    """Of whole boxes; what is left over at the right and below is dropped."""
    height, width = texels.shape[0] // down, texels.shape[1] // across
    boxes = texels[: height * down, : width * across].astype(np.float64).reshape(height, down, width, across, -1)
    return boxes.mean(axis=(1, 3))


@pytest.mark.parametrize("band", [1, 100, 1 << 18])
@pytest.mark.parametrize("factor", [1, 2, 4, 8, 16, 32])
def test_reduced_pictures_are_means(factor: int, band: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 8 and of 16 bits, whatever band is converted at once; a side stays at least a texel."""
    monkeypatch.setattr(images, "_BAND_TEXELS", band)
    found = images.decode(encoded(RANDOM), "a", "dots", factor)
    expected = means(RANDOM, min(factor, 22), min(factor, 13))
    assert found.texels.shape == expected.shape and found.name == "dots" and found.texels.dtype == np.uint8
    assert np.abs(found.texels - expected).max() <= 0.51  # colours are not weighed by opacity: channels may be anything
    deep = RANDOM.astype(np.uint16) * 251 + 5
    found = images.decode(deep_png(deep), "a", "deep", factor)
    assert found.texels.dtype == np.uint16 and found.name == "deep"
    np.testing.assert_array_equal(found.texels, np.rint(means(deep, min(factor, 22), min(factor, 13))))


@pytest.mark.parametrize("factor", [1, 2, 4, 8, 16])
def test_jpeg_is_reduced_by_its_decoder_and_by_means(factor: int) -> None:
    """By 8 at most in the decoder; a ramp stays a ramp."""
    ramp = np.repeat(np.linspace(0, 255, 160).astype(np.uint8)[None, :, None], 64, axis=0).repeat(3, axis=2)
    texels = images.decode(encoded(ramp, "JPEG", quality=95), "a", factor=factor).texels
    assert texels.shape == (64 // factor, 160 // factor, 4) and (texels[..., 3] == 255).all()
    expected = means(ramp[..., :1], factor, factor)
    assert np.abs(texels[..., :3] - expected).max() <= 4  # of the coding


def memory_of(monkeypatch: pytest.MonkeyPatch, side: int | None = None, free: int | None = None) -> ImageMemory:
    monkeypatch.setattr(images, "available", lambda: free)
    return ImageMemory(side)


@pytest.mark.parametrize(
    ("size", "side", "factor"),
    [
        ((40, 10), None, 1),  # what fits is not reduced
        ((40, 10), 1, 1),
        ((41, 10), 20, 2),
        ((41, 10), 19, 4),
        ((10, 41), 19, 4),
        ((80, 10), 20, 4),
        ((81, 10), 41, None),  # no reduction makes it fit at that size
        ((800, 10), 20, 16),  # the image has no smaller level
    ],
)
def test_factors_of_what_is_too_large(
    size: tuple[int, int], side: int | None, factor: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To at most that side, by halves, where an image of 400 texels fits."""
    monkeypatch.setattr(images, "MAX_SCENE_TEXELS", 400 if size[0] < 81 else 200)
    kept = memory_of(monkeypatch, side)
    image = ImageHeader(*size, decoder=4, least=16)
    if factor is None:
        with pytest.raises(ViewerError):
            kept.plan(image, 100, "a")
        assert kept.texels == 0
    else:
        assert kept.plan(image, 100, "a") == factor
        assert kept.texels == size[0] * size[1] // factor**2


def test_images_share_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_SCENE_TEXELS", 1000)
    kept, image = memory_of(monkeypatch), ImageHeader(20, 20, 4)
    kept.plan(image, 1, "a")
    kept.plan(image, 1, "a")
    kept.add(200, "a")
    assert kept.texels == 1000
    with pytest.raises(ViewerError, match="20 x 20 texels, more than 0"):
        kept.plan(image, 1, "a")
    with pytest.raises(ViewerError, match="more than 1,000 texels in all pictures"):
        kept.add(1, "a")


@pytest.mark.parametrize(
    ("free", "image", "length", "words"),
    [
        (10_000, ImageHeader(1000, 1, 1), 0, ""),  # a tenth of what is free in texels
        (9_999, ImageHeader(1000, 1, 1), 0, "1,000 x 1 texels, more than 999"),
        (10_000, ImageHeader(1000, 1, 1.001), 0, "take 0.0 GiB to decode 0 bytes, more than 0.0"),  # half of it at once
        (None, ImageHeader(1 << 10, 1 << 10, 1020), 0, ""),
        (None, ImageHeader(1 << 10, 1 << 10, 1021), 0, "take 1.0 GiB to decode 0 bytes, more than 1.0"),
        (None, ImageHeader(1 << 10, 1 << 10, 1021), 1 << 16, ""),  # 16 bytes for each of the file's
        (None, ImageHeader((1 << 24) + 1, 1, 1), 0, "more than 16,777,216 a side"),
        (None, ImageHeader(1 << 24, 1, 1), 0, ""),
        (None, ImageHeader(1 << 14, (1 << 14) + 1, 0.1), 1 << 30, "more than 268,435,456"),
        (None, ImageHeader(1 << 14, 1 << 14, 0, texel=8), 1 << 27, ""),
        (None, ImageHeader(1 << 14, 1 << 14, 0, texel=8), 1 << 22, "take 2.0 GiB to decode"),
    ],
)
def test_limits_of_memory(
    free: int | None, image: ImageHeader, length: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = memory_of(monkeypatch, None, free)
    with refusal(words):
        assert kept.plan(image, length, "a") == 1


def test_images_before_are_held_against_their_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 GiB, and 256 bytes for each of all files'."""
    kept, image = memory_of(monkeypatch), ImageHeader(1 << 13, 1 << 13, 0)  # 256 MiB
    for _ in range(4):
        kept.plan(image, 0, "a")
    with pytest.raises(ViewerError, match="8,192 x 8,192 texels and the images before take more"):
        kept.plan(image, (1 << 20) - 1, "a")
    assert kept.plan(image, 1, "a") == 1


def test_images_decoded_at_once_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together up to 1 GiB; one alone may take any size."""
    monkeypatch.setattr(images, "BASE_BYTES", 100)
    kept = memory_of(monkeypatch)
    entered = [threading.Event() for _ in range(4)]
    leave = [threading.Event() for _ in range(4)]

    def work(number: int, size: int) -> None:
        with kept.decoding(size):
            entered[number].set()
            leave[number].wait(600)

    threads = [threading.Thread(target=work, args=each) for each in ((0, 60), (1, 40), (2, 1), (3, 500))]
    for thread, event in zip(threads[:2], entered, strict=False):
        thread.start()
        assert event.wait(600)
    threads[2].start()
    assert not entered[2].wait(0.05)
    leave[1].set()
    assert entered[2].wait(600)
    threads[3].start()
    assert not entered[3].wait(0.05)
    leave[0].set()
    leave[2].set()
    assert entered[3].wait(600)
    leave[3].set()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"#?RADIANCE\n\n-Y 1 +X 1\n", ""),
        (b"#?RGBE\n\n-Y 1 +X 1\r\n", ""),
        (b"#?RGBE\nFORMAT=\n\n-Y  1  +X  1 \n", ""),
        (b"#?RGBE\nFORMAT= 32-bit_rle_rgbe \nEXPOSURE\n\n-Y 1 +X 1\n", ""),
        (b"#?RGBE\n\n-Y 1 +X\n", "no size"),
        (b"#?RGBE\n\n-Y 1 +X 1", "the header does not end"),
        (b"#?RGBE\nEXPOSURE=1e30\n\n-Y 1 +X 1\n", "EXPOSURE"),
        (b"#?RGBE\nEXPOSURE=-1\n\n-Y 1 +X 1\n", "EXPOSURE"),
    ],
)
def test_headers_of_radiance_files(head: bytes, words: str) -> None:
    data = head + bytes((128, 64, 0, 129))
    with refusal(words):
        np.testing.assert_array_equal(hdr.read(data, "a"), [[[1, 0.5, 0]]])
        assert hdr.size(data, "a") == (1, 1)
