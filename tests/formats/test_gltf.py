"""glTF: accessors of every kind, primitives of every mode, transforms, instances, cameras, materials, extensions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from documents import SQUARE, TWO, Document

from raystream.formats import load
from raystream.scene.hierarchy import Hierarchy
from raystream.scene.projections import Orthographic


def points(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)


def test_buffer_in_its_own_file(tmp_path):
    doc = Document()
    doc.square()
    (tmp_path / "the data.bin").write_bytes(doc.data + b"spare")
    doc.json["buffers"] = [{"byteLength": len(doc.data), "uri": "the%20data.bin"}]
    import json

    (tmp_path / "a.gltf").write_text(json.dumps(doc.json))
    assert load(tmp_path / "a.gltf").triangle_count == 2


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
    where, values = np.array([3, 7, 255], kind), points(3, 1)
    expected[where.astype(int)] = values
    doc.json["accessors"][number]["sparse"] = {
        "count": 3,
        "indices": {
            "bufferView": doc.view(where.tobytes()),
            "componentType": {"u1": 5121, "u2": 5123, "u4": 5125}[kind],
        },
        "values": {"bufferView": doc.view(values.tobytes())},
    }
    doc.mesh({"POSITION": number})
    mesh = load(doc.write(tmp_path)).meshes[0]
    assert np.array_equal(mesh.positions[mesh.triangles].reshape(-1, 3), expected)


def test_sparse_parts_share_a_buffer_view(tmp_path):
    """Base, indices and values at their own offsets of one view."""
    doc, p, new = Document(), points(6), points(2, 1)
    where = np.uint16([4, 1])
    data = b"\xee" * 8 + p.tobytes() + where.tobytes() + new.tobytes()
    view = doc.view(data)
    doc.json["accessors"] = [
        {
            "bufferView": view,
            "byteOffset": 8,
            "componentType": 5126,
            "count": 6,
            "type": "VEC3",
            "sparse": {
                "count": 2,
                "indices": {"bufferView": view, "byteOffset": 8 + 72, "componentType": 5123},
                "values": {"bufferView": view, "byteOffset": 8 + 72 + 4},
            },
        }
    ]
    doc.mesh({"POSITION": 0})
    mesh = load(doc.write(tmp_path)).meshes[0]
    p[where] = new
    assert np.array_equal(mesh.positions[mesh.triangles].reshape(-1, 3), p)


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
    counts = []
    for change in ({"scene": 1}, {"scene": 0}, {}):
        doc.json.pop("scene", None)
        doc.json.update(change)
        counts.append(len(load(doc.write(tmp_path)).instances))
    del doc.json["scenes"]
    counts.append(len(load(doc.write(tmp_path)).instances))
    assert counts == [1, 2, 2, 3]


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


def test_parts_of_an_object(tmp_path):
    """The primitives of a node's mesh belong together; another node's, at the same place, do not."""
    doc = Document()
    mesh = doc.square()
    doc.json["meshes"][mesh]["primitives"] *= 3
    doc.json["nodes"] = [{"children": [1, 2, 3]}, *({"mesh": mesh, "translation": [x, 0, 0]} for x in (0, 1, 0))]
    scene = load(doc.write(tmp_path))
    scene.hierarchy = None
    assert [scene.parts(number) for number in (0, 4, 8)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    scene.hierarchy = Hierarchy.of([-1, 0, 1], np.zeros((3, 3)), [0, 0, 0, 1, 1, 1, 2, 2])  # the last is not in it
    assert [scene.parts(number) for number in (0, 4, 6, 8)] == [[*range(8)], [*range(3, 8)], [6, 7, 8], [6, 7, 8]]
    assert repr(scene).startswith(f"<Scene {scene.name!r}: 18 triangles,")
