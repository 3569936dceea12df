"""OBJ, MTL and STL as people have them: marks, encodings, comments, numbers, names of pictures, opacity."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from field import field_scene, write
from PIL import Image as Pillow

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.scene.scene import Scene

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
    scene = field_scene(name)
    assert colors(scene) == [(1, 0, 0)] * 2 and scene.warnings == []


@pytest.mark.parametrize("name", ["o01b_bom_v.obj", "o02_comment_backslash.obj"])
def test_no_vertex_is_lost(name: str) -> None:
    scene = field_scene(name)
    assert len(scene.meshes[0].positions) == 4 and scene.triangle_count == 2 and area(scene) == pytest.approx(2)


def test_a_mark_before_stl() -> None:
    scene = field_scene("s20_bom.stl")
    assert scene.triangle_count == 2 and scene.bounds().tolist() == [[0, 0, 0], [3, 1, 0]]


def test_a_blank_behind_the_backslash() -> None:
    assert field_scene("o23_backslash_space.obj").triangle_count == 2


def test_names_that_are_not_utf_8_stay_apart() -> None:
    scene = field_scene("m11_sjis.obj")
    assert len(scene.materials) == 2 and colors(scene) == [(1, 0, 0), (0, 0, 1)]


@pytest.mark.parametrize(
    "name", ["m40_latin1_tex.obj", "m01_opts_after.obj", "m06_case.obj", "m03_quoted.obj", "m19_tga.obj", "m20_bmp.obj"]
)
def test_pictures_of_materials_are_found_and_red(name: str) -> None:
    scene = field_scene(name)
    assert texel(scene) == [255, 0, 0, 255] and scene.warnings == []


@pytest.mark.parametrize("name", ["o04_nan_vt.obj", "o04c_nan_vn.obj"])
def test_values_that_are_no_numbers(name: str) -> None:
    scene = field_scene(name)
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
    write(tmp_path, a_obj="v 0 0 0\rv 1 0 0\r\nv 0 1 0\nf 1 2 3\r# end")
    assert load(tmp_path / "a.obj").triangle_count == 1
    write(tmp_path, b_obj="v 0 0 0\rv 1 0 0\r\nv 0 1 x\n")
    with pytest.raises(ViewerError, match="line 3: a coordinate is not a number"):
        load(tmp_path / "b.obj")


@pytest.mark.parametrize("comment", ["# C:\\maps\\", "#\\", "f 1 2 3 4 # a face \\  ", "v 9 9 9 # a\\"])
def test_comments_do_not_continue(comment: str, tmp_path: Path) -> None:
    write(tmp_path, a_obj=f"{comment}\n{SQUARE}f -4 -3 -2 -1\n")
    assert load(tmp_path / "a.obj").bounds()[1].tolist() == [2, 1, 0]


def test_a_character_that_ends_in_a_backslash_does_not_continue(tmp_path: Path) -> None:
    """The second byte of some characters of Shift JIS is a backslash."""
    name = "表".encode("cp932")
    assert name.endswith(b"\\")
    write(tmp_path, m_mtl=b"newmtl " + name + b"\nKd 0 0 1\n")
    write(tmp_path, a_obj=b"mtllib m.mtl\n" + SQUARE.encode() + b"usemtl " + name + b"\nf 1 2 3 4\n")
    assert colors(load(tmp_path / "a.obj")) == [(0, 0, 1)] * 2


@pytest.mark.parametrize("word", ["nan", "-nan(ind)", "1.#IND", "-1.#QNAN", "inf", "1e99"])
def test_every_word_for_no_number_is_alike(word: str, tmp_path: Path) -> None:
    write(tmp_path, a_obj=f"{SQUARE}vt {word} 1\nvt .5 .25\nvn {word} 0 1\nf 1/1/1 2/2/1 3/2/1\n")
    scene = load(tmp_path / "a.obj")
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
    write(tmp_path, m_mtl=f"newmtl m\nmap_Kd {reference}\n", a_obj=f"mtllib m.mtl\nusemtl m\n{SQUARE}{UVS}{FACE}")
    scene = load(tmp_path / "a.obj")
    assert texel(scene) == [255, 0, 0, 255] and scene.warnings == []
    texture = scene.textures[0]
    assert (texture.transform[0, 0] == 2) == ("-s" in reference)
    assert (texture.wrap[0] == "clamp") == ("-clamp" in reference)


def test_folders_below_are_kept_before_bare_names(tmp_path: Path) -> None:
    (tmp_path / "Maps").mkdir()
    for name, color in (("Maps/Red.png", (255, 0, 0)), ("red.png", (0, 0, 255))):
        Pillow.fromarray(np.full((1, 1, 3), color, np.uint8)).save(tmp_path / name)
    write(tmp_path, m_mtl="newmtl m\nmap_Kd D:\\job\\maps\\red.png\n")
    write(tmp_path, a_obj=f"mtllib m.mtl\nusemtl m\n{SQUARE}{UVS}{FACE}")
    assert texel(load(tmp_path / "a.obj")) == [255, 0, 0, 255]


@pytest.mark.parametrize("reference", ["D:\\job\\M.MTL", '"m.mtl"', "./M.mtl", "/home/me/m.mtl"])
def test_ways_to_name_a_library(reference: str, tmp_path: Path) -> None:
    write(tmp_path, m_mtl="newmtl m\nKd 0 1 0\n", a_obj=f"mtllib {reference}\nusemtl m\n{SQUARE}f 1 2 3\n")
    scene = load(tmp_path / "a.obj")
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


@pytest.mark.parametrize("ending", ["tga", "bmp", "tif", "gif", "ppm"])
@pytest.mark.parametrize("mode", ["RGB", "P", "L"])
def test_pictures_of_modellers(ending: str, mode: str, tmp_path: Path) -> None:
    picture = Pillow.fromarray(np.full((3, 2, 3), (255, 255, 255), np.uint8)).convert("L").convert(mode)
    if ending == "ppm":
        picture = picture.convert("RGB")
    picture.save(tmp_path / f"a.{ending}")
    write(tmp_path, m_mtl=f"newmtl m\nmap_Kd a.{ending}\n", a_obj=f"mtllib m.mtl\nusemtl m\n{SQUARE}{UVS}{FACE}")
    scene = load(tmp_path / "a.obj")
    assert texel(scene) == [255] * 4 and scene.textures[0].image.size == (2, 3) and scene.warnings == []


@pytest.mark.parametrize("line", ["Tr 1.000000", "d 0", "d 0.0\nTr 1", "Tr 1\nillum 2\nKs 1 1 1\nNs 10"])
def test_an_opacity_of_0_is_a_slip(line: str, tmp_path: Path) -> None:
    """As in obj2gltf; MeshLab wrote `Tr 1` for opaque."""
    write(tmp_path, m_mtl=f"newmtl mate\nKd 0 1 0\n{line}\n", a_obj=f"mtllib m.mtl\nusemtl mate\n{SQUARE}f 1 2 3 4\n")
    scene = load(tmp_path / "a.obj")
    assert scene.materials[0].base_color == (0, 1, 0, 1) and scene.materials[0].alpha_mode == "opaque"
    assert scene.warnings == ["m.mtl: materials of opacity 0 are opaque instead: 'mate'"]


def test_other_opacities_stay(tmp_path: Path) -> None:
    Pillow.fromarray(np.full((1, 1, 3), 128, np.uint8)).save(tmp_path / "hole.png")
    for line, opacity, mode in (
        ("Tr 0.999", 0.001, "blend"),
        ("d 0\nillum 7\nNi 1.5", 0, "opaque"),
        ("Tr 0", 1, "opaque"),
    ):
        write(tmp_path, m_mtl=f"newmtl m\n{line}\n", a_obj=f"mtllib m.mtl\nusemtl m\n{SQUARE}f 1 2 3 4\n")
        scene = load(tmp_path / "a.obj")
        assert scene.materials[0].base_color[3] == pytest.approx(opacity) and scene.materials[0].alpha_mode == mode
        assert scene.warnings == []
    write(tmp_path, m_mtl="newmtl m\nd 0\nmap_d hole.png\n")
    assert load(tmp_path / "a.obj").materials[0].alpha_mode == "blend"


@pytest.mark.parametrize(
    ("face", "word"),
    [
        ("f 1/1 2/2 3/3\n", "texture vertices"),
        ("f 1//1 2//2 3//3\n", "normals"),
        ("f -4//-1 -3//-1 -2//-1\n", "normals"),
    ],
)
def test_attributes_of_which_there_are_none_are_left_out(face: str, word: str, loops: None, tmp_path: Path) -> None:
    write(tmp_path, a_obj=SQUARE + face)
    scene = load(tmp_path / "a.obj")
    assert scene.triangle_count == 1 and scene.meshes[0].uvs is None and scene.meshes[0].normals is None
    assert scene.warnings == [f"faces name {word}, of which the file has none; they are left out"]


def test_relative_indices_before_the_first_stay_faults(loops: None, tmp_path: Path) -> None:
    write(tmp_path, a_obj=f"{SQUARE}f -4//-1 -3//-1 -2//-1\nvn 0 0 1\n")
    with pytest.raises(ViewerError, match="line 5: a relative index goes back before the first normal"):
        load(tmp_path / "a.obj")
