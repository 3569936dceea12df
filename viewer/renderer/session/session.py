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

from viewer.base.lock import exclusive
from viewer.film.error.stop import Stop, bound
from viewer.film.files.checkpoint import Checkpoint
from viewer.film.film import Film
from viewer.film.layers import NOISY
from viewer.options.declare import Affects
from viewer.renderer.inputs.prepared import Prepared
from viewer.renderer.inputs.settings import Settings
from viewer.renderer.preview.denoiser import ScreenDenoiser
from viewer.renderer.preview.frame import Round
from viewer.renderer.preview.scheduler import Pace, Timing, stream_shape
from viewer.renderer.preview.screen import Screen
from viewer.renderer.sampling.denoising import check_denoiser
from viewer.renderer.sampling.picture import Picture, Report, collect
from viewer.renderer.sampling.picture_metadata import picture
from viewer.renderer.sampling.sampler import Tracer
from viewer.renderer.session.beginning import FIRST_RATE, Beginning
from viewer.renderer.session.developing import free
from viewer.renderer.session.progress import ProgressEstimate
from viewer.scene.scene import Scene

SETTLED = 4  # samples of a picture at rest, from which on there is time to compile for the next flight
TIMED = frozenset({Affects.NOTHING, Affects.MACHINE, Affects.PROGRAM, Affects.STRUCTURE})  # what speed depends on


