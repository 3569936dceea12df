"""Dispersion of glTF's materials (KHR_materials_dispersion): channels as in scenes of their index, energy, bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import places
import pytest
from inlined import single_pass
from numpy.typing import NDArray

from raystream import Renderer, Scene
from raystream.materials.surface_features import material_features
from raystream.scene.material import Material

SKY = (0.2, 0.3, 0.5)
MOST = 4.5  # standard errors: one value in 150,000 lies farther off
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


def render(scene: Scene, device: Any, size: tuple[int, int] = (20, 15), spp: int = 1, **options: Any) -> NDArray:
    given = {"machine": "singlepass", "environment": SKY, "pixel_filter": "point", "sampler": "independent", **options}
    return Renderer(scene, device=device, **given).render(size=size, spp=spp).linear.astype(np.float64)


def test_only_what_refracts_into_a_volume_parts_channels():
    assert glass().iors == (1.375, 1.5, 1.625) and material_features([glass()]).dispersion
    for plain in (glass(0.0), glass(transmission=0.0), glass(thickness=0.0), glass(ior=1.0)):
        assert not material_features([plain]).dispersion and plain.iors == (plain.ior,) * 3


def test_each_channel_of_whitted_s_tree_has_its_index(device):
    scene = ball(glass())
    picture = render(scene, device, program="whitted", depth=2)
    alone = [render(single(scene, channel), device, program="whitted", depth=2) for channel in range(3)]
    assert all(np.abs(alone[1] - alone[k])[..., k].max() > 0.1 for k in (0, 2))
    # Of each channel the same operations in the same order; another driver may round a few rays past an edge.
    for k in range(3):
        assert np.mean(np.abs(picture - alone[k])[..., k] > 1e-5) < 0.01


@pytest.mark.parametrize("roughness", [0.0, 0.4])
def test_white_furnace(device, roughness: float):
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


@pytest.mark.parametrize(
    "program", ["path", *(pytest.param(name, marks=pytest.mark.slow) for name in ("whitted", "photon"))]
)
def test_the_same_bits_from_both_machines(program: str, device):
    more: dict[str, Any] = {"depth": 2}
    if program == "photon":  # whose eye rays are a tree like Whitted's
        more = {"depth": 1, "photons": 400, "photon_bounces": 3}
    scene = ball(glass(roughness=0.01), light=4.0)
    runs = ({"machine": "singlepass"}, {"machine": "multipass", "fuse": "none"})
    first, second = (render(scene, device, (8, 6), 2, program=program, **run, **more) for run in runs)
    assert first.max() > 0 and np.array_equal(first, second)


def test_glass_of_one_index_has_no_part_of_it(device):
    renderer = Renderer(ball(glass(0.0)), device=device, program="path", machine="singlepass")
    _, text = single_pass(renderer)
    assert not any(
        word in text for word in ("half_spread", "channels_part", "interaction_channel", "DIMENSION_CHANNEL")
    )
