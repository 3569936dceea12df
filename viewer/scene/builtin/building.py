"""A furnished building of seven storeys around an atrium, 1.5 million triangles: large walls, small furniture.

It stands in for the Soda Hall model of T. J. Purcell, *Ray Tracing on a Stream Processor* (2004), section 5.2.1, which
is not free. It has the same triangle count, a similar range of triangle sizes, and a box of its proportions: a grid
with 128 voxels along the shortest side has 250 x 198 x 128 (here +Y, up, is the shortest). Plan, rooms and furniture
are our own. Units are metres.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from raystream.scene.builtin.parts import offices
from raystream.scene.builtin.parts.offices import BAY, METAL, OFFICES, PAINT, STEEL, WOOD, collected, door
from raystream.scene.builtin.parts.shapes import (
    Array,
    Part,
    Piece,
    box,
    boxes,
    joined,
    lathe,
    placed,
    quads,
    ring,
    sweep,
)
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.scene import Scene

# -- parts of the building around its rooms: facade, walls, floors, stairs, roof ---------------------------------------
# Units are metres; +Y is up, and the centre of the plan is at 0.

SEED = 1994
EDGES = (50.0, 25.6, 39.6)  # of the box: 250, 128 and 198 voxels of 0.2 m
STOREYS, STOREY, PLINTH = 7, 3.4, 0.3
X, Z = 24.8, 19.6  # outer faces of the walls, from the middle
WALL, DEEP = 0.4, 5.0  # of the facade; rooms along it
LONG, SHORT = 12, 7  # bays along X, along Z
CORE_X, CORE_Z = 17.2, 12.0  # within the corridors
WELL_X, WELL_Z, GALLERY = 7.0, 5.0, 2.2  # half size of the atrium; width of the gallery around it
CLEAR = 3.1  # height of rooms
SLAB = 0.25

BRICK, STONE, PLASTER = (0.40, 0.17, 0.11), (0.62, 0.57, 0.48), (0.74, 0.72, 0.67)
CARPET, TILE, DARK = (0.16, 0.19, 0.24), (0.45, 0.43, 0.40), (0.07, 0.075, 0.08)
TINTS = ((0.70, 0.62, 0.44), (0.46, 0.58, 0.60), (0.66, 0.44, 0.36), (0.52, 0.60, 0.42))


# Bays of the front entrance, by their indices in `bays`.
ENTRANCE = (5, 6)


def bays() -> Iterator[tuple[float, float, float, bool]]:
    """For each room along the facade: the middle of its window's foot (x, z), its rotation, and whether its door is on
    its own left: the room's +Z points away from the window."""
    for end in (1, -1):
        for k in range(LONG):
            x = (k - (LONG - 1) / 2) * BAY * end
            # Rooms at the corners have their doors towards the middle, where the corridor is.
            yield x, end * (Z - WALL), 180.0 if end > 0 else 0.0, k >= LONG // 2
    for end in (1, -1):
        for k in range(SHORT):
            z = (k - (SHORT - 1) / 2) * BAY * -end
            yield end * (X - WALL), z, -90.0 if end > 0 else 90.0, k % 2 == 1


def _window(low: float = 0.85, high: float = 2.75, half: float = 1.5) -> list[Piece]:
    """A bay of the facade, its inner face at z = 0, outside towards -z: piers, sill, lintel, and a window's frame."""
    edge = BAY / 2
    pieces = [
        Piece(joined([box((-edge, 0.0, -WALL), (edge, low, 0.0), "-x +x -y")]), BRICK, PAINT),
        Piece(box((-edge, high, -WALL), (edge, STOREY, 0.0), "-x +x"), STONE, PAINT),
        Piece(box((-edge, low, -WALL), (-half, high, 0.0), "-x -y +y"), BRICK, PAINT),
        Piece(box((half, low, -WALL), (edge, high, 0.0), "+x -y +y"), BRICK, PAINT),
        Piece(box((-half - 0.08, low, -WALL - 0.1), (half + 0.08, low + 0.05, 0.06)), STONE, PAINT),
        Piece(box((-0.18 - edge, 0.0, -WALL - 0.12), (0.18 - edge, STOREY, -WALL), "+z -y +y"), BRICK, PAINT),
        Piece(box((-edge, high + 0.12, -WALL - 0.06), (edge, high + 0.3, -WALL), "+z -x +x"), STONE, PAINT),
    ]
    bars = [
        box((-half, low + 0.05, -0.27), (-half + 0.06, high, -0.21)),
        box((half - 0.06, low + 0.05, -0.27), (half, high, -0.21)),
        box((-half + 0.06, high - 0.06, -0.27), (half - 0.06, high, -0.21)),
        box((-half + 0.06, low + 0.05, -0.27), (half - 0.06, low + 0.11, -0.21)),
        box((-0.03, low + 0.11, -0.265), (0.03, high - 0.06, -0.215)),
        box((-half + 0.06, 2.1, -0.262), (half - 0.06, 2.15, -0.218)),
    ]
    return [*pieces, Piece(joined(bars), DARK, METAL)]


