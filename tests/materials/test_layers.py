"""Layers of glTF's materials on the device: their sums against a float64 twin, and what textures do to every number."""

from __future__ import annotations

from dataclasses import replace

import layers_twin as twin
import lobe_twin
import numpy as np
import pytest
from bsdf_twin import sphere_grid, unit
from lobe_checks import hemisphere
from principled_surfaces import Surfaces

from raystream.materials.media import is_volume, ranks
from raystream.scene.material import Material
from raystream.scene.texture import Image, Texture, linear_from_srgb

COUNT = 160

# Every layer with numbers of its own, over metal, matte, glass or leaf.
WHOLE = Material(
    "whole",
    (0.7, 0.5, 0.3, 1.0),
    kind="principled",
    metallic=0.3,
    roughness=0.5,
    ior=1.7,
    specular_factor=0.6,
    specular_color=(1.0, 0.8, 0.5),
    transmission=0.4,
    thickness=1.0,
    clearcoat=0.8,
    clearcoat_roughness=0.4,
    iridescence=0.5,
    iridescence_ior=1.25,
    iridescence_thickness=(150.0, 380.0),
    sheen_color=(0.5, 0.3, 0.2),
    sheen_roughness=0.6,
    diffuse_transmission=0.35,
    diffuse_transmission_color=(0.2, 0.6, 0.9),
    anisotropy=0.6,
    anisotropy_rotation=0.5,
)
PLAIN = Material("plain", (0.7, 0.5, 0.3, 1.0), kind="principled", roughness=0.5, ior=1.7)
LAYERS = {
    "plain": PLAIN,
    "specular": replace(PLAIN, specular_factor=0.4, specular_color=(0.9, 0.6, 0.3)),
    "metal": replace(PLAIN, metallic=0.6),
    "coat": replace(PLAIN, clearcoat=0.7, clearcoat_roughness=0.3),
    "sheen": replace(PLAIN, sheen_color=(0.6, 0.4, 0.2), sheen_roughness=0.5),
    "blue sheen": replace(PLAIN, sheen_color=(0.2, 0.4, 0.6), sheen_roughness=0.5),
    "sheen under a coat": replace(
        PLAIN, clearcoat=1.0, clearcoat_roughness=0.6, sheen_color=(0.6, 0.4, 0.2), sheen_roughness=0.5
    ),
    "mirror": replace(PLAIN, metallic=1.0, roughness=0.0),
    "sheen on a mirror": replace(PLAIN, metallic=1.0, roughness=0.0, sheen_color=(0.5, 0.5, 0.1), sheen_roughness=0.5),
    "brushed": replace(PLAIN, metallic=1.0, roughness=0.3, anisotropy=0.7, anisotropy_rotation=0.8),
    "film": replace(PLAIN, iridescence=0.8, iridescence_ior=1.35, iridescence_thickness=(0.0, 300.0)),
    "film between the indices of red and blue": replace(
        PLAIN, specular_color=(1.0, 0.6, 0.2), iridescence=1.0, iridescence_ior=1.4, iridescence_thickness=(0.0, 350.0)
    ),
    "thin film": replace(PLAIN, metallic=1.0, iridescence=1.0, iridescence_ior=1.5, iridescence_thickness=(0.0, 50.0)),
    "film on metal": replace(PLAIN, metallic=1.0, iridescence=1.0, iridescence_thickness=(0.0, 450.0)),
    "wall": replace(PLAIN, transmission=0.8, specular_factor=0.7),
    "volume": replace(PLAIN, transmission=0.8, thickness=1.0, specular_factor=0.7),
    "leaf": replace(PLAIN, diffuse_transmission=0.4, diffuse_transmission_color=(0.1, 0.5, 0.2)),
    "thick and opaque": replace(PLAIN, thickness=1.0),
    "smooth pane": replace(PLAIN, roughness=0.0, transmission=0.8, specular_factor=0.7, specular_color=(1.0, 0.6, 0.3)),
    "smooth glass": replace(PLAIN, roughness=0.0, transmission=0.8, thickness=1.0, specular_factor=0.7),
    "smooth coat on smooth metal": replace(PLAIN, metallic=0.6, roughness=0.0, clearcoat=0.7, iridescence=0.5),
    "whole": WHOLE,
}
TEXEL = np.array([50, 110, 170, 230], np.uint8)
RED, GREEN, BLUE, ALPHA = TEXEL / 255
COLOR = linear_from_srgb(TEXEL[:3] / 255)
MAPPED = TEXEL[:3] / 255 * 2 - 1

