"""Layers of glTF's materials: furnaces, sampling against density, mirrors below the limit, layers left out."""

from __future__ import annotations

import numpy as np
import pytest
from lobe_checks import follows
from principled_surfaces import Surfaces, towards, white

# Lobes with a density, each alone over black or white, and all at once.
MATERIALS = {
    "metal": white(metallic=1.0, roughness=0.4),
    "dielectric": white(roughness=0.3, ior=1.8),
    "mixed": white(metallic=0.5, roughness=0.6),
    "specular": white(roughness=0.5, specular_factor=0.6, specular_color=(1.0, 0.5, 0.2)),
    "clearcoat": white(metallic=1.0, roughness=0.7, clearcoat=0.8, clearcoat_roughness=0.3),
    "sheen": white(roughness=0.8, sheen_color=(0.6, 0.6, 0.6), sheen_roughness=0.5),
    "anisotropy": white(metallic=1.0, roughness=0.4, anisotropy=0.6),
    "iridescence": white(metallic=0.5, roughness=0.4, iridescence=1.0),
    "wall": white(roughness=0.3, transmission=0.8),
    "volume": white(roughness=0.4, transmission=0.7, thickness=1.0),
    "leaf": white(roughness=0.6, diffuse_transmission=0.5),
    "layered": white(
        metallic=0.3,
        roughness=0.4,
        transmission=0.4,
        thickness=1.0,
        clearcoat=0.6,
        clearcoat_roughness=0.5,
        iridescence=0.4,
        sheen_color=(0.2, 0.3, 0.1),
        sheen_roughness=0.6,
        diffuse_transmission=0.3,
        anisotropy=0.4,
    ),
}
NUMBERS = {name: number for number, name in enumerate(MATERIALS)}
ROUGHNESSES = (0.0, 0.05, 0.2, 0.5, 1.0)


@pytest.fixture(scope="module")
def surfaces(device):
    return Surfaces(device, list(MATERIALS.values()))


def sampled(surfaces, numbers, wo, count: int, seed: int = 1):
    u = np.random.default_rng(seed).random((count, 3))
    return surfaces("sample", surfaces.at(np.broadcast_to(numbers, count), wo), wo, u)


@pytest.mark.parametrize("kind", ["metal", "dielectric", "wall", "volume"])
def test_white_furnace(device, kind):
    """What loses nothing sends back all that comes, over roughness, angle and index."""
    more = {
        "metal": {"metallic": 1.0},
        "dielectric": {},
        "wall": {"transmission": 1.0},
        "volume": {"transmission": 1.0, "thickness": 1.0},
    }[kind]
    found = [white(roughness=r, ior=ior, **more) for r in ROUGHNESSES for ior in (1.2, 1.5, 2.2)]
    made = Surfaces(device, found)
    count = 4000
    for cosine in (1.0, 0.6, 0.15):
        for side in (1.0, -1.0):
            wo = np.tile(towards(side * cosine), (count * len(found), 1))
            numbers = np.repeat(np.arange(len(found)), count)
            fine, wi, weight, _ = sampled(made, numbers, wo, len(numbers))
            back = np.where(fine, weight[:, 0], 0.0).astype(float)
            if kind == "volume":  # radiance within is the index squared of that outside (Veach 1997, 5.2)
                index = np.array([each.ior for each in found])[numbers]
                outside = np.where(wi[:, 2] > 0, 1.0, index**2)
                back = back * outside / (1.0 if side > 0 else index**2)
            back = back.reshape(len(found), count)
            error = back.std(axis=1) / np.sqrt(count)
            # 6e-3: tables of 32 x 32 cells, between which albedos are interpolated.
            off = np.abs(back.mean(axis=1) - 1.0)
            assert np.all(off <= 4.5 * error + 6e-3), (cosine, side, off, error)


@pytest.mark.parametrize("name", MATERIALS)
def test_sampled_directions_fall_where_the_density_says(surfaces, name):
    """Chi-square over cells of equal solid angle; absorbed samples are left out on both sides."""
    count = 60_000
    for cosine in (0.8, -0.5):
        wo = np.tile(towards(cosine, 0.4), (count, 1))
        fine, wi, _, pdf = sampled(surfaces, NUMBERS[name], wo, count, 3)
        assert np.all(pdf[fine] > 0)

        def density(grid, wo=wo[:1]):
            at, wos = surfaces.at(np.full(len(grid), NUMBERS[name]), wo[0]), np.repeat(wo, len(grid), axis=0)
            (density,), (value,) = surfaces("pdf", at, wos, grid), surfaces("value", at, wos, grid)
            return np.where(value.any(axis=1), density, 0.0).astype(float)  # the rest is absorbed

        # The midpoint rule on cells of 0.02 rad is off by about 1 % where a lobe of roughness 0.3 turns.
        follows(np.where(fine[:, None], wi, 0), density, rings=8, columns=8, finer=16, quadrature=0.015)


@pytest.mark.parametrize("name", MATERIALS)
def test_weights_are_values_over_densities(surfaces, name):
    count = 2000
    wo = np.tile(towards(0.6), (count, 1))
    at = surfaces.at(np.full(count, NUMBERS[name]), wo)
    fine, wi, weight, pdf = sampled(surfaces, NUMBERS[name], wo, count, 4)
    value, again = surfaces("value", at, wo, wi)[0], surfaces("pdf", at, wo, wi)[0]
    # The direction is rounded in between, and lobes of this roughness are steep by less than 100 per radian.
    np.testing.assert_allclose(pdf[fine], again[fine], rtol=2e-4)
    np.testing.assert_allclose(weight[fine] * pdf[fine, None], value[fine], rtol=1e-3, atol=1e-6)


def test_smooth_lobes_are_mirrors_below_the_limit(device):
    count = 256
    found = [white(metallic=1.0, roughness=0.2), white(roughness=0.2), white(roughness=0.2, transmission=1.0)]
    wo = np.tile(towards(0.5), (count, 1))
    for limit, mirrors in ((0.1, False), (0.3, True)):
        made = Surfaces(device, found, smooth=limit)
        for number in range(len(found)):
            at = made.at(np.full(count, number), wo)
            reflected, reflection, _, refraction = made("branches", at, wo)
            _, _, _, pdf = sampled(made, number, wo, count, 6)
            assert bool(reflection.any()) == mirrors and bool((pdf == 0).any()) == mirrors
            assert made("delta", at)[0].all() == (mirrors and number != 1)
            if mirrors:
                np.testing.assert_allclose(reflected, np.tile(towards(0.5, np.pi), (count, 1)), atol=1e-6)
                np.testing.assert_allclose((reflection + refraction).max(), 1.0, atol=1e-5 if number != 1 else 1.0)


def test_unlit_surfaces_scatter_nothing(device):
    made = Surfaces(device, [white(unlit=True), white()])
    wo = np.tile(towards(0.5), (64, 1))
    fine, *_ = sampled(made, 0, wo, 64)
    assert not fine.any() and not made("value", made.at(np.zeros(64, int)), wo, wo)[0].any()
    assert made("value", made.at(np.ones(64, int)), wo, wo)[0].all()
