"""What a scene's materials bring into the generated source: each part by the least that asks for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raystream.materials.surface_features import material_features
from raystream.scene.material import Material
from raystream.scene.texture import Image, Texture

TEXTURES = [Texture(Image(np.full((2, 2, 4), 128, np.uint8), "map"))]
BASE = {"dielectric"}  # of a material that is not all metal
LOBES: list[tuple[dict[str, Any], set[str]]] = [
    ({}, BASE),
    ({"metallic": 1.0}, {"metal"}),
    ({"metallic": 1.0, "metallic_roughness_texture": 0}, {"metal", "dielectric"}),  # a texel may say 0
    ({"metallic": 0.01}, {"metal", "dielectric"}),
    ({"metallic": 0.0, "metallic_roughness_texture": 0}, BASE),  # times nothing
    ({"specular_factor": 0.5}, {*BASE, "specular"}),
    ({"specular_color": (1.0, 1.0, 0.9)}, {*BASE, "specular"}),
    ({"transmission": 0.1}, {*BASE, "transmission"}),
    ({"thickness": 0.1}, BASE),  # of what nothing passes
    ({"thickness": 0.1, "transmission": 0.1}, {*BASE, "transmission", "volume"}),
    ({"thickness": 0.1, "diffuse_transmission": 0.1}, {*BASE, "diffuse_transmission", "volume"}),
    ({"anisotropy": 0.1}, {*BASE, "anisotropy"}),
    ({"clearcoat": 0.1}, {*BASE, "clearcoat"}),
    ({"clearcoat": 0.1, "clearcoat_normal_texture": 0}, {*BASE, "clearcoat", "clearcoat_normal"}),
    ({"clearcoat_normal_texture": 0}, BASE),
    ({"iridescence": 0.1}, {*BASE, "iridescence"}),
    ({"sheen_color": (0.0, 0.0, 0.1)}, {*BASE, "sheen"}),
    ({"diffuse_transmission": 0.1}, {*BASE, "diffuse_transmission"}),
    ({"normal_texture": 0}, {*BASE, "normal"}),
    ({"unlit": True}, {*BASE, "unlit"}),
]


@pytest.mark.parametrize(("given", "lobes"), LOBES, ids=lambda found: "-".join(sorted(found)) or "none")
def test_lobes_are_those_that_a_material_asks_for(given: dict[str, Any], lobes: set[str]) -> None:
    plain = {"metallic": 0.0, "roughness": 0.5}
    made = Material(kind="principled", **{**plain, **given})
    assert material_features([made], TEXTURES).lobes == lobes
    other = Material(kind="principled", **plain)
    assert material_features([other, made], TEXTURES).lobes == lobes | BASE  # one of several will do
    assert material_features([Material(kind="lambert")], TEXTURES).lobes == set()
