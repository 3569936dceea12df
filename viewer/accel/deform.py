"""The deforming objects of a two-level structure, updated to a pose without a rebuild."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.accel import bvh_build, bvh_tree
from raystream.accel.bvh_build import MAX_CACHED_BOXES, MIN_COMPILED, TEST_COST, TRAVERSAL_COST, UNCACHED_TEST_COST, Bvh
from raystream.accel.bvh_tree import MAX_IN_LEAF
from raystream.base.errors import ViewerError
from raystream.base.interrupts import UNWAITED
from raystream.base.jit import run
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.geometry.triangles import LARGEST_COORDINATE
from raystream.scene.mesh import Mesh
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import SMALL, Field, Record, matrix_rows

# -- conservative boxes of posed meshes without their vertices ---------------------------------------------------------
# A skinned vertex is a convex combination of where its joints take it: the boxes of the vertices at rest that
# follow each joint, moved by its matrix, hold all of them.

# Of the coordinates: sums of products in float32, of up to some dozen terms.
ROUNDING = 2.0**-19

Box = NDArray[np.float64]
_EMPTY = np.array([[np.inf] * 3, [-np.inf] * 3])


class DeformedBounds:
    """Boxes around a deforming mesh's vertices before joints move them, scaled by ``scale`` to its object's space.

    skinned : whether joints move it. weight_sums : the least and the largest sum of a vertex's weights.
    """

    def __init__(self, mesh: DeformedMesh, scale: float) -> None:
        deformation = mesh.deformation
        self._mesh, self.scale, self.skinned = mesh, scale, deformation.skinned
        self._shift = [_displacement_bounds(target.positions, scale) for target in deformation.targets]
        sums = deformation.weights.sum(axis=1, dtype=np.float64)
        self.weight_sums = (
            (float(sums.min(initial=np.inf)), float(sums.max(initial=-np.inf))) if len(sums) else (1.0, 1.0)
        )
        self._cached: tuple[object, Box] | None = None  # positions, and the boxes of them

    @property
    def has_convex_weights(self) -> bool:
        """Whether no weight is below zero, so that the joints' boxes enclose the posed vertices."""
        return bool((self._mesh.deformation.weights >= 0).all())

    def rest_boxes(self, pose: MeshPose) -> Box:
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
            corners = np.array(
                [[coordinates.min() for coordinates in columns], [coordinates.max() for coordinates in columns]],
                np.float64,
            )
            if np.isfinite(corners).all():
                self._cached = pose.positions, corners[None] * self.scale
                return self._cached[1]
        positions = vertices.astype(np.float64) * self.scale
        finite = np.isfinite(positions).all(axis=1)
        count = len(pose.joints) if deformation.skinned else 1
        boxes = np.empty((count, 2, 3))
        boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
        if not deformation.skinned and finite.any():
            boxes[0] = positions[finite].min(axis=0), positions[finite].max(axis=0)
        for column in range(deformation.joints.shape[1]):
            influenced = np.flatnonzero((deformation.weights[:, column] != 0) & finite)
            np.minimum.at(boxes[:, 0], deformation.joints[influenced, column], positions[influenced])
            np.maximum.at(boxes[:, 1], deformation.joints[influenced, column], positions[influenced])
        self._cached = pose.positions, boxes
        return boxes


def _displacement_bounds(change: NDArray[np.float32] | None, scale: float) -> Box:
    """(2, 3): the least and the largest finite displacement along each axis, of (V, 3), zero included."""
    extremes = np.zeros((2, 3))
    if change is not None and len(change):
        finite = np.where(np.isfinite(change), change, 0.0).astype(np.float64) * scale
        extremes[0], extremes[1] = np.minimum(finite.min(axis=0), 0.0), np.maximum(finite.max(axis=0), 0.0)
    return extremes


