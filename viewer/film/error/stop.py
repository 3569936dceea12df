"""When a render is done: after so many samples, so long a time, or at so small an error."""

from __future__ import annotations

import math
from dataclasses import dataclass

FIRST_LOOK = 16  # samples before an estimated error is believed
NEXT_LOOK = 1.125  # times the samples of the last look: it takes a pass over the film
CAUTION = 1.0  # standard errors of an estimate that are added to it before it ends a render


def bound(error: float, doubt: float) -> float:
    """What an estimated error is taken for where a render may end: with some of its own standard error, as an estimate
    that is looked at often would else end it when it happens to be too low.

    doubt : that standard error, relative, see `viewer.film.error.neighbour_variance.doubt`.
    """
    return error * (1 + CAUTION * doubt)


@dataclass
class Stop:
    """The rules of a render; it ends with the first that is met.

    spp     : samples per pixel, at most.
    seconds : of rendering, or None.
    error   : estimated relative error as in `Film.error`, with some of its standard error (`bound`), or None.
    """

    spp: int
    seconds: float | None = None
    error: float | None = None
    _looked: int = 0  # samples at the last look

    def looks(self, samples: int) -> bool:
        """Whether `reason` wants to know the error after that many samples."""
        return self.error is not None and samples >= max(FIRST_LOOK, self._looked * NEXT_LOOK)

    def share(self, samples: float, seconds: float, error: float = math.inf) -> float:
        """How much is done, 0 to 1, by samples, time or error, whichever is nearest its end: of the samples that an
        error needs, which falls with their square root. error : as of `reason`."""
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
