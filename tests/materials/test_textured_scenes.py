"""Scenes with textures and materials as a whole: from the file to the picture's layers, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.cli import report
from raystream.formats import load
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.edits.mipmaps import mip_levels
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture, linear_from_srgb

SQUARE = np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])


def textured_square(size: int = 8) -> Scene:
    """A square of two units that fills the picture of `_camera`; its image's upper left is the picture's."""
    texels = np.random.default_rng(0).integers(0, 256, (size, size, 4), np.uint8)
    uvs = np.stack([(SQUARE[:, 0] + 1) / 2, (1 - SQUARE[:, 1]) / 2], axis=1)
    mesh = Mesh(SQUARE, np.int32([[0, 1, 2], [0, 2, 3]]), uvs=uvs)
    material = Material("dots", (1.0, 0.5, 0.25, 1.0), texture=0)
    return Scene([mesh], [Instance(0)], [material], textures=[Texture(Image(texels, "dots"), nearest=True)])


def _camera() -> Camera:
    return Camera(origin=(0, 0, 1), target=(0, 0, 0), up=(0, 1, 0), fov=90.0)


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_a_texel_for_every_pixel(device, machine):
    scene = textured_square()
    picture = Renderer(scene, camera=_camera(), machine=machine, device=device, program="cast").render(
        (8, 8), layers="albedo"
    )
    want = linear_from_srgb(scene.textures[0].image.texels[..., :3] / 255) * (1.0, 0.5, 0.25)
    np.testing.assert_allclose(picture.layers["albedo"], want, atol=4e-6)  # decoding's power, as in test_textures


def test_info_lists_textures_and_their_memory(device):
    data = report.describe(textured_square())
    assert data["textures"][0] | {"name": ""} == {
        "name": "",
        "image": "dots",
        "size": [8, 8],
        "bytes": 256,
        "wrap": ["repeat", "repeat"],
        "filter": "nearest",
        "minification": "nearest_mipmap_linear",
        "type": "uint8",
        "content": "color",
    }
    assert data["gpu"]["gpu memory"]["texels"] == 4 * (64 + 16 + 4 + 1)  # with its mip levels
    text = "\n".join(report.lines(data))
    assert "dots: 8 x 8, 256 bytes, repeat, nearest, mip levels" in text
    assert "lambert, base colour (1, 0.5, 0.25) times texture 0" in text


def test_large_textures_are_reduced_on_request(device):
    """--max-texture: levels whose sides are within it; taken back, everything is as it was."""
    scene = textured_square(16)
    renderer = Renderer(scene, camera=_camera(), machine="singlepass", device=device, program="cast")
    whole = renderer.render((16, 16), layers="albedo").layers["albedo"]
    renderer.update(max_texture=8)
    (texture,) = renderer.scene.textures
    np.testing.assert_array_equal(texture.image.texels, next(mip_levels(scene.textures[0].image, "color")))
    small = renderer.render((8, 8), layers="albedo").layers["albedo"]
    want = linear_from_srgb(texture.image.texels[..., :3] / 255) * (1.0, 0.5, 0.25)
    np.testing.assert_allclose(small, want, atol=4e-6)  # decoding's power, as in test_textures
    assert renderer.info()["gpu memory"]["texels"] == 4 * (64 + 16 + 4 + 1)
    compiled = device.compiled
    renderer.update(max_texture=15)
    np.testing.assert_array_equal(renderer.render((8, 8), layers="albedo").layers["albedo"], small)
    assert device.compiled == compiled  # the same images
    renderer.update(max_texture=None)
    np.testing.assert_array_equal(renderer.render((16, 16), layers="albedo").layers["albedo"], whole)
    assert report.describe(scene, max_texture=4)["textures"][0]["size"] == [4, 4]


def test_kinds_of_the_reference_scenes(shared_refs):
    kinds = {
        "cornell": {"lambert"},
        "bunny_ground": {"lambert"},
        "glass_sphere": {"principled", "lambert"},
        "metal_ring": {"principled", "lambert"},
    }
    for name, wanted in kinds.items():
        scene = load(shared_refs / f"{name}.glb")
        assert {material.kind for material in scene.materials} == wanted
        assert not scene.warnings, name
        assert max(material.emission[0] for material in scene.materials) > 1
        assert all(material.ior == 1.5 for material in scene.materials)


def test_the_duck_is_yellow(device, shared_scenes):
    picture = Renderer(load(shared_scenes / "models" / "Duck.glb"), device=device, program="cast").render(
        (64, 64), layers="albedo"
    )
    seen = picture.layers["albedo"].reshape(-1, 3)
    seen = seen[seen.any(axis=1)]
    red, green, blue = np.median(seen, axis=0)
    assert red > 0.6 and 0.4 < green < red and blue < 0.15