def posed_bounds(bounds: Sequence[DeformedBounds], poses: Sequence[MeshPose]) -> Box:
    """(D, 2, 3) float64, lowest and highest corners of D meshes in their poses, in the object's space; zeros where no
    vertex is finite. All joints at once: a character may have as many meshes as it has joints."""
    with np.errstate(all="ignore"):
        boxes_of_meshes = [bound.rest_boxes(pose) for bound, pose in zip(bounds, poses, strict=True)]
        counts, boxes = np.array([len(part) for part in boxes_of_meshes]), np.concatenate(boxes_of_meshes)
        skinned = np.array([bound.skinned for bound in bounds])
        is_joint_box, owners = np.repeat(skinned, counts), np.repeat(np.arange(len(bounds)), counts)
        min_sums, max_sums = np.array([bound.weight_sums for bound in bounds]).T
        if is_joint_box.any():
            joints = np.concatenate([pose.joints for bound, pose in zip(bounds, poses, strict=True) if bound.skinned])
            joint_owners = owners[is_joint_box]
            scales = np.array([bound.scale for bound in bounds])[joint_owners, None]
            boxes[is_joint_box] = _joint_bounds(
                boxes[is_joint_box],
                joints,
                scales,
                min_sums[joint_owners, None, None],
                max_sums[joint_owners, None, None],
            )
    boxes[~(boxes[:, 0] <= boxes[:, 1]).all(axis=1)] = _EMPTY  # those that are not finite, too
    starts = np.cumsum(counts) - counts
    low, high = np.minimum.reduceat(boxes[:, 0], starts), np.maximum.reduceat(boxes[:, 1], starts)
    is_empty = low[:, 0] > high[:, 0]
    low[is_empty] = high[is_empty] = 0.0
    margin = ROUNDING * np.maximum(np.abs(low), np.abs(high)).max(axis=1, keepdims=True)
    return np.clip(np.stack([low - margin, high + margin], axis=1), -LARGEST_COORDINATE, LARGEST_COORDINATE)


def _joint_bounds(boxes: Box, joints: Box, scales: Box, min_sums: Box, max_sums: Box) -> Box:
    """Boxes (J, 2, 3) of each joint's vertices where the joint (J, 4, 4) takes them: by ``min_sums`` and ``max_sums``,
    the sums of weights; of a sum of 0 with the origin, where vertices go that follow no joint."""
    linear, translation = joints[:, :3, :3], joints[:, :3, 3] * scales
    new_center, half = boxes.mean(axis=1), (boxes[:, 1] - boxes[:, 0]) / 2
    new_center = np.einsum("jrc,jc->jr", linear, new_center) + translation
    half_extent = np.einsum("jrc,jc->jr", np.abs(linear), half)
    half_extent = np.where((half >= 0).all(axis=1, keepdims=True), half_extent, -np.inf)
    # Large terms may cancel.
    half_extent += ROUNDING * (np.einsum("jrc,jc->jr", np.abs(linear), np.abs(new_center) + half) + np.abs(translation))
    moved = np.stack([new_center - half_extent, new_center + half_extent], axis=1)
    scaled = np.stack([min_sums * moved, max_sums * moved])
    return np.stack([scaled[:, :, 0].min(axis=0), scaled[:, :, 1].max(axis=0)], axis=1)


# -- the tables from which fragment programs pose vertices -------------------------------------------------------------
# Rest, influences, displacements; joints and weights of a pose.
# Vertices of all deforming objects lie one object after the other, in the spaces of their objects. Of a pose the
# joints' matrices and the morph weights are uploaded, and positions where it has its own.

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
JOINT = Record("Joint", *matrix_rows("row", "vec4", "the map from rest to the object's space"))
DELTA = Record(
    "Delta",
    Field("position", "vec3", "scene units", "object"),
    Field("normal", "vec3"),
    Field("target", "int", about="address of the morph target's weight"),
)
MORPH = Record("Morph", Field("weight", "float"))
VERTEX_ATTRIBUTES = Record(
    "VertexAttributes",
    Field("color", "vec4", "linear sRGB", about="at rest, with opacity"),
    Field("tangent", "vec4", "unit length", "object", "at rest, with the sign"),
    Field("uv", "vec2"),
    Field("uv_1", "vec2"),
)
ATTRIBUTE_DELTA = Record(
    "AttributeDelta",
    Field("color", "vec4", "linear sRGB"),
    Field("tangent", "vec3"),
    Field("uv", "vec2"),
    Field("uv_1", "vec2"),
)
FACET = Record("Facet", Field("corners", "ivec3", about="vertices of the face that gives the normal; -1: none does"))

Rows = list[tuple[Table, int, int]]  # rows first .. last - 1 of tables


def merge_ranges(row_ranges: Sequence[tuple[Table, int, int]]) -> Rows:
    """The ranges of rows merged where they touch or overlap, table by table: each is an upload."""
    ranges: Rows = []
    order = {id(table): index for index, (table, _, _) in reversed([*enumerate(row_ranges)])}
    for table, first, last in sorted(row_ranges, key=lambda row: (order[id(row[0])], row[1])):
        if ranges and ranges[-1][0] is table and first <= ranges[-1][2]:
            first, last = ranges[-1][1], max(ranges.pop()[2], last)
        ranges.append((table, first, last))
    return ranges


