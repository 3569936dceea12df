"""KHR_animation_pointer: every property that is known changes what it names, and others are told."""

from __future__ import annotations

import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from documents import Document
from looks import full, textured
from rigs import morphed

from raystream.formats import load
from raystream.formats.gltf.animations import LIGHT, MATERIAL
from raystream.renderer.inputs.scene_diff import scene_changes
from raystream.scene.projections import Orthographic

TIMES = np.float32([0, 2])


def point(doc: Document, pointer: str, values: np.ndarray, interpolation: str = "LINEAR", **more: Any) -> None:
    """Animate a property by a pointer, from 0 to 2 seconds."""
    animation = doc.json.setdefault("animations", [{"samplers": [], "channels": []}])[0]
    target = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}}
    animation["channels"].append({"sampler": len(animation["samplers"]), "target": target})
    animation["samplers"].append(
        {"input": doc.accessor(TIMES), "output": doc.accessor(values, **more), "interpolation": interpolation}
    )


def painted(**material: Any) -> Document:
    """A square of one material."""
    doc = Document()
    doc.square(material=0)
    doc.json["materials"] = [material]
    return doc


def put(document: dict[str, Any], pointer: str, value: Any) -> None:
    """Set a member of a JSON document."""
    *way, last = pointer.strip("/").split("/")
    place: Any = document
    for key in way:
        place = place[int(key)] if isinstance(place, list) else place.setdefault(key, {})
    place[last] = value


@pytest.mark.parametrize("within", MATERIAL)
def test_materials_are_those_of_a_file_with_that_value(tmp_path: Path, within: str) -> None:
    width = MATERIAL[within]
    values = np.float32([[0.25] * width, [0.75] * width]) * (2 if within.endswith(("ior", "Ior")) else 1)
    pointer = f"/materials/0/{within}"
    found = {}
    for name in ("animated", "first", "last"):
        doc = full()
        if name == "animated":
            point(doc, pointer, values[:, 0] if width == 1 else values)
        else:
            value = values[int(name == "last")].tolist()
            put(doc.json, pointer, value if width > 1 else value[0])
        found[name] = load(doc.write(tmp_path))
    scene = found["animated"]
    assert not [note for note in scene.warnings if "animated" in note]
    for name, seconds in (("first", -1.0), ("last", 2.0), ("first", 0.0)):
        own, other = scene.posed(seconds).materials[0], found[name].materials[0]
        for each in fields(own):
            if each.name not in ("source",):
                assert getattr(own, each.name) == getattr(other, each.name), each.name
    assert scene.posed(1.0).materials[0] != scene.posed(2.0).materials[0]


def test_transforms_of_textures(tmp_path: Path) -> None:
    """One use of a texture turns, the other that shares its image does not."""
    doc = textured()
    still = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    doc.json["materials"].append(still)
    doc.json["meshes"][0]["primitives"].append({**doc.json["meshes"][0]["primitives"][0], "material": 1})
    place = "/materials/0/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform"
    point(doc, f"{place}/offset", np.float32([[0, 0], [2, 4]]))
    point(doc, f"{place}/rotation", np.float32([0, np.pi]))
    point(doc, f"{place}/scale", np.float32([[1, 1], [3, 1]]))
    scene = load(doc.write(tmp_path))
    first, other = (material.texture for material in scene.materials)
    assert first != other and scene.textures[first].image is scene.textures[other].image
    middle = scene.posed(1.0)
    # scale (2, 1), then a quarter turn, then the offset: KHR_texture_transform's own matrix
    np.testing.assert_allclose(middle.textures[first].transform, [[0, 1, 1], [-2, 0, 2]], atol=1e-6)
    assert (
        middle.textures[other] is scene.textures[other] and middle.textures[first].image is scene.textures[first].image
    )
    np.testing.assert_array_equal(middle.posed(0.0).textures[first].transform, scene.textures[first].transform)


