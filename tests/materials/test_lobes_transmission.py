"""Transmitting lobes of glTF's materials on the device, rough dielectrics and thin walls, against float64 twins."""

from __future__ import annotations

import glsl_call
import lobe_twin as twin
import numpy as np
import pytest
from bsdf_twin import dot
from lobe_checks import ULP, follows, hemisphere, returns, seen_at

from raystream.materials import principled as albedos

ARGUMENTS = "vec3 wo, vec3 wi, vec2 alpha, float ratio, vec3 f0, vec3 f90, vec3 tint,"
VALUES = {
    "rough": f"vec3 rough_dielectric_value({ARGUMENTS} vec3 total, out float pdf)",
    "thin": f"vec3 thin_dielectric_value({ARGUMENTS} float albedo, out float pdf)",
}
SAMPLED = """
vec3 rough_sampled(
    vec3 wo, vec3 u, vec2 alpha, float ratio, vec3 f0, vec3 f90, vec3 tint, out vec3 weight, out float pdf
) {
    vec3 wi = rough_dielectric_sample(wo, u, alpha, ratio, f0, f90, tint);
    float e = ggx_albedo(wo.z, alpha), s = rise_albedo(wo.z, alpha, ratio);
    float a = crossing_albedo(wo.z, alpha, ratio), b = crossing_rise_albedo(wo.z, alpha, ratio);
    vec3 total = rough_dielectric_total(ratio, f0, f90, e, s, a, b);
    weight = rough_dielectric_value(wo, wi, alpha, ratio, f0, f90, tint, total, pdf) / max(pdf, 1e-30);
    weight *= wi.z < 0.0 ? ratio * ratio : 1.0;  // in power
    return wi;
}
vec3 thin_sampled(
    vec3 wo, vec3 u, vec2 alpha, float ratio, vec3 f0, vec3 f90, vec3 tint, out vec3 weight, out float pdf
) {
    vec3 wi = thin_dielectric_sample(wo, u, alpha, ratio, f0, f90, tint);
    float e = ggx_albedo(wo.z, alpha);
    weight = thin_dielectric_value(wo, wi, alpha, ratio, f0, f90, tint, e, pdf) / max(pdf, 1e-30);
    return wi;
}
"""


@pytest.fixture(scope="module")
def functions(device):
    includes = ["materials/thin_dielectric.glsl"]
    modules = [
        albedos.ggx_albedo(), albedos.rise_albedo(), albedos.crossing_albedo(), albedos.crossing_rise_albedo()
    ]  # fmt: skip
    found = {name: glsl_call.Function(device, signature, includes) for name, signature in VALUES.items()}
    for name in VALUES:
        arguments = ARGUMENTS.replace("vec3 wi", "vec3 u")
        signature = f"vec3 {name}_sampled({arguments} out vec3 weight, out float pdf)"
        found[f"{name} sampled"] = glsl_call.Function(device, signature, includes, modules, text=SAMPLED)
    return found


