"""Scenes by tables: what cameras see, limits of lights and materials, parts, variants, culling, colours and shapes."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from viewer.base.errors import ViewerError
from viewer.scene.animation import Animation, Track, place_camera, place_light, turntable
from viewer.scene.camera import Camera
from viewer.scene.classic import ClassicMaterial, ClassicTexture
from viewer.scene.color import linear_texels
from viewer.scene.edits.alone import is_single_object
from viewer.scene.edits.classic_plane import GLASS, POLISHED, on_plane, tiles
from viewer.scene.edits.culling import culled, culled_of_objects, culls
from viewer.scene.edits.movable import movable_lights, with_light_at
from viewer.scene.edits.smooth import has_smooth_meshes, is_smooth
from viewer.scene.edits.vertex_colors import colorings, decided_materials
from viewer.scene.environment import ConstantEnvironment, ImageEnvironment, cached_by_pixels, check_pixels
from viewer.scene.geometry.attributes import opacities, second_coordinates, tangents
from viewer.scene.geometry.batches import alike, batches, joined, offsets, ranges
from viewer.scene.geometry.ground import ground_transform
from viewer.scene.geometry.normals import face_normals
from viewer.scene.geometry.transform import transform_normals, transform_points, transform_tangents
from viewer.scene.hierarchy import Hierarchy, compose, levels, unit_quaternions
from viewer.scene.light import Light, luminance
from viewer.scene.material import Material
from viewer.scene.mesh import Mesh, quiet_nans
from viewer.scene.quadric import Quadric, QuadricShape, check_map
from viewer.scene.scene import Instance, Scene
from viewer.scene.texture import Image, Texture, uv_transform

POINTS = np.float32([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])


def square(**more: Any) -> Mesh:
    return Mesh(POINTS, TWO, **more)


def at(x: float, y: float, z: float, size: float = 1.0) -> np.ndarray:
    matrix = np.diag([size, size, size, 1.0])
    matrix[:3, 3] = x, y, z
    return matrix


# Cameras

AHEAD = Camera((0, 0, 0), (0, 0, -1), fov=90)


def box(x: float, y: float, z: float, half: float = 1.0) -> list[list[float]]:
    return [[x - half, y - half, z - half], [x + half, y + half, z + half]]


@pytest.mark.parametrize(
    ("bounds", "seen"),
    [
        (box(0, 0, -10), True),
        (box(0, 0, 10), False),
        (box(0, 0, 0.99), True),  # it is in the box
        (box(0, 0, 1), False),  # that ends where it stands
        (box(0, 11.9, -10), True),  # 45 degrees up: 11 at most at its far side
        (box(0, 12.1, -10), False),
        (box(0, -11.9, -10), True),
        (box(0, -12.1, -10), False),
        (box(22.9, 0, -10), True),  # twice as wide
        (box(23.1, 0, -10), False),
        (box(-22.9, 0, -10), True),
        (box(-23.1, 0, -10), False),
        (box(0, 0, -86), True),  # its radius is sqrt(3): at least 0.02 of the distance
        (box(0, 0, -87), False),
        ([[0, 0, -5], [0, 0, -5]], True),
        ([[math.inf] * 3, [-math.inf] * 3], True),
        ([[1, 1, 1], [-1, -1, -1]], True),
    ],
)
def test_what_a_camera_sees(bounds: list[list[float]], seen: bool) -> None:
    assert AHEAD.sees(bounds) == seen
    # Whichever way it looks.
    turned = Camera((5, 6, 7), (6, 6, 7), fov=90)
    low, high = np.array(bounds, float)
    moved = np.stack([np.array([-low[2], low[1], low[0]]), np.array([-high[2], high[1], high[0]])])
    moved = np.sort(moved, axis=0) if np.isfinite(moved).all() and (low <= high).all() else moved
    assert turned.sees(moved + (5, 6, 7)) == seen


@pytest.mark.parametrize(
    ("fov", "z", "seen"), [(20, -490, True), (20, -493, False), (120, -49, True), (120, -51, False)]
)
def test_how_small_it_may_be(fov: float, z: float, seen: bool) -> None:
    """sqrt(3) over the distance against 0.02 tan(fov / 2)."""
    assert AHEAD.with_fov(fov).sees(box(0, 0, z)) == seen


def test_scenes_whose_camera_sees_nothing_are_framed() -> None:
    scene = Scene(
        [square()], [Instance(0)], cameras=[replace(AHEAD, name="own", origin=(0, 0, -9), target=(0, 0, -10))]
    )
    found = scene.framed()
    assert [camera.name for camera in found.cameras] == ["framing", "own"] and len(scene.cameras) == 1
    assert found.warnings == ["scene: camera 'own' sees nothing: the scene is framed (--camera 'own' takes it)"]
    assert found.cameras[0].sees(scene.bounds()) and scene.warnings == []
    right = replace(scene, cameras=[replace(AHEAD, origin=(0, 0, 9))])
    assert right.framed() is right
    moving = replace(scene, animations=[Animation("a")])
    none = replace(scene, cameras=[])
    assert moving.framed() is moving and none.framed() is none


@pytest.mark.parametrize(
    ("field", "value", "right"),
    [
        *((("aperture", value, True)) for value in (0, 1e18, 0.5)),
        *((("aperture", value, False)) for value in (-1e-9, 1.1e18, math.nan, "wide", None)),
        *((("focus", value, True)) for value in (1e-18, 1e18, None)),
        *((("focus", value, False)) for value in (0.9e-18, 1.1e18, math.inf, "far", -1)),
        *((("origin", value, False)) for value in ("abc", (1, 2), (1, 2, 3, 4), (1, 2, None), (math.nan, 0, 0))),
        *((("up", value, False)) for value in ((0, 0, 0), 5)),
        ("fov", 179.9, True),
        ("fov", 1e-3, True),
    ],
)
def test_numbers_of_a_camera(field: str, value: Any, right: bool) -> None:
    if right:
        made = replace(AHEAD, **{field: value})
        assert getattr(made, field) == value
    else:
        with pytest.raises(ViewerError):
            replace(AHEAD, **{field: value})


def test_focus_is_the_target_s_distance_unless_given() -> None:
    camera = Camera((1, 2, 3), (1, 5, 7))
    assert camera.focus_distance == 5 and camera.with_lens(focus=2).focus_distance == 2
    assert Camera((0, 0, 0), (1e-20, 0, 0)).focus_distance == 1e-18
    assert Camera((0, 0, 0), (1e20, 0, 0)).focus_distance == 1e18
    lens = camera.with_lens(0.5, 4)
    assert (lens.aperture, lens.focus) == (0.5, 4)
    assert (lens.with_lens().aperture, lens.with_lens(aperture=0).focus, lens.with_lens(focus=1).aperture) == (
        0.5,
        4,
        0.5,
    )


@pytest.mark.parametrize("aspect", [1e-9, 1e-3, 0.25, 1, 2])
def test_framing_fits_the_narrower_side(aspect: float) -> None:
    camera = Camera.framing([[-1, -1, -1], [1, 1, 1]], 40, (0, 0, 1), aspect=aspect)
    slope = math.tan(math.radians(20)) / 1.1 * min(max(aspect, 1e-3), 1)
    assert camera.origin == pytest.approx((0, 0, 1 + 1 / slope), rel=1e-9) and camera.target == (0, 0, 0)
    assert (camera.fov, camera.name) == (40, "camera")


def test_framing_of_wide_boxes_and_by_default() -> None:
    """A picture wider than high shows as much as a square one; from the right, a little above."""
    wide = [[-3, -1, -1], [3, 1, 1]]
    assert Camera.framing(wide, aspect=2) == Camera.framing(wide) == Camera.framing(wide, aspect=9)
    found = Camera.framing(wide, name="a")
    away = np.subtract(found.origin, found.target)
    np.testing.assert_allclose(away / away[2], (0.35, 0.25, 1), rtol=1e-12)
    assert (found.fov, found.name, found.target) == (40, "a", (0, 0, 0))
    empty = Camera.framing([[1, 1, 1], [0, 0, 0]])
    assert empty == Camera.framing([[-0.5] * 3, [0.5] * 3])


def test_cameras_of_a_scene_by_name() -> None:
    cameras = [replace(AHEAD, name=name) for name in ("a", "b")]
    scene = Scene([square()], [Instance(0)], cameras=cameras)
    assert scene.camera() is cameras[0] and scene.camera("b") is cameras[1]
    with pytest.raises(ViewerError, match=r"no camera 'c' \(cameras: a, b; or give"):
        scene.camera("c")
    bare = Scene([square()], [Instance(0)])
    assert bare.camera() == Camera.framing(bare.bounds()) and bare.camera(aspect=0.5) != bare.camera()
    with pytest.raises(ViewerError, match="cameras: none"):
        bare.camera("c")


@pytest.mark.parametrize(
    ("share", "origin"),
    [
        (0, (3, 5, 4)),
        (1, (3, 5, 4)),
        (0.25, (5, 5, 0)),
        (0.5, (1, 5, -2)),
        (0.75, (-1, 5, 2)),
        (-0.25, (-1, 5, 2)),
        (1.25, (5, 5, 0)),
    ],
)
def test_turns_of_the_table(share: float, origin: tuple[float, ...]) -> None:
    """About the middle (2, ., 1), from +Z towards +X: (1, 3) becomes (3, -1), and so on."""
    camera = Camera((3, 5, 4), (2, 0, 1), name="a", aperture=0.5, focus=2)
    found = turntable(camera, [[0, 0, 0], [4, 9, 2]], share)
    assert found.origin == origin and found.target == (2, 0, 1) and found.up == (0, 1, 0)
    assert (found.name, found.aperture, found.focus, found.fov) == ("a", 0.5, 2, 40)


def test_an_eighth_of_a_turn() -> None:
    found = turntable(Camera((0, 1, 2), (0, 0, 1), up=(0, 1, 1)), np.zeros((2, 3)), 0.125)
    half = math.sqrt(0.5)
    np.testing.assert_allclose(found.origin, (2 * half, 1, 2 * half))
    np.testing.assert_allclose(found.up, (half, 1, half))


def test_cameras_and_lights_on_nodes() -> None:
    matrix = np.array([[0, 0, 1e200, 1], [0, 2, 0, 2], [-1, 0, 0, 3], [0, 0, 0, 1]], float)
    camera = place_camera(replace(AHEAD, name="a"), matrix)
    assert (camera.origin, camera.target, camera.up) == ((1, 2, 3), (0, 2, 3), (0, 2, 0)) and camera.name == "a"
    light = place_light(Light("spot", "a", intensity=(1, 2, 3)), matrix)
    assert (light.position, light.direction, light.intensity) == ((1, 2, 3), (-1, 0, 0), (1, 2, 3))
    for broken in (np.zeros((4, 4)), at(0, 0, 1e20)):
        with pytest.raises(ViewerError):
            place_camera(AHEAD, broken)


# Hierarchies


@pytest.mark.parametrize(
    ("parents", "found"),
    [
        ([], [[]]),
        ([-1], [[0]]),
        ([-1, -1], [[0, 1]]),
        ([-1, 0, 0, 1, -1, 4, 3], [[0, 4], [1, 2, 5], [3], [6]]),
        ([-1, 0, 1, 2], [[0], [1], [2], [3]]),
    ],
)
def test_levels_of_trees(parents: list[int], found: list[list[int]]) -> None:
    made = [level.tolist() for level in levels(np.array(parents, np.int64))]
    assert made == [each for each in found if each] or made == found


def test_quaternions_of_any_length() -> None:
    given = [[0, 0, 0, 0], [0, 0, 0, 2], [3, 0, 4, 0], [1e200, 0, 0, 1e200], [1e-200, 0, 0, 0], [0, -5, 0, 0]]
    half = math.sqrt(0.5)
    wanted = [[0, 0, 0, 1], [0, 0, 0, 1], [0.6, 0, 0.8, 0], [half, 0, 0, half], [1, 0, 0, 0], [0, -1, 0, 0]]
    np.testing.assert_allclose(unit_quaternions(given), wanted, rtol=1e-15)


@pytest.mark.parametrize("axis", range(3))
def test_quarter_turns(axis: int) -> None:
    """About each axis the next one turns into the one behind it; scales come first, translations last."""
    quaternion = np.zeros(4)
    quaternion[axis] = quaternion[3] = math.sqrt(0.5)
    scale = np.array([2.0, 3.0, 5.0])
    (matrix,) = compose([[7, 8, 9]], [quaternion], [scale])
    after, last = (axis + 1) % 3, (axis + 2) % 3
    expected = np.zeros((4, 4))
    expected[axis, axis], expected[last, after], expected[after, last] = scale[axis], scale[after], -scale[last]
    expected[:, 3] = 7, 8, 9, 1
    np.testing.assert_allclose(matrix, expected, atol=1e-14)


def test_hierarchies_by_default() -> None:
    tree = Hierarchy.of([-1, 0], [[1, 0, 0], [0, 2, 0]], [1], [0], light_nodes=[1])
    assert list(tree.names) == ["", ""] and tree.offsets is None
    np.testing.assert_array_equal(tree.world()[:, :3, 3], [[1, 0, 0], [1, 2, 0]])
    assert [each.tolist() for each in (tree.instance_nodes, tree.camera_nodes, tree.light_nodes)] == [[1], [0], [1]]
    made = Hierarchy.of([-1], [[0, 0, 0]], [0], rotation=[[0, 0, 1, 0]], scale=[[2, 3, 4]], names=["a"])
    np.testing.assert_allclose(made.world()[0], np.diag([-2, -3, 4, 1.0]), atol=1e-15)
    assert list(made.names) == ["a"]


# Parts and variants of scenes


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
        (0, "day", [1, None, None, None]),
        ("1", "10", [2, 2, None, 2]),
        (1, "10", [2, 2, None, 2]),
        ("10", "10", [2, 2, None, 2]),
        (10, "10", [2, 2, None, 2]),
        ("", "", [None, None, None, None]),
        (2, "", [None, None, None, None]),
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
    elif number is None:
        with pytest.raises(ViewerError, match=rf"no animation '{given}' \(animations: 0 '2', 1 'b', 2 'x'\)"):
            scene.play(given)
    else:
        scene.play(given)
        assert scene.animation == number and scene.duration == (2 if number == 1 else 0)


# Checks


@pytest.mark.parametrize(
    ("instances", "materials", "words"),
    [
        ([Instance(0), Instance(1)], [Material()], "instance 1 names mesh 1"),
        ([Instance(-1)], [Material()], "instance 0 names mesh -1"),
        ([Instance(0, material=1)], [Material()], "instance 0 names material 1"),
        ([Instance(0, material=-1)], [Material()], "instance 0 names material -1"),
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
    if words:
        with pytest.raises(ViewerError, match=words):
            scene.check()
    else:
        scene.check()


def test_textures_in_use_are_there() -> None:
    scene = Scene(
        [square()], [Instance(0)], [Material(texture=0, normal_texture=1)], textures=[Texture(Image.white())] * 2
    )
    scene.check()
    scene.textures.pop()
    with pytest.raises(ViewerError, match=r"material 0, use 1 names texture 1 \(there are 1"):
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
        ({"vertices": ["a"]}, "vertices are not numbers"),
        ({"vertices": [[1e39, 0, 0]] * 4}, "vertices hold a number that is too large"),
        ({"vertices": [[1j, 0, 0]] * 4}, "vertices are complex128, expected real numbers"),
        ({"faces": [[0, 1, 9]]}, "triangle 0 names vertices"),
        ({"faces": [[0, 1, -1]]}, "triangle 0 names vertices"),
        ({"faces": [[0.5, 1, 2]]}, "faces are float64, expected whole numbers"),
        ({"faces": [[0, 1, 2, 3]]}, r"faces have shape \(1, 4\)"),
        ({"colors": [[0, 0, 0]] * 3}, "3 colors for 4 vertices"),
        ({"colors": [[0, 0]] * 4}, r"colors have shape \(4, 2\), expected \(N, 3\) or \(N, 4\)"),
        ({"colors": [[0, 0, 1.0011]] * 4}, "colors reach from 0 to 1.0011"),
        ({"colors": [[0, 0, -0.1]] * 4}, "colors reach from -0.1 to 0"),
        ({"normals": [[0, 0, 1]] * 3}, "normals have shape"),
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


def test_quiet_nans_keep_the_rest() -> None:
    values = np.float32([1, np.nan, -0.0, np.inf])
    found = quiet_nans(values)
    np.testing.assert_array_equal(found, values)
    assert found.dtype == np.float32 and np.signbit(found[2])
    whole = np.float32([1, 2])
    assert quiet_nans(whole) is whole


# Lights and environments


@pytest.mark.parametrize(
    ("field", "value", "right"),
    [
        ("position", (1e18, -1e18, 0), True),
        ("position", (1.1e18, 0, 0), False),
        ("position", (0, -1.1e18, 0), False),
        ("position", (0, 0), False),
        ("position", "abc", False),
        ("position", None, False),
        ("intensity", (1e30, 0, 0), True),
        ("intensity", (1.1e30, 0, 0), False),
        ("intensity", (0, 0, -1e-9), False),
        ("intensity", (math.nan, 0, 0), False),
        ("direction", (0, 0, 0), False),
        ("direction", (math.inf, 0, 0), False),
        ("kind", "area", False),
        ("outer", math.pi / 2, True),
        ("outer", math.pi / 2 + 1e-9, False),
        ("outer", 0.1, False),
        ("inner", 0.0, True),
        ("inner", -1e-9, False),
        ("inner", math.pi / 4, False),
    ],
)
def test_numbers_of_a_light(field: str, value: Any, right: bool) -> None:
    spot = Light("spot", inner=0.1)
    if right:
        assert getattr(replace(spot, **{field: value}), field) == value
    else:
        with pytest.raises(ViewerError):
            replace(spot, **{field: value})


def test_directions_and_luminance() -> None:
    for given in ((3, 0, 4), (3e200, 0, 4e200), (3e-200, 0, 4e-200)):
        assert Light("spot", direction=given).direction == pytest.approx((0.6, 0, 0.8), rel=1e-15)
    assert luminance([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]).tolist() == pytest.approx(
        [0.2126, 0.7152, 0.0722, 1]
    )
    # No cone angle of a point or a direction is looked at.
    assert Light("point", inner=9, outer=1).solid_angle == 4 * math.pi and Light("directional").solid_angle == 0


@pytest.mark.parametrize(("inner", "outer"), [(0, math.pi / 4), (0.2, 0.6), (0.1, 0.1 + 1e-6), (0, 0.01)])
def test_falloff_of_spots(inner: float, outer: float) -> None:
    scale, offset = Light("spot", inner=inner, outer=outer).falloff
    wide = max(0.001, math.cos(inner) - math.cos(outer))
    assert scale == pytest.approx(1 / wide) and math.cos(outer) * scale + offset == pytest.approx(0, abs=1e-9)


def test_environments_in_all_directions() -> None:
    """Of one texel for each of eight directions: the middle column faces +X, right of it +Z; row 0 is around +Y."""
    pixels = np.zeros((4, 8, 3), np.float32)
    pixels[..., 0], pixels[..., 1] = np.arange(8), np.arange(4)[:, None]
    image = ImageEnvironment(pixels)

    def seen(u: float, v: float) -> list[float]:
        angle, polar = (u - 0.5) * 2 * math.pi, v * math.pi
        ring = math.sin(polar)
        direction = np.array([[ring * math.cos(angle), math.cos(polar), ring * math.sin(angle)]])
        return image.radiance(direction)[0, :2].tolist()

    for column in range(8):
        for row in range(4):
            assert seen((column + 0.5) / 8, (row + 0.5) / 4) == pytest.approx([column, row], abs=1e-9)
    assert seen(4 / 8, 0.5) == pytest.approx([3.5, 1.5]) and seen(0, 0.5)[0] == pytest.approx(3.5)  # 7 and 0
    assert seen(0.3, 1e-9)[1] == pytest.approx(0) and seen(0.3, 1 - 1e-9)[1] == pytest.approx(3)  # clamped
    turned = image.rotated(90)
    np.testing.assert_allclose(turned.radiance(np.array([[0.0, 0, -1]])), image.radiance(np.array([[1.0, 0, 0]])))
    assert turned.original is image and turned.rotated(20).original is image and turned.rotated(20).rotation == 20


@pytest.mark.parametrize(
    ("degrees", "turn"),
    [(0, (1, 0)), (90, (0, 1)), (180, (-1, 0)), (270, (0, -1)), (360, (1, 0)), (-90, (0, -1)), (450, (0, 1))],
)
def test_exact_turns(degrees: float, turn: tuple[float, float]) -> None:
    assert ImageEnvironment(np.ones((1, 2, 3), np.float32)).rotated(degrees).turn == turn
    c, s = ImageEnvironment(np.ones((1, 2, 3), np.float32)).rotated(degrees + 30).turn
    angle = math.radians(degrees + 30)
    assert (c, s) == pytest.approx((math.cos(angle), math.sin(angle)), abs=1e-12)


def test_flux_of_cells() -> None:
    rng = np.random.default_rng(4)
    image = ImageEnvironment(rng.random((3, 4, 3)).astype(np.float32))
    light = image.pixels.astype(np.float64) @ [0.2126, 0.7152, 0.0722]
    solid = (np.cos(np.arange(3) / 3 * np.pi) - np.cos(np.arange(1, 4) / 3 * np.pi)) * 2 * np.pi / 4
    np.testing.assert_allclose(image.solid_angles(), solid)
    for row in range(3):
        for column in range(4):
            rows, columns = [max(row - 1, 0), row, min(row + 1, 2)], [column - 1, column, (column + 1) % 4]
            mean = np.array([1, 6, 1]) / 8 @ light[np.ix_(rows, columns)] @ (np.array([1, 6, 1]) / 8)
            assert image.cell_flux()[row, column] == pytest.approx(mean * solid[row], rel=1e-6)
    assert image.flux == pytest.approx(image.cell_flux().sum()) == image.rotated(50).flux
    assert ConstantEnvironment((1, 2, 3)).flux == pytest.approx(4 * math.pi * (0.2126 + 2 * 0.7152 + 3 * 0.0722))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1e-9, "is negative"),
        (1.1e30, "is too bright"),
        (math.nan, "is not a number"),
        (math.inf, "is too bright"),
        (1e30, ""),
        (0, ""),
    ],
)
def test_pixels_that_are_no_light(value: float, words: str) -> None:
    pixels = np.ones((3, 4, 3), np.float32)
    pixels[1, 2, 1] = pixels[2, 0, 0] = value
    if words:
        with pytest.raises(ViewerError, match=rf"here: pixel \(2, 8\) {words}: 1, "):
            check_pixels(pixels, "here", 7)
    else:
        check_pixels(pixels, "here", 7)


def test_results_of_pixels_are_kept_for_read_only_ones() -> None:
    calls: list[ImageEnvironment] = []

    def make(image: ImageEnvironment) -> int:
        calls.append(image)
        return len(calls)

    made, image = cached_by_pixels(make), ImageEnvironment(np.ones((1, 2, 3), np.float32))
    assert [made(image), made(image)] == [1, 2]
    image.pixels.flags.writeable = False
    assert [made(image), made(image), made(image.rotated(9))] == [3, 3, 3] and calls[2] is image


def test_moved_lights() -> None:
    lamp = Material("lamp", emission=(0, 0, 1))
    lights = [Light("point", "a", (1, 2, 3)), Light("directional", "sun", direction=(0, -2, 0)), Light("spot", "a")]
    meshes = [Mesh(np.concatenate([POINTS, POINTS + 9]), [[0, 1, 2], [4, 5, 6]], [1, 0]), square()]
    instances = [Instance(1), Instance(0, at(1, 1, 1, 2), name="tube"), Instance(1, material=1)]
    scene = Scene(meshes, instances, [Material(), lamp], lights=lights)
    found = [(each.name, each.kind, each.number, each.position) for each in movable_lights(scene)]
    assert found == [
        ("a", "point", 0, (1, 2, 3)),
        ("sun", "directional", 1, (0, 1, 0)),
        ("a", "spot", 2, (0, 0, 0)),
        ("tube", "area", 1, (2, 2, 1)),
        ("mesh", "area", 2, (0.5, 0.5, 0)),
    ]
    assert with_light_at(scene, "a", (7, 8, 9)).lights[0].position == (7, 8, 9)
    assert with_light_at(scene, "sun", (0, 0, 3)).lights[1].direction == (0, 0, -1)
    moved = with_light_at(scene, "tube", (0, 0, 0))
    np.testing.assert_array_equal(moved.instances[1].transform, at(-1, -1, 0, 2))
    assert moved.instances[0] is scene.instances[0] and scene.instances[1].transform[0, 3] == 1
    with pytest.raises(ViewerError, match=r"no light 'b' \(lights: a, sun, tube, mesh\)"):
        with_light_at(scene, "b", (0, 0, 0))


# Materials


@pytest.mark.parametrize(
    ("more", "culling"),
    [
        ({}, True),
        ({"backface_culling": False}, False),
        ({"transmission": 0.1}, False),
        ({"diffuse_transmission": 0.1}, False),
        ({"kind": "dielectric"}, False),
        ({"kind": "classic"}, False),
        ({"kind": "principled"}, True),
        ({"kind": "mirror", "double_sided": True}, True),
    ],
)
def test_materials_that_cull(more: dict, culling: bool) -> None:
    assert culls(Material(**{"backface_culling": True, **more})) == culling


def test_culled_triangles() -> None:
    both, one = Material(), Material(backface_culling=True)
    numbers = np.array([0, 1, 2, -1, 1], np.int32)
    found = culled(numbers, [both, one])
    assert found is not None and found.tolist() == [False, True, False, False, True]
    assert culled(numbers, [both, both]) is None and culled(numbers[:1], [both, one]) is None
    assert culled(np.array([-1], np.int32), [one]) is None
    meshes = [square(materials=[0, 1]), square(materials=[1, 1]), square(materials=[1, 1])]
    scene = Scene(
        meshes, [Instance(0), Instance(1), Instance(1, material=0), Instance(2, material=0), Instance(0)], [both, one]
    )
    of, own = np.array([0, 1, 1, 2, -1], np.int32), np.array([False, False, False, True, False])
    found_of = culled_of_objects(scene, meshes, of, own)
    assert [None if each is None else each.tolist() for each in found_of] == [[False, True], None, [True, True]]
    own[3] = False
    assert culled_of_objects(scene, meshes, of, own)[2] is None
    assert culled_of_objects(scene, meshes, np.array([0, 0, 2, 2, -1], np.int32), own)[1] is None
    shared = Scene(meshes, [Instance(0), Instance(0, material=1)], [both, one])
    (sides, *_) = culled_of_objects(shared, meshes, np.zeros(2, np.int32), np.zeros(2, bool))
    assert sides is not None and sides.tolist() == [False, True]  # by all instances alone
    alone = Scene(meshes, [Instance(1, material=0), Instance(1)], [both, one])
    assert culled_of_objects(alone, meshes, np.array([1, 1], np.int32), np.zeros(2, bool))[1] is None


@pytest.mark.parametrize(
    ("field", "low", "high"),
    [
        ("bias", -1e30, 1e30),
        ("scale", -1e30, 1e30),
        ("power", 0, 1e30),
        ("reflectivity", 0, 1),
        ("transmittance", 0, 1),
        ("thickness", 0, 1e30),
        ("specular", 0, 1),
        ("ambient", 0, 1),
        ("indices", 0.01, 100),
    ],
)
def test_limits_of_classic_materials(field: str, low: float, high: float) -> None:
    three = field in ("specular", "ambient", "indices")
    for value, right in (
        (low, True),
        (high, True),
        (low - 0.005 - abs(low), False),
        (high * 1.01, False),
        (math.nan, False),
    ):
        given = (high, high, value) if three else value
        if right:
            assert getattr(ClassicMaterial(**{field: given}), field) == given
        else:
            with pytest.raises(ViewerError, match=f"classic material: {field} "):
                ClassicMaterial(**{field: given})
    if three:
        with pytest.raises(ViewerError):
            ClassicMaterial(**{field: (high, high)})


def test_kinds_of_classic_materials() -> None:
    assert ClassicMaterial(textures=tuple(ClassicTexture(k) for k in range(8))).textures[7].texture == 7
    for wrong in ({"textures": tuple(ClassicTexture(k) for k in range(9))}, {"thickness_model": "thin"}):
        with pytest.raises(ViewerError):
            ClassicMaterial(**wrong)
    for wrong in ({"mode": "add"}, {"environment": (0, 0, -1)}, {"environment": (0, 0, 2e30)}):
        with pytest.raises(ViewerError, match="classic texture"):
            ClassicTexture(0, **wrong)
    for indices, through, thick, parts, sheet in (
        ((1.5, 1.5, 1.6), 0.5, 1, True, True),
        ((1.5, 1.5, 1.5), 0.5, 0, False, False),
        ((1.5, 1.5, 1.6), 0, 1, False, False),
    ):
        made = ClassicMaterial(indices=indices, transmittance=through, thickness=thick)
        assert (made.parts_channels, made.is_sheet) == (parts, sheet)
        assert Material(kind="classic", classic=made).parts_channels == parts
    plain = Material(
        kind="classic", texture=3, normal_texture=2, classic=ClassicMaterial(textures=(ClassicTexture(5, "decal"),))
    )
    assert plain.layers == (ClassicTexture(3), ClassicTexture(5, "decal")) and plain.texture_numbers == [3, 2, 3, 5]
    assert Material(texture=3).layers == () and Material(texture=3).texture_numbers == [3]
    assert Material(kind="classic").classic == ClassicMaterial()


@pytest.mark.parametrize(
    ("more", "iors"),
    [
        ({}, (1.5, 1.5, 1.5)),
        ({"dispersion": 2}, (1.5, 1.5, 1.5)),
        ({"dispersion": 2, "kind": "dielectric"}, (1.475, 1.5, 1.525)),
        ({"dispersion": 2, "kind": "principled", "transmission": 1, "thickness": 1}, (1.475, 1.5, 1.525)),
        ({"dispersion": 2, "kind": "principled", "transmission": 1}, (1.5, 1.5, 1.5)),
        ({"dispersion": 2, "kind": "principled", "thickness": 1}, (1.5, 1.5, 1.5)),
        ({"dispersion": 100, "kind": "dielectric"}, (1, 1.5, 2.75)),
        ({"ior": 0.5, "kind": "dielectric"}, (0.5, 0.5, 0.5)),
    ],
)
def test_dispersion_of_materials(more: dict, iors: tuple[float, float, float]) -> None:
    """(n - 1) 0.025 dispersion to both sides (KHR_materials_dispersion)."""
    found = Material(**more)
    assert found.iors == pytest.approx(iors) and found.parts_channels == (iors[0] != iors[2])


@pytest.mark.parametrize(("field", "value"), [("kind", "glass"), ("alpha_mode", "OPAQUE")])
def test_unknown_words_of_materials(field: str, value: str) -> None:
    with pytest.raises(ViewerError, match=f"unknown .*'{value}'"):
        Material(**{field: value})


def test_vertex_colors_that_meshes_decide() -> None:
    colored, plain = square(colors=np.ones((4, 4)), materials=[0, 2]), square(materials=[1, 1])
    classic = Material(kind="classic")
    chosen = Material(kind="classic", classic=ClassicMaterial(vertex_colors=False))
    scene = Scene([colored, plain], [Instance(0), Instance(1)], [classic, classic, chosen])
    assert colorings(scene, {0, 1}) == {0: {True}, 1: {False}}
    found = decided_materials(scene)
    assert [each.classic.vertex_colors for each in found if each.classic] == [True, False, False]
    assert found[2] is chosen and scene.materials[0].classic.vertex_colors is None
    assert decided_materials(Scene([colored], [Instance(0)], [chosen] * 3))[0] is chosen
    scene.instances.append(Instance(0, material=1))
    with pytest.raises(ViewerError, match="is on meshes with vertex colours and on some without"):
        decided_materials(scene)
    unused = Scene([colored], [], [classic])
    assert decided_materials(unused)[0].classic.vertex_colors is False


def test_models_of_glass() -> None:
    lamp, brick = (
        Material("lamp", emission=(1, 0, 0)),
        Material("brick", (0.1, 0.2, 0.3, 0.4), texture=0, alpha_mode="mask", alpha_cutoff=0.3),
    )
    own = Material("own", kind="classic")
    image = Texture(Image.white())
    scene = Scene(
        [square(materials=[0, 1]), square(materials=[2, 2])],
        [Instance(0), Instance(1)],
        [lamp, brick, own],
        textures=[image],
    )
    found = on_plane(scene)
    assert found.materials[0] is lamp and found.materials[2] is own and found.textures == [image, tiles()]
    glass, floor = found.materials[1], found.materials[3]
    assert (glass.name, glass.kind, glass.base_color, glass.texture) == ("brick", "classic", brick.base_color, 0)
    assert (glass.alpha_mode, glass.alpha_cutoff) == ("mask", 0.3)
    assert glass.classic == replace(GLASS, vertex_colors=False)
    assert floor.classic == replace(POLISHED, vertex_colors=False, textures=(ClassicTexture(1),))
    again = on_plane(found)
    assert again.materials == found.materials and again.textures == found.textures
    # Three widths of the model, in its heights.
    np.testing.assert_allclose(np.diag(found.instances[found.ground].transform)[[0, 2]], 3)
    high = on_plane(Scene([square()], [Instance(0, np.diag([2.0, 0.5, 1, 1]))], [brick], textures=[image]))
    np.testing.assert_allclose(np.diag(high.instances[high.ground].transform)[[0, 2]], 6)
    colored = Scene([square(colors=np.ones((4, 4)))], [Instance(0)])
    assert on_plane(colored).materials[0].classic == replace(GLASS, vertex_colors=True)


@pytest.mark.parametrize(
    ("bounds", "size", "diagonal", "place"),
    [
        ([[0, 1, 0], [2, 3, 4]], (3, 5), (6, 10), (1, 1, 2)),
        ([[0, 1, 0], [2, 3, 4]], "auto", (40, 40), (1, 1, 2)),
        ([[0, 0, 0], [2, 1, 40]], "auto", (200, 200), (1, 0, 20)),
        ([[0, 0, 0], [50, 1, 4]], "auto", (250, 250), (25, 0, 2)),
        ([[0, 7, 0], [2, 7, 4]], (1, 2), (4, 8), (1, 7, 2)),
        ([[0, 7, 0], [0, 7, 0]], "auto", None, None),
    ],
)
def test_grounds(bounds: list, size: Any, diagonal: tuple | None, place: tuple | None) -> None:
    found = ground_transform(np.array(bounds, float), size)
    if diagonal is None:
        assert found is None
    else:
        np.testing.assert_array_equal(
            found, [[diagonal[0], 0, 0, place[0]], [0, 1, 0, place[1]], [0, 0, diagonal[1], place[2]], [0, 0, 0, 1]]
        )


# Shapes


def plate(y: float, size: float = 1.0, turned: bool = False) -> tuple[Mesh, np.ndarray]:
    """A horizontal square, facing up."""
    corners = [[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 0, 0]]
    return Mesh(np.float32(corners), TWO[:, ::-1] if turned else TWO), at(0, y, 0, size)


@pytest.mark.parametrize(
    ("floor", "height", "turned", "mirrored", "single"),
    [
        (1.0, 0.0, False, False, False),
        (0.72, 0.0, False, False, False),  # 0.5184 of the floor plan
        (0.7, 0.0, False, False, True),  # 0.49
        (1.0, 0.09, False, False, False),
        (1.0, 0.11, False, False, True),  # above the lowest tenth
        (1.0, 0.0, True, False, True),  # faces down
        (1.0, 0.0, True, True, True),  # under a mirror, too
        (1.0, 0.0, False, True, False),
    ],
)
def test_objects_and_places(floor: float, height: float, turned: bool, mirrored: bool, single: bool) -> None:
    mesh, place = plate(height, floor, turned)
    if mirrored:
        place = place @ np.diag([-1.0, 1, 1, 1])
        place[0, 3] = floor
    posts = Mesh(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]), [[0, 1, 2], [0, 3, 4]])
    scene = Scene([mesh, posts], [Instance(0, place), Instance(1)])
    assert is_single_object(scene) == single
    far = [replace(each, transform=at(10, 20, 30, 2) @ each.transform) for each in scene.instances]
    assert is_single_object(Scene(scene.meshes, far)) == single


def test_floors_of_meshes_that_reach_up() -> None:
    """Triangles below the lowest tenth with all of their corners, wherever these are among the mesh's."""
    corners = np.float32([[0, 1, 0], [5, 0, 5], [5, 0, 6], [6, 0, 6], [6, 0, 5], [5, 1, 5]])
    floor = [[1, 2, 3], [1, 3, 4]]
    for faces, single in (
        ([*floor, [5, 3, 4]], False),
        ([[5, 2, 3], [1, 3, 4], [5, 3, 4]], False),
        ([[5, 2, 3], [5, 3, 4]], True),
    ):
        assert is_single_object(Scene([Mesh(corners, faces)], [Instance(0)])) == single


