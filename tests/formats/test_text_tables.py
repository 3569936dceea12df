"""PLY, STL, numbers in text and polygons by tables: every type, layout, statement and shape."""

from __future__ import annotations

import itertools
import struct
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from documents import PLY_TYPES, SQUARE, load_bytes

from viewer.base.errors import ViewerError
from viewer.base.jit import run
from viewer.formats import polygons_loops, text
from viewer.formats.ply import elements
from viewer.formats.ply.reader import sniff as is_ply
from viewer.formats.polygons import triangulate
from viewer.formats.stl import reader as stl_reader
from viewer.formats.stl.reader import sniff as is_stl

read = partial(load_bytes, "points.ply")
read_stl = partial(load_bytes, "facets.stl")

TYPES = {
    **PLY_TYPES,
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}
ENCODINGS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
Rows = list[tuple[list[str], list[list]]]  # properties of an element, and its entries: numbers or lists


def ply(encoding: str, parts: dict[str, Rows]) -> bytes:
    """A file of any elements: name -> (property lines without the word, entries)."""
    order, lines, body = ENCODINGS[encoding], ["ply", f"format {encoding} 1.0"], b""
    for name, (properties, entries) in parts.items():
        lines += [f"element {name} {len(entries)}", *(f"property {each}" for each in properties)]
        for entry in entries:
            for described, value in zip(properties, entry, strict=True):
                words = described.split()
                values = value if words[0] == "list" else [value]
                if encoding == "ascii":
                    counted = [len(values), *values] if words[0] == "list" else values
                    body += " ".join(map(repr, counted)).encode() + b" "
                    continue
                if words[0] == "list":
                    body += struct.pack(order + TYPES[words[1]], len(values))
                body += struct.pack(f"{order}{len(values)}{TYPES[words[-2]]}", *values)
            body += b"\n" if encoding == "ascii" else b""
    return "\n".join([*lines, "end_header", ""]).encode() + body


XYZ = ["float x", "float y", "float z"]
POINTS = [[float(value) for value in row] for row in SQUARE]
FACE = (["list uchar int vertex_indices"], [[[0, 1, 2]]])


