"""What the eye gets at rest: of the estimates of a film's light that there are, the blend of least error.

On the screen alone: film and files keep every bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from viewer.denoise.named_streams import NamedStreams
from viewer.denoise.records import IRRADIANCE, LIT, RELIEF
from viewer.denoise.regression import Relit
from viewer.denoise.view import view_uniforms
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Pass, pass_source
from viewer.stream.gl.stream import Stream

PASSES: dict[str, tuple[dict[str, Record], Record]] = {
    "relit": ({"lit": LIT, "relief": RELIEF}, IRRADIANCE),
    "blend": ({"lit": LIT, "light": IRRADIANCE, "fitted": IRRADIANCE}, IRRADIANCE),
}


def presenter_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name."""
    for name, (inputs, output) in PASSES.items():
        yield name, pass_source(f"film/present/{name}", inputs, output, planar=True)


class Presenter:
    """The passes, with streams for pictures of one size; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._passes = {
            name: Pass(device, f"film/present/{name}", inputs, output, planar=True)
            for name, (inputs, output) in PASSES.items()
        }
        self._streams = NamedStreams(device)

    def blend(self, fitted: Relit, light: Stream, camera: Camera, samples: int) -> Stream:
        """The light of least error, `IRRADIANCE`, which holds until the next call. fitted : by regression; light :
        `IRRADIANCE` by wavelets, with its variance; both of a film of so many samples of a pixel."""
        lit, size = fitted.lit, light.size
        view = view_uniforms(camera, size)
        relit, blended = (self._streams.get(name, IRRADIANCE, size) for name in ("relit", "blended"))
        inputs = {"lit": lit, "relief": fitted.relief}
        self._passes["relit"].draw(inputs, relit, **view, scale=(1.0, 1.0), stride=fitted.stride)
        inputs = {"lit": lit, "light": light, "fitted": relit}
        self._passes["blend"].draw(inputs, blended, **view, samples=float(samples))
        return blended

    def warm(self) -> None:
        """Let the driver compile its part of every pass."""
        camera = Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
        lit, relief, light = (Stream(self.device, record, (2, 2)) for record in (LIT, RELIEF, IRRADIANCE))
        self.blend(Relit(lit, relief, 1), light, camera, 1)
        for stream in (lit, relief, light):
            stream.release()

    def release(self) -> None:
        """Free the streams."""
        self._streams.release()
