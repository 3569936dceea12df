"""KHR_materials_variants, KHR_node_visibility, and tangents."""

from __future__ import annotations

import numpy as np
import pytest
from documents import SQUARE, TWO, Document
from looks import textured

import raystream
from raystream.base.errors import ViewerError
from raystream.formats import load

NAME = "KHR_materials_variants"


def shoe() -> Document:
    """Two primitives of equal geometry: one that two variants change, one that none does; each drawn by two nodes."""
    doc = Document()
    doc.square(material=0)
    doc.json["materials"] = [{"name": name} for name in ("sole", "red", "blue")]
    (primitive,) = doc.json["meshes"][0]["primitives"]
    mappings = [{"variants": [1], "material": 1}, {"variants": [2, 0], "material": 2, "name": "cold"}]
    doc.json["meshes"][0]["primitives"] = [primitive, {**primitive, "extensions": {NAME: {"mappings": mappings}}}]
    doc.json["nodes"] = [{"mesh": 0, "children": [1]}, {"mesh": 0, "translation": [2, 0, 0]}]
    doc.json["extensions"] = {NAME: {"variants": [{"name": "night"}, {"name": "day"}, {"name": "night"}, {}]}}
    doc.json["extensionsUsed"] = [NAME]
    return doc


def shown(scene) -> list[str]:
    """The materials of the triangles, one for each two."""
    return [scene.materials[number].name for number in scene.flatten().materials[::2]]


def test_variants(tmp_path):
    scene = load(shoe().write(tmp_path))
    assert list(scene.variants) == ["night", "day", "night 2", "variant 3"] and scene.variant is None
    assert not scene.extensions_ignored and not scene.warnings
    for name, other in (("night", "blue"), ("day", "red"), ("night 2", "blue"), ("variant 3", "sole")):
        chosen = scene.with_variant(name)
        assert shown(chosen) == ["sole", other] * 2 and chosen.variant == name
        assert chosen.meshes is scene.meshes
        assert shown(chosen.with_variant("day")) == ["sole", "red"] * 2
        assert shown(chosen.with_variant(None)) == shown(scene) == ["sole"] * 4


def test_variants_of_one_name_are_numbered(tmp_path):
    doc = shoe()
    given = ["day", "day", "", "day", "day 2", "variant 2", "day"]
    doc.json["extensions"] = {NAME: {"variants": [{"name": name} if name else {} for name in given]}}
    names = list(load(doc.write(tmp_path)).variants)
    assert names == ["day", "day 2", "variant 2", "day 3", "day 2 2", "variant 2 2", "day 4"]


def test_a_variant_chosen_when_it_is_loaded(tmp_path):
    path = shoe().write(tmp_path)
    assert shown(raystream.load(path, variant="day")) == ["sole", "red"] * 2
    assert shown(raystream.load(path, variant=1)) == shown(raystream.load(path, variant="1")) == ["sole", "red"] * 2
    with pytest.raises(
        ViewerError, match=r"no variant 'noon' \(variants: 0 'night', 1 'day', 2 'night 2', 3 'variant 3'\)"
    ):
        raystream.load(path, variant="noon")
    with pytest.raises(ViewerError, match=r"no variant 'day' .variants: none"):
        raystream.load("cornell", variant="day")


@pytest.mark.parametrize(
    ("mappings", "words"),
    [
        ({}, "mappings: expected an array"),
        ([{"variants": [4], "material": 1}], r"variants\[0\]: names variant 4 of 4"),
        ([{"variants": ["day"], "material": 1}], "expected an integer"),
        ([{"variants": [1], "material": 3}], "names material 3 of 3"),
        ([{"variants": [1]}], "material: is missing"),
        ([{"variants": [1, 1], "material": 1}], "names variant 1, as does another mapping"),
    ],
)
def test_variants_malformed(mappings, words, tmp_path):
    doc = shoe()
    doc.json["meshes"][0]["primitives"][1]["extensions"][NAME]["mappings"] = mappings
    with pytest.raises(ViewerError, match=rf"primitives\[1\].extensions.{NAME}.*{words}"):
        load(doc.write(tmp_path))


