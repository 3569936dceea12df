"""The bounding volume hierarchy: binary, built on the host by the surface area heuristic or by midpoints."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from raystream.accel.bvh import layout as bvh_layout
from raystream.accel.bvh import loops
from raystream.accel.bvh.splits import CACHED, FAR_TEST, MOST_DEPTH, TEST, TRAVERSAL
from raystream.base.errors import ViewerError
from raystream.base.jit import run

__all__ = ["MOST_DEPTH", "Bvh", "build", "build_boxes", "escape_links", "octant_links"]

LIMIT = 1 << 24  # triangles; as in the grid, addresses are floats
METHODS = ("sah", "midpoint")
LARGEST_LEAF = 255
SMALL = 96  # number of boxes below which the loops are not worth compiling
FEWEST = 4  # the same of a tree that is built for every picture
# Parts of the list above this size are split one at a time, smaller ones grown in one go: the jobs of the threads. It
# affects speed alone: a part's tree is the same in either case.
GRAIN = 1 << 14
MOST_WORKERS = 8
BUILDING = "building the tree"  # word of the progress report

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Bvh:
    """A binary bounding volume hierarchy in depth-first order: an inner node's first child follows it.

    At least one node: an empty tree is a leaf without triangles, at the origin.

    low, high  : (N, 3) float32, boxes: the exact bounds of their contents.
    second     : (N,) int32, the second child's number; -1 in a leaf.
    first      : (N,) int32, leaf: address of its first triangle in `order`; 0 in an inner node.
    count      : (N,) int32, leaf: triangles in it; 0 in an inner node.
    axis       : (N,) int8, inner node: axis 0, 1, 2 of the split, the first child on the lower side (no centre of a box
                 in it is above one in the second); 0 in a leaf.
    escape     : (N,) int32, the node after the subtree in depth-first order; N at the end.
    order      : (T',) int32, numbers of triangles in leaf order, without those with a non-finite corner.
    keys       : (K, N, 2, 3) float32, boxes at keys in time (`raystream.accel.bvh.keyed`); None: it stands still.
    depth      : levels below the root, at most `MOST_DEPTH`.
    statistics : counts, SAH cost, seconds and bytes of the build, by name. `sah_cost` is the expected cost of a random
                 line through the root's box: TRAVERSAL per inner node, TEST or FAR_TEST per triangle (`loops`).
    """

    low: NDArray[np.float32]
    high: NDArray[np.float32]
    second: NDArray[np.int32]
    first: NDArray[np.int32]
    count: NDArray[np.int32]
    axis: NDArray[np.int8]
    escape: NDArray[np.int32]
    order: NDArray[np.int32]
    depth: int
    statistics: dict[str, float | int]
    keys: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class _Rule:
    """Rule of splits: midpoint or SAH; most boxes in a leaf; cost of testing a box's content."""

    midpoint: bool
    leaf: int
    test: float


@dataclass
class _Part:
    """A part of the list: first .. last - 1, at ``depth`` levels below the root; summary (12,), see `bvh_kernels`.

    When done it is a subtree, with its number of nodes, or split along the axis into two parts.
    """

    first: int
    last: int
    depth: int
    summary: NDArray[np.float64]
    nodes: int = 0
    deepest: int = 0
    axis: int = 0
    halves: tuple[_Part, _Part] | None = None


def build(corners: NDArray[np.float32], method: str = "sah", leaf: int = 4, progress: Progress | None = None) -> Bvh:
    """Build a hierarchy over triangles.

    corners  : (T, 3, 3) float32. Triangles with a non-finite corner are left out; numbers refer to `corners`.
    method   : "sah": binned surface area heuristic (Wald, "On fast construction of SAH-based bounding volume
               hierarchies", 2007), for few triangles every position along every axis; leaves where they cost less.
               "midpoint": the middle of the node's box along x, y, z in turn, one triangle per leaf regardless of
               `leaf`.
    leaf     : most triangles in a leaf, 1 to 255.
    progress : called with the share done, 0 to 1, and a word.

    Parts are halved where a tree would grow deeper than `MOST_DEPTH`, or centres coincide. The result does not depend
    on the number of threads. Raises ViewerError for an unknown method, a leaf size out of range, corners of another
    shape, and over 2^24 triangles.
    """
    begin = time.perf_counter()
    if np.ndim(corners) != 3 or np.shape(corners)[1:] != (3, 3):
        raise ViewerError("bvh", f"corners have shape {np.shape(corners)}, expected (T, 3, 3)")
    if method not in METHODS:
        raise ViewerError("bvh", f"unknown build {method!r}", f"one of {', '.join(METHODS)}")
    corners = np.require(corners, np.float32, ["C"])
    return _build(loops.gather, (corners,), method == "midpoint", 1 if method == "midpoint" else leaf, progress, begin)


def build_boxes(
    low: NDArray[np.float32], high: NDArray[np.float32], leaf: int = 1, often: bool = False, method: str = "sah"
) -> Bvh:
    """The same over boxes: the top structure of a scene of instances. `order` holds numbers of boxes.

    low, high : (T, 3) float32. Boxes that are not finite, or empty (low above high), are left out.
    leaf      : most boxes in a leaf, 1 to 255. often : loops are compiled for few boxes, too; the tree is the same.
    method    : as of `build`.

    Raises ViewerError as `build` does.
    """
    begin = time.perf_counter()
    if np.ndim(low) != 2 or np.shape(low)[1:] != (3,) or np.shape(high) != np.shape(low):
        raise ViewerError("bvh", f"boxes have shapes {np.shape(low)} and {np.shape(high)}, expected (T, 3) twice")
    pair = np.require(low, np.float32, ["C"]), np.require(high, np.float32, ["C"])
    return _build(loops.gather_boxes, pair, method == "midpoint", leaf, None, begin, FEWEST if often else SMALL)


def octant_links(bvh: Bvh, often: bool = False) -> NDArray[np.int32]:
    """Links of a stackless front-to-back traversal, per octant of the ray's direction: (8, N, 2) int32.

    Bit k of the octant is set where direction[k] < 0. [..., 0] is the next node after a hit of the box: at an inner
    node the nearer child along the node's axis. [..., 1] is the next node after a miss, or after a leaf. In a leaf both
    are equal. Traversal starts at node 0 and ends at N. often : as of `build_boxes`.
    """
    links = np.empty((8, len(bvh.second), 2), np.int32)
    run(bvh_layout.octants, bvh.second, bvh.axis, links, small=len(bvh.second) <= 2 * (FEWEST if often else SMALL))
    return links


def escape_links(bvh: Bvh) -> NDArray[np.int32]:
    """The same links of the traversal in depth-first order, whatever the direction."""
    links = np.empty((8, len(bvh.second), 2), np.int32)
    links[..., 0] = np.where(bvh.second < 0, bvh.escape, np.arange(1, len(bvh.second) + 1))
    links[..., 1] = bvh.escape
    return links


def _build(
    gather: Callable,
    arrays: tuple[NDArray, ...],
    midpoint: bool,
    leaf: int,
    progress: Progress | None,
    begin: float,
    least: int = SMALL,
) -> Bvh:
    """The tree over the boxes that the loop `gather` makes from `arrays`."""
    total = len(arrays[0])
    if total > LIMIT:
        raise ViewerError("bvh", f"{total:,} triangles, and addresses end at {LIMIT:,}")
    if not isinstance(leaf, (int, np.integer)) or isinstance(leaf, bool) or not 1 <= leaf <= LARGEST_LEAF:
        raise ViewerError("bvh", f"leaf size {leaf!r}", f"give a number from 1 to {LARGEST_LEAF}")
    report = progress or (lambda fraction, text: None)
    small = total <= least
    refs, summary = np.empty((total + 1, 8), np.float32), np.empty(12)
    used = run(gather, *arrays, refs, summary, small=small)
    if used == 0:
        report(1.0, BUILDING)
        return _empty(total, begin)
    boxes, links = np.empty((2 * used, 8), np.float32), np.empty((2 * used, 4), np.int32)
    root = _Part(0, used, 0, summary)
    rule = _Rule(midpoint, int(leaf), TEST if used <= CACHED else FAR_TEST)
    _grow(root, refs, rule, boxes, links, report, small)
    bvh = _assemble(root, refs, rule, boxes, links, small)
    buffers = (refs, boxes, links)
    nbytes = sum(array.nbytes for array in vars(bvh).values() if isinstance(array, np.ndarray))
    bvh.statistics.update(
        triangles=total,
        left_out=total - used,
        bytes=nbytes,
        peak_bytes=nbytes + sum(array.nbytes for array in buffers),  # without the input
        seconds=time.perf_counter() - begin,
    )
    report(1.0, BUILDING)
    return bvh


def _grow(
    root: _Part, refs: NDArray, rule: _Rule, boxes: NDArray, links: NDArray, report: Progress, small: bool
) -> None:
    """Split the large parts, one job each, and grow the others, until all are done."""

    def job(part: _Part) -> None:
        span = part.first, part.last, part.depth, rule.midpoint, rule.leaf, rule.test, part.summary
        if part.last - part.first <= GRAIN:
            room = *loops.scratch(), *loops.stack()
            part.nodes, part.deepest = run(loops.grow, refs, *span, boxes, links, *room, small=small)
            return
        left, right = np.empty(12), np.empty(12)
        part.axis, middle = run(loops.split, refs, *span, left, right, *loops.scratch())
        below = part.depth + 1
        part.halves = _Part(part.first, middle, below, left), _Part(middle, part.last, below, right)

    job(root)
    if root.halves is None:
        return
    done = 0
    # Parts that are done: `concurrent.futures.wait` looks at all of a thousand at every call.
    ready: SimpleQueue[tuple[_Part, Future]] = SimpleQueue()
    with _workers() as pool:

        def begin(part: _Part) -> None:
            pool.submit(job, part).add_done_callback(lambda future: ready.put((part, future)))

        for half in root.halves:
            begin(half)
        while done < root.last:
            part, future = ready.get()
            future.result()
            if part.halves is None:
                done += part.last - part.first
                report(done / root.last, BUILDING)
            else:
                for half in part.halves:
                    begin(half)


@contextmanager
def _workers() -> Iterator[Executor]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    pool = ThreadPoolExecutor(min(cores, MOST_WORKERS))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C no other part is begun


def _assemble(root: _Part, refs: NDArray, rule: _Rule, boxes: NDArray, links: NDArray, small: bool) -> Bvh:
    """The nodes of all parts in depth-first order."""
    parts: list[_Part] = []  # depth-first
    waiting = [root]
    while waiting:
        parts.append(part := waiting.pop())
        if part.halves is not None:
            waiting += reversed(part.halves)
    for part in reversed(parts):
        if part.halves is not None:
            part.nodes = 1 + sum(half.nodes for half in part.halves)
            part.deepest = max(half.deepest for half in part.halves)
    total = root.nodes
    low, high = np.empty((total, 3), np.float32), np.empty((total, 3), np.float32)
    second, first, count, escape = (np.empty(total, np.int32) for _ in range(4))
    axis = np.empty(total, np.int8)
    at = 0
    for part in parts:
        if part.halves is None:
            arrays = low, high, second, first, count, axis
            run(bvh_layout.place_nodes, boxes, links, 2 * part.first, part.nodes, at, *arrays, small=small)
            at += part.nodes
            continue
        low[at], high[at] = part.summary[:3], -part.summary[3:6]
        second[at], first[at], count[at], axis[at] = at + 1 + part.halves[0].nodes, 0, 0, part.axis
        at += 1
    inner, outer, most, leaves = run(bvh_layout.finish, low, high, second, count, escape, small=small)
    order = refs[: root.last, 6].astype(np.int32)
    area = float(run(bvh_layout.surface, low[0], high[0], small=True))
    statistics: dict[str, float | int] = {
        "nodes": total,
        "leaves": int(leaves),
        "depth": root.deepest,
        "triangles_per_leaf": len(order) / int(leaves),
        "largest_leaf": int(most),
        "sah_cost": (TRAVERSAL * float(inner) + rule.test * float(outer)) / area if area > 0.0 else 0.0,
    }
    return Bvh(low, high, second, first, count, axis, escape, order, root.deepest, statistics)


def _empty(total: int, begin: float) -> Bvh:
    """The tree of one empty leaf."""
    box, one, zero = np.zeros((1, 3), np.float32), np.ones(1, np.int32), np.zeros(1, np.int32)
    counts: dict[str, float | int] = {"nodes": 1, "leaves": 1, "depth": 0, "triangles_per_leaf": 0.0, "largest_leaf": 0}
    rest = {"sah_cost": 0.0, "triangles": total, "left_out": total, "bytes": 41, "peak_bytes": 41}
    statistics = counts | rest | {"seconds": time.perf_counter() - begin}
    nothing = np.zeros(0, np.int32)
    return Bvh(box, box.copy(), -one, zero, zero.copy(), zero.astype(np.int8), one, nothing, 0, statistics)
