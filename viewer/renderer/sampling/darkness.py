"""A word for pictures that come out dim, or nearly black, under a file's own lights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from viewer.film.exposure import AUTO, stops
from viewer.scene.light import LUMINANCE
from viewer.stream.gl.stream import Stream

BLACK = 0.005  # relative luminance; code 16 of 255 in sRGB, which few screens tell from black
LIT = 0.1  # of the pixels must be brighter
LEAST_LIT = 0.02  # where the exposure is the picture's own: an object before black is well exposed
SHOWN = 0.5  # about the luminance that the suggested exposure gives to the brightest hundredth
MOST = 32  # stops that there are
DIM = 4.0  # stops from which on an exposure of the picture's own choice is worth a word
FILLED = "the scene's own lights show nothing here: it stands under the default sky (--environment none for darkness)"
MIXED = 1.5  # pixels, from whose samples a pixel has its light
SEEN = 0.005  # of the pixels of a black picture have any light, at most


def darkness(linear: NDArray[np.float32], exposure: float | str = 0.0) -> str:
    """A warning on a picture (H, W, 3), linear sRGB, that is nearly black at this exposure (stops), or that ``auto``
    shows much brighter than it is; else empty."""
    share = LEAST_LIT if exposure == AUTO else LIT
    with np.errstate(invalid="ignore"):
        luminance = np.nan_to_num(linear @ LUMINANCE.astype(np.float32))
    lit, brightest = np.quantile(luminance, [1 - share, 1 - share / 10], method="higher").tolist()
    at = stops(exposure, linear)
    if lit * 2.0**at >= BLACK:
        if exposure != AUTO or at < DIM:
            return ""
        return (
            f"the picture is dim under the scene's own lights, and is shown {at:.1f} stops brighter: "
            "--environment sky adds light, --exposure 0 shows it as it is"
        )
    wanted = round(math.log2(SHOWN / brightest)) if brightest > 0 else 0
    brighter = f"--exposure {wanted}" if at < wanted <= MOST else "a higher --exposure"
    return (
        "the picture is nearly black under the scene's own lights: "
        f"--environment sky adds light, {brighter} brightens what there is"
    )


def black(linear: NDArray[np.float32], seen: NDArray[np.bool_] | None = None) -> bool:
    """Whether next to nothing in a picture (H, W, 3) has any light, so that no exposure helps.

    seen : (rows, columns) whether the scene is what the middle of each of that many equal parts shows, as of
    `scene_seen`: light of a backdrop does not count. None: there is no backdrop.
    """
    if seen is not None:
        inner = _inner(seen, linear.shape[:2])
        if seen.any() and float(inner.mean()) <= SEEN:
            return False  # what is finer than pixels is before its backdrop everywhere
        sides = zip(seen.shape, linear.shape[:2], strict=True)
        rows, columns = ((2 * np.arange(n) + 1) * side // (2 * n) for n, side in sides)
        linear = linear[rows[:, None], columns] * inner[..., None]
    red, green, blue = (linear[..., channel] > 0 for channel in range(3))  # far faster than a reduction by threes
    return float((red | green | blue).mean()) <= SEEN


def _inner(seen: NDArray[np.bool_], size: tuple[int, ...]) -> NDArray[np.bool_]:
    """The parts of a picture of ``size`` (height, width) of which no pixel within `MIXED` shows its backdrop."""
    for axis in (0, 1):
        reach, inner = math.ceil(MIXED * seen.shape[axis] / size[axis]), seen.copy()
        here, there = np.moveaxis(inner, axis, 0), np.moveaxis(seen, axis, 0)
        for step in range(1, min(reach + 1, len(there))):  # beyond the edge nothing is known of a backdrop
            here[step:] &= there[:-step]
            here[:-step] &= there[step:]
        seen = inner
    return seen


def scene_seen(hits: Stream) -> NDArray[np.bool_]:
    """(rows, columns) where hits of `viewer.Renderer.coarse_hits` are of the scene, and not of its backdrop."""
    with hits.device.current():
        found: NDArray[np.bool_] = hits.fields(("triangle",))["triangle"] >= 0
    return found
