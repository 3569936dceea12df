"""Textures and materials of glTF as people have them: files of the field, by value, and others of each kind."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import SQUARE, TWO, Document
from fields import field, picture
from looks import textured, with_materials
from picture_bytes import encoded

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.scene.scene import Scene

GLOSS = "KHR_materials_pbrSpecularGlossiness"


def seen_straight(doc: Document) -> Document:
    """The document's square (0, 0) to (1, 1), which an orthographic camera sees whole, head-on."""
    doc.json["cameras"] = [{"type": "orthographic", "orthographic": {"xmag": 0.5, "ymag": 0.5, "znear": 0.1}}]
    doc.json["nodes"].append({"camera": 0, "translation": [0.5, 0.5, 3]})
    doc.json["scenes"][0]["nodes"] = [0, len(doc.json["nodes"]) - 1]
    return doc


# Textures


def test_the_three_sets_of_coordinates_of_the_field(device: Any) -> None:
    scene = load(field("g01_three_uv_sets.gltf"))
    assert scene.warnings == []
    found = picture(scene, device)
    for column in (5, 12, 18):
        np.testing.assert_allclose(found[12, column], (0, 1, 0), atol=1e-6)


SETS = np.float32([[0, 0], [1, 0], [1, 1], [0, 1]])


def meshes_of(*materials: tuple[int, ...], sets: int = 8) -> Document:
    """A mesh and a material for each tuple of sets, which its base colour, normals and emission use. A mesh's set k is
    the square's corners times k + 1."""
    doc = Document()
    attributes = {"POSITION": doc.accessor(SQUARE)}
    attributes |= {f"TEXCOORD_{k}": doc.accessor(SETS * (k + 1)) for k in range(sets)}
    corners = doc.accessor(TWO)
    doc.json["images"] = [{"bufferView": doc.view(encoded())}]
    doc.json["textures"] = [{"source": 0}]
    doc.json["materials"] = []
    for number, used in enumerate(materials):
        doc.mesh(attributes, corners, material=number)
        color, normal, emission = (*used, *used, *used)[:3]
        doc.json["materials"].append(
            {
                "pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "texCoord": color}},
                "normalTexture": {"index": 0, "texCoord": normal},
                "emissiveTexture": {"index": 0, "texCoord": emission},
                "emissiveFactor": [1, 1, 1],
            }
        )
    doc.json["nodes"] = [{"mesh": k} for k in range(len(materials))]
    doc.json["scenes"] = [{"nodes": list(range(len(materials)))}]
    return doc


def sets_seen(scene: Scene, mesh: int, material: int) -> list[int]:
    """The sets of the file that a material's base colour, normals and emission have on a mesh."""
    own, shape = scene.materials[material], scene.meshes[mesh]
    found = []
    for number in (own.texture, own.normal_texture, own.emission_texture):
        uvs = (shape.uvs, shape.uvs_1)[scene.textures[number].uv_set]
        found.append(int(uvs.max()) - 1)
    return found


@pytest.mark.parametrize(
    "materials",
    [
        [(0,), (1,), (2,), (3,)],
        [(0, 1), (2, 3), (4, 5)],
        [(5, 2), (2, 5), (0, 7)],
        [(1, 0), (1,), (0, 1)],
        [(7,), (0,), (7, 6, 7)],
    ],
)
def test_every_mesh_has_the_sets_of_its_material(materials: list[tuple[int, ...]], tmp_path: Path) -> None:
    scene = load(meshes_of(*materials).write(tmp_path))
    assert scene.warnings == []
    for number, used in enumerate(materials):
        assert sets_seen(scene, number, number) == list((*used, *used, *used)[:3])


def test_one_mesh_in_materials_of_other_sets(tmp_path: Path) -> None:
    """Primitives that share their accessors, and the same texture in both materials."""
    doc = meshes_of((2,), (3,))
    doc.json["meshes"] = [{"primitives": [each["primitives"][0] for each in doc.json["meshes"]]}]
    doc.json["nodes"], doc.json["scenes"] = [{"mesh": 0}], [{"nodes": [0]}]
    scene = load(doc.write(tmp_path))
    assert [sets_seen(scene, k, k)[0] for k in range(2)] == [2, 3] and scene.warnings == []


