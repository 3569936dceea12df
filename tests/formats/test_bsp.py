"""Levels of Quake III: faces, curves, textures beside the file, lightmaps, lights and starts; and damaged lumps."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from levels import level, level_lumps
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.base.paths import assets
from raystream.formats import bsp, load
from raystream.formats.bsp import tessellate, tessellation_sizes


def written(folder: Path, data: bytes) -> Path:
    path = folder / "small.bsp"
    path.write_bytes(data)
    return path


def test_a_level(tmp_path: Path) -> None:
    (tmp_path / "walls").mkdir()
    Image.fromarray(np.full((2, 2, 3), (255, 0, 0), np.uint8)).save(tmp_path / "walls" / "stone.png")
    scene = load(written(tmp_path, level()))
    # A square, a patch of 8 x 8 cells, no sky, and the door's square.
    assert [len(mesh.triangles) for mesh in scene.meshes] == [2, 2 * 8 * 8, 2]
    assert scene.warnings == ["no picture 'curve' beside the level: grey"]
    assert scene.materials[0].texture is not None and scene.materials[1].texture is None
    for mesh in scene.meshes:  # up is +Y, and triangles face where their normals point
        a, b, c = mesh.positions[mesh.triangles].transpose(1, 0, 2)
        assert (np.cross(b - a, c - a) * mesh.normals[mesh.triangles[:, 0]]).sum(axis=1).min() > 0
        np.testing.assert_allclose(mesh.normals, np.tile((0, 1, 0), (len(mesh.normals), 1)), atol=1e-6)
    np.testing.assert_array_equal(scene.meshes[0].positions.max(axis=0), [2, 0, 0])  # 64 units are 2 m
    np.testing.assert_array_equal(scene.instances[2].transform[:3, 3], [0, 10, 0])
    np.testing.assert_allclose(scene.meshes[2].colors[0], (1, 0, 0.2, 1), rtol=1e-6)
    assert scene.meshes[0].colors is None
    point, spot = scene.lights
    assert point.position == (1, 3, -2)
    # 200 * 7500 / d^2 of 255 level units from it, and white paper is radiance over pi.
    assert point.intensity == pytest.approx(np.array([1, 0.5, 0]) * math.pi * 200 * 7500 / 255 / 1024)
    assert spot.kind == "spot" and spot.direction == (0, -1, 0) and spot.outer == pytest.approx(math.atan(64 / 96))
    (camera,) = scene.cameras
    assert camera.name == "start" and camera.origin == (0, (24 + 26) / 32, 0)
    np.testing.assert_allclose(camera.basis()[2], [0, 0, -1], atol=1e-12)  # 90 degrees are +Y, which is -Z here
    baked = scene.with_variant("lightmaps")
    layers = [baked.materials[each.material].layers for each in baked.instances]
    assert [len(each) for each in layers] == [2, 1, 0]
    assert baked.textures[layers[1][0].texture].uv_set == 1


@pytest.mark.parametrize(
    ("keys", "yaw", "pitch"),
    [
        ('"angles" "30 90 0"', 90, 30),  # down is positive
        ('"angles" "-15 180 0"', 180, -15),
        ('"angle" "45" "angles" "30 90 0"', 45, 30),
        ('"angle" "270"', 270, 0),
        ('"angles" "30 90"', 0, 0),
    ],
)
def test_starts_with_angles(keys: str, yaw: float, pitch: float, tmp_path: Path) -> None:
    entities = f'{{ "classname" "info_player_start" "origin" "0 0 0" {keys} }}'.encode()
    (camera,) = load(written(tmp_path, bsp.join_lumps(level_lumps() | {"entities": entities}))).cameras
    yaw, pitch = math.radians(yaw), math.radians(pitch)
    across = math.cos(pitch)
    expected = (across * math.cos(yaw), -math.sin(pitch), -across * math.sin(yaw))
    np.testing.assert_allclose(camera.basis()[2], expected, atol=1e-12)


def test_colours_of_vertices_are_opaque(tmp_path: Path) -> None:
    """Their fourth byte is for blending in the game's own shaders."""
    parts = level_lumps()
    vertices = np.frombuffer(parts["vertices"], bsp.VERTEX).copy()
    vertices["color"][:, 3] = 51
    scene = load(written(tmp_path, bsp.join_lumps(parts | {"vertices": vertices.tobytes()})))
    np.testing.assert_allclose(scene.meshes[2].colors[0], (1, 0, 0.2, 1), rtol=1e-6)


def test_colours_of_curves_are_rounded(tmp_path: Path) -> None:
    """From 0 to 255 in eight steps across, as bytes: 255 k / 8 to the nearest, and 0.5 / 255 off at most."""
    parts = level_lumps()
    faces = np.frombuffer(parts["faces"], bsp.FACE).copy()
    faces["lightmap"][1] = -1  # so that its vertices' colours are seen
    vertices = np.frombuffer(parts["vertices"], bsp.VERTEX).copy()
    vertices["color"][4:13] = np.tile([[0], [127], [255]], (3, 4))
    scene = load(written(tmp_path, bsp.join_lumps(parts | {"faces": faces.tobytes(), "vertices": vertices.tobytes()})))
    t = np.arange(9) / 8
    want = np.rint(2 * t * (1 - t) * 127 + t * t * 255)
    (row,) = np.unique(np.rint(scene.meshes[1].colors[:, 0].reshape(9, 9) * 255), axis=0)
    np.testing.assert_array_equal(row, want)


