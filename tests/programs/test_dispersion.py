"""Dispersion by every program, of glass and of glTF's materials: channels as in scenes of their index, energy, bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest
from numpy.typing import NDArray
from shade_tree import mixed

from raystream import Renderer, Scene
from raystream.scene.material import Material

SKY = (0.2, 0.3, 0.5)
MOST = 4.5  # standard errors: one value in 150,000 lies farther off


def dispersed(channel: int | None = None) -> Scene:
    """`mixed` with glass whose indices are 1.375, 1.5 and 1.625, which float32 holds; of one channel's index alone."""
    scene = mixed()
    glass = replace(scene.materials[3], dispersion=10.0)
    assert glass.iors == (1.375, 1.5, 1.625)
    scene.materials[3] = glass if channel is None else replace(glass, ior=glass.iors[channel], dispersion=0.0)
    return scene


def render(scene: Scene, device: Any, size: tuple[int, int] = (40, 30), spp: int = 1, **options: Any) -> NDArray:
    given = {"machine": "singlepass", "environment": SKY, "pixel_filter": "point", "sampler": "independent", **options}
    return Renderer(scene, device=device, **given).render(size=size, spp=spp).linear.astype(np.float64)


@pytest.fixture(scope="module")
def alone(device) -> NDArray:
    """Whitted's picture in which every channel is that of the scene whose glass has its index for all."""
    pictures = [render(dispersed(channel), device, program="whitted") for channel in range(3)]
    assert all(np.abs(pictures[1] - pictures[k])[..., k].max() > 0.1 for k in (0, 2))
    return np.stack([picture[..., k] for k, picture in enumerate(pictures)], axis=-1)


def test_each_channel_of_whitted_s_tree_has_its_index(alone, device):
    picture = render(dispersed(), device, program="whitted")
    # Of each channel the same operations in the same order; another driver may round a few rays past an edge.
    assert np.mean(np.abs(picture - alone).max(axis=2) > 1e-5) < 0.01


@pytest.mark.parametrize("name", ["glass", "diamond"])
def test_white_furnace(device, name: str):
    """Every path brings the sum of all channels, in one or in three; each channel is white in the mean."""
    ior = {"glass": 1.5, "diamond": 2.4}[name]
    plate = places.box() * np.float32([4, 0.05, 4])
    glass = places.material(1.0, kind="dielectric", ior=ior, dispersion=2.0)
    camera = replace(places.FRONT, origin=(0, 0.2, 1.0), target=(0, 0, 0.8), fov=100.0)  # from upright to grazing
    scene = places.alone(plate, glass, camera)
    picture = render(scene, device, (64, 64), program="path", depth=100, environment=(1.0, 1.0, 1.0), spp=4)
    # A few hundred products of float32; one path in a million goes astray at an edge.
    assert np.mean(np.isclose(picture.sum(axis=2), 3.0, rtol=2e-5)) > 0.999
    parted = np.abs(picture - 1).max(axis=2) > 0.1
    assert parted.mean() > 0.5
    error = picture.reshape(-1, 3).std(axis=0) / 64
    assert (np.abs(picture.reshape(-1, 3).mean(axis=0) - 1) < MOST * error).all() and error.max() < 0.02


def test_paths_are_whitted_s_tree_in_the_mean(device):
    """Where there is glass alone, before a sky: each channel of blocks of 8 x 8 pixels, which differ from the picture
    without chance by their own spread alone."""
    scene = places.alone(
        places.sphere(3), places.material(0.9, kind="dielectric", ior=1.5, dispersion=6.0), places.FRONT
    )
    common: dict[str, Any] = {"size": (32, 32), "environment": "sky", "depth": 5}
    tree = render(scene, device, program="whitted", **common)
    paths = np.stack([render(scene, device, program="path", spp=16, seed=k, **common) for k in range(2)])
    apart = (paths - tree).reshape(2, 4, 8, 4, 8, 3)
    error = np.sqrt(apart.var(axis=(0, 2, 4)) / (2 * 64)) + 1e-6
    assert np.abs(apart.mean(axis=(0, 2, 4)) / error).max() < MOST


RUNS: dict[str, dict[str, Any]] = {
    "single pass": {"machine": "singlepass"},
    "fused": {"machine": "multipass", "fuse": "surface"},
    "every kernel": {"machine": "multipass", "fuse": "none"},
}


@pytest.mark.parametrize("program", ["whitted", "path", "photon"])
def test_the_same_bits_from_every_machine(program: str, device):
    more: dict[str, Any] = {"depth": 2}
    runs = dict(RUNS)
    if program == "path":  # which is fused in test_path_trace
        del runs["fused"]
    if program == "photon":  # whose eye rays are a tree like Whitted's; kernel by kernel: test_gather
        more = {"depth": 1, "photons": 400, "photon_bounces": 3}
        del runs["every kernel"]
    pictures = {
        name: render(dispersed(), device, (11, 9), 2, program=program, **run, **more) for name, run in runs.items()
    }
    first = pictures.pop("single pass")
    assert first.max() > 0
    for name, picture in pictures.items():
        assert np.array_equal(picture, first), name


