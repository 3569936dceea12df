"""Mip levels by ray cones: a textured plane at a distance, near enough and far away, straight and through a mirror."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture

SQUARE = np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
SIDES = np.int32([[0, 1, 2], [0, 2, 3]])
TEXELS = 256


def checkerboard() -> Image:
    """Black and white texels: from the first smaller level on all are alike."""
    row, column = np.indices((TEXELS, TEXELS))
    return Image(np.repeat(((row + column) % 2 * np.uint8(255)).astype(np.uint8)[..., None], 4, axis=2), "checkerboard")


def plane(image: Image, half: float = 1.0, z: float = 0.0, **lookup) -> Scene:
    """A square across the view that shines by its texture."""
    uvs = np.stack([(SQUARE[:, 0] + 1) / 2, (1 - SQUARE[:, 1]) / 2], axis=1)
    mesh = Mesh(SQUARE * np.float32([half, half, 1]) + np.float32([0, 0, z]), SIDES, uvs=uvs)
    material = Material("board", (1, 1, 1, 1), kind="principled", unlit=True, texture=0)
    return Scene([mesh], [Instance(0)], [material], textures=[Texture(image, **lookup)])


def camera(distance: float) -> Camera:
    """Sees a square of two units, as wide as the picture, whatever the distance."""
    fov = 2 * np.degrees(np.arctan(1 / distance))
    return Camera(origin=(0, 0, distance), target=(0, 0, 0), up=(0, 1, 0), fov=fov)


def renderer_of(device, scene: Scene, **options) -> Renderer:
    options = {"program": "path", "depth": 0, "machine": "singlepass", "environment": "none", **options}
    return Renderer(scene, device=device, **options)


def seen(renderer: Renderer, size: int, view: Camera, spp: int = 1) -> np.ndarray:
    renderer.update(camera=view)
    return renderer.render((size, size), spp=spp).linear


@pytest.fixture(scope="module")
def renderer(device):
    """Of planes with one image of TEXELS x TEXELS, which `update` shows without compiling anything."""
    return renderer_of(device, plane(checkerboard()))


def test_a_minified_checkerboard_is_even(device, renderer):
    """From two texels a pixel on every sample is the mean; without mip levels it is black or white."""
    renderer.update(scene=plane(checkerboard()))
    values = seen(renderer, 64, camera(20))
    np.testing.assert_allclose(values, 0.5, atol=3e-3)  # half a step of a byte in linear light at 188
    noisy = renderer_of(device, plane(checkerboard(), minification="linear"))
    assert seen(noisy, 64, camera(20)).std() > 0.1


def test_levels_are_chosen_by_how_near_they_are(renderer):
    """At 2^0.25 texels a pixel a quarter of the samples is of the first smaller level, the others of the image."""
    renderer.update(scene=plane(checkerboard(), nearest=True))
    values = seen(renderer, round(TEXELS / 2**0.25), camera(20))[..., 0]
    share = np.mean((values == 0) | (values == 1))
    assert share == pytest.approx(0.75, abs=0.02)  # of 46,000: 0.002 by chance; 0.005 of the side's rounding
    assert values.mean() == pytest.approx(0.5, abs=0.01)


def test_the_colour_of_a_plane_far_away_is_the_mean(renderer):
    """A picture of 4 x 4 pixels of 256 x 256 texels, of which the left half is darker."""
    texels = np.random.default_rng(1).integers(0, 256, (TEXELS, TEXELS, 4), np.uint8)
    texels[:, : TEXELS // 2] //= 4
    encoded = texels[..., :3] / 255.0
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    renderer.update(scene=plane(Image(texels), wrap=("clamp", "clamp")))
    got = seen(renderer, 4, camera(20), spp=16)
    # Bilinear lookups blur where the halves meet. Means of 64 x 64 texels differ by 0.005, rounding is 0.003.
    for column, half in ((0, linear[:, : TEXELS // 2]), (3, linear[:, TEXELS // 2 :])):
        np.testing.assert_allclose(got[:, column], np.tile(half.mean(axis=(0, 1)), (4, 1)), atol=0.02)


def test_later_samples_are_sharper(renderer):
    """The edge between black and white lies between pixels of four texels: one sample blurs it, many do not."""
    texels = np.zeros((TEXELS, TEXELS, 4), np.uint8)
    texels[:, TEXELS // 2 :] = 255
    renderer.update(scene=plane(Image(texels), wrap=("clamp", "clamp")))
    one, many = (seen(renderer, TEXELS // 4, camera(20), spp=spp)[:, TEXELS // 8 - 1].mean() for spp in (1, 64))
    # A bilinear lookup leaks an eighth of its texels' size: a pixel at first, a quarter in the image itself.
    sizes = np.maximum(1 / np.sqrt(np.arange(1, 65)), 1 / 4)
    assert one == pytest.approx(1 / 8, abs=0.005)
    assert many == pytest.approx(sizes.mean() / 8, abs=0.002)  # larger texels are a little more likely


def test_widths_go_on_behind_mirrors(device):
    """A checkerboard seen in a mirror is as even as at that distance."""
    board = plane(checkerboard(), z=2.0)
    back = Mesh(board.meshes[0].positions, SIDES[:, ::-1].copy(), uvs=board.meshes[0].uvs)
    mirror = Mesh(SQUARE * np.float32(4), SIDES, materials=np.ones(2, np.int32))
    materials = [board.materials[0], Material("mirror", (1, 1, 1, 1), kind="mirror")]
    scene = Scene([back, mirror], [Instance(0), Instance(1)], materials, textures=board.textures)
    view = Camera(origin=(0, 0, 1.9), target=(0, 0, 0), up=(0, 1, 0), fov=40.0)
    values = seen(renderer_of(device, scene, depth=1), 48, view)
    inside = values[16:32, 16:32]  # the board's middle
    assert inside.std() < 0.02 and inside.mean() == pytest.approx(0.5, abs=0.01)


def test_second_coordinates_have_levels_of_their_own(device):
    """A checkerboard by the second coordinates, which change a sixteenth as much as the first: by the level of these it
    would be even, by its own it is black and white."""
    board, corners = plane(checkerboard(), uv_set=1, nearest=True), (SQUARE[:, :2] + 1) / 2
    mesh = Mesh(SQUARE, SIDES, uvs=corners * np.float32(16), uvs_1=corners)
    material = Material("board", (1, 1, 1, 1), kind="principled", emission=(1, 1, 1), emission_texture=0, metallic=0.0)
    scene = Scene([mesh], [Instance(0)], [material], textures=board.textures)
    values = seen(renderer_of(device, scene), 260, camera(20))
    assert np.mean((values == 0) | (values == 1)) > 0.95
