"""The picture shown at rest: the blend of least error of the estimates of a film's light.

On the screen alone: film and files keep every bit.
"""

from __future__ import annotations

from collections.abc import Iterator

from viewer.denoise.named_streams import NamedStreams
from viewer.denoise.records import IRRADIANCE, LIT, RELIEF
from viewer.denoise.regression import FittedLight
from viewer.denoise.view import MAPPED, Views
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Declared, PassSet, pass_sources
from viewer.stream.gl.stream import Stream

PASSES: Declared = {
    "fitted": ({"lit": LIT, "relief": RELIEF}, IRRADIANCE),
    "blend": ({"lit": LIT, "light": IRRADIANCE, "fitted": IRRADIANCE}, IRRADIANCE),
}


def presenter_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name."""
    yield from pass_sources("film/present", PASSES)
    for name, source in pass_sources("film/present", PASSES, MAPPED):
        yield f"{name}, of another projection", source


class Presenter:
    """The passes, with streams for pictures of one size; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._passes = PassSet(device, "film/present", PASSES)
        self._streams, self._views = NamedStreams(device), Views(device)

    def blend(self, fitted: FittedLight, light: Stream, camera: Camera, samples: int) -> Stream:
        """The light of least error, `IRRADIANCE`, which holds until the next call. fitted : by regression; light :
        `IRRADIANCE` by wavelets, with its variance; both of a film of ``samples`` of a pixel."""
        lit, size = fitted.lit, light.size
        view = self._views.of(camera, size)
        there, blended = (self._streams.get(name, IRRADIANCE, size) for name in ("fitted", "blended"))
        inputs, form, seen = {"lit": lit, "relief": fitted.relief, **view.streams}, view.features, view.uniforms
        self._passes.draw("fitted", inputs, there, form, **seen, scale=(1.0, 1.0), stride=fitted.stride)
        inputs = {"lit": lit, "light": light, "fitted": there, **view.streams}
        self._passes.draw("blend", inputs, blended, form, **seen, samples=float(samples))
        return blended

    def release(self) -> None:
        """Free the streams."""
        self._streams.release()
        self._views.release()
