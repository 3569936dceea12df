"""BSDFs on the device against float64 twins: values, densities, sampling, furnaces, reciprocity, Fresnel."""

from __future__ import annotations

import bsdf_twin as twin
import glsl_call
import numpy as np
import pytest
from glsl_call import Function
from lobe_checks import follows

from raystream.kernels.records import INTERACTION
from raystream.materials.bsdf import DELTA, bsdfs
from raystream.materials.surface_features import SurfaceFeatures
from raystream.scene.material import KINDS

ULP = 2.0**-24
PLAIN = [kind for kind in KINDS if kind not in ("principled", "classic")]  # which have tests of their own
TWINS = {"lambert": (twin.lambert_value, twin.lambert_pdf), "phong": (twin.phong_value, twin.phong_pdf)}
# Products of three unit vectors' rounded dot products; the power amplifies its base's rounding by its exponent.
ROUNDINGS = 16


@pytest.fixture(scope="module")
def functions(device):
    with device.current():
        modules = bsdfs(SurfaceFeatures(frozenset(PLAIN)))
        arguments = "Interaction at, vec3 wo, "
        return {
            "value": glsl_call.Function(device, f"vec3 bsdf_value({arguments}vec3 wi)", modules=modules),
            "pdf": glsl_call.Function(device, f"float bsdf_pdf({arguments}vec3 wi)", modules=modules),
            "sample": glsl_call.Function(
                device,
                f"bool bsdf_sample({arguments}vec3 u, out vec3 wi, out vec3 weight, out float pdf)",
                modules=modules,
            ),
            "branches": glsl_call.Function(
                device,
                f"void bsdf_branches({arguments[:-2]}, out vec3 reflected, out vec3 reflection, "
                "out vec3 refracted, out vec3 refraction)",
                modules=modules,
            ),
            "delta": glsl_call.Function(device, "bool bsdf_delta(Interaction at)", modules=modules),
        }


def interactions(kind: str, count: int, seed: int = 0, tilt: float = 0.3) -> np.ndarray:
    """Random ones whose shading normals are about ``tilt`` off the geometric ones; Phong's are energy-conserving."""
    random = np.random.default_rng(seed)
    at = np.zeros(count, INTERACTION.dtype)
    at["kind"] = KINDS[kind]
    normal = twin.unit(random.normal(size=(count, 3)))
    at["normal"], at["shading"] = normal, twin.unit(normal + tilt * random.normal(size=(count, 3)))
    share = random.random(count) if kind == "phong" else np.zeros(count)
    at["albedo"] = random.random((count, 3)) * (1 - share)[:, None]
    at["specular"], at["reflectivity"] = 0.6 * share, 0.4 * share * (random.random(count) < 0.5)
    at["parameter"] = np.exp(random.uniform(0, 5, count)) if kind == "phong" else random.uniform(1.1, 2.5, count)
    return at


def directions(count: int, seed: int) -> np.ndarray:
    return twin.unit(np.random.default_rng(seed).normal(size=(count, 3))).astype(np.float32).astype(float)


def seen(at: np.ndarray, wo: np.ndarray) -> np.ndarray:
    """wo turned to where both normals face it or both face away: the others are not made by `interaction_at`."""
    agrees = twin.dot(at["normal"].astype(float), wo) * twin.dot(at["shading"].astype(float), wo) > 0
    return np.where(agrees[:, None], wo, at["shading"].astype(float))


@pytest.mark.parametrize("kind", list(TWINS))
def test_values_and_densities(functions, kind):
    count = 20_000
    at, wo, wi = interactions(kind, count), directions(count, 1), directions(count, 2)
    value, pdf = (function(at, wo, wi)[0] for function in (functions["value"], functions["pdf"]))
    sides = np.abs([twin.dot(at[n].astype(float), w) for n in ("normal", "shading") for w in (wo, wi)]).min(axis=0)
    sure = sides > 4 * ULP  # on which side a direction along the surface is, is a matter of rounding
    near = np.abs(twin.dot(twin.mirrored(at, wo), wi))
    rounding = ROUNDINGS * ULP * (1 + at["parameter"] * (kind == "phong") / np.maximum(near, 1e-3))
    most = (1 + at["parameter"]) / np.pi
    want_value, want_pdf = (f(at, wo, wi) for f in TWINS[kind])
    assert np.all((np.abs(value - want_value) <= (rounding * most)[:, None])[sure])
    assert np.all((np.abs(pdf - want_pdf) <= rounding * most)[sure])


