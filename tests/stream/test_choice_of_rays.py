"""Rays that are excluded from a run, by depth and by state; counts of a new mask."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest
from toys import COLLATZ

from raystream.stream.gl.device import Device
from raystream.stream.gl.stream import Stream
from raystream.stream.machines.common import CHOICE, SELECTED_DEPTH, RaySelection
from raystream.stream.machines.multipass import Multipass
from raystream.stream.selftest import masks

SIZE = (7, 6)


def test_depths_are_of_the_last_choice_alone(device: Device) -> None:
    """Within its bands: what was chosen before in others is not any more."""
    random = np.random.default_rng(1)
    with device.current():
        choice, stream = RaySelection(device, SIZE), Stream(device, CHOICE, SIZE)
        for bands in ([(0, 0, 7, 2), (0, 4, 7, 1)], [(0, 3, 5, 3)]):
            chosen = random.integers(0, 2, SIZE[::-1])
            rays = np.zeros(SIZE[::-1], CHOICE.dtype)
            rays["chosen"] = chosen
            stream.write(rays)
            within = np.zeros(SIZE[::-1], bool)
            for x, y, width, height in bands:
                within[y : y + height, x : x + width] = True
            count = choice.write_depths(stream, bands, counted=True)
            depth = np.frombuffer(choice.depth_buffer().read(alignment=4), np.float32).reshape(SIZE[::-1])
            there = np.abs(depth - SELECTED_DEPTH) < 1e-6  # half of 24 bits is read as a part of 2^24 - 1
            np.testing.assert_array_equal(there, (chosen > 0) & within)
            assert count == (chosen[within] > 0).sum() > 0
            assert choice.write_depths(stream, bands) == 0  # is not asked for
        choice.release()
        assert choice.depth is None
        stream.release()


@pytest.mark.parametrize("mask", ["none", "kill", "depth", "stencil"])
def test_a_new_mask_has_drawn_and_counted_nothing(device: Device, mask: str) -> None:
    machine = Multipass(device, COLLATZ.linked, SIZE, mask=mask)
    assert (machine.mask.passes, machine.mask.counts) == (0, 0)
    machine.release()


def test_a_self_test_of_masks_whatever_was_drawn_before(device: Device) -> None:
    """Under blending and a depth test, which others leave behind."""
    with device.current():
        device.context.enable(moderngl.BLEND | moderngl.DEPTH_TEST)
        try:
            assert masks.stencil_mask(device).verdict == "pass"
        finally:
            device.context.disable(moderngl.BLEND | moderngl.DEPTH_TEST)
