"""What the eye gets at rest: of the light that was known before and that of new samples, the blend of least error.

On the screen alone: film and files keep every bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from viewer.denoise.records import IRRADIANCE, LIT
from viewer.denoise.upsampling import SHOWN
from viewer.denoise.view import view_uniforms
from viewer.kernels.records import FEATURES
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Pass, pass_source
from viewer.stream.gl.stream import Stream

LIKELY = 2.0  # times the brightest pixel around, that one may be unless its own samples confirm it
RARE = 16.0  # and times the light that is known there: where light is rare few samples bring all of it
PASSES: dict[str, tuple[dict[str, Record], Record]] = {
    "remember": ({"features": FEATURES, "shown": SHOWN}, IRRADIANCE),
    "hold": ({"lit": LIT, "known": IRRADIANCE}, LIT),
    "blend": ({"lit": LIT, "light": IRRADIANCE, "known": IRRADIANCE}, IRRADIANCE),
}


def presenter_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name."""
    for name, (inputs, output) in PASSES.items():
        yield name, pass_source(f"film/present/{name}", inputs, output, planar=True)


class Presenter:
    """The passes, and the light that is known of a view; the context must be current in every call.

    knows : whether light of the view is known beside that of its new samples.
    """

    def __init__(self, device: Device) -> None:
        self.device, self.knows = device, False
        self._passes = {
            name: Pass(device, f"film/present/{name}", inputs, output, planar=True)
            for name, (inputs, output) in PASSES.items()
        }
        self._streams: dict[str, Stream] = {}

    def remember(self, picture: Stream, features: Stream) -> None:
        """A picture of the view, `SHOWN`, by other samples. features : of its surfaces, of its size."""
        self._passes["remember"].draw({"features": features, "shown": picture}, self._stream("known", picture.size))
        self.knows = True

    def forget(self) -> None:
        """Another view, scene or light."""
        self.knows = False

    def hold(self, lit: Stream, camera: Camera) -> Stream:
        """Light without samples that the pixels around make unlikely: `LIT`, which holds until the next call."""
        held = self._stream("held", lit.size)
        streams = {"lit": lit, "known": self._streams["known"]}
        self._passes["hold"].draw(streams, held, **view_uniforms(camera, lit.size), likely=LIKELY, rare=RARE)
        return held

    def blend(self, lit: Stream, light: Stream, camera: Camera, samples: float) -> Stream:
        """The light of least error, `IRRADIANCE`, which holds until the next call. light : of so many new samples of a
        pixel of the picture, with its variance. lit : `LIT`, for the surfaces, of its size."""
        blended = self._stream("blended", light.size)
        streams = {"lit": lit, "light": light, "known": self._streams["known"]}
        self._passes["blend"].draw(streams, blended, **view_uniforms(camera, light.size), samples=float(samples))
        return blended

    def warm(self) -> None:
        """Let the driver compile its part of every pass."""
        size, camera = (2, 2), Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
        features, lit, light, picture = (Stream(self.device, r, size) for r in (FEATURES, LIT, IRRADIANCE, SHOWN))
        self.remember(picture, features)
        self.blend(self.hold(lit, camera), light, camera, 1)
        for stream in (features, lit, light, picture):
            stream.release()
        self.forget()

    def _stream(self, name: str, size: tuple[int, int]) -> Stream:
        """A stream by its name, made anew for another size."""
        held = self._streams.get(name)
        if held is None or held.size != size:
            if held is not None:
                held.release()
            held = self._streams[name] = Stream(self.device, LIT if name == "held" else IRRADIANCE, size)
        return held

    def release(self) -> None:
        """Free the streams."""
        for stream in self._streams.values():
            stream.release()
        self._streams.clear()
        self.forget()