# What a texture of these channels is to do: the same as these numbers.
SLOTS = {
    "metallic_roughness_texture": {"roughness": 0.5 * GREEN, "metallic": 0.3 * BLUE},
    "specular_factor_texture": {"specular_factor": 0.6 * ALPHA},
    "specular_color_texture": {"specular_color": COLOR * (1.0, 0.8, 0.5)},
    "transmission_texture": {"transmission": 0.4 * RED},
    "anisotropy_texture": {"anisotropy": 0.6 * BLUE, "anisotropy_rotation": 0.5 + np.arctan2(MAPPED[1], MAPPED[0])},
    "clearcoat_texture": {"clearcoat": 0.8 * RED},
    "clearcoat_roughness_texture": {"clearcoat_roughness": 0.4 * GREEN},
    "iridescence_texture": {"iridescence": 0.5 * RED},
    "iridescence_thickness_texture": {"iridescence_thickness": (0.0, 150.0 + (380.0 - 150.0) * GREEN)},
    "sheen_color_texture": {"sheen_color": COLOR * (0.5, 0.3, 0.2)},
    "sheen_roughness_texture": {"sheen_roughness": 0.6 * ALPHA},
    "diffuse_transmission_texture": {"diffuse_transmission": 0.35 * ALPHA},
    "diffuse_transmission_color_texture": {"diffuse_transmission_color": COLOR * (0.2, 0.6, 0.9)},
}


def directions(side: float) -> tuple[np.ndarray, np.ndarray]:
    """(COUNT, 3) each: wo on a side, every other wi behind."""
    wo, wi = hemisphere(COUNT, 1, 0.2), hemisphere(COUNT, 2, 0.05)
    wi[::2, 2] *= -1
    return wo * (1, 1, side), wi * (1, 1, side)


@pytest.fixture(scope="module")
def layers(device) -> Surfaces:
    """`LAYERS`, then for each slot `WHOLE` with the texture, then with the numbers."""
    textured = [replace(WHOLE, **{slot: 0}) for slot in SLOTS]
    given = [replace(WHOLE, **numbers) for numbers in SLOTS.values()]
    pictures = [Texture(Image(np.tile(TEXEL, (1, 1, 1))), nearest=True)]
    return Surfaces(device, [*LAYERS.values(), *textured, *given], pictures=pictures)


@pytest.fixture(scope="module")
def told(layers) -> dict[float, list[np.ndarray]]:
    """Of all materials, (M, COUNT, ...), by the side that is seen: value, reflectance, index, whether single."""
    count = len(layers.materials)
    found = {}
    for side in (1.0, -1.0):
        wo, wi = (np.tile(each, (count, 1)) for each in directions(side))
        at = layers.at(np.repeat(np.arange(count), COUNT), wo)
        found[side] = [each.reshape(count, COUNT, *each.shape[1:]) for each in layers("told", at, wo, wi)]
    return found


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["front", "back"])
def test_sums_of_layers(told, side):
    wo, wi = directions(side)
    for number, (name, own) in enumerate(LAYERS.items()):
        want = twin.scattered(own, wo, wi)
        value, reflectance, reflection, _, refraction, *_ = (each[number] for each in told[side])
        pairs = (value, want.value), (reflectance, want.reflectance)
        for made, wanted in (*pairs, (reflection, want.mirrored), (refraction, want.refracted)):
            np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=2e-6, err_msg=name)


@pytest.mark.parametrize("cosine", [0.02, 0.05, 0.3])
def test_smooth_sheens_reflect_no_more_than_comes(device, cosine):
    """By quadrature; at grazing incidence the fibres' own albedo is more than 1."""
    fibres = Material("fibres", (0, 0, 0, 1), kind="principled", specular_factor=0.0, sheen_color=(1, 1, 1))
    surfaces, (wi, cell) = Surfaces(device, [replace(fibres, sheen_roughness=0.1)]), sphere_grid(400, 400)
    wo = np.tile([np.sqrt(1 - cosine**2), 0, cosine], (len(wi), 1))
    (value,) = surfaces("value", surfaces.at(np.zeros(len(wi), int), wo), wo, wi)
    assert value.sum(axis=0, dtype=float).max() * cell < 1.01  # of a table whose cells are linear


def test_textures_by_their_own_channels(told):
    """A texture of four distinct channels equals numbers times the slot's own channel."""
    first = len(LAYERS)
    whole = list(LAYERS).index("whole")
    for side in told.values():
        for k, slot in enumerate(SLOTS):
            for each in side[:2]:
                textured, given = each[first + k], each[first + len(SLOTS) + k]
                np.testing.assert_allclose(textured, given, rtol=2e-4, atol=1e-6, err_msg=slot)
            assert not np.allclose(side[0][first + k], side[0][whole], rtol=2e-3), slot


