"""The application: composes window, session, view and rooms, and turns the loop."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raystream.base.errors import ViewerError
from raystream.base.interrupts import raise_dropped
from raystream.base.start.modules import load_beside
from raystream.formats import named
from raystream.options.table import check, keywords
from raystream.renderer.device.tuning import in_buffers
from raystream.renderer.inputs.program_file import program_files
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.scheduler import PANELS
from raystream.renderer.session.session import Session
from raystream.scene.scene import Scene
from raystream.stream.declare.limits import LIMITS
from raystream.stream.gl.device import Device
from raystream.viewport.display.display import Display
from raystream.viewport.display.photons import PhotonPicture
from raystream.viewport.display.picture_texture import PictureTexture
from raystream.viewport.host import ViewerHost
from raystream.viewport.preferences import Preferences
from raystream.viewport.reload import Watch
from raystream.viewport.viewport import RULES, configured, rules
from raystream.window.commands import handlers
from raystream.window.draw_schedule import DrawSchedule
from raystream.window.events import Events
from raystream.window.panels import layout
from raystream.window.window import TITLE, Window

if TYPE_CHECKING:
    from raystream.window.gui import Gui

_GUI = "raystream.window.gui"
SWITCHING = 0.001  # seconds that a thread which loads keeps the interpreter, where the window's waits for it
PHOTON_DIAMETER = 3.0  # of a photon's point, pixels at a scale of 1
PHOTON_DIMMING = 2.0  # stops that the picture is darker by under photons


class App:
    """A window on a scene, of a file or a built-in one by name, or given, at a ``moment`` (seconds) of an animation by
    its name or number. ``size`` (width, height) is the window's. ``window``: one that is open already. ``chosen`` are
    options of the renderer, of the display, and the rules of `raystream.viewport.viewport.RULES`; what they decide is
    no preference.

    Raises ViewerError for a value out of range and without a display, DeviceError without OpenGL 3.3.
    """

    each_turn: Callable[[], object] = staticmethod(lambda: None)  # called once a turn, at least every `period` seconds
    period = math.inf

    def __init__(
        self,
        scene: str | Scene,
        size: tuple[int, int] | None = None,
        preferences: Preferences | None = None,
        camera: str | None = None,
        fov: float | None = None,
        variant: str | int | None = None,
        lenient: bool = False,
        moment: float | None = None,
        animation: str | int | None = None,
        window: Window | None = None,
        **chosen: Any,
    ) -> None:
        ends = {name: chosen.pop(name) for name in RULES if name in chosen}
        shown = {name: check(name, chosen.pop(name)) for name in keywords("save") if name in chosen}
        settings = Settings(camera=camera, fov=fov, **chosen)
        if settings.device is not None:
            raise ViewerError(
                f"--device {settings.device}",
                "chooses no GPU for a window, which has its display's",
                "--remote takes it",
            )
        size = None if size is None else check("size", size)
        moment, animation = check("moment", moment), check("animation", animation)
        self.preferences, keymap, faults = configured(preferences)
        self.window = window or Window(TITLE, size or self.preferences.size)
        allowed, remark = (settings.barrier == "auto", settings.memory != "texture"), self.window.remark
        self.device = Device(self.window.context, *allowed, limits=LIMITS.get(settings.limits), remark=remark)
        if not in_buffers(settings, self.device):
            self.device.max_buffer = 0
        self.display, self.canvas = Display(self.device), PictureTexture(self.device)
        self._photons: PhotonPicture | None = None  # made when they are shown

        first = scene.name if isinstance(scene, Scene) else scene

        def load(path: str) -> Scene:
            if path == first and isinstance(scene, Scene):
                return scene if variant is None else scene.with_variant(variant)
            largest = self.scene_loader.requested.max_texture
            return named.load(path, variant if path == scene else None, lenient, largest)

        stop = rules(self.preferences, **ends)
        self.session = Session(size=self.window.pixels, stop=stop, screen=self.canvas)
        self.host = host = ViewerHost(
            self.device, self.session, self.preferences, keymap, settings, load, self.window.wake
        )
        self.view, self.context = host.view, host.context
        self.scene_loader, self.editing, self.debug_views = host.scene_loader, host.editing, host.debug_views
        self.markers, self.auto_exposure, self.frame_loop = host.markers, host.auto_exposure, host.frame_loop
        self.view.tone.choose(**shown)
        self._chosen = {**self._rules(), "size": size}
        self.editing.show_at(moment, animation)
        self.events = Events(host)
        self.window.listen(self.events)
        self.view.actions.add(handlers(self.context, self.window, lambda: self.gui.file_list.show()))
        self.scene_loader.on_show = self._on_show
        self._gui: Gui | None = None
        self._gui_loading: threading.Thread | None = None
        self._began = time.monotonic()
        self._watch, self._broken = Watch(), ""  # of shaders, and why they could not be reloaded
        self.draw_schedule = DrawSchedule()
        self._pictures = 0  # of the session, drawn
        self.turn_seconds = 0.0  # that the last turn took, waiting for events apart
        self.draws = 0  # of the whole window, for tests and statistics
        self.view.area.resize(self.view.area.size, self.window.pixels)
        self._measure()
        if self.preferences.full_screen and size is None:
            self.window.toggle_full_screen()
        self.scene_loader.faults += faults
        if faults:
            self.view.say(faults[0], error=True)
        self._switching = sys.getswitchinterval()
        sys.setswitchinterval(SWITCHING)
        self.scene_loader.open(first)
        self.scene_loader.first_picture.warm()  # while the file is read

    def _on_show(self, same: bool) -> None:
        """A scene is on show; ``same``: the one that was there."""
        scene = self.view.scene
        assert scene is not None
        self.window.set_title(f"{scene.name} - Raystream")
        self.frame_loop.shown(same)

    @property
    def gui(self) -> Gui:
        """The panels, loaded at once where they are not there yet."""
        if self._gui is None:
            from raystream.window.gui import Gui

            self._gui = self.events.gui = Gui(self.context, self.window)
            self.view.wake()
        return self._gui

    def _load_gui(self) -> None:
        """Have the panels loaded, in a thread, behind the first picture; before, where that takes long, or does not
        come."""
        if self._gui_loading is not None:
            if not self._gui_loading.is_alive():
                _ = self.gui
            return
        waits = self.session.idle and self.scene_loader.loading is None
        if self.session.pictures or waits or self.view.message.is_error or time.monotonic() - self._began > PANELS:
            self._gui_loading = load_beside(_GUI, self.window.wake)

    def _measure(self) -> None:
        """The window's sizes, for the view."""
        window, view = self.window, self.view
        view.area.rescale(window.scale)
        if min(window.size) > 0:
            view.lay_out(window.size, view.area.pixels)  # which `Events.on_resize` tells

    # -- the loop ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Until the window is closed."""
        try:
            while not self.window.closing:
                raise_dropped()
                self.turn()
        finally:
            self.release()

    def turn(self) -> None:
        """Events, motion, a share of tracing, a draw; or sleep where there is nothing to do."""
        view, session, frame_loop = self.view, self.session, self.frame_loop
        self.window.events(min(frame_loop.wait_timeout, frame_loop.trials_timeout, self.period))
        self.each_turn()
        if self._gui is None:
            self._load_gui()
        self._measure()
        began = time.monotonic()
        self.host.advance(self.draw_schedule.tracing, self._watch_shaders)
        traced = frame_loop.moving and session.running
        appearing = session.appearing or (self.scene_loader.loader.busy and not session.complete)
        busy = frame_loop.busy and (self._gui is not None or session.appearing)  # panels tell how far it is
        due = self.draw_schedule.due(began, frame_loop.needs_draw, busy, appearing, traced)
        if due or session.pictures + session.warped != self._pictures:
            self._draw(frame_loop.dt)
            view.drawn()
        self.turn_seconds = time.monotonic() - began

    def _draw(self, dt: float) -> None:
        view, pixels, began = self.view, self.window.pixels, time.monotonic()
        if min(pixels) == 0:
            return
        if self.session.under_way is not None:
            self.canvas.grow(self.session.under_way)
        self.frame_loop.expose()
        dim = PHOTON_DIMMING if self.debug_views.photons.points else 0.0
        screen = self.window.context.screen
        if self.canvas.blank:
            screen.use()
            screen.clear(*layout.GROUND, 1.0)
        else:
            self.display.draw(self.canvas.texture, screen, pixels, view.tone.stops - dim, view.tone.tonemap)
        self._draw_photons(pixels)
        if self._gui is not None:
            self._gui.draw(dt)
        view.take_shots()
        self.window.swap()
        self.canvas.settle()
        self.draws += 1
        self._pictures = self.session.pictures + self.session.warped
        self.draw_schedule.note(began, time.monotonic() - began)

    def _draw_photons(self, pixels: tuple[int, int]) -> None:
        """Photons as points and cells of their grid, where they are to be shown."""
        study, screen = self.debug_views.photons, self.window.context.screen
        points, wires = study.scene(), study.wires()
        if self._photons is None and (points or wires):
            self._photons = PhotonPicture(self.device)
        if self._photons is None:
            return
        if wires is not None:
            self._photons.wires(screen, pixels, *wires)
        if points is not None and study.renderer is not None:
            photon_map, (camera, hits) = study.renderer.photon_map, points
            diameter = PHOTON_DIAMETER * self.view.area.scale
            self._photons.points(screen, pixels, camera, photon_map.streams, photon_map.stored, hits, diameter)

    def _watch_shaders(self) -> None:
        """Shaders whose files have changed are compiled next."""
        if self._watch.changed([*self.device.files, *program_files()]):
            self.view.compilation.request("changed shaders", self._reload_shaders)

    def _reload_shaders(self) -> None:
        """All or none: a shader that does not compile leaves the old ones at work, and its line in the window."""
        view = self.view
        try:
            self.canvas.reload()
            self.display.reload()
            self.auto_exposure.reload()
            self._photons = None
            if view.renderer is not None:
                view.renderer.reload()
        except ViewerError as error:
            self._broken = str(error)
            raise
        if self._broken or not view.message.is_error:
            view.say("shaders compiled anew")
        self._broken = ""
        self.session.abandon()
        self.debug_views.reloaded()

    def _rules(self) -> dict[str, Any]:
        """What ends a picture and how it is shown, as preferences have it."""
        stop = self.session.stop
        return {"samples": stop.spp, "noise": stop.error or 0.0, "tonemap": self.view.tone.tonemap}

    def release(self) -> None:
        """Save the preferences and close."""
        sys.setswitchinterval(self._switching)
        self.scene_loader.loader.cancel()
        preferences, view = self.preferences, self.view
        for name, value in self._rules().items():
            if value != self._chosen[name]:
                setattr(preferences, name, value)
        if view.controller is not None:
            preferences.speed = view.controller.speed / view.controller.natural_speed
        preferences.full_screen = self.window.full_screen
        if not self.window.full_screen and min(self.window.size) > 0 and self.window.size != self._chosen["size"]:
            preferences.size = self.window.size
        preferences.panels, preferences.statistics = view.overlays.panels.on, view.overlays.statistics.on
        view.attempt(preferences.save)
        self.debug_views.drop(view.renderer)
        if self._gui is not None:
            self._gui.release()
        self.window.release()
