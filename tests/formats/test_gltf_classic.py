"""The classic material in glTF: every member of ``extras.classic``, what is left out, and faults."""

from __future__ import annotations

from typing import Any

import pytest
from looks import textured

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.scene.material import ClassicMaterial, ClassicTexture, Material

FULL = {
    **{"bias": 0.125, "scale": 0.75, "power": 4, "reflectivity": 0.25, "transmittance": 0.5, "thickness": 2},
    **{"specular": [0.1, 0.2, 0.3], "ambient": [0.4, 0.5, 0.6], "indices": [1.4, 1.5, 1.6], "thicknessModel": "slab"},
    "textures": [
        {"mode": "DECAL", "colorTexture": {"index": 0, "texCoord": 1}},
        {"mode": "blend", "colorTexture": {"index": 0}, "environment": [1, 0.5, 0]},
    ],
    **{"vertexColors": False, "lit": True},
}


def read(folder, extras: Any) -> Material:
    doc = textured()
    doc.json["materials"][0]["extras"] = extras
    return load(doc.write(folder, "classic.glb")).materials[0]


def test_every_member(tmp_path):
    found = read(tmp_path, {"classic": FULL})
    assert found.kind == "classic" and found.texture == 0
    assert found.classic == ClassicMaterial(
        *(0.125, 0.75, 4.0, (0.1, 0.2, 0.3), (0.4, 0.5, 0.6), 0.25, 0.5, (1.4, 1.5, 1.6), 2.0, "slab"),
        textures=(ClassicTexture(1, "decal"), ClassicTexture(0, "blend", (1.0, 0.5, 0.0))),
        vertex_colors=False,
        lit=True,
    )
    assert found.texture_numbers == [0, 0, 1, 0]  # the base colour's modulates first


def test_what_is_left_out(tmp_path):
    assert read(tmp_path, {"classic": {}}).classic == ClassicMaterial()
    one = read(tmp_path, {"classic": {"indices": 1.7}}).classic
    assert one is not None and one.indices == (1.7, 1.7, 1.7)


@pytest.mark.parametrize("extras", [{}, {"classic": "yes"}, ["classic"], "classic", {"priority": 2}])
def test_extras_of_others(tmp_path, extras):
    found = read(tmp_path, extras)
    assert found.kind != "classic" and found.classic is None


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"shininess": 1}, "materials[0].extras.classic: unknown member 'shininess' (one of ambient, bias, indices"),
        ({"bias": "much"}, "materials[0].extras.classic.bias: expected a number, got 'much'"),
        ({"specular": [1, 1]}, "materials[0].extras.classic.specular: expected 3 numbers, got [1, 1]"),
        ({"reflectivity": 2}, "materials[0].extras.classic: reflectivity 2 (from 0 to 1)"),
        (
            {"thicknessModel": "thick"},
            "materials[0].extras.classic: unknown thickness model 'thick' (one of path, slab)",
        ),
        ({"textures": [{"mode": "decal"}]}, "materials[0].extras.classic.textures[0].colorTexture: is missing"),
        (
            {"textures": [{"mode": "add", "colorTexture": {"index": 0}}]},
            "materials[0].extras.classic.textures[0]: unknown mode 'add'",
        ),
        (
            {"textures": [{"colorTexture": {"index": 9}}]},
            "materials[0].extras.classic.textures[0].colorTexture.index: names texture 9 of 1",
        ),
    ],
)
def test_faults(tmp_path, members, message):
    with pytest.raises(ViewerError) as raised:
        read(tmp_path, {"classic": members})
    assert f"classic.glb: {message}" in str(raised.value)
