"""Boxes in tables are a little larger than what they hold: rays run in the planes of flat ones, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from walker import rays, walker

from raystream.accel import bvh_build, primitives
from raystream.accel import bvh_tree as bvh


def test_each_side_moves_by_a_unit_in_the_last_place_and_a_billionth_of_the_scene() -> None:
    low = np.float32([[-8, 0, 2], [0, -1e-12, 5]])
    high = np.float32([[-8, 0, 4], [0, 1e-12, 5]])
    wide = bvh.enlarged(low, high)
    least = 8e-9  # of the largest coordinate, 8
    step = np.float64(2.0**-23)
    expected = np.maximum(np.abs(np.float64([low, high])) * step, least)
    for found, given, way, by in zip(wide, (low, high), (-1, 1), expected, strict=True):
        assert (way * (np.float64(found) - given) > 0).all()  # every one of them, in float32
        # Rounding to float32 may take half of such a step, or add it.
        np.testing.assert_allclose(np.abs(np.float64(found) - given), by, rtol=0.5)


@pytest.mark.parametrize("traversal", bvh.TRAVERSALS)
def test_rays_in_the_plane_of_one_box_s_face_hit_what_lies_across(device: Any, traversal: str) -> None:
    """Triangles stand on the plane z = 0, and rays run in it: with the face of every box, and from before it."""
    k = np.arange(12, dtype=np.float32)
    corners = np.zeros((12, 3, 3), np.float32)
    corners[:, :, 0] = k[:, None]
    corners[:, 1, 1] = corners[:, 2, 2] = 1
    built = bvh_build.build(corners, leaf=1)
    walk = walker(
        device, bvh.module([built], traversal), primitives.triangle_module("watertight", corners, 12.0, built.order)
    )
    given = rays(np.float32([[-1, y, 0] for y in (0.25, 0.5, 0.75)] + [[12, 0.5, 0]]), [[1, 0, 0]] * 3 + [[-1, 0, 0]])
    found = walk(given)
    assert found["triangle"].tolist() == [0, 0, 0, 11] and found["t"].tolist() == [1, 1, 1, 1]
