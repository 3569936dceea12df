"""Levels of Quake III: faces, curves, pictures, lightmaps, lights, starts, entities, and damaged lumps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import load_bytes
from levels import level, level_lumps
from PIL import Image

from raystream.base.errors import ViewerError
from raystream.base.paths import assets
from raystream.formats import bsp, load
from raystream.formats.bsp import tessellate, tessellation_sizes
from raystream.scene.scene import Scene
from tests.refusals import refusal

HERE = Path("a.bsp")


def read(folder: Path, **lumps: Any) -> Scene:
    """The small level with other lumps: bytes, or arrays."""
    parts = level_lumps() | {name: each if isinstance(each, bytes) else each.tobytes() for name, each in lumps.items()}
    return load_bytes("small.bsp", folder, bsp.join_lumps(parts))


def table(name: str, dtype: np.dtype) -> np.ndarray:
    return np.frombuffer(level_lumps()[name], dtype).copy()


def test_a_level(tmp_path: Path) -> None:
    (tmp_path / "walls").mkdir()
    Image.fromarray(np.full((2, 2, 3), (255, 0, 0), np.uint8)).save(tmp_path / "walls" / "stone.png")
    scene = read(tmp_path)
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
    (camera,) = read(tmp_path, entities=entities).cameras
    yaw, pitch = math.radians(yaw), math.radians(pitch)
    across = math.cos(pitch)
    expected = (across * math.cos(yaw), -math.sin(pitch), -across * math.sin(yaw))
    np.testing.assert_allclose(camera.basis()[2], expected, atol=1e-12)


def test_colours_of_vertices_are_opaque(tmp_path: Path) -> None:
    """Their fourth byte is for blending in the game's own shaders."""
    vertices = table("vertices", bsp.VERTEX)
    vertices["color"][:, 3] = 51
    scene = read(tmp_path, vertices=vertices)
    np.testing.assert_allclose(scene.meshes[2].colors[0], (1, 0, 0.2, 1), rtol=1e-6)


def test_colours_of_curves_are_rounded(tmp_path: Path) -> None:
    """From 0 to 255 in eight steps across, as bytes: 255 k / 8 to the nearest, and 0.5 / 255 off at most."""
    faces = table("faces", bsp.FACE)
    faces["lightmap"][1] = -1  # so that its vertices' colours are seen
    vertices = table("vertices", bsp.VERTEX)
    vertices["color"][4:13] = np.tile([[0], [127], [255]], (3, 4))
    scene = read(tmp_path, faces=faces, vertices=vertices)
    t = np.arange(9) / 8
    want = np.rint(2 * t * (1 - t) * 127 + t * t * 255)
    (row,) = np.unique(np.rint(scene.meshes[1].colors[:, 0].reshape(9, 9) * 255), axis=0)
    np.testing.assert_array_equal(row, want)


@pytest.mark.parametrize("flag", [0x80, 0x4], ids=["not drawn", "sky"])
def test_faces_that_the_game_does_not_draw(flag: int, tmp_path: Path) -> None:
    textures = table("textures", bsp.TEXTURE)
    textures["flags"] = 0x1000, 0x2 | flag, 4
    scene = read(tmp_path, textures=textures)
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
    (light,) = read(tmp_path, entities=entities).lights
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
        load_bytes("small.bsp", tmp_path, bytes(data))
    if size > 1:
        data[at : at + 8] = (0).to_bytes(4, "little") + (size + 1).to_bytes(4, "little")
        with pytest.raises(ViewerError, match=rf"lump {name}: .*not a multiple of the element's"):
            load_bytes("small.bsp", tmp_path, bytes(data))


def test_other_versions(tmp_path: Path) -> None:
    data = bytearray(level())
    data[4] = 47
    with pytest.raises(ViewerError, match="level of version 47"):
        load_bytes("small.bsp", tmp_path, bytes(data))


