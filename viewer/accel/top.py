"""Structures over the boxes of instances: what a ray walks before it goes down to an object.

Their memories have room for whatever way the instances may stand, so that moving one uploads rows and compiles nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from viewer.accel import bvh, bvh_build, grid, grid_boxes
from viewer.accel.grid_build import Grid
from viewer.accel.grid_cost import LIMIT
from viewer.kernels.records import RAY
from viewer.stream.kernel import Module, Table
from viewer.stream.record import Field, Record

Boxes = NDArray[np.float32]

INSTANCE_FOUND = Field("instance", "int", about="the instance found last")
BVH_TOP = Record("Top", Field("node", "int", about="the node to visit next"), INSTANCE_FOUND)
GRID_TOP = Record(
    "Top",
    Field("voxel", "int", about="number of the voxel to visit next, x fastest; -1: the ray leaves the grid"),
    Field("list", "int", about="address of the next instance of the voxel visited last, -1: none"),
    INSTANCE_FOUND,
    Field("t_exit", "float", "scene units", about="distance at which the ray leaves the voxel visited last"),
)
POINTER = Record("TopVoxel", Field("list", "int", about="address of its list, -1 where it is empty"))

# Room for the voxels of a grid, and for the entries of its lists, per instance; and at least.
ROOM_PER_INSTANCE, LEAST_ROOM = 16, 4096


class Top(Protocol):
    """A structure over boxes, made anew whenever they change.

    modules : two, so that a kernel which only asks for the instance found does not bring the memories.
    """

    modules: list[Module]

    def build(self, low: Boxes, high: Boxes) -> list[tuple[Table, int]]:
        """Over boxes (I, 3) twice: the tables that change, and of how many rows. Sets uniforms of the modules."""
        ...

    @property
    def uniforms(self) -> dict[str, Any]:
        """Their values now."""
        ...

    @property
    def statistics(self) -> dict[str, float | int]:
        """Of the last build."""
        ...


class _Made:
    """What both have: the modules around the tables."""

    def __init__(self, name: str, record: Record, tables: tuple[Table, ...], uniforms: dict[str, tuple[str, Any]]):
        walk = Module(
            f"{name} over instances",
            ("top_enter", "top_step"),
            f"accel/top_{name}.glsl",
            memories=tables,
            uniforms=uniforms,
            uses=(RAY, record),
        )
        found = Module("instance found", ("top_instance",), "accel/top_instance.glsl", keeps=record, uses=(RAY, record))
        self.modules = [walk, found]
        self.statistics: dict[str, float | int] = {}

    @property
    def uniforms(self) -> dict[str, Any]:
        return {name: value for name, (_, value) in self.modules[0].uniforms.items()}

    def _set(self, **values: Any) -> None:
        held = self.modules[0].uniforms
        for name, value in values.items():
            held[name] = (held[name][0], value)


class TopBvh(_Made):
    """The bounding volume hierarchy over up to ``count`` boxes, an instance in a leaf."""

    def __init__(self, count: int) -> None:
        self.room = max(1, 2 * count - 1)
        self.nodes = Table("top_nodes", bvh.NODE, np.zeros(self.room, bvh.NODE.dtype))
        self.links = Table("top_links", bvh.LINK, np.zeros(8 * self.room, bvh.LINK.dtype))
        super().__init__(
            "bvh", BVH_TOP, (self.nodes, self.links), {"top_root": ("int", 0), "top_end": ("int", self.room)}
        )

    def build(self, low: Boxes, high: Boxes) -> list[tuple[Table, int]]:
        """See `Top`."""
        built = bvh_build.build_boxes(low, high, leaf=1)
        self.statistics = {f"top_{name}": value for name, value in built.statistics.items() if name != "bytes"}
        self._set(top_root=0 if len(built.order) else self.room)
        if not len(built.order):
            return []
        count = len(built.low)
        nodes = bvh.nodes(built)
        leaf = built.second < 0
        nodes["first"][leaf] = built.order[built.first[leaf]]
        self.nodes.data[:count] = nodes
        missed = bvh_build.octant_links(built)[..., 1]
        self.links.data["missed"].reshape(8, self.room)[:, :count] = np.where(missed >= count, self.room, missed)
        return [(self.nodes, count), (self.links, 7 * self.room + count)]


class TopGrid(_Made):
    """The uniform grid over up to ``count`` boxes."""

    def __init__(self, count: int) -> None:
        self.room = min(LIMIT, max(LEAST_ROOM, ROOM_PER_INSTANCE * count))
        self.pointers = Table("top_pointers", POINTER, np.zeros(self.room, POINTER.dtype))
        self.lists = Table("top_lists", grid.ENTRY, np.zeros(self.room, grid.ENTRY.dtype))
        nothing = (0.0, 0.0, 0.0)
        super().__init__(
            "grid",
            GRID_TOP,
            (self.pointers, self.lists),
            {
                "top_low": ("vec3", nothing),
                "top_voxel": ("vec3", (1.0, 1.0, 1.0)),
                "top_resolution": ("ivec3", (1, 1, 1)),
            },
        )

    def build(self, low: Boxes, high: Boxes) -> list[tuple[Table, int]]:
        """See `Top`."""
        built = self._fitting(low, high)
        pointers, entries = grid.mark_last(built.pointers, built.lists)
        self.statistics = {f"top_{name}": value for name, value in built.statistics.items()}
        self._set(
            top_low=tuple(map(float, built.low.astype(np.float32))),
            top_voxel=tuple(map(float, built.voxel)),
            top_resolution=tuple(map(int, built.resolution)),
        )
        self.pointers.data["list"][: pointers.size] = pointers.ravel()
        self.lists.data["entry"][: len(entries)] = entries
        return [(self.pointers, pointers.size), (self.lists, len(entries))]

    def _fitting(self, low: Boxes, high: Boxes) -> Grid:
        """The grid of the cheapest resolution, or where that has no room, of coarser ones down to a single voxel."""
        built = grid_boxes.build_boxes(low, high)
        while max(built.pointers.size, len(built.lists)) > self.room:
            coarser = tuple(max(1, int(0.8 * count)) for count in built.resolution)
            built = grid_boxes.build_boxes(low, high, coarser)
        return built


TOPS: dict[str, Callable[[int], Top]] = {"bvh": TopBvh, "grid": TopGrid}
