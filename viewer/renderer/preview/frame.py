"""A frame in progress, and the screen that shows it: a window's canvas, or anything else."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from raystream.film.device_film import FilmBuffer
from raystream.renderer.device.tile_job import Tile
from raystream.renderer.preview.scheduler import Pacing, ScheduledFrame, Scheduler
from raystream.renderer.sampling.sampler import Event, PhotonMapBuilt, PhotonMapProgress, PlanProgress
from raystream.scene.camera import Camera
from raystream.stream.gl.device import Device
from raystream.stream.gl.objects import Timestamp
from raystream.stream.gl.stream import Stream

Steps = Generator[Event, None, None]


@dataclass
class FrameJob:
    """A frame, as it is made: the camera, the film that it adds to, the number of its first sample, and its steps.

    white : luminance that its screen shows as white. denoised : the picture shown is. tracing : its tiles are still
    traced. spent : seconds so far; of these for photon maps (mapping) and for upsampling. timestamps : of a frame for
    which nobody waits: when the device has begun it, traced its light, found its surfaces, and ended. under_way :
    the tile that a machine works on.
    """

    frame: ScheduledFrame
    camera: Camera
    film: FilmBuffer | None
    first: int = 0
    white: float = 1.0
    denoised: bool = False
    tracing: bool = True
    spent: float = 0.0
    mapping: float = 0.0
    upsampling: float = 0.0
    under_way: Tile | None = None
    timestamps: list[Timestamp] = field(default_factory=list)
    steps: Steps = field(init=False)

    @property
    def eye(self) -> Camera:
        """Its camera; of one that moves all is sharp: through a lens one sample of a pixel shows dots."""
        return self.camera.with_lens(0.0) if self.frame.kind.in_motion else self.camera


class Screen(Protocol):
    """Where a session's pictures are shown, tile by tile: linear sRGB, row 0 at the top."""

    def begin(self, size: tuple[int, int], preview: bool) -> None:
        """Another picture of that size (width, height) begins. A preview is shown when it has ended; any other at once,
        the one on show enlarged at first."""

    def put(self, tile: Tile) -> None:
        """A tile is complete: its machine's streams hold it until the next call."""

    def show(self, picture: Stream) -> None:
        """The picture in progress is this one, a stream of `SHOWN` or `FILM`, and of a preview maybe a larger one."""

    def warp(self, size: tuple[int, int], draw: Callable[[Stream], None]) -> None:
        """The picture on show is the contents of a stream of `SHOWN` of that size; a preview in progress goes on."""

    def end(self) -> None:
        """The picture is complete."""

    def drop(self) -> None:
        """A preview in progress will not be completed."""

    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3): the picture on show."""


# -- the costs of frames -----------------------------------------------------------------------------------------------
# By the host's clock where it waits for the device, else by the device's own time stamps.
# A device that works beside the host (`Device.concurrent`) is asked whether it is done: with a frame whose passes are
# queued at its end, with any other after each step, one at a time.

RECONSTRUCTING = PlanProgress(1.0)  # the event of a step after a frame's light


class FrameClock:
    """Times the steps of frames, and tells the scheduler. pending : the device has still to make a value that the frame
    in progress needs next."""

    def __init__(self, device: Device, scheduler: Scheduler) -> None:
        self.device, self.scheduler = device, scheduler
        self.pending = False
        self._share = 0.0  # that is done of the frame in progress
        self._last: tuple[Event, Timestamp, Timestamp] | None = None  # the last step, and when it began and ended

    def begin(self) -> None:
        """Another frame begins."""
        self._last, self._share = None, 0.0

    # -- steps of a frame ------------------------------------------------------------------------------------------

    def step(self, job: FrameJob, waits: bool) -> Event | None:
        """One step of a frame: a pass of a machine, or a tile that is done; None: it has ended. ``waits``: a host that
        is not asked to queue waits for the device, which would queue more than a frame's worth."""
        began = time.perf_counter()
        if not self._ended(job):
            self.pending = True
            return PlanProgress(self._share)
        failed = self.device.failed_polls
        begun = self._timestamp() if self.scheduler.concurrent and not job.frame.queued else None
        with self.device.current(), self.device.polling(self.scheduler.concurrent):
            event = next(job.steps, None)
        self.pending = self.device.failed_polls > failed
        if event is not None:
            self._share = event.share
            if begun is not None and not self.pending:
                self._last = event, begun, self._timestamp()
                self.device.flush()
        if not self.scheduler.concurrent:
            if waits and not job.frame.queued:
                self.device.wait()
            self._note(job, event, time.perf_counter() - began)
        return event

    def _ended(self, job: FrameJob) -> bool:
        """Whether the device is done with the last step, or nobody asks: no more than one is queued."""
        if self._last is None:
            return True
        event, begun, ended = self._last
        with self.device.current():
            if not ended.ready:
                return False
            seconds = ended.seconds - begun.seconds
        self._last = None
        self._note(job, event, seconds)
        return True

    def _note(self, job: FrameJob, event: Event | None, seconds: float) -> None:
        """A step took so long."""
        job.spent += seconds
        if isinstance(event, PhotonMapProgress | PhotonMapBuilt):
            job.mapping += seconds  # the same for a picture of any size
        elif job.tracing and job.frame.pacing is Pacing.STEP:
            self.scheduler.tile_rows.note(seconds)

    def note(self, job: FrameJob) -> None:
        """A frame has ended."""
        self.scheduler.note_frame(job.frame, job.spent, job.mapping + job.upsampling)

    # -- parts of a frame, in whose steps the context is current ---------------------------------------------------

    def timed(self, steps: Iterator[None], waits: bool = False) -> Generator[Event, None, float]:
        """Steps of a part; gives their seconds, without those of others in between. ``waits``: for the device, after
        each."""
        spent = 0.0
        while True:
            began = time.perf_counter()
            ended = next(steps, RECONSTRUCTING) is RECONSTRUCTING
            if waits and not self.scheduler.concurrent:
                self.device.wait()
            spent += time.perf_counter() - began
            if ended:
                return spent
            yield RECONSTRUCTING

    def timestamped(self, job: FrameJob) -> bool:
        """Whether the host asks now and then if a frame is done, in place of waiting for it."""
        return job.frame.queued and self.scheduler.concurrent

    def begin_part(self, job: FrameJob) -> None:
        """The next step of such a frame is another part of it."""
        if self.timestamped(job):
            job.timestamps.append(self._timestamp())

    def wait_for_end(self, job: FrameJob, pixels: int, by_rays: bool) -> Iterator[Event]:
        """Come back until such a frame is done; then its costs are those that the device tells. pixels : that its light
        is upsampled to; 0: it is not. ``by_rays``: camera rays have found their surfaces."""
        self.begin_part(job)
        self.device.flush()
        while not job.timestamps[-1].ready:
            self.device.failed_polls += 1
            yield RECONSTRUCTING
        began, traced, filled, ended = (timestamp.seconds for timestamp in job.timestamps)
        job.spent, job.upsampling = max(ended - began, 1e-6), ended - traced
        if pixels:
            self.scheduler.upsampled.note(pixels / max(job.upsampling, 1e-6))
            if by_rays:
                self.scheduler.note_camera_rays(pixels, filled - traced)

    def _timestamp(self) -> Timestamp:
        with self.device.current():
            return Timestamp(self.device)