def test_objects_of_too_many_parts_or_none() -> None:
    mesh = Mesh(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), [[0, 1, 2], [0, 2, 3]])
    assert is_single_object(Scene([mesh], [Instance(0)] * 1000)) and not is_single_object(
        Scene([mesh], [Instance(0)] * 1001)
    )
    assert not is_single_object(Scene([mesh])) and not is_single_object(Scene([mesh], [Instance(0)]).on_ground())
    assert not is_single_object(Scene([square()], [Instance(0)]))  # flat


def test_smooth_and_flat_meshes() -> None:
    flat, bent = np.tile((0.0, 0, 1), (4, 1)), np.tile((0.0, 0, 1), (4, 1))
    bent[2] = 0.1, 0, 1
    hardly = flat.copy()
    hardly[2] = 0.013, 0, 1  # 1 - cosine of 0.8e-4
    for normals, smooth in ((flat, False), (bent, True), (hardly, False), (-flat, True)):
        assert is_smooth(square(normals=normals)) == smooth
    assert not is_smooth(square()) and not is_smooth(Mesh(POINTS, np.zeros((0, 3)))) and not is_smooth(Quadric.sphere())
    scene = Scene([square(), square(normals=bent)], [Instance(0)])
    assert not has_smooth_meshes(scene)
    scene.instances.append(Instance(1))
    assert has_smooth_meshes(scene) and has_smooth_meshes(scene)