class PoseTables:
    """The tables of deforming meshes (D), with `scales` (D,) to the spaces of their objects, in the meshes' poses.

    firsts : (D + 1,) the first vertex of each mesh, and the total. skinned, morphs, faceted : whether any mesh has
    joints, morph targets, normals of faces. has_attributes : whether ``attributes`` has rows, as for
    tangents and morphed colours.
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
        self.has_attributes = any(mesh.rest.tangents is not None or _morphed_attributes(mesh) for mesh in meshes)
        count = int(self.firsts[-1])
        self.rest = Table("rest", REST, np.zeros(count, REST.dtype))
        self.influences = Table("influences", INFLUENCES, self._influences())
        self.joints = Table("joints", JOINT, np.zeros(int(self._joints[-1]), JOINT.dtype))
        order = [_displaced_vertices(mesh) for mesh in meshes]
        self.deltas = Table("deltas", DELTA, self._deltas(order))
        self.weights = Table("morphs", MORPH, np.zeros(int(self._weights[-1]), MORPH.dtype))
        self.attributes = Table(
            "vertex_attributes",
            VERTEX_ATTRIBUTES,
            self._attributes() if self.has_attributes else np.zeros(0, VERTEX_ATTRIBUTES.dtype),
        )
        changes = self._attribute_deltas(order) if self.has_attributes else np.zeros(0, ATTRIBUTE_DELTA.dtype)
        self.attribute_deltas = Table("attribute_deltas", ATTRIBUTE_DELTA, changes)
        self.facets = Table("facets", FACET, np.full(count if self.faceted else 0, -1, FACET.dtype))
        for index, mesh in enumerate(meshes):
            self._write_positions(index, mesh.pose)
            self._write_pose(index, mesh.pose)

    @property
    def tables(self) -> list[Table]:
        """The tables that passes read or write."""
        tables = [self.rest, self.influences, self.joints, self.deltas, self.weights]
        return [*tables, self.attributes, self.attribute_deltas, self.facets]

    @property
    def finite(self) -> bool:
        """Whether all joints, weights and positions of the poses are finite."""
        positions = [mesh.pose.positions for mesh in self.meshes if mesh.pose.positions is not None]
        rows = [self.joints.data[f"row_{axis}"] for axis in "xyz"]
        return all(bool(np.isfinite(values).all()) for values in (*rows, self.weights.data["weight"], *positions))

    # -- poses -------------------------------------------------------------------------------------------------------

    def accepts(self, index: int, mesh: DeformedMesh) -> bool:
        """Whether ``mesh`` is the mesh of that index in another pose, with as many joints."""
        current = self.meshes[index]
        return mesh.follows(current) and len(mesh.pose.joints) == len(current.pose.joints)

    def pose(self, index: int, mesh: DeformedMesh) -> Rows:
        """Write the pose of a mesh that it `accepts` into the tables; returns the changed rows."""
        previous, pose = self.meshes[index].pose, mesh.pose
        self.meshes[index] = mesh
        changed = self._write_pose(index, pose)
        if pose.positions is not previous.positions or pose.normals is not previous.normals:
            changed += self._write_positions(index, pose)
        return changed

    def _write_pose(self, index: int, pose: MeshPose) -> Rows:
        """Write joints and weights of a pose; returns the changed rows."""
        joints = slice(int(self._joints[index]), int(self._joints[index + 1]))
        weights = slice(int(self._weights[index]), int(self._weights[index + 1]))
        with np.errstate(over="ignore", invalid="ignore"):  # the vertices that follow are not hit
            rows = pose.joints[:, :3].copy()
            rows[:, :, 3] *= self._scales[index]
            for axis, name in enumerate("xyz"):
                self.joints.data[f"row_{name}"][joints] = rows[:, axis]
            self.weights.data["weight"][weights] = pose.weights
        changed = [(self.joints, joints.start, joints.stop), (self.weights, weights.start, weights.stop)]
        return [rows for rows in changed if rows[1] < rows[2]]

    def _write_positions(self, index: int, pose: MeshPose) -> Rows:
        """Write positions and normals before joints and weights apply; returns the changed rows."""
        first, last = int(self.firsts[index]), int(self.firsts[index + 1])
        rest, rows = self.meshes[index].rest, self.rest.data[first:last]
        positions = rest.positions if pose.positions is None else pose.positions
        with np.errstate(over="ignore", invalid="ignore"):
            rows["position"] = positions * np.float32(self._scales[index])  # a power of two: exact
        rows["normal"] = rest.normals if pose.normals is None else pose.normals
        changed = [(self.rest, first, last)]
        if self.meshes[index].deformation.faceted:
            facets = self.facets.data["corners"][first:last]
            facets[:] = -1
            if pose.normals is None:
                for corner in range(3):
                    facets[rest.triangles[:, corner]] = rest.triangles + first
            changed.append((self.facets, first, last))
        return changed

    # -- tables ------------------------------------------------------------------------------------------------------

    def _influences(self) -> NDArray:
        """The rows of `INFLUENCES`: each vertex's nonzero weights, in pairs; writes their addresses to ``rest``."""
        parts, total = [np.zeros(0, INFLUENCES.dtype)], 0
        for mesh, first, joint in zip(self.meshes, self.firsts, self._joints, strict=False):
            rows = self.rest.data[first : first + len(mesh.rest.positions)]
            if not mesh.deformation.skinned:
                rows["influences"] = UNSKINNED
                continue
            vertex, column = np.nonzero(mesh.deformation.weights)
            counts = np.bincount(vertex, minlength=len(rows))
            starts = np.cumsum(counts) - counts
            slot = np.arange(len(vertex)) - starts[vertex]
            pairs = (counts + 1) // 2
            rows["influences"], rows["influence"] = pairs, total + np.cumsum(pairs) - pairs
            influences = np.zeros(int(pairs.sum()), INFLUENCES.dtype)
            index = (rows["influence"] - total)[vertex] + slot // 2, slot % 2
            influences["joints"][index] = mesh.deformation.joints[vertex, column] + joint
            influences["weights"][index] = mesh.deformation.weights[vertex, column]
            parts.append(influences)
            total += len(influences)
        return np.concatenate(parts)

    def _deltas(self, order: Sequence[tuple[NDArray, NDArray]]) -> NDArray:
        """The rows of `DELTA`, by `_displaced_vertices` ``order`` of each mesh; writes their addresses to ``rest``."""
        parts, total = [np.zeros(0, DELTA.dtype)], 0
        for index, (vertex, target) in enumerate(order):
            mesh = self.meshes[index]
            rows = self.rest.data[self.firsts[index] : self.firsts[index + 1]]
            counts = np.bincount(vertex, minlength=len(rows))
            rows["deltas"], rows["delta"] = counts, total + np.cumsum(counts) - counts
            deltas = np.zeros(len(vertex), DELTA.dtype)
            deltas["target"] = target + self._weights[index]
            _copy_displacements(deltas, "position", mesh.deformation.targets, "positions", vertex, target)
            deltas["position"] *= np.float32(self._scales[index])
            _copy_displacements(deltas, "normal", mesh.deformation.targets, "normals", vertex, target)
            parts.append(deltas)
            total += len(deltas)
        return np.concatenate(parts)

    def _attributes(self) -> NDArray:
        parts = []
        for mesh in self.meshes:
            rows = np.zeros(len(mesh.rest.positions), VERTEX_ATTRIBUTES.dtype)
            rows["color"] = 1.0 if mesh.rest.colors is None else mesh.rest.colors
            rows["uv"] = 0.0 if mesh.rest.uvs is None else mesh.rest.uvs
            rows["uv_1"] = 0.0 if mesh.rest.uvs_1 is None else mesh.rest.uvs_1
            rows["tangent"] = 0.0 if mesh.rest.tangents is None else mesh.rest.tangents
            parts.append(rows)
        return np.concatenate(parts)

    def _attribute_deltas(self, order: Sequence[tuple[NDArray, NDArray]]) -> NDArray:
        parts = [np.zeros(0, ATTRIBUTE_DELTA.dtype)]
        for mesh, (vertex, target) in zip(self.meshes, order, strict=True):
            rows = np.zeros(len(vertex), ATTRIBUTE_DELTA.dtype)
            for column, name in _ATTRIBUTES.items():
                if getattr(mesh.rest, name) is not None:
                    _copy_displacements(rows, column, mesh.deformation.targets, name, vertex, target)
            parts.append(rows)
        return np.concatenate(parts)


