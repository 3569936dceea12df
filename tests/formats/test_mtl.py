"""MTL: which kind of surface each illumination model becomes; every field, picture and option."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from obj_text import POINTS, read
from PIL import Image as Pillow

from raystream.formats.mtl import _normal_map, read_mtl
from raystream.scene.material import Material


@pytest.mark.parametrize("name", ["../out.png", "/etc/passwd", "none.png", "m.mtl"])
def test_pictures_that_cannot_be_had_are_white(name, tmp_path):
    scene = read(tmp_path, SQUARE, f"newmtl m\nmap_Kd {name}\n")
    assert len(scene.warnings) == 1 and "white instead" in scene.warnings[0]
    assert scene.textures[0].image.size == (1, 1)


def test_pictures_that_cannot_be_had_are_checkerboards_where_lenient(tmp_path):
    scene = read(tmp_path, SQUARE, "newmtl m\nmap_Kd none.png\n", lenient=True)
    assert "a checkerboard instead" in scene.warnings[0] and scene.textures[0].image.size == (8, 8)


GLOSS = "Kd .5 .5 .5\nKs .04 .08 .02\nNs 98"


@pytest.mark.parametrize(
    ("text", "kind", "fields"),
    [
        ("Ks .9 .8 .7\nKd 0 0 0\nillum 3", "mirror", {"base_color": (0.9, 0.8, 0.7, 1)}),
        (GLOSS, "principled", {"specular_color": (1, 2, 0.5), "specular_factor": 1, "roughness": 0.02**0.25}),
        (GLOSS + "\nNi 3", "principled", {"specular_color": (0.16, 0.32, 0.08), "ior": 3}),
        ("Kd .5 .5 .5\nKs .04 .04 .04\nillum 3", "principled", {"specular_color": (1, 1, 1), "roughness": 0}),
        ("Kd .5 .5 .5\nNs 98\nKs .5 .5 .5\nPr .3", "principled", {"roughness": 0.3, "specular_color": (1, 1, 1)}),
        ("Pm .7\nPr .1", "principled", {"metallic": 0.7, "roughness": 0.1, "specular_factor": 1}),
        ("Ps .6", "principled", {"sheen_color": (0.6,) * 3, "sheen_roughness": 0.5}),
        ("Pc .6\nPcr .2", "principled", {"clearcoat": 0.6, "clearcoat_roughness": 0.2}),
        ("Pr .4\naniso .5\nanisor .25", "principled", {"anisotropy": 0.5, "anisotropy_rotation": np.pi / 2}),
        ("Kd 0 0 0\nNi 1.7\nPr .2\nillum 7", "principled", {"transmission": 1, "ior": 1.7, "roughness": 0.2}),
        ("Kd 0 0 0\nKs 1 1 1\nillum 3\nd .5", "principled", {"metallic": 1, "roughness": 0, "alpha_mode": "blend"}),
        ("Pc 7\nPr -1\nPm 9\nd -3\nNi 1e9", "principled", {"clearcoat": 1, "roughness": 0, "metallic": 1, "ior": 100}),
    ],
)
def test_nearest_principled_material(text, kind, fields):
    (material,) = read_mtl(b"newmtl m\n" + text.encode(), "m.mtl", [])
    assert material.kind == kind
    for name, value in fields.items():
        found = getattr(material, name)
        assert found == (value if isinstance(value, str) else pytest.approx(value)), name


def test_a_grey_bump_map_holds_heights(tmp_path):
    heights = np.zeros((4, 4), np.uint8)
    heights[:, 1:3] = 255  # a ridge: up at column 0 to 1, down at 2 to 3
    Pillow.fromarray(heights).save(tmp_path / "h.png")
    scene = read(tmp_path, SQUARE, "newmtl m\nbump -bm 2 h.png\n")
    (material,) = (each for each in scene.materials if each.name == "m")
    assert (material.kind, material.specular_factor, material.normal_scale) == ("principled", 0, 1)
    normal = scene.textures[material.normal_texture].image.texels[0, :, :3] / 255 * 2 - 1
    # a slope of 2 texels over 2: 45 degrees against it; to the rounding of 8 bits
    assert np.allclose(normal[:, 0], np.array([-1, -1, 1, 1]) * np.sqrt(0.5), atol=1 / 255)
    assert np.allclose(normal[:, 1], 0, atol=1 / 255) and np.allclose(normal[:, 2], np.sqrt(0.5), atol=1 / 255)


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
    ("Kd .5", "base_color", (0.5, 0.5, 0.5, 1)),  # one number stands for three
    ("Kd .1 .2 .3 9", "base_color", (0.1, 0.2, 0.3, 1)),
    ("Ke 2 -1 .5", "emission", (2, 0, 0.5)),
    ("Ke .5", "emission", (0.5, 0.5, 0.5)),
    ("d .25", "base_color", (0.8, 0.8, 0.8, 0.25)),
    ("Tr .25", "base_color", (0.8, 0.8, 0.8, 0.75)),
    ("Tr .25\nd .5", "base_color", (0.8, 0.8, 0.8, 0.5)),
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
    ("d .1\nTf 0 0 0\nillum 6", "base_color", (1, 1, 1, 0.1)),
    ("d -halo .5", "base_color", (0.8, 0.8, 0.8, 0.5)),
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
    assert read_mtl(b"newmtl m\nKd .1 .2\n", "m.mtl", [])[0].base_color == (0.8, 0.8, 0.8, 1)


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
    ("bump -bm .5 red.png", "normal_texture", "normal"),
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
        assert scene.materials[0].normal_scale == (0.5 if "-bm" in lines else 1)
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
        ("Ks 1 1 1\nNs 510\nmap_Ns small.png", [[round(255 * (2 / (n + 2)) ** 0.25) for n in (20, 500)]], None, 1),
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
    made = _normal_map(heights, 0.5)
    for row in range(2):
        for column in range(3):
            right = (high[row, (column + 1) % 3] - high[row, column - 1]) / 2
            up = (high[row - 1, column] - high[(row + 1) % 2, column]) / 2
            normal = np.array([-right, -up, 1]) / math.sqrt(1 + right * right + up * up)
            assert made[row, column].tolist() == [*np.round((normal + 1) / 2 * 255), 255]
    ramp = _normal_map(np.uint8([[0] * 4, [85] * 4, [170] * 4, [255] * 4]), 3)  # falls upwards by 1 a row
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
