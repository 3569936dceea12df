"""From linear radiance to the 8-bit sRGB of screens and PNG files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.errors import ViewerError

ToneMap = Callable[[NDArray[np.float32]], NDArray[np.float32]]

# Name -> function from linear sRGB (..., 3) to linear sRGB meant for [0, 1]; what lies outside is cut off.
TONE_MAPS: dict[str, ToneMap] = {}


def register(name: str) -> Callable[[ToneMap], ToneMap]:
    """A decorator that makes a tone map known by name."""

    def enter(function: ToneMap) -> ToneMap:
        TONE_MAPS[name] = function
        return function

    return enter


@register("none")
def none(linear: NDArray[np.float32]) -> NDArray[np.float32]:
    """Leave radiance as it is; what is over 1 is cut off."""
    return linear


def decode(encoded: ArrayLike) -> NDArray[np.float64]:
    """sRGB code values in [0, 1] to linear, float64 (IEC 61966-2-1:1999, section 5.2)."""
    value = np.asarray(encoded, np.float64)
    return np.where(value <= 0.04045, value / 12.92, ((np.maximum(value, 0) + 0.055) / 1.055) ** 2.4)


def srgb8(linear: ArrayLike, exposure: float = 0.0, tone_map: str = "none") -> NDArray[np.uint8]:
    """8-bit sRGB of linear sRGB radiance of any shape (..., 3): the nearest code by the exact transfer curve.

    exposure : stops; radiance is multiplied by 2 ** exposure before the tone map.
    NaN becomes 0, +inf 255, and what is negative 0. Raises ViewerError for an unknown tone map.
    """
    if tone_map not in TONE_MAPS:
        raise ViewerError("tone map", f"no tone map '{tone_map}'", f"tone maps: {', '.join(TONE_MAPS)}")
    with np.errstate(all="ignore"):
        scaled = np.asarray(linear, np.float32) * np.float32(2.0**exposure)
        mapped = np.asarray(TONE_MAPS[tone_map](scaled), np.float32)
        finite = np.where(np.isnan(mapped), np.float32(0), mapped)
    return np.searchsorted(_thresholds(), finite, side="right").astype(np.uint8)


@cache
def _thresholds() -> NDArray[np.float32]:
    """(255,) float32: the least float32 that is nearer to code k + 1 than to code k.

    Looking a value up among them rounds exactly, which a float32 power does not.
    """
    exact = decode((np.arange(255) + 0.5) / 255)
    near = exact.astype(np.float32)
    return np.where(near < exact, np.nextafter(near, np.float32(2)), near)
