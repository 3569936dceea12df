"""Contexts: the functions that moderngl loads, other libraries' contexts, and before any Mesa's folder of shaders."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol

# -- Mesa's folder of compiled shaders, looked at before a context opens -----------------------------------------------
# Mesa maps a sparse file there into memory (``src/util/disk_cache_os.c``, `disk_cache_mmap_cache_index`). Where a
# disk is full, writing to it ends the process by SIGBUS.

DISABLED = ("MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE")  # of today's Mesa, and of that before 22
FOLDERS = ("MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR", "XDG_CACHE_HOME")
NAME, INDEX = "mesa_shader_cache", "index"
MIN_FREE_BYTES = 2 << 20  # bytes: the index has 1.25 MiB
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def disable_cache_on_full_disk() -> str:
    """Switch Mesa's cache off for this process where its disk is full; returns a remark that says so, else "". The
    blocks of an existing index are reserved, so that a disk that becomes full later does no harm either."""
    if not sys.platform.startswith("linux") or any(_is_set(name) for name in DISABLED):
        return ""
    for folder in _folders():
        if not _has_room(folder):
            for name in DISABLED:
                os.environ[name] = "true"
            return f"{folder}: no space left, so that shaders are compiled anew every time (make room on that disk)"
    return ""


def _is_set(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "true", "yes", "y", "t")


def _folders() -> Iterator[Path]:
    """The folders of the cache in Mesa's versions: by the first variable of `FOLDERS` that is set, else in the home by
    ``HOME`` and by the user's entry."""
    configured = next((os.environ[name] for name in FOLDERS if os.environ.get(name)), "")
    if configured:
        yield Path(configured) / NAME
        return
    import pwd

    homes = {os.environ.get("HOME", "")}
    with suppress(KeyError):
        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    yield from (Path(home) / ".cache" / NAME for home in sorted(homes) if home)


def _has_room(folder: Path) -> bool:
    """Whether the disk has the blocks of the index, or is free for them."""
    index = folder / INDEX
    try:
        with open(index, "rb+") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, os.path.getsize(index)))
        return True
    except OSError as error:
        if error.errno in DISK_FULL:
            return False
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), None)
    try:
        filesystem = os.statvfs(existing) if existing is not None else None
    except OSError:
        return True  # Mesa does not use a folder that cannot be read
    return filesystem is None or filesystem.f_bavail * filesystem.f_frsize >= MIN_FREE_BYTES


# -- OpenGL contexts of other libraries in this process: the current one is left, and restored afterwards --------------
# On Linux, through EGL and GLX, the latter only where already loaded. A context of GLX is left first: EGL refuses
# to coexist with it, silently. On other systems nothing is restored.

_DRAW, _READ, _OPENGL_API = 0x3059, 0x305A, 0x30A2
_LINUX = sys.platform.startswith("linux")


def egl_context() -> int | None:
    """The handle of this thread's current EGL context; None without one, or without EGL."""
    egl = _egl()
    return egl.eglGetCurrentContext() if egl is not None else None


def is_current(handle: int | None) -> bool:
    """Whether the EGL context is current in this thread; assumed without a handle."""
    egl = _egl() if handle is not None else None
    if egl is None or egl.eglGetCurrentContext() == handle:
        return True
    egl.eglBindAPI(_OPENGL_API)  # per thread; drivers may otherwise report another API's context
    return egl.eglGetCurrentContext() == handle


def leave_current() -> Callable[[], None]:
    """Leave this thread's current context, if of GLX; returns a function that makes the present one current again."""
    glx = _glx()
    if glx is not None and (context := glx.glXGetCurrentContext()):
        display, draw_surface = glx.glXGetCurrentDisplay(), glx.glXGetCurrentDrawable()
        read_surface = glx.glXGetCurrentReadDrawable()
        glx.glXMakeContextCurrent(display, 0, 0, None)
        return lambda: _ignore_status(glx.glXMakeContextCurrent(display, draw_surface, read_surface, context))
    egl = _egl()
    if egl is not None and (context := egl.eglGetCurrentContext()):
        display, draw_surface = egl.eglGetCurrentDisplay(), egl.eglGetCurrentSurface(_DRAW)
        read_surface = egl.eglGetCurrentSurface(_READ)
        return lambda: _ignore_status(egl.eglMakeCurrent(display, draw_surface, read_surface, context))
    return _do_nothing


