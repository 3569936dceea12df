"""PLY in its three encodings, with every kind of element."""

from __future__ import annotations

import struct
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from documents import SQUARE, load_bytes, ply
from hypothesis import example, given, settings
from hypothesis import strategies as st

from raystream.base.errors import ViewerError

ENCODINGS = ("ascii", "binary_little_endian", "binary_big_endian")

read = partial(load_bytes, "mesh.ply")


def vertices(points, kind: str = "float") -> dict:
    points = np.asarray(points, np.float64)
    return {name: (kind, points[:, k].tolist()) for k, name in enumerate("xyz")}


@given(
    st.lists(st.tuples(*[st.floats(width=32, allow_nan=False, allow_infinity=False)] * 3), min_size=3, max_size=20),
    st.lists(st.tuples(*[st.integers(0, 19)] * 3), min_size=1, max_size=10),
)
@example([(0, 0, 1), (0, 0, 1), (0, 0.001953125, 1)], [[0, 1, 2]])
@settings(max_examples=40, deadline=None)
def test_round_trip(points, corners):
    """Exact, but for points far from the origin for their extent: those are about a point nearby, within float32."""
    faces = np.array(corners) % len(points)
    half_a_step = 2.0**-24 * np.ptp(np.float64(points), axis=0).max()
    for encoding, kind in product(ENCODINGS, ("float", "double")):
        with tempfile.TemporaryDirectory() as folder:
            scene = read(Path(folder), ply(encoding, vertices(points, kind), faces.tolist()))
        ((mesh, transform),) = ((scene.meshes[each.mesh], each.transform) for each in scene.instances)
        places = mesh.positions @ transform[:3, :3].T + transform[:3, 3] + scene.origin
        assert np.abs(places - points).max() <= half_a_step
        assert np.array_equal(mesh.triangles, faces)


def test_polygons_of_mixed_lengths(encoding, loops, tmp_path):
    points = [[0, 0, 0], [4, 0, 0], [4, 4, 0], [2, 1, 0], [0, 4, 0]]
    faces = [[0, 1, 2], [0, 1, 2, 3, 4], [1, 2], [0, 1, 2, 4]]
    scene = read(tmp_path, ply(encoding, vertices(points), faces))
    assert len(scene.meshes[0].triangles) == 1 + 3 + 0 + 2
    assert any("fewer than three corners" in warning for warning in scene.warnings)


def test_equal_lengths_beyond_three(encoding, loops, tmp_path):
    mesh = read(tmp_path, ply(encoding, vertices(SQUARE), [[0, 1, 2, 3], [3, 2, 1, 0]])).meshes[0]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [3, 2, 1], [3, 1, 0]]


@pytest.mark.parametrize("order", ["<", ">"])
def test_lists_before_and_around(order, loops, tmp_path):
    """Lists among the vertices' properties, other elements in between, faces before vertices, several lists a face."""
    name = {"<": "little", ">": "big"}[order]
    header = f"""ply
format binary_{name}_endian 1.0
element face 2
property list ushort short weights
property uchar flag
property list uint ushort vertex_index
element junk 2
property list char double values
element empty 4000000000
element vertex 4
property list uchar uint bones
property double x
property float y
property short z
end_header
"""
    body = b"".join(
        struct.pack(f"{order}H{n}hBI3H", n, *range(n), 9, 3, *face) for n, face in ((2, (0, 1, 2)), (0, (0, 2, 3)))
    )
    body += struct.pack(order + "b2db", 2, 1.0, 2.0, 0)
    for k, (x, y, z) in enumerate(SQUARE):
        body += struct.pack(f"{order}B{k}Idfh", k, *range(k), x, y, int(z))
    mesh = read(tmp_path, header.encode() + body + b"and more").meshes[0]
    assert np.array_equal(mesh.positions, SQUARE)
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize("newline", [b"\r\n", b"\r"])
def test_line_ends(newline, tmp_path):
    data = ply("ascii", vertices(SQUARE), [[0, 1, 2]]).replace(b"\n", newline)
    assert read(tmp_path, data).triangle_count == 1


GOOD = ply("ascii", vertices(SQUARE), [[0, 1, 2]])


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b"ascii", b"utf8", "unknown encoding"),
        (b"format ascii 1.0\n", b"", "no line 'format'"),
        (b"property float x", b"property float w", "lacks x, y or z"),
        (b"property float x", b"property float y", "appears twice"),
        (b"property float x", b"property list float x", "not a line of a PLY"),
        (b"element vertex 4", b"element vertex -4", "expected a count"),
        (b"element vertex 4", "element vertex ٤".encode(), "expected a count"),
        (b"element vertex 4", b"element vertex 5", "element face: entry 0.*end of the file"),
        (b"element vertex", b"element point", "no element 'vertex'"),
        (b"vertex_indices", b"indices", "no list 'vertex_indices'"),
        (b"3 0 1 2", b"3 0 1 4", "face 0: names vertex 4 of 4"),
        (b"3 0 1 2", b"3 0 1 0.5", "fractional"),
        (b"3 0 1 2", b"3 0 1 nan", "names vertex"),
        (b"3 0 1 2", b"3 0 1", "end of the file"),
        (b"3 0 1 2", b"-3 0 1 2", "entry 0"),
        (b"0.0 0.0 0.0", b"0.0 zero 0.0", "got 'zero'"),
    ],
)
def test_faults_are_told(before, after, words, tmp_path):
    assert before in GOOD
    with pytest.raises(ViewerError, match=words):
        read(tmp_path, GOOD.replace(before, after, 1))


@pytest.mark.parametrize("row", range(4))
def test_the_row_that_is_no_numbers_is_told_from_the_first_to_the_last(row, tmp_path):
    lines = GOOD.split(b"\n")
    at = lines.index(b"end_header") + 1 + row
    lines[at] = b"O.O" + lines[at][3:]
    with pytest.raises(ViewerError, match=f"element vertex: entry {row} .*got 'O.O'"):
        read(tmp_path, b"\n".join(lines))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_truncation_is_refused(encoding, tmp_path):
    data = ply(encoding, vertices(SQUARE), [[0, 1, 2], [0, 2, 3]])
    for length in range(4, len(data) - (2 if encoding == "ascii" else 0)):
        with pytest.raises(ViewerError):
            read(tmp_path, data[:length])


INDICES = {"uchar": "B", "uint8": "B", "short": "h", "int16": "h", "ushort": "H", "uint16": "H", "uint": "I"}


@pytest.mark.parametrize("kind", INDICES)
@pytest.mark.parametrize("order", "<>")
def test_indices_of_every_type_to_its_end(kind: str, order: str, tmp_path) -> None:
    code = INDICES[kind]
    last = min(2 ** (8 * struct.calcsize(code) - (code == "h")) - 1, 70_000)
    encoding = "binary_little_endian" if order == "<" else "binary_big_endian"
    lines = ["ply", f"format {encoding} 1.0", f"element vertex {last + 1}"]
    lines += [*(f"property float {axis}" for axis in "xyz"), "element face 1"]
    lines += [f"property list uchar {kind} vertex_indices", "end_header", ""]
    points = np.arange(3 * (last + 1), dtype=f"{order}f4").tobytes()
    face = struct.pack(f"{order}B3{code}", 3, last, 0, last - 1)
    mesh = read(tmp_path, "\n".join(lines).encode() + points + face).meshes[0]
    np.testing.assert_array_equal(mesh.positions[mesh.triangles[0], 0], [3 * last, 0, 3 * (last - 1)])
