"""Skins and morph targets of glTF files, against an evaluation vertex by vertex; faults of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import Document
from pose_oracle import Oracle
from rigs import animate, chain, columns, morphed, simple_skin

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.scene.scene import Scene

# Of the largest coordinate: posed vertices are float64 sums of float32 data, rounded once; the oracle's matrices are
# multiplied in another order.
NEAR = 2.0**-22

TURNED = 1e-4  # of unit normals: blended maps may be nearly flat, where cofactors lose digits of float32 weights


def world(scene: Scene, number: int) -> np.ndarray:
    """The vertices of an instance in the world."""
    instance = scene.instances[number]
    return (
        scene.meshes[instance.mesh].positions.astype(np.float64) @ instance.transform[:3, :3].T
        + (instance.transform[:3, 3])
    )


def check(path: Path, animation: int = 0, step: int = 1) -> None:
    """Every primitive of every node at 20 times, also before the first and after the last key."""
    scene, oracle = load(path), Oracle(path, animation)
    scene.play(animation)
    drawn = [
        (node, k)
        for node, each in enumerate(oracle.json["nodes"])
        if "mesh" in each
        for k in range(len(oracle.json["meshes"][each["mesh"]]["primitives"]))
    ]
    assert len(drawn) == len(scene.instances) and scene.warnings == []
    # The reader rounds times to float32, as files have them.
    times = np.linspace(-0.1, scene.duration + 0.1, 20).astype(np.float32).astype(np.float64)
    differ = False
    for seconds in times.tolist():
        posed = scene.posed(seconds)
        for number, (node, primitive) in enumerate(drawn):
            points, normals = zip(*oracle.vertices(node, primitive, seconds, step), strict=True)
            expected, found = np.array(points), world(posed, number)[::step]
            assert np.abs(found - expected).max() <= NEAR * np.abs(expected).max()
            own = posed.meshes[posed.instances[number].mesh].normals[::step].astype(np.float64)
            if "skin" not in oracle.json["nodes"][node]:
                own = own @ np.linalg.inv(posed.instances[number].transform[:3, :3])
                own /= np.linalg.norm(own, axis=1, keepdims=True)
            assert np.abs(own - np.array(normals)).max() <= TURNED
            differ |= not np.allclose(found, world(scene, number)[::step])
    assert differ


@pytest.mark.parametrize(
    ("name", "doc"),
    [
        ("SimpleSkin", simple_skin()),
        ("Fox", chain(24, 1)),
        ("two sets", chain(12, 2, sets=2)),
        ("BrainStem", chain(18, 3, parts=6)),
        ("morph LINEAR", morphed()),
        ("morph STEP", morphed(interpolation="STEP")),
        ("morph CUBICSPLINE", morphed(interpolation="CUBICSPLINE")),
        ("morphs first, then joints", morphed(skinned=True)),
    ],
)
def test_positions_are_those_of_the_oracle(tmp_path: Path, name: str, doc: Document) -> None:
    check(doc.write(tmp_path))


@pytest.mark.parametrize(
    ("model", "animation", "step"),
    [
        ("RiggedSimple", 0, 1),
        ("AnimatedMorphCube", 0, 1),
        ("BoxAnimated", 0, 1),
        ("InterpolationTest", 4, 7),
        ("MorphStressTest", 1, 31),
        pytest.param("BrainStem", 0, 97, marks=pytest.mark.slow),
    ],
)
def test_khronos_s_models(shared_scenes: Path, model: str, animation: int, step: int) -> None:
    path = shared_scenes / "models" / f"{model}.glb"
    scene = load(path)
    check_model(path, scene, animation, step)


def check_model(path: Path, scene: Scene, animation: int, step: int) -> None:
    """As `check`, where vertices that get tangents follow those of the file."""
    oracle = Oracle(path, animation)
    scene.play(animation)
    drawn = [(k, p) for k, p in _drawn(oracle)]
    for seconds in np.linspace(0, scene.duration, 20).astype(np.float32).astype(np.float64).tolist():
        posed = scene.posed(seconds)
        for number, (node, primitive) in enumerate(drawn):
            expected = np.array(oracle.positions(node, primitive, seconds, step))
            count = len(oracle.rows(_primitive(oracle, node, primitive)["attributes"]["POSITION"]))
            found = world(posed, number)[:count:step]
            assert np.abs(found - expected).max() <= NEAR * np.abs(expected).max()


def _primitive(oracle: Oracle, node: int, primitive: int) -> dict:
    return oracle.json["meshes"][oracle.json["nodes"][node]["mesh"]]["primitives"][primitive]


def _drawn(oracle: Oracle) -> list[tuple[int, int]]:
    """Nodes and primitives in the order of the scene's instances."""
    found, pending = [], list(reversed(oracle.json["scenes"][oracle.json.get("scene", 0)]["nodes"]))
    while pending:
        node = pending.pop()
        about = oracle.json["nodes"][node]
        if "mesh" in about:
            found += [(node, k) for k in range(len(oracle.json["meshes"][about["mesh"]]["primitives"]))]
        pending += reversed(about.get("children", []))
    return found


