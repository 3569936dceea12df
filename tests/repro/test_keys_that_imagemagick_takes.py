"""ImageMagick refused our PNGs, or took their settings: it takes text chunks of some keys, such as `background`, for
settings of its own."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from raystream.film.files.image import write_png


def test_keys_of_its_own_are_named_as_ours() -> None:
    file = io.BytesIO()
    write_png(file, np.zeros((1, 1, 3), np.uint8), {"background": "none", "depth": "3", "scene": "cornell"})
    with Image.open(file) as picture:
        texts = {key: value for key, value in picture.info.items() if isinstance(value, str)}
    assert texts == {"raystream:background": "none", "raystream:depth": "3", "scene": "cornell"}
