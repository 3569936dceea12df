"""The node hierarchy of glTF: drawn nodes, their world transforms in float64, and semantic classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.gltf.json import JsonObject, JsonObjects, Omissions
from raystream.scene.hierarchy import compose, levels, visible_nodes, world_transforms

Matrix = NDArray[np.float64]

# Tolerance of a matrix's last row against (0, 0, 0, 1).
_AFFINE = 1e-5
_VISIBILITY = "KHR_node_visibility"


@dataclass
class Nodes:
    """The nodes of a scene, parents before children, depth first, as the file lists them.

    numbers (N,) node numbers; names (N,), empty without one; parents (N,) index of each one's parent in that order, -1
    for roots. translation (N, 3), rotation (N, 4) x y z w, scale (N, 3), undefined for nodes with a matrix; local and
    world (N, 4, 4): float64. visible (N,) bool: the node's own (KHR_node_visibility). shown (N,) bool: neither the node
    nor an ancestor is hidden always. drawn: how many are the scene's own; those after them are of trees beside it that
    hold joints of its skins, and not shown.
    """

    indices: list[int]
    names: list[str]
    parents: NDArray[np.int64]
    translation: Matrix
    rotation: Matrix
    scale: Matrix
    local: Matrix
    world: Matrix
    visible: NDArray[np.bool_]
    shown: NDArray[np.bool_]
    drawn: int


def scene_nodes(
    document: JsonObject, warnings: list[str], omissions: Omissions, animated: Collection[int] = ()
) -> Nodes:
    """The nodes of the default scene, else of the first, else of all trees.

    animated : the indices of nodes whose visibility is animated.

    Raises ViewerError for indices out of range, nodes with two parents, cycles, and invalid transforms.
    """
    nodes = document.objects("nodes")
    children: list[list[int]] = [[] for _ in range(len(nodes))]
    for index in nodes.positions_with("children", range(len(nodes))):
        node = nodes[index]
        with omissions:
            children[index] = node.indices("children", len(nodes), "node")
    parent = _parents(children, nodes)
    roots = _roots(document, parent, warnings)
    order, parents_ = _depth_first(roots, children)
    drawn = len(order)
    for root in _joint_roots(document, nodes, order, parent):
        order, parents_ = _depth_first([root], children, order, parents_)
    names, translation, rotation, scale, local = _local_transforms(nodes, order, warnings, omissions)
    world = _world_transforms_checked(local, parents_, nodes, order)
    visible, shown = _visibility(nodes, order, parents_, animated)
    shown[drawn:] = False
    parents = np.array(parents_, np.int64)
    return Nodes(order, names, parents, translation, rotation, scale, local, world, visible, shown, drawn)


def _parents(children: list[list[int]], nodes: JsonObjects) -> list[int]:
    """Every node's parent, -1 for roots; checked for second parents and cycles."""
    parent = [-1] * len(children)
    for index, children_of_node in enumerate(children):
        for child in children_of_node:
            if parent[child] >= 0:
                raise ViewerError(
                    f"{nodes.where}[{child}]",
                    f"is a child of node {parent[child]} and of node {index}",
                    "glTF allows one parent; the hierarchy must be a tree",
                )
            parent[child] = index
    visited = [0] * len(parent)  # number of the last visit
    for start in range(len(parent)):
        node = start
        while node >= 0 and not visited[node]:
            visited[node] = start + 1
            node = parent[node]
        if node >= 0 and visited[node] == start + 1:
            raise ViewerError(f"{nodes.where}[{node}]", "is its own ancestor", "the hierarchy must be a tree")
    return parent


def _roots(document: JsonObject, parent: list[int], warnings: list[str]) -> list[int]:
    scenes = document.objects("scenes")
    chosen = document.index("scene", len(scenes), "scene", None)
    if chosen is None and not len(scenes):
        return [index for index, above in enumerate(parent) if above < 0]
    if chosen is None and len(scenes) > 1:
        warnings.append(f"no default scene: the first of {len(scenes)} is shown")
    scene = scenes[chosen or 0]
    roots = scene.indices("nodes", len(parent), "node")
    named = set()
    for root in roots:
        if parent[root] >= 0:
            raise scene.fail("nodes", f"node {root} is not a root: its parent is node {parent[root]}")
        if root in named:
            raise scene.fail("nodes", f"names node {root} twice")
        named.add(root)
    return roots


def _joint_roots(document: JsonObject, nodes: JsonObjects, order: list[int], parent: list[int]) -> list[int]:
    """The roots, beside the scene's own, of the trees that hold joints of the scene's skins."""
    skins = document.objects("skins")
    if not len(skins):
        return []
    used = {nodes[index].index("skin", len(skins), "skin") for index in order if "skin" in nodes[index]}
    in_trees, roots = set(order), []
    for index in sorted(used):
        for joint in skins[index].indices("joints", len(nodes), "node"):
            while joint not in in_trees:
                in_trees.add(joint)
                if parent[joint] < 0:
                    roots.append(joint)
                    break
                joint = parent[joint]
    return roots


