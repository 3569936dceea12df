"""After clears of some rows of one stream, a picture in flight, now and then, was that of two turns ago: the draw to
another stream before them was not waited for (llvmpipe of Mesa 22.3; `test_texels_of_before` has the cause)."""

from __future__ import annotations

from typing import Any

import numpy as np

from viewer.denoise.records import CELL, LIT
from viewer.denoise.reprojection import History
from viewer.kernels.records import FEATURES
from viewer.scene.camera import Camera
from viewer.stream.gl.stream import Stream

SIZE, EDGE = (40, 28), 64
CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0))
PICTURES, TIMES = 16, 16


def test_a_picture_follows_the_one_before(device: Any) -> None:
    history, rows = History(device), Stream(device, CELL, (EDGE, EDGE))
    lit, features = Stream(device, LIT, SIZE), Stream(device, FEATURES, SIZE)
    wall = np.zeros(SIZE[::-1], LIT.dtype)
    wall["normal"], wall["nearness"], wall["rgb"], wall["variance"] = (0, 0, 1), 0.25, 1, -1
    lit.write(wall)
    features.write(np.zeros(SIZE[::-1], FEATURES.dtype))
    for _ in range(TIMES):
        history.forget()
        for number in range(PICTURES):
            if number:
                history.turn()
            made = history.blend(lit, features, CAMERA, 1)
            rows.clear_rows(2 * number, 2)
            np.testing.assert_allclose(made.read()["age"], number + 1, rtol=1e-5)
    for owner in (history, rows, lit, features):
        owner.release()


def test_some_rows_are_cleared_and_no_others(device: Any) -> None:
    stream = Stream(device, CELL, (5, 4))
    texels = np.arange(1, 1 + 4 * 5 * 2 * 4, dtype=np.float32).reshape(2, 4, 5, 4)
    stream.write_texels(list(texels))
    stream.clear_rows(1, 2)
    texels[:, 1:3] = 0
    np.testing.assert_array_equal(stream.read_texels(), np.moveaxis(texels, 0, 2))
    stream.clear([(1, 2, 3, 4), (5, 6, 7, 8)], 13)
    texels.reshape(2, 20, 4)[:, :13] = np.array([[(1, 2, 3, 4)], [(5, 6, 7, 8)]])
    np.testing.assert_array_equal(stream.read_texels(), np.moveaxis(texels, 0, 2))
    stream.release()
