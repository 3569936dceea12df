"""In flight, surfaces found by rays stayed those of the first picture, all but a corner: the clear before the next one
was clipped by the scissors of a smaller framebuffer, and a pixel that has its sample takes no other."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

from raystream.stream.declare.record import Field, Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream

NUMBERS = Record("Numbers", Field("number", "vec4"), Field("more", "vec2"))


@pytest.fixture
def scissored(device: Device) -> moderngl.Framebuffer:
    """A small framebuffer in use, drawn to in a band as by a machine."""
    framebuffer = Stream(device, NUMBERS, (4, 3)).framebuffer
    framebuffer.use()
    framebuffer.scissor = (1, 1, 2, 1)
    return framebuffer


def test_a_stream_is_cleared_as_a_whole(device: Device, scissored: moderngl.Framebuffer) -> None:
    stream = Stream(device, NUMBERS, (9, 7))
    stream.write(np.ones((7, 9), NUMBERS.dtype))
    scissored.use()
    stream.clear()
    assert not stream.read()["number"].any() and not stream.read()["more"].any()
    scissored.use()
    stream.clear([(1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 0.0, 0.0)])
    assert (stream.read()["number"] == (1, 2, 3, 4)).all() and (stream.read()["more"] == (5, 6)).all()
