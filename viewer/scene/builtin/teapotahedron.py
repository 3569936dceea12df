"""The teapotahedron: the Utah teapot among the five Platonic solids, over a checkered floor.

After the joke of *The Six Platonic Solids* (James Arvo and David Kirk, 1987) and the cover of *An Introduction to Ray
Tracing* (Andrew Glassner, editor, 1989). Units are about a hand's width; +Y is up.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from raystream.scene.builtin.parts.shapes import Array, Builder, Part, boxes, polygons, quads, revolve, unit
from raystream.scene.builtin.parts.teapot import teapot
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

# -- the five Platonic solids, inscribed in the unit sphere and standing on a face -------------------------------------

GOLDEN = (1 + 5**0.5) / 2
SOLIDS = ("tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron")

Faces = list[tuple[int, ...]]


def solid(name: str) -> Part:
    """One of `SOLIDS`, circumradius 1, centre at the origin, a face horizontal at the bottom, flat normals."""
    match name:
        case "tetrahedron":
            vertices, faces = _triangular([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
        case "octahedron":
            vertices, faces = _octahedron()
        case "icosahedron":
            vertices, faces = _icosahedron()
        case "cube":
            vertices, faces = _dual(*_octahedron())
        case "dodecahedron":
            vertices, faces = _dual(*_icosahedron())
        case _:
            raise ValueError(f"no Platonic solid {name}")
    return polygons(vertices @ _standing(vertices, faces[0]).T, faces)


def _octahedron() -> tuple[Array, Faces]:
    return _triangular(np.concatenate([np.eye(3), -np.eye(3)]))


def _icosahedron() -> tuple[Array, Faces]:
    rectangle = np.array([(0, a, b * GOLDEN) for a in (-1, 1) for b in (-1, 1)])
    return _triangular(np.concatenate([np.roll(rectangle, k, axis=1) for k in range(3)]))


def _triangular(points: ArrayLike) -> tuple[Array, Faces]:
    """A solid of equilateral triangles: every three corners that are mutual neighbours are a face."""
    vertices = unit(points)
    distance = np.linalg.norm(vertices[:, None] - vertices[None], axis=-1)
    edge = distance[distance > 1e-9].min() * (1 + 1e-9)
    faces: Faces = []
    for a, b, c in combinations(range(len(vertices)), 3):
        if max(distance[a, b], distance[b, c], distance[c, a]) <= edge:
            outward = np.linalg.det(vertices[[a, b, c]]) > 0
            faces.append((a, b, c) if outward else (a, c, b))
    return vertices, faces


def _dual(vertices: Array, faces: Faces) -> tuple[Array, Faces]:
    """The dual solid: its corners are the centres of the faces, its faces surround the corners."""
    middles = unit([vertices[list(face)].mean(axis=0) for face in faces])
    around = []
    for index, axis in enumerate(vertices):
        ring = [k for k, face in enumerate(faces) if index in face]
        u = unit(middles[ring[0]] - axis * (middles[ring[0]] @ axis))
        v = np.cross(axis, u)
        around.append(tuple(sorted(ring, key=lambda k: np.arctan2(middles[k] @ v, middles[k] @ u))))
    return middles, around


def _standing(vertices: Array, face: tuple[int, ...]) -> Array:
    """The rotation (3, 3) that turns a face's normal to -Y and one of its edges along X."""
    a, b, c = vertices[list(face[:3])]
    down = unit(np.cross(b - a, c - a))
    side = unit(b - a)
    return np.stack([side, -down, np.cross(side, -down)])


# -- the teapotahedron -------------------------------------------------------------------------------------------------

DIVISIONS = 16  # of a teapot patch
TILES = 24  # along a side of the floor
TILE = 1.5
LAMP, INTENSITY = (-6.0, 14.0, 9.0), (790.0, 750.0, 680.0)  # W/sr: a point light, so that one sample is free of noise

# Solid -> (linear base colour, position (x, z), rotation in degrees, circumradius, height of the plinth).
_PLACES = {
    "tetrahedron": ((0.72, 0.05, 0.03), (-4.9, 1.5), 14, 1.45, 0.55),
    "cube": ((0.95, 0.58, 0.20), (-3.9, -2.6), 32, 1.35, 1.1),
    "octahedron": ((0.03, 0.32, 0.10), (0.0, -4.9), 18, 1.45, 2.3),
    "dodecahedron": ((0.03, 0.13, 0.55), (3.9, -2.6), 8, 1.35, 1.1),
    "icosahedron": ((0.72, 0.42, 0.88), (4.9, 1.5), 25, 1.35, 0.55),
}

