"""Lobes of glTF's materials in NumPy float64, written from the papers' formulas by angles, not from the shaders.

Directions (N, 3) are unit vectors of the local frame, z the shading normal, wo above; alpha (N, 2) or (2,). Values are
the BSDF times |cosine of wi|.
"""

from __future__ import annotations

import numpy as np
from bsdf_twin import Array, dot, fresnel, unit


def slope(w: Array, alpha: Array) -> Array:
    """tan^2 of the angle of w, times the squared alpha in its direction."""
    with np.errstate(divide="ignore"):
        return ((w[..., :2] * alpha) ** 2).sum(axis=-1) / w[..., 2] ** 2


def smith(w: Array, alpha: Array) -> Array:
    """Lambda of GGX; Heitz 2014, eq. 72."""
    return 0.5 * (np.sqrt(1 + slope(w, alpha)) - 1)


def distribution(h: Array, alpha: Array) -> Array:
    """GGX's D; Heitz 2014, eq. 85."""
    return 1 / (np.pi * np.prod(alpha, axis=-1) * h[..., 2] ** 4 * (1 + slope(h, 1 / alpha)) ** 2)


def reflection(wo: Array, wi: Array, alpha: Array) -> Array:
    """Single scattering by mirrors of reflectance 1."""
    above = wi[..., 2] > 0
    h = unit(wo + np.where(above[..., None], wi, wo))
    shadowed = 1 / (1 + smith(wo, alpha) + smith(wi, alpha))
    return np.where(above, distribution(h, alpha) * shadowed / (4 * wo[..., 2]), 0)


def visible_normals(wo: Array, h: Array, alpha: Array) -> Array:
    """Density of the normals that wo sees; Heitz 2014, eq. 16."""
    seen = np.maximum(dot(wo, h), 0) * (h[..., 2] > 0)
    return distribution(h, alpha) * seen / (1 + smith(wo, alpha)) / wo[..., 2]


def bounded_density(wo: Array, wi: Array, alpha: Array) -> Array:
    """Density of a direction by bounded visible normals: without the bound, divided by the share of the cap that it
    leaves; Eto and Tokuyoshi 2023, eq. 5 and 8."""
    above = wi[..., 2] > 0
    h = unit(wo + np.where(above[..., None], wi, wo))
    a, s = np.minimum(np.min(alpha, axis=-1), 1), 1 + np.hypot(wo[..., 0], wo[..., 1])
    bound = (1 - a**2) * s**2 / (s**2 + a**2 * wo[..., 2] ** 2)
    height = wo[..., 2] / np.hypot(wo[..., 2], np.linalg.norm(wo[..., :2] * alpha, axis=-1))
    whole = visible_normals(wo, h, alpha) / (4 * dot(wo, h))
    return np.where(above, whole * (1 + height) / (1 + bound * height), 0)


def schlick(cosine: Array, f0: Array, f90: Array) -> Array:
    """Shapes (N,), (N, 3), (N, 3)."""
    return f0 + (f90 - f0) * ((1 - cosine) ** 5)[..., None]


def dielectric(cosine: Array, ratio: Array, f0: Array, f90: Array) -> Array:
    """Fresnel's equations, bent to f0 straight on and f90 at grazing incidence; shapes (N,), (N,), (N, 3), (N, 3)."""
    straight = ((ratio - 1) / (ratio + 1)) ** 2
    rise = (fresnel(cosine, ratio)[0] - straight) / (1 - straight)
    return f0 + (np.where(ratio[..., None] < 1, 1, f90) - f0) * rise[..., None]


def half(wo: Array, wi: Array) -> Array:
    """Of reflection."""
    return unit(wo + np.where(wi[..., 2:] > 0, wi, wo))


def compensation(f0: Array, albedo: Array) -> Array:
    """Turquin 2019, eq. 16."""
    return 1 + f0 * ((1 - albedo) / albedo)[..., None]


def metal_compensation(f0: Array, albedo: Array, mean: Array) -> Array:
    """Of a mean albedo (N,); Kulla and Conty 2017, as the sum over reflections after the first: each returns the mean
    of Schlick's reflectance, and what does not leave, by the mean albedo, is reflected again."""
    facet = f0 + (1 - f0) * 2 / (6 * 7)  # the integral of 2 c (1 - c)^5
    stays = facet * (1 - mean)[..., None]
    series = sum(stays**k for k in range(200))
    return 1 + facet * mean[..., None] * series * ((1 - albedo) / albedo)[..., None]


