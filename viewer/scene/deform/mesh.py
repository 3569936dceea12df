"""Deforming meshes.

One is a value like any other: another pose is another mesh, which shares all but its pose with the first. Its posed
arrays are computed when first asked for; the device computes its own from the pose alone.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import cached_property
from typing import Never

from raystream.base.errors import ViewerError
from raystream.scene.deform.deformation import WIDTHS, Deformation, MeshPose
from raystream.scene.deform.vertices import Posed, posed
from raystream.scene.mesh import Int, Mesh


class DeformedMesh(Mesh):
    """A mesh in a pose. Topology and materials are those of ``rest``, which has normals.

    motion : the poses of an exposure at even times, the first its ``pose``; vertices are linear in between. Empty: it
    stands still.

    Raises ViewerError where rest, deformation and pose do not fit.
    """

    rest: Mesh
    deformation: Deformation
    pose: MeshPose
    motion: tuple[MeshPose, ...]

    def __init__(self, rest: Mesh, deformation: Deformation, pose: MeshPose, motion: tuple[MeshPose, ...] = ()) -> None:
        for key_pose in motion or (pose,):
            _check(rest, deformation, key_pose)
        vars(self).update(rest=rest, deformation=deformation, pose=pose, motion=motion)
        vars(self).update(triangles=rest.triangles, materials=rest.materials, name=rest.name)

    def __setattr__(self, name: str, value: object) -> Never:
        raise FrozenInstanceError(f"DeformedMesh follows its pose, its {name} stays: put mesh.posed(...) in its place")

    def posed(self, pose: MeshPose) -> DeformedMesh:
        """The mesh in another pose; itself in the same one."""
        same = pose.same(self.pose) and not self.motion
        return self if same else DeformedMesh(self.rest, self.deformation, pose)

    def moving(self, motion: tuple[MeshPose, ...]) -> DeformedMesh:
        """The mesh with the poses of an exposure."""
        return DeformedMesh(self.rest, self.deformation, motion[0], motion)

    def follows(self, other: Mesh) -> bool:
        """Whether another mesh differs in its pose alone."""
        return isinstance(other, DeformedMesh) and other.rest is self.rest and other.deformation is self.deformation

    def with_materials(self, materials: Int) -> DeformedMesh:
        """See `Mesh.with_materials`."""
        return DeformedMesh(self.rest.with_materials(materials), self.deformation, self.pose, self.motion)

    @cached_property
    def _posed(self) -> Posed:
        arrays = posed(self.rest, self.deformation, self.pose)
        for name, array in arrays._asdict().items():
            if array is not None and array is not getattr(self.rest, name):
                array.flags.writeable = False  # a change would be lost: vertices follow the pose
        return arrays

    # In the places of a mesh's arrays; float64 arithmetic, rounded to float32.
    positions = cached_property(lambda self: self._posed.positions)  # type: ignore[assignment]
    normals = cached_property(lambda self: self._posed.normals)  # type: ignore[assignment]
    tangents = cached_property(lambda self: self._posed.tangents)  # type: ignore[assignment]
    colors = cached_property(lambda self: self._posed.colors)  # type: ignore[assignment]
    uvs = cached_property(lambda self: self._posed.uvs)  # type: ignore[assignment]
    uvs_1 = cached_property(lambda self: self._posed.uvs_1)  # type: ignore[assignment]


def _check(rest: Mesh, deformation: Deformation, pose: MeshPose) -> None:
    count = len(rest.positions)
    if rest.normals is None:
        raise ViewerError(rest.name, "a deforming mesh without normals", "give it normals first")
    if deformation.joints.shape != deformation.weights.shape or len(deformation.joints) != count:
        shapes = f"{deformation.joints.shape} and {deformation.weights.shape}"
        raise ViewerError(rest.name, f"joints and weights have shapes {shapes}", f"expected ({count}, K) twice")
    joints = len(pose.joints)
    if deformation.joints.size and not 0 <= deformation.joints.min() <= deformation.joints.max() < joints:
        raise ViewerError(rest.name, f"a vertex follows joint {deformation.joints.max()} of {joints}")
    if len(pose.weights) != len(deformation.targets):
        what = f"{len(pose.weights)} weights for {len(deformation.targets)} morph targets"
        raise ViewerError(rest.name, what)
    for number, target in enumerate(deformation.targets):
        for name, width in WIDTHS.items():
            array = getattr(target, name)
            if array is not None and array.shape != (count, width):
                what = f"{name} of morph target {number} have shape {array.shape}"
                raise ViewerError(rest.name, what, f"expected ({count}, {width})")
    for name in ("positions", "normals"):
        array = getattr(pose, name)
        if array is not None and array.shape != (count, 3):
            raise ViewerError(rest.name, f"posed {name} have shape {array.shape}", f"expected ({count}, 3)")
