"""Objects in very small and very large units, which instances bring to the size of the world."""

from __future__ import annotations

import instances
import meshes
import numpy as np
import pytest

from raystream import Scene
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance


@pytest.mark.parametrize("exponent", [-80, -20, 50])
def test_units_of_a_file_change_no_hit(exponent: int) -> None:
    """Powers of two, so that the object's space is the same to the bit, and so are distances and weights."""
    ball, found = meshes.icosphere(2), []
    for power in (0, exponent):
        mesh = Mesh(np.ldexp(ball.points, power).astype(np.float32), ball.faces)
        matrix = np.diag([*np.ldexp([0.5, 1.0, 2.0], -power), 1.0])
        matrix[:3, 3] = 1, 2, 3
        scene = Scene([mesh], [Instance(0, matrix)], [Material()])
        renderer = instances.renderer(scene, ("two-level-bvh", "auto"), machine="singlepass")
        origins, directions = instances.rays(scene.bounds(), 500)
        found.append(renderer.trace(origins, directions))
        renderer.release()
    assert (found[0].triangle >= 0).mean() > 0.2
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