def _facade(without: Iterable[int] = ()) -> list[Piece]:
    """The outer walls of a storey, with closed corners."""
    skipped = set(without)
    pieces: list[Piece] = []
    one = _window()
    for index, (x, z, angle, _) in enumerate(bays()):
        if index not in skipped:
            pieces += placed(one, (x, 0.0, z), angle)
    inner_x, end = X - WALL, SHORT / 2 * BAY
    for sx in (-1, 1):
        low, high = sorted((sx * inner_x, sx * X))
        for sz in (-1, 1):
            near, far = sorted((sz * end, sz * Z))
            pieces.append(Piece(box((low, 0.0, near), (high, STOREY, far)), BRICK, PAINT))
    return pieces


def _walls() -> list[Piece]:
    """Walls between rooms, and between rooms and corridors, with doors ajar."""
    pieces: list[Piece] = []
    rng = np.random.default_rng(SEED + 1)
    edge, half, thick = BAY / 2, 0.47, 0.15
    for index, (x, z, angle, left) in enumerate(bays()):
        at = -1.3 if left else 1.3
        corner = index < 2 * LONG and index % LONG in (0, LONG - 1)
        tint = np.asarray(TINTS[index % len(TINTS)])
        parts = [Piece(box((-edge - 0.05, 0.0, 0.0), (-edge + 0.05, CLEAR, DEEP), "-y -z"), PLASTER, PAINT)]
        if corner:
            parts.append(Piece(box((-edge, 0.0, DEEP), (edge, CLEAR, DEEP + thick), "-y"), PLASTER, PAINT))
        else:
            for low, high, bottom in ((-edge, at - half, 0.0), (at + half, edge, 0.0), (at - half, at + half, 2.12)):
                part = box((low, bottom, DEEP), (high, CLEAR, DEEP + thick), "" if bottom else "-y")
                inside = (part.positions[:, 2] == DEEP) & (part.normals[:, 2] < 0)
                parts.append(Piece(part, np.where(inside[:, None], tint, PLASTER), PAINT))
            frame = [box((at - half - 0.06, 0, DEEP - 0.02), (at - half, 2.18, DEEP + thick + 0.02))]
            frame += [box((at + half, 0, DEEP - 0.02), (at + half + 0.06, 2.18, DEEP + thick + 0.02))]
            parts.append(Piece(joined(frame), STEEL, METAL))
            ajar = 90.0 + float(rng.uniform(-75.0, 10.0)) if rng.uniform() < 0.7 else 0.0
            parts += placed(door(), (at - half + 0.02, 0.0, DEEP + 0.06), ajar)
        pieces += placed(parts, (x, 0.0, z), angle)
    # The inner sides of the corridors: walls of the core with wide openings.
    for side in (-1, 1):
        low, high = sorted((side * CORE_X, side * (CORE_X - 0.2)))
        for near, far in ((-CORE_Z, -8.6), (-7.0, -0.8), (0.8, 7.0), (8.6, CORE_Z)):
            pieces.append(Piece(box((low, 0, near), (high, CLEAR, far), "-y"), PLASTER, PAINT))
        inner = WELL_X + GALLERY
        low, high = sorted((side * inner, side * (inner + 0.2)))
        for near, far in ((-CORE_Z, -9.0), (-6.6, -2.4), (2.4, 6.6), (9.0, CORE_Z)):
            pieces.append(Piece(box((low, 0, near), (high, CLEAR, far), "-y"), TINTS[1], PAINT))
        for front in (-1, 1):
            near, far = sorted((front * CORE_Z, front * (CORE_Z - 0.2)))
            spans = ((inner + 0.2, 11.0), (12.4, CORE_X - 0.2))
            for a, b in spans:
                low, high = sorted((side * a, side * b))
                pieces.append(Piece(box((low, 0, near), (high, CLEAR, far), "-y"), PLASTER, PAINT))
    columns = [(sx * (WELL_X + 0.3), sz * (WELL_Z + 0.3)) for sx in (-1, 1) for sz in (-1, 1)]
    columns += [(sx * 2.4, sz * (WELL_Z + 0.3)) for sx in (-1, 1) for sz in (-1, 1)]
    shaft = lathe([(0.26, 0.0), (0.22, 0.06), (0.2, 0.12), (0.2, CLEAR - 0.1), (0.28, CLEAR)], 20)
    for x, z in columns:
        pieces.append(Piece(shaft.moved((x, 0.0, z)), STONE, PAINT))
    return pieces


