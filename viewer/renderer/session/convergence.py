"""The picture on show, and how far it has come: its film, its samples, their error, and the rules that end it."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from raystream.film.device_film import Buffer, FilmBuffer, FilmError, PendingError
from raystream.film.error import NEXT_LOOK, Stop, bound
from raystream.film.film import Film
from raystream.kernels.light_layers import LIGHT_SUMS
from raystream.renderer.preview.frame import FrameJob
from raystream.renderer.preview.preview import Preview
from raystream.renderer.preview.scheduler import NOISE_AFTER, DisplayState, Progress, ScheduledFrame
from raystream.renderer.sampling.parts import RendererParts
from raystream.stream.gl.device import Device


class SessionFilm:
    """The film of the picture on show, and at most one copy of it on the host.

    buffer : None for a program that adds no samples, and while the picture on show is a preview.
    """

    def __init__(self) -> None:
        self.buffer: FilmBuffer | None = None
        self._reduction: FilmError | None = None  # compiled once, for all films
        self._coming: PendingError | None = None  # of samples before
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

    def read(self, settled: bool = True) -> Film | None:
        """The film on the host; not ``settled``: samples are being added."""
        buffer = self.buffer
        if buffer is None:
            return None
        if not settled or self._host is None or self._host[0] != buffer.samples:
            with buffer.device.current():
                self._host = buffer.samples if settled else -1, buffer.film()
        return self._host[1]

    def error(self) -> float:
        """The estimated relative error of the picture, without reading the film back."""
        if self.buffer is None:
            return float("inf")
        with self.buffer.device.current():
            self._coming = None
            return self.buffer.error(self._compiled(self.buffer))

    def late_error(self) -> float | None:
        """The error of samples before, once the device has it, which is not waited for; None: none is there yet."""
        if self.buffer is None:
            return float("inf")
        with self.buffer.device.current():
            error = None
            if self._coming is not None and self._coming.ready:
                error, self._coming = self.buffer.resolve_error(self._coming), None
            if self._coming is None:
                self._coming = self.buffer.begin_error(self._compiled(self.buffer))
            return self.buffer.error() if self._coming is None else error

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
        buffer, self.buffer, self._host, self._coming = self.buffer, None, None, None
        if buffer is not None:
            free(buffer)


def free(buffer: FilmBuffer) -> None:
    """Give a film back."""
    with buffer.device.current():
        buffer.release()


class ProgressEstimate:
    """The share of a render that is done, the samples that are kept, and the noise they leave.

    noise : the estimated relative error when it was last looked at; inf before.
    """

    def __init__(self) -> None:
        self.noise = math.inf
        self._looked = 0  # samples at the last look
        self._relative_std_error = 0.0  # of the noise
        self._share = 0.0

    def looks(self, samples: int, seconds: float, known: bool = False) -> bool:
        """Whether it is time to look at the noise, which costs nothing where it is ``known``."""
        return known or (seconds >= NOISE_AFTER and samples >= max(2.0, self._looked * NEXT_LOOK))

    def see(self, samples: int, noise: float, relative_std_error: float = 0.0) -> None:
        """The estimated relative error with ``samples``, and its own, relative to it."""
        self._looked, self.noise, self._relative_std_error = samples, noise, relative_std_error

    def report(self, stop: Stop, samples: int, traced: float, seconds: float) -> tuple[float, str]:
        """The share that is done, by the rule that is nearest its end, which never falls; and a text.

        samples : that every pixel has, and that are kept where the render ends now; ``traced`` counts those in
        progress.
        """
        self._share = max(self._share, stop.share(traced, seconds, bound(self.noise, self._relative_std_error)))
        open_ended = stop.seconds is not None or stop.error is not None
        text = f"{samples:,} sample{'s' * (samples != 1)}" if open_ended else f"{samples:,} of {stop.spp:,} samples"
        if math.isfinite(self.noise):
            most = "" if stop.error is None else f" of {percent(stop.error)}"
            text += f", noise {percent(self.noise)}{most}"
        return self._share, text


def percent(share: float) -> str:
    """``1.2 %``: two digits that count."""
    return f"{float(f'{100 * share:.2g}'):g} %"


class Convergence:
    """A picture on its way to its stopping rules.

    stop : the rules. watched : the error is looked at after every frame, as on a screen. outlook : of who waits.

    changed : scene, camera or settings are others than those of the picture on show. complete : it is the whole one,
    whatever the number of its samples. converged : and needs no more. refilters : its film is to be denoised again.
    scale : its width by the whole one's. film : where samples are added to it. samples : of every pixel. error :
    estimated relative error; inf where it is not known. reason : the rule that has said stop. seconds : of tracing in
    the samples.
    """

    def __init__(self, stop: Stop, watched: bool) -> None:
        self.stop, self.watched = stop, watched
        self.outlook: ProgressEstimate | None = None
        self.changed = self.refilters = False
        self.complete = self.converged = True
        self.scale = 1.0
        self.film = SessionFilm()
        self.samples, self.error, self.reason, self.seconds = 0, math.inf, "", 0.0
        self._began = time.perf_counter()

    # -- rules -----------------------------------------------------------------------------------------------------

    def stop_at(self, samples: int, error: float | None) -> None:
        """Other rules: samples of a pixel, and estimated relative error (0 or None: none). The film stays."""
        self.stop = replace(self.stop, spp=samples, error=error or None, _looked=0)
        self.converged = self.complete and self._reached()

    def _reached(self) -> bool:
        """Whether the picture needs no more samples."""
        if self.film.buffer is None:  # one run is all
            return self.samples >= 1
        looks = self.watched or self.stop.looks(self.samples)
        error = bound(self.error, self.film.relative_std_error) if looks else None
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

    def report(self, job: FrameJob | None, fraction: float) -> tuple[float, str]:
        """The share that is done, and a text. job : the frame in progress, of which a ``fraction`` is done."""
        complete = self.samples
        traced = complete + (fraction * job.frame.added if job is not None else 0.0)
        if job is not None and job.film is not None:
            complete = max(complete, job.film.samples)  # those of a frame in progress that all pixels have are kept
        return (self.outlook or ProgressEstimate()).report(self.stop, complete, traced, self.elapsed)

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
                    buffer.even()
            self.samples = buffer.samples
            if self.stop.looks(self.samples):
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
        frame, outlook = job.frame, self.outlook
        self.scale, self.complete = frame.scale, frame.scale == 1.0 and not (self.changed or frame.kind.in_motion)
        self.film.take(job.film)
        if not self.complete:
            self.film.release()  # a preview's
        self.samples = frame.samples
        watched = self.watched or self.stop.looks(self.samples)
        self.error = self._film_error() if watched else math.inf
        if outlook is not None and outlook.looks(self.samples, self.elapsed, watched):
            outlook.see(self.samples, self.error if watched else self.film.error(), self.film.relative_std_error)
        self.seconds += seconds
        self.converged = self.complete and self._reached()

    def _film_error(self) -> float:
        """On a screen, and a device that works beside the host, that of samples before: nobody waits for the last."""
        buffer = self.film.buffer
        waits = buffer is None or not (self.watched and buffer.device.concurrent)
        if waits or not self.complete or self.samples >= self.stop.spp:
            return self.film.error()
        found = self.film.late_error()
        return self.error if found is None else found

    # -- what comes next -------------------------------------------------------------------------------------------

    def display(
        self, size: tuple[int, int], moving: bool, progressive: bool, preview: Preview | None, stepwise: bool = False
    ) -> DisplayState:
        """The input of the scheduler. size : of the whole picture, (width, height), pixels. ``moving``: the camera is.
        progressive : the program adds samples. preview : where it is denoised. stepwise : it is traced kernel by
        kernel."""
        progress = Progress.STALE if self.changed else Progress.PREVIEW
        if self.complete:
            progress = Progress.UNFILTERED if self.refilters and self.film.buffer is not None else Progress.WHOLE
        return DisplayState(
            size,
            progress,
            self.samples,
            most=self.stop.most(self.samples) if progressive else 1,
            seconds_left=math.inf if self.stop.seconds is None else self.stop.seconds - self.elapsed,
            moving=moving,
            progressive=progressive,
            reconstructs=preview is not None,
            light=preview.light if preview is not None else 1.0,
            warps=preview is not None and preview.warps,
            scale=self.scale,
            stepwise=stepwise,
        )
