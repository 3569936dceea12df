"""Ctrl-C during a render was without effect, rarely: its exception was raised in a finalizer, where Python drops it,
and the loop that fills a film did not ask for dropped ones."""

from __future__ import annotations

import pytest

import raystream
from raystream.base.interrupts import Terminated, suppress_interrupt, terminate
from raystream.stream.gl.device import Device


class Dropping:
    """Is interrupted while it is finalized."""

    def __del__(self) -> None:
        terminate(2, None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_render_ends_all_the_same(device: Device) -> None:
    renderer = raystream.Renderer("cornell", program="cast", device=device)
    found = Dropping()
    del found
    with pytest.raises(Terminated) as stop:
        renderer.render((8, 8))
    assert stop.value.code == 130 and Terminated.last is None
    assert renderer.render((8, 8)).linear.shape == (8, 8, 3)


def test_a_block_that_may_be_interrupted_leaves_nothing() -> None:
    with suppress_interrupt():
        terminate(2, None)
    assert Terminated.last is None
