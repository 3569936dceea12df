"""PLY by tables: every type, layout, statement and shape."""

from __future__ import annotations

import itertools
import struct
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from documents import PLY_TYPES, SQUARE, load_bytes

from raystream.base.errors import ViewerError
from raystream.formats import ply as ply_module
from raystream.formats.ply import sniff as is_ply

read = partial(load_bytes, "points.ply")

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
@pytest.mark.parametrize(
    ("kind", "most"), [("uchar", 255), ("ushort", 65535), ("uint", 2**32 - 1), ("char", 127), ("float", 1)]
)
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


def test_points_without_faces_are_spheres(encoding: str, tmp_path: Path) -> None:
    for each in ({"vertex": (XYZ, POINTS)}, {"vertex": (XYZ, POINTS), "face": (["uchar flags"], [])}):
        scene = read(tmp_path, ply(encoding, each))
        assert scene.warnings == [] and scene.quadric_count == scene.triangle_count == 4
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
    monkeypatch.setattr(ply_module, "SMALL", 1 << 30)
    polygon = [0, 1, 2, *([3] * extra)]
    data = ply("ascii", {"vertex": (XYZ, POINTS), "face": (FACE[0], [[polygon], [[2, 1, 0]]])})
    found = read(tmp_path, data).meshes[0].triangles
    assert len(found) == 1 + extra + 1 and found[-1].tolist() == [2, 1, 0]
