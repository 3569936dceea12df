"""OBJ by tables: every statement, number of arguments and number of rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from obj_text import POINTS, read
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.formats import load, mtl, obj, polygons

SILENT = "g o s mg lod shadow_obj trace_obj bevel c_interp d_interp usemap maplib vp cstype deg bmat step parm trim "
SILENT += "hole scrv sp end con ctech stech"
SURFACES = "curv curv2 surf call csh bsp bzp cdc cdp res"
UNKNOWN = "vx gg vertexvertexvert shadow_object_of_a_name en fa F"


@pytest.mark.parametrize(("word", "after", "warnings"), [
    *((word, f"{word}\nf 1 2 3\n{word}", []) for word in SILENT.split()),
    *((word, f"f 1 2 3\n{word} 1", ["2 curves or surfaces were left out"]) for word in SURFACES.split()),
    *((word, "f 1 2 3\n", ["1 lines with unknown statements were left out"]) for word in UNKNOWN.split()),
])  # fmt: skip
def test_statements_that_are_no_geometry(word: str, after: str, warnings: list[str], tmp_path: Path) -> None:
    scene = read(tmp_path, f"{POINTS}{word} 1 2 3\n{after}")
    assert scene.warnings == warnings and scene.triangle_count == 1


@pytest.mark.parametrize(
    ("line", "color"),
    [
        ("v 5 6 7", None),
        ("v 5 6 7 2", None),  # a weight
        ("v 5 6 7 2 3", None),
        ("v 5 6 7 1 0.5 0", (1, 0.5, 0)),
        ("v 5 6 7 9 1 0.5 0", (1, 0.5, 0)),  # weight and colour
        ("v 5 6 7 1 1 1 1 1", None),
        ("v 5 6 7 # 1 1 1", None),
        ("  v\t5 6 7 0 0.5 1#c", None),
        ("v 5 6 7 -1 0.5 1 # c", (0, 0.5, 1)),
        ("v 5 6 7 300 51 0", (1, 0.2, 0)),
    ],
)
def test_numbers_of_a_vertex(line: str, color: tuple[float, float, float] | None, loops: None, tmp_path: Path) -> None:
    if line.endswith("1#c"):
        with pytest.raises(ViewerError, match="line 5: a coordinate is not a number"):
            read(tmp_path, f"{POINTS}{line}\nf 1 2 5\n")
        return
    mesh = read(tmp_path, f"{POINTS}{line}\nf 1 2 5\n").meshes[0]
    np.testing.assert_array_equal(mesh.positions[4], (5, 6, 7))
    if color is None:
        assert mesh.colors is None
        return
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in color]
    np.testing.assert_allclose(mesh.colors[4], [*linear, 1], rtol=1e-6)
    np.testing.assert_array_equal(mesh.colors[:4], 1)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("v 1 2", "needs three numbers"),
        ("v", "needs three numbers"),
        ("v 1 x 3", "a coordinate is not a number"),
        ("v 1 2 3x", "a coordinate is not a number"),
        ("vn 1 2", "needs three numbers"),
        ("vn 1 y 3", "a coordinate is not a number"),
        ("vt", "'vt' one"),
        ("vt x", "a coordinate is not a number"),
        ("f 1 2 -6", "a relative index goes back before the first"),
        ("f 1/0 2 3", "index 0"),
        ("f 1/1/0 2 3", "index 0"),
        ("f 1/2/3/4 2 3", "a corner of a face is not"),
        ("f 1//1/1 2 3", "a corner of a face is not"),
        ("f /1 2 3", "a corner of a face is not"),
        ("f 1.5 2 3", "a corner of a face is not"),
        ("f a b c", "a corner of a face is not"),
        ("f 1/-4 2 3", "a relative index goes back before the first"),
        ("f 1//-3 2 3", "a relative index goes back before the first"),
        ("g\x01 1", "holds bytes that are not text"),
        ("\x7f 1", "holds bytes that are not text"),
    ],
)
def test_faults(line: str, fault: str, loops: None, tmp_path: Path) -> None:
    text = POINTS + "v 2 2 2\nvt 0 0\nvt 1 0\nvt 1 1\nvn 0 0 1\nvn 0 1 0\n\n"
    with pytest.raises(ViewerError, match=f"line 12: .*{fault}"):
        read(tmp_path, f"{text}{line}\nf 1 2 3\n")


@pytest.mark.parametrize(
    ("face", "uvs", "normals"),
    [
        ("f 1 2 3", None, None),
        ("f 1/ 2/ 3/", None, None),
        ("f 1// 2// 3//", None, None),
        ("f 1/1 2/2 3/3", [[0.1, 0.8], [0.3, 0.6], [0.5, 1]], None),
        ("f 1/1/ 2/2/ 3/3/", [[0.1, 0.8], [0.3, 0.6], [0.5, 1]], None),
        ("f 1//1 2//2 3//1", None, [[0, 0, 1], [0, 1, 0], [0, 0, 1]]),
        ("f 1/3/2 2/2/2 3/1/1", [[0.5, 1], [0.3, 0.6], [0.1, 0.8]], [[0, 1, 0], [0, 1, 0], [0, 0, 1]]),
        ("f -4/-1/-1 -3/-2/-1 -2/-3/-2", [[0.5, 1], [0.3, 0.6], [0.1, 0.8]], [[0, 1, 0], [0, 1, 0], [0, 0, 1]]),
        ("f 1/1 2 3/3", [[0.1, 0.8], [0, 1], [0.5, 1]], None),
        ("f 1/1/1 2/1/1 3/1/1", [[0.1, 0.8]] * 3, [[0, 0, 1]] * 3),
    ],
)
def test_corners(face: str, uvs: list | None, normals: list | None, loops: None, tmp_path: Path) -> None:
    """v is from below; a corner without coordinates has (0, 0) of the file."""
    text = POINTS + "vt 0.1 0.2\nvt 0.3 0.4 9\nvt 0.5\nvn 0 0 3\nvn 0 2 0 7\n"
    mesh = read(tmp_path, text + face).meshes[0]
    order = mesh.triangles[0]
    assert mesh.positions[order].tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    for found, wanted in ((mesh.uvs, uvs), (mesh.normals, normals)):
        if wanted is None:
            assert found is None
        else:
            np.testing.assert_allclose(found[order], wanted, rtol=1e-6)


def test_polygons_are_cut_by_their_positions(loops: None, tmp_path: Path) -> None:
    """Not by their texture coordinates: a dart is cut at its inner corner."""
    points = "v 0 0 0\nv 4 0 0\nv 1 1 0\nv 0 4 0\n"
    texture = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
    for face in ("f 2/1 3/2 4/3 1/4", "f 2 3 4 1"):
        mesh = read(tmp_path, points + texture + face).meshes[0]
        corners = mesh.positions[mesh.triangles]
        assert corners[..., :2].tolist() == [[[4, 0], [1, 1], [0, 0]], [[1, 1], [0, 4], [0, 0]]]


@pytest.mark.parametrize("ending", ["obj", "ply"])
def test_polygons_that_cross_themselves_are_told(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polygons, "MAX_EAR_TESTS", 20)
    angle = 2 * np.pi * np.arange(30) / 30
    radius = 1 - 0.6 * (np.arange(30) % 2)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], -1).tolist()
    path = tmp_path / f"star.{ending}"
    if ending == "obj":
        lines = [f"v {x} {y} {z}" for x, y, z in points] + ["f " + " ".join(str(k + 1) for k in range(30))]
    else:
        lines = ["ply", "format ascii 1.0", "element vertex 30", *(f"property float {axis}" for axis in "xyz")]
        lines += ["element face 1", "property list uchar int vertex_indices", "end_header"]
        lines += [f"{x} {y} {z}" for x, y, z in points] + ["30 " + " ".join(map(str, range(30)))]
    path.write_text("\n".join(lines))
    scene = load(path)
    assert scene.warnings == ["1 polygons cross themselves too often to be cut well"] and scene.triangle_count == 28


@pytest.mark.parametrize(("column", "count"), [(0, 4), (1, 3), (2, 2)], ids=["vertex", "texture vertex", "normal"])
def test_the_last_number_and_one_more(column: int, count: int, tmp_path: Path) -> None:
    text = POINTS + "vt 0 0\n" * 3 + "vn 0 0 1\n" * 2
    label = ("vertex", "texture vertex", "normal")[column]
    for number in (count, count + 1):
        corner = ["1", "1", "1"]
        corner[column] = str(number)
        face = f"f 1/1/1 2/1/1 3/1/1\nf 1/1/1 2/1/1 {'/'.join(corner)}\n"
        if number == count:
            assert read(tmp_path, text + face).triangle_count == 2
        else:
            with pytest.raises(ViewerError, match=f"line 11: names {label} {number} of {count}"):
                read(tmp_path, text + face)


@pytest.mark.parametrize("count", [15, 16, 17, 1024, 1025])
def test_arrays_grow(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of vertices, texture vertices, normals, faces and materials, at the sizes where one is full."""
    monkeypatch.setattr(obj, "SMALL", 1 << 30)
    lines = [f"v {k} 0 {k % 7}" for k in range(count)] + [f"vt {k} 0.5" for k in range(count)]
    lines += [f"vn {k + 1} 0 0" for k in range(count)] + ["v 0 1 0"]
    for k in range(count):
        if count < 20:
            lines.append(f"usemtl m{k}")
        lines.append(f"f {k + 1}/{k + 1}/{k + 1} {(k + 3) % count + 1}/1/1 {count + 1}/1/1")
    scene = read(tmp_path, "\n".join(lines))
    (mesh,) = scene.meshes
    order = mesh.triangles
    k = np.arange(count)
    assert len(order) == count and scene.warnings == []
    np.testing.assert_array_equal(mesh.positions[order[:, 0]], np.stack([k, 0 * k, k % 7], axis=1))
    np.testing.assert_array_equal(mesh.positions[order[:, 1], 0], (k + 3) % count)
    np.testing.assert_array_equal(mesh.positions[order[:, 2]], np.tile((0, 1, 0), (count, 1)))
    np.testing.assert_array_equal(mesh.uvs[order[:, 0]], np.stack([k, np.full(count, 0.5)], axis=1))
    if count < 20:
        assert [scene.materials[each].name for each in mesh.materials] == [f"m{each}" for each in range(count)]
        assert len(scene.materials) == count