def test_hidden_nodes(tmp_path):
    """With all below them: meshes and lights, but not cameras."""
    doc = Document()
    doc.square()
    doc.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1, "znear": 1}}]
    doc.json["extensions"] = {"KHR_lights_punctual": {"lights": [{"type": "point"}]}}
    thing = {"mesh": 0, "camera": 0, "extensions": {"KHR_lights_punctual": {"light": 0}}}

    def visibility(visible: object) -> dict:
        return {"extensions": {**thing["extensions"], "KHR_node_visibility": {"visible": visible}}}

    doc.json["nodes"] = [
        {"children": [1, 2, 4]},
        {**thing, "name": "seen", **visibility(True)},
        {**thing, "name": "hidden", "children": [3], **visibility(False)},
        {**thing, "name": "below", **visibility(True)},
        {**thing, "name": "last"},
    ]
    scene = load(doc.write(tmp_path))
    assert [each.name for each in scene.instances] == ["seen", "last"]
    assert [each.name for each in scene.lights] == ["seen", "last"]
    assert [each.name for each in scene.cameras] == ["seen", "hidden", "below", "last"]
    assert scene.hierarchy.instance_nodes.tolist() == scene.hierarchy.light_nodes.tolist() == [1, 4]
    doc.json["nodes"][2]["extensions"]["KHR_node_visibility"]["visible"] = 0
    with pytest.raises(ViewerError, match=r"nodes\[2\].extensions.KHR_node_visibility.visible: expected true or false"):
        load(doc.write(tmp_path))


def with_tangents(tangents: np.ndarray, normals: bool = True, **more) -> Document:
    doc = Document()
    attributes = {"POSITION": doc.accessor(SQUARE), "TANGENT": doc.accessor(tangents, **more)}
    if normals:
        attributes["NORMAL"] = doc.accessor(np.tile(np.float32([0, 0, 1]), (4, 1)))
    doc.mesh(attributes, doc.accessor(TWO))
    return doc


def test_tangents(tmp_path):
    tangents = np.float32([[2, 0, 0, 1], [0, 1, 0, -1], [0.6, 0.8, 0, -1], [1, 0, 0, 1]])
    (mesh,) = load(with_tangents(tangents).write(tmp_path)).meshes
    assert np.allclose(mesh.tangents, tangents / np.float32([[2, 2, 2, 1], *[[1] * 4] * 3]))
    whole = np.int8([[127, 0, 0, 127], [0, 127, 0, -127]] * 2)
    (mesh,) = load(with_tangents(whole, normalized=True).write(tmp_path)).meshes
    assert np.array_equal(mesh.tangents, whole / 127)
    # Without normals they would belong to other ones (3.7.2.1).
    assert load(with_tangents(tangents, normals=False).write(tmp_path)).meshes[0].tangents is None
    tangents[1, :3] = 0
    scene = load(with_tangents(tangents).write(tmp_path))
    assert scene.meshes[0].tangents is None
    assert scene.warnings == ["1 primitives have tangents without direction; all of theirs are ignored"]


def test_tangents_are_made_where_a_material_needs_them(tmp_path):
    """For normal maps and directions, along the coordinates of the texture; other materials' meshes have none."""
    doc = textured()
    doc.json["materials"] += [
        {"normalTexture": {"index": 0}},
        {"normalTexture": {"index": 0, "texCoord": 1}},
        {"extensions": {"KHR_materials_anisotropy": {"anisotropyStrength": 0.5}}},
        {"extensions": {"KHR_materials_clearcoat": {"clearcoatNormalTexture": {"index": 0}}}},
    ]
    (primitive,) = doc.json["meshes"][0]["primitives"]
    turned = np.float32([[0, 0], [0, 1], [1, 1], [1, 0]])  # u along y, v along x
    primitive["attributes"]["TEXCOORD_1"] = doc.accessor(turned)
    doc.json["meshes"][0]["primitives"] = [{**primitive, "material": number} for number in range(5)]
    meshes = load(doc.write(tmp_path)).meshes
    assert meshes[0].tangents is None
    # In TEXCOORD_0 u is x and v is y, so that -v points down.
    for mesh, tangent in zip(meshes[1:], ((1, 0, 0, -1), (0, 1, 0, 1), (1, 0, 0, -1), (1, 0, 0, -1)), strict=True):
        assert np.allclose(mesh.tangents, tangent)
    assert meshes[1].tangents is meshes[3].tangents or np.shares_memory(meshes[1].tangents, meshes[3].tangents)
