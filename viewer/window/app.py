"""The application: composes window, session, view and rooms, and turns the loop."""

from __future__ import annotations

import math
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import glfw
import numpy as np

from raystream.base import paths
from raystream.base.errors import ViewerError
from raystream.base.interrupts import raise_dropped
from raystream.base.start import load_beside
from raystream.film.files import image
from raystream.formats import named
from raystream.options.table import check, keywords
from raystream.renderer.device.tuning import in_buffers
from raystream.renderer.inputs.program_file import program_files
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview import scheduler
from raystream.renderer.session.session import Session
from raystream.scene.scene import Scene
from raystream.stream.declare.limits import LIMITS
from raystream.stream.gl.device import Device
from raystream.viewport import host
from raystream.viewport.commands import numbered_file, picture_handlers
from raystream.viewport.debug_views.photons import PhotonPicture
from raystream.viewport.folder import OPENED, start_folder
from raystream.viewport.host import ViewerHost
from raystream.viewport.keymap import MODIFIERS, key_text
from raystream.viewport.picture_texture import Display, PictureTexture
from raystream.viewport.preferences import Preferences
from raystream.viewport.viewport import RULES, Overlay, configured, rules
from raystream.window.window import GROUND, TITLE, Window

if TYPE_CHECKING:
    from raystream.window.gui import Gui

# -- shader and program files that change on disk ----------------------------------------------------------------------

EVERY = 0.5  # seconds between two looks

Stamp = tuple[int, int] | None  # time of change in nanoseconds, and bytes; None for a file that is not there


class Watch:
    """Looks at the files that programs were made from, below ``shaders/`` or by absolute paths."""

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp] = {}
        self._next_look = 0.0
        self._last_look = time.time_ns()

    def changed(self, files: Iterable[str], now: float | None = None) -> list[str]:
        """Those that have changed since the last look, names as in ``files``; none when it is not yet time to look.

        A file that is new among them has changed where that was after the last look.
        """
        now = time.monotonic() if now is None else now
        if now < self._next_look:
            return []
        self._next_look = now + EVERY
        looked, self._last_look = self._last_look, time.time_ns()
        folder, names = paths.shaders(), []
        for name in sorted(files):
            stamp = _stamp(folder / name)
            new = name not in self._stamps
            if stamp != self._stamps.get(name, stamp) or (new and stamp is not None and stamp[0] > looked):
                names.append(name)
            self._stamps[name] = stamp
        return names


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


# -- when the window is drawn, and how long is traced in between: pure arithmetic, without OpenGL and a clock ----------


class DrawSchedule:
    """Draws take a part of the time, and tracing the rest. cost : seconds of a draw, of the last ones."""

    def __init__(self) -> None:
        self.cost = scheduler.FIRST_DRAW
        self._steady = scheduler.FIRST_DRAW  # the same without the few that take longer than a turn
        self._drawn = 0.0  # when the last one began

    @property
    def tracing(self) -> float:
        """Seconds of tracing in a turn."""
        return max(scheduler.MIN_TRACING, scheduler.TURN - self._steady)

    def due(self, now: float, changed: bool, busy: bool, appearing: bool, traced: bool) -> bool:
        """Whether the window is drawn in this turn, though there is no new picture. now : seconds since any moment.

        changed : something beside the picture looks otherwise. busy : a picture or a scene is in progress;
        ``appearing``: one that is shown as it comes, tile by tile. traced : a preview in motion is, and a draw
        would take the time that it needs.
        """
        least = max(scheduler.DRAWN_FILLING if appearing else scheduler.DRAWN_REFINING, self.cost / scheduler.DRAWING)
        return (changed and not traced) or ((changed or busy) and now - self._drawn >= least)

    def note(self, began: float, seconds: float) -> None:
        """A draw that began then took so long."""
        self._drawn = began
        self._steady += scheduler.SMOOTHED_DRAWS * (min(seconds, scheduler.TURN) - self._steady)
        self.cost += scheduler.SMOOTHED_DRAWS * (seconds - self.cost)


# -- handlers of the window's events: keys, the mouse, sizes, focus, dropped files -------------------------------------

BUTTONS = {button: number for number, button in host.BUTTONS.items()}  # GLFW's -> rendercanvas's


