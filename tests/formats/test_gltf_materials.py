"""Materials and textures of glTF: which kind each becomes, what is reported, and images good and bad."""

from __future__ import annotations

import base64
import io
import struct
import zlib

import numpy as np
import pytest
from documents import SQUARE, TWO, Document
from PIL import Image as Pillow

from viewer.base.errors import ViewerError
from viewer.formats import load
from viewer.formats.image.color import linear_from_srgb
from viewer.formats.image.images import decode
from viewer.lighting.lights import scene_lights

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 3, 4), np.uint8)


def encoded(pixels: np.ndarray = PIXELS, kind: str = "PNG", mode: str | None = None) -> bytes:
    file = io.BytesIO()
    image = Pillow.fromarray(pixels)
    (image.convert(mode) if mode else image).save(file, kind)
    return file.getvalue()


def with_materials(*materials: dict) -> Document:
    doc = Document()
    doc.mesh(
        {
            "POSITION": doc.accessor(SQUARE),
            "TEXCOORD_0": doc.accessor(SQUARE[:, :2]),
            "TEXCOORD_1": doc.accessor(SQUARE[:, :2] * 3),
        },
        doc.accessor(TWO),
        material=0,
    )
    doc.json["materials"] = list(materials)
    return doc


def textured(**info) -> Document:
    doc = with_materials({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, **info}, "metallicFactor": 0}})
    doc.json["images"] = [{"bufferView": doc.view(encoded()), "mimeType": "image/png", "name": "dots"}]
    doc.json["textures"] = [{"source": 0}]
    return doc


GLASS = {"KHR_materials_transmission": {"transmissionFactor": 1}}
SOLID = {**GLASS, "KHR_materials_volume": {"thicknessFactor": 1}}


@pytest.mark.parametrize(
    ("pbr", "extensions", "kind", "remark"),
    [
        ({}, {}, "lambert", "rough metal"),
        ({"roughnessFactor": 0}, {}, "mirror", ""),
        ({"roughnessFactor": 0.09}, {}, "mirror", "nearly smooth"),
        ({"roughnessFactor": 0.1}, {}, "lambert", "rough metal"),
        ({"metallicFactor": 0.5, "roughnessFactor": 0}, {}, "mirror", "nearly smooth"),
        ({"metallicFactor": 0.4, "roughnessFactor": 0}, {}, "lambert", "glossy"),
        ({"metallicFactor": 0}, {}, "lambert", ""),
        (
            {"metallicFactor": 0, "roughnessFactor": 0.3},
            {"KHR_materials_specular": {"specularFactor": 0}},
            "lambert",
            "",
        ),
        ({"metallicFactor": 0, "roughnessFactor": 0}, SOLID, "dielectric", ""),
        ({"metallicFactor": 0, "roughnessFactor": 0}, GLASS, "dielectric", "thin-walled"),
        ({"metallicFactor": 0, "roughnessFactor": 0.5}, SOLID, "dielectric", "partly transparent or rough"),
        ({"metallicFactor": 1, "roughnessFactor": 0}, SOLID, "mirror", ""),
        ({"metallicFactor": 0}, {"KHR_materials_transmission": {}}, "lambert", ""),
        ({"metallicFactor": 0}, {"KHR_materials_clearcoat": {}}, "lambert", "layers and effects"),
    ],
)
def test_kinds(pbr, extensions, kind, remark, tmp_path):
    scene = load(with_materials({"pbrMetallicRoughness": pbr, "extensions": extensions}).write(tmp_path))
    assert scene.materials[0].kind == kind
    assert len(scene.warnings) == (1 if remark else 0)
    assert remark in " ".join(scene.warnings)


def test_a_line_per_simplification(tmp_path):
    scene = load(with_materials({}, {}, {}, {"alphaMode": "BLEND"}).write(tmp_path))
    assert scene.warnings == [
        "4 materials: rough metal, drawn matte (Lambert)",
        "1 material: alpha is not used, drawn opaque",
    ]


