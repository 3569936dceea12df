"""The picture of few samples, at window size: while the camera moves, and at rest until the film tells more.

A frame goes from top to bottom: light is traced for few pixels; surfaces are found for every pixel of the window; the
light is parted from texture, blended with the history of the same places, fitted by regression, and
upsampled to the surfaces.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.denoise import oidn
from raystream.denoise.reconstruction import Reconstruction
from raystream.denoise.reprojection import Changes, History
from raystream.denoise.upsampling import SHOWN, Upsampling
from raystream.film.device_film import Buffer, FilmBuffer
from raystream.kernels.records import FEATURES
from raystream.renderer.device.machine_pool import compiled
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview import scheduler
from raystream.renderer.preview.frame import RECONSTRUCTING, FrameClock, FrameJob, Steps
from raystream.renderer.preview.gbuffer import TINY, Blended, GBuffer, GBufferTracer
from raystream.renderer.preview.motion import PosedMotion, changes, of_motion
from raystream.renderer.preview.scheduler import FrameKind, ScheduledFrame
from raystream.renderer.sampling.denoising import NoisyPicture, noisy_picture
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.sampler import Event
from raystream.scene.camera import Camera
from raystream.stream.gl.compiler import Batch
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import NamedStreams, Stream
from raystream.stream.jobs import returned

# -- the passes from light and surfaces to a preview's picture, the same for all scenes of a device --------------------

PLAIN = Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


class CompiledPasses(NamedTuple):
    """From light and surfaces to the picture."""

    reconstruction: Reconstruction
    history: History
    posed: PosedMotion
    upsampling: Upsampling


PASS_TYPES: tuple[Any, ...] = Reconstruction, History, PosedMotion, Upsampling


class PreviewPasses:
    """Those of one device; the context must be current in every call but `warm`. compiled_passes : once they are there,
    though some of their programs may still be to compile."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.compiled_passes: CompiledPasses | None = None
        self._parts: list[Any] = []  # as far as they are there
        self._batch = Batch()  # of programs still to compile
        self._rehearsed: set[str] = set()  # projections of cameras

    @property
    def compiled(self) -> bool:
        """Whether nothing is left to compile."""
        return self.compiled_passes is not None and not self._batch

    def finished(self) -> CompiledPasses:
        """The passes, compiled."""
        if self.compiled_passes is None:
            self.prepare()
            self._batch.finish()
        assert self.compiled_passes is not None
        return self.compiled_passes

    def prepare(self) -> Batch:
        """Make them; their programs, still to compile."""
        for _ in self._make_one_by_one():
            pass
        return self._batch

    def _make_one_by_one(self) -> Iterator[float]:
        while len(self._parts) < len(PASS_TYPES):
            with self.device.deferred() as batch:
                passes = PASS_TYPES[len(self._parts)](self.device)
                if isinstance(passes, Reconstruction | Upsampling):  # others have all that is rehearsed
                    passes.prepare()
            self._parts.append(passes)
            self._batch += batch
            yield len(self._parts) / len(PASS_TYPES)
        self.compiled_passes = self.compiled_passes or CompiledPasses(*self._parts)

    def warm(self) -> Iterator[float]:
        """Make, compile and rehearse them, a step at a time; may be abandoned. Raises ShaderError."""
        steps = self._make_one_by_one()
        while True:
            with self.device.current():
                fraction = next(steps, None)
            if fraction is None:
                break
            yield 0.5 * fraction
        for fraction in compiled(self.device, self._batch):
            yield 0.5 + 0.5 * fraction
        with self.device.current():
            self.finish()
        yield 1.0

    def finish(self, seen_by: Camera = PLAIN) -> None:
        """Have all compiled and, for a plain camera and the one that is ``seen_by``, rehearsed."""
        self.finished()
        self._batch.finish()
        for camera in (PLAIN, *([PLAIN.with_projection(seen_by.projection, seen_by.eyes)] if seen_by.kind else [])):
            if camera.kind not in self._rehearsed:
                self._rehearse(camera)
                self._rehearsed.add(camera.kind)

    def _rehearse(self, camera: Camera) -> None:
        """Draw a first picture, of few pixels of nothing: drivers compile their part of a pass when it is drawn first.
        Passes for a film of more samples wait until there is one."""
        reconstruction, history, _, upsampling = self.finished()
        device, size = self.device, TINY
        film, features, target = FilmBuffer(device, size), Buffer(device, FEATURES, size), Stream(device, SHOWN, size)
        surfaces = features.blocks[0].stream
        light = reconstruction.demodulate(film, features, features, camera)
        blended = history.blend(light, surfaces, camera, 1)
        fitted = returned(reconstruction.fit(light, blended, camera))
        upsampling.soften(upsampling.compose(fitted, surfaces, camera), 1, 1.0, film.blocks[0].stream, camera)
        upsampling.warp(camera, target)
        upsampling.forget()
        history.forget()
        for buffer in (film, features, target):
            buffer.release()

    def release(self) -> None:
        """Free their streams; another use makes them again."""
        for passes in self._parts:
            passes.release()
        self._batch.release()
        self._parts.clear()
        self._rehearsed.clear()
        self.compiled_passes = None


