"""Light that arrives on the floor of the backdrop: its table, and shadows against float64 sums over all directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pictures import disc_above_a_speck

from raystream import Renderer, Scene
from raystream.lighting.backdrop import floor_light, floor_shares
from raystream.scene.camera import Camera
from raystream.scene.environment import IRRADIANCE, ConstantEnvironment, ImageEnvironment, studio
from raystream.scene.light import LUMINANCE, Light
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.scene import Instance
from raystream.scene.texture import Image, Texture, linear_from_srgb

RADIUS, HEIGHT = 1.0, 2.0  # of a disc over the floor
SCREEN, SCREEN_HALF = np.array([2.5, 4.0, 1.0]), 0.2  # the middle of a square that shines, and half of its side
LAMPS = (
    Light("point", "lamp", (2.5, 4.0, 1.0), intensity=(9.0, 12.0, 4.0)),
    Light("point", "cellar", (0.0, -3.0, 1.0), intensity=(50.0, 50.0, 50.0)),
)


def spotted(rotation: float = 0.0) -> ImageEnvironment:
    """A dim picture, bright to one side, with a square of light high up, and one below that a floor does not see."""
    pixels = np.linspace(0.4, 0.1, 24, dtype=np.float32)[:, None, None] * np.ones((1, 48, 3), np.float32)
    pixels[:, :12] *= 3
    pixels[3:6, 30:36] = (6.0, 5.0, 4.0)
    pixels[16:20, 4:9] = 20.0
    return ImageEnvironment(pixels).rotated(rotation)


def directions(across: int = 1200, down: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Of the upper half, evenly by their cosine: (N, 3), and the weight of each."""
    u, v = np.meshgrid((np.arange(across) + 0.5) / across * 2 * np.pi, (np.arange(down) + 0.5) / down)
    radius = np.sqrt(v)
    found = np.stack([radius * np.cos(u), np.sqrt(1 - v), radius * np.sin(u)], axis=-1).reshape(-1, 3)
    return found, np.full(len(found), np.pi / len(found))


def passes(at: np.ndarray, towards: np.ndarray, length: Any = np.inf) -> np.ndarray:
    """Which ways (N, 3) from a point miss the disc."""
    t = (HEIGHT - at[1]) / towards[..., 1]
    return (np.hypot(*(at[axis] + t * towards[..., axis] for axis in (0, 2))) > RADIUS) | (t > length)


def expected(at: np.ndarray, environment: ImageEnvironment, lights: tuple[Light, ...]) -> float:
    """The share of the light on the floor that comes through."""
    ways, weights = directions()
    light = environment.radiance(ways) @ LUMINANCE * weights
    all_of, through = light.sum(), light[passes(at, ways)].sum()
    for lamp in lights:
        way = np.array(lamp.position) - at
        far = np.linalg.norm(way)
        arriving = max(way[1] / far, 0.0) / far**2 * float(np.array(lamp.intensity) @ LUMINANCE)
        all_of, through = all_of + arriving, through + arriving * bool(passes(at, way / far, far))
    return float(through / all_of)


@pytest.mark.parametrize("lights", [(), LAMPS], ids=["environment alone", "beside lamps"])
def test_shadows_are_those_of_all_directions(device: Any, lights: tuple[Light, ...]) -> None:
    environment = spotted(40.0)
    made = Renderer(
        disc_above_a_speck(RADIUS, HEIGHT, 256, lights), device=device, machine="singlepass", environment=environment
    )
    made.update(ground="shadow", background=(1.0, 1.0, 1.0))
    floor, shares = made.prepared.lighting.backdrop.floor.height, []
    for x, z in ((0.0, 0.0), (-1.6, 0.3), (1.1, 1.2), (-0.6, -1.8)):
        made.update(camera=Camera((x, 1.0, z), (x, 0.0, z + 0.001), fov=1.0))
        found = made.render(size=(8, 8), spp=256).linear.mean(dtype=np.float64)
        wanted = expected(np.array([x, floor, z]), environment, lights)
        shares.append(wanted)
        assert found == pytest.approx(wanted, abs=0.008)
    assert np.ptp(shares) > 0.12
    made.release()


