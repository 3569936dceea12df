"""OpenGL objects that moderngl does not wrap, by their names: buffer textures and renderbuffers."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable

from viewer.stream.gl.device import Device


class RawObject:
    """One object of a kind, "Texture" or "Renderbuffer"; the context must be current in every call.

    Dropped by Python, it is freed at the next `Device.current`, as moderngl's objects are.
    """

    def __init__(self, device: Device, kind: str) -> None:
        self.name = ctypes.c_uint(0)
        names = ctypes.POINTER(ctypes.c_uint)
        device.require(f"glGen{kind}s", ctypes.c_int, names)(1, ctypes.byref(self.name))
        self._held = _Held(device.require(f"glDelete{kind}s", ctypes.c_int, names), self.name.value)
        self._dropped = weakref.finalize(self, device.context.objects.append, self._held)
        self._dropped.atexit = False

    def release(self) -> None:
        """Free it; a second time nothing happens."""
        if self._dropped.detach() is not None:
            self._held.release()


class _Held:
    """A name, and the function that frees it."""

    def __init__(self, delete: Callable[..., None], name: int) -> None:
        self._delete, self._name = delete, name

    def release(self) -> None:
        self._delete(1, ctypes.byref(ctypes.c_uint(self._name)))
