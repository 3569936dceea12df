"""Boxes around a scene's instances, and the ground plane under one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from raystream.scene.geometry.batches import alike, batches, joined, offsets
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.geometry.vertices import transform_points
from raystream.scene.mesh import Instance, Mesh, meshes_of, transforms_of
from raystream.scene.quadric import Quadric, bounds_of_quadric

Float = NDArray[np.float64]

SIDES = np.array([[-1.0], [1.0]])  # signs that turn low and high outwards
VERTICES = 1 << 16  # examined at once
MARGIN = 1e-9  # of the coordinates: far above rounding errors of the boxes below, so that none is too small


def bounds_of_instances(meshes: Sequence[Mesh], instances: Sequence[Instance], drawn: set[int]) -> Float:
    """(2, 3): lowest and highest corner over the finite vertices of instances of meshes ``drawn``, by index, and over
    quadrics; zeros without any."""
    shapes = {k: mesh for k, mesh in enumerate(meshes) if isinstance(mesh, (Quadric, Quadrics))}
    drawn = drawn - shapes.keys()
    points = [np.zeros((0, 3))] * len(meshes)
    for index, vertices in zip(drawn, used_points([meshes[index] for index in drawn]), strict=True):
        points[index] = vertices
    indices, transforms = meshes_of(instances), transforms_of(instances)
    bounds = bounds_of(points, indices, transforms)
    boxes = [bounds] if bounds is not None else []
    for index, mesh in shapes.items():
        maps = transforms[indices == index]
        if isinstance(mesh, Quadric):
            boxes += [*bounds_of_quadric(mesh.shape, maps @ mesh.maps)]
        else:
            boxes += [_box_of_quadrics(mesh, transform) for transform in maps]
    boxes = [box for box in boxes if np.isfinite(box).all()]
    low, high = (np.array([box[side] for box in boxes]).reshape(-1, 3) for side in (0, 1))
    return np.stack([low.min(axis=0), high.max(axis=0)]) if boxes else np.zeros((2, 3))


def _box_of_quadrics(mesh: Quadrics, transform: Float) -> Float:
    """(2, 3): lowest and highest corner under a map (4, 4); not finite without any quadric."""
    if mesh.shape.whole_sphere:
        centers = transform_points(mesh.positions[mesh.triangles[:, 0]], transform[None])[0]
        if not len(centers):
            return np.full((2, 3), np.nan)
        reach = mesh.radius * np.linalg.norm(transform[:3, :3], axis=1)
        return _box(centers) + SIDES * reach
    boxes = bounds_of_quadric(mesh.shape, transform @ mesh.maps)
    return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)]) if len(boxes) else np.full((2, 3), np.nan)


def bounds_of(points: list[Float], meshes: NDArray[np.intp], transforms: Float) -> Float | None:
    """(2, 3): lowest and highest corner over the finite vertices of instances, None without any.

    points : of each mesh (V, 3), finite. meshes : (I,) the mesh index of each instance. transforms : (I, 4, 4).

    An instance is examined only if its mesh's transformed box reaches beyond the bounds so far, farthest first: only a
    few in a scene of any size.
    """
    sizes = np.array([len(vertices) for vertices in points], np.int64)
    full = sizes > 0
    visible = np.flatnonzero(full[meshes]) if len(meshes) else meshes
    if not len(visible):
        return None
    boxes = np.zeros((len(points), 2, 3))
    boxes[full] = _boxes([vertices for vertices in points if len(vertices)])
    box, linear, translation = boxes[meshes[visible]], transforms[visible, :3, :3], transforms[visible, :3, 3]
    with np.errstate(all="ignore"):
        center = (linear @ (box.sum(axis=1) / 2)[..., None])[..., 0]
        half = (np.abs(linear) @ ((box[:, 1] - box[:, 0]) / 2)[..., None])[..., 0]
        margin = MARGIN * (np.abs(center) + half + np.abs(translation))
        reach = (
            np.stack([half - center - translation, center + half + translation], axis=1) + margin[:, None]
        )  # (S, 2, 3), outwards
    reach[~np.isfinite(reach)] = np.inf

    counts = sizes[meshes[visible]]

    def extents(chosen: NDArray[np.intp]) -> Float:
        """(2, 3) of instances together, outwards: -low, high; -inf without a finite vertex."""
        box = np.full((2, 3), -np.inf)
        for group in alike(sizes[:, None], meshes[visible[chosen]]):
            part = visible[chosen[group]]
            indices = meshes[part].tolist()
            every = points[indices[0]] if indices[0] == indices[-1] else np.stack([points[index] for index in indices])
            moved = transform_points(every, transforms[part])
            moved = finite_rows(moved.reshape(-1, 3))
            if len(moved):
                box = np.maximum(box, _box(moved) * SIDES)
        return box

    extent = _farthest(reach, counts, extents)
    return np.stack([-extent[0], extent[1]]) if np.isfinite(extent).all() else None


def used_points(meshes: Sequence[Mesh]) -> list[Float]:
    """The finite vertices (V, 3) of the triangles of each mesh."""
    result: list[Float] = []
    for part in batches(np.array([len(mesh.positions) for mesh in meshes], np.int64), VERTICES):
        points, triangles, starts, _ = joined(meshes[part])
        used = np.zeros(len(points), bool)
        used[triangles.ravel()] = True
        finite = np.isfinite(points)
        if not finite.all():  # row by row takes far longer
            used &= finite.all(axis=1)
        if not used.all():
            points, starts = points[used], offsets(used)[starts]
        wide = points.astype(np.float64)
        result += [wide[first:last] for first, last in pairwise(starts.tolist())]
    return result


def _boxes(points: list[Float]) -> Float:
    """(M, 2, 3): the box of each mesh's points (V, 3), of which there are some."""
    sizes = np.array([len(vertices) for vertices in points], np.int64)
    boxes = np.empty((len(points), 2, 3))
    for part in batches(sizes, VERTICES):
        if part.stop - part.start == 1:
            boxes[part.start] = _box(points[part.start])
            continue
        starts = offsets(sizes[part])[:-1]
        columns = np.ascontiguousarray(np.concatenate(points[part]).T)
        boxes[part, 0] = np.minimum.reduceat(columns, starts, axis=1).T
        boxes[part, 1] = np.maximum.reduceat(columns, starts, axis=1).T
    return boxes