# -- open Image Denoise beside the picture in progress, in a thread of its own -----------------------------------------


class BackgroundDenoiser:
    """One picture at a time. samples : of the one begun last. draft : that one is by the smaller network."""

    def __init__(self, device: Device) -> None:
        self.samples, self.draft = 0, False
        self._film: FilmBuffer | None = None  # of which it is
        self._coming: Future[NDArray[np.float32]] | None = None
        self._thread = ThreadPoolExecutor(1, "denoiser", _give_way)
        self._streams = NamedStreams(device)

    def begun(self, film: FilmBuffer) -> int:
        """Samples of that film's picture begun last; 0: none has been."""
        return self.samples if film is self._film else 0

    @property
    def free(self) -> bool:
        """Whether another picture can be begun."""
        return self._coming is None

    def owes(self, film: FilmBuffer, samples: int) -> bool:
        """Whether the picture of a film's ``samples`` is still to come."""
        return self.draft or self.begun(film) < samples or not self.free

    def begin(self, film: FilmBuffer, samples: int, picture: NoisyPicture, draft: bool = False) -> None:
        """Denoise a film's picture of ``samples``; ``draft``: by the smaller network."""
        self._film, self.samples, self.draft = film, samples, draft
        self._coming = self._thread.submit(picture.denoised, draft)

    def wait(self, seconds: float) -> None:
        """Wait for the picture in progress, no longer than that."""
        if self._coming is not None:
            wait([self._coming], seconds)

    def take(self) -> tuple[FilmBuffer | None, NDArray[np.float32]] | None:
        """A picture that has come, (H, W, 3), and its film; None: no picture has. Raises ViewerError where the denoiser
        fails."""
        pending = self._coming
        if pending is None or not pending.done():
            return None
        self._coming = None
        return self._film, pending.result()

    def stream(self, pixels: NDArray[np.float32]) -> Stream:
        """A picture as a stream of `SHOWN`, which holds until the next one; the context must be current."""
        height, width = pixels.shape[:2]
        stream = self._streams.get("picture", SHOWN, (width, height))
        stream.write_texels([np.concatenate([pixels, np.zeros((height, width, 1), np.float32)], axis=2)])
        return stream

    def forget(self) -> None:
        """The next film is denoised, whatever its samples; the picture in progress is not shown."""
        self._film, self.samples, self.draft = None, 0, False

    def release(self) -> None:
        """End the thread, and free the picture; the context must be current."""
        self.forget()
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._streams.release()


def _give_way() -> None:
    """This thread, and those that it starts, make way for others; elsewhere than on Linux that would be the process."""
    if sys.platform == "linux":
        os.nice(scheduler.BEHIND_OTHERS)


# -- the picture of few samples, at window size ------------------------------------------------------------------------

T = TypeVar("T")
NUMBERS = 4096  # of samples, until previews begin anew


