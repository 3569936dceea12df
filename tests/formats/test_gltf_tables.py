"""glTF by tables: every component type, sampler, mode, default and limit, against values that the specification
gives."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import SQUARE, TWO, Document
from looks import PIXELS, encoded, textured, with_materials

from viewer.base.errors import ViewerError
from viewer.formats import load
from viewer.formats.budget import Budget
from viewer.formats.gltf.accessors import Accessors
from viewer.formats.gltf.json import Object, parse
from viewer.formats.gltf.reader import APPLIED, KEPT
from viewer.scene.material import TEXTURE_FIELDS, Material

COUNTS = {"i1": 127, "u1": 255, "i2": 32767, "u2": 65535, "u4": 4294967295}


def accessors(doc: Document, left: int = 1 << 30) -> Accessors:
    budget = Budget("a.gltf")
    budget.left = left
    return Accessors(parse(doc.gltf(), "a.gltf"), Path("a.gltf"), None, budget)


def owner(number: int) -> Object:
    return Object({"it": number}, "a.gltf: owner")


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [*COUNTS, "f4"])
def test_components_of_every_type_and_width(kind: str, width: int) -> None:
    """Plain, with `normalized` false or true, and where all integers are shares whatever the file says."""
    doc = Document()
    if kind == "f4":
        raw = np.float32([0, -0.0, 1, -1, 3.5, 1e30])
    else:
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        raw = np.array([0, 1, low, low + 1, high, high // 2], kind)
    rows = np.stack([np.roll(raw, k) for k in range(width)], axis=1)
    plain = [doc.accessor(rows), doc.accessor(rows, stride=4 * width + 4), doc.accessor(rows, normalized=False)]
    shares = doc.accessor(rows, normalized=True)
    found = accessors(doc)
    exact = rows.astype(np.float64)
    share = exact if kind == "f4" else np.maximum(exact / COUNTS[kind], -1.0)
    for number in plain:
        for normalize, expected in ((False, exact), (True, share)):
            values = found.floats("it", owner(number), (width,), normalize)
            assert values.dtype == np.float32 and values.shape == rows.shape
            np.testing.assert_allclose(values, expected, rtol=1e-7)
    for normalize in (False, True):
        values = found.floats("it", owner(shares), (4, width), normalize)
        np.testing.assert_allclose(values, share, rtol=1e-7)
        assert values is found.floats("it", owner(shares), (width,), normalize)  # read once


def test_what_is_read_is_charged() -> None:
    """4 bytes for each number, 8 for each index, once for values and each time for indices."""
    doc = Document()
    points, corners = doc.accessor(SQUARE), doc.accessor(TWO)
    found = accessors(doc)
    found.view_bytes(0)
    before = found.budget.left
    found.floats("it", owner(points), (3,))
    found.floats("it", owner(points), (3,))
    assert before - found.budget.left == 4 * 12
    found.indices("it", owner(corners))
    found.indices("it", owner(corners))
    assert before - found.budget.left == 4 * 12 + 2 * 8 * 6


@pytest.mark.parametrize("kind", ["u1", "u2", "u4"])
def test_indices_to_the_largest(kind: str) -> None:
    doc = Document()
    raw = np.array([0, 1, np.iinfo(kind).max, np.iinfo(kind).max - 1], kind)
    found = accessors(doc_of(doc, raw)).indices("it", owner(0))
    assert found.dtype == np.int64 and found.tolist() == raw.tolist()


def doc_of(doc: Document, raw: np.ndarray) -> Document:
    doc.accessor(raw)
    return doc


def test_offsets_of_views_and_accessors_add_up() -> None:
    """Two accessors interleaved in one view that does not begin the buffer; bytes around them are another's."""
    doc = Document()
    doc.view(b"\xee" * 20)
    a, b = np.float32([[1, 2], [3, 4], [5, 6]]), np.uint16([[7, 8, 9], [10, 11, 12], [13, 14, 15]])
    data = b"\xee" * 4 + b"".join(x.tobytes() + y.tobytes() + b"\xee\xee" for x, y in zip(a, b, strict=True))
    view = doc.view(data, stride=16)
    doc.json["accessors"] = [
        {"bufferView": view, "byteOffset": 4, "componentType": 5126, "count": 3, "type": "VEC2"},
        {"bufferView": view, "byteOffset": 12, "componentType": 5123, "count": 3, "type": "VEC3"},
        {"bufferView": view, "byteOffset": 20, "componentType": 5126, "count": 2, "type": "VEC2"},
        {"bufferView": view, "byteOffset": 4, "componentType": 5126, "count": 0, "type": "VEC2"},
        {"componentType": 5121, "count": 2, "type": "VEC4", "normalized": True},
    ]
    found = accessors(doc)
    expected = [a, b, a[1:], np.zeros((0, 2)), np.zeros((2, 4))]
    for number, each in enumerate(expected):
        np.testing.assert_array_equal(found.floats("it", owner(number), (each.shape[1],)), each)
    assert found.view_bytes(0) == b"\xee" * 20 and found.view_bytes(1) == data