class Events:
    """A listener (`raystream.window.window.CALLBACKS`): GLFW's events become those of `ViewerHost.handle`, unless a
    panel has them.

    gui : once it is loaded. custom_keys : a program's own keys, by key text without modifiers, before the window's.
    """

    custom_keys: Mapping[str, Callable[[], object]] = {}

    def __init__(self, host: ViewerHost) -> None:
        self.host, self.view, self.gui = host, host.view, cast("Gui | None", None)

    def _handle(self, kind: str, **event: Any) -> None:
        self.host.handle({"event_type": kind, **event})

    def _tell_gui(self, event: str, *arguments: Any) -> None:
        """An event is for ImGui, too, by the name of its ``io``'s method; the window is drawn again."""
        self.view.wake()
        if self.gui is not None:
            getattr(self.gui.input.io, f"add_{event}")(*arguments)

    @property
    def _over_panel(self) -> bool:
        return self.gui is not None and self.gui.input.wants_mouse

    def on_key(self, key: int, scancode: int, action: int, mods: int) -> None:
        """Hotkeys, unless a text field or the list of files has the keyboard."""
        self.view.wake()
        if self.gui is not None:
            self.gui.input.key(key, action, mods)
        gui = self.gui if action != glfw.RELEASE else None
        if gui is not None and (gui.file_list.visible or (gui.input.wants_keyboard and key != glfw.KEY_ESCAPE)):
            return
        name = key_text(key, 0, scancode)
        handler = self.custom_keys.get(name)
        if handler is not None:
            if action == glfw.PRESS:
                handler()
            return
        kind = "key_up" if action == glfw.RELEASE else "key_down"
        self._handle(kind, key=name, modifiers=_names(mods), repeat=action == glfw.REPEAT)

    def on_character(self, code: int) -> None:
        """Text for a field."""
        self._tell_gui("input_character", code)

    def on_button(self, button: int, action: int, mods: int) -> None:
        """A drag begins or ends."""
        if button in host.BUTTONS.values():
            self._tell_gui("mouse_button_event", button, action == glfw.PRESS)
        x, y = self.view.input.cursor
        index = BUTTONS.get(button, 0)
        if action == glfw.RELEASE:
            self._handle("pointer_up", x=x, y=y, button=index)
        elif self.host.editing.grabbing or not self._over_panel:
            self._handle("pointer_down", x=x, y=y, button=index, modifiers=_names(mods))

    def on_move(self, x: float, y: float) -> None:
        """A drag goes on."""
        self._tell_gui("mouse_pos_event", x, y)
        self._handle("pointer_move", x=x, y=y)

    def on_wheel(self, x: float, y: float) -> None:
        """Dolly to the cursor, or the speed of flight."""
        self._tell_gui("mouse_wheel_event", x, y)
        if not self._over_panel:
            column, row = self.view.input.cursor
            self._handle("wheel", x=column, y=row, dy=-y * host.NOTCH)

    def on_focus(self, focused: int) -> None:
        """Keys held when the focus goes are let go."""
        self._tell_gui("focus_event", bool(focused))
        if not focused:
            self._handle("focus_out")

    def on_drop(self, paths: Sequence[str]) -> None:
        """A file dropped on the window is opened."""
        if paths:
            self.host.scene_loader.open_file(paths[0])


def _names(mods: int) -> list[str]:
    """Names of GLFW's modifier bits."""
    return [name for name, bit in MODIFIERS.items() if mods & bit]


# -- the commands: the handlers of the table's actions -----------------------------------------------------------------


def handlers(context: ViewerHost, window: Window, list_files: Callable[[], None]) -> dict[str, Callable[[], None]]:
    """Action name -> handler. An action without a handler is greyed. list_files : shows our own list of files."""
    view, debug_views, picture = context.view, context.debug_views, picture_handlers(context, window)
    overlays = view.overlays
    return picture | {
        "lights.show": lambda: _show_lights(context),
        "lights.next": lambda: _next_light(context),
        "inspector.show": debug_views.toggle_inspector,
        "inspector.step": debug_views.step_inspector,
        "inspector.run": lambda: debug_views.step_inspector(to_end=True),
        "inspector.restart": debug_views.restart_inspector,
        "probe.show": debug_views.toggle_probe,
        "heat.next": debug_views.next_heat,
        "photons.points": debug_views.photons.toggle_points,
        "photons.cells": debug_views.photons.toggle_cells,
        "wires.toggle": lambda: _toggle(context, overlays.boxes),
        "screenshot.window": lambda: view.after_draw(lambda: _shoot(context, window)),
        "scene.open": lambda: _ask(context, list_files),
        "help": lambda: _toggle(context, overlays.help),
        "statistics": lambda: _toggle(context, overlays.statistics),
        "panels": lambda: _toggle(context, overlays.panels),
        "full_screen": lambda: _full_screen(context, window),
        "escape": lambda: _escape(context, window, picture["escape"]),
        "quit": window.close,
    }


