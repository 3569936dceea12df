"""OBJ and MTL by tables: every statement, number of arguments and number of rows, every illumination model, picture
and option."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from viewer.base.errors import ViewerError
from viewer.formats import load, polygons_loops
from viewer.formats.obj import mtl, reader
from viewer.formats.obj.mtl import read_mtl, roughness_of
from viewer.formats.obj.mtl_textures import _normals, _parse
from viewer.scene.material import Material
from viewer.scene.scene import Scene

POINTS = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def read(folder: Path, text: str, library: str | None = None, lenient: bool = False) -> Scene:
    if library is not None:
        (folder / "m.mtl").write_text(library, encoding="utf-8")
    path = folder / "thing.obj"
    path.write_text(text, encoding="utf-8")
    return load(path, lenient)


SILENT = (
    "g o s mg lod shadow_obj trace_obj bevel c_interp d_interp usemap maplib vp cstype deg bmat step parm trim hole"
)


@pytest.mark.parametrize("word", [*SILENT.split(), "scrv", "sp", "end", "con", "ctech", "stech"])
def test_statements_without_effect(word: str, tmp_path: Path) -> None:
    scene = read(tmp_path, f"{POINTS}{word} 1 2 3\n{word}\nf 1 2 3\n{word}")
    assert scene.warnings == [] and scene.triangle_count == 1


@pytest.mark.parametrize("word", ["l", "p", "curv", "curv2", "surf", "call", "csh", "bsp", "bzp", "cdc", "cdp", "res"])
def test_statements_left_out(word: str, tmp_path: Path) -> None:
    scene = read(tmp_path, f"{POINTS}{word} 1 2 3\nf 1 2 3\n{word} 1")
    assert scene.warnings == ["2 points, lines, curves or surfaces were left out"]


@pytest.mark.parametrize("word", ["vx", "gg", "vertexvertexvert", "shadow_object_of_a_name", "en", "fa", "F"])
def test_statements_unknown(word: str, tmp_path: Path) -> None:
    scene = read(tmp_path, f"{POINTS}{word} 1 2 3\nf 1 2 3\n")
    assert scene.warnings == ["1 lines with unknown statements were left out"] and scene.triangle_count == 1


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
    monkeypatch.setattr(polygons_loops, "BUDGET", 20)
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
    monkeypatch.setattr(reader, "SMALL", 1 << 30)
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
    monkeypatch.setattr(reader, "SMALL", 1 << 30)
    lines = [*POINTS.splitlines(), "f 1 2 3", "f " + "1 " * (count - 6) + "2 3", "f 4 1 2", "f 1 2"]
    data = "\n".join(lines).encode()
    found, counts, fault, at = reader._scan(data)
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
        monkeypatch.setattr(mtl, "LARGEST", most)
        monkeypatch.setattr(reader, "LARGEST", most)
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
    assert reader.sniff(head, Path("a")) == known


ILLUMINATION = [  # model, more, kind, alpha mode, metallic, transmission, roughness, specular factor
    *((model, "Ks .2 .2 .2\nNs 98", "lambert", "opaque", 0, 0, 0.02**0.25, 0) for model in (0, 1)),
    *((model, "Ks .2 .2 .2\nNs 98", "principled", "opaque", 0, 0, 0.02**0.25, 1) for model in (2, 3, 5, 8, 10)),
    *((model, "Ks .2 .2 .2\nNs 98", "principled", "opaque", 0, 0, 0.02**0.25, 1) for model in (4, 6, 7, 9)),
    *((model, "Ks .2 .2 .2", "lambert", "opaque", 0, 0, 1, 0) for model in (0, 1, 2, 4, 6, 7, 9)),
    *((model, "Ks .2 .2 .2", "principled", "opaque", 0, 0, 0, 1) for model in (3, 5, 8)),
    *((model, "Ks .6 .6 .6", "mirror", "opaque", 1, 0, 0, 1) for model in (3, 5, 8)),
    *((model, "Ni 1.2", "dielectric", "opaque", 0, 1, 0, 1) for model in (4, 6, 7, 9)),
    *((model, "Ni 1", "lambert", "opaque", 0, 0, 1, 0) for model in (4, 6, 7, 9)),
    *((model, "d .9", "dielectric", "opaque", 0, 1, 0, 1) for model in (4, 6, 7, 9)),
    *((model, "Tf 0 0 .5", "dielectric", "opaque", 0, 1, 0, 1) for model in (4, 6, 7, 9)),
    *((model, "d .9", "principled", "blend", 0, 0, 1, 0) for model in (0, 1, 2, 3, 5, 8)),
    (2, "Ks .5 .5 .5\nNs 98\nd .9", "principled", "blend", 0, 0, 0.02**0.25, 1),
    (2, "map_d x.png", "principled", "blend", 0, 0, 1, 0),
    (2, "bump x.png", "principled", "opaque", 0, 0, 1, 0),
    (2, "norm x.png", "principled", "opaque", 0, 0, 1, 0),
    (2, "map_bump x.png", "principled", "opaque", 0, 0, 1, 0),
    (4, "Ni 1.2\nmap_bump x.png", "principled", "opaque", 0, 1, 0, 1),
    (3, "Ks .6 .6 .6\nbump x.png", "principled", "opaque", 1, 0, 0, 1),
    *((2, f"{key} x.png", "principled", "opaque", 0, 0, 1, 1) for key in ("map_pr", "map_ps", "map_pc", "map_pcr")),
    (2, "map_pm x.png", "principled", "opaque", 1, 0, 1, 1),
]


@pytest.mark.parametrize("row", ILLUMINATION, ids=[f"{row[0]} {row[1]!r}" for row in ILLUMINATION])
def test_illumination_models(row: tuple) -> None:
    model, more, *expected = row
    text = f"newmtl m\nKd .5 .5 .5\nillum {model}\n{more}"
    (found,) = read_mtl(text.encode(), "m.mtl", [])
    made = found.kind, found.alpha_mode, found.metallic, found.transmission, found.roughness, found.specular_factor
    assert made == tuple(expected) and found.thickness == found.transmission
    if found.kind == "mirror":
        assert found.base_color == (0.6, 0.6, 0.6, 1)
    elif not found.transmission:
        assert found.base_color[:3] == ((0.6,) * 3 if "Ks .6" in more else (0.5,) * 3)


FIELDS = [  # line, field, value
    ("Kd 2 -1 .5", "base_color", (1, 0, 0.5, 1)),
    ("Ke 2 -1 .5", "emission", (2, 0, 0.5)),
    ("d 2", "base_color", (0.8, 0.8, 0.8, 1)),
    ("Tr -1", "base_color", (0.8, 0.8, 0.8, 1)),
    ("Ni .5", "ior", 1.5),
    ("Ni 1", "ior", 1.5),
    ("Ni 1.001", "ior", 1.001),
    ("Ni 100", "ior", 100),
    ("Ni 101", "ior", 100),
    ("Ns 0", "roughness", 1),
    ("Ns -5", "roughness", 1),
    ("Ns 30", "roughness", 0.5),
    ("Ns 30\nPr .7", "roughness", 0.7),
    ("Pr 0", "roughness", 0),
    ("Pm 0", "metallic", 0),
    ("Pm .3\nmap_Pm x", "metallic", 0.3),
    ("Ps 0", "sheen_roughness", 0),
    ("Ps .1", "sheen_roughness", 0.5),
    ("map_Ps x", "sheen_color", (1, 1, 1)),
    ("map_Pc x", "clearcoat", 1),
    ("map_Pcr x", "clearcoat_roughness", 1),
    ("Pcr .3", "clearcoat_roughness", 0.3),
    ("aniso -1", "anisotropy", 0),
    ("anisor 1", "anisotropy_rotation", 2 * math.pi),
    ("anisor -0.25", "anisotropy_rotation", -math.pi / 2),
    ("Tf .5\nillum 4", "base_color", (0.5, 0.5, 0.5, 1)),
    ("Tf .5 .25 2\nillum 4", "base_color", (0.5, 0.25, 1, 1)),
    ("d .5\nillum 4", "base_color", (1, 1, 1, 0.5)),
    ("Ni 1.5\nPr .3\nillum 7", "roughness", 0.3),
    ("Ks .04 .04 .04\nNs 1\nNi 2", "specular_color", (0.36, 0.36, 0.36)),
    ("Ks 1 2 0\nNs 1\nNi 3", "specular_color", (4, 4, 0)),
]


@pytest.mark.parametrize(("line", "field", "value"), FIELDS, ids=[row[0] for row in FIELDS])
def test_fields(line: str, field: str, value: object) -> None:
    warnings: list[str] = []
    (found,) = read_mtl(f"newmtl m\n{line}\n".encode(), "m.mtl", warnings)
    assert getattr(found, field) == pytest.approx(value) and warnings == []


def test_defaults_of_a_library() -> None:
    (found,) = read_mtl(b"newmtl a b\n", "m.mtl", [])
    assert found == Material(name="a b", specular_factor=0.0)
    (found,) = read_mtl(b"newmtl\nsharpness 60\nKd .1 .2 .3\n", "m.mtl", [])
    assert found.name == "material" and found.source == {"sharpness": 60, "kd": [0.1, 0.2, 0.3]}


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("# Kd x\n\nnewmtl a\n", None),
        ("Kd 1 1 1\n", (1, 1)),
        ("newmtl a\nKd\n", (2, 1)),
        ("newmtl a\nKd 1 2\n", (2, 1)),
        ("newmtl a\nNs x\nNs nan\nNs inf\n", (2, 3)),
        ("newmtl a\nNs 1 2 3\n", None),
        ("newmtl a\nKd .5 # comment\n", None),
        ("newmtl a\nd -halo\n", (2, 1)),
        ("newmtl a\nKe xyz 1 1 1\n\nKa 1 1\n", (2, 2)),
    ],
)
def test_malformed_lines(text: str, faults: tuple[int, int] | None) -> None:
    warnings: list[str] = []
    read_mtl(text.encode(), "m.mtl", warnings)
    if faults is None:
        assert warnings == []
    else:
        assert warnings == [f"m.mtl: line {faults[0]} is malformed; {faults[1]} lines in all were left out"]


def test_only_the_beginning_of_a_long_library_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"newmtl a\nKd 1 0 0\nnewmtl b\n"
    for most, names in ((len(text), ["a", "b"]), (18, ["a"])):
        monkeypatch.setattr(mtl, "LARGEST", most)
        warnings: list[str] = []
        assert [each.name for each in read_mtl(text, "m.mtl", warnings)] == names
        assert warnings == ([] if len(names) > 1 else ["m.mtl: only the first 18 bytes of the materials were read"])


@pytest.mark.parametrize(("exponent", "rough"), [(0, 1), (-1, 1), (6, 0.25**0.25), (30, 0.5), (1e9, 2e-9**0.25)])
def test_roughness_of_exponents(exponent: float, rough: float) -> None:
    assert roughness_of(exponent) == pytest.approx(rough, rel=1e-8)


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("-o 1 a.png", "a.png", {"-o": (1, 1)}),
        ("-o 1 2 a.png", "a.png", {"-o": (1, 2)}),
        ("-s 1 2 3 4 a.png", "4 a.png", {"-s": (1, 2)}),
        ("-t 1 2 3 a.png", "a.png", {"-t": (1, 2)}),
        ("-s x a.png", "x a.png", {}),
        ("-clamp on a.png", "a.png", {"-clamp": (1, 1)}),
        ("-bm 2 a.png", "a.png", {"-bm": (2, 2)}),
        ("-bm x a.png", "a.png", {}),
        ("-bm 0 a.png", "a.png", {"-bm": (0, 0)}),
        ("-mm 1 2 3 a.png", "3 a.png", {}),
        ("-boost 3 -texres 4 -imfchan r -type sphere -blendu on -blendv off -cc on a.png", "a.png", {}),
        ("-s 1e9 2 a.png", "1e9 2 a.png", {}),
        ("-s 1e8 -1e8 a.png", "a.png", {"-s": (1e8, -1e8)}),
        ("-unknown a.png", "-unknown a.png", {}),
        ("sub\\dir\\a b.png", "sub/dir/a b.png", {}),
    ],
)
def test_options_of_pictures(text: str, name: str, options: dict) -> None:
    assert _parse(text) == (name, options)


SQUARE = f"mtllib m.mtl\nusemtl m\n{POINTS}vt 0 0\nvt 1 0\nvt 1 1\nf 1/1 2/2 3/3\n"
RED, SMALL = np.full((2, 4, 4), (200, 100, 50, 255), np.uint8), np.uint8([[[10] * 3, [250] * 3]])


def written(folder: Path) -> None:
    for name, texels in (("red.png", RED), ("small.png", SMALL), ("deep.png", np.full((2, 2), 0x1234, np.uint16))):
        Pillow.fromarray(texels).save(folder / name)
    alpha = np.full((2, 4, 4), 255, np.uint8)
    alpha[..., 3] = np.arange(8).reshape(2, 4)
    Pillow.fromarray(alpha).save(folder / "alpha.png")


PICTURES = [  # lines, field, content, scale
    ("map_Kd red.png", "texture", "color"),
    ("Ke 1 1 1\nmap_Ke red.png", "emission_texture", "color"),
    ("Pr 1\nmap_Ks red.png", "specular_color_texture", "color"),
    ("map_Ps red.png", "sheen_color_texture", "data"),
    ("map_Pc red.png", "clearcoat_texture", "data"),
    ("map_Pcr red.png", "clearcoat_roughness_texture", "data"),
    ("norm red.png", "normal_texture", "normal"),
    ("bump red.png", "normal_texture", "normal"),
    ("map_bump red.png", "normal_texture", "normal"),
]


@pytest.mark.parametrize(("lines", "field", "content"), PICTURES, ids=[row[0] for row in PICTURES])
def test_pictures_that_stay_as_they_are(lines: str, field: str, content: str, tmp_path: Path) -> None:
    """Moved and scaled: at (u, v) of the file, v upwards, they are read at (s u + o, s v + o)."""
    written(tmp_path)
    for options, wrap, at in (("", "repeat", (0.25, 0.5)), ("-s 2 4 -o .5 .25 -clamp on ", "clamp", (1, 2.25))):
        scene = read(tmp_path, SQUARE, f"newmtl m\n{lines.replace('red.png', options + 'red.png')}\n")
        (texture,) = scene.textures
        assert scene.warnings == [] and getattr(scene.materials[0], field) == 0
        assert (texture.content, texture.wrap, texture.name) == (content, (wrap, wrap), "red.png")
        np.testing.assert_array_equal(texture.image.texels, RED)
        np.testing.assert_allclose(texture.transform @ (0.25, 1 - 0.5, 1), (at[0], 1 - at[1]), atol=1e-12)


@pytest.mark.parametrize("line", ["map_Ke red.png", "map_Ks red.png", "map_Ka red.png", "disp red.png", "map_Kd"])
def test_pictures_without_effect(line: str, tmp_path: Path) -> None:
    written(tmp_path)
    assert read(tmp_path, SQUARE, f"newmtl m\n{line}\n").textures == []


@pytest.mark.parametrize(
    ("lines", "rgb", "opacity"),
    [
        ("map_d small.png", (255, 255, 255), [[10, 250]]),
        ("map_d alpha.png", (255, 255, 255), [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("map_Kd red.png\nmap_d alpha.png", (200, 100, 50), [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("map_Kd red.png\nmap_d small.png", (200, 100, 50), [[10, 10, 250, 250]] * 2),
    ],
)
def test_opacity_of_pictures(lines: str, rgb: tuple[int, int, int], opacity: list, tmp_path: Path) -> None:
    """The fourth channel where there is one, else the first, at the size of the colours."""
    written(tmp_path)
    scene = read(tmp_path, SQUARE, f"newmtl m\n{lines.replace('red.png', '-s 2 red.png')}\n")
    (texture,) = scene.textures
    assert (texture.image.texels[..., :3] == rgb).all() and texture.content == "color"
    np.testing.assert_array_equal(texture.image.texels[..., 3], opacity)
    assert texture.transform[0, 0] == (2 if "map_Kd" in lines else 1)
    assert scene.materials[0].texture == 0 and scene.materials[0].alpha_mode == "blend"


@pytest.mark.parametrize(
    ("lines", "green", "blue", "rough"),
    [
        ("map_Pr small.png", [[10, 250]], [[255, 255]], 1),
        ("map_Pm small.png", [[255, 255]], [[10, 250]], 1),
        ("map_Pm small.png\nPr .5", [[255, 255]], [[10, 250]], 0.5),
        ("map_Pr red.png\nmap_Pm small.png", [[200] * 4] * 2, [[10, 10, 250, 250]] * 2, 1),
        ("map_Pm red.png\nmap_Pr small.png", [[10, 250]], [[200, 200]], 1),
        (
            "Ks 1 1 1\nNs 510\nmap_Ns small.png",
            [[round(255 * (2 / 22) ** 0.25), round(255 * (2 / 502) ** 0.25)]],
            None,
            1,
        ),
        ("Pr .5\nNs 510\nmap_Ns small.png", None, None, 0.5),
    ],
)
def test_roughness_and_metal_of_pictures(
    lines: str, green: list | None, blue: list | None, rough: float, tmp_path: Path
) -> None:
    written(tmp_path)
    scene = read(tmp_path, SQUARE, f"newmtl m\n{lines}\n")
    (material,) = scene.materials
    assert material.roughness == rough
    if green is None:
        assert scene.textures == [] and material.metallic_roughness_texture is None
        return
    (texture,) = scene.textures
    texels = texture.image.texels
    np.testing.assert_array_equal(texels[..., 1], green)
    np.testing.assert_array_equal(texels[..., 2], 255 if blue is None else blue)
    assert (texels[..., [0, 3]] == 255).all() and texture.content == "data"
    assert material.metallic_roughness_texture == 0


def test_normals_of_heights_by_hand() -> None:
    """Central differences of heights that repeat; up in the picture is +y of the normal."""
    heights = np.uint8([[0, 51, 102], [255, 0, 0]])
    high = heights / 255 * 0.5
    made = _normals(heights, 0.5)
    for row in range(2):
        for column in range(3):
            right = (high[row, (column + 1) % 3] - high[row, column - 1]) / 2
            up = (high[row - 1, column] - high[(row + 1) % 2, column]) / 2
            normal = np.array([-right, -up, 1]) / math.sqrt(1 + right * right + up * up)
            assert made[row, column].tolist() == [*np.round((normal + 1) / 2 * 255), 255]
    ramp = _normals(np.uint8([[0] * 4, [85] * 4, [170] * 4, [255] * 4]), 3)  # falls upwards by 1 a row
    assert ramp[1, 0].tolist() == [128, *np.round((np.array([1, 1]) * math.sqrt(0.5) + 1) / 2 * 255), 255]


def test_deep_pictures_become_bytes_and_are_opened_once(tmp_path: Path) -> None:
    written(tmp_path)
    scene = read(tmp_path, SQUARE, "newmtl m\nPr 1\nmap_Kd deep.png\nmap_Pc deep.png\n")
    first, second = scene.textures
    assert first.image is second.image and (first.image.texels[..., :3] == 0x12).all()


def test_several_unreadable_pictures_are_counted(tmp_path: Path) -> None:
    scene = read(tmp_path, SQUARE, "newmtl m\nPr 1\nmap_Kd no.png\nmap_Pc no.png\nmap_Ps none.png\n")
    assert scene.warnings == ["2 pictures, 'no.png' not read, white instead: file 'no.png' not found"]
    assert [texture.image.size for texture in scene.textures] == [(1, 1)] * 3
