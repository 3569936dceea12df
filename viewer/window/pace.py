"""How large a piece of a picture is traced at a time, so that the window answers in between."""

from __future__ import annotations

from viewer.stream.device import Device

SMALL, LARGE = (256, 128), (1024, 512)  # streams (width, height): of a software driver, and of a GPU
STEP = 0.009  # seconds that a step of a run may take
FIRST_ROWS = 32
LEAST_ROWS = 8  # fewer cost more beside their rays


def stream_shape(device: Device) -> tuple[int, int]:
    """(width, height) of the streams that serve pictures of every size: a GPU needs more rays to be busy."""
    return SMALL if device.software else LARGE


class Pace:
    """Chooses the rows of the next piece by the slowest step of the last one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.rows = min(FIRST_ROWS, most)
        self._slowest = 0.0

    def note(self, seconds: float) -> None:
        """A step of the piece under way took so long."""
        self._slowest = max(self._slowest, seconds)

    def next(self) -> int:
        """Rows of the next piece."""
        if self._slowest > 0:
            wanted = self.rows * min(2.0, STEP / self._slowest)
            self.rows = max(min(LEAST_ROWS, self.most), min(self.most, int(wanted)))
            self._slowest = 0.0
        return self.rows
