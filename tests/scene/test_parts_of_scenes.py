"""Nodes, objects, variants, animations, references, arrays and flattening of scenes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.scene.animation import Animation, Track, place_camera, place_light
from raystream.scene.camera import Camera
from raystream.scene.hierarchy import Hierarchy, unit_quaternions
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from tests.refusals import refusal
from tests.scene.unit_square import POINTS, TWO, at, square

AHEAD = Camera((0, 0, 0), (0, 0, -1), fov=90)


def test_cameras_and_lights_on_nodes() -> None:
    matrix = np.array([[0, 0, 1e200, 1], [0, 2, 0, 2], [-1, 0, 0, 3], [0, 0, 0, 1]], float)
    camera = place_camera(replace(AHEAD, name="a"), matrix)
    assert (camera.origin, camera.target, camera.up) == ((1, 2, 3), (0, 2, 3), (0, 2, 0)) and camera.name == "a"
    light = place_light(Light("spot", "a", intensity=(1, 2, 3)), matrix)
    assert (light.position, light.direction, light.intensity) == ((1, 2, 3), (-1, 0, 0), (1, 2, 3))
    for broken in (np.zeros((4, 4)), at(0, 0, 1e20)):
        with pytest.raises(ViewerError):
            place_camera(AHEAD, broken)


def test_quaternions_of_any_length() -> None:
    given = [[0, 0, 0, 0], [0, 0, 0, 2], [3, 0, 4, 0], [1e200, 0, 0, 1e200], [1e-200, 0, 0, 0], [0, -5, 0, 0]]
    half = math.sqrt(0.5)
    wanted = [[0, 0, 0, 1], [0, 0, 0, 1], [0.6, 0, 0.8, 0], [half, 0, 0, half], [1, 0, 0, 0], [0, -1, 0, 0]]
    np.testing.assert_allclose(unit_quaternions(given), wanted, rtol=1e-15)


def test_objects_by_name_and_place() -> None:
    here, there = np.eye(4), at(1, 0, 0)
    instances = [Instance(0, here, name="a"), Instance(0, here.copy(), name="a"), Instance(0, there, name="a")]
    instances += [Instance(0, here, name="b"), Instance(0, here), Instance(0, here)]
    scene = Scene([square()], instances)
    assert [scene.parts(number) for number in range(6)] == [[0, 1], [0, 1], [2], [3], [4], [5]]
    scene.hierarchy = Hierarchy.of([-1, 0, 0, 1, -1], np.zeros((5, 3)), [0, 1, 3, 2, 4, -1])
    assert [scene.parts(number) for number in range(6)] == [[0, 1, 2, 3], [0, 1, 2], [2], [3], [4], [5]]


def varied() -> Scene:
    meshes = [square(), square(), square()]
    return Scene(
        meshes,
        [Instance(0), Instance(1, material=3), Instance(2), Instance(1, at(1, 0, 0))],
        [Material(str(k)) for k in range(4)],
        variants={"day": {0: 1}, "10": {0: 2, 1: 2}, "": {}},
    )


@pytest.mark.parametrize(
    ("variant", "name", "materials"),
    [
        (None, None, [None, 3, None, None]),
        ("day", "day", [1, None, None, None]),
        ("1", "10", [2, 2, None, 2]),
        (1, "10", [2, 2, None, 2]),
        ("10", "10", [2, 2, None, 2]),
        (10, "10", [2, 2, None, 2]),
        ("", "", [None, None, None, None]),
    ],
)
def test_variants_by_name_or_number(variant: Any, name: str | None, materials: list[int | None]) -> None:
    scene = varied()
    found = scene.with_variant(variant)
    assert found.variant == name and [each.material for each in found.instances] == materials
    assert found is scene if variant is None else found.with_variant(variant) is found
    assert scene.variant is None and scene.instances[1].material == 3


@pytest.mark.parametrize("variant", ["night", 3, "3", -1, "-1", "\u0661", "1.0"])
def test_variants_that_are_not_there(variant: Any) -> None:
    with pytest.raises(ViewerError, match=rf"no variant '{variant}' \(variants: 0 'day', 1 '10', 2 ''\)"):
        varied().with_variant(variant)
    with pytest.raises(ViewerError, match="variants: none"):
        Scene().with_variant(variant)


@pytest.mark.parametrize(
    ("given", "number"), [("b", 1), (1, 1), ("0", 0), ("2", 0), (2, 2), ("c", None), (3, None), ("-1", None)]
)
def test_animations_by_name_or_number(given: Any, number: int | None) -> None:
    """A name before a number."""
    track = Track(0, "translation", np.array([0.0, 2.0]), np.zeros((2, 3)))
    names = ("2", "b", "x")
    scene = Scene(animations=[Animation(name, (track,) * (name == "b")) for name in names])
    if given == 2 and isinstance(given, int):
        scene.play(given)
        assert scene.animation == 2 and scene.duration == 0
    with refusal(rf"no animation '{given}' \(animations: 0 '2', 1 'b', 2 'x'\)" if number is None else ""):
        scene.play(given)
        assert scene.animation == number and scene.duration == (2 if number == 1 else 0)


@pytest.mark.parametrize(
    ("instances", "materials", "words"),
    [
        ([Instance(0), Instance(1)], [Material()], "instance 1 names mesh 1"),
        ([Instance(-1)], [Material()], "instance 0 names mesh -1"),
        ([Instance(0, material=1)], [Material()], "instance 0 names material 1"),
        ([Instance(0)], [], "mesh 0, triangle 0 names material 0"),
        ([Instance(0)], [Material(), Material(texture=0)], "material 1, use 0 names texture 0"),
        ([Instance(0)], [Material(normal_texture=-1)], "material 0, use 0 names texture -1"),
        ([Instance(0)], [Material()], ""),
        ([Instance(0, material=0)], [Material()], ""),
        ([], [], ""),
    ],
)
def test_references_of_scenes(instances: list[Instance], materials: list[Material], words: str) -> None:
    scene = Scene([square()], instances, materials)
    with refusal(words):
        scene.check()


def test_the_triangle_of_a_wrong_material_is_named() -> None:
    meshes = [square(), square(materials=[0, 1]), square(materials=[5, 5])]
    scene = Scene(meshes, [Instance(0), Instance(1)], [Material()])
    with pytest.raises(ViewerError, match=r"mesh 1, triangle 1 names material 1 \(there are 1, numbered from 0\)"):
        scene.check()
    scene.materials *= 2
    scene.check()  # what no instance shows may name anything
    scene.instances.append(Instance(2, material=0))
    scene.check()  # and what is overridden


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"vertices": [[0, 0]] * 4}, r"vertices have shape \(4, 2\), expected \(N, 3\)"),
        ({"vertices": [[1e39, 0, 0]] * 4}, "vertices hold a number that is too large"),
        ({"vertices": [[1j, 0, 0]] * 4}, "vertices are complex128, expected real numbers"),
        ({"faces": [[0, 1, 9]]}, "triangle 0 names vertices"),
        ({"faces": [[0.5, 1, 2]]}, "faces are float64, expected whole numbers"),
        ({"faces": [[0, 1, 2, 3]]}, r"faces have shape \(1, 4\)"),
        ({"colors": [[0, 0, 0]] * 3}, "3 colors for 4 vertices"),
        ({"colors": [[0, 0]] * 4}, r"colors have shape \(4, 2\), expected \(N, 3\) or \(N, 4\)"),
        ({"colors": [[0, 0, 1.0011]] * 4}, "colors reach from 0 to 1.0011"),
        ({"base_color": (1, 2)}, "base_color have shape"),
    ],
)
def test_arrays_that_are_no_mesh(arguments: dict, words: str) -> None:
    with pytest.raises(ViewerError, match=words):
        Scene.from_triangles(**{"vertices": POINTS, "faces": TWO, **arguments})


def test_scenes_of_arrays() -> None:
    scene = Scene.from_triangles(POINTS, TWO, [[0, 0, 1]] * 4, [[1.001, 0.5, 0]] * 4, (0.1, 0.2, 0.3), "a")
    (mesh,) = scene.meshes
    assert (scene.name, mesh.name, scene.materials[0].base_color) == ("a", "a", (0.1, 0.2, 0.3, 1))
    np.testing.assert_array_equal(mesh.colors, np.float32([[1.001, 0.5, 0, 1]] * 4))
    np.testing.assert_array_equal(mesh.normals, [[0, 0, 1]] * 4)
    np.testing.assert_array_equal(
        Scene.from_triangles(POINTS, TWO, colors=[[0, 0, 0, 0.5]] * 4).meshes[0].colors[:, 3], 0.5
    )
    lost = Scene.from_triangles([[math.nan, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [1, 2, 3]])
    assert lost.warnings == ["triangles: 1 of 2 triangles have corners that are not finite"]
    assert Scene.from_triangles([], []).warnings == ["triangles: no triangles"] and scene.warnings == []


@pytest.mark.parametrize(
    ("field", "shape"),
    [("normals", (4, 2)), ("uvs", (3, 2)), ("colors", (4, 3)), ("uvs_1", (4, 3)), ("tangents", (4, 3))],
)
def test_attributes_of_other_shapes(field: str, shape: tuple[int, int]) -> None:
    with pytest.raises(ViewerError, match=rf"{field} have shape \({shape[0]}, {shape[1]}\), expected \(4, "):
        square(**{field: np.zeros(shape)})


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
