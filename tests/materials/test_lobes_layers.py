"""Layers of glTF's materials on the device, clearcoat and sheen, matte bases and thin films, against float64 twins."""

from __future__ import annotations

import glsl_call
import lobe_twin as twin
import numpy as np
import pytest
from lobe_checks import ULP, follows, hemisphere, returns, seen_at

from raystream.materials import principled as albedos

INCLUDES = ["materials/clearcoat.glsl", "materials/sheen.glsl", "materials/diffuse.glsl", "materials/iridescence.glsl"]
# A white base below, with what the layer leaves it: sampled half and half.
SAMPLED = """
vec3 coated_sampled(vec3 wo, vec3 u, vec2 alpha, out vec3 weight, out float pdf) {
    float e = ggx_albedo(wo.z, alpha), s = rise_albedo(wo.z, alpha, CLEARCOAT_INDEX), coat, base;
    vec3 wi = u.z < 0.5 ? clearcoat_sample(wo, u.xy, alpha) : diffuse_sample(u, vec3(1.0), vec3(0.0));
    weight = vec3(clearcoat_value(wo, wi, alpha, e, coat));
    weight += (1.0 - clearcoat_albedo(e, s)) * diffuse_value(wi, vec3(1.0), vec3(0.0), base);
    pdf = 0.5 * (coat + base);
    weight /= max(pdf, 1e-30);
    return wi;
}
vec3 cloth_sampled(vec3 wo, vec3 u, vec2 alpha, out vec3 weight, out float pdf) {
    float e = sheen_albedo(wo.z, alpha.x), fibres, base;
    vec3 wi = u.z < 0.5 ? sheen_sample(wo, u.xy) : diffuse_sample(u, vec3(1.0), vec3(0.0));
    weight = vec3(sheen_value(wo, wi, alpha.x, e, fibres));
    weight += sheen_scaling(vec3(1.0, 0.5, 0.2), e) * diffuse_value(wi, vec3(1.0), vec3(0.0), base);
    pdf = 0.5 * (fibres + base);
    weight /= max(pdf, 1e-30);
    return wi;
}
"""
SIGNATURES = {
    "clearcoat": "float clearcoat_value(vec3 wo, vec3 wi, vec2 alpha, float albedo, out float pdf)",
    "sheen": "float sheen_value(vec3 wo, vec3 wi, float alpha, float albedo, out float pdf)",
    "sheen scaling": "float sheen_scaling(vec3 color, float albedo)",
    "sheen sample": "vec3 sheen_sample(vec3 wo, vec2 u)",
    "diffuse": "vec3 diffuse_value(vec3 wi, vec3 reflected, vec3 transmitted, out float pdf)",
    "diffuse sample": "vec3 diffuse_sample(vec3 u, vec3 reflected, vec3 transmitted)",
    "iridescent": "vec3 iridescent_fresnel(float cosine, float outside, float film, float thickness, vec3 f0)",
    "iridescent f0": "vec3 iridescent_f0(vec3 share, float rise)",
    "coated": "vec3 coated_sampled(vec3 wo, vec3 u, vec2 alpha, out vec3 weight, out float pdf)",
    "cloth": "vec3 cloth_sampled(vec3 wo, vec3 u, vec2 alpha, out vec3 weight, out float pdf)",
}


@pytest.fixture(scope="module")
def functions(device):
    modules = [albedos.ggx_albedo(), albedos.rise_albedo(), albedos.sheen_albedo()]
    with device.current():
        return {
            name: glsl_call.Function(device, signature, INCLUDES, modules, text=SAMPLED)
            for name, signature in SIGNATURES.items()
        }


def single(random, shape, low=0.0, high=1.0):
    """Even random numbers, as float32 has them."""
    return random.uniform(low, high, shape).astype(np.float32).astype(float)