_ATTRIBUTES = {"color": "colors", "tangent": "tangents", "uv": "uvs", "uv_1": "uvs_1"}


def _morphed_attributes(mesh: DeformedMesh) -> bool:
    """Whether targets displace more than positions and normals."""
    return any(
        getattr(target, name) is not None and getattr(mesh.rest, name) is not None
        for target in mesh.deformation.targets
        for name in _ATTRIBUTES.values()
    )


def _displaced_vertices(mesh: DeformedMesh) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(vertices (N,), ascending, morph targets (N,) that displace them), a pair for each displacement."""
    rest: Mesh = mesh.rest
    deformation: Deformation = mesh.deformation
    is_displaced = np.zeros((len(rest.positions), len(deformation.targets)), bool)
    for index, target in enumerate(deformation.targets):
        for name in ("positions", "normals", *_ATTRIBUTES.values()):
            change = getattr(target, name)
            if change is not None:
                is_displaced[:, index] |= (change != 0).any(axis=1)
    vertices, targets = np.nonzero(is_displaced)
    return vertices, targets


def _copy_displacements(
    out: NDArray, field: str, targets: Sequence[MorphTarget], name: str, vertex: NDArray, target: NDArray
) -> None:
    """Write into the rows' ``field`` the displacements of attribute ``name``: of vertex (N,) by morph target (N,)."""
    for index, morph in enumerate(targets):
        change = getattr(morph, name)
        if change is not None:
            rows = np.flatnonzero(target == index)
            out[field][rows] = change[vertex[rows]]


