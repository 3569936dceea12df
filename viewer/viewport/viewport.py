"""The viewport: one session as it is shown, and all that its parts share. No glfw, no panels."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.film.error import Stop, stop_of
from raystream.renderer.inputs.camera import camera_options
from raystream.renderer.renderer import Renderer
from raystream.renderer.session.session import Session
from raystream.scene.camera import Camera
from raystream.scene.environment import DARKNESS, Environment
from raystream.scene.scene import Scene
from raystream.viewport.camera_controller import CameraController
from raystream.viewport.keymap import BY_NAME, Action, Keymap
from raystream.viewport.preferences import Preferences

# -- the state of a viewport: tone mapping, overlays, the picture's area, mouse and keys -------------------------------
# The light meter writes `ToneMapping.metered`, whoever shows the picture `PictureArea`, keys `Overlay.on`, and
# `raystream.viewport.host.PointerInput` its `InputState`.


class ToneMapping:
    """Exposure and tone map of the picture on show.

    exposure : stops, or auto, which means ``metered`` stops now, the light meter's. tonemap : its name.
    """

    def __init__(self, exposure: float | str, tonemap: str) -> None:
        self.exposure, self.tonemap, self.metered = exposure, tonemap, 0.0

    @property
    def automatic(self) -> bool:
        """Whether the exposure follows the picture."""
        return isinstance(self.exposure, str)

    @property
    def stops(self) -> float:
        """The exposure on show."""
        return self.metered if isinstance(self.exposure, str) else self.exposure

    def choose(self, *, exposure: float | str | None = None, tonemap: str | None = None) -> None:
        """Choose one or both; None: as it is."""
        self.exposure = self.exposure if exposure is None else exposure
        self.tonemap = self.tonemap if tonemap is None else tonemap


@dataclass
class Overlay:
    """Something that is drawn over the picture while it is ``on``. name : in messages."""

    name: str
    on: bool = False


class Overlays:
    """The overlays that keys show and hide. boxes : of the acceleration structure."""

    def __init__(self, preferences: Preferences) -> None:
        self.panels = Overlay("panels", preferences.panels)
        self.statistics = Overlay("statistics", preferences.statistics)
        self.help, self.boxes = Overlay("help"), Overlay("boxes")


class PictureArea:
    """Where the picture is shown.

    size : window coordinates; ``pixels`` of its framebuffer. scale : of the window's text, by the screen's density.
    minimised : nobody sees it.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.size, self.pixels, self.scale, self.minimised = size, size, 1.0, False

    @property
    def aspect(self) -> float:
        """Width / height."""
        return max(1, self.size[0]) / max(1, self.size[1])


@dataclass
class InputState:
    """Mouse and keys. cursor : in the picture, window coordinates. drag : button and modifiers that are down.
    motions : whose flight keys are down."""

    cursor: tuple[float, float] = (0.0, 0.0)
    drag: tuple[int, int] | None = None
    motions: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Message:
    """The line in the window. until : when a note is taken back, by `time.monotonic`; an error stays."""

    text: str = ""
    is_error: bool = False
    until: float = 0.0


# -- the viewport: one session as it is shown, and all that its parts share --------------------------------------------

RULES = ("spp", "time", "error", "quality")  # options that end a picture
SETTLING = 3  # draws before the loop may sleep: ImGui lays out in two
LINE_SECONDS = 6.0  # that a note stays; an error stays until the next action
ACTION_SECONDS = 1.0  # and the name of what a key has done


class SceneMissing(ViewerError):
    """Something needs a scene, and there is none."""


