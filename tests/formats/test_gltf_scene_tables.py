"""Nodes, instances, containers, versions and cameras of glTF by tables."""

from __future__ import annotations

import math
import struct
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from documents import SQUARE, TWO, Document

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.gltf.json import JsonObject, Omissions
from raystream.formats.gltf.nodes import scene_nodes
from raystream.formats.gltf.reader import APPLIED, HARMLESS


def test_names_of_meshes_and_instances(tmp_path: Path) -> None:
    doc = Document()
    for name in ("cup", "", None):
        doc.square()
        if name is not None:
            doc.json["meshes"][-1]["name"] = name
    doc.json["meshes"][1]["primitives"] *= 2
    doc.json["meshes"][1]["primitives"][1] = {**doc.json["meshes"][1]["primitives"][0], "material": 0}
    doc.json["materials"] = [{}]
    doc.json["nodes"] = [{"mesh": 0, "children": [1, 2]}, {"mesh": 1, "name": "two"}, {"mesh": 2}]
    scene = load(doc.write(tmp_path, "cups.glb"))
    assert [mesh.name for mesh in scene.meshes] == ["cup", "mesh 1/0", "mesh 1/1", "mesh 2"]
    assert [(each.mesh, each.name) for each in scene.instances] == [
        (0, "node 0"),
        (1, "two"),
        (2, "two"),
        (3, "node 2"),
    ]
    assert scene.name == "cups" and scene.materials[1].name == "default"
    assert [mesh.materials.tolist() for mesh in scene.meshes] == [[1, 1], [1, 1], [0, 0], [1, 1]]
    default = scene.materials[1]
    assert (default.base_color, default.metallic, default.roughness, default.kind) == ((1, 1, 1, 1), 1, 1, "principled")
    assert default.backface_culling and not default.double_sided


def test_matrices_are_columns(tmp_path: Path) -> None:
    """And their last row may be off by 1e-5, not by more."""
    doc = Document()
    doc.square()
    matrix = [1, 2, 3, 0, 4, 5, 6.5, 0, 7, 8, 10, 0, 11, 12, 13, 1]
    for off, right in ((0, True), (9e-6, True), (-9e-6, True), (2e-5, False), (-2e-5, False)):
        for place in (3, 7, 11, 15):
            doc.json["nodes"][0]["matrix"] = [each + off * (k == place) for k, each in enumerate(matrix)]
            if right:
                found = load(doc.write(tmp_path)).instances[0].transform
                np.testing.assert_array_equal(found, [[1, 4, 7, 11], [2, 5, 8, 12], [3, 6.5, 10, 13], [0, 0, 0, 1]])
            else:
                with pytest.raises(ViewerError, match="its last row is not 0 0 0 1"):
                    load(doc.write(tmp_path))


