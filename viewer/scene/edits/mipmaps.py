"""Smaller versions of images: mip levels by a box filter (L. Williams, "Pyramidal Parametrics", 1983).

Colours are averaged in linear light, unit vectors as vectors, everything else unchanged. Each level has half the
previous width and height, rounded down, at least 1; for odd sizes the boxes of two texels overlap by the share that
preserves the overall mean.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from raystream.scene.scene import Scene
from raystream.scene.texture import Image

STRIP_TEXELS = 1 << 15  # texels decoded at once: their floats fit a processor's cache
Floats = NDArray[np.float32]


def level_sizes(width: int, height: int) -> list[tuple[int, int]]:
    """Width and height of all levels, the image's own first."""
    sizes = [(width, height)]
    while max(sizes[-1]) > 1:
        sizes.append((max(1, sizes[-1][0] // 2), max(1, sizes[-1][1] // 2)))
    return sizes


def mip_levels(image: Image, content: str) -> Iterator[NDArray]:
    """The levels after the image itself, (H, W, 4) of its type, down to one texel. content : one of `CONTENTS`."""
    texels = image.texels
    if texels.shape[:2] == (1, 1):
        return
    values = _second_level(texels, content)
    while True:
        yield _encode(values, texels.dtype, content)
        if values.shape[:2] == (1, 1):
            return
        values = halved(halved(values, 0), 1)


def halved(values: Floats, axis: int, first: int = 0, length: int | None = None) -> Floats:
    """Half as many values along an axis, each the mean of its two sources (or three, of an odd length); unchanged for a
    single one. ``values`` may be a part of an axis of ``length``, from the even index ``first`` on."""
    length = values.shape[axis] if length is None else length
    if length == 1:
        return values
    values = np.moveaxis(values, axis, 0)
    if length % 2 == 0:
        means = values[0::2] + values[1::2]
        means *= np.float32(0.5)
    else:
        half_length, count = length // 2, len(values) // 2
        indices = np.arange(first // 2, first // 2 + count).reshape(-1, *[1] * (values.ndim - 1))
        means = values[0 : 2 * count : 2] * ((half_length - indices) / length).astype(np.float32)
        means += values[1 : 2 * count : 2] * np.float32(half_length / length)
        means += values[2 : 2 * count + 1 : 2] * ((indices + 1) / length).astype(np.float32)
    return np.moveaxis(means, 0, axis)


def _second_level(texels: NDArray, content: str) -> Floats:
    """The level after the image's own, decoded; strip by strip, so that the image is never in memory as floats."""
    height, width = texels.shape[:2]
    rows = max(1, height // 2)
    level = np.empty((rows, max(1, width // 2), 4), np.float32)
    strip_rows = max(1, STRIP_TEXELS // (2 * width))
    for row in range(0, rows, strip_rows):
        end = min(row + strip_rows, rows)
        # One row more than two for each, if the height is odd.
        strip = _decode(texels[2 * row : min(2 * end + height % 2, height)], content)
        level[row:end] = halved(halved(strip, 1), 0, 2 * row, height)
    return level


def _decode(texels: NDArray, content: str) -> Floats:
    """Texels (H, W, 4) as linear float32; integers become 0 .. 1."""
    if texels.dtype == np.float16:
        return texels.astype(np.float32)
    scale = np.iinfo(texels.dtype).max
    if content != "color":
        return texels * np.float32(1.0 / scale)
    linear = _srgb_decode_table(scale).take(texels)
    linear[..., 3] = texels[..., 3] * np.float32(1.0 / scale)
    return linear


def _encode(values: Floats, dtype: np.dtype, content: str) -> NDArray:
    """The inverse of `_decode`: values (H, W, 4) as texels of ``dtype``; normals are made unit vectors."""
    texels = np.empty(values.shape, dtype)
    strip_rows = max(1, STRIP_TEXELS // values.shape[1])
    for row in range(0, len(values), strip_rows):
        texels[row : row + strip_rows] = _encode_rows(values[row : row + strip_rows], dtype, content)
    return texels


def _encode_rows(values: Floats, dtype: np.dtype, content: str) -> NDArray:
    if content == "normal":
        values = _unit_normals(values)
    if dtype == np.float16:
        return values.astype(np.float16)
    scale = np.iinfo(dtype).max
    unencoded = values * np.float32(scale) + np.float32(0.5)
    if content != "color":
        return unencoded.astype(dtype)
    if dtype == np.uint8:
        texels = _srgb_encode_table().take((values * np.float32(65535.0) + np.float32(0.5)).astype(np.uint16))
    else:
        texels = np.rint(_srgb_encode(values) * scale).astype(dtype)
    texels[..., 3] = unencoded[..., 3]
    return texels


def _unit_normals(values: Floats) -> Floats:
    """Normals encoded as (n + 1) / 2, normalised; those that cancel out point up."""
    unit = values - np.float32(0.5)
    square = np.einsum("...k,...k->...", unit[..., :3], unit[..., :3])
    nonzero = square > 1e-9
    unit *= (np.float32(0.5) / np.sqrt(np.where(nonzero, square, 1.0)))[..., None]
    unit += np.float32(0.5)
    unit[~nonzero, :3] = 0.5, 0.5, 1.0
    unit[..., 3] = values[..., 3]
    return unit


@cache
def _srgb_decode_table(max_code: int) -> Floats:
    """(max_code + 1,): the linear light of every sRGB code."""
    encoded = np.arange(max_code + 1) / max_code
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4).astype(np.float32)


@cache
def _srgb_encode_table() -> NDArray[np.uint8]:
    """(65536,): the sRGB byte of every 16-bit linear value, at most 0.53 from the exact one: steps are 0.05 at most."""
    return np.rint(_srgb_encode(np.arange(65536) / 65535.0) * 255.0).astype(np.uint8)


def _srgb_encode(linear: NDArray) -> NDArray:
    """sRGB-encoded values of linear ones, both 0 .. 1 (IEC 61966-2-1)."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0.0) ** (1 / 2.4) - 0.055)


# Reduced images by their sources, so that derived scenes share them.
_reduced_cache: weakref.WeakKeyDictionary[Image, dict[tuple[str, int], Image]] = weakref.WeakKeyDictionary()


def reduced(image: Image, content: str, max_side: int) -> Image:
    """The image's largest level with sides of at most ``max_side`` texels; itself if small enough."""
    if max(image.size) <= max_side:
        return image
    levels = _reduced_cache.setdefault(image, {})
    if (content, max_side) not in levels:
        level = next(level for level in mip_levels(image, content) if max(level.shape[:2]) <= max_side)
        levels[content, max_side] = Image(level, image.name)
    return levels[content, max_side]


def with_textures_within(scene: Scene, max_side: int) -> Scene:
    """The scene with images of at most ``max_side`` texels along each side; the same where all are."""
    textures = [replace(texture, image=reduced(texture.image, texture.content, max_side)) for texture in scene.textures]
    if all(new.image is old.image for new, old in zip(textures, scene.textures, strict=True)):
        return scene
    return replace(scene, textures=textures)
