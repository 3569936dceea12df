"""The Cornell box from its measurements: Cornell University Program of Computer Graphics, *Cornell Box Data*.

Units are millimetres. The ceiling has the published hole for the light, which fills it and shines down. The colours
are the customary linear sRGB approximation of the measured reflectances and of the light's spectrum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from numpy.typing import ArrayLike

from raystream.scene.builtin.parts.shapes import quads
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene

WHITE, RED, GREEN, LIGHT = range(4)
HEIGHT = 548.8

Corner = tuple[float, float, float]

_HOLE = [(343, HEIGHT, 227), (343, HEIGHT, 332), (213, HEIGHT, 332), (213, HEIGHT, 227)]
_CEILING = [(556, HEIGHT, 0), (556, HEIGHT, 559.2), (0, HEIGHT, 559.2), (0, HEIGHT, 0)]


def _block(height: float, top: Sequence[tuple[float, float]], sides: Sequence[int]) -> list[list[Corner]]:
    """The quadrilaterals of a block: its top (x, z), and in the published order the sides from each of these corners to
    the one before it."""
    high, low = ([(x, y, z) for x, z in top] for y in (height, 0))
    return [high] + [[low[k], high[k], high[k - 1], low[k - 1]] for k in sides]


# Object -> (material, quadrilaterals with the published corners, seen from inside the box or from outside a block).
_OBJECTS: dict[str, tuple[int, ArrayLike]] = {
    "floor": (WHITE, [[(552.8, 0, 0), (0, 0, 0), (0, 0, 559.2), (549.6, 0, 559.2)]]),
    "ceiling": (
        WHITE,
        [[_CEILING[k], _CEILING[(k + 1) % 4], _HOLE[(k + 1) % 4], _HOLE[k]] for k in range(4)],
    ),
    "back_wall": (WHITE, [[(549.6, 0, 559.2), (0, 0, 559.2), (0, HEIGHT, 559.2), (556, HEIGHT, 559.2)]]),
    "right_wall": (GREEN, [[(0, 0, 559.2), (0, 0, 0), (0, HEIGHT, 0), (0, HEIGHT, 559.2)]]),
    "left_wall": (RED, [[(552.8, 0, 0), (549.6, 0, 559.2), (556, HEIGHT, 559.2), (556, HEIGHT, 0)]]),
    "short_block": (WHITE, _block(165, ((130, 65), (82, 225), (240, 272), (290, 114)), (3, 0, 1, 2))),
    "tall_block": (WHITE, _block(330, ((423, 247), (265, 296), (314, 456), (472, 406)), (0, 3, 2, 1))),
    "light": (LIGHT, [_HOLE]),
}


def build() -> Scene:
    """The Cornell box: 38 triangles, 8 objects."""
    meshes = [quads(corners).mesh(name, material) for name, (material, corners) in _OBJECTS.items()]
    # The published camera: focal length 0.035, film 0.025 x 0.025, looking along +Z.
    fov = math.degrees(2 * math.atan(0.025 / 2 / 0.035))
    return Scene(
        meshes,
        [Instance(index, name=mesh.name) for index, mesh in enumerate(meshes)],
        [
            Material("white", (0.725, 0.71, 0.68, 1.0)),
            Material("red", (0.63, 0.065, 0.05, 1.0)),
            Material("green", (0.14, 0.45, 0.091, 1.0)),
            Material("light", (0.78, 0.78, 0.78, 1.0), emission=(17.0, 12.0, 4.0)),
        ],
        [
            Camera((278, 273, -800), (278, 273, 279.6), fov=fov, name="front"),
            Camera((520, 500, -120), (230, 130, 330), fov=60, name="corner"),
            Camera((30, 360, -60), (300, 130, 300), fov=60, name="blocks"),
            Camera((500, 60, 60), (250, 420, 300), fov=75, name="light"),
        ],
        name="cornell",
    )
