"""The tables from which fragment programs pose vertices: rest, influences, displacements; joints and weights of a pose.

Vertices of all deforming objects lie one object after the other, in the spaces of their objects. Of a pose the joints'
matrices and the morph weights are uploaded, and positions where it has its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.geometry.triangles import LARGEST_COORDINATE
from raystream.scene.mesh import Mesh
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Field, Record, rows_of

# -- conservative boxes of posed meshes without their vertices ---------------------------------------------------------
# A skinned vertex is a convex combination of where its joints take it: the boxes of the vertices at rest that
# follow each joint, moved by its matrix, hold all of them.

# Of the coordinates: sums of products in float32, of up to some dozen terms.
ROUNDING = 2.0**-19

Box = NDArray[np.float64]
_EMPTY = np.array([[np.inf] * 3, [-np.inf] * 3])


class DeformedBounds:
    """The boxes of one deforming mesh at rest, scaled by ``scale`` to its object's space.

    skinned : whether joints move it. sums : the least and the largest sum of a vertex's weights.
    """

    def __init__(self, mesh: DeformedMesh, scale: float) -> None:
        deformation = mesh.deformation
        self._mesh, self.scale, self.skinned = mesh, scale, deformation.skinned
        self._shift = [_extremes(target.positions, scale) for target in deformation.targets]
        sums = deformation.weights.sum(axis=1, dtype=np.float64)
        self.sums = (float(sums.min(initial=np.inf)), float(sums.max(initial=-np.inf))) if len(sums) else (1.0, 1.0)
        self._cached: tuple[object, Box] | None = None  # positions, and the boxes of them

    @property
    def convex(self) -> bool:
        """Whether weights are such that boxes hold: none is below zero."""
        return bool((self._mesh.deformation.weights >= 0).all())

    def at_rest(self, pose: MeshPose) -> Box:
        """(N, 2, 3): the boxes before joints move them, by morph weights."""
        boxes = self._boxes(pose)
        for weight, shift in zip(pose.weights.tolist(), self._shift, strict=True):
            if weight != 0.0:
                boxes = boxes + np.sort(weight * shift, axis=0)
        return boxes

    def _boxes(self, pose: MeshPose) -> Box:
        """(N, 2, 3): of the vertices that follow each joint, or of all; inf, -inf for none."""
        mesh, deformation = self._mesh, self._mesh.deformation
        if self._cached is not None and self._cached[0] is pose.positions and len(self._cached[1]) >= 1:
            return self._cached[1]
        vertices = mesh.rest.positions if pose.positions is None else pose.positions
        if not deformation.skinned and len(vertices):
            columns = vertices.T  # reductions along so short an axis are slow
            ends = np.array(
                [[coordinates.min() for coordinates in columns], [coordinates.max() for coordinates in columns]],
                np.float64,
            )
            if np.isfinite(ends).all():
                self._cached = pose.positions, ends[None] * self.scale
                return self._cached[1]
        positions = vertices.astype(np.float64) * self.scale
        sound = np.isfinite(positions).all(axis=1)
        count = len(pose.joints) if deformation.skinned else 1
        boxes = np.empty((count, 2, 3))
        boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
        if not deformation.skinned and sound.any():
            boxes[0] = positions[sound].min(axis=0), positions[sound].max(axis=0)
        for column in range(deformation.joints.shape[1]):
            influenced = np.flatnonzero((deformation.weights[:, column] != 0) & sound)
            np.minimum.at(boxes[:, 0], deformation.joints[influenced, column], positions[influenced])
            np.maximum.at(boxes[:, 1], deformation.joints[influenced, column], positions[influenced])
        self._cached = pose.positions, boxes
        return boxes


def _extremes(change: NDArray[np.float32] | None, scale: float) -> Box:
    """(2, 3): the least and the largest finite displacement, and none."""
    extremes = np.zeros((2, 3))
    if change is not None and len(change):
        finite = np.where(np.isfinite(change), change, 0.0).astype(np.float64) * scale
        extremes[0], extremes[1] = np.minimum(finite.min(axis=0), 0.0), np.maximum(finite.max(axis=0), 0.0)
    return extremes


def boxes_of(covers: Sequence[DeformedBounds], poses: Sequence[MeshPose]) -> Box:
    """(D, 2, 3) float64 of each, low and high, the object's space; zeros where nothing is finite. All joints are taken
    at once: a character may have as many meshes as it has joints."""
    with np.errstate(all="ignore"):
        parts = [cover.at_rest(pose) for cover, pose in zip(covers, poses, strict=True)]
        counts, boxes = np.array([len(part) for part in parts]), np.concatenate(parts)
        skinned = np.array([cover.skinned for cover in covers])
        of_joint, owner = np.repeat(skinned, counts), np.repeat(np.arange(len(covers)), counts)
        least, most = np.array([cover.sums for cover in covers]).T
        if of_joint.any():
            joints = np.concatenate([pose.joints for cover, pose in zip(covers, poses, strict=True) if cover.skinned])
            of = owner[of_joint]
            scales = np.array([cover.scale for cover in covers])[of, None]
            boxes[of_joint] = _moved(boxes[of_joint], joints, scales, least[of, None, None], most[of, None, None])
    boxes[~(boxes[:, 0] <= boxes[:, 1]).all(axis=1)] = _EMPTY  # those that are not finite, too
    starts = np.cumsum(counts) - counts
    low, high = np.minimum.reduceat(boxes[:, 0], starts), np.maximum.reduceat(boxes[:, 1], starts)
    nothing = low[:, 0] > high[:, 0]
    low[nothing] = high[nothing] = 0.0
    margin = ROUNDING * np.maximum(np.abs(low), np.abs(high)).max(axis=1, keepdims=True)
    return np.clip(np.stack([low - margin, high + margin], axis=1), -LARGEST_COORDINATE, LARGEST_COORDINATE)


def _moved(boxes: Box, joints: Box, scales: Box, least: Box, most: Box) -> Box:
    """Boxes (J, 2, 3) of each joint's vertices where the joint (J, 4, 4) takes them: by the ``least`` and the ``most``
    sums of weights; of a sum of 0 with the origin, where vertices go that follow no joint."""
    linear, place = joints[:, :3, :3], joints[:, :3, 3] * scales
    middle, half = boxes.mean(axis=1), (boxes[:, 1] - boxes[:, 0]) / 2
    center = np.einsum("jrc,jc->jr", linear, middle) + place
    reach = np.einsum("jrc,jc->jr", np.abs(linear), half)
    reach = np.where((half >= 0).all(axis=1, keepdims=True), reach, -np.inf)
    # Large terms may cancel.
    reach += ROUNDING * (np.einsum("jrc,jc->jr", np.abs(linear), np.abs(middle) + half) + np.abs(place))
    moved = np.stack([center - reach, center + reach], axis=1)
    ends = np.stack([least * moved, most * moved])
    return np.stack([ends[:, :, 0].min(axis=0), ends[:, :, 1].max(axis=0)], axis=1)


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
