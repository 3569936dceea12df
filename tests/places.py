"""Small scenes whose light is known: rooms, furnaces, and things in the open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.film.film import Film
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.picture import Picture
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
# Corners of each side, counter-clockwise from outside: -x, +x, -y, +y, -z, +z.
SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
FRONT = Camera((0, 0, 4), (0, 0, 0), fov=35.0)


def material(color: float = 0.8, shines: float = 0.0, **more) -> Material:
    """Grey, shining with the same radiance in every channel."""
    return Material(base_color=(color, color, color, 1.0), emission=(shines, shines, shines), **more)


def flat(corners: NDArray, materials: NDArray | int = 0, name: str = "mesh") -> Mesh:
    """A mesh of triangles (T, 3, 3), each with its own normal."""
    points = np.asarray(corners, np.float32)
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]).astype(np.float64)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    faces = np.arange(3 * len(points)).reshape(-1, 3)
    numbers = np.broadcast_to(np.asarray(materials, np.int32), (len(points),))
    return Mesh(points.reshape(-1, 3), faces, numbers, np.repeat(normals, 3, axis=0).astype(np.float32), name=name)


def quads(corners: NDArray) -> NDArray[np.float32]:
    """(2 Q, 3, 3) triangles of quadrilaterals (Q, 4, 3)."""
    return np.asarray(corners, np.float32)[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 3)


def box(inwards: bool = False) -> NDArray[np.float32]:
    """(12, 3, 3): the cube from -1 to 1; its fronts outside, or inside."""
    sides = quads(BOX[SIDES])
    return sides[:, ::-1] if inwards else sides


def sphere(levels: int = 4) -> NDArray[np.float32]:
    """(8 * 4^levels, 3, 3): an octahedron divided so often and blown up to radius 1; its fronts outside."""
    axes = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], np.float64)
    faces = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]]
    found = axes[np.array(faces)]
    for _ in range(levels):
        a, b, c = found[:, 0], found[:, 1], found[:, 2]
        ab, bc, ca = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a + b, b + c, c + a))
        parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        found = np.concatenate([np.stack(part, axis=1) for part in parts])
    return found.astype(np.float32)


# A square below the ceiling, which shines downwards.
LAMP = quads(np.array([[[-0.5, 0.95, -0.5], [0.5, 0.95, -0.5], [0.5, 0.95, 0.5], [-0.5, 0.95, 0.5]]]))


def scene(meshes: list[Mesh], materials: list[Material], camera: Camera = FRONT, **more) -> Scene:
    """The meshes where they are, seen by that camera."""
    instances = [Instance(number) for number in range(len(meshes))]
    return Scene(meshes, instances, materials, [camera], **more)


def alone(corners: NDArray, one: Material, camera: Camera = FRONT, **more) -> Scene:
    """A thing of one material."""
    return scene([flat(corners)], [one], camera, **more)


def picture(
    scene: Scene | str, size: tuple[int, int], spp: int | None = None, layers: Any = (), **options: Any
) -> Picture:
    """Of a renderer with these options, which serves no more."""
    renderer = Renderer(scene, **options)
    shown = renderer.render(size, spp, layers=layers)
    renderer.release()
    return shown


def film(scene: Scene, size: tuple[int, int], spp: int, **options: Any) -> Film:
    """What a renderer with these options sums up."""
    summed = picture(scene, size, spp, **options).film
    assert summed is not None
    return summed