def _depth_first(
    roots: list[int], children: list[list[int]], order: list[int] | None = None, parents: list[int] | None = None
) -> tuple[list[int], list[int]]:
    """Nodes in depth-first order, and the index of each one's parent (-1); appended to those given."""
    order, parents = order or [], parents or []
    pending = [(root, -1) for root in reversed(roots)]
    while pending:
        node, parent = pending.pop()
        position = len(order)
        order.append(node)
        parents.append(parent)
        if children[node]:
            pending.extend((child, position) for child in reversed(children[node]))
    return order, parents


def _visibility(
    nodes: JsonObjects, order: list[int], parents: list[int], animated: Collection[int]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    visible = np.ones(len(order), bool)
    for position in nodes.positions_with_extension(_VISIBILITY, order):
        extension = nodes[order[position]].extension(_VISIBILITY)
        visible[position] = extension is None or extension.flag("visible", True)
    sometimes_visible = visible | np.isin(order, list(animated)) if animated else visible
    return visible, visible_nodes(sometimes_visible, np.array(parents, np.int64))


def _local_transforms(
    nodes: JsonObjects, order: list[int], warnings: list[str], omissions: Omissions
) -> tuple[list[str], Matrix, Matrix, Matrix, Matrix]:
    """Names; translation, rotation, scale; local transforms (N, 4, 4), from these or from the file's matrix."""
    count = len(order)
    translation, rotation, scale = np.zeros((count, 3)), np.zeros((count, 4)), np.ones((count, 3))
    rotation[:, 3] = 1.0
    names = [""] * count
    translated: list[int] = []
    offsets: list[tuple[float, ...]] = []
    with_matrix: list[int] = []
    matrices: list[tuple[float, ...]] = []
    for position, index in enumerate(order):
        node = nodes[index]
        with omissions:
            names[position] = node.text("name", "")
        with omissions:
            if "matrix" in node:
                matrices.append(_matrix(node))
                with_matrix.append(position)
                continue
            if (offset := node.numbers("translation", 3, None)) is not None:
                offsets.append(offset)
                translated.append(position)
            if "rotation" in node:
                rotation[position] = node.numbers("rotation", 4)
            if "scale" in node:
                scale[position] = node.numbers("scale", 3)
    translation[translated] = np.array(offsets).reshape(-1, 3)
    zero_rotations = int(np.count_nonzero(~rotation.any(axis=1)))
    if zero_rotations:
        warnings.append(f"{zero_rotations:,} nodes have a zero rotation; they are not turned")
    local = compose(translation, rotation, scale)
    if with_matrix:
        local[with_matrix] = np.array(matrices).reshape(-1, 4, 4).transpose(0, 2, 1)
        local[with_matrix, 3] = (0.0, 0.0, 0.0, 1.0)
    return names, translation, rotation, scale, local


def _matrix(node: JsonObject) -> tuple[float, ...]:
    """A node's matrix, column by column; raises ViewerError for one that is not affine."""
    matrix: tuple[float, ...] = node.numbers("matrix", 16)
    if max(abs(matrix[3]), abs(matrix[7]), abs(matrix[11]), abs(matrix[15] - 1.0)) > _AFFINE:
        raise node.fail("matrix", "its last row is not 0 0 0 1", "glTF allows affine transforms only")
    return matrix


def _world_transforms_checked(local: Matrix, parents: list[int], nodes: JsonObjects, order: list[int]) -> Matrix:
    """World transforms (N, 4, 4). Raises ViewerError for the first overflow of float64."""
    parent_array = np.array(parents, np.int64)
    world = world_transforms(local, levels(parent_array), parent_array)
    bad = ~np.isfinite(world).all(axis=(1, 2))
    if bad.any():
        index = order[int(np.argmax(bad))]
        raise ViewerError(f"{nodes.where}[{index}]", "its transform overflows float64", "scale it down")
    return world


# Of ``extras`` of nodes and meshes, by which they name their semantic class, a text or a whole number; the node's own
# goes before its mesh's.
KEYS = ("class", "semantic")


def semantic_classes(document: JsonObject, indices: Sequence[int]) -> list[str] | None:
    """The classes of the nodes of these indices, empty without one; None if none has."""
    nodes, meshes = document.objects("nodes"), document.objects("meshes")
    classes = [""] * len(indices)
    for position in sorted({*nodes.positions_with("extras", indices), *nodes.positions_with("mesh", indices)}):
        node = nodes[indices[position]]
        mesh = node.integer("mesh", -1, low=-(1 << 53))
        label = _class_of(node.data)
        if not label and 0 <= mesh < len(meshes):
            label = _class_of(meshes[mesh].data)
        classes[position] = label
    return classes if any(classes) else None


def _class_of(data: Mapping[str, Any]) -> str:
    """The class by the extras of an object; extras of any other form are another application's."""
    extras = data.get("extras")
    if not isinstance(extras, dict):
        return ""
    for key in KEYS:
        value = extras.get(key)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
    return ""