def _box(points: Float) -> Float:
    """(2, 3): lowest and highest of points (V, 3)."""
    # Column by column: of all at once NumPy takes several times as long.
    return np.array([[column.min() for column in points.T], [column.max() for column in points.T]])


def finite_rows(rows: NDArray) -> NDArray:
    """The finite rows; the array itself, without a copy, if all are."""
    finite = np.isfinite(rows)
    return rows if finite.all() else rows[finite.all(axis=1)]


def _farthest(reach: Float, counts: NDArray[np.intp], extents: Callable[[NDArray[np.intp]], Float]) -> Float:
    """The largest of ``extents`` (2, 3) over items of ``counts`` vertices, each bounded by its ``reach`` (S, 2, 3).

    Equal instances in a row reach equally far: ever more are examined at once, up to `VERTICES`.
    """
    extent, examined = np.full((2, 3), -np.inf), np.zeros(len(reach), bool)
    for side in range(2):
        for axis in range(3):
            column = reach[:, side, axis]
            order = np.argsort(-column, kind="stable")
            at, size = 0, 1
            while at < len(order) and column[order[at]] > extent[side, axis]:
                part = order[at : at + size]
                part = part[: max(1, int(np.searchsorted(np.cumsum(counts[part]), VERTICES)))]
                at, size = at + len(part), 2 * size
                part = part[(column[part] > extent[side, axis]) & ~examined[part]]
                examined[part] = True
                if len(part):
                    extent = np.maximum(extent, extents(part))
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
HEIGHTS, WIDTHS = 20.0, 5.0


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
        wide = deep = max(HEIGHTS * height, WIDTHS * max(edges[0], edges[2]))
    else:
        wide, deep = size[0] * height, size[1] * height
    middle = (bounds[0] + bounds[1]) / 2
    transform = np.diag([wide, 1.0, deep, 1.0])
    transform[:3, 3] = middle[0], bounds[0, 1], middle[2]
    return transform