def test_glass_that_comes_to_part_channels_in_a_renderer_in_use(device):
    """Program, shaders and stack follow the scene's materials, there and back."""
    glass = places.material(1.0, kind="dielectric")
    plain = places.alone(places.box(), glass, places.FRONT)
    parting = replace(plain, materials=[replace(glass, dispersion=9.0)])
    renderer = Renderer(plain, device=device, program="whitted", machine="singlepass", environment=SKY, depth=1)
    pictures = []
    for scene in (plain, parting, plain):
        renderer.update(scene)
        pictures.append(renderer.render(size=(16, 12), spp=1).linear)
    assert np.array_equal(pictures[0], pictures[2]) and not np.array_equal(pictures[0], pictures[1])


PLATE = places.box() * np.float32([4, 0.05, 4])
OVER_IT = replace(places.FRONT, origin=(0, 0.2, 1.0), target=(0, 0, 0.8), fov=100.0)  # from upright to grazing


def glass(dispersion: float = 10.0, **more: Any) -> Material:
    """Its indices are 1.375, 1.5 and 1.625, which float32 holds."""
    own = {"ior": 1.5, "roughness": 0.0, "transmission": 1.0, "thickness": 1.0, **more}
    return Material("glass", (1.0, 1.0, 1.0, 1.0), kind="principled", dispersion=dispersion, **own)


def ball(material: Material, light: float = 0.0) -> Scene:
    """A ball over a floor, and a panel that shines, or not."""
    floor = places.quads([[(-3, -1, -3), (-3, -1, 3), (3, -1, 3), (3, -1, -3)]])
    panel = places.quads([[(-1, 3, -1), (1, 3, -1), (1, 3, 1), (-1, 3, 1)]])
    meshes = [places.flat(places.sphere(2), 0), places.flat(floor, 1), places.flat(panel, 2)]
    return places.scene(meshes, [material, places.material(0.5), places.material(0.0, shines=light)], places.FRONT)


def single(scene: Scene, channel: int) -> Scene:
    """With one channel's index for all."""
    own = scene.materials[0]
    return replace(scene, materials=[replace(own, ior=own.iors[channel], dispersion=0.0), *scene.materials[1:]])


@pytest.mark.parametrize("roughness", [0.0, 0.4])
def test_white_furnace_of_gltf_glass(device, roughness: float):
    """Each channel is white in the mean: paths bring all of them, or three times one."""
    scene = places.alone(PLATE, glass(5.0, roughness=roughness), OVER_IT)
    picture = render(scene, device, (64, 64), program="path", depth=60, environment=(1.0, 1.0, 1.0), spp=4)
    if roughness == 0.0:  # products of float32; one path in a million goes astray at an edge
        assert np.mean(np.isclose(picture.sum(axis=2), 3.0, rtol=1e-4)) > 0.999
    assert (np.abs(picture - 1).max(axis=2) > 0.1).mean() > 0.5
    blocks = picture.reshape(8, 8, 8, 8, 3).mean(axis=(1, 3)).reshape(-1, 3)
    error = blocks.std(axis=0) / 8
    # What the tables of rough glass are off by at grazing angles: 1 %.
    bias = 0.01 if roughness else 0.0
    assert (np.abs(blocks.mean(axis=0) - 1) < MOST * error + bias).all() and error.max() < 0.02


@pytest.mark.parametrize("paths", ["both", "bsdf"])
def test_rough_glass_is_that_of_each_index_in_the_mean(device, paths: str):
    """Light is sampled for the channel that the path goes on in: weights of both ways add up to one for each."""
    panel = places.quads([[(-2, 2, -2), (2, 2, -2), (2, 2, 2), (-2, 2, 2)]])
    camera = replace(places.FRONT, origin=(0, -1.5, 0.4), target=(0.6, 0, 0), fov=60.0)
    meshes = [places.flat(PLATE, 0), places.flat(panel, 1)]
    scene = places.scene(meshes, [glass(20.0, roughness=0.4), places.material(0.0, shines=1.0)], camera)
    common: dict[str, Any] = {"program": "path", "depth": 6, "strategy": paths, "environment": "none"}
    found = render(scene, device, (32, 32), 32, **common)
    alone = np.stack([render(single(scene, c), device, (32, 32), 32, seed=c, **common)[..., c] for c in range(3)], -1)
    apart = (found - alone).reshape(8, 4, 8, 4, 3).mean(axis=(1, 3)).reshape(-1, 3)  # of 64 blocks
    error = apart.std(axis=0) / 8
    assert (np.abs(apart.mean(axis=0)) < MOST * error).all() and (error < 0.02 * alone.mean()).all()
    assert np.ptp(alone.mean(axis=(0, 1))) > 0.05 * alone.mean()  # and the channels differ
