"""Benchmark scenes of light transport."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import raystream
from benchmarks.scenes import Absent, _file, shared
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

# Corners of a level square of half-width 1; counter-clockwise from above.
_LEVEL = np.array([[-1, 0, 1], [1, 0, 1], [1, 0, -1], [-1, 0, -1]], np.float64)
_QUAD = np.array([[0, 1, 2], [0, 2, 3]])


def cornell() -> Scene:
    """The Cornell box of the references, 38 triangles; its lamp covers a twentieth of the ceiling."""
    return raystream.load(str(_file(shared() / "refs" / "cornell.glb")))


def bunny() -> Scene:
    """The bunny of the references on its ground under a square lamp."""
    return raystream.load(str(_file(shared() / "refs" / "bunny_ground.glb")))


def dragon() -> Scene:
    """The dragon on a ground plane under an area light, like the references' bunny: height 1, the same lamp, and a
    camera tilted down by 14 degrees."""
    scene = raystream.load(str(_file(shared() / "scenes" / "dragon.ply")))
    low, high = scene.bounds()
    scale = 1.0 / (high[1] - low[1])
    place = np.diag([scale, scale, scale, 1.0])
    place[:3, 3] = -scale * np.array([(low[0] + high[0]) / 2, low[1], (low[2] + high[2]) / 2])
    scene.instances[0].transform = place
    scene.materials = [
        Material("dragon", (0.7, 0.7, 0.7, 1.0)),
        Material("ground", (0.5, 0.5, 0.5, 1.0)),
        Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=(20.0, 20.0, 20.0)),
    ]
    centre = np.array([1.5, 3.0, 2.0])
    down = (np.array([0.0, 0.5, 0.0]) - centre) / np.linalg.norm(np.array([0.0, 0.5, 0.0]) - centre)
    right = np.cross(down, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    lamp = centre + _LEVEL[:, :1] * right + _LEVEL[:, 2:] * np.cross(down, right)
    for corners, material in ((_LEVEL * 10.0, 1), (lamp, 2)):
        triangles = _QUAD if material == 1 else _facing(lamp, down)
        scene.meshes.append(Mesh(corners.astype(np.float32), triangles, np.full(2, material, np.int32)))
        scene.instances.append(Instance(len(scene.meshes) - 1))
    scene.cameras = [Camera((0.0, 1.05, 2.2), (0.0, 0.5, 0.0), fov=40.0, name="dragon")]
    scene.name = "dragon_ground"
    return scene


def _facing(corners: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The square's triangles, wound to face a direction."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    return _QUAD if normal @ direction > 0 else _QUAD[:, ::-1]


SCENES: dict[str, Callable[[], Scene]] = {"cornell": cornell, "bunny": bunny, "dragon": dragon}


def found(names: tuple[str, ...]) -> tuple[dict[str, Scene], list[str]]:
    """The scenes on this machine, and a remark on each missing one."""
    scenes, missing = {}, []
    for name in names:
        try:
            scenes[name] = SCENES[name]()
        except Absent as error:
            missing.append(f"{name}: {error}")
    return scenes, missing
