"""The frames of a renderer, a step at a time: its shaders first, then tiles, and of a preview its reconstruction."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from raystream.film.device_film import FilmBuffer
from raystream.film.error import Stop
from raystream.options.declare import Affects
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview import scheduler
from raystream.renderer.preview.frame import FrameClock, FrameJob, Screen, Steps
from raystream.renderer.preview.motion import of_motion
from raystream.renderer.preview.preview import Preview, PreviewPasses
from raystream.renderer.preview.scheduler import Pacing, ScheduledFrame, Scheduler, stream_shape
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.picture import read_back_tile
from raystream.renderer.sampling.sampler import Event, FramePlan, TileDone, TilePass, Tiling
from raystream.scene.camera import Camera
from raystream.stream.gl.objects import Timestamp
from raystream.stream.gl.stream import Stream

# -- compilation before a session on a screen goes on, in small steps --------------------------------------------------


class Warmup:
    """Shaders of tiles of a size (width, height), of the preview, and, while there is time, of light in flight.

    compiling : the program whose shaders the next step compiles; empty: none.
    """

    def __init__(self, renderer: RendererParts, tile: tuple[int, int], counting: bool) -> None:
        self.renderer, self.tile, self.counting = renderer, tile, counting
        self.compiling = ""
        self._steps: tuple[Settings, Iterator[float]] | None = None
        self._seconds = 0.0  # that the last shaders took
        self._quick_steps: tuple[Settings, Iterator[float]] | None = None

    def ready(self, preview: Preview | None) -> bool:
        """Whether nothing is left to compile."""
        return self._compiled(self.renderer.settings, self.tile) and (preview is None or preview.ready)

    def _compiled(self, settings: Settings, tile: tuple[int, int]) -> bool:
        """Whether tiles of that size need no shader that is still to be compiled."""
        return self.renderer.sampler.ready(settings, self.renderer.camera, tile, self.counting)

    def _compile(self, settings: Settings, tile: tuple[int, int]) -> Iterator[float]:
        """Compile the shaders of tiles of that size."""
        return self.renderer.sampler.warm(settings, self.renderer.camera, tile, self.counting)

    def step(self, preview: Preview | None) -> None:
        """Compile one of the shaders, or some that take no time; none the first time, when it is only told. Raises
        ViewerError."""
        settings = self.renderer.settings
        if not self.compiling:
            self.compiling = settings.program
            return
        if self._steps is None or _compiles(self._steps[0], settings):
            self._steps, self._seconds = (settings, self._shaders(preview)), 0.0
        began = time.perf_counter()
        while self._steps is not None and time.perf_counter() - began < scheduler.COMPILED:
            if next(self._steps[1], None) is None:
                self._steps = None
            elif self.renderer.device.compiler.busy:
                time.sleep(scheduler.POLL_COMPILING)
                break
        self._seconds += time.perf_counter() - began

    def _shaders(self, preview: Preview | None) -> Iterator[float]:
        jobs: deque[Iterator[float]] = deque()
        if not self._compiled(self.renderer.settings, self.tile):
            jobs.append(self._compile(self.renderer.settings, self.tile))
        if preview is not None and not preview.ready:
            jobs.append(preview.warm())
        while jobs:
            fraction = next(jobs[0], None)
            if fraction is None:
                jobs.popleft()
                continue
            if self.renderer.device.compiler.busy:  # in the driver's threads: meanwhile the next is begun
                jobs.rotate(-1)
            yield fraction

    # -- light of few pixels, in flight ----------------------------------------------------------------------------

    @property
    def quick(self) -> Settings | None:
        """The settings of light of few pixels while the camera moves, where a machine of its own serves it best: of a
        software driver, which waits for every pass, one that has a single pass."""
        settings = self.renderer.settings
        if not self.renderer.device.software or settings.picture_program.maps_photons:
            return None
        return of_motion(settings).replace(machine="singlepass")

    @property
    def quick_ready(self) -> bool:
        """Whether that machine is compiled."""
        quick = self.quick
        return quick is not None and self._compiled(quick, scheduler.QUICK)

    def step_quick(self) -> bool:
        """Compile one of that machine's shaders; whether there was any that does not take too long."""
        quick = self.quick
        if quick is None or self._seconds > scheduler.MAX_COMPILE or self._compiled(quick, scheduler.QUICK):
            return False
        if self._quick_steps is None or _compiles(self._quick_steps[0], quick):
            self._quick_steps = quick, self._compile(quick, scheduler.QUICK)
        if next(self._quick_steps[1], None) is None:
            self._quick_steps = None
        return True

    # -- interruptions ---------------------------------------------------------------------------------------------

    def done(self) -> None:
        """All is compiled."""
        self._steps, self.compiling = None, ""

    def pause(self) -> None:
        """Others may compile meanwhile."""
        self._steps = None

    def forget(self) -> None:
        """Another scene, or other shaders."""
        self._steps = self._quick_steps = None
        self.compiling = ""


