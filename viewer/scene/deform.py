"""Deforming meshes.

One is a value like any other: another pose is another mesh, which shares all but its pose with the first. Its posed
arrays are computed when first asked for; the device computes its own from the pose alone.
"""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from functools import cached_property
from typing import NamedTuple, Never
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError
from raystream.base.jit import run
from raystream.scene.geometry.normals import split_with_normals
from raystream.scene.geometry.triangles import LARGEST_COORDINATE
from raystream.scene.mesh import Float, Int, Mesh
from raystream.scene.quadric import Quadric

# -- how vertices follow joints and morph targets (glTF 2.0, Khronos, 2021, 3.7.2.2 and 3.7.3), and poses --------------

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
        """The deformation of ``count`` vertices, which follow nothing but positions that a pose gives."""
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

    def equals(self, other: MeshPose) -> bool:
        """Whether another pose has the same numbers."""
        arrays = ((getattr(self, item.name), getattr(other, item.name)) for item in fields(self))
        return all(a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in arrays)


# -- posed vertices in float64: the reference of the fragment programs -------------------------------------------------

Array = NDArray[np.float64]

MIN_COMPILED_VERTICES = 16  # up to so many, the loop is not worth compiling


class Posed(NamedTuple):
    """A posed mesh's arrays, as in `Mesh`."""

    positions: Float
    normals: Float
    tangents: Float | None
    colors: Float | None
    uvs: Float | None
    uvs_1: Float | None


def posed(mesh: Mesh, deformation: Deformation, pose: MeshPose) -> Posed:
    """A mesh's arrays in a pose: morph targets first, then joints (glTF 2.0, 3.7.2.2 and 3.7.3.3).

    A normal is turned by the cofactors of its vertex's blended matrix, a tangent by the matrix itself; one without
    direction stays as it was before. Colours are held within 0 .. 1. Positions beyond `LARGEST_COORDINATE` are NaN, as
    are overflows: nothing hits their triangles.
    """
    with np.errstate(all="ignore"):
        base = mesh.positions if pose.positions is None else pose.positions
        positions = _apply_targets(base, "positions", deformation, pose)
        normals = _apply_targets(mesh.normals if pose.normals is None else pose.normals, "normals", deformation, pose)
        tangents = None
        if mesh.tangents is not None:
            tangents = _apply_targets(mesh.tangents, "tangents", deformation, pose)
        if deformation.skinned:
            rows, few = np.ascontiguousarray(pose.joints[:, :3]), len(positions) <= MIN_COMPILED_VERTICES
            skinning = rows, np.ascontiguousarray(deformation.joints), np.ascontiguousarray(deformation.weights)
            run(skin, *skinning, positions, normals, np.empty((3, 4)), small=few)
            if tangents is not None:
                linear = blended(deformation, pose)[:, :, :3]
                is_mirrored = np.linalg.det(np.nan_to_num(linear, posinf=0.0, neginf=0.0)) < 0
                tangents[:, :3] = np.einsum("vij,vj->vi", linear, tangents[:, :3])
                tangents[is_mirrored, 3] *= -1.0
        positions[~(np.abs(positions) <= LARGEST_COORDINATE).all(axis=1)] = np.nan
        if deformation.faceted and pose.normals is None:
            normals = _face_normals(positions, mesh)
        colors = None
        if mesh.colors is not None:
            colors = np.clip(_apply_targets(mesh.colors, "colors", deformation, pose), 0.0, 1.0)
        if tangents is not None:
            tangents[:, :3] = _unit_vectors(tangents[:, :3], mesh.tangents[:, :3])  # type: ignore[index]
        return Posed(
            _float32(positions),
            _float32(_unit_vectors(normals, mesh.normals)),  # type: ignore[arg-type]
            None if tangents is None else _float32(tangents),
            mesh.colors if colors is None or not deformation.morphs("colors") else _float32(colors),
            _posed_uvs(mesh.uvs, "uvs", deformation, pose),
            _posed_uvs(mesh.uvs_1, "uvs_1", deformation, pose),
        )


