"""A scene that nothing lights is said to be black."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raystream import Renderer, Scene
from raystream.base.errors import ViewerWarning
from raystream.renderer.inputs.lighting import DARK
from raystream.scene.light import Light
from raystream.scene.material import Material

TRIANGLE = np.eye(3)


def scene(**material: Any) -> Scene:
    made = Scene.from_triangles(TRIANGLE, [[0, 1, 2]])
    return replace(made, materials=[Material(**material)])


@pytest.mark.parametrize(
    ("given", "options", "dark"),
    [
        (scene(), {"environment": "none"}, True),
        (scene(), {"environment": (0.0, 0.0, 0.0)}, True),
        (scene(), {"environment": "none", "background": (1, 1, 1)}, True),
        (scene(), {}, False),
        (scene(), {"environment": (0.0, 0.1, 0.0)}, False),
        (scene(emission=(1.0, 1.0, 1.0)), {"environment": "none"}, False),
        (scene(kind="principled", unlit=True), {"environment": "none"}, False),
        (scene(kind="classic"), {"environment": "none"}, False),
        (replace(scene(), lights=[Light("point", position=(1.0, 1.0, 1.0))]), {"environment": "none"}, False),
    ],
)
def test_a_scene_without_light(device: Any, given: Scene, options: dict[str, Any], dark: bool) -> None:
    renderer = Renderer(given, device=device, machine="singlepass", **options)
    assert (DARK in renderer.notes) == dark
    if "background" not in options:
        assert (not renderer.render((8, 8), spp=1).linear.any()) == dark
    renderer.release()


def test_it_is_told_and_taken_back(device: Any) -> None:
    renderer = Renderer(scene(), device=device, machine="singlepass")
    renderer.update(environment="none")
    with pytest.warns(ViewerWarning, match=r"nothing lights the scene: its surfaces are black \(leave out environment"):
        renderer.render((8, 8), spp=1)
    renderer.update(environment="sky")
    assert DARK not in renderer.notes
    renderer.release()
