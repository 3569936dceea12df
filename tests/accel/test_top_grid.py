"""The top level as a grid: the tables that a build changes, and the resolution that has room in them."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.accel.grid import build as grid_boxes
from raystream.accel.grid.grid import lists_with_marked_ends
from raystream.accel.two_level.top import TopGrid

UNTOUCHED = -(1 << 24)  # no address, and no number of an instance, whatever its sign


def spread(count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Boxes of unequal sides, whose grid has another number of voxels along each axis."""
    random = np.random.default_rng(seed)
    low = random.uniform((0, 0, 0), (9, 5, 2), (count, 3)).astype(np.float32)
    return low, low + random.uniform(0.05, 0.4, (count, 3)).astype(np.float32)


@pytest.mark.parametrize("count", [1, 40])
def test_a_build_tells_of_the_rows_that_it_writes(count: int) -> None:
    low, high = spread(count)
    top = TopGrid(count)
    held = top.entries.data["entry"]
    held[:] = UNTOUCHED
    told = np.zeros(len(held), bool)
    for table, first, last in top.build(low, high):
        assert table is top.entries and first < last
        told[first:last] = True
    assert (told == (held != UNTOUCHED)).all()
    built = grid_boxes.build_boxes(low, high)
    pointers, entries = lists_with_marked_ends(built.pointers, built.lists)
    assert (held[: pointers.size] == pointers.ravel()).all()
    assert (held[top.capacity : top.capacity + len(entries)] == entries).all() and len(entries) >= count
    assert told.sum() == pointers.size + len(entries)
    assert top.uniforms["top_low"] == tuple(built.low.astype(np.float32).tolist())
    assert top.uniforms["top_voxel"] == tuple(built.voxel.tolist())
    assert top.uniforms["top_resolution"] == tuple(built.resolution) and top.uniforms["top_lists"] == top.capacity


@pytest.mark.parametrize("room", [400, 120, 70])
def test_a_grid_without_room_gets_coarser_step_by_step(room: int) -> None:
    """By a fifth along each axis, down to the first that fits; a voxel stays a voxel."""
    low, high = spread(60)
    top = TopGrid(60)
    top.capacity = room
    tried = [grid_boxes.build_boxes(low, high)]
    while max(tried[-1].pointers.size, len(tried[-1].lists)) > room:
        finer = np.array(tried[-1].resolution)
        coarser = np.maximum(1, np.floor(0.8 * finer)).astype(int)
        assert (coarser < finer).any()
        x, y, z = coarser.tolist()
        tried.append(grid_boxes.build_boxes(low, high, (x, y, z)))
    found = top._build_within_capacity(low, high)
    assert len(tried) > 2 and found.resolution == tried[-1].resolution
    assert (found.pointers == tried[-1].pointers).all() and (found.lists == tried[-1].lists).all()


def test_a_grid_that_just_fits_stays() -> None:
    low, high = spread(60)
    built = grid_boxes.build_boxes(low, high)
    top = TopGrid(60)
    top.capacity = max(built.pointers.size, len(built.lists))
    assert top._build_within_capacity(low, high).resolution == built.resolution
