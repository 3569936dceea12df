"""Grounds, placed objects, smooth and joined meshes, maps and textures of scenes."""

from __future__ import annotations

import gc
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream.base.errors import ViewerError
from raystream.materials import surface_features
from raystream.materials.surface_features import has_smooth_meshes, is_smooth
from raystream.scene import builtin
from raystream.scene.edits.framed import is_single_object
from raystream.scene.geometry.bounds import ground_transform
from raystream.scene.geometry.triangles import opacities, second_coordinates, tangents
from raystream.scene.geometry.vertices import transform_normals, transform_points, transform_tangents
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture, linear_texels
from tests.scene.unit_square import POINTS, TWO, at, square


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


def plate(y: float, size: float = 1.0, turned: bool = False) -> tuple[Mesh, np.ndarray]:
    """A horizontal square, facing up."""
    corners = [[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 0, 0]]
    return Mesh(np.float32(corners), TWO[:, ::-1] if turned else TWO), at(0, y, 0, size)


@pytest.mark.parametrize(
    ("floor", "height", "turned", "mirrored", "single"),
    [
        (1.0, 0.0, False, False, False),
        (0.93, 0.0, False, False, False),  # 60 of 64 cells along each side: 0.88 of the floor plan
        (0.9, 0.0, False, False, True),  # 58: 0.82
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
    for faces, single in (([*floor, [5, 3, 4]], False), ([[5, 2, 3], *floor], False), ([[5, 2, 3], [5, 3, 4]], True)):
        assert is_single_object(Scene([Mesh(corners, faces)], [Instance(0)])) == single


def test_objects_of_too_many_parts_or_none() -> None:
    mesh = Mesh(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), [[0, 1, 2], [0, 2, 3]])
    assert is_single_object(Scene([mesh], [Instance(0)] * 1000)) and not is_single_object(
        Scene([mesh], [Instance(0)] * 1001)
    )
    assert not is_single_object(Scene([mesh])) and not is_single_object(Scene([mesh], [Instance(0)]).on_ground())
    lying = Instance(0, np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]]))
    assert is_single_object(Scene([square()], [lying]))  # a plane that lies
    assert is_single_object(Scene([square()], [Instance(0)]))  # a panel
    line = Mesh(np.float32([[0, 0, 0], [1, 0, 0], [2, 0, 0]]), [[0, 1, 2]])
    assert not is_single_object(Scene([line], [Instance(0)]))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_dish_is_an_object(layers: int) -> None:
    """A disc covers 0.785 of its floor plan, however many lie in each other; a square of its size is a floor."""
    disc, ball = Quadric.disk((0, 0, 0), (0, 1, 0)).tessellated(64), Quadric.sphere((0, 0.5, 0), 0.5)
    assert is_single_object(Scene([disc, ball], [Instance(0)] * layers + [Instance(1)]))
    floor = Mesh(np.float32([[-1, 0, -1], [-1, 0, 1], [1, 0, 1], [1, 0, -1]]), [[0, 1, 2], [0, 2, 3]])
    assert not is_single_object(Scene([floor, ball], [Instance(0)] * layers + [Instance(1)]))


