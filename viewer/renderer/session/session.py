"""A session: one picture on its way to convergence, whoever asks for it and wherever it is shown.

The window, the command line and others drive it: they call `advance` as often as they like, and read how far it is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.interrupts import raise_dropped
from raystream.film.device_film import Buffer, FilmBuffer, FilmError, PendingError
from raystream.film.error import ERROR_CHECK_GROWTH, Stop, bound
from raystream.film.files.checkpoint import Checkpoint
from raystream.film.film import Film
from raystream.film.layers import NOISY
from raystream.kernels.light_layers import LIGHT_SUMS
from raystream.options.declare import Affects
from raystream.renderer.device.tile_job import Tile
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview import scheduler
from raystream.renderer.preview.frame import FrameClock, FrameJob, Screen, Steps
from raystream.renderer.preview.motion import of_motion
from raystream.renderer.preview.preview import Preview, PreviewPasses
from raystream.renderer.preview.scheduler import FrameKind, Pacing, Progress, ScheduledFrame
from raystream.renderer.sampling.denoising import check_denoiser, matte
from raystream.renderer.sampling.parts import RendererParts
from raystream.renderer.sampling.picture import Picture, Report, read_back_tile
from raystream.renderer.sampling.picture_metadata import picture
from raystream.renderer.sampling.sampler import FramePlan, TileDone, TilePass, Tiling
from raystream.renderer.session.on_screen import ShownPicture, Warmup
from raystream.scene.camera import Camera
from raystream.scene.scene import Scene
from raystream.stream.gl.device import Device
from raystream.stream.lock import FairLock, exclusive
from raystream.stream.machines.counters import Stats

# -- the picture on show, and how far it has come: its film, its samples, their error, and the rules that end it -------


def free(buffer: FilmBuffer) -> None:
    """Give a film back."""
    with buffer.device.current():
        buffer.release()


class SessionFilm:
    """The film of the picture on show, and at most one copy of it on the host.

    buffer : None for a program that adds no samples, and while the picture on show is a preview.
    """

    def __init__(self) -> None:
        self.buffer: FilmBuffer | None = None
        self._reduction: FilmError | None = None  # compiled once, for all films
        self._pending: PendingError | None = None  # of samples before
        self._host: tuple[int, Film] | None = None  # the samples that every pixel had when it was read back

    @staticmethod
    def blank(device: Device, size: tuple[int, int], film: Film | None = None) -> FilmBuffer:
        """A film on the device, with the contents of another one."""
        with device.current():
            return FilmBuffer(device, size, film)

    def take(self, buffer: FilmBuffer | None) -> None:
        """Another film, or the same with more samples."""
        if buffer is not self.buffer:
            self.release()
        self.buffer, self._host = buffer, None

    def read(self, even: bool = True) -> Film | None:
        """The film on the host; not ``even``: samples are being added."""
        buffer = self.buffer
        if buffer is None:
            return None
        if not even or self._host is None or self._host[0] != buffer.samples:
            with buffer.device.current():
                self._host = buffer.samples if even else -1, buffer.film()
        return self._host[1]

    def error(self) -> float:
        """The estimated relative error of the picture, without reading the film back."""
        if self.buffer is None:
            return float("inf")
        with self.buffer.device.current():
            self._pending = None
            return self.buffer.error(self._compiled(self.buffer))

    def resolve_error(self) -> float | None:
        """The error of samples before, once the device has it, which is not waited for; None: none is there yet."""
        if self.buffer is None:
            return float("inf")
        with self.buffer.device.current():
            error = None
            if self._pending is not None and self._pending.ready:
                error, self._pending = self.buffer.resolve_error(self._pending), None
            if self._pending is None:
                self._pending = self.buffer.begin_error(self._compiled(self.buffer))
            return self.buffer.error() if self._pending is None else error

    def _compiled(self, buffer: FilmBuffer) -> FilmError:
        if self._reduction is None or self._reduction.device is not buffer.device:
            self._reduction = buffer.reduction or FilmError(buffer.device)
        return self._reduction

    @property
    def relative_std_error(self) -> float:
        """The relative standard error of `error`, as of its last call."""
        return 0.0 if self.buffer is None else self.buffer.relative_std_error

    def release(self) -> None:
        """Free the film."""
        buffer, self.buffer, self._host, self._pending = self.buffer, None, None, None
        if buffer is not None:
            free(buffer)


def percent(share: float) -> str:
    """``1.2 %``: two digits that count."""
    return f"{float(f'{100 * share:.2g}'):g} %"


class Convergence:
    """A picture on its way to its stopping rules.

    stop : the rules. watched : the error is looked at after every frame, as on a screen. awaited : somebody is told how
    far it is: then the noise is estimated now and then.

    changed : scene, camera or settings are others than those of the picture on show. complete : it is the whole one,
    whatever the number of its samples. converged : and needs no more. refilters : its film is to be denoised again.
    scale : its width by the whole one's. film : where samples are added to it. samples : of every pixel. error :
    estimated relative error; inf where it is not known. reason : the rule that has said stop. seconds : of tracing in
    the samples.
    """

    def __init__(self, stop: Stop, watched: bool) -> None:
        self.stop, self.watched = stop, watched
        self.awaited = False
        self._noise, self._noise_std_error = math.inf, 0.0  # the error when it was estimated last, and its own by it
        self._estimated_samples, self._share = 0, 0.0  # samples then, and the share that was told last
        self.changed = self.refilters = False
        self.complete = self.converged = True
        self.scale = 1.0
        self.film = SessionFilm()
        self.samples, self.error, self.reason, self.seconds = 0, math.inf, "", 0.0
        self._began = time.perf_counter()

    # -- rules -----------------------------------------------------------------------------------------------------

    def stop_at(self, samples: int, error: float | None) -> None:
        """Other rules: samples of a pixel, and estimated relative error (0 or None: none). The film stays."""
        self.stop = replace(self.stop, spp=samples, error=error or None, _last_check=0)
        self.converged = self.complete and self._reached()

    def _reached(self) -> bool:
        """Whether the picture needs no more samples."""
        if self.film.buffer is None:  # one run is all
            return self.samples >= 1
        estimated = self.watched or self.stop.needs_error(self.samples)
        error = bound(self.error, self.film.relative_std_error) if estimated else None
        self.reason = self.stop.reason(self.samples, self.elapsed, error)
        return bool(self.reason)

    @property
    def elapsed(self) -> float:
        """Seconds since the picture began."""
        return time.perf_counter() - self._began

    @property
    def seconds_left(self) -> float:
        """Seconds of tracing to the rule that is nearest its end, as those so far tell; inf where they do not."""
        error = bound(self.error, self.film.relative_std_error)
        share = self.stop.share(self.samples, self.elapsed, error)
        return self.seconds * (1 - share) / share if share > 0 and self.seconds > 0 else math.inf

    def await_end(self, awaited: bool) -> None:
        """Somebody waits from now on, ``awaited``: and is told how far it is."""
        self.awaited, self._noise, self._noise_std_error = awaited, math.inf, 0.0
        self._estimated_samples, self._share = 0, 0.0

    def report(self, job: FrameJob | None, fraction: float) -> tuple[float, str]:
        """The share that is done, by the rule that is nearest its end, which never falls; and a text with the samples
        that are kept where it ends now, and their noise. job : the frame in progress, of which a ``fraction`` is
        done."""
        stop, complete = self.stop, self.samples
        traced = complete + (fraction * job.frame.added if job is not None else 0.0)
        if job is not None and job.film is not None:
            complete = max(complete, job.film.samples)  # those of a frame in progress that all pixels have are kept
        self._share = max(self._share, stop.share(traced, self.elapsed, bound(self._noise, self._noise_std_error)))
        open_ended = stop.seconds is not None or stop.error is not None
        text = f"{complete:,} sample{'s' * (complete != 1)}" if open_ended else f"{complete:,} of {stop.spp:,} samples"
        if math.isfinite(self._noise):
            most = "" if stop.error is None else f" of {percent(stop.error)}"
            text += f", noise {percent(self._noise)}{most}"
        return self._share, text

    # -- what becomes of it ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Another picture, from its first preview on."""
        self.changed, self.complete, self.converged = True, False, False
        self.samples, self.error, self.reason, self.seconds = 0, math.inf, "", 0.0
        self._began = time.perf_counter()
        self.film.release()

    def fill(
        self, renderer: RendererParts, size: tuple[int, int], film: Film | None, sorts_light: bool = False
    ) -> None:
        """Without previews: samples are added to those of a film, or to none. size : (width, height), pixels.
        sorts_light : and their light to layers, of a new film."""
        self.changed, self.complete = False, True
        if renderer.progressive:
            buffer = self.film.blank(renderer.device, size, film)
            self.film.take(buffer)
            if sorts_light:
                with renderer.device.current():
                    buffer.light = Buffer(renderer.device, LIGHT_SUMS, size)
            if self.stop.error is None or not renderer.settings.adaptive:
                with renderer.device.current():
                    buffer.reset_adaptive()
            self.samples = buffer.samples
            if self.stop.needs_error(self.samples):
                self.error = self.film.error()
        self.converged = self._reached()

    def next(self, frame: ScheduledFrame, renderer: RendererParts) -> tuple[bool, FilmBuffer | None]:
        """A frame begins: whether it is of another picture than the one on show, and the film that it adds to."""
        self.refilters = False
        if self.complete:
            return False, self.film.buffer
        self.changed = False
        return True, self.film.blank(renderer.device, frame.size) if renderer.progressive else None

    def refilter(self) -> None:
        """The same film is to be denoised again."""
        self.converged, self.refilters = False, True

    def take(self, job: FrameJob, seconds: float) -> None:
        """A frame has ended, which took so long."""
        frame = job.frame
        self.scale, self.complete = frame.scale, frame.scale == 1.0 and not (self.changed or frame.kind.in_motion)
        self.film.take(job.film)
        if not self.complete:
            self.film.release()  # a preview's
        self.samples = frame.samples
        watched = self.watched or self.stop.needs_error(self.samples)
        self.error = self._film_error() if watched else math.inf
        due = self.elapsed >= scheduler.NOISE_AFTER and self.samples >= max(
            2.0, self._estimated_samples * ERROR_CHECK_GROWTH
        )
        if self.awaited and (watched or due):
            self._noise = self.error if watched else self.film.error()
            self._estimated_samples, self._noise_std_error = self.samples, self.film.relative_std_error
        self.seconds += seconds
        self.converged = self.complete and self._reached()

    def _film_error(self) -> float:
        """On a screen, and a device that works beside the host, that of samples before: nobody waits for the last."""
        buffer = self.film.buffer
        waits = buffer is None or not (self.watched and buffer.device.concurrent)
        if waits or not self.complete or self.samples >= self.stop.spp:
            return self.film.error()
        error = self.film.resolve_error()
        return self.error if error is None else error

    # -- what comes next -------------------------------------------------------------------------------------------

    def display(
        self, size: tuple[int, int], moving: bool, progressive: bool, preview: Preview | None, stepwise: bool
    ) -> scheduler.DisplayState:
        """The input of the scheduler. size : of the whole picture, (width, height), pixels. ``moving``: the camera is.
        progressive : the program adds samples. preview : where it is denoised. stepwise : it is traced kernel by
        kernel."""
        progress = Progress.PREVIEW
        if self.complete:
            progress = Progress.UNFILTERED if self.refilters and self.film.buffer is not None else Progress.WHOLE
        elif self.changed:
            progress = Progress.MOVING if moving else Progress.STALE
        return scheduler.DisplayState(
            size,
            progress,
            self.samples,
            most=self.stop.most(self.samples) if progressive else 1,
            seconds_left=math.inf if self.stop.seconds is None else self.stop.seconds - self.elapsed,
            light=preview.light if preview is not None and progressive else 1.0,
            warps=preview is not None and preview.warps and (not moving or scheduler.near(preview.distance)),
            scale=self.scale,
            stepwise=stepwise,
        )


