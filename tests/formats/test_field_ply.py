"""PLY as people have it: colours and textures of faces, types of colours, long lines, lines that are no statement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from field import field_scene
from PIL import Image as Pillow

from raystream.formats import load
from raystream.scene.scene import Scene

XYZ = "property float x\nproperty float y\nproperty float z\n"
POINTS = ("0 0 0", "1 0 0", "1 1 0", "0 1 0")


def read(folder: Path, face: str, faces: list[str], vertex: str = "", more: str = "", values: str = "") -> Scene:
    rows = "\n".join([*(f"{point} {values}" for point in POINTS), *faces])
    head = f"ply\nformat ascii 1.0\n{more}element vertex 4\n{XYZ}{vertex}element face {len(faces)}\n"
    lists = "property list uchar int vertex_indices\n"
    (folder / "a.ply").write_text(f"{head}{lists}{face}end_header\n{rows}\n")
    return load(folder / "a.ply")


def corner_colors(scene: Scene) -> list:
    mesh = scene.meshes[0]
    assert mesh.colors is not None and scene.materials[0].base_color == (1, 1, 1, 1)
    return mesh.colors[mesh.triangles][..., :3].tolist()


@pytest.mark.parametrize("name", ["p05_facecolor.ply", "p06_intcolor.ply", "p07_rgb_names.ply"])
def test_colors_are_red(name: str) -> None:
    scene = field_scene(name)
    assert corner_colors(scene) == [[[1, 0, 0]] * 3] and scene.warnings == []


def test_a_texture_file() -> None:
    scene = field_scene("p04_texturefile.ply")
    mesh = scene.meshes[0]
    assert mesh.uvs is not None and mesh.uvs[mesh.triangles[0]].tolist() == [[0, 1], [1, 1], [0, 0]]
    number = scene.materials[mesh.materials[0]].texture
    assert number is not None and scene.textures[number].image.texels[0, 0].tolist() == [255, 0, 0, 255]
    assert scene.materials[0].base_color == (1, 1, 1, 1) and scene.warnings == []


@pytest.mark.parametrize("kind", ["uchar", "int", "ushort", "uint", "float", "double"])
@pytest.mark.parametrize(
    "names", [("red", "green", "blue"), ("r", "g", "b"), ("diffuse_red", "diffuse_green", "diffuse_blue")]
)
def test_colors_of_faces_of_every_type(kind: str, names: tuple[str, ...], tmp_path: Path) -> None:
    """Triangles with colours of their own share no vertices; the polygon has its colour in each of its triangles."""
    face = "".join(f"property {kind} {name}\n" for name in names)
    scene = read(tmp_path, face, ["4 0 1 2 3 255 0 0", "3 0 1 2 0 0 255"])
    assert corner_colors(scene) == [[[1, 0, 0]] * 3] * 2 + [[[0, 0, 1]] * 3]
    assert [w for w in scene.warnings if "taken for sRGB" not in w] == []


def test_colors_of_faces_in_floats_of_1_are_linear(tmp_path: Path) -> None:
    scene = read(tmp_path, "".join(f"property float {c}\n" for c in ("red", "green", "blue")), ["3 0 1 2 0.5 0 1"])
    assert corner_colors(scene) == [[[0.5, 0, 1]] * 3]


def test_colors_beyond_their_type_are_the_brightest(tmp_path: Path) -> None:
    names = "".join(f"property uchar {c}\n" for c in ("red", "green", "blue"))
    assert corner_colors(read(tmp_path, names, ["3 0 1 2 300 0 255"])) == [[[1, 0, 1]] * 3]


def test_of_two_colors_those_that_differ(tmp_path: Path) -> None:
    colors = "".join(f"property uchar {c}\n" for c in ("red", "green", "blue"))
    scene = read(tmp_path, colors, ["3 0 1 2 255 0 0", "3 0 2 3 0 255 0"], colors, values="255 255 255")
    assert corner_colors(scene) == [[[1, 0, 0]] * 3, [[0, 1, 0]] * 3]


@pytest.mark.parametrize(
    "comment", ["comment TextureFile red.png", "comment texturefile: RED.PNG", "obj_info TextureFile C:\\a\\red.png"]
)
def test_textures_of_vertices(comment: str, tmp_path: Path) -> None:
    Pillow.fromarray(np.full((1, 1, 3), (255, 0, 0), np.uint8)).save(tmp_path / "red.png")
    scene = read(tmp_path, "", ["4 0 1 2 3"], "property float s\nproperty float t\n", f"{comment}\n", "0.25 0.75")
    assert scene.meshes[0].uvs is not None and scene.meshes[0].uvs.tolist() == [[0.25, 0.25]] * 4
    assert scene.textures[0].image.texels[0, 0].tolist() == [255, 0, 0, 255] and scene.materials[0].texture == 0
    assert scene.warnings == []


def test_several_textures_by_number(tmp_path: Path) -> None:
    for name, color in (("a.png", (255, 0, 0)), ("b.png", (0, 0, 255))):
        Pillow.fromarray(np.full((1, 1, 3), color, np.uint8)).save(tmp_path / name)
    face = "property list uchar float texcoord\nproperty int texnumber\nproperty int flags\n"
    faces = ["4 0 1 2 3 8 0 0 1 0 1 1 0 1 1 7", "3 0 1 2 6 .5 0 1 0 1 1 0 7"]
    scene = read(tmp_path, face, faces, more="comment TextureFile a.png\ncomment TextureFile b.png\n")
    mesh = scene.meshes[0]
    assert mesh.materials.tolist() == [1, 1, 0]
    assert mesh.uvs is not None and mesh.uvs[mesh.triangles[2]].tolist() == [[0.5, 1], [1, 1], [1, 0]]
    assert [scene.textures[m.texture].image.texels[0, 0, 2] for m in scene.materials] == [0, 255]
    assert scene.warnings == ["properties of faces left out: 'flags'"]


def test_a_missing_texture_is_told(tmp_path: Path) -> None:
    scene = read(
        tmp_path, "", ["3 0 1 2"], "property float s\nproperty float t\n", "comment TextureFile no.png\n", "0 0"
    )
    assert scene.warnings == ["texture 'no.png' not read, white instead: file 'no.png' not found"]
    scene = read(tmp_path, "", ["3 0 1 2"], more="comment TextureFile no.png\n")
    assert scene.warnings == ["texture 'no.png' is left out: no vertex and no face has texture coordinates"]


def test_a_texture_replaces_colors(tmp_path: Path) -> None:
    Pillow.fromarray(np.full((1, 1, 3), 90, np.uint8)).save(tmp_path / "a.png")
    names = "property float s\nproperty float t\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
    scene = read(tmp_path, "", ["3 0 1 2"], names, "comment TextureFile a.png\n", "0 0 90 90 90")
    assert scene.meshes[0].colors is None and scene.warnings == [
        "colours of vertices and faces are left out: the texture has them"
    ]


def test_normals_follow_split_vertices(tmp_path: Path) -> None:
    normals = "property float nx\nproperty float ny\nproperty float nz\n"
    colors = "".join(f"property uchar {c}\n" for c in ("red", "green", "blue"))
    scene = read(tmp_path, colors, ["3 0 1 2 255 0 0", "3 0 2 3 0 255 0"], normals, values="0 3 4")
    assert scene.meshes[0].normals is not None and len(scene.meshes[0].positions) == 6
    np.testing.assert_allclose(scene.meshes[0].normals, np.tile((0, 0.6, 0.8), (6, 1)), atol=1e-6)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_with_more_values_than_declared(end: str, loops: None, tmp_path: Path) -> None:
    rows = ["0 0 0 9", "1 0 0 9", "1 1 0 9 9", "0 1 0", "3 0 1 2 7 7", "3 0 2 3"]
    head = ["ply", "format ascii 1.0", "element vertex 4", *XYZ.split("\n")[:3], "element face 2"]
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
    head = f"ply\nformat ascii 1.0\nelement vertex 4\n{XYZ}element face 1\nproperty list uchar int vertex_indices\n"
    (tmp_path / "a.ply").write_text(f"{head}end_header\n0 0 0 1 0 0 1 1 0 0 1 0 4 0 1 2 3\n")
    scene = load(tmp_path / "a.ply")
    assert scene.triangle_count == 2 and scene.warnings == []


def test_header_lines_that_are_no_statement_are_told(tmp_path: Path) -> None:
    scene = read(tmp_path, "", ["3 0 1 2"], more="made by hand\nauthor me\n")
    assert scene.triangle_count == 1
    assert scene.warnings == ["2 lines of the header are no statements and left out, the first: 'made by hand'"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_before_the_header(encoding: str, tmp_path: Path) -> None:
    scene = read(tmp_path, "", ["3 0 1 2"])
    (tmp_path / "b.ply").write_bytes((tmp_path / "a.ply").read_text().encode(encoding))
    assert load(tmp_path / "b.ply").triangle_count == scene.triangle_count == 1


@pytest.mark.parametrize("order", ["<", ">"])
def test_attributes_of_faces_in_binary(order: str, loops: None, tmp_path: Path) -> None:
    import struct

    name = {"<": "little", ">": "big"}[order]
    head = f"ply\nformat binary_{name}_endian 1.0\nelement vertex 4\n{XYZ}element face 2\n"
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
