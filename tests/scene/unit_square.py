"""A mesh of two triangles, and where it stands, for tests of scenes."""

from __future__ import annotations

from typing import Any

import numpy as np

from raystream.scene.mesh import Mesh

POINTS = np.float32([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])

TWO = np.array([[0, 1, 2], [0, 2, 3]])


def square(**more: Any) -> Mesh:
    return Mesh(POINTS, TWO, **more)


def at(x: float, y: float, z: float, size: float = 1.0) -> np.ndarray:
    matrix = np.diag([size, size, size, 1.0])
    matrix[:3, 3] = x, y, z
    return matrix
