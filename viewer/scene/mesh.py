"""Triangle meshes as plain arrays, and their instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError
from raystream.scene.card import card

Float = NDArray[np.float32]
Int = NDArray[np.int32]


def quiet_nans(values: NDArray) -> NDArray:
    """The floats with all NaN quiet: NumPy warns on conversion of signalling ones."""
    nan = np.isnan(values)
    return np.where(nan, values.dtype.type(np.nan), values) if nan.any() else values


@declared
@dataclass
class Mesh:
    """An indexed triangle mesh in object space; counter-clockwise triangles face the viewer.

    positions : (V, 3) float32, scene units.
    triangles : (T, 3) int32, vertex numbers, in the file's order.
    materials : (T,) int32, the material's number in the scene.
    normals   : (V, 3) float32 unit vectors, zeros where triangles have their own one; or None (made by `with_normals`).
    uvs       : (V, 2) float32, origin at the picture's upper left as in glTF, or None.
    colors    : (V, 4) float32 linear RGBA, or None.
    uvs_1     : (V, 2) float32, a second set of texture coordinates, or None.
    tangents  : (V, 4) float32, or None: unit vectors along +u, and the sign +1 or -1 with which cross(normal, tangent)
                points along the image's upward direction, -v (glTF 2.0, section 3.7.2.1); zeros where the image has no
                direction.

    Raises ViewerError when shapes disagree or an index is out of range.
    """

    positions: Float
    triangles: Int
    materials: Int = None  # type: ignore[assignment]  # filled below
    normals: Float | None = None
    uvs: Float | None = None
    colors: Float | None = None
    name: str = "mesh"
    uvs_1: Float | None = None
    tangents: Float | None = None

    def __post_init__(self) -> None:
        self.positions = quiet_nans(np.ascontiguousarray(self.positions, np.float32).reshape(-1, 3))
        triangles = np.asarray(self.triangles).reshape(-1, 3)
        count = len(self.positions)
        if triangles.size and (triangles.min() < 0 or triangles.max() >= count):
            bad = int(np.flatnonzero(((triangles < 0) | (triangles >= count)).any(axis=1))[0])
            raise ViewerError(
                self.name, f"triangle {bad} names vertices {triangles[bad].tolist()} of {count}", "the file is damaged"
            )
        self.triangles = np.ascontiguousarray(triangles, np.int32)
        materials = np.ascontiguousarray(0 if self.materials is None else self.materials, np.int32)
        if materials.shape != (len(self.triangles),):
            materials = np.broadcast_to(materials, (len(self.triangles),)).copy()
        self.materials = materials
        for label, width in (("normals", 3), ("uvs", 2), ("colors", 4), ("uvs_1", 2), ("tangents", 4)):
            array = getattr(self, label)
            if array is None:
                continue
            array = np.ascontiguousarray(array, np.float32)
            if array.shape != (count, width):
                raise ViewerError(self.name, f"{label} have shape {array.shape}, expected ({count}, {width})")
            setattr(self, label, quiet_nans(array))

    def __repr__(self) -> str:
        return f"<Mesh {self.name!r}: {len(self.triangles):,} triangles, {len(self.positions):,} vertices>"

    def _repr_html_(self) -> str:
        """The notebook's picture: the mesh in grey."""
        import raystream  # scenes are made of meshes: this package hands them out

        return card(repr(self), raystream.Scene([self.with_materials(np.zeros(1, np.int32))], [raystream.Instance(0)]))

    def with_materials(self, materials: Int) -> Mesh:
        """The mesh with other materials (T,) int32."""
        return replace(self, materials=materials)


@declared
@dataclass
class Instance:
    """A mesh placed in the world: ``world = transform @ (x, y, z, 1)``, 4 x 4 float64, row-major.

    motion : (K, 4, 4) float64, the transforms of an exposure at even times, the first its ``transform``; linear in
    between. None: it stands still.
    """

    mesh: int
    transform: NDArray[np.float64] = field(default_factory=lambda: np.eye(4))
    material: int | None = None  # overrides the mesh's own materials
    name: str = ""
    motion: NDArray[np.float64] | None = field(default=None, metadata={"added": True})


def transforms_of(instances: Sequence[Instance]) -> NDArray[np.float64]:
    """(I, 4, 4) float64."""
    if not instances:
        return np.zeros((0, 4, 4))
    return np.concatenate([instance.transform for instance in instances], dtype=np.float64).reshape(-1, 4, 4)


def meshes_of(instances: Sequence[Instance]) -> NDArray[np.intp]:
    """(I,) the mesh number of each."""
    return np.fromiter(map(attrgetter("mesh"), instances), np.intp, len(instances))