def test_rest_pose_and_default_weights(tmp_path: Path) -> None:
    """A file without animation is posed by its joints and default weights."""
    doc = morphed(skinned=True)
    del doc.json["animations"]
    doc.json["nodes"][2]["rotation"] = [0, 0, 0.6, 0.8]
    path = doc.write(tmp_path)
    scene = load(path)
    assert scene.deforms and scene.duration == 0
    np.testing.assert_allclose(world(scene, 0), Oracle(path).positions(0, 0, 0.0), atol=1e-6)
    doc.json["nodes"][0]["weights"] = [1, 0, -1]
    path = doc.write(tmp_path)
    np.testing.assert_allclose(world(load(path), 0), Oracle(path).positions(0, 0, 0.0), atol=1e-6)


def test_sparse_targets_and_those_of_looks(tmp_path: Path) -> None:
    """Displacements of few vertices, of colours in bytes without opacity, and of texture coordinates."""
    doc, rng = morphed(targets=1), np.random.default_rng(6)
    primitive = doc.json["meshes"][0]["primitives"][0]
    uvs, colors = rng.random((10, 2)).astype(np.float32), np.full((10, 4), 0.5, np.float32)
    primitive["attributes"] |= {"TEXCOORD_0": doc.accessor(uvs), "COLOR_0": doc.accessor(colors)}
    moved, places = rng.normal(size=(3, 3)).astype(np.float32), np.uint16([1, 4, 9])
    sparse = {
        "count": 3,
        "indices": {"bufferView": doc.view(places.tobytes()), "componentType": 5123},
        "values": {"bufferView": doc.view(moved.tobytes())},
    }
    doc.json["accessors"].append({"componentType": 5126, "count": 10, "type": "VEC3", "sparse": sparse})
    slid, tinted = rng.random((10, 2)).astype(np.float32), np.int8([[127, -127, 0]] * 10)
    primitive["targets"] = [
        {
            "POSITION": len(doc.json["accessors"]) - 1,
            "TEXCOORD_0": doc.accessor(slid),
            "COLOR_0": doc.accessor(tinted, normalized=True),
        }
    ]
    doc.json["nodes"][0]["weights"] = [0.25]
    mesh = load(doc.write(tmp_path)).meshes[0]
    expected = mesh.rest.positions.astype(np.float64)
    expected[places] += 0.25 * moved
    np.testing.assert_allclose(mesh.positions, expected, atol=1e-6)
    np.testing.assert_allclose(mesh.uvs, uvs + 0.25 * slid, atol=1e-6)
    np.testing.assert_allclose(mesh.colors, [[0.75, 0.25, 0.5, 0.5]] * 10, atol=1e-6)


def test_nodes_share_a_mesh_or_pose_it_on_their_own(tmp_path: Path) -> None:
    doc = morphed()
    doc.json["nodes"] += [{"mesh": 0}, {"mesh": 0, "weights": [1, 0, 0]}, {"mesh": 0}]
    doc.json["scenes"] = [{"nodes": [0, 1, 2, 3]}]
    scene = load(doc.write(tmp_path))
    meshes = [scene.meshes[each.mesh] for each in scene.instances]
    assert meshes[1] is meshes[3] and len({id(each) for each in meshes}) == 3
    assert all(np.shares_memory(each.rest.positions, meshes[0].rest.positions) for each in meshes)
    assert all(each.deformation is meshes[0].deformation for each in meshes)
    later = scene.posed(2.0)
    assert later.meshes[1] is scene.meshes[1] and later.meshes[0] is not scene.meshes[0]


