"""Objects of other libraries by tables: colours of every kind, textures, scalars, places, names and cameras."""

from __future__ import annotations

from types import SimpleNamespace as Like
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.formats.objects import VIRIDIS, SceneBuilder, load, scene_from, scene_of, z_up_camera
from raystream.scene.camera import Camera
from raystream.scene.projections import Orthographic

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float64)
FACES = np.array([[0, 1, 2], [0, 2, 3]])


def share(codes: Any) -> np.ndarray:
    """sRGB bytes to linear."""
    values = np.asarray(codes) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize(
    ("colors", "expected"),
    [
        (np.uint8([[10, 100, 200]] * 4), [*share([10, 100, 200]), 1]),
        (np.int64([[10, 100, 200, 51]] * 4), [*share([10, 100, 200]), 0.2]),
        (np.float64([[0.1, 0.5, 0.9]] * 4), [0.1, 0.5, 0.9, 1]),
        (np.float32([[0.1, 0.5, 0.9, 0.2]] * 4), [0.1, 0.5, 0.9, 0.2]),
        (np.float64([[10, 100, 255]] * 4), [*share([10, 100, 255]), 1]),
        (np.float64([[0, 1, 1]] * 4), [0, 1, 1, 1]),
    ],
)
def test_colors_of_vertices_and_faces(colors: np.ndarray, expected: list[float]) -> None:
    for count in (4, 2):
        scene = scene_of((POINTS, FACES, colors[:count]))
        (mesh,) = scene.meshes
        assert len(mesh.positions) == (4 if count == 4 else 6)
        np.testing.assert_allclose(mesh.colors, [expected] * len(mesh.colors), rtol=1e-6)
        np.testing.assert_array_equal(mesh.positions[mesh.triangles], np.float32(POINTS)[FACES])
        material = scene.materials[0]
        assert material.base_color == (1, 1, 1, 1) and material.alpha_mode == ("blend" if expected[3] < 1 else "opaque")
        assert bool(scene.warnings) == (colors.dtype == np.float64 and colors.max() > 1)


def test_quadrilaterals_are_cut_with_their_colors() -> None:
    points = [*POINTS.tolist(), [2, 0, 0], [2, 1, 0]]
    scene = scene_of((points, [[0, 1, 2, 3], [1, 4, 5, 2]], [[1.0, 0, 0], [0, 0, 1]]))
    (mesh,) = scene.meshes
    assert (
        mesh.positions[mesh.triangles].tolist()
        == np.float32(points)[[[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]].tolist()
    )
    assert mesh.colors[mesh.triangles][:, :, 0].tolist() == [[1] * 3, [1] * 3, [0] * 3, [0] * 3]


@pytest.mark.parametrize(
    ("pixels", "texel"),
    [
        (np.full((2, 3), 7, np.uint8), (7, 7, 7, 255)),
        (np.full((2, 3, 1), 7, np.uint8), (7, 7, 7, 255)),
        (np.full((2, 3, 3), (1, 2, 3), np.uint8), (1, 2, 3, 255)),
        (np.full((2, 3, 4), (1, 2, 3, 4), np.uint8), (1, 2, 3, 4)),
        (Pillow.new("L", (3, 2), 7), (7, 7, 7, 255)),
        (Pillow.new("RGBA", (3, 2), (1, 2, 3, 4)), (1, 2, 3, 4)),
        (np.full((2, 3, 2), 7, np.uint8), None),
        (np.full((2, 3, 3), 7, np.uint16), None),
        (np.zeros((0, 3, 3), np.uint8), None),
        (np.zeros(3, np.uint8), None),
    ],
)
def test_images_of_every_kind(pixels: Any, texel: tuple[int, ...] | None) -> None:
    gathered = SceneBuilder(name="card")
    number = gathered.texture(pixels)
    if texel is None:
        assert number is None and "is left out" in gathered.warnings[0] and gathered.textures == []
        return
    assert number == 0 and gathered.textures[0].image.size == (3, 2)
    assert (gathered.textures[0].image.texels == texel).all()
    assert gathered.texture(pixels) == 0 and gathered.texture(pixels, "data") == 1 and gathered.texture(None) is None
    assert [texture.content for texture in gathered.textures] == ["color", "data"]


def card(visual: Any, **more: Any) -> Any:
    return Like(**{"vertices": POINTS, "faces": FACES, "visual": visual, "metadata": {}, **more})


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"name": "a", "file_name": "b"}, "a"),
        ({"file_name": "b"}, "b"),
        ({"name": ""}, "SimpleNamespace"),
        (None, "SimpleNamespace"),
    ],
)
def test_names_of_meshes(metadata: Any, name: str) -> None:
    assert scene_of(card(None, metadata=metadata)).name == name
    assert scene_of(Like(vertices=POINTS, faces=FACES)).materials[0].base_color == (0.8, 0.8, 0.8, 1)


