"""Makes assets/albedo.npz: directional albedos of the lobes of glTF's materials, by quadrature in float64.

Turquin, "Practical multiple scattering compensation for microfacet models" (Industrial Light & Magic, 2019), keeps them
by direction, roughness and index. Run `python tools/albedo.py`, a minute: the same arrays each time. They are
uint16, value * 65535:

reflection (roughness, cosine)
    E of GGX that reflects everything (Fresnel's reflectance is 1).
rise (index, roughness, cosine)
    S of GGX times the rise s of Fresnel's reflectance, F = F0 + (F90 - F0) s: what is reflected in all is
    F0 (E - S) + F90 S.
crossing (index, roughness, cosine)
    A of GGX's refraction times 1 - s. What crosses in all, in power, is (1 - F0) A + (1 - F90) B.
crossing_rise (index, roughness, cosine), of indices from 1 up
    B of GGX's refraction times s.
sheen (roughness, cosine)
    of Charlie's sheen, Estevez and Kulla 2017; divided by 8.

Roughness is perceptual (alpha = roughness^2), even from 0 to 1; the cosine of direction and normal is the square of
what is even from 0 to 1; the ratio n of the indices, behind / in front, by r = (n - 1) / (n + 1) = 0.512 x |x|, x even
from -1 to 1.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ASSET = Path(__file__).resolve().parents[1] / "assets" / "albedo.npz"
COSINES, ROUGHNESSES = 32, 32
INDICES = 16  # intervals on either side of equal indices
FINE = 64  # cosines and roughnesses of the arrays without indices
LARGEST = 0.512  # r, of ratios of indices from 0.32 to 3.1; 1.5 is slice 10
SAMPLES = 256  # along each side of the square of a quadrature
LEAST_ALPHA = 1e-4
LEAST_SHEEN = 1e-3  # alpha: the lobe is bright within 2 degrees of the horizon
BRIGHTEST_SHEEN = 8.0  # the fit of its shadowing lets more than all come back where it is smooth
LEAST_COSINE = 1e-4
LOOPS = ("_lambda", "_ggx", "_charlie_lambda", "_charlie")

Array = NDArray[np.float64]


def _lambda(cosine: float, alpha: float) -> float:
    """Smith's Lambda of GGX (Heitz 2014, eq. 72)."""
    if abs(cosine) < 1e-9:
        return 1e12
    return 0.5 * (math.sqrt(1.0 + alpha * alpha * (1.0 - cosine * cosine) / (cosine * cosine)) - 1.0)


def _ggx(cosine: float, alpha: float, ratios: Any, samples: int, out: Any) -> float:
    """E, and into out (N, 3) S, A and B of each ratio: means over the visible normals (Dupuy and Benyoub 2023)."""
    out[:] = 0.0
    total = 0.0
    sine = math.sqrt(max(0.0, 1.0 - cosine * cosine))
    long = math.sqrt(alpha * alpha * sine * sine + cosine * cosine)
    x, z = alpha * sine / long, cosine / long
    shadow = _lambda(cosine, alpha)
    for i in range(samples):
        angle = math.pi * (i + 0.5) / samples  # the other half is its mirror image
        for j in range(samples):
            # Shifted from angle to angle: seen from straight above, all angles would count the same heights.
            height = 1.0 - (j + (0.5 + 0.6180339887498949 * i) % 1.0) / samples * (1.0 + z)
            radius = math.sqrt(max(0.0, 1.0 - height * height))
            hx, hy = alpha * (x + radius * math.cos(angle)), alpha * radius * math.sin(angle)
            hz = z + height
            size = math.sqrt(hx * hx + hy * hy + hz * hz)
            hx, hz = hx / size, hz / size
            o_dot_h = hx * sine + hz * cosine
            above = 2.0 * o_dot_h * hz - cosine
            weight = (1.0 + shadow) / (1.0 + shadow + _lambda(above, alpha)) if above > 0.0 else 0.0
            total += weight
            for k in range(len(ratios)):
                ratio = ratios[k]
                squared = 1.0 - (1.0 - o_dot_h * o_dot_h) / (ratio * ratio)
                if squared <= 0.0:
                    out[k, 0] += weight
                    continue
                behind = math.sqrt(squared)
                perpendicular = (o_dot_h - ratio * behind) / (o_dot_h + ratio * behind)
                parallel = (ratio * o_dot_h - behind) / (ratio * o_dot_h + behind)
                f0 = ((ratio - 1.0) / (ratio + 1.0)) ** 2
                rise = (0.5 * (perpendicular * perpendicular + parallel * parallel) - f0) / (1.0 - f0)
                out[k, 0] += weight * rise
                below = (o_dot_h / ratio - behind) * hz - cosine / ratio
                if below < 0.0:
                    crossing = (1.0 + shadow) / (1.0 + shadow + _lambda(below, alpha))
                    out[k, 1] += crossing * (1.0 - rise)
                    out[k, 2] += crossing * rise
    count = samples * samples
    out /= count
    return total / count


