"""The host of a view: a scene's session, camera, commands and debug views, put together once, for whoever shows them.

A window, a widget, a browser's page and pyrender's viewer differ in their screen and in the source of their events
alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from raystream.base.errors import ViewerError
from raystream.base.memory import give_back
from raystream.base.paths import assets
from raystream.renderer.empty_view import shows_nothing
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.scheduler import ASLEEP, DRAWN_LOADING, HELD, LOOKS_WHILE_HELD, MAX_TURN, POLL
from raystream.renderer.session.session import Session
from raystream.renderer.session.trials import BackgroundTrials
from raystream.scene.scene import Scene
from raystream.stream.gl.device import Device
from raystream.viewport.debug_views.debug_views import DebugViews
from raystream.viewport.editing import SPEEDS, LightMarkers, ObjectEditing
from raystream.viewport.keymap import MODIFIERS, WORDS, Keymap, parse_key
from raystream.viewport.picture_texture import AutoExposure, PictureTexture
from raystream.viewport.preferences import Preferences
from raystream.viewport.scene_loader import SceneLoader
from raystream.viewport.viewport import Viewport, choose_pivot

# -- one turn of the loop for the picture, whatever shows it: movement, tracing, exposure ------------------------------


class FrameLoop:
    """The picture's share of the loop's turns.

    moving : the camera is, or something in the scene. dt : seconds since the turn before, at most `MAX_TURN`.
    trials : of a device that is seen first, while the picture rests.
    """

    def __init__(self, context: ViewerHost, canvas: PictureTexture, auto_exposure: AutoExposure) -> None:
        self.context, self.view, self.session = context, context.view, context.view.session
        self.canvas, self.auto_exposure = canvas, auto_exposure
        self.moving, self.dt = False, 0.0
        self.trials = BackgroundTrials()
        self._last, self._moved = time.monotonic(), 0.0
        self._metered_picture: tuple[Any, ...] = ()  # what was on show when the light was measured
        self._unchecked = False  # no complete picture of the scene has been looked at
        self._pictures_before: int | None = 0  # pictures of the session while none is there of a new scene
        self._freed_at_rest = False  # nothing is left to trace, and free memory is given back
        self._frees_memory = False  # the next draw gives it back

    def shown(self, same: bool) -> None:
        """A scene is on show; ``same``: the one that was there."""
        self.context.editing.shown(same)
        if not same:
            self._pictures_before, self._unchecked, self._freed_at_rest = self.session.pictures, True, False
            self.trials.abandon()
        self.view.actions.perform_waiting()

    @property
    def anything(self) -> bool:
        """Whether anything of the scene is on show."""
        return self._pictures_before is None or self.context.scene_loader.first_picture.shown

    @property
    def tracing(self) -> bool:
        """Whether the picture goes on by itself."""
        view = self.view
        return not view.area.minimised and not view.paused and not self.session.idle

    @property
    def busy(self) -> bool:
        """Whether a picture or a scene is in progress."""
        return self.tracing or self.context.scene_loader.loader.busy

    @property
    def needs_draw(self) -> bool:
        """Whether a draw is. Those in which ImGui lays out wait for one that shows something where all is busy: four of
        them took longer than a scene of forty triangles to its first picture."""
        return self.view.woken or (self.view.awake and not self.busy)

    @property
    def wait_timeout(self) -> float:
        """Seconds that the loop may wait for an event, as far as the picture is concerned."""
        view, controller, scene_loader = self.view, self.view.controller, self.context.scene_loader
        eased = (controller is not None and controller.moving) or (
            self.context.editing.active and not view.area.minimised
        )
        if self.needs_draw or view.compilation.name or scene_loader.uploading or scene_loader.rehearsing:
            return 0.0
        if self.tracing and self.session.pending:
            return POLL
        if eased:
            return 0.0
        if self.tracing:
            return HELD / LOOKS_WHILE_HELD if self.session.waiting(self.moving) else 0.0
        return DRAWN_LOADING if scene_loader.loader.busy else ASLEEP

    @property
    def trials_timeout(self) -> float:
        """Seconds until trials need a turn of a picture at rest; infinite: there are none."""
        return math.inf if self.view.area.minimised or self.view.paused else self.trials.wait_timeout(self.session)

    def begin(self) -> None:
        """Another turn begins: a loaded scene is taken."""
        now = time.monotonic()
        self.dt, self._last = min(now - self._last, MAX_TURN), now
        self.context.scene_loader.take()

    def move(self) -> None:
        """Whatever moves goes on."""
        view, editing, controller = self.view, self.context.editing, self.view.controller
        if controller is None:
            return
        moved = view.renderer is not None and editing.update(self.dt)
        if controller.update(self.dt):
            view.apply_camera()
            editing.follow()
            moved = True
        if moved:
            self._moved = self._last
        dragging = (view.input.drag is not None or editing.grabbing) and self._last - self._moved < HELD
        self.moving = controller.moving or editing.active or dragging

    def work(self, budget: float) -> None:
        """Trace for ``budget`` seconds."""
        view, session, debug_views = self.view, self.session, self.context.debug_views
        if view.area.minimised or self.context.scene_loader.uploading or (view.paused and not debug_views.busy):
            self.trials.abandon()
            return
        rested = 0.0 if self.moving or debug_views.busy or view.input.drag is not None else self._last - self._moved
        tries = self.trials.due(session, rested)
        inside = view.paused or tries or (debug_views.busy and session.complete and not self.moving)
        try:
            session.advance(budget, self.moving, begin=not inside)
        except ViewerError as error:
            session.fail()
            view.say(str(error), error=True)
        follows = self.moving and debug_views.heat is not None  # a rough map after every preview
        waits = inside or follows or session.waiting(self.moving)
        if waits and not session.running and not view.compilation.name:
            view.attempt(lambda: debug_views.advance(budget))
        if tries and not session.running:
            self.trials.advance(session, budget)
        elif self.trials.busy:
            self.trials.poll() if rested and session.complete else self.trials.abandon()

    def expose(self) -> None:
        """The exposure follows the picture, where it is left to it."""
        session = self.session
        if session.on_screen is not None:
            session.on_screen.white = 2.0**-self.view.tone.stops
        first = self.context.scene_loader.first_picture
        if self._pictures_before is not None:
            if session.pictures == self._pictures_before:
                if first.shown:
                    self._follow(first.drawn, True)
                return  # nothing else of the scene is on show yet
            self._pictures_before = None
            self.auto_exposure.begin()
        if self._unchecked and session.complete:
            self._unchecked, self._frees_memory = False, True
            self._fill()
            self.view.wake()  # another draw is to give back: both take long
        elif self._frees_memory or (session.idle and not self._freed_at_rest):
            give_back()  # what reading and building took, and the scene before; at rest what compiling took
            self._frees_memory, self._freed_at_rest = False, session.idle
        self._freed_at_rest &= session.idle
        self._follow((session.pictures, session.steps), session.idle)

    def _follow(self, picture: tuple[Any, ...], last: bool) -> None:
        """The light meter looks at the picture on show, if it is another one, and the ``last`` for a while."""
        if not self.view.tone.automatic:
            return
        now = time.monotonic()
        if self.auto_exposure.follow(self.canvas.texture, now, self.dt, last, picture == self._metered_picture):
            self._metered_picture = picture
        self.view.tone.metered = self.auto_exposure.stops
        if not self.auto_exposure.reached:
            self.view.wake()

    def _fill(self) -> None:
        """Light for a scene whose own lights show nothing, where both light and exposure are left to Raystream."""
        view, renderer = self.view, self.view.renderer
        if renderer is None or not view.tone.automatic or not renderer.progressive:
            return
        settings, lighting = self.context.scene_loader.requested, renderer.prepared.lighting
        if (settings.environment, settings.sun) != (None, None) or not lighting.only_own_lights:
            return
        if lighting.backdrop is None or renderer.ray_queries.coarse_hits_ready(renderer.settings):
            self._fill_if_black()
        else:
            view.compilation.request("the rays that tell a scene from its backdrop", self._fill_if_black)

    def _fill_if_black(self) -> None:
        """The default sky for a scene of which the picture shows nothing."""
        renderer = self.view.renderer
        if renderer is not None and shows_nothing(renderer, self.canvas.linear()):
            self.context.scene_loader.fill()


# -- events of browsers, and the bar of an animation (assets/canvas/motion.js) -----------------------------------------


def key_text(key: str, modifiers: Iterable[str] = ()) -> str:
    """The key text of a key with modifiers, by a browser's names (the `key` of its KeyboardEvent); empty for a key that
    has none."""
    bits = modifier_bits(modifiers)
    try:
        name = parse_key("Space" if key == " " else key)
    except ViewerError:
        return ""
    pressed = [] if name in MODIFIERS else [modifier for modifier, bit in MODIFIERS.items() if bits & bit]
    return parse_key("+".join([*pressed, name]))


def modifier_bits(modifiers: Iterable[str]) -> int:
    """The bits of `MODIFIERS` of a browser's modifiers."""
    return sum({MODIFIERS.get(WORDS.get(modifier.lower(), ""), 0) for modifier in modifiers})


