"""OBJ: every statement, number of arguments and number of rows; files of the field, with their MTL and STL."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from documents import MTL, OBJ
from fields import field
from obj_text import POINTS, read
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.formats import load, mtl, obj, polygons
from raystream.scene.scene import Scene
from tests.refusals import refusal


def test_everything_at_once(loops, tmp_path):
    (tmp_path / "colors.mtl").write_bytes(MTL)
    scene = read(tmp_path, OBJ.decode())
    mesh = scene.meshes[0]
    assert [material.name for material in scene.materials] == ["red", "blue"]
    assert mesh.materials.tolist() == [0, 0, 1]
    corners = mesh.positions[mesh.triangles]
    assert corners[0].tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert corners[1].tolist() == [[0, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert corners[2].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert np.allclose(mesh.normals, (0, 0, 1))
    # origin at the upper left
    assert mesh.uvs[mesh.triangles[0]].tolist() == [[0, 1], [1, 0.75], [0, 1]]
    # sRGB 0.5 is 0.2140; vertices without a colour are white
    assert np.allclose(mesh.colors[mesh.triangles[0]][1], (1, 0.21404, 0, 1), atol=1e-5)
    assert np.allclose(mesh.colors[mesh.triangles[0]][0], 1)
    red, blue = scene.materials
    assert red.base_color == (1, 0, 0, 1)
    assert red.roughness == pytest.approx(0.02**0.25)  # whose square is GGX's alpha, sqrt(2 / (98 + 2))
    assert red.source["map_kd"] == "red.png"
    assert blue.base_color == (0, 0, 1, 0.5)
    assert blue.emission == (1, 2, 3)
    assert len(scene.meshes) == 2 and scene.quadric_count > 0  # its line


FACES = ["f 1 2 3 4", "f -4 -3 -2 -1", "fo 1 2 3 4", "\tf  1 2\t3 4  # quad"]
CONTINUED = ["f 1 2 \\\n3 4", "f 1 2 \\\r\n  3 4", "f 1 2 \\ \n3 4"]


@pytest.mark.parametrize("face", [*FACES, *CONTINUED])
def test_ways_to_write_a_face(face, loops, tmp_path):
    mesh = read(tmp_path, POINTS + face).meshes[0]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert len(mesh.positions) == 4


def test_relative_indices_count_from_where_they_stand(loops, tmp_path):
    mesh = read(tmp_path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 5 5 5\nf -4 -3 -1\n").meshes[0]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 1, 3]]


def test_faces_may_come_before_their_vertices(tmp_path):
    assert read(tmp_path, "o early\nf 1 2 3\n" + POINTS).triangle_count == 1


def test_seams_split_vertices_and_unused_ones_stay_without(loops, tmp_path):
    text = POINTS + "v 9 9 9\nvt 0 0\nvt 1 1\nf 1/1 2/1 3/1\nf 1/2 3/1 4/1\n"
    mesh = read(tmp_path, text).meshes[0]
    assert len(mesh.positions) == 5  # vertex 1 twice, vertex 5 not
    assert len(read(tmp_path, POINTS + "v 9 9 9\nf 1 2 3\n").meshes[0].positions) == 5


def test_partial_normals_are_dropped_with_a_word(tmp_path):
    scene = read(tmp_path, POINTS + "vn 0 0 1\nf 1//1 2//1 3//1\nf 1 3 4\n")
    assert scene.meshes[0].normals is None
    assert "normals" in scene.warnings[0]


def test_files_without_vertices(tmp_path):
    with pytest.raises(ViewerError, match="holds no vertices"):
        read(tmp_path, "g x\nhello world\n")


@pytest.mark.parametrize(
    "name", ["../out.mtl", "sub/../../out.mtl", "link.mtl", "..\\out.mtl", "/etc/passwd", "pipe.mtl"]
)
def test_material_files_elsewhere_are_not_opened(name, tmp_path):
    import os

    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "out.mtl").write_bytes(MTL)
    (inner / "link.mtl").symlink_to(tmp_path / "out.mtl")
    os.mkfifo(inner / "pipe.mtl")
    scene = read(inner, f"mtllib {name}\nusemtl red\n{POINTS}f 1 2 3\n")
    assert scene.materials[0].base_color == (0.8, 0.8, 0.8, 1)
    assert any("mtllib not read" in warning for warning in scene.warnings)


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
        ("v 5 6 7 1 0.5 0", (1, 0.5, 0)),
        ("v 5 6 7 9 1 0.5 0", (1, 0.5, 0)),  # weight and colour
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
        ("v 1 x 3", "a coordinate is not a number"),
        ("vt", "'vt' one"),
        ("vt x", "a coordinate is not a number"),
        ("f 1 2 -6", "a relative index goes back before the first"),
        ("f 1/0 2 3", "index 0"),
        ("f 1/2/3/4 2 3", "a corner of a face is not"),
        ("f 1.5 2 3", "a corner of a face is not"),
        ("f 1 2 99999999999999999999", "a corner"),
        ("f 1/-4 2 3", "a relative index goes back before the first"),
        ("g\x01 1", "holds bytes that are not text"),
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
        ("f 1// 2// 3//", None, None),
        ("f 1/1 2/2 3/3", [[0.1, 0.8], [0.3, 0.6], [0.5, 1]], None),
        ("f 1//1 2//2 3//1", None, [[0, 0, 1], [0, 1, 0], [0, 0, 1]]),
        ("f 1/3/2 2/2/2 3/1/1", [[0.5, 1], [0.3, 0.6], [0.1, 0.8]], [[0, 1, 0], [0, 1, 0], [0, 0, 1]]),
        ("f -4/-1/-1 -3/-2/-1 -2/-3/-2", [[0.5, 1], [0.3, 0.6], [0.1, 0.8]], [[0, 1, 0], [0, 1, 0], [0, 0, 1]]),
        ("f 1/1 2 3/3", [[0.1, 0.8], [0, 1], [0.5, 1]], None),
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
        with refusal("" if number == count else f"line 11: names {label} {number} of {count}"):
            assert read(tmp_path, text + face).triangle_count == 2


@pytest.mark.parametrize("count", [15, 16, 17, 1024, 1025, 1366])
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


def test_first_statements() -> None:
    known = (b"v 1 2 3", b"v -1", b"f 1", b"vt .5", b"vn +1", b"# a\n\n  o name", b"vp", b"\n" * 199 + b"v 1")
    assert all(obj.sniff(head, Path("a")) for head in known)
    unknown = (b"v", b"v x", b"hello", b"# only", b"v 1\0", b"\n" * 200 + b"v 1")
    assert not any(obj.sniff(head, Path("a")) for head in unknown)


SQUARE = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\n"
UVS = "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
FACE = "f 1/1 2/2 3/3 4/4\n"


def area(scene: Scene) -> float:
    a, b, c = np.moveaxis(scene.meshes[0].positions[scene.meshes[0].triangles].astype(np.float64), 1, 0)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def colors(scene: Scene) -> list[tuple[float, ...]]:
    return [scene.materials[number].base_color[:3] for number in scene.meshes[0].materials.tolist()]


def texel(scene: Scene) -> list[int]:
    """The first texel of the texture of the first triangle's material."""
    number = scene.materials[scene.meshes[0].materials[0]].texture
    assert number is not None
    return scene.textures[number].image.texels[0, 0].tolist()


