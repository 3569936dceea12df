"""Occupied cells of the photon map's grid, and its streams under the inspector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.kernels.photons import STORED
from raystream.photons.grid import PhotonGrid
from raystream.renderer.device.tile_job import Tile
from raystream.viewport.debug_views.inspector import Inspector
from raystream.viewport.debug_views.photons import cell_wires, occupied
from raystream.viewport.picture_texture import SEARCHING, PictureTexture


@pytest.mark.parametrize(
    "grid", [PhotonGrid.over((0, 0, 0), (2, 1, 1), (4, 2, 3)), PhotonGrid.hashed((0, 0, 0), 0.3, 16)]
)
def test_every_photon_is_in_a_cell(grid: PhotonGrid) -> None:
    positions = np.random.default_rng(5).uniform((-0.2, 0, 0), (2, 1, 1), (300, 3)).astype(np.float32)
    cells, counts = occupied(positions, grid)
    assert counts.sum() == 300 and (np.diff(counts) <= 0).all() and len(np.unique(cells, axis=0)) == len(cells)
    assert (cells[:, 0] < 0).any() == bool(grid.buckets)  # a hash has cells beyond its corner
    lines, ink = cell_wires(cells, counts, grid)
    assert lines.shape == (12 * len(cells), 2, 3) and ink.shape == (12 * len(cells), 4)
    low, high = lines.reshape(-1, 24, 3).min(axis=1), lines.reshape(-1, 24, 3).max(axis=1)
    edge = np.asarray(grid.cell)
    np.testing.assert_allclose(high - low, np.broadcast_to(edge, low.shape), rtol=1e-9)
    for number in (0, len(cells) - 1):
        inside = np.clip(positions, 0, None) if not grid.buckets else positions
        within = ((inside >= low[number] - 1e-6) & (inside <= high[number] + 1e-6)).all(axis=1)
        assert within.sum() >= counts[number]
    np.testing.assert_array_equal(ink[:12], np.broadcast_to(ink[0], (12, 4)))
    assert (ink[0] != ink[-1]).any()  # the fullest has another colour than the emptiest


def test_the_inspector_shows_the_map(device: Any) -> None:
    """Streams of other sizes than the rays' as they are; of the list's cells the photons that they hold; the estimate
    while it grows, a pass at a time."""
    few = {"photons": 256, "caustic_photons": 256, "photon_bounces": 3, "estimate": "nearest", "nearest": 8}
    program = {"program": "photon", "machine": "singlepass", "pixel_filter": "point", "depth": 1}
    renderer = Renderer(raystream.load("cornell_photons"), device=device, **program, **few)
    renderer.render((8, 8), spp=1)
    maps = renderer.photon_map
    assert maps is not None and maps.stored > 50
    inspector = Inspector(renderer, (8, 8))
    inspector.begin(renderer.camera)
    position, stored = inspector.values("photons.position")
    assert stored.sum() == maps.stored and not inspector.by_ray("photons.position")
    counts, there = inspector.values("first_photons.count")
    caustic = inspector.values("photons.stored")[0][stored] == STORED["caustic"]
    numbers = maps.grid.numbers(position[stored]) + caustic * (maps.grid.cells // 2)  # behind the others'
    assert maps.grid.kinds == 2 and caustic.any() and not caustic.all()
    expected = np.bincount(numbers, minlength=maps.grid.cells)
    np.testing.assert_array_equal(counts[there], expected)
    assert inspector.values("photon_list.photon")[1].sum() == maps.stored
    assert inspector.show("photon_list.cell").picture.shape[:2] == maps.streams["photon_list"].size[::-1]
    seen = []
    while len(seen) < 4 and inspector.step():
        if inspector.passes[-1].state == "photon":
            seen.append(inspector.values("estimate.count")[0].sum())
    assert seen[1] > seen[0]  # photon by photon, until a ray turns to caustics, and counts anew
    sums, squares = inspector.values("estimate.sum")[0], inspector.values("estimate.square")[0]
    running = inspector.values("estimate.radiance")[0]
    found = squares > 0
    np.testing.assert_allclose(running[found], sums[found] / (np.pi * squares[found][:, None]), rtol=1e-6)
    assert found.any() and not running[~found].any()
    growing_on_a_canvas(device, inspector, running)
    inspector.release()


def growing_on_a_canvas(device: Any, inspector: Inspector, running: np.ndarray) -> None:
    """The window shows of rays that are searching what their sample has so far; of the others what it had."""
    machine, (width, height) = inspector.machine, inspector.size
    canvas = PictureTexture(device)
    canvas.begin((width, height), False)
    before = canvas.linear()
    assert canvas.grow(Tile(slice(0, height), slice(0, width), machine))
    program = machine.linked.program
    searching = np.isin(machine.state.read()["at"], [program.number(state) for state in SEARCHING])
    weight, light = machine.streams["path"].read()["throughput"], machine.streams["radiance"].read()["rgb"]
    assert searching.any() and not searching.all() and running[searching].any()
    expected = np.where(searching[..., None], light + weight * running, before)
    np.testing.assert_allclose(canvas.linear(), expected, rtol=1e-6)  # roundings of a quotient and a sum
    film = machine.streams["film"].read()  # and of the samples before it, the mean of all
    film["sum"], film["count"] = (0.5, 1.0, 2.0), 3.0
    machine.streams["film"].write(film)
    canvas.begin((width, height), False)
    assert canvas.grow(Tile(slice(0, height), slice(0, width), machine))
    expected = np.where(searching[..., None], (light + weight * running + (0.5, 1.0, 2.0)) / 4.0, before)
    np.testing.assert_allclose(canvas.linear(), expected, rtol=1e-6)