def _plate(color: ArrayLike, carpet: ArrayLike, well: bool) -> list[Piece]:
    """A floor and, at its own height, the ceiling of the storey below; with an opening in the middle for a ``well``."""
    x, z, pieces = X - WALL, Z - WALL, []
    strips = [((-x, -z), (x, -WELL_Z)), ((-x, WELL_Z), (x, z)), ((-x, -WELL_Z), (-WELL_X, WELL_Z))]
    strips.append(((WELL_X, -WELL_Z), (x, WELL_Z)))
    if not well:
        strips = [((-x, -z), (x, z))]
    for (ax, az), (bx, bz) in strips:
        part = box((ax, -SLAB, az), (bx, 0.0, bz), "-x +x -z +z")
        pieces.append(Piece(part, np.where(part.normals[:, 1:2] > 0, carpet, color), PAINT))
    if well:
        rim = [
            quads(
                [
                    [
                        (s * WELL_X, -SLAB, -s * WELL_Z),
                        (s * WELL_X, -SLAB, s * WELL_Z),
                        (s * WELL_X, 0, s * WELL_Z),
                        (s * WELL_X, 0, -s * WELL_Z),
                    ]
                ]
            )
            for s in (-1, 1)
        ]
        rim += [
            quads(
                [
                    [
                        (s * WELL_X, -SLAB, s * WELL_Z),
                        (-s * WELL_X, -SLAB, s * WELL_Z),
                        (-s * WELL_X, 0, s * WELL_Z),
                        (s * WELL_X, 0, s * WELL_Z),
                    ]
                ]
            )
            for s in (-1, 1)
        ]
        rim = [Part(part.positions, -part.normals, part.triangles[:, ::-1]) for part in rim]
        pieces.append(Piece(joined(rim), STONE, PAINT))
    # A paler strip along the corridors.
    for s in (-1, 1):
        outer = CORE_Z + 2.05
        low, high = sorted((s * CORE_Z, s * outer))
        pieces.append(
            Piece(
                quads(
                    [
                        [
                            (-x + DEEP, 0.004, low),
                            (-x + DEEP, 0.004, high),
                            (x - DEEP, 0.004, high),
                            (x - DEEP, 0.004, low),
                        ]
                    ]
                ),
                TILE,
                PAINT,
            )
        )
        low, high = sorted((s * CORE_X, s * (x - DEEP)))
        pieces.append(
            Piece(
                quads([[(low, 0.004, -CORE_Z), (low, 0.004, CORE_Z), (high, 0.004, CORE_Z), (high, 0.004, -CORE_Z)]]),
                TILE,
                PAINT,
            )
        )
    return pieces


def storey() -> Mesh:
    """A storey but the lowest, open in the middle: walls, floor, lamps of the corridors."""
    return collected("storey", [*_facade(), *_walls(), *_plate(PLASTER, CARPET, well=True), *_corridor_lamps()])


