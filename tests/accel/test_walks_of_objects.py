"""Every walk through the trees of several objects, which lie one behind the other in the same tables."""

from __future__ import annotations

import meshes
import numpy as np
import pytest
from instances import rays

import raystream
from raystream import Scene
from raystream.accel import bvh_tree as bvh
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance


@pytest.mark.parametrize("traversal", bvh.TRAVERSALS)
def test_the_hits_of_three_objects_are_those_of_one_scene(traversal: str) -> None:
    """A ball, a box and another ball, side by side, as objects and flattened."""
    made = [meshes.icosphere(1), meshes.box(), meshes.icosphere(2)]
    found = [Mesh(each.points, each.faces) for each in made]
    matrices = [np.eye(4) for _ in made]
    for number, matrix in enumerate(matrices):
        matrix[0, 3] = 2.0 * number
    scene = Scene(found, [Instance(k, matrix) for k, matrix in enumerate(matrices)], [Material()])
    origins, directions = rays(scene.bounds(), 2000)
    hits = []
    for accel in ("two-level-bvh", "bvh"):
        renderer = raystream.Renderer(scene, program="cast", accel=accel, traversal=traversal, machine="singlepass")
        hits.append(renderer.trace(origins, directions))
        renderer.release()
    assert {0, 1, 2} <= set(hits[0].instance.tolist())
    np.testing.assert_array_equal(hits[0].triangle, hits[1].triangle)
    np.testing.assert_array_equal(hits[0].instance, hits[1].instance)
    # Origins are rounded on their way to an object's space: coordinates of up to 8, by 2^-24 of that each.
    np.testing.assert_allclose(hits[0].distance, hits[1].distance, rtol=2e-6, atol=2e-6)
