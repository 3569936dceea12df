"""Cube maps: six faces in the order and orientation of OpenGL (specification 3.3, table 3.18), as one environment
picture.

OpenGL's faces form a left-handed world: the +X face is on the right of the +Z face. World space is right-handed here
and would mirror the faces. They are sampled at (-x, y, z), as in three.js: pictures keep their orientation, +Z and +Y
their place, and the +X face appears towards -X.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.scene.environment import MOST_TEXELS

# Accepted names of the faces, in OpenGL's order.
FACES = (
    ("px", "posx", "right"),
    ("nx", "negx", "left"),
    ("py", "posy", "top", "up"),
    ("ny", "negy", "bottom", "down"),
    ("pz", "posz", "front"),
    ("nz", "negz", "back"),
)

# Columns and rows of the faces in each layout; in the vertical cross the last one is upside down.
_LAYOUTS: dict[str, tuple[int, int, tuple[tuple[int, int], ...]]] = {
    "horizontal cross": (4, 3, ((2, 1), (0, 1), (1, 0), (1, 2), (1, 1), (3, 1))),
    "vertical cross": (3, 4, ((2, 1), (0, 1), (1, 0), (1, 2), (1, 1), (1, 3))),
    "row": (6, 1, tuple((k, 0) for k in range(6))),
    "column": (1, 6, tuple((0, k) for k in range(6))),
}


def layout_of(width: int, height: int) -> str:
    """The layout of six faces by a picture's size: crosses (4 : 3 and 3 : 4) with +Z in the middle, or a row or column
    in OpenGL's order; "" for any other."""
    for name, (columns, rows, _) in _LAYOUTS.items():
        if width * rows == height * columns and width % columns == 0:
            return name
    return ""


def from_layout(pixels: NDArray[np.float32], layout: str) -> NDArray[np.float32]:
    """(6, N, N, 3) from a picture with a `layout_of`."""
    columns, _, places = _LAYOUTS[layout]
    side = pixels.shape[1] // columns
    faces = np.stack([pixels[y * side : (y + 1) * side, x * side : (x + 1) * side] for x, y in places])
    if layout == "vertical cross":
        faces[5] = faces[5, ::-1, ::-1]
    return faces


def cube_radiance(faces: NDArray[np.float32], directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 3) radiance from directions (N, 3) of any length: bilinear within a face, clamped at its edges."""
    x, y, z = -directions[:, 0], directions[:, 1], directions[:, 2]
    ax, ay, az = np.abs(directions).T
    major = np.where((ax >= ay) & (ax >= az), 0, np.where(ay >= az, 1, 2))
    major_coordinate = np.choose(major, [x, y, z])
    face = 2 * major + (major_coordinate < 0)
    s = np.choose(face, [-z, z, x, x, x, -x]) / np.abs(major_coordinate)
    t = np.choose(face, [-y, -y, z, -z, -y, -y]) / np.abs(major_coordinate)
    side = faces.shape[1]
    column = np.clip((s + 1) / 2 * side - 0.5, 0, side - 1)
    row = np.clip((t + 1) / 2 * side - 0.5, 0, side - 1)
    c, r = np.floor(column).astype(np.int64), np.floor(row).astype(np.int64)
    fc, fr = (column - c)[:, None], (row - r)[:, None]
    c1, r1 = np.minimum(c + 1, side - 1), np.minimum(r + 1, side - 1)
    top = faces[face, r, c] * (1 - fc) + faces[face, r, c1] * fc
    return top * (1 - fr) + (faces[face, r1, c] * (1 - fc) + faces[face, r1, c1] * fc) * fr


def equirectangular(faces: NDArray[np.float32], most: int = MOST_TEXELS) -> NDArray[np.float32]:
    """(2 N, 4 N, 3) from six faces (6, N, N, 3), in the orientation of `ImageEnvironment`; reduced to ``most`` pixels.
    Each is the mean of 2 x 2 directions, or of one per face pixel in it."""
    side = faces.shape[1]
    height = min(2 * side, int((most / 2) ** 0.5))
    width, spread = 2 * height, max(2, -(-4 * side // height))
    out = np.zeros((height, width, 3), np.float32)
    around = ((np.arange(width * spread) + 0.5) / (width * spread) - 0.5) * 2 * np.pi
    rows = max(1, (1 << 18) // (width * spread * spread))  # bounds temporary memory to tens of megabytes
    for first in range(0, height, rows):
        last = min(first + rows, height)
        polar = (np.arange(first * spread, last * spread) + 0.5) / (height * spread) * np.pi
        ring, level = np.sin(polar)[:, None], np.broadcast_to(np.cos(polar)[:, None], (len(polar), len(around)))
        directions = np.stack([ring * np.cos(around), level, ring * np.sin(around)], axis=-1)
        radiance = cube_radiance(faces, directions.reshape(-1, 3))
        out[first:last] = radiance.reshape(last - first, spread, width, spread, 3).mean(axis=(1, 3))
    return out