def ground_floor() -> Mesh:
    """The lowest storey, with a chequered floor and the entrance."""
    pieces = [*_facade(ENTRANCE), *_walls(), *_corridor_lamps()]
    x, z = X - WALL, Z - WALL
    side = 1.22
    i, k = (part.ravel() for part in np.meshgrid(np.arange(40), np.arange(32), indexing="ij"))
    corner = np.stack([i * side - x, 0 * i, k * 2 * z / 32 - z], axis=-1)
    steps = np.array([[0, 0, 0], [0, 0, 2 * z / 32], [side, 0, 2 * z / 32], [side, 0, 0]])
    tone = np.where(((i + k) % 2 == 0)[:, None], TILE, STONE)
    pieces.append(Piece(quads(corner[:, None] + steps), np.repeat(tone, 4, axis=0), PAINT))
    # The entrance: posts, a lintel, and doors that stand open.
    lintel = box((-BAY, 2.75, Z - WALL), (BAY, STOREY, Z))
    posts = [box((px - 0.15, 0.0, Z - WALL), (px + 0.15, 2.75, Z)) for px in (-BAY + 0.15, BAY - 0.15)]
    pieces.append(Piece(joined([lintel, *posts]), STONE, PAINT))
    pieces.append(Piece(box((-BAY - 0.2, 2.62, Z - 0.6), (BAY + 0.2, 2.75, Z + 0.2)), DARK, METAL))
    for px, angle in ((-3.7, 100.0), (-0.15, 75.0), (0.15, 105.0), (3.7, 80.0)):
        pieces += placed(door(), (px, 0.0, Z - 0.2), angle)
    return collected("ground floor", pieces)


def _corridor_lamps() -> list[Piece]:
    pieces: list[Piece] = []
    lamp = offices.ceiling_lamp()
    for s in (-1, 1):
        for x in np.linspace(-15.0, 15.0, 7):
            pieces += placed(lamp, (x, CLEAR, s * (CORE_Z + 1.0)), 90.0)
        for z in np.linspace(-9.0, 9.0, 4):
            pieces += placed(lamp, (s * (CORE_X + 1.1), CLEAR, z))
    return pieces


def gallery() -> Mesh:
    """The railing around the well, except where the stairs arrive."""
    rails, posts = [], []
    gap = 0.9  # half, where a bridge arrives
    lines = [((-WELL_X, s * WELL_Z), (WELL_X, s * WELL_Z)) for s in (-1, 1)]
    for s in (-1, 1):
        for near, far in ((-WELL_Z, -0.95 - gap), (-0.95 + gap, 0.95 - gap), (0.95 + gap, WELL_Z)):
            if far - near > 0.2:
                lines.append(((s * WELL_X, near), (s * WELL_X, far)))
    for (ax, az), (bx, bz) in lines:
        a, b = np.array([ax, 0.0, az]), np.array([bx, 0.0, bz])
        for height, size in ((1.05, 0.03), (0.12, 0.012)):
            rails.append(sweep([a + [0, height, 0], (a + b) / 2 + [0, height, 0], b + [0, height, 0]], size * ring(8)))
        count = max(int(np.linalg.norm(b - a) / 0.125), 1)
        at = a + (b - a) * (np.arange(count + 1) / count)[:, None]
        posts.append(boxes(at - [0.009, 0.0, 0.009], at + [0.009, 1.04, 0.009]))
    return collected("gallery", [Piece(joined(rails), (0.30, 0.16, 0.07), WOOD), Piece(joined(posts), DARK, METAL)])


def stairs() -> Mesh:
    """A flight through the well from the left up to the right, between two bridges, at z = -0.95."""
    z, half, steps = -0.95, 0.8, 20
    rise, run = STOREY / steps, 0.30
    start = -steps * run / 2
    pieces = [
        Piece(box((-WELL_X, -0.14, z - half), (start, 0.0, z + half)), STONE, PAINT),
        Piece(box((-start, STOREY - 0.14, z - half), (WELL_X, STOREY, z + half)), STONE, PAINT),
    ]
    k = np.arange(steps)
    low = np.stack([start + k * run, (k + 1) * rise - 0.06, 0 * k + z - half], axis=-1)
    pieces.append(Piece(boxes(low, low + [run + 0.03, 0.06, 2 * half]), (0.36, 0.21, 0.10), WOOD))
    x = np.linspace(-WELL_X, WELL_X, 29)
    at = np.linspace(-WELL_X + 0.1, WELL_X - 0.1, 100)
    for side in (-1, 1):
        edge = z + side * (half - 0.03)
        points = np.stack([x, _slope(x, start, run * steps), 0 * x + edge], axis=-1)
        pieces.append(Piece(sweep(points + [0.0, 1.0, 0.0], 0.028 * ring(8)), (0.30, 0.16, 0.07), WOOD))
        beam = np.array([(start, -0.16, edge), (0.0, STOREY / 2 - 0.16, edge), (-start, STOREY - 0.16, edge)])
        pieces.append(Piece(sweep(beam, 0.07 * ring(6)), DARK, METAL))
        base = np.stack([at, _slope(at, start, run * steps), 0 * at + edge], axis=-1)
        pieces.append(Piece(boxes(base - [0.008, 0.0, 0.008], base + [0.008, 0.98, 0.008]), DARK, METAL))
    return collected("stairs", pieces)


