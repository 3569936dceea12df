"""OpenGL objects that moderngl does not wrap (buffer textures, renderbuffers, by name) or does not free (queries)."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

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


class Query:
    """Counts the samples of what is drawn inside of it, or the primitives, or takes the time; the context must be
    current in every call.

    Reading an answer is a wait of the host (`Device.waits`). moderngl frees no query: a dropped one serves the next
    that asks for the same.
    """

    def __init__(self, device: Device, samples: bool = False, time: bool = False, primitives: bool = False) -> None:
        free = device.queries[samples, time, primitives]
        # The one dropped longest ago: one that is asked again at once waits for its last answer.
        held = free.popleft() if free else device.context.query(samples=samples, time=time, primitives=primitives)
        self._device, self._held = device, held
        weakref.finalize(self, free.append, held).atexit = False

    def __enter__(self) -> Query:
        self._held.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._held.__exit__(*error)

    def _waited(self, answer: int) -> int:
        self._device.waits += 1
        return answer

    @property
    def samples(self) -> int:
        """That passed; waits."""
        return self._waited(self._held.samples)

    @property
    def primitives(self) -> int:
        """That were written; waits."""
        return self._waited(self._held.primitives)

    @property
    def elapsed(self) -> int:
        """Nanoseconds; waits."""
        return self._waited(self._held.elapsed)

    @property
    def crender(self) -> Any:
        """Inside of it draws are done only if samples passed."""
        return self._held.crender
