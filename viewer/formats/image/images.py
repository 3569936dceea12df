"""Decoding of pictures that may be hostile: PNG and JPEG through Pillow, of bounded size."""

from __future__ import annotations

import io
import struct
import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.scene.texture import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Pillow

LARGEST_IMAGE = 1 << 26  # texels of an image: 256 MiB
MOST_TEXELS = 1 << 28  # of all images of a scene: 1 GiB


def decode(data: bytes, where: str, name: str = "image", most: int = LARGEST_IMAGE) -> Image:
    """The image in the bytes of a PNG or JPEG file, whatever it calls itself.

    Grey and palettes become colour, 16 bits the upper 8; colour profiles are not applied. Raises ViewerError for what
    is no such file, is damaged, or holds more than ``most`` texels; those are not decoded.
    """
    from PIL import Image as Library

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pictures that are very large: the limit below is this loader's own
            with Library.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as opened:
                width, height = opened.size
                if width * height > most:
                    raise ViewerError(
                        where, f"{width:,} x {height:,} texels, more than {most:,}", "use a smaller image"
                    )
                opened.load()
                texels = _rgba(opened)
    except ViewerError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, struct.error, Library.DecompressionBombError) as error:
        # Pillow reports damage in any of these ways.
        reason = str(error).split("<")[0].strip() or type(error).__name__
        raise ViewerError(where, f"no PNG or JPEG that can be read: {reason}", "the image is damaged") from None
    return Image(texels, name)


def rgb(opened: Pillow) -> NDArray[np.uint8]:
    """(H, W, 3) of a picture of any mode; of 16 bits the upper 8."""
    if opened.mode.startswith("I"):  # 16-bit grey, which Pillow would clip instead of scaling
        grey = np.clip(np.asarray(opened).astype(np.int64) >> 8, 0, 255).astype(np.uint8)
        return np.dstack([grey, grey, grey])
    return np.asarray(opened.convert("RGB"))


def _rgba(opened: Pillow) -> NDArray[np.uint8]:
    if opened.mode.startswith("I"):
        color = rgb(opened)
        return np.dstack([color, np.full_like(color[..., 0], 255)])
    return np.array(opened.convert("RGBA"), np.uint8)
