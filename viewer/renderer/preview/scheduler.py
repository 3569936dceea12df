"""How large the pieces of a picture and its previews are, so that a window answers in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viewer.stream.gl.device import Device

SMALL, LARGE = (256, 128), (1024, 512)  # streams (width, height): of a software driver, and of a GPU
STEP = 0.009  # seconds that a step of a run may take
LONGEST = 0.02  # seconds that one may take where the picture is as dear as its dearest rows so far
FORGET = 0.8  # of what the dearest rows cost, from picture to picture
FIRST_ROWS = 16
CALMING = 0.7  # of the seconds that a step is expected to take, from step to step
DENOISED = 0.04  # seconds that a preview may take where it is denoised: fewer pictures, but ones that can be read
CARRYING = 0.03  # seconds after which a picture is carried to where the camera is, until the next one is complete
FLOWN = 0.12  # seconds that a preview may take where pictures are carried in between
SCALES = tuple(2 ** (-k / 4) for k in range(13))  # of the picture's width and height, while the camera moves
SMALLER = (*SCALES, 2**-3.25, 2**-3.5)  # and where light is kept from picture to picture, and drawn up
FITTING = (0.6, 1.1)  # a preview may take this much of its budget before another scale is chosen
SMOOTHING = 0.4  # weight of the newest picture in a rate
MOST_IN_RUN = 16  # samples of a pixel that are added at a time: many keep passes full
LEAST_ROWS = 8  # fewer cost more beside their rays
MOST_TOGETHER = 1 << 14  # pixels of a film whose passes are one step: to wait for each costs more than they do
TOGETHER = 0.05  # seconds that such a step may take
QUICK = (1024, 16)  # streams (width, height) of such a film: llvmpipe's threads share few rays by tiles of 64 columns
TIMED_EVERY = 16  # pictures of a moving camera: the passes of the others are queued, which tells no times
SLOWER = 1.5  # times as long as the last one that was timed: the next one is timed, too


def stream_shape(device: Device) -> tuple[int, int]:
    """(width, height) of the streams that serve pictures of every size: a GPU needs more rays to be busy."""
    return SMALL if device.software else LARGE


@dataclass(frozen=True)
class Rhythm:
    """How samples are added: the seconds that a run may take, how many times more of them than last time, and the
    weight of the last picture in the rate."""

    seconds: float
    growth: int
    smoothing: float


INTERACTIVE = Rhythm(0.1, 2, SMOOTHING)  # no step takes much longer than the one before
HEADLESS = Rhythm(2.0, MOST_IN_RUN, 1.0)


class Pace:
    """Chooses the rows of the next piece by the slowest step of the last one, with room for dearer rows.

    What lies below costs about the same, until the sky ends and the trees begin: no piece is made so large that it
    would take `LONGEST` if its rows were the dearest seen.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.rows = min(FIRST_ROWS, most)
        self._slowest = self._expected = 0.0
        self._before = self._dearest = 0.0  # seconds of a step for each row: of the last piece, and of the dearest

    def note(self, seconds: float) -> None:
        """A step of the piece under way took so long."""
        self._slowest = max(self._slowest, seconds)
        self._expected = max(seconds, CALMING * self._expected)

    @property
    def expected(self) -> float:
        """Seconds that the next step may take: as many as the last ones, of which one may have been an exception."""
        return self._expected

    def forget(self) -> None:
        """A picture is complete: the next may be cheaper."""
        self._dearest *= FORGET

    def next(self) -> int:
        """Rows of the next piece."""
        if self._slowest > 0:
            seen = self._slowest / self.rows
            # Two in a row: a busy machine stops a step now and then.
            self._dearest = max(self._dearest, min(seen, self._before))
            self._before = seen
            # A busy machine stops a step now and then: that is no reason to go down to the least at once.
            wanted = self.rows * min(2.0, max(0.25, STEP / self._slowest))
            if self._dearest:
                wanted = min(wanted, LONGEST / self._dearest)
            self.rows = max(min(LEAST_ROWS, self.most), min(self.most, int(wanted)))
            self._slowest = 0.0
        return self.rows


class Previews:
    """Chooses the scale of previews by the rate of the last ones: samples a second, None before the first."""

    def __init__(self) -> None:
        self.rate: float | None = None
        self.scale = SCALES[0]

    def choose(self, pixels: int, budget: float, rate: float, scales: Sequence[float] = SCALES) -> float:
        """The largest of the scales whose preview fits ``budget`` seconds at the speed seen so far (without previews
        ``rate``); the last one if it about fits, since a change of scale shimmers."""
        rate = self.rate or rate
        share = pixels * self.scale**2 / (rate * budget)
        least, most = FITTING if self.scale < 1 else (0.0, FITTING[1])
        if self.rate is None or not least <= share <= most:
            self.scale = next((s for s in scales if pixels * s * s <= rate * budget), scales[-1])
        return self.scale

    def note(self, rate: float) -> None:
        """A preview was traced at so many samples a second."""
        self.rate = rate if self.rate is None else self.rate + SMOOTHING * (rate - self.rate)

    def forget(self) -> None:
        """Another program or scene: the rate is not known."""
        self.rate = None


@dataclass
class Timing:
    """Which pictures of a moving camera are timed, pass by pass; those in between are queued.

    queued : pictures since the last one that was timed. seconds : which that took.
    """

    queued: int = TIMED_EVERY
    seconds: float = 0.0

    @property
    def due(self) -> bool:
        """Whether the next one is to be timed."""
        return self.queued >= TIMED_EVERY

    def note(self, seconds: float, queued: bool) -> None:
        """A picture took so long."""
        if not queued:
            self.queued, self.seconds = 0, seconds
        else:
            self.queued = TIMED_EVERY if seconds > SLOWER * self.seconds else self.queued + 1
