"""Top-level structures over the boxes of instances: traversed before the objects.

Their memories have room for any arrangement of the instances, so that movement uploads rows and compiles nothing.
Those by time are over instances that move while a shutter is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from raystream.accel import bvh_build
from raystream.accel import bvh_tree as bvh
from raystream.accel.bvh_build import MAX_DEPTH, Bvh
from raystream.accel.bvh_tree import (
    MAX_KEY_TEXELS,
    enlarged,
    fitting_segments,
    merge_segments,
    with_boxes_at_keys,
    with_margin,
)
from raystream.accel.grid import build as grid_build
from raystream.accel.grid import grid
from raystream.accel.grid.build import Grid
from raystream.accel.grid.cost import MAX_ADDRESS
from raystream.accel.motion import MOTION, Moving
from raystream.accel.primitives import box_triangles
from raystream.kernels.records import RAY
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

Boxes = NDArray[np.float32]
Changes = list[tuple[Table, int, int]]  # rows first .. last - 1 of tables

INSTANCE_FOUND = Field("instance", "int", about="the current instance", within=ROWS)
BVH_TOP = Record("TopTraversal", Field("node", "int", about="the next node", within=ROWS), INSTANCE_FOUND)
GRID_TOP = Record(
    "TopTraversal",
    Field("voxel", "int", about="number of the next voxel, x fastest; -1: the ray leaves the grid", within=ROWS),
    Field("list", "int", about="address of the current voxel's next instance, -1: none", within=ROWS),
    INSTANCE_FOUND,
    Field("t_exit", "float", "scene units", about="distance at which the ray leaves the current voxel"),
)
NODE = Record(
    "TopNode",
    Field("low", "vec3", "scene units", "world"),
    Field("high", "vec3", "scene units", "world"),
    Field(
        "first", "int", about="a leaf's instance; an inner node's second child, the first one follows it", within=ROWS
    ),
    Field(
        "count",
        "int",
        about="1: a leaf; of an inner node -1, -2, -4: split along x, y, z; 0: in depth-first order",
        within=SMALL,
    ),
    Field("missed_up", "ivec4", about="the next node after a miss or a leaf, for octants 0 to 3", within=ROWS),
    Field("missed_down", "ivec4", about="the same for octants 4 to 7, of directions down z", within=ROWS),
)
# Room for a grid's voxels, and for its list entries, per instance; and at least.
ROOM_PER_INSTANCE, MIN_ROOM = 16, 4096


@dataclass(frozen=True)
class TopBvhOptions:
    """How a hierarchy over instances is built, one of `bvh_build.METHODS`, and traversed: depth first by escape
    indices, or front to back by a ray's octant."""

    build: str = "sah"
    escape: bool = False

    def links(self, built: Bvh, often: bool) -> NDArray[np.int32]:
        """(8, N, 2): the next nodes after a hit and after a miss, for each octant."""
        return bvh_build.escape_links(built) if self.escape else bvh_build.octant_links(built, often)


BY_AREA = TopBvhOptions()


class Top(Protocol):
    """A structure over boxes, rebuilt whenever they change.

    modules : two, so that kernels which only ask for the current instance do not bring the memories. often : it will be
    built for every picture.
    """

    modules: list[Module]
    often: bool

    def build(self, low: Boxes, high: Boxes, moving: Moving | None = None) -> Changes:
        """Build over boxes (I, 3) twice; returns the changed rows, and sets the modules' uniforms. moving : of the
        instances that move triangles over their boxes at each key, which lie within these."""
        ...

    @property
    def uniforms(self) -> dict[str, Any]:
        """The uniforms' present values."""
        ...

    @property
    def statistics(self) -> dict[str, float | int]:
        """Figures of the last build, by name."""
        ...


