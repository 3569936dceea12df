"""Samplers, textures, defaults and limits of glTF's materials by tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looks import textured, with_materials
from picture_bytes import PIXELS, encoded

from raystream.formats import load
from raystream.formats.gltf.reader import APPLIED
from raystream.scene.material import TEXTURE_FIELDS, Material

WRAPS = {10497: "repeat", 33648: "mirrored", 33071: "clamp", 7: "repeat", None: "repeat"}

SMALLER = {
    9728: "nearest",
    9729: "linear",
    9984: "nearest_mipmap_nearest",
    9985: "linear_mipmap_nearest",
    9986: "nearest_mipmap_linear",
    9987: "linear_mipmap_linear",
    None: "linear_mipmap_linear",
    5: "linear_mipmap_linear",
}


def test_samplers_of_every_kind(tmp_path: Path) -> None:
    """5.26: each way alone, and all that is missing or unknown."""
    samplers: list[dict[str, Any]] = [{"wrapS": code} for code in WRAPS if code] + [
        {"wrapT": code} for code in WRAPS if code
    ]
    samplers += [{"minFilter": code} for code in SMALLER if code] + [{"magFilter": code} for code in (9728, 9729, 3)]
    samplers += [{}, {"wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9729}]
    doc = with_materials(
        *({"pbrMetallicRoughness": {"baseColorTexture": {"index": k}}} for k in range(len(samplers) + 1))
    )
    doc.json["images"] = [{"bufferView": doc.view(encoded())}]
    doc.json["samplers"] = samplers
    doc.json["textures"] = [{"source": 0, "sampler": k} for k in range(len(samplers))] + [{"source": 0, "name": "own"}]
    scene = load(doc.write(tmp_path))
    for k, (sampler, texture) in enumerate(zip([*samplers, {}], scene.textures, strict=True)):
        nearest = sampler.get("magFilter") == 9728
        smaller = SMALLER[sampler.get("minFilter")]
        if nearest and "minFilter" not in sampler:
            smaller = "nearest_mipmap_linear"
        assert texture.wrap == (WRAPS[sampler.get("wrapS")], WRAPS[sampler.get("wrapT")]), sampler
        assert (texture.nearest, texture.minification) == (nearest, smaller), sampler
        assert texture.name == ("own" if k == len(samplers) else f"texture {k}")
        assert texture.image is scene.textures[0].image and texture.image.name == "image 0"
        np.testing.assert_array_equal(texture.transform, [[1, 0, 0], [0, 1, 0]])


def test_textures_alike_are_one(tmp_path: Path) -> None:
    """Same index, move, content and coordinates; each of these makes another."""
    moved = {"KHR_texture_transform": {"offset": [0.5, 0]}}
    info = [{"index": 0}, {"index": 0}, {"index": 1}, {"index": 0, "texCoord": 1}, {"index": 0, "extensions": moved}]
    turned = [
        {"index": 0, "extensions": {"KHR_texture_transform": each}} for each in ({"rotation": 1}, {"scale": [1, 2]})
    ]
    doc = with_materials(
        *({"pbrMetallicRoughness": {"baseColorTexture": each}} for each in (*info, *turned)),
        {"pbrMetallicRoughness": {"metallicRoughnessTexture": {"index": 0}}},
        {"normalTexture": {"index": 0}},
        {"occlusionTexture": {"index": 0}},
    )
    doc.json["images"] = [{"bufferView": doc.view(encoded())}, {"uri": "not opened.png"}]
    doc.json["textures"] = [{"source": 0}, {"source": 0}, {"source": 1}]
    scene = load(doc.write(tmp_path))
    assert [material.texture for material in scene.materials] == [0, 0, 1, 2, 3, 4, 5, None, None, None]
    assert scene.materials[7].metallic_roughness_texture == 6 and scene.materials[8].normal_texture == 7
    assert [texture.content for texture in scene.textures] == ["color"] * 6 + ["data", "normal"]
    assert [texture.uv_set for texture in scene.textures] == [0, 0, 1, 0, 0, 0, 0, 0]


def test_a_transform_of_zeros_of_either_sign_makes_no_other_texture(tmp_path: Path) -> None:
    moves = ({}, {"offset": [-0.0, 0.0]}, {"offset": [0.0, -0.0]}, {"rotation": -0.0})
    info = [{"index": 0, "extensions": {"KHR_texture_transform": move}} for move in moves]
    doc = with_materials(*({"pbrMetallicRoughness": {"baseColorTexture": each}} for each in ({"index": 0}, *info)))
    doc.json["images"], doc.json["textures"] = [{"bufferView": doc.view(encoded())}], [{"source": 0}]
    scene = load(doc.write(tmp_path))
    assert [material.texture for material in scene.materials] == [0] * 5 and len(scene.textures) == 1


def test_a_texture_transform_names_other_coordinates(tmp_path: Path) -> None:
    for own, other, expected in ((1, None, 1), (0, 1, 1), (1, 0, 0)):
        transform = {} if other is None else {"texCoord": other}
        doc = textured(texCoord=own, extensions={"KHR_texture_transform": transform})
        assert load(doc.write(tmp_path)).textures[0].uv_set == expected


DEFAULTS = {
    "base_color": (1, 1, 1, 1),
    "metallic": 1,
    "roughness": 1,
    "normal_scale": 1,
    "emission": (0, 0, 0),
    "alpha_mode": "opaque",
    "alpha_cutoff": 0.5,
    "double_sided": False,
    "backface_culling": True,
    "unlit": False,
    "specular_factor": 1,
    "specular_color": (1, 1, 1),
    "ior": 1.5,
    "dispersion": 0,
    "transmission": 0,
    "diffuse_transmission": 0,
    "diffuse_transmission_color": (1, 1, 1),
    "thickness": 0,
    "attenuation_color": (1, 1, 1),
    "attenuation_distance": math.inf,
    "priority": 0,
    "anisotropy": 0,
    "anisotropy_rotation": 0,
    "clearcoat": 0,
    "clearcoat_roughness": 0,
    "clearcoat_normal_scale": 1,
    "iridescence": 0,
    "iridescence_ior": 1.3,
    "iridescence_thickness": (100, 400),
    "sheen_color": (0, 0, 0),
    "sheen_roughness": 0,
    "kind": "principled",
    "classic": None,
}

OTHERS = ("unlit", "variants", "Glossiness")
LOOKS = [name for name in APPLIED if name.startswith("KHR_materials_") and not name.endswith(OTHERS)]


@pytest.mark.parametrize("material", [{}, {"pbrMetallicRoughness": {}, "extensions": {name: {} for name in LOOKS}}])
def test_defaults_of_materials(material: dict[str, Any], tmp_path: Path) -> None:
    """As the specifications have them, with and without the extensions' empty objects."""
    scene = load(with_materials(material).write(tmp_path))
    (found,) = scene.materials
    assert {name: getattr(found, name) for name in DEFAULTS} == DEFAULTS
    assert all(getattr(found, name) is None for name in TEXTURE_FIELDS)
    assert (found.name, found.source, scene.warnings) == ("material 0", material, [])