TIMED = frozenset({Affects.NOTHING, Affects.MACHINE, Affects.PROGRAM, Affects.STRUCTURE})  # what speed depends on


# -- a session ---------------------------------------------------------------------------------------------------------


class Session:
    """Pictures of a scene, on a ``screen``: first a preview that is quick enough to follow the hand, at rest the full
    size, to which a progressive program then adds samples until a rule says stop. Without a screen the film alone is
    filled, in tiles as large as streams may be.

    renderer : a renderer; None: see `use`. size : of the picture, (width, height) pixels. stop : the rules, of
    progressive programs. film : of the same picture, to go on from. state : where it is saved, when that is due and
    where `finish` is interrupted. counting : every pass, see `Stats`. layers : arrays by name that a program without a
    film fills beside the colour, see `raystream.film.layers`. bounce : only light of paths of this length counts.
    sorts_light : into the layers of a new film, without a screen, see `FilmBuffer.light`.

    convergence : the picture on show, and how far it has come. job : the frame in progress. tile : streams of tiles
    (width, height); None: as large as streams may be. progress : of the picture or the samples in progress,
    0 .. 1. seconds : of tracing in the last picture; waits : of the host for the device since the one before.
    pictures, steps : so far. stats : of all runs.
    """

    _clock: FrameClock  # of a renderer: the costs of the steps of frames

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
        sorts_light: bool = False,
    ) -> None:
        self.renderer: RendererParts | None = None
        self.size = (max(1, size[0]), max(1, size[1]))
        self.screen, self.state = screen, state
        self.counting, self.bounce, self.layers = counting, bounce, layers or {}
        self.progress, self.seconds = 1.0, 0.0
        self.pictures = self.steps = self.waits = 0
        self._waited = 0  # of the device, at the last picture's end
        self.stats = Stats()
        self.scheduler = scheduler.Scheduler(interactive=screen is not None)
        self.convergence = Convergence(stop or Stop(1), watched=screen is not None)
        self.on_screen = ShownPicture(screen) if screen is not None else None
        self.job: FrameJob | None = None
        self.tile: tuple[int, int] | None = None
        self._linear = np.zeros((1, 1, 3), np.float32)  # without a screen, of a program that adds no samples
        self._preview: Preview | None = None
        self._warmup: Warmup | None = None
        self._passes: PreviewPasses | None = None  # rehearsed for the first renderer
        self._without = FairLock()  # a renderer
        self._failed = self._moving = False
        if renderer is not None:
            self.use(renderer)
            if screen is None:
                self.convergence.fill(renderer, self.size, film, sorts_light)

    @exclusive
    def use(self, renderer: RendererParts) -> None:
        """Show another renderer's scene; the picture of the old one stays until the new one has its first."""
        self.renderer = renderer
        self._release_preview()
        passes, self._passes = self._passes, None
        self._clock = FrameClock(renderer.device, self.scheduler)
        if self.on_screen is not None:
            self.tile = scheduler.stream_shape(renderer.device.software)
            self._preview = Preview(renderer, self._clock, passes)
            self._warmup = Warmup(renderer, self.tile, self.counting)
        self.reset_timing()
        self.abandon()

    def reset_timing(self) -> None:
        """Another program or scene: the time that pictures take is not known."""
        concurrent = self.on_screen is not None and self._at_work.device.concurrent
        self.scheduler.reset(self.tile[1] if self.tile is not None else 1, concurrent)

    def rehearse(self, device: Device) -> Iterator[float]:
        """Compile the screen programs common to all scenes, for the first renderer, which is of this device; yields
        the share that is done. May be abandoned. Raises ShaderError."""
        self._passes = PreviewPasses(device)
        return self._passes.warm()

    def leave(self) -> None:
        """Without a renderer from now on: there is nothing to do, and its memory is freed by `release`."""
        self.renderer = None

    # -- what is on show -------------------------------------------------------------------------------------------

    @property
    def lock(self) -> FairLock:
        """The renderer's: while one thread works on a session, or on its renderer, the others wait for their turn."""
        return self.renderer.lock if self.renderer is not None else self._without

    @property
    def stop(self) -> Stop:
        """The rules of progressive programs."""
        return self.convergence.stop

    @property
    def complete(self) -> bool:
        """The picture on show is the whole one, whatever the number of its samples."""
        return self.convergence.complete

    @property
    def converged(self) -> bool:
        """And needs no more of them."""
        return self.convergence.converged

    @property
    def scale(self) -> float:
        """Width of the picture on show by the whole one's."""
        return self.convergence.scale

    @property
    def samples(self) -> int:
        """The samples of every pixel of the picture on show."""
        return self.convergence.samples

    @property
    def error(self) -> float:
        """Its estimated relative error; inf where none is known."""
        return self.convergence.error

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
    def running(self) -> bool:
        """Whether a frame is in progress: nothing else may run on the renderer meanwhile."""
        return self.job is not None

    @property
    def pending(self) -> bool:
        """Whether a frame in progress goes on as soon as the device has done its work, or the last picture is being
        denoised beside."""
        return self._clock.pending if self.running else not self.idle and self.complete and self.converged

    @property
    def previewing(self) -> bool:
        """Whether a preview is in progress, which must see the scene as it was when it began."""
        return self.job is not None and self.job.frame.kind.preview

    @property
    def appearing(self) -> bool:
        """Whether a picture that is not whole yet is shown tile by tile."""
        return self.on_screen is not None and self.job is not None and not (self.job.denoised or self.complete)

    @property
    def under_way(self) -> Tile | None:
        """The tile of the picture on show that a machine works on."""
        return None if self.job is None or self.previewing else self.job.under_way

    @exclusive
    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3) float32 linear sRGB of the picture on show, row 0 at the top."""
        if self.screen is not None:
            return self.screen.linear()
        film = self.film()
        return self._linear if film is None else film.linear

    @exclusive
    def film(self) -> Film | None:
        """The film of the picture on show, read back from the device; None for a program that adds no samples."""
        return self.convergence.film.read(even=not self.running)

    @exclusive
    def picture(self, denoiser: str | None = None) -> Picture:
        """The picture on show, with its film, and all facts of how it was made. denoiser : of its matte; None: that of
        the settings."""
        seconds, film = self.convergence.elapsed, self.film()
        result = picture(self._at_work, self.linear(), film, self.stats, self.convergence.reason, seconds)
        if self.on_screen is not None and self.on_screen.denoiser != "none" and film is not None and self.complete:
            result.layers[NOISY.name] = film.linear
            result.metadata["denoised"] = self.on_screen.denoiser
        if film is not None:
            result.matte = matte(self._at_work, self.size, max(1, int(film.count.max())), denoiser)
        return result

    def report(self) -> tuple[float, str]:
        """The share that is done, and a text: of a progressive program with the samples that every pixel has."""
        width, height = self.size
        if not self._at_work.progressive:
            return self.progress, f"rendering {width} x {height}"
        return self.convergence.report(self.job, self.progress)

    @property
    def _at_work(self) -> RendererParts:
        assert self.renderer is not None, "a session without a renderer"
        return self.renderer

    @property
    def preview(self) -> Preview | None:
        """The denoiser of the pictures on the screen; None where they are shown as they are."""
        settings = self.renderer.settings if self.renderer is not None else None
        if settings is None or settings.denoise == "none" or not settings.picture_program.noisy:
            return None
        return self._preview if settings.picture_program.demodulates else None

    # -- change ----------------------------------------------------------------------------------------------------

    @exclusive
    def update(
        self, scene: Scene | PreparedScene | None = None, settings: Settings | None = None, **changes: Any
    ) -> Affects:
        """`Renderer.update`, after which the picture restarts where anything has changed.

        A preview in progress is finished first, unless the scene has changed: it is nearly there. On its errors nothing
        has changed, and the picture goes on.
        """
        renderer = self._at_work
        if "denoise" in changes:
            check_denoiser(renderer.settings.replace(denoise=changes["denoise"]))
        before, were, version = renderer.prepared, renderer.settings, renderer.gpu_scene.version
        affected = renderer.update(scene, settings, **changes)
        differences = were.differences(renderer.settings)
        if not TIMED.isdisjoint(differences.values()) or _size(renderer.prepared) != _size(before):
            self.reset_timing()
        if renderer.gpu_scene.version != version:
            self.abandon()
        elif differences.keys() == {"denoise"} and self.complete:
            film = self.convergence.film.buffer  # which goes on
            if self._preview is not None:
                self._preview.forget()
            if film is not None and self.preview is not None:
                self.convergence.refilter()
            elif film is not None and self.on_screen is not None:
                self.on_screen.picture(film.blocks[0].stream, "none", film.samples)
        elif differences:
            self.restart()
        return affected

    def resize(self, size: tuple[int, int]) -> None:
        """Another size, (width, height) pixels; that of a minimised window is ignored."""
        if size != self.size and min(size) > 0:
            self.size = size
            self.restart()

    def stop_at(self, samples: int, error: float | None) -> None:
        """Other rules: samples of a pixel, and estimated relative error (0 or None: none). The film stays."""
        self.convergence.stop_at(samples, error)

    @exclusive
    def restart(self) -> None:
        """Restart the picture. A preview in motion is finished first: it is nearly there."""
        self._failed, self.progress = False, 0.0
        job = self.job
        if job is not None and (not job.frame.kind.preview or job.frame.kind is FrameKind.RUNG):
            self._drop()
        self.convergence.begin()

    @exclusive
    def abandon(self) -> None:
        """Restart the picture; runs in progress are dropped."""
        self._forget_shaders()
        self.restart()

    def fail(self) -> None:
        """The picture cannot be made; the one on show stays until something changes."""
        self._forget_shaders()
        self._failed = True

    def _forget_shaders(self) -> None:
        """Drop the frame in progress and the programs compiled for it: another scene, or other shaders."""
        self._drop()
        if self._warmup is not None:
            self._warmup.end(flight=True)

    def _drop(self) -> None:
        """Drop the frame in progress, with its film unless that is on show."""
        job, self.job = self.job, None
        if job is None:
            return
        if job.frame.kind.preview and self.screen is not None:
            self.screen.drop()
        job.steps.close()
        if job.film is not None and job.film is not self.convergence.film.buffer:
            free(job.film)

    # -- work ------------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether `advance` has nothing to do."""
        if self.renderer is None or self._failed:
            return True
        film, preview = self.convergence.film.buffer, self.preview
        cleans = film is not None and preview is not None and preview.cleans  # by Open Image Denoise
        owes = cleans and film is not None and preview is not None and preview.background.owes(film, self.samples)
        return self.complete and self.converged and not owes

    @property
    def even(self) -> bool:
        """Whether all pixels of the full picture have as many samples and are on show, or `advance` cannot bring them
        there."""
        on_show = self.on_screen is None or self.on_screen.samples > 0
        return self.idle or (self.complete and on_show and not self.running)

    def waiting(self, moving: bool) -> bool:
        """Whether `advance` has nothing to do as long as the camera moves no further."""
        return self.idle or (moving and not self.running and not self.convergence.changed)

    @exclusive
    def advance(self, budget: float, moving: bool = False, begin: bool = True) -> None:
        """Trace until ``budget`` seconds are over. While the camera is ``moving`` only previews are made. Without
        ``begin`` the frame in progress is ended, and no other begun.

        On a screen it returns before shaders are compiled, so that `compiling` can be shown, and after each of them.
        Raises ViewerError where they do not compile.
        """
        began, self._moving = time.perf_counter(), moving
        while not self.waiting(moving):
            self._show_denoised()
            if not self.running and self.complete and self.converged:
                preview = self.preview
                if preview is not None and not preview.background.free:
                    preview.background.wait(scheduler.POLL)
                    return
                self.convergence.refilter()
            if not self.running:
                if not begin:
                    if self._warmup is not None:
                        self._warmup.pause()
                    return
                if self._compile():
                    return
                self._begin(budget)
            self._step()
            left = budget - (time.perf_counter() - began)
            if self._clock.pending or left < (self.scheduler.tile_rows.expected if self.running else 0):
                self._warp()
                return

    def _compile(self) -> bool:
        """Compile a shader, on a screen; whether there was one, or will be next, in place of a frame. At rest there is
        time for those of the next flight. Raises ViewerError."""
        warmup, preview = self._warmup, self.preview
        if warmup is None:
            return False
        if preview is not None:
            preview.gbuffer.window_pixels = self.size[0] * self.size[1]
        if not warmup.ready(preview):
            warmup.step(preview)
            return True
        warmup.end()
        spare = self.complete and not self._moving and self.samples >= scheduler.SETTLED
        return spare and preview is not None and warmup.step_quick()

    def _show_denoised(self) -> None:
        """Show the film's picture by Open Image Denoise, if another one has come. Raises ViewerError where that
        fails."""
        film, preview = self.convergence.film.buffer, self.preview
        picture = preview.cleaned(film) if preview is not None and film is not None else None
        if preview is not None and picture is not None and self.on_screen is not None:
            with self._at_work.device.current():
                self.on_screen.picture(picture, "oidn", preview.background.samples)
            self.pictures += 1

    @exclusive
    def finish(self, converged: bool = True, progress: Report | None = None) -> None:
        """Trace until all samples are there; not ``converged``: until all pixels of the full picture have as many.

        progress : called with the share that is done and a text. Interrupted by Ctrl-C it saves its state, where that
        is worth it.
        """
        device = self._at_work.device
        self.convergence.await_end(progress is not None)
        report = None if progress is None else device.lending_context(progress)
        with device.kept_current(), self.saving():
            while not (self.idle if converged else self.even):
                raise_dropped()
                self.advance(0.0)  # a step at a time
                if report is not None:
                    report(*self.report())

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Save the state where Ctrl-C ends the work in this context, if that is worth it."""
        try:
            yield
        except KeyboardInterrupt as stop:
            film = self.film() if self.state is not None and self.state.worth(self.size, stop) else None
            if self.state is not None and film is not None and film.count.any():
                self.state.save(film)
            raise

    # -- a frame ---------------------------------------------------------------------------------------------------

    def _begin(self, budget: float) -> None:
        """Begin the next frame, as the scheduler has it."""
        convergence, renderer, preview, whole = self.convergence, self._at_work, self.preview, self.size
        stepwise = renderer.settings.stepwise
        display = convergence.display(whole, self._moving, renderer.progressive, preview, stepwise)
        frame = self.scheduler.next(display, budget)
        anew, film = convergence.next(frame, renderer)
        # Samples of a film that goes on at rest are its own; those of others follow each other from picture to picture.
        first = preview.numbers(frame.samples) if preview is not None and frame.kind.in_motion else 0
        self._pose(frame)
        white = self.on_screen.white if self.on_screen is not None else 1.0
        job = FrameJob(frame, renderer.camera.with_picture_size(whole), film, first, white)
        if self.on_screen is not None:
            self.on_screen.begin(job, whole, anew)
        elif film is None:
            self._linear = np.zeros((*frame.size[::-1], 3), np.float32)
        job.steps = tiles = self._tiles(job)
        if preview is not None and film is not None:
            job.denoised = True
            job.steps = self._reconstructed(job, preview, tiles, whole)
        self.job = job
        self._clock.begin()

    def _pose(self, frame: ScheduledFrame) -> None:
        """Deforming objects are posed before the frame's time is taken: that costs the same for a picture of
        any size."""
        scene, device = self._at_work.gpu_scene, self._at_work.device
        with device.current():
            scene.resources.update_computed_tables()
            if scene.deformer is not None and not (frame.queued or self.scheduler.concurrent):
                device.wait()

    def _tiles(self, job: FrameJob) -> Steps:
        """The tiles of a frame, as its sampler traces them."""
        renderer, frame, warmup = self._at_work, job.frame, self._warmup
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
            error_goal=self.stop.error,
            photon_part=scheduler.PHOTON_PART if frame.kind.preview and frame.scale < 1 else 1,
            tiling=None if tile is None else Tiling(tile, rows),
            layers=tuple(self.layers),
            counting=self.counting,
        )
        return renderer.sampler.render_tiles(plan, job.film)

    def _reconstructed(self, job: FrameJob, preview: Preview, tiles: Steps, whole: tuple[int, int]) -> Steps:
        """The steps of a frame that is shown denoised."""
        picture = yield from preview.frame(job, tiles, whole, self.stop.spp)
        if picture is not None and self.on_screen is not None:
            self.on_screen.picture(picture, "shader", job.frame.samples)

    def _step(self) -> None:
        """One step of the frame in progress: a pass of a machine, a tile that is done, or its end."""
        job, renderer = self.job, self._at_work
        assert job is not None, "a step of no frame"
        self.steps += 1
        event = self._clock.step(job, waits=self.on_screen is not None)
        if event is None:
            self._end(job)
            return
        self.progress, job.under_way = event.share, event.tile if isinstance(event, TilePass) else None
        if isinstance(event, TileDone):
            if self.screen is not None and not job.denoised:
                self.screen.put(event.tile)
            elif self.screen is None and job.film is None:
                read_back_tile(event.tile, renderer.device, renderer.prepared, self._linear, self.layers)
            self.stats.add(event.tile.machine.stats)

    def _end(self, job: FrameJob) -> None:
        """The frame has ended, and is on show; its costs are the scheduler's."""
        self.job = None
        if self.on_screen is not None:
            self.on_screen.end(job)
        self._clock.note(job)
        self.seconds = max(job.spent, 1e-6)
        self.pictures += 1
        waited = self._at_work.device.waits
        self.waits, self._waited = waited - self._waited, waited
        self.convergence.take(job, self.seconds)
        if self.state is not None and self.state.due() and (film := self.film()) is not None:
            self.state.save(film)

    def _warp(self) -> None:
        """The last picture follows the moving camera, until the next preview."""
        preview, previews = self.preview, self.job is None or self.previewing
        if self._moving and preview is not None and self.on_screen is not None and previews:
            self.on_screen.follow(preview, self.scheduler, self.pictures, self.size)

    def _release_preview(self) -> None:
        """Free the preview's buffers, and the frame in progress."""
        self._drop()
        if self._preview is not None:
            self._preview.release()
            self._preview = None

    @exclusive
    def release(self) -> None:
        """Free the film and the preview's buffers; the renderer stays."""
        self._release_preview()
        self.convergence.film.release()


def _size(prepared: PreparedScene) -> tuple[str, int]:
    """The key of measured speeds: the same after motion, though a structure is rebuilt."""
    return prepared.structure.name, prepared.scene.triangle_count
