"""What a structure's walk record says of a ray: the box that it visits, and the triangle that it tests next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from viewer.accel import grid
from viewer.stream.kernel import Module, Table


@dataclass(frozen=True)
class Visit:
    """A step of a walk: the cell by its indices, its box (2, 3) float64 in world space, the distances at which the ray
    is in it, and the triangles that wait to be tested there."""

    cell: tuple[int, ...]
    box: NDArray[np.float64]
    t_enter: float
    t_exit: float
    candidates: int


class Walks(Protocol):
    """Reads the walk records of one structure."""

    def visit(self, origin: NDArray, before: np.void, after: np.void, first: bool) -> Visit:
        """The step that made ``after`` of ``before``; ``first`` of its ray, which starts at ``origin``."""
        ...

    def candidate(self, before: np.void) -> int:
        """The triangle that the test after ``before`` takes."""
        ...


class GridWalks:
    """The uniform grid's (`viewer.accel.grid`), from the very arrays that its module uploads."""

    def __init__(self, module: Module) -> None:
        lists = next(m for m in module.memories if isinstance(m, Table) and m.name == "grid_lists")
        self.entries = lists.data["entry"]
        self.low = np.asarray(module.uniforms["grid_low"][1], np.float64)
        self.voxel = np.asarray(module.uniforms["grid_voxel"][1], np.float64)

    def box(self, cell: NDArray[np.integer]) -> NDArray[np.float64]:
        """(2, 3): lowest and highest corner of a voxel, world space."""
        return self.low + np.stack([cell, cell + 1]) * self.voxel

    def visit(self, origin: NDArray, before: np.void, after: np.void, first: bool) -> Visit:
        """The voxel that ``before`` names is visited; ``after`` has its exit and its list."""
        cell = before["voxel"].astype(np.int64)
        box, t_enter = self.box(cell), float(before["t_exit"])
        if first:
            planes = (box - origin.astype(np.float64)) * before["inverse"].astype(np.float64)
            t_enter = max(0.0, float(planes.min(axis=0).max()))
        return Visit(tuple(map(int, cell)), box, t_enter, float(after["t_exit"]), self._length(int(after["list"])))

    def candidate(self, before: np.void) -> int:
        """The entry that the walk's list stands at; a list's last is written -n - 1."""
        entry = int(self.entries[before["list"]])
        return -entry - 1 if entry < 0 else entry

    def _length(self, address: int) -> int:
        if address < 0:
            return 0
        last = address
        while self.entries[last] >= 0:
            last += 1
        return last - address + 1


def walks(modules: Sequence[Module]) -> Walks | None:
    """The reader for the structure among the modules; None for one whose records nobody here can read."""
    found = next((m for m in modules if m.keeps == grid.WALK), None)
    return None if found is None else GridWalks(found)
