"""Photons by cell: the sort and the search against NumPy, to the last integer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.kernels.photons import ENTRY, FIRST, PHOTON
from raystream.photons.grid import PhotonCompaction, PhotonGrid, PhotonSort, cell_size, list_size
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Draw

KEYS = {
    "random": lambda rng, n, cells: rng.integers(0, cells, n),
    "equal": lambda rng, n, cells: np.full(n, cells // 2),
    "sorted": lambda rng, n, cells: np.sort(rng.integers(0, cells, n)),
    "reversed": lambda rng, n, cells: np.sort(rng.integers(0, cells, n))[::-1],
    "first and last empty": lambda rng, n, cells: rng.integers(cells // 3, cells // 2, n),
}


def run(job: Any) -> int:
    """Draws of a job."""
    count = 0
    for step in job:
        assert isinstance(step, Draw)
        step.draw()
        count += 1
    return count


def sorted_by_device(
    device: Any, keys: np.ndarray, cells: int, paired: bool = False
) -> tuple[np.ndarray, np.ndarray, int]:
    """The sorted list, the first photon of each cell and of one more, and the passes of the sort."""
    size = list_size(len(keys))
    sort = PhotonSort(device, size, paired)
    first = Stream(device, FIRST, cell_size(cells))
    entries = np.zeros(size[0] * size[1], ENTRY.dtype)
    entries["cell"], entries["photon"] = cells, np.arange(len(entries))
    entries["cell"][: len(keys)] = keys
    sort.list.write(entries.reshape(size[::-1]))
    passes = run(sort.sort())
    assert passes == sort.passes
    run(sort.search(first))
    found = sort.list.read().ravel(), first.read().ravel()[: cells + 1], passes
    sort.release()
    return found


@pytest.mark.parametrize("count", [2, 3, 8, 64, 777, 1024])
@pytest.mark.parametrize("kind", KEYS)
def test_sorted_and_found_as_by_numpy(device: Any, kind: str, count: int) -> None:
    cells = 300
    keys = KEYS[kind](np.random.default_rng(count), count, cells)
    found, first, _ = sorted_by_device(device, keys, cells)
    padded = np.full(len(found), cells)
    padded[:count] = keys
    order = np.lexsort((np.arange(len(found)), padded))
    assert np.array_equal(found["photon"], order)
    assert np.array_equal(found["cell"], padded[order])
    expected = np.searchsorted(padded[order], np.arange(cells + 1))
    assert np.array_equal(first["first"], expected)
    assert np.array_equal(first["count"][:cells], np.diff(expected))


@pytest.mark.parametrize(("count", "passes"), [(2, 1), (8, 4), (64, 12), (777, 30)])
@pytest.mark.parametrize("kind", KEYS)
def test_two_steps_in_a_pass_sort_as_well(device: Any, kind: str, count: int, passes: int) -> None:
    """A run of 2^k elements takes k steps, so ceil(k / 2) passes: 1 + 1 + 2 + 2 + 3 .."""
    keys = KEYS[kind](np.random.default_rng(count), count, 300)
    (one, first, single), (other, again, fewer) = (sorted_by_device(device, keys, 300, each) for each in (False, True))
    assert np.array_equal(one, other) and np.array_equal(first, again)
    assert fewer == passes <= single


@pytest.mark.parametrize(("count", "passes"), [(8, 6), (64, 21), (1024, 55), (5000, 91), (16_000, 105), (65_000, 136)])
def test_passes_are_the_published_number(device: Any, count: int, passes: int) -> None:
    """k (k + 1) / 2 for 2^k elements: 210 for 1024 x 1024 (Purcell 2004, section 6.2.2)."""
    exponent = int(np.log2(np.prod(list_size(count))))
    assert exponent * (exponent + 1) // 2 == passes
    if count <= 1024:
        assert sorted_by_device(device, np.zeros(count, int), 1)[2] == passes
    assert np.log2(np.prod(list_size(1 << 20))) == 20 and list_size(1 << 20) == (1024, 1024)


def test_what_is_not_stored_is_not_sorted(device: Any) -> None:
    rng = np.random.default_rng(0)
    grid = PhotonGrid.over((-1, 0, 2), (3, 0, 7), (5, 1, 9))  # a flat box has cells, too
    count, size = 200, (16, 16)
    photons = np.zeros(256, PHOTON.dtype)
    photons["position"] = rng.uniform((-1.5, -0.1, 1.5), (3.5, 0.1, 7.5), (256, 3))  # outside, too: clamped
    photons["stored"] = rng.integers(0, 3, 256)
    stream = Stream(device, PHOTON, size)
    stream.write(photons.reshape(size[::-1]))
    kept = Stream(device, ENTRY, size)
    keep = PhotonCompaction(device)
    number = keep.run(stream, count, grid, kept)
    assert number == (photons["stored"][:count] > 0).sum()
    sort = PhotonSort(device, list_size(number))
    run(sort.enter(kept, number, grid.cells))
    run(sort.sort())
    first = Stream(device, FIRST, cell_size(grid.cells))
    run(sort.search(first))
    assert sort.list.size[0] * sort.list.size[1] < 256  # sorted is what is stored
    keys = np.where(photons["stored"][:count] > 0, grid.numbers(photons["position"][:count]), grid.cells)
    stored = int((photons["stored"][:count] > 0).sum())
    assert np.array_equal(sort.list.read().ravel()["photon"][:stored], np.argsort(keys, kind="stable")[:stored])
    begins = first.read().ravel()["first"]
    assert begins[grid.cells] == stored and len(np.unique(keys)) > 20
    for each in (stream, first, sort, kept, keep):
        each.release()


@pytest.mark.parametrize(
    ("low", "high", "resolution", "cell"),
    [
        ((-1, 0, 2), (3, 0, 7), (5, 1, 9), (0.8, 7e-6, 5 / 9)),  # flat: a millionth of the largest coordinate
        ((-8, 1, 2), (-8, 1, 2), (2, 1, 4), (4e-6, 8e-6, 2e-6)),
        ((0, 0, 0), (0, 0, 0), (1, 1, 1), (1e-36, 1e-36, 1e-36)),
        ((1, 2, 3), (2, 4, 6), (10, 4, 1), (0.1, 0.5, 3)),
    ],
)
def test_cells_over_a_box(low: Any, high: Any, resolution: Any, cell: Any) -> None:
    for kinds in (1, 2):
        grid = PhotonGrid.over(low, high, resolution, kinds)
        np.testing.assert_array_equal(grid.cell, np.float32(cell))
        assert grid.low == low and grid.resolution == resolution
        assert grid.cells == kinds * np.prod(resolution)
        assert grid.uniforms == {
            "photon_grid_low": low,
            "photon_grid_cell": grid.cell,
            "photon_grid_resolution": resolution,
            "photon_grid_buckets": 0,
            "photon_grid_kinds": kinds,
        }


def test_cells_of_each_kind_count() -> None:
    """Numbers of cells stay below 2^24, those of both kinds of photons."""
    box = (0, 0, 0), (1, 1, 1)
    assert PhotonGrid.over(*box, (256, 256, 255)).cells == (1 << 24) - (1 << 16)
    assert PhotonGrid.over(*box, (256, 256, 127), 2).cells == (1 << 24) - (1 << 17)
    with pytest.raises(ViewerError, match="one to 8,388,607 cells in all"):
        PhotonGrid.over(*box, (256, 256, 128), 2)
    hashed = PhotonGrid.hashed((1, 2, 3), 0.25, 16, 2)
    assert (hashed.low, hashed.cell, hashed.resolution) == ((1, 2, 3), (0.25, 0.25, 0.25), (1, 1, 1))
    assert hashed.cells == 32 and hashed.uniforms["photon_grid_buckets"] == 16


def test_positions_are_in_their_cells() -> None:
    """Clamped to a box, and counted on beyond it by a hash."""
    at = np.array([(-1, 0, 2), (-0.2, 5, 7), (3, -5, 6.44), (9, 0, -9)])
    box, cells = PhotonGrid.over((-1, 0, 2), (3, 1, 7), (5, 2, 9)), [(0, 0, 0), (1, 1, 8), (4, 0, 7), (4, 0, 0)]
    at[1, 0] = -0.1
    np.testing.assert_array_equal(box.cells_of(at), cells)
    np.testing.assert_array_equal(box.numbers(at), [0, 86, 74, 4])
    hashed = PhotonGrid.hashed((-1, 0, 2), 0.5, 16)
    np.testing.assert_array_equal(hashed.cells_of(at), [(0, 0, 0), (1, 10, 10), (8, -10, 8), (20, 0, -22)])


@pytest.mark.parametrize("resolution", [(0, 1, 1), (256, 256, 256), (-1, 2, 2), (1, 1)])
def test_grids_that_cannot_be(resolution: tuple[int, ...]) -> None:
    with pytest.raises(ViewerError, match=r"photon grid: .* cells"):
        PhotonGrid.over((0, 0, 0), (1, 1, 1), resolution)