class Session(Beginning):
    """Pictures of a scene, on a ``screen``: first a preview that is quick enough to follow the hand, at rest the full
    size, to which a progressive program then adds samples until a rule says stop. Without a screen the film alone is
    filled, in pieces as large as streams may be.

    renderer : a tracer; None: see `use`. size : of the picture, (width, height) pixels. stop : the rules, of
    progressive programs. film : of the same picture, to go on from. state : where it is saved, when that is due and
    where `finish` is interrupted. counting : every pass, see `Stats`. layers : arrays by name that a program without a
    film fills beside the colour, see `viewer.film.layers`. bounce : only light of paths of this length counts.
    """

    def __init__(
        self,
        renderer: Tracer | None = None,
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
        super().__init__(size, stop or Stop(1), screen, layers, counting, bounce)
        self.state, self.steps = state, 0  # so far
        self._outlook: ProgressEstimate | None = None  # of who waits in `finish`
        self._failed = False
        if renderer is not None:
            self.use(renderer)
            if screen is None:
                self._fill(renderer, film)

    @exclusive
    def use(self, renderer: Tracer) -> None:
        """Show another tracer's scene; the picture of the old one stays until the new one has its first."""
        self.renderer = renderer
        if self._denoiser is not None:
            self._denoiser.release()
        if self.screen is not None:
            self.tile = stream_shape(renderer.device)
            self._denoiser = ScreenDenoiser(renderer)
        self.reset_timing()
        self.abandon()

    def _fill(self, renderer: Tracer, film: Film | None) -> None:
        """Without a screen the film is the picture, and complete from the start: samples are added to it."""
        self._again, self.complete = False, True
        if not renderer.progressive:
            self._cast = np.zeros((*self.size[::-1], 3), np.float32)
            self.converged = False
            return
        buffer = self.developing.blank(renderer.device, self.size, film)
        self.developing.take(buffer)
        if self.stop.error is None or not renderer.settings.adaptive:
            with renderer.device.current():
                buffer.even()
        self.samples = buffer.samples
        if self.stop.looks(self.samples):
            self.error = self.developing.error()
        self.converged = self._enough()

    # -- change ----------------------------------------------------------------------------------------------------

    @exclusive
    def update(
        self, scene: Scene | Prepared | None = None, settings: Settings | None = None, **changes: Any
    ) -> Affects:
        """`Tracer.update`, after which the picture begins anew where anything has changed.

        A preview under way is finished first, unless the scene has changed: it is nearly there. Raises what that
        raises; then nothing has changed, and the picture goes on.
        """
        renderer = self._tracer
        if "denoise" in changes:
            check_denoiser(renderer.settings.replace(denoise=changes["denoise"]))
        before, were = renderer.prepared, renderer.settings
        affected = renderer.update(scene, settings, **changes)
        differences = were.differences(renderer.settings)
        if not TIMED.isdisjoint(differences.values()) or _size(renderer.prepared) != _size(before):
            self.reset_timing()
        if renderer.prepared is not before:
            self.abandon()
        elif differences.keys() == {"denoise"} and self.complete and self.developing.buffer is not None:
            self._show_denoiser()  # the film goes on
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
        self.rate = FIRST_RATE
        self.previews.forget()
        self.timing = Timing()
        self._pace = Pace(self.tile[1] if self.tile is not None else 1)

    @exclusive
    def restart(self) -> None:
        """Begin the picture anew. A preview under way is finished first: it is nearly there."""
        self._again, self.complete, self.converged, self.progress = True, False, False, 0.0
        self.samples, self.error, self.total_seconds, self.reason = 0, math.inf, 0.0, ""
        self._failed, self._began = False, time.perf_counter()
        if self._job is not None and not self._job.preview:
            self._drop()
        self.developing.release()

    @exclusive
    def abandon(self) -> None:
        """Begin the picture anew; runs under way are of no use."""
        self._drop()
        self._warming = self._quickening = None
        self.compiling = ""
        self.restart()

    def fail(self) -> None:
        """The picture cannot be made; the one on show stays until something changes."""
        self._drop()
        self._warming, self._failed, self.compiling = None, True, ""

    # -- work ------------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether `advance` has nothing to do."""
        return (self.complete and self.converged) or self.renderer is None or self._failed

    def waiting(self, moving: bool) -> bool:
        """Whether `advance` has nothing to do as long as the camera moves no further."""
        return self.idle or (moving and self._job is None and not self._again)

    @exclusive
    def advance(self, budget: float, moving: bool = False, begin: bool = True) -> None:
        """Trace until ``budget`` seconds are over. While the camera is ``moving`` only previews are made. Without
        ``begin`` the round under way is ended, and no other begun.

        On a screen it returns before shaders are compiled, so that `compiling` can be shown, and after each of them.
        Raises ViewerError where they do not compile.
        """
        began, self._moving = time.perf_counter(), moving
        while not self.waiting(moving):
            if self._job is None:
                if not begin:
                    self._warming = None  # others may run meanwhile
                    return
                if self.tile is not None and not self._ready(self.tile):
                    self._compile(self._tracer, self.tile)
                    return
                self._warming, self.compiling = None, ""
                if self.complete and not moving and self.samples >= SETTLED and self._compile_quick():
                    return
                self._job = self._begin(self._again, budget)
            self._step(self._job)
            left = budget - (time.perf_counter() - began)
            if left < (0 if self._job is None else self._pace.expected):
                self._carry()
                return

    @exclusive
    def finish(self, converged: bool = True, progress: Report | None = None) -> None:
        """Trace until all samples are there; not ``converged``: until all pixels of the full picture have as many.

        progress : called with the share that is done and a text. Interrupted by Ctrl-C it saves its state, where that
        is worth it.
        """
        self._outlook = ProgressEstimate() if progress is not None else None
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

    def report(self) -> tuple[float, str]:
        """The share that is done, and a text: of a progressive program with the samples that every pixel has."""
        width, height = self.size
        if not self._tracer.progressive:
            return self.progress, f"rendering {width} x {height}"
        job, samples = self._job, self.samples
        traced = samples + (self.progress * job.added if job is not None else 0.0)
        if job is not None and job.film is not None:
            samples = max(samples, job.film.samples)  # those of a round that all pixels have are kept
        return (self._outlook or ProgressEstimate()).report(
            self.stop, samples, traced, time.perf_counter() - self._began
        )

    @exclusive
    def picture(self) -> Picture:
        """The picture on show, with its film, and all facts of how it was made."""
        seconds, film = time.perf_counter() - self._began, self.film()
        made = picture(self._tracer, self.linear(), film, self.stats, self.reason, seconds)
        if self.screen is not None and self._filter is not None and film is not None and self.complete:
            made.layers[NOISY.name] = film.linear
            made.metadata["denoised"] = self._tracer.settings.denoise.replace("auto", "shader")
        return made

    def _step(self, job: Round) -> None:
        """One piece: a pass of a machine, or a tile that is done."""
        began, renderer = time.perf_counter(), self._tracer
        self.steps += 1
        piece = next(job.pieces, None)
        if piece is not None and piece[1] is not None:
            part = piece[1]
            if self.screen is not None and not job.denoised:
                self.screen.put(part)
            elif not renderer.progressive:
                collect(part, renderer.device, renderer.prepared, self._cast, self.layers)
            self.stats.add(part.machine.stats)
        if self.screen is not None and not job.queued:
            renderer.device.wait()  # or the driver queues more than a frame's worth
        seconds = time.perf_counter() - began
        job.spent += seconds
        if renderer.mapping:
            job.mapping += seconds  # the same for a picture of any size
        elif job.tracing and not (job.fleeting and self._together(job.size)):
            self._pace.note(seconds)
        if piece is not None:
            self.progress = piece[0]
            return
        self._end(job)

    def _end(self, job: Round) -> None:
        if self.screen is not None:
            self.screen.end()
        self._job, self.scale, self.seconds = None, job.scale, max(job.spent, 1e-6)
        self.pictures += 1
        self._shown_at = time.perf_counter()
        self._pace.forget()
        traced = job.size[0] * job.size[1] * job.added
        if traced:
            self.rate += self.rhythm.smoothing * (traced / self.seconds - self.rate)
        if job.preview:
            if job.fleeting:
                self.timing.note(job.spent, job.queued)
            if not job.queued:
                self.previews.note(traced / max(job.spent - job.mapping - job.drawing, 1e-6))
            self.shown = job.camera, job.size
        self.samples, self.complete = job.samples, job.scale == 1.0 and not (self._again or job.fleeting)
        self.developing.take(job.film)
        if not self.complete:
            self.developing.release()  # a preview's
        watched = self.screen is not None or self.stop.looks(self.samples)
        self.error = self.developing.error() if watched else math.inf
        if self._outlook is not None and self._outlook.looks(self.samples, time.perf_counter() - self._began, watched):
            noise = self.error if watched else self.developing.error()
            self._outlook.see(self.samples, noise, self.developing.doubt)
        self.total_seconds += self.seconds
        self.converged = self.complete and self._enough()
        if self.converged and job.denoised:
            self._show_converged()
        if self.state is not None and self.state.due() and (film := self.film()) is not None:
            self.state.save(film)

    def _enough(self) -> bool:
        """Whether the picture on show needs no more samples."""
        if self.developing.buffer is None:  # one run is all
            return self.samples >= 1
        looks = self.screen is not None or self.stop.looks(self.samples)
        error = bound(self.error, self.developing.doubt) if looks else None
        self.reason = self.stop.reason(self.samples, time.perf_counter() - self._began, error)
        return bool(self.reason)

    def _drop(self) -> None:
        """The picture under way is of no use."""
        job, self._job = self._job, None
        if job is None:
            return
        if job.preview and self.screen is not None:
            self.screen.drop()
        job.pieces.close()
        if job.film is not None and job.film is not self.developing.buffer:
            free(job.film)

    @exclusive
    def release(self) -> None:
        """Free the film and the denoiser's buffers; the renderer stays."""
        self._drop()
        self.developing.release()
        if self._denoiser is not None:
            self._denoiser.release()
            self._denoiser = None


def _size(prepared: Prepared) -> tuple[str, int]:
    """What speed depends on: where something has moved it is the same, though a structure is built anew."""
    return prepared.structure.name, prepared.scene.triangle_count