def metal(wo: Array, wi: Array, alpha: Array, f0: Array, f90: Array, albedo: Array, mean: Array) -> Array:
    """(N, 3)."""
    share = schlick(dot(wo, half(wo, wi)), f0, f90)
    return share * metal_compensation(f0, albedo, mean) * reflection(wo, wi, alpha)[..., None]


def specular(wo: Array, wi: Array, alpha: Array, ior: Array, f0: Array, f90: Array, albedo: Array) -> Array:
    """(N, 3)."""
    share = dielectric(dot(wo, half(wo, wi)), ior, f0, f90)
    return share * compensation(f0, albedo) * reflection(wo, wi, alpha)[..., None]


def choice(share: Array, tint: Array) -> Array:
    """Probability of reflecting, (N,): in proportion to what is reflected and what, tinted, is not."""
    return share.sum(axis=-1) / (share + (1 - share) * tint).sum(axis=-1)


def refracting_half(wo: Array, wi: Array, ratio: Array) -> Array:
    """The normal, above, at which wo is refracted to wi below; Walter 2007, eq. 16."""
    h = unit(wo + ratio[..., None] * wi)
    return h * np.sign(h[..., 2:])


def rough_dielectric(
    wo: Array, wi: Array, alpha: Array, ratio: Array, f0: Array, f90: Array, tint: Array, total: Array
) -> tuple[Array, Array]:
    """Value (N, 3) and density (N,); Walter 2007, eq. 17, 20 and 21, with radiance scaled by 1 / ratio^2."""
    above = wi[..., 2] > 0
    h = np.where(above[..., None], half(wo, wi), refracting_half(wo, wi, ratio))
    here, there = dot(wo, h), dot(wi, h)
    share = dielectric(np.clip(here, 0, 1), ratio, f0, f90)
    shadowed = distribution(h, alpha) / (1 + smith(wo, alpha) + smith(wi, alpha))
    jacobian = np.where(above, 0.25 / here, ratio**2 * np.abs(there) / (here + ratio * there) ** 2)
    possible = (here > 0) & (above | (there < 0))
    single = np.where(possible, shadowed * np.abs(here) / wo[..., 2] * jacobian / np.where(above, 1, ratio**2), 0)
    probability = choice(share, tint)
    density = visible_normals(wo, h, alpha) * jacobian * np.where(above, probability, 1 - probability)
    shares = np.where(above[..., None], share, (1 - share) * tint)
    return shares * single[..., None] / total, np.where(possible, density, 0)


def thin_dielectric(
    wo: Array, wi: Array, alpha: Array, ior: Array, f0: Array, f90: Array, tint: Array, albedo: Array
) -> tuple[Array, Array]:
    """Value (N, 3) and density (N,)."""
    mirrored = np.concatenate([wi[..., :2], np.abs(wi[..., 2:])], axis=-1)
    share = dielectric(dot(wo, half(wo, mirrored)), ior, f0, f90)
    above, probability = wi[..., 2] > 0, choice(share, tint)
    shares = np.where(above[..., None], share, (1 - share) * tint)
    density = bounded_density(wo, mirrored, alpha) * np.where(above, probability, 1 - probability)
    return shares * (reflection(wo, mirrored, alpha) / albedo)[..., None], density


def charlie_smith(cosine: Array, alpha: Array) -> Array:
    """Lambda of Charlie's sheen, by the table of its fit; Estevez and Kulla 2017, section 3."""
    ends = np.array([[25.3245, 3.32435, 0.16801, -1.27393, -4.85967], [21.5473, 3.82987, 0.19823, -1.97760, -4.32054]])
    share = ((1 - alpha) ** 2)[..., None]
    a, b, c, d, e = np.moveaxis(share * ends[0] + (1 - share) * ends[1], -1, 0)

    def fit(x):
        return a / (1 + b * x**c) + d * x + e

    return np.exp(np.where(cosine < 0.5, fit(cosine), 2 * fit(0.5) - fit(np.maximum(1 - cosine, 0))))