@pytest.mark.parametrize(("deep", "single"), [(0.59, True), (0.61, False)])
def test_what_stands_on_a_narrow_base(deep: float, single: bool) -> None:
    """A floor less deep than 0.6 of what stands on it is its base, along x as along z."""
    wall = [[0, 0, 0], [3, 0, 0], [3, 1, 0], [0, 1, 0]]
    base = [[0, 0, 0], [0, 0, deep], [3, 0, deep], [3, 0, 0]]
    mesh = Mesh(np.float32([*wall, *base]), [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    turned = Instance(0, np.array([[0.0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]]))
    assert [is_single_object(Scene([mesh], [each])) for each in (Instance(0), turned)] == [single] * 2


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


def test_textures_that_cannot_be() -> None:
    changes: list[dict[str, Any]] = [{"wrap": ("repeat", "tile")}, {"minification": "cubic"}, {"content": "height"}]
    changes += [{"uv_set": 2}, {"transform": np.eye(3)}, {"transform": np.full((2, 3), np.nan)}]
    for change in changes:
        with pytest.raises(ViewerError, match="texture 'texture'"):
            Texture(Image.white(), **change)
    for shape, kind in (((2, 2, 3), np.uint8), ((2, 2, 4), np.int16), ((0, 2, 4), np.uint8), ((2, 4), np.uint8)):
        with pytest.raises(ViewerError, match="image: texels are"):
            Image(np.zeros(shape, kind))


def box(low: tuple[float, ...], high: tuple[float, ...]) -> Scene:
    """Two triangles across a box."""
    corners = np.array([low, high, (low[0], high[1], high[2]), (high[0], low[1], low[2])])
    return Scene.from_triangles(corners, [[0, 1, 2], [0, 1, 3]])


def test_size_is_in_heights_of_the_model_and_the_middle_stays() -> None:
    scene = box((-1.0, 3.0, 10.0), (3.0, 5.0, 11.0))  # 2 high
    grounded = scene.on_ground((1.5, 4.0))
    assert grounded.ground == 1 and grounded.triangle_count == 4
    assert grounded.bounds().tolist() == [[-1.0, 3.0, 6.5], [3.0, 5.0, 14.5]]
    flat = grounded.flatten()
    ground = flat.corners()[2:]
    assert (ground[..., 1] == 3.0).all()
    assert [ground[..., 0].min(), ground[..., 0].max()] == [-0.5, 2.5]
    assert (np.cross(ground[:, 1] - ground[:, 0], ground[:, 2] - ground[:, 0])[:, 1] > 0).all()  # it faces up
    assert grounded.materials[flat.materials[2]].name == "ground" and (flat.materials[:2] == 0).all()


def test_the_model_is_framed_and_not_its_ground() -> None:
    scene = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    grounded = scene.on_ground()
    assert np.ptp(grounded.bounds(), axis=0).tolist() == [20.0, 1.0, 20.0]
    assert np.array_equal(grounded.bounds(ground=False), scene.bounds())
    assert grounded.camera() == scene.camera()


def test_on_and_off_again() -> None:
    scene = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    assert scene.without_ground() is scene
    once = scene.on_ground((2, 2))
    assert once.on_ground((3, 3)) is once  # it keeps the one that it has
    assert once.without_ground() == scene
    once.instances.append(Instance(0, name="later"))
    again = once.without_ground()
    assert [each.name for each in again.instances] == ["", "later"] and again.ground is None


def test_what_moves_stands_over_one_ground() -> None:
    scene = builtin.build("balls")
    grounded, times = scene.on_ground((1, 1)), (0.0, 0.7, 2.9)
    number = grounded.ground
    assert number == len(scene.instances)
    still = grounded.instances[number].transform
    for seconds in times:
        posed = grounded.posed(seconds)
        assert np.array_equal(posed.instances[number].transform, still)
        # That of a scene which is put on the ground in mid-motion lies there, too.
        np.testing.assert_array_equal(scene.posed(seconds).on_ground((1, 1)).instances[number].transform, still)
        assert posed.bounds(ground=False)[0, 1] >= still[1, 3]


def test_a_mesh_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    bent = surface_features._varying_normals
    monkeypatch.setattr(
        surface_features,
        "_varying_normals",
        lambda corners, normals: looks.append(len(corners)) or bent(corners, normals),
    )
    corners = np.float32([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    normals = {False: np.float32([(0, 0, 1)] * 3), True: np.float32([(0, 0, 1), (0.6, 0, 0.8), (0, 0, 1)])}
    for curved, vectors in normals.items():
        mesh = Mesh(corners, np.int32([(0, 1, 2)]), np.zeros(1, np.int32), vectors)
        before, known = len(looks), len(surface_features._smooth_cache)
        assert [surface_features.is_smooth(mesh) for _ in range(3)] == [curved] * 3
        assert len(looks) == before + 1 and len(surface_features._smooth_cache) == known + 1
        del mesh
        gc.collect()
        assert len(surface_features._smooth_cache) == known
