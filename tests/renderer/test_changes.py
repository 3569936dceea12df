"""What tells an edited scene from the one before: every part that a picture shows, and only that."""

from __future__ import annotations

import copy
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream import Camera, Scene
from raystream.renderer.inputs.scene_diff import SceneChanges, scene_changes
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.motion import changes
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance
from raystream.scene.texture import Image, Texture

CORNERS = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
BEFORE = Scene(
    [
        Mesh(CORNERS, [[0, 1, 2]], [0], np.float32([[0, 0, 1]] * 3), CORNERS[:, :2], np.ones((3, 4), np.float32)),
        Mesh(CORNERS, [[0, 1, 2]]),
    ],
    [Instance(0), Instance(1)],
    [Material(), Material("other")],
    [Camera((0, 0, 3), (0, 0, 0))],
    [Light("point", "lamp")],
    textures=[Texture(Image.white("one"))],
)
MOVED = np.diag([1.0, 1.0, 2.0, 1.0])


def mesh(**more: Any) -> dict[str, Any]:
    """Another first mesh, which shares the arrays that are not given."""
    edited = copy.copy(BEFORE.meshes[0])
    for name, value in more.items():
        setattr(edited, name, value)
    return {"meshes": [edited, BEFORE.meshes[1]]}


def instance(**more: Any) -> dict[str, Any]:
    return {"instances": [BEFORE.instances[0], replace(BEFORE.instances[1], **more)]}


def texture(**more: Any) -> dict[str, Any]:
    return {"textures": [replace(BEFORE.textures[0], **more)]}


EDITS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, set()),
    ({"name": "another"}, set()),
    (mesh(name="another"), set()),
    (mesh(positions=CORNERS + 1), {"geometry"}),
    (mesh(triangles=np.int32([[0, 2, 1]])), {"geometry"}),
    (mesh(materials=np.int32([1])), {"attributes"}),
    (mesh(normals=np.float32([[0, 1, 0]] * 3)), {"attributes"}),
    (mesh(uvs=CORNERS[:, :2] * 2), {"attributes"}),
    (mesh(colors=None), {"attributes"}),
    (mesh(uvs_1=CORNERS[:, :2]), {"attributes"}),
    (mesh(tangents=np.float32([[1, 0, 0, 1]] * 3)), {"attributes"}),
    ({"instances": BEFORE.instances[:1]}, {"geometry"}),
    (instance(mesh=0), {"geometry"}),
    (instance(material=1), {"attributes"}),
    (instance(transform=MOVED), {"moved"}),
    (instance(transform=np.eye(4)), set()),
    ({"materials": [Material(), Material("red", (1.0, 0.0, 0.0, 1.0))]}, {"materials"}),
    ({"materials": [Material(), Material("other")]}, set()),
    ({"materials": [Material()]}, {"materials"}),
    ({"lights": [Light("point", "lamp", (0, 1, 0))]}, {"lights"}),
    ({"lights": []}, {"lights"}),
    ({"cameras": [Camera((0, 0, 4), (0, 0, 0))]}, {"cameras"}),
    (texture(image=Image.white("two")), {"textures"}),
    (texture(wrap=("clamp", "repeat")), {"textures"}),
    (texture(wrap=("repeat", "mirrored")), {"textures"}),
    (texture(nearest=True), {"textures"}),
    (texture(transform=np.float64([[2, 0, 0], [0, 1, 0]])), {"textures"}),
    (texture(name="another"), set()),
    ({"textures": []}, {"textures"}),
]


@pytest.mark.parametrize(
    ("edit", "parts"), EDITS, ids=lambda value: "-".join(sorted(value)) if isinstance(value, set) else ""
)
def test_an_edit_is_told_by_its_part(edit: dict[str, Any], parts: set[str]) -> None:
    found = scene_changes(BEFORE, replace(BEFORE, **edit))
    told = {
        each.name
        for each in fields(SceneChanges)
        if each.name not in ("moved", "same_scene") and getattr(found, each.name)
    }
    assert told | ({"moved"} if len(found.moved) else set()) == parts
    assert found.moved.tolist() == ([1] if "moved" in parts else [])
    assert found.differs == bool(parts - {"cameras"})
    assert found.same_scene


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ({"lights": [Light("point", "lamp", (0, 1, 0))]}, (True, True)),
        ({"materials": [Material(), Material("red", (1.0, 0.0, 0.0, 1.0))]}, (True, True)),
        (texture(nearest=True), (True, True)),
        (instance(transform=MOVED), (False, True)),
        ({"cameras": [Camera((0, 0, 4), (0, 0, 0))]}, (False, False)),
    ],
)
def test_light_falls_otherwise_after_an_edit(edit: dict[str, Any], told: tuple[bool, bool]) -> None:
    """For what is kept of the picture before: a lamp that is dragged relights the scene, an object throws its shadow
    elsewhere."""
    before, now = (
        SimpleNamespace(scene=scene, structure=SimpleNamespace(levels=2)) for scene in (BEFORE, replace(BEFORE, **edit))
    )
    found = changes(before, Settings(), now, Settings())
    assert found is not None and (found.relit, found.shadows) == told
