"""How many nodes of a known tree a ray visits: the nearer child first, and nothing behind the hit."""

from __future__ import annotations

import numpy as np
import pytest

from raystream import Renderer, Scene

LEVELS = 6  # of a tree of 64 triangles, one in a leaf
# Down to the nearest leaf, and past what waits behind it at each level. A stack holds the children, whose boxes were
# tested with their parents', so that the root is no step of its own, and the last leaf waiting is tested blindly.
STACK, NODES = (2 * LEVELS, 2), (1 + 2 * LEVELS, 1)
EVERY = (2 * 2**LEVELS - 1, 2**LEVELS)
EXPECTED = {
    "stack": (STACK, STACK),
    "octants": (NODES, NODES),
    "escape": (NODES, EVERY),
}  # (steps, tests), from each end


@pytest.mark.parametrize("traversal", EXPECTED)
def test_steps_and_tests_along_a_row_of_walls(traversal: str) -> None:
    """Every ray crosses all boxes; the walk by escape indices is in order from one end alone."""
    count = 2**LEVELS
    walls = np.float32([[[k, -1e3, -1e3], [k, 3e3, -1e3], [k, -1e3, 3e3]] for k in range(count)])
    scene = Scene.from_triangles(walls.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    renderer = Renderer(scene, program="cast", machine="singlepass", build="midpoint", traversal=traversal, fov=10)
    for camera, nearest, expected in zip(
        ("-5,0,0 0,0,0", "90,0,0 0,0,0"), (0, count - 1), EXPECTED[traversal], strict=True
    ):
        renderer.update(camera=camera)
        layers = renderer.render((3, 3), layers=("steps", "tests", "triangle")).layers
        assert (layers["triangle"] == nearest).all()
        assert (layers["steps"] == expected[0]).all() and (layers["tests"] == expected[1]).all()
