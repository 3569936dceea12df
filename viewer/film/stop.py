"""When a render is done: a number of samples, a time, or an error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from raystream.options.picture import QUALITIES
from raystream.options.table import check, most_samples

FIRST_LOOK = 16  # samples before an estimated error is believed
NEXT_LOOK = 1.125  # times the samples of the last look: a look takes a pass over the film
CAUTION = 1.0  # standard errors added to an estimated error before it ends a render


def bound(error: float, relative_std_error: float) -> float:
    """Upper bound of an estimated error, by which a render may end: it includes `CAUTION` standard errors, since
    frequent looks would else end the render at an estimate that is low by chance.

    relative_std_error : of the estimate, see `raystream.film.error.relative_std_error`.
    """
    return error * (1 + CAUTION * relative_std_error)


@dataclass
class Stop:
    """The rules of a render; it ends with the first that is met.

    spp     : samples per pixel, at most.
    seconds : of rendering, or None.
    error   : estimated relative error as in `Film.error`, with some of its standard error (`bound`), or None.
    step    : samples between looks at the error, so that the picture does not depend on the machine's pace; 0: any.
    """

    spp: int
    seconds: float | None = None
    error: float | None = None
    step: int = 0
    _looked: int = 0  # samples at the last look

    def looks(self, samples: int) -> bool:
        """Whether `reason` needs the error at that many samples."""
        between = self.step > 0 and samples % self.step > 0
        return self.error is not None and not between and samples >= max(FIRST_LOOK, self._looked * NEXT_LOOK)

    def most(self, samples: int) -> int:
        """Samples that may follow those at one go: at most up to the next look."""
        return self.spp if not self.step else min(self.spp, (samples // self.step + 1) * self.step)

    def share(self, samples: float, seconds: float, error: float = math.inf) -> float:
        """Progress, 0 to 1, by samples, time or error, whichever is nearest its end; the samples for an error grow with
        its inverse square. error : as of `reason`."""
        timed = seconds / self.seconds if self.seconds else 0.0
        settled = (self.error / error) ** 2 if self.error is not None and error > 0 else 0.0
        return min(1.0, max(samples / self.spp, timed, settled))

    def reason(self, samples: int, seconds: float, error: float | None = None) -> str:
        """Why to stop after ``samples`` per pixel and ``seconds``: ``spp``, ``time`` or ``error``; empty: go on.

        error : the `bound` of the relative error with these samples; None where `looks` does not ask for it.
        """
        if samples >= self.spp:
            return "spp"
        if self.seconds is not None and seconds >= self.seconds:
            return "time"
        if self.error is not None and error is not None and samples >= FIRST_LOOK:
            self._looked = samples
            if error <= self.error:
                return "error"
        return ""


def stop_of(spp: Any, time: Any, error: Any, quality: Any = None, tolerance: float = 1.0) -> Stop:
    """The rules that values of these options mean; a ``quality`` decides what the others leave open. tolerance : factor
    on its limit of noise.

    Raises ViewerError for a value out of range.
    """
    spp, time, error, quality = check("spp", spp), check("time", time), check("error", error), check("quality", quality)
    step = 0
    if quality is not None and error is None:
        error, step = QUALITIES[quality][0] * tolerance, FIRST_LOOK
    return Stop(most_samples(spp, time, error, quality), time, error, step)
