"""Shared by `test_picture_tables` and `test_cube_tables`."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image as Pillow


def encoded(texels: np.ndarray, kind: str = "PNG", mode: str | None = None, **more: Any) -> bytes:
    stream = io.BytesIO()
    image = Pillow.fromarray(texels)
    (image.convert(mode) if mode else image).save(stream, kind, **more)
    return stream.getvalue()


RANDOM = np.random.default_rng(7).integers(0, 256, (13, 22, 4), np.uint8)
