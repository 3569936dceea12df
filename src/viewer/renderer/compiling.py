"""What a session on a screen compiles before it goes on, a shader at a time."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.typing import NDArray

from viewer.renderer.screen import Screen
from viewer.renderer.settings import Settings
from viewer.renderer.shown import Shown
from viewer.renderer.tracer import Tracer


class Compiling(Shown):
    """A picture on show whose next step may wait for shaders.

    screen, layers, counting, bounce : see `viewer.renderer.session.Session`.
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

    def _compile(self, renderer: Tracer, tile: tuple[int, int]) -> None:
        """One of the shaders; none the first time, when it is only told."""
        if not self.compiling:
            self.compiling = renderer.settings.program
            return
        now = renderer.settings
        if self._warming is None or not self._warming[0].differences(now).keys() <= {"camera", "fov"}:
            self._warming = now, self._warm(renderer, tile)
        if next(self._warming[1], None) is None:
            self._warming = None

    def _ready(self, tile: tuple[int, int]) -> bool:
        """Whether nothing is left to compile."""
        denoiser = self._filter
        return self._tracer.ready(tile, self.counting) and (denoiser is None or denoiser.ready)

    def _warm(self, renderer: Tracer, tile: tuple[int, int]) -> Iterator[float]:
        if not renderer.ready(tile, self.counting):
            yield from renderer.warm(tile, self.counting)
        denoiser = self._filter
        if denoiser is not None and not denoiser.ready:
            yield from denoiser.warm()
