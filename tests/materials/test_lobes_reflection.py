"""Reflecting lobes of glTF's materials on the device, GGX metals and specular layers, against their float64 twins."""

from __future__ import annotations

import glsl_call
import lobe_twin as twin
import numpy as np
import pytest
from lobe_checks import ULP, follows, hemisphere, returns, seen_at

from raystream.materials import principled as albedos

METAL = "vec3 metal_value(vec3 wo, vec3 wi, vec2 alpha, vec3 f0, vec3 f90, float albedo, out float pdf)"
SPECULAR = (
    "vec3 specular_value(vec3 wo, vec3 wi, vec2 alpha, float ior, vec3 f0, vec3 f90, float albedo, out float pdf)"
)
# One call samples, and gives what came of it, with the albedos looked up.
SAMPLED = """
vec3 metal_sampled(vec3 wo, vec2 u, vec2 alpha, out vec3 weight, out float pdf) {
    vec3 wi = metal_sample(wo, u, alpha);
    weight = metal_value(wo, wi, alpha, vec3(1.0), vec3(1.0), ggx_albedo(wo.z, alpha), pdf);
    weight /= max(pdf, 1e-30);
    return pdf > 0.0 ? wi : vec3(0.0);
}
vec3 brushed_sampled(vec3 wo, vec2 u, vec2 alpha, out vec3 weight, out float pdf) {
    vec3 wi = metal_sample(wo, u, alpha);
    weight = metal_value(wo, wi, alpha, vec3(1.0), vec3(1.0), anisotropic_albedo(wo, alpha), pdf);
    weight /= max(pdf, 1e-30);
    return wi;
}
vec3 specular_sampled(vec3 wo, vec2 u, vec2 alpha, float ior, out vec3 weight, out vec3 albedo, out float pdf) {
    vec3 wi = specular_sample(wo, u, alpha), f0 = vec3(fresnel_f0(ior)), f90 = vec3(1.0, 0.5, 1.0);
    f0.y *= 0.5;
    f0.z *= 3.0;
    float e = ggx_albedo(wo.z, alpha);
    weight = specular_value(wo, wi, alpha, ior, f0, f90, e, pdf) / max(pdf, 1e-30);
    albedo = specular_albedo(f0, f90, e, rise_albedo(wo.z, alpha, ior));
    return pdf > 0.0 ? wi : vec3(0.0);
}
"""


@pytest.fixture(scope="module")
def functions(device):
    with device.current():
        includes = ["materials/metal.glsl", "materials/specular.glsl"]
        modules = [albedos.ggx_albedo(), albedos.rise_albedo(), albedos.anisotropic_albedo()]
        arguments = "(vec3 wo, vec2 u, vec2 alpha, "
        return {
            "metal": glsl_call.Function(device, METAL, includes),
            "mean": glsl_call.Function(device, "float ggx_mean_albedo(vec2 alpha)", includes),
            "specular": glsl_call.Function(device, SPECULAR, includes),
            "metal sampled": glsl_call.Function(
                device, f"vec3 metal_sampled{arguments}out vec3 weight, out float pdf)", includes, modules, text=SAMPLED
            ),
            "brushed": glsl_call.Function(
                device,
                f"vec3 brushed_sampled{arguments}out vec3 weight, out float pdf)",
                includes,
                modules,
                text=SAMPLED,
            ),
            "alpha": glsl_call.Function(
                device, "vec2 ggx_alpha_anisotropic(float roughness, float strength)", includes
            ),
            "specular sampled": glsl_call.Function(
                device,
                f"vec3 specular_sampled{arguments}float ior, out vec3 weight, out vec3 albedo, out float pdf)",
                includes,
                modules,
                text=SAMPLED,
            ),
        }