def _do_nothing() -> None:
    pass


def _ignore_status(status: int) -> None:
    """The context's owner may have ended it since."""


def _egl() -> Any:
    return _library("libEGL.so.1", _EGL) if _LINUX else None


def _glx() -> Any:
    if not _LINUX:
        return None
    return _library("libGLX.so.0", _GLX) or _library("libGL.so.1", _GLX)


_HANDLE = ctypes.c_void_p
_EGL: dict[str, tuple[Any, ...]] = {  # result, arguments
    "eglGetCurrentContext": (_HANDLE,),
    "eglGetCurrentDisplay": (_HANDLE,),
    "eglGetCurrentSurface": (_HANDLE, ctypes.c_int),
    "eglMakeCurrent": (ctypes.c_uint, _HANDLE, _HANDLE, _HANDLE, _HANDLE),
    "eglBindAPI": (ctypes.c_uint, ctypes.c_uint),
}
_GLX: dict[str, tuple[Any, ...]] = {
    "glXGetCurrentContext": (_HANDLE,),
    "glXGetCurrentDisplay": (_HANDLE,),
    "glXGetCurrentDrawable": (ctypes.c_ulong,),
    "glXGetCurrentReadDrawable": (ctypes.c_ulong,),
    "glXMakeContextCurrent": (ctypes.c_int, _HANDLE, ctypes.c_ulong, ctypes.c_ulong, _HANDLE),
}
_loaded: dict[str, Any] = {}


def _library(name: str, functions: dict[str, tuple[Any, ...]]) -> Any:
    """A library already loaded into the process; None if absent or lacking a function."""
    if name not in _loaded:
        if not _process().dlopen(name.encode(), os.RTLD_NOLOAD | os.RTLD_LAZY):
            return None
        library = ctypes.CDLL(name)
        for function, (result, *arguments) in functions.items():
            entry_point = getattr(library, function, None)
            if entry_point is None:
                library = None  # type: ignore[assignment]
                break
            entry_point.restype, entry_point.argtypes = result, arguments
        _loaded[name] = library
    return _loaded[name]


@cache
def _process() -> Any:
    library = ctypes.CDLL(None)
    library.dlopen.restype, library.dlopen.argtypes = _HANDLE, (ctypes.c_char_p, ctypes.c_int)
    return library


# -- a context's functions as moderngl loads them ----------------------------------------------------------------------
# So that it can take a program that is linked already. moderngl compiles, links, and asks whether that went well, at
# once, which waits for the driver. Its vertex arrays and uniforms need a program of its own. While it makes one here,
# the functions that compile and link do nothing, and the new program is the one that is there.

KIND: Any = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)  # OpenGL's convention on Windows
_COMPILE_STATUS = 0x8B81
_NUMBER, _INTEGERS = ctypes.c_uint, ctypes.POINTER(ctypes.c_int)


class GLContext(Protocol):
    """A context of glcontext, or a window's functions alone."""

    def load_opengl_function(self, name: str) -> int: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *ended: Any) -> Any: ...
    def release(self) -> None: ...


class PrelinkedContext:
    """A wrapper of a context, for `moderngl.create_context` as its ``context``."""

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
        if not address or name not in _REPLACEMENTS:
            return address
        if name not in self._replaced:
            result, *arguments = _TYPES[name]
            kind = KIND(result, *arguments)
            self._replaced[name] = kind(_REPLACEMENTS[name](self, kind(address)))
        return int(ctypes.cast(self._replaced[name], ctypes.c_void_p).value or 0)

    @contextmanager
    def adopting(self, program: int) -> Iterator[None]:
        """Within the block moderngl's new program is the given linked one, whatever its sources."""
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
_REPLACEMENTS: dict[str, Callable[[PrelinkedContext, Any], Any]] = {
    "glCreateProgram": PrelinkedContext._create_program,
    "glCompileShader": PrelinkedContext._unless_linked,
    "glGetShaderiv": PrelinkedContext._shader_status,
    "glAttachShader": PrelinkedContext._unless_linked,
    "glLinkProgram": PrelinkedContext._unless_linked,
}
