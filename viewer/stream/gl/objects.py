"""OpenGL objects that moderngl does not wrap (buffer textures, renderbuffers), or not all of (buffers, queries), by
name.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.memory import Pages
from raystream.stream.gl.device import Device


class RawObject:
    """One object of a kind, "Texture" or "Renderbuffer"; the context must be current in every call.

    Dropped by Python, it is freed at the next `Device.current`, as moderngl's objects are.
    """

    def __init__(self, device: Device, kind: str) -> None:
        self.name = ctypes.c_uint(0)
        names = ctypes.POINTER(ctypes.c_uint)
        device.require(f"glGen{kind}s", ctypes.c_int, names)(1, ctypes.byref(self.name))
        self._deleter = _Deleter(device.require(f"glDelete{kind}s", ctypes.c_int, names), self.name.value)
        self._dropped = weakref.finalize(self, device.context.objects.append, self._deleter)
        self._dropped.atexit = False

    def release(self) -> None:
        """Free it; a second time nothing happens."""
        if self._dropped.detach() is not None:
            self._deleter.release()


class _Deleter:
    """Frees an object by its name; it stays when the object is dropped."""

    def __init__(self, delete: Callable[..., None], name: int) -> None:
        self._delete, self._name = delete, name

    def release(self) -> None:
        self._delete(1, ctypes.byref(ctypes.c_uint(self._name)))


_PINNED_MEMORY, _DYNAMIC_DRAW = 0x9160, 0x88E8  # GL_EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD


class PinnedBuffer:
    """A buffer over pages of this process (AMD_pinned_memory), zeros at first; the context must be current in every
    call.

    A software driver writes zeros to a buffer that it makes, at 0.8 ms for each MiB, and another one is made where it
    grows. These take pages as they are written, piece by piece, and grow without a copy.

    buffer : moderngl's, another one once it has grown. Raises MemoryError, and moderngl.Error where the driver refuses.
    """

    def __init__(self, device: Device, size: int) -> None:
        self.device, self._pages = device, Pages(size)
        name = ctypes.c_uint(0)
        device.require("glGenBuffers", ctypes.c_int, ctypes.POINTER(ctypes.c_uint))(1, ctypes.byref(name))
        self._name = name.value
        self._deleter = _PageDeleter(device, self._name, self._pages)
        self._dropped = weakref.finalize(self, device.context.objects.append, self._deleter)
        self._dropped.atexit = False
        try:
            self.buffer = self._define()
        except moderngl.Error:
            self.release()
            raise

    @staticmethod
    def is_supported(device: Device) -> bool:
        """Whether it is of use: with a software driver; on a GPU fetches would go through the bus."""
        return device.software and "GL_AMD_pinned_memory" in device.extensions and sys.platform.startswith("linux")

    def _define(self) -> moderngl.Buffer:
        unsigned, pages, context = ctypes.c_uint, self._pages, self.device.context
        bind = self.device.require("glBindBuffer", unsigned, unsigned)
        fill = self.device.require("glBufferData", unsigned, ctypes.c_ssize_t, ctypes.c_void_p, unsigned)
        _ = context.error  # of what came before
        bind(_PINNED_MEMORY, self._name)
        fill(_PINNED_MEMORY, pages.size, pages.address, _DYNAMIC_DRAW)
        bind(_PINNED_MEMORY, 0)
        if (error := context.error) != "GL_NO_ERROR":
            raise moderngl.Error(error)
        return context.external_buffer(self._name, pages.size)

    def grow(self, size: int) -> None:
        """Grow to ``size`` bytes, with the same content and name; waits for its readers. After an error of the driver's
        the pages stay, which it may still use."""
        self.device.wait()
        self._pages.grow(size)
        self.buffer = self._define()

    def release(self) -> None:
        """Free it; a second time nothing happens."""
        if self._dropped.detach() is not None:
            self._deleter.release()


class _PageDeleter(_Deleter):
    """A buffer's name, and its pages, which nothing may read any more once they are freed."""

    def __init__(self, device: Device, name: int, pages: Pages) -> None:
        super().__init__(device.require("glDeleteBuffers", ctypes.c_int, ctypes.POINTER(ctypes.c_uint)), name)
        self._finish, self._pages = device.context.finish, pages

    def release(self) -> None:
        super().release()
        self._finish()
        self._pages.release()


_SAMPLES, _PRIMITIVES, _TIME = 0x8914, 0x8C87, 0x88BF  # GL_SAMPLES_PASSED, GL_PRIMITIVES_GENERATED, GL_TIME_ELAPSED
_TIMESTAMP, _RESULT, _AVAILABLE, _NO_WAIT = 0x8E28, 0x8866, 0x8867, 0x8E14