def parameters(count, seed):
    """Alphas of all roughnesses, half of them anisotropic, and reflectances, as float32 has them."""
    random = np.random.default_rng(seed)
    alpha = np.maximum(random.random((count, 1)) ** 2, 1e-3) * np.ones(2)
    alpha[::2, 0] = np.maximum(random.random((count + 1) // 2), alpha[::2, 0])
    found = alpha, random.random((count, 3)), random.random((count, 3)), random.uniform(0.3, 1, count)
    return [a.astype(np.float32).astype(float) for a in found]


def rounding(wo, wi, alpha):
    """Of a lobe's value, relative: D changes with h / alpha, up to four times as much, and h = wo + wi is rounded as
    its summands are; 16 covers the products and roots."""
    size = np.linalg.norm(wo + wi, axis=1)
    return 16 * ULP * (1 + 1 / (alpha.min(axis=1) * np.maximum(size, 1e-6)))


@pytest.mark.parametrize("lobe", ["metal", "specular"])
def test_values_and_densities(functions, lobe):
    count = 20_000
    alpha, f0, f90, albedo = parameters(count, 1)
    wo = hemisphere(count, 2, lowest=1e-3)
    wi = hemisphere(count, 3)
    u = np.random.default_rng(4).random((count, 2))
    sampled = functions["metal sampled"](wo, u, alpha)[0].astype(float)
    wi[::3] = np.where(sampled[::3].any(axis=1, keepdims=True), sampled[::3], wi[::3])  # where lobes are high
    wi[1::9, 2] *= -1
    ior = np.random.default_rng(5).uniform(1.05, 2.5, count).astype(np.float32).astype(float)
    given = (wo, wi, alpha, *([ior] if lobe == "specular" else []), f0, f90, albedo)
    value, pdf = functions[lobe](*given)
    more = [functions["mean"](alpha)[0].astype(float)] if lobe == "metal" else []
    want, density = getattr(twin, lobe)(*given, *more), twin.bounded_density(wo, wi, alpha)
    bound = rounding(wo, wi, alpha)
    # Fresnel's reflectance is a share: rounded absolutely.
    assert np.all(np.abs(value - want) <= bound[:, None] * (want + want / np.maximum(f0, 1e-2)) + 1e-30)
    assert np.all(np.abs(pdf - density) <= bound * density + 1e-30)
    assert not value[wi[:, 2] <= 0].any() and (value[wi[:, 2] > 0] > 0).mean() > 0.99


def test_mean_albedo(functions):
    """The fit against the means of the table's rows, whose cosines are squares of what is even; 1e-4 as it says."""
    rows = albedos.arrays()["reflection"]
    roughness, root, fine = np.linspace(0, 1, len(rows)), np.linspace(0, 1, rows.shape[1]), np.linspace(0, 1, 4001)
    means = [np.trapezoid(np.interp(fine, root, row) * 4 * fine**3, fine) for row in rows]
    (found,) = functions["mean"]((roughness**2)[:, None] * np.ones(2))
    np.testing.assert_allclose(found, means, atol=1.1e-4)


@pytest.mark.parametrize(("alpha", "cosine"), [((0.8, 0.8), 0.9), ((0.3, 0.3), 0.3), ((0.7, 0.2), 0.6), ((1, 1), 0.1)])
def test_sampled_directions_fall_where_the_density_says(functions, alpha, cosine):
    count, alpha = 60_000, np.array(alpha, float)
    u, wo = np.random.default_rng(11).random((count, 2)), seen_at(cosine)
    wi = functions["metal sampled"](np.tile(wo, (count, 1)), u, np.tile(alpha, (count, 1)))[0]
    follows(wi, lambda grid: twin.bounded_density(np.tile(wo, (len(grid), 1)), grid, alpha))


ROUGH, COSINES = (0.0, 0.05, 0.2, 0.5, 0.8, 1.0), (1.0, 0.7, 0.4, 0.15)


def test_white_furnace(functions):
    """Metals of reflectance 1 send all light back; specular layers what their albedo says, for the base below."""
    count = 4_000
    for ior in (1.2, 1.5, 2.4):
        cases = [(r, c) for r in ROUGH for c in COSINES]
        u = np.random.default_rng(12).random((count * len(cases), 2))
        wo = np.repeat([seen_at(c) for _, c in cases], count, axis=0)
        alpha = np.repeat([[max(r * r, 1e-4)] * 2 for r, _ in cases], count, axis=0)
        weight = functions["metal sampled"](wo, u, alpha)[1].astype(float) if ior == 1.2 else np.ones((len(u), 3))
        layer, albedo = functions["specular sampled"](wo, u, alpha, np.full(len(u), ior))[1:3]
        for k in range(len(cases)):
            part = slice(k * count, (k + 1) * count)
            # A smooth lobe's samples hardly differ: then what is seen is the error of the tables' cells, linear between
            # their corners; it is largest where Fresnel's reflectance bends most, at grazing incidence.
            returns(weight[part], 1.0, slack=2e-4)
            returns(layer[part].astype(float), albedo[part][0].astype(float), slack=3e-3)


def test_white_furnace_of_brushed_metals(functions):
    count, random = 4_000, np.random.default_rng(16)
    cases = [(r, s, c, a) for r in (0.1, 0.4, 0.8) for s in (0.4, 1.0) for c in (0.9, 0.4) for a in (0.0, 0.9, 1.5708)]
    wo = np.repeat([seen_at(c, a) for _, _, c, a in cases], count, axis=0)
    alpha = np.repeat(functions["alpha"](*np.transpose([case[:2] for case in cases]))[0], count, axis=0)
    np.testing.assert_allclose(
        alpha[-1], [1, 0.64], rtol=4 * ULP
    )  # KHR_materials_anisotropy: mix(alpha, 1, strength^2)
    weight = functions["brushed"](wo, random.random((len(wo), 2)), alpha)[1].astype(float)
    for k in range(len(cases)):
        # 8e-3: the cells, of four dimensions, are wide; of 300 random ones the largest error was 7e-3, the mean 5e-4.
        returns(weight[k * count : (k + 1) * count], 1.0, slack=8e-3)
