"""From linear radiance to a screen: exposure, and 8-bit sRGB of PNG files, the twin of ``shaders/lib/tonemap.glsl``."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.ordered import quantile
from raystream.options.table import OPTIONS, check
from raystream.scene.light import LUMINANCE

Tonemap = Callable[[NDArray[np.float32]], NDArray[np.float32]]

# Name -> function from linear sRGB (..., 3) to linear sRGB for [0, 1], clipped afterwards. The position in the table is
# the number in the shader.
TONEMAPS: dict[str, Tonemap] = {}


def register(name: str) -> Callable[[Tonemap], Tonemap]:
    """A decorator that registers a tone map by name."""

    def enter(function: Tonemap) -> Tonemap:
        TONEMAPS[name] = function
        return function

    return enter


WHITE = np.float32(4.0)  # luminance that Reinhard's curve maps to 1
MAX_RADIANCE = np.float32(1e6)  # beyond the end of every curve
PIXELS_PER_BAND = 1 << 18  # pixels encoded at once

_ACES_IN = np.array([[0.59719, 0.35458, 0.04823], [0.076, 0.90834, 0.01566], [0.0284, 0.13383, 0.83777]])
_ACES_OUT = np.array([[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]])

_AGX_IN = np.array(
    [
        [0.842479062253094, 0.0784335999999992, 0.0792237451477643],
        [0.0423282422610123, 0.878468636469772, 0.0791661274605434],
        [0.0423756549057051, 0.0784336, 0.879142973793104],
    ]
)
_AGX_OUT = np.array(
    [
        [1.19687900512017, -0.0980208811401368, -0.0990297440797205],
        [-0.0528968517574562, 1.15190312990417, -0.0989611768448433],
        [-0.0529716355144438, -0.0980434501171241, 1.15107367264116],
    ]
)
_AGX_STOPS = (-12.47393, 4.026069)
_AGX_CURVE = (15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.00232)  # from x^6 down


@register("none")
def none(linear: NDArray[np.float32]) -> NDArray[np.float32]:
    """Radiance unchanged, clipped at 1."""
    return linear


@register("reinhard")
def reinhard(linear: NDArray[np.float32]) -> NDArray[np.float32]:
    """Reinhard et al. 2002, equation 4, on luminance with a white of 4; keeps the ratios of colours."""
    light = _clipped(linear)
    luminance = (light @ LUMINANCE.astype(np.float32))[..., None]
    return (light * ((1 + luminance / (WHITE * WHITE)) / (1 + luminance))).astype(np.float32, copy=False)


@register("aces")
def aces(linear: NDArray[np.float32]) -> NDArray[np.float32]:
    """Hill's fit of the ACES reference rendering and sRGB output transforms (S. Hill, in BakingLab, 2016)."""
    v = _mix(_clipped(linear), _ACES_IN)
    fit = (v * (v + np.float32(0.0245786)) - np.float32(0.000090537)) / (
        v * (np.float32(0.983729) * v + np.float32(0.432951)) + np.float32(0.238081)
    )
    return _mix(fit, _ACES_OUT)


