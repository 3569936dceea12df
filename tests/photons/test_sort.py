"""Photons by cell: the sort and stencil routing against NumPy, to the last integer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.kernels.photons import ENTRY, FIRST, PHOTON
from raystream.photons.grid import (
    PhotonCompaction,
    PhotonGrid,
    PhotonSort,
    StencilRouting,
    cell_size,
    list_size,
    read_vertices,
)
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


def result(job: Any) -> Any:
    """What a job returns; its draws are made, and its `Host` functions called."""
    answer = None
    while True:
        try:
            step = job.send(answer)
        except StopIteration as end:
            return end.value
        answer = step.draw() if isinstance(step, Draw) else step.function()


def photons_in(device: Any, cells: np.ndarray, grid: PhotonGrid, rng: np.random.Generator) -> tuple[Stream, np.ndarray]:
    """A stream with a photon in the middle of each of the numbered cells of a grid of one row."""
    width = 64
    records = np.zeros(width * max(1, -(-len(cells) // width)), PHOTON.dtype)
    records["position"][: len(cells), 0] = cells + 0.5
    records["position"][:, 1:] = 0.5
    records["stored"][: len(cells)] = 1
    records["power"] = rng.uniform(0, 2, (len(records), 3))
    stream = Stream(device, PHOTON, (width, len(records) // width))
    stream.write(records.reshape(-1, width))
    return stream, records


def kept_of(device: Any, stream: Stream, grid: PhotonGrid) -> tuple[Stream, int]:
    """The list of those that are stored, and their number."""
    kept, keep = Stream(device, ENTRY, stream.size), PhotonCompaction(device)
    count = keep.run(stream, stream.size[0] * stream.size[1], grid, kept)
    keep.release()
    return kept, count


def held_by(routing: StencilRouting) -> list[np.ndarray]:
    """Photons by cell in the order of the footprint's texels, the last first; none where a texel is as cleared, -1."""
    edge, found = routing.edge, routing.map.read()
    wide = found.shape[1] // edge
    blocks = found.reshape(-1, edge, wide, edge).transpose(0, 2, 1, 3).reshape(-1, edge * edge)[: routing.count, ::-1]
    held = []
    for number, block in enumerate(blocks):
        there = block["photon"] >= 0
        assert (block["cell"][there] == number).all()
        held.append(block["photon"][there])
    return held


def routed(device: Any, cells: np.ndarray, count: int, edge: int, **how: Any) -> tuple[list[np.ndarray], Any, Any, Any]:
    """Photons by cell as `held_by`; stencil counts, totals, records."""
    grid = PhotonGrid.over((0, 0, 0), (count, 1, 1), (count, 1, 1))
    stream, records = photons_in(device, cells, grid, np.random.default_rng(1))
    kept, stored = kept_of(device, stream, grid)
    assert stored == len(cells)
    routing = StencilRouting(device, count, edge, **how)
    routing.map.clear([(-1, -1, 0, 0)])
    run(routing.route(stream, kept, stored, grid))
    run(routing.add(stream, kept, stored, grid))
    answer = held_by(routing), result(routing.read_counts()), routing.totals.read().ravel()[:count], records
    for each in (routing, stream, kept):
        each.release()
    return answer


@pytest.mark.parametrize("edge", [1, 2, 3, 4, 15, 16])
def test_nothing_is_lost_while_a_cell_has_room(device: Any, edge: int) -> None:
    rng = np.random.default_rng(edge)
    count = 37
    cells = np.repeat(np.arange(count), rng.integers(0, edge * edge + 1, count))
    rng.shuffle(cells)
    held, counts, totals, records = routed(device, cells, count, edge)
    for number in range(count):
        assert np.array_equal(held[number], np.flatnonzero(cells == number))  # in the photons' order
    wanted = np.bincount(cells, minlength=count)
    assert np.array_equal(counts, wanted % 256) and np.array_equal(totals["photons"], wanted)  # 256 fill one of 16 x 16
    for channel in range(3):
        power = np.bincount(cells, records["power"][: len(cells), channel].astype(float), count)
        assert np.allclose(totals["power"][:, channel], power, rtol=1e-5)  # float32 sums of up to 225


ROUND_THE_LARGEST = (254, 255, 256, 257)  # that a stencil of eight bits counts to


@pytest.mark.parametrize(
    ("edge", "photons"),
    [(2, 5), (4, 17), (15, 224), (15, 226), *((edge, n) for edge in (2, 4, 15) for n in ROUND_THE_LARGEST)],
)
def test_a_full_cell_keeps_the_first_and_counts_to_255(device: Any, edge: int, photons: int) -> None:
    held, counts, totals, _ = routed(device, np.full(photons, 3), 9, edge)
    assert np.array_equal(held[3], np.arange(min(photons, edge * edge)))
    assert counts[3] == min(photons, 255) and totals["photons"][3] == photons
    assert not any(len(one) for number, one in enumerate(held) if number != 3)


