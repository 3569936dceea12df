"""The tables from which fragment programs write triangles and refit bounding volume hierarchies.

A node's triangles lie one behind the other in the table of triangles: its box is a union over a range of that table,
found through a pyramid of boxes over blocks of triangles, over blocks of those, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from viewer.accel.bvh import tree
from viewer.accel.bvh.build import Bvh
from viewer.stream.declare.kernel import Table
from viewer.stream.declare.record import Field, Record

# Elements in a block, level by level: most nodes hold few triangles, and a pass reads from 16 textures at most.
BLOCKS = 4, 4, 16, 16, 16, 16

BOX = Record("Box", Field("low", "vec3", "scene units", "object"), Field("high", "vec3", "scene units", "object"))
CORNERS = Record(
    "Corners",
    Field("vertices", "ivec3", about="among those of deforming objects"),
    Field("number", "int", about="of the triangle"),
)
SIDED_CORNERS = Record("Corners", *CORNERS.fields, Field("one_sided", "int", about="as in Triangle"))
RANGE = Record(
    "NodeRange", Field("first", "int", about="of a node's triangles"), Field("end", "int", about="behind them")
)
NODE_ROW = Record(
    "NodeRow",
    Field("root", "int", about="number of the tree's first node"),
    Field("first", "int", about="as in BvhNode"),
    Field("count", "int", about="as in BvhNode"),
)
PAIR_ROW = Record(
    "PairRow",
    Field("nodes", "ivec2", about="numbers of both children"),
    Field("child", "ivec2", about="as in BvhPair"),
    Field("count", "ivec2", about="as in BvhPair"),
    Field("root", "int", about="number of the tree's first node"),
)


def levels(triangles: int) -> list[tuple[int, int]]:
    """Of each level of the pyramid over so many triangles its boxes, and the elements below each."""
    found = []
    for block in BLOCKS:
        if triangles <= block:
            break
        triangles = -(-triangles // block)
        found.append((triangles, block))
    return found


class RefitTables:
    """The tables of the trees of deforming objects, the first ones of all.

    corners : a row for each triangle, in the order of the trees. ranges : for each node. nodes, pairs : what the tables
    of either traversal hold beside boxes.
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
        as of `viewer.accel.triangles.module`; ``sided``: the table of triangles says so."""
        record = SIDED_CORNERS if sided else CORNERS
        corners, ranges, nodes, pairs = [], [], [], []
        triangle = node = pair = 0
        for bvh, own, first, sides in zip(bvhs, faces, firsts, culled, strict=False):
            rows = np.zeros(len(bvh.order), record.dtype)
            rows["vertices"], rows["number"] = own[bvh.order] + first, bvh.order
            if sided and sides is not None:
                rows["one_sided"] = sides[bvh.order]
            corners.append(rows)
            before = np.concatenate([[0], np.cumsum(bvh.count)])  # triangles of the leaves before a node
            span = np.zeros(len(bvh.low), RANGE.dtype)
            span["first"], span["end"] = triangle + before[:-1], triangle + before[bvh.escape]
            ranges.append(span)
            nodes.append(self._nodes(bvh, triangle, node))
            pairs.append(self._pairs(bvh, triangle, node, pair))
            triangle, node, pair = triangle + len(rows), node + len(span), pair + len(pairs[-1])
        self.corners = Table("corners", record, np.concatenate(corners))
        self.ranges = Table("ranges", RANGE, np.concatenate(ranges))
        self.nodes = Table("node_rows", NODE_ROW, np.concatenate(nodes))
        self.pairs = Table("pair_rows", PAIR_ROW, np.concatenate(pairs))

    @property
    def tables(self) -> list[Table]:
        """All of them."""
        return [self.corners, self.ranges, self.nodes, self.pairs]

    @staticmethod
    def _nodes(bvh: Bvh, base: int, at: int) -> NDArray:
        whole, rows = tree.nodes(bvh, base, at), np.zeros(len(bvh.low), NODE_ROW.dtype)
        rows["root"], rows["first"], rows["count"] = at, whole["first"], whole["count"]
        return rows

    @staticmethod
    def _pairs(bvh: Bvh, base: int, at: int, pair: int) -> NDArray:
        whole = tree.pairs(bvh, base, pair)
        inner, rows = np.flatnonzero(bvh.second >= 0), np.zeros(len(whole), PAIR_ROW.dtype)
        rows["nodes"] = np.stack([inner + 1, bvh.second[inner]], axis=1) + at
        rows["child"], rows["count"], rows["root"] = whole["child"], whole["count"], at
        return rows