@pytest.mark.parametrize("kind", list(TWINS))
def test_sampled_directions_have_the_density_and_the_weight(functions, kind):
    count = 40_000
    random = np.random.default_rng(3)
    at = interactions(kind, count)
    wo = seen(at, directions(count, 4))
    fine, wi, weight, pdf = functions["sample"](at, wo, random.random((count, 3)))
    assert fine.mean() > 0.5
    single = fine & (pdf == 0)  # as a mirror; the others have a density
    assert single.any() == (kind == "phong")
    np.testing.assert_allclose(wi[single], twin.mirrored(at, wo)[single], atol=16 * ULP)
    chance = twin.phong_mirrors(at)[single, None]
    np.testing.assert_allclose(weight[single] * chance, at["reflectivity"][single, None] * np.ones(3), rtol=16 * ULP)
    fine &= ~single
    np.testing.assert_allclose(np.linalg.norm(wi, axis=1), 1, atol=4 * ULP)
    wi = wi.astype(float)
    near = twin.dot(twin.mirrored(at, wo), wi)
    # The density is taken before the direction is rounded; near its edge that changes it by its slope.
    narrow = at["parameter"] * (kind == "phong") / np.maximum(near, 1e-2)
    rounding = 64 * ULP * (1 + narrow) * (1 + at["parameter"]) / np.pi
    want_value, want_pdf = (f(at, wo, wi) for f in TWINS[kind])
    cosine = np.abs(twin.dot(at["shading"].astype(float), wi))
    sure = fine & (cosine > 1e-4)
    assert np.all((np.abs(pdf - want_pdf) <= rounding)[sure])
    ratio = want_value / np.where(want_pdf > 0, want_pdf, 1)[:, None]
    assert np.all((np.abs(weight - ratio) <= (2e-5 + rounding / np.maximum(want_pdf, 1e-9))[:, None])[sure])
    assert np.all(twin.one_sided(at, wo, wi)[sure])


@pytest.mark.parametrize("kind", list(TWINS))
def test_sampled_directions_fall_where_the_density_says(functions, kind):
    """Chi-square over cells of equal solid angle, one random surface; absorbed samples are left out on both sides."""
    count = 200_000
    at = interactions(kind, 1, 8, tilt=0.0)
    at["parameter"] = 5.0
    wo = seen(at, directions(1, 9))
    u = np.random.default_rng(11).random((count, 3))
    fine, wi, _, pdf = functions["sample"](np.repeat(at, count), np.repeat(wo, count, axis=0), u)
    fine &= pdf > 0

    def density(grid: np.ndarray) -> np.ndarray:
        many, wos = np.repeat(at, len(grid)), np.repeat(wo, len(grid), axis=0)
        return TWINS[kind][1](many, wos, grid) * twin.one_sided(many, wos, grid)

    follows(np.where(fine[:, None], wi, 0), density, rings=8, finer=20)


def test_white_furnace(functions):
    """A surface without loss sends back all that comes: the weights' mean is 1, refraction's scaling undone."""
    count = 4_096
    u = np.random.default_rng(12).random((count, 3))
    for kind in ("lambert", "mirror", "dielectric"):
        for cosine in (1.0, 0.7, 0.2, 0.02):
            at = np.zeros(count, INTERACTION.dtype)
            at["kind"], at["albedo"], at["parameter"] = KINDS[kind], 1.0, 1.5
            at["normal"] = at["shading"] = (0, 0, 1)
            for side in (1.0, -1.0):
                wo = np.tile([np.sqrt(1 - cosine**2), 0, side * cosine], (count, 1))
                fine, wi, weight, pdf = functions["sample"](at, wo, u)
                assert fine.all() and np.all((pdf == 0) == (kind in DELTA))
                crossed = wi[:, 2] * side < 0
                assert crossed.any() == (kind == "dielectric" and (side > 0 or cosine > 0.75))
                # The radiance of a furnace of radiance 1 is the index squared within the glass (Veach 1997, 5.2).
                furnace = np.where(wi[:, 2] < 0, 1.5**2, 1.0) if kind == "dielectric" else 1.0
                here = 1.5**2 if kind == "dielectric" and side < 0 else 1.0
                # Every sample alone is 1, to a few roundings.
                np.testing.assert_allclose(weight * np.reshape(furnace, (-1, 1)), here, rtol=8 * ULP)