def test_materials_by_default() -> None:
    """Of glTF's kind: white, metallic and rough; of the simple kind: grey, or its diffuse colour."""
    pbr = Like(metallicFactor=None)
    (found,) = scene_of(card(Like(kind="texture", uv=POINTS[:, :2], material=pbr))).materials
    assert (found.kind, found.base_color, found.metallic, found.roughness) == ("principled", (1, 1, 1, 1), 1, 1)
    assert (found.emission, found.double_sided, found.alpha_mode, found.alpha_cutoff) == (
        (0, 0, 0),
        False,
        "opaque",
        0.5,
    )
    pbr = Like(
        metallicFactor=0.25, roughnessFactor=0.5, alphaCutoff=0.75, baseColorFactor=[0.1, 0.2, 0.3, 0.4], name="own"
    )
    (found,) = scene_of(card(Like(kind="texture", uv=None, material=pbr))).materials
    assert (found.metallic, found.roughness, found.alpha_cutoff, found.name) == (0.25, 0.5, 0.75, "own")
    np.testing.assert_allclose(found.base_color, (0.1, 0.2, 0.3, 0.4), rtol=1e-6)  # floats are linear
    for more, color, mode in (
        ({}, (0.8, 0.8, 0.8, 1), "opaque"),
        ({"diffuse": np.uint8([255, 0, 100, 255])}, (1, 0, share(100), 1), "opaque"),
        ({"diffuse": np.uint8([255, 0, 100, 51])}, (1, 0, share(100), 0.2), "blend"),
    ):
        (found,) = scene_of(card(Like(kind="texture", uv=POINTS[:, :2], material=Like(name=None, **more)))).materials
        np.testing.assert_allclose(found.base_color, color, rtol=1e-6)
        assert (found.kind, found.alpha_mode, found.name) == ("lambert", mode, "SimpleNamespace")


def test_textures_of_every_field() -> None:
    names = ("baseColorTexture", "emissiveTexture", "metallicRoughnessTexture", "normalTexture")
    images = {name: Pillow.new("RGB", (1, 1), (k, k, k)) for k, name in enumerate(names)}
    scene = scene_of(card(Like(kind="texture", uv=POINTS[:, :2], material=Like(metallicFactor=0, **images))))
    (found,) = scene.materials
    fields = (found.texture, found.emission_texture, found.metallic_roughness_texture, found.normal_texture)
    for k, (number, content) in enumerate(zip(fields, ("color", "color", "data", "normal"), strict=True)):
        texture = scene.textures[number]
        assert (
            texture.image.texels[0, 0, 0] == k and texture.content == content and texture.wrap == ("repeat", "repeat")
        )
    bare = scene_of(card(Like(kind="texture", uv=None, material=Like(metallicFactor=0, **images))))
    assert bare.textures == [] and bare.materials[0].texture is None and bare.meshes[0].uvs is None
    short = scene_of(card(Like(kind="texture", uv=POINTS[:3, :2], material=Like(image=images[names[0]]))))
    assert short.textures == [] and short.meshes[0].uvs is None


def test_several_materials_of_a_mesh() -> None:
    several = Like(materials=[Like(name="a", diffuse=np.uint8([255, 0, 0, 255])), Like(name="b")])
    for chosen, numbers in ((None, [0, 0]), (np.array([1, 0]), [1, 0])):
        scene = scene_of(card(Like(kind="texture", uv=POINTS[:, :2], material=several, face_materials=chosen)))
        assert [each.name for each in scene.materials] == ["a", "b"]
        assert scene.meshes[0].materials.tolist() == numbers
    for wrong in ([0], [0, 2], [-1, 0]):
        with pytest.raises(ViewerError, match="face_materials are not a material for each face"):
            scene_of(card(Like(kind="texture", uv=None, material=several, face_materials=np.array(wrong))))


class Graph(dict):
    """What trimesh calls a scene graph."""

    @property
    def nodes_geometry(self) -> list[str]:
        return list(self)


