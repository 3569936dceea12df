"""The frame: a picture on the device that is refined piece by piece, within a budget of time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.film.film import Film
from viewer.film.stop import FIRST_LOOK
from viewer.renderer.pieces import Slice
from viewer.renderer.renderer import Renderer
from viewer.renderer.settings import Settings
from viewer.stream.gl.device import Device
from viewer.window.picture.canvas import Canvas
from viewer.window.picture.noise import Noise
from viewer.window.picture.pace import Pace, stream_shape

FIRST_RATE = 1e6  # samples a second, before any has been seen
SMOOTHING = 0.4  # weight of the newest picture in the rate
SCALES = tuple(2 ** (-k / 4) for k in range(13))  # of the window's width and height, while the camera moves
FITTING = (0.6, 1.1)  # a preview may take this much of its budget before another scale is chosen
MOST_IN_RUN, RUN_SECONDS = 16, 0.1  # samples of a pixel that are added at a time, and the time that this may take


@dataclass
class _Job:
    """A picture under way: its pieces, whether it is a preview, its share of the window's width and height, the film
    that it adds to, the samples that every pixel will have, the new ones among them, and the seconds it has taken."""

    pieces: Iterator[tuple[float, Slice | None]]
    preview: bool
    scale: float
    target: moderngl.Texture
    film: Film | None
    samples: int
    added: int
    spent: float = 0.0
    noise: Noise = field(default_factory=Noise)


class Frame:
    """Pictures of a scene: first a preview that is quick enough to follow the hand, at rest the window's full size, to
    which a program of samples then adds samples until it has converged.

    The picture on show is `texture` (linear sRGB, row 0 at the top). A preview replaces it when it is complete; the
    full picture fills it piece by piece, and so do more samples, so that nothing flashes. `advance` traces for a while
    and returns.
    """

    def __init__(self, device: Device, size: tuple[int, int], most: int = 1, least_error: float = 0.0) -> None:
        self.device = device
        self.size = (max(1, size[0]), max(1, size[1]))  # of the window, pixels
        self.most, self.least_error = most, least_error  # samples and estimated relative error to stop at; 0: never
        self.renderer: Renderer | None = None
        self.complete = True  # the picture on show is the whole one, whatever the number of its samples
        self.converged = True
        self.progress = 1.0
        self.samples = 0  # of every pixel of the picture on show
        self.error = math.inf  # estimated, relative, of the picture on show
        self.film: Film | None = None  # of the picture on show, where samples are added to it
        self.scale = 1.0  # of the picture on show
        self.seconds = 0.0  # of tracing in the last picture
        self.total_seconds = 0.0  # of tracing in the samples on show
        self.rate = FIRST_RATE  # samples a second, of the last pictures
        self.pictures = 0  # shown so far, previews too
        self.compiling = ""  # the program whose shaders the next step compiles
        self.tile = stream_shape(device)
        self.canvas = Canvas(device)
        self.texture = self.canvas.texture((1, 1))
        self._pace = Pace(self.tile[1])
        self._preview_rate: float | None = None
        self._preview_scale = SCALES[0]
        self._job: _Job | None = None
        self._warming: tuple[Settings, Iterator[float]] | None = None
        self._again = self._failed = False
        self._added = 1  # samples of a pixel that were added last

    def reload(self) -> None:
        """Compile the shaders of the film anew. Raises ShaderError; the old ones then stay."""
        self.canvas.reload()

    def use(self, renderer: Renderer) -> None:
        """Show another scene; the picture of the old one stays until the new one has its first."""
        self.renderer = renderer
        self.relearn()
        self.abandon()

    def relearn(self) -> None:
        """Another program or scene: what pictures cost is not known."""
        self.rate, self._preview_rate = FIRST_RATE, None
        self._pace = Pace(self.tile[1])

    def resize(self, size: tuple[int, int]) -> None:
        """The window's size in pixels; a minimised window's is ignored."""
        if size != self.size and min(size) > 0:
            self.size = size
            self.restart()

    def aim(self, most: int, least_error: float) -> None:
        """Another number of samples, or error, to stop at; what is there stays."""
        self.most, self.least_error = most, least_error
        if self.complete:
            self.converged = self._enough()

    def restart(self) -> None:
        """The camera, the size or a choice has changed. A preview under way is finished first: it is nearly there."""
        self._again, self.complete, self.converged, self.progress = True, False, False, 0.0
        self.samples, self.error, self.total_seconds, self.film = 0, math.inf, 0.0, None
        self._failed = False
        if self._job is not None and not self._job.preview:
            self._drop()

    def abandon(self) -> None:
        """What is under way is of no use: begin anew."""
        self._drop()
        self._warming, self.compiling = None, ""
        self.restart()

    def fail(self) -> None:
        """The picture cannot be made; the one on show stays until something changes."""
        self._drop()
        self._warming, self._failed, self.compiling = None, True, ""

    @property
    def previewing(self) -> bool:
        """Whether a preview is under way, which must see the scene as it was when it began."""
        return self._job is not None and self._job.preview

    @property
    def idle(self) -> bool:
        """Whether `advance` has nothing to do."""
        return (self.complete and self.converged) or self.renderer is None or self._failed

    def waiting(self, moving: bool) -> bool:
        """Whether `advance` has nothing to do as long as the camera moves no further."""
        return self.idle or (moving and self._job is None and not self._again)

    def advance(self, budget: float, moving: bool = False) -> None:
        """Trace until ``budget`` seconds are over. While the camera is ``moving`` only previews are made.

        Returns before shaders are compiled, so that `compiling` can be shown, and after each of them. Raises
        ViewerError where they do not compile.
        """
        began = time.perf_counter()
        while not self.waiting(moving):
            if self._job is None:
                assert self.renderer is not None
                if not self.renderer.ready(self.tile):
                    self._compile(self.renderer)
                    return
                self._warming, self.compiling = None, ""
                self._job = self._begin(self._again, budget)
            self._step(self._job)
            left = budget - (time.perf_counter() - began)
            if left < (0 if self._job is None else self._pace.expected):
                return

    def _compile(self, renderer: Renderer) -> None:
        """One of the shaders; none the first time, when it is only told."""
        if not self.compiling:
            self.compiling = renderer.settings.program
            return
        if self._warming is None or self._warming[0] != renderer.settings:
            self._warming = renderer.settings, renderer.warm(self.tile)
        next(self._warming[1], None)

    def finish(self, converged: bool = False) -> None:
        """Trace until the full picture is there and all its pixels have as many samples; with ``converged``, all."""
        while not self.idle and (converged or not self.complete or self._job is not None):
            self.advance(0.0)  # a step at a time

    def _choose_scale(self, budget: float) -> float:
        """The largest scale whose preview fits the budget at the speed seen so far; the last one if it about fits."""
        pixels = self.size[0] * self.size[1]
        rate = self._preview_rate or self.rate
        share = pixels * self._preview_scale**2 / (rate * budget)
        least, most = FITTING if self._preview_scale < 1 else (0.0, FITTING[1])
        if self._preview_rate is None or not least <= share <= most:
            self._preview_scale = next((s for s in SCALES if pixels * s * s <= rate * budget), SCALES[-1])
        return self._preview_scale

    def _begin(self, preview: bool, budget: float) -> _Job:
        assert self.renderer is not None
        if self.complete:
            return self._refine(self.renderer)
        budget = max(budget, 1e-3)
        scale = self._choose_scale(budget) if preview else 1.0
        size = (max(1, round(self.size[0] * scale)), max(1, round(self.size[1] * scale)))
        film, samples = (Film(*size), 1) if self.renderer.progressive else (None, 1)
        target = self.canvas.texture(size)
        if preview:
            self._again = False
            if film is not None and scale == 1:  # there may be time for more than one
                rate = self._preview_rate or self.rate
                samples = self._more(rate * budget, self.most)
        else:
            self.canvas.enlarge(self.texture, target)
            self._show(target)
        pieces = self.renderer.slices(size, tile=self.tile, rows=self._pace.next, film=film, samples=samples)
        return _Job(pieces, preview, scale, target, film, samples, samples)

    def _refine(self, renderer: Renderer) -> _Job:
        """More samples for the picture on show: as many as take a short while, which keeps passes full."""
        assert self.film is not None
        added, size = self._more(RUN_SECONDS * self.rate, self.most - self.samples), self.film.size
        samples = self.samples + added
        pieces = renderer.slices(size, tile=self.tile, rows=self._pace.next, film=self.film, samples=samples)
        return _Job(pieces, False, 1.0, self.texture, self.film, samples, added)

    def _more(self, affordable: float, most: int) -> int:
        """Samples to add to each pixel; at most twice as many as last time, so that no step takes much longer."""
        wanted = min(int(affordable / (self.size[0] * self.size[1])), most, MOST_IN_RUN, 2 * self._added)
        self._added = max(1, wanted)
        return self._added

    def _step(self, job: _Job) -> None:
        """One piece: a pass of a machine, or a tile that is done."""
        began = time.perf_counter()
        piece = next(job.pieces, None)
        if piece is not None and piece[1] is not None:
            self.canvas.put(piece[1], job.target)
            if job.film is not None and job.scale == 1:
                job.noise.add(job.film, piece[1].rows, piece[1].columns)
        self.device.context.finish()  # or the driver queues more than a frame's worth
        seconds = time.perf_counter() - began
        job.spent += seconds
        self._pace.note(seconds)
        if piece is not None:
            self.progress = piece[0]
            return
        self._end(job)

    def _end(self, job: _Job) -> None:
        self._show(job.target)
        self._job, self.scale, self.seconds = None, job.scale, max(job.spent, 1e-6)
        self.pictures += 1
        self._pace.forget()
        rate = job.target.size[0] * job.target.size[1] * job.added / self.seconds
        self.rate += SMOOTHING * (rate - self.rate)
        if job.preview:
            before = self._preview_rate
            self._preview_rate = rate if before is None else before + SMOOTHING * (rate - before)
        self.samples, self.complete = job.samples, job.scale == 1.0 and not self._again
        self.film, self.error = (job.film, job.noise.error) if self.complete else (None, math.inf)
        self.total_seconds += self.seconds
        self.converged = self.complete and self._enough()

    def _enough(self) -> bool:
        """Whether the picture on show needs no more samples."""
        if self.film is None or self.samples >= self.most:
            return True
        return self.least_error > 0 and self.samples >= FIRST_LOOK and self.error <= self.least_error

    def _drop(self) -> None:
        if self._job is not None and self._job.target is not self.texture:
            self.canvas.free(self._job.target)
        self._job = None

    def _show(self, texture: moderngl.Texture) -> None:
        if texture is not self.texture:
            self.canvas.free(self.texture)
            self.texture = texture

    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3) float32 linear sRGB of the picture on show, row 0 at the top."""
        return self.canvas.linear(self.texture)