# -- the tables from which fragment programs write triangles and refit bounding volume hierarchies ---------------------
# A node's leaves lie one behind the other, in the order of the tree: its box is a union over a range of the leaves'
# boxes, and where it has many, of boxes over blocks of leaves, over blocks of those, and so on.

MAX_LOOPED_LEAVES = 8  # leaves below a node whose box a single loop finds: those of seven nodes in eight
BLOCK_SIZES = 8, 8, 16, 16, 16, 16  # boxes in a block, level by level: a pass reads from 16 textures at most
STREAM_WIDTH = 256  # elements in a row of streams
# Rows in which a rasteriser on the CPU runs fragments together: nodes of few leaves and of many are in others, so that
# none loops along with a neighbour.
ROW_GROUP = 4

BOX = Record("Box", Field("low", "vec3", "scene units", "object"), Field("high", "vec3", "scene units", "object"))
CORNERS = Record(
    "Corners",
    Field("vertices", "ivec3", about="among those of deforming objects"),
    Field("number", "int", about="of the triangle"),
)
SIDED_CORNERS = Record("Corners", *CORNERS.fields, Field("one_sided", "int", about="as in Triangle", within=SMALL))
RANGE = Record("Range", Field("first", "int"), Field("end", "int", about="behind the last"))
NODE_ROW = Record(
    "NodeRow",
    Field("box", "int", about="address of its box: among those of inner nodes; of a leaf -1 - its index"),
    Field("root", "int", about="the same of the tree's first node"),
    Field("first", "int", about="as in BvhNode"),
    Field("count", "int", about="as in BvhNode"),
)
PAIR_ROW = Record(
    "PairRow",
    Field("boxes", "ivec2", about="addresses of both children's boxes, as in NodeRow"),
    Field("child", "ivec2", about="as in BvhPair"),
    Field("count", "ivec2", about="as in BvhPair"),
    Field("root", "int", about="as in NodeRow"),
)


