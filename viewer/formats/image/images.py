"""Decoding of pictures that may be hostile: PNG, JPEG and WebP through Pillow, of bounded size."""

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

from viewer.base.errors import ViewerError
from viewer.formats.image import png16
from viewer.scene.texture import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Pillow

LARGEST_IMAGE = 1 << 28  # texels of an image, such as 16,384 x 16,384: 1 GiB
MOST_TEXELS = 1 << 30  # of all images of a scene: 4 GiB
_FORMATS = ("PNG", "JPEG", "WEBP")
_OPENING = threading.Lock()


def decode(data: bytes, where: str, name: str = "image", most: int = LARGEST_IMAGE) -> Image:
    """The image in the bytes of a PNG, JPEG or WebP file, by content.

    Grey and palettes become colour; colour profiles are ignored. 16-bit PNG keeps all bits, unless interlaced. Raises
    ViewerError for other files, for damage, and, before decoding, for more than ``most`` texels.
    """
    deep = png16.size(data)
    if deep is not None:
        _check_size(*deep, where, most)
        return Image(png16.read(data, where), name)
    with _decoding_errors(where), _opened(data) as opened:
        _check_size(*opened.size, where, most)
        opened.load()
        return Image(_rgba(opened), name)


def size_of(data: bytes, where: str, most: int = LARGEST_IMAGE) -> tuple[int, int]:
    """Width and height from the header, for `decode`. Raises ViewerError as it does."""
    found = png16.size(data)
    if found is None:
        with _decoding_errors(where), _opened(data) as opened:
            found = opened.size
    _check_size(*found, where, most)
    return found


@contextmanager
def _decoding_errors(where: str) -> Iterator[None]:
    from PIL import Image as Library

    try:
        yield
    except ViewerError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, struct.error, Library.DecompressionBombError) as error:
        # Pillow raises any of these for damage.
        reason = str(error).split("<")[0].strip() or type(error).__name__
        raise ViewerError(where, f"unreadable PNG, JPEG or WebP: {reason}", "the image is damaged") from None


def _opened(data: bytes) -> Pillow:
    """The picture, not decoded yet. Pillow's own limit of sizes is process-wide and switched off here."""
    from PIL import Image as Library

    with _OPENING, warnings.catch_warnings():  # warning filters are process-wide, too
        warnings.simplefilter("ignore")
        limit, Library.MAX_IMAGE_PIXELS = Library.MAX_IMAGE_PIXELS, None
        try:
            return Library.open(io.BytesIO(data), formats=_FORMATS)
        finally:
            Library.MAX_IMAGE_PIXELS = limit


def _check_size(width: int, height: int, where: str, most: int) -> None:
    if width * height > most:
        raise ViewerError(where, f"{width:,} x {height:,} texels, more than {most:,}", "use a smaller image")


def rgb(opened: Pillow) -> NDArray[np.uint8]:
    """(H, W, 3) of a picture of any mode; the upper 8 of 16 bits."""
    if opened.mode.startswith("I"):  # 16-bit grey, which Pillow would clip instead of scaling
        grey = np.clip(np.asarray(opened).astype(np.int64) >> 8, 0, 255).astype(np.uint8)
        return np.dstack([grey, grey, grey])
    return np.asarray(opened.convert("RGB"))


def _rgba(opened: Pillow) -> NDArray[np.uint8]:
    if opened.mode.startswith("I"):
        color = rgb(opened)
        return np.dstack([color, np.full_like(color[..., 0], 255)])
    return np.array(opened.convert("RGBA"), np.uint8)
