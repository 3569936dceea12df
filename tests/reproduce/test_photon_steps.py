"""The photon map's stages step by step: the published sort, routing and search."""

from __future__ import annotations

import numpy as np
import pytest
from reproduction.simulators.photons import bitonic_passes, bitonic_sort, converge, route, search

from raystream.base.jit import run


@pytest.mark.parametrize("n, passes", [(2, 1), (8, 6), (64, 21), (1024, 55)])
def test_the_published_listing_sorts(n: int, passes: int) -> None:
    rng = np.random.default_rng(n)
    assert len(bitonic_passes(n)) == passes
    for keys in (rng.random(n), rng.integers(0, 3, n), np.arange(n), np.arange(n)[::-1], np.ones(n)):
        order = bitonic_sort(keys)
        assert (keys[order] == np.sort(keys)).all() and (np.sort(order) == np.arange(n)).all()


@pytest.mark.parametrize(
    "photons, edge, wraps, left",
    [(3, 2, False, 3), (4, 2, False, 4), (9, 2, False, 4), (225, 15, False, 225), (256, 16, False, 1)]
    + [(256, 16, True, 256), (257, 16, True, 256)],
)
def test_photons_that_routing_leaves(photons: int, edge: int, wraps: bool, left: int) -> None:
    assert len(set(route(photons, edge, wraps).tolist()) - {-1}) == left


def test_routing_fills_from_the_last_texel_and_nothing_routes_without_a_stencil() -> None:
    assert route(3, 2).tolist() == [-1, 2, 1, 0]
    assert route(3, 2, stencil=False).tolist() == [2, 2, 2, 2]


def test_a_search_of_all_photons_sums_their_powers_and_grows_with_its_visits() -> None:
    rng = np.random.default_rng(3)
    photons = rng.random((40, 3)) * (4, 1, 4)
    cells = (photons[:, 2].astype(int) * 1) * 4 + photons[:, 0].astype(int)
    order = np.argsort(cells, kind="stable")
    first = np.searchsorted(cells[order], np.arange(17)).astype(np.int64)
    positions, powers = np.ascontiguousarray(photons[order]), rng.random((40, 3))
    points, visits = np.array([[2.0, 0.5, 2.0], [0.3, 0.5, 3.1]]), np.array([1, 5, 20], np.int64)
    out, took = np.zeros((4, 2, 4)), np.zeros(2, np.int64)
    box = np.zeros(3), np.ones(3), np.array([4, 1, 4], np.int64)
    run(converge, points, positions, powers, first, *box, 1000, 10.0, visits, took, out, small=True)
    assert out[-1, :, :3] == pytest.approx(np.broadcast_to(powers.sum(axis=0), (2, 3)))
    farthest = ((positions[None] - points[:, None]) ** 2).sum(axis=-1).max(axis=1)
    assert out[-1, :, 3] == pytest.approx(farthest)
    assert (np.diff(out[..., :3], axis=0) >= 0).all() and (took >= 40).all()


def test_the_compiled_search_is_that_of_single_steps() -> None:
    """In a plane: the same photons are counted, the same radius is left."""
    rng = np.random.default_rng(5)
    plane = rng.random((60, 2)) * 5
    cells = plane[:, 1].astype(int) * 5 + plane[:, 0].astype(int)
    order = np.argsort(cells, kind="stable")
    first = np.searchsorted(cells[order], np.arange(26)).astype(np.int64)
    positions = np.zeros((60, 3))
    positions[:, 0], positions[:, 2] = plane[order, 0], plane[order, 1]
    for point, wanted in (((2.4, 2.6), 5), ((0.2, 4.7), 9), ((4.9, 0.1), 2)):
        steps, _ = search(point, plane[order], wanted, 9.0, 5)
        out, took = np.zeros((2, 1, 4)), np.zeros(1, np.int64)
        place, box = np.array([[point[0], 0.0, point[1]]]), (np.zeros(3), np.ones(3), np.array([5, 1, 5], np.int64))
        visits = np.array([1 << 30], np.int64)
        run(converge, place, positions, np.ones((60, 3)), first, *box, wanted, 9.0, visits, took, out, small=True)
        assert out[-1, 0, 0] == steps[-1].counted and out[-1, 0, 3] ** 0.5 == pytest.approx(steps[-1].radius)
