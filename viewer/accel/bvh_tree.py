"""The bounding volume hierarchy as modules: one for each traversal, with its memories.

All traversals share an interface and find the same hits:

| traversal | state of a ray         | order                                | memories                       |
|-----------|------------------------|--------------------------------------|--------------------------------|
| stack     | a stack, in locals     | the nearer box first                 | both children's boxes together |
| octants   | the number of one node | front to back, by the ray's octant   | boxes; 8 escape indices a node |
| escape    | the number of one node | depth first, whatever the direction  | boxes; 1 escape index a node   |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.accel.bvh_build import MAX_DEPTH, Bvh, octant_links
from raystream.accel.motion import Moving
from raystream.base.errors import ViewerError
from raystream.base.jit import run
from raystream.kernels.records import RAY
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

# -- boxes of hierarchies by time: over triangles that move, nodes have a box at every key -----------------------------
# Corners are linear between two keys, and so within the boxes that are linear between those of the keys. Source: L.
# Grünschloß et al., "MSBVH: An Efficient Acceleration Data Structure for Ray Traced Motion Blur" (2011); S. Woop,
# A. T. Áfra and C. Benthin, "STBVH: A Spatial-Temporal BVH for Efficient Multi-Segment Motion Blur" (2017), linear
# bounds over several segments.

Boxes = NDArray[np.float32]  # (..., 2, 3): lowest and highest corners
MOVING_BOXES = "MOVING_BOXES"  # feature of the scene
# Of coordinates at any key: more than the errors of a corner and of a box between two keys, 5 half units in the last
# place each (raystream.accel.motion.ROUNDING is of corners alone).
ROUNDING = 2.0**-20
SMALL_WORK = 500  # triangles times keys up to which the loop is not worth compiling


def with_boxes_at_keys(bvh: Bvh, bounds: NDArray[np.float32], moving: Moving | None) -> Bvh:
    """The tree with the boxes of its nodes at every key; ``low`` and ``high`` are those over all keys. The tree itself
    where nothing moves. bounds : (T, 3, 3) float32, the corners that the tree was built over."""
    if moving is None or not len(bvh.order):
        return bvh
    row = np.full(len(bounds), -1, np.int64)
    row[moving.indices] = np.arange(len(moving.indices))
    keys = np.empty((len(moving.corners), len(bvh.low), 2, 3), np.float32)
    arrays = np.ascontiguousarray(bounds), np.ascontiguousarray(moving.corners), row
    tree = bvh.order, bvh.second, bvh.first, bvh.count
    run(boxes_at_keys, *arrays, *tree, keys, small=len(keys) * len(bvh.order) <= SMALL_WORK)
    enlarged_boxes = with_margin(keys)
    return replace(bvh, low=enlarged_boxes[:, :, 0].min(axis=0), high=enlarged_boxes[:, :, 1].max(axis=0), keys=keys)


def with_margin(keys: Boxes) -> Boxes:
    """Boxes (K, N, 2, 3) at keys, enlarged by the rounding of interpolation between them."""
    margin = np.float32(ROUNDING) * np.abs(keys).max(axis=0).max(axis=1)
    enlarged_boxes = np.empty_like(keys)
    np.subtract(keys[:, :, 0], margin, out=enlarged_boxes[:, :, 0])
    np.add(keys[:, :, 1], margin, out=enlarged_boxes[:, :, 1])
    return enlarged_boxes


def merge_segments(keys: Boxes, segments: int) -> Boxes:
    """Boxes (segments + 1, N, 2, 3) at fewer keys than ``keys`` (K, N, 2, 3) has: linear between two of them, they
    enclose the box of every key (Woop et al. 2017). segments : a divisor of K - 1."""
    step = (len(keys) - 1) // segments
    if step == 1:
        return keys
    merged_keys = keys[::step].astype(np.float64)
    boxes = merged_keys.copy()
    for segment in range(segments):
        outside = np.zeros(merged_keys.shape[1:])
        for k in range(1, step):
            line = merged_keys[segment] + k / step * (merged_keys[segment + 1] - merged_keys[segment])
            outside = np.maximum(outside, (line - keys[segment * step + k]) * [[1.0], [-1.0]])
        for end in (segment, segment + 1):
            boxes[end, :, 0] = np.minimum(boxes[end, :, 0], merged_keys[end, :, 0] - outside[:, 0])
            boxes[end, :, 1] = np.maximum(boxes[end, :, 1], merged_keys[end, :, 1] + outside[:, 1])
    return boxes.astype(np.float32)


def fitting_segments(segments: int, static_rows: int, moving_rows: int, limit: int) -> int:
    """The greatest divisor of ``segments`` with which ``static_rows``, and ``moving_rows`` for each key, are within the
    ``limit`` of rows; 0: there is none."""
    fitting = (n for n in range(segments, 0, -1) if segments % n == 0 and static_rows + moving_rows * (n + 1) <= limit)
    return next(fitting, 0)


def boxes_at_keys(bounds, corners, row, order, second, first, count, keys):
    """Write ``keys`` (K, N, 2, 3) float32, the boxes of a tree's nodes at every key. bounds : (T, 3, 3) float32, the
    triangles' corners. row : (T,) of a moving triangle in ``corners`` (K, M, 3, 3), -1 of the others."""
    for key in range(len(keys)):
        for node in range(len(second) - 1, -1, -1):
            for a in range(3):
                if second[node] >= 0:
                    keys[key, node, 0, a] = min(keys[key, node + 1, 0, a], keys[key, second[node], 0, a])
                    keys[key, node, 1, a] = max(keys[key, node + 1, 1, a], keys[key, second[node], 1, a])
                    continue
                keys[key, node, 0, a], keys[key, node, 1, a] = np.inf, -np.inf
                for k in range(first[node], first[node] + count[node]):
                    t = order[k]
                    for c in range(3):
                        value = bounds[t, c, a] if row[t] < 0 else corners[key, row[t], c, a]
                        keys[key, node, 0, a] = min(keys[key, node, 0, a], value)
                        keys[key, node, 1, a] = max(keys[key, node, 1, a], value)


