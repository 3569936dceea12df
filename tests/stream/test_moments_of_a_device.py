"""A moment by the device's clock, in seconds; asking before it has come is a wait."""

from __future__ import annotations

import pytest

from raystream.stream.gl import objects
from raystream.stream.gl.device import Device


@pytest.mark.parametrize("ready", [True, False])
def test_nanoseconds_are_told_in_seconds(device: Device, monkeypatch: pytest.MonkeyPatch, ready: bool) -> None:
    with device.current():
        moment = objects.Timestamp(device)
        monkeypatch.setattr(objects, "_available", lambda device, name: ready)
        monkeypatch.setattr(objects, "_result", lambda device, name: 2_500_000_000)
        waits = device.waits
        assert moment.ready is ready and moment.seconds == 2.5
        assert device.waits == waits + (not ready)
