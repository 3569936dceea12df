"""The radiance of a white surface at a glance, by the environment that a scene has beside its own lights."""

from __future__ import annotations

import pytest

from raystream.renderer.inputs import lighting
from raystream.renderer.inputs.lighting import DefaultEnvironment, white_radiance
from raystream.scene.light import Light
from raystream.scene.scene import Scene

FLOOR = [(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)]


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        (DefaultEnvironment("sky", 0.25, (40.0, 30.0), tone=8.0), 0.25),  # as bright as the sky
        (DefaultEnvironment("studio", 0.25, tone=0.5), 0.5),  # by the gradient's factor
        (DefaultEnvironment("none", 0.0, tone=2.0), 2.0),
    ],
)
def test_white_beside_lights(monkeypatch: pytest.MonkeyPatch, beside: DefaultEnvironment, expected: float) -> None:
    scene = Scene.from_triangles(FLOOR, [(0, 1, 2), (0, 2, 3)])
    scene.lights, scene.fills = [Light("point", position=(0, 1, 0))], True
    monkeypatch.setattr(lighting, "default_environment", lambda scene: beside)
    assert white_radiance(scene) == expected


def test_white_under_an_environment_that_is_given() -> None:
    """Its own radiance for a single object, whatever lights it has."""
    scene = Scene.from_triangles(FLOOR, [(0, 1, 2), (0, 2, 3)])
    assert lighting.is_single_object(scene) and white_radiance(scene, 0.75) == 0.75
