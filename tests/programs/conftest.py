"""A device whose programs are those of GPUs, on any driver."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from raystream.stream.gl.device import Device, open_device


@pytest.fixture(scope="module")
def gpu() -> Iterator[Device]:
    """A device for which programs are generated as for a GPU."""
    device = open_device()
    device.software_form = False
    yield device
    device.release()