def test_what_is_single_and_what_refracts(told):
    """Sheen has a density on a mirror, too; a thickness without transmission bends nothing."""
    *_, index, delta = told[1.0]
    assert [name for name, single in zip(LAYERS, delta[:, 0], strict=False) if single] == ["mirror"]
    bends = {name: own.ior if own.thickness and own.transmission else 1.0 for name, own in LAYERS.items()}
    np.testing.assert_allclose(index[: len(LAYERS), 0], list(bends.values()), rtol=1e-6)
    opaque, glass = LAYERS["thick and opaque"], LAYERS["volume"]
    assert not is_volume(opaque) and ranks([opaque, glass]) == {1: 1}
    assert replace(opaque, dispersion=1.0).half_spread == 0.0 < replace(glass, dispersion=1.0).half_spread


def test_normals_of_maps(device):
    """Of the base and of the coat, each with its own texture and scale; of a material without films and volumes."""
    texels = np.array([[150, 90, 220, 255], [100, 160, 230, 255]], np.uint8)
    pictures = [Texture(Image(texel[None, None]), nearest=True, content="normal") for texel in texels]
    metal = Material("metal", (0.9, 0.7, 0.4, 1.0), kind="principled", metallic=1.0, roughness=0.5)
    mapped = replace(metal, normal_texture=0, normal_scale=0.7)
    coated = replace(mapped, clearcoat=0.8, clearcoat_roughness=0.4)
    found = [mapped, coated, replace(coated, clearcoat_normal_texture=1, clearcoat_normal_scale=1.3)]
    base, coat = (unit((texels[k, :3] / 255 * 2 - 1) * (scale, scale, 1.0)) for k, scale in ((0, 0.7), (1, 1.3)))
    surfaces, (wo, wi) = Surfaces(device, found, pictures=pictures), (hemisphere(COUNT, k, 0.6) for k in (3, 4))
    at = surfaces.at(np.repeat(np.arange(3), COUNT), np.tile(wo, (3, 1)))
    value, reflectance, *_ = surfaces("told", at, np.tile(wo, (3, 1)), np.tile(wi, (3, 1)))
    for k, own in enumerate(found):
        want = twin.scattered(own, wo, wi, base, coat if k == 2 else twin.UPRIGHT)
        rows = slice(k * COUNT, (k + 1) * COUNT)
        np.testing.assert_allclose(value[rows], want.value, rtol=1e-4, atol=2e-6, err_msg=str(k))
        np.testing.assert_allclose(reflectance[rows], want.reflectance, rtol=1e-4, atol=2e-6, err_msg=str(k))


def test_mirrors_do_not_send_light_below_the_surface(device):
    """Where a map's normal leans so far that the mirrored direction is below, it is mirrored at the surface, too: else
    bumps of mirrors have black spots."""
    metal = Material("metal", (0.9, 0.7, 0.4, 1.0), kind="principled", metallic=1.0, roughness=0.0)
    materials = [metal, replace(metal, clearcoat=1.0, clearcoat_roughness=0.0)]
    surfaces, wo = Surfaces(device, materials), np.tile(hemisphere(COUNT, 5, 0.05), (2, 1))
    shading = unit(np.array([0.6, -0.2, 0.7]))
    wo = wo[wo @ shading > 0.05]
    at = surfaces.at(np.arange(len(wo)) % 2, wo)
    at["shading"] = shading
    want = 2 * (wo @ shading)[:, None] * shading - wo
    below = want[:, 2] < 0
    assert 20 < below.sum() < len(wo) - 20
    want[below] *= 1, 1, -1
    reflected = surfaces("branches", at, wo)[0]
    made, wi, weight, _ = surfaces("sample", at, wo, np.full((len(wo), 3), 0.5))
    assert made.all() and (weight > 0).all()
    for found in (reflected, wi):
        np.testing.assert_allclose(found, want, atol=1e-5)


def test_the_series_of_a_film_is_airys():
    """The twin's own terms, against the coherent sum."""
    count, random = 50, np.random.default_rng(14)
    outside, film = np.where(random.random(count) < 0.5, 1.0, 1.5), random.uniform(1.2, 2.0, count)
    film = np.where(np.abs(film - outside) < 0.1, outside + 0.25, film)
    low = np.where(film < outside, 0.7, 0.1)  # none totally reflected
    cosine, thickness, f0 = (
        low + (1 - low) * random.random(count),
        *random.uniform([[1], [0.01]], [[800], [0.3]], (2, count)),
    )
    first, second, within = lobe_twin.film_amplitudes(cosine, outside, film, f0)
    turn = (4 * np.pi * film * thickness * within)[:, None] / np.linspace(400, 700, 30)
    wave = np.exp(1j * turn)
    airy = np.abs((first[:, None] + second[:, None] * wave) / (1 + (first * second)[:, None] * wave)) ** 2
    constant, terms = lobe_twin.film_orders(first, second, turn, 60)
    # The amplitudes' product is below 0.25, so that orders beyond 60 are nothing: the rest is float64's rounding.
    np.testing.assert_allclose(constant[:, None] + terms, airy, atol=1e-9)
