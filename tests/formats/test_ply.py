"""PLY in its three encodings: every type, layout, statement and shape; files of the field."""

from __future__ import annotations

import struct
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from documents import PLY_TYPES, SQUARE, load_bytes, ply
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats import ply as ply_module
from raystream.formats.ply import sniff as is_ply
from raystream.scene.scene import Scene

ENCODINGS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}  # byte orders of `struct`

read = partial(load_bytes, "points.ply")


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
        (b"element vertex 4", b"element vertex 5", "element face: entry 0.*end of the file"),
        (b"element vertex", b"element point", "no element 'vertex'"),
        (b"vertex_indices", b"indices", "no list 'vertex_indices'"),
        (b"3 0 1 2", b"3 0 1 4", "face 0: names vertex 4 of 4"),
        (b"3 0 1 2", b"3 0 1 0.5", "fractional"),
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

Rows = list[tuple[list[str], list[list]]]  # properties of an element, and its entries: numbers or lists


def ply_of(encoding: str, parts: dict[str, Rows]) -> bytes:
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
    mesh = read(tmp_path, ply_of(encoding, {"vertex": (properties, rows), "face": FACE})).meshes[0]
    np.testing.assert_array_equal(mesh.positions, np.float32(rows))
    assert mesh.triangles.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("kind", [name for name, code in TYPES.items() if code not in "fd"])
@pytest.mark.parametrize("lengths", [(3, 3), (3, 4)], ids=["even", "uneven"])
def test_lengths_and_numbers_of_every_type(kind: str, lengths: tuple[int, int], encoding: str, tmp_path: Path) -> None:
    """Of lists and of the vertices in them, all equally long or not."""
    faces = [[[3, 1, 0]], [[0, 1, 2, 3][: lengths[1]]]]
    for described in (f"list {kind} int vertex_index", f"list uchar {kind} vertex_indices"):
        data = ply_of(encoding, {"vertex": (XYZ, POINTS), "face": ([described], faces)})
        mesh = read(tmp_path, data).meshes[0]
        expected = [[3, 1, 0], [0, 1, 2]] + ([[0, 2, 3]] if lengths[1] == 4 else [])
        assert mesh.triangles.tolist() == expected


@pytest.mark.parametrize("kind", ["float", "double"])
def test_numbers_as_floats(kind: str, encoding: str, tmp_path: Path) -> None:
    described = [f"list uchar {kind} vertex_indices"]
    data = ply_of(encoding, {"vertex": (XYZ, POINTS), "face": (described, [[[0.0, 1.0, 3.0]]])})
    assert read(tmp_path, data).meshes[0].triangles.tolist() == [[0, 1, 3]]
    for wrong, words in ((1.5, "fractional"), (-1.0, "face 0: names vertex -1"), (1e30, "names vertex")):
        data = ply_of(encoding, {"vertex": (XYZ, POINTS), "face": (described, [[[0.0, 1.0, wrong]]])})
        with pytest.raises(ViewerError, match=words):
            read(tmp_path, data)
    if encoding != "ascii":
        data = ply_of(encoding, {"vertex": (XYZ, POINTS), "face": ([f"list {kind} int vertex_indices"], [[[0, 1, 2]]])})
        with pytest.raises(ViewerError, match="a list whose length is a float"):
            read(tmp_path, data)


BEFORE = [(["uchar flag"], lambda k: [k]), (["list uchar short bones"], lambda k: [[k] * k]), ([], lambda k: [])]


@pytest.mark.parametrize(("before", "behind"), list(product(range(3), repeat=2)))
def test_properties_around(before: int, behind: int, encoding: str, loops: None, tmp_path: Path) -> None:
    """Scalars and lists before and behind the wanted ones, of vertices and of faces; other elements are
    skipped."""
    (names, make), (more, then) = BEFORE[before], BEFORE[behind]
    more = [name + "_2" for name in more]
    vertices = ([*names, *XYZ, *more], [[*make(k), *row, *then(3 - k)] for k, row in enumerate(POINTS)])
    described = [*names, "list uchar int vertex_indices", *more]
    faces = (described, [[*make(2), [0, 1, 2, 3], *then(0)], [*make(0), [2, 1, 0], *then(1)]])
    parts = {"start": (["int a"], [[1], [2]]), "vertex": vertices, "edge": (["list uchar int e"], [[[1]], [[]]])}
    parts |= {"face": faces, "rest": (["int b"], [[1]])}
    if behind == 2:  # faces before vertices
        parts = dict(reversed(parts.items()))
    mesh = read(tmp_path, ply_of(encoding, parts)).meshes[0]
    np.testing.assert_array_equal(mesh.positions, SQUARE)
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [2, 1, 0]]