# -- the bounding volume hierarchy as modules --------------------------------------------------------------------------

PROVIDES = ("accel_start", "accel_step", "accel_candidate", "accel_more", "accel_ends")
TRAVERSALS = ("stack", "octants", "escape")
MAX_IN_LEAF = 8  # triangles, as many as a stack reference can encode
STACK_STEP = 8  # stack sizes are a multiple of this: a moving scene's tree may get slightly deeper
MAX_KEY_TEXELS = 1 << 24  # of boxes at keys, 256 MiB
POP = 1 << 30  # not a reference: pop the stack; where it is empty, the traversal ends

STACK_TRAVERSAL = Record(
    "Traversal",
    Field("inverse", "vec3", about="1 / direction, zeros of the direction replaced"),
    Field("node", "int", about="next reference, or BVH_POP"),
    Field("leaf", "int", about="8 * address of the next candidate triangle + those that follow it in the leaf"),
)
NODE_TRAVERSAL = Record(
    "Traversal",
    Field("node", "int", about="the next node", within=ROWS),
    Field("candidate", "int", about="address of the next candidate triangle", within=ROWS),
    Field("stop", "int", about="address behind the leaf's last", within=ROWS),
)
PAIR = Record(
    "BvhPair",
    Field("x", "vec4", "scene units", "object", "low sides of both children's boxes, then their high sides"),
    Field("y", "vec4", "scene units", "object"),
    Field("z", "vec4", "scene units", "object"),
    Field(
        "child", "ivec2", about="of both children: the pair below, or of a leaf minus its first triangle", within=ROWS
    ),
    Field("count", "ivec2", about="triangles of a leaf, 0 for an inner node", within=SMALL),
)
_PAIR_NUMBERS = PAIR.dtype.itemsize // 4
NODE = Record(
    "BvhNode",
    Field("low", "vec3", "scene units", "object"),
    Field("high", "vec3", "scene units", "object"),
    Field(
        "first",
        "int",
        about="a leaf's first triangle; an inner node's second child, the first one follows it",
        within=ROWS,
    ),
    Field("count", "int", about="triangles of a leaf; of an inner node -1, -2, -4: split along x, y, z", within=SMALL),
)
LINK = Record("BvhLink", Field("missed", "int", about="the next node after a missed box, or after a leaf", within=ROWS))