def _compiles(before: Settings, now: Settings) -> bool:
    """Whether other shaders may be needed."""
    return any(affects.compiles for affects in before.differences(now).values())


# -- the frames of a renderer, a step at a time ------------------------------------------------------------------------


class ShownPicture:
    """Shows pictures on a screen; the context need not be current.

    shown : camera and size of the picture on show. denoiser, samples : by which and of how many it is, where it is the
    whole one. white : luminance that the screen displays as white. warped : pictures so far that were warped to the
    camera.
    """

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.shown: tuple[Camera, tuple[int, int]] | None = None
        self.denoiser, self.samples = "none", 0
        self.white = 1.0
        self.warped = 0
        self._since = -math.inf  # when the picture on show came
        self._warping: tuple[Timestamp, Timestamp] | None = None  # when the device began and ended the last warped one
        self._warp_seconds = 0.0  # that one took

    def begin(self, job: FrameJob, size: tuple[int, int], fresh: bool) -> None:
        """A frame begins: samples for the picture on show; ``fresh``: for a new one, of (width, height)
        pixels, or its preview."""
        if fresh:
            self.denoiser, self.samples = "none", 0
            self.screen.begin(job.frame.size, job.frame.kind.preview)
        if not job.frame.kind.preview:
            self.shown = job.camera, size

    def picture(self, picture: Stream, denoiser: str, samples: int) -> None:
        """The picture of the frame in progress, or of the film on show, by a denoiser, of ``samples``."""
        self.screen.show(picture)
        self.denoiser, self.samples = denoiser, samples

    def end(self, job: FrameJob) -> None:
        """The frame is complete."""
        self.screen.end()
        if not job.denoised:
            self.samples = job.frame.samples
        if job.frame.kind.preview:
            self.shown = job.camera, job.frame.size
        self._since = time.perf_counter()

    def follow(self, preview: Preview, scheduler: Scheduler, pictures: int, size: tuple[int, int]) -> None:
        """Show the last picture as the moving camera sees it by now, where that is due. pictures : traced so far. size
        : of the whole picture, pixels."""
        with preview.renderer.device.current():  # the duration of the last warped picture, which was not waited for
            if self._warping is not None and self._warping[1].ready:
                self._warp_seconds = self._warping[1].seconds - self._warping[0].seconds
                self._warping = None
        if not preview.warps or (self.shown is not None and self.shown[0] == preview.renderer.camera):
            return
        if scheduler.warps(pictures, time.perf_counter() - self._since, preview.distance):
            seconds = self._warp(preview, size)
            scheduler.note_warp(pictures, self._warp_seconds if seconds is None else seconds)

    def _warp(self, preview: Preview, size: tuple[int, int]) -> float | None:
        """The seconds that it took, where it was waited for."""
        device, began = preview.renderer.device, time.perf_counter()
        with device.current():
            moment = Timestamp(device) if device.concurrent else None
            self.screen.warp(preview.size, preview.warp)  # of no more pixels than the picture has
            if moment is None:
                device.wait()
            elif self._warping is None:
                self._warping = moment, Timestamp(device)
        self.shown, self.warped, self._since = (preview.renderer.camera, size), self.warped + 1, time.perf_counter()
        return self._since - began if moment is None else None


TIMED = frozenset({Affects.NOTHING, Affects.MACHINE, Affects.PROGRAM, Affects.STRUCTURE})  # what speed depends on


