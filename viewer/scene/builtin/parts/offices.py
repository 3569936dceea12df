"""Rooms of the scene ``building``, furnished: a mesh each, in metres, floors at y = 0."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from raystream.scene.builtin.parts.forms import Piece, box, placed
from raystream.scene.builtin.parts.furniture import (
    BIRCH,
    LAMP,
    OAK,
    PAINT,
    STEEL,
    WALNUT,
    WHITE,
    WOOD,
    bin_,
    blinds,
    ceiling_lamp,
    chair,
    desk,
    desk_lamp,
    guest_chair,
    keyboard,
    monitor,
    mug,
    papers,
    plant,
    radiator,
    round_table,
    shelf,
    sofa,
)
from raystream.scene.builtin.parts.shapes import Builder, quads, sphere
from raystream.scene.mesh import Mesh

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