def test_clearcoat(functions):
    count, random = 5_000, np.random.default_rng(1)
    wo, wi = hemisphere(count, 2, 1e-2), hemisphere(count, 3, 1e-2)
    alpha, albedo = single(random, (count, 1), 0.01) * np.ones(2), single(random, count, 0.3)
    value, pdf = functions["clearcoat"](wo, wi, alpha, albedo)
    ior, straight, grazing = np.full(count, 1.5), np.full((count, 3), 0.04), np.ones((count, 3))
    want = twin.specular(wo, wi, alpha, ior, straight, grazing, albedo)[:, 0]
    # As of every lobe of GGX: half vectors' rounding against alpha; a share of 0.04 is rounded as 1 is.
    bound = 16 * ULP * (1 + 1 / (alpha[:, 0] * np.linalg.norm(wo + wi, axis=1))) * (1 + 1 / 0.04)
    assert np.all(np.abs(value - want) <= bound * want)
    assert np.all(np.abs(pdf - twin.bounded_density(wo, wi, alpha)) <= bound * pdf)


def test_sheen(functions):
    count, random = 20_000, np.random.default_rng(4)
    wo, wi = hemisphere(count, 5, 1e-2), hemisphere(count, 6, 1e-2)
    wi[::5, 2] *= -1
    alpha, albedo = single(random, count, 0.05) ** 2, single(random, count, 0, 2)
    alpha = np.maximum(alpha, 0.01).astype(np.float32).astype(float)
    value, pdf = functions["sheen"](wo, wi, alpha, albedo)
    want = twin.sheen(wo, wi, alpha, albedo)
    # A power's exponent multiplies its base's rounding, and the fit of the shadowing is an exponential of up to 17.
    bound = 64 * ULP * (1 + 1 / alpha)
    assert np.all(np.abs(value - want) <= bound * want + 1e-30)
    assert np.all(pdf == np.where(wi[:, 2] > 0, np.float32(0.5 / np.pi), 0))
    one, above = np.ones(count), wi[:, 2] > 0
    there = functions["sheen"](wo, wi, alpha, one)[0] / wi[:, 2]
    back = functions["sheen"](wi, wo, alpha, one)[0] / wo[:, 2]
    assert np.all((np.abs(there - back) <= 2 * bound * there + 1e-30)[above])


def test_the_brightest_channel_of_a_sheen_scales_what_lies_below(functions):
    """Whichever it is."""
    colors = np.concatenate([np.eye(3), 0.5 * np.eye(3) + 0.25, [[0.5, 0.5, 0.5]]])
    scaling = functions["sheen scaling"](colors, np.full(7, 0.8))[0]
    np.testing.assert_allclose(scaling, [0.2, 0.2, 0.2, 0.4, 0.4, 0.4, 0.6], rtol=4 * ULP)
    assert functions["sheen scaling"]([[0.0, 1.0, 0.0]], [1.3])[0][0] == 0  # no more than all


def test_sampled_directions_fall_where_the_density_says(functions):
    count, u = 60_000, np.random.default_rng(7).random((60_000, 3))
    wi = functions["sheen sample"](np.tile(seen_at(0.5), (count, 1)), u[:, :2])[0]
    follows(wi, lambda grid: (grid[:, 2] > 0) / (2 * np.pi))
    reflected, transmitted = np.array([0.2, 0.4, 0.6]), np.array([0.1, 0.2, 0.1])
    wi = functions["diffuse sample"](u, np.tile(reflected, (count, 1)), np.tile(transmitted, (count, 1)))[0]

    def diffuse(grid):
        return np.where(grid[:, 2] > 0, 1.2 / 1.6, 0.4 / 1.6) * np.abs(grid[:, 2]) / np.pi

    follows(wi, diffuse)
    value, pdf = functions["diffuse"](wi, np.tile(reflected, (count, 1)), np.tile(transmitted, (count, 1)))
    up, cosine = wi[:, 2:] > 0, np.abs(wi[:, 2:].astype(float)) / np.pi
    np.testing.assert_allclose(value, np.where(up, reflected, transmitted) * cosine, rtol=8 * ULP)
    np.testing.assert_allclose(pdf, diffuse(wi.astype(float)), rtol=8 * ULP)


ROUGH, COSINES = (0.0, 0.2, 0.5, 1.0), (1.0, 0.7, 0.4, 0.15)