@pytest.mark.parametrize("count", [4095, 4096, 4097, 9000])
def test_a_face_of_many_corners(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obj, "SMALL", 1 << 30)
    lines = [*POINTS.splitlines(), "f 1 2 3", "f " + "1 " * (count - 6) + "2 3", "f 4 1 2", "f 1 2"]
    data = "\n".join(lines).encode()
    found, counts, fault, at = obj._scan(data)
    corners, faces = found[3], found[4]
    assert (fault, at, counts[:6].tolist()) == (0, len(data), [4, 0, 0, count + 4, 4, 0])
    assert faces[:, 0].tolist() == [3, count - 4, 3, 2]
    assert faces[:, 1].tolist() == [data.index(b"f 1 2 3"), data.index(b"f 1 1"), data.index(b"f 4"), len(data) - 5]
    assert corners[:, 0].tolist() == [0, 1, 2, *[0] * (count - 6), 1, 2, 3, 0, 1, 0, 1]
    assert (corners[:, 1:] == -1).all()


def test_materials_by_name_and_order(tmp_path: Path) -> None:
    """The default before the first `usemtl`; libraries are read once, later ones replace materials."""
    (tmp_path / "n.mtl").write_text("newmtl a\nKd 0 1 0\nnewmtl c\nKd 0 0 1\n")
    library = "newmtl a\nKd 1 0 0\nnewmtl b\n"
    text = f"mtllib m.mtl\nmtllib n.mtl\nmtllib m.mtl\n{POINTS}"
    faces = "f 1 2 3\nusemtl c\nf 1 2 4\nusemtl a\nf 2 3 4\nf 1 3 4\nusemtl none\nusemtl c\nf 1 2 3 4\n"
    scene = read(tmp_path, text + faces, library)
    assert [each.name for each in scene.materials] == ["default", "c", "a", "none"]
    assert scene.meshes[0].materials.tolist() == [0, 1, 2, 2, 1, 1]
    assert [each.base_color[:3] for each in scene.materials[1:]] == [(0, 0, 1), (0, 1, 0), (0.8, 0.8, 0.8)]
    assert scene.warnings == ["materials not found, grey instead: 'none'"]
    scene = read(tmp_path, text + faces[8:])
    assert [each.name for each in scene.materials] == ["c", "a", "none"]
    assert scene.meshes[0].materials.tolist() == [0, 1, 1, 0, 0]
    assert read(tmp_path, f"{POINTS}usemtl x\nf 1 2 3").warnings == []  # without a library all are
    assert scene.name == scene.meshes[0].name == "thing" and len(scene.instances) == 1