def _toggle(context: ViewerHost, overlay: Overlay) -> None:
    overlay.on = not overlay.on
    context.view.say_switched(overlay.name, overlay.on)


def _full_screen(context: ViewerHost, window: Window) -> None:
    window.toggle_full_screen()
    context.view.say_switched("full screen", window.full_screen)


def _shoot(context: ViewerHost, window: Window) -> None:
    """The whole window, panels and all."""
    width, height = window.pixels
    screen = np.frombuffer(window.read(), np.uint8).reshape(height, width, 3)[::-1]
    path = numbered_file("window", ".png")
    image.save_srgb8(path, screen)
    context.view.say(f"saved {path}")


def _show_lights(context: ViewerHost) -> None:
    context.view.require_scene()
    markers = context.markers
    markers.visible = not markers.visible
    if markers.visible and not markers.listed():
        context.view.say("no lights but the environment")
    else:
        context.view.say_switched("markers of lights", markers.visible)


def _next_light(context: ViewerHost) -> None:
    context.view.require_scene()
    light = context.markers.next()
    context.view.say(f"light: {light.name}" if light is not None else "no lights but the environment")


def _ask(context: ViewerHost, list_files: Callable[[], None]) -> None:
    """A file dialog of the desktop, which answers later: the window goes on meanwhile. Without one, our own list."""
    from imgui_bundle import portable_file_dialogs as dialogs

    import raystream.window.bundle  # noqa: F401  # which may just be loading: the package is a stub meanwhile

    if sys.platform.startswith("linux") and not any(shutil.which(tool) for tool in ("zenity", "kdialog", "qarma")):
        list_files()
        return
    folder = str(start_folder(context.scene_loader.shown_path, context.view.preferences.recent))
    context.scene_loader.dialog = dialogs.open_file(
        "Open a scene", folder, ["scenes", " ".join(f"*{suffix}" for suffix in OPENED)]
    )


def _escape(context: ViewerHost, window: Window, escape_picture: Callable[[], None]) -> None:
    if context.scene_loader.loading is None and context.view.overlays.help.on:
        context.view.overlays.help.on = False
        return
    if context.scene_loader.loading is None:
        window.grab(False)
    escape_picture()


# -- the application ---------------------------------------------------------------------------------------------------

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
        display = {name: check(name, chosen.pop(name)) for name in keywords("save") if name in chosen}
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
        self.view, self.context = host.view, host
        self.scene_loader, self.editing, self.debug_views = host.scene_loader, host.editing, host.debug_views
        self.markers, self.auto_exposure, self.frame_loop = host.markers, host.auto_exposure, host.frame_loop
        self.view.tone.choose(**display)
        self._chosen = {**self._rules(), "size": size}
        self.editing.animation.show_at(moment, animation)
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
        late = time.monotonic() - self._began > scheduler.PANELS
        if self.session.pictures or waits or self.view.message.is_error or late:
            self._gui_loading = load_beside(_GUI, self.window.wake)

    def _measure(self) -> None:
        """The window's sizes, for the view; while it is an icon nothing is drawn."""
        window, view, area = self.window, self.view, self.view.area
        minimised = window.minimised or min(*window.size, *window.pixels) < 1
        if (area.scale, area.minimised) != (window.scale, minimised):
            area.scale, area.minimised = window.scale, minimised
            view.wake()
        if not minimised:
            view.lay_out(window.size, window.pixels)

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
            screen.clear(*GROUND, 1.0)
        else:
            self.display.draw(self.canvas.texture, screen, pixels, view.tone.stops - dim, view.tone.tonemap)
        self._draw_photons(pixels)
        if self._gui is not None:
            self._gui.draw(dt)
        view.take_shots()
        self.window.swap()
        self.canvas.restore_sampling()
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
        """The stopping rules of a picture and its display, as preferences have them."""
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
