"""What an edit of a scene leaves of the pictures before: whether light falls otherwise, and shadows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raystream import Camera, Scene
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.preview.motion import changes
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance
from raystream.scene.texture import Image, Texture

CORNERS = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
BEFORE = Scene(
    [Mesh(CORNERS, [[0, 1, 2]])],
    [Instance(0), Instance(0)],
    [Material(), Material("other")],
    [Camera((0, 0, 3), (0, 0, 0))],
    [Light("point", "lamp")],
    textures=[Texture(Image.white("one"))],
)
MOVED = np.diag([1.0, 1.0, 2.0, 1.0])


def instance(**more: Any) -> dict[str, Any]:
    return {"instances": [BEFORE.instances[0], replace(BEFORE.instances[1], **more)]}


def texture(**more: Any) -> dict[str, Any]:
    return {"textures": [replace(BEFORE.textures[0], **more)]}


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