@pytest.mark.parametrize(("given", "used"), [(1.33, 1.33), (0, 100), (0.5, 1), (1e9, 100)])
def test_indices_of_refraction(given, used, tmp_path):
    scene = load(with_materials({"extensions": {**SOLID, "KHR_materials_ior": {"ior": given}}}).write(tmp_path))
    assert scene.materials[0].ior == used
    assert any("out of range" in warning for warning in scene.warnings) == (given in (0.5, 1e9))


@pytest.mark.parametrize(("given", "used"), [(0.36, 0.36), (0, 0), (-1, 0), (1e9, 1000)])
def test_dispersion_of_glass(given, used, tmp_path):
    pbr = {"metallicFactor": 0, "roughnessFactor": 0}
    extensions = {**SOLID, "KHR_materials_dispersion": {"dispersion": given}, "KHR_materials_ior": {"ior": 1.33}}
    doc = with_materials({"pbrMetallicRoughness": pbr, "extensions": extensions})
    doc.json["extensionsUsed"] = sorted(extensions)
    scene = load(doc.write(tmp_path))
    assert (scene.materials[0].dispersion, scene.materials[0].ior) == (used, 1.33)
    assert scene.warnings == (
        [] if given in (0.36, 0) else ["factors out of range were clamped in 1 materials: material 0"]
    )
    assert "KHR_materials_dispersion" not in scene.extensions_ignored


@pytest.mark.parametrize("wrong", ["much", None, [1]])
def test_dispersion_that_is_no_number(wrong, tmp_path):
    doc = with_materials({"extensions": {"KHR_materials_dispersion": {"dispersion": wrong}}})
    with pytest.raises(ViewerError, match=r"materials\[0\]\.extensions\.KHR_materials_dispersion.*dispersion"):
        load(doc.write(tmp_path))


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
    doc.json["samplers"] = [{"wrapS": 33071, "wrapT": 33648, "magFilter": 9728}]
    doc.json["textures"][0]["sampler"] = 0
    texture = load(doc.write(tmp_path)).textures[0]
    assert texture.wrap == ("clamp", "mirrored") and texture.nearest
    # From the extension's definition: translation * rotation * scale.
    cosine, sine = np.cos(0.5), np.sin(0.5)
    np.testing.assert_allclose(texture.transform, [[2 * cosine, 3 * sine, 0.5], [-2 * sine, 3 * cosine, 0.25]])


def test_the_second_set_of_coordinates(tmp_path):
    assert load(textured().write(tmp_path)).meshes[0].uvs.max() == 1
    assert load(textured(texCoord=1).write(tmp_path)).meshes[0].uvs.max() == 3
    moved = textured(extensions={"KHR_texture_transform": {"texCoord": 1}})
    assert load(moved.write(tmp_path)).meshes[0].uvs.max() == 3
    scene = load(textured(texCoord=5).write(tmp_path))
    assert scene.meshes[0].uvs is None
    assert any("lack the texture coordinates" in warning for warning in scene.warnings)


def test_emissive_textures_are_no_lights_to_choose(tmp_path):
    doc = textured()
    doc.json["materials"][0] |= {"emissiveTexture": {"index": 0}, "emissiveFactor": [1, 0.5, 0]}
    scene = load(doc.write(tmp_path))
    (material,) = scene.materials
    assert material.emission == (1, 0.5, 0) and material.emission_texture == material.texture == 0
    assert any("emissive texture: seen" in warning for warning in scene.warnings)
    listed = scene_lights(scene)
    assert listed.count == 0 and not listed.density.any()


def test_an_emissive_texture_of_one_colour_is_an_even_light(tmp_path):
    doc = textured()
    doc.json["images"] = [{"bufferView": doc.view(encoded(np.full((4, 4, 3), (200, 100, 50), np.uint8)))}]
    doc.json["materials"][0] |= {"emissiveTexture": {"index": 0}, "emissiveFactor": [1, 0.5, 0]}
    (material,) = (scene := load(doc.write(tmp_path))).materials
    assert material.emission_texture is None
    np.testing.assert_allclose(material.emission, linear_from_srgb(np.array([200, 100, 50]) / 255) * (1, 0.5, 0))
    assert scene_lights(scene).count > 0


