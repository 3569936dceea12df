"""Dear ImGui in the window: the panels, overlays in space, the list of files, and their share of events.

It takes longer to load than a first picture takes to trace, which therefore does without.
"""

from __future__ import annotations

from functools import cache

import glfw

from raystream.viewport.commands import Clipboard
from raystream.viewport.host import ViewerHost
from raystream.window.bundle import imgui
from raystream.window.panels.debug_views import Space
from raystream.window.panels.file_list import FileList
from raystream.window.panels.imgui_draw import ImguiDraw
from raystream.window.panels.panels import draw_panels
from raystream.window.window import Window

# -- feeds a GLFW window's events to Dear ImGui ------------------------------------------------------------------------

# ImGui's key -> GLFW's, for what text fields and menus use.
_NAMES = {
    **{name: name.upper() for name in ("tab", "page_up", "page_down", "home", "end", "insert", "delete", "backspace")},
    **{f"{name}_arrow": name.upper() for name in ("left", "right", "up", "down")},
    **{name: name.upper() for name in ("space", "enter", "escape", *"acvxyz")},
    "keypad_enter": "KP_ENTER",
}


@cache
def _keys() -> dict[int, imgui.Key]:
    return {getattr(glfw, f"KEY_{theirs}"): getattr(imgui.Key, ours) for ours, theirs in _NAMES.items()}


class ImguiInput:
    """Told of events, most of them by ImGui's own ``io``; says through `wants_keyboard` and `wants_mouse` who
    an event is for."""

    def __init__(self, clipboard: Clipboard) -> None:
        self.io, shared = imgui.get_io(), imgui.get_platform_io()
        shared.platform_get_clipboard_text_fn = lambda _: clipboard.paste()
        shared.platform_set_clipboard_text_fn = lambda _, text: clipboard.copy(text)

    @property
    def wants_keyboard(self) -> bool:
        """Whether a text field has the keyboard, so that hotkeys yield."""
        return bool(self.io.want_text_input)

    @property
    def wants_mouse(self) -> bool:
        """Whether the mouse is over a panel."""
        return bool(self.io.want_capture_mouse)

    def begin(self, size: tuple[int, int], framebuffer: tuple[int, int], dt: float) -> None:
        """Before a frame: the window's and its framebuffer's size, and the seconds since the last."""
        self.io.display_size = imgui.ImVec2(*size)
        scale = (framebuffer[0] / max(1, size[0]), framebuffer[1] / max(1, size[1]))
        self.io.display_framebuffer_scale = imgui.ImVec2(*scale)
        self.io.delta_time = max(dt, 1e-5)

    def key(self, key: int, action: int, mods: int) -> None:
        """A key went down or up."""
        for flag, ours in (
            (glfw.MOD_CONTROL, imgui.Key.mod_ctrl),
            (glfw.MOD_SHIFT, imgui.Key.mod_shift),
            (glfw.MOD_ALT, imgui.Key.mod_alt),
        ):
            self.io.add_key_event(ours, bool(mods & flag))
        if action != glfw.REPEAT and key in _keys():
            self.io.add_key_event(_keys()[key], action == glfw.PRESS)


# -- Dear ImGui in the window ------------------------------------------------------------------------------------------


class Gui:
    """The panels of a window, whose context is current in every call. Raises DeviceError where its programs do not
    compile."""

    def __init__(self, context: ViewerHost, window: Window) -> None:
        self.context, self.window = context, window
        self.imgui = imgui.create_context()
        imgui.set_current_context(self.imgui)  # another window's may be current
        imgui.get_io().set_ini_filename("")
        self.output = ImguiDraw(window.context)
        self.input = ImguiInput(window)
        self.file_list = FileList(context, window.wake)
        self.space = Space(self.output)
        self.input.io.add_mouse_pos_event(*window.cursor)

    def draw(self, dt: float) -> None:
        """Over the picture, ``dt`` seconds after the draw before."""
        imgui.set_current_context(self.imgui)
        self.input.begin(self.window.size, self.window.pixels, dt)
        imgui.new_frame()
        self.space.draw(self.context)
        draw_panels(self.context, self.output)
        self.file_list.draw()
        imgui.render()
        self.output.render(imgui.get_draw_data())

    def release(self) -> None:
        """Give all back."""
        imgui.set_current_context(self.imgui)
        self.output.release()
        imgui.destroy_context(self.imgui)
