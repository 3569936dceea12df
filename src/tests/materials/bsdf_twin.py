"""BSDFs in NumPy float64: value, density and directional albedo, written from the formulas, not from the shaders."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def dot(a: Array, b: Array) -> Array:
    return np.einsum("...k,...k->...", a, b)


def unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def one_sided(at: NDArray, wo: Array, wi: Array) -> Array:
    """Whether wo and wi are on one side, by the geometric and by the shading normal."""
    normal, shading = at["normal"].astype(float), at["shading"].astype(float)
    return (dot(normal, wo) * dot(normal, wi) > 0) & (dot(shading, wo) * dot(shading, wi) > 0)


def lambert_value(at: NDArray, wo: Array, wi: Array) -> Array:
    cosine = np.abs(dot(at["shading"].astype(float), wi)) * one_sided(at, wo, wi)
    return at["albedo"] / np.pi * cosine[:, None]


def lambert_pdf(at: NDArray, wo: Array, wi: Array) -> Array:
    shading = at["shading"].astype(float)
    here = dot(shading, wi)
    return np.where(dot(shading, wo) * here > 0, np.abs(here) / np.pi, 0)


def mirrored(at: NDArray, wo: Array) -> Array:
    shading = at["shading"].astype(float)
    return 2 * dot(shading, wo)[:, None] * shading - wo


def phong_value(at: NDArray, wo: Array, wi: Array) -> Array:
    exponent = at["parameter"].astype(float)
    near = np.maximum(dot(mirrored(at, wo), wi), 0)
    lobe = at["specular"] * (exponent + 2) / (2 * np.pi) * near**exponent
    cosine = np.abs(dot(at["shading"].astype(float), wi)) * one_sided(at, wo, wi)
    return (at["albedo"] / np.pi + lobe[:, None]) * cosine[:, None]


def phong_pdf(at: NDArray, wo: Array, wi: Array) -> Array:
    exponent, specular = at["parameter"].astype(float), at["specular"].astype(float)
    whole = specular + at["albedo"].mean(axis=1)
    choice = np.divide(specular, whole, out=np.zeros_like(whole), where=whole > 0)
    near = np.maximum(dot(mirrored(at, wo), wi), 0)
    lobe = (exponent + 1) / (2 * np.pi) * near**exponent
    return (choice * lobe + (1 - choice) * lambert_pdf(at, wo, wi)) * (1 - phong_mirrors(at))


def phong_mirrors(at: NDArray) -> Array:
    """Probability of the mirror's direction."""
    polish = at["reflectivity"].astype(float)
    return polish / np.maximum(polish + at["specular"] + at["albedo"].mean(axis=1), 1e-30)


def fresnel(cosine: Array, ratio: Array) -> tuple[Array, Array]:
    """Reflected share and the cosine behind, by Snell's law and angles: sin^2 and tan^2 of their sums."""
    inside = np.arccos(np.clip(cosine, 0, 1))
    sine = np.sin(inside) / ratio
    behind = np.arcsin(np.minimum(sine, 1))
    small = inside < 1e-4
    total = np.where(small, 1.0, inside + behind)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 0.5 * ((np.sin(inside - behind) / np.sin(total)) ** 2 + (np.tan(inside - behind) / np.tan(total)) ** 2)
    share = np.where(small, ((ratio - 1) / (ratio + 1)) ** 2, share)
    return np.where(sine >= 1, 1.0, share), np.where(sine >= 1, 0.0, np.cos(behind))


def sphere_grid(rings: int, columns: int) -> tuple[Array, float]:
    """Directions (rings * columns, 3) at the middles of cells of equal solid angle, and that angle."""
    z = 1 - 2 * (np.arange(rings) + 0.5) / rings
    turn = 2 * np.pi * (np.arange(columns) + 0.5) / columns
    z, turn = (a.ravel() for a in np.meshgrid(z, turn, indexing="ij"))
    radius = np.sqrt(1 - z * z)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn), z], axis=-1), 4 * np.pi / (rings * columns)