@pytest.mark.parametrize("flag", [0x80, 0x4], ids=["not drawn", "sky"])
def test_faces_that_the_game_does_not_draw(flag: int, tmp_path: Path) -> None:
    parts = level_lumps()
    textures = np.frombuffer(parts["textures"], bsp.TEXTURE).copy()
    textures["flags"] = 0x1000, 0x2 | flag, 4
    scene = load(written(tmp_path, bsp.join_lumps(parts | {"textures": textures.tobytes()})))
    assert [len(mesh.triangles) for mesh in scene.meshes] == [2]


@pytest.mark.parametrize(
    ("keys", "strength"),
    [
        ('"light" "40" "_light" "90"', 40),
        ('"_light" "90"', 90),
        ("", 300),
        ('"light" "x"', 300),
        ('"light" "nan"', 300),
        ('"light" "1e9"', 300),
    ],
)
def test_strengths_of_lights(keys: str, strength: float, tmp_path: Path) -> None:
    entities = f'{{ "classname" "light" "origin" "0 0 0" {keys} }}'.encode()
    (light,) = load(written(tmp_path, bsp.join_lumps(level_lumps() | {"entities": entities}))).lights
    assert light.intensity == pytest.approx((math.pi * strength * 7500 / 255 / 1024,) * 3)


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (5, 3), (3, 7), (5, 9)])
def test_nets_are_patches_side_by_side(rows: int, columns: int) -> None:
    """Biquadratic, each over 3 x 3 control points, of which it shares those of its edges; all nets at once."""
    steps, nets = 4, np.random.default_rng(5).random((2, rows, columns, 3))
    points, triangles = tessellate(nets, steps)
    tall, wide = (rows - 1) // 2 * steps + 1, (columns - 1) // 2 * steps + 1
    for y in range(tall):
        for x in range(wide):
            j, i = min(y // steps, rows // 2 - 1), min(x // steps, columns // 2 - 1)
            v, u = y / steps - j, x / steps - i
            across, down = ([(1 - t) ** 2, 2 * t * (1 - t), t * t] for t in (u, v))
            want = np.einsum("r,c,nrca->na", down, across, nets[:, 2 * j : 2 * j + 3, 2 * i : 2 * i + 3])
            np.testing.assert_allclose(points[:, y * wide + x], want, atol=1e-14)
    # Two triangles of each cell, turned alike, which together are all of them.
    places = np.stack(np.divmod(triangles, wide), axis=-1)
    a, b, c = places.transpose(1, 2, 0)
    (down, across), (below, beside) = b - a, c - a
    np.testing.assert_array_equal(down * beside - across * below, 1)
    assert len(np.unique(places.min(axis=1), axis=0)) == len(triangles) // 2
    many, made = tessellation_sizes(np.array([[columns, rows], [rows, columns]]), steps)
    assert many.tolist() == [tall * wide] * 2 and made.tolist() == [len(triangles)] * 2


def test_the_level_that_is_shipped() -> None:
    scene = load(assets() / "levels" / "chapel.bsp")
    assert scene.warnings == [] and scene.triangle_count == 12_126
    assert [camera.name for camera in scene.cameras] == ["start", "stage", "aisle"] and len(scene.lights) == 10


@pytest.mark.parametrize("number", range(len(bsp.LUMPS)))
def test_truncations_at_every_lump(number: int, tmp_path: Path) -> None:
    data = bytearray(level())
    name, size = bsp.LUMPS[number]
    at = 8 + 8 * number
    data[at : at + 8] = (len(data) - 1).to_bytes(4, "little") + (2 * size).to_bytes(4, "little")
    with pytest.raises(ViewerError, match=rf"lump {name}: .* of a file of"):
        load(written(tmp_path, bytes(data)))
    if size > 1:
        data[at : at + 8] = (0).to_bytes(4, "little") + (size + 1).to_bytes(4, "little")
        with pytest.raises(ViewerError, match=rf"lump {name}: .*not a multiple of the element's"):
            load(written(tmp_path, bytes(data)))


def test_other_versions(tmp_path: Path) -> None:
    data = bytearray(level())
    data[4] = 47
    with pytest.raises(ViewerError, match="level of version 47"):
        load(written(tmp_path, bytes(data)))


def test_pictures_outside_of_the_folder_are_not_read(tmp_path: Path) -> None:
    Image.new("RGB", (2, 2)).save(tmp_path / "secret.png")
    parts = level_lumps()
    table = np.frombuffer(parts["textures"], bsp.TEXTURE).copy()
    table["name"][0] = b"../secret"
    parts["textures"] = table.tobytes()
    (tmp_path / "inner").mkdir()
    scene = load(written(tmp_path / "inner", bsp.join_lumps(parts)))
    assert scene.materials[0].texture is None and "../secret" in scene.warnings[0]
