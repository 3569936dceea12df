"""Images of KHR_texture_basisu: KTX 2 with Basis Universal (ETC1S or UASTC), decoded to RGBA."""

from __future__ import annotations

import struct

import numpy as np

from raystream.base.errors import ViewerError
from raystream.formats.gltf.decoders import BASISU, decoder
from raystream.formats.image.memory import ImageHeader
from raystream.scene.texture import Image

_KTX2 = b"\xabKTX 20\xbb\r\n\x1a\n"
_HEADER = 80  # bytes, the index of the parts included
_DECODER = 8  # bytes for each texel: the decoder's own picture, and its copy
_LEVEL = 24  # bytes of a level's entry: offset, stored length, length once decompressed


def sniff(data: bytes) -> bool:
    """Whether it is a KTX 2 file."""
    return data.startswith(_KTX2)


def decode(data: bytes, where: str, name: str = "image", factor: int = 1) -> Image:
    """The largest level of a KTX 2 file, or of a power of two as ``factor`` a smaller one.

    Raises MissingExtra without the decoder, and ViewerError, before decoding, for damaged data and other than 2-D
    pictures.
    """
    library = decoder(BASISU, where)
    header(data, where)
    try:
        texture = library.open(data)
        texels = texture.transcode("rgba8", level=factor.bit_length() - 1).data
    except (ValueError, IndexError, MemoryError, library.BasisuError) as error:
        raise ViewerError(where, f"unreadable KTX 2 image: {error}", "the image is damaged") from None
    return Image(np.ascontiguousarray(texels, np.uint8), name)


def header(data: bytes, where: str) -> ImageHeader:
    """Size and memory by the header (KTX 2.0, section 3), checked before the decoder allocates memory. Raises
    ViewerError for sizes that do not fit the data."""
    if len(data) < _HEADER:
        raise ViewerError(where, f"{len(data)} bytes, shorter than the header of KTX 2", "the image is damaged")
    width, height, depth, layers, faces, levels = struct.unpack_from("<6I", data, 20)
    if depth or layers or faces != 1 or not width or not height:
        what = f"{width:,} x {height:,} x {depth:,} texels in {layers:,} layers of {faces:,} faces"
        raise ViewerError(where, what, "a texture of glTF has two dimensions, one layer and one face")
    count = max(levels, 1)
    if count > 32 or len(data) < _HEADER + count * _LEVEL:
        raise ViewerError(where, f"{levels:,} levels, but no index of them", "the image is damaged")
    for level in range(count):
        offset, stored, length = struct.unpack_from("<3Q", data, _HEADER + level * _LEVEL)
        # Blocks of 4 x 4 texels take 16 bytes at most; ETC1S says 0.
        blocks = -(-max(width >> level, 1) // 4) * -(-max(height >> level, 1) // 4)
        if offset + stored > len(data) or length > 16 * blocks:
            what = f"level {level} takes bytes {offset:,} .. {offset + stored:,} of {len(data):,}, and {length:,} later"
            raise ViewerError(where, what, "the image is damaged")
    hint = f"use a smaller image: {count} levels are stored"
    return ImageHeader(width, height, _DECODER, scales=True, least=1 << (count - 1), hint=hint)
