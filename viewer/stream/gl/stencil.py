"""Stencil buffers through raw OpenGL: moderngl has no wrapper."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import moderngl

from raystream.stream.gl.device import Device
from raystream.stream.gl.objects import RawObject

KEEP, REPLACE, INCREASE, INCREASE_AND_WRAP = 0x1E00, 0x1E01, 0x1E02, 0x8507
ALWAYS, EQUAL = 0x0207, 0x0202
LARGEST = 255  # of the eight bits on every driver

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
        self._mask(LARGEST)
        self._clear_value(value)
        self._clear(_STENCIL_BUFFER_BIT)

    @contextmanager
    def test(self, function: int, value: int, passed: int, failed: int = KEEP, bits: int = LARGEST) -> Iterator[None]:
        """Draw where the stencil compares with ``value``. passed, failed : operations after the test.

        bits : mask of written bits.
        """
        self.begin(function, value, passed, failed, bits)
        try:
            yield
        finally:
            self.end()

    def begin(self, function: int, value: int, passed: int, failed: int = KEEP, bits: int = LARGEST) -> None:
        """As `test`, until `end`."""
        self._enable(_STENCIL_TEST)
        self._mask(bits)
        self._func(function, value, LARGEST)
        self._op(failed, KEEP, passed)

    def end(self) -> None:
        """Disable the stencil test."""
        self._disable(_STENCIL_TEST)
        self._mask(LARGEST)

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