class TopTables:
    """Shared by all structures: the modules around the tables. file : of the traversal, in ``accel``."""

    def __init__(
        self,
        name: str,
        record: Record,
        tables: tuple[Table, ...],
        uniforms: dict[str, tuple[str, Any]],
        file: str = "",
        features: frozenset[str] = frozenset(),
    ) -> None:
        traversal = Module(
            f"{name} over instances",
            ("top_start", "top_step"),
            f"accel/{file or f'top_{name}.glsl'}",
            memories=tables,
            uniforms=uniforms,
            uses=(RAY, record),
            features=features,
        )
        instance = Module(
            "instance found", ("top_instance",), "accel/top_instance.glsl", module_state=record, uses=(RAY, record)
        )
        self.modules = [traversal, instance]
        self.often = False
        self.statistics: dict[str, float | int] = {}

    @property
    def uniforms(self) -> dict[str, Any]:
        """The values of the traversal's uniforms, by name."""
        return {name: value for name, (_, value) in self.modules[0].uniforms.items()}

    def record_build(self, statistics: Mapping[str, float | int], **values: Any) -> None:
        """Set the traversal's uniforms to ``values``, and the statistics, after a build."""
        self.statistics = {f"top_{name}": value for name, value in statistics.items()}
        uniforms = self.modules[0].uniforms
        for name, value in values.items():
            uniforms[name] = (uniforms[name][0], value)

    def build_tree(self, low: Boxes, high: Boxes, method: str, end: int) -> Bvh:
        """A hierarchy over boxes, one instance per leaf, whose statistics and root (``end`` for an empty one) are the
        structure's."""
        built = bvh_build.build_boxes(low, high, leaf=1, often=self.often, method=method)
        statistics = {name: value for name, value in built.statistics.items() if name != "bytes"}
        self.record_build(statistics, top_root=0 if len(built.order) else end)
        return built


class TopBvh(TopTables):
    """The bounding volume hierarchy over up to ``count`` boxes, one instance per leaf."""

    def __init__(self, count: int, rule: TopBvhOptions = BY_AREA) -> None:
        self.rule = rule
        self.capacity = max(1, 2 * count - 1)
        self.nodes = Table("top_nodes", NODE, np.zeros(self.capacity, NODE.dtype))
        super().__init__("bvh", BVH_TOP, (self.nodes,), {"top_root": ("int", 0), "top_end": ("int", self.capacity)})

    def build(self, low: Boxes, high: Boxes, moving: Moving | None = None) -> Changes:
        """See `Top`."""
        built = self.build_tree(low, high, self.rule.build, self.capacity)
        if not len(built.order):
            return []
        count = len(built.low)
        rows, nodes, leaf = self.nodes.data[:count], bvh.node_rows(built), built.second < 0
        nodes["first"][leaf] = built.order[built.first[leaf]]
        for name in ("low", "high", "first", "count"):
            rows[name] = nodes[name]
        if self.rule.escape:
            rows["count"][~leaf] = 0
        missed = self.rule.links(built, self.often)[..., 1].T
        missed = np.where(missed >= count, self.capacity, missed)
        rows["missed_up"], rows["missed_down"] = missed[:, :4], missed[:, 4:]
        return [(self.nodes, 0, count)]