@pytest.mark.parametrize("layer", ["coated", "cloth"])
def test_white_furnace(functions, layer):
    """A layer and the white base below it send back what comes; a sheen takes from it as much as its brightest channel
    adds."""
    count, cases = 4_000, [(r, c) for r in ROUGH for c in COSINES]
    u = np.random.default_rng(12).random((count * len(cases), 3))
    wo = np.repeat([seen_at(c) for _, c in cases], count, axis=0)
    alpha = np.repeat([[max(r * r, 1e-3)] * 2 for r, _ in cases], count, axis=0)
    weight = functions[layer](wo, u, alpha)[1].astype(float)
    for k in range(len(cases)):
        # 2e-3: the tables' cells are linear.
        returns(weight[k * count : (k + 1) * count], 1.0, slack=2e-3)


def films(count, seed):
    """Random cosines, indices outside and of the film, thicknesses (thin ones, too, where little is washed out),
    reflectances."""
    random = np.random.default_rng(seed)
    outside, film = np.where(random.random(count) < 0.5, 1.0, 1.5), single(random, count, 1.2, 2.0)
    film = np.where(np.abs(film - outside) < 0.1, outside + 0.25, film)
    cosine = np.where(film < outside, single(random, count, 0.7), single(random, count, 0.1))  # none totally reflected
    return cosine, outside, film, single(random, count, 1, 800), single(random, count, 0.01, 0.3)


def test_films_interfere(functions):
    """Against both orders of the series seen by the eye one wavelength at a time: its response, of which the shader has
    the Fourier transform, are Gaussians of wave numbers."""
    count = 500
    cosine, outside, film, thickness, f0 = films(count, 15)
    made = functions["iridescent"](cosine, outside, film, thickness, f0[:, None] * np.ones(3))[0]
    want = twin.film(cosine, film, thickness, f0[:, None], outside)
    # Cosines of up to 60 radians: 4e-6 is what float32 leaves of such an angle. The tails that the numbers leave out
    # are less.
    np.testing.assert_allclose(made, want, atol=1e-5)


def test_a_film_between_the_indices_of_a_coloured_base(functions):
    """Each channel's phase turns by its own base: a film may be denser than the base of blue and not than that of red.

    With the published code, whose shift is one of X, Y and Z, reflectances were off by up to 0.31.
    """
    count = 500
    cosine, outside, film, thickness, f0 = films(count, 16)
    f0 = f0[:, None] * [1.0, 0.4, 0.1]
    red, green, blue = ((1 + np.sqrt(f0 + 1e-4)) / (1 - np.sqrt(f0 + 1e-4))).T
    assert ((blue < film) & (film < red)).sum() > 100 < ((green < film) != (red < film)).sum()
    made = functions["iridescent"](cosine, outside, film, thickness, f0)[0]
    np.testing.assert_allclose(made, twin.film(cosine, film, thickness, f0, outside), atol=1e-5)


def test_a_thin_film_is_coloured(functions):
    """50 nm of index 1.5 on a base of 0.5, straight on: Airy's sum through the eye, to three digits."""
    made = functions["iridescent"]([1.0], [1.0], [1.5], [50.0], [[0.5, 0.5, 0.5]])[0][0]
    np.testing.assert_allclose(made, [0.408, 0.359, 0.299], atol=6e-4)


def test_a_film_of_no_thickness_does_nothing(functions):
    """Then what is left is the base's reflectance, by Schlick; and the curve through a reflectance gives it back."""
    cosine, f0 = np.linspace(0.3, 1, 20), np.full((20, 3), 0.04)
    ones = np.ones(20)
    made = functions["iridescent"](cosine, ones, 1.3 * ones, 0 * ones, f0)[0]
    np.testing.assert_allclose(made, twin.schlick(cosine, f0, np.ones((20, 3))), atol=8 * ULP)
    rise = np.linspace(0, 0.9, 20)
    want = f0 + (1 - f0) * rise[:, None]
    np.testing.assert_allclose(functions["iridescent f0"](want, rise)[0], f0, atol=32 * ULP)
