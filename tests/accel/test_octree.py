"""The octree: its cells and lists, and the hits of all triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from soups import KINDS, soup
from walker import through, walker

from raystream.accel import octree, primitives
from raystream.accel.grid import build as grid_build
from raystream.accel.grid import grid
from raystream.accel.octree import Octree


def dust(count: int, seed: int) -> np.ndarray:
    """(count, 3, 3) float32: small triangles in a unit cube, which soups of large ones leave undivided."""
    rng = np.random.default_rng(seed)
    return (rng.uniform(0, 1, (count, 1, 3)) + 0.03 * rng.normal(size=(count, 3, 3))).astype(np.float32)


def modules(corners: np.ndarray, tree: Octree) -> list[Any]:
    return [octree.module(tree), primitives.triangle_module("watertight", corners, 2.0)]


@pytest.mark.parametrize("count", [1, 2, 60, 700])
@pytest.mark.parametrize("kind", [*KINDS, "dust"])
def test_hits_are_those_of_all_triangles(device: Any, kind: str, count: int) -> None:
    """Loops interpreted and compiled; rays along axes, in the faces of cells, and through triangles."""
    rng = np.random.default_rng([len(kind), count])
    corners = dust(count, 1) if kind == "dust" else soup(kind, rng, count)
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    given = through(low, np.where(high > low, high, high + 1), rng, 4000)
    one = grid.module(grid_build.build(corners, (1, 1, 1)), "dda")
    every = walker(device, one, primitives.triangle_module("watertight", corners, 2.0))
    assert walker(device, *modules(corners, octree.build(corners)))(given).tobytes() == every(given).tobytes()


@pytest.mark.parametrize("count", [2, 9, 300])
def test_of_equal_triangles_the_lowest_number_is_hit(device: Any, count: int) -> None:
    corners = np.tile(np.float32([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]]), (count, 1, 1))
    given = through([0, 0, -0.5], [1, 1, 0.5], np.random.default_rng(1), 400)
    assert set(walker(device, *modules(corners, octree.build(corners)))(given)["triangle"].tolist()) == {-1, 0}


def test_leaves_list_triangles_in_order_and_every_one_of_them() -> None:
    corners = dust(500, 0)
    corners[7, 1, 2] = np.nan
    tree = octree.build(corners)
    assert len(tree.low) > 50
    leaf = tree.count > 0
    listed = [tree.lists[f : f + n] for f, n in zip(tree.first[leaf], tree.count[leaf], strict=True)]
    assert all((np.diff(part) > 0).all() for part in listed)
    assert np.array_equal(np.unique(tree.lists), np.delete(np.arange(500), 7))
    assert sum(map(len, listed)) == len(tree.lists) == tree.statistics["entries"]
    assert tree.statistics["left_out"] == 1 and (tree.children[leaf] == -1).all()
    below = tree.children[tree.children >= 0]
    assert np.array_equal(np.sort(below), np.arange(1, len(tree.low)))  # each but the root is one node's child
    parent = np.nonzero(tree.children >= 0)[0]
    assert (tree.low[below] >= tree.low[parent] - 1e-5).all() and (tree.high[below] <= tree.high[parent] + 1e-5).all()


def test_links_of_every_octant_visit_every_node_once_and_parents_before_children() -> None:
    tree = octree.build(dust(300, 3))
    assert len(tree.low) > 50
    links, total = octree.links(tree).reshape(8, -1), len(tree.low)
    for octant in range(8):
        node, order = 0, []
        while node < total:
            order.append(node)
            node = int(links["entered"][octant, node])
        assert sorted(order) == list(range(total))
        rank = np.argsort(order)
        for children in tree.children:
            there = [children[k ^ octant] for k in range(8) if children[k ^ octant] >= 0]
            assert (np.diff(rank[there]) > 0).all()
        assert (rank[np.append(links["missed"][octant], 0)[:-1] % total] > rank)[links["missed"][octant] < total].all()


def test_large_triangles_are_listed_where_their_planes_pass() -> None:
    """A slanted wall over small triangles is not in all cells of its box."""
    rng = np.random.default_rng(2)
    wall = np.float32([[[0, 0, 0], [1, 1, 0], [1, 1, 1]], [[0, 0, 0], [1, 1, 1], [0, 0, 1]]])
    dust = rng.uniform(0, 1, (3000, 1, 3)) + 0.004 * rng.normal(size=(3000, 3, 3))
    corners = np.concatenate([wall, dust]).astype(np.float32)
    tree, boxed = octree.build(corners), octree.build(corners, np.arange(len(corners)) < 2)
    of_wall = [int((each.lists < 2).sum()) for each in (tree, boxed)]
    assert 4 * of_wall[0] < of_wall[1]


def test_no_more_nodes_and_entries_than_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fullest cells are divided first; every triangle stays in a leaf."""
    corners = dust(2000, 5)
    whole = octree.build(corners)
    assert len(whole.low) > 400 and len(whole.lists) > 4000
    monkeypatch.setattr(octree, "MAX_NODES", 150)
    few = octree.build(corners)
    monkeypatch.setattr(octree, "MAX_NODES", 1 << 21)
    monkeypatch.setattr(octree, "MAX_ENTRIES", 3000)
    short = octree.build(corners)
    assert 100 < len(few.low) <= 150 and 2000 <= len(short.lists) <= 3000
    for tree in (few, short):
        assert np.array_equal(np.unique(tree.lists), np.arange(2000))
    assert few.count.max() < 0.25 * len(corners)


def test_a_fan_is_not_divided_for_ever() -> None:
    angle = np.linspace(0, 2 * np.pi, 401)
    rim = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    corners = np.stack([np.zeros((400, 3)), rim[:-1], rim[1:]], axis=1).astype(np.float32)
    tree = octree.build(corners)
    assert tree.depth < 12 and len(tree.lists) < 20 * len(corners)
