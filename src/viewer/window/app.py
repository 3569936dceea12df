"""The application: composes window, session, view and rooms, and turns the loop."""

from __future__ import annotations

import time
from typing import Any

from imgui_bundle import imgui

import viewer
from viewer.base.errors import ViewerError
from viewer.film.stop import Stop
from viewer.renderer.darkness import black
from viewer.renderer.session import Session
from viewer.renderer.settings import Settings
from viewer.scene.scene import Scene
from viewer.stream.gl.device import Device
from viewer.window.commands import handlers
from viewer.window.events import Events
from viewer.window.input.actions import Keymap
from viewer.window.input.imgui_input import ImguiInput
from viewer.window.input.window import Window
from viewer.window.panels import theme
from viewer.window.panels.imgui_draw import ImguiDraw
from viewer.window.panels.panels import draw_panels, panels_fit
from viewer.window.panels.space import Space
from viewer.window.picture.canvas import Canvas
from viewer.window.picture.display import Display
from viewer.window.picture.meter import Meter
from viewer.window.picture.photons import PhotonPicture
from viewer.window.view.desk import Desk
from viewer.window.view.markers import Markers
from viewer.window.view.motion import Motion
from viewer.window.view.preferences import Preferences
from viewer.window.view.reload import Watch
from viewer.window.view.stage import Stage
from viewer.window.view.studies import Studies
from viewer.window.view.view import View

TURN = 1 / 32  # seconds between two looks at the events, so that the window answers within 50 ms at 30 frames/s
LEAST_BUDGET = 0.008  # seconds of tracing in a turn, however long a draw takes
ASLEEP = 0.5  # seconds that the loop may sleep with nothing to do
LOADING = 0.1  # seconds between two draws of the progress of loading
FILLING = 0.07  # seconds between two draws while the full picture is filled in
REFINING = 0.2  # and while it gets more samples
DRAWING = 1 / 3  # of the time, at most: the rest is the picture's
HELD = 0.15  # seconds that a drag may rest before the full picture is begun
PHOTON_DIAMETER = 3.0  # of a photon's point, pixels at a scale of 1
PHOTON_DIMMING = 2.0  # stops that the picture is darker by under photons
LONGEST_STEP = 0.1  # seconds: a longer pause is no flight