def test_parts_of_arrays() -> None:
    assert offsets([2, 0, 3]).tolist() == [0, 2, 2, 5] and offsets([]).tolist() == [0]
    assert ranges(np.array([5, 1, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    for most, runs in ((1, 4), (5, 3), (6, 2), (7, 2), (99, 1)):
        found = list(batches(np.array([4, 2, 4, 1]), most))
        assert len(found) == {1: 4, 5: 3, 6: 2, 7: 2, 99: 1}[most] == runs
        assert [k for part in found for k in range(part.start, part.stop)] == [0, 1, 2, 3]
    assert [(part.start, part.stop) for part in batches(np.array([4, 2, 4, 1]), 5)] == [(0, 1), (1, 2), (2, 4)]
    kinds, numbers = np.array([[1, 2], [3, 4], [1, 2]]), np.array([2, 1, 0, 2, 1])
    assert [part.tolist() for part in alike(kinds, numbers)] == [[2, 0, 3], [1, 4]]
    assert list(alike(kinds, numbers[:0])) == []
    both = joined([square(), Mesh(POINTS + 5, TWO[:1]), square()])
    assert both.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [8, 9, 10], [8, 10, 11]]
    assert both.vertices.tolist() == [0, 4, 8, 12] and both.faces.tolist() == [0, 2, 3, 5]
    np.testing.assert_array_equal(both.positions, np.concatenate([POINTS, POINTS + 5, POINTS]))
    one = square()
    assert joined([one]).positions is one.positions and joined([one]).triangles is one.triangles


def test_optional_attributes_of_instances() -> None:
    bare = square()
    full = square(
        uvs_1=np.arange(8).reshape(4, 2), colors=np.full((4, 4), 0.5), tangents=np.tile((1.0, 0, 0, 1), (4, 1))
    )
    opaque = square(colors=np.float32([[0, 0, 0, 1]] * 4))
    which, maps = np.array([1, 0, 1]), np.stack([np.eye(4), np.eye(4), np.diag([-2.0, 1, 1, 1])])
    assert second_coordinates([bare, opaque], which) is None is tangents([bare, opaque], which, maps)
    assert opacities([bare, opaque], which) is None
    np.testing.assert_array_equal(
        second_coordinates([bare, full], which),
        np.concatenate([np.arange(8).reshape(4, 2), np.zeros((4, 2)), np.arange(8).reshape(4, 2)]),
    )
    np.testing.assert_array_equal(opacities([bare, full], which), np.repeat([0.5, 1, 0.5], 4))
    np.testing.assert_array_equal(
        tangents([bare, full], which, maps), np.repeat([[1, 0, 0, 1], [0, 0, 0, 0], [-1, 0, 0, -1]], 4, axis=0)
    )


def test_points_and_directions_under_maps() -> None:
    """Normals by the inverse transpose, on the same side under mirrors."""
    slope = np.array([[2.0, 0, 0, 5], [0, 1, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]])
    mirror, flat, turn = np.diag([-1.0, 1, 1, 1]), np.diag([1.0, 0, 1, 1]), np.eye(4)[[1, 2, 0, 3]]
    maps = np.stack([slope, np.eye(4), mirror, flat, turn])
    half = math.sqrt(0.5)
    points, normals = np.float32([[1, 2, 3], [-1, 0, 0]]), np.float32([[half, half, 0], [0, 0, 1]])
    expected = np.einsum("nij,vj->nvi", maps[:, :3, :3], points) + maps[:, None, :3, 3]
    np.testing.assert_allclose(transform_points(points, maps), expected)
    assert transform_points(points, np.eye(4)[None])[0].tolist() == points.tolist()
    found = transform_normals(normals, maps)
    five = math.sqrt(5)
    wanted = [
        [[1 / five, 2 / five, 0], [0, 0, 1]],
        normals,
        [[-half, half, 0], [0, 0, 1]],
        [[0, 1, 0], [0, 0, 1]],
        [[half, 0, half], [0, 1, 0]],
    ]
    np.testing.assert_allclose(found, wanted, atol=1e-7)
    given = np.float32([[half, half, 0, 1], [0, 0, 1, -1], [0, 0, 0, 0]])
    np.testing.assert_allclose(
        transform_tangents(given, slope), [[2 / five, 1 / five, 0, 1], [0, 0, 1, -1], [0, 0, 0, 0]], atol=1e-7
    )
    np.testing.assert_allclose(
        transform_tangents(given, mirror), [[-half, half, 0, -1], [0, 0, 1, 1], [0, 0, 0, 0]], atol=1e-7
    )
    assert transform_tangents(given, at(5, 6, 7)) is given


def test_face_normals_follow_the_right_hand() -> None:
    points = np.float32([[0, 0, 0], [2, 0, 0], [0, 3, 0], [0, 0, 5], [np.nan, 0, 0], [4, 0, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 1], [0, 2, 3], [0, 3, 1], [0, 1, 5], [0, 1, 4]])
    expected = [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(face_normals(points, faces), expected)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float16])
@pytest.mark.parametrize("color", [True, False])
def test_texels_as_numbers(kind: type, color: bool) -> None:
    most = 1 if kind is np.float16 else np.iinfo(kind).max
    texels = (np.array([[[0, 0.02, 0.5, 0.5], [1, 0.04, 0.05, 0.02]]]) * most).astype(kind)
    share = texels.astype(np.float64) / most
    expected = share.copy()
    if color and kind is not np.float16:
        rgb = share[..., :3]
        expected[..., :3] = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    np.testing.assert_allclose(linear_texels(texels, color), expected, rtol=1e-12)


def test_transforms_of_coordinates() -> None:
    """Scale, then rotation, then offset (KHR_texture_transform)."""
    np.testing.assert_allclose(uv_transform((5, 6), math.pi / 2, (2, 3)) @ (1, 1, 1), (5 + 3, 6 - 2), atol=1e-12)
    np.testing.assert_array_equal(uv_transform(), [[1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    "change",
    [
        {"wrap": ("repeat", "tile")},
        {"minification": "cubic"},
        {"content": "height"},
        {"uv_set": 2},
        {"transform": np.eye(3)},
    ]
    + [{"transform": np.full((2, 3), np.nan)}],
)
def test_textures_that_cannot_be(change: dict) -> None:
    with pytest.raises(ViewerError, match="texture 'texture'"):
        Texture(Image.white(), **change)
    for texels in (
        np.zeros((2, 2, 3), np.uint8),
        np.zeros((2, 2, 4), np.int16),
        np.zeros((0, 2, 4), np.uint8),
        np.zeros((2, 4), np.uint8),
    ):
        with pytest.raises(ViewerError, match="image: texels are"):
            Image(texels)


def test_stand_ins_of_images() -> None:
    board = Image.checkerboard()
    assert board.size == (8, 8) and board.name == "checkerboard"
    assert board.texels[0, :2].tolist() == [[255, 0, 255, 255], [0, 0, 0, 255]] == board.texels[1, 1::-1].tolist()
    assert Image.white("a").texels.tolist() == [[[255] * 4]] and Image.white("a").name == "a"
    assert Image(np.zeros((2, 5, 4), np.uint8)).size == (5, 2)
    assert Texture(board).minification == "linear_mipmap_linear"
    assert Texture(board, nearest=True).minification == "nearest_mipmap_linear"


# Quadrics


@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        (QuadricShape((1, 1, 1), constant=-4), (-2, -2, -2), (2, 2, 2)),
        (QuadricShape((1, 4, 9), constant=-36), (-6, -3, -2), (6, 3, 2)),
        (QuadricShape((1, 1, 1), constant=-4, high=(math.inf, 1, math.inf)), (-2, -2, -2), (2, 1, 2)),
        (QuadricShape((1, 1, 1), constant=-25, low=(-math.inf, 3, -math.inf)), (-4, 3, -4), (4, 5, 4)),
        (QuadricShape((1, 0, 1), -1, high=(math.inf, 4, math.inf)), (-2, 0, -2), (2, 4, 2)),
        (
            QuadricShape((1, -1, 1), low=(-math.inf, -2, -math.inf), high=(math.inf, 1, math.inf)),
            (-2, -2, -2),
            (2, 1, 2),
        ),
        (QuadricShape((0, 0, 0), 2, -6, ring=(1, 5)), (-5, 3, -5), (5, 3, 5)),
        (
            QuadricShape((1, 0, 1), constant=-9, low=(-math.inf, -1, -math.inf), high=(math.inf, 2, 1)),
            (-3, -1, -3),
            (3, 2, 1),
        ),
    ],
)
def test_boxes_of_quadrics(shape: QuadricShape, low: tuple, high: tuple) -> None:
    np.testing.assert_allclose(shape.bounds(), [low, high], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"squares": (math.nan, 0, 0)}, "are not finite"),
        ({"squares": (1, 1, 1), "constant": math.inf}, "are not finite"),
        ({"squares": (0, 0, 0), "constant": 1}, "describe no surface"),
        ({"squares": (1, 1, 1), "linear": 1}, r"both y\^2"),
        ({"squares": (1, 1, 1), "constant": 1}, "no part of it"),
        ({"squares": (1, 1, 1), "constant": -1, "low": (2, 2, 2)}, "no part of it"),
        ({"squares": (1, 1, 1), "constant": -1, "ring": (2, 1)}, "no part of it"),
        ({"squares": (1, 1, 1), "constant": -1, "ring": (-1, 1)}, "no part of it"),
        ({"squares": (1, 0, 1), "constant": -1}, "leave it unbounded"),
        ({"squares": (1, -1, 1)}, "leave it unbounded"),
    ],
)
def test_shapes_that_cannot_be(arguments: dict, words: str) -> None:
    with pytest.raises(ViewerError, match=words):
        QuadricShape(**arguments)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Quadric.sphere(radius=0),
        lambda: Quadric.sphere(radius=-1),
        lambda: Quadric.sphere(radius="big"),  # type: ignore[arg-type]
        lambda: Quadric.sphere((1, 2)),
        lambda: Quadric.sphere("abc"),
        lambda: Quadric.sphere((math.nan, 0, 0)),
        lambda: Quadric.cylinder((1, 2, 3), (1, 2, 3)),
        lambda: Quadric.cone((0, 0, 0), (0, 1, 0), 1, 1),
        lambda: Quadric.cone((0, 0, 0), (0, 1, 0), 1, -0.1),
        lambda: Quadric.disk((0, 0, 0), (0, 0, 0)),
        lambda: Quadric.disk((0, 0, 0), (0, 1, 0), 1, 1),
        lambda: Quadric.disk((0, 0, 0), (0, 1, 0), 1, -0.1),
        lambda: Quadric.cylinder((0, 0, 0), (0, 1, 0), 2e5),
        lambda: Quadric.surface(QuadricShape((1, 1, 1), constant=-1, transform=np.full((4, 4), np.nan))),
    ],
)
def test_quadrics_that_cannot_be(make: Any) -> None:
    with pytest.raises(ViewerError):
        make()


