"""What a scene's materials bring into the generated source: each part by the least that asks for it."""

from __future__ import annotations

from typing import Any

import glsl_call
import numpy as np
import pytest

from raystream.kernels.records import INTERACTION
from raystream.materials.media import MEDIA, ray_media
from raystream.materials.surface_features import material_features
from raystream.materials.textures import textures
from raystream.scene.material import Material
from raystream.scene.texture import Image, Texture
from raystream.stream.declare.record import Field, Record

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


COUNT = 16
PRINCIPLED = Record("Principled", Field("iridescence", "float"))


@pytest.fixture
def numbers() -> np.ndarray:
    return np.random.default_rng(1).uniform(-2, 2, (8, COUNT, 3)).astype(np.float32)


def test_textures_are_white(device: Any, numbers: np.ndarray) -> None:
    for signature, width in (
        ("vec3 texture_color(int number, vec3 place)", 3),
        ("vec4 texture_texel(int number, vec3 place, vec3 second, bool color)", 4),
    ):
        arguments = np.arange(COUNT) - 1, numbers[0], numbers[1], np.arange(COUNT) % 2 == 0
        function = glsl_call.Function(device, signature, modules=[textures([])])
        np.testing.assert_array_equal(function(*arguments[: len(function.inputs)])[0], np.ones((COUNT, width)))


def test_rays_have_no_width(device: Any, numbers: np.ndarray) -> None:
    """And keep the cone that they do not have."""
    include = ["shading/cone_none.glsl"]
    pixel, cone, t = np.zeros((COUNT, 2), np.int32), numbers[0][:, :2], numbers[1][:, 0]
    begun = glsl_call.Function(device, "vec2 cone_of_pixel(ivec2 pixel, int number, vec3 direction)", include)
    assert not begun(pixel, np.arange(COUNT), numbers[2])[0].any()
    width = glsl_call.Function(device, "float cone_width(vec2 cone, vec3 origin, float t)", include)
    assert not width(cone, numbers[2], t)[0].any()
    scattered = glsl_call.Function(device, "vec2 cone_scattered(vec2 cone, float pdf)", include)
    np.testing.assert_array_equal(scattered(cone, np.abs(t))[0], cone)


def test_no_medium_takes_light_or_turns_a_surface(device: Any, numbers: np.ndarray) -> None:
    told = (
        "void told(Interaction at, vec3 way, float distance, vec3 light, out vec3 left, out int number, out vec3 after)"
    )
    text = f"""{told} {{
        Media media = media_behind(media_of(3), at, way);
        left = media_transmitted(media, at, way, distance, light);
        number = media_number(media);
        media_surround(media, at);
        after = at.normal + at.position;
    }}"""
    at = np.zeros(COUNT, INTERACTION.dtype)
    at["position"], at["normal"] = numbers[0], numbers[1]
    modules = [ray_media(INTERACTION, nested=False)]
    assert MEDIA[False].fields == ()
    left, number, after = glsl_call.Function(device, told, modules=modules, records=[INTERACTION], text=text)(
        at, numbers[2], numbers[3][:, 0], np.abs(numbers[4])
    )
    np.testing.assert_array_equal(left, np.abs(numbers[4]))
    assert not number.any()
    np.testing.assert_array_equal(after, numbers[0] + numbers[1])


def test_no_film_changes_what_is_reflected(device: Any, numbers: np.ndarray) -> None:
    told = "void told(Principled own, vec3 color, inout vec3 metal, inout vec3 dielectric)"
    text = f"""{told} {{
        film_facet(film_of(own), 0.5, color, color, 0.5, metal, dielectric);
        film_albedo(film_of(own), 0.5, color, color, 0.5, false, 1.5, 0.9, 0.1, metal, dielectric);
    }}"""
    function = glsl_call.Function(device, told, ["materials/lobes/film_none.glsl"], (), [PRINCIPLED], text)
    metal, dielectric = function(np.ones(COUNT, PRINCIPLED.dtype), numbers[0], numbers[1], numbers[2])
    np.testing.assert_array_equal(metal, numbers[1])
    np.testing.assert_array_equal(dielectric, numbers[2])
