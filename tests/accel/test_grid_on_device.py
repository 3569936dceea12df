"""The grid built on the device: entry by entry the host's overlap test in float32, and against float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from soups import KINDS, read_ply, soup

from raystream.accel import primitives
from raystream.accel.grid import grid as grid_module
from raystream.accel.grid.build import COMPILED, PLAIN, ROUNDING, build
from raystream.accel.grid.grid import FLOAT32_ERROR, DeviceGrid, lists_with_marked_ends, plan
from raystream.base.errors import ViewerError
from raystream.renderer.device import grid_build
from raystream.renderer.device.grid_build import GridBuild
from raystream.stream.gl.device import Device
from raystream.stream.gl.memory import BufferTexture, Memory
from raystream.stream.gl.resources import Resources
from raystream.stream.jobs import Executor
from tests.held import run_held


class Built:
    """A grid built on a device: pointers (voxels,) and lists (L,) as float32, read back. waits : of the host."""

    def __init__(self, device: Any, corners: NDArray[np.float32], resolution: object = "auto") -> None:
        self.grid = plan(corners, resolution)
        self.corners = corners
        resources = Resources(device)
        table = primitives.triangle_module("watertight", corners).memories[0]
        builder = GridBuild(device, table, resources)
        memories = [resources.get(each) for each in (table, self.grid.pointers, self.grid.lists)]
        waits = device.waits
        for _ in Executor(device, resources, lambda run: None).run(builder.job(self.grid, *memories)):
            pass
        self.waits = device.waits - waits
        self.pointers = values(memories[1], self.grid.voxels)
        self.lists = values(memories[2], self.grid.statistics["list_entries"])
        builder.release()
        resources.release()


def pairs(pointers: NDArray[np.float32], lists: NDArray[np.float32]) -> NDArray[np.int64]:
    """Voxel times 2^24 and triangle of every entry of lists that lie voxel by voxel, ascending."""
    full = np.flatnonzero(pointers.ravel() >= 0)
    ends = lists < 0
    triangle = np.where(ends, -lists - 1, lists).astype(np.int64)
    return (full[np.cumsum(ends) - ends] << 24) + triangle


def values(memory: Memory, count: int) -> NDArray[np.float32]:
    """The first numbers of a memory of numbers, read back."""
    texture = memory.texture
    read = texture.buffer.read() if isinstance(texture, BufferTexture) else texture.read()
    return np.frombuffer(read, np.float32)[:count]


def listed(corners: NDArray[np.float32]) -> NDArray[np.uint8]:
    """(T,): 1 for triangles of three finite and distinct corners."""
    apart = [(corners[:, k] != corners[:, k - 1]).any(axis=1) for k in range(3)]
    return (np.isfinite(corners).all(axis=(1, 2)) & np.all(apart, axis=0)).astype(np.uint8)


def entered(
    grid: DeviceGrid, corners: NDArray[np.float32], kind: type = np.float32, more: float = 0.0
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Pointers (voxels,) and lists of a grid by the host's own loops, in float32 where interpreted with arrays of
    float32. more : margin, voxels."""
    corners = np.require(corners, np.float32, ["C"])
    counts = np.zeros((1, grid.voxels), np.int32)
    place = grid.low.astype(kind), grid.voxel.astype(kind), grid.margin.astype(kind) + kind(more)
    loops = PLAIN if kind is np.float32 else COMPILED
    block = np.empty(1 << 21, np.int32)
    resolution = np.array(grid.resolution, np.int64)
    with np.errstate(all="ignore"):
        done, used = loops.list_voxels(corners, listed(corners), 0, len(corners), *place, resolution, counts[0], block)
    assert done == len(corners)
    pointers = np.empty(grid.voxels, np.float32)
    length, _, _ = map(int, COMPILED.lay_out_lists(counts, pointers))
    lists = np.full(length, -1.0, np.float32)
    COMPILED.fill_lists(block[:used], counts[0], lists)
    return lists_with_marked_ends(pointers, lists) if length else (pointers, lists)


def assert_equal(found: Built) -> None:
    """Every pointer and every entry is the host's."""
    pointers, lists = entered(found.grid, found.corners)
    assert len(found.lists) == len(lists)
    assert np.array_equal(found.pointers, pointers)
    assert np.array_equal(found.lists, lists)