def _slope(x: Array, start: float, length: float) -> Array:
    """The height of a flight of stairs at x, rounded at both ends."""
    rounding = 0.12
    bend = [rounding * np.logaddexp(0.0, (x - at) / rounding) for at in (start, start + length)]
    return np.asarray((bend[0] - bend[1]) * STOREY / length)


def shell() -> Mesh:
    """Plinth, roof, parapet, and a lantern of beams over the atrium: the top and bottom of the bounding box."""
    ex, top, ez = EDGES[0] / 2, EDGES[1], EDGES[2] / 2
    roof = PLINTH + STOREYS * STOREY
    pieces = [Piece(box((-ex, 0.0, -ez), (ex, PLINTH - 0.002, ez)), STONE, PAINT)]
    strips = [(-X, -Z, X, -WELL_Z), (-X, WELL_Z, X, Z), (-X, -WELL_Z, -WELL_X, WELL_Z), (WELL_X, -WELL_Z, X, WELL_Z)]
    for ax, az, bx, bz in strips:
        part = box((ax, roof - SLAB, az), (bx, roof, bz), "-x +x -z +z")
        pieces.append(Piece(part, np.where(part.normals[:, 1:2] > 0, DARK, PLASTER), PAINT))
    parapet = [
        *(box((-X - 0.1, roof - 0.2, s * Z - 0.2), (X + 0.1, roof + 0.8, s * Z + 0.1)) for s in (-1, 1)),
        *(box((s * X - 0.15, roof - 0.2, -Z), (s * X + 0.15, roof + 0.8, Z)) for s in (-1, 1)),
    ]
    pieces.append(Piece(joined(parapet), STONE, PAINT))
    curb = [
        *(
            box(
                (-WELL_X - 0.2, roof - SLAB, s * (WELL_Z + 0.1) - 0.1),
                (WELL_X + 0.2, roof + 0.7, s * (WELL_Z + 0.1) + 0.1),
            )
            for s in (-1, 1)
        ),
        *(
            box((s * (WELL_X + 0.1) - 0.1, roof - SLAB, -WELL_Z), (s * (WELL_X + 0.1) + 0.1, roof + 0.7, WELL_Z))
            for s in (-1, 1)
        ),
    ]
    pieces.append(Piece(joined(curb), PLASTER, PAINT))
    beams = []
    for x in np.linspace(-WELL_X, WELL_X, 11):
        for s in (-1, 1):
            path = [(x, roof + 0.65, s * WELL_Z), (x, (roof + 0.65 + top) / 2, s * WELL_Z / 2), (x, top - 0.07, 0.0)]
            beams.append(sweep(path, np.array([0.05, 0.07]) * ring(4), up=(1, 0, 0)))
    beams.append(box((-WELL_X, top - 0.14, -0.06), (WELL_X, top, 0.06)))
    for s in (-1, 1):
        middle = (roof + 0.65 + top) / 2
        beams.append(
            box((-WELL_X, middle - 0.05, s * WELL_Z / 2 - 0.04), (WELL_X, middle + 0.05, s * WELL_Z / 2 + 0.04))
        )
    pieces.append(Piece(joined(beams), STEEL, METAL))
    plant = [(-18.0, 6.0), (-14.0, 6.0), (13.0, -8.0), (17.5, -8.0), (15.0, 10.0)]
    for x, z in plant:
        pieces.append(Piece(box((x - 1.3, roof, z - 1.0), (x + 1.3, roof + 1.0, z + 1.0)), STEEL, METAL))
        fan = lathe([(0.6, 0.0), (0.6, 0.25), (0.52, 0.25), (0.5, 0.05), (0.0, 0.05)], 24)
        pieces.append(Piece(fan.moved((x, roof + 1.0, z)), DARK, METAL))
    return collected("roof and plinth", pieces)


