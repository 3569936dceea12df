"""Scenes of other libraries' objects: by stand-ins with their attributes, and by the libraries where they are."""

from __future__ import annotations

from types import SimpleNamespace as Like

import numpy as np
import pytest
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.formats.objects import scene_from, scene_of
from raystream.scene.builtin import build
from raystream.scene.camera import Camera
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


class Arrays(dict):
    """Arrays by name, as PyVista's DataSetAttributes."""


class Dataset(Like):
    """What PyVista calls a PolyData of triangles."""

    def __init__(self, **more):
        found = {
            "points": POINTS,
            "regular_faces": FACES,
            "is_all_triangles": True,
            "n_cells": 2,
            "cell_data": Arrays(),
        }
        super().__init__(**{**found, "point_data": Arrays(), "active_scalars_name": None, **more})


def test_names_and_scenes():
    cornell = build("cornell")
    assert scene_of("cornell").triangle_count == cornell.triangle_count and scene_of(cornell) is cornell


@pytest.mark.parametrize("colors", [None, [[1, 0.25, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]])
def test_arrays(colors):
    scene = scene_of((POINTS.tolist(), FACES.tolist(), colors))
    (mesh,) = scene.meshes
    assert np.array_equal(mesh.positions, POINTS) and np.array_equal(mesh.triangles, FACES)
    if colors is None:
        assert mesh.colors is None and scene.materials[0].base_color == (0.8, 0.8, 0.8, 1)
    else:
        assert np.array_equal(mesh.colors[:, :3], np.float32(colors)) and scene.materials[0].base_color[:3] == (1, 1, 1)


def test_bytes_in_floats():
    """Colours of 0 to 255 by their values, if not by their type."""
    bytes_, floats = (scene_of((POINTS, FACES, np.array([RED, GREEN], kind))) for kind in (np.uint8, np.float32))
    assert np.array_equal(bytes_.meshes[0].colors, floats.meshes[0].colors) and not bytes_.warnings
    assert floats.warnings == [
        "arrays: colors reach 255: taken as sRGB of 0 to 255 (give floats of 0 to 1, linear, or integers of 0 to 255,"
        " sRGB)"
    ]
    assert not scene_of((POINTS, FACES, np.full((4, 3), 1.0005))).warnings


def test_points_that_no_face_uses_may_be_anywhere():
    assert scene_of(([*POINTS.tolist(), [np.nan] * 3], FACES)).triangle_count == 2


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
    class Graph(dict):
        nodes_geometry = ("left", "right")

    moved = np.eye(4)
    moved[0, 3] = 3
    camera_at = np.eye(4)
    camera_at[2, 3] = 5
    given = Like(
        geometry={"card": colored_mesh("vertex", [RED] * 4), "cloud": Like(vertices=POINTS)},
        graph=Graph(left=(np.eye(4), "card"), right=(moved, "card")),
        has_camera=True,
        camera_transform=camera_at,
        camera=Like(fov=(60, 45), name="eye"),
    )
    scene = scene_of(given)
    assert len(scene.meshes) == 1 and [each.name for each in scene.instances] == ["left", "right"]
    assert scene.bounds().tolist() == [[0, 0, 0], [4, 1, 0]] and "cloud" in scene.warnings[0]
    (camera,) = scene.cameras
    assert (camera.origin, camera.fov, camera.name) == ((0, 0, 5), 45, "eye")
    assert camera.basis()[2].tolist() == [0, 0, -1] and camera.basis()[1].tolist() == [0, 1, 0]


def test_datasets():
    scene = scene_of(Dataset())
    assert scene.triangle_count == 2 and scene.cameras[0].up == (0, 1, 0)  # z was up
    scene = scene_of(Dataset(point_data=Arrays(heat=np.arange(4.0)), active_scalars_name="heat"))
    low, high = scene.meshes[0].colors[[0, 3], :3]
    assert low[2] > low[1] and high[0] > high[1] > high[2]  # from dark violet to yellow
    shown = Dataset(cell_data=Arrays(RGB=np.array([RED[:3], GREEN[:3]], np.uint8)), active_scalars_name="RGB")
    assert scene_of(shown).meshes[0].colors[0].tolist() == [1, 0, 0, 1]
    grid = Like(points=POINTS, extract_surface=lambda: Dataset())
    assert scene_of(grid).triangle_count == 2


def test_blocks_and_plotters():
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
    prop = Like(color=Like(float_rgb=(1.0, 0.0, 0.0)), opacity=0.5, interpolation="PBR", metallic=0.25, roughness=0.75)
    moved = np.eye(4)
    moved[2, 3] = 2
    mapper = Like(dataset=Dataset(), scalar_visibility=False)
    actor = Like(mapper=mapper, prop=prop, user_matrix=moved, visibility=True)
    view = Like(position=(0, 0, 9), focal_point=(0, 0, 0), up=(0, 1, 0), view_angle=30.0)
    actors = {"text": Like(), "card": actor, "hidden": Like(mapper=mapper, visibility=False)}
    scene = scene_of(Like(actors=actors, camera=view))
    (material,) = scene.materials
    assert material.base_color == (1, 0, 0, 0.5) and (material.metallic, material.alpha_mode) == (0.25, "blend")
    (camera,) = scene.cameras
    assert scene.bounds().tolist() == [[0, 2, 0], [1, 2, 1]] and (camera.origin, camera.fov) == ((0, 9, 0), 30)


def test_faces_of_several_sizes():
    """PyVista raises where it is asked for the faces of a cylinder as an array."""

    class Mixed(Dataset):
        regular_faces = property(lambda self: np.reshape(np.arange(7), (-1, 3)), lambda self, faces: None)

        def triangulate(self):
            return Dataset()

    assert scene_of(Mixed(is_all_triangles=False)).triangle_count == 2


def test_what_points_up():
    tall = POINTS[:, [2, 0, 1]] * (1, 1, 3)  # in the plane of y and z
    options = {"up": "z", "camera": "5,0,1 0,0,1", "spp": 1}
    scene = scene_from((tall, FACES), options)
    assert scene.bounds().tolist() == [[0, 0, 0], [1, 3, 0]] and options.keys() == {"camera", "spp"}
    assert options["camera"] == Camera((0, 1, 5), (0, 1, 0))
    options = {"camera": Camera((5, 0, 1), (0, 0, 1), (0, 1, 1))}
    scene_from(Dataset(), options)
    assert options["camera"] == Camera((0, 1, 5), (0, 1, 0), (1, 1, 0))
    options = {"camera": ((5, 0, 1), (0, 0, 1))}
    scene_from(Dataset(), options)
    assert options["camera"] == Camera((0, 1, 5), (0, 1, 0))
    options = {"camera": "5,0,1 0,0,1", "up": "y"}
    assert scene_from(Dataset(), options).bounds()[1].tolist() == [1, 1, 0] and options == {"camera": "5,0,1 0,0,1"}
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
        (None, "None cannot be shown"),
        ((POINTS,), r"1 arrays \(give \(vertices, faces\)"),
        ((POINTS[:, :2], FACES), r"vertices are \(4, 2\) of float64"),
        ((POINTS, FACES + 9), "a face names vertex 12 of 4"),
        ((POINTS, FACES.astype(float)), "faces are float64"),
        ((POINTS, [[0, 1, 2], [0]]), "faces"),
        ((POINTS, FACES, [[1, 2, 3]]), "1 colors for 4 vertices and 2 faces"),
        ((POINTS, np.zeros((0, 3), int)), r"arrays: has no faces \(give at least one triangle\)"),
        ((POINTS * [1, np.nan, 1], FACES), r"vertex 0 is at \[0\.0, nan, 0\.0\], a corner of face 0"),
        (
            (POINTS, FACES, [[0, 0, 1.5]] * 4),
            r"colors reach 1\.5 \(give floats of 0 to 1, linear, or integers of 0 to 255",
        ),
        ((POINTS, FACES, [[0, 0, 256]] * 4), "colors reach from 0 to 256"),
        ((POINTS, FACES, [[0, -0.5, 1]] * 4), r"colors reach from -0\.5 to 1"),
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
