"""Boxes around a scene's instances, and the ground plane under one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from raystream.scene.geometry.batches import batches, equal_groups, join_meshes, offsets
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.vertices import transform_points
from raystream.scene.mesh import Instance, Mesh, meshes_of, transforms_of
from raystream.scene.quadric import Quadric, bounds_of_quadric

Float = NDArray[np.float64]

OUTWARD_SIGNS = np.array([[-1.0], [1.0]])  # of low and high: larger products are farther out
BATCH_VERTICES = 1 << 16  # that are examined at once
BOX_MARGIN = 1e-9  # of the coordinates: far above rounding errors of the boxes below, so that none is too small


def bounds_of_instances(meshes: Sequence[Mesh], instances: Sequence[Instance], drawn_meshes: set[int]) -> Float:
    """(2, 3): lowest and highest corner over the finite vertices of instances of meshes ``drawn_meshes``, by index, and
    over quadrics; zeros without any."""
    quadrics = {k: mesh for k, mesh in enumerate(meshes) if isinstance(mesh, (Quadric, Quadrics))}
    drawn_meshes = drawn_meshes - quadrics.keys()
    mesh_points = [np.zeros((0, 3))] * len(meshes)
    for index, vertices in zip(drawn_meshes, used_points([meshes[index] for index in drawn_meshes]), strict=True):
        mesh_points[index] = vertices
    indices, transforms = meshes_of(instances), transforms_of(instances)
    bounds = bounds_of(mesh_points, indices, transforms)
    boxes = [bounds] if bounds is not None else []
    for index, mesh in quadrics.items():
        maps = transforms[indices == index]
        if isinstance(mesh, Quadric):
            boxes += [*bounds_of_quadric(mesh.shape, maps @ mesh.maps)]
        else:
            boxes += [_box_of_quadrics(mesh, transform) for transform in maps]
    boxes = [box for box in boxes if np.isfinite(box).all()]
    low, high = (np.array([box[side] for box in boxes]).reshape(-1, 3) for side in (0, 1))
    return np.stack([low.min(axis=0), high.max(axis=0)]) if boxes else np.zeros((2, 3))


def _box_of_quadrics(mesh: Quadrics, transform: Float) -> Float:
    """(2, 3): lowest and highest corner under a transform (4, 4); not finite without any quadric."""
    if mesh.shape.whole_sphere:
        centres = transform_points(mesh.positions[mesh.triangles[:, 0]], transform[None])[0]
        if not len(centres):
            return np.full((2, 3), np.nan)
        radii = mesh.radius * np.linalg.norm(transform[:3, :3], axis=1)
        return _box(centres) + OUTWARD_SIGNS * radii
    boxes = bounds_of_quadric(mesh.shape, transform @ mesh.maps)
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]) if len(boxes) else np.full((2, 3), np.nan)


def bounds_of(points: list[Float], meshes: NDArray[np.intp], transforms: Float) -> Float | None:
    """(2, 3): lowest and highest corner over the finite vertices of instances, None without any.

    points : of each mesh (V, 3), finite. meshes : (I,) the mesh index of each instance. transforms : (I, 4, 4).

    An instance is examined only if its mesh's transformed box reaches beyond the bounds so far, farthest first: only a
    few in a scene of any size.
    """
    sizes = np.array([len(vertices) for vertices in points], np.int64)
    has_points = sizes > 0
    placed_instances = np.flatnonzero(has_points[meshes]) if len(meshes) else meshes
    if not len(placed_instances):
        return None
    boxes = np.zeros((len(points), 2, 3))
    boxes[has_points] = _boxes([vertices for vertices in points if len(vertices)])
    box, placements = boxes[meshes[placed_instances]], transforms[placed_instances]
    linear, translation = placements[:, :3, :3], placements[:, :3, 3]
    with np.errstate(all="ignore"):
        centre = (linear @ (box.sum(axis=1) / 2)[..., None])[..., 0]
        half_size = (np.abs(linear) @ ((box[:, 1] - box[:, 0]) / 2)[..., None])[..., 0]
        margin = BOX_MARGIN * (np.abs(centre) + half_size + np.abs(translation))
        outer = (
            np.stack([half_size - centre - translation, centre + half_size + translation], axis=1) + margin[:, None]
        )  # (S, 2, 3), outwards
    outer[~np.isfinite(outer)] = np.inf

    vertex_counts = sizes[meshes[placed_instances]]

    def extent_of(chosen: NDArray[np.intp]) -> Float:
        """(2, 3): (-low, high) of the box of the ``chosen`` visible instances; -inf without a finite vertex."""
        box = np.full((2, 3), -np.inf)
        for group in equal_groups(sizes[:, None], meshes[placed_instances[chosen]]):
            batch = placed_instances[chosen[group]]
            indices = meshes[batch].tolist()
            is_one_mesh = indices[0] == indices[-1]
            mesh_points = points[indices[0]] if is_one_mesh else np.stack([points[index] for index in indices])
            placed = transform_points(mesh_points, transforms[batch])
            placed = finite_rows(placed.reshape(-1, 3))
            if len(placed):
                box = np.maximum(box, _box(placed) * OUTWARD_SIGNS)
        return box

    extent = _total_extent(outer, vertex_counts, extent_of)
    return np.stack([-extent[0], extent[1]]) if np.isfinite(extent).all() else None


def used_points(meshes: Sequence[Mesh]) -> list[Float]:
    """The finite vertices (V, 3) of the triangles of each mesh."""
    result: list[Float] = []
    for batch in batches(np.array([len(mesh.positions) for mesh in meshes], np.int64), BATCH_VERTICES):
        points, triangles, starts, _ = join_meshes(meshes[batch])
        is_used = np.zeros(len(points), bool)
        is_used[triangles.ravel()] = True
        finite = np.isfinite(points)
        if not finite.all():  # row by row takes far longer
            is_used &= finite.all(axis=1)
        if not is_used.all():
            points, starts = points[is_used], offsets(is_used)[starts]
        float64_points = points.astype(np.float64)
        result += [float64_points[first:last] for first, last in pairwise(starts.tolist())]
    return result


def _boxes(points: list[Float]) -> Float:
    """(M, 2, 3): the box of each mesh's points (V, 3), V > 0."""
    sizes = np.array([len(vertices) for vertices in points], np.int64)
    boxes = np.empty((len(points), 2, 3))
    for batch in batches(sizes, BATCH_VERTICES):
        if batch.stop - batch.start == 1:
            boxes[batch.start] = _box(points[batch.start])
            continue
        starts = offsets(sizes[batch])[:-1]
        coordinates = np.ascontiguousarray(np.concatenate(points[batch]).T)
        boxes[batch, 0] = np.minimum.reduceat(coordinates, starts, axis=1).T
        boxes[batch, 1] = np.maximum.reduceat(coordinates, starts, axis=1).T
    return boxes


