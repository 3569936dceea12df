"""A ground plane put a single object from the studio under the sky, and its edge was a hard, crooked horizon."""

from __future__ import annotations

import numpy as np
import places
import pytest

import raystream
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.environment import ALBEDO, IRRADIANCE, studio
from raystream.scene.scene import Scene

OPTIONS = {"program": "path", "machine": "singlepass"}


def unlit() -> Scene:
    """A grey ball without any light."""
    return places.alone(places.sphere(3), places.material(0.5))


def test_the_environment_stays(device) -> None:
    """But for classic scenes, whose tiles are a part of them; a scene with a floor of its own is under the sky."""

    def name(**options) -> str:
        return Renderer(unlit(), device=device, **{**OPTIONS, **options}).prepared.lighting.environment.name

    assert [name(), name(ground="auto"), name(ground="2x2")] == ["studio"] * 3
    assert name(environment="sky", ground="auto") == "sky"
    assert name(program="whitted", classic=True) == name(program="whitted", classic=True, ground="2x2") == "sky"
    renderer = Renderer(unlit(), device=device, **OPTIONS)
    before = renderer.prepared.lighting.environment
    renderer.update(ground="auto")
    assert renderer.prepared.lighting.environment.pixels is studio(cove=True).pixels
    renderer.update(ground=None)
    assert renderer.prepared.lighting.environment.pixels is before.pixels


@pytest.mark.usefixtures("device")
def test_the_floor_has_no_edge() -> None:
    """From low above the floor, whose corners are in view: beside the ball no pixel differs from the one above it by
    more than noise, where the step at the edge was half of the light."""
    low = Camera((2.0, 0.4, 8.0), (0.0, 0.6, 0.0), fov=30.0)
    picture = raystream.render(unlit(), ground="auto", camera=low, size=(96, 64), spp=64, **OPTIONS)
    shown = picture.linear.mean(axis=2)
    columns = np.r_[0:16, 80:96]
    steps = np.abs(np.diff(shown[:, columns].reshape(64, 8, 4).mean(axis=2), axis=0))
    assert steps.max() < 0.06, "the edge is seen"
    plane = ALBEDO * IRRADIANCE / np.pi
    assert shown[:, columns].min() > 0.1 and shown[-8:, columns].mean() == pytest.approx(plane, rel=0.05)


def test_a_cove_lights_a_level_plane_as_the_studio_does() -> None:
    given = studio(cove=True)
    polar = (np.arange(len(given.pixels)) + 0.5) * np.pi / len(given.pixels)
    level = given.pixels[..., 0] * (np.maximum(np.cos(polar), 0) * given.solid_angles())[:, None]
    assert level.sum() == pytest.approx(IRRADIANCE, rel=0.01)
    below = given.pixels[polar > np.pi / 2]
    np.testing.assert_allclose(below, ALBEDO * IRRADIANCE / np.pi, rtol=1e-5)
    assert np.abs(np.diff(given.pixels[..., 0].min(axis=1))).max() < 0.1
