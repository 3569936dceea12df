"""Handlers of the window's events: keys, the mouse, sizes, focus, dropped files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import glfw

from raystream.viewport import host
from raystream.viewport.controls.keymap import MODIFIERS, key_text
from raystream.viewport.host import ViewerHost

if TYPE_CHECKING:
    from raystream.window.gui import Gui


BUTTONS = {button: number for number, button in host.BUTTONS.items()}  # GLFW's -> rendercanvas's


class Events:
    """A listener (`raystream.window.window.Listener`): GLFW's events become those of `ViewerHost.handle`, unless a
    panel has them.

    gui : once it is loaded. custom_keys : a program's own keys, by key text without modifiers, before the window's.
    """

    custom_keys: Mapping[str, Callable[[], object]] = {}

    def __init__(self, host: ViewerHost) -> None:
        self.host, self.view, self.gui = host, host.view, cast("Gui | None", None)

    def _handle(self, kind: str, **event: Any) -> None:
        self.host.handle({"event_type": kind, **event})

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
        if self.gui is not None:
            self.gui.input.character(code)
        self.view.wake()

    def on_button(self, button: int, action: int, mods: int) -> None:
        """A drag begins or ends."""
        self.view.wake()
        if self.gui is not None:
            self.gui.input.button(button, action == glfw.PRESS)
        x, y = self.view.input.cursor
        number = BUTTONS.get(button, 0)
        if action == glfw.RELEASE:
            self._handle("pointer_up", x=x, y=y, button=number)
        elif self.host.editing.grabbing or not self._over_panel:
            self._handle("pointer_down", x=x, y=y, button=number, modifiers=_names(mods))

    def on_move(self, x: float, y: float) -> None:
        """A drag goes on."""
        if self.gui is not None:
            self.gui.input.move(x, y)
        self.view.wake()
        self._handle("pointer_move", x=x, y=y)

    def on_wheel(self, x: float, y: float) -> None:
        """Dolly to the cursor, or the speed of flight."""
        self.view.wake()
        if self.gui is not None:
            self.gui.input.wheel(x, y)
        if not self._over_panel:
            at = self.view.input.cursor
            self._handle("wheel", x=at[0], y=at[1], dy=-y * host.NOTCH)

    def on_resize(self, width: int, height: int) -> None:
        """The framebuffer has another size."""
        view, area = self.view, self.view.area
        area.resize(area.size, (width, height))
        area.minimise(min(width, height) == 0)
        view.session.resize(area.pixels)
        view.wake()

    def on_minimise(self, minimised: bool) -> None:
        """Nothing is drawn while the window is an icon."""
        self.view.area.minimise(minimised or min(self.view.area.pixels) == 0)
        self.view.wake()

    def on_focus(self, focused: bool) -> None:
        """Keys held when the focus goes are let go."""
        if self.gui is not None:
            self.gui.input.focus(focused)
        if not focused:
            self._handle("focus_out")
        self.view.wake()

    def on_drop(self, paths: list[str]) -> None:
        """A file dropped on the window is opened."""
        if paths:
            self.host.scene_loader.open_file(paths[0])

    def on_scale(self, scale: float) -> None:
        """The window has come to a screen of another density."""
        self.view.area.rescale(scale)
        self.view.wake()


def _names(mods: int) -> list[str]:
    """Names of GLFW's modifier bits."""
    return [name for name, bit in MODIFIERS.items() if mods & bit]