class TopGrid(TopTables):
    """The uniform grid over up to ``count`` boxes: addresses of the voxels' lists, and from ``top_lists`` on the lists,
    in a single table, as textures are few."""

    def __init__(self, count: int, rule: TopBvhOptions = BY_AREA) -> None:
        self.capacity = min(MAX_ADDRESS // 2, max(MIN_ROOM, ROOM_PER_INSTANCE * count))
        self.entries = Table("top_entries", grid.ENTRY, np.zeros(2 * self.capacity, grid.ENTRY.dtype))
        zeros = (0.0, 0.0, 0.0)
        super().__init__(
            "grid",
            GRID_TOP,
            (self.entries,),
            {
                "top_low": ("vec3", zeros),
                "top_voxel": ("vec3", (1.0, 1.0, 1.0)),
                "top_resolution": ("ivec3", (1, 1, 1)),
                "top_lists": ("int", self.capacity),
            },
        )

    def build(self, low: Boxes, high: Boxes, moving: Moving | None = None) -> Changes:
        """See `Top`."""
        built = self._build_within_capacity(low, high)
        pointers, entries = grid.lists_with_marked_ends(built.pointers, built.lists)
        self.record_build(
            built.statistics,
            top_low=tuple(map(float, built.low.astype(np.float32))),
            top_voxel=tuple(map(float, built.voxel)),
            top_resolution=tuple(map(int, built.resolution)),
        )
        data = self.entries.data["entry"]
        data[: pointers.size] = pointers.ravel()
        data[self.capacity : self.capacity + len(entries)] = entries
        return [(self.entries, 0, pointers.size), (self.entries, self.capacity, self.capacity + len(entries))]

    def _build_within_capacity(self, low: Boxes, high: Boxes) -> Grid:
        """The grid of the cheapest resolution that fits the table, down to a single voxel."""
        built = grid_build.build_boxes(low, high)
        while max(built.pointers.size, len(built.lists)) > self.capacity:
            nx, ny, nz = (max(1, int(0.8 * count)) for count in built.resolution)
            built = grid_build.build_boxes(low, high, (nx, ny, nz))
        return built


TOPS: dict[str, Callable[[int, TopBvhOptions], Top]] = {"bvh": TopBvh, "grid": TopGrid}


# -- top-level structures by time --------------------------------------------------------------------------------------
# The hierarchy over instances of which some move while a shutter is open, with boxes that follow the ray's time.
# All that an instance shows moves on lines between two keys, and so within the boxes that are linear between those
# of the keys; boxes over two such boxes at every key hold both in between (`raystream.accel.bvh_tree`, with
# sources).

OCTANTS = 8  # of directions
NODE_BY_TIME = Record(
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
    """The hierarchy over up to ``count`` boxes that follows the ray's time: up to ``moving`` nodes have a row for each
    segment between two keys, the others a single one. Nodes are in the table once for each octant, in a texel with all
    that a step needs but the box."""

    def __init__(self, count: int, moving: int, segments: int, rule: TopBvhOptions = BY_AREA) -> None:
        self.rule = rule
        self.capacity, self.segments = max(1, 2 * count - 1), segments
        self.nodes = Table("top_nodes", NODE_BY_TIME, np.zeros(OCTANTS * self.capacity, NODE_BY_TIME.dtype))
        rows = self.capacity + moving * (segments - 1)
        self.boxes = Table("top_segments", SEGMENT, np.zeros(rows, SEGMENT.dtype))
        super().__init__(
            "bvh",
            BVH_TOP,
            (self.nodes, self.boxes),
            {"top_root": ("int", 0), "top_end": ("int", self.capacity), "top_spans": ("int", segments)},
            "top_bvh_by_time.glsl",
            frozenset({MOTION}),
        )

    def build(self, low: Boxes, high: Boxes, moving: Moving | None = None) -> Changes:
        """See `Top`. The tree is built over mean boxes of moving ones."""
        assert moving is not None
        low, high = low.copy(), high.copy()
        low[moving.indices], high[moving.indices] = moving.mean_boxes().swapaxes(0, 1)
        built = self.build_tree(low, high, self.rule.build, self.capacity)
        if not len(built.order):
            return []
        count, leaf = len(built.low), built.second < 0
        rows = self.nodes.data[: OCTANTS * count].reshape(count, OCTANTS)
        links = self.rule.links(built, self.often).swapaxes(0, 1)  # (N, 8, 2)
        rows["nearer"], rows["missed"] = np.moveaxis(np.where(links >= count, self.capacity, links), -1, 0)
        rows["instance"] = np.where(leaf, built.order[built.first], -1)[:, None]
        keys, boxes = self._write_boxes(with_boxes_at_keys(built, box_triangles(np.stack([low, high], axis=1)), moving))
        rows["keys"] = keys[:, None]
        return [(self.nodes, 0, OCTANTS * count), (self.boxes, 0, boxes)]

    def _write_boxes(self, built: Bvh) -> tuple[np.ndarray, int]:
        """Write the boxes of nodes: for each segment those that differ at two keys. Returns the nodes' ``keys`` (N,),
        and the number of rows."""
        assert built.keys is not None
        keys = with_margin(merge_segments(built.keys, self.segments))
        keys = np.stack(enlarged(keys[:, :, 0], keys[:, :, 1]), axis=2)
        moves = (keys != keys[:1]).any(axis=(0, 2, 3))
        node, segment = np.nonzero((np.arange(self.segments) == 0) | moves[:, None])
        start_boxes, end_boxes = keys[segment, node], keys[segment + 1, node]
        rows = self.boxes.data[: len(node)]
        rows["low"], rows["high"] = start_boxes.swapaxes(0, 1)
        rows["low_change"], rows["high_change"] = (end_boxes - start_boxes).swapaxes(0, 1)
        first_rows = np.flatnonzero(segment == 0)
        return np.where(moves, first_rows, -1 - first_rows), len(node)


def top_structure(kind: str, count: int, moving: int = 0, keys: int = 1, rule: TopBvhOptions = BY_AREA) -> Top:
    """The structure of a kind of `TOPS` over up to ``count`` boxes, of which ``moving`` move through ``keys`` keys. In
    a grid, and where the table would be too large, a moving instance has a single box over all keys."""
    max_nodes = max(1, 2 * count - 1)
    max_moving_nodes = min(max_nodes, (MAX_DEPTH + 1) * moving)  # nodes: leaves, and what is above them
    if kind == "bvh" and max_moving_nodes and OCTANTS * max_nodes <= MAX_KEY_TEXELS:
        segments = fitting_segments(keys - 1, max_nodes, max_moving_nodes, MAX_KEY_TEXELS // SEGMENT.texels)
        if segments:
            return TopBvhByTime(count, max_moving_nodes, segments, rule)
    return TOPS[kind](count, rule)