@pytest.mark.parametrize("last", [0, 3])
def test_the_last_of_sparse_elements(last: int) -> None:
    doc = Document()
    number = doc.accessor(np.uint8([[1, 2], [3, 4], [5, 6], [7, 8]]), normalized=True)
    doc.json["accessors"][number]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": doc.view(np.uint8([last]).tobytes()), "componentType": 5121},
        "values": {"bufferView": doc.view(np.uint8([255, 51]).tobytes())},
    }
    expected = np.array([[1, 2], [3, 4], [5, 6], [7, 8]]) / 255
    expected[last] = 1, 0.2
    np.testing.assert_allclose(accessors(doc).floats("it", owner(number), (2,)), expected, rtol=1e-6)
    doc.json["accessors"][number]["sparse"]["indices"]["componentType"] = 5120
    with pytest.raises(ViewerError, match="indices must be unsigned"):
        accessors(doc).floats("it", owner(number), (2,))


def test_sparse_without_elements_changes_none() -> None:
    doc = Document()
    number = doc.accessor(SQUARE)
    view = doc.view(bytes(4))
    doc.json["accessors"][number]["sparse"] = {
        "count": 0,
        "indices": {"bufferView": view, "componentType": 5121},
        "values": {"bufferView": view},
    }
    np.testing.assert_array_equal(accessors(doc).floats("it", owner(number), (3,)), SQUARE)


def test_buffers_longer_and_shorter_than_they_say(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(20)))
    for length, right in ((19, True), (20, True), (21, False)):
        budget = Budget("a")
        text = b'{"buffers": [{"byteLength": %d, "uri": "a.bin"}], "bufferViews": [{"buffer": 0, "byteLength": 19}]}'
        made = Accessors(parse(text % length, "a.gltf"), tmp_path / "a.gltf", None, budget)
        if right:
            assert made.view_bytes(0) == bytes(range(19))
            assert budget.left == (1 << 30) + 16 * length and budget.empty == (1 << 20) + 16 * length
        else:
            with pytest.raises(ViewerError, match="says 21 bytes, but there are 20"):
                made.view_bytes(0)


@pytest.mark.parametrize("left", [48, 47])
def test_the_budget_is_spent_to_its_last_byte(left: int) -> None:
    doc = Document()
    number = doc.accessor(SQUARE)
    found = accessors(doc)
    found.view_bytes(0)
    found.budget.left = left
    if left == 48:
        found.floats("it", owner(number), (3,))
        assert found.budget.left == 0
    else:
        with pytest.raises(ViewerError, match="expands to"):
            found.floats("it", owner(number), (3,))


def test_zeros_have_a_budget_of_their_own() -> None:
    budget = Budget("a")
    budget.charge(1 << 20, empty=True)
    assert (budget.left, budget.empty) == ((1 << 30) - (1 << 20), 0)
    budget.charge(5)
    assert (budget.left, budget.empty) == ((1 << 30) - (1 << 20) - 5, 0)
    with pytest.raises(ViewerError, match="expands to"):
        budget.charge(1, empty=True)


