"""MTL: which kind of surface each illumination model becomes, and the pictures of map_Kd."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image as Pillow

from viewer.formats import load
from viewer.formats.obj.mtl import read_mtl
from viewer.formats.obj.mtl_textures import _parse

DOTS = np.random.default_rng(1).integers(0, 256, (2, 3, 4), np.uint8)


@pytest.mark.parametrize(
    ("text", "kind", "color"),
    [
        ("Kd .5 .5 .5", "lambert", (0.5, 0.5, 0.5)),
        ("Kd .5 .5 .5\nKs 1 1 1\nNs 90\nillum 1", "lambert", (0.5, 0.5, 0.5)),
        ("Kd .5 .5 .5\nKs .3 .3 .3\nNs 90", "phong", (0.5, 0.5, 0.5)),
        ("Kd .5 .5 .5\nKs .3 .3 .3\nNs 90\nillum 3", "phong", (0.5, 0.5, 0.5)),
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
    if kind == "phong":
        assert (material.specular, material.exponent) == (pytest.approx(0.3), 90)
        assert material.reflectivity == (pytest.approx(0.3) if "illum 3" in text else 0)
    if kind == "dielectric":
        assert material.ior == (1.7 if "Ni" in text else 1.5)


def read(folder, text: str):
    (folder / "m.mtl").write_text(f"newmtl m\n{text}\n", encoding="utf-8")
    square = "mtllib m.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nf 1/1 2/2 3/3\n"
    (folder / "scene.obj").write_text(square, encoding="utf-8")
    return load(folder / "scene.obj")


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


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("a b.png", "a b.png", {}),
        ("-s 2 a.png", "a.png", {"-s": (2, 2)}),
        ("-bm 0.5 -mm 0 1 -o 1 2 3 a.png", "a.png", {"-o": (1, 2)}),
        ("-clamp off a.png", "a.png", {}),
        ("-s", "-s", {}),
        ("-o 1 2 3", "3", {"-o": (1, 2)}),
    ],
)
def test_options(text, name, options):
    assert _parse(text) == (name, options)


@pytest.mark.parametrize(
    ("text", "opacity"), [("", 1.0), ("d 0.25", 0.25), ("Tr 0.25", 0.75), ("Tr 0.25\nd 0.5", 0.5), ("Tr 2", 0.0)]
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
    assert material.base_color[:3] == (0.8, 0.8, 0.8) and "m.mtl: line 2 is not understood" in warnings[0]
