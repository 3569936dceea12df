"""glTF as people have it: files of the field, by value, and others of each kind; textures and materials, too."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compressed import extra, meshopt
from documents import SQUARE, TWO, Document
from fields import field, picture
from looks import textured, with_materials
from picture_bytes import deep_png, encoded

from raystream.base.errors import ViewerError
from raystream.cli.main import main
from raystream.formats import load
from raystream.scene.scene import Scene

# Slips of exporters


@pytest.mark.parametrize("name", ["g13c_nopad", "g13d_newlines", "g31b_nullname", "g31c_stride0"])
def test_slips_of_the_field(name: str) -> None:
    scene = load(field(f"{name}.gltf"))
    np.testing.assert_array_equal(scene.bounds(), [[-0.5, -0.5, 0], [0.5, 0.5, 0]])
    assert scene.materials[0].base_color == (0, 1, 0, 1) and scene.materials[0].unlit
    assert scene.triangle_count == 2 and scene.warnings == []


@pytest.mark.parametrize(
    "way",
    [
        ("nodes", 0, "name"),
        ("nodes", 0, "camera"),
        ("meshes", 0, "primitives", 0, "attributes", "NORMAL"),
        ("accessors", 0, "sparse"),
        ("materials",),
        ("scene",),
        ("asset", "minVersion"),
    ],
)
def test_null_is_as_good_as_nothing(way: tuple[str | int, ...], tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    place: Any = doc.json
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] = None
    scene = load(doc.write(tmp_path))
    assert scene.triangle_count == 2 and scene.warnings == []


def test_whole_floats_are_integers(tmp_path: Path) -> None:
    """Wherever glTF has an integer."""

    def floats(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: floats(child) for key, child in value.items()}
        if isinstance(value, list):
            return [floats(child) for child in value]
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    doc = textured(texCoord=1)
    doc.json["nodes"] = [{"children": [1, 2]}, {"mesh": 0}, {"mesh": 0, "translation": [2, 0, 0]}]
    doc.json["extensions"] = {"KHR_materials_variants": {"variants": [{"name": "v"}]}}
    mappings = [{"material": 0, "variants": [0]}]
    doc.json["meshes"][0]["primitives"][0]["extensions"] = {"KHR_materials_variants": {"mappings": mappings}}
    doc.json["animations"] = [
        {
            "samplers": [{"input": doc.accessor(np.float32([0, 1])), "output": doc.accessor(SQUARE[:2])}],
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
        }
    ]
    plain = load(doc.write(tmp_path))
    doc.json = floats(doc.json)
    scene = load(doc.write(tmp_path))
    assert scene.triangle_count == plain.triangle_count == 4 and scene.warnings == plain.warnings == []
    assert scene.textures[0].uv_set == 1 and list(scene.variants) == ["v"]
    assert [track.node for track in scene.animations[0].tracks] == [1]
    doc.json["nodes"][0]["children"] = [1.5]
    with pytest.raises(ViewerError, match=r"nodes\[0\].children\[0\]: expected an integer, got 1.5"):
        load(doc.write(tmp_path))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"asset": {"version": 1}}, r"asset.version: glTF '1.0' \(only glTF 2.0 is known; convert the file\)"),
        ({"asset": {"version": "20.0"}}, "version: glTF '20.0'"),
        ({"asset": {"version": "2.1", "minVersion": "2.1"}}, "minVersion: glTF '2.1'"),
        ({"asset": {"minVersion": 1}}, "glTF '1.0'"),
        ({"meshes": {"m": {}}, "asset": {"version": 1}}, r"is glTF 1.0, .*convert it to glTF 2.0"),
    ],
)
def test_version_1_is_named(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json = {key: value for key, value in {**doc.json, **change}.items() if value is not ...}
    with pytest.raises(ViewerError, match=words):
        load(doc.write(tmp_path, "scene.gltf"))


def test_other_forms_of_versions(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    for version in (2, 2.0, "2", "2.0", "2.5"):
        doc.json["asset"] = {"version": version, "minVersion": "2.0"}
        assert load(doc.write(tmp_path)).warnings == []
    del doc.json["asset"]
    assert load(doc.write(tmp_path)).warnings == ["the file has no glTF version; read as 2.0"]
    data = doc.glb()
    (tmp_path / "old.glb").write_bytes(data[:4] + struct.pack("<I", 1) + data[8:])
    with pytest.raises(ViewerError, match=r"version 1 of the .glb container \(it is glTF 1.0; convert"):
        load(tmp_path / "old.glb")


# Extensions without effect


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"extensionsUsed": ["KHR_xmp_json_ld"], "extensionsRequired": ["KHR_xmp_json_ld"]}, "KHR_xmp_json_ld"),
        ({"extensionsUsed": ["EXT_lights_image_based", "KHR_xmp"]}, "EXT_lights_image_based, KHR_xmp"),
        ({"materials": [{"extensions": {"XX_not_declared": {}}}]}, "XX_not_declared"),
        ({"nodes": [{"mesh": 0, "extensions": {"MSFT_lod": {"ids": [1]}}}, {}]}, "MSFT_lod"),
        ({"extensionsUsed": [f"X_{k}" for k in range(10)]}, "X_0, X_1, X_2, X_3, X_4, X_5, X_6, X_7 and 2 more"),
    ],
)
def test_extensions_without_effect_are_told(change: dict[str, Any], names: str, tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json |= change
    assert load(doc.write(tmp_path)).warnings == [f"extensions that are not supported have no effect: {names}"]


# Animations


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("g07d_negkey.gltf", "the first key is at -1 seconds, before 0"),
        ("g07c_dupkey.gltf", "key 2 at 1 seconds is not after the one before it, at 1"),
    ],
)
def test_illegal_animations_of_the_field(name: str, words: str) -> None:
    scene = load(field(name))
    assert scene.triangle_count == 2 and not scene.animations and scene.materials[0].base_color == (0, 1, 0, 1)
    (note,) = scene.warnings
    assert note.startswith("an animation is left out: animations[0].samplers[0].input: accessor ") and words in note


# Left out by --lenient


def two_meshes() -> Document:
    """A square in red, whose parts the tests damage, and one in green."""
    doc = Document()
    for color in ([1, 0, 0, 1], [0, 1, 0, 1]):
        doc.square(material=len(doc.json["meshes"]))
        doc.json.setdefault("materials", []).append({"pbrMetallicRoughness": {"baseColorFactor": color}})
    doc.json["nodes"] = [{"mesh": 0}, {"mesh": 1, "translation": [2, 0, 0]}]
    doc.json["scenes"] = [{"nodes": [0, 1]}]
    return doc


@pytest.mark.parametrize(
    ("way", "value", "triangles", "words"),
    [
        (("accessors", 0, "count"), 999, 2, r"accessors[0].count: 999 elements end at"),
        (("accessors", 0, "type"), "VEC2", 2, r"POSITION: accessor 0 is VEC2"),
        (("bufferViews", 0, "buffer"), 7, 2, r"bufferViews[0].buffer: names buffer 7 of 1"),
        (("meshes", 0, "primitives", 0, "mode"), 17, 2, "mode: unknown mode 17"),
        (("meshes", 0, "primitives", 0), "?", 2, "expected an object"),
        (("meshes", 0, "name"), 5, 2, "name: expected a string"),
        (("nodes", 0, "mesh"), 9, 2, "nodes[0].mesh: names mesh 9 of 2"),
        (("nodes", 0, "children"), [9], 4, "nodes[0].children[0]: names node 9 of 2"),
        (("nodes", 0, "matrix"), [1] * 16, 4, "nodes[0].matrix: its last row"),
        (("nodes", 0, "camera"), "?", 4, "nodes[0].camera: expected an integer"),
        (("nodes", 0, "skin"), 3, 2, "nodes[0].skin: names skin 3 of 0"),
        (("materials", 0, "pbrMetallicRoughness"), "red", 4, "pbrMetallicRoughness: expected an object"),
        (("materials", 0, "normalTexture"), {"index": 3}, 4, "normalTexture.index: names texture 3 of 0"),
        (("extensionsRequired",), ["XX_magic"], 4, "needs the unknown extension 'XX_magic'"),
    ],
)
def test_lenient_leaves_out_what_is_damaged(
    way: tuple[str | int, ...], value: Any, triangles: int, words: str, tmp_path: Path
) -> None:
    doc = two_meshes()
    place: Any = doc.json
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] = value
    path = doc.write(tmp_path)
    with pytest.raises(ViewerError) as refused:
        load(path)
    assert words in refused.value.where.split(": ")[-1] + ": " + refused.value.what
    scene = load(path, lenient=True)
    assert scene.triangle_count == triangles
    (note,) = [each for each in scene.warnings if each.startswith("a damaged part is left out: ")]
    assert words in note
    green = next(k for k, each in enumerate(scene.materials) if each.base_color == (0, 1, 0, 1))
    assert any((mesh.materials == green).all() for mesh in scene.meshes)


def test_many_damaged_parts_are_counted(tmp_path: Path) -> None:
    doc = two_meshes()
    for k in range(10):
        doc.json["meshes"][0]["primitives"].insert(0, {"attributes": {"POSITION": 100 + k}})
    scene = load(doc.write(tmp_path), lenient=True)
    assert len(scene.warnings) == 4 and scene.warnings[3] == "7 more damaged parts are left out"
    assert scene.triangle_count == 4


def test_what_is_damaged_as_a_whole_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No empty picture of a file of which nothing stays."""
    doc = Document()
    doc.square()
    doc.json["accessors"][0]["count"] = 99
    path = str(doc.write(tmp_path))
    assert main(["render", path, "-o", str(tmp_path / "a.png"), "--lenient"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "accessors[0].count: 99 elements end at byte" in line and not (tmp_path / "a.png").exists()


# Meshes


def test_a_scene_without_triangles_has_a_picture(tmp_path: Path, device: Any) -> None:
    """Materials with details, of lines without length."""
    doc = with_materials({})
    primitive = doc.json["meshes"][0]["primitives"][0]
    primitive["mode"], primitive["indices"] = 1, doc.accessor(np.zeros(2, np.uint16))
    detailed: list[dict[str, Any]] = [
        {"alphaMode": "BLEND", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 0.5]}},
        {"extensions": {"KHR_materials_anisotropy": {"anisotropyStrength": 0.5}}},
        {"emissiveFactor": [1, 1, 1]},
    ]
    for material in detailed:
        doc.json["materials"] = [material]
        scene = load(doc.write(tmp_path))
        assert scene.triangle_count == 0 and "the scene has no triangles" in scene.warnings
        for options in ({}, {"accel": "two-level-bvh"}, {"program": "whitted"}):
            np.testing.assert_allclose(picture(scene, device, spp=1, **options), 1, atol=1e-6)


