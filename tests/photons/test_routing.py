"""Stencil routing: photons in the texels of their cells, counts and powers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_sort import run

from viewer.base.errors import ViewerError
from viewer.kernels.photons import PHOTON
from viewer.photons.grid import PhotonGrid
from viewer.photons.routing import StencilRouting
from viewer.stream.gl.stream import Stream


def result(job: Any) -> Any:
    """What a job returns; `Host` functions are called."""
    answer = None
    while True:
        try:
            step = job.send(answer)
        except StopIteration as end:
            return end.value
        answer = step.function()


def photons_in(device: Any, cells: np.ndarray, grid: PhotonGrid, rng: np.random.Generator) -> tuple[Stream, np.ndarray]:
    """A stream with a photon in the middle of each of the numbered cells of a grid of one row."""
    width = 64
    records = np.zeros(width * -(-len(cells) // width), PHOTON.dtype)
    records["position"][: len(cells), 0] = cells + 0.5
    records["position"][:, 1:] = 0.5
    records["stored"][: len(cells)] = 1
    records["power"] = rng.uniform(0, 2, (len(records), 3))
    stream = Stream(device, PHOTON, (width, len(records) // width))
    stream.write(records.reshape(-1, width))
    return stream, records


def routed(device: Any, cells: np.ndarray, count: int, edge: int, **how: Any) -> tuple[list[np.ndarray], Any, Any, Any]:
    """Photons by cell in the order of the footprint's texels, the last first; stencil counts, totals, records."""
    grid = PhotonGrid.over((0, 0, 0), (count, 1, 1), (count, 1, 1))
    stream, records = photons_in(device, cells, grid, np.random.default_rng(1))
    routing = StencilRouting(device, count, edge, **how)
    routing.map.clear([(-1, -1, 0, 0)])
    run(routing.route(stream, len(cells), grid))
    run(routing.add(stream, len(cells), grid))
    found = routing.map.read()
    wide = found.shape[1] // edge
    blocks = found.reshape(-1, edge, wide, edge).transpose(0, 2, 1, 3).reshape(-1, edge * edge)[:count, ::-1]
    held = []
    for number, block in enumerate(blocks):
        there = block["photon"] >= 0
        assert (block["cell"][there] == number).all()
        held.append(block["photon"][there])
    answer = held, result(routing.read_counts()), routing.totals.read().ravel()[:count], records
    routing.release()
    stream.release()
    return answer


@pytest.mark.parametrize("edge", [1, 2, 3, 4, 15])
def test_nothing_is_lost_while_a_cell_has_room(device: Any, edge: int) -> None:
    rng = np.random.default_rng(edge)
    count = 37
    cells = np.repeat(np.arange(count), rng.integers(0, edge * edge + 1, count))
    rng.shuffle(cells)
    held, counts, totals, records = routed(device, cells, count, edge)
    for number in range(count):
        assert np.array_equal(held[number], np.flatnonzero(cells == number))  # in the photons' order
    wanted = np.bincount(cells, minlength=count)
    assert np.array_equal(counts, wanted) and np.array_equal(totals["photons"], wanted)
    for channel in range(3):
        power = np.bincount(cells, records["power"][: len(cells), channel].astype(float), count)
        assert np.allclose(totals["power"][:, channel], power, rtol=1e-5)  # float32 sums of up to 225


@pytest.mark.parametrize(("edge", "photons"), [(2, 5), (4, 17), (4, 254), (4, 255), (4, 256), (4, 257), (15, 260)])
def test_a_full_cell_keeps_the_first_and_counts_to_255(device: Any, edge: int, photons: int) -> None:
    held, counts, totals, _ = routed(device, np.full(photons, 3), 9, edge)
    assert np.array_equal(held[3], np.arange(min(photons, edge * edge)))
    assert counts[3] == min(photons, 255) and totals["photons"][3] == photons
    assert not any(len(one) for number, one in enumerate(held) if number != 3)


@pytest.mark.parametrize("photons", [10, 255, 256, 257, 300])
def test_sixteen_texels_an_edge_must_wrap_around(device: Any, photons: int) -> None:
    """As published, where the stencil saturates at the value that passes, the newest photon fills every texel."""
    held, counts, _, _ = routed(device, np.full(photons, 3), 9, 16)
    assert set(held[3].tolist()) == set(range(max(0, photons - 256), photons))
    assert counts[3] == photons % 256
    held, _, _, _ = routed(device, np.full(photons, 3), 9, 16, saturate=True)
    assert set(held[3].tolist()) == {photons - 1}


def test_what_does_not_fit_is_refused(device: Any) -> None:
    for edge in (0, 17):
        with pytest.raises(ViewerError, match="1 to 16 an edge"):
            StencilRouting(device, 10, edge)
    with pytest.raises(ViewerError, match="exceed a texture"):
        StencilRouting(device, 1 << 24, 16)
