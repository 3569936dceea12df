"""A palace with a dome, four towers and a colonnade: 33,000 triangles in 36 instances and one light, a stand-in for the
scene Palace of A. Adinetz and B. Berezin, *Implementing Classical Ray Tracing on GPU: a Case Study of GPU Programming*
(2006), whose model was not published. Metres; +Y is up.
"""

from __future__ import annotations

import numpy as np

from raystream.scene.builtin.hall import pierced_wall
from raystream.scene.builtin.parts.offices import collected
from raystream.scene.builtin.parts.shapes import Part, Piece, boards, box, curve, joined, lathe, revolve
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene

PALACE = 33_000  # triangles
MARBLE, SAND, GOLD = (0.72, 0.68, 0.60), (0.60, 0.45, 0.28), (0.80, 0.55, 0.18)
TURQUOISE = (0.06, 0.36, 0.38)
HALF, TALL, BASE = 9.0, 7.0, 1.0  # of the block; of the terrace
COLUMNS = 24


def palace() -> Scene:
    """The palace on its paved court."""
    shaft = revolve(_column(), 18)
    column = collected("column", [Piece(shaft, MARBLE, 1)])
    dome = collected("dome", [Piece(_onion(5.4, 6.6, 44, 40), TURQUOISE, 2)])
    lantern = collected("lantern", [Piece(_spire(2.6, 24), GOLD, 2)])
    tower = collected("tower", [*_tower()])
    cap = collected("small dome", [Piece(_onion(1.75, 2.6, 22, 20), TURQUOISE, 2), Piece(_spire(0.9, 8, 2.6), GOLD, 2)])
    block = _block()
    meshes = [block, dome, lantern, tower, cap, column]
    counts = (1, 1, 1, 4, 4, COLUMNS)
    missing = PALACE - sum(len(mesh.triangles) * count for mesh, count in zip(meshes, counts, strict=True))
    part, shade = boards(missing // 2, (64.0, 64.0), 36, np.random.default_rng(36))
    court = collected("court", [Piece(part, np.clip(np.array([0.46, 0.38, 0.28]) * (0.4 + 0.6 * shade), 0, 1), 0)])
    instances = [_at(6, 0.0, 0.0, 0.0, "court"), _at(0, 0.0, 0.0, 0.0, "block")]
    drum = BASE + TALL + 2.6
    instances += [_at(1, 0.0, drum, 0.0, "dome"), _at(2, 0.0, drum + 6.5, 0.0, "lantern")]
    for k, (sx, sz) in enumerate(((-1, -1), (1, -1), (-1, 1), (1, 1))):
        instances.append(_at(3, sx * 14.5, 0.0, sz * 14.5, f"tower {k}"))
        instances.append(_at(4, sx * 14.5, 16.0, sz * 14.5, f"small dome {k}"))
    ring = HALF + 2.4
    positions = [(s * ring, t) for s in (-1, 1) for t in np.linspace(-ring, ring, 7)]
    positions += [(t, s * ring) for s in (-1, 1) for t in np.linspace(-ring, ring, 7)[1:-1]]
    instances += [_at(5, x, BASE, z, f"column {k}") for k, (x, z) in enumerate(positions)]
    return Scene(
        meshes + [court],
        instances,
        [
            Material("court"),
            Material("marble", kind="phong", specular=0.04, exponent=40.0),
            Material("tiles and gold", kind="phong", specular=0.2, exponent=90.0, reflectivity=0.12),
        ],
        [
            Camera((9.0, 9.0, 44.0), (0.5, 8.4, 0.0), fov=44, name="front"),
            Camera((-30.0, 26.0, 26.0), (0.0, 6.0, 0.0), fov=44, name="above"),
            Camera((10.2, 2.8, 15.5), (7.5, 3.9, -6.0), fov=62, name="colonnade"),
        ],
        lights=[Light("directional", "sun", direction=(-0.62, -0.62, -0.5), intensity=(3.4, 3.1, 2.5))],
        name="palace",
        fills=True,
    )


def _at(mesh: int, x: float, y: float, z: float, name: str) -> Instance:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return Instance(mesh, matrix, name=name)


def _onion(radius: float, tall: float, segments: int, rings: int) -> Part:
    """A bulging dome with a pointed top."""
    knots = [
        (0.92, 0.0),
        (1.04, 0.14),
        (1.06, 0.28),
        (0.96, 0.45),
        (0.72, 0.62),
        (0.42, 0.77),
        (0.18, 0.89),
        (0.0, 1.0),
    ]
    profile = curve(np.asarray(knots) * [radius, tall], rings + 1)
    profile[-1] = 0.0, tall
    return lathe(profile, segments)


def _spire(tall: float, segments: int, base: float = 0.0) -> Part:
    """Balls on a needle."""
    knots = [
        (0.10, 0.0),
        (0.05, 0.1),
        (0.16, 0.25),
        (0.05, 0.4),
        (0.11, 0.52),
        (0.035, 0.64),
        (0.06, 0.72),
        (0.02, 0.8),
        (0.0, 1.0),
    ]
    profile = curve(np.asarray(knots) * tall, 33)
    profile[-1] = 0.0, tall
    return lathe(profile, segments).moved((0.0, base - 0.1 * tall, 0.0))


def _column() -> list[tuple[float, float]]:
    """(radius, height) of a column's profile, metres: base, shaft with entasis, capital; 5.2 high."""
    base = [(0.0, 0.0), (0.52, 0.0), (0.52, 0.16), (0.44, 0.22), (0.48, 0.3), (0.40, 0.38)]
    shaft = [(0.36 - 0.07 * t**1.8, 0.4 + 4.2 * t) for t in np.linspace(0.0, 1.0, 7)]
    capital = [(0.34, 4.7), (0.5, 4.95), (0.5, 5.2), (0.0, 5.2)]
    return [*base, *shaft, *capital]


def _tower() -> list[Piece]:
    """A round tower with rings, a balcony and a lantern of posts."""
    profile = [
        (0.0, 0.0),
        (2.1, 0.0),
        (2.1, 1.2),
        (1.8, 1.4),
        (1.65, 6.6),
        (1.8, 6.8),
        (1.8, 7.2),
        (1.55, 7.4),
        (1.45, 12.0),
    ]
    profile += [(2.2, 12.6), (2.2, 13.4), (2.05, 13.4), (2.05, 12.9), (0.0, 12.9)]
    pieces = [Piece(revolve(profile, 28), SAND, 1)]
    angle = 2 * np.pi * np.arange(8) / 8
    posts = [box((-0.12, 12.9, 1.3), (0.12, 15.6, 1.55), "-y +y").turned(float(np.degrees(a))) for a in angle]
    roof = revolve([(0.0, 15.6), (2.0, 15.6), (2.0, 16.0), (0.0, 16.0)], 28)
    return [*pieces, Piece(joined([*posts, roof]), MARBLE, 1)]


def _block() -> Mesh:
    """Terrace with steps, walls with arches, roof over the colonnade, parapet and drum."""
    pieces = []
    for k in range(5):
        edge, top = HALF + 6.2 - 0.45 * k, BASE * (k + 1) / 5
        pieces.append(Piece(box((-edge, BASE * k / 5, -edge), (edge, top, edge), "-y"), MARBLE, 1))
    bays = 5
    wide = 2 * HALF / bays
    for angle in (0.0, 90.0, 180.0, 270.0):
        for k in range(bays):
            wall = pierced_wall(wide, 0.0, TALL, 0.95, 0.0 if k == 2 else 1.0, 3.6, 0.5)
            at = Part(wall.positions + [(k - (bays - 1) / 2) * wide, BASE, HALF], wall.normals, wall.triangles)
            pieces.append(Piece(at.turned(angle), SAND if k % 2 else (0.66, 0.53, 0.36), 1))
    ring = HALF + 3.0
    roof = [
        box((-ring, BASE + 5.2, -ring), (ring, BASE + 5.7, -HALF)),
        box((-ring, BASE + 5.2, HALF), (ring, BASE + 5.7, ring)),
    ]
    roof += [
        box((-ring, BASE + 5.2, -HALF), (-HALF, BASE + 5.7, HALF)),
        box((HALF, BASE + 5.2, -HALF), (ring, BASE + 5.7, HALF)),
    ]
    roof.append(box((-HALF - 0.15, BASE + TALL, -HALF - 0.15), (HALF + 0.15, BASE + TALL + 0.4, HALF + 0.15)))
    pieces.append(Piece(joined(roof), MARBLE, 1))
    teeth = []
    for k in range(-12, 13):
        for angle in (0.0, 90.0, 180.0, 270.0):
            low = (k * 0.74 - 0.2, BASE + TALL + 0.4, HALF - 0.15)
            teeth.append(box(low, (low[0] + 0.4, low[1] + 0.6, HALF + 0.15), "-y").turned(angle))
    pieces.append(Piece(joined(teeth), SAND, 1))
    level = BASE + TALL + 0.4
    drum = revolve(
        [
            (5.4, level),
            (5.4, level + 0.3),
            (5.1, level + 0.4),
            (5.1, level + 1.9),
            (5.5, level + 2.1),
            (5.5, level + 2.25),
            (0.0, level + 2.25),
        ],
        48,
    )
    pieces.append(Piece(drum, MARBLE, 1))
    return collected("block", pieces)
