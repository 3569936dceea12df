"""How far a render of samples is, for who waits for it."""

from __future__ import annotations

import math

from viewer.film.error.stop import NEXT_LOOK, Stop, bound
from viewer.renderer.preview.scheduler import NOISE_AFTER


class ProgressEstimate:
    """The share of a render that is done, the samples that are kept, and the noise they leave.

    noise : the estimated relative error when it was last looked at; inf before.
    """

    def __init__(self) -> None:
        self.noise = math.inf
        self._looked = 0  # samples at the last look
        self._relative_std_error = 0.0  # of the noise
        self._share = 0.0

    def looks(self, samples: int, seconds: float, known: bool = False) -> bool:
        """Whether it is time to look at the noise, which costs nothing where it is ``known``."""
        return known or (seconds >= NOISE_AFTER and samples >= max(2.0, self._looked * NEXT_LOOK))

    def see(self, samples: int, noise: float, relative_std_error: float = 0.0) -> None:
        """The estimated relative error with ``samples``, and its own, relative to it."""
        self._looked, self.noise, self._relative_std_error = samples, noise, relative_std_error

    def report(self, stop: Stop, samples: int, traced: float, seconds: float) -> tuple[float, str]:
        """The share that is done, by the rule that is nearest its end, which never falls; and a text.

        samples : that every pixel has, and that are kept where the render ends now; ``traced`` counts those in
        progress.
        """
        self._share = max(self._share, stop.share(traced, seconds, bound(self.noise, self._relative_std_error)))
        open_ended = stop.seconds is not None or stop.error is not None
        text = f"{samples:,} sample{'s' * (samples != 1)}" if open_ended else f"{samples:,} of {stop.spp:,} samples"
        if math.isfinite(self.noise):
            most = "" if stop.error is None else f" of {percent(stop.error)}"
            text += f", noise {percent(self.noise)}{most}"
        return self._share, text


def percent(share: float) -> str:
    """``1.2 %``: two digits that count."""
    return f"{float(f'{100 * share:.2g}'):g} %"
