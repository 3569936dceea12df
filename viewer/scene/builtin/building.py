"""A furnished building of seven storeys around an atrium, 1.5 million triangles: large walls, small furniture.

It stands in for the Soda Hall model of T. J. Purcell, *Ray Tracing on a Stream Processor* (2004), section 5.2.1, which
is not free. It has the same triangle count, a similar range of triangle sizes, and a box of its proportions: a grid
with 128 voxels along the shortest side has 250 x 198 x 128 (here +Y, up, is the shortest). Plan, rooms and furniture
are our own. Units are metres.
"""

from __future__ import annotations

import numpy as np

from raystream.scene.builtin.parts import offices, storeys
from raystream.scene.builtin.parts.offices import OFFICES
from raystream.scene.builtin.parts.storeys import CORE_X, CORE_Z, GALLERY, PLINTH, SEED, STOREY, STOREYS, WELL_X, WELL_Z
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Instance
from raystream.scene.scene import Scene


def build() -> Scene:
    """The building: 1,511,124 triangles seen, 158,578 stored."""
    meshes = [storeys.shell(), storeys.storey(), storeys.ground_floor(), storeys.gallery(), storeys.stairs()]
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
        for number, (x, z, angle, left) in enumerate(storeys.bays()):
            if level == 0 and number in storeys.ENTRANCE:
                continue
            mesh = first + 2 * int(rng.integers(OFFICES)) + left
            instances.append(Instance(mesh, _at(x, y, z, angle), name=f"office {level}-{number:02d}"))
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