@pytest.mark.parametrize("photons", [10, *ROUND_THE_LARGEST, 300])
def test_sixteen_texels_an_edge_must_wrap_around(device: Any, photons: int) -> None:
    """As published, where the stencil saturates at the value that passes, the newest photon fills every texel."""
    held, counts, _, _ = routed(device, np.full(photons, 3), 9, 16)
    assert set(held[3].tolist()) == set(range(max(0, photons - 256), photons))
    assert counts[3] == photons % 256
    held, counts, totals, _ = routed(device, np.full(photons, 3), 9, 16, saturate=True)
    assert set(held[3].tolist()) == {photons - 1}
    assert counts[3] == min(photons, 255) and totals["photons"][3] == photons


def redistributed(
    device: Any, cells: np.ndarray, count: int, way: str, power: Any = None, edge: int = 2, fetched: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[bytes, bytes]]:
    """(cells, 3) power of all photons, and of those held as estimates have it; photons of the cells; map and cells."""
    grid = PhotonGrid.over((0, 0, 0), (count, 1, 1), (count, 1, 1))
    stream, records = photons_in(device, cells, grid, np.random.default_rng(2))
    if power is not None:
        records["power"][: len(cells)] = power
        stream.write(records.reshape(stream.size[::-1]))
    kept, stored = kept_of(device, stream, grid)
    routing = StencilRouting(device, count, edge, fetched=fetched)
    routing.map.clear([(-1, -1, 0, 0)])
    result(routing.make(stream, kept, stored, grid, way))
    after, rows = np.zeros((count, 3)), routing.cells.read().ravel()[:count]
    for number, held in enumerate(held_by(routing)):
        assert len(held) == rows["held"][number] == min((cells == number).sum(), edge * edge)
        scale, powers = rows["scale"][number].astype(float), records["power"][held].astype(float)
        after[number] = np.where(scale < 0, -scale, powers * scale).sum(axis=0)
    before = np.stack([np.bincount(cells, records["power"][: len(cells), k], count) for k in range(3)], axis=1)
    answer = before, after, np.bincount(cells, minlength=count), (routing.map.read().tobytes(), rows.tobytes())
    for each in (routing, stream, kept):
        each.release()
    return answer


def crowd(photons: int = 400, cells: int = 20) -> np.ndarray:
    """Cells of photons, from an empty one to crowded ones, out of order."""
    found = (np.random.default_rng(5).uniform(size=photons) ** 2 * (cells - 1)).astype(int)
    return found


@pytest.mark.parametrize("kind", ["coloured", "lost channel"])
def test_power_by_cell_is_as_before_redistribution_by_power(device: Any, kind: str) -> None:
    """1e-5: float32 sums of up to 100 powers. A channel that none of the photons held has comes back, too."""
    cells = crowd()
    power = None
    if kind == "lost channel":
        power = np.where(np.arange(len(cells))[:, None] < 200, (1.0, 0.0, 0.0), (0.0, 0.25, 0.0))
    before, after, _, _ = redistributed(device, cells, 20, "power", power)
    np.testing.assert_allclose(after, before, rtol=1e-5)
    assert before[-1].max() == 0 and (kind == "coloured" or (before[0, 1] > 0 and before[:, 2].max() == 0))


def test_power_by_cell_is_as_before_by_count_of_equal_photons(device: Any) -> None:
    """As published; of unequal ones in the mean alone."""
    before, after, counts, _ = redistributed(device, crowd(), 20, "count", (0.3, 0.2, 0.1))
    np.testing.assert_allclose(after, before, rtol=1e-5)
    assert counts.max() > 50
    before, after, _, _ = redistributed(device, crowd(), 20, "count")
    assert np.abs(after / np.maximum(before, 1e-9) - 1)[0].max() > 0.01
    assert abs(after.sum() / before.sum() - 1) < 0.25  # four photons stand for a hundred


@pytest.mark.parametrize("photons", [0, 3, 400])
def test_photons_read_back_make_the_same_map(device: Any, photons: int) -> None:
    fetched, read_back = (
        redistributed(device, crowd(photons), 20, "power", fetched=fetched)[3] for fetched in (True, False)
    )
    assert fetched == read_back


def test_what_is_not_stored_is_not_read_back(device: Any) -> None:
    records = np.zeros(8, PHOTON.dtype)
    records["stored"], records["power"][:, 0] = [0, 1, 1, 0, 0, 0, 1, 0], np.arange(8)
    stream = Stream(device, PHOTON, (4, 2))
    stream.write(records.reshape(2, 4))
    found = read_vertices(stream)
    assert found["number"].tolist() == [1, 2, 6] and found["carried"][:, 0].tolist() == [1, 2, 6]
    stream.release()


def test_what_does_not_fit_is_refused(device: Any) -> None:
    for edge in (0, 17):
        with pytest.raises(ViewerError, match="1 to 16 an edge"):
            StencilRouting(device, 10, edge)
    with pytest.raises(ViewerError, match="exceed a texture"):
        StencilRouting(device, 1 << 24, 16)
