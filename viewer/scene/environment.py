"""Environment lighting as plain data: constant radiance, or a picture of all directions.

Radiance is linear sRGB, W/(m^2 sr), from infinitely far. World space is right-handed, +Y up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from raystream.base.attributes import declared
from raystream.base.errors import ViewerError
from raystream.scene.light import BRIGHTEST, Vector, luminance

Result = TypeVar("Result")

# Limit of an environment's texels: their addresses are floats.
MOST_TEXELS = 1 << 24


@declared
@dataclass(frozen=True)
class ConstantEnvironment:
    """Constant radiance. Raises ViewerError for numbers that are negative, huge or not finite."""

    radiance: Vector = (0.0, 0.0, 0.0)
    name: str = "constant"

    def __post_init__(self) -> None:
        if not all(math.isfinite(c) and 0 <= c <= BRIGHTEST for c in self.radiance):
            shown = ",".join(f"{c:g}" for c in self.radiance)
            raise ViewerError("environment", f"radiance {shown}", f"numbers from 0 to {BRIGHTEST:g}, such as 1,1,1")

    @property
    def flux(self) -> float:
        """Luminance integrated over all directions, W/m^2."""
        return 4 * math.pi * float(luminance(self.radiance))


@declared
@dataclass(frozen=True, eq=False)
class ImageEnvironment:
    """An equirectangular picture (longitude across, latitude down).

    pixels   : (H, W, 3) float32. Row 0 is around +Y. The middle column faces +X, columns to its right turn towards +Z,
    and the left edge is -X: ``u = 1/2 + atan2(z, x) / 2 pi``, ``v = acos(y) / pi``.
    rotation : degrees about +Y, counter-clockwise from above: a feature at +X for 0 is at -Z for 90.

    Raises ViewerError for no or too many texels, and, with its place, for one that is negative, huge or not finite.
    """

    pixels: NDArray[np.float32]
    name: str = "image"
    rotation: float = 0.0
    original: ImageEnvironment | None = field(default=None, init=False, repr=False)  # the source of a rotated copy

    def __post_init__(self) -> None:
        where, shape = f"environment {self.name}", np.shape(self.pixels)
        if len(shape) != 3 or shape[2] != 3 or 0 in shape:
            raise ViewerError(where, f"pixels have shape {shape}, expected (H, W, 3)")
        if shape[0] * shape[1] > MOST_TEXELS:
            raise ViewerError(where, f"{shape[1]} x {shape[0]} pixels; {MOST_TEXELS:,} can be addressed", "reduce it")
        check_pixels(self.pixels, where)
        if not math.isfinite(self.rotation):
            raise ViewerError(where, f"rotation of {self.rotation} degrees", "give a finite number")

    def rotated(self, degrees: float) -> ImageEnvironment:
        """The same picture, at another rotation."""
        other = replace(self, rotation=degrees)
        object.__setattr__(other, "original", self.original or self)
        return other

    @property
    def turn(self) -> tuple[float, float]:
        """(cosine, sine) of the rotation; exact at multiples of 90 degrees."""
        quarters, remainder = divmod(self.rotation % 360.0, 90.0)
        c, s = math.cos(math.radians(remainder)), math.sin(math.radians(remainder))
        return ((c, s), (-s, c), (-c, -s), (s, -c))[int(quarters) % 4]

    @cached_property
    def flux(self) -> float:
        """Luminance integrated over all directions, W/m^2; approximate, accurate for thin rows."""
        if self.original is not None:
            return self.original.flux
        return float(self.cell_flux().sum())

    def solid_angles(self) -> NDArray[np.float64]:
        """(H,): solid angle of a texel of each row, sr; 4 pi over all texels."""
        height, width = self.pixels.shape[:2]
        edges = np.cos(np.linspace(0.0, math.pi, height + 1))
        return (edges[:-1] - edges[1:]) * (2 * math.pi / width)

    def cell_flux(self) -> NDArray[np.float64]:
        """(H, W): each texel's solid angle times its mean luminance.

        The mean is of the bilinear interpolation over the texel, weights 1/8, 6/8, 1/8 of three neighbours along each
        axis: positive wherever any part of the texel is.
        """
        light = luminance(self.pixels)
        light = (np.roll(light, 1, axis=1) + 6 * light + np.roll(light, -1, axis=1)) / 8
        padded = np.pad(light, ((1, 1), (0, 0)), mode="edge")
        return (padded[:-2] + 6 * light + padded[2:]) / 8 * self.solid_angles()[:, None]

    def radiance(self, directions: NDArray) -> NDArray[np.float64]:
        """(N, 3) from unit directions (N, 3): bilinear, repeating in longitude and clamped at the poles."""
        height, width = self.pixels.shape[:2]
        c, s = self.turn
        x, y, z = np.asarray(directions, np.float64).T
        x, z = c * x - s * z, s * x + c * z
        level = np.hypot(x, z)
        u = (np.where(level > 0, np.arctan2(z, x), 0.0) / (2 * math.pi) + 0.5) * width - 0.5
        v = np.arctan2(level, y) / math.pi * height - 0.5
        column, row = np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)
        fx, fy = (u - column)[:, None], (v - row)[:, None]
        rows = np.clip([row, row + 1], 0, height - 1)
        columns = np.array([column, column + 1]) % width
        pixels = self.pixels.astype(np.float64) if self.pixels.size < 1 << 20 else self.pixels
        top = pixels[rows[0], columns[0]] * (1 - fx) + pixels[rows[0], columns[1]] * fx
        bottom = pixels[rows[1], columns[0]] * (1 - fx) + pixels[rows[1], columns[1]] * fx
        return top * (1 - fy) + bottom * fy


Environment = ConstantEnvironment | ImageEnvironment


def cached_by_pixels(make: Callable[[ImageEnvironment], Result]) -> Callable[[ImageEnvironment], Result]:
    """Cache the last result of ``make``, a function of an image's pixels alone, for the same image and its rotations.
    Only results for read-only pixels are cached, such as the default sky's, shared by successive renderers."""
    cached = lru_cache(maxsize=1)(make)

    def cached_or_computed(image: ImageEnvironment) -> Result:
        image = image.original or image
        return make(image) if image.pixels.flags.writeable else cached(image)

    return cached_or_computed


DARKNESS = ConstantEnvironment(name="none")


def check_pixels(pixels: NDArray, where: str, first: int = 0) -> None:
    """Raises ViewerError with the place of the first pixel that is negative, too bright or not finite; the first row of
    ``pixels`` (H, W, 3) is the picture's row ``first``."""
    with np.errstate(invalid="ignore"):
        if pixels.min() >= 0 and pixels.max() <= BRIGHTEST:  # neither, where one is not a number
            return
        right = (pixels >= 0) & (pixels <= BRIGHTEST)
    row, column = np.argwhere(~right.all(axis=-1))[0]
    value = pixels[row, column]
    row += first
    what = "is not a number" if np.isnan(value).any() else "is negative" if (value < 0).any() else "is too bright"
    shown = ", ".join(f"{component:g}" for component in value)
    raise ViewerError(
        where,
        f"pixel ({column}, {row}) {what}: {shown}",
        f"column and row from the upper left; radiance is 0 to {BRIGHTEST:g}; mend the picture",
    )