@pytest.mark.parametrize("resolution", [(1, 1, 1), (7, 3, 11), (20, 1, 6), 8, "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_entries_equal_the_host_s(device: Any, kind: str, resolution: object) -> None:
    corners = soup(kind, np.random.default_rng(KINDS.index(kind)), 60)
    assert_equal(Built(device, corners, resolution))


def test_entries_of_the_bunny_equal_the_host_s(device: Any, shared_scenes: Path) -> None:
    found = Built(device, read_ply(shared_scenes / "bunny.ply"))
    assert_equal(found)
    assert len(found.lists) > 150_000
    assert found.waits == 2  # for the numbers of rows and of entries, which sizes of streams follow


@pytest.mark.parametrize("kind", [*KINDS, "bunny"])
def test_entries_beside_those_in_float64(device: Any, kind: str, shared_scenes: Path) -> None:
    """None is missing that the host lists, and none is farther off than float32 rounds."""
    if kind == "bunny":
        corners = read_ply(shared_scenes / "bunny.ply")
    else:
        corners = soup(kind, np.random.default_rng(KINDS.index(kind)), 60)
    found = Built(device, corners, "auto" if kind == "bunny" else 9)
    host = build(corners, found.grid.resolution)
    assert np.array_equal(host.low, found.grid.low) and np.array_equal(host.voxel, found.grid.voxel)
    own = pairs(found.pointers, found.lists)
    assert np.isin(pairs(*lists_with_marked_ends(host.pointers, host.lists)), own).all()
    # Its margin holds what float32 may be off by one way; a pair too many is off by as much the other way.
    more = FLOAT32_ERROR * ROUNDING * max(found.grid.resolution)
    assert np.isin(own, pairs(*entered(found.grid, corners, np.float64, more))).all()


def test_triangles_left_out(device: Any) -> None:
    corners = soup("random", np.random.default_rng(0))
    corners[[0, 5, 9], 1, 2] = np.nan, np.inf, -np.inf
    corners[3, 1] = corners[3, 0]
    corners[7, 2] = corners[7, 1]
    corners[8, 2] = corners[8, 0]
    found = Built(device, corners)
    assert_equal(found)
    entries = np.where(found.lists < 0, -found.lists - 1, found.lists)
    assert set(entries.astype(int)) == set(range(24)) - {0, 3, 5, 7, 8, 9}


@pytest.mark.parametrize("which", ["none", "nan", "one"])
def test_few_triangles(device: Any, which: str) -> None:
    corners = soup("random", np.random.default_rng(1), 0 if which == "none" else 1)
    if which == "nan":
        corners[0, 0, 0] = np.nan
    found = Built(device, corners, (3, 4, 5) if which == "one" else "auto")
    if which == "one":
        assert_equal(found)
        assert (found.lists == -1).all() and len(found.lists) == (found.pointers >= 0).sum()
    else:
        assert len(found.lists) == 0 and (found.pointers == -1).all()


def test_lists_grow_and_lie_in_textures(monkeypatch: pytest.MonkeyPatch, device: Any) -> None:
    """Memories without buffer textures; lists for which less room was expected, in both forms."""
    monkeypatch.setattr(grid_module, "LIST_HEADROOM", 0.02)
    corners = soup("random", np.random.default_rng(2), 200)
    assert_equal(Built(device, corners, 16))
    with device.current():
        plain = Device(device.context, allow_buffers=False)
    with plain.current():
        assert_equal(Built(plain, corners, 16))


def test_limits(monkeypatch: pytest.MonkeyPatch, device: Any) -> None:
    corners = soup("random", np.random.default_rng(0), 50)
    with pytest.raises(ViewerError, match="voxels"):
        plan(corners, (256, 256, 256))
    monkeypatch.setattr(grid_build, "MAX_ADDRESS", 1000)
    with pytest.raises(ViewerError, match="coarser"):
        Built(device, corners, 16)


def test_the_same_on_opengl_33(device: Any) -> None:
    run_held(device, [__file__], "host_s and 7 or left_out")
