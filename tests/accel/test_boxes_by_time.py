"""Trees whose boxes follow what moves: hits of rays at any time against those of every triangle, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from soups import soup
from walker import through, walker

from raystream.accel import bvh_build, bvh_tree, primitives, structures
from raystream.accel.bvh_build import Bvh
from raystream.accel.motion import Moving, builder_corners, with_keys
from raystream.stream.declare.kernel import Module

SHIFTS = {"near": 0.3, "far": 3.0, "from afar": 1e4}  # of corners between two keys
RAYS = 3000


def in_motion(seed: int, keys: int, shift: float, still: int = 20) -> tuple[np.ndarray, Moving]:
    """Sixty triangles, of which the first ``still`` do not move."""
    rng = np.random.default_rng(seed)
    corners = soup("random", rng, 60)
    way = rng.normal(size=(keys, 60, 1, 3)) * shift + 0.1 * rng.normal(size=(keys, 60, 3, 3))
    way[0], way[:, :still] = 0.0, 0.0
    moving = Moving.of(list((corners + way).astype(np.float32)))
    assert moving is not None and len(moving.indices) == 60 - still
    return corners, moving


def made(corners: np.ndarray, moving: Moving | None, build: str = "sah") -> Bvh:
    bounds = builder_corners(corners, moving, mean=True)
    return bvh_tree.with_boxes_at_keys(bvh_build.build(bounds, build, leaf=4), bounds, moving)


def keyed_test(corners: np.ndarray, moving: Moving, order: np.ndarray) -> Module:
    return with_keys(primitives.triangle_module("watertight", corners, 8.0, order), moving, order)


def at_any_time(moving: Moving, seed: int) -> np.ndarray:
    """Rays at the triangles' ways, at every 2^-16 of the shutter as likely, among them its ends and those of keys."""
    rng = np.random.default_rng(seed)
    given = through(moving.corners.min(axis=(0, 1, 2)), moving.corners.max(axis=(0, 1, 2)), rng, RAYS)
    moments = rng.integers(0, 1 << 16, RAYS)
    moments[:100], moments[100:200] = 0, (1 << 16) - 1
    segments = len(moving.corners) - 1
    moments[200:600] = np.clip(rng.integers(0, segments + 1, 400) * 65536 // segments, 0, 65535)
    aim = rng.integers(0, len(moving.indices), RAYS)  # at a point of a triangle at about that time
    at = moments / 65536 * segments
    key = np.minimum(at.astype(int), segments - 1)
    own = moving.corners[key, aim] + (at - key)[:, None, None] * (
        moving.corners[key + 1, aim] - moving.corners[key, aim]
    )
    edge = np.where((np.arange(RAYS) % 2 == 0)[:, None], rng.dirichlet([1, 1, 1], RAYS), [[1.0, 0.0, 0.0]])
    targets = np.einsum("rk,rkx->rx", edge, own)
    towards = targets - given["origin"]
    half = np.arange(RAYS) % 3 > 0
    given["direction"][half] = (towards / np.linalg.norm(towards, axis=1, keepdims=True))[half]
    given["any_hit"] = 2 * moments
    return given


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("keys", [2, 3, 7])
def test_hits_at_any_time_are_those_of_all_triangles(device: Any, keys: int, shift: str) -> None:
    corners, moving = in_motion(keys, keys, SHIFTS[shift])
    given, order = at_any_time(moving, keys), np.arange(len(corners), dtype=np.int32)
    expected = walker(device, structures.loop_module(len(corners)), keyed_test(corners, moving, order))(given)
    assert 0.2 < (expected["triangle"] >= 0).mean() < 1
    for build in bvh_build.METHODS:
        built = made(corners, moving, build)
        assert built.keys is not None and built.keys.shape == (keys, len(built.low), 2, 3)
        for traversal in bvh_tree.TRAVERSALS:
            test = keyed_test(corners, moving, built.order)
            found = walker(device, bvh_tree.module([built], traversal), test)(given)
            assert found.tobytes() == expected.tobytes(), (build, traversal)


@pytest.mark.parametrize("room, segments", [(1 << 24, 6), (671, 3), (383, 2), (200, 1), (1, 0)])
def test_where_there_is_no_room_boxes_span_several_keys(
    device: Any, monkeypatch: pytest.MonkeyPatch, room: int, segments: int
) -> None:
    """Down to none: boxes over the whole exposure."""
    corners, moving = in_motion(1, 7, SHIFTS["near"])
    given, built = at_any_time(moving, 1), made(corners, moving)
    order = np.arange(len(corners), dtype=np.int32)
    expected = walker(device, structures.loop_module(len(corners)), keyed_test(corners, moving, order))(given)
    monkeypatch.setattr(bvh_tree, "MAX_KEY_TEXELS", room)
    for traversal in bvh_tree.TRAVERSALS:
        module = bvh_tree.module([built], traversal)
        if traversal == "stack":
            assert module.uniforms["bvh_keys"][1][2] == max(segments, 1)
        test = keyed_test(corners, moving, built.order)
        assert walker(device, module, test)(given).tobytes() == expected.tobytes(), traversal


@pytest.mark.parametrize("traversal", bvh_tree.TRAVERSALS)
def test_trees_of_which_some_move(device: Any, traversal: str) -> None:
    """Those that move lie last in the table, whatever their number; of the others the boxes are as they were."""
    parts = [in_motion(3, 3, 0.5), in_motion(4, 3, 0.5), in_motion(5, 3, 0.5)]
    moves = [parts[0][1], None, parts[2][1]]
    bvhs = [made(corners, moving) for (corners, _), moving in zip(parts, moves, strict=True)]
    module = bvh_tree.module(bvhs, traversal)
    alone = bvh_tree.module([bvhs[1]], traversal)
    name = "child" if traversal == "stack" else "first"
    rows, own = (module_.memories[0].data for module_ in (module, alone))
    for field in set(own.dtype.names) - {name, "first"}:
        assert np.array_equal(rows[field][: len(own)], own[field])
    corners = np.concatenate([corners[bvh.order] for (corners, _), bvh in zip(parts, bvhs, strict=True)])
    numbers, ways = [], []
    for k in (0, 2):
        place = np.full(60, -1)
        place[moves[k].indices] = np.arange(len(moves[k].indices))
        at = np.flatnonzero(place[bvhs[k].order] >= 0)
        numbers.append(60 * k + at)
        ways.append(moves[k].corners[:, place[bvhs[k].order[at]]])
    moving = Moving(np.concatenate(numbers), np.concatenate(ways, axis=1))
    test = with_keys(primitives.triangle_module("watertight", corners, 8.0), moving)
    found = walker(device, module, test)
    for number, bvh in enumerate(bvhs):
        given = at_any_time(moving, number)
        own_moving = moves[number]
        single = corners[60 * number : 60 * number + 60]
        if own_moving is None:
            plain = primitives.triangle_module("watertight", single, 8.0)
        else:
            shifted = Moving(numbers[number // 2] - 60 * number, ways[number // 2])
            plain = with_keys(primitives.triangle_module("watertight", single, 8.0), shifted)
        expected = walker(device, structures.loop_module(60), plain)(given)
        expected["triangle"] += np.where(expected["triangle"] >= 0, 60 * number, 0).astype(np.int32)
        assert found(given, number).tobytes() == expected.tobytes(), (number, len(bvh.order))


def test_a_still_triangle_under_one_that_will_move_is_kept() -> None:
    """They are equal at one time alone; of two that stand still the first is enough."""
    corners = np.tile(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), (4, 1, 1))
    moving = Moving.of([corners, corners + np.float32([[[0, 0, 1]]] + [[[0, 0, 0]]] * 3)])
    assert moving is not None and moving.indices.tolist() == [0]
    found = builder_corners(corners, moving)
    assert np.isfinite(found).all(axis=(1, 2)).tolist() == [True, True, False, False]
    assert np.array_equal(found[1], corners[1]) and found[0, :, 2].max() == pytest.approx(1, abs=1e-6)  # of its way


def test_boxes_hold_their_triangles_at_every_key() -> None:
    """Tightly: each is the bounds of its leaves' corners, and of the nodes below."""
    corners, moving = in_motion(9, 5, 1.0)
    built = made(corners, moving)
    assert built.keys is not None
    for key, boxes in enumerate(built.keys):
        own = corners.copy()
        own[moving.indices] = moving.corners[key]
        for node in range(len(built.low)):
            leaves = np.arange(node, built.escape[node])
            leaves = leaves[built.second[leaves] < 0]
            inside = own[built.order[built.first[leaves[0]] : built.first[leaves[-1]] + built.count[leaves[-1]]]]
            assert np.array_equal(boxes[node], [inside.min(axis=(0, 1)), inside.max(axis=(0, 1))])
    assert (built.low <= built.keys[:, :, 0]).all() and (built.high >= built.keys[:, :, 1]).all()


def test_merged_boxes_hold_those_of_all_keys() -> None:
    """And are no larger than boxes over the whole exposure, where motion is even."""
    _, moving = in_motion(9, 7, 1.0)
    keys = np.stack([moving.corners.min(axis=2), moving.corners.max(axis=2)], axis=2)
    for segments in (1, 2, 3, 6):
        found = bvh_tree.merge_segments(keys, segments).astype(np.float64)
        assert len(found) == segments + 1
        for k in range(7):
            at = k / 6 * segments
            first = min(int(at), segments - 1)
            line = found[first] + (at - first) * (found[first + 1] - found[first])
            assert (line[:, 0] <= keys[k, :, 0] + 1e-6).all() and (line[:, 1] >= keys[k, :, 1] - 1e-6).all()
    even = keys[:1] + np.arange(7)[:, None, None, None] * np.float32(0.25)
    assert np.allclose(bvh_tree.merge_segments(even, 1), even[[0, -1]], atol=1e-6)


def test_rounding_of_corners_that_come_from_afar(device: Any) -> None:
    """Towards the last key coordinates are small, and errors still those of the first: an edge at x = 0.1 of triangles
    one behind the other is off by some 5e-4, in each by another error."""
    rng = np.random.default_rng(5)
    last = np.tile(np.float32([[0.1, 0, 0], [0.1, 1, 0], [1.1, 0, 0]]), (64, 1, 1))
    last[..., 2] = np.arange(64)[:, None]
    last[..., 0] += rng.uniform(0, 1e-3, 64)[:, None].astype(np.float32)
    first = last.copy()
    first[..., 0] += (8192 + rng.uniform(-1, 1, 64))[:, None].astype(np.float32)  # numbers of two precisions
    moving = Moving.of([first, last])
    assert moving is not None
    given = through([0, 0, 0], [1, 1, 1], rng, 4 * RAYS)
    given["origin"] = np.stack(
        [0.1 + rng.uniform(-1e-3, 2e-3, 4 * RAYS), np.full(4 * RAYS, 0.3), [-1.0] * (4 * RAYS)], 1
    )
    given["origin"][:, 0] += 8192 / 65536  # at the last moment
    given["direction"], given["any_hit"] = [0, 0, 1], 2 * 65535
    order = np.arange(64, dtype=np.int32)
    expected = walker(device, structures.loop_module(64), keyed_test(first, moving, order))(given)
    assert 0.1 < (expected["triangle"] >= 0).mean() <= 1
    built = made(first, moving)
    for traversal in bvh_tree.TRAVERSALS:
        found = walker(device, bvh_tree.module([built], traversal), keyed_test(first, moving, built.order))(given)
        assert found.tobytes() == expected.tobytes(), traversal
