"""A vaulted hall with two rows of fluted columns, lit only from outside: by the sun through high windows on the right,
and by the sky through all openings. Most visible light is indirect, as indoors.

The proportions follow the Tuscan and Doric orders of G. B. da Vignola, *Regola delli cinque ordini d'architettura*
(1562): columns of twelve modules and more, an Attic base, 24 flutes. Units are metres; +Y is up, the hall lies along Z.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from raystream.scene.builtin.parts.shapes import Array, Builder, Part, boxes, quads, revolve, tube, unit
from raystream.scene.builtin.parts.teapot import teapot
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

SEED = 1562
BAYS, BAY = 10, 4.0
END = BAYS * BAY / 2  # of the hall, from its middle
AXIS = 5.0  # of the columns, from the middle
THICK = 0.9  # walls of the nave
AISLE, OUTER = 9.0, 0.8  # outer walls: their inner faces, their thickness
CAPITAL, ROOF, SPRING = 4.2, 6.2, 10.0  # heights: of the columns, of the aisles, where the vault begins
RADIUS = AXIS - THICK / 2  # of the vault
COFFERS, DEPTH = (9, 3), 0.16  # around the vault and along a bay; of each of two steps
FLUTES, FACETS, DRUMS = 24, 6, 10  # of a shaft: flutes, faces of each, and rings
ARC = 20  # faces of an arch
STONE, CLOTH, GLAZE, GOLD = range(4)

LIMESTONE, PLASTER, TRAVERTINE = (0.62, 0.55, 0.45), (0.72, 0.69, 0.62), (0.66, 0.61, 0.53)
DYES = ((0.55, 0.05, 0.04), (0.62, 0.36, 0.05), (0.05, 0.14, 0.42), (0.06, 0.30, 0.13))


def build() -> Scene:
    """The hall: 146,342 triangles seen, 38,858 stored."""
    meshes = [_building(), _column(), _urn(), *(_banner(index) for index in range(len(DYES))), _treasure()]
    instances = [Instance(0, name="building")]
    bays = [BAY * k - END for k in range(1, BAYS)]
    for side in (-1, 1):
        instances += [_placed(1, (side * AXIS, 0.0, z), f"column {side:+d} {z:+g}") for z in bays]
        middles = [z + BAY / 2 for z in bays[:-1:2]]
        instances += [_placed(2, (side * (AISLE - 0.7), 0.0, z), f"urn {side:+d} {z:+g}") for z in middles]
        instances += [
            _placed(3 + (index + (side > 0) * 2) % len(DYES), (side * 2.9, 0.0, z), f"banner {side:+d} {z:+g}")
            for index, z in enumerate(bays[1::2])
        ]
    instances.append(_placed(len(meshes) - 1, (0.0, 0.0, -13.0), "treasure"))
    return Scene(
        meshes,
        instances,
        [
            Material("stone"),
            Material("cloth", double_sided=True),
            Material("glaze", (0.10, 0.22, 0.30, 1.0), kind="phong", specular=0.08, exponent=120.0),
            Material("gold", (0.86, 0.60, 0.22, 1.0), kind="phong", specular=0.45, exponent=60.0),
        ],
        [
            Camera((1.6, 1.75, 17.5), (-0.5, 3.6, -4.0), fov=60, name="nave"),
            Camera((7.2, 1.7, 15.0), (5.6, 2.6, -6.0), fov=62, name="aisle"),
            Camera((-3.2, 1.7, 3.0), (6.0, 5.6, -8.5), fov=64, name="windows"),
            Camera((0.0, 2.2, -7.5), (0.0, 2.4, -14.0), fov=48, name="treasure"),
        ],
        name="hall",
    )


def _placed(mesh: int, at: tuple[float, float, float], name: str) -> Instance:
    transform = np.eye(4)
    transform[:3, 3] = at
    return Instance(mesh, transform, name=name)


def _building() -> Mesh:
    """Floor, walls, roofs of the aisles, and the vault."""
    builder = Builder()
    _floor(builder)
    middles = BAY * (np.arange(BAYS) + 0.5) - END
    for side in (-1, 1):
        inwards, tangent = np.array([-side, 0.0, 0.0]), np.array([0.0, 0.0, side])
        for z in middles:
            at = np.array([side * (AXIS - THICK / 2), 0.0, z])
            arch = pierced_wall(BAY, CAPITAL, 6.4, 1.45, CAPITAL, CAPITAL, THICK)
            window = pierced_wall(BAY, 6.4, SPRING, 0.9, 7.0, 8.5, THICK)
            for part in (arch, window):
                builder.add(_stood(part, tangent, inwards, at), PLASTER, STONE)
            at = np.array([side * AISLE, 0.0, z])
            builder.add(
                _stood(pierced_wall(BAY, 0.0, ROOF, 1.25, 0.9, 3.7, OUTER), tangent, inwards, at), LIMESTONE, STONE
            )
        near, far = side * (AXIS - 0.1), side * (AISLE + OUTER)
        low, high = min(near, far), max(near, far)
        builder.add(boxes((low, ROOF, -END), (high, ROOF + 0.3, END)), PLASTER, STONE)
        beams = np.array([[min(side * (AXIS + THICK / 2), side * AISLE), ROOF - 0.3, z - 0.2] for z in middles[1:] - 2])
        builder.add(boxes(beams, beams + [AISLE - AXIS - THICK / 2, 0.3, 0.4]), (0.20, 0.12, 0.07), STONE)
        for y, out in ((6.55, 0.14), (SPRING - 0.2, 0.22)):
            face = side * (AXIS - THICK / 2)
            span = sorted((face, face - side * out))
            builder.add(boxes((span[0], y, -END), (span[1], y + 0.2, END)), TRAVERTINE, STONE)
    for end in (-1, 1):
        _end(builder, end)
    _vault(builder)
    return builder.mesh("building")


def _end(builder: Builder, end: int) -> None:
    """A wall across the hall: a window in the far one, a door in the near one, and the area below the vault's end."""
    right, towards, at = np.array([-end, 0.0, 0.0]), np.array([0.0, 0.0, -end]), np.array([0.0, 0.0, end * END])
    wide = 2 * (AXIS + THICK / 2)
    opening = (2.0, 2.6, 6.4) if end < 0 else (1.5, 0.0, 3.6)
    builder.add(_stood(pierced_wall(wide, 0.0, SPRING, *opening, OUTER), right, towards, at), PLASTER, STONE)
    aisle = AISLE + OUTER - wide / 2
    for side in (-1, 1):
        middle = at + right * side * (wide + aisle) / 2
        part = pierced_wall(aisle, 0.0, ROOF + 0.3, 0.8, 1.2, 3.6, OUTER)
        builder.add(_stood(part, right, towards, middle), LIMESTONE, STONE)
    angle = np.linspace(0.0, np.pi, 2 * ARC + 1)
    rim = (RADIUS + 3 * DEPTH) * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    count = len(rim)
    corners = np.concatenate([[[0.0, 0.0, 0.0]], rim])
    fan = np.stack([np.zeros(count - 1, np.int64), np.arange(1, count), np.arange(2, count + 1)], axis=-1)
    normals = np.broadcast_to([0.0, 0.0, 1.0], corners.shape)
    builder.add(_stood(Part(corners, normals, fan), right, towards, at + [0, SPRING, 0]), PLASTER, STONE)


