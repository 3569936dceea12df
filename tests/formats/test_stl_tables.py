"""STL, numbers in text and the cutting of polygons, by tables."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from documents import load_bytes

from raystream.base.errors import ViewerError
from raystream.base.jit import run
from raystream.formats import stl as stl_reader
from raystream.formats import text
from raystream.formats.polygons import triangulate
from raystream.formats.stl import sniff as is_stl

read_stl = partial(load_bytes, "facets.stl")

FACET = "facet normal 0 0 1\nouter loop\nvertex {0} 0 0\nvertex 1 {0} 0\nvertex 0 1 {0}\nendloop\nendfacet\n"


def facets(count: int) -> bytes:
    return ("solid a\n" + "".join(FACET.format(k) for k in range(count)) + "endsolid a\n").encode()


@pytest.mark.parametrize("count", [1, 341, 342, 683])
def test_facets_fill_their_room(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1024 corners at first, a number that three does not divide."""
    monkeypatch.setattr(stl_reader, "SMALL", 1 << 30)
    mesh = read_stl(tmp_path, facets(count)).meshes[0]
    k = np.arange(count, dtype=np.float32)
    zero, one = 0 * k, 0 * k + 1
    expected = np.stack([np.stack([k, zero, zero], -1), np.stack([one, k, zero], -1), np.stack([zero, one, k], -1)], 1)
    np.testing.assert_array_equal(mesh.positions[mesh.triangles], expected)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("solid\nfacet normal 0 0 1\nfacet normal 0 0 1\n", "line 3: a facet without exactly three"),
        ("solid\nvertex 1 2 3\n", "line 2: a facet without exactly three"),
        ("solid\nfacet\nvertex 1 2 3\nvertex 1 2 3\nendfacet\n", "line 5: a facet without exactly three"),
        ("solid\nfacet\nvertex 1 2 3\nvertex 1 2 3\nvertex 1 2 3\nvertex 1 2 3\n", "line 6: a facet without exactly"),
        ("solid\nfacet\nvertex 1 2 3\nvertex 1 2 3\nvertex 1 2 3\nendfacet\nendfacet\n", "line 7: a facet without"),
        ("solid\nfacet\nvertex 1 2\nvertex 1 2 3\n", "line 3: a coordinate is not"),
        ("solid\nfacet\nvertex 1 2 3x\n", "line 3: a coordinate is not"),
        ("solid\nfacet\nvertex 1 2 3 4\n", "line 3: expected 'vertex x y z'"),
        ("solid\nfacet\nvertex 1 2 3\nhello\n", "line 4: is not a statement"),
        ("solid\nfacet\nvertexx 1 2 3\n", "line 3: is not a statement"),
        ("solid\nfacet\nvertex 1 2 3\n", "line 4: a facet without exactly three"),
    ],
)
def test_faults_of_facets(text: str, words: str, loops: None, tmp_path: Path) -> None:
    with pytest.raises(ViewerError, match=words):
        read_stl(tmp_path, text.encode())


def test_words_of_facets(loops: None, tmp_path: Path) -> None:
    """In any case, with anything behind `solid`, `facet`, `outer` and `endsolid`; corners of facets of two solids."""
    text = FACET.format(2).replace("vertex", "VERTEX").replace("outer loop", "Outer loop vertex 9 9 9")
    text = text.replace("facet normal 0 0 1", "FACET vertex 8 8 8").replace("vertex 8 8 8", "x endfacet")
    data = f"solid a facet\n{text}endsolid facet vertex\nSOLID b\n{FACET.format(3)}EndSolid"
    scene = read_stl(tmp_path, data.encode())
    (mesh,) = scene.meshes
    corners = mesh.positions[mesh.triangles]
    assert corners.tolist() == [[[k, 0, 0], [1, k, 0], [0, 1, k]] for k in (2, 3)]
    assert scene.warnings == [] and scene.name == mesh.name == "facets"
    open_ended = f"solid\n{FACET.format(2)}endsolid\nsolid\n{FACET.format(3)}"
    assert read_stl(tmp_path, open_ended.encode()).warnings == ["no 'endsolid': the file may be truncated"]


