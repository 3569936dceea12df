"""glTF: accessors of every kind, primitives of every mode, transforms, instances, cameras and extensions."""

from __future__ import annotations

import math
import struct
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import SQUARE, TWO, Document

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.files import Budget
from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.json import JsonObject, Omissions, parse
from raystream.formats.gltf.nodes import scene_nodes
from raystream.scene.projections import Orthographic
from tests.refusals import refusal


def points(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)


@pytest.mark.parametrize(("mode", "pairs"), [(0, None), (1, [[0, 1], [2, 3]]), (2, [[0, 1], [1, 2], [2, 3], [3, 0]])])
def test_points_and_lines(mode, pairs, tmp_path):
    doc = Document()
    colors = np.float32([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    doc.mesh({"POSITION": doc.accessor(points(4)), "COLOR_0": doc.accessor(colors)}, mode=mode)
    scene = load(doc.write(tmp_path))
    mesh = scene.meshes[0]
    assert scene.warnings == [] and scene.quadric_count == scene.triangle_count == (4 if pairs is None else len(pairs))
    assert np.array_equal(mesh.colors[:, :3], colors) and np.array_equal(mesh.positions, points(4))
    if pairs is not None:
        assert mesh.triangles[:, ::2].tolist() == pairs


@pytest.mark.parametrize("base", [True, False], ids=["over data", "over zeros"])
@pytest.mark.parametrize("kind", ["u1", "u2", "u4"])
def test_sparse(base, kind, tmp_path):
    doc, p = Document(), points(300)
    number = doc.accessor(p)
    expected = p.copy() if base else np.zeros_like(p)
    if not base:
        del doc.json["accessors"][number]["bufferView"]
    where, values = np.array([0, 7, 255], kind), points(3, 1)
    expected[where.astype(int)] = values
    view = doc.view(b"\xee" * 8 + where.tobytes().ljust(12) + values.tobytes())  # at their own offsets of one view
    component = {"u1": 5121, "u2": 5123, "u4": 5125}[kind]
    doc.json["accessors"][number]["sparse"] = {
        "count": 3,
        "indices": {"bufferView": view, "byteOffset": 8, "componentType": component},
        "values": {"bufferView": view, "byteOffset": 20},
    }
    doc.mesh({"POSITION": number})
    mesh = load(doc.write(tmp_path)).meshes[0]
    assert np.array_equal(mesh.positions[mesh.triangles].reshape(-1, 3), expected)


@pytest.mark.parametrize("width", [3, 4])
@pytest.mark.parametrize("kind", ["f4", "u1", "u2"])
def test_colors_and_coordinates(kind, width, tmp_path):
    doc = Document()
    most = 1 if kind == "f4" else np.iinfo(kind).max
    raw = np.round(np.random.default_rng(0).random((4, width)) * most).astype(kind)
    uv = (np.float32([[0, 0], [1, 0.25], [0.5, 1], [1, 1]]) * most).astype(kind)
    extra = {"normalized": True} if kind != "f4" else {}
    doc.mesh(
        {
            "POSITION": doc.accessor(SQUARE),
            "COLOR_0": doc.accessor(raw, stride=16, **extra),
            "TEXCOORD_0": doc.accessor(uv, stride=8, **extra),
            "NORMAL": doc.accessor(np.float32([[0, 0, 2]] * 4)),
        },
        doc.accessor(TWO),
    )
    mesh = load(doc.write(tmp_path)).meshes[0]
    assert np.allclose(mesh.colors[:, :width], raw / most, atol=1e-7)
    assert width == 4 or (mesh.colors[:, 3] == 1).all()
    assert np.allclose(mesh.uvs, uv / most, atol=1e-7)
    assert np.allclose(mesh.normals, (0, 0, 1))


def test_missing_normals_are_flat(tmp_path):
    doc = Document()
    p = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    doc.mesh({"POSITION": doc.accessor(p)}, doc.accessor(np.uint8([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3])))
    mesh = load(doc.write(tmp_path)).meshes[0]
    corners = p[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    expected = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(mesh.normals[mesh.triangles], expected[:, None], atol=1e-7)
    assert np.array_equal(mesh.positions[mesh.triangles], corners)


def rotation(x, y, z, w) -> np.ndarray:
    """By Rodrigues, not by the usual quaternion formula."""
    q = np.array([x, y, z, w], float)
    q /= np.linalg.norm(q)
    angle, axis = 2 * math.acos(q[3]), q[:3] / max(np.linalg.norm(q[:3]), 1e-300)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k


def trs(t=(0, 0, 0), r=(0, 0, 0, 1), s=(1, 1, 1)) -> np.ndarray:
    out = np.eye(4)
    out[:3, :3] = rotation(*r) * np.array(s)
    out[:3, 3] = t
    return out


def test_hierarchy_of_matrices_and_parts(tmp_path):
    doc = Document()
    doc.square()
    rng = np.random.default_rng(4)
    matrix = np.eye(4)
    matrix[:3] = rng.normal(size=(3, 4))
    parts = {"translation": [1.0, -2.0, 3.5], "rotation": [0.1, -0.7, 0.3, 0.6], "scale": [2.0, -0.5, 1e-3]}
    doc.json["nodes"] = [
        {"children": [2, 1], "matrix": matrix.T.ravel().tolist()},
        {"mesh": 0, "children": [3], **parts, "name": "one"},
        {"mesh": 0, "rotation": [0, 0, 2, 0]},
        {"mesh": 0, "translation": [0, 0, 7]},
        {"mesh": 0},
    ]
    scene = load(doc.write(tmp_path))
    local = trs(parts["translation"], parts["rotation"], parts["scale"])
    expected = [matrix @ trs(r=(0, 0, 1, 0)), matrix @ local, matrix @ local @ trs((0, 0, 7))]
    assert len(scene.instances) == 3  # node 4 is not in the scene
    for instance, world in zip(scene.instances, expected, strict=True):
        # float64 against float64: a few roundings of products of four terms
        assert np.allclose(instance.transform, world, rtol=1e-12, atol=1e-12)
    assert [instance.name for instance in scene.instances] == ["node 2", "one", "node 3"]
    assert len(scene.meshes) == 1


def test_scenes(tmp_path):
    doc = Document()
    doc.square()
    doc.json["nodes"] = [{"mesh": 0, "children": [1]}, {"mesh": 0}, {"mesh": 0}]
    doc.json["scenes"] = [{"nodes": [0]}, {"nodes": [2]}]
    for number, instances in ((1, 1), (0, 2)):
        doc.json["scene"] = number
        assert len(load(doc.write(tmp_path)).instances) == instances
    del doc.json["scene"]
    first = load(doc.write(tmp_path))
    assert len(first.instances) == 2 and first.warnings == ["no default scene: the first of 2 is shown"]
    del doc.json["scenes"]
    assert len(load(doc.write(tmp_path)).instances) == 3


def test_a_chain_of_20k_nodes(tmp_path):
    doc = Document()
    doc.square()
    count = 20_000
    doc.json["nodes"] = [{"translation": [0, 0, 1], "children": [k + 1]} for k in range(count)] + [{"mesh": 0}]
    assert load(doc.write(tmp_path)).instances[0].transform[2, 3] == count


@pytest.mark.parametrize("kind", ["f4", "i1", "i2"])
def test_gpu_instancing(kind, tmp_path):
    doc = Document()
    mesh = doc.square()
    doc.json["meshes"][mesh]["primitives"] *= 2
    doc.json["meshes"][mesh]["primitives"][1] = {**doc.json["meshes"][mesh]["primitives"][0], "material": 0}
    doc.json["materials"] = [{"name": "other"}]
    rng = np.random.default_rng(0)
    t, s = rng.normal(size=(5, 3)).astype(np.float32), rng.normal(size=(5, 3)).astype(np.float32)
    r = rng.normal(size=(5, 4))
    r /= np.linalg.norm(r, axis=1, keepdims=True)
    r = r.astype("f4") if kind == "f4" else np.round(r * np.iinfo(kind).max).astype(kind)
    more = {} if kind == "f4" else {"normalized": True}
    attributes = {"TRANSLATION": doc.accessor(t), "ROTATION": doc.accessor(r, **more), "SCALE": doc.accessor(s)}
    doc.json["nodes"] = [
        {"mesh": mesh, "scale": [2, 2, 2], "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}}
    ]
    doc.json["extensionsUsed"] = doc.json["extensionsRequired"] = ["EXT_mesh_gpu_instancing"]
    scene = load(doc.write(tmp_path))
    assert [instance.mesh for instance in scene.instances] == [0, 1] * 5
    for k in range(5):
        expected = trs(s=(2, 2, 2)) @ trs(t[k], r[k], s[k])
        # rotations were rounded to their type, and are made unit again
        assert np.allclose(scene.instances[2 * k].transform, expected, atol=1e-5)
    assert len(scene.flatten()) == 20


def test_equal_primitives_share_their_arrays(tmp_path):
    doc = Document()
    doc.mesh({"POSITION": doc.accessor(SQUARE), "NORMAL": doc.accessor(SQUARE + 1)}, doc.accessor(TWO))
    doc.json["materials"] = [{}, {}]
    primitive = doc.json["meshes"][0]["primitives"][0]
    doc.json["meshes"] = [{"primitives": [{**primitive, "material": k}]} for k in (0, 1, 0)]
    doc.json["nodes"] = [{"children": [1, 2, 3, 4]}, {"mesh": 0}, {"mesh": 1}, {"mesh": 2}, {"mesh": 0}]
    scene = load(doc.write(tmp_path))
    assert [instance.mesh for instance in scene.instances] == [0, 1, 0, 0]
    assert np.shares_memory(scene.meshes[0].positions, scene.meshes[1].positions)
    assert np.shares_memory(scene.meshes[0].triangles, scene.meshes[1].triangles)
    assert [mesh.materials[0] for mesh in scene.meshes] == [0, 1]


def test_cameras(tmp_path):
    doc = Document()
    doc.square()
    doc.json["cameras"] = [
        {"type": "perspective", "perspective": {"yfov": 0.5, "znear": 1, "aspectRatio": 2}},
        {"type": "orthographic", "orthographic": {"xmag": 1, "ymag": 1, "znear": 0, "zfar": 1}, "name": "flat"},
        {"type": "perspective", "name": "own", "perspective": {"yfov": 9, "znear": 1}},
    ]
    half = math.sqrt(0.5)
    doc.json["nodes"] = [
        {"children": [1, 2, 3, 4, 5, 6]},
        {"name": "eye", "camera": 0, "translation": [1, 2, 3], "rotation": [0, half, 0, half], "scale": [3, 3, 3]},
        {"name": "eye", "camera": 0},
        {"camera": 1},
        {"camera": 2},
        {"name": "nothing", "camera": 0, "scale": [0, 0, 0]},
        {"name": "eye", "camera": 0},
    ]
    scene = load(doc.write(tmp_path))
    assert [camera.name for camera in scene.cameras] == ["eye", "eye 2", "flat", "eye 3"]
    assert [camera.kind for camera in scene.cameras] == ["", "", "orthographic", ""]
    assert scene.cameras[2].projection == Orthographic(2.0)  # ymag is half of the height
    camera = scene.cameras[0]
    assert np.allclose(camera.origin, (1, 2, 3))
    assert np.allclose(camera.target, (0, 2, 3))  # a quarter turn to the left, one unit ahead
    assert np.allclose(np.array(camera.up) / np.linalg.norm(camera.up), (0, 1, 0))
    assert camera.fov == pytest.approx(math.degrees(0.5))
    assert sum("camera" in warning for warning in scene.warnings) == 2


def test_a_lens_shows_the_middle_of_the_scene_sharp(tmp_path):
    """Unless that lies behind the camera; the file itself has no focus."""
    doc = Document()
    doc.square()
    doc.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.5, "znear": 1}}]
    doc.json["nodes"] = [
        {"children": [1, 2, 3]},
        {"mesh": 0, "translation": [0, 0, -8]},
        {"camera": 0, "translation": [5, 0, -1]},
        {"camera": 0, "translation": [0, 0, -20]},
    ]
    depth = -8 + np.asarray(SQUARE)[:, 2].mean()
    seen, behind = load(doc.write(tmp_path)).cameras
    assert seen.focus_distance == pytest.approx(-1 - depth)
    assert behind.focus is None


COUNTS = {"i1": 127, "u1": 255, "i2": 32767, "u2": 65535, "u4": 4294967295}


def accessors(doc: Document, left: int = 1 << 30) -> Accessors:
    budget = Budget("a.gltf")
    budget.remaining = left
    return Accessors(parse(doc.gltf(), "a.gltf"), Path("a.gltf"), None, budget)


def owner(number: int) -> JsonObject:
    return JsonObject({"it": number}, "a.gltf: owner")


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [*COUNTS, "f4"])
def test_components_of_every_type_and_width(kind: str, width: int) -> None:
    """Plain, with `normalized` false or true, and where all integers are shares whatever the file says."""
    doc = Document()
    if kind == "f4":
        raw = np.float32([0, -0.0, 1, -1, 3.5, 1e30])
    else:
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        raw = np.array([0, 1, low, low + 1, high, high // 2], kind)
    rows = np.stack([np.roll(raw, k) for k in range(width)], axis=1)
    plain = [doc.accessor(rows), doc.accessor(rows, stride=4 * width + 4), doc.accessor(rows, normalized=False)]
    shares = doc.accessor(rows, normalized=True)
    found = accessors(doc)
    exact = rows.astype(np.float64)
    share = exact if kind == "f4" else np.maximum(exact / COUNTS[kind], -1.0)
    for number in plain:
        for normalize, expected in ((False, exact), (True, share)):
            values = found.floats("it", owner(number), (width,), normalize)
            assert values.dtype == np.float32 and values.shape == rows.shape
            np.testing.assert_allclose(values, expected, rtol=1e-7)
    for normalize in (False, True):
        values = found.floats("it", owner(shares), (4, width), normalize)
        np.testing.assert_allclose(values, share, rtol=1e-7)
        assert values is found.floats("it", owner(shares), (width,), normalize)  # read once


def test_offsets_of_views_and_accessors_add_up() -> None:
    """Two accessors interleaved in one view that does not begin the buffer; bytes around them are another's."""
    doc = Document()
    doc.view(b"\xee" * 20)
    a, b = np.float32([[1, 2], [3, 4], [5, 6]]), np.uint16([[7, 8, 9], [10, 11, 12], [13, 14, 15]])
    data = b"\xee" * 4 + b"".join(x.tobytes() + y.tobytes() + b"\xee\xee" for x, y in zip(a, b, strict=True))
    view = doc.view(data, stride=16)
    doc.json["accessors"] = [
        {"bufferView": view, "byteOffset": 4, "componentType": 5126, "count": 3, "type": "VEC2"},
        {"bufferView": view, "byteOffset": 12, "componentType": 5123, "count": 3, "type": "VEC3"},
        {"bufferView": view, "byteOffset": 20, "componentType": 5126, "count": 2, "type": "VEC2"},
        {"bufferView": view, "byteOffset": 4, "componentType": 5126, "count": 0, "type": "VEC2"},
        {"componentType": 5121, "count": 2, "type": "VEC4", "normalized": True},
    ]
    found = accessors(doc)
    expected = [a, b, a[1:], np.zeros((0, 2)), np.zeros((2, 4))]
    for number, each in enumerate(expected):
        np.testing.assert_array_equal(found.floats("it", owner(number), (each.shape[1],)), each)
    assert found.view_bytes(0) == b"\xee" * 20 and found.view_bytes(1) == data


def test_buffers_longer_and_shorter_than_they_say(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(20)))
    for length, right in ((19, True), (20, True), (21, False)):
        budget = Budget("a")
        text = b'{"buffers": [{"byteLength": %d, "uri": "a.bin"}], "bufferViews": [{"buffer": 0, "byteLength": 19}]}'
        made = Accessors(parse(text % length, "a.gltf"), tmp_path / "a.gltf", None, budget)
        with refusal("" if right else "says 21 bytes, but there are 20"):
            assert made.view_bytes(0) == bytes(range(19))
            assert budget.remaining == (1 << 30) + 16 * length and budget.empty == (1 << 20) + 16 * length


@pytest.mark.parametrize("count", range(1, 8))
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (4, {3: [[0, 1, 2]], 6: [[0, 1, 2], [3, 4, 5]]}),
        (5, [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4], [4, 5, 6]]),
        (6, [[1, 2, 0], [2, 3, 0], [3, 4, 0], [4, 5, 0], [5, 6, 0]]),
    ],
)
def test_triangles_of_any_number_of_corners(mode: int, expected: Any, count: int, tmp_path: Path) -> None:
    """3.7.2.1: p_i = {v_i, v_(i + 1 + i % 2), v_(i + 2 - i % 2)} of strips, {v_(i + 1), v_(i + 2), v_0} of fans; of a
    list the spare ones are left."""
    doc = Document()
    points = np.float32([[k, k * k, 1] for k in range(8)])
    doc.mesh({"POSITION": doc.accessor(points)}, doc.accessor(np.arange(count, dtype=np.uint8)), mode=mode)
    scene = load(doc.write(tmp_path))
    wanted = (
        expected[count - count % 3] if mode == 4 and count > 2 else [] if mode == 4 else expected[: max(count - 2, 0)]
    )
    (mesh,) = scene.meshes
    np.testing.assert_array_equal(mesh.positions[mesh.triangles], points[np.int64(wanted).reshape(-1, 3)])
    spare = mode == 4 and count % 3 > 0
    assert ("1 triangle lists end with one or two spare indices" in scene.warnings) == spare
    assert ("the scene has no triangles" in scene.warnings) == (not wanted)


