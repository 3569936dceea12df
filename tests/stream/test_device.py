"""Opening contexts, and what the driver can do."""

from __future__ import annotations

import ctypes
import sys

import pytest

from raystream.base.errors import DeviceError
from raystream.stream.gl import device as devices_module
from raystream.stream.gl import objects
from raystream.stream.gl.device import DEVICE_VARIABLE, Device, devices, open_device, shared_device

egl = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="devices are chosen through EGL, on Linux")


@egl
def test_a_device_that_is_no_number(device, monkeypatch):
    monkeypatch.setenv(DEVICE_VARIABLE, "the fast one")
    with pytest.raises(DeviceError, match=rf"{DEVICE_VARIABLE}: not a number: 'the fast one'.*raystream devices"):
        open_device()


@egl
@pytest.mark.parametrize("index", [99, -1])
def test_a_device_that_is_not_there(device, monkeypatch, index):
    with pytest.raises(DeviceError, match=f"no device {index}"):
        open_device(index)
    monkeypatch.setenv(DEVICE_VARIABLE, str(index))
    with pytest.raises(DeviceError, match=f"no device {index}"):
        open_device()


@egl
def test_the_variable_chooses_and_an_argument_goes_first(device, monkeypatch):
    monkeypatch.setenv(DEVICE_VARIABLE, "99")
    opened = open_device(0)
    assert opened.name
    opened.release()


@egl
def test_devices_are_listed_with_one_default(device):
    found = devices()
    assert [d["index"] for d in found] == list(range(len(found))) and found
    usable = [d for d in found if "error" not in d]
    assert sum(d["default"] for d in usable) == 1
    for d in usable:
        assert d["max_texture_size"] >= 1024 and d["max_attachments"] >= 8 and d["max_samplers"] >= 16
        assert d["renderer"] and d["version"] and d["glsl"] and float(d["opengl"]) >= 3.3
        assert isinstance(d["texture_barrier"], bool) and isinstance(d["software"], bool)
        assert d["max_buffer_texture_size"] >= 65536


def test_a_device_that_may_have_no_buffer_textures_has_room_for_none(device):
    """Not even for one texel: whoever asks whether there are any asks for their size."""
    assert Device(device.context, allow_buffers=False).max_buffer == 0


def test_the_shared_device_is_opened_once(device):
    assert shared_device() is device
    plain = shared_device(barrier=False)
    assert plain is shared_device(barrier=False) and plain is not device
    with plain.current():
        assert plain.texture_barrier is None and plain.describe()["texture_barrier"] is False


def test_functions_that_the_driver_lacks_are_none(device):
    """EGL may hand out a stub for any name in gl: this is none."""
    assert device.load("noSuchThing", None) is None
    with pytest.raises(DeviceError, match=r"the driver has no noSuchThing \(update the graphics driver\)"):
        device.require("noSuchThing")
    number, count = ctypes.c_int(), device.require("glGetIntegerv", ctypes.c_uint, ctypes.c_void_p)
    count(0x821B, ctypes.byref(number))  # GL_MAJOR_VERSION
    assert number.value == device.context.version_code // 100


def test_an_old_opengl_is_refused(device):
    class Old:
        version_code = 320
        info = {"GL_RENDERER": "an old card"}  # noqa: RUF012
        extensions = ()

    with pytest.raises(DeviceError, match=r"an old card: OpenGL 3\.2; 3\.3 is needed"):
        Device(Old())


def test_devices_have_numbers_on_linux_alone(device, monkeypatch):
    monkeypatch.setattr(devices_module.sys, "platform", "darwin")
    with pytest.raises(DeviceError, match="choosing a device needs EGL"):
        open_device(0)


@pytest.mark.parametrize("ready", [True, False])
def test_nanoseconds_are_told_in_seconds(device: Device, monkeypatch: pytest.MonkeyPatch, ready: bool) -> None:
    with device.current():
        moment = objects.Timestamp(device)
        monkeypatch.setattr(objects, "_available", lambda device, name: ready)
        monkeypatch.setattr(objects, "_result", lambda device, name: 2_500_000_000)
        waits = device.waits
        assert moment.ready is ready and moment.seconds == 2.5
        assert device.waits == waits + (not ready)
