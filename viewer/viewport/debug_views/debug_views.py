"""Debug views inside the renderer, with a share of time for each: the inspector, the probed ray, and the heat map."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from raystream.base.errors import ViewerError
from raystream.renderer.preview.scheduler import TileRows, stream_shape
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.picture import COUNTER_LAYERS
from raystream.renderer.sampling.sampler import Event, FramePlan, PhotonMapBuilt, PhotonMapProgress, TileDone, Tiling
from raystream.scene.camera import Camera
from raystream.viewport.debug_views import false_color
from raystream.viewport.debug_views.false_color import FalseColorPicture
from raystream.viewport.debug_views.inspector import Inspector
from raystream.viewport.debug_views.photons import PhotonView
from raystream.viewport.debug_views.probe import Probe, forget, probing
from raystream.viewport.viewport import Viewport

# -- the heat map: cost of each ray of the full picture; coarse first, then tile by tile, with constant colours --------

COARSE = 8  # pixels along the edge of a coarse map's block with one ray
ALIKE = 2.0  # ratio below which two maps' limits count as equal


class Heat:
    """Steps or tests per ray of a picture of ``size`` (width, height), computed tile by tile within time budgets.

    layer : a key of `raystream.renderer.sampling.picture.COUNTER_LAYERS`. The renderer's own program and machine run.
    limit
    : the count of the brightest colour in another map, kept if it suits this one. Raises ViewerError for another
    ``layer``.
    """

    def __init__(
        self, renderer: Renderer, camera: Camera, size: tuple[int, int], layer: str, limit: float | None = None
    ) -> None:
        if layer not in COUNTER_LAYERS:
            raise ViewerError("heat map", f"nothing counts '{layer}'", f"one of {', '.join(COUNTER_LAYERS)}")
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
                calls = event.tile.machine.stats.calls[COUNTER_LAYERS[self.layer]]
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


# -- debug views inside the renderer, with a share of time for each ----------------------------------------------------

HEATS = (None, "steps", "tests")


class DebugViews:
    """The debug views of the current scene.

    inspector, probe : None while closed. heat : the counts of the heat map, None for no map. photons : the photon
    map's, as points and cells.
    """

    def __init__(self, view: Viewport) -> None:
        self.view = view
        self.photons = PhotonView(view)
        self.inspector: Inspector | None = None
        self.inspecting = False  # run the inspector to its end
        self.probe: Probe | None = None
        self.probing: Iterator[Probe] | None = None
        self.heat: str | None = None
        self.heat_map: Heat | None = None  # the current one
        self._coming: Heat | None = None  # the next one, without a picture yet
        self._counted: dict[str, Heat] = {}  # the last complete ones, by their counts
        self._limits: dict[str, float] = {}  # of the last maps
        self._steps = 0  # of the session, at the last counting for the heat map

    # -- commands --------------------------------------------------------------------------------------------------

    def toggle_inspector(self) -> None:
        """Open the inspector, or close it."""
        self.view.say_switched("inspector", self.inspector is None)
        if self.inspector is None:
            self.restart_inspector()
            return
        self._close_inspector()

    def _close_inspector(self) -> None:
        if self.inspector is not None:
            self.inspector.release()
        self.inspector, self.inspecting = None, False

    def restart_inspector(self, action: Callable[[], None] = lambda: None) -> None:
        """Restart at the first pass; ``action`` is called afterwards."""
        renderer, controller = self.view.require_scene()
        inspector, camera = self.inspector or Inspector(renderer), controller.camera

        def begin() -> None:
            inspector.begin(camera)
            self.inspector, self.inspecting = inspector, False
            self.view.overlays.panels.on = True  # it is a panel
            action()

        if self.inspector is None:
            self.view.compilation.request("the inspector's kernels", begin)
        else:
            begin()

    def step_inspector(self, to_end: bool = False) -> None:
        """Draw one pass, or all remaining ones."""
        if self.inspector is None:
            self.restart_inspector(lambda: self.step_inspector(to_end))
        elif to_end:
            self.inspecting = True
        elif not self.inspector.step():
            self.view.say("the frame is complete: no ray is left")

    def toggle_probe(self) -> None:
        """Probe the ray of the current picture's pixel under the cursor, or close the probe."""
        view = self.view
        if self.probe is not None:
            self.probe = self.probing = None
            view.say_switched("probe", False)
            return
        renderer, controller = view.require_scene()
        view.say_switched("probe", True)
        # In motion, and while that is paused, the current picture is a smaller one of an earlier moment.
        camera, pixels = view.session.shown or (controller.camera, view.area.pixels)
        width, height = view.area.size
        x, y = view.input.cursor[0] * pixels[0] / max(1, width), view.input.cursor[1] * pixels[1] / max(1, height)
        pixel = (min(max(int(x), 0), pixels[0] - 1), min(max(int(y), 0), pixels[1] - 1))

        def begin() -> None:
            self.probing = probing(renderer, camera, pixels, pixel)
            self.probe, view.overlays.panels.on = next(self.probing, None), True  # its table is a panel

        view.compilation.request("the probe's kernels", begin)

    def next_heat(self) -> None:
        """Switch the heat map: steps, tests, none."""
        self.heat = HEATS[(HEATS.index(self.heat) + 1) % len(HEATS)]
        last_map = self._counted.get(self.heat or "")
        self.heat_map, self._coming = last_map if self._mapped(last_map) else None, None
        self.view.say(f"heat map of {self.heat}" if self.heat else "no heat map")

    # -- work ------------------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether a debug view waits for the first whole picture; further samples wait for it."""
        heat = self.counting is not None and self.view.session.complete
        return self.inspecting or self.probing is not None or heat

    def advance(self, budget: float) -> None:
        """Advance inspector, probed ray and heat map by their shares of ``budget`` seconds."""
        began = time.perf_counter()
        if self.inspecting:
            self.inspecting = self.inspector is not None and not self.inspector.run_to_end(budget)
            self.view.wake()
        while self.probing is not None and time.perf_counter() - began < budget:
            steps, self.probing = self.probing, None  # an error ends it
            for self.probe in steps:
                self.probing = steps
                break
            self.view.wake()
        if not self.inspecting and self.probing is None:
            self._count_heat(budget)

    @property
    def counting(self) -> float | None:
        """The completed share of the heat map; None if none is being counted."""
        heat_map = self.heat_map if self._mapped(self.heat_map) else None
        if self.heat is None or (heat_map is not None and heat_map.complete):
            return None
        return heat_map.progress if heat_map is not None else 0.0

    def _mapped(self, heat_map: Heat | None) -> bool:
        """Whether a heat map belongs to the current picture, or will at rest."""
        view = self.view
        if heat_map is None or view.controller is None or view.renderer is None:
            return False
        now = (view.controller.camera, view.area.pixels, self.heat, view.renderer.settings)
        return (heat_map.camera, heat_map.size, heat_map.layer, heat_map.settings) == now

    def _count_heat(self, budget: float) -> None:
        """Count the heat map after the picture: coarse while the camera moves, in full once the picture is complete.

        The current one stays until the next has a picture.
        """
        view = self.view
        if self.heat is None or view.renderer is None or view.controller is None:
            self.heat_map = self._coming = None
            return
        heat_map = next((candidate for candidate in (self._coming, self.heat_map) if self._mapped(candidate)), None)
        if heat_map is None and not view.session.complete:
            heat_map = self._coming  # finished first, or nothing would be seen in motion
        if heat_map is None:
            heat_map = self._coming = Heat(
                view.renderer, view.controller.camera, view.area.pixels, self.heat, self._limits.get(self.heat)
            )
            if not heat_map.compiled:
                view.compilation.request("the heat map's kernels", heat_map.compile)
                return
        if heat_map.complete or (heat_map.ready and not view.session.complete):
            return
        if self._steps != view.session.steps:  # its runs in between have used the streams of the unfinished tile
            self._steps = view.session.steps
            heat_map.interrupted()
        rough = not view.session.complete
        done = heat_map.advance(budget, rough)
        if heat_map.ready and heat_map is self._coming:
            self.heat_map, self._coming = heat_map, None
        if heat_map.ready and heat_map.limit is not None:
            self._limits[self.heat] = heat_map.limit
        if done and not rough:
            self._counted[self.heat] = heat_map
        view.wake()

    # -- change ----------------------------------------------------------------------------------------------------

    def scene_changed(self) -> None:
        """Drop all results of the old scene."""
        self._forget_results()
        self.probe = None
        self._close_inspector()

    def _forget_results(self) -> None:
        self.heat_map = self._coming = self.probing = None
        self._counted.clear()
        self.photons.forget()

    def drop(self, renderer: Renderer | None) -> None:
        """Drop references to the renderer's machines, or to all of its scene."""
        self.scene_changed()
        self._limits.clear()
        self.view.compilation.drop()
        if renderer is not None:
            forget(renderer)

    def reloaded(self) -> None:
        """Shaders have changed: restart inspector, heat map and probe."""
        self._forget_results()
        if self.view.renderer is not None:
            forget(self.view.renderer)
        if self.inspector is not None and self.view.controller is not None:
            self.inspector.release()
            self.inspector.begin(self.view.controller.camera)