def script(name: str) -> str:
    """JavaScript of ``assets/canvas``, to run after rendercanvas's ``renderview.js`` and before it makes a view."""
    return (assets() / "canvas" / name).read_text(encoding="utf-8")


EVENTS = ("seek", "animation", "speed")


def serialize_motion(context: ViewerHost) -> dict[str, Any]:
    """A message on the animation: of a duration of 0 where nothing moves."""
    scene, editing = context.view.scene, context.editing
    player = editing.animation.player
    return {
        "type": "motion",
        "seconds": player.seconds,
        "duration": scene.duration if scene is not None else 0.0,
        "playing": player.playing,
        "loop": player.loop,
        "speed": player.speed,
        "speeds": SPEEDS,
        "animation": scene.animation if scene is not None else 0,
        "animations": editing.animation.names,
    }


def apply_motion(context: ViewerHost, event: Mapping[str, Any]) -> None:
    """Take an event of `EVENTS`: seek, to a moment in ``seconds``; animation, of a ``number``, below 0 all at once; and
    speed, in ``times`` the file's."""
    editing, kind = context.editing, event["event_type"]
    if kind == "seek":
        context.view.attempt(lambda: editing.animation.seek_within(float(event["seconds"])))
    elif kind == "animation":
        index = int(event["number"])
        context.view.attempt(lambda: editing.animation.choose("all" if index < 0 else index))
    else:
        editing.animation.player.speed = min(max(float(event["times"]), SPEEDS[0]), SPEEDS[-1])


