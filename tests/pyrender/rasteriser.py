"""A rasteriser in NumPy and float64: triangles through OpenGL's matrices, with a depth buffer. It shares nothing with
rays. And meshes to draw."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from raystream.pyrender import Mesh, Primitive, Scene


def rasterise(scene: Scene, size: tuple[int, int], culled: bool = True) -> tuple[NDArray, NDArray]:
    """Depth (H, W), 0 for none, and the number of the mesh node (H, W), -1 for none. Triangles lie before the near
    plane and within the far one."""
    width, height = size
    node = scene.main_camera_node
    clip = node.camera.get_projection_matrix(width, height) @ np.linalg.inv(scene.get_pose(node))
    ahead = np.linalg.inv(scene.get_pose(node))
    depth, owner = np.full((height, width), np.inf), np.full((height, width), -1)
    for number, each in enumerate(scene.mesh_nodes):
        for primitive in each.mesh.primitives:
            for copy in [np.eye(4)] if primitive.poses is None else primitive.poses:
                world = scene.get_pose(each) @ copy
                points = np.column_stack([primitive.positions.astype(np.float64), np.ones(len(primitive.positions))])
                for corners in primitive.triangles():
                    triangle = points[corners] @ world.T
                    _draw(triangle @ clip.T, -(triangle @ ahead.T)[:, 2], number, depth, owner, culled)
    return np.where(np.isinf(depth), 0.0, depth), owner


def _draw(corners: NDArray, away: NDArray, number: int, depth: NDArray, owner: NDArray, culled: bool) -> None:
    """One triangle, of clip coordinates (3, 4) and depths (3,)."""
    height, width = depth.shape
    w = corners[:, 3]
    x, y = (corners[:, 0] / w + 1) / 2 * width, (1 - corners[:, 1] / w) / 2 * height
    area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
    if area == 0 or (culled and area > 0):  # y grows downwards
        return
    left, right = max(int(x.min()) - 1, 0), min(int(x.max()) + 2, width)
    top, bottom = max(int(y.min()) - 1, 0), min(int(y.max()) + 2, height)
    if left >= right or top >= bottom:
        return
    px, py = np.meshgrid(np.arange(left, right) + 0.5, np.arange(top, bottom) + 0.5)
    weights = []
    for a, b in ((1, 2), (2, 0), (0, 1)):
        weights.append(((x[b] - x[a]) * (py - y[a]) - (y[b] - y[a]) * (px - x[a])) / area)
    inside = np.all([weight >= 0 for weight in weights], axis=0)
    share = [weight / each for weight, each in zip(weights, w, strict=True)]
    z = sum(s * d for s, d in zip(share, away, strict=True)) / sum(share)
    part = slice(top, bottom), slice(left, right)
    nearer = inside & (z < depth[part])
    depth[part][nearer], owner[part][nearer] = z[nearer], number


def at_edges(owner: NDArray, depth: NDArray, jump: float) -> NDArray:
    """(H, W): pixels beside another mesh, or beside a depth that differs by more than ``jump``."""
    found = np.zeros(owner.shape, bool)
    for axis in (0, 1):
        other = np.diff(owner, axis=axis) != 0
        other |= np.abs(np.diff(depth, axis=axis)) > jump
        before, behind = [slice(None)] * 2, [slice(None)] * 2
        before[axis], behind[axis] = slice(0, -1), slice(1, None)
        found[tuple(before)] |= other
        found[tuple(behind)] |= other
    return found


def box(size: float = 1.0, **more: object) -> Mesh:
    """A cube about the origin, triangles counter-clockwise from outside."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size / 2
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [each for a, b, c, d in sides for each in ((a, b, c), (a, c, d))]
    return Mesh([Primitive(corners, indices=faces, **more)])


def ball(radius: float = 0.5, rows: int = 12, **more: object) -> Mesh:
    """A sphere about the origin by longitude and latitude."""
    polar, around = np.meshgrid(np.linspace(0, np.pi, rows + 1), np.linspace(0, 2 * np.pi, 2 * rows + 1), indexing="ij")
    normals = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1)
    wide = 2 * rows + 1
    faces = []
    for row in range(rows):
        for column in range(2 * rows):
            a = row * wide + column
            faces += [(a, a + wide, a + wide + 1), (a, a + wide + 1, a + 1)]
    normals = normals.reshape(-1, 3)
    return Mesh([Primitive(normals * radius, normals=normals, indices=faces, **more)])


def square(size: float = 1.0, **more: object) -> Mesh:
    """A square in the plane z = 0, seen from +z, with texture coordinates from its lower left corner."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * size / 2
    uvs = [[0, 0], [1, 0], [1, 1], [0, 1]]
    return Mesh([Primitive(corners, [[0, 0, 1]] * 4, texcoord_0=uvs, indices=[[0, 1, 2], [0, 2, 3]], **more)])


def at(x: float, y: float, z: float, turn: Iterable[float] = (0.0, 0.0, 0.0)) -> NDArray:
    """(4, 4): turned about x, y and z by radians, then moved."""
    pose = np.eye(4)
    for axis, angle in enumerate(turn):
        c, s = np.cos(angle), np.sin(angle)
        own = np.eye(3)
        a, b = (axis + 1) % 3, (axis + 2) % 3
        own[a, a], own[a, b], own[b, a], own[b, b] = c, -s, s, c
        pose[:3, :3] = own @ pose[:3, :3]
    pose[:3, 3] = x, y, z
    return pose
