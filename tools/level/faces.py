"""Faces of a level, as they are added, and the lumps that they make."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.formats import bsp

Array = NDArray[np.float64]
TEXEL = 128.0  # units that a picture spans
# Corners of each side of a box, counter-clockwise from outside: of numbers 4 x + 2 y + z, 1 for the higher end.
SIDES = {"-x": (2, 0, 1, 3), "+x": (4, 6, 7, 5), "-y": (0, 4, 5, 1), "+y": (6, 2, 3, 7)}
SIDES |= {"-z": (2, 6, 4, 0), "+z": (1, 5, 7, 3)}


class Level:
    """Faces as they are added, and the lumps that they make."""

    def __init__(self) -> None:
        self.vertices: list[NDArray] = []
        self.corners: list[int] = []
        self.faces: list[dict] = []
        self.count = 0

    def add(self, kind: int, texture: int, points: Array, uv: Array, normals: Array, **more: object) -> None:
        """A face: points and normals (..., 3) and coordinates of the picture (..., 2)."""
        flat = np.zeros(points.size // 3, bsp.VERTEX)
        flat["position"], flat["normal"], flat["uv"] = points.reshape(-1, 3), normals.reshape(-1, 3), uv.reshape(-1, 2)
        flat["color"] = 255
        corners = more.pop("corners", [])
        self.faces.append(
            {"kind": kind, "texture": texture, "vertex": self.count, "points": points, "first": len(self.corners)}
            | {"corners": corners, "number": len(flat)}
            | more
        )
        self.corners += list(corners)  # type: ignore[call-overload]
        self.vertices.append(flat)
        self.count += len(flat)

    def quad(self, texture: int, corners: ArrayLike, scale: float = TEXEL) -> None:
        """A flat face of four corners, counter-clockwise seen from its front."""
        p = np.asarray(corners, np.float64)
        normal = np.cross(p[1] - p[0], p[3] - p[0])
        normal /= np.linalg.norm(normal)
        drop = int(np.argmax(np.abs(normal)))
        uv = np.delete(p, drop, axis=1) * [1, -1 if drop != 2 else 1] / scale
        self.add(bsp.POLYGON, texture, p, uv, np.tile(normal, (4, 1)), corners=[0, 2, 1, 0, 3, 2])

    def patch(self, texture: int, net: ArrayLike, around: float, along: float) -> None:
        """A curved face of control points (H, W, 3), with so many pictures around and along; its front is where
        columns cross rows."""
        p = np.asarray(net, np.float64)
        tall, wide = p.shape[:2]
        du = np.gradient(p, axis=1)
        dv = np.gradient(p, axis=0)
        normals = np.cross(dv, du)
        normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-9)
        v, u = np.meshgrid(np.linspace(0, along, tall), np.linspace(0, around, wide), indexing="ij")
        self.add(bsp.PATCH, texture, p, np.stack([u, v], -1), normals, net=(wide, tall))

    def box(self, texture: int, low: ArrayLike, high: ArrayLike, sides: str = "-x +x -y +y -z +z") -> None:
        """The named sides of a box, seen from outside."""
        corners = list(product(*zip(low, high, strict=True)))
        for side in sides.split():
            self.quad(texture, [corners[number] for number in SIDES[side]])
