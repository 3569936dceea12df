"""The heat map: what each ray of the full picture costs, in false colours."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.renderer.pace import Pace, stream_shape
from viewer.renderer.picture import COUNTED_LAYERS
from viewer.renderer.renderer import Renderer
from viewer.scene.camera import Camera
from viewer.window.study import false_color
from viewer.window.study.false_color import Legend, Shown


class Heat:
    """Steps or tests per ray of a picture of ``size`` (width, height), made tile by tile within budgets of time.

    what : a key of `viewer.renderer.picture.COUNTED_LAYERS`. The renderer's own program and machine run.
    Raises ViewerError for another ``what``.
    """

    def __init__(self, renderer: Renderer, camera: Camera, size: tuple[int, int], what: str) -> None:
        if what not in COUNTED_LAYERS:
            raise ViewerError("heat map", f"nothing counts '{what}'", f"one of {', '.join(COUNTED_LAYERS)}")
        self.renderer, self.camera, self.size, self.what = renderer, camera, size, what
        self.counts = np.full((size[1], size[0]), -1, np.int32)  # -1: not yet known
        self.progress = 0.0
        self._tile = stream_shape(renderer.device)
        self._pace = Pace(self._tile[1])
        self._pieces = renderer.slices(size, (what,), tile=self._tile, rows=self._pace.next, camera=camera)
        self._over = False

    @property
    def complete(self) -> bool:
        """Whether every ray is counted."""
        return self._over

    def advance(self, budget: float = float("inf")) -> bool:
        """Count for ``budget`` seconds; whether the map is complete."""
        began = time.perf_counter()
        while not self._over:
            started = time.perf_counter()
            piece = next(self._pieces, None)
            self._pace.note(time.perf_counter() - started)
            if piece is None:
                self._over, self.progress = True, 1.0
                break
            self.progress, part = piece
            if part is not None:
                tile = self.counts[part.rows, part.columns]
                calls = part.machine.stats.calls[COUNTED_LAYERS[self.what]]
                tile[...] = calls.reshape(-1)[: tile.size].reshape(tile.shape)
            if time.perf_counter() - began + self._pace.expected >= budget:
                break
        return self._over

    def compile(self) -> None:
        """Have its kernels compiled, if they are not."""
        for _ in self.renderer.warm(self._tile, counting=True):
            pass

    @property
    def compiled(self) -> bool:
        """Whether its kernels are compiled."""
        return self.renderer.ready(self._tile, counting=True)

    def show(self) -> Shown:
        """The map so far, and its legend; what is not counted yet is dark."""
        known: NDArray[np.bool_] = self.counts >= 0
        return false_color.count(f"{self.what} per ray", self.counts, known, self.what)


def heat(
    renderer: Renderer, camera: Camera, size: tuple[int, int], what: str = "steps"
) -> tuple[NDArray[np.uint8], Legend]:
    """The whole map at once: (H, W, 3) uint8, and its legend."""
    whole = Heat(renderer, camera, size, what)
    whole.advance()
    shown = whole.show()
    return shown.picture, shown.legend