@pytest.mark.parametrize(
    ("centroid", "distance"), [(None, 1), ((1, 2, -1), 4), ((1, 2, 3), 1), ((1, 2, 9), 1e-3), ((1, 2, 2.5), 0.5)]
)
def test_cameras_of_scenes(centroid: Any, distance: float) -> None:
    """As far away as the middle, where it looks."""
    matrix = np.eye(4)
    matrix[:3, 3] = 1, 2, 3
    given = Like(geometry={"a": card(None)}, graph=Graph(n=(np.eye(4), "a"), m=(np.eye(4), "none")), has_camera=True)
    given.camera_transform, given.camera = matrix, Like(fov=(60, 40), name="eye")
    if centroid is not None:
        given.centroid = np.array(centroid, float)
    scene = scene_of(given)
    (camera,) = [each for each in scene.cameras if each.name == "eye"]
    assert camera.origin == (1, 2, 3) and camera.target == pytest.approx((1, 2, 3 - distance))
    assert (camera.fov, camera.up) == (40, (0, 1, 0)) and [each.name for each in scene.instances] == ["n"]


@pytest.mark.parametrize("wrong", [np.eye(3), np.full((4, 4), np.nan), np.zeros((4, 4, 1))])
def test_transforms_that_are_none(wrong: np.ndarray) -> None:
    with pytest.raises(ViewerError, match="n: its transform is not 4 x 4 finite numbers"):
        scene_of(Like(geometry={"a": card(None)}, graph=Graph(n=(wrong, "a"))))


class Dataset(Like):
    """What PyVista calls a PolyData of triangles."""

    def __init__(self, **more: Any) -> None:
        found = {"points": POINTS, "regular_faces": FACES, "is_all_triangles": True, "n_cells": 2, "cell_data": {}}
        super().__init__(**{**found, "point_data": {}, "active_scalars_name": None, **more})


def heat(values: Any, limits: Any = None, **more: Any) -> np.ndarray:
    """The colours of a plotted dataset with these numbers at its points, (4, 4)."""
    data = Dataset(point_data={"heat": np.asarray(values)}, active_scalars_name="heat", **more)
    if limits is None:
        return scene_of(data).meshes[0].colors
    prop = Like(color=Like(float_rgb=(1.0, 0, 0)), opacity=1.0, metallic=0, roughness=0)
    actor = Like(mapper=Like(dataset=data, scalar_range=limits), prop=prop)
    return scene_of(Like(actors={"a": actor}, camera=VIEW)).meshes[0].colors


VIEW = Like(position=(0, 0, 9), focal_point=(0, 0, 0), up=(0, 1, 0), view_angle=30.0)


def test_numbers_by_the_colour_map() -> None:
    """Over their own range, or the plotter's; what is not finite lies at an end."""
    ramp = share(VIRIDIS)
    middle = share((VIRIDIS[4] + VIRIDIS[5]) / 2)
    np.testing.assert_allclose(heat([0, 8, 4, 4.5])[:, :3], [ramp[0], ramp[8], ramp[4], middle], rtol=1e-5)
    np.testing.assert_allclose(heat([-3, 5, 1, 3])[:, :3], ramp[[0, 8, 4, 6]], rtol=1e-5)
    np.testing.assert_allclose(heat([5, 5, 5, 5])[:, :3], ramp[[0] * 4], rtol=1e-5)
    np.testing.assert_allclose(heat([0, 8, np.inf, np.nan])[:, :3], ramp[[0, 8, 8, 0]], rtol=1e-5)
    np.testing.assert_allclose(heat([np.nan] * 4)[:, :3], ramp[[0] * 4], rtol=1e-5)
    np.testing.assert_allclose(heat([-9, 16, 8, 20], (0, 16))[:, :3], ramp[[0, 8, 4, 8]], rtol=1e-5)
    np.testing.assert_allclose(heat([True, False, True, True])[:, :3], ramp[[8, 0, 8, 8]], rtol=1e-5)
    cells = Dataset(cell_data={"heat": np.array([0, 1])}, active_scalars_name="heat")
    (mesh,) = scene_of(cells).meshes
    np.testing.assert_allclose(mesh.colors[mesh.triangles][:, 1, :3], ramp[[0, 8]], rtol=1e-5)


