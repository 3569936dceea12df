"""The host of a view: a scene's session, camera, commands and debug views, put together once, for whoever shows them.

A window, a widget, a browser's page and pyrender's viewer differ in their screen and in the source of their events
alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from raystream.renderer.inputs.settings import Settings
from raystream.renderer.session.session import Session
from raystream.scene.scene import Scene
from raystream.stream.gl.device import Device
from raystream.viewport.auto_exposure import AutoExposure
from raystream.viewport.browser import EVENTS, apply_motion, key_text, modifier_bits
from raystream.viewport.context import ViewportContext
from raystream.viewport.debug_views.debug_views import DebugViews
from raystream.viewport.frame_loop import FrameLoop
from raystream.viewport.keymap import MODIFIERS, Action, Keymap
from raystream.viewport.light_markers import LightMarkers
from raystream.viewport.object_editing import ObjectEditing
from raystream.viewport.picture_texture import PictureTexture
from raystream.viewport.preferences import Preferences
from raystream.viewport.scene_loader import SceneLoader
from raystream.viewport.viewport import Viewport, choose_pivot

# -- pointer and key input of a viewport: drags, the wheel and held keys, whoever reports them -------------------------

LEFT, RIGHT, MIDDLE = 0, 1, 2  # buttons of the mouse, GLFW's numbers
SHIFT, CONTROL = MODIFIERS["Shift"], MODIFIERS["Ctrl"]
TURNING = 0.4  # degrees that a pixel of a drag turns the environment: once round in 900 pixels


class PointerInput:
    """Keys and the mouse, over the picture. Places are of the picture, in the units of the view's ``size``; ``mods``
    are bits of `MODIFIERS`."""

    def __init__(self, context: ViewportContext) -> None:
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
        if action is None:
            return
        if action.hold:
            self._hold(action, down, repeated)
        elif down and (action.repeat or not repeated):
            view.actions.perform(action.name)

    def _hold(self, action: Action, down: bool, repeated: bool) -> None:
        if repeated:
            return
        motion, controller = action.name.removeprefix("fly."), self.view.controller
        if down:
            self.view.input.motions.add(motion)
        else:
            self.view.input.motions.discard(motion)
        if controller is not None:
            (controller.press if down else controller.release)(motion)

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
    """Makes all that a view of a ``session`` consists of, whose screen is a `PictureTexture`, and passes events on to
    it; the context must be current in every call.

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
        self.context = ViewportContext(self.view, self.scene_loader, self.editing, self.markers, self.debug_views)
        self.frame_loop = FrameLoop(self.context, session.screen, self.auto_exposure)
        self.pointer = PointerInput(self.context)
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
            apply_motion(self.context, event)
        if kind in WAKING:
            self.view.wake()

    def resize(self, pixels: tuple[int, int], ratio: float) -> None:
        """The picture has another size; events report places in units of ``ratio`` pixels."""
        self.view.area.minimise(min(pixels) < 1)
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
