"""The box around a scene's instances, against every vertex of each."""

from __future__ import annotations

import gc
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raystream.renderer.inputs.settings import Settings
from raystream.scene.geometry import bounds
from raystream.scene.geometry.bounds import bounds_of
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.hierarchy import compose
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.viewport.scene_loader import Glance, prepare_in_worker


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


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0, 1.0), (0.2, 0.5, -0.1, 0.83)])
def test_points_and_lines_have_the_box_of_their_surfaces(turn: tuple[float, ...]) -> None:
    """Of uneven sides, placed askew: that of many triangles on them, which lie within it."""
    ends = np.float32([[0, 0, 0], [3, 1, 0.5], [-1, 2, 4], [0.5, -2, 1]])
    placed = compose([[1.0, -2.0, 3.0]], [turn], [[2.0, 2.0, 2.0]])[0]
    for mesh in (Quadrics.spheres(ends, 0.25), Quadrics.cylinders(ends, np.int32([[0, 1], [1, 2], [2, 3]]), 0.25)):
        near = Scene([mesh.tessellated(96)], [Instance(0, placed)]).bounds()
        low, high = Scene([mesh], [Instance(0, placed)]).bounds()
        assert (low <= near[0] + 1e-5).all() and (high >= near[1] - 1e-5).all()
        np.testing.assert_allclose([low, high], near, atol=2e-3)


TRIANGLE = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many meshes each look at vertices was at."""
    found: list[int] = []
    used = bounds.used_points
    monkeypatch.setattr(bounds, "used_points", lambda meshes: (found.append(len(meshes)), used(meshes))[1])
    return found


def test_vertices_are_looked_at_once_while_a_scene_is_opened(looks: list[int]) -> None:
    """By the camera that frames it, the picture under the headlight, its lights, the pivot."""
    scene, settings = Scene([TRIANGLE], [Instance(0)]), Settings()
    Glance(scene, settings)
    prepare_in_worker(scene, lambda *_: None, settings, pixels=1 << 16)
    assert looks == [1]


def test_what_has_changed_has_other_bounds(looks: list[int]) -> None:
    scene = Scene([TRIANGLE], [Instance(0)])
    box = scene.bounds()
    box += 1.0  # a copy
    assert scene.bounds().tolist() == scene.bounds(ground=False).tolist() == [[0, 0, 0], [1, 1, 0]]
    assert scene.with_parts(lights=[]).bounds().tolist() == [[0, 0, 0], [1, 1, 0]] and looks == [1]
    grounded = scene.on_ground((4.0, 4.0))
    assert grounded.bounds(ground=False).tolist() == [[0, 0, 0], [1, 1, 0]] != grounded.bounds().tolist()
    there = np.eye(4)
    there[0, 3] = 5.0
    moved = scene.moved(np.array([0]), there[None])
    assert moved.bounds()[0].tolist() == [5, 0, 0] and scene.bounds()[0].tolist() == [0, 0, 0]
    scene.instances.append(Instance(0, np.diag([2.0, 2.0, 2.0, 1.0])))
    assert scene.bounds()[1].tolist() == [2, 2, 0]
    scene.instances[1].transform = there
    assert scene.bounds()[1].tolist() == [6, 1, 0]
    scene.meshes[0] = Mesh(TRIANGLE.positions, TRIANGLE.triangles)
    scene.meshes[0].positions = 2 * TRIANGLE.positions
    assert scene.bounds()[1].tolist() == [7, 2, 0] and scene.silhouette().max() == 7


def test_what_is_replaced_is_not_held() -> None:
    scene = Scene([Mesh(TRIANGLE.positions, TRIANGLE.triangles)], [Instance(0)])
    scene.bounds(ground=False), scene.silhouette()
    gone = ref(scene.meshes[0])
    scene = scene.with_parts(meshes=[TRIANGLE])
    gc.collect()
    assert gone() is None