def _floor(builder: Builder) -> None:
    """Slabs of a metre in two marbles, no two alike."""
    rng = np.random.default_rng(SEED)
    x, z = np.meshgrid(np.arange(-AISLE, AISLE), np.arange(-END, END), indexing="ij")
    corner = np.stack([x, 0 * x, z], axis=-1).reshape(-1, 3)
    steps = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 0, 0]], np.float64)
    dark = ((x + z) % 2 == 0).ravel() & (np.abs(x + 0.5).ravel() < AXIS)
    tone = np.where(dark[:, None], [0.24, 0.17, 0.13], [0.60, 0.55, 0.47]) * rng.uniform(0.8, 1.15, (dark.size, 1))
    builder.add(quads(corner[:, None] + steps), np.repeat(np.clip(tone, 0, 1), 4, axis=0), STONE)
    for side in (-1, 1):  # the floor extends under the outer walls
        low, high = sorted((side * AISLE, side * (AISLE + OUTER)))
        sill = [(low, 0, -END), (low, 0, END), (high, 0, END), (high, 0, -END)]
        builder.add(quads([sill]), LIMESTONE, STONE)


def pierced_wall(wide: float, low: float, high: float, half: float, sill: float, spring: float, thick: float) -> Part:
    """A wall, u from -wide / 2 to wide / 2, v from ``low`` to ``high``, its front at n = 0; positions are (u, v, n).
    Its opening of width 2 ``half`` goes from ``sill`` to ``spring``, under a round arch."""
    angle = np.linspace(0.0, np.pi, ARC + 1)
    arc = np.stack([half * np.cos(angle), spring + half * np.sin(angle)], axis=-1)
    arc[0, 0], arc[-1, 0] = half, -half
    edge = wide / 2
    face = [
        [(-edge, low), (-half, low), (-half, high), (-edge, high)],
        [(half, low), (edge, low), (edge, high), (half, high)],
    ]
    if sill > low:
        face.append([(-half, low), (half, low), (half, sill), (-half, sill)])
    face += [[tuple(q), tuple(p), (p[0], high), (q[0], high)] for p, q in pairwise(arc)]
    path = [(half, sill), *map(tuple, arc)] if spring > sill else list(map(tuple, arc))
    path += [(-half, sill)] if spring > sill else []
    path += [(half, sill)] if sill > low else []
    front = np.array([[(*corner, 0.0) for corner in polygon] for polygon in face])
    back = front[:, ::-1] - [0.0, 0.0, thick]
    inside = [[(*p, 0.0), (*q, 0.0), (*q, -thick), (*p, -thick)] for p, q in pairwise(path)]
    return quads(np.concatenate([front, back, inside]))