@pytest.mark.parametrize(
    "names", [("s", "t"), ("u", "v"), ("texture_u", "texture_v"), ("texcoord_u", "texcoord_v"), ("s0", "t0")]
)
def test_names_of_coordinates(names: tuple[str, str], tmp_path: Path) -> None:
    """From the lower left to the upper left."""
    rows = [[*row, 0.25 * k, 0.125 * k] for k, row in enumerate(POINTS)]
    data = ply_of("ascii", {"vertex": ([*XYZ, *(f"float {name}" for name in names)], rows), "face": FACE})
    expected = [[0, 1], [0.25, 0.875], [0.5, 0.75], [0.75, 0.625]]
    np.testing.assert_array_equal(read(tmp_path, data).meshes[0].uvs, np.float32(expected))
    half = ply_of("ascii", {"vertex": ([*XYZ, f"float {names[0]}"], [row[:4] for row in rows]), "face": FACE})
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
        mesh = read(tmp_path, ply_of(encoding, {"vertex": vertex, "face": FACE})).meshes[0]
        opacity = share[:, 3:] if width == 4 else np.ones((4, 1))
        np.testing.assert_allclose(mesh.colors, np.hstack([linear, opacity]), rtol=1e-6)
    vertex = ([*XYZ, *names[:2]], [row[:5] for row in rows])
    assert read(tmp_path, ply_of(encoding, {"vertex": vertex, "face": FACE})).meshes[0].colors is None


def test_colors_that_are_no_numbers(tmp_path: Path) -> None:
    names = [f"double {name}" for name in ("red", "green", "blue")]
    nan, inf = float("nan"), float("inf")
    rows = [
        [*row, *color]
        for row, color in zip(POINTS, [[nan, inf, -inf], [1e300, 1, 0], [2, 3, 4], [0, 0, 0]], strict=True)
    ]
    mesh = read(tmp_path, ply_of("binary_little_endian", {"vertex": ([*XYZ, *names], rows), "face": FACE})).meshes[0]
    most = np.finfo(np.float32).max
    np.testing.assert_array_equal(mesh.colors[:, :3], np.float32([[0, 0, 0], [most, 1, 0], [2, 3, 4], [0, 0, 0]]))


def test_normals_and_those_without_direction(encoding: str, tmp_path: Path) -> None:
    names = [*XYZ, "float nx", "float ny", "float nz"]
    normals = [[0.0, 0.0, 0.0], [0.0, 3.0, 4.0], [0.0, 0.0, -2.0], [1.0, 0.0, 0.0]]
    rows = [[*row, *normal] for row, normal in zip(POINTS, normals, strict=True)]
    scene = read(tmp_path, ply_of(encoding, {"vertex": (names, rows), "face": FACE}))
    expected = [[0, 0, 1], [0, 0.6, 0.8], [0, 0, -1], [1, 0, 0]]
    np.testing.assert_allclose(scene.meshes[0].normals, expected, atol=1e-7)
    assert scene.warnings == ["1 vertices have a normal without direction; recomputed from their faces"]
    assert scene.name == scene.meshes[0].name == "points"


def test_points_without_faces_are_spheres(encoding: str, tmp_path: Path) -> None:
    for each in ({"vertex": (XYZ, POINTS)}, {"vertex": (XYZ, POINTS), "face": (["uchar flags"], [])}):
        scene = read(tmp_path, ply_of(encoding, each))
        assert scene.warnings == [] and scene.quadric_count == scene.triangle_count == 4
    with pytest.raises(ViewerError, match="element face: has no list 'vertex_indices'"):
        read(tmp_path, ply_of(encoding, {"vertex": (XYZ, POINTS), "face": (["uchar flags"], [[1]])}))
    with pytest.raises(ViewerError, match="element face: has no list 'vertex_indices'"):
        read(tmp_path, ply_of(encoding, {"vertex": (XYZ, POINTS), "face": (["int vertex_indices"], [[1]])}))


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
    scene = read(tmp_path, ply_of(encoding, {"vertex": (XYZ, POINTS), "tristrips": part}))
    assert scene.meshes[0].triangles.tolist() == expected
    both = read(tmp_path, ply_of(encoding, {"vertex": (XYZ, POINTS), "face": FACE, "tristrips": part}))
    assert both.meshes[0].triangles.tolist() == [[0, 1, 2], *expected]