def ggx(cosines: Array, alphas: Array, ratios: Array, samples: int = SAMPLES) -> tuple[Array, Array]:
    """E (alphas, cosines), and S, A, B (3, ratios, alphas, cosines)."""
    reflected = np.zeros((len(alphas), len(cosines)))
    terms = np.zeros((3, len(ratios), len(alphas), len(cosines)))
    out = np.zeros((len(ratios), 3))
    for row, alpha in enumerate(alphas):
        for column, cosine in enumerate(cosines):
            reflected[row, column] = _ggx(cosine, alpha, ratios, samples, out)
            terms[:, :, row, column] = out.T
    return reflected, terms


def _charlie_lambda(cosine: float, alpha: float) -> float:
    """Lambda of Charlie's sheen: Estevez and Kulla 2017, section 3, fitted by them."""
    weight = (1.0 - alpha) * (1.0 - alpha)
    a, b = 21.5473 + (25.3245 - 21.5473) * weight, 3.82987 + (3.32435 - 3.82987) * weight
    c, d = 0.19823 + (0.16801 - 0.19823) * weight, -1.97760 + (-1.27393 + 1.97760) * weight
    e = -4.32054 + (-4.85967 + 4.32054) * weight
    x = cosine if cosine < 0.5 else 1.0 - cosine
    fit = a / (1.0 + b * x**c) + d * x + e
    if cosine < 0.5:
        return math.exp(fit)
    return math.exp(2.0 * (a / (1.0 + b * 0.5**c) + d * 0.5 + e) - fit)


def _charlie(cosine: float, alpha: float, samples: int) -> float:
    """Charlie's albedo, over directions whose heights' roots are even: it is brightest near the horizon."""
    sine, total = math.sqrt(max(0.0, 1.0 - cosine * cosine)), 0.0
    lambda_o = _charlie_lambda(cosine, alpha)
    for j in range(samples):
        root = (j + 0.5) / samples
        height = root * root
        radius = math.sqrt(1.0 - height * height)
        shadow = 1.0 / ((1.0 + lambda_o + _charlie_lambda(height, alpha)) * 4.0 * cosine)
        for i in range(samples):
            angle = math.pi * (i + 0.5) / samples
            hx, hy, hz = sine + radius * math.cos(angle), radius * math.sin(angle), cosine + height
            sine_squared = (hx * hx + hy * hy) / (hx * hx + hy * hy + hz * hz)
            total += (2.0 + 1.0 / alpha) * sine_squared ** (0.5 / alpha) / (2.0 * math.pi) * shadow * 2.0 * root
    return total / (samples * samples) * 2.0 * math.pi


def sheen(cosines: Array, alphas: Array, samples: int = SAMPLES // 2) -> Array:
    """(alphas, cosines)."""
    return np.array([[_charlie(cosine, alpha, samples) for cosine in cosines] for alpha in alphas])


def cosine_axis(count: int = COSINES) -> Array:
    """Cosines of the columns; the first is nearly, but not, 0."""
    return np.maximum((np.arange(count) / (count - 1)) ** 2, LEAST_COSINE)


def alpha_axis(count: int = ROUGHNESSES) -> Array:
    """GGX's alphas of the rows."""
    return np.maximum((np.arange(count) / (count - 1)) ** 2, LEAST_ALPHA)


def ratio_axis() -> Array:
    """Ratios of the slices, 2 `INDICES` + 1."""
    x = np.arange(-INDICES, INDICES + 1) / INDICES
    r = LARGEST * x * np.abs(x)
    return (1 + r) / (1 - r)


def stored(values: Array) -> NDArray[np.uint16]:
    """As the file keeps them."""
    return np.round(np.clip(values, 0, 1) * 65535).astype(np.uint16)


def compile_loops() -> None:
    """Replace the loops by compiled ones; as they are, they take some hundred times as long."""
    import numba

    for name in LOOPS:
        globals()[name] = numba.njit(globals()[name])


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--output", type=Path, default=ASSET)
    arguments = parser.parse_args()
    compile_loops()
    reflection, _ = ggx(cosine_axis(FINE), alpha_axis(FINE), np.zeros(0))
    _, (rise, crossing, crossing_rise) = ggx(cosine_axis(), alpha_axis(), ratio_axis())
    charlie = sheen(cosine_axis(FINE), np.maximum(alpha_axis(FINE), LEAST_SHEEN)) / BRIGHTEST_SHEEN
    arrays = {"reflection": reflection, "rise": rise, "crossing": crossing, "crossing_rise": crossing_rise[INDICES:]}
    arrays["sheen"] = charlie
    np.savez(arguments.output, **{name: stored(array) for name, array in arrays.items()})


if __name__ == "__main__":
    main()
