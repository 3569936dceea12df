"""What a session on a screen compiles before it goes on, a shader at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from numpy.typing import NDArray

from viewer.renderer.inputs.settings import Settings
from viewer.renderer.preview.motion import of_motion
from viewer.renderer.preview.scheduler import QUICK
from viewer.renderer.preview.screen import Screen
from viewer.renderer.sampling.parts import RendererParts
from viewer.renderer.session.shown import Shown

LONGEST_COMPILE = 2.0  # seconds: what takes longer is not compiled once more, for pictures of a moving camera alone


class Compiling(Shown):
    """A picture on show whose next step may wait for shaders.

    screen, layers, counting, bounce : see `viewer.renderer.session.session.Session`.
    """

    def __init__(
        self,
        size: tuple[int, int],
        screen: Screen | None,
        layers: dict[str, NDArray] | None,
        counting: bool,
        bounce: int | None,
    ) -> None:
        super().__init__(size, screen, layers, counting, bounce)
        self.compiling = ""  # the program whose shaders the next step compiles
        self._warming: tuple[Settings, Iterator[float]] | None = None
        self._warmed = 0.0  # seconds that what was compiled last took
        self._quickening: tuple[Settings, Iterator[float]] | None = None  # as `_warming`, of `_quick`

    def _compile(self, renderer: RendererParts, tile: tuple[int, int]) -> None:
        """One of the shaders; none the first time, when it is only told."""
        if not self.compiling:
            self.compiling = renderer.settings.program
            return
        now = renderer.settings
        if self._warming is None or not self._warming[0].differences(now).keys() <= {"camera", "fov"}:
            self._warming, self._warmed = (now, self._warm(renderer, tile)), 0.0
        began = time.perf_counter()
        if next(self._warming[1], None) is None:
            self._warming = None
        self._warmed += time.perf_counter() - began

    @property
    def _quick(self) -> Settings | None:
        """The settings of light of few pixels while the camera moves, where a machine of its own serves it best: of a
        software driver, which waits for every pass, one that has a single pass."""
        renderer, wanted = self._tracer, self._filter is not None
        if not wanted or not renderer.device.software or renderer.settings.picture_program.maps_photons:
            return None
        return of_motion(renderer.settings).replace(machine="singlepass")

    def _compile_quick(self) -> bool:
        """What `_quick` asks for, one of the shaders; whether there was any, that does not take too long."""
        settings, renderer = self._quick, self._tracer
        if settings is None or self._warmed > LONGEST_COMPILE or renderer.ready(QUICK, self.counting, settings):
            return False
        if self._quickening is None or self._quickening[0].differences(settings).keys() - {"camera", "fov"}:
            self._quickening = settings, renderer.warm(QUICK, self.counting, settings)
        if next(self._quickening[1], None) is None:
            self._quickening = None
        return True

    def _ready(self, tile: tuple[int, int]) -> bool:
        """Whether nothing is left to compile."""
        denoiser = self._filter
        return self._tracer.ready(tile, self.counting) and (denoiser is None or denoiser.ready)

    def _warm(self, renderer: RendererParts, tile: tuple[int, int]) -> Iterator[float]:
        if not renderer.ready(tile, self.counting):
            yield from renderer.warm(tile, self.counting)
        denoiser = self._filter
        if denoiser is not None and not denoiser.ready:
            yield from denoiser.warm()
