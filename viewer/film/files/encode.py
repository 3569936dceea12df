"""Encoded 8-bit pictures: lossless PNG, JPEG for the web; both with metadata."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

JPEG_QUALITY = 95  # Pillow's highest recommended; 4:4:4 colour keeps edges sharp
_LONGEST_COMMENT = 65533  # bytes: a JPEG segment's length has 16 bits and counts itself


def write_png(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write (H, W, 3) 8-bit sRGB as PNG, with ``metadata`` as text chunks."""
    from PIL import Image, PngImagePlugin

    info = PngImagePlugin.PngInfo()
    info.add(b"sRGB", b"\0")  # perceptual rendering intent of sRGB
    for key, value in metadata.items():
        # PNG keywords are 1 to 79 Latin-1 characters; Pillow turns texts beyond Latin-1 into international ones.
        info.add_text(key.encode("latin-1", "replace").decode("latin-1")[:79] or "text", value)
    Image.fromarray(pixels).save(file, format="PNG", pnginfo=info)


def write_jpeg(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write (H, W, 3) 8-bit sRGB as JPEG, 4:4:4, with ``metadata`` as the comment, a line each. JPEG's limit of 65,535
    pixels a side exceeds any picture's."""
    from PIL import Image

    comment = "\n".join(f"{key}: {value}" for key, value in metadata.items()).encode()[:_LONGEST_COMMENT]
    held = io.BytesIO()  # Pillow misses a full disk when it writes directly to a file
    Image.fromarray(pixels).save(
        held, format="JPEG", quality=JPEG_QUALITY, subsampling=0, optimize=True, comment=comment
    )
    file.write(held.getbuffer())


def png(pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> bytes:
    """The bytes of `write_png`."""
    file = io.BytesIO()
    write_png(file, pixels, metadata)
    return file.getvalue()