def test_an_emissive_texture_with_coordinates_of_its_own(tmp_path):
    doc = textured()
    doc.json["materials"][0] |= {"emissiveTexture": {"index": 0, "texCoord": 1}, "emissiveFactor": [1, 1, 1]}
    scene = load(doc.write(tmp_path))
    assert scene.meshes[0].uvs.max() == 1
    assert any("instead of its own" in warning for warning in scene.warnings)
    del doc.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
    scene = load(doc.write(tmp_path))
    assert scene.meshes[0].uvs.max() == 3 and scene.materials[0].emission_texture == 0


def png_of(width: int, height: int) -> bytes:
    """A PNG that says this size, with nothing in it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no PNG or JPEG"),
        (b"GIF89a" + bytes(20), "no PNG or JPEG"),
        (encoded()[:60], "no PNG or JPEG"),
        (encoded(np.zeros((40, 40, 3), np.uint8), "JPEG")[:300], "no PNG or JPEG"),
        (png_of(12_000, 12_000), "more than"),
        (png_of(60_000, 60_000), "no PNG or JPEG|more than"),
        (png_of(0, 0), "no PNG or JPEG"),
        (png_of(5, 5), "no PNG or JPEG"),
    ],
)
def test_broken_images_are_white(data, reason, tmp_path):
    with pytest.raises(ViewerError, match=reason):
        decode(data, "here")
    doc = textured()
    doc.json["images"] = [{"bufferView": doc.view(data)}]
    scene = load(doc.write(tmp_path))
    assert len(scene.warnings) == 1 and "images[0] not read, white instead" in scene.warnings[0]
    np.testing.assert_array_equal(scene.textures[0].image.texels, [[[255] * 4]])


@pytest.mark.parametrize(
    "uri", ["../dots.png", "/etc/passwd", "https://example.org/dots.png", "none.png", "data:image/png;base64,!", "."]
)
def test_images_elsewhere_are_not_opened(uri, tmp_path):
    doc = textured()
    doc.json["images"] = [{"uri": uri}]
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "dots.png").write_bytes(encoded())
    scene = load(doc.write(inner))
    assert any("white instead" in warning for warning in scene.warnings)
    assert scene.textures[0].image.size == (1, 1)


def test_references_out_of_range_are_white(tmp_path):
    for key, value in (("source", 7), ("sampler", 3), ("source", "no")):
        doc = textured()
        doc.json["textures"][0][key] = value
        scene = load(doc.write(tmp_path))
        assert any("white instead" in warning for warning in scene.warnings), (key, value)
    assert any("names texture 4" in warning for warning in load(textured(index=4).write(tmp_path)).warnings)


def test_kinds_of_pictures():
    grey = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    np.testing.assert_array_equal(decode(encoded(grey), "").texels[..., 1], grey)
    deep = grey.astype(np.uint16) * 257  # 16 bits: the upper eight are kept
    np.testing.assert_array_equal(decode(encoded(deep), "").texels[..., 2], grey)
    np.testing.assert_array_equal(decode(encoded(grey, mode="P"), "").texels[..., 0], grey)
    flat = np.full((16, 16, 3), (200, 100, 50), np.uint8)
    jpeg = decode(encoded(flat, "JPEG"), "").texels
    assert np.abs(jpeg[..., :3].astype(int) - flat).max() <= 3  # a flat picture survives the coding to its rounding


def test_real_textures(shared_scenes):
    sizes = {"BoxTextured": (256, 256), "Duck": (512, 512), "DamagedHelmet": (2048, 2048)}
    for name, size in sizes.items():
        scene = load(shared_scenes / "models" / f"{name}.glb")
        assert {texture.image.size for texture in scene.textures} == {size}
        assert len(scene.textures) == (2 if name == "DamagedHelmet" else 1)  # its lamps shine through one of their own
        assert not any("white" in warning for warning in scene.warnings)