@pytest.fixture(params=ENCODINGS)
def encoding(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("kind", TYPES)
def test_coordinates_of_every_type(kind: str, encoding: str, tmp_path: Path) -> None:
    code = TYPES[kind]
    size = 8 * struct.calcsize(code)
    ends = {"f": [-1.5, 3.25, 1e30], "d": [-1.5, 3.25, 1e30]}
    low, high = (0, 2**size - 1) if code.isupper() else (-(2 ** (size - 1)), 2 ** (size - 1) - 1)
    values = ends.get(code, [low, high, 7])
    rows = [[values[k], values[(k + 1) % 3], values[(k + 2) % 3]] for k in range(3)]
    properties = [f"{kind} {axis}" for axis in "xyz"]
    mesh = read(tmp_path, ply(encoding, {"vertex": (properties, rows), "face": FACE})).meshes[0]
    np.testing.assert_array_equal(mesh.positions, np.float32(rows))
    assert mesh.triangles.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("kind", [name for name, code in TYPES.items() if code not in "fd"])
@pytest.mark.parametrize("lengths", [(3, 3), (3, 4)], ids=["even", "uneven"])
def test_lengths_and_numbers_of_every_type(kind: str, lengths: tuple[int, int], encoding: str, tmp_path: Path) -> None:
    """Of lists and of the vertices in them, all equally long or not."""
    faces = [[[3, 1, 0]], [[0, 1, 2, 3][: lengths[1]]]]
    for described in (f"list {kind} int vertex_index", f"list uchar {kind} vertex_indices"):
        data = ply(encoding, {"vertex": (XYZ, POINTS), "face": ([described], faces)})
        mesh = read(tmp_path, data).meshes[0]
        expected = [[3, 1, 0], [0, 1, 2]] + ([[0, 2, 3]] if lengths[1] == 4 else [])
        assert mesh.triangles.tolist() == expected


@pytest.mark.parametrize("kind", ["float", "double"])
def test_numbers_as_floats(kind: str, encoding: str, tmp_path: Path) -> None:
    described = [f"list uchar {kind} vertex_indices"]
    data = ply(encoding, {"vertex": (XYZ, POINTS), "face": (described, [[[0.0, 1.0, 3.0]]])})
    assert read(tmp_path, data).meshes[0].triangles.tolist() == [[0, 1, 3]]
    for wrong, words in ((1.5, "fractional"), (-1.0, "face 0: names vertex -1"), (1e30, "names vertex")):
        data = ply(encoding, {"vertex": (XYZ, POINTS), "face": (described, [[[0.0, 1.0, wrong]]])})
        with pytest.raises(ViewerError, match=words):
            read(tmp_path, data)
    if encoding != "ascii":
        data = ply(encoding, {"vertex": (XYZ, POINTS), "face": ([f"list {kind} int vertex_indices"], [[[0, 1, 2]]])})
        with pytest.raises(ViewerError, match="a list whose length is a float"):
            read(tmp_path, data)


BEFORE = [(["uchar flag"], lambda k: [k]), (["list uchar short bones"], lambda k: [[k] * k]), ([], lambda k: [])]


@pytest.mark.parametrize(("before", "behind"), list(itertools.product(range(3), repeat=2)))
def test_properties_around(before: int, behind: int, encoding: str, loops: None, tmp_path: Path) -> None:
    """Scalars and lists before and behind the wanted ones, of vertices and of faces; other elements are
    skipped."""
    (names, make), (more, then) = BEFORE[before], BEFORE[behind]
    more = [name + "_2" for name in more]
    vertices = ([*names, *XYZ, *more], [[*make(k), *row, *then(3 - k)] for k, row in enumerate(POINTS)])
    described = [*names, "list uchar int vertex_indices", *more]
    faces = (described, [[*make(2), [0, 1, 2, 3], *then(0)], [*make(0), [2, 1, 0], *then(1)]])
    parts = {"start": (["int a"], [[1], [2]]), "vertex": vertices, "edge": (["list uchar int e"], [[[1]], [[]]])}
    mesh = read(tmp_path, ply(encoding, parts | {"face": faces, "rest": (["int b"], [[1]])})).meshes[0]
    np.testing.assert_array_equal(mesh.positions, SQUARE)
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [2, 1, 0]]


def test_elements_behind_the_wanted_ones_are_not_read(encoding: str, tmp_path: Path) -> None:
    data = ply(encoding, {"vertex": (XYZ, POINTS), "face": FACE, "junk": (["int a"], [])})
    data = data.replace(b"element junk 0", b"element junk 9")
    assert read(tmp_path, data).triangle_count == 1


@pytest.mark.parametrize(
    "names", [("s", "t"), ("u", "v"), ("texture_u", "texture_v"), ("texcoord_u", "texcoord_v"), ("s0", "t0")]
)
def test_names_of_coordinates(names: tuple[str, str], tmp_path: Path) -> None:
    """From the lower left to the upper left."""
    rows = [[*row, 0.25 * k, 0.125 * k] for k, row in enumerate(POINTS)]
    data = ply("ascii", {"vertex": ([*XYZ, *(f"float {name}" for name in names)], rows), "face": FACE})
    expected = [[0, 1], [0.25, 0.875], [0.5, 0.75], [0.75, 0.625]]
    np.testing.assert_array_equal(read(tmp_path, data).meshes[0].uvs, np.float32(expected))
    half = ply("ascii", {"vertex": ([*XYZ, f"float {names[0]}"], [row[:4] for row in rows]), "face": FACE})
    assert read(tmp_path, half).meshes[0].uvs is None


