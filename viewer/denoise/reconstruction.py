"""The light of least error of a film, for the window at rest and for files: wavelets keep what is sharp, and leave
noise; a regression leaves hardly any, and misses what neither place nor normal tells. Each pixel gets of both what the
other lacks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from viewer.denoise.filter import Wavelets
from viewer.denoise.records import IRRADIANCE, LIT, RELIEF
from viewer.denoise.regression import FittedLight, Regression
from viewer.denoise.view import MAPPED, Views
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Declared, PassSet, pass_sources
from viewer.stream.gl.stream import NamedStreams, Stream

PASSES: Declared = {
    "fitted": ({"lit": LIT, "relief": RELIEF}, IRRADIANCE),
    "blend": ({"lit": LIT, "light": IRRADIANCE, "fitted": IRRADIANCE}, IRRADIANCE),
}


def blend_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name."""
    yield from pass_sources("film/regression", PASSES)
    for name, source in pass_sources("film/regression", PASSES, MAPPED):
        yield f"{name}, of another projection", source


class Reconstruction:
    """The passes, with streams for pictures of one size; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.wavelets, self.regression = Wavelets(device), Regression(device)
        self._passes = PassSet(device, "film/regression", PASSES)
        self._streams, self._views = NamedStreams(device), Views(device)

    def prepare(self) -> None:
        """Compile the passes for films of few samples. Raises ShaderError."""
        self.wavelets.prepare()
        self.regression.prepare()

    def light(self, lit: Stream, camera: Camera, samples: int) -> Generator[None, None, Stream]:
        """The light of least error, pass by pass: a stream of `IRRADIANCE`, which holds until the next call.

        lit : `LIT`, of ``samples`` of a pixel, see `Wavelets.demodulate`.
        """
        fitted = yield from self.regression.fit(lit, lit, camera)
        yield
        smooth = yield from self.wavelets.filter(lit, camera, samples)
        blended = self.blend(fitted, smooth, camera, samples)
        yield
        return blended

    def blend(self, fitted: FittedLight, smooth: Stream, camera: Camera, samples: int) -> Stream:
        """Both of ``samples`` of a pixel, a stream of `IRRADIANCE`, likewise. fitted : by regression; smooth :
        `IRRADIANCE` by wavelets, with its variance."""
        lit, size = fitted.lit, smooth.size
        view = self._views.of(camera, size)
        there, blended = (self._streams.get(name, IRRADIANCE, size) for name in ("fitted", "blended"))
        inputs, form, seen = {"lit": lit, "relief": fitted.relief, **view.streams}, view.features, view.uniforms
        self._passes.draw("fitted", inputs, there, form, **seen, scale=(1.0, 1.0), stride=fitted.stride)
        inputs = {"lit": lit, "light": smooth, "fitted": there, **view.streams}
        self._passes.draw("blend", inputs, blended, form, **seen, samples=float(samples))
        return blended

    def release(self) -> None:
        """Free the streams."""
        for each in (self.wavelets, self.regression, self._streams, self._views):
            each.release()