def test_variants_of_other_sets_share_their_mesh(tmp_path: Path) -> None:
    doc = meshes_of((0,), (4,), (3, 2))
    doc.json["extensions"] = {"KHR_materials_variants": {"variants": [{"name": "v"}]}}
    mappings = [{"material": 1, "variants": [0]}]
    doc.json["meshes"][0]["primitives"][0]["extensions"] = {"KHR_materials_variants": {"mappings": mappings}}
    scene = load(doc.write(tmp_path))
    assert scene.warnings == []
    assert sets_seen(scene, 0, 0) == [0] * 3 and sets_seen(scene, 0, 1) == [4] * 3
    assert sets_seen(scene, 2, 2) == [3, 2, 3]  # no variant's


def test_a_third_set_of_one_material_is_told(tmp_path: Path) -> None:
    scene = load(meshes_of((2, 3, 4), (5, 6)).write(tmp_path))
    assert sets_seen(scene, 0, 0) == [2, 3, 2] and sets_seen(scene, 1, 1) == [5, 6, 5]
    place = "materials[0].emissiveTexture"
    assert scene.warnings == [f"{place}: TEXCOORD_4 is a third set of texture coordinates; TEXCOORD_2 is used"]


def test_morph_targets_move_the_sets_of_the_material(tmp_path: Path) -> None:
    doc = meshes_of((3, 2))
    doc.json["meshes"][0]["primitives"][0]["targets"] = [{"TEXCOORD_3": doc.accessor(SETS), "TEXCOORD_1": 0}]
    doc.json["meshes"][0]["weights"] = [1]
    mesh = load(doc.write(tmp_path)).meshes[0]
    assert (mesh.uvs.max(), mesh.uvs_1.max()) == (3, 5)


@pytest.mark.parametrize("texture", [{}, {"source": None}, {"extensions": {"MSFT_texture_dds": {"source": 0}}}])
def test_a_texture_without_an_image_is_white_and_told(texture: dict[str, Any], tmp_path: Path, device: Any) -> None:
    doc = seen_straight(textured())
    doc.json["textures"] = [texture]
    doc.json["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"] = [0.5, 0.25, 1, 1]
    doc.json["materials"][0] |= {"normalTexture": {"index": 0}, "extensions": {"KHR_materials_unlit": {}}}
    scene = load(doc.write(tmp_path))
    assert "textures[0] has no image of a known format; white instead" in scene.warnings
    assert scene.materials[0].normal_texture is None  # white would be a normal askew
    np.testing.assert_allclose(picture(scene, device)[12, 12], (0.5, 0.25, 1), atol=1e-6)
    del doc.json["materials"][0]["extensions"]
    doc.json["materials"][0]["emissiveTexture"] = {"index": 0}
    doc.json["materials"][0]["emissiveFactor"] = [1, 0.5, 0.25]
    assert load(doc.write(tmp_path)).materials[0].emission == (1, 0.5, 0.25)


