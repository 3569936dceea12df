"""Rooms of the scene ``building``, furnished: a mesh each, in metres, floors at y = 0."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from raystream.scene.builtin.parts.shapes import (
    Builder,
    Part,
    Piece,
    box,
    boxes,
    cushion,
    joined,
    lathe,
    placed,
    quads,
    revolve,
    ring,
    sphere,
    sweep,
    unit,
)
from raystream.scene.mesh import Mesh

# -- furniture of offices: pieces in metres, standing on y = 0 around the origin, facing +Z ----------------------------

PAINT, WOOD, METAL, CLOTH, LEAF, LAMP, SCREEN = range(7)

OAK, WALNUT, BIRCH = (0.42, 0.25, 0.11), (0.16, 0.075, 0.035), (0.58, 0.43, 0.26)
STEEL, BLACK, WHITE = (0.55, 0.56, 0.58), (0.025, 0.025, 0.028), (0.78, 0.77, 0.74)
SPINES = (
    *((0.45, 0.04, 0.03), (0.03, 0.10, 0.30), (0.04, 0.22, 0.10), (0.55, 0.35, 0.06), (0.20, 0.05, 0.16)),
    *((0.62, 0.58, 0.48), (0.05, 0.05, 0.06), (0.50, 0.16, 0.03), (0.06, 0.28, 0.34), (0.30, 0.30, 0.32)),
)


def desk(length: float = 1.6, wood: ArrayLike = BIRCH, drawers: bool = True) -> list[Piece]:
    """A table top on two frames of steel, 0.74 high and 0.75 deep, with drawers on the right."""
    half = length / 2
    pieces = [Piece(box((-half, 0.71, -0.375), (half, 0.74, 0.375)), wood, WOOD)]
    low = [(s * (half - 0.08) - 0.02, y, z) for s in (-1, 1) for y, z in ((0.0, -0.32), (0.0, 0.28), (0.03, -0.28))]
    span = np.array([(0.04, 0.71, 0.04), (0.04, 0.71, 0.04), (0.04, 0.04, 0.56)] * 2)
    pieces.append(Piece(boxes(low, low + span), STEEL, METAL))
    pieces.append(Piece(box((-half + 0.1, 0.35, -0.34), (half - 0.1, 0.69, -0.325)), wood, WOOD))
    if drawers:
        x0, x1 = half - 0.52, half - 0.12
        pieces.append(Piece(box((x0, 0.08, -0.3), (x1, 0.70, 0.30), "+z"), WHITE, PAINT))
        heights = np.array([0.09, 0.30, 0.51])
        front = np.stack([np.full(3, x0 + 0.008), heights, np.full(3, 0.30)], axis=-1)
        pieces.append(Piece(boxes(front, front + [x1 - x0 - 0.016, 0.185, 0.02]), WHITE, PAINT))
        grip = np.stack([np.full(3, (x0 + x1) / 2 - 0.06), heights + 0.13, np.full(3, 0.32)], axis=-1)
        pieces += [Piece(box(low, low + [0.12, 0.012, 0.02], "-z"), STEEL, METAL) for low in grip]
    return pieces


@cache
def _castor_base() -> Part:
    arms = []
    for k in range(5):
        arm = sweep([(0, 0.10, 0.03), (0, 0.09, 0.18), (0, 0.065, 0.30)], 0.024 * ring(4), [1.0, 0.8, 0.55])
        wheel = cushion((0.03, 0.056, 0.056), 6, 3, 0.6).moved((0.0, 0.028, 0.30))
        arms += [part.turned(72.0 * k) for part in (arm, wheel)]
    return joined([*arms, lathe([(0.0, 0.06), (0.04, 0.07), (0.03, 0.12), (0.022, 0.14), (0.022, 0.42)], 7)])


@cache
def chair(cloth: tuple[float, float, float] = (0.05, 0.12, 0.28)) -> list[Piece]:
    """An office chair on castors, with arms."""
    seat = cushion((0.50, 0.08, 0.48), 10, 4, 0.45).moved((0.0, 0.47, 0.0))
    back = cushion((0.46, 0.52, 0.08), 10, 5, 0.5)
    bent = back.positions + np.stack(
        [0 * back.positions[:, 0], 0 * back.positions[:, 0], 0.5 * back.positions[:, 0] ** 2], -1
    )
    back = Part(bent, back.normals, back.triangles).moved((0.0, 0.83, -0.235))
    post = sweep(
        [(0, 0.42, -0.14), (0, 0.45, -0.26), (0, 0.62, -0.29), (0, 0.80, -0.28)], 0.016 * ring(4), up=(1, 0, 0)
    )
    arms = []
    for side in (-1.0, 1.0):
        path = [(side * 0.20, 0.44, 0), (side * 0.29, 0.47, 0), (side * 0.29, 0.66, 0)]
        arms.append(sweep(path, 0.012 * ring(4), up=(0, 0, 1)))
        arms.append(cushion((0.055, 0.035, 0.26), 6, 3, 0.5).moved((side * 0.29, 0.67, 0.02)))
    return [
        Piece(_castor_base(), BLACK, METAL),
        Piece(joined([seat, back]), cloth, CLOTH),
        Piece(joined([post, *arms]), BLACK, METAL),
    ]


@cache
def guest_chair(cloth: tuple[float, float, float] = (0.34, 0.08, 0.05)) -> list[Piece]:
    """A cantilever chair: a bent tube with seat and back."""
    pieces = []
    for side in (-1.0, 1.0):
        x = side * 0.23
        path = [(x, 0.02, -0.22), (x, 0.02, 0.2), (x, 0.05, 0.24), (x, 0.42, 0.24), (x, 0.45, 0.2), (x, 0.44, -0.2)]
        path += [(x, 0.50, -0.25), (x, 0.86, -0.32)]
        pieces.append(sweep(path, 0.012 * ring(4), up=(1, 0, 0)))
    foot = sweep([(-0.23, 0.02, -0.22), (0, 0.02, -0.22), (0.23, 0.02, -0.22)], 0.012 * ring(4))
    seat = cushion((0.45, 0.05, 0.44), 10, 4, 0.4).moved((0, 0.47, 0.0))
    back = cushion((0.45, 0.30, 0.04), 10, 4, 0.4).moved((0, 0.74, -0.29))
    return [Piece(joined([*pieces, foot]), STEEL, METAL), Piece(joined([seat, back]), cloth, CLOTH)]


@cache
def monitor() -> list[Piece]:
    """A flat screen on its foot; the middle of the foot is the origin."""
    panel = box((-0.27, 0.12, -0.02), (0.27, 0.46, 0.0), "+z")
    rim = [
        box((-0.27, 0.12, 0.0), (0.27, 0.135, 0.012)),
        box((-0.27, 0.445, 0.0), (0.27, 0.46, 0.012)),
        box((-0.27, 0.135, 0.0), (-0.255, 0.445, 0.012)),
        box((0.255, 0.135, 0.0), (0.27, 0.445, 0.012)),
    ]
    neck = box((-0.03, 0.01, -0.045), (0.03, 0.30, -0.02))
    foot = box((-0.11, 0.0, -0.10), (0.11, 0.012, 0.06), "-y")
    shown = quads([[(-0.255, 0.135, 0.002), (0.255, 0.135, 0.002), (0.255, 0.445, 0.002), (-0.255, 0.445, 0.002)]])
    return [Piece(joined([panel, *rim, neck, foot]), BLACK, PAINT), Piece(shown, (0.35, 0.55, 0.85), SCREEN)]


@cache
def keyboard() -> list[Piece]:
    """75 keys on a wedge, 0.36 wide."""
    row, column = (part.ravel() for part in np.meshgrid(np.arange(5), np.arange(15), indexing="ij"))
    x, z = (column - 7.0) * 0.0235, (row - 2.0) * 0.0235
    y = 0.016 - 0.12 * z
    low = np.stack([x - 0.0095, y - 0.004, z - 0.0095], axis=-1)
    keys = boxes(low, low + [0.019, 0.009, 0.019])
    sides = keys.positions.reshape(-1, 6, 4, 3)[:, [3, 5]]  # top and front: the rest is never visible
    base = [(-0.18, 0.0, 0.068), (0.18, 0.0, 0.068), (0.18, 0.008, 0.068), (-0.18, 0.008, 0.068)]
    top = [(-0.18, 0.008, 0.068), (0.18, 0.008, 0.068), (0.18, 0.024, -0.068), (-0.18, 0.024, -0.068)]
    return [Piece(quads(sides.reshape(-1, 4, 3)), (0.45, 0.45, 0.42), PAINT), Piece(quads([base, top]), BLACK, PAINT)]


def books(rng: np.random.Generator, wide: float, tall: float, deep: float) -> list[Piece]:
    """A row of books from x = 0 to nearly ``wide``, spines towards +Z."""
    low, high, colors = [], [], []
    x = 0.01
    while x < wide - 0.06:
        thick = rng.uniform(0.028, 0.07)
        if rng.uniform() < 0.06:
            x += rng.uniform(0.04, 0.12)
            continue
        height, depth = tall * rng.uniform(0.68, 0.97), deep * rng.uniform(0.7, 0.9)
        low.append((x, 0.0, -depth))
        high.append((x + thick * 0.96, height, -0.02 * rng.uniform(0, 1)))
        colors.append(np.asarray(SPINES[rng.integers(len(SPINES))]) * rng.uniform(0.7, 1.25))
        x += thick
    if not low:
        return []
    part = boxes(low, high)
    sides = part.positions.reshape(-1, 6, 4, 3)[:, [0, 1, 3, 5]]  # bottom and back are never visible
    tint = np.repeat(np.clip(colors, 0, 1), 4 * sides.shape[1], axis=0)
    return [Piece(quads(sides.reshape(-1, 4, 3)), tint, PAINT)]


def shelf(rng: np.random.Generator, wide: float = 0.9, boards: int = 4, wood: ArrayLike = OAK) -> list[Piece]:
    """A bookcase with its books, 0.3 deep; its back is z = 0."""
    step, half = 0.36, wide / 2
    tall = boards * step + 0.05
    frame = [
        box((-half, 0.0, 0.0), (-half + 0.02, tall, 0.30)),
        box((half - 0.02, 0.0, 0.0), (half, tall, 0.30)),
        box((-half, 0.0, 0.0), (half, tall, 0.008), "-z"),
        box((-half, tall, 0.0), (half, tall + 0.02, 0.30)),
    ]
    levels = 0.05 + step * np.arange(boards)
    frame.append(boxes([(-half + 0.02, y - 0.02, 0.008) for y in levels], [(half - 0.02, y, 0.29) for y in levels]))
    pieces = [Piece(joined(frame), wood, WOOD)]
    for y in levels:
        pieces += placed(books(rng, wide - 0.04, 0.33, 0.26), (-half + 0.02, y, 0.28))
    return pieces


def plant(rng: np.random.Generator, leaves: int = 60, tall: float = 1.0) -> list[Piece]:
    """Bent leaves of four triangles on arching stems, in a pot."""
    pot = lathe([(0.0, 0.0), (0.13, 0.0), (0.17, 0.28), (0.18, 0.30), (0.155, 0.30), (0.14, 0.25), (0.0, 0.25)], 14)
    angle = rng.uniform(0, 2 * np.pi, leaves)
    rise = rng.uniform(0.25, 1.0, leaves)
    out = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=-1)
    root = np.array([0.0, 0.27, 0.0]) + out * 0.03
    length = tall * rng.uniform(0.5, 1.0, leaves)[:, None]
    first = unit(out * (1.1 - rise[:, None]) + [0, 1.2, 0])
    middle = root + 0.62 * length * first
    tip = middle + 0.42 * length * unit(first * [1, 0.15, 1] + out * 0.9 + [0, -0.25, 0])
    side = unit(np.cross(out, [0, 1, 0])) * (0.03 + 0.05 * length)
    left, right = middle - side - [0, 0.015, 0], middle + side - [0, 0.015, 0]
    corners = [(root, middle, left), (root, right, middle), (middle, tip, left), (middle, right, tip)]
    points = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1).reshape(-1, 3, 3)
    normals = unit(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]))
    foliage = Part(points.reshape(-1, 3), np.repeat(normals, 3, axis=0), np.arange(3 * len(points)).reshape(-1, 3))
    green = np.array([0.07, 0.22, 0.05]) * rng.uniform(0.6, 1.4, (leaves, 1))
    return [Piece(pot, (0.42, 0.16, 0.08), PAINT), Piece(foliage, np.repeat(np.clip(green, 0, 1), 12, axis=0), LEAF)]


@cache
def desk_lamp() -> list[Piece]:
    """A jointed lamp whose shade shines downwards."""
    foot = lathe([(0.0, 0.0), (0.08, 0.0), (0.08, 0.012), (0.02, 0.02), (0.0, 0.022)], 12)
    arm = sweep([(0, 0.01, 0), (0, 0.20, -0.08), (0, 0.38, -0.12)], 0.007 * ring(5), up=(1, 0, 0))
    second = sweep([(0, 0.37, -0.13), (0, 0.43, 0.05), (0, 0.46, 0.15)], 0.007 * ring(5), up=(1, 0, 0))
    shade = lathe([(0.075, 0.36), (0.065, 0.41), (0.03, 0.45), (0.0, 0.46)], 12).moved((0, 0.01, 0.16))
    bulb = lathe([(0.0, 0.375), (0.035, 0.385), (0.03, 0.41), (0.0, 0.42)], 8).moved((0, 0, 0.16))
    return [
        Piece(joined([foot, arm, second]), BLACK, METAL),
        Piece(shade, (0.50, 0.05, 0.03), METAL),
        Piece(bulb, (1.0, 0.80, 0.52), LAMP),
    ]


@cache
def mug(color: tuple[float, float, float] = (0.10, 0.25, 0.45)) -> list[Piece]:
    """A cup with its handle."""
    cup = lathe(
        [(0.0, 0.0), (0.035, 0.0), (0.04, 0.01), (0.04, 0.095), (0.036, 0.095), (0.034, 0.012), (0.0, 0.01)], 10
    )
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 4)
    path = np.stack([0.038 + 0.028 * np.cos(angle), 0.05 + 0.03 * np.sin(angle), 0 * angle], axis=-1)
    return [Piece(joined([cup, sweep(path, 0.005 * ring(4), up=(0, 0, 1))]), color, PAINT)]


@cache
def bin_() -> list[Piece]:
    """A paper basket."""
    profile = [(0.0, 0.0), (0.11, 0.0), (0.14, 0.30), (0.135, 0.30), (0.105, 0.01), (0.0, 0.01)]
    return [Piece(revolve(profile, 9), BLACK, METAL)]


@cache
def radiator() -> list[Piece]:
    """Ribs under a window, 1.8 wide, 0.6 high; its back is z = 0."""
    x = -0.9 + 0.2 * np.arange(10)
    ribs = boxes(
        np.stack([x - 0.07, 0 * x + 0.12, 0 * x + 0.04], -1), np.stack([x + 0.07, 0 * x + 0.62, 0 * x + 0.12], -1)
    )
    pipes = [box((-0.93, y, 0.06), (0.93, y + 0.03, 0.10), "") for y in (0.14, 0.57)]
    return [Piece(joined([ribs, *pipes]), WHITE, METAL)]


@cache
def blinds(drop: float) -> list[Piece]:
    """Tilted slats, 3 wide, hanging ``drop`` metres from y = 0."""
    y = -0.05 * (1.0 + np.arange(max(round(drop / 0.05), 1)))
    zero = 0 * y
    corners = [(zero - 1.5, y, zero), (zero + 1.5, y, zero), (zero + 1.5, y + 0.014, zero - 0.036)]
    corners.append((zero - 1.5, y + 0.014, zero - 0.036))
    slats = quads(np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1))
    head = box((-1.52, -0.03, -0.04), (1.52, 0.0, 0.01))
    return [Piece(joined([slats, head]), (0.66, 0.64, 0.58), CLOTH)]


@cache
def ceiling_lamp(length: float = 1.2) -> list[Piece]:
    """A panel 0.3 wide along Z, hanging from y = 0 and shining downwards."""
    half = length / 2
    case = box((-0.15, -0.07, -half), (0.15, -0.01, half), "-y")
    rods = boxes(
        [(-0.005, -0.01, -half / 2), (-0.005, -0.01, half / 2)],
        [(0.005, 0.0, -half / 2 + 0.01), (0.005, 0.0, half / 2 + 0.01)],
    )
    shine = quads([[(-0.14, -0.069, -half), (0.14, -0.069, -half), (0.14, -0.069, half), (-0.14, -0.069, half)]])
    return [Piece(joined([case, rods]), WHITE, METAL), Piece(shine, (1.0, 0.93, 0.82), LAMP)]


@cache
def sofa(cloth: tuple[float, float, float] = (0.42, 0.10, 0.05), seats: int = 2) -> list[Piece]:
    """Soft seats with arms and a back."""
    parts = [
        cushion((0.7, 0.22, 0.75), 12, 6, 0.35).moved((0.7 * (k - (seats - 1) / 2), 0.34, 0.05)) for k in range(seats)
    ]
    parts += [
        cushion((0.7, 0.55, 0.22), 12, 6, 0.4).moved((0.7 * (k - (seats - 1) / 2), 0.62, -0.36)) for k in range(seats)
    ]
    parts += [cushion((0.2, 0.55, 0.9), 12, 6, 0.35).moved((s * (0.35 * seats + 0.1), 0.33, 0.0)) for s in (-1, 1)]
    legs = [(s * 0.35 * seats - 0.03, 0.0, z) for s in (-1, 1) for z in (-0.33, 0.3)]
    return [
        Piece(joined(parts), cloth, CLOTH),
        Piece(boxes(legs, np.asarray(legs) + [0.06, 0.24, 0.06]), WALNUT, WOOD),
    ]


@cache
def round_table(radius: float = 0.45, tall: float = 0.45) -> list[Piece]:
    """A table on one leg."""
    top = lathe([(0.0, tall - 0.03), (radius, tall - 0.03), (radius, tall), (0.0, tall)], 24)
    leg = lathe([(0.0, 0.0), (0.22, 0.0), (0.22, 0.02), (0.04, 0.05), (0.03, tall - 0.03)], 12)
    return [Piece(top, OAK, WOOD), Piece(leg, STEEL, METAL)]


def papers(rng: np.random.Generator, count: int = 6) -> list[Piece]:
    """Scattered sheets."""
    corners = []
    for k in range(count):
        angle, x, z = rng.uniform(0, np.pi), rng.uniform(-0.18, 0.18), rng.uniform(-0.18, 0.18)
        u = np.array([np.cos(angle), 0, -np.sin(angle)]) * 0.105
        v = np.array([np.sin(angle), 0, np.cos(angle)]) * 0.148
        at = np.array([x, 0.002 + 0.001 * k, z])
        corners.append([at - u - v, at - u + v, at + u + v, at + u - v])
    return [Piece(quads(corners), (0.80, 0.79, 0.75), PAINT)]


@cache
def door() -> list[Piece]:
    """A door leaf 0.9 by 2.1, hinged at x = 0, ajar by its place; with handles and panels."""
    leaf = box((0.0, 0.01, -0.02), (0.88, 2.08, 0.02))
    panels = boxes(
        [(0.12, y, s * 0.02 - 0.006) for y in (0.15, 1.15) for s in (-1, 1)],
        [(0.76, y + 0.8, s * 0.02 + 0.006) for y in (0.15, 1.15) for s in (-1, 1)],
    )
    handles = []
    for side in (-1.0, 1.0):
        path = [(0.80, 1.02, side * 0.02), (0.80, 1.02, side * 0.07), (0.70, 1.02, side * 0.075)]
        handles.append(sweep(path, 0.009 * ring(6)))
    return [Piece(joined([leaf, panels]), OAK, WOOD), Piece(joined(handles), STEEL, METAL)]


# -- rooms of the scene ``building``, furnished ------------------------------------------------------------------------

BAY, CLEAR = 48.8 / 12, 3.1
OFFICES = 6
CLOTHS = (
    (0.05, 0.12, 0.28),
    (0.34, 0.08, 0.05),
    (0.06, 0.20, 0.12),
    (0.09, 0.09, 0.10),
    (0.40, 0.24, 0.05),
    (0.17, 0.06, 0.20),
)
GLAZES = ((0.10, 0.25, 0.45), (0.60, 0.12, 0.06), (0.70, 0.68, 0.60), (0.10, 0.35, 0.22))


def collected(name: str, pieces: Iterable[Piece]) -> Mesh:
    """The pieces as one mesh."""
    builder = Builder()
    for part, color, material in pieces:
        builder.add(part, color, material)
    return builder.mesh(name)


def _workplace(rng: np.random.Generator, cloth: int, length: float = 1.6, drawers: bool = True) -> list[Piece]:
    """A desk with the things on it, its chair at z = -0.75 facing +Z."""
    top, wood = 0.741, (BIRCH, OAK, WALNUT)[rng.integers(3)]
    pieces = placed(desk(length, wood, drawers), angle=180.0)
    pieces += placed(monitor(), (rng.uniform(-0.15, 0.15), top, 0.16), 180.0 + rng.uniform(-12, 12))
    pieces += placed(keyboard(), (rng.uniform(-0.1, 0.1), top, -0.17), 180.0 + rng.uniform(-5, 5))
    pieces += placed(mug(GLAZES[rng.integers(len(GLAZES))]), (0.45, top, -0.05), rng.uniform(0, 360))
    pieces += placed(papers(rng), (-0.48, top, -0.08))
    pieces += placed(chair(CLOTHS[cloth]), (rng.uniform(-0.15, 0.15), 0.0, -0.72), rng.uniform(-50, 50))
    return pieces


def office(variant: int, mirror: bool) -> Mesh:
    """A room of one bay: the window at z = 0, the door at z = 5 and x = 1.3, or -1.3 if mirrored."""
    rng = np.random.default_rng([1995, variant])
    pieces = placed(radiator(), (0.0, 0.05, 0.02))
    pieces += placed(blinds(float(rng.choice([0.3, 0.6, 0.9, 1.2]))), (0.0, 2.74, -0.1))
    for z in (1.4, 3.5):
        pieces += placed(ceiling_lamp(), (0.0, CLEAR, z))
    cloth = int(rng.integers(len(CLOTHS)))
    pieces += placed(_workplace(rng, cloth), (-1.55, 0.0, 1.35), -90.0)
    if variant % 2:
        pieces += placed(desk_lamp(), (-1.75, 0.741, 0.85), 60.0)
    pieces += placed(shelf(rng, 1.1, wood=(OAK, WALNUT, BIRCH)[variant % 3]), (1.97, 0.0, 1.7), -90.0)
    if variant % 3 == 0:
        pieces += placed(round_table(0.4, 0.72), (-1.1, 0.0, 3.6))
        pieces += placed(guest_chair(CLOTHS[(cloth + 1) % len(CLOTHS)]), (-1.0, 0.0, 4.4), 190.0)
        pieces += placed(guest_chair(CLOTHS[(cloth + 1) % len(CLOTHS)]), (-0.4, 0.0, 3.1), -60.0)
    elif variant % 3 == 1:
        pieces += placed(_workplace(rng, cloth), (-1.55, 0.0, 3.45), -90.0)
    else:
        pieces += placed(shelf(rng, wide=0.8), (-1.97, 0.0, 3.2), 90.0)
        pieces += placed(guest_chair(CLOTHS[(cloth + 2) % len(CLOTHS)]), (-0.7, 0.0, 4.2), 150.0)
    pieces += placed(bin_(), (-0.3, 0.0, 0.5))
    pieces += placed(plant(rng, 44, 0.8), (1.6, 0.0, 0.5))
    # A picture on the wall: a frame, and colours.
    y, z = 1.5, 3.7
    pieces.append(Piece(box((1.94, y, z - 0.4), (1.97, y + 0.55, z + 0.4)), WALNUT, WOOD))
    for k in range(4):
        low = z - 0.36 + 0.18 * k
        color = np.clip(np.asarray(CLOTHS[(variant + k) % len(CLOTHS)]) * 1.8, 0, 1)
        part = quads(
            [
                [
                    (1.938, y + 0.04, low + 0.18),
                    (1.938, y + 0.51, low + 0.18),
                    (1.938, y + 0.51, low),
                    (1.938, y + 0.04, low),
                ]
            ]
        )
        pieces.append(Piece(part, color, PAINT))
    return collected(f"office {variant}{' mirrored' if mirror else ''}", placed(pieces, mirror=mirror))


def laboratory(variant: int) -> Mesh:
    """Two columns of desks, 7.4 by 23.6 around the origin, facing -Z, and shelves along a wall."""
    rng = np.random.default_rng([1996, variant])
    pieces: list[Piece] = []
    for x in (-2.0, 1.4):
        for z in np.linspace(-9.6, 9.6, 6):
            pieces += placed(_workplace(rng, variant, 1.5, False), (x, 0.0, z), 180.0)
    for x in (-1.5, 1.9):
        for z in np.linspace(-10.0, 10.0, 8):
            pieces += placed(ceiling_lamp(), (x, CLEAR, z))
    for z in (-5.2, -4.2, -3.2, 3.2, 4.2, 5.2):
        pieces += placed(shelf(rng, wood=BIRCH), (3.62, 0.0, z), -90.0)
    for z in (-11.2, 11.2):
        pieces += placed(plant(rng, 60, 1.3), (-3.2, 0.0, z))
        pieces.append(Piece(box((-1.6, 0.9, z * 1.045 - 0.02), (1.6, 2.2, z * 1.045 + 0.02)), WHITE, PAINT))
    return collected(f"laboratory {variant}", pieces)


def lounge() -> Mesh:
    """Sofas around tables, 18 by 4.6 around the origin."""
    rng = np.random.default_rng(1997)
    pieces: list[Piece] = []
    for k, x in enumerate((-6.2, 0.0, 6.2)):
        cloth = CLOTHS[(2 * k + 1) % len(CLOTHS)]
        pieces += placed(sofa(cloth, 3), (x, 0.0, -1.3))
        pieces += placed(sofa(cloth, 2), (x - 1.9, 0.0, 0.35), 90.0)
        pieces += placed(sofa(cloth, 2), (x + 1.9, 0.0, 0.35), -90.0)
        pieces += placed(round_table(0.5), (x, 0.0, 0.2))
        pieces += placed(mug(GLAZES[k]), (x + 0.2, 0.45, 0.3))
        pieces += placed(papers(rng), (x - 0.15, 0.45, 0.1))
        pieces += placed(plant(rng, 90, 1.5), (x + 3.1, 0.0, -1.6))
        pieces += placed(ceiling_lamp(), (x, CLEAR, 0.0), 90.0)
    return collected("lounge", pieces)


def library() -> Mesh:
    """Rows of bookcases back to back, 18 by 4.6 around the origin."""
    rng = np.random.default_rng(1998)
    pieces: list[Piece] = []
    for x in np.linspace(-7.6, 7.6, 5):
        for z in (-0.66, 0.66):
            for angle in (90.0, -90.0):
                pieces += placed(shelf(rng, 1.3, 4, WALNUT), (x, 0.0, z), angle)
    for x in np.linspace(-6.5, 6.5, 6):
        pieces += placed(ceiling_lamp(), (x, CLEAR, 0.0))
    return collected("library", pieces)


def lobby() -> Mesh:
    """A reception desk, benches, trees in tubs, and lamps hanging into the atrium."""
    rng = np.random.default_rng(1999)
    pieces = [
        Piece(box((-2.6, 0.0, 8.4), (2.6, 1.1, 8.7)), WALNUT, WOOD),
        Piece(box((-2.7, 1.1, 8.3), (2.7, 1.15, 9.0)), STEEL, WOOD),
    ]
    pieces += placed(_workplace(rng, 3), (-1.0, 0.0, 8.0))
    pieces += placed(_workplace(rng, 3), (1.2, 0.0, 8.0))
    for x, z in ((-5.4, -3.4), (5.4, -3.4), (-5.4, 3.6), (5.4, 3.6)):
        pieces += placed(plant(rng, 200, 3.2), (x, 0.0, z))
    for x in (-3.4, 0.0, 3.4):
        pieces += placed(sofa(CLOTHS[1], 3), (x, 0.0, -3.6))
    for k, (x, z) in enumerate(
        ((-4.5, 2.8), (-1.5, 2.8), (1.5, 2.8), (4.5, 2.8), (-4.5, -2.8), (-1.5, -2.8), (1.5, -2.8), (4.5, -2.8))
    ):
        y = 14.0 - 1.6 * (k % 4)
        pieces.append(Piece(sphere(24, 16).moved((x, y, z), 0.28), (1.0, 0.9, 0.75), LAMP))
        pieces.append(Piece(box((x - 0.01, y + 0.28, z - 0.01), (x + 0.01, 24.6, z + 0.01)), STEEL, PAINT))
    for x in (-7.8, 7.8):
        for z in (-6.2, 6.2):
            pieces += placed(ceiling_lamp(), (x, CLEAR, z))
    return collected("lobby", pieces)
