"""Decoding of pictures that may be hostile: PNG, JPEG, WebP and others through Pillow, of bounded size."""

from __future__ import annotations

import io
import struct
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.image import png16
from raystream.formats.image.memory import ImageHeader, ImageMemory
from raystream.scene.texture import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Pillow

WEB = ("PNG", "JPEG", "WEBP")  # of glTF
MODELLERS = (*WEB, "BMP", "TIFF", "GIF", "PPM", "TGA")  # TGA, which has no signature, comes last
_NAMES = {"JPEG": "JPEG", "WEBP": "WebP"}
_OPENING = threading.Lock()
_BAND = 1 << 18  # texels converted at once

# Bytes of Pillow's decoders for each texel of the whole picture: measured.
_WEBP, _PROGRESSIVE = 20, 11
_BYTE_MODES = ("1", "L", "P")
_SCALES = 8  # JPEG's decoder reduces by as much at most


def decode(data: bytes, where: str, name: str = "image", factor: int = 1, formats: tuple[str, ...] = WEB) -> Image:
    """The image in the bytes of a file of one of these formats, by content.

    factor : a power of two by which both sides are reduced, in means of the stored values; bands are converted one by
    one, so that the whole picture is in memory once, as its decoder has it.

    Grey and palettes become colour; colour profiles are ignored. 16-bit PNG keeps all bits. Raises
    ViewerError for other files and for damage.
    """
    if png16.size(data) is not None:
        return Image(png16.read(data, where, factor), name)
    with _decoding_errors(where, formats), _opened(data, formats) as opened:
        width, height = opened.size
        draft = opened.draft(None, (-(-width // factor), -(-height // factor))) if factor > 1 else None
        if draft is not None:
            factor = max(1, factor * opened.size[0] // width)
        opened.load()
        _scale_key(opened, data)
        return Image(_bands(opened, factor), name)


def header(data: bytes, where: str, formats: tuple[str, ...] = WEB) -> ImageHeader:
    """The size of a picture, and the memory to decode it. Raises ViewerError as `decode` does."""
    png_size = png16.size(data)
    if png_size is not None:
        return ImageHeader(
            *png_size, decoder=8.0 * (1 + 2 * data[28]), texel=8
        )  # an interlaced one is put together twice
    with _decoding_errors(where, formats), _opened(data, formats) as opened:
        if opened.format == "WEBP":
            return ImageHeader(*opened.size, decoder=_WEBP, hint="WebP is decoded whole: store it smaller, or as PNG")
        scales = opened.format == "JPEG"
        progressive = scales and bool(opened.info.get("progressive"))
        decoder = _PROGRESSIVE if progressive else 1 if opened.mode in _BYTE_MODES else 4
        return ImageHeader(*opened.size, decoder=decoder, scales=scales and not progressive)


def read_image(
    memory: ImageMemory, data: bytes, where: str, name: str = "image", formats: tuple[str, ...] = WEB
) -> Image:
    """`decode` at the size that a scene's memory allows. Raises ViewerError as it does, and where it does not fit."""
    factor = memory.plan(header(data, where, formats), len(data), where)
    return decode(data, where, name, factor, formats)


@contextmanager
def _decoding_errors(where: str, formats: tuple[str, ...]) -> Iterator[None]:
    from PIL import Image as Library

    try:
        yield
    except ViewerError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, struct.error, Library.DecompressionBombError) as error:
        # Pillow raises any of these for damage.
        reason = str(error).split("<")[0].strip() or type(error).__name__
        *names, last = (_NAMES.get(kind, kind) for kind in formats)
        what = f"unreadable {', '.join(names)} or {last}: {reason}"
        raise ViewerError(where, what, "the image is damaged") from None


def _opened(data: bytes, formats: tuple[str, ...]) -> Pillow:
    """The picture, not decoded yet. Pillow's own limit of sizes is process-wide and switched off here."""
    from PIL import Image as Library

    with _OPENING, warnings.catch_warnings():  # warning filters are process-wide, too
        warnings.simplefilter("ignore")
        limit, Library.MAX_IMAGE_PIXELS = Library.MAX_IMAGE_PIXELS, None
        try:
            return Library.open(io.BytesIO(data), formats=formats)
        finally:
            Library.MAX_IMAGE_PIXELS = limit


def rgb(opened: Pillow) -> NDArray[np.uint8]:
    """(H, W, 3) of a picture of any mode; the upper 8 of 16 bits."""
    if opened.mode.startswith("I"):  # 16-bit grey, which Pillow would clip instead of scaling
        grey = np.clip(np.asarray(opened).astype(np.int64) >> 8, 0, 255).astype(np.uint8)
        return np.dstack([grey, grey, grey])
    return np.asarray(opened.convert("RGB"))


def _bands(opened: Pillow, factor: int) -> NDArray[np.uint8]:
    """(H, W, 4) of a loaded picture, reduced."""
    from PIL import Image as Library

    x_step, y_step = min(factor, opened.width), min(factor, opened.height)
    width, height = opened.width // x_step, opened.height // y_step
    out = np.empty((height, width, 4), np.uint8)
    step = max(1, _BAND // (opened.width * y_step))
    for row in range(0, height, step):
        last = min(row + step, height)
        band = _rgba(opened.crop((0, row * y_step, width * x_step, last * y_step)))
        if factor > 1:
            # Channel by channel: Pillow would weigh colours by the fourth, which is not always opacity.
            channels = [channel.reduce((x_step, y_step)) for channel in Library.fromarray(band).split()]
            band = np.dstack([np.asarray(channel) for channel in channels])
        out[row:last] = band
    return out


def _scale_key(opened: Pillow, data: bytes) -> None:
    """Pillow scales grey of 2 and 4 bits to 8, but not the grey that is transparent."""
    key = opened.info.get("transparency")
    if opened.format == "PNG" and opened.mode == "L" and isinstance(key, int) and data[24] in (2, 4):
        opened.info["transparency"] = key * 255 // ((1 << data[24]) - 1)


def _rgba(opened: Pillow) -> NDArray[np.uint8]:
    if opened.mode.startswith("I"):
        color = rgb(opened)
        return np.dstack([color, np.full_like(color[..., 0], 255)])
    return np.asarray(opened.convert("RGBA"))
