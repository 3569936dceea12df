"""Animations of glTF files: every encoding, what hangs on what, and faults by which one is left out."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from documents import Document
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_json import changes, load_changed

from raystream.formats import load

HALF = np.float32([[0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]])  # none, half a turn about +Y, about +Z


def moving(**channel: Any) -> Document:
    """A square on a node below another one, which moves by three keys of translation."""
    doc = Document()
    doc.square()
    doc.json["nodes"] = [{"name": "lower", "mesh": 0, "translation": [0, 0, 1]}, {"children": [0]}, {"mesh": 0}]
    doc.json["scenes"] = [{"nodes": [1]}]
    times = doc.accessor(np.float32([0.5, 1, 2]))
    values = doc.accessor(np.float32([[0, 0, 0], [1, 2, 3], [3, 2, 1]]))
    doc.json["animations"] = [
        {
            "name": "move",
            "samplers": [{"input": times, "output": values}],
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
        }
    ]
    return doc


def sampler(
    doc: Document, path: str, values: np.ndarray, times: np.ndarray, interpolation: str = "", **more: Any
) -> None:
    """The document's one channel moves something else."""
    animation = doc.json["animations"][0]
    animation["channels"][0]["target"]["path"] = path
    animation["samplers"][0] = {"input": doc.accessor(times), "output": doc.accessor(values, **more)}
    if interpolation:
        animation["samplers"][0]["interpolation"] = interpolation


def test_moves_what_hangs_below(tmp_path):
    scene = load(moving().write(tmp_path))
    assert [each.name for each in scene.animations] == ["move"]
    assert scene.duration == 2 and scene.warnings == []
    for seconds, expected in ((0, (0, 0, 1)), (0.75, (0.5, 1, 2.5)), (1, (1, 2, 4)), (1.5, (2, 2, 3)), (9, (3, 2, 2))):
        (matrix,) = scene.pose(seconds).transforms
        assert np.array_equal(matrix[:3, 3], expected)
        assert np.array_equal(matrix[:3, :3], np.eye(3))
    assert np.array_equal(scene.instances[0].transform[:3, 3], (0, 0, 1))
    assert scene.hierarchy.names == ["", "lower"]


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "f4"])
@pytest.mark.parametrize("marked", [True, False])
def test_rotations_of_integers_are_normalised(kind, marked, tmp_path):
    most = 1 if kind == "f4" else np.iinfo(kind).max
    doc, times = moving(), np.float32([0, 1, 2])
    more = {"normalized": True} if kind != "f4" and marked else {}
    sampler(doc, "rotation", (HALF * most).astype(kind), times, **more)
    scene = load(doc.write(tmp_path))
    for seconds, diagonal in ((0, (1, 1, 1)), (1, (-1, 1, -1)), (2, (-1, -1, 1))):
        matrix = scene.pose(seconds).transforms[0]
        np.testing.assert_allclose(matrix[:3, :3], np.diag(diagonal), atol=1e-7)
    # A quarter turn about +Y takes the square from (0, 0, 1) to (1, 0, 0).
    np.testing.assert_allclose(scene.pose(0.5).transforms[0][:3, 3], (1, 0, 0), atol=1e-7)


def test_splines_have_tangents_before_and_behind_every_value(tmp_path):
    doc = moving()
    # x = t^2 - t over 0 .. 2, whose derivative is 2 t - 1
    values = np.float32([[9, 9, 9], [0, 0, 0], [-1, 0, 0], [3, 0, 0], [2, 0, 0], [9, 9, 9]])
    sampler(doc, "translation", values, np.float32([0, 2]), "CUBICSPLINE")
    scene = load(doc.write(tmp_path))
    for seconds in (0, 0.25, 1, 1.75, 2, 3):
        t = min(seconds, 2)
        assert scene.pose(seconds).transforms[0][0, 3] == pytest.approx(t * t - t, abs=1e-12)


def test_gpu_instances_move_with_their_node(tmp_path):
    doc = moving()
    rng = np.random.default_rng(0)
    places = rng.normal(size=(5, 3)).astype(np.float32)
    turns = rng.normal(size=(5, 4)).astype(np.float32)
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    attributes = {"TRANSLATION": doc.accessor(places), "ROTATION": doc.accessor(turns)}
    doc.json["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": attributes}}
    doc.json["meshes"][0]["primitives"] *= 2  # each place has two instances
    doc.json["scenes"][0]["nodes"] = [1, 2]  # and one of the ordinary kind that stands still
    scene = load(doc.write(tmp_path))
    rest = np.array([each.transform for each in scene.instances])
    assert len(rest) == 12
    for seconds, offset in ((0, (0, 0, 0)), (1, (1, 2, 3)), (2, (3, 2, 1))):
        moved = rest.copy()
        moved[:10, :3, 3] += offset
        np.testing.assert_allclose(scene.pose(seconds).transforms, moved, atol=1e-14)


