"""Light of few samples as a function of place and normal: a local regression, in fragment programs.

Over all surfaces of about one depth around a pixel the light is fitted by a linear function of the normal, so that wide
windows take the noise, and relief that is finer than the light's pixels stays: the picture has normals of its own
(B. Moon et al. 2014, "Adaptive Rendering Based on Weighted Local Regression"; B. Bitterli et al. 2016, "Nonlinearly
Weighted First-order Regression for Denoising Monte Carlo Renderings"; M. Koskela et al. 2019, "Blockwise Multi-order
Feature Regression for Real-time Path-tracing Reconstruction"). The windows are those of an a-trous transform (Dammertz
et al. 2010), whose taps carry the moments that the normal equations need.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from viewer.denoise.records import LIT, MOMENTS, RELIEF
from viewer.denoise.view import MAPPED, Views
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Declared, PassSet, pass_sources
from viewer.stream.gl.stream import NamedStreams, Stream

REACHES = 2, 4, 8, 16  # pixels between the taps of a step; of the first one all light counts as alike
DEVIATIONS = 4.0  # of the luminance, within which it does in the others
MOST_WHOLE = 1 << 17  # pixels of light whose lattice has a point for each; of more every second row and column
PASSES: Declared = {
    "gather": ({"lit": LIT, "light": LIT}, MOMENTS),
    "spread": ({"moments": MOMENTS}, MOMENTS),
    "solve": ({"moments": MOMENTS}, RELIEF),
}


def regression_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name."""
    yield from pass_sources("film/regression", PASSES)
    for name, source in pass_sources("film/regression", PASSES, MAPPED):
        yield f"{name}, of another projection", source


@dataclass(frozen=True)
class FittedLight:
    """The light of a lattice's points, of any normal. lit : the pixels that it is of, whose surfaces are the points':
    every ``stride``-th of a row and a column."""

    lit: Stream
    relief: Stream
    stride: int


class Regression:
    """The passes, with streams for pictures of one size; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._passes = PassSet(device, "film/regression", PASSES)
        self._streams, self._views = NamedStreams(device), Views(device)

    def prepare(self) -> None:
        """Compile the passes of `fit`. Raises ShaderError."""
        self._passes.prepare("gather", "spread", "solve")

    def fit(self, lit: Stream, light: Stream, camera: Camera) -> Generator[None, None, FittedLight]:
        """The light of every place and normal, pass by pass; its streams hold until the next call.

        lit : `LIT`, for the surfaces. light : that to fit, as a stream that begins as a `LIT`, of the same size.
        """
        stride = 1 if lit.size[0] * lit.size[1] <= MOST_WHOLE else 2
        size = -(-lit.size[0] // stride), -(-lit.size[1] // stride)
        moments = self._streams.get("even", MOMENTS, size)
        view = self._views.of(camera, lit.size)
        inputs = {"lit": lit, "light": light, **view.streams}
        self._passes.draw("gather", inputs, moments, view.features, **view.uniforms, stride=stride)
        yield
        wide = view.lattice(stride)
        for step, reach in enumerate(REACHES):
            target = self._streams.get("even" if step % 2 else "odd", MOMENTS, size)
            values = {"reach": reach // stride, "deviations": DEVIATIONS, "strict": float(step > 0)}
            inputs = {"moments": moments, **view.streams}
            self._passes.draw("spread", inputs, target, view.features, **wide.uniforms, **values)
            moments = target
            yield
        relief = self._streams.get("relief", RELIEF, size)
        self._passes.draw("solve", {"moments": moments}, relief)
        return FittedLight(lit, relief, stride)

    def release(self) -> None:
        """Free the streams."""
        self._streams.release()
        self._views.release()
