"""Mip levels against means of all texels that they cover, in float64."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.scene.edits import mipmaps
from raystream.scene.edits.mipmaps import level_sizes, mip_levels, reduced
from raystream.scene.texture import Image, linear_from_srgb


def picture(width: int, height: int, kind: type = np.uint8) -> Image:
    random = np.random.default_rng(width + height)
    if kind is np.float16:
        return Image(random.normal(size=(height, width, 4)).astype(np.float16) * np.float16(100))
    return Image(random.integers(0, np.iinfo(kind).max + 1, (height, width, 4), kind))


def linear(texels: np.ndarray, content: str) -> np.ndarray:
    values = texels.astype(float) if texels.dtype == np.float16 else texels / np.iinfo(texels.dtype).max
    if content == "color" and texels.dtype != np.float16:
        values[..., :3] = linear_from_srgb(values[..., :3])
    return values


def covered(count: int, half: int) -> np.ndarray:
    """(half, count): which share each of ``count`` values has in each of ``half`` even parts of them."""
    edges = np.linspace(0, count, half + 1)
    number = np.arange(count)
    share = np.minimum(edges[1:, None], number + 1) - np.maximum(edges[:-1, None], number)
    return np.maximum(share, 0) * half / count


@pytest.mark.parametrize("size", [(1, 1), (8, 4), (7, 5), (1, 6), (13, 1), (64, 33)])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float16])
@pytest.mark.parametrize("content", ["color", "data"])
def test_levels_are_means(size, kind, content, monkeypatch):
    monkeypatch.setattr(mipmaps, "STRIP_TEXELS", 100)
    image = picture(*size, kind)
    want, found = linear(image.texels, content), list(mip_levels(image, content))
    assert [level.shape[1::-1] for level in found] == level_sizes(*size)[1:]
    for level in found:
        down, across = (covered(old, new) for old, new in zip(want.shape, level.shape[:2], strict=False))
        want = np.einsum("ij,jkc,lk->ilc", down, want, across)
        assert level.dtype == kind
        if kind is np.float16:
            np.testing.assert_allclose(level, want, rtol=2.0**-10, atol=1e-4)  # means nearly cancel out
            continue
        most = np.iinfo(kind).max
        exact = want * most
        if content == "color":
            encoded = np.where(want <= 0.0031308, 12.92 * want, 1.055 * want ** (1 / 2.4) - 0.055)
            exact[..., :3] = encoded[..., :3] * most
        # Rounding, and what tables and float32 are off: a share of a step of 8 bits, a few of 16 where it is dark.
        assert np.abs(level - exact).max() <= (0.56 if kind is np.uint8 else 0.6)


def test_normals_are_averaged_as_vectors():
    """Two that lean apart have one between them of full length; two that cancel out point up."""
    lean = np.float64([0.6, 0.0, 0.8])
    vectors = np.stack([[lean, lean * (-1, 1, 1), [0, 0, 1], [0, 0, -1]]])
    texels = np.concatenate([(vectors + 1) / 2, np.ones((1, 4, 1))], axis=-1)
    first, last = mip_levels(Image(np.round(texels * 65535).astype(np.uint16)), "normal")
    up = [32767.5, 32767.5, 65535, 65535]
    np.testing.assert_allclose(first[0], [up, up], atol=1)
    np.testing.assert_allclose(last[0, 0], up, atol=2)  # rounded twice


def test_reduced_images():
    image = picture(64, 33)
    assert reduced(image, "color", 64) is image
    smaller = reduced(image, "color", 16)
    assert smaller.size == (16, 8) and reduced(image, "color", 16) is smaller
    np.testing.assert_array_equal(smaller.texels, list(mip_levels(image, "color"))[1])
    assert reduced(image, "data", 1).size == (1, 1)