def test_fresnel(device):
    function = glsl_call.Function(
        device, "float fresnel(float cosine, float ratio, out float behind)", includes=["lib/fresnel.glsl"]
    )
    # Hecht, Optics: 4 % of glass seen straight on; all from within beyond the critical angle of 41.8 degrees; at
    # Brewster's angle, half of the share that is polarised across: ((n^2 - 1) / (n^2 + 1))^2 / 2.
    cosine = [1.0, 1.0, np.cos(np.radians(41.9)), np.cos(np.arctan(1.5)), 0.0, 0.4]
    ratio = [1.5, 1 / 1.5, 1 / 1.5, 1.5, 1.5, 1.0]
    share, _ = function(cosine, ratio)
    np.testing.assert_allclose(share, [0.04, 0.04, 1.0, (1.25 / 3.25) ** 2 / 2, 1.0, 0.0], rtol=1e-6)
    random = np.random.default_rng(14)
    cosine, ratio = random.random(20_000), np.exp(random.uniform(-1, 1, 20_000))
    share, behind = function(cosine, ratio)
    want, want_behind = twin.fresnel(cosine.astype(np.float32), ratio.astype(np.float32).astype(float))
    squared = 1 - (1 - cosine**2) / ratio**2
    sure = np.abs(squared) > 1e-4  # at the critical angle the share rises to 1 with an infinite slope
    np.testing.assert_allclose(share[sure], want[sure], rtol=0, atol=2e-4)
    np.testing.assert_allclose(behind[sure], want_behind[sure], rtol=0, atol=1e-4)


def sampled_delta(functions, kind: str, count: int, seed: int):
    """Interactions, directions to the eye, sampled ones and their weights of a kind without a density."""
    at, wo = interactions(kind, count), directions(count, seed)
    fine, wi, weight, pdf = functions["sample"](at, wo, np.random.default_rng(seed + 1).random((count, 3)))
    assert fine.all() and not pdf.any()
    return at, wo, wi, weight


def test_refraction_follows_snell(functions):
    at, wo, wi, weight = sampled_delta(functions, "dielectric", 20_000, 15)
    shading, wi = at["shading"].astype(float), wi.astype(float)
    here, there = twin.dot(shading, wo), twin.dot(shading, wi)
    crossed = here * there < 0
    assert 0.3 < crossed.mean() < 0.7  # from within, most are reflected as a whole
    ratio = np.where(here > 0, at["parameter"], 1 / at["parameter"])
    sines = [np.linalg.norm(np.cross(shading, w), axis=1) for w in (wo, wi)]
    np.testing.assert_allclose(sines[0][crossed], (ratio * sines[1])[crossed], atol=32 * ULP)
    np.testing.assert_allclose(sines[0][~crossed], sines[1][~crossed], atol=32 * ULP)
    across = np.cross(shading, wo)
    # In the plane of incidence, away from where the ray came.
    np.testing.assert_allclose(twin.dot(across, wi), 0, atol=32 * ULP)
    want = np.where(crossed[:, None], at["albedo"] / ratio[:, None] ** 2, 1.0)
    np.testing.assert_allclose(weight, want, rtol=16 * ULP)
    share, _ = twin.fresnel(np.abs(here), ratio)
    expected = (1 - share).sum()
    assert abs(crossed.sum() - expected) < 4.5 * np.sqrt((share * (1 - share)).sum())


