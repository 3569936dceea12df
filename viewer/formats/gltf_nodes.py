"""The node hierarchy of glTF: what is drawn, where; world transforms in float64."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from viewer.errors import ViewerError
from viewer.formats.gltf_json import Object, Objects

Matrix = NDArray[np.float64]

# How far a matrix's last row may be from (0, 0, 0, 1).
_AFFINE = 1e-5


@dataclass
class Nodes:
    """The nodes of a scene, parents before children, depth first, as the file lists them.

    numbers (N,) node numbers; world (N, 4, 4) float64.
    """

    numbers: list[int]
    world: Matrix


def scene_nodes(document: Object, warnings: list[str]) -> Nodes:
    """The nodes of the default scene, of the first where none is default, of all trees where there are no scenes.

    Raises ViewerError for numbers out of range, nodes with two parents, cycles, and transforms that are none.
    """
    nodes = document.objects("nodes")
    children = [node.indices("children", len(nodes), "node") if "children" in node else [] for node in nodes]
    parent = _parents(children, nodes)
    roots = _roots(document, parent, warnings)
    order, above = _depth_first(roots, children)
    local = _local(nodes, order, warnings)
    return Nodes(order, _world(local, above, nodes, order))


def _parents(children: list[list[int]], nodes: Objects) -> list[int]:
    """Every node's parent, -1 for roots. No node has two, and there are no cycles."""
    parent = [-1] * len(children)
    for number, below in enumerate(children):
        for child in below:
            if parent[child] >= 0:
                raise ViewerError(
                    f"{nodes.where}[{child}]",
                    f"is a child of node {parent[child]} and of node {number}",
                    "glTF allows one parent; the hierarchy must be a tree",
                )
            parent[child] = number
    seen = [0] * len(parent)  # the walk that came by
    for start in range(len(parent)):
        node = start
        while node >= 0 and not seen[node]:
            seen[node] = start + 1
            node = parent[node]
        if node >= 0 and seen[node] == start + 1:
            raise ViewerError(f"{nodes.where}[{node}]", "is its own ancestor", "the hierarchy must be a tree")
    return parent


def _roots(document: Object, parent: list[int], warnings: list[str]) -> list[int]:
    scenes = document.objects("scenes")
    chosen = document.index("scene", len(scenes), "scene", None)
    if chosen is None and not len(scenes):
        return [number for number, above in enumerate(parent) if above < 0]
    if chosen is None and len(scenes) > 1:
        warnings.append(f"no default scene: the first of {len(scenes)} is shown")
    scene = scenes[chosen or 0]
    roots = scene.indices("nodes", len(parent), "node")
    seen = set()
    for root in roots:
        if parent[root] >= 0:
            raise scene.fail("nodes", f"node {root} is no root: node {parent[root]} is its parent")
        if root in seen:
            raise scene.fail("nodes", f"names node {root} twice")
        seen.add(root)
    return roots


def _depth_first(roots: list[int], children: list[list[int]]) -> tuple[list[int], list[int]]:
    """Nodes in order, and the place in that order of each one's parent (-1)."""
    order: list[int] = []
    above: list[int] = []
    pending = [(root, -1) for root in reversed(roots)]
    while pending:
        node, before = pending.pop()
        place = len(order)
        order.append(node)
        above.append(before)
        pending.extend((child, place) for child in reversed(children[node]))
    return order, above


def _local(nodes: Objects, order: list[int], warnings: list[str]) -> Matrix:
    """Local transforms (N, 4, 4): a matrix as it is, or translation times rotation times scale."""
    count = len(order)
    translation, rotation, scale = np.zeros((count, 3)), np.zeros((count, 4)), np.ones((count, 3))
    rotation[:, 3] = 1.0
    given: list[int] = []
    matrices: list[tuple[float, ...]] = []
    for place, number in enumerate(order):
        node = nodes[number]
        data = node.data
        if "matrix" in data:
            given.append(place)
            matrices.append(node.numbers("matrix", 16))
            continue
        if "translation" in data:
            translation[place] = node.numbers("translation", 3)
        if "rotation" in data:
            rotation[place] = node.numbers("rotation", 4)
        if "scale" in data:
            scale[place] = node.numbers("scale", 3)
    unturned = int(np.count_nonzero(~rotation.any(axis=1)))
    if unturned:
        warnings.append(f"{unturned:,} nodes have a zero rotation; they are not turned")
    local = compose(translation, rotation, scale)
    if given:
        local[given] = np.array(matrices).reshape(-1, 4, 4).transpose(0, 2, 1)
        wrong = np.abs(local[given][:, 3] - (0.0, 0.0, 0.0, 1.0)).max(axis=1) > _AFFINE
        if wrong.any():
            number = order[given[int(np.argmax(wrong))]]
            raise nodes[number].fail("matrix", "its last row is not 0 0 0 1", "glTF allows affine transforms only")
        local[given, 3] = (0.0, 0.0, 0.0, 1.0)
    return local


def _world(local: Matrix, above: list[int], nodes: Objects, order: list[int]) -> Matrix:
    """Products down the tree, all nodes of equal depth at once."""
    parents = np.array(above, np.int64)
    depth = np.zeros(len(above), np.int64)
    for place, before in enumerate(above):
        if before >= 0:
            depth[place] = depth[before] + 1
    world = local.copy()
    by_depth = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[by_depth], np.arange(1, int(depth.max(initial=0)) + 2))
    with np.errstate(over="ignore", invalid="ignore"):  # found below
        for first, last in pairwise(bounds):
            level = by_depth[first:last]
            world[level] = world[parents[level]] @ local[level]
    bad = ~np.isfinite(world).all(axis=(1, 2))
    if bad.any():
        number = order[int(np.argmax(bad))]
        raise ViewerError(f"{nodes.where}[{number}]", "its transform is beyond what a number can hold", "scale it down")
    return world


def compose(translation: NDArray, rotation: NDArray, scale: NDArray) -> Matrix:
    """(N, 4, 4) float64 of translations (N, 3), quaternions (N, 4) x y z w of any length, scales (N, 3).

    A quaternion without length turns nothing.
    """
    quaternion = np.asarray(rotation, np.float64)
    largest = np.abs(quaternion).max(axis=1, initial=0.0)  # squares of huge and tiny numbers leave float64
    quaternion = quaternion / np.where(largest > 0, largest, 1.0)[:, None]
    length = np.linalg.norm(quaternion, axis=1)
    x, y, z, w = (quaternion / np.where(length > 0, length, 1.0)[:, None]).T
    w = np.where(length > 0, w, 1.0)
    matrix = np.zeros((len(quaternion), 4, 4))
    matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - z * w),
        2 * (x * z + y * w),
    )
    matrix[:, 1, 0], matrix[:, 1, 1], matrix[:, 1, 2] = (
        2 * (x * y + z * w),
        1 - 2 * (x * x + z * z),
        2 * (y * z - x * w),
    )
    matrix[:, 2, 0], matrix[:, 2, 1], matrix[:, 2, 2] = (
        2 * (x * z - y * w),
        2 * (y * z + x * w),
        1 - 2 * (x * x + y * y),
    )
    matrix[:, :3, :3] *= np.asarray(scale, np.float64)[:, None, :]
    matrix[:, :3, 3] = translation
    matrix[:, 3, 3] = 1.0
    return matrix
