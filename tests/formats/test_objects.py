"""Scenes of other libraries' objects: by stand-ins with their attributes, and by the libraries where they are."""

from __future__ import annotations

from types import SimpleNamespace as Like
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.formats.objects import VIRIDIS, SceneBuilder, scene_from, scene_of, z_up_camera
from raystream.scene.builtin import build
from raystream.scene.camera import Camera
from raystream.scene.projections import Orthographic
from raystream.scene.scene import Scene

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float64)
FACES = np.array([[0, 1, 2], [0, 2, 3]])
RED, GREEN = (255, 0, 0, 255), (0, 128, 0, 255)


def colored_mesh(kind, colors):
    """What trimesh calls a Trimesh with a ColorVisuals."""
    visual = Like(kind=kind, **{f"{kind}_colors": np.array(colors, np.uint8)})
    return Like(vertices=POINTS, faces=FACES, visual=visual, metadata={})


def textured_mesh(**material):
    """A Trimesh with a TextureVisuals."""
    material = Like(name="paint", **material)
    visual = Like(kind="texture", uv=POINTS[:, :2], material=material)
    return Like(vertices=POINTS, faces=FACES, visual=visual, metadata={"name": "card"})


class Graph(dict):
    """What trimesh calls a scene graph."""

    @property
    def nodes_geometry(self) -> list[str]:
        return list(self)


class Arrays(dict):
    """Arrays by name, as PyVista's DataSetAttributes."""


class Dataset(Like):
    """What PyVista calls a PolyData of triangles."""

    def __init__(self, **more: Any) -> None:
        found = {"points": POINTS, "regular_faces": FACES, "is_all_triangles": True, "n_cells": 2}
        data = {"cell_data": Arrays(), "point_data": Arrays(), "active_scalars_name": None}
        super().__init__(**{**found, **data, **more})


def test_colored_meshes():
    assert scene_of(colored_mesh("vertex", [RED] * 4)).meshes[0].colors.tolist() == [[1, 0, 0, 1]] * 4
    faces = scene_of(colored_mesh("face", [RED, GREEN])).meshes[0]
    assert len(faces.positions) == 6 and faces.colors[:3].tolist() == [[1, 0, 0, 1]] * 3


def test_textured_meshes():
    image = Pillow.new("RGB", (2, 2), (9, 8, 7))
    scene = scene_of(textured_mesh(image=image, diffuse=(0, 0, 0, 255)))
    (material,) = scene.materials
    assert material.base_color == (1, 1, 1, 1) and material.texture == 0 and scene.name == "card"
    assert scene.textures[0].image.texels[0, 0].tolist() == [9, 8, 7, 255]
    assert scene.meshes[0].uvs.tolist() == [[0, 1], [1, 1], [1, 0], [0, 0]]  # trimesh's v points upwards
    made = textured_mesh(
        **{"metallicFactor": None, "roughnessFactor": 0.25, "baseColorFactor": np.array([255, 0, 51, 255], np.uint8)},
        **{"metallicRoughnessTexture": image, "doubleSided": True, "emissiveFactor": [1, 2, 3], "alphaMode": "MASK"},
    )
    scene = scene_of(made)
    (material,) = scene.materials
    assert (material.kind, material.metallic, material.roughness) == ("principled", 1, 0.25)
    np.testing.assert_allclose(material.base_color, (1, 0, 0.2, 1), rtol=1e-6)  # linear, of float32
    assert material.emission == (1, 2, 3) and material.double_sided and material.alpha_mode == "mask"
    assert scene.textures[material.metallic_roughness_texture].content == "data"


def test_placed_meshes():
    moved = np.eye(4)
    moved[0, 3] = 3
    given = Like(
        geometry={"card": colored_mesh("vertex", [RED] * 4), "cloud": Like(vertices=POINTS)},
        graph=Graph(left=(np.eye(4), "card"), right=(moved, "card")),
    )
    scene = scene_of(given)
    assert len(scene.meshes) == 1 and [each.name for each in scene.instances] == ["left", "right"]
    assert scene.bounds().tolist() == [[0, 0, 0], [4, 1, 0]] and "cloud" in scene.warnings[0]


def test_blocks():
    class Blocks:
        n_blocks = 2

        def __init__(self, *parts):
            self.parts = parts

        def __getitem__(self, number):
            return self.parts[number]

        def keys(self):
            return ["one", "two"]

    lines = Dataset(regular_faces=np.zeros((0, 3), int), n_cells=1)
    scene = scene_of(Blocks(Dataset(), lines))
    assert [each.name for each in scene.instances] == ["one"] and "two" in scene.warnings[0]


def test_faces_of_several_sizes():
    """PyVista raises where it is asked for the faces of a cylinder as an array."""

    class Mixed(Dataset):
        regular_faces = property(lambda self: np.reshape(np.arange(7), (-1, 3)), lambda self, faces: None)

        def triangulate(self):
            return Dataset()

    assert scene_of(Mixed(is_all_triangles=False)).triangle_count == 2


