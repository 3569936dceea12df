"""Steps of a path, kernel by kernel: where it begins, what it meets, which light it asks for, where it goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_call import INTERACTION, MEDIA, Kernel
from numpy.typing import NDArray
from sample_numbers import CAMERA, DIMENSIONS, DIRECTION, LOBE, NUMBERS, SURFACE, random_number

from raystream.kernels.records import FAR, FILM, HIT, PATH, PIXEL, RADIANCE, RAY, RAY_VIEW
from raystream.lighting.lights import LIGHT_SAMPLE
from raystream.stream.declare.record import Field, Record

COUNT = 96
CONTEXT = Record("LightContext", Field("place", "vec3"), Field("behind", "float"), Field("receiver", "vec3"))
VISIBILITY = Record("Visibility", Field("light", "float"), Field("hidden", "float"))
RECORDS = [INTERACTION, MEDIA, PIXEL, PATH, RAY, HIT, RADIANCE, FILM, CONTEXT, LIGHT_SAMPLE, VISIBILITY]
SETTINGS: dict[str, tuple[str, Any]] = {
    "path_depth": ("int", 4),
    "path_samples": ("int", 5),
    "path_strategy": ("int", 0),
    "path_roulette": ("int", 3),
    "path_shared": ("int", 0),
}
BOTH, LIGHTS, BSDF = 0, 1, 2
# Random numbers tell their pixel, sample and dimension. A surface scatters with ``first`` into a direction that tells
# the numbers, with the density ``second``, unless ``third`` is 2; those of 1 are mirrors.
STAND_INS = """
bool bsdf_sample(Interaction at, vec3 wo, vec3 u, out vec3 wi, out vec3 weight, out float pdf) {
    wi = u * 2.0 - 1.0;
    weight = at.first * vec3(1.0, 0.5, 0.25) * wo.x;
    pdf = at.third > 0.5 ? 0.0 : at.second;
    return at.third < 1.5;
}
bool bsdf_delta(Interaction at) { return at.third > 0.5; }
vec3 bsdf_evaluate(Interaction at, vec3 wo, vec3 wi, out float pdf) {
    pdf = at.second;
    return at.first * vec3(1.0, 0.5, 0.25) * abs(wi) * wo.x;
}
float bsdf_index(Interaction at) { return 1.0; }
bool bsdf_single(Interaction at) { return at.third > 0.5; }
Media media_of(int number) { return Media(number + 7); }
Media media_behind(Media media, Interaction at, vec3 direction) { return Media(media.inside + int(direction.y > 0.0)); }
vec3 media_transmitted(Media media, Interaction at, vec3 direction, float distance, vec3 light) {
    return light / float(1 + media.inside);
}
void media_surround(Media media, inout Interaction at) { at.error = float(media.inside); }
LightContext light_context(vec3 position, vec4 receiver) { return LightContext(position, receiver.w, receiver.xyz); }
bool path_counts(int surfaces) { return surfaces != 2; }
float mis_weight(float mine, float other) { return mine / (mine + 2.0 * other); }
vec2 cone_scattered(vec2 cone, float pdf) { return cone + pdf; }
float cone_width(vec2 cone, vec3 origin, float t) { return cone.x * t + cone.y; }
"""
TEXT = NUMBERS + STAND_INS
INCLUDES = ["interface/interaction.glsl", "interface/cone.glsl", "shading/dimensions.glsl"]


def kernel(device: Any, signature: str, *exits: str, text: str = TEXT, features: tuple[str, ...] = ()) -> Kernel:
    return Kernel(device, signature, exits, RECORDS, SETTINGS, DIMENSIONS, text, INCLUDES, features)


def pixels() -> NDArray:
    pixel = np.zeros(COUNT, PIXEL.dtype)
    pixel["at"] = np.stack([np.arange(COUNT) % 32, np.full(COUNT, 5)], axis=1)
    return pixel


def surfaces(random: np.random.Generator) -> NDArray:
    at = np.zeros(COUNT, INTERACTION.dtype)
    at["position"] = random.uniform(-1, 1, (COUNT, 3))
    at["normal"], at["shading"], at["error"] = (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), 0.125
    at["first"], at["second"] = random.uniform(0.25, 0.75, (2, COUNT))
    at["third"] = np.arange(COUNT) % 3
    at["wo"] = (0.5, 0.75, 0.0)
    at["first"][:6], at["first"][10:20] = 0.0, 4.0
    return at


def paths(random: np.random.Generator) -> NDArray:
    path = np.zeros(COUNT, PATH.dtype)
    path["throughput"] = random.uniform(0.5, 1.5, (COUNT, 3))
    path["depth"], path["number"] = random.integers(0, 5, COUNT), random.integers(0, 9, COUNT)
    path["pdf"], path["cone"] = random.choice([-1.0, 0.0, 0.5, 2.0], COUNT), (0.25, 0.5)
    return path


@pytest.mark.parametrize("features", [(), ("CULLED", "BLEND"), ("SMOOTH",)])
def test_where_a_path_goes_on(device: Any, features: tuple[str, ...]) -> None:
    """With the weight, its own random numbers, roulette beyond so many surfaces; a view only along mirrors alone."""
    random = np.random.default_rng(1)
    at, path, pixel, media = surfaces(random), paths(random), pixels(), np.zeros(COUNT, MEDIA.dtype)
    media["inside"] = random.integers(0, 4, COUNT)
    if "SMOOTH" in features:
        at["error"][::4] = -0.125  # above the surface already
    arguments = (
        "in Pixel pixel, in Interaction at, inout Path route, inout Media media, out LightContext context, out Ray ray"
    )
    exits, (after, media_after, context, ray) = kernel(
        device, f"int scatter({arguments})", "ray", "end", features=features
    )(pixel, at, path, media)
    first = CAMERA + SURFACE * path["depth"]
    u = np.stack(
        [random_number(pixel["at"], path["number"], first + k) for k in (DIRECTION, DIRECTION + 1, LOBE)], axis=1
    )
    roulette = random_number(pixel["at"], path["number"], first + LOBE + 1)
    weight = at["first"][:, None] * np.float32([1.0, 0.5, 0.25]) * 0.5
    throughput = path["throughput"] * weight
    brightest = throughput.max(axis=1)
    survives = np.minimum(np.sqrt(brightest), 0.98)
    plays = path["depth"] + 1 >= 3
    goes_on = (at["third"] < 2) & (brightest > 0) & (~plays | (roulette < survives))
    assert exits == np.where(goes_on, "ray", "end").tolist()
    assert (plays & goes_on).sum() > 5 and (plays & ~goes_on & (at["third"] < 2) & (brightest > 0)).sum() > 5
    np.testing.assert_array_equal(after["depth"], path["depth"] + 1)
    on = goes_on
    expected = np.where(plays[:, None], throughput / np.maximum(survives, 1e-9)[:, None], throughput)
    np.testing.assert_allclose(after["throughput"][on], expected[on], rtol=1e-5)
    np.testing.assert_allclose(ray["direction"][on], (u * 2 - 1)[on], atol=1e-6)
    up = np.where(ray["direction"][:, 1] < 0, -1, 1)[:, None] * [0.0, 1.0, 0.0] * np.maximum(at["error"], 0)[:, None]
    np.testing.assert_allclose(ray["origin"][on], (at["position"] + up)[on], atol=1e-6)
    np.testing.assert_array_equal(ray["t_max"][on], np.float32(FAR))
    mirror = at["third"] == 1
    view = (path["pdf"] == 0) & mirror
    density = np.where(mirror, np.where(view, 0.0, -1.0), at["second"])
    np.testing.assert_array_equal(after["pdf"][on], density[on].astype(np.float32))
    np.testing.assert_allclose(after["cone"][on, 0], 0.25 + np.where(mirror, 0.0, at["second"])[on], rtol=1e-6)
    tag = RAY_VIEW * view * ("CULLED" in features) + 2 * path["number"] * ("BLEND" in features)
    np.testing.assert_array_equal(ray["any_hit"][on], tag[on])
    np.testing.assert_array_equal(media_after["inside"][on], (media["inside"] + (ray["direction"][:, 1] > 0))[on])
    np.testing.assert_array_equal(context["place"], at["position"])