# -- pointer and key input of a viewport: drags, the wheel and held keys, whoever reports them -------------------------

LEFT, RIGHT, MIDDLE = 0, 1, 2  # buttons of the mouse, GLFW's numbers
SHIFT, CONTROL = MODIFIERS["Shift"], MODIFIERS["Ctrl"]
TURNING = 0.4  # degrees that a pixel of a drag turns the environment: once round in 900 pixels


class PointerInput:
    """Keys and the mouse, over the picture. Places are of the picture, in the units of the view's ``size``; ``mods``
    are bits of `MODIFIERS`."""

    def __init__(self, context: ViewerHost) -> None:
        self.context, self.view = context, context.view
        self._pivoted = False  # the drag's pivot is chosen

    def key(self, text: str, down: bool, repeated: bool = False) -> None:
        """A key goes down, by its text as of `parse_key`, maybe ``repeated`` by the keyboard; or up."""
        view = self.view
        if down:
            view.preferences.hint = False
        if down and not repeated and self.context.editing.key(text):
            return
        action = view.keymap.lookup(text) if down else view.keymap.released(text)
        if action is not None and action.hold and not repeated:
            motion = action.name.removeprefix("fly.")
            (view.input.motions.add if down else view.input.motions.discard)(motion)
            if view.controller is not None:
                (view.controller.press if down else view.controller.release)(motion)
        elif action is not None and not action.hold and down and (action.repeat or not repeated):
            view.actions.perform(action.name)

    def clicked(self, button: int) -> bool:
        """A button goes down while something follows the mouse; whether it was for that."""
        return button in (LEFT, RIGHT) and self.context.editing.button(button == LEFT)

    def press(self, button: int, mods: int) -> None:
        """A drag begins, unless one is in progress."""
        view = self.view
        if view.input.drag is not None:
            return
        view.input.drag, self._pivoted = (button, mods), False
        if _moves_light(view.input.drag):
            view.attempt(self.context.editing.drag_light)

    def release(self, button: int) -> None:
        """A button goes up."""
        if self.view.input.drag is not None and self.view.input.drag[0] == button:
            self.end()

    def end(self) -> None:
        """The drag in progress ends."""
        drag, self.view.input.drag = self.view.input.drag, None
        if drag is not None and _moves_light(drag):
            self.context.editing.end_drag()

    def move(self, x: float, y: float) -> None:
        """The cursor comes to another place; a drag goes on."""
        view, controller = self.view, self.view.controller
        dx, dy = x - view.input.cursor[0], y - view.input.cursor[1]
        view.input.cursor = (x, y)
        self.context.editing.follow()
        if view.input.drag is None or controller is None:
            return
        button, mods = view.input.drag
        if _moves_light(view.input.drag):
            return
        if button == MIDDLE or (button == LEFT and mods & SHIFT):
            controller.pan(dx, dy, max(1, view.area.size[1]))
        elif button == RIGHT and mods & SHIFT:
            self.context.editing.turn_environment(dx * TURNING)
        elif button == RIGHT and controller.mode == "orbit":
            controller.dolly(1.01**dy, None)
        elif mods & CONTROL:
            controller.roll(dx * 0.01)
        elif controller.mode == "orbit":
            if not self._pivoted:  # a click alone changes nothing
                self._pivoted = True
                view.attempt(lambda: choose_pivot(view))
            controller.orbit(dx, dy)
        else:
            controller.look(dx, dy)

    def wheel(self, x: float, y: float, steps: float) -> None:
        """Dolly to the cursor, which is there, or the speed of flight."""
        self.view.input.cursor = (x, y)
        controller = self.view.controller
        if controller is not None:
            controller.wheel(steps, controller.direction(*self.view.input.cursor, *self.view.area.size))

    def pinch(self, ratio: float) -> None:
        """Two fingers about the cursor come to ``ratio`` times their distance."""
        controller = self.view.controller
        if controller is not None:
            controller.pinch(ratio, controller.direction(*self.view.input.cursor, *self.view.area.size))

    def leave(self) -> None:
        """The keyboard's focus goes: keys and buttons that are down are let go."""
        self.end()
        self.view.input.motions.clear()
        if self.view.controller is not None:
            self.view.controller.release_all()


