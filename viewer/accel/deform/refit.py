"""The tables from which fragment programs write triangles and refit bounding volume hierarchies.

A node's leaves lie one behind the other, in the order of the tree: its box is a union over a range of the leaves'
boxes, and where it has many, of boxes over blocks of leaves, over blocks of those, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.accel.bvh import tree
from raystream.accel.bvh.build import Bvh
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import SMALL, Field, Record

FEW = 8  # leaves below a node up to which a single loop finds its box: seven nodes in eight
BLOCKS = 8, 8, 16, 16, 16, 16  # boxes in a block, level by level: a pass reads from 16 textures at most
WIDTH = 256  # elements in a row of streams
# Rows in which a rasteriser on the CPU runs fragments together: nodes of few leaves and of many are in others, so that
# none loops along with a neighbour.
ROW_GROUP = 4

BOX = Record("Box", Field("low", "vec3", "scene units", "object"), Field("high", "vec3", "scene units", "object"))
CORNERS = Record(
    "Corners",
    Field("vertices", "ivec3", about="among those of deforming objects"),
    Field("number", "int", about="of the triangle"),
)
SIDED_CORNERS = Record("Corners", *CORNERS.fields, Field("one_sided", "int", about="as in Triangle", within=SMALL))
RANGE = Record("Range", Field("first", "int"), Field("end", "int", about="behind the last"))
NODE_ROW = Record(
    "NodeRow",
    Field("box", "int", about="address of its box: among those of inner nodes; of a leaf -1 - its number"),
    Field("root", "int", about="the same of the tree's first node"),
    Field("first", "int", about="as in BvhNode"),
    Field("count", "int", about="as in BvhNode"),
)
PAIR_ROW = Record(
    "PairRow",
    Field("boxes", "ivec2", about="addresses of both children's boxes, as in NodeRow"),
    Field("child", "ivec2", about="as in BvhPair"),
    Field("count", "ivec2", about="as in BvhPair"),
    Field("root", "int", about="as in NodeRow"),
)


def levels(leaves: int) -> list[tuple[int, int]]:
    """Of each level of the pyramid over ``leaves`` its boxes, and the boxes below each."""
    counts = []
    for block in BLOCKS:
        if leaves <= block:
            break
        leaves = -(-leaves // block)
        counts.append((leaves, block))
    return counts


class RefitTables:
    """The tables of the trees of deforming objects, the first ones of all.

    corners : a row for each triangle, in the order of the trees. leaves : the triangles of each leaf. inner : the
    leaves of each inner node: of nodes with `FEW`, then from the row ``few`` (of `WIDTH` elements) on of the others.
    nodes, pairs : the tables of either traversal, without boxes.
    """

    def __init__(
        self,
        bvhs: Sequence[Bvh],
        faces: Sequence[NDArray[np.int32]],
        firsts: NDArray[np.int64],
        culled: Sequence[NDArray[np.bool_] | None],
        sided: bool,
    ) -> None:
        """bvhs : (D,) trees. faces : (D,) triangles (T, 3) of vertices, which begin at ``firsts`` (D,). culled : (D,)
        as of `raystream.accel.triangles.module`; ``sided``: the table of triangles says so."""
        record = SIDED_CORNERS if sided else CORNERS
        corners, spans, leaves = [], [], []
        triangle = leaf = 0
        for bvh, mesh_faces, first, sides in zip(bvhs, faces, firsts, culled, strict=False):
            rows = np.zeros(len(bvh.order), record.dtype)
            rows["vertices"], rows["number"] = mesh_faces[bvh.order] + first, bvh.order
            if sided and sides is not None:
                rows["one_sided"] = sides[bvh.order]
            corners.append(rows)
            at = np.flatnonzero(bvh.second < 0)
            span = _ranges(triangle + bvh.first[at], triangle + bvh.first[at] + bvh.count[at])
            before = np.concatenate([[0], np.cumsum(bvh.second < 0)])  # leaves before a node
            spans.append(_ranges(leaf + before[:-1], leaf + before[bvh.escape]))
            leaves.append(span)
            triangle, leaf = triangle + len(rows), leaf + len(span)
        inner = np.concatenate([bvh.second >= 0 for bvh in bvhs])
        every = np.concatenate(spans)
        box, ranges, self.few = _placed(inner, every)
        self.corners = Table("corners", record, np.concatenate(corners))
        self.leaves = Table("leaf_ranges", RANGE, np.concatenate(leaves))
        self.inner = Table("inner_ranges", RANGE, ranges)
        nodes, pairs = [], []
        triangle = node = pair = 0
        for bvh in bvhs:
            boxes = box[node : node + len(bvh.low)]
            nodes.append(_nodes(bvh, triangle, node, boxes))
            pairs.append(_pairs(bvh, triangle, pair, boxes))
            triangle, node, pair = triangle + len(bvh.order), node + len(bvh.low), pair + len(pairs[-1])
        self.nodes = Table("node_rows", NODE_ROW, np.concatenate(nodes))
        self.pairs = Table("pair_rows", PAIR_ROW, np.concatenate(pairs))

    @property
    def tables(self) -> list[Table]:
        """All of them."""
        return [self.corners, self.leaves, self.inner, self.nodes, self.pairs]


def _ranges(first: NDArray, end: NDArray) -> NDArray:
    rows = np.zeros(len(first), RANGE.dtype)
    rows["first"], rows["end"] = first, end
    return rows


def _placed(inner: NDArray[np.bool_], spans: NDArray) -> tuple[NDArray[np.int64], NDArray, int]:
    """Of nodes (N,) with these ranges of leaves the addresses of their boxes; the ranges in the order of the inner
    nodes' boxes; and the row from which on nodes have many leaves."""
    counts = spans["end"] - spans["first"]
    numbers = np.flatnonzero(inner)
    numbers = numbers[np.argsort(counts[numbers], kind="stable")]  # neighbours loop alike
    small = int(np.count_nonzero(counts[numbers] <= FEW))
    few = ROW_GROUP * -(-small // (ROW_GROUP * WIDTH))
    place = np.arange(len(numbers))
    place[small:] += few * WIDTH - small
    ranges = np.zeros(int(place[-1]) + 1 if len(place) else 0, RANGE.dtype)
    ranges[place] = spans[numbers]
    box = -1 - (np.cumsum(~inner) - 1)
    box[numbers] = place
    return box, ranges, few


def _nodes(bvh: Bvh, base: int, at: int, box: NDArray[np.int64]) -> NDArray:
    node_rows, rows = tree.nodes(bvh, base, at), np.zeros(len(bvh.low), NODE_ROW.dtype)
    rows["box"], rows["root"], rows["first"], rows["count"] = box, box[0], node_rows["first"], node_rows["count"]
    return rows


def _pairs(bvh: Bvh, base: int, pair: int, box: NDArray[np.int64]) -> NDArray:
    pair_rows = tree.pairs(bvh, base, pair)
    inner, rows = np.flatnonzero(bvh.second >= 0), np.zeros(len(pair_rows), PAIR_ROW.dtype)
    rows["boxes"] = box[np.stack([inner + 1, bvh.second[inner]], axis=1)]
    rows["child"], rows["count"], rows["root"] = pair_rows["child"], pair_rows["count"], box[0]
    return rows