def test_the_color_key_of_the_field(device: Any) -> None:
    scene = load(field("g22f_rgb16_trns.gltf"))
    alpha = scene.textures[0].image.texels[..., 3]
    assert not alpha[:, : alpha.shape[1] // 2].any() and (alpha[:, alpha.shape[1] // 2 :] == 65535).all()
    found = picture(scene, device)
    np.testing.assert_allclose(found[12, 18], (0, 1, 0), atol=1e-6)
    np.testing.assert_allclose(found[12, 6], (1, 1, 1), atol=1e-6)  # the furnace behind it


# Specular and glossiness


def glossy(texture: np.ndarray | None = None, **members: Any) -> Document:
    doc = seen_straight(with_materials({"extensions": {GLOSS: members}}))
    if texture is not None:
        doc.json["images"] = [{"bufferView": doc.view(encoded(texture))}]
        doc.json["textures"] = [{"source": 0}]
    doc.json["extensionsUsed"] = doc.json["extensionsRequired"] = [GLOSS]
    return doc


def test_the_green_of_the_field(device: Any) -> None:
    scene = load(field("g10_specgloss1.gltf"))
    assert scene.warnings == [] and GLOSS not in scene.extensions_ignored
    np.testing.assert_allclose(picture(scene, device)[9:15, 9:15], np.broadcast_to((0, 1, 0), (6, 6, 3)), atol=1e-3)


def test_a_furnace_sees_diffuse_and_specular_colors(device: Any, tmp_path: Path) -> None:
    """Head-on a mirror has its specular colour, and what it reflects is not diffuse."""
    gold = [1, 0.766, 0.336]
    for members, want in (
        ({"diffuseFactor": [0, 1, 0, 1], "specularFactor": [0, 0, 0], "glossinessFactor": 0}, (0, 1, 0)),
        ({"diffuseFactor": [0, 0, 0, 1], "specularFactor": gold, "glossinessFactor": 1}, gold),
        ({"diffuseFactor": [1, 1, 1, 1], "specularFactor": [1, 1, 1], "glossinessFactor": 1}, (1, 1, 1)),
        ({"diffuseFactor": [0, 0, 0, 1], "specularFactor": [0.01, 0.01, 0.01], "glossinessFactor": 1}, (0.01,) * 3),
        ({}, (1, 1, 1)),  # defaults: diffuse and specular white, glossy
    ):
        found = picture(load(glossy(**members).write(tmp_path)), device, spp=64)[8:16, 8:16].mean(axis=(0, 1))
        np.testing.assert_allclose(found, want, atol=0.012)


def test_it_is_the_dielectric_of_that_reflectance(tmp_path: Path) -> None:
    members = {"diffuseFactor": [0.1, 0.2, 0.3, 0.4], "specularFactor": [0.04, 0.02, 0.03], "glossinessFactor": 0.7}
    doc = glossy(**members)
    # the extension goes before what it stands beside
    doc.json["materials"][0]["pbrMetallicRoughness"] = {"baseColorFactor": [1, 0, 0, 1], "metallicFactor": 1}
    (material,) = load(doc.write(tmp_path)).materials
    assert material.base_color == (0.1, 0.2, 0.3, 0.4) and material.metallic == 0 and material.specular_factor == 1
    np.testing.assert_allclose((*material.specular_color, material.roughness), (1, 0.5, 0.75, 0.3))


@pytest.mark.parametrize("depth", [np.uint8, np.uint16])
def test_a_texture_has_specular_color_and_glossiness(depth: Any, tmp_path: Path) -> None:
    most = np.iinfo(depth).max
    texels = np.zeros((2, 4, 4), depth)
    texels[0] = np.array([[1, 0.5, 0.25, 1], [0.5, 0.5, 0.5, 0.5], [0, 0, 0, 0], [0.04, 0, 0, 0.25]]) * most
    doc = glossy(texels if depth == np.uint8 else None, specularFactor=[0.5, 0.5, 0.5], glossinessFactor=0.8)
    if depth == np.uint16:
        doc.json["images"] = [{"bufferView": doc.view(png16(texels))}]
        doc.json["textures"] = [{"source": 0}]
    doc.json["materials"][0]["extensions"][GLOSS]["specularGlossinessTexture"] = {"index": 0, "texCoord": 1}
    scene = load(doc.write(tmp_path))
    (material,) = scene.materials
    color, factor, rough = (
        scene.textures[getattr(material, f"{name}_texture")]
        for name in ("specular_color", "specular_factor", "metallic_roughness")
    )
    assert {each.uv_set for each in (color, factor, rough)} == {1}
    np.testing.assert_array_equal(color.image.texels, texels)
    assert (color.content, factor.content, rough.content) == ("color", "data", "data")
    np.testing.assert_allclose(material.specular_color, (12.5,) * 3)
    assert (material.roughness, material.specular_factor) == (1, 1)
    np.testing.assert_allclose(rough.image.texels[0, :, 1] / most, 1 - 0.8 * texels[0, :, 3] / most, atol=1 / most)
    # 0.05 of sRGB is 0.0039 linear: half of that is a tenth of the 2 % below which reflection fades
    faint = texels[0, 3, 0] / most / 12.92 / 2 / 0.02
    np.testing.assert_allclose(factor.image.texels[0, :, 3] / most, (1, 1, 0, faint), atol=1 / most)
    assert load(doc.write(tmp_path)).warnings == []


def png16(texels: np.ndarray) -> bytes:
    """Colour and opacity (H, W, 4) of 16 bits."""
    height, width = texels.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in texels)
    header = struct.pack(">IIBBBBB", width, height, 16, 6, 0, 0, 0)
    made = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        made += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return made