def block_levels(leaves: int) -> list[tuple[int, int]]:
    """(number of boxes, boxes of the level below in each) of each level of the pyramid over ``leaves`` boxes."""
    counts = []
    for block in BLOCK_SIZES:
        if leaves <= block:
            break
        leaves = -(-leaves // block)
        counts.append((leaves, block))
    return counts


class RefitTables:
    """The tables of the trees of deforming objects, the first ones of all.

    corners : a row for each triangle, in the order of the trees. leaves : the triangles of each leaf. inner : the
    leaves of each inner node: up to `MAX_LOOPED_LEAVES`, then from row ``many_row`` (of `STREAM_WIDTH`) on more.
    nodes, pairs : the tables of either traversal, without boxes.
    """

    def __init__(
        self,
        bvhs: Sequence[Bvh],
        faces: Sequence[NDArray[np.int32]],
        firsts: NDArray[np.int64],
        culled: Sequence[NDArray[np.bool_] | None],
        sided: bool,
    ) -> None:
        """bvhs : (D,) trees. faces : (D,) triangles (T, 3) of vertices, which begin at ``firsts`` (D,). culled : (D,)
        as of `raystream.accel.primitives.triangle_module`; ``sided``: the table of triangles says so."""
        record = SIDED_CORNERS if sided else CORNERS
        corners, spans, leaves = [], [], []
        triangle = leaf = 0
        for bvh, mesh_faces, first, sides in zip(bvhs, faces, firsts, culled, strict=False):
            rows = np.zeros(len(bvh.order), record.dtype)
            rows["vertices"], rows["number"] = mesh_faces[bvh.order] + first, bvh.order
            if sided and sides is not None:
                rows["one_sided"] = sides[bvh.order]
            corners.append(rows)
            leaf_nodes = np.flatnonzero(bvh.second < 0)
            leaf_ranges = _range_rows(
                triangle + bvh.first[leaf_nodes], triangle + bvh.first[leaf_nodes] + bvh.count[leaf_nodes]
            )
            leaves_before = np.concatenate([[0], np.cumsum(bvh.second < 0)])  # leaves before a node
            spans.append(_range_rows(leaf + leaves_before[:-1], leaf + leaves_before[bvh.escape]))
            leaves.append(leaf_ranges)
            triangle, leaf = triangle + len(rows), leaf + len(leaf_ranges)
        inner = np.concatenate([bvh.second >= 0 for bvh in bvhs])
        all_spans = np.concatenate(spans)
        box, ranges, self.many_row = _box_addresses(inner, all_spans)
        self.corners = Table("corners", record, np.concatenate(corners))
        self.leaves = Table("leaf_ranges", RANGE, np.concatenate(leaves))
        self.inner = Table("inner_ranges", RANGE, ranges)
        nodes, pairs = [], []
        triangle = node = pair = 0
        for bvh in bvhs:
            boxes = box[node : node + len(bvh.low)]
            nodes.append(_node_rows(bvh, triangle, node, boxes))
            pairs.append(_pair_rows(bvh, triangle, pair, boxes))
            triangle, node, pair = triangle + len(bvh.order), node + len(bvh.low), pair + len(pairs[-1])
        self.nodes = Table("node_rows", NODE_ROW, np.concatenate(nodes))
        self.pairs = Table("pair_rows", PAIR_ROW, np.concatenate(pairs))

    @property
    def tables(self) -> list[Table]:
        """The tables that passes read or write."""
        return [self.corners, self.leaves, self.inner, self.nodes, self.pairs]


def _range_rows(first: NDArray, end: NDArray) -> NDArray:
    rows = np.zeros(len(first), RANGE.dtype)
    rows["first"], rows["end"] = first, end
    return rows


def _box_addresses(inner: NDArray[np.bool_], spans: NDArray) -> tuple[NDArray[np.int64], NDArray, int]:
    """The layout of boxes of nodes (N,) with the ranges ``spans`` of leaves: (addresses of their boxes; the ranges in
    the order of inner nodes' boxes; the row from which on nodes have many leaves)."""
    counts = spans["end"] - spans["first"]
    indices = np.flatnonzero(inner)
    indices = indices[np.argsort(counts[indices], kind="stable")]  # neighbours loop alike
    few_count = int(np.count_nonzero(counts[indices] <= MAX_LOOPED_LEAVES))
    many_row = ROW_GROUP * -(-few_count // (ROW_GROUP * STREAM_WIDTH))
    position = np.arange(len(indices))
    position[few_count:] += many_row * STREAM_WIDTH - few_count
    ranges = np.zeros(int(position[-1]) + 1 if len(position) else 0, RANGE.dtype)
    ranges[position] = spans[indices]
    box = -1 - (np.cumsum(~inner) - 1)
    box[indices] = position
    return box, ranges, many_row


def _node_rows(bvh: Bvh, base: int, first_node: int, box: NDArray[np.int64]) -> NDArray:
    table, rows = bvh_tree.node_rows(bvh, base, first_node), np.zeros(len(bvh.low), NODE_ROW.dtype)
    rows["box"], rows["root"], rows["first"], rows["count"] = box, box[0], table["first"], table["count"]
    return rows


def _pair_rows(bvh: Bvh, base: int, first_pair: int, box: NDArray[np.int64]) -> NDArray:
    table = bvh_tree.pair_rows(bvh, base, first_pair)
    inner, rows = np.flatnonzero(bvh.second >= 0), np.zeros(len(table), PAIR_ROW.dtype)
    rows["boxes"] = box[np.stack([inner + 1, bvh.second[inner]], axis=1)]
    rows["child"], rows["count"], rows["root"] = table["child"], table["count"], box[0]
    return rows


# -- trees of deforming objects, rebuilt in the background once refitting has made them too loose ----------------------
# C. Lauterbach et al., "RT-DEFORM: Interactive Ray Tracing of Dynamic Scenes using BVHs" (2006): refit, and rebuild
# by a measure of the tree's quality; here the expected cost of the surface area heuristic.

MAX_COST_GROWTH = 4 / 3  # of a tree's expected cost when it was built: another one is
MIN_PAUSE, PAUSE_FACTOR = 0.5, 10.0  # between two looks: seconds, and multiples of the time that the last one took

Result = TypeVar("Result")


def refit(corners, order, second, first, count, low, high):
    """Boxes of a tree's nodes (N, 3) float32, written, over other corners (T, 3, 3) float32; none for
    corners that are not finite."""
    for i in range(len(second) - 1, -1, -1):
        for a in range(3):
            low[i, a], high[i, a] = np.inf, -np.inf
        if second[i] < 0:
            for k in range(first[i], first[i] + count[i]):
                t, total = order[k], 0.0
                for c in range(3):
                    for a in range(3):
                        total += np.float64(corners[t, c, a])
                if np.isfinite(total):
                    for c in range(3):
                        for a in range(3):
                            low[i, a] = min(low[i, a], corners[t, c, a])
                            high[i, a] = max(high[i, a], corners[t, c, a])
        else:
            for a in range(3):
                low[i, a] = min(low[i + 1, a], low[second[i], a])
                high[i, a] = max(high[i + 1, a], high[second[i], a])


def expected_cost(bvh: Bvh, corners: NDArray[np.float32]) -> float:
    """The tree's ``sah_cost`` (`Bvh`) once it is refitted to other corners (T, 3, 3) float32."""
    low, high = np.empty_like(bvh.low), np.empty_like(bvh.high)
    small = len(bvh.order) <= MIN_COMPILED
    run(refit, corners, bvh.order, bvh.second, bvh.first, bvh.count, low, high, small=small)
    empty = low[:, 0] > high[:, 0]
    low[empty] = high[empty] = 0.0
    inner, outer, _, _ = run(
        bvh_build.add_escape_links, low, high, bvh.second, bvh.count, bvh.escape.copy(), small=small
    )
    area = float(run(bvh_build.half_area_of_box, low[0], high[0], small=True))
    test = TEST_COST if len(bvh.order) <= MAX_CACHED_BOXES else UNCACHED_TEST_COST
    return (TRAVERSAL_COST * float(inner) + test * float(outer)) / area if area > 0.0 else 0.0


@dataclass
class Trees:
    """Trees of deforming objects (D,), and the expected cost of each that others are compared with."""

    bvhs: list[Bvh]
    costs: list[float]

    @classmethod
    def of(cls, bvhs: Sequence[Bvh]) -> Trees:
        """The trees with the costs of their builds."""
        return cls(list(bvhs), [float(bvh.statistics["sah_cost"]) for bvh in bvhs])

    def rebuilt_for(self, corners: Sequence[NDArray[np.float32]], method: str) -> Trees | None:
        """The trees, those too costly in a pose, by its corners (T, 3, 3) of each, rebuilt; None if none is."""
        trees, costs = list(self.bvhs), list(self.costs)
        for index, (bvh, mesh_corners) in enumerate(zip(self.bvhs, corners, strict=True)):
            cost = expected_cost(bvh, mesh_corners)
            if cost <= MAX_COST_GROWTH * self.costs[index]:
                continue
            finite = np.nan_to_num(mesh_corners, posinf=0.0, neginf=0.0)  # a tree has all triangles
            rebuilt = bvh_build.build(finite, method, leaf=MAX_IN_LEAF)
            if float(rebuilt.statistics["sah_cost"]) < cost:
                trees[index] = rebuilt
            costs[index] = min(cost, float(rebuilt.statistics["sah_cost"]))
        self.costs = costs  # dear in this pose, whatever the tree
        return Trees(trees, costs) if any(new is not old for new, old in zip(trees, self.bvhs, strict=True)) else None


class Rebuilder(Generic[Result]):
    """Checks the trees of a structure from time to time, and rebuilds them in a thread.

    make : the structure of trees. scales : (D,) from the meshes to the spaces of their objects.
    """

    def __init__(self, trees: Trees, scales: NDArray[np.float64], method: str, make: Callable[[Trees], Result]) -> None:
        self._trees, self._scales, self._method, self._make = trees, scales, method, make
        self._thread: threading.Thread | None = None
        self._finished: Result | None = None
        self._due = time.perf_counter() + MIN_PAUSE

    def check(self, meshes: Sequence[DeformedMesh]) -> None:
        """Start to compare costs in the meshes' pose, if the last comparison is long enough ago."""
        if self._finished is not None or time.perf_counter() < self._due or self._busy:
            return
        # Copies: nobody else is to have the vertices because of this.
        copies = [DeformedMesh(mesh.rest, mesh.deformation, mesh.pose) for mesh in meshes]
        self._thread = threading.Thread(target=self._run, args=(copies,), name=UNWAITED, daemon=True)
        self._thread.start()

    def take_finished(self) -> Result | None:
        """The finished rebuilds, each returned once."""
        finished, self._finished = self._finished, None
        return finished

    def wait(self) -> None:
        """Wait until the thread has ended."""
        if self._thread is not None:
            self._thread.join()

    @property
    def _busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self, meshes: Sequence[DeformedMesh]) -> None:
        start = time.perf_counter()
        with suppress(ViewerError, MemoryError):  # the trees that there are serve on
            with np.errstate(all="ignore"):
                corners = [
                    mesh.positions[mesh.triangles] * np.float32(scale)
                    for mesh, scale in zip(meshes, self._scales.tolist(), strict=True)
                ]
            trees = self._trees.rebuilt_for(corners, self._method)
            if trees is not None:
                self._finished = self._make(trees)
        now = time.perf_counter()
        self._due = now + max(MIN_PAUSE, PAUSE_FACTOR * (now - start))


# -- the deforming objects, updated to a pose without a rebuild --------------------------------------------------------


@dataclass
class Deforming:
    """Deforming objects, the first ones of their structure.

    indices : (D,) of their meshes in the scene. poses, trees : tables. bvhs : the trees, with their costs. version : of
    the pose; grows with each.
    """

    indices: list[int]
    poses: PoseTables
    trees: RefitTables
    bounds: list[DeformedBounds]
    bvhs: Trees
    version: int = field(default=0)

    @classmethod
    def of(
        cls,
        indices: Sequence[int],
        meshes: Sequence[DeformedMesh],
        scales: NDArray[np.float64],
        trees: RefitTables,
        bvhs: Sequence[Bvh],
    ) -> Deforming | None:
        """The objects with their tables; None where weights below zero make bounds impossible."""
        bounds = [DeformedBounds(mesh, scale) for mesh, scale in zip(meshes, scales.tolist(), strict=True)]
        if not all(bound.has_convex_weights for bound in bounds):
            return None
        return cls(list(indices), PoseTables(meshes, scales), trees, bounds, Trees.of(bvhs))

    def accepts(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> bool:
        """Whether the meshes with indices ``posed`` of a scene can be posed in place: those that are objects here need
        as many joints. A mesh that moves while the shutter is open needs tables of keys, which are not here."""
        for index in posed:
            mesh = meshes[index]
            if not isinstance(mesh, DeformedMesh) or mesh.motion:
                return False
            if index in self.indices and not self.poses.accepts(self.indices.index(index), mesh):
                return False
        return True

    def boxes(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> dict[int, Box]:
        """Conservative boxes (2, 3) of objects, by index, in the poses of the scene's meshes."""
        deforming = self._deforming_meshes(meshes, posed)
        if not deforming:
            return {}
        boxes = posed_bounds([self.bounds[slot] for slot, _ in deforming], [mesh.pose for _, mesh in deforming])
        return {slot: box for (slot, _), box in zip(deforming, boxes, strict=True)}

    def pose(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> Rows:
        """Write the poses of the scene's meshes that it `accepts` into the tables; returns the changed rows."""
        changed: Rows = []
        for slot, mesh in self._deforming_meshes(meshes, posed):
            changed += self.poses.pose(slot, mesh)
        self.version += bool(changed)
        return merge_ranges(changed)

    def _deforming_meshes(self, meshes: Sequence[Mesh], posed: Iterable[int]) -> list[tuple[int, DeformedMesh]]:
        """(index here, mesh) of those of the meshes ``posed`` that are deforming objects here."""
        slots = {index: slot for slot, index in enumerate(self.indices)}
        candidates = ((slots.get(index), meshes[index]) for index in posed)
        return [(slot, mesh) for slot, mesh in candidates if slot is not None and isinstance(mesh, DeformedMesh)]