def test_colours_among_scalars() -> None:
    for name, values, expected in (
        ("any", np.uint8([[255, 0, 100]] * 4), [1, 0, share(100), 1]),
        ("any", np.uint8([[255, 0, 100, 51]] * 4), [1, 0, share(100), 0.2]),
        ("rgb", np.float64([[1, 0, 0.5]] * 4), [1, 0, 0.21404114, 1]),
        ("any", np.float64([[1, 0, 0.5]] * 4), None),
        ("any", np.uint8([[1, 2]] * 4), None),
        ("any", np.array(["a"] * 4), None),
    ):
        (mesh,) = scene_of(Dataset(point_data={name: values}, active_scalars_name=name)).meshes
        if expected is None:
            assert mesh.colors is None
        else:
            np.testing.assert_allclose(mesh.colors, [expected] * 4, rtol=1e-6)


def test_normals_and_coordinates_of_datasets() -> None:
    normals, uvs = np.tile((0.0, 0, 5), (4, 1)), POINTS[:, :2] * (1, 0.25)
    (mesh,) = scene_of(Dataset(point_data={"Normals": normals}, active_texture_coordinates=uvs)).meshes
    np.testing.assert_array_equal(mesh.normals, [[0, 0, 1]] * 4)
    np.testing.assert_array_equal(mesh.uvs, uvs * (1, -1) + (0, 1))
    (mesh,) = scene_of(Dataset(point_data={"Normals": normals[:3]}, active_texture_coordinates=uvs[:3])).meshes
    assert mesh.normals is None and mesh.uvs is None


def test_actors_of_a_plotter() -> None:
    """Colours are sRGB; those of scalars or a texture are their own; places are matrices of one kind or the other."""
    numbers = np.diag([2.0, 3, 4, 1])
    numbers[:3, 3] = 5, 6, 7
    matrix = Like(GetElement=lambda row, column: numbers[row, column])

    def prop(**more: Any) -> Any:
        return Like(
            **{
                "color": Like(float_rgb=(1.0, 0.5, 0)),
                "opacity": 1.0,
                "interpolation": "Flat",
                "metallic": 0,
                "roughness": 0,
                **more,
            }
        )

    colored = Dataset(point_data={"c": np.uint8([[9, 9, 9]] * 4)}, active_scalars_name="c")
    mapped = Dataset(active_texture_coordinates=POINTS[:, :2])
    image = Like(to_array=lambda: np.full((2, 2, 3), 77, np.uint8))
    actors = {
        "plain": Like(mapper=Like(dataset=Dataset()), prop=prop(), GetMatrix=lambda: matrix),
        "numbers": Like(mapper=Like(dataset=colored), prop=prop(opacity=0.5)),
        "off": Like(mapper=Like(dataset=colored, scalar_visibility=False), prop=prop(), user_matrix=None),
        "image": Like(mapper=Like(dataset=mapped), prop=prop(), texture=image),
        "no place": Like(mapper=Like(dataset=Dataset()), prop=prop(), texture=image),
        "pbr": Like(
            mapper=Like(dataset=Dataset()), prop=prop(interpolation="physically based pbr", metallic=1, roughness=0.5)
        ),
    }
    view = Like(**{**VIEW.__dict__, "parallel_projection": True, "parallel_scale": 1.5})
    scene = scene_of(Like(actors=actors, camera=view), up="y")
    assert not scene.warnings and scene.name == "plotter"
    assert [each.name for each in scene.instances] == list(actors)
    np.testing.assert_array_equal(scene.instances[0].transform, numbers)
    assert all((each.transform == np.eye(4)).all() for each in scene.instances[1:])
    orange = [1, share(127.5), 0, 1]
    for material, color in zip(
        scene.materials, (orange, (1, 1, 1, 0.5), orange, (1, 1, 1, 1), orange, orange), strict=True
    ):
        np.testing.assert_allclose(material.base_color, color, rtol=1e-5)
    assert [each.alpha_mode for each in scene.materials] == ["opaque", "blend", *["opaque"] * 4]
    assert [each.texture for each in scene.materials] == [None, None, None, 0, None, None]
    assert [each.kind for each in scene.materials] == ["lambert"] * 5 + ["principled"]
    assert (scene.materials[5].metallic, scene.materials[5].roughness) == (1, 0.5)
    assert [mesh.colors is None for mesh in scene.meshes] == [True, False, True, True, True, True]
    (camera,) = scene.cameras
    assert camera.projection == Orthographic(3.0)  # parallel_scale is half of the height
    assert (camera.origin, camera.target, camera.up, camera.fov, camera.name) == (
        (0, 0, 9),
        (0, 0, 0),
        (0, 1, 0),
        30,
        "plotter",
    )