@pytest.mark.parametrize(
    ("diagonal", "right"),
    [((1, 1, 1), True), ((1, 1e5, 1), True), ((1, 1.01e5, 1), False), ((0, 0, 0), False), ((math.inf, 1, 1), False)],
)
def test_maps_that_flatten(diagonal: tuple, right: bool) -> None:
    matrix = np.diag([*diagonal, 1.0])
    if right:
        check_map("a", matrix)
    else:
        with pytest.raises(ViewerError, match="a: a quadric flattened"):
            check_map("a", matrix)


@pytest.mark.parametrize(
    ("start", "end"), [((0, 0, 0), (0, 0, 2)), ((1, 2, 3), (4, 2, 3)), ((0, 1, 0), (0, -1, 0)), ((0, 0, 0), (1, 2, 2))]
)
def test_ends_of_cylinders_and_cones(start: tuple, end: tuple) -> None:
    """Rings around both ends, across the axis, of the radii that were given."""
    first, last = np.array(start, float), np.array(end, float)
    axis = (last - first) / np.linalg.norm(last - first)
    for made, radii in (
        (Quadric.cylinder(start, end, 0.5), (0.5, 0.5)),
        (Quadric.cone(start, end, 0.5, 0.25), (0.5, 0.25)),
        (Quadric.cone(start, end, 0.5), (0.5, 0)),
    ):
        mesh = made.tessellated(8, 2)
        along = (mesh.positions - first) @ axis
        for place, radius in ((0, radii[0]), (np.linalg.norm(last - first), radii[1])):
            ring = mesh.positions[np.abs(along - place) < 1e-5]
            assert len(ring) == 8
            centre = first + axis * place
            np.testing.assert_allclose(np.linalg.norm(ring - centre, axis=1), radius, atol=1e-5)
        outward = mesh.positions - first - np.outer(along, axis)
        assert ((outward * mesh.normals).sum(axis=1) >= -1e-6).all()
        assert mesh.name == made.name and (mesh.materials == 0).all()


