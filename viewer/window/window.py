"""A GLFW window with an OpenGL 3.3 core context; its events go to a listener."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import glfw
import moderngl

from raystream.base.errors import DeviceError, ViewerError
from raystream.stream.gl.contexts import PrelinkedContext, disable_cache_on_full_disk

TITLE = "Raystream"
GROUND = (0.085, 0.094, 0.110)  # around the picture, sRGB
NONE: Any = None  # where GLFW takes none, and its Python declarations do not
NO_DISPLAY = "`raystream render` makes pictures without a window; `raystream view --remote` shows one in a browser"


# GLFW's callbacks -> the methods of a listener that take their arguments. Coordinates are the window's, origin at the
# upper left.
CALLBACKS = {
    "key": "on_key",
    "char": "on_character",
    "mouse_button": "on_button",
    "cursor_pos": "on_move",
    "scroll": "on_wheel",
    "window_focus": "on_focus",
    "drop": "on_drop",
}


def _is_icon(window: Any) -> int:
    return glfw.get_window_attrib(window, glfw.ICONIFIED)


def overlap(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> int:
    """The area common to two rectangles (left, top, width, height)."""
    wide, tall = (
        min(one[axis] + one[axis + 2], other[axis] + other[axis + 2]) - max(one[axis], other[axis]) for axis in (0, 1)
    )
    return max(0, wide) * max(0, tall)


class _Functions:
    """The functions of the current context, which GLFW owns. They outlive its last window, with which GLFW gives their
    libraries back: OpenGL objects may be freed later."""

    def __init__(self) -> None:
        if sys.platform.startswith("linux"):
            for name in ("libGL.so.1", "libGLX.so.0", "libOpenGL.so.0", "libEGL.so.1"):
                with suppress(OSError):  # not in use
                    ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)  # never given back
        elif sys.platform == "win32":
            ctypes.CDLL("opengl32")

    @staticmethod
    def load_opengl_function(name: str) -> int:
        address: Any = glfw.get_proc_address(name)
        return address or 0

    def __enter__(self) -> None: ...
    def __exit__(self, *ended: Any) -> None: ...
    def release(self) -> None: ...


class Window:
    """Opens the window. Raises ViewerError without a display, DeviceError where it has no OpenGL 3.3."""

    def __init__(self, title: str, size: tuple[int, int]) -> None:
        if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            raise ViewerError("window", "there is no display", NO_DISPLAY)
        self._fault = ""
        glfw.set_error_callback(self._on_error)
        if not glfw.init():
            raise ViewerError("window", f"cannot be opened ({self._fault or 'no display'})", NO_DISPLAY)
        for hint, value in (
            (glfw.CONTEXT_VERSION_MAJOR, 3),
            (glfw.CONTEXT_VERSION_MINOR, 3),
            (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE),
            (glfw.OPENGL_FORWARD_COMPAT, True),
            (glfw.SCALE_TO_MONITOR, True),
            (glfw.DEPTH_BITS, 0),
            (glfw.STENCIL_BITS, 0),
        ):
            glfw.window_hint(hint, value)
        self.remark = disable_cache_on_full_disk()
        self.handle = glfw.create_window(*size, title, None, None)
        if not self.handle:
            glfw.terminate()
            raise DeviceError("window", f"no OpenGL 3.3 in a window ({self._fault})", NO_DISPLAY)
        glfw.make_context_current(self.handle)
        glfw.swap_interval(1)
        functions: Any = PrelinkedContext(_Functions())
        self.context = moderngl.create_context(require=330, context=functions)
        self._state: dict[Callable[[Any], Any], Any] = {}  # what GLFW has told since the last events
        self._windowed: tuple[int, int, int, int] | None = None
        self._stopped: KeyboardInterrupt | None = None  # amid a callback

    def _on_error(self, code: int, text: bytes | str) -> None:
        self._fault = text.decode(errors="replace") if isinstance(text, bytes) else str(text)

    def listen(self, to: Any) -> None:
        """Have events go to a listener, by the methods of `CALLBACKS`."""
        for event, name in CALLBACKS.items():
            call = self._heed(lambda _, *arguments, name=name: getattr(to, name)(*arguments))
            getattr(glfw, f"set_{event}_callback")(self.handle, call)

    def _heed(self, call: Callable[..., None]) -> Any:
        """A callback whose interrupt, by Ctrl-C or SIGTERM, is raised once GLFW's C code has returned, which would
        print and drop it."""

        def called(*arguments: Any) -> None:
            try:
                call(*arguments)
            except KeyboardInterrupt as stop:
                self._stopped = stop

        return called

    def _query(self, function: Callable[[Any], Any]) -> Any:
        """The window's state by GLFW, queried once between two polls of events. Each question waits for the
        interpreter, which a thread that reads a scene has meanwhile."""
        if function not in self._state:
            self._state[function] = function(self.handle)
        return self._state[function]

    @property
    def size(self) -> tuple[int, int]:
        """Window coordinates."""
        return self._query(glfw.get_window_size)

    @property
    def pixels(self) -> tuple[int, int]:
        """The framebuffer's size; (0, 0) while minimised on some platforms."""
        return self._query(glfw.get_framebuffer_size)

    @property
    def scale(self) -> float:
        """How large the user wants text, 1 on a plain screen."""
        return max(self._query(glfw.get_window_content_scale))

    @property
    def minimised(self) -> bool:
        """Whether it is an icon."""
        return bool(self._query(_is_icon))

    @property
    def cursor(self) -> tuple[float, float]:
        """The cursor, window coordinates."""
        return glfw.get_cursor_pos(self.handle)

    @property
    def closing(self) -> bool:
        """Whether the user has closed the window."""
        return bool(glfw.window_should_close(self.handle))

    def close(self) -> None:
        """Ask the loop to end."""
        glfw.set_window_should_close(self.handle, True)

    def grab(self, grabbed: bool) -> None:
        """Hide the cursor and let it move without end (to look around), or free it."""
        glfw.set_input_mode(self.handle, glfw.CURSOR, glfw.CURSOR_DISABLED if grabbed else glfw.CURSOR_NORMAL)

    def toggle_full_screen(self) -> None:
        """To the whole of the screen it is on, and back."""
        self._state.clear()
        if self._windowed is not None:
            x, y, width, height = self._windowed
            glfw.set_window_monitor(self.handle, NONE, x, y, width, height, 0)
            self._windowed = None
            return
        monitors = glfw.get_monitors()
        if not monitors:
            return
        self._windowed = (*glfw.get_window_pos(self.handle), *self.size)
        monitor = max(monitors, key=self._covered)
        mode = glfw.get_video_mode(monitor)
        glfw.set_window_monitor(self.handle, monitor, 0, 0, mode.size.width, mode.size.height, mode.refresh_rate)

    def _covered(self, monitor: Any) -> int:
        """The area of the screen under the window, screen coordinates squared."""
        mode = glfw.get_video_mode(monitor)
        screen = (*glfw.get_monitor_pos(monitor), mode.size.width, mode.size.height)
        return overlap((*glfw.get_window_pos(self.handle), *self.size), screen)

    @property
    def full_screen(self) -> bool:
        """Whether it covers the screen."""
        return self._windowed is not None

    def set_title(self, title: str) -> None:
        """The title bar's text."""
        glfw.set_window_title(self.handle, title)

    def copy(self, text: str) -> None:
        """Text to the clipboard."""
        glfw.set_clipboard_string(NONE, text)

    def paste(self) -> str:
        """The clipboard's text, empty where there is none."""
        text: Any = glfw.get_clipboard_string(NONE)
        return (text.decode(errors="replace") if isinstance(text, bytes) else text) or ""

    def events(self, wait: float) -> None:
        """Handle events; with nothing to do, sleep up to ``wait`` seconds for one. Raises the exception that has
        interrupted them."""
        self._state.clear()
        if wait > 0:
            glfw.wait_events_timeout(wait)
        else:
            glfw.poll_events()
        stop, self._stopped = self._stopped, None
        if stop is not None:
            raise stop

    @staticmethod
    def wake() -> None:
        """End a sleep in `events`, from any thread."""
        glfw.post_empty_event()

    def read(self) -> bytes:
        """RGB of the window's pixels, bottom row first."""
        self.context.screen.use()
        pixels = bytes(self.context.screen.read(viewport=(0, 0, *self.pixels), components=3, alignment=1))
        _ = self.context.error  # moderngl names a read buffer that a window does not have
        return pixels

    def swap(self) -> None:
        """Swap the buffers."""
        glfw.swap_buffers(self.handle)

    def release(self) -> None:
        """Close the window."""
        glfw.destroy_window(self.handle)
        glfw.terminate()