def test_a_dataset_is_seen_from_a_corner() -> None:
    """Along -(1, 1, 1) with z up, which becomes y."""
    scene = scene_of(Dataset(points=POINTS * (1, 1, 0) + [[0, 0, 0], [0, 0, 2], [0, 0, 0], [0, 0, 0]]))
    (camera,) = scene.cameras
    assert camera.name == "isometric" and camera.up == (0, 1, 0)
    np.testing.assert_allclose(camera.basis()[2], -np.ones(3) / np.sqrt(3), atol=1e-9)
    np.testing.assert_allclose(camera.target, (0.5, 1, 0.5), atol=1e-9)  # (x, y, z) becomes (y, z, x)
    np.testing.assert_array_equal(scene.instances[0].transform, np.eye(4)[[1, 2, 0, 3]])
    assert z_up_camera(Camera((1, 2, 3), (4, 5, 6), (7, 8, 9))) == Camera((2, 3, 1), (5, 6, 4), (8, 9, 7))


@pytest.mark.parametrize("up", [None, "y", "z"])
def test_the_axis_that_points_up(up: str | None) -> None:
    for given, z_up in (((POINTS, FACES), up == "z"), (card(None), up == "z"), (Dataset(), up != "y")):
        (instance,) = scene_of(given, up=up).instances
        np.testing.assert_array_equal(instance.transform, np.eye(4)[[1, 2, 0, 3]] if z_up else np.eye(4))
        options: dict[str, Any] = {"camera": "1,2,3 4,5,6 7,8,9", "up": up, "spp": 3}
        scene_from(given, options)
        expected = Camera((2, 3, 1), (5, 6, 4), (8, 9, 7))
        assert options["spp"] == 3 and "up" not in options
        assert options["camera"] == (expected if z_up else "1,2,3 4,5,6 7,8,9")


def test_warnings_are_python_s() -> None:
    with pytest.warns(match="taken as sRGB"):
        load((POINTS, FACES, np.full((4, 3), 200.0)))


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (Like(vertices=POINTS, triangles=FACES, vertex_colors=np.zeros((3, 3)), vertex_normals=np.zeros((3, 3))), None),
        (
            Like(
                vertices=POINTS,
                triangles=FACES,
                triangle_uvs=np.zeros((5, 2)),
                textures=[np.zeros((1, 1, 3), np.uint8)],
            ),
            None,
        ),
        (Like(vertices=POINTS, triangles=FACES, triangle_uvs=np.zeros((6, 2)), textures=[]), None),
    ],
)
def test_parts_of_open3d_that_do_not_fit(mesh: Any, words: Any) -> None:
    scene = scene_of(mesh)
    (found,) = scene.meshes
    assert found.colors is None and found.normals is None and found.uvs is None and scene.textures == []
    assert scene.name == "mesh"


def test_parts_of_open3d() -> None:
    normals = np.tile((0.0, 0, 3), (4, 1))
    images = [np.full((1, 1, 3), k, np.uint8) for k in (7, 8)]
    uvs = POINTS[FACES].reshape(-1, 3)[:, :2]
    mesh = Like(vertices=POINTS, triangles=FACES, vertex_normals=normals, triangle_uvs=uvs, textures=images)
    for chosen, numbers in ((None, [0, 0]), ([1, 0], [1, 0]), ([-1, 5], [0, 1]), ([1], [0, 0])):
        if chosen is not None:
            mesh.triangle_material_ids = np.array(chosen)
        scene = scene_of(mesh)
        assert scene.meshes[0].materials.tolist() == numbers
        assert [each.name for each in scene.materials] == ["texture 0", "texture 1"]
        assert [each.texture for each in scene.materials] == [0, 1]
        np.testing.assert_array_equal(scene.meshes[0].normals, [[0, 0, 1]] * 6)
        np.testing.assert_array_equal(scene.meshes[0].uvs, np.float32(uvs))
    colored = Like(vertices=POINTS, triangles=FACES, vertex_colors=np.full((4, 3), 0.5))
    np.testing.assert_allclose(scene_of(colored).meshes[0].colors, [[0.21404114] * 3 + [1]] * 4, rtol=1e-6)
    assert scene_of(Like(triangle=None, to_legacy=lambda: colored)).triangle_count == 2
