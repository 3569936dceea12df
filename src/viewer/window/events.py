"""What the window's events do: keys, the mouse, sizes, focus, dropped files."""

from __future__ import annotations

import glfw

from viewer.window.input.actions import Action, key_text
from viewer.window.input.imgui_input import ImguiInput
from viewer.window.view.desk import Desk
from viewer.window.view.pivot import choose_pivot

PICTURES = (".hdr", ".pic", ".exr")
TURNING = 0.4  # degrees that a pixel of a drag turns the environment: once round in 900 pixels


class Events:
    """A listener (`viewer.window.input.window.Listener`) that acts on the desk."""

    def __init__(self, desk: Desk, input: ImguiInput) -> None:
        self.desk, self.view, self.input = desk, desk.view, input
        self._pivoted = False  # the drag's pivot is chosen

    def on_key(self, key: int, scancode: int, action: int, mods: int) -> None:
        """Hotkeys, unless a text field has the keyboard."""
        view = self.view
        view.wake()
        self.input.key(key, action, mods)
        if self.input.wants_keyboard and key != glfw.KEY_ESCAPE and action != glfw.RELEASE:
            return
        text = key_text(key, mods, scancode)
        if action == glfw.PRESS and self.desk.motion.key(text):
            return
        found = view.keymap.released(text) if action == glfw.RELEASE else view.keymap.lookup(text)
        if found is None:
            return
        if found.hold:
            self._hold(found, action)
        elif action == glfw.PRESS or (action == glfw.REPEAT and found.repeat):
            view.do(found.name)

    def _hold(self, found: Action, action: int) -> None:
        flight = self.view.flight
        if flight is None or action == glfw.REPEAT:
            return
        motion = found.name.removeprefix("fly.")
        if action == glfw.PRESS:
            flight.press(motion)
        else:
            flight.release(motion)

    def on_character(self, code: int) -> None:
        """Text for a field."""
        self.input.character(code)
        self.view.wake()

    def on_button(self, button: int, action: int, mods: int) -> None:
        """A drag begins or ends."""
        view = self.view
        view.wake()
        self.input.button(button, action == glfw.PRESS)
        known = button in (glfw.MOUSE_BUTTON_LEFT, glfw.MOUSE_BUTTON_RIGHT)
        if action == glfw.PRESS and known and self.desk.motion.button(button == glfw.MOUSE_BUTTON_LEFT):
            return
        if action == glfw.RELEASE:
            if view.drag is not None and view.drag[0] == button and _moves_light(view.drag):
                self.desk.motion.end_drag()
            if view.drag is not None and view.drag[0] == button:
                view.drag = None
        elif not self.input.wants_mouse and view.drag is None:
            view.drag, self._pivoted = (button, mods), False
            if _moves_light(view.drag):
                view.attempt(self.desk.motion.drag_light)

    def on_move(self, x: float, y: float) -> None:
        """A drag goes on."""
        view, flight = self.view, self.view.flight
        dx, dy = x - view.left - view.cursor[0], y - view.cursor[1]
        view.cursor = (x - view.left, y)
        self.input.move(x, y)
        view.wake()
        self.desk.motion.follow()
        if view.drag is None or flight is None:
            return
        button, mods = view.drag
        if _moves_light(view.drag):
            return
        if button == glfw.MOUSE_BUTTON_MIDDLE or (button == glfw.MOUSE_BUTTON_LEFT and mods & glfw.MOD_SHIFT):
            flight.pan(dx, dy, max(1, view.size[1]))
        elif button == glfw.MOUSE_BUTTON_RIGHT and mods & glfw.MOD_SHIFT:
            self.desk.motion.turn_environment(dx * TURNING)
        elif button == glfw.MOUSE_BUTTON_RIGHT and flight.mode == "orbit":
            flight.dolly(1.01**dy, None)
        elif mods & glfw.MOD_CONTROL:
            flight.roll(dx * 0.01)
        elif flight.mode == "orbit":
            if not self._pivoted:  # a click alone changes nothing
                self._pivoted = True
                view.attempt(lambda: choose_pivot(view))
            flight.orbit(dx, dy)
        else:
            flight.look(dx, dy)

    def on_wheel(self, x: float, y: float) -> None:
        """Dolly to the cursor, or the speed of flight."""
        self.view.wake()
        self.input.wheel(x, y)
        if not self.input.wants_mouse and self.view.flight is not None:
            self.view.flight.wheel(y, self.view.flight.direction(*self.view.cursor, *self.view.size))

    def on_resize(self, width: int, height: int) -> None:
        """The framebuffer has another size."""
        self.view.minimised = min(width, height) == 0
        view = self.view
        view.frame = (width, height)
        first, last = view.columns(width, view.span)
        view.pixels = (last - first, height)
        view.session.resize(view.pixels)
        view.wake()

    def on_minimise(self, minimised: bool) -> None:
        """Nothing is drawn while the window is an icon."""
        self.view.minimised = minimised or min(self.view.pixels) == 0
        self.view.wake()

    def on_focus(self, focused: bool) -> None:
        """Keys held when the focus goes are let go."""
        self.input.focus(focused)
        if not focused:
            if self.view.drag is not None and _moves_light(self.view.drag):
                self.desk.motion.end_drag()
            self.view.drag = None
            if self.view.flight is not None:
                self.view.flight.release_all()
        self.view.wake()

    def on_drop(self, paths: list[str]) -> None:
        """A file dropped on the window is opened; a picture of high dynamic range becomes the environment."""
        if paths:
            picture = paths[0].lower().endswith(PICTURES)
            (self.desk.stage.light_by if picture else self.desk.stage.open)(paths[0])

    def on_scale(self, scale: float) -> None:
        """The window has come to a screen of another density."""
        self.view.scale = scale
        self.view.wake()


def _moves_light(drag: tuple[int, int]) -> bool:
    """Whether a drag, of a button with modifiers, is for the selected light."""
    return drag[0] == glfw.MOUSE_BUTTON_RIGHT and bool(drag[1] & glfw.MOD_CONTROL)
