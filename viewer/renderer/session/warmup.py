"""Compilation before a session on a screen goes on, in small steps."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator

from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.motion import of_motion
from raystream.renderer.preview.preview import Preview
from raystream.renderer.preview.scheduler import COMPILED, LONGEST_COMPILE, POLL_COMPILING, QUICK
from raystream.renderer.sampling.parts import RendererParts


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
        now = self.renderer.settings
        if not self.compiling:
            self.compiling = now.program
            return
        if self._steps is None or _compiles(self._steps[0], now):
            self._steps, self._seconds = (now, self._shaders(preview)), 0.0
        began = time.perf_counter()
        while self._steps is not None and time.perf_counter() - began < COMPILED:
            if next(self._steps[1], None) is None:
                self._steps = None
            elif self.renderer.device.compiler.busy:
                time.sleep(POLL_COMPILING)
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
        return quick is not None and self._compiled(quick, QUICK)

    def step_quick(self) -> bool:
        """Compile one of that machine's shaders; whether there was any that does not take too long."""
        quick = self.quick
        if quick is None or self._seconds > LONGEST_COMPILE or self._compiled(quick, QUICK):
            return False
        if self._quick_steps is None or _compiles(self._quick_steps[0], quick):
            self._quick_steps = quick, self._compile(quick, QUICK)
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