def stepped(steps: Generator[None, None, T]) -> Generator[Event, None, T]:
    """The passes of a reconstruction, an event each."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        yield RECONSTRUCTING


class Preview:
    """G-buffers, history and filter of a session's pictures; the context need not be current.

    reprojects : for measurements: whether previews have a past. gbuffer : by drawing or by rays. passes : those of the
    renderer's device, made before.
    """

    def __init__(self, renderer: RendererParts, clock: FrameClock, passes: PreviewPasses | None = None) -> None:
        self.renderer, self.clock, self.scheduler = renderer, clock, clock.scheduler
        self.reprojects = True
        self._features = GBufferTracer(renderer)
        self.gbuffer = GBuffer(renderer)
        self._rasterises = False  # surfaces of pixels that light is upsampled to
        self.passes = passes or PreviewPasses(renderer.device)
        self._buffers: dict[str, Buffer] = {}  # features: of the film, of edges, finer ones
        self._film: FilmBuffer | None = None  # whose features these are
        self._samples = 0  # of the film, when it was denoised last
        self._in_motion = 0.0  # samples that the last picture in motion is worth
        self._inputs: tuple[PreparedScene, Settings] | None = None  # of the film before
        self._extent: tuple[PreparedScene, float] | None = None  # the diagonal of a scene
        self._number = 0  # of the next preview's first sample
        self._white = 1.0  # of the last frame's screen
        self.background = BackgroundDenoiser(renderer.device)
        self._installed = oidn.installed()

    # -- compiling -------------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether nothing is left to compile."""
        return self.passes.compiled and self._features.ready and self.gbuffer.ready

    def warm(self) -> Iterator[float]:
        """Compile the programs of `picture`; yields the share done."""
        device, batch = self.renderer.device, Batch()  # all of them, side by side where the driver has threads for that
        if not self._features.ready:
            batch += self._features.prepare().batch
            yield 0.0
        rasterises = not self.gbuffer.ready
        if rasterises:
            with device.current():
                batch += self.gbuffer.prepare()
            yield 0.0
        with device.current():
            batch += self.passes.prepare()
        yield 0.0
        yield from compiled(device, batch)
        if not self._features.ready:
            yield from self._features.warm()
        if rasterises:
            with device.current():
                self.gbuffer.warm()
            yield 1.0
        with device.current():
            self.passes.finish(self.renderer.camera)

    # -- what the scheduler is told --------------------------------------------------------------------------------

    @property
    def light(self) -> float:
        """The share of a preview's time that is for its light."""
        return scheduler.LIGHT_OF_RASTERISED if self._rasterises else scheduler.LIGHT

    def numbers(self, samples: int) -> int:
        """The first sample number of a preview: successive previews take other points each."""
        first = self._number
        self._number = (first + samples) % NUMBERS
        return first

    @property
    def cleans(self) -> bool:
        """Whether films at rest are denoised by Open Image Denoise, once it is ready."""
        how = self.renderer.settings.denoise
        return how == "oidn" or (how == "auto" and self._installed)

    def cleaned(self, film: FilmBuffer) -> Stream | None:
        """The film's picture by Open Image Denoise, once it has come: a stream of `SHOWN`, which holds until the
        next one. Raises ViewerError where that was asked for and fails; else there is the other denoiser."""
        try:
            picture = self.background.take()
        except ViewerError:
            if self.renderer.settings.denoise == "oidn":
                raise
            self._installed = False
            return None
        if picture is None or picture[0] is not film:
            return None
        with self.renderer.device.current():
            stream, upsampling = self.background.stream(picture[1]), self.passes.finished().upsampling
            samples, noisy = self.background.samples, film.blocks[0].stream
            rays = scheduler.feature_samples(
                samples, at_rest=True
            )  # its edges are as smooth as the features that guide it
            return upsampling.soften(stream, samples, self._white, noisy, self.renderer.camera, rays)

    def due(self, film: FilmBuffer, frame: ScheduledFrame, most: int) -> bool:
        """Whether the film of a frame, of ``most`` samples, is worth another filtering.

        Once it has been given to Open Image Denoise it is not, nor its first sample where that is next: its edges would
        be dotted after a rung's.
        """
        if self.cleans and (self.background.begun(film) or (self.background.free and not frame.kind.preview)):
            return False
        return film is not self._film or frame.samples >= scheduler.GROWTH * self._samples or frame.samples >= most

    def forget(self) -> None:
        """The next film is denoised, whatever its samples."""
        self._samples = 0
        self.background.forget()

    # -- a frame, from top to bottom -------------------------------------------------------------------------------

    def frame(
        self, job: FrameJob, tiles: Steps, whole: tuple[int, int], most: int
    ) -> Generator[Event, None, Stream | None]:
        """Trace a frame's tiles, and make its picture, where that is worth its time, and where the film has its
        ``most`` samples: a stream of `SHOWN`, which holds until the next one. whole : (width, height) of the window.
        """
        film, frame, clock = job.film, job.frame, self.clock
        assert film is not None
        self._white = job.white
        size = self._begin(job, film, whole) if frame.queued else film.size
        clock.begin_part(job)
        yield from self._trace_light(job, tiles, rasterises=frame.queued and size != film.size and self._rasterises)
        last = not frame.added or frame.samples >= most
        if not (frame.kind.preview or scheduler.shows(frame.samples, self._in_motion, last)):
            return None
        at_rest = frame.scale == 1 and not frame.kind.in_motion
        clean = self.cleans and at_rest and self.background.free
        clean = clean and scheduler.cleans(frame.samples, self.background.begun(film), last, self.background.draft)
        due = frame.queued or self.due(film, frame, most)
        if not (due or clean):
            return None
        job.tracing = False
        clock.begin_part(job)
        if not frame.queued:
            size = self._begin(job, film, whole)
        # A preview that begins a film is its last picture where that has all samples by now.
        ends = at_rest and frame.samples >= most
        features = yield from self._fill_gbuffer(job, film, size, clean or ends or not frame.kind.preview, clean)
        clock.begin_part(job)
        picture = None
        if due:
            steps = self._picture(job, film, features)
            few = film.size[0] * film.size[1] <= scheduler.MAX_MERGED_PIXELS
            picture = returned(steps) if few else (yield from steps)
            if clock.timestamped(job):
                pixels = 0 if features is self._buffers["film"] else features.size[0] * features.size[1]
                yield from clock.wait_for_end(job, pixels, not self._rasterises)
            self._samples = frame.samples
            if frame.kind.in_motion:
                before = self._in_motion if self.passes.finished().history.used else 0.0
                self._in_motion = scheduler.light_in_motion(before, frame.scale, frame.samples)
        if clean:
            noisy = yield from stepped(noisy_picture(self.renderer, film, self._buffers["film"], features))
            draft = scheduler.drafts(frame.samples, self.scheduler.rate, last)
            self.background.begin(film, frame.samples, noisy, draft)
        return picture

    def _begin(self, job: FrameJob, film: FilmBuffer, whole: tuple[int, int]) -> tuple[int, int]:
        """Make ready for a frame's film: the size that its light is upsampled to."""
        kind = job.frame.kind
        history, posed = self.passes.finished().history, self.passes.finished().posed
        if film is not self._film:
            self._samples, self._film = 0, film
            self._fit("film", film.size)
            if self.renderer.prepared.surfaces.blend:
                self._fit("edges", film.size)
            else:
                self._drop("edges")
            history.turn()  # the last picture is the history, as far as scene and settings are the same
            inputs, self._inputs = self._inputs, (self.renderer.prepared, self.renderer.settings)
            differences = None if inputs is None else changes(*inputs, *self._inputs)
            if differences is None:
                history.forget()
            history.changes = differences or Changes()
            posed.advance()
        # Light in motion and on rungs is blended with that before; at rest a film's picture is of its own samples.
        history.share = float(kind.in_motion and self.reprojects)
        size = self._affordable(film.size, whole, job.frame) if kind.preview else film.size
        if size != film.size:
            self._fit("finer", size, clear=not (self._rasterises and kind.in_motion))
        return size

    def _trace_light(self, job: FrameJob, tiles: Steps, rasterises: bool) -> Steps:
        """Light of the film's pixels; ``rasterises``: the host passes on triangles while the device is busy with it."""
        for event in tiles:
            yield event
            if rasterises and event.share > 0:
                rasterises = False
                self.gbuffer.queue_triangles(self._buffers["finer"], job.eye)
        assert not rasterises, "a run yields before its end"

    def _fill_gbuffer(
        self, job: FrameJob, film: FilmBuffer, size: tuple[int, int], at_rest: bool, clean: bool
    ) -> Generator[Event, None, Buffer]:
        """Surfaces of a film's pixels, step by step; gives the buffer of those that its light is upsampled to, which of
        a frame that is queued are rasterised later. ``at_rest``: edges have more camera rays than the film.
        ``clean``: they are for Open Image Denoise."""
        frame = job.frame
        limit = scheduler.MAX_EMITTER_SAMPLES if clean else scheduler.MAX_FEATURE_SAMPLES
        yield from self._cast_features("film", min(frame.samples, limit), job)
        more = scheduler.feature_samples(frame.samples, at_rest)
        if more > self._buffers["film"].samples or self.renderer.prepared.surfaces.blend:
            if "edges" not in self._buffers:
                self._fit("edges", film.size)
            yield from self._cast_features("edges", max(more, self._buffers["film"].samples), job)
        else:
            self._drop("edges")
        if size == film.size:
            return self._guide
        finer = self._buffers["finer"]
        if not (self._rasterises and frame.queued):
            if self._rasterises and frame.kind is FrameKind.FLIGHT:
                job.upsampling += yield from self.clock.timed(self._rasterise(finer, job))
            else:
                rays = scheduler.RUNG_RAYS if frame.kind is FrameKind.RUNG else 1
                job.upsampling += yield from self._cast_features("finer", rays, job)
        return finer

    def _picture(self, job: FrameJob, film: FilmBuffer, features: Buffer) -> Generator[Event, None, Stream]:
        """The picture of a film's light on the surfaces of ``features``, a pass or a few at a time: a stream of
        `SHOWN`, which holds until the next one."""
        reconstruction, _, _, upsampling = self.passes.finished()
        in_motion, surfaces = job.frame.kind.in_motion, features.blocks[0].stream
        if features.samples == 0:  # their triangles alone are rasterised
            self.gbuffer.queue_surfaces(features, job.eye)
            for _ in self._cast_blended(features, job):
                yield RECONSTRUCTING
        light = reconstruction.demodulate(film, self._buffers["film"], self._guide, job.eye)
        yield RECONSTRUCTING
        blended = self._reproject(job, film, light)
        yield RECONSTRUCTING
        if in_motion or features.size != film.size:  # few samples: a function of place and normal
            if not in_motion:
                light = blended = reconstruction.steady(light, job.eye, film.samples)
            fitted = yield from stepped(reconstruction.fit(light, blended, job.eye))
            began, samples = time.perf_counter(), 1
            picture = upsampling.compose(fitted, surfaces, job.eye)
        else:  # the light of least error
            best_light = yield from stepped(reconstruction.light(light, surfaces, job.eye, film.samples))
            began, samples = time.perf_counter(), film.samples
            picture = upsampling.compose(best_light, surfaces, job.eye)
        picture = upsampling.soften(picture, samples, job.white, film.blocks[0].stream, job.eye)
        if not self.scheduler.concurrent:
            self.renderer.device.wait()
        if features.size != film.size and not job.frame.queued:
            job.upsampling += time.perf_counter() - began
            rays = features.size[0] * features.size[1] * max(features.samples, 1)
            self.scheduler.upsampled.note(rays / max(job.upsampling, 1e-6))
        return picture

    def _reproject(self, job: FrameJob, film: FilmBuffer, light: Stream) -> Stream:
        """Light blended with that of the pictures before, by the motion of the camera and of deforming objects."""
        _, history, posed, _ = self.passes.finished()
        scene, surfaces, flow = self.renderer.gpu_scene, self._guide.blocks[0].stream, None
        posed.save_vertices(scene)
        if history.changes.posed and history.used and not job.eye.kind:
            flow = posed.flow(scene, light, surfaces, job.eye)
            if flow is None:
                history.forget()
        return history.blend(light, surfaces, job.eye, max(film.samples, 1), flow)

    def _affordable(self, least: tuple[int, int], whole: tuple[int, int], frame: ScheduledFrame) -> tuple[int, int]:
        """The size up to ``whole`` to which light of the size ``least`` is upsampled in its part of a frame's budget;
        at least `FINER` times as wide, and of a rung the whole."""
        pixels = whole[0] * whole[1]
        self.gbuffer.window_pixels = pixels
        self._rasterises = self.gbuffer.chosen()
        if frame.kind is FrameKind.RUNG:
            return whole
        scale = self.scheduler.upsampled.choose(pixels, (1 - self.light) * frame.budget, scheduler.FIRST_CAMERA_RATE)
        if self._rasterises:  # a smaller picture saves nothing of what the scene costs
            scale = max(scale, scheduler.MIN_RASTERISED_SCALE)
        scale = min(max(scale, scheduler.FINER * least[0] / whole[0]), 1.0)
        return max(least[0], round(whole[0] * scale)), max(least[1], round(whole[1] * scale))

    # -- features --------------------------------------------------------------------------------------------------

    @property
    def _guide(self) -> Buffer:
        """The surfaces of a film's pixels: those of its own samples, or of more, or with all that are blended."""
        return self._buffers.get("edges", self._buffers["film"])

    def _cast_features(self, name: str, samples: int, job: FrameJob) -> Generator[Event, None, float]:
        """Bring a buffer to ``samples`` by camera rays; gives the seconds that it took. Those of a frame that is queued
        are not timed."""
        buffer, frame, before = self._buffers[name], job.frame, self._buffers[name].samples
        moves = frame.kind.in_motion and not (frame.kind is FrameKind.RUNG and name == "finer")
        settings = of_motion(self.renderer.settings) if moves else self.renderer.settings
        blended: Blended = "random" if name == "film" else "layers"  # the film's samples have features of their own
        rate = self.scheduler.camera_rate
        steps = self._features.fill(buffer, samples, job.eye, rate, settings, job.first, blended)
        queued = frame.queued and name != "finer"
        spent = yield from self.clock.timed(steps, waits=not queued)
        if buffer.samples > before and not (queued or self.scheduler.concurrent):
            rays = buffer.size[0] * buffer.size[1] * (buffer.samples - before)
            self.scheduler.note_camera_rays(rays, spent)
        return spent

    def _rasterise(self, buffer: Buffer, job: FrameJob) -> Iterator[None]:
        """The features of every pixel that a preview's light is upsampled to, in one step, but for blended surfaces."""
        self.gbuffer.draw(buffer, job.eye)
        yield None
        yield from self._cast_blended(buffer, job)

    def _cast_blended(self, buffer: Buffer, job: FrameJob) -> Iterator[None]:
        """The pixels that the rasteriser has left to rays."""
        settings, rate = of_motion(self.renderer.settings), self.scheduler.camera_rate
        return self._features.fill(buffer, 1, job.eye, rate, settings, blended="unfilled")

    def _fit(self, name: str, size: tuple[int, int], clear: bool = True) -> None:
        """Have a buffer of that size, without samples; ``clear``: it is not overwritten as a whole."""
        buffer = self._buffers.get(name)
        if buffer is not None and buffer.size == size:
            buffer.samples = 0
            if clear:
                buffer.clear()
            return
        if buffer is not None:
            buffer.release()
        self._buffers[name] = Buffer(self.renderer.device, FEATURES, size)

    def _drop(self, name: str) -> None:
        if name in self._buffers:
            self._buffers.pop(name).release()

    # -- pictures that are there -----------------------------------------------------------------------------------

    @property
    def warps(self) -> bool:
        """Whether there is a picture of this scene that can be warped to where the camera is."""
        passes = self.passes.compiled_passes
        there = passes is not None and passes.upsampling.there
        there = there and not self.renderer.camera.kind  # a warp is projective
        return there and self._inputs is not None and self._inputs[0] is self.renderer.prepared

    @property
    def distance(self) -> float:
        """How far the camera is from where the picture made last was seen, as a share of the scene's diagonal."""
        prepared = self.renderer.prepared
        if self._extent is None or self._extent[0] is not prepared:
            low, high = prepared.scene.bounds()
            self._extent = prepared, max(float(np.linalg.norm(high - low)), 1e-30)
        return self.passes.finished().upsampling.distance(self.renderer.camera) / self._extent[1]

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the picture made last."""
        return self.passes.finished().upsampling.size

    def warp(self, target: Stream) -> None:
        """Draw the picture made last as the renderer's camera sees it now, to a stream of `SHOWN` of any size."""
        with self.renderer.device.current():
            self.passes.finished().upsampling.warp(self.renderer.camera, target)

    def release(self) -> None:
        """Free buffers and streams."""
        with self.renderer.device.current():
            for buffer in self._buffers.values():
                buffer.release()
            self._features.release()
            self.gbuffer.release()
            self.passes.release()
            self.background.release()
        self._buffers.clear()
        self._film = self._inputs = None
