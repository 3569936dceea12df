"""Trees of deforming objects, rebuilt in the background once refitting has made them too loose.

C. Lauterbach et al., "RT-DEFORM: Interactive Ray Tracing of Dynamic Scenes using BVHs" (2006): refit, and rebuild by a
measure of the tree's quality; here the expected cost of the surface area heuristic.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.accel.bvh import build as bvh_build
from raystream.accel.bvh import layout
from raystream.accel.bvh.build import SMALL, Bvh
from raystream.accel.bvh.splits import CACHED, FAR_TEST, TEST, TRAVERSAL
from raystream.accel.bvh.tree import MOST_IN_LEAF
from raystream.base.errors import ViewerError
from raystream.base.interrupts import UNWAITED
from raystream.base.jit import run
from raystream.scene.deform.mesh import DeformedMesh

GROWN = 4 / 3  # of a tree's expected cost when it was built: another one is
LEAST_PAUSE, PAUSES = 0.5, 10.0  # between two looks: seconds, and multiples of the time that the last one took

Result = TypeVar("Result")


def refit(corners, order, second, first, count, low, high):
    """Boxes of a tree's nodes (N, 3) float32, written, over other corners (T, 3, 3) float32; none for
    corners that are not finite."""
    for i in range(len(second) - 1, -1, -1):
        for a in range(3):
            low[i, a], high[i, a] = np.inf, -np.inf
        if second[i] < 0:
            for k in range(first[i], first[i] + count[i]):
                t, total = order[k], 0.0
                for c in range(3):
                    for a in range(3):
                        total += np.float64(corners[t, c, a])
                if np.isfinite(total):
                    for c in range(3):
                        for a in range(3):
                            low[i, a] = min(low[i, a], corners[t, c, a])
                            high[i, a] = max(high[i, a], corners[t, c, a])
        else:
            for a in range(3):
                low[i, a] = min(low[i + 1, a], low[second[i], a])
                high[i, a] = max(high[i + 1, a], high[second[i], a])


def expected_cost(bvh: Bvh, corners: NDArray[np.float32]) -> float:
    """The tree's ``sah_cost`` (`Bvh`) once it is refitted to other corners (T, 3, 3) float32."""
    low, high = np.empty_like(bvh.low), np.empty_like(bvh.high)
    small = len(bvh.order) <= SMALL
    run(refit, corners, bvh.order, bvh.second, bvh.first, bvh.count, low, high, small=small)
    empty = low[:, 0] > high[:, 0]
    low[empty] = high[empty] = 0.0
    inner, outer, _, _ = run(layout.finish, low, high, bvh.second, bvh.count, bvh.escape.copy(), small=small)
    area = float(run(layout.surface, low[0], high[0], small=True))
    test = TEST if len(bvh.order) <= CACHED else FAR_TEST
    return (TRAVERSAL * float(inner) + test * float(outer)) / area if area > 0.0 else 0.0


@dataclass
class Trees:
    """Trees of deforming objects (D,), and the expected cost of each that others are compared with."""

    bvhs: list[Bvh]
    costs: list[float]

    @classmethod
    def of(cls, bvhs: Sequence[Bvh]) -> Trees:
        """As they have been built."""
        return cls(list(bvhs), [float(bvh.statistics["sah_cost"]) for bvh in bvhs])

    def better(self, corners: Sequence[NDArray[np.float32]], method: str) -> Trees | None:
        """With other trees where those cost too much in a pose of these corners; None where none does."""
        bvhs, costs = list(self.bvhs), list(self.costs)
        for number, (bvh, mesh_corners) in enumerate(zip(self.bvhs, corners, strict=True)):
            cost = expected_cost(bvh, mesh_corners)
            if cost <= GROWN * self.costs[number]:
                continue
            finite = np.nan_to_num(mesh_corners, posinf=0.0, neginf=0.0)  # a tree has all triangles
            rebuilt = bvh_build.build(finite, method, leaf=MOST_IN_LEAF)
            if float(rebuilt.statistics["sah_cost"]) < cost:
                bvhs[number] = rebuilt
            costs[number] = min(cost, float(rebuilt.statistics["sah_cost"]))
        self.costs = costs  # dear in this pose, whatever the tree
        return Trees(bvhs, costs) if any(new is not old for new, old in zip(bvhs, self.bvhs, strict=True)) else None


class Rebuilder(Generic[Result]):
    """Looks at a structure's trees now and then, in a thread, which makes another one in their place.

    make : of trees. scales : (D,) from the meshes to the spaces of their objects.
    """

    def __init__(self, trees: Trees, scales: NDArray[np.float64], method: str, make: Callable[[Trees], Result]) -> None:
        self._trees, self._scales, self._method, self._make = trees, scales, method, make
        self._thread: threading.Thread | None = None
        self._finished: Result | None = None
        self._due = time.perf_counter() + LEAST_PAUSE

    def look(self, meshes: Sequence[DeformedMesh]) -> None:
        """Compare costs in a pose, where it is time to."""
        if self._finished is not None or time.perf_counter() < self._due or self._busy:
            return
        # Copies: nobody else is to have the vertices because of this.
        copies = [DeformedMesh(mesh.rest, mesh.deformation, mesh.pose) for mesh in meshes]
        self._thread = threading.Thread(target=self._run, args=(copies,), name=UNWAITED, daemon=True)
        self._thread.start()

    def take(self) -> Result | None:
        """The finished rebuilds, each returned once."""
        finished, self._finished = self._finished, None
        return finished

    def wait(self) -> None:
        """Until the thread is done."""
        if self._thread is not None:
            self._thread.join()

    @property
    def _busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self, meshes: Sequence[DeformedMesh]) -> None:
        start = time.perf_counter()
        with suppress(ViewerError, MemoryError):  # the trees that there are serve on
            with np.errstate(all="ignore"):
                corners = [
                    mesh.positions[mesh.triangles] * np.float32(scale)
                    for mesh, scale in zip(meshes, self._scales.tolist(), strict=True)
                ]
            trees = self._trees.better(corners, self._method)
            if trees is not None:
                self._finished = self._make(trees)
        now = time.perf_counter()
        self._due = now + max(LEAST_PAUSE, PAUSES * (now - start))
