"""The denoiser in fragment programs: edge-avoiding wavelets steered by normal, depth and variance.

Light and texture are parted (demodulation), the light is filtered by an a-trous wavelet transform whose weights fall
where surfaces or luminances differ (Dammertz et al. 2010; Schied et al. 2017, "Spatiotemporal Variance-Guided
Filtering"), and both are put together again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from viewer.film.buffers import Buffer, FilmBuffer
from viewer.film.denoise.records import GUIDE, IRRADIANCE
from viewer.kernels.records import FEATURES, FILM, RADIANCE
from viewer.scene.camera import Camera
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Pass, pass_source
from viewer.stream.gl.stream import Stream

STEPS = 5  # of the transform: 1, 2, 4 .. pixels between taps
DEVIATIONS = 4.0
_FILM = {"film": FILM, "features": FEATURES}
PASSES: dict[str, tuple[dict[str, Record], Record]] = {
    "guide": ({"features": FEATURES}, GUIDE),
    "irradiance": (_FILM, IRRADIANCE),
    "spread": ({"guide": GUIDE, "light": IRRADIANCE}, IRRADIANCE),
    "wavelet": ({"guide": GUIDE, "light": IRRADIANCE}, IRRADIANCE),
    "compose": ({**_FILM, "light": IRRADIANCE}, RADIANCE),
}


def view_uniforms(camera: Camera, size: tuple[int, int]) -> dict[str, tuple[float, ...]]:
    """Of ``shaders/film/denoise/view.glsl``, for a picture of ``size`` (width, height)."""
    right, up, forward = (np.asarray(axis, np.float64) for axis in camera.basis())
    tangent, (width, height) = math.tan(math.radians(camera.fov) / 2), size
    across, down = right * (2 * tangent / height), -up * (2 * tangent / height)
    corner = forward - across * (width - 1) / 2 - down * (height - 1) / 2
    names = "view_corner", "view_across", "view_down"
    return {name: tuple(map(float, value)) for name, value in zip(names, (corner, across, down), strict=True)}


class Wavelets:
    """The passes, compiled, with streams for a picture of one size; the context must be current in every call.

    radius : taps on each side of a pixel in a step, 1 or 2: the quicker one in a window.
    """

    def __init__(self, device: Device, radius: int = 2) -> None:
        self.device = device
        constants = {"wavelet": {"RADIUS": radius}}
        self._passes = {
            name: Pass(device, f"film/denoise/{name}", inputs, output, planar=True, **constants.get(name, {}))
            for name, (inputs, output) in PASSES.items()
        }
        self._streams: dict[str, Stream] = {}

    def denoise(self, film: FilmBuffer, features: Buffer, camera: Camera) -> Stream:
        """The picture, a stream of `RADIANCE`, which holds until the next call.

        film, features : of one size, in one block; of features at least as many samples as are worth showing edges by.
        """
        size = film.size
        self._fit(size)
        streams = self._streams
        beside: dict[str, Stream] = {"film": film.blocks[0].stream, "features": features.blocks[0].stream}
        view: dict[str, Any] = dict(view_uniforms(camera, size))
        self._passes["guide"].draw({"features": beside["features"]}, streams["guide"], **view)
        light, other = streams["light"], streams["other"]
        self._passes["irradiance"].draw(beside, light)
        guided = {"guide": streams["guide"]}
        self._passes["spread"].draw({**guided, "light": light}, other, **view)
        light, other = other, light
        for step in range(STEPS):
            values = {**view, "reach": 1 << step, "deviations": DEVIATIONS}
            self._passes["wavelet"].draw({**guided, "light": light}, other, **values)
            light, other = other, light
        self._passes["compose"].draw({**beside, "light": light}, streams["picture"])
        return streams["picture"]

    def _fit(self, size: tuple[int, int]) -> None:
        if not self._streams or self._streams["guide"].size != size:
            self.release()
            records = {"guide": GUIDE, "light": IRRADIANCE, "other": IRRADIANCE, "picture": RADIANCE}
            self._streams = {name: Stream(self.device, record, size) for name, record in records.items()}

    def release(self) -> None:
        """Free the streams."""
        for stream in self._streams.values():
            stream.release()
        self._streams.clear()
