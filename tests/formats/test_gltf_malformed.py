"""glTF that is wrong: every fault is refused by name, and small files do not unfold into large scenes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from documents import SQUARE, TWO, Document, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_json import changes, load_changed

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.gltf.json import parse
from raystream.scene.scene import Scene


def square() -> Document:
    doc = Document()
    doc.square()
    return doc


def refused(doc: Document, tmp_path, words: str) -> None:
    with pytest.raises(ViewerError, match=words):
        load(doc.write(tmp_path, "scene.gltf"))


def put(doc: Document, path: str, value: Any) -> None:
    """Set a member by its path, as the messages write it; `...` deletes it."""
    *way, last = path.replace("[", ".").replace("]", "").split(".")
    place: Any = doc.json
    for step in way:
        place = place[int(step)] if step.isdigit() else place[step]
    key = int(last) if last.isdigit() else last
    if value is ...:
        del place[key]
    else:
        place[key] = value


@pytest.mark.parametrize(("path", "value", "words"), [
    ("accessors[0].count", "4", r"accessors\[0\].count: expected an integer, got '4'"),
    ("accessors[0].count", True, r"accessors\[0\].count: expected an integer"),
    ("accessors[0].count", ..., r"accessors\[0\].count: is missing"),
    ("accessors[0].count", 2**70, r"accessors\[0\].count: .* is not in"),
    ("accessors[0].type", "VEC9", r"accessors\[0\].type"),
    ("accessors[0].normalized", 1, "expected true or false"),
    ("accessors[1].componentType", 5122, "unsigned integers"),
    ("accessors[1].count", 7, "end at byte 14 of a buffer view of 12"),
    ("accessors[0].bufferView", 2, "names buffer view 2 of 2"),
    ("accessors", {}, "is glTF 1.0, whose objects have names"),
    ("accessors", 4, "accessors: expected an array"),
    ("accessors[0]", 7, r"accessors\[0\]: expected an object"),
    ("bufferViews[0].byteOffset", 99, "byteLength: bytes"),
    (
        "nodes", [{"children": [1, 2]}, {"children": [3]}, {"children": [3]}, {"mesh": 0}],
        "is a child of node 1 and of node 2",
    ),
    ("nodes", [{"mesh": 0}, {"children": [2]}, {"children": [1]}], "its own ancestor"),
    (
        "nodes", [{"scale": [1e200] * 3, "children": [1]}, {"scale": [1e200] * 3, "mesh": 0}],
        r"nodes\[1\]: its transform",
    ),
    ("nodes[0].children", [0], "its own ancestor|is not a root"),
    ("nodes[0].children", "all", "expected an array"),
    ("nodes[0].translation", [1, 2, "3"], "expected a number"),
    ("nodes[0].translation", [1, 2, 10**400], "overflows"),
    ("nodes[0].extensions", [], "extensions: expected an object"),
    ("scenes[0].nodes", [0, 0], "names node 0 twice"),
    ("scene", 1, "scene: names scene 1 of 1"),
    ("meshes[0].primitives[0].attributes.NORMAL", 9, "NORMAL: names accessor 9 of 2"),
    ("meshes[0].primitives[0].attributes.NORMAL", 1, "NORMAL: accessor 1 is SCALAR"),
    ("meshes[0].primitives[0].indices", 0, "indices: accessor 0 is not a SCALAR"),
    ("extensionsRequired", [3], "expected a string"),
    ("asset.version", [2], "expected a string"),
    ("materials", [{"emissiveFactor": [1, 2]}], r"materials\[0\].emissiveFactor: expected 3 numbers"),
])  # fmt: skip
def test_faults_are_named(path, value, words, tmp_path):
    doc = square()
    put(doc, path, value)
    refused(doc, tmp_path, words)


def test_attributes_of_unequal_counts(tmp_path):
    doc = Document()
    doc.mesh({"POSITION": doc.accessor(SQUARE), "NORMAL": doc.accessor(SQUARE[:3])}, doc.accessor(TWO))
    refused(doc, tmp_path, "NORMAL: has 3 elements, and POSITION 4")


def test_indices_out_of_range(tmp_path):
    doc = Document()
    doc.mesh({"POSITION": doc.accessor(SQUARE)}, doc.accessor(np.uint8([0, 1, 2, 0, 2, 254])))
    refused(doc, tmp_path, "index 5 names vertex 254 of 4")


@pytest.mark.parametrize("where", [[0, 4], [4, 0]])
def test_sparse_out_of_range(where, tmp_path):
    doc = square()
    doc.json["accessors"][0]["sparse"] = {
        "count": 2,
        "indices": {"bufferView": doc.view(np.uint16(where).tobytes()), "componentType": 5123},
        "values": {"bufferView": doc.view(SQUARE.tobytes())},
    }
    refused(doc, tmp_path, "names element 4 of 4")


def test_small_files_do_not_unfold(tmp_path):
    """Accessors over nothing, many over the same bytes, and instances of them."""
    doc = square()
    doc.json["accessors"][0].update(count=1 << 30)
    del doc.json["accessors"][0]["bufferView"]
    refused(doc, tmp_path, "expands to")

    doc = square()
    doc.json["accessors"].append({"componentType": 5126, "type": "VEC3", "count": 1 << 23})
    doc.json["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 2}}}
    refused(doc, tmp_path, "expands to")

    doc = Document()
    first = doc.accessor(np.zeros((200_000, 3), np.float32))
    doc.json["accessors"] = [dict(doc.json["accessors"][first]) for _ in range(2000)]
    doc.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": k}} for k in range(2000)]}]
    refused(doc, tmp_path, "expands to")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[1]", "an array"),
        (b"3", "a number"),
        (b"{", "line 1, column 2"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"),
        (b'{"a": "\xff"}', "UTF-8 at byte 7"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
        (b'{"a": ' * 100_000, "nested|valid JSON"),
        (b"[" * 100_000, "nested"),
        (b"[" + b"0," * 10_000_001, "more than"),
    ],
)
def test_json(text, words):
    with pytest.raises(ViewerError, match=words):
        parse(text, "x.gltf")


FULL = json.loads(samples()["square.gltf"])


@given(changes(FULL, st.text(max_size=5), st.just([1e308] * 3)))
@settings(max_examples=400, deadline=None)
def test_any_member_may_be_anything(changed):
    """Loaded or refused; nothing else, and never without end."""
    load_changed(FULL, changed, Scene.flatten)
