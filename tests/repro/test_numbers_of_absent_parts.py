"""``Instance(5)`` of one mesh was an IndexError, material 9 of 1 was accepted in silence, and a texture's ``index`` of
0.0 in a glTF, a whole number of JSON, a KeyError: the images in use were searched for among integers alone."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import raystream
from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.renderer.inputs.prepared import prepare
from raystream.renderer.scene_update import load_scene
from raystream.scene.material import Material
from raystream.scene.scene import Instance, Scene

TRIANGLE = Scene.from_triangles([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"instances": [Instance(0), Instance(5)]}, r"instance 1 names mesh 5 \(there are 1, numbered from 0"),
        ({"instances": [Instance(-1)]}, "instance 0 names mesh -1"),
        ({"instances": [Instance(0, material=9)]}, r"instance 0 names material 9 \(there are 1"),
        (
            {"meshes": [replace(TRIANGLE.meshes[0], materials=np.int32([3]))]},
            "mesh 0, triangle 0 names material 3",
        ),
        ({"materials": [Material(normal_texture=2)]}, r"material 0, use 0 names texture 2 \(there are 0"),
    ],
)
def test_scenes(parts, message) -> None:
    scene = replace(TRIANGLE, **parts)
    for use in (lambda: load_scene(scene, {}), lambda: prepare(scene)):
        with pytest.raises(ViewerError, match=f"triangles: {message}"):
            use()


def test_a_material_of_an_instance_replaces_the_meshs() -> None:
    mesh = replace(TRIANGLE.meshes[0], materials=np.int32([3]))
    raystream.Scene([mesh], [Instance(0, material=0)]).check()
    TRIANGLE.check()


def test_whole_floats_of_json(tmp_path) -> None:
    Image.new("RGB", (3, 2)).save(tmp_path / "a.png")
    document = {
        "asset": {"version": "2.0"},
        "images": [{"uri": "a.png"}],
        "textures": [{"source": 0.0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0.0}}}],
    }
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps(document))
    assert load(path).textures[0].image.size == (3, 2)