def _stood(part: Part, right: Array, towards: Array, at: Array) -> Part:
    """A part of (u, v, n) placed: u to the right, v upwards, n towards the viewer."""
    matrix = np.stack([right, [0.0, 1.0, 0.0], towards])
    return Part(part.positions @ matrix + at, part.normals @ matrix, part.triangles)


def _vault(builder: Builder) -> None:
    """A barrel with coffers of two steps between its ribs."""
    around, lengthwise = COFFERS[0], COFFERS[1] * BAYS
    angles, lengths = np.linspace(0.0, np.pi, around + 1), np.linspace(-END, END, lengthwise + 1)
    # Positions of a coffer's steps as shares of it, and depths of the faces between them behind the ribs.
    insets = (0.0, 0.12, 0.26)
    faces, shades = [], []
    for a0, a1 in pairwise(angles):
        for z0, z1 in pairwise(lengths):
            rings = []
            for step, inset in enumerate(insets):
                for back in (max(0, step - 1), step) if step else (0,):
                    radius, a, z = RADIUS + DEPTH * back, inset * (a1 - a0), inset * (z1 - z0)
                    corners = [(a0 + a, z0 + z), (a1 - a, z0 + z), (a1 - a, z1 - z), (a0 + a, z1 - z)]
                    rings.append([(radius * math.cos(t), SPRING + radius * math.sin(t), at) for t, at in corners])
            for index, (outer, inner) in enumerate(pairwise(rings)):
                faces += [[outer[k], outer[k - 3], inner[k - 3], inner[k]] for k in range(4)]
                shades += [PLASTER if index % 2 == 0 else TRAVERTINE] * 4
            faces.append(rings[-1])
            shades.append((0.30, 0.36, 0.50))
    part = quads(faces)
    builder.add(part, np.repeat(np.array(shades), 4, axis=0), STONE)


def _column() -> Mesh:
    """A fluted shaft with entasis on an Attic base, and a Doric capital."""
    builder = Builder()
    builder.add(boxes((-0.55, 0.0, -0.55), (0.55, 0.16, 0.55)), TRAVERTINE, STONE)
    swell = np.linspace(-np.pi / 2, np.pi / 2, 7)
    lower = np.stack([0.46 + 0.08 * np.cos(swell), 0.25 + 0.09 * np.sin(swell)], axis=-1)
    upper = np.stack([0.41 + 0.05 * np.cos(swell), 0.44 + 0.05 * np.sin(swell)], axis=-1)
    builder.add(revolve([*lower, *upper, (0.41, 0.52)], 48), TRAVERTINE, STONE)
    angle = 2 * np.pi * np.arange(FLUTES * FACETS + 1) / (FLUTES * FACETS)
    groove = 1.0 - 0.075 * np.abs(np.sin(FLUTES / 2 * angle))
    around = groove[:, None] * np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=-1)
    heights = np.linspace(0.52, 3.66, DRUMS + 1)
    fraction = np.linspace(0.0, 1.0, DRUMS + 1)
    radii = 0.40 - 0.065 * fraction**1.8
    rings = radii[:, None, None] * around + heights[:, None, None] * np.array([0.0, 1.0, 0.0])
    shaft = np.stack([rings[:-1, :-1], rings[:-1, 1:], rings[1:, 1:], rings[1:, :-1]], axis=2)
    builder.add(quads(shaft.reshape(-1, 4, 3)), LIMESTONE, STONE)
    bell = np.linspace(0.0, np.pi / 2, 7)
    echinus = np.stack([0.36 + 0.17 * np.sin(bell), 3.98 - 0.14 * np.cos(bell)], axis=-1)
    neck = [(0.335, 3.66), (0.335, 3.76), (0.37, 3.76), (0.37, 3.80), (0.34, 3.80), (0.34, 3.84)]
    builder.add(revolve([*neck, *echinus, (0.53, 4.0)], 48), TRAVERTINE, STONE)
    builder.add(boxes((-0.55, 4.0, -0.55), (0.55, CAPITAL, 0.55)), TRAVERTINE, STONE)
    return builder.mesh("column")