@pytest.mark.parametrize("name", ["o20_bom_mtllib.obj", "m07_bom.obj"])
def test_marks_hide_no_material(name: str) -> None:
    scene = load(field(name))
    assert colors(scene) == [(1, 0, 0)] * 2 and scene.warnings == []


@pytest.mark.parametrize("name", ["o01b_bom_v.obj", "o02_comment_backslash.obj"])
def test_no_vertex_is_lost(name: str) -> None:
    scene = load(field(name))
    assert len(scene.meshes[0].positions) == 4 and scene.triangle_count == 2 and area(scene) == pytest.approx(2)


def test_names_that_are_not_utf_8_stay_apart() -> None:
    scene = load(field("m11_sjis.obj"))
    assert len(scene.materials) == 2 and colors(scene) == [(1, 0, 0), (0, 0, 1)]


@pytest.mark.parametrize(
    "name", ["m40_latin1_tex.obj", "m01_opts_after.obj", "m06_case.obj", "m03_quoted.obj", "m19_tga.obj", "m20_bmp.obj"]
)
def test_pictures_of_materials_are_found_and_red(name: str) -> None:
    scene = load(field(name))
    assert texel(scene) == [255, 0, 0, 255] and scene.warnings == []


@pytest.mark.parametrize("name", ["o04_nan_vt.obj", "o04c_nan_vn.obj"])
def test_values_that_are_no_numbers(name: str) -> None:
    scene = load(field(name))
    mesh = scene.meshes[0]
    assert scene.triangle_count == 2 and area(scene) == pytest.approx(2) and len(scene.warnings) == 1
    assert mesh.uvs is not None and np.isfinite(mesh.uvs).all()
    if mesh.normals is not None:
        np.testing.assert_allclose(mesh.normals, np.tile((0.0, 0.0, 1.0), (len(mesh.normals), 1)), atol=1e-6)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_of_all_three(encoding: str, end: str, tmp_path: Path) -> None:
    text = f"mtllib m.mtl\nusemtl mäuse\n{SQUARE}f 1 2 \\\n3 4\n".replace("\n", end)
    (tmp_path / "thing.obj").write_bytes(text.encode(encoding))
    (tmp_path / "m.mtl").write_bytes("newmtl mäuse\nKd 0 1 0\n".replace("\n", end).encode(encoding))
    scene = load(tmp_path / "thing.obj")
    assert colors(scene) == [(0, 1, 0)] * 2 and scene.warnings == []
    corners = "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    text = f"solid a\nfacet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\nendsolid a\n".replace("\n", end)
    (tmp_path / "thing.stl").write_bytes(text.encode(encoding))
    assert load(tmp_path / "thing.stl").triangle_count == 1


