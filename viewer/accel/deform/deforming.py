"""The deforming objects of a two-level structure, updated to a pose without a rebuild."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.accel.bvh import build as bvh_build
from raystream.accel.bvh import tree
from raystream.accel.bvh.build import CACHED, FAR_TEST, FEW_BOXES, TEST, TRAVERSAL, Bvh
from raystream.accel.bvh.tree import MOST_IN_LEAF
from raystream.accel.deform.pose import Box, DeformedBounds, PoseTables, Rows, boxes_of, joined
from raystream.base.errors import ViewerError
from raystream.base.interrupts import UNWAITED
from raystream.base.jit import run
from raystream.scene.deform import DeformedMesh
from raystream.scene.mesh import Mesh
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import SMALL, Field, Record

# -- the tables from which fragment programs write triangles and refit bounding volume hierarchies ---------------------
# A node's leaves lie one behind the other, in the order of the tree: its box is a union over a range of the leaves'
# boxes, and where it has many, of boxes over blocks of leaves, over blocks of those, and so on.

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


# -- trees of deforming objects, rebuilt in the background once refitting has made them too loose ----------------------
# C. Lauterbach et al., "RT-DEFORM: Interactive Ray Tracing of Dynamic Scenes using BVHs" (2006): refit, and rebuild
# by a measure of the tree's quality; here the expected cost of the surface area heuristic.

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
    small = len(bvh.order) <= FEW_BOXES
    run(refit, corners, bvh.order, bvh.second, bvh.first, bvh.count, low, high, small=small)
    empty = low[:, 0] > high[:, 0]
    low[empty] = high[empty] = 0.0
    inner, outer, _, _ = run(bvh_build.finish, low, high, bvh.second, bvh.count, bvh.escape.copy(), small=small)
    area = float(run(bvh_build.surface, low[0], high[0], small=True))
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


@dataclass
class Deforming:
    """Deforming objects, the first ones of their structure.

    numbers : (D,) of their meshes in the scene. poses, trees : tables. bvhs : the trees, with their costs. version : of
    the pose; grows with each.
    """

    numbers: list[int]
    poses: PoseTables
    trees: RefitTables
    covers: list[DeformedBounds]
    bvhs: Trees
    version: int = field(default=0)

    @classmethod
    def of(
        cls,
        numbers: Sequence[int],
        meshes: Sequence[DeformedMesh],
        scales: NDArray[np.float64],
        trees: RefitTables,
        bvhs: Sequence[Bvh],
    ) -> Deforming | None:
        """None where weights below zero leave no bounds."""
        covers = [DeformedBounds(mesh, scale) for mesh, scale in zip(meshes, scales.tolist(), strict=True)]
        if not all(cover.convex for cover in covers):
            return None
        return cls(list(numbers), PoseTables(meshes, scales), trees, covers, Trees.of(bvhs))

    def fits(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> bool:
        """Whether these meshes of a scene, in other poses, are deforming objects with room for them, or no objects; one
        that moves while the shutter is open has tables of keys, which are not here."""
        for number in posed:
            mesh = meshes[number]
            if not isinstance(mesh, DeformedMesh) or mesh.motion:
                return False
            if number in self.numbers and not self.poses.fits(self.numbers.index(number), mesh):
                return False
        return True

    def boxes(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> dict[int, Box]:
        """Conservative boxes (2, 3) of objects, by number, in the poses of the scene's meshes."""
        deforming = self._deforming_meshes(meshes, posed)
        if not deforming:
            return {}
        boxes = boxes_of([self.covers[place] for place, _ in deforming], [mesh.pose for _, mesh in deforming])
        return {place: box for (place, _), box in zip(deforming, boxes, strict=True)}

    def pose(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> Rows:
        """Have the poses of the scene's meshes, which `fits`; the changed rows."""
        changed: Rows = []
        for place, mesh in self._deforming_meshes(meshes, posed):
            changed += self.poses.pose(place, mesh)
        self.version += bool(changed)
        return joined(changed)

    def _deforming_meshes(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> list[tuple[int, DeformedMesh]]:
        """Those of the meshes that are deforming objects, with their places."""
        places = {number: place for place, number in enumerate(self.numbers)}
        candidates = ((places.get(number), meshes[number]) for number in posed)
        return [(place, mesh) for place, mesh in candidates if place is not None and isinstance(mesh, DeformedMesh)]