# -- building ----------------------------------------------------------------------------------------------------------


def build() -> Scene:
    """The building: 1,511,124 triangles seen, 158,578 stored."""
    meshes = [shell(), storey(), ground_floor(), gallery(), stairs()]
    instances = [Instance(0, name="roof and plinth"), Instance(2, _at(0.0, PLINTH, 0.0), name="ground floor")]
    for level in range(1, STOREYS):
        y = PLINTH + level * STOREY
        instances.append(Instance(1, _at(0.0, y, 0.0), name=f"floor {level}"))
        instances.append(Instance(3, _at(0.0, y, 0.0), name=f"gallery {level}"))
    for level in range(STOREYS - 1):
        angle = 180.0 * (level % 2)
        instances.append(Instance(4, _at(0.0, PLINTH + level * STOREY, 0.0, angle), name=f"stairs {level}"))
    first = len(meshes)
    meshes += [offices.office(variant, mirror) for variant in range(OFFICES) for mirror in (False, True)]
    rng = np.random.default_rng(SEED)
    for level in range(STOREYS):
        y = PLINTH + level * STOREY
        for index, (x, z, angle, left) in enumerate(bays()):
            if level == 0 and index in ENTRANCE:
                continue
            mesh = first + 2 * int(rng.integers(OFFICES)) + left
            instances.append(Instance(mesh, _at(x, y, z, angle), name=f"office {level}-{index:02d}"))
    rooms = [offices.laboratory(0), offices.laboratory(1), offices.lounge(), offices.library()]
    start = len(meshes)
    meshes += rooms
    side = (CORE_X + WELL_X + GALLERY) / 2 + 0.1
    for level in range(STOREYS):
        y = PLINTH + level * STOREY
        for k, (x, angle) in enumerate(((-side, 0.0), (side, 180.0))):
            instances.append(Instance(start + (level + k) % 2, _at(x, y, 0.0, angle), name=f"laboratory {level}-{k}"))
        between = (CORE_Z + WELL_Z + GALLERY) / 2
        if level:
            instances.append(Instance(start + 2, _at(0.0, y, between), name=f"lounge {level}"))
        instances.append(Instance(start + 3, _at(0.0, y, -between, 180.0), name=f"library {level}"))
    meshes.append(offices.lobby())
    instances.append(Instance(len(meshes) - 1, _at(0.0, PLINTH, 0.0), name="lobby"))
    return Scene(meshes, instances, _materials(), _cameras(), name="building")


def _materials() -> list[Material]:
    return [
        Material("paint"),
        Material("wood", kind="phong", specular=0.04, exponent=60.0),
        Material("metal", kind="phong", specular=0.25, exponent=80.0),
        Material("cloth", double_sided=True),
        Material("leaves", double_sided=True),
        Material("lamp", (0.8, 0.8, 0.8, 1.0), emission=(15.0, 12.6, 9.6)),
        Material("screen", (0.05, 0.05, 0.05, 1.0), emission=(0.5, 0.75, 1.1)),
    ]


def _cameras() -> list[Camera]:
    floor = PLINTH + 3 * STOREY
    return [
        Camera((47.0, 15.0, 60.0), (0.0, 11.5, 2.0), fov=48, name="outside"),
        Camera((-9.9, floor + 1.75, -11.3), (-12.6, floor + 0.45, -5.0), fov=56, name="inside"),
        Camera((-6.8, PLINTH + 4 * STOREY + 1.7, 4.8), (4.5, PLINTH + 2 * STOREY, -4.0), fov=80, name="atrium"),
        Camera((20.9, floor + 1.6, -1.1), (24.2, floor + 0.85, 0.7), fov=68, name="office"),
        Camera((5.6, PLINTH + 1.7, 8.6), (-2.5, PLINTH + 6.0, -3.0), fov=80, name="lobby"),
    ]


def _at(x: float, y: float, z: float, angle: float = 0.0) -> np.ndarray:
    matrix = np.eye(4)
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    matrix[0, 0], matrix[0, 2], matrix[2, 0], matrix[2, 2] = c, s, -s, c
    matrix[:3, 3] = x, y, z
    return matrix