def test_names_of_libraries_are_no_addresses(tmp_path: Path) -> None:
    """A per cent sign is one; blanks belong to a name where such a file is there."""
    for name in ("a%20b.mtl", "a b.mtl"):
        (tmp_path / name).write_text(f"newmtl m\nKd {int('%' in name)} 0 0\nmap_Kd c%20d.png\n")
    Pillow.fromarray(np.full((1, 1, 3), 9, np.uint8)).save(tmp_path / "c%20d.png")
    for name, red in (("a%20b.mtl", 1), ("a b.mtl", 0)):
        scene = read(tmp_path, f"mtllib {name}\nusemtl m\n{POINTS}f 1 2 3\n")
        assert scene.materials[0].base_color[0] == red and scene.warnings == []
        assert (scene.textures[0].image.texels[0, 0] == (9, 9, 9, 255)).all()


def test_libraries_that_are_missing_or_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "newmtl m\nKd 1 0 0"
    face = f"usemtl m\n{POINTS}f 1 2 3\n"
    missing = "mtllib not read: file 'no.mtl' not found"
    grey = "materials not found, grey instead: 'm'"
    assert read(tmp_path, f"mtllib no.mtl\n{face}", text).warnings == [missing, grey]
    assert read(tmp_path, f"mtllib no.mtl m.mtl\n{face}").warnings == [missing]
    for most, told in (
        (len(text), []),
        (len(text) - 1, [f"m.mtl: only the first {len(text) - 1} bytes of the materials"]),
    ):
        monkeypatch.setattr(mtl, "MAX_BYTES", most)
        monkeypatch.setattr(obj, "MAX_BYTES", most)
        warnings = read(tmp_path, f"mtllib m.mtl\n{face}").warnings
        assert [each.removesuffix(" were read") for each in warnings][: len(told) or None] == told