def test_pictures_outside_of_the_folder_are_not_read(tmp_path: Path) -> None:
    Image.new("RGB", (2, 2)).save(tmp_path / "secret.png")
    textures = table("textures", bsp.TEXTURE)
    textures["name"][0] = b"../secret"
    (tmp_path / "inner").mkdir()
    scene = read(tmp_path / "inner", textures=textures)
    assert scene.materials[0].texture is None and "../secret" in scene.warnings[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"", []),
        (b" \n\0{", []),
        (b"{}", [{}]),
        (b'{"a""b"}{ "c" "" }\n', [{"a": "b"}, {"c": ""}]),
        (b'{ "a" "1" "a" "2" }', [{"a": "2"}]),
        (b'{ "" "{ } \n x" }', [{"": "{ } \n x"}]),
        ('{ "ä" "ö" }'.encode("latin-1"), [{"ä": "ö"}]),
        (b"{", "ends within an entity"),
        (b'{ "a"', "ends within an entity"),
        (b"}", "is not of the form .* at byte 0"),
        (b'{ "a" }', "is not of the form .* at byte 5"),
        (b'{ "a" "b', "is not of the form .* at byte 5"),
        (b"{} }", "is not of the form"),
    ],
)
def test_texts_of_entities(text: bytes, found: Any) -> None:
    with refusal(f"lump entities: {found}" if isinstance(found, str) else ""):
        assert bsp.read_entities(text, HERE) == found


def lights(folder: Path, text: str) -> list:
    return read(folder, entities=text.encode()).lights


SCALE = math.pi * 7500 / 255 / 1024  # of "light" 1, in W/sr


@pytest.mark.parametrize(
    ("keys", "color"),
    [
        ('"light" "1" "_color" "2 1 .5"', (1, 0.5, 0.25)),
        ('"light" "1" "_color" ".2 .1 0"', (1, 0.5, 0)),
        ('"light" "1" "_color" "-1 .1 .2"', (0, 0.5, 1)),
        ('"light" "1" "_color" "red"', (1, 1, 1)),
        ('"light" "1" "_color" "1 2 nan"', (1, 1, 1)),
        ('"light" "1" "_color" " 1e9  0 0 "', (1, 0, 0)),
        ('"light" "2"', (2, 2, 2)),
    ],
)
def test_colors_of_lights(keys: str, color: tuple[float, ...], tmp_path: Path) -> None:
    """By their largest part, so that the strength is that of the brightest channel."""
    (light,) = lights(tmp_path, f'{{ "classname" "light" "origin" "32 64 96" {keys} }}')
    assert light.intensity == pytest.approx([SCALE * each for each in color])
    assert (light.kind, light.position) == ("point", (1, 3, -2))


@pytest.mark.parametrize("strength", ["0", "-5"])
def test_lights_without_strength(strength: str, tmp_path: Path) -> None:
    found = lights(tmp_path, f'{{ "classname" "light" "light" "{strength}" }} {{ "classname" "light" "light" "1" }}')
    assert [light.name for light in found] == ["light 0", "light 1"]
    assert found[0].intensity == (0, 0, 0) and found[1].intensity == pytest.approx((SCALE,) * 3)


@pytest.mark.parametrize(
    ("keys", "target", "direction", "outer"),
    [
        ("", "0 0 -64", (0, -1, 0), math.pi / 4),
        ('"radius" "32"', "0 0 -64", (0, -1, 0), math.atan(0.5)),
        ('"radius" "1"', "0 0 -64000", (0, -1, 0), 0.01),
        ('"radius" "1e6"', "0 0 -64", (0, -1, 0), 1.5),
        ("", "64 0 0", (1, 0, 0), math.pi / 4),
        ("", "0 0 0", None, None),
    ],
)
def test_targets_of_lights(
    keys: str, target: str, direction: tuple | None, outer: float | None, tmp_path: Path
) -> None:
    (light,) = lights(
        tmp_path, f'{{ "classname" "light" "target" "t" {keys} }} {{ "targetname" "t" "origin" "{target}" }}'
    )
    if direction is None:
        assert light.kind == "point"
        return
    assert light.kind == "spot" and light.direction == pytest.approx(direction, abs=1e-12)
    assert (light.outer, light.inner) == pytest.approx((outer, 0.9 * outer))
    (lost,) = lights(tmp_path, '{ "classname" "light" "target" "nobody" }')
    assert lost.kind == "point"