def binary(count: int, size: int | None = None, spare: int = 0) -> bytes:
    rows = np.zeros(count, stl_reader._RECORD)
    rows["corners"] = np.arange(9 * count).reshape(count, 9)
    rows["normal"], rows["attribute"] = 7, 9
    return (
        b"solid made here".ljust(80)
        + struct.pack("<I", count if size is None else size)
        + rows.tobytes()
        + bytes(spare)
    )


def test_binary_facets(tmp_path: Path) -> None:
    mesh = read_stl(tmp_path, binary(3)).meshes[0]
    np.testing.assert_array_equal(mesh.positions[mesh.triangles].ravel(), np.arange(27))
    other = binary(3, 2).replace(b"solid", b"other")
    scene = read_stl(tmp_path, other)
    assert scene.warnings == ["50 bytes after the last triangle were left out"] and scene.triangle_count == 2
    for data in (binary(3, 4), binary(3, 4).replace(b"solid", b"other")):  # whatever word it begins with
        with pytest.raises(ViewerError, match="says 4 triangles, which take 284 bytes, but has 234"):
            read_stl(tmp_path, data)


@pytest.mark.parametrize(
    ("data", "known"),
    [
        (b"solid a\nfacet normal", True),
        (b" \n SOLID\r\n  FACET ", True),
        (b"solid\nendsolid\n", True),
        (b"solid facet", False),
        (b"solidfacet\nfacet ", False),
        (b"solid\nfacets", False),
        (bytes(84), True),
        (bytes(83), False),
        (bytes(85), False),
        (bytes(80) + b"\1\0\0\0" + bytes(50), True),
        (bytes(80) + b"\1\0\0\0" + bytes(51), False),
    ],
)
def test_facets_are_known_by_size_or_words(data: bytes, known: bool, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    assert is_stl(data, path) == known


def _bytes(words: str) -> np.ndarray:
    return np.frombuffer(words.encode(), np.uint8)


@pytest.mark.parametrize(
    ("function", "words", "expected"),
    [
        (text.skip_blanks, " \t\r\v\fx", 5),
        (text.skip_blanks, "  \nx", 2),
        (text.skip_blanks, "   ", 3),
        (text.skip_space, " \n\r\tx", 4),
        (text.skip_space, " \n", 2),
        (text.skip_word, "ab cd", 2),
        (text.skip_word, "ab\ncd", 2),
        (text.skip_word, "abcd", 4),
        (text.skip_word, "\x0eb\x1f", 3),
    ],
)
def test_passing_over(function, words: str, expected: int) -> None:
    assert function(_bytes(words), 0, len(words)) == expected


@pytest.mark.parametrize(
    ("byte", "space"), [(8, False), (9, True), (13, True), (14, False), (31, False), (32, True), (33, False)]
)
def test_white_space(byte: int, space: bool) -> None:
    assert text.is_space(byte) == space and text.at_word_end(np.uint8([byte]), 0, 1) == space
    assert text.at_word_end(np.uint8([byte]), 1, 1)


@pytest.mark.parametrize("exponent", [*range(-24, 24), 37, -37, -45])
def test_every_power_of_ten(exponent: int) -> None:
    for digits in ("1", "-7", "123456789012345", "9.75", "+0.625"):
        words = f"{digits}e{exponent}"
        value, end = text.number(_bytes(words), 0, len(words))
        assert end == len(words) and value == pytest.approx(float(words), rel=4e-16)
        if abs(exponent) <= 7:
            assert value == float(words)


@pytest.mark.parametrize("small", [True, False], ids=["plain", "compiled"])
def test_numbers_and_lists_of_rows(small: bool) -> None:
    """Properties in any order; the room ends at a row's first number, its last one, or nowhere."""
    data = _bytes("7 2 10 11 8\n5 0 6\n4 1 12 3\n")
    kinds = np.array([False, True, False])
    for wanted, counts, kept in ((0, [1, 1, 1], [7, 5, 4]), (1, [2, 0, 1], [10, 11, 12]), (2, [1, 1, 1], [8, 6, 3])):
        lengths, values = np.zeros(3, np.int64), np.zeros(3)
        found = run(text.lists, data, 0, 0, kinds, wanted, lengths, values, 0, False, 0, small=small)
        assert found == (3, len(data) - 1, 3, text.DONE, 0)
        assert lengths.tolist() == counts and values.tolist() == kept
        for room in range(3):
            values = np.zeros(room)
            filled, at, row, state, _ = run(
                text.lists, data, 0, 0, kinds, wanted, lengths, values, 0, False, 0, small=small
            )
            first = next(k for k in range(3) if sum(counts[: k + 1]) > room)
            assert (filled, row, state) == (sum(counts[:first]), first, text.ARRAY_FULL)
            assert at == (0, 11, 17)[first] and values[:filled].tolist() == kept[:filled]
    lengths, values = np.zeros(3, np.int64), np.zeros(9)
    for words, row in (
        ("7 x 1", 0),
        ("7 -1 1", 0),
        ("7 1.5 1 1", 0),
        ("7 0 1 7 2 1 1", 1),
        ("7 0 1x", 0),
        ("7 1 2", 0),
    ):
        found = run(text.lists, _bytes(words), 0, 0, kinds, 1, lengths, values, 0, False, 0, small=small)
        assert found[2:] == (row, text.BAD_ROW, 0)
    rows = text.doubled(np.arange(6).reshape(3, 2))
    assert rows.shape == (6, 2) and rows[:3].tolist() == [[0, 1], [2, 3], [4, 5]]


def cut(points: list[list[float]]) -> list[list[int]]:
    flat = np.float32([[*point, 0] for point in points])
    triangles, _, tangled = triangulate(flat, np.arange(len(flat)), np.array([len(flat)]))
    assert tangled == 0
    return triangles.tolist()


DART = [[0, 0], [4, 0], [1, 1], [0, 4]]


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("mirror", [False, True])
def test_a_dart_is_cut_at_its_reflex_corner(turn: int, mirror: bool, loops: None) -> None:
    points = DART[turn:] + DART[:turn]
    if mirror:
        points = points[::-1]
    reflex = points.index([1, 1])
    for triangle in cut(points):
        assert reflex in triangle
    assert sorted(corner for triangle in cut(points) for corner in triangle) == sorted(
        [0, 1, 2, 3, reflex, (reflex + 2) % 4]
    )


def test_faces_of_three_four_and_fewer(loops: None) -> None:
    """Numbers are of corners, whatever vertices these name."""
    points = np.float32([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    corners, lengths = np.array([3, 2, 1, 0, 3, 1, 2, 2, 1, 0, 0, 1, 2, 3]), np.array([3, 0, 1, 3, 1, 2, 4])
    triangles, polygon, tangled = triangulate(points, corners, lengths)
    assert triangles.tolist() == [[0, 1, 2], [4, 5, 6], [10, 11, 12], [10, 12, 13]]
    assert polygon.tolist() == [0, 3, 6, 6] and tangled == 0
    for lengths in (np.array([3, 3]), np.array([2, 1, 0]), np.zeros(0, np.int64)):
        triangles, polygon, _ = triangulate(points, corners[: lengths.sum()], lengths)
        made = 2 * (len(lengths) == 2)
        assert triangles.tolist() == [[0, 1, 2], [3, 4, 5]][:made] and polygon.tolist() == [0, 1][:made]


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1, -1])
def test_projections_keep_the_winding(axis: int, sign: int, loops: None) -> None:
    """Along each axis, seen from both sides: the corners of the dart are the same ones."""
    dart = np.float32([[*point, 0.25] for point in DART]) * np.float32([sign, 1, 1])
    turned = np.roll(dart, axis, axis=1)
    triangles, _, _ = triangulate(turned, np.arange(4), np.array([4]))
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
