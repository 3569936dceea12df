"""Meshes that follow skins and weights of morph targets: one of the scene for each pose that a file gives a mesh."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.formats.gltf.json import JsonObject
from raystream.formats.gltf.motion.skins import Skins
from raystream.scene.deform.deformation import Deformation, MorphTarget
from raystream.scene.deform.mesh import DeformedMesh
from raystream.scene.hierarchy import Deformer
from raystream.scene.mesh import Float, Int, Mesh


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
    """Poses the scene's deforming meshes at rest. ``records`` are their deformers, ``skinned`` the numbers of those
    that follow joints."""

    def __init__(self, skins: Skins, world: NDArray[np.float64]) -> None:
        self.skins, self.world = skins, world
        self.records: list[Deformer] = []
        self.skinned: set[int] = set()
        self._deformations: dict[tuple[int, bool, bool], Deformation] = {}

    def pose(self, number: int, mesh: Mesh, geometry: Geometry, rig: Rig, attributes: JsonObject) -> DeformedMesh:
        """A mesh of a geometry, the scene's of this number, as a rig poses it at rest.

        Raises ViewerError where a vertex follows a joint that the skin does not have.
        """
        deformation = self._deformation(geometry, rig)
        skin = None if rig.skin is None else self.skins.of(rig.skin)
        if skin is not None:
            last, count = int(deformation.joints.max(initial=0)), len(skin.joints)
            if last >= count:
                at = int(np.argmax((deformation.joints == last).any(axis=1)))
                raise attributes.fail("JOINTS_0", f"vertex {at:,} follows joint {last:,} of {count:,}")
            self.skinned.add(number)
        deformer = Deformer(number, rig.place, skin, np.array(rig.weights))
        self.records.append(deformer)
        return DeformedMesh(mesh, deformation, deformer.pose(self.world))

    def _deformation(self, geometry: Geometry, rig: Rig) -> Deformation:
        """How vertices follow a pose; shared by all meshes of the geometry that follow the same."""
        key = id(geometry), rig.skin is None, not rig.weights
        if key not in self._deformations:
            deformation = Deformation.none(len(geometry.mesh.positions))
            if rig.skin is not None:
                assert geometry.joints is not None and geometry.weights is not None
                deformation = replace(deformation, joints=geometry.joints, weights=geometry.weights)
            targets = geometry.targets if rig.weights else ()
            self._deformations[key] = replace(deformation, targets=targets, faceted=geometry.faceted)
        return self._deformations[key]