class Viewport:
    """One session as it is shown, shared by panels, commands and events.

    session    : the picture. preferences, keymap : the user's.
    controller : the camera in the hand; None while there is no scene; see `hold_camera`.
    tone, overlays, area, input : see above. An exposure set by hand is the open scene's: the next one has that of the
    preferences.
    actions    : by name. compilation : that waits for a draw. message : the line in the window, see `say`.
    paused     : nothing is traced, see `toggle_pause`.
    """

    def __init__(self, session: Session, preferences: Preferences, keymap: Keymap) -> None:
        self.session, self.preferences, self.keymap = session, preferences, keymap
        self.controller: CameraController | None = None
        self.tone = ToneMapping(preferences.exposure, preferences.tonemap)
        self.overlays, self.area, self.input = Overlays(preferences), PictureArea(preferences.size), InputState()
        self.actions, self.compilation = Actions(self), PendingCompilation(self)
        self.message = Message()
        self.paused = False
        self._shots: list[Callable[[], None]] = []
        self._awake = SETTLING

    # -- the scene -------------------------------------------------------------------------------------------------

    @property
    def renderer(self) -> Renderer | None:
        """The session's; None while there is no scene."""
        renderer = self.session.renderer
        assert renderer is None or isinstance(renderer, Renderer)
        return renderer

    @property
    def scene(self) -> Scene | None:
        """The scene on show."""
        return None if self.renderer is None else self.renderer.prepared.scene

    @property
    def environment(self) -> Environment:
        """The environment of the scene on show."""
        return DARKNESS if self.renderer is None else self.renderer.prepared.lighting.environment

    def require_scene(self) -> tuple[Renderer, CameraController]:
        """The renderer and the camera in the hand. Raises SceneMissing while there is no scene."""
        if self.renderer is None or self.controller is None:
            raise SceneMissing("scene", "none is loaded yet", "wait, or open one")
        return self.renderer, self.controller

    def hold_camera(self, camera: Camera, bounds: ArrayLike, scene: Scene) -> None:
        """A camera in the hand for a scene that comes; keys that are down move it. bounds : (2, 3), scene units."""
        controller = CameraController(camera, bounds, default_view(scene))
        controller.mode = "fly" if controller.indoors else self.preferences.mode
        controller.speed = self.preferences.speed * controller.natural_speed
        for motion in self.input.motions:
            controller.press(motion)
        self.controller = controller

    def take(self, camera: Camera) -> None:
        """Set the camera, which then was not flown."""
        _, controller = self.require_scene()
        controller.set_camera(camera)
        self.apply_camera()

    def apply_camera(self) -> None:
        """Render from the camera in the hand."""
        if self.controller is None:
            self.require_scene()
        elif self.renderer is not None:
            self.session.update(**camera_options(self.controller.camera))
        self.wake()

    def lay_out(self, size: tuple[int, int], pixels: tuple[int, int]) -> None:
        """The picture has this size, in the window's coordinates and in pixels; of others of these it restarts."""
        area = self.area
        aspect, resized = area.aspect, pixels != area.pixels
        area.size, area.pixels = size, pixels
        if self.controller is not None and self.controller.fit(aspect, area.aspect):
            self.apply_camera()
        if resized:
            self.session.resize(pixels)
            self.wake()

    def ray_under_cursor(self) -> tuple[Any, Any]:
        """(3,) float64 origin and unit direction of the camera's ray through the cursor, world space."""
        _, controller = self.require_scene()
        return controller.ray(*self.input.cursor, *self.area.size)

    def trace_soon(self, work: Callable[[], object]) -> None:
        """Do something that traces rays of its own: once the window has said so where that compiles shaders. Raises
        SceneMissing."""
        renderer, _ = self.require_scene()
        if renderer.ray_queries.trace_ready(renderer.settings):
            work()
        else:
            self.compilation.request("the kernels for rays of their own", work)

    def trace_under_cursor(self, work: Callable[[int, NDArray[np.float64] | None], object]) -> None:
        """Do something with the instance and the point (3,), world space, under the cursor, -1 and None without; as
        `trace_soon`."""
        renderer, _ = self.require_scene()
        origin, direction = self.ray_under_cursor()

        def trace() -> None:
            hits = renderer.trace([np.add(origin, renderer.prepared.scene.origin)], [direction], view=True)
            instance = int(hits.instance[0])
            work(instance, None if instance < 0 else np.add(origin, np.multiply(hits.distance[0], direction)))

        self.trace_soon(trace)

    def toggle_pause(self) -> None:
        """Pause rendering, or go on."""
        self.paused = not self.paused
        if self.paused:
            self.say(f"paused; {self.keymap.text('pause')} goes on")
        else:
            self.say_done("rendering goes on")

    # -- what is said ----------------------------------------------------------------------------------------------

    def attempt(self, what: Callable[[], object]) -> None:
        """Run something that may fail for the user's reasons: the window shows the line and goes on."""
        try:
            what()
        except ViewerError as error:
            self.say(str(error), error=True)
        except OSError as error:
            self.say(f"{error.filename or ''}: {error.strerror or error}", error=True)

    def say(self, text: str, error: bool = False, seconds: float = LINE_SECONDS) -> None:
        """Show one line in the window; one that is no error for a number of seconds."""
        self.message = Message(text, error, time.monotonic() + seconds)
        self.wake()

    def say_done(self, text: str) -> None:
        """Show for a moment a key's effect."""
        self.say(text, seconds=ACTION_SECONDS)

    def say_switched(self, name: str, on: bool) -> None:
        """Show for a moment that something is on, or off."""
        self.say_done(f"{name} {'on' if on else 'off'}")

    def fade(self) -> None:
        """Take a note back that has been there long enough."""
        message = self.message
        if message.text and not message.is_error and time.monotonic() > message.until:
            self.say("")

    @property
    def hint(self) -> str:
        """The first keys, for who opens a window for the first time, until a key is pressed; empty from then on."""
        if not self.preferences.hint or self.controller is None:
            return ""
        flies = self.controller.mode == "fly"
        parts = ["drag looks around" if flies else "drag orbits"]
        for action, text in (("camera.mode", "orbits" if flies else "flies"), ("help", "keys")):
            parts += [f"{key} {text}" for key in self.keymap.keys(action)[:1] if action in self.actions.handlers]
        return ", ".join(parts)

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
        self.compilation.drawn()
        self._awake = max(0, self._awake - 1)

    @property
    def compiling(self) -> str:
        """Whose shaders are compiled now; empty for none."""
        return self.compilation.name or self.session.compiling


