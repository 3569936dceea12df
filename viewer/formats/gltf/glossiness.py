"""Materials of KHR_materials_pbrSpecularGlossiness (archived) in terms of KHR_materials_specular: a dielectric whose
reflectance towards the normal is the specular colour.

Reflectance below 2 %, which no surface has, means occlusion: the reflection at grazing angles fades with it, to none
for black (S. Lagarde, C. de Rousiers, "Moving Frostbite to Physically Based Rendering", 2014, section 3.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raystream.formats.gltf.images import Change
from raystream.scene.texture import linear_from_srgb

NAME = "KHR_materials_pbrSpecularGlossiness"
DIELECTRIC = 0.04  # reflectance of index 1.5
_LEAST = 0.02

Color = tuple[float, float, float]


def specular(color: Color) -> tuple[float, Color]:
    """Specular factor and colour of a specular colour, linear."""
    edge = min(max(color) / _LEAST, 1.0)
    if edge == 0.0:
        return 0.0, (1.0, 1.0, 1.0)
    red, green, blue = (value / (DIELECTRIC * edge) for value in color)
    return edge, (red, green, blue)


def edge(color: Color) -> Change:
    """A texture's part of the specular factor in opacity, from specular colours that ``color`` multiplies."""
    factor = specular(color)[0] or 1.0

    def changed(texels: NDArray) -> NDArray:
        out = np.full_like(texels, _most(texels))
        linear = linear_from_srgb(_fractions(texels))
        tables = [_encoded(texels, np.minimum(linear * component / _LEAST, 1.0) / factor) for component in color]
        out[..., 3] = np.max([table[texels[..., k]] for k, table in enumerate(tables)], axis=0)
        return out

    return Change(f"specular {color}", changed)


def roughness(gloss: float) -> Change:
    """Roughness in green, from glossiness in opacity that ``gloss`` multiplies."""

    def changed(texels: NDArray) -> NDArray:
        out = np.full_like(texels, _most(texels))
        out[..., 1] = _encoded(texels, 1.0 - gloss * _fractions(texels))[texels[..., 3]]
        return out

    return Change(f"roughness {gloss:g}", changed)


def _most(texels: NDArray) -> int:
    """The integer that stands for 1."""
    return int(np.iinfo(texels.dtype).max)


def _fractions(texels: NDArray) -> NDArray[np.float64]:
    """The value of each integer."""
    return np.arange(_most(texels) + 1) / _most(texels)


def _encoded(texels: NDArray, fractions: NDArray[np.float64]) -> NDArray:
    """The integers of numbers from 0 to 1."""
    return np.rint(np.minimum(fractions, 1.0) * _most(texels)).astype(texels.dtype)
