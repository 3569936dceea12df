"""The denoiser in fragment programs: edge-avoiding wavelets steered by normal, depth and variance.

Light and texture are parted (demodulation), the light is pooled on a lattice of every second pixel and filtered there
by an a-trous wavelet transform whose weights fall where surfaces or luminances differ (Dammertz et al. 2010; Schied et
al. 2017, "Spatiotemporal Variance-Guided Filtering"); pixels take it back, and texture and light are put together.
All is a flow from pixel to pixel, which keeps all light; where there is no noise nothing flows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np

from viewer.denoise.irradiance_cache import cache_sources
from viewer.denoise.records import HISTORY, IRRADIANCE, LIT, POOLED
from viewer.denoise.reprojection import INPUTS, RECALLED
from viewer.denoise.view import MAPPED, Views
from viewer.film.adaptive import variances
from viewer.film.device_film import Buffer, FilmBuffer
from viewer.kernels.records import FEATURES, FILM, HALF
from viewer.scene.camera import Camera
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.passes import Declared, PassSet, pass_sources
from viewer.stream.gl.stream import NamedStreams, Stream

STEPS = 4  # of the transform: 2, 4, 8 .. pixels between taps
DEVIATIONS = 3.0  # of the luminance, within which light counts as alike, of pictures of few samples
FEW, LEAST_DEVIATIONS = 4, 1.0
PASSES: Declared = {
    "lit": ({"film": FILM, "features": FEATURES}, LIT),
    "lit_by_halves": ({"film": FILM, "features": FEATURES, "half": HALF}, LIT),
    "steady": ({"lit": LIT}, LIT),
    "pool": ({"lit": LIT}, POOLED),
    "pool_single": ({"lit": LIT}, POOLED),
    "wavelet": ({"pooled": POOLED, "light": IRRADIANCE}, IRRADIANCE),
    "smooth": ({"lit": LIT, "pooled": POOLED, "light": IRRADIANCE}, IRRADIANCE),
}


def wavelet_sources() -> Iterator[tuple[str, Source]]:
    """Every pass, by name, those of `viewer.denoise.reprojection` too."""
    yield from pass_sources("film/denoise", {**PASSES, "reproject": (INPUTS, HISTORY), "recall": (RECALLED, HISTORY)})
    yield from cache_sources()
    mapped = pass_sources("film/denoise", {**PASSES, "reproject": (INPUTS, HISTORY)}, MAPPED)
    yield from ((f"{name}, of another projection", source) for name, source in mapped)


def deviations(samples: int) -> float:
    """The range within which light of ``samples`` counts as alike: it narrows by their fourth root, as the noise to
    remove falls with the samples and the blur within a fixed range would not fall as fast."""
    return max(LEAST_DEVIATIONS, DEVIATIONS * min(1.0, (FEW / max(samples, 1)) ** 0.25))


class Wavelets:
    """The passes, compiled, with streams for pictures of one size; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._passes = PassSet(device, "film/denoise", PASSES)
        self._streams, self._views = NamedStreams(device), Views(device)

    def prepare(self) -> None:
        """Compile the pass of `demodulate` for films without halves. Raises ShaderError."""
        self._passes.prepare("lit")

    def demodulate(self, film: FilmBuffer, features: Buffer, camera: Camera) -> Stream:
        """Light without texture, and its variance: a stream of `LIT`, which holds until the next call."""
        view, lit = self._views.of(camera, film.size), self._streams.get("lit", LIT, film.size)
        own = {"film": film.blocks[0].stream, "features": features.blocks[0].stream, **view.streams}
        half, told = self._halves(film)
        if half is None:
            self._passes.draw("lit", own, lit, view.features, **view.uniforms, efficiency=film.efficiency)
        else:
            own["half"] = half
            self._passes.draw("lit_by_halves", own, lit, view.features, **view.uniforms, told=told)
            rough, lit = lit, self._streams.get("steady", LIT, film.size)
            self._passes.draw("steady", {"lit": rough, **view.streams}, lit, view.features, **view.uniforms)
        return lit

    def filter(self, lit: Stream, camera: Camera, samples: int) -> Generator[None, None, Stream]:
        """The light of every pixel, pass by pass: a stream of `IRRADIANCE`. lit : `LIT` or `HISTORY`, of
        ``samples`` a pixel."""
        pooled, light = yield from self._pooled_light(lit, camera, samples)
        smooth, view = self._streams.get("light", IRRADIANCE, lit.size), self._views.of(camera, lit.size)
        inputs = {"lit": lit, "pooled": pooled, "light": light, **view.streams}
        self._passes.draw("smooth", inputs, smooth, view.features, **view.uniforms)
        return smooth

    def _pooled_light(self, lit: Stream, camera: Camera, samples: int) -> Generator[None, None, tuple[Stream, Stream]]:
        """The lattice's points, and their light filtered."""
        size = lit.size
        lattice, view = (-(-size[0] // 2), -(-size[1] // 2)), self._views.of(camera, size)
        pooled, name = self._streams.get("pooled", POOLED, lattice), "pool" if samples > 1 else "pool_single"
        self._passes.draw(name, {"lit": lit, **view.streams}, pooled, view.features, **view.uniforms)
        yield
        wide = view.lattice(2)
        light = pooled
        for step in range(STEPS):
            values = {"reach": 1 << step, "turn": 1 - 2 * (step % 2), "deviations": deviations(samples)}
            target = self._streams.get(("even", "odd")[step % 2], IRRADIANCE, lattice)
            inputs = {"pooled": pooled, "light": light, **view.streams}
            self._passes.draw("wavelet", inputs, target, view.features, **wide.uniforms, **values)
            light = target
            yield
        return pooled, light

    def _halves(self, film: FilmBuffer) -> tuple[Stream | None, int]:
        """A stream of `HALF` for the variance of a film's pixels, and 1 where its sums are variances themselves; None
        where the samples' spread tells the variance."""
        if film.sample_budget is not None:
            records = np.zeros(film.size[::-1], HALF.dtype)
            records["sum"] = variances(film.film())
            stream = self._streams.get("told", HALF, film.size)
            stream.write(records)
            return stream, 1
        if film.halves is not None and 0 < 2 * film.half == film.samples:
            return film.halves.blocks[0].stream, 0
        return None, 0

    def release(self) -> None:
        """Free the streams."""
        self._streams.release()
        self._views.release()
