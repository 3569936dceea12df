"""Lobes of glTF's materials at the ends of their ranges: grazing, straight on, mirrors, equal indices, black."""

from __future__ import annotations

from itertools import product

import glsl_call
import numpy as np
import pytest

FILES = ("metal", "specular", "thin_dielectric", "clearcoat", "sheen", "diffuse", "iridescence")
TEXT = """
vec3 reflecting(vec3 wo, vec3 wi, vec2 alpha, float ratio, vec3 f0, vec3 f90, float albedo, out vec4 pdfs) {
    vec3 sum = metal_value(wo, wi, alpha, f0, f90, albedo, pdfs.x);
    sum += specular_value(wo, wi, alpha, ratio, f0, f90, albedo, pdfs.y);
    sum += clearcoat_value(wo, wi, alpha, albedo, pdfs.z);
    sum += sheen_value(wo, wi, sheen_alpha(alpha.x), albedo, pdfs.w);
    return sum + iridescent_fresnel(wo.z, 1.0, ratio, 300.0, f0);
}
vec3 passing(vec3 wo, vec3 wi, vec2 alpha, float ratio, vec3 f0, vec3 f90, float albedo, out vec4 pdfs) {
    pdfs = vec4(0.0);
    vec3 total = rough_dielectric_total(ratio, f0, f90, albedo, 0.5 * albedo, 0.0, 0.0);
    vec3 sum = rough_dielectric_value(wo, wi, alpha, ratio, f0, f90, f0, total, pdfs.x);
    return sum + thin_dielectric_value(wo, wi, alpha, ratio, f0, f90, f0, albedo, pdfs.y);
}
vec3 sampled(vec3 wo, vec3 u, vec2 alpha, float ratio, vec3 f0, vec3 f90, out vec3 second, out vec3 third) {
    second = thin_dielectric_sample(wo, u, alpha, ratio, f0, f90, f0);
    third = metal_sample(wo, u.xy, alpha);
    return rough_dielectric_sample(wo, u, alpha, ratio, f0, f90, f0);
}
"""
ENDS = "vec2 alpha, float ratio, vec3 f0, vec3 f90,"


@pytest.fixture(scope="module")
def functions(device):
    includes = [f"materials/{name}.glsl" for name in FILES]
    signatures = {
        "reflecting": f"vec3 reflecting(vec3 wo, vec3 wi, {ENDS} float albedo, out vec4 pdfs)",
        "passing": f"vec3 passing(vec3 wo, vec3 wi, {ENDS} float albedo, out vec4 pdfs)",
        "sampled": f"vec3 sampled(vec3 wo, vec3 u, {ENDS} out vec3 second, out vec3 third)",
    }
    return {n: glsl_call.Function(device, s, includes, text=TEXT) for n, s in signatures.items()}


HIGH = [(0, 0, 1), (0.6, 0, 0.8), (1, 0, 1e-7), (0, -1, 1e-4), (-1, 0, 0)]
INDICES, SHARES = (1.0, 1.0005, 0.9995, 1.5, 1 / 1.5, 1e4), (0.0, 0.04, 1.0)


def columns(*cases):
    return [np.array(column, float) for column in zip(*product(*cases), strict=True)]


@pytest.mark.parametrize("lobes", ["reflecting", "passing"])
def test_values_are_numbers(functions, lobes):
    low = [(x, y, -z) for x, y, z in HIGH]
    alphas = [(1e-4, 1e-4), (1, 1e-4), (0.3, 0.3), (1, 1)]
    wo, wi, alpha, ratio, f0, f90, albedo = columns(
        HIGH, [*HIGH, *low, (0, 0, 0)], alphas, INDICES, SHARES, SHARES, (0.3, 1.0)
    )
    gray = np.ones(3)
    value, pdfs = functions[lobes](wo, wi, alpha, ratio, f0[:, None] * gray, f90[:, None] * gray, albedo)
    assert np.isfinite(value).all() and np.isfinite(pdfs).all()
    assert (value >= 0).all() and (pdfs >= 0).all()


def test_sampled_directions_are_unit_vectors_or_none(functions):
    us = [(0, 0, 0), (0.5, 1 - 2**-24, 0.5), (0.25, 0.5, 1 - 2**-24), (1 - 2**-24, 2**-24, 0)]
    alphas = [(1e-4, 1e-4), (1, 1e-4), (0.3, 0.3), (1, 1)]
    wo, u, alpha, ratio, f0, f90 = columns(HIGH[:4], us, alphas, INDICES, SHARES, SHARES)
    gray = np.ones(3)
    for wi in functions["sampled"](wo, u, alpha, ratio, f0[:, None] * gray, f90[:, None] * gray):
        length = np.linalg.norm(wi.astype(float), axis=1)
        assert np.all((length == 0) | (np.abs(length - 1) < 1e-6))
        assert (length > 0).mean() > 0.5