@pytest.mark.parametrize("within", LIGHT)
def test_lights(tmp_path: Path, within: str) -> None:
    width = LIGHT[within]
    values = np.float32([[0.25] * width, [0.5] * width])
    doc = Document()
    doc.square()
    lamp = {"type": "spot", "intensity": 7, "color": [1, 0.5, 0.25], "spot": {"outerConeAngle": 0.7}}
    doc.json["extensions"] = {"KHR_lights_punctual": {"lights": [lamp]}}
    doc.json["nodes"] = [{"mesh": 0}, *({"extensions": {"KHR_lights_punctual": {"light": 0}}} for _ in range(2))]
    doc.json["scenes"] = [{"nodes": [0, 1, 2]}]
    pointer = f"/extensions/KHR_lights_punctual/lights/0/{within}"
    point(doc, pointer, values[:, 0] if width == 1 else values)
    scene = load(doc.write(tmp_path))
    del doc.json["animations"]
    put(doc.json, "extensions/KHR_lights_punctual/lights", {"0": None})
    doc.json["extensions"] = {"KHR_lights_punctual": {"lights": [lamp]}}
    put(lamp, within, 0.5 if width == 1 else [0.5] * 3)
    assert scene.posed(2.0).lights == load(doc.write(tmp_path)).lights and scene.posed(2.0).lights != scene.lights


def test_cameras_and_nodes(tmp_path: Path) -> None:
    doc = Document()
    doc.square()
    doc.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.5, "znear": 0.1}}]
    doc.json["nodes"] = [{"mesh": 0, "children": [1]}, {"camera": 0}]
    point(doc, "/cameras/0/perspective/yfov", np.float32([0.5, 1]))
    point(doc, "/nodes/0/translation", np.float32([[0, 0, 0], [2, 4, 6]]))
    scene = load(doc.write(tmp_path))
    posed = scene.posed(1.0)
    assert posed.cameras[0].fov == pytest.approx(np.degrees(0.75)) and posed.cameras[0].origin == (1, 2, 3)
    assert posed.instances[0].transform[:3, 3].tolist() == [1, 2, 3]
    assert pickle.loads(pickle.dumps(scene)).posed(1.0).cameras == posed.cameras


def test_an_orthographic_camera(tmp_path: Path) -> None:
    """Its height follows ``ymag``; a field of view that it does not have changes nothing."""
    doc = Document()
    doc.square()
    doc.json["cameras"] = [{"type": "orthographic", "orthographic": {"xmag": 1, "ymag": 1, "znear": 0, "zfar": 9}}]
    doc.json["nodes"] = [{"mesh": 0, "children": [1]}, {"camera": 0}]
    point(doc, "/cameras/0/orthographic/ymag", np.float32([1, 3]))
    posed = load(doc.write(tmp_path)).posed(1.0)
    assert posed.cameras[0].projection == Orthographic(4.0)
    del doc.json["animations"]
    point(doc, "/cameras/0/perspective/yfov", np.float32([0.5, 1]))
    assert load(doc.write(tmp_path)).posed(1.0).cameras[0].projection == Orthographic(2.0)


def test_weights(tmp_path: Path) -> None:
    """Of a node, of a mesh, and one alone."""
    for pointer, values, expected in (
        ("/nodes/0/weights", [0, 0, 0, 2, 4, 6], [1, 2, 3]),
        ("/meshes/0/weights", [0, 0, 0, 2, 4, 6], [1, 2, 3]),
        ("/nodes/0/weights/1", [0, 4], [0.25, 2, 0.25]),
        ("/meshes/0/weights/2", [0, 4], [0.25, 0.25, 2]),
    ):
        doc = morphed()
        del doc.json["animations"]
        point(doc, pointer, np.float32(values))
        assert load(doc.write(tmp_path)).posed(1.0).meshes[0].pose.weights.tolist() == expected
    doc = morphed()
    del doc.json["animations"]
    for number, values in ((0, [0, 4]), (1, [0, 6])):  # two of one node move one each
        point(doc, f"/nodes/0/weights/{number}", np.float32(values))
    assert load(doc.write(tmp_path)).posed(1.0).meshes[0].pose.weights.tolist() == [2, 3, 0.25]
    del doc.json["animations"]
    own = doc.json["nodes"][0]["weights"] = [0.5, 0.125, 0.75]  # which a mesh's do not stand for
    point(doc, "/meshes/0/weights", np.float32([0, 0, 0, 2, 4, 6]))
    assert load(doc.write(tmp_path)).posed(1.0).meshes[0].pose.weights.tolist() == own
    del doc.json["nodes"][0]["weights"]
    point(doc, "/nodes/0/weights/3", np.float32([0, 4]))
    (note,) = load(doc.write(tmp_path)).warnings
    assert note.startswith("an animation is left out: ") and "names morph target 3 of 3" in note


