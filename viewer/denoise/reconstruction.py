"""The light of least error of a film, of any number of samples.

Light and texture are parted (demodulation). A local regression takes nearly all noise: over all surfaces of about one
depth the light is fitted by a linear function of the normal, so that relief that is finer than the light's pixels stays
(B. Moon et al. 2014, "Adaptive Rendering Based on Weighted Local Regression"; B. Bitterli et al. 2016, "Nonlinearly
Weighted First-order Regression for Denoising Monte Carlo Renderings"; M. Koskela et al. 2019, "Blockwise Multi-order
Feature Regression for Real-time Path-tracing Reconstruction"), in windows of an a-trous transform (Dammertz et al.
2010), whose taps carry the moments that the normal equations need. Of what it misses another such transform keeps as
much as is beyond the noise (wavelet shrinkage: Donoho and Johnstone 1994), which is a pixel's own as far as it has
samples enough, and that of the surface around else. Light of an error is drawn to that around, and outliers are
bounded by their order statistics until samples confirm them. Of one sample the regression alone counts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from raystream.denoise.records import (
    BLOCK_MOMENTS,
    HISTORY,
    IRRADIANCE,
    LIT,
    MAPPED,
    MOMENTS,
    RELIEF,
    RESIDUAL,
    PassView,
    Views,
)
from raystream.denoise.reprojection import INPUTS
from raystream.film.device_film import Buffer, FilmBuffer
from raystream.kernels.records import FEATURES, FILM
from raystream.scene.camera import Camera
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.passes import Declared, PassSet, pass_sources
from raystream.stream.gl.stream import NamedStreams, Stream

FIT_REACHES = 2, 4, 8, 16  # pixels between the taps of a step; of the first one all light counts as alike
DETAIL_REACHES = 1, 2, 4  # likewise of what the fit has missed
BLOCK = 16  # pixels a side, whose light tells what is an outlier
MOST_WHOLE = 1 << 17  # pixels of light whose lattice has a point for each; of more every second row and column
PASSES: Declared = {
    "lit": ({"film": FILM, "features": FEATURES, "surfaces": FEATURES}, LIT),
    "block_moments": ({"lit": LIT}, BLOCK_MOMENTS),
    "outliers": ({"lit": LIT, "blocks": BLOCK_MOMENTS}, LIT),
    "noise": ({"lit": LIT}, LIT),
    "gather": ({"lit": LIT, "light": LIT}, MOMENTS),
    "spread": ({"moments": MOMENTS}, MOMENTS),
    "solve": ({"moments": MOMENTS}, RELIEF),
    "residual": ({"lit": LIT, "relief": RELIEF, "features": FEATURES}, RESIDUAL),
    "shrink": ({"lit": LIT, "residual": RESIDUAL}, RESIDUAL),
    "bounded": ({"lit": LIT, "residual": RESIDUAL, "features": FEATURES}, IRRADIANCE),
}


def reconstruction_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name, that of `raystream.denoise.reprojection` too."""
    for features, form in ((), ""), (MAPPED, ", of another projection"):
        passes: Declared = {**PASSES, "reproject": (INPUTS, HISTORY)}
        yield from ((f"{name}{form}", source) for name, source in pass_sources("film/denoise", passes, features))


@dataclass(frozen=True)
class FittedLight:
    """The light of a lattice's points, of any normal. lit : the pixels that it is of, whose surfaces are the points':
    every ``stride``-th of a row and a column."""

    lit: Stream
    relief: Stream
    stride: int


