"""Estimates over the map by stencil routing: the same search as over a sorted list, against NumPy in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gl_objects import living

import raystream
from raystream import Renderer
from raystream.base.errors import ViewerError
from raystream.photons.grid import PhotonGrid
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.photon_map import map_settings

SINGLE: dict[str, Any] = {"machine": "singlepass", "program": "photon"}
FEW: dict[str, Any] = {"photons": 1500, "photon_bounces": 3, "estimate": "nearest"}
COARSE: dict[str, Any] = {"photon_grid": "5x3x7", "photon_radius": 150.0}  # in the box, of 550: no cell is a cube
FULL: dict[str, Any] = {"photon_map": "stencil", "footprint": 3}  # nine photons in a cell, of up to a hundred
POINT: dict[str, Any] = {"pixel_filter": "point", "sampler": "independent"}
SIZE = (8, 8)


@pytest.fixture(scope="module")
def cornell() -> raystream.Scene:
    return raystream.load("cornell")


def cells_of(renderer: Renderer) -> tuple[list[np.ndarray], np.ndarray]:
    """For each cell of the renderer's map its photons in their order, and all photons, with the powers that estimates
    see; without those that the map does not hold."""
    maps = renderer.photon_map
    with renderer.device.current():
        read = {name: stream.read() for name, stream in maps.streams.items()}
    photons = read["photons"].ravel()
    edge, found = renderer.settings.footprint, read["footprints"]["photon"]
    wide = found.shape[1] // edge
    blocks = found.reshape(-1, edge, wide, edge).transpose(0, 2, 1, 3).reshape(-1, edge * edge)
    rows = read["routed_cells"].ravel()
    held = [blocks[cell, ::-1][: rows["held"][cell]] for cell in range(maps.grid.cells)]
    for cell, numbers in enumerate(held):
        powers, scale = photons["power"][numbers], rows["scale"][cell]
        photons["power"][numbers] = np.where(scale < 0, -scale, powers * scale)
    return held, photons


def shells(grid: PhotonGrid, position: np.ndarray) -> Iterator[tuple[list[tuple[int, float]], float]]:
    """Of each shell around a position the cells in their order, each with its squared distance; and the shell's own."""
    low, edge, count = (np.array(part, float) for part in (grid.low, grid.cell, grid.resolution))
    axes = [np.arange(int(n)) for n in count]
    z, y, x = (part.ravel() for part in np.meshgrid(*axes[::-1], indexing="ij"))
    at = np.stack([x, y, z], axis=1)
    middle = np.clip(np.floor((position - low) / edge), 0, count - 1)
    corner = low + at * edge
    apart = np.maximum(np.maximum(corner - position, position - corner - edge), 0)
    squares, rings = (apart**2).sum(axis=1), np.abs(at - middle).max(axis=1)
    for ring in range(int(rings.max()) + 1):
        inside = np.flatnonzero(rings == ring)
        yield [(int(k), squares[k]) for k in inside], float(squares[rings >= ring].min())


def search(
    renderer: Renderer, held: list[np.ndarray], photons: np.ndarray, position: np.ndarray
) -> tuple[list[int], float]:
    """The photons of an estimate, and the square of its radius: by the rules of the search."""
    settings, found, square = renderer.settings, list[int](), 0.0
    k, limit = settings.nearest, settings.photon_radius**2
    for cells, nearest in shells(renderer.photon_map.grid, position):
        enough = len(found) >= k
        if nearest > (square if enough else limit) or (enough and settings.estimate == "published"):
            break
        for cell, away in cells:
            if away > (square if len(found) >= k else limit):
                continue
            for number in held[cell]:
                apart = ((photons["position"][number].astype(float) - position) ** 2).sum()
                if apart <= (square if len(found) >= k else limit):
                    square = max(square, apart) if len(found) < k else square
                    found.append(int(number))
    return found, square if len(found) >= k else limit


def test_estimates_are_those_of_brute_force(cornell: raystream.Scene) -> None:
    """For a radius that k photons set, one that all of them share, and the published end of the search."""
    renderer = Renderer(cornell, **SINGLE, **FEW, **COARSE, **POINT, **FULL)
    plain = Renderer(cornell, **{**SINGLE, "program": "whitted"}, **POINT).render(SIZE, spp=1).linear
    origins, directions = (part.reshape(-1, 3) for part in renderer.camera.rays(*SIZE))
    every = {"nearest": 5000, "redistribution": "power"}
    for chosen in ({"nearest": 20}, every, {"nearest": 20, "estimate": "published"}):
        renderer.update(**{"estimate": "nearest", **chosen})
        picture = renderer.render(SIZE, spp=1, layers=("albedo", "normal", "depth"))
        added = (picture.linear.astype(float) - plain).reshape(-1, 3)
        held, photons = cells_of(renderer)
        depth, normal = picture.layers["depth"].ravel(), picture.layers["normal"].reshape(-1, 3).astype(float)
        hit = np.flatnonzero(np.isfinite(depth) & (plain.reshape(-1, 3).max(axis=1) < 5))  # not the lamp itself
        assert len(hit) > 40
        right = 0
        for pixel in hit:
            some, square = search(renderer, held, photons, origins[pixel] + directions[pixel] * depth[pixel])
            facing = photons["direction"][some].astype(float) @ normal[pixel] < 0
            power = photons["power"][some][facing].astype(float).sum(axis=0)
            wanted = power / (np.pi * square) * picture.layers["albedo"].reshape(-1, 3)[pixel] / np.pi
            # Float32 sums of up to hundreds, of which direct light is taken away.
            right += bool(np.abs(added[pixel] - wanted).max() <= 1e-4 * wanted.max() + 1e-6)
        assert right >= len(hit) - 2, chosen  # a photon or a cell may lie on the edge by float32, not by float64


