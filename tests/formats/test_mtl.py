"""MTL: which kind of surface each illumination model becomes, and the pictures of map_Kd."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image as Pillow

from raystream.formats import load
from raystream.formats.mtl import read_mtl


def read(folder, text: str, lenient: bool = False):
    (folder / "m.mtl").write_text(f"newmtl m\n{text}\n", encoding="utf-8")
    square = "mtllib m.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nf 1/1 2/2 3/3\n"
    (folder / "scene.obj").write_text(square, encoding="utf-8")
    return load(folder / "scene.obj", lenient)


@pytest.mark.parametrize("name", ["../out.png", "/etc/passwd", "none.png", "m.mtl"])
def test_pictures_that_cannot_be_had_are_white(name, tmp_path):
    scene = read(tmp_path, f"map_Kd {name}")
    assert len(scene.warnings) == 1 and "white instead" in scene.warnings[0]
    assert scene.textures[0].image.size == (1, 1)


def test_pictures_that_cannot_be_had_are_checkerboards_where_lenient(tmp_path):
    scene = read(tmp_path, "map_Kd none.png", lenient=True)
    assert "a checkerboard instead" in scene.warnings[0] and scene.textures[0].image.size == (8, 8)


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
