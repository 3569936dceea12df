"""Steps of a path, kernel by kernel: where it begins, what it meets, which light it asks for, where it goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_call import INTERACTION, MEDIA, Kernel
from numpy.typing import NDArray
from sample_numbers import CAMERA, DIMENSIONS, DIRECTION, LIGHT_CHOICE, LOBE, NUMBERS, POINT, SURFACE, random_number

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
        [random_number(pixel["at"], path["number"], first + k) for k in (DIRECTION, DIRECTION + 1, LOBE)],
        axis=1,
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


LIGHT = """
float chosen_here;
bool looks_here;
void light_choose(LightContext context, float choose, bool looks) { chosen_here = choose; looks_here = looks; }
bool light_sample(vec3 position, float choose, vec2 u, bool compensated, out LightSample found) {
    found.direction = vec3(0.6, 0.8, 0.0);
    found.distance = 100.0;
    found.weight = vec3(choose, u) + (compensated ? 1.0 : 2.0);
    found.pdf = position.x > 0.0 ? 0.75 : 0.0;
    return position.y > -0.5 && chosen_here == choose && looks_here;
}
"""


@pytest.mark.parametrize("strategy", [BOTH, LIGHTS, BSDF])
def test_a_light_waits_for_its_shadow_ray(device: Any, strategy: int) -> None:
    random = np.random.default_rng(2)
    at, path, pixel, media = surfaces(random), paths(random), pixels(), np.zeros(COUNT, MEDIA.dtype)
    media["inside"] = random.integers(0, 4, COUNT)
    ray = np.zeros(COUNT, RAY.dtype)
    ray["t_max"], at["error"][::4] = 9.0, -0.125  # of smooth surfaces, above them already
    arguments = "in Pixel pixel, in Interaction at, in Path route, in Media media, inout Ray ray, out Radiance pending"
    sample = kernel(
        device,
        f"int sample_light({arguments})",
        "shadow",
        "none",
        text=TEXT + LIGHT,
        features=("CULLED", "BLEND", "SMOOTH"),
    )
    sample.set(path_strategy=strategy)
    exits, (after, pending) = sample(pixel, at, path, media, ray)
    looks = (at["third"] < 1) & (strategy != BSDF) & (path["depth"] + 1 != 2)
    asks = looks & (at["position"][:, 1] > -0.5) & (at["first"] > 0)
    assert exits == np.where(asks, "shadow", "none").tolist() and asks.any() == (strategy != BSDF)
    first = CAMERA + SURFACE * path["depth"]
    u = np.stack(
        [random_number(pixel["at"], path["number"], first + k) for k in (LIGHT_CHOICE, POINT, POINT + 1)], axis=1
    )
    light = u + (1.0 if strategy == BOTH else 2.0)
    value = at["first"][:, None] * np.float32([1.0, 0.5, 0.25]) * [0.6, 0.8, 0.0] * 0.5
    brought = path["throughput"] * light * value
    extended = at["position"][:, 0] > 0
    if strategy == BOTH:
        brought[extended] *= (0.75 / (0.75 + 2.0 * at["second"]))[extended, None]
    brought /= (1 + media["inside"])[:, None]
    np.testing.assert_allclose(pending["rgb"][asks], brought[asks], rtol=1e-5)
    assert not pending["rgb"][~looks].any()
    np.testing.assert_array_equal(after["t_max"][~asks], 9.0)
    np.testing.assert_allclose(after["t_max"][asks], 100.0 * 0.99999 - 4.0 * 0.125, rtol=1e-6)
    up = np.maximum(at["error"], 0.0)[:, None] * [0.0, 1.0, 0.0]
    np.testing.assert_allclose(after["origin"][asks], (at["position"] + up)[asks], atol=1e-6)
    np.testing.assert_allclose(after["direction"][asks], np.tile([0.6, 0.8, 0.0], (asks.sum(), 1)), rtol=1e-6)
    np.testing.assert_array_equal(after["any_hit"][asks], (1 + 2 * path["number"])[asks])


MET = """
Interaction interaction_at(Ray ray, Hit hit, float width, out vec3 emission, out float light_pdf) {
    emission = vec3(float(hit.triangle + 1), 2.0, 3.0);
    light_pdf = 0.25;
    return Interaction(ray.origin, width, vec3(0.0, 0.6, 0.8), 1.0, vec3(0.0), 2.0, -ray.direction, 3.0);
}
Interaction interaction_nowhere(vec3 wo) {
    return Interaction(vec3(-7.0), 0.0, vec3(0.0), 0.0, vec3(0.0), 0.0, wo, 0.0);
}
vec3 environment_radiance(vec3 direction) { return direction * direction; }
float environment_pdf(vec3 direction, bool compensated) { return direction.x > 0.0 ? compensated ? 0.5 : 0.125 : 0.0; }
float emitter_pdf(LightContext context, Hit hit, float light_pdf, float facing) {
    return context.behind * light_pdf / facing;
}
"""


@pytest.mark.parametrize("strategy", [BOTH, LIGHTS, BSDF])
def test_what_a_path_meets(device: Any, strategy: int) -> None:
    """Emission counts in full where no light could have been sampled, else by its weight, or not at all."""
    random = np.random.default_rng(3)
    path, ray, hit = paths(random), np.zeros(COUNT, RAY.dtype), np.zeros(COUNT, HIT.dtype)
    media, context, radiance = (np.zeros(COUNT, each.dtype) for each in (MEDIA, CONTEXT, RADIANCE))
    direction = random.standard_normal((COUNT, 3))
    ray["direction"] = direction / np.linalg.norm(direction, axis=1)[:, None]
    ray["origin"], hit["t"], hit["triangle"] = (1.0, 2.0, 3.0), 4.0, np.arange(COUNT) % 4 - 1
    media["inside"], context["behind"] = 5, np.arange(COUNT) % 3
    radiance["rgb"] = random.uniform(0, 1, (COUNT, 3))
    arguments = (
        "in Ray ray, in Hit hit, in Path route, in Media media, in LightContext context, inout Radiance rgb, "
        "out Interaction at"
    )
    arrive = kernel(device, f"int arrive({arguments})", "surface", "end", text=TEXT + MET)
    arrive.set(path_strategy=strategy)
    exits, (after, at) = arrive(ray, hit, path, media, context, radiance)
    missed = hit["triangle"] < 0
    assert exits == np.where(missed | (path["depth"] >= 4), "end", "surface").tolist()
    emission = np.stack([hit["triangle"] + 1, np.full(COUNT, 2), np.full(COUNT, 3)], axis=1).astype(float)
    emission[missed] = ray["direction"][missed] ** 2
    facing = np.abs(ray["direction"] @ [0.0, 0.6, 0.8])
    other = np.where(missed, np.where(ray["direction"][:, 0] > 0, 0.5 if strategy == BOTH else 0.125, 0.0), 0.0)
    other[~missed] = (context["behind"] * 0.25 / facing)[~missed]
    alone = (path["pdf"] <= 0) | (strategy == BSDF)
    weight = np.ones(COUNT)
    weight[~alone] = (path["pdf"] / np.maximum(path["pdf"] + 2.0 * other, 1e-9))[~alone]
    if strategy == LIGHTS:
        weight[~alone] = other[~alone] == 0
    weight *= path["depth"] != 2
    # A cosine near 0 is a difference of products in float32.
    np.testing.assert_allclose(
        after["rgb"], radiance["rgb"] + path["throughput"] * emission * weight[:, None], rtol=1e-4
    )
    met = at[~missed]
    np.testing.assert_array_equal(met["first"], 1.0)
    np.testing.assert_array_equal(met["error"], 5.0)  # of the medium
    np.testing.assert_array_equal(at["position"][missed], -7.0)
    np.testing.assert_array_equal(at["wo"], -ray["direction"])


def test_light_counts_where_nothing_hides_it(device: Any) -> None:
    hit, pending, radiance = np.zeros(3, HIT.dtype), np.zeros(3, RADIANCE.dtype), np.zeros(3, RADIANCE.dtype)
    hit["triangle"], pending["rgb"], radiance["rgb"] = (-1, 0, 7), (1.0, 2.0, 3.0), (0.5, 0.25, 0.125)
    exits, (after,) = kernel(device, "int resolve_shadow(in Hit hit, in Radiance pending, inout Radiance sum)", "done")(
        hit, pending, radiance
    )
    assert set(exits) == {"done"}
    assert after["rgb"].tolist() == [[1.5, 2.25, 3.125], [0.5, 0.25, 0.125], [0.5, 0.25, 0.125]]
    visibility = np.zeros(3, VISIBILITY.dtype)
    visibility["light"], visibility["hidden"] = 1.0, 0.5
    _, (counted,) = kernel(device, "int weigh_shadow(in Hit hit, in Radiance pending, inout Visibility seen)", "done")(
        hit, pending, visibility
    )
    light = 0.2126 * 1 + 0.7152 * 2 + 0.0722 * 3
    np.testing.assert_allclose(counted["light"], 1.0 + light, rtol=1e-6)
    np.testing.assert_allclose(counted["hidden"], [0.5, 0.5 + light, 0.5 + light], rtol=1e-6)


def test_a_sample_begins_until_all_are_there(device: Any) -> None:
    pixel, film = pixels(), np.zeros(COUNT, FILM.dtype)
    film["count"] = np.arange(COUNT) % 8
    text = (
        TEXT
        + """
    void camera_sample(ivec2 pixel, vec2 film_u, vec2 lens_u, out vec3 origin, out vec3 direction) {
        origin = vec3(pixel, 1.0);
        direction = vec3(film_u, lens_u.x);
    }
    vec2 cone_of_pixel(ivec2 pixel, int number, vec3 direction) { return vec2(pixel.x, number); }
    """
    )
    arguments = "in Pixel pixel, in Film film, out Path route, out Media media, out Radiance rgb, out Ray ray"
    begin = kernel(device, f"int begin_path({arguments})", "ray", "done", text=text, features=("CULLED",))
    exits, (path, media, radiance, ray) = begin(pixel, film)
    number = film["count"].astype(int)
    assert exits == np.where(number < 5, "ray", "done").tolist()
    np.testing.assert_array_equal(path["throughput"], 1.0)
    np.testing.assert_array_equal(path["number"], number)
    np.testing.assert_array_equal(path["cone"], np.stack([pixel["at"][:, 0], number], axis=1))
    assert not path["pdf"].any() and not path["depth"].any() and not radiance["rgb"].any()
    np.testing.assert_array_equal(media["inside"], 7)
    np.testing.assert_array_equal(ray["origin"], np.column_stack([pixel["at"], np.ones(COUNT)]))
    np.testing.assert_array_equal(ray["any_hit"], RAY_VIEW)
    np.testing.assert_array_equal(ray["t_max"], np.float32(FAR))
    u = np.stack([random_number(pixel["at"], number, k) for k in range(3)], axis=1)
    np.testing.assert_array_equal(ray["direction"], u)
    begin.set(path_shared=1)  # one place in all pixels; lenses stay apart
    u[:, :2] = np.stack([random_number(0 * pixel["at"], number, k) for k in range(2)], axis=1)
    np.testing.assert_array_equal(begin(pixel, film)[1][3]["direction"], u)
