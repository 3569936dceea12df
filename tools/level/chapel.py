"""The chapel: a vaulted hall with arches, aisles, columns and stairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from raystream.formats import bsp
from raystream.formats.bsp import STEPS, interpolate_axis

from .faces import Level
from .textures import FLOOR, LAMP, STONE, TRIM, VAULT, WOOD

# Place, strength, color of each.
LIGHTS = (
    *(((x, 0.0, 330.0), 330.0, (1.0, 0.80, 0.52)) for x in (-240.0, 0.0, 240.0)),
    *(((x, s * 368.0, 150.0), 110.0, (1.0, 0.62, 0.30)) for x in (-256.0, 0.0, 256.0) for s in (-1, 1)),
    ((352.0, 0.0, 260.0), 260.0, (0.50, 0.66, 1.0)),
)


def build() -> Level:
    """The chapel."""
    level = Level()
    level.quad(FLOOR, [(-384, -256, 0), (384, -256, 0), (384, 256, 0), (-384, 256, 0)])
    # The vault, seen from below.
    section = [(-256, 256), (-256, 512), (0, 512), (256, 512), (256, 256)]
    net = [[(x, y, z) for y, z in section] for x in (384.0, 0.0, -384.0)]
    level.patch(VAULT, net, 6.0, 6.0)
    ring = interpolate_axis(np.array(section, np.float64), -2, STEPS)
    for end in (-1.0, 1.0):
        x = end * 384.0
        for (ya, za), (yb, zb) in pairwise(ring):
            line = [(x, ya, 256.0), (x, yb, 256.0), (x, yb, zb), (x, ya, za)]
            if ya == -256:
                line = [(x, ya, 256.0), (x, yb, 256.0), (x, yb, zb), (x, (ya + yb) / 2, (256.0 + zb) / 2)]
            if yb == 256:
                line = [(x, ya, 256.0), (x, yb, 256.0), (x, (ya + yb) / 2, (256.0 + za) / 2), (x, ya, za)]
            level.quad(STONE, line if end < 0 else [line[k] for k in (1, 0, 3, 2)])
    wall = [(-384, -256, 0), (-384, 256, 0), (-384, 256, 256), (-384, -256, 256)]
    level.quad(STONE, wall)
    level.quad(STONE, [(384, -256, 0), (384, -256, 256), (384, 256, 256), (384, 256, 0)])
    for side in (-1.0, 1.0):
        _side(level, side)
    # Stairs up to a stage with an altar.
    for k in range(6):
        low, z = 192.0 + 16 * k, 10.0 * k
        level.box(TRIM, (low, -128, z), (low + 16, 128, z + 10), "-x -y +y +z")
        if k:
            level.box(TRIM, (low, -128, 0), (low + 16, 128, z), "-y +y")
    level.box(FLOOR, (288, -128, 0), (384, 128, 60), "-y +y +z")
    level.box(TRIM, (330, -40, 60), (366, 40, 96), "-x +x -y +y +z")
    for x, y in ((-200, -170), (-200, 170), (56, -170), (56, 170), (290, -200), (290, 200)):
        _column(level, x, y, 256.0)
    for x, _, _ in (at for at, _, _ in LIGHTS[:3]):
        level.box(LAMP, (x - 12, -12, 340), (x + 12, 12, 364), "-x +x -y +y -z +z")
        level.box(WOOD, (x - 2, -2, 364), (x + 2, 2, 510), "-x +x -y +y")
    for (x, y, z), _, _ in LIGHTS[3:9]:
        level.box(LAMP, (x - 8, y - 8 + 56 * np.sign(y), z), (x + 8, y + 8 + 56 * np.sign(y), z + 20))
    for x, y, size in ((-330, -200, 44), (-290, -214, 32), (-332, -152, 30), (130, 214, 40)):
        level.box(WOOD, (x - size / 2, y - size / 2, 0), (x + size / 2, y + size / 2, size), "-x +x -y +y +z")
    _urn(level, 348.0, 0.0, 96.0)
    return level


def _side(level: Level, side: float) -> None:
    """A wall of three arches, and the aisle behind it."""

    def add(texture: int, corners: list[tuple[float, float, float]]) -> None:
        placed = [(x, side * y, z) for x, y, z in corners]
        level.quad(texture, placed if side > 0 else placed[::-1])

    front, back, far, half, spring = 256.0, 288.0, 448.0, 84.0, 110.0
    points = [(-half, spring), (-half, spring + half), (0, spring + half), (half, spring + half), (half, spring)]
    arc = interpolate_axis(np.array(points, np.float64), -2, STEPS)
    for middle in (-256.0, 0.0, 256.0):
        low, high = middle - 128, middle + 128
        for y, turn in ((front, 1), (back, -1)):
            top = 256.0 if turn > 0 else 220.0
            parts = [[(low, y, 0), (middle - half, y, 0), (middle - half, y, spring), (low, y, spring)]]
            parts.append([(middle + half, y, 0), (high, y, 0), (high, y, spring), (middle + half, y, spring)])
            parts.append([(low, y, spring), (middle - half, y, spring), (middle - half, y, top), (low, y, top)])
            parts.append([(middle + half, y, spring), (high, y, spring), (high, y, top), (middle + half, y, top)])
            for (xa, za), (xb, zb) in pairwise(arc):
                parts.append([(middle + xa, y, za), (middle + xb, y, zb), (middle + xb, y, top), (middle + xa, y, top)])
            for part in parts:
                add(STONE, part if turn > 0 else part[::-1])
        add(
            TRIM,
            [
                (middle - half, front, 0),
                (middle - half, back, 0),
                (middle - half, back, spring),
                (middle - half, front, spring),
            ],
        )
        add(
            TRIM,
            [
                (middle + half, back, 0),
                (middle + half, front, 0),
                (middle + half, front, spring),
                (middle + half, back, spring),
            ],
        )
        section = [(-half, spring), (-half, spring + half), (0, spring + half), (half, spring + half), (half, spring)]
        rows = (front, (front + back) / 2, back) if side > 0 else (back, (front + back) / 2, front)
        level.patch(TRIM, [[(middle + x, side * y, z) for x, z in section] for y in rows], 4.0, 0.5)
        # Threshold between the floors, and a niche's bench.
        level.box(
            WOOD,
            (middle - 60, min(side * 420, side * far), 0),
            (middle + 60, max(side * 420, side * far), 22),
            "-x +x -y +y +z",
        )
    add(FLOOR, [(-384, front, 0), (384, front, 0), (384, far, 0), (-384, far, 0)])
    add(VAULT, [(-384, far, 220), (384, far, 220), (384, back, 220), (-384, back, 220)])
    add(STONE, [(-384, far, 0), (384, far, 0), (384, far, 220), (-384, far, 220)])
    add(STONE, [(-384, back, 0), (-384, far, 0), (-384, far, 220), (-384, back, 220)])
    add(STONE, [(384, far, 0), (384, back, 0), (384, back, 220), (384, far, 220)])


def _circle(x: float, y: float, radius: float) -> list[tuple[float, float]]:
    """Nine control points of four quarter arcs."""
    steps = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)]
    return [(x + radius * a, y + radius * b) for a, b in steps]


def _column(level: Level, x: float, y: float, top: float) -> None:
    for radii, heights, around in (
        ((30, 30, 24), (0, 12, 16), 2.0),
        ((24, 18, 20), (16, top / 2, top - 24), 1.5),
        ((20, 24, 34), (top - 24, top - 12, top), 2.0),
    ):
        net = [[(px, py, z) for px, py in _circle(x, y, r)] for r, z in zip(radii, heights, strict=True)]
        level.patch(TRIM, net[::-1], around, (heights[-1] - heights[0]) / 96.0)


def _urn(level: Level, x: float, y: float, z: float) -> None:
    """A mesh with colours of its vertices."""
    profile = np.array([(0, 0), (9, 0), (6, 4), (12, 14), (14, 24), (8, 34), (10, 38), (0, 38)], np.float64)
    angle = 2 * np.pi * np.arange(16) / 16
    around = np.stack([np.cos(angle), np.sin(angle)], -1)
    points = np.array([[(x + r * a, y + r * b, z + h) for a, b in around] for r, h in profile])
    normals = np.array([[(a, b, 0.2 if k > 3 else -0.2) for a, b in around] for k in range(len(profile))])
    corners = []
    for row in range(len(profile) - 1):
        for k in range(16):
            a, b = row * 16 + k, row * 16 + (k + 1) % 16
            corners += ([a, b, b + 16] if row else []) + ([a, b + 16, a + 16] if row < len(profile) - 2 else [])
            if row == 0:
                corners += [a, b + 16, a + 16]
    corners = [c for c in np.array(corners).reshape(-1, 3).tolist() if len(set(c)) == 3]
    flat = [c for tri in corners for c in tri]
    level.add(bsp.MESH, WOOD, points, np.zeros((*points.shape[:2], 2)), normals, corners=flat)
    tint = np.linspace(0, 1, len(profile))[:, None] * [60, 90, 40] + [150, 70, 30]
    level.vertices[-1]["color"][:, :3] = np.repeat(tint, 16, axis=0)
