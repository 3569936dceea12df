"""The stencil of drivers without its export, the tiles that a loop is drawn on, and policies, by counts alone."""

from __future__ import annotations

import ctypes
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_machines import check, same_bits
from toys import COLLATZ, NESTED, simulate

from raystream.base.errors import ViewerError
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Tiles
from raystream.stream.machines.common import TILE_EDGE
from raystream.stream.machines.mask import StencilMask
from raystream.stream.machines.multipass import Multipass
from raystream.stream.machines.policy import Naive, Sweep, Threshold, policy

SIZE = (33, 7)


def held(device: Device, barrier: bool) -> Device:
    """The same context, as if its fragment programs could not choose the stencil."""
    made = Device(device.context, allow_barrier=barrier)
    made.extensions -= {"GL_ARB_shader_stencil_export"}
    return made


@pytest.mark.parametrize("barrier", [True, False])
def test_the_stencil_of_a_bit_at_a_time_is_the_same_mask(device, barrier):
    other = held(device, barrier)
    for fuse in ("none", "odd"):
        machine = Multipass(other, NESTED.linked, SIZE, fuse=fuse, mask="stencil", policy=Naive())
        check(machine, NESTED)
        assert isinstance(machine.mask, StencilMask) and "bit" in machine.mask.drawings
        bits = len(machine.steps).bit_length()
        assert machine.stats.mask_passes and machine.stats.mask_passes % bits == 0
        machine.release()


@pytest.mark.parametrize("export", [True, False])
def test_the_stencil_holds_the_step_of_every_ray(device, export):
    """Those of states 0 .. 4 by turns, read back."""
    if export and not device.stencil_export:
        pytest.skip("this driver has no ARB_shader_stencil_export")
    machine = Multipass(device if export else held(device, True), COLLATZ.linked, SIZE, mask="stencil")
    mask, states = machine.mask, np.arange(SIZE[0] * SIZE[1]).reshape(SIZE[::-1]) % 5
    assert isinstance(mask, StencilMask)
    for turn in range(2):  # and nothing is left of the mask before
        texels = np.zeros((*SIZE[::-1], 2), np.float32)
        texels[..., 0] = (states + turn) % 5
        machine.state.write_texels([texels])
        mask.select(1)
        found = np.frombuffer(mask.stencil.read(), np.uint8).reshape(SIZE[::-1])
        np.testing.assert_array_equal(found, (states + turn) % 5)
    machine.release()


def test_a_mask_leaves_no_test_behind(device):
    """What is drawn after a run, or after one that was abandoned, is drawn whole."""
    enabled = device.require("glIsEnabled", ctypes.c_uint, result=ctypes.c_ubyte)
    for mask in ("depth", "stencil", "kill", "tiles"):
        machine = Multipass(device, COLLATZ.linked, SIZE, mask=mask, unroll=1)
        for _, _ in zip(machine.run(), range(3), strict=False):
            pass
        assert not enabled(0x0B90)  # GL_STENCIL_TEST
        check(Multipass(device, NESTED.linked, SIZE, mask="none"), NESTED)
        check(machine, COLLATZ)


# -- tiles -------------------------------------------------------------------------------------------------------------


def blocks(array: np.ndarray, size: tuple[int, int], edge: int) -> np.ndarray:
    """(rows, columns) the largest value in each tile."""
    grid = array.reshape(size[::-1])
    steps = [np.arange(0, length, edge) for length in grid.shape]
    return np.maximum.reduceat(np.maximum.reduceat(grid, steps[0], axis=0), steps[1], axis=1)


@pytest.mark.parametrize("edge", [4, TILE_EDGE])
def test_tiles_without_rays_are_drawn_no_more(either_barrier, edge):
    """A pass of one call: a tile is drawn until the longest way of its rays is over, and its queries are read a round
    late. What the other tiles take does not matter."""
    size = (61, 40)
    seeds = COLLATZ.fill(size[0] * size[1])
    seeds["seed"]["n"] = 5  # a short way
    seeds["seed"]["n"][[7, 40, 1500]] = 27, 97, 703  # long ones, in three tiles
    machine = Multipass(either_barrier, COLLATZ.linked, size, mask="tiles", tile=edge, unroll=1)
    machine.write("seed", seeds["seed"].reshape(size[::-1]))
    machine.finish()
    wanted = simulate(COLLATZ, seeds)
    same_bits(machine.read("answer").reshape(-1), wanted.streams["answer"])
    rounds = blocks(wanted.calls["even"] + wanted.calls["odd"], size, edge)  # at most: a round serves both
    longest = int(rounds.max())
    assert longest < machine.stats.tiles <= 2 * int((rounds + 3).sum()) < 0.6 * 2 * rounds.size * longest
    assert machine.stats.waits <= longest + 3  # once a round, and not for each tile
    assert machine.stats.kernel_passes <= 2 + 2 * (longest + 3)


@pytest.fixture(params=[True, False], ids=["barrier", "copying"])
def either_barrier(request, device):
    return Device(device.context, allow_barrier=request.param)


@pytest.mark.parametrize("count", ["query", "census"])
@pytest.mark.parametrize("policy", [Sweep(), Naive()])
def test_tiles_of_any_edge_under_every_policy(either_barrier, policy, count):
    for edge in (4, 32):
        for fuse in ("none", "odd"):
            options = {"fuse": fuse, "policy": policy, "count": count, "unroll": 2}
            check(Multipass(either_barrier, NESTED.linked, SIZE, mask="tiles", tile=edge, **options), NESTED)


def test_tiles_are_uploaded_when_they_change(device):
    tiles = Tiles(device, (32, 16), 16)
    alive = np.array([[True, False]])
    tiles.set_alive(alive)
    alive[0, 1] = True  # the caller's array is its own
    tiles.set_alive(alive)
    assert tiles.count == 2
    tiles.set_alive(None)
    tiles.set_alive(~alive)
    assert tiles.count == 0 and not tiles.all


waiting = st.lists(st.integers(0, 1000), min_size=1, max_size=6).filter(any)


@given(waiting, st.integers(0, 100), st.sampled_from(["active", "all"]), st.integers(0, 3000))
def test_threshold_is_the_rule_in_whole_numbers(rays, percent, of, more):
    """The latest state but the first for which so many percent wait; else the first; else the fullest. Exactly: shares
    of two places and counts of up to 6,000 are never within a float's rounding of each other unless they are equal."""
    total = sum(rays) + more  # of the stream, rays elsewhere included
    whole = {"active": sum(rays), "all": total}[of]
    enough = [k for k, n in enumerate(rays) if k > 0 and n > 0 and Fraction(n, whole) >= Fraction(percent, 100)]
    expected = enough[-1] if enough else 0 if rays[0] else rays.index(max(rays))
    assert Threshold(percent / 100, of).choose(rays, total) == [expected]


def test_policies_by_name():
    assert policy("threshold", 0.3, "all") == Threshold(0.3, "all")
    with pytest.raises(ViewerError, match=r"unknown policy 'round-robin'.*sweep, naive, threshold, most-work"):
        policy("round-robin")
    for share, of in ((1.5, "active"), (-0.1, "all"), (0.2, "some"), (float("nan"), "all")):
        with pytest.raises(ViewerError, match="threshold"):
            policy("threshold", share, of)
