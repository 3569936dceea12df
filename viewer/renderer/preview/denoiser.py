"""What a screen shows with less noise: while the camera moves, and at rest until the picture has converged."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from functools import partial

import numpy as np

from viewer.denoise.filter import Wavelets
from viewer.denoise.reprojection import Changes, History
from viewer.denoise.upsampling import Upsampling
from viewer.film.device_film import Buffer, FilmBuffer
from viewer.kernels.records import FEATURES, RADIANCE
from viewer.renderer.device.tile_job import FinishedTile
from viewer.renderer.inputs.prepared import Prepared
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.preview.frame import Round
from viewer.renderer.preview.gbuffer import FasterFeatures
from viewer.renderer.preview.gbuffer_tracer import QuickFeatures
from viewer.renderer.preview.motion import changes, of_motion
from viewer.renderer.preview.scheduler import MOST_TOGETHER, SMOOTHING, Previews
from viewer.renderer.preview.screen import Screen
from viewer.renderer.sampling.denoising import denoised
from viewer.renderer.sampling.sampler import Tracer
from viewer.scene.camera import Camera
from viewer.stream.gl.stream import Stream

NOISY = ("path", "photon")  # programs whose first samples cannot be read
MOST_FEATURES = 16  # samples whose features are worth their time
FIRST_RATE = 2e6  # camera rays a second, and pixels drawn up, before any have been seen
LIGHT = 0.5  # of a preview's time, for the light; the rest is for the picture that it is drawn up to
LIGHT_OF_DRAWN = 0.25  # and where features are drawn, which has a price that does not fall with the picture's size
LEAST_DRAWN = 0.5  # of the window's width a preview has at least where its features are drawn
FINER = 2.0  # times as wide as its light is a preview at least: what it costs is then always known
GROWTH = 1.5  # times as many samples as last time, before a picture at rest is denoised again
FADING = 16  # samples of a picture at rest, from which on what was seen on the way there has no part in it
NUMBERS = 4096  # of samples, until previews begin anew


class ScreenDenoiser:
    """The feature buffers and the filter of a session's pictures; the context need not be current."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.drawn = Previews()  # how large the pictures are that previews are drawn up to
        self.rate = FIRST_RATE  # camera rays a second
        self.blended = False  # the picture made last has to do with those before
        self.reprojects = True  # for measurements: whether previews have a past
        self._features = QuickFeatures(tracer)
        self.faster = FasterFeatures(tracer, self._features)
        self._draws = False  # features of pixels that light is drawn up to are drawn, too
        self._wavelets: Wavelets | None = None
        self._history: History | None = None
        self._upsampling: Upsampling | None = None
        self._held: dict[str, Buffer] = {}
        self._film: FilmBuffer | None = None  # whose features are held
        self._samples = 0  # of the film, when it was denoised last
        self._seen: tuple[Prepared, Settings] | None = None  # of the film before
        self._extent: tuple[Prepared, float] | None = None  # the diagonal of a scene
        self._number = 0  # of the next preview's first sample
        self._last: Stream | None = None

    @property
    def ready(self) -> bool:
        """Whether nothing is left to compile."""
        return self._wavelets is not None and self._features.ready and self.faster.ready

    def warm(self) -> Iterator[float]:
        """Compile what `follow` will run; yields the share that is done."""
        if not self._features.ready:
            yield from self._features.warm()
        if not self.faster.ready:
            for _ in self.faster.warm():
                yield 1.0
        with self.tracer.device.current():
            wavelets, history, upsampling = self._make()
            wavelets.warm(history)
            upsampling.warm()

    def _make(self) -> tuple[Wavelets, History, Upsampling]:
        """The passes; the context must be current."""
        self._wavelets = self._wavelets or Wavelets(self.tracer.device)
        self._history = self._history or History(self.tracer.device)
        self._upsampling = self._upsampling or Upsampling(self.tracer.device)
        return self._wavelets, self._history, self._upsampling

    @property
    def light(self) -> float:
        """The share of a preview's time that is for its light."""
        return LIGHT_OF_DRAWN if self._draws else LIGHT

    def numbers(self, samples: int) -> int:
        """What a preview's samples are numbered from: those that follow each other take other points each."""
        first = self._number
        self._number = (first + samples) % NUMBERS
        return first

    def due(self, film: FilmBuffer, samples: int) -> bool:
        """Whether so many samples of a film are worth another filtering."""
        return film is not self._film or samples >= GROWTH * self._samples

    def forget(self) -> None:
        """The next film is denoised, whatever its samples."""
        self._samples = 0

    def follow(
        self, job: Round, film: FilmBuffer, whole: tuple[int, int], budget: float = 0.0, past: float = 1.0
    ) -> Iterator[Stream | None]:
        """Denoise a round's film, step by step; the last step gives the picture, a stream of `SHOWN`, which holds until
        the next one.

        whole : (width, height) of the picture on the screen, to which a preview's smaller film is drawn up, as far as
        ``budget`` seconds go. past : how much of the pictures before counts, 0 .. 1.
        """
        yield from self._followed(job, film, self._begin(job, film, whole, budget, past))

    def _followed(self, job: Round, film: FilmBuffer, size: tuple[int, int]) -> Iterator[Stream | None]:
        features = yield from self._surfaces(job, film, size)
        yield from self._filtered(job, film, features)

    def _begin(
        self, job: Round, film: FilmBuffer, whole: tuple[int, int], budget: float, past: float
    ) -> tuple[int, int]:
        """Make ready for a round's film: the size that its light is drawn up to."""
        with self.tracer.device.current():
            _, history, _ = self._make()
        if film is not self._film:
            self._samples, self._film = 0, film
            self._fit("own", film.size)
            self._turn(history)
        history.share, history.seeks = past if self.reprojects else 0.0, job.fleeting
        self.blended = history.used
        size = self._affordable(film.size, whole, budget) if job.preview else film.size
        if size != film.size:
            self._fit("finer", size, clear=not (self._draws and job.fleeting))
        return size

    def _surfaces(self, job: Round, film: FilmBuffer, size: tuple[int, int]) -> Generator[None, None, Buffer]:
        """The features of a film's pixels, step by step; gives the buffer of those that its light is drawn up to, which
        of a round that is queued are drawn later, if they are drawn."""
        settings = of_motion(self.tracer.settings) if job.fleeting else self.tracer.settings
        camera, samples = _sharp(job), min(job.samples, MOST_FEATURES)
        yield from self._trace("own", samples, camera, settings, job.first, job.queued)
        if size == film.size:
            return self._held["own"]
        if job.queued and self._draws:
            return self._held["finer"]
        finer, spent = self._finer(job, camera, settings), 0.0
        while True:
            began = time.perf_counter()
            ended = next(finer, 0) == 0
            spent += time.perf_counter() - began  # of the steps alone: others work in between
            if ended:
                break
            yield None
        job.drawing += spent
        return self._held["finer"]

    def _filtered(self, job: Round, film: FilmBuffer, features: Buffer) -> Iterator[Stream | None]:
        """A film denoised, and drawn up to the pixels of those features, step by step; the last gives the picture."""
        device, camera = self.tracer.device, _sharp(job)
        finer = features.size != film.size
        with device.current():
            wavelets, history, upsampling = self._make()
            stream = features.blocks[0].stream
            finish = partial(upsampling.draw, features=stream, camera=camera, fills=job.fleeting)
            if finer and features.samples == 0:
                self.faster.queue_surfaces(features, camera)
            steps = wavelets.steps(film, self._held["own"], camera, history, finish)
        picture, together = None, film.size[0] * film.size[1] <= MOST_TOGETHER
        while picture is None:
            began = time.perf_counter()
            with device.current():
                try:
                    next(steps)
                    while together:
                        next(steps)
                except StopIteration as end:
                    picture = end.value
                    device.wait()
            if picture is not None and finer and not job.queued:
                job.drawing += time.perf_counter() - began
                fixed = self.faster.drawing.scene if self._draws else 0.0
                pixels = features.size[0] * features.size[1]
                self.drawn.note(pixels / max(job.drawing - fixed, 0.1 * job.drawing, 1e-6))
            self._samples = job.samples
            yield picture

    def _affordable(self, least: tuple[int, int], whole: tuple[int, int], budget: float) -> tuple[int, int]:
        """The size up to ``whole`` to which light of the size ``least`` is drawn up in its part of ``budget`` seconds;
        at least `FINER` times as wide."""
        pixels = whole[0] * whole[1]
        with self.tracer.device.current():
            self._draws = self.faster.chosen(pixels)
        scale = self.drawn.choose(pixels, (1 - self.light) * budget, FIRST_RATE)
        if self._draws:  # a smaller picture saves nothing of what the scene costs
            scale = max(min(scale, self.faster.scale(pixels)), LEAST_DRAWN)
        scale = min(max(scale, FINER * least[0] / whole[0]), 1.0)
        return max(least[0], round(whole[0] * scale)), max(least[1], round(whole[1] * scale))

    def _turn(self, history: History) -> None:
        """Another film: what was made last is its past, as far as scene and settings are the same."""
        tracer, seen = self.tracer, self._seen
        history.turn()
        found = changes(*seen, tracer.prepared, tracer.settings) if seen is not None else None
        if found is None:
            history.forget()
        history.changes = found or Changes()
        self._seen = tracer.prepared, tracer.settings

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
        pieces: Iterator[tuple[float, FinishedTile | None]],
        film: FilmBuffer,
        whole: tuple[int, int],
        screen: Screen | None,
        most: int,
        budget: float,
    ) -> Generator[tuple[float, FinishedTile | None], None, None]:
        """A round's pieces, and what shows its film denoised on a screen, where that is worth its time, and where it
        has its ``most`` samples: then by these alone. whole, budget : as of `follow`."""
        size = self._begin(job, film, whole, budget, 1.0) if job.queued else film.size
        waits = size != film.size and self._draws
        for piece in pieces:
            yield piece
            if waits and piece[0] > 0:  # the host passes on triangles while the device is busy with light
                waits = False
                with self.tracer.device.current():
                    self.faster.queue_triangles(self._held["finer"], _sharp(job))
        assert not waits, "a run yields before its end"
        if not job.queued and not self.due(film, job.samples) and job.samples < most:
            return
        job.tracing = False
        past = 1.0 if job.fleeting else max(0.0, 1 - job.samples / FADING)
        if not job.fleeting and (job.samples >= most or job.added == 0):
            past = 0.0
        size = size if job.queued else self._begin(job, film, whole, budget, past)
        for made in self._followed(job, film, size):
            if made is not None and screen is not None:
                screen.show(made)
            yield 1.0, None

    @property
    def carries(self) -> bool:
        """Whether there is a picture of this scene that can be carried to where the camera is."""
        there = self._upsampling is not None and self._upsampling.there
        return there and self._seen is not None and self._seen[0] is self.tracer.prepared

    @property
    def distance(self) -> float:
        """How far the camera is from where the picture made last was seen, as a share of the scene's diagonal."""
        assert self._upsampling is not None
        prepared = self.tracer.prepared
        if self._extent is None or self._extent[0] is not prepared:
            low, high = prepared.scene.bounds()
            self._extent = prepared, max(float(np.linalg.norm(high - low)), 1e-30)
        return self._upsampling.distance(self.tracer.camera) / self._extent[1]

    @property
    def carried(self) -> tuple[int, int]:
        """(width, height) of the picture made last."""
        assert self._upsampling is not None
        return self._upsampling.size

    def carry(self, target: Stream) -> None:
        """Draw the picture made last as the tracer's camera sees it now, to a stream of `SHOWN` of any size."""
        with self.tracer.device.current():
            upsampling = self._make()[2]
            upsampling.carry(self.tracer.camera, target)

    def _trace(
        self, name: str, samples: int, camera: Camera, settings: Settings, first: int, queued: bool = False
    ) -> Iterator[None]:
        """Bring a buffer to so many samples. queued : they are not waited for, nor timed."""
        buffer, spent, before = self._held[name], 0.0, self._held[name].samples
        steps = self._features.fill(buffer, samples, camera, self.rate, settings, first)
        while True:
            began = time.perf_counter()
            ended = next(steps, 0) == 0
            if not queued:
                self.tracer.device.wait()
            spent += time.perf_counter() - began
            if ended:
                break
            yield None
        if buffer.samples > before and not queued:
            rays = buffer.size[0] * buffer.size[1] * (buffer.samples - before)
            self.rate += SMOOTHING * (rays / max(spent, 1e-6) - self.rate)

    def _finer(self, job: Round, camera: Camera, settings: Settings) -> Iterator[None]:
        """The features of every pixel that a preview's light is drawn up to, by drawing or by rays."""
        buffer = self._held["finer"]
        if self._draws and job.fleeting:
            with self.tracer.device.current():
                self.faster.draw(buffer, camera)
            yield None
            return
        steps, spent = self._trace("finer", 1, camera, settings, job.first), 0.0
        while True:
            began = self.faster.now()
            ended = next(steps, 0) == 0
            spent += self.faster.now() - began
            if ended:
                break
            yield None
        self.faster.cast(buffer.size[0] * buffer.size[1], spent)

    def _fit(self, name: str, size: tuple[int, int], clear: bool = True) -> None:
        """Have a buffer of that size, without samples; what it holds is of no use, but where it is to ``clear``."""
        held = self._held.get(name)
        with self.tracer.device.current():
            if held is not None and held.size == size:
                held.samples = 0
                if clear:
                    held.clear()
                return
            if held is not None:
                held.release()
            self._held[name] = Buffer(self.tracer.device, FEATURES, size)

    def release(self) -> None:
        """Free buffers and streams."""
        with self.tracer.device.current():
            made = self._wavelets, self._history, self._upsampling, self._last
            for held in (*self._held.values(), self._features, self.faster, *made):
                if held is not None:
                    held.release()
        self._held.clear()
        self._wavelets = self._history = self._upsampling = self._last = None
        self._film = self._seen = None


def _sharp(job: Round) -> Camera:
    """A round's camera; of one that moves all is sharp: through a lens one sample of a pixel shows dots, not what is
    there."""
    return job.camera.with_lens(0.0) if job.fleeting else job.camera