class Actions:
    """The actions that a view performs. handlers : by name; one without is greyed. waiting : for the first scene, by
    name."""

    def __init__(self, view: Viewport) -> None:
        self.handlers: dict[str, Callable[[], None]] = {}
        self._view = view
        self.waiting: list[str] = []
        self._expected = False  # the first scene is loading

    def add(self, handlers: Mapping[str, Callable[[], None]]) -> None:
        """Further handlers, or others of the same names."""
        self.handlers.update(handlers)

    def available(self, action: Action) -> bool:
        """Whether an action can do something now."""
        return action.hold or action.name in self.handlers

    def perform(self, name: str) -> None:
        """Perform an action by its name; its errors go to the message line. One that needs a scene waits for the first
        while that is loading."""
        handler, view = self.handlers.get(name), self._view
        if handler is None:
            view.say(f"{name}: not there yet")
            return
        view.attempt(lambda: self._perform(name, handler))
        view.wake()

    def _perform(self, name: str, handler: Callable[[], None]) -> None:
        try:
            handler()
        except SceneMissing:
            if not self._expected:
                raise
            self.waiting.append(name)
            self._view.say(f"as soon as the scene is there: {BY_NAME[name].help}")

    def expect_scene(self, expected: bool) -> None:
        """The first scene is loading; or it will not come, and nothing waits for it."""
        self._expected = expected
        if not expected:
            self.waiting.clear()

    def perform_waiting(self) -> None:
        """The scene is there: actions that waited for it are performed, in order."""
        names = list(self.waiting)
        self.expect_scene(False)
        for name in names:
            self.perform(name)


class PendingCompilation:
    """Work that compiles shaders, and waits until the window has said so. name : whose shaders; empty: none wait."""

    def __init__(self, view: Viewport) -> None:
        self.name = ""
        self._view = view
        self._work: Callable[[], object] = lambda: None
        self._announced = False

    def request(self, name: str, work: Callable[[], object]) -> None:
        """Do something that compiles shaders, in place of other work that waits."""
        self.name, self._work, self._announced = name, work, False
        self._view.wake()

    def drawn(self) -> None:
        """A draw is on the screen."""
        self._announced = bool(self.name)

    def run(self) -> None:
        """Do it, once the window has said so, or nobody sees it."""
        if self.name and (self._announced or self._view.area.minimised):
            self.name = ""
            self._view.wake()
            self._view.attempt(self._work)

    def drop(self) -> None:
        """It is not needed any more."""
        self.name = ""


def default_view(scene: Scene) -> Callable[[float], Camera]:
    """The scene's own view, in pictures of an aspect (width / height)."""
    return lambda aspect: scene.camera(aspect=aspect)


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

    def choose() -> None:
        camera = controller.camera
        hits = renderer.trace([camera.about((0.0, 0.0, 0.0)).origin], [camera.basis()[2]], view=True)
        controller.aim(float(hits.distance[0]))
        view.wake()

    view.trace_soon(choose)
