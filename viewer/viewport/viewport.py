"""The viewport: one session as it is shown, and all that its rooms share. No glfw, no panels."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from viewer.base.errors import ViewerError
from viewer.film.error.stop import Stop, stop_of
from viewer.renderer.inputs.camera import exactly
from viewer.renderer.renderer import Renderer
from viewer.renderer.session.session import Session
from viewer.scene.camera import Camera
from viewer.scene.environment import DARKNESS, Environment
from viewer.scene.scene import Scene
from viewer.viewport.controls.camera_controller import CameraController
from viewer.viewport.controls.keymap import BY_NAME, Action, Keymap
from viewer.viewport.preferences import Preferences

RULES = ("spp", "time", "error", "quality")  # options that end a picture
SETTLING = 3  # draws before the loop may sleep: ImGui lays out in two
LINE_SECONDS = 6.0  # that a note stays; an error stays until the next action
ACTION_SECONDS = 1.0  # and the name of what a key has done


class SceneMissing(ViewerError):
    """Something needs a scene, and there is none."""


class Viewport:
    """The state of the window shared by panels, commands and events.

    session    : the picture. controller : the camera in the hand; None while there is no scene. path : of the scene,
    which is ``opened`` as it was at first: its default view fits pictures of every shape.
    exposure (stops, or auto), tonemap : of the display; ``metered`` are the stops that auto means now. An exposure set
    by hand is the open scene's: the next one has that of the preferences.
    size : of the picture, window coordinates; ``pixels`` of its framebuffer. scale : of the window's text.
    cursor : in the picture, window coordinates. drag : button and modifiers that are down.
    handlers : of actions, by name. waiting : actions for the first scene, by name, while it is loading. held : flight
    keys that are down, by motion.
    """

    def __init__(self, session: Session, preferences: Preferences, keymap: Keymap) -> None:
        self.session, self.preferences, self.keymap = session, preferences, keymap
        self.controller: CameraController | None = None
        self.path = ""
        self.opened: Scene | None = None
        self.exposure: float | str = preferences.exposure
        self.metered = 0.0
        self.tonemap = preferences.tonemap
        self.panels_visible, self.stats_visible = preferences.panels, preferences.statistics
        self.help_visible = self.wires = self.paused = self.minimised = False
        self.size, self.pixels, self.scale = preferences.size, preferences.size, 1.0
        self.cursor = (0.0, 0.0)
        self.drag: tuple[int, int] | None = None
        self.handlers: dict[str, Callable[[], None]] = {}
        self.waiting: list[str] = []
        self.held: set[str] = set()
        self._expected = False  # the first scene is loading
        self.message, self.message_is_error, self._until = "", False, 0.0
        self._compile: tuple[str, Callable[[], object]] | None = None  # what it is called, and what compiles
        self._told = False  # that it compiles
        self._shots: list[Callable[[], None]] = []
        self._awake = SETTLING

    # -- the scene -------------------------------------------------------------------------------------------------

    @property
    def renderer(self) -> Renderer | None:
        """The session's; None while there is no scene."""
        found = self.session.renderer
        assert found is None or isinstance(found, Renderer)
        return found

    @property
    def scene(self) -> Scene | None:
        """The scene on show."""
        return None if self.renderer is None else self.renderer.prepared.scene

    @property
    def environment(self) -> Environment:
        """The environment of the scene on show."""
        return DARKNESS if self.renderer is None else self.renderer.prepared.lighting.environment

    def shown(self) -> tuple[Renderer, CameraController]:
        """The renderer and the camera in the hand. Raises SceneMissing while there is no scene."""
        if self.renderer is None or self.controller is None:
            raise SceneMissing("scene", "none is loaded yet", "wait, or open one")
        return self.renderer, self.controller

    def take(self, camera: Camera) -> None:
        """Set the camera, which then was not flown."""
        _, controller = self.shown()
        controller.set_camera(camera)
        self.look()

    def look(self) -> None:
        """Show the view of the camera in the hand."""
        if self.controller is None:
            self.shown()
        elif self.renderer is not None:
            self.session.update(**exactly(self.controller.camera))
        self.wake()

    @property
    def stops(self) -> float:
        """The exposure on show."""
        return self.metered if isinstance(self.exposure, str) else self.exposure

    def lay_out(self, size: tuple[int, int], pixels: tuple[int, int]) -> None:
        """The picture has this size, in the window's coordinates and in pixels; of others of these it restarts."""
        before, self.size = self.aspect, size
        if self.controller is not None and self.controller.fit(before, self.aspect, self._default):
            self.look()
        if pixels != self.pixels:
            self.pixels = pixels
            self.session.resize(pixels)
            self.wake()

    def _default(self, aspect: float) -> Camera:
        """The default view of the scene as it was opened."""
        assert self.controller is not None
        return self.controller.camera if self.opened is None else self.opened.camera(aspect=aspect)

    @property
    def aspect(self) -> float:
        """Of the picture, width / height."""
        return max(1, self.size[0]) / max(1, self.size[1])

    def ray_under_cursor(self) -> tuple[Any, Any]:
        """(3,) float64 origin and unit direction of the camera's ray through the cursor, world space."""
        _, controller = self.shown()
        return controller.ray(*self.cursor, *self.size)

    # -- commands --------------------------------------------------------------------------------------------------

    def do(self, name: str) -> None:
        """Perform an action by its name; its errors go to the message line. One that needs a scene waits for the first
        while that is loading."""
        handler = self.handlers.get(name)
        if handler is None:
            self.say(f"{name}: not there yet")
            return
        self.attempt(lambda: self._perform(name, handler))
        self.wake()

    def _perform(self, name: str, handler: Callable[[], None]) -> None:
        try:
            handler()
        except SceneMissing:
            if not self._expected:
                raise
            self.waiting.append(name)
            self.say(f"as soon as the scene is there: {BY_NAME[name].help}")

    def expect_scene(self, expected: bool) -> None:
        """The first scene is loading; or it will not come, and nothing waits for it."""
        self._expected = expected
        if not expected:
            self.waiting.clear()

    def perform_waiting(self) -> None:
        """The scene is there: what has waited for it is performed, in order."""
        names = list(self.waiting)
        self.expect_scene(False)
        for name in names:
            self.do(name)

    def attempt(self, what: Callable[[], object]) -> None:
        """Run something that may fail for the user's reasons: the window shows the line and goes on."""
        try:
            what()
        except ViewerError as error:
            self.say(str(error), error=True)
        except OSError as error:
            self.say(f"{error.filename or ''}: {error.strerror or error}", error=True)

    def available(self, action: Action) -> bool:
        """Whether an action can do something now: else it is greyed."""
        return action.hold or action.name in self.handlers

    # -- what is said ----------------------------------------------------------------------------------------------

    def say(self, text: str, error: bool = False, seconds: float = LINE_SECONDS) -> None:
        """Show one line in the window; one that is no error for a number of seconds."""
        self.message, self.message_is_error, self._until = text, error, time.monotonic() + seconds
        self.wake()

    def say_done(self, text: str) -> None:
        """Show for a moment a key's effect."""
        self.say(text, seconds=ACTION_SECONDS)

    def say_switched(self, name: str, on: bool) -> None:
        """Show for a moment that something is on, or off."""
        self.say_done(f"{name} {'on' if on else 'off'}")

    @property
    def hint(self) -> str:
        """The first keys, for who opens a window for the first time, until a key is pressed; empty from then on."""
        if not self.preferences.hint or self.controller is None:
            return ""
        flies = self.controller.mode == "fly"
        parts = ["drag looks around" if flies else "drag orbits"]
        for action, text in (("camera.mode", "orbits" if flies else "flies"), ("help", "keys")):
            parts += [f"{key} {text}" for key in self.keymap.keys(action)[:1] if action in self.handlers]
        return ", ".join(parts)

    def fade(self) -> None:
        """Take a note back that has been there long enough."""
        if self.message and not self.message_is_error and time.monotonic() > self._until:
            self.say("")

    # -- drawing ---------------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Draw a few times more before sleeping."""
        self._awake = SETTLING

    @property
    def awake(self) -> bool:
        """Whether a draw is wanted."""
        return self._awake > 0

    @property
    def woken(self) -> bool:
        """Whether one has been asked for since the last; else those to come are for ImGui's layout alone."""
        return self._awake == SETTLING

    def after_draw(self, shot: Callable[[], None]) -> None:
        """Run something when the next draw is complete, before it is shown."""
        self._shots.append(shot)
        self.wake()

    def take_shots(self) -> None:
        """A draw is complete."""
        shots, self._shots = self._shots, []
        for shot in shots:
            self.attempt(shot)

    def drawn(self) -> None:
        """A draw is on the screen."""
        self._told = self._compile is not None
        self._awake = max(0, self._awake - 1)

    # -- compiling -------------------------------------------------------------------------------------------------

    @property
    def compiling(self) -> str:
        """Whose shaders are compiled now; empty for none."""
        return self._compile[0] if self._compile is not None else self.session.compiling

    @property
    def compile_waits(self) -> bool:
        """Whether something compiles as soon as the window has said so."""
        return self._compile is not None

    def compile(self, what: str, work: Callable[[], object]) -> None:
        """Do something that compiles shaders, after the window has said so."""
        self._compile, self._told = (what, work), False
        self.wake()

    def compile_now(self) -> None:
        """The programs to compile, once the window has said so."""
        if self._compile is not None and (self._told or self.minimised):
            (_, work), self._compile = self._compile, None
            self.wake()
            self.attempt(work)

    def forget_compile(self) -> None:
        """Drop the pending compilation."""
        self._compile = None


