"""An instance squeezed to a millionth of its width was missed where its object lies in a grid: a ray passes through it
between two float32 distances. It is put into the world, as what is flat."""

from __future__ import annotations

import numpy as np
import pytest

from raystream import Renderer, Scene
from raystream.scene.scene import Instance


@pytest.mark.parametrize("accel", ["two-level-bvh", "two-level-grid"])
def test_a_box_as_thin_as_rounding_is_hit(device, accel: str) -> None:
    rng = np.random.default_rng(0)
    triangles = rng.uniform(-1, 1, (40, 3, 3))
    flat = Scene.from_triangles(triangles.reshape(-1, 3), np.arange(120).reshape(-1, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    scene = Scene(flat.meshes, [], flat.materials)
    for squeeze in (1.0, 1e-6):
        place = np.eye(4)
        place[:3, :3], place[:3, 3] = turn @ np.diag([6.0, 3.0, squeeze]), (-4, 94, 105)
        scene.instances.append(Instance(0, place))
    scene.instances = scene.instances[1:]
    targets = (rng.dirichlet([1, 1, 1], 40)[:, :, None] * triangles).sum(axis=1)
    inside = targets @ scene.instances[0].transform[:3, :3].T + scene.instances[0].transform[:3, 3]
    origins = rng.normal(size=(40, 3)) * 20
    hits = [
        Renderer(scene, device=device, program="cast", machine="singlepass", accel=name).trace(
            origins, inside - origins
        )
        for name in (accel, "bvh")
    ]
    assert (hits[1].triangle >= 0).mean() > 0.9
    # which of the triangles in that plane is the nearest is within rounding
    assert ((hits[0].triangle >= 0) == (hits[1].triangle >= 0)).all()
    hit = hits[1].triangle >= 0
    np.testing.assert_allclose(hits[0].distance[hit], hits[1].distance[hit], rtol=1e-5)
