"""20,000 materials took 39 s to tell a scene from another, and 300,000 instances of one triangle, a million empty ones
and 50,000 meshes more than 90 s to prepare: bounds, normals, flattening and what is known of meshes were found one by
one, and the last by a search through all meshes before."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from counting import python_calls

from raystream.materials import surface_features
from raystream.renderer.inputs.prepared import prepare
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

CORNERS = np.float32([(0, 0, 0), (1, 0, 0), (0, 1, 0)])


def materials(count: int) -> Scene:
    scene = Scene.from_triangles(CORNERS, [(0, 1, 2)])
    return replace(scene, materials=[Material(f"m{k}", (k / count, 0.5, 0.5, 1.0)) for k in range(count)])


def instances(count: int) -> Scene:
    places = np.tile(np.eye(4), (count, 1, 1))
    places[:, 0, 3] = np.arange(count)
    scene = Scene.from_triangles(CORNERS, [(0, 1, 2)])
    return replace(scene, instances=[Instance(0, place) for place in places])


def empty_instances(count: int) -> Scene:
    scene = Scene.from_triangles(np.zeros((0, 3)), np.zeros((0, 3), int))
    return replace(scene, instances=[Instance(0) for _ in range(count)])


def meshes(count: int) -> Scene:
    shapes = [Mesh(CORNERS + (k, 0, k % 7), [(0, 1, 2)]) for k in range(count)]
    return Scene(shapes, [Instance(k) for k in range(count)])


@pytest.mark.parametrize(("make", "most"), [(materials, 600), (instances, 50), (empty_instances, 40), (meshes, 200)])
def test_calls_of_each(make: Callable[[int], Scene], most: int) -> None:
    """Whatever NumPy does with a triangle, a call of it takes a microsecond: there are some by the part, not more of
    them where there are more parts."""

    def calls(count: int) -> int:
        scene = make(count)
        return python_calls(lambda: prepare(scene).fingerprint)

    calls(2000)  # loops are compiled
    few, some, many = calls(500), calls(2000), calls(3500)
    print(f"{make.__name__}: {(some - few) / 1500:.1f} and {(many - some) / 1500:.1f} calls each")
    assert (some - few) / 1500 < most
    assert (many - some) / 1500 < most


def test_bounds_of_a_row_of_meshes() -> None:
    """All reach equally far along y: they are examined together."""
    scene = meshes(3000)
    assert python_calls(scene.bounds) < 20 * 3000
    np.testing.assert_array_equal(scene.bounds(), [(0, 0, 0), (3000, 1, 6)])


def test_bounds_of_a_row_of_equal_instances_are_exact() -> None:
    """All reach equally far along y, so that each had to be examined."""
    scene = instances(1000)
    scene.instances[700].transform[1, 3] = 1e-6
    np.testing.assert_array_equal(scene.bounds(), [(0, 0, 0), (1000, 1 + 1e-6, 0)])


def test_what_is_known_of_a_mesh_goes_with_it() -> None:
    meshes = [Mesh(CORNERS + k, [(0, 1, 2)]) for k in range(50)]
    before = set(surface_features._smooth_cache)
    assert not any(surface_features.is_smooth(mesh) for mesh in meshes)
    assert len(set(surface_features._smooth_cache) - before) == 50
    keys = {id(mesh) for mesh in meshes}
    meshes.clear()
    gc.collect()
    assert not keys & set(surface_features._smooth_cache)
