"""MTL: which kind of surface each illumination model becomes, and the pictures of map_Kd."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image as Pillow

from raystream.formats import load
from raystream.formats.mtl import _parse, read_mtl
from raystream.scene.material import TEXTURE_FIELDS

DOTS = np.random.default_rng(1).integers(0, 256, (2, 3, 4), np.uint8)


@pytest.mark.parametrize(
    ("text", "kind", "color"),
    [
        ("Kd .5 .5 .5", "lambert", (0.5, 0.5, 0.5)),
        ("Kd .5 .5 .5\nKs 1 1 1\nNs 90\nillum 1", "lambert", (0.5, 0.5, 0.5)),
        ("Kd .5 .5 .5\nKs .3 .3 .3\nNs 90", "principled", (0.5, 0.5, 0.5)),
        ("Kd .5 .5 .5\nKs .3 .3 .3\nNs 90\nillum 3", "principled", (0.5, 0.5, 0.5)),
        ("Kd .5 .5 .5\nKs 0 0 0\nNs 90\nillum 2", "lambert", (0.5, 0.5, 0.5)),
        ("Kd 0 0 0\nKs .9 .8 .7\nNs 1000\nillum 3", "mirror", (0.9, 0.8, 0.7)),
        ("Kd 0 0 0\nKs .9 .9 .9\nNi 1.7\nillum 7", "dielectric", (1, 1, 1)),
        ("Kd 0 0 0\nTf .9 .8 1\nillum 4", "dielectric", (0.9, 0.8, 1)),
        ("Kd 0 0 0\nd .1\nTf 0 0 0\nillum 6", "dielectric", (1, 1, 1)),
        ("Kd .4 .4 .4\nillum 4", "lambert", (0.4, 0.4, 0.4)),
    ],
)
def test_kinds(text, kind, color):
    (material,) = read_mtl(b"newmtl m\n" + text.encode(), "m.mtl", [])
    assert (material.kind, material.base_color[:3]) == (kind, color)
    if kind == "dielectric":
        assert material.ior == (1.7 if "Ni" in text else 1.5)


def read(folder, text: str, lenient: bool = False):
    (folder / "m.mtl").write_text(f"newmtl m\n{text}\n", encoding="utf-8")
    square = "mtllib m.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nf 1/1 2/2 3/3\n"
    (folder / "scene.obj").write_text(square, encoding="utf-8")
    return load(folder / "scene.obj", lenient)


def test_pictures(tmp_path):
    file = io.BytesIO()
    Pillow.fromarray(DOTS).save(file, "PNG")
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "my dots.png").write_bytes(file.getvalue())
    scene = read(tmp_path, "Kd 1 1 1\nmap_Kd -s 2 3 1 -o .5 .25 -clamp on maps\\my dots.png")
    assert not scene.warnings and scene.materials[0].texture == 0
    texture = scene.textures[0]
    np.testing.assert_array_equal(texture.image.texels, DOTS)
    assert texture.wrap == ("clamp", "clamp")
    # At (u, v) of the file, v upwards, the picture is read at (2 u + 0.5, 3 v + 0.25): from its top, 1 - that.
    np.testing.assert_allclose(texture.transform @ (0.2, 1 - 0.1, 1), (2 * 0.2 + 0.5, 1 - (3 * 0.1 + 0.25)))


@pytest.mark.parametrize("name", ["../out.png", "/etc/passwd", "none.png", "m.mtl"])
def test_pictures_that_cannot_be_had_are_white(name, tmp_path):
    scene = read(tmp_path, f"map_Kd {name}")
    assert len(scene.warnings) == 1 and "white instead" in scene.warnings[0]
    assert scene.textures[0].image.size == (1, 1)


def test_pictures_that_cannot_be_had_are_checkerboards_where_lenient(tmp_path):
    scene = read(tmp_path, "map_Kd none.png", lenient=True)
    assert "a checkerboard instead" in scene.warnings[0] and scene.textures[0].image.size == (8, 8)


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("a b.png", "a b.png", {}),
        ("-s 2 a.png", "a.png", {"-s": (2, 2)}),
        ("-bm 0.5 -mm 0 1 -o 1 2 3 a.png", "a.png", {"-bm": (0.5, 0.5), "-o": (1, 2)}),
        ("-clamp off a.png", "a.png", {}),
        ("-s", "-s", {}),
        ("-o 1 2 3", "3", {"-o": (1, 2)}),
    ],
)
def test_options(text, name, options):
    assert _parse(text) == (name, options)


@pytest.mark.parametrize(
    ("text", "opacity"), [("", 1.0), ("d 0.25", 0.25), ("Tr 0.25", 0.75), ("Tr 0.25\nd 0.5", 0.5), ("Tr 2", 1.0)]
)
def test_opacity_is_d_or_what_transparency_leaves(text, opacity):
    (material,) = read_mtl(f"newmtl m\n{text}".encode(), "m.mtl", [])
    assert material.base_color == (0.8, 0.8, 0.8, opacity)


@pytest.mark.parametrize(("text", "color"), [("0.5", (0.5, 0.5, 0.5)), ("0.1 0.2 0.3 9", (0.1, 0.2, 0.3))])
def test_one_number_stands_for_three(text, color):
    """As the format has it for all colours; two are none."""
    (material,) = read_mtl(f"newmtl m\nKd {text}\nKe {text}".encode(), "m.mtl", [])
    assert material.base_color[:3] == material.emission == color
    warnings: list[str] = []
    (material,) = read_mtl(b"newmtl m\nKd 0.1 0.2", "m.mtl", warnings)
    assert material.base_color[:3] == (0.8, 0.8, 0.8) and "m.mtl: line 2 is malformed" in warnings[0]


GLOSS = "Kd .5 .5 .5\nKs .04 .08 .02\nNs 98"


@pytest.mark.parametrize(
    ("text", "kind", "fields"),
    [
        ("Kd .5 .5 .5", "lambert", {"alpha_mode": "opaque"}),
        ("Kd .5 .5 .5\nKs 1 1 1\nNs 90\nillum 1", "lambert", {}),
        ("Ks .9 .8 .7\nKd 0 0 0\nillum 3", "mirror", {"base_color": (0.9, 0.8, 0.7, 1)}),
        ("Kd 0 0 0\nNi 1.7\nillum 7", "dielectric", {"ior": 1.7, "transmission": 1, "thickness": 1, "roughness": 0}),
        (GLOSS, "principled", {"specular_color": (1, 2, 0.5), "specular_factor": 1, "roughness": 0.02**0.25}),
        (GLOSS + "\nNi 3", "principled", {"specular_color": (0.16, 0.32, 0.08), "ior": 3}),
        ("Kd .5 .5 .5\nKs .04 .04 .04\nillum 3", "principled", {"specular_color": (1, 1, 1), "roughness": 0}),
        ("Kd .5 .5 .5\nd .25", "principled", {"alpha_mode": "blend", "specular_factor": 0, "metallic": 0}),
        ("Kd .5 .5 .5\nNs 98\nKs .5 .5 .5\nPr .3", "principled", {"roughness": 0.3, "specular_color": (1, 1, 1)}),
        ("Pm .7\nPr .1", "principled", {"metallic": 0.7, "roughness": 0.1, "specular_factor": 1}),
        ("Ps .6", "principled", {"sheen_color": (0.6,) * 3, "sheen_roughness": 0.5}),
        ("Pc .6\nPcr .2", "principled", {"clearcoat": 0.6, "clearcoat_roughness": 0.2}),
        ("Pr .4\naniso .5\nanisor .25", "principled", {"anisotropy": 0.5, "anisotropy_rotation": np.pi / 2}),
        ("Kd 0 0 0\nNi 1.7\nPr .2\nillum 7", "principled", {"transmission": 1, "ior": 1.7, "roughness": 0.2}),
        ("Kd 0 0 0\nKs 1 1 1\nillum 3\nd .5", "principled", {"metallic": 1, "roughness": 0, "alpha_mode": "blend"}),
        ("Ks .04 .04 .04\nNs 98\nnorm n.png", "principled", {"specular_color": (1, 1, 1)}),
        ("Pc 7\nPr -1\nPm 9\nd -3\nNi 1e9", "principled", {"clearcoat": 1, "roughness": 0, "metallic": 1, "ior": 100}),
    ],
)
def test_nearest_principled_material(text, kind, fields):
    (material,) = read_mtl(b"newmtl m\n" + text.encode(), "m.mtl", [])
    assert material.kind == kind
    for name, value in fields.items():
        found = getattr(material, name)
        assert found == (value if isinstance(value, str) else pytest.approx(value)), name


def written(folder, name: str, texels: np.ndarray) -> None:
    Pillow.fromarray(texels).save(folder / name)


def test_pictures_of_fields(tmp_path):
    """Roughness in green and metallic in blue of one texture, opacity in that of the colour."""
    random = np.random.default_rng(2).integers(0, 256, (4, 2, 3, 4), np.uint8)
    grey = np.repeat(random[..., :1], 3, axis=-1)
    written(tmp_path, "kd.png", random[0])
    written(tmp_path, "d.png", grey[1])
    written(tmp_path, "pr.png", grey[2])
    written(tmp_path, "pm.png", grey[3].repeat(2, axis=0))
    written(tmp_path, "n.png", random[1])
    scene = read(
        tmp_path, "map_Kd kd.png\nmap_d d.png\nmap_Pr pr.png\nmap_Pm pm.png\nmap_bump -bm .5 n.png\nmap_Ps kd.png"
    )
    (material,) = (each for each in scene.materials if each.name == "m")
    assert not scene.warnings and material.kind == "principled" and material.alpha_mode == "blend"
    found = {
        name: scene.textures[getattr(material, name)] for name in TEXTURE_FIELDS if getattr(material, name) is not None
    }
    texels = {name: each.image.texels for name, each in found.items()}
    assert np.array_equal(texels["texture"][..., :3], random[0][..., :3])
    assert np.array_equal(texels["texture"][..., 3], grey[1][..., 0])
    assert np.array_equal(texels["metallic_roughness_texture"][..., 1], grey[2][..., 0])
    assert np.array_equal(texels["metallic_roughness_texture"][..., 2], grey[3][..., 0])
    assert np.array_equal(texels["normal_texture"], random[1]) and material.normal_scale == 0.5
    assert (material.metallic, material.roughness, material.sheen_color) == (1, 1, (1, 1, 1))
    assert {name: each.content for name, each in found.items()} == {
        "texture": "color",
        "metallic_roughness_texture": "data",
        "normal_texture": "normal",
        "sheen_color_texture": "data",
    }


def test_a_grey_bump_map_holds_heights(tmp_path):
    heights = np.zeros((4, 4), np.uint8)
    heights[:, 1:3] = 255  # a ridge: up at column 0 to 1, down at 2 to 3
    written(tmp_path, "h.png", heights)
    scene = read(tmp_path, "bump -bm 2 h.png")
    (material,) = (each for each in scene.materials if each.name == "m")
    assert (material.kind, material.specular_factor, material.normal_scale) == ("principled", 0, 1)
    normal = scene.textures[material.normal_texture].image.texels[0, :, :3] / 255 * 2 - 1
    # a slope of 2 texels over 2: 45 degrees against it; to the rounding of 8 bits
    assert np.allclose(normal[:, 0], np.array([-1, -1, 1, 1]) * np.sqrt(0.5), atol=1 / 255)
    assert np.allclose(normal[:, 1], 0, atol=1 / 255) and np.allclose(normal[:, 2], np.sqrt(0.5), atol=1 / 255)


def test_exponents_of_a_picture_are_roughness(tmp_path):
    written(tmp_path, "ns.png", np.uint8([[0, 255]]))
    scene = read(tmp_path, "Ks .1 .1 .1\nNs 98\nmap_Ns ns.png")
    (material,) = (each for each in scene.materials if each.name == "m")
    green = scene.textures[material.metallic_roughness_texture].image.texels[0, :, 1]
    assert material.roughness == 1 and green.tolist() == [255, round(255 * 0.02**0.25)]