class Reconstruction:
    """The passes, with streams for pictures of one size; the context must be current in every call. What they give
    holds until the next call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._passes = PassSet(device, "film/denoise", PASSES)
        self._streams, self._views = NamedStreams(device), Views(device)

    def prepare(self) -> None:
        """Compile the passes for films of one sample in motion. Raises ShaderError."""
        self._passes.prepare("lit", "block_moments", "outliers", "gather", "spread", "solve")

    def demodulate(self, film: FilmBuffer, features: Buffer, surfaces: Buffer, camera: Camera) -> Stream:
        """Light without texture, and its variance: a stream of `LIT`.

        features : of the film's samples. surfaces : of these, and of more where edges want more.
        """
        parts = {"film": film, "features": features, "surfaces": surfaces}
        inputs = {name: part.blocks[0].stream for name, part in parts.items()}
        view = self._views.of(camera, film.size)
        lit = self._draw("lit", inputs, "raw light", film.size, view)
        size = (-(-film.size[0] // BLOCK), -(-film.size[1] // BLOCK))
        blocks = self._draw("block_moments", {"lit": lit}, "blocks", size, PassView({}), side=BLOCK)
        return self._draw("outliers", {"lit": lit, "blocks": blocks}, "lit", film.size, view, side=BLOCK)

    def steady(self, lit: Stream, camera: Camera, samples: int) -> Stream:
        """`LIT` of ``samples`` of a pixel, of a variance that the pixels around moderate."""
        view = self._views.of(camera, lit.size)
        return self._draw("noise", {"lit": lit}, "steady", lit.size, view, samples=float(samples))

    def fit(self, lit: Stream, light: Stream, camera: Camera) -> Generator[None, None, FittedLight]:
        """The light of every place and normal, pass by pass.

        lit : `LIT`, for the surfaces. light : that to fit, as a stream that begins as a `LIT`, of the same size.
        """
        stride = 1 if lit.size[0] * lit.size[1] <= MOST_WHOLE else 2
        size, view = (-(-lit.size[0] // stride), -(-lit.size[1] // stride)), self._views.of(camera, lit.size)
        values = {"stride": stride, "reach": 1, "strict": 0.0}
        moments = self._draw("gather", {"lit": lit, "light": light}, "first moments", size, view, **values)
        yield
        wide = view.lattice(stride)
        for step, reach in enumerate(FIT_REACHES):
            values, name = {"stride": 1, "reach": reach // stride, "strict": float(step > 0)}, f"{step % 2} moments"
            moments = self._draw("spread", {"moments": moments}, name, size, wide, **values)
            yield
        return FittedLight(lit, self._draw("solve", {"moments": moments}, "relief", size, PassView({})), stride)

    def light(self, lit: Stream, surfaces: Stream, camera: Camera, samples: int) -> Generator[None, None, Stream]:
        """The light of least error, pass by pass: a stream of `IRRADIANCE`.

        lit : `LIT`, of ``samples`` of a pixel; surfaces : `FEATURES`, see `demodulate`.
        """
        size, view = lit.size, self._views.of(camera, lit.size)
        lit = self.steady(lit, camera, samples)
        yield
        fitted = yield from self.fit(lit, lit, camera)
        yield
        inputs = {"lit": lit, "relief": fitted.relief, "features": surfaces}
        values = {"scale": (1.0, 1.0), "stride": fitted.stride}
        residual = self._draw("residual", inputs, "residual", size, view, **values)
        yield
        for level, reach in enumerate(DETAIL_REACHES if samples > 1 else ()):
            inputs, values = (
                {"lit": lit, "residual": residual},
                {"reach": reach, "last_level": float(reach == DETAIL_REACHES[-1])},
            )
            residual = self._draw("shrink", inputs, f"{level % 2} residual", size, view, **values)
            yield
        inputs = {"lit": lit, "residual": residual, "features": surfaces}
        return self._draw("bounded", inputs, "bounded", size, view)

    def _draw(
        self, name: str, inputs: dict[str, Stream], output: str, size: tuple[int, int], view: PassView, **values: Any
    ) -> Stream:
        target = self._streams.get(output, PASSES[name][1], size)
        self._passes.draw(name, {**inputs, **view.streams}, target, view.features, **view.uniforms, **values)
        return target

    def release(self) -> None:
        """Free the streams."""
        self._streams.release()
        self._views.release()
