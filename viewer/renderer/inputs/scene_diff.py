"""The differences of two scenes, found by identity: scenes are values, and an edit shares all that it leaves alone.

Parts that are cheap to compare (materials, lights, transforms) are compared by value where the objects differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from raystream.scene.deform import DeformedMesh
from raystream.scene.edits.materials import culls
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Texture


@dataclass(frozen=True)
class SceneChanges:
    """The parts of a scene that differ from an earlier one's.

    geometry   : positions or triangles of a mesh, or which meshes there are instances of.
    attributes : data of a triangle at hits: normals, colours, texture coordinates, the indices of materials.
    culling    : which triangles' back faces are culled.
    moved      : (N,) ascending numbers of instances that stand elsewhere; empty with other ``geometry``.
    posed      : numbers of deforming meshes that are in another pose, and else the same.
    same       : whether it is the same scene at all, edited: some mesh is shared, or its triangles are.
    """

    geometry: bool = False
    attributes: bool = False
    culling: bool = False
    materials: bool = False
    textures: bool = False
    lights: bool = False
    cameras: bool = False
    moved: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    posed: tuple[int, ...] = ()
    same: bool = True

    @property
    def differs(self) -> bool:
        """Whether a picture can tell the two scenes apart, cameras aside."""
        parts = self.geometry, self.attributes, self.materials, self.textures, self.lights
        return any(parts) or len(self.moved) > 0 or bool(self.posed)


def scene_changes(before: Scene, after: Scene) -> SceneChanges:
    """The parts that differ in ``after``."""
    if after is before:
        return SceneChanges()
    instances = _Instances(before.instances, after.instances)
    culling = [{k for k, material in enumerate(scene.materials) if culls(material)} for scene in (before, after)]
    pairs = list(zip(before.meshes, after.meshes, strict=False))
    other = len(before.meshes) != len(after.meshes)
    posed = tuple(k for k, (old, new) in enumerate(pairs) if old is not new and _follows(old, new))
    attributes = other or instances.other_materials or any(_other_attributes(old, new) for old, new in pairs)
    return SceneChanges(
        geometry=other or instances.other or any(_other_shape(old, new) for old, new in pairs),
        attributes=attributes,
        culling=culling[0] != culling[1] or (attributes and bool(culling[1])),
        moved=instances.moved,
        posed=posed,
        materials=_differ(before.materials, after.materials),
        textures=len(before.textures) != len(after.textures)
        or any(map(_other_texture, before.textures, after.textures)),
        lights=_differ(before.lights, after.lights),
        cameras=_differ(before.cameras, after.cameras),
        same=not _shapes(before).isdisjoint(_shapes(after)),
    )


class _Instances:
    """How two lists of instances differ."""

    def __init__(self, before: Sequence[Instance], after: Sequence[Instance]) -> None:
        self.other, self.other_materials, self.swept = len(before) != len(after), False, False
        moved = []
        if before is not after and not self.other:
            changed = [k for k, (old, new) in enumerate(zip(before, after, strict=True)) if old is not new]
            for k in changed:
                old, new = before[k], after[k]
                self.other |= old.mesh != new.mesh
                self.other_materials |= old.material != new.material
                if old.motion is not None or new.motion is not None:
                    self.swept |= old.motion is not new.motion
                if old.transform is not new.transform and not np.array_equal(
                    old.transform, new.transform, equal_nan=True
                ):
                    moved.append(k)
        self.other |= self.swept  # what moves while the shutter is open has its keys in tables of the structure
        self.moved = np.array([] if self.other else moved, np.intp)


def _differ(before: Sequence[object], after: Sequence[object]) -> bool:
    """Whether two lists of small values differ."""
    if before is after:
        return False
    return len(before) != len(after) or any(
        old is not new and old != new for old, new in zip(before, after, strict=True)
    )


def _follows(before: Mesh, after: Mesh) -> bool:
    """Whether both are poses of one deforming mesh."""
    return isinstance(after, DeformedMesh) and after.follows(before)


def _shape(mesh: Mesh) -> NDArray[np.float32]:
    """The positions, of a deforming mesh at rest: those of a pose are not computed to be compared."""
    return mesh.rest.positions if isinstance(mesh, DeformedMesh) else mesh.positions


def _shapes(scene: Scene) -> set[int]:
    """The identities of the arrays of a scene's shapes."""
    return {id(array) for mesh in scene.meshes for array in (_shape(mesh), mesh.triangles)}


def _other_shape(before: Mesh, after: Mesh) -> bool:
    if before is after or _follows(before, after):
        return False
    if isinstance(before, DeformedMesh) or isinstance(after, DeformedMesh):
        return True
    return _shape(before) is not _shape(after) or before.triangles is not after.triangles


def _other_attributes(before: Mesh, after: Mesh) -> bool:
    names = ("materials", "normals", "uvs", "colors", "uvs_1", "tangents")
    return (
        before is not after
        and not _follows(before, after)
        and any(getattr(before, name) is not getattr(after, name) for name in names)
    )


def _other_texture(before: Texture, after: Texture) -> bool:
    if before is after:
        return False
    names = ("image", "wrap", "nearest", "minification", "uv_set", "content")
    plain = all(getattr(before, name) == getattr(after, name) for name in names)
    return not plain or not np.array_equal(before.transform, after.transform)
