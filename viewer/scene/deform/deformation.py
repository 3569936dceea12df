"""How vertices follow joints and morph targets (glTF 2.0, Khronos, 2021, 3.7.2.2 and 3.7.3), and poses."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from raystream.scene.mesh import Float, Int

Matrices = NDArray[np.float64]

WIDTHS = {"positions": 3, "normals": 3, "tangents": 3, "colors": 4, "uvs": 2, "uvs_1": 2}


@dataclass(frozen=True, eq=False)
class MorphTarget:
    """Displacements of a mesh's vertices for a weight of 1; None: of none of that attribute.

    positions, normals, tangents (V, 3), colors (V, 4), uvs, uvs_1 (V, 2): float32, as in `Mesh`; of tangents without
    the sign.
    """

    positions: Float | None = None
    normals: Float | None = None
    tangents: Float | None = None
    colors: Float | None = None
    uvs: Float | None = None
    uvs_1: Float | None = None

    def selected(self, vertices: NDArray[np.int64]) -> MorphTarget:
        """The target of a mesh of these vertices (N,) of its own."""
        arrays = {name: getattr(self, name) for name in WIDTHS}
        return MorphTarget(**{name: None if values is None else values[vertices] for name, values in arrays.items()})


@dataclass(frozen=True, eq=False)
class Deformation:
    """How vertices follow a pose: first the targets' displacements, each times its weight, then the joints.

    joints   : (V, K) int32, numbers among a pose's joints. weights : (V, K) float32, sums of 1. K = 0: no joints.
    targets  : morph targets.
    faceted  : normals are those of the posed faces; every vertex is then a corner of one triangle alone.
    source   : (V,) int64, the vertices as they were given that these are copies of; None: themselves.
    """

    joints: Int
    weights: Float
    targets: tuple[MorphTarget, ...] = ()
    faceted: bool = False
    source: NDArray[np.int64] | None = None

    @classmethod
    def none(cls, count: int) -> Deformation:
        """Of ``count`` vertices, which follow nothing but positions that a pose gives."""
        return cls(np.zeros((count, 0), np.int32), np.zeros((count, 0), np.float32))

    @property
    def skinned(self) -> bool:
        """Whether vertices follow joints."""
        return self.joints.shape[1] > 0

    def morphs(self, *names: str) -> bool:
        """Whether a target displaces one of these attributes, by their names in `MorphTarget`."""
        return any(getattr(target, name) is not None for target in self.targets for name in names)


@dataclass(frozen=True, eq=False)
class MeshPose:
    """A pose of a deforming mesh.

    joints    : (J, 4, 4) float64, from the mesh at rest to the space of its instances. weights : (M,) float64, of the
                morph targets.
    positions : (V, 3) float32 in place of those at rest, or None. normals : (V, 3) float32 unit vectors with them.
    """

    joints: Matrices = field(default_factory=lambda: np.zeros((0, 4, 4)))
    weights: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    positions: Float | None = None
    normals: Float | None = None

    def same(self, other: MeshPose) -> bool:
        """Whether another pose has the same numbers."""
        arrays = ((getattr(self, item.name), getattr(other, item.name)) for item in fields(self))
        return all(a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in arrays)