def blended(deformation: Deformation, pose: MeshPose) -> Array:
    """(V, 3, 4) float64: the weighted sum of each vertex's joint matrices."""
    matrices = np.zeros((len(deformation.joints), 3, 4))
    rows = pose.joints[:, :3]
    for k in range(deformation.joints.shape[1]):
        weight = deformation.weights[:, k].astype(np.float64)
        vertices = np.flatnonzero(weight)  # a joint that is not finite moves those alone that follow it
        matrices[vertices] += weight[vertices, None, None] * rows[deformation.joints[vertices, k]]
    return matrices


def _apply_targets(values: Float | None, name: str, deformation: Deformation, pose: MeshPose) -> Array:
    """(V, width) float64: an attribute's values (V, width) plus the targets' displacements times their weights."""
    assert values is not None
    morphed = values.astype(np.float64, order="C")
    for target, weight in zip(deformation.targets, pose.weights.tolist(), strict=True):
        displacement = getattr(target, name)
        if displacement is not None and weight != 0.0:
            morphed[:, : displacement.shape[1]] += weight * displacement
    return morphed


def _posed_uvs(values: Float | None, name: str, deformation: Deformation, pose: MeshPose) -> Float | None:
    if values is None or not deformation.morphs(name):
        return values
    return _float32(_apply_targets(values, name, deformation, pose))


