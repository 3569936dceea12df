"""The application: what the window shows and does. The loop, and the state that panels read."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from imgui_bundle import imgui

import viewer
from viewer.base.errors import ViewerError
from viewer.options import table as options
from viewer.programs import PICTURES
from viewer.renderer.camera import exactly
from viewer.renderer.renderer import DEFAULT, Renderer
from viewer.scene.scene import Scene
from viewer.stream.gl.device import Device
from viewer.window.commands import handlers
from viewer.window.input.actions import Action, Keymap
from viewer.window.input.events import Events
from viewer.window.input.flight import Flight
from viewer.window.input.imgui_input import ImguiInput
from viewer.window.loader import Loader
from viewer.window.looking import Looking
from viewer.window.motion import Motion
from viewer.window.panels.imgui_draw import ImguiDraw
from viewer.window.panels.panels import draw_panels
from viewer.window.picture.display import Display
from viewer.window.picture.frame import Frame
from viewer.window.preferences import Preferences
from viewer.window.reload import Watch
from viewer.window.scenes import Scenes
from viewer.window.study.heat import Heat
from viewer.window.study.inspector import Inspector
from viewer.window.study.probe import Probe
from viewer.window.study.space import Space
from viewer.window.surround import work
from viewer.window.window import Window

TURN = 1 / 32  # seconds between two looks at the events, so that the window answers within 50 ms at 30 frames/s
LEAST_BUDGET = 0.008  # seconds of tracing in a turn, however long a draw takes
ASLEEP = 0.5  # seconds that the loop may sleep with nothing to do
LOADING = 0.1  # seconds between two draws of the progress of loading
FILLING = 0.07  # seconds between two draws while the full picture is filled in
REFINING = 0.2  # and while it gets more samples
HELD = 0.15  # seconds that a drag may rest before the full picture is begun
LONGEST_STEP = 0.1  # seconds: a longer pause is no flight
SETTLING = 3  # draws before the loop may sleep: ImGui lays out in two
LINE_SECONDS = 6.0  # that a note stays; an error stays until the next action

PROGRAMS = ("cast", "shadow", "whitted", "path", "photon")


class App(Scenes, Looking, Events):
    """A window on a scene. ``chosen`` are options of scope ``prepare``, which the worker builds structures from, and of
    the renderer: program, machine, policy, unroll, fuse, mask."""

    def __init__(
        self,
        scene: str,
        size: tuple[int, int] | None = None,
        preferences: Preferences | None = None,
        camera: str | None = None,
        fov: float | None = None,
        barrier: str = DEFAULT["barrier"],
        memory: str = DEFAULT["memory"],
        **chosen: Any,
    ) -> None:
        self.preferences, self.keymap, faults = _configured(preferences)
        self.window = Window("Raystream", size or self.preferences.size, self)
        self.device = Device(self.window.context, barrier == "auto", memory == "auto")
        self.imgui = imgui.create_context()
        imgui.get_io().set_ini_filename("")
        self.input = ImguiInput()
        self.draw_imgui = ImguiDraw(self.window.context)
        self.display = Display(self.device)
        self.space = Space(self.draw_imgui)
        self.frame = Frame(self.device, self.window.pixels, self.preferences.samples, self.preferences.noise)
        self.loader = Loader(viewer.load, work, self.window.wake)
        self.environment, self.rotation = chosen.pop("environment", None), chosen.pop("environment_rotation", 0.0)
        self._hidden = None
        # What structures are built from: as last asked for, and as the scene on show has it.
        self.structure = {name: chosen.pop(name, DEFAULT[name]) for name in options.keywords("prepare")}
        self._built = self.structure
        self._given: Scene | None = None  # the scene that the worker was given, if it need not read the file
        self.choices = chosen
        self.first_camera, self.first_fov = camera, fov
        self.renderer: Renderer | None = None
        self.scene: Scene | None = None
        self.path = ""
        self.flight: Flight | None = None
        self.motion = Motion(self)
        self.inspector: Inspector | None = None
        self.probe: Probe | None = None
        self.exposure, self.tone_map = self.preferences.exposure, self.preferences.tone_map
        self.panels_visible, self.stats_visible = self.preferences.panels, self.preferences.statistics
        self.help_visible = self.paused = self.minimised = False
        self.heat: str | None = None  # what the heat map shows
        self.heat_map: Heat | None = None
        self.wires = False
        self.inspecting = False  # the inspector runs to its end
        self.probing: Iterator[Probe] | None = None
        self.camera_number = -1
        self.dialog: Any = None
        self._coming: Iterator[float] | None = None  # a scene that is uploaded
        self._coming_text, self._coming_share = "", 0.0
        self._compile: tuple[str, Callable[[], object]] | None = None  # what it is called, and what compiles
        self._told = False  # that it compiles
        self._watch = Watch()
        self._broken = ""  # why shaders could not be reloaded
        self._last, self._drawn, self._moved = time.monotonic(), 0.0, 0.0
        self._moving = False
        self._draw_seconds = 0.015
        self._pictures = 0  # of the frame, drawn
        self.turn_seconds = 0.0  # that the last turn took, waiting for events apart
        self._shots: list[Callable[[], None]] = []
        self.message, self.message_is_error, self._message_time = "", False, 0.0
        self.drag = None
        self.cursor = (0.0, 0.0)
        self.draws = 0  # of the whole window, for tests and statistics
        self._awake = SETTLING
        self.handlers: dict[str, Callable[[], None]] = handlers(self)
        if self.preferences.full_screen:
            self.window.toggle_full_screen()
        self._faults = faults
        if faults:
            self.say(faults[0], error=True)
        self.open(scene)

    # -- what panels and tests use -------------------------------------------------------------------------------------

    def do(self, name: str) -> None:
        """Perform an action by its name; what it cannot do it says in the message line."""
        handler = self.handlers.get(name)
        if handler is None:
            self.say(f"{name}: not there yet")
            return
        self.attempt(handler)
        self.wake()

    def attempt(self, what: Callable[[], None]) -> None:
        """Run something that may fail for the user's reasons: the window shows the line and goes on."""
        try:
            what()
        except ViewerError as error:
            self.say(str(error), error=True)
        except OSError as error:
            self.say(f"{error.filename or ''}: {error.strerror or error}", error=True)

    def set(self, **choices: Any) -> None:
        """Choose another program, machine, policy, unroll, fuse or mask; or what structures are built from, which
        takes the worker a while."""
        self.attempt(lambda: self._set(choices))

    def _set(self, choices: dict[str, Any]) -> None:
        built = {name: options.check(name, choices.pop(name)) for name in list(choices) if name in self.structure}
        if choices:
            if self.renderer is not None:
                self.renderer.update(**choices)
                self.frame.relearn()
                self.changed()
            self.choices |= choices
        if built.items() <= self.structure.items():
            return
        self.structure = self.structure | built
        if self.loading is not None:
            self._start(self.loader.path or self._coming_text, self._given)
        elif self.scene is not None:
            self._start(self.path, self.scene)

    def chosen(self, name: str) -> Any:
        """The value of an option that `set` takes; None for one of the renderer's while there is none."""
        if name in self.structure:
            return self.structure[name]
        return None if self.renderer is None else self.renderer.settings[name]

    def follow(self, **settings: Any) -> None:
        """Choose another depth, strategy, roulette, clamp, seed, or what else compiles nothing."""

        def change() -> None:
            if self.renderer is not None:
                self.renderer.update(**settings)
                self.changed()
            self.choices |= settings

        self.attempt(change)

    def turn_environment(self, degrees: float) -> None:
        """Turn the picture around the scene about +Y by so much."""
        self.rotation = (self.rotation + degrees) % 360.0
        self.motion.turn_environment()

    def changed(self) -> None:
        """The picture is out of date."""
        self.frame.restart()
        self.wake()

    def say(self, text: str, error: bool = False) -> None:
        """Show one line in the window."""
        self.message, self.message_is_error, self._message_time = text, error, time.monotonic()
        self.wake()

    def wake(self) -> None:
        """Draw a few times more before sleeping."""
        self._awake = SETTLING

    def available(self, action: Action) -> bool:
        """Whether an action can do something now: else it is greyed."""
        return action.available({*PICTURES, *options.OPTIONS}) and (action.hold or action.name in self.handlers)

    def programs(self) -> list[tuple[str, bool]]:
        """Every program that a key stands for, and whether it is registered."""
        return [(name, name in PICTURES) for name in dict.fromkeys((*PROGRAMS, *PICTURES))]

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
        self.window.events(self._patience())
        now = began = time.monotonic()
        dt, self._last = min(now - self._last, LONGEST_STEP), now
        self._take_scene()
        self._take_file()
        self._look_at_shaders()
        self._move(dt)
        self.attempt(self._compile_now)
        self._work(max(LEAST_BUDGET, TURN - self._draw_seconds))
        if self.message and not self.message_is_error and now - self._message_time > LINE_SECONDS:
            self.say("")
        busy = not self.frame.idle or self.loader.busy
        late = busy and now - self._drawn >= (REFINING if self.frame.complete else FILLING)
        if self._awake or late or self.frame.pictures != self._pictures:
            self._draw(dt)
            self._awake = max(0, self._awake - 1)
        self.turn_seconds = time.monotonic() - began

    def _patience(self) -> float:
        """Seconds that the loop may wait for an event."""
        eased = (self.flight is not None and self.flight.moving) or (self.motion.active and not self.minimised)
        if self._awake or self._compile is not None or self._coming is not None or eased:
            return 0.0
        if not self.minimised and not self.paused and not self.frame.idle:
            return HELD / 8 if self.frame.waiting(self._moving) else 0.0
        return LOADING if self.loader.busy else ASLEEP

    def _work(self, budget: float) -> None:
        """A share of what there is to trace."""
        if self.minimised or self.paused or self._coming is not None:
            return
        inside = self.looking and self.frame.complete and not self._moving
        if not inside:
            try:
                self.frame.advance(budget, self._moving)
            except ViewerError as error:
                self.frame.fail()
                self.say(str(error), error=True)
        if (inside or self.frame.waiting(self._moving)) and self._compile is None:
            self.attempt(lambda: self._look_inside(budget))

    def _take_file(self) -> None:
        """The file dialog has been answered."""
        if self.dialog is not None and self.dialog.ready(0):
            chosen, self.dialog = self.dialog.result(), None
            if chosen:
                self.open(chosen[0])

    def take_camera(self) -> None:
        """The camera was set, not flown."""
        if self.renderer is not None and self.flight is not None:
            self.renderer.update(**exactly(self.flight.camera))
            self.changed()

    def _move(self, dt: float) -> None:
        if self.flight is None or self.renderer is None:
            return
        moved = self.motion.update(dt)
        if self.flight.update(dt):
            self.renderer.update(**exactly(self.flight.camera))
            self.motion.follow()
            self.changed()
            moved = True
        if moved:
            self._moved = self._last
        held = (self.drag is not None or self.motion.grabbing) and self._last - self._moved < HELD
        self._moving = self.flight.moving or self.motion.active or held

    def _draw(self, dt: float) -> None:
        pixels, began = self.window.pixels, time.monotonic()
        if min(pixels) == 0:
            return
        self.display.draw(self.frame, self.window.context.screen, pixels, self.exposure, self.tone_map)
        self.input.begin(self.window.size, pixels, dt)
        imgui.new_frame()
        self.space.draw(self)
        draw_panels(self)
        imgui.render()
        self.draw_imgui.render(imgui.get_draw_data())
        self._take_shots()
        self.window.swap()
        self.frame.canvas.settle()
        self.draws += 1
        self._told = self._compile is not None
        self._pictures, self._drawn = self.frame.pictures, began
        self._draw_seconds += 0.2 * (min(time.monotonic() - began, TURN) - self._draw_seconds)

    def _take_shots(self) -> None:
        shots, self._shots = self._shots, []
        for shot in shots:
            self.attempt(shot)

    def after_draw(self, shot: Callable[[], None]) -> None:
        """Run something when the next draw is complete, before it is shown."""
        self._shots.append(shot)
        self.wake()

    def read_window(self) -> bytes:
        """RGB of the window's pixels, bottom row first."""
        context = self.window.context
        context.screen.use()
        pixels = bytes(context.screen.read(viewport=(0, 0, *self.window.pixels), components=3, alignment=1))
        _ = context.error  # moderngl names a read buffer that a window does not have
        return pixels

    def release(self) -> None:
        """Save the settings and close."""
        self.loader.cancel()
        self.preferences.samples, self.preferences.noise = self.frame.most, self.frame.least_error
        self.preferences.exposure, self.preferences.tone_map = self.exposure, self.tone_map
        if self.flight is not None:
            self.preferences.mode = self.flight.mode
            self.preferences.speed = self.flight.speed / self.flight.natural_speed
        self.preferences.full_screen = self.window.full_screen
        if not self.window.full_screen and min(self.window.size) > 0:
            self.preferences.size = self.window.size
        self.preferences.panels, self.preferences.statistics = self.panels_visible, self.stats_visible
        self.attempt(self.preferences.save)
        self._drop_views(self.renderer)
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
