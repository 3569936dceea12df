"""What a screen shows with less noise: while the camera moves, and at rest until the picture has converged."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator

import numpy as np

from viewer.film.buffers import Buffer, FilmBuffer
from viewer.film.denoise.wavelets import Wavelets
from viewer.kernels.records import FEATURES, RADIANCE
from viewer.renderer.denoising import denoised
from viewer.renderer.pace import SCALES, SMOOTHING, Pace
from viewer.renderer.pieces import Slice
from viewer.renderer.rounds import Round
from viewer.renderer.screen import Screen
from viewer.renderer.tracer import Tracer
from viewer.scene.camera import Camera
from viewer.stream.gl.stream import Stream

NOISY = ("path", "photon")  # programs whose first samples cannot be read
MOST_FEATURES = 16  # samples whose features are worth their time
FIRST_RATE = 5e6  # camera rays a second, before any has been seen
SHARE = 0.3  # of a preview's time, for the features that it is drawn up by
GROWTH = 1.5  # times as many samples as last time, before a picture at rest is denoised again


class ScreenDenoiser:
    """The feature buffers and the filter of a session's pictures; the context need not be current.

    tile : (width, height) of the streams that serve pictures of every size.
    """

    def __init__(self, tracer: Tracer, tile: tuple[int, int]) -> None:
        self.tracer, self.tile = tracer, tile
        self.rate = FIRST_RATE  # camera rays a second
        self._pace = Pace(tile[1])
        self._wavelets: Wavelets | None = None
        self._held: dict[str, Buffer] = {}
        self._film: FilmBuffer | None = None  # whose features are held
        self._samples = 0  # of the film, when it was denoised last
        self._last: Stream | None = None

    @property
    def ready(self) -> bool:
        """Whether nothing is left to compile."""
        return self._wavelets is not None and self.tracer.features_ready(self.tile)

    def warm(self) -> Iterator[float]:
        """Compile what `follow` will run; yields the share that is done."""
        if not self.tracer.features_ready(self.tile):
            yield from self.tracer.warm_features(self.tile)
        with self.tracer.device.current():
            wavelets = Wavelets(self.tracer.device)
            wavelets.warm()
        self._wavelets = wavelets

    def due(self, film: FilmBuffer, samples: int) -> bool:
        """Whether so many samples of a film are worth another filtering."""
        return film is not self._film or samples >= GROWTH * self._samples

    def forget(self) -> None:
        """The next film is denoised, whatever its samples."""
        self._samples = 0

    def follow(
        self, film: FilmBuffer, samples: int, camera: Camera, whole: tuple[int, int], budget: float = 0.0
    ) -> Iterator[Stream | None]:
        """Denoise a film of so many samples, step by step; the last step gives the picture, a stream of `RADIANCE`,
        which holds until the next one.

        whole : (width, height) of the picture on the screen, to which a preview's smaller film is drawn up, as far as
        ``budget`` seconds go.
        """
        if film is not self._film:
            self._samples, self._film = 0, film
            self._clear("own", film.size)
        yield from self._trace("own", min(samples, MOST_FEATURES), camera)
        finer = None
        size = self._affordable(film.size, whole, budget)
        if size != film.size:
            self._clear("finer", size)
            yield from self._trace("finer", 1, camera)
            finer = self._held["finer"]
        device = self.tracer.device
        with device.current():
            self._wavelets = self._wavelets or Wavelets(device)
            steps = self._wavelets.steps(film, self._held["own"], camera, finer)
        picture = None
        while picture is None:
            with device.current():
                try:
                    next(steps)
                except StopIteration as end:
                    picture = end.value
            self._samples = samples
            yield picture

    def last(self, film: FilmBuffer) -> Stream | None:
        """A film denoised by Open Image Denoise, by the features that there are of it, a stream of `RADIANCE`; None
        where there are none. The context must be current.

        Raises ViewerError where the denoiser fails.
        """
        if film is not self._film:
            return None
        made = denoised(self.tracer, film, self._held["own"])
        if self._last is None or self._last.size != film.size:
            if self._last is not None:
                self._last.release()
            self._last = Stream(self.tracer.device, RADIANCE, film.size)
        texels = np.concatenate([made, np.zeros((*made.shape[:2], 1), np.float32)], axis=2)
        self._last.write_texels([texels])
        return self._last

    def after(
        self,
        job: Round,
        pieces: Iterator[tuple[float, Slice | None]],
        film: FilmBuffer,
        whole: tuple[int, int],
        screen: Screen | None,
        most: int,
        budget: float,
    ) -> Generator[tuple[float, Slice | None], None, None]:
        """A round's pieces, and what shows its film denoised on a screen, where that is worth its time, and where it
        has its ``most`` samples. whole, budget : as of `follow`."""
        yield from pieces
        if not self.due(film, job.samples) and job.samples < most:
            return
        job.tracing = False
        for made in self.follow(film, job.samples, job.camera, whole, budget):
            if made is not None and screen is not None:
                screen.show(made)
            yield 1.0, None

    def _affordable(self, least: tuple[int, int], whole: tuple[int, int], budget: float) -> tuple[int, int]:
        """The size up to ``whole`` whose features take a preview's share of ``budget`` seconds, or ``least``."""
        if least == whole:
            return whole
        rays = self.rate * SHARE * budget
        scale = next((each for each in SCALES if whole[0] * whole[1] * each * each <= rays), 0.0)
        return max(least[0], round(whole[0] * scale)), max(least[1], round(whole[1] * scale))

    def _trace(self, name: str, samples: int, camera: Camera) -> Iterator[None]:
        """Bring a buffer to so many samples."""
        buffer, spent, before = self._held[name], 0.0, self._held[name].samples
        steps = self.tracer.features(buffer, samples, self.tile, self._pace.next, camera)
        while True:
            began = time.perf_counter()
            ended = next(steps, None) is None
            self.tracer.device.context.finish()
            seconds = time.perf_counter() - began
            self._pace.note(seconds)
            spent += seconds
            if ended:
                break
            yield None
        if buffer.samples > before:
            rays = buffer.size[0] * buffer.size[1] * (buffer.samples - before)
            self.rate += SMOOTHING * (rays / max(spent, 1e-6) - self.rate)

    def _clear(self, name: str, size: tuple[int, int]) -> None:
        """A buffer of that size, empty."""
        held = self._held.get(name)
        with self.tracer.device.current():
            if held is not None and held.size == size:
                held.clear()
                return
            if held is not None:
                held.release()
            self._held[name] = Buffer(self.tracer.device, FEATURES, size)

    def release(self) -> None:
        """Free buffers and streams."""
        with self.tracer.device.current():
            for held in self._held.values():
                held.release()
            if self._wavelets is not None:
                self._wavelets.release()
            if self._last is not None:
                self._last.release()
        self._held.clear()
        self._film = self._wavelets = self._last = None
