"""What tests of pictures share."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from raystream import Picture, Scene
from raystream.film.film import Film
from raystream.scene.light import Light

MACHINES = (
    {"machine": "singlepass"},
    {"machine": "multipass", "fuse": "ray"},
    {"machine": "multipass", "fuse": "none"},
)


def assert_same(one: Picture, other: Picture) -> None:
    """Bit for bit."""
    assert one.linear.tobytes() == other.linear.tobytes()
    assert one.layers.keys() == other.layers.keys()
    for name, layer in one.layers.items():
        assert layer.dtype == other.layers[name].dtype and layer.tobytes() == other.layers[name].tobytes(), name


def film_of(picture: Picture) -> Film:
    assert picture.film is not None
    return picture.film


def triangles_with_normals() -> Scene:
    """200 triangles with corner normals (some opposite) and colours, and a base colour."""
    rng = np.random.default_rng(1)
    corners = rng.uniform(-1, 1, (200, 1, 3)) + rng.uniform(-0.5, 0.5, (200, 3, 3))
    normals = rng.normal(size=(600, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals[:9] = np.repeat(np.eye(3), 3, axis=0) * np.tile([1, -1, 1], 3)[:, None]
    colors = rng.uniform(0, 1, (600, 3))
    return Scene.from_triangles(
        corners.reshape(-1, 3), np.arange(600).reshape(-1, 3), normals, colors, base_color=(0.9, 0.5, 0.25)
    )


def disc_above_a_speck(
    radius: float = 1.0, height: float = 2.0, corners: int = 64, lights: Sequence[Light] = ()
) -> Scene:
    """A level disc, and far away a speck on the floor."""
    turn = np.linspace(0, 2 * np.pi, corners + 1)[:-1]
    rim = np.stack([radius * np.cos(turn), np.full(corners, height), radius * np.sin(turn)], axis=1)
    positions = np.concatenate([[[0, height, 0]], rim, [[30.0, 0, 0], [30.01, 0, 0], [30.0, 0.01, 0]]])
    k = np.arange(corners)
    fan = np.stack([0 * k, 1 + k, 1 + (k + 1) % corners], axis=1)
    triangles = np.concatenate([fan, corners + np.array([[1, 2, 3]])])
    scene = Scene.from_triangles(positions.astype(np.float32), triangles.astype(np.int32))
    scene.lights.extend(lights)
    return scene


def of_two_kinds(scene: Scene) -> Scene:
    """The scene with matte surfaces and a mirror, its textures and lights as they were: less to compile, for tests of
    several programs that are not about the kinds of surfaces."""
    kinds = ["mirror" if number == 1 else "lambert" for number in range(len(scene.materials))]
    materials = [replace(each, kind=kind) for each, kind in zip(scene.materials, kinds, strict=True)]
    return replace(scene, materials=materials)
