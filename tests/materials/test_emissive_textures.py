"""Surfaces that shine through a texture: what is seen, and the light that chance finds, against a quadrature."""

from __future__ import annotations

import numpy as np
import pytest

from raystream.lighting.emitters import emitters, shares
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Image, Texture, linear_from_srgb

SQUARE = np.float32([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
FACTOR = (2.0, 1.0, 0.5)


def emitting(size: int = 4) -> Scene:
    """A square at z = 0 that shines towards +z, texel by texel; its image's upper left is at (-1, 1)."""
    texels = np.random.default_rng(1).integers(0, 256, (size, size, 4), np.uint8)
    uvs = np.stack([(SQUARE[:, 0] + 1) / 2, (1 - SQUARE[:, 1]) / 2], axis=1)
    mesh = Mesh(SQUARE, np.int32([[0, 1, 2], [0, 2, 3]]), uvs=uvs)
    material = Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=FACTOR, emission_texture=0)
    return Scene([mesh], [Instance(0)], [material], textures=[Texture(Image(texels, "lamp"), nearest=True)])


def radiance(scene: Scene) -> np.ndarray:
    """(H, W, 3): of each texel."""
    return linear_from_srgb(scene.textures[0].image.texels[..., :3] / 255) * FACTOR


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_every_texel_is_seen_and_the_back_is_dark(device, machine):
    scene = emitting()
    for side in (1, -1):
        camera = Camera(origin=(0, 0, side), target=(0, 0, 0), up=(0, 1, 0), fov=90.0)
        made = Renderer(scene, camera=camera, machine=machine, environment="none", device=device).render((4, 4), spp=4)
        # Decoding's power, as in test_textures; four samples of a texel are alike.
        np.testing.assert_allclose(made.linear, radiance(scene) if side == 1 else 0, atol=2e-5)


@pytest.mark.parametrize("turned", [1.0, -1.0], ids=["as it is", "mirrored"])
def test_corners_of_emitters_keep_their_coordinates(turned):
    """A mirrored instance's corners run the other way, and their texture coordinates with them."""
    scene = emitting()
    scene.instances = [Instance(0, np.diag([turned, 1.0, 1.0, 1.0]))]
    found = emitters(scene)
    x, y = found.corners[..., 0] * turned, found.corners[..., 1]
    np.testing.assert_allclose(found.uvs, np.stack([(x + 1) / 2, (1 - y) / 2], axis=-1), atol=1e-6)
    a, b, c = found.corners.transpose(1, 0, 2)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()


@pytest.mark.parametrize("strategy", ["both", "lights", "bsdf"])
def test_chance_finds_the_light_of_every_texel(device, strategy):
    """A small white floor under the lamp: its radiance is the sum over texels of L cos cos / (pi d^2)."""
    scene = emitting()
    low = SQUARE * np.float32([0.05, 0.05, 1]) + np.float32([0.3, 0.1, 0.8])
    scene.meshes.append(Mesh(low[::-1].copy(), np.int32([[0, 1, 2], [0, 2, 3]])))  # faces the lamp: -z
    scene.instances.append(Instance(1, material=1))
    scene.materials.append(Material("floor", (1.0, 1.0, 1.0, 1.0)))
    camera = Camera(origin=(0.3, 0.1, 0.7), target=(0.3, 0.1, 0.8), up=(0, 1, 0), fov=20.0)
    renderer = Renderer(
        scene, camera=camera, depth=1, strategy=strategy, sampler="independent", environment="none", device=device
    )
    made = renderer.render((16, 16), spp=64)
    fine = 400  # points across: the quadrature's own error is far below the noise
    grid = (np.arange(fine) + 0.5) / fine * 2 - 1
    x, y = np.meshgrid(grid, -grid)
    squared = (x - 0.3) ** 2 + (y - 0.1) ** 2 + 0.8**2
    weight = 0.8**2 / (np.pi * squared**2) * (2 / fine) ** 2
    wanted = (radiance(scene).repeat(fine // 4, 0).repeat(fine // 4, 1) * weight[..., None]).sum(axis=(0, 1))
    found = made.linear.reshape(-1, 3).astype(np.float64)
    spread = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - wanted) < 4.5 * spread).all()
    assert (spread < 0.02 * wanted).all()


def test_such_a_scene_stands_in_the_studio(device):
    assert any("default studio" in note for note in Renderer(emitting(), device=device).notes)


def lamp_of_a_spot() -> Scene:
    """Four of 16 x 16 texels shine on a square of 128 triangles over a floor; both are meshes of their own."""
    texels = np.zeros((16, 16, 4), np.uint8)
    texels[2:4, 3:5] = (255, 100, 30, 255)
    faces = np.int32([[0, 1, 2], [0, 2, 3]])
    corners = np.stack(np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9)), axis=-1).reshape(-1, 2)
    first = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    cells = np.concatenate([first[:, None] + [0, 1, 10], first[:, None] + [0, 10, 9]])
    points = np.concatenate([corners, np.zeros((81, 1))], axis=1).astype(np.float32)
    lamp = Mesh(points, cells.astype(np.int32), uvs=((corners * [1, -1] + 1) / 2).astype(np.float32))
    floor = Mesh((SQUARE * np.float32([2, 2, 1]) + np.float32([0, 0, 1]))[::-1].copy(), faces, np.ones(2, np.int32))
    textured_emitters = Material("lamp", (0.0, 0.0, 0.0, 1.0), emission=(20.0, 20.0, 20.0), emission_texture=0)
    found = Scene(
        [lamp, floor], [Instance(0), Instance(1)], [textured_emitters, Material("floor", (0.8, 0.8, 0.8, 1.0))]
    )
    found.textures, found.cameras = [Texture(Image(texels))], [Camera((0, 0, 0.1), (0, 0, 1), (0, 1, 0), fov=90.0)]
    return found


@pytest.mark.parametrize("accel", ["bvh", "two-level-bvh"])
def test_spots_are_chosen_as_lights(device, accel):
    """All strategies find the same light; chance alone with several times the noise."""
    found = {}
    for strategy in ("bsdf", "lights", "both"):
        renderer = Renderer(
            lamp_of_a_spot(),
            strategy=strategy,
            depth=1,
            environment="none",
            sampler="independent",
            accel=accel,
            device=device,
        )
        films = []
        for seed in range(8):
            renderer.update(seed=seed)
            films.append(renderer.render((8, 8), 64).linear[..., 0].mean())
        found[strategy] = np.mean(films), np.std(films, ddof=1) / np.sqrt(len(films))
    (chance, wide), (lights, narrow), (both, least) = (found[name] for name in ("bsdf", "lights", "both"))
    assert abs(lights - chance) < 4.5 * np.hypot(wide, narrow) and abs(both - lights) < 4.5 * np.hypot(narrow, least)
    assert narrow < 0.5 * wide and lights > 0.05


def test_fine_patterns_are_no_darker_than_they_are(device):
    """Texels that lie between the places that are looked at count, too: of a checkerboard these were all black."""
    row, column = np.indices((256, 256))
    board = np.repeat(((row + column) % 2 * np.uint8(255)).astype(np.uint8)[..., None], 4, axis=2)
    scene = emitting()
    scene.textures = [Texture(Image(board, "board"))]
    np.testing.assert_allclose(shares(scene, scene.meshes[0]), 0.5, atol=1e-6)  # half of the texels
    scene.textures = [Texture(Image(np.zeros((256, 256, 4), np.uint8), "black"))]
    made = Renderer(scene, environment="none", device=device).render((4, 4), spp=1)
    assert not made.linear.any()