@pytest.mark.parametrize("prefix", ["", "diffuse_"])
@pytest.mark.parametrize(("kind", "most"), [("uchar", 255), ("ushort", 65535), ("char", 127), ("float", 1)])
def test_colors_of_every_type(prefix: str, kind: str, most: int, encoding: str, tmp_path: Path) -> None:
    """Integers are sRGB of their type's largest, opacity is linear, floats are linear; no colour is below zero."""
    given = [[most, 0, most // 2, most], [0, most, 0, most // 2]]
    if kind in ("char", "float"):
        given.append([-most, most, 0, -most])
    given += [[0, 0, 0, 0]] * (4 - len(given))
    rows = [[*row, *color] for row, color in zip(POINTS, given, strict=True)]
    names = [f"{kind} {prefix}{name}" for name in ("red", "green", "blue", "alpha")]
    share = np.maximum(np.array(given, np.float64) / most, 0)
    low = share[:, :3] / 12.92
    linear = (
        share[:, :3] if kind == "float" else np.where(low < 0.0031308, low, ((share[:, :3] + 0.055) / 1.055) ** 2.4)
    )
    for width in (3, 4):
        vertex = ([*XYZ, *names[:width]], [row[: 3 + width] for row in rows])
        mesh = read(tmp_path, ply(encoding, {"vertex": vertex, "face": FACE})).meshes[0]
        opacity = share[:, 3:] if width == 4 else np.ones((4, 1))
        np.testing.assert_allclose(mesh.colors, np.hstack([linear, opacity]), rtol=1e-6)
    vertex = ([*XYZ, *names[:2]], [row[:5] for row in rows])
    assert read(tmp_path, ply(encoding, {"vertex": vertex, "face": FACE})).meshes[0].colors is None


def test_colors_that_are_no_numbers(tmp_path: Path) -> None:
    names = [f"double {name}" for name in ("red", "green", "blue")]
    nan, inf = float("nan"), float("inf")
    rows = [
        [*row, *color]
        for row, color in zip(POINTS, [[nan, inf, -inf], [1e300, 1, 0], [2, 3, 4], [0, 0, 0]], strict=True)
    ]
    mesh = read(tmp_path, ply("binary_little_endian", {"vertex": ([*XYZ, *names], rows), "face": FACE})).meshes[0]
    most = np.finfo(np.float32).max
    np.testing.assert_array_equal(mesh.colors[:, :3], np.float32([[0, 0, 0], [most, 1, 0], [2, 3, 4], [0, 0, 0]]))


def test_normals_and_those_without_direction(encoding: str, tmp_path: Path) -> None:
    names = [*XYZ, "float nx", "float ny", "float nz"]
    normals = [[0.0, 0.0, 0.0], [0.0, 3.0, 4.0], [0.0, 0.0, -2.0], [1.0, 0.0, 0.0]]
    rows = [[*row, *normal] for row, normal in zip(POINTS, normals, strict=True)]
    scene = read(tmp_path, ply(encoding, {"vertex": (names, rows), "face": FACE}))
    expected = [[0, 0, 1], [0, 0.6, 0.8], [0, 0, -1], [1, 0, 0]]
    np.testing.assert_allclose(scene.meshes[0].normals, expected, atol=1e-7)
    assert scene.warnings == ["1 vertices have a normal without direction; recomputed from their faces"]
    assert scene.name == scene.meshes[0].name == "points"


def test_points_without_faces_are_told(encoding: str, tmp_path: Path) -> None:
    told = "4 points without faces: there is nothing to trace"
    assert read(tmp_path, ply(encoding, {"vertex": (XYZ, POINTS)})).warnings == [told, "the scene has no triangles"]
    none = ply(encoding, {"vertex": (XYZ, POINTS), "face": (["uchar flags"], [])})
    assert read(tmp_path, none).warnings == ["the scene has no triangles"]
    with pytest.raises(ViewerError, match="element face: has no list 'vertex_indices'"):
        read(tmp_path, ply(encoding, {"vertex": (XYZ, POINTS), "face": (["uchar flags"], [[1]])}))
    with pytest.raises(ViewerError, match="element face: has no list 'vertex_indices'"):
        read(tmp_path, ply(encoding, {"vertex": (XYZ, POINTS), "face": (["int vertex_indices"], [[1]])}))


STRIPS = [
    ([[0, 1, 2]], [[0, 1, 2]]),
    ([[0, 1, 2, 3]], [[0, 1, 2], [1, 3, 2]]),
    ([[0, 1, 2], [3, 2, 1, 0]], [[0, 1, 2], [3, 2, 1], [2, 0, 1]]),
    ([[0, 1, 2, -1, 3, 2, 1]], [[0, 1, 2], [3, 2, 1]]),
    ([[-1, -1, 0, 1, -1, 1, 2, 3, 0, -1]], [[1, 2, 3], [2, 0, 3]]),
    ([[0, 1, 2, 2, 3, 1, 0]], [[0, 1, 2], [2, 1, 3], [3, 1, 0]]),
    ([[], [0], [0, 1], [1, 2, 3]], [[1, 2, 3]]),
    ([[0, 0, 1, 1, 2]], []),
]


@pytest.mark.parametrize(("strips", "expected"), STRIPS)
def test_strips(strips: list[list[int]], expected: list[list[int]], encoding: str, tmp_path: Path) -> None:
    """Every second triangle is turned, counted from the strip's own beginning; those without area are left out."""
    part = (["list int int vertex_indices"], [[strip] for strip in strips])
    scene = read(tmp_path, ply(encoding, {"vertex": (XYZ, POINTS), "tristrips": part}))
    assert scene.meshes[0].triangles.tolist() == expected
    both = read(tmp_path, ply(encoding, {"vertex": (XYZ, POINTS), "face": FACE, "tristrips": part}))
    assert both.meshes[0].triangles.tolist() == [[0, 1, 2], *expected]


def test_strips_that_name_what_is_not_there(tmp_path: Path) -> None:
    for number, words in ((4, "tristrips: entry 1: names vertex 4 of 4"), (-2, "tristrips: entry 1: names vertex -2")):
        part = (["list int int vertex_indices"], [[[0, number, 2]]])
        with pytest.raises(ViewerError, match=words):
            read(tmp_path, ply("ascii", {"vertex": (XYZ, POINTS), "tristrips": part}))


@pytest.mark.parametrize("bad", [-1, 4, 5])
@pytest.mark.parametrize("face", [0, 1, 2])
def test_faces_that_name_what_is_not_there(bad: int, face: int, encoding: str, tmp_path: Path) -> None:
    faces = [[[0, 1, 2]], [[3, 2, 1, 0]], [[1, 2, 3]]]
    faces[face][0][-1] = bad
    with pytest.raises(ViewerError, match=f"face {face}: names vertex {bad} of 4"):
        read(tmp_path, ply(encoding, {"vertex": (XYZ, POINTS), "face": (["list uchar int vertex_indices"], faces)}))


@pytest.mark.parametrize("tail", [b"\n", b"\r\n", b" \n", b""])
def test_the_end_of_a_header(tail: bytes, tmp_path: Path) -> None:
    head = b"ply\nformat ascii 1.0\nelement vertex 0\n" + b"".join(b"property float %c\n" % axis for axis in b"xyz")
    scene = read(tmp_path, head + b"end_header" + tail)
    assert len(scene.meshes[0].positions) == 0 and scene.warnings == ["the scene has no triangles"]


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b"ply\n", True),
        (b"ply\r", True),
        (b"ply ", True),
        (b"ply\t", True),
        (b"ply", True),
        (b"plyx", False),
        (b"PLY\n", False),
    ],
)
def test_first_words(head: bytes, known: bool) -> None:
    assert is_ply(head, Path("a")) == known


