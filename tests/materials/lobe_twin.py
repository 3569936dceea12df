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


def metal(wo: Array, wi: Array, alpha: Array, f0: Array, f90: Array, albedo: Array) -> Array:
    """(N, 3)."""
    share = schlick(dot(wo, half(wo, wi)), f0, f90)
    return share * compensation(f0, albedo) * reflection(wo, wi, alpha)[..., None]


def specular(wo: Array, wi: Array, alpha: Array, ior: Array, f0: Array, f90: Array, albedo: Array) -> Array:
    """(N, 3)."""
    share = dielectric(dot(wo, half(wo, wi)), ior, f0, f90)
    return share * compensation(f0, albedo) * reflection(wo, wi, alpha)[..., None]
