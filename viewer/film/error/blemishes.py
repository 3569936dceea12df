"""Blemishes of a picture beside the converged one: specks, holes and fringes, each a mask of pixels.

Means over a picture, as FLIP's, hide single pixels that the eye sees at once. Pictures are displayed ones, (H, W, 3)
sRGB values of 0 to 1, row 0 at the top; beyond the picture's edge its outermost pixels are repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.film.tonemap import decode
from raystream.scene.light import LUMINANCE

SPECK = 20 / 255  # of a display value off the median of its 3 x 3
HOLE = 1 / 3  # of the converged linear luminance
FRINGE = 0.1  # of chroma
BORDER = 2  # pixels from an edge of the ids that a fringe reaches
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Blemishes:
    """The shares of a picture's pixels that are specks, holes, and fringes (None without ids)."""

    specks: float
    holes: float
    fringes: float | None


def blemishes(shown: ArrayLike, converged: ArrayLike, ids: ArrayLike | None = None) -> Blemishes:
    """The blemishes of a displayed picture (H, W, 3) beside the converged one. ids : see `fringes`."""
    beyond = None if ids is None else float(fringes(shown, converged, ids).mean())
    return Blemishes(float(specks(shown, converged).mean()), float(holes(shown, converged).mean()), beyond)


def specks(shown: ArrayLike, converged: ArrayLike) -> Mask:
    """(H, W): the pixels more than `SPECK` off the median of their 3 x 3 where the converged picture's are not, and off
    the converged ones by as much: a pixel that is right is no speck beside blurred ones.

    Channel by channel: a blue speck of full strength has 7 % of white's luminance.
    """
    picture, truth = _picture(shown), _picture(converged)
    off = np.abs(picture - truth) > SPECK
    return np.asarray((dots(picture) & off & ~dots(truth)).any(axis=-1))


def dots(picture: ArrayLike) -> Mask:
    """(H, W, 3): the channels of pixels more than `SPECK` off the median of their 3 x 3: specks, or details as fine."""
    values = _picture(picture)
    return np.asarray(np.abs(values - _medians(values)) > SPECK)


def holes(shown: ArrayLike, converged: ArrayLike) -> Mask:
    """(H, W): the pixels of less than `HOLE` of the converged linear luminance where most of the 8 around them are not.

    Of the least converged luminance of their 3 x 3: a missing part of a lamp, or of an edge to black, is no hole, nor
    is the converged picture's own noise. Light that fades into the dark, less than `HOLE` from pixel to pixel, is
    missing light, and none either. Below a display value of `SPECK` none is visible.
    """
    luminance, of_converged = (_luminance(decode(_picture(picture))) for picture in (shown, converged))
    level = _windows(of_converged).min(axis=-1)
    dark = (level > _luminance(decode(np.full(3, SPECK)))) & (luminance < HOLE * level)
    deep = luminance < HOLE * _windows(luminance).max(axis=-1)
    return dark & deep & (_windows(dark).sum(axis=-1) <= 1 + 4)


def fringes(shown: ArrayLike, converged: ArrayLike, ids: ArrayLike) -> Mask:
    """(H, W): the pixels within `BORDER` of an edge of the ids whose chroma is off by more than `FRINGE`.

    Chroma: red and blue display values, each less the luma of Rec. 709, as a vector. ids : (H, W), or (H, W, K) of
    several kinds; an edge is where neighbours in a row or column differ in one of them.
    """
    off = _chroma(_picture(shown)) - _chroma(_picture(converged))
    return near_edges(ids) & (np.sqrt((off**2).sum(axis=-1)) > FRINGE)


def near_edges(ids: ArrayLike) -> Mask:
    """(H, W): the pixels with other ids within `BORDER`."""
    numbers = np.asarray(ids)
    numbers = numbers.reshape(*numbers.shape[:2], -1)
    near = np.zeros(numbers.shape[:2], bool)
    for kind in np.moveaxis(numbers, -1, 0):
        around = _windows(kind, BORDER)
        near |= (around != kind[..., None]).any(axis=-1)
    return near


def _medians(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """(H, W, 3): of each channel over each pixel's 3 x 3."""
    around = np.stack([_windows(channel) for channel in np.moveaxis(picture, -1, 0)], axis=-2)
    return np.asarray(np.partition(around, 4, axis=-1)[..., 4])


def _windows(values: NDArray, radius: int = 1) -> NDArray:
    """(H, W, N): the values of each pixel's square."""
    side = 2 * radius + 1
    padded = np.pad(values, radius, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, (side, side)).reshape(*values.shape, side * side)


def _luminance(linear: NDArray) -> NDArray:
    return np.asarray(linear @ LUMINANCE)


def _chroma(picture: NDArray[np.float32]) -> NDArray:
    return picture[..., ::2] - _luminance(picture)[..., None]


def _picture(values: ArrayLike) -> NDArray[np.float32]:
    return np.asarray(values, np.float32)