def test_cameras_move_and_shrunken_ones_stay(tmp_path):
    doc = moving()
    doc.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}]
    doc.json["nodes"][1]["camera"] = 0
    scene = load(doc.write(tmp_path))
    assert scene.pose(1).cameras[0].origin == (1, 2, 3)
    assert scene.pose(1).cameras[0].target == (1, 2, 2)
    sampler(doc, "scale", np.float32([[1, 1, 1], [0, 0, 0]]), np.float32([0, 1]))
    scene = load(doc.write(tmp_path))
    assert scene.pose(1).cameras == scene.cameras
    assert not scene.pose(1).transforms[0][:3, :3].any()


def test_lights_move(tmp_path):
    doc = moving()
    doc.json["extensions"] = {"KHR_lights_punctual": {"lights": [{"type": "spot", "spot": {}}, {"type": "odd"}]}}
    doc.json["nodes"] += [{"extensions": {"KHR_lights_punctual": {"light": k}}} for k in (1, 0)]
    doc.json["nodes"][1]["children"] += [3, 4]
    scene = load(doc.write(tmp_path))
    assert [light.position for light in scene.lights] == [(0, 0, 0)]  # the one of an odd kind is left out
    assert [light.position for light in scene.pose(1).lights] == [(1, 2, 3)]
    sampler(doc, "rotation", HALF[:2], np.float32([0, 1]))
    scene = load(doc.write(tmp_path))
    assert scene.pose(1).lights[0].direction == pytest.approx((0, 0, 1), abs=1e-7)
    assert scene.posed(0.5).lights[0].direction == pytest.approx((-1, 0, 0), abs=1e-7)


def test_several_animations_and_their_names(tmp_path):
    doc = moving()
    first = doc.json["animations"][0]
    doc.json["animations"] += [{**first, "name": ""}, {"samplers": [], "channels": []}]
    scene = load(doc.write(tmp_path))
    assert [each.name for each in scene.animations] == ["move", "animation 1", "animation 2"]
    scene.play("animation 2")
    assert scene.duration == 0 and np.array_equal(scene.pose(1).transforms[0], scene.instances[0].transform)


def test_what_is_ignored_is_told(tmp_path):
    doc = moving()
    channels = doc.json["animations"][0]["channels"]
    channels += [{"sampler": 0, "target": {"node": 0, "path": "weights"}}] * 2
    channels.append({"sampler": 0, "target": {"path": "pointer", "extensions": {"KHR_animation_pointer": {}}}})
    channels.append({"sampler": 0, "target": {"path": "scale"}})
    channels.append({"sampler": 0, "target": {"node": 2, "path": "scale"}})  # not in the scene
    scene = load(doc.write(tmp_path))
    assert scene.warnings == [
        "2 animation channels move weights of nodes without morph targets, and are ignored",
        "1 animation channels move 'pointer', which is ignored",
        "1 animation channels name no node and are ignored",
    ]
    assert [(each.node, each.path) for each in scene.animations[0].tracks] == [(0, "translation")]


def keys(values: Any) -> Any:
    """A change of the times, or the values, of the one sampler."""

    def change(doc: Document) -> None:
        values_ = np.asarray(values)
        doc.json["animations"][0]["samplers"][0]["input" if values_.ndim == 1 else "output"] = doc.accessor(values_)

    return change


def put(*way: Any) -> Any:
    """A change of a member of the animation: the way to it, and the value; `...` deletes it."""

    def change(doc: Document) -> None:
        place = doc.json["animations"][0]
        for step in way[:-2]:
            place = place[step]
        if way[-1] is ...:
            del place[way[-2]]
        else:
            place[way[-2]] = way[-1]

    return change


def matrix(doc: Document) -> None:
    doc.json["nodes"][1]["matrix"] = np.eye(4).ravel().tolist()


def twice(doc: Document) -> None:
    doc.json["animations"][0]["channels"].append(dict(doc.json["animations"][0]["channels"][0]))


