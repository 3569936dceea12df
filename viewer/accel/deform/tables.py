"""The tables from which fragment programs pose vertices: rest, influences, displacements; joints and weights of a pose.

Vertices of all deforming objects lie one object after the other, in the spaces of their objects. Of a pose the joints'
matrices and the morph weights are uploaded, and positions where it has its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.scene.deform.deformation import Deformation, MeshPose, MorphTarget
from raystream.scene.deform.mesh import DeformedMesh
from raystream.scene.mesh import Mesh
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Field, Record, rows_of

UNSKINNED = -1  # `REST.influences` of a vertex that follows no joint

REST = Record(
    "Rest",
    Field("position", "vec3", "scene units", "object"),
    Field("normal", "vec3", "unit length", "object"),
    Field("influence", "int", about="address of its first pair of influences"),
    Field("influences", "int", about="pairs; -1: it follows no joint"),
    Field("delta", "int", about="address of its first displacement"),
    Field("deltas", "int", about="displacements"),
)
INFLUENCES = Record(
    "Influences",
    Field("joints", "ivec2", about="addresses of two joints' matrices"),
    Field("weights", "vec2", about="0: none"),
)
JOINT = Record("Joint", *rows_of("row", "vec4", "the map from rest to the object's space"))
DELTA = Record(
    "Delta",
    Field("position", "vec3", "scene units", "object"),
    Field("normal", "vec3"),
    Field("target", "int", about="address of the morph target's weight"),
)
MORPH = Record("Morph", Field("weight", "float"))
LOOK = Record(
    "Look",
    Field("color", "vec4", "linear sRGB", about="at rest, with opacity"),
    Field("tangent", "vec4", "unit length", "object", "at rest, with the sign"),
    Field("uv", "vec2"),
    Field("uv_1", "vec2"),
)
LOOK_DELTA = Record(
    "LookDelta",
    Field("color", "vec4", "linear sRGB"),
    Field("tangent", "vec3"),
    Field("uv", "vec2"),
    Field("uv_1", "vec2"),
)
FACET = Record("Facet", Field("corners", "ivec3", about="vertices of the face that gives the normal; -1: none does"))

Rows = list[tuple[Table, int, int]]  # rows first .. last - 1 of tables


def joined(rows: Sequence[tuple[Table, int, int]]) -> Rows:
    """The same rows in as few ranges as they make, table by table: each is an upload."""
    ranges: Rows = []
    order = {id(table): number for number, (table, _, _) in reversed([*enumerate(rows)])}
    for table, first, last in sorted(rows, key=lambda row: (order[id(row[0])], row[1])):
        if ranges and ranges[-1][0] is table and first <= ranges[-1][2]:
            first, last = ranges[-1][1], max(ranges.pop()[2], last)
        ranges.append((table, first, last))
    return ranges


class PoseTables:
    """The tables of deforming meshes (D), with `scales` (D,) to the spaces of their objects, in the meshes' poses.

    firsts : (D + 1,) the first vertex of each mesh, and the total. skinned, morphs, faceted : whether any mesh has
    joints, morph targets, normals of faces. looks : whether ``look`` has rows, as for tangents and morphed colours.
    """

    def __init__(self, meshes: Sequence[DeformedMesh], scales: NDArray[np.float64]) -> None:
        self.meshes, self._scales = list(meshes), scales
        self.firsts = np.cumsum([0, *(len(mesh.rest.positions) for mesh in meshes)], dtype=np.int64)
        self._joints = np.cumsum([0, *(len(mesh.pose.joints) for mesh in meshes)], dtype=np.int64)
        self._weights = np.cumsum([0, *(len(mesh.pose.weights) for mesh in meshes)], dtype=np.int64)
        deformations = [mesh.deformation for mesh in meshes]
        self.skinned = any(deformation.skinned for deformation in deformations)
        self.morphs = any(deformation.targets for deformation in deformations)
        self.faceted = any(deformation.faceted for deformation in deformations)
        self.looks = any(mesh.rest.tangents is not None or _morphed_look(mesh) for mesh in meshes)
        count = int(self.firsts[-1])
        self.rest = Table("rest", REST, np.zeros(count, REST.dtype))
        self.influences = Table("influences", INFLUENCES, self._influences())
        self.joints = Table("joints", JOINT, np.zeros(int(self._joints[-1]), JOINT.dtype))
        order = [_displaced(mesh) for mesh in meshes]
        self.deltas = Table("deltas", DELTA, self._deltas(order))
        self.weights = Table("morphs", MORPH, np.zeros(int(self._weights[-1]), MORPH.dtype))
        self.look = Table("looks", LOOK, self._looks() if self.looks else np.zeros(0, LOOK.dtype))
        changes = self._look_deltas(order) if self.looks else np.zeros(0, LOOK_DELTA.dtype)
        self.look_deltas = Table("look_deltas", LOOK_DELTA, changes)
        self.facets = Table("facets", FACET, np.full(count if self.faceted else 0, -1, FACET.dtype))
        for number, mesh in enumerate(meshes):
            self._place(number, mesh.pose)
            self._set(number, mesh.pose)

    @property
    def tables(self) -> list[Table]:
        """All of them."""
        tables = [self.rest, self.influences, self.joints, self.deltas, self.weights]
        return [*tables, self.look, self.look_deltas, self.facets]

    @property
    def finite(self) -> bool:
        """Whether all that poses bring is."""
        positions = [mesh.pose.positions for mesh in self.meshes if mesh.pose.positions is not None]
        rows = [self.joints.data[f"row_{axis}"] for axis in "xyz"]
        return all(bool(np.isfinite(values).all()) for values in (*rows, self.weights.data["weight"], *positions))

    # -- poses -------------------------------------------------------------------------------------------------------

    def fits(self, number: int, mesh: DeformedMesh) -> bool:
        """Whether a mesh is the one of that number, in a pose that there is room for."""
        mine = self.meshes[number]
        return mesh.follows(mine) and len(mesh.pose.joints) == len(mine.pose.joints)

    def pose(self, number: int, mesh: DeformedMesh) -> Rows:
        """Have a mesh in another pose, which `fits`; the changed rows."""
        before, pose = self.meshes[number].pose, mesh.pose
        self.meshes[number] = mesh
        changed = self._set(number, pose)
        if pose.positions is not before.positions or pose.normals is not before.normals:
            changed += self._place(number, pose)
        return changed

    def _set(self, number: int, pose: MeshPose) -> Rows:
        """Joints and weights."""
        joints = slice(int(self._joints[number]), int(self._joints[number + 1]))
        weights = slice(int(self._weights[number]), int(self._weights[number + 1]))
        with np.errstate(over="ignore", invalid="ignore"):  # the vertices that follow are not hit
            rows = pose.joints[:, :3].copy()
            rows[:, :, 3] *= self._scales[number]
            for axis, name in enumerate("xyz"):
                self.joints.data[f"row_{name}"][joints] = rows[:, axis]
            self.weights.data["weight"][weights] = pose.weights
        changed = [(self.joints, joints.start, joints.stop), (self.weights, weights.start, weights.stop)]
        return [rows for rows in changed if rows[1] < rows[2]]

    def _place(self, number: int, pose: MeshPose) -> Rows:
        """Positions and normals at rest, or those of the pose."""
        first, last = int(self.firsts[number]), int(self.firsts[number + 1])
        rest, rows = self.meshes[number].rest, self.rest.data[first:last]
        positions = rest.positions if pose.positions is None else pose.positions
        with np.errstate(over="ignore", invalid="ignore"):
            rows["position"] = positions * np.float32(self._scales[number])  # a power of two: exact
        rows["normal"] = rest.normals if pose.normals is None else pose.normals
        changed = [(self.rest, first, last)]
        if self.meshes[number].deformation.faceted:
            facets = self.facets.data["corners"][first:last]
            facets[:] = -1
            if pose.normals is None:
                for corner in range(3):
                    facets[rest.triangles[:, corner]] = rest.triangles + first
            changed.append((self.facets, first, last))
        return changed

    # -- tables ------------------------------------------------------------------------------------------------------

    def _influences(self) -> NDArray:
        """Pairs of the influences that are not 0; their addresses go into ``rest``."""
        parts, total = [np.zeros(0, INFLUENCES.dtype)], 0
        for mesh, first, joint in zip(self.meshes, self.firsts, self._joints, strict=False):
            rows = self.rest.data[first : first + len(mesh.rest.positions)]
            if not mesh.deformation.skinned:
                rows["influences"] = UNSKINNED
                continue
            vertex, column = np.nonzero(mesh.deformation.weights)
            counts = np.bincount(vertex, minlength=len(rows))
            begin = np.cumsum(counts) - counts
            place = np.arange(len(vertex)) - begin[vertex]
            pairs = (counts + 1) // 2
            rows["influences"], rows["influence"] = pairs, total + np.cumsum(pairs) - pairs
            influences = np.zeros(int(pairs.sum()), INFLUENCES.dtype)
            at = (rows["influence"] - total)[vertex] + place // 2, place % 2
            influences["joints"][at] = mesh.deformation.joints[vertex, column] + joint
            influences["weights"][at] = mesh.deformation.weights[vertex, column]
            parts.append(influences)
            total += len(influences)
        return np.concatenate(parts)

    def _deltas(self, order: Sequence[tuple[NDArray, NDArray]]) -> NDArray:
        """The displacements of each vertex, by ``order`` of vertices and targets; addresses go into ``rest``."""
        parts, total = [np.zeros(0, DELTA.dtype)], 0
        for number, (vertex, target) in enumerate(order):
            mesh = self.meshes[number]
            rows = self.rest.data[self.firsts[number] : self.firsts[number + 1]]
            counts = np.bincount(vertex, minlength=len(rows))
            rows["deltas"], rows["delta"] = counts, total + np.cumsum(counts) - counts
            deltas = np.zeros(len(vertex), DELTA.dtype)
            deltas["target"] = target + self._weights[number]
            _gather(deltas, "position", mesh.deformation.targets, "positions", vertex, target)
            deltas["position"] *= np.float32(self._scales[number])
            _gather(deltas, "normal", mesh.deformation.targets, "normals", vertex, target)
            parts.append(deltas)
            total += len(deltas)
        return np.concatenate(parts)

    def _looks(self) -> NDArray:
        parts = []
        for mesh in self.meshes:
            rows = np.zeros(len(mesh.rest.positions), LOOK.dtype)
            rows["color"] = 1.0 if mesh.rest.colors is None else mesh.rest.colors
            rows["uv"] = 0.0 if mesh.rest.uvs is None else mesh.rest.uvs
            rows["uv_1"] = 0.0 if mesh.rest.uvs_1 is None else mesh.rest.uvs_1
            rows["tangent"] = 0.0 if mesh.rest.tangents is None else mesh.rest.tangents
            parts.append(rows)
        return np.concatenate(parts)

    def _look_deltas(self, order: Sequence[tuple[NDArray, NDArray]]) -> NDArray:
        parts = [np.zeros(0, LOOK_DELTA.dtype)]
        for mesh, (vertex, target) in zip(self.meshes, order, strict=True):
            rows = np.zeros(len(vertex), LOOK_DELTA.dtype)
            for field, name in _LOOKS.items():
                if getattr(mesh.rest, name) is not None:
                    _gather(rows, field, mesh.deformation.targets, name, vertex, target)
            parts.append(rows)
        return np.concatenate(parts)


_LOOKS = {"color": "colors", "tangent": "tangents", "uv": "uvs", "uv_1": "uvs_1"}


def _morphed_look(mesh: DeformedMesh) -> bool:
    """Whether targets displace more than positions and normals."""
    return any(
        getattr(target, name) is not None and getattr(mesh.rest, name) is not None
        for target in mesh.deformation.targets
        for name in _LOOKS.values()
    )


def _displaced(mesh: DeformedMesh) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Vertices (N,), ascending, and the targets that displace them."""
    rest: Mesh = mesh.rest
    deformation: Deformation = mesh.deformation
    moved = np.zeros((len(rest.positions), len(deformation.targets)), bool)
    for number, target in enumerate(deformation.targets):
        for name in ("positions", "normals", *_LOOKS.values()):
            change = getattr(target, name)
            if change is not None:
                moved[:, number] |= (change != 0).any(axis=1)
    vertex, which = np.nonzero(moved)
    return vertex, which


def _gather(
    out: NDArray, field: str, targets: Sequence[MorphTarget], name: str, vertex: NDArray, target: NDArray
) -> None:
    """The targets' values of an attribute at the rows' vertices."""
    for number, morph in enumerate(targets):
        change = getattr(morph, name)
        if change is not None:
            rows = np.flatnonzero(target == number)
            out[field][rows] = change[vertex[rows]]
