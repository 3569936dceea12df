"""Scenes that move, for tests of motion blur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import places
from numpy.typing import NDArray

from raystream.renderer.renderer import Renderer
from raystream.scene.animation import Animation, Track
from raystream.scene.camera import Camera
from raystream.scene.deform import Deformation, DeformedMesh, MeshPose, MorphTarget
from raystream.scene.hierarchy import Deformer, Hierarchy, Skin
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh, transforms_of
from raystream.scene.scene import Scene

MOST = 4.5  # standard errors: one value in 150,000 lies farther off
SIZE = (32, 32)
HALF = 0.5  # the square's side over 2
DISTANCE, FOV = 5.0, 30.0
VIEW = Camera((0.0, 0.0, DISTANCE), (0.0, 0.0, 0.0), fov=FOV)
SHINING = Material(emission=(1.0, 1.0, 1.0))
OPTIONS = {"environment": "none", "machine": "singlepass", "program": "path", "depth": 0}
SQUARE = np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
FACES = np.int32([[0, 1, 2], [0, 2, 3]])
FRONT = np.float32([[0, 0, 1]] * 4)


def square(half: float = HALF) -> Mesh:
    return Mesh(SQUARE * np.float32(half), FACES, np.zeros(2, np.int32), FRONT)


def animated(scene: Scene, path: str, values: Sequence[Sequence[float]], **nodes: Any) -> Scene:
    """The scene with an animation of one node, on even keys over a second; nodes : of its instances and so on."""
    hierarchy = Hierarchy.of([-1], np.zeros((1, 3)), **nodes)
    scene.hierarchy = replace(hierarchy, offsets=transforms_of(scene.instances))
    times = np.linspace(0.0, 1.0, len(values))
    scene.animations = [Animation("motion", (Track(0, path, times, np.array(values, np.float64)),))]
    return scene


def sliding() -> Scene:
    """A square that shines, and moves by its side to the right in a second."""
    scene = Scene([square()], [Instance(0)], [SHINING], [VIEW])
    return animated(scene, "translation", [[0, 0, 0], [1, 0, 0]], instance_nodes=[0])


def passing() -> Scene:
    """The same square, at which a camera looks that moves to the left."""
    scene = Scene([square()], [Instance(0)], [SHINING], [VIEW])
    return animated(scene, "translation", [[0, 0, DISTANCE], [-1, 0, DISTANCE]], instance_nodes=[-1], camera_nodes=[0])


def morphing() -> Scene:
    """The same square, moved by a morph target."""
    target = MorphTarget(positions=np.float32([[1, 0, 0]] * 4))
    rest, still = square(), np.zeros((4, 0))
    deformation = Deformation(still.astype(np.int32), still.astype(np.float32), (target,))
    poses = tuple(MeshPose(weights=np.array([weight])) for weight in (0.0, 0.5, 1.0))
    return Scene([DeformedMesh(rest, deformation, poses[0], poses)], [Instance(0)], [SHINING], [VIEW])


def following() -> Scene:
    """The same square, whose vertices follow a joint that slides."""
    joints, weights = np.zeros((4, 1), np.int32), np.ones((4, 1), np.float32)
    pose = MeshPose(joints=np.eye(4)[None])
    scene = Scene([DeformedMesh(square(), Deformation(joints, weights), pose)], [Instance(0)], [SHINING], [VIEW])
    animated(scene, "translation", [[0, 0, 0], [1, 0, 0]], instance_nodes=[-1])
    skin = Skin(np.zeros(1, np.int64), np.eye(4)[None])
    scene.hierarchy = replace(scene.hierarchy, deformers=(Deformer(0, 0, skin),))
    return scene


def quaternion(turn: float) -> tuple[float, float, float, float]:
    """About +Z, in turns."""
    return 0.0, 0.0, float(np.sin(np.pi * turn)), float(np.cos(np.pi * turn))


def turning(turns: float = 0.5) -> Scene:
    """A blade that turns about one of its ends, so far in a second."""
    blade = Mesh(SQUARE * np.float32([0.4, 0.1, 1]) + np.float32([0.5, 0, 0]), FACES, np.zeros(2, np.int32), FRONT)
    scene = Scene([blade], [Instance(0)], [SHINING], [VIEW])
    steps = np.linspace(0.0, turns, 9)
    return animated(scene, "rotation", [quaternion(each) for each in steps], instance_nodes=[0])


def rendered(scene: Scene, spp: int, **options: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The luminance of each pixel (H, W), and its variance."""
    film = places.film(scene, SIZE, spp, **{**OPTIONS, **options})
    return film.mean().mean(axis=-1, dtype=np.float64), film.variance().astype(np.float64)


def stills(scene: Scene, count: int, spp: int, **options: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of pictures at even times of a second, and the variance of that."""
    renderer: Renderer | None = None
    means, noise = [], []
    for k in range(count):
        posed, chosen = scene.posed((k + 0.5) / count), {**OPTIONS, **options, "seed": k}
        if renderer is None:
            renderer = Renderer(posed, **chosen)
        else:
            renderer.update(posed, seed=k)
        film = renderer.render(SIZE, spp=spp).film
        assert film is not None
        means.append(film.mean().mean(axis=-1, dtype=np.float64))
        noise.append(film.variance().astype(np.float64))
    assert renderer is not None
    renderer.release()
    return np.mean(means, axis=0), np.sum(noise, axis=0) / count**2


def swept() -> NDArray[np.float64]:
    """(W,): how much of each pixel of a middle row the sliding square covers, over a second: the box that is its side
    long, over the pixel, over the way."""
    unit = 2 * DISTANCE * np.tan(np.radians(FOV) / 2) / SIZE[0]
    edges = (np.arange(SIZE[0] + 1) - SIZE[0] / 2) * unit

    def covered(x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The integral of the triangle from -1/2 to 3/2, up to x."""
        up, down = np.clip(x + 0.5, 0, 1), np.clip(x - 0.5, 0, 1)
        return up**2 / 2 + down - down**2 / 2

    return np.diff(covered(edges)) / unit


def assert_alike(
    one: tuple[NDArray[np.float64], NDArray[np.float64]],
    other: tuple[NDArray[np.float64], NDArray[np.float64]],
    bias: float = 0.0,
) -> None:
    """Means of pixels with their variances. bias : of the pictures that are compared, which no noise tells of."""
    off = np.abs(one[0] - other[0]) - bias
    assert (off <= MOST * np.sqrt(one[1] + other[1]) + 1e-6).all(), off.max()
