"""The denoiser in fragment programs: edge-avoiding wavelets steered by normal, depth and variance.

Light and texture are parted (demodulation), the light is filtered by an a-trous wavelet transform whose weights fall
where surfaces or luminances differ (Dammertz et al. 2010; Schied et al. 2017, "Spatiotemporal Variance-Guided
Filtering"), and both are put together again. The filter is a flow from pixel to pixel, which keeps all light.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import cycle

from viewer.film.buffers import Buffer, FilmBuffer
from viewer.film.denoise.history import INPUTS, History
from viewer.film.denoise.records import HISTORY, IRRADIANCE, LIT
from viewer.film.denoise.view import view_uniforms
from viewer.kernels.records import FEATURES, FILM, RADIANCE
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Pass, pass_source
from viewer.stream.gl.stream import Stream

STEPS = 5  # of the transform: 1, 2, 4 .. pixels between taps
DEVIATIONS = 4.0
PASSES: dict[str, tuple[dict[str, Record], Record]] = {
    "lit": ({"film": FILM, "features": FEATURES}, LIT),
    "spread": ({"lit": LIT}, IRRADIANCE),
    "wavelet": ({"lit": LIT, "light": IRRADIANCE}, IRRADIANCE),
    "compose": ({"features": FEATURES, "light": IRRADIANCE}, RADIANCE),
}
RECORDS = {"lit": LIT, "light": IRRADIANCE, "other": IRRADIANCE, "picture": RADIANCE}


def wavelet_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name."""
    for name, (inputs, output) in {**PASSES, "reproject": (INPUTS, HISTORY)}.items():
        yield name, pass_source(f"film/denoise/{name}", inputs, output, planar=True)


class Wavelets:
    """The passes, compiled, with streams for pictures of one size; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._passes = {
            name: Pass(device, f"film/denoise/{name}", inputs, output, planar=True)
            for name, (inputs, output) in PASSES.items()
        }
        self._streams: dict[str, Stream] = {}

    def denoise(self, film: FilmBuffer, features: Buffer, camera: Camera) -> Stream:
        """The picture, a stream of `RADIANCE`, which holds until the next call.

        film, features : of one size, in one block, of the same samples (of features not all, where these are many).
        """
        steps = self.steps(film, features, camera)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                made: Stream = end.value
                return made

    def steps(
        self,
        film: FilmBuffer,
        features: Buffer,
        camera: Camera,
        history: History | None = None,
        finish: Callable[[Stream, Stream], Stream] | None = None,
    ) -> Generator[None, None, Stream]:
        """`denoise` pass by pass. history : with which the light is blended before it is filtered. finish : makes the
        picture of surfaces and light, `LIT` and `IRRADIANCE`; without it the picture has the film's size."""
        size = film.size
        own = {"film": film.blocks[0].stream, "features": features.blocks[0].stream}
        lit, light, other = (self._stream(name, size) for name in ("lit", "light", "other"))
        view = dict(view_uniforms(camera, size))
        self._passes["lit"].draw(own, lit, **view)
        yield
        if history is not None:
            lit = history.blend(lit, own["features"], camera, max(film.samples, 1))
            yield
        self._passes["spread"].draw({"lit": lit}, light, **view)
        yield
        rooms = cycle((other, light))
        for step in range(STEPS):
            values = {**view, "reach": 1 << step, "deviations": DEVIATIONS}
            # What the first step leaves is the past of the next picture.
            target = history.light(size) if history is not None and step == 0 else next(rooms)
            self._passes["wavelet"].draw({"lit": lit, "light": light}, target, **values)
            light = target
            yield
        if finish is not None:
            return finish(lit, light)
        picture = self._stream("picture", size)
        self._passes["compose"].draw({"features": own["features"], "light": light}, picture)
        return picture

    def warm(self, history: History | None = None) -> None:
        """Let the driver compile its part of every pass, and of that of a history, which forgets what it holds."""
        size = 2, 2
        film, features = FilmBuffer(self.device, size), Buffer(self.device, FEATURES, size)
        camera = Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
        self.denoise(film, features, camera)
        if history is not None:
            for _ in self.steps(film, features, camera, history):
                pass
        for buffer in (film, features):
            buffer.release()
        if history is not None:
            history.forget()

    def _stream(self, name: str, size: tuple[int, int]) -> Stream:
        """A stream by its name, made anew for another size."""
        held = self._streams.get(name)
        if held is None or held.size != size:
            if held is not None:
                held.release()
            held = self._streams[name] = Stream(self.device, RECORDS[name], size)
        return held

    def release(self) -> None:
        """Free the streams."""
        for stream in self._streams.values():
            stream.release()
        self._streams.clear()