def _moves_light(drag: tuple[int, int]) -> bool:
    """Whether a drag, of a button with modifiers, is for the selected light."""
    return drag[0] == RIGHT and bool(drag[1] & CONTROL)


# -- the host of a view ------------------------------------------------------------------------------------------------

NOTCH = 100.0  # pixels that a browser scrolls by a notch of the wheel
BUTTONS = {1: LEFT, 2: RIGHT, 3: MIDDLE}  # rendercanvas's -> the pointer's
# Of `assets/canvas` and of windows, beside rendercanvas's own.
OWN_EVENTS = ("focus_out", "pinch", "action", *EVENTS)
WAKING = ("key_down", "pointer_down", "resize", *EVENTS)


class ViewerHost:
    """Makes all that a view of a ``session`` consists of, and that panels and commands act on; passes events on to it.
    The session's screen is a `PictureTexture`; the context must be current in every call.

    settings : of the first scene. load : reads a scene by its path, in a thread. wake : ends the sleep of the loop that
    turns it, from any thread.
    """

    def __init__(
        self,
        device: Device,
        session: Session,
        preferences: Preferences,
        keymap: Keymap,
        settings: Settings,
        load: Callable[[str], Scene],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        assert isinstance(session.screen, PictureTexture)
        self.device, self.session, self.auto_exposure = device, session, AutoExposure(device)
        self.view = Viewport(session, preferences, keymap)
        self.debug_views, self.markers = DebugViews(self.view), LightMarkers(self.view)
        self.scene_loader = SceneLoader(self.view, self.debug_views, device, settings, load, wake)
        self.editing = ObjectEditing(self.view, self.scene_loader, self.debug_views, self.markers)
        self.frame_loop = FrameLoop(self, session.screen, self.auto_exposure)
        self.pointer = PointerInput(self)
        self.scene_loader.on_show = self.frame_loop.shown

    # -- input -----------------------------------------------------------------------------------------------------

    def handle(self, event: Mapping[str, Any]) -> None:
        """Take an event of rendercanvas: pointer_down, pointer_move, pointer_up, wheel, key_down, key_up, resize; and
        of `OWN_EVENTS`: focus_out, where keys and buttons are let go, pinch, of two fingers about x, y that have come
        to ``ratio`` times their distance, action, of the table by its ``name``, and those of `apply_motion`. Others
        are ignored. A key_down may be a ``repeat``."""
        kind, pointer = event.get("event_type", ""), self.pointer
        if kind in ("pointer_down", "pointer_move", "pointer_up"):
            position = float(event["x"]), float(event["y"])
            if kind == "pointer_move" or position != self.view.input.cursor:
                pointer.move(*position)
            button = BUTTONS.get(event.get("button", 0))
            if kind == "pointer_down" and button is not None and not pointer.clicked(button):
                pointer.press(button, modifier_bits(event.get("modifiers", ())))
            elif kind == "pointer_up" and button is not None:
                pointer.release(button)
        elif kind == "wheel":
            pointer.wheel(float(event["x"]), float(event["y"]), -float(event["dy"]) / NOTCH)
        elif kind == "pinch":
            pointer.move(float(event["x"]), float(event["y"]))
            pointer.pinch(float(event["ratio"]))
        elif kind in ("key_down", "key_up"):
            text = key_text(event["key"], event.get("modifiers", ()))
            pointer.key(text, kind == "key_down", bool(event.get("repeat", False)))
        elif kind == "resize":
            ratio = float(event.get("pixel_ratio", 1.0))
            self.resize((round(float(event["width"]) * ratio), round(float(event["height"]) * ratio)), ratio)
        elif kind == "focus_out":
            pointer.leave()
        elif kind == "action" and event["name"] in self.view.actions.handlers:
            self.view.actions.perform(event["name"])
        elif kind in EVENTS:
            apply_motion(self, event)
        if kind in WAKING:
            self.view.wake()

    def resize(self, pixels: tuple[int, int], ratio: float) -> None:
        """The picture has another size; events report places in units of ``ratio`` pixels."""
        self.view.area.minimised = min(pixels) < 1
        if min(pixels) < 1:
            return
        logical = max(1, round(pixels[0] / ratio)), max(1, round(pixels[1] / ratio))
        self.view.lay_out(logical, pixels)

    # -- work ------------------------------------------------------------------------------------------------------

    def advance(self, budget: float, prepare: Callable[[], object] = lambda: None) -> None:
        """A turn of the loop, but for its draw: a loaded scene is taken, motion goes on, the picture is traced for
        ``budget`` seconds. prepare : called once a loaded scene is there."""
        self.frame_loop.begin()
        prepare()
        self.frame_loop.move()
        self.view.compilation.run()
        self.frame_loop.work(budget)
        self.view.fade()