def test_skinned_instances_are_on_no_node(tmp_path: Path) -> None:
    """Also those of EXT_mesh_gpu_instancing, which keep their offsets; one that was moved stays."""
    doc = simple_skin()
    places = np.float32([[0, 0, 0], [5, 0, 0]])
    extension = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": doc.accessor(places)}}}
    doc.json["nodes"][0]["extensions"] = extension
    animate(doc, {(0, "translation"): (np.float32([0, 3]), np.float32([[0, 0, 0], [9, 9, 9]]), "LINEAR")})
    scene = load(doc.write(tmp_path))
    assert len(scene.meshes) == 1
    found = [each.transform[:3, 3].tolist() for each in scene.posed(1.5).instances]
    assert found == places.tolist()
    moved = scene.moved(np.array([1]), np.diag([1.0, 2.0, 1.0, 1.0])[None])
    assert np.array_equal(moved.posed(1.0).instances[1].transform, np.diag([1.0, 2.0, 1.0, 1.0]))


def test_joints_beside_the_scene(tmp_path: Path) -> None:
    """Trees that the scene does not draw still move what it draws."""
    doc = simple_skin()
    doc.square()
    doc.json["nodes"][2]["mesh"] = 1
    path = doc.write(tmp_path, "whole.glb")
    doc.json["scenes"] = [{"nodes": [0]}]
    alone = doc.write(tmp_path, "alone.glb")
    whole, scene = load(path), load(alone)
    assert len(whole.instances) == 2 and len(scene.instances) == 1
    for seconds in (0.0, 0.7, 2.5):
        assert np.array_equal(whole.posed(seconds).meshes[0].positions, scene.posed(seconds).meshes[0].positions)


def test_normals_that_a_file_has_not_are_those_of_the_posed_faces(tmp_path: Path) -> None:
    doc = simple_skin()
    del doc.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"]
    doc.json["animations"][0]["channels"][0]["target"]["path"] = "rotation"
    scene = load(doc.write(tmp_path))
    mesh = scene.posed(0.6).meshes[0]
    a, b, c = (mesh.positions[mesh.triangles[:, k]].astype(np.float64) for k in range(3))
    across = np.cross(b - a, c - a)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    for k in range(3):
        np.testing.assert_allclose(mesh.normals[mesh.triangles[:, k]], across, atol=1e-6)
    assert np.abs(mesh.positions - scene.meshes[0].positions).max() > 0.1


def test_another_animation_leaves_nothing_of_the_one_before(tmp_path: Path) -> None:
    doc = morphed(skinned=True)
    doc.json["animations"].append({"samplers": [], "channels": []})
    scene = load(doc.write(tmp_path))
    moved = scene.posed(1.0)
    assert np.abs(moved.meshes[0].positions - scene.meshes[0].positions).max() > 0.1
    moved.play(1)
    assert np.array_equal(moved.posed(0.5).meshes[0].positions, scene.meshes[0].positions)


Change = Callable[[Document], None]


def attribute(key: str, values: np.ndarray, **more: Any) -> Change:
    """Another attribute of the primitive."""

    def change(doc: Document) -> None:
        doc.json["meshes"][0]["primitives"][0]["attributes"][key] = doc.accessor(values, **more)

    return change


def skin(**members: Any) -> Change:
    """Other members of the skin; `...` deletes one, arrays become accessors."""

    def change(doc: Document) -> None:
        for key, value in members.items():
            if value is ...:
                del doc.json["skins"][0][key]
            else:
                doc.json["skins"][0][key] = doc.accessor(value) if isinstance(value, np.ndarray) else value

    return change


def put(*way: Any) -> Change:
    """Another member of the document: the way to it, and the value."""

    def change(doc: Document) -> None:
        place: Any = doc.json
        for step in way[:-2]:
            place = place[step]
        place[way[-2]] = way[-1]

    return change


def assert_refused(doc: Document, change: Change, words: str, folder: Path) -> None:
    change(doc)
    with pytest.raises(ViewerError, match=words) as caught:
        load(doc.write(folder))
    assert "\n" not in str(caught.value)


