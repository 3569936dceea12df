"""Bumps of a normal map gleamed on the side away from the sun, and their dark sides were lit: NormalTangentTest shows
the same bump as geometry beside the map."""

from __future__ import annotations

import numpy as np
import pytest

from raystream import Renderer
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture

CORNERS = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
UVS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
TEXEL = np.array([209, 128, 225, 255], np.uint8)  # leans 40 degrees to +x: a mirror's image of the camera is above


@pytest.fixture(scope="module")
def renderer(device):
    return Renderer(plate(0.0), device=device, program="path", machine="singlepass", depth=1)


def plate(angle: float) -> Scene:
    """A matte square of albedo 1 from above, its map, and a sun in the xz plane so many degrees from +z to +x."""
    mesh = Mesh(CORNERS, np.array([[0, 1, 2], [0, 2, 3]]), uvs=UVS)
    matte = Material(
        "matte", (1, 1, 1, 1), kind="principled", metallic=0.0, roughness=1.0, specular_factor=0.0, normal_texture=0
    )
    a = np.radians(angle)
    sun = Light("directional", "sun", direction=(-np.sin(a), 0, -np.cos(a)), intensity=(np.pi,) * 3)
    scene = Scene([mesh], [Instance(0)], [matte], [Camera((0, 0, 5.0), (0, 0, 0), fov=10.0)])
    scene.lights = [sun]
    scene.textures = [Texture(Image(np.tile(TEXEL, (2, 2, 1))), content="normal")]
    return scene


@pytest.mark.parametrize("angle", [-70.0, -45.0, -20.0, 0.0, 38.0])
def test_it_is_lit_as_a_surface_of_that_normal(renderer, angle):
    """Exactly, where the light does not just come over the plate."""
    normal = TEXEL[:3] / 255 * 2 - 1
    normal /= np.linalg.norm(normal)
    a = np.radians(angle)
    want = max(normal @ (np.sin(a), 0, np.cos(a)), 0.0)
    renderer.update(scene=plate(angle))
    found = renderer.render((8, 8), spp=1).linear
    np.testing.assert_allclose(found, want, atol=1e-5)