@pytest.mark.parametrize("spare", [0, 4])
def test_the_last_element_needs_no_room_behind_it(spare: int, tmp_path: Path) -> None:
    """3.6.2.4: offset + stride * (count - 1) + an element's size fit the view; one byte less does not."""
    doc = Document()
    rows = np.zeros((4, 5), np.float32)
    rows[:, :3] = SQUARE
    data = rows.tobytes()[: 4 * 20 - 8 + spare]  # stride 20, of which 12 are the element
    for size, right in ((len(data), True), (4 * 20 - 8 - 1, False)):
        doc.json["accessors"], doc.json["meshes"] = [], []
        view = doc.view(data[:size], stride=20)
        doc.json["accessors"].append({"bufferView": view, "componentType": 5126, "count": 4, "type": "VEC3"})
        doc.mesh({"POSITION": 0}, doc.accessor(TWO))
        path = doc.write(tmp_path)
        with refusal("" if right else "4 elements end at byte 72 of a buffer view of 71"):
            np.testing.assert_array_equal(load(path).meshes[0].positions[:4], SQUARE)


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
        ({"TRANSLATION": SQUARE, "SCALE": SQUARE[:2]}, "accessors of one count"),
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
    (mesh,) = load(doc.write(tmp_path)).meshes
    np.testing.assert_array_equal(mesh.colors, np.float32([[0, 0.5, 2, 1], [0, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1]]))
    np.testing.assert_allclose(mesh.normals, [[0, 0, 1], [0, 0.6, 0.8], [0, 0, 1], [0, 0, 1]], atol=1e-7)


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
    with refusal(words):
        assert load(path).warnings == ["the scene has no triangles"]


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
