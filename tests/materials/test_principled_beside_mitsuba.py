"""glTF's material beside Mitsuba 3's ``principled`` (W. Jakob et al. 2022), where the two are the same model.

Both have GGX's distribution, Schlick's reflectance of metals and Fresnel's of dielectrics. By design they differ in
shadowing (there of each side apart, here correlated by height), which is a factor known in closed form; in energy
compensation (here; a factor of wo alone); in the density (there visible normals, here bounded ones); and in what is not
compared: Burley's matte base, clearcoat by GTR1, sheen and refraction tinted by a root.
"""

from __future__ import annotations

import lobe_twin as twin
import numpy as np
import pytest
from bsdf_twin import dot, unit
from lobe_checks import hemisphere
from principled_surfaces import Surfaces

from raystream.materials.principled import arrays
from raystream.scene.material import Material

mi = pytest.importorskip("mitsuba", reason="Mitsuba 3 is not installed (pip install raystream[oracles])")

COUNT = 300
NEAR = 3e-5  # of Mitsuba's float32, and of ours: D changes with h / alpha


@pytest.fixture(scope="module", autouse=True)
def _variant():
    mi.set_variant("scalar_rgb")


def theirs(wo, wi, **parameters):
    """Value times cosine (N, 3) and density (N,) of ``principled``; its wi is our wo."""
    made = {"type": "principled", **parameters}
    made["base_color"] = {"type": "rgb", "value": [float(c) for c in parameters["base_color"]]}
    bsdf, context, at = mi.load_dict(made), mi.BSDFContext(), mi.SurfaceInteraction3f()
    at.wi = mi.Vector3f(*map(float, wo))
    ways = [mi.Vector3f(*map(float, each)) for each in wi]
    value = np.array([np.array(bsdf.eval(context, at, way)) for way in ways])
    return value, np.array([bsdf.pdf(context, at, way) for way in ways])


def ours(device, material, wo, wi):
    """The same, of a surface whose tangent is along x."""
    surfaces = Surfaces(device, [material])
    at, wos = surfaces.at(np.zeros(len(wi), int), wo), np.tile(wo, (len(wi), 1))
    value = surfaces("value", at, wos, wi)[0].astype(float)
    return value, surfaces("pdf", at, wos, wi)[0].astype(float)


def uncorrelated(wo, wi, alpha):
    """By how much shadowing of each side apart is less than what is correlated by height; Heitz 2014, eq. 98 and 99."""
    here, there = twin.smith(wo, alpha), twin.smith(wi, alpha)
    return (1 + here + there) / ((1 + here) * (1 + there))


@pytest.mark.parametrize("cosine", [0.95, 0.6, 0.2])
@pytest.mark.parametrize("roughness", [0.25, 0.6, 1.0])
def test_metal(device, roughness, cosine):
    wo = np.array([np.sqrt(1 - cosine**2), 0, cosine])
    wi = hemisphere(COUNT, 1, lowest=0.02)
    wos, alpha = np.tile(wo, (COUNT, 1)), np.full((COUNT, 2), roughness**2)
    factor = uncorrelated(wos, wi, alpha)[:, None]
    ratios = []
    for color in ((1, 1, 1), (0.9, 0.5, 0.1)):
        want, density = theirs(wo, wi, base_color=color, metallic=1.0, roughness=roughness)
        value, pdf = ours(
            device, Material("metal", (*color, 1), kind="principled", metallic=1.0, roughness=roughness), wo, wi
        )
        found = value * factor / want
        ratios.append(found.mean(axis=0))
        assert np.abs(found / ratios[-1] - 1).max() < NEAR * (1 + 1 / roughness**2)  # one factor for all wi
        bounded = twin.bounded_density(wos, wi, alpha)
        visible = twin.visible_normals(wos, unit(wos + wi), alpha) / (4 * dot(wos, unit(wos + wi)))
        np.testing.assert_allclose(density, visible, rtol=NEAR * (1 + 1 / roughness**2))
        np.testing.assert_allclose(pdf * visible / bounded, density, rtol=NEAR * (1 + 1 / roughness**2))
    white, coloured = ratios  # 1 / E, and what colour it has after several reflections
    mean = mean_albedo(roughness)
    f0 = np.array([(0.9, 0.5, 0.1)])
    want = twin.metal_compensation(f0, 1 / white[:1], np.array([mean]))[0]
    np.testing.assert_allclose(coloured, want, rtol=2e-3)  # of the table between its rows


def mean_albedo(roughness):
    """By the table of E, whose axes are the roughness and the cosine's root."""
    rows = arrays()["reflection"]
    place = roughness * (len(rows) - 1)
    row = rows[int(place)] + (place % 1) * (rows[min(int(place) + 1, len(rows) - 1)] - rows[int(place)])
    cosine = (np.arange(2000) + 0.5) / 2000
    return (2 * cosine * np.interp(np.sqrt(cosine), np.linspace(0, 1, len(row)), row)).mean()


@pytest.mark.parametrize(("ior", "roughness"), [(1.5, 0.4), (1.33, 0.8), (2.0, 0.3)])
def test_dielectric_without_a_base(device, ior, roughness):
    """Fresnel's reflectance, of half vectors; the compensation is one factor, near 1."""
    wo, wi = np.array([0.6, 0, 0.8]), hemisphere(COUNT, 2, lowest=0.02)
    want, _ = theirs(wo, wi, base_color=(0, 0, 0), eta=ior, roughness=roughness)
    material = Material("glaze", (0, 0, 0, 1), kind="principled", metallic=0.0, ior=ior, roughness=roughness)
    value, _ = ours(device, material, wo, wi)
    found = value * uncorrelated(np.tile(wo, (COUNT, 1)), wi, np.full((COUNT, 2), roughness**2))[:, None] / want
    assert 1 <= found.mean() < 1.05
    # Fresnel's reflectance is a share, rounded absolutely: 4e-7 of 0.02.
    assert np.abs(found / found.mean() - 1).max() < NEAR * (2 + 1 / roughness**2)


def test_brushed_metal(device):
    """Alphas of 0.4 along x and 0.1 across: anisotropy^2 = (0.4 - 0.1) / (1 - 0.1) there, here by the aspect."""
    alpha, wo, wi = np.array([0.4, 0.1]), unit(np.array([[0.5, 0.3, 0.7]]))[0], hemisphere(COUNT, 3, lowest=0.02)
    aspect = np.sqrt(alpha[1] / alpha[0])
    given = {"roughness": float(np.prod(alpha) ** 0.25), "anisotropic": float((1 - aspect**2) / 0.9)}
    want, _ = theirs(wo, wi, base_color=(1, 1, 1), metallic=1.0, **given)
    strength = np.sqrt((alpha[0] - alpha[1]) / (1 - alpha[1]))
    value, _ = ours(
        device,
        Material(
            "brushed", (1, 1, 1, 1), kind="principled", metallic=1.0, roughness=alpha[1] ** 0.5, anisotropy=strength
        ),
        wo,
        wi,
    )
    found = value * uncorrelated(np.tile(wo, (COUNT, 1)), wi, alpha)[:, None] / want
    assert np.abs(found / found.mean() - 1).max() < NEAR * (1 + 1 / alpha.min())
