"""A PNG of 8192 x 8192 as an environment took 3.1 GiB and half a minute: all of its pixels were floats at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import OpenEXR
import pytest
from PIL import Image

from raystream.formats.image import environment_maps
from raystream.scene.texture import linear_from_srgb

WIDTH, HEIGHT, BLOCK = 1024, 500, 8  # the last row of blocks is cut


@pytest.mark.parametrize("ending", ["png", "exr"])
def test_they_are_reduced_in_bands(tmp_path, monkeypatch, ending) -> None:
    monkeypatch.setattr(environment_maps, "MOST_TEXELS", WIDTH * HEIGHT // BLOCK**2 + 100)
    monkeypatch.setattr(environment_maps, "BAND_PIXELS", 1 << 14)
    codes = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    linear, path = linear_from_srgb(codes / 255.0).astype(np.float32), tmp_path / f"a.{ending}"
    if ending == "png":
        Image.fromarray(codes).save(path, compress_level=1)
    else:
        with OpenEXR.File({"type": OpenEXR.scanlineimage}, {"RGB": linear.astype(np.float16)}) as file:
            file.write(str(path))
    environment_maps.load(path)  # libraries are imported
    size = path.stat().st_size
    tracemalloc.start()
    try:
        found = environment_maps.load(path).pixels
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The file's bytes, and a band in float32 and float64; all of the pixels as float32 are 5.9 MiB.
    assert peak < size + (WIDTH * HEIGHT * 12) / 2
    rows = [linear[y : y + BLOCK].astype(np.float64) for y in range(0, HEIGHT, BLOCK)]
    wanted = [row.reshape(len(row), -1, BLOCK, 3).mean(axis=(0, 2)) for row in rows]
    # Of EXR the rounding to half precision, 2^-11 of each value.
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if ending == "png" else 2**-11)
