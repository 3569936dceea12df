"""Automatic exposure from the histogram of a picture's luminance: `--exposure auto`.

The histogram is of blocks, so that noise and fireflies weigh little. Black blocks, as of a background without an
environment, are left out. The logarithmic mean of the rest between two percentiles (E. Reinhard et al., "Photographic
Tone Reproduction for Digital Images", 2002, section 2) is brought towards middle grey: hardly at all from nearby, so
that a good exposure stays, and to within a stop from afar.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.ordered import quantile
from raystream.options.table import OPTIONS, check
from raystream.scene.light import LUMINANCE

AUTO = "auto"
BLOCKS = 32  # along the picture's longer side, at most
MIDDLE = 0.25  # the target luminance
LEEWAY = 1.0  # stops around it with little correction
RANGE = (0.05, 0.95)  # quantiles to which luminance is clamped
BRIGHT = 10.0  # times the middle: upper limit of the upper quantile, beyond which it decides
BRIGHTEST = 1e30  # luminance above it, or below its inverse, does not count
BLACK = 0.005  # relative luminance; code 16 of 255 in sRGB, which few screens tell from black
LIT = 0.1  # of the pixels must be brighter
LEAST_LIT = 0.02  # where the exposure is the picture's own: an object before black is well exposed
SHOWN = 0.5  # about the luminance that the suggested exposure gives to the brightest hundredth
MOST = 32  # stops that there are
DIM = 4.0  # stops from which on an exposure of the picture's own choice is worth a word


def stops(exposure: float | str, linear: ArrayLike) -> float:
    """Exposure in stops: a number itself, or by ``"auto"`` for a picture (H, W, 3), linear sRGB.

    Raises ViewerError for anything else.
    """
    exposure = check("exposure", exposure)
    return automatic_exposure(block_means(linear)) if exposure == AUTO else float(exposure)


def darkness(linear: NDArray[np.float32], exposure: float | str = 0.0) -> str:
    """A warning on a picture (H, W, 3), linear sRGB, that is nearly black at this exposure (stops), or that ``auto``
    shows much brighter than it is; else empty."""
    fraction = LEAST_LIT if exposure == AUTO else LIT
    with np.errstate(invalid="ignore"):
        luminance = np.nan_to_num(linear @ LUMINANCE.astype(np.float32))
    lit, brightest = np.quantile(luminance, [1 - fraction, 1 - fraction / 10], method="higher").tolist()
    at = stops(exposure, linear)
    if lit * 2.0**at >= BLACK:
        if exposure != AUTO or at < DIM:
            return ""
        return (
            f"the picture is dim under the scene's own lights, and is shown {at:.1f} stops brighter: "
            "--environment sky adds light, --exposure 0 shows it as it is"
        )
    suggested = round(math.log2(SHOWN / brightest)) if brightest > 0 else 0
    brighter = f"--exposure {suggested}" if at < suggested <= MOST else "a higher --exposure"
    return (
        "the picture is nearly black under the scene's own lights: "
        f"--environment sky adds light, {brighter} brightens what there is"
    )


def block_edge(size: tuple[int, int]) -> int:
    """The edge of the blocks of a picture (width, height), pixels."""
    return max(1, -(-max(size) // BLOCKS))


def block_means(linear: ArrayLike) -> NDArray[np.float64]:
    """(rows, columns): the mean luminance of blocks of a picture (H, W, 3); pixels that are not finite are black. The
    twin of ``shaders/film/luminance.glsl``."""
    picture = np.asarray(linear, np.float32)
    height, width = picture.shape[:2]
    edge = block_edge((width, height))
    with np.errstate(all="ignore"):
        light = picture @ LUMINANCE.astype(np.float32)
    light = np.where(np.isfinite(light), np.clip(light, 0, BRIGHTEST), 0).astype(np.float64)
    rows, columns = np.arange(0, height, edge), np.arange(0, width, edge)
    sums = np.add.reduceat(np.add.reduceat(light, rows, axis=0), columns, axis=1)
    tall, wide = (np.minimum(edge, side - first) for side, first in ((height, rows), (width, columns)))
    return np.asarray(sums / (tall[:, None] * wide))


def automatic_exposure(luminance: NDArray[np.float64]) -> float:
    """Exposure in stops for mean luminances of blocks, any shape; 0 for a black picture."""
    lit = luminance[luminance > 1 / BRIGHTEST]
    if not lit.size:
        return 0.0
    ordered = np.sort(lit)
    low, high = (quantile(ordered, fraction) for fraction in RANGE)
    mean = math.exp(float(np.log(np.clip(lit, low, high)).mean()))
    away = math.log2(max(mean, high / BRIGHT) / MIDDLE)
    limit = float(OPTIONS["exposure"].value.high)
    return min(max(LEEWAY * math.tanh(away / LEEWAY) - away, -limit), limit)


def exposure_text(exposure: float | str, shown: float) -> str:
    """The exposure of a picture's metadata: stops, and whether they are automatic."""
    return f"{shown:.4g} ({AUTO})" if exposure == AUTO else f"{shown:g}"
