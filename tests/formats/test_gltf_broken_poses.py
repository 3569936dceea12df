"""Faults of skins and morph targets: one clear line each, or what the format's text makes of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import Document
from rigs import columns, morphed, simple_skin

from raystream.base.errors import ViewerError
from raystream.formats import load

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
        (attribute("JOINTS_0", np.uint8([[0, 0, 0]] * 10)), r"JOINTS_0: accessor \d+ is not a VEC4 of unsigned"),
        (attribute("JOINTS_0", np.uint8([[0, 0, 0, 0]] * 9)), r"JOINTS_0: has 9 elements, and POSITION 10"),
        (attribute("WEIGHTS_0", ONE[:9]), r"WEIGHTS_0: has 9 elements, and POSITION 10"),
        (skin(joints=[]), r"skins\[0\].joints: names no joint"),
        (skin(joints=...), r"skins\[0\].joints: names no joint"),
        (skin(joints=[1, 9]), r"skins\[0\].joints\[1\]: names node 9 of 3"),
        (skin(joints="1"), r"skins\[0\].joints: expected an array"),
        (skin(inverseBindMatrices=BINDS[:1]), r"inverseBindMatrices: has 1 matrices for 2 joints"),
        (skin(inverseBindMatrices=LOST), r"inverseBindMatrices: matrix 0 is not finite"),
        (skin(inverseBindMatrices=ONE), r"inverseBindMatrices: accessor \d+ is VEC4, expected MAT4"),
        (skin(inverseBindMatrices=99), r"inverseBindMatrices: names accessor 99 of"),
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
        (keys(T, np.zeros(4, np.float32)), r"output: 4 values for 4 keys, expected 12"),
        (keys(T[:3], np.zeros(3, np.float32)), r"output: 3 values for 3 keys, expected 9"),
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