ROOT = Record(
    "BvhRoot",
    Field("root", "int", about="an object's first node or pair; with a count minus its first triangle", within=ROWS),
    Field(
        "count", "int", about="for the stack traversal: triangles of a single-leaf tree, -1: of an empty one; else 0"
    ),
)


def enlarged(low: NDArray[np.float32], high: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Boxes slightly enlarged: a ray within the plane of a face, whose slab test would be 0 * infinity, is inside."""
    extent = float(max(np.abs(low).max(initial=0), np.abs(high).max(initial=0)))
    min_margin = np.float32(max(extent, 1e-20) * 1e-9)
    ulp = np.float32(2.0**-23)
    return low - np.maximum(np.abs(low) * ulp, min_margin), high + np.maximum(np.abs(high) * ulp, min_margin)


def pair_rows(bvh: Bvh, base: int = 0, first_pair: int = 0) -> NDArray:
    """(P,) of `PAIR`: both children of every inner node together, the root's first; empty for a single-leaf tree.

    base, first_pair : addresses of the tree's first triangle and pair.
    """
    low, high = enlarged(bvh.low, bvh.high)
    split = bvh.second >= 0
    inner = np.flatnonzero(split)
    table = np.empty(len(inner), PAIR.dtype)
    # x, y and z of four floats each, then child and count of two integers each.
    boxes = table.view(np.float32).reshape(len(inner), _PAIR_NUMBERS)
    numbers = table.view(np.int32).reshape(len(inner), _PAIR_NUMBERS)
    child_address = np.where(split, np.cumsum(split, dtype=np.int32) + (first_pair - 1), -(base + bvh.first))
    count = np.where(split, 0, bvh.count)
    children: tuple[NDArray[np.integer], ...] = (inner + 1, bvh.second[inner])
    for column, child in enumerate(children):
        boxes[:, column:12:4], boxes[:, 2 + column : 12 : 4] = low.take(child, axis=0), high.take(child, axis=0)
        numbers[:, 12 + column], numbers[:, 14 + column] = child_address.take(child), count.take(child)
    return table


def node_rows(bvh: Bvh, base: int = 0, first_node: int = 0) -> NDArray:
    """(N,) of `NODE`, in depth-first order. base, first_node : addresses of the tree's first triangle and node."""
    table = np.zeros(len(bvh.low), NODE.dtype)
    table["low"], table["high"] = enlarged(bvh.low, bvh.high)
    leaf = bvh.second < 0
    table["first"] = np.where(leaf, base + bvh.first, first_node + bvh.second)
    table["count"] = np.where(leaf, bvh.count, -(1 << bvh.axis.astype(np.int32)))
    return table


def links(bvhs: Sequence[Bvh], traversal: str) -> NDArray:
    """`LINK` of every node of all trees, one tree after the other; for the traversal "octants" eight times, octant by
    octant. The total number of nodes ends a traversal."""
    total, offset = sum(len(bvh.low) for bvh in bvhs), 0
    missed = np.empty((1 if traversal == "escape" else 8, total), np.int32)
    for bvh in bvhs:
        count = len(bvh.low)
        missed_here = bvh.escape[None] if traversal == "escape" else octant_links(bvh)[..., 1]
        missed[:, offset : offset + count] = np.where(missed_here >= count, total, missed_here + offset)
        offset += count
    table = np.zeros(missed.size, LINK.dtype)
    table["missed"] = missed.ravel()
    return table


def _root_row(bvh: Bvh, traversal: str, base: int, first_row: int) -> tuple[int, int]:
    """The fields of `ROOT` of a tree: for the stack traversal a single leaf has no node above it."""
    if traversal != "stack" or bvh.second[0] >= 0:
        return first_row, 0
    return (-(base + int(bvh.first[0])), int(bvh.count[0])) if bvh.count[0] else (0, -1)


def _with_rows_at_keys(
    table: NDArray, trees: Sequence[tuple[Bvh, int, int]], make_rows: Callable[[Bvh, int, int], NDArray]
) -> tuple[NDArray, tuple[int, int, int]]:
    """A table of trees, those that move last, with the rows of these at every key, key by key; and the numbers of
    rows of the others, of those that move, and of segments between keys: fewer than the scene's without room.
    trees : with the address of the first triangle, and the rows of each. make_rows : `pair_rows` or `node_rows`."""
    static_rows = sum(count for bvh, _, count in trees if bvh.keys is None)
    texels = PAIR.texels if make_rows is pair_rows else NODE.texels
    max_segments = next(len(bvh.keys) for bvh, _, _ in trees if bvh.keys is not None) - 1
    segments = fitting_segments(max_segments, static_rows, len(table) - static_rows, MAX_KEY_TEXELS // texels)
    tables, offset = [[table[:static_rows]]] + [[] for _ in range(segments + 1)], 0
    for bvh, first, count in trees:
        if bvh.keys is not None and segments:
            boxes = with_margin(merge_segments(bvh.keys, segments))
            for key, key_boxes in enumerate(boxes):
                tables[1 + key].append(
                    make_rows(replace(bvh, low=key_boxes[:, 0], high=key_boxes[:, 1]), first, offset)
                )
        offset += count
    if not segments:
        return table, (len(table), 0, 1)
    return np.concatenate([row for part in tables for row in part]), (static_rows, len(table) - static_rows, segments)


def module(bvhs: Sequence[Bvh], traversal: str) -> Module:
    """The module of hierarchies over the triangles of numbered objects, with leaves of up to `MAX_IN_LEAF`.

    bvhs : one for each object; their triangles lie one object after the other. traversal : one of `TRAVERSALS`. Raises
    ViewerError for a tree too deep for a stack of `MAX_DEPTH`; `raystream.accel.bvh_build` makes none.
    """
    deepest = max(bvh.depth for bvh in bvhs)
    if deepest > MAX_DEPTH:
        raise ViewerError("bvh", f"a tree of {deepest} levels, beyond a ray's stack of {MAX_DEPTH}")
    make_rows = pair_rows if traversal == "stack" else node_rows
    firsts = np.cumsum([0, *(len(bvh.order) for bvh in bvhs)]).tolist()  # triangles of each
    ordered = sorted(range(len(bvhs)), key=lambda k: bvhs[k].keys is not None)
    bvhs, roots, rows, total = [bvhs[k] for k in ordered], [(0, 0)] * len(bvhs), [], 0
    for bvh, k in zip(bvhs, ordered, strict=True):
        roots[k] = _root_row(bvh, traversal, firsts[k], total)
        rows.append(make_rows(bvh, firsts[k], total))
        total += len(rows[-1])
    table = rows[0] if len(rows) == 1 else np.concatenate(rows)
    uniforms: dict[str, tuple[str, Any]] = {} if traversal == "stack" else {"bvh_count": ("int", total)}
    moves = any(bvh.keys is not None for bvh in bvhs)
    if moves:
        placed_trees = [(bvh, firsts[k], len(row)) for bvh, k, row in zip(bvhs, ordered, rows, strict=True)]
        table, keys = _with_rows_at_keys(table, placed_trees, make_rows)
        uniforms["bvh_keys"] = ("ivec3", keys)
    memories = [
        Table("bvh_pairs", PAIR, table, hot=True) if traversal == "stack" else Table("bvh_nodes", NODE, table, hot=True)
    ]
    if traversal != "stack":
        memories.append(Table("bvh_links", LINK, links(bvhs, traversal), hot=True))
    if len(roots) == 1:  # a uniform: the tree of a moving scene may change between one leaf and more
        uniforms["bvh_only"] = ("ivec2", roots[0])
        root = "BvhRoot(bvh_only.x, bvh_only.y)"
    else:
        memories.append(Table("bvh_roots", ROOT, np.array(roots, ROOT.dtype)))
        root = "fetch_bvh_roots(object)"
    return Module(
        f"bvh, {traversal}",
        PROVIDES,
        f"accel/bvh_{traversal}.glsl",
        memories=tuple(memories),
        uniforms=uniforms,
        constants={"BVH_DEPTH": -(-(deepest + 1) // STACK_STEP) * STACK_STEP, "BVH_POP": POP}
        if traversal == "stack"
        else {},
        module_state=STACK_TRAVERSAL if traversal == "stack" else NODE_TRAVERSAL,
        uses=(RAY, ROOT),
        text=f"BvhRoot bvh_root(int object) {{ return {root}; }}",
        local=traversal == "stack",
        capacities=frozenset({"BVH_DEPTH"} if traversal == "stack" else ()),
        features=frozenset({MOVING_BOXES} if moves else ()),
    )
