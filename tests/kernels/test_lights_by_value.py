"""Shadow rays of Whitted's tracer and of the photon program, and the channel that a path goes on in, kernel by
kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from kernel_call import INTERACTION, MEDIA, Kernel
from numpy.typing import NDArray
from sample_numbers import CAMERA, DIMENSIONS, LIGHT_CHOICE, NUMBERS, POINT, SURFACE, random_number

from raystream.kernels.records import PATH, PIXEL, RADIANCE, RAY
from raystream.kernels.whitted import TREE
from raystream.lighting.lights import LIGHT_SAMPLE
from raystream.stream.declare.record import Field, Record

COUNT, SAMPLES, LIGHTS = 96, 3, 4
CONTEXT = Record("LightContext", Field("place", "vec3"), Field("behind", "float"), Field("receiver", "vec3"))
RECORDS = [INTERACTION, MEDIA, PIXEL, PATH, RAY, RADIANCE, TREE, CONTEXT, LIGHT_SAMPLE]
SETTINGS: dict[str, tuple[str, Any]] = {"path_light_samples": ("int", SAMPLES), "whitted_shadows": ("int", 1)}
# Light 1 brings nothing to a place below; lights 0 and 1 have extent. A surface's ``third`` of 1 is a mirror.
STAND_INS = """
bool bsdf_delta(Interaction at) { return at.third > 0.5; }
vec3 bsdf_value(Interaction at, vec3 wo, vec3 wi) { return at.first * vec3(1.0, 0.5, 0.25) * wi.y * wo.x; }
vec3 bsdf_reflectance(Interaction at) { return at.second * vec3(0.5, 0.25, 1.0); }
int each_light_count() { return 4; }
bool each_light_sample(int index, vec3 position, float choose, vec2 u, out LightSample found) {
    found.direction = vec3(0.6, 0.8, 0.0);
    found.distance = 100.0;
    found.weight = vec3(choose, u) + float(1 + index);
    found.pdf = index < 2 ? 0.5 : 0.0;
    return index != 1 || position.y > 0.0;
}
void light_choose(LightContext context, float choose, bool looks) {}
bool light_sample(vec3 position, float choose, vec2 u, bool compensated, out LightSample found) {
    bool there = each_light_sample(2, position, choose, u, found);
    found.weight *= compensated ? 9.0 : 1.0;
    return there && position.y > -0.5;
}
vec3 ambient_irradiance(vec3 normal) { return 2.0 + normal; }
vec3 media_transmitted(Media media, Interaction at, vec3 direction, float distance, vec3 light) {
    return light / float(1 + media.inside);
}
LightContext light_context(vec3 position, vec4 receiver) { return LightContext(position, receiver.w, receiver.xyz); }
bool path_counts(int surfaces) { return surfaces != 2; }
"""
TEXT = NUMBERS + STAND_INS
INCLUDES = [
    "interface/interaction.glsl",
    "interface/light.glsl",
    "interface/light_each.glsl",
    "shading/dimensions.glsl",
]


def light_kernel(device: Any, signature: str) -> Kernel:
    """A kernel that goes on with the samples of a tree's lights."""
    return Kernel(device, signature, ["again", "shadow", "end"], RECORDS, SETTINGS, DIMENSIONS, TEXT, INCLUDES)


def state(seed: int) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
    """Pixels, surfaces, paths, media, and trees whose light is any of all samples of all lights."""
    random = np.random.default_rng(seed)
    pixel, at, path, media, tree = (np.zeros(COUNT, each.dtype) for each in (PIXEL, INTERACTION, PATH, MEDIA, TREE))
    pixel["at"] = np.stack([np.arange(COUNT) % 32, np.full(COUNT, 5)], axis=1)
    at["position"], at["normal"], at["error"] = random.uniform(-1, 1, (COUNT, 3)), (0.0, 1.0, 0.0), 0.125
    at["shading"], at["wo"] = (0.0, 0.8, 0.6), np.array([0.5, 1, 0]) * np.where(np.arange(COUNT) % 3, 1, -1)[:, None]
    at["first"], at["second"] = random.uniform(0.25, 0.75, (2, COUNT))
    at["first"][::7], at["third"] = 0.0, np.arange(COUNT) % 5 == 0
    path["throughput"] = random.uniform(0.5, 1.5, (COUNT, 3))
    path["depth"], path["number"] = random.integers(0, 4, COUNT), random.integers(0, 9, COUNT)
    media["inside"] = random.integers(0, 4, COUNT)
    tree["light"] = np.arange(COUNT) % (SAMPLES * LIGHTS + 2)
    tree["pending"], tree["channel"] = 2, 1
    return pixel, at, path, media, tree


def numbers_of(pixel: NDArray, path: NDArray, turn: NDArray) -> NDArray:
    number, first = path["number"] * SAMPLES + turn, CAMERA + SURFACE * path["depth"]
    return np.stack([random_number(pixel["at"], number, first + k) for k in (LIGHT_CHOICE, POINT, POINT + 1)], axis=1)


def check_shadow_rays(ray: NDArray, at: NDArray, asks: NDArray) -> None:
    np.testing.assert_allclose(ray["t_max"][asks], 100.0 * 0.99999 - 4.0 * 0.125, rtol=1e-6)
    np.testing.assert_allclose(ray["origin"][asks], (at["position"] + [0.0, 0.125, 0.0])[asks], atol=1e-6)
    np.testing.assert_allclose(ray["direction"][asks], np.tile([0.6, 0.8, 0.0], (asks.sum(), 1)), rtol=1e-6)
    assert set(ray["any_hit"][asks].tolist()) == {1}


def test_shadow_rays_by_power(device: Any) -> None:
    """As many as there shall be, each with an equal share."""
    pixel, at, path, media, tree = state(2)
    tree["light"] %= SAMPLES + 1
    ray = np.zeros(COUNT, RAY.dtype)
    ray["t_max"] = 9.0
    arguments = (
        "in Pixel pixel, in Interaction at, in Path route, in Media media, inout Tree tree, inout Ray ray, "
        "out Radiance pending"
    )
    next_shadow_ray = light_kernel(device, f"int next_shadow_ray({arguments})")
    exits, (after, ray_after, pending) = next_shadow_ray(pixel, at, path, media, tree, ray)
    looks = (at["third"] == 0) & (path["depth"] + 1 != 2) & (tree["light"] < SAMPLES)
    asks = looks & (at["position"][:, 1] > -0.5) & (at["first"] > 0)
    assert exits == np.where(~looks, "end", np.where(asks, "shadow", "again")).tolist()
    np.testing.assert_array_equal(after["light"], np.where(looks, tree["light"] + 1, 0))
    value = at["first"][:, None] * np.float32([1.0, 0.5, 0.25]) * 0.8 * at["wo"][:, :1]
    brought = path["throughput"] * (numbers_of(pixel, path, tree["light"]) + 3) * value / SAMPLES
    waits = brought / (1 + media["inside"])[:, None]
    np.testing.assert_allclose(pending["rgb"][asks], waits[asks], rtol=1e-5)
    assert not pending["rgb"][~looks].any()
    check_shadow_rays(ray_after, at, asks)
    np.testing.assert_array_equal(ray_after["t_max"][~asks], 9.0)
