"""Semantic classes in glTF's extras, and names, as pictures' layers have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import Document

import raystream
from raystream.film import mattes


def model(tmp_path: Path, nodes: list[dict[str, Any]], meshes: list[dict[str, Any]], roots: list[int]) -> Any:
    doc = Document()
    points = doc.accessor(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]))
    doc.json |= {"scenes": [{"nodes": roots}], "nodes": nodes}
    doc.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": points}}], **mesh} for mesh in meshes]
    return raystream.load(doc.write(tmp_path, "model.gltf"))


def test_the_node_s_own_the_mesh_s_and_those_above(tmp_path: Path) -> None:
    nodes: list[dict[str, Any]] = [
        {"name": "room", "children": [1, 2, 3, 4], "extras": {"semantic": "indoors"}},
        {"name": "chair", "mesh": 0, "extras": {"class": "seat"}},
        {"name": "table", "mesh": 0},
        {"name": "wall", "mesh": 1},
        {"mesh": 2, "extras": {"class": 7}},
        {"mesh": 1, "extras": ["class", "none of ours"]},
    ]
    scene = model(tmp_path, nodes, [{"extras": {"class": "furniture"}}, {}, {"name": "m", "extras": 5}], [0, 5])
    found = mattes.classes(scene)
    assert [found.names[number] if number >= 0 else "" for number in found.indices] == [
        *("seat", "furniture", "indoors", "7"),
        "",
    ]
    assert mattes.objects(scene).names == ("chair", "table", "wall", "node 4", "node 5")
    assert mattes.parts(scene).names == ("room/chair", "room/table", "room/wall", "room/node 4", "node 5")
    assert mattes.assets(scene).names == ("room", "node 5")


@pytest.mark.parametrize("extras", [None, {}, {"class": True}, {"class": ["chair"]}, {"class": ""}, {"class": 1.5}, 3])
def test_other_extras_are_no_classes(tmp_path: Path, extras: Any) -> None:
    node = {"mesh": 0} if extras is None else {"mesh": 0, "extras": extras}
    scene = model(tmp_path, [node], [{}], [0])
    assert scene.hierarchy.classes is None and mattes.classes(scene).indices.tolist() == [-1]


def test_primitives_of_a_mesh_are_one_object(shared_scenes: Path) -> None:
    scene = raystream.load(shared_scenes / "models" / "ToyCar.glb")
    found = mattes.objects(scene)
    assert len(found.indices) == len(scene.instances) and len(set(found.names)) == len(found.names)
    assert {"ToyCar", "Fabric", "Glass"} <= set(found.names)


def test_gpu_instances_have_names_of_their_own(shared_scenes: Path) -> None:
    scene = raystream.load(shared_scenes / "forest_gpuinst.glb")
    found = mattes.objects(scene)
    assert len(found.names) == len(set(found.names)) > 100
    first = next(name for name in found.names if f"{name} 2" in found.names)
    assert f"{first} 3" in found.names
