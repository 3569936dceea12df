"""A ray's traversal, read from its structure's record: the visited box, the next triangle to test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from raystream.accel.bvh import tree as bvh
from raystream.accel.grid import grid
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Record
from raystream.viewport.debug_views.history import Segment, TraversalStep


class Traversals(Protocol):
    """Reads the traversal records of one structure."""

    def visit(self, ray: Segment, before: np.void, after: np.void, opened: bool) -> TraversalStep:
        """The traversal step from ``before`` to ``after``; ``opened``: tests follow."""
        ...

    def candidate(self, before: np.void) -> int:
        """The triangle of the test after ``before``."""
        ...


class GridTraversals:
    """Those of the uniform grid (`raystream.accel.grid.grid`), from the same arrays that its module uploads."""

    def __init__(self, module: Module, numbers: NDArray[np.integer]) -> None:
        self.numbers = numbers
        lists = next(m for m in module.memories if isinstance(m, Table) and m.name == "grid_lists")
        self.entries = lists.data["entry"]
        self.low = np.asarray(module.uniforms["grid_low"][1], np.float64)
        self.voxel = np.asarray(module.uniforms["grid_voxel"][1], np.float64)

    def box(self, cell: NDArray[np.integer]) -> NDArray[np.float64]:
        """(2, 3): lowest and highest corner of a voxel, world space."""
        return self.low + np.stack([cell, cell + 1]) * self.voxel

    def visit(self, ray: Segment, before: np.void, after: np.void, opened: bool) -> TraversalStep:
        """Visits the voxel in ``before``; ``after`` has its exit and its list."""
        cell = before["voxel"].astype(np.int64)
        box, t_enter = self.box(cell), float(before["t_exit"])
        if not ray.visits:
            planes = (box - ray.origin.astype(np.float64)) * before["inverse"].astype(np.float64)
            t_enter = max(0.0, float(planes.min(axis=0).max()))
        candidates = self._length(int(after["list"]))
        return TraversalStep(tuple(map(int, cell)), box, t_enter, float(after["t_exit"]), candidates)

    def candidate(self, before: np.void) -> int:
        """The current entry of the traversal's list; a list's last is stored as -n - 1."""
        entry = int(self.entries[before["list"]])
        return int(self.numbers[-entry - 1 if entry < 0 else entry])

    def _length(self, address: int) -> int:
        if address < 0:
            return 0
        last = address
        while self.entries[last] >= 0:
            last += 1
        return last - address + 1


class BvhTraversals:
    """Those of the stackless bounding volume hierarchy (`raystream.accel.bvh.tree`): the state is one node's number."""

    def __init__(self, module: Module, numbers: NDArray[np.integer]) -> None:
        self.numbers = numbers
        self.nodes = next(m for m in module.memories if isinstance(m, Table) and m.name == "bvh_nodes").data

    def visit(self, ray: Segment, before: np.void, after: np.void, opened: bool) -> TraversalStep:
        """Visits the node in ``before``; ``after`` has a leaf's triangles. A missed box, or one beyond the nearest hit,
        has an exit before its entry, and nothing to test."""
        number = int(before["node"])
        node = self.nodes[number]
        box = np.stack([node["low"], node["high"]]).astype(np.float64)
        direction = ray.direction.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            planes = (box - ray.origin.astype(np.float64)) / direction
        ends = np.sort(planes, axis=0)
        nearest = ray.t_max if ray.t_hit is None else ray.t_hit
        t_enter, t_exit = max(0.0, float(np.nanmax(ends[0]))), min(nearest, float(np.nanmin(ends[1])))
        if not opened:
            return TraversalStep((number,), box, t_enter, t_exit, 0)
        # Traversal decides in float32: float64 may miss a flat box by rounding.
        candidates = int(after["stop"]) - int(after["candidate"])
        return TraversalStep((number,), box, t_enter, max(t_enter, t_exit), candidates)

    def candidate(self, before: np.void) -> int:
        """The triangle at the traversal's next address."""
        return int(self.numbers[before["candidate"]])


def traversals(modules: Sequence[Module]) -> Traversals | None:
    """The reader of the structure among the modules; None for unknown records."""
    tables = {m.name: m.data for module in modules for m in module.memories if isinstance(m, Table)}
    if "triangles" not in tables:
        return None
    numbers = tables["triangles"]["number"]
    if "quadrics" in tables:  # whose rows have the number -n - 1
        numbers = np.where(numbers < 0, tables["quadrics"]["number"][np.maximum(-1 - numbers, 0)], numbers)
    for record, reader in READERS:
        state_module = next((m for m in modules if m.module_state == record), None)
        if state_module is not None:
            return reader(state_module, numbers)
    return None


# Traversal records, and their readers.
READERS: tuple[tuple[Record, Callable[[Module, NDArray[np.integer]], Traversals]], ...] = (
    (grid.TRAVERSAL, GridTraversals),
    (bvh.NODE_TRAVERSAL, BvhTraversals),
)
