"""A session: one picture on its way to convergence, whoever asks for it and wherever it is shown.

The window, the command line and others drive it: they call `advance` as often as they like, and read how far it is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viewer.base.lock import FairLock, exclusive
from viewer.film.error.stop import Stop, bound
from viewer.film.files.checkpoint import Checkpoint
from viewer.film.film import Film
from viewer.film.layers import NOISY
from viewer.options.declare import Affects
from viewer.renderer.device.tile_job import Tile
from viewer.renderer.inputs.prepared import Prepared
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.preview.frame import FrameJob, Steps
from viewer.renderer.preview.motion import of_motion
from viewer.renderer.preview.preview import Preview
from viewer.renderer.preview.scheduler import QUICK, SETTLED, Frame, OnShow, Scheduler, stream_shape
from viewer.renderer.preview.screen import Screen
from viewer.renderer.sampling.denoising import check_denoiser
from viewer.renderer.sampling.frame_plan import PhotonMapBuilt, PhotonMapProgress, TileDone, TileUnderWay, Tiling
from viewer.renderer.sampling.parts import RendererParts
from viewer.renderer.sampling.picture import Picture, Report, collect
from viewer.renderer.sampling.picture_metadata import picture
from viewer.renderer.session.progress import ProgressEstimate
from viewer.renderer.session.session_film import SessionFilm, free
from viewer.renderer.session.shown_picture import ShownPicture
from viewer.renderer.session.warmup import Warmup
from viewer.scene.camera import Camera
from viewer.scene.scene import Scene
from viewer.stream.machines.counters import Stats

TIMED = frozenset({Affects.NOTHING, Affects.MACHINE, Affects.PROGRAM, Affects.STRUCTURE})  # what speed depends on


class Session:
    """Pictures of a scene, on a ``screen``: first a preview that is quick enough to follow the hand, at rest the full
    size, to which a progressive program then adds samples until a rule says stop. Without a screen the film alone is
    filled, in tiles as large as streams may be.

    renderer : a renderer; None: see `use`. size : of the picture, (width, height) pixels. stop : the rules, of
    progressive programs. film : of the same picture, to go on from. state : where it is saved, when that is due and
    where `finish` is interrupted. counting : every pass, see `Stats`. layers : arrays by name that a program without a
    film fills beside the colour, see `viewer.film.layers`. bounce : only light of paths of this length counts.

    complete : the picture on show is the whole one, whatever the number of its samples. converged : and needs no more.
    progress : of the picture or the samples in progress, 0 .. 1. samples : of every pixel of the picture on show.
    error : its estimated relative error. reason : the rule that has said stop. scale : of the picture on show.
    seconds : of tracing in the last picture; total_seconds : in the samples on show. pictures, steps : so far.
    stats : of all runs.
    """

    def __init__(
        self,
        renderer: RendererParts | None = None,
        size: tuple[int, int] = (1, 1),
        stop: Stop | None = None,
        *,
        screen: Screen | None = None,
        film: Film | None = None,
        state: Checkpoint | None = None,
        counting: bool = False,
        layers: dict[str, NDArray] | None = None,
        bounce: int | None = None,
    ) -> None:
        self.renderer: RendererParts | None = None
        self.size = (max(1, size[0]), max(1, size[1]))
        self.stop, self.screen, self.layers = stop or Stop(1), screen, layers or {}
        self.counting, self.bounce, self.state = counting, bounce, state
        self.complete = self.converged = True
        self.progress = self.scale = 1.0
        self.samples = self.pictures = self.steps = 0
        self.error, self.reason, self.seconds, self.total_seconds = math.inf, "", 0.0, 0.0
        self.stats = Stats()
        self.tile: tuple[int, int] | None = None
        self.scheduler = Scheduler(interactive=screen is not None)
        self.device_film = SessionFilm()  # of the picture on show, where samples are added to it
        self.on_screen = ShownPicture(screen) if screen is not None else None
        self._preview: Preview | None = None
        self._warmup: Warmup | None = None
        self._progress: ProgressEstimate | None = None  # of who waits in `finish`
        self._job: FrameJob | None = None  # in progress
        self._cast = np.zeros((1, 1, 3), np.float32)  # without a screen: the picture of a program that adds no samples
        self._without = FairLock()  # a renderer
        self._changed = self._failed = self._moving = False
        self._refilters = False  # the next frame adds no samples: the film that there is is denoised
        self._began = time.perf_counter()
        if renderer is not None:
            self.use(renderer)
            if screen is None:
                self._fill(renderer, film)

    @exclusive
    def use(self, renderer: RendererParts) -> None:
        """Show another renderer's scene; the picture of the old one stays until the new one has its first."""
        self.renderer = renderer
        if self._preview is not None:
            self._preview.release()
        if self.screen is not None:
            self.tile = stream_shape(renderer.device.software)
            self._preview = Preview(renderer, self.scheduler)
            self._warmup = Warmup(renderer, self.tile, self.counting)
        self.reset_timing()
        self.abandon()

    def _fill(self, renderer: RendererParts, film: Film | None) -> None:
        """Without a screen the film is the picture, and complete from the start: samples are added to it."""
        self._changed, self.complete = False, True
        if not renderer.progressive:
            self._cast = np.zeros((*self.size[::-1], 3), np.float32)
            self.converged = False
            return
        buffer = self.device_film.blank(renderer.device, self.size, film)
        self.device_film.take(buffer)
        if self.stop.error is None or not renderer.settings.adaptive:
            with renderer.device.current():
                buffer.even()
        self.samples = buffer.samples
        if self.stop.looks(self.samples):
            self.error = self.device_film.error()
        self.converged = self._enough()

    # -- what is on show -------------------------------------------------------------------------------------------

    @property
    def lock(self) -> FairLock:
        """The renderer's: while one thread works on a session, or on its renderer, the others wait for their turn."""
        return self.renderer.lock if self.renderer is not None else self._without

    @property
    def rate(self) -> float:
        """Samples a second, of the last pictures."""
        return self.scheduler.rate

    @property
    def compiling(self) -> str:
        """The program whose shaders the next step compiles; empty: none."""
        return self._warmup.compiling if self._warmup is not None else ""

    @property
    def shown(self) -> tuple[Camera, tuple[int, int]] | None:
        """Camera and size of the picture on show."""
        return self.on_screen.shown if self.on_screen is not None else None

    @property
    def warped(self) -> int:
        """Pictures so far that were warped to the camera between two that were traced."""
        return self.on_screen.warped if self.on_screen is not None else 0

    @property
    def preview(self) -> Preview | None:
        """What denoises the pictures on the screen; None where they are shown as they are."""
        settings = self._used.settings
        program = settings.picture_program
        wanted = settings.denoise != "none" and program.noisy and program.demodulates
        return self._preview if wanted else None

    @property
    def previewing(self) -> bool:
        """Whether a preview is in progress, which must see the scene as it was when it began."""
        return self._job is not None and self._job.frame.preview

    @property
    def under_way(self) -> Tile | None:
        """The tile of the picture on show that a machine works on."""
        return None if self._job is None or self._job.frame.preview else self._job.under_way

    @property
    def running(self) -> bool:
        """Whether a frame is in progress: nothing else may run on the renderer meanwhile."""
        return self._job is not None

    @exclusive
    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3) float32 linear sRGB of the picture on show, row 0 at the top."""
        if self.on_screen is not None:
            return self.on_screen.linear()
        film = self.film()
        return self._cast if film is None else film.linear

    @exclusive
    def film(self) -> Film | None:
        """The film of the picture on show, read back from the device; None for a program that adds no samples."""
        return self.device_film.read(settled=self._job is None)

    @exclusive
    def picture(self) -> Picture:
        """The picture on show, with its film, and all facts of how it was made."""
        seconds, film = time.perf_counter() - self._began, self.film()
        made = picture(self._used, self.linear(), film, self.stats, self.reason, seconds)
        if self.screen is not None and self.preview is not None and film is not None and self.complete:
            made.layers[NOISY.name] = film.linear
            made.metadata["denoised"] = self._used.settings.denoise.replace("auto", "shader")
        return made

    def report(self) -> tuple[float, str]:
        """The share that is done, and a text: of a progressive program with the samples that every pixel has."""
        width, height = self.size
        if not self._used.progressive:
            return self.progress, f"rendering {width} x {height}"
        job, samples = self._job, self.samples
        traced = samples + (self.progress * job.frame.added if job is not None else 0.0)
        if job is not None and job.film is not None:
            samples = max(samples, job.film.samples)  # those of a frame in progress that all pixels have are kept
        return (self._progress or ProgressEstimate()).report(
            self.stop, samples, traced, time.perf_counter() - self._began
        )

    @property
    def _used(self) -> RendererParts:
        assert self.renderer is not None, "a session without a renderer"
        return self.renderer

    # -- change ----------------------------------------------------------------------------------------------------

    @exclusive
    def update(
        self, scene: Scene | Prepared | None = None, settings: Settings | None = None, **changes: Any
    ) -> Affects:
        """`Renderer.update`, after which the picture begins anew where anything has changed.

        A preview under way is finished first, unless the scene has changed: it is nearly there. Raises what that
        raises; then nothing has changed, and the picture goes on.
        """
        renderer = self._used
        if "denoise" in changes:
            check_denoiser(renderer.settings.replace(denoise=changes["denoise"]))
        before, were, version = renderer.prepared, renderer.settings, renderer.gpu_scene.version
        affected = renderer.update(scene, settings, **changes)
        differences = were.differences(renderer.settings)
        if not TIMED.isdisjoint(differences.values()) or _size(renderer.prepared) != _size(before):
            self.reset_timing()
        if renderer.gpu_scene.version != version:
            self.abandon()
        elif differences.keys() == {"denoise"} and self.complete and self.device_film.buffer is not None:
            self._refilter()  # the film goes on
        elif differences:
            self.restart()
        return affected

    def resize(self, size: tuple[int, int]) -> None:
        """Another size, (width, height) pixels; that of a minimised window is ignored."""
        if size != self.size and min(size) > 0:
            self.size = size
            self.restart()

    def stop_at(self, samples: int, error: float | None) -> None:
        """Other rules: samples of a pixel, and estimated relative error (0 or None: none). What is there stays."""
        self.stop = replace(self.stop, spp=samples, error=error or None, _looked=0)
        if self.complete:
            self.converged = self._enough()

    def reset_timing(self) -> None:
        """Another program or scene: the time that pictures take is not known."""
        self.scheduler.reset(self.tile[1] if self.tile is not None else 1)

    @exclusive
    def restart(self) -> None:
        """Begin the picture anew. A preview in motion is finished first: it is nearly there."""
        self._changed, self.complete, self.converged, self.progress = True, False, False, 0.0
        self.samples, self.error, self.total_seconds, self.reason = 0, math.inf, 0.0, ""
        self._failed, self._began = False, time.perf_counter()
        if self._job is not None and (not self._job.frame.preview or self._job.frame.at_rest):
            self._drop()
        self.device_film.release()

    @exclusive
    def abandon(self) -> None:
        """Begin the picture anew; runs in progress are of no use."""
        self._drop()
        if self._warmup is not None:
            self._warmup.forget()
        self.restart()

    def fail(self) -> None:
        """The picture cannot be made; the one on show stays until something changes."""
        self._drop()
        self._failed = True
        if self._warmup is not None:
            self._warmup.done()

    def _refilter(self) -> None:
        """Another denoiser, or none, of the same film."""
        film = self.device_film.buffer
        last = self.converged and self._used.settings.denoise == "oidn"
        if self.preview is None or last or film is None:
            self._show_film()
            return
        self.preview.forget()
        self.converged, self._refilters = False, True

    def _show_film(self) -> None:
        """The picture on the screen is the film's own, or of a film that is complete the one of Open Image Denoise."""
        film, preview = self.device_film.buffer, self._preview
        if film is None or preview is None or self.on_screen is None:
            return
        with film.device.current():
            clean = preview.last(film) if self.converged and self._used.settings.denoise == "oidn" else None
            self.on_screen.picture(clean or film.blocks[0].stream)

    # -- work ------------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether `advance` has nothing to do."""
        return (self.complete and self.converged) or self.renderer is None or self._failed

    def waiting(self, moving: bool) -> bool:
        """Whether `advance` has nothing to do as long as the camera moves no further."""
        return self.idle or (moving and self._job is None and not self._changed)

    @exclusive
    def advance(self, budget: float, moving: bool = False, begin: bool = True) -> None:
        """Trace until ``budget`` seconds are over. While the camera is ``moving`` only previews are made. Without
        ``begin`` the frame in progress is ended, and no other begun.

        On a screen it returns before shaders are compiled, so that `compiling` can be shown, and after each of them.
        Raises ViewerError where they do not compile.
        """
        began, self._moving = time.perf_counter(), moving
        while not self.waiting(moving):
            if self._job is None:
                if not begin:
                    if self._warmup is not None:
                        self._warmup.pause()
                    return
                if self._compiles():
                    return
                self._job = self._begin(budget)
            self._step(self._job)
            left = budget - (time.perf_counter() - began)
            if left < (0 if self._job is None else self.scheduler.tile_rows.expected):
                self._warp()
                return

    @exclusive
    def finish(self, converged: bool = True, progress: Report | None = None) -> None:
        """Trace until all samples are there; not ``converged``: until all pixels of the full picture have as many.

        progress : called with the share that is done and a text. Interrupted by Ctrl-C it saves its state, where that
        is worth it.
        """
        self._progress = ProgressEstimate() if progress is not None else None
        with self.saving():
            while not self.idle and (converged or not self.complete or self._job is not None):
                self.advance(0.0)  # a step at a time
                if progress is not None:
                    progress(*self.report())

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Save the state where Ctrl-C ends what is done here, if that is worth it."""
        try:
            yield
        except KeyboardInterrupt:
            film = self.film() if self.state is not None and self.state.worth(self.size) else None
            if self.state is not None and film is not None and film.count.any():
                self.state.save(film)
            raise

    def _compiles(self) -> bool:
        """Whether a shader was compiled, or will be next, in place of a frame."""
        warmup, preview = self._warmup, self.preview
        if warmup is None:
            return False
        if not warmup.ready(preview):
            warmup.step(preview)
            return True
        warmup.done()
        settled = self.complete and not self._moving and self.samples >= SETTLED
        return settled and preview is not None and warmup.step_quick()

    # -- a frame ---------------------------------------------------------------------------------------------------

    def _begin(self, budget: float) -> FrameJob:
        """The next frame, as the scheduler has it."""
        if self._refilters and self.complete and self.device_film.buffer is not None:
            frame = Frame(self.size, 1.0, self.samples, 0)
        else:
            frame = self.scheduler.next(self._on_show(), budget)
        self._refilters = False
        renderer, preview, film = self._used, self.preview, self.device_film.buffer
        if not self.complete:
            self._changed = self._changed and not frame.preview
            film = self.device_film.blank(renderer.device, frame.size) if renderer.progressive else None
        # Samples of a film that goes on at rest are its own; those of others follow each other from picture to picture.
        first = preview.numbers(frame.samples) if preview is not None and frame.in_motion else 0
        job = FrameJob(frame, renderer.camera, film, first)
        if self.on_screen is not None:
            if not self.complete:
                self.on_screen.begin(job)
            if not frame.preview:
                self.on_screen.shown = job.camera, self.size
        job.steps = tiles = self._tiles(job)
        if preview is not None and film is not None:
            job.denoised = True
            job.steps = self._reconstructed(job, preview, tiles)
        return job

    def _on_show(self) -> OnShow:
        renderer, preview = self._used, self.preview
        left = math.inf if self.stop.seconds is None else self.stop.seconds - (time.perf_counter() - self._began)
        return OnShow(
            self.size,
            self._changed,
            self.complete,
            self.samples,
            self.stop.spp if renderer.progressive else 1,
            left,
            self._moving,
            renderer.progressive,
            preview is not None,
            preview.light if preview is not None else 1.0,
            preview is not None and preview.warps,
            self.scale,
        )

    def _tiles(self, job: FrameJob) -> Steps:
        """The tiles of a frame, as its sampler traces them."""
        renderer, frame, warmup = self._used, job.frame, self._warmup
        settings, tile, rows = renderer.settings, self.tile, self.scheduler.tile_rows.next
        if frame.in_motion:
            settings = of_motion(renderer.settings)
            if frame.together and warmup is not None and warmup.quick_ready:
                settings, tile, rows = warmup.quick or settings, QUICK, lambda: QUICK[1]
        plan = renderer.plan(
            frame.size,
            settings=settings,
            camera=job.eye,
            samples=frame.samples,
            first_sample=job.first,
            bounce=self.bounce,
            error_goal=self.stop.error,
            rough_photons=frame.preview and frame.scale < 1,
            tiling=None if tile is None else Tiling(tile, rows),
            layers=tuple(self.layers),
            counting=self.counting,
        )
        return renderer.sampler.render_tiles(plan, job.film)

    def _reconstructed(self, job: FrameJob, preview: Preview, tiles: Steps) -> Steps:
        """The steps of a frame that is shown denoised."""
        made = yield from preview.frame(job, tiles, self.size, self.stop.spp)
        if made is not None and self.on_screen is not None:
            self.on_screen.picture(made)

    def _step(self, job: FrameJob) -> None:
        """One step of a frame: a pass of a machine, or a tile that is done."""
        began, renderer = time.perf_counter(), self._used
        self.steps += 1
        event = next(job.steps, None)
        job.under_way = event.tile if isinstance(event, TileUnderWay) else None
        if isinstance(event, TileDone):
            self._take(job, event.tile)
        if self.screen is not None and not job.frame.queued:
            renderer.device.wait()  # or the driver queues more than a frame's worth
        seconds = time.perf_counter() - began
        job.spent += seconds
        if isinstance(event, PhotonMapProgress | PhotonMapBuilt):
            job.mapping += seconds  # the same for a picture of any size
        elif job.tracing and not job.frame.together:
            self.scheduler.tile_rows.note(seconds)
        if event is not None:
            self.progress = event.share
            return
        self._end(job)

    def _take(self, job: FrameJob, tile: Tile) -> None:
        """A tile is done."""
        renderer = self._used
        if self.on_screen is not None and not job.denoised:
            self.on_screen.tile(tile)
        elif not renderer.progressive:
            collect(tile, renderer.device, renderer.prepared, self._cast, self.layers)
        self.stats.add(tile.machine.stats)

    def _end(self, job: FrameJob) -> None:
        frame = job.frame
        if self.on_screen is not None:
            self.on_screen.end(job)
        self._job, self.scale, self.seconds = None, frame.scale, max(job.spent, 1e-6)
        self.pictures += 1
        self.scheduler.note_frame(frame, self.seconds, job.mapping + job.upsampling)
        self.samples, self.complete = frame.samples, frame.scale == 1.0 and not (self._changed or frame.in_motion)
        self.device_film.take(job.film)
        if not self.complete:
            self.device_film.release()  # a preview's
        watched = self.screen is not None or self.stop.looks(self.samples)
        self.error = self.device_film.error() if watched else math.inf
        told = self._progress
        if told is not None and told.looks(self.samples, time.perf_counter() - self._began, watched):
            noise = self.error if watched else self.device_film.error()
            told.see(self.samples, noise, self.device_film.relative_std_error)
        self.total_seconds += self.seconds
        self.converged = self.complete and self._enough()
        if self.converged and job.denoised:
            self._show_converged()
        if self.state is not None and self.state.due() and (film := self.film()) is not None:
            self.state.save(film)

    def _show_converged(self) -> None:
        """The last picture: by its own samples alone."""
        if self._used.settings.denoise == "oidn":
            self._show_film()
        elif self.preview is not None and self.preview.blended:
            self._refilter()

    def _enough(self) -> bool:
        """Whether the picture on show needs no more samples."""
        if self.device_film.buffer is None:  # one run is all
            return self.samples >= 1
        looks = self.screen is not None or self.stop.looks(self.samples)
        error = bound(self.error, self.device_film.relative_std_error) if looks else None
        self.reason = self.stop.reason(self.samples, time.perf_counter() - self._began, error)
        return bool(self.reason)

    def _warp(self) -> None:
        """Show the last picture as the moving camera sees it by now, where that is due."""
        preview, on_screen, job = self.preview, self.on_screen, self._job
        if not self._moving or preview is None or on_screen is None or not preview.warps:
            return
        if job is not None and not job.frame.preview:
            return
        if on_screen.shown is not None and on_screen.shown[0] == self._used.camera:
            return
        if self.scheduler.warps(self.pictures, on_screen.seconds, preview.distance):
            self.scheduler.note_warp(self.pictures, on_screen.warp(preview, self.size))

    def _drop(self) -> None:
        """The frame in progress is of no use."""
        job, self._job = self._job, None
        if job is None:
            return
        if job.frame.preview and self.on_screen is not None:
            self.on_screen.drop()
        job.steps.close()
        if job.film is not None and job.film is not self.device_film.buffer:
            free(job.film)

    @exclusive
    def release(self) -> None:
        """Free the film and the preview's buffers; the renderer stays."""
        self._drop()
        self.device_film.release()
        if self._preview is not None:
            self._preview.release()
            self._preview = None


def _size(prepared: Prepared) -> tuple[str, int]:
    """What speed depends on: where something has moved it is the same, though a structure is built anew."""
    return prepared.structure.name, prepared.scene.triangle_count
