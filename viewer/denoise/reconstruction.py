"""The light of least error of a film, of any number of samples.

Light and texture are parted (demodulation). A regression over wide windows takes nearly all noise, and misses detail
that neither place nor normal tells; of that detail an a-trous transform keeps, level by level, as much as is beyond
the noise (wavelet shrinkage: Donoho and Johnstone 1994). The noise of a pixel is its own as far as it has samples
enough, and that of the surface around else. Outliers are bounded by their order statistics
until samples confirm it. Of one sample, whose noise is not known, the regression alone counts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from viewer.denoise.records import HISTORY, IRRADIANCE, LIT, RELIEF, RESIDUAL
from viewer.denoise.regression import Regression
from viewer.denoise.reprojection import INPUTS
from viewer.denoise.view import MAPPED, Views
from viewer.film.device_film import Buffer, FilmBuffer
from viewer.kernels.records import FEATURES, FILM
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Declared, PassSet, pass_sources
from viewer.stream.gl.stream import NamedStreams, Stream

REACHES = 1, 2, 4  # pixels between the taps of each level
LIGHT: Declared = {"lit": ({"film": FILM, "features": FEATURES, "surfaces": FEATURES}, LIT)}
PASSES: Declared = {
    "noise": ({"lit": LIT}, LIT),
    "residual": ({"lit": LIT, "relief": RELIEF, "features": FEATURES}, RESIDUAL),
    "shrink": ({"lit": LIT, "residual": RESIDUAL}, RESIDUAL),
    "bounded": ({"lit": LIT, "residual": RESIDUAL, "features": FEATURES}, IRRADIANCE),
}


def reconstruction_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name, those of `viewer.denoise.reprojection` too."""
    reprojection: Declared = {"reproject": (INPUTS, HISTORY)}
    for features, form in ((), ""), (MAPPED, ", of another projection"):
        for folder, passes in ("film/denoise", {**LIGHT, **reprojection}), ("film/reconstruct", PASSES):
            yield from ((f"{name}{form}", source) for name, source in pass_sources(folder, passes, features))


class Reconstruction:
    """The passes, with streams for pictures of one size; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.regression = Regression(device)
        self._demodulation = PassSet(device, "film/denoise", LIGHT)
        self._passes = PassSet(device, "film/reconstruct", PASSES)
        self._streams, self._views = NamedStreams(device), Views(device)

    def prepare(self) -> None:
        """Compile the passes for films of one sample in motion. Raises ShaderError."""
        self._demodulation.prepare("lit")
        self.regression.prepare()

    def demodulate(self, film: FilmBuffer, features: Buffer, surfaces: Buffer, camera: Camera) -> Stream:
        """Light without texture, and its variance: a stream of `LIT`, which holds until the next call.

        features : of the film's samples. surfaces : of these, and of more where edges want more.
        """
        view, lit = self._views.of(camera, film.size), self._streams.get("lit", LIT, film.size)
        parts = {"film": film, "features": features, "surfaces": surfaces}
        inputs = {**{name: part.blocks[0].stream for name, part in parts.items()}, **view.streams}
        self._demodulation.draw("lit", inputs, lit, view.features, **view.uniforms, efficiency=film.efficiency)
        return lit

    def light(self, lit: Stream, surfaces: Stream, camera: Camera, samples: int) -> Generator[None, None, Stream]:
        """The light of least error, pass by pass: a stream of `IRRADIANCE`, which holds until the next call.

        lit : `LIT`, of ``samples`` of a pixel, see `demodulate`.
        """
        size, view = lit.size, self._views.of(camera, lit.size)
        drawn = {**view.uniforms, "scale": (1.0, 1.0)}
        if samples > 1:
            rough, lit = lit, self._streams.get("steady", LIT, size)
            inputs = {"lit": rough, **view.streams}
            self._passes.draw("noise", inputs, lit, view.features, **view.uniforms, samples=float(samples))
            yield
        fitted = yield from self.regression.fit(lit, lit, camera)
        yield
        residual = self._streams.get("residual", RESIDUAL, size)
        inputs = {"lit": lit, "relief": fitted.relief, "features": surfaces, **view.streams}
        self._passes.draw("residual", inputs, residual, view.features, **drawn, stride=fitted.stride)
        yield
        for level, reach in enumerate(REACHES if samples > 1 else ()):
            target = self._streams.get(("even", "odd")[level % 2], RESIDUAL, size)
            values = {"reach": reach, "last_level": float(reach == REACHES[-1])}
            inputs = {"lit": lit, "residual": residual, **view.streams}
            self._passes.draw("shrink", inputs, target, view.features, **view.uniforms, **values)
            residual = target
            yield
        bounded = self._streams.get("bounded", IRRADIANCE, size)
        inputs = {"lit": lit, "residual": residual, "features": surfaces, **view.streams}
        self._passes.draw("bounded", inputs, bounded, view.features, **view.uniforms)
        return bounded

    def release(self) -> None:
        """Free the streams."""
        for part in (self.regression, self._streams, self._views):
            part.release()