class Query:
    """Counts the samples drawn inside of it, or the primitives, or takes the time; the context must be current in every
    call.

    Reading an answer that is not there yet is a wait of the host (`Device.waits`); `ready` never waits. A dropped one
    serves the next that asks for the same.
    """

    def __init__(self, device: Device, samples: bool = False, time: bool = False, primitives: bool = False) -> None:
        targets = {_SAMPLES: samples, _PRIMITIVES: primitives, _TIME: time}
        kinds = tuple(target for target, requested in targets.items() if requested)
        free = device.queries[kinds]
        # The one dropped longest ago: one that is asked again at once waits for its last answer.
        self._names = free.popleft() if free else tuple(_new_query(device) for _ in kinds)
        self._device, self._kinds = device, kinds
        self._parts: list[Query] | None = None
        self._began = self._simulated = 0  # nanoseconds, see `Device.simulated_time`
        weakref.finalize(self, free.append, self._names).atexit = False

    @property
    def timed(self) -> bool:
        """Whether it takes the time."""
        return _TIME in self._kinds

    def begin_parts(self) -> None:
        """Begins a query drawn in parts, each with a query of its own: its answers are their sums."""
        self._parts = []

    def add(self, part: Query) -> None:
        """Add a part's query."""
        assert self._parts is not None
        self._parts.append(part)

    def __enter__(self) -> Query:
        begin, self._parts = self._device.require("glBeginQuery", ctypes.c_uint, ctypes.c_uint), None
        for kind, name in zip(self._kinds, self._names, strict=True):
            begin(kind, name)
        self._device.timing |= self.timed
        self._began = self._device.simulated_time()
        return self

    def __exit__(self, *error: Any) -> None:
        end = self._device.require("glEndQuery", ctypes.c_uint)
        for kind in self._kinds:
            end(kind)
        self._device.timing &= not self.timed
        self._simulated = self._device.simulated_time() - self._began

    @property
    def ready(self) -> bool:
        """Whether its answers can be read without waiting."""
        if self._parts is not None:
            return all(part.ready for part in self._parts)
        return all(_available(self._device, name) for name in self._names)

    def _answer(self, kind: int) -> int:
        """The result of one target, the sum over parts; waits for the device."""
        if self._parts is not None:
            return sum(part._answer(kind) for part in self._parts)
        if not self.ready:
            self._device.waits += 1
        if kind == _TIME and self._simulated:
            return self._simulated
        return _result(self._device, self._names[self._kinds.index(kind)])

    @property
    def samples(self) -> int:
        """The samples that passed; waits for the device."""
        return self._answer(_SAMPLES)

    @property
    def primitives(self) -> int:
        """The primitives written; waits for the device."""
        return self._answer(_PRIMITIVES)

    @property
    def elapsed(self) -> int:
        """Nanoseconds."""
        return self._answer(_TIME)

    @property
    @contextmanager
    def crender(self) -> Iterator[None]:
        """Within the block draws are skipped where the device knows by then that no samples passed."""
        begin = self._device.require("glBeginConditionalRender", ctypes.c_uint, ctypes.c_uint)
        begin(self._names[self._kinds.index(_SAMPLES)], _NO_WAIT)
        try:
            yield
        finally:
            self._device.require("glEndConditionalRender")()


class Timestamp:
    """The time at which the device has executed all earlier commands; the context must be current in every call.

    Reading it before then is a wait of the host; `ready` never waits.
    """

    def __init__(self, device: Device) -> None:
        free = device.queries[(_TIMESTAMP,)]
        self._names = free.popleft() if free else (_new_query(device),)
        self._device = device
        weakref.finalize(self, free.append, self._names).atexit = False
        device.require("glQueryCounter", ctypes.c_uint, ctypes.c_uint)(self._names[0], _TIMESTAMP)

    @property
    def ready(self) -> bool:
        """Whether it has come."""
        return _available(self._device, self._names[0])

    @property
    def seconds(self) -> float:
        """Seconds by the device's clock, since a moment common to all timestamps."""
        if not self.ready:
            self._device.waits += 1
        return _result(self._device, self._names[0]) * 1e-9


def read_texture(texture: moderngl.Texture, into: Any) -> None:
    """Copy the texels of a float texture into an array or a buffer, after all draws to them.

    By a framebuffer: a read of the texture itself gives old texels on llvmpipe (Mesa 22.3) while its threads still
    draw, if another framebuffer has been drawn to since.
    """
    texture.ctx.framebuffer([texture]).read_into(into, components=texture.components, dtype=texture.dtype)


class Readback:
    """The texels of a texture on their way to the host, which goes on meanwhile; the context must be current in every
    call."""

    def __init__(self, device: Device, texture: moderngl.Texture) -> None:
        self._device, self._shape = device, (texture.height, texture.width, texture.components)
        self._buffer = device.context.buffer(reserve=4 * texture.height * texture.width * texture.components)
        read_texture(texture, self._buffer)
        self._done = Timestamp(device)
        device.flush()

    @property
    def ready(self) -> bool:
        """Whether they are there."""
        return self._done.ready

    def read(self) -> NDArray[np.float32]:
        """(H, W, components) float32 of a float texture; a wait where they are not there."""
        if not self.ready:
            self._device.waits += 1
        return np.frombuffer(self._buffer.read(), np.float32).reshape(self._shape)


_RESULT_TYPES = ctypes.c_uint, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint)
_RESULT64_TYPES = ctypes.c_uint, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint64)


