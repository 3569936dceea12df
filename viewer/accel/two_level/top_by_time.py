"""The hierarchy over instances of which some move while a shutter is open, with boxes that follow the ray's time.

All that an instance shows moves on lines between two keys, and so within the boxes that are linear between those of the
keys; boxes over two such boxes at every key hold both in between (`raystream.accel.bvh.keyed`, with sources).
"""

from __future__ import annotations

import numpy as np

from raystream.accel.bvh import build as bvh_build
from raystream.accel.bvh.build import MOST_DEPTH, Bvh
from raystream.accel.bvh.keyed import keyed, merged, most_segments, with_margin
from raystream.accel.bvh.tree import MOST_TEXELS, widened
from raystream.accel.motion import MOTION, Moving
from raystream.accel.quadrics import corners_of
from raystream.accel.two_level.top import BVH_TOP, BY_AREA, TOPS, Boxes, Changes, Top, TopBvhOptions, TopTables
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import ROWS, Field, Record

OCTANTS = 8  # of directions
NODE = Record(
    "TopNode",
    Field(
        "nearer", "int", about="the next node after a hit of the box: its nearer child, or of a leaf as after a miss"
    ),
    Field("missed", "int", about="the next node after a miss", within=ROWS),
    Field("instance", "int", about="of a leaf; -1: an inner node", within=ROWS),
    Field(
        "keys", "int", about="address of its box in the first segment; below zero minus that of the only one, less 1"
    ),
)
SEGMENT = Record(
    "TopSegment",
    Field("low", "vec3", "scene units", "world", "at the key where it begins"),
    Field("high", "vec3", "scene units", "world"),
    Field("low_change", "vec3", "scene units", "world", "to the next key"),
    Field("high_change", "vec3", "scene units", "world"),
)


class TopBvhByTime(TopTables):
    """Over up to ``count`` boxes, of whose nodes up to ``moving`` have a row for each segment between two keys, the
    others a single one. Nodes lie in the table once for each octant, in a texel that has all of a step but
    the box."""

    def __init__(self, count: int, moving: int, segments: int, rule: TopBvhOptions = BY_AREA) -> None:
        self.rule = rule
        self.room, self.segments = max(1, 2 * count - 1), segments
        self.nodes = Table("top_nodes", NODE, np.zeros(OCTANTS * self.room, NODE.dtype))
        rows = self.room + moving * (segments - 1)
        self.boxes = Table("top_segments", SEGMENT, np.zeros(rows, SEGMENT.dtype))
        super().__init__(
            "bvh",
            BVH_TOP,
            (self.nodes, self.boxes),
            {"top_root": ("int", 0), "top_end": ("int", self.room), "top_spans": ("int", segments)},
            "top_bvh_by_time.glsl",
            frozenset({MOTION}),
        )

    def build(self, low: Boxes, high: Boxes, moving: Moving | None = None) -> Changes:
        """See `Top`. The tree is built over mean boxes of moving ones."""
        assert moving is not None
        low, high = low.copy(), high.copy()
        low[moving.numbers], high[moving.numbers] = moving.mean_boxes().swapaxes(0, 1)
        built = bvh_build.build_boxes(low, high, leaf=1, often=self.often, method=self.rule.build)
        statistics = {name: value for name, value in built.statistics.items() if name != "bytes"}
        self.built_with(statistics, top_root=0 if len(built.order) else self.room)
        if not len(built.order):
            return []
        count, leaf = len(built.low), built.second < 0
        rows = self.nodes.data[: OCTANTS * count].reshape(count, OCTANTS)
        links = self.rule.links(built, self.often).swapaxes(0, 1)  # (N, 8, 2)
        rows["nearer"], rows["missed"] = np.moveaxis(np.where(links >= count, self.room, links), -1, 0)
        rows["instance"] = np.where(leaf, built.order[built.first], -1)[:, None]
        keys, boxes = self._boxes(keyed(built, corners_of(np.stack([low, high], axis=1)), moving))
        rows["keys"] = keys[:, None]
        return [(self.nodes, 0, OCTANTS * count), (self.boxes, 0, boxes)]

    def _boxes(self, built: Bvh) -> tuple[np.ndarray, int]:
        """Write the boxes of nodes: for each segment those that differ at two keys. Returns the nodes' ``keys`` (N,),
        and the number of rows."""
        assert built.keys is not None
        keys = with_margin(merged(built.keys, self.segments))
        keys = np.stack(widened(keys[:, :, 0], keys[:, :, 1]), axis=2)
        moves = (keys != keys[:1]).any(axis=(0, 2, 3))
        node, segment = np.nonzero((np.arange(self.segments) == 0) | moves[:, None])
        first, last = keys[segment, node], keys[segment + 1, node]
        rows = self.boxes.data[: len(node)]
        rows["low"], rows["high"] = first.swapaxes(0, 1)
        rows["low_change"], rows["high_change"] = (last - first).swapaxes(0, 1)
        at = np.flatnonzero(segment == 0)
        return np.where(moves, at, -1 - at), len(node)


def top_over(kind: str, count: int, moving: int = 0, keys: int = 1, rule: TopBvhOptions = BY_AREA) -> Top:
    """The structure of a kind of `TOPS` over up to ``count`` boxes, of which ``moving`` move through ``keys`` keys:
    in a grid, and without room for more, those over all of them serve."""
    room = max(1, 2 * count - 1)
    most = min(room, (MOST_DEPTH + 1) * moving)  # nodes: leaves, and what is above them
    if kind == "bvh" and most and OCTANTS * room <= MOST_TEXELS:
        segments = most_segments(keys - 1, room, most, MOST_TEXELS // SEGMENT.texels)
        if segments:
            return TopBvhByTime(count, most, segments, rule)
    return TOPS[kind](count, rule)