def _box(points: Float) -> Float:
    """(2, 3): lowest and highest corner of the box of points (V, 3)."""
    # Column by column: of all at once NumPy takes several times as long.
    return np.array([[column.min() for column in points.T], [column.max() for column in points.T]])


def finite_rows(rows: NDArray) -> NDArray:
    """The finite rows; the array itself, without a copy, if all are."""
    finite = np.isfinite(rows)
    return rows if finite.all() else rows[finite.all(axis=1)]


def _total_extent(outer: Float, vertex_counts: NDArray, extent_of: Callable[[NDArray[np.intp]], Float]) -> Float:
    """(2, 3): the largest ``extent_of`` S items of ``vertex_counts`` (S,); ``outer`` (S, 2, 3) bounds each item's.

    Equal instances in a row reach equally far: ever more are examined at once, up to `BATCH_VERTICES`.
    """
    extent, examined = np.full((2, 3), -np.inf), np.zeros(len(outer), bool)
    for side in range(2):
        for axis in range(3):
            column = outer[:, side, axis]
            order = np.argsort(-column, kind="stable")
            position, count = 0, 1
            while position < len(order) and column[order[position]] > extent[side, axis]:
                batch = order[position : position + count]
                batch = batch[: max(1, int(np.searchsorted(np.cumsum(vertex_counts[batch]), BATCH_VERTICES)))]
                position, count = position + len(batch), 2 * count
                batch = batch[(column[batch] > extent[side, axis]) & ~examined[batch]]
                examined[batch] = True
                if len(batch):
                    extent = np.maximum(extent, extent_of(batch))
    return extent


# Every ground is an instance of this mesh, its identification: a square of side 1 around the origin, facing up.
SQUARE = Mesh(
    np.array([[-0.5, 0, -0.5], [-0.5, 0, 0.5], [0.5, 0, 0.5], [0.5, 0, -0.5]]),
    np.array([[0, 1, 2], [0, 2, 3]]),
    normals=np.tile((0.0, 1.0, 0.0), (4, 1)),
    uvs=np.array([[0, 0], [0, 1], [1, 1], [1, 0]]),
    name="ground",
)
ALBEDO = 0.5
NONE = "none"  # in place of a size: no ground, and no floor either
SHADOW = "shadow"  # in place of a size: no plane, but a floor of the backdrop's (`raystream.lighting.backdrop`)
# The default size: in heights of the model, or in its larger width if that is more.
GROUND_HEIGHTS, GROUND_WIDTHS = 20.0, 5.0


def ground_transform(bounds: NDArray[np.float64], size: tuple[float, float] | str) -> NDArray[np.float64] | None:
    """(4, 4) of `SQUARE` under a box; None under a box without extent.

    bounds : (2, 3), scene units. size : along x and z, in heights of the box (or its largest edge if it is flat), or
    ``auto``.
    """
    edges = bounds[1] - bounds[0]
    height = edges[1] if edges[1] > 0 else edges.max()
    if not height > 0:
        return None
    if isinstance(size, str):
        width = depth = max(GROUND_HEIGHTS * height, GROUND_WIDTHS * max(edges[0], edges[2]))
    else:
        width, depth = size[0] * height, size[1] * height
    centre = (bounds[0] + bounds[1]) / 2
    transform = np.diag([width, 1.0, depth, 1.0])
    transform[:3, 3] = centre[0], bounds[0, 1], centre[2]
    return transform
