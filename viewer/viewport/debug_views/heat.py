"""The heat map: cost of each ray of the full picture, in false colours. Coarse first, then filled tile by tile, with
constant colours."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.renderer.preview.scheduler import TileRows, stream_shape
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.frame_plan import Event, FramePlan, PhotonMapBuilt, PhotonMapProgress, TileDone, Tiling
from raystream.renderer.sampling.picture import COUNTED_LAYERS
from raystream.scene.camera import Camera
from raystream.viewport.debug_views import false_color
from raystream.viewport.debug_views.false_color import FalseColorPicture, Legend

COARSE = 8  # pixels along the edge of a coarse map's block with one ray
ALIKE = 2.0  # ratio below which two maps' limits count as equal


class Heat:
    """Steps or tests per ray of a picture of ``size`` (width, height), computed tile by tile within time budgets.

    layer : a key of `raystream.renderer.sampling.picture.COUNTED_LAYERS`. The renderer's own program and machine run.
    limit
    : the count of the brightest colour in another map, kept if it suits this one. Raises ViewerError for another
    ``layer``.
    """

    def __init__(
        self, renderer: Renderer, camera: Camera, size: tuple[int, int], layer: str, limit: float | None = None
    ) -> None:
        if layer not in COUNTED_LAYERS:
            raise ViewerError("heat map", f"nothing counts '{layer}'", f"one of {', '.join(COUNTED_LAYERS)}")
        self.renderer, self.camera, self.size, self.layer = renderer, camera, size, layer
        self.settings = renderer.settings
        self.counts = np.full((size[1], size[0]), -1, np.int32)  # -1: unknown
        self.rough = np.full((-(-size[1] // COARSE), -(-size[0] // COARSE)), -1, np.int32)
        self.limit = limit  # after the coarse map: the count of the brightest colour
        self.ready = self.complete = False  # the coarse map is complete; every ray is counted
        self.progress = 0.0  # share of the rays counted
        self._tile = stream_shape(renderer.device.software)
        self._rows = TileRows(self._tile[1])
        self._cut = False  # a tile is unfinished
        self._events = self._begun()

    def _begun(self) -> Iterator[Event]:
        """The tiles of the coarse map, or else of the whole one."""
        height, width = (self.counts if self.ready else self.rough).shape
        tiling = Tiling(self._tile, self._rows.next)
        plan = FramePlan(self.renderer.settings, self.camera, (width, height), layers=(self.layer,), tiling=tiling)
        return self.renderer.sampler.render_tiles(plan)

    def interrupted(self) -> None:
        """The renderer was used elsewhere: drop the unfinished tile, and count again over the present counts."""
        if self._cut:
            self._events, self._cut = self._begun(), False

    def advance(self, budget: float = float("inf"), rough: bool = False) -> bool:
        """Count for ``budget`` seconds, until the map is complete, or with ``rough`` the coarse one, whose last tile is
        always finished; returns whether it is complete."""
        began = time.perf_counter()
        while not (self.complete or (rough and self.ready)):
            started = time.perf_counter()
            event = next(self._events, None)
            if not isinstance(event, PhotonMapProgress | PhotonMapBuilt):
                self._rows.note(time.perf_counter() - started)
            if event is None:
                self._end()
                continue
            self._cut = not isinstance(event, TileDone)
            counts = self.counts if self.ready else self.rough
            if self.ready:
                self.progress = event.share
            if isinstance(event, TileDone):
                tile = counts[event.tile.rows, event.tile.columns]
                calls = event.tile.machine.stats.calls[COUNTED_LAYERS[self.layer]]
                tile[...] = calls.reshape(-1)[: tile.size].reshape(tile.shape)
            if time.perf_counter() - began + self._rows.expected >= budget and not (rough and self._cut):
                break
        return self.ready if rough else self.complete

    def _end(self) -> None:
        """The coarse or the whole map is complete."""
        if self.ready:
            self.complete, self.progress = True, 1.0
            return
        highest, _ = false_color.highest(self.rough)
        if self.limit is None or not highest / ALIKE <= self.limit <= highest * ALIKE:
            self.limit = highest
        self.ready = True
        self._events = self._begun()

    def compile(self) -> None:
        """Compile its kernels, if necessary."""
        for _ in self.renderer.sampler.warm(self.renderer.settings, self.renderer.camera, self._tile, counting=True):
            pass

    @property
    def compiled(self) -> bool:
        """Whether its kernels are compiled."""
        return self.renderer.sampler.ready(self.renderer.settings, self.renderer.camera, self._tile, counting=True)

    def show(self) -> FalseColorPicture:
        """The map so far, and its legend: pixels not counted yet are coarse, or else dark."""
        height, width = self.counts.shape
        rough = self.rough[np.arange(height)[:, None] // COARSE, np.arange(width) // COARSE]
        counts = np.where(self.counts < 0, rough, self.counts)
        title = f"{self.layer} per ray"
        if not self.complete:
            title += f" ({100 * self.progress:.0f} % counted)"
        return false_color.count(title, counts, counts >= 0, self.layer, self.limit)


def heat(
    renderer: Renderer, camera: Camera, size: tuple[int, int], layer: str = "steps"
) -> tuple[NDArray[np.uint8], Legend]:
    """The whole map at once: (H, W, 3) uint8, and its legend."""
    heat_map = Heat(renderer, camera, size, layer)
    heat_map.advance()
    heat_map.limit = None  # only its own counts set it
    shown = heat_map.show()
    return shown.picture, shown.legend
