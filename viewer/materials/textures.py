"""Textures as a module: all images in one memory of texels, and a table of how each is looked up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viewer.base.errors import ViewerError
from viewer.kernels.records import TEXTURE
from viewer.scene.texture import WRAPS, Image, Texture
from viewer.stream.declare.kernel import Module, Table, Texels

# Images begin at multiples of this many texels, so that the table can address 2^31 of them by integers below 2^24. What
# lies behind an image up to the next one is its own: smaller versions of it have room there, and an image of half
# floats takes two texels for each of its own.
BLOCK = 256
MOST_TEXELS = (1 << 31) - 1


def textures(found: Sequence[Texture]) -> Module:
    """``texture_color`` over the scene's textures; white, without memories, where there are none.

    Raises ViewerError where all images together exceed what an integer of GLSL can address.
    """
    if not found:
        return Module("no textures", provides=("texture_color",), source="shading/texture_none.glsl")
    images: dict[int, Image] = {}
    for texture in found:
        images.setdefault(id(texture.image), texture.image)
    starts, count = {}, 0
    for key, image in images.items():
        starts[key] = count
        width, height = image.size
        count += -(-width * height // BLOCK) * BLOCK
    if count > MOST_TEXELS:
        raise ViewerError(
            "textures", f"{count:,} texels, of which {MOST_TEXELS:,} can be addressed", "use smaller images"
        )
    texels = np.zeros((count, 4), np.uint8)
    for key, image in images.items():
        flat = image.texels.reshape(-1, 4)
        texels[starts[key] : starts[key] + len(flat)] = flat
    table = np.zeros(len(found), TEXTURE.dtype)
    for row, texture in zip(table, found, strict=True):
        row["start"] = starts[id(texture.image)] // BLOCK
        row["size"] = texture.image.size
        row["wrap"] = [WRAPS[way] for way in texture.wrap]
        row["nearest"] = texture.nearest
        row["across"], row["down"] = np.clip(texture.transform, -1e30, 1e30)
    return Module(
        "textures",
        provides=("texture_color",),
        source="shading/texture_image.glsl",
        memories=(Table("textures", TEXTURE, table), Texels("texels", texels)),
        constants={"TEXTURE_BLOCK": BLOCK},
    )