@pytest.mark.parametrize("mode", [4, 5, 6])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_restarts_are_told(kind: Any, mode: int, tmp_path: Path) -> None:
    most = int(np.iinfo(kind).max)
    doc = Document()
    positions = np.zeros((most + 1, 3), np.float32)
    positions[:2], positions[most] = SQUARE[:2], SQUARE[3]
    doc.mesh({"POSITION": doc.accessor(positions)}, doc.accessor(np.array([0, 1, most], kind)), mode=mode)
    scene = load(doc.write(tmp_path))
    text = f"1 indices are {most:,}, a primitive restart, which glTF forbids; they are read as that vertex"
    assert scene.warnings == [text] and scene.triangle_count == 1
    doc.json["accessors"][0]["count"] = most
    with pytest.raises(ViewerError, match=rf"index 2 is {most:,}, a primitive restart, and there are {most:,} vert"):
        load(doc.write(tmp_path))


def test_a_fallback_buffer_with_a_uri_is_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extra("meshopt")
    name = "EXT_meshopt_compression"
    doc = meshopt(name)
    plain = [SQUARE.tobytes(), np.tile(np.int8([0, 0, 127, 0]), (4, 1)).tobytes(), TWO.tobytes()]
    views = [each for each in doc.json["bufferViews"] if "extensions" in each]
    at = 0
    for view, data in zip(views, plain, strict=True):
        view |= {"byteOffset": at, "byteLength": len(data)}
        at += len(data)
    (tmp_path / "fallback.bin").write_bytes(b"".join(plain))
    doc.json["buffers"][1] = {"byteLength": at, "uri": "fallback.bin", "extensions": {name: {"fallback": True}}}
    del doc.json["extensionsRequired"]
    doc.json["extensionsUsed"] = [name]
    packed = load(doc.write(tmp_path))
    monkeypatch.setitem(sys.modules, "meshopt", None)
    monkeypatch.setattr("raystream.formats.gltf.accessors.installed", lambda module: False)
    scene = load(doc.write(tmp_path))
    assert scene.warnings == packed.warnings == []
    np.testing.assert_array_equal(scene.meshes[0].positions, packed.meshes[0].positions)
    del doc.json["buffers"][1]["uri"]
    with pytest.raises(ViewerError, match="needs the decoder meshopt"):
        load(doc.write(tmp_path))


GLOSS = "KHR_materials_pbrSpecularGlossiness"


def seen_straight(doc: Document) -> Document:
    """The document's square (0, 0) to (1, 1), which an orthographic camera sees whole, head-on."""
    doc.json["cameras"] = [{"type": "orthographic", "orthographic": {"xmag": 0.5, "ymag": 0.5, "znear": 0.1}}]
    doc.json["nodes"].append({"camera": 0, "translation": [0.5, 0.5, 3]})
    doc.json["scenes"][0]["nodes"] = [0, len(doc.json["nodes"]) - 1]
    return doc


# Textures


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
        doc.json["images"] = [{"bufferView": doc.view(deep_png(texels))}]
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
