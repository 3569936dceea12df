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
    moved      : (N,) ascending indices of instances with another transformation; empty with other ``geometry``.
    posed      : indices of deforming meshes that differ in their poses alone.
    same_scene : whether one is an edit of the other: they share an array of positions or triangles.
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
    same_scene: bool = True

    @property
    def differs(self) -> bool:
        """Whether pictures of the two scenes by one camera may differ."""
        changes = self.geometry, self.attributes, self.materials, self.textures, self.lights
        return any(changes) or len(self.moved) > 0 or bool(self.posed)


def scene_changes(before: Scene, after: Scene) -> SceneChanges:
    """The changes from ``before`` to ``after``."""
    if after is before:
        return SceneChanges()
    instances = _InstanceChanges(before.instances, after.instances)
    culling = [{k for k, material in enumerate(scene.materials) if culls(material)} for scene in (before, after)]
    pairs = list(zip(before.meshes, after.meshes, strict=False))
    count_differs = len(before.meshes) != len(after.meshes)
    posed = tuple(k for k, (old, new) in enumerate(pairs) if old is not new and _are_poses(old, new))
    attributes = count_differs or instances.materials_differ or any(_attributes_differ(old, new) for old, new in pairs)
    return SceneChanges(
        geometry=count_differs or instances.geometry_differs or any(_shape_differs(old, new) for old, new in pairs),
        attributes=attributes,
        culling=culling[0] != culling[1] or (attributes and bool(culling[1])),
        moved=instances.moved,
        posed=posed,
        materials=_differ(before.materials, after.materials),
        textures=_textures_differ(before.textures, after.textures),
        lights=_differ(before.lights, after.lights),
        cameras=_differ(before.cameras, after.cameras),
        same_scene=not _shape_ids(before).isdisjoint(_shape_ids(after)),
    )


class _InstanceChanges:
    """The differences of two lists of instances. moved : (N,) indices of those with another transformation."""

    def __init__(self, before: Sequence[Instance], after: Sequence[Instance]) -> None:
        self.geometry_differs, self.materials_differ = len(before) != len(after), False
        moved = []
        if before is not after and not self.geometry_differs:
            for k, (old, new) in enumerate(zip(before, after, strict=True)):
                if old is new:
                    continue
                # The structure has tables of the keys of motion while the shutter is open.
                self.geometry_differs |= old.mesh != new.mesh or old.motion is not new.motion
                self.materials_differ |= old.material != new.material
                if _transform_differs(old.transform, new.transform):
                    moved.append(k)
        self.moved = np.array([] if self.geometry_differs else moved, np.intp)


def _transform_differs(old: NDArray[np.float64], new: NDArray[np.float64]) -> bool:
    return old is not new and not np.array_equal(old, new, equal_nan=True)


def _differ(before: Sequence[object], after: Sequence[object]) -> bool:
    """Whether two lists differ in length, or in some value."""
    if before is after:
        return False
    return len(before) != len(after) or any(
        old is not new and old != new for old, new in zip(before, after, strict=True)
    )


def _are_poses(before: Mesh, after: Mesh) -> bool:
    """Whether both are poses of one deforming mesh."""
    return isinstance(after, DeformedMesh) and after.follows(before)


def _rest_positions(mesh: Mesh) -> NDArray[np.float32]:
    """A mesh's positions; at rest for a deforming one, since those of its pose would have to be computed."""
    return mesh.rest.positions if isinstance(mesh, DeformedMesh) else mesh.positions


def _shape_ids(scene: Scene) -> set[int]:
    """The ids of the arrays of positions and triangles of all meshes."""
    return {id(array) for mesh in scene.meshes for array in (_rest_positions(mesh), mesh.triangles)}


def _shape_differs(before: Mesh, after: Mesh) -> bool:
    if before is after or _are_poses(before, after):
        return False
    if isinstance(before, DeformedMesh) or isinstance(after, DeformedMesh):
        return True
    return _rest_positions(before) is not _rest_positions(after) or before.triangles is not after.triangles


def _attributes_differ(before: Mesh, after: Mesh) -> bool:
    names = ("materials", "normals", "uvs", "colors", "uvs_1", "tangents")
    return (
        before is not after
        and not _are_poses(before, after)
        and any(getattr(before, name) is not getattr(after, name) for name in names)
    )


def _textures_differ(before: Sequence[Texture], after: Sequence[Texture]) -> bool:
    return len(before) != len(after) or any(map(_texture_differs, before, after))


def _texture_differs(before: Texture, after: Texture) -> bool:
    names = ("image", "wrap", "nearest", "minification", "uv_set", "content")
    if before is after:
        return False
    if any(getattr(before, name) != getattr(after, name) for name in names):
        return True
    return not np.array_equal(before.transform, after.transform)
