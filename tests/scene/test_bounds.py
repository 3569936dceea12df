"""The box around a scene's instances, against every vertex of each."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from viewer.scene.geometry.bounds import bounds_of
from viewer.scene.hierarchy import compose
from viewer.scene.mesh import Mesh
from viewer.scene.scene import Instance, Scene


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_as_of_every_vertex(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=(int(rng.integers(0, 30)), 3)) for _ in range(3)]
    transforms = compose(
        rng.normal(scale=3, size=(count, 3)), rng.normal(size=(count, 4)), rng.choice([-2.0, 0.0, 0.1, 1.0], (count, 3))
    )
    meshes = rng.integers(0, 3, count)
    moved = [points[m] @ t[:3, :3].T + t[:3, 3] for m, t in zip(meshes, transforms, strict=True)]
    everything = np.concatenate(moved)
    found = bounds_of(points, meshes, transforms)
    if not len(everything):
        assert found is None
    else:
        assert found is not None
        assert np.array_equal(found, [everything.min(axis=0), everything.max(axis=0)])


def test_vertices_that_are_not_finite_or_in_no_triangle_do_not_count() -> None:
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9], [np.nan, 0, 0]], [[0, 1, 2], [0, 1, 4]])
    assert Scene([mesh], [Instance(0)]).bounds().tolist() == [[0, 0, 0], [1, 1, 0]]
    beyond = np.diag([1e308, 1e308, 1e308, 1.0])
    beyond[0, 3] = 1.7e308
    assert Scene([mesh], [Instance(0), Instance(0, beyond)]).bounds()[1].max() == 1.7e308
    assert Scene().bounds().tolist() == [[0, 0, 0], [0, 0, 0]]