def configured(preferences: Preferences | None) -> tuple[Preferences, Keymap, list[str]]:
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


def rules(
    preferences: Preferences,
    spp: int | None = None,
    time: float | None = None,
    error: float | None = None,
    quality: str | None = None,
) -> Stop:
    """The rules that end a picture, by the options of `RULES`; the preferences have those that these leave open.

    Raises ViewerError for a value out of range.
    """
    chosen = stop_of(spp, time, error, quality)
    samples = preferences.samples if (spp, quality) == (None, None) else chosen.spp
    return Stop(samples, chosen.seconds, chosen.error or preferences.noise or None)


def choose_pivot(view: Viewport) -> None:
    """Bring the target of a camera within the scene's bounds to the first hit along its view; without a hit it stays,
    but within the bounds. Outdoors it is left alone, and while the scene is loaded.

    Kernels for rays of their own are compiled after the window has said so; the target then comes a little later.
    """
    renderer, controller = view.renderer, view.controller
    if renderer is None or controller is None or not controller.indoors:
        return
    if renderer.trace_ready():
        _choose(view, renderer, controller)
    else:
        view.compile("the kernels for rays of their own", lambda: _choose(view, renderer, controller))


def _choose(view: Viewport, renderer: Renderer, controller: CameraController) -> None:
    camera = controller.camera
    hits = renderer.trace([camera.about((0.0, 0.0, 0.0)).origin], [camera.basis()[2]], view=True)
    controller.aim(float(hits.distance[0]))
    view.wake()
