"""The bounding volume hierarchy: structure, links, bounds on depth, order of visits, and walks against Embree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from soups import KINDS, soup

from raystream.accel import bvh_build
from raystream.accel import bvh_build as bvh_kernels
from raystream.accel.bvh_build import MAX_DEPTH, Bvh, build, build_boxes, octant_links
from raystream.base.errors import ViewerError

FIELDS = ("low", "high", "second", "first", "count", "axis", "escape", "order")


def bounds_of(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Low and high (T, 3) of triangles."""
    return corners.min(axis=1), corners.max(axis=1)


def assert_sound(bvh: Bvh, low: np.ndarray, high: np.ndarray, leaf: int) -> None:
    """Everything that `Bvh` says of itself, for boxes low, high (T, 3) all of which are to be in it."""
    nodes = len(bvh.second)
    assert [getattr(bvh, name).dtype for name in FIELDS] == [np.float32] * 2 + [np.int32] * 3 + [np.int8] + [
        np.int32
    ] * 2
    assert bvh.low.shape == bvh.high.shape == (nodes, 3)
    assert bvh.first.shape == bvh.count.shape == bvh.axis.shape == bvh.escape.shape == (nodes,)
    assert np.array_equal(np.sort(bvh.order), np.arange(len(low)))  # every triangle once
    # Depth-first order, walked by hand: which boxes each node holds, its level, its end.
    begins, ends = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    levels, after = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    stack, place, expected = [(0, 0, -1)], 0, 0
    parents = np.full(nodes, -1)
    while stack:
        node, level, parent = stack.pop()
        assert node == expected
        expected += 1
        levels[node], begins[node], parents[node] = level, place, parent
        if bvh.second[node] < 0:
            assert bvh.first[node] == place and 1 <= bvh.count[node] <= leaf and bvh.axis[node] == 0
            place += bvh.count[node]
        else:
            assert bvh.count[node] == 0 and bvh.first[node] == 0 and 0 <= bvh.axis[node] <= 2
            assert node + 1 < bvh.second[node] < nodes
            stack += [(int(bvh.second[node]), level + 1, node), (node + 1, level + 1, node)]
    assert expected == nodes and place == len(low)
    ends[:], after[:] = 0, 0
    for node in range(nodes - 1, -1, -1):
        inner = bvh.second[node] >= 0
        after[node] = after[bvh.second[node]] if inner else node + 1
        ends[node] = ends[bvh.second[node]] if inner else begins[node] + bvh.count[node]
    assert np.array_equal(bvh.escape, after)
    assert bvh.depth == levels.max() <= MAX_DEPTH
    centre = low.astype(np.float64) + high
    for node in range(nodes):
        held = bvh.order[begins[node] : ends[node]]
        assert np.array_equal(bvh.low[node], low[held].min(axis=0))  # exact bounds
        assert np.array_equal(bvh.high[node], high[held].max(axis=0))
        if bvh.second[node] >= 0:
            axis, middle = bvh.axis[node], begins[bvh.second[node]]
            one, two = bvh.order[begins[node] : middle], bvh.order[middle : ends[node]]
            assert centre[one, axis].max() <= centre[two, axis].min()
    statistics, leaves = bvh.statistics, bvh.second < 0
    assert statistics["nodes"] == nodes == 2 * statistics["leaves"] - 1 and statistics["leaves"] == leaves.sum()
    assert statistics["depth"] == bvh.depth and statistics["largest_leaf"] == bvh.count.max()
    assert statistics["triangles_per_leaf"] == pytest.approx(len(low) / leaves.sum())
    extent = (bvh.high - bvh.low.astype(np.float64)).T
    area = extent[0] * extent[1] + extent[1] * extent[2] + extent[2] * extent[0]
    cost = np.where(leaves, bvh_kernels.TEST_COST * bvh.count, bvh_kernels.TRAVERSAL_COST)
    if area[0] > 0:
        assert statistics["sah_cost"] == pytest.approx((area * cost).sum() / area[0])


