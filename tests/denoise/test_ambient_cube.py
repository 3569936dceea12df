"""The ambient cube of a picture, and what light is drawn up by it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from wavelet_twin import through

from viewer.denoise.ambient_cube import BRIGHTEST, DOUBT, EVEN, LEAST, ambient_cube
from viewer.denoise.records import HISTORY, IRRADIANCE, LIT
from viewer.denoise.upsampling import Upsampling
from viewer.kernels.records import FEATURES
from viewer.scene.camera import Camera
from viewer.stream.gl.device import Device
from viewer.stream.gl.stream import Stream

SMALL, LARGE = (20, 12), (80, 48)
CAMERA = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0), fov=50)


def cube_of(device: Device, records: NDArray) -> dict:
    with device.current():
        stream = Stream(device, LIT, records.shape[::-1])
        stream.write(records)
        made = dict(ambient_cube(stream))
        stream.release()
    return made


def test_ways_have_the_mean_of_the_surfaces_that_face_them(device: Device) -> None:
    lit = np.zeros(SMALL[::-1], LIT.dtype)
    lit["normal"][:6], lit["rgb"][:6] = (0, 1, 0), 3.0
    lit["normal"][6:], lit["rgb"][6:] = (-1, 0, 0), 1.0
    made, half = cube_of(device, lit), 6 * SMALL[0]
    expected = {1.5: (half * 1.5 + DOUBT) / (half + DOUBT), 0.5: (half * 0.5 + DOUBT) / (half + DOUBT)}
    assert made["facing_high"] == pytest.approx((1.0, expected[1.5], 1.0))
    assert made["facing_low"] == pytest.approx((expected[0.5], 1.0, 1.0))


def test_single_bright_samples_and_the_dark_are_bounded(device: Device) -> None:
    lit = np.zeros(SMALL[::-1], LIT.dtype)
    lit["normal"] = (0, 0, 1)
    lit["normal"][:6], lit["rgb"][0, 0] = (0, 1, 0), 1e6
    made = cube_of(device, lit)
    assert made["facing_high"][1] <= (BRIGHTEST + DOUBT) / DOUBT
    assert made["facing_high"][2] >= LEAST


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_where_there_is_no_light_all_ways_are_alike(device: Device, value: float) -> None:
    lit = np.zeros(SMALL[::-1], LIT.dtype)
    lit["normal"], lit["rgb"] = (0, 0, 1), value
    assert cube_of(device, lit) == EVEN
    assert cube_of(device, np.zeros(SMALL[::-1], LIT.dtype)) == EVEN


def test_flutes_finer_than_light_are_seen(device: Device) -> None:
    """A wall whose normals turn within a pixel of light: what faces the light is brighter than what does not, and light
    of surfaces that are like their pixel's stays as it is."""
    past, light = np.zeros(SMALL[::-1], HISTORY.dtype), np.zeros(SMALL[::-1], IRRADIANCE.dtype)
    side = np.where(np.arange(SMALL[0]) < 10, 0.6, -0.6)[None]
    past["normal"][..., 0], past["normal"][..., 2], past["nearness"], past["age"] = side, 0.8, 0.25, 32
    past["rgb"] = light["rgb"] = np.where(side > 0, 2.0, 1.0)[..., None]
    features = np.zeros(LARGE[::-1], FEATURES.dtype)
    view, _, _ = through(CAMERA, LARGE)
    features["depth"] = 4.0 * np.linalg.norm(view, axis=-1)
    features["albedo"], features["hits"], features["count"] = 1.0, 1, 1
    flutes = np.where(np.arange(LARGE[0]) % 2, 0.6, -0.6)[None]  # two of each in a pixel of light
    features["normal"][..., 0], features["normal"][..., 2] = flutes, 0.8
    with device.current():
        upsampling = Upsampling(device)
        streams = [
            Stream(device, record, size) for record, size in ((HISTORY, SMALL), (IRRADIANCE, SMALL), (FEATURES, LARGE))
        ]
        for stream, records in zip(streams, (past, light, features), strict=True):
            stream.write(records)
        found = upsampling.draw(*streams, CAMERA, fills=True).read()["rgb"][..., 0]
        upsampling.release()
        for stream in streams:
            stream.release()
    bright, dark = found[4:-4, 5:36:2], found[4:-4, 4:36:2]  # over light of what faces the light
    np.testing.assert_allclose(bright, 2.0, rtol=0.02)
    assert (dark < 0.9 * bright).all()
