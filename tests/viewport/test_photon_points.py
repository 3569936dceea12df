"""Photons as points over a picture: each where it is, hidden by what lies before it there and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.kernels.photons import PHOTON
from raystream.kernels.records import HIT
from raystream.scene.camera import Camera
from raystream.stream.gl.stream import Stream
from raystream.viewport.debug_views.photons import PhotonPicture

SIZE = (32, 24)
CAMERA = Camera((0, 0, 4), (0, 0, 0), fov=60.0)
# A photon in each quarter of the picture, as columns and rows of the quarters from the upper left.
QUARTERS = {(0, 0): (-1, 0.8, 0), (1, 0): (1, 0.8, 0), (0, 1): (-1, -0.8, 0), (1, 1): (1, -0.8, 0)}


def drawn(device: Any, walls: set[tuple[int, int]], hiding: bool = True) -> set[tuple[int, int]]:
    """The quarters in which a photon is seen, where walls stand close before the camera in some."""
    photons, hits = Stream(device, PHOTON, (2, 2)), Stream(device, HIT, (8, 8))
    kept = np.zeros((2, 2), PHOTON.dtype)
    kept["position"] = np.array(list(QUARTERS.values())).reshape(2, 2, 3)
    kept["power"], kept["stored"] = 1.0, 1
    photons.write(kept)
    far = np.zeros((8, 8), HIT.dtype)
    far["t"] = 100.0
    for column, row in walls:
        far["t"][4 * row : 4 * row + 4, 4 * column : 4 * column + 4] = 0.5
    hits.write(far)
    target = device.context.simple_framebuffer(SIZE, 4, dtype="f1")
    target.clear()
    made = PhotonPicture(device)
    made.points(target, SIZE, CAMERA, {"photons": photons}, 4, hits if hiding else None, 3.0)
    pixels = np.frombuffer(target.read(components=3, alignment=1), np.uint8).reshape(SIZE[1], SIZE[0], 3)[::-1]
    half = np.array(SIZE) // 2
    return {
        (column, row)
        for column, row in QUARTERS
        if pixels[row * half[1] : (row + 1) * half[1], column * half[0] : (column + 1) * half[0]].any()
    }


@pytest.mark.parametrize("wall", QUARTERS)
def test_what_is_behind_a_wall_is_hidden(device: Any, wall: tuple[int, int]) -> None:
    assert drawn(device, set()) == set(QUARTERS)
    assert drawn(device, {wall}) == set(QUARTERS) - {wall}
    assert drawn(device, {wall}, hiding=False) == set(QUARTERS)
