"""Layers, textures and a light tree give on GPUs' form of programs the bits of the other form."""

from __future__ import annotations

import numpy as np
import places
import pytest

from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture
from raystream.stream.gl.device import Device

SIZE = (20, 12)


def layered_by_lamps() -> Scene:
    """A coated, fibrous surface with a base colour of bilinear texels, and a roughness of nearest ones, below lamps
    enough for a light tree."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    mesh = Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]), uvs=np.float32([[0, 2], [2, 2], [2, 0], [0, 0]]))
    texels = np.random.default_rng(5).integers(40, 255, (2, 4, 4, 4)).astype(np.uint8)
    textures = [Texture(Image(texels[0])), Texture(Image(texels[1]), nearest=True, content="data")]
    layers = {"clearcoat": 0.6, "clearcoat_roughness": 0.3, "sheen_color": (0.4, 0.2, 0.1), "transmission": 0.3}
    maps = {"texture": 0, "metallic_roughness_texture": 1}
    surface = Material("layered", kind="principled", roughness=0.8, metallic=0.4, **layers, **maps)
    lamp = Material("lamp", (0.0, 0.0, 0.0, 1.0), kind="lambert", emission=(4.0, 3.0, 2.0), double_sided=True)
    placed = [Instance(0, material=0)]
    for k in range(6):
        matrix = np.diag([0.1 + 0.02 * k, 0.1, 1.0, 1.0])
        matrix[:3, 3] = 1.5 * np.cos(k), 1.5 * np.sin(k), 0.5 + 0.1 * k
        placed.append(Instance(0, matrix, 1))
    return Scene([mesh], placed, [surface, lamp], [Camera((0.3, 0.2, 2.5), (0, 0, 0), fov=45.0)], textures=textures)


def rendered(device: Device, **options: str) -> np.ndarray:
    options |= {"denoise": "none", "light_sampler": "tree"}
    return places.picture(layered_by_lamps(), SIZE, 3, device=device, **options).linear


@pytest.mark.parametrize("fuse", ["ray", "surface"])
@pytest.mark.parametrize("program", ["path", "whitted"])
def test_bits_are_those_of_the_other_form(program: str, fuse: str, device: Device, gpu: Device) -> None:
    found = rendered(gpu, program=program, fuse=fuse)
    np.testing.assert_array_equal(found, rendered(device, program=program, fuse=fuse))
    assert np.unique(found).size > 100
