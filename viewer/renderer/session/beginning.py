"""How a session's rounds begin, and what its screen shows between two of them while the camera moves."""

from __future__ import annotations

import math
import time

from numpy.typing import NDArray

from viewer.film.device_film import FilmBuffer
from viewer.film.error.stop import Stop
from viewer.renderer.preview.frame import Round
from viewer.renderer.preview.motion import of_motion
from viewer.renderer.preview.scheduler import (
    CARRYING,
    DENOISED,
    FLOWN,
    HEADLESS,
    INTERACTIVE,
    MOST_IN_RUN,
    MOST_TOGETHER,
    QUICK,
    SCALES,
    SMALLER,
    TOGETHER,
    Pace,
    Previews,
    Timing,
)
from viewer.renderer.preview.screen import Screen
from viewer.renderer.session.compiling import Compiling

MOST_CARRIED = 3  # pictures for each one that is traced, or a slow machine would do nothing else
FARTHEST = 0.008  # of the scene's diagonal: beyond, too much is seen that the picture does not show
COSTLY = 2.0  # times as long as it takes: no more than half of the time is for pictures that are carried
FIRST_RATE = 1e6  # samples a second, before any has been seen


class Beginning(Compiling):
    """A picture on show to which rounds of samples are added, in the time that there is.

    stop, screen, layers, counting, bounce : see `viewer.renderer.session.session.Session`.
    """

    def __init__(
        self,
        size: tuple[int, int],
        stop: Stop,
        screen: Screen | None,
        layers: dict[str, NDArray] | None,
        counting: bool,
        bounce: int | None,
    ) -> None:
        super().__init__(size, screen, layers, counting, bounce)
        self.stop = stop
        self.rate = FIRST_RATE  # samples a second, of the last pictures
        self.pictures = self.carried = 0  # so far: traced, previews too; and carried to the camera in between
        self.tile: tuple[int, int] | None = None
        self.previews, self.timing = Previews(), Timing()
        self.rhythm = HEADLESS if screen is None else INTERACTIVE
        self._pace = Pace(1)
        self._again = self._moving = False
        self._added = 1 if screen is not None else 0  # samples of a pixel that were added last
        self._began = time.perf_counter()
        self._shown_at = -math.inf  # when the picture on show came
        self._carry_cost = 0.0  # seconds that the last picture that was carried took
        self._carried_of = 0, 0  # pictures that had been traced then, and how many were carried since

    @property
    def _carries(self) -> bool:
        """Whether another picture than the one under way can be shown: of a moving camera, the one before."""
        denoiser = self._filter
        return self._moving and self.screen is not None and denoiser is not None and denoiser.carries

    def _carry(self) -> None:
        """Show the last picture as the camera sees it by now, where one is due and none is complete."""
        now, camera, denoiser = time.perf_counter(), self._tracer.camera, self._filter
        if not self._carries or (self.shown is not None and self.shown[0] == camera):
            return
        if now - self._shown_at < max(CARRYING, COSTLY * self._carry_cost):
            return
        of, count = self._carried_of if self._carried_of[0] == self.pictures else (self.pictures, 0)
        if count >= MOST_CARRIED or not (self._job is None or self._job.preview):
            return
        assert denoiser is not None and self.screen is not None
        if denoiser.distance > FARTHEST:
            return
        self._carried_of = of, count + 1
        device = self._tracer.device
        with device.current():
            self.screen.carry(denoiser.carried, denoiser.carry)  # of no more pixels than the picture has
            device.wait()
        self.shown, self.carried = (camera, self.size), self.carried + 1
        self._shown_at = time.perf_counter()
        self._carry_cost = self._shown_at - now

    def _begin(self, preview: bool, budget: float) -> Round:
        """The next picture, or more samples for the one on show."""
        if self.complete and self._added_none and self.developing.buffer is not None:
            self._added_none = False
            return self._run(self.developing.buffer, 1.0, self.samples, 0)
        if self.complete:
            most = (self.stop.spp if self._tracer.progressive else 1) - self.samples
            left = math.inf if self.stop.seconds is None else self.stop.seconds - (time.perf_counter() - self._began)
            added = self._more(min(self.rhythm.seconds, max(left, 0.0)) * self.rate, most)
            return self._run(self.developing.buffer, 1.0, self.samples + added, added)
        budget, share, scales = max(budget, 1e-3), 1.0, SCALES
        if self._filter is not None:
            # Where pictures are carried to the camera in between, one may take longer.
            budget = max(budget, FLOWN if self._carries else DENOISED)
            share, scales = self._filter.light, SMALLER
        pixels = self.size[0] * self.size[1]
        scale = self.previews.choose(pixels, share * budget, self.rate, scales) if preview else 1.0
        size = (max(1, round(self.size[0] * scale)), max(1, round(self.size[1] * scale)))
        device, samples = self._tracer.device, 1
        film = self.developing.blank(device, size) if self._tracer.progressive else None
        if preview:
            self._again = False
            if film is not None and scale == 1:  # there may be time for more than one
                samples = self._more((self.previews.rate or self.rate) * share * budget, self.stop.spp)
        if self.screen is not None:
            self.screen.begin(size, preview)
        return self._run(film, scale, samples, samples, size, preview, budget)

    def _run(
        self,
        film: FilmBuffer | None,
        scale: float,
        samples: int,
        added: int,
        size: tuple[int, int] | None = None,
        preview: bool = False,
        budget: float = 0.0,
    ) -> Round:
        renderer, size, denoiser = self._tracer, size or self.size, self._filter
        # Samples of a film that goes on at rest are its own; those of others follow each other from picture to picture.
        fleeting = preview and denoiser is not None and film is not None and (self._moving or scale < 1)
        first = denoiser.numbers(samples) if denoiser is not None and fleeting else 0
        settings, tile, rows = of_motion(renderer.settings) if fleeting else None, self.tile, self._pace.next
        together = fleeting and self._together(size)
        if together and self._quick is not None and renderer.ready(QUICK, self.counting, self._quick):
            settings, tile, rows = self._quick, QUICK, lambda: QUICK[1]
        pieces = renderer.slices(
            size,
            tuple(self.layers),
            self.counting,
            tile=tile,
            rows=rows,
            film=film,
            samples=samples,
            bounce=self.bounce,
            settings=settings,
            camera=renderer.camera.with_lens(0.0) if fleeting else None,
            rough=preview and scale < 1,
            first=first,
            goal=self.stop.error,
        )
        made = Round(pieces, preview, scale, size, renderer.camera, film, samples, added)
        made.fleeting, made.first = fleeting, first
        made.queued = together and not self.timing.due
        if not preview:
            self.shown = made.camera, made.size
        if denoiser is not None and film is not None:
            made.denoised = True
            made.pieces = denoiser.after(made, pieces, film, self.size, self.screen, self.stop.spp, budget)
        return made

    def _together(self, size: tuple[int, int]) -> bool:
        """Whether the light of a preview of that size is so quick that it can be one step."""
        pixels = size[0] * size[1]
        return pixels <= MOST_TOGETHER and pixels <= TOGETHER * (self.previews.rate or 0.0)

    def _more(self, affordable: float, most: int) -> int:
        """Samples to add to each pixel."""
        wanted = min(int(affordable / (self.size[0] * self.size[1])), most, MOST_IN_RUN)
        self._added = max(1, min(wanted, self.rhythm.growth * self._added))
        return self._added
