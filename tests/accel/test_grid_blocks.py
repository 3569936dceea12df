"""Many grids in one memory: the allocator against the grids themselves, and the walk of each against it alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from soups import KINDS, soup
from walker import rays, through, walker

from raystream.accel import primitives
from raystream.accel.grid import blocks as grid_blocks
from raystream.accel.grid import grid
from raystream.accel.grid.blocks import BLOCK, MAX_BLOCKS_PER_EDGE, Blocks, allocate, tile_edge, volume_shape
from raystream.accel.grid.build import Grid, build
from raystream.accel.grid.grid import lists_with_marked_ends
from raystream.base.errors import ViewerError
from raystream.stream.gl.device import shared_device


def numbered(resolution: tuple[int, int, int], rng: np.random.Generator) -> Grid:
    """A grid of random pointers into a list that is as long as it has voxels."""
    nx, ny, nz = resolution
    lists = np.tile(np.float32([0, -1]), nx * ny * nz)
    pointers = (2 * rng.permutation(nx * ny * nz)).reshape(nz, ny, nx).astype(np.float32)
    pointers[rng.uniform(size=pointers.shape) < 0.3] = -1
    return Grid(np.zeros(3, np.float32), np.ones(3, np.float32), resolution, pointers, lists, {"triangles": 1})


def looked_up(blocks: Blocks, number: int) -> np.ndarray:
    """(nz, ny, nx) addresses of a grid's voxels, found as a ray finds them."""
    header = blocks.headers[number]
    nx, ny, nz = (int(count) for count in header["resolution"])
    edges = np.array([tile_edge(count) for count in (nx, ny, nz)])
    counts = -(-header["resolution"] // edges)
    voxel = np.stack(np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")[::-1], -1)
    tile = voxel // edges
    at = header["table"] + tile[..., 0] + counts[0] * (tile[..., 1] + counts[1] * tile[..., 2])
    x, y, z = np.moveaxis(blocks.tiles["corner"][at] + voxel % edges, -1, 0)
    return blocks.volume[z, y, x]


def assert_held(blocks: Blocks, grids: list[Grid]) -> None:
    """Every grid's voxels are in the volume, at places of their own, and their lists behind those of the others."""
    base = lists = 0
    for number, alone in enumerate(grids):
        pointers, entries = lists_with_marked_ends(alone.pointers, alone.lists)
        found = looked_up(blocks, number)
        np.testing.assert_array_equal(found, np.where(pointers < 0, -1, pointers + lists))
        part = blocks.lists["entry"][lists : lists + len(entries)]
        numbers = np.where(entries < 0, -entries - 1, entries)
        np.testing.assert_array_equal(np.where(part < 0, -part - 1, part) - base, numbers)
        np.testing.assert_array_equal(part < 0, entries < 0)
        base, lists = base + int(alone.statistics["triangles"]), lists + len(entries)
    assert lists == len(blocks.lists)
    # nothing is held twice, and nothing else is there
    assert (blocks.volume >= 0).sum() == sum((alone.pointers >= 0).sum() for alone in grids)


span = st.one_of(st.integers(1, 20), st.sampled_from([31, 32, 33, 47]))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(span, st.integers(1, 18), st.integers(1, 18)), min_size=1, max_size=12), st.integers(0, 9))
def test_grids_of_any_shape_are_held_within_the_waste_that_is_promised(resolutions, seed) -> None:
    rng = np.random.default_rng(seed)
    grids = [numbered(resolution, rng) for resolution in resolutions]
    blocks = allocate(grids)
    assert_held(blocks, grids)
    shapes = {tuple(map(tile_edge, resolution)) for resolution in resolutions}
    rounded = sum(np.prod([-(-n // tile_edge(n)) * tile_edge(n) for n in resolution]) for resolution in resolutions)
    voxels = blocks.statistics["voxels"]
    assert rounded < 8 * voxels
    full = -(-rounded // BLOCK**3) + len(shapes)
    assert blocks.statistics["blocks"] <= max(full * 1.05, full)
    assert max(blocks.volume.shape) <= MAX_BLOCKS_PER_EDGE * BLOCK


@pytest.mark.parametrize("blocks", [1, 2, 17, 127, 257, 4095, 4096, 4097, 5003, 30011, 200_000])
def test_volumes_are_small_and_fit_the_device(blocks: int) -> None:
    wide, tall, deep = volume_shape(blocks)
    assert blocks <= wide * tall * deep <= 1.02 * blocks + 1
    assert max(wide, tall, deep) <= (MAX_BLOCKS_PER_EDGE if blocks <= MAX_BLOCKS_PER_EDGE**3 else blocks ** (1 / 3) + 3)


@pytest.fixture(scope="module")
def objects() -> list[tuple[np.ndarray, Grid]]:
    """Soups of every kind at resolutions from one voxel to more than a block, an empty one among them."""
    made = []
    resolutions = [(1, 1, 1), (20, 3, 1), (18, 33, 20), (8, 9, 17), (16, 8, 4), (2, 5, 32), "auto", 12]
    resolutions += [(32, 17, 3), (5, 16, 18)]  # whole blocks along an axis, and others behind them
    for number, kind in enumerate(2 * KINDS):
        corners = soup(kind, np.random.default_rng(number), 40 + number)
        made.append((corners, build(corners, resolutions[(3 * number) % len(resolutions)])))
    made.insert(3, (np.zeros((0, 3, 3), np.float32), build(np.zeros((0, 3, 3), np.float32))))
    return made


def test_every_grid_is_walked_as_if_it_were_alone(device, objects) -> None:
    corners = [part for part, _ in objects]
    everything = np.concatenate(corners)
    bases = np.cumsum([0, *map(len, corners[:-1])])
    modules = grid_blocks.module([made for _, made in objects]), primitives.triangle_module("watertight", everything)
    together = walker(device, *modules)
    given, owners, expected = [], [], []
    for number, (own, made) in enumerate(objects):
        rng = np.random.default_rng(100 + number)
        some = own if len(own) else np.float32([[[0, 0, 0], [1, 1, 1], [1, 0, 0]]])
        low, high = some.min(axis=(0, 1)), some.max(axis=(0, 1))
        sent = through(low, np.where(high > low, high, high + 1), rng, 800)
        points = np.einsum("rk,rkx->rx", rng.dirichlet([1, 1, 1], 400), some[rng.integers(0, len(some), 400)])
        aimed = rays(sent["origin"][:400], points - sent["origin"][:400])
        sent = np.concatenate([sent, aimed])
        given.append(sent)
        owners.append(np.full(len(sent), number))
        if len(own):
            hits = walker(device, grid.module(made), primitives.triangle_module("watertight", own))(sent)
            hits["triangle"][hits["triangle"] >= 0] += bases[number]
            assert (hits["triangle"] >= 0).mean() > 0.1
        else:
            hits = np.zeros(len(sent), expected[0].dtype)
            hits["t"], hits["triangle"] = sent["t_max"], -1
        expected.append(hits)
    mixed = np.random.default_rng(0).permutation(sum(map(len, given)))  # neighbouring rays in different objects
    hits = together(np.concatenate(given)[mixed], np.concatenate(owners)[mixed])
    assert hits.tobytes() == np.concatenate(expected)[mixed].tobytes()
    small = shared_device(None, True, False)  # as a driver without large buffer textures: a 3-D texture
    with small.current():
        again = walker(small, *modules)(np.concatenate(given)[mixed], np.concatenate(owners)[mixed])
    assert again.tobytes() == hits.tobytes()


def test_what_does_not_fit_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ViewerError, match="there is none"):
        allocate([])
    with pytest.raises(ViewerError, match="shape"):
        allocate([numbered((2, 2, 2), rng)], bases=[0, 1])
    with pytest.raises(ViewerError, match="triangles"):
        allocate([numbered((2, 2, 2), rng)], bases=[1 << 24])
    large = numbered((128, 128, 128), rng)
    full = Grid(large.low, large.voxel, large.resolution, np.maximum(large.pointers, 0), large.lists, {"triangles": 1})
    with pytest.raises(ViewerError, match="list entries"):
        allocate([full] * 9)