LIMITS = [  # member, field, lowest, highest
    ("pbrMetallicRoughness.metallicFactor", "metallic", 0, 1),
    ("pbrMetallicRoughness.roughnessFactor", "roughness", 0, 1),
    ("alphaCutoff", "alpha_cutoff", 0, 1e30),
    ("extensions.KHR_materials_specular.specularFactor", "specular_factor", 0, 1),
    ("extensions.KHR_materials_ior.ior", "ior", 1, 100),
    ("extensions.KHR_materials_transmission.transmissionFactor", "transmission", 0, 1),
    ("extensions.KHR_materials_diffuse_transmission.diffuseTransmissionFactor", "diffuse_transmission", 0, 1),
    ("extensions.KHR_materials_dispersion.dispersion", "dispersion", 0, 1000),
    ("extensions.KHR_materials_volume.thicknessFactor", "thickness", 0, 1e30),
    ("extensions.KHR_materials_volume.attenuationDistance", "attenuation_distance", 1e-30, 1e30),
    ("extensions.KHR_materials_anisotropy.anisotropyStrength", "anisotropy", 0, 1),
    ("extensions.KHR_materials_clearcoat.clearcoatFactor", "clearcoat", 0, 1),
    ("extensions.KHR_materials_clearcoat.clearcoatRoughnessFactor", "clearcoat_roughness", 0, 1),
    ("extensions.KHR_materials_iridescence.iridescenceFactor", "iridescence", 0, 1),
    ("extensions.KHR_materials_iridescence.iridescenceIor", "iridescence_ior", 1, 100),
    ("extensions.KHR_materials_sheen.sheenRoughnessFactor", "sheen_roughness", 0, 1),
]

COLORS = [
    ("extensions.KHR_materials_specular.specularColorFactor", "specular_color", 1e30),
    ("extensions.KHR_materials_diffuse_transmission.diffuseTransmissionColorFactor", "diffuse_transmission_color", 1),
    ("extensions.KHR_materials_volume.attenuationColor", "attenuation_color", 1),
    ("extensions.KHR_materials_sheen.sheenColorFactor", "sheen_color", 1),
    ("emissiveFactor", "emission", 1),
]