# To trimesh


class Recorded(SimpleNamespace):
    """What a call was given."""


def recorder(kind: str) -> Any:
    return lambda *arguments, **more: Recorded(kind=kind, arguments=arguments, **more)


class Graph:
    def __init__(self) -> None:
        self.nodes: dict[str, tuple[str, np.ndarray]] = {}
        self.geometry: dict[str, Any] = {}
        self.camera: Any = None
        self.camera_transform: Any = None
        self.graph = self

    def update(self, node: str, geometry: str, matrix: np.ndarray) -> None:
        self.nodes[node] = geometry, matrix

    def add_geometry(self, geometry: Any, node_name: str, geom_name: str, transform: np.ndarray) -> None:
        self.geometry[geom_name] = geometry
        self.nodes[node_name] = geom_name, transform


@pytest.fixture
def trimesh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the library, which remembers what it was given."""
    module = ModuleType("trimesh")
    module.Scene, module.Trimesh = Graph, recorder("mesh")  # type: ignore[attr-defined]
    module.scene = SimpleNamespace(Camera=recorder("camera"))  # type: ignore[attr-defined]
    material = SimpleNamespace(PBRMaterial=recorder("material"))
    module.visual = SimpleNamespace(  # type: ignore[attr-defined]
        ColorVisuals=recorder("colors"), TextureVisuals=recorder("texture"), material=material
    )
    monkeypatch.setitem(sys.modules, "trimesh", module)


@pytest.mark.usefixtures("trimesh")
def test_scenes_for_trimesh() -> None:
    uvs = np.float32([[0, 0], [1, 0], [1, 0.25], [0, 1]])
    first = square(materials=[0, 1], uvs=uvs, normals=np.tile((0.0, 0, 1), (4, 1)), name="m")
    second = square(colors=np.float32([[0, 0.5, 1, 0.5]] * 4), name="c")
    image = Image(np.random.default_rng(1).integers(0, 256, (2, 3, 4), np.uint8))
    half = Image(np.zeros((1, 1, 4), np.float16))
    materials = [
        Material("p", (0.5, 0, 2, 1), metallic=0.3, roughness=0.4, kind="principled", texture=0, emission=(1, 2, 3))
        , Material("mirror", kind="mirror", texture=1, double_sided=True, alpha_mode="mask", alpha_cutoff=0.25),
    ]  # fmt: skip
    instances = [Instance(0), Instance(0, at(1, 0, 0), name="i"), Instance(1, at(0, 1, 0), material=0), Instance(1)]
    cameras = [Camera((0, 0, 5), (0, 0, 0), fov=30, name="eye"), Camera((1, 0, 0), (0, 0, 0))]
    scene = Scene([first, second], instances, materials, cameras, textures=[Texture(image), Texture(half)])
    found = scene.to_trimesh()
    assert list(found.nodes) == ["m_0_0", "m_0_1", "i_1_0", "i_1_1", "c_2_0", "c_3_0"]
    assert [name for name, _ in found.nodes.values()] == ["m_0_0", "m_0_1", "m_0_0", "m_0_1", "c_1_0", "c_1_0"]
    np.testing.assert_array_equal(found.nodes["i_1_1"][1], at(1, 0, 0))
    np.testing.assert_array_equal(found.nodes["c_3_0"][1], np.eye(4))
    part = found.geometry["m_0_1"]
    np.testing.assert_array_equal(part.arguments[0], POINTS[[0, 2, 3]])
    assert part.arguments[1].tolist() == [[0, 1, 2]] and part.process is False
    np.testing.assert_array_equal(part.vertex_normals, [[0, 0, 1]] * 3)
    np.testing.assert_allclose(part.visual.uv, [[0, 1], [1, 0.75], [0, 0]])  # v points up
    mirror, plain = part.visual.material, found.geometry["m_0_0"].visual.material
    assert (mirror.name, mirror.metallicFactor, mirror.roughnessFactor, mirror.baseColorTexture) == (
        "mirror",
        1,
        0,
        None,
    )
    assert (mirror.doubleSided, mirror.alphaMode, mirror.alphaCutoff) == (True, "MASK", 0.25)
    assert plain.baseColorFactor.tolist() == [128, 0, 255, 255] and plain.emissiveFactor.tolist() == [1, 2, 3]
    assert (plain.metallicFactor, plain.roughnessFactor, plain.alphaMode) == (0.3, 0.4, "OPAQUE")
    np.testing.assert_array_equal(np.asarray(plain.baseColorTexture), image.texels)
    whole = found.geometry["c_1_0"]
    assert len(whole.arguments[0]) == 4 and whole.visual.kind == "texture" and whole.vertex_normals is None
    assert found.camera.name == "eye" and found.camera.fov == (30, 30)
    np.testing.assert_allclose(found.camera_transform, at(0, 0, 5), atol=1e-12)


@pytest.mark.usefixtures("trimesh")
def test_vertex_colors_for_trimesh() -> None:
    """sRGB times the base colour; opacity stays linear."""
    mesh = square(colors=np.float32([[0, 0.5, 2, 0.5]] * 4), name="c")
    found = Scene([mesh], [Instance(0)], [Material(base_color=(1, 0.5, 1, 1))]).to_trimesh()
    (part,) = found.geometry.values()
    assert part.visual.vertex_colors[0].tolist() == [0, 137, 255, 128]
    for kind, factors in (("lambert", (0, 1)), ("dielectric", (0, 0)), ("phong", (0, 1))):
        found = Scene([square()], [Instance(0)], [Material(kind=kind)]).to_trimesh()
        (part,) = found.geometry.values()
        assert (part.visual.material.metallicFactor, part.visual.material.roughnessFactor) == factors
        assert part.visual.uv is None and found.camera is None
