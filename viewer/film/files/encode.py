"""Pictures of 8 bits, encoded: PNG without loss, JPEG for the web; both with the facts of how they were made."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

JPEG_QUALITY = 95  # Pillow's highest that its documentation advises; with colours for every pixel edges keep theirs
_LONGEST_COMMENT = 65533  # bytes: a JPEG segment's length has 16 bits and counts itself


def write_png(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write (H, W, 3) 8-bit sRGB as PNG, with ``metadata`` as text chunks."""
    from PIL import Image, PngImagePlugin

    info = PngImagePlugin.PngInfo()
    info.add(b"sRGB", b"\0")  # perceptual intent: says which RGB this is
    for key, value in metadata.items():
        # PNG keywords are 1 to 79 Latin-1 characters; Pillow turns texts beyond Latin-1 into international ones.
        info.add_text(key.encode("latin-1", "replace").decode("latin-1")[:79] or "text", value)
    Image.fromarray(pixels).save(file, format="PNG", pnginfo=info)


def write_jpeg(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write (H, W, 3) 8-bit sRGB as JPEG, 4:4:4, with ``metadata`` as the comment, a line each; up to 65,535 pixels a
    side, which is more than a picture has."""
    from PIL import Image

    comment = "\n".join(f"{key}: {value}" for key, value in metadata.items()).encode()[:_LONGEST_COMMENT]
    held = io.BytesIO()  # written straight to a file, Pillow does not notice a full disk
    Image.fromarray(pixels).save(
        held, format="JPEG", quality=JPEG_QUALITY, subsampling=0, optimize=True, comment=comment
    )
    file.write(held.getbuffer())


def png(pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> bytes:
    """What `write_png` writes."""
    file = io.BytesIO()
    write_png(file, pixels, metadata)
    return file.getvalue()
