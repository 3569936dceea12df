"""Materials and textures of glTF: the fields of each extension, faults in them, and images good and bad."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import pytest
from documents import SQUARE
from looks import full, textured, with_materials
from picture_bytes import PIXELS, encoded

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.formats.image.images import ImageMemory, decode, read_image
from raystream.scene.material import TEXTURE_FIELDS
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


def test_an_unknown_alpha_mode(tmp_path):
    with pytest.raises(ViewerError, match=r"materials\[0\].alphaMode: unknown: 'mask' .*OPAQUE, MASK, BLEND"):
        load(with_materials({"alphaMode": "mask"}).write(tmp_path))


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


def test_samplers_and_transforms(tmp_path):
    transform = {"offset": [0.5, 0.25], "rotation": 0.5, "scale": [2, 3]}
    doc = textured(extensions={"KHR_texture_transform": transform})
    doc.json["samplers"] = [{"wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9985}]
    doc.json["textures"][0]["sampler"] = 0
    texture = load(doc.write(tmp_path)).textures[0]
    assert texture.wrap == ("clamp", "mirrored") and texture.nearest
    assert texture.minification == "linear_mipmap_nearest"
    # From the extension's definition: translation * rotation * scale.
    cosine, sine = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(texture.transform, [[2 * cosine, 3 * sine, 0.5], [-2 * sine, 3 * cosine, 0.25]])


@pytest.mark.parametrize(
    ("named", "slots", "sets"),
    [
        ((0, 0), [0, 0], (1, 3)),
        ((1, 1), [1, 1], (1, 3)),
        ((0, 1), [0, 1], (1, 3)),
        ((2, 2), [0, 0], (7, None)),
        ((1, 2), [0, 1], (3, 7)),
        ((5, 2), [1, 0], (7, None)),
    ],
)
def test_sets_of_coordinates(named, slots, sets, tmp_path):
    """TEXCOORD_0 and _1 become a mesh's two sets, unless its material's textures name others."""
    doc = textured(texCoord=named[0])
    doc.json["materials"][0]["normalTexture"] = {"index": 0, "texCoord": named[1]}
    attributes = doc.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["TEXCOORD_2"] = doc.accessor(SQUARE[:, :2] * 7)
    scene = load(doc.write(tmp_path))
    assert [texture.uv_set for texture in scene.textures] == slots
    (mesh,) = scene.meshes
    found = tuple(None if uvs is None else uvs.max() for uvs in (mesh.uvs, mesh.uvs_1))
    assert found == sets
    assert [("lack the texture coordinates" in line) for line in scene.warnings] == ([True] if 5 in named else [])


def png_of(width: int, height: int) -> bytes:
    """A PNG that says this size, with nothing in it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


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


def test_real_textures(shared_scenes):
    sizes = {"BoxTextured": (256, 256), "Duck": (512, 512), "DamagedHelmet": (2048, 2048)}
    for name, size in sizes.items():
        scene = load(shared_scenes / "models" / f"{name}.glb")
        assert {texture.image.size for texture in scene.textures} == {size}
        assert len(scene.textures) == (4 if name == "DamagedHelmet" else 1)
        assert not any("white" in warning for warning in scene.warnings)