def test_a_glossiness_texture_in_a_furnace(device: Any, tmp_path: Path) -> None:
    texels = np.zeros((1, 2, 4), np.uint8)
    texels[0] = [[255, 188, 0, 255], [0, 0, 0, 255]]  # 188 is 0.503 linear
    doc = glossy(texels, diffuseFactor=[0, 0, 0.5, 1], specularGlossinessTexture={"index": 0})
    doc.json["samplers"] = [{"magFilter": 9728, "minFilter": 9728}]
    doc.json["textures"][0]["sampler"] = 0
    found = picture(load(doc.write(tmp_path)), device, spp=64)
    np.testing.assert_allclose(found[8:16, 3:9].mean(axis=(0, 1)), (1, 0.503, 0), atol=0.012)
    np.testing.assert_allclose(found[8:16, 15:21].mean(axis=(0, 1)), (0, 0, 0.5), atol=0.012)


def test_opacity_of_diffuse_textures_and_unlit_ones(device: Any, tmp_path: Path) -> None:
    texels = np.zeros((1, 2, 4), np.uint8)
    texels[0] = [[255, 0, 0, 255], [255, 0, 0, 0]]
    doc = glossy(texels, diffuseTexture={"index": 0}, specularFactor=[0, 0, 0])
    doc.json["samplers"] = [{"magFilter": 9728, "minFilter": 9728}]
    doc.json["textures"][0]["sampler"] = 0
    doc.json["materials"][0]["alphaMode"] = "MASK"
    for extensions in ({}, {"KHR_materials_unlit": {}}):
        doc.json["materials"][0]["extensions"] |= extensions
        found = picture(load(doc.write(tmp_path)), device)
        np.testing.assert_allclose(found[12, 6], (1, 0, 0), atol=1e-3)
        np.testing.assert_allclose(found[12, 18], (1, 1, 1), atol=1e-3)
    doc.json["materials"][0]["pbrMetallicRoughness"] = {"baseColorFactor": [0, 1, 0, 1]}
    np.testing.assert_allclose(picture(load(doc.write(tmp_path)), device)[12, 18], (0, 1, 0), atol=1e-3)


def test_faults_of_glossiness_are_named(tmp_path: Path) -> None:
    for members, words in (
        ({"diffuseFactor": [1, 1, 1]}, r"KHR_materials_pbrSpecularGlossiness.diffuseFactor: expected 4 numbers"),
        ({"glossinessFactor": "high"}, r"glossinessFactor: expected a number"),
        ({"specularGlossinessTexture": {"index": 3}}, r"specularGlossinessTexture.index: names texture 3 of 0"),
    ):
        with pytest.raises(ViewerError, match=words):
            load(glossy(**members).write(tmp_path))
    scene = load(glossy(glossinessFactor=3, specularFactor=[2, 0, 0]).write(tmp_path))
    assert scene.warnings == ["factors out of range were clamped in 1 materials: material 0"]