S, C = r"animations\[0\].samplers\[0\]", r"animations\[0\].channels\[0\]"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            keys(np.float32([0, 1, 1])),
            rf"{S}.input: accessor 4: key 2 at 1 seconds is not after the one before it, at 1",
        ),
        (keys(np.float32([0, 2, 1])), "key 2 at 1 seconds is not after"),
        (keys(np.float32([-1, 0, 1])), "first key is at -1 seconds, before 0"),
        (keys(np.float32([0, np.nan, 1])), "key 1 is not finite"),
        (keys(np.float32([0, 1, np.inf])), "key 2 is not finite"),
        (keys(np.uint16([0, 1, 2])), rf"{S}.input: accessor 4 holds integers"),
        (keys(np.zeros((3, 4), np.float32)), rf"{S}.output: accessor 4 is VEC4, expected VEC3"),
        (keys(np.zeros((2, 3), np.float32)), rf"{S}.output: 2 values for 3 keys, expected 3"),
        (keys(np.full((3, 3), np.inf, np.float32)), "value 0 is not finite"),
        (keys(np.float32([(0, 0, 0), (0, np.nan, 0), (0, 0, 0)])), "value 1 is not finite"),
        (put("samplers", 0, "input", 3), rf"{S}.input: accessor 3 is VEC3, expected SCALAR"),
        (put("samplers", 0, "input", 9), rf"{S}.input: names accessor 9 of 4"),
        (put("samplers", 0, "input", ...), rf"{S}.input: is missing"),
        (put("samplers", 0, "output", -1), rf"{S}.output: names accessor -1 of 4"),
        (put("samplers", 0, "interpolation", "CUBIC"), rf"{S}.interpolation: unknown: 'CUBIC'"),
        (put("samplers", 0, "interpolation", 7), rf"{S}.interpolation: expected a string"),
        (put("samplers", 0, "interpolation", "CUBICSPLINE"), rf"{S}.output: 3 values for 3 keys, expected 9"),
        (put("samplers", {}), r"animations\[0\].samplers: expected an array"),
        (put("channels", 0, "sampler", 1), rf"{C}.sampler: names sampler 1 of 1"),
        (put("channels", 0, "target", ...), rf"{C}.target.path: is missing"),
        (put("channels", 0, "target", "path", 3), rf"{C}.target.path: expected a string"),
        (put("channels", 0, "target", "node", 3), rf"{C}.target.node: names node 3 of 3"),
        (put("channels", 0, "target", "path", "rotation"), rf"{S}.output: accessor 3 is VEC3, expected VEC4"),
        (put("channels", [7]), r"channels\[0\]: expected an object"),
        (matrix, rf"{C}.target.node: node 1 has a matrix"),
        (twice, r"channels\[1\].target.path: translation of node 1 is moved by animations\[0\].channels\[0\], too"),
    ],
)
def test_an_animation_with_a_fault_is_left_out_by_name(change, words, tmp_path):
    doc = moving()
    doc.json["animations"].append(deepcopy(doc.json["animations"][0]))
    change(doc)
    scene = load(doc.write(tmp_path, "scene.gltf"))
    (note,) = scene.warnings
    both = change is matrix
    assert note.startswith("2 animations are left out: " if both else "an animation is left out: ")
    assert re.search(words, note)
    assert [len(each.tracks) for each in scene.animations] == ([] if both else [1])


def test_splines_of_one_key_and_no_keys_are_left_out(tmp_path):
    doc = moving()
    sampler(doc, "translation", np.zeros((3, 3), np.float32), np.float32([1]), "CUBICSPLINE")
    scene = load(doc.write(tmp_path))
    assert "one key" in scene.warnings[0] and not scene.animations
    doc.json["accessors"][-2]["count"] = 0
    doc.json["animations"].append(doc.json["animations"][0])
    scene = load(doc.write(tmp_path))
    assert scene.warnings[0].startswith("2 animations are left out: ") and "no keys" in scene.warnings[0]


def test_many_channels_over_the_same_keys_are_quick_and_small(tmp_path):
    """Twenty thousand channels name twenty thousand keys: they are checked and kept once."""
    doc, count, length = moving(), 20_000, 20_000
    doc.json["nodes"] += [{} for _ in range(count)]
    doc.json["scenes"][0]["nodes"] += range(3, 3 + count)
    sampler(doc, "translation", np.zeros((length, 3), np.float32), np.arange(length, dtype=np.float32))
    animation = doc.json["animations"][0]
    animation["samplers"] *= count
    animation["channels"] = [{"sampler": k, "target": {"node": 3 + k, "path": "translation"}} for k in range(count)]
    scene = load(doc.write(tmp_path))
    assert len(scene.animations[0].tracks) == count
    scene.pose(3.5)
    (batch,) = scene._poser._batches["translation"]
    assert len(batch._times) == length


FULL = json.loads(moving().gltf())
WORDS = ["LINEAR", "STEP", "CUBICSPLINE", "rotation", "scale", "weights", "", "x"]


@given(changes(FULL, st.sampled_from(WORDS), part=("animations",)))
@settings(max_examples=200, deadline=None)
def test_any_member_may_be_anything(changed):
    """Loaded and posed, or refused in one line; nothing else."""
    load_changed(FULL, changed, lambda scene: scene.pose(0.7))