def test_visibility(tmp_path: Path) -> None:
    """Hidden instances keep their meshes and structures, and nothing hits them; lights go dark; nodes below go, too."""
    doc = Document()
    doc.square()
    lamp = {"extensions": {"KHR_lights_punctual": {"light": 0}}}
    doc.json["extensions"] = {"KHR_lights_punctual": {"lights": [{"type": "point", "intensity": 3}]}}
    hidden = {"extensions": {"KHR_node_visibility": {"visible": False}}}
    doc.json["nodes"] = [
        {"children": [1, 2], "translation": [5, 0, 0], **hidden},
        {"mesh": 0, "name": "below"},
        lamp,
        {"mesh": 0, "name": "beside"},
        {"mesh": 0, "name": "never", **hidden},
    ]
    doc.json["scenes"] = [{"nodes": [0, 3, 4]}]
    visible = "/nodes/0/extensions/KHR_node_visibility/visible"
    point(doc, visible, np.uint8([1, 0]), "STEP")
    scene = load(doc.write(tmp_path))
    assert [each.name for each in scene.instances] == ["below", "beside"]
    shown, gone = scene.posed(1.0), scene.posed(2.0)
    assert shown.lights[0].intensity == (3, 3, 3) and np.array_equal(shown.bounds()[1], (6, 1, 0))
    assert scene.lights[0].intensity == gone.lights[0].intensity == (0, 0, 0)
    assert np.abs(np.linalg.det(gone.instances[0].transform[:3, :3])) < 1e-30
    assert np.array_equal(gone.instances[0].transform[:3, 3], (5, 0, 0))
    changes = scene_changes(shown, gone)
    assert changes.moved.tolist() == [0] and changes.lights and not changes.geometry
    again = gone.posed(0.5)
    assert np.array_equal(again.instances[0].transform, shown.instances[0].transform)
    assert again.lights == shown.lights


def test_hidden_ones_are_not_hit(device: Any, tmp_path: Path) -> None:
    from raystream.renderer.renderer import Renderer

    doc = Document()
    doc.square()
    doc.json["nodes"] = [{"mesh": 0}, {"mesh": 0, "translation": [0, 0, -1]}]
    doc.json["scenes"] = [{"nodes": [0, 1]}]
    point(doc, "/nodes/0/extensions/KHR_node_visibility/visible", np.uint8([1, 0]), "STEP")
    scene = load(doc.write(tmp_path))
    for accel in ("bvh", "two-level-bvh"):
        renderer = Renderer(scene.posed(0.0), accel=accel, device=device)
        for seconds, expected in ((0.0, 0), (2.0, 1), (1.0, 0), (2.0, 1)):
            renderer.update(scene.posed(seconds))
            hits = renderer.trace([[0.5, 0.25, 3]], [[0, 0, -1]])
            assert hits.instance[0] == expected, (accel, seconds)
        renderer.release()


def test_unknown_pointers_are_told(tmp_path: Path) -> None:
    doc = painted()
    for pointer in (
        "/materials/0/occlusionTexture/strength",
        "/materials/7/alphaCutoff",
        "/materials/0/extensions/KHR_odd/odd",
        f"/nodes/{len(doc.json['nodes'])}/scale",
        "nowhere",
    ):
        point(doc, pointer, np.float32([0, 1]))
    point(doc, "/materials/0/alphaCutoff", np.float32([0, 1]))
    (warning,) = load(doc.write(tmp_path)).warnings
    assert warning.startswith("animated properties that are not known, and ignored: '/materials/0/occlusionTexture/")
    assert warning.count("'") == 10 and "alphaCutoff'" in warning and "'nowhere'" in warning


def test_a_property_is_moved_once(tmp_path: Path) -> None:
    doc = painted()
    for _ in range(2):
        point(doc, "/materials/0/alphaCutoff", np.float32([0, 1]))
    (note,) = load(doc.write(tmp_path)).warnings
    assert "/materials/0/alphaCutoff is moved by animations[0].channels[0], too" in note