@register("agx")
def agx(linear: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sobotka's AgX (2022) without a look, its curve as Wrensch's polynomial of degree 6 (2023), decoded by 2.2."""
    low, high = map(np.float32, _AGX_STOPS)
    light = np.maximum(_mix(_clipped(linear), _AGX_IN), np.float32(1e-10))
    x = (np.clip(np.log2(light), low, high) - low) / (high - low)
    curve = np.zeros_like(x)
    for factor in _AGX_CURVE:
        curve = curve * x + np.float32(factor)
    return np.maximum(_mix(curve, _AGX_OUT), np.float32(0)) ** np.float32(2.2)


def _mix(light: NDArray, matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    """(..., 3): the matrix (3, 3) times each colour."""
    return np.asarray(light @ matrix.T, np.float32)


def _clipped(linear: NDArray[np.float32]) -> NDArray[np.float32]:
    """Radiance within the range of all curves."""
    return np.clip(linear, np.float32(0), MAX_RADIANCE)


def decode(encoded: ArrayLike) -> NDArray[np.float64]:
    """sRGB code values in [0, 1] to linear, float64 (IEC 61966-2-1:1999, section 5.2)."""
    value = np.asarray(encoded, np.float64)
    return np.where(value <= 0.04045, value / 12.92, ((np.maximum(value, 0) + 0.055) / 1.055) ** 2.4)


def tonemapped(linear: NDArray[np.float32], exposure: float, tonemap: str) -> NDArray[np.float32]:
    """Linear sRGB (..., 3) for a screen, still to be clipped to [0, 1]; exposure : stops."""
    with np.errstate(all="ignore"):
        return np.asarray(TONEMAPS[tonemap](linear * np.float32(2.0**exposure)), np.float32)


def srgb8(linear: ArrayLike, exposure: float | str = 0.0, tonemap: str = "none") -> NDArray[np.uint8]:
    """8-bit sRGB of linear sRGB radiance of any shape (..., 3): the nearest code by the exact transfer curve.

    exposure : stops, a factor 2 ** exposure before the tone map; ``auto``: from the picture (H, W, 3).
    tonemap  : a name of `TONEMAPS`.
    NaN becomes 0, +inf 255, negative values 0. Raises ViewerError for an unknown tone map, and for an exposure out of
    range.
    """
    exposure, tonemap = stops(exposure, linear), check("tonemap", tonemap, TONEMAPS)
    values = np.asarray(linear, np.float32)
    flat, out = values.reshape(-1, *values.shape[-1:]), np.empty(values.shape, np.uint8)
    codes = out.reshape(flat.shape)
    for first in range(0, len(flat), PIXELS_PER_BAND):  # bounds the memory of large pictures
        band = slice(first, first + PIXELS_PER_BAND)
        with np.errstate(all="ignore"):
            mapped = tonemapped(flat[band], exposure, tonemap)
            finite = np.where(np.isnan(mapped), np.float32(0), mapped)
        codes[band] = np.searchsorted(_thresholds(), finite, side="right")
    return out


@cache
def _thresholds() -> NDArray[np.float32]:
    """(255,) float32: the smallest float32 nearer to code k + 1 than to code k. A search among them rounds exactly,
    unlike a float32 power."""
    exact = decode((np.arange(255) + 0.5) / 255)
    rounded = exact.astype(np.float32)
    return np.where(rounded < exact, np.nextafter(rounded, np.float32(2)), rounded)


# -- automatic exposure, from the histogram of a picture's luminance: `--exposure auto` --------------------------------
# The histogram is of blocks, so that noise and fireflies weigh little. Black blocks, as of a background without an
# environment, are left out. The logarithmic mean of the rest between two percentiles (E. Reinhard et al., "Photographic
# Tone Reproduction for Digital Images", 2002, section 2) is brought towards middle grey: hardly at all from nearby, so
# that a good exposure stays, and to within a stop from afar.

AUTO = "auto"
MAX_BLOCKS = 32  # along the picture's longer side, at most
MIDDLE_GREY = 0.25  # the target luminance
LEEWAY_STOPS = 1.0  # around it with little correction
CLAMP_QUANTILES = (0.05, 0.95)  # quantiles to which luminance is clamped
MAX_HIGHLIGHT = 10.0  # of the upper quantile to middle grey: beyond it that quantile decides
MAX_LUMINANCE = 1e30  # luminance above it, or below its inverse, does not count
BLACK_LUMINANCE = 0.005  # code 16 of 255 in sRGB, which few screens show other than black
MIN_LIT_SHARE = 0.1  # of the pixels of a picture that is not dark
MIN_LIT_SHARE_AUTO = 0.02  # the same with automatic exposure: an object before black is well exposed
SUGGESTED_LUMINANCE = 0.5  # of the brightest hundredth at the suggested exposure
MAX_STOPS = 32  # the greatest exposure
DIM_STOPS = 4.0  # automatic exposures from this on have a remark


def stops(exposure: float | str, linear: ArrayLike) -> float:
    """Exposure in stops: a number itself, or by ``"auto"`` for a picture (H, W, 3), linear sRGB. Raises ViewerError for
    anything else."""
    exposure = check("exposure", exposure)
    return automatic_exposure(block_means(linear)) if exposure == AUTO else float(exposure)


def darkness(linear: NDArray[np.float32], exposure: float | str = 0.0) -> str:
    """A warning on a picture (H, W, 3), linear sRGB, that is nearly black at this exposure (stops), or that ``auto``
    shows much brighter than it is; else empty."""
    fraction = MIN_LIT_SHARE_AUTO if exposure == AUTO else MIN_LIT_SHARE
    with np.errstate(invalid="ignore"):
        luminance = np.nan_to_num(linear @ LUMINANCE.astype(np.float32))
    bright, brightest = np.quantile(luminance, [1 - fraction, 1 - fraction / 10], method="higher").tolist()
    exposure_stops = stops(exposure, linear)
    if bright * 2.0**exposure_stops >= BLACK_LUMINANCE:
        if exposure != AUTO or exposure_stops < DIM_STOPS:
            return ""
        return (
            f"the picture is dim under the scene's own lights, and is shown {exposure_stops:.1f} stops brighter: "
            "--environment sky adds light, --exposure 0 shows it as it is"
        )
    suggested = round(math.log2(SUGGESTED_LUMINANCE / brightest)) if brightest > 0 else 0
    brighter = f"--exposure {suggested}" if exposure_stops < suggested <= MAX_STOPS else "a higher --exposure"
    return (
        "the picture is nearly black under the scene's own lights: "
        f"--environment sky adds light, {brighter} brightens what there is"
    )


def block_edge(size: tuple[int, int]) -> int:
    """The edge of the blocks of a picture (width, height), pixels."""
    return max(1, -(-max(size) // MAX_BLOCKS))


def block_means(linear: ArrayLike) -> NDArray[np.float64]:
    """(rows, columns): the mean luminance of blocks of a picture (H, W, 3); pixels that are not finite are black. The
    twin of ``shaders/film/luminance.glsl``."""
    picture = np.asarray(linear, np.float32)
    height, width = picture.shape[:2]
    edge = block_edge((width, height))
    with np.errstate(all="ignore"):
        light = picture @ LUMINANCE.astype(np.float32)
    light = np.where(np.isfinite(light), np.clip(light, 0, MAX_LUMINANCE), 0).astype(np.float64)
    rows, columns = np.arange(0, height, edge), np.arange(0, width, edge)
    sums = np.add.reduceat(np.add.reduceat(light, rows, axis=0), columns, axis=1)
    block_heights, block_widths = np.minimum(edge, height - rows), np.minimum(edge, width - columns)
    return np.asarray(sums / (block_heights[:, None] * block_widths))


def automatic_exposure(luminance: NDArray[np.float64]) -> float:
    """Exposure in stops for mean luminances of blocks, any shape; 0 for a black picture."""
    lit = luminance[luminance > 1 / MAX_LUMINANCE]
    if not lit.size:
        return 0.0
    ordered = np.sort(lit)
    low, high = (quantile(ordered, fraction) for fraction in CLAMP_QUANTILES)
    mean = math.exp(float(np.log(np.clip(lit, low, high)).mean()))
    excess = math.log2(max(mean, high / MAX_HIGHLIGHT) / MIDDLE_GREY)  # stops over the target
    limit = float(OPTIONS["exposure"].value.high)
    return min(max(LEEWAY_STOPS * math.tanh(excess / LEEWAY_STOPS) - excess, -limit), limit)


def exposure_text(exposure: float | str, stops: float) -> str:
    """The text of an exposure in metadata: ``stops``, and whether they were automatic."""
    return f"{stops:.4g} ({AUTO})" if exposure == AUTO else f"{stops:g}"