def test_starts_in_their_order(tmp_path: Path) -> None:
    """Players' first, then others' and the intermission's, each as the file has them; unnamed by number."""
    kinds = ("info_player_intermission", "info_player_deathmatch", "info_player_start", "info_player_deathmatch")
    names = ('"name" "last"', "", "", '"name" "start"')
    text = "".join(
        f'{{ "classname" "{kind}" "origin" "{32 * k} 0 0" {name} }}'
        for k, (kind, name) in enumerate(zip(kinds, names, strict=True))
    )
    cameras = read(tmp_path, entities=text.encode()).cameras
    assert [(camera.name, camera.origin[0]) for camera in cameras] == [
        ("start", 2),
        ("start 1", 1),
        ("start 2", 3),
        ("last", 0),
    ]
    assert {camera.origin[1] for camera in cameras} == {26 / 32} and {camera.fov for camera in cameras} == {70}
    for camera in cameras:
        np.testing.assert_allclose(np.subtract(camera.target, camera.origin), (2, 0, 0), atol=1e-12)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("texture", 2, ""),
        ("texture", 3, "face 3: names texture 3 of 3"),
        ("texture", -1, "face 3: names texture -1 of 3"),
        ("lightmap", -1, ""),
        ("lightmap", 1, "face 3: names lightmap 1 of 1"),
        ("vertex", 14, "face 3: has vertices 14 to 18 of 17"),
        ("vertex", -1, "face 3: has vertices -1 to 3 of 17"),
        ("corner", 1, "face 3: has corners 1 to 7 of 6"),
        ("corners", 3, ""),
        ("corners", 4, "face 3: has 4 corners, not a multiple of 3"),
        ("corners", 0, ""),
        ("vertices", 3, "face 3: indexes one of its vertices beyond 3"),
    ],
)
def test_limits_of_faces(field: str, value: int, words: str, tmp_path: Path) -> None:
    faces = table("faces", bsp.FACE)
    faces[field][3] = value
    if words:
        with pytest.raises(ViewerError, match=words):
            read(tmp_path, faces=faces)
        return
    scene = read(tmp_path, faces=faces)
    shown = {("texture", 2): 0, ("corners", 3): 1, ("corners", 0): 0}.get((field, value), 2)
    assert scene.triangle_count == 2 + 128 + shown


@pytest.mark.parametrize(("kind", "shown"), [(0, False), (1, True), (3, True), (4, False), (5, False)])
def test_kinds_of_faces(kind: int, shown: bool, tmp_path: Path) -> None:
    faces = table("faces", bsp.FACE)
    faces["kind"][3] = kind
    assert read(tmp_path, faces=faces).triangle_count == 2 + 128 + 2 * shown


@pytest.mark.parametrize(
    ("net", "held", "right"),
    [
        ((3, 3), 9, True),
        ((3, 3), 8, False),
        ((1, 9), 9, False),
        ((2, 4), 8, False),
    ],
)
def test_nets_of_patches(net: tuple[int, int], held: int, right: bool, tmp_path: Path) -> None:
    faces = table("faces", bsp.FACE)
    faces["net"][1], faces["vertices"][1] = net, held
    with refusal("" if right else f"face 1: is a net of {net[0]} x {net[1]} control points, of {held}"):
        assert read(tmp_path, faces=faces).triangle_count == 132


def test_meshes_by_model_texture_and_lightmap(tmp_path: Path) -> None:
    """Sorted by these; vertices of each alone; colours where there is no lightmap; fronts where normals point."""
    faces = np.repeat(table("faces", bsp.FACE)[:1], 6)
    faces["texture"] = [1, 0, 1, 0, 0, 1]
    faces["lightmap"] = [0, 0, -1, 0, -1, -5]
    vertices = table("vertices", bsp.VERTEX)
    vertices["normal"][:4] = (0, 0, -1)
    models = np.zeros(2, bsp.MODEL)
    models["face"], models["faces"] = [0, 4], [4, 2]
    text = b'{ "model" "*1" "origin" "0 0 32" } { "model" "*1" } { "model" "*2" } { "model" "*0" } { "model" "x" }'
    scene = read(tmp_path, faces=faces, models=models, vertices=vertices, entities=text)
    assert [mesh.name for mesh in scene.meshes] == [
        "walls/stone 0", "curve -1", "curve 0", "walls/stone -1", "curve -1"
    ]  # fmt: skip
    assert [len(mesh.triangles) for mesh in scene.meshes] == [4, 2, 2, 2, 2]
    assert [mesh.materials[0] for mesh in scene.meshes] == [0, 1, 1, 0, 1]
    assert [mesh.colors is None for mesh in scene.meshes] == [True, False, True, False, False]
    assert [(each.mesh, each.transform[1, 3], each.name) for each in scene.instances] == [
        (0, 0, "walls/stone 0"), (1, 0, "curve -1"), (2, 0, "curve 0"),
        (3, 1, "walls/stone -1"), (4, 1, "curve -1"), (3, 0, "walls/stone -1"), (4, 0, "curve -1"),
    ]  # fmt: skip
    for mesh in scene.meshes:
        assert len(mesh.positions) == 4
        a, b, c = mesh.positions[mesh.triangles].transpose(1, 0, 2)
        assert (np.cross(b - a, c - a)[:, 1] < 0).all() and (mesh.normals == (0, -1, 0)).all()
        np.testing.assert_array_equal(mesh.uvs, vertices["uv"][:4])
        np.testing.assert_array_equal(mesh.uvs_1, 0.25)
    baked = scene.with_variant("lightmaps")
    for instance in baked.instances:
        material = baked.materials[instance.material]
        assert material.classic.vertex_colors == material.name.endswith("-1")
        assert len(material.classic.textures) == (not material.classic.vertex_colors)


