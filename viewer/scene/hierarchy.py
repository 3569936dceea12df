"""The nodes of instances, cameras and lights: local transforms, and their products down the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.scene.deform import MeshPose

Float = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Skin:
    """Nodes that vertices follow.

    joints  : (J,) int64, nodes of the hierarchy.
    inverse : (J, 4, 4) float64, from the mesh at rest to each joint's space (glTF's inverse bind matrices).
    """

    joints: Index
    inverse: Float

    def matrices(self, world: Float) -> Float:
        """(J, 4, 4) float64: from the mesh at rest to the world; world (N, 4, 4) of all nodes."""
        with np.errstate(over="ignore", invalid="ignore"):  # the vertices that follow are not finite, and not hit
            return world[self.joints] @ self.inverse


@dataclass(frozen=True, eq=False)
class Deformer:
    """The controls of a deforming mesh: the joints of a skin, and the weights that a node has for its morph targets.

    mesh : number in the scene. node : of the hierarchy, whose tracks animate the weights; -1: none. skin : None without
    joints. weights : (M,) float64, at rest.
    """

    mesh: int
    node: int
    skin: Skin | None = None
    weights: Float = field(default_factory=lambda: np.zeros(0))

    def pose(self, world: Float, weights: Float | None = None) -> MeshPose:
        """The mesh's pose by world transforms (N, 4, 4) of all nodes, and weights (M,), by default those at rest."""
        joints = np.zeros((0, 4, 4)) if self.skin is None else self.skin.matrices(world)
        return MeshPose(joints, self.weights if weights is None else weights)


@dataclass(frozen=True)
class Hierarchy:
    """The nodes of a scene at rest, parents before children.

    names          : the nodes' names, possibly empty or repeated.
    parents        : (N,) int64, -1 for roots.
    translation, rotation, scale : (N, 3), (N, 4) x y z w, (N, 3) float64; undefined for nodes with a matrix.
    local          : (N, 4, 4) float64 for column vectors: translation times rotation times scale, or the node's matrix.
    instance_nodes : (I,) int64, the node of each instance of the scene; -1: none, directly in the world.
    camera_nodes, light_nodes : (C,) and (L,) int64, the same for cameras and lights.
    offsets        : (I, 4, 4) float64, each instance's transform relative to its node; None if all are identities.
    visible        : (N,) bool, whether each node is at rest, but for those that it is below; None if all are.
    instance_owners : (I,) int64, the node that shows each instance, also where it is not the one that moves it; None:
                     `instance_nodes`.
    classes        : the semantic class of each node, empty without one; None if none has.
    deformers      : one for each deforming mesh. Instances of a skinned mesh are on no node: its joints take it to the
                     world.
    """

    names: Sequence[str]
    parents: Index
    translation: Float
    rotation: Float
    scale: Float
    local: Float
    instance_nodes: Index
    camera_nodes: Index
    light_nodes: Index
    offsets: Float | None = None
    deformers: tuple[Deformer, ...] = ()
    visible: NDArray[np.bool_] | None = None
    instance_owners: Index | None = None
    classes: Sequence[str] | None = None

    @property
    def owners(self) -> Index:
        """(I,) int64, the node that shows each instance, -1: none."""
        return self.instance_nodes if self.instance_owners is None else self.instance_owners

    @classmethod
    def of(
        cls,
        parents: ArrayLike,
        translation: ArrayLike,
        instance_nodes: ArrayLike,
        camera_nodes: ArrayLike = (),
        rotation: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        light_nodes: ArrayLike = (),
    ) -> Hierarchy:
        """A hierarchy of nodes by translation (N, 3), rotation (N, 4) and scale (N, 3)."""
        parent_array = np.asarray(parents, np.int64)
        count = len(parent_array)
        translations = np.asarray(translation, np.float64).reshape(count, 3)
        rotations = np.tile((0.0, 0.0, 0.0, 1.0), (count, 1)) if rotation is None else np.asarray(rotation, np.float64)
        scales = np.ones((count, 3)) if scale is None else np.asarray(scale, np.float64)
        return cls(
            [""] * count if names is None else names,
            parent_array,
            translations,
            rotations,
            scales,
            compose(translations, rotations, scales),
            np.asarray(instance_nodes, np.int64),
            np.asarray(camera_nodes, np.int64),
            np.asarray(light_nodes, np.int64),
        )

    def world(self) -> Float:
        """(N, 4, 4) float64: every node's transform to the world at rest."""
        return world_transforms(self.local, levels(self.parents), self.parents)


def levels(parents: Index) -> list[Index]:
    """The nodes of each depth, roots first; parents (N,) come before their children."""
    depth = np.zeros(len(parents), np.int64)
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            depth[node] = depth[parent] + 1
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2))
    return [order[first:last] for first, last in pairwise(bounds)]


def visible_nodes(flags: NDArray[np.bool_], parents: Index, nodes: Sequence[Index] | None = None) -> NDArray[np.bool_]:
    """(N,): which nodes are shown, by their own flags (N,): those that are visible below nodes that are."""
    visible = flags.copy()
    for level in (levels(parents) if nodes is None else nodes)[1:]:
        visible[level] &= visible[parents[level]]
    return visible


def world_transforms(local: Float, nodes: Sequence[Index], parents: Index) -> Float:
    """Products (N, 4, 4) down the tree, all nodes of equal depth at once; ``nodes`` as from `levels`.

    Overflows are not finite; the caller checks.
    """
    world = local.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for level in nodes[1:]:
            world[level] = world[parents[level]] @ local[level]
    return world


def compose(translation: ArrayLike, rotation: ArrayLike, scale: ArrayLike) -> Float:
    """(N, 4, 4) float64 from translations (N, 3), quaternions (N, 4) x y z w of any length, scales (N, 3).

    A zero quaternion is the identity.
    """
    x, y, z, w = unit_quaternions(rotation).T
    matrix = np.zeros((len(x), 4, 4))
    matrix[:, 0, :3] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=1)
    matrix[:, 1, :3] = np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=1)
    matrix[:, 2, :3] = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1)
    matrix[:, :3, :3] *= np.asarray(scale, np.float64)[:, None, :]
    matrix[:, :3, 3] = translation
    matrix[:, 3, 3] = 1.0
    return matrix


def unit_quaternions(quaternions: ArrayLike) -> Float:
    """(..., 4) float64 of length 1; zero quaternions become the identity (0, 0, 0, 1)."""
    array = np.asarray(quaternions, np.float64)
    largest = np.abs(array).max(axis=-1, initial=0.0, keepdims=True)  # squares overflow
    scaled = array / np.where(largest > 0, largest, 1.0)
    length = np.sqrt((scaled * scaled).sum(axis=-1, keepdims=True))
    return np.where(length > 0, scaled / np.where(length > 0, length, 1.0), (0.0, 0.0, 0.0, 1.0))
