"""Encoded 8-bit pictures: lossless PNG and WebP, JPEG for the web; all with metadata."""

from __future__ import annotations

import io
from collections.abc import Mapping
from html import escape
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError

JPEG_QUALITY = 95  # Pillow's highest recommended; 4:4:4 colour keeps edges sharp
MOST_WEBP = 16383  # pixels a side, RFC 9649
WEBP_EFFORT = 60  # 0 .. 100, of the lossless coder
XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>'
    '<rdf:li xml:lang="x-default">{}</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>'
)
_LONGEST_COMMENT = 65533  # bytes: a JPEG segment's length has 16 bits and counts itself


# Keys that ImageMagick takes for settings of a picture it reads, and refuses values of (MagickCore/property.c,
# `SetImageProperty`).
IMAGE_MAGICK = {
    *("alpha", "background", "bias", "colorspace", "compose", "compress", "delay", "density", "depth", "dispose"),
    *("endian", "gamma", "gravity", "intensity", "intent", "interpolate", "loop", "mattecolor", "orientation", "page"),
    *("profile", "rendering-intent", "tile-offset", "units"),
}


def write_png(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write 8-bit sRGB, (H, W, 3), or (H, W, 4) with straight alpha, as PNG, with ``metadata`` as text chunks."""
    from PIL import Image, PngImagePlugin

    info = PngImagePlugin.PngInfo()
    info.add(b"sRGB", b"\0")  # perceptual rendering intent of sRGB
    for key, value in metadata.items():
        if key in IMAGE_MAGICK:
            key = f"raystream:{key}"
        # PNG keywords are 1 to 79 Latin-1 characters; Pillow turns texts beyond Latin-1 into international ones.
        info.add_text(key.encode("latin-1", "replace").decode("latin-1")[:79] or "text", value)
    Image.fromarray(pixels).save(file, format="PNG", pnginfo=info)


def write_jpeg(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write (H, W, 3) 8-bit sRGB as JPEG, 4:4:4, with ``metadata`` as the comment, a line each. JPEG's limit of 65,535
    pixels a side exceeds any picture's."""
    from PIL import Image

    comment = "\n".join(f"{key}: {value}" for key, value in metadata.items()).encode()[:_LONGEST_COMMENT]
    buffer = io.BytesIO()  # Pillow misses a full disk when it writes directly to a file
    Image.fromarray(pixels).save(
        buffer, format="JPEG", quality=JPEG_QUALITY, subsampling=0, optimize=True, comment=comment
    )
    file.write(buffer.getbuffer())


def write_webp(file: BinaryIO, pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> None:
    """Write 8-bit sRGB, (H, W, 3), or (H, W, 4) with straight alpha, as lossless WebP, with ``metadata`` as the XMP
    description, a line each. Raises ViewerError beyond the format's size."""
    from PIL import Image

    if max(pixels.shape[:2]) > MOST_WEBP:
        what = f"a WebP file holds at most {MOST_WEBP} pixels a side"
        raise ViewerError(f"{pixels.shape[1]} x {pixels.shape[0]}", what, "save as .png or .exr")
    lines = escape("\n".join(f"{key}: {value}" for key, value in metadata.items()), quote=False)
    buffer = io.BytesIO()  # Pillow misses a full disk when it writes directly to a file
    xmp = XMP.format(lines).encode()
    Image.fromarray(pixels).save(buffer, format="WEBP", lossless=True, quality=WEBP_EFFORT, exact=True, xmp=xmp)
    file.write(buffer.getbuffer())


def grey_png(values: NDArray[np.uint16] | NDArray[np.bool_]) -> bytes:
    """(H, W) as a grey PNG of 16 bits, or of 8 bits, 0 and 255, for a mask; without metadata."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(values * np.uint8(255) if values.dtype == bool else values).save(file, format="PNG")
    return file.getvalue()


def png(pixels: NDArray[np.uint8], metadata: Mapping[str, str]) -> bytes:
    """The bytes of `write_png`."""
    file = io.BytesIO()
    write_png(file, pixels, metadata)
    return file.getvalue()