BINDS = columns(np.tile(np.eye(4), (2, 1, 1)))
LOST = np.where(np.arange(16) == 5, np.nan, BINDS).astype(np.float32)
ONE = np.float32([[1, 0, 0, 0]] * 10)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (attribute("JOINTS_0", np.uint8([[2, 0, 0, 0]] * 10)), r"attributes.JOINTS_0: vertex 0 follows joint 2 of 2"),
        (attribute("JOINTS_0", np.float32([[0, 0, 0, 0]] * 10)), r"JOINTS_0: accessor \d+ is not a VEC4 of unsigned"),
        (attribute("JOINTS_0", np.uint8([[0, 0, 0, 0]] * 9)), r"JOINTS_0: has 9 elements, and POSITION 10"),
        (attribute("WEIGHTS_0", ONE[:9]), r"WEIGHTS_0: has 9 elements, and POSITION 10"),
        (skin(joints=[]), r"skins\[0\].joints: names no joint"),
        (skin(joints=[1, 9]), r"skins\[0\].joints\[1\]: names node 9 of 3"),
        (skin(inverseBindMatrices=BINDS[:1]), r"inverseBindMatrices: has 1 matrices for 2 joints"),
        (skin(inverseBindMatrices=LOST), r"inverseBindMatrices: matrix 0 is not finite"),
        (skin(inverseBindMatrices=ONE), r"inverseBindMatrices: accessor \d+ is VEC4, expected MAT4"),
        (put("nodes", 0, "skin", 1), r"nodes\[0\].skin: names skin 1 of 1"),
    ],
)
def test_faults_of_skins(tmp_path: Path, change: Change, words: str) -> None:
    assert_refused(simple_skin(), change, words, tmp_path)


def target(values: np.ndarray, key: str = "POSITION") -> Change:
    """Another attribute of the second target."""

    def change(doc: Document) -> None:
        doc.json["meshes"][0]["primitives"][0]["targets"][1][key] = doc.accessor(values)

    return change


def keys(times: np.ndarray, values: np.ndarray) -> Change:
    """Other keys of the weights."""

    def change(doc: Document) -> None:
        doc.json["animations"][0]["samplers"][0] |= {"input": doc.accessor(times), "output": doc.accessor(values)}

    return change


def other_count(doc: Document) -> None:
    first = doc.json["meshes"][0]["primitives"][0]
    doc.json["meshes"][0]["primitives"].append({**first, "targets": first["targets"][:2]})


T = np.float32([0, 1, 2, 3])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (target(np.zeros((9, 3), np.float32)), r"targets\[1\].POSITION: has 9 elements, and POSITION 10"),
        (target(np.zeros((10, 4), np.float32)), r"targets\[1\].POSITION: accessor \d+ is VEC4, expected VEC3"),
        (put("meshes", 0, "primitives", 0, "targets", [7, 8, 9]), r"targets\[0\]: expected an object"),
        (put("meshes", 0, "weights", [1, 2]), r"meshes\[0\].weights: expected 3 numbers"),
        (put("nodes", 0, "weights", [1, 2, 3, 4]), r"nodes\[0\].weights: expected 3 numbers"),
        (other_count, r"primitives\[1\].targets: 2 morph targets, and another primitive has 3"),
    ],
)
def test_faults_of_morph_targets(tmp_path: Path, change: Change, words: str) -> None:
    assert_refused(morphed(), change, words, tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (keys(T, np.zeros(11, np.float32)), r"output: 11 values for 4 keys, expected 12 \(of 3 morph targets\)"),
        (keys(T[::-1], np.zeros(12, np.float32)), r"key 1 at 2 seconds is not after the one before it"),
        (keys(T * np.nan, np.zeros(12, np.float32)), r"key 0 is not finite"),
        (keys(T, np.full(12, np.nan, np.float32)), r"value 0 is not finite"),
    ],
)
def test_animations_of_weights_with_a_fault_are_left_out(tmp_path: Path, change: Change, words: str) -> None:
    doc = morphed()
    change(doc)
    scene = load(doc.write(tmp_path))
    (note,) = scene.warnings
    assert re.search(words, note) and "\n" not in note and not scene.animations and scene.triangle_count


def test_weights_are_mended(tmp_path: Path) -> None:
    """Sums of 1; negative ones and those that are not finite count as 0; joints without weight may be any."""
    doc = simple_skin()
    weights = np.zeros((10, 4), np.float32)
    weights[0] = 2, 6, 0, 0
    weights[1] = np.nan, 1, -5, 0
    weights[2] = 0, 0, np.inf, 0
    weights[3] = 0.5, 0.5, 0, 0
    weights[4:] = 0.25, 0.75, 0, 0
    attribute("WEIGHTS_0", weights)(doc)
    attribute("JOINTS_0", np.uint8([[1, 0, 200, 255]] * 10))(doc)
    scene = load(doc.write(tmp_path))
    found = scene.meshes[0].deformation
    assert found.joints.shape == (10, 2)
    expected = [[0.25, 0.75], [0, 1], [1, 0], [0.5, 0.5], [0.25, 0.75]]
    assert found.weights[:5].tolist() == expected
    assert found.joints[:3].tolist() == [[1, 0], [0, 0], [1, 0]]
    assert scene.warnings == ["1 vertices have no weight; they follow their first joint"]


