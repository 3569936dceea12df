"""Opening of devices: headless OpenGL contexts, and the process's shared ones."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import glcontext
import moderngl

from raystream.base.errors import DeviceError
from raystream.stream.declare.limits import LIMITS
from raystream.stream.gl import contexts
from raystream.stream.gl.contexts import Handover, check_room
from raystream.stream.gl.device import Device, Process, this_thread

VARIABLE = "RAYSTREAM_GL_DEVICE"
_INSTALL = "install a graphics driver; on Debian and Ubuntu without a GPU: libegl1 libgl1 libgl1-mesa-dri"
_MOST_DEVICES = 64  # EGL may list devices without end


def open_device(index: int | None = None, barrier: bool = True, buffers: bool = True, limits: str = "none") -> Device:
    """A headless device: EGL on Linux, the platform's standalone context elsewhere.

    index : number of the EGL device; else ``RAYSTREAM_GL_DEVICE``, else the driver's choice. limits : a name of
    `LIMITS`, or ``none``. Raises DeviceError with an installation hint without OpenGL 3.3, and in a process forked from
    one with a device.
    """
    Process.check()
    if index is None and os.environ.get(VARIABLE):
        try:
            index = int(os.environ[VARIABLE])
        except ValueError:
            raise DeviceError(VARIABLE, f"not a number: '{os.environ[VARIABLE]}'", "see `raystream devices`") from None
    if index is not None and index < 0:  # EGL's error differs among drivers
        raise DeviceError("OpenGL", f"no device {index}", "see `raystream devices`")
    settings: dict[str, Any] = {"mode": "standalone", "glversion": 330}
    if sys.platform.startswith("linux"):
        if index is not None:
            settings["device_index"] = index
    elif index is not None:
        raise DeviceError("--device", "choosing a device needs EGL, which is on Linux only", "leave it out")
    with _opening:
        Process.opened, remark = True, check_room()
        put_back = contexts.leave()
        try:
            linux = sys.platform.startswith("linux")
            backend = glcontext.get_backend_by_name("egl") if linux else glcontext.default_backend()
            handover: Any = Handover(backend(**settings))
            context = moderngl.create_context(require=330, standalone=True, context=handover)
        except Exception as error:
            put_back()
            raise _no_context(error, index) from None
        try:
            return Device(context, barrier, buffers, headless=True, limits=LIMITS.get(limits), remark=remark)
        finally:  # a new context becomes current, which would block other threads
            context.__exit__(None, None, None)
            if this_thread.device is not None:
                this_thread.device.context.__enter__()
            put_back()


_opening = threading.RLock()
_shared: dict[tuple[int | None, bool, bool, str], Device] = {}


def shared_device(index: int | None = None, barrier: bool = True, buffers: bool = True, limits: str = "none") -> Device:
    """The process's headless device of that number, opened once and shared: contexts are heavy, and renderers many.
    Reopened if another library has ended its context."""
    Process.check()
    key = (index, barrier, buffers, limits)
    with _opening:
        if key not in _shared or _shared[key].ended:
            _shared[key] = open_device(*key)
        return _shared[key]


def devices() -> list[dict[str, Any]]:
    """The devices that `open_device` accepts, each as in `Device.describe` with its index; unusable ones have an
    ``error``."""
    if not sys.platform.startswith("linux"):
        device = open_device()
        description = {"index": None, "default": True, **device.describe()}
        device.release()
        return [description]
    out: list[dict[str, Any]] = []
    preferred = open_device().describe()  # raises a clear error without any OpenGL
    for index in range(_MOST_DEVICES):
        try:
            device = open_device(index)
        except DeviceError as error:
            if "no device" in error.what:
                break
            out.append({"index": index, "default": False, "error": str(error)})
            continue
        description = device.describe()
        device.release()
        first = description["renderer"] == preferred["renderer"] and not any(d["default"] for d in out)
        out.append({"index": index, "default": first, **description})
    return out


def _no_context(error: Exception, index: int | None) -> DeviceError:
    text = " ".join(str(error).split())
    if index is None and ("found 0 devices" in text or "eglQueryDevicesEXT" in text):
        return DeviceError("OpenGL", f"EGL finds no device ({text})", _INSTALL)
    if "requested device index" in text or "eglQueryDevicesEXT" in text or "out of range" in text:
        return DeviceError("OpenGL", f"no device {index} ({text})", "see `raystream devices`")
    if "libEGL" in text or "libGL" in text:
        return DeviceError("OpenGL", f"library not found ({text})", _INSTALL)
    return DeviceError("OpenGL", f"no context of OpenGL 3.3 ({text})", _INSTALL)
