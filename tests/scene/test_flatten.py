"""Flattening instances: positions, normals, winding, materials and triangle numbers in world space."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene

TRIANGLE = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])


def matrix(linear, translation=(0, 0, 0)) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3] = linear
    out[:3, 3] = translation
    return out


def geometric(corners: np.ndarray) -> np.ndarray:
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).astype(np.float64)
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def random_scene(seed: int) -> Scene:
    rng = np.random.default_rng(seed)
    scene = Scene(meshes=[], materials=[])
    for _ in range(3):
        positions = rng.normal(size=(12, 3))
        triangles = np.array([rng.permutation(12)[:3] for _ in range(7)])
        scene.meshes.append(Mesh(positions, triangles, materials=rng.integers(0, 5, 7)))
    for _ in range(6):
        scene.instances.append(Instance(int(rng.integers(3)), matrix(rng.normal(size=(3, 3)), rng.normal(size=3) * 10)))
    return scene


@pytest.mark.parametrize("seed", range(6))
def test_corners_are_transformed_in_instance_order(seed):
    scene = random_scene(seed)
    flat = scene.flatten()
    expected, materials, starts = [], [], [0]
    for instance in scene.instances:
        mesh = scene.meshes[instance.mesh]
        world = mesh.positions.astype(np.float64) @ instance.transform[:3, :3].T + instance.transform[:3, 3]
        corners = world[mesh.triangles]
        if np.linalg.det(instance.transform[:3, :3]) < 0:
            corners = corners[:, [0, 2, 1]]
        expected.append(corners)
        materials.append(mesh.materials)
        starts.append(starts[-1] + len(corners))
    # one rounding to float32 of coordinates up to 100
    assert np.allclose(flat.corners(), np.concatenate(expected), atol=1e-5)
    assert np.array_equal(flat.materials, np.concatenate(materials))
    assert flat.instances.tolist() == starts
    assert len(flat) == scene.triangle_count == starts[-1]


@pytest.mark.parametrize("seed", range(6))
def test_normals_agree_with_the_winding_mirrored_and_not(seed):
    """Flat triangles: the vertex normal, taken along, is the world triangle's own normal, facing the same way."""
    rng = np.random.default_rng(seed)
    linear = rng.normal(size=(3, 3))
    for sign in (1, -1):
        scene = Scene([Mesh(TRIANGLE, [[0, 1, 2]])], [Instance(0, matrix(linear * [sign, 1, 1], (1, 2, 3)))])
        flat = scene.flatten()
        assert np.allclose(flat.normals[flat.triangles[0]], geometric(flat.corners())[0], atol=2e-6)


def test_scaled_to_nothing_keeps_numbers_and_finite_normals():
    scene = Scene(
        [Mesh(TRIANGLE, [[0, 1, 2]])], [Instance(0, matrix(np.diag([1, 0, 1]))), Instance(0, matrix(np.zeros((3, 3))))]
    )
    flat = scene.flatten()
    assert len(flat) == 2
    assert np.isfinite(flat.normals).all()


def test_an_instance_may_override_the_material():
    scene = Scene([Mesh(TRIANGLE, [[0, 1, 2]])], [Instance(0), Instance(0, material=4)])
    assert scene.flatten().materials.tolist() == [0, 4]


def test_not_finite_vertices_keep_their_triangles():
    positions = TRIANGLE.copy()
    positions[1, 0] = np.nan
    flat = Scene([Mesh(positions, [[0, 1, 2], [0, 2, 0]])], [Instance(0, matrix(2 * np.eye(3)))]).flatten()
    assert len(flat) == 2
    assert np.isnan(flat.positions).any()


def test_too_far_away_is_refused():
    scene = Scene([Mesh(TRIANGLE, [[0, 1, 2]])], [Instance(0, matrix(1e30 * np.eye(3)))])
    with pytest.raises(ViewerError, match="scale the model down"):
        scene.flatten()


def test_empty_scene():
    flat = Scene().flatten()
    assert len(flat) == 0
    assert flat.corners().shape == (0, 3, 3)


@pytest.mark.parametrize("seed", range(4))
def test_scenes_of_many_meshes_are_as_their_instances_one_by_one(seed):
    """Meshes of equal size are placed together, to the bit as each by itself: with and without colours and coordinates,
    mirrored, repeated, with materials of their own."""
    rng = np.random.default_rng(seed)
    meshes, instances = [], []
    for _ in range(12):
        vertices, faces = (int(each) for each in rng.integers((3, 0), (6, 3)))
        more = {"colors": 4, "uvs": 2, "uvs_1": 2, "tangents": 4, "normals": 3}
        given = {name: rng.random((vertices, width)) for name, width in more.items() if rng.random() < 0.5}
        triangles = rng.integers(0, vertices, (faces, 3))
        meshes.append(Mesh(rng.normal(size=(vertices, 3)), triangles, rng.integers(0, 5, faces), **given))
    for k in range(60):
        place = np.eye(4) if k % 5 == 0 else matrix(rng.normal(size=(3, 3)), rng.normal(size=3))
        instances.append(Instance(int(rng.integers(12)), place, None if k % 3 else k % 4))
    whole = Scene(meshes, instances).flatten()
    singles = [Scene(meshes, [each]).flatten() for each in instances]
    blank = {"uvs_1": (np.zeros, 2), "tangents": (np.zeros, 4), "opacities": (np.ones, None)}
    for name in ("positions", "normals", "colors", "uvs", "materials", *blank):
        parts = [getattr(each, name) for each in singles]
        for k, part in enumerate(parts):
            if part is None:
                make, width = blank[name]
                parts[k] = make((len(singles[k].positions), width)[: 2 if width else 1], np.float32)
        assert getattr(whole, name).tobytes() == np.concatenate(parts).tobytes(), name
    starts = np.cumsum([0, *(len(each.positions) for each in singles)])
    corners = [each.triangles + start for each, start in zip(singles, starts, strict=False)]
    assert np.array_equal(whole.triangles, np.concatenate(corners))
