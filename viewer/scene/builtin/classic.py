"""The sphere of classic ray tracing on OpenCL and CUDA: glass on a plane, both with vertex colours. Published are that,
and the total of 10,000 triangles; materials, cameras and environment are our own. +Y is up.

`raystream.scene.edits.classic_plane` is for the bunny and the dragon.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from raystream.scene.builtin.parts.shapes import Array, Part
from raystream.scene.camera import Camera
from raystream.scene.edits.classic_plane import GLASS, POLISHED, tiles
from raystream.scene.material import ClassicTexture, Material
from raystream.scene.scene import Instance, Scene

SEGMENTS, RINGS = 100, 42  # of the sphere: 8,200 triangles
CELLS, HALF = 30, 6.0  # of its plane: along a side, 1,800 triangles; half a side


def sphere() -> Scene:
    """A sphere of glass on a reflecting plane, both with vertex colours."""
    ball, plane = _ball(), _plane()
    colored = np.ones((len(ball.positions), 4), np.float32)
    colored[:, :3] = 0.5 + 0.5 * ball.normals
    painted = np.ones((len(plane.positions), 4), np.float32)
    planar = plane.positions[:, [0, 2]].astype(np.float64) / HALF
    painted[:, :3] = np.stack([0.55 + 0.35 * planar[:, 0], np.full(len(planar), 0.6), 0.55 - 0.35 * planar[:, 1]], -1)
    return Scene(
        [
            replace(ball.mesh("sphere", 0), colors=colored),
            replace(plane.mesh("plane", 1), colors=painted, uvs=(planar / 2 + 0.5).astype(np.float32)),
        ],
        [Instance(0, name="sphere"), Instance(1, name="plane")],
        [
            Material("glass", kind="classic", classic=replace(GLASS, transmittance=0.7)),
            Material("tiles", kind="classic", classic=replace(POLISHED, textures=(ClassicTexture(0),))),
        ],
        [
            Camera((1.5, 2.1, 4.0), (0.0, 0.7, 0.0), fov=42, name="front"),
            Camera((2.0, 4.0, 2.5), (0.0, 0.5, 0.0), fov=42, name="above"),
            Camera((-2.6, 0.35, 2.4), (0.0, 0.8, 0.0), fov=40, name="low"),
        ],
        name="sphere",
        textures=[tiles()],
    )


def _ball() -> Part:
    """A sphere of radius 1 on the plane, by longitudes and latitudes."""
    polar, around = np.pi * np.arange(RINGS + 1) / RINGS, 2 * np.pi * np.arange(SEGMENTS) / SEGMENTS
    ring: Array = np.stack([np.sin(around), np.zeros(SEGMENTS), np.cos(around)], axis=-1)
    inner = ring * np.sin(polar[1:-1, None, None]) + np.array([0.0, 1.0, 0.0]) * np.cos(polar[1:-1, None, None])
    points = np.concatenate([[[0.0, 1.0, 0.0]], inner.reshape(-1, 3), [[0.0, -1.0, 0.0]]])
    k = np.arange(SEGMENTS)
    following, last = np.roll(k, -1), len(points) - 1
    start = 1 + SEGMENTS * np.arange(RINGS - 2)[:, None]
    a, b = start + k, start + following
    sides = np.stack([np.stack([a, a + SEGMENTS, b + SEGMENTS], -1), np.stack([a, b + SEGMENTS, b], -1)], axis=2)
    top = np.stack([np.zeros_like(k), 1 + k, 1 + following], -1)
    bottom = np.stack([np.full_like(k, last), last - SEGMENTS + following, last - SEGMENTS + k], -1)
    triangles = np.concatenate([top, sides.reshape(-1, 3), bottom])
    return Part(points + np.array([0.0, 1.0, 0.0]), points, triangles)


def _plane() -> Part:
    """The plane in cells, slightly below the sphere."""
    line = np.linspace(-HALF, HALF, CELLS + 1)
    z, x = np.meshgrid(line, line, indexing="ij")
    points = np.stack([x, np.full_like(x, -1e-3), z], axis=-1).reshape(-1, 3)
    row, column = np.indices((CELLS, CELLS))
    a = (row * (CELLS + 1) + column).ravel()
    below = a + CELLS + 1
    triangles = np.concatenate([np.stack([a, below, below + 1], -1), np.stack([a, below + 1, a + 1], -1)])
    return Part(points, np.tile((0.0, 1.0, 0.0), (len(points), 1)), triangles)
