"""Textures as a module: all images in one memory of texels, and tables of how each is looked up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.memory import available
from raystream.kernels.records import TEXTURE, TEXTURE_LEVEL
from raystream.scene.edits.mipmaps import level_sizes, mip_levels
from raystream.scene.texture import MINIFICATIONS, WRAPS, Image, Texture
from raystream.stream.declare.kernel import Module, Table, Texels

# Levels begin at a block of so many texels and a place in it, so that the table can address 2^31 of them by integers
# below 2^24.
BLOCK = 256
MAX_TEXELS = (1 << 31) - 1

# Bits of a texture's flags, which the shader knows by these names.
FLAGS = {
    "TEXTURE_NEAREST": 1,  # the nearest texel where it is magnified
    "TEXTURE_NEAREST_SMALL": 2,  # and where it is minified
    "TEXTURE_MIPMAPS": 4,
    "TEXTURE_LINEAR": 8,  # texels are not sRGB-encoded
    "TEXTURE_WIDE": 16,  # 16 bits of a channel, in two texels of the memory: halfs, or of 0 .. 65535
    "TEXTURE_HALF": 32,
    "TEXTURE_SECOND": 64,  # by the second set of texture coordinates
}


def textures(scene_textures: Sequence[Texture]) -> Module:
    """The module of ``interface/texture.glsl`` over the scene's textures; without any they are white. Raises
    ViewerError where all images together exceed the addresses of a GLSL integer, or the free memory."""
    if not scene_textures:
        return Module("no textures", provides=PROVIDES, source="shading/texture_none.glsl")
    mipmapped = {_key(texture) for texture in scene_textures if _mipmapped(texture)}
    kinds = {_key(texture): (texture.image, texture.content) for texture in scene_textures}
    levels = np.zeros(sum(len(_level_sizes(*kinds[key], key in mipmapped)) for key in kinds), TEXTURE_LEVEL.dtype)
    first: dict[tuple[int, str], tuple[int, int]] = {}
    addresses: dict[tuple[int, str], list[int]] = {}
    row = count = 0
    for key, (image, content) in kinds.items():
        sizes = _level_sizes(image, content, key in mipmapped)
        first[key], addresses[key] = (row, len(sizes)), []
        for size in sizes:
            levels[row] = divmod(count, BLOCK), size
            addresses[key].append(count)
            row, count = row + 1, count + size[0] * size[1] * (1 + _has_wide_texels(image))
    _check_size(count)
    texels = np.zeros((count, 4), np.uint8)
    with ThreadPoolExecutor(min(len(kinds), os.cpu_count() or 1)) as pool:
        list(pool.map(lambda key: _write_levels(texels, addresses[key], *kinds[key]), kinds))
    table = np.zeros(len(scene_textures), TEXTURE.dtype)
    for line, texture in zip(table, scene_textures, strict=True):
        start, level_count = first[_key(texture)]
        line["level"], line["last"] = start, level_count - 1
        line["wrap"] = [WRAPS[mode] for mode in texture.wrap]
        line["flags"] = _flags(texture)
        line["transform_u"], line["transform_v"] = np.clip(texture.transform, -1e30, 1e30)
        line["detail"] = _detail(texture)
    return Module(
        "textures",
        provides=PROVIDES,
        source="shading/texture_image.glsl",
        memories=(
            Table("textures", TEXTURE, table),
            Table("texture_levels", TEXTURE_LEVEL, levels),
            Texels("texels", texels),
        ),
        constants={"TEXTURE_BLOCK": BLOCK, **FLAGS},
        features=frozenset(
            {"WIDE_TEXELS"} if any(_has_wide_texels(texture.image) for texture in scene_textures) else ()
        ),
    )


def cones(textured: bool) -> Module:
    """The module of ``interface/cone.glsl``: ray cones for mip levels; without textures it does nothing."""
    return Module(
        "ray cones",
        provides=("cone_of_pixel", "cone_width", "cone_scattered"),
        source=f"shading/cone_{'pixel' if textured else 'none'}.glsl",
        needs=("camera_spread", "sample_1d") if textured else (),
    )


PROVIDES = ("texture_color", "texture_texel")


def _key(texture: Texture) -> tuple[int, str]:
    """The key of shared levels: an image, and its content, by which levels are made."""
    return id(texture.image), texture.content


def _mipmapped(texture: Texture) -> bool:
    return MINIFICATIONS[texture.minification or ""][1]


def _has_wide_texels(image: Image) -> bool:
    """Whether a texel of the image takes two of the memory."""
    return image.texels.dtype != np.uint8


def _level_sizes(image: Image, content: str, mipmapped: bool) -> list[tuple[int, int]]:
    return level_sizes(*image.size) if mipmapped else [image.size]


def _check_size(count: int) -> None:
    """Raise ViewerError for more texels than can be addressed, or than free memory holds."""
    hint = "reduce the images by --max-texture"
    if count > MAX_TEXELS:
        raise ViewerError("textures", f"{count:,} texels, of which {MAX_TEXELS:,} can be addressed", hint)
    free, needed = available(), 8 * count  # once here, and again on the device or while levels are made
    if free is not None and needed > free:
        raise ViewerError("textures", f"take {needed:,} bytes of memory, and {free:,} are free", hint)


def _write_levels(texels: NDArray[np.uint8], addresses: Sequence[int], image: Image, content: str) -> None:
    """Write an image and its mip levels to ``texels`` at these addresses."""
    levels = chain([image.texels], mip_levels(image, content) if len(addresses) > 1 else ())
    for start, level in zip(addresses, levels, strict=True):
        data = level if level.dtype == np.uint8 else level.view(np.uint16).astype(">u2").view(np.uint8)
        flat = data.reshape(-1, 4)
        texels[start : start + len(flat)] = flat


def _flags(texture: Texture) -> int:
    """The bits of `FLAGS` of a texture."""
    nearest, mipmaps = MINIFICATIONS[texture.minification or ""]
    kind = texture.image.texels.dtype
    bits = {
        "TEXTURE_NEAREST": texture.nearest,
        "TEXTURE_NEAREST_SMALL": nearest,
        "TEXTURE_MIPMAPS": mipmaps,
        "TEXTURE_LINEAR": texture.content != "color" or kind == np.float16,
        "TEXTURE_WIDE": _has_wide_texels(texture.image),
        "TEXTURE_HALF": kind == np.float16,
        "TEXTURE_SECOND": texture.uv_set == 1,
    }
    return sum(FLAGS[name] for name, holds in bits.items() if holds)


def _detail(texture: Texture) -> float:
    """log2 of the texels along the side of a unit square of the mesh's texture coordinates."""
    width, height = texture.image.size
    stretch = abs(float(np.linalg.det(np.clip(texture.transform[:, :2], -1e15, 1e15))))
    return float(np.clip(0.5 * np.log2(max(width * height * stretch, 1e-300)), -1e3, 1e3))