def beside_a_screen() -> tuple[Scene, np.ndarray, np.ndarray]:
    """The disc and a small square that shines down through a texture; middles (N, 3) of its texels, and luminance times
    area of each (N,)."""
    texels = np.random.default_rng(4).integers(200, 256, (4, 4, 4), np.uint8)
    corners = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]]) * SCREEN_HALF + SCREEN
    uvs = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    scene = disc_above_a_speck(RADIUS, HEIGHT, 256)
    faces, kinds = np.int32([[0, 1, 2], [0, 2, 3]]), np.full(2, len(scene.materials), np.int32)
    shining = Material("screen", (0.0, 0.0, 0.0, 1.0), emission=(160.0, 140.0, 120.0), emission_texture=0)
    scene.meshes = [*scene.meshes, Mesh(np.float32(corners), faces, kinds, uvs=np.float32(uvs))]
    scene.materials, scene.instances = [*scene.materials, shining], [*scene.instances, Instance(len(scene.instances))]
    scene.textures = [Texture(Image(texels, "screen"), nearest=True)]
    places = (np.arange(4) + 0.5) / 2 - 1
    middles = np.stack(np.broadcast_arrays(places[None], 0.0, places[:, None]), axis=-1).reshape(-1, 3)
    light = (linear_from_srgb(texels[..., :3] / 255) * shining.emission) @ LUMINANCE
    return scene, middles * SCREEN_HALF + SCREEN, light.ravel() * SCREEN_HALF**2 / 4


def test_a_shining_texture_brings_light_to_the_floor(device: Any) -> None:
    """Beside the environment, whose light the screen takes as the disc does."""
    environment, (scene, middles, light) = spotted(40.0), beside_a_screen()
    made = Renderer(scene, device=device, machine="singlepass", environment=environment)
    made.update(ground="shadow", background=(1.0, 1.0, 1.0))
    floor, apart = made.prepared.lighting.backdrop.floor.height, []
    ways, weights = directions()
    around = environment.radiance(ways) @ LUMINANCE * weights
    for x, z in ((0.0, 0.0), (-1.6, 0.3), (1.1, 1.2)):
        at = np.array([x, floor, z])
        met = abs(at + ways * ((SCREEN[1] - floor) / ways[:, 1:2]) - SCREEN).max(axis=1) < SCREEN_HALF
        way = middles - at
        far = np.linalg.norm(way, axis=1)
        arriving = light * (way[:, 1] / far) ** 2 / far**2
        through = around[passes(at, ways) & ~met].sum() + arriving[passes(at, way / far[:, None], far)].sum()
        wanted = through / (around.sum() + arriving.sum())
        apart.append(wanted - around[passes(at, ways) & ~met].sum() / around.sum())
        made.update(camera=Camera((x, 1.0, z), (x, 0.0, z + 0.001), fov=1.0))
        assert made.render(size=(8, 8), spp=256).linear.mean(dtype=np.float64) == pytest.approx(wanted, abs=0.01)
    assert np.abs(apart).max() > 0.05
    made.release()


def test_the_table_is_the_light_from_above() -> None:
    """Its sum by the studio's own, and by hand under an even sky; nothing of what is below, or of a dark one."""
    assert floor_shares(studio()).irradiance == pytest.approx(IRRADIANCE, rel=2e-3)
    even = ImageEnvironment(np.full((5, 8, 3), 2.0, np.float32))
    assert floor_shares(even).irradiance == pytest.approx(2 * np.pi, rel=1e-6)
    assert floor_light(ConstantEnvironment((2.0, 2.0, 2.0))).uniforms["floor_irradiance"][1] == pytest.approx(2 * np.pi)
    below = np.zeros((6, 8, 3), np.float32)
    below[4:] = 3.0
    dark = floor_shares(ImageEnvironment(below))
    assert dark.irradiance == 0 and np.isfinite(dark.table.data["up_to"]).all()
    assert floor_shares(ImageEnvironment(below[::-1].copy())).irradiance > 0
