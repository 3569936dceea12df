"""What rounding leaves of a distance of zero is no distance: rays do not hit the triangle that they begin on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream import Renderer, Scene

OPTIONS: dict[str, Any] = {"machine": "singlepass", "accel": "bvh", "intersection": "watertight"}
STEPS = np.float32([2, 4])  # of 2^-22, the last place of a coordinate of 3


@pytest.mark.parametrize("down", [False, True])
def test_a_distance_within_the_rounding_of_the_corners_is_none(down: bool) -> None:
    """A ray along z below a triangle that slants from -1 to 3 along it: 3 times 2^-22 is taken for zero. One at a time,
    with heights that are exact in float32; and scaled by powers of two, which changes nothing."""
    for power in (0, -40):
        for height in STEPS * 2.0**-22:
            corners = np.float32([[-1, -1, -1], [3, -1, 3], [-1, 3, -1]])  # z = x
            corners[:, 2] += height
            assert (corners[:, 2] - height == corners[:, 0]).all()
            if down:
                corners[:, 2] *= -1
            renderer = Renderer(Scene.from_triangles(np.ldexp(corners, power), [[0, 1, 2]]), program="cast", **OPTIONS)
            hits = renderer.trace([[0, 0, 0]], [[0, 0, -1 if down else 1]])
            assert hits.triangle.tolist() == [0 if height > 3 * 2.0**-22 else -1]
            if hits.triangle[0] == 0:
                assert hits.distance[0] == np.ldexp(height, power)
            renderer.release()