def _urn() -> Mesh:
    """A glazed urn on a block of stone."""
    builder = Builder()
    builder.add(boxes((-0.36, 0.0, -0.36), (0.36, 0.7, 0.36)), TRAVERTINE, STONE)
    outline = [
        (0.0, 0.0),
        (0.20, 0.0),
        (0.20, 0.05),
        (0.08, 0.14),
        (0.13, 0.24),
        (0.30, 0.52),
        (0.31, 0.66),
        (0.20, 0.86),
    ]
    outline += [(0.16, 0.92), (0.23, 1.0), (0.20, 1.0), (0.13, 0.92), (0.17, 0.85), (0.0, 0.30)]
    builder.add(revolve(outline, 40).moved((0.0, 0.7, 0.0)), (1.0, 1.0, 1.0), GLAZE)
    return builder.mesh("urn")


def _banner(index: int) -> Mesh:
    """Cloth that hangs in folds from a rod below the vault, with a tail of two points."""
    builder = Builder()
    u, v = np.meshgrid(np.linspace(-1.0, 1.0, 29), np.linspace(0.0, 1.0, 33), indexing="ij")
    fold = 0.035 + 0.06 * v
    wave = fold * np.sin(7.5 * u + 1.1 * index + 0.6 * v) + 0.3 * fold * np.sin(13.0 * u - 2.0 * v + index)
    positions = np.stack([0.75 * u * (1 - 0.06 * v), 9.0 - (3.6 + 0.5 * np.abs(u)) * v, wave], axis=-1)
    du, dv = np.gradient(positions, axis=0), np.gradient(positions, axis=1)
    normals = unit(np.cross(dv, du))
    rows, columns = u.shape
    k = (columns * np.arange(rows - 1)[:, None] + np.arange(columns - 1)).ravel()
    triangles = np.concatenate(
        [np.stack([k, k + 1, k + columns + 1], -1), np.stack([k, k + columns + 1, k + columns], -1)]
    )
    hem = (np.abs(u) > 0.86) | (v > 0.95)
    color = np.where(hem[..., None], (0.70, 0.55, 0.20), DYES[index])
    builder.add(Part(positions.reshape(-1, 3), normals.reshape(-1, 3), triangles), color.reshape(-1, 3), CLOTH)
    builder.add(tube([(-1.75, 9.02, 0.0), (0.95, 9.02, 0.0)], [0.03, 0.03], 10), (0.20, 0.12, 0.07), STONE)
    return builder.mesh(f"banner {index}")


def _treasure() -> Mesh:
    """A teapot of gold on a round pedestal with steps."""
    builder = Builder()
    steps = [(0.0, 0.0), (1.6, 0.0), (1.6, 0.18), (1.25, 0.18), (1.25, 0.36), (0.0, 0.36)]
    builder.add(revolve(steps, 64), TRAVERTINE, STONE)
    pedestal = [(0.62, 0.36), (0.62, 0.5), (0.48, 0.6), (0.45, 1.45), (0.60, 1.55), (0.60, 1.65), (0.0, 1.65)]
    builder.add(revolve(pedestal, 64), LIMESTONE, STONE)
    pot = teapot(8)
    lowest = float(pot.positions[:, 1].min())
    builder.add(pot.moved((0.0, 1.65 - 0.28 * lowest, 0.0), 0.28), (1.0, 1.0, 1.0), GOLD)
    return builder.mesh("treasure")
