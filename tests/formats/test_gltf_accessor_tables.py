"""Accessors, buffers and modes of glTF by tables: every type, offset, sparse element and budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import SQUARE, TWO, Document

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.files import Budget
from raystream.formats.gltf.accessors import Accessors
from raystream.formats.gltf.json import JsonObject, parse

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


def test_what_is_read_is_charged() -> None:
    """4 bytes for each number, 8 for each index, once for values and each time for indices."""
    doc = Document()
    points, corners = doc.accessor(SQUARE), doc.accessor(TWO)
    found = accessors(doc)
    found.view_bytes(0)
    before = found.budget.remaining
    found.floats("it", owner(points), (3,))
    found.floats("it", owner(points), (3,))
    assert before - found.budget.remaining == 4 * 12
    found.indices("it", owner(corners))
    found.indices("it", owner(corners))
    assert before - found.budget.remaining == 4 * 12 + 2 * 8 * 6


@pytest.mark.parametrize("kind", ["u1", "u2", "u4"])
def test_indices_to_the_largest(kind: str) -> None:
    doc = Document()
    raw = np.array([0, 1, np.iinfo(kind).max, np.iinfo(kind).max - 1], kind)
    found = accessors(doc_of(doc, raw)).indices("it", owner(0))
    assert found.dtype == np.int64 and found.tolist() == raw.tolist()


def doc_of(doc: Document, raw: np.ndarray) -> Document:
    doc.accessor(raw)
    return doc


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


@pytest.mark.parametrize("last", [0, 3])
def test_the_last_of_sparse_elements(last: int) -> None:
    doc = Document()
    number = doc.accessor(np.uint8([[1, 2], [3, 4], [5, 6], [7, 8]]), normalized=True)
    doc.json["accessors"][number]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": doc.view(np.uint8([last]).tobytes()), "componentType": 5121},
        "values": {"bufferView": doc.view(np.uint8([255, 51]).tobytes())},
    }
    expected = np.array([[1, 2], [3, 4], [5, 6], [7, 8]]) / 255
    expected[last] = 1, 0.2
    np.testing.assert_allclose(accessors(doc).floats("it", owner(number), (2,)), expected, rtol=1e-6)
    doc.json["accessors"][number]["sparse"]["indices"]["componentType"] = 5120
    with pytest.raises(ViewerError, match="indices must be unsigned"):
        accessors(doc).floats("it", owner(number), (2,))


def test_sparse_without_elements_changes_none() -> None:
    doc = Document()
    number = doc.accessor(SQUARE)
    view = doc.view(bytes(4))
    doc.json["accessors"][number]["sparse"] = {
        "count": 0,
        "indices": {"bufferView": view, "componentType": 5121},
        "values": {"bufferView": view},
    }
    np.testing.assert_array_equal(accessors(doc).floats("it", owner(number), (3,)), SQUARE)


def test_buffers_longer_and_shorter_than_they_say(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(20)))
    for length, right in ((19, True), (20, True), (21, False)):
        budget = Budget("a")
        text = b'{"buffers": [{"byteLength": %d, "uri": "a.bin"}], "bufferViews": [{"buffer": 0, "byteLength": 19}]}'
        made = Accessors(parse(text % length, "a.gltf"), tmp_path / "a.gltf", None, budget)
        if right:
            assert made.view_bytes(0) == bytes(range(19))
            assert budget.remaining == (1 << 30) + 16 * length and budget.empty == (1 << 20) + 16 * length
        else:
            with pytest.raises(ViewerError, match="says 21 bytes, but there are 20"):
                made.view_bytes(0)


def test_zeros_have_a_budget_of_their_own() -> None:
    budget = Budget("a")
    budget.charge(1 << 20, empty=True)
    assert (budget.remaining, budget.empty) == ((1 << 30) - (1 << 20), 0)
    budget.charge(5)
    assert (budget.remaining, budget.empty) == ((1 << 30) - (1 << 20) - 5, 0)
    with pytest.raises(ViewerError, match="expands to"):
        budget.charge(1, empty=True)


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