def nested(path: str, value: Any) -> dict[str, Any]:
    for step in reversed(path.split(".")):
        value = {step: value}
    return value


def read_one(tmp_path: Path, path: str, value: Any) -> tuple[Material, bool]:
    """The material with one member, and whether a warning says that it was clamped."""
    scene = load(with_materials(nested(path, value)).write(tmp_path))
    clamped = "factors out of range were clamped in 1 materials: material 0"
    assert scene.warnings in ([], [clamped])
    return scene.materials[0], bool(scene.warnings)


@pytest.mark.parametrize(("path", "field", "low", "high"), LIMITS, ids=[each[1] for each in LIMITS])
def test_limits_of_factors(path: str, field: str, low: float, high: float, tmp_path: Path) -> None:
    inside = (low + min(high, low + 1)) / 2
    for given, used in ((low, low), (high, high), (inside, inside), (low - 0.25, low), (high * 1.5, high)):
        material, clamped = read_one(tmp_path, path, given)
        assert (getattr(material, field), clamped) == (used, given != used), given


@pytest.mark.parametrize(("path", "field", "high"), COLORS, ids=[each[1] for each in COLORS])
def test_limits_of_colors(path: str, field: str, high: float, tmp_path: Path) -> None:
    for given, used in (
        ([0, 0.5, high], (0, 0.5, high)),
        ([-1, 0.5, 0.25], (0, 0.5, 0.25)),
        ([0.25, 2 * high, 0.5], (0.25, high, 0.5)),
    ):
        material, clamped = read_one(tmp_path, path, given)
        assert (getattr(material, field), clamped) == (used, tuple(given) != used), given
    material, clamped = read_one(tmp_path, "pbrMetallicRoughness.baseColorFactor", [-1, 0.5, 2, 3])
    assert material.base_color == (0, 0.5, 1, 1) and clamped


@pytest.mark.parametrize(("given", "used"), [(1000, 1000), (1001, 1000), (-1000, -1000), (-1001, -1000), (7, 7)])
def test_priorities(given: int, used: int, tmp_path: Path) -> None:
    assert read_one(tmp_path, "extras.priority", given)[0].priority == used


@pytest.mark.parametrize(
    ("pixels", "even"),
    [
        (np.full((2, 3, 4), (10, 100, 200, 255), np.uint8), True),
        (np.uint8([[[10, 100, 200, 255], [10, 100, 200, 0]]]), True),  # opacity does not shine
        (np.uint8([[[10, 100, 200, 255], [10, 100, 201, 255]]]), False),
        (np.uint8([[[10, 100, 200, 255]], [[11, 100, 200, 255]]]), False),
        (np.full((2, 2), 4000, np.uint16), False),
    ],
)
def test_emission_of_a_picture(pixels: np.ndarray, even: bool, tmp_path: Path) -> None:
    doc = textured()
    doc.json["images"] = [{"bufferView": doc.view(encoded(pixels))}]
    strength = {"KHR_materials_emissive_strength": {"emissiveStrength": 4}}
    doc.json["materials"] = [
        {"emissiveTexture": {"index": 0}, "emissiveFactor": [1, 0.5, 0.25], "extensions": strength}
    ]
    (material,) = load(doc.write(tmp_path)).materials
    linear = np.array([10 / 255 / 12.92, ((100 / 255 + 0.055) / 1.055) ** 2.4, ((200 / 255 + 0.055) / 1.055) ** 2.4])
    np.testing.assert_allclose(material.emission, np.array([4, 2, 1]) * (linear if even else 1), rtol=1e-6)
    assert material.emission_texture == (None if even else 0)
    doc.json["materials"][0]["emissiveFactor"] = [0, 0, 0]
    (material,) = load(doc.write(tmp_path)).materials
    assert material.emission == (0, 0, 0) and material.emission_texture is None


def test_several_unreadable_images_are_counted(tmp_path: Path) -> None:
    doc = with_materials(
        {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, "normalTexture": {"index": 1}},
        {"pbrMetallicRoughness": {"baseColorTexture": {"index": 2}}},
    )
    doc.json["images"] = [{"uri": "none.png"}, {"bufferView": doc.view(encoded())}, {"uri": "no.png"}]
    doc.json["textures"] = [{"source": k} for k in (0, 1, 2)]
    scene = load(doc.write(tmp_path), lenient=True)
    what = "images[0].uri not read, a checkerboard instead: file 'none.png' not found"
    assert scene.warnings == [f"2 images, {what}"]
    assert [texture.image.size for texture in scene.textures] == [(8, 8), (3, 5), (8, 8)]
    np.testing.assert_array_equal(scene.textures[1].image.texels, PIXELS)
