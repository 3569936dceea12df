"""Photons' power: what the lights send is what arrives or is absorbed, and what a surface makes of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import glsl_call
import numpy as np
import pytest
from test_photon_map import photons_of

import raystream
from raystream import Renderer
from raystream.kernels.photons import STORED
from raystream.kernels.records import INTERACTION, PATH, PIXEL, RAY
from raystream.lighting.path import path_settings
from raystream.lighting.sampler import sampler
from raystream.materials.bsdf import bsdfs
from raystream.materials.media import MEDIA, ray_media
from raystream.materials.surface_features import SurfaceFeatures
from raystream.scene.light import Light
from raystream.scene.material import KINDS, Material
from raystream.stream.declare.kernel import Module

ALBEDO, INTENSITY = np.array((0.8, 0.5, 0.2)), np.array((1.0, 2.0, 3.0))
PHOTONS, BOUNCES = 4096, 5
# A unit cube around the origin, of two triangles a side, z = -1/2 first.
CORNERS = np.array([[x, y, z] for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)])
SIDES = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]


def photons_in_a_room(walls: int, final_gather: int = 0) -> np.ndarray:
    """(bounces, photons) of `PHOTON` that a point light in the middle of a cube sends, of which ``walls`` are there."""
    triangles = [(a, b, c) for a, b, c, d in SIDES[:walls]] + [(a, c, d) for a, b, c, d in SIDES[:walls]]
    scene = raystream.Scene.from_triangles(CORNERS.tolist(), [list(t) for t in triangles])
    scene.materials = [Material("wall", (*ALBEDO, 1.0))]
    scene.lights = [Light("point", "lamp", (0.0, 0.0, 0.0), intensity=tuple(INTENSITY))]
    options: dict[str, Any] = {"program": "photon", "machine": "singlepass", "environment": "none"}
    options |= {"photons": PHOTONS, "photon_bounces": BOUNCES, "final_gather": final_gather}
    renderer = Renderer(scene, **options, camera="0,0,0 0,0,1")
    renderer.render((2, 2), spp=1)
    return photons_of(renderer)[:, :PHOTONS]


@pytest.fixture(scope="module")
def closed() -> np.ndarray:
    return photons_in_a_room(6)


def test_all_that_is_sent_arrives_in_a_closed_room(closed: np.ndarray) -> None:
    emitted = 4 * np.pi * INTENSITY
    first = closed["power"][0].astype(float)
    assert first.all() and np.allclose(first.sum(axis=0), emitted, rtol=1e-5)  # roundings of float32
    assert np.allclose(first, emitted / PHOTONS, rtol=1e-5)


def test_what_is_not_absorbed_goes_on(closed: np.ndarray) -> None:
    """Each photon is absorbed in full, or goes on with its power times albedo over the chance of that, the albedo's
    largest component: so that absorbed and going on are, within the roundings, the power that came."""
    power = closed["power"].astype(float)
    emitted = power[0].sum(axis=0)
    for before, after in pairwise(power):
        alive = after.any(axis=1)
        assert not after[~before.any(axis=1)].any()  # none comes back
        assert np.allclose(after[alive], before[alive] * ALBEDO / ALBEDO.max(), rtol=1e-5)
        count, gone = before.any(axis=1).sum(), alive.sum()
        chance = ALBEDO.max()
        assert abs(gone - chance * count) < 4 * np.sqrt(count * chance * (1 - chance))  # standard errors
    absorbed = power[:-1] - power[1:]
    assert np.allclose(absorbed.sum(axis=(0, 1)) + power[-1].sum(axis=0), emitted, rtol=1e-5)
    # And per bounce what the albedo leaves of all, within four standard errors of the number that is left.
    for bounce in range(BOUNCES):
        left = power[bounce].sum(axis=0) / emitted / ALBEDO**bounce
        assert np.allclose(left, 1, atol=4 * np.sqrt((ALBEDO.max() ** -bounce - 1) / PHOTONS) + 1e-5)


def test_what_finds_no_wall_has_left_the_scene(closed: np.ndarray) -> None:
    """Of a cube that lacks a wall a sixth of the first photons; the others are the same ones as in the closed cube."""
    open_ = photons_in_a_room(5)
    there = open_["power"][0].any(axis=1)
    assert abs(there.sum() - PHOTONS * 5 / 6) < 4 * np.sqrt(PHOTONS * 5 / 36)
    assert np.array_equal(open_["power"][0][there], closed["power"][0][there])
    left = closed["power"][0].astype(float)[~there].sum(axis=0)
    emitted = 4 * np.pi * INTENSITY
    assert np.allclose(open_["power"][0].astype(float).sum(axis=0) + left, emitted, rtol=1e-5)
    outside = np.abs(closed["position"][0][~there]).argmax(axis=1)
    assert (outside == 0).all()  # they would have come to the wall at x = 1/2 that is not there


def test_direct_light_is_in_the_map_for_a_final_gather_alone(closed: np.ndarray) -> None:
    assert not closed["stored"][0].any() and (closed["stored"][1:] > 0).sum() == closed["power"][1:].any(axis=2).sum()
    gathered = photons_in_a_room(6, final_gather=1)
    # Of matte walls none is caustic, straight from a light or not.
    assert (gathered["stored"] == np.where(gathered["power"].any(axis=2), STORED["indirect"], 0)).all()
    for name in ("position", "power", "bounce", "direction"):
        assert np.array_equal(gathered[name], closed[name])


COUNT, WIDTH, SCATTERED_BOUNCES = 4096, 64, 4
SCATTERED_ALBEDO = np.array([0.9, 0.45, 0.3])
TOLD = "void told(int number, int depth, Interaction at, out vec3 power, out vec3 way)"


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def scattered(device: Any) -> glsl_call.Function:
    constants = {
        "photon_pass": 0,
        "photon_width": WIDTH,
        "photon_bounces": SCATTERED_BOUNCES,
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
    at["kind"], at["albedo"], at["normal"] = KINDS["lambert"], SCATTERED_ALBEDO, (0, 0, 1)
    at["shading"], at["wo"] = unit(np.array([[0.5, 0, 1]]))[0], unit(np.array([[-0.7, 0.1, 0.6]]))[0]
    power, way = (each.astype(float) for each in scattered(np.arange(COUNT), np.zeros(COUNT), at))
    goes = power.any(axis=1)
    wo, shading = at["wo"][0].astype(float), at["shading"][0].astype(float)
    weight = (shading @ wo) * way[goes, 2] / ((way[goes] @ shading) * wo[2])
    survives = np.minimum(weight * SCATTERED_ALBEDO.max(), 1)
    np.testing.assert_allclose(power[goes], weight[:, None] * SCATTERED_ALBEDO / survives[:, None], rtol=1e-4)
    assert (weight * SCATTERED_ALBEDO.max() > 1).any() and (survives < 0.5).sum() > 100
    # In all as much power goes on as directions about the shading normal, by the cosine, have of that weight.
    turn, up = np.random.default_rng(1).random((2, 200_000))
    local = np.stack([np.sqrt(up) * np.cos(2 * np.pi * turn), np.sqrt(up) * np.sin(2 * np.pi * turn), np.sqrt(1 - up)])
    frame = np.stack([(shading[2], 0, -shading[0]), (0, 1, 0), shading])
    ways = local.T @ frame
    above = ways[:, 2] > 0
    want = np.where(above, (shading @ wo) * ways[:, 2] / (local[2] * wo[2]), 0).mean() * SCATTERED_ALBEDO
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
    assert np.array_equal(scattered(np.arange(COUNT), depth, at)[0].any(axis=1), depth < SCATTERED_BOUNCES)