def _face_normals(positions: Array, mesh: Mesh) -> Array:
    """(V, 3): each vertex's face normal, as long as twice the face's area."""
    a, b, c = (positions[mesh.triangles[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    normals = np.zeros_like(positions)
    for k in range(3):
        normals[mesh.triangles[:, k]] = cross
    return normals


def _unit_vectors(vectors: Array, fallback: Float) -> Array:
    """Vectors (V, 3) scaled to unit length; those without a finite direction are the rows of ``fallback``."""
    x, y, z = np.abs(vectors.T)  # reductions along so short an axis are slow
    largest = np.maximum(np.maximum(x, y), z)[:, None]  # squares overflow
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    x, y, z = (scaled * scaled).T
    length = np.sqrt(x + y + z)[:, None]
    is_valid = np.isfinite(length) & (length > 0)
    return np.where(is_valid, scaled / np.where(is_valid, length, 1.0), fallback)


def _float32(values: Array) -> Float:
    return values.astype(np.float32)


def skin(rows, joints, weights, positions, normals, matrix):
    """Move positions (V, 3) float64 by the sums, with weights (V, K), of the matrices ``rows`` (J, 3, 4) float64 of
    their joints (V, K), and turn normals (V, 3) float64 by the cofactors of these sums; both in place. ``matrix``
    (3, 4) float64 is working space. A weight of 0 is no influence: the joint may not be finite."""
    for v in range(len(positions)):
        matrix[:] = 0.0
        for k in range(joints.shape[1]):
            weight = np.float64(weights[v, k])
            if weight != 0.0:
                for r in range(3):
                    for c in range(4):
                        matrix[r, c] += weight * rows[joints[v, k], r, c]
        px, py, pz = positions[v, 0], positions[v, 1], positions[v, 2]
        for r in range(3):
            positions[v, r] = matrix[r, 0] * px + matrix[r, 1] * py + matrix[r, 2] * pz + matrix[r, 3]
        # Rows of cofactors: the cross products of the two other rows.
        nx, ny, nz = normals[v, 0], normals[v, 1], normals[v, 2]
        volume = 0.0
        for r in range(3):
            p, q = (r + 1) % 3, (r + 2) % 3
            x = matrix[p, 1] * matrix[q, 2] - matrix[p, 2] * matrix[q, 1]
            y = matrix[p, 2] * matrix[q, 0] - matrix[p, 0] * matrix[q, 2]
            z = matrix[p, 0] * matrix[q, 1] - matrix[p, 1] * matrix[q, 0]
            if r == 0:
                volume = matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2] * z
            normals[v, r] = x * nx + y * ny + z * nz
        if volume < 0.0:
            for r in range(3):
                normals[v, r] = -normals[v, r]


# -- deforming meshes --------------------------------------------------------------------------------------------------


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
            _check_shapes(rest, deformation, key_pose)
        vars(self).update(rest=rest, deformation=deformation, pose=pose, motion=motion)
        vars(self).update(triangles=rest.triangles, materials=rest.materials, name=rest.name)

    def __setattr__(self, name: str, value: object) -> Never:
        raise FrozenInstanceError(f"DeformedMesh follows its pose, its {name} stays: put mesh.posed(...) in its place")

    def posed(self, pose: MeshPose) -> DeformedMesh:
        """The mesh in another pose; itself in the same one."""
        unchanged = pose.equals(self.pose) and not self.motion
        return self if unchanged else DeformedMesh(self.rest, self.deformation, pose)

    def with_motion(self, motion: tuple[MeshPose, ...]) -> DeformedMesh:
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


def _check_shapes(rest: Mesh, deformation: Deformation, pose: MeshPose) -> None:
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
    for index, target in enumerate(deformation.targets):
        for name, width in WIDTHS.items():
            array = getattr(target, name)
            if array is not None and array.shape != (count, width):
                what = f"{name} of morph target {index} have shape {array.shape}"
                raise ViewerError(rest.name, what, f"expected ({count}, {width})")
    for name in ("positions", "normals"):
        array = getattr(pose, name)
        if array is not None and array.shape != (count, 3):
            raise ViewerError(rest.name, f"posed {name} have shape {array.shape}", f"expected ({count}, 3)")


# -- vertices given as an array: poses of any mesh, as simulations have them -------------------------------------------

MIN_COMPILED_TRIANGLES = 500  # up to so many, the loop is not worth compiling
_group_cache: WeakKeyDictionary[Deformation, tuple[NDArray[np.int64], int]] = WeakKeyDictionary()


def with_vertices(mesh: Mesh, positions: ArrayLike, normals: ArrayLike | None = None) -> DeformedMesh:
    """A mesh with other vertices in its own space, which may not be finite: a pose of it that follows no joints.

    positions, normals : (V, 3), the mesh's own vertices, or those that it was given before some were split for their
    normals. Without normals, which are made unit vectors, these are means over the faces around a vertex, smooth where
    the mesh was.

    Raises ViewerError for shapes that do not fit, and for a quadric.
    """
    if isinstance(mesh, Quadric):
        raise ViewerError(mesh.name, "is a quadric, which has no vertices", "tessellate it first")
    rest, deformation = mesh, None
    if isinstance(mesh, DeformedMesh):
        rest, deformation = mesh.rest, mesh.deformation
    if deformation is None or deformation.skinned or deformation.targets:
        faceted = deformation is not None and deformation.faceted
        rest, source = split_with_normals(rest)
        deformation = replace(Deformation.none(len(rest.positions)), faceted=faceted, source=source)
    posed_positions = _checked_vertices(mesh.name, "positions", positions, deformation, len(rest.positions))
    posed_normals = None
    if normals is not None:
        directions = _checked_vertices(mesh.name, "normals", normals, deformation, len(rest.positions))
        posed_normals = _unit_normals(directions, rest.normals)  # type: ignore[arg-type]
    elif not deformation.faceted:
        posed_normals = _smooth_normals(posed_positions, rest, deformation)
    return DeformedMesh(rest, deformation, MeshPose(positions=posed_positions, normals=posed_normals))


def _checked_vertices(name: str, what: str, values: ArrayLike, deformation: Deformation, count: int) -> Float:
    """A copy (V, 3) float32 of ``values``, which may be those of the vertices before some were split; raises
    ViewerError for other shapes, naming ``what`` of the mesh ``name``. count : V."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.array(values, np.float32, order="C")  # the caller's may change
    except (TypeError, ValueError, OverflowError) as error:
        raise ViewerError(name, f"{what} are not numbers ({error})", "give (V, 3)") from None
    expected = count if deformation.source is None else int(deformation.source.max(initial=-1)) + 1
    if array.shape == (expected, 3) and deformation.source is not None:
        return array[deformation.source]
    if array.shape != (count, 3):
        raise ViewerError(name, f"{what} have shape {array.shape}", f"expected ({expected}, 3)")
    return array


def _unit_normals(vectors: Float, fallback: Float) -> Float:
    """As `_unit_vectors`, of float32 and without the scaling that keeps huge ones from overflow."""
    x, y, z = vectors.T.astype(np.float64)  # reductions along so short an axis are slow
    with np.errstate(all="ignore"):
        length = np.sqrt(x * x + y * y + z * z)
        unit = np.stack([x / length, y / length, z / length], axis=1, dtype=np.float32, casting="same_kind")
        invalid = np.flatnonzero(~(np.isfinite(length) & (length > 0.0)))
    unit[invalid] = fallback[invalid]
    return unit


def _smooth_normals(positions: Float, rest: Mesh, deformation: Deformation) -> Float:
    """(V, 3) unit normals by the faces around each vertex at ``positions`` (V, 3); vertices that have one position and
    normal at rest share their faces."""
    if deformation not in _group_cache:
        keys = np.concatenate([rest.positions, rest.normals], axis=1) + np.float32(0.0)  # -0 is 0
        _, group = np.unique(np.ascontiguousarray(keys).view("V24").ravel(), return_inverse=True)
        _group_cache[deformation] = group.astype(np.int64), int(group.max(initial=-1)) + 1
    group, count = _group_cache[deformation]
    sums, normals = np.zeros((count, 3)), rest.normals.copy()  # type: ignore[union-attr]
    triangles = np.ascontiguousarray(rest.triangles)
    run(mean_normals, positions, triangles, group, sums, normals, small=len(triangles) <= MIN_COMPILED_TRIANGLES)
    return normals


def mean_normals(positions, triangles, group, sums, normals):
    """Write into ``normals`` (V, 3) float32 the mean of the unit normals of the faces around each vertex's group,
    weighted by the faces' angles there; they stay where it is zero.

    triangles : (T, 3). group : (V,), rows of ``sums`` (G, 3) float64, which are zeros at first.
    """
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax = np.float64(positions[j, 0]) - np.float64(positions[i, 0])
        ay = np.float64(positions[j, 1]) - np.float64(positions[i, 1])
        az = np.float64(positions[j, 2]) - np.float64(positions[i, 2])
        bx = np.float64(positions[k, 0]) - np.float64(positions[i, 0])
        by = np.float64(positions[k, 1]) - np.float64(positions[i, 1])
        bz = np.float64(positions[k, 2]) - np.float64(positions[i, 2])
        cx = np.float64(positions[k, 0]) - np.float64(positions[j, 0])
        cy = np.float64(positions[k, 1]) - np.float64(positions[j, 1])
        cz = np.float64(positions[k, 2]) - np.float64(positions[j, 2])
        x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        double_area = math.sqrt(x * x + y * y + z * z)
        if not (double_area > 0.0 and double_area < 1e300):
            continue
        x, y, z = x / double_area, y / double_area, z / double_area
        length_ij, length_ik = math.sqrt(ax * ax + ay * ay + az * az), math.sqrt(bx * bx + by * by + bz * bz)
        length_jk = math.sqrt(cx * cx + cy * cy + cz * cz)
        angle_i = math.acos(min(1.0, max(-1.0, (ax * bx + ay * by + az * bz) / (length_ij * length_ik))))
        angle_j = math.acos(min(1.0, max(-1.0, -(ax * cx + ay * cy + az * cz) / (length_ij * length_jk))))
        for corner in range(3):  # an arc cosine takes as long as all the rest of a corner
            angle = angle_i if corner == 0 else angle_j if corner == 1 else math.pi - angle_i - angle_j
            row = group[triangles[t, corner]]
            sums[row, 0] += angle * x
            sums[row, 1] += angle * y
            sums[row, 2] += angle * z
    for v in range(len(normals)):
        x, y, z = sums[group[v], 0], sums[group[v], 1], sums[group[v], 2]
        length = math.sqrt(x * x + y * y + z * z)
        if length > 0.0 and length < 1e300:
            normals[v, 0], normals[v, 1], normals[v, 2] = x / length, y / length, z / length
