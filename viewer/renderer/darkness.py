"""A word for pictures that come out nearly black under a file's own lights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from viewer.scene.light import LUMINANCE

BLACK = 0.005  # relative luminance; code 16 of 255 in sRGB, which few screens tell from black
LIT = 0.1  # of the pixels must be brighter
SHOWN = 0.5  # about the luminance that the suggested exposure gives to the brightest hundredth
MOST = 32  # stops that there are


def darkness(linear: NDArray[np.float32], exposure: float = 0.0) -> str:
    """What to say of a picture (H, W, 3), linear sRGB, that is nearly black at this exposure (stops); else nothing."""
    with np.errstate(invalid="ignore"):
        luminance = np.nan_to_num(linear @ LUMINANCE.astype(np.float32))
    lit, brightest = np.quantile(luminance, [1 - LIT, 1 - LIT / 10], method="higher").tolist()
    if lit * 2.0**exposure >= BLACK:
        return ""
    stops = round(math.log2(SHOWN / brightest)) if brightest > 0 else 0
    brighter = f"--exposure {stops}" if exposure < stops <= MOST else "a higher --exposure"
    return (
        "the picture is nearly black under the scene's own lights: "
        f"--environment sky adds light, {brighter} brightens what there is"
    )