def test_line_ends_of_several_systems_in_one_file(tmp_path: Path) -> None:
    assert read(tmp_path, "v 0 0 0\rv 1 0 0\r\nv 0 1 0\nf 1 2 3\r# end").triangle_count == 1
    with pytest.raises(ViewerError, match="line 3: a coordinate is not a number"):
        read(tmp_path, "v 0 0 0\rv 1 0 0\r\nv 0 1 x\n")


@pytest.mark.parametrize("comment", ["# C:\\maps\\", "#\\", "f 1 2 3 4 # a face \\  ", "v 9 9 9 # a\\"])
def test_comments_do_not_continue(comment: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"{comment}\n{SQUARE}f -4 -3 -2 -1\n").bounds()[1].tolist() == [2, 1, 0]


def test_a_character_that_ends_in_a_backslash_does_not_continue(tmp_path: Path) -> None:
    """The second byte of some characters of Shift JIS is a backslash."""
    name = "表".encode("cp932")
    assert name.endswith(b"\\")
    (tmp_path / "m.mtl").write_bytes(b"newmtl " + name + b"\nKd 0 0 1\n")
    (tmp_path / "a.obj").write_bytes(b"mtllib m.mtl\n" + SQUARE.encode() + b"usemtl " + name + b"\nf 1 2 3 4\n")
    assert colors(load(tmp_path / "a.obj")) == [(0, 0, 1)] * 2


@pytest.mark.parametrize("word", ["nan", "-nan(ind)", "1.#IND", "-1.#QNAN", "inf", "1e99"])
def test_every_word_for_no_number_is_alike(word: str, tmp_path: Path) -> None:
    scene = read(tmp_path, f"{SQUARE}vt {word} 1\nvt .5 .25\nvn {word} 0 1\nf 1/1/1 2/2/1 3/2/1\n")
    mesh = scene.meshes[0]
    assert mesh.uvs is not None and sorted(map(tuple, mesh.uvs.tolist())) == [(0, 0), (0.5, 0.75), (0.5, 0.75)]
    if word != "1e99":  # which has a direction
        np.testing.assert_allclose(mesh.normals, np.tile((0.0, 0.0, 1.0), (3, 1)), atol=1e-6)


@pytest.mark.parametrize(
    "reference",
    [
        "a b.png -s 2 2 1",
        "-clamp on a b.png -bm 1",
        '"a b.png"',
        '-s 2 2 1 "a b.png" -clamp on',
        "A B.PNG",
        "C:\\Users\\me\\maps\\a b.png",
        "/home/me/maps/a b.png",
        "..\\..\\maps\\A b.png",
        "maps/a b.png",
        "a%20b.png",
        "a b.png # the wood",
    ],
)
def test_ways_to_name_a_picture(reference: str, tmp_path: Path) -> None:
    Pillow.fromarray(np.full((2, 2, 3), (255, 0, 0), np.uint8)).save(tmp_path / "a b.png")
    scene = read(tmp_path, f"mtllib m.mtl\nusemtl m\n{SQUARE}{UVS}{FACE}", f"newmtl m\nmap_Kd {reference}\n")
    assert texel(scene) == [255, 0, 0, 255] and scene.warnings == []
    texture = scene.textures[0]
    assert (texture.transform[0, 0] == 2) == ("-s" in reference)
    assert (texture.wrap[0] == "clamp") == ("-clamp" in reference)


