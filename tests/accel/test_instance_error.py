"""The bound of a position's rounding error on instances, by which rays keep off the surface that they leave."""

from __future__ import annotations

from typing import Any

import instances
import numpy as np
import pytest

from raystream.renderer.inputs.prepared import prepare

UNIT = 2.0**-19  # of the bound, see `position_error` in shaders/lib/triangle_point.glsl


@pytest.mark.parametrize("away", [0.0, 1e4])
def test_the_bound_is_that_of_the_maps_there_and_back(device: Any, away: float) -> None:
    """Against float64, for instances turned, mirrored and unevenly scaled; at 1e4 the place has most of it, 0.02."""
    rng = np.random.default_rng(5)
    transforms = instances.random_transforms(rng, 24)
    transforms[:, :3, 3] += away * (-1.0) ** np.arange(24)[:, None]  # on both sides: the scene's middle is its origin
    scene = instances.scene(transforms)
    hits, _ = instances.a_hit_of_each(scene.flatten())
    hits["barycentric"] = weights = rng.dirichlet([1, 1, 1], len(hits))[:, 1:].astype(np.float32)
    at = instances.geometry_at(device, prepare(scene, accel="two-level-bvh"), hits)

    owner = hits["instance"]
    of_mesh = [scene.meshes[instance.mesh] for instance in scene.instances]
    corners = np.stack(
        [of_mesh[o].positions[of_mesh[o].triangles[t]] for o, t in zip(owner, hits["triangle"], strict=True)]
    )
    corners = corners.astype(np.float64)
    weights = weights.astype(np.float64)
    local = (
        corners[:, 0] * (1 - weights.sum(axis=1))[:, None]
        + corners[:, 1] * weights[:, :1]
        + corners[:, 2] * weights[:, 1:]
    )
    linear, place = transforms[owner, :3, :3], transforms[owner, :3, 3]
    turned = np.einsum("nij,nj->ni", linear, local)
    assert (np.abs(at["position"] - turned - place).max(axis=1) <= at["error"]).all()
    there = np.einsum("nij,nj->ni", np.abs(linear), np.abs(corners).max(axis=1))
    back = np.einsum("nij,njk,nk->ni", np.abs(linear), np.abs(np.linalg.inv(linear)), np.abs(turned))
    size = np.maximum(there, back) + np.abs(place)
    sides = corners[:, 1:] - corners[:, :1]
    side = np.abs(sides).max(axis=(1, 2))
    across = np.abs(np.cross(sides[:, 0], sides[:, 1])).max(axis=1) / side**2
    stretch = np.abs(linear).sum(axis=2).max(axis=1) * side / np.clip(across, 1e-3, 1.0)
    expected = UNIT * (size.max(axis=1) + 0.1 * stretch)
    # The position less its place again, of which the bound takes the size, has 2^-24 of the place's 1e4 as its error.
    np.testing.assert_allclose(at["error"], expected, rtol=1e-3)
    assert not away or (at["error"] > 0.9 * UNIT * away).all()
