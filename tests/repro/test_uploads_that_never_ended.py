"""Where a driver's buffer textures are too small, an upload said nothing of the tables in textures of other kinds: its
share that is done stayed below 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.resources import Resources


@pytest.mark.parametrize("buffers", [True, False])
def test_the_last_share_is_all(device: Any, buffers: bool) -> None:
    record = Record("Row", Field("a", "float"))
    tables = [Table(name, record, np.zeros(20, record.dtype), hot=True) for name in ("one", "other")]
    resources = Resources(Device(device.context, allow_buffers=buffers))
    assert list(resources.upload(tables)) == [0.5, 1.0]
    resources.release()
