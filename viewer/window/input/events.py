"""What the window's events do to the application: keys, the mouse, sizes, focus, dropped files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import glfw

from viewer.window.input.actions import Action, Keymap, key_text
from viewer.window.input.flight import Flight
from viewer.window.input.imgui_input import ImguiInput
from viewer.window.motion import Motion
from viewer.window.picture.frame import Frame
from viewer.window.window import Window

PICTURES = (".hdr", ".pic", ".exr")
TURNING = 0.4  # degrees that a pixel of a drag turns the surroundings: once round in 900 pixels


class Events:
    """The listener's part of the application (`viewer.window.window.Listener`), and the state that it keeps."""

    window: Window
    frame: Frame
    input: ImguiInput
    keymap: Keymap
    flight: Flight | None
    motion: Motion
    minimised: bool
    drag: tuple[int, int] | None  # button and modifiers
    cursor: tuple[float, float]

    if TYPE_CHECKING:

        def wake(self) -> None: ...
        def do(self, name: str) -> None: ...
        def open(self, path: str) -> None: ...
        def surround(self, path: str) -> None: ...
        def turn_environment(self, degrees: float) -> None: ...

    def on_key(self, key: int, scancode: int, action: int, mods: int) -> None:
        """Hotkeys, unless a text field has the keyboard."""
        self.wake()
        self.input.key(key, action, mods)
        if self.input.wants_keyboard and key != glfw.KEY_ESCAPE and action != glfw.RELEASE:
            return
        text = key_text(key, mods, scancode)
        if action == glfw.PRESS and self.motion.key(text):
            return
        found = self.keymap.released(text) if action == glfw.RELEASE else self.keymap.lookup(text)
        if found is None:
            return
        if found.hold:
            self._hold(found, action)
        elif action == glfw.PRESS or (action == glfw.REPEAT and found.repeat):
            self.do(found.name)

    def _hold(self, found: Action, action: int) -> None:
        if self.flight is None or action == glfw.REPEAT:
            return
        motion = found.name.removeprefix("fly.")
        if action == glfw.PRESS:
            self.flight.press(motion)
        else:
            self.flight.release(motion)

    def on_character(self, code: int) -> None:
        """Text for a field."""
        self.input.character(code)
        self.wake()

    def on_button(self, button: int, action: int, mods: int) -> None:
        """A drag begins or ends."""
        self.wake()
        self.input.button(button, action == glfw.PRESS)
        known = button in (glfw.MOUSE_BUTTON_LEFT, glfw.MOUSE_BUTTON_RIGHT)
        if action == glfw.PRESS and known and self.motion.button(button == glfw.MOUSE_BUTTON_LEFT):
            return
        if action == glfw.RELEASE:
            if self.drag is not None and self.drag[0] == button:
                self.drag = None
        elif not self.input.wants_mouse and self.drag is None:
            self.drag = (button, mods)

    def on_move(self, x: float, y: float) -> None:
        """A drag goes on."""
        dx, dy = x - self.cursor[0], y - self.cursor[1]
        self.cursor = (x, y)
        self.input.move(x, y)
        self.wake()
        self.motion.follow()
        if self.drag is None or self.flight is None:
            return
        button, mods = self.drag
        height = max(1, self.window.size[1])
        if button == glfw.MOUSE_BUTTON_MIDDLE or (button == glfw.MOUSE_BUTTON_LEFT and mods & glfw.MOD_SHIFT):
            self.flight.pan(dx, dy, height)
        elif button == glfw.MOUSE_BUTTON_RIGHT and mods & glfw.MOD_SHIFT:
            self.turn_environment(dx * TURNING)
        elif button == glfw.MOUSE_BUTTON_RIGHT and self.flight.mode == "orbit":
            self.flight.dolly(1.01**dy, None)
        elif mods & glfw.MOD_CONTROL:
            self.flight.roll(dx * 0.01)
        elif self.flight.mode == "orbit":
            self.flight.orbit(dx, dy)
        else:
            self.flight.look(dx, dy)

    def on_wheel(self, x: float, y: float) -> None:
        """Dolly to the cursor, or the speed of flight."""
        self.wake()
        self.input.wheel(x, y)
        if not self.input.wants_mouse and self.flight is not None:
            self.flight.wheel(y, self.direction_under_cursor())

    def direction_under_cursor(self) -> Any:
        """(3,) float64 unit direction through the cursor, world space."""
        assert self.flight is not None
        return self.flight.direction(*self.cursor, *self.window.size)

    def on_resize(self, width: int, height: int) -> None:
        """The framebuffer has another size."""
        self.minimised = min(width, height) == 0
        self.frame.resize((width, height))
        self.wake()

    def on_minimise(self, minimised: bool) -> None:
        """Nothing is drawn while the window is an icon."""
        self.minimised = minimised or min(self.window.pixels) == 0
        self.wake()

    def on_focus(self, focused: bool) -> None:
        """Keys held when the focus goes are let go."""
        self.input.focus(focused)
        if not focused:
            self.drag = None
            if self.flight is not None:
                self.flight.release_all()
        self.wake()

    def on_drop(self, paths: list[str]) -> None:
        """A file dropped on the window is opened; a picture of high dynamic range becomes the environment."""
        if paths:
            picture = paths[0].lower().endswith(PICTURES)
            (self.surround if picture else self.open)(paths[0])

    def on_scale(self, scale: float) -> None:
        """The window has come to a screen of another density."""
        self.wake()