def sheen(wo: Array, wi: Array, alpha: Array, albedo: Array) -> Array:
    """(N,) of a white sheen."""
    above = wi[..., 2] > 0
    sine = np.sqrt(np.maximum(1 - half(wo, wi)[..., 2] ** 2, 0))
    fibres = (2 + 1 / alpha) * sine ** (1 / alpha) / (2 * np.pi)
    shadowed = 1 / (1 + charlie_smith(wo[..., 2], alpha) + charlie_smith(np.abs(wi[..., 2]), alpha))
    return np.where(above, fibres * shadowed / (4 * wo[..., 2] * np.maximum(albedo, 1)), 0)


def film_amplitudes(
    cosine: Array, outside: Array | float, film: Array | float, f0: Array
) -> tuple[Array, Array, Array]:
    """Amplitudes reflected at both faces of a film, by Schlick and without polarisation, and the cosine within; f0 is
    that of the base in air."""
    within = np.sqrt(np.maximum(1 - (outside / film) ** 2 * (1 - cosine**2), 0))
    base = (1 + np.sqrt(f0 + 1e-4)) / (1 - np.sqrt(f0 + 1e-4))

    def amplitude(one, other, x):
        straight = ((other - one) / (other + one)) ** 2
        return np.sqrt(straight + (1 - straight) * (1 - x) ** 5) * np.sign(one - other)

    return amplitude(outside, film, cosine), amplitude(film, base, within), within


def film_orders(first: Array, second: Array, turn: Array, orders: int) -> tuple[Array, Array]:
    """Reflectance of a film as a Fourier series of its phase, angle (N, M): the constant term, and the sum of the terms
    up to an order, (N, M). Of all orders it is Airy's |(r1 + r2 e^i) / (1 + r1 r2 e^i)|^2."""
    product, both = first * second, first**2 * second**2
    series = (1 - first**2) ** 2 * second**2 / (1 - both)
    terms = [
        2 * ((series - (1 - first**2)) * (-product) ** m)[:, None] * np.cos(m * turn) for m in range(1, orders + 1)
    ]
    return first**2 + series, sum(terms, np.zeros_like(turn))


def eye(numbers: Array) -> Array:
    """(3, M): the eye's response to wave numbers (per m), of which the published transforms, height sqrt(2 pi v)
    e^(-v phase^2), are those of Gaussians of variance 2 v: of the green response 0.14e6 waves per m, 43 nm at 555 nm;
    as linear sRGB. Belcour and Barla 2017, section 4."""
    middle, variance = np.array([1.6810e6, 1.7953e6, 2.2084e6]), np.array([4.3278e9, 9.3046e9, 6.6121e9])
    height = np.array([5.4856e-13, 4.4201e-13, 5.2481e-13])
    response = height[:, None] * np.exp(-((numbers - middle[:, None]) ** 2) / (4 * variance[:, None]))
    response[0] += 9.7470e-14 * np.exp(-((numbers - 2.2399e6) ** 2) / (4 * 4.5282e9))
    rgb = np.array([[3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560]])
    rgb = np.vstack([rgb, [0.0556434, -0.2040259, 1.0572252]])
    return rgb @ response / (np.sqrt(2) * 1.0685e-7)


def film(
    cosine: Array, index: Array | float, thickness: Array | float, f0: Array, outside: Array | float = 1.0
) -> Array:
    """(N, 3) Reflectance under a film, of a base of reflectance f0 (N, 3) or (3,): two orders of the series, seen by
    the eye one wavelength at a time. thickness : nm."""
    numbers, cosine = np.linspace(1.1e6, 3.0e6, 500), np.minimum(cosine, 1)
    response = eye(numbers) * (numbers[1] - numbers[0])
    f0, made = np.broadcast_to(f0, (len(cosine), 3)), []
    for channel in range(3):
        first, second, within = film_amplitudes(cosine, outside, index, f0[:, channel])
        turn = (4e-9 * np.pi * within * index * thickness)[:, None] * numbers
        constant, terms = film_orders(first, second, turn, 2)
        made.append(constant + terms @ response[channel])
    return np.clip(np.stack(made, axis=-1), 0, 1)
