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

STRIP = 1 << 15  # texels decoded at once: their floats fit a processor's cache
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
    values = _first(texels, content)
    while True:
        yield _encoded(values, texels.dtype, content)
        if values.shape[:2] == (1, 1):
            return
        values = halved(halved(values, 0), 1)


def halved(values: Floats, axis: int, first: int = 0, length: int | None = None) -> Floats:
    """Half as many along an axis, each the mean of its sources; unchanged for a single one.

    Of an axis of ``length`` values these begin with index ``first``, which is even.
    """
    length = values.shape[axis] if length is None else length
    if length == 1:
        return values
    values = np.moveaxis(values, axis, 0)
    if length % 2 == 0:
        out = values[0::2] + values[1::2]
        out *= np.float32(0.5)
    else:
        half, count = length // 2, len(values) // 2
        indices = np.arange(first // 2, first // 2 + count).reshape(-1, *[1] * (values.ndim - 1))
        out = values[0 : 2 * count : 2] * ((half - indices) / length).astype(np.float32)
        out += values[1 : 2 * count : 2] * np.float32(half / length)
        out += values[2 : 2 * count + 1 : 2] * ((indices + 1) / length).astype(np.float32)
    return np.moveaxis(out, 0, axis)


def _first(texels: NDArray, content: str) -> Floats:
    """The first smaller level, as floats; strip by strip, so that the largest is never in memory as floats."""
    tall, wide = texels.shape[:2]
    rows = max(1, tall // 2)
    out = np.empty((rows, max(1, wide // 2), 4), np.float32)
    step = max(1, STRIP // (2 * wide))
    for row in range(0, rows, step):
        last = min(row + step, rows)
        # One row more than two for each, if the height is odd.
        strip = _decoded(texels[2 * row : min(2 * last + tall % 2, tall)], content)
        out[row:last] = halved(halved(strip, 1), 0, 2 * row, tall)
    return out


def _decoded(texels: NDArray, content: str) -> Floats:
    """Linear values; integers become 0 .. 1."""
    if texels.dtype == np.float16:
        return texels.astype(np.float32)
    most = np.iinfo(texels.dtype).max
    if content != "color":
        return texels * np.float32(1.0 / most)
    out = _linear_of(most).take(texels)
    out[..., 3] = texels[..., 3] * np.float32(1.0 / most)
    return out


def _encoded(values: Floats, kind: np.dtype, content: str) -> NDArray:
    """Values as texels of a type; directions at full length."""
    out = np.empty(values.shape, kind)
    step = max(1, STRIP // values.shape[1])
    for row in range(0, len(values), step):
        out[row : row + step] = _encoded_rows(values[row : row + step], kind, content)
    return out


def _encoded_rows(values: Floats, kind: np.dtype, content: str) -> NDArray:
    if content == "normal":
        values = _unit(values)
    if kind == np.float16:
        return values.astype(np.float16)
    most = np.iinfo(kind).max
    plain = values * np.float32(most) + np.float32(0.5)
    if content != "color":
        return plain.astype(kind)
    if kind == np.uint8:
        out = _srgb_of_words().take((values * np.float32(65535.0) + np.float32(0.5)).astype(np.uint16))
    else:
        out = np.rint(_srgb(values) * most).astype(kind)
    out[..., 3] = plain[..., 3]
    return out


def _unit(values: Floats) -> Floats:
    """Vectors (v + 1) / 2 normalised; those that cancel out point up."""
    out = values - np.float32(0.5)
    square = np.einsum("...k,...k->...", out[..., :3], out[..., :3])
    nonzero = square > 1e-9
    out *= (np.float32(0.5) / np.sqrt(np.where(nonzero, square, 1.0)))[..., None]
    out += np.float32(0.5)
    out[~nonzero, :3] = 0.5, 0.5, 1.0
    out[..., 3] = values[..., 3]
    return out


@cache
def _linear_of(most: int) -> Floats:
    """Linear light of every integer 0 .. most."""
    encoded = np.arange(most + 1) / most
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4).astype(np.float32)


@cache
def _srgb_of_words() -> NDArray[np.uint8]:
    """The byte of every 16-bit linear value, at most 0.53 from the exact one: steps are 0.05 at most."""
    return np.rint(_srgb(np.arange(65536) / 65535.0) * 255.0).astype(np.uint8)


def _srgb(linear: NDArray) -> NDArray:
    """sRGB-encoded values of linear ones, both 0 .. 1 (IEC 61966-2-1)."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0.0) ** (1 / 2.4) - 0.055)


# Reduced images by their sources, so that derived scenes share them.
_REDUCED: weakref.WeakKeyDictionary[Image, dict[tuple[str, int], Image]] = weakref.WeakKeyDictionary()


def reduced(image: Image, content: str, most: int) -> Image:
    """The image's largest level with sides of at most ``most`` texels; itself if small enough."""
    if max(image.size) <= most:
        return image
    levels = _REDUCED.setdefault(image, {})
    if (content, most) not in levels:
        level = next(level for level in mip_levels(image, content) if max(level.shape[:2]) <= most)
        levels[content, most] = Image(level, image.name)
    return levels[content, most]


def with_textures_within(scene: Scene, most: int) -> Scene:
    """The scene with images of limited sides, texels; the same where all are."""
    textures = [replace(texture, image=reduced(texture.image, texture.content, most)) for texture in scene.textures]
    if all(new.image is old.image for new, old in zip(textures, scene.textures, strict=True)):
        return scene
    return replace(scene, textures=textures)
