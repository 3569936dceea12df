"""A wooden chair, a pocket computer and a knife, with the triangles, instances and lights of scenes with published
frame rates: A. Adinetz and B. Berezin, *Implementing Classical Ray Tracing on GPU: a Case Study of GPU Programming*
(2006).

Their models were not published; these are our own. +Y is up.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from raystream.scene.builtin.parts.offices import collected
from raystream.scene.builtin.parts.shapes import (
    Array,
    Part,
    Piece,
    boards,
    box,
    cap,
    curve,
    cushion,
    joined,
    lathe,
    quads,
    ring,
    surface,
    sweep,
    transformed,
)
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene

CHAIR, PALM_PC, KNIFE = 33_404, 13_532, 1_676  # triangles
OAK = np.array([0.36, 0.17, 0.06])


def _leaning(position: tuple[float, float, float], lean: tuple[float, float] = (0.0, 0.0)) -> Array:
    """A transform to a position. lean : the top moves by (dx, dz) for each unit of height."""
    matrix = np.eye(4)
    matrix[:3, 3] = position
    matrix[0, 1], matrix[2, 1] = lean
    return matrix


def grain(part: Part, scale: float, axis: int = 1) -> Array:
    """Colours of wood: rings around an axis a little beside the part."""
    axes = [k for k in range(3) if k != axis]
    p = part.positions * scale
    radius = np.hypot(p[:, axes[0]] + 0.7 + 0.05 * np.sin(3 * p[:, axis]), p[:, axes[1]] + 0.4)
    wave = 0.5 + 0.5 * np.sin(46.0 * radius + 2.0 * np.sin(1.3 * p[:, axis]))
    return np.asarray(OAK * (0.72 + 0.5 * wave[:, None]))


def _floor(total: int, meshes: list[tuple[Mesh, int]], edges: tuple[float, float], rows: int, color: Array) -> Mesh:
    """Boards to reach the total triangle count; ``meshes`` with their numbers of instances."""
    missing = total - sum(len(mesh.triangles) * count for mesh, count in meshes)
    part, shade = boards(missing // 2, edges, rows, np.random.default_rng(2006))
    return collected("floor", [Piece(part, np.clip(color * shade, 0, 1), 0)])


def chair() -> Scene:
    """A chair of turned wood in eleven pieces on a floor of boards, and a distant light: 33,404 triangles."""
    leg = lathe(curve(_turned(0.0, 0.45, 0.030), 65), 28)
    spindle = lathe(curve(_turned(0.0, 0.42, 0.016), 61), 22)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 90, endpoint=False), np.linspace(-0.5, 0.5, 27) * np.pi, indexing="ij")
    soft, level = 0.55, np.cos(v) ** 0.3
    level[:, [0, -1]] = 0.0

    def signed(values: Array) -> Array:
        return np.asarray(np.sign(values) * np.abs(values) ** soft)

    x, z = 0.235 * signed(np.sin(u)) * level, 0.225 * signed(np.cos(u)) * level
    hollow = 0.022 * np.exp(-((x / 0.13) ** 2 + ((z - 0.03) / 0.12) ** 2))
    y = 0.022 * np.sign(np.sin(v)) * np.abs(np.sin(v)) ** 0.5 - np.where(v > 0, hollow, 0.0)
    seat = surface(np.stack([x * (1 + 0.25 * z), y, z], axis=-1), closed=(True, False))
    arc = np.linspace(-1.0, 1.0, 61)
    path = np.stack([0.22 * arc, 0.015 * (1 - arc**2), 0.05 * arc**2], axis=-1)
    height = 0.058 * np.sqrt(np.maximum(1 - (0.97 * arc) ** 6, 0.03))
    rail = sweep(path, ring(26, 0.7), np.stack([0.012 * np.ones(61), height], axis=-1))
    ends = [cap(rail, 26, first) for first in (True, False)]
    rail = joined([rail, *ends])
    parts = {"leg": (leg, 8.0, 1), "spindle": (spindle, 9.0, 1), "seat": (seat, 6.0, 2), "rail": (rail, 8.0, 0)}
    meshes = [
        collected(name, [Piece(part, grain(part, scale, axis), 1)]) for name, (part, scale, axis) in parts.items()
    ]
    counted = list(zip(meshes, (4, 4, 1, 1), strict=True))
    floor = _floor(CHAIR, counted, (4.2, 4.2), 18, np.array([0.50, 0.36, 0.22]))
    instances = [Instance(4, name="floor"), Instance(2, _leaning((0.0, 0.46, 0.0)), name="seat")]
    for k, (sx, sz) in enumerate(((-1, -1), (1, -1), (-1, 1), (1, 1))):
        lean = (-0.12 * sx, -0.12 * sz)
        instances.append(Instance(0, _leaning((sx * 0.225, 0.0, sz * 0.21), lean), name=f"leg {k}"))
    for k, offset in enumerate((-0.15, -0.05, 0.05, 0.15)):
        at = (offset, 0.475, -0.185 + 0.3 * offset**2)
        instances.append(Instance(1, _leaning(at, (0.18 * offset, -0.2)), name=f"spindle {k}"))
    instances.append(Instance(3, _leaning((0.0, 0.92, -0.285)), name="rail"))
    return Scene(
        [*meshes, floor],
        instances,
        [Material("boards"), Material("wood", kind="phong", specular=0.06, exponent=40.0)],
        [
            Camera((1.05, 1.15, 1.75), (-0.02, 0.42, 0.02), fov=36, name="front"),
            Camera((-1.3, 1.5, 1.2), (0.0, 0.35, 0.1), fov=38, name="left"),
            Camera((0.5, 0.75, 0.9), (0.0, 0.5, -0.05), fov=44, name="close"),
        ],
        lights=[Light("directional", "distant light", direction=(0.6, -0.8, -0.32), intensity=(3.2, 3.0, 2.7))],
        name="chair",
        fills=True,
    )


def _turned(low: float, high: float, radius: float) -> list[tuple[float, float]]:
    """The profile of a turned piece of wood, closed at both ends."""
    wide = [0.0, 0.55, 0.62, 0.75, 0.95, 1.0, 0.72, 0.98, 0.72, 0.85, 1.12, 1.2, 1.05, 0.8, 1.0, 0.8, 0.9, 0.88, 0.0]
    at = [0, 0, 0.03, 0.12, 0.25, 0.3, 0.33, 0.36, 0.39, 0.45, 0.55, 0.62, 0.72, 0.78, 0.8, 0.82, 0.9, 1.0, 1.0]
    return [(radius * r, low + (high - low) * t) for r, t in zip(wide, at, strict=True)]


def palm_pc() -> Scene:
    """A pocket computer on a desk, its screen a mirror, with its pen: 13,532 triangles, seven instances."""
    case = transformed(cushion((1.56, 0.24, 2.4), 96, 30, 0.28), np.eye(4))
    frame = [box((-0.66, 0.118, -0.98), (-0.60, 0.135, 0.60)), box((0.60, 0.118, -0.98), (0.66, 0.135, 0.60))]
    frame += [box((-0.66, 0.118, -1.04), (0.66, 0.135, -0.98)), box((-0.66, 0.118, 0.60), (0.66, 0.135, 0.66))]
    net = np.linspace(0, 1, 9)
    gx, gz = np.meshgrid(net, net, indexing="ij")
    flat = np.stack([-0.60 + 1.2 * gx, 0 * gx + 0.122, -0.98 + 1.58 * gz], axis=-1)
    glass = surface(flat.transpose(1, 0, 2))
    barrel = curve(
        [
            (0.0, 0.0),
            (0.012, 0.02),
            (0.03, 0.12),
            (0.045, 0.3),
            (0.045, 1.1),
            (0.045, 1.6),
            (0.05, 1.9),
            (0.04, 2.0),
            (0.0, 2.02),
        ],
        61,
    )
    pen = transformed(lathe(barrel, 32), _turn_to_lie())
    knob = lathe(curve([(0.0, -0.06), (0.11, -0.06), (0.115, 0.0), (0.10, 0.03), (0.06, 0.042), (0.0, 0.045)], 17), 32)
    shown = [Piece(glass, _page(glass), 3)]
    meshes = [
        collected("case", [Piece(case, (0.10, 0.11, 0.13), 1), Piece(joined(frame), (0.03, 0.03, 0.035), 1)]),
        collected("screen", shown),
        collected("pen", [Piece(pen, (0.55, 0.56, 0.58), 2)]),
        collected("button", [Piece(knob, (0.30, 0.33, 0.40), 2)]),
    ]
    desk = _floor(PALM_PC, list(zip(meshes, (1, 1, 1, 3), strict=True)), (9.0, 9.0), 12, np.array([0.34, 0.20, 0.10]))
    lift = 0.12
    instances = [Instance(4, name="desk"), Instance(0, _leaning((0.0, lift, 0.0)), name="case")]
    instances += [
        Instance(1, _leaning((0.0, lift, 0.0)), name="screen"),
        Instance(2, _leaning((1.25, 0.05, -0.2)), name="pen"),
    ]
    instances += [Instance(3, _leaning((0.42 * k, lift + 0.115, 0.88)), name=f"button {k}") for k in (-1, 0, 1)]
    return Scene(
        [*meshes, desk],
        instances,
        [
            Material("desk", kind="phong", specular=0.05, exponent=80.0, reflectivity=0.06),
            Material("plastic", kind="phong", specular=0.12, exponent=60.0),
            Material("metal", kind="phong", specular=0.3, exponent=120.0, reflectivity=0.35),
            Material("screen", kind="phong", specular=0.1, exponent=300.0, reflectivity=0.25),
        ],
        [
            Camera((1.9, 3.1, 3.3), (0.15, 0.0, 0.05), fov=40, name="front"),
            Camera((-1.8, 1.2, 2.6), (0.1, 0.05, 0.2), fov=42, name="low"),
            Camera((0.0, 5.4, 0.6), (0.1, 0.0, 0.0), fov=36, name="top"),
        ],
        lights=[Light("point", "lamp", (-2.6, 4.2, 2.2), intensity=(70.0, 66.0, 58.0))],
        name="palm_pc",
    )


def _turn_to_lie() -> Array:
    """Turns +Y to -Z, around the middle of a pen."""
    matrix = np.eye(4)
    matrix[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    matrix[2, 3] = 1.0
    return matrix


def _page(part: Part) -> Array:
    """Colours of a landscape on a screen."""
    z = part.positions[:, 2]
    sky = np.array([0.25, 0.5, 0.85]) + np.clip(0.3 * (z + 1), 0, 0.5)[:, None] * np.array([0.8, 0.5, 0.1])
    hills = z > 0.05 + 0.18 * np.sin(4 * part.positions[:, 0])
    return np.where(hills[:, None], [0.10, 0.42, 0.12], np.clip(sky, 0, 1))


def knife() -> Scene:
    """A kitchen knife of one mesh, its blade a mirror, on a cutting board: 1,676 triangles."""
    x = np.concatenate([np.linspace(0.0, 0.7, 10), np.linspace(0.78, 1.0, 8)])
    spine = 0.02 - 0.20 * np.clip(x - 0.45, 0, 1) ** 2
    edge = spine - 0.30 * np.sqrt(np.maximum(1 - np.clip((x - 0.35) / 0.66, 0, 1) ** 2, 0.0)) - 0.004
    ridge, thick = spine - 0.35 * (spine - edge), 0.010 * (1.05 - x)
    zero = 0 * x
    lengths = 1.6 * x
    lines = [(edge, zero), (ridge, thick), (spine, 0.7 * thick), (spine, -0.7 * thick), (ridge, -thick), (edge, zero)]
    strips = []
    for (ya, za), (yb, zb) in pairwise(lines):
        net = np.stack([np.stack([lengths, ya, za], -1), np.stack([lengths, yb, zb], -1)], axis=1)
        strips.append(surface(net))
    blade = joined(strips)
    at = np.linspace(0.0, 1.0, 13)
    path = np.stack([-0.95 * at, -0.06 - 0.05 * np.sin(np.pi * at) - 0.05 * at**2, 0 * at], axis=-1)
    size = np.stack([0.055 + 0 * at, 0.085 + 0.02 * np.sin(2.2 * np.pi * at) + 0.02 * at], axis=-1)
    handle = sweep(path, ring(16, 0.75), size)
    handle = joined([handle, cap(handle, 16, True), cap(handle, 16, False)])
    rivets = []
    for at_x in (-0.22, -0.48, -0.74):
        rivet = lathe([(0.028, 0.0), (0.026, 0.008), (0.0, 0.012)], 12)
        for side in (-1, 1):
            up = np.eye(4)
            up[:3, :3] = [[1, 0, 0], [0, 0, side], [0, side, 0]] if side < 0 else [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
            up[:3, 3] = at_x, -0.105, side * 0.053
            rivets.append(transformed(rivet, up))
    bolster = box((-0.03, -0.21, -0.035), (0.04, 0.03, 0.035))
    # It lies on its side.
    lying = np.eye(4)
    lying[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    lying[:3, 3] = -0.3, 0.062, -0.1
    pieces = [
        Piece(transformed(blade, lying), (0.40, 0.41, 0.43), 1),
        Piece(transformed(handle, lying), (0.10, 0.045, 0.022), 2),
        Piece(transformed(joined([*rivets, bolster]), lying), (0.42, 0.40, 0.34), 1),
    ]
    top = box((-1.7, -0.14, -0.9), (1.7, -0.001, 0.9))
    pieces.append(Piece(top, (0.30, 0.18, 0.08), 0))
    counted = sum(len(piece.part.triangles) for piece in pieces)
    table = quads([[(-6, -0.141, -6), (-6, -0.141, 6), (6, -0.141, 6), (6, -0.141, -6)]])
    pieces.append(Piece(table, (0.16, 0.19, 0.22), 0))
    part, shade = boards((KNIFE - counted - 2) // 2, (3.4, 1.8), 9, np.random.default_rng(2006))
    pieces.append(Piece(part, np.clip(np.array([0.52, 0.34, 0.17]) * shade, 0, 1), 0))
    return Scene(
        [collected("knife", pieces)],
        [Instance(0, name="knife")],
        [
            Material("wood"),
            Material("steel", kind="phong", specular=0.35, exponent=200.0, reflectivity=0.5, double_sided=True),
            Material("handle", kind="phong", specular=0.08, exponent=50.0),
        ],
        [
            Camera((0.9, 1.7, 2.0), (0.05, 0.0, 0.0), fov=42, name="front"),
            Camera((0.0, 3.2, 0.01), (0.05, 0.0, 0.0), fov=44, name="top"),
            Camera((1.9, 0.45, 0.9), (0.2, 0.05, 0.0), fov=44, name="tip"),
        ],
        lights=[Light("point", "lamp", (-1.6, 3.6, 1.4), intensity=(52.0, 49.0, 44.0))],
        name="knife",
    )
