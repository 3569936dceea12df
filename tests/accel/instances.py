"""Scenes of instances for tests: random transformations, trees of them, and rays through what they show."""

from __future__ import annotations

from typing import Any

import glsl_call
import meshes
import numpy as np
from numpy.typing import NDArray

import raystream
from raystream import Scene
from raystream.kernels.records import GEOMETRY, HIT, RAY
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.scene.geometry.triangles import Triangles
from raystream.scene.hierarchy import compose
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance

# Every structure of two levels: objects, instances.
KINDS = [("two-level-bvh", "auto"), ("two-level-grid", "auto"), ("two-level-bvh", "grid"), ("two-level-grid", "bvh")]


def shapes() -> list[Mesh]:
    """A sphere, a box with flat faces, one triangle, a flat square, an empty mesh, and one with a broken corner."""
    made = [meshes.icosphere(2), meshes.box()]
    found = [Mesh(each.points, each.faces, name=name) for each, name in zip(made, ("sphere", "box"), strict=True)]
    square = np.float32([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]])
    found.append(Mesh(square[:3] + np.float32([0.5, 0.25, 0]), [[0, 1, 2]], name="triangle"))
    found.append(Mesh(square, [[0, 2, 1], [0, 3, 2]], name="square"))
    found.append(Mesh(square, np.zeros((0, 3), np.int32), name="nothing"))
    broken = np.concatenate([made[0].points, np.float32([[np.nan, 0, 0]])])
    faces = np.concatenate([[[0, 1, len(broken) - 1]], made[0].faces])
    found.append(Mesh(broken, faces, name="broken"))
    return found


def random_transforms(rng: np.random.Generator, count: int, spread: float = 4.0) -> NDArray[np.float64]:
    """(count, 4, 4): anywhere, turned, scaled along each axis by its own factor, every third mirrored."""
    scale = rng.uniform(0.4, 1.8, (count, 3)) * np.where(np.arange(count) % 3 == 0, -1, 1)[:, None]
    return compose(rng.uniform(-spread, spread, (count, 3)), rng.normal(size=(count, 4)), scale)


def nested(count: int = 200, seed: int = 5) -> Scene:
    """``count`` instances on a random tree of nodes, five levels at most, scaled unevenly, a third mirrored."""
    rng = np.random.default_rng(seed)
    local, world, depth = random_transforms(rng, count, 3.0), np.empty((count, 4, 4)), np.zeros(count, int)
    for node in range(count):
        parent = int(rng.integers(-1, node)) if node else -1
        if parent < 0 or depth[parent] == 4:
            world[node] = local[node]
            world[node, :3, 3] *= 3
        else:
            world[node], depth[node] = world[parent] @ local[node], depth[parent] + 1
    return scene(world, rng)


def scene(transforms: NDArray[np.float64], rng: np.random.Generator | None = None) -> Scene:
    """Instances of `shapes` in turn, every fifth with a material of its own."""
    found = shapes()
    colors = (rng or np.random.default_rng(1)).uniform(0.1, 0.9, (5, 3))
    materials = [Material(f"color {k}", (*map(float, color), 1.0)) for k, color in enumerate(colors)]
    placed = [
        Instance(k % len(found), matrix, material=k % 5 if k % 5 else None, name=f"instance {k}")
        for k, matrix in enumerate(transforms)
    ]
    return Scene(found, placed, materials, name="instances")


def rays(bounds: NDArray, count: int, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Origins in a box twice as wide as ``bounds`` (2, 3), unit directions at points within."""
    rng = np.random.default_rng(seed)
    low, high = bounds
    origins = rng.uniform(low - (high - low) / 2, high + (high - low) / 2, (count, 3)).astype(np.float32)
    directions = rng.uniform(low, high, (count, 3)) - origins
    return origins, (directions / np.linalg.norm(directions, axis=1, keepdims=True)).astype(np.float32)


def a_hit_of_each(flat: Triangles) -> tuple[NDArray, NDArray[np.intp]]:
    """A record HIT (T,) on each finite triangle of each instance, and the triangles' numbers in the flattened scene."""
    numbers = np.flatnonzero(np.isfinite(flat.corners()).all(axis=(1, 2)))
    owner = np.searchsorted(flat.instances, numbers, side="right") - 1
    hits = np.zeros(len(numbers), HIT.dtype)
    hits["instance"], hits["triangle"] = owner, numbers - flat.instances[owner]
    return hits, numbers


def geometry_at(device: Any, made: PreparedScene, hits: NDArray) -> NDArray:
    """The records GEOMETRY of these hits of rays along +z, by the structure's own module."""
    function = glsl_call.Function(
        device,
        "Geometry at_hit(Ray ray, Hit hit)",
        modules=made.modules(),
        records=[RAY, HIT, GEOMETRY],
        text="Geometry at_hit(Ray ray, Hit hit) { return geometry_at(ray, hit); }",
    )
    rays = np.zeros(len(hits), RAY.dtype)
    rays["direction"] = 0, 0, 1
    (found,) = function(rays, hits)
    return found


def renderer(scene: Scene, kind: tuple[str, str], **options: Any) -> raystream.Renderer:
    """The renderer under one of `KINDS`."""
    return raystream.Renderer(scene, accel=kind[0], top=kind[1], **({"program": "cast"} | options))
