"""STL, binary and ASCII: corners, words, sizes and faults."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from documents import SQUARE, TWO, ascii_stl, load_bytes, stl

from raystream.base.errors import ViewerError
from raystream.formats import stl as stl_reader
from raystream.formats.stl import sniff as is_stl

CORNERS = SQUARE[TWO].reshape(-1, 3, 3)

read = partial(load_bytes, "facets.stl")


@pytest.mark.parametrize("write", [stl, ascii_stl, lambda c: stl(c, b"solid but binary\nfacet normal")])
def test_round_trip(write, loops, tmp_path):
    corners = np.random.default_rng(1).normal(size=(50, 3, 3)).astype(np.float32)
    corners[20] = corners[10]
    mesh = read(tmp_path, write(corners)).meshes[0]
    assert np.array_equal(mesh.positions[mesh.triangles], corners)
    assert len(mesh.positions) == 49 * 3


def test_negative_zero_is_zero(loops, tmp_path):
    corners = CORNERS.copy()
    corners[1] = np.where(corners[1] == 0, -0.0, corners[1])
    assert len(read(tmp_path, stl(corners)).meshes[0].positions) == 4


def test_truncated_binary(tmp_path):
    data = stl(CORNERS)
    for length in (10, 83, 84, len(data) - 1):
        with pytest.raises(ViewerError, match="truncated"):
            read(tmp_path, data[:length])
    assert "2 bytes after" in read(tmp_path, data + b"xx").warnings[0]
    with pytest.raises(ViewerError, match="4,294,967,295 triangles"):
        read(tmp_path, data[:80] + b"\xff" * 4 + data[84:])


FACET = "facet normal 0 0 1\nouter loop\nvertex {0} 0 0\nvertex 1 {0} 0\nvertex 0 1 {0}\nendloop\nendfacet\n"


def facets(count: int) -> bytes:
    return ("solid a\n" + "".join(FACET.format(k) for k in range(count)) + "endsolid a\n").encode()


@pytest.mark.parametrize("count", [1, 341, 342, 683])
def test_facets_fill_their_room(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1024 corners at first, a number that three does not divide."""
    monkeypatch.setattr(stl_reader, "SMALL", 1 << 30)
    mesh = read(tmp_path, facets(count)).meshes[0]
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
        read(tmp_path, text.encode())


def test_words_of_facets(loops: None, tmp_path: Path) -> None:
    """In any case, with anything behind `solid`, `facet`, `outer` and `endsolid`; corners of facets of two solids."""
    text = FACET.format(2).replace("vertex", "VERTEX").replace("outer loop", "Outer loop vertex 9 9 9")
    text = text.replace("facet normal 0 0 1", "FACET vertex 8 8 8").replace("vertex 8 8 8", "x endfacet")
    data = f"solid a facet\n{text}endsolid facet vertex\nSOLID b\n{FACET.format(3)}EndSolid"
    scene = read(tmp_path, data.encode())
    (mesh,) = scene.meshes
    corners = mesh.positions[mesh.triangles]
    assert corners.tolist() == [[[k, 0, 0], [1, k, 0], [0, 1, k]] for k in (2, 3)]
    assert scene.warnings == [] and scene.name == mesh.name == "facets"
    open_ended = f"solid\n{FACET.format(2)}endsolid\nsolid\n{FACET.format(3)}"
    assert read(tmp_path, open_ended.encode()).warnings == ["no 'endsolid': the file may be truncated"]


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
    mesh = read(tmp_path, binary(3)).meshes[0]
    np.testing.assert_array_equal(mesh.positions[mesh.triangles].ravel(), np.arange(27))
    other = binary(3, 2).replace(b"solid", b"other")
    scene = read(tmp_path, other)
    assert scene.warnings == ["50 bytes after the last triangle were left out"] and scene.triangle_count == 2
    for data in (binary(3, 4), binary(3, 4).replace(b"solid", b"other")):  # whatever word it begins with
        with pytest.raises(ViewerError, match="says 4 triangles, which take 284 bytes, but has 234"):
            read(tmp_path, data)


def test_facets_are_known_by_size_or_words(tmp_path: Path) -> None:
    path, one = tmp_path / "a", bytes(80) + b"\1\0\0\0"
    known = (b"solid a\nfacet normal", b" \n SOLID\r\n  FACET ", b"solid\nendsolid\n", bytes(84), one + bytes(50))
    unknown = (b"solid facet", b"solidfacet\nfacet ", b"solid\nfacets", bytes(83), bytes(85), one + bytes(51))
    for data in (*known, *unknown):
        path.write_bytes(data)
        assert is_stl(data, path) == (data in known), data
