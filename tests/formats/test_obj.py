"""OBJ and MTL."""

from __future__ import annotations

import numpy as np
import pytest
from documents import MTL, OBJ

from raystream.base.errors import ViewerError
from raystream.formats import load


def read(tmp_path, text: str | bytes):
    path = tmp_path / "mesh.obj"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path)


SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def test_everything_at_once(loops, tmp_path):
    (tmp_path / "colors.mtl").write_bytes(MTL)
    scene = read(tmp_path, OBJ)
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


@pytest.mark.parametrize(
    "face", ["f 1 2 3 4", "f -4 -3 -2 -1", "f 1 2 \\\n3 4", "f 1 2 \\\r\n  3 4", "fo 1 2 3 4", "\tf  1 2\t3 4  # quad"]
)
def test_ways_to_write_a_face(face, loops, tmp_path):
    mesh = read(tmp_path, SQUARE + face).meshes[0]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert len(mesh.positions) == 4


def test_relative_indices_count_from_where_they_stand(loops, tmp_path):
    mesh = read(tmp_path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 5 5 5\nf -4 -3 -1\n").meshes[0]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 1, 3]]


def test_faces_may_come_before_their_vertices(tmp_path):
    assert read(tmp_path, "o early\nf 1 2 3\n" + SQUARE).triangle_count == 1


def test_seams_split_vertices_and_unused_ones_stay_without(loops, tmp_path):
    text = SQUARE + "v 9 9 9\nvt 0 0\nvt 1 1\nf 1/1 2/1 3/1\nf 1/2 3/1 4/1\n"
    mesh = read(tmp_path, text).meshes[0]
    assert len(mesh.positions) == 5  # vertex 1 twice, vertex 5 not
    assert len(read(tmp_path, SQUARE + "v 9 9 9\nf 1 2 3\n").meshes[0].positions) == 5


def test_partial_normals_are_dropped_with_a_word(tmp_path):
    scene = read(tmp_path, SQUARE + "vn 0 0 1\nf 1//1 2//1 3//1\nf 1 3 4\n")
    assert scene.meshes[0].normals is None
    assert "normals" in scene.warnings[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SQUARE + "f 1 2 99999999999999999999\n", "line 5: a corner"),
        (SQUARE + "f 1 \\\n 2 x\n", "line 6: a corner"),
        ("g x\nhello world\n", "holds no vertices"),
    ],
)
def test_faults_name_their_line(text, words, loops, tmp_path):
    with pytest.raises(ViewerError, match=words):
        read(tmp_path, text)


def test_old_macintosh_line_ends(tmp_path):
    assert read(tmp_path, (SQUARE + "f 1 2 3\n").replace("\n", "\r")).triangle_count == 1


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
    scene = read(inner, f"mtllib {name}\nusemtl red\n{SQUARE}f 1 2 3\n")
    assert scene.materials[0].base_color == (0.8, 0.8, 0.8, 1)
    assert any("mtllib not read" in warning for warning in scene.warnings)


@pytest.mark.parametrize("line", ["mtllib a file.mtl", "mtllib other.mtl colors.mtl"])
def test_material_files_with_blanks_and_in_a_row(line, tmp_path):
    for name in ("a file.mtl", "colors.mtl"):
        (tmp_path / name).write_bytes(MTL)
    assert read(tmp_path, f"{line}\nusemtl red\n{SQUARE}f 1 2 3\n").materials[0].base_color == (1, 0, 0, 1)


def test_large_file_by_the_compiled_loops(tmp_path):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(20_000, 3)).astype(np.float32)
    faces = rng.integers(0, 20_000, (40_000, 3))
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (faces + 1).tolist()]
    mesh = read(tmp_path, "\n".join(lines)).meshes[0]
    assert np.array_equal(mesh.positions, points)
    assert np.array_equal(mesh.triangles, faces)