def test_machines_agree_to_the_bit(cornell: raystream.Scene) -> None:
    first = None
    for machine in ({"machine": "singlepass"}, {"fuse": "surface"}):
        options = {**FEW, **COARSE, **FULL, "photons": 500, "machine": "multipass", **machine}
        linear = Renderer(cornell, program="photon", **options).render((8, 8), spp=2).linear
        first = linear if first is None else first
        assert linear.tobytes() == first.tobytes() and linear.max() > 0, machine


def test_both_maps_are_one_where_no_cell_is_full(cornell: raystream.Scene) -> None:
    """Photons are in the same order, so that bits are the same; of a hashed grid, too."""
    for chosen in ({"photons": 300}, {"photons": 200, "photon_radius": 20.0, "estimate": "progressive"}):
        kinds = ({"photon_map": "sort"}, {"photon_map": "stencil", "footprint": 6})
        one, other = (
            Renderer(cornell, **{**SINGLE, **FEW, **chosen, **kind}).render(SIZE, spp=2).linear for kind in kinds
        )
        assert one.tobytes() == other.tobytes() and one.max() > 0


def test_full_buckets_of_a_hash_keep_their_power(cornell: raystream.Scene) -> None:
    """A footprint serves a bucket. A photon of four stands for all, so that single pixels differ, and sums do not:
    2,048 estimates of about a hundred photons each, within 3 %; without redistribution a good part is lost."""
    chosen = {**SINGLE, "photons": 8000, "photon_radius": 40.0, "footprint": 2}
    sort, count, none = (
        Renderer(cornell, **chosen, **kind).render((64, 32), spp=1).linear.mean()
        for kind in (
            {},
            {"photon_map": "stencil"},
            {"photon_map": "stencil", "redistribution": "none"},
        )
    )
    assert abs(count / sort - 1) < 0.03 and none < 0.9 * sort


def test_the_map_is_made_when_it_must_be(cornell: raystream.Scene) -> None:
    renderer = Renderer(cornell, **SINGLE, **FEW, photon_map="stencil")
    maps, tiny = renderer.photon_map, (4, 4)
    renderer.render(tiny, spp=2)
    renderer.update(camera="278,273,-700 278,273,0", nearest=10, light_samples=2)
    renderer.render(tiny, spp=1)
    assert (maps.trace_count, maps.build_count) == (1, 1)  # not for the camera, and what an estimate asks for
    for number, change in enumerate(
        ({"footprint": 2}, {"redistribution": "power"}, {"photon_points": "read-back"}, {"photon_grid": "3x3x3"})
    ):
        renderer.update(**change)
        renderer.render(tiny, spp=1)
        assert (maps.trace_count, maps.build_count) == (1, 2 + number)  # other cells of the same photons
    renderer.move({0: np.diag([1.0, 0.99, 1.0, 1.0])})
    renderer.render(tiny, spp=1)
    assert (maps.trace_count, maps.build_count) == (2, 6)
    plain = Settings()
    assert map_settings(plain) == map_settings(plain.replace(footprint=8, redistribution="none"))  # of a sorted list


def test_routing_serves_on_where_it_fits_and_is_freed_where_not(cornell: raystream.Scene) -> None:
    renderer = Renderer(cornell, **SINGLE, **FEW, photon_map="stencil")

    def footprints(**changes: Any) -> Any:
        renderer.update(**changes)
        renderer.render((4, 4), spp=1)
        return renderer.photon_map.streams["footprints"]

    one = footprints()
    assert footprints(seed=5) is one and footprints(redistribution="power") is one  # other photons, same cells
    sizes = [(each["footprint"], footprints(**each).size) for each in ({"footprint": 2}, {"footprint": 3})]
    assert sizes[0][1][0] * 3 == sizes[1][1][0] * 2  # texels of the same cells
    before = living(renderer.device)
    other = footprints(footprint=2)
    assert footprints(photon_points="read-back") is not other is not footprints(photon_grid="3x3x3")
    footprints(footprint=3, photon_points="fetch", photon_grid="auto")
    assert living(renderer.device) == before


def test_what_does_not_fit_is_said(cornell: raystream.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    big = Renderer(cornell, **SINGLE, **FEW, photon_map="stencil", photon_grid="250x16x250", footprint=16)
    with pytest.raises(ViewerError, match=r"1,000,000 cells of 16 x 16 texels exceed a texture \(take fewer cells"):
        big.render((4, 4), spp=1)
    with pytest.raises(ViewerError, match=r"photon grid: 300 x 300 x 300 cells"):
        Renderer(cornell, **SINGLE, **FEW, photon_grid=(300, 300, 300)).render((4, 4), spp=1)
    for wrong in ("3x3", "0x1x1", "1x1x1x1", "axbxc", (1, 2), 5, "1x1x70000"):
        with pytest.raises(ViewerError, match="expected three whole numbers such as 250x1x250"):
            Renderer(cornell, **SINGLE, photon_grid=wrong)
    monkeypatch.setattr("raystream.renderer.photon_map.available", lambda: 10 << 20)
    for kind in ("sort", "stencil"):
        small = Renderer(cornell, **SINGLE, **FEW, photon_map=kind)
        if small.device.software:
            with pytest.raises(ViewerError, match=r"photon map: takes about .* MiB of memory, and 10 MiB are free"):
                small.update(photons=1 << 17)
                small.render((4, 4), spp=1)