def test_nodes_without_direction_or_extent_are_counted(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["nodes"] = [
        {"children": [1, 2, 3]},
        {"mesh": 0, "rotation": [0, 0, 0, 0], "translation": [1, 2, 3]},
        {"mesh": 0, "scale": [1, 0, 1]},
        {"mesh": 0},
    ]
    scene = load(doc.write(tmp_path))
    assert scene.warnings == [
        "1 nodes have a zero rotation; they are not turned",
        "1 nodes or instances have a zero scale along an axis",
    ]
    np.testing.assert_array_equal(
        scene.instances[0].transform, [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    )


def test_the_first_of_several_scenes_is_told(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    del doc.json["scene"]
    assert load(doc.write(tmp_path)).warnings == []
    doc.json["scenes"] *= 2
    assert load(doc.write(tmp_path)).warnings == ["no default scene: the first of 2 is shown"]


@pytest.mark.parametrize("keys", [("TRANSLATION",), ("ROTATION",), ("SCALE",), ("ROTATION", "SCALE")])
def test_parts_of_gpu_instances_that_are_left_out(keys: tuple[str, ...], tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    half = math.sqrt(0.5)
    given = {
        "TRANSLATION": np.float32([[1, 2, 3], [4, 5, 6]]),
        "ROTATION": np.float32([[0, 0, 0, 1], [0, 0, half, half]]),
        "SCALE": np.float32([[2, 3, 4], [5, 6, 7]]),
    }
    attributes = {key: doc.accessor(given[key]) for key in keys}
    doc.json["nodes"] = [
        {"children": [1]},
        {"mesh": 0, "translation": [10, 0, 0], "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}},
    ]
    scene = load(doc.write(tmp_path))
    for k, instance in enumerate(scene.instances):
        below = np.eye(4)
        if "ROTATION" in keys and k == 1:
            below[:2, :2] = [[0, -1], [1, 0]]
        if "SCALE" in keys:
            below[:3, :3] *= given["SCALE"][k]
        if "TRANSLATION" in keys:
            below[:3, 3] = given["TRANSLATION"][k]
        np.testing.assert_allclose(scene.hierarchy.offsets[k], below, atol=1e-7)
        below[0, 3] += 10
        np.testing.assert_allclose(instance.transform, below, atol=1e-7)
    assert len(scene.instances) == 2 and scene.hierarchy.instance_nodes.tolist() == [1, 1]


def test_instances_of_gpu_beside_plain_ones(tmp_path: Path) -> None:
    """Only those of the extension stand off their node."""
    doc = Document()
    doc.square()
    attributes = {"TRANSLATION": doc.accessor(np.float32([[1, 0, 0], [2, 0, 0]]))}
    many = {"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}}
    doc.json["nodes"] = [{"children": [1, 2, 3]}, {"mesh": 0}, many, {"mesh": 0}]
    scene = load(doc.write(tmp_path))
    assert scene.hierarchy.instance_nodes.tolist() == [1, 2, 2, 3]
    assert scene.hierarchy.offsets[:, 0, 3].tolist() == [0, 1, 2, 0]
    doc.json["nodes"][2] = {"mesh": 0}
    assert load(doc.write(tmp_path)).hierarchy.offsets is None


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "accessors of one count, got none"),
        ({"TRANSLATION": np.float32([[1, 2, math.nan]])}, "TRANSLATION: has non-finite values"),
        ({"ROTATION": np.float32([[1, 2, math.inf, 0]])}, "ROTATION: has non-finite values"),
        ({"SCALE": np.float32([[1, 2, math.inf]])}, "SCALE: has non-finite values"),
    ],
)
def test_gpu_instances_malformed(attributes: dict[str, np.ndarray], words: str, tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    named = {key: doc.accessor(values) for key, values in attributes.items()}
    doc.json["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": named}}
    with pytest.raises(ViewerError, match=words):
        load(doc.write(tmp_path))


def test_colors_are_held_above_zero_and_default_to_opaque(tmp_path: Path) -> None:
    doc = Document()
    colors = np.float32([[-1, 0.5, 2], [math.nan, 1, 0], [0, 0, 0], [1, 1, 1]])
    normals = np.float32([[0, 0, 5], [0, 3, 4], [0, 0, 0], [0, 0, 1]])
    doc.mesh(
        {"POSITION": doc.accessor(SQUARE), "COLOR_0": doc.accessor(colors), "NORMAL": doc.accessor(normals)},
        doc.accessor(TWO),
    )
    scene = load(doc.write(tmp_path))
    (mesh,) = scene.meshes
    np.testing.assert_array_equal(mesh.colors, np.float32([[0, 0.5, 2, 1], [0, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1]]))
    np.testing.assert_allclose(mesh.normals, [[0, 0, 1], [0, 0.6, 0.8], [0, 0, 1], [0, 0, 1]], atol=1e-7)
    assert scene.warnings == ["1 vertices have a normal without direction; recomputed from their faces"]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack("<I4s", len(data), kind) + data


def container(*chunks: bytes, version: int = 2, length: int | None = None) -> bytes:
    body = b"".join(chunks)
    return b"glTF" + struct.pack("<II", version, 12 + len(body) if length is None else length) + body


EMPTY = chunk(b"JSON", b'{"asset": {"version": "2.0"}}   ')


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"glTF" + bytes(7), "11 bytes, shorter than the header"),
        (container(EMPTY, version=1), "version 1 of the .glb container"),
        (container(EMPTY, version=3), "version 3 of the .glb container"),
        (container(EMPTY, length=13 + len(EMPTY)), "says 53 bytes, but has 52"),
        (container(EMPTY) + b"", ""),
        (container(EMPTY) + b"after the end", ""),
        (container(EMPTY, chunk(b"BIN\0", b"")), ""),
        (container(EMPTY + bytes(7)), "a chunk's header at byte 52 is cut off"),
        (container(EMPTY + struct.pack("<I4s", 0, b"JUNK")), ""),
        (container(EMPTY + struct.pack("<I4s", 1, b"JUNK")), "a chunk of 1 bytes, of which 0 are there"),
        (container(chunk(b"BIN\0", b"abcd"), EMPTY), "the first chunk is not JSON"),
        (container(), "has no JSON chunk"),
    ],
)
def test_containers(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.glb"
    path.write_bytes(data)
    if words:
        with pytest.raises(ViewerError, match=words):
            load(path)
    else:
        assert load(path).warnings == ["the scene has no triangles"]


def test_the_first_binary_chunk_counts(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    data = doc.glb() + chunk(b"BIN\0", b"\xff" * len(doc.data))
    path = tmp_path / "a.glb"
    path.write_bytes(data[:8] + struct.pack("<I", len(data)) + data[12:])
    np.testing.assert_array_equal(load(path).meshes[0].positions[:3], SQUARE[:3])


@pytest.mark.parametrize(
    ("asset", "fault"),
    [
        ({"version": "2.0"}, ""),
        ({"version": "2.1"}, ""),
        ({"version": "2.1", "minVersion": "2.0"}, ""),
        ({"version": "3.0", "minVersion": "2.0"}, ""),
        ({"version": "2.1", "minVersion": "2.1"}, "minVersion: glTF '2.1'"),
        ({"version": "1.0"}, "version: glTF '1.0'"),
        ({"version": "20.0"}, "version: glTF '20.0'"),
        ({}, ""),
    ],
)
def test_versions(asset: dict[str, str], fault: str, tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["asset"] = asset
    if fault:
        with pytest.raises(ViewerError, match=fault):
            load(doc.write(tmp_path))
    else:
        assert load(doc.write(tmp_path)).warnings == []
    del doc.json["asset"]
    assert load(doc.write(tmp_path)).warnings == ["the file has no glTF version; read as 2.0"]


def test_extensions_are_applied_kept_or_refused(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["extensionsUsed"] = ["ZZ_other", *sorted(APPLIED - {"KHR_draco_mesh_compression"}), *HARMLESS, "AA_other"]
    scene = load(doc.write(tmp_path))
    assert scene.extensions_used == sorted(doc.json["extensionsUsed"])
    assert scene.extensions_ignored == sorted([*HARMLESS, "AA_other", "ZZ_other"])
    doc.json["extensionsRequired"] = sorted(HARMLESS)
    assert load(doc.write(tmp_path)).extensions_ignored == sorted([*HARMLESS, "AA_other", "ZZ_other"])


def test_references_out_of_the_folder_are_told(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["images"] = [{"uri": "in.png"}, {"uri": "../out.png"}, {"uri": "DATA:image/png,"}, {}]
    assert load(doc.write(tmp_path)).warnings == [
        "images[1] will not be opened: '../out.png' climbs out of the scene's folder"
    ]


def test_names_of_cameras(tmp_path: Path) -> None:
    """Of the node, else of the camera, else by number; cameras that are not there are told."""
    doc = Document()
    doc.square()
    lens = {"type": "perspective", "perspective": {"yfov": math.radians(40), "znear": 1}}
    doc.json["cameras"] = [lens, {**lens, "name": "own"}, {"type": "orthographic"}]
    doc.json["nodes"] = [
        {"children": [*range(1, 8)], "mesh": 0},
        {"camera": 0},
        {"camera": 1},
        {"camera": 1, "name": "node"},
        {"camera": 0},
        {"camera": 0},
        {"camera": 3},
        {"camera": -1},
    ]
    scene = load(doc.write(tmp_path))
    assert [camera.name for camera in scene.cameras] == ["camera 0", "own", "node", "camera 0 2", "camera 0 3"]
    assert [camera.fov for camera in scene.cameras] == pytest.approx([40] * 5)
    assert scene.hierarchy.camera_nodes.tolist() == [1, 2, 3, 4, 5]
    assert scene.warnings == ["nodes[6] names camera 3 of 3", "nodes[7] names camera -1 of 3"]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_trees_in_any_order_of_their_nodes(order: tuple[int, ...]) -> None:
    """Of a node above two, one of them above another: a child may stand before its parent; and none has an ancestor
    among its own nodes, wherever these stand."""
    nodes: list[dict] = [{"name": f"{k}"} for k in range(5)]
    top, left, right, low = order
    nodes[top]["children"], nodes[left]["children"] = [left, right], [low]
    found = scene_nodes(JsonObject({"nodes": nodes}, "a.gltf"), [], Omissions(False))
    places = {number: place for place, number in enumerate(found.indices)}
    assert [found.parents[places[k]] for k in (top, left, right, low, 4)] == [
        -1,
        places[top],
        places[top],
        places[left],
        -1,
    ]
    for ring in ((low,), (right, low), (left, right, low)):
        nodes = [{} for _ in range(5)]
        for one, other in zip(ring, (*ring[1:], ring[0]), strict=True):
            nodes[one]["children"] = [other]
        with pytest.raises(ViewerError, match=r"nodes\[\d\]: is its own ancestor"):
            scene_nodes(JsonObject({"nodes": nodes}, "a.gltf"), [], Omissions(False))