@pytest.mark.parametrize("kind", ["u1", "u2", "f4"])
def test_every_component_type(tmp_path: Path, kind: str) -> None:
    """Joints of 8 and 16 bits, weights of both and float, with and without the flag."""
    most = 1.0 if kind == "f4" else float(np.iinfo(kind).max)
    doc = simple_skin()
    share = np.repeat(np.linspace(0, 1, 5), 2)
    weights = np.stack([1 - share, share, 0 * share, 0 * share], axis=1)
    stored = np.round(weights * most) if kind != "f4" else weights
    attribute("WEIGHTS_0", stored.astype(kind), **({"normalized": True} if kind == "u1" else {}))(doc)
    attribute("JOINTS_0", np.tile([0, 1, 0, 0], (10, 1)).astype("u1" if kind == "f4" else kind))(doc)
    found = load(doc.write(tmp_path)).meshes[0].deformation
    np.testing.assert_allclose(found.weights, weights[:, :2], atol=0.5 / most if kind != "f4" else 1e-7)
    np.testing.assert_allclose(found.weights.astype(np.float64).sum(axis=1), 1.0, atol=1e-6)


def test_identities_without_bind_matrices_and_singular_ones(tmp_path: Path) -> None:
    doc = simple_skin()
    skin(inverseBindMatrices=...)(doc)
    low, high = load(doc.write(tmp_path)).bounds()
    assert high[1] == 3  # the upper end follows the joint at a height of 1 from where it is
    skin(inverseBindMatrices=np.zeros((2, 16), np.float32))(doc)
    scene = load(doc.write(tmp_path))
    low, high = scene.bounds()
    assert np.array_equal(low, (0, 0, 0)) and np.array_equal(high, (0, 1, 0))


def test_primitives_without_joints_stay_on_their_node(tmp_path: Path) -> None:
    doc = simple_skin()
    attributes = doc.json["meshes"][0]["primitives"][0]["attributes"]
    doc.json["meshes"][0]["primitives"].append({"attributes": {"POSITION": attributes["POSITION"]}})
    scene = load(doc.write(tmp_path))
    assert [each.transform[0, 3] for each in scene.instances] == [0, 7]
    assert [hasattr(each, "deformation") for each in scene.meshes] == [True, False]


def test_a_pose_that_explodes_is_finite_in_the_picture(tmp_path: Path, device: Any) -> None:
    """What follows a joint beyond float64 is not hit, and nor is an instance on such a node; the rest is as it was."""
    from raystream.renderer.renderer import Renderer

    doc = simple_skin()
    doc.square()
    huge = np.float32([[1, 1, 1], [3e38, 3e38, 3e38]])
    doc.json["nodes"] += [
        *({"scale": [1, 1, 1], "children": [5 + k]} for k in range(9)),
        {"mesh": 1, "name": "far"},
        {"mesh": 1, "name": "near"},
    ]
    doc.json["nodes"][3]["children"] = [4]
    for number in range(3, 12):
        doc.json["nodes"][number]["children"] = [number + 1]
    doc.json["scenes"] = [{"nodes": [0, 1, 3, 13]}]
    animation = doc.json["animations"][0]
    sampler = {"input": doc.accessor(np.float32([0, 1])), "output": doc.accessor(huge)}
    animation["samplers"].append(sampler)
    animation["channels"] += [
        {"sampler": 1, "target": {"node": number, "path": "scale"}} for number in (2, *range(3, 12))
    ]
    scene = load(doc.write(tmp_path))
    posed = scene.posed(1.0)
    assert np.isfinite([each.transform for each in posed.instances]).all()
    lost = ~np.isfinite(posed.meshes[0].positions).all(axis=1)
    assert np.isfinite(posed.bounds()).all() and not lost.all()
    renderer = Renderer(scene, device=device)
    renderer.update(posed)
    hits = renderer.trace([[0.6, 0.9, 3], [9, 9, 3]], [[0, 0, -1], [0, 0, -1]])
    assert hits.instance.tolist() == [2, -1]
    assert np.isfinite(renderer.render(size=(16, 16), spp=1).linear).all()
    renderer.release()
