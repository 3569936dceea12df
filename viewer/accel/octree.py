"""The octree: cells halved along all axes, built level by level on the host, and traversed without a stack.

A leaf lists every triangle that overlaps its cell, so that a triangle may be in several. Cells are halves of a cube
around the scene; a node's box is the part of its cell that its triangles fill. Source of the structure: A. S. Glassner,
"Space Subdivision for Fast Ray Tracing" (1984).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raystream.accel.bvh_tree import NODE_TRAVERSAL, PROVIDES, enlarged
from raystream.accel.grid.grid import ENTRY
from raystream.accel.motion import corner_bounds
from raystream.base.jit import run
from raystream.kernels.records import RAY
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import ROWS, SMALL, Field, Record

# Where rays are uniform, a child's cell is met by a quarter of those that meet its parent's: a cell is divided where a
# quarter of its children's triangles, and this for the eight children, is less than its own triangles. On llvmpipe
# 2, 4 and 8 are within 7 % of each other (eye rays, M/s: bunny 6.0, 6.4, 6.3; dragon 3.9, 3.9, 4.1).
DIVISION_COST = 4.0
MAX_DEPTH = 20  # levels below the root: cells of a millionth of the scene
MARGIN = 2.0**-20  # of the scene's extent, by which cells overlap: more than the rounding of their float32 boxes
# Addresses are floats, exact to 2^24: those of links, eight for each node, and of lists.
MAX_NODES, MAX_ENTRIES = 1 << 21, 1 << 24
SMALL_WORK = 200  # triangles up to which the loops are not worth compiling

NODE = Record(
    "OctreeNode",
    Field("low", "vec3", "scene units", "world", "of what its triangles fill of its cell"),
    Field("first", "int", about="of a leaf: address of its first triangle in the lists", within=ROWS),
    Field("high", "vec3", "scene units", "world"),
    Field("count", "int", about="triangles of a leaf; 0: an inner node", within=SMALL),
)
LINK = Record(
    "OctreeLink",
    Field("entered", "int", about="the child that rays of the octant reach first; of a leaf: as missed", within=ROWS),
    Field("missed", "int", about="the node after this one and all below it, along rays of the octant", within=ROWS),
)


@dataclass(frozen=True)
class Octree:
    """Nodes level by level, the root first; an empty tree has none.

    low, high   : (N, 3) float32, boxes. first, count : (N,) int32, of leaves in `lists`, 0 in inner nodes.
    children    : (N, 8) int32, -1: none there; child k is in the upper half along x, y, z by the bits 1, 2, 4 of k.
    lists       : (E,) int32, indices of triangles, ascending in each leaf.
    depth       : levels below the root. statistics : counts, seconds and bytes, by name.
    """

    low: NDArray[np.float32]
    high: NDArray[np.float32]
    first: NDArray[np.int32]
    count: NDArray[np.int32]
    children: NDArray[np.int32]
    lists: NDArray[np.int32]
    depth: int
    statistics: dict[str, float | int]


# -- build -------------------------------------------------------------------------------------------------------------


def mark_overlaps(bounds, planes, triangle, cell, centers, half, margin, masks, counts):
    """Mark which of the eight child cells each entry's triangle overlaps, by its bounds and plane.

    bounds (T, 6), planes (T, 4) float64: lowest and highest corners; normal and distance, zeros: none. triangle, cell
    (E,) int32: entries of cells with ``centers`` (C, 3). masks (E,) uint8, counts (C, 8) int64: written, a bit and a
    number for each child.
    """
    half_child = 0.5 * half + margin
    for e in range(len(triangle)):
        t, c = triangle[e], cell[e]
        x, y, z = centers[c, 0], centers[c, 1], centers[c, 2]
        along_x = int(bounds[t, 0] <= x + margin) + 2 * int(bounds[t, 3] >= x - margin)
        along_y = int(bounds[t, 1] <= y + margin) + 2 * int(bounds[t, 4] >= y - margin)
        along_z = int(bounds[t, 2] <= z + margin) + 2 * int(bounds[t, 5] >= z - margin)
        p, q, r = planes[t, 0], planes[t, 1], planes[t, 2]
        max_distance = (abs(p) + abs(q) + abs(r)) * half_child
        center_distance = p * x + q * y + r * z - planes[t, 3]
        mask = 0
        for k in range(8):
            i, j, m = k & 1, (k >> 1) & 1, k >> 2
            if (along_x >> i) & (along_y >> j) & (along_z >> m) & 1:
                distance = center_distance + half * (p * (i - 0.5) + q * (j - 0.5) + r * (m - 0.5))
                if abs(distance) <= max_distance:
                    mask |= 1 << k
                    counts[c, k] += 1
        masks[e] = mask


def distribute_entries(triangle, cell, masks, places, cursors, child_triangles, child_cells):
    """Write the list entries of all child cells.

    places (C, 8) int32: the number of each child, -1: none; cursors (C',) int64: where its entries begin, moved to
    their end. below, into (E',) int32: triangle and child of each entry, written in the order of the children and, in
    each, of the triangles.
    """
    for e in range(len(triangle)):
        for k in range(8):
            if (masks[e] >> k) & 1 and places[cell[e], k] >= 0:
                child = places[cell[e], k]
                child_triangles[cursors[child]] = triangle[e]
                child_cells[cursors[child]] = child
                cursors[child] += 1


def fit_boxes(bounds, triangle, cell, centers, half, boxes):
    """Write ``boxes`` (C, 6) float64: of each cell, by its center and half edge, the part that its triangles fill."""
    for c in range(len(boxes)):
        for axis in range(3):
            boxes[c, axis], boxes[c, 3 + axis] = np.inf, -np.inf
    for e in range(len(triangle)):
        t, c = triangle[e], cell[e]
        for axis in range(3):
            low = max(bounds[t, axis], centers[c, axis] - half)
            high = min(bounds[t, 3 + axis], centers[c, axis] + half)
            boxes[c, axis] = min(boxes[c, axis], low)
            boxes[c, 3 + axis] = max(boxes[c, 3 + axis], high)


def build(corners: NDArray[np.float32], boxed: NDArray[np.bool_] | None = None) -> Octree:
    """The octree over triangles with corners (T, 3, 3), of which those with a non-finite one are left out.

    boxed : (T,), whether the corners stand for their whole box.
    """
    start_time = time.perf_counter()
    low, high = corner_bounds(corners)
    finite = np.asarray(np.isfinite(corners).all(axis=(1, 2)))
    bounds = np.concatenate([low, high], axis=1).astype(np.float64)
    planes = _planes(corners, finite, boxed)
    triangle = np.flatnonzero(finite).astype(np.int32)
    small = len(triangle) <= SMALL_WORK
    boxes, starts, counts, children, lists = [], [], [], [], []
    total = listed = 0  # nodes and list entries so far
    if len(triangle):
        corners_of_scene = bounds[triangle, :3].min(axis=0), bounds[triangle, 3:].max(axis=0)
        half = 0.5 * float((corners_of_scene[1] - corners_of_scene[0]).max()) or 1e-20
        margin = MARGIN * max(half, float(np.abs(corners_of_scene).max()) * 2.0**-4)
        centers, cell = 0.5 * (corners_of_scene[0] + corners_of_scene[1])[None], np.zeros(len(triangle), np.int32)
    depth = 0
    while len(triangle):
        cells = len(centers)
        filled = np.empty((cells, 6))
        run(fit_boxes, bounds, triangle, cell, centers, half + margin, filled, small=small)
        masks, below = np.zeros(len(triangle), np.uint8), np.zeros((cells, 8), np.int64)
        run(mark_overlaps, bounds, planes, triangle, cell, centers, half, margin, masks, below, small=small)
        inside = np.bincount(cell, minlength=cells)
        divided = (0.25 * below.sum(axis=1) + DIVISION_COST < inside) & (depth < MAX_DEPTH)
        divided &= _affordable(divided, inside, below, MAX_NODES - total - cells, MAX_ENTRIES - listed - len(triangle))
        leaf_entries = ~divided[cell]
        lists.append(triangle[leaf_entries])
        leaf_counts = np.where(divided, 0, inside)
        starts.append(np.where(divided, 0, listed + np.cumsum(leaf_counts) - leaf_counts))
        counts.append(leaf_counts)
        boxes.append(filled)
        below[~divided] = 0
        child_exists = below > 0
        child_numbers = np.where(child_exists, np.cumsum(child_exists).reshape(cells, 8) - 1, -1).astype(np.int32)
        children.append(np.where(child_exists, child_numbers + total + cells, -1))
        total, listed = total + cells, listed + int(leaf_counts.sum())
        parent, k = np.nonzero(child_exists)
        entry_ends = np.cumsum(below[child_exists])
        onward = np.empty(int(below.sum()), np.int32), np.empty(int(below.sum()), np.int32)
        run(
            distribute_entries,
            triangle,
            cell,
            masks,
            child_numbers,
            entry_ends - below[child_exists],
            *onward,
            small=small,
        )
        triangle, cell = onward
        half *= 0.5
        centers = centers[parent] + half * (2 * (k[:, None] >> np.arange(3) & 1) - 1)
        depth += 1
    box = np.concatenate(boxes) if boxes else np.zeros((0, 6))
    first, count = (np.concatenate(parts or [np.zeros(0)]).astype(np.int32) for parts in (starts, counts))
    tree_children = np.concatenate(children or [np.zeros((0, 8))]).astype(np.int32)
    entries = np.concatenate(lists or [np.zeros(0)]).astype(np.int32)
    node_low, node_high = enlarged(box[:, :3].astype(np.float32), box[:, 3:].astype(np.float32))
    statistics = {
        "triangles": len(corners),
        "left_out": int((~finite).sum()),
        "nodes": len(box),
        "leaves": int((count > 0).sum()),
        "entries": len(entries),
        "depth": max(depth - 1, 0),
        "bytes": len(box) * 4 * (NODE.scalars + 8 * LINK.scalars) + 4 * len(entries),
        "seconds": time.perf_counter() - start_time,
    }
    return Octree(node_low, node_high, first, count, tree_children, entries, max(depth - 1, 0), statistics)


def _affordable(
    divided: NDArray[np.bool_], inside: NDArray[np.intp], below: NDArray[np.int64], max_nodes: int, max_entries: int
) -> NDArray[np.bool_]:
    """(C,) which of the cells to be divided are within the limits of further nodes and list entries: the fullest first.

    inside (C,), below (C, 8): triangles of the cells, and of their children's.
    """
    fullest = np.argsort(np.where(divided, -inside, 0), kind="stable")
    fullest = fullest[divided[fullest]]
    fits = np.cumsum((below[fullest] > 0).sum(axis=1)) <= max_nodes
    fits &= np.cumsum(np.maximum(below[fullest].sum(axis=1) - inside[fullest], 0)) <= max_entries
    affordable = np.zeros(len(divided), bool)
    affordable[fullest[fits]] = True
    return affordable


def _planes(
    corners: NDArray[np.float32], finite: NDArray[np.bool_], boxed: NDArray[np.bool_] | None
) -> NDArray[np.float64]:
    """(T, 4): unit normals of triangles, and their planes' distances from the origin; zeros where there is none."""
    points = np.where(finite[:, None, None], corners, 0).astype(np.float64)
    normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    # Of slivers the cross product is rounding alone: its sine is below that of float64.
    longest = np.square(points - np.roll(points, 1, axis=1)).sum(axis=2).max(axis=1)[:, None]
    normal = np.where(length > 1e-9 * longest, normal / np.where(length > 0, length, 1), 0.0)
    if boxed is not None:
        normal[boxed] = 0.0
    return np.concatenate([normal, (normal * points[:, 0]).sum(axis=1, keepdims=True)], axis=1)


def links(tree: Octree) -> NDArray:
    """(8 N,) of `LINK`, octant by octant: bits 1, 2, 4 of a ray with negative x, y, z. N ends a traversal."""
    total = len(tree.low)
    table = np.zeros((8, total), LINK.dtype)
    entered, missed = table["entered"], table["missed"]
    missed[:, :1] = total
    inner = np.flatnonzero(tree.count == 0)
    for octant in range(8):
        # Parents come before their children; a level's parents are those whose children follow all of them.
        for level in np.split(inner, _level_starts(tree, inner)):
            next_node = missed[octant, level]
            for k in reversed(range(8)):
                child = tree.children[level, k ^ octant]
                exists = child >= 0
                missed[octant, child[exists]] = next_node[exists]
                next_node = np.where(exists, child, next_node)
            entered[octant, level] = next_node
    leaf = tree.count > 0
    entered[:, leaf] = missed[:, leaf]
    return table.ravel()


def _level_starts(tree: Octree, inner: NDArray[np.intp]) -> NDArray[np.intp]:
    """Indices into ``inner`` of the first node of each level below the root."""
    starts, start = [], 1
    while start < len(tree.low):
        starts.append(start)
        level_children = tree.children[starts[-2] if len(starts) > 1 else 0 : start]
        start = int(level_children.max()) + 1
    return np.searchsorted(inner, starts)


# -- module ------------------------------------------------------------------------------------------------------------


def module(tree: Octree) -> Module:
    """The module that traverses it, with lists of triangles' indices."""
    nodes = np.zeros(len(tree.low), NODE.dtype)
    for name in NODE.dtype.names or ():
        nodes[name] = getattr(tree, name)
    lists = np.zeros(len(tree.lists), ENTRY.dtype)
    lists["entry"] = tree.lists
    return Module(
        "octree",
        PROVIDES,
        "accel/octree.glsl",
        memories=(
            Table("octree_nodes", NODE, nodes, hot=True),
            Table("octree_links", LINK, links(tree), hot=True),
            Table("octree_lists", ENTRY, lists, hot=True),
        ),
        uniforms={"octree_count": ("int", len(tree.low))},
        module_state=NODE_TRAVERSAL,
        uses=(RAY,),
    )
