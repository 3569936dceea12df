"""Materials and textures of glTF: fields, defaults and limits of each extension, samplers, images good and bad."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from looks import full, textured, with_materials
from picture_bytes import PIXELS, encoded, png

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.gltf.reader import APPLIED
from raystream.formats.image.images import ImageMemory, decode, read_image
from raystream.scene.material import TEXTURE_FIELDS, Material
from raystream.scene.texture import Image

FACTORS = {
    "base_color": (0.1, 0.2, 0.3, 0.4),
    "metallic": 0.5,
    "roughness": 0.6,
    "normal_scale": -0.5,
    "emission": (1, 0.5, 2),
    "alpha_mode": "mask",
    "alpha_cutoff": 0.7,
    "double_sided": True,
    "unlit": False,
    "anisotropy": 0.11,
    "anisotropy_rotation": 7.5,
    "clearcoat": 0.12,
    "clearcoat_roughness": 0.13,
    "clearcoat_normal_scale": 0.14,
    "diffuse_transmission": 0.15,
    "diffuse_transmission_color": (0.16, 0.17, 0.18),
    "dispersion": 0.36,
    "ior": 1.4,
    "iridescence": 0.19,
    "iridescence_ior": 1.21,
    "iridescence_thickness": (220, 230),
    "sheen_color": (0.24, 0.25, 0.26),
    "sheen_roughness": 0.27,
    "specular_factor": 0.28,
    "specular_color": (1.29, 0.3, 0.31),
    "transmission": 0.32,
    "thickness": 33,
    "attenuation_distance": 34,
    "attenuation_color": (0.35, 0.36, 0.37),
    "priority": 3,
}
# In the order in which `full` describes them, with what their texels stand for.
TEXTURES = {
    "texture": "color",
    "metallic_roughness_texture": "data",
    "anisotropy_texture": "data",
    "clearcoat_texture": "data",
    "clearcoat_roughness_texture": "data",
    "clearcoat_normal_texture": "normal",
    "diffuse_transmission_texture": "data",
    "diffuse_transmission_color_texture": "color",
    "iridescence_texture": "data",
    "iridescence_thickness_texture": "data",
    "sheen_color_texture": "color",
    "sheen_roughness_texture": "data",
    "specular_factor_texture": "data",
    "specular_color_texture": "color",
    "transmission_texture": "data",
    "thickness_texture": "data",
    "normal_texture": "normal",
    "emission_texture": "color",
}


def test_every_field(tmp_path):
    scene = load(full().write(tmp_path))
    (material,) = scene.materials
    assert material.kind == "principled" and material.name == "everything"
    assert {name: getattr(material, name) for name in FACTORS} == FACTORS
    assert set(TEXTURES) == set(TEXTURE_FIELDS)
    for number, (name, content) in enumerate(TEXTURES.items(), 1):
        texture = scene.textures[getattr(material, name)]
        assert (texture.transform[0, 2], texture.content, texture.uv_set) == (number, content, 1), name
    assert not scene.warnings and not scene.extensions_ignored


def members(value, way=()) -> list[tuple]:
    """The ways to the members of a JSON value that hold no others."""
    items = value.items() if isinstance(value, dict) else ()
    found = [each for key, child in items for each in members(child, (*way, key))]
    return found or [way]


WAYS = [way for way in members(full().json["materials"][0]) if "extras" not in way]


def test_a_member_of_a_wrong_type_is_named(tmp_path):
    doc = full()
    for *way, last in WAYS:
        place = doc.json["materials"][0]
        for step in way:
            place = place[step]
        right, place[last] = place[last], {"a": 1}
        with pytest.raises(ViewerError, match=rf"materials\[0\][.\w]*\.{last}: "):
            load(doc.write(tmp_path))
        place[last] = right


@pytest.mark.parametrize("extras", [5, None, [], {"priority": "high"}, {"priority": True}, {"priority": 2.5}])
def test_extras_may_be_anything(extras, tmp_path):
    doc = full()
    doc.json["materials"][0]["extras"] = extras
    assert load(doc.write(tmp_path)).materials[0].priority == 0


def test_unlit_leaves_the_rest_alone(tmp_path):
    doc = full()
    doc.json["materials"][0]["extensions"]["KHR_materials_unlit"] = {}
    (material,) = load(doc.write(tmp_path)).materials
    assert material.unlit and material.kind == "principled"
    assert material.base_color == (0.1, 0.2, 0.3, 0.4) and material.alpha_mode == "mask"
    assert material.emission == (0, 0, 0) and material.clearcoat == 0


DULL = {"KHR_materials_specular": {"specularFactor": 0}}
GLASS = {"KHR_materials_transmission": {"transmissionFactor": 1}}
SOLID = {**GLASS, "KHR_materials_volume": {"thicknessFactor": 1}}


@pytest.mark.parametrize(
    ("metallic", "extensions", "more", "kind"),
    [
        (0, DULL, {}, "lambert"),
        (0, {**DULL, "KHR_materials_clearcoat": {}}, {}, "lambert"),
        (0, DULL, {"doubleSided": True, "emissiveFactor": [1, 1, 1]}, "lambert"),
        (0, {}, {}, "principled"),
        (0.1, DULL, {}, "principled"),
        (0, {**DULL, **GLASS}, {}, "principled"),
        (0, {**DULL, "KHR_materials_clearcoat": {"clearcoatFactor": 1}}, {}, "principled"),
        (0, {**DULL, "KHR_materials_sheen": {"sheenColorFactor": [0, 0, 0.1]}}, {}, "principled"),
        (0, {**DULL, "KHR_materials_unlit": {}}, {}, "principled"),
        (0, {**DULL, "KHR_materials_iridescence": {"iridescenceFactor": 1}}, {}, "principled"),
        (0, {**DULL, "KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 1}}, {}, "principled"),
        (0, DULL, {"alphaMode": "BLEND"}, "principled"),
        (0, DULL, {"normalTexture": {"index": 0}}, "principled"),
    ],
)
def test_only_a_diffuse_lobe_is_lambert(metallic, extensions, more, kind, tmp_path):
    doc = textured()
    doc.json["materials"][0] |= {"extensions": extensions, **more}
    doc.json["materials"][0]["pbrMetallicRoughness"]["metallicFactor"] = metallic
    scene = load(doc.write(tmp_path))
    assert scene.materials[0].kind == kind and not scene.warnings


@pytest.mark.parametrize(("given", "used"), [(1.33, 1.33), (0, 100), (0.5, 1), (1e9, 100)])
def test_indices_of_refraction(given, used, tmp_path):
    scene = load(with_materials({"extensions": {**SOLID, "KHR_materials_ior": {"ior": given}}}).write(tmp_path))
    assert scene.materials[0].ior == used
    assert any("out of range" in warning for warning in scene.warnings) == (given in (0.5, 1e9))


@pytest.mark.parametrize("where", ["view", "data", "file"])
@pytest.mark.parametrize("mime", ["image/png", "image/jpeg"])
def test_images_from_everywhere(where, mime, tmp_path):
    doc = textured()
    image = doc.json["images"][0]
    image["mimeType"] = mime  # what it says of itself does not matter
    if where != "view":
        del image["bufferView"]
        image["uri"] = "data:image/png;base64," + base64.b64encode(encoded()).decode()
    if where == "file":
        image["uri"] = "some%20dots.png"
        (tmp_path / "some dots.png").write_bytes(encoded())
    scene = load(doc.write(tmp_path))
    assert not scene.warnings
    assert scene.materials[0].texture == 0
    assert scene.textures[0].image.name == "dots"
    np.testing.assert_array_equal(scene.textures[0].image.texels, PIXELS)
    assert scene.textures[0].wrap == ("repeat", "repeat") and not scene.textures[0].nearest


def test_transforms(tmp_path):
    transform = {"offset": [0.5, 0.25], "rotation": 0.5, "scale": [2, 3]}
    texture = load(textured(extensions={"KHR_texture_transform": transform}).write(tmp_path)).textures[0]
    # From the extension's definition: translation * rotation * scale.
    cosine, sine = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(texture.transform, [[2 * cosine, 3 * sine, 0.5], [-2 * sine, 3 * cosine, 0.25]])


def test_a_set_that_the_mesh_lacks_is_told(tmp_path):
    (warning,) = load(textured(texCoord=5).write(tmp_path)).warnings
    assert "lack the texture coordinates" in warning


def png_of(width: int, height: int) -> bytes:
    """A PNG that says this size, with nothing in it."""
    head = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    return png((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 99)))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "unreadable PNG, JPEG or WebP"),
        (b"GIF89a" + bytes(20), "unreadable PNG, JPEG or WebP"),
        (encoded()[:60], "unreadable PNG, JPEG or WebP"),
        (encoded(np.zeros((40, 40, 3), np.uint8), "JPEG")[:300], "unreadable PNG, JPEG or WebP"),
        (png_of(20_000, 20_000), "more than"),
        (png_of(60_000, 60_000), "unreadable PNG, JPEG or WebP|more than"),
        (png_of(0, 0), "unreadable PNG, JPEG or WebP"),
        (png_of(5, 5), "unreadable PNG, JPEG or WebP"),
    ],
)
def test_broken_images(data, reason, tmp_path):
    """Refused, with file and image; leniently a checkerboard, with a word."""
    with pytest.raises(ViewerError, match=reason):
        read_image(ImageMemory(), data, "here")
    doc = textured()
    doc.json["images"] = [{"bufferView": doc.view(data)}]
    path = doc.write(tmp_path)
    with pytest.raises(ViewerError, match=rf"{path.name}: images\[0\].*: .*({reason})"):
        load(path)
    scene = load(path, lenient=True)
    assert len(scene.warnings) == 1 and "images[0] not read, a checkerboard instead" in scene.warnings[0]
    np.testing.assert_array_equal(scene.textures[0].image.texels, Image.checkerboard().texels)


@pytest.mark.parametrize(
    ("place", "key", "value", "words"),
    [
        ("textures", "source", 7, r"textures\[0\].source: names image 7 of 1"),
        ("textures", "source", "no", r"textures\[0\].source: expected an integer"),
        ("textures", "sampler", 3, r"textures\[0\].sampler: names sampler 3 of 0"),
        ("images", "bufferView", 9, r"images\[0\].bufferView: names buffer view 9 of 5"),
    ],
)
def test_references_out_of_range_are_refused(place, key, value, words, tmp_path):
    doc = textured()
    doc.json[place][0][key] = value
    with pytest.raises(ViewerError, match=words):
        load(doc.write(tmp_path))


def test_kinds_of_pictures():
    grey = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    np.testing.assert_array_equal(decode(encoded(grey), "").texels[..., 1], grey)
    deep = grey.astype(np.uint16) * 257  # 16 bits are kept
    np.testing.assert_array_equal(decode(encoded(deep), "").texels[..., 2], deep)
    np.testing.assert_array_equal(decode(encoded(grey, mode="P"), "").texels[..., 0], grey)
    flat = np.full((16, 16, 3), (200, 100, 50), np.uint8)
    jpeg = decode(encoded(flat, "JPEG"), "").texels
    assert np.abs(jpeg[..., :3].astype(int) - flat).max() <= 3  # a flat picture survives the coding to its rounding


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
        *((np.full((*size, 4), (10, 100, 200, 255), np.uint8), True) for size in ((1, 1), (1, 3), (3, 1), (2, 3))),
        (np.uint8([[[10, 100, 200, 255], [10, 100, 200, 0]]]), True),  # opacity does not shine
        (np.uint8([[[10, 100, 200, 255], [10, 100, 201, 255]]]), False),
        (np.uint8([[[10, 100, 200, 255]], [[11, 100, 200, 255]]]), False),
        (np.full((2, 2), 4000, np.uint16), False),
    ],
)
def test_emission_of_a_picture(pixels: np.ndarray, even: bool, tmp_path: Path) -> None:
    """Kept where a channel of the factor is zero, not where all are."""
    doc = textured()
    doc.json["images"] = [{"bufferView": doc.view(encoded(pixels))}]
    strength = {"KHR_materials_emissive_strength": {"emissiveStrength": 4}}
    doc.json["materials"] = [{"emissiveTexture": {"index": 0}, "emissiveFactor": [1, 0.5, 0], "extensions": strength}]
    (material,) = load(doc.write(tmp_path)).materials
    linear = np.array([10 / 255 / 12.92, ((100 / 255 + 0.055) / 1.055) ** 2.4, ((200 / 255 + 0.055) / 1.055) ** 2.4])
    np.testing.assert_allclose(material.emission, np.array([4, 2, 0]) * (linear if even else 1), rtol=1e-6)
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