def test_what_points_up():
    for given in ("5,0,1 0,0,1", ((5, 0, 1), (0, 0, 1))):
        options: dict[str, Any] = {"camera": given}
        scene_from(Dataset(), options)
        assert options["camera"] == Camera((0, 1, 5), (0, 1, 0))
    for given, up, line in (
        ("cornell", "z", "up='z': applies to arrays"),
        ((POINTS, FACES), "x", "up='x': is not an up axis"),
    ):
        with pytest.raises(ViewerError, match=line):
            scene_of(given, up=up)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (3, r"scene: int cannot be shown \(give a file, a built-in name, a Scene"),
        ((POINTS,), r"1 arrays \(give \(vertices, faces\)"),
        ((POINTS[:, :2], FACES), r"vertices are \(4, 2\) of float64"),
        ((POINTS, FACES + 9), "a face names vertex 12 of 4"),
        ((POINTS, [[0, 1, 2], [0]]), "faces"),
        ((POINTS, FACES, [[1, 2, 3]]), "1 colors for 4 vertices and 2 faces"),
        ((POINTS, np.zeros((0, 3), int)), r"arrays: has no faces \(give at least one triangle\)"),
        ((POINTS * [1, np.nan, 1], FACES), r"vertex 0 is at \[0\.0, nan, 0\.0\], a corner of face 0"),
        (
            (POINTS, FACES, [[0, 0, 1.5]] * 4),
            r"colors reach 1\.5 \(give floats of 0 to 1, linear, or integers of 0 to 255",
        ),
        ((POINTS, FACES, [[0, np.nan, 1]] * 4), "colors reach from nan"),
        (Like(vertices=POINTS), "cannot be shown"),
        (Like(vertices=[["a"] * 3], faces=FACES), "vertices are"),
        ("no_such_scene", "neither a file nor a built-in scene"),
    ],
)
def test_what_is_refused(given, line):
    with pytest.raises(ViewerError, match=line):
        scene_of(given)


def test_trimesh_itself():
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box()
    box.visual.face_colors = np.array([RED] * 6 + [GREEN] * 6, np.uint8)
    scene = scene_of(trimesh.Scene({"box": box}))
    assert scene.triangle_count == 12 and scene.bounds().tolist() == [[-0.5] * 3, [0.5] * 3]
    assert sorted(set(scene.meshes[0].colors[:, 0].tolist())) == [0, 1]


def test_to_trimesh_and_back():
    pytest.importorskip("trimesh")
    cornell = build("cornell")
    back = scene_of(cornell.to_trimesh())
    assert back.triangle_count == cornell.triangle_count
    np.testing.assert_allclose(back.bounds(), cornell.bounds(), atol=1e-5 * np.abs(cornell.bounds()).max())  # float32
    here, there = cornell.camera(), back.camera()
    np.testing.assert_allclose(there.basis(), here.basis(), atol=1e-9)
    np.testing.assert_allclose((*there.origin, there.fov), (*here.origin, here.fov))
    assert {each.emission for each in back.materials} >= {
        each.emission for each in cornell.materials if any(each.emission)
    }


def test_to_trimesh_without_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(ViewerError, match=r"trimesh is not installed.*pip install trimesh"):
        Scene.from_triangles(POINTS, FACES).to_trimesh()


def test_pyvista_itself():
    pyvista = pytest.importorskip("pyvista")
    sphere = pyvista.Sphere(theta_resolution=6, phi_resolution=6)
    sphere["height"] = sphere.points[:, 2]
    scene = scene_of(sphere)
    assert scene.triangle_count == sphere.n_cells and scene.meshes[0].colors is not None
    assert scene_of(pyvista.ImageData(dimensions=(2, 2, 2))).triangle_count == 12
    assert scene_of(pyvista.Cylinder(resolution=5)).triangle_count == 16  # of quadrilaterals and pentagons


def test_open3d_itself():
    try:
        import open3d
    except (ImportError, OSError) as error:  # it needs libraries of the system
        pytest.skip(f"open3d: {error}")
    box = open3d.geometry.TriangleMesh.create_box()
    box.paint_uniform_color((1, 0, 0))
    assert (scene_of(box).meshes[0].colors == (1, 0, 0, 1)).all()
    assert scene_of(open3d.t.geometry.TriangleMesh.from_legacy(box)).triangle_count == 12


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
        (np.full((2, 3, 3), (1, 2, 3), np.uint8), (1, 2, 3, 255)),
        (np.full((2, 3, 4), (1, 2, 3, 4), np.uint8), (1, 2, 3, 4)),
        (Pillow.new("L", (3, 2), 7), (7, 7, 7, 255)),
        (Pillow.new("RGBA", (3, 2), (1, 2, 3, 4)), (1, 2, 3, 4)),
        (np.full((2, 3, 2), 7, np.uint8), None),
        (np.zeros((0, 3, 3), np.uint8), None),
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
        "text": Like(),
        "hidden": Like(mapper=Like(dataset=Dataset()), prop=prop(), visibility=False),
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
    assert [each.name for each in scene.instances] == list(actors)[2:]
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