@pytest.mark.parametrize("count", range(1, 8))
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (4, {3: [[0, 1, 2]], 6: [[0, 1, 2], [3, 4, 5]]}),
        (5, [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4], [4, 5, 6]]),
        (6, [[1, 2, 0], [2, 3, 0], [3, 4, 0], [4, 5, 0], [5, 6, 0]]),
    ],
)
def test_triangles_of_any_number_of_corners(mode: int, expected: Any, count: int, tmp_path: Path) -> None:
    """3.7.2.1: p_i = {v_i, v_(i + 1 + i % 2), v_(i + 2 - i % 2)} of strips, {v_(i + 1), v_(i + 2), v_0} of fans; of a
    list the spare ones are left."""
    doc = Document()
    points = np.float32([[k, k * k, 1] for k in range(8)])
    doc.mesh({"POSITION": doc.accessor(points)}, doc.accessor(np.arange(count, dtype=np.uint8)), mode=mode)
    scene = load(doc.write(tmp_path))
    wanted = (
        expected[count - count % 3] if mode == 4 and count > 2 else [] if mode == 4 else expected[: max(count - 2, 0)]
    )
    (mesh,) = scene.meshes
    np.testing.assert_array_equal(mesh.positions[mesh.triangles], points[np.int64(wanted).reshape(-1, 3)])
    spare = mode == 4 and count % 3 > 0
    assert ("1 triangle lists end with one or two spare indices" in scene.warnings) == spare
    assert ("the scene has no triangles" in scene.warnings) == (not wanted)


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
LOOKS = [name for name in APPLIED if name.startswith("KHR_materials_") and not name.endswith(("unlit", "variants"))]


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


def test_names_of_meshes_and_instances(tmp_path: Path) -> None:
    doc = Document()
    for name in ("cup", "", None):
        doc.square()
        if name is not None:
            doc.json["meshes"][-1]["name"] = name
    doc.json["meshes"][1]["primitives"] *= 2
    doc.json["meshes"][1]["primitives"][1] = {**doc.json["meshes"][1]["primitives"][0], "material": 0}
    doc.json["materials"] = [{}]
    doc.json["nodes"] = [{"mesh": 0, "children": [1, 2]}, {"mesh": 1, "name": "two"}, {"mesh": 2}]
    scene = load(doc.write(tmp_path, "cups.glb"))
    assert [mesh.name for mesh in scene.meshes] == ["cup", "mesh 1/0", "mesh 1/1", "mesh 2"]
    assert [(each.mesh, each.name) for each in scene.instances] == [
        (0, "node 0"),
        (1, "two"),
        (2, "two"),
        (3, "node 2"),
    ]
    assert scene.name == "cups" and scene.materials[1].name == "default"
    assert [mesh.materials.tolist() for mesh in scene.meshes] == [[1, 1], [1, 1], [0, 0], [1, 1]]
    default = scene.materials[1]
    assert (default.base_color, default.metallic, default.roughness, default.kind) == ((1, 1, 1, 1), 1, 1, "principled")
    assert default.backface_culling and not default.double_sided


def test_matrices_are_columns(tmp_path: Path) -> None:
    """And their last row may be off by 1e-5, not by more."""
    doc = Document()
    doc.square()
    matrix = [1, 2, 3, 0, 4, 5, 6.5, 0, 7, 8, 10, 0, 11, 12, 13, 1]
    for off, right in ((0, True), (9e-6, True), (-9e-6, True), (2e-5, False), (-2e-5, False)):
        for place in (3, 7, 11, 15):
            doc.json["nodes"][0]["matrix"] = [each + off * (k == place) for k, each in enumerate(matrix)]
            if right:
                found = load(doc.write(tmp_path)).instances[0].transform
                np.testing.assert_array_equal(found, [[1, 4, 7, 11], [2, 5, 8, 12], [3, 6.5, 10, 13], [0, 0, 0, 1]])
            else:
                with pytest.raises(ViewerError, match="its last row is not 0 0 0 1"):
                    load(doc.write(tmp_path))


def test_nodes_without_direction_or_extent_are_counted(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["nodes"] = [
        {"children": [1, 2, 3]},
        {"mesh": 0, "rotation": [0, 0, 0, 0], "translation": [1, 2, 3]},
        {"mesh": 0, "scale": [1, 0, 1]},
        {"mesh": 0},
    ]
    scene = load(doc.write(tmp_path))
    assert scene.warnings == [
        "1 nodes have a zero rotation; they are not turned",
        "1 nodes or instances have a zero scale along an axis",
    ]
    np.testing.assert_array_equal(
        scene.instances[0].transform, [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]]
    )


