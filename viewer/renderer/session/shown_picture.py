"""A session's side of its screen: which picture is shown, of which camera, and since when."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from viewer.renderer.device.tile_job import Tile
from viewer.renderer.preview.frame import FrameJob, Screen
from viewer.renderer.preview.preview import Preview
from viewer.renderer.preview.scheduler import Scheduler
from viewer.scene.camera import Camera
from viewer.stream.gl.objects import Timestamp
from viewer.stream.gl.stream import Stream


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
        self._warping: tuple[Timestamp, Timestamp] | None = (
            None  # when the device began and ended the last warped picture
        )
        self._warp_seconds = 0.0  # that one took

    def begin(self, job: FrameJob, size: tuple[int, int], fresh: bool) -> None:
        """A frame begins: samples for the picture on show; ``fresh``: for a new one, of (width, height)
        pixels, or its preview."""
        if fresh:
            self.denoiser, self.samples = "none", 0
            self.screen.begin(job.frame.size, job.frame.kind.preview)
        if not job.frame.kind.preview:
            self.shown = job.camera, size

    def tile(self, tile: Tile) -> None:
        """A tile of a frame that is shown as it is."""
        self.screen.put(tile)

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

    def drop(self) -> None:
        """A preview in progress will not be completed."""
        self.screen.drop()

    def follow(self, preview: Preview, scheduler: Scheduler, pictures: int, size: tuple[int, int]) -> None:
        """Show the last picture as the moving camera sees it by now, where that is due. pictures : traced so far. size
        : of the whole picture, pixels."""
        self._note_warp(preview)
        if not preview.warps or (self.shown is not None and self.shown[0] == preview.renderer.camera):
            return
        if scheduler.warps(pictures, time.perf_counter() - self._since, preview.distance):
            seconds = self._warp(preview, size)
            scheduler.note_warp(pictures, self._warp_seconds if seconds is None else seconds)

    def _note_warp(self, preview: Preview) -> None:
        """Query the duration of the last warped picture, which was not waited for."""
        with preview.renderer.device.current():
            if self._warping is not None and self._warping[1].ready:
                self._warp_seconds = self._warping[1].seconds - self._warping[0].seconds
                self._warping = None

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

    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3) float32 linear sRGB of the picture on show, row 0 at the top."""
        return self.screen.linear()
