"""Handlers of the window's events: keys, the mouse, sizes, focus, dropped files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

import glfw

from viewer.viewport.context import ViewportContext
from viewer.viewport.controls.keymap import key_text
from viewer.viewport.pointer import PointerInput

if TYPE_CHECKING:
    from viewer.window.gui import Gui


class Events:
    """A listener (`viewer.window.window.Listener`) that acts on the desk.

    gui : once it is loaded. own : a program's own keys, by key text without modifiers, before the window's.
    """

    own: Mapping[str, Callable[[], object]] = {}

    def __init__(self, context: ViewportContext) -> None:
        self.context, self.view, self.gui = context, context.view, cast("Gui | None", None)
        self.pointer = PointerInput(context)

    @property
    def _over_panel(self) -> bool:
        return self.gui is not None and self.gui.input.wants_mouse

    def on_key(self, key: int, scancode: int, action: int, mods: int) -> None:
        """Hotkeys, unless a text field or the list of files has the keyboard."""
        self.view.wake()
        typed = False
        if (gui := self.gui) is not None:
            gui.input.key(key, action, mods)
            typed = gui.file_list.visible or (gui.input.wants_keyboard and key != glfw.KEY_ESCAPE)
        if typed and action != glfw.RELEASE:
            return
        own = self.own.get(key_text(key, 0, scancode))
        if own is not None:
            if action == glfw.PRESS:
                own()
            return
        self.pointer.key(key_text(key, mods, scancode), action != glfw.RELEASE, action == glfw.REPEAT)

    def on_character(self, code: int) -> None:
        """Text for a field."""
        if self.gui is not None:
            self.gui.input.character(code)
        self.view.wake()

    def on_button(self, button: int, action: int, mods: int) -> None:
        """A drag begins or ends."""
        self.view.wake()
        if self.gui is not None:
            self.gui.input.button(button, action == glfw.PRESS)
        if action == glfw.RELEASE:
            self.pointer.release(button)
        elif not self.pointer.clicked(button) and not self._over_panel:
            self.pointer.press(button, mods)

    def on_move(self, x: float, y: float) -> None:
        """A drag goes on."""
        if self.gui is not None:
            self.gui.input.move(x, y)
        self.view.wake()
        self.pointer.move(x, y)

    def on_wheel(self, x: float, y: float) -> None:
        """Dolly to the cursor, or the speed of flight."""
        self.view.wake()
        if self.gui is not None:
            self.gui.input.wheel(x, y)
        if not self._over_panel:
            self.pointer.wheel(y)

    def on_resize(self, width: int, height: int) -> None:
        """The framebuffer has another size."""
        view = self.view
        view.minimised, view.pixels = min(width, height) == 0, (width, height)
        view.session.resize(view.pixels)
        view.wake()

    def on_minimise(self, minimised: bool) -> None:
        """Nothing is drawn while the window is an icon."""
        self.view.minimised = minimised or min(self.view.pixels) == 0
        self.view.wake()

    def on_focus(self, focused: bool) -> None:
        """Keys held when the focus goes are let go."""
        if self.gui is not None:
            self.gui.input.focus(focused)
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
