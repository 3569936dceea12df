"""Meshes that follow skins and weights of morph targets: one of the scene for each pose that a file gives a mesh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.json import JsonObject
from raystream.formats.gltf.nodes import Nodes
from raystream.scene.deform import Deformation, DeformedMesh, MorphTarget
from raystream.scene.hierarchy import Deformer, Skin
from raystream.scene.mesh import Float, Int, Mesh

# -- skins of glTF 2.0 (section 3.7.3): joints, inverse bind matrices, and the joints that a vertex follows ------------

# Sums of weights that are nearer to 1 than this are rounding alone: those of 8 bits are multiples of 1/255.
_ROUNDING = 1e-6


class Skins:
    """The skins of a document, each read when a node first needs it."""

    def __init__(self, document: JsonObject, nodes: Nodes, accessors: Accessors) -> None:
        self.skin_objects = document.objects("skins")
        self._node_count = len(document.objects("nodes"))
        self.accessors = accessors
        self._place_of_node = {index: k for k, index in enumerate(nodes.indices)}
        self._skins: dict[int, Skin] = {}

    def skin(self, index: int) -> Skin:
        """A skin over the nodes of the scene.

        Raises ViewerError for a skin without joints, joints out of range, and fewer or non-finite matrices.
        """
        if index not in self._skins:
            item = self.skin_objects[index]
            joints = item.indices("joints", self._node_count, "node")
            if not joints:
                raise item.fail("joints", "names no joint")
            inverse = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
            if "inverseBindMatrices" in item:
                inverse = self._matrices(item, len(joints))
            places = np.array([self._place_of_node[joint] for joint in joints], np.int64)
            self.accessors.budget.charge(128 * len(joints))
            self._skins[index] = Skin(places, inverse)
        return self._skins[index]

    def _matrices(self, item: JsonObject, count: int) -> NDArray[np.float64]:
        values = self.accessors.floats("inverseBindMatrices", item, (16,))
        if len(values) < count:
            raise item.fail("inverseBindMatrices", f"has {len(values):,} matrices for {count:,} joints")
        columns = values[:count].astype(np.float64).reshape(count, 4, 4)
        matrices = columns.transpose(0, 2, 1).copy()
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)  # as glTF demands of the file's own
        finite = np.isfinite(matrices).all(axis=(1, 2))
        if not finite.all():
            raise item.fail("inverseBindMatrices", f"matrix {int(np.argmin(finite))} is not finite")
        return matrices


def normalized_influences(
    joints: NDArray[np.int64], weights: NDArray[np.float32], notes: Counter[str]
) -> tuple[Int, Float]:
    """Joints (V, K) int32 and weights (V, K) float32 with sums of 1, from a file's (V, K).

    Negative weights and those that are not finite count as 0. A vertex without any follows its first joint. Joints
    without weight are joint 0, as glTF demands, and columns without any are dropped.
    """
    with np.errstate(all="ignore"):
        positive = np.where(np.isfinite(weights) & (weights > 0), weights, np.float32(0)).astype(np.float64)
    total = positive.sum(axis=1)
    without_weight = total <= 0
    if without_weight.any():
        notes["vertices have no weight; they follow their first joint"] += int(without_weight.sum())
        positive[without_weight] = 0.0
        positive[without_weight, 0] = total[without_weight] = 1.0
    unnormalized = np.abs(total - 1.0) > _ROUNDING
    positive[unnormalized] /= total[unnormalized, None]
    used = np.asarray(positive.any(axis=0))
    used[0] |= not used.any()
    used_weights = positive[:, used].astype(np.float32)
    return np.where(used_weights > 0, joints[:, used], 0).astype(np.int32), used_weights


# -- morph targets of glTF 2.0 (section 3.7.2.2), and their weights ----------------------------------------------------

# Field of `MorphTarget` -> widths in a file.
_WIDTHS = {"positions": (3,), "normals": (3,), "tangents": (3,), "colors": (3, 4), "uvs": (2,), "uvs_1": (2,)}


def target_count(mesh: JsonObject) -> int:
    """Morph targets of a mesh.

    Raises ViewerError where two primitives have different numbers; those without any do not change their shape.
    """
    total = 0
    for primitive in mesh.objects("primitives"):
        count = len(primitive.array("targets"))
        if count and total and count != total:
            raise primitive.fail("targets", f"{count} morph targets, and another primitive has {total}")
        total = total or count
    return total


def rest_weights(node: JsonObject, mesh: JsonObject, count: int) -> tuple[float, ...]:
    """The weights of ``count`` morph targets at rest: the node's, else its mesh's, else zeros."""
    zeros = (0.0,) * count
    if not count:
        return zeros
    return node.numbers("weights", count) if "weights" in node else mesh.numbers("weights", count, zeros)


def read_targets(
    primitive: JsonObject, accessors: Accessors, count: int, sets: Sequence[str], fields: Sequence[str]
) -> tuple[MorphTarget, ...]:
    """The targets of a primitive of ``count`` vertices.

    sets : the attributes of texture coordinates for ``uvs`` and ``uvs_1``. fields : of `MorphTarget`, those that the
    primitive's mesh has. Displacements that are not finite are zero. Raises ViewerError for another number of elements.
    """
    keys = {"positions": "POSITION", "normals": "NORMAL", "tangents": "TANGENT", "colors": "COLOR_0"}
    keys |= dict(zip(("uvs", "uvs_1"), sets, strict=False))
    targets = []
    for item in primitive.objects("targets"):
        displacements: dict[str, Float] = {}
        for name in fields:
            if keys[name] not in item:
                continue
            values = accessors.floats(keys[name], item, _WIDTHS[name], normalize=name == "colors")
            if len(values) != count:
                raise item.fail(keys[name], f"has {len(values):,} elements, and POSITION {count:,}")
            if not np.isfinite(values).all():
                accessors.budget.charge(values.nbytes)
                values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
            if name == "colors" and values.shape[1] == 3:
                accessors.budget.charge(2 * values.nbytes)
                values = np.pad(values, ((0, 0), (0, 1)))
            if values.any():
                displacements[name] = values
        targets.append(MorphTarget(**displacements))
    return tuple(targets)


# -- meshes that follow skins and weights of morph targets -------------------------------------------------------------


class Rig(NamedTuple):
    """The pose of a mesh on a node: the number of its skin, or None; the weights of morph targets at rest; the node by
    its place in `Nodes` where these are animated, else -1."""

    skin: int | None = None
    weights: tuple[float, ...] = ()
    place: int = -1


@dataclass(frozen=True, eq=False)
class Geometry:
    """A primitive's mesh at rest; joints (V, K) and weights (V, K) if it has any; morph targets.

    faceted : it has no normals in the file.
    """

    mesh: Mesh
    joints: Int | None = None
    weights: Float | None = None
    targets: tuple[MorphTarget, ...] = ()
    faceted: bool = False

    def rig(self, requested: Rig) -> Rig:
        """The part of a rig that poses this mesh; `Rig` () where nothing does."""
        skin = None if self.joints is None else requested.skin
        moved = bool(self.targets) and (requested.place >= 0 or any(requested.weights))
        return Rig(skin, requested.weights, requested.place) if moved else Rig(skin)


class Deformers:
    """Poses the scene's deforming meshes at rest. ``records`` are their deformers, ``skinned`` the indices of those
    that follow joints."""

    def __init__(self, skins: Skins, world: NDArray[np.float64]) -> None:
        self.skins, self.world = skins, world
        self.records: list[Deformer] = []
        self.skinned: set[int] = set()
        self._deformations: dict[tuple[int, bool, bool], Deformation] = {}

    def pose(self, index: int, mesh: Mesh, geometry: Geometry, rig: Rig, attributes: JsonObject) -> DeformedMesh:
        """A mesh of a geometry, the scene's of this index, as a rig poses it at rest.

        Raises ViewerError where a vertex follows a joint that the skin does not have.
        """
        deformation = self._deformation(geometry, rig)
        skin = None if rig.skin is None else self.skins.skin(rig.skin)
        if skin is not None:
            largest_joint, count = int(deformation.joints.max(initial=0)), len(skin.joints)
            if largest_joint >= count:
                vertex = int(np.argmax((deformation.joints == largest_joint).any(axis=1)))
                raise attributes.fail("JOINTS_0", f"vertex {vertex:,} follows joint {largest_joint:,} of {count:,}")
            self.skinned.add(index)
        deformer = Deformer(index, rig.place, skin, np.array(rig.weights))
        self.records.append(deformer)
        return DeformedMesh(mesh, deformation, deformer.pose(self.world))

    def _deformation(self, geometry: Geometry, rig: Rig) -> Deformation:
        """The deformation of a geometry by a rig's joints and morph targets; shared by all meshes with the same."""
        key = id(geometry), rig.skin is None, not rig.weights
        if key not in self._deformations:
            deformation = Deformation.none(len(geometry.mesh.positions))
            if rig.skin is not None:
                assert geometry.joints is not None and geometry.weights is not None
                deformation = replace(deformation, joints=geometry.joints, weights=geometry.weights)
            targets = geometry.targets if rig.weights else ()
            self._deformations[key] = replace(deformation, targets=targets, faceted=geometry.faceted)
        return self._deformations[key]
