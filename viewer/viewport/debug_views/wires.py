"""Lines in space over the picture: the structure's boxes, the path of a probed ray; projected here, drawn by ImGui."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.accel.bvh_build import Bvh
from raystream.accel.grid.build import Grid
from raystream.accel.grid.grid import DeviceGrid
from raystream.accel.two_level.structure import TwoLevel
from raystream.scene.camera import Camera

NEAR = 1e-4  # of the distance to the target: nearer parts of a line are clipped
PIECES = 12  # of a line, where it may be a curve
MAX_BOXES = 255  # of a tree: eight levels
MAX_LINES = 200  # of a grid's face along one axis; more would hide the picture

# The twelve edges of a box with corners numbered by the bits (x, y, z).
_EDGES = np.array([(a, a | 1 << k) for a in range(8) for k in range(3) if not a >> k & 1])


def box_edges(low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    """(N, 12, 2, 3) float64: edges of N boxes given by their lowest and highest corners, (N, 3) each."""
    corners = np.stack([np.atleast_2d(low), np.atleast_2d(high)], axis=1).astype(np.float64)  # (N, 2, 3)
    bits = np.arange(8)[:, None] >> np.arange(3) & 1
    points = corners[:, bits, np.arange(3)]  # (N, 8, 3)
    return points[:, _EDGES]


def grid_lines(grid: Grid | DeviceGrid, camera: Camera) -> NDArray[np.float64]:
    """(N, 2, 3) float64: the grid's box, and its voxels' borders on the three faces turned away from the camera."""
    low = grid.low.astype(np.float64)
    resolution = np.asarray(grid.resolution)
    high = low + grid.voxel.astype(np.float64) * resolution
    lines = [box_edges(low, high).reshape(-1, 2, 3)]
    middle = (low + high) / 2
    for axis in range(3):
        away = high[axis] if camera.origin[axis] < middle[axis] else low[axis]
        for step_axis, line_axis in (((axis + 1) % 3, (axis + 2) % 3), ((axis + 2) % 3, (axis + 1) % 3)):
            step = max(1, -(-int(resolution[step_axis]) // MAX_LINES))
            positions = low[step_axis] + np.arange(step, resolution[step_axis], step) * float(grid.voxel[step_axis])
            face = np.empty((len(positions), 2, 3))
            face[:, :, axis], face[:, :, step_axis] = away, positions[:, None]
            face[:, 0, line_axis], face[:, 1, line_axis] = low[line_axis], high[line_axis]
            lines.append(face)
    return np.concatenate(lines)


def tree_lines(tree: Bvh) -> NDArray[np.float64]:
    """(N, 2, 3) float64: boxes of a hierarchy, level by level from the root, at most `MAX_BOXES` of them."""
    level = np.zeros(1, np.int64)
    levels: list[NDArray[np.int64]] = []
    count = 0
    while len(level) and count + len(level) <= MAX_BOXES:
        levels.append(level)
        count += len(level)
        inner = level[tree.second[level] >= 0]
        level = np.concatenate([inner + 1, tree.second[inner]])
    nodes = np.concatenate(levels)
    return box_edges(tree.low[nodes], tree.high[nodes]).reshape(-1, 2, 3)


def structure_lines(built: object, camera: Camera) -> NDArray[np.float64]:
    """(N, 2, 3) float64: the lines of a structure, for two levels the largest instances' boxes; none for unknown
    ones."""
    if isinstance(built, TwoLevel):
        full = np.flatnonzero((built.low <= built.high).all(axis=1))
        sizes = (built.high[full] - built.low[full]).max(axis=1)
        largest = full[np.argsort(-sizes, kind="stable")[:MAX_BOXES]]
        return box_edges(built.low[largest], built.high[largest]).reshape(-1, 2, 3)
    if isinstance(built, Grid | DeviceGrid):
        return grid_lines(built, camera)
    return tree_lines(built) if isinstance(built, Bvh) else np.zeros((0, 2, 3))


def project_points(
    camera: Camera, size: tuple[int, int], points: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(N, 2) float64 window coordinates of (N, 3) world-space points, and (N,) whether they are in front of the
    camera."""
    if camera.kind:
        positions = camera.with_picture_size(size).project(points, size)
        return np.nan_to_num(positions), np.asarray(np.isfinite(positions).all(axis=1))
    right, up, forward = camera.basis()
    relative = np.asarray(points, np.float64).reshape(-1, 3) - np.asarray(camera.origin)
    depth = relative @ forward
    before = depth > NEAR * max(float(np.linalg.norm(np.subtract(camera.target, camera.origin))), 1e-12)
    width, height = size
    scale = height / 2 / math.tan(math.radians(camera.fov) / 2) / np.where(before, depth, 1.0)
    return np.stack([width / 2 + relative @ right * scale, height / 2 - relative @ up * scale], axis=-1), before


def project(camera: Camera, size: tuple[int, int], lines: ArrayLike) -> NDArray[np.float64]:
    """(M, 2, 2) float64 window coordinates of (N, 2, 3) world-space lines, clipped to the front of the camera."""
    if camera.kind:
        return _bent(camera.with_picture_size(size), size, np.asarray(lines, np.float64).reshape(-1, 2, 3))
    right, up, forward = camera.basis()
    relative = np.asarray(lines, np.float64).reshape(-1, 2, 3) - np.asarray(camera.origin)
    view = np.stack([relative @ right, relative @ up, relative @ forward], axis=-1)
    near = NEAR * max(float(np.linalg.norm(np.subtract(camera.target, camera.origin))), 1e-12)
    view = view[(view[..., 2] > near).any(axis=1)]
    for end in (0, 1):
        hidden = view[:, end, 2] <= near
        behind, front = view[hidden, end], view[hidden, 1 - end]
        fraction = (near - behind[:, 2]) / (front[:, 2] - behind[:, 2])
        view[hidden, end] = behind + fraction[:, None] * (front - behind)
    width, height = size
    scale = height / 2 / math.tan(math.radians(camera.fov) / 2)
    flat = view[..., :2] / view[..., 2:] * scale
    return np.stack([width / 2 + flat[..., 0], height / 2 - flat[..., 1]], axis=-1)


def _bent(camera: Camera, size: tuple[int, int], lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same by another projection, of lines in `PIECES`, as straight ones may be curves: those that are seen, and
    do not jump from one side of the picture to the other."""
    share = np.linspace(0.0, 1.0, PIECES + 1)[:, None]
    points = lines[:, :1] + share * (lines[:, 1:] - lines[:, :1])  # (N, PIECES + 1, 3)
    positions = camera.project(points, size).reshape(len(lines), PIECES + 1, 2)
    pieces = np.stack([positions[:, :-1], positions[:, 1:]], axis=2).reshape(-1, 2, 2)
    pieces = pieces[np.isfinite(pieces).all(axis=(1, 2))]
    return pieces[np.abs(pieces[:, 0, 0] - pieces[:, 1, 0]) < size[0] / 2]