@pytest.mark.parametrize("extra", [0, 1, 2, 15, 16, 17, 40])
def test_lists_grow(extra: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of text, beyond the room of four numbers a row and 16."""
    monkeypatch.setattr(elements, "SMALL", 1 << 30)
    polygon = [0, 1, 2, *([3] * extra)]
    data = ply("ascii", {"vertex": (XYZ, POINTS), "face": (FACE[0], [[polygon], [[2, 1, 0]]])})
    found = read(tmp_path, data).meshes[0].triangles
    assert len(found) == 1 + extra + 1 and found[-1].tolist() == [2, 1, 0]


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
    rows = np.zeros(count, stl_reader._FACET)
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


def test_corners_of_equal_bits_are_one() -> None:
    corners = np.float32(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1], [5, 5, 5], [0, 1, 0], [1, 0, 0]]
    )
    positions, triangles = stl_reader._weld(corners)
    assert positions.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [5, 5, 5]]
    assert triangles.tolist() == [[0, 1, 2], [1, 0, 3], [4, 2, 1]]
    positions, triangles = stl_reader._weld(corners[:0])
    assert positions.shape == triangles.shape == (0, 3)


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
        found = run(text.lists, data, 0, 0, kinds, wanted, lengths, values, 0, small=small)
        assert found == (3, len(data) - 1, 3, text.DONE)
        assert lengths.tolist() == counts and values.tolist() == kept
        for room in range(3):
            values = np.zeros(room)
            filled, at, row, state = run(text.lists, data, 0, 0, kinds, wanted, lengths, values, 0, small=small)
            first = next(k for k in range(3) if sum(counts[: k + 1]) > room)
            assert (filled, row, state) == (sum(counts[:first]), first, text.FULL)
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
        assert run(text.lists, _bytes(words), 0, 0, kinds, 1, lengths, values, 0, small=small)[2:] == (row, text.BAD)
    rows = text.grown(np.arange(6).reshape(3, 2))
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


def test_shapes_of_ears() -> None:
    """A letter L, an arrow, a comb and a cross: each triangle lies inside, together they are the whole."""
    shapes = {
        3: [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]],
        4: [[0, 0], [3, 1], [2, 1], [2, 3], [-2, 3], [-2, 1], [-3, 1]],
        8: [[0, 0], [7, 0], [7, 4], [6, 1], [5, 4], [4, 1], [3, 4], [2, 1], [1, 4], [0, 4]],
        5: [[1, 0], [2, 0], [2, 1], [3, 1], [3, 2], [2, 2], [2, 3], [1, 3], [1, 2], [0, 2], [0, 1], [1, 1]],
    }
    for points in shapes.values():
        for ring in (points, points[::-1]):
            p = np.array(ring, float)
            area = 0.5 * (p[:, 0] * np.roll(p[:, 1], -1) - np.roll(p[:, 0], -1) * p[:, 1]).sum()
            a, b, c = p[np.array(cut(ring))].transpose(1, 0, 2)
            each = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
            assert (each * np.sign(area) > 0).all() and each.sum() == pytest.approx(area)
            used = np.bincount(np.ravel(cut(ring)), minlength=len(ring))
            assert used.sum() == 3 * (len(ring) - 2) and used.min() >= 1


@pytest.mark.parametrize(
    ("points", "convex"),
    [
        ([[0, 0], [1, 0], [1, 1], [0, 1]], True),
        ([[0, 0], [1, 0], [2, 0], [2, 1], [0, 1]], True),  # straight on
        ([[0, 0], [0, 0], [1, 0], [1, 1], [0, 1]], True),  # doubled
        (DART, False),
        ([[0, 0], [2, 0], [2, 2], [1, 0.5], [0, 2]], False),
        ([[np.cos(4 * np.pi * k / 5), np.sin(4 * np.pi * k / 5)] for k in range(5)], False),  # twice around
    ],
)
def test_convexity(points: list, convex: bool) -> None:
    plane = np.array(points, np.float64)
    for turn in range(len(plane)):
        assert polygons_loops._convex(np.roll(plane, turn, axis=0), len(plane)) == convex


@pytest.mark.parametrize(
    ("point", "blocks"),
    [
        ((1, 1), True),
        ((2, 0), True),
        ((0, 0), False),
        ((4, 0), False),
        ((0, 4), False),
        ((2, 2), True),
        ((2.5, 2), False),
    ],
)
def test_corners_within_ears(point: tuple[float, float], blocks: bool) -> None:
    """On the border, too, but not at one of its corners."""
    plane = np.array([(0, 0), (4, 0), (0, 4), point], np.float64)
    assert polygons_loops._blocks(plane, 3, 0, 1, 2) == blocks