class App:
    """A window on a scene, of a file or a built-in one by name, or given. ``chosen`` are options of the renderer.

    Raises ViewerError for a value out of range and without a display, DeviceError without OpenGL 3.3.
    """

    def __init__(
        self,
        scene: str | Scene,
        size: tuple[int, int] | None = None,
        preferences: Preferences | None = None,
        camera: str | None = None,
        fov: float | None = None,
        variant: str | int | None = None,
        lenient: bool = False,
        **chosen: Any,
    ) -> None:
        settings = Settings(camera=camera, fov=fov, **chosen)
        self.preferences, keymap, faults = _configured(preferences)
        self.window = Window("Raystream", size or self.preferences.size)
        self.device = Device(self.window.context, settings.barrier == "auto", settings.memory == "auto")
        self.imgui = imgui.create_context()
        imgui.get_io().set_ini_filename("")
        self.draw_imgui = ImguiDraw(self.window.context)
        self.display, self.canvas, self.meter = Display(self.device), Canvas(self.device), Meter(self.device)
        self._photons: PhotonPicture | None = None  # made when they are shown
        stop = Stop(self.preferences.samples, error=self.preferences.noise or None)
        self.session = Session(size=self.window.pixels, stop=stop, screen=self.canvas)
        self.view = View(self.session, self.preferences, keymap)
        self.studies = Studies(self.view)
        self.markers = Markers(self.view)

        first = scene.name if isinstance(scene, Scene) else scene

        def load(path: str) -> Scene:
            if path == first and isinstance(scene, Scene):
                return scene.with_variant(variant)
            return viewer.load(path, variant if path == scene else None, lenient)

        self.stage = Stage(self.view, self.studies, self.device, settings, load, self.window.wake)
        self.motion = Motion(self.view, self.stage, self.studies, self.markers)
        self.desk = Desk(self.view, self.stage, self.motion, self.markers, self.studies)
        self.input = ImguiInput()
        self.events = Events(self.desk, self.input)
        self.window.listen(self.events)
        self.space = Space(self.draw_imgui)
        self.view.handlers |= handlers(self.desk, self.window)
        self.stage.on_show = self._on_show
        self._watch, self._broken = Watch(), ""  # of shaders, and why they could not be reloaded
        self._last, self._drawn, self._moved = time.monotonic(), 0.0, 0.0
        self._moving = False
        self._draw_seconds = self._draw_cost = 0.015  # of a draw; the first at most a turn's
        self._pictures = 0  # of the session, drawn
        self._seen = (-1, -1)  # pictures and steps of the session when the light was measured
        self._unseen = False  # no complete picture of the scene has been looked at
        self._metered: int | None = 0  # pictures of the session while none is there of a new scene
        self.turn_seconds = 0.0  # that the last turn took, waiting for events apart
        self.draws = 0  # of the whole window, for tests and statistics
        self.view.frame = self.window.pixels
        self._measure()
        if self.preferences.full_screen:
            self.window.toggle_full_screen()
        self.stage.faults += faults
        if faults:
            self.view.say(faults[0], error=True)
        self.stage.open(first)

    def _on_show(self, same: bool) -> None:
        """A scene is on show; ``same``: the one that was there."""
        scene = self.view.scene
        assert scene is not None
        self.window.set_title(f"{scene.name} - Raystream")
        self.motion.shown(same)
        if not same:
            self._metered, self._unseen = self.session.pictures, True

    def _measure(self) -> None:
        """The window's sizes, for the view."""
        window, view = self.window, self.view
        view.scale = window.scale
        width, height = window.size
        if min(width, height) == 0:
            return
        panels = view.panels_visible and panels_fit((width, height))
        left, right = theme.free(panels, panels and self.studies.inspector is not None, width)
        span = (left / width, right / width)
        # Of a change of the framebuffer alone `Events.on_resize` has told.
        view.lay_out((width, height), window.pixels if span != view.span else view.frame, span)

    # -- the loop ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Until the window is closed."""
        try:
            while not self.window.closing:
                self.turn()
        finally:
            self.release()

    def turn(self) -> None:
        """Events, motion, a share of tracing, a draw; or sleep where there is nothing to do."""
        view, session = self.view, self.session
        self.window.events(self._patience())
        self._measure()
        now = began = time.monotonic()
        dt, self._last = min(now - self._last, LONGEST_STEP), now
        self.stage.take()
        if self._watch.changed(self.device.files):
            view.compile("changed shaders", self._reload_shaders)
        self._move(dt)
        view.compile_now()
        self._work(max(LEAST_BUDGET, TURN - self._draw_seconds))
        view.fade()
        busy = self._tracing or self.stage.loader.busy
        rest = max(REFINING if session.complete else FILLING, self._draw_cost / DRAWING)
        late = busy and now - self._drawn >= rest
        # While something moves, a draw without a new picture would take the time that the next one needs.
        held = self._moving and session.running and now - self._drawn < self._draw_cost / DRAWING
        if (view.awake and not held) or late or session.pictures + session.carried != self._pictures:
            self._draw(dt)
            view.drawn()
        self.turn_seconds = time.monotonic() - began

    def _patience(self) -> float:
        """Seconds that the loop may wait for an event."""
        view, flight = self.view, self.view.flight
        eased = (flight is not None and flight.moving) or (self.motion.active and not view.minimised)
        if view.awake or view.compile_waits or self.stage.uploading or eased:
            return 0.0
        if self._tracing:
            return HELD / 8 if self.session.waiting(self._moving) else 0.0
        return LOADING if self.stage.loader.busy else ASLEEP

    @property
    def _tracing(self) -> bool:
        """Whether the picture goes on by itself."""
        view = self.view
        return not view.minimised and not view.paused and not self.session.idle

    def _work(self, budget: float) -> None:
        """A share of what there is to trace."""
        view, session = self.view, self.session
        if view.minimised or self.stage.uploading or (view.paused and not self.studies.busy):
            return
        inside = view.paused or (self.studies.busy and session.complete and not self._moving)
        try:
            session.advance(budget, self._moving, begin=not inside)
        except ViewerError as error:
            session.fail()
            view.say(str(error), error=True)
        follows = self._moving and self.studies.heat is not None  # a rough map after every preview
        waits = inside or follows or session.waiting(self._moving)
        if waits and not session.running and not view.compile_waits:
            view.attempt(lambda: self.studies.advance(budget))

    def _move(self, dt: float) -> None:
        view, flight = self.view, self.view.flight
        if flight is None or view.renderer is None:
            return
        moved = self.motion.update(dt)
        if flight.update(dt):
            view.look()
            self.motion.follow()
            moved = True
        if moved:
            self._moved = self._last
        held = (view.drag is not None or self.motion.grabbing) and self._last - self._moved < HELD
        self._moving = flight.moving or self.motion.active or held

    def _draw(self, dt: float) -> None:
        view, pixels, began = self.view, self.window.pixels, time.monotonic()
        if min(pixels) == 0:
            return
        running = self.session.renderer.under_way if self.session.renderer is not None else None
        if running is not None and self.session.running and not self.session.previewing:
            self.canvas.grow(running)
        self._expose(dt)
        dim = PHOTON_DIMMING if self.studies.photons.points else 0.0
        first, last = view.columns(pixels[0], view.span)
        place, screen = (last - first, pixels[1]), self.window.context.screen
        if place != pixels:
            screen.use()
            screen.clear(*theme.GROUND, 1.0)
        self.display.draw(self.canvas.texture, screen, place, view.stops - dim, view.tonemap, first)
        self._draw_photons(place, first)
        self.input.begin(self.window.size, pixels, dt)
        imgui.new_frame()
        self.space.draw(self.desk)
        draw_panels(self.desk, self.draw_imgui)
        imgui.render()
        self.draw_imgui.render(imgui.get_draw_data())
        view.take_shots()
        self.window.swap()
        self.canvas.settle()
        self.draws += 1
        self._pictures, self._drawn = self.session.pictures + self.session.carried, began
        took = time.monotonic() - began
        self._draw_seconds += 0.2 * (min(took, TURN) - self._draw_seconds)
        self._draw_cost += 0.2 * (took - self._draw_cost)

    def _expose(self, dt: float) -> None:
        """The exposure follows the picture, where it is left to it."""
        view, session = self.view, self.session
        if self._metered is not None:
            if session.pictures == self._metered:
                return  # nothing of the scene is on show yet
            self._metered = None
            self.meter.begin()
        if self._unseen and session.complete:
            self._unseen = False
            self._fill()
        if isinstance(view.exposure, str):
            shown = session.pictures, session.steps
            if self.meter.follow(self.canvas.texture, time.monotonic(), dt, session.idle, shown == self._seen):
                self._seen = shown
            view.metered = self.meter.stops
            if not self.meter.settled:
                view.wake()

    def _fill(self) -> None:
        """Light for a scene whose own lights show nothing, where both light and exposure are left to Raystream."""
        view, renderer = self.view, self.view.renderer
        if renderer is None or not isinstance(view.exposure, str) or renderer.settings.program == "cast":
            return
        settings, lit = self.stage.requested, renderer.prepared.lighting.listed.lit
        if (settings.environment, settings.sun) == (None, None) and lit and black(self.canvas.linear()):
            self.stage.fill()

    def _draw_photons(self, pixels: tuple[int, int], left: int) -> None:
        """Photons as points and cells of their grid, where they are to be shown."""
        study, screen = self.studies.photons, self.window.context.screen
        points, wires = study.scene(), study.wires()
        if self._photons is None and (points or wires):
            self._photons = PhotonPicture(self.device)
        if self._photons is None:
            return
        self._photons.left = left
        if wires is not None:
            self._photons.wires(screen, pixels, *wires)
        if points is not None and study.renderer is not None and study.renderer.photon_maps is not None:
            maps, (camera, hits) = study.renderer.photon_maps, points
            diameter = PHOTON_DIAMETER * self.view.scale
            self._photons.points(screen, pixels, camera, maps.streams, maps.stored, hits, diameter)

    def _reload_shaders(self) -> None:
        """All or none: a shader that does not compile leaves the old ones at work, and its line in the window."""
        view = self.view
        try:
            self.canvas.reload()
            self.display.reload()
            self.meter.reload()
            self._photons = None
            if view.renderer is not None:
                view.renderer.reload()
        except ViewerError as error:
            self._broken = str(error)
            raise
        if self._broken or not view.message_is_error:
            view.say("shaders compiled anew")
        self._broken = ""
        self.session.abandon()
        self.studies.reloaded()

    def release(self) -> None:
        """Save the preferences and close."""
        self.stage.loader.cancel()
        kept, view, stop = self.preferences, self.view, self.session.stop
        kept.samples, kept.noise = stop.spp, stop.error or 0.0
        kept.exposure, kept.tonemap = view.exposure, view.tonemap
        if view.flight is not None:
            kept.speed = view.flight.speed / view.flight.natural_speed
        kept.full_screen = self.window.full_screen
        if not self.window.full_screen and min(self.window.size) > 0:
            kept.size = self.window.size
        kept.panels, kept.statistics = view.panels_visible, view.stats_visible
        view.attempt(kept.save)
        self.studies.drop(view.renderer)
        self.draw_imgui.release()
        imgui.destroy_context(self.imgui)
        self.window.release()


def _configured(preferences: Preferences | None) -> tuple[Preferences, Keymap, list[str]]:
    """Preferences and keys; where the user's are broken, the defaults and a line that says why."""
    faults: list[str] = []
    if preferences is None:
        try:
            preferences = Preferences.load()
        except ViewerError as error:
            preferences = Preferences()
            faults.append(str(error))
    faults += preferences.unknown
    try:
        return preferences, Keymap(preferences.keys, f"{preferences.path}, [keys]"), faults
    except ViewerError as error:
        return preferences, Keymap(), [str(error), *faults]
