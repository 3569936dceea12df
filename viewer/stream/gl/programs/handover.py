"""A context's functions as moderngl loads them, so that it can take a program that is linked already.

moderngl compiles, links, and asks whether that went well, at once, which waits for the driver. Its vertex arrays and
uniforms need a program of its own. While it makes one here, the functions that compile and link do nothing, and the new
program is the one that is there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

KIND: Any = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)  # OpenGL's convention on Windows
_COMPILE_STATUS = 0x8B81
_NUMBER, _INTEGERS = ctypes.c_uint, ctypes.POINTER(ctypes.c_int)


class GLContext(Protocol):
    """A context of glcontext, or a window's functions alone."""

    def load_opengl_function(self, name: str) -> int: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *ended: Any) -> Any: ...
    def release(self) -> None: ...


class Handover:
    """To be given to `moderngl.create_context` as its ``context``, in place of the one that this wraps."""

    def __init__(self, context: GLContext) -> None:
        self.context, self._linked = context, 0
        self.standalone = getattr(context, "standalone", False)  # asked for by moderngl on macOS
        self._replaced: dict[str, Any] = {}  # what moderngl calls in place of the driver's functions

    def __enter__(self) -> Any:
        return self.context.__enter__()

    def __exit__(self, *ended: Any) -> Any:
        return self.context.__exit__(*ended)

    def release(self) -> None:
        """Free the context."""
        self.context.release()

    def load_opengl_function(self, name: str) -> int:
        """The address of a function for moderngl; 0 if the driver lacks it."""
        address = self.context.load_opengl_function(name)
        if not address or name not in _MADE:
            return address
        if name not in self._replaced:
            result, *arguments = _TYPES[name]
            kind = KIND(result, *arguments)
            self._replaced[name] = kind(_MADE[name](self, kind(address)))
        return int(ctypes.cast(self._replaced[name], ctypes.c_void_p).value or 0)

    @contextmanager
    def handing(self, program: int) -> Iterator[None]:
        """Within, the next program that moderngl makes is this one, whatever its sources."""
        self._linked = program
        try:
            yield
        finally:
            self._linked = 0

    # -- the functions -----------------------------------------------------------------------------------------------

    def _create_program(self, driver: Callable[..., int]) -> Callable[..., int]:
        return lambda: self._linked or driver()

    def _unless_linked(self, driver: Callable[..., None]) -> Callable[..., None]:
        return lambda *arguments: None if self._linked else driver(*arguments)

    def _shader_status(self, driver: Callable[..., None]) -> Callable[..., None]:
        def status(shader: int, name: int, out: Any) -> None:
            if self._linked and name == _COMPILE_STATUS:
                out[0] = 1
            else:
                driver(shader, name, out)

        return status


_TYPES: dict[str, tuple[Any, ...]] = {  # result, arguments
    "glCreateProgram": (_NUMBER,),
    "glCompileShader": (None, _NUMBER),
    "glGetShaderiv": (None, _NUMBER, _NUMBER, _INTEGERS),
    "glAttachShader": (None, _NUMBER, _NUMBER),
    "glLinkProgram": (None, _NUMBER),
}
_MADE: dict[str, Callable[[Handover, Any], Any]] = {
    "glCreateProgram": Handover._create_program,
    "glCompileShader": Handover._unless_linked,
    "glGetShaderiv": Handover._shader_status,
    "glAttachShader": Handover._unless_linked,
    "glLinkProgram": Handover._unless_linked,
}