def same(one: Bvh, two: Bvh) -> bool:
    """Whether two hierarchies have the same bits."""
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in FIELDS) and one.depth == two.depth


# -- structure -----------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 90),
    leaf=st.integers(1, 6),
    grid=st.sampled_from([1, 2, 3, 1000]),
    flat=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    exponent=st.integers(-44, 37),
    method=st.sampled_from(["sah", "midpoint"]),
)
def test_trees_of_degenerate_soups_are_sound(seed, count, leaf, grid, flat, exponent, method) -> None:
    """Points, needles, coplanar and repeated triangles, at scales from denormal numbers to float32's largest."""
    rng = np.random.default_rng(seed)
    corners = rng.integers(-grid, grid + 1, (count, 3, 3)) / grid * 10.0**exponent
    corners[..., np.flatnonzero(flat)] = 0.25 * 10.0**exponent
    corners[: count // 3] = corners[0]
    corners[count // 2 :, 1] = corners[count // 2 :, 2]
    corners = corners.astype(np.float32)
    leaf = 1 if method == "midpoint" else leaf
    assert_sound(build(corners, method, leaf), *bounds_of(corners), leaf)


@pytest.mark.parametrize("method", ["sah", "midpoint"])
def test_loops_give_the_same_tree_compiled_or_not(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS:
        corners = soup(kind, np.random.default_rng(5), 60)
        monkeypatch.setattr(bvh_build, "MIN_COMPILED", 0)
        one, links = build(corners, method), octant_links(build(corners, method))
        monkeypatch.setattr(bvh_build, "MIN_COMPILED", 1000)
        two = build(corners, method)
        assert same(one, two) and np.array_equal(links, octant_links(two))


@pytest.mark.parametrize("method", ["sah", "midpoint"])
def test_the_tree_is_the_same_whatever_the_jobs_and_threads(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corners = soup("tiny", np.random.default_rng(6), 12_000)
    trees = []
    for workers, grain in ((1, 1 << 12), (4, 1 << 12), (3, 300), (1, 1 << 20)):
        monkeypatch.setattr(bvh_build.os, "sched_getaffinity", lambda process, n=workers: set(range(n)), raising=False)
        monkeypatch.setattr(bvh_build, "MAX_JOB_BOXES", grain)
        trees.append(build(corners, method))
    assert all(same(trees[0], tree) for tree in trees[1:])
    assert_sound(trees[0], *bounds_of(corners), 4)


# -- what the splits are by ----------------------------------------------------------------------------------------


def half_area(low: np.ndarray, high: np.ndarray) -> float:
    """Half the surface of the box around boxes low, high (n, 3)."""
    x, y, z = high.max(axis=0).astype(np.float64) - low.min(axis=0)
    return x * y + y * z + z * x


def sweep(low: np.ndarray, high: np.ndarray) -> float:
    """The least cost, half surface times boxes on both sides, of all splits in the order of centres along an axis."""
    best = np.inf
    for axis in range(3):
        order = np.argsort(low[:, axis].astype(np.float64) + high[:, axis], kind="stable")
        for k in range(1, len(low)):
            one, two = order[:k], order[k:]
            best = min(best, half_area(low[one], high[one]) * k + half_area(low[two], high[two]) * (len(low) - k))
    return best


def cost_of(bvh: Bvh, node: int, counts: np.ndarray) -> float:
    """The same of an inner node's split; counts (N,): boxes in each subtree."""
    pair = [node + 1, bvh.second[node]]
    return sum(half_area(bvh.low[[i]], bvh.high[[i]]) * counts[i] for i in pair)


def subtree_counts(bvh: Bvh) -> np.ndarray:
    """Boxes below each node (N,)."""
    upto = np.concatenate([[0], np.cumsum(bvh.count)])
    return upto[bvh.escape] - upto[:-1]


@pytest.mark.parametrize("kind", ["random", "tiny", "slivers"])
def test_small_parts_are_split_where_it_costs_least_and_leaves_where_that_costs_less(kind: str) -> None:
    for seed in range(20):
        corners = soup(kind, np.random.default_rng(seed), bvh_kernels.MAX_EXACT_SPLIT)
        bvh = build(corners)
        counts = subtree_counts(bvh)
        upto = np.concatenate([[0], np.cumsum(bvh.count)])
        low, high = bounds_of(corners[bvh.order])
        for node in range(len(bvh.second)):
            held = slice(upto[node], upto[bvh.escape[node]])
            n, area = counts[node], half_area(low[held], high[held])
            split = bvh_kernels.TRAVERSAL_COST * area + bvh_kernels.TEST_COST * sweep(low[held], high[held])
            if bvh.second[node] >= 0:
                assert cost_of(bvh, node, counts) == pytest.approx(sweep(low[held], high[held]))
                assert n > 4 or split < bvh_kernels.TEST_COST * area * n * (1 + 1e-9)
            else:
                assert n == 1 or split >= bvh_kernels.TEST_COST * area * n * (1 - 1e-9)


def test_midpoints_are_of_the_box_along_cycling_axes() -> None:
    corners = soup("tiny", np.random.default_rng(4), 300)
    bvh = build(corners, "midpoint")
    low, high = (bound.astype(np.float64) for bound in bounds_of(corners))
    upto, stack, inner = np.concatenate([[0], np.cumsum(bvh.count)]), [(0, 0)], 0
    while stack:
        node, level = stack.pop()
        if bvh.second[node] < 0:
            assert bvh.count[node] == 1
            continue
        held = bvh.order[upto[node] : upto[bvh.escape[node]]]
        first = bvh.order[upto[node] : upto[bvh.second[node]]]
        for axis in ((level + turn) % 3 for turn in range(3)):  # the next axis where all lie on one side
            lower = (low + high)[held, axis] < low[held, axis].min() + high[held, axis].max()
            if 0 < lower.sum() < len(held):
                assert bvh.axis[node] == axis and set(first) == set(held[lower])
                inner += 1
                break
        stack += [(node + 1, level + 1), (int(bvh.second[node]), level + 1)]
    assert inner > 250


# -- degenerate input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sah", "midpoint"])
def test_nothing_to_hit_gives_one_leaf_of_nothing(method: str) -> None:
    for corners in (np.zeros((0, 3, 3), np.float32), np.full((5, 3, 3), np.nan, np.float32)):
        bvh = build(corners, method)
        assert bvh.second.tolist() == [-1] and bvh.count.tolist() == [0] and bvh.escape.tolist() == [1]
        assert len(bvh.order) == 0 and bvh.depth == 0 and bvh.statistics["left_out"] == len(corners)
        assert [getattr(bvh, name).dtype for name in FIELDS] == [
            getattr(build(np.ones((1, 3, 3))), n).dtype for n in FIELDS
        ]
        assert octant_links(bvh).tolist() == [[[1, 1]]] * 8


def test_triangles_that_are_not_finite_are_left_out_and_numbers_stay() -> None:
    corners = soup("random", np.random.default_rng(1), 200)
    bad = [0, 7, 55, 199]
    for number, value in zip(bad, (np.nan, np.inf, -np.inf, np.nan), strict=True):
        corners[number, number % 3, number % 2] = value
    corners[100, 0], corners[100, 1] = np.inf, -np.inf  # a sum of them is no number, too
    good = np.setdiff1d(np.arange(200), [*bad, 100])
    bvh = build(corners)
    assert np.array_equal(np.sort(bvh.order), good) and bvh.statistics["left_out"] == 5
    again = build(corners[good])
    assert np.array_equal(good[again.order], bvh.order) and np.array_equal(again.low, bvh.low)


@pytest.mark.parametrize("method", ["sah", "midpoint"])
@pytest.mark.parametrize("tail", [0, 3_000])
def test_depth_is_bounded_whatever_the_input(method: str, tail: int) -> None:
    """Places that shrink by halves: every split by value takes one triangle off, and what is left is as bad again."""
    places = np.concatenate([2.0 ** -np.arange(0.0, 120.0), np.full(tail, 2.0**-121)])
    size = np.concatenate([places[:120] * 1e-3, np.geomspace(1e-38, 1e-44, tail)])
    shape = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1]])
    corners = places[:, None, None] + size[:, None, None] * shape
    for leaf in (1, 4):
        bvh = build(corners.astype(np.float32), method, leaf)
        assert_sound(bvh, *bounds_of(corners.astype(np.float32)), 1 if method == "midpoint" else leaf)
        assert bvh.depth <= MAX_DEPTH
    if method == "midpoint" and not tail:
        assert bvh.depth > 40  # the input is an adversary


def test_boxes_of_instances() -> None:
    rng = np.random.default_rng(7)
    low = rng.uniform(-1, 1, (1000, 3)).astype(np.float32)
    high = low + rng.uniform(0, 0.2, low.shape).astype(np.float32)
    for leaf in (1, 3):
        bvh = build_boxes(low, high, leaf)
        assert_sound(bvh, low, high, leaf)
    low[3], high[4], low[5, 0] = np.nan, np.inf, high[5, 0] + 1  # not finite, not finite, empty
    bvh = build_boxes(low, high)
    assert np.array_equal(np.sort(bvh.order), np.setdiff1d(np.arange(1000), [3, 4, 5]))
    assert build_boxes(low[:0], high[:0]).second.tolist() == [-1]


@pytest.mark.parametrize(
    "call",
    [
        lambda c: build(c, "bottom-up"),
        lambda c: build(c, leaf=256),
        lambda c: build(c, leaf=True),
        lambda c: build(np.zeros((4, 3, 2), np.float32)),
        lambda c: build_boxes(c[:, 0], c[:3, 1]),
        lambda c: build_boxes(c, c),
        lambda c: build(np.broadcast_to(c[:1], (2**24 + 1, 3, 3))),
    ],
)
def test_bad_input_is_one_clear_line(call) -> None:
    with pytest.raises(ViewerError) as told:
        call(soup("random", np.random.default_rng(1), 6))
    assert str(told.value).startswith("bvh: ") and "\n" not in str(told.value)


# -- links and hits ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sah", "midpoint"])
def test_octant_links_visit_every_node_front_to_back(method: str) -> None:
    corners = soup("tiny", np.random.default_rng(8), 400)
    bvh = build(corners, method)
    links, nodes = octant_links(bvh), len(bvh.second)
    assert links.shape == (8, nodes, 2) and links.dtype == np.int32
    leaves = bvh.second < 0
    for octant in range(8):
        node, seen, stack = 0, [], []
        want = [0]
        while node < nodes:
            seen.append(node)
            assert node == want.pop()
            if not leaves[node]:
                pair = [node + 1, int(bvh.second[node])]
                near = (octant >> bvh.axis[node]) & 1  # towards lower coordinates the second child is nearer
                want += [pair[1 - near], pair[near]]
            node = int(links[octant, node, 0])
        assert not want and not stack and sorted(seen) == list(range(nodes))
        # A miss skips the subtree and no more: what comes next is what would come after its last leaf.
        position = np.empty(nodes + 1, np.int64)
        position[seen], position[nodes] = np.arange(nodes), nodes
        size = bvh.escape - np.arange(nodes)
        assert np.array_equal(position[links[octant, :, 1]], position[:nodes] + size)
    assert np.array_equal(links[0, :, 1], bvh.escape) and (links[:, leaves, 0] == links[:, leaves, 1]).all()


def test_trees_beyond_the_cache_have_larger_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    corners = soup("random", np.random.default_rng(2), 2000)
    small = build(corners, leaf=8)
    monkeypatch.setattr(bvh_build, "MAX_CACHED_BOXES", 1000)
    large = build(corners, leaf=8)
    assert large.statistics["leaves"] < small.statistics["leaves"]
    assert large.statistics["triangles_per_leaf"] > small.statistics["triangles_per_leaf"]
