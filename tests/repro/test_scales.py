"""Scenes in units that make lengths huge or tiny lost their hits, since products of three lengths left float32."""

from __future__ import annotations

import meshes
import numpy as np
import pytest

from raystream import Renderer


@pytest.mark.parametrize("accel", ["bvh", "grid"])
@pytest.mark.parametrize("intersection", ["watertight", "moller-trumbore"])
def test_a_power_of_two_changes_no_hit(intersection: str, accel: str) -> None:
    rng = np.random.default_rng(0)
    corners = rng.uniform(-1, 1, (50, 3, 3)).astype(np.float32)
    origins, directions = rng.uniform(-2, 2, (2, 4000, 3)).astype(np.float32)
    choices = {"intersection": intersection, "accel": accel, "grid": 6, "program": "cast"}
    plain = Renderer(meshes.scene(corners), **choices).trace(origins, directions)
    assert (plain.triangle >= 0).mean() > 0.1
    for power in (-50, -20, 20, 50):  # 1e-15 to 1e15
        renderer = Renderer(meshes.scene(np.ldexp(corners, power)), **choices)
        scaled = renderer.trace(np.ldexp(origins, power), directions)
        assert np.array_equal(scaled.triangle, plain.triangle)
        assert np.array_equal(scaled.distance, np.ldexp(plain.distance, power))
        assert np.array_equal(scaled.barycentrics, plain.barycentrics)
