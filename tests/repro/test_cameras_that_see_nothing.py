"""A file's or object's camera that sees nothing gave an empty picture without a word: the duck's, as trimesh hands it
on, stands 400 units away from a scene of one."""

from __future__ import annotations

from types import SimpleNamespace as Like

import numpy as np
import pytest

import raystream
from raystream.scene.camera import Camera
from tests.formats.documents import Document

BOX = np.array([[-1.0, -1, -1], [1, 1, 1]])
CORNERS = [[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


@pytest.mark.parametrize(
    ("origin", "target", "seen"),
    [
        ((0, 0, 5), (0, 0, 0), True),
        ((0, 0, 0), (0, 0, 1), True),  # inside
        ((0, 0, 5), (0, 0, 9), False),  # behind it
        ((0, 0, 5), (0, 5, 5.5), False),  # below the picture
        ((0, 0, 5), (4, 0, 1), True),  # beside a square picture, but not a wide one
        ((0, 0, 5), (9, 0, 5), False),
        ((0, 0, 200), (0, 0, 0), True),  # 8 pixels of 720
        ((0, 0, 800), (0, 0, 0), False),
    ],
)
def test_what_a_camera_sees(origin, target, seen) -> None:
    assert Camera(origin, target).sees(BOX) is seen
    assert Camera(origin, target).sees(np.zeros((2, 3))) and Camera(origin, target).sees(BOX * np.inf)


def given(distance: float) -> Like:
    """What trimesh calls a Scene, of a cube before its camera."""
    place = np.eye(4)
    place[2, 3] = distance
    cube = Like(vertices=np.array(CORNERS), faces=np.array(SIDES))

    class Graph(dict):
        nodes_geometry = ("cube",)

    graph, camera = Graph(cube=(np.eye(4), "cube")), Like(fov=(60, 45), name="eye")
    return Like(geometry={"cube": cube}, graph=graph, has_camera=True, camera_transform=place, camera=camera)


def test_an_object_s_camera(device) -> None:
    near = raystream.load(given(6))
    assert [each.name for each in near.cameras] == ["eye"] and not near.warnings
    with pytest.warns(raystream.ViewerWarning, match="^scene: camera 'eye' sees nothing: the scene is framed") as told:
        picture = raystream.render(given(400), layers="triangle", program="cast", size=16)
    assert "(camera='eye' takes it)" in str(told[0].message)
    assert (picture.layers["triangle"] >= 0).mean() > 0.2
    picture = raystream.render(given(400), camera="eye", layers="triangle", program="cast", size=16)
    assert (picture.layers["triangle"] < 0).all()


def test_a_file_s_camera(tmp_path, device) -> None:
    """Of glTF: looking away from a triangle, or at it."""
    for z, seen in ((2, True), (-2, False)):
        doc = Document()
        doc.mesh({"POSITION": doc.accessor(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]))})
        doc.json["cameras"] = [{"type": "perspective", "name": "camera", "perspective": {"yfov": 1.08, "znear": 0.1}}]
        doc.json["nodes"].append({"camera": 0, "translation": [0, 0, z]})
        doc.json["scenes"] = [{"nodes": [0, 1]}]
        scene = raystream.load(doc.write(tmp_path))
        assert [each.name for each in scene.cameras] == ["camera"]
        assert bool(scene.warnings) is (z < 0) is not seen and scene.camera().sees(scene.bounds())
        assert (scene.own_camera is not None) is seen