def test_strips_that_name_what_is_not_there(tmp_path: Path) -> None:
    for number, words in ((4, "tristrips: entry 1: names vertex 4 of 4"), (-2, "tristrips: entry 1: names vertex -2")):
        part = (["list int int vertex_indices"], [[[0, number, 2]]])
        with pytest.raises(ViewerError, match=words):
            read(tmp_path, ply_of("ascii", {"vertex": (XYZ, POINTS), "tristrips": part}))


@pytest.mark.parametrize("bad", [-1, 4, 5])
@pytest.mark.parametrize("face", [0, 1, 2])
def test_faces_that_name_what_is_not_there(bad: int, face: int, encoding: str, tmp_path: Path) -> None:
    faces = [[[0, 1, 2]], [[3, 2, 1, 0]], [[1, 2, 3]]]
    faces[face][0][-1] = bad
    with pytest.raises(ViewerError, match=f"face {face}: names vertex {bad} of 4"):
        read(tmp_path, ply_of(encoding, {"vertex": (XYZ, POINTS), "face": (["list uchar int vertex_indices"], faces)}))


def test_first_words() -> None:
    assert all(is_ply(head, Path("a")) for head in (b"ply\n", b"ply\r", b"ply ", b"ply\t", b"ply"))
    assert not any(is_ply(head, Path("a")) for head in (b"plyx", b"PLY\n"))