def parameters(count, seed, lowest=0.4):
    """alpha, ratio, f0, f90, tint, as float32 has them; the ratio is none too near to 1, where there is hardly a
    refraction."""
    random = np.random.default_rng(seed)
    alpha = np.maximum(random.random((count, 1)) ** 2, 1e-2) * np.ones(2)
    alpha[::2, 0] = np.maximum(random.random((count + 1) // 2), alpha[::2, 0])
    ratio = random.uniform(1.1, 2.4, count) ** np.where(random.random(count) < lowest, -1, 1)
    found = alpha, ratio, 0.5 * random.random((count, 3)), random.random((count, 3)), random.random((count, 3))
    return [a.astype(np.float32).astype(float) for a in found]


def given(lobe, count, seed):
    """Arguments of a lobe's value, with directions that are sampled, so that lobes are high, or random."""
    alpha, ratio, f0, f90, tint = parameters(count, seed, 0.4 if lobe == "rough" else 0.0)
    wo, wi = hemisphere(count, seed + 1, 1e-2), hemisphere(count, seed + 2)
    wi[::2, 2] *= -1
    return wo, wi, alpha, ratio, f0, f90, tint


@pytest.mark.parametrize("lobe", list(VALUES))
def test_values_and_densities(functions, lobe):
    count = 20_000
    wo, wi, *rest = given(lobe, count, 1)
    u = np.random.default_rng(4).random((count, 3))
    sampled = functions[f"{lobe} sampled"](wo, u, *rest)[0].astype(float)
    wi[::3] = np.where(sampled[::3].any(axis=1, keepdims=True), sampled[::3], wi[::3])
    total = np.random.default_rng(5).uniform(0.3, 1, (count, 3) if lobe == "rough" else count)
    total = total.astype(np.float32).astype(float)
    value, pdf = functions[lobe](wo, wi, *rest, total)
    want, density = getattr(twin, f"{lobe}_dielectric")(wo, wi, *rest, total)
    alpha, ratio, f0, *_ = rest
    # The half vector's rounding, against alpha; of Fresnel's share near the critical angle a root of a difference.
    passes = wi[:, 2] < 0
    scaled = np.where(passes, ratio, 1)[:, None] if lobe == "rough" else 1
    turned = wi if lobe == "rough" else np.concatenate([wi[:, :2], np.abs(wi[:, 2:])], axis=1)
    size = np.linalg.norm(wo + scaled * turned, axis=1)
    h = (wo + scaled * turned) / size[:, None]
    cosine = np.abs(dot(wo, h))
    behind = np.sqrt(np.maximum(1 - (1 - cosine**2) / ratio**2, 0))
    bound = 24 * ULP * (1 + 1 / (alpha.min(axis=1) * size) + 1 / np.maximum(cosine, 1e-3))
    bound *= 1 + 1 / np.maximum(behind**2, 1e-3)
    sure = (behind > 1e-2) | ~passes  # whether it is refracted at all is a matter of rounding there
    if lobe == "rough":
        sure &= (np.abs(dot(wo, h)) > 1e-3) & (~passes | (np.abs(dot(wi, h)) > 1e-2))
    loss = np.where(passes, 1, 1 / np.maximum(f0.max(axis=1), 1e-2))  # shares are rounded absolutely
    assert sure.mean() > 0.9
    error = np.abs(value - want)
    most = want.max(axis=1, keepdims=True) + want
    assert np.all((error <= (bound * (1 + loss))[:, None] * most + 1e-30)[sure])
    assert np.all((np.abs(pdf - density) <= bound * (2 + loss) * density + 1e-30)[sure])


CASES = [(1.5, 0.7, 0.9), (1.5, 0.4, 0.4), (1 / 1.5, 0.6, 0.8), (1 / 1.5, 0.5, 0.3), (1.1, 0.9, 0.6)]


@pytest.mark.parametrize("lobe", list(VALUES))
@pytest.mark.parametrize(("ratio", "alpha", "cosine"), CASES)
def test_sampled_directions_fall_where_the_density_says(functions, lobe, ratio, alpha, cosine):
    count, ratio = 60_000, ratio if lobe == "rough" else max(ratio, 1 / ratio)
    u, wo = np.random.default_rng(11).random((count, 3)), seen_at(cosine)
    share, tint = np.full(3, 0.2), np.array([1.0, 0.5, 0.25])

    def many(n):
        one = np.ones((n, 3))
        return np.tile([alpha, alpha], (n, 1)), np.full(n, ratio), share * one, one, tint * one

    wi = functions[f"{lobe} sampled"](np.tile(wo, (count, 1)), u, *many(count))[0]

    def density(grid):
        n = len(grid)
        wos = np.tile(wo, (n, 1))
        total = np.ones((n, 3)) if lobe == "rough" else np.ones(n)
        with np.errstate(invalid="ignore", divide="ignore"):
            return getattr(twin, f"{lobe}_dielectric")(wos, grid, *many(n), total)[1]

    follows(wi, density, rings=16)


ROUGH, COSINES = (0.0, 0.1, 0.3, 0.6, 1.0), (1.0, 0.7, 0.4, 0.15)


@pytest.mark.parametrize("lobe", list(VALUES))
def test_white_furnace(functions, lobe):
    """All that comes is reflected or passes, in power, also with other reflectances than the index's."""
    count = 2_000
    for ratio in (1.0, 1.5, 2.4, 1 / 1.5, 1 / 1.1)[: 5 if lobe == "rough" else 2]:
        cases = [(r, c) for r in ROUGH for c in COSINES]
        n = count * len(cases)
        u = np.random.default_rng(12).random((n, 3))
        wo = np.repeat([seen_at(c) for _, c in cases], count, axis=0)
        alpha = np.repeat([[max(r * r, 1e-4)] * 2 for r, _ in cases], count, axis=0)
        f0 = ((ratio - 1) / (ratio + 1)) ** 2 * np.tile([1.0, 0.5, 3.0], (n, 1))
        f90, white = np.tile([1.0, 0.5, 1.0], (n, 1)), np.ones((n, 3))
        weight = functions[f"{lobe} sampled"](wo, u, alpha, np.full(n, ratio), f0, f90, white)[1].astype(float)
        for k in range(len(cases)):
            # The tables' cells are linear: off by 2e-3 where lobes are smooth and their samples alike, by up to 5e-3
            # at grazing incidence.
            returns(weight[k * count : (k + 1) * count], 1.0, slack=2e-3 if cases[k][1] > 0.3 else 5e-3)