def _new_query(device: Device) -> int:
    name = ctypes.c_uint(0)
    device.require("glGenQueries", ctypes.c_int, ctypes.POINTER(ctypes.c_uint))(1, ctypes.byref(name))
    return name.value


def _available(device: Device, name: int) -> bool:
    value = ctypes.c_uint(0)
    device.require("glGetQueryObjectuiv", *_RESULT_TYPES)(name, _AVAILABLE, ctypes.byref(value))
    return bool(value.value)


def _result(device: Device, name: int) -> int:
    value = ctypes.c_uint64(0)
    device.require("glGetQueryObjectui64v", *_RESULT64_TYPES)(name, _RESULT, ctypes.byref(value))
    return value.value


# -- stencil buffers through raw OpenGL: moderngl has no wrapper -------------------------------------------------------

KEEP, REPLACE, INCREASE, INCREASE_AND_WRAP = 0x1E00, 0x1E01, 0x1E02, 0x8507
ALWAYS, EQUAL = 0x0207, 0x0202
ALL_BITS = 255  # of the eight bits on every driver

_STENCIL_TEST, _RENDERBUFFER, _FRAMEBUFFER = 0x0B90, 0x8D41, 0x8D40
_DEPTH24_STENCIL8, _DEPTH_STENCIL_ATTACHMENT, _STENCIL_BUFFER_BIT = 0x88F0, 0x821A, 0x0400
_STENCIL_INDEX, _UNSIGNED_BYTE, _PACK_ALIGNMENT = 0x1901, 0x1401, 0x0D05


class Stencil:
    """Eight bits per texel of a framebuffer without a depth buffer. Every call needs a current context."""

    def __init__(self, device: Device, framebuffer: moderngl.Framebuffer) -> None:
        """Attach a stencil buffer to ``framebuffer``, of its size."""
        uint = ctypes.c_uint
        self.framebuffer = framebuffer
        self._enable, self._disable = device.require("glEnable", uint), device.require("glDisable", uint)
        self._func = device.require("glStencilFunc", uint, ctypes.c_int, uint)
        self._op = device.require("glStencilOp", uint, uint, uint)
        self._mask = device.require("glStencilMask", uint)
        self._clear_value = device.require("glClearStencil", ctypes.c_int)
        self._clear = device.require("glClear", uint)
        self._store = device.require("glPixelStorei", uint, ctypes.c_int)
        self._read = device.require("glReadPixels", *[ctypes.c_int] * 4, uint, uint, ctypes.c_void_p)
        self._buffer = RawObject(device, "Renderbuffer")
        bind = device.require("glBindRenderbuffer", uint, uint)
        bind(_RENDERBUFFER, self._buffer.name)
        size = framebuffer.size
        storage = device.require("glRenderbufferStorage", uint, uint, ctypes.c_int, ctypes.c_int)
        storage(_RENDERBUFFER, _DEPTH24_STENCIL8, *size)
        bind(_RENDERBUFFER, 0)
        self._attach = device.require("glFramebufferRenderbuffer", uint, uint, uint, uint)
        self.share(framebuffer)

    def share(self, framebuffer: moderngl.Framebuffer) -> None:
        """Attach this buffer to another framebuffer of the same size, without a depth buffer."""
        framebuffer.use()
        self._attach(_FRAMEBUFFER, _DEPTH_STENCIL_ATTACHMENT, _RENDERBUFFER, self._buffer.name)

    def clear(self, value: int = 0) -> None:
        """Clear to one value; the framebuffer in use must be this one's."""
        self._mask(ALL_BITS)
        self._clear_value(value)
        self._clear(_STENCIL_BUFFER_BIT)

    @contextmanager
    def test(self, function: int, value: int, passed: int, failed: int = KEEP, bits: int = ALL_BITS) -> Iterator[None]:
        """Draw where the stencil compares with ``value``. passed, failed : operations after the test.

        bits : mask of written bits.
        """
        self.begin(function, value, passed, failed, bits)
        try:
            yield
        finally:
            self.end()

    def begin(self, function: int, value: int, passed: int, failed: int = KEEP, bits: int = ALL_BITS) -> None:
        """As `test`, until `end`."""
        self._enable(_STENCIL_TEST)
        self._mask(bits)
        self._func(function, value, ALL_BITS)
        self._op(failed, KEEP, passed)

    def end(self) -> None:
        """Disable the stencil test."""
        self._disable(_STENCIL_TEST)
        self._mask(ALL_BITS)

    def read(self) -> bytes:
        """All values, row by row from the lowest; waits for the device."""
        width, height = self.framebuffer.size
        out = ctypes.create_string_buffer(width * height)
        self.framebuffer.use()
        self._store(_PACK_ALIGNMENT, 1)
        self._read(0, 0, width, height, _STENCIL_INDEX, _UNSIGNED_BYTE, out)
        self._store(_PACK_ALIGNMENT, 4)
        return out.raw

    def release(self) -> None:
        """Free the buffer; the framebuffer is unusable afterwards."""
        self._buffer.release()
