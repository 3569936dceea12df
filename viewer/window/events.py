"""What the window's events do: keys, the mouse, sizes, focus, dropped files."""

from __future__ import annotations

import glfw

from viewer.viewport.context import ViewportContext
from viewer.viewport.controls.keymap import key_text
from viewer.viewport.pointer import PointerInput
from viewer.window.imgui_input import ImguiInput
from viewer.window.panels.file_list import FileList


class Events:
    """A listener (`viewer.window.window.Listener`) that acts on the desk."""

    def __init__(self, context: ViewportContext, input: ImguiInput, file_list: FileList) -> None:
        self.context, self.view, self.input, self.file_list = context, context.view, input, file_list
        self.pointer = PointerInput(context)

    def on_key(self, key: int, scancode: int, action: int, mods: int) -> None:
        """Hotkeys, unless a text field or the list of files has the keyboard."""
        self.view.wake()
        self.input.key(key, action, mods)
        typed = self.file_list.visible or (self.input.wants_keyboard and key != glfw.KEY_ESCAPE)
        if typed and action != glfw.RELEASE:
            return
        self.pointer.key(key_text(key, mods, scancode), action != glfw.RELEASE, action == glfw.REPEAT)

    def on_character(self, code: int) -> None:
        """Text for a field."""
        self.input.character(code)
        self.view.wake()

    def on_button(self, button: int, action: int, mods: int) -> None:
        """A drag begins or ends."""
        self.view.wake()
        self.input.button(button, action == glfw.PRESS)
        if action == glfw.RELEASE:
            self.pointer.release(button)
        elif not self.pointer.clicked(button) and not self.input.wants_mouse:
            self.pointer.press(button, mods)

    def on_move(self, x: float, y: float) -> None:
        """A drag goes on."""
        self.input.move(x, y)
        self.view.wake()
        self.pointer.move(x - self.view.left, y)

    def on_wheel(self, x: float, y: float) -> None:
        """Dolly to the cursor, or the speed of flight."""
        self.view.wake()
        self.input.wheel(x, y)
        if not self.input.wants_mouse:
            self.pointer.wheel(y)

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
            self.pointer.leave()
        self.view.wake()

    def on_drop(self, paths: list[str]) -> None:
        """A file dropped on the window is opened."""
        if paths:
            self.context.scene_loader.open_file(paths[0])

    def on_scale(self, scale: float) -> None:
        """The window has come to a screen of another density."""
        self.view.scale = scale
        self.view.wake()
