"""Power of a photon that leaves a surface: weighed by shading normals as it goes from the light on, and not scaled, as
radiance is, where it crosses into another index (Veach 1997, sections 5.2 and 5.3.2)."""

from __future__ import annotations

from typing import Any

import glsl_call
import numpy as np
import pytest

from raystream.kernels.photons import STORED
from raystream.kernels.records import INTERACTION, PATH, PIXEL, RAY
from raystream.lighting.path import path_settings
from raystream.lighting.sampler import sampler
from raystream.materials.bsdf import bsdfs
from raystream.materials.media import MEDIA, ray_media
from raystream.materials.surface_features import SurfaceFeatures
from raystream.scene.material import KINDS
from raystream.stream.declare.kernel import Module

COUNT, WIDTH, BOUNCES = 4096, 64, 4
ALBEDO = np.array([0.9, 0.45, 0.3])
TOLD = "void told(int number, int depth, Interaction at, out vec3 power, out vec3 way)"


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def scattered(device: Any) -> glsl_call.Function:
    constants = {
        "photon_pass": 0,
        "photon_width": WIDTH,
        "photon_bounces": BOUNCES,
        "photon_kinds": sum(STORED.values()),
    }
    constants |= {f"PHOTON_{name.upper()}": number for name, number in STORED.items()}
    surfaces = SurfaceFeatures(frozenset({"lambert", "dielectric"}))
    modules = [*bsdfs(surfaces), path_settings(), sampler("independent"), ray_media(INTERACTION, nested=False)]
    modules += [
        Module("photons", ("photon_settings",), "interface/photon.glsl", constants={**constants, "EXIT_DONE": 0})
    ]
    text = f"""{TOLD} {{
        Pixel pixel = Pixel(ivec2(number % {WIDTH}, number / {WIDTH}));
        Path path;
        path.throughput = vec3(1.0);
        path.pdf = 0.0;
        path.depth = depth;
        path.number = 0;
        path.cone = vec2(0.0);
        Media media = media_of(0);
        Ray ray = Ray(vec3(0.0), 1.0, vec3(0.0), 0);
        scatter_photon(pixel, at, path, media, ray);
        power = path.throughput;
        way = ray.direction;
    }}"""
    with device.current():
        return glsl_call.Function(
            device, TOLD, ["kernels/scatter_photon.glsl"], modules, [INTERACTION, PATH, RAY, PIXEL, MEDIA[False]], text
        )


def test_shading_normals_weigh_power(scattered: glsl_call.Function) -> None:
    """Of a matte surface whose shading normal leans: albedo times the ratio of the cosines to both normals, each way;
    what is more than all stays in the photon, what is less is the chance to go on."""
    at = np.zeros(COUNT, INTERACTION.dtype)
    at["kind"], at["albedo"], at["normal"] = KINDS["lambert"], ALBEDO, (0, 0, 1)
    at["shading"], at["wo"] = unit(np.array([[0.5, 0, 1]]))[0], unit(np.array([[-0.7, 0.1, 0.6]]))[0]
    power, way = (each.astype(float) for each in scattered(np.arange(COUNT), np.zeros(COUNT), at))
    goes = power.any(axis=1)
    wo, shading = at["wo"][0].astype(float), at["shading"][0].astype(float)
    weight = (shading @ wo) * way[goes, 2] / ((way[goes] @ shading) * wo[2])
    survives = np.minimum(weight * ALBEDO.max(), 1)
    np.testing.assert_allclose(power[goes], weight[:, None] * ALBEDO / survives[:, None], rtol=1e-4)
    assert (weight * ALBEDO.max() > 1).any() and (survives < 0.5).sum() > 100
    # In all as much power goes on as directions about the shading normal, by the cosine, have of that weight.
    turn, up = np.random.default_rng(1).random((2, 200_000))
    local = np.stack([np.sqrt(up) * np.cos(2 * np.pi * turn), np.sqrt(up) * np.sin(2 * np.pi * turn), np.sqrt(1 - up)])
    frame = np.stack([(shading[2], 0, -shading[0]), (0, 1, 0), shading])
    ways = local.T @ frame
    above = ways[:, 2] > 0
    want = np.where(above, (shading @ wo) * ways[:, 2] / (local[2] * wo[2]), 0).mean() * ALBEDO
    assert np.abs(power.mean(axis=0) - want).max() < 4.5 * power.std() / np.sqrt(COUNT)


def test_power_is_not_scaled_by_the_index(scattered: glsl_call.Function) -> None:
    at = np.zeros(COUNT, INTERACTION.dtype)
    at["kind"], at["albedo"], at["parameter"] = KINDS["dielectric"], 1.0, 1.5
    at["normal"] = at["shading"] = (0, 0, 1)
    at["wo"] = unit(np.array([[0.3, 0, 1.0]]))[0] * np.where(np.arange(COUNT)[:, None] % 2, 1, -1)
    power, way = scattered(np.arange(COUNT), np.zeros(COUNT), at)
    crosses = way[:, 2] * at["wo"][:, 2] < 0
    assert 0.9 < crosses.mean() < 0.99
    np.testing.assert_allclose(power, 1.0, rtol=1e-5)
    depth = np.arange(COUNT) % 8  # surfaces that it has left: one more is the last
    assert np.array_equal(scattered(np.arange(COUNT), depth, at)[0].any(axis=1), depth < BOUNCES)