@pytest.mark.parametrize("reference", ["D:\\job\\M.MTL", '"m.mtl"', "./M.mtl", "/home/me/m.mtl"])
def test_ways_to_name_a_library(reference: str, tmp_path: Path) -> None:
    scene = read(tmp_path, f"mtllib {reference}\nusemtl m\n{SQUARE}f 1 2 3\n", "newmtl m\nKd 0 1 0\n")
    assert colors(scene) == [(0, 1, 0)] and scene.warnings == []


@pytest.mark.parametrize("encoding", ["latin-1", "cp932", "cp1251"])
def test_names_of_other_encodings_find_their_files(encoding: str, tmp_path: Path) -> None:
    stem = {"latin-1": "gemäuer", "cp932": "赤い", "cp1251": "стена"}[encoding]
    Pillow.fromarray(np.full((1, 1, 3), (255, 0, 0), np.uint8)).save(tmp_path / f"{stem}.png")
    (tmp_path / f"{stem}.mtl").write_bytes(f"newmtl {stem}\nmap_Kd {stem}.png\n".encode(encoding))
    text = f"mtllib {stem}.mtl\nusemtl {stem}\n{SQUARE}{UVS}{FACE}"
    (tmp_path / "a.obj").write_bytes(text.encode(encoding))
    scene = load(tmp_path / "a.obj")
    assert texel(scene) == [255, 0, 0, 255] and scene.warnings == []


@pytest.mark.parametrize("line", ["Tr 1.000000", "Tr 2", "d 0", "d 0.0\nTr 1", "Tr 1\nillum 2\nKs 1 1 1\nNs 10"])
def test_an_opacity_of_0_is_a_slip(line: str, tmp_path: Path) -> None:
    """As in obj2gltf; MeshLab wrote `Tr 1` for opaque."""
    scene = read(tmp_path, f"mtllib m.mtl\nusemtl mate\n{SQUARE}f 1 2 3 4\n", f"newmtl mate\nKd 0 1 0\n{line}\n")
    assert scene.materials[0].base_color == (0, 1, 0, 1) and scene.materials[0].alpha_mode == "opaque"
    assert scene.warnings == ["m.mtl: materials of opacity 0 are opaque instead: 'mate'"]


def test_other_opacities_stay(tmp_path: Path) -> None:
    Pillow.fromarray(np.full((1, 1, 3), 128, np.uint8)).save(tmp_path / "hole.png")
    for line, opacity, mode in (
        ("Tr 0.999", 0.001, "blend"),
        ("d 0\nillum 7\nNi 1.5", 0, "opaque"),
        ("Tr 0", 1, "opaque"),
    ):
        scene = read(tmp_path, f"mtllib m.mtl\nusemtl m\n{SQUARE}f 1 2 3 4\n", f"newmtl m\n{line}\n")
        assert scene.materials[0].base_color[3] == pytest.approx(opacity) and scene.materials[0].alpha_mode == mode
        assert scene.warnings == []
    scene = read(tmp_path, f"mtllib m.mtl\nusemtl m\n{SQUARE}f 1 2 3 4\n", "newmtl m\nd 0\nmap_d hole.png\n")
    assert scene.materials[0].alpha_mode == "blend"


@pytest.mark.parametrize(
    ("face", "word"),
    [
        ("f 1/1 2/2 3/3\n", "texture vertices"),
        ("f 1//1 2//2 3//3\n", "normals"),
        ("f -4//-1 -3//-1 -2//-1\n", "normals"),
    ],
)
def test_attributes_of_which_there_are_none_are_left_out(face: str, word: str, loops: None, tmp_path: Path) -> None:
    scene = read(tmp_path, SQUARE + face)
    assert scene.triangle_count == 1 and scene.meshes[0].uvs is None and scene.meshes[0].normals is None
    assert scene.warnings == [f"faces name {word}, of which the file has none; they are left out"]


def test_relative_indices_before_the_first_stay_faults(loops: None, tmp_path: Path) -> None:
    with pytest.raises(ViewerError, match="line 5: a relative index goes back before the first normal"):
        read(tmp_path, f"{SQUARE}f -4//-1 -3//-1 -2//-1\nvn 0 0 1\n")