def test_what_reflects_nothing_refracts_even_the_least_number(functions):
    """Random numbers begin with 0, and a boundary of equal indices has no share: one in 2^24 would have turned back."""
    at, wo = interactions("dielectric", 500), directions(500, 18)
    at["parameter"] = 1.0
    _, wi, weight, _ = functions["sample"](at, wo, np.zeros((500, 3)))
    np.testing.assert_allclose(wi, -wo, atol=16 * ULP)
    np.testing.assert_array_equal(weight, at["albedo"])


def test_mirrors_reflect(functions):
    at, wo, wi, weight = sampled_delta(functions, "mirror", 5_000, 17)
    np.testing.assert_allclose(wi, twin.mirrored(at, wo), atol=16 * ULP)
    np.testing.assert_array_equal(weight, at["albedo"])


def test_branches_are_what_sampling_chooses_from(functions):
    count = 4_000
    wo, u = directions(count, 21), np.random.default_rng(22).random((count, 3))
    for kind in PLAIN:
        at = interactions(kind, count)
        reflected, reflection, refracted, refraction = functions["branches"](at, wo)
        if kind not in DELTA:
            assert not refraction.any()
            np.testing.assert_array_equal(reflection, at["reflectivity"][:, None] * np.ones(3))
            if kind == "phong":
                np.testing.assert_allclose(reflected, twin.mirrored(at, wo), atol=16 * ULP)
            continue
        _, wi, weight, _ = functions["sample"](at, wo, u)
        share = reflection[:, :1] if kind == "dielectric" else np.ones((count, 1))
        mirrors = u[:, 2:].astype(np.float32) < share
        np.testing.assert_array_equal(wi, np.where(mirrors, reflected, refracted))
        chance = np.where(mirrors, share, 1 - share)
        branch = np.where(mirrors, reflection, refraction)
        np.testing.assert_allclose(weight * chance, branch, rtol=16 * ULP, atol=1e-7)
        if kind == "dielectric":  # all light that comes is accounted for
            ratio = np.where(twin.dot(at["shading"].astype(float), wo) > 0, at["parameter"], 1 / at["parameter"])
            tint = np.where(at["albedo"] > 0, at["albedo"], 1)
            np.testing.assert_allclose(refraction * ratio[:, None] ** 2 / tint + reflection, 1, atol=16 * ULP)


@pytest.mark.parametrize("power", [-110, -70, 0, 60, 120])
def test_a_direction_has_unit_length_whatever_its_size(device, power: int) -> None:
    """Squares of such components leave the range of a float."""
    unit_or = Function(device, "vec3 unit_or(vec3 v, vec3 other)", ["lib/triangle_point.glsl"])
    given = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
    (found,) = unit_or(np.ldexp(given, power), np.tile([0, 1, 0], (200, 1)))
    wide = given.astype(np.float64)
    np.testing.assert_allclose(found, wide / np.linalg.norm(wide, axis=1, keepdims=True), atol=3e-7)


def test_what_has_no_direction_takes_the_other(device) -> None:
    unit_or = Function(device, "vec3 unit_or(vec3 v, vec3 other)", ["lib/triangle_point.glsl"])
    given = np.float32([[0, 0, 0], [1e-38, 0, 0], [np.nan, np.nan, np.nan], [0, 0, 1e-36]])
    (found,) = unit_or(given, np.tile([0, 1, 0], (4, 1)))
    np.testing.assert_array_equal(found, [[0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])


def test_a_boundary_between_equals_is_none(device) -> None:
    """Nothing is reflected, and nothing is bent, at any angle; exactly, since all of the formulas' terms cancel."""
    fresnel = Function(
        device, "float fresnel(float cosine, float ratio, out float cosine_behind)", ["lib/fresnel.glsl"]
    )
    cosine = np.float32([0, 1e-7, 0.1, 0.5, 0.99, 1])
    share, behind = fresnel(cosine, np.ones(6))
    np.testing.assert_array_equal(share, np.zeros(6))
    np.testing.assert_array_equal(behind, cosine)