def test_thin_faces_are_counted(tmp_path: Path) -> None:
    scene = read(tmp_path, f"{POINTS}f 1\nf 1 2\nf 1 2 3\nf\n")
    assert scene.warnings == ["3 faces with fewer than three corners were left out"] and scene.triangle_count == 1


def test_normals_without_direction_are_made(tmp_path: Path) -> None:
    scene = read(tmp_path, f"{POINTS}vn 0 0 0\nvn 0 3 4\nf 1//1 2//2 3//2\n")
    (mesh,) = scene.meshes
    np.testing.assert_allclose(mesh.normals[mesh.triangles[0]], [[0, 0, 1], [0, 0.6, 0.8], [0, 0.6, 0.8]], atol=1e-7)
    assert scene.warnings == ["1 vertices have a normal without direction; recomputed from their faces"]


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b"v 1 2 3", True),
        (b"v -1", True),
        (b"v", False),
        (b"v x", False),
        (b"f 1", True),
        (b"vt .5", True),
        (b"vn +1", True),
        (b"# a\n\n  o name", True),
        (b"vp", True),
        (b"hello", False),
        (b"# only", False),
        (b"v 1\0", False),
        (b"\n" * 199 + b"v 1", True),
        (b"\n" * 200 + b"v 1", False),
    ],
)
def test_first_statements(head: bytes, known: bool) -> None:
    assert obj.sniff(head, Path("a")) == known
