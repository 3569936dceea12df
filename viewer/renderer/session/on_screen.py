"""The parts of a session for its screen alone: shaders compiled in small steps, and the picture that is shown."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator

from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview import scheduler
from raystream.renderer.preview.frame import FrameJob, Screen
from raystream.renderer.preview.motion import of_motion
from raystream.renderer.preview.preview import Preview
from raystream.renderer.preview.scheduler import Scheduler
from raystream.renderer.sampling.parts import RendererParts
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

    def pause(self) -> None:
        """Others may compile meanwhile."""
        self._steps = None

    def end(self, flight: bool = False) -> None:
        """All is compiled; or it is another scene, or other shaders: ``flight``: also those of light in flight."""
        self._steps, self.compiling = None, ""
        if flight:
            self._quick_steps = None


def _compiles(before: Settings, now: Settings) -> bool:
    """Whether other shaders may be needed."""
    return any(affects.compiles for affects in before.differences(now).values())


# -- the picture on the screen -----------------------------------------------------------------------------------------


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