@pytest.mark.parametrize(
    ("face", "count", "right"),
    [(0, 4, True), (1, 3, True), (1, 4, False), (-1, 1, False), (0, -1, False), (4, 0, True)],
)
def test_faces_of_models(face: int, count: int, right: bool, tmp_path: Path) -> None:
    models = np.zeros(1, bsp.MODEL)
    models["face"], models["faces"] = face, count
    with refusal("" if right else f"model 0 has faces {face} to {face + count} of 4"):
        assert len(read(tmp_path, models=models).meshes) == {4: 3, 3: 2, 0: 0}[count]


def picture(folder: Path, name: str, value: int) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    Image.fromarray(np.full((2, 2, 3), value, np.uint8)).save(folder / name)


def test_pictures_beside_a_level(tmp_path: Path) -> None:
    """Whatever ending the level names, PNG before JPEG before WebP; each file once; none for what is never seen."""
    textures = np.zeros(6, bsp.TEXTURE)
    textures["name"] = [b"a/one.tga", b"a/one", b"a/two.x", b"no", b"seen not", b"bad"]
    textures["flags"][4] = 4
    faces = table("faces", bsp.FACE)[:1]
    faces = np.repeat(faces, 6)
    faces["texture"] = np.arange(6)
    models = np.zeros(1, bsp.MODEL)
    models["faces"] = 6
    for name, value in (("a/one.png", 10), ("a/one.jpg", 20), ("a/two.webp", 30), ("seen not.png", 40)):
        picture(tmp_path, name, value)
    (tmp_path / "bad.png").write_bytes(b"x")
    scene = read(tmp_path, textures=textures, faces=faces, models=models)
    numbers = [material.texture for material in scene.materials[:6]]
    assert numbers == [0, 1, 2, None, None, None]
    first, second, third = scene.textures[:3]
    assert first.image is second.image and (first.image.texels[..., 0] == 10).all()
    assert abs(int(third.image.texels[0, 0, 0]) - 30) < 4 and third.name == "a/two.x"
    assert [material.base_color for material in scene.materials[:6]] == [(1, 1, 1, 1)] * 3 + [(0.5, 0.5, 0.5, 1)] * 3
    assert [material.name for material in scene.materials[:6]] == [name.decode() for name in textures["name"]]
    bad, none = scene.warnings
    assert bad.startswith("texture 'bad': unreadable PNG, JPEG or WebP") and bad.endswith(": grey")
    assert none == "no picture 'no' and 1 more beside the level: grey"


def test_lightmaps_are_textures_of_their_own(tmp_path: Path) -> None:
    pages = np.random.default_rng(1).integers(0, 256, (2, bsp.PAGE, bsp.PAGE, 3), np.uint8)
    scene = read(tmp_path, lightmaps=pages)
    for number, texture in enumerate(scene.textures[-2:]):
        assert (texture.name, texture.wrap, texture.uv_set) == (f"lightmap {number}", ("clamp", "clamp"), 1)
        np.testing.assert_array_equal(texture.image.texels[..., :3], pages[number])
        assert (texture.image.texels[..., 3] == 255).all()