@pytest.mark.parametrize("extra", [0, 1, 2, 15, 16, 17, 40])
def test_lists_grow(extra: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of text, beyond the room of four numbers a row and 16."""
    monkeypatch.setattr(ply_module, "SMALL", 1 << 30)
    polygon = [0, 1, 2, *([3] * extra)]
    data = ply_of("ascii", {"vertex": (XYZ, POINTS), "face": (FACE[0], [[polygon], [[2, 1, 0]]])})
    found = read(tmp_path, data).meshes[0].triangles
    assert len(found) == 1 + extra + 1 and found[-1].tolist() == [2, 1, 0]


COLOR_LINES = "property uchar red\nproperty uchar green\nproperty uchar blue\n"
UV_LINES = "property float s\nproperty float t\n"
XYZ_LINES = "property float x\nproperty float y\nproperty float z\n"
POINT_LINES = ("0 0 0", "1 0 0", "1 1 0", "0 1 0")


def read_faces(folder: Path, face: str, faces: list[str], vertex: str = "", more: str = "", values: str = "") -> Scene:
    rows = "\n".join([*(f"{point} {values}" for point in POINT_LINES), *faces])
    head = f"ply\nformat ascii 1.0\n{more}element vertex 4\n{XYZ_LINES}{vertex}element face {len(faces)}\n"
    lists = "property list uchar int vertex_indices\n"
    (folder / "a.ply").write_text(f"{head}{lists}{face}end_header\n{rows}\n")
    return load(folder / "a.ply")


def corner_colors(scene: Scene) -> list:
    mesh = scene.meshes[0]
    assert mesh.colors is not None and scene.materials[0].base_color == (1, 1, 1, 1)
    return mesh.colors[mesh.triangles][..., :3].tolist()


@pytest.mark.parametrize("kind", ["uchar", "int", "ushort", "uint", "float", "double"])
@pytest.mark.parametrize(
    "names", [("red", "green", "blue"), ("r", "g", "b"), ("diffuse_red", "diffuse_green", "diffuse_blue")]
)
def test_colors_of_faces_of_every_type(kind: str, names: tuple[str, ...], tmp_path: Path) -> None:
    """Triangles with colours of their own share no vertices; the polygon has its colour in each of its triangles."""
    face = "".join(f"property {kind} {name}\n" for name in names)
    scene = read_faces(tmp_path, face, ["4 0 1 2 3 255 0 0", "3 0 1 2 0 0 255"])
    assert corner_colors(scene) == [[[1, 0, 0]] * 3] * 2 + [[[0, 0, 1]] * 3]
    assert [w for w in scene.warnings if "taken for sRGB" not in w] == []


def test_colors_of_faces_in_floats_of_1_are_linear(tmp_path: Path) -> None:
    scene = read_faces(tmp_path, COLOR_LINES.replace("uchar", "float"), ["3 0 1 2 0.5 0 1"])
    assert corner_colors(scene) == [[[0.5, 0, 1]] * 3]


def test_colors_beyond_their_type_are_the_brightest(tmp_path: Path) -> None:
    assert corner_colors(read_faces(tmp_path, COLOR_LINES, ["3 0 1 2 300 0 255"])) == [[[1, 0, 1]] * 3]


def test_of_two_colors_those_that_differ(tmp_path: Path) -> None:
    scene = read_faces(tmp_path, COLOR_LINES, ["3 0 1 2 255 0 0", "3 0 2 3 0 255 0"], COLOR_LINES, values="255 255 255")
    assert corner_colors(scene) == [[[1, 0, 0]] * 3, [[0, 1, 0]] * 3]


@pytest.mark.parametrize(
    "comment", ["comment TextureFile red.png", "comment texturefile: RED.PNG", "obj_info TextureFile C:\\a\\red.png"]
)
def test_textures_of_vertices(comment: str, tmp_path: Path) -> None:
    Pillow.fromarray(np.full((1, 1, 3), (255, 0, 0), np.uint8)).save(tmp_path / "red.png")
    scene = read_faces(tmp_path, "", ["4 0 1 2 3"], UV_LINES, f"{comment}\n", "0.25 0.75")
    assert scene.meshes[0].uvs is not None and scene.meshes[0].uvs.tolist() == [[0.25, 0.25]] * 4
    assert scene.textures[0].image.texels[0, 0].tolist() == [255, 0, 0, 255] and scene.materials[0].texture == 0
    assert scene.warnings == []


def test_several_textures_by_number(tmp_path: Path) -> None:
    for name, color in (("a.png", (255, 0, 0)), ("b.png", (0, 0, 255))):
        Pillow.fromarray(np.full((1, 1, 3), color, np.uint8)).save(tmp_path / name)
    face = "property list uchar float texcoord\nproperty int texnumber\nproperty int flags\n"
    faces = ["4 0 1 2 3 8 0 0 1 0 1 1 0 1 1 7", "3 0 1 2 6 .5 0 1 0 1 1 0 7"]
    scene = read_faces(tmp_path, face, faces, more="comment TextureFile a.png\ncomment TextureFile b.png\n")
    mesh = scene.meshes[0]
    assert mesh.materials.tolist() == [1, 1, 0]
    assert mesh.uvs is not None and mesh.uvs[mesh.triangles[2]].tolist() == [[0.5, 1], [1, 1], [1, 0]]
    assert [scene.textures[m.texture].image.texels[0, 0, 2] for m in scene.materials] == [0, 255]
    assert scene.warnings == ["properties of faces left out: 'flags'"]


def test_a_missing_texture_is_told(tmp_path: Path) -> None:
    scene = read_faces(tmp_path, "", ["3 0 1 2"], UV_LINES, "comment TextureFile no.png\n", "0 0")
    assert scene.warnings == ["texture 'no.png' not read, white instead: file 'no.png' not found"]
    scene = read_faces(tmp_path, "", ["3 0 1 2"], more="comment TextureFile no.png\n")
    assert scene.warnings == ["texture 'no.png' is left out: no vertex and no face has texture coordinates"]


def test_a_texture_replaces_colors(tmp_path: Path) -> None:
    Pillow.fromarray(np.full((1, 1, 3), 90, np.uint8)).save(tmp_path / "a.png")
    scene = read_faces(tmp_path, "", ["3 0 1 2"], UV_LINES + COLOR_LINES, "comment TextureFile a.png\n", "0 0 90 90 90")
    assert scene.meshes[0].colors is None and scene.warnings == [
        "colours of vertices and faces are left out: the texture has them"
    ]


def test_normals_follow_split_vertices(tmp_path: Path) -> None:
    normals = "property float nx\nproperty float ny\nproperty float nz\n"
    scene = read_faces(tmp_path, COLOR_LINES, ["3 0 1 2 255 0 0", "3 0 2 3 0 255 0"], normals, values="0 3 4")
    assert scene.meshes[0].normals is not None and len(scene.meshes[0].positions) == 6
    np.testing.assert_allclose(scene.meshes[0].normals, np.tile((0, 0.6, 0.8), (6, 1)), atol=1e-6)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_with_more_values_than_declared(end: str, loops: None, tmp_path: Path) -> None:
    rows = ["0 0 0 9", "1 0 0 9", "1 1 0 9 9", "0 1 0", "3 0 1 2 7 7", "3 0 2 3"]
    head = ["ply", "format ascii 1.0", "element vertex 4", *XYZ_LINES.split("\n")[:3], "element face 2"]
    lines = [*head, "property list uchar int vertex_indices", "end_header", *rows]
    (tmp_path / "a.ply").write_bytes(end.join(lines).encode())
    scene = load(tmp_path / "a.ply")
    assert scene.meshes[0].triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert scene.meshes[0].positions.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert scene.warnings == [
        "3 lines of element vertex have more values than it declares, which are left out",
        "1 lines of element face have more values than it declares, which are left out",
    ]


def test_several_entries_in_a_line_are_read_on(tmp_path: Path) -> None:
    head = f"ply\nformat ascii 1.0\nelement vertex 4\n{XYZ_LINES}element face 1\n"
    head += "property list uchar int vertex_indices\n"
    (tmp_path / "a.ply").write_text(f"{head}end_header\n0 0 0 1 0 0 1 1 0 0 1 0 4 0 1 2 3\n")
    scene = load(tmp_path / "a.ply")
    assert scene.triangle_count == 2 and scene.warnings == []


def test_header_lines_that_are_no_statement_are_told(tmp_path: Path) -> None:
    scene = read_faces(tmp_path, "", ["3 0 1 2"], more="made by hand\nauthor me\n")
    assert scene.triangle_count == 1
    assert scene.warnings == ["2 lines of the header are no statements and left out, the first: 'made by hand'"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_before_the_header(encoding: str, tmp_path: Path) -> None:
    scene = read_faces(tmp_path, "", ["3 0 1 2"])
    (tmp_path / "b.ply").write_bytes((tmp_path / "a.ply").read_text().encode(encoding))
    assert load(tmp_path / "b.ply").triangle_count == scene.triangle_count == 1


@pytest.mark.parametrize("order", ["<", ">"])
def test_attributes_of_faces_in_binary(order: str, loops: None, tmp_path: Path) -> None:
    name = {"<": "little", ">": "big"}[order]
    head = f"ply\nformat binary_{name}_endian 1.0\nelement vertex 4\n{XYZ_LINES}element face 2\n"
    head += "property list uchar int vertex_indices\nproperty list uchar float texcoord\nproperty uchar red\n"
    head += "property uchar green\nproperty uchar blue\nproperty uchar alpha\nend_header\n"
    body = struct.pack(f"{order}12f", 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0)
    for corners, color in (((0, 1, 2, 3), (255, 0, 0, 255)), ((0, 1, 2), (0, 0, 255, 255))):
        uvs = [0.25 * corner for corner in corners for _ in range(2)]
        body += struct.pack(f"{order}B{len(corners)}iB{len(uvs)}f4B", len(corners), *corners, len(uvs), *uvs, *color)
    (tmp_path / "a.ply").write_bytes(head.encode() + body)
    scene = load(tmp_path / "a.ply")
    mesh = scene.meshes[0]
    assert corner_colors(scene) == [[[1, 0, 0]] * 3] * 2 + [[[0, 0, 1]] * 3]
    assert mesh.uvs is not None and mesh.uvs[mesh.triangles[2]].tolist() == [[0, 1], [0.25, 0.75], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("values", "srgb"),
    [
        ([0.0, 1.0, 12.0], True),  # whole numbers, some above 1
        ([0.0, 1.0, 1.0], False),
        ([0.0, 1.5, 12.0], False),  # light, brighter than white
        ([0.0, 1.5, 40.5], True),  # brighter than any
        ([0.0, 128.0, 255.0], True),
        ([0.0, 128.0, 256.0], False),  # not of that range
    ],
)
def test_float_colors_that_are_of_0_to_255(values: list[float], srgb: bool, tmp_path: Path) -> None:
    """And a warning says so."""
    places = {axis: ("float", [float(point[k]) for point in SQUARE[:3]]) for k, axis in enumerate("xyz")}
    vertex = {**places, **dict.fromkeys(("red", "green", "blue"), ("float", values))}
    scene = read(tmp_path, ply("ascii", vertex, [[0, 1, 2]]))
    linear = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in values]
    assert scene.meshes[0].colors[:, 1] == pytest.approx(linear if srgb else values, rel=1e-6)
    assert any("taken for sRGB" in warning for warning in scene.warnings) is srgb
