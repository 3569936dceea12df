"""Pictures as bytes of files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image as Pillow

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 3, 4), np.uint8)
RANDOM = np.random.default_rng(7).integers(0, 256, (13, 22, 4), np.uint8)


def encoded(texels: np.ndarray = PIXELS, kind: str = "PNG", mode: str | None = None, **more: Any) -> bytes:
    stream = io.BytesIO()
    image = Pillow.fromarray(texels)
    (image.convert(mode) if mode else image).save(stream, kind, **more)
    return stream.getvalue()
