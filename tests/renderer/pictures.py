"""What tests of pictures share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from raystream import Picture, Scene
from raystream.film.film import Film

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


def of_two_kinds(scene: Scene) -> Scene:
    """The scene with matte surfaces and a mirror, its textures and lights as they were: less to compile, for tests of
    several programs that are not about the kinds of surfaces."""
    kinds = ["mirror" if number == 1 else "lambert" for number in range(len(scene.materials))]
    materials = [replace(each, kind=kind) for each, kind in zip(scene.materials, kinds, strict=True)]
    return replace(scene, materials=materials)