# Other than matte: copper, amethyst, and the teapot's glaze.
_SHINING: dict[str, dict[str, Any]] = {
    "cube": {"kind": "mirror"},
    "icosahedron": {"kind": "dielectric", "ior": 1.54},
    "porcelain": {"kind": "phong", "specular": 0.06, "exponent": 3000.0},
}


def build() -> Scene:
    """The teapot in the middle, the solids on plinths in a half circle behind it."""
    names = ["light tiles", "dark tiles", "marble", "porcelain", *SOLIDS]
    colors = [(0.86, 0.84, 0.78), (0.07, 0.08, 0.11), (0.62, 0.60, 0.57), (0.86, 0.78, 0.60)]
    colors += [_PLACES[name][0] for name in SOLIDS]
    roughness = [0.15, 0.15, 0.6, 0.1] + [0.3] * len(SOLIDS)
    indices = {name: k for k, name in enumerate(names)}
    meshes = [_floor(indices), teapot(DIVISIONS).turned(-28).mesh("teapot", indices["porcelain"])]
    for name in SOLIDS:
        _, (x, z), angle, radius, height = _PLACES[name]
        part = solid(name).turned(angle)
        bottom = -radius * float(part.positions[:, 1].min())
        meshes.append(_plinth(height).moved((x, 0, z)).mesh(f"plinth of the {name}", indices["marble"]))
        meshes.append(part.moved((x, height + bottom, z), radius).mesh(name, indices[name]))
    return Scene(
        meshes,
        [Instance(k, name=mesh.name) for k, mesh in enumerate(meshes)],
        [
            Material(name, (*color, 1.0), roughness=rough, double_sided=name == "porcelain", **_SHINING.get(name, {}))
            for name, color, rough in zip(names, colors, roughness, strict=True)
        ],
        [
            Camera((-2.0, 6.6, 13.6), (0.25, 1.45, -0.6), fov=49, name="cover"),
            Camera((0.0, 22.0, -1.2), (0.0, 0.0, -1.2), fov=40, name="top"),
            Camera((11.5, 4.2, 8.6), (-0.2, 1.5, -0.9), fov=48, name="side"),
            Camera((3.4, 3.9, 6.6), (0.1, 1.5, 0.0), fov=42, name="close"),
            Camera((-1.0, 0.5, 8.4), (0.0, 2.2, -1.0), fov=64, name="floor"),
        ],
        lights=[Light("point", "lamp", LAMP, intensity=INTENSITY)],
        name="teapotahedron",
    )


def _floor(indices: dict[str, int]) -> Mesh:
    """A slab of tiles with its top at y = 0."""
    half, thickness = TILES * TILE / 2, 0.4
    i, k = np.meshgrid(np.arange(TILES), np.arange(TILES), indexing="ij")
    x, z = i * TILE - half, k * TILE - half
    around = [(0, 0), (0, TILE), (TILE, TILE), (TILE, 0)]
    corners = np.stack([np.stack([x + dx, np.zeros_like(x), z + dz], -1) for dx, dz in around], axis=-2)
    dark = (i + k) % 2 == 1
    builder = Builder()
    builder.add(quads(corners[~dark]), material=indices["light tiles"])
    builder.add(quads(corners[dark]), material=indices["dark tiles"])
    sides = boxes((-half, -thickness, -half), (half, 0, half)).positions.reshape(6, 4, 3)
    builder.add(quads(sides[[0, 1, 2, 4, 5]]), material=indices["marble"])  # all but the top
    mesh = builder.mesh("floor")
    mesh.colors = None
    return mesh


def _plinth(height: float) -> Part:
    """A round column with a foot and a slab on top."""
    profile = [
        *((0.0, 0.0), (1.25, 0.0), (1.25, 0.14), (1.12, 0.22), (1.0, 0.26), (0.96, height - 0.26)),
        *((1.08, height - 0.2), (1.2, height - 0.14), (1.2, height), (0.0, height)),
    ]
    return revolve(profile, 64)
