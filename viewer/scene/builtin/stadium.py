"""A teapot in a stadium: a small, finely tessellated object in a large coarse one, the worst case of uniform grids.

The name comes from Eric Haines, *Ray Tracing News* (1988). Units are metres; +Y is up.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from raystream.scene.builtin.parts.shapes import Array, Builder, Part, boxes, polygons, quads, revolve, tube
from raystream.scene.builtin.parts.teapot import teapot
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

DIVISIONS = 30  # of a teapot patch: 57,360 triangles in 2 m
LENGTH, WIDTH = 105.0, 68.0  # of the pitch
ROWS, SEGMENTS = 14, 64
TREAD, RISER = 0.95, 0.62

PAINT, LAMP, GLAZE = range(3)
CONCRETE = (0.42, 0.41, 0.39)
SEATS = ((0.05, 0.12, 0.42), (0.62, 0.60, 0.55), (0.50, 0.04, 0.04))


def build() -> Scene:
    """Pitch, stands, roof and lamps of a few thousand triangles; a teapot of 57,360 on the kick-off spot."""
    pot = teapot(DIVISIONS).turned(35).moved((0.0, 0.03, 0.0), 0.3).mesh("teapot", GLAZE)
    meshes = [_ground(), _stands(), _equipment(), pot]
    return Scene(
        meshes,
        [Instance(k, name=mesh.name) for k, mesh in enumerate(meshes)],
        [
            Material("paint"),
            Material("lamps", (1.0, 1.0, 1.0, 1.0), emission=(60.0, 58.0, 52.0)),
            Material("glaze", (0.80, 0.52, 0.16, 1.0), roughness=0.1, double_sided=True),
        ],
        [
            Camera((-58.0, 17.0, 39.0), (4.0, -1.5, -2.0), fov=58, name="stands"),
            Camera((4.4, 1.2, 2.9), (-3.6, 2.5, -5.4), fov=60, name="field"),
            Camera((1.5, 1.25, 2.4), (0.05, 0.48, 0.0), fov=40, name="teapot"),
            Camera((-95.0, 85.0, 120.0), (0.0, 0.0, 0.0), fov=45, name="above"),
        ],
        name="stadium",
    )


def _ring(grow: float, height: float) -> Array:
    """(SEGMENTS, 3) points around the pitch: a superellipse ``grow`` metres outside the smallest one, anticlockwise."""
    angle = 2 * np.pi * (np.arange(SEGMENTS) + 0.5) / SEGMENTS
    c, s = np.cos(angle), np.sin(angle)
    a, b, power = LENGTH / 2 + 14 + grow, WIDTH / 2 + 14 + grow, 4.0
    radius = (np.abs(c / a) ** power + np.abs(s / b) ** power) ** (-1 / power)
    return np.stack([radius * c, np.full(SEGMENTS, height), -radius * s], axis=-1)


def _band(lower: Array, upper: Array) -> Part:
    """Quadrilaterals between two rings, facing inwards when ``upper`` is above or outside ``lower``."""
    return quads(np.stack([np.roll(lower, -1, axis=0), lower, upper, np.roll(upper, -1, axis=0)], axis=1))


def _ground() -> Mesh:
    """Grass in two greens, the lines of the laws of the game, and the track around."""
    builder = Builder()
    edge = _ring(0, 0.0)
    builder.add(polygons(np.concatenate([[[0, -0.02, 0]], edge - [0, 0.02, 0]]), [
        (0, k + 1, (k + 1) % SEGMENTS + 1) for k in range(SEGMENTS)
    ]), (0.30, 0.10, 0.06))  # fmt: skip
    stripes = np.linspace(-LENGTH / 2 - 4, LENGTH / 2 + 4, 19)
    for k, (left, right) in enumerate(pairwise(stripes)):
        builder.add(
            _flat(left, right, -WIDTH / 2 - 4, WIDTH / 2 + 4, 0.0), ((0.05, 0.21, 0.03), (0.08, 0.29, 0.05))[k % 2]
        )
    for part in _lines():
        builder.add(part, (0.85, 0.85, 0.82))
    return builder.mesh("ground")


def _flat(x0: float, x1: float, z0: float, z1: float, y: float) -> Part:
    return quads([[(x0, y, z0), (x0, y, z1), (x1, y, z1), (x1, y, z0)]])


def _lines() -> list[Part]:
    """The white lines, 12 cm wide, a finger above the grass."""
    x, z, w, y = LENGTH / 2, WIDTH / 2, 0.06, 0.02
    parts = [_flat(-x - w, x + w, side * z - w, side * z + w, y) for side in (-1, 1)]
    parts += [_flat(c - w, c + w, -z, z, y) for c in (-x, 0.0, x)]
    for side in (-1, 1):
        for depth, half in ((16.5, 20.16), (5.5, 9.16)):
            near, far = sorted((side * x, side * (x - depth)))
            parts += [_flat(near, far, end * half - w, end * half + w, y) for end in (-1, 1)]
            parts.append(_flat(side * (x - depth) - w, side * (x - depth) + w, -half, half, y))
    parts.append(_circle(9.15, w, y))
    return parts


def _circle(radius: float, w: float, y: float) -> Part:
    angle = 2 * np.pi * np.arange(49) / 48
    around = np.stack([np.sin(angle), np.zeros(49), np.cos(angle)], axis=-1)
    inner, outer = around * (radius - w) + [0, y, 0], around * (radius + w) + [0, y, 0]
    return quads(np.stack([inner[:-1], outer[:-1], outer[1:], inner[1:]], axis=1))


def _stands() -> Mesh:
    """Rows of steps around the pitch, with seats coloured by block, the outer wall and the roof."""
    builder = Builder()
    block = (np.arange(SEGMENTS) // 4) % 2
    seats = np.asarray(SEATS)
    wall = _ring(0, 1.1)
    builder.add(_band(_ring(0, -0.02), wall), CONCRETE)
    for row in range(ROWS):
        height = 1.1 + row * RISER
        start, end = row * TREAD, (row + 1) * TREAD
        # Three quarters of a tread for feet, and the seats' backs as the riser behind it.
        colors = np.where(block[:, None] == 0, seats[0], seats[1])
        if row in (6, 7):
            colors = np.broadcast_to(seats[2], colors.shape)
        tread = _band(_ring(start, height), _ring(end, height))
        riser = _band(_ring(end, height), _ring(end, height + RISER))
        builder.add(tread, CONCRETE if row % 7 == 6 else np.repeat(colors * 0.55, 4, axis=0))
        builder.add(riser, np.repeat(colors, 4, axis=0))
    top, back = 1.1 + ROWS * RISER, ROWS * TREAD
    builder.add(_band(_ring(back, top), _ring(back + 2.5, top)), CONCRETE)
    rear, eaves = back + 2.5, top + 8.0
    builder.add(_band(_ring(rear, top), _ring(rear, eaves)), (0.55, 0.55, 0.53))
    # Outside, from the ground to the eaves: the same quadrilaterals reversed.
    builder.add(_band(_ring(rear + 0.3, eaves), _ring(rear + 0.3, -0.02)), (0.50, 0.46, 0.40))
    front, rim = back - 9.0, eaves + 1.6
    builder.add(_band(_ring(rear + 0.3, eaves), _ring(front, rim)), (0.32, 0.33, 0.36))
    builder.add(_band(_ring(front, rim + 0.5), _ring(rear + 0.3, eaves + 0.5)), (0.75, 0.76, 0.78))
    builder.add(_band(_ring(front, rim), _ring(front, rim + 0.5)), (0.85, 0.85, 0.86))
    builder.add(_band(_ring(rear + 0.3, eaves + 0.5), _ring(rear + 0.3, eaves)), (0.75, 0.76, 0.78))
    return builder.mesh("stands")


def _equipment() -> Mesh:
    """Goals, corner flags, columns of the roof, and four masts with lamps."""
    builder = Builder()
    white = (0.85, 0.85, 0.85)
    for side in (-1, 1):
        x = side * LENGTH / 2
        for end in (-1, 1):
            builder.add(tube([(x, 0, end * 3.66), (x, 2.44, end * 3.66)], [0.06, 0.06], 8), white)
            builder.add(tube([(x, 0, end * WIDTH / 2), (x, 1.5, end * WIDTH / 2)], [0.03, 0.03], 6), (0.8, 0.6, 0.05))
        builder.add(tube([(x, 2.44, -3.66), (x, 2.44, 3.66)], [0.06, 0.06], 8), white)
    feet, heads = _ring(ROWS * TREAD - 5.0, 1.1 + (ROWS - 6) * RISER), _ring(ROWS * TREAD - 5.0, 19.2)
    for foot, head in zip(feet[::4], heads[::4], strict=True):
        builder.add(tube([foot, head], [0.14, 0.14], 8), (0.75, 0.76, 0.78))
    for sx in (-1, 1):
        for sz in (-1, 1):
            _mast(builder, np.array([sx * 78.0, 0.0, sz * 60.0]))
    return builder.mesh("equipment")


def _mast(builder: Builder, foot: Array) -> None:
    """A round mast 42 m high whose board of lamps leans towards the middle of the pitch."""
    profile = [(0.0, 0.0), (1.1, 0.0), (0.9, 4.0), (0.45, 42.0), (0.0, 42.0)]
    builder.add(revolve(profile, 10).moved(foot), (0.45, 0.46, 0.48))
    middle = foot + [0, 44.0, 0]
    forward = -middle / np.linalg.norm(middle)
    right = np.cross(forward, [0, 1, 0])
    right /= np.linalg.norm(right)
    matrix = np.stack([right, np.cross(right, forward), -forward], axis=-1)

    def place(part: Part) -> Part:
        return Part(part.positions @ matrix.T + middle, part.normals @ matrix.T, part.triangles)

    builder.add(place(boxes((-5.2, -3.2, -0.2), (5.2, 3.2, 0.3))), (0.16, 0.17, 0.19))
    columns, rows = np.meshgrid(np.linspace(-4.2, 4.2, 6), np.linspace(-2.3, 2.3, 4))
    centre = np.stack([columns.ravel(), rows.ravel(), np.full(24, -0.35)], axis=-1)
    builder.add(place(boxes(centre - [0.6, 0.5, 0.15], centre + [0.6, 0.5, 0.15])), material=LAMP)