def test_the_first_of_several_scenes_is_told(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    del doc.json["scene"]
    assert load(doc.write(tmp_path)).warnings == []
    doc.json["scenes"] *= 2
    assert load(doc.write(tmp_path)).warnings == ["no default scene: the first of 2 is shown"]


@pytest.mark.parametrize("keys", [("TRANSLATION",), ("ROTATION",), ("SCALE",), ("ROTATION", "SCALE")])
def test_parts_of_gpu_instances_that_are_left_out(keys: tuple[str, ...], tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    half = math.sqrt(0.5)
    given = {
        "TRANSLATION": np.float32([[1, 2, 3], [4, 5, 6]]),
        "ROTATION": np.float32([[0, 0, 0, 1], [0, 0, half, half]]),
        "SCALE": np.float32([[2, 3, 4], [5, 6, 7]]),
    }
    attributes = {key: doc.accessor(given[key]) for key in keys}
    doc.json["nodes"] = [
        {"children": [1]},
        {"mesh": 0, "translation": [10, 0, 0], "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}},
    ]
    scene = load(doc.write(tmp_path))
    for k, instance in enumerate(scene.instances):
        below = np.eye(4)
        if "ROTATION" in keys and k == 1:
            below[:2, :2] = [[0, -1], [1, 0]]
        if "SCALE" in keys:
            below[:3, :3] *= given["SCALE"][k]
        if "TRANSLATION" in keys:
            below[:3, 3] = given["TRANSLATION"][k]
        np.testing.assert_allclose(scene.hierarchy.offsets[k], below, atol=1e-7)
        below[0, 3] += 10
        np.testing.assert_allclose(instance.transform, below, atol=1e-7)
    assert len(scene.instances) == 2 and scene.hierarchy.instance_nodes.tolist() == [1, 1]


def test_instances_of_gpu_beside_plain_ones(tmp_path: Path) -> None:
    """Only those of the extension stand off their node."""
    doc = Document()
    doc.square()
    attributes = {"TRANSLATION": doc.accessor(np.float32([[1, 0, 0], [2, 0, 0]]))}
    many = {"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}}
    doc.json["nodes"] = [{"children": [1, 2, 3]}, {"mesh": 0}, many, {"mesh": 0}]
    scene = load(doc.write(tmp_path))
    assert scene.hierarchy.instance_nodes.tolist() == [1, 2, 2, 3]
    assert scene.hierarchy.offsets[:, 0, 3].tolist() == [0, 1, 2, 0]
    doc.json["nodes"][2] = {"mesh": 0}
    assert load(doc.write(tmp_path)).hierarchy.offsets is None


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({}, "accessors of one count, got none"),
        ({"TRANSLATION": np.float32([[1, 2, math.nan]])}, "TRANSLATION: has non-finite values"),
        ({"ROTATION": np.float32([[1, 2, math.inf, 0]])}, "ROTATION: has non-finite values"),
        ({"SCALE": np.float32([[1, 2, math.inf]])}, "SCALE: has non-finite values"),
    ],
)
def test_gpu_instances_malformed(attributes: dict[str, np.ndarray], words: str, tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    named = {key: doc.accessor(values) for key, values in attributes.items()}
    doc.json["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": named}}
    with pytest.raises(ViewerError, match=words):
        load(doc.write(tmp_path))


def test_colors_are_held_above_zero_and_default_to_opaque(tmp_path: Path) -> None:
    doc = Document()
    colors = np.float32([[-1, 0.5, 2], [math.nan, 1, 0], [0, 0, 0], [1, 1, 1]])
    normals = np.float32([[0, 0, 5], [0, 3, 4], [0, 0, 0], [0, 0, 1]])
    doc.mesh(
        {"POSITION": doc.accessor(SQUARE), "COLOR_0": doc.accessor(colors), "NORMAL": doc.accessor(normals)},
        doc.accessor(TWO),
    )
    scene = load(doc.write(tmp_path))
    (mesh,) = scene.meshes
    np.testing.assert_array_equal(mesh.colors, np.float32([[0, 0.5, 2, 1], [0, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1]]))
    np.testing.assert_allclose(mesh.normals, [[0, 0, 1], [0, 0.6, 0.8], [0, 0, 1], [0, 0, 1]], atol=1e-7)
    assert scene.warnings == ["1 vertices have a normal without direction; recomputed from their faces"]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack("<I4s", len(data), kind) + data


def container(*chunks: bytes, version: int = 2, length: int | None = None) -> bytes:
    body = b"".join(chunks)
    return b"glTF" + struct.pack("<II", version, 12 + len(body) if length is None else length) + body


EMPTY = chunk(b"JSON", b'{"asset": {"version": "2.0"}}   ')


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"glTF" + bytes(7), "11 bytes, shorter than the header"),
        (container(EMPTY, version=1), "version 1 of the .glb container"),
        (container(EMPTY, version=3), "version 3 of the .glb container"),
        (container(EMPTY, length=13 + len(EMPTY)), "says 53 bytes, but has 52"),
        (container(EMPTY) + b"", ""),
        (container(EMPTY) + b"after the end", ""),
        (container(EMPTY, chunk(b"BIN\0", b"")), ""),
        (container(EMPTY + bytes(7)), "a chunk's header at byte 52 is cut off"),
        (container(EMPTY + struct.pack("<I4s", 0, b"JUNK")), ""),
        (container(EMPTY + struct.pack("<I4s", 1, b"JUNK")), "a chunk of 1 bytes, of which 0 are there"),
        (container(chunk(b"BIN\0", b"abcd"), EMPTY), "the first chunk is not JSON"),
        (container(), "has no JSON chunk"),
    ],
)
def test_containers(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a.glb"
    path.write_bytes(data)
    if words:
        with pytest.raises(ViewerError, match=words):
            load(path)
    else:
        assert load(path).warnings == ["the scene has no triangles"]


def test_the_first_binary_chunk_counts(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    data = doc.glb() + chunk(b"BIN\0", b"\xff" * len(doc.data))
    path = tmp_path / "a.glb"
    path.write_bytes(data[:8] + struct.pack("<I", len(data)) + data[12:])
    np.testing.assert_array_equal(load(path).meshes[0].positions[:3], SQUARE[:3])


@pytest.mark.parametrize(
    ("asset", "fault"),
    [
        ({"version": "2.0"}, ""),
        ({"version": "2.1"}, ""),
        ({"version": "2.1", "minVersion": "2.0"}, ""),
        ({"version": "3.0", "minVersion": "2.0"}, ""),
        ({"version": "2.1", "minVersion": "2.1"}, "minVersion: glTF '2.1'"),
        ({"version": "1.0"}, "version: glTF '1.0'"),
        ({"version": "20.0"}, "version: glTF '20.0'"),
        ({}, ""),
    ],
)
def test_versions(asset: dict[str, str], fault: str, tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["asset"] = asset
    if fault:
        with pytest.raises(ViewerError, match=fault):
            load(doc.write(tmp_path))
    else:
        assert load(doc.write(tmp_path)).warnings == []
    del doc.json["asset"]
    assert load(doc.write(tmp_path)).warnings == ["the file has no glTF version; read as 2.0"]


def test_extensions_are_applied_kept_or_refused(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["extensionsUsed"] = ["ZZ_other", *sorted(APPLIED - {"KHR_draco_mesh_compression"}), *KEPT, "AA_other"]
    scene = load(doc.write(tmp_path))
    assert scene.extensions_used == sorted(doc.json["extensionsUsed"])
    assert scene.extensions_ignored == sorted([*KEPT, "AA_other", "ZZ_other"])
    doc.json["extensionsRequired"] = sorted(KEPT)
    assert load(doc.write(tmp_path)).extensions_ignored == sorted([*KEPT, "AA_other", "ZZ_other"])


def test_skins_and_references_out_of_the_folder_are_told(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["nodes"] = [{"mesh": 0, "skin": 0, "children": [1]}, {"mesh": 0, "skin": 0}, {"skin": 0}]
    doc.json["images"] = [{"uri": "in.png"}, {"uri": "../out.png"}, {"uri": "DATA:image/png,"}, {}]
    assert load(doc.write(tmp_path)).warnings == [
        "2 nodes have skins, which are not applied",
        "images[1] will not be opened: '../out.png' climbs out of the scene's folder",
    ]


def test_names_of_cameras(tmp_path: Path) -> None:
    """Of the node, else of the camera, else by number; cameras that are not there are told."""
    doc = Document()
    doc.square()
    lens = {"type": "perspective", "perspective": {"yfov": math.radians(40), "znear": 1}}
    doc.json["cameras"] = [lens, {**lens, "name": "own"}, {"type": "orthographic"}]
    doc.json["nodes"] = [
        {"children": [*range(1, 8)], "mesh": 0},
        {"camera": 0},
        {"camera": 1},
        {"camera": 1, "name": "node"},
        {"camera": 0},
        {"camera": 0},
        {"camera": 3},
        {"camera": -1},
    ]
    scene = load(doc.write(tmp_path))
    assert [camera.name for camera in scene.cameras] == ["camera 0", "own", "node", "camera 0 2", "camera 0 3"]
    assert [camera.fov for camera in scene.cameras] == pytest.approx([40] * 5)
    assert scene.hierarchy.camera_nodes.tolist() == [1, 2, 3, 4, 5]
    assert scene.warnings == ["nodes[6] names camera 3 of 3", "nodes[7] names camera -1 of 3"]