class FrameRunner:
    """Makes one frame at a time, for a screen or for the film alone.

    job : the frame in progress. clock : the costs of its steps. tile : streams of tiles (width, height); None: as large
    as streams may be. linear : without a screen the picture (H, W, 3) of a program that adds no samples.
    """

    def __init__(
        self,
        renderer: RendererParts,
        scheduler: Scheduler,
        on_screen: ShownPicture | None,
        counting: bool = False,
        bounce: int | None = None,
        layers: dict[str, NDArray] | None = None,
        passes: PreviewPasses | None = None,
    ) -> None:
        """counting, bounce, layers : as of `Session`. on_screen : None: for the film alone. passes : see `Preview`."""
        self.renderer, self.scheduler, self.on_screen = renderer, scheduler, on_screen
        self.counting, self.bounce, self.layers = counting, bounce, layers or {}
        self.job: FrameJob | None = None
        self.clock = FrameClock(renderer.device, scheduler)
        self.linear = np.zeros((1, 1, 3), np.float32)
        self.tile: tuple[int, int] | None = None
        self._preview: Preview | None = None
        self._warmup: Warmup | None = None
        if on_screen is not None:
            self.tile = stream_shape(renderer.device.software)
            self._preview = Preview(renderer, self.clock, passes)
            self._warmup = Warmup(renderer, self.tile, counting)
        self.reset_timing()

    def reset_timing(self) -> None:
        """Another program or scene: the time that pictures take is not known."""
        concurrent = self.on_screen is not None and self.renderer.device.concurrent
        self.scheduler.reset(self.tile[1] if self.tile is not None else 1, concurrent)

    def note_changes(self, before: PreparedScene, differences: Mapping[str, Affects]) -> None:
        """Scene or settings have changed: measured times may not hold."""
        if not TIMED.isdisjoint(differences.values()) or _size(self.renderer.prepared) != _size(before):
            self.reset_timing()

    @property
    def preview(self) -> Preview | None:
        """The denoiser of the pictures on the screen; None where they are shown as they are."""
        settings = self.renderer.settings
        program = settings.picture_program
        reconstructs = settings.denoise != "none" and program.noisy and program.demodulates
        return self._preview if reconstructs else None

    # -- shaders ---------------------------------------------------------------------------------------------------

    @property
    def compiling(self) -> str:
        """The program whose shaders are compiled next; empty: none."""
        return self._warmup.compiling if self._warmup is not None else ""

    def compile(self, whole: tuple[int, int], spare: bool) -> bool:
        """Compile a shader, on a screen; whether there was one, or will be next, in place of a frame. whole : (width,
        height) of the picture there. spare : there is time for those of the next flight. Raises ViewerError."""
        warmup, preview = self._warmup, self.preview
        if warmup is None:
            return False
        if preview is not None:
            preview.gbuffer.window_pixels = whole[0] * whole[1]
        if not warmup.ready(preview):
            warmup.step(preview)
            return True
        warmup.done()
        return spare and preview is not None and warmup.step_quick()

    def pause(self) -> None:
        """No frame is begun: others may compile meanwhile."""
        if self._warmup is not None:
            self._warmup.pause()

    # -- a frame ---------------------------------------------------------------------------------------------------

    def begin(
        self, frame: ScheduledFrame, film: FilmBuffer | None, whole: tuple[int, int], stop: Stop, fresh: bool
    ) -> None:
        """Begin a frame. film : that it adds to. whole : (width, height) of the picture on the screen. stop : the rules
        of its samples. ``fresh``: of another picture than the one on show."""
        renderer, preview = self.renderer, self.preview
        # Samples of a film that goes on at rest are its own; those of others follow each other from picture to picture.
        first = preview.numbers(frame.samples) if preview is not None and frame.kind.in_motion else 0
        self._pose(frame)
        white = self.on_screen.white if self.on_screen is not None else 1.0
        job = FrameJob(frame, renderer.camera.with_picture_size(whole), film, first, white)
        if self.on_screen is not None:
            self.on_screen.begin(job, whole, fresh)
        elif film is None:
            self.linear = np.zeros((*frame.size[::-1], 3), np.float32)
        job.steps = tiles = self._tiles(job, stop)
        if preview is not None and film is not None:
            job.denoised = True
            job.steps = self._reconstructed(job, preview, tiles, whole, stop.spp)
        self.job = job
        self.clock.begin()

    def _pose(self, frame: ScheduledFrame) -> None:
        """Deforming objects are posed before the frame's time is taken: that costs the same for a picture of
        any size."""
        device = self.renderer.device
        with device.current():
            self.renderer.gpu_scene.resources.update_computed_tables()
            if self.renderer.gpu_scene.deformer is not None and not (frame.queued or self.scheduler.concurrent):
                device.wait()

    def _tiles(self, job: FrameJob, stop: Stop) -> Steps:
        """The tiles of a frame, as its sampler traces them."""
        renderer, frame, warmup = self.renderer, job.frame, self._warmup
        settings, tile, rows = renderer.settings, self.tile, self.scheduler.tile_rows.next
        if frame.kind.in_motion:
            settings = of_motion(renderer.settings)
            if frame.pacing is not Pacing.STEP and warmup is not None and warmup.quick_ready:
                settings, tile, rows = warmup.quick or settings, scheduler.QUICK, lambda: scheduler.QUICK[1]
            elif frame.queued and tile is not None:
                rows = partial(int, tile[1])  # draws are as long as they may be, whatever the tile
        plan = FramePlan(
            settings,
            job.eye,
            frame.size,
            samples=frame.samples,
            first_sample=job.first,
            bounce=self.bounce,
            error_goal=stop.error,
            photon_part=scheduler.PHOTON_PART if frame.kind.preview and frame.scale < 1 else 1,
            tiling=None if tile is None else Tiling(tile, rows),
            layers=tuple(self.layers),
            counting=self.counting,
        )
        return renderer.sampler.render_tiles(plan, job.film)

    def _reconstructed(self, job: FrameJob, preview: Preview, tiles: Steps, whole: tuple[int, int], most: int) -> Steps:
        """The steps of a frame that is shown denoised."""
        picture = yield from preview.frame(job, tiles, whole, most)
        if picture is not None and self.on_screen is not None:
            self.on_screen.picture(picture, "shader", job.frame.samples)

    def step(self) -> Event | None:
        """One step of the frame in progress: a pass of a machine, or a tile that is done; None: it has ended."""
        job = self.job
        assert job is not None, "a step of no frame"
        event = self.clock.step(job, waits=self.on_screen is not None)
        job.under_way = event.tile if isinstance(event, TilePass) else None
        if isinstance(event, TileDone) and self.on_screen is not None and self.appearing:
            self.on_screen.screen.put(event.tile)
        elif isinstance(event, TileDone) and self.on_screen is None and job.film is None:
            read_back_tile(event.tile, self.renderer.device, self.renderer.prepared, self.linear, self.layers)
        return event

    @property
    def appearing(self) -> bool:
        """Whether tiles are shown as soon as they are done."""
        return self.on_screen is not None and self.job is not None and not self.job.denoised

    def end(self) -> FrameJob:
        """The frame that has ended, which is on show; its costs are the scheduler's."""
        job, self.job = self.job, None
        assert job is not None, "the end of no frame"
        if self.on_screen is not None:
            self.on_screen.end(job)
        self.clock.note(job)
        return job

    def drop(self, film_on_show: FilmBuffer | None) -> None:
        """Drop the frame in progress, with its film unless that is ``film_on_show``."""
        job, self.job = self.job, None
        if job is None:
            return
        if job.frame.kind.preview and self.on_screen is not None:
            self.on_screen.screen.drop()
        job.steps.close()
        if job.film is not None and job.film is not film_on_show:
            free(job.film)

    def abandon(self, film_on_show: FilmBuffer | None) -> None:
        """And its compiled programs: another scene, or other shaders."""
        self.drop(film_on_show)
        if self._warmup is not None:
            self._warmup.forget()

    # -- a film that is there --------------------------------------------------------------------------------------

    def refilter(self, film: FilmBuffer) -> bool:
        """Show a film's picture as it is denoised by now; whether that takes a frame of its own."""
        if self._preview is not None:
            self._preview.forget()
        if self.preview is None and self.on_screen is not None:
            self.on_screen.picture(film.blocks[0].stream, "none", film.samples)
        return self.preview is not None

    def owes(self, film: FilmBuffer | None, samples: int) -> bool:
        """Whether Open Image Denoise is still to make the picture of a film's ``samples``."""
        preview = self.preview
        return film is not None and preview is not None and preview.cleans and preview.background.owes(film, samples)

    def show_denoised(self, film: FilmBuffer | None) -> bool:
        """Show that film's picture by Open Image Denoise, if another one has come; whether it has. Raises ViewerError
        where that fails."""
        preview = self.preview
        picture = preview.cleaned(film) if preview is not None and film is not None else None
        if preview is None or picture is None or self.on_screen is None:
            return False
        with self.renderer.device.current():
            self.on_screen.picture(picture, "oidn", preview.background.samples)
        return True

    def release(self, film_on_show: FilmBuffer | None) -> None:
        """Free the preview's buffers, and the film of a frame in progress unless it is ``film_on_show``."""
        self.drop(film_on_show)
        if self._preview is not None:
            self._preview.release()
            self._preview = None


def _size(prepared: PreparedScene) -> tuple[str, int]:
    """The key of measured speeds: the same after motion, though a structure is rebuilt."""
    return prepared.structure.name, prepared.scene.triangle_count


def free(buffer: FilmBuffer) -> None:
    """Give a film back."""
    with buffer.device.current():
        buffer.release()
